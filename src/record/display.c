// display.c - loads, references, frames, poses and lines of a log, for people and their tools.
#include "record/display.h"
#include "base/assert.h"
#include "base/fail.h"
#include "record/foxglove.h"
#include "record/scene.h"
#include "record/streams.h"
#include <stdlib.h>

enum {
    ROTORS_NUMBER = 1,
    FIRST_EFFECT_NUMBER = 2,
    WIND_NUMBER = 100,
    CONTACTS_NUMBER = 101,
    THRUSTERS_NUMBER = 102,
    CLOSING_NUMBER = 103,
    VECTOR_SIZE_MAX = 32
}; // numbers of fields; bytes of a vector

typedef struct body_channels {
    uint16_t reference, forces, torques, pose, location, energy;
    uint64_t forces_seen,
        torques_seen; // bit k: field k has been other than zero, and is written from then on
} body_channels;

struct display {
    log_output *output;
    uint16_t frames_channel, log_channel;
    log_scene scene;
    body_channels *bodies;
};

static void describe_loads(const char *name, int with_wind, loads_message *out)
{
    size_t count = 0;
    const vy_pb_field vector_field = {.type = VY_PB_MESSAGE, .message = &vy_message_vec3};
    out->fields[count] = vector_field;
    out->fields[count].name = "rotors";
    out->fields[count++].number = ROTORS_NUMBER;
    for (int k = 0; k < EFFECT_COUNT; ++k) {
        if (k == EFFECT_wind) continue; // it acts through the others
        out->fields[count] = vector_field;
        out->fields[count].name = vy_effect_name(k);
        out->fields[count++].number = (uint32_t)(FIRST_EFFECT_NUMBER + k);
    }
    if (with_wind) {
        out->fields[count] = vector_field;
        out->fields[count].name = "wind";
        out->fields[count++].number = WIND_NUMBER;
    }
    out->fields[count] = vector_field;
    out->fields[count].name = "contacts";
    out->fields[count++].number = CONTACTS_NUMBER;
    out->fields[count] = vector_field;
    out->fields[count].name = "thrusters";
    out->fields[count++].number = THRUSTERS_NUMBER;
    out->message = (vy_pb_message){.name = name, .fields = out->fields, .field_count = count};
    VY_ASSERT(count <= sizeof out->fields / sizeof out->fields[0]);
}

static const vy_pb_field reference_fields[] = {
    {.name = "position", .number = 1, .type = VY_PB_MESSAGE, .message = &vy_message_vec3},
    {.name = "yaw", .number = 2, .type = VY_PB_DOUBLE},
};
static const vy_pb_message reference_message = {
    .name = "volery.Reference", .fields = reference_fields, .field_count = 2};

const vy_pb_message *vy_display_message(int stream, loads_message *loads)
{
    if (stream == 0) return &reference_message;
    describe_loads(stream == 1 ? "volery.Forces" : "volery.Torques", stream == 1, loads);
    return &loads->message;
}

enum {
    KINETIC_NUMBER = 1,
    POTENTIAL_NUMBER,
    ROTOR_WORK_NUMBER,
    DISSIPATED_NUMBER,
    EXCHANGED_NUMBER,
    RESIDUAL_NUMBER,
    FIRST_WORK_NUMBER
};

/// Energies and work, the work of each effect named after it.
typedef struct energy_message {
    vy_pb_field fields[FIRST_WORK_NUMBER + EFFECT_COUNT + 2];
    vy_pb_message message;
} energy_message;

static void describe_energy(energy_message *out)
{
    static const char *const names[] = {"kinetic",    "potential", "rotors",
                                        "dissipated", "exchanged", "residual"};
    size_t count = 0;
    for (; count < RESIDUAL_NUMBER; ++count) {
        out->fields[count] =
            (vy_pb_field){.name = names[count], .number = (uint32_t)count + 1, .type = VY_PB_DOUBLE};
    }
    for (int k = 0; k < EFFECT_COUNT; ++k) {
        if (k == EFFECT_wind) continue; // it acts through the others
        out->fields[count++] = (vy_pb_field){
            .name = vy_effect_name(k), .number = (uint32_t)(FIRST_WORK_NUMBER + k), .type = VY_PB_DOUBLE};
    }
    out->fields[count++] = (vy_pb_field){.name = "contacts", .number = CONTACTS_NUMBER, .type = VY_PB_DOUBLE};
    out->fields[count++] = (vy_pb_field){.name = "closing", .number = CLOSING_NUMBER, .type = VY_PB_DOUBLE};
    out->message = (vy_pb_message){.name = "volery.Energy", .fields = out->fields, .field_count = count};
}

