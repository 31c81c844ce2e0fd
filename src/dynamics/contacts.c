// contacts.c - contacts of a set: memory, bodies in the tree, reports.
#include "dynamics/impacts.h"
#include "base/arena.h"
#include "base/assert.h"
#include "base/fail.h"
#include "dynamics/sleep.h"
#include "dynamics/triggers.h"
#include "geometry/broadphase.h"
#include "geometry/sweep.h"
#include "volery/mass.h"
#include <stdint.h>
#include <stdlib.h>

enum { MIN_CONTACTS = 16, MIN_PAIRS = 512, MAX_PAIRS = 1 << 24 };
// What a heap has, at about: a step that makes memory larger moves all arrays.
enum { CONTACTS_PER_BODY = 2, PAIRS_PER_BODY = 8 };
// Pairs collided at a time: as many as stay in the cache, or enough for several threads.
enum { PAIR_BLOCK = 512, PAIR_BLOCK_SHARED = 16384 };

// The arrays of contacts. Those of ARRAY(array, elements) keep what they hold when they grow; those of
// SCRATCH(array, bytes) do not. `c` is the capacity; `sleep_bodies` and `sleep_contacts` are 0 where nothing
// sleeps.
#define CONTACT_ARRAYS(ARRAY, SCRATCH)                                          \
    ARRAY(s->proxy_of, c.bodies)                                                \
    ARRAY(s->slot_of, c.bodies)                                                 \
    ARRAY(s->parent, c.bodies)                                                  \
    ARRAY(s->island_solve_mode, c.bodies)                                       \
    ARRAY(s->cold_votes, c.bodies)                                              \
    ARRAY(s->solve_mode_mask, c.bodies)                                         \
    ARRAY(s->box_moved, c.bodies)                                               \
    ARRAY(s->start_state, c.bodies)                                             \
    ARRAY(s->body, c.bodies)                                                    \
    ARRAY(s->motion, c.bodies)                                                  \
    ARRAY(s->colours, c.bodies)                                                 \
    ARRAY(s->bounds, c.bodies)                                                  \
    ARRAY(s->sweep, c.bodies)                                                   \
    ARRAY(s->pose, c.bodies)                                                    \
    ARRAY(s->bucket, c.bodies + 1)                                              \
    ARRAY(s->groups, c.bodies)                                                  \
    ARRAY(s->group_of, c.bodies)                                                \
    ARRAY(s->island_solved_contacts, c.bodies)                                  \
    ARRAY(s->island_pairs, c.bodies)                                            \
    ARRAY(s->island_has_kinematic, c.bodies)                                    \
    ARRAY(s->members, 2 * c.bodies)                                             \
    ARRAY(s->root_of, c.bodies)                                                 \
    ARRAY(s->island_contacts, c.bodies)                                         \
    ARRAY(s->island_intervals, c.bodies)                                        \
    ARRAY(s->island_iterations, c.bodies)                                       \
    ARRAY(s->island_retry, c.bodies)                                            \
    ARRAY(s->radius, c.bodies)                                                  \
    ARRAY(s->squared_intervals_per_radian, c.bodies)                            \
    ARRAY(s->half_thickness, c.bodies)                                          \
    ARRAY(s->velocity_change_work, c.bodies)                                    \
    ARRAY(s->island_change_work, c.bodies)                                      \
    ARRAY(s->island_energy, c.bodies)                                           \
    ARRAY(s->island_restitution, c.bodies)                                      \
    ARRAY(s->island_sum, c.bodies)                                              \
    ARRAY(s->marked, c.bodies)                                                  \
    ARRAY(s->substep_start, c.bodies)                                           \
    ARRAY(s->motion_before, c.bodies)                                           \
    ARRAY(s->interval_start, c.bodies)                                          \
    ARRAY(s->thickness, c.bodies)                                               \
    ARRAY(s->rotation_radius, c.bodies)                                         \
    ARRAY(s->fast_bodies, c.bodies)                                             \
    ARRAY(s->fast_bounds, c.bodies)                                             \
    ARRAY(s->is_fast, c.bodies)                                                 \
    ARRAY(s->has_impact, c.bodies)                                              \
    ARRAY(s->impact_parent, c.bodies)                                           \
    ARRAY(s->ground_bodies, c.bodies)                                           \
    ARRAY(s->kinematic_bodies, c.bodies)                                        \
    ARRAY(s->kinematic_start, c.bodies)                                         \
    ARRAY(s->flight_state, c.bodies)                                            \
    ARRAY(s->state_before, c.bodies)                                            \
    ARRAY(s->island_state, c.bodies)                                            \
    ARRAY(s->impact_awake, c.bodies)                                            \
    ARRAY(s->was_awake, c.bodies)                                               \
    ARRAY(s->saved_parent, c.bodies)                                            \
    ARRAY(s->near_bodies, c.bodies)                                             \
    ARRAY(s->kinematic_depth, c.bodies)                                         \
    ARRAY(s->kinematic_body, c.bodies)                                          \
    ARRAY(s->saved_solve_mode_mask, c.bodies)                                   \
    ARRAY(s->body_impulses, c.bodies)                                           \
    ARRAY(s->jointed.first_body, c.bodies)                                      \
    ARRAY(s->jointed.first_contact, c.bodies)                                   \
    ARRAY(s->jointed.first_joint_island, c.bodies)                              \
    ARRAY(s->jointed.next_body, c.bodies)                                       \
    ARRAY(s->jointed.next_joint_island, c.bodies)                               \
    ARRAY(s->jointed.bodies, c.bodies)                                          \
    ARRAY(s->jointed.joint_islands, c.bodies)                                   \
    ARRAY(s->jointed.loaded_for, c.bodies)                                      \
    ARRAY(s->jointed.saved_body, c.bodies)                                      \
    ARRAY(s->jointed.saved_motion, c.bodies)                                    \
    ARRAY(s->tree_keys, c.pairs)                                                \
    ARRAY(s->pairs, c.pairs)                                                    \
    ARRAY(s->pair_passes, c.pairs)                                              \
    ARRAY(s->keys, c.pairs)                                                     \
    ARRAY(s->sorted, c.pairs)                                                   \
    ARRAY(b->contact_cache, c.contacts)                                         \
    ARRAY(s->contacts, c.contacts)                                              \
    ARRAY(s->headers, c.contacts)                                               \
    ARRAY(s->colour_order, 2 * c.solved)                                        \
    ARRAY(s->sums, c.contacts)                                                  \
    ARRAY(s->group_contacts, c.solved)                                          \
    ARRAY(s->previous_keys, c.contacts)                                         \
    ARRAY(s->records, c.contacts)                                               \
    ARRAY(s->reports, 3 * c.contacts)                                           \
    ARRAY(s->jointed.next_contact, c.solved)                                    \
    ARRAY(s->jointed.contacts, c.solved)                                        \
    ARRAY(sleep->parent, sleep_bodies)                                          \
    ARRAY(sleep->may_sleep, sleep_bodies)                                       \
    ARRAY(sleep->woken, sleep_bodies)                                           \
    ARRAY(sleep->free_state, sleep_bodies)                                      \
    ARRAY(sleep->contact_cache, sleep_contacts)                                 \
    ARRAY(sleep->old_pairs, sleep_contacts)                                     \
    ARRAY(sleep->reports, sleep_contacts)                                       \
    ARRAY(s->interval_contacts, IMPACT_CONTACTS)                                \
    ARRAY(s->impact_contacts, IMPACT_CONTACTS)                                  \
    ARRAY(s->interval_headers, IMPACT_CONTACTS)                                 \
    ARRAY(s->impact_headers, IMPACT_CONTACTS)                                   \
    SCRATCH(s->manifolds, s->block_size * sizeof *s->manifolds)                 \
    SCRATCH(s->pairs_with_points, s->block_size * sizeof *s->pairs_with_points) \
    SCRATCH(s->parts, vy_contacts_part_memory(s->thread_count))                 \
    SCRATCH(s->packs, vy_contacts_pack_memory((uint32_t)c.solved, s->thread_count))

