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
    uint16_t (*stream_channels)[DRONE_STREAM_CAP];           // channels; 0: none
    vy_pb_codec *codecs[VY_ROTOR_CAP + 1][DRONE_STREAM_CAP]; // by length
    size_t offsets[DRONE_STREAM_CAP];                        // of the first cell of each stream in its block
    double (*previous_values)[STREAM_RATE_CELLS]; // of each body, what the stream of a rate read at the last
                                                  // record
    uint64_t previous_tick;
    int has_previous; // there was a record
    uint16_t *joint_channels;
    char (*joint_names)[VY_NAME_CAP];
    vy_pb_codec *joint_codec;
    uint16_t contact_channel; // 0: none; there is one where things collide
    vy_pb_codec *contact_codec;
    char (*collider_names)[VY_NAME_CAP]; // names of drones, bodies, then of obstacles, likewise
};

static int has_stream(const vy_world *world, uint32_t i, int s)
{
    const drone_stream *stream = &vy_drone_streams[s];
    if (i >= world->model.drone_count && !stream->has_bodies) return 0;
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
    uint32_t first_body = 0;
    while (first_body < o->body_count && !has_stream(world, first_body, s)) ++first_body;
    if (first_body == o->body_count) return VY_OK;
    vy_stream_layout(s, VY_ROTOR_CAP, &layout);
    w->offsets[s] = layout.offset;
    uint16_t schema = 0;
    vy_status status = vy_output_add_schema(o, &layout.message, &schema, err);
    for (uint32_t i = first_body; i < o->body_count && status == VY_OK; ++i) {
        if (!has_stream(world, i, s)) continue;
        const int length = stream_length(world, i, s);
        VY_ASSERT(length >= 0 && length <= VY_ROTOR_CAP);
        if (w->codecs[length][s] == NULL) {
            vy_stream_layout(s, length, &layout);
            status = vy_pb_codec_create(&layout.message, &w->codecs[length][s], err);
        }
        char topic[VY_NAME_CAP + 40], length_text[16];
        snprintf(topic, sizeof topic, "/%s/%s/%s", output_topic_root(o, i), o->names[i],
                 vy_drone_streams[s].name);
        snprintf(length_text, sizeof length_text, "%d", length);
        const vy_mcap_pair pair = {"rotors", length_text};
        if (status == VY_OK)
            status = vy_output_add_channel(o, topic, schema, &pair, 1, &w->stream_channels[i][s], err);
    }
    return status;
}

// The streams of joints; metadata say what each holds, in order of its ends.
static vy_status add_joints(stream_writer *w, const vy_world *world, const char *const *names, vy_error *err)
{
    const log_output *o = w->output;
    uint16_t schema = 0;
    vy_status status = vy_output_add_schema(w->output, &vy_message_joint, &schema, err);
    if (status == VY_OK) status = vy_pb_codec_create(&vy_message_joint, &w->joint_codec, err);
    for (uint32_t k = 0; k < world->model.joint_count && status == VY_OK; ++k) {
        const uint32_t *body = world->bodies->joints->slots[k].body;
        char topic[VY_NAME_CAP + 40], default_name[24];
        snprintf(default_name, sizeof default_name, "joint%" PRIu32, k);
        snprintf(w->joint_names[k], VY_NAME_CAP, "%s", names != NULL ? names[k] : default_name);
        snprintf(topic, sizeof topic, "/joints/%.*s", VY_NAME_CAP, w->joint_names[k]);
        const vy_mcap_pair ends[2] = {{"a", body[0] < o->body_count ? o->names[body[0]] : "world"},
                                      {"b", body[1] < o->body_count ? o->names[body[1]] : "world"}};
        status = vy_output_add_channel(w->output, topic, schema, ends, 2, &w->joint_channels[k], err);
    }
    return status;
}

// The stream of contacts; its metadata name the colliders: drones, bodies, then obstacles.
static vy_status add_contacts(stream_writer *w, uint32_t collider_count, const char *const *obstacle_names,
                              vy_error *err)
{
    const uint32_t body_count = w->output->body_count;
    vy_mcap_pair *pairs = calloc(collider_count + 1u, sizeof *pairs);
    char(*number_texts)[12] = calloc(collider_count + 1u, sizeof *number_texts);
    uint16_t schema = 0;
    vy_status status = VY_NO_MEMORY;
    if (pairs != NULL && number_texts != NULL) {
        for (uint32_t i = 0; i < collider_count; ++i) {
            const uint32_t k = i - body_count; // of an obstacle
            if (i < body_count || obstacle_names != NULL)
                snprintf(w->collider_names[i], VY_NAME_CAP, "%s",
                         i < body_count ? w->output->names[i] : obstacle_names[k]);
            else
                snprintf(w->collider_names[i], VY_NAME_CAP, "obstacle%" PRIu32, k);
            snprintf(number_texts[i], sizeof number_texts[i], "%" PRIu32, i);
            pairs[i] = (vy_mcap_pair){number_texts[i], w->collider_names[i]};
        }
        status = vy_output_add_schema(w->output, &vy_message_contact, &schema, err);
    }
    if (status == VY_OK)
        status = vy_output_add_channel(w->output, TOPIC_CONTACTS, schema, pairs, collider_count,
                                       &w->contact_channel, err);
    if (status == VY_OK) status = vy_pb_codec_create(&vy_message_contact, &w->contact_codec, err);
    free(number_texts);
    free(pairs);
    return status == VY_NO_MEMORY ? vy_fail(err, status, "log: out of memory") : status;
}

