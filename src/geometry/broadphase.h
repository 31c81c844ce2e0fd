// broadphase.h - the tree of boxes, for callers that order its answers themselves.
#pragma once
#include "volery/collision.h"

/// As vy_tree_pairs(), in an order that depends on how the tree came to be.
vy_status vy_tree_list(const vy_tree *tree, vy_tree_pair *out, size_t capacity, size_t *count);

/// Call `met` for each proxy whose box overlaps that of `proxy`, itself included, in an order that depends on
/// how the tree came to be.
void vy_tree_touching(const vy_tree *tree, int proxy, void (*met)(void *self, int proxy), void *self);

// Many boxes at once: which are to be replaced, their new ones, and then the tree anew.

/// Whether a body that is in `bounds` and moves by `displacement` in a step may keep its box.
int vy_tree_holds(const vy_tree *tree, int proxy, const vy_bounds *bounds, vy_vec3 displacement);
/// Replace a box. Nothing may be asked until vy_tree_rebuild().
void vy_tree_replace(vy_tree *tree, int proxy, const vy_bounds *bounds, vy_vec3 displacement);
/// The tree anew from its boxes: halves of halves, in the order in which questions go through them.
void vy_tree_rebuild(vy_tree *tree);
