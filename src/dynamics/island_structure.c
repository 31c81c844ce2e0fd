// island_structure.c - symbolic factorisation: islands of joints, the order of elimination, and the fill-in.
//
// Islands are the connected components of the graph whose nodes are dynamic bodies and whose edges are
// joints; the world and kinematic bodies connect nothing. In each island joints are found breadth first, from
// a body that is jointed to the world where there is one, and eliminated in the reverse order: leaves first.
// Joints that close a loop come last.
#include "base/assert.h"
#include "dynamics/joint.h"
#include "base/real.h"
#include <stdlib.h>

enum { NONE = -1 };

/// Scratch of one preparation.
typedef struct plan {
    uint32_t *parent;    // [body_cap] of the union-find
    int *island_of_root; // [body_cap] index of the island of a root
    int *body_seen; // [body_cap] found by the search; kinematic bodies: island + 1 in which they were last
                    // listed
    uint32_t *joint_offsets; // [body_cap + 1] joints of body i are joints_of[joint_offsets[i]] ...
    uint32_t *joints_of;     // [2 joint_cap]
    uint32_t *queue;         // [body_cap]
    int *joint_visited;      // [joint_cap]
    uint32_t *loop_joints;   // [joint_cap] joints that close loops
} plan;

static int is_dynamic_side(const vy_bodies *b, const joint_slot *j, int side)
{
    return j->body[side] != b->body_cap && body_is_dynamic(b, j->body[side]);
}

static void find_islands(vy_bodies *b, plan *p)
{
    joint_system *s = b->joints;
    for (uint32_t i = 0; i < b->slot_count; ++i) p->parent[i] = i;
    memset(s->first_joint, 0, b->body_cap * sizeof *s->first_joint);
    for (uint32_t j = 0; j < s->slot_count; ++j) {
        joint_slot *joint = &s->slots[j];
        if (!joint->used) continue;
        VY_ASSERT(is_dynamic_side(b, joint, 0) || is_dynamic_side(b, joint, 1));
        for (int side = 0; side < 2; ++side) {
            if (!is_dynamic_side(b, joint, side)) continue;
            joint->next_joint[side] = s->first_joint[joint->body[side]];
            s->first_joint[joint->body[side]] = j + 1;
        }
        if (!is_dynamic_side(b, joint, 0) || !is_dynamic_side(b, joint, 1)) continue;
        islands_join(p->parent, joint->body[0], joint->body[1]);
    }
    s->island_count = 0;
    for (uint32_t i = 0; i < b->slot_count; ++i) {
        p->island_of_root[i] = NONE;
        if (!s->first_joint[i]) continue;
        const uint32_t root = island_root(p->parent, i);
        if (root == i) p->island_of_root[i] = (int)s->island_count++;
    }
}

/// The joints of each dynamic body, in order of their slots.
static void list_joints_of_bodies(const vy_bodies *b, plan *p)
{
    const joint_system *s = b->joints;
    memset(p->joint_offsets, 0, (b->body_cap + 1u) * sizeof *p->joint_offsets);
    for (int pass = 0; pass < 2; ++pass) {
        for (uint32_t j = 0; j < s->slot_count; ++j) {
            const joint_slot *joint = &s->slots[j];
            for (int side = 0; side < 2 && joint->used; ++side) {
                if (!is_dynamic_side(b, joint, side)) continue;
                if (pass == 0) {
                    p->joint_offsets[joint->body[side] + 1u] += 1;
                } else {
                    p->joints_of[p->joint_offsets[joint->body[side]]++] = j;
                }
            }
        }
        if (pass == 0) {
            for (uint32_t i = 0; i < b->body_cap; ++i) p->joint_offsets[i + 1u] += p->joint_offsets[i];
        }
    }
    for (uint32_t i = b->body_cap; i > 0; --i)
        p->joint_offsets[i] = p->joint_offsets[i - 1u]; // filling moved them on
    p->joint_offsets[0] = 0;
}

