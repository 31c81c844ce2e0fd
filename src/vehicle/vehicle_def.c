// vehicle_def.c - presets of vehicles and the check of a vehicle's constants.
#include "base/fail.h"
#include "base/fpu_result.h"
#include "base/limits.h"
#include "base/real.h"
#include "base/finite.h"
#include "base/vec.h"
#include "vehicle/allocation.h"
#include "vehicle/inertia.h"
#include "vehicle/parts.h"
#include "volery/vehicle.h"
#include <stdio.h>

#define VEHICLE_COOKIE 0x76796c31u

static const vy_vehicle_def presets[] = {
#include "vehicle/presets.inl"
};
#define PRESET_COUNT (sizeof presets / sizeof presets[0])

vy_status vy_vehicle_preset(const char *name, vy_vehicle_def *out, vy_error *err)
{
    char names[200] = "";
    for (size_t i = 0; i < PRESET_COUNT; ++i) {
        if (strcmp(name, presets[i].name) == 0) {
            *out = presets[i];
            return VY_OK;
        }
        const size_t length = strlen(names);
        snprintf(names + length, sizeof names - length, "%s%s", i == 0 ? "" : ", ", presets[i].name);
    }
    return vy_fail(err, VY_NOT_FOUND, "no vehicle is called %.40s: there are %s", name, names);
}

const char *vy_vehicle_preset_name(int index)
{
    return index >= 0 && (size_t)index < PRESET_COUNT ? presets[index].name : NULL;
}

vy_vehicle_def vy_default_vehicle_def(void)
{
    vy_vehicle_def def = presets[0];
    (void)vy_vehicle_preset("crazyflie2x", &def, NULL);
    return def;
}

// Checked on the tensor itself: I and (1 + s) trace(I)/2 - I must be positive (semi)definite, by their
// leading minors. For moments a, b, c that is c (1 - s) <= (a + b) (1 + s).
int vy_inertia_is_possible(vy_mat3 inertia, double excess)
{
    const double half_trace = 0.5 * (inertia.m[0][0] + inertia.m[1][1] + inertia.m[2][2]);
    const double widened = half_trace * (1.0 + excess / (2.0 + excess));
    mat3 second_moments; // second moments of the mass distribution
    for (int r = 0; r < 3; ++r) {
        for (int c = 0; c < 3; ++c) {
            if (!real_is_finite(inertia.m[r][c]) || inertia.m[r][c] != inertia.m[c][r]) return 0;
            second_moments.m[r][c] = (r == c ? widened : 0.0) - inertia.m[r][c];
        }
    }
    const double minor = inertia.m[0][0] * inertia.m[1][1] - inertia.m[0][1] * inertia.m[1][0];
    if (!(inertia.m[0][0] > 0.0 && minor > 0.0 && mat3_det(inertia) > 0.0)) return 0;
    const double slack = 1e-9 * half_trace; // a flat plate has a zero second moment
    for (int r = 0; r < 3; ++r) {
        const int c = (r + 1) % 3;
        if (second_moments.m[r][r] < -slack) return 0;
        if (second_moments.m[r][r] * second_moments.m[c][c] -
                second_moments.m[r][c] * second_moments.m[c][r] <
            -slack * half_trace)
            return 0;
    }
    return mat3_det(second_moments) >= -slack * half_trace * half_trace;
}

