// msp.c - MSP frames: `$M`, a direction, the body's size, the command, the body, and all of them but the
// first three by exclusive or.
#include "bridge/msp.h"
#include "base/assert.h"
#include <string.h>

enum { HEADER_SIZE = 5, SIZE_AT = 3, COMMAND_AT = 4 };

static uint8_t checksum(const uint8_t *bytes, size_t size)
{
    uint8_t sum = 0;
    for (size_t i = 0; i < size; ++i) sum = (uint8_t)(sum ^ bytes[i]);
    return sum;
}

size_t vy_msp_pack(uint8_t command, const void *body, size_t size, uint8_t out[MSP_FRAME_CAP])
{
    VY_ASSERT(size <= MSP_BODY_CAP);
    memcpy(out, "$M<", 3);
    out[SIZE_AT] = (uint8_t)size;
    out[COMMAND_AT] = command;
    if (size > 0) memcpy(out + HEADER_SIZE, body, size);
    out[HEADER_SIZE + size] = checksum(out + SIZE_AT, size + 2);
    return HEADER_SIZE + size + 1;
}

// Can what has come still become a frame?
static int may_be_frame(const msp_reader *r)
{
    const uint8_t *b = r->bytes;
    return b[0] == '$' && (r->count < 2 || b[1] == 'M') && (r->count < 3 || b[2] == '>' || b[2] == '!');
}

int vy_msp_parse_byte(msp_reader *r, uint8_t byte, msp_frame *out)
{
    VY_ASSERT(r->count < sizeof r->bytes);
    r->bytes[r->count++] = byte;
    if (!may_be_frame(r)) { // the last byte does not fit, but may begin again
        const size_t kept_count = byte == '$';
        r->dropped += r->count - kept_count;
        r->count = kept_count;
        r->bytes[0] = byte;
        return 0;
    }
    const size_t size = r->count > SIZE_AT ? r->bytes[SIZE_AT] : MSP_BODY_CAP;
    if (r->count < HEADER_SIZE + size + 1) return 0;
    if (checksum(r->bytes + SIZE_AT, size + 2) !=
        r->bytes[HEADER_SIZE + size]) { // it will be asked for again
        r->dropped += r->count;
        r->count = 0;
        return 0;
    }
    *out = (msp_frame){.is_refused = r->bytes[2] == '!', .command = r->bytes[COMMAND_AT], .size = size};
    memcpy(out->body, r->bytes + HEADER_SIZE, size);
    r->count = r->dropped = 0;
    return 1;
}
