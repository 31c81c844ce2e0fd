// effect_flapping.h - blades that advance lift more: the disc tilts back and turns the nose away from the
// motion, t_i = k w_i (v_i x axis) (Hoffmann, Huang, Waslander, Tomlin, Quadrotor Helicopter Flight Dynamics,
// 2007).
#pragma once
#include "equations/effect.h"

VY_FN void effect_flapping(const effect_params *p, const effect_context *context, mask on, body_loads *loads)
{
    const rotor_view *rotors = context->rotors;
    for (int i = 0; i < rotors->count; ++i) {
        const real k =
            real_select(on, rotors->density_ratio * (p->rotors.flap * rotors->speed[i]), real_set(0.0));
        const vec3 torque_axis = vec3_cross(rotors->velocity[i], layout_vec3(rotors->layout->axis[i]));
        loads->torque_body = vec3_add_scaled(loads->torque_body, k, torque_axis);
    }
}

VY_FN effect_bound effect_flapping_bound(const effect_params *p, const effect_reach *r)
{
    return bound_of(real_set(0.0), r->rotor_density_ratio * r->rotor_count *
                                       (r->rotor_speed * p->rotors.flap) * reach_hub_speed(r));
}
