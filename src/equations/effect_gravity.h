// effect_gravity.h - weight: F = m g(r).
#pragma once
#include "equations/effect.h"

VY_FN void effect_gravity(const effect_params *p, const effect_context *context, mask on, body_loads *loads)
{
    // The plant adds g(r) as an acceleration, so that mass cancels exactly; nothing to add as a force.
    (void)p;
    (void)context;
    (void)on;
    (void)loads;
}

VY_FN effect_bound effect_gravity_bound(const effect_params *p, const effect_reach *r)
{
    return bound_of(p->mass * r->gravity, real_set(0.0));
}
