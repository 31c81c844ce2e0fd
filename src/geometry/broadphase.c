// broadphase.c - the broad phase: a dynamic tree of fat AABBs. Overlapping pairs, ray and box queries.
//
// A leaf is inserted where the surface area of the boxes above it grows least (SAH), and subtrees are rotated
// where their heights differ by more than one, so the depth stays below 1.44 log2 of the number of leaves.
// Where many boxes change at once the tree is rebuilt top-down, by median splits.
#include "geometry/broadphase.h"
#include "base/assert.h"
#include "base/real.h"
#include "base/fail.h"
#include "base/sort.h"
#include "base/vec.h"
#include <float.h>
#include <stdlib.h>

enum { NONE = -1, STACK_SIZE = 64, MAX_PROXIES = 1 << 24 };

#define COOKIE 0x74726565u

typedef struct node {
    vy_bounds box;
    int parent;
    int child[2]; // NONE for a leaf
    int height;   // 0 for a leaf, NONE when not in use
    int proxy;    // of a leaf
} node;

/// A leaf while the tree is rebuilt.
typedef struct build_leaf {
    double centre[3]; // [m] twice the centre of the box
    int leaf;
} build_leaf;

struct vy_tree {
    vy_tree_def def;
    int capacity;             // bodies that there is memory for
    node *nodes;              // 2 capacity - 1
    node *rebuilt_nodes;      // as many, for rebuilding
    build_leaf *build_leaves; // [capacity]
    int *leaf;                // [capacity] by proxy; NONE when not in use
    int root;
    int free_list;         // first free node, linked by parent
    int proxy_end;         // proxies in use are below this
    int lowest_free_proxy; // all proxies below this are in use
};

// ---- boxes

static vy_bounds box_union(const vy_bounds *a, const vy_bounds *b)
{
    const vy_bounds u = {
        {real_min(a->low.x, b->low.x), real_min(a->low.y, b->low.y), real_min(a->low.z, b->low.z)},
        {real_max(a->high.x, b->high.x), real_max(a->high.y, b->high.y), real_max(a->high.z, b->high.z)}};
    return u;
}

static double box_area(const vy_bounds *b)
{
    const vec3 d = vec3_sub(b->high, b->low);
    return (d.x * d.y + d.y * d.z) + d.z * d.x;
}

static double union_area(const vy_bounds *a, const vy_bounds *b)
{
    const vy_bounds u = box_union(a, b);
    return box_area(&u);
}

static int contains(const vy_bounds *a, const vy_bounds *b)
{
    return (a->low.x <= b->low.x) & (a->low.y <= b->low.y) & (a->low.z <= b->low.z) &
           (b->high.x <= a->high.x) & (b->high.y <= a->high.y) & (b->high.z <= a->high.z);
}

static int bounds_valid(const vy_bounds *b)
{
    return b->low.x >= -DBL_MAX && b->low.y >= -DBL_MAX && b->low.z >= -DBL_MAX && b->high.x <= DBL_MAX &&
           b->high.y <= DBL_MAX && b->high.z <= DBL_MAX && b->low.x <= b->high.x && b->low.y <= b->high.y &&
           b->low.z <= b->high.z;
}

static void extend_interval(double d, double *low, double *high)
{
    if (d < 0.0) *low += d;
    if (d > 0.0) *high += d;
}

static vy_bounds fat_bounds(const vy_tree *tree, const vy_bounds *b, vec3 displacement)
{
    const double m = tree->def.margin;
    vy_bounds e = {{b->low.x - m, b->low.y - m, b->low.z - m}, {b->high.x + m, b->high.y + m, b->high.z + m}};
    extend_interval(tree->def.displacement_multiplier * displacement.x, &e.low.x, &e.high.x);
    extend_interval(tree->def.displacement_multiplier * displacement.y, &e.low.y, &e.high.y);
    extend_interval(tree->def.displacement_multiplier * displacement.z, &e.low.z, &e.high.z);
    return e;
}

// ---- the tree

