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
    double twice_centre[3]; // [m] of its box
    int leaf;               // its node
} build_leaf;

struct vy_tree {
    vy_tree_def def;
    int capacity;             // bodies that there is memory for
    node *nodes;              // 2 capacity - 1
    node *rebuilt_nodes;      // as many, for rebuilding
    build_leaf *build_leaves; // [capacity]
    int *leaf;                // [capacity] the node of each proxy; NONE when not in use
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

static void replace_child(vy_tree *tree, int parent, int old, int replacement)
{
    VY_ASSERT(parent == NONE ? tree->root == old
                             : tree->nodes[parent].child[0] == old || tree->nodes[parent].child[1] == old);
    tree->nodes[replacement].parent = parent;
    if (parent == NONE) {
        tree->root = replacement;
    } else {
        tree->nodes[parent].child[tree->nodes[parent].child[0] == old ? 0 : 1] = replacement;
    }
}

// AVL rotation. Child k of node i is more than one higher than the other: it takes the place of i, and i
// takes its lower child.
static int rotate(vy_tree *tree, int i, int k)
{
    node *nodes = tree->nodes;
    const int higher_child = nodes[i].child[k], c0 = nodes[higher_child].child[0],
              c1 = nodes[higher_child].child[1];
    const int kept_slot = nodes[c0].height > nodes[c1].height ? 0 : 1,
              lower_grandchild = kept_slot == 0 ? c1 : c0;
    VY_ASSERT(nodes[higher_child].parent == i && c0 != NONE && c1 != NONE);
    VY_ASSERT(nodes[higher_child].height > nodes[nodes[i].child[1 - k]].height + 1);
    replace_child(tree, nodes[i].parent, i, higher_child);
    nodes[higher_child].child[1 - kept_slot] = i;
    nodes[i].parent = higher_child;
    nodes[i].child[k] = lower_grandchild;
    nodes[lower_grandchild].parent = i;
    refit(tree, i);
    refit(tree, higher_child);
    return higher_child;
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
        const double joined_area = union_area(&n->box, box), growth = joined_area - box_area(&n->box);
        double cost[2];
        for (int k = 0; k < 2; ++k) {
            const node *c = &tree->nodes[n->child[k]];
            cost[k] = growth + union_area(&c->box, box) - (c->child[0] == NONE ? 0.0 : box_area(&c->box));
        }
        if (joined_area < cost[0] && joined_area < cost[1]) return i;
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
    void *old, *grown;
    memcpy(&old, array, sizeof old);
    grown = realloc(old, size);
    if (grown == NULL) return 0;
    memcpy(array, &grown, sizeof grown);
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
        const int doubled = p > MAX_PROXIES / 2 ? MAX_PROXIES : 2 * p;
        const vy_status status = vy_tree_reserve(tree, p < 8 ? 16 : p < MAX_PROXIES ? doubled : p + 1);
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

// Whether a fat box may stay: it contains the body's bounds and is not much larger than a new one would be.
static int can_keep_box(const vy_tree *tree, const vy_bounds *old, const vy_bounds *bounds,
                        const vy_bounds *new_box)
{
    const double d = 4.0 * tree->def.margin;
    const vec3 slack = vec3_make(d, d, d);
    const vy_bounds max_box = {vec3_sub(new_box->low, slack), vec3_add(new_box->high, slack)};
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
    const vy_bounds new_box = fat_bounds(tree, bounds, displacement);
    const int is_kept = can_keep_box(tree, &tree->nodes[leaf].box, bounds, &new_box);
    if (moved != NULL) *moved = !is_kept;
    if (is_kept) return VY_OK;
    remove_leaf(tree, leaf);
    tree->nodes[leaf].box = new_box;
    insert_leaf(tree, leaf);
    return VY_OK;
}

// ---- many at once

int vy_tree_box_fits(const vy_tree *tree, int proxy, const vy_bounds *bounds, vy_vec3 displacement)
{
    VY_ASSERT(is_proxy(tree, proxy));
    const vy_bounds new_box = fat_bounds(tree, bounds, displacement);
    return !is_valid_move(bounds, displacement) ||
           can_keep_box(tree, &tree->nodes[tree->leaf[proxy]].box, bounds, &new_box);
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

static int longest_axis(const build_leaf *leaves, int count)
{
    VY_ASSERT(count > 0);
    double low[3], high[3];
    for (int k = 0; k < 3; ++k) low[k] = high[k] = leaves[0].twice_centre[k];
    for (int i = 1; i < count; ++i) {
        for (int k = 0; k < 3; ++k) {
            low[k] = real_min(low[k], leaves[i].twice_centre[k]);
            high[k] = real_max(high[k], leaves[i].twice_centre[k]);
        }
    }
    const double x = high[0] - low[0], y = high[1] - low[1], z = high[2] - low[2];
    return x >= y && x >= z ? 0 : y >= z ? 1 : 2;
}

// Quickselect: order leaves so that those before `middle` are not above it, and those after not below.
static void partition_median(build_leaf *leaves, int count, int middle, int axis)
{
    VY_ASSERT(middle >= 0 && middle < count && axis >= 0 && axis < 3);
    int low = 0, high = count - 1;
    while (low < high) {
        const double pivot = leaves[low + (high - low) / 2].twice_centre[axis];
        int i = low, j = high;
        while (i <= j) {
            while (leaves[i].twice_centre[axis] < pivot) ++i;
            while (leaves[j].twice_centre[axis] > pivot) --j;
            if (i > j) break;
            const build_leaf t = leaves[i];
            leaves[i++] = leaves[j];
            leaves[j--] = t;
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
    int top = 0, node_count = 1;
    tree->rebuilt_nodes[0].parent = NONE;
    stack[top++] = (build_range){0, count, 0};
    while (top > 0) {
        const build_range range = stack[--top];
        node *n = &tree->rebuilt_nodes[range.node];
        build_leaf *leaves = tree->build_leaves + range.first;
        if (range.count == 1) {
            const int parent = n->parent;
            *n = tree->nodes[leaves->leaf];
            n->parent = parent;
            tree->leaf[n->proxy] = range.node;
            continue;
        }
        VY_ASSERT(top + 2 <= STACK_SIZE && node_count + 2 <= 2 * tree->capacity - 1);
        const int left_count = range.count / 2;
        partition_median(leaves, range.count, left_count, longest_axis(leaves, range.count));
        n->child[0] = node_count;
        n->child[1] = node_count + 1;
        tree->rebuilt_nodes[node_count].parent = tree->rebuilt_nodes[node_count + 1].parent = range.node;
        stack[top++] = (build_range){range.first + left_count, range.count - left_count, node_count + 1};
        stack[top++] = (build_range){range.first, left_count, node_count};
        node_count += 2;
    }
    return node_count;
}

void vy_tree_rebuild(vy_tree *tree)
{
    const int count = list_leaves(tree);
    if (count == 0) return;
    const int node_count = build_top_down(tree, count);
    VY_ASSERT(node_count == 2 * count - 1);
    node *const old_nodes = tree->nodes;
    tree->nodes = tree->rebuilt_nodes;
    tree->rebuilt_nodes = old_nodes;
    for (int i = node_count - 1; i >= 0; --i) {
        if (tree->nodes[i].child[0] != NONE) refit(tree, i);
    }
    tree->root = 0;
    tree->free_list = NONE;
    for (int i = 2 * tree->capacity - 2; i >= node_count; --i) free_node(tree, i);
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
typedef struct subtree_pair {
    int a, b;
} subtree_pair;

enum { MAX_SUBTREE_PAIRS = 4 * STACK_SIZE };

vy_status vy_tree_collect_pairs(const vy_tree *tree, vy_tree_pair *out, size_t capacity, size_t *count)
{
    subtree_pair stack[MAX_SUBTREE_PAIRS];
    int top = 0;
    const node *nodes = tree->nodes;
    *count = 0;
    if (tree->root != NONE) stack[top++] = (subtree_pair){tree->root, tree->root};
    while (top > 0) {
        const subtree_pair pair = stack[--top];
        const node *a = &nodes[pair.a], *b = &nodes[pair.b];
        if (pair.a == pair.b) {
            if (a->height == 0) continue;
            VY_ASSERT(top + 3 <= MAX_SUBTREE_PAIRS);
            stack[top++] = (subtree_pair){a->child[0], a->child[0]};
            stack[top++] = (subtree_pair){a->child[1], a->child[1]};
            stack[top++] = (subtree_pair){a->child[0], a->child[1]};
        } else if (bounds_overlap(&a->box, &b->box)) {
            if (a->height == 0 && b->height == 0) {
                VY_ASSERT(a->proxy != b->proxy);
                const int low = a->proxy < b->proxy ? a->proxy : b->proxy;
                if (*count < capacity) out[*count] = (vy_tree_pair){low, a->proxy + b->proxy - low};
                ++*count;
                VY_ASSERT(top + 2 <= MAX_SUBTREE_PAIRS);
            } else if (a->height >= b->height) {
                stack[top++] = (subtree_pair){a->child[0], pair.b};
                stack[top++] = (subtree_pair){a->child[1], pair.b};
            } else {
                stack[top++] = (subtree_pair){pair.a, b->child[0]};
                stack[top++] = (subtree_pair){pair.a, b->child[1]};
            }
        }
    }
    return *count > capacity ? VY_FULL : VY_OK;
}

// Both children of a node are tested at once: boxes that do not overlap are never on the stack.
void vy_tree_query_proxy(const vy_tree *tree, int proxy, void (*visit)(void *self, int proxy), void *self)
{
    VY_ASSERT(is_proxy(tree, proxy));
    const vy_bounds box = tree->nodes[tree->leaf[proxy]].box;
    vy_tree_query_box(tree, &box, visit, self);
}

void vy_tree_query_box(const vy_tree *tree, const vy_bounds *query, void (*visit)(void *self, int proxy),
                       void *self)
{
    if (tree->root == NONE) return;
    int stack[STACK_SIZE], top = 0;
    const node *nodes = tree->nodes;
    const vy_bounds box = *query;
    if (nodes[tree->root].height == 0) {
        if (bounds_overlap(&nodes[tree->root].box, &box)) visit(self, nodes[tree->root].proxy);
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
                visit(self, nodes[child[k]].proxy);
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

// Clip the interval of t to that between the two planes of one axis. A ray parallel to them is inside or not.
static int clip_to_slab(double origin, double direction, double low, double high, double *t_in, double *t_out)
{
    if (direction == 0.0) return origin >= low && origin <= high;
    const double t0 = (low - origin) / direction, t1 = (high - origin) / direction;
    *t_in = real_max(*t_in, real_min(t0, t1));
    *t_out = real_min(*t_out, real_max(t0, t1));
    return *t_in <= *t_out;
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
        double t_in = 0.0, t_out = t_max;
        if (!clip_to_slab(origin.x, direction.x, n->box.low.x, n->box.high.x, &t_in, &t_out) ||
            !clip_to_slab(origin.y, direction.y, n->box.low.y, n->box.high.y, &t_in, &t_out) ||
            !clip_to_slab(origin.z, direction.z, n->box.low.z, n->box.high.z, &t_in, &t_out)) {
            continue;
        }
        if (n->child[0] != NONE) {
            VY_ASSERT(top + 2 <= STACK_SIZE);
            stack[top++] = n->child[0];
            stack[top++] = n->child[1];
        } else {
            if (*count < capacity) out[*count] = (vy_tree_hit){t_in, n->proxy};
            ++*count;
        }
    }
    return sort_result(out, capacity, *count);
}

/// A subtree that a walk has not entered yet.
typedef struct walk_entry {
    double key; // see tree_query_key()
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
