// protobuf_descriptor.c - a description as the FileDescriptorSet that other tools decode messages with.
// Field numbers are those of google/protobuf/descriptor.proto.
#include "record/protobuf.h"
#include "base/fail.h"
#include <stdio.h>
#include <stdlib.h>

enum { MESSAGES_MAX = 256, NAME_SIZE_MAX = 256, DEPTH_MAX = 32 };

// Every message once, those that others use first.
typedef struct message_list {
    const vy_pb_message *items[MESSAGES_MAX];
    size_t count;
} message_list;

static bool is_identifier(const char *name, size_t size)
{
    for (size_t i = 0; i < size; ++i) {
        const char c = name[i];
        const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!is_letter && !(i > 0 && c >= '0' && c <= '9')) return false;
    }
    return size > 0;
}

// "a.b.C" with an identifier between all dots, short enough for a file name to be made of it.
static bool is_full_name(const char *name)
{
    if (strlen(name) + sizeof ".proto" > NAME_SIZE_MAX) return false;
    for (;;) {
        const size_t size = strcspn(name, ".");
        if (!is_identifier(name, size)) return false;
        if (name[size] == 0) return true;
        name += size + 1;
    }
}

static const char *simple_name(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot != NULL ? dot + 1 : name;
}

static const char *check_enum(const vy_pb_message *message, const vy_pb_enum *enumeration)
{
    const size_t size = strlen(message->name);
    if (enumeration == NULL) return "has no enumeration";
    if (strncmp(enumeration->name, message->name, size) != 0 || enumeration->name[size] != '.' ||
        !is_identifier(enumeration->name + size + 1, strlen(enumeration->name + size + 1))) {
        return "has an enumeration that is not named inside its message";
    }
    if (enumeration->value_count == 0 || enumeration->values[0].number != 0)
        return "has an enumeration without a first 0";
    return NULL;
}

static vy_status check_field(const vy_pb_message *message, size_t index, vy_error *err)
{
    const vy_pb_field *field = &message->fields[index];
    const char *problem = NULL;
    if (!is_identifier(field->name, strlen(field->name))) problem = "is not a name";
    if (field->number == 0 || field->number >= 1u << 29 ||
        (field->number >= 19000 && field->number <= 19999)) {
        problem = "has a number that protobuf does not allow";
    }
    for (size_t i = 0; i < index; ++i) {
        if (message->fields[i].number == field->number) problem = "has the number of another field";
        if (strcmp(message->fields[i].name, field->name) == 0) problem = "is there twice";
    }
    if (field->type == VY_PB_MESSAGE && field->message == NULL) problem = "has no message";
    if (field->type == VY_PB_ENUM && problem == NULL) problem = check_enum(message, field->enumeration);
    if (problem == NULL) return VY_OK;
    return vy_fail(err, VY_BAD_VALUE, "protobuf: %s.%s %s", message->name, field->name, problem);
}

static vy_status collect_messages(message_list *list, const vy_pb_message *message, int depth, vy_error *err)
{
    for (size_t i = 0; i < list->count; ++i) {
        if (list->items[i] == message) return VY_OK;
        if (strcmp(list->items[i]->name, message->name) == 0) {
            return vy_fail(err, VY_BAD_VALUE, "protobuf: two messages are named %s", message->name);
        }
    }
    if (!is_full_name(message->name))
        return vy_fail(err, VY_BAD_VALUE, "protobuf: %.60s is not a name", message->name);
    if (depth == DEPTH_MAX)
        return vy_fail(err, VY_BAD_VALUE, "protobuf: %s is nested too deep", message->name);
    for (size_t i = 0; i < message->field_count; ++i) {
        vy_status status = check_field(message, i, err);
        if (status != VY_OK) return status;
        if (message->fields[i].type != VY_PB_MESSAGE) continue;
        status = collect_messages(list, message->fields[i].message, depth + 1, err);
        if (status != VY_OK) return status;
    }
    if (list->count == MESSAGES_MAX)
        return vy_fail(err, VY_FULL, "protobuf: more than %d messages", MESSAGES_MAX);
    list->items[list->count++] = message;
    return VY_OK;
}

