// flow.c - optical flow: figures, scenario keys, constants.
#include "sensors/sensor_rows.h"
#include "base/fail.h"

static const vy_flow_def defaults = {.noise = 0.05, .min = 0.08, .max = 30.0};

static const struct {
    const char *name;
    vy_flow_def def;
} parts[] = {
    // PixArt PMW3901MB: from 80 mm on, 7.4 rad/s, 121 frames a second. Assumed: read every 10 ms, 0.1 rad/s
    // of
    // noise, texture up to 30 m.
    {"pmw3901", {.period = 0.01, .noise = 0.1, .min = 0.08, .max = 30.0, .range = 7.4}},
};

static const vy_schema_row rows[] = {
    PERIOD(vy_flow_def, "optical flow"),
    NONNEGATIVE(vy_flow_def, noise, "rad/s", "standard deviation of a sample per axis"),
    DISTANCE_RANGE_ROWS(vy_flow_def),
    LIMIT(vy_flow_def, range, "rad/s", "above which it loses track"),
    MOUNT(vy_flow_def),
    LINK(vy_flow_def),
};
SENSOR_TABLE(flow, "Optical flow", "How fast the ground passes a camera that looks along body -z.");

static vy_status check(const void *object, const vy_vehicle_def *vehicle, vy_error *err)
{
    const vy_flow_def *d = object;
    (void)vehicle;
    return check_distance_range("flow", d->min, d->max, err);
}

static void build(const void *object, const sensor_key *run_key, void *params)
{
    const vy_flow_def *d = object;
    (void)run_key;
    *(flow_params *)params = (flow_params){d->noise, d->min, d->max, d->range, d->position};
}

// A sensor that has lost track keeps reporting so.
static void add_error(const channel_input *in, const double *amount, double *sample)
{
    (void)in;
    if (sample[2] == 0.0) return;
    sample[0] += amount[0];
    sample[1] += amount[1];
}

const sensor_type vy_sensor_flow = {
    .name = "flow",
    .display_name = "optical flow sensor",
    .table = &vy_table_flow,
    .defaults = &defaults,
    .link_offset = offsetof(vy_flow_def, link),
    PARTS(parts),
    .check = check,
    .build = build,
    .add_error = add_error,
};
