// triggers.c - who overlaps a trigger at the end of a step, and who has passed through one within it.
//
// Triggers are no part of the contacts: they are looked at when all bodies are where the step leaves them.
// The tree has the boxes of the free flights; bodies that contacts have moved out of theirs are looked at one
// by one.
#include "dynamics/triggers.h"
#include "base/fail.h"
#include "dynamics/impacts.h"
#include "dynamics/sleep.h"
#include "geometry/broadphase.h"
#include <stdlib.h>

enum { MIN_PARALLEL_BODIES = 256, MIN_PARALLEL_PAIRS = 64, MAX_PAIRS = 1 << 24 };
enum { REPORTS_PER_PAIR = 2 }; // begun and ended

// Of the thinner one's thickness: a pass that overlaps less than this may be missed.
#define PASS_DEPTH_FRACTION 1e-4

typedef enum trigger_finding { APART, OVERLAPS, PASSED } trigger_finding;

// ---- memory

vy_status vy_triggers_create(vy_bodies *b)
{
    b->triggers = calloc(1, sizeof *b->triggers);
    if (b->triggers == NULL) return VY_NO_MEMORY;
    b->triggers->count = &b->own_trigger_pair_count;
    return VY_OK;
}

void vy_triggers_destroy(vy_bodies *b)
{
    trigger_system *t = b->triggers;
    if (t == NULL) return;
    free(t->pairs);
    free(t->new_pairs);
    free(t->reports);
    free(t->keys);
    free(t->sorted);
    free(t->findings);
    free(t);
}

// A larger array, or the same where there is no memory: `*status` says so.
static void *grow_array(void *array, size_t count, size_t size, vy_status *status)
{
    void *larger = realloc(array, count * size);
    if (larger == NULL) *status = VY_NO_MEMORY;
    return larger != NULL ? larger : array;
}

vy_status vy_triggers_reserve(vy_bodies *b, size_t pairs)
{
    trigger_system *t = b->triggers;
    const size_t new_cap = grown_capacity(t->pair_cap, pairs);
    vy_status status = VY_OK;
    if (new_cap == t->pair_cap) return VY_OK;
    if (pairs > MAX_PAIRS) return VY_NO_MEMORY;
    t->pairs = grow_array(t->pairs, new_cap, sizeof *t->pairs, &status);
    t->new_pairs = grow_array(t->new_pairs, new_cap, sizeof *t->new_pairs, &status);
    t->reports = grow_array(t->reports, REPORTS_PER_PAIR * new_cap, sizeof *t->reports, &status);
    if (status == VY_OK) t->pair_cap = new_cap;
    return status;
}

static vy_status reserve_keys(trigger_system *t, size_t keys)
{
    const size_t new_cap = grown_capacity(t->key_cap, keys);
    vy_status status = VY_OK;
    if (keys > MAX_PAIRS) return VY_NO_MEMORY;
    t->keys = grow_array(t->keys, new_cap, sizeof *t->keys, &status);
    t->sorted = grow_array(t->sorted, new_cap, sizeof *t->sorted, &status);
    t->findings = grow_array(t->findings, new_cap, sizeof *t->findings, &status);
    if (status == VY_OK) t->key_cap = new_cap;
    return status;
}

void vy_triggers_invalidate(vy_bodies *b)
{
    if (b->triggers == NULL) return;
    b->triggers->pairs_stale = 1;
}

// ---- pairs

static uint32_t slot_of(uint64_t id) { return (uint32_t)id - 1u; }
static uint64_t key_of(uint32_t trigger, uint32_t body) { return (uint64_t)trigger << 32 | body; }
static uint64_t key_of_pair(const trigger_pair *p) { return key_of(slot_of(p->trigger), slot_of(p->body)); }

