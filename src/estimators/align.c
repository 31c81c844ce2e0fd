// align.c - the start of a filter on the ground.
#include "estimators/align.h"
#include "base/assert.h"
#include "base/math.h"

align_params vy_align_build(const estimator_setup *in)
{
    const vy_imu_def *imu = in->imu;
    const vy_sensor_suite_def *suite = in->sensor_suite;
    VY_ASSERT(imu->period > 0.0);
    // Noise of a sample, to 6 deviations, and what a drone on its feet may shake.
    return (align_params){.time = in->def->start == VY_START_GROUND ? VY_ALIGNMENT_TIME : 0.0,
                          .period = imu->period,
                          .gyro_tolerance = 0.05 + 6.0 * imu->gyro_noise / real_sqrt(imu->period),
                          .accel_tolerance = 0.5 + 6.0 * imu->accel_noise / real_sqrt(imu->period),
                          .gravity = in->gravity,
                          .field = in->field,
                          .needs_fix = in->mocap->period > 0.0 || suite->gps.period > 0.0,
                          .needs_field = suite->mag.period > 0.0 && vec3_length(in->field) > 0.0};
}

static vec3 mean_next(vec3 mean, uint64_t count, vec3 value)
{
    VY_ASSERT(count > 0);
    return vec3_add_scaled(mean, 1.0 / (double)count, vec3_sub(value, mean));
}

// The attitude in which the force held against gravity is seen along `force`, and `field` lies over the
// horizontal part of `north`. Without one of these the nose points along x.
static quat attitude_of(vec3 force, vec3 gravity, vec3 field, vec3 north)
{
    const vec3 measured_up = vec3_scale(1.0 / vec3_length(force), force);
    const vec3 world_up = vec3_scale(-1.0 / vec3_length(gravity), gravity);
    // The shortest rotation of one onto the other, then one about `world_up`.
    const vec3 axis = vec3_cross(measured_up, world_up);
    const double one_plus_cosine = 1.0 + vec3_dot(measured_up, world_up);
    quat tilt = quat_make(0.0, 1.0, 0.0, 0.0); // on its back
    if (one_plus_cosine > 1e-9) tilt = quat_normalize(quat_make(one_plus_cosine, axis.x, axis.y, axis.z));
    const vec3 world_field = quat_rotate(tilt, field);
    const vec3 horizontal_field = vec3_add_scaled(world_field, -vec3_dot(world_field, world_up), world_up);
    const vec3 horizontal_north = vec3_add_scaled(north, -vec3_dot(north, world_up), world_up);
    const double cosine = vec3_dot(horizontal_field, horizontal_north),
                 sine = vec3_dot(vec3_cross(horizontal_field, horizontal_north), world_up);
    const double norm = real_sqrt(cosine * cosine + sine * sine);
    if (!(norm > 0.0)) return tilt;
    // Half the angle has the direction of (1 + cos, sin).
    const double c = norm + cosine, s = sine;
    quat heading = quat_make(0.0, world_up.x, world_up.y, world_up.z);
    if (c > 1e-9 * norm)
        heading = quat_normalize(quat_make(c, s * world_up.x, s * world_up.y, s * world_up.z));
    return quat_normalize(quat_mul(heading, tilt));
}

static int is_near(vec3 a, vec3 b, double tolerance)
{
    return vec3_length(vec3_sub(a, b)) <= 1.7320508 * tolerance;
}

static void restart_alignment(filter_block *filter)
{
    filter->still_samples = filter->still_fields = filter->still_fixes = 0;
    filter->still_accel = filter->still_gyro = filter->still_field = filter->still_fix = vec3_zero();
}

static void update_still_means(const align_params *p, const estimator_samples *in, filter_block *filter)
{
    const int has_moved =
        filter->still_samples > 0 && !(is_near(in->accel, filter->still_accel, p->accel_tolerance) &&
                                       is_near(in->gyro, filter->still_gyro, p->gyro_tolerance));
    if (has_moved) restart_alignment(filter);
    filter->still_samples += 1;
    filter->still_accel = mean_next(filter->still_accel, filter->still_samples, in->accel);
    filter->still_gyro = mean_next(filter->still_gyro, filter->still_samples, in->gyro);
    const double accel_norm = vec3_length(filter->still_accel), gravity_norm = vec3_length(p->gravity);
    if (!(accel_norm > 0.8 * gravity_norm && accel_norm < 1.2 * gravity_norm))
        restart_alignment(filter); // it falls, or is thrown
}

int vy_align_step(const align_params *p, const estimator_samples *in, estimator_state *estimate,
                  filter_block *filter)
{
    const sensor_suite_blocks *sensors = in->sensors;
    if (in->imu_tick == in->tick) update_still_means(p, in, filter);
    if (filter->still_samples == 0) return 0;
    if (sensors->mag != NULL && sensors->mag->tick == in->tick) {
        filter->still_fields += 1;
        filter->still_field = mean_next(filter->still_field, filter->still_fields, sensors->mag->field);
    }
    const int has_mocap = in->mocap_tick == in->tick && in->tick > 0;
    if (has_mocap || (sensors->gps != NULL && sensors->gps->tick == in->tick)) {
        filter->still_fixes += 1;
        filter->still_fix = mean_next(filter->still_fix, filter->still_fixes,
                                      has_mocap ? in->mocap->position : sensors->gps->position);
    }
    estimate->attitude = attitude_of(filter->still_accel, p->gravity, filter->still_field, p->field);
    if (in->mocap_tick > 0) estimate->attitude = in->mocap->attitude;
    if (filter->still_fixes > 0) estimate->position = filter->still_fix;
    estimate->velocity = estimate->rate = estimate->accel_bias = vec3_zero();
    estimate->gyro_bias = filter->still_gyro;
    return (double)filter->still_samples * p->period >= p->time &&
           (filter->still_fixes > 0 || !p->needs_fix) && (filter->still_fields > 0 || !p->needs_field);
}
