// watch_foxglove.c - Foxglove's WebSocket protocol, foxglove.sdk.v1: channels, messages, time and parameters.
// The page speaks it, too.
#include "base64.h"
#include "json.h"
#include "record/log.h"
#include "volery/version.h"
#include "watch_impl.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    OP_MESSAGE = 1,
    OP_TIME = 2,
    OP_BATCH = 0x80 /* our own */,
    MESSAGE_HEAD = 13,
    BATCH_HEAD = 16,
    TIME_SIZE = 9
};
enum { LEVEL_WARNING = 1, LEVEL_ERROR = 2 };

#define SPEED_MAX 1e6
#define STEPS_MAX 1e9

static void put_little_endian(unsigned char *out, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; ++i) out[i] = (unsigned char)(value >> 8 * i);
}

// A message to a client as it is written: JSON has a FILE to be written to, and its text is then sent as a
// frame.
typedef struct answer {
    FILE *file;
    char *text;
    size_t size;
    json j;
} answer;

static int answer_begin(answer *a, const char *op)
{
    a->text = NULL;
    a->size = 0;
    a->file = open_memstream(&a->text, &a->size);
    if (a->file == NULL) return 0;
    a->j = vy_json_begin(a->file);
    vy_json_text(&a->j, "op", op);
    return 1;
}

static char *answer_text(answer *a)
{
    vy_json_end(&a->j);
    if (fclose(a->file) == 0) return a->text;
    free(a->text);
    return NULL;
}

static int answer_send(answer *a, client *c)
{
    char *text = answer_text(a);
    const int is_sent = text != NULL && vy_client_send_frame(c, FRAME_TEXT, text, a->size);
    free(text);
    return is_sent;
}

static int send_status(client *c, int level, const char *text)
{
    answer a;
    if (!answer_begin(&a, "status")) return 0;
    vy_json_uint(&a.j, "level", (uint64_t)level);
    vy_json_text(&a.j, "message", text);
    return answer_send(&a, c);
}

static char *advertise(const vy_log *log, size_t *channel_cap)
{
    answer a;
    if (!answer_begin(&a, "advertise")) return NULL;
    const size_t count = vy_mcap_reader_info(log->reader)->channel_count;
    *channel_cap = 0;
    vy_json_list(&a.j, "channels");
    for (size_t i = 0; i < count; ++i) {
        const vy_mcap_channel *channel = vy_mcap_reader_channel(log->reader, i);
        const vy_mcap_schema *schema = vy_mcap_reader_schema_by_id(log->reader, channel->schema);
        if (*channel_cap <= channel->id) *channel_cap = channel->id + 1u;
        char *schema_base64 = NULL;
        size_t size = 0;
        FILE *out = open_memstream(&schema_base64, &size);
        if (out != NULL && schema != NULL) vy_put_base64(out, schema->data, schema->size);
        if (out == NULL || fclose(out) != 0) {
            free(schema_base64);
            free(answer_text(&a));
            return NULL;
        }
        vy_json_object(&a.j, NULL);
        vy_json_uint(&a.j, "id", channel->id);
        vy_json_text(&a.j, "topic", channel->topic);
        vy_json_text(&a.j, "encoding", channel->encoding);
        vy_json_text(&a.j, "schemaName", schema != NULL ? schema->name : "");
        vy_json_text(&a.j, "schema", schema_base64);
        vy_json_text(&a.j, "schemaEncoding", schema != NULL ? schema->encoding : "");
        vy_json_close(&a.j);
        free(schema_base64);
    }
    vy_json_close(&a.j);
    return answer_text(&a);
}

