// contact_pairs.c - the broad phase: which bodies may touch within a step, by the tree and then by their
// exact swept bounds. The result depends on the bodies' states alone, not on the history of the tree.
#include "geometry/plane.h"
#include "base/assert.h"
#include "dynamics/contacts.h"
#include "geometry/broadphase.h"

enum { MIN_PARALLEL_BODIES = 256, MIN_PARALLEL_PAIRS = 1024 }; // below this, not worth waking threads
enum { REBUILD_RATIO = 2 }; // when one in so many boxes moved, rebuilding the tree is faster

static body_sweep sweep_of(const vy_bodies *b, uint32_t i, double h, double radius)
{
    const body_state *start = &b->contacts->start_state[i];
    return (body_sweep){.displacement = displacement_in_step(b, i, h),
                        .rate = quat_rotate(start->attitude, start->rate),
                        .rotation_reach = h * vec3_length(start->rate) * radius};
}

void vy_contacts_sweep_bounds(vy_bodies *b, uint32_t i, double h)
{
    VY_ASSERT(i < b->slot_count && h > 0.0 && b->slots[i].shape.kind != VY_SHAPE_NONE);
    contact_system *s = b->contacts;
    const body_state *start = &s->start_state[i];
    s->pose[i] = body_shape_pose(b, i, start);
    vy_bounds box = vy_shape_bounds(&b->slots[i].shape, &s->pose[i]);
    const double radius = 0.5 * vec3_length(vec3_sub(box.high, box.low)) + vec3_length(b->slots[i].centroid);
    s->sweep[i] = sweep_of(b, i, h, radius);
    const vec3 displacement = s->sweep[i].displacement;
    const double margin = s->sweep[i].rotation_reach + b->def.contacts.slop;
    box.low.x += real_min(displacement.x, 0.0) - margin;
    box.low.y += real_min(displacement.y, 0.0) - margin;
    box.low.z += real_min(displacement.z, 0.0) - margin;
    box.high.x += real_max(displacement.x, 0.0) + margin;
    box.high.y += real_max(displacement.y, 0.0) + margin;
    box.high.z += real_max(displacement.z, 0.0) + margin;
    s->bounds[i] = box;
}

static void sweep_all(vy_bodies *b, void *self, size_t first, size_t last)
{
    for (size_t i = first; i < last; ++i) {
        const int is_asleep = body_is_dynamic(b, (uint32_t)i) && !b->awake[i]; // it has not moved
        if (b->contacts->proxy_of[i] >= 0 && !is_asleep)
            vy_contacts_sweep_bounds(b, (uint32_t)i, *(const double *)self);
    }
}

// Merge sort. All keys differ, so the order is total.
void vy_contacts_sort_keys(uint64_t *keys, uint64_t *scratch, size_t count)
{
    VY_ASSERT(keys != scratch);
    int is_sorted = 1;
    for (size_t i = 1; i < count && is_sorted; ++i) is_sorted = keys[i - 1] < keys[i];
    if (is_sorted) return;
    uint64_t *from = keys, *to = scratch;
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t low = 0; low < count; low += 2 * width) {
            const size_t mid = low + width < count ? low + width : count;
            const size_t high = low + 2 * width < count ? low + 2 * width : count;
            size_t i = low, j = mid;
            for (size_t k = low; k < high; ++k)
                to[k] = i < mid && (j >= high || from[i] < from[j]) ? from[i++] : from[j++];
        }
        uint64_t *const t = from;
        from = to;
        to = t;
    }
    if (from != keys) memcpy(keys, from, count * sizeof *keys);
}

// Whether the bodies of a joint do not collide: by its kind, not where it holds them at a common anchor, for
// their shapes may overlap there.
static int joint_excludes(const vy_joint_def *def)
{
    return def->collide_connected == VY_JOINT_COLLIDE_BY_KIND
               ? !vy_joint_has(def->kind, VY_JOINT_HAS_LENGTH)
               : def->collide_connected == VY_JOINT_COLLIDE_OFF;
}

int vy_contacts_joint_excludes(const vy_bodies *b, uint32_t i, uint32_t j)
{
    const joint_system *joints = b->joints;
    if (!joints->first_joint[i] || !joints->first_joint[j]) return 0;
    for (uint32_t k = joints->first_joint[i]; k != 0;) {
        const joint_slot *joint = &joints->slots[k - 1];
        VY_ASSERT(joint->used && (joint->body[0] == i || joint->body[1] == i));
        const int side = joint->body[0] != i;
        if (joint->body[!side] == j && joint_excludes(&joint->def) &&
            !joint_is_broken(&b->joint_state[k - 1]))
            return 1;
        k = joint->next_joint[side];
    }
    return 0;
}

