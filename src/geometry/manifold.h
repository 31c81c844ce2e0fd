// manifold.h - from a contact normal to the points of the manifold: features, clipping, reduction.
#pragma once
#include "base/assert.h"
#include "geometry/support.h"
#include "volery/collision.h"

enum { VY_FEATURE_POINTS = 64 };

// A contact normal within 2.6 degrees of a face's normal is a contact with that face; else with an edge or a
// vertex.
#define VY_FACE_ALIGNED_COSINE 0.999

/// The supporting feature of a shape along a direction: a face, a segment or a point, in some frame.
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
void vy_feature_transform(const mat3 *rotation, vec3 offset, vy_feature *feature);

/// The id of a contact point: reference face, incident face, and the two lines that cross there, each an edge
/// of the incident polygon or a side of the reference; 0 for the second: a vertex of the incident polygon,
/// where the edge starts.
VY_FN uint64_t point_id(int flipped, uint32_t face, uint32_t incident_face, uint32_t first, uint32_t second)
{
    VY_ASSERT(flipped == 0 || flipped == 1);
    return (uint64_t)(flipped & 1) << 63 | (uint64_t)(face & 0x3fffu) << 48 |
           (uint64_t)(incident_face & 0xffffu) << 32 | (uint64_t)(first & 0xffffu) << 16 | (second & 0xffffu);
}

/// The id of a side of the reference, from its first vertex.
VY_FN uint32_t side_id(uint32_t corner) { return (corner & 0x7fffu) | 0x8000u; }

/// The id of the point where a side cuts the line from a point with this id.
VY_FN uint64_t clip_id(uint64_t id, uint32_t line, uint32_t side)
{
    VY_ASSERT(line <= 0xffffu && side <= 0xffffu);
    return (id & ~(uint64_t)0xffffffffu) | (uint64_t)line << 16 | side;
}

/// Candidate points, in A's frame, of which the best four are kept.
typedef struct vy_candidates {
    int count;
    struct {
        vec3 p;       ///< [m] on B when the reference was on A, on A otherwise
        double depth; ///< [m] along the contact normal
        uint64_t id;
    } points[2 * VY_FEATURE_POINTS];
} vy_candidates;

/// Clip `incident` by the sides of `reference`, and keep the points below the plane of the reference, with
/// depths along unit n (from A to B).
/// @param flipped 1: the reference is on B
/// @param bounded 0: the reference is a plane without sides
/// @param slop   [m] points up to this far above the plane count as touching
/// @param margin [m] points up to this far above it are kept, too, with a depth below zero
void vy_manifold_clip(const vy_feature *reference, const vy_feature *incident, vec3 n, int flipped,
                      int bounded, double slop, double margin, vy_candidates *out);

/// Keep up to four: the deepest, and those that span the largest area with it.
void vy_manifold_reduce(vy_candidates *candidates);

/// The id of a point where the extreme vertex or edge of A along n meets that of B along m, each in its
/// shape's frame.
uint64_t vy_vertex_pair_id(const vy_shape *a, vec3 n, const vy_shape *b, vec3 m, double scale);

/// The manifold of two overlapping bounded convex shapes.
/// @param pair    the pose of B in A's frame
/// @param normal       unit normal in A's frame
/// @param depth   [m]
/// @param witness the deepest point, in A's frame and on A; NULL when the polygons contain it
/// @param margin [m] points of the faces up to this far apart are kept, too, with a depth below zero
void vy_manifold_build(const vy_shape *a, const vy_shape *b, const mat3 *rotation, vec3 offset, double scale,
                       vec3 normal, double depth, const vec3 *witness, double margin, const vy_pose *pose_a,
                       vy_manifold *out);
