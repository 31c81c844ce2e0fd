// bodies.c - a set of rigid bodies: memory, ids, mass properties, snapshots.
#include "base/arena.h"
#include "base/assert.h"
#include "base/fpu_result.h"
#include "dynamics/checksum.h"
#include "dynamics/queries.h"
#include "dynamics/sleep.h"
#include "dynamics/triggers.h"
#include "base/real.h"
#include "base/fail.h"
#include "base/hash.h"
#include "volery/mass.h"
#include <stdlib.h>

#define BODIES_COOKIE 0x626f6473u
#define BODY_COOKIE   0x626f6479u

enum { MAX_BODIES = 1 << 24, MAX_POTENTIALS = 1 << 16 };

_Static_assert(sizeof(bodies_head) == 4 * 8 && sizeof(body_state) == 13 * 8 && sizeof(body_loads) == 12 * 8 &&
                   sizeof(body_previous) == 6 * 8 && sizeof(joint_state) == 4 * 8 &&
                   sizeof(contact_cache) == 28 * 8 && sizeof(body_sleep) == 8 * 8 &&
                   sizeof(body_filter) == 3 * 8 && sizeof(trigger_pair) == 2 * 8,
               "the state is hashed as memory: it has no holes");

vy_bodies_def vy_default_bodies_def(void)
{
    const vy_bodies_def def = {
        .cookie = BODIES_COOKIE,
        .dt = 1e-3,
        .gravity = {0.0, 0.0, -9.80665},
        .integrator = VY_INTEGRATOR_RK4,
        .joint_step = 0.5e-3,
        .closing_speed = 1.0,
        .open_limit = 10.0,
        .contacts = vy_default_contacts_def(),
    };
    return def;
}

vy_body_def vy_default_body_def(void)
{
    const vy_body_def def = {
        .cookie = BODY_COOKIE,
        .kind = VY_BODY_DYNAMIC,
        .mass = 1.0,
        .material = vy_default_material(),
        .filter = vy_default_filter(),
        .state = {.attitude = {1.0, 0.0, 0.0, 0.0}},
    };
    return def;
}

static vy_status check_bodies_def(const vy_bodies_def *def, vy_error *err)
{
    if (def->cookie != BODIES_COOKIE) return vy_fail(err, VY_BAD_VALUE, "start from vy_default_bodies_def()");
    if (!(def->dt > 0.0) || !real_is_finite(def->dt)) {
        return vy_fail(err, VY_BAD_VALUE, "dt must be finite and above zero, not %g", def->dt);
    }
    if (!vec3_is_finite(def->gravity)) return vy_fail(err, VY_BAD_VALUE, "gravity must be finite");
    if (vy_integrator_order(def->integrator) == 0) {
        return vy_fail(err, VY_BAD_VALUE, "no integrator %d", (int)def->integrator);
    }
    if (!(def->joint_step > 0.0) || !real_is_finite(def->joint_step)) {
        return vy_fail(err, VY_BAD_VALUE, "joint_step must be finite and above zero, not %g",
                       def->joint_step);
    }
    if (!(def->closing_speed > 0.0) || !real_is_finite(def->closing_speed)) {
        return vy_fail(err, VY_BAD_VALUE, "closing_speed must be finite and above zero, not %g",
                       def->closing_speed);
    }
    if (!(def->open_limit >= 0.0) || !real_is_finite(def->open_limit)) {
        return vy_fail(err, VY_BAD_VALUE, "open_limit must be finite and not below zero, not %g",
                       def->open_limit);
    }
    return vy_contacts_check(&def->contacts, def->dt, err);
}

// The arrays of a set, of n bodies and m joints; `sleepers` is n where bodies may sleep, else 0.
#define BODY_ARRAYS(ARRAY)  \
    ARRAY(slots, n)         \
    ARRAY(params, n)        \
    ARRAY(declared, n)      \
    ARRAY(has_loads, n)     \
    ARRAY(awake, n)         \
    ARRAY(state, n)         \
    ARRAY(loads, n)         \
    ARRAY(previous, n)      \
    ARRAY(disturbed, n)     \
    ARRAY(filters, n)       \
    ARRAY(joint_state, m)   \
    ARRAY(joint_targets, m) \
    ARRAY(joint_gears, m)   \
    ARRAY(own_sleep, sleepers)