/// Breadth first from `root`: tree joints are written from `end` downwards, joints that close loops to
/// loop_joints[].
static uint32_t breadth_first_search(vy_bodies *b, plan *p, uint32_t root, uint32_t end,
                                     uint32_t *loop_joints)
{
    joint_system *s = b->joints;
    uint32_t head = 0, tail = 0;
    p->queue[tail++] = root;
    p->body_seen[root] = 1;
    while (head < tail) {
        const uint32_t i = p->queue[head++];
        for (uint32_t k = p->joint_offsets[i]; k < p->joint_offsets[i + 1u]; ++k) {
            const uint32_t j = p->joints_of[k];
            if (p->joint_visited[j]) continue;
            p->joint_visited[j] = 1;
            const joint_slot *joint = &s->slots[j];
            const uint32_t other = joint->body[0] == i ? joint->body[1] : joint->body[0];
            const int adds_body = is_dynamic_side(b, joint, joint->body[0] == i) && !p->body_seen[other];
            const int has_non_dynamic_side = !is_dynamic_side(b, joint, 0) || !is_dynamic_side(b, joint, 1);
            if (adds_body || has_non_dynamic_side) {
                VY_ASSERT(end > 0);
                s->joint_order[--end] = j;
            } else {
                p->loop_joints[(*loop_joints)++] = j;
            }
            if (!adds_body) continue;
            p->body_seen[other] = 1;
            VY_ASSERT(tail < b->slot_count && other < b->slot_count);
            p->queue[tail++] = other;
        }
    }
    return end;
}

static int has_joint_to_non_dynamic(const vy_bodies *b, const plan *p, uint32_t i)
{
    for (uint32_t k = p->joint_offsets[i]; k < p->joint_offsets[i + 1u]; ++k) {
        const joint_slot *joint = &b->joints->slots[p->joints_of[k]];
        if (!is_dynamic_side(b, joint, 0) || !is_dynamic_side(b, joint, 1)) return 1;
    }
    return 0;
}

/// Members and joints of one island, appended to the arrays.
static void fill_island(vy_bodies *b, plan *p, int island_of_root, island *is)
{
    joint_system *s = b->joints;
    uint32_t root = 0, joints = 0;
    int root_to_non_dynamic = NONE;
    is->dynamic_last = is->body_first;
    for (uint32_t i = 0; i < b->slot_count; ++i) {
        if (!s->first_joint[i] || p->island_of_root[island_root(p->parent, i)] != island_of_root) continue;
        s->members[is->dynamic_last++] = i;
        const int to_non_dynamic = has_joint_to_non_dynamic(b, p, i);
        if (root_to_non_dynamic == NONE || (to_non_dynamic && !root_to_non_dynamic)) {
            root = i;
            root_to_non_dynamic = to_non_dynamic;
        }
    }
    for (uint32_t j = 0; j < s->slot_count; ++j) {
        const joint_slot *joint = &s->slots[j];
        if (!joint->used) continue;
        const int side = is_dynamic_side(b, joint, 0) ? 0 : 1;
        joints += p->island_of_root[island_root(p->parent, joint->body[side])] == island_of_root;
    }
    VY_ASSERT(root_to_non_dynamic != NONE && joints > 0);
    uint32_t loop_joints = 0, end = is->joint_first + joints;
    is->joint_last = end;
    const uint32_t start = breadth_first_search(b, p, root, end, &loop_joints);
    VY_ASSERT(end - start == joints - loop_joints);
    // The search wrote `joints - loop_joints` joints at the end of the range: move them down; loops go behind
    // them.
    for (uint32_t k = 0; k < joints - loop_joints; ++k)
        s->joint_order[is->joint_first + k] = s->joint_order[start + k];
    for (uint32_t k = 0; k < loop_joints; ++k)
        s->joint_order[is->joint_first + joints - loop_joints + k] = p->loop_joints[k];
    is->body_last = is->dynamic_last;
    for (uint32_t k = is->joint_first; k < is->joint_last; ++k) { // static and kinematic bodies
        const joint_slot *joint = &s->slots[s->joint_order[k]];
        for (int side = 0; side < 2; ++side) {
            const uint32_t i = joint->body[side];
            if (i == b->body_cap || body_is_dynamic(b, i) || p->body_seen[i] == island_of_root + 1) continue;
            p->body_seen[i] = island_of_root + 1;
            VY_ASSERT(i < b->slot_count);
            s->members[is->body_last++] = i;
        }
    }
}

