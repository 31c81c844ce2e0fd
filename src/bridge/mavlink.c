// mavlink.c - frames of MAVLink: head, payload, checksum (CRC-16/MCRF4XX with one byte of the definition).
#include "bridge/mavlink.h"
#include "base/assert.h"
#include <string.h>

enum {
    STX_1 = 0xfe,
    STX_2 = 0xfd,
    HEAD_SIZE_1 = 6,  // begin, size, sequence, system, component, message
    HEAD_SIZE_2 = 10, // begin, size, flags that must be understood, other flags, sequence, system, component,
                      // message (3)
    CHECKSUM_SIZE = 2,
    SIGNATURE_SIZE = 13,
    FLAG_SIGNED = 1,
};

static uint16_t crc_accumulate(uint16_t crc, uint8_t byte)
{
    uint8_t t = (uint8_t)(byte ^ (uint8_t)crc);
    t ^= (uint8_t)(t << 4);
    return (uint16_t)((crc >> 8) ^ (uint16_t)(t << 8) ^ (uint16_t)(t << 3) ^ (t >> 4));
}

// Of all but the first byte, and of the definition.
static uint16_t checksum(const uint8_t *frame, size_t size, uint8_t crc_extra)
{
    uint16_t crc = 0xffff;
    for (size_t i = 1; i < size; ++i) crc = crc_accumulate(crc, frame[i]);
    return crc_accumulate(crc, crc_extra);
}

static uint64_t load_value(const void *from, int width)
{
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    uint64_t u64;
    switch (width) {
    case 1: memcpy(&u8, from, 1); return u8;
    case 2: memcpy(&u16, from, 2); return u16;
    case 4: memcpy(&u32, from, 4); return u32;
    default: memcpy(&u64, from, 8); return u64;
    }
}

static void store_value(uint64_t value, void *to, int width)
{
    const uint8_t u8 = (uint8_t)value;
    const uint16_t u16 = (uint16_t)value;
    const uint32_t u32 = (uint32_t)value;
    switch (width) {
    case 1: memcpy(to, &u8, 1); return;
    case 2: memcpy(to, &u16, 2); return;
    case 4: memcpy(to, &u32, 4); return;
    default: memcpy(to, &value, 8); return;
    }
}

size_t vy_mavlink_pack(const mavlink_type *type, const void *message, mavlink_sender *from,
                       uint8_t out[MAVLINK_FRAME_CAP])
{
    uint8_t *write_at = out + HEAD_SIZE_2;
    for (int f = 0; f < type->field_count; ++f) {
        const mavlink_field *field = &type->fields[f];
        VY_ASSERT((write_at - out) + field->width * field->count <= HEAD_SIZE_2 + MAVLINK_PAYLOAD_CAP);
        for (int i = 0; i < field->count; ++i) {
            const uint64_t value =
                load_value((const char *)message + field->offset + (size_t)(i * field->width), field->width);
            for (int b = 0; b < field->width; ++b) *write_at++ = (uint8_t)(value >> (8 * b));
        }
    }
    while (write_at > out + HEAD_SIZE_2 + 1 && write_at[-1] == 0)
        --write_at; // of an empty payload one byte stays
    const size_t size = (size_t)(write_at - out);
    const uint8_t head[HEAD_SIZE_2] = {STX_2,
                                       (uint8_t)(size - HEAD_SIZE_2),
                                       0,
                                       0,
                                       from->sequence++,
                                       from->system,
                                       from->component,
                                       (uint8_t)type->id,
                                       (uint8_t)(type->id >> 8),
                                       (uint8_t)(type->id >> 16)};
    memcpy(out, head, sizeof head);
    const uint16_t crc = checksum(out, size, type->crc_extra);
    out[size] = (uint8_t)crc;
    out[size + 1] = (uint8_t)(crc >> 8);
    return size + CHECKSUM_SIZE;
}

void vy_mavlink_unpack(const mavlink_frame *frame, void *message)
{
    int offset = 0;
    for (int f = 0; f < frame->type->field_count; ++f) {
        const mavlink_field *field = &frame->type->fields[f];
        for (int i = 0; i < field->count; ++i) {
            uint64_t value = 0;
            for (int b = 0; b < field->width; ++b, ++offset) {
                if (offset < frame->size) value |= (uint64_t)frame->payload[offset] << (8 * b);
            }
            store_value(value, (char *)message + field->offset + (size_t)(i * field->width), field->width);
        }
    }
}

size_t vy_mavlink_feed(mavlink_reader *r, const uint8_t *bytes, size_t size)
{
    const size_t room = sizeof r->bytes - r->size;
    const size_t taken_size = size < room ? size : room;
    memcpy(r->bytes + r->size, bytes, taken_size);
    r->size += taken_size;
    return taken_size;
}

static void drop(mavlink_reader *r, size_t count)
{
    VY_ASSERT(count <= r->size);
    memmove(r->bytes, r->bytes + count, r->size - count);
    r->size -= count;
}

// The bytes of the frame that begins here, as its head says; 0: more bytes are needed to tell.
static size_t frame_size(const mavlink_reader *r)
{
    const size_t head_size = r->bytes[0] == STX_1 ? HEAD_SIZE_1 : HEAD_SIZE_2;
    if (r->size < head_size) return 0;
    const int is_signed = head_size == HEAD_SIZE_2 && (r->bytes[2] & FLAG_SIGNED) != 0;
    return head_size + r->bytes[1] + CHECKSUM_SIZE + (is_signed ? SIGNATURE_SIZE : 0);
}

// The whole frame at the beginning of the buffer. 0: it is none that is known.
static int read_frame(const mavlink_reader *r, mavlink_frame *out)
{
    const uint8_t *b = r->bytes;
    const int is_version_1 = b[0] == STX_1;
    const size_t head_size = is_version_1 ? HEAD_SIZE_1 : HEAD_SIZE_2, size = head_size + b[1];
    const uint32_t id = is_version_1 ? b[5] : (uint32_t)b[7] | (uint32_t)b[8] << 8 | (uint32_t)b[9] << 16;
    if (!is_version_1 && (b[2] & ~FLAG_SIGNED) != 0) return 0; // flags that must be understood
    out->type = vy_mavlink_find(id);
    if (out->type == NULL) return 0;
    const uint16_t crc = checksum(b, size, out->type->crc_extra);
    if (b[size] != (uint8_t)crc || b[size + 1] != (uint8_t)(crc >> 8)) return 0;
    out->from = is_version_1 ? (mavlink_sender){.sequence = b[2], .system = b[3], .component = b[4]}
                             : (mavlink_sender){.sequence = b[4], .system = b[5], .component = b[6]};
    out->size = b[1];
    memcpy(out->payload, b + head_size, b[1]);
    return 1;
}

int vy_mavlink_next(mavlink_reader *r, mavlink_frame *out)
{
    while (r->size > 0) {
        size_t skip_count = 0;
        while (skip_count < r->size && r->bytes[skip_count] != STX_1 && r->bytes[skip_count] != STX_2)
            ++skip_count;
        if (skip_count > 0) {
            r->dropped += skip_count;
            drop(r, skip_count);
            continue;
        }
        const size_t size = frame_size(r);
        if (size == 0 || r->size < size) return 0;
        if (read_frame(r, out)) {
            r->dropped = 0;
            drop(r, size);
            return 1;
        }
        // Not a message we know, or no frame at all: a byte that looks like a beginning. Continue behind it,
        // so that a frame that begins within is found.
        ++r->dropped;
        drop(r, 1);
    }
    return 0;
}
