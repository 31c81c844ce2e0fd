// queries.h - the tree that queries of a set walk: not state.
#pragma once
#include "dynamics/bodies.h"
#include "volery/collision.h"

/// The boxes of all bodies as they stood at `revision` of the set's poses.
typedef struct query_tree {
    vy_tree *tree;
    uint64_t revision; // 0: never filled
    uint32_t cap;      // slots that there is memory for
    void *memory;      // of the arrays
    vy_bounds *bounds; // [cap]
    int *proxy_of;     // [cap] -1: it is not in the tree
    uint32_t *slot_of; // [cap] of a proxy
    uint32_t *endless; // [cap] slots of bodies without bounds
    uint32_t endless_count;
    uint64_t moved; // boxes moved since the tree was built
} query_tree;

void vy_query_tree_destroy(query_tree *tree); ///< NULL is a no-op