static int allocate_node(vy_tree *tree)
{
    const int i = tree->free_list;
    VY_ASSERT(i >= 0 && i < 2 * tree->capacity - 1);
    VY_ASSERT(tree->nodes[i].height == NONE);
    tree->free_list = tree->nodes[i].parent;
    tree->nodes[i].parent = tree->nodes[i].child[0] = tree->nodes[i].child[1] = NONE;
    tree->nodes[i].height = 0;
    return i;
}

static void free_node(vy_tree *tree, int i)
{
    VY_ASSERT(i >= 0 && i < 2 * tree->capacity - 1 && i != tree->free_list);
    tree->nodes[i].parent = tree->free_list;
    tree->nodes[i].height = NONE;
    tree->free_list = i;
}

static void refit(vy_tree *tree, int i)
{
    node *n = &tree->nodes[i];
    VY_ASSERT(n->child[0] != NONE && n->child[1] != NONE && n->child[0] != n->child[1]);
    const node *a = &tree->nodes[n->child[0]], *b = &tree->nodes[n->child[1]];
    VY_ASSERT(a->parent == i && b->parent == i);
    n->box = box_union(&a->box, &b->box);
    n->height = 1 + (a->height > b->height ? a->height : b->height);
    VY_ASSERT(n->height < STACK_SIZE / 2);
    VY_ASSERT(contains(&n->box, &a->box) && contains(&n->box, &b->box));
}

static void replace_child(vy_tree *tree, int parent, int old, int now)
{
    VY_ASSERT(parent == NONE ? tree->root == old
                             : tree->nodes[parent].child[0] == old || tree->nodes[parent].child[1] == old);
    tree->nodes[now].parent = parent;
    if (parent == NONE) {
        tree->root = now;
    } else {
        tree->nodes[parent].child[tree->nodes[parent].child[0] == old ? 0 : 1] = now;
    }
}

// AVL rotation. Child k of node i is more than one higher than the other: it takes the place of i, and i
// takes its lower child.
static int rotate(vy_tree *tree, int i, int k)
{
    node *nodes = tree->nodes;
    const int up = nodes[i].child[k], c0 = nodes[up].child[0], c1 = nodes[up].child[1];
    const int keep = nodes[c0].height > nodes[c1].height ? 0 : 1, down = keep == 0 ? c1 : c0;
    VY_ASSERT(nodes[up].parent == i && c0 != NONE && c1 != NONE);
    VY_ASSERT(nodes[up].height > nodes[nodes[i].child[1 - k]].height + 1);
    replace_child(tree, nodes[i].parent, i, up);
    nodes[up].child[1 - keep] = i;
    nodes[i].parent = up;
    nodes[i].child[k] = down;
    nodes[down].parent = i;
    refit(tree, i);
    refit(tree, up);
    return up;
}

static int balance(vy_tree *tree, int i)
{
    const node *n = &tree->nodes[i];
    const int difference = tree->nodes[n->child[1]].height - tree->nodes[n->child[0]].height;
    return difference > 1 ? rotate(tree, i, 1) : difference < -1 ? rotate(tree, i, 0) : i;
}

static void refit_ancestors(vy_tree *tree, int i)
{
    while (i != NONE) {
        refit(tree, i);
        i = tree->nodes[balance(tree, i)].parent;
    }
}

// The sibling with the least cost: the area of the new parent box, and the growth of the boxes above.
static int best_sibling(const vy_tree *tree, const vy_bounds *box)
{
    VY_ASSERT(tree->root != NONE && tree->nodes[tree->root].parent == NONE);
    int i = tree->root;
    for (;;) {
        const node *n = &tree->nodes[i];
        if (n->child[0] == NONE) return i;
        const double both = union_area(&n->box, box), grown = both - box_area(&n->box);
        double cost[2];
        for (int k = 0; k < 2; ++k) {
            const node *c = &tree->nodes[n->child[k]];
            cost[k] = grown + union_area(&c->box, box) - (c->child[0] == NONE ? 0.0 : box_area(&c->box));
        }
        if (both < cost[0] && both < cost[1]) return i;
        i = n->child[cost[1] < cost[0] ? 1 : 0];
    }
}

