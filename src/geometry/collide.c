// collide.c - one call from two shapes and poses to a manifold.
#include "geometry/collide.h"
#include "base/assert.h"
#include "geometry/boxes.h"
#include "base/real.h"
#include "geometry/penetration.h"
#include "geometry/height_field.h"
#include "geometry/manifold.h"
#include "geometry/plane.h"

static void flip(vy_manifold *m)
{
    VY_ASSERT(m->count >= 0 && m->count <= VY_MANIFOLD_POINTS);
    m->normal = vec3_neg(m->normal);
    for (int i = 0; i < m->count; ++i) {
        const vec3 t = m->points[i].point_a;
        m->points[i].point_a = m->points[i].point_b;
        m->points[i].point_b = t;
    }
}

// A sphere has one contact point: it is the manifold.
static void set_single_point(const vy_contact *c, vy_manifold *out)
{
    VY_ASSERT(vec3_is_unit(c->normal) && c->depth >= 0.0);
    out->normal = c->normal;
    out->count = 1;
    out->points[0].point_a = c->point_a;
    out->points[0].point_b = c->point_b;
    out->points[0].depth = c->depth;
    out->points[0].id = (uint64_t)1 << 62;
}

static vy_status collide_convex(const vy_shape *a, const vy_pose *pose_a, const vy_shape *b,
                                const vy_pose *pose_b, double margin, vy_manifold *out)
{
    vy_contact closed_form;
    int hit = 0;
    const int has_closed_form = vy_contact_closed_form(a, pose_a, b, pose_b, &hit, &closed_form);
    if (has_closed_form && (!hit || a->kind == VY_SHAPE_SPHERE || b->kind == VY_SHAPE_SPHERE)) {
        out->count = 0;
        if (hit) set_single_point(&closed_form, out);
        return VY_OK;
    }
    vy_core_pair pair;
    vy_core_of(a, &pair.a);
    vy_core_of(b, &pair.b);
    vy_pair_set_poses(pose_a, pose_b, &pair);
    vy_local_contact contact;
    if (has_closed_form) {
        contact.normal = quat_unrotate(pose_a->rotation, closed_form.normal);
        contact.depth = closed_form.depth;
        contact.point_a = quat_unrotate(pose_a->rotation, vec3_sub(closed_form.point_a, pose_a->position));
    } else {
        const vy_query_options options = vy_options_with_defaults(NULL);
        vy_query_info info = {0, 0, 0};
        const vy_status status = vy_contact_general(&pair, a, b, &options, &hit, &contact, &info);
        if (status != VY_OK) return status;
    }
    out->count = 0;
    if (hit) {
        VY_ASSERT(vec3_is_unit(contact.normal));
        vy_manifold_build(a, b, &pair.rotation, pair.offset, pair.scale, contact.normal, contact.depth,
                          &contact.point_a, margin, pose_a, out);
    }
    return VY_OK;
}

// All manifolds of a height field, which is a or b, and a convex shape.
static int collide_field(const vy_shape *a, const vy_pose *pose_a, const vy_shape *b, const vy_pose *pose_b,
                         double margin, vy_manifold *out)
{
    if (a->kind == VY_SHAPE_HEIGHT_FIELD)
        return vy_collide_height_field(&a->field, pose_a, b, pose_b, margin, out);
    const int count = vy_collide_height_field(&b->field, pose_b, a, pose_a, margin, out);
    for (int i = 0; i < count; ++i) flip(&out[i]);
    return count;
}

static vy_status collide(const vy_shape *a, const vy_pose *pose_a, const vy_shape *b, const vy_pose *pose_b,
                         double margin, vy_manifold *out)
{
    VY_ASSERT(margin >= 0.0);
    if (!vy_pose_valid(pose_a) || !vy_pose_valid(pose_b)) return VY_BAD_VALUE;
    const int is_convex_a = vy_shape_is_convex(a), is_convex_b = vy_shape_is_convex(b);
    if (!is_convex_a && !is_convex_b) return VY_BAD_VALUE;
    if (a->kind == VY_SHAPE_HEIGHT_FIELD || b->kind == VY_SHAPE_HEIGHT_FIELD) {
        vy_manifold all[VY_COLLIDE_MANIFOLDS];
        out->count = 0;
        if (collide_field(a, pose_a, b, pose_b, margin, all) > 0) *out = all[0];
    } else if (!is_convex_a) {
        vy_collide_plane(&a->plane, pose_a, b, pose_b, out);
    } else if (!is_convex_b) {
        vy_collide_plane(&b->plane, pose_b, a, pose_a, out);
        flip(out);
    } else if (a->kind == VY_SHAPE_BOX && b->kind == VY_SHAPE_BOX) {
        (void)vy_boxes_collide(a, pose_a, b, pose_b, margin, out);
    } else {
        return collide_convex(a, pose_a, b, pose_b, margin, out);
    }
    return VY_OK;
}

vy_status vy_collide(const vy_shape *a, const vy_pose *pose_a, const vy_shape *b, const vy_pose *pose_b,
                     vy_manifold *out)
{
    FPU_SCOPE;
    return collide(a, pose_a, b, pose_b, 0.0, out);
}

