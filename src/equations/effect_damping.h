// effect_damping.h - resistance to rotation: t = -(k + 1/4 rho |v| C S b^2) w, axis by axis. The second part
// is the usual damping derivative: C (w b / 2 |v|) on 1/2 rho |v|^2 S b, of the rate in inertial space as
// flight dynamics has it, also on a planet that turns.
#pragma once
#include "equations/effect.h"

VY_FN void effect_damping(const effect_params *p, const effect_context *context, mask on, body_loads *loads)
{
    const vec3 k = vec3_add_scaled(p->spin_damping, 0.25 * (context->density * context->flow_speed),
                                   p->rate_damping_area);
    loads->torque_body = vec3_sub(loads->torque_body, vec3_masked(on, vec3_mul(k, context->inertial_rate)));
}

VY_FN effect_bound effect_damping_bound(const effect_params *p, const effect_reach *r)
{
    const real k = vec3_max_abs(p->spin_damping) +
                   0.25 * r->density * (r->speed + r->wind) * vec3_max_abs(p->rate_damping_area);
    return bound_of(real_set(0.0), k * r->rate);
}
