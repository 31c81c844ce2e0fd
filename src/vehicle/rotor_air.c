// rotor_air.c - rotors in moving air: scenario keys, checks, constants.
#include "base/assert.h"
#include "base/fail.h"
#include "base/period.h"
#include "base/schema_rows.h"
#include "equations/effect.h"
#include "vehicle/allocation.h"
#include "vehicle/parts.h"

#define PI 3.14159265358979323846

static const vy_schema_row rows[] = {
    ROW("radius", NUMBER, vy_rotor_air_def, radius, .unit = "m", .range = AT_LEAST_0,
        .help = "of the discs; needed by inflow, vortex_loss, ground, blades and wakes"),
    ROW("drag", NUMBER, vy_rotor_air_def, drag, .unit = "kg", .range = AT_LEAST_0,
        .help = "force over rotor speed and airspeed across the axis"),
    ROW("drag_axial", NUMBER, vy_rotor_air_def, drag_axial, .unit = "kg", .range = AT_LEAST_0,
        .help = "the same along the axis"),
    ROW("flap", NUMBER, vy_rotor_air_def, flap, .unit = "kg m", .range = AT_LEAST_0,
        .help = "torque over rotor speed and airspeed"),
    ROW("lift", NUMBER, vy_rotor_air_def, lift, .unit = "kg/m", .range = AT_LEAST_0,
        .help = "thrust over airspeed across the axis, squared"),
    ROW("inflow", NUMBER, vy_rotor_air_def, inflow, .unit = "kg", .range = AT_LEAST_0,
        .help = "thrust over rotor speed and velocity through the disc"),
    ROW("inflow_lag", NUMBER, vy_rotor_air_def, inflow_lag, .unit = "s", .range = AT_LEAST_0,
        .help = "time constant of the induced velocity"),
    ROW("vortex_loss", NUMBER, vy_rotor_air_def, vortex_loss, .range = WITHIN(0.0, 1.0),
        .help = "share of thrust lost in the middle of the vortex ring state"),
    ROW("inertia", NUMBER, vy_rotor_air_def, inertia, .unit = "kg m^2", .range = AT_LEAST_0,
        .help = "of a rotor about its axis, for gyroscopic torques"),
    ROW("ground", CHOICE, vy_rotor_air_def, ground, SWITCH,
        .help = "whether thrust grows near the ground: terrain and obstacles, or z = 0 where there are none"),
};
const vy_schema_table vy_table_rotor_air = {.title = "Rotors in the air",
                                            .help = "The same for every rotor; 0 leaves an effect out.",
                                            .size = sizeof(vy_rotor_air_def),
                                            ROWS(rows)};

static int has_rotors(const vy_vehicle_def *v) { return v->rotor_count > 0; }

static vy_status check(const vy_vehicle_def *vehicle, vy_error *err)
{
    const vy_rotor_air_def *rotor_air = &vehicle->rotor_air;
    const int needs_radius = rotor_air->inflow > 0.0 || rotor_air->vortex_loss > 0.0 || rotor_air->ground ||
                             vehicle->blade.count > 0;
    if (needs_radius && !(rotor_air->radius > 0.0))
        return vy_fail(
            err, VY_BAD_VALUE,
            "vehicle.rotor_air.radius must be above 0 m for inflow, vortex_loss, ground or blades");
    return VY_OK;
}

const vehicle_part vy_part_rotor_air = {.name = "rotor_air",
                                        .table = &vy_table_rotor_air,
                                        .offset = offsetof(vy_vehicle_def, rotor_air),
                                        .is_declared = has_rotors,
                                        .check = check};

// Does it remember induced velocities?
static int has_inflow_state(const vy_vehicle_def *v)
{
    return v->rotor_air.inflow > 0.0 || v->rotor_air.vortex_loss > 0.0 || v->blade.count > 0;
}

int vy_rotor_air_is_declared(const vy_vehicle_def *def)
{
    const vy_rotor_air_def *a = &def->rotor_air;
    return has_inflow_state(def) || a->drag > 0.0 || a->drag_axial > 0.0 || a->flap > 0.0 || a->lift > 0.0 ||
           a->inertia > 0.0 || a->ground;
}

static double disc_factor(const vy_rotor_air_def *a)
{
    return 2.0 * REFERENCE_DENSITY * PI * a->radius * a->radius;
}

rotor_air_params vy_rotor_air_build(const vy_vehicle_def *def, double dt, int has_ground)
{
    const vy_rotor_air_def *rotor_air = &def->rotor_air;
    VY_ASSERT(dt > 0.0 && (rotor_air->radius > 0.0 || def->rotor_count == 0 || !has_inflow_state(def)));
    rotor_air_params params = {
        .radius = rotor_air->radius,
        .drag_across = rotor_air->drag,
        .drag_along = rotor_air->drag_axial,
        .flap = rotor_air->flap,
        .lift = rotor_air->lift,
        .inflow = rotor_air->inflow,
        .vortex_ring_loss = rotor_air->vortex_loss,
        .momentum_factor = has_inflow_state(def) ? disc_factor(rotor_air) : 0.0,
        .inflow_half = vy_lag_decay(0.5 * dt, rotor_air->inflow_lag),
        .inflow_decay = vy_lag_decay(dt, rotor_air->inflow_lag),
        .inflow_weights = vy_lag_weights(dt, rotor_air->inflow_lag),
        .ground = rotor_air->ground && has_ground ? 1.0 : 0.0,
        .inertia = rotor_air->inertia,
    };
    if (def->rotor_count > 0 && def->blade.count > 0)
        (void)vy_blade_build(def, &params.blade, NULL); // checked before
    return params;
}

void vy_rotor_air_wake(const vy_vehicle_def *def, const rotor_layout *layout, double *width,
                       double *exit_speed)
{
    const int count = def->rotor_count;
    const double radius = def->rotor_air.radius;
    *width = *exit_speed = 0.0;
    if (count == 0 || !(radius > 0.0)) return;
    double thrust = 0.0;
    for (int i = 0; i < count; ++i) thrust += layout->thrust_scale[i] * vy_rotor_thrust(def, def->speed_max);
    *width = 2.0 * radius * real_sqrt(count);
    *exit_speed = 2.0 * real_sqrt(thrust / (count * disc_factor(&def->rotor_air))) * (1.0 + 1e-9);
}
