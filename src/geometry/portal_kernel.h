// portal_kernel.h - the overlap test of two cores.
#pragma once
#include "geometry/portal.h"

enum { STEPS = 100 };

// "Apart" is said only where no vertex of A - B reaches a plane through the origin: it is never a guess.
static int ended(vy_portal *out, int hit)
{
    out->hit = hit;
    return 0;
}

// Asks for the extreme point along n, and returns whether it gets as far as the origin.
static int reach(const vy_pair *pair, vec3 n, vy_portal *out, vy_minkowski *v)
{
    minkowski(pair, n.x, n.y, n.z, v);
    ++out->iterations;
    return vec3_dot(v->w, n) >= 0.0;
}

// A triangle that the ray from v[0] through the origin passes: 1 found, 0 ended.
static int discover(const vy_pair *pair, vy_portal *out)
{
    vy_minkowski *v = out->v;
    const vec3 v0 = v[0].w;
    if (!reach(pair, vec3_neg(v0), out, &v[1])) return ended(out, 0);
    vec3 n = vec3_cross(v[1].w, v0);
    if (!(vec3_dot(n, n) > 0.0)) return ended(out, -1); // the ray passes a vertex
    if (!reach(pair, n, out, &v[2])) return ended(out, 0);
    n = vec3_cross(vec3_sub(v[1].w, v0), vec3_sub(v[2].w, v0));
    if (vec3_dot(n, v0) > 0.0) {
        const vy_minkowski t = v[1];
        v[1] = v[2];
        v[2] = t;
        n = vec3_neg(n);
    }
    while (out->iterations < STEPS) {
        if (!reach(pair, n, out, &v[3])) return ended(out, 0);
        if (vec3_dot(vec3_cross(v[1].w, v[3].w), v0) < 0.0) {
            v[2] = v[3];
        } else if (vec3_dot(vec3_cross(v[3].w, v[2].w), v0) < 0.0) {
            v[1] = v[3];
        } else {
            return 1;
        }
        n = vec3_cross(vec3_sub(v[1].w, v0), vec3_sub(v[2].w, v0));
    }
    return ended(out, -1);
}

// Whether the line from v[0] through the origin passes the portal. Where it meets an edge of one, a step may
// have taken the wrong side.
static int passes(const vy_minkowski v[4])
{
    const vec3 v0 = v[0].w;
    return vec3_dot(vec3_cross(v[1].w, v[3].w), v0) >= 0.0 &&
           vec3_dot(vec3_cross(v[3].w, v[2].w), v0) >= 0.0 && vec3_dot(vec3_cross(v[2].w, v[1].w), v0) >= 0.0;
}

// Moves the portal outwards until the origin is behind it, or beyond a plane that A - B does not reach.
static void refine(const vy_pair *pair, vy_portal *out)
{
    vy_minkowski *v = out->v, next;
    const vec3 v0 = v[0].w;
    out->hit = -1;
    while (out->iterations < STEPS) {
        const vec3 n = vec3_cross(vec3_sub(v[2].w, v[1].w), vec3_sub(v[3].w, v[1].w));
        if (vec3_dot(n, v[1].w) >= 0.0) {
            out->hit = vec3_dot(n, n) > 0.0 && passes(v) ? 1 : -1;
            return;
        }
        if (!reach(pair, n, out, &next)) {
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

// The inner point has served: the extreme point opposite the portal makes a larger tetrahedron for EPA to
// start from.
static void widen(const vy_pair *pair, vy_portal *out)
{
    vy_minkowski *v = out->v, next;
    const vec3 n = vec3_cross(vec3_sub(v[2].w, v[1].w), vec3_sub(v[3].w, v[1].w));
    minkowski(pair, -n.x, -n.y, -n.z, &next);
    const double s1 = vec3_dot(next.w, vec3_cross(v[1].w, v[2].w));
    const double s2 = vec3_dot(next.w, vec3_cross(v[2].w, v[3].w));
    const double s3 = vec3_dot(next.w, vec3_cross(v[3].w, v[1].w));
    if (s1 < 0.0 && s2 < 0.0 && s3 < 0.0) v[0] = next;
}

static void portal_find(const vy_pair *pair, int complete, vy_portal *out)
{
    // Other inner points, for a ray that meets a vertex or an edge: away from every axis of symmetry.
    static const double away[3][3] = {{0.31, 0.17, 0.09}, {-0.23, 0.11, 0.37}, {0.13, -0.41, 0.19}};
    const vec3 cb = vec3_add(mat3_mul_vec(pair->rotation, pair->b.center), pair->offset);
    const vec3 v0 = vec3_sub(pair->a.center, cb);
    const double gap2 = vec3_dot(v0, v0), reach2 = pair->a.outer + pair->b.outer;
    const double held = pair->a.inner + pair->b.inner; // A - B holds a ball of this radius about v0
    out->iterations = 0;
    out->hit = gap2 > reach2 * reach2 ? 0 : !complete && gap2 < held * held ? 1 : -1;
    if (out->hit >= 0) return;
    out->v[0].ia = out->v[0].ib = 0;
    for (int i = gap2 < 1e-4 * held * held ? 0 : -1; i < 3 && out->hit < 0; ++i) {
        out->v[0].w = i < 0 ? v0 : vec3_add_scaled(v0, held, vec3_make(away[i][0], away[i][1], away[i][2]));
        if (discover(pair, out)) refine(pair, out);
    }
    if (complete && out->hit == 1) widen(pair, out);
}
