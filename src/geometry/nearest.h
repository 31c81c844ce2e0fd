// nearest.h - distances to what is not convex, and of moving shapes to it: planes and height fields.
#pragma once
#include "base/vec.h"
#include "volery/collision.h"

/// The distance from a plane or height field A to a bounded convex shape B. The poses are valid.
/// @return VY_BAD_VALUE when A is neither
vy_status vy_ground_distance(const vy_shape *a, const vy_pose *pose_a, const vy_shape *b,
                             const vy_pose *pose_b, vy_distance *out);

/// When B first touches A on its way, of any two shapes of which one is bounded and convex, by advancing as
/// far as nothing can be touched. It always ends: where it would take too long, *out is a moment before that.
/// @param tolerance [m] a distance that counts as contact, > 0
/// @return 1 and *out filled, or 0
int vy_cast_by_sweep(const vy_shape *a, const vy_pose *pose_a, const vy_shape *b, const vy_pose *pose_b,
                     vec3 motion, double tolerance, vy_cast_hit *out);

/// The distance of any two shapes of which one is bounded and convex, where vy_shape_distance() does not
/// converge: along the best direction that was found, so no more than it is.
vy_distance vy_distance_by_sweep(const vy_shape *a, const vy_pose *pose_a, const vy_shape *b,
                                 const vy_pose *pose_b);
