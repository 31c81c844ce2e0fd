// recorder.c - writes the log of a run: a sink of the world.
#include "base/fail.h"
#include "record/display.h"
#include "record/mcap_writer.h"
#include "record/streams.h"
#include "world/kit.h"
#include "volery/record.h"
#include "volery/version.h"
#include <inttypes.h>
#include <stdlib.h>

#define RECORDER_COOKIE 0x76796c40u
enum { HASH_BATCH = 256 };

// What was last told of a drone's drive, and of its filter's gate.
typedef struct guard_note {
    uint64_t failsafe, handovers, lost;
    uint64_t acted[VY_DRIVE_LIMIT_COUNT], last[VY_DRIVE_LIMIT_COUNT]; // how often, and when last
    uint64_t rejected[VY_GATED_COUNT], last_rejected[VY_GATED_COUNT]; // likewise
} guard_note;

struct vy_recorder {
    vy_file_sink *file;
    vy_mcap_writer *writer;
    vy_error error; // of the first failure; status VY_OK while all is well
    double dt;
    uint64_t every, snapshot;
    uint32_t drone_count;
    char **names;
    uint16_t hashes, state, replies, events;
    uint16_t (*drones)[DRONE_STREAM_COUNT];                                  // channels
    vy_pb_codec *codecs[VY_ROTOR_CAP + 1][DRONE_STREAM_COUNT], *reply_codec; // by length
    size_t offsets[DRONE_STREAM_COUNT];
    uint32_t sequence;
    uint64_t batch[HASH_BATCH], batch_first;
    int batch_count;
    uint64_t last_state; // tick of the last full state written
    int failure_noted;
    vy_planet_def planet; // radius 0: a flat world
    uint16_t *geodetic;   // channels, on a planet
    vy_pb_codec *geodetic_codec;
    uint16_t *joints; // channels
    vy_pb_codec *joint_codec;
    uint16_t contacts; // the channel, where things collide
    vy_pb_codec *contact_codec;
    char (*bodies)[VY_NAME_CAP]; // names of drones, then of obstacles, likewise
    uint64_t *effects;           // as last noted, per drone
    unsigned char *faults;       // likewise: drone by drone, whether fault k acts
    guard_note *guards;          // likewise
    uint64_t *payloads;          // likewise: carried, missed
    display *display;            // NULL: nothing for people
    uint64_t display_every;
};

vy_recorder_def vy_default_recorder_def(void)
{
    return (vy_recorder_def){
        .cookie = RECORDER_COOKIE, .every = 10, .snapshot = 1000, .display = 40, .compress = 0};
}

static int failed(vy_recorder *r) { return r->error.status != VY_OK; }

static vy_status add_channel(vy_recorder *r, const char *topic, const vy_pb_message *message,
                             uint16_t *channel, vy_error *err)
{
    unsigned char *schema = NULL;
    size_t size = 0;
    uint16_t id = 0;
    vy_status status = vy_pb_descriptor_set(message, &schema, &size, err);
    if (status == VY_OK) {
        status = vy_mcap_writer_add_schema(r->writer, message->name, "protobuf", schema, size, &id, err);
    }
    free(schema);
    if (status != VY_OK) return status;
    const vy_mcap_channel_def def = {.topic = topic, .encoding = "protobuf", .schema = id};
    return vy_mcap_writer_add_channel(r->writer, &def, channel, err);
}

// Does drone `i` have what stream `s` tells?
static int has_stream(const vy_world *world, uint32_t i, int s)
{
    if (s == STREAM_TOUCH) return world->touches != NULL;
    if (s >= STREAM_KIT && s < STREAM_TRUTH) return vy_sensor_period(&world->model, i, s - STREAM_KIT) > 0;
    if (s == STREAM_BATTERY) return world->model.params[i].battery.capacity > 0.0;
    return s != STREAM_THRUSTERS || world->model.drones[i].layout.thrusters.count > 0;
}

// How long the list is that ends the stream.
static int stream_length(const vy_world *world, uint32_t i, int s)
{
    const rotor_layout *layout = &world->model.drones[i].layout;
    if (s == STREAM_CONTROL) return layout->count + layout->thrusters.count;
    return s == STREAM_THRUSTERS ? layout->thrusters.count : layout->count;
}

