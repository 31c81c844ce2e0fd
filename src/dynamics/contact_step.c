// contact_step.c - contacts in a step: find them, build islands, solve them, update the cache and the
// reports.
#include "base/assert.h"
#include "dynamics/free_step.h"
#include "dynamics/impacts.h"
#include "dynamics/sleep.h"
#include "dynamics/triggers.h"

enum {
    MIN_PARALLEL_RECORDS = 256,
    MIN_PARALLEL_HEADERS = 2048,
    MIN_PARALLEL_COPIES = 2048
}; // below this, not worth waking threads

static void copy_start_states(vy_bodies *b, void *self, size_t first, size_t last)
{
    (void)self;
    memcpy(b->contacts->start_state + first, b->state + first, (last - first) * sizeof *b->state);
}

void vy_contacts_begin(vy_bodies *b)
{
    if (b->contacts == NULL) return;
    if (vy_bodies_asleep(b) == 0) {
        vy_bodies_parallel_for(b, b->slot_count, MIN_PARALLEL_COPIES, copy_start_states, NULL);
        return;
    }
    for (uint32_t i = 0; i < b->slot_count; ++i) { // sleeping bodies have not moved
        if (b->awake[i] || !body_is_dynamic(b, i)) b->contacts->start_state[i] = b->state[i];
    }
    vy_sleep_begin(b, b->def.dt);
}

// ---- islands: bodies that move, connected by contacts and joints

static void join_islands(vy_bodies *b)
{
    contact_system *s = b->contacts;
    for (uint32_t i = 0; i < b->slot_count; ++i) {
        s->parent[i] = i;
        s->island_solve_mode[i] = SOLVE_NONE;
        s->cold_votes[i] = 0;
        s->solve_mode_mask[i] = 0;
    }
    for (uint32_t k = 0; k < s->count; ++k) {
        const contact_header *c = &s->headers[k];
        if ((c->flags & MOVES_A) == 0 || (c->flags & MOVES_B) == 0) continue;
        islands_join(s->parent, c->a, c->b);
    }
    if (b->joints->island_count > 0) vy_jointed_join_islands(b);
    // A root is the lowest body of its island, so parents come first. With them as roots, finding one is
    // short.
    for (uint32_t i = 0; i < b->slot_count; ++i) s->parent[i] = s->parent[s->parent[i]];
}

static void set_contact_islands(vy_bodies *b, void *self, size_t first, size_t last)
{
    (void)self;
    contact_system *s = b->contacts;
    for (size_t k = first; k < last; ++k) {
        contact_header *c = &s->headers[k];
        c->island = s->parent[c->flags & MOVES_A ? c->a : c->b];
        VY_ASSERT(c->island == find_island(s, c));
    }
}

// ---- which islands touch

int vy_paths_collide(const vy_bodies *b, uint32_t i, uint32_t j, double h)
{
    VY_ASSERT(i != j && i < b->slot_count && j < b->slot_count);
    const vy_shape *shape_a = &b->slots[i].shape, *shape_b = &b->slots[j].shape;
    const body_state *start_a = &b->contacts->start_state[i], *start_b = &b->contacts->start_state[j];
    const body_state end_a = state_at_end(b, i, h), end_b = state_at_end(b, j, h);
    const vy_pose end_pose_a = body_shape_pose(b, i, &end_a), end_pose_b = body_shape_pose(b, j, &end_b);
    if (vy_overlap(shape_a, &end_pose_a, shape_b, &end_pose_b)) return 1;
    if (vy_impacts_is_fast(b, i, h) || vy_impacts_is_fast(b, j, h)) return vy_impacts_collide(b, i, j, h);
    if (!vy_shape_is_convex(shape_a) || !vy_shape_is_convex(shape_b)) return 0;
    const vy_pose start_pose_a = body_shape_pose(b, i, start_a),
                  start_pose_b = body_shape_pose(b, j, start_b);
    const vec3 displacement = vec3_sub(vec3_sub(end_pose_b.position, start_pose_b.position),
                                       vec3_sub(end_pose_a.position, start_pose_a.position));
    vy_cast_hit hit;
    int is_hit = 0;
    if (vy_shape_cast(shape_a, &start_pose_a, shape_b, &start_pose_b, displacement, NULL, &is_hit, &hit) ==
            VY_OK &&
        !is_hit)
        return 0;
    return vy_impacts_collide(b, i, j, h); // a corner that swings back may be met by the cast alone
}

