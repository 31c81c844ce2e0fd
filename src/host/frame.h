// frame.h - the wire between a world and a controller that is a process: docs/controllers.md, "The wire".
//
// A frame is its size in bytes as 4 bytes, little-endian, then so many bytes. The first frame of each side is
// text; every later one is a list of 64-bit floating-point numbers, little-endian.
#pragma once
#include "volery/plugin.h"

#define WIRE_VERSION 1

enum {
    FRAME_HEAD_SIZE = 4,
    WIRE_CAP = 4096,                       // [bytes] of a frame between the first and the last, with its head
    OUTPUT_CAP = 64,                       // [bytes] of text in the place of a frame
    READY_CAP = 64,                        // [bytes] of the first frame of the controller
    REPLY_CAP = 2 + sizeof(vy_intent) / 8, // [numbers] of a reply: tick, rung, and never more than it has
};

/// How many numbers the samples have.
enum { VY_WIRE_CELLS = sizeof(vy_samples) / 8 };

/// One number of the samples: its name, and where it is in vy_samples.
typedef struct wire_cell {
    char name[48];
    size_t offset;
    int is_integer; // an uint64_t rather than a double
} wire_cell;

wire_cell vy_wire_cell(int index);

/// The samples as a frame with its head. Returns its bytes; `out` has room for FRAME_HEAD_SIZE and 8 each.
size_t vy_wire_put_samples(const vy_samples *samples, unsigned char *out);
void vy_wire_get_samples(const unsigned char *numbers, vy_samples *out);

/// How many numbers follow tick and rung in a reply; -1: no such rung.
int vy_wire_rung_number_count(int rung, int rotor_count);

/// An intent as a reply's frame with its head. Returns its bytes; 0: of no rung that can be sent.
size_t vy_wire_put_reply(const vy_intent *intent, uint64_t tick, int rotor_count, unsigned char *out);

/// Judge what has come of a frame of at most `cap` bytes, head not counted.
/// @param size of a whole frame; `detail` as in vy_intent; `printed` the line of text that came in its place
/// @return the verdict; VY_VERDICT_LATE: good so far, and the rest has still to come
vy_verdict vy_wire_check_frame(const unsigned char *bytes, size_t received_size, size_t cap, size_t *size,
                               int32_t *detail, char printed[OUTPUT_CAP]);

/// Are these bytes a text that somebody has printed? Then its first line is in `printed`, its first letters
/// are the detail.
int vy_wire_is_text(const unsigned char *bytes, size_t size, int32_t *detail, char printed[OUTPUT_CAP]);

/// Decode a reply's numbers, without the head, into an intent; returns the verdict.
vy_verdict vy_wire_get_reply(const unsigned char *numbers, size_t size, uint64_t tick, int rotor_count,
                             vy_intent *intent);

/// The size that the head of a frame states [bytes], its own not counted.
uint32_t vy_wire_get_size(const unsigned char *head);
void vy_wire_put_size(uint32_t size, unsigned char *head);