static void insert_leaf(vy_tree *tree, int leaf)
{
    VY_ASSERT(tree->nodes[leaf].height == 0 && bounds_valid(&tree->nodes[leaf].box));
    if (tree->root == NONE) {
        tree->root = leaf;
        tree->nodes[leaf].parent = NONE;
        return;
    }
    const int sibling = best_sibling(tree, &tree->nodes[leaf].box);
    const int parent = allocate_node(tree);
    replace_child(tree, tree->nodes[sibling].parent, sibling, parent);
    tree->nodes[parent].child[0] = sibling;
    tree->nodes[parent].child[1] = leaf;
    tree->nodes[sibling].parent = parent;
    tree->nodes[leaf].parent = parent;
    refit_ancestors(tree, parent);
}

static void remove_leaf(vy_tree *tree, int leaf)
{
    VY_ASSERT(tree->nodes[leaf].height == 0 && tree->nodes[leaf].child[0] == NONE);
    const int parent = tree->nodes[leaf].parent;
    if (parent == NONE) {
        tree->root = NONE;
        return;
    }
    const int sibling = tree->nodes[parent].child[tree->nodes[parent].child[0] == leaf ? 1 : 0];
    VY_ASSERT(sibling != leaf && tree->nodes[sibling].parent == parent);
    const int above = tree->nodes[parent].parent;
    replace_child(tree, above, parent, sibling);
    free_node(tree, parent);
    refit_ancestors(tree, above);
}

// ---- changes

vy_tree_def vy_default_tree_def(void)
{
    const vy_tree_def def = {COOKIE, 0.05, 2.0};
    return def;
}

// A larger array in place of an old one; 0: there is no memory, and the old one is as it was.
static int grow_array(void *array, size_t size)
{
    void *old, *more;
    memcpy(&old, array, sizeof old);
    more = realloc(old, size);
    if (more == NULL) return 0;
    memcpy(array, &more, sizeof more);
    return 1;
}

vy_status vy_tree_reserve(vy_tree *tree, int capacity)
{
    const int old_capacity = tree->capacity;
    if (capacity <= old_capacity) return VY_OK;
    if (capacity > MAX_PROXIES) return VY_FULL;
    const size_t proxies = (size_t)capacity, nodes = 2 * proxies - 1;
    if (!grow_array(&tree->nodes, nodes * sizeof *tree->nodes) ||
        !grow_array(&tree->rebuilt_nodes, nodes * sizeof *tree->rebuilt_nodes) ||
        !grow_array(&tree->build_leaves, proxies * sizeof *tree->build_leaves) ||
        !grow_array(&tree->leaf, proxies * sizeof *tree->leaf))
        return VY_NO_MEMORY;
    tree->capacity = capacity;
    for (int i = 2 * capacity - 2; i >= (old_capacity > 0 ? 2 * old_capacity - 1 : 0); --i)
        free_node(tree, i);
    for (int i = old_capacity; i < capacity; ++i) tree->leaf[i] = NONE;
    return VY_OK;
}

vy_status vy_tree_create(const vy_tree_def *def, vy_tree **out, vy_error *err)
{
    *out = NULL;
    if (def->cookie != COOKIE || !(def->margin >= 0.0) || !(def->margin <= 1e9) ||
        !(def->displacement_multiplier >= 0.0) || !(def->displacement_multiplier <= 1e3)) {
        return vy_fail(err, VY_BAD_VALUE,
                       "tree: start from vy_default_tree_def(); margin and displacement_multiplier >= 0");
    }
    vy_tree *tree = calloc(1, sizeof *tree);
    if (tree == NULL) return vy_fail(err, VY_NO_MEMORY, "tree: no memory");
    tree->def = *def;
    tree->root = tree->free_list = NONE;
    *out = tree;
    return VY_OK;
}

void vy_tree_destroy(vy_tree *tree)
{
    if (tree == NULL) return;
    free(tree->nodes);
    free(tree->rebuilt_nodes);
    free(tree->build_leaves);
    free(tree->leaf);
    free(tree);
}

static int is_proxy(const vy_tree *tree, int proxy)
{
    return proxy >= 0 && proxy < tree->proxy_end && tree->leaf[proxy] != NONE;
}

