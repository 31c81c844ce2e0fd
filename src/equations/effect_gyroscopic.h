// effect_gyroscopic.h - angular momentum of the rotors, h = sum of J spin_i w_i axis_i: t = -w x h - h', the
// second part the reaction to a rotor that speeds up (Bouabdallah, Design and Control of Quadrotors, 2007,
// section 2.3).
#pragma once
#include "equations/effect.h"

VY_FN void effect_gyroscopic(const effect_params *p, const effect_context *context, mask on,
                             body_loads *loads)
{
    const rotor_view *rotors = context->rotors;
    vec3 momentum = vec3_zero(), change = vec3_zero();
    for (int i = 0; i < rotors->count; ++i) {
        const vec3 axis = layout_vec3(rotors->layout->axis[i]);
        const real j = rotors->layout->spin[i] * p->rotors.inertia;
        momentum = vec3_add_scaled(momentum, j * rotors->speed[i], axis);
        change = vec3_add_scaled(change, j * rotors->acceleration[i], axis);
    }
    const vec3 torque = vec3_add(vec3_cross(context->inertial_rate, momentum), change);
    loads->torque_body = vec3_sub(loads->torque_body, vec3_masked(on, torque));
}

VY_FN effect_bound effect_gyroscopic_bound(const effect_params *p, const effect_reach *r)
{
    const real j = r->rotor_count * p->rotors.inertia;
    return bound_of(real_set(0.0), j * (r->rotor_speed * r->rate + r->rotor_acceleration));
}
