// export.c - a log as a table: one row per record of a drone, comma-separated.
#include "base/fail.h"
#include "record/log.h"
#include <inttypes.h>
#include <stdlib.h>

enum { COLUMN_CAP = 128 };

// One column: a cell of one stream.
typedef struct column {
    int stream;
    size_t cell;
} column;

typedef struct table {
    int rotors;
    column columns[COLUMN_CAP];
    int count;
    double cells[DRONE_STREAM_COUNT][32]; // the latest values of each stream
    int seen[DRONE_STREAM_COUNT];
    vy_pb_codec *codecs[DRONE_STREAM_COUNT];
    uint16_t channels[DRONE_STREAM_COUNT];
} table;

static int wanted(const char *name, const char *const *fields, int count)
{
    if (fields == NULL) return 1;
    for (int i = 0; i < count; ++i) {
        if (strcmp(fields[i], name) == 0) return 1;
    }
    return 0;
}

// Columns in the order of the manifest, and the header line.
static vy_status plan(const char *const *fields, int field_count, table *t, FILE *out, vy_error *err)
{
    static const int order[DRONE_STREAM_COUNT] = {4, 0, 1, 2, 3}; // truth first
    int known = 0;
    fputs("time", out);
    for (int k = 0; k < DRONE_STREAM_COUNT; ++k) {
        stream_layout layout;
        vy_stream_layout(order[k], t->rotors, &layout);
        size_t cell = 0;
        for (int i = 0; i < layout.field_count; ++i) {
            const vy_field *f = &vy_fields[layout.first_field + i];
            const int want = wanted(f->name, fields, field_count);
            known += want;
            for (int c = 0; c < layout.counts[i]; ++c, ++cell) {
                char component[12];
                if (!want || t->count == COLUMN_CAP) continue;
                vy_component_name(f->count, c, component);
                fprintf(out, ",%s%s", f->name, component);
                t->columns[t->count++] = (column){order[k], cell};
            }
        }
    }
    fputc('\n', out);
    if (fields != NULL && known < field_count) {
        for (int i = 0; i < field_count; ++i) {
            int found = 0;
            for (int j = 0; j < vy_field_count; ++j) found |= strcmp(vy_fields[j].name, fields[i]) == 0;
            if (!found) return vy_fail(err, VY_NOT_FOUND, "the log has no field %.60s", fields[i]);
        }
        return vy_fail(err, VY_NOT_FOUND, "one of the fields is only in full states, not in the streams");
    }
    return VY_OK;
}

// The stream must look as this program writes it; else its values could be taken for others.
static vy_status open_codec(vy_log *log, const vy_mcap_channel *channel, int s, table *t, vy_error *err)
{
    stream_layout layout;
    unsigned char *data = NULL;
    size_t size = 0;
    vy_stream_layout(s, VY_ROTOR_CAP, &layout);
    vy_status status = vy_pb_descriptor_set(&layout.message, &data, &size, err);
    const vy_mcap_schema *schema = vy_mcap_reader_schema_by_id(log->reader, channel->schema);
    if (status == VY_OK &&
        (schema == NULL || schema->size != size || memcmp(schema->data, data, size) != 0)) {
        status = vy_fail(err, VY_OTHER_VERSION, "channel %.60s was written by another version, Volery %s",
                         channel->topic, log->info.version);
    }
    free(data);
    vy_stream_layout(s, t->rotors, &layout);
    if (status == VY_OK) status = vy_pb_codec_create(&layout.message, &t->codecs[s], err);
    return status;
}

static vy_status open_streams(vy_log *log, uint32_t index, table *t, vy_error *err)
{
    for (int s = 0; s < DRONE_STREAM_COUNT; ++s) {
        char topic[VY_NAME_CAP + 40];
        snprintf(topic, sizeof topic, "/drones/%s/%s", log->names[index], vy_drone_streams[s].name);
        const vy_mcap_channel *channel = vy_mcap_reader_find_channel(log->reader, topic);
        if (channel == NULL) return vy_fail(err, VY_DAMAGED, "the log has no channel %.60s", topic);
        t->channels[s] = channel->id;
        const char *rotors = channel->metadata_count > 0 ? channel->metadata[0].value : "";
        t->rotors = rotors[0] >= '0' && rotors[0] <= '8' && rotors[1] == '\0' ? rotors[0] - '0' : 0;
        const vy_status status = open_codec(log, channel, s, t, err);
        if (status != VY_OK) return status;
    }
    return VY_OK;
}

static void write_row(const table *t, uint64_t time, FILE *out)
{
    fprintf(out, "%.9f", 1e-9 * (double)time);
    for (int i = 0; i < t->count; ++i) {
        const column *c = &t->columns[i];
        if (t->seen[c->stream]) {
            fprintf(out, ",%.17g", t->cells[c->stream][c->cell]);
        } else {
            fputc(',', out);
        }
    }
    fputc('\n', out);
}

static vy_status write_rows(vy_log *log, table *t, FILE *out, vy_error *err)
{
    const vy_mcap_query query = {.channels = t->channels, .channel_count = DRONE_STREAM_COUNT};
    vy_mcap_cursor *cursor = NULL;
    vy_status status = vy_mcap_cursor_open(log->reader, &query, &cursor, err);
    vy_mcap_message message;
    while (status == VY_OK && vy_mcap_cursor_next(cursor, &message)) {
        int s = 0;
        while (t->channels[s] != message.channel) ++s;
        status = vy_pb_decode(t->codecs[s], message.data, message.size, t->cells[s], err);
        t->seen[s] = 1;
        if (status == VY_OK && s == DRONE_STREAM_COUNT - 1)
            write_row(t, message.log_time, out); // truth comes last
        if (ferror(out)) status = vy_fail(err, VY_IO, "the table could not be written");
    }
    if (status == VY_OK) status = vy_mcap_cursor_status(cursor, err);
    vy_mcap_cursor_close(cursor);
    return status;
}

vy_status vy_log_export_csv(vy_log *log, uint32_t index, const char *const *fields, int field_count,
                            FILE *out, vy_error *err)
{
    if (index >= log->info.drone_count)
        return vy_fail(err, VY_NOT_FOUND, "the log has no drone %" PRIu32, index);
    table t;
    memset(&t, 0, sizeof t);
    vy_status status = open_streams(log, index, &t, err);
    if (status == VY_OK) status = plan(fields, field_count, &t, out, err);
    if (status == VY_OK) status = write_rows(log, &t, out, err);
    for (int s = 0; s < DRONE_STREAM_COUNT; ++s) vy_pb_codec_destroy(t.codecs[s]);
    return status;
}
