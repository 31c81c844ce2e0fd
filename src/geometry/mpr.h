// mpr.h - Minkowski portal refinement (MPR, XenoCollide; Snethen 2008): whether two cores overlap. A ray from
// an interior point of A - B through the origin leaves it by the portal, a triangle of support points.
#pragma once
#include "geometry/support.h"

typedef struct vy_mpr_result {
    vy_minkowski_vertex v[4]; ///< v[0] the interior point, which has no ids, then the portal; they contain
                              ///< the origin when hit
    int hit;                  ///< 1 overlap, 0 apart, -1 undecided: the origin is on the surface to rounding
    int iterations;           ///< support points computed
} vy_mpr_result;
