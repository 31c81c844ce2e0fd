// filter.c - estimators that a scenario asks for by name: the Kalman filter and the complementary filter of
// kits.
#include "base/fail.h"
#include "base/assert.h"
#include "base/real.h"
#include "base/math.h"
#include "world/build.h"
#include "world/kit.h"

#define GATE_MOST   1e6
#define ALLAN_FLOOR 0.6175 // as in kit_def.c: the floor of the Allan deviation over a wander's deviation

vy_estimator_def vy_default_estimator_def(void)
{
    return (vy_estimator_def){
        .start_position = 0.1,
        .start_velocity = 0.1,
        .start_attitude = 0.02,
        .attitude_time = 2.0,
        .position_time = 1.0,
        .gate_time = 5.0,
    };
}

vy_status vy_check_estimator_def(const vy_drone_def *def, vy_error *err)
{
    const vy_estimator_def *e = &def->estimator;
    if ((unsigned)e->kind > VY_ESTIMATOR_COMPLEMENTARY)
        return vy_fail(err, VY_BAD_VALUE, "drone.estimator.kind must be fading, ekf or complementary");
    if (e->kind == VY_ESTIMATOR_FADING || def->truth) return VY_OK;
    const double starts[3] = {e->start_position, e->start_velocity, e->start_attitude};
    for (int i = 0; i < 3; ++i) {
        if (!(real_is_finite(starts[i]) && starts[i] >= 0.0))
            return vy_fail(err, VY_BAD_VALUE,
                           "drone.estimator: errors of the start must be at least 0, got %g", starts[i]);
    }
    if (!(e->attitude_time > 0.0 && e->position_time > 0.0 && real_is_finite(e->attitude_time) &&
          real_is_finite(e->position_time)))
        return vy_fail(err, VY_BAD_VALUE, "drone.estimator: times must be above 0 s");
    if (!(e->gate == 0.0 || (e->gate >= 1.0 && e->gate <= GATE_MOST)))
        return vy_fail(err, VY_BAD_VALUE,
                       "drone.estimator.gate must be 0 or within 1 and %g standard deviations, got %g",
                       GATE_MOST, e->gate);
    if (!(e->gate_time > 0.0 && real_is_finite(e->gate_time)))
        return vy_fail(err, VY_BAD_VALUE, "drone.estimator.gate_time must be above 0 s, got %g",
                       e->gate_time);
    if (!(def->imu.period > 0.0)) return vy_fail(err, VY_BAD_VALUE, "drone.estimator: a filter needs an IMU");
    return VY_OK;
}

// --- constants

static double square(double x) { return x * x; }

static vec3 of_three(double x) { return vec3_make(x, x, x); }

// The variance per sample of white noise as strong, over long times, as noise and a slow wander together.
static double as_white(double noise, double wander, double time, double period)
{
    const double keep = time > 0.0 ? math_exp(-period / time) : 0.0;
    return square(noise) + square(wander) * (1.0 + keep) / (1.0 - keep);
}

// What a bias gains per IMU sample by its walk and its wander.
static double walk_of(double drift, double instability, const vy_imu_def *imu)
{
    const double wander = instability / ALLAN_FLOOR;
    const double slow = imu->instability_time > 0.0 ? 2.0 * square(wander) / imu->instability_time : 0.0;
    return imu->period * (square(drift) + slow);
}

// [m/Pa] at the altitude of the start.
static double metres_of_pascal(const vy_model *world, double altitude)
{
    const double p = baro_pressure(&world->env.air, altitude);
    return baro_altitude(&world->env.air, p - 0.5) - baro_altitude(&world->env.air, p + 0.5);
}