// Shapes are said once, at the start.
static int store_shapes(watch *w, vy_log *log)
{
    const vy_mcap_channel *channel = vy_mcap_reader_find_channel(log->reader, "/scene");
    vy_mcap_cursor *cursor = NULL;
    vy_mcap_message m;
    if (channel == NULL) return 1;
    if (vy_log_cursor_open(log, channel->topic, &cursor, NULL) != VY_OK) return 0;
    if (vy_mcap_cursor_next(cursor, &m)) {
        w->scene = channel->id;
        w->shapes_size = m.size;
        w->shapes = malloc(m.size + 1);
        if (w->shapes != NULL) memcpy(w->shapes, m.data, m.size);
    }
    vy_mcap_cursor_close(cursor);
    return w->scene == 0 || w->shapes != NULL;
}

int vy_foxglove_describe(watch *w, vy_log *log)
{
    w->advertise = advertise(log, &w->channel_cap);
    return w->advertise != NULL && store_shapes(w, log);
}

int vy_foxglove_send_server_info(const watch *w, client *c)
{
    answer a;
    c->subscriptions = calloc(w->channel_cap + 1, sizeof *c->subscriptions);
    if (c->subscriptions == NULL || !answer_begin(&a, "serverInfo")) return 0;
    vy_json_text(&a.j, "name", "volery " VY_VERSION);
    vy_json_list(&a.j, "capabilities");
    static const char *const capabilities[] = {"time", "parameters", "parametersSubscribe"};
    for (int i = 0; i < 3; ++i) vy_json_text(&a.j, NULL, capabilities[i]);
    vy_json_close(&a.j);
    vy_json_list(&a.j, "supportedEncodings");
    vy_json_close(&a.j);
    vy_json_object(&a.j, "metadata");
    vy_json_close(&a.j);
    vy_json_text(&a.j, "sessionId", w->token + (TOKEN_CAP - 1) / 2); // half of it opens nothing
    return answer_send(&a, c) && vy_client_send_frame(c, FRAME_TEXT, w->advertise, strlen(w->advertise));
}

// All parameters, or those whose names are in a message behind `key`.
typedef struct name_filter {
    const char *text; // NULL: all
    size_t size;
} name_filter;

static int is_selected(const name_filter *names, const char *name)
{
    int is_named = 0;
    json_reader r = vy_json_read(names->text, names->text != NULL ? names->size : 0);
    int in_list = 0;
    for (json_kind k = names->text != NULL ? vy_json_next(&r) : JSON_END; k > JSON_END;
         k = vy_json_next(&r)) {
        if (k == JSON_LIST && r.depth == 2) in_list = strcmp(r.key, "parameterNames") == 0;
        if (k != JSON_TEXT || r.depth != 2 || !in_list) continue;
        is_named = 1;
        if (strcmp(r.text, name) == 0) return 1;
    }
    return !is_named;
}

static int begin_parameter(json *j, const name_filter *names, const char *name)
{
    if (!is_selected(names, name)) return 0;
    vy_json_object(j, NULL);
    vy_json_text(j, "name", name);
    return 1;
}

// What can be injected, by the parameter that takes it.
static const char *const inject_names[] = {"/inject/push", "/inject/gust", "/inject/fault"};
enum { INJECT_COUNT = 3 };

static int send_parameters(const watch *w, const watch_control *control, client *c, const name_filter *names,
                           const char *id)
{
    answer a;
    if (!answer_begin(&a, "parameterValues")) return 0;
    json *j = &a.j;
    vy_json_list(j, "parameters");
    const int may_set = !w->is_read_only;
    if (may_set && begin_parameter(j, names, "/flight/paused")) {
        vy_json_bool(j, "value", control->is_paused);
        vy_json_close(j);
    }
    if (may_set && begin_parameter(j, names, "/flight/speed")) {
        vy_json_text(j, "type", "float64"); // it may be whole all the same
        vy_json_number(j, "value", control->speed);
        vy_json_close(j);
    }
    if (may_set && begin_parameter(j, names, "/flight/steps")) {
        vy_json_uint(j, "value", control->steps);
        vy_json_close(j);
    }
    if (begin_parameter(j, names, "/flight/status")) {
        vy_json_text(j, "value", control->status);
        vy_json_close(j);
    }
    if (control->has_ended && begin_parameter(j, names, "/flight/hash")) {
        vy_json_hash(j, "value", control->hash);
        vy_json_close(j);
    }
    for (int i = 0; i < w->pilot_count; ++i) {
        if (!begin_parameter(j, names, w->pilots[i].keys)) continue;
        vy_json_text(j, "value", "");
        vy_json_close(j);
    }
    for (int i = 0; may_set && i < INJECT_COUNT; ++i) {
        if (!begin_parameter(j, names, inject_names[i])) continue;
        vy_json_text(j, "value", "");
        vy_json_close(j);
    }
    vy_json_close(j);
    if (id[0] != '\0') vy_json_text(j, "id", id);
    return answer_send(&a, c);
}