int vy_triggers_are_valid(const void *pairs, uint64_t count, uint64_t slots)
{
    uint64_t last_key = 0;
    for (uint64_t k = 0; k < count; ++k) {
        trigger_pair p; // of a caller's memory, aligned or not
        memcpy(&p, (const unsigned char *)pairs + k * sizeof p, sizeof p);
        const uint64_t key = key_of_pair(&p);
        if (slot_of(p.trigger) >= slots || slot_of(p.body) >= slots ||
            slot_of(p.trigger) == slot_of(p.body) || (k > 0 && key <= last_key))
            return 0;
        last_key = key;
    }
    return 1;
}

// Whether a pair overlapped at the end of the last step.
static int overlapped_before(const vy_bodies *b, uint64_t key)
{
    const trigger_system *t = b->triggers;
    uint64_t low = 0, high = t->count->count;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (key_of_pair(&t->pairs[middle]) < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == t->count->count || key_of_pair(&t->pairs[low]) != key) return 0;
    return t->pairs[low].trigger == vy_bodies_at(b, (uint32_t)(key >> 32)).bits &&
           t->pairs[low].body == vy_bodies_at(b, (uint32_t)key).bits;
}

// Whether a trigger looks for a body at all.
static int can_detect(const vy_bodies *b, uint32_t i, uint32_t j)
{
    const body_slot *x = &b->slots[i], *y = &b->slots[j];
    return i != j && y->shape.kind != VY_SHAPE_NONE && !b->filters[j].is_trigger && !x->no_contacts &&
           !y->no_contacts && (x->kind != VY_BODY_STATIC || y->kind != VY_BODY_STATIC) &&
           (vy_shape_is_convex(&x->shape) || vy_shape_is_convex(&y->shape)) && filters_meet(b, i, j) &&
           !vy_contacts_joint_excludes(b, i, j);
}

// Whether a body is where it was at the end of the last step.
static int is_unmoved(const vy_bodies *b, uint32_t i)
{
    switch (b->slots[i].kind) {
    case VY_BODY_STATIC: return !b->disturbed[i];
    case VY_BODY_DYNAMIC: return !b->awake[i];
    case VY_BODY_KINEMATIC: break;
    }
    return 0;
}

// ---- those that may overlap

// The bounds of a body's path through the step, its end included.
static vy_bounds path_bounds(const vy_bodies *b, uint32_t i, double h)
{
    VY_ASSERT(vy_shape_is_convex(&b->slots[i].shape));
    const vy_sweep_path path = vy_impact_path(b, i, h);
    const body_state state = state_at_end(b, i, h);
    const vy_pose pose = body_shape_pose(b, i, &state);
    const vy_bounds path_box = vy_impact_bounds(b, i, &path, 0.0),
                    end_box = vy_shape_bounds(&b->slots[i].shape, &pose);
    return (vy_bounds){
        vec3_make(real_min(path_box.low.x, end_box.low.x), real_min(path_box.low.y, end_box.low.y),
                  real_min(path_box.low.z, end_box.low.z)),
        vec3_make(real_max(path_box.high.x, end_box.high.x), real_max(path_box.high.y, end_box.high.y),
                  real_max(path_box.high.z, end_box.high.z))};
}

// Mark bodies that a query of the tree may miss: without bounds, or not in their boxes any more.
static void mark_missed_by_tree(vy_bodies *b, void *self, size_t first, size_t last)
{
    contact_system *s = b->contacts;
    const double h = *(const double *)self;
    for (uint32_t i = (uint32_t)first; i < last; ++i) {
        s->marked[i] = 0;
        if (b->slots[i].shape.kind == VY_SHAPE_NONE) continue;
        if (s->proxy_of[i] < 0) {
            s->marked[i] = 1;
        } else if (b->awake[i]) {
            const vy_bounds box = path_bounds(b, i, h);
            s->marked[i] = !vy_tree_box_fits(s->tree, s->proxy_of[i], &box, vec3_zero());
        }
    }
}

