// effect_translational_lift.h - a rotor that moves across meets more air: T_i += k |v_across|^2 (Bristeau,
// Martin, Salaun, Petit, The Role of Propeller Aerodynamics in the Model of a Quadrotor UAV, 2009).
#pragma once
#include "equations/effect.h"

VY_FN void effect_translational_lift(const effect_params *p, const effect_context *context, mask on,
                                     body_loads *loads)
{
    const rotor_view *rotors = context->rotors;
    for (int i = 0; i < rotors->count; ++i) {
        const real thrust =
            rotors->density_ratio * (p->rotors.lift * vec3_dot(rotors->across[i], rotors->across[i]));
        rotor_add_thrust(rotors, i, real_select(on, thrust, real_set(0.0)), loads);
    }
}

VY_FN effect_bound effect_translational_lift_bound(const effect_params *p, const effect_reach *r)
{
    const real v = reach_hub_speed(r);
    const real force = r->rotor_density_ratio * r->rotor_count * (p->rotors.lift * (v * v));
    return bound_of(force, r->lever * force);
}