// Whether a pair never collides.
static int is_filtered(const vy_bodies *b, uint32_t i, uint32_t j)
{
    return b->slots[i].no_contacts || b->slots[j].no_contacts || !filters_collide(b, i, j) ||
           vy_contacts_joint_excludes(b, i, j);
}

static int either_awake(const vy_bodies *b, uint32_t i, uint32_t j) { return b->awake[i] || b->awake[j]; }

int vy_contacts_may_collide(const vy_bodies *b, uint32_t i, uint32_t j)
{
    const int have_shapes =
        b->slots[i].shape.kind != VY_SHAPE_NONE && b->slots[j].shape.kind != VY_SHAPE_NONE;
    return have_shapes && either_awake(b, i, j) && !is_filtered(b, i, j);
}

// ---- pairs of the tree: they stay valid while no box moves

// Sort keys into `out`: by their first slot into buckets, and each bucket, which is short, by insertion.
static void sort_pairs(vy_bodies *b, const uint64_t *keys, size_t count, uint64_t *out)
{
    VY_ASSERT(count <= b->contacts->capacity.pairs && keys != out);
    contact_system *s = b->contacts;
    uint32_t *const bucket_end = s->bucket + 1;
    memset(s->bucket, 0, ((size_t)b->slot_count + 1) * sizeof *s->bucket);
    for (size_t k = 0; k < count; ++k) bucket_end[keys[k] >> 32] += 1;
    for (uint32_t i = 0; i < b->slot_count; ++i) bucket_end[i] += s->bucket[i];
    for (size_t k = 0; k < count; ++k) out[s->bucket[keys[k] >> 32]++] = keys[k];
    for (size_t k = 1; k < count; ++k) { // no key moves beyond its bucket
        const uint64_t key = out[k];
        VY_ASSERT(key >> 32 < (uint32_t)key && (uint32_t)key < b->slot_count);
        size_t place = k;
        for (; place > 0 && out[place - 1] > key; --place) out[place] = out[place - 1];
        VY_ASSERT(place == 0 || out[place - 1] < key);
        out[place] = key;
    }
}

// Merge sorted keys, which all differ, into tree_keys.
static void merge_pairs(contact_system *s, const uint64_t *kept, size_t kept_count, const uint64_t *added,
                        size_t added_count)
{
    VY_ASSERT(kept_count + added_count <= s->capacity.pairs);
    size_t i = 0, n = 0;
    for (size_t k = 0; k < added_count; ++k) {
        while (i < kept_count && kept[i] < added[k]) s->tree_keys[n++] = kept[i++];
        s->tree_keys[n++] = added[k];
    }
    while (i < kept_count) s->tree_keys[n++] = kept[i++];
    s->tree_key_count = n;
}

// Find all pairs again.
static vy_status list_tree_pairs(vy_bodies *b)
{
    contact_system *s = b->contacts;
    size_t found_count = 0, key_count = 0;
    while (vy_tree_collect_pairs(s->tree, s->pairs, s->capacity.pairs, &found_count) != VY_OK) {
        if (vy_contacts_reserve(b, found_count, 0) != VY_OK) return VY_NO_MEMORY;
    }
    for (size_t k = 0; k < found_count; ++k) {
        const uint32_t i = s->slot_of[s->pairs[k].a], j = s->slot_of[s->pairs[k].b];
        VY_ASSERT(i != j && i < b->slot_count && j < b->slot_count);
        if (either_awake(b, i, j)) s->keys[key_count++] = contact_key(i, j);
    }
    sort_pairs(b, s->keys, key_count, s->tree_keys);
    s->tree_key_count = key_count;
    return VY_OK;
}

enum { FOUND_KEYS = 64 };

/// The body whose pairs are queried, and what was found: threads add it to the keys block by block.
typedef struct tree_query_body {
    vy_bodies *b;
    uint32_t slot;
    uint32_t count;
    uint64_t found_keys[FOUND_KEYS];
} tree_query_body;