vy_status vy_tree_add(vy_tree *tree, const vy_bounds *bounds, int *proxy)
{
    FPU_SCOPE;
    if (!bounds_valid(bounds)) return VY_BAD_VALUE;
    int p = tree->lowest_free_proxy;
    while (p < tree->proxy_end && tree->leaf[p] != NONE) ++p;
    tree->lowest_free_proxy = p;
    if (p == tree->capacity) {
        const int more = p > MAX_PROXIES / 2 ? MAX_PROXIES : 2 * p;
        const vy_status status = vy_tree_reserve(tree, p < 8 ? 16 : p < MAX_PROXIES ? more : p + 1);
        if (status != VY_OK) return status;
    }
    if (p == tree->proxy_end) ++tree->proxy_end;
    VY_ASSERT(p < tree->capacity && p < tree->proxy_end && tree->leaf[p] == NONE);
    const int leaf = allocate_node(tree);
    tree->nodes[leaf].box = fat_bounds(tree, bounds, vec3_zero());
    tree->nodes[leaf].proxy = p;
    tree->leaf[p] = leaf;
    insert_leaf(tree, leaf);
    *proxy = p;
    return VY_OK;
}

vy_status vy_tree_remove(vy_tree *tree, int proxy)
{
    if (!is_proxy(tree, proxy)) return VY_NOT_FOUND;
    VY_ASSERT(tree->nodes[tree->leaf[proxy]].proxy == proxy);
    remove_leaf(tree, tree->leaf[proxy]);
    free_node(tree, tree->leaf[proxy]);
    tree->leaf[proxy] = NONE;
    if (proxy < tree->lowest_free_proxy) tree->lowest_free_proxy = proxy;
    while (tree->proxy_end > 0 && tree->leaf[tree->proxy_end - 1] == NONE) --tree->proxy_end;
    return VY_OK;
}

// A fat box is kept while it contains the body and is not much larger than a new one would be.
static int keeps_box(const vy_tree *tree, const vy_bounds *old, const vy_bounds *bounds, const vy_bounds *now)
{
    const double d = 4.0 * tree->def.margin;
    const vec3 slack = vec3_make(d, d, d);
    const vy_bounds max_box = {vec3_sub(now->low, slack), vec3_add(now->high, slack)};
    return contains(old, bounds) && contains(&max_box, old);
}

static int is_valid_move(const vy_bounds *bounds, vec3 displacement)
{
    return bounds_valid(bounds) && vec3_length(displacement) <= VY_POSE_LIMIT;
}

vy_status vy_tree_move(vy_tree *tree, int proxy, const vy_bounds *bounds, vy_vec3 displacement, int *moved)
{
    FPU_SCOPE;
    if (!is_proxy(tree, proxy)) return VY_NOT_FOUND;
    if (!is_valid_move(bounds, displacement)) return VY_BAD_VALUE;
    const int leaf = tree->leaf[proxy];
    const vy_bounds now = fat_bounds(tree, bounds, displacement);
    const int same = keeps_box(tree, &tree->nodes[leaf].box, bounds, &now);
    if (moved != NULL) *moved = !same;
    if (same) return VY_OK;
    remove_leaf(tree, leaf);
    tree->nodes[leaf].box = now;
    insert_leaf(tree, leaf);
    return VY_OK;
}

// ---- many at once

int vy_tree_box_fits(const vy_tree *tree, int proxy, const vy_bounds *bounds, vy_vec3 displacement)
{
    VY_ASSERT(is_proxy(tree, proxy));
    const vy_bounds now = fat_bounds(tree, bounds, displacement);
    return !is_valid_move(bounds, displacement) ||
           keeps_box(tree, &tree->nodes[tree->leaf[proxy]].box, bounds, &now);
}

void vy_tree_replace(vy_tree *tree, int proxy, const vy_bounds *bounds, vy_vec3 displacement)
{
    VY_ASSERT(is_proxy(tree, proxy) && is_valid_move(bounds, displacement));
    tree->nodes[tree->leaf[proxy]].box = fat_bounds(tree, bounds, displacement);
}

