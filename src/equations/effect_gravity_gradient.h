// effect_gravity_gradient.h - torque by gravity that is stronger at a body's near end:
//   t = sum of 3 GM / |d|^3 (u x I u), u = d / |d| from the attracting body, body axes
// (Hughes, Spacecraft Attitude Dynamics, section 8.1). Of each attracting body the central term; what J2 adds
// is smaller by about 5 J2 (radius / |d|)^2, half a percent near the Earth. Declared by `gravity.gradient`.
#pragma once
#include "equations/effect.h"

VY_FN void effect_gravity_gradient(const effect_params *p, const effect_context *context, mask on,
                                   body_loads *loads)
{
    const gravity_params *g = context->gravity_field;
    if (!g->gradient) return;
    vec3 torque = vec3_zero();
    for (int i = 0; i < VY_BASIC_OR(0, g->body_count); ++i) {
        const gravity_body *b = &g->bodies[i];
        const vec3 d =
            vec3_make(context->position.x - b->x, context->position.y - b->y, context->position.z - b->z);
        const real inverse = 1.0 / vec3_length(d);
        const vec3 u = mat3_tmul_vec(context->rotation, vec3_scale(inverse, d));
        const real k = 3.0 * (b->gm * ((inverse * inverse) * inverse));
        torque = vec3_add_scaled(torque, k, vec3_cross(u, mat3_mul_vec(p->inertia, u)));
    }
    loads->torque_body = vec3_add(loads->torque_body, vec3_masked(on, torque));
}

/// |u x I u| is at most half of the difference of the greatest and the least moment.
VY_FN effect_bound effect_gravity_gradient_bound(const effect_params *p, const effect_reach *r)
{
    return bound_of(real_set(0.0), 1.5 * (r->gravity_gradient * p->inertia_spread));
}
