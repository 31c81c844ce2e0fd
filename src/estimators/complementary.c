// complementary.c - the complementary filter: its gains, and its step.
#include "base/assert.h"
#include "base/math.h"
#include "estimators/estimators.h"

static double square(double x) { return x * x; }

// Gains of three poles at 1 / position_time, or as quick as the samples allow.
static void build_aided(const vy_gps_def *gps, const vy_estimator_def *def, complementary_params *p)
{
    const double period = gps->period, pole = real_min(1.0 / def->position_time, 0.2 / period);
    p->is_aided = 1;
    p->velocity_sample_gain = 3.0 * pole * period;
    p->tilt_gain = 3.0 * square(pole) * period / p->gravity_norm;
    p->gyro_bias_gain = pole * square(pole) * period / p->gravity_norm;
    p->delay = gps->link.delay;
    p->smoothing = p->delay > 0.0 ? 1.0 - math_exp(-2.0 * p->period / p->delay) : 1.0;
}

static void build(const estimator_setup *in, void *params)
{
    const vy_estimator_def *def = in->def;
    complementary_params *p = params;
    const double position_period =
        in->sensor_suite->gps.period > 0.0 ? in->sensor_suite->gps.period : in->mocap->period;
    const double position_gain = 1.0 - math_exp(-position_period / def->position_time);
    const double height_gain = 1.0 - math_exp(-in->sensor_suite->baro.period / def->position_time);
    memset(p, 0, sizeof *p);
    p->period = in->imu->period;
    p->gravity = in->gravity;
    p->gravity_norm = real_max(vec3_length(p->gravity), 1e-9);
    VY_ASSERT(p->period > 0.0 && def->attitude_time > 0.0);
    p->attitude_gain = 1.0 / def->attitude_time;
    p->bias_gain = 0.25 * square(p->attitude_gain); // critically damped
    const double strength = vec3_length(in->field);
    if (strength > 0.0) p->field = vec3_scale(1.0 / strength, in->field);
    p->position_gain = position_gain;
    p->velocity_gain = position_period > 0.0 ? 0.5 * square(position_gain) / position_period : 0.0;
    p->velocity_sample_gain = position_gain;
    if (in->sensor_suite->gps.period > 0.0 && p->gravity_norm > 0.1)
        build_aided(&in->sensor_suite->gps, def, p);
    p->height_gain = height_gain;
    p->climb_gain =
        in->sensor_suite->baro.period > 0.0 ? 0.5 * square(height_gain) / in->sensor_suite->baro.period : 0.0;
    p->baro_has_offset = in->sensor_suite->baro.bias > 0.0;
    p->align = vy_align_build(in);
}

const estimator_type vy_estimator_complementary = {.name = "complementary", .build = build};

void vy_complementary_step(const complementary_params *p, const estimator_samples *in,
                           estimator_state *estimate, const filter_blocks *memory)
{
    const sensor_suite_blocks *sensors = in->sensors;
    gain_filter_block *gains = memory->gains;
    if (memory->filter->started == 0) {
        if (vy_align_step(&p->align, in, estimate, memory->filter)) memory->filter->started = in->tick;
        return;
    }
    complementary_params ground_params;
    if (in->ground != NULL) {
        ground_params = *p;
        ground_params.gravity = in->ground->gravity;
        ground_params.gravity_norm = vec3_length(ground_params.gravity);
        p = &ground_params;
    }
    if (in->imu_tick == in->tick)
        complementary_predict(p, in->accel, in->gyro,
                              sensors->mag != NULL ? sensors->mag->field : vec3_zero(), estimate, gains);
    if (sensors->gps != NULL && sensors->gps->tick == in->tick) {
        // Fixes are old: what they say of then, said of now.
        const vec3 displacement = vec3_add_scaled(vec3_scale(p->delay, estimate->velocity),
                                                  -0.5 * square(p->delay), gains->acceleration);
        const vec3 velocity_change = vec3_scale(p->delay, gains->acceleration);
        complementary_position(p, vec3_add(sensors->gps->position, displacement), estimate);
        complementary_velocity(p, vec3_add(sensors->gps->velocity, velocity_change), gains->acceleration,
                               estimate);
    } else if (in->mocap_tick == in->tick && sensors->gps == NULL) {
        complementary_position(p, in->mocap->position, estimate);
    }
    if (sensors->baro != NULL && sensors->baro->tick == in->tick)
        complementary_height(p,
                             complementary_baro(samples_baro_z(in, sensors->baro->altitude),
                                                p->baro_has_offset, estimate, gains),
                             estimate);
}