static void list_missed_by_tree(vy_bodies *b, double h)
{
    contact_system *s = b->contacts;
    uint32_t count = 0;
    vy_bodies_parallel_for(b, b->slot_count, MIN_PARALLEL_BODIES, mark_missed_by_tree, &h);
    for (uint32_t i = 0; i < b->slot_count; ++i) {
        if (s->marked[i]) s->near_bodies[count++] = i;
    }
    b->triggers->missed_count = count;
}

/// A trigger whose pairs are listed.
typedef struct trigger_query {
    const vy_bodies *b;
    uint32_t slot;
} trigger_query;

static void add_key(const trigger_query *q, uint32_t j)
{
    trigger_system *t = q->b->triggers;
    if (!can_detect(q->b, q->slot, j)) return;
    if (t->key_count < t->key_cap) t->keys[t->key_count] = key_of(q->slot, j);
    t->key_count += 1;
}

static void add_proxy(void *self, int proxy)
{
    const trigger_query *q = self;
    const uint32_t j = q->b->contacts->slot_of[proxy];
    if (!q->b->contacts->marked[j]) add_key(q, j);
}

static void list_keys_of(vy_bodies *b, uint32_t i, double h)
{
    const contact_system *s = b->contacts;
    trigger_query q = {b, i};
    if (!vy_shape_is_convex(&b->slots[i].shape)) {
        for (uint32_t j = 0; j < b->slot_count; ++j) add_key(&q, j);
        return;
    }
    const vy_bounds box = path_bounds(b, i, h);
    vy_tree_query_box(s->tree, &box, add_proxy, &q);
    for (uint32_t n = 0; n < b->triggers->missed_count; ++n) add_key(&q, s->near_bodies[n]);
}

// All pairs that may overlap, by their slots.
static vy_status list_keys(vy_bodies *b, double h)
{
    trigger_system *t = b->triggers;
    t->key_count = 0;
    if (b->trigger_count == 0) return VY_OK;
    list_missed_by_tree(b, h);
    for (;;) { // once more when there was no memory for all
        t->key_count = 0;
        for (uint32_t i = 0; i < b->slot_count; ++i) {
            if (b->filters[i].is_trigger) list_keys_of(b, i, h);
        }
        if (t->key_count <= t->key_cap) break;
        if (reserve_keys(t, t->key_count) != VY_OK) return VY_NO_MEMORY;
    }
    if (t->key_count > 0) vy_contacts_sort_keys(t->keys, t->sorted, t->key_count);
    return VY_OK;
}

// ---- whether they do

// Whether a body that overlaps a trigger neither before nor after the step has passed through it.
static int has_passed(const vy_bodies *b, uint32_t i, uint32_t j, double h)
{
    const contact_system *s = b->contacts;
    const vy_sweep_path pi = vy_impact_path(b, i, h), pj = vy_impact_path(b, j, h);
    const double depth = PASS_DEPTH_FRACTION * real_min(s->thickness[i], s->thickness[j]);
    vy_separation separation;
    if (!vy_impact_path_is_bounded(&pi) || !vy_impact_path_is_bounded(&pj)) return 0;
    return vy_sweep_shapes(&b->slots[i].shape, &pi, &b->slots[j].shape, &pj, -depth, depth, 0.0, 1.0,
                           &separation);
}

static trigger_finding finding_of(const vy_bodies *b, uint64_t key, double h)
{
    const uint32_t i = (uint32_t)(key >> 32), j = (uint32_t)key;
    const int overlapped = overlapped_before(b, key);
    if (!b->triggers->pairs_stale && is_unmoved(b, i) && is_unmoved(b, j))
        return overlapped ? OVERLAPS : APART;
    const body_state si = state_at_end(b, i, h), sj = state_at_end(b, j, h);
    const vy_pose pi = body_shape_pose(b, i, &si), pj = body_shape_pose(b, j, &sj);
    if (vy_overlap(&b->slots[i].shape, &pi, &b->slots[j].shape, &pj)) return OVERLAPS;
    return !overlapped && has_passed(b, i, j, h) ? PASSED : APART;
}

