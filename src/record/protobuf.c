// protobuf.c - the wire format: fields out, fields in, and the codec of flat messages.
#include "record/protobuf.h"
#include "base/assert.h"
#include "base/fail.h"
#include "base/utf8.h"
#include <stdlib.h>

enum { NUMBER_MAX = (1 << 29) - 1, VARINT_MAX = 10, DEPTH_MAX = 8, PREFIX_SIZE_MAX = 16 };
enum { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_DATA = 2, WIRE_32 = 5 };

static size_t varint_size(uint64_t x)
{
    size_t size = 1;
    while (x >= 0x80) {
        x >>= 7;
        ++size;
    }
    return size;
}

static unsigned char *put_varint(unsigned char *p, uint64_t x)
{
    while (x >= 0x80) {
        *p++ = (unsigned char)(x | 0x80);
        x >>= 7;
    }
    *p++ = (unsigned char)x;
    return p;
}

// The general writer.

static unsigned char *reserve(vy_pb_writer *w, size_t size)
{
    VY_ASSERT(w->size <= w->capacity && (w->data != NULL || w->capacity == 0));
    if (w->is_full || size > w->capacity - w->size) {
        w->is_full = true;
        return NULL;
    }
    return w->data + w->size;
}

static void put_number(vy_pb_writer *w, uint32_t number, uint32_t wire, uint64_t value)
{
    const uint64_t tag = (uint64_t)number << 3 | wire;
    VY_ASSERT(number > 0 && number <= NUMBER_MAX);
    unsigned char *p = reserve(w, varint_size(tag) + (wire == WIRE_64 ? 8 : varint_size(value)));
    if (p == NULL) return;
    p = put_varint(p, tag);
    p = wire == WIRE_64 ? (unsigned char *)memcpy(p, &value, 8) + 8 : put_varint(p, value);
    VY_ASSERT((size_t)(p - w->data) <= w->capacity); // as much as reserve() was asked for
    w->size = (size_t)(p - w->data);
}

void vy_pb_put_uint(vy_pb_writer *w, uint32_t number, uint64_t value)
{
    put_number(w, number, WIRE_VARINT, value);
}
void vy_pb_put_int(vy_pb_writer *w, uint32_t number, int64_t value)
{
    put_number(w, number, WIRE_VARINT, (uint64_t)value);
}
void vy_pb_put_fixed64(vy_pb_writer *w, uint32_t number, uint64_t value)
{
    put_number(w, number, WIRE_64, value);
}

void vy_pb_put_double(vy_pb_writer *w, uint32_t number, double value)
{
    uint64_t cell;
    memcpy(&cell, &value, sizeof cell);
    put_number(w, number, WIRE_64, cell);
}

void *vy_pb_put_space(vy_pb_writer *w, uint32_t number, size_t size)
{
    const size_t old_size = w->size;
    put_number(w, number, WIRE_DATA, size);
    unsigned char *p = reserve(w, size);
    w->size = p != NULL ? w->size + size : old_size; // no half of a field
    return p;
}

void vy_pb_put_bytes(vy_pb_writer *w, uint32_t number, const void *data, size_t size)
{
    void *p = vy_pb_put_space(w, number, size);
    if (p != NULL && size > 0) memcpy(p, data, size);
}

void vy_pb_put_string(vy_pb_writer *w, uint32_t number, const char *text)
{
    const size_t size = strlen(text);
    const unsigned char *from = (const unsigned char *)text;
    unsigned char *to = vy_pb_put_space(w, number, size);
    for (size_t i = 0; to != NULL && i < size;) {
        const int length = utf8_length(from + i);
        to[i] = length > 0 ? from[i] : '?';
        for (int k = 1; k < length; ++k) to[i + (size_t)k] = from[i + (size_t)k];
        i += length > 0 ? (size_t)length : 1;
    }
}

void vy_pb_begin(vy_pb_writer *w, uint32_t number)
{
    put_number(w, number, WIRE_DATA, 0); // one byte for the length; more are made when it ends
    const int depth_max = (int)(sizeof w->open_starts / sizeof w->open_starts[0]);
    if (w->depth < depth_max) {
        w->open_starts[w->depth] = w->size;
    } else {
        w->is_full = true;
    }
    w->depth += 1;
}

