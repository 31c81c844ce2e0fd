// drag.h - air resistance of a body: linear in body axes, and quadratic.
#pragma once
#include "equations/rigid_body.h"

typedef struct drag_params {
    vec3 linear;    // [N s/m] body axes: F_body = -linear * v_body
    real quadratic; // [kg/m]  F_world = -quadratic |v| v, that is 1/2 rho Cd A
} drag_params;

/// Adds the drag of a body moving through the air with `v_air` [m/s] in world axes.
VY_FN void drag_add(const drag_params *p, mat3 rotation, vec3 v_air, body_loads *l)
{
    if (mask_any(vec3_any_set(p->linear))) {
        const vec3 v_body = mat3_tmul_vec(rotation, v_air);
        l->force_body = vec3_sub(l->force_body, vec3_mul(p->linear, v_body));
    }
    if (mask_any(p->quadratic != 0.0)) {
        const real k = -p->quadratic * vec3_length(v_air);
        l->force_world = vec3_add_scaled(l->force_world, k, v_air);
    }
}