static vy_status add_energy(display *d, const vy_world *world, vy_error *err)
{
    energy_message energy;
    describe_energy(&energy);
    uint16_t schema = 0;
    vy_status status = vy_output_add_schema(d->output, &energy.message, &schema, err);
    for (uint32_t i = 0; i < body_count(&world->model) && status == VY_OK; ++i) {
        char topic[VY_NAME_CAP + 40];
        snprintf(topic, sizeof topic, "/%s/%s/energy", output_topic_root(d->output, i), d->output->names[i]);
        status = vy_output_add_channel(d->output, topic, schema, NULL, 0, &d->bodies[i].energy, err);
    }
    return status;
}

static vy_status add_bodies(display *d, const vy_world *world, vy_error *err)
{
    loads_message forces, torques;
    uint16_t schemas[5] = {0};
    const vy_pb_message *const messages[5] = {vy_display_message(0, NULL), vy_display_message(1, &forces),
                                              vy_display_message(2, &torques), &vy_foxglove_pose_in_frame,
                                              &vy_foxglove_location_fix};
    static const char *const suffixes[5] = {"reference", "forces", "torques", "pose", "location"};
    const int has_planet = world->model.planet.radius > 0.0;
    vy_status status = VY_OK;
    for (int s = 0; s < 5 && status == VY_OK; ++s) {
        if (s < 4 || has_planet) status = vy_output_add_schema(d->output, messages[s], &schemas[s], err);
    }
    for (uint32_t i = 0; i < body_count(&world->model); ++i) {
        body_channels *c = &d->bodies[i];
        uint16_t *const channels[5] = {&c->reference, &c->forces, &c->torques, &c->pose, &c->location};
        const int has_reference =
            i < world->model.drone_count && vy_controller_follows(world->model.drones[i].controller.kind);
        for (int s = 0; s < 5 && status == VY_OK; ++s) {
            if ((s == 0 && !has_reference) || (s == 4 && !has_planet)) continue;
            char topic[VY_NAME_CAP + 40];
            snprintf(topic, sizeof topic, "/%s/%s/%s", output_topic_root(d->output, i), d->output->names[i],
                     suffixes[s]);
            status = vy_output_add_channel(d->output, topic, schemas[s], NULL, 0, channels[s], err);
        }
    }
    return status;
}

vy_status vy_display_open(log_output *output, const vy_world *world, display **out, vy_error *err)
{
    *out = NULL;
    display *d = calloc(1, sizeof *d);
    if (d != NULL) d->bodies = calloc(body_count(&world->model) + 1u, sizeof *d->bodies);
    if (d == NULL || d->bodies == NULL) {
        free(d);
        return vy_fail(err, VY_NO_MEMORY, "log: out of memory");
    }
    d->output = output;
    vy_status status =
        vy_output_add_message_channel(output, "/tf", &vy_foxglove_frame_transforms, &d->frames_channel, err);
    if (status == VY_OK) status = vy_scene_open(output, &d->scene, err);
    if (status == VY_OK)
        status = vy_output_add_message_channel(output, TOPIC_LOG, &vy_foxglove_log, &d->log_channel, err);
    if (status == VY_OK) status = add_bodies(d, world, err);
    if (status == VY_OK && world->tracks_energy) status = add_energy(d, world, err);
    if (status != VY_OK) {
        vy_display_destroy(d);
        return status;
    }
    *out = d;
    return VY_OK;
}

void vy_display_destroy(display *d)
{
    if (d == NULL) return;
    free(d->bodies);
    free(d);
}

static void put_vec3(vy_pb_writer *w, uint32_t number, vy_vec3 v)
{
    vy_pb_begin(w, number);
    vy_pb_put_double(w, 1, v.x);
    vy_pb_put_double(w, 2, v.y);
    vy_pb_put_double(w, 3, v.z);
    vy_pb_end(w);
}

// A vector that was never other than zero is left out: most effects of most flights.
static void put_load(vy_pb_writer *w, uint32_t number, int bit, vy_vec3 v, uint64_t *seen_bits)
{
    VY_ASSERT(bit >= 0 && bit < 64);
    if (v.x != 0.0 || v.y != 0.0 || v.z != 0.0) *seen_bits |= (uint64_t)1 << bit;
    if ((*seen_bits >> bit & 1) != 0) put_vec3(w, number, v);
}

