// collide.h - vy_collide_all() for callers that are within an FPU_SCOPE already: a step collides many pairs.
#pragma once
#include "volery/collision.h"

vy_status vy_collide_in_scope(const vy_shape *a, const vy_pose *pose_a, const vy_shape *b,
                              const vy_pose *pose_b, double margin, vy_manifold *out, int *count);
