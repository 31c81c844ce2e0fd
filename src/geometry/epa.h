// epa.h - the expanding polytope algorithm (EPA): from four points of A - B around the origin to the nearest
// facet.
#pragma once
#include "geometry/support.h"

enum {
    VY_EPA_VERTICES = 96,
    VY_EPA_FACES = 192, ///< at least 2 V - 4, the triangles of a closed polytope; a multiple of 8
};

/// A triangle. Its normal is single precision to keep a query under 10 KB: where that does not decide, it is
/// computed again.
typedef struct vy_epa_face {
    float n[3]; ///< unit, outward
    uint16_t
        next[3];  ///< across the edge from v[i]: four times the neighbouring face, plus the index of its edge
    uint8_t v[3]; ///< counter-clockwise seen from outside
    uint8_t alive; ///< 1: a face of the polytope; 0: removed, or not yet used
} vy_epa_face;

/// The working storage of one query, on the stack.
typedef struct vy_epa {
    double d[VY_EPA_FACES];                            ///< [m] distance of the face's plane from the origin
    vec3 w[VY_EPA_VERTICES];                           ///< [m] the vertices, points of A - B
    uint32_t ia[VY_EPA_VERTICES], ib[VY_EPA_VERTICES]; ///< their ids, as in vy_minkowski_vertex
    vy_epa_face faces[VY_EPA_FACES];
    uint16_t stack[VY_EPA_FACES];      ///< edges still to cross
    uint16_t horizon[VY_EPA_VERTICES]; ///< edges of the remaining faces, around the hole
    int vertex_count, face_count;      ///< face_count: those ever used, a multiple of 8
    int free_face;                     ///< first face that is free, linked by next[0]; VY_EPA_FACES: none
} vy_epa;

typedef struct vy_epa_result {
    int converged;         ///< 0: the storage or the iterations were used up, or rounding broke the polytope
    vec3 normal;           ///< unit, in A's frame: moving B along it by `depth` separates the cores
    double depth;          ///< [m] extent of A - B along the normal: never less than the true depth.
                           ///< Not converged: the smallest of all faces, or 1e38 and no normal
    int has_points;        ///< 0: no triangle was found under the origin's projection, point_a is not exact
    vec3 point_a, point_b; ///< [m] in A's frame; point_a - point_b = depth normal
    int iterations;        ///< faces expanded
} vy_epa_result;
