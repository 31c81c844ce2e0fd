// stream_writer.c - drones, bodies, joints and contacts as streams of a log.
#include "record/stream_writer.h"
#include "base/assert.h"
#include "base/fail.h"
#include "record/streams.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

_Static_assert(offsetof(drone_block, body) == 0 && offsetof(body_block, body) == 0,
               "the truth of both begins with their motion");

struct stream_writer {
    log_output *output;
    uint16_t (*drones)[DRONE_STREAM_CAP];                    // channels; 0: none
    vy_pb_codec *codecs[VY_ROTOR_CAP + 1][DRONE_STREAM_CAP]; // by length
    size_t offsets[DRONE_STREAM_CAP];
    double (*earlier)[STREAM_RATE_CELLS]; // of each body, what the stream of a rate read at the last record
    uint64_t earlier_tick;
    int has_earlier;  // there was a record
    uint16_t *joints; // channels
    char (*joint_names)[VY_NAME_CAP];
    vy_pb_codec *joint_codec;
    uint16_t contacts; // the channel, where things collide
    vy_pb_codec *contact_codec;
    char (*bodies)[VY_NAME_CAP]; // names of drones, bodies, then of obstacles, likewise
};

static int has_stream(const vy_world *world, uint32_t i, int s)
{
    const drone_stream *stream = &vy_drone_streams[s];
    if (i >= world->model.drone_count && !stream->bodies) return 0;
    return stream->has == NULL || stream->has(world, i, stream);
}

static int stream_length(const vy_world *world, uint32_t i, int s)
{
    if (i >= world->model.drone_count) return 0;
    const rotor_layout *layout = &world->model.drones[i].layout;
    return vy_drone_streams[s].length != NULL ? vy_drone_streams[s].length(layout) : layout->count;
}

// The streams of all drones and bodies share one schema per stream; lists are as long as there are rotors.
static vy_status add_stream(stream_writer *w, const vy_world *world, int s, vy_error *err)
{
    log_output *o = w->output;
    stream_layout layout;
    uint32_t first = 0;
    while (first < o->body_count && !has_stream(world, first, s)) ++first;
    if (first == o->body_count) return VY_OK;
    vy_stream_layout(s, VY_ROTOR_CAP, &layout);
    w->offsets[s] = layout.offset;
    uint16_t schema = 0;
    vy_status status = vy_output_schema(o, &layout.message, &schema, err);
    for (uint32_t i = first; i < o->body_count && status == VY_OK; ++i) {
        if (!has_stream(world, i, s)) continue;
        const int length = stream_length(world, i, s);
        VY_ASSERT(length >= 0 && length <= VY_ROTOR_CAP);
        if (w->codecs[length][s] == NULL) {
            vy_stream_layout(s, length, &layout);
            status = vy_pb_codec_create(&layout.message, &w->codecs[length][s], err);
        }
        char topic[VY_NAME_CAP + 40], count[16];
        snprintf(topic, sizeof topic, "/%s/%s/%s", output_topic_root(o, i), o->names[i],
                 vy_drone_streams[s].name);
        snprintf(count, sizeof count, "%d", length);
        const vy_mcap_pair pair = {"rotors", count};
        if (status == VY_OK) status = vy_output_channel(o, topic, schema, &pair, 1, &w->drones[i][s], err);
    }
    return status;
}

// The streams of joints; metadata say what each holds, in order of its ends.
static vy_status add_joints(stream_writer *w, const vy_world *world, const char *const *names, vy_error *err)
{
    const log_output *o = w->output;
    uint16_t schema = 0;
    vy_status status = vy_output_schema(w->output, &vy_message_joint, &schema, err);
    if (status == VY_OK) status = vy_pb_codec_create(&vy_message_joint, &w->joint_codec, err);
    for (uint32_t k = 0; k < world->model.joint_count && status == VY_OK; ++k) {
        const uint32_t *body = world->bodies->joints->slots[k].body;
        char topic[VY_NAME_CAP + 40], number[24];
        snprintf(number, sizeof number, "joint%" PRIu32, k);
        snprintf(w->joint_names[k], VY_NAME_CAP, "%s", names != NULL ? names[k] : number);
        snprintf(topic, sizeof topic, "/joints/%.*s", VY_NAME_CAP, w->joint_names[k]);
        const vy_mcap_pair ends[2] = {{"a", body[0] < o->body_count ? o->names[body[0]] : "world"},
                                      {"b", body[1] < o->body_count ? o->names[body[1]] : "world"}};
        status = vy_output_channel(w->output, topic, schema, ends, 2, &w->joints[k], err);
    }
    return status;
}

// The stream of contacts; its metadata name the colliders: drones, bodies, then obstacles.
static vy_status add_contacts(stream_writer *w, uint32_t count, const char *const *obstacles, vy_error *err)
{
    const uint32_t bodies = w->output->body_count;
    vy_mcap_pair *pairs = calloc(count + 1u, sizeof *pairs);
    char(*numbers)[12] = calloc(count + 1u, sizeof *numbers);
    uint16_t schema = 0;
    vy_status status = VY_NO_MEMORY;
    if (pairs != NULL && numbers != NULL) {
        for (uint32_t i = 0; i < count; ++i) {
            const uint32_t k = i - bodies; // of an obstacle
            if (i < bodies || obstacles != NULL)
                snprintf(w->bodies[i], VY_NAME_CAP, "%s", i < bodies ? w->output->names[i] : obstacles[k]);
            else
                snprintf(w->bodies[i], VY_NAME_CAP, "obstacle%" PRIu32, k);
            snprintf(numbers[i], sizeof numbers[i], "%" PRIu32, i);
            pairs[i] = (vy_mcap_pair){numbers[i], w->bodies[i]};
        }
        status = vy_output_schema(w->output, &vy_message_contact, &schema, err);
    }
    if (status == VY_OK)
        status = vy_output_channel(w->output, TOPIC_CONTACTS, schema, pairs, count, &w->contacts, err);
    if (status == VY_OK) status = vy_pb_codec_create(&vy_message_contact, &w->contact_codec, err);
    free(numbers);
    free(pairs);
    return status == VY_NO_MEMORY ? vy_fail(err, status, "log: out of memory") : status;
}

