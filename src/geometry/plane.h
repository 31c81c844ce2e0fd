// plane.h - convex shapes against planes.
#pragma once
#include "volery/collision.h"

/// @param shape bounded and convex
/// @param out   with the normal from the plane to the shape
void vy_collide_plane(const vy_plane *plane, const vy_pose *pose_plane, const vy_shape *shape,
                      const vy_pose *pose_shape, vy_manifold *out);