vy_status vy_stream_writer_open(log_output *output, const vy_world *world, const char *const *joint_names,
                                const char *const *obstacle_names, stream_writer **out, vy_error *err)
{
    *out = NULL;
    const uint32_t collider_count = output->body_count + world->model.obstacle_count;
    stream_writer *w = calloc(1, sizeof *w);
    if (w == NULL) return vy_fail(err, VY_NO_MEMORY, "log: out of memory");
    w->output = output;
    w->stream_channels = calloc(output->body_count + 1u, sizeof *w->stream_channels);
    w->joint_channels = calloc(world->model.joint_count + 1u, sizeof *w->joint_channels);
    w->joint_names = calloc(world->model.joint_count + 1u, sizeof *w->joint_names);
    w->collider_names = calloc(collider_count + 1u, sizeof *w->collider_names);
    w->previous_values = calloc(output->body_count + 1u, sizeof *w->previous_values);
    vy_status status = VY_OK;
    if (w->stream_channels == NULL || w->joint_channels == NULL || w->joint_names == NULL ||
        w->collider_names == NULL || w->previous_values == NULL)
        status = vy_fail(err, VY_NO_MEMORY, "log: out of memory");
    for (int s = 0; s < vy_drone_stream_count && status == VY_OK; ++s) status = add_stream(w, world, s, err);
    if (status == VY_OK && world->model.joint_count > 0) status = add_joints(w, world, joint_names, err);
    if (status == VY_OK && world->model.collides)
        status = add_contacts(w, collider_count, obstacle_names, err);
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
    for (int length = 0; length <= VY_ROTOR_CAP; ++length) {
        for (int s = 0; s < vy_drone_stream_count; ++s) vy_pb_codec_destroy(w->codecs[length][s]);
    }
    vy_pb_codec_destroy(w->joint_codec);
    vy_pb_codec_destroy(w->contact_codec);
    free(w->previous_values);
    free(w->collider_names);
    free(w->joint_channels);
    free(w->joint_names);
    free(w->stream_channels);
    free(w);
}

// The mean rate of change of `values` since the record before; NULL at the first.
static const void *rate_of_change(stream_writer *w, const vy_world *world, uint32_t i, const double *values,
                                  double *cells)
{
    double *previous = w->previous_values[i];
    const uint64_t ticks = world->state->tick - w->previous_tick;
    const int has_rate = w->has_previous && ticks > 0;
    for (int k = 0; k < STREAM_RATE_CELLS; ++k) {
        if (has_rate) cells[k] = (values[k] - previous[k]) / ((double)ticks * w->output->dt);
        previous[k] = values[k];
    }
    return has_rate ? cells : NULL;
}

static void write_bodies(stream_writer *w, const vy_world *world)
{
    const uint64_t time = vy_log_time(world->state->tick, w->output->dt);
    for (uint32_t i = 0; i < w->output->body_count && !output_failed(w->output); ++i) {
        for (int s = 0; s < vy_drone_stream_count; ++s) {
            if (w->stream_channels[i][s] == 0) continue; // it has no such thing
            double cells[STREAM_CELLS_CAP];
            const drone_stream *stream = &vy_drone_streams[s];
            const void *block = stream->read(world, i, stream, cells);
            if (block != NULL && stream->is_rate) block = rate_of_change(w, world, i, block, cells);
            if (block == NULL) continue;
            const vy_pb_codec *codec = w->codecs[stream_length(world, i, s)][s];
            VY_ASSERT(codec != NULL);
            vy_output_encode(w->output, w->stream_channels[i][s], time, codec,
                             (const char *)block + w->offsets[s]);
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
        vy_output_encode(w->output, w->joint_channels[k], time, w->joint_codec, &cells);
    }
}

void vy_stream_writer_write(stream_writer *w, const vy_world *world)
{
    write_joints(w, world);
    write_bodies(w, world);
    w->previous_tick = world->state->tick;
    w->has_previous = 1;
}

const char *vy_stream_writer_contact(stream_writer *w, uint64_t tick, const vy_contact_event *event)
{
    const contact_cells cells = vy_contact_pack(tick, w->output->body_count, event);
    VY_ASSERT(w->contact_channel > 0 && w->collider_names[cells.other][0] != '\0');
    vy_output_encode(w->output, w->contact_channel, vy_log_time(tick, w->output->dt), w->contact_codec,
                     &cells);
    return w->collider_names[cells.other];
}

const char *vy_stream_writer_joint_name(const stream_writer *w, uint32_t index)
{
    return w->joint_names[index];
}

const char *vy_stream_writer_obstacle_name(const stream_writer *w, int index)
{
    VY_ASSERT(w->contact_channel > 0 && index >= 0);
    return w->collider_names[w->output->body_count + (uint32_t)index];
}
