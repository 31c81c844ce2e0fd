// effect_disturbance_torque.h - declared torques from outside.
#pragma once
#include "equations/effect.h"

VY_FN void effect_disturbance_torque(const effect_params *p, const effect_context *context, mask on,
                                     body_loads *loads)
{
    (void)p;
    loads->torque_world = vec3_add(loads->torque_world, vec3_masked(on, context->disturbance_torque_world));
    loads->torque_body = vec3_add(loads->torque_body, vec3_masked(on, context->disturbance_torque_body));
}

VY_FN effect_bound effect_disturbance_torque_bound(const effect_params *p, const effect_reach *r)
{
    (void)p;
    return bound_of(real_set(0.0), r->disturbance_torque);
}
