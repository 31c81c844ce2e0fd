// parallel.h - loops over the bodies or pairs of a set, on all its threads.
//
// Each element writes its own memory, so the bits do not depend on the number or the timing of threads.
#pragma once
#include "base/pool.h"
#include "dynamics/bodies.h"

/// Do elements [first, last) of a loop.
typedef void parallel_fn(vy_bodies *b, void *self, size_t first, size_t last);

/// Do elements [0, count) on all threads of the set, on the caller's alone when there are fewer than
/// `min_count`.
void vy_bodies_parallel_for(vy_bodies *b, size_t count, size_t min_count, parallel_fn *fn, void *self);
