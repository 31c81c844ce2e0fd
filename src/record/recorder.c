// recorder.c - writes the log of a run: a sink of the world.
#include "base/fail.h"
#include "base/assert.h"
#include "base/real.h"
#include "record/listen.h"
#include "record/contact_debounce.h"
#include "record/display.h"
#include "record/event_writer.h"
#include "record/proof.h"
#include "record/recorder_check.h"
#include "record/stream_writer.h"
#include "record/streams.h"
#include "volery/record.h"
#include "volery/version.h"
#include <inttypes.h>
#include <stdlib.h>

#define RECORDER_COOKIE 0x76796c40u
enum { HASH_BATCH_MAX = 256 };
#define HASH_BATCH_SECONDS 0.256 // that a batch of hashes covers at most: what a killed run loses

struct vy_recorder {
    vy_file_sink *file;
    log_output output;
    uint64_t record_period, snapshot_period; // [steps]
    uint16_t hashes_channel, state_channel, replies_channel;
    vy_pb_codec *reply_codec;
    uint64_t batch[HASH_BATCH_MAX], batch_first_tick; // hashes not written yet
    int batch_count, batch_capacity;
    uint64_t last_state_tick; // tick of the last full state written
    stream_writer *streams;
    event_writer *events;
    contact_debounce *debounce;
    display *display;          // NULL: no data for viewers
    uint64_t display_period;   // [steps]
    const vy_signing_key *key; // that the result is signed by; NULL: none
    message_check *check;      // compares instead of writing a file; NULL: none
};

vy_recorder_def vy_default_recorder_def(void)
{
    return (vy_recorder_def){
        .cookie = RECORDER_COOKIE, .every = 10, .snapshot = 1000, .display = 40, .compress = 0};
}

static int has_failed(const vy_recorder *r) { return output_failed(&r->output); }

static vy_status add_channels(vy_recorder *r, const vy_recorder_def *def, const vy_world *world,
                              vy_error *err)
{
    log_output *o = &r->output;
    uint16_t proof_channel = 0;
    const int has_proofs = r->check == NULL && vy_digest_available();
    vy_status status = has_proofs ? vy_proof_add_channel(o->writer, &proof_channel, err) : VY_OK;
    if (status == VY_OK)
        status = vy_output_add_message_channel(o, TOPIC_HASHES, &vy_message_hashes, &r->hashes_channel, err);
    if (status == VY_OK)
        status = vy_output_add_message_channel(o, TOPIC_STATE, &vy_message_state, &r->state_channel, err);
    if (status == VY_OK)
        status = vy_output_add_message_channel(o, TOPIC_REPLIES, &vy_message_reply, &r->replies_channel, err);
    if (status == VY_OK) status = vy_pb_codec_create(&vy_message_reply, &r->reply_codec, err);
    if (status == VY_OK)
        status = vy_stream_writer_open(o, world, def->joint_names, def->obstacle_names, &r->streams, err);
    if (status == VY_OK) status = vy_event_writer_open(o, world, &r->events, err);
    if (status == VY_OK && r->display_period > 0) status = vy_display_open(o, world, &r->display, err);
    if (status == VY_OK) vy_event_writer_set_display(r->events, r->display);
    if (status == VY_OK && (r->debounce = vy_contact_debounce_create(o->dt)) == NULL)
        status = vy_fail(err, VY_NO_MEMORY, "log: out of memory");
    return status;
}

