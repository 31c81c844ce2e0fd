// pool.h - threads that share one loop.
#pragma once
#include <stdint.h>

typedef struct vy_pool vy_pool;

/// Does the work of thread `thread`, one of 0 to count - 1.
typedef void vy_pool_fn(void *self, uint32_t thread, uint32_t count);

/// `count` threads, the caller's one included. NULL when the system gives none.
vy_pool *vy_pool_create(uint32_t count);
void vy_pool_destroy(vy_pool *pool); ///< NULL is a no-op

/// Call `fn` once for each thread and return when all have returned. From one thread at a time.
void vy_pool_run(vy_pool *pool, vy_pool_fn *fn, void *self);
uint32_t vy_pool_count(const vy_pool *pool);
