// collision_samples.h - pairs of shapes for the tests of collision, and the exact depth from a library nobody
// here wrote: Qhull's hull of the Minkowski difference.
#pragma once
#include "check.h"
#include "hull_samples.h"
#include "shape_reach.h"
#include "volery/collision.h"
#include <libqhull_r/qhull_ra.h>
#include <stdlib.h>

/// [m] The least distance of the origin from a facet of the hull of A - B: the depth, or negative when apart.
static inline double qhull_depth(const vy_hull *a, const vy_pose *pose_a, const vy_hull *b,
                                 const vy_pose *pose_b)
{
    const int count = a->vertex_count * b->vertex_count;
    double *points = malloc(sizeof *points * 3 * (size_t)count), *p = points, best = 1e300;
    assert_non_null(points);
    for (int i = 0; i < a->vertex_count; ++i) {
        for (int j = 0; j < b->vertex_count; ++j) {
            const vy_vec3 va = quat_rotate(pose_a->rotation, a->vertices[i]);
            const vy_vec3 vb = quat_rotate(pose_b->rotation, b->vertices[j]);
            const vy_vec3 apart = vec3_sub(pose_a->position, pose_b->position);
            const vy_vec3 d = vec3_add(vec3_sub(va, vb), apart);
            *p++ = d.x;
            *p++ = d.y;
            *p++ = d.z;
        }
    }
    qhT state, *qh = &state;
    facetT *facet;
    char options[] = "qhull Pp";
    int curlong, totlong;
    qh_zero(qh, stderr);
    assert_int_equal(qh_new_qhull(qh, 3, count, points, False, options, NULL, stderr), 0);
    FORALLfacets { best = fmin(best, -facet->offset); }
    qh_freeqhull(qh, !qh_ALL);
    qh_memfreeshort(qh, &curlong, &totlong);
    free(points);
    return best;
}

/// The hull of a random set of points of a kind of hull_samples.h; NULL when that set has none.
static inline vy_hull *sample_hull(sampler *s, int kind, double scale)
{
    vy_vec3 p[SAMPLE_POINTS_MAX];
    vy_hull *hull = NULL;
    const int count = sample_points(s, kind, p);
    move_points(p, count, quat_identity(), scale, vec3_zero());
    (void)vy_hull_create(p, count, VY_HULL_TOLERANCE, &hull, NULL);
    return hull;
}

static inline vy_shape hull_shape(const vy_hull *hull)
{
    vy_shape shape = {0};
    assert_int_equal(vy_shape_hull(hull, &shape, NULL), VY_OK);
    return shape;
}

static inline vy_pose sample_pose(sampler *s, double reach)
{
    vy_pose pose;
    pose.position = vec3_scale(reach, sample_vec(s));
    pose.rotation = sample_rotation(s);
    return pose;
}

static inline vy_pose pose_at(double x, double y, double z)
{
    const vy_pose pose = {{x, y, z}, {1.0, 0.0, 0.0, 0.0}};
    return pose;
}

/// The pose that applies `first`, then `then`.
static inline vy_pose pose_after(vy_pose then, vy_pose first)
{
    const vy_pose pose = {vec3_add(then.position, quat_rotate(then.rotation, first.position)),
                          quat_normalize(quat_mul(then.rotation, first.rotation))};
    return pose;
}

/// A bounded convex shape of size about `scale`: sphere, capsule, box, cylinder, or the given hull.
static inline vy_shape sample_shape(sampler *s, int kind, double scale, const vy_hull *hull)
{
    vy_shape shape = {0};
    const double x = scale * (0.2 + sample_unit(s)), y = scale * (0.2 + sample_unit(s)),
                 z = scale * (0.2 + sample_unit(s));
    switch (kind) {
    case 0: assert_int_equal(vy_shape_sphere(x, &shape, NULL), VY_OK); break;
    case 1: assert_int_equal(vy_shape_capsule(x, y, &shape, NULL), VY_OK); break;
    case 2: assert_int_equal(vy_shape_box(vec3_make(x, y, z), &shape, NULL), VY_OK); break;
    case 3: assert_int_equal(vy_shape_cylinder(x, y, &shape, NULL), VY_OK); break;
    default: shape = hull_shape(hull); break;
    }
    return shape;
}

/// How far A reaches into B along unit u: what a normal stands for.
static inline double overlap_along(const vy_shape *a, const vy_pose *pa, const vy_shape *b, const vy_pose *pb,
                                   vy_vec3 u)
{
    return reach_along(a, pa, u) + reach_along(b, pb, vec3_neg(u));
}

/// [m] How far a point is outside a shape; negative inside.
static inline double outside(const vy_shape *shape, const vy_pose *pose, vy_vec3 point)
{
    const vy_vec3 p = quat_unrotate(pose->rotation, vec3_sub(point, pose->position));
    const double across = sqrt(p.x * p.x + p.y * p.y);
    switch (shape->kind) {
    case VY_SHAPE_SPHERE: return vec3_length(p) - shape->sphere.radius;
    case VY_SHAPE_CAPSULE: {
        const double z = fmax(fabs(p.z) - shape->capsule.half_length, 0.0);
        return sqrt(across * across + z * z) - shape->capsule.radius;
    }
    case VY_SHAPE_BOX:
        return fmax(fabs(p.x) - shape->box.half.x,
                    fmax(fabs(p.y) - shape->box.half.y, fabs(p.z) - shape->box.half.z));
    case VY_SHAPE_CYLINDER:
        return fmax(across - shape->cylinder.radius, fabs(p.z) - shape->cylinder.half_height);
    default: return vy_hull_signed_distance(shape->hull, p);
    }
}