// The streams of all drones share one schema per stream; lists are as long as the drone has rotors.
static vy_status add_stream(vy_recorder *r, const vy_world *world, int s, vy_error *err)
{
    stream_layout layout;
    uint32_t first = 0;
    while (first < r->drone_count && !has_stream(world, first, s)) ++first;
    if (first == r->drone_count && strcmp(vy_drone_streams[s].block, "drone") != 0) return VY_OK;
    vy_stream_layout(s, VY_ROTOR_CAP, &layout);
    r->offsets[s] = layout.offset;
    unsigned char *schema = NULL;
    size_t size = 0;
    uint16_t id = 0;
    vy_status status = vy_pb_descriptor_set(&layout.message, &schema, &size, err);
    if (status == VY_OK) {
        status = vy_mcap_writer_add_schema(r->writer, layout.full_name, "protobuf", schema, size, &id, err);
    }
    free(schema);
    for (uint32_t i = first; i < r->drone_count && status == VY_OK; ++i) {
        if (!has_stream(world, i, s)) continue;
        const int length = stream_length(world, i, s);
        if (r->codecs[length][s] == NULL) {
            vy_stream_layout(s, length, &layout);
            status = vy_pb_codec_create(&layout.message, &r->codecs[length][s], err);
        }
        char topic[VY_NAME_CAP + 40], count[16];
        snprintf(topic, sizeof topic, "/drones/%s/%s", r->names[i], vy_drone_streams[s].name);
        snprintf(count, sizeof count, "%d", length);
        const vy_mcap_pair pair = {"rotors", count};
        const vy_mcap_channel_def def = {
            .topic = topic, .encoding = "protobuf", .schema = id, .metadata = &pair, .metadata_count = 1};
        if (status == VY_OK) status = vy_mcap_writer_add_channel(r->writer, &def, &r->drones[i][s], err);
    }
    return status;
}

static vy_status add_geodetic(vy_recorder *r, vy_error *err)
{
    vy_status status = vy_pb_codec_create(&vy_message_geodetic, &r->geodetic_codec, err);
    for (uint32_t i = 0; i < r->drone_count && status == VY_OK; ++i) {
        char topic[VY_NAME_CAP + 40];
        snprintf(topic, sizeof topic, "/drones/%s/geodetic", r->names[i]);
        status = add_channel(r, topic, &vy_message_geodetic, &r->geodetic[i], err);
    }
    return status;
}

// The streams of joints; metadata say what each holds, in order of its ends.
static vy_status add_joints(vy_recorder *r, const vy_world *world, const char *const *names, vy_error *err)
{
    const uint32_t count = world->model.joint_count;
    if (count == 0) return VY_OK;
    unsigned char *schema = NULL;
    size_t size = 0;
    uint16_t id = 0;
    r->joints = calloc(count, sizeof *r->joints);
    if (r->joints == NULL) return vy_fail(err, VY_NO_MEMORY, "log: out of memory");
    vy_status status = vy_pb_descriptor_set(&vy_message_joint, &schema, &size, err);
    if (status == VY_OK)
        status =
            vy_mcap_writer_add_schema(r->writer, vy_message_joint.name, "protobuf", schema, size, &id, err);
    free(schema);
    if (status == VY_OK) status = vy_pb_codec_create(&vy_message_joint, &r->joint_codec, err);
    for (uint32_t k = 0; k < count && status == VY_OK; ++k) {
        const uint32_t *body = world->bodies->joints->slots[k].body;
        char topic[VY_NAME_CAP + 40], number[24];
        snprintf(number, sizeof number, "joint%" PRIu32, k);
        snprintf(topic, sizeof topic, "/joints/%.*s", VY_NAME_CAP, names != NULL ? names[k] : number);
        const vy_mcap_pair ends[2] = {{"a", body[0] < r->drone_count ? r->names[body[0]] : "world"},
                                      {"b", body[1] < r->drone_count ? r->names[body[1]] : "world"}};
        const vy_mcap_channel_def def = {
            .topic = topic, .encoding = "protobuf", .schema = id, .metadata = ends, .metadata_count = 2};
        status = vy_mcap_writer_add_channel(r->writer, &def, &r->joints[k], err);
    }
    return status;
}

// The stream of contacts; its metadata name the bodies: drones, then obstacles.
static vy_status add_contacts(vy_recorder *r, const vy_world *world, const char *const *obstacles,
                              vy_error *err)
{
    if (world->touches == NULL) return VY_OK;
    const uint32_t count = r->drone_count + world->model.obstacle_count;
    vy_mcap_pair *pairs = calloc(count + 1u, sizeof *pairs);
    char(*numbers)[12] = calloc(count + 1u, sizeof *numbers);
    r->bodies = calloc(count + 1u, sizeof *r->bodies);
    unsigned char *schema = NULL;
    size_t size = 0;
    uint16_t id = 0;
    vy_status status = VY_NO_MEMORY;
    if (pairs != NULL && numbers != NULL && r->bodies != NULL) {
        for (uint32_t i = 0; i < count; ++i) {
            const uint32_t k = i - r->drone_count; // of an obstacle
            if (i < r->drone_count || obstacles != NULL)
                snprintf(r->bodies[i], VY_NAME_CAP, "%s", i < r->drone_count ? r->names[i] : obstacles[k]);
            else
                snprintf(r->bodies[i], VY_NAME_CAP, "obstacle%" PRIu32, k);
            snprintf(numbers[i], sizeof numbers[i], "%" PRIu32, i);
            pairs[i] = (vy_mcap_pair){numbers[i], r->bodies[i]};
        }
        status = vy_pb_descriptor_set(&vy_message_contact, &schema, &size, err);
    }
    if (status == VY_OK)
        status =
            vy_mcap_writer_add_schema(r->writer, vy_message_contact.name, "protobuf", schema, size, &id, err);
    const vy_mcap_channel_def def = {.topic = TOPIC_CONTACTS,
                                     .encoding = "protobuf",
                                     .schema = id,
                                     .metadata = pairs,
                                     .metadata_count = count};
    if (status == VY_OK) status = vy_mcap_writer_add_channel(r->writer, &def, &r->contacts, err);
    if (status == VY_OK) status = vy_pb_codec_create(&vy_message_contact, &r->contact_codec, err);
    free(schema);
    free(numbers);
    free(pairs);
    return status == VY_NO_MEMORY ? vy_fail(err, status, "log: out of memory") : status;
}

