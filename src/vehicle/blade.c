// blade.c - the pitch and the profile drag with which blades make a vehicle's thrust and torque in hover.
#include "vehicle/blade.h"
#include "base/assert.h"
#include "base/fail.h"
#include "base/math.h"
#include "base/schema_rows.h"
#include "equations/effect.h"
#include "vehicle/parts.h"

#define PI 3.14159265358979323846

static void set_pitch(const vy_blade_def *def, double root, blade_params *b)
{
    for (int k = 0; k < BLADE_RADII; ++k) {
        const double pitch = root - def->twist * blade_point(k);
        b->pitch_sin[k] = math_sin(pitch);
        b->pitch_cos[k] = math_cos(pitch);
    }
}

vy_status vy_blade_build(const vy_vehicle_def *def, blade_params *out, vy_error *err)
{
    const vy_blade_def *blade = &def->blade;
    const double radius = def->rotor_air.radius;
    VY_ASSERT(radius > 0.0 && blade->count > 0 && blade->chord > 0.0);
    blade_params params = {.on = 1.0,
                           .radius = radius,
                           .half_rho_chord = 0.5 * REFERENCE_DENSITY * blade->chord * blade->count,
                           .slope = blade->lift_slope,
                           .lift_max = blade->lift_max,
                           .drag_2 = blade->drag_square};
    // Both loads are proportional to the square of speed, so any speed will do.
    const double speed = 1000.0, thrust = def->thrust_coef * 1e6, torque = def->torque_coef * 1e6;
    const double hover_inflow = real_sqrt(thrust / (2.0 * REFERENCE_DENSITY * PI * radius * radius));
    for (int round = 0; round < 20; ++round) { // drag reduces thrust a little: a few iterations settle both
        double low = blade->twist * BLADE_ROOT, high = blade->twist + 0.8;
        for (int i = 0; i < 60; ++i) {
            const double middle = 0.5 * (low + high);
            set_pitch(blade, middle, &params);
            if (blade_sum(&params, speed, 1.0, 0.0, 0.0, hover_inflow).thrust < thrust)
                low = middle;
            else
                high = middle;
        }
        const double drag_torque = blade_sum(&params, speed, 1.0, 0.0, 0.0, hover_inflow).torque;
        blade_params with_more_drag = params;
        with_more_drag.drag_0 += 1.0;
        const double slope =
            blade_sum(&with_more_drag, speed, 1.0, 0.0, 0.0, hover_inflow).torque - drag_torque;
        params.drag_0 += (torque - drag_torque) / slope;
    }
    const blade_loads loads = blade_sum(&params, speed, 1.0, 0.0, 0.0, hover_inflow);
    if (!(real_abs(loads.thrust - thrust) < 1e-9 * thrust)) {
        return vy_fail(err, VY_BAD_VALUE,
                       "vehicle.blade: no pitch gives thrust_coef: give more chord, blades or lift_max");
    }
    if (!(real_abs(loads.torque - torque) < 1e-9 * torque) || !(params.drag_0 >= 0.0)) {
        return vy_fail(err, VY_BAD_VALUE,
                       "vehicle.blade: torque_coef is below what lifting thrust_coef takes without any drag");
    }
    *out = params;
    return VY_OK;
}

static const vy_schema_row rows[] = {
    ROW("count", COUNT, vy_blade_def, count, .range = WITHIN(0.0, 16.0),
        .help = "blades of a rotor; 0: none, thrust and torque are the coefficients'"),
    ROW("chord", NUMBER, vy_blade_def, chord, .unit = "m", .range = AT_LEAST_0, .help = "of a blade"),
    ROW("twist", NUMBER, vy_blade_def, twist, .unit = "rad", .range = WITHIN(0.0, 1.0),
        .help = "pitch at the axis less pitch at the tip"),
    ROW("lift_slope", NUMBER, vy_blade_def, lift_slope, .unit = "1/rad", .range = AT_LEAST_0,
        .help = "lift coefficient over angle of attack"),
    ROW("lift_max", NUMBER, vy_blade_def, lift_max, .range = AT_LEAST_0, .help = "largest lift coefficient"),
    ROW("drag_square", NUMBER, vy_blade_def, drag_square, .range = AT_LEAST_0,
        .help = "drag coefficient over the square of the sine of the angle of attack"),
};
const vy_schema_table vy_table_blade = {
    .title = "Blades",
    .help = "Blade elements instead of the coefficients; pitch and profile drag follow from "
            "`thrust_coef` and `torque_coef` in hover.",
    .size = sizeof(vy_blade_def),
    ROWS(rows)};

static int is_declared(const vy_vehicle_def *v) { return v->rotor_count > 0 && v->blade.count != 0; }

static vy_status check(const vy_vehicle_def *vehicle, vy_error *err)
{
    const vy_blade_def *blade = &vehicle->blade;
    const vy_rotor_air_def *rotor_air = &vehicle->rotor_air;
    if (!(blade->chord > 0.0 && blade->lift_slope > 0.0 && blade->lift_max > 0.0))
        return vy_fail(err, VY_BAD_VALUE, "vehicle.blade.%s must be above 0",
                       !(blade->chord > 0.0)        ? "chord"
                       : !(blade->lift_slope > 0.0) ? "lift_slope"
                                                    : "lift_max");
    if (vehicle->thrust_linear != 0.0 || vehicle->thrust_cubic != 0.0 || !(vehicle->torque_coef > 0.0))
        return vy_fail(err, VY_BAD_VALUE,
                       "vehicle.blade needs thrust by thrust_coef alone and a torque_coef above 0");
    const struct {
        const char *key;
        double value;
    } made_by_blades[] = {{"drag", rotor_air->drag},
                          {"drag_axial", rotor_air->drag_axial},
                          {"flap", rotor_air->flap},
                          {"lift", rotor_air->lift},
                          {"inflow", rotor_air->inflow}};
    for (size_t i = 0; i < sizeof made_by_blades / sizeof *made_by_blades; ++i) {
        if (made_by_blades[i].value != 0.0)
            return vy_fail(err, VY_BAD_VALUE, "vehicle.rotor_air.%s: blades make it themselves, leave it 0",
                           made_by_blades[i].key);
    }
    blade_params unused;
    return vy_blade_build(vehicle, &unused, err);
}

const vehicle_part vy_part_blade = {.name = "blade",
                                    .table = &vy_table_blade,
                                    .offset = offsetof(vy_vehicle_def, blade),
                                    .is_declared = is_declared,
                                    .check = check};