static watch_control current_control(watch *w)
{
    pthread_mutex_lock(&w->lock);
    const watch_control control = w->control;
    pthread_mutex_unlock(&w->lock);
    return control;
}

// Keys for a drone that is flown from the page. What a full pipe does not take is lost, like a key nobody has
// seen.
static int send_keys(const watch *w, const char *name, const char *keys)
{
    for (int i = 0; i < w->pilot_count; ++i) {
        if (strcmp(w->pilots[i].keys, name) != 0) continue;
        (void)!write(w->pilots[i].pipe[1], keys, strlen(keys));
        return 1;
    }
    return 0;
}

// Something for the flight's thread to inject; the caller has the lock. NULL: it is on its way, or the
// parameter is another one, which `*is_injection` tells; else why not.
static const char *queue_injection(watch *w, const char *name, const char *text, int *is_injection)
{
    *is_injection = 0;
    for (int i = 0; i < INJECT_COUNT && !*is_injection; ++i)
        *is_injection = strcmp(name, inject_names[i]) == 0;
    if (!*is_injection || text[0] == '\0') return NULL;
    if (strlen(text) >= JSON_TEXT_CAP - 1) return "what is to be injected is too long";
    if (w->injection_count == INJECTION_QUEUE) return "too much is to be injected at once: it was left out";
    watch_injection *injection = &w->injections[w->injection_count++];
    snprintf(injection->what, sizeof injection->what, "%s", strrchr(name, '/') + 1);
    snprintf(injection->text, sizeof injection->text, "%s", text);
    return NULL;
}

// One parameter of a viewer. NULL: it was set; else why not.
static const char *set_parameter(watch *w, const char *name, json_kind kind, double value, const char *text)
{
    const int is_switch = kind == JSON_TRUE || kind == JSON_FALSE;
    const char *reason = NULL;
    int is_injection = 0;
    pthread_mutex_lock(&w->lock);
    watch_control *c = &w->control;
    if (w->is_read_only) {
        reason = "another program flies this: it can only be watched";
    } else if (c->has_ended) {
        reason = "the flight is over";
    } else if (strcmp(name, "/flight/paused") == 0 && is_switch) {
        c->is_paused = kind == JSON_TRUE;
        c->steps = 0;
    } else if (strcmp(name, "/flight/speed") == 0 && kind == JSON_NUMBER && value >= 0.0 &&
               value <= SPEED_MAX) {
        c->speed = value < 1e-3 && value > 0.0 ? 1e-3 : value;
    } else if (strcmp(name, "/flight/steps") == 0 && kind == JSON_NUMBER && value >= 1.0 &&
               value <= STEPS_MAX && value == floor(value)) {
        c->is_paused = true;
        c->steps = (uint64_t)value;
    } else if (kind == JSON_TEXT &&
               (send_keys(w, name, text) ||
                (reason = queue_injection(w, name, text, &is_injection), is_injection))) {
        // keys act at the controller's next call, and are in the log with its reply; an injection acts from
        // the next step on, and is in the log before
    } else {
        reason =
            "what can be set: /flight/paused (true or false), /flight/speed (0: as fast as it goes, up to "
            "a million), /flight/steps (a whole number), /inject/push, /inject/gust and /inject/fault (a "
            "text), keys of drones that are flown from here";
    }
    if (reason == NULL) c->version += 1;
    pthread_mutex_unlock(&w->lock);
    return reason;
}

