// pool.c - threads that wait for work between two calls.
#include "batch/pool.h"
#include <pthread.h>
#include <stdlib.h>

typedef struct worker {
    vy_pool *pool;
    uint32_t index;
    pthread_t thread;
} worker;

struct vy_pool {
    uint32_t count, started; // threads; those beside the caller's that run
    worker *workers;
    pthread_mutex_t lock;
    pthread_cond_t begin, done;
    uint64_t round;   // of work given out
    uint32_t waiting; // workers that have not finished it
    int over;
    vy_pool_fn *fn;
    void *self;
};

static void *work(void *argument)
{
    worker *w = argument;
    vy_pool *pool = w->pool;
    uint64_t seen = 0;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (pool->round == seen && !pool->over) pthread_cond_wait(&pool->begin, &pool->lock);
        if (pool->over) break;
        seen = pool->round;
        pthread_mutex_unlock(&pool->lock);
        pool->fn(pool->self, w->index, pool->count);
        pthread_mutex_lock(&pool->lock);
        if (--pool->waiting == 0) pthread_cond_signal(&pool->done);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

vy_pool *vy_pool_create(uint32_t count)
{
    vy_pool *pool = calloc(1, sizeof *pool);
    if (pool == NULL) return NULL;
    pool->count = count;
    pool->workers = calloc(count, sizeof *pool->workers);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->begin, NULL);
    pthread_cond_init(&pool->done, NULL);
    for (uint32_t i = 1; pool->workers != NULL && i < count; ++i) {
        pool->workers[i] = (worker){.pool = pool, .index = i};
        if (pthread_create(&pool->workers[i].thread, NULL, work, &pool->workers[i]) != 0) break;
        pool->started += 1;
    }
    if (pool->workers == NULL || pool->started + 1 != count) {
        vy_pool_destroy(pool);
        return NULL;
    }
    return pool;
}

void vy_pool_destroy(vy_pool *pool)
{
    if (pool == NULL) return;
    pthread_mutex_lock(&pool->lock);
    pool->over = 1;
    pthread_cond_broadcast(&pool->begin);
    pthread_mutex_unlock(&pool->lock);
    for (uint32_t i = 1; i <= pool->started; ++i) pthread_join(pool->workers[i].thread, NULL);
    pthread_cond_destroy(&pool->done);
    pthread_cond_destroy(&pool->begin);
    pthread_mutex_destroy(&pool->lock);
    free(pool->workers);
    free(pool);
}

void vy_pool_run(vy_pool *pool, vy_pool_fn *fn, void *self)
{
    if (pool->count > 1) {
        pthread_mutex_lock(&pool->lock);
        pool->fn = fn;
        pool->self = self;
        pool->waiting = pool->started;
        pool->round += 1;
        pthread_cond_broadcast(&pool->begin);
        pthread_mutex_unlock(&pool->lock);
    }
    fn(self, 0, pool->count);
    if (pool->count > 1) {
        pthread_mutex_lock(&pool->lock);
        while (pool->waiting > 0) pthread_cond_wait(&pool->done, &pool->lock);
        pthread_mutex_unlock(&pool->lock);
    }
}

uint32_t vy_pool_count(const vy_pool *pool) { return pool->count; }
