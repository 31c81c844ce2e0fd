// fuzz_mavlink.c - any bytes as what a firmware sends, in pieces. Oracles: the sanitizers; frames do not
// depend on how the bytes were cut; every byte is part of a frame, dropped or kept for later; a message that
// is read is, packed again, read as the same.
#include "bridge/messages.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct message_buffer {
    uint64_t cells[64]; // more than the largest message
} message_buffer;

static void check(int condition)
{
    if (!condition) abort();
}

// Packed by us it is the same message; one that was cut short or had more at its end is whole then.
static void check_round_trip(const mavlink_frame *frame)
{
    message_buffer message, message_again;
    uint8_t bytes[MAVLINK_FRAME_CAP];
    mavlink_reader reader = {.size = 0};
    mavlink_frame frame_again;
    memset(&message, 0, sizeof message);
    memset(&message_again, 0, sizeof message_again);
    vy_mavlink_unpack(frame, &message);
    mavlink_sender sender = frame->from;
    const size_t size = vy_mavlink_pack(frame->type, &message, &sender, bytes);
    check(sender.sequence == (uint8_t)(frame->from.sequence + 1));
    check(vy_mavlink_feed(&reader, bytes, size) == size && vy_mavlink_next(&reader, &frame_again));
    check(reader.size == 0 && reader.dropped == 0 && frame_again.type == frame->type);
    check(memcmp(&frame_again.from, &frame->from, sizeof frame_again.from) == 0);
    vy_mavlink_unpack(&frame_again, &message_again);
    check(memcmp(&message, &message_again, sizeof message) == 0);
}

// All frames in these bytes, as they come in pieces. Returns a number that stands for them.
static uint64_t read_all(const uint8_t *data, size_t size, size_t chunk_size, int check_round_trips)
{
    mavlink_reader reader = {.size = 0};
    mavlink_frame frame;
    uint64_t frames_hash = 0;
    for (size_t at = 0; at < size;) {
        const size_t chunk = chunk_size < size - at ? chunk_size : size - at;
        const size_t consumed = vy_mavlink_feed(&reader, data + at, chunk);
        check(consumed > 0 && reader.size <= sizeof reader.bytes); // what was read makes room
        at += consumed;
        while (vy_mavlink_next(&reader, &frame)) {
            frames_hash = frames_hash * 31 + frame.type->id * 256 + frame.from.sequence + 1;
            check(reader.dropped == 0);
            if (check_round_trips) check_round_trip(&frame);
        }
        check(reader.size < MAVLINK_FRAME_CAP);
    }
    return frames_hash;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1) return 0;
    const size_t chunk_size = 1 + (size_t)data[0];
    check(read_all(data + 1, size - 1, chunk_size, 1) == read_all(data + 1, size - 1, 1, 0));
    return 0;
}