static vy_status add_channels(vy_recorder *r, const vy_recorder_def *recorder, const vy_world *world,
                              vy_error *err)
{
    vy_status status = add_channel(r, TOPIC_HASHES, &vy_message_hashes, &r->hashes, err);
    if (status == VY_OK) status = add_channel(r, TOPIC_STATE, &vy_message_state, &r->state, err);
    if (status == VY_OK) status = add_channel(r, TOPIC_REPLIES, &vy_message_reply, &r->replies, err);
    if (status == VY_OK) status = vy_pb_codec_create(&vy_message_reply, &r->reply_codec, err);
    for (int s = 0; s < DRONE_STREAM_COUNT && status == VY_OK; ++s) status = add_stream(r, world, s, err);
    if (status == VY_OK && r->planet.radius > 0.0) status = add_geodetic(r, err);
    if (status == VY_OK) status = add_joints(r, world, recorder->joint_names, err);
    if (status == VY_OK) status = add_contacts(r, world, recorder->obstacle_names, err);
    uint16_t schema = 0;
    if (status == VY_OK) {
        status = vy_mcap_writer_add_schema(r->writer, "volery.Event", "jsonschema", vy_event_schema,
                                           strlen(vy_event_schema), &schema, err);
    }
    const vy_mcap_channel_def events = {.topic = TOPIC_EVENTS, .encoding = "json", .schema = schema};
    if (status == VY_OK) status = vy_mcap_writer_add_channel(r->writer, &events, &r->events, err);
    if (status == VY_OK && r->display_every > 0)
        status = vy_display_open(r->writer, world, r->names, &r->display, err);
    return status;
}

// The file's head: what this is, and the scenario it was flown from, before the first chunk.
static vy_status write_head(vy_recorder *r, const vy_recorder_def *def, const vy_world *world, vy_error *err)
{
    char text[16][32];
    const vy_model *m = &world->model;
    snprintf(text[0], 32, "%d", VY_PHYSICS_REVISION);
    snprintf(text[1], 32, "%" PRIu64, m->seed);
    snprintf(text[2], 32, "%.17g", m->dt);
    snprintf(text[3], 32, "%016" PRIx64, def->config_hash);
    snprintf(text[4], 32, "%" PRIu64, def->every);
    snprintf(text[5], 32, "%" PRIu64, def->snapshot);
    snprintf(text[6], 32, "%" PRIu32, r->drone_count);
    snprintf(text[7], 32, "%016" PRIx64, def->parent_hash);
    snprintf(text[8], 32, "%" PRIu64, def->parent_tick);
    snprintf(text[9], 32, "%" PRIu32, m->line_count);
    snprintf(text[10], 32, "%" PRIu32, m->joint_count);
    snprintf(text[11], 32, "%" PRIu32, m->guarded ? m->drone_count : 0);
    snprintf(text[12], 32, "%" PRIu32, m->kit_count);
    snprintf(text[13], 32, "%" PRIu32, m->filter_count);
    snprintf(text[14], 32, "%" PRIu32, m->delay_count);
    snprintf(text[15], 32, "%" PRIu32, m->gate_count);
    const vy_mcap_pair pairs[] = {
        {"format", LOG_FORMAT},   {"version", VY_VERSION},
        {"physics", text[0]},     {"seed", text[1]},
        {"dt", text[2]},          {"config_hash", text[3]},
        {"every", text[4]},       {"snapshot", text[5]},
        {"drones", text[6]},      {"tier", "0"},
        {"lines", text[9]},       {"joints", text[10]},
        {"guards", text[11]},     {"kits", text[12]},
        {"filters", text[13]},    {"gates", text[15]},
        {"delays", text[14]},     {"parent_hash", text[7]},
        {"parent_tick", text[8]},
    };
    const size_t count = sizeof pairs / sizeof pairs[0] - (def->has_parent ? 0 : 2);
    vy_status status = vy_mcap_writer_metadata(r->writer, METADATA_RUN, pairs, count, err);
    const vy_mcap_attachment_def scenario = {.name = SCENARIO_NAME,
                                             .media_type = "application/yaml",
                                             .data = def->scenario,
                                             .size = strlen(def->scenario)};
    if (status == VY_OK) status = vy_mcap_writer_attachment(r->writer, &scenario, err);
    const vy_mcap_attachment_def extra = {
        .name = def->extra_name, .media_type = "text/plain", .data = def->extra, .size = def->extra_size};
    if (status == VY_OK && def->extra_name != NULL)
        status = vy_mcap_writer_attachment(r->writer, &extra, err);
    return status;
}

