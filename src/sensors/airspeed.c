// airspeed.c - pitot tubes: figures, scenario keys, constants.
#include "sensors/sensor_rows.h"
#include "base/fail.h"

static const vy_airspeed_def defaults = {.noise = 1.0, .axis = {1.0, 0.0, 0.0}};

static const struct {
    const char *name;
    vy_airspeed_def def;
} parts[] = {
    // TE MS4525DO, 1 psi differential: 14 bits over 2 psi with 10 % left at each end, so 1.05 Pa. Assumed:
    // noise of
    // one step, 10 Pa of offset left after zeroing, 100 Hz.
    {"ms4525do",
     {.period = 0.01, .noise = 1.0, .bias = 10.0, .range = 6895.0, .step = 1.05, .axis = {1.0, 0.0, 0.0}}},
    // Sensirion SDP33: 1500 Pa, steps of 1/20 Pa, zero point within 0.2 Pa. Assumed: 0.1 Pa of noise, 100 Hz.
    {"sdp33",
     {.period = 0.01, .noise = 0.1, .bias = 0.2, .range = 1500.0, .step = 0.05, .axis = {1.0, 0.0, 0.0}}},
};

static const vy_schema_row rows[] = {
    PERIOD(vy_airspeed_def, "pitot tube"),
    NONNEGATIVE(vy_airspeed_def, noise, "Pa", "standard deviation of a sample"),
    NONNEGATIVE(vy_airspeed_def, bias, "Pa", "standard deviation of the turn-on bias"),
    ROW("blockage", NUMBER, vy_airspeed_def, blockage, .range = WITHIN(0.0, 1.0),
        .help = "share of the dynamic pressure that a clogged tube keeps out"),
    LIMIT(vy_airspeed_def, range, "Pa", "where readings saturate"),
    RESOLUTION(vy_airspeed_def, step, "Pa"),
    MOUNT(vy_airspeed_def),
    ROW("axis", VECTOR, vy_airspeed_def, axis, .size = 3, .range = ANY,
        .help = "where the tube points, body axes, any length above 0"),
    LINK(vy_airspeed_def),
};
SENSOR_TABLE(airspeed, "Airspeed",
             "A pitot tube: dynamic pressure along its axis, and the indicated airspeed.");

static vy_status check(const void *object, const vy_vehicle_def *vehicle, vy_error *err)
{
    const vy_airspeed_def *d = object;
    (void)vehicle;
    if (!(vec3_length(d->axis) > 0.0))
        return vy_fail(err, VY_BAD_VALUE, "drone.airspeed.axis must have a length above 0");
    return VY_OK;
}

static void build(const void *object, const sensor_key *run_key, void *params)
{
    const vy_airspeed_def *d = object;
    double n[1];
    sensor_normals(run_key, n, 1);
    *(airspeed_params *)params = (airspeed_params){.noise = d->noise,
                                                   .bias = d->bias * n[0],
                                                   .unblocked = 1.0 - d->blockage,
                                                   .quantizer = {d->range, d->step},
                                                   .position = d->position,
                                                   .axis = vec3_scale(1.0 / vec3_length(d->axis), d->axis)};
}

// The speed follows the pressure.
static void add_error(const channel_input *in, const double *amount, double *sample)
{
    (void)in;
    sample[0] += amount[0];
    sample[1] = airspeed_of_pressure(sample[0]);
}

const sensor_type vy_sensor_airspeed = {
    .name = "airspeed",
    .display_name = "pitot tube",
    .table = &vy_table_airspeed,
    .defaults = &defaults,
    .link_offset = offsetof(vy_airspeed_def, link),
    PARTS(parts),
    .check = check,
    .build = build,
    .add_error = add_error,
};
