// effect_twist.h - declared torques from outside.
#pragma once
#include "equations/effect.h"

VY_FN void effect_twist(const effect_params *p, const effect_context *c, mask on, body_loads *l)
{
    (void)p;
    l->torque_world = vec3_add(l->torque_world, vec3_if(on, c->twist_world));
    l->torque_body = vec3_add(l->torque_body, vec3_if(on, c->twist_body));
}

VY_FN effect_bound effect_twist_bound(const effect_params *p, const effect_reach *r)
{
    (void)p;
    return bound_of(real_set(0.0), r->twist);
}
