// contacts.c - contacts of a set: defaults, checks, memory, bodies in the tree, reports.
#include "dynamics/contacts.h"
#include "base/arena.h"
#include "base/assert.h"
#include "base/fail.h"
#include <stdint.h>
#include <stdlib.h>

enum { PAIRS_PER_BODY = 32 };
// Pairs collided at a time: as many as stay in the cache, or enough for several threads.
enum { PAIR_BLOCK = 512, PAIR_BLOCK_SHARED = 16384 };

vy_material vy_default_material(void) { return (vy_material){.friction = 0.5}; }

vy_contacts_def vy_default_contacts_def(void)
{
    return (vy_contacts_def){.solver = VY_SOLVER_SOFT,
                             .substep = 1.0 / 240.0,
                             .slop = 1e-4,
                             .push_speed = 3.0,
                             .correction = 0.8,
                             .restitution_speed = 0.01,
                             .threads = 1,
                             .sleep_speed = 0.05};
}

vy_contacts_def vy_impulse_contacts_def(void)
{
    vy_contacts_def def = vy_default_contacts_def();
    def.solver = VY_SOLVER_IMPULSE;
    def.slop = 0.01;
    return def;
}

static int not_negative(double x) { return x >= 0.0 && real_is_finite(x); }

vy_status vy_contacts_check(const vy_contacts_def *def, vy_error *err)
{
    if (def->cap == 0) return VY_OK;
    if (def->cap > 1u << 24) return vy_fail(err, VY_BAD_VALUE, "contacts.cap must be at most %u", 1u << 24);
    if (def->threads > VY_POOL_MAX_THREADS)
        return vy_fail(err, VY_BAD_VALUE, "contacts.threads must be at most %d, not %u", VY_POOL_MAX_THREADS,
                       def->threads);
    if (def->solver != VY_SOLVER_SOFT && def->solver != VY_SOLVER_IMPULSE)
        return vy_fail(err, VY_BAD_VALUE, "no contact solver %d", (int)def->solver);
    if (!not_negative(def->slop) || !not_negative(def->restitution_speed) || !not_negative(def->correction) ||
        def->correction > 1.0 || !not_negative(def->push_speed) || !not_negative(def->substep) ||
        def->substep == 0.0 || def->push_speed == 0.0)
        return vy_fail(err, VY_BAD_VALUE, "a number of contacts is out of its range");
    if (!not_negative(def->sleep) || !not_negative(def->sleep_speed) ||
        (def->sleep > 0.0 && def->sleep_speed == 0.0))
        return vy_fail(
            err, VY_BAD_VALUE,
            "contacts.sleep must be finite and not below zero, sleep_speed above zero; not %g and %g",
            def->sleep, def->sleep_speed);
    return VY_OK;
}

vy_status vy_material_check(const vy_material *m, vy_error *err)
{
    if (!not_negative(m->friction) || !not_negative(m->rolling) || !not_negative(m->spinning))
        return vy_fail(err, VY_BAD_VALUE, "friction, rolling and spinning must be finite and not below zero");
    if (!not_negative(m->restitution) || m->restitution > 1.0)
        return vy_fail(err, VY_BAD_VALUE, "restitution must be 0 ... 1, not %g", m->restitution);
    return VY_OK;
}

size_t vy_contacts_state_size(const vy_bodies_def *def)
{
    return def->contacts.cap == 0 ? 0 : sizeof(contact_count) + def->contacts.cap * sizeof(contact_cache);
}

// The arrays of a contact system: ARRAY(member, elements) and BLOCK(member, bytes), of body_cap n, contact
// cap `cap` and the number of threads.
#define CONTACT_ARRAYS(ARRAY, BLOCK)               \
    ARRAY(proxy_of, n)                             \
    ARRAY(slot_of, n)                              \
    ARRAY(parent, n)                               \
    ARRAY(island_start, n)                         \
    ARRAY(cold_votes, n)                           \
    ARRAY(solved_as, n)                            \
    ARRAY(moved, n)                                \
    ARRAY(start_state, n)                          \
    ARRAY(body, n)                                 \
    ARRAY(motion, n)                               \
    ARRAY(colours, n)                              \
    ARRAY(bounds, n)                               \
    ARRAY(rotation_reach, n)                       \
    ARRAY(pose, n)                                 \
    ARRAY(bucket, n + 1)                           \
    ARRAY(tree_keys, s->pair_cap)                  \
    ARRAY(pairs, s->pair_cap)                      \
    ARRAY(keys, s->pair_cap)                       \
    ARRAY(sorted, s->pair_cap)                     \
    ARRAY(contacts, cap)                           \
    ARRAY(order, 2 * cap)                          \
    ARRAY(groups, n)                               \
    ARRAY(group_of, n)                             \
    ARRAY(island_size, n)                          \
    ARRAY(island_driven, n)                        \
    ARRAY(members, 2 * n)                          \
    ARRAY(grouped, cap)                            \
    ARRAY(manifolds, s->block_size)                \
    ARRAY(with_points, s->block_size)              \
    ARRAY(headers, cap)                            \
    ARRAY(previous_keys, cap)                      \
    ARRAY(records, cap)                            \
    ARRAY(reports, 3 * cap)                        \
    BLOCK(parts, vy_contacts_part_memory(threads)) \
    BLOCK(packs, vy_contacts_pack_memory((uint32_t)cap, threads))

