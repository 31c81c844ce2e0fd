// message_diff.c - walks two messages field by field, with names from a FileDescriptorSet.
#include "record/message_diff.h"
#include <stdio.h>

// Of google/protobuf/descriptor.proto.
enum { SET_FILE = 1, FILE_PACKAGE = 2, FILE_MESSAGE = 4 };
enum { MESSAGE_NAME = 1, MESSAGE_FIELD = 2 };
enum { PROTO_NAME = 1, PROTO_NUMBER = 3, PROTO_TYPE = 5, PROTO_TYPE_NAME = 6 };
enum { DEPTH_MAX = 4 }; // of messages in messages

typedef struct span {
    const unsigned char *data;
    size_t size;
} span;

static int span_equals(span a, const char *text, size_t size)
{
    return a.size == size && memcmp(a.data, text, size) == 0;
}

// One field of a description, by its number; the first of that kind.
static int find_item(span message, uint32_t number, vy_pb_item *out)
{
    vy_pb_reader reader = vy_pb_reader_on(message.data, message.size);
    while (vy_pb_next(&reader, out)) {
        if (out->number == number) return 1;
    }
    return 0;
}

static span text_of(span message, uint32_t number)
{
    vy_pb_item item;
    return find_item(message, number, &item) && item.wire == 2 ? (span){item.data, item.size}
                                                               : (span){NULL, 0};
}

// The description of "package.Name" in a set. Size 0: it is not there.
static span find_message(span descriptor_set, const char *name, size_t size)
{
    vy_pb_reader files = vy_pb_reader_on(descriptor_set.data, descriptor_set.size);
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

static void append_field_name(vy_difference *out, span name)
{
    const size_t length = strlen(out->field);
    snprintf(out->field + length, sizeof out->field - length, ".%.*s", (int)name.size,
             (const char *)name.data);
}

static void copy_text(char *out, size_t capacity, const vy_pb_item *item)
{
    snprintf(out, capacity, "%.*s", (int)(item->size < capacity ? item->size : capacity - 1),
             (const char *)item->data);
}

static void set_values(const vy_pb_item *item_a, const vy_pb_item *item_b, uint64_t type, vy_difference *out)
{
    if (item_a->wire == 2) {
        if (type == VY_PB_STRING) {
            copy_text(out->text_a, sizeof out->text_a, item_a);
            copy_text(out->text_b, sizeof out->text_b, item_b);
        }
        return;
    }
    out->has_values = 1;
    out->real = type == VY_PB_DOUBLE;
    out->integer_a = item_a->value;
    out->integer_b = item_b->value;
    memcpy(&out->a, &item_a->value, sizeof out->a);
    memcpy(&out->b, &item_b->value, sizeof out->b);
}

// Lists of numbers are one field: the first that differs.
static void compare_list(const vy_pb_item *a, const vy_pb_item *b, uint64_t type, vy_difference *out)
{
    const size_t size = a->size < b->size ? a->size : b->size;
    for (size_t i = 0; i + 8 <= size; i += 8) {
        vy_pb_item item_x = {.wire = 1}, item_y = {.wire = 1};
        memcpy(&item_x.value, a->data + i, 8);
        memcpy(&item_y.value, b->data + i, 8);
        if (item_x.value == item_y.value) continue;
        const size_t length = strlen(out->field);
        snprintf(out->field + length, sizeof out->field - length, "[%zu]", i / 8);
        set_values(&item_x, &item_y, type, out);
        return;
    }
}

static void compare_messages(span descriptor_set, span description, span a, span b, int depth,
                             vy_difference *out)
{
    vy_pb_reader reader_a = vy_pb_reader_on(a.data, a.size), reader_b = vy_pb_reader_on(b.data, b.size);
    vy_pb_item item_a, item_b, type_item;
    while (vy_pb_next(&reader_a, &item_a) && vy_pb_next(&reader_b, &item_b)) {
        if (item_a.number != item_b.number || item_a.wire != item_b.wire) return;
        const int is_same = item_a.wire == 2 ? item_a.size == item_b.size &&
                                                   memcmp(item_a.data, item_b.data, item_a.size) == 0
                                             : item_a.value == item_b.value;
        if (is_same) continue;
        const span field = find_field(description, item_a.number);
        if (field.size == 0) return;
        append_field_name(out, text_of(field, PROTO_NAME));
        const uint64_t type = find_item(field, PROTO_TYPE, &type_item) ? type_item.value : 0;
        const span name = text_of(field, PROTO_TYPE_NAME); // ".volery.Vec3"
        if (type == VY_PB_MESSAGE && name.size > 1 && depth < DEPTH_MAX) {
            const span inner = find_message(descriptor_set, (const char *)name.data + 1, name.size - 1);
            compare_messages(descriptor_set, inner, (span){item_a.data, item_a.size},
                             (span){item_b.data, item_b.size}, depth + 1, out);
        } else if (item_a.wire == 2 && (type == VY_PB_DOUBLE || type == VY_PB_FIXED64)) {
            compare_list(&item_a, &item_b, type, out);
        } else {
            set_values(&item_a, &item_b, type, out);
        }
        return;
    }
}

void vy_message_name_difference(const vy_mcap_schema *schema, const vy_mcap_message *logged,
                                const unsigned char *data, size_t size, vy_difference *out)
{
    if (schema == NULL || strcmp(schema->encoding, "protobuf") != 0) return;
    const span descriptor_set = {schema->data, schema->size};
    const span description = find_message(descriptor_set, schema->name, strlen(schema->name));
    if (description.size == 0) return;
    compare_messages(descriptor_set, description, (span){logged->data, logged->size}, (span){data, size}, 0,
                     out);
}
