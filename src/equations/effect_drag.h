// effect_drag.h - drag: F = -1/2 rho Cd A |v| v.
#pragma once
#include "equations/effect.h"

VY_FN vec3 drag_force(const effect_params *p, const effect_context *context)
{
    return vec3_scale(-0.5 * (context->density * p->drag_area) * context->flow_speed, context->flow);
}

VY_FN void effect_drag(const effect_params *p, const effect_context *context, mask on, body_loads *loads)
{
    loads->force_world = vec3_add(loads->force_world, vec3_masked(on, drag_force(p, context)));
}

VY_FN effect_bound effect_drag_bound(const effect_params *p, const effect_reach *r)
{
    const real v = r->speed + r->wind;
    return bound_of(0.5 * (r->density * p->drag_area) * (v * v), real_set(0.0));
}
