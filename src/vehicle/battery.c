// battery.c - batteries: scenario keys, checks, constants.
#include "base/assert.h"
#include "base/fail.h"
#include "base/schema_rows.h"
#include "vehicle/parts.h"

static const vy_battery_def defaults = {.charge = 1.0, .efficiency = 1.0};

static const vy_schema_row rows[] = {
    ROW("capacity", NUMBER, vy_battery_def, capacity, .unit = "A s", .range = AT_LEAST_0, .keyword = "none",
        .help = "`none`: the voltage is always nominal"),
    ROW("charge", NUMBER, vy_battery_def, charge, .range = WITHIN(0.0, 1.0), .help = "at the start"),
    ROW("resistance", NUMBER, vy_battery_def, resistance, .unit = "ohm", .range = AT_LEAST_0,
        .help = "inner"),
    ROW("nominal", NUMBER, vy_battery_def, nominal, .unit = "V", .range = AT_LEAST_0,
        .help = "at which rotors reach the speed they are told"),
    ROW("voltage", VECTOR, vy_battery_def, voltage, .size = 5, .unit = "V", .range = AT_LEAST_0,
        .help = "open circuit, at charge 0, 1/4, 1/2, 3/4, 1"),
    ROW("efficiency", NUMBER, vy_battery_def, efficiency, .range = WITHIN(0.0, 1.0),
        .help = "of motors and their electronics"),
    ROW("power", NUMBER, vy_battery_def, power, .unit = "W", .range = AT_LEAST_0,
        .help = "of everything that is no rotor"),
};
const vy_schema_table vy_table_battery = {.title = "Battery",
                                          .help = "What the rotors' speed depends on.",
                                          .size = sizeof(vy_battery_def),
                                          ROWS(rows)};

static int is_declared(const vy_vehicle_def *v) { return v->battery.capacity != 0.0; }

static vy_status check(const vy_vehicle_def *v, vy_error *err)
{
    const vy_battery_def *b = &v->battery;
    if (!(b->nominal > 0.0 && b->efficiency > 0.0 && b->charge > 0.0))
        return vy_fail(err, VY_BAD_VALUE, "vehicle.battery.%s must be above 0",
                       !(b->nominal > 0.0)      ? "nominal"
                       : !(b->efficiency > 0.0) ? "efficiency"
                                                : "charge");
    for (int i = 0; i < VY_BATTERY_POINT_COUNT; ++i) {
        if (!(b->voltage[i] > 0.0) || (i > 0 && b->voltage[i] < b->voltage[i - 1]))
            return vy_fail(err, VY_BAD_VALUE, "vehicle.battery.voltage must be above 0 V and not fall");
    }
    return VY_OK;
}

const vehicle_part vy_part_battery = {.name = "battery",
                                      .table = &vy_table_battery,
                                      .offset = offsetof(vy_vehicle_def, battery),
                                      .defaults = &defaults,
                                      .is_declared = is_declared,
                                      .check = check};

void vy_battery_build(const vy_battery_def *b, battery_params *out, double *start, double *speed_gain)
{
    memset(out, 0, sizeof *out);
    *start = 0.0;
    *speed_gain = 1.0;
    if (!(b->capacity > 0.0)) return;
    VY_ASSERT(b->nominal > 0.0 && b->efficiency > 0.0 && b->charge > 0.0 && b->charge <= 1.0);
    *out = (battery_params){b->capacity, b->resistance, b->nominal, {0.0}, b->efficiency, b->power};
    memcpy(out->open_circuit, b->voltage, sizeof b->voltage);
    *start = b->charge * b->capacity;
    *speed_gain = b->voltage[VY_BATTERY_POINT_COUNT - 1] / b->nominal;
}
