// message_check.c - one pass over the log beside the replay, and the name of what differs.
#include "record/message_check.h"
#include "base/assert.h"
#include "base/fail.h"
#include "record/message_diff.h"
#include <stdlib.h>

struct message_check {
    vy_log *log;
    vy_mcap_cursor *cursor;
    vy_difference *difference;
    const vy_mcap_channel **channels; // of the log, by the ids of the replay's writer; NULL: it has no such
    size_t channel_count;
    uint16_t events_channel, log_channel; // ids in the log; 0: none
    int expects_note_line;                // a note was passed over, whose line for people follows
    int has_ended;                        // the log has no more, or cannot be read
    vy_status status;
    vy_error error;
};

// Hashes, states and replies are compared step by step (replay.c), which says more of them; proofs are of the
// file.
static int is_compared(const char *topic)
{
    static const char *const excluded_topics[] = {TOPIC_HASHES, TOPIC_STATE, TOPIC_REPLIES, TOPIC_PROOF};
    for (size_t i = 0; i < sizeof excluded_topics / sizeof excluded_topics[0]; ++i) {
        if (strcmp(topic, excluded_topics[i]) == 0) return 0;
    }
    return 1;
}

static uint16_t channel_id_of(const vy_log *log, const char *topic)
{
    const vy_mcap_channel *c = vy_mcap_reader_find_channel(log->reader, topic);
    return c != NULL ? c->id : 0;
}

vy_status vy_message_check_create(vy_log *log, vy_difference *out, message_check **check, vy_error *err)
{
    *check = NULL;
    message_check *c = calloc(1, sizeof *c);
    if (c == NULL) return vy_fail(err, VY_NO_MEMORY, "no memory to compare messages");
    *c = (message_check){.log = log,
                         .difference = out,
                         .events_channel = channel_id_of(log, TOPIC_EVENTS),
                         .log_channel = channel_id_of(log, TOPIC_LOG)};
    const vy_status status = vy_mcap_cursor_open(log->reader, NULL, &c->cursor, err);
    if (status != VY_OK) {
        free(c);
        return status;
    }
    *check = c;
    return VY_OK;
}

void vy_message_check_destroy(message_check *c)
{
    if (c == NULL) return;
    vy_mcap_cursor_close(c->cursor);
    free(c->channels);
    free(c);
}

static void on_channel(void *self, uint16_t id, const char *topic)
{
    message_check *c = self;
    if (id >= c->channel_count) {
        const size_t count = 2 * ((size_t)id + 32);
        const vy_mcap_channel **grown = realloc(c->channels, count * sizeof(vy_mcap_channel *));
        if (grown == NULL) {
            c->status = vy_fail(&c->error, VY_NO_MEMORY, "no memory to compare messages");
            return;
        }
        for (size_t i = c->channel_count; i < count; ++i) grown[i] = NULL;
        c->channels = grown;
        c->channel_count = count;
    }
    c->channels[id] = vy_mcap_reader_find_channel(c->log->reader, topic);
}

static int is_note(const vy_mcap_message *m)
{
    vy_pb_reader reader = vy_pb_reader_on(m->data, m->size);
    vy_pb_item item;
    while (vy_pb_next(&reader, &item)) {
        if (item.number == EVENT_NOTE && item.value != 0) return 1;
    }
    return 0;
}

// The next message of the log that a replay writes, too.
static int next_message(message_check *c, vy_mcap_message *m)
{
    while (c->status == VY_OK && !c->has_ended && vy_mcap_cursor_next(c->cursor, m)) {
        if (!is_compared(vy_mcap_reader_channel_by_id(c->log->reader, m->channel)->topic)) continue;
        const int is_note_line = c->expects_note_line && m->channel == c->log_channel;
        c->expects_note_line = m->channel == c->events_channel && is_note(m);
        if (!is_note_line && !c->expects_note_line) return 1;
    }
    c->has_ended = 1;
    if (c->status == VY_OK) c->status = vy_mcap_cursor_status(c->cursor, &c->error);
    return 0;
}

static uint64_t tick_at(const message_check *c, uint64_t time)
{
    return (uint64_t)((double)time * 1e-9 / c->log->info.dt + 0.5);
}

static void report(message_check *c, uint64_t time, const char *topic, const char *problem)
{
    vy_difference *out = c->difference;
    out->found = out->message = 1;
    out->tick = out->field_tick = tick_at(c, time);
    snprintf(out->field, sizeof out->field, "%s", topic);
    snprintf(out->text_a, sizeof out->text_a, "%s", problem);
}

static void on_message(void *self, uint16_t channel, uint64_t time, const unsigned char *data, size_t size)
{
    message_check *c = self;
    vy_mcap_message logged;
    if (c->difference->found || c->status != VY_OK || c->has_ended) return;
    VY_ASSERT(channel < c->channel_count);
    const vy_mcap_channel *expected_channel = c->channels[channel];
    if (expected_channel != NULL && !is_compared(expected_channel->topic)) return;
    if (expected_channel == NULL) {
        report(c, time, "a channel", "missing");
        return;
    }
    if (!next_message(c, &logged)) {
        // A log that was cut off ends somewhere.
        if (c->status == VY_OK && c->log->info.complete) report(c, time, expected_channel->topic, "missing");
        return;
    }
    const vy_mcap_channel *logged_channel = vy_mcap_reader_channel_by_id(c->log->reader, logged.channel);
    if (logged_channel != expected_channel) {
        report(c, logged.log_time, logged_channel->topic, "not written by the replay there");
    } else if (logged.log_time != time) {
        report(c, logged.log_time, logged_channel->topic, "at another time");
    } else if (logged.size != size || memcmp(logged.data, data, size) != 0) {
        report(c, time, logged_channel->topic, "");
        const vy_mcap_schema *schema = vy_mcap_reader_schema_by_id(c->log->reader, logged_channel->schema);
        vy_message_name_difference(schema, &logged, data, size, c->difference);
    }
}

vy_mcap_listener vy_message_check_listener(message_check *check)
{
    return (vy_mcap_listener){.self = check, .on_channel = on_channel, .on_message = on_message};
}

vy_status vy_message_check_end(message_check *c, vy_error *err)
{
    vy_mcap_message logged;
    if (!c->difference->found && c->log->info.complete && next_message(c, &logged)) {
        const vy_mcap_channel *logged_channel = vy_mcap_reader_channel_by_id(c->log->reader, logged.channel);
        report(c, logged.log_time, logged_channel->topic, "not written by the replay there");
    }
    if (c->status != VY_OK && err != NULL) *err = c->error;
    return c->status;
}