#define ARRAY(member, elements) +1
enum { BODY_ARRAY_COUNT = 0 BODY_ARRAYS(ARRAY), MIN_BODIES = 64 };
#undef ARRAY

// The bytes of each array, of n bodies and m joints. Returns what all take.
static size_t array_sizes(const vy_bodies *b, size_t n, size_t m, size_t out[BODY_ARRAY_COUNT])
{
    const size_t sleepers = b->sleep != NULL ? n : 0;
    size_t sum = 0;
    int i = 0;
#define ARRAY(member, elements)              \
    out[i] = (elements) * sizeof *b->member; \
    sum += vy_arena_aligned_size(out[i++]);
    BODY_ARRAYS(ARRAY)
#undef ARRAY
    VY_ASSERT(i == BODY_ARRAY_COUNT);
    return sum;
}

static void free_memory(body_memory *memory)
{
    for (body_memory *older; memory != NULL; memory = older) {
        older = memory->older;
        free(memory);
    }
}

// Move all arrays into memory for n bodies and m joints.
static vy_status move_arrays(vy_bodies *b, size_t n, size_t m)
{
    size_t old_sizes[BODY_ARRAY_COUNT] = {0}, new_sizes[BODY_ARRAY_COUNT];
    const size_t size = array_sizes(b, n, m, new_sizes);
    const int is_bound_to_world =
        b->sleep != NULL && b->sleep->bodies != b->own_sleep; // to the world's state
    if (b->memory != NULL) (void)array_sizes(b, b->body_cap, b->joint_cap, old_sizes);
    // Not aligned_alloc: pages of zeros cost nothing until they are used.
    body_memory *memory = calloc(1, size + sizeof *memory + 64);
    if (memory == NULL) return VY_NO_MEMORY;
    const uintptr_t address = (uintptr_t)(memory + 1);
    vy_arena arena = {(unsigned char *)(memory + 1) + (64 - address % 64) % 64, size, 0};
    int i = 0;
#define ARRAY(member, elements)                                                  \
    b->member = vy_arena_realloc(&arena, b->member, old_sizes[i], new_sizes[i]); \
    ++i;
    BODY_ARRAYS(ARRAY)
#undef ARRAY
    memory->older = b->memory;
    if (!b->has_state_view) {
        free_memory(memory->older);
        memory->older = NULL;
    }
    b->memory = memory;
    if (b->sleep != NULL && !is_bound_to_world) b->sleep->bodies = b->own_sleep;
    return VY_OK;
}

vy_status vy_bodies_reserve(vy_bodies *b, uint64_t count, uint64_t joints, vy_error *err)
{
    if (count <= b->body_cap && joints <= b->joint_cap) return VY_OK;
    if (count > MAX_BODIES || joints > MAX_BODIES)
        return vy_fail(err, VY_FULL, "a set holds at most %d bodies and as many joints", MAX_BODIES);
    const size_t n = grown_capacity(b->body_cap, (size_t)count),
                 m = grown_capacity(b->joint_cap, (size_t)joints);
    // The joints come last: then nothing can fail any more.
    if (move_arrays(b, n, m) != VY_OK || (b->contacts != NULL && vy_contacts_reserve_bodies(b, n) != VY_OK) ||
        vy_joints_reserve(b, (uint32_t)n, (uint32_t)m) != VY_OK)
        return vy_fail(err, VY_NO_MEMORY, "no memory for %zu bodies and %zu joints", n, m);
    b->body_cap = (uint32_t)n;
    b->joint_cap = (uint32_t)m;
    return VY_OK;
}