static void build_ekf(const vy_model *world, const vy_drone_def *def, ekf_params *p)
{
    const vy_imu_def *imu = &def->imu;
    const vy_kit_def *k = &def->kit;
    const vy_estimator_def *e = &def->estimator;
    const double t = imu->period;
    memset(p, 0, sizeof *p);
    p->period = t;
    p->gravity = gravity_at(&world->env.gravity, def->position);
    p->imu_at = imu->position;
    p->turn_noise = square(imu->gyro_noise) * t;
    p->velocity_noise = square(imu->accel_noise) * t;
    p->gyro_walk = walk_of(imu->gyro_drift, imu->gyro_instability, imu);
    p->accel_walk = walk_of(imu->accel_drift, imu->accel_instability, imu);
    p->mocap_position = square(def->mocap.position_noise);
    p->mocap_attitude = square(def->mocap.attitude_noise);
    const double across =
        as_white(k->gps.position_noise, k->gps.position_wander, k->gps.wander_time, k->gps.period);
    const double up = as_white(k->gps.height_noise, k->gps.height_wander, k->gps.wander_time, k->gps.period);
    p->gps_position = vec3_make(across, across, up);
    const double across_now = square(k->gps.position_noise) + square(k->gps.position_wander);
    const double up_now = square(k->gps.height_noise) + square(k->gps.height_wander);
    p->gps_sample = vec3_make(across_now, across_now, up_now);
    p->gps_velocity = square(k->gps.velocity_noise);
    p->gps_delay = k->gps.link.delay;
    p->gps_at = k->gps.position;
    if (k->baro.period > 0.0) {
        const double metres = square(metres_of_pascal(world, def->position.z));
        p->baro = metres * as_white(k->baro.noise, k->baro.wander, k->baro.wander_time, k->baro.period);
        p->baro_sample = metres * (square(k->baro.noise) + square(k->baro.wander));
    }
    const vec3 field = vec3_of(world->env.magnetic);
    const double strength = vec3_length(field);
    if (strength > 0.0) {
        p->field_unit = 1.0 / strength;
        p->field = vec3_scale(p->field_unit, field);
        p->mag = (square(k->mag.noise) + square(k->mag.bias)) * square(p->field_unit) + square(k->mag.scale) +
                 square(k->mag.misalignment);
    }
    p->range = square(k->range.noise) + square(k->range.step) / 12.0;
    p->range_share = square(k->range.noise_share);
    p->range_at = k->range.position;
    if (k->range.period > 0.0)
        p->range_along = vec3_scale(1.0 / vec3_length(k->range.direction), k->range.direction);
    p->flow = square(k->flow.noise);
    p->flow_at = k->flow.position;
    p->start[0] = of_three(square(e->start_position));
    p->start[1] = of_three(square(e->start_velocity));
    p->start[2] = of_three(square(e->start_attitude));
    p->start[3] = of_three(square(imu->gyro_bias) + square(imu->gyro_instability / ALLAN_FLOOR));
    p->start[4] = of_three(square(imu->accel_bias) + square(imu->accel_instability / ALLAN_FLOOR));
}

static void build_complementary(const vy_model *world, const vy_drone_def *def, complementary_params *p)
{
    const vy_estimator_def *e = &def->estimator;
    const double place = def->kit.gps.period > 0.0 ? def->kit.gps.period : def->mocap.period;
    const double pull = 1.0 - math_exp(-place / e->position_time);
    const double lift = 1.0 - math_exp(-def->kit.baro.period / e->position_time);
    memset(p, 0, sizeof *p);
    p->period = def->imu.period;
    p->gravity = gravity_at(&world->env.gravity, def->position);
    p->weight = real_max(vec3_length(p->gravity), 1e-9);
    VY_ASSERT(p->period > 0.0 && e->attitude_time > 0.0);
    p->pull = 1.0 / e->attitude_time;
    p->bias = 0.25 * square(p->pull); // critically damped
    const vec3 field = vec3_of(world->env.magnetic);
    if (vec3_length(field) > 0.0) p->field = vec3_scale(1.0 / vec3_length(field), field);
    p->position = pull;
    p->velocity = place > 0.0 ? 0.5 * square(pull) / place : 0.0;
    p->speed = pull;
    p->height = lift;
    p->climb = def->kit.baro.period > 0.0 ? 0.5 * square(lift) / def->kit.baro.period : 0.0;
}

// In the order of vy_gated.
static const int gated[VY_GATED_COUNT] = {KIT_MOCAP, KIT_GPS, KIT_BARO, KIT_MAG, KIT_RANGE, KIT_FLOW};

const char *vy_gated_name(vy_gated sensor)
{
    static const char *const names[VY_GATED_COUNT] = {"mocap", "gps", "baro", "mag", "range", "flow"};
    return (unsigned)sensor < VY_GATED_COUNT ? names[sensor] : "unknown";
}

