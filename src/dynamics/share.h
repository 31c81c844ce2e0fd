// share.h - loops over the bodies or pairs of a set, on all its threads.
//
// Each element writes to its own place, so the bits do not depend on who did it, or when.
#pragma once
#include "base/pool.h"
#include "dynamics/bodies.h"

/// Do elements [first, last) of a loop.
typedef void share_fn(vy_bodies *b, void *self, size_t first, size_t last);

/// Do elements [0, all) on all threads of the set, on the caller's alone when they are fewer than `few`.
void vy_bodies_share(vy_bodies *b, size_t all, size_t few, share_fn *fn, void *self);
