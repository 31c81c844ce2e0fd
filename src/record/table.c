// table.c - streams of a drone or body as rows of values.
#include "record/table.h"
#include "base/assert.h"
#include "base/fail.h"
#include "record/display.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

// A stream as a table sees it: its fields, with full names.
typedef struct stream_fields {
    char topic[16]; // the last part
    stream_layout layout;
    loads_message loads;
    const vy_pb_message *message; // as written into logs
    int count;
    struct {
        char name[VY_NAME_CAP + 24];
        const char *unit;
        int value_count;
        int shown_count;            // of the values: the first ones
        component_names components; // how its values are told apart
    } fields[32];
} stream_fields;

// Streams of the list have their fields' names: body.position of the stream truth, air.density.
static void describe_stream(int stream, int rotor_count, stream_fields *out)
{
    vy_stream_layout(stream, rotor_count, &out->layout);
    snprintf(out->topic, sizeof out->topic, "%s", vy_drone_streams[stream].name);
    out->message = &out->layout.message;
    out->count = out->layout.field_count;
    VY_ASSERT((size_t)out->count <= sizeof out->fields / sizeof out->fields[0]);
    for (int i = 0; i < out->count; ++i) {
        const vy_field *f = &out->layout.first_field[i];
        const drone_stream *s = &vy_drone_streams[stream];
        const int is_sample = s->first_field == NULL && s->fields == NULL; // its block has its name
        snprintf(out->fields[i].name, sizeof out->fields[i].name, "%s%s%s", is_sample ? out->topic : "",
                 is_sample ? "." : "", f->name);
        out->fields[i].unit = f->unit;
        out->fields[i].shown_count = out->fields[i].value_count = out->layout.counts[i];
        out->fields[i].components = vy_components_of(f);
    }
}

// A field of a message that is a vector or a number.
static void describe_vector(const vy_pb_field *f, int i, stream_fields *out)
{
    const int is_vector = f->message == &vy_message_vec3;
    VY_ASSERT(is_vector || (f->message == NULL && f->repeat == 0));
    out->fields[i].shown_count = out->fields[i].value_count = is_vector ? 3 : 1;
    out->fields[i].components = is_vector ? COMPONENT_XYZ : COMPONENT_ONE;
}

// The others have the stream's name in front: forces.gravity.
static void describe_display(int stream, stream_fields *out)
{
    static const char *const names[] = {"reference", "forces", "torques"};
    static const char *const units[] = {"m", "N", "N m"};
    snprintf(out->topic, sizeof out->topic, "%s", names[stream]);
    out->message = vy_display_message(stream, &out->loads);
    out->count = (int)out->message->field_count;
    VY_ASSERT(stream >= 0 && stream < 3 && (size_t)out->count <= sizeof out->fields / sizeof out->fields[0]);
    for (int i = 0; i < out->count; ++i) {
        const vy_pb_field *f = &out->message->fields[i];
        snprintf(out->fields[i].name, sizeof out->fields[i].name, "%s.%s", names[stream], f->name);
        out->fields[i].unit = strcmp(f->name, "wind") == 0  ? "m/s"
                              : strcmp(f->name, "yaw") == 0 ? "rad"
                                                            : units[stream];
        describe_vector(f, i, out);
    }
}

// A joint's fields are joints.NAME.tension and so on; `name` is NULL where they are not asked for.
static void describe_joint(const char *name, stream_fields *out)
{
    out->message = &vy_message_joint;
    out->count = (int)out->message->field_count;
    for (int i = 0; i < out->count; ++i) {
        const vy_pb_field *f = &out->message->fields[i];
        snprintf(out->fields[i].name, sizeof out->fields[i].name, "joints.%.*s.%.12s", VY_NAME_CAP,
                 name != NULL ? name : "", f->name);
        out->fields[i].unit = vy_joint_unit(f->name);
        describe_vector(f, i, out);
    }
}