int vy_kit_gated(const kit_model *kit) { return kit->gate_square > 0.0; }

// Unopposed, a sensor that has been rejected for gate_time is believed after as long again.
static void build_gate(const vy_model *world, const vy_drone_def *def, kit_model *kit)
{
    const vy_estimator_def *e = &def->estimator;
    const double periods[VY_GATED_COUNT] = {def->mocap.period,   def->kit.gps.period,   def->kit.baro.period,
                                            def->kit.mag.period, def->kit.range.period, def->kit.flow.period};
    kit->gate_square = square(e->gate);
    if (!vy_kit_gated(kit)) return;
    kit->gate_ticks = vy_tick_at(e->gate_time, world->dt);
    for (int i = 0; i < VY_GATED_COUNT; ++i)
        kit->gate_share[i] = real_min(periods[i] / e->gate_time, 1.0) / kit->gate_square;
}

vy_status vy_filter_build(const vy_model *world, const vy_drone_def *def, kit_model *kit, vy_error *err)
{
    if (def->estimator.kind == VY_ESTIMATOR_FADING || def->truth) return VY_OK;
    if (world->env.planet.on)
        return vy_fail(err, VY_BAD_VALUE, "drone.estimator: ekf and complementary need a flat world");
    kit->estimator = def->estimator.kind;
    kit->baro_zeroed = def->kit.baro.bias > 0.0;
    if (kit->estimator == VY_ESTIMATOR_EKF) {
        build_ekf(world, def, &kit->ekf);
        build_gate(world, def, kit);
    }
    if (kit->estimator == VY_ESTIMATOR_COMPLEMENTARY) build_complementary(world, def, &kit->complementary);
    return VY_OK;
}

void vy_filter_first(const vy_model *world, const vy_drone_def *def, uint32_t index, const body_state *body,
                     estimator_state *out)
{
    double n[9];
    const vy_estimator_def *e = &def->estimator;
    rng_normals(world->seed, RNG_STREAM_ESTIMATE, index, 0, n, 9);
    out->position = vec3_add_scaled(body->position, e->start_position, vec3_make(n[0], n[1], n[2]));
    out->velocity = vec3_add_scaled(body->velocity, e->start_velocity, vec3_make(n[3], n[4], n[5]));
    out->attitude =
        attitude_turned(body->attitude, vec3_scale(e->start_attitude, vec3_make(n[6], n[7], n[8])));
    out->gyro_bias = out->accel_bias = vec3_zero();
}

// --- the stage

// A barometer that starts with an error is set to the believed height when its first sample comes.
static double height_of(const kit_model *kit, const kit_block *k, const estimator_state *e, filter_block *f)
{
    if (kit->baro_zeroed && f->zeroed == 0) {
        f->zero = k->baro.altitude - e->position.z;
        f->zeroed = 1;
    }
    return k->baro.altitude - f->zero;
}

// Has a sample of the sensor come that the filter can use?
static int has_come(int sensor, uint64_t tick, const ekf_params *p, const drone_block *d, const kit_block *k)
{
    if (sensor == KIT_MOCAP) return d->mocap_tick == tick;
    if (k->ticks[sensor] != tick) return 0;
    return sensor == KIT_MAG ? p->field_unit > 0.0 : sensor == KIT_FLOW ? k->flow.quality > 0.0 : 1;
}

static ekf_surprise take_sample(const kit_model *kit, int sensor, drone_block *d, const kit_block *k,
                                filter_block *f, ekf_covariance *c)
{
    const ekf_params *p = &kit->ekf;
    estimator_state *e = &d->estimate;
    switch (sensor) {
    case KIT_MOCAP: return ekf_mocap(p, d->mocap.position, d->mocap.attitude, e, c);
    case KIT_GPS: return ekf_gps(p, k->gps.position, k->gps.velocity, e, c);
    case KIT_BARO: return ekf_height(p, height_of(kit, k, e, f), e, c);
    case KIT_MAG: return ekf_mag(p, k->mag.field, e, c);
    case KIT_RANGE: return ekf_range(p, k->range.distance, e, c);
    default: return ekf_flow(p, k->flow.x, k->flow.y, e, c);
    }
}

