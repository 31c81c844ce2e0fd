// pool.c - worker threads: between calls they spin for some microseconds, then sleep.
//
// Waking a thread takes tens of microseconds, as long as a thousand drones: so it spins first. On a busy
// machine it may take longer still: so no share waits for its thread. A thread that has finished its share
// steals pieces of the others', and a round is over when its items are done.
#include "base/pool.h"
#include "base/assert.h"
#include "base/cpu.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    CACHE_LINE = 64,       // [bytes] of a cache line
    CHUNKS_PER_RANGE = 16, // of a share
    SPIN_COUNT = 2000,     // polls before sleeping: about 40 us
};

/// What is left of a thread's share: the next item and, in the upper half, the end. The thread that advances
/// the next item by compare-and-swap owns the items in between, of the current round.
typedef struct work_range {
    _Alignas(CACHE_LINE) _Atomic uint64_t range;
} work_range;

typedef struct worker {
    vy_pool *pool;
    uint32_t index;
    pthread_t thread;
} worker;

struct vy_pool {
    uint32_t thread_count; // the caller's included
    uint32_t worker_count; // threads beside the caller's that run
    int spin_count;        // polls before sleeping
    worker *workers;
    work_range *ranges;       // [count]
    vy_pool_fn *fn;           // of the present round, and likewise:
    vy_pool_team_fn *team_fn; // where every thread takes part in it
    void *self;               // the argument of either
    atomic_size_t chunk;      // [items] to take at once
    char padding[CACHE_LINE]; // all threads read what is above in a round, and write what is below
    atomic_size_t remaining;  // items that are not done
    atomic_uint_fast64_t round, team_round;  // the last one; the last that every thread takes part in
    atomic_uint sleeping;                    // workers that must be woken
    atomic_int caller_sleeping, is_stopping; // the caller sleeps; the workers are to end
    pthread_mutex_t lock;
    pthread_cond_t round_begun, round_done, barrier_done; // of sleeping workers, the caller, either
    char padding_2[CACHE_LINE];
    atomic_uint barrier_arrived;             // threads that have reached the barrier
    char padding_3[CACHE_LINE];              // those that have poll what is below
    atomic_uint_fast64_t barrier_generation; // barriers passed so far
    atomic_uint barrier_sleepers;            // threads that sleep until the others arrive
};

static void wake(vy_pool *pool, pthread_cond_t *sleepers)
{
    pthread_mutex_lock(&pool->lock);
    pthread_cond_broadcast(sleepers);
    pthread_mutex_unlock(&pool->lock);
}

static void count_done(vy_pool *pool, size_t items)
{
    VY_ASSERT(items > 0 && atomic_load(&pool->remaining) >= items);
    if (atomic_fetch_sub(&pool->remaining, items) == items && atomic_load(&pool->caller_sleeping))
        wake(pool, &pool->round_done);
}

// The items of `owner` that were done: none, when there are none to do.
static size_t run_chunk(vy_pool *pool, uint32_t thread, uint32_t owner)
{
    VY_ASSERT(thread < pool->thread_count && owner < pool->thread_count);
    _Atomic uint64_t *range = &pool->ranges[owner].range;
    uint64_t expected = atomic_load(range), next, last;
    do {
        next = expected & UINT32_MAX;
        last = expected >> 32;
        if (next >= last) return 0;
        const uint64_t chunk = atomic_load_explicit(&pool->chunk, memory_order_relaxed);
        if (last - next > chunk) last = next + chunk;
    } while (!atomic_compare_exchange_weak(range, &expected, (expected >> 32) << 32 | last));
    VY_ASSERT(next < last && last <= expected >> 32);
    pool->fn(pool->self, thread, (size_t)next,
             (size_t)last); // until these are done no thread changes the work
    return (size_t)(last - next);
}

static void run_chunks(vy_pool *pool, uint32_t thread)
{
    size_t done_count =
        0; // counted at the end: doing so per piece would contend for the cache line of `remaining`
    for (uint32_t i = 0; i < pool->thread_count; ++i) {
        size_t chunk;
        while ((chunk = run_chunk(pool, thread, (thread + i) % pool->thread_count)) > 0) done_count += chunk;
    }
    if (done_count > 0) count_done(pool, done_count);
}

// Wait for another round than `last_round`; 0: there is none.
static int wait_for_work(vy_pool *pool, uint64_t *last_round)
{
    for (int k = 0; k < pool->spin_count && atomic_load(&pool->round) == *last_round; ++k) vy_cpu_pause();
    if (atomic_load(&pool->round) == *last_round) {
        pthread_mutex_lock(&pool->lock);
        atomic_fetch_add(&pool->sleeping,
                         1); // then check again: the caller writes the round, then reads this
        while (atomic_load(&pool->round) == *last_round) pthread_cond_wait(&pool->round_begun, &pool->lock);
        atomic_fetch_sub(&pool->sleeping, 1);
        pthread_mutex_unlock(&pool->lock);
    }
    *last_round = atomic_load(&pool->round);
    return !atomic_load(&pool->is_stopping);
}

static void *worker_main(void *argument)
{
    const worker *w = argument;
    uint64_t last_round = 0;
    while (wait_for_work(w->pool, &last_round)) {
        if (atomic_load(&w->pool->team_round) == last_round) { // this round needs every thread
            w->pool->team_fn(w->pool->self, w->index, w->pool->thread_count);
            count_done(w->pool, 1);
        } else {
            run_chunks(w->pool, w->index);
        }
    }
    return NULL;
}

static void begin_round(vy_pool *pool)
{
    atomic_fetch_add(&pool->round, 1);
    if (atomic_load(&pool->sleeping) > 0) wake(pool, &pool->round_begun);
}

