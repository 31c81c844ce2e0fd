// effect_linear_drag.h - drag proportional to speed in body axes, as rotors cause it: F_body = -D v_body.
#pragma once
#include "equations/effect.h"

VY_FN void effect_linear_drag(const effect_params *p, const effect_context *context, mask on,
                              body_loads *loads)
{
    const vec3 v = mat3_tmul_vec(context->rotation, context->flow);
    loads->force_body = vec3_sub(loads->force_body, vec3_masked(on, vec3_mul(p->linear_drag, v)));
}

VY_FN effect_bound effect_linear_drag_bound(const effect_params *p, const effect_reach *r)
{
    return bound_of(vec3_max_abs(p->linear_drag) * (r->speed + r->wind), real_set(0.0));
}
