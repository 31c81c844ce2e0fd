// blade.h - a rotor by blade elements: lift and drag of each piece of blade, summed over radius and azimuth.
//
// An element at radius r and azimuth psi meets the air with U_T = w r + v.t (t its direction of motion) and
// U_P = climb + induced velocity; its angle of attack is pitch - atan(U_P / U_T). Lift c_l = slope sin a cos
// a, no more than at stall; drag c_d = drag_0 + drag_2 sin^2 a: both hold all the way round, also where the
// flow meets the blade from behind. Four Gauss points in radius, six azimuths: smooth loads are summed
// exactly enough (tests/test_rotor_air.c). (Leishman, Principles of Helicopter Aerodynamics, chapter 3.)
#pragma once
#include "equations/rotor.h"

enum { BLADE_RADII = 4, BLADE_AZIMUTHS = 6 };

typedef struct blade_params {
    real on;                     // 1: blades are declared; 0: they are not
    real radius;                 // [m]
    real half_rho_chord;         // [kg/m^2] 1/2 rho_ref times chord times number of blades
    real slope, lift_max;        // lift over angle of attack [1/rad], and its most
    real drag_0, drag_2;         // of the profile
    real pitch_sin[BLADE_RADII]; // of the pitch at each radius
    real pitch_cos[BLADE_RADII];
} blade_params;

/// Forces and torques of one rotor in its own axes: along the axis, across it (two axes), at the reference
/// density.
typedef struct blade_loads {
    real thrust;             // [N]
    real torque;             // [N m] against its spin
    real force_1, force_2;   // [N] across
    real moment_1, moment_2; // [N m] about the axes across
} blade_loads;

/// Where the blade begins, over its radius.
#define BLADE_ROOT 0.15

/// Gauss-Legendre points between root and tip, over the radius, and their weights (sum: 1 - BLADE_ROOT).
VY_FN double blade_point(int k)
{
    VY_ASSERT(k >= 0 && k < BLADE_RADII);
    const double x[BLADE_RADII] = {-0.86113631159405258, -0.33998104358485626, 0.33998104358485626,
                                   0.86113631159405258};
    return 0.5 * (1.0 + BLADE_ROOT) + 0.5 * (1.0 - BLADE_ROOT) * x[k];
}

VY_FN double blade_weight(int k)
{
    VY_ASSERT(k >= 0 && k < BLADE_RADII);
    const double w[BLADE_RADII] = {0.34785484513745386, 0.65214515486254614, 0.65214515486254614,
                                   0.34785484513745386};
    return 0.5 * (1.0 - BLADE_ROOT) * w[k];
}

/// `v_1`, `v_2`: velocity of the hub through the air across the axis; `through`: climb and induced velocity
/// [m/s].
VY_FN blade_loads blade_sum(const blade_params *p, real speed, layout_number spin, real v_1, real v_2,
                            real through)
{
    const double cosine[BLADE_AZIMUTHS] = {1.0, 0.5, -0.5, -1.0, -0.5, 0.5};
    const double sine[BLADE_AZIMUTHS] = {0.0, 0.86602540378443865,  0.86602540378443865,
                                         0.0, -0.86602540378443865, -0.86602540378443865};
    const real zero = real_set(0.0);
    blade_loads sum = {zero, zero, zero, zero, zero, zero};
    for (int k = 0; k < BLADE_RADII; ++k) {
        const real r = blade_point(k) * p->radius;
        const real half_rho_area =
            (blade_weight(k) * (1.0 / BLADE_AZIMUTHS)) * (p->half_rho_chord * p->radius);
        for (int j = 0; j < BLADE_AZIMUTHS; ++j) {
            const layout_number t_1 = -spin * sine[j], t_2 = spin * cosine[j]; // where this blade goes
            const real tangential = speed * r + (t_1 * v_1 + t_2 * v_2);
            const real speed_through_air = real_sqrt(tangential * tangential + through * through);
            const real scale = 1.0 / real_max(speed_through_air, real_set(1e-9));
            const real c = tangential * scale, s = through * scale;
            const real sin_a = p->pitch_sin[k] * c - p->pitch_cos[k] * s;
            const real cos_a = p->pitch_cos[k] * c + p->pitch_sin[k] * s;
            const real lift = real_clamp(p->slope * (sin_a * cos_a), -p->lift_max, p->lift_max);
            const real drag = p->drag_0 + p->drag_2 * (sin_a * sin_a);
            const real pressure = half_rho_area * (speed_through_air * speed_through_air);
            const real element_thrust = pressure * (lift * c - drag * s),
                       element_drag = pressure * (lift * s + drag * c);
            sum.thrust = sum.thrust + element_thrust;
            sum.torque = sum.torque + r * element_drag;
            sum.force_1 = sum.force_1 - t_1 * element_drag;
            sum.force_2 = sum.force_2 - t_2 * element_drag;
            sum.moment_1 = sum.moment_1 + (sine[j] * r) * element_thrust;
            sum.moment_2 = sum.moment_2 - (cosine[j] * r) * element_thrust;
        }
    }
    return sum;
}