static int list_leaves(vy_tree *tree)
{
    int count = 0;
    for (int p = 0; p < tree->proxy_end; ++p) {
        if (tree->leaf[p] == NONE) continue;
        const vy_bounds *b = &tree->nodes[tree->leaf[p]].box;
        tree->build_leaves[count++] =
            (build_leaf){{b->low.x + b->high.x, b->low.y + b->high.y, b->low.z + b->high.z}, tree->leaf[p]};
    }
    return count;
}

static int longest_axis(const build_leaf *s, int count)
{
    VY_ASSERT(count > 0);
    double low[3], high[3];
    for (int k = 0; k < 3; ++k) low[k] = high[k] = s[0].centre[k];
    for (int i = 1; i < count; ++i) {
        for (int k = 0; k < 3; ++k) {
            low[k] = real_min(low[k], s[i].centre[k]);
            high[k] = real_max(high[k], s[i].centre[k]);
        }
    }
    const double x = high[0] - low[0], y = high[1] - low[1], z = high[2] - low[2];
    return x >= y && x >= z ? 0 : y >= z ? 1 : 2;
}

// Quickselect: order leaves so that those before `middle` are not above it, and those after not below.
static void partition_median(build_leaf *s, int count, int middle, int axis)
{
    VY_ASSERT(middle >= 0 && middle < count && axis >= 0 && axis < 3);
    int low = 0, high = count - 1;
    while (low < high) {
        const double pivot = s[low + (high - low) / 2].centre[axis];
        int i = low, j = high;
        while (i <= j) {
            while (s[i].centre[axis] < pivot) ++i;
            while (s[j].centre[axis] > pivot) --j;
            if (i > j) break;
            const build_leaf t = s[i];
            s[i++] = s[j];
            s[j--] = t;
        }
        if (middle <= j) {
            high = j;
        } else if (middle >= i) {
            low = i;
        } else {
            return;
        }
    }
}

/// Leaves that become the subtree of a node.
typedef struct build_range {
    int first, count, node;
} build_range;

// Build the nodes into `rebuilt_nodes`, a node before its children, which are contiguous. Returns how many.
static int build_top_down(vy_tree *tree, int count)
{
    VY_ASSERT(count > 0 && count <= tree->capacity);
    build_range stack[STACK_SIZE];
    int top = 0, used = 1;
    tree->rebuilt_nodes[0].parent = NONE;
    stack[top++] = (build_range){0, count, 0};
    while (top > 0) {
        const build_range h = stack[--top];
        node *n = &tree->rebuilt_nodes[h.node];
        build_leaf *s = tree->build_leaves + h.first;
        if (h.count == 1) {
            const int parent = n->parent;
            *n = tree->nodes[s->leaf];
            n->parent = parent;
            tree->leaf[n->proxy] = h.node;
            continue;
        }
        VY_ASSERT(top + 2 <= STACK_SIZE && used + 2 <= 2 * tree->capacity - 1);
        const int left = h.count / 2;
        partition_median(s, h.count, left, longest_axis(s, h.count));
        n->child[0] = used;
        n->child[1] = used + 1;
        tree->rebuilt_nodes[used].parent = tree->rebuilt_nodes[used + 1].parent = h.node;
        stack[top++] = (build_range){h.first + left, h.count - left, used + 1};
        stack[top++] = (build_range){h.first, left, used};
        used += 2;
    }
    return used;
}

void vy_tree_rebuild(vy_tree *tree)
{
    const int count = list_leaves(tree);
    if (count == 0) return;
    const int used = build_top_down(tree, count);
    VY_ASSERT(used == 2 * count - 1);
    node *const old = tree->nodes;
    tree->nodes = tree->rebuilt_nodes;
    tree->rebuilt_nodes = old;
    for (int i = used - 1; i >= 0; --i) {
        if (tree->nodes[i].child[0] != NONE) refit(tree, i);
    }
    tree->root = 0;
    tree->free_list = NONE;
    for (int i = 2 * tree->capacity - 2; i >= used; --i) free_node(tree, i);
}

vy_status vy_tree_bounds(const vy_tree *tree, int proxy, vy_bounds *out)
{
    if (!is_proxy(tree, proxy)) return VY_NOT_FOUND;
    *out = tree->nodes[tree->leaf[proxy]].box;
    return VY_OK;
}

