// scene.c - drones, bodies, obstacles, joints, plumes and rays as entities of a scene.
#include "record/scene.h"
#include "base/fail.h"
#include "equations/gravity.h"
#include "record/foxglove.h"
#include "record/streams.h"
#include "world/sensor_suite.h"
#include <stdio.h>

enum {
    CABLE_SEGMENTS = 20,
    ENTITY_SIZE_MAX = 128 + 2 * VY_NAME_CAP
}; // of a cable that hangs; bytes besides what is in it

static const double joint_color[4] = {0.45, 0.5, 0.55, 1.0}, plume_color[4] = {0.9, 0.6, 0.0, 0.7},
                    ray_color[4] = {0.0, 0.45, 0.7, 0.8}, ray_fan_color[4] = {0.8, 0.47, 0.65, 0.6};

_Static_assert(VY_RAY_CAP <= FOXGLOVE_FAN_CAP, "all rays of a sensor fit one fan of lines");

vy_status vy_scene_open(log_output *output, log_scene *out, vy_error *err)
{
    *out = (log_scene){.output = output};
    return vy_output_add_message_channel(output, "/scene", &vy_foxglove_scene_update, &out->channel, err);
}

static vy_pb_writer begin_message(log_scene *s, uint64_t time, size_t size_max)
{
    return vy_output_begin(s->output, s->channel, time, size_max);
}

static void put_solid(log_scene *s, vy_pb_writer *w, uint64_t time, const char *name, const char *frame,
                      const vy_shape *shape, const vy_pose *pose)
{
    if (!vy_foxglove_put_solid(w, time, name, frame, shape, pose))
        (void)vy_fail(&s->output->error, VY_NO_MEMORY, "log: out of memory");
}

// The largest distance of rotors and thrusters from the middle of a drone; half a metre where it has none.
static double max_extent_of(const rotor_layout *layout)
{
    double extent = 0.0;
    for (int k = 0; k < layout->count; ++k) extent = real_max(extent, vec3_length(vec3_of(layout->hub[k])));
    for (int k = 0; k < layout->thrusters.count; ++k)
        extent = real_max(extent, vec3_length(vec3_of(layout->thrusters.nozzle[k])));
    return extent > 0.0 ? extent : 0.5;
}

// A drone by the positions of its rotors; without rotors by its collision shape, if it has one.
static void write_body_shape(log_scene *s, const vy_world *world, uint32_t i, uint64_t time)
{
    static const vy_pose origin = {.rotation = {.w = 1.0}};
    static const rotor_layout no_rotors;
    const rotor_layout *layout = i < world->model.drone_count ? &world->model.drones[i].layout : &no_rotors;
    const char *name = s->output->names[i];
    const vy_shape *shape = NULL;
    vy_pose pose;
    if (layout->count == 0) (void)vy_world_shape(world, vy_world_body(world, i), &shape, &pose);
    const size_t size_max = shape != NULL ? vy_foxglove_solid_size_max(shape) : FOXGLOVE_SHAPE_SIZE_MAX;
    vy_pb_writer w = begin_message(s, time, size_max + 2 * VY_NAME_CAP);
    if (shape != NULL)
        put_solid(s, &w, time, name, name, shape, &origin);
    else
        vy_foxglove_put_shape(&w, time, name, layout->hub, layout->count, max_extent_of(layout));
    vy_output_end(s->output, &w);
}

void vy_scene_shapes(log_scene *s, const vy_world *world, uint64_t time)
{
    for (uint32_t i = 0; i < body_count(&world->model); ++i) write_body_shape(s, world, i, time);
    for (uint32_t i = 0; i < vy_world_obstacle_count(world); ++i) {
        const vy_shape *shape;
        vy_pose pose;
        char name[32];
        if (vy_obstacle_is_trigger(world, i) || vy_world_obstacle(world, i, &shape, &pose) != VY_OK) continue;
        snprintf(name, sizeof name, "obstacle %u", (unsigned)i);
        vy_pb_writer w = begin_message(s, time, vy_foxglove_solid_size_max(shape) + sizeof name);
        put_solid(s, &w, time, name, FOXGLOVE_WORLD_FRAME, shape, &pose);
        vy_output_end(s->output, &w);
    }
}