// ---- blocks

// `capacity` is that of s->pairs. Returns 0 without memory.
static int add_pair(joint_system *s, uint32_t *capacity, block_pair pair)
{
    if (s->pair_count == *capacity) {
        *capacity = *capacity == 0 ? 64 : 2 * *capacity;
        block_pair *grown = realloc(s->pairs, *capacity * sizeof *grown);
        if (grown == NULL) return 0;
        s->pairs = grown;
    }
    s->pairs[s->pair_count++] = pair;
    return 1;
}

/// Number the blocks of an island and list the pairs that share a body; `capacity` is that of s->pairs.
/// Returns 0 without memory.
static int fill_blocks(vy_bodies *b, const plan *p, island *is, uint32_t *capacity)
{
    joint_system *s = b->joints;
    is->block_first = s->block_count;
    is->stop_first = s->stop_count;
    for (uint32_t k = is->joint_first; k < is->joint_last; ++k) {
        joint_slot *joint = &s->slots[s->joint_order[k]];
        VY_ASSERT(joint->used && joint->block_count >= 0 && joint->block_count <= JOINT_BLOCKS);
        joint->first_block = s->block_count;
        for (int r = 0; r < VY_CONSTRAINT_ROWS; ++r) {
            if ((joint->unilateral_rows >> r) & 1u) s->stops[s->stop_count++] = (stop){s->joint_order[k], r};
        }
        for (int n = 0; n < joint->block_count; ++n) {
            VY_ASSERT(s->block_count < s->count * JOINT_BLOCKS);
            s->rows[s->block_count] = (row_block){.body = {joint->body[0], joint->body[1]}};
            s->block_count += 1;
        }
    }
    is->block_last = s->block_count;
    is->stop_last = s->stop_count;
    is->pair_first = s->pair_count;
    for (uint32_t m = is->body_first; m < is->dynamic_last; ++m) {
        const uint32_t i = s->members[m];
        for (uint32_t x = p->joint_offsets[i]; x < p->joint_offsets[i + 1u]; ++x) {
            for (uint32_t y = p->joint_offsets[i]; y < p->joint_offsets[i + 1u]; ++y) {
                const joint_slot *joint_p = &s->slots[p->joints_of[x]], *joint_q = &s->slots[p->joints_of[y]];
                for (int u = 0; u < joint_p->block_count; ++u) {
                    for (int v = 0; v < joint_q->block_count; ++v) {
                        const uint32_t block_p = joint_p->first_block + (uint32_t)u,
                                       block_q = joint_q->first_block + (uint32_t)v;
                        if (block_p <= block_q) continue;
                        const block_pair pair = {block_p, block_q, joint_p->body[1] == i,
                                                 joint_q->body[1] == i, 0};
                        if (!add_pair(s, capacity, pair)) return 0;
                    }
                }
            }
        }
    }
    is->pair_last = s->pair_count;
    return 1;
}

// ---- fill-in

// Make an array large enough. Returns 0 without memory.
static int grow(uint32_t **array, uint32_t *capacity, uint32_t needed)
{
    if (needed <= *capacity) return 1;
    while (*capacity < needed) *capacity = *capacity == 0 ? 64 : 2 * *capacity;
    uint32_t *grown = realloc(*array, *capacity * sizeof *grown);
    if (grown == NULL) return 0;
    *array = grown;
    return 1;
}

