// effect_rotor_drag.h - the drag of turning rotors (H-force): F_i = -w_i (k_d v_across + k_z v_along), at
// each hub (Mahony, Kumar, Corke, Multirotor Aerial Vehicles, 2012; Foerster 2015).
#pragma once
#include "equations/effect.h"

VY_FN void effect_rotor_drag(const effect_params *p, const effect_context *context, mask on,
                             body_loads *loads)
{
    const rotor_view *rotors = context->rotors;
    for (int i = 0; i < rotors->count; ++i) {
        const real k = real_select(on, -(rotors->density_ratio * rotors->speed[i]), real_set(0.0));
        const vec3 along =
            vec3_scale(p->rotors.drag_along * rotors->climb[i], layout_vec3(rotors->layout->axis[i]));
        const vec3 drag = vec3_add_scaled(along, p->rotors.drag_across, rotors->across[i]);
        rotor_add_hub_force(rotors, i, vec3_scale(k, drag), loads);
    }
}

VY_FN effect_bound effect_rotor_drag_bound(const effect_params *p, const effect_reach *r)
{
    const real k = real_max(p->rotors.drag_across, p->rotors.drag_along);
    const real force = r->rotor_density_ratio * r->rotor_count * (r->rotor_speed * k) * reach_hub_speed(r);
    return bound_of(force, r->arm * force);
}
