// sort.h - heap sort of an array: no memory, no recursion, n log n whatever the order was.
#pragma once
#include <stddef.h>

/// Define `static void name(type *list, size_t count)`, ascending by before(const type *, const type *). The
/// result depends on the elements alone when `before` is a total order.
#define HEAP_SORT(name, type, before)                                                 \
    static void name##_sift(type *heap, size_t at, size_t count)                      \
    {                                                                                 \
        const type sinking = heap[at];                                                \
        for (;;) {                                                                    \
            size_t child = 2 * at + 1;                                                \
            if (child >= count) break;                                                \
            if (child + 1 < count && before(&heap[child], &heap[child + 1])) ++child; \
            if (!before(&sinking, &heap[child])) break;                               \
            heap[at] = heap[child];                                                   \
            at = child;                                                               \
        }                                                                             \
        heap[at] = sinking;                                                           \
    }                                                                                 \
    static void name(type *list, size_t count)                                        \
    {                                                                                 \
        for (size_t i = count / 2; i-- > 0;) name##_sift(list, i, count);             \
        for (size_t end = count; end-- > 1;) {                                        \
            const type last = list[end];                                              \
            list[end] = list[0];                                                      \
            list[0] = last;                                                           \
            name##_sift(list, 0, end);                                                \
        }                                                                             \
    }