// ---- queries

static int pair_less(const vy_tree_pair *a, const vy_tree_pair *b)
{
    return a->a < b->a || (a->a == b->a && a->b < b->b);
}

HEAP_SORT(sort_pairs, vy_tree_pair, pair_less)

// Two subtrees to test against each other, or one against itself. The stack has two of the latter per level
// on the way down, and one of the former per step.
typedef struct task {
    int a, b;
} task;

enum { MAX_TASKS = 4 * STACK_SIZE };

vy_status vy_tree_collect_pairs(const vy_tree *tree, vy_tree_pair *out, size_t capacity, size_t *count)
{
    task stack[MAX_TASKS];
    int top = 0;
    const node *nodes = tree->nodes;
    *count = 0;
    if (tree->root != NONE) stack[top++] = (task){tree->root, tree->root};
    while (top > 0) {
        const task t = stack[--top];
        const node *a = &nodes[t.a], *b = &nodes[t.b];
        if (t.a == t.b) {
            if (a->height == 0) continue;
            VY_ASSERT(top + 3 <= MAX_TASKS);
            stack[top++] = (task){a->child[0], a->child[0]};
            stack[top++] = (task){a->child[1], a->child[1]};
            stack[top++] = (task){a->child[0], a->child[1]};
        } else if (bounds_overlap(&a->box, &b->box)) {
            if (a->height == 0 && b->height == 0) {
                VY_ASSERT(a->proxy != b->proxy);
                const int low = a->proxy < b->proxy ? a->proxy : b->proxy;
                if (*count < capacity) out[*count] = (vy_tree_pair){low, a->proxy + b->proxy - low};
                ++*count;
                VY_ASSERT(top + 2 <= MAX_TASKS);
            } else if (a->height >= b->height) {
                stack[top++] = (task){a->child[0], t.b};
                stack[top++] = (task){a->child[1], t.b};
            } else {
                stack[top++] = (task){t.a, b->child[0]};
                stack[top++] = (task){t.a, b->child[1]};
            }
        }
    }
    return *count > capacity ? VY_FULL : VY_OK;
}

// Both children of a node are tested at once: boxes that do not overlap are never on the stack.
void vy_tree_query_proxy(const vy_tree *tree, int proxy, void (*found)(void *self, int proxy), void *self)
{
    VY_ASSERT(is_proxy(tree, proxy));
    const vy_bounds box = tree->nodes[tree->leaf[proxy]].box;
    vy_tree_query_box(tree, &box, found, self);
}

void vy_tree_query_box(const vy_tree *tree, const vy_bounds *query, void (*found)(void *self, int proxy),
                       void *self)
{
    if (tree->root == NONE) return;
    int stack[STACK_SIZE], top = 0;
    const node *nodes = tree->nodes;
    const vy_bounds box = *query;
    if (nodes[tree->root].height == 0) {
        if (bounds_overlap(&nodes[tree->root].box, &box)) found(self, nodes[tree->root].proxy);
    } else {
        stack[top++] = tree->root;
    }
    while (top > 0) {
        const int *child = nodes[stack[--top]].child;
        const int hit[2] = {bounds_overlap(&nodes[child[0]].box, &box),
                            bounds_overlap(&nodes[child[1]].box, &box)};
        VY_ASSERT(top + 2 <= STACK_SIZE);
        for (int k = 0; k < 2; ++k) {
            if (!hit[k]) continue;
            if (nodes[child[k]].height == 0) {
                found(self, nodes[child[k]].proxy);
            } else {
                stack[top++] = child[k];
            }
        }
    }
}

vy_status vy_tree_pairs(const vy_tree *tree, vy_tree_pair *out, size_t capacity, size_t *count)
{
    const vy_status status = vy_tree_collect_pairs(tree, out, capacity, count);
    if (status == VY_OK) sort_pairs(out, *count);
    VY_ASSERT(status != VY_OK || *count < 2 || pair_less(&out[0], &out[1]));
    return status;
}

static int hit_less(const vy_tree_hit *a, const vy_tree_hit *b)
{
    return a->t < b->t || (a->t == b->t && a->proxy < b->proxy);
}

