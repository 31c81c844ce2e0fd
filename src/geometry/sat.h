// sat.h - the separating axis test (SAT): the exact depth of two polyhedra over every facet that A - B can
// have.
#pragma once
#include "geometry/support.h"

typedef struct vy_sat_result {
    double depth; ///< [m] how far A - B reaches along the normal: the depth, or negative when the cores are
                  ///< apart
    vec3 normal;  ///< unit, in A's frame
} vy_sat_result;

/// A facet of A - B is a face of A, a reversed face of B, or spanned by an edge of each. EPA finds the
/// nearest one faster; this is for the rare pair on which EPA gives up.
/// @param a,b the shapes of the pair: hull, box, capsule or sphere, at least one of the first two
void vy_sat_search(const vy_core_pair *pair, const vy_shape *a, const vy_shape *b, vy_sat_result *out);
