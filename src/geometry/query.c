// query.c - the public queries on two shapes: overlap, distance, penetration.
#include "geometry/nearest.h"
#include "base/assert.h"
#include "geometry/penetration.h"
#include "base/real.h"
#include "geometry/epa.h"
#include "geometry/sat.h"
#include "geometry/gjk.h"
#include "geometry/mpr.h"

static vy_status set_pair(const vy_shape *a, const vy_pose *pose_a, const vy_shape *b, const vy_pose *pose_b,
                          vy_core_pair *pair)
{
    if (!vy_shape_is_convex(a) || !vy_shape_is_convex(b)) return VY_BAD_VALUE;
    if (!vy_pose_valid(pose_a) || !vy_pose_valid(pose_b)) return VY_BAD_VALUE;
    vy_core_of(a, &pair->a);
    vy_core_of(b, &pair->b);
    vy_pair_set_poses(pose_a, pose_b, pair);
    return VY_OK;
}

static vec3 to_world(const vy_pose *pose, vec3 p)
{
    return vec3_add(pose->position, quat_rotate(pose->rotation, p));
}

vy_status vy_shape_support(const vy_shape *shape, const vy_pose *pose, vy_vec3 direction, vy_vec3 *out)
{
    FPU_SCOPE;
    const double max_component =
        real_max(real_max(real_abs(direction.x), real_abs(direction.y)), real_abs(direction.z));
    const double sum = (direction.x + direction.y) + direction.z;
    if (!vy_shape_is_convex(shape) || !vy_pose_valid(pose)) return VY_BAD_VALUE;
    if (!(max_component > 0.0) || !real_is_finite(max_component) || sum != sum) return VY_BAD_VALUE;
    // Scaled by the largest component first: the square may overflow.
    const vec3 scaled =
        vec3_make(direction.x / max_component, direction.y / max_component, direction.z / max_component);
    const vec3 d = quat_unrotate(pose->rotation, vec3_scale(1.0 / vec3_length(scaled), scaled));
    VY_ASSERT(vec3_is_unit(d));
    vy_core core;
    vy_core_of(shape, &core);
    const uint32_t id = core.smooth
                            ? vy_cylinder_extreme(d)
                            : (uint32_t)vy_support()->extreme(core.x, core.y, core.z, core.padded_count, d);
    *out = to_world(pose, vec3_add_scaled(vy_core_point(&core, id), core.margin, d));
    return VY_OK;
}

vy_status vy_shape_support_pair(const vy_shape *a, const vy_pose *pose_a, const vy_shape *b,
                                const vy_pose *pose_b, vy_vec3 direction, vy_support_points *out)
{
    FPU_SCOPE;
    vy_support_points s;
    vy_status status = vy_shape_support(a, pose_a, direction, &s.point_a);
    if (status == VY_OK) status = vy_shape_support(b, pose_b, vec3_neg(direction), &s.point_b);
    if (status != VY_OK) return status;
    s.difference = vec3_sub(s.point_a, s.point_b);
    *out = s;
    return VY_OK;
}

static vy_contact contact_in_world(const vy_pose *pose, const vy_local_contact *c)
{
    VY_ASSERT(vec3_is_unit(c->normal) && c->depth >= 0.0);
    const vy_contact w = {quat_rotate(pose->rotation, c->normal), c->depth, to_world(pose, c->point_a),
                          to_world(pose, c->point_b)};
    return w;
}

// Whether cores overlap, without margins.
static int cores_overlap(const vy_core_pair *pair, const vy_shape *a, const vy_shape *b)
{
    vy_mpr_result mpr;
    vy_support()->mpr_find(pair, 0, &mpr);
    if (mpr.hit >= 0) return mpr.hit;
    if (pair->a.smooth || pair->b.smooth) return 1;
    vy_sat_result sat;
    vy_sat_search(pair, a, b, &sat);
    return sat.depth >= 0.0;
}