static void write_loads(display *d, const vy_loads *loads, body_channels *channels, uint64_t time)
{
    enum { LOADS_SIZE_MAX = (EFFECT_COUNT + 4) * VECTOR_SIZE_MAX };
    vy_pb_writer w = vy_output_begin(d->output, channels->forces, time, LOADS_SIZE_MAX);
    put_load(&w, ROTORS_NUMBER, 0, loads->rotor_force, &channels->forces_seen);
    for (int k = 0; k < EFFECT_COUNT; ++k)
        put_load(&w, (uint32_t)(FIRST_EFFECT_NUMBER + k), 1 + k, loads->force[k], &channels->forces_seen);
    put_load(&w, WIND_NUMBER, 1 + EFFECT_COUNT, loads->wind, &channels->forces_seen);
    put_load(&w, CONTACTS_NUMBER, 2 + EFFECT_COUNT, loads->contact_force, &channels->forces_seen);
    put_load(&w, THRUSTERS_NUMBER, 3 + EFFECT_COUNT, loads->thruster_force, &channels->forces_seen);
    vy_output_end(d->output, &w);
    w = vy_output_begin(d->output, channels->torques, time, LOADS_SIZE_MAX);
    put_load(&w, ROTORS_NUMBER, 0, loads->rotor_torque, &channels->torques_seen);
    for (int k = 0; k < EFFECT_COUNT; ++k)
        put_load(&w, (uint32_t)(FIRST_EFFECT_NUMBER + k), 1 + k, loads->torque[k], &channels->torques_seen);
    put_load(&w, CONTACTS_NUMBER, 2 + EFFECT_COUNT, loads->contact_torque, &channels->torques_seen);
    put_load(&w, THRUSTERS_NUMBER, 3 + EFFECT_COUNT, loads->thruster_torque, &channels->torques_seen);
    vy_output_end(d->output, &w);
}

static void write_reference(display *d, const vy_model *m, uint32_t i, const body_channels *channels,
                            double seconds, uint64_t time)
{
    double yaw = 0.0;
    const reference r = drone_reference(m, i, seconds, &yaw);
    vy_pb_writer w = vy_output_begin(d->output, channels->reference, time, 2 * VECTOR_SIZE_MAX);
    put_vec3(&w, 1, r.position);
    vy_pb_put_double(&w, 2, yaw);
    vy_output_end(d->output, &w);
}

static void write_energy(display *d, const vy_world *world, uint32_t i, uint64_t time)
{
    vy_energy e;
    vy_body_energy(world, i, &e);
    vy_pb_writer w =
        vy_output_begin(d->output, d->bodies[i].energy, time, (FIRST_WORK_NUMBER + EFFECT_COUNT + 2) * 16);
    const double values[] = {e.kinetic, e.potential, e.rotors, e.dissipated, e.exchanged, e.residual};
    for (uint32_t k = KINETIC_NUMBER; k <= RESIDUAL_NUMBER; ++k) vy_pb_put_double(&w, k, values[k - 1]);
    for (int k = 0; k < EFFECT_COUNT; ++k) {
        if (k != EFFECT_wind) vy_pb_put_double(&w, (uint32_t)(FIRST_WORK_NUMBER + k), e.work[k]);
    }
    if (world->model.collides) vy_pb_put_double(&w, CONTACTS_NUMBER, e.contacts);
    if (world->model.joint_count > 0) vy_pb_put_double(&w, CLOSING_NUMBER, e.closing);
    vy_output_end(d->output, &w);
}

static void write_body(display *d, const vy_world *world, uint32_t i, uint64_t time)
{
    body_channels *channels = &d->bodies[i];
    const body_state *body = body_at(world, i);
    const double seconds = (double)world->state->tick * world->model.dt;
    if (world->loads_tick > 0) { // else no step has been done since the log was opened
        vy_loads loads;
        vy_body_loads(world, i, &loads);
        write_loads(d, &loads, channels, time);
    }
    if (channels->energy != 0) write_energy(d, world, i, time);
    if (channels->reference != 0) write_reference(d, &world->model, i, channels, seconds, time);
    vy_pb_writer w = vy_output_begin(d->output, channels->pose, time, FOXGLOVE_SIZE_MAX);
    vy_foxglove_put_pose(&w, time, body->position, body->attitude);
    vy_output_end(d->output, &w);
    if (channels->location == 0) return;
    const vy_geodetic geodetic =
        vy_geodetic_of(&world->model.planet, seconds, body->position, body->velocity, body->attitude);
    w = vy_output_begin(d->output, channels->location, time, FOXGLOVE_SIZE_MAX);
    vy_foxglove_put_location(&w, time, geodetic.latitude, geodetic.longitude, geodetic.altitude);
    vy_output_end(d->output, &w);
}

