// pool.c - threads that wait for work between two calls: awake for some microseconds, then asleep.
//
// A thread that is woken comes tens of microseconds late, as long as a thousand drones take: so it first
// waits awake. And it may come later still, where other programs run: so no share waits for its thread.
// Whoever is done with his own takes pieces of the others', and a round is over when its items are done.
#include "base/pool.h"
#include "base/assert.h"
#include "base/cpu.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    LINE = 64,    // [bytes] of a cache line
    PIECES = 16,  // of a share
    AWAKE = 2000, // looks for work before sleep: about 40 us
};

/// What is left of a thread's share: the next item and, in the upper half, the end. Who moves the next item
/// by an exchange has the items between, of the round that then runs.
typedef struct share {
    _Alignas(LINE) _Atomic uint64_t range;
} share;

typedef struct worker {
    vy_pool *pool;
    uint32_t index;
    pthread_t thread;
} worker;

struct vy_pool {
    uint32_t count, started; // threads; those beside the caller's that run
    int awake;               // looks for work before sleep
    worker *workers;
    share *shares; // [count]
    vy_pool_fn *fn;
    vy_pool_team_fn *team_fn;
    void *self;
    atomic_size_t piece; // [items] to take at once
    char apart[LINE];    // all threads read what is above in a round, and write what is below
    atomic_size_t left;  // items that are not done
    atomic_uint_fast64_t round, together; // the last one; the last that every thread takes part in
    atomic_uint sleeping;                 // workers that must be woken
    atomic_int resting, over;             // the caller sleeps; the workers are to end
    pthread_mutex_t lock;
    pthread_cond_t begin, done, all_here;
    atomic_uint here;         // threads that have come to a meeting
    atomic_uint_fast64_t met; // meetings so far
    atomic_uint missing;      // threads that sleep until the others have come
};

static void wake(vy_pool *pool, pthread_cond_t *sleepers)
{
    pthread_mutex_lock(&pool->lock);
    pthread_cond_broadcast(sleepers);
    pthread_mutex_unlock(&pool->lock);
}

static void count_done(vy_pool *pool, size_t items)
{
    VY_ASSERT(items > 0 && atomic_load(&pool->left) >= items);
    if (atomic_fetch_sub(&pool->left, items) == items && atomic_load(&pool->resting)) wake(pool, &pool->done);
}

// The items of `from` that were done: none, when there are none to do.
static size_t take_piece(vy_pool *pool, uint32_t thread, uint32_t from)
{
    VY_ASSERT(thread < pool->count && from < pool->count);
    _Atomic uint64_t *range = &pool->shares[from].range;
    uint64_t seen = atomic_load(range), next, last;
    do {
        next = seen & UINT32_MAX;
        last = seen >> 32;
        if (next >= last) return 0;
        const uint64_t piece = atomic_load_explicit(&pool->piece, memory_order_relaxed);
        if (last - next > piece) last = next + piece;
    } while (!atomic_compare_exchange_weak(range, &seen, (seen >> 32) << 32 | last));
    VY_ASSERT(next < last && last <= seen >> 32);
    pool->fn(pool->self, thread, (size_t)next, (size_t)last); // not done: nobody changes the work meanwhile
    return (size_t)(last - next);
}

static void take_pieces(vy_pool *pool, uint32_t thread)
{
    size_t done = 0; // counted at the end: every piece would take the line of `left` from the others
    for (uint32_t i = 0; i < pool->count; ++i) {
        size_t piece;
        while ((piece = take_piece(pool, thread, (thread + i) % pool->count)) > 0) done += piece;
    }
    if (done > 0) count_done(pool, done);
}

// Wait for another round than `seen`; 0: there is none.
static int wait_for_work(vy_pool *pool, uint64_t *seen)
{
    for (int k = 0; k < pool->awake && atomic_load(&pool->round) == *seen; ++k) vy_cpu_pause();
    if (atomic_load(&pool->round) == *seen) {
        pthread_mutex_lock(&pool->lock);
        atomic_fetch_add(&pool->sleeping, 1); // then a look: the caller writes the round, then looks here
        while (atomic_load(&pool->round) == *seen) pthread_cond_wait(&pool->begin, &pool->lock);
        atomic_fetch_sub(&pool->sleeping, 1);
        pthread_mutex_unlock(&pool->lock);
    }
    *seen = atomic_load(&pool->round);
    return !atomic_load(&pool->over);
}

static void *work(void *argument)
{
    const worker *w = argument;
    uint64_t seen = 0;
    while (wait_for_work(w->pool, &seen)) {
        if (atomic_load(&w->pool->together) == seen) { // that round waits for this thread
            w->pool->team_fn(w->pool->self, w->index, w->pool->count);
            count_done(w->pool, 1);
        } else {
            take_pieces(w->pool, w->index);
        }
    }
    return NULL;
}

static void begin_round(vy_pool *pool)
{
    atomic_fetch_add(&pool->round, 1);
    if (atomic_load(&pool->sleeping) > 0) wake(pool, &pool->begin);
}

