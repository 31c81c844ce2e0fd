// complementary.c - the complementary filter: its gains, and its step.
#include "base/assert.h"
#include "base/math.h"
#include "estimators/estimators.h"

static double square(double x) { return x * x; }

// Gains of three poles at 1 / position_time, or as quick as the samples allow.
static void build_aided(const vy_gps_def *gps, const vy_estimator_def *e, complementary_params *p)
{
    const double t = gps->period, pole = real_min(1.0 / e->position_time, 0.2 / t);
    p->is_aided = 1;
    p->velocity_sample_gain = 3.0 * pole * t;
    p->tilt_gain = 3.0 * square(pole) * t / p->gravity_norm;
    p->gyro_bias_gain = pole * square(pole) * t / p->gravity_norm;
    p->delay = gps->link.delay;
    p->smoothing = p->delay > 0.0 ? 1.0 - math_exp(-2.0 * p->period / p->delay) : 1.0;
}

static void build(const estimator_setup *in, void *params)
{
    const vy_estimator_def *e = in->def;
    complementary_params *p = params;
    const double position_period =
        in->sensor_suite->gps.period > 0.0 ? in->sensor_suite->gps.period : in->mocap->period;
    const double position_gain = 1.0 - math_exp(-position_period / e->position_time);
    const double height_gain = 1.0 - math_exp(-in->sensor_suite->baro.period / e->position_time);
    memset(p, 0, sizeof *p);
    p->period = in->imu->period;
    p->gravity = in->gravity;
    p->gravity_norm = real_max(vec3_length(p->gravity), 1e-9);
    VY_ASSERT(p->period > 0.0 && e->attitude_time > 0.0);
    p->attitude_gain = 1.0 / e->attitude_time;
    p->bias_gain = 0.25 * square(p->attitude_gain); // critically damped
    const double strength = vec3_length(in->field);
    if (strength > 0.0) p->field = vec3_scale(1.0 / strength, in->field);
    p->position_gain = position_gain;
    p->velocity_gain = position_period > 0.0 ? 0.5 * square(position_gain) / position_period : 0.0;
    p->velocity_sample_gain = position_gain;
    if (in->sensor_suite->gps.period > 0.0 && p->gravity_norm > 0.1)
        build_aided(&in->sensor_suite->gps, e, p);
    p->height_gain = height_gain;
    p->climb_gain =
        in->sensor_suite->baro.period > 0.0 ? 0.5 * square(height_gain) / in->sensor_suite->baro.period : 0.0;
    p->baro_has_offset = in->sensor_suite->baro.bias > 0.0;
    p->align = vy_align_build(in);
}

const estimator_type vy_estimator_complementary = {.name = "complementary", .build = build};

void vy_complementary_step(const complementary_params *p, const estimator_samples *in, estimator_state *e,
                           const filter_blocks *memory)
{
    const sensor_suite_blocks *k = in->sensors;
    gain_filter_block *gains = memory->gains;
    if (memory->filter->started == 0) {
        if (vy_align_step(&p->align, in, e, memory->filter)) memory->filter->started = in->tick;
        return;
    }
    complementary_params local;
    if (in->ground != NULL) {
        local = *p;
        local.gravity = in->ground->gravity;
        local.gravity_norm = vec3_length(local.gravity);
        p = &local;
    }
    if (in->imu_tick == in->tick)
        complementary_predict(p, in->accel, in->gyro, k->mag != NULL ? k->mag->field : vec3_zero(), e, gains);
    if (k->gps != NULL && k->gps->tick == in->tick) {
        // Fixes are old: what they say of then, said of now.
        const vec3 displacement =
            vec3_add_scaled(vec3_scale(p->delay, e->velocity), -0.5 * square(p->delay), gains->acceleration);
        const vec3 velocity_change = vec3_scale(p->delay, gains->acceleration);
        complementary_position(p, vec3_add(k->gps->position, displacement), e);
        complementary_velocity(p, vec3_add(k->gps->velocity, velocity_change), gains->acceleration, e);
    } else if (in->mocap_tick == in->tick && k->gps == NULL) {
        complementary_position(p, in->mocap->position, e);
    }
    if (k->baro != NULL && k->baro->tick == in->tick)
        complementary_height(
            p, complementary_baro(samples_baro_z(in, k->baro->altitude), p->baro_has_offset, e, gains), e);
}
