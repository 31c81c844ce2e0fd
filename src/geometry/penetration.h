// penetration.h - the general path from two cores to a contact, and helpers that the special cases use too.
#pragma once
#include "geometry/support.h"
#include "volery/collision.h"

/// A contact in A's frame.
typedef struct vy_local_contact {
    vec3 normal;           ///< unit, from A to B
    double depth;          ///< [m]
    vec3 point_a, point_b; ///< [m] on A and on B
} vy_local_contact;

/// The options with their defaults filled in.
vy_query_options vy_options_with_defaults(const vy_query_options *options);

/// Whether a pose is finite and in range.
VY_FN int vy_pose_valid(const vy_pose *pose)
{
    const vec3 p = pose->position;
    const double n2 = quat_dot(pose->rotation, pose->rotation);
    return real_abs(p.x) <= VY_POSE_LIMIT && real_abs(p.y) <= VY_POSE_LIMIT &&
           real_abs(p.z) <= VY_POSE_LIMIT && real_abs(n2 - 1.0) <= 1e-6;
}

/// The general path for two bounded convex shapes: GJK, MPR, EPA, and SAT where EPA does not converge. *hit
/// is 0 or 1 when VY_OK is returned. The pair is as before on return.
vy_status vy_contact_general(vy_core_pair *pair, const vy_shape *a, const vy_shape *b,
                             const vy_query_options *options, int *hit, vy_local_contact *out,
                             vy_query_info *info);

/// Spheres, capsules and sphere-box in closed form, in the world frame. Returns 0 when the pair is none of
/// those: then neither *hit nor *out is written.
int vy_contact_closed_form(const vy_shape *a, const vy_pose *pose_a, const vy_shape *b, const vy_pose *pose_b,
                           int *hit, vy_contact *out);