static int set_parameters(watch *w, client *c, json_reader r, const char *id)
{
    char name[JSON_WORD_CAP] = "", text[JSON_TEXT_CAP] = "";
    json_kind kind = JSON_NULL;
    double value = 0.0;
    int in_list = 0;
    const char *reason = NULL;
    for (json_kind k = vy_json_next(&r); k > JSON_END; k = vy_json_next(&r)) {
        if (k == JSON_LIST && r.depth == 2) in_list = strcmp(r.key, "parameters") == 0;
        if (!in_list) continue;
        if (k == JSON_OBJECT && r.depth == 3) {
            name[0] = '\0';
            kind = JSON_NULL;
        } else if (r.depth == 3 && k == JSON_TEXT && strcmp(r.key, "name") == 0) {
            snprintf(name, sizeof name, "%.*s", (int)sizeof name - 1, r.text);
        } else if (r.depth == 3 && strcmp(r.key, "value") == 0) {
            kind = k;
            value = r.number;
            memcpy(text, r.text, sizeof text);
        } else if (k == JSON_CLOSE && r.depth == 2) {
            const char *failure = set_parameter(w, name, kind, value, text);
            if (failure != NULL) reason = failure;
        }
    }
    const watch_control control = current_control(w);
    if (reason != NULL && !send_status(c, LEVEL_ERROR, reason)) return 0;
    return id[0] == '\0' || send_parameters(w, &control, c, &(name_filter){.text = NULL}, id);
}

static uint64_t count_of_number(double value)
{
    return value >= 0.0 && value < 4294967296.0 ? (uint64_t)value : UINT64_MAX;
}

static size_t put_message_head(unsigned char header[FRAME_HEAD_CAP + MESSAGE_HEAD], uint64_t subscription,
                               uint64_t time, size_t size)
{
    const size_t used = vy_frame_head(FRAME_BINARY, MESSAGE_HEAD + size, header);
    header[used] = OP_MESSAGE;
    put_little_endian(header + used + 1, subscription - 1, 4);
    put_little_endian(header + used + 5, time, 8);
    return used + MESSAGE_HEAD;
}

static int send_shapes(const watch *w, client *c)
{
    unsigned char header[FRAME_HEAD_CAP + MESSAGE_HEAD];
    const size_t used = put_message_head(header, c->subscriptions[w->scene], 0, w->shapes_size);
    return vy_client_send(c, header, used) && vy_client_send(c, w->shapes, w->shapes_size);
}

// Viewers without a history begin here.
static void set_start_of_records(watch *w, client *c)
{
    pthread_mutex_lock(&w->lock);
    c->reported_notices = w->control.notice_count;
    c->cursor = c->wants_history ? w->ring.first : w->ring.next;
    c->count = c->wants_history ? w->ring.first_count : w->ring.next_count;
    w->viewers += 1;
    pthread_mutex_unlock(&w->lock);
    c->is_subscribed = true;
}

static int subscribe(watch *w, client *c, json_reader r)
{
    uint64_t id = UINT64_MAX, channel = UINT64_MAX;
    int has_subscribed = 0, is_sent = 1;
    for (json_kind k = vy_json_next(&r); is_sent && k > JSON_END; k = vy_json_next(&r)) {
        if (k == JSON_OBJECT && r.depth == 3) id = channel = UINT64_MAX;
        if (k == JSON_NUMBER && r.depth == 3 && strcmp(r.key, "id") == 0) id = count_of_number(r.number);
        if (k == JSON_NUMBER && r.depth == 3 && strcmp(r.key, "channelId") == 0)
            channel = count_of_number(r.number);
        if (k != JSON_CLOSE || r.depth != 2 || id > UINT32_MAX || channel >= w->channel_cap) continue;
        c->subscriptions[channel] = id + 1;
        has_subscribed = 1;
        if (channel == w->scene && w->shapes != NULL) is_sent = send_shapes(w, c);
    }
    if (has_subscribed && !c->is_subscribed) set_start_of_records(w, c);
    return is_sent;
}