void vy_pb_end(vy_pb_writer *w)
{
    if (w->depth == 0) {
        w->is_full = true;
        return;
    }
    w->depth -= 1;
    if (w->is_full) return;
    const size_t start = w->open_starts[w->depth];
    VY_ASSERT(start > 0 && start <= w->size && w->data[start - 1] == 0); // the byte kept for its length
    const size_t length = w->size - start;
    const size_t extra = varint_size(length) - 1;
    if (reserve(w, extra) == NULL) return;
    if (extra > 0) memmove(w->data + start + extra, w->data + start, length);
    put_varint(w->data + start - 1, length);
    w->size += extra;
}

// The general reader.

static bool decode_varint(vy_pb_reader *r, uint64_t *out)
{
    uint64_t x = 0;
    for (int i = 0; i < VARINT_MAX && r->at < r->end; ++i) {
        const uint64_t byte = *r->at++;
        if (i == VARINT_MAX - 1 && byte > 1) break; // more than 64 bits
        x |= (byte & 0x7f) << (7 * i);
        if (byte < 0x80) {
            *out = x;
            return true;
        }
    }
    r->bad = true;
    return false;
}

bool vy_pb_next(vy_pb_reader *r, vy_pb_item *item)
{
    uint64_t tag, value = 0;
    if (r->bad || r->at == r->end || !decode_varint(r, &tag)) return false;
    const uint32_t wire = (uint32_t)(tag & 7);
    size_t fixed_size = wire == WIRE_64 ? 8 : wire == WIRE_32 ? 4 : 0;
    *item = (vy_pb_item){.number = (uint32_t)(tag >> 3), .wire = wire};
    r->bad = tag >> 3 == 0 || tag >> 3 > NUMBER_MAX || wire == 3 || wire == 4 || wire > WIRE_32;
    if (r->bad) return false;
    if (fixed_size == 0 && !decode_varint(r, &value)) return false;
    if (wire == WIRE_DATA) {
        r->bad = value > (uint64_t)(r->end - r->at);
        if (r->bad) return false;
        item->data = r->at;
        item->size = (size_t)value;
        fixed_size = item->size;
    } else if (fixed_size > 0) {
        r->bad = fixed_size > (size_t)(r->end - r->at);
        if (r->bad) return false;
        memcpy(&value, r->at, fixed_size);
    }
    item->value = value;
    r->at += fixed_size;
    return true;
}

// The codec. A node is a field; the fields of a message inside are its children, a run of nodes further on.

typedef struct node {
    uint32_t number;
    vy_pb_type type;
    uint32_t count; // of values: 1, or the length of the list
    bool is_list;
    uint32_t first_cell; // its first
    uint32_t first_child, child_count;
    uint8_t prefix[PREFIX_SIZE_MAX]; // tag and, where it is constant, the length
    uint32_t prefix_size;
    uint32_t length_size; // bytes kept for a length that varies
    size_t size_max;
} node;

struct vy_pb_codec {
    node *nodes;
    size_t node_count, node_capacity;
    uint32_t root_count; // fields of the message itself: the first nodes
    size_t cell_count, size_max;
    // Where every value has eight bytes, a message differs from another in its values alone.
    unsigned char *template_message; // the message with all values 0; NULL where sizes vary
    size_t template_size;
    uint32_t *positions; // of each cell in it
};

static uint32_t wire_of(vy_pb_type type)
{
    switch (type) {
    case VY_PB_DOUBLE:
    case VY_PB_FIXED64: return WIRE_64;
    case VY_PB_FIXED32: return WIRE_32;
    case VY_PB_STRING:
    case VY_PB_BYTES:
    case VY_PB_MESSAGE: return WIRE_DATA;
    default: return WIRE_VARINT;
    }
}

