// share.c - loops over the bodies or pairs of a set, on all its threads.
#include "dynamics/share.h"

typedef struct shared_loop {
    vy_bodies *bodies;
    share_fn *fn;
    void *self;
} shared_loop;

static void do_items(void *self, uint32_t thread, size_t first, size_t last)
{
    (void)thread;
    const shared_loop *loop = self;
    const uint64_t found = fpu_enter();
    loop->fn(loop->bodies, loop->self, first, last);
    fpu_leave(found);
}

void vy_bodies_share(vy_bodies *b, size_t all, size_t few, share_fn *fn, void *self)
{
    if (b->pool == NULL || all < few) {
        fn(b, self, 0, all);
    } else {
        vy_pool_run(b->pool, all, do_items, &(shared_loop){b, fn, self});
    }
}
