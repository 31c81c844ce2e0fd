// fuzz_mavlink.c - any bytes as what a firmware sends, in pieces. Oracles: the sanitizers; frames do not
// depend on how the bytes were cut; every byte is part of a frame, dropped or kept for later; a message that
// is read is, packed again, read as the same.
#include "bridge/messages.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct message_room {
    uint64_t cells[64]; // more than the largest message
} message_room;

static void check(int good)
{
    if (!good) abort();
}

// Packed by us it is the same message; one that was cut short or had more at its end is whole then.
static void check_round_trip(const mavlink_frame *frame)
{
    message_room message, again;
    uint8_t bytes[MAVLINK_FRAME_CAP];
    mavlink_reader reader = {.size = 0};
    mavlink_frame second;
    memset(&message, 0, sizeof message);
    memset(&again, 0, sizeof again);
    vy_mavlink_unpack(frame, &message);
    mavlink_sender from = frame->from;
    const size_t size = vy_mavlink_pack(frame->type, &message, &from, bytes);
    check(from.sequence == (uint8_t)(frame->from.sequence + 1));
    check(vy_mavlink_feed(&reader, bytes, size) == size && vy_mavlink_next(&reader, &second));
    check(reader.size == 0 && reader.dropped == 0 && second.type == frame->type);
    check(memcmp(&second.from, &frame->from, sizeof second.from) == 0);
    vy_mavlink_unpack(&second, &again);
    check(memcmp(&message, &again, sizeof message) == 0);
}

// All frames in these bytes, as they come in pieces. Returns a number that stands for them.
static uint64_t read_all(const uint8_t *data, size_t size, size_t chunk_size, int check_round_trips)
{
    mavlink_reader reader = {.size = 0};
    mavlink_frame frame;
    uint64_t frames = 0;
    for (size_t at = 0; at < size;) {
        const size_t asked = chunk_size < size - at ? chunk_size : size - at;
        const size_t taken = vy_mavlink_feed(&reader, data + at, asked);
        check(taken > 0 && reader.size <= sizeof reader.bytes); // what was read makes room
        at += taken;
        while (vy_mavlink_next(&reader, &frame)) {
            frames = frames * 31 + frame.type->id * 256 + frame.from.sequence + 1;
            check(reader.dropped == 0);
            if (check_round_trips) check_round_trip(&frame);
        }
        check(reader.size < MAVLINK_FRAME_CAP);
    }
    return frames;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1) return 0;
    const size_t chunk_size = 1 + (size_t)data[0];
    check(read_all(data + 1, size - 1, chunk_size, 1) == read_all(data + 1, size - 1, 1, 0));
    return 0;
}