vy_status vy_bodies_create(const vy_bodies_def *def, vy_bodies **out, vy_error *err)
{
    FPU_SCOPE;
    *out = NULL;
    vy_status status = check_bodies_def(def, err);
    if (status != VY_OK) return status;
    vy_bodies *b = calloc(1, sizeof *b);
    if (b == NULL) return vy_fail(err, VY_NO_MEMORY, "no memory for a set of bodies");
    b->def = *def;
    b->head = &b->own_head;
    b->head->integrator = (uint64_t)def->integrator;
    b->pose_revision = 1;
    status = vy_joints_create(b);
    if (status == VY_OK) status = vy_contacts_create(b);
    if (status == VY_OK) status = vy_bodies_reserve(b, MIN_BODIES, 0, NULL);
    if (status != VY_OK) {
        vy_bodies_destroy(b);
        return vy_fail(err, VY_NO_MEMORY, "no memory for a set of bodies");
    }
    *out = b;
    return VY_OK;
}

void vy_bodies_destroy(vy_bodies *b)
{
    if (b == NULL) return;
    vy_joints_destroy(b);
    vy_contacts_destroy(b);
    vy_query_tree_destroy(b->queries);
    free_memory(b->memory);
    free(b->potentials);
    free(b);
}

// ---- mass properties

static vy_status check_inertia(const vy_mat3 *inertia, vy_error *err)
{
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            if (!real_is_finite(inertia->m[i][j]) || inertia->m[i][j] != inertia->m[j][i]) {
                return vy_fail(err, VY_BAD_VALUE, "an inertia tensor must be finite and symmetric");
            }
        }
    }
    const vec3 m = vy_mass_principal_axes(inertia).moments;
    if (!(m.x > 0.0) || m.x + m.y < m.z * (1.0 - 1e-9)) {
        return vy_fail(err, VY_BAD_VALUE, "no solid has principal moments of %g, %g and %g kg m^2", m.x, m.y,
                       m.z);
    }
    const double det = mat3_det(*inertia); // it overflows or vanishes where the inverse would
    if (!(det > 0.0) || !real_is_finite(det) || !real_is_finite(1.0 / det)) {
        return vy_fail(err, VY_BAD_VALUE,
                       "principal moments of %g, %g and %g kg m^2 are too small or too large", m.x, m.y, m.z);
    }
    return VY_OK;
}

static int is_zero(const vy_mat3 *m)
{
    for (int i = 0; i < 9; ++i) {
        if (m->m[i / 3][i % 3] != 0.0) return 0;
    }
    return 1;
}

static vy_status check_state(const vy_body_state *s, vy_error *err)
{
    const double length2 = quat_dot(s->attitude, s->attitude);
    if (!body_is_finite(s) || !(length2 > 0.0) || !real_is_finite(length2)) {
        return vy_fail(err, VY_BAD_VALUE, "a state must be finite, with an attitude longer than zero");
    }
    return VY_OK;
}

/// Mass, inertia and centroid of a def, into a slot and its params.
static vy_status set_mass(const vy_body_def *def, body_slot *slot, body_params *params, vy_error *err)
{
    VY_ASSERT(slot->mass == 0.0 && params->inverse_mass == 0.0);
    if (def->kind < VY_BODY_STATIC || def->kind > VY_BODY_DYNAMIC) {
        return vy_fail(err, VY_BAD_VALUE, "no body of kind %d", (int)def->kind);
    }
    slot->kind = def->kind;
    vy_status status = def->shape == NULL ? VY_OK : vy_shape_check(def->shape, err);
    if (status != VY_OK) return status;
    if (def->shape != NULL) slot->shape = *def->shape;
    const int is_solid = def->shape != NULL && vy_shape_is_convex(def->shape);
    const int is_dynamic = def->kind == VY_BODY_DYNAMIC;
    vy_mass_properties mass_properties = {0};
    if (is_solid) {
        status = vy_shape_mass(def->shape, is_dynamic ? def->mass : 1.0, &mass_properties, err);
        if (status != VY_OK) return status;
        slot->centroid = mass_properties.centroid;
    }
    if (!is_dynamic) return VY_OK;
    if (!(def->mass > 0.0) || !real_is_finite(def->mass) || !real_is_finite(1.0 / def->mass)) {
        return vy_fail(err, VY_BAD_MASS, "a dynamic body's mass must be finite and above zero, not %g",
                       def->mass);
    }
    const int has_inertia = !is_zero(&def->inertia);
    if (!has_inertia && !is_solid)
        return vy_fail(err, VY_BAD_VALUE, "a dynamic body needs an inertia or a solid shape");
    params->inertia = has_inertia ? def->inertia : mass_properties.inertia;
    status = check_inertia(&params->inertia, err);
    if (status != VY_OK) return status;
    slot->mass = def->mass;
    params->inverse_mass = 1.0 / def->mass;
    VY_ASSERT(params->inverse_mass > 0.0);
    params->inverse_inertia = mat3_inverse(params->inertia);
    return VY_OK;
}