// Islands most of whose contacts are new have no impulses to start from.
static void find_cold_starts(vy_bodies *b)
{
    contact_system *s = b->contacts;
    for (uint32_t k = 0; k < s->count; ++k) {
        const uint32_t root = s->headers[k].island;
        if (s->island_solve_mode[root]) s->cold_votes[root] += s->headers[k].flags & NEW_AT_REST ? 1 : -1;
    }
    for (uint32_t i = 0; i < b->slot_count; ++i) {
        if (s->cold_votes[i] > 0) s->island_solve_mode[i] = SOLVE_COLD;
    }
}

static void find_solve_modes(vy_bodies *b, double h)
{
    contact_system *s = b->contacts;
    for (uint32_t k = 0; k < s->count; ++k) {
        if (s->headers[k].flags & KEEPS_TOUCHING) s->island_solve_mode[s->headers[k].island] = SOLVE_WARM;
    }
    for (uint32_t k = 0; k < s->count; ++k) {
        const uint32_t root = s->headers[k].island;
        if (!s->island_solve_mode[root] && !contact_is_of_previous_pair(s, k) &&
            vy_paths_collide(b, s->headers[k].a, s->headers[k].b, h))
            s->island_solve_mode[root] = SOLVE_WARM;
    }
    find_cold_starts(b);
    if (b->joints->island_count > 0) vy_jointed_mark_islands(b);
    for (uint32_t k = 0; k < s->count; ++k) {
        contact_header *c = &s->headers[k];
        c->solve_mode = (uint8_t)s->island_solve_mode[c->island];
        VY_ASSERT((c->flags & MOVES_A) == 0 || (c->flags & MOVES_B) == 0 ||
                  island_root(s->parent, c->a) == island_root(s->parent, c->b));
        s->solve_mode_mask[c->a] |= c->solve_mode; // a body that does not move may belong to several islands
        s->solve_mode_mask[c->b] |= c->solve_mode;
    }
}

// ---- VY_CONTACT_SOLVER_IMPULSE: one impulse per contact

static vec3 velocity_at(const body_state *s, vec3 lever)
{
    return vec3_add(s->velocity, quat_rotate(s->attitude, vec3_cross(s->rate, lever)));
}

// Impulse j = -(1 + e) v.n / d (docs/contacts.md), with the free flight's velocities and the point between
// the surfaces.
double vy_contact_apply_impulse(vy_bodies *b, contact *c, vec3 point, vec3 n)
{
    VY_ASSERT(vec3_is_unit(n));
    body_state *sa = &b->state[c->a], *sb = &b->state[c->b];
    const body_params *pa = &b->params[c->a], *pb = &b->params[c->b];
    const vec3 ra = quat_unrotate(sa->attitude, vec3_sub(point, sa->position)),
               rb = quat_unrotate(sb->attitude, vec3_sub(point, sb->position));
    const double speed = vec3_dot(vec3_sub(velocity_at(sb, rb), velocity_at(sa, ra)), n);
    if (!(speed < 0.0)) return 0.0;
    const vec3 na = quat_unrotate(sa->attitude, n), nb = quat_unrotate(sb->attitude, n);
    const vec3 ta = mat3_mul_vec(pa->inverse_inertia, vec3_cross(ra, na)),
               tb = mat3_mul_vec(pb->inverse_inertia, vec3_cross(rb, nb));
    const double d = (pa->inverse_mass + pb->inverse_mass) +
                     (vec3_dot(vec3_cross(ta, ra), na) + vec3_dot(vec3_cross(tb, rb), nb));
    VY_ASSERT(d > 0.0);
    const double j = -(1.0 + c->restitution) * speed / d;
    c->relative_velocity[0] = speed;
    sa->velocity = vec3_add_scaled(sa->velocity, -j * pa->inverse_mass, n);
    sb->velocity = vec3_add_scaled(sb->velocity, j * pb->inverse_mass, n);
    sa->rate = vec3_add_scaled(sa->rate, -j, ta);
    sb->rate = vec3_add_scaled(sb->rate, j, tb);
    c->total_impulse = vec3_scale(j, n);
    return j;
}