HEAP_SORT(sort_hits, vy_tree_hit, hit_less)

static vy_status sort_result(vy_tree_hit *out, size_t capacity, size_t count)
{
    if (count > capacity) return VY_FULL;
    sort_hits(out, count);
    return VY_OK;
}

vy_status vy_tree_overlap_box(const vy_tree *tree, const vy_bounds *bounds, vy_tree_hit *out, size_t capacity,
                              size_t *count)
{
    FPU_SCOPE;
    int stack[STACK_SIZE], top = 0;
    *count = 0;
    if (tree->root != NONE) stack[top++] = tree->root;
    while (top > 0) {
        const node *n = &tree->nodes[stack[--top]];
        if (!bounds_overlap(&n->box, bounds)) continue;
        if (n->child[0] != NONE) {
            VY_ASSERT(top + 2 <= STACK_SIZE);
            stack[top++] = n->child[0];
            stack[top++] = n->child[1];
        } else {
            if (*count < capacity) out[*count] = (vy_tree_hit){0.0, n->proxy};
            ++*count;
        }
    }
    return sort_result(out, capacity, *count);
}

// The interval of t between the two planes of one axis. A ray parallel to the planes is inside or not.
static int slab(double o, double d, double low, double high, double *in, double *out)
{
    if (d == 0.0) return o >= low && o <= high;
    const double t0 = (low - o) / d, t1 = (high - o) / d;
    *in = real_max(*in, real_min(t0, t1));
    *out = real_min(*out, real_max(t0, t1));
    return *in <= *out;
}

vy_status vy_tree_cast_ray(const vy_tree *tree, vy_vec3 origin, vy_vec3 direction, double t_max,
                           vy_tree_hit *out, size_t capacity, size_t *count)
{
    FPU_SCOPE;
    int stack[STACK_SIZE], top = 0;
    *count = 0;
    if (!(vec3_dot(direction, direction) > 0.0) || !(t_max >= 0.0)) return VY_BAD_VALUE;
    if (tree->root != NONE) stack[top++] = tree->root;
    while (top > 0) {
        const node *n = &tree->nodes[stack[--top]];
        double in = 0.0, last = t_max;
        if (!slab(origin.x, direction.x, n->box.low.x, n->box.high.x, &in, &last) ||
            !slab(origin.y, direction.y, n->box.low.y, n->box.high.y, &in, &last) ||
            !slab(origin.z, direction.z, n->box.low.z, n->box.high.z, &in, &last)) {
            continue;
        }
        if (n->child[0] != NONE) {
            VY_ASSERT(top + 2 <= STACK_SIZE);
            stack[top++] = n->child[0];
            stack[top++] = n->child[1];
        } else {
            if (*count < capacity) out[*count] = (vy_tree_hit){in, n->proxy};
            ++*count;
        }
    }
    return sort_result(out, capacity, *count);
}

/// A subtree that a walk has not entered yet.
typedef struct walk_entry {
    double key;
    int node;
} walk_entry;

void vy_tree_walk(const vy_tree *tree, const tree_query *query, double limit, tree_visit *visit, void *self)
{
    walk_entry stack[STACK_SIZE];
    int top = 0;
    const node *nodes = tree->nodes;
    if (tree->root != NONE)
        stack[top++] = (walk_entry){tree_query_key(query, &nodes[tree->root].box), tree->root};
    while (top > 0) {
        const walk_entry e = stack[--top];
        if (!(e.key <= limit)) continue;
        const node *n = &nodes[e.node];
        if (n->child[0] == NONE) {
            limit = visit(self, n->proxy, e.key, limit);
            continue;
        }
        const walk_entry a = {tree_query_key(query, &nodes[n->child[0]].box), n->child[0]},
                         b = {tree_query_key(query, &nodes[n->child[1]].box), n->child[1]};
        const walk_entry near = a.key <= b.key ? a : b, far = a.key <= b.key ? b : a;
        VY_ASSERT(near.key >= e.key && top + 2 <= STACK_SIZE);
        if (far.key <= limit) stack[top++] = far;
        if (near.key <= limit) stack[top++] = near;
    }
}
