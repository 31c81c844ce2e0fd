// protobuf.h - protobuf messages from a description: descriptors for other tools, and a fast way in and out.
//
// A message is described once, by a table of fields. From the table come the FileDescriptorSet that an MCAP
// schema embeds and the codec of flat messages, whose values lie in an array of 8-byte cells. Messages of any
// other shape are written field by field with vy_pb_writer and read with vy_pb_reader.
#pragma once
#include "volery/status.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Types of fields; the values are protobuf's own.
typedef enum vy_pb_type {
    VY_PB_DOUBLE = 1,
    VY_PB_INT64 = 3,
    VY_PB_UINT64 = 4,
    VY_PB_INT32 = 5,
    VY_PB_FIXED64 = 6, ///< always 8 bytes: for hashes, and for speed
    VY_PB_FIXED32 = 7,
    VY_PB_BOOL = 8,
    VY_PB_STRING = 9,
    VY_PB_MESSAGE = 11,
    VY_PB_BYTES = 12,
    VY_PB_UINT32 = 13,
    VY_PB_ENUM = 14,
} vy_pb_type;

typedef struct vy_pb_enum_value {
    const char *name;
    int32_t number;
} vy_pb_enum_value;

/// An enumeration. It is declared inside the message that uses it, whose name its own begins with.
typedef struct vy_pb_enum {
    const char *name; ///< full: "foxglove.LinePrimitive.Type"
    const vy_pb_enum_value *values;
    size_t value_count;
} vy_pb_enum;

#define VY_PB_LIST UINT32_MAX ///< repeated, any number of values

/// One field.
typedef struct vy_pb_field {
    const char *name;
    uint32_t number; ///< 1 to 536870911
    vy_pb_type type;
    uint32_t repeat;                     ///< 0: one value; n: a list of n in flat messages; VY_PB_LIST
    const struct vy_pb_message *message; ///< of a VY_PB_MESSAGE
    const vy_pb_enum *enumeration;       ///< of a VY_PB_ENUM
} vy_pb_field;

/// One kind of message.
typedef struct vy_pb_message {
    const char *name; ///< full: "volery.State"
    const char *file; ///< "volery/State.proto"; NULL makes it from the name
    const vy_pb_field *fields;
    size_t field_count;
} vy_pb_message;

/// The serialized FileDescriptorSet of `message` and all it uses, dependencies first; `*data` is freed by the
/// caller. VY_BAD_VALUE for a description that is not a valid proto3 message.
vy_status vy_pb_descriptor_set(const vy_pb_message *message, unsigned char **data, size_t *size,
                               vy_error *err);

/// Encodes and decodes flat messages: every field a number, a list of `repeat` numbers, or one flat message.
/// Values lie depth first, in the order of the description, in 8-byte cells: a double as itself, an unsigned
/// or bool as uint64_t, a signed or enum as int64_t.
typedef struct vy_pb_codec vy_pb_codec;

vy_status vy_pb_codec_create(const vy_pb_message *message, vy_pb_codec **out, vy_error *err);
void vy_pb_codec_destroy(vy_pb_codec *codec); // NULL is a no-op

/// How many cells a message has, and how many bytes of room its encoding needs (a few more than it takes).
size_t vy_pb_codec_cell_count(const vy_pb_codec *codec);
size_t vy_pb_codec_size_max(const vy_pb_codec *codec);

/// Write all fields, zeros too: the bytes then depend on nothing but the values. `out` has size_max bytes.
/// @return bytes written
size_t vy_pb_encode(const vy_pb_codec *codec, const void *cells, unsigned char *out);

/// Read a message into cells. Absent fields and lists are zero, unknown ones are skipped; a list of another
/// length, a field of another wire type and broken bytes are VY_DAMAGED, and the cells are then undefined.
vy_status vy_pb_decode(const vy_pb_codec *codec, const unsigned char *data, size_t size, void *cells,
                       vy_error *err);

/// Writes any message, field by field, into the caller's memory. When it runs out, `is_full` stays set.
typedef struct vy_pb_writer {
    unsigned char *data;
    size_t size, capacity;
    size_t open_starts[16]; ///< where the messages begun have their content
    int depth;
    bool is_full;
} vy_pb_writer;

static inline vy_pb_writer vy_pb_writer_on(void *data, size_t capacity)
{
    return (vy_pb_writer){.data = (unsigned char *)data, .capacity = capacity};
}

void vy_pb_put_double(vy_pb_writer *writer, uint32_t number, double value);
void vy_pb_put_uint(vy_pb_writer *writer, uint32_t number, uint64_t value); ///< uint64, uint32, bool
void vy_pb_put_int(vy_pb_writer *writer, uint32_t number, int64_t value);   ///< int64, int32, enum
void vy_pb_put_fixed64(vy_pb_writer *writer, uint32_t number, uint64_t value);
/// UTF-8, as readers demand: a byte that is no part of a character becomes a question mark.
void vy_pb_put_string(vy_pb_writer *writer, uint32_t number, const char *text);
void vy_pb_put_bytes(vy_pb_writer *writer, uint32_t number, const void *data, size_t size);
/// The same, for the caller to fill; NULL when there is no room.
void *vy_pb_put_space(vy_pb_writer *writer, uint32_t number, size_t size);
void vy_pb_begin(vy_pb_writer *writer, uint32_t number); ///< a message inside; at most 16 deep
void vy_pb_end(vy_pb_writer *writer);

/// Walks over the fields of a message.
typedef struct vy_pb_reader {
    const unsigned char *at, *end; ///< the next byte, and behind the last
    bool bad;                      ///< the bytes are not a message
} vy_pb_reader;

/// One field as it lies in the bytes.
typedef struct vy_pb_item {
    uint32_t number;
    uint32_t wire;             ///< 0 varint, 1 eight bytes, 2 data, 5 four bytes
    uint64_t value;            ///< of wire 0, 1, 5
    const unsigned char *data; ///< of wire 2: inside the reader's bytes
    size_t size;
} vy_pb_item;

static inline vy_pb_reader vy_pb_reader_on(const void *data, size_t size)
{
    const unsigned char *at = (const unsigned char *)data;
    return (vy_pb_reader){.at = at, .end = size > 0 ? at + size : at};
}

/// The next field; false at the end and when the bytes are bad.
bool vy_pb_next(vy_pb_reader *reader, vy_pb_item *item);