static void write_state(vy_recorder *r, const vy_world *world)
{
    const size_t room = world->state_size + 64;
    const uint64_t tick = world->state->tick;
    unsigned char *at =
        vy_mcap_writer_begin(r->writer, r->state, r->sequence++, vy_log_time(tick, r->dt), room, &r->error);
    if (at == NULL) return;
    vy_pb_writer w = vy_pb_writer_on(at, room);
    vy_pb_put_fixed64(&w, STATE_TICK, tick);
    vy_pb_put_fixed64(&w, STATE_HASH, world->state->chain);
    vy_pb_put_bytes(&w, STATE_BYTES, world->state, world->state_size);
    vy_mcap_writer_end(r->writer, w.size);
    r->last_state = tick;
}

static void write_hashes(vy_recorder *r)
{
    if (r->batch_count == 0) return;
    const uint64_t last = r->batch_first + (uint64_t)r->batch_count - 1;
    const size_t room = HASH_BATCH * 8 + 32;
    unsigned char *at =
        vy_mcap_writer_begin(r->writer, r->hashes, r->sequence++, vy_log_time(last, r->dt), room, &r->error);
    if (at == NULL) return;
    vy_pb_writer w = vy_pb_writer_on(at, room);
    vy_pb_put_fixed64(&w, HASHES_FIRST_TICK, r->batch_first);
    vy_pb_put_bytes(&w, HASHES_LIST, r->batch, (size_t)r->batch_count * 8); // packed fixed64
    vy_mcap_writer_end(r->writer, w.size);
    r->batch_count = 0;
}

static void write_stream(vy_recorder *r, uint32_t drone, int s, const vy_pb_codec *codec, const void *block,
                         uint64_t time)
{
    unsigned char *at = vy_mcap_writer_begin(r->writer, r->drones[drone][s], r->sequence++, time,
                                             vy_pb_codec_size_max(codec), &r->error);
    if (at == NULL) return;
    const unsigned char *cells = (const unsigned char *)block + r->offsets[s];
    vy_mcap_writer_end(r->writer, vy_pb_encode(codec, cells, at));
}

static void write_geodetic(vy_recorder *r, uint32_t drone, const drone_block *d, uint64_t tick)
{
    const body_state *b = &d->body;
    const vy_geodetic g =
        vy_geodetic_of(&r->planet, (double)tick * r->dt, b->position, b->velocity, b->attitude);
    unsigned char *at =
        vy_mcap_writer_begin(r->writer, r->geodetic[drone], r->sequence++, vy_log_time(tick, r->dt),
                             vy_pb_codec_size_max(r->geodetic_codec), &r->error);
    if (at != NULL) vy_mcap_writer_end(r->writer, vy_pb_encode(r->geodetic_codec, &g, at));
}

static void write_display(vy_recorder *r, const vy_world *world)
{
    vy_display_write(r->display, world, vy_log_time(world->state->tick, r->dt), &r->sequence, &r->error);
}

// Where drone `i` has what stream `s` tells; NULL: there is nothing to write now. All but the truth, the
// estimate and what drives are written when they are new.
static const void *stream_block(const vy_world *world, uint32_t i, int s)
{
    const uint64_t tick = world->state->tick;
    const drone_block *d = &world->drones[i];
    if (!has_stream(world, i, s)) return NULL;
    if (s == STREAM_IMU && d->imu_tick != tick) return NULL;
    if (s == STREAM_MOCAP && d->mocap_tick != tick) return NULL;
    if (s == STREAM_CONTROL && tick > 0 && !due(tick, world->model.drones[i].rate_period)) return NULL;
    if (s == STREAM_BATTERY) return tick > 0 ? &world->gear[i] : NULL;
    if (s == STREAM_THRUSTERS) return tick > 0 ? &world->thrusters[i] : NULL;
    if (s == STREAM_TOUCH) return &world->touches[i];
    if (s < STREAM_KIT || s == STREAM_TRUTH) return d;
    const kit_block *kit = &world->kits[world->model.drones[i].kit - 1];
    return tick > 0 && kit->ticks[s - STREAM_KIT] == tick ? kit : NULL;
}

static void write_drones(vy_recorder *r, const vy_world *world)
{
    const uint64_t tick = world->state->tick;
    const uint64_t time = vy_log_time(tick, r->dt);
    for (uint32_t i = 0; i < r->drone_count && !failed(r); ++i) {
        const drone_block *d = &world->drones[i];
        if (r->geodetic_codec != NULL) write_geodetic(r, i, d, tick);
        for (int s = 0; s < DRONE_STREAM_COUNT; ++s) {
            const void *block = stream_block(world, i, s);
            if (block == NULL) continue;
            write_stream(r, i, s, r->codecs[stream_length(world, i, s)][s], block, time);
        }
    }
}

static void write_joints(vy_recorder *r, const vy_world *world)
{
    const uint64_t time = vy_log_time(world->state->tick, r->dt);
    for (uint32_t k = 0; k < world->model.joint_count && !failed(r); ++k) {
        vy_joint_state state;
        if (vy_world_read_joint(world, vy_world_joint(world, k), &state) != VY_OK) continue;
        const joint_cells cells = vy_joint_pack(&state);
        unsigned char *at = vy_mcap_writer_begin(r->writer, r->joints[k], r->sequence++, time,
                                                 vy_pb_codec_size_max(r->joint_codec), &r->error);
        if (at != NULL) vy_mcap_writer_end(r->writer, vy_pb_encode(r->joint_codec, &cells, at));
    }
}

