// gjk.h - the distance of two cores: the algorithm of Gilbert, Johnson and Keerthi (GJK) over simplices of A
// - B.
#pragma once
#include "geometry/support.h"
#include "volery/collision.h"

/// The result, in A's frame.
typedef struct vy_gjk_result {
    vy_minkowski_vertex p[4]; ///< the simplex that contains the nearest point
    double lambda[4];         ///< barycentric weights: >= 0, sum 1
    int count;                ///< 1 ... 4; 4 only when the cores overlap
    vec3 v;                   ///< [m] the point of A - B nearest to the origin
    double distance;          ///< [m] of the cores, without margins; 0 when they overlap
    int iterations;           ///< support points computed
    int beyond_limit; ///< 1: ended early because the distance exceeds `limit`; then v is not the nearest
                      ///< point
} vy_gjk_result;

/// @param cache a simplex of an earlier query of the same two shapes to start from; may be NULL
/// @param limit [m] stop as soon as the distance is certainly greater; negative: never
/// @param max_iterations   largest number of support points
void vy_gjk_distance(const vy_core_pair *pair, const vy_simplex *cache, double limit, int max_iterations,
                     vy_gjk_result *out);

/// The nearest points of both cores in A's frame.
void vy_gjk_points(const vy_core_pair *pair, const vy_gjk_result *gjk, vec3 *a, vec3 *b);

/// The point nearest to the origin of the convex hull of 1 ... 4 points: reduces the simplex to those that
/// contain it. Returns 1 when the origin is inside a tetrahedron.
int vy_simplex_nearest(vy_gjk_result *gjk);