// --- joints

// Where an end of a joint is; `*body_position` is the centre of mass of the body it is on, or the same place
// in the world.
static vec3 joint_anchor(const vy_world *world, const joint_slot *j, int end_index, vec3 *body_position)
{
    const vec3 anchor_position = end_index == 0 ? j->def.anchor_a : j->def.anchor_b;
    *body_position = anchor_position;
    if (j->body[end_index] >= body_count(&world->model)) return anchor_position;
    const body_state *b = body_at(world, j->body[end_index]);
    *body_position = b->position;
    return vec3_add(b->position, quat_rotate(b->attitude, anchor_position));
}

// A slack cable as a parabola of its length, sagging along the unit vector `down`.
static void set_sagging_points(vec3 from, vec3 along, vec3 down, double length,
                               vec3 points[CABLE_SEGMENTS + 1])
{
    double low = 0.0, high = length; // of its depth: the deeper, the longer
    for (int iteration = 0; iteration < 20; ++iteration) {
        const double depth = 0.5 * (low + high);
        double sum = 0.0;
        for (int k = 0; k <= CABLE_SEGMENTS; ++k) {
            const double t = (double)k / CABLE_SEGMENTS;
            points[k] = vec3_add_scaled(from, t, along);
            points[k] = vec3_add_scaled(points[k], 4.0 * depth * t * (1.0 - t), down);
            if (k > 0) sum += vec3_length(vec3_sub(points[k], points[k - 1]));
        }
        *(sum < length ? &low : &high) = depth;
    }
}

// The line of a joint: straight, as a cable hangs, or from the middle of one body over where they meet to the
// other's. Returns how many points it has; 0: nothing to draw.
static int joint_line(const vy_world *world, const joint_slot *j, vec3 points[CABLE_SEGMENTS + 1])
{
    vec3 body_positions[2];
    const vec3 from = joint_anchor(world, j, 0, &body_positions[0]),
               to = joint_anchor(world, j, 1, &body_positions[1]);
    const vec3 along = vec3_sub(to, from);
    const double length = j->def.length, distance = vec3_length(along);
    if (j->def.kind == VY_JOINT_NONE || j->def.kind == VY_JOINT_CUSTOM) return 0;
    if (!vy_joint_has(j->def.kind, VY_JOINT_HAS_LENGTH)) {
        points[0] = body_positions[0];
        points[1] = from;
        points[2] = to;
        points[3] = body_positions[1];
        return 4;
    }
    if (vy_joint_has(j->def.kind, VY_JOINT_HAS_WHEELS)) {
        points[0] = from;
        points[1] = j->def.wheel_a;
        points[2] = j->def.wheel_b;
        points[3] = to;
        return 4;
    }
    const vec3 gravity = gravity_at(&world->model.env.gravity, from);
    const double weight = vec3_length(gravity);
    points[0] = from;
    points[1] = to;
    if (!vy_joint_has(j->def.kind, VY_JOINT_UNILATERAL) || distance > 0.999 * length || weight == 0.0)
        return 2;
    set_sagging_points(from, along, vec3_scale(1.0 / weight, gravity), length, points);
    return CABLE_SEGMENTS + 1;
}

static void write_joints(log_scene *s, const vy_world *world, uint64_t time)
{
    const joint_slot *slots = world->bodies->joints->slots;
    vec3 points[CABLE_SEGMENTS + 1];
    size_t size_max = ENTITY_SIZE_MAX;
    for (uint32_t k = 0; k < world->model.joint_count; ++k)
        size_max += vy_foxglove_line_size_max(joint_line(world, &slots[k], points));
    vy_pb_writer w = begin_message(s, time, size_max);
    vy_foxglove_begin_entity(&w, time, "joints", FOXGLOVE_WORLD_FRAME, 0);
    for (uint32_t k = 0; k < world->model.joint_count; ++k) {
        const int count = joint_line(world, &slots[k], points);
        if (count > 0) vy_foxglove_put_line(&w, FOXGLOVE_STRIP, points, count, 3.0, joint_color);
    }
    vy_foxglove_end_entity(&w);
    vy_output_end(s->output, &w);
}