// "volery.State" stands in "volery/State.proto" unless the description says otherwise.
static const char *file_name_of(const vy_pb_message *message, char buffer[NAME_SIZE_MAX])
{
    if (message->file != NULL) return message->file;
    snprintf(buffer, NAME_SIZE_MAX, "%s.proto", message->name);
    const char *name = simple_name(message->name);
    for (char *p = buffer; p < buffer + (name - message->name); ++p) {
        if (*p == '.') *p = '/';
    }
    return buffer;
}

static void put_field(vy_pb_writer *w, const vy_pb_field *field)
{
    enum { OPTIONAL = 1, REPEATED = 3 };
    char type_name[NAME_SIZE_MAX + 1];
    vy_pb_begin(w, 2);
    vy_pb_put_string(w, 1, field->name);
    vy_pb_put_uint(w, 3, field->number);
    vy_pb_put_uint(w, 4, field->repeat > 0 ? REPEATED : OPTIONAL);
    vy_pb_put_uint(w, 5, (uint64_t)field->type);
    if (field->type == VY_PB_MESSAGE || field->type == VY_PB_ENUM) {
        const char *name = field->type == VY_PB_ENUM ? field->enumeration->name : field->message->name;
        snprintf(type_name, sizeof type_name, ".%s", name);
        vy_pb_put_string(w, 6, type_name);
    }
    vy_pb_end(w);
}

static void put_enum(vy_pb_writer *w, const vy_pb_enum *enumeration)
{
    vy_pb_begin(w, 4);
    vy_pb_put_string(w, 1, simple_name(enumeration->name));
    for (size_t i = 0; i < enumeration->value_count; ++i) {
        vy_pb_begin(w, 2);
        vy_pb_put_string(w, 1, enumeration->values[i].name);
        vy_pb_put_int(w, 2, enumeration->values[i].number);
        vy_pb_end(w);
    }
    vy_pb_end(w);
}

// Whether an earlier field has the enumeration or message of field `index`, which is then in the file
// already.
static bool is_used_before(const vy_pb_message *message, size_t index)
{
    const vy_pb_field *field = &message->fields[index];
    for (size_t i = 0; i < index; ++i) {
        const vy_pb_field *other = &message->fields[i];
        if (other->type != field->type) continue;
        if (field->type == VY_PB_ENUM && strcmp(other->enumeration->name, field->enumeration->name) == 0)
            return true;
        if (field->type == VY_PB_MESSAGE && other->message == field->message) return true;
    }
    return false;
}

// One file per message: it depends on the files of the messages it uses.
static void put_file(vy_pb_writer *w, const vy_pb_message *message)
{
    char buffer[NAME_SIZE_MAX];
    const char *name = simple_name(message->name);
    vy_pb_begin(w, 1);
    vy_pb_put_string(w, 1, file_name_of(message, buffer));
    if (name > message->name) vy_pb_put_bytes(w, 2, message->name, (size_t)(name - message->name) - 1);
    for (size_t i = 0; i < message->field_count; ++i) {
        if (message->fields[i].type != VY_PB_MESSAGE || is_used_before(message, i)) continue;
        vy_pb_put_string(w, 3, file_name_of(message->fields[i].message, buffer));
    }
    vy_pb_begin(w, 4);
    vy_pb_put_string(w, 1, name);
    for (size_t i = 0; i < message->field_count; ++i) put_field(w, &message->fields[i]);
    for (size_t i = 0; i < message->field_count; ++i) {
        if (message->fields[i].type == VY_PB_ENUM && !is_used_before(message, i))
            put_enum(w, message->fields[i].enumeration);
    }
    vy_pb_end(w);
    vy_pb_put_string(w, 12, "proto3");
    vy_pb_end(w);
}

vy_status vy_pb_descriptor_set(const vy_pb_message *message, unsigned char **data, size_t *size,
                               vy_error *err)
{
    message_list list = {.count = 0};
    const vy_status status = collect_messages(&list, message, 0, err);
    if (status != VY_OK) return status;
    for (size_t capacity = 4096;; capacity *= 2) {
        unsigned char *bytes = malloc(capacity);
        if (bytes == NULL) return vy_fail(err, VY_NO_MEMORY, "no memory for protobuf descriptors");
        vy_pb_writer w = vy_pb_writer_on(bytes, capacity);
        for (size_t i = 0; i < list.count; ++i) put_file(&w, list.items[i]);
        if (!w.is_full) {
            *data = bytes;
            *size = w.size;
            return VY_OK;
        }
        free(bytes);
    }
}
