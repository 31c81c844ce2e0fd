// fuzz_wire.c - any bytes as what a controller's process sends, in pieces, and as the samples that it gets.
// Oracles: the sanitizers; a frame is whole when its last byte is there, and not before; a reply that is
// taken comes back from the wire as it was; one that is not leaves the intent alone, and the verdict is a
// sentence.
#include "host/frame.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CAP = 8 * REPLY_CAP };

static void check(int good)
{
    if (!good) abort();
}

static void check_sentence(vy_verdict verdict, int32_t detail, const char said[OUTPUT_CAP])
{
    char text[160] = "";
    check(memchr(said, '\0', OUTPUT_CAP) != NULL);
    for (const char *c = said; *c != '\0'; ++c) check(*c >= ' ' && *c <= '~');
    vy_verdict_print(verdict, detail, 1.0, said, text, sizeof text);
    check(text[0] != '\0' && memchr(text, '\0', sizeof text) != NULL);
}

// The bytes come in pieces. Returns those of the frame, or 0: there is none.
static size_t receive(const uint8_t *data, size_t size, size_t piece)
{
    for (size_t have = 0; have < size;) {
        have += piece < size - have ? piece : size - have;
        char said[OUTPUT_CAP] = "";
        int32_t detail = 0;
        size_t length = 0;
        unsigned char *bytes = malloc(have); // no byte more, so that one too many is seen
        if (bytes == NULL) abort();
        memcpy(bytes, data, have);
        const vy_verdict verdict = vy_wire_check_frame(bytes, have, CAP, &length, &detail, said);
        const size_t end =
            have < FRAME_HEAD_SIZE ? SIZE_MAX : FRAME_HEAD_SIZE + (size_t)vy_wire_get_size(bytes);
        free(bytes);
        check((verdict == VY_VERDICT_LATE) ==
              (have < FRAME_HEAD_SIZE || (have < end && end <= FRAME_HEAD_SIZE + CAP)));
        check((verdict == VY_VERDICT_REPLIED) == (have == end && end <= FRAME_HEAD_SIZE + CAP));
        check_sentence(verdict, detail, said);
        if (verdict == VY_VERDICT_REPLIED) return FRAME_HEAD_SIZE + length;
        if (verdict != VY_VERDICT_LATE) return 0;
    }
    return 0;
}

// A frame's numbers as the reply to a request. Returns whether it is taken.
static int answer(const uint8_t *numbers, size_t size, uint64_t tick, int rotor_count)
{
    static const vy_intent none;
    unsigned char first[FRAME_HEAD_SIZE + CAP], second[FRAME_HEAD_SIZE + CAP];
    vy_intent intent, again;
    memset(&intent, 0, sizeof intent);
    memset(&again, 0, sizeof again);
    const vy_verdict verdict = vy_wire_get_reply(numbers, size, tick, rotor_count, &intent);
    check_sentence(verdict, intent.detail, "");
    if (verdict != VY_VERDICT_REPLIED) {
        intent.detail = 0;
        check(memcmp(&intent, &none, sizeof intent) == 0);
        return 0;
    }
    check(intent.rung <= VY_RUNG_PILOT && intent.detail == 0 && intent.verdict == VY_VERDICT_REPLIED);
    check(intent.drop <= UINT32_MAX && intent.status <= UINT32_MAX);
    const size_t sent = vy_wire_put_reply(&intent, tick, rotor_count, first);
    check(sent > FRAME_HEAD_SIZE && sent <= FRAME_HEAD_SIZE + size &&
          vy_wire_get_size(first) == sent - FRAME_HEAD_SIZE);
    check(vy_wire_get_reply(first + FRAME_HEAD_SIZE, sent - FRAME_HEAD_SIZE, tick, rotor_count, &again) ==
          VY_VERDICT_REPLIED);
    check(vy_wire_put_reply(&again, tick, rotor_count, second) == sent && memcmp(first, second, sent) == 0);
    return 1;
}

static void sample(const uint8_t *data, size_t size)
{
    unsigned char numbers[8 * VY_WIRE_CELLS] = {0}, first[FRAME_HEAD_SIZE + sizeof numbers],
                              second[sizeof first];
    memcpy(numbers, data, size < sizeof numbers ? size : sizeof numbers);
    vy_samples samples;
    vy_wire_get_samples(numbers, &samples);
    check(vy_wire_put_samples(&samples, first) == sizeof first);
    vy_wire_get_samples(first + FRAME_HEAD_SIZE, &samples);
    check(vy_wire_put_samples(&samples, second) == sizeof second && memcmp(first, second, sizeof first) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2) return 0;
    const int rotor_count = 1 + data[0] % VY_ROTOR_CAP;
    const size_t piece = 1 + (size_t)data[1];
    data += 2;
    size -= 2;
    sample(data, size);
    for (uint64_t tick = 0; size > 0; ++tick) {
        // The world has stopped until the reply is there: what comes behind it in the same piece is too much.
        const size_t frame = receive(data, size, piece);
        if (frame == 0 || !answer(data + FRAME_HEAD_SIZE, frame - FRAME_HEAD_SIZE, tick, rotor_count)) break;
        data += frame;
        size -= frame;
    }
    return 0;
}