vy_status vy_body_constants(const vy_body_def *def, body_slot *slot, body_params *params, vy_error *err)
{
    vy_status status = set_mass(def, slot, params, err);
    if (status == VY_OK) status = vy_material_check(&def->material, err);
    if (status != VY_OK) return status;
    slot->material = def->material;
    slot->no_sleep = def->no_sleep != 0;
    return VY_OK;
}

// ---- ids

static vy_body_id id_of(const vy_bodies *b, uint32_t i)
{
    VY_ASSERT(i < b->slot_count && b->slots[i].used);
    const vy_body_id id = {((uint64_t)b->slots[i].generation << 32) | (i + 1u)};
    return id;
}

int64_t vy_bodies_find(const vy_bodies *b, vy_body_id id)
{
    const uint64_t i = (id.bits & 0xffffffffu) - 1u;
    if (i >= b->slot_count || !b->slots[i].used || b->slots[i].generation != id.bits >> 32) return -1;
    return (int64_t)i;
}

vy_status vy_bodies_add(vy_bodies *b, const vy_body_def *def, vy_body_id *out, vy_error *err)
{
    FPU_SCOPE;
    if (def->cookie != BODY_COOKIE) return vy_fail(err, VY_BAD_VALUE, "start from vy_default_body_def()");
    body_slot slot = {.used = 1};
    body_params params = {0};
    vy_status status = vy_body_constants(def, &slot, &params, err);
    if (status == VY_OK) status = check_state(&def->state, err);
    if (status != VY_OK) return status;
    if (def->is_trigger && (b->contacts == NULL || def->shape == NULL))
        return vy_fail(err, VY_BAD_VALUE, "a trigger needs a shape, in a set with contacts");
    slot.user_data = def->user_data;
    if (b->first_free == 0) status = vy_bodies_reserve(b, (uint64_t)b->slot_count + 1, 0, err);
    if (status != VY_OK) return status;
    const uint32_t i = b->first_free != 0 ? b->first_free - 1u : b->slot_count++;
    VY_ASSERT(i < b->slot_count && b->slot_count <= b->body_cap && !b->slots[i].used);
    if (b->first_free != 0) b->first_free = b->slots[i].next;
    slot.generation = b->slots[i].generation;
    b->slots[i] = slot;
    b->params[i] = params;
    b->declared[i] = (body_declared){def->mass, def->inertia};
    b->slots[i].checksum = vy_body_checksum(b, i);
    b->state[i] = def->state;
    b->state[i].attitude = quat_normalize(def->state.attitude);
    b->previous[i] = (body_previous){b->state[i].velocity, b->state[i].rate};
    b->disturbed[i] = 1;
    b->awake[i] = def->kind == VY_BODY_DYNAMIC;
    b->filters[i] = vy_filters_default(); // a new slot has none
    vy_filters_set(
        b, i, (body_filter){def->filter.category, def->filter.mask, def->filter.group, def->is_trigger != 0});
    b->count += 1;
    b->head->revision += 1;
    b->pose_revision += 1;
    VY_ASSERT(b->count <= b->slot_count && quat_is_unit(b->state[i].attitude));
    vy_contacts_add_body(b, i);
    if (out != NULL) *out = id_of(b, i);
    return VY_OK;
}

