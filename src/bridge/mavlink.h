// mavlink.h - MAVLink 2: messages to frames and back. Frames of MAVLink 1 are read, too.
//
// A message is a struct; a table per message says where its fields are, in the order of the wire. Numbers are
// little-endian. Zeros at the end of a payload are left out, and read as zeros.
#pragma once
#include <stddef.h>
#include <stdint.h>

enum {
    MAVLINK_PAYLOAD_CAP = 255,
    MAVLINK_FRAME_CAP = 10 + MAVLINK_PAYLOAD_CAP + 2 + 13, // head, payload, checksum, signature
};

typedef struct mavlink_field {
    const char *name;
    size_t offset; // in the struct
    int width;     // [bytes] of each value
    int count;
} mavlink_field;

/// What is known of a message.
typedef struct mavlink_type {
    const char *name;
    uint32_t id;
    uint8_t crc_extra; // of the definition: both sides must have the same
    int field_count;
    const mavlink_field *fields;
} mavlink_type;

/// Where a message comes from.
typedef struct mavlink_sender {
    uint8_t system, component, sequence;
} mavlink_sender;

/// A frame that was received.
typedef struct mavlink_frame {
    const mavlink_type *type;
    mavlink_sender from;
    int size; // of the payload as it came
    uint8_t payload[MAVLINK_PAYLOAD_CAP];
} mavlink_frame;

/// Bytes of a stream or datagram on their way to frames.
typedef struct mavlink_reader {
    size_t size;
    uint64_t dropped; // bytes that belong to no frame of a known message, since the last that does
    uint8_t bytes[2 * MAVLINK_FRAME_CAP];
} mavlink_reader;

/// `message` is the type's struct. Returns the bytes of the frame; the sender's sequence continues.
size_t vy_mavlink_pack(const mavlink_type *type, const void *message, mavlink_sender *from,
                       uint8_t out[MAVLINK_FRAME_CAP]);
void vy_mavlink_unpack(const mavlink_frame *frame, void *message);

/// Take as many bytes as there is room for; returns how many.
size_t vy_mavlink_feed(mavlink_reader *reader, const uint8_t *bytes, size_t size);

/// The next whole frame of a known message with a right checksum. 0: more bytes are needed.
int vy_mavlink_next(mavlink_reader *reader, mavlink_frame *out);

/// By number or name; NULL: not known.
const mavlink_type *vy_mavlink_find(uint32_t id);
const mavlink_type *vy_mavlink_find_name(const char *name);
