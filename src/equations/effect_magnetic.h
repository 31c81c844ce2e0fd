// effect_magnetic.h - torque on a magnetic dipole in a uniform field: t = dipole x B, body axes.
#pragma once
#include "equations/effect.h"

VY_FN void effect_magnetic(const effect_params *p, const effect_context *context, mask on, body_loads *loads)
{
    const vec3 field = mat3_tmul_vec(context->rotation, context->magnetic_field);
    loads->torque_body = vec3_add(loads->torque_body, vec3_masked(on, vec3_cross(p->dipole, field)));
}

VY_FN effect_bound effect_magnetic_bound(const effect_params *p, const effect_reach *r)
{
    return bound_of(real_set(0.0), vec3_length(p->dipole) * r->magnetic_field);
}
