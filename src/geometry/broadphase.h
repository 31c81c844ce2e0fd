// broadphase.h - the tree of the broad phase, for callers that sort its results themselves.
#pragma once
#include "volery/collision.h"

/// Whether two boxes overlap or touch. Without branches: which of the six comparisons fails cannot be
/// predicted.
static inline int bounds_overlap(const vy_bounds *a, const vy_bounds *b)
{
    return (a->low.x <= b->high.x) & (b->low.x <= a->high.x) & (a->low.y <= b->high.y) &
           (b->low.y <= a->high.y) & (a->low.z <= b->high.z) & (b->low.z <= a->high.z);
}

/// Have memory for so many bodies: adding them does not fail. VY_FULL, VY_NO_MEMORY: nothing has changed.
vy_status vy_tree_reserve(vy_tree *tree, int capacity);

/// As vy_tree_pairs(), in an order that depends on the tree's history.
vy_status vy_tree_collect_pairs(const vy_tree *tree, vy_tree_pair *out, size_t capacity, size_t *count);

/// Call `found` for each proxy whose box overlaps that of `proxy`, itself included, in an order that depends
/// on the tree's history.
void vy_tree_query_proxy(const vy_tree *tree, int proxy, void (*found)(void *self, int proxy), void *self);

/// The same for any box.
void vy_tree_query_box(const vy_tree *tree, const vy_bounds *query, void (*found)(void *self, int proxy),
                       void *self);

// Many boxes at once: test which must be replaced, replace them, then rebuild the tree.

/// Whether the fat box of a body with `bounds` and `displacement` in a step still fits.
int vy_tree_box_fits(const vy_tree *tree, int proxy, const vy_bounds *bounds, vy_vec3 displacement);
/// Replace a box. No queries until vy_tree_rebuild().
void vy_tree_replace(vy_tree *tree, int proxy, const vy_bounds *bounds, vy_vec3 displacement);
/// Rebuild the tree from its boxes: top-down median splits, nodes in the order of traversal.
void vy_tree_rebuild(vy_tree *tree);
