// thruster.c - thrusters: scenario keys, checks, constants.
#include "base/assert.h"
#include "base/fail.h"
#include "base/period.h"
#include "base/schema_rows.h"
#include "vehicle/allocation.h"
#include "vehicle/parts.h"
#include <stdio.h>

static void init(void *object, int index)
{
    (void)index;
    memset(object, 0, sizeof(vy_thruster_def));
}

static const vy_schema_row rows[] = {
    ROW("position", VECTOR, vy_thruster_def, position, .size = 3, .unit = "m", .range = ANY,
        .flags = VY_ROW_REQUIRED, .help = "where the force acts, body axes"),
    ROW("axis", VECTOR, vy_thruster_def, axis, .size = 3, .range = ANY,
        .help = "direction of the force on the vehicle, any length; zero is body +z"),
    ROW("thrust_max", NUMBER, vy_thruster_def, thrust_max, .unit = "N", .range = POSITIVE,
        .flags = VY_ROW_REQUIRED, .help = "at command 1, or with the valve open"),
    ROW("thrust_min", NUMBER, vy_thruster_def, thrust_min, .unit = "N", .range = AT_LEAST_0,
        .help = "at the least command above 0; command 0 is off"),
    ROW("lag", NUMBER, vy_thruster_def, lag, .unit = "s", .range = AT_LEAST_0,
        .help = "time constant of the thrust; 0 follows at once"),
    ROW("lag_down", NUMBER, vy_thruster_def, lag_down, .unit = "s", .range = AT_LEAST_0, .keyword = "same",
        .help = "the same when it falls; `same` as it rises"),
    ROW("pulse_period", NUMBER, vy_thruster_def, pulse_period, .unit = "s", .range = AT_LEAST_0,
        .keyword = "none",
        .help = "the valve is open for the command's share of it, a whole multiple of the step; `none`: "
                "throttled"),
    ROW("pulse_min", NUMBER, vy_thruster_def, pulse_min, .unit = "s", .range = AT_LEAST_0,
        .help = "shortest pulse; what is shorter waits for the next period"),
};
const vy_schema_table vy_table_thruster = {
    .title = "Thrusters",
    .help =
        "A list of jets and thrusters. Their commands follow those of the rotors; where there are no rotors, "
        "they make thrust and torque.",
    .size = sizeof(vy_thruster_def),
    .init = init,
    ROWS(rows)};

static vy_status check_one(const vy_thruster_def *thruster, int i, vy_error *err)
{
    char where[40];
    snprintf(where, sizeof where, "vehicle.thrusters[%d]", i);
    const vy_status status = vy_check_rows(&vy_table_thruster, where, thruster, err);
    if (status != VY_OK) return status;
    if (!(thruster->thrust_max > thruster->thrust_min))
        return vy_fail(err, VY_BAD_VALUE, "%s.thrust_min must be at least 0 N and below thrust_max", where);
    if (thruster->pulse_min > thruster->pulse_period)
        return vy_fail(err, VY_BAD_VALUE, "%s.pulse_min must be at most pulse_period (%g s), got %g s", where,
                       thruster->pulse_period, thruster->pulse_min);
    if (thruster->pulse_period > 0.0 && thruster->thrust_min > 0.0)
        return vy_fail(err, VY_BAD_VALUE, "%s.thrust_min: a pulsed one is on or off and has none", where);
    return VY_OK;
}

static vy_status check(const vy_vehicle_def *vehicle, vy_error *err)
{
    const int max_count = VY_ROTOR_CAP - vehicle->rotor_count;
    if (vehicle->thruster_count < 0 || vehicle->thruster_count > max_count)
        return vy_fail(err, VY_BAD_VALUE,
                       "vehicle.thrusters: rotors and thrusters together are at most %d, got %d",
                       VY_ROTOR_CAP, vehicle->rotor_count + vehicle->thruster_count);
    vy_status status = VY_OK;
    for (int i = 0; i < vehicle->thruster_count && status == VY_OK; ++i)
        status = check_one(&vehicle->thrusters[i], i, err);
    return status;
}

const vehicle_part vy_part_thruster = {.name = "thrusters", .check = check};

static void store(double out[3], vec3 v)
{
    out[0] = v.x;
    out[1] = v.y;
    out[2] = v.z;
}

void vy_thruster_layout_build(const vy_vehicle_def *def, thruster_layout *out)
{
    out->count = def->thruster_count;
    VY_ASSERT(def->thruster_count >= 0 && def->thruster_count <= THRUSTER_CAP);
    for (int i = 0; i < def->thruster_count; ++i) {
        const vy_thruster_def *thruster = &def->thrusters[i];
        const vec3 axis = vy_axis_of(thruster->axis),
                   nozzle = vec3_sub(thruster->position, def->centre_of_mass);
        store(out->axis[i], axis);
        store(out->nozzle[i], nozzle);
        store(out->lever[i], vec3_cross(nozzle, axis));
        out->thrust_max[i] = thruster->thrust_max;
        out->thrust_min[i] = thruster->thrust_min;
        out->pulse_min[i] = thruster->pulse_min;
    }
}

vy_status vy_thruster_build(const vy_vehicle_def *def, double dt, thruster_layout *out, vy_error *err)
{
    out->step = dt;
    VY_ASSERT(def->thruster_count == out->count && out->count <= THRUSTER_CAP);
    for (int i = 0; i < def->thruster_count; ++i) {
        const vy_thruster_def *thruster = &def->thrusters[i];
        const double lag_down = thruster->lag_down > 0.0 ? thruster->lag_down : thruster->lag;
        out->rise_half[i] = vy_lag_decay(0.5 * dt, thruster->lag);
        out->rise_full[i] = vy_lag_decay(dt, thruster->lag);
        out->fall_half[i] = vy_lag_decay(0.5 * dt, lag_down);
        out->fall_full[i] = vy_lag_decay(dt, lag_down);
        out->period[i] = 0;
        if (thruster->pulse_period == 0.0) continue;
        char name[48];
        snprintf(name, sizeof name, "vehicle.thrusters[%d].pulse_period", i);
        const vy_status status = vy_period_ticks(name, thruster->pulse_period, dt, &out->period[i], err);
        if (status != VY_OK) return status;
    }
    return VY_OK;
}
