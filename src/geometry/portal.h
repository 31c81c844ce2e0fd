// portal.h - whether two cores overlap: a ray from an inner point of A - B through the origin, and the
// triangle of extreme points it leaves by (Minkowski portal refinement, Snethen 2008).
#pragma once
#include "geometry/support.h"

typedef struct vy_portal {
    vy_minkowski
        v[4]; ///< v[0] the inner point, which has no ids, and the portal; the origin is among them when hit
    int hit;  ///< 1 overlap, 0 apart, -1 undecided: the origin is on the surface to rounding
    int iterations; ///< support points asked for
} vy_portal;

/// @param complete 1: find the four points even where a ball decides; EPA starts from them
void vy_portal_find(const vy_pair *pair, int complete, vy_portal *out);
