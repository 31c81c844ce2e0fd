// collision.h - queries on two shapes: overlap, distance, penetration, manifold, ray and shape casts.
//
// Poses and results are in the world frame, in metres. Normals are unit vectors from A to B.
// Shapes are only read and never copied; no call allocates memory or keeps state, so all may be used from
// many threads at once. Shapes are taken as checked (the constructors of shape.h do that). Poses need a unit
// rotation; coordinates may be up to VY_POSE_LIMIT, sizes from 1e-6 m to 1e9 m. Touching counts as contact of
// depth 0, decided to rounding.
#pragma once
#include "volery/shape.h"
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// [m] Largest coordinate of a position.
#define VY_POSE_LIMIT 1e12
/// Default tolerance of a depth, relative to the size of the two shapes.
#define VY_QUERY_TOLERANCE 1e-12
/// Default cap on the iterations of GJK and of EPA.
#define VY_QUERY_ITERATIONS 128

/// Accuracy of a query. Zeros are the defaults above.
typedef struct vy_query_options {
    double tolerance; ///< relative to the sum of the shapes' radii, 0 ... 1e-3
    int iterations;   ///< >= 0
} vy_query_options;

/// What a query did, for measurements.
typedef struct vy_query_info {
    int gjk_iterations; ///< support points computed until overlap or separation was certain
    int epa_iterations; ///< faces of the expanding polytope that were expanded
    int used_sat;       ///< 1: the depth was found by SAT over faces and pairs of edges, not by EPA
} vy_query_info;

/// One contact. Moving B by depth * normal (or A by the opposite) separates the shapes, and no shorter move
/// does.
typedef struct vy_contact {
    vy_vec3 normal;           ///< unit, from A to B
    double depth;             ///< [m] >= 0
    vy_vec3 point_a, point_b; ///< [m] on the surfaces of A and B; point_a - point_b = depth * normal
} vy_contact;

enum { VY_SIMPLEX_POINTS = 4 };

/// The end of a distance query, to start the next one of the same two shapes from. Zeroed: nothing known.
typedef struct vy_simplex {
    int count;                                           ///< 0 ... VY_SIMPLEX_POINTS
    uint32_t a[VY_SIMPLEX_POINTS], b[VY_SIMPLEX_POINTS]; ///< which point of each shape, as queries name them
} vy_simplex;

/// The nearest points of two shapes.
typedef struct vy_distance {
    double distance;          ///< [m] 0 when they overlap or touch
    vy_vec3 normal;           ///< unit, from A to B; zero when distance is 0
    vy_vec3 point_a, point_b; ///< [m] point_b - point_a = distance * normal
} vy_distance;

/// An extreme point of the difference A - B, and the two points that it is the difference of.
typedef struct vy_support_points {
    vy_vec3 difference;       ///< [m] point_a - point_b
    vy_vec3 point_a, point_b; ///< [m] world, on A's surface farthest along, on B's farthest against
} vy_support_points;

/// The point of a bounded convex shape that lies farthest along `direction`, world. Of several the first in
/// the shape's own order.
/// @param direction any length but zero
/// @return VY_BAD_VALUE, *out untouched: a plane or height field, a pose or direction that is not finite,
/// zero
vy_status vy_shape_support(const vy_shape *shape, const vy_pose *pose, vy_vec3 direction, vy_vec3 *out);

/// The same of A - B, with the points it is the difference of: the support function of GJK and EPA. Failure
/// as above.
vy_status vy_shape_support_pair(const vy_shape *a, const vy_pose *pose_a, const vy_shape *b,
                                const vy_pose *pose_b, vy_vec3 direction, vy_support_points *out);

/// Whether two shapes overlap or touch. Any kinds; two shapes that are both without bounds never do.
int vy_overlap(const vy_shape *a, const vy_pose *pose_a, const vy_shape *b, const vy_pose *pose_b);

/// The distance of two shapes, of which one is bounded and convex and the other of any kind: that to the
/// surface of a height field, and 0 to what is in it or below.
/// @param cache start from it and store the end in it, of two that are bounded and convex; may be NULL
/// @return VY_BAD_VALUE for two without bounds or a pose that is not finite; VY_NO_CONVERGENCE
vy_status vy_shape_distance(const vy_shape *a, const vy_pose *pose_a, const vy_shape *b,
                            const vy_pose *pose_b, const vy_query_options *options, vy_simplex *cache,
                            vy_distance *out, vy_query_info *info);

