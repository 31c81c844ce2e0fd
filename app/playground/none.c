// none.c - what a page has not: programs as controllers, people who watch over a network, logs packed by
// zstd, instructions of other processors. playground.c and vy_cpu() see to it that none of these is asked
// for; others name them all the same.
#include "base/assert.h"
#include "base/cpu.h"
#include "controllers.h"
#include "watch.h"
#include "world/world_impl.h"
#include <zstd.h>

int vy_controllers_finish(controllers *c, vy_failure *failure)
{
    VY_ASSERT(c == NULL || c->count == 0);
    (void)c;
    (void)failure;
    return 0;
}

void vy_controllers_output(const controllers *c, int index, char *out, size_t size)
{
    VY_ASSERT(size > 0);
    (void)c;
    (void)index;
    (void)size;
    out[0] = '\0';
}

int vy_watch_begin(watch *w, const char *path, vy_recorder *recorder)
{
    VY_ASSERT(w == NULL);
    (void)w;
    (void)path;
    (void)recorder;
    return 0;
}

void vy_watch_pace(watch *w, double time)
{
    VY_ASSERT(w == NULL);
    (void)w;
    (void)time;
}

void vy_watch_inject(watch *w, const vy_scenario *scenario, vy_world *world)
{
    VY_ASSERT(w == NULL);
    (void)w;
    (void)scenario;
    (void)world;
}

void vy_watch_end(watch *w, const char *status, uint64_t hash)
{
    VY_ASSERT(w == NULL);
    (void)w;
    (void)status;
    (void)hash;
}

ZSTD_CCtx *ZSTD_createCCtx(void) { return NULL; }

size_t ZSTD_freeCCtx(ZSTD_CCtx *context)
{
    VY_ASSERT(context == NULL);
    (void)context;
    return 0;
}

size_t ZSTD_compressBound(size_t size) { return size; }

size_t ZSTD_compressCCtx(ZSTD_CCtx *context, void *to, size_t room, const void *from, size_t size, int level)
{
    VY_ASSERT(context == NULL);
    (void)context;
    (void)to;
    (void)room;
    (void)from;
    (void)size;
    (void)level;
    return (size_t)-1;
}

ZSTD_DCtx *ZSTD_createDCtx(void) { return NULL; }

size_t ZSTD_freeDCtx(ZSTD_DCtx *context)
{
    VY_ASSERT(context == NULL);
    (void)context;
    return 0;
}

size_t ZSTD_decompressDCtx(ZSTD_DCtx *context, void *to, size_t room, const void *from, size_t size)
{
    VY_ASSERT(context == NULL);
    (void)context;
    (void)to;
    (void)room;
    (void)from;
    (void)size;
    return (size_t)-1;
}

unsigned ZSTD_isError(size_t code) { return code == (size_t)-1; }

uint32_t vy_steps_avx2(vy_world *world, uint64_t count)
{
    VY_ASSERT(vy_cpu() == VY_CPU_AVX2);
    (void)world;
    (void)count;
    return VY_EVENT_FAILED;
}

uint32_t vy_steps_avx512(vy_world *world, uint64_t count)
{
    VY_ASSERT(vy_cpu() == VY_CPU_AVX512);
    (void)world;
    (void)count;
    return VY_EVENT_FAILED;
}
