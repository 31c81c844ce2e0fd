// query.h - what rays, moving shapes, shapes and points meet among the bodies of a set, as they stand now.
//
// World frame, metres. Every query has one order, whatever the set has been through: hits come by t, of equal
// ones by slot. A query changes nothing, neither state nor hash, and allocates nothing: any number of threads
// may query a set at once while nobody changes it. Contacts may be on or off.
//
// Queries look at every body, until vy_bodies_prepare_queries() has put them into a tree; and again after the
// next step or any other change of the set. The answers are the same to the bit either way.
#pragma once
#include "volery/bodies.h"
#include "volery/collision.h"
#include "volery/filter.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Which bodies a query sees. NULL in its place: all of them that have a shape, but no triggers.
typedef struct vy_query_filter {
    vy_filter filter;  ///< sees the bodies whose filters it meets
    int triggers;      ///< 1: sees triggers, too
    vy_body_id except; ///< one that it does not see; VY_NULL_BODY: none
    /// 1: it sees this body. It may be asked in any order, also about bodies that are not hit, and must
    /// depend on its arguments alone; NULL: it sees all.
    int (*accept)(void *self, vy_body_id body);
    void *self; ///< the caller's
} vy_query_filter;

/// All bodies that meet the default filter, but no triggers.
vy_query_filter vy_default_query_filter(void);

/// What a query has found.
typedef struct vy_body_hit {
    vy_body_id body; ///< VY_NULL_BODY: nothing; then all else is zero
    double t; ///< of a ray: its point is origin + t direction; of a moving shape 0 ... 1, the part of its
              ///< motion; else [m] the distance, below zero the depth of the overlap
    vy_vec3 point;  ///< [m] on the body
    vy_vec3 normal; ///< unit, out of the body; zero where t is 0 because there is overlap at the start
} vy_body_hit;

typedef struct vy_ray {
    vy_vec3 origin;    ///< [m]
    vy_vec3 direction; ///< any length but zero
    double t_max;      ///< it ends at origin + t_max direction, >= 0; may be infinite
} vy_ray;

/// Put the bodies, as they stand now, into a tree for the queries until the next change: for more than a few
/// queries between two steps. Not state.
/// @return VY_NO_MEMORY: the queries look at every body
vy_status vy_bodies_prepare_queries(vy_bodies *bodies);

// Each query fails with VY_BAD_VALUE and a sentence, and leaves its outputs untouched, for numbers that are
// not finite or beyond VY_POSE_LIMIT, a direction of length zero, a reach below zero, and a shape that is
// unbounded or not convex. `filter` and `err` may be NULL. Those that end in `_all` store every hit, in
// order:
//   out    [capacity]; may be NULL with a capacity of 0
//   count  how many there are; above `capacity` when VY_FULL is returned, and then the contents of `out` are
//          unspecified
// The others store the first hit, or VY_NULL_BODY.

/// What a ray hits, as vy_ray_cast() has it.
vy_status vy_bodies_cast_ray(const vy_bodies *bodies, const vy_ray *ray, const vy_query_filter *filter,
                             vy_body_hit *out, vy_error *err);
vy_status vy_bodies_cast_ray_all(const vy_bodies *bodies, const vy_ray *ray, const vy_query_filter *filter,
                                 vy_body_hit *out, size_t capacity, size_t *count, vy_error *err);
/// The first hit of each of many rays.
/// @param rays [count]
/// @param out  [count]
vy_status vy_bodies_cast_rays(const vy_bodies *bodies, const vy_ray *rays, size_t count,
                              const vy_query_filter *filter, vy_body_hit *out, vy_error *err);

/// What a shape touches when it moves by `motion` without turning, as vy_shape_cast() has it.
vy_status vy_bodies_cast_shape(const vy_bodies *bodies, const vy_shape *shape, const vy_pose *pose,
                               vy_vec3 motion, const vy_query_filter *filter, vy_body_hit *out,
                               vy_error *err);
vy_status vy_bodies_cast_shape_all(const vy_bodies *bodies, const vy_shape *shape, const vy_pose *pose,
                                   vy_vec3 motion, const vy_query_filter *filter, vy_body_hit *out,
                                   size_t capacity, size_t *count, vy_error *err);

/// The bodies that a shape overlaps or touches, as vy_overlap() has it, the deepest first. Moving it by -t
/// normal, t < 0, ends the overlap with that body.
vy_status vy_bodies_overlap_shape(const vy_bodies *bodies, const vy_shape *shape, const vy_pose *pose,
                                  const vy_query_filter *filter, vy_body_hit *out, size_t capacity,
                                  size_t *count, vy_error *err);

/// The bodies up to `reach` away from a point, as vy_shape_closest_point() has it, and their points nearest
/// to it.
/// @param reach [m] >= 0; may be infinite
vy_status vy_bodies_closest_to_point(const vy_bodies *bodies, vy_vec3 point, double reach,
                                     const vy_query_filter *filter, vy_body_hit *out, vy_error *err);
vy_status vy_bodies_closest_to_point_all(const vy_bodies *bodies, vy_vec3 point, double reach,
                                         const vy_query_filter *filter, vy_body_hit *out, size_t capacity,
                                         size_t *count, vy_error *err);

/// The same for a shape, as vy_shape_distance() has it.
vy_status vy_bodies_closest_to_shape(const vy_bodies *bodies, const vy_shape *shape, const vy_pose *pose,
                                     double reach, const vy_query_filter *filter, vy_body_hit *out,
                                     vy_error *err);
vy_status vy_bodies_closest_to_shape_all(const vy_bodies *bodies, const vy_shape *shape, const vy_pose *pose,
                                         double reach, const vy_query_filter *filter, vy_body_hit *out,
                                         size_t capacity, size_t *count, vy_error *err);

#ifdef __cplusplus
}
#endif