/// The point of a shape of any kind that is nearest to a point: out->point_a, and out->point_b is the point
/// itself. Inside the shape the distance is 0, and so is it below the surface of a height field.
/// @return VY_BAD_VALUE for a pose or a point that is not finite or beyond VY_POSE_LIMIT; *out is untouched
/// then
vy_status vy_shape_closest_point(const vy_shape *shape, const vy_pose *pose, vy_vec3 point, vy_distance *out);

/// The shortest move that separates two bounded convex shapes.
/// @param options may be NULL
/// @param out     filled when *hit is 1
/// @param info    may be NULL
/// @return VY_BAD_VALUE for a plane, a height field or a pose that is not finite; VY_NO_CONVERGENCE; on
/// failure *hit and *out are untouched
vy_status vy_penetration(const vy_shape *a, const vy_pose *pose_a, const vy_shape *b, const vy_pose *pose_b,
                         const vy_query_options *options, int *hit, vy_contact *out, vy_query_info *info);

/// The same by the expanding polytope from a given simplex of points whose ids came from a distance query. A
/// simplex of fewer than four points, or one that does not hold the origin, is completed first.
/// @return as vy_penetration(); VY_SIMPLEX_FULL when simplex->count is above VY_SIMPLEX_POINTS; VY_BAD_VALUE
/// when it is negative or names a point that the shape does not have, or when the shapes do not overlap
vy_status vy_penetration_from(const vy_shape *a, const vy_pose *pose_a, const vy_shape *b,
                              const vy_pose *pose_b, const vy_simplex *simplex,
                              const vy_query_options *options, vy_contact *out, vy_query_info *info);

/// Where a ray meets a shape.
typedef struct vy_ray_hit {
    double t;       ///< 0 ... t_max: the point is origin + t direction; 0 when the ray starts inside
    vy_vec3 point;  ///< [m]
    vy_vec3 normal; ///< unit, outward; zero when the ray starts inside
} vy_ray_hit;

/// The first point of a ray on a shape of any kind.
/// @param direction any length but zero
/// @return 1 and *out filled, or 0 and *out untouched
int vy_ray_cast(const vy_shape *shape, const vy_pose *pose, vy_vec3 origin, vy_vec3 direction, double t_max,
                vy_ray_hit *out);

/// When a moving shape first touches another.
typedef struct vy_cast_hit {
    double t;       ///< 0 ... 1, the part of the motion; 0 when they overlap at the start
    vy_vec3 normal; ///< unit, from A to B at the time of contact; zero when they overlap at the start
    vy_vec3 point;  ///< [m] on A
} vy_cast_hit;

/// Move B from its pose by `motion`, without turning, and find the first contact with A. B is bounded and
/// convex, A of any kind; of a height field the surface is hit, from whichever side.
/// @param motion [m] at most VY_POSE_LIMIT long
/// @param hit    1 and *out filled, or 0 and *out untouched
vy_status vy_shape_cast(const vy_shape *a, const vy_pose *pose_a, const vy_shape *b, const vy_pose *pose_b,
                        vy_vec3 motion, const vy_query_options *options, int *hit, vy_cast_hit *out);

/// One point of a manifold.
typedef struct vy_manifold_point {
    vy_vec3 point_a, point_b; ///< [m] point_a - point_b = depth * normal of the manifold
    double depth;             ///< [m] >= 0
    uint64_t id; ///< id of the vertices, edges and faces that touch here: the same from call to call while
                 ///< these do
} vy_manifold_point;

enum { VY_MANIFOLD_POINTS = 4 };

/// How two bodies touch: a normal and up to four points, the deepest first.
typedef struct vy_manifold {
    vy_vec3 normal; ///< unit, from A to B
    int count;      ///< 0: no contact
    vy_manifold_point points[VY_MANIFOLD_POINTS];
} vy_manifold;

/// One call from two shapes and poses to "no contact" (count 0) or a manifold. Any kinds, but not two without
/// bounds. Of a height field it is the deepest of its manifolds: see vy_collide_all().
/// @return VY_BAD_VALUE for a pose that is not finite or two unbounded shapes: then *out is untouched
vy_status vy_collide(const vy_shape *a, const vy_pose *pose_a, const vy_shape *b, const vy_pose *pose_b,
                     vy_manifold *out);

