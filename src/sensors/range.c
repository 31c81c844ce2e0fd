// range.c - range finders: figures, scenario keys, constants.
#include "sensors/sensor_rows.h"
#include "base/fail.h"

static const vy_range_def defaults = {.noise = 0.01, .min = 0.05, .max = 4.0, .direction = {0.0, 0.0, -1.0}};

static const struct {
    const char *name;
    vy_range_def def;
} parts[] = {
    // ST VL53L1X, DocID031281: 4 cm to 4 m, 50 Hz, ranging error 20 mm, 1 mm steps. Assumed: repeatability
    // 0.15 %.
    {"vl53l1x",
     {.period = 0.02,
      .noise = 0.02,
      .noise_share = 0.0015,
      .min = 0.04,
      .max = 4.0,
      .step = 0.001,
      .direction = {0.0, 0.0, -1.0}}},
    // Benewake TF-Luna, SJ-PM-TF-Luna A03: 0.2 to 8 m, 100 Hz, 1 cm steps, a standard deviation of 0.5 cm at
    // 2
    // m to 2 cm at 8 m on a bright surface. Its accuracy of 6 cm is an offset, and left out.
    {"tf-luna",
     {.period = 0.01,
      .noise_share = 0.0025,
      .min = 0.2,
      .max = 8.0,
      .step = 0.01,
      .direction = {0.0, 0.0, -1.0}}},
};

static const vy_schema_row rows[] = {
    PERIOD(vy_range_def, "range finder"),
    NONNEGATIVE(vy_range_def, noise, "m", "standard deviation of a sample"),
    NONNEGATIVE(vy_range_def, noise_share, NULL, "standard deviation over distance, on top of it"),
    DISTANCE_RANGE_ROWS(vy_range_def),
    RESOLUTION(vy_range_def, step, "m"),
    MOUNT(vy_range_def),
    ROW("direction", VECTOR, vy_range_def, direction, .size = 3, .range = ANY,
        .help = "direction of its ray, body axes, any length above 0"),
    LINK(vy_range_def),
};
SENSOR_TABLE(range, "Range finder", "Distance to the ground along one ray.");

static vy_status check(const void *object, const vy_vehicle_def *vehicle, vy_error *err)
{
    const vy_range_def *d = object;
    (void)vehicle;
    if (!(vec3_length(d->direction) > 0.0))
        return vy_fail(err, VY_BAD_VALUE, "drone.range.direction must have a length above 0");
    return check_distance_range("range", d->min, d->max, err);
}

static void build(const void *object, const sensor_key *run_key, void *params)
{
    const vy_range_def *d = object;
    (void)run_key;
    *(range_params *)params = (range_params){{d->noise, d->noise_share, d->min, d->max, {0.0, d->step}},
                                             d->position,
                                             vec3_scale(1.0 / vec3_length(d->direction), d->direction)};
}

static int rays(const void *params, vec3 *origin, vec3 along[VY_RAY_CAP])
{
    const range_params *p = params;
    *origin = p->position;
    along[0] = p->direction;
    return 1;
}

// No distance is below 0, and no return stays no return.
static void add_error(const channel_input *in, const double *amount, double *sample)
{
    add_distances(in->channel->axes, amount, sample);
}

const sensor_type vy_sensor_range = {
    .name = "range",
    .display_name = "range finder",
    .table = &vy_table_range,
    .defaults = &defaults,
    .link_offset = offsetof(vy_range_def, link),
    PARTS(parts),
    .check = check,
    .build = build,
    .add_error = add_error,
    .rays = rays,
};