vy_status vy_bodies_remove(vy_bodies *b, vy_body_id id)
{
    const int64_t i = vy_bodies_find(b, id);
    if (i < 0) return VY_NOT_FOUND;
    VY_ASSERT(b->count > 0);
    vy_sleep_wake(b, (uint32_t)i);
    vy_joints_remove_body(b, (uint32_t)i);
    vy_contacts_remove_body(b, (uint32_t)i);
    VY_ASSERT(b->contacts == NULL || b->contacts->proxy_of[i] == -1);
    const body_slot freed = {.generation = b->slots[i].generation + 1u, .next = b->first_free};
    b->slots[i] = freed;
    b->params[i] = (body_params){0};
    b->has_loads[i] = 0;
    b->awake[i] = 0;
    b->state[i] = (body_state){0};
    b->loads[i] = (body_loads){0};
    b->previous[i] = (body_previous){0};
    vy_filters_set(b, (uint32_t)i, vy_filters_default());
    b->first_free = (uint32_t)i + 1u;
    b->count -= 1;
    b->head->revision += 1;
    b->pose_revision += 1;
    uint32_t kept_count = 0; // potentials of this body alone are removed with it
    for (uint32_t k = 0; k < b->potential_count; ++k) {
        if (b->potentials[k].first != (uint32_t)i || b->potentials[k].last != (uint32_t)i + 1u) {
            b->potentials[kept_count++] = b->potentials[k];
        }
    }
    b->potential_count = kept_count;
    return VY_OK;
}

uint32_t vy_bodies_count(const vy_bodies *b) { return b->count; }
uint32_t vy_bodies_slot_count(const vy_bodies *b) { return b->slot_count; }
int vy_bodies_has(const vy_bodies *b, vy_body_id id) { return vy_bodies_find(b, id) >= 0; }

vy_body_id vy_bodies_at(const vy_bodies *b, uint32_t slot)
{
    return slot < b->slot_count && b->slots[slot].used ? id_of(b, slot) : VY_NULL_BODY;
}

vy_status vy_bodies_add_potential(vy_bodies *b, const vy_potential *potential, vy_body_id body, vy_error *err)
{
    FPU_SCOPE;
    const vy_status status = vy_potential_check(potential, err);
    if (status != VY_OK) return status;
    body_potential field = {*potential, 0, UINT32_MAX};
    if (body.bits != 0) {
        const int64_t i = vy_bodies_find(b, body);
        if (i < 0) return vy_fail(err, VY_NOT_FOUND, "a potential on a body that is not of this set");
        field.first = (uint32_t)i;
        field.last = (uint32_t)i + 1u;
    }
    if (b->potential_count == MAX_POTENTIALS)
        return vy_fail(err, VY_FULL, "a set holds at most %d potentials", MAX_POTENTIALS);
    if (b->potential_count == b->potential_cap) {
        const uint32_t new_cap = (uint32_t)grown_capacity(b->potential_cap, b->potential_cap + 4u);
        body_potential *grown = realloc(b->potentials, new_cap * sizeof *grown);
        if (grown == NULL) return vy_fail(err, VY_NO_MEMORY, "no memory for %u potentials", new_cap);
        b->potentials = grown;
        b->potential_cap = new_cap;
    }
    b->potentials[b->potential_count++] = field;
    vy_sleep_wake_range(b, field.first, field.last);
    return VY_OK;
}

vy_status vy_bodies_set_integrator(vy_bodies *b, vy_integrator integrator)
{
    if (vy_integrator_order(integrator) == 0) return VY_BAD_VALUE;
    b->def.integrator = integrator;
    b->head->integrator = (uint64_t)integrator;
    return VY_OK;
}

vy_integrator vy_bodies_integrator(const vy_bodies *b) { return b->def.integrator; }

// ---- time and snapshots

uint64_t vy_bodies_tick(const vy_bodies *b) { return b->head->tick; }
double vy_bodies_time(const vy_bodies *b)
{
    FPU_SCOPE;
    return fpu_result((double)b->head->tick * b->def.dt);
}

// Everything that a step changes, part by part: what is in use of it, and nothing else, so that neither hash
// nor snapshot depends on how much memory there is.
enum { STATE_PART_COUNT = 15 };

typedef struct state_part {
    void *data;
    size_t size;
} state_part;

// Filters are state where there are any, and with them who overlaps a trigger.
static size_t filters_size(const vy_bodies *b)
{
    const uint64_t pairs = b->own_trigger_pair_count.count;
    return b->filter_count == 0 && pairs == 0
               ? 0
               : b->slot_count * sizeof *b->filters + sizeof b->own_trigger_pair_count +
                     pairs * sizeof *b->triggers->pairs;
}

