// sensor_suite.c - samples the sensors of a drone's sensor suite: faults of the link, delays, delivery.
#include "world/sensor_suite.h"
#include "base/assert.h"
#include "environment/nap.h"

// Samples are delivered as numbers in a row, from their first member on.
_Static_assert(offsetof(imu_reading, gyro) == 3 * 8 && sizeof(imu_reading) == 8 * imu_WIDTH,
               "accel, then gyro");
_Static_assert(offsetof(imu_state, accel) == 0 && offsetof(imu_state, gyro) == 3 * 8, "accel, then gyro");
_Static_assert(offsetof(mocap_state, attitude) == 3 * 8 && sizeof(mocap_state) == 8 * mocap_WIDTH,
               "place, then turn");
_Static_assert(sizeof(vec3) == 3 * 8 && sizeof(quat) == 4 * 8, "without padding");
// Blocks of sensors lie in the order of their list, one kind behind the other.
#define IN_ORDER(id, stream, name, needs, text) \
    _Static_assert((int)BLOCK_##name == (int)SENSORS_FIRST_BLOCK + (int)SENSOR_##name, "in order");
SENSORS(IN_ORDER)

uint64_t vy_sensor_period(const vy_model *world, uint32_t drone, int sensor)
{
    const drone_model *dm = &world->drones[drone];
    VY_ASSERT(drone < world->drone_cap);
    VY_ASSERT(sensor >= 0 && sensor < SENSOR_KINDS && dm->sensor_suite <= world->sensor_suite_cap);
    const uint64_t suite_period =
        dm->sensor_suite > 0 ? world->sensor_suites[dm->sensor_suite - 1].links[sensor].period : 0;
    if (suite_period > 0 || sensor < SENSOR_SUITE_KINDS) return suite_period;
    return sensor == SENSOR_imu ? dm->imu_period : dm->mocap_period;
}

sensor_suite_blocks vy_sensor_suite_blocks(const vy_world *world, const sensor_suite_model *sensor_suite)
{
    sensor_suite_blocks s;
    s.imu_full = sensor_suite->links[SENSOR_imu].period > 0
                     ? &world->imu_full[sensor_suite->blocks[SENSOR_imu]]
                     : NULL;
#define FIND(id, stream, name, needs, text)                          \
    s.name = sensor_suite->links[SENSOR_##name].period > 0           \
                 ? world->name + sensor_suite->blocks[SENSOR_##name] \
                 : NULL;
    SENSORS(FIND)
    return s;
}

double *vy_sensor_sample(const vy_world *world, drone_block *drones, void *sensors, uint32_t drone,
                         int sensor, uint64_t **tick)
{
    const vy_model *m = &world->model;
    VY_ASSERT(drone < m->drone_count && sensor >= 0 && sensor < SENSOR_KINDS);
    if (sensor >= SENSOR_SUITE_KINDS) {
        drone_block *d = &drones[drone];
        *tick = sensor == SENSOR_imu ? &d->imu_tick : &d->mocap_tick;
        return sensor == SENSOR_imu ? &d->imu.accel.x : &d->mocap.position.x;
    }
    VY_ASSERT(m->drones[drone].sensor_suite > 0);
    const sensor_suite_model *sensor_suite = &m->sensor_suites[m->drones[drone].sensor_suite - 1];
    const enum block_kind kind = (enum block_kind)(SENSORS_FIRST_BLOCK + sensor);
    const size_t offset =
        block_offset(&world->counts, kind) - block_offset(&world->counts, SENSORS_FIRST_BLOCK);
    VY_ASSERT(sensor_suite->links[sensor].period > 0 &&
              sensor_suite->blocks[sensor] < world->counts.of[kind]);
    uint64_t *block =
        (void *)((unsigned char *)sensors + offset + sensor_suite->blocks[sensor] * vy_blocks[kind].size);
    *tick = block;
    return (double *)(void *)(block + 1);
}

const uint64_t *vy_sensor_block(const vy_world *world, uint32_t drone, int sensor)
{
    uint64_t *tick;
    VY_ASSERT(sensor < SENSOR_SUITE_KINDS);
    (void)vy_sensor_sample(world, world->drones, world->sensors, drone, sensor, &tick);
    return tick;
}

const void *vy_sensor_suite_params(const sensor_suite_model *sensor_suite, int sensor)
{
    static const size_t offsets[SENSOR_SUITE_KINDS] = {
#define PARAMS_AT(id, stream, name, needs, text) [SENSOR_##name] = offsetof(sensor_suite_model, name),
        SENSORS(PARAMS_AT)};
    VY_ASSERT(sensor >= 0 && sensor < SENSOR_SUITE_KINDS);
    return (const char *)sensor_suite + offsets[sensor];
}

// Context of the stage for one sensor suite.
typedef struct sample_context {
    const vy_model *m;
    const sensor_suite_model *sensor_suite;
    uint64_t tick;
    const vy_world *world; // for its shapes
    delay_line_block *delay_lines;
} sample_context;

// Send a sample, and receive the one that arrives now. Returns 0 when none does; `values` is unchanged then.
static int deliver(const sample_context *context, int sensor, double *values)
{
    const sensor_link *link = &context->sensor_suite->links[sensor];
    const sensor_row *row = &vy_sensors[sensor];
    int is_sent = 1;
    if (link->dropout > 0.0) {
        double uniforms[2];
        const uint64_t index =
            (uint64_t)context->sensor_suite->drone * 16 + row->id % 16 + ((uint64_t)(row->id / 16) << 40);
        rng_uniforms(context->m->seed, RNG_STREAM_LINK, index, context->tick, uniforms, 2);
        is_sent = uniforms[0] >= link->dropout;
    }
    if (link->delay == 0) return is_sent;
    const delay_line line = {link->line, link->period, link->delay, (uint32_t)row->width};
    VY_ASSERT(line.first + delay_line_size(line.delay, line.width) <=
              context->m->delay_count); // its line is its own
    double delayed[DELAY_LINE_WIDTH];
    const int has_arrived = vy_delay_line_take(&line, context->delay_lines, context->tick, 0, delayed);
    if (is_sent) vy_delay_line_put(&line, context->delay_lines, context->tick, values);
    if (has_arrived) memcpy(values, delayed, line.width * sizeof *values);
    return has_arrived;
}

static int is_due(const sample_context *context, int sensor)
{
    return due(context->tick, context->sensor_suite->links[sensor].period);
}

static void store_sample(const sample_context *context, int sensor, const double *values, double *sample,
                         uint64_t *tick)
{
    memcpy(sample, values, (size_t)vy_sensors[sensor].width * sizeof *sample);
    *tick = context->tick;
}

// IMU and motion capture: their samples are stored in the drone's block.
static void sample_drone(const sample_context *context, imu_full_block *imu_full, drone_block *d)
{
    const vy_model *m = context->m;
    if (is_due(context, SENSOR_imu)) {
        const vec3 g = vec3_masked(effect_on(d->effects, EFFECT_gravity),
                                   gravity_apparent(&m->env.gravity, d->body.position, d->body.velocity));
        const body_state sensed = inertial_body(&m->env.gravity, &d->body);
        imu_reading reading = imu_full_sample(&context->sensor_suite->imu, &sensed, g, m->seed,
                                              context->sensor_suite->drone, context->tick, &d->imu, imu_full);
        if (deliver(context, SENSOR_imu, &reading.accel.x))
            store_sample(context, SENSOR_imu, &reading.accel.x, &d->imu.accel.x, &d->imu_tick);
    }
    if (is_due(context, SENSOR_mocap)) {
        mocap_state reading;
        mocap_sample(&context->sensor_suite->mocap, &d->body, m->seed, context->sensor_suite->drone,
                     context->tick, &reading);
        if (deliver(context, SENSOR_mocap, &reading.position.x))
            store_sample(context, SENSOR_mocap, &reading.position.x, &d->mocap.position.x, &d->mocap_tick);
    }
}

// To the nearest shape, or to the ground z = 0.
static double cast_ray(const void *self, vec3 origin, vec3 ray_direction, double reach)
{
    const sample_context *context = self;
    const environment_model *env = &context->m->env;
    double ground = RAY_NO_RETURN;
    if (!context->world->has_ground && env->gravity.frame.on)
        ground = ray_to_planet(&env->gravity.frame, &env->planet, origin, ray_direction);
    else if (!context->world->has_ground)
        ground = ray_to_ground(origin, ray_direction);
    vy_ray_target target;
    if (!vy_world_cast_ray(context->world, origin, ray_direction, reach,
                           vy_world_body(context->world, context->sensor_suite->drone), &target))
        return ground;
    return ground > 0.0 && ground < target.distance ? ground : target.distance;
}

// The declared wind with gusts, also where the flight neglects it; without the wakes of other drones.
static inline moving_air air_around_drone(const sample_context *context, const drone_block *d)
{
    const environment_model *env = &context->m->env;
    const held_inputs held = {.turbulence = d->gust};
    const double time = (double)context->tick * context->m->dt, altitude = altitude_at(env, d->body.position);
    const relative_air air = air_sample(env, &held, &d->body, time, EFFECT_BIT(wind));
    return (moving_air){air_at(&env->air, altitude).density, quat_unrotate(d->body.attitude, air.flow)};
}

// Arguments that sensors may need; sensors/sensors.h says which one needs what.
#define NEED_NOTHING
#define NEED_STILL_AIR  &still,
#define NEED_MOVING_AIR air_around_drone(s, d),
#define NEED_FIELD      vec3_of(m->env.magnetic),
#define NEED_RAYS       &caster,
#define NEED_BATTERY    battery,
#define NEED_ROTORS     &rotors,

static void sample_sensor_suite(const sample_context *s, const drone_block *d, const battery_state *battery)
{
    const vy_model *m = s->m;
    const sensor_suite_model *sensor_suite = s->sensor_suite;
    const sensor_suite_blocks blocks = vy_sensor_suite_blocks(s->world, sensor_suite);
    const still_air still = {&m->env.air, altitude_at(&m->env, d->body.position)};
    const ray_caster caster = {cast_ray, s};
    const rotor_speeds rotors = {d->rotor_speed, m->drones[sensor_suite->drone].layout.count};
#define SAMPLE(id, stream, name, needs, text)                                                  \
    if (is_due(s, SENSOR_##name)) {                                                            \
        const sensor_key key = {m->seed, sensor_suite->drone, s->tick, stream};                \
        double sample[name##_WIDTH];                                                           \
        name##_sample(&sensor_suite->name, &d->body, &key, NEED_##needs blocks.name, sample);  \
        if (deliver(s, SENSOR_##name, sample))                                                 \
            store_sample(s, SENSOR_##name, sample, (double *)(void *)(&blocks.name->tick + 1), \
                         &blocks.name->tick);                                                  \
    }
    SENSORS(SAMPLE)
}

void vy_sensor_suite_stage(vy_world *world)
{
    const vy_model *m = &world->model;
    for (uint32_t i = 0; i < m->sensor_suite_count; ++i) {
        const sensor_suite_model *sensor_suite = &m->sensor_suites[i];
        VY_ASSERT(sensor_suite->drone < m->drone_count &&
                  m->drones[sensor_suite->drone].sensor_suite == i + 1);
        drone_block *d = &world->drones[sensor_suite->drone];
        const sample_context s = {m, sensor_suite, world->state->tick, world, world->delay_lines};
        sample_drone(&s, vy_sensor_suite_blocks(world, sensor_suite).imu_full, d);
        sample_sensor_suite(&s, d,
                            m->has_powertrain ? &world->powertrain[sensor_suite->drone].battery : NULL);
    }
}

void vy_sensor_suite_start(vy_world *world)
{
    const vy_model *m = &world->model;
    for (uint32_t i = 0; i < m->sensor_suite_count; ++i) {
        const sensor_suite_model *sensor_suite = &m->sensor_suites[i];
        const body_state *body = &world->drones[sensor_suite->drone].body;
        const sensor_suite_blocks blocks = vy_sensor_suite_blocks(world, sensor_suite);
        world->sensor_suites[i].identity = sensor_suite->identity;
        if (blocks.imu_full != NULL) {
            const vec3 specific_force =
                vec3_neg(quat_unrotate(body->attitude, gravity_at(&m->env.gravity, body->position)));
            const body_state sensed = inertial_body(&m->env.gravity, body);
            imu_full_start(&sensor_suite->imu, &sensed, specific_force, m->seed, sensor_suite->drone,
                           blocks.imu_full);
        }
#define START(id, stream, name, needs, text)                                                                \
    if (blocks.name != NULL) {                                                                              \
        const sensor_key key = {m->seed, sensor_suite->drone, 0, stream};                                   \
        memset(blocks.name, 0, sizeof *blocks.name);                                                        \
        if (vy_sensor_##name.start != NULL) vy_sensor_##name.start(&sensor_suite->name, &key, blocks.name); \
    }
        SENSORS(START)
        vy_filter_start(world, sensor_suite);
    }
}