// What the drone's controller has replied: reply.thrust. `command_count` are as many as it has motors.
static void describe_reply(int command_count, stream_fields *out)
{
    const vy_reply_field *fields = vy_reply_fields(&out->count);
    out->message = &vy_message_reply;
    VY_ASSERT((size_t)out->count <= sizeof out->fields / sizeof out->fields[0]);
    for (int i = 0; i < out->count; ++i) {
        const vy_reply_field *f = &fields[i];
        snprintf(out->fields[i].name, sizeof out->fields[i].name, "reply.%s", f->name);
        out->fields[i].unit = f->unit;
        out->fields[i].value_count = f->count;
        out->fields[i].shown_count = f->type == VY_REPLY_COMMANDS ? command_count : f->count;
        out->fields[i].components = f->type == VY_REPLY_VEC3   ? COMPONENT_XYZ
                                    : f->type == VY_REPLY_QUAT ? COMPONENT_WXYZ
                                    : f->type == VY_REPLY_COMMANDS || f->type == VY_REPLY_LIST
                                        ? COMPONENT_LIST
                                        : COMPONENT_ONE;
    }
}

static void describe(int stream, int rotor_count, stream_fields *out)
{
    if (stream < DRONE_STREAM_CAP)
        describe_stream(stream, rotor_count, out);
    else if (stream == TABLE_REPLIES)
        describe_reply(rotor_count, out);
    else if (stream < TABLE_FIRST_JOINT)
        describe_display(stream - DRONE_STREAM_CAP, out);
    else
        describe_joint(NULL, out);
}

// Which of those asked for a field is, by its name or as a part: of joints.NAME, of geodetic. -1: none
static int find_selected(const char *name, const char *const *fields, int count)
{
    if (fields == NULL) return 0;
    for (int i = 0; i < count; ++i) {
        const size_t size = strlen(fields[i]);
        if (strcmp(fields[i], name) == 0) return i;
        if (strncmp(name, fields[i], size) == 0 && name[size] == '.') return i;
    }
    return -1;
}

// In the order asked for; those of one request as the log has them.
static void sort_columns(log_table *t)
{
    for (int i = 1; i < t->count; ++i) {
        const table_column c = t->columns[i];
        int k = i;
        for (; k > 0 && t->columns[k - 1].request > c.request; --k) t->columns[k] = t->columns[k - 1];
        t->columns[k] = c;
    }
}

static void add_columns(const stream_fields *s, int stream, const char *const *fields, int field_count,
                        log_table *t)
{
    size_t cell = 0;
    for (int i = 0; i < s->count; ++i) {
        const int request = find_selected(s->fields[i].name, fields, field_count);
        const int value_count = s->fields[i].value_count;
        for (int c = 0; c < value_count; ++c, ++cell) {
            if (request < 0 || c >= s->fields[i].shown_count || t->count == TABLE_COLUMNS_MAX) continue;
            char component[12];
            vy_component_name(s->fields[i].components, c, component);
            table_column *column = &t->columns[t->count++];
            *column = (table_column){.stream = stream, .cell = cell, .request = request};
            const int size = snprintf(column->name, sizeof column->name, "%.51s", s->fields[i].name);
            column->field_size = size < 51 ? (size_t)size : 51;
            snprintf(column->name + column->field_size, sizeof column->name - column->field_size, "%s",
                     component);
            snprintf(column->unit, sizeof column->unit, "%s", s->fields[i].unit);
        }
    }
}

// Has the controller of the drone replied anything?
static vy_status has_replies(vy_log *log, uint32_t drone, int *has_any, vy_error *err)
{
    reply_cursor cursor;
    *has_any = 0;
    const vy_status status = vy_reply_cursor_open(log, &cursor, err);
    if (status != VY_OK) return status;
    while (cursor.has_reply && cursor.cells.drone != drone) vy_reply_cursor_next(&cursor);
    *has_any = cursor.has_reply;
    return vy_reply_cursor_close(&cursor, err);
}