void vy_display_write(display *d, const vy_world *world, uint64_t time)
{
    const uint32_t count = body_count(&world->model);
    vy_pb_writer w = vy_output_begin(d->output, d->frames_channel, time, (size_t)count * FOXGLOVE_SIZE_MAX);
    for (uint32_t i = 0; i < count; ++i) {
        const body_state *b = body_at(world, i);
        vy_foxglove_put_frame(&w, time, d->output->names[i], b->position, b->attitude);
    }
    vy_output_end(d->output, &w);
    for (uint32_t i = 0; i < count; ++i) write_body(d, world, i, time);
    vy_scene_write(&d->scene, world, time);
}

void vy_display_shapes(display *d, const vy_world *world, uint64_t time)
{
    vy_scene_shapes(&d->scene, world, time);
}

void vy_display_event(display *d, uint64_t time, const char *kind, const char *drone, const char *text)
{
    const size_t size_max = FOXGLOVE_SIZE_MAX + strlen(kind) + strlen(drone) + strlen(text);
    const int is_error =
        strcmp(kind, "failure") == 0 || strcmp(kind, "outcome") == 0 || strcmp(kind, "crash") == 0;
    const int is_warning =
        strcmp(kind, "fault") == 0 || strcmp(kind, "failsafe") == 0 || strcmp(kind, "contact") == 0;
    vy_pb_writer w = vy_output_begin(d->output, d->log_channel, time, size_max);
    char name[VY_NAME_CAP + 64];
    snprintf(name, sizeof name, "%.40s%s%s", kind, drone[0] != '\0' ? " " : "", drone);
    vy_foxglove_put_log(&w, time,
                        is_error     ? FOXGLOVE_ERROR
                        : is_warning ? FOXGLOVE_WARNING
                                     : FOXGLOVE_INFO,
                        name, text);
    vy_output_end(d->output, &w);
}

void vy_display_print_reference(FILE *out)
{
    fputs(
        "## For people and their tools\n\n"
        "Written every `log.display` seconds (none: not at all). Foxglove shows a moving drone by itself: "
        "its 3D "
        "panel\nfinds `/tf` and `/scene`, with `world` as the frame to look from.\n\n"
        "| topic | message | when |\n|---|---|---|\n"
        "| `/tf` | `foxglove.FrameTransforms`: where the frame of each drone and body is in `world` | every "
        "time |\n"
        "| `/scene` | `foxglove.SceneUpdate`: the shapes of drones and bodies, fixed to their frames, "
        "obstacles and "
        "terrain | "
        "once each |\n"
        "| `/scene` | the same: `joints` as lines, slack cables as they hang; `NAME thrusters` as plumes; "
        "`NAME range` and `NAME lidar` as rays, where the drone was when it looked | every time; rays when "
        "they are new |\n"
        "| `/log` | `foxglove.Log`: the events as lines | with each event |\n"
        "| `/drones/NAME/pose` | `foxglove.PoseInFrame`: pose in `world` | every time |\n"
        "| `/drones/NAME/location` | `foxglove.LocationFix`: latitude, longitude [deg], altitude [m] | every "
        "time, on a planet |\n"
        "| `/drones/NAME/reference` | `volery.Reference`: position [m], yaw [rad] where the built-in "
        "controller "
        "shall be | every time |\n"
        "| `/drones/NAME/forces` | `volery.Forces`: a Vec3 [N] in world axes for `rotors` and each effect; "
        "`wind` [m/s] | every time |\n"
        "| `/drones/NAME/energy` | `volery.Energy` [J]: kinetic, potential, work of the rotors and of each "
        "effect, of contacts and of joints that close since the start, dissipated, exchanged, residual | "
        "every time, with "
        "`log.energy: on` |\n"
        "| `/drones/NAME/torques` | `volery.Torques`: a Vec3 [N m] in body axes for `rotors` and each effect "
        "| "
        "every time |\n\n"
        "Forces and torques are those that the plant computed at the start of the step that ends at the time "
        "of the record; contacts are a mean over it. The first moment of a log has none. A vector that has "
        "always been zero so far is absent. "
        "The effects:",
        out);
    for (int k = 0; k < EFFECT_COUNT; ++k) {
        if (k != EFFECT_wind) fprintf(out, "%s `%s`", k > 0 ? "," : "", vy_effect_name(k));
    }
    fputs(".\n\n", out);
}