// The manifold with B moved by `shift` along -n, where it overlaps A; the points are moved back.
static vy_status collide_moved(const vy_shape *a, const vy_pose *pose_a, const vy_shape *b,
                               const vy_pose *pose_b, vec3 n, double shift, double margin, vy_manifold *out)
{
    VY_ASSERT(shift >= 0.0 && vec3_is_unit(n));
    vy_pose moved = *pose_b;
    moved.position = vec3_add_scaled(pose_b->position, -shift, n);
    const vy_status status = collide(a, pose_a, b, &moved, margin, out);
    if (status != VY_OK) return status;
    VY_ASSERT(out->count >= 0 && out->count <= VY_MANIFOLD_POINTS);
    const double moved_depth = shift * vec3_dot(out->normal, n);
    for (int i = 0; i < out->count; ++i) {
        vy_manifold_point *p = &out->points[i];
        p->depth -= moved_depth;
        p->point_b = vec3_add_scaled(p->point_a, -p->depth, out->normal);
    }
    return VY_OK;
}

// A plane: B is moved against its normal.
static vy_status collide_plane_near(const vy_shape *a, const vy_pose *pose_a, const vy_shape *b,
                                    const vy_pose *pose_b, double margin, vy_manifold *out)
{
    const int is_plane_a = a->kind == VY_SHAPE_PLANE;
    const vy_pose *pose_plane = is_plane_a ? pose_a : pose_b, *pose_shape = is_plane_a ? pose_b : pose_a;
    const vy_plane below = vy_plane_below(&(is_plane_a ? a : b)->plane, pose_plane, pose_shape->position);
    const vec3 up = quat_rotate(pose_plane->rotation, below.normal);
    return collide_moved(a, pose_a, b, pose_b, is_plane_a ? up : vec3_neg(up), margin, 0.0, out);
}

static double radius_of(const vy_shape *shape)
{
    VY_ASSERT(vy_shape_is_convex(shape));
    vy_core core;
    vy_core_of(shape, &core);
    return core.outer_radius + core.margin;
}

// Shapes that do not overlap, by their distance.
static vy_status collide_apart(const vy_shape *a, const vy_pose *pose_a, const vy_shape *b,
                               const vy_pose *pose_b, double margin, vy_manifold *out)
{
    VY_ASSERT(margin > 0.0 && out->count == 0);
    vy_distance d;
    vy_status status = vy_shape_distance(a, pose_a, b, pose_b, NULL, NULL, &d, NULL);
    if (status != VY_OK || !(d.distance > 0.0) || d.distance > margin) return status;
    // So much overlap that parallel faces keep all their vertices, but no other pair of faces is nearer.
    const double overlap = 0.01 * real_min(radius_of(a), radius_of(b));
    vy_manifold moved;
    status = collide_moved(a, pose_a, b, pose_b, d.normal, d.distance + overlap, margin, &moved);
    if (status != VY_OK) return status;
    if (moved.count > 0 && vec3_dot(moved.normal, d.normal) > 0.99) {
        *out = moved;
        return VY_OK;
    }
    out->normal = d.normal;
    out->count = 1;
    out->points[0] = (vy_manifold_point){d.point_a, d.point_b, -d.distance, (uint64_t)3 << 61};
    return VY_OK;
}

static int are_boxes(const vy_shape *a, const vy_shape *b)
{
    return a->kind == VY_SHAPE_BOX && b->kind == VY_SHAPE_BOX;
}

static vy_status collide_near(const vy_shape *a, const vy_pose *pose_a, const vy_shape *b,
                              const vy_pose *pose_b, double margin, vy_manifold *out)
{
    VY_ASSERT(margin >= 0.0);
    if (are_boxes(a, b) && margin > 0.0) {
        if (!vy_pose_valid(pose_a) || !vy_pose_valid(pose_b)) return VY_BAD_VALUE;
        if (vy_boxes_collide(a, pose_a, b, pose_b, margin, out)) return VY_OK;
        return collide_apart(a, pose_a, b, pose_b, margin, out);
    }
    if (a->kind == VY_SHAPE_HEIGHT_FIELD || b->kind == VY_SHAPE_HEIGHT_FIELD)
        return collide(a, pose_a, b, pose_b, margin, out);
    if ((a->kind == VY_SHAPE_PLANE || b->kind == VY_SHAPE_PLANE) && margin > 0.0)
        return collide_plane_near(a, pose_a, b, pose_b, margin, out);
    const vy_status status = collide(a, pose_a, b, pose_b, margin, out);
    if (status != VY_OK || out->count > 0 || !(margin > 0.0)) return status;
    return collide_apart(a, pose_a, b, pose_b, margin, out);
}

vy_status vy_collide_near(const vy_shape *a, const vy_pose *pose_a, const vy_shape *b, const vy_pose *pose_b,
                          double margin, vy_manifold *out)
{
    FPU_SCOPE;
    return collide_near(a, pose_a, b, pose_b, margin, out);
}

vy_status vy_collide_in_scope(const vy_shape *a, const vy_pose *pose_a, const vy_shape *b,
                              const vy_pose *pose_b, double margin, vy_manifold *out, int *count)
{
    if (!are_boxes(a, b) && ((a->kind == VY_SHAPE_HEIGHT_FIELD && vy_shape_is_convex(b)) ||
                             (b->kind == VY_SHAPE_HEIGHT_FIELD && vy_shape_is_convex(a)))) {
        if (!vy_pose_valid(pose_a) || !vy_pose_valid(pose_b)) return VY_BAD_VALUE;
        *count = collide_field(a, pose_a, b, pose_b, margin, out);
        return VY_OK;
    }
    const vy_status status = collide_near(a, pose_a, b, pose_b, margin, out);
    if (status == VY_OK) *count = out->count > 0;
    return status;
}

vy_status vy_collide_all(const vy_shape *a, const vy_pose *pose_a, const vy_shape *b, const vy_pose *pose_b,
                         double margin, vy_manifold *out, int *count)
{
    FPU_SCOPE;
    return vy_collide_in_scope(a, pose_a, b, pose_b, margin, out, count);
}
