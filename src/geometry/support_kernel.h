// support_kernel.h - the extreme point of A - B over the `extreme` of one instruction set, which the
// including file has defined.
#pragma once
#include "base/assert.h"
#include "geometry/support.h"

_Static_assert(sizeof((vy_core *)0)->own_points[0] == 8 * sizeof(double),
               "scans take eight points at a time");

static void minkowski_support(const vy_core_pair *pair, double x, double y, double z,
                              vy_minkowski_vertex *out)
{
    VY_ASSERT((pair->a.smooth || pair->a.padded_count >= 8) && (pair->b.smooth || pair->b.padded_count >= 8));
    const vec3 d = vec3_make(x, y, z);
    const vy_core *a = &pair->a, *b = &pair->b;
    const vec3 direction_b = vec3_neg(mat3_tmul_vec(pair->rotation, d));
    vec3 on_a, on_b;
    if (a->smooth == 0) {
        const int i = extreme(a->x, a->y, a->z, a->padded_count, d);
        out->ia = (uint32_t)i;
        on_a = vec3_make(a->x[i], a->y[i], a->z[i]);
    } else {
        out->ia = vy_cylinder_extreme(d);
        on_a = vy_core_point(a, out->ia);
    }
    if (b->smooth == 0) {
        const int i = extreme(b->x, b->y, b->z, b->padded_count, direction_b);
        out->ib = (uint32_t)i;
        on_b = vec3_make(b->x[i], b->y[i], b->z[i]);
    } else {
        out->ib = vy_cylinder_extreme(direction_b);
        on_b = vy_core_point(b, out->ib);
    }
    VY_ASSERT((a->smooth || out->ia < (uint32_t)a->padded_count) &&
              (b->smooth || out->ib < (uint32_t)b->padded_count));
    out->w = vec3_sub(on_a, vec3_add(mat3_mul_vec(pair->rotation, on_b), pair->offset));
}