static void unsubscribe(const watch *w, client *c, json_reader r)
{
    for (json_kind k = vy_json_next(&r); k > JSON_END; k = vy_json_next(&r)) {
        if (k != JSON_NUMBER || r.depth != 2) continue;
        const uint64_t id = count_of_number(r.number);
        for (size_t i = 0; i < w->channel_cap; ++i) {
            if (c->subscriptions[i] == id + 1) c->subscriptions[i] = 0;
        }
    }
}

int vy_foxglove_receive(watch *w, client *c, const char *text, size_t size)
{
    const json_reader reader_start = vy_json_read(text, size);
    json_reader r = reader_start;
    char op[JSON_WORD_CAP] = "", id[JSON_WORD_CAP] = "";
    json_kind k = vy_json_next(&r);
    if (k != JSON_OBJECT) return send_status(c, LEVEL_ERROR, "a message must be a JSON object");
    for (k = vy_json_next(&r); k > JSON_END; k = vy_json_next(&r)) {
        if (k != JSON_TEXT || r.depth != 1) continue;
        if (strcmp(r.key, "op") == 0) snprintf(op, sizeof op, "%.*s", (int)sizeof op - 1, r.text);
        if (strcmp(r.key, "id") == 0) snprintf(id, sizeof id, "%.*s", (int)sizeof id - 1, r.text);
    }
    if (k != JSON_END) return send_status(c, LEVEL_ERROR, "a message must be JSON");
    const name_filter names = {.text = text, .size = size};
    if (strcmp(op, "subscribe") == 0) {
        return subscribe(w, c, reader_start);
    } else if (strcmp(op, "unsubscribe") == 0) {
        unsubscribe(w, c, reader_start);
    } else if (strcmp(op, "setParameters") == 0) {
        return set_parameters(w, c, reader_start, id);
    } else if (strcmp(op, "getParameters") == 0) {
        const watch_control control = current_control(w);
        return send_parameters(w, &control, c, &names, id);
    } else if (strcmp(op, "subscribeParameterUpdates") == 0) {
        c->wants_parameters = true;
        c->version = UINT64_MAX; // as they are now
    } else if (strcmp(op, "unsubscribeParameterUpdates") == 0) {
        c->wants_parameters = false;
    } else {
        return send_status(c, LEVEL_WARNING, "this operation is not known here");
    }
    return 1;
}

// The page gets many records in one frame: a browser takes as long for a frame as for all of them.
static size_t begin_batch(client *c)
{
    static const unsigned char frame_head[FRAME_HEAD_CAP] = {0};
    const unsigned char op = OP_BATCH;
    if (!vy_client_send(c, frame_head, sizeof frame_head) || !vy_client_send(c, &op, 1)) return SIZE_MAX;
    return c->out_size - sizeof frame_head - 1;
}

static void end_batch(client *c, size_t batch_start)
{
    const size_t size = c->out_size - batch_start - FRAME_HEAD_CAP;
    if (size == 1) { // none of the records was for it
        c->out_size = batch_start;
        return;
    }
    unsigned char head[FRAME_HEAD_CAP];
    const size_t used = vy_frame_head(FRAME_BINARY, size, head);
    memcpy(c->out + batch_start, head, used);
    memmove(c->out + batch_start + used, c->out + batch_start + FRAME_HEAD_CAP, size);
    c->out_size -= FRAME_HEAD_CAP - used;
}

