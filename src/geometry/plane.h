// plane.h - convex shapes against planes.
#pragma once
#include "equations/local_frame.h"
#include "volery/collision.h"

/// A planet whose surface is the ground: convex, and all but flat over the size of a body.
typedef struct vy_globe {
    local_frame frame;
    planet_params planet;
} vy_globe;

/// The plane that is the ground below `point`, world axes, in the frame of `pose`: itself, or the one that
/// touches the globe's surface of the pose's height. A globe's pose is not turned.
static inline vy_plane vy_plane_below(const vy_plane *plane, const vy_pose *pose, vec3 point)
{
    if (plane->globe == NULL) return *plane;
    const local_position here = local_locate(&plane->globe->frame, &plane->globe->planet, point);
    const double height = here.height - (pose->position.z + plane->offset);
    return (vy_plane){.normal = here.up,
                      .offset = vec3_dot(here.up, vec3_sub(point, pose->position)) - height};
}

/// @param shape bounded and convex
/// @param out   with the normal from the plane to the shape
void vy_collide_plane(const vy_plane *plane, const vy_pose *pose_plane, const vy_shape *shape,
                      const vy_pose *pose_shape, vy_manifold *out);
