// shape_reach.h - how far a shape reaches, from its definition alone: for tests and for fuzzing.
#pragma once
#include "base/vec.h"
#include "volery/shape.h"
#include <math.h>

/// How far a shape at a pose reaches along unit u, computed here from the shape's definition.
static inline double reach_along(const vy_shape *shape, const vy_pose *pose, vy_vec3 u)
{
    const vy_vec3 d = quat_unrotate(pose->rotation, u);
    double max = -1e300;
    switch (shape->kind) {
    case VY_SHAPE_SPHERE: max = shape->sphere.radius; break;
    case VY_SHAPE_CAPSULE: max = shape->capsule.radius + shape->capsule.half_length * fabs(d.z); break;
    case VY_SHAPE_BOX:
        max = shape->box.half.x * fabs(d.x) + shape->box.half.y * fabs(d.y) + shape->box.half.z * fabs(d.z);
        break;
    case VY_SHAPE_CYLINDER:
        max = shape->cylinder.radius * sqrt(d.x * d.x + d.y * d.y) + shape->cylinder.half_height * fabs(d.z);
        break;
    default:
        for (int i = 0; i < shape->hull->vertex_count; ++i) {
            max = fmax(max, d.x * shape->hull->vertices[i].x + d.y * shape->hull->vertices[i].y +
                                d.z * shape->hull->vertices[i].z);
        }
    }
    return max + (u.x * pose->position.x + u.y * pose->position.y + u.z * pose->position.z);
}
