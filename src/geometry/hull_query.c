// hull_query.c - where a point is with respect to a hull.
#include "base/assert.h"
#include "base/vec.h"
#include "base/real.h"
#include "volery/hull.h"

/// [m] How far the point is beyond the plane of a face. Taken from a vertex, not from the offset: a hull far
/// from its frame's origin loses nothing.
static double plane_distance(const vy_hull *hull, const vy_hull_face *face, vy_vec3 point)
{
    VY_ASSERT(face->first >= 0 && face->first < hull->half_edge_count);
    return vec3_dot(face->normal, vec3_sub(point, hull->vertices[hull->loop[face->first]]));
}

int vy_hull_contains(const vy_hull *hull, vy_vec3 point, double margin)
{
    FPU_SCOPE;
    for (int f = 0; f < hull->face_count; ++f) {
        if (!(plane_distance(hull, &hull->faces[f], point) <= margin)) return 0;
    }
    return 1;
}

static vy_vec3 nearest_on_segment(vy_vec3 point, vy_vec3 a, vy_vec3 b)
{
    const vy_vec3 along = vec3_sub(b, a);
    const double length2 = vec3_dot(along, along);
    const double t = length2 > 0.0 ? vec3_dot(vec3_sub(point, a), along) / length2 : 0.0;
    if (t <= 0.0) return a;
    return t >= 1.0 ? b : vec3_add_scaled(a, t, along);
}

/// The point of a face's polygon nearest to a point whose height over the face's plane is `height`.
static vy_vec3 nearest_on_face(const vy_hull *hull, const vy_hull_face *face, vy_vec3 point, double height)
{
    vy_vec3 best = vec3_add_scaled(point, -height, face->normal);
    double best_distance2 = DBL_MAX;
    vy_vec3 a = hull->vertices[hull->loop[face->first + face->count - 1]];
    for (int k = 0; k < face->count; ++k) {
        const vy_vec3 b = hull->vertices[hull->loop[face->first + k]];
        const vy_vec3 outward = vec3_cross(vec3_sub(b, a), face->normal);
        if (vec3_dot(outward, vec3_sub(point, a)) > 0.0) { // beyond this side: the nearest point is on a side
            const vy_vec3 q = nearest_on_segment(point, a, b);
            const vy_vec3 d = vec3_sub(point, q);
            if (vec3_dot(d, d) < best_distance2) {
                best_distance2 = vec3_dot(d, d);
                best = q;
            }
        }
        a = b;
    }
    return best;
}

typedef struct nearest {
    vy_vec3 point;
    double distance;
    int face;
} nearest;

/// The nearest point of the faces over which the point is by more than `low`, at most `high`; taken only
/// if it is nearer than `best` by more than `gain`.
static nearest nearest_of_faces(const vy_hull *hull, vy_vec3 point, double low, double high, double gain,
                                nearest best)
{
    VY_ASSERT(low <= high && gain >= 0.0);
    for (int f = 0; f < hull->face_count; ++f) {
        const double height = plane_distance(hull, &hull->faces[f], point);
        if (!(height > low && height <= high) || height >= best.distance) continue;
        const vy_vec3 q = nearest_on_face(hull, &hull->faces[f], point, height);
        const double distance = vec3_length(vec3_sub(point, q));
        if (distance < best.distance - gain) best = (nearest){q, distance, f};
    }
    return best;
}

vy_vec3 vy_hull_nearest(const vy_hull *hull, vy_vec3 point, double *distance, int *face)
{
    FPU_SCOPE;
    double max_height = -DBL_MAX;
    int max_height_face = 0;
    for (int f = 0; f < hull->face_count; ++f) {
        const double height = plane_distance(hull, &hull->faces[f], point);
        if (height > max_height) {
            max_height = height;
            max_height_face = f;
        }
    }
    const vy_vec3 foot = vec3_add_scaled(point, -max_height, hull->faces[max_height_face].normal);
    nearest best = {foot, max_height, max_height_face};
    if (max_height > 0.0) {
        // Outside: the nearest point is on a face that faces the point, and no nearer than the face's
        // plane. On the surface itself that face may be seen from behind by a tolerance, and a far one with
        // nearly the same plane from the front.
        best.distance = DBL_MAX;
        best = nearest_of_faces(hull, point, 0.0, DBL_MAX, 0.0, best);
        const double tolerance = hull->tolerance + 16.0 * DBL_EPSILON * hull->radius;
        if (max_height <= 4.0 * tolerance)
            best = nearest_of_faces(hull, point, -4.0 * tolerance, 0.0, tolerance, best);
    }
    VY_ASSERT(best.face >= 0 && best.face < hull->face_count);
    if (distance != NULL) *distance = best.distance;
    if (face != NULL) *face = best.face;
    return best.point;
}

double vy_hull_signed_distance(const vy_hull *hull, vy_vec3 point)
{
    FPU_SCOPE;
    double distance;
    (void)vy_hull_nearest(hull, point, &distance, NULL);
    return distance;
}
