// pool.h - threads that share one loop.
#pragma once
#include <stddef.h>
#include <stdint.h>

typedef struct vy_pool vy_pool;

enum { VY_POOL_MAX_THREADS = 1024 };

/// Does the items first to last - 1 on thread `thread`; no two calls at a time have the same thread.
typedef void vy_pool_fn(void *self, uint32_t thread, size_t first, size_t last);

/// `count` threads, VY_POOL_MAX_THREADS at most, the caller's one included; 0: one per core. NULL when the
/// system cannot start them.
vy_pool *vy_pool_create(uint32_t count);
void vy_pool_destroy(vy_pool *pool); ///< NULL is a no-op

/// Have items 0 to items - 1 (below 2^32) done by all threads and return when they are. Every thread begins
/// with its own share, the same in every call, and helps others when that is done. From one thread at a time.
void vy_pool_run(vy_pool *pool, size_t items, vy_pool_fn *fn, void *self);
uint32_t vy_pool_count(const vy_pool *pool);

/// Does what thread `thread` of `count` has to do.
typedef void vy_pool_team_fn(void *self, uint32_t thread, uint32_t count);

/// Call `fn` once on every thread, all at the same time, and return when all have returned: for work with
/// barriers. From one thread at a time.
void vy_pool_run_team(vy_pool *pool, vy_pool_team_fn *fn, void *self);

/// A barrier within vy_pool_run_team(): wait until every thread has arrived. What they wrote before is
/// visible after it.
void vy_pool_barrier(vy_pool *pool);
