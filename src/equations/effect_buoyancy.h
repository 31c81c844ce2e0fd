// effect_buoyancy.h - the weight of the displaced air, upwards: F = -rho V g(r) (Archimedes).
#pragma once
#include "equations/effect.h"

VY_FN void effect_buoyancy(const effect_params *p, const effect_context *c, mask on, body_loads *l)
{
    const real k = -(c->density * p->volume);
    l->force_world = vec3_add(l->force_world, vec3_masked(on, vec3_scale(k, c->air_gravity)));
}

VY_FN effect_bound effect_buoyancy_bound(const effect_params *p, const effect_reach *r)
{
    return bound_of(r->density * p->volume * (r->gravity + r->air_gravity), real_set(0.0));
}
