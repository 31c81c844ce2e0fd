// fuzz_wire.c - any bytes as what a controller's process sends, in pieces, and as the samples that it gets.
// Oracles: the sanitizers; a frame is whole when its last byte is there, and not before; a reply that is
// taken comes back from the wire as it was; one that is not leaves the intent alone, and the verdict is a
// sentence.
#include "host/frame.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BODY_CAP = 8 * REPLY_CAP };

static void check(int condition)
{
    if (!condition) abort();
}

static void check_sentence(vy_verdict verdict, int32_t detail, const char output[OUTPUT_CAP])
{
    char text[160] = "";
    check(memchr(output, '\0', OUTPUT_CAP) != NULL);
    for (const char *c = output; *c != '\0'; ++c) check(*c >= ' ' && *c <= '~');
    vy_verdict_print(verdict, detail, 1.0, output, text, sizeof text);
    check(text[0] != '\0' && memchr(text, '\0', sizeof text) != NULL);
}

// The bytes come in pieces. Returns those of the frame, or 0: there is none.
static size_t receive(const uint8_t *data, size_t size, size_t piece_size)
{
    for (size_t received = 0; received < size;) {
        received += piece_size < size - received ? piece_size : size - received;
        char output[OUTPUT_CAP] = "";
        int32_t detail = 0;
        size_t length = 0;
        unsigned char *bytes = malloc(received); // no byte more, so that one too many is seen
        if (bytes == NULL) abort();
        memcpy(bytes, data, received);
        const vy_verdict verdict = vy_wire_check_frame(bytes, received, BODY_CAP, &length, &detail, output);
        const size_t frame_end =
            received < FRAME_HEAD_SIZE ? SIZE_MAX : FRAME_HEAD_SIZE + (size_t)vy_wire_get_size(bytes);
        free(bytes);
        check((verdict == VY_VERDICT_LATE) ==
              (received < FRAME_HEAD_SIZE ||
               (received < frame_end && frame_end <= FRAME_HEAD_SIZE + BODY_CAP)));
        check((verdict == VY_VERDICT_REPLIED) ==
              (received == frame_end && frame_end <= FRAME_HEAD_SIZE + BODY_CAP));
        check_sentence(verdict, detail, output);
        if (verdict == VY_VERDICT_REPLIED) return FRAME_HEAD_SIZE + length;
        if (verdict != VY_VERDICT_LATE) return 0;
    }
    return 0;
}

// A frame's numbers as the reply to a request. Returns whether it is taken.
static int check_reply(const uint8_t *numbers, size_t size, uint64_t tick, int rotor_count)
{
    static const vy_intent empty_intent;
    unsigned char reply_bytes[FRAME_HEAD_SIZE + BODY_CAP], reply_bytes_again[FRAME_HEAD_SIZE + BODY_CAP];
    vy_intent intent, intent_again;
    memset(&intent, 0, sizeof intent);
    memset(&intent_again, 0, sizeof intent_again);
    const vy_verdict verdict = vy_wire_get_reply(numbers, size, tick, rotor_count, &intent);
    check_sentence(verdict, intent.detail, "");
    if (verdict != VY_VERDICT_REPLIED) {
        intent.detail = 0;
        check(memcmp(&intent, &empty_intent, sizeof intent) == 0);
        return 0;
    }
    check(intent.rung <= VY_RUNG_PILOT && intent.detail == 0 && intent.verdict == VY_VERDICT_REPLIED);
    check(intent.drop <= UINT32_MAX && intent.status <= UINT32_MAX);
    const size_t reply_size = vy_wire_put_reply(&intent, tick, rotor_count, reply_bytes);
    check(reply_size > FRAME_HEAD_SIZE && reply_size <= FRAME_HEAD_SIZE + size &&
          vy_wire_get_size(reply_bytes) == reply_size - FRAME_HEAD_SIZE);
    check(vy_wire_get_reply(reply_bytes + FRAME_HEAD_SIZE, reply_size - FRAME_HEAD_SIZE, tick, rotor_count,
                            &intent_again) == VY_VERDICT_REPLIED);
    check(vy_wire_put_reply(&intent_again, tick, rotor_count, reply_bytes_again) == reply_size &&
          memcmp(reply_bytes, reply_bytes_again, reply_size) == 0);
    return 1;
}

static void check_samples(const uint8_t *data, size_t size)
{
    unsigned char numbers[8 * VY_WIRE_CELLS] = {0}, sample_bytes[FRAME_HEAD_SIZE + sizeof numbers],
                              sample_bytes_again[sizeof sample_bytes];
    memcpy(numbers, data, size < sizeof numbers ? size : sizeof numbers);
    vy_samples samples;
    vy_wire_get_samples(numbers, &samples);
    check(vy_wire_put_samples(&samples, sample_bytes) == sizeof sample_bytes);
    vy_wire_get_samples(sample_bytes + FRAME_HEAD_SIZE, &samples);
    check(vy_wire_put_samples(&samples, sample_bytes_again) == sizeof sample_bytes_again &&
          memcmp(sample_bytes, sample_bytes_again, sizeof sample_bytes) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2) return 0;
    const int rotor_count = 1 + data[0] % VY_ROTOR_CAP;
    const size_t piece_size = 1 + (size_t)data[1];
    data += 2;
    size -= 2;
    check_samples(data, size);
    for (uint64_t tick = 0; size > 0; ++tick) {
        // The world has stopped until the reply is there: what comes behind it in the same piece is too much.
        const size_t frame = receive(data, size, piece_size);
        if (frame == 0 || !check_reply(data + FRAME_HEAD_SIZE, frame - FRAME_HEAD_SIZE, tick, rotor_count))
            break;
        data += frame;
        size -= frame;
    }
    return 0;
}
