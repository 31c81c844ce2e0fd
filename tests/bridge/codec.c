// codec.c - the MAVLink messages of src/bridge for a test in another language: packs and unpacks what it
// reads.
//
// A line `pack NAME FIELD=HEX,HEX,...` gives the bytes of a frame of system 1, component 2, sequence 3; a
// line `unpack BYTES` the name and fields of each frame in them. Values are their bits in hexadecimal.
#include "bridge/messages.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_CAP = 1 << 16 };

static uint64_t load(const char *from, int width)
{
    uint64_t value = 0;
    memcpy(&value, from, (size_t)width); // of a little-endian machine
    return value;
}

static void print_frame(const mavlink_frame *frame)
{
    uint64_t room[64] = {0};
    char *message = (char *)room;
    vy_mavlink_unpack(frame, message);
    printf("%s %d %d %d", frame->type->name, frame->from.system, frame->from.component, frame->from.sequence);
    for (int f = 0; f < frame->type->field_count; ++f) {
        const mavlink_field *field = &frame->type->fields[f];
        printf(" %s=", field->name);
        for (int i = 0; i < field->count; ++i)
            printf("%s%" PRIx64, i > 0 ? "," : "",
                   load(message + field->offset + i * field->width, field->width));
    }
    printf("\n");
}

static void unpack(const char *text)
{
    static mavlink_reader reader;
    mavlink_frame frame;
    unsigned byte;
    for (; sscanf(text, "%2x", &byte) == 1; text += 2) {
        const uint8_t one = (uint8_t)byte;
        if (vy_mavlink_feed(&reader, &one, 1) != 1) abort();
        while (vy_mavlink_next(&reader, &frame)) print_frame(&frame);
    }
    printf("dropped %" PRIu64 "\n", reader.dropped);
}

static void set_field(const mavlink_field *field, char *values, char *message)
{
    char *rest = NULL;
    int i = 0;
    for (char *word = strtok_r(values, ",", &rest); word != NULL; word = strtok_r(NULL, ",", &rest), ++i) {
        const uint64_t value = strtoull(word, NULL, 16);
        if (i >= field->count) abort();
        memcpy(message + field->offset + i * field->width, &value, (size_t)field->width);
    }
    if (i != field->count) abort();
}

static void pack(char *text)
{
    uint64_t room[64] = {0};
    char *rest = NULL, *name = strtok_r(text, " ", &rest);
    const mavlink_type *type = vy_mavlink_find_name(name);
    if (type == NULL) abort();
    for (char *word = strtok_r(NULL, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        char *values = strchr(word, '=');
        if (values == NULL) abort();
        *values++ = '\0';
        int known = 0;
        for (int f = 0; f < type->field_count; ++f) {
            if (strcmp(type->fields[f].name, word) != 0) continue;
            set_field(&type->fields[f], values, (char *)room);
            known = 1;
        }
        if (!known) abort();
    }
    mavlink_sender from = {.system = 1, .component = 2, .sequence = 3};
    uint8_t frame[MAVLINK_FRAME_CAP];
    const size_t size = vy_mavlink_pack(type, room, &from, frame);
    for (size_t i = 0; i < size; ++i) printf("%02x", frame[i]);
    printf("\n");
}

int main(void)
{
    static char line[LINE_CAP];
    while (fgets(line, sizeof line, stdin) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "pack ", 5) == 0) pack(line + 5);
        if (strncmp(line, "unpack ", 7) == 0) unpack(line + 7);
        if (strcmp(line, "types") == 0) {
            int count;
            const mavlink_type *const *types = vy_mavlink_types(&count);
            for (int i = 0; i < count; ++i) printf("%s ", types[i]->name);
            printf("\n");
        }
        fflush(stdout);
    }
    return 0;
}