// A JSON string with everything escaped that must be.
static void put_json(char *out, size_t room, const char *text)
{
    size_t n = 0;
    for (; *text != '\0' && n + 8 < room; ++text) {
        const unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\') {
            out[n++] = '\\';
            out[n++] = (char)c;
        } else if (c < 0x20) {
            n += (size_t)snprintf(out + n, room - n, "\\u%04x", c);
        } else {
            out[n++] = (char)c;
        }
    }
    out[n] = '\0';
}

static void write_event(vy_recorder *r, uint64_t tick, const char *kind, const char *drone, const char *text)
{
    char json[1024], escaped[3][300];
    put_json(escaped[0], sizeof escaped[0], kind);
    put_json(escaped[1], sizeof escaped[1], drone);
    put_json(escaped[2], sizeof escaped[2], text);
    const int size =
        snprintf(json, sizeof json,
                 "{\"tick\":%" PRIu64 ",\"time\":%.9g,\"kind\":\"%s\",\"drone\":\"%s\",\"text\":\"%s\"}",
                 tick, (double)tick * r->dt, escaped[0], escaped[1], escaped[2]);
    const uint64_t when = vy_log_time(tick, r->dt);
    (void)vy_mcap_writer_message(r->writer, r->events, r->sequence++, when, json, (size_t)size, &r->error);
    if (r->display != NULL && !failed(r))
        vy_display_event(r->display, when, &r->sequence, kind, drone, text, &r->error);
}

static void note_failure(vy_recorder *r, const vy_world *world)
{
    const vy_failure f = vy_world_failure(world);
    char text[200];
    if (f.reason == VY_FAILURE_NOT_FINITE) {
        snprintf(text, sizeof text, "%s is not finite", f.what);
    } else if (f.reason == VY_FAILURE_COMMAND) {
        snprintf(text, sizeof text, "%s is not finite or of no known rung", f.what);
    } else if (f.reason == VY_FAILURE_CONTROLLER) {
        snprintf(text, sizeof text, "the controller %s (%.0f)", f.what, f.value);
    } else {
        snprintf(text, sizeof text, "%s %.6g, allowed %.6g", f.what, f.value, f.limit);
    }
    write_event(r, f.tick, "failure", f.drone < r->drone_count ? r->names[f.drone] : "", text);
    r->failure_noted = 1;
}

// Contacts: each in the stream when it begins or ends and with the other records; begins, ends and crashes
// are events.
static void note_contacts(vy_recorder *r, const vy_world *world)
{
    const uint64_t tick = world->state->tick;
    const uint32_t count = vy_world_contact_count(world);
    for (uint32_t k = 0; k < count && !failed(r); ++k) {
        vy_contact_event e;
        char text[160];
        (void)vy_world_contact(world, k, &e);
        const int crash = e.severity >= 1.0;
        if (e.phase == VY_CONTACT_PERSIST && !crash && tick % r->every != 0) continue;
        const contact_cells cells = vy_contact_pack(tick, r->drone_count, &e);
        unsigned char *at =
            vy_mcap_writer_begin(r->writer, r->contacts, r->sequence++, vy_log_time(tick, r->dt),
                                 vy_pb_codec_size_max(r->contact_codec), &r->error);
        if (at != NULL) vy_mcap_writer_end(r->writer, vy_pb_encode(r->contact_codec, &cells, at));
        const char *other = r->bodies[cells.other], *name = r->names[e.drone];
        if (e.phase == VY_CONTACT_END) {
            snprintf(text, sizeof text, "with %s ends", other);
        } else {
            snprintf(text, sizeof text, "with %s %s at %.3g m/s, %.3g N s", other,
                     e.phase == VY_CONTACT_BEGIN ? "begins" : "goes on", e.speed,
                     real_sqrt(vec3_dot(e.impulse, e.impulse)));
        }
        if (e.phase != VY_CONTACT_PERSIST) write_event(r, tick, "contact", name, text);
        if (!crash) continue;
        snprintf(text, sizeof text, "against %s at %.3g m/s, %.3g N s: severity %.3g", other, e.speed,
                 real_sqrt(vec3_dot(e.impulse, e.impulse)), e.severity);
        write_event(r, tick, "crash", name, text);
    }
}

// Decisions of the negligibility policy, when they change.
static void note_effects(vy_recorder *r, const vy_world *world)
{
    for (uint32_t i = 0; i < r->drone_count; ++i) {
        const uint64_t now = world->drones[i].effects, change = now ^ r->effects[i];
        if (change == 0) continue;
        r->effects[i] = now;
        char text[250] = "";
        size_t n = 0;
        for (int k = 0; k < EFFECT_COUNT && n + 40 < sizeof text; ++k) {
            if ((change >> k & 1) == 0) continue;
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%s %s", n > 0 ? ", " : "", vy_effect_name(k),
                                  now >> k & 1 ? "computed" : "neglected");
        }
        write_event(r, world->state->tick, "nap", r->names[i], text);
    }
}

