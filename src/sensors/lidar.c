// lidar.c - fans of rays: figures, scenario keys, constants.
#include "sensors/sensor_rows.h"
#include "base/fail.h"
#include "base/assert.h"
#include "base/math.h"
#include <string.h>

#define DEG 0.01745329251994330 // [rad]

static const vy_lidar_def defaults = {.columns = 8,
                                      .rows = 8,
                                      .width = 0.7853981633974483,
                                      .height = 0.7853981633974483,
                                      .noise = 0.015,
                                      .min = 0.02,
                                      .max = 4.0,
                                      .attitude = {1.0, 0.0, 0.0, 0.0}};

static const struct {
    const char *name;
    vy_lidar_def def;
} parts[] = {
    // ST VL53L5CX, DS13754: 8 x 8 zones over 45 deg, 15 Hz, 2 cm to 4 m, 15 mm below 0.2 m and 5 % above, 1
    // mm
    // steps. The rays are the middles of the zones. Every 66 ms, so that whole steps fit.
    {"vl53l5cx",
     {.period = 0.066,
      .columns = 8,
      .rows = 8,
      .width = 45.0 * DEG * 7.0 / 8.0,
      .height = 45.0 * DEG * 7.0 / 8.0,
      .noise = 0.015,
      .noise_share = 0.05,
      .min = 0.02,
      .max = 4.0,
      .step = 0.001,
      .attitude = {1.0, 0.0, 0.0, 0.0}}},
    // Bitcraze Multi-ranger deck without its upward sensor: four VL53L1X, forward, left, back, right by a
    // full
    // turn.
    {"multiranger",
     {.period = 0.02,
      .columns = 4,
      .rows = 1,
      .width = 6.283185307179586,
      .noise = 0.02,
      .noise_share = 0.0015,
      .min = 0.04,
      .max = 4.0,
      .step = 0.001,
      .attitude = {1.0, 0.0, 0.0, 0.0}}},
};

static const vy_schema_row rows[] = {
    PERIOD(vy_lidar_def, "fan"),
    ROW("columns", COUNT, vy_lidar_def, columns, .range = WITHIN(1.0, VY_RAY_CAP),
        .help = "of rays, from the left to the right"),
    ROW("rows", COUNT, vy_lidar_def, rows, .range = WITHIN(1.0, VY_RAY_CAP),
        .help = "of rays, from the top down; 64 rays at most"),
    ROW("width", NUMBER, vy_lidar_def, width, .unit = "rad", .range = WITHIN(0.0, 6.28318530718),
        .help = "between the outermost columns"),
    ROW("height", NUMBER, vy_lidar_def, height, .unit = "rad", .range = WITHIN(0.0, 3.14159265359),
        .help = "between the outermost rows"),
    NONNEGATIVE(vy_lidar_def, noise, "m", "standard deviation of a sample"),
    NONNEGATIVE(vy_lidar_def, noise_share, NULL, "standard deviation over distance, on top of it"),
    DISTANCE_RANGE_ROWS(vy_lidar_def),
    RESOLUTION(vy_lidar_def, step, "m"),
    MOUNT(vy_lidar_def),
    ROW("attitude", ROTATION, vy_lidar_def, attitude, .unit = "rad", .range = ANY,
        .help = "of the fan in body axes; at the identity its middle points along +x"),
    LINK(vy_lidar_def),
};
SENSOR_TABLE(lidar, "Lidar", "Distances along a fan of rays: a scanner, or the zones of a depth camera.");

static vy_status check(const void *object, const vy_vehicle_def *vehicle, vy_error *err)
{
    const vy_lidar_def *d = object;
    const double length = quat_dot(d->attitude, d->attitude);
    (void)vehicle;
    if (!(d->columns * d->rows <= VY_RAY_CAP))
        return vy_fail(err, VY_BAD_VALUE, "drone.lidar: columns times rows must be 1 to %d, got %d times %d",
                       VY_RAY_CAP, d->columns, d->rows);
    if (!(length > 0.0 && real_is_finite(length)))
        return vy_fail(err, VY_BAD_VALUE, "drone.lidar.attitude must have a length above 0");
    return check_distance_range("lidar", d->min, d->max, err);
}

// Ray `i` of `count` across `angle`, from +half to -half: the middle one is at 0; a full turn has no ray
// twice.
static double ray_angle(int i, int count, double angle)
{
    if (count == 1) return 0.0;
    const double pieces = angle >= 6.2831853 ? count : count - 1;
    return 0.5 * angle - (double)i * (angle / pieces);
}

// In the order of the sample.
static int ray_directions(const vy_lidar_def *d, vec3 along[VY_RAY_CAP])
{
    VY_ASSERT(d->rows >= 0 && d->columns >= 0 && d->rows * d->columns <= VY_RAY_CAP);
    const quat attitude = quat_normalize(d->attitude);
    int count = 0;
    for (int row = 0; row < d->rows; ++row) {
        for (int column = 0; column < d->columns; ++column) {
            double sin_azimuth, cos_azimuth, sin_elevation, cos_elevation;
            math_sincos(ray_angle(column, d->columns, d->width), &sin_azimuth, &cos_azimuth);
            math_sincos(ray_angle(row, d->rows, d->height), &sin_elevation, &cos_elevation);
            along[count++] = quat_rotate(
                attitude, vec3_make(cos_azimuth * cos_elevation, sin_azimuth * cos_elevation, sin_elevation));
        }
    }
    return count;
}

static void build(const void *object, const sensor_key *run_key, void *params)
{
    const vy_lidar_def *d = object;
    lidar_params *p = params;
    (void)run_key;
    p->reading = (ray_params){d->noise, d->noise_share, d->min, d->max, {0.0, d->step}};
    p->position = d->position;
    p->count = ray_directions(d, p->along);
}

static int rays(const void *params, vec3 *origin, vec3 along[VY_RAY_CAP])
{
    const lidar_params *p = params;
    *origin = p->position;
    memcpy(along, p->along, sizeof p->along);
    return p->count;
}

// No distance is below 0, and no return stays no return.
static void add_error(const channel_input *in, const double *amount, double *sample)
{
    add_distances(in->channel->axes, amount, sample);
}

const sensor_type vy_sensor_lidar = {
    .name = "lidar",
    .display_name = "lidar",
    .table = &vy_table_lidar,
    .defaults = &defaults,
    .link_offset = offsetof(vy_lidar_def, link),
    PARTS(parts),
    .check = check,
    .build = build,
    .add_error = add_error,
    .rays = rays,
};
