// height_field.h - convex shapes at height fields: manifolds, as many as there are directions to be pushed
// in.
#pragma once
#include "volery/collision.h"

/// The manifolds of a shape with a height field, by the depths of their deepest points, deepest first.
/// Normals point from the field to the shape.
/// @param shape  bounded and convex
/// @param margin [m] points up to this far apart are found, too, with depths below zero
/// @param out    [VY_COLLIDE_MANIFOLDS]
/// @return how many there are
int vy_collide_height_field(const vy_height_field *field, const vy_pose *pose_field, const vy_shape *shape,
                            const vy_pose *pose_shape, double margin, vy_manifold *out);
