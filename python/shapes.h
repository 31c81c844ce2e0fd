// shapes.h - a collision shape and what it refers to, for Python.
#pragma once
#include "volery/shape.h"

/// Never changed once it is made; outlives the bodies that have it.
typedef struct owned_shape {
    vy_shape shape;
    vy_hull *hull;   // of a hull
    double *heights; // of a height field
} owned_shape;
