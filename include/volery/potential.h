// potential.h - force fields on bodies, with an energy: F = -dV/dr, torque = -dV/d(turn).
//
// A potential is a value: one of the built-in kinds, or VY_POTENTIAL_CUSTOM with two functions of the caller.
// Forces and torques are in world axes, torques about the centre of mass.
#pragma once
#include "volery/status.h"
#include "volery/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A body as a potential sees it.
typedef struct vy_potential_body {
    vy_body_state state;
    double mass;     ///< [kg]
    vy_mat3 inertia; ///< [kg m^2] about the centre of mass, body axes
} vy_potential_body;

typedef enum vy_potential_kind {
    VY_POTENTIAL_NONE,     ///< a zeroed potential is none
    VY_POTENTIAL_UNIFORM,  ///< V = -m g.r
    VY_POTENTIAL_CENTRAL,  ///< V = -mu m / r - mu (tr I - 3 u.I u) / (2 r^3), u the direction to the body
    VY_POTENTIAL_SPRING,   ///< V = k (|p - anchor| - length)^2 / 2, p a point of the body
    VY_POTENTIAL_MAGNETIC, ///< V = -(R dipole).B
    VY_POTENTIAL_CUSTOM,
} vy_potential_kind;

typedef struct vy_uniform_potential {
    vy_vec3 gravity; ///< [m/s^2] world
} vy_uniform_potential;

typedef struct vy_central_potential {
    double mu;      ///< [m^3/s^2] gravitational parameter, > 0
    vy_vec3 centre; ///< [m] world
} vy_central_potential;

typedef struct vy_spring_potential {
    double stiffness; ///< [N/m] >= 0
    double length;    ///< [m] at rest, >= 0
    vy_vec3 anchor;   ///< [m] world
    vy_vec3 point;    ///< [m] body, from the centre of mass
} vy_spring_potential;

typedef struct vy_magnetic_potential {
    vy_vec3 dipole; ///< [A m^2] body
    vy_vec3 field;  ///< [T] world
} vy_magnetic_potential;

typedef struct vy_custom_potential {
    void *self; ///< the caller's; must outlive the potential
    /// Write force [N] and torque [N m]. Must not keep state: a step calls it several times.
    void (*loads)(const void *self, const vy_potential_body *body, vy_vec3 *force, vy_vec3 *torque);
    double (*energy)(const void *self, const vy_potential_body *body); ///< [J]
} vy_custom_potential;

typedef struct vy_potential {
    vy_potential_kind kind;
    union {
        vy_uniform_potential uniform;
        vy_central_potential central;
        vy_spring_potential spring;
        vy_magnetic_potential magnetic;
        vy_custom_potential custom;
    };
} vy_potential;

// Each constructor checks its numbers, fills *out and returns VY_OK, or leaves *out unchanged and returns
// VY_BAD_VALUE with the reason in `err` (may be NULL).

/// The same pull everywhere, as gravity near the ground [m/s^2].
vy_status vy_potential_uniform(vy_vec3 gravity, vy_potential *out, vy_error *err);
/// Gravity of a distant round body, with the torque that turns a long body along the radius.
vy_status vy_potential_central(double mu, vy_vec3 centre, vy_potential *out, vy_error *err);
vy_status vy_potential_spring(double stiffness, double length, vy_vec3 anchor, vy_vec3 point,
                              vy_potential *out, vy_error *err);
vy_status vy_potential_magnetic(vy_vec3 dipole, vy_vec3 field, vy_potential *out, vy_error *err);

/// Check a potential that was filled by hand.
vy_status vy_potential_check(const vy_potential *potential, vy_error *err);

vy_vec3 vy_potential_force(const vy_potential *potential, const vy_potential_body *body);  ///< [N]
vy_vec3 vy_potential_torque(const vy_potential *potential, const vy_potential_body *body); ///< [N m]
double vy_potential_energy(const vy_potential *potential, const vy_potential_body *body);  ///< [J]

#ifdef __cplusplus
}
#endif
