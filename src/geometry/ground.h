// ground.h - convex shapes against planes and height fields.
#pragma once
#include "volery/collision.h"

/// @param ground a plane or a height field
/// @param shape  bounded and convex
/// @param out    with the normal from the ground to the shape
void vy_collide_ground(const vy_shape *ground, const vy_pose *pose_ground, const vy_shape *shape,
                       const vy_pose *pose_shape, vy_manifold *out);
