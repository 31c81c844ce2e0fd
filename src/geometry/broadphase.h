// broadphase.h - the tree of the broad phase, for callers that sort its results themselves.
#pragma once
#include "base/real.h"
#include "base/vec.h"
#include "volery/collision.h"
#include <float.h>
#include <math.h>

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

/// Call `visit` for each proxy whose box overlaps that of `proxy`, itself included, in an order that depends
/// on the tree's history.
void vy_tree_query_proxy(const vy_tree *tree, int proxy, void (*visit)(void *self, int proxy), void *self);

/// The same for any box.
void vy_tree_query_box(const vy_tree *tree, const vy_bounds *query, void (*visit)(void *self, int proxy),
                       void *self);

// Many boxes at once: test which must be replaced, replace them, then rebuild the tree.

/// Whether the fat box of a body with `bounds` and `displacement` in a step still fits.
int vy_tree_box_fits(const vy_tree *tree, int proxy, const vy_bounds *bounds, vy_vec3 displacement);
/// Replace a box. No queries until vy_tree_rebuild().
void vy_tree_replace(vy_tree *tree, int proxy, const vy_bounds *bounds, vy_vec3 displacement);
/// Rebuild the tree from its boxes: top-down median splits, nodes in the order of traversal.
void vy_tree_rebuild(vy_tree *tree);

// Walks: the boxes that a moving box meets, or that are near a box, nearest first.

/// What a walk looks for.
typedef struct tree_query {
    vy_bounds box;
    int is_moving;       ///< 1: the boxes that it meets on its way; 0: those near it
    vec3 inverse_motion; ///< component by component: see tree_query_inverse()
} tree_query;

/// The inverse of a component of a motion: finite, so that a box that touches is not lost in 0 times
/// infinity.
static inline double tree_query_inverse(double motion)
{
    return motion == 0.0 ? DBL_MAX : real_clamp(1.0 / motion, -DBL_MAX, DBL_MAX);
}

/// When the moving box meets a box, in units of its motion, or the square of the distance of both [m^2];
/// infinite: never. All of it is monotone under rounding: a box that contains another one has no larger key,
/// so what a walk finds depends on the boxes of the leaves alone.
static inline double tree_query_key(const tree_query *q, const vy_bounds *b)
{
    if (!q->is_moving) {
        const vec3 gap =
            vec3_make(real_max(real_max(b->low.x - q->box.high.x, q->box.low.x - b->high.x), 0.0),
                      real_max(real_max(b->low.y - q->box.high.y, q->box.low.y - b->high.y), 0.0),
                      real_max(real_max(b->low.z - q->box.high.z, q->box.low.z - b->high.z), 0.0));
        return vec3_dot(gap, gap);
    }
    const double x0 = (b->low.x - q->box.high.x) * q->inverse_motion.x,
                 x1 = (b->high.x - q->box.low.x) * q->inverse_motion.x,
                 y0 = (b->low.y - q->box.high.y) * q->inverse_motion.y,
                 y1 = (b->high.y - q->box.low.y) * q->inverse_motion.y,
                 z0 = (b->low.z - q->box.high.z) * q->inverse_motion.z,
                 z1 = (b->high.z - q->box.low.z) * q->inverse_motion.z;
    const double t_in =
                     real_max(real_max(real_min(x0, x1), real_min(y0, y1)), real_max(real_min(z0, z1), 0.0)),
                 t_out = real_min(real_min(real_max(x0, x1), real_max(y0, y1)), real_max(z0, z1));
    return t_in <= t_out ? t_in : (double)INFINITY;
}

/// Takes a proxy whose key is at most `limit`; returns the limit from then on, which is not larger.
typedef double tree_visit(void *self, int proxy, double key, double limit);

/// Visit the proxies whose boxes have keys up to `limit`. Those of one key come in an order that depends on
/// the tree's history.
void vy_tree_walk(const vy_tree *tree, const tree_query *query, double limit, tree_visit *visit, void *self);