// --- thrusters

// A plume each, as long as its share of the largest thrust.
static void write_plumes(log_scene *s, const vy_world *world, uint32_t i, uint64_t time)
{
    const thruster_layout *layout = &world->model.drones[i].layout.thrusters;
    const double drone_size = max_extent_of(&world->model.drones[i].layout);
    char name[VY_NAME_CAP + 16];
    snprintf(name, sizeof name, "%s thrusters", s->output->names[i]);
    vy_pb_writer w = begin_message(s, time, ENTITY_SIZE_MAX + THRUSTER_CAP * FOXGLOVE_SIZE_MAX);
    vy_foxglove_begin_entity(&w, time, name, s->output->names[i], 1);
    for (int k = 0; k < layout->count; ++k) {
        const double thrust_ratio =
            layout->thrust_max[k] > 0.0 ? world->thrusters[i].thrust[k] / layout->thrust_max[k] : 0.0;
        if (!(thrust_ratio > 0.01)) continue;
        const vec3 plume =
            vec3_scale(-1.1 * drone_size * real_min(thrust_ratio, 1.0), vec3_of(layout->axis[k]));
        vy_foxglove_put_cone(&w, vec3_of(layout->nozzle[k]), plume, 0.25 * drone_size, plume_color);
    }
    vy_foxglove_end_entity(&w);
    vy_output_end(s->output, &w);
}

// --- rays

// The rays of a sensor from the drone's position at the sample, as long as measured; those without a hit are
// left out.
static void write_rays(log_scene *s, const vy_world *world, uint32_t i, int sensor, uint64_t time)
{
    const sensor_suite_model *suite = &world->model.sensor_suites[world->model.drones[i].sensor_suite - 1];
    const sensor_type *type = vy_sensors[sensor].type;
    if (type->rays == NULL || suite->links[sensor].period == 0) return;
    const uint64_t *block = vy_sensor_block(world, i, sensor), tick = block[0];
    const double *distances = (const double *)(const void *)(block + 1);
    if (tick <= s->last_tick) return;
    vec3 points[VY_RAY_CAP + 1], along[VY_RAY_CAP];
    const int count = type->rays(vy_sensor_suite_params(suite, sensor), &points[0], along);
    int point_count = 1;
    for (int k = 0; k < count; ++k) {
        if (distances[k] != RAY_NO_RETURN)
            points[point_count++] = vec3_add_scaled(points[0], distances[k], along[k]);
    }
    char name[VY_NAME_CAP + 16];
    snprintf(name, sizeof name, "%s %s", s->output->names[i], type->name);
    const uint64_t delay_ticks = suite->links[sensor].delay * suite->links[sensor].period;
    vy_pb_writer w = begin_message(s, time, ENTITY_SIZE_MAX + vy_foxglove_line_size_max(point_count));
    vy_foxglove_begin_entity(&w, vy_log_time(tick - delay_ticks, s->output->dt), name, s->output->names[i],
                             0);
    if (point_count > 1)
        vy_foxglove_put_line(&w, FOXGLOVE_FAN, points, point_count, count > 1 ? 1.0 : 2.0,
                             count > 1 ? ray_fan_color : ray_color);
    vy_foxglove_end_entity(&w);
    vy_output_end(s->output, &w);
}

void vy_scene_write(log_scene *s, const vy_world *world, uint64_t time)
{
    const vy_model *m = &world->model;
    if (m->joint_count > 0) write_joints(s, world, time);
    for (uint32_t i = 0; i < m->drone_count && world->state->tick > 0;
         ++i) { // both begin with the first step
        if (m->drones[i].layout.thrusters.count > 0) write_plumes(s, world, i, time);
        if (m->drones[i].sensor_suite == 0) continue;
        for (int sensor = 0; sensor < SENSOR_SUITE_KINDS; ++sensor) write_rays(s, world, i, sensor, time);
    }
    s->last_tick = world->state->tick;
}
