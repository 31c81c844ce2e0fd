// mag.c - magnetometers: figures, scenario keys, constants.
#include "sensors/sensor_rows.h"

#define PERCENT    0.01
#define MICROTESLA 1e-6

static const vy_mag_def defaults = {.noise = 5e-7};

static const struct {
    const char *name;
    vy_mag_def def;
} parts[] = {
    // Honeywell HMC5883L, 900405: 0.2 uT (2 milli-gauss) of noise, a step of 0.092 uT at the default gain,
    // which reaches 130 uT; 75 Hz; cross-axis 0.2 %. Assumed: 5 uT of hard iron, 2 % of scale.
    {"hmc5883l",
     {.period = 0.014,
      .noise = 0.2 * MICROTESLA,
      .bias = 5.0 * MICROTESLA,
      .scale = 2.0 * PERCENT,
      .misalignment = 0.002,
      .range = 130.0 * MICROTESLA,
      .step = 0.092 * MICROTESLA}},
    // Bosch BMM150, BST-BMM150-DS001: 0.6 uT of noise with the regular preset, a resolution of 0.3 uT, 1300
    // uT
    // in x and y; 10 Hz with that preset. Assumed: 5 uT of hard iron, 2 % of scale, 0.5 % between axes.
    {"bmm150",
     {.period = 0.1,
      .noise = 0.6 * MICROTESLA,
      .bias = 5.0 * MICROTESLA,
      .scale = 2.0 * PERCENT,
      .misalignment = 0.005,
      .range = 1300.0 * MICROTESLA,
      .step = 0.3 * MICROTESLA}},
};

static const vy_schema_row rows[] = {
    PERIOD(vy_mag_def, "magnetometer"),
    NONNEGATIVE(vy_mag_def, noise, "T", "standard deviation of a sample per axis"),
    NONNEGATIVE(vy_mag_def, bias, "T", "standard deviation of the turn-on bias, hard iron"),
    NONNEGATIVE(vy_mag_def, scale, NULL, "standard deviation of the scale's error per axis"),
    NONNEGATIVE(vy_mag_def, misalignment, "rad", "standard deviation of each axis towards each other"),
    LIMIT(vy_mag_def, range, "T", "where readings saturate"),
    RESOLUTION(vy_mag_def, step, "T"),
    LINK(vy_mag_def),
};
SENSOR_TABLE(mag, "Magnetometer", "The field of `world.magnetic_field` in body axes.");

static void calibrate(void *object)
{
    vy_mag_def *d = object;
    CALIBRATED(d->bias, 0.5 * MICROTESLA);
    CALIBRATED(d->scale, CALIBRATED_SHARE);
    CALIBRATED(d->misalignment, CALIBRATED_SHARE);
}

static void build(const void *object, const sensor_key *run_key, void *params)
{
    const vy_mag_def *d = object;
    double n[12];
    sensor_normals(run_key, n, 12);
    *(mag_params *)params = (mag_params){.noise = d->noise,
                                         .bias = vec3_scale(d->bias, vec3_make(n[0], n[1], n[2])),
                                         .distortion = distortion_draw(d->scale, d->misalignment, n + 3),
                                         .quantizer = {d->range, d->step}};
}

const sensor_type vy_sensor_mag = {
    .name = "mag",
    .display_name = "magnetometer",
    .table = &vy_table_mag,
    .defaults = &defaults,
    .link_offset = offsetof(vy_mag_def, link),
    PARTS(parts),
    .calibrate = calibrate,
    .build = build,
};