static size_t list_state(const vy_bodies *b, state_part out[STATE_PART_COUNT])
{
    const size_t n = b->slot_count, awake_pairs = b->own_contact_counts[0].count,
                 sleeping_pairs = b->own_contact_counts[1].count;
    const struct sleep_system *sleep = b->sleep;
    const int has_filters = filters_size(b) > 0;
    const state_part parts[STATE_PART_COUNT] = {
        {b->head, sizeof *b->head},
        {(void *)b->own_contact_counts, b->contacts != NULL ? sizeof b->own_contact_counts : 0},
        {b->contact_cache, awake_pairs * sizeof *b->contact_cache},
        {sleep != NULL ? sleep->contact_cache : NULL, sleeping_pairs * sizeof *b->contact_cache},
        {b->state, n * sizeof *b->state},
        {b->loads, n * sizeof *b->loads},
        {b->previous, n * sizeof *b->previous},
        {b->disturbed, n * sizeof *b->disturbed},
        {b->joint_state, b->joints->slot_count * sizeof *b->joint_state},
        {b->joint_targets,
         b->joints->targeted_count > 0 ? b->joints->slot_count * sizeof *b->joint_targets : 0},
        {b->joint_gears, b->joints->geared_count > 0 ? b->joints->slot_count * sizeof *b->joint_gears : 0},
        {sleep != NULL ? sleep->bodies : NULL, sleep != NULL ? n * sizeof *sleep->bodies : 0},
        {b->filters, has_filters ? n * sizeof *b->filters : 0},
        {(void *)&b->own_trigger_pair_count, has_filters ? sizeof b->own_trigger_pair_count : 0},
        {b->triggers != NULL ? b->triggers->pairs : NULL,
         b->own_trigger_pair_count.count * sizeof(trigger_pair)},
    };
    VY_ASSERT(b->contact_count == NULL ||
              b->contact_count == &b->own_contact_counts[0]); // a world's has others
    VY_ASSERT(sleep != NULL || sleeping_pairs == 0);
    size_t size = 0;
    for (int i = 0; i < STATE_PART_COUNT; ++i) size += parts[i].size;
    memcpy(out, parts, sizeof parts);
    return size;
}

uint64_t vy_bodies_hash(const vy_bodies *b)
{
    state_part parts[STATE_PART_COUNT];
    uint64_t hash = 0;
    (void)list_state(b, parts);
    for (int i = 0; i < STATE_PART_COUNT; ++i) {
        if (parts[i].size > 0) hash = vy_hash_chain(hash, parts[i].data, parts[i].size);
    }
    return hash;
}

// A snapshot begins with the checksums of the set, which tell whether a set has other bodies.
size_t vy_bodies_state_size(const vy_bodies *b)
{
    state_part parts[STATE_PART_COUNT];
    return sizeof(set_checksums) + list_state(b, parts);
}

void vy_bodies_save(const vy_bodies *b, void *block)
{
    state_part parts[STATE_PART_COUNT];
    unsigned char *to = block;
    const set_checksums sums = vy_set_checksums(b);
    memcpy(to, &sums, sizeof sums);
    to += sizeof sums;
    (void)list_state(b, parts);
    for (int i = 0; i < STATE_PART_COUNT; to += parts[i++].size) {
        if (parts[i].size > 0) memcpy(to, parts[i].data, parts[i].size);
    }
}

// What a snapshot says of its parts, whose sizes differ from state to state.
typedef struct snapshot_parts {
    bodies_head head;
    contact_count contacts[2]; // the numbers of contacts, and of sleeping ones
    contact_count trigger_pairs;
    int has_filters; // 1: it has filters
} snapshot_parts;

static vy_status bad_snapshot(vy_error *err)
{
    return vy_fail(err, VY_BAD_VALUE, "this is no snapshot of a set, or it is damaged");
}

