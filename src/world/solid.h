// solid.h - declared shapes as the geometry takes them, with the memory they stand on.
#pragma once
#include "volery/hull.h"
#include "volery/obstacle.h"
#include "volery/shape.h"
#include "volery/vehicle.h"

/// What a shape points to, owned; zeroed: nothing.
typedef struct solid_memory {
    vy_hull *hull;
    double *heights;
} solid_memory;

/// The shape of a def, VY_SHAPE_NONE for none. `vehicle` may be NULL: then VY_COLLIDER_AUTO is none.
vy_status vy_solid_build(const vy_collider_def *def, const vy_vehicle_def *vehicle, vy_shape *out,
                         solid_memory *memory, vy_error *err);
void vy_solid_free(solid_memory *memory);