static vy_status check_flat(const vy_pb_message *message, const vy_pb_field *field, int depth, vy_error *err)
{
    const char *problem = NULL;
    if (field->type == VY_PB_STRING || field->type == VY_PB_BYTES)
        problem = "is text, which a flat message cannot have";
    if (field->repeat == VY_PB_LIST || field->repeat > 1 << 16) problem = "is a list without a fixed length";
    if (field->type == VY_PB_MESSAGE && field->repeat != 0) problem = "is a list of messages";
    if (field->type == VY_PB_MESSAGE && field->message == NULL) problem = "has no message";
    if (field->type == VY_PB_MESSAGE && depth == DEPTH_MAX) problem = "is nested too deep";
    if (field->number == 0 || field->number > NUMBER_MAX)
        problem = "has a number that protobuf does not allow";
    if (problem == NULL) return VY_OK;
    return vy_fail(err, VY_BAD_VALUE, "protobuf: %s.%s %s", message->name, field->name, problem);
}

static void init_prefix(node *n)
{
    const size_t value_size_max = wire_of(n->type) == WIRE_64   ? 8
                                  : wire_of(n->type) == WIRE_32 ? 4
                                                                : VARINT_MAX;
    const bool is_data = n->is_list || n->type == VY_PB_MESSAGE;
    unsigned char *p =
        put_varint(n->prefix, (uint64_t)n->number << 3 | (is_data ? WIRE_DATA : wire_of(n->type)));
    const size_t body_size = n->type == VY_PB_MESSAGE ? n->size_max : value_size_max * n->count;
    if (n->is_list && value_size_max != VARINT_MAX) p = put_varint(p, body_size);
    if (n->type == VY_PB_MESSAGE || (n->is_list && value_size_max == VARINT_MAX))
        n->length_size = (uint32_t)varint_size(body_size);
    n->prefix_size = (uint32_t)(p - n->prefix);
    VY_ASSERT(n->prefix_size <= PREFIX_SIZE_MAX && n->count > 0);
    n->size_max = n->prefix_size + n->length_size + body_size;
}

// Append the fields of `message`; those of messages inside follow behind. @return through the codec
static vy_status add_fields(vy_pb_codec *codec, const vy_pb_message *message, int depth, uint32_t *cell,
                            size_t *size_max, vy_error *err)
{
    const size_t first_node = codec->node_count;
    if (message->field_count > codec->node_capacity - first_node) {
        const size_t capacity = 2 * codec->node_capacity + message->field_count;
        node *nodes = realloc(codec->nodes, capacity * sizeof *nodes);
        if (nodes == NULL) return vy_fail(err, VY_NO_MEMORY, "no memory for a protobuf codec");
        codec->nodes = nodes;
        codec->node_capacity = capacity;
    }
    codec->node_count += message->field_count;
    for (size_t i = 0; i < message->field_count; ++i) {
        const vy_pb_field *field = &message->fields[i];
        vy_status status = check_flat(message, field, depth, err);
        if (status != VY_OK) return status;
        node n = {
            .number = field->number, .type = field->type, .is_list = field->repeat > 0, .first_cell = *cell};
        n.count = n.is_list ? field->repeat : 1;
        if (field->type == VY_PB_MESSAGE) {
            n.first_child = (uint32_t)codec->node_count;
            n.child_count = (uint32_t)field->message->field_count;
            status = add_fields(codec, field->message, depth + 1, cell, &n.size_max, err);
            if (status != VY_OK) return status;
        } else {
            *cell += n.count;
        }
        init_prefix(&n);
        *size_max += n.size_max;
        codec->nodes[first_node + i] = n; // by position: the array may have moved
        VY_ASSERT(first_node + i < codec->node_count && codec->node_count <= codec->node_capacity);
    }
    return VY_OK;
}

size_t vy_pb_codec_cell_count(const vy_pb_codec *codec) { return codec->cell_count; }
size_t vy_pb_codec_size_max(const vy_pb_codec *codec) { return codec->size_max; }

static uint64_t cell_at(const unsigned char *cells, size_t index)
{
    uint64_t x;
    memcpy(&x, cells + 8 * index, sizeof x);
    return x;
}

// A cell as the varint of its type: narrow types are cut to their width, signed ones extended again.
static uint64_t truncate_to_type(vy_pb_type type, uint64_t x)
{
    if (type == VY_PB_BOOL) return x != 0;
    if (type == VY_PB_UINT32) return (uint32_t)x;
    if (type == VY_PB_INT32 || type == VY_PB_ENUM)
        return (x & 0x80000000u) != 0 ? x | 0xffffffff00000000u : (uint32_t)x;
    return x;
}