static vy_status check_rotors(const vy_vehicle_def *def, vy_error *err)
{
    if (def->rotor_count < 0 || def->rotor_count > VY_ROTOR_CAP) {
        return vy_fail(err, VY_BAD_VALUE, "vehicle.rotor_count must be 0 to %d, got %d", VY_ROTOR_CAP,
                       def->rotor_count);
    }
    if (def->rotor_count == 0) return VY_OK;
    for (int i = 0; i < def->rotor_count; ++i) {
        const vy_rotor_def *rotor = &def->rotors[i];
        if (!vy_all_within(&rotor->position.x, 3, "m")) {
            return vy_fail(err, VY_BAD_VALUE, "vehicle.rotors[%d].position must be within 1e12 m", i);
        }
        if (!vy_all_within(&rotor->axis.x, 3, "")) {
            return vy_fail(err, VY_BAD_VALUE, "vehicle.rotors[%d].axis must be within 1e12", i);
        }
        if (!vy_is_nonnegative(rotor->thrust_coef, "N s^2") ||
            !vy_is_nonnegative(rotor->torque_coef, "N m s^2")) {
            return vy_fail(err, VY_BAD_VALUE, "vehicle.rotors[%d]: coefficients must be between 0 and 1e6",
                           i);
        }
        if (rotor->torque_coef > 0.0 && !(def->torque_coef > 0.0)) {
            return vy_fail(err, VY_BAD_VALUE, "vehicle.rotors[%d].torque_coef needs the vehicle's above 0",
                           i);
        }
        if (def->allocation == VY_ALLOCATION_DOCUMENTED && vy_rotor_axis(rotor).z != 1.0) {
            return vy_fail(err, VY_BAD_VALUE,
                           "vehicle.allocation documented is for rotors along +z, not rotors[%d]", i);
        }
        if (rotor->spin != 1 && rotor->spin != -1) {
            return vy_fail(err, VY_BAD_VALUE, "vehicle.rotors[%d].spin must be 1 or -1, got %d", i,
                           rotor->spin);
        }
    }
    const struct {
        const char *name, *unit;
        double value;
        int is_positive; // must be above 0
    } ranges[] = {
        {"thrust_coef", "N s^2", def->thrust_coef, 1},   {"torque_coef", "N m s^2", def->torque_coef, 0},
        {"speed_max", "rad/s", def->speed_max, 1},       {"motor_lag", "s", def->motor_lag, 0},
        {"motor_lag_down", "s", def->motor_lag_down, 0}, {"speed_idle", "rad/s", def->speed_idle, 0},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; ++i) {
        const double x = ranges[i].value;
        if (!vy_is_nonnegative(x, ranges[i].unit) || (ranges[i].is_positive && x == 0.0)) {
            return vy_fail(err, VY_BAD_VALUE, "vehicle.%s must be %s 0 and at most %g %s, got %g",
                           ranges[i].name, ranges[i].is_positive ? "above" : "at least",
                           vy_limits_of(ranges[i].unit).max, ranges[i].unit, x);
        }
    }
    if (!(def->speed_idle < def->speed_max)) {
        return vy_fail(err, VY_BAD_VALUE, "vehicle.speed_idle must be below speed_max");
    }
    if (!(def->command_dead >= 0.0 && def->command_dead < 1.0))
        return vy_fail(err, VY_BAD_VALUE, "vehicle.command_dead must be at least 0 and below 1");
    if (!(def->command_curve >= 0.0 && def->command_curve <= 1.0))
        return vy_fail(err, VY_BAD_VALUE, "vehicle.command_curve must be 0 to 1");
    if (!(vy_all_within(&def->thrust_linear, 1, "N s") && vy_all_within(&def->thrust_cubic, 1, "N s^3") &&
          vy_rotor_thrust(def, def->speed_max) > 0.0)) {
        return vy_fail(err, VY_BAD_VALUE, "vehicle.%s: the thrust polynomial must be above 0 N at speed_max",
                       def->thrust_cubic < 0.0 ? "thrust_cubic" : "thrust_linear");
    }
    if (def->allocation != VY_ALLOCATION_PHYSICAL && def->allocation != VY_ALLOCATION_DOCUMENTED) {
        return vy_fail(err, VY_BAD_VALUE, "vehicle.allocation must be physical or documented");
    }
    return VY_OK;
}

