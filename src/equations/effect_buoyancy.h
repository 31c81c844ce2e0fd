// effect_buoyancy.h - the weight of the displaced air, upwards: F = -rho V g(r) (Archimedes).
#pragma once
#include "equations/effect.h"

VY_FN void effect_buoyancy(const effect_params *p, const effect_context *context, mask on, body_loads *loads)
{
    const real k = -(context->density * p->volume);
    loads->force_world = vec3_add(loads->force_world, vec3_masked(on, vec3_scale(k, context->air_gravity)));
}

VY_FN effect_bound effect_buoyancy_bound(const effect_params *p, const effect_reach *r)
{
    return bound_of(r->density * p->volume * (r->gravity + r->air_gravity), real_set(0.0));
}
