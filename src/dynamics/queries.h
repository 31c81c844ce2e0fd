// queries.h - the tree that queries of a set walk: not state.
#pragma once
#include "dynamics/bodies.h"
#include "volery/query.h"

/// The boxes of all bodies as they stood at `revision` of the set's poses.
typedef struct query_tree {
    vy_tree *tree;
    uint64_t revision;         // 0: never filled
    uint32_t cap;              // how many slots there is memory for
    void *memory;              // of the arrays
    vy_bounds *bounds;         // [cap]
    int *proxy_of;             // [cap] -1: it is not in the tree
    uint32_t *slot_of;         // [cap] of a proxy
    uint32_t *unbounded_slots; // [cap] slots of bodies without bounds
    uint32_t unbounded_count;
    uint64_t moved_count; // boxes moved since the tree was built
} query_tree;

void vy_query_tree_destroy(query_tree *t); ///< NULL is a no-op

/// Bodies of a set whose states are elsewhere, a world's, and which of them are seen.
typedef struct query_view {
    const void *self;
    const body_state *(*state_of)(const void *self, uint32_t slot);
    uint32_t first_slot; // slots below are not seen
    uint32_t except;     // nor is this one; UINT32_MAX: none
} query_view;

/// The queries of volery/query.h that find one body, in such a set; of overlaps the deepest. out->body is
/// null when there is none.
vy_status vy_query_view_cast(const vy_bodies *b, const query_view *view, const vy_shape *shape,
                             const vy_pose *pose, vec3 motion, vy_body_hit *out);
vy_status vy_query_view_overlap(const vy_bodies *b, const query_view *view, const vy_shape *shape,
                                const vy_pose *pose, vy_body_hit *out);
vy_status vy_query_view_closest(const vy_bodies *b, const query_view *view, vec3 point, double reach,
                                vy_body_hit *out);
