// plane.c - convex shapes against planes.
#include "geometry/plane.h"
#include "base/assert.h"
#include "geometry/manifold.h"

// A shape and its pose in the ground's frame.
typedef struct ground_pair {
    const vy_shape *shape;
    mat3 rotation; // from the shape's frame to the ground's
    vec3 offset;   // [m] the shape's origin
    double scale;  // [m] its radius: tolerances are relative to it
} ground_pair;

static ground_pair make_ground_pair(const vy_pose *ground, const vy_shape *shape, const vy_pose *pose)
{
    VY_ASSERT(quat_is_unit(ground->rotation) && quat_is_unit(pose->rotation));
    ground_pair p;
    vy_core core;
    vy_core_of(shape, &core);
    p.shape = shape;
    p.rotation = quat_matrix(quat_mul(quat_conj(ground->rotation), pose->rotation));
    p.offset = quat_unrotate(ground->rotation, vec3_sub(pose->position, ground->position));
    p.scale = core.outer_radius + core.margin;
    VY_ASSERT(p.scale > 0.0);
    return p;
}

// The support point of the shape along -n, margin included.
static vec3 support_below(const ground_pair *p, vec3 n)
{
    VY_ASSERT(vec3_is_unit(n));
    vy_core core;
    vy_core_of(p->shape, &core);
    const vec3 d = vec3_neg(mat3_tmul_vec(p->rotation, n));
    const uint32_t id = core.smooth
                            ? vy_cylinder_extreme(d)
                            : (uint32_t)vy_support()->extreme(core.x, core.y, core.z, core.padded_count, d);
    const vec3 q = vec3_add_scaled(vy_core_point(&core, id), core.margin, d);
    return vec3_add(mat3_mul_vec(p->rotation, q), p->offset);
}

static void write_manifold(const vy_pose *ground, vec3 n, vy_candidates *c, vy_manifold *out)
{
    vy_manifold_reduce(c);
    VY_ASSERT(c->count <= VY_MANIFOLD_POINTS && vec3_is_unit(n));
    out->normal = quat_rotate(ground->rotation, n);
    out->count = c->count;
    for (int i = 0; i < c->count; ++i) {
        vy_manifold_point *p = &out->points[i];
        p->point_b = vec3_add(ground->position, quat_rotate(ground->rotation, c->points[i].p));
        p->point_a = vec3_add_scaled(p->point_b, c->points[i].depth, out->normal);
        p->depth = c->points[i].depth;
        p->id = c->points[i].id;
    }
}

static void feature_facing(const ground_pair *p, vec3 n, vy_feature *out)
{
    vy_feature_of(p->shape, vec3_neg(mat3_tmul_vec(p->rotation, n)), out);
    vy_feature_transform(&p->rotation, p->offset, out);
}

static void collide_plane(const vy_plane *plane, const vy_pose *pose, const ground_pair *p, vy_manifold *out)
{
    const vec3 n = plane->normal, deepest = support_below(p, n);
    const double depth = plane->offset - vec3_dot(n, deepest);
    out->count = 0;
    if (depth < 0.0) return;
    vy_feature top, bottom;
    vy_candidates candidates;
    candidates.count = 0;
    top.count = 1;
    top.p[0] = vec3_scale(plane->offset, n);
    top.normal = n;
    top.face = 0;
    feature_facing(p, n, &bottom);
    vy_manifold_clip(&top, &bottom, n, 0, 0, 1e-12 * p->scale, 0.0, &candidates);
    double max_depth = -1.0;
    for (int i = 0; i < candidates.count; ++i) max_depth = real_max(max_depth, candidates.points[i].depth);
    if (max_depth < depth - 1e-9 * p->scale) {
        VY_ASSERT(candidates.count < 2 * VY_FEATURE_POINTS);
        candidates.points[candidates.count].p = deepest;
        candidates.points[candidates.count].depth = depth;
        candidates.points[candidates.count++].id = (uint64_t)1 << 62;
    }
    write_manifold(pose, n, &candidates, out);
}

void vy_collide_plane(const vy_plane *plane, const vy_pose *pose_plane, const vy_shape *shape,
                      const vy_pose *pose_shape, vy_manifold *out)
{
    VY_ASSERT(vy_shape_is_convex(shape));
    const ground_pair p = make_ground_pair(pose_plane, shape, pose_shape);
    const vy_plane below = vy_plane_below(plane, pose_plane, pose_shape->position);
    collide_plane(&below, pose_plane, &p, out);
}
