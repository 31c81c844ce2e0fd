// effect_disturbance.h - declared forces from outside.
#pragma once
#include "equations/effect.h"

VY_FN void effect_disturbance(const effect_params *p, const effect_context *context, mask on,
                              body_loads *loads)
{
    (void)p;
    loads->force_world = vec3_add(loads->force_world, vec3_masked(on, context->disturbance_world));
    loads->force_body = vec3_add(loads->force_body, vec3_masked(on, context->disturbance_body));
}

VY_FN effect_bound effect_disturbance_bound(const effect_params *p, const effect_reach *r)
{
    (void)p;
    return bound_of(r->disturbance, real_set(0.0));
}