static void flush_found_pairs(tree_query_body *query)
{
    contact_system *s = query->b->contacts;
    const size_t first = atomic_fetch_add_explicit(&s->found_pair_count, query->count, memory_order_relaxed),
                 room_count = first < s->capacity.pairs ? s->capacity.pairs - first : 0;
    for (size_t n = 0; n < query->count && n < room_count; ++n) {
        VY_ASSERT(first + n < s->capacity.pairs);
        s->keys[first + n] = query->found_keys[n];
    }
    query->count = 0;
}

// When both have moved, the lower slot adds the pair.
static void add_pair(void *self, int proxy)
{
    tree_query_body *query = self;
    const contact_system *s = query->b->contacts;
    const uint32_t i = query->slot, j = s->slot_of[proxy];
    VY_ASSERT(s->proxy_of[j] == proxy && s->box_moved[i]);
    if (i == j || (j < i && s->box_moved[j]) || !either_awake(query->b, i, j)) return;
    query->found_keys[query->count++] = contact_key(i, j);
    if (query->count == FOUND_KEYS) flush_found_pairs(query);
}

static void query_moved_boxes(vy_bodies *b, void *self, size_t first, size_t last)
{
    (void)self;
    const contact_system *s = b->contacts;
    tree_query_body query;
    query.b = b;
    query.count = 0;
    for (size_t i = first; i < last; ++i) {
        if (!s->box_moved[i]) continue;
        query.slot = (uint32_t)i;
        vy_tree_query_proxy(s->tree, s->proxy_of[i], add_pair, &query);
    }
    if (query.count > 0) flush_found_pairs(&query);
}

// Query the boxes that have moved and keep the other pairs. The order in which pairs are found depends on the
// threads, the set does not; then they are sorted.
static vy_status update_tree_pairs(vy_bodies *b)
{
    contact_system *s = b->contacts;
    size_t key_count, kept_count;
    do { // once more when there was no memory for all
        key_count = 0;
        for (size_t k = 0; k < s->tree_key_count; ++k) {
            const uint64_t key = s->tree_keys[k];
            if (!s->box_moved[key >> 32] && !s->box_moved[(uint32_t)key]) s->keys[key_count++] = key;
        }
        const size_t old_capacity = s->capacity.pairs;
        kept_count = key_count;
        atomic_store_explicit(&s->found_pair_count, key_count, memory_order_relaxed);
        vy_bodies_parallel_for(b, b->slot_count, MIN_PARALLEL_BODIES, query_moved_boxes, NULL);
        key_count = atomic_load_explicit(&s->found_pair_count, memory_order_relaxed);
        if (key_count <= old_capacity) break;
    } while (vy_contacts_reserve(b, key_count, 0) == VY_OK);
    if (key_count > s->capacity.pairs) return VY_NO_MEMORY;
    sort_pairs(b, s->keys + kept_count, key_count - kept_count, s->sorted);
    merge_pairs(s, s->keys, kept_count, s->sorted, key_count - kept_count);
    return VY_OK;
}

static vec3 predicted_displacement(const vy_bodies *b, size_t i, double h)
{
    return vec3_scale(h, b->state[i].velocity);
}

static void mark_moved_boxes(vy_bodies *b, void *self, size_t first, size_t last)
{
    contact_system *s = b->contacts;
    const double h = *(const double *)self;
    for (size_t i = first; i < last; ++i) {
        VY_ASSERT(s->proxy_of[i] < 0 || s->slot_of[s->proxy_of[i]] == i);
        s->box_moved[i] = s->proxy_of[i] >= 0 && !vy_tree_box_fits(s->tree, s->proxy_of[i], &s->bounds[i],
                                                                   predicted_displacement(b, i, h));
    }
}

// Moving boxes one by one degrades the tree, so from time to time it is rebuilt.
static void move_boxes(vy_bodies *b, uint32_t count, double h)
{
    VY_ASSERT(count > 0 && count <= b->slot_count);
    contact_system *s = b->contacts;
    s->moved_count += count;
    const int must_rebuild = s->moved_count > b->slot_count / REBUILD_RATIO;
    for (uint32_t i = 0; i < b->slot_count; ++i) {
        if (!s->box_moved[i]) continue;
        if (must_rebuild) {
            vy_tree_replace(s->tree, s->proxy_of[i], &s->bounds[i], predicted_displacement(b, i, h));
        } else {
            (void)vy_tree_move(s->tree, s->proxy_of[i], &s->bounds[i], predicted_displacement(b, i, h), NULL);
        }
    }
    if (!must_rebuild) return;
    vy_tree_rebuild(s->tree);
    s->moved_count = 0;
}