static void sort_rows(uint32_t *rows, uint32_t n) // by insertion: columns are short
{
    for (uint32_t i = 1; i < n; ++i) {
        const uint32_t row = rows[i];
        uint32_t place = i;
        for (; place > 0 && rows[place - 1] > row; --place) rows[place] = rows[place - 1];
        rows[place] = row;
    }
}

// The index of an entry of the lower triangle.
static uint32_t entry_at(const joint_system *s, uint32_t row, uint32_t column)
{
    VY_ASSERT(row > column && row < s->block_count);
    uint32_t e = s->column[column];
    while (s->row[e] != row) ++e;
    VY_ASSERT(e < s->column[column + 1]);
    return e;
}

/// Rows of every column: those of the matrix, and those that eliminating earlier columns fills in. A column's
/// rows are a subset of those of the column of its first row, its parent, but for that row. Returns 0
/// without memory.
static int fill_columns(joint_system *s, uint32_t *scratch)
{
    const uint32_t n = s->block_count;
    uint32_t *pair_head = scratch, *child_head = scratch + n, *child_next = scratch + 2 * n,
             *listed_in = scratch + 3 * n;
    uint32_t *pair_next = scratch + 4 * n; // [pair_count]
    uint32_t capacity = 0, entry_count = 0;
    memset(scratch, 0, 4 * (size_t)n * sizeof *scratch); // heads, links and columns are indices + 1
    for (uint32_t k = s->pair_count; k-- > 0;) {
        pair_next[k] = pair_head[s->pairs[k].q];
        pair_head[s->pairs[k].q] = k + 1;
    }
    for (uint32_t k = 0; k < n; ++k) {
        s->column[k] = entry_count;
        listed_in[k] = k + 1;
        for (uint32_t x = pair_head[k]; x != 0; x = pair_next[x - 1]) {
            const uint32_t r = s->pairs[x - 1].p;
            VY_ASSERT(r > k && r < n);
            if (listed_in[r] == k + 1) continue;
            listed_in[r] = k + 1;
            if (!grow(&s->row, &capacity, entry_count + 1)) return 0;
            s->row[entry_count++] = r;
        }
        for (uint32_t c = child_head[k]; c != 0; c = child_next[c - 1]) {
            for (uint32_t e = s->column[c - 1]; e < s->column[c]; ++e) {
                const uint32_t r = s->row[e];
                if (listed_in[r] == k + 1) continue;
                listed_in[r] = k + 1;
                if (!grow(&s->row, &capacity, entry_count + 1)) return 0;
                s->row[entry_count++] = r;
            }
        }
        if (entry_count == s->column[k]) continue;
        sort_rows(&s->row[s->column[k]], entry_count - s->column[k]);
        const uint32_t parent = s->row[s->column[k]];
        VY_ASSERT(parent > k);
        child_next[k] = child_head[parent];
        child_head[parent] = k + 1;
    }
    s->column[n] = entry_count;
    s->entry_count = entry_count;
    return 1;
}

/// The entries that every product of two entries of a column is subtracted from. Returns 0 without memory.
static int fill_updates(joint_system *s)
{
    uint32_t capacity = 0, count = 0;
    for (uint32_t k = 0; k < s->block_count; ++k) {
        s->update_first[k] = count;
        for (uint32_t e = s->column[k]; e < s->column[k + 1]; ++e) {
            for (uint32_t f = s->column[k]; f < e; ++f) {
                if (!grow(&s->update, &capacity, count + 1)) return 0;
                s->update[count++] = entry_at(s, s->row[e], s->row[f]);
            }
        }
    }
    for (uint32_t k = 0; k < s->pair_count; ++k)
        s->pairs[k].target = entry_at(s, s->pairs[k].p, s->pairs[k].q);
    return 1;
}

// ---- memory

