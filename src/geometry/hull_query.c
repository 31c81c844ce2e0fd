// hull_query.c - where a point is with respect to a hull.
#include "base/vec.h"
#include "volery/hull.h"

/// [m] How far the point is beyond the plane of a face. Taken from a vertex, not from the offset: a hull far
/// from its frame's origin loses nothing.
static double beyond(const vy_hull *hull, const vy_hull_face *face, vy_vec3 point)
{
    return vec3_dot(face->normal, vec3_sub(point, hull->vertices[hull->loop[face->first]]));
}

int vy_hull_contains(const vy_hull *hull, vy_vec3 point, double margin)
{
    for (int f = 0; f < hull->face_count; ++f) {
        if (!(beyond(hull, &hull->faces[f], point) <= margin)) return 0;
    }
    return 1;
}

static vy_vec3 nearest_on_segment(vy_vec3 point, vy_vec3 a, vy_vec3 b)
{
    const vy_vec3 along = vec3_sub(b, a);
    const double squared = vec3_dot(along, along);
    const double t = squared > 0.0 ? vec3_dot(vec3_sub(point, a), along) / squared : 0.0;
    if (t <= 0.0) return a;
    return t >= 1.0 ? b : vec3_add_scaled(a, t, along);
}

/// The point of a face's polygon nearest to a point whose height over the face's plane is `height`.
static vy_vec3 nearest_on_face(const vy_hull *hull, const vy_hull_face *face, vy_vec3 point, double height)
{
    vy_vec3 best = vec3_add_scaled(point, -height, face->normal);
    double best_squared = DBL_MAX;
    vy_vec3 a = hull->vertices[hull->loop[face->first + face->count - 1]];
    for (int k = 0; k < face->count; ++k) {
        const vy_vec3 b = hull->vertices[hull->loop[face->first + k]];
        const vy_vec3 outward = vec3_cross(vec3_sub(b, a), face->normal);
        if (vec3_dot(outward, vec3_sub(point, a)) > 0.0) { // beyond this side: the nearest point is on a side
            const vy_vec3 q = nearest_on_segment(point, a, b);
            const vy_vec3 d = vec3_sub(point, q);
            if (vec3_dot(d, d) < best_squared) {
                best_squared = vec3_dot(d, d);
                best = q;
            }
        }
        a = b;
    }
    return best;
}

vy_vec3 vy_hull_nearest(const vy_hull *hull, vy_vec3 point, double *distance, int *face)
{
    double highest = -DBL_MAX;
    int highest_face = 0;
    for (int f = 0; f < hull->face_count; ++f) {
        const double height = beyond(hull, &hull->faces[f], point);
        if (height > highest) {
            highest = height;
            highest_face = f;
        }
    }
    vy_vec3 best = vec3_add_scaled(point, -highest, hull->faces[highest_face].normal);
    double best_distance = highest;
    int best_face = highest_face;
    if (highest > 0.0) {
        // Outside: the nearest point is on a face that looks at the point, and no nearer than the face's
        // plane.
        best_distance = DBL_MAX;
        for (int f = 0; f < hull->face_count; ++f) {
            const double height = beyond(hull, &hull->faces[f], point);
            if (!(height > 0.0) || height >= best_distance) continue;
            const vy_vec3 q = nearest_on_face(hull, &hull->faces[f], point, height);
            const double length = vec3_length(vec3_sub(point, q));
            if (length < best_distance) {
                best_distance = length;
                best = q;
                best_face = f;
            }
        }
    }
    if (distance != NULL) *distance = best_distance;
    if (face != NULL) *face = best_face;
    return best;
}

double vy_hull_signed_distance(const vy_hull *hull, vy_vec3 point)
{
    double distance;
    (void)vy_hull_nearest(hull, point, &distance, NULL);
    return distance;
}