// The file's head: what it is, and the scenario of the run, before the first chunk.
static vy_status write_head(vy_recorder *r, const vy_recorder_def *def, const vy_world *world, vy_error *err)
{
    char values[12][32];
    const vy_model *m = &world->model;
    const char *tier = "0";                                // of determinism: docs/determinism.md
    for (uint32_t i = 0; i < r->output.drone_count; ++i) { // firmware has threads and a clock of its own
        const vy_controller_def *c = &m->drones[i].controller;
        const int has_simulated_clock =
            c->kind == VY_CONTROLLER_BETAFLIGHT && c->firmware.clock == VY_CLOCK_SIMULATED;
        if (vy_controller_is_firmware(c->kind) && !has_simulated_clock) tier = "1";
    }
    snprintf(values[0], 32, "%d", VY_PHYSICS_REVISION);
    snprintf(values[1], 32, "%" PRIu64, m->seed);
    snprintf(values[2], 32, "%.17g", m->dt);
    snprintf(values[3], 32, "%016" PRIx64, def->config_hash);
    snprintf(values[4], 32, "%" PRIu64, def->every);
    snprintf(values[5], 32, "%" PRIu64, def->snapshot);
    snprintf(values[6], 32, "%" PRIu32, r->output.drone_count);
    snprintf(values[7], 32, "%" PRIu32, m->joint_count);
    snprintf(values[8], 32, "%016" PRIx64, def->parent_hash);
    snprintf(values[9], 32, "%" PRIu64, def->parent_tick);
    snprintf(values[10], 32, "%" PRIu32, m->passive_count);
    snprintf(values[11], 32, "%" PRIu64, def->display);
    const vy_mcap_pair pairs[] = {
        {"format", LOG_FORMAT},  {"version", VY_VERSION},    {"physics", values[0]},
        {"seed", values[1]},     {"dt", values[2]},          {"config_hash", values[3]},
        {"every", values[4]},    {"snapshot", values[5]},    {"drones", values[6]},
        {"tier", tier},          {"joints", values[7]},      {"bodies", values[10]},
        {"display", values[11]}, {"parent_hash", values[8]}, {"parent_tick", values[9]},
    };
    const size_t count = sizeof pairs / sizeof pairs[0] - (def->has_parent ? 0 : 2);
    vy_status status = vy_mcap_writer_metadata(r->output.writer, METADATA_RUN, pairs, count, err);
    const vy_mcap_attachment_def scenario = {.name = SCENARIO_NAME,
                                             .media_type = "application/yaml",
                                             .data = def->scenario,
                                             .size = strlen(def->scenario)};
    if (status == VY_OK) status = vy_mcap_writer_attachment(r->output.writer, &scenario, err);
    const vy_mcap_attachment_def attachment = {.name = def->attachment_name,
                                               .media_type = "text/plain",
                                               .data = def->attachment,
                                               .size = def->attachment_size};
    if (status == VY_OK && def->attachment_name != NULL)
        status = vy_mcap_writer_attachment(r->output.writer, &attachment, err);
    return status;
}

static uint64_t log_time_of(const vy_recorder *r, const vy_world *world)
{
    return vy_log_time(world->state->tick, r->output.dt);
}

static void write_state(vy_recorder *r, const vy_world *world)
{
    const uint64_t tick = world->state->tick;
    const size_t size = vy_world_state_size(world);
    vy_pb_writer w = vy_output_begin(&r->output, r->state_channel, log_time_of(r, world), size + 64);
    vy_pb_put_fixed64(&w, STATE_TICK, tick);
    vy_pb_put_fixed64(&w, STATE_HASH, world->state->chain);
    void *state_bytes = vy_pb_put_space(&w, STATE_BYTES, size);
    if (state_bytes != NULL) vy_world_save(world, state_bytes);
    vy_pb_put_fixed64(&w, STATE_CHECK, vy_world_state_hash(world));
    vy_output_end(&r->output, &w);
    r->last_state_tick = tick;
}

static void write_hashes(vy_recorder *r)
{
    if (r->batch_count == 0) return;
    const uint64_t last_tick = r->batch_first_tick + (uint64_t)r->batch_count - 1;
    vy_pb_writer w = vy_output_begin(&r->output, r->hashes_channel, vy_log_time(last_tick, r->output.dt),
                                     HASH_BATCH_MAX * 8 + 32);
    vy_pb_put_fixed64(&w, HASHES_FIRST_TICK, r->batch_first_tick);
    vy_pb_put_bytes(&w, HASHES_LIST, r->batch, (size_t)r->batch_count * 8); // packed fixed64
    vy_output_end(&r->output, &w);
    r->batch_count = 0;
}

static void write_contact(vy_recorder *r, uint64_t tick, const vy_contact_event *event)
{
    const char *other_name = vy_stream_writer_contact(r->streams, tick, event);
    vy_event_writer_contact(r->events, tick, event, other_name);
}