// Faults, when they begin and end.
static void note_faults(vy_recorder *r, const vy_world *world)
{
    const uint32_t count = world->model.fault_count;
    for (uint32_t i = 0; i < r->drone_count; ++i) {
        for (uint32_t k = 0; k < count; ++k) {
            const int now = vy_world_fault_acts(world, vy_world_drone(world, i), k);
            unsigned char *before = &r->faults[(size_t)i * count + k];
            if (now == *before) continue;
            *before = (unsigned char)now;
            const vy_fault_def *def = &world->model.faults[k].def;
            char text[100], which[24] = "";
            if (def->kind <= VY_FAULT_MOTOR_MAX && def->rotor >= 0)
                snprintf(which, sizeof which, " of rotor %d", def->rotor);
            if (def->kind >= VY_FAULT_SENSOR_BIAS && def->kind <= VY_FAULT_SENSOR_DELAY)
                snprintf(which, sizeof which, " of %s", vy_channel_name(def->channel));
            snprintf(text, sizeof text, "%s%s %s", vy_fault_name(def->kind), which, now ? "begins" : "ends");
            write_event(r, world->state->tick, "fault", r->names[i], text);
        }
    }
}

static void note_failsafe(vy_recorder *r, uint64_t tick, uint32_t drone, const guard_block *g)
{
    static const char *const names[] = {"none", "hold", "land", "cut"};
    guard_note *n = &r->guards[drone];
    char text[160];
    if (g->handovers != n->handovers) {
        const char *name = names[g->failsafe % 4];
        if (g->cause == VY_HANDOVER_CONTROLLER)
            snprintf(text, sizeof text, "%s: the controller %s (%d)", name,
                     vy_verdict_text((vy_verdict)g->verdict), (int)(int64_t)g->detail);
        else
            snprintf(text, sizeof text, "%s: %s", name,
                     g->cause == VY_HANDOVER_COMMAND ? "the controller's reply is no command"
                                                     : "no fresh intent within the deadline");
    } else if (g->failsafe != n->failsafe) {
        snprintf(text, sizeof text, "%s",
                 g->failsafe == VY_FAILSAFE_CUT ? "landed: motors off" : "over: a fresh intent has come");
    } else {
        return;
    }
    write_event(r, tick, "failsafe", r->names[drone], text);
}

// A count has grown from what was told of it: an event is due when it does so after a second of rest.
static int grows(const vy_recorder *r, uint64_t tick, uint64_t now, uint64_t *told, uint64_t *last)
{
    if (now == *told) return 0;
    const int begins = *told == 0 || tick - *last >= (uint64_t)(1.0 / r->dt) + 1;
    *told = now;
    *last = tick;
    return begins;
}

// What a declared drive does: limits when they begin to act after a second of rest, the failsafe, lost
// rotors.
static void note_guards(vy_recorder *r, const vy_world *world)
{
    const uint64_t tick = world->state->tick;
    for (uint32_t i = 0; i < r->drone_count; ++i) {
        const guard_block *g = &world->guards[i];
        guard_note *n = &r->guards[i];
        char text[100];
        for (int k = 0; k < VY_DRIVE_LIMIT_COUNT; ++k) {
            if (!grows(r, tick, g->acted[k], &n->acted[k], &n->last[k])) continue;
            snprintf(text, sizeof text, "the drive's limit of %s acts",
                     vy_drive_limit_name((vy_drive_limit)k));
            write_event(r, tick, "limit", r->names[i], text);
        }
        for (int k = 0; k < VY_ROTOR_CAP; ++k) {
            if (!((g->lost & ~n->lost) >> k & 1)) continue;
            snprintf(text, sizeof text, "rotor %d does not follow: the allocation does without it", k);
            write_event(r, tick, "rotor_lost", r->names[i], text);
        }
        note_failsafe(r, tick, i, g);
        n->failsafe = g->failsafe;
        n->handovers = g->handovers;
        n->lost = g->lost;
    }
}

// A branch tells what changes from its first moment on.
static void start_guards(vy_recorder *r, const vy_world *world)
{
    for (uint32_t i = 0; i < r->drone_count; ++i) {
        guard_note *n = &r->guards[i];
        vy_gate_state gate = {0};
        (void)vy_world_read_gate(world, vy_world_drone(world, i), &gate);
        memcpy(n->rejected, gate.rejected, sizeof gate.rejected);
        if (!world->model.guarded || world->state->tick == 0) continue;
        const guard_block *g = &world->guards[i];
        n->failsafe = g->failsafe;
        n->handovers = g->handovers;
        n->lost = g->lost;
        memcpy(n->acted, g->acted, sizeof n->acted);
    }
}

// Payloads, when they are taken up, missed or let go.
static void note_payloads(vy_recorder *r, const vy_world *world)
{
    for (uint32_t k = 0; k < world->model.payload_count; ++k) {
        const payload_model *p = &world->model.payloads[k];
        const payload_block *now = &world->payloads[k];
        const uint64_t state = now->carried | now->missed << 1, change = state ^ r->payloads[k];
        r->payloads[k] = state;
        if (change == 0) continue;
        char text[VY_NAME_CAP + 40];
        snprintf(text, sizeof text, "%s %s", r->names[p->load],
                 change & 2     ? "is out of reach and is not taken up"
                 : now->carried ? "is taken up"
                                : "is dropped");
        write_event(r, world->state->tick, "payload", r->names[p->carrier], text);
    }
}