// Whether it is of a set with the same bodies and joints.
static vy_status check_checksums(const vy_bodies *b, const unsigned char *block, size_t size, vy_error *err)
{
    set_checksums saved;
    if (size < sizeof saved) return bad_snapshot(err);
    memcpy(&saved, block, sizeof saved);
    const set_checksums current = vy_set_checksums(b);
    const char *const changed_kind = saved.bodies != current.bodies ? "bodies" : "joints";
    if (saved.bodies == current.bodies && saved.joints == current.joints) return VY_OK;
    return vy_fail(
        err, VY_BAD_VALUE,
        "the snapshot is of a set with other %s: some were added or removed, or have other constants",
        changed_kind);
}

// Filters and who overlaps a trigger: what is left of a snapshot after all else, or nothing.
static int check_filters(const vy_bodies *b, const unsigned char *filters, size_t size, snapshot_parts *out)
{
    const size_t filter_bytes = b->slot_count * sizeof *b->filters, count_bytes = sizeof out->trigger_pairs;
    out->has_filters = size > 0;
    out->trigger_pairs.count = 0;
    if (size == 0) return 1;
    if (size < filter_bytes + count_bytes || !vy_filters_are_valid(b, filters, b->slot_count)) return 0;
    memcpy(&out->trigger_pairs, filters + filter_bytes, count_bytes);
    const size_t pair_bytes = size - filter_bytes - count_bytes;
    const uint64_t pair_count = out->trigger_pairs.count;
    return pair_count == pair_bytes / sizeof(trigger_pair) && pair_bytes % sizeof(trigger_pair) == 0 &&
           (pair_count == 0 || b->triggers != NULL) &&
           vy_triggers_are_valid(filters + filter_bytes + count_bytes, pair_count, b->slot_count);
}

// Whether a snapshot can be one of this set.
static vy_status check_snapshot(const vy_bodies *b, const unsigned char *block, size_t size,
                                snapshot_parts *out, vy_error *err)
{
    const size_t count_bytes = b->contacts != NULL ? sizeof out->contacts : 0,
                 cache_bytes = sizeof *b->contact_cache;
    const size_t variable_bytes =
        (b->own_contact_counts[0].count + b->own_contact_counts[1].count) * cache_bytes + filters_size(b);
    const size_t fixed_bytes = vy_bodies_state_size(b) - variable_bytes; // the same in every state of the set
    memset(out, 0, sizeof *out);
    if (check_checksums(b, block, size, err) != VY_OK) return VY_BAD_VALUE;
    if (size < fixed_bytes) return bad_snapshot(err);
    block += sizeof(set_checksums);
    memcpy(&out->head, block, sizeof out->head);
    if (vy_integrator_order((vy_integrator)out->head.integrator) == 0 ||
        (out->head.failed != 0 && out->head.failed != VY_BODIES_NOT_FINITE &&
         out->head.failed != VY_BODIES_NO_MEMORY))
        return bad_snapshot(err);
    if (count_bytes > 0) memcpy(out->contacts, block + sizeof out->head, count_bytes);
    const uint64_t cache_count = (size - fixed_bytes) / cache_bytes, awake_count = out->contacts[0].count,
                   sleeping_count = out->contacts[1].count;
    if (awake_count > cache_count || sleeping_count > cache_count - awake_count ||
        (sleeping_count > 0 && b->sleep == NULL))
        return bad_snapshot(err);
    const size_t filter_bytes = size - fixed_bytes - (size_t)(awake_count + sleeping_count) * cache_bytes;
    const unsigned char *caches = block + sizeof out->head + count_bytes,
                        *end = block + size - sizeof(set_checksums);
    return vy_contacts_cache_is_valid(caches, awake_count, b->slot_count) &&
                   vy_contacts_cache_is_valid(caches + awake_count * cache_bytes, sleeping_count,
                                              b->slot_count) &&
                   check_filters(b, end - filter_bytes, filter_bytes, out)
               ? VY_OK
               : bad_snapshot(err);
}