// A sample that is too far from what was expected is taken back. When that goes on for long, the filter may
// be the one that is wrong: it becomes less sure of what the sensor measures, unless others keep it sure.
static void judge_sample(const kit_model *kit, int which, uint64_t tick, const ekf_surprise *found,
                         const ekf_covariance *before, ekf_covariance *c, gate_block *g)
{
    if (g->since[which] == 0) g->since[which] = tick;
    VY_ASSERT(which >= 0 && which < VY_GATED_COUNT && found->worst > kit->gate_square);
    g->rejected[which] += 1;
    *c = *before;
    if (tick - g->since[which] >= kit->gate_ticks) ekf_widen(found, kit->gate_share[which], c);
}

static void step_ekf(const kit_model *kit, uint64_t tick, drone_block *d, const kit_block *k, filter_block *f,
                     gate_block *g)
{
    ekf_covariance c, before;
    _Static_assert((int)FILTER_STATES == (int)EKF_STATES, "a filter_block holds one covariance");
    ekf_unpack(f->covariance, &c);
    if (d->imu_tick == tick) ekf_predict(&kit->ekf, d->imu.accel, d->imu.gyro, &d->estimate, &c);
    for (int i = 0; i < VY_GATED_COUNT; ++i) {
        if (!has_come(gated[i], tick, &kit->ekf, d, k)) continue;
        const estimator_state believed = d->estimate;
        if (g != NULL) before = c;
        const ekf_surprise found = take_sample(kit, gated[i], d, k, f, &c);
        if (g == NULL) continue;
        if (found.worst > kit->gate_square) {
            d->estimate = believed;
            judge_sample(kit, i, tick, &found, &before, &c, g);
        } else {
            g->since[i] = 0;
        }
    }
    ekf_pack(&c, f->covariance);
}

static void step_complementary(const kit_model *kit, uint64_t tick, drone_block *d, const kit_block *k,
                               filter_block *f)
{
    const complementary_params *p = &kit->complementary;
    estimator_state *e = &d->estimate;
    if (d->imu_tick == tick) complementary_predict(p, d->imu.accel, d->imu.gyro, k->mag.field, e);
    if (k->ticks[KIT_GPS] == tick) {
        complementary_position(p, k->gps.position, e);
        complementary_velocity(p, k->gps.velocity, e);
    } else if (d->mocap_tick == tick && kit->links[KIT_GPS].period == 0) {
        complementary_position(p, d->mocap.position, e);
    }
    if (k->ticks[KIT_BARO] == tick) complementary_height(p, height_of(kit, k, e, f), e);
}

void vy_filter_stage(vy_world *world)
{
    const vy_model *m = &world->model;
    const uint64_t tick = world->state->tick;
    for (uint32_t i = 0; i < m->kit_count; ++i) {
        const kit_model *kit = &m->kits[i];
        VY_ASSERT(kit->estimator == VY_ESTIMATOR_FADING || kit->filter < m->filter_count);
        VY_ASSERT(!vy_kit_gated(kit) || kit->gate < m->gate_count);
        drone_block *d = &world->drones[kit->drone];
        if (kit->estimator == VY_ESTIMATOR_EKF)
            step_ekf(kit, tick, d, &world->kits[i], &world->filters[kit->filter],
                     vy_kit_gated(kit) ? &world->gates[kit->gate] : NULL);
        if (kit->estimator == VY_ESTIMATOR_COMPLEMENTARY)
            step_complementary(kit, tick, d, &world->kits[i], &world->filters[kit->filter]);
    }
}

vy_status vy_world_read_gate(const vy_world *world, vy_drone_id id, vy_gate_state *out)
{
    FPU_SCOPE;
    uint32_t slot;
    if (!vy_world_slot(world, id, &slot)) return VY_NOT_FOUND;
    memset(out, 0, sizeof *out);
    const uint32_t kit = world->model.drones[slot].kit;
    if (kit == 0 || !vy_kit_gated(&world->model.kits[kit - 1]) || world->state->tick == 0) return VY_OK;
    const gate_block *g = &world->gates[world->model.kits[kit - 1].gate];
    memcpy(out->rejected, g->rejected, sizeof out->rejected);
    memcpy(out->since, g->since, sizeof out->since);
    return VY_OK;
}