/// The same for shapes that are about to touch: up to `margin` apart there are points, too, with depths down
/// to -margin. Where the gap is not small against the shapes, there may be one point where touching faces
/// have four.
/// @param margin [m] >= 0; with 0 this is vy_collide()
/// @return as vy_collide(); VY_NO_CONVERGENCE
vy_status vy_collide_near(const vy_shape *a, const vy_pose *pose_a, const vy_shape *b, const vy_pose *pose_b,
                          double margin, vy_manifold *out);

/// Most manifolds of two shapes.
enum { VY_COLLIDE_MANIFOLDS = 8 };

/// All manifolds of two shapes. A height field has one for each direction in which it pushes, the deepest
/// first, and vy_collide() and vy_collide_near() give that one; other pairs have one at most.
/// @param margin [m] >= 0, as of vy_collide_near()
/// @param out    [VY_COLLIDE_MANIFOLDS]
/// @param count  how many there are
/// @return as vy_collide_near(); on failure *count is untouched
vy_status vy_collide_all(const vy_shape *a, const vy_pose *pose_a, const vy_shape *b, const vy_pose *pose_b,
                         double margin, vy_manifold *out, int *count);

/// The broad phase: a tree of boxes, one per body, each a little larger than its body needs so that small
/// moves change nothing. Results have one order that does not depend on the tree's history. Any number of
/// threads may query at once; a change needs exclusive access.
typedef struct vy_tree vy_tree;

typedef struct vy_tree_def {
    uint32_t cookie;                ///< set by the default function
    double margin;                  ///< [m] by how much a box is enlarged on every side, >= 0
    double displacement_multiplier; ///< by how many of its last displacements it is enlarged in their
                                    ///< direction, >= 0
} vy_tree_def;

/// 0.05 m, 2.
vy_tree_def vy_default_tree_def(void);

/// @param out to be given to vy_tree_destroy(); NULL on failure
/// @return VY_BAD_VALUE, VY_NO_MEMORY
vy_status vy_tree_create(const vy_tree_def *def, vy_tree **out, vy_error *err);
/// NULL is a no-op.
void vy_tree_destroy(vy_tree *tree);

/// Put in a body. *proxy is the smallest number not in use.
/// @return VY_NO_MEMORY, VY_FULL beyond 2^24 bodies, VY_BAD_VALUE for bounds that are not finite or reversed;
/// nothing has changed then
vy_status vy_tree_add(vy_tree *tree, const vy_bounds *bounds, int *proxy);
/// @return VY_NOT_FOUND
vy_status vy_tree_remove(vy_tree *tree, int proxy);
/// Update the bounds of a body.
/// @param displacement [m] since the last call
/// @param moved        1 when the tree had to change; may be NULL
/// @return VY_NOT_FOUND, VY_BAD_VALUE
vy_status vy_tree_move(vy_tree *tree, int proxy, const vy_bounds *bounds, vy_vec3 displacement, int *moved);
/// The enlarged box of a body. VY_NOT_FOUND
vy_status vy_tree_bounds(const vy_tree *tree, int proxy, vy_bounds *out);

/// The proxies of two bodies whose enlarged boxes overlap or touch, a < b.
typedef struct vy_tree_pair {
    int a, b;
} vy_tree_pair;

/// All pairs, ordered by a, then b.
/// @param out   [capacity]
/// @param count how many there are; above `capacity` when VY_FULL is returned, and then the contents of `out`
/// are unspecified
vy_status vy_tree_pairs(const vy_tree *tree, vy_tree_pair *out, size_t capacity, size_t *count);

/// A body that a query found.
typedef struct vy_tree_hit {
    double t; ///< of a ray: where it enters the enlarged box; 0 of a box
    int proxy;
} vy_tree_hit;

/// Bodies whose enlarged boxes overlap or touch a box, by number.
/// @return as vy_tree_pairs()
vy_status vy_tree_overlap_box(const vy_tree *tree, const vy_bounds *bounds, vy_tree_hit *out, size_t capacity,
                              size_t *count);
/// Bodies whose enlarged boxes a ray meets at 0 <= t <= t_max, by t, then by number.
/// @param direction any length but zero
vy_status vy_tree_cast_ray(const vy_tree *tree, vy_vec3 origin, vy_vec3 direction, double t_max,
                           vy_tree_hit *out, size_t capacity, size_t *count);

#ifdef __cplusplus
}
#endif
