// boxes.h - two boxes in closed form.
#pragma once
#include "geometry/support.h"
#include "volery/collision.h"

/// The manifold of two boxes by their fifteen axes, and of boxes that are apart by up to `near`, where a face
/// or an edge of each faces the other.
/// @param near [m] >= 0; points of faces that are so far apart are taken, too, with a depth below zero
/// Returns 0, with no points, when the boxes are apart by their corners: perhaps no more than `near`.
int vy_boxes_collide(const vy_shape *a, const vy_pose *pose_a, const vy_shape *b, const vy_pose *pose_b,
                     double near, vy_manifold *out);
