// complementary.c - the complementary filter: its gains, and its step.
#include "base/assert.h"
#include "base/math.h"
#include "estimators/estimators.h"

static double square(double x) { return x * x; }

static void build(const estimator_setup *in, void *params)
{
    const vy_estimator_def *e = in->def;
    complementary_params *p = params;
    const double position_period =
        in->sensor_suite->gps.period > 0.0 ? in->sensor_suite->gps.period : in->mocap->period;
    const double position_share = 1.0 - math_exp(-position_period / e->position_time);
    const double height_share = 1.0 - math_exp(-in->sensor_suite->baro.period / e->position_time);
    memset(p, 0, sizeof *p);
    p->period = in->imu->period;
    p->gravity = in->gravity;
    p->gravity_norm = real_max(vec3_length(p->gravity), 1e-9);
    VY_ASSERT(p->period > 0.0 && e->attitude_time > 0.0);
    p->attitude_gain = 1.0 / e->attitude_time;
    p->bias = 0.25 * square(p->attitude_gain); // critically damped
    const double strength = vec3_length(in->field);
    if (strength > 0.0) p->field = vec3_scale(1.0 / strength, in->field);
    p->position = position_share;
    p->velocity = position_period > 0.0 ? 0.5 * square(position_share) / position_period : 0.0;
    p->speed = position_share;
    p->height = height_share;
    p->climb = in->sensor_suite->baro.period > 0.0
                   ? 0.5 * square(height_share) / in->sensor_suite->baro.period
                   : 0.0;
    p->baro_has_offset = in->sensor_suite->baro.bias > 0.0;
}

const estimator_type vy_estimator_complementary = {.name = "complementary", .build = build};

void vy_complementary_step(const complementary_params *p, const estimator_samples *in, estimator_state *e,
                           filter_block *filter, gate_block *gate)
{
    const sensor_suite_blocks *k = in->sensors;
    (void)gate;
    complementary_params here;
    if (in->ground != NULL) {
        here = *p;
        here.gravity = in->ground->gravity;
        here.gravity_norm = vec3_length(here.gravity);
        p = &here;
    }
    if (in->imu_tick == in->tick)
        complementary_predict(p, in->accel, in->gyro, k->mag != NULL ? k->mag->field : vec3_zero(), e);
    if (k->gps != NULL && k->gps->tick == in->tick) {
        complementary_position(p, k->gps->position, e);
        complementary_velocity(p, k->gps->velocity, e);
    } else if (in->mocap_tick == in->tick && k->gps == NULL) {
        complementary_position(p, in->mocap->position, e);
    }
    if (k->baro != NULL && k->baro->tick == in->tick)
        complementary_height(
            p, filter_height(samples_baro_z(in, k->baro->altitude), p->baro_has_offset, e, filter), e);
}