static vy_status open_replies(vy_log *log, int command_count, const char *const *fields, int field_count,
                              log_table *t, vy_error *err)
{
    const vy_mcap_channel *channel = vy_mcap_reader_find_channel(log->reader, TOPIC_REPLIES);
    if (channel == NULL) return VY_OK;
    int has_any = 0;
    vy_status status = has_replies(log, t->drone, &has_any, err);
    if (status != VY_OK || !has_any) return status;
    stream_fields s;
    describe(TABLE_REPLIES, command_count, &s);
    status = vy_pb_codec_create(s.message, &t->codecs[TABLE_REPLIES], err);
    t->channels[TABLE_REPLIES] = channel->id;
    if (status == VY_OK) add_columns(&s, TABLE_REPLIES, fields, field_count, t);
    return status;
}

// The stream must look as this program writes it; else its values could be taken for others.
static vy_status open_stream(vy_log *log, const vy_mcap_channel *channel, int stream, int rotor_count,
                             log_table *t, vy_error *err)
{
    stream_fields s;
    unsigned char *data = NULL;
    size_t size = 0;
    describe(stream, VY_ROTOR_CAP, &s);
    vy_status status = vy_pb_descriptor_set(s.message, &data, &size, err);
    const vy_mcap_schema *schema = vy_mcap_reader_schema_by_id(log->reader, channel->schema);
    if (status == VY_OK &&
        (schema == NULL || schema->size != size || memcmp(schema->data, data, size) != 0)) {
        status = vy_fail(err, VY_OTHER_VERSION, "channel %.60s was written by another version, Volery %s",
                         channel->topic, log->info.version);
    }
    free(data);
    describe(stream, rotor_count, &s);
    if (status == VY_OK) status = vy_pb_codec_create(s.message, &t->codecs[stream], err);
    if (status == VY_OK && vy_pb_codec_cell_count(t->codecs[stream]) > TABLE_CELLS_MAX)
        status = vy_fail(err, VY_FULL, "channel %.60s has too many values", channel->topic);
    t->channels[stream] = channel->id;
    return status;
}

static int rotor_count_of(const vy_mcap_channel *channel)
{
    const char *text = channel->metadata_count > 0 ? channel->metadata[0].value : "";
    return text[0] >= '0' && text[0] <= '8' && text[1] == '\0' ? text[0] - '0' : 0;
}

static vy_status check_fields(const log_table *t, const char *const *fields, int count, vy_error *err)
{
    for (int i = 0; i < count; ++i) {
        const size_t size = strlen(fields[i]);
        int matches = 0, is_in_state = 0;
        for (int k = 0; k < t->count; ++k) {
            const char *name = t->columns[k].name, end = name[strncmp(name, fields[i], size) == 0 ? size : 0];
            matches |= strncmp(name, fields[i], size) == 0 && (end == '\0' || end == '.' || end == '[');
        }
        for (int k = 0; k < BLOCK_KINDS; ++k)
            is_in_state |= vy_find_field((enum block_kind)k, fields[i]) != NULL;
        if (!matches && is_in_state)
            return vy_fail(err, VY_NOT_FOUND, "field %.60s is only in full states, not in the streams",
                           fields[i]);
        if (!matches) return vy_fail(err, VY_NOT_FOUND, "the log has no field %.60s", fields[i]);
    }
    return VY_OK;
}

// The joints that hold the drone or body: their channels say so.
static vy_status open_joints(vy_log *log, uint32_t body, const char *const *fields, int field_count,
                             log_table *t, vy_error *err)
{
    static const char prefix[] = "/joints/";
    const size_t channel_count = vy_mcap_reader_info(log->reader)->channel_count;
    vy_status status = VY_OK;
    int stream = TABLE_FIRST_JOINT;
    for (size_t i = 0; i < channel_count && stream < TABLE_STREAMS && status == VY_OK; ++i) {
        const vy_mcap_channel *c = vy_mcap_reader_channel(log->reader, i);
        if (strncmp(c->topic, prefix, sizeof prefix - 1) != 0 || c->metadata_count != 2) continue;
        if (strcmp(c->metadata[0].value, log->names[body]) != 0 &&
            strcmp(c->metadata[1].value, log->names[body]) != 0)
            continue;
        stream_fields s;
        describe_joint(c->topic + sizeof prefix - 1, &s);
        status = open_stream(log, c, stream, 0, t, err);
        if (status == VY_OK) add_columns(&s, stream++, fields, field_count, t);
    }
    return status;
}

