// inertia.h - whether an inertia can be that of a body.
#pragma once
#include "volery/types.h"

/// A moment may be above the sum of the others by so much of it: identified figures scatter.
#define INERTIA_EXCESS_MAX 0.05

/// Whether the tensor is symmetric and positive, and no principal moment exceeds 1 + `excess` times the sum
/// of the others. Of a rigid body the excess is 0.
int vy_inertia_is_possible(vy_mat3 inertia, double excess);