void vy_island_structure_free(joint_system *s)
{
    free(s->rows);
    free(s->pairs);
    free(s->diagonal);
    free(s->inverse);
    free(s->scale);
    free(s->column);
    free(s->row);
    free(s->lower);
    free(s->lower_scaled);
    free(s->update);
    free(s->update_first);
    free(s->rhs);
    free(s->redundant_rows);
    s->rows = NULL;
    s->pairs = NULL;
    s->diagonal = s->inverse = s->lower = s->lower_scaled = NULL;
    s->scale = NULL;
    s->column = s->row = s->update = s->update_first = NULL;
    s->rhs = NULL;
    s->redundant_rows = NULL;
    s->block_count = s->pair_count = s->entry_count = s->island_count = s->stop_count = 0;
}

static int build_structure(vy_bodies *b, plan *p)
{
    joint_system *s = b->joints;
    find_islands(b, p);
    list_joints_of_bodies(b, p);
    const size_t max_blocks = (size_t)s->count * JOINT_BLOCKS + 1;
    s->rows = calloc(max_blocks, sizeof *s->rows);
    s->diagonal = calloc(max_blocks, sizeof *s->diagonal);
    s->inverse = calloc(max_blocks, sizeof *s->inverse);
    s->scale = calloc(max_blocks, sizeof *s->scale);
    s->column = calloc(max_blocks + 1, sizeof *s->column);
    s->update_first = calloc(max_blocks, sizeof *s->update_first);
    s->rhs = calloc(4 * max_blocks, sizeof *s->rhs);
    s->redundant_rows = calloc(max_blocks, sizeof *s->redundant_rows);
    if (!s->rows || !s->diagonal || !s->inverse || !s->scale || !s->column || !s->update_first || !s->rhs ||
        !s->redundant_rows) {
        return 0;
    }
    uint32_t bodies = 0, joints = 0, pair_capacity = 0;
    for (uint32_t n = 0; n < s->island_count; ++n) {
        island *is = &s->islands[n];
        *is = (island){.body_first = bodies, .joint_first = joints};
        fill_island(b, p, (int)n, is);
        if (!fill_blocks(b, p, is, &pair_capacity)) return 0;
        bodies = is->body_last;
        joints = is->joint_last;
    }
    VY_ASSERT(joints == s->count && s->stop_count <= VY_CONSTRAINT_ROWS * s->count);
    uint32_t *scratch = calloc(4 * (size_t)s->block_count + s->pair_count + 1, sizeof *scratch);
    const int is_filled = scratch != NULL && fill_columns(s, scratch) && fill_updates(s);
    free(scratch);
    s->lower = calloc((size_t)s->entry_count + 1, sizeof *s->lower);
    s->lower_scaled = calloc((size_t)s->entry_count + 1, sizeof *s->lower_scaled);
    return is_filled && s->lower != NULL && s->lower_scaled != NULL;
}

vy_status vy_bodies_prepare(vy_bodies *b)
{
    FPU_SCOPE;
    joint_system *s = b->joints;
    if (!s->dirty) return VY_OK;
    vy_island_structure_free(s);
    const size_t n = b->body_cap, m = (size_t)b->joint_cap + 1;
    // One block: of bodies parent, island_of_root, body_seen, queue, joint_offsets; of joints joints_of,
    // joint_visited, loop_joints.
    uint32_t *memory = calloc(5 * n + 1 + 4 * m, sizeof *memory);
    if (memory == NULL) return VY_NO_MEMORY;
    plan p = {.parent = memory,
              .island_of_root = (int *)(memory + n),
              .body_seen = (int *)(memory + 2 * n),
              .queue = memory + 3 * n,
              .joint_offsets = memory + 4 * n,
              .joints_of = memory + 5 * n + 1,
              .joint_visited = (int *)(memory + 5 * n + 1 + 2 * m),
              .loop_joints = memory + 5 * n + 1 + 3 * m};
    const int is_built = build_structure(b, &p);
    free(memory);
    if (!is_built) {
        vy_island_structure_free(s);
        return VY_NO_MEMORY;
    }
    s->dirty = 0;
    return VY_OK;
}