// Samples that a filter rejects.
static void note_gates(vy_recorder *r, const vy_world *world)
{
    for (uint32_t i = 0; i < r->drone_count; ++i) {
        vy_gate_state g = {0};
        guard_note *n = &r->guards[i];
        (void)vy_world_read_gate(world, vy_world_drone(world, i), &g);
        for (int k = 0; k < VY_GATED_COUNT; ++k) {
            if (!grows(r, world->state->tick, g.rejected[k], &n->rejected[k], &n->last_rejected[k])) continue;
            char text[64];
            snprintf(text, sizeof text, "samples of %s are rejected", vy_gated_name((vy_gated)k));
            write_event(r, world->state->tick, "gate", r->names[i], text);
        }
    }
}

static int take_step(void *self, const vy_world *world)
{
    vy_recorder *r = self;
    if (failed(r)) return 1;
    const uint64_t tick = world->state->tick;
    if ((tick - 1) % world->model.nap_period == 0) note_effects(r, world);
    if (world->model.fault_count > 0) note_faults(r, world);
    if (world->model.payload_count > 0) note_payloads(r, world);
    if (world->model.guarded) note_guards(r, world);
    if (world->model.gate_count > 0) note_gates(r, world);
    if (r->contact_codec != NULL) note_contacts(r, world);
    if (r->batch_count == 0) r->batch_first = tick;
    r->batch[r->batch_count++] = world->state->chain;

    const int ended = world->state->failure_reason != VY_FAILURE_NONE;
    const int state_due = tick % r->snapshot == 0;
    if (tick % r->every == 0 || ended) {
        write_joints(r, world);
        write_drones(r, world);
    }
    if (r->display != NULL && tick % r->display_every == 0 && !failed(r)) write_display(r, world);
    if (r->batch_count == HASH_BATCH || state_due || ended) write_hashes(r);
    // A state that is not finite is told by the event; its values would differ from machine to machine.
    if (state_due && world->state->failure_reason != VY_FAILURE_NOT_FINITE) write_state(r, world);
    if (ended && !r->failure_noted) note_failure(r, world);
    return failed(r);
}

static int take_reply(void *self, const vy_world *world, uint32_t drone, const vy_intent *intent)
{
    vy_recorder *r = self;
    if (failed(r)) return 1;
    const uint64_t tick = world->state->tick;
    const reply_cells cells = vy_reply_pack(tick, drone, intent);
    const size_t room = vy_pb_codec_size_max(r->reply_codec);
    unsigned char *at =
        vy_mcap_writer_begin(r->writer, r->replies, r->sequence++, vy_log_time(tick, r->dt), room, &r->error);
    if (at == NULL) return 1;
    vy_mcap_writer_end(r->writer, vy_pb_encode(r->reply_codec, &cells, at));
    return 0;
}

// A full state at the moment of the change: replay steps by its integrator from there on.
static int take_change(void *self, const vy_world *world)
{
    vy_recorder *r = self;
    if (failed(r)) return 1;
    write_hashes(r);
    if (!failed(r)) write_state(r, world);
    if (!failed(r))
        write_event(r, world->state->tick, "integrator", "", vy_integrator_name(vy_world_integrator(world)));
    return failed(r);
}

static void release(vy_recorder *r)
{
    for (int n = 0; n <= VY_ROTOR_CAP; ++n) {
        for (int s = 0; s < DRONE_STREAM_COUNT; ++s) vy_pb_codec_destroy(r->codecs[n][s]);
    }
    vy_pb_codec_destroy(r->reply_codec);
    vy_pb_codec_destroy(r->geodetic_codec);
    vy_display_destroy(r->display);
    vy_pb_codec_destroy(r->joint_codec);
    vy_pb_codec_destroy(r->contact_codec);
    free(r->bodies);
    free(r->joints);
    free(r->geodetic);
    free(r->effects);
    free(r->faults);
    free(r->payloads);
    free(r->guards);
    for (uint32_t i = 0; r->names != NULL && i < r->drone_count; ++i) free(r->names[i]);
    free(r->names);
    free(r->drones);
    free(r);
}

static vy_status copy_names(vy_recorder *r, const vy_recorder_def *def, uint32_t fault_count,
                            uint32_t payload_count, vy_error *err)
{
    r->names = calloc(r->drone_count + 1u, sizeof r->names[0]);
    r->drones = calloc(r->drone_count + 1u, sizeof r->drones[0]);
    r->geodetic = calloc(r->drone_count + 1u, sizeof r->geodetic[0]);
    r->effects = calloc(r->drone_count + 1u, sizeof r->effects[0]);
    r->faults = calloc((size_t)r->drone_count * fault_count + 1u, sizeof r->faults[0]);
    r->guards = calloc(r->drone_count + 1u, sizeof r->guards[0]);
    r->payloads = calloc(payload_count + 1u, sizeof r->payloads[0]);
    if (r->names == NULL || r->drones == NULL || r->geodetic == NULL || r->effects == NULL ||
        r->faults == NULL || r->guards == NULL || r->payloads == NULL)
        return vy_fail(err, VY_NO_MEMORY, "log: out of memory");
    for (uint32_t i = 0; i < r->drone_count; ++i) {
        const size_t size = strlen(def->drone_names[i]) + 1;
        if (size > VY_NAME_CAP)
            return vy_fail(err, VY_BAD_VALUE, "log: the name of drone %" PRIu32 " is too long", i);
        r->names[i] = malloc(size);
        if (r->names[i] == NULL) return vy_fail(err, VY_NO_MEMORY, "log: out of memory");
        memcpy(r->names[i], def->drone_names[i], size);
    }
    return VY_OK;
}