// Contacts: each in the stream when it begins or has ended and with the other records; begins, ends and
// crashes are events.
static void write_contacts(vy_recorder *r, const vy_world *world)
{
    const uint64_t tick = world->state->tick;
    const uint32_t count = vy_world_contact_count(world);
    for (uint32_t k = 0; k < count && !has_failed(r); ++k) {
        vy_contact_event event;
        (void)vy_world_contact(world, k, &event);
        if (!vy_contact_debounce_update(r->debounce, tick, &event)) continue;
        const int is_crash = event.severity >= 1.0;
        if (event.phase == VY_CONTACT_PERSIST && !is_crash && tick % r->record_period != 0) continue;
        write_contact(r, tick, &event);
    }
    vy_contact_event ended_contact;
    while (!has_failed(r) && vy_contact_debounce_next_end(r->debounce, tick, &ended_contact))
        write_contact(r, tick, &ended_contact);
}

static void write_triggers(vy_recorder *r, const vy_world *world)
{
    const uint32_t count = vy_world_trigger_count(world);
    for (uint32_t k = 0; k < count && !has_failed(r); ++k) {
        vy_trigger_event event;
        (void)vy_world_trigger(world, k, &event);
        vy_event_writer_trigger(r->events, world->state->tick, &event,
                                vy_stream_writer_obstacle_name(r->streams, event.obstacle));
    }
}

static void write_joint_breaks(vy_recorder *r, const vy_world *world)
{
    for (uint32_t k = 0; k < world->model.joint_count && !has_failed(r); ++k) {
        vy_joint_state joint;
        if (!world->bodies->joints->slots[k].broke_in_step) continue;
        (void)vy_world_read_joint(world, vy_world_joint(world, k), &joint);
        vy_event_writer_joint_break(r->events, world->state->tick, &joint,
                                    vy_stream_writer_joint_name(r->streams, k));
    }
}

static int on_step(void *self, const vy_world *world)
{
    vy_recorder *r = self;
    if (has_failed(r)) return 1;
    const uint64_t tick = world->state->tick;
    vy_event_writer_step(r->events, world);
    if (world->model.collides) write_contacts(r, world);
    write_triggers(r, world);
    write_joint_breaks(r, world);
    if (r->batch_count == 0) r->batch_first_tick = tick;
    VY_ASSERT(r->batch_count < HASH_BATCH_MAX && r->batch_capacity <= HASH_BATCH_MAX);
    VY_ASSERT(tick == r->batch_first_tick + (uint64_t)r->batch_count); // one step after the other
    r->batch[r->batch_count++] = world->state->chain;

    const int has_ended = world->state->failure_reason != VY_FAILURE_NONE;
    VY_ASSERT(r->record_period > 0 && r->snapshot_period > 0);
    const int is_state_due = tick % r->snapshot_period == 0;
    if (tick % r->record_period == 0 || has_ended) vy_stream_writer_write(r->streams, world);
    if (r->display != NULL && tick % r->display_period == 0 && !has_failed(r))
        vy_display_write(r->display, world, log_time_of(r, world));
    if (r->batch_count == r->batch_capacity || is_state_due || has_ended) write_hashes(r);
    // A state that is not finite is reported by the event; its values would differ from machine to machine.
    if (is_state_due && world->state->failure_reason != VY_FAILURE_NOT_FINITE) write_state(r, world);
    if (has_ended) vy_event_writer_failure(r->events, world);
    return has_failed(r);
}

static int on_reply(void *self, const vy_world *world, uint32_t drone, const vy_intent *intent)
{
    vy_recorder *r = self;
    if (has_failed(r)) return 1;
    const reply_cells cells = vy_reply_pack(world->state->tick, drone, intent);
    VY_ASSERT(drone < r->output.drone_count);
    vy_output_encode(&r->output, r->replies_channel, log_time_of(r, world), r->reply_codec, &cells);
    return has_failed(r);
}

// A full state at the moment of the change: replay steps by its integrator from there on.
static int on_integrator_change(void *self, const vy_world *world)
{
    vy_recorder *r = self;
    if (has_failed(r)) return 1;
    write_hashes(r);
    if (!has_failed(r)) write_state(r, world);
    if (!has_failed(r))
        vy_event_writer_write(r->events, world->state->tick, "integrator", "",
                              vy_integrator_name(vy_world_integrator(world)));
    return has_failed(r);
}

// Likewise: replay has the injection from that state.
static int on_injection(void *self, const vy_world *world)
{
    vy_recorder *r = self;
    if (has_failed(r)) return 1;
    write_hashes(r);
    if (!has_failed(r)) write_state(r, world);
    if (!has_failed(r)) vy_event_writer_injection(r->events, world);
    return has_failed(r);
}