// One block of zeros for all arrays, each aligned for the widest lanes.
static vy_status create_arrays(contact_system *s, size_t n, size_t cap, uint32_t threads)
{
    enum { LINE = 64 };
    size_t size = 0;
#define BLOCK(member, bytes)    size += ((bytes) + LINE - 1) / LINE * LINE;
#define ARRAY(member, elements) BLOCK(member, (elements) * sizeof *s->member)
    CONTACT_ARRAYS(ARRAY, BLOCK)
#undef BLOCK
    s->memory = calloc(1, size + LINE); // not aligned_alloc: pages of zeros cost nothing until they are used
    if (s->memory == NULL) return VY_NO_MEMORY;
    unsigned char *first = s->memory;
    first += (LINE - (uintptr_t)first % LINE) % LINE;
    vy_arena arena = {first, size, 0};
#define BLOCK(member, bytes) s->member = vy_arena_take(&arena, bytes);
    CONTACT_ARRAYS(ARRAY, BLOCK)
#undef BLOCK
#undef ARRAY
    return VY_OK;
}

vy_status vy_contacts_create(vy_bodies *b)
{
    const size_t n = b->def.body_cap, cap = b->def.contacts.cap;
    if (cap == 0) return VY_OK;
    contact_system *s = calloc(1, sizeof *s);
    b->contacts = s;
    if (s == NULL) return VY_NO_MEMORY;
    if (b->def.contacts.threads != 1 && (b->pool = vy_pool_create(b->def.contacts.threads)) == NULL)
        return VY_NO_MEMORY;
    const uint32_t threads = b->pool != NULL ? vy_pool_count(b->pool) : 1;
    s->kernel = vy_contacts_kernel();
    s->block_size = threads > 1 ? PAIR_BLOCK_SHARED : PAIR_BLOCK;
    s->pair_cap = (uint32_t)(PAIRS_PER_BODY * n > cap ? PAIRS_PER_BODY * n : cap);
    vy_tree_def tree = vy_default_tree_def();
    tree.capacity = (int)n;
    tree.margin = 0.04;
    if (create_arrays(s, n, cap, threads) != VY_OK) return VY_NO_MEMORY;
    for (size_t i = 0; i < n; ++i) s->proxy_of[i] = -1;
    if (vy_jointed_create(b) != VY_OK) return VY_NO_MEMORY;
    return vy_tree_create(&tree, &s->tree, NULL);
}

void vy_contacts_destroy(vy_bodies *b)
{
    contact_system *s = b->contacts;
    if (s == NULL) return;
    vy_pool_destroy(b->pool);
    vy_tree_destroy(s->tree);
    vy_jointed_destroy(s);
    free(s->memory);
    free(s);
}

void vy_contacts_add_body(vy_bodies *b, uint32_t i)
{
    contact_system *s = b->contacts;
    if (s == NULL || !vy_shape_is_convex(&b->slots[i].shape))
        return; // shapes without bounds are paired with every body
    VY_ASSERT(s->proxy_of[i] == -1);
    const vy_pose pose = body_shape_pose(b, i, &b->state[i]);
    const vy_bounds bounds = vy_shape_bounds(&b->slots[i].shape, &pose);
    int proxy;
    if (vy_tree_add(s->tree, &bounds, &proxy) != VY_OK) return; // too far away to have finite bounds
    VY_ASSERT(proxy >= 0 && (uint32_t)proxy < b->def.body_cap);
    s->proxy_of[i] = proxy;
    s->slot_of[proxy] = i;
    s->pairs_stale = 1;
}

void vy_contacts_remove_body(vy_bodies *b, uint32_t i)
{
    contact_system *s = b->contacts;
    if (s == NULL) return;
    VY_ASSERT(s->proxy_of[i] < 0 || s->slot_of[s->proxy_of[i]] == i);
    if (s->proxy_of[i] >= 0) (void)vy_tree_remove(s->tree, s->proxy_of[i]);
    s->proxy_of[i] = -1;
    s->rotation_reach[i] = 0.0;
    s->pairs_stale = 1;
    uint64_t kept = 0;
    const uint64_t count = b->contact_count->count;
    VY_ASSERT(count <= b->def.contacts.cap);
    for (uint64_t k = 0; k < count; ++k) {
        if (b->contact_cache[k].a != i && b->contact_cache[k].b != i)
            b->contact_cache[kept++] = b->contact_cache[k];
    }
    for (uint64_t k = kept; k < count; ++k) b->contact_cache[k] = (contact_cache){0};
    b->contact_count->count = kept;
}

uint32_t vy_bodies_contact_count(const vy_bodies *b)
{
    return b->contacts == NULL ? 0 : b->contacts->report_count;
}

vy_status vy_bodies_contact(const vy_bodies *b, uint32_t index, vy_contact_report *out)
{
    if (index >= vy_bodies_contact_count(b)) return VY_NOT_FOUND;
    *out = b->contacts->reports[index];
    return VY_OK;
}