// In a batch: subscription, time, size, data; else a frame.
static int copy_record(const watch_ring *r, client *c, const ring_head *head, uint64_t subscription)
{
    unsigned char header[FRAME_HEAD_CAP + MESSAGE_HEAD];
    size_t used = BATCH_HEAD;
    if (c->wants_history) {
        put_little_endian(header, subscription - 1, 4);
        put_little_endian(header + 4, head->time, 8);
        put_little_endian(header + 12, head->size, 4);
    } else {
        used = put_message_head(header, subscription, head->time, head->size);
    }
    if (!vy_client_send(c, header, used) || !vy_client_send(c, NULL, head->size)) return 0;
    vy_ring_copy(r, c->cursor + sizeof *head, c->out + c->out_size - head->size, head->size);
    return 1;
}

// Records of the ring up to the room in the queue. The flight waits for no longer than it takes to copy them.
static int copy_records(watch *w, client *c, uint64_t *time)
{
    pthread_mutex_lock(&w->lock);
    const watch_ring *r = &w->ring;
    if (c->cursor < r->first) {
        c->dropped += r->first_count - c->count;
        c->cursor = r->first;
        c->count = r->first_count;
    }
    const int has_messages = c->cursor < r->next;
    const size_t batch_start = has_messages && c->wants_history ? begin_batch(c) : 0;
    int is_sent = batch_start != SIZE_MAX;
    while (is_sent && c->cursor < r->next && c->out_size < QUEUE_BYTES) {
        ring_head head;
        vy_ring_copy(r, c->cursor, &head, sizeof head);
        const uint64_t subscription = head.channel < w->channel_cap ? c->subscriptions[head.channel] : 0;
        if (subscription != 0) is_sent = copy_record(r, c, &head, subscription);
        *time = head.time;
        c->cursor += sizeof head + head.size;
        c->count += 1;
    }
    if (is_sent && has_messages && c->wants_history) end_batch(c, batch_start);
    pthread_mutex_unlock(&w->lock);
    return is_sent;
}

// What the flight says of itself, when it has changed.
static int send_changes(watch *w, client *c, const watch_control *control)
{
    int is_sent = 1;
    if (c->dropped != c->reported_dropped && c->out_size < QUEUE_BYTES) {
        char text[100];
        c->reported_dropped = c->dropped;
        snprintf(text, sizeof text, "%" PRIu64 " records were dropped: this viewer is slower than the flight",
                 c->dropped);
        is_sent = send_status(c, LEVEL_WARNING, text);
    }
    if (is_sent && control->notice_count != c->reported_notices && c->out_size < QUEUE_BYTES) {
        c->reported_notices = control->notice_count;
        is_sent = send_status(c, LEVEL_ERROR, control->notice);
    }
    if (is_sent && c->wants_parameters && control->version != c->version && c->out_size < QUEUE_BYTES) {
        is_sent = send_parameters(w, control, c, &(name_filter){.text = NULL}, "");
        c->version = control->version;
    }
    return is_sent;
}

// It does not wait behind records that a slow viewer has not read yet; that the flight is over comes last.
int vy_foxglove_send(watch *w, client *c)
{
    const watch_control control = current_control(w);
    uint64_t time = UINT64_MAX;
    int is_sent = control.has_ended || send_changes(w, c, &control);
    if (is_sent && c->is_subscribed && c->out_size < QUEUE_BYTES) is_sent = copy_records(w, c, &time);
    if (is_sent && time != UINT64_MAX) {
        unsigned char clock[TIME_SIZE] = {OP_TIME};
        put_little_endian(clock + 1, time, 8);
        is_sent = vy_client_send_frame(c, FRAME_BINARY, clock, sizeof clock);
    }
    const int has_all = !c->is_subscribed || time == UINT64_MAX;
    return is_sent && (!control.has_ended || !has_all || send_changes(w, c, &control));
}

int vy_foxglove_is_done(watch *w, const client *c)
{
    pthread_mutex_lock(&w->lock);
    const int is_done = (!c->is_subscribed || c->cursor == w->ring.next) &&
                        c->reported_dropped == c->dropped &&
                        (!c->wants_parameters || c->version == w->control.version);
    pthread_mutex_unlock(&w->lock);
    return is_done;
}
