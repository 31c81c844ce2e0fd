// parallel.c - loops over the bodies or pairs of a set, on all its threads.
#include "dynamics/parallel.h"
#include "base/assert.h"

typedef struct parallel_loop {
    vy_bodies *bodies;
    parallel_fn *fn;
    void *self;
} parallel_loop;

static void run_range(void *self, uint32_t thread, size_t first, size_t last)
{
    (void)thread;
    const parallel_loop *loop = self;
    VY_ASSERT(first < last);
    const uint64_t fpu_state = fpu_enter();
    loop->fn(loop->bodies, loop->self, first, last);
    fpu_leave(fpu_state);
}

void vy_bodies_parallel_for(vy_bodies *b, size_t count, size_t min_count, parallel_fn *fn, void *self)
{
    if (b->pool == NULL || count < min_count) {
        fn(b, self, 0, count);
    } else {
        vy_pool_run(b->pool, count, run_range, &(parallel_loop){b, fn, self});
    }
}