int vy_overlap(const vy_shape *a, const vy_pose *pose_a, const vy_shape *b, const vy_pose *pose_b)
{
    FPU_SCOPE;
    if (!vy_shape_is_convex(a) || !vy_shape_is_convex(b)) {
        vy_manifold manifold;
        return vy_collide(a, pose_a, b, pose_b, &manifold) == VY_OK && manifold.count > 0;
    }
    vy_core_pair pair;
    if (set_pair(a, pose_a, b, pose_b, &pair) != VY_OK) return 0;
    if (pair.margin == 0.0) return cores_overlap(&pair, a, b);
    vy_gjk_result g;
    vy_gjk_distance(&pair, NULL, pair.margin, VY_QUERY_ITERATIONS, &g);
    return !g.beyond_limit && g.distance <= pair.margin;
}

// One of the two has no bounds or is not convex.
static vy_status distance_to_ground(const vy_shape *a, const vy_pose *pose_a, const vy_shape *b,
                                    const vy_pose *pose_b, vy_distance *out, vy_query_info *info)
{
    if (!vy_pose_valid(pose_a) || !vy_pose_valid(pose_b)) return VY_BAD_VALUE;
    vy_status status = VY_BAD_VALUE;
    if (vy_shape_is_convex(b)) {
        status = vy_ground_distance(a, pose_a, b, pose_b, out);
    } else if (vy_shape_is_convex(a)) {
        vy_distance d;
        status = vy_ground_distance(b, pose_b, a, pose_a, &d);
        if (status == VY_OK) *out = (vy_distance){d.distance, vec3_neg(d.normal), d.point_b, d.point_a};
    }
    if (status == VY_OK && info != NULL) *info = (vy_query_info){0, 0, 0};
    return status;
}

vy_status vy_shape_distance(const vy_shape *a, const vy_pose *pose_a, const vy_shape *b,
                            const vy_pose *pose_b, const vy_query_options *options, vy_simplex *cache,
                            vy_distance *out, vy_query_info *info)
{
    FPU_SCOPE;
    if (!vy_shape_is_convex(a) || !vy_shape_is_convex(b))
        return distance_to_ground(a, pose_a, b, pose_b, out, info);
    vy_core_pair pair;
    const vy_status status = set_pair(a, pose_a, b, pose_b, &pair);
    if (status != VY_OK) return status;
    const int max_iterations = vy_options_with_defaults(options).iterations;
    vy_gjk_result gjk;
    vy_gjk_distance(&pair, cache, -1.0, max_iterations, &gjk);
    if (info != NULL) *info = (vy_query_info){gjk.iterations, 0, 0};
    if (gjk.iterations >= max_iterations) return VY_NO_CONVERGENCE;
    if (cache != NULL) {
        VY_ASSERT(gjk.count >= 1 && gjk.count <= 4);
        cache->count = gjk.count;
        for (int i = 0; i < gjk.count; ++i) {
            cache->a[i] = gjk.p[i].ia;
            cache->b[i] = gjk.p[i].ib;
        }
    }
    vec3 on_a, on_b, normal = vec3_zero();
    vy_gjk_points(&pair, &gjk, &on_a, &on_b);
    double distance = real_max(gjk.distance - pair.margin, 0.0);
    // In slivers GJK may stop a hair before the origin because of rounding; overlap has a certificate.
    if (pair.margin == 0.0 && distance > 0.0 && distance < 1e-5 * pair.scale && cores_overlap(&pair, a, b)) {
        distance = 0.0;
        on_b = on_a;
    }
    if (distance > 0.0) {
        normal = vec3_scale(-1.0 / gjk.distance, gjk.v);
        on_a = vec3_add_scaled(on_a, pair.a.margin, normal);
        on_b = vec3_add_scaled(on_b, -pair.b.margin, normal);
    }
    VY_ASSERT(distance == 0.0 || vec3_is_unit(normal));
    *out = (vy_distance){distance, quat_rotate(pose_a->rotation, normal), to_world(pose_a, on_a),
                         to_world(pose_a, on_b)};
    return VY_OK;
}

// Boxes and round shapes have closed forms: 1 when this was such a pair.
static int penetration_closed_form(const vy_shape *a, const vy_pose *pose_a, const vy_shape *b,
                                   const vy_pose *pose_b, int *hit, vy_contact *out)
{
    if (a->kind == VY_SHAPE_BOX && b->kind == VY_SHAPE_BOX) {
        vy_manifold m;
        (void)vy_collide(a, pose_a, b, pose_b, &m);
        *hit = m.count > 0;
        if (*hit) *out = (vy_contact){m.normal, m.points[0].depth, m.points[0].point_a, m.points[0].point_b};
        return 1;
    }
    vy_contact c;
    if (!vy_contact_closed_form(a, pose_a, b, pose_b, hit, &c)) return 0;
    if (*hit) *out = c;
    return 1;
}

