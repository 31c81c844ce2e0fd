// effect.h - the interface of an effect: a function that adds loads, and a bound it cannot exceed.
//
// An effect is one file effect_NAME.h with two functions and one row in effects.inl:
//   void effect_NAME(const effect_params *p, const effect_context *context, mask on, body_loads *loads)
//       adds the effect of the lanes in `on` to the accumulators, +0.0 to the others;
//   effect_bound effect_NAME_bound(const effect_params *p, const effect_reach *r)
//       magnitudes that its force and torque cannot exceed anywhere within reach.
#pragma once
#include "equations/atmosphere.h"
#include "equations/gravity.h"
#include "equations/planet.h"
#include "equations/rigid_body.h"
#include "equations/rotor_air.h"
#include "equations/wind.h"

/// Density at which a vehicle's rotor coefficients hold [kg/m^3]: the standard sea level.
#define REFERENCE_DENSITY 1.225

/// Constants of a vehicle that effects need. Zero switches an effect off.
typedef struct effect_params {
    real mass;              // [kg]
    vec3 linear_drag;       // [N s/m] body axes
    real drag_area;         // [m^2] Cd A
    real lift_area;         // [m^2] Cl A
    real volume;            // [m^3] of displaced air
    vec3 pressure_centre;   // [m] body, where drag and lift act
    vec3 rate_damping_area; // [m^4] damping by the air: torque -1/4 rho |v| rate_damping_area w, that is -C S
                            // b^2
    vec3 spin_damping;      // [N m s] damping that does not depend on the air
    real density_ratio;     // 1: rotor thrust and torque follow the air's density; 0: they do not
    vec3 dipole;            // [A m^2] body
    real light_area;        // [m^2] times the reflectivity factor
    mat3 inertia;           // [kg m^2] body axes, for the gradient of gravity
    real inertia_spread;    // [kg m^2] greatest principal moment less the least
    rotor_air_params rotors;
} effect_params;

/// Where a body is and how it moves, as the effects see it at one moment.
typedef struct effect_context {
    mat3 rotation;                            // body to world
    vec3 gravity;                             // [m/s^2] world
    vec3 air_gravity;                         // [m/s^2] world, by which the air weighs where it turns
    vec3 flow;                                // [m/s] velocity through the air, world
    real flow_speed;                          // [m/s] its length
    real density;                             // [kg/m^3]
    real density_change;                      // [1] density over the reference - 1; 0 without an atmosphere
    vec3 rate;                                // [rad/s] body, relative to the air, which turns with a planet
    vec3 inertial_rate;                       // [rad/s] body, relative to inertial space
    vec3 rotor_force;                         // [N] body, of all rotors at the reference density
    vec3 rotor_torque;                        // [N m] body
    vec3 disturbance_world, disturbance_body; // [N]
    vec3 disturbance_torque_world, disturbance_torque_body; // [N m]
    vec3 magnetic_field;                                    // [T] world
    vec3 radiation_pressure;             // [N/m^2] pressure of sunlight, along its direction, world
    vec3 position;                       // [m] world
    const gravity_params *gravity_field; // for its gradient
    real height;                         // [m] of the centre of mass over the ground
    const rotor_view *rotors;            // for the rotors' effects
} effect_context;

/// Largest magnitudes until the next evaluation of the negligibility policy.
typedef struct effect_reach {
    real gravity;                   // [m/s^2]
    real gravity_gradient;          // [1/s^2] sum of GM / |d|^3; 0 where no torque by it is declared
    real speed;                     // [m/s] of the body over the ground
    real wind;                      // [m/s]
    real density, density_min;      // [kg/m^3]
    real rate;                      // [rad/s]
    real air_rate;                  // [rad/s] of the air with a planet, in a world that does not turn with it
    real air_gravity;               // [m/s^2] its centrifugal acceleration, likewise
    real rotor_force, rotor_torque; // [N], [N m]
    real thruster_force, thruster_torque; // [N], [N m]
    real disturbance, disturbance_torque; // [N], [N m]
    real magnetic_field;                  // [T]
    real radiation_pressure;              // [N/m^2]
    int air;                              // an atmosphere is declared
    int rotors; // the vehicle's rotors have effects of their own; the rest is 0 if not
    real rotor_count;
    real rotor_speed, rotor_acceleration; // [rad/s], [rad/s^2]
    real rotor_density_ratio;             // [1] density over the reference, as far as the rotors follow it
    real arm, lever;                      // [m] farthest hub from the centre of mass; most torque per thrust
    real hover_inflow, inflow;            // [m/s] v_h, induced velocity
    real height_min;                      // [m] of the lowest hub over the ground
    real downwash;                        // [m/s] part of `wind`
} effect_reach;

typedef struct effect_bound {
    real force;  // [N]
    real torque; // [N m]
} effect_bound;

VY_FN effect_bound bound_of(real force, real torque)
{
    effect_bound b = {force, torque};
    return b;
}

/// No hub moves faster through the air [m/s].
VY_FN real reach_hub_speed(const effect_reach *r)
{
    return r->speed + r->wind + (r->rate + r->air_rate) * r->arm;
}

/// Bit `effect` of the flags, as a mask.
VY_FN mask effect_on(bits flags, int effect) { return ((flags >> effect) & 1u) != 0u; }

VY_FN vec3 vec3_masked(mask on, vec3 v) { return vec3_select(on, v, vec3_zero()); }
VY_FN real vec3_max_abs(vec3 v) { return real_max(real_max(real_abs(v.x), real_abs(v.y)), real_abs(v.z)); }