static void free_recorder(vy_recorder *r)
{
    vy_contact_debounce_destroy(r->debounce);
    vy_event_writer_close(r->events);
    vy_display_destroy(r->display);
    vy_stream_writer_close(r->streams);
    vy_pb_codec_destroy(r->reply_codec);
    char **names = r->output.names;
    for (uint32_t i = 0; names != NULL && i < r->output.body_count; ++i) free(names[i]);
    free(names);
    free(r);
}

static vy_status copy_names(log_output *o, const char *const *names, vy_error *err)
{
    o->names = calloc(o->body_count + 1u, sizeof o->names[0]);
    if (o->names == NULL) return vy_fail(err, VY_NO_MEMORY, "log: out of memory");
    for (uint32_t i = 0; i < o->body_count; ++i) {
        const size_t size = strlen(names[i]) + 1;
        if (size > VY_NAME_CAP)
            return vy_fail(err, VY_BAD_VALUE, "log: the name of body %" PRIu32 " is too long", i);
        o->names[i] = malloc(size);
        if (o->names[i] == NULL) return vy_fail(err, VY_NO_MEMORY, "log: out of memory");
        memcpy(o->names[i], names[i], size);
    }
    return VY_OK;
}

static vy_status discard_bytes(void *self, const void *data, size_t size, vy_error *err)
{
    (void)self, (void)data, (void)size, (void)err;
    return VY_OK;
}

// Every message goes to the comparison, and the bytes nowhere.
static vy_status open_check(vy_recorder *r, vy_error *err)
{
    const vy_mcap_listener listener = vy_message_check_listener(r->check);
    vy_mcap_writer_def writer_def = vy_default_mcap_writer_def();
    writer_def.compression = VY_MCAP_NONE;
    writer_def.listener = &listener;
    return vy_mcap_writer_open(&writer_def, (vy_byte_sink){.write = discard_bytes}, &r->output.writer, err);
}

static vy_status open_file(vy_recorder *r, const vy_recorder_def *def, vy_error *err)
{
    const vy_status status = vy_file_sink_open(def->path, NULL, &r->file, err);
    if (status != VY_OK) return status;
    vy_mcap_writer_def writer_def = vy_default_mcap_writer_def();
    writer_def.library = "volery " VY_VERSION;
    writer_def.compression = def->compress ? VY_MCAP_ZSTD : VY_MCAP_NONE;
    writer_def.threaded = true;
    writer_def.digest = vy_digest_available();
    return vy_mcap_writer_open(&writer_def, vy_file_sink_bytes(r->file), &r->output.writer, err);
}

// What the run has come to: the last hashes, and the last state if it is not there yet.
static void write_end(vy_recorder *r, const vy_world *world)
{
    if (!has_failed(r)) write_hashes(r);
    const int is_finite = world->state->failure_reason != VY_FAILURE_NOT_FINITE;
    if (!has_failed(r) && r->last_state_tick != world->state->tick && is_finite) write_state(r, world);
}

// The present state first: whatever ends the run, it can be replayed from here up to that moment.
static vy_status write_start(vy_recorder *r, const vy_world *world, vy_error *err)
{
    write_state(r, world);
    vy_stream_writer_write(r->streams, world);
    if (r->display != NULL) {
        vy_display_shapes(r->display, world, log_time_of(r, world));
        vy_display_write(r->display, world, log_time_of(r, world));
    }
    if (!has_failed(r)) (void)vy_mcap_writer_flush(r->output.writer, &r->output.error);
    if (has_failed(r) && err != NULL) *err = r->output.error;
    return r->output.error.status;
}