static void correct_position(vy_bodies *b, const contact *c, double depth, vec3 n)
{
    const double ia = b->params[c->a].inverse_mass, ib = b->params[c->b].inverse_mass;
    VY_ASSERT(ia + ib > 0.0);
    const double position_impulse =
        real_max(depth - b->def.contacts.slop, 0.0) * b->def.contacts.correction / (ia + ib);
    b->state[c->a].position = vec3_add_scaled(b->state[c->a].position, -ia * position_impulse, n);
    b->state[c->b].position = vec3_add_scaled(b->state[c->b].position, ib * position_impulse, n);
}

static void solve_impulses(vy_bodies *b)
{
    contact_system *s = b->contacts;
    for (uint32_t k = 0; k < s->count; ++k) {
        contact *c = &s->contacts[k];
        const vy_pose pose_a = body_shape_pose(b, c->a, &b->state[c->a]),
                      pose_b = body_shape_pose(b, c->b, &b->state[c->b]);
        vy_manifold manifolds[VY_COLLIDE_MANIFOLDS];
        int count = 0;
        const int manifold_index = (int)contact_manifold_index(s, k);
        if (vy_collide_all(&b->slots[c->a].shape, &pose_a, &b->slots[c->b].shape, &pose_b, 0.0, manifolds,
                           &count) != VY_OK ||
            manifold_index >= count)
            continue;
        const vy_manifold manifold = manifolds[manifold_index];
        vec3 point = vec3_zero(); // the centre of the manifold
        for (int i = 0; i < manifold.count; ++i)
            point = vec3_add_scaled(point, 0.5 / manifold.count,
                                    vec3_add(manifold.points[i].point_a, manifold.points[i].point_b));
        c->normal = manifold.normal;
        c->point_count = 1;
        c->points[0] = (contact_point){.normal_impulse = 0.0};
        c->points[0].local_anchor_a =
            quat_unrotate(b->state[c->a].attitude, vec3_sub(point, b->state[c->a].position));
        c->points[0].normal_impulse = c->total_normal_impulse[0] =
            vy_contact_apply_impulse(b, c, point, manifold.normal);
        s->headers[k].impulse_points = c->total_normal_impulse[0] > 0.0;
        correct_position(b, c, manifold.points[0].depth, manifold.normal);
        b->disturbed[c->a] = b->disturbed[c->b] = 1; // joints project again
    }
}

// ---- cache and reports

void vy_contact_write_cache(const contact *c, uint32_t manifold_index, contact_cache *cached)
{
    VY_ASSERT(c->a < c->b && c->point_count >= 1 && c->point_count <= VY_MANIFOLD_POINTS);
    uint32_t count = 0;
    for (int i = 0; i < c->point_count; ++i) {
        if (!(c->total_normal_impulse[i] > 0.0)) continue;
        cached->local_anchor_a[count] = c->points[i].local_anchor_a;
        cached->normal_impulse[count++] = c->points[i].normal_impulse;
    }
    cached->a = c->a;
    cached->b = c->b;
    cached->point_count = count;
    cached->manifold_index = manifold_index;
    for (; count < VY_MANIFOLD_POINTS; ++count) { // state: no bits of another contact
        cached->local_anchor_a[count] = vec3_zero();
        cached->normal_impulse[count] = 0.0;
    }
    const vec3 tangent_2 = vec3_cross(c->normal, c->tangent_1);
    cached->mean_normal_impulse = c->mean_normal_impulse;
    cached->friction_impulse =
        vec3_add_scaled(vec3_scale(c->tangent_impulse_1, c->tangent_1), c->tangent_impulse_2, tangent_2);
    cached->angular_impulse = vec3_add_scaled(
        vec3_add_scaled(vec3_scale(c->rolling_impulse_1, c->tangent_1), c->rolling_impulse_2, tangent_2),
        c->twist_impulse, c->normal);
    cached->normal = c->normal;
}