// Update boxes and pairs of the tree.
static vy_status refresh_tree(vy_bodies *b, double h)
{
    contact_system *s = b->contacts;
    uint32_t moved_count = 0;
    vy_bodies_parallel_for(b, b->slot_count, MIN_PARALLEL_BODIES, mark_moved_boxes, &h);
    for (uint32_t i = 0; i < b->slot_count; ++i) moved_count += s->box_moved[i] != 0;
    if (!s->pairs_stale && moved_count == 0) return VY_OK;
    if (moved_count > 0) move_boxes(b, moved_count, h);
    const vy_status status = s->pairs_stale || moved_count > b->slot_count / REBUILD_RATIO
                                 ? list_tree_pairs(b)
                                 : update_tree_pairs(b);
    s->pairs_stale = status != VY_OK;
    return status;
}

/// A plane or height field whose pairs are listed.
typedef struct ground_body {
    uint32_t slot;
    vec3 up; // the normal of a flat plane, world axes
} ground_body;

static ground_body ground_of(const vy_bodies *b, uint32_t slot)
{
    const vy_shape *shape = &b->slots[slot].shape;
    const int is_plane = shape->kind == VY_SHAPE_PLANE;
    return (ground_body){slot, is_plane ? quat_rotate(b->contacts->pose[slot].rotation, shape->plane.normal)
                                        : vec3_zero()};
}

// Whether a body's swept bounds stay above a static plane.
static int is_above_plane(const vy_bodies *b, const ground_body *ground, uint32_t i)
{
    VY_ASSERT(b->contacts->proxy_of[i] >= 0 && b->contacts->proxy_of[ground->slot] < 0);
    const body_slot *slot = &b->slots[ground->slot];
    if (slot->shape.kind != VY_SHAPE_PLANE || slot->kind != VY_BODY_STATIC) return 0;
    const vy_pose *pose = &b->contacts->pose[ground->slot];
    const vy_bounds *box = &b->contacts->bounds[i];
    vec3 up = ground->up;
    double offset = slot->shape.plane.offset;
    if (slot->shape.plane.globe != NULL) { // its surface below the body
        const vec3 middle = vec3_scale(0.5, vec3_add(box->low, box->high));
        const vy_plane local_plane = vy_plane_below(&slot->shape.plane, pose, middle);
        up = quat_rotate(pose->rotation, local_plane.normal);
        offset = local_plane.offset;
    }
    const vec3 lowest_corner =
        vec3_make(up.x > 0.0 ? box->low.x : box->high.x, up.y > 0.0 ? box->low.y : box->high.y,
                  up.z > 0.0 ? box->low.z : box->high.z);
    return vec3_dot(up, vec3_sub(lowest_corner, pose->position)) - offset > b->def.contacts.slop;
}

// Whether a body's swept bounds stay above a static height field, or beside it.
static int is_off_field(const vy_bodies *b, uint32_t ground, uint32_t i)
{
    const body_slot *slot = &b->slots[ground];
    if (slot->shape.kind != VY_SHAPE_HEIGHT_FIELD || slot->kind != VY_BODY_STATIC) return 0;
    const vy_height_field *field = &slot->shape.field;
    const vy_pose pose = b->contacts->pose[ground];
    const mat3 r = quat_matrix(pose.rotation);
    const vy_bounds *box = &b->contacts->bounds[i];
    const vec3 half = vec3_scale(0.5, vec3_sub(box->high, box->low)),
               centre = mat3_tmul_vec(r, vec3_sub(vec3_add(box->low, half), pose.position));
    const double margin = b->def.contacts.slop, size_x = field->spacing * (field->nx - 1),
                 size_y = field->spacing * (field->ny - 1);
    const double half_x = real_abs(r.m[0][0]) * half.x + real_abs(r.m[1][0]) * half.y +
                          real_abs(r.m[2][0]) * half.z,
                 half_y = real_abs(r.m[0][1]) * half.x + real_abs(r.m[1][1]) * half.y +
                          real_abs(r.m[2][1]) * half.z,
                 half_z = real_abs(r.m[0][2]) * half.x + real_abs(r.m[1][2]) * half.y +
                          real_abs(r.m[2][2]) * half.z;
    return centre.z - half_z - margin > field->high || centre.x + half_x + margin < 0.0 ||
           centre.y + half_y + margin < 0.0 || centre.x - half_x - margin > size_x ||
           centre.y - half_y - margin > size_y;
}

