// effect_inflow.h - thrust follows the air that passes the disc: T_i += k w_i (v_h - (v_ind + climb)),
// nothing in steady hover; v_ind is a state with a lag. In the vortex ring state a rotor sinks into its own
// wake and loses the share `vortex_ring_loss` of its thrust more, most at a descent of v_h, none at 0 and 2
// v_h nor with v_h across (Leishman, sections 2.13 and 3.3; Shetty, Selig, Small-Scale Propellers in the
// Vortex Ring State, 2011).
#pragma once
#include "equations/effect.h"

/// 1 in the middle of the vortex ring state, 0 outside it. x: climb over v_h; m: half the square of the
/// velocity across over v_h.
VY_FN real vortex_ring(real climb_ratio, real half_across2)
{
    const real y = real_clamp(climb_ratio, real_set(-2.0), real_set(0.0));
    const real bump = y * (2.0 + y);
    return bump * bump * real_max(1.0 - 2.0 * half_across2, real_set(0.0));
}

VY_FN void effect_inflow(const effect_params *p, const effect_context *context, mask on, body_loads *loads)
{
    const rotor_view *rotors = context->rotors;
    for (int i = 0; i < rotors->count; ++i) {
        const real hover = rotor_hover_inflow(&p->rotors, rotors->thrust[i]);
        const mask has_inflow = hover > 1e-6;
        const real scale = 1.0 / real_select(has_inflow, hover, real_set(1.0));
        const real x = real_select(has_inflow, rotors->climb[i] * scale, real_set(0.0));
        const real m = 0.5 * vec3_dot(rotors->across[i], rotors->across[i]) * (scale * scale);
        const real through = rotors->inflow[i] + rotors->climb[i];
        const real change = p->rotors.inflow * (rotors->speed[i] * (hover - through));
        const real vortex_ring_thrust = p->rotors.vortex_ring_loss * (rotors->thrust[i] * vortex_ring(x, m));
        rotor_add_thrust(
            rotors, i, real_select(on, rotors->density_ratio * (change - vortex_ring_thrust), real_set(0.0)),
            loads);
    }
}

VY_FN effect_bound effect_inflow_bound(const effect_params *p, const effect_reach *r)
{
    const real flow = r->hover_inflow + r->inflow + reach_hub_speed(r);
    const real change = r->rotor_count * (p->rotors.inflow * r->rotor_speed) * flow;
    const real force = r->rotor_density_ratio * (change + p->rotors.vortex_ring_loss * r->rotor_force);
    return bound_of(force, r->lever * force);
}
