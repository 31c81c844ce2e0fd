// collide.c - one call from two shapes and poses to a manifold.
#include "geometry/contact.h"
#include "geometry/ground.h"
#include "geometry/manifold.h"

static void turn_round(vy_manifold *m)
{
    m->normal = vec3_neg(m->normal);
    for (int i = 0; i < m->count; ++i) {
        const vec3 t = m->points[i].point_a;
        m->points[i].point_a = m->points[i].point_b;
        m->points[i].point_b = t;
    }
}

static void collide_boxes(const vy_shape *a, const vy_pose *pose_a, const vy_shape *b, const vy_pose *pose_b,
                          vy_manifold *out)
{
    const mat3 rotation = quat_matrix(quat_mul(quat_conj(pose_a->rotation), pose_b->rotation));
    const vec3 offset = quat_unrotate(pose_a->rotation, vec3_sub(pose_b->position, pose_a->position));
    const double scale = vec3_length(a->box.half) + vec3_length(b->box.half);
    vy_local_contact c;
    int hit;
    out->count = 0;
    const int edges = vy_contact_boxes(&a->box, &b->box, &rotation, offset, &hit, &c);
    if (!hit) return;
    vy_manifold_build(a, b, &rotation, offset, scale, c.normal, c.depth, edges ? &c.point_a : NULL, pose_a,
                      out);
}

// A sphere touches in one point: what was found is the manifold.
static void single_point(const vy_contact *c, vy_manifold *out)
{
    out->normal = c->normal;
    out->count = 1;
    out->points[0].point_a = c->point_a;
    out->points[0].point_b = c->point_b;
    out->points[0].depth = c->depth;
    out->points[0].id = (uint64_t)1 << 62;
}

static vy_status collide_convex(const vy_shape *a, const vy_pose *pose_a, const vy_shape *b,
                                const vy_pose *pose_b, vy_manifold *out)
{
    vy_contact round;
    int hit = 0;
    const int special = vy_contact_round(a, pose_a, b, pose_b, &hit, &round);
    if (special && (!hit || a->kind == VY_SHAPE_SPHERE || b->kind == VY_SHAPE_SPHERE)) {
        out->count = 0;
        if (hit) single_point(&round, out);
        return VY_OK;
    }
    vy_pair pair;
    vy_core_of(a, &pair.a);
    vy_core_of(b, &pair.b);
    vy_pair_place(pose_a, pose_b, &pair);
    vy_local_contact c;
    if (special) {
        c.normal = quat_unrotate(pose_a->rotation, round.normal);
        c.depth = round.depth;
        c.point_a = quat_unrotate(pose_a->rotation, vec3_sub(round.point_a, pose_a->position));
    } else {
        const vy_query_options options = vy_options_of(NULL);
        vy_query_info info = {0, 0, 0};
        const vy_status status = vy_contact_general(&pair, a, b, &options, &hit, &c, &info);
        if (status != VY_OK) return status;
    }
    out->count = 0;
    if (hit) {
        vy_manifold_build(a, b, &pair.rotation, pair.offset, pair.scale, c.normal, c.depth, &c.point_a,
                          pose_a, out);
    }
    return VY_OK;
}

vy_status vy_collide(const vy_shape *a, const vy_pose *pose_a, const vy_shape *b, const vy_pose *pose_b,
                     vy_manifold *out)
{
    if (!vy_pose_valid(pose_a) || !vy_pose_valid(pose_b)) return VY_BAD_VALUE;
    const int convex_a = vy_shape_is_convex(a), convex_b = vy_shape_is_convex(b);
    if (!convex_a && !convex_b) return VY_BAD_VALUE;
    if (!convex_a) {
        vy_collide_ground(a, pose_a, b, pose_b, out);
    } else if (!convex_b) {
        vy_collide_ground(b, pose_b, a, pose_a, out);
        turn_round(out);
    } else if (a->kind == VY_SHAPE_BOX && b->kind == VY_SHAPE_BOX) {
        collide_boxes(a, pose_a, b, pose_b, out);
    } else {
        return collide_convex(a, pose_a, b, pose_b, out);
    }
    return VY_OK;
}
