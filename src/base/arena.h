// arena.h - bump allocation from a block taken once.
#pragma once
#include "base/assert.h"
#include <stddef.h>

typedef struct vy_arena {
    unsigned char *base;
    size_t capacity, used;
} vy_arena;

/// 64-byte aligned (a cache line, and the widest vector) when `base` is. Uninitialised. NULL when full.
static inline void *vy_arena_take(vy_arena *arena, size_t size)
{
    VY_ASSERT(arena->base != NULL || arena->capacity == 0);
    VY_ASSERT(arena->used <= arena->capacity);
    const size_t start = (arena->used + 63u) & ~(size_t)63u;
    if (start > arena->capacity || size > arena->capacity - start) return NULL;
    arena->used = start + size;
    return arena->base + start;
}
