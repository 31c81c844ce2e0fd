// manifold.h - from a contact normal to the points where two surfaces meet.
#pragma once
#include "geometry/support.h"
#include "volery/collision.h"

enum { VY_FEATURE_POINTS = 64 };

// A contact normal within 2.6 degrees of a face's normal is a contact with that face; else it is an edge or a
// corner that touches.
#define VY_FACE_ALIGNED 0.999

/// The part of a surface that looks along a direction: a face, a segment or a point, in some frame.
typedef struct vy_feature {
    int count;                 ///< 1 point, 2 segment, else a polygon, counter-clockwise seen from outside
    vec3 p[VY_FEATURE_POINTS]; ///< [m]
    uint32_t id[VY_FEATURE_POINTS]; ///< of each point within the shape; of the edge from it, too
    vec3 normal;                    ///< unit, of a polygon; the direction asked for otherwise
    uint32_t face;                  ///< which face of the shape
} vy_feature;

/// The feature of a bounded convex shape along d (unit), in the shape's frame, margins included.
void vy_feature_of(const vy_shape *shape, vec3 d, vy_feature *out);

/// The same in another frame: p' = rotation p + offset.
void vy_feature_move(const mat3 *rotation, vec3 offset, vy_feature *feature);

/// What made a contact point: the reference's face, the incident face, and two lines that cross there, each
/// an edge of the incident polygon or a side of the reference; 0 for the second: a corner of the incident
/// polygon, where the edge starts.
VY_FN uint64_t point_id(int turned, uint32_t face, uint32_t incident_face, uint32_t first, uint32_t second)
{
    return (uint64_t)(turned & 1) << 63 | (uint64_t)(face & 0x3fffu) << 48 |
           (uint64_t)(incident_face & 0xffffu) << 32 | (uint64_t)(first & 0xffffu) << 16 | (second & 0xffffu);
}

/// The name of a line that is a side of the reference, from its first corner.
VY_FN uint32_t side_name(uint32_t corner) { return (corner & 0x7fffu) | 0x8000u; }

/// The point where a side cuts the line from a point with this id.
VY_FN uint64_t cut_id(uint64_t id, uint32_t line, uint32_t side)
{
    return (id & ~(uint64_t)0xffffffffu) | (uint64_t)line << 16 | side;
}

/// Points found so far, in A's frame, of which the best four are kept in the end.
typedef struct vy_candidates {
    int count;
    struct {
        vec3 p;       ///< [m] on B when the reference was on A, on A otherwise
        double depth; ///< [m] along the contact normal
        uint64_t id;
    } at[2 * VY_FEATURE_POINTS];
} vy_candidates;

/// Cut `incident` to the part over the polygon `reference`, and take those of its points that are below the
/// reference's plane, measured along unit n (from A to B).
/// @param turned 1: the reference is on B
/// @param bounded 0: the reference is a plane without sides
/// @param slop   [m] points up to this far above the plane count as touching
/// @param near   [m] points up to this far above it are taken, too, with a depth below zero
void vy_manifold_clip(const vy_feature *reference, const vy_feature *incident, vec3 n, int turned,
                      int bounded, double slop, double near, vy_candidates *out);

/// Keep up to four: the deepest, and those that span the largest area with it.
void vy_manifold_reduce(vy_candidates *candidates);

/// The name of a point where a vertex or edge of A that is highest along n meets one of B that is along m,
/// each in its shape's frame.
uint64_t vy_corners_id(const vy_shape *a, vec3 n, const vy_shape *b, vec3 m, double scale);

/// The manifold of two overlapping bounded convex shapes.
/// @param pair    places B in A's frame (its cores are not looked at)
/// @param n       unit normal in A's frame
/// @param depth   [m]
/// @param witness the deepest point, in A's frame and on A; NULL when the polygons are known to have it
/// @param near    [m] points of the faces that are so far apart are taken, too, with a depth below zero
void vy_manifold_build(const vy_shape *a, const vy_shape *b, const mat3 *rotation, vec3 offset, double scale,
                       vec3 n, double depth, const vec3 *witness, double near, const vy_pose *pose_a,
                       vy_manifold *out);