vy_status vy_table_open(vy_log *log, uint32_t body, const char *const *fields, int field_count,
                        log_table *out, vy_error *err)
{
    memset(out, 0, sizeof *out);
    out->log = log;
    out->drone = body;
    if (body >= log->info.body_count)
        return vy_fail(err, VY_NOT_FOUND, "the log has no drone or body %" PRIu32, body);
    const int is_passive = body >= log->info.drone_count;
    vy_status status = VY_OK;
    int rotor_count = 0, command_count = 0;
    for (int k = 0; k < TABLE_REPLIES && status == VY_OK; ++k) {
        stream_fields s;
        char topic[VY_NAME_CAP + 40];
        const int stream_count = vy_drone_stream_count;
        if (k >= stream_count && k < DRONE_STREAM_CAP) continue;
        const int stream = k == 0 ? stream_count - 1 : k < stream_count ? k - 1 : k; // truth first
        const int is_optional = is_passive ? !stream_is_truth(stream)
                                           : stream >= stream_count || vy_drone_streams[stream].has != NULL;
        describe(stream, VY_ROTOR_CAP, &s);
        snprintf(topic, sizeof topic, "/%s/%s/%s", is_passive ? "bodies" : "drones", log->names[body],
                 s.topic);
        const vy_mcap_channel *channel = vy_mcap_reader_find_channel(log->reader, topic);
        if (channel == NULL && !is_optional)
            status = vy_fail(err, VY_DAMAGED, "the log has no channel %.60s", topic);
        if (channel == NULL) continue;
        if (stream < stream_count) rotor_count = rotor_count_of(channel);
        if (strcmp(s.topic, "control") == 0) command_count = rotor_count;
        status = open_stream(log, channel, stream, rotor_count, out, err);
        describe(stream, rotor_count, &s);
        if (status == VY_OK) add_columns(&s, stream, fields, field_count, out);
    }
    if (status == VY_OK) status = open_replies(log, command_count, fields, field_count, out, err);
    if (status == VY_OK) status = open_joints(log, body, fields, field_count, out, err);
    sort_columns(out);
    if (status == VY_OK && fields != NULL) status = check_fields(out, fields, field_count, err);
    if (status != VY_OK) vy_table_close(out);
    return status;
}

void vy_table_close(log_table *table)
{
    for (int s = 0; s < TABLE_STREAMS; ++s) {
        vy_pb_codec_destroy(table->codecs[s]);
        table->codecs[s] = NULL;
    }
}

// Where a walk over the records stands.
typedef struct table_pass {
    log_table *table;
    double rate;
    table_row_fn *on_row;
    void *self;
    double row[TABLE_COLUMNS_MAX];
    double first_row_time;       // [s] of the first row
    uint64_t next_row;           // number of the next row to write, of rows at `rate`
    int is_pending, is_complete; // a record of the truth has been read, with all that belongs to it
    uint64_t record_time;        // [ns] of it
    int is_stopped;
} table_pass;

static void fill_row(table_pass *pass)
{
    const log_table *t = pass->table;
    for (int i = 0; i < t->count; ++i) {
        const table_column *c = &t->columns[i];
        VY_ASSERT(c->stream >= 0 && c->stream < TABLE_STREAMS && c->cell < TABLE_CELLS_MAX);
        pass->row[i] = t->has_values[c->stream] ? t->cells[c->stream][c->cell] : (double)NAN;
    }
    pass->is_complete = 1;
    pass->table->row_time = pass->record_time;
}

int vy_table_is_current(const log_table *table, int column)
{
    const int stream = table->columns[column].stream;
    VY_ASSERT(column >= 0 && column < table->count);
    return table->has_values[stream] && table->record_times[stream] == table->row_time;
}

