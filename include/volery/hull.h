// hull.h - convex polyhedra: built once, read by every query, never changed.
//
// Coordinates are metres in the frame of the points the hull was made from. "Outside" means against the
// outward normal's side: a point p is beyond a plane when dot(normal, p) > offset. Indices count from 0.
#pragma once
#include "volery/status.h"
#include "volery/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The default relative tolerance of a hull, see vy_hull_create().
#define VY_HULL_TOLERANCE 1e-12
/// [m] Largest coordinate a point may have.
#define VY_HULL_LIMIT 1e9

/// An axis-aligned box, low <= high in each coordinate.
typedef struct vy_bounds {
    vy_vec3 low, high;
} vy_bounds;

/// A triangle of the surface, counter-clockwise seen from outside, smallest vertex index first.
typedef struct vy_hull_facet {
    int a, b, c;    ///< vertices
    int face;       ///< the planar face it is a part of
    vy_vec3 normal; ///< unit, outward; that of its face
    double offset;  ///< [m] the plane is dot(normal, p) = offset; that of its face
} vy_hull_facet;

/// A planar polygon of the surface. Its half-edges are first ... first + count - 1: half-edge h runs from
/// vertex loop[h] to vertex loop[h + 1] (the last one back to loop[first]), counter-clockwise seen from
/// outside. loop[first] is the smallest vertex index of the loop.
typedef struct vy_hull_face {
    vy_vec3 normal; ///< unit, outward
    double offset;  ///< [m] the largest dot(normal, p) of its vertices, so that no vertex is outside its face
    double area;    ///< [m^2]
    int first;      ///< first half-edge
    int count;      ///< number of half-edges, at least 3
    int facet_first; ///< its first facet; it has count - 2 of them, a fan about loop[first]
} vy_hull_face;

/// An edge between two faces, a < b. `left` is the face in which the edge runs from a to b, `right` the
/// other.
typedef struct vy_hull_edge {
    int a, b;
    int left, right;
} vy_hull_edge;

/// A convex polyhedron. One allocation, owned by whoever created it, constant from then on: safe to read from
/// any number of threads, and never copied by a query. Order is canonical: vertices as they came (those that
/// are no corners left out), loops from their smallest vertex, faces by their loops, edges by (a, b).
typedef struct vy_hull {
    int vertex_count;
    int padded_count; ///< vertex_count rounded up to a multiple of 8
    int facet_count;
    int face_count;
    int edge_count;
    int half_edge_count; ///< half-edges: 2 edge_count

    const vy_vec3 *vertices; ///< [vertex_count]
    /// [padded_count] the coordinates once more, side by side for vector units; each array is 64-byte aligned
    /// and its tail repeats the last vertex.
    const double *x, *y, *z;
    const vy_hull_facet *facets; ///< [facet_count], in the order of the faces
    const vy_hull_face *faces;   ///< [face_count]
    const vy_hull_edge *edges;   ///< [edge_count]
    const int *loop;             ///< [half_edge_count] the vertex each half-edge starts from
    const int *twin;             ///< [half_edge_count] the half-edge that runs the other way
    const int *half_face;        ///< [half_edge_count] the face each half-edge belongs to
    const int *half_edge;        ///< [half_edge_count] the edge each half-edge is a side of
    /// [vertex_count + 1] the neighbours of vertex v are neighbours[neighbour_first[v]] up to, not including,
    /// neighbours[neighbour_first[v + 1]]
    const int *neighbour_first;
    const int *neighbours; ///< [half_edge_count] counter-clockwise seen from outside, smallest index first

    double volume;       ///< [m^3] > 0
    double area;         ///< [m^2]
    vy_vec3 centroid;    ///< [m] of the volume
    vy_bounds bounds;    ///< [m]
    double radius;       ///< [m] of the smallest ball about the centroid that holds the hull
    double inner_radius; ///< [m] of the largest ball about the centroid that is held by every face's plane
    double tolerance;    ///< [m] what was taken for zero: see vy_hull_create()
} vy_hull;

