// mocap.c - motion capture: figures, scenario keys.
#include "sensors/sensor_rows.h"
#include <string.h>

static const vy_mocap_def defaults = {.period = 0.01, .position_noise = 0.001, .attitude_noise = 0.0087};

vy_mocap_def vy_default_mocap_def(void) { return defaults; }

static const vy_schema_row rows[] = {
    DEFAULT_PERIOD(vy_mocap_def, "motion capture"),
    NONNEGATIVE(vy_mocap_def, position_noise, "m", "standard deviation per axis"),
    NONNEGATIVE(vy_mocap_def, attitude_noise, "rad", "standard deviation per axis"),
    LINK(vy_mocap_def),
};
const vy_schema_table vy_table_mocap = {.title = "Motion capture",
                                        .help = "Position and attitude from cameras around the room.",
                                        .size = sizeof(vy_mocap_def),
                                        ROWS(rows)};

static void build(const void *object, const sensor_key *run_key, void *params)
{
    const vy_mocap_def *d = object;
    (void)run_key;
    *(mocap_params *)params = (mocap_params){d->position_noise, d->attitude_noise};
}

// An attitude turns by three small angles about body axes.
static void add_error(const channel_input *in, const double *amount, double *sample)
{
    double *numbers = sample + in->channel->at;
    if (in->channel->cells == 4) {
        quat q = quat_make(numbers[0], numbers[1], numbers[2], numbers[3]);
        q = quat_apply_small_rotation(q, vec3_make(amount[0], amount[1], amount[2]));
        memcpy(numbers, &q, sizeof q);
        return;
    }
    for (int i = 0; i < in->channel->axes; ++i) numbers[i] += amount[i];
}

const sensor_type vy_sensor_mocap = {
    .name = "mocap",
    .display_name = "motion capture",
    .table = &vy_table_mocap,
    .defaults = &defaults,
    .link_offset = offsetof(vy_mocap_def, link),
    .build = build,
    .add_error = add_error,
};