// Values without tag, one after the other.
static unsigned char *put_values(const node *n, const unsigned char *cells, unsigned char *p)
{
    const uint32_t wire = wire_of(n->type);
    if (wire == WIRE_64) {
        memcpy(p, cells + 8 * (size_t)n->first_cell, 8 * (size_t)n->count);
        return p + 8 * (size_t)n->count;
    }
    for (uint32_t i = 0; i < n->count; ++i) {
        const uint64_t x = cell_at(cells, n->first_cell + i);
        if (wire == WIRE_32) {
            const uint32_t narrow = (uint32_t)x;
            memcpy(p, &narrow, sizeof narrow);
            p += sizeof narrow;
        } else {
            p = put_varint(p, truncate_to_type(n->type, x));
        }
    }
    return p;
}

static unsigned char *put_fields(const vy_pb_codec *codec, uint32_t first_node, uint32_t count,
                                 const unsigned char *cells, unsigned char *p)
{
    for (uint32_t i = first_node; i < first_node + count; ++i) {
        const node *n = &codec->nodes[i];
        memcpy(p, n->prefix, PREFIX_SIZE_MAX);
        p += n->prefix_size;
        unsigned char *body = p + n->length_size;
        unsigned char *end = n->type == VY_PB_MESSAGE
                                 ? put_fields(codec, n->first_child, n->child_count, cells, body)
                                 : put_values(n, cells, body);
        if (n->length_size > 0) {
            const size_t length = (size_t)(end - body);
            const size_t spare = n->length_size - varint_size(length);
            VY_ASSERT(varint_size(length) <= n->length_size);
            if (spare > 0) memmove(body - spare, body, length);
            put_varint(p, length);
            end -= spare;
        }
        p = end;
    }
    return p;
}

// Where the values of a run of fields lie in the template message, which has them from `position` on. Returns
// where it ends.
static size_t set_positions(vy_pb_codec *codec, uint32_t first_node, uint32_t count, size_t position)
{
    for (uint32_t i = first_node; i < first_node + count; ++i) {
        const node *n = &codec->nodes[i];
        position += n->prefix_size + n->length_size;
        if (n->type == VY_PB_MESSAGE) {
            position = set_positions(codec, n->first_child, n->child_count, position);
        } else {
            for (uint32_t k = 0; k < n->count; ++k, position += 8)
                codec->positions[n->first_cell + k] = (uint32_t)position;
        }
    }
    return position;
}

// The template message and the positions of its values, where all values have eight bytes. @return false when
// memory is out
static bool make_template(vy_pb_codec *codec)
{
    for (size_t i = 0; i < codec->node_count; ++i) {
        const node *n = &codec->nodes[i];
        if (n->type != VY_PB_MESSAGE && wire_of(n->type) != WIRE_64) return true;
    }
    unsigned char *zeros = calloc(codec->cell_count + 1, 8);
    codec->template_message = malloc(codec->size_max);
    codec->positions = calloc(codec->cell_count + 1, sizeof *codec->positions);
    const bool is_made = zeros != NULL && codec->template_message != NULL && codec->positions != NULL;
    if (is_made) {
        codec->template_size =
            (size_t)(put_fields(codec, 0, codec->root_count, zeros, codec->template_message) -
                     codec->template_message);
        (void)set_positions(codec, 0, codec->root_count, 0);
        VY_ASSERT(codec->template_size <= codec->size_max);
        VY_ASSERT(codec->cell_count == 0 ||
                  codec->positions[codec->cell_count - 1] + 8 <= codec->template_size);
    }
    free(zeros);
    return is_made;
}