// What a contact did in the step: from its sums where that was divided.
VY_FN contact_sum contact_sum_of(const vy_bodies *b, uint32_t k)
{
    const contact_system *s = b->contacts;
    const contact *c = &s->contacts[k];
    if (s->headers[k].flags & HAS_INTERVALS) return s->sums[k];
    const body_state *sa = &b->state[c->a];
    contact_sum sum = {.impulse = c->total_impulse, .normal = c->normal};
    sum.points = contact_sum_points(c, sa->position, sa->attitude, &sum);
    return sum;
}

// Of all contacts of a pair, whose records are [n, ...).
static void write_report(const vy_bodies *b, size_t n, size_t count, vy_contact_report *out)
{
    const contact_system *s = b->contacts;
    const contact_header *c = &s->headers[s->records[n].contact];
    contact_sum pair_sum = contact_sum_of(b, s->records[n].contact);
    vec3 normal_sum = vec3_scale(pair_sum.normal_impulse, pair_sum.normal);
    const size_t first = n;
    while (++n < count && s->records[n].report == s->records[first].report) {
        const contact_sum sum = contact_sum_of(b, s->records[n].contact);
        normal_sum = vec3_add_scaled(normal_sum, sum.normal_impulse, sum.normal);
        pair_sum.impulse = vec3_add(pair_sum.impulse, sum.impulse);
        pair_sum.weighted_point = vec3_add(pair_sum.weighted_point, sum.weighted_point);
        pair_sum.normal_impulse += sum.normal_impulse;
        pair_sum.min_velocity = real_min(pair_sum.min_velocity, sum.min_velocity);
        pair_sum.points += sum.points;
        pair_sum.normal = vec3_scale(1.0 / real_max(vec3_length(normal_sum), 1e-300), normal_sum);
    }
    VY_ASSERT(pair_sum.points >= 1 && pair_sum.normal_impulse > 0.0);
    *out = (vy_contact_report){.a = vy_bodies_at(b, c->a).bits,
                               .b = vy_bodies_at(b, c->b).bits,
                               .phase = s->records[first].persists ? VY_CONTACT_PERSIST : VY_CONTACT_BEGIN,
                               .points = pair_sum.points,
                               .normal = pair_sum.normal,
                               .point = vec3_scale(1.0 / pair_sum.normal_impulse, pair_sum.weighted_point),
                               .impulse = pair_sum.impulse,
                               .speed = -pair_sum.min_velocity};
}

static vy_contact_report report_end(const vy_bodies *b, uint64_t key)
{
    return (vy_contact_report){.a = vy_bodies_at(b, (uint32_t)(key >> 32)).bits,
                               .b = vy_bodies_at(b, (uint32_t)key).bits,
                               .phase = VY_CONTACT_END};
}

static void write_records(vy_bodies *b, void *self, size_t first, size_t last)
{
    const contact_system *s = b->contacts;
    const size_t count = *(const size_t *)self;
    for (size_t n = first; n < last; ++n) {
        const contact_record record = s->records[n];
        vy_contact_write_cache(&s->contacts[record.contact], record.manifold_index, &b->contact_cache[n]);
        if (record.manifold_index == 0) write_report(b, n, count, &s->reports[record.report]);
    }
}

