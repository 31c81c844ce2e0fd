// effect_aero_torque.h - torque of drag and lift about the centre of mass: r_cp x F, body axes.
#pragma once
#include "equations/effect_drag.h"
#include "equations/effect_lift.h"

VY_FN void effect_aero_torque(const effect_params *p, const effect_context *context, mask on,
                              body_loads *loads)
{
    const vec3 force =
        mat3_tmul_vec(context->rotation, vec3_add(drag_force(p, context), lift_force(p, context)));
    loads->torque_body = vec3_add(loads->torque_body, vec3_masked(on, vec3_cross(p->pressure_centre, force)));
}

VY_FN effect_bound effect_aero_torque_bound(const effect_params *p, const effect_reach *r)
{
    const real force = effect_drag_bound(p, r).force + effect_lift_bound(p, r).force;
    return bound_of(real_set(0.0), vec3_length(p->pressure_centre) * force);
}