// The rows that the pending record stands for, until the next one at `until` [s].
static void write_pending_rows(table_pass *pass, double until)
{
    const double time = (double)pass->record_time / 1e9;
    if (!pass->is_complete) fill_row(pass);
    VY_ASSERT(pass->table->count <= TABLE_COLUMNS_MAX && pass->rate >= 0.0);
    pass->is_pending = pass->is_complete = 0;
    if (pass->rate == 0.0) {
        pass->is_stopped |= pass->on_row(pass->self, time, pass->row) != 0;
        return;
    }
    if (pass->next_row == 0) pass->first_row_time = time;
    for (;; ++pass->next_row) {
        const double row_time = pass->first_row_time + (double)pass->next_row / pass->rate;
        if (row_time >= until - 1e-9 || pass->is_stopped) return;
        pass->is_stopped |= pass->on_row(pass->self, row_time, pass->row) != 0;
    }
}

// The values of a reply as numbers; 0: it is of another drone.
static vy_status read_reply(log_table *t, const vy_mcap_message *message, int *is_of_drone, vy_error *err)
{
    reply_cells reply;
    const vy_status status =
        vy_pb_decode(t->codecs[TABLE_REPLIES], message->data, message->size, &reply, err);
    *is_of_drone = status == VY_OK && reply.drone == t->drone;
    if (!*is_of_drone) return status;
    _Static_assert(sizeof reply.values <= sizeof t->cells[0], "a reply fits");
    double *out = t->cells[TABLE_REPLIES];
    const uint64_t *cell = reply.values;
    int count;
    const vy_reply_field *f = vy_reply_fields(&count);
    for (const vy_reply_field *end = f + count; f < end; ++f) {
        const int is_integer = f->type == VY_REPLY_CHOICE || vy_reply_is_whole(f->type);
        if (is_integer)
            *out = (double)(int64_t)*cell;
        else
            memcpy(out, cell, 8 * (size_t)f->count);
        out += f->count;
        cell += f->count;
    }
    return VY_OK;
}

static vy_status read_record(table_pass *pass, const vy_mcap_message *message, vy_error *err)
{
    log_table *t = pass->table;
    int s = 0;
    while (s < TABLE_STREAMS && (t->codecs[s] == NULL || t->channels[s] != message->channel)) ++s;
    if (s == TABLE_STREAMS) return VY_OK;
    if (pass->is_pending && message->log_time > pass->record_time &&
        !pass->is_complete) { // what follows belongs to later rows
        fill_row(pass);
        if (pass->rate == 0.0) write_pending_rows(pass, 0.0);
    }
    if (pass->is_pending && stream_is_truth(s)) write_pending_rows(pass, (double)message->log_time / 1e9);
    int is_of_drone = 1;
    const vy_status status = s == TABLE_REPLIES
                                 ? read_reply(t, message, &is_of_drone, err)
                                 : vy_pb_decode(t->codecs[s], message->data, message->size, t->cells[s], err);
    if (!is_of_drone) return status;
    t->has_values[s] = 1;
    t->record_times[s] = message->log_time;
    if (stream_is_truth(s)) {
        pass->is_pending = 1;
        pass->record_time = message->log_time;
    }
    return status;
}

vy_status vy_table_rows(log_table *table, double rate, table_row_fn *on_row, void *self, vy_error *err)
{
    table_pass pass = {.table = table, .rate = rate, .on_row = on_row, .self = self};
    uint16_t channels[TABLE_STREAMS];
    size_t count = 0;
    memset(table->has_values, 0, sizeof table->has_values);
    for (int s = 0; s < TABLE_STREAMS; ++s) {
        if (table->codecs[s] != NULL) channels[count++] = table->channels[s];
    }
    const vy_mcap_query query = {.channels = channels, .channel_count = count};
    vy_mcap_cursor *cursor = NULL;
    vy_status status = vy_mcap_cursor_open(table->log->reader, &query, &cursor, err);
    vy_mcap_message message;
    while (status == VY_OK && !pass.is_stopped && vy_mcap_cursor_next(cursor, &message)) {
        status = read_record(&pass, &message, err);
    }
    if (status == VY_OK && pass.is_pending && !pass.is_stopped)
        write_pending_rows(&pass, (double)pass.record_time / 1e9 + 2e-9);
    if (status == VY_OK) status = vy_mcap_cursor_status(cursor, err);
    vy_mcap_cursor_close(cursor);
    return status;
}