vy_status vy_pb_codec_create(const vy_pb_message *message, vy_pb_codec **out, vy_error *err)
{
    *out = NULL;
    vy_pb_codec *codec = calloc(1, sizeof *codec);
    if (codec == NULL) return vy_fail(err, VY_NO_MEMORY, "no memory for a protobuf codec");
    uint32_t cells = 0;
    const vy_status status = add_fields(codec, message, 0, &cells, &codec->size_max, err);
    if (status != VY_OK) {
        vy_pb_codec_destroy(codec);
        return status;
    }
    codec->root_count = (uint32_t)message->field_count;
    codec->cell_count = cells;
    codec->size_max += PREFIX_SIZE_MAX; // prefixes are copied whole
    if (!make_template(codec)) {
        vy_pb_codec_destroy(codec);
        return vy_fail(err, VY_NO_MEMORY, "no memory for a protobuf codec");
    }
    *out = codec;
    return VY_OK;
}

void vy_pb_codec_destroy(vy_pb_codec *codec)
{
    if (codec == NULL) return;
    free(codec->nodes);
    free(codec->template_message);
    free(codec->positions);
    free(codec);
}

size_t vy_pb_encode(const vy_pb_codec *codec, const void *cells, unsigned char *out)
{
    VY_ASSERT(cells != NULL && out != NULL);
    if (codec->template_message == NULL)
        return (size_t)(put_fields(codec, 0, codec->root_count, cells, out) - out);
    memcpy(out, codec->template_message, codec->template_size);
    const unsigned char *value = cells;
    for (size_t i = 0; i < codec->cell_count; ++i) memcpy(out + codec->positions[i], value + 8 * i, 8);
    return codec->template_size;
}

// A list in one packed run.
static bool decode_list(const node *n, const vy_pb_item *item, unsigned char *cells)
{
    const uint32_t wire = wire_of(n->type);
    unsigned char *to = cells + 8 * (size_t)n->first_cell;
    VY_ASSERT(n->is_list && n->type != VY_PB_MESSAGE);
    if (wire == WIRE_64) {
        if (item->size != 8 * (size_t)n->count) return false;
        memcpy(to, item->data, item->size);
        return true;
    }
    vy_pb_reader r = vy_pb_reader_on(item->data, item->size);
    for (uint32_t i = 0; i < n->count; ++i) {
        uint64_t x = 0;
        if (wire == WIRE_32) {
            if (r.end - r.at < 4) return false;
            memcpy(&x, r.at, 4);
            r.at += 4;
        } else if (!decode_varint(&r, &x)) {
            return false;
        }
        x = truncate_to_type(n->type, x);
        memcpy(to + 8 * (size_t)i, &x, sizeof x);
    }
    return r.at == r.end;
}

static bool decode_fields(const vy_pb_codec *codec, uint32_t first_node, uint32_t count,
                          const unsigned char *data, size_t size, unsigned char *cells)
{
    vy_pb_reader r = vy_pb_reader_on(data, size);
    vy_pb_item item;
    uint32_t guess = 0; // fields mostly come in the order of the description
    while (vy_pb_next(&r, &item)) {
        uint32_t tries = 0;
        while (tries < count && codec->nodes[first_node + guess].number != item.number) {
            guess = guess + 1 < count ? guess + 1 : 0;
            ++tries;
        }
        if (tries == count) continue; // unknown
        const node *n = &codec->nodes[first_node + guess];
        if (item.wire != (n->is_list ? WIRE_DATA : wire_of(n->type))) return false;
        if (n->type == VY_PB_MESSAGE) {
            if (!decode_fields(codec, n->first_child, n->child_count, item.data, item.size, cells))
                return false;
        } else if (n->is_list) {
            if (!decode_list(n, &item, cells)) return false;
        } else {
            const uint64_t x =
                wire_of(n->type) == WIRE_VARINT ? truncate_to_type(n->type, item.value) : item.value;
            memcpy(cells + 8 * (size_t)n->first_cell, &x, sizeof x);
        }
    }
    return !r.bad;
}

vy_status vy_pb_decode(const vy_pb_codec *codec, const unsigned char *data, size_t size, void *cells,
                       vy_error *err)
{
    memset(cells, 0, 8 * codec->cell_count);
    if (decode_fields(codec, 0, codec->root_count, data, size, cells)) return VY_OK;
    return vy_fail(err, VY_DAMAGED, "a protobuf message of %zu bytes does not fit its description", size);
}