vy_status vy_bodies_restore(vy_bodies *b, const void *block, size_t size, vy_error *err)
{
    FPU_SCOPE;
    snapshot_parts saved;
    const unsigned char *from = block;
    if (check_snapshot(b, from, size, &saved, err) != VY_OK) return VY_BAD_VALUE;
    vy_status status = VY_OK;
    if (b->contacts != NULL)
        status = vy_contacts_reserve(b, 0, saved.contacts[0].count + saved.contacts[1].count);
    if (status == VY_OK && b->triggers != NULL) status = vy_triggers_reserve(b, saved.trigger_pairs.count);
    if (status != VY_OK) return vy_fail(err, VY_NO_MEMORY, "no memory for the contacts of a snapshot");
    from += sizeof(set_checksums);
    memcpy(b->own_contact_counts, saved.contacts, sizeof b->own_contact_counts);
    b->own_trigger_pair_count = saved.trigger_pairs;
    for (uint32_t i = 0; i < b->slot_count; ++i) b->filters[i] = vy_filters_default();
    b->filter_count = (uint32_t)saved.has_filters; // the snapshot has them, or they are the default ones
    state_part parts[STATE_PART_COUNT];
    (void)list_state(b, parts);
    for (int i = 0; i < STATE_PART_COUNT; from += parts[i++].size) {
        if (parts[i].size > 0) memcpy(parts[i].data, from, parts[i].size);
    }
    b->def.integrator = (vy_integrator)saved.head.integrator;
    b->pose_revision += 1;
    vy_filters_sync(b);
    vy_joints_clear_multipliers(b);
    vy_sleep_sync(b);
    for (uint32_t i = 0; i < b->slot_count; ++i)
        b->has_loads[i] = 1; // checking whether they are zero would cost more
    return VY_OK;
}

const vy_body_state *vy_bodies_states(vy_bodies *b)
{
    b->has_state_view = 1;
    return b->state;
}

// ---- one body

vy_status vy_body_read(const vy_bodies *b, vy_body_id id, vy_body_state *out)
{
    const int64_t i = vy_bodies_find(b, id);
    if (i < 0) return VY_NOT_FOUND;
    *out = b->state[i];
    return VY_OK;
}

vy_status vy_body_set_state(vy_bodies *b, vy_body_id id, const vy_body_state *state)
{
    FPU_SCOPE;
    const int64_t i = vy_bodies_find(b, id);
    if (i < 0) return VY_NOT_FOUND;
    const vy_status status = check_state(state, NULL);
    if (status != VY_OK) return status;
    vy_sleep_wake(b, (uint32_t)i);
    b->state[i] = *state;
    b->state[i].attitude = quat_normalize(state->attitude);
    b->previous[i] = (body_previous){state->velocity, state->rate};
    b->disturbed[i] = 1;
    b->pose_revision += 1;
    return VY_OK;
}

vy_status vy_body_read_mass(const vy_bodies *b, vy_body_id id, double *mass, vy_mat3 *inertia)
{
    FPU_SCOPE;
    const int64_t i = vy_bodies_find(b, id);
    if (i < 0) return VY_NOT_FOUND;
    *mass = b->slots[i].mass;
    *inertia = b->params[i].inertia;
    return VY_OK;
}

vy_status vy_body_read_shape(const vy_bodies *b, vy_body_id id, const vy_shape **shape, vy_pose *pose)
{
    FPU_SCOPE;
    const int64_t i = vy_bodies_find(b, id);
    if (i < 0) return VY_NOT_FOUND;
    const body_state *s = &b->state[i];
    *shape = b->slots[i].shape.kind == VY_SHAPE_NONE ? NULL : &b->slots[i].shape;
    pose->position = vec3_sub(s->position, quat_rotate(s->attitude, b->slots[i].centroid));
    pose->rotation = s->attitude;
    return VY_OK;
}

vy_status vy_body_read_acceleration(const vy_bodies *b, vy_body_id id, vy_vec3 *linear, vy_vec3 *angular)
{
    FPU_SCOPE;
    VY_ASSERT(b->def.dt > 0.0);
    const int64_t i = vy_bodies_find(b, id);
    if (i < 0) return VY_NOT_FOUND;
    const double inverse_dt = 1.0 / b->def.dt;
    *linear = vec3_scale(inverse_dt, vec3_sub(b->state[i].velocity, b->previous[i].velocity));
    *angular = vec3_scale(inverse_dt, vec3_sub(b->state[i].rate, b->previous[i].rate));
    return VY_OK;
}
