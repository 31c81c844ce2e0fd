// hull_internal.h - the steps of building a hull, shared by all builders.
//
// points -> vy_hull_check_points -> faces as loops (from Qhull, vy_loops_exact_hull or the caller) ->
// vy_loops_merge -> vy_hull_assemble. Only the indices travel between the steps; each step computes its own
// numbers from the points, in canonical order.
#pragma once
#include "base/arena.h"
#include "volery/hull.h"

/// Polygons over an array of points. Face f is vertex[first[f]] ... vertex[first[f + 1] - 1],
/// counter-clockwise seen from outside.
typedef struct vy_loops {
    int face_count;
    int half_edge_count; // all vertices of all loops
    int *first;          // [face_count + 1] index into `vertex`
    int *vertex;         // [half_edge_count] index of a point
} vy_loops;

/// Memory for loops; on VY_NO_MEMORY nothing is held. vy_loops_free() takes a zeroed struct too.
vy_status vy_loops_alloc(int face_count, int half_edge_count, vy_loops *loops, vy_error *err);
void vy_loops_free(vy_loops *loops);

/// Turn every loop to start at its smallest vertex, and sort the faces by their loops.
/// @param scratch [2 face_count + half_edge_count]
void vy_loops_canonical(vy_loops *loops, int *scratch);

/// Merge coplanar neighbours where the result is flat and convex within `epsilon` [m], leave out vertices on
/// edges, bring to canonical order.
vy_status vy_loops_merge(const vy_vec3 *points, int point_count, double epsilon, vy_loops *loops,
                         vy_error *err);

/// The half-edge that runs the other way, for each; VY_BAD_HULL unless every edge has exactly two sides.
/// @param scratch [2 half_edge_count]
vy_status vy_loops_twins(const vy_loops *loops, int *twin, int *scratch, vy_error *err);

/// Newell's normal of a loop, its length twice the area; exact for a polygon that is not quite flat, too. Its
/// direction is right to rounding even for a needle as thin as its coordinates can tell.
vy_vec3 vy_loop_area_vector(const vy_vec3 *points, const int *loop, int count);

/// Whether no corner of the loop is more than `tolerance` [m] beyond the line of any of its sides, seen along
/// the unit normal.
int vy_loop_is_convex(const vy_vec3 *points, const int *loop, int count, vy_vec3 normal, double tolerance);

/// Count, finiteness, size and dimension of a set of points; on success `epsilon` is the distance [m] that
/// counts as zero for it, and `thickness` [m] how far some point is from the plane of three others far apart.
vy_status vy_hull_check_points(const vy_vec3 *points, int count, double tolerance, double *epsilon,
                               double *thickness, vy_error *err);

vy_bounds vy_bounds_of_points(const vy_vec3 *points, int count);

/// The power of two that brings the longest side of the points' box to 1 ... 2.
double vy_scale_of_points(const vy_vec3 *points, int count);

/// The triangles of the exact hull, by a slow but exact algorithm. VY_HULL_COPLANAR when all are in one
/// plane.
vy_status vy_loops_exact_hull(const vy_vec3 *points, int count, vy_loops *loops, vy_error *err);

/// Build and check the hull of merged loops.
vy_status vy_hull_assemble(const vy_vec3 *points, int point_count, const vy_loops *loops, double epsilon,
                           vy_hull **out, vy_error *err);

/// Merge sort of `index` by a strict total order; the order of equals stays.
typedef int (*vy_less_fn)(const void *context, int a, int b);
void vy_sort_indices(int *index, int count, int *scratch, vy_less_fn before, const void *context);
