// epa.h - the expanding polytope: from four points of A - B about the origin to the facet nearest to it.
#pragma once
#include "geometry/support.h"

enum {
    VY_EPA_VERTICES = 96,
    VY_EPA_FACES = 192, ///< at least 2 V - 4, the triangles of a closed polytope; a multiple of 8
};

/// A triangle. Its normal is short to keep a query under 10 KB: where that does not decide, it is computed
/// again.
typedef struct vy_epa_face {
    float n[3];       ///< unit, outward
    uint16_t next[3]; ///< across the edge from v[i]: four times the face there, plus the number of its edge
    uint8_t v[3];     ///< counter-clockwise seen from outside
    uint8_t alive;
} vy_epa_face;

/// The working storage of one query, on the stack.
typedef struct vy_epa {
    double d[VY_EPA_FACES]; ///< [m] distance of the face's plane from the origin
    vec3 w[VY_EPA_VERTICES];
    uint32_t ia[VY_EPA_VERTICES], ib[VY_EPA_VERTICES];
    vy_epa_face faces[VY_EPA_FACES];
    uint16_t stack[VY_EPA_FACES];  ///< edges still to be crossed
    uint16_t rim[VY_EPA_VERTICES]; ///< edges of the faces that stay, around the hole
    int vertex_count, face_count;  ///< face_count: those ever used, a multiple of 8
    int unused;                    ///< first face that is free, linked by next[0]; VY_EPA_FACES: none
} vy_epa;

typedef struct vy_epa_result {
    int converged;         ///< 0: the storage or the cap was used up, or rounding broke the polytope
    vec3 normal;           ///< unit, in A's frame: moving B along it by `depth` separates the cores
    double depth;          ///< [m] how far A - B reaches along the normal: never less than the true depth.
                           ///< Not converged: the least that any face had, or 1e38 and no normal
    vec3 point_a, point_b; ///< [m] in A's frame; point_a - point_b = depth normal
    int iterations;        ///< faces looked at
} vy_epa_result;