vy_status vy_penetration(const vy_shape *a, const vy_pose *pose_a, const vy_shape *b, const vy_pose *pose_b,
                         const vy_query_options *options, int *hit, vy_contact *out, vy_query_info *info)
{
    FPU_SCOPE;
    vy_query_info query_info = {0, 0, 0};
    if (!vy_pose_valid(pose_a) || !vy_pose_valid(pose_b)) return VY_BAD_VALUE;
    if (!penetration_closed_form(a, pose_a, b, pose_b, hit, out)) {
        vy_core_pair pair;
        vy_local_contact contact;
        int overlaps;
        vy_status status = set_pair(a, pose_a, b, pose_b, &pair);
        if (status != VY_OK) return status;
        const vy_query_options resolved = vy_options_with_defaults(options);
        status = vy_contact_general(&pair, a, b, &resolved, &overlaps, &contact, &query_info);
        if (status != VY_OK) return status;
        if (overlaps) *out = contact_in_world(pose_a, &contact);
        *hit = overlaps;
    }
    if (info != NULL) *info = query_info;
    return VY_OK;
}

// The points of a simplex. Returns 0 when a shape has no such point.
static int simplex_points(const vy_core_pair *pair, const vy_simplex *simplex, vy_minkowski_vertex v[4])
{
    VY_ASSERT(simplex->count >= 0 && simplex->count <= 4);
    for (int i = 0; i < simplex->count; ++i) {
        if (!pair->a.smooth && simplex->a[i] >= (uint32_t)pair->a.padded_count) return 0;
        if (!pair->b.smooth && simplex->b[i] >= (uint32_t)pair->b.padded_count) return 0;
        const vec3 b =
            vec3_add(mat3_mul_vec(pair->rotation, vy_core_point(&pair->b, simplex->b[i])), pair->offset);
        v[i].w = vec3_sub(vy_core_point(&pair->a, simplex->a[i]), b);
        v[i].ia = simplex->a[i];
        v[i].ib = simplex->b[i];
    }
    return 1;
}

// Whether the origin is strictly inside a tetrahedron.
static int contains_origin(const vy_minkowski_vertex v[4])
{
    vy_gjk_result g = {.count = 4};
    for (int i = 0; i < 4; ++i) g.p[i] = v[i];
    return vy_simplex_nearest(&g);
}

vy_status vy_penetration_from(const vy_shape *a, const vy_pose *pose_a, const vy_shape *b,
                              const vy_pose *pose_b, const vy_simplex *simplex,
                              const vy_query_options *options, vy_contact *out, vy_query_info *info)
{
    FPU_SCOPE;
    vy_core_pair pair;
    vy_minkowski_vertex v[4];
    const vy_status status = set_pair(a, pose_a, b, pose_b, &pair);
    if (status != VY_OK) return status;
    if (simplex->count > VY_SIMPLEX_POINTS) return VY_SIMPLEX_FULL;
    if (simplex->count < 0 || !simplex_points(&pair, simplex, v)) return VY_BAD_VALUE;
    const vy_query_options resolved = vy_options_with_defaults(options);
    if (simplex->count == 4 && contains_origin(v) && pair.margin == 0.0) {
        vy_epa_result epa;
        vy_support()->epa_expand(&pair, v, resolved.tolerance * pair.scale, resolved.iterations, &epa);
        if (epa.converged) {
            const vy_local_contact c = {epa.normal, real_max(epa.depth, 0.0), epa.point_a, epa.point_b};
            *out = contact_in_world(pose_a, &c);
            if (info != NULL) *info = (vy_query_info){0, epa.iterations, 0};
            return VY_OK;
        }
    }
    int hit;
    vy_contact c;
    const vy_status answer = vy_penetration(a, pose_a, b, pose_b, &resolved, &hit, &c, info);
    if (answer != VY_OK) return answer;
    if (!hit) return VY_BAD_VALUE;
    *out = c;
    return VY_OK;
}
