// broadphase.h - the tree of boxes, for callers that order its answers themselves.
#pragma once
#include "volery/collision.h"

/// As vy_tree_pairs(), in an order that depends on how the tree came to be.
vy_status vy_tree_list(const vy_tree *tree, vy_tree_pair *out, size_t capacity, size_t *count);

/// Call `met` for each proxy whose box overlaps that of `proxy`, itself included, in an order that depends on
/// how the tree came to be.
void vy_tree_touching(const vy_tree *tree, int proxy, void (*met)(void *self, int proxy), void *self);