static void find_overlaps(vy_bodies *b, void *self, size_t first, size_t last)
{
    const trigger_system *t = b->triggers;
    for (size_t k = first; k < last; ++k)
        t->findings[k] = (unsigned char)finding_of(b, t->keys[k], *(const double *)self);
}

// ---- reports

static void add_report(trigger_system *t, trigger_pair p, vy_contact_phase phase)
{
    VY_ASSERT(t->report_count < REPORTS_PER_PAIR * t->pair_cap);
    t->reports[t->report_count++] = (vy_trigger_report){p.trigger, p.body, phase};
    t->has_changes |= phase != VY_CONTACT_PERSIST;
}

// The pairs of this step replace those of the last one, and what has become of each is reported.
static void update_pairs(vy_bodies *b)
{
    trigger_system *t = b->triggers;
    const uint64_t old_count = t->count->count;
    uint64_t old_index = 0, new_count = 0;
    for (size_t k = 0; k < t->key_count; ++k) {
        if (t->findings[k] == APART) continue;
        const uint64_t key = t->keys[k];
        const trigger_pair p = {vy_bodies_at(b, (uint32_t)(key >> 32)).bits,
                                vy_bodies_at(b, (uint32_t)key).bits};
        while (old_index < old_count && key_of_pair(&t->pairs[old_index]) < key)
            add_report(t, t->pairs[old_index++], VY_CONTACT_END);
        const int has_same_slots = old_index < old_count && key_of_pair(&t->pairs[old_index]) == key;
        const int persists =
            has_same_slots && t->pairs[old_index].trigger == p.trigger && t->pairs[old_index].body == p.body;
        if (has_same_slots && !persists)
            add_report(t, t->pairs[old_index], VY_CONTACT_END); // of a body that was removed
        old_index += (uint64_t)has_same_slots;
        add_report(t, p, persists ? VY_CONTACT_PERSIST : VY_CONTACT_BEGIN);
        if (t->findings[k] == PASSED) {
            add_report(t, p, VY_CONTACT_END);
        } else {
            t->new_pairs[new_count++] = p;
        }
    }
    while (old_index < old_count) add_report(t, t->pairs[old_index++], VY_CONTACT_END);
    trigger_pair *const pairs = t->pairs;
    t->pairs = t->new_pairs;
    t->new_pairs = pairs;
    t->count->count = new_count;
}

vy_status vy_triggers_step(vy_bodies *b, double h)
{
    VY_ASSERT(h > 0.0);
    trigger_system *t = b->triggers;
    t->report_count = 0;
    t->has_changes = 0;
    if ((b->trigger_count == 0 && t->count->count == 0) || b->head->failed) return VY_OK;
    if (list_keys(b, h) != VY_OK || vy_triggers_reserve(b, (size_t)t->count->count + t->key_count) != VY_OK)
        return VY_NO_MEMORY;
    vy_bodies_parallel_for(b, t->key_count, MIN_PARALLEL_PAIRS, find_overlaps, &h);
    update_pairs(b);
    t->pairs_stale = 0;
    return VY_OK;
}

int vy_triggers_are_settled(const vy_bodies *b)
{
    return b->trigger_count == 0 ? b->triggers->report_count == 0 && b->triggers->count->count == 0
                                 : !b->triggers->pairs_stale && !b->triggers->has_changes;
}

uint32_t vy_bodies_trigger_count(const vy_bodies *b)
{
    return b->triggers == NULL ? 0 : b->triggers->report_count;
}

vy_status vy_bodies_trigger(const vy_bodies *b, uint32_t index, vy_trigger_report *out)
{
    if (index >= vy_bodies_trigger_count(b)) return VY_NOT_FOUND;
    *out = b->triggers->reports[index];
    return VY_OK;
}