// What air and fields act on.
static vy_status check_body(const vy_vehicle_def *def, vy_error *err)
{
    const struct {
        const char *name;
        const double *values;
        size_t count;
    } quantities[] = {
        // in units whose limit is the common one
        {"drag_linear", &def->drag_linear.x, 3},
        {"area", &def->area, 1},
        {"cd", &def->cd, 1},
        {"volume", &def->volume, 1},
        {"damping_area", &def->damping_area.x, 3},
        {"damping", &def->damping.x, 3},
        {"light_area", &def->light_area, 1},
        {"torque_ref", &def->torque_ref, 1},
    };
    for (size_t i = 0; i < sizeof quantities / sizeof quantities[0]; ++i) {
        for (size_t k = 0; k < quantities[i].count; ++k) {
            const double x = quantities[i].values[k];
            if (!vy_is_nonnegative(x, "")) {
                return vy_fail(err, VY_BAD_VALUE, "vehicle.%s must be between 0 and 1e12, got %g",
                               quantities[i].name, x);
            }
        }
    }
    if (!vy_all_within(&def->cl, 1, "") || !vy_all_within(&def->pressure_centre.x, 3, "m") ||
        !vy_all_within(&def->dipole.x, 3, "A m^2") || !vy_all_within(&def->centre_of_mass.x, 3, "m")) {
        return vy_fail(err, VY_BAD_VALUE,
                       "vehicle: cl, pressure_centre, dipole and centre_of_mass must be within 1e12");
    }
    if (def->collision_point_count < 0 || def->collision_point_count > VY_COLLISION_POINT_CAP) {
        return vy_fail(err, VY_BAD_VALUE, "vehicle.collision_points: at most %d", VY_COLLISION_POINT_CAP);
    }
    for (int i = 0; i < def->collision_point_count; ++i) {
        if (!vy_all_within(&def->collision_points[i].position.x, 3, "m")) {
            return vy_fail(err, VY_BAD_VALUE, "vehicle.collision_points[%d].position must be within 1e12 m",
                           i);
        }
    }
    return VY_OK;
}

vy_status vy_check_vehicle_def(const vy_vehicle_def *def, vy_error *err)
{
    FPU_SCOPE;
    if (def->cookie != VEHICLE_COOKIE) {
        return vy_fail(err, VY_BAD_VALUE, "vehicle: start from vy_default_vehicle_def() or a preset");
    }
    if (memchr(def->name, '\0', sizeof def->name) == NULL) {
        return vy_fail(err, VY_BAD_VALUE, "vehicle.name must have at most %d characters", VY_NAME_CAP - 1);
    }
    if (!vy_is_positive(def->mass, "kg")) {
        return vy_fail(err, VY_BAD_VALUE, "vehicle.mass must be between 1e-9 and 1e9 kg, got %g", def->mass);
    }
    if (!vy_inertia_is_possible(def->inertia, INERTIA_EXCESS_MAX)) {
        return vy_fail(
            err, VY_BAD_VALUE,
            "vehicle.inertia must be symmetric, positive, and no moment above the sum of the others by "
            "more than %g %%",
            100.0 * INERTIA_EXCESS_MAX);
    }
    vy_status status = check_body(def, err);
    if (status == VY_OK) status = check_rotors(def, err);
    return status == VY_OK ? vy_check_parts(def, err) : status;
}

// By bisection, up to twice the top speed.
static double general_hover_speed(const vy_vehicle_def *def, const rotor_layout *layout, double weight)
{
    double lift_share = 0.0; // of one rotor's thrust that carries
    for (int i = 0; i < layout->count; ++i) lift_share += layout->thrust_scale[i] * layout->axis[i][2];
    double low = 0.0, high = 2.0 * def->speed_max;
    for (int i = 0; i < 60; ++i) {
        const double middle = 0.5 * (low + high);
        if (lift_share * vy_rotor_thrust(def, middle) < weight)
            low = middle;
        else
            high = middle;
    }
    return high;
}

double vy_vehicle_hover_speed(const vy_vehicle_def *def, double g)
{
    FPU_SCOPE;
    if (def->rotor_count == 0) return 0.0;
    const rotor_layout layout = vy_layout_build(def);
    double speed = real_sqrt(def->mass * g / (def->rotor_count * def->thrust_coef));
    if (layout.general) speed = general_hover_speed(def, &layout, def->mass * g);
    return fpu_result(speed);
}
