// message_diff.c - walks two messages field by field, with names from a FileDescriptorSet.
#include "record/message_diff.h"
#include <stdio.h>

// Of google/protobuf/descriptor.proto.
enum { SET_FILE = 1, FILE_PACKAGE = 2, FILE_MESSAGE = 4 };
enum { MESSAGE_NAME = 1, MESSAGE_FIELD = 2 };
enum { PROTO_NAME = 1, PROTO_NUMBER = 3, PROTO_TYPE = 5, PROTO_TYPE_NAME = 6 };
enum { DEPTH = 4 }; // of messages in messages

typedef struct span {
    const unsigned char *data;
    size_t size;
} span;

static int span_equals(span a, const char *text, size_t size)
{
    return a.size == size && memcmp(a.data, text, size) == 0;
}

// One field of a description, by its number; the first of that kind.
static int find_item(span in, uint32_t number, vy_pb_item *out)
{
    vy_pb_reader reader = vy_pb_reader_on(in.data, in.size);
    while (vy_pb_next(&reader, out)) {
        if (out->number == number) return 1;
    }
    return 0;
}

static span text_of(span in, uint32_t number)
{
    vy_pb_item item;
    return find_item(in, number, &item) && item.wire == 2 ? (span){item.data, item.size} : (span){NULL, 0};
}

// The description of "package.Name" in a set. Size 0: it is not there.
static span find_message(span set, const char *name, size_t size)
{
    vy_pb_reader files = vy_pb_reader_on(set.data, set.size);
    vy_pb_item file, message;
    while (vy_pb_next(&files, &file)) {
        if (file.number != SET_FILE || file.wire != 2) continue;
        const span package = text_of((span){file.data, file.size}, FILE_PACKAGE);
        if (size <= package.size + 1 || name[package.size] != '.' ||
            !span_equals(package, name, package.size))
            continue;
        vy_pb_reader messages = vy_pb_reader_on(file.data, file.size);
        while (vy_pb_next(&messages, &message)) {
            if (message.number != FILE_MESSAGE || message.wire != 2) continue;
            const span found = {message.data, message.size};
            if (span_equals(text_of(found, MESSAGE_NAME), name + package.size + 1, size - package.size - 1))
                return found;
        }
    }
    return (span){NULL, 0};
}

static span find_field(span message, uint32_t number)
{
    vy_pb_reader fields = vy_pb_reader_on(message.data, message.size);
    vy_pb_item field, value;
    while (vy_pb_next(&fields, &field)) {
        const span found = {field.data, field.size};
        if (field.number == MESSAGE_FIELD && field.wire == 2 && find_item(found, PROTO_NUMBER, &value) &&
            value.value == number)
            return found;
    }
    return (span){NULL, 0};
}

static void append(vy_difference *out, span name)
{
    const size_t length = strlen(out->field);
    snprintf(out->field + length, sizeof out->field - length, ".%.*s", (int)name.size,
             (const char *)name.data);
}

static void copy_text(char *out, size_t room, const vy_pb_item *item)
{
    snprintf(out, room, "%.*s", (int)(item->size < room ? item->size : room - 1), (const char *)item->data);
}

static void set_values(const vy_pb_item *a, const vy_pb_item *b, uint64_t type, vy_difference *out)
{
    if (a->wire == 2) {
        if (type == VY_PB_STRING) {
            copy_text(out->text_a, sizeof out->text_a, a);
            copy_text(out->text_b, sizeof out->text_b, b);
        }
        return;
    }
    out->has_values = 1;
    out->real = type == VY_PB_DOUBLE;
    out->integer_a = a->value;
    out->integer_b = b->value;
    memcpy(&out->a, &a->value, sizeof out->a);
    memcpy(&out->b, &b->value, sizeof out->b);
}

// Lists of numbers are one field: the first that differs.
static void compare_list(const vy_pb_item *a, const vy_pb_item *b, uint64_t type, vy_difference *out)
{
    const size_t size = a->size < b->size ? a->size : b->size;
    for (size_t i = 0; i + 8 <= size; i += 8) {
        vy_pb_item x = {.wire = 1}, y = {.wire = 1};
        memcpy(&x.value, a->data + i, 8);
        memcpy(&y.value, b->data + i, 8);
        if (x.value == y.value) continue;
        const size_t length = strlen(out->field);
        snprintf(out->field + length, sizeof out->field - length, "[%zu]", i / 8);
        set_values(&x, &y, type, out);
        return;
    }
}

static void compare(span set, span message, span a, span b, int depth, vy_difference *out)
{
    vy_pb_reader left = vy_pb_reader_on(a.data, a.size), right = vy_pb_reader_on(b.data, b.size);
    vy_pb_item x, y, type;
    while (vy_pb_next(&left, &x) && vy_pb_next(&right, &y)) {
        if (x.number != y.number || x.wire != y.wire) return;
        const int same =
            x.wire == 2 ? x.size == y.size && memcmp(x.data, y.data, x.size) == 0 : x.value == y.value;
        if (same) continue;
        const span field = find_field(message, x.number);
        if (field.size == 0) return;
        append(out, text_of(field, PROTO_NAME));
        const uint64_t kind = find_item(field, PROTO_TYPE, &type) ? type.value : 0;
        const span name = text_of(field, PROTO_TYPE_NAME); // ".volery.Vec3"
        if (kind == VY_PB_MESSAGE && name.size > 1 && depth < DEPTH) {
            const span inner = find_message(set, (const char *)name.data + 1, name.size - 1);
            compare(set, inner, (span){x.data, x.size}, (span){y.data, y.size}, depth + 1, out);
        } else if (x.wire == 2 && (kind == VY_PB_DOUBLE || kind == VY_PB_FIXED64)) {
            compare_list(&x, &y, kind, out);
        } else {
            set_values(&x, &y, kind, out);
        }
        return;
    }
}

void vy_message_name_difference(const vy_mcap_schema *schema, const vy_mcap_message *logged,
                                const unsigned char *data, size_t size, vy_difference *out)
{
    if (schema == NULL || strcmp(schema->encoding, "protobuf") != 0) return;
    const span set = {schema->data, schema->size};
    const span message = find_message(set, schema->name, strlen(schema->name));
    if (message.size == 0) return;
    compare(set, message, (span){logged->data, logged->size}, (span){data, size}, 0, out);
}