vy_status vy_recorder_open(const vy_recorder_def *def, const vy_world *world, vy_recorder **out,
                           vy_error *err)
{
    *out = NULL;
    if (def->cookie != RECORDER_COOKIE || def->path == NULL || def->scenario == NULL || def->every == 0 ||
        def->snapshot == 0 || (def->drone_names == NULL && world->model.drone_count > 0)) {
        return vy_fail(err, VY_BAD_VALUE, "log: start from vy_default_recorder_def() and fill every field");
    }
    vy_recorder *r = calloc(1, sizeof *r);
    if (r == NULL) return vy_fail(err, VY_NO_MEMORY, "log: out of memory");
    r->dt = world->model.dt;
    r->every = def->every;
    r->snapshot = def->snapshot;
    r->display_every = def->display;
    r->drone_count = world->model.drone_count;
    r->planet = world->model.planet;
    vy_status status = copy_names(r, def, world->model.fault_count, world->model.payload_count, err);
    if (status == VY_OK) status = vy_file_sink_open(def->path, NULL, &r->file, err);
    if (status == VY_OK) {
        vy_mcap_writer_def writer = vy_default_mcap_writer_def();
        writer.library = "volery " VY_VERSION;
        writer.compression = def->compress ? VY_MCAP_ZSTD : VY_MCAP_NONE;
        writer.threaded = true;
        status = vy_mcap_writer_open(&writer, vy_file_sink_bytes(r->file), &r->writer, err);
    }
    if (status == VY_OK) status = add_channels(r, def, world, err);
    if (status == VY_OK) status = write_head(r, def, world, err);
    if (status == VY_OK) {
        for (uint32_t i = 0; i < r->drone_count; ++i) r->effects[i] = world->drones[i].effects;
        for (uint32_t k = 0; k < world->model.payload_count; ++k)
            r->payloads[k] = world->payloads[k].carried | world->payloads[k].missed << 1;
        start_guards(r, world);
        write_state(r, world);
        write_joints(r, world);
        write_drones(r, world);
        if (r->display != NULL) {
            vy_display_shapes(r->display, world, vy_log_time(world->state->tick, r->dt), &r->sequence,
                              &r->error);
            write_display(r, world);
        }
        status = r->error.status;
        if (failed(r) && err != NULL) *err = r->error;
    }
    if (status != VY_OK) {
        (void)vy_mcap_writer_close(r->writer, NULL);
        vy_file_sink_discard(r->file);
        release(r);
        return status;
    }
    *out = r;
    return VY_OK;
}

vy_sink vy_recorder_sink(vy_recorder *recorder)
{
    return (vy_sink){.self = recorder, .write = take_step, .reply = take_reply, .change = take_change};
}

void vy_recorder_note(vy_recorder *recorder, const vy_world *world, const char *kind, const char *text)
{
    if (!failed(recorder)) write_event(recorder, world->state->tick, kind, "", text);
}

vy_status vy_recorder_close(vy_recorder *r, const vy_world *world, const char *status_word, vy_error *err)
{
    if (!failed(r)) write_hashes(r);
    const int finite = world->state->failure_reason != VY_FAILURE_NOT_FINITE;
    if (!failed(r) && r->last_state != world->state->tick && finite) write_state(r, world);
    if (!failed(r)) {
        char tick[32], hash[32];
        snprintf(tick, sizeof tick, "%" PRIu64, world->state->tick);
        snprintf(hash, sizeof hash, "%016" PRIx64, world->state->chain);
        const vy_mcap_pair pairs[] = {{"status", status_word}, {"last_tick", tick}, {"final_hash", hash}};
        (void)vy_mcap_writer_metadata(r->writer, METADATA_RESULT, pairs, 3, &r->error);
    }
    vy_error error = r->error;
    vy_status status = r->error.status;
    const vy_status closed = vy_mcap_writer_close(r->writer, status == VY_OK ? &error : NULL);
    if (status == VY_OK) status = closed;
    if (status == VY_OK) {
        status = vy_file_sink_commit(r->file, &error);
    } else {
        vy_file_sink_abandon(r->file);
    }
    release(r);
    if (status != VY_OK && err != NULL) *err = error;
    return status;
}

void vy_recorder_abandon(vy_recorder *r)
{
    if (r == NULL) return;
    (void)vy_mcap_writer_close(r->writer, NULL);
    vy_file_sink_abandon(r->file);
    release(r);
}
