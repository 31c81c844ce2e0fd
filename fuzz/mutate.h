// mutate.h - what the structure-aware mutators share: draws from libFuzzer's seed, and a text that is cut and
// pasted in place; and which inputs take a target's slow ways.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// A mutator's own branches and comparisons are no coverage, and counting them took three quarters of the
// time.
#ifdef __clang__
#define NOT_COVERED __attribute__((no_sanitize("coverage")))
#else
#define NOT_COVERED
#endif

// libFuzzer's own mutation, and what it calls in the place of it where a target has one. Nobody declares
// them.
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
NOT_COVERED size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);

typedef struct random_draws {
    uint64_t state;
} random_draws;

NOT_COVERED static inline random_draws draws_from_seed(unsigned seed)
{
    return (random_draws){.state = seed};
}

// splitmix64.
NOT_COVERED static inline uint64_t draw_bits(random_draws *d)
{
    uint64_t z = d->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

// 0 to count - 1; 0 for none.
NOT_COVERED static inline size_t draw_below(random_draws *d, size_t count)
{
    return count > 0 ? (size_t)(draw_bits(d) % count) : 0;
}

// Bytes that are edited in place.
typedef struct edit_buffer {
    uint8_t *data;
    size_t size, capacity; // [bytes]
} edit_buffer;

// Put `insert` in the place of `removed_size` bytes from `at` on. Returns 0 where that does not fit.
NOT_COVERED static inline int edit_replace(edit_buffer *edit, size_t at, size_t removed_size,
                                           const void *insert, size_t inserted_size)
{
    if (at > edit->size || removed_size > edit->size - at ||
        edit->size - removed_size + inserted_size > edit->capacity)
        return 0;
    memmove(edit->data + at + inserted_size, edit->data + at + removed_size, edit->size - at - removed_size);
    if (inserted_size > 0) memcpy(edit->data + at, insert, inserted_size);
    edit->size = edit->size - removed_size + inserted_size;
    return 1;
}

// Whether this input is the one in `count` that takes a slow way besides: the same for the same bytes.
NOT_COVERED static inline int is_one_in(unsigned count, const uint8_t *data, size_t size)
{
    uint32_t hash = 2166136261u; // FNV-1a
    for (size_t i = 0; i < size; ++i) hash = (hash ^ data[i]) * 16777619u;
    return (hash ^ hash >> 15) % count == 0;
}
