// effect_density.h - thinner air, less thrust: the rotors' wrench times rho / rho_ref - 1 (momentum theory:
// thrust and torque at a given speed are proportional to density).
#pragma once
#include "equations/effect.h"

VY_FN void effect_density(const effect_params *p, const effect_context *context, mask on, body_loads *loads)
{
    const real k = p->density_ratio * context->density_change;
    loads->force_body = vec3_add(loads->force_body, vec3_masked(on, vec3_scale(k, context->rotor_force)));
    loads->torque_body = vec3_add(loads->torque_body, vec3_masked(on, vec3_scale(k, context->rotor_torque)));
}

VY_FN effect_bound effect_density_bound(const effect_params *p, const effect_reach *r)
{
    if (!r->air) return bound_of(real_set(0.0), real_set(0.0)); // without an atmosphere the factor is 1
    const real k = p->density_ratio * real_max(real_abs(r->density * (1.0 / REFERENCE_DENSITY) - 1.0),
                                               real_abs(r->density_min * (1.0 / REFERENCE_DENSITY) - 1.0));
    return bound_of(k * r->rotor_force, k * r->rotor_torque);
}
