// separation.h - how far drones are apart.
#pragma once
#include "volery/world.h"

/// The least distance [m] of drone `drone`, or of any where that is negative, from another one, centre to
/// centre; `*nearest` is that drone, or the first of the two. DBL_MAX and untouched where there are no two.
double vy_drone_separation(const vy_world *world, int drone, uint32_t *nearest);
