// rotor_air.h - rotors in moving air: inputs of the rotors' effects: constants of a vehicle, and its motion
// at one moment.
//
// A rotor moves through the air with velocity v_i = v + w x r_i, which has a part along its axis (climb) and
// one across. In hover it induces v_h = sqrt(T / 2 rho A); the induced velocity follows its steady value with
// a lag of its own.
#pragma once
#include "equations/blade.h"

/// Constants of a vehicle's rotors in the air; the same for each rotor. Zero switches an effect off.
typedef struct rotor_air_params {
    real radius;                  // [m]
    real drag_across, drag_along; // [kg] force over rotor speed and velocity, across and along the axis
    real flap;                    // [kg m] torque over rotor speed and velocity
    real lift;                    // [kg/m] thrust over velocity across, squared
    real inflow;                  // [kg] thrust over rotor speed and velocity through the disc
    real vortex_ring_loss;        // [1] share of thrust lost in the middle of the vortex ring state
    real momentum_factor;         // [kg/m] 2 rho A at the reference density: T = momentum_factor v_h^2
    real inflow_half;             // [1] what is left of an error of the induced velocity after half a step
    real inflow_decay;            // [1] after a whole one; 0: it has no lag
    lag_weights inflow_weights;
    real ground;  // 1: near the ground thrust grows; 0: it does not
    real inertia; // [kg m^2] of a rotor about its axis
    real battery; // [1] what the battery can change in a rotor's thrust, at most
    blade_params blade;
} rotor_air_params;

/// State of rotors, or held over a step.
typedef struct rotor_air_state {
    vec3 downwash;          // [m/s] velocity of the air in others' wakes, world
    real inflow[ROTOR_CAP]; // [m/s] induced velocity, downwards through each disc
} rotor_air_state;

/// The rotors of a vehicle at one moment of a step.
typedef struct rotor_inputs {
    const rotor_layout *layout;
    const rotor_params *rotor;
    const rotor_curve *curve;
    const rotor_air_state *memory;
    const real *speed;   // [rad/s]
    const real *command; // [rad/s]
    int count;
    real *steady; // [m/s] out: steady induced velocity of each; NULL: not needed
} rotor_inputs;

/// Each rotor as its effects see it.
typedef struct rotor_view {
    const rotor_layout *layout;
    int count;
    real density_ratio;           // [1] density over the reference, as far as the rotors follow it
    real torque_ratio;            // [m] drag torque over thrust, of the coefficients
    vec3 velocity[ROTOR_CAP];     // [m/s] of the hub through the air, body
    real climb[ROTOR_CAP];        // [m/s] its part along the axis
    vec3 across[ROTOR_CAP];       // [m/s] the rest, body
    real speed[ROTOR_CAP];        // [rad/s]
    real acceleration[ROTOR_CAP]; // [rad/s^2] of the speed
    real thrust[ROTOR_CAP];       // [N] at the reference density
    real inflow[ROTOR_CAP];       // [m/s] what it induces now
} rotor_view;

/// Induced velocity over v_h in steady axial flow, x = climb over v_h: momentum theory in climb (x >= 0) and
/// in the windmill state (x < -2); between them, in the vortex ring and turbulent wake states where it does
/// not hold, the measured curve (Leishman, Principles of Helicopter Aerodynamics, eq. 2.99 with kappa 1).
VY_FN real inflow_axial(real x)
{
    const real half = 0.5 * x, square = half * half;
    const real climb = 1.0 / (half + real_sqrt(square + 1.0));
    const real vortex_ring_ratio = 1.0 + x * (-1.125 + x * (-1.372 + x * (-1.718 - 0.655 * x)));
    const real windmill =
        1.0 / (real_sqrt(real_max(square - 1.0, real_set(0.0))) - real_min(half, real_set(-1.0)));
    return real_select(x < 0.0, real_select(x < -2.0, windmill, vortex_ring_ratio), climb);
}

/// The same in flow across, m = (velocity across / v_h)^2 / 2 (Glauert).
VY_FN real inflow_across(real m) { return 1.0 / real_sqrt(real_sqrt(1.0 + m * m) + m); }

/// What a rotor of this thrust [N] induces in hover: v_h [m/s].
VY_FN real rotor_hover_inflow(const rotor_air_params *p, real thrust)
{
    return real_sqrt(thrust / real_select(p->momentum_factor > 0.0, p->momentum_factor, real_set(1.0)));
}

/// Steady induced velocity [m/s]: exact along and across; between them the product.
VY_FN real inflow_steady(real hover, real climb, real across_square)
{
    const mask has_inflow = hover > 1e-6;
    const real scale = 1.0 / real_select(has_inflow, hover, real_set(1.0));
    const real v = hover * inflow_axial(climb * scale) * inflow_across(0.5 * across_square * (scale * scale));
    return real_select(has_inflow, v, real_set(0.0));
}

VY_FN void rotor_view_at(const rotor_inputs *rotor_in, const rotor_air_params *p, vec3 flow_body, vec3 rate,
                         real density_ratio, rotor_view *out)
{
    out->layout = rotor_in->layout;
    out->count = rotor_in->count;
    out->density_ratio = density_ratio;
    out->torque_ratio = rotor_in->curve->torque_ratio;
    for (int i = 0; i < rotor_in->count; ++i) {
        const vec3 axis = layout_vec3(rotor_in->layout->axis[i]);
        out->velocity[i] = vec3_add(flow_body, vec3_cross(rate, layout_vec3(rotor_in->layout->hub[i])));
        out->climb[i] = vec3_dot(out->velocity[i], axis);
        out->across[i] = vec3_add_scaled(out->velocity[i], -out->climb[i], axis);
        out->speed[i] = rotor_in->speed[i];
        const real speed_error = rotor_in->command[i] - rotor_in->speed[i];
        out->acceleration[i] =
            speed_error * real_select(speed_error < 0.0, rotor_in->curve->fall, rotor_in->curve->rise);
        out->thrust[i] =
            rotor_thrust(rotor_in->layout, rotor_in->rotor, rotor_in->curve, i, rotor_in->speed[i]);
        out->inflow[i] = rotor_in->memory->inflow[i];
    }
    if (rotor_in->steady == NULL) return;
    for (int i = 0; i < rotor_in->count; ++i) {
        rotor_in->steady[i] = inflow_steady(rotor_hover_inflow(p, out->thrust[i]), out->climb[i],
                                            vec3_dot(out->across[i], out->across[i]));
        out->inflow[i] = real_select((p->momentum_factor > 0.0) & (p->inflow_decay == 0.0),
                                     rotor_in->steady[i], out->inflow[i]);
    }
}

/// Add thrust [N] to rotor `i`: along its axis, with the torque that the layout gives it.
VY_FN void rotor_add_thrust(const rotor_view *rotors, int i, real thrust, body_loads *loads)
{
    loads->force_body = vec3_add_scaled(loads->force_body, thrust, layout_vec3(rotors->layout->axis[i]));
    loads->torque_body = vec3_add_scaled(loads->torque_body, thrust, layout_vec3(rotors->layout->lever[i]));
}

/// Add a force [N] at the hub of rotor `i`, body axes.
VY_FN void rotor_add_hub_force(const rotor_view *rotors, int i, vec3 force, body_loads *loads)
{
    loads->force_body = vec3_add(loads->force_body, force);
    loads->torque_body = vec3_add(loads->torque_body, vec3_cross(layout_vec3(rotors->layout->hub[i]), force));
}