static vy_status open_recorder(const vy_recorder_def *def, vy_world *world, message_check *check,
                               vy_recorder **out, vy_error *err)
{
    *out = NULL;
    if (def->cookie != RECORDER_COOKIE || (def->path == NULL && check == NULL) || def->scenario == NULL ||
        def->every == 0 || def->snapshot == 0 || (def->names == NULL && body_count(&world->model) > 0)) {
        return vy_fail(err, VY_BAD_VALUE, "log: start from vy_default_recorder_def() and fill every field");
    }
    vy_recorder *r = calloc(1, sizeof *r);
    if (r == NULL) return vy_fail(err, VY_NO_MEMORY, "log: out of memory");
    r->record_period = def->every;
    r->snapshot_period = def->snapshot;
    r->display_period = def->display;
    r->check = check;
    r->output.dt = world->model.dt;
    const double steps_per_batch = HASH_BATCH_SECONDS / world->model.dt + 0.5;
    r->batch_capacity = steps_per_batch < 1.0              ? 1
                        : steps_per_batch > HASH_BATCH_MAX ? HASH_BATCH_MAX
                                                           : (int)steps_per_batch;
    r->output.drone_count = world->model.drone_count;
    r->output.body_count = body_count(&world->model);
    vy_status status = copy_names(&r->output, def->names, err);
    if (status == VY_OK && def->display > 0) status = vy_world_keep_loads(world, 1, err);
    if (status == VY_OK) status = check != NULL ? open_check(r, err) : open_file(r, def, err);
    if (status == VY_OK) status = add_channels(r, def, world, err);
    if (status == VY_OK) status = write_head(r, def, world, err);
    if (status == VY_OK) status = write_start(r, world, err);
    if (status != VY_OK) {
        (void)vy_mcap_writer_close(r->output.writer, NULL);
        vy_file_sink_discard(r->file);
        free_recorder(r);
        return status;
    }
    *out = r;
    return VY_OK;
}

vy_status vy_recorder_open(const vy_recorder_def *def, vy_world *world, vy_recorder **out, vy_error *err)
{
    FPU_SCOPE;
    return open_recorder(def, world, NULL, out, err);
}

vy_status vy_recorder_open_check(const vy_recorder_def *def, vy_world *world, message_check *check,
                                 vy_recorder **out, vy_error *err)
{
    return open_recorder(def, world, check, out, err);
}

vy_status vy_recorder_close_check(vy_recorder *r, const vy_world *world, int has_end, vy_error *err)
{
    if (has_end) write_end(r, world);
    const vy_error error = r->output.error;
    (void)vy_mcap_writer_close(r->output.writer, NULL);
    free_recorder(r);
    if (error.status != VY_OK && err != NULL) *err = error;
    return error.status;
}

vy_sink vy_recorder_sink(vy_recorder *recorder)
{
    return (vy_sink){.self = recorder,
                     .write = on_step,
                     .reply = on_reply,
                     .change = on_integrator_change,
                     .injection = on_injection};
}

vy_status vy_recorder_sign(vy_recorder *recorder, const vy_signing_key *key, vy_error *err)
{
    if (!vy_digest_available())
        return vy_fail(err, VY_BAD_STATE, "log: without a digest it cannot be signed");
    recorder->key = key;
    return VY_OK;
}

void vy_recorder_set_listener(vy_recorder *recorder, const vy_mcap_listener *listener)
{
    vy_mcap_writer_set_listener(recorder->output.writer, listener);
}

const char *vy_recorder_backup(const vy_recorder *recorder) { return vy_file_sink_backup(recorder->file); }

void vy_recorder_flush(vy_recorder *recorder)
{
    if (!has_failed(recorder)) (void)vy_mcap_writer_flush(recorder->output.writer, &recorder->output.error);
}

void vy_recorder_note(vy_recorder *recorder, const vy_world *world, const char *kind, const char *text)
{
    if (!has_failed(recorder)) vy_event_writer_note(recorder->events, world->state->tick, kind, text);
}

vy_status vy_recorder_close(vy_recorder *r, const vy_world *world, const char *status_word, vy_error *err)
{
    FPU_SCOPE;
    write_end(r, world);
    if (!has_failed(r)) {
        (void)vy_result_write(r->output.writer, status_word, world->state->tick, world->state->chain, r->key,
                              &r->output.error);
    }
    vy_error error = r->output.error;
    vy_status status = r->output.error.status;
    const vy_status close_status = vy_mcap_writer_close(r->output.writer, status == VY_OK ? &error : NULL);
    if (status == VY_OK) status = close_status;
    if (status == VY_OK) {
        status = vy_file_sink_commit(r->file, &error);
    } else {
        vy_file_sink_abandon(r->file);
    }
    free_recorder(r);
    if (status != VY_OK && err != NULL) *err = error;
    return status;
}

void vy_recorder_abandon(vy_recorder *r)
{
    if (r == NULL) return;
    (void)vy_mcap_writer_close(r->output.writer, NULL);
    vy_file_sink_abandon(r->file);
    free_recorder(r);
}