enum { CACHE_LINE = 64, CONTACT_ARRAY_COUNT = 100 };

// The bytes of each array, of scratch only if `with_scratch`. Returns their sum.
static size_t array_sizes(const vy_bodies *b, contact_capacity c, int with_scratch,
                          size_t out[CONTACT_ARRAY_COUNT])
{
    const contact_system *s = b->contacts;
    const sleep_system *sleep = b->sleep;
    const size_t sleep_bodies = sleep != NULL ? c.bodies : 0, sleep_contacts = sleep != NULL ? c.contacts : 0;
    size_t sum = 0;
    int n = 0;
#define SCRATCH(array, bytes)  out[n++] = with_scratch ? (bytes) : 0;
#define ARRAY(array, elements) out[n++] = (elements) * sizeof *(array);
    CONTACT_ARRAYS(ARRAY, SCRATCH)
#undef SCRATCH
#undef ARRAY
    VY_ASSERT(n <= CONTACT_ARRAY_COUNT);
    for (int i = 0; i < n; ++i) sum += vy_arena_aligned_size(out[i]);
    return sum;
}

// One block for all arrays, each aligned for the widest lanes; what the present one holds moves into it.
static vy_status move_arrays(vy_bodies *b, contact_capacity c)
{
    sleep_system no_arrays = {0}; // of a set whose bodies do not sleep: arrays without elements
    contact_system *s = b->contacts;
    sleep_system *sleep = b->sleep != NULL ? b->sleep : &no_arrays;
    c.solved = c.contacts > IMPACT_CONTACTS ? c.contacts : IMPACT_CONTACTS;
    size_t old_sizes[CONTACT_ARRAY_COUNT] = {0}, new_sizes[CONTACT_ARRAY_COUNT];
    const size_t size = array_sizes(b, c, 1, new_sizes);
    if (s->memory != NULL) (void)array_sizes(b, s->capacity, 0, old_sizes);
    void *memory =
        calloc(1, size + CACHE_LINE); // not aligned_alloc: pages of zeros cost nothing until they are used
    if (memory == NULL) return VY_NO_MEMORY;
    unsigned char *aligned_memory = memory;
    aligned_memory += (CACHE_LINE - (uintptr_t)aligned_memory % CACHE_LINE) % CACHE_LINE;
    vy_arena arena = {aligned_memory, size, 0};
    int n = 0;
#define ARRAY(array, elements)                                           \
    array = vy_arena_realloc(&arena, array, old_sizes[n], new_sizes[n]); \
    ++n;
    CONTACT_ARRAYS(ARRAY, ARRAY)
#undef ARRAY
    free(s->memory);
    s->memory = memory;
    s->capacity = c;
    return VY_OK;
}

