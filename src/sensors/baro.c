// baro.c - barometers: figures, scenario keys, constants.
#include "sensors/sensor_rows.h"

static const vy_baro_def defaults = {.noise = 2.0, .wander_time = 300.0};

static const struct {
    const char *name;
    vy_baro_def def;
} parts[] = {
    // Bosch BMP388, BST-BMP388-DS001: relative accuracy 8 Pa (0.66 m), absolute accuracy 50 Pa, 50 Hz with
    // the
    // settings advised for drones. Assumed: 1.2 Pa of noise at those, a correlation time of 5 min.
    {"bmp388",
     {.period = 0.02, .noise = 1.2, .bias = 50.0, .wander = 8.0, .wander_time = 300.0, .step = 0.016}},
    // TE MS5611-01BA03: 0.012 mbar resolution at an oversampling of 4096, absolute accuracy 1.5 mbar, 9 ms
    // for
    // a conversion. Assumed: 50 Hz, a wander of 10 Pa in 5 min.
    {"ms5611",
     {.period = 0.02, .noise = 1.2, .bias = 150.0, .wander = 10.0, .wander_time = 300.0, .step = 1.2}},
};

static const vy_schema_row rows[] = {
    PERIOD(vy_baro_def, "barometer"),
    NONNEGATIVE(vy_baro_def, noise, "Pa", "standard deviation of a sample"),
    NONNEGATIVE(vy_baro_def, bias, "Pa", "standard deviation of the turn-on bias"),
    NONNEGATIVE(vy_baro_def, wander, "Pa", "standard deviation of a slow wander"),
    ROW("wander_time", NUMBER, vy_baro_def, wander_time, .unit = "s", .range = POSITIVE,
        .help = "its correlation time"),
    RESOLUTION(vy_baro_def, step, "Pa"),
    LINK(vy_baro_def),
};
SENSOR_TABLE(baro, "Barometer", "Pressure of the air.");

static void build(const void *object, const sensor_key *run_key, void *params)
{
    const vy_baro_def *d = object;
    double n[1];
    sensor_normals(run_key, n, 1);
    *(baro_params *)params = (baro_params){.noise = d->noise,
                                           .bias = d->bias * n[0],
                                           .wander_deviation = d->wander,
                                           .wander = gauss_markov_of(d->wander, d->period, d->wander_time),
                                           .quantizer = {0.0, d->step}};
}

static void start(const void *params, const sensor_key *key, void *block)
{
    double n[1];
    sensor_normals(key, n, 1);
    ((baro_block *)block)->wander = ((const baro_params *)params)->wander_deviation * n[0];
}

// The altitude follows the pressure.
static void add_error(const channel_input *in, const double *amount, double *sample)
{
    sample[0] += amount[0];
    sample[1] = baro_altitude(in->atmosphere, sample[0]);
}

const sensor_type vy_sensor_baro = {
    .name = "baro",
    .display_name = "barometer",
    .table = &vy_table_baro,
    .defaults = &defaults,
    .link_offset = offsetof(vy_baro_def, link),
    PARTS(parts),
    .build = build,
    .start = start,
    .add_error = add_error,
};
