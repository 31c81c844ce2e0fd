// mutate.h - what the structure-aware mutators share: draws from libFuzzer's seed, and a text that is cut and
// pasted in place.
#pragma once
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// libFuzzer's own mutation, and what it calls in the place of it where a target has one. Nobody declares
// them.
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);

typedef struct draw {
    uint64_t state;
} draw;

static inline draw draw_from(unsigned seed) { return (draw){.state = seed}; }

// splitmix64.
static inline uint64_t draw_bits(draw *d)
{
    uint64_t z = d->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

// 0 to count - 1; 0 for none.
static inline size_t draw_below(draw *d, size_t count)
{
    return count > 0 ? (size_t)(draw_bits(d) % count) : 0;
}

// Bytes that are changed where they are.
typedef struct paste {
    uint8_t *data;
    size_t size, room;
} paste;

// Put `insert` in the place of `removed` bytes from `at` on. 0: there is no room.
static inline int paste_over(paste *p, size_t at, size_t removed, const void *insert, size_t inserted)
{
    if (at > p->size || removed > p->size - at || p->size - removed + inserted > p->room) return 0;
    memmove(p->data + at + inserted, p->data + at + removed, p->size - at - removed);
    if (inserted > 0) memcpy(p->data + at, insert, inserted);
    p->size = p->size - removed + inserted;
    return 1;
}