vy_status vy_stream_writer_open(log_output *output, const vy_world *world, const char *const *joints,
                                const char *const *obstacles, stream_writer **out, vy_error *err)
{
    *out = NULL;
    const uint32_t solids = output->body_count + world->model.obstacle_count;
    stream_writer *w = calloc(1, sizeof *w);
    if (w == NULL) return vy_fail(err, VY_NO_MEMORY, "log: out of memory");
    w->output = output;
    w->drones = calloc(output->body_count + 1u, sizeof *w->drones);
    w->joints = calloc(world->model.joint_count + 1u, sizeof *w->joints);
    w->joint_names = calloc(world->model.joint_count + 1u, sizeof *w->joint_names);
    w->bodies = calloc(solids + 1u, sizeof *w->bodies);
    w->earlier = calloc(output->body_count + 1u, sizeof *w->earlier);
    vy_status status = VY_OK;
    if (w->drones == NULL || w->joints == NULL || w->joint_names == NULL || w->bodies == NULL ||
        w->earlier == NULL)
        status = vy_fail(err, VY_NO_MEMORY, "log: out of memory");
    for (int s = 0; s < vy_drone_stream_count && status == VY_OK; ++s) status = add_stream(w, world, s, err);
    if (status == VY_OK && world->model.joint_count > 0) status = add_joints(w, world, joints, err);
    if (status == VY_OK && world->model.collides) status = add_contacts(w, solids, obstacles, err);
    if (status != VY_OK) {
        vy_stream_writer_close(w);
        return status;
    }
    *out = w;
    return VY_OK;
}

void vy_stream_writer_close(stream_writer *w)
{
    if (w == NULL) return;
    for (int n = 0; n <= VY_ROTOR_CAP; ++n) {
        for (int s = 0; s < vy_drone_stream_count; ++s) vy_pb_codec_destroy(w->codecs[n][s]);
    }
    vy_pb_codec_destroy(w->joint_codec);
    vy_pb_codec_destroy(w->contact_codec);
    free(w->earlier);
    free(w->bodies);
    free(w->joints);
    free(w->joint_names);
    free(w->drones);
    free(w);
}

// The mean rate of change of `values` since the record before; NULL at the first.
static const void *rate_of_change(stream_writer *w, const vy_world *world, uint32_t i, const double *values,
                                  double *cells)
{
    double *before = w->earlier[i];
    const uint64_t ticks = world->state->tick - w->earlier_tick;
    const int has_rate = w->has_earlier && ticks > 0;
    for (int k = 0; k < STREAM_RATE_CELLS; ++k) {
        if (has_rate) cells[k] = (values[k] - before[k]) / ((double)ticks * w->output->dt);
        before[k] = values[k];
    }
    return has_rate ? cells : NULL;
}

static void write_bodies(stream_writer *w, const vy_world *world)
{
    const uint64_t time = vy_log_time(world->state->tick, w->output->dt);
    for (uint32_t i = 0; i < w->output->body_count && !output_failed(w->output); ++i) {
        for (int s = 0; s < vy_drone_stream_count; ++s) {
            if (w->drones[i][s] == 0) continue; // it has no such thing
            double cells[STREAM_CELLS_CAP];
            const drone_stream *stream = &vy_drone_streams[s];
            const void *block = stream->read(world, i, stream, cells);
            if (block != NULL && stream->rate) block = rate_of_change(w, world, i, block, cells);
            if (block == NULL) continue;
            const vy_pb_codec *codec = w->codecs[stream_length(world, i, s)][s];
            VY_ASSERT(codec != NULL);
            vy_output_encode(w->output, w->drones[i][s], time, codec, (const char *)block + w->offsets[s]);
        }
    }
}

static void write_joints(stream_writer *w, const vy_world *world)
{
    const uint64_t time = vy_log_time(world->state->tick, w->output->dt);
    for (uint32_t k = 0; k < world->model.joint_count && !output_failed(w->output); ++k) {
        vy_joint_state state;
        if (vy_world_read_joint(world, vy_world_joint(world, k), &state) != VY_OK) continue;
        const joint_cells cells = vy_joint_pack(&state);
        vy_output_encode(w->output, w->joints[k], time, w->joint_codec, &cells);
    }
}

void vy_stream_writer_write(stream_writer *w, const vy_world *world)
{
    write_joints(w, world);
    write_bodies(w, world);
    w->earlier_tick = world->state->tick;
    w->has_earlier = 1;
}

const char *vy_stream_writer_contact(stream_writer *w, uint64_t tick, const vy_contact_event *event)
{
    const contact_cells cells = vy_contact_pack(tick, w->output->body_count, event);
    VY_ASSERT(w->contacts > 0 && w->bodies[cells.other][0] != '\0');
    vy_output_encode(w->output, w->contacts, vy_log_time(tick, w->output->dt), w->contact_codec, &cells);
    return w->bodies[cells.other];
}

const char *vy_stream_writer_joint(const stream_writer *w, uint32_t index) { return w->joint_names[index]; }

const char *vy_stream_writer_obstacle(const stream_writer *w, int index)
{
    VY_ASSERT(w->contacts > 0 && index >= 0);
    return w->bodies[w->output->body_count + (uint32_t)index];
}