// Cache and reports of this step's contacts; between them, in the order of slots, the reports of pairs whose
// contacts ended.
static void update_cache(vy_bodies *b)
{
    contact_system *s = b->contacts;
    const uint64_t previous_count = b->contact_count->count;
    VY_ASSERT(previous_count <= s->capacity.contacts && s->count <= s->capacity.contacts);
    uint64_t previous_index = 0, previous_pair_count = 0;
    uint32_t report_count = 0;
    size_t record_count = 0;
    for (uint64_t k = 0; k < previous_count; ++k) { // each pair once
        const uint64_t key = contact_key(b->contact_cache[k].a, b->contact_cache[k].b);
        if (b->contact_cache[k].manifold_index == 0) s->previous_keys[previous_pair_count++] = key;
    }
    for (uint32_t k = 0; k < s->count; ++k) {
        if (s->headers[k].impulse_points == 0) continue;
        const uint64_t key = contact_key(s->headers[k].a, s->headers[k].b);
        const contact_header *last_recorded =
            record_count > 0 ? &s->headers[s->records[record_count - 1].contact] : NULL;
        if (last_recorded != NULL && contact_key(last_recorded->a, last_recorded->b) == key) {
            s->records[record_count] = s->records[record_count - 1];
            s->records[record_count].contact = k;
            s->records[record_count++].manifold_index += 1;
            continue;
        }
        VY_ASSERT(previous_index + 1 >= previous_pair_count ||
                  s->previous_keys[previous_index] < s->previous_keys[previous_index + 1]);
        while (previous_index < previous_pair_count && s->previous_keys[previous_index] < key)
            s->reports[report_count++] = report_end(b, s->previous_keys[previous_index++]);
        const uint32_t persists =
            previous_index < previous_pair_count && s->previous_keys[previous_index] == key;
        previous_index += persists;
        s->records[record_count++] =
            (contact_record){.contact = k, .report = report_count++, .persists = persists};
    }
    while (previous_index < previous_pair_count)
        s->reports[report_count++] = report_end(b, s->previous_keys[previous_index++]);
    VY_ASSERT(record_count <= s->count && report_count <= 2 * s->capacity.contacts);
    vy_bodies_parallel_for(b, record_count, MIN_PARALLEL_RECORDS, write_records, &record_count);
    b->contact_count->count = record_count;
    s->report_count = report_count;
}

// There is no memory for the contacts of the step: nobody has moved in it.
static uint32_t end_out_of_memory(vy_bodies *b)
{
    for (uint32_t i = 0; i < b->slot_count; ++i) b->state[i] = b->contacts->start_state[i];
    b->contacts->count = b->contacts->report_count = b->triggers->report_count = 0;
    b->head->failed = VY_BODIES_NO_MEMORY;
    return VY_BODIES_NO_MEMORY;
}

uint32_t vy_contacts_step(vy_bodies *b, double h)
{
    VY_ASSERT(h > 0.0);
    if (b->contacts == NULL) return 0;
    uint32_t events = 0;
    vy_sleep_after_flight(b, h);
    do {
        vy_impacts_begin(b);
        if (vy_contacts_find(b, h) != VY_OK) return events | end_out_of_memory(b);
        if (b->def.contacts.solver == VY_CONTACT_SOLVER_IMPULSE) {
            solve_impulses(b);
        } else {
            join_islands(b);
            vy_bodies_parallel_for(b, b->contacts->count, MIN_PARALLEL_HEADERS, set_contact_islands, NULL);
            find_solve_modes(b, h);
            vy_contacts_solve(b, h, 1);
            if (b->joints->island_count > 0) vy_jointed_solve(b, h);
        }
        events |= vy_impacts_resolve(b, h);
        if (b->head->failed == VY_BODIES_NO_MEMORY) return events | end_out_of_memory(b);
    } while (vy_sleep_wake_touched(b, h, &events));
    if (b->def.contacts.solver != VY_CONTACT_SOLVER_IMPULSE && !b->head->failed) {
        vy_contacts_project(b, h);
        vy_energy_guard(b, h);
    }
    if (vy_triggers_step(b, h) != VY_OK) return events | end_out_of_memory(b);
    update_cache(b);
    vy_sleep_report(b, h);
    vy_sleep_update(b);
    return events;
}
