// test_pool.c - threads that share a loop: every item once, whoever does it, however late he comes.
#include "base/pool.h"
#include "check.h"
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

enum { ITEMS = 500, THREADS = 5 };

typedef struct loop {
    uint32_t done[ITEMS];
    atomic_int busy[THREADS]; // on this thread's behalf
    atomic_int twice;
    size_t items;
} loop;

static void visit(void *self, uint32_t thread, size_t first, size_t last)
{
    loop *l = self;
    if (atomic_fetch_add(&l->busy[thread], 1) != 0 || first >= last || last > l->items)
        atomic_store(&l->twice, 1);
    if (thread != 0) (void)sched_yield(); // others are done before this one is
    for (size_t i = first; i < last; ++i) l->done[i] += 1;
    atomic_fetch_sub(&l->busy[thread], 1);
}

static void every_item_is_done_once(void **unused)
{
    (void)unused;
    random_source r = {7};
    for (uint32_t threads = 1; threads <= THREADS; ++threads) {
        vy_pool *pool = vy_pool_create(threads);
        assert_non_null(pool);
        assert_int_equal(vy_pool_count(pool), threads);
        loop l;
        memset(&l, 0, sizeof l);
        for (uint32_t round = 1; round <= 400; ++round) {
            l.items = ITEMS;
            vy_pool_run(pool, ITEMS, visit, &l);
            for (size_t i = 0; i < ITEMS; ++i) {
                if (l.done[i] != round) fail_msg("%u threads, round %u, item %zu", threads, round, i);
            }
            // Some of the workers are still awake in the next round, some sleep, some are on their way.
            for (uint64_t k = random_bits(&r) % 4; k > 0; --k) (void)sched_yield();
        }
        assert_int_equal(atomic_load(&l.twice), 0);
        vy_pool_destroy(pool);
    }
}

static void rounds_may_differ(void **unused)
{
    (void)unused;
    random_source r = {8};
    vy_pool *pool = vy_pool_create(3);
    assert_non_null(pool);
    for (int round = 0; round < 1000; ++round) {
        loop l;
        memset(&l, 0, sizeof l);
        l.items = random_bits(&r) % 9; // none, fewer than threads, a few
        vy_pool_run(pool, l.items, visit, &l);
        for (size_t i = 0; i < ITEMS; ++i) assert_int_equal(l.done[i], i < l.items);
        assert_int_equal(atomic_load(&l.twice), 0);
    }
    vy_pool_destroy(pool);
    vy_pool_destroy(NULL);
}

typedef struct team {
    vy_pool *pool;
    uint32_t written[THREADS * 16]; // a cache line each
    uint64_t seen;                  // by thread 0, of what the others had written
} team;

// Each writes, all meet, one adds up, all meet.
static void write_and_meet(void *self, uint32_t thread, uint32_t count)
{
    team *t = self;
    for (int k = 0; k < 4; ++k) {
        t->written[thread * 16] += 1;
        vy_pool_barrier(t->pool);
        for (uint32_t i = 0; i < count && thread == 0; ++i) t->seen += t->written[i * 16];
        vy_pool_barrier(t->pool);
    }
}

static void threads_meet(void **unused)
{
    (void)unused;
    for (uint32_t threads = 1; threads <= THREADS; ++threads) {
        team t = {.pool = vy_pool_create(threads)};
        uint64_t all = 0;
        loop l;
        memset(&l, 0, sizeof l);
        l.items = ITEMS;
        assert_non_null(t.pool);
        for (uint32_t round = 0; round < 50; ++round) {
            vy_pool_run_team(t.pool, write_and_meet, &t);
            if (round % 3 == 0) vy_pool_run(t.pool, ITEMS, visit, &l); // workers may be late for the next
        }
        for (uint64_t k = 1; k <= 200; ++k) all += k * threads;
        assert_true(t.seen == all);
        for (uint32_t i = 0; i < threads; ++i) assert_int_equal(t.written[i * 16], 200);
        assert_int_equal(atomic_load(&l.twice), 0);
        vy_pool_destroy(t.pool);
    }
    vy_pool *pool = vy_pool_create(0); // one per core
    assert_non_null(pool);
    assert_true(vy_pool_count(pool) >= 1);
    vy_pool_destroy(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_item_is_done_once),
        cmocka_unit_test(rounds_may_differ),
        cmocka_unit_test(threads_meet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
