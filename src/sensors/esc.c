// esc.c - telemetry of ESCs: figures, scenario keys, constants.
#include "sensors/sensor_rows.h"

static const vy_esc_def defaults = {.noise = 1.0};

static const struct {
    const char *name;
    vy_esc_def def;
} parts[] = {
    // KISS serial telemetry (BLHeli_32 speaks it too): steps of 100 electrical rpm. Assumed: 14 poles, so
    // 1.496 rad/s; every 20 ms per motor; no noise beyond.
    {"kiss", {.period = 0.02, .step = 1.4959965}},
};

static const vy_schema_row rows[] = {
    PERIOD(vy_esc_def, "telemetry"),
    NONNEGATIVE(vy_esc_def, noise, "rad/s", "standard deviation of a sample"),
    RESOLUTION(vy_esc_def, step, "rad/s"),
    LINK(vy_esc_def),
};
SENSOR_TABLE(esc, "ESC telemetry", "Rotor speeds reported by the motors' electronics.");

static void build(const void *object, const sensor_key *run_key, void *params)
{
    const vy_esc_def *d = object;
    (void)run_key;
    *(esc_params *)params = (esc_params){d->noise, {0.0, d->step}};
}

// Of the rotors there are; none is slower than at rest.
static void add_error(const channel_input *in, const double *amount, double *sample)
{
    for (int i = 0; i < in->rotor_count; ++i) sample[i] = real_max(sample[i] + amount[i], 0.0);
}

const sensor_type vy_sensor_esc = {
    .name = "esc",
    .display_name = "telemetry",
    .table = &vy_table_esc,
    .defaults = &defaults,
    .link_offset = offsetof(vy_esc_def, link),
    PARTS(parts),
    .build = build,
    .add_error = add_error,
};
