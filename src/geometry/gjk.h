// gjk.h - the distance of two cores: Gilbert, Johnson and Keerthi's descent over simplices of A - B.
#pragma once
#include "geometry/support.h"
#include "volery/collision.h"

/// Where the descent ended, in A's frame.
typedef struct vy_gjk {
    vy_minkowski p[4]; ///< the simplex that holds the nearest point
    double lambda[4];  ///< its weights: >= 0, sum 1
    int count;         ///< 1 ... 4; 4 only when the cores overlap
    vec3 v;            ///< [m] the point of A - B nearest to the origin
    double distance;   ///< [m] of the cores, without margins; 0 when they overlap
    int iterations;    ///< support points asked for
    int far;           ///< 1: ended early because the distance exceeds `stop`; v is no nearest point then
} vy_gjk;

/// @param cache a simplex of an earlier query of the same two shapes to start from; may be NULL
/// @param stop  [m] give up as soon as the distance is certainly greater; negative: never
/// @param cap   largest number of support points
void vy_gjk_distance(const vy_pair *pair, const vy_simplex *cache, double stop, int cap, vy_gjk *out);

/// The nearest points of both cores in A's frame.
void vy_gjk_points(const vy_pair *pair, const vy_gjk *gjk, vec3 *a, vec3 *b);

/// The nearest point to the origin of the hull of 1 ... 4 points: reduces the simplex to those that hold it.
/// Returns 1 when the origin is inside a tetrahedron.
int vy_simplex_nearest(vy_gjk *gjk);