/// The convex hull of points, by Qhull. Points inside and repeated points are allowed and left out.
///
/// A distance up to tolerance * L + 4 * 2^-52 * M + 1e-60 counts as zero, where L is the longest side of the
/// points' bounding box and M the largest coordinate: adjacent facets that flat are one face where that face
/// is convex, and points that are four times that or less from one point, line or plane have no hull. Within
/// that and rounding, the hull is convex as vy_hull_check() has it. Every input point is inside the hull or
/// no farther outside than a few times that.
/// @param points    [m] read during the call only
/// @param tolerance relative, 0 ... 1e-3; VY_HULL_TOLERANCE unless there is a reason
/// @param out       the hull, to be given to vy_hull_destroy(); NULL on failure
/// @param err       may be NULL
/// @return VY_HULL_EMPTY, VY_HULL_TOO_FEW, VY_HULL_NOT_FINITE, VY_HULL_HUGE, VY_HULL_DUPLICATE (fewer than
/// four different points), VY_HULL_COLLINEAR, VY_HULL_COPLANAR, VY_BAD_VALUE (the tolerance), VY_NO_MEMORY,
/// or VY_BAD_HULL when no polyhedron within the tolerance was found
vy_status vy_hull_create(const vy_vec3 *points, int count, double tolerance, vy_hull **out, vy_error *err);

/// A hull from faces that are already known; needs no Qhull, so the result is the same bits everywhere.
/// The faces must close to a convex polyhedron and wind counter-clockwise seen from outside. Coplanar
/// neighbours are merged as in vy_hull_create(); vertices in no face's loop are left out.
/// @param loops       vertex indices, face after face
/// @param loop_counts [face_count] how many of `loops` each face has, at least 3
/// @return as vy_hull_create(); VY_BAD_HULL when the faces are not closed, not convex or turned inside out
vy_status vy_hull_from_faces(const vy_vec3 *vertices, int vertex_count, const int *loops,
                             const int *loop_counts, int face_count, double tolerance, vy_hull **out,
                             vy_error *err);

/// A box about the origin as a hull, from vy_hull_from_faces(). Vertex i is at +half.x if bit 0 of i is set,
/// else -half.x; bit 1 is y, bit 2 is z.
/// @param half [m] half the sides, each > 0
vy_status vy_hull_box(vy_vec3 half, vy_hull **out, vy_error *err);

/// NULL is a no-op.
void vy_hull_destroy(vy_hull *hull);

/// Check what queries rely on, for hulls that were not made by the functions above: indices in range, loops
/// closed, every half-edge with its twin, Euler's V - E + F = 2, triangles and padded coordinates that agree
/// with the rest, unit normals; and, within hull->tolerance and rounding, faces that are flat (to either side
/// of their middle), polygons with no corner beyond the line of a side, no vertex beyond the plane of a face.
/// Takes time with vertices times faces.
/// @return VY_OK or VY_BAD_HULL
vy_status vy_hull_check(const vy_hull *hull, vy_error *err);

/// Whether the point is inside or no more than `margin` [m] beyond any face's plane.
int vy_hull_contains(const vy_hull *hull, vy_vec3 point, double margin);

/// [m] Distance from a point to the surface: negative inside, positive outside. Exact on both sides: outside
/// it is the distance to the nearest face, edge or vertex.
double vy_hull_signed_distance(const vy_hull *hull, vy_vec3 point);

/// The point of the surface nearest to `point`, from inside or outside.
/// @param distance [m] as vy_hull_signed_distance(); may be NULL
/// @param face     a face with the nearest point on it; may be NULL
vy_vec3 vy_hull_nearest(const vy_hull *hull, vy_vec3 point, double *distance, int *face);

#ifdef __cplusplus
}
#endif