vy_status vy_contacts_reserve(vy_bodies *b, size_t pairs, size_t contacts)
{
    contact_system *s = b->contacts;
    contact_capacity c = s->capacity;
    if (b->sleep != NULL) contacts += b->sleep->count->count;
    if (pairs <= c.pairs && contacts <= c.contacts) return VY_OK;
    if (pairs > MAX_PAIRS || contacts > MAX_PAIRS) return VY_NO_MEMORY;
    c.pairs = grown_capacity(c.pairs, pairs);
    c.contacts = grown_capacity(c.contacts, contacts);
    return move_arrays(b, c);
}

vy_status vy_contacts_reserve_bodies(vy_bodies *b, size_t bodies)
{
    contact_system *s = b->contacts;
    contact_capacity c = s->capacity;
    const size_t old_capacity = c.bodies;
    if (bodies <= old_capacity) return VY_OK;
    c.bodies = bodies;
    if (c.pairs < PAIRS_PER_BODY * bodies) c.pairs = PAIRS_PER_BODY * bodies;
    if (c.contacts < CONTACTS_PER_BODY * bodies) c.contacts = CONTACTS_PER_BODY * bodies;
    if (vy_tree_reserve(s->tree, (int)bodies) != VY_OK || move_arrays(b, c) != VY_OK) return VY_NO_MEMORY;
    for (size_t i = old_capacity; i < bodies; ++i) s->proxy_of[i] = -1;
    return VY_OK;
}

vy_status vy_contacts_create(vy_bodies *b)
{
    const size_t reserve = b->def.contacts.reserve;
    if (!b->def.contacts.on) return VY_OK;
    contact_system *s = calloc(1, sizeof *s);
    b->contacts = s;
    if (s == NULL) return VY_NO_MEMORY;
    if (b->def.contacts.threads != 1 && (b->pool = vy_pool_create(b->def.contacts.threads)) == NULL)
        return VY_NO_MEMORY;
    s->thread_count = b->pool != NULL ? vy_pool_count(b->pool) : 1;
    s->kernel = vy_contacts_kernel();
    s->block_size = s->thread_count > 1 ? PAIR_BLOCK_SHARED : PAIR_BLOCK;
    b->contact_count = &b->own_contact_counts[0];
    if (vy_sleep_create(b) != VY_OK || vy_triggers_create(b) != VY_OK) return VY_NO_MEMORY;
    const size_t initial_capacity = reserve > MIN_CONTACTS ? reserve : MIN_CONTACTS;
    // Of no bodies yet: the memory comes with the first.
    s->capacity = (contact_capacity){.pairs = initial_capacity > MIN_PAIRS ? initial_capacity : MIN_PAIRS,
                                     .contacts = initial_capacity};
    vy_tree_def tree_def = vy_default_tree_def();
    tree_def.margin = 0.04;
    return vy_tree_create(&tree_def, &s->tree, NULL);
}

void vy_contacts_destroy(vy_bodies *b)
{
    contact_system *s = b->contacts;
    if (s == NULL) return;
    vy_pool_destroy(b->pool);
    vy_tree_destroy(s->tree);
    vy_triggers_destroy(b);
    free(b->sleep);
    free(s->memory);
    free(s);
}

