// filter.h - which bodies, and which queries, meet: layers as bits, and groups.
//
// A layer is a bit, and up to the caller to name. Two filters meet when each one's mask has a bit of the
// other's category; a group that both share decides before the masks do.
#pragma once
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vy_filter {
    uint64_t category; ///< bits of the layers that it is on
    uint64_t mask;     ///< bits of the layers that it meets; 0: none
    int32_t group;     ///< of two in the same one: > 0 always meet, < 0 never; 0: in none, the masks decide
} vy_filter;

/// On the first layer, meeting all, in no group.
static inline vy_filter vy_default_filter(void)
{
    vy_filter filter;
    filter.category = 1;
    filter.mask = UINT64_MAX;
    filter.group = 0;
    return filter;
}

/// Whether two of them meet: 1 or 0, the same in either order.
static inline int vy_filters_collide(const vy_filter *a, const vy_filter *b)
{
    if (a->group != 0 && a->group == b->group) return a->group > 0;
    return (a->category & b->mask) != 0 && (b->category & a->mask) != 0;
}

#ifdef __cplusplus
}
#endif
