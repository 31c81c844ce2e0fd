// effect_lift.h - lift: F = 1/2 rho Cl A |v|^2 along the part of body +z that is across v; none when v is
// along z.
#pragma once
#include "equations/effect.h"

VY_FN vec3 lift_force(const effect_params *p, const effect_context *context)
{
    const vec3 z = vec3_make(context->rotation.m[0][2], context->rotation.m[1][2], context->rotation.m[2][2]);
    const real square =
        vec3_dot(context->flow, context->flow); // not from the speed: that waits for a square root
    // across = z |v|^2 - v (v . z), of length |v|^2 sin(angle); the force is 1/2 rho Cl A |v|^2 across /
    // |across|.
    const vec3 across =
        vec3_sub(vec3_scale(square, z), vec3_scale(vec3_dot(context->flow, z), context->flow));
    const real length = vec3_length(across);
    const mask is_defined = length > 1e-9 * square; // else along z, or at rest
    const real k =
        0.5 * (context->density * p->lift_area) * square / real_select(is_defined, length, real_set(1.0));
    return vec3_scale(real_select(is_defined, k, real_set(0.0)), across);
}

VY_FN void effect_lift(const effect_params *p, const effect_context *context, mask on, body_loads *loads)
{
    loads->force_world = vec3_add(loads->force_world, vec3_masked(on, lift_force(p, context)));
}

VY_FN effect_bound effect_lift_bound(const effect_params *p, const effect_reach *r)
{
    const real v = r->speed + r->wind;
    return bound_of(0.5 * (r->density * real_abs(p->lift_area)) * (v * v), real_set(0.0));
}
