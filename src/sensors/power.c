// power.c - battery monitors: figures, scenario keys, constants.
#include "sensors/sensor_rows.h"
#include "base/fail.h"

static const vy_power_def defaults = {.voltage_noise = 0.005, .current_noise = 0.05};

static const struct {
    const char *name;
    vy_power_def def;
} parts[] = {
    // TI INA226, SBOS547: 1.25 mV and 2.5 uV steps. Assumed: a shunt of 0.5 mohm, so 5 mA; noise of one step;
    // 100 Hz.
    {"ina226",
     {.period = 0.01,
      .voltage_noise = 0.00125,
      .current_noise = 0.005,
      .voltage_step = 0.00125,
      .current_step = 0.005}},
};

static const vy_schema_row rows[] = {
    PERIOD(vy_power_def, "monitor"),
    NONNEGATIVE(vy_power_def, voltage_noise, "V", "standard deviation of a sample"),
    NONNEGATIVE(vy_power_def, current_noise, "A", "standard deviation of a sample"),
    RESOLUTION(vy_power_def, voltage_step, "V"),
    RESOLUTION(vy_power_def, current_step, "A"),
    LINK(vy_power_def),
};
SENSOR_TABLE(power, "Battery monitor", "Voltage and current of the vehicle's battery.");

static vy_status check(const void *object, const vy_vehicle_def *vehicle, vy_error *err)
{
    (void)object;
    if (!(vehicle->battery.capacity > 0.0))
        return vy_fail(err, VY_BAD_VALUE, "drone.power: %s has no battery to monitor", vehicle->name);
    return VY_OK;
}

static void build(const void *object, const sensor_key *run_key, void *params)
{
    const vy_power_def *d = object;
    (void)run_key;
    *(power_params *)params =
        (power_params){d->voltage_noise, d->current_noise, {0.0, d->voltage_step}, {0.0, d->current_step}};
}

const sensor_type vy_sensor_power = {
    .name = "power",
    .display_name = "battery monitor",
    .table = &vy_table_power,
    .defaults = &defaults,
    .link_offset = offsetof(vy_power_def, link),
    PARTS(parts),
    .check = check,
    .build = build,
};
