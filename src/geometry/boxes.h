// boxes.h - box against box: separating axis test and clipping.
#pragma once
#include "geometry/support.h"
#include "volery/collision.h"

/// The manifold of two boxes by SAT over their fifteen axes, also of boxes that are apart by up to `margin`,
/// where a face or an edge of each faces the other.
/// @param margin [m] >= 0; points of faces up to this far apart are kept, too, with a depth below zero
/// Returns 0, with no points, when the nearest features of boxes that are apart include a vertex: perhaps
/// within `margin`.
int vy_boxes_collide(const vy_shape *a, const vy_pose *pose_a, const vy_shape *b, const vy_pose *pose_b,
                     double margin, vy_manifold *out);

/// Whether two boxes may overlap by more than `depth`: 0 when some axis shows less, and then no point of
/// their manifold is deeper.
/// @param depth [m] >= 0
int vy_boxes_may_overlap_by(const vy_shape *a, const vy_pose *pose_a, const vy_shape *b,
                            const vy_pose *pose_b, double depth);