// How many contacts a pair may have.
static size_t max_contacts(const vy_bodies *b, uint64_t key)
{
    return b->slots[key >> 32].shape.kind == VY_SHAPE_HEIGHT_FIELD ||
                   b->slots[(uint32_t)key].shape.kind == VY_SHAPE_HEIGHT_FIELD
               ? VY_COLLIDE_MANIFOLDS
               : 1;
}

// Mark the bodies that may touch a plane or a height field, *self.
static void mark_near_ground(vy_bodies *b, void *self, size_t first, size_t last)
{
    const ground_body *ground = self;
    for (uint32_t i = (uint32_t)first; i < last; ++i)
        b->contacts->marked[i] = b->contacts->proxy_of[i] >= 0 && !is_above_plane(b, ground, i) &&
                                 !is_off_field(b, ground->slot, i) &&
                                 vy_contacts_may_collide(b, ground->slot, i);
}

// Planes and height fields have no bounds: pairs with every body, sorted; and how many contacts they may
// have.
static vy_status list_ground_pairs(vy_bodies *b, double h, size_t *count, size_t *max_contact_count)
{
    contact_system *s = b->contacts;
    size_t n = 0;
    *max_contact_count = 0;
    for (uint32_t i = 0; i < b->slot_count; ++i) {
        const vy_shape *shape = &b->slots[i].shape;
        if (shape->kind == VY_SHAPE_NONE || s->proxy_of[i] >= 0 || vy_shape_is_convex(shape)) continue;
        s->pose[i] = body_shape_pose(b, i, &s->start_state[i]);
        s->sweep[i] = sweep_of(b, i, h, 0.0);
        ground_body ground = ground_of(b, i);
        vy_bodies_parallel_for(b, b->slot_count, MIN_PARALLEL_BODIES, mark_near_ground, &ground);
        for (uint32_t j = 0; j < b->slot_count; ++j) {
            if (!s->marked[j]) continue;
            if (vy_contacts_reserve(b, n + 1, 0) != VY_OK) return VY_NO_MEMORY;
            s->sorted[n] = contact_key(i, j);
            *max_contact_count += max_contacts(b, s->sorted[n++]);
        }
    }
    vy_contacts_sort_keys(s->sorted, s->keys, n);
    *count = n;
    return VY_OK;
}

// Add a pair as often as it may have contacts.
static size_t add_key(const vy_bodies *b, uint64_t key, size_t n)
{
    for (size_t remaining = max_contacts(b, key); remaining > 0; --remaining) b->contacts->keys[n++] = key;
    return n;
}

static void filter_pairs(vy_bodies *b, void *self, size_t first, size_t last)
{
    (void)self;
    const contact_system *s = b->contacts;
    for (size_t k = first; k < last; ++k) {
        const uint32_t i = (uint32_t)(s->tree_keys[k] >> 32), j = (uint32_t)s->tree_keys[k];
        s->pair_passes[k] = bounds_overlap(&s->bounds[i], &s->bounds[j]) && !is_filtered(b, i, j);
    }
}

vy_status vy_contacts_find_pairs(vy_bodies *b, double h, size_t *count)
{
    contact_system *s = b->contacts;
    size_t ground_count = 0, ground_contact_count = 0, n = 0, ground_index = 0;
    vy_bodies_parallel_for(b, b->slot_count, MIN_PARALLEL_BODIES, sweep_all, &h);
    if (refresh_tree(b, h) != VY_OK ||
        list_ground_pairs(b, h, &ground_count, &ground_contact_count) != VY_OK ||
        vy_contacts_reserve(b, s->tree_key_count + ground_contact_count, 0) != VY_OK)
        return VY_NO_MEMORY;
    vy_bodies_parallel_for(b, s->tree_key_count, MIN_PARALLEL_PAIRS, filter_pairs, NULL);
    for (size_t k = 0; k < s->tree_key_count; ++k) {
        const uint64_t key = s->tree_keys[k];
        if (!s->pair_passes[k]) continue;
        while (ground_index < ground_count && s->sorted[ground_index] < key)
            n = add_key(b, s->sorted[ground_index++], n);
        VY_ASSERT(n == 0 || s->keys[n - 1] < key);
        s->keys[n++] = key;
    }
    while (ground_index < ground_count) n = add_key(b, s->sorted[ground_index++], n);
    VY_ASSERT(n <= s->capacity.pairs);
    *count = n;
    return VY_OK;
}