// How large and how thick a body is, by its shape.
static void measure_body(vy_bodies *b, uint32_t i)
{
    contact_system *s = b->contacts;
    const vy_shape *shape = &b->slots[i].shape;
    const vy_pose at_origin = {{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}};
    const vy_bounds box = vy_shape_bounds(shape, &at_origin);
    vy_mass_properties mass;
    s->radius[i] = 0.5 * vec3_length(vec3_sub(box.high, box.low)) + vec3_length(b->slots[i].centroid);
    s->half_thickness[i] = s->radius[i];
    if (vy_shape_mass(shape, 1.0, &mass, NULL) == VY_OK) {
        const vec3 moments = vy_mass_principal_axes(&mass.inertia).moments; // in ascending order
        s->half_thickness[i] =
            real_sqrt(real_max(1.5 * ((moments.x + moments.y) - moments.z), 1e-12 * moments.z));
    }
    s->squared_intervals_per_radian[i] = vy_contacts_squared_intervals_per_radian(b, i);
}

void vy_contacts_add_body(vy_bodies *b, uint32_t i)
{
    contact_system *s = b->contacts;
    if (s == NULL) return;
    s->thickness[i] = vy_shape_thickness(&b->slots[i].shape);
    s->rotation_radius[i] = vy_shape_rotation_radius(&b->slots[i].shape);
    s->kinematic_count += b->slots[i].kind == VY_BODY_KINEMATIC;
    if (!vy_shape_is_convex(&b->slots[i].shape)) return; // shapes without bounds are paired with every body
    VY_ASSERT(s->proxy_of[i] == -1);
    measure_body(b, i);
    const vy_pose pose = body_shape_pose(b, i, &b->state[i]);
    const vy_bounds bounds = vy_shape_bounds(&b->slots[i].shape, &pose);
    int proxy;
    if (vy_tree_add(s->tree, &bounds, &proxy) != VY_OK) return; // too far away to have finite bounds
    VY_ASSERT(proxy >= 0 && (uint32_t)proxy < b->body_cap);
    s->proxy_of[i] = proxy;
    s->slot_of[proxy] = i;
    s->pairs_stale = 1;
}

void vy_contacts_remove_body(vy_bodies *b, uint32_t i)
{
    contact_system *s = b->contacts;
    if (s == NULL) return;
    VY_ASSERT(s->proxy_of[i] < 0 || s->slot_of[s->proxy_of[i]] == i);
    s->kinematic_count -= b->slots[i].kind == VY_BODY_KINEMATIC;
    if (s->proxy_of[i] >= 0) (void)vy_tree_remove(s->tree, s->proxy_of[i]);
    s->proxy_of[i] = -1;
    s->pairs_stale = 1;
    uint64_t kept_count = 0;
    const uint64_t count = b->contact_count->count;
    VY_ASSERT(count <= s->capacity.contacts);
    for (uint64_t k = 0; k < count; ++k) {
        if (b->contact_cache[k].a != i && b->contact_cache[k].b != i)
            b->contact_cache[kept_count++] = b->contact_cache[k];
    }
    b->contact_count->count = kept_count;
}

int vy_contacts_cache_is_valid(const void *pairs, uint64_t count, uint64_t bodies)
{
    uint64_t last_key = 0;
    uint32_t manifold_index = 0;
    for (uint64_t k = 0; k < count; ++k) {
        contact_cache cached; // of a caller's memory, aligned or not
        memcpy(&cached, (const unsigned char *)pairs + k * sizeof cached, sizeof cached);
        if (cached.point_count > VY_MANIFOLD_POINTS || cached.a >= cached.b || cached.b >= bodies) return 0;
        const uint64_t key = contact_key(cached.a, cached.b);
        if (k > 0 && key < last_key) return 0; // they are found by bisection
        manifold_index = k > 0 && key == last_key ? manifold_index + 1 : 0;
        if (cached.manifold_index != manifold_index || manifold_index >= VY_COLLIDE_MANIFOLDS) return 0;
        last_key = key;
    }
    return 1;
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

vy_impact_totals vy_bodies_impacts(const vy_bodies *b)
{
    vy_impact_totals totals = {0};
    if (b->contacts == NULL) return totals;
    totals = b->contacts->impact_totals;
    totals.scaled = atomic_load_explicit(&b->contacts->scaled, memory_order_relaxed);
    return totals;
}

void vy_contacts_enable_guards(vy_bodies *b, int on)
{
    if (b->contacts != NULL) b->contacts->guards_off = !on;
}