// The caller has nothing more to do.
static void wait_for_end(vy_pool *pool)
{
    for (int k = 0; k < pool->awake && atomic_load(&pool->left) != 0; ++k) vy_cpu_pause();
    if (atomic_load(&pool->left) == 0) return;
    pthread_mutex_lock(&pool->lock);
    atomic_store(&pool->resting, 1);
    while (atomic_load(&pool->left) != 0) pthread_cond_wait(&pool->done, &pool->lock);
    atomic_store(&pool->resting, 0);
    pthread_mutex_unlock(&pool->lock);
}

vy_pool *vy_pool_create(uint32_t count)
{
    VY_ASSERT(count <= VY_POOL_MAX_THREADS);
    vy_pool *pool = calloc(1, sizeof *pool);
    if (pool == NULL) return NULL;
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (count == 0) count = cores > 0 && cores <= VY_POOL_MAX_THREADS ? (uint32_t)cores : 1;
    pool->count = count;
    pool->awake = (long)count <= cores ? AWAKE : 0; // threads without a core of their own do not hold one up
    pool->workers = calloc(count, sizeof *pool->workers);
    pool->shares = aligned_alloc(LINE, count * sizeof *pool->shares);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->begin, NULL);
    pthread_cond_init(&pool->done, NULL);
    pthread_cond_init(&pool->all_here, NULL);
    const int room = pool->workers != NULL && pool->shares != NULL;
    for (uint32_t i = 0; room && i < count; ++i) atomic_init(&pool->shares[i].range, 0);
    for (uint32_t i = 1; room && i < count; ++i) {
        pool->workers[i] = (worker){.pool = pool, .index = i};
        if (pthread_create(&pool->workers[i].thread, NULL, work, &pool->workers[i]) != 0) break;
        pool->started += 1;
    }
    if (!room || pool->started + 1 != count) {
        vy_pool_destroy(pool);
        return NULL;
    }
    return pool;
}

void vy_pool_destroy(vy_pool *pool)
{
    if (pool == NULL) return;
    VY_ASSERT(atomic_load(&pool->left) == 0);
    atomic_store(&pool->over, 1);
    begin_round(pool);
    for (uint32_t i = 1; i <= pool->started; ++i) pthread_join(pool->workers[i].thread, NULL);
    pthread_cond_destroy(&pool->all_here);
    pthread_cond_destroy(&pool->done);
    pthread_cond_destroy(&pool->begin);
    pthread_mutex_destroy(&pool->lock);
    free(pool->workers);
    free(pool->shares);
    free(pool);
}

void vy_pool_run(vy_pool *pool, size_t items, vy_pool_fn *fn, void *self)
{
    VY_ASSERT(fn != NULL && items <= UINT32_MAX);
    if (items == 0) return;
    VY_ASSERT(atomic_load(&pool->left) == 0);
    if (pool->count == 1) {
        fn(self, 0, 0, items);
        return;
    }
    pool->fn = fn;
    pool->self = self;
    atomic_store(&pool->piece, items / pool->count / PIECES + 1);
    atomic_store(&pool->left, items);
    for (uint32_t i = 0; i < pool->count; ++i) {
        const uint64_t first = items * i / pool->count, last = items * (i + 1) / pool->count;
        atomic_store(&pool->shares[i].range, last << 32 | first);
    }
    begin_round(pool);
    take_pieces(pool, 0);
    wait_for_end(pool);
}

void vy_pool_run_team(vy_pool *pool, vy_pool_team_fn *fn, void *self)
{
    VY_ASSERT(fn != NULL && pool->started + 1 == pool->count);
    VY_ASSERT(atomic_load(&pool->left) == 0 && atomic_load(&pool->here) == 0);
    pool->team_fn = fn;
    pool->self = self;
    atomic_store(&pool->left, pool->started);
    atomic_store(&pool->together, atomic_load(&pool->round) + 1);
    begin_round(pool);
    fn(self, 0, pool->count);
    wait_for_end(pool);
}

void vy_pool_barrier(vy_pool *pool)
{
    VY_ASSERT(atomic_load(&pool->here) < pool->count);
    const uint64_t meeting = atomic_load(&pool->met);
    if (atomic_fetch_add(&pool->here, 1) + 1 == pool->count) {
        atomic_store(&pool->here, 0);
        atomic_store(&pool->met, meeting + 1);
        if (atomic_load(&pool->missing) > 0) wake(pool, &pool->all_here);
        return;
    }
    for (int k = 0; k < pool->awake && atomic_load(&pool->met) == meeting; ++k) vy_cpu_pause();
    if (atomic_load(&pool->met) != meeting) return;
    pthread_mutex_lock(&pool->lock);
    atomic_fetch_add(&pool->missing,
                     1); // then a look: the last one writes that all have met, then looks here
    while (atomic_load(&pool->met) == meeting) pthread_cond_wait(&pool->all_here, &pool->lock);
    atomic_fetch_sub(&pool->missing, 1);
    pthread_mutex_unlock(&pool->lock);
}

uint32_t vy_pool_count(const vy_pool *pool) { return pool->count; }
