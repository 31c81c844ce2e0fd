// arena.h - bump allocation from a block taken once.
#pragma once
#include "base/assert.h"
#include <stddef.h>
#include <string.h>

typedef struct vy_arena {
    unsigned char *base;   // the block
    size_t capacity, used; // [bytes]
} vy_arena;

/// 64-byte aligned (a cache line, and the widest vector) when `base` is. Uninitialised. NULL when full.
static inline void *vy_arena_alloc(vy_arena *arena, size_t size)
{
    VY_ASSERT(arena->base != NULL || arena->capacity == 0);
    VY_ASSERT(arena->used <= arena->capacity);
    const size_t start = (arena->used + 63u) & ~(size_t)63u;
    if (start > arena->capacity || size > arena->capacity - start) return NULL;
    arena->used = start + size;
    return arena->base + start;
}

/// What an array of `size` bytes takes of an arena [bytes].
static inline size_t vy_arena_aligned_size(size_t size) { return (size + 63u) & ~(size_t)63u; }

/// An array of `new_size` bytes that begins with the `old_size` bytes of `old`; the arena's memory is zero
/// behind it when it was at first. There must be room.
static inline void *vy_arena_realloc(vy_arena *arena, const void *old, size_t old_size, size_t new_size)
{
    void *moved = vy_arena_alloc(arena, new_size);
    VY_ASSERT(moved != NULL && old_size <= new_size);
    if (old_size > 0) memcpy(moved, old, old_size);
    return moved;
}
