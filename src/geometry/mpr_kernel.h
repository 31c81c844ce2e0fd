// mpr_kernel.h - Minkowski portal refinement over the support functions of the including file.
#pragma once
#include "base/assert.h"
#include "geometry/mpr.h"

enum { MAX_ITERATIONS = 100 };

// End with hit = 0 or -1; always 0. "Apart" only where a plane through the origin separates it from A - B.
static int finish_without_overlap(vy_mpr_result *out, int hit)
{
    VY_ASSERT(hit == 0 || hit == -1);
    out->hit = hit;
    return 0;
}

// The support point along n. Returns whether it is at least as far as the origin.
static int support_passes_origin(const vy_core_pair *pair, vec3 n, vy_mpr_result *out, vy_minkowski_vertex *v)
{
    minkowski_support(pair, n.x, n.y, n.z, v);
    ++out->iterations;
    return vec3_dot(v->w, n) >= 0.0;
}

// Find a portal: a triangle that the ray from v[0] through the origin passes. 1 found, 0 finished.
static int discover_portal(const vy_core_pair *pair, vy_mpr_result *out)
{
    vy_minkowski_vertex *v = out->v;
    const vec3 v0 = v[0].w;
    if (!support_passes_origin(pair, vec3_neg(v0), out, &v[1])) return finish_without_overlap(out, 0);
    vec3 n = vec3_cross(v[1].w, v0);
    if (!(vec3_dot(n, n) > 0.0)) return finish_without_overlap(out, -1); // the ray passes a vertex
    if (!support_passes_origin(pair, n, out, &v[2])) return finish_without_overlap(out, 0);
    n = vec3_cross(vec3_sub(v[1].w, v0), vec3_sub(v[2].w, v0));
    if (vec3_dot(n, v0) > 0.0) {
        const vy_minkowski_vertex t = v[1];
        v[1] = v[2];
        v[2] = t;
        n = vec3_neg(n);
    }
    while (out->iterations < MAX_ITERATIONS) {
        if (!support_passes_origin(pair, n, out, &v[3])) return finish_without_overlap(out, 0);
        if (vec3_dot(vec3_cross(v[1].w, v[3].w), v0) < 0.0) {
            v[2] = v[3];
        } else if (vec3_dot(vec3_cross(v[3].w, v[2].w), v0) < 0.0) {
            v[1] = v[3];
        } else {
            return 1;
        }
        n = vec3_cross(vec3_sub(v[1].w, v0), vec3_sub(v[2].w, v0));
    }
    return finish_without_overlap(out, -1);
}

// Whether the line from v[0] through the origin passes the portal. Where it meets an edge, a step may have
// taken the wrong side.
static int ray_passes_portal(const vy_minkowski_vertex v[4])
{
    const vec3 v0 = v[0].w;
    return vec3_dot(vec3_cross(v[1].w, v[3].w), v0) >= 0.0 &&
           vec3_dot(vec3_cross(v[3].w, v[2].w), v0) >= 0.0 && vec3_dot(vec3_cross(v[2].w, v[1].w), v0) >= 0.0;
}

// Move the portal outwards until the origin is behind it, or beyond a plane that A - B does not reach.
static void refine_portal(const vy_core_pair *pair, vy_mpr_result *out)
{
    vy_minkowski_vertex *v = out->v, next;
    const vec3 v0 = v[0].w;
    out->hit = -1;
    while (out->iterations < MAX_ITERATIONS) {
        const vec3 n = vec3_cross(vec3_sub(v[2].w, v[1].w), vec3_sub(v[3].w, v[1].w));
        if (vec3_dot(n, v[1].w) >= 0.0) {
            out->hit = vec3_dot(n, n) > 0.0 && ray_passes_portal(v) ? 1 : -1;
            return;
        }
        if (!support_passes_origin(pair, n, out, &next)) {
            out->hit = 0;
            return;
        }
        if (!(vec3_dot(vec3_sub(next.w, v[1].w), n) > 0.0)) return;
        const vec3 c = vec3_cross(next.w, v0);
        if (vec3_dot(v[1].w, c) > 0.0) {
            v[vec3_dot(v[2].w, c) > 0.0 ? 1 : 3] = next;
        } else {
            v[vec3_dot(v[3].w, c) > 0.0 ? 2 : 1] = next;
        }
    }
}

// Replace the interior point by the support point opposite the portal: a larger tetrahedron for EPA to start
// from.
static void widen_for_epa(const vy_core_pair *pair, vy_mpr_result *out)
{
    VY_ASSERT(out->hit == 1);
    vy_minkowski_vertex *v = out->v, next;
    const vec3 n = vec3_cross(vec3_sub(v[2].w, v[1].w), vec3_sub(v[3].w, v[1].w));
    minkowski_support(pair, -n.x, -n.y, -n.z, &next);
    const double s1 = vec3_dot(next.w, vec3_cross(v[1].w, v[2].w));
    const double s2 = vec3_dot(next.w, vec3_cross(v[2].w, v[3].w));
    const double s3 = vec3_dot(next.w, vec3_cross(v[3].w, v[1].w));
    if (s1 < 0.0 && s2 < 0.0 && s3 < 0.0) v[0] = next;
}

static void mpr_find(const vy_core_pair *pair, int for_epa, vy_mpr_result *out)
{
    VY_ASSERT(pair->a.outer_radius >= pair->a.inner_radius && pair->b.outer_radius >= pair->b.inner_radius);
    // Other interior points, for a ray that meets a vertex or an edge: off every axis of symmetry.
    static const double offsets[3][3] = {{0.31, 0.17, 0.09}, {-0.23, 0.11, 0.37}, {0.13, -0.41, 0.19}};
    const vec3 center_b = vec3_add(mat3_mul_vec(pair->rotation, pair->b.center), pair->offset);
    const vec3 v0 = vec3_sub(pair->a.center, center_b);
    const double distance2 = vec3_dot(v0, v0), outer_radius = pair->a.outer_radius + pair->b.outer_radius;
    const double inner_radius =
        pair->a.inner_radius + pair->b.inner_radius; // A - B contains a ball of this radius about v0
    out->iterations = 0;
    out->hit = distance2 > outer_radius * outer_radius               ? 0
               : !for_epa && distance2 < inner_radius * inner_radius ? 1
                                                                     : -1;
    if (out->hit >= 0) return;
    out->v[0].ia = out->v[0].ib = 0;
    for (int i = distance2 < 1e-4 * inner_radius * inner_radius ? 0 : -1; i < 3 && out->hit < 0; ++i) {
        out->v[0].w =
            i < 0 ? v0
                  : vec3_add_scaled(v0, inner_radius, vec3_make(offsets[i][0], offsets[i][1], offsets[i][2]));
        if (discover_portal(pair, out)) refine_portal(pair, out);
    }
    if (for_epa && out->hit == 1) widen_for_epa(pair, out);
}
