// filter.c - the estimators of sensor suites in a world: estimators/estimators.h lists them.
#include "base/fail.h"
#include "base/assert.h"
#include "world/build.h"
#include "world/sensor_suite.h"

estimator_setup vy_estimator_setup(const vy_model *world, const vy_drone_def *def)
{
    return (estimator_setup){.def = &def->estimator,
                             .imu = &def->imu,
                             .mocap = &def->mocap,
                             .sensor_suite = &def->sensor_suite,
                             .air = &world->env.air,
                             .gravity = gravity_at(&world->env.gravity, def->position),
                             .field = vec3_of(world->env.magnetic),
                             .altitude = altitude_at(&world->env, def->position),
                             .dt = world->dt};
}

vy_status vy_filter_build(const vy_model *world, const vy_drone_def *def, sensor_suite_model *sensor_suite,
                          vy_error *err)
{
    const vy_estimator_kind declared_kind = def->estimator.kind;
    if (declared_kind == VY_ESTIMATOR_FADING || def->truth) return VY_OK;
    const estimator_setup setup = vy_estimator_setup(world, def);
    if (frame_is_inertial(&world->env))
        return vy_fail(err, VY_BAD_VALUE, "drone.estimator: %s needs ground: about a planet give its origin",
                       vy_estimators[declared_kind]->name);
    sensor_suite->estimator = declared_kind;
    sensor_suite->starts_in_air = def->estimator.start == VY_START_AIR;
    sensor_suite->has_gate = vy_estimators[declared_kind]->is_kalman && def->estimator.gate > 0.0;
#define BUILD(kind, name, text) \
    if (declared_kind == VY_ESTIMATOR_##kind) vy_estimator_##name.build(&setup, &sensor_suite->name);
    ESTIMATORS(BUILD)
    return VY_OK;
}

void vy_filter_initial_estimate(const vy_model *world, const vy_drone_def *def, uint32_t index,
                                const body_state *body, estimator_state *out)
{
    double deviates[9];
    const vy_estimator_def *estimator_def = &def->estimator;
    if (estimator_def->start == VY_START_GROUND) { // it knows nothing yet
        memset(out, 0, sizeof *out);
        out->attitude = quat_identity();
        return;
    }
    rng_normals(world->seed, RNG_STREAM_ESTIMATE, index, 0, deviates, 9);
    out->position = vec3_add_scaled(body->position, estimator_def->start_position,
                                    vec3_make(deviates[0], deviates[1], deviates[2]));
    out->velocity = vec3_add_scaled(body->velocity, estimator_def->start_velocity,
                                    vec3_make(deviates[3], deviates[4], deviates[5]));
    out->attitude = quat_apply_small_rotation(
        body->attitude,
        vec3_scale(estimator_def->start_attitude, vec3_make(deviates[6], deviates[7], deviates[8])));
    out->gyro_bias = out->accel_bias = vec3_zero();
}

int vy_filter_is_kalman(const sensor_suite_model *sensor_suite)
{
    const estimator_type *type = vy_estimators[sensor_suite->estimator];
    return type != NULL && type->is_kalman;
}

// What the filter of a sensor suite remembers, in the world's state.
static filter_blocks filter_memory(const vy_world *world, const sensor_suite_model *sensor_suite)
{
    const vy_model *m = &world->model;
    filter_blocks out = {0};
    VY_ASSERT(sensor_suite->filter < m->filter_count);
    VY_ASSERT(!sensor_suite->has_gate || sensor_suite->gate < m->gate_count);
    out.filter = &world->filters[sensor_suite->filter];
    if (vy_filter_is_kalman(sensor_suite)) {
        VY_ASSERT(sensor_suite->type_block < m->kalman_count);
        out.kalman = &world->kalman[sensor_suite->type_block];
    } else {
        VY_ASSERT(sensor_suite->type_block < m->filter_count - m->kalman_count);
        out.gains = &world->gain_filters[sensor_suite->type_block];
    }
    if (sensor_suite->has_gate) out.gate = &world->gates[sensor_suite->gate];
    return out;
}

void vy_filter_start(const vy_world *world, const sensor_suite_model *sensor_suite)
{
    if (sensor_suite->estimator == VY_ESTIMATOR_FADING) return;
    const filter_blocks memory = filter_memory(world, sensor_suite);
    memset(memory.filter, 0, sizeof *memory.filter);
    if (memory.kalman != NULL) memset(memory.kalman, 0, sizeof *memory.kalman);
    if (memory.gains != NULL) memset(memory.gains, 0, sizeof *memory.gains);
    if (memory.gate != NULL) memset(memory.gate, 0, sizeof *memory.gate);
    memory.filter->started = sensor_suite->starts_in_air ? 1 : 0;
#define START(kind, name, text)                                                              \
    if (sensor_suite->estimator == VY_ESTIMATOR_##kind && vy_estimator_##name.start != NULL) \
        vy_estimator_##name.start(&sensor_suite->name, &memory);
    ESTIMATORS(START)
}

// The planet where the drone believes to be; in a flat world what it knows from its start is enough.
static estimator_ground ground_at(const environment_model *env, const estimator_state *e)
{
    const local_frame *f = &env->gravity.frame;
    if (!f->on) return (estimator_ground){.gravity = vec3_zero()};
    const double height = local_locate(f, &env->planet, e->position).height;
    return (estimator_ground){.gravity = gravity_apparent(&env->gravity, e->position, e->velocity),
                              .curvature_drop = height - e->position.z,
                              .altitude = f->height};
}

void vy_filter_stage(vy_world *world)
{
    const vy_model *m = &world->model;
    for (uint32_t i = 0; i < m->sensor_suite_count; ++i) {
        const sensor_suite_model *sensor_suite = &m->sensor_suites[i];
        if (sensor_suite->estimator == VY_ESTIMATOR_FADING) continue;
        drone_block *d = &world->drones[sensor_suite->drone];
        const sensor_suite_blocks sensors = vy_sensor_suite_blocks(world, sensor_suite);
        const estimator_ground ground = ground_at(&m->env, &d->estimate);
        const estimator_samples in = {
            .tick = world->state->tick,
            .imu_tick = d->imu_tick,
            .mocap_tick = d->mocap_tick,
            .accel = d->imu.accel,
            .gyro = gyro_relative_to_ground(&m->env.gravity, d->estimate.attitude, d->imu.gyro),
            .ground = m->env.gravity.frame.on ? &ground : NULL,
            .mocap = &d->mocap,
            .sensors = &sensors};
        const filter_blocks memory = filter_memory(world, sensor_suite);
#define STEP(kind, name, text)                          \
    if (sensor_suite->estimator == VY_ESTIMATOR_##kind) \
        vy_##name##_step(&sensor_suite->name, &in, &d->estimate, &memory);
        ESTIMATORS(STEP)
    }
}

int vy_filter_is_started(const vy_world *world, uint32_t drone)
{
    const uint32_t sensor_suite = world->model.drones[drone].sensor_suite;
    if (sensor_suite == 0 || world->model.drones[drone].estimate_source != ESTIMATE_FILTER) return 1;
    return world->filters[world->model.sensor_suites[sensor_suite - 1].filter].started > 0;
}

vy_status vy_world_read_filter(const vy_world *world, vy_drone_id id, vy_filter_state *out)
{
    FPU_SCOPE;
    uint32_t slot;
    if (!vy_world_slot(world, id, &slot)) return VY_NOT_FOUND;
    const uint32_t suite_number = world->model.drones[slot].sensor_suite;
    if (suite_number == 0) return VY_NOT_FOUND;
    const sensor_suite_model *sensor_suite = &world->model.sensor_suites[suite_number - 1];
    const estimator_type *type = vy_estimators[sensor_suite->estimator];
    if (type == NULL || type->evaluate == NULL) return VY_NOT_FOUND;
    memset(out, 0, sizeof *out);
    out->started = world->state->tick > 0 && vy_filter_is_started(world, slot);
    if (!out->started) return VY_OK;
    const drone_block *d = &world->drones[slot];
    const quat relative_attitude = quat_mul(quat_conj(d->estimate.attitude), d->body.attitude);
    const double two = relative_attitude.w < 0.0 ? -2.0 : 2.0; // the shorter way round
    const vec3 rotation_error =
        vec3_make(two * relative_attitude.x, two * relative_attitude.y, two * relative_attitude.z);
    const vec3 position_error = vec3_sub(d->body.position, d->estimate.position);
    const vec3 velocity_error = vec3_sub(d->body.velocity, d->estimate.velocity);
    const vec3 attitude_error_world = quat_rotate(d->body.attitude, rotation_error);
    const double error[9] = {position_error.x, position_error.y, position_error.z,
                             velocity_error.x, velocity_error.y, velocity_error.z,
                             rotation_error.x, rotation_error.y, rotation_error.z};
    out->error = vec3_length(position_error);
    out->tilt = real_sqrt(attitude_error_world.x * attitude_error_world.x +
                          attitude_error_world.y * attitude_error_world.y);
    out->yaw = real_abs(attitude_error_world.z);
    const filter_blocks memory = filter_memory(world, sensor_suite);
    type->evaluate(&memory, error, out);
    return VY_OK;
}

vy_status vy_world_read_gate(const vy_world *world, vy_drone_id id, vy_gate_state *out)
{
    FPU_SCOPE;
    uint32_t slot;
    if (!vy_world_slot(world, id, &slot)) return VY_NOT_FOUND;
    memset(out, 0, sizeof *out);
    const uint32_t sensor_suite = world->model.drones[slot].sensor_suite;
    if (sensor_suite == 0 || !world->model.sensor_suites[sensor_suite - 1].has_gate ||
        world->state->tick == 0)
        return VY_OK;
    const gate_block *gate = &world->gates[world->model.sensor_suites[sensor_suite - 1].gate];
    memcpy(out->rejected, gate->rejected, sizeof out->rejected);
    memcpy(out->since, gate->since, sizeof out->since);
    return VY_OK;
}