// The caller has finished its work: wait for the others.
static void wait_for_end(vy_pool *pool)
{
    for (int k = 0; k < pool->spin_count && atomic_load(&pool->remaining) != 0; ++k) vy_cpu_pause();
    if (atomic_load(&pool->remaining) == 0) return;
    pthread_mutex_lock(&pool->lock);
    atomic_store(&pool->caller_sleeping, 1);
    while (atomic_load(&pool->remaining) != 0) pthread_cond_wait(&pool->round_done, &pool->lock);
    atomic_store(&pool->caller_sleeping, 0);
    pthread_mutex_unlock(&pool->lock);
}

vy_pool *vy_pool_create(uint32_t count)
{
    VY_ASSERT(count <= VY_POOL_MAX_THREADS);
    vy_pool *pool = calloc(1, sizeof *pool);
    if (pool == NULL) return NULL;
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (count == 0) count = cores > 0 && cores <= VY_POOL_MAX_THREADS ? (uint32_t)cores : 1;
    pool->thread_count = count;
    pool->spin_count =
        (long)count <= cores ? SPIN_COUNT : 0; // threads without a core of their own must not spin
    pool->workers = calloc(count, sizeof *pool->workers);
    pool->ranges = aligned_alloc(CACHE_LINE, count * sizeof *pool->ranges);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->round_begun, NULL);
    pthread_cond_init(&pool->round_done, NULL);
    pthread_cond_init(&pool->barrier_done, NULL);
    const int has_memory = pool->workers != NULL && pool->ranges != NULL;
    for (uint32_t i = 0; has_memory && i < count; ++i) atomic_init(&pool->ranges[i].range, 0);
    for (uint32_t i = 1; has_memory && i < count; ++i) {
        pool->workers[i] = (worker){.pool = pool, .index = i};
        if (pthread_create(&pool->workers[i].thread, NULL, worker_main, &pool->workers[i]) != 0) break;
        pool->worker_count += 1;
    }
    if (!has_memory || pool->worker_count + 1 != count) {
        vy_pool_destroy(pool);
        return NULL;
    }
    return pool;
}

void vy_pool_destroy(vy_pool *pool)
{
    if (pool == NULL) return;
    VY_ASSERT(atomic_load(&pool->remaining) == 0);
    atomic_store(&pool->is_stopping, 1);
    begin_round(pool);
    for (uint32_t i = 1; i <= pool->worker_count; ++i) pthread_join(pool->workers[i].thread, NULL);
    pthread_cond_destroy(&pool->barrier_done);
    pthread_cond_destroy(&pool->round_done);
    pthread_cond_destroy(&pool->round_begun);
    pthread_mutex_destroy(&pool->lock);
    free(pool->workers);
    free(pool->ranges);
    free(pool);
}

void vy_pool_run(vy_pool *pool, size_t items, vy_pool_fn *fn, void *self)
{
    VY_ASSERT(fn != NULL && items <= UINT32_MAX);
    if (items == 0) return;
    VY_ASSERT(atomic_load(&pool->remaining) == 0);
    if (pool->thread_count == 1) {
        fn(self, 0, 0, items);
        return;
    }
    pool->fn = fn;
    pool->self = self;
    atomic_store(&pool->chunk, items / pool->thread_count / CHUNKS_PER_RANGE + 1);
    atomic_store(&pool->remaining, items);
    for (uint32_t i = 0; i < pool->thread_count; ++i) {
        const uint64_t first = items * i / pool->thread_count, last = items * (i + 1) / pool->thread_count;
        atomic_store(&pool->ranges[i].range, last << 32 | first);
    }
    begin_round(pool);
    run_chunks(pool, 0);
    wait_for_end(pool);
}

void vy_pool_run_team(vy_pool *pool, vy_pool_team_fn *fn, void *self)
{
    VY_ASSERT(fn != NULL && pool->worker_count + 1 == pool->thread_count);
    VY_ASSERT(atomic_load(&pool->remaining) == 0 && atomic_load(&pool->barrier_arrived) == 0);
    pool->team_fn = fn;
    pool->self = self;
    atomic_store(&pool->remaining, pool->worker_count);
    atomic_store(&pool->team_round, atomic_load(&pool->round) + 1);
    begin_round(pool);
    fn(self, 0, pool->thread_count);
    wait_for_end(pool);
}

void vy_pool_barrier(vy_pool *pool)
{
    VY_ASSERT(atomic_load(&pool->barrier_arrived) < pool->thread_count);
    const uint64_t generation = atomic_load(&pool->barrier_generation);
    if (atomic_fetch_add(&pool->barrier_arrived, 1) + 1 == pool->thread_count) {
        atomic_store(&pool->barrier_arrived, 0);
        atomic_store(&pool->barrier_generation, generation + 1);
        if (atomic_load(&pool->barrier_sleepers) > 0) wake(pool, &pool->barrier_done);
        return;
    }
    for (int k = 0; k < pool->spin_count && atomic_load(&pool->barrier_generation) == generation; ++k)
        vy_cpu_pause();
    if (atomic_load(&pool->barrier_generation) != generation) return;
    pthread_mutex_lock(&pool->lock);
    atomic_fetch_add(&pool->barrier_sleepers,
                     1); // then check again: the last thread writes the generation, then reads this
    while (atomic_load(&pool->barrier_generation) == generation)
        pthread_cond_wait(&pool->barrier_done, &pool->lock);
    atomic_fetch_sub(&pool->barrier_sleepers, 1);
    pthread_mutex_unlock(&pool->lock);
}

uint32_t vy_pool_count(const vy_pool *pool) { return pool->thread_count; }
