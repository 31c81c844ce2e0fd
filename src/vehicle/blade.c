// blade.c - the pitch and the profile drag with which blades make a vehicle's thrust and torque in hover.
#include "vehicle/blade.h"
#include "base/fail.h"
#include "base/math.h"
#include "equations/effect.h"

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
    const vy_blade_def *d = &def->blade;
    const double radius = def->rotor_air.radius;
    blade_params b = {.on = 1.0,
                      .radius = radius,
                      .solid = 0.5 * REFERENCE_DENSITY * d->chord * d->count,
                      .slope = d->lift_slope,
                      .stall = d->lift_max,
                      .drag_2 = d->drag_square};
    // Both loads are proportional to the square of speed, so any speed will do.
    const double speed = 1000.0, thrust = def->thrust_coef * 1e6, torque = def->torque_coef * 1e6;
    const double hover = real_sqrt(thrust / (2.0 * REFERENCE_DENSITY * PI * radius * radius));
    for (int round = 0; round < 20; ++round) { // drag takes a little thrust: a few rounds settle both
        double low = d->twist * BLADE_ROOT, high = d->twist + 0.8;
        for (int i = 0; i < 60; ++i) {
            const double middle = 0.5 * (low + high);
            set_pitch(d, middle, &b);
            if (blade_sum(&b, speed, 1.0, 0.0, 0.0, hover).thrust < thrust)
                low = middle;
            else
                high = middle;
        }
        const double now = blade_sum(&b, speed, 1.0, 0.0, 0.0, hover).torque;
        blade_params more = b;
        more.drag_0 += 1.0;
        const double slope = blade_sum(&more, speed, 1.0, 0.0, 0.0, hover).torque - now;
        b.drag_0 += (torque - now) / slope;
    }
    const blade_loads l = blade_sum(&b, speed, 1.0, 0.0, 0.0, hover);
    if (!(real_abs(l.thrust - thrust) < 1e-9 * thrust)) {
        return vy_fail(err, VY_BAD_VALUE,
                       "vehicle.blade: no pitch gives thrust_coef: give more chord, blades or lift_max");
    }
    if (!(real_abs(l.torque - torque) < 1e-9 * torque) || !(b.drag_0 >= 0.0)) {
        return vy_fail(err, VY_BAD_VALUE,
                       "vehicle.blade: torque_coef is below what lifting thrust_coef takes without any drag");
    }
    *out = b;
    return VY_OK;
}
