// gps.c - satellite receivers: figures, scenario keys, constants.
#include "sensors/sensor_rows.h"

#define CEP_TO_AXIS 0.8493 // a circle of half of all fixes to one axis' deviation: 1 / sqrt(2 ln 2)

static const vy_gps_def defaults = {
    .position_noise = 0.5, .height_noise = 1.0, .velocity_noise = 0.05, .wander_time = 60.0};

// Sheets give half of all fixes over a day within a circle (CEP) and a velocity within 0.05 m/s for half of
// the time. Assumed: that error is nearly all wander of a minute, white noise is a tenth of it, heights are
// worse by 1.5, and a fix is 0.1 s old.
static const struct {
    const char *name;
    vy_gps_def def;
} parts[] = {
    // u-blox NEO-M8N, UBX-15031086: 2.5 m CEP, 0.05 m/s, 10 Hz.
    {"neo-m8n",
     {.period = 0.1,
      .position_noise = 0.25 * CEP_TO_AXIS,
      .height_noise = 0.375 * CEP_TO_AXIS,
      .velocity_noise = 0.05,
      .position_wander = 2.5 * CEP_TO_AXIS,
      .height_wander = 3.75 * CEP_TO_AXIS,
      .wander_time = 60.0,
      .link = {.delay = 0.1}}},
    // u-blox NEO-M9N, UBX-19014285: 2.0 m CEP, 0.05 m/s, 25 Hz.
    {"neo-m9n",
     {.period = 0.04,
      .position_noise = 0.2 * CEP_TO_AXIS,
      .height_noise = 0.3 * CEP_TO_AXIS,
      .velocity_noise = 0.05,
      .position_wander = 2.0 * CEP_TO_AXIS,
      .height_wander = 3.0 * CEP_TO_AXIS,
      .wander_time = 60.0,
      .link = {.delay = 0.08}}},
};

static const vy_schema_row rows[] = {
    PERIOD(vy_gps_def, "receiver"),
    NONNEGATIVE(vy_gps_def, position_noise, "m", "standard deviation of a sample, x and y"),
    NONNEGATIVE(vy_gps_def, height_noise, "m", "the same of z"),
    NONNEGATIVE(vy_gps_def, velocity_noise, "m/s", "standard deviation of a sample per axis"),
    NONNEGATIVE(vy_gps_def, position_wander, "m", "standard deviation of a slow wander, x and y"),
    NONNEGATIVE(vy_gps_def, height_wander, "m", "the same of z"),
    ROW("wander_time", NUMBER, vy_gps_def, wander_time, .unit = "s", .range = POSITIVE,
        .help = "its correlation time"),
    MOUNT(vy_gps_def),
    LINK(vy_gps_def),
};
SENSOR_TABLE(gps, "GPS", "Position and velocity of an antenna, world axes.");

static void build(const void *object, const sensor_key *run_key, void *params)
{
    const vy_gps_def *d = object;
    (void)run_key;
    *(gps_params *)params = (gps_params){
        .position_noise = vec3_make(d->position_noise, d->position_noise, d->height_noise),
        .velocity_noise = d->velocity_noise,
        .wander_deviation = vec3_make(d->position_wander, d->position_wander, d->height_wander),
        .horizontal = gauss_markov_of(d->position_wander, d->period, d->wander_time),
        .vertical = gauss_markov_of(d->height_wander, d->period, d->wander_time),
        .position = d->position,
    };
}

static void start(const void *params, const sensor_key *key, void *block)
{
    double n[3];
    sensor_normals(key, n, 3);
    ((gps_block *)block)->wander =
        vec3_mul(((const gps_params *)params)->wander_deviation, vec3_make(n[0], n[1], n[2]));
}

const sensor_type vy_sensor_gps = {
    .name = "gps",
    .display_name = "GPS receiver",
    .table = &vy_table_gps,
    .defaults = &defaults,
    .link_offset = offsetof(vy_gps_def, link),
    PARTS(parts),
    .build = build,
    .start = start,
};
