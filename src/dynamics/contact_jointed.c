// contact_jointed.c - islands that touch and have joints, one after the other: contacts and joints are solved
// alternately within each sub-step.
//
// An iteration is all contacts, then all joints. Contacts are warm started, so at rest one iteration is
// enough; in an impact they continue until the joints no longer change the velocities.
#include "base/assert.h"
#include "dynamics/contact_body.h"
#include "dynamics/substep_joints.h"

enum {
    MAX_ITERATIONS = 64,        // of contacts and joints in a sub-step
    RESTITUTION_ITERATIONS = 8, // at least
    MAX_ISLAND_RETRIES = 2,     // with more intervals
    NEWTON_ITERATIONS = 8,      // that close the joints in a sub-step
    COLOURS = 64,
    MAX_NARROW_CONTACTS = 3, // of an island: more are solved by the wide kernel
    NONE = 0                 // ends a list
};

#define CONVERGED_SPEED 1e-4  // [m/s] iterations end when joints change velocities by less
#define CONVERGED_ERROR 1e-13 // of the island's extent: position error of a joint that is closed
#define FAILED_ERROR    1e-9  // and of one that could not be closed

/// An island while it is solved.
typedef struct jointed_island {
    vy_bodies *b;
    jointed_lists *lists;
    uint32_t body_count, contact_count;
    const contact_kernel *wide, *narrow;
    contact_context context;
    void *overflow; // contacts for which no colour was left
    uint32_t pack_count, overflow_count;
    int has_restitution; // some contact has restitution
    int has_kinematic;   // some contact is with a kinematic body
    int has_intervals;   // its step has intervals, each with manifolds of its own
    int not_finite;      // some motion is not finite: nothing that follows counts
    substep_joints joints;
} jointed_island;

// ---- which islands

void vy_jointed_join_islands(vy_bodies *b)
{
    const joint_system *s = b->joints;
    for (uint32_t n = 0; n < s->island_count; ++n) {
        const island *is = &s->islands[n];
        VY_ASSERT(is->body_first < is->dynamic_last);
        for (uint32_t m = is->body_first + 1; m < is->dynamic_last; ++m)
            islands_join(b->contacts->parent, s->members[is->body_first], s->members[m]);
    }
}

static uint32_t root_of_joints(const vy_bodies *b, uint32_t n)
{
    VY_ASSERT(n < b->joints->island_count);
    const joint_system *s = b->joints;
    return island_root(b->contacts->parent, s->members[s->islands[n].body_first]);
}

void vy_jointed_mark_islands(vy_bodies *b)
{
    contact_system *s = b->contacts;
    for (uint32_t n = 0; n < b->joints->island_count; ++n) {
        const uint32_t root = root_of_joints(b, n);
        if (s->island_solve_mode[root]) s->island_solve_mode[root] = SOLVE_JOINTED;
    }
}

// Lists by root, each in the order of its elements: they are pushed to the front from last to first.
static void list_islands(vy_bodies *b)
{
    contact_system *s = b->contacts;
    jointed_lists *r = &s->jointed;
    for (uint32_t i = 0; i < b->slot_count; ++i)
        r->first_body[i] = r->first_contact[i] = r->first_joint_island[i] = r->loaded_for[i] = NONE;
    for (uint32_t i = b->slot_count; i-- > 0;) {
        const uint32_t root = island_root(s->parent, i);
        if (s->island_solve_mode[root] != SOLVE_JOINTED || !body_is_dynamic(b, i)) continue;
        r->next_body[i] = r->first_body[root];
        r->first_body[root] = i + 1;
    }
    for (uint32_t k = s->count; k-- > 0;) {
        const contact_header *c = &s->headers[k];
        if (c->solve_mode != SOLVE_JOINTED) continue;
        const uint32_t root = c->island;
        VY_ASSERT(s->island_solve_mode[root] == SOLVE_JOINTED);
        r->next_contact[k] = r->first_contact[root];
        r->first_contact[root] = k + 1;
    }
    for (uint32_t n = b->joints->island_count; n-- > 0;) {
        const uint32_t root = root_of_joints(b, n);
        r->next_joint_island[n] = r->first_joint_island[root];
        r->first_joint_island[root] = n + 1;
    }
}

// ---- one island

// Load a body that is not dynamic, once per island.
static void load_non_dynamic(jointed_island *t, uint32_t i, uint32_t root, double h)
{
    VY_ASSERT(!t->b->awake[i]);
    if (t->lists->loaded_for[i] == root + 1) return;
    VY_ASSERT(t->body_count < t->b->body_cap || t->b->slots[i].kind != VY_BODY_KINEMATIC);
    t->lists->loaded_for[i] = root + 1;
    contact_body_load(t->b, i, h);
    if (t->b->slots[i].kind != VY_BODY_KINEMATIC) return;
    t->lists->bodies[t->body_count++] = i;
    t->has_kinematic = 1;
}

static void load_island(jointed_island *t, uint32_t root, double h, int retry)
{
    vy_bodies *b = t->b;
    contact_system *s = b->contacts;
    jointed_lists *r = t->lists;
    for (uint32_t i = r->first_body[root]; i != NONE; i = r->next_body[i - 1]) {
        VY_ASSERT(t->body_count < b->slot_count && body_is_dynamic(b, i - 1));
        r->bodies[t->body_count++] = i - 1;
        const contact_body before = s->body[i - 1];
        contact_body_load(b, i - 1, h);
        if (retry) { // the free flight that they follow from is gone
            s->body[i - 1].acceleration = before.acceleration;
            s->body[i - 1].torque = before.torque;
        }
        s->colours[i - 1] = 0;
        s->solve_mode_mask[i - 1] = SOLVE_JOINTED;
        s->body_impulses[i - 1] = (body_impulses){{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
        b->joints->step_work[i - 1] = b->joints->saved_work[i - 1]; // without its free flight
        if (!b->joints->first_joint[i - 1]) continue;
        const body_wrench wrench = b->external_integration ? b->joints->driver_wrench[i - 1]
                                                           : wrench_at(b, i - 1, &s->start_state[i - 1]);
        s->body[i - 1].acceleration = wrench.acceleration;
        s->body[i - 1].torque = wrench.torque;
        t->joints.mass += b->slots[i - 1].mass;
    }
    for (uint32_t k = r->first_contact[root]; k != NONE; k = r->next_contact[k - 1]) {
        const contact_header *c = &s->headers[k - 1];
        VY_ASSERT(t->contact_count < s->count && c->solve_mode == SOLVE_JOINTED);
        r->contacts[t->contact_count++] = k - 1;
        if ((c->flags & MOVES_A) == 0) load_non_dynamic(t, c->a, root, h);
        if ((c->flags & MOVES_B) == 0) load_non_dynamic(t, c->b, root, h);
        t->has_restitution |= (c->flags & HAS_RESTITUTION) != 0;
    }
    for (uint32_t n = r->first_joint_island[root]; n != NONE; n = r->next_joint_island[n - 1]) {
        const island *is = &b->joints->islands[n - 1];
        VY_ASSERT(t->joints.count < b->joints->island_count);
        r->joint_islands[t->joints.count++] = n - 1;
        for (uint32_t m = is->joint_first; m < is->joint_last; ++m) { // undo their free flight
            const uint32_t j = b->joints->joint_order[m];
            b->joint_state[j].active = b->joints->active_before_flight[j];
            b->joints->slots[j].impulse = b->joints->slots[j].saved_impulse;
            b->joints->slots[j].gear = b->joints->slots[j].saved_gear;
        }
    }
}

// Whether a joint has a spring, damper or motor: then sub-steps are as short as in free flight.
static int has_forces(const vy_bodies *b, uint32_t n)
{
    const joint_system *s = b->joints;
    for (uint32_t m = s->islands[n].joint_first; m < s->islands[n].joint_last; ++m) {
        const vy_joint_def *d = &s->slots[s->joint_order[m]].def;
        if (d->stiffness != 0.0 || d->damping != 0.0 ||
            b->joint_state[s->joint_order[m]].max_motor_torque != 0.0)
            return 1;
    }
    return 0;
}

// ---- packs: by colour, as in contact_plan.c, but of one island and one thread

static uint32_t assign_colour(const jointed_island *t, uint32_t k)
{
    contact_system *s = t->b->contacts;
    contact_header *c = &s->headers[k];
    VY_ASSERT((c->flags & (MOVES_A | MOVES_B)) != 0);
    const uint64_t used_colours =
        (c->flags & MOVES_A ? s->colours[c->a] : 0) | (c->flags & MOVES_B ? s->colours[c->b] : 0);
    uint32_t colour = 0;
    while (colour < COLOURS && (used_colours >> colour & 1u) != 0) ++colour;
    c->colour = (uint8_t)colour;
    if (colour == COLOURS) return colour;
    if (c->flags & MOVES_A) s->colours[c->a] |= (uint64_t)1 << colour;
    if (c->flags & MOVES_B) s->colours[c->b] |= (uint64_t)1 << colour;
    return colour;
}

static void prepare_packs(jointed_island *t)
{
    contact_system *s = t->b->contacts;
    uint32_t count[COLOURS + 1] = {0}, next[COLOURS + 2] = {0};
    if (t->contact_count <= MAX_NARROW_CONTACTS) t->wide = t->narrow;
    for (uint32_t n = 0; n < t->contact_count; ++n) count[assign_colour(t, t->lists->contacts[n])] += 1;
    for (int c = 0; c <= COLOURS; ++c) next[c + 1] = next[c] + count[c];
    for (int points = 1; points <= VY_MANIFOLD_POINTS; ++points) { // so that packs are evenly filled
        for (uint32_t n = 0; n < t->contact_count; ++n) {
            const contact_header *c = &s->headers[t->lists->contacts[n]];
            if (c->point_count == points) s->colour_order[next[c->colour]++] = t->lists->contacts[n];
        }
    }
    VY_ASSERT(next[COLOURS] == t->contact_count);
    const uint32_t width = t->wide->width;
    for (int c = 0; c < COLOURS; ++c) {
        for (uint32_t done = 0; done < count[c]; done += width) {
            const uint32_t remaining = count[c] - done;
            t->wide->prepare(&t->context, &s->colour_order[next[c] - remaining],
                             remaining < width ? remaining : width,
                             (unsigned char *)s->packs + t->pack_count++ * t->wide->pack_size);
        }
    }
    t->overflow = (unsigned char *)s->packs + t->pack_count * t->wide->pack_size;
    t->overflow_count = count[COLOURS];
    for (uint32_t n = 0; n < t->overflow_count; ++n)
        t->narrow->prepare(&t->context, &s->colour_order[next[COLOURS] - t->overflow_count + n], 1,
                           (unsigned char *)t->overflow + n * t->narrow->pack_size);
}

/// Run a stage of the kernels over all contacts of the island.
#define RUN_KERNELS(t, stage)                                                         \
    do {                                                                              \
        (t)->wide->stage(&(t)->context, (t)->b->contacts->packs, 0, (t)->pack_count); \
        if ((t)->overflow_count > 0)                                                  \
            (t)->narrow->stage(&(t)->context, (t)->overflow, 0, (t)->overflow_count); \
    } while (0)

// ---- a sub-step

// Integrate positions, with impulses by Newton's method that close the joints at the end of the sub-step.
static void integrate_and_close(jointed_island *t)
{
    vy_bodies *b = t->b;
    contact_system *s = b->contacts;
    jointed_lists *r = t->lists;
    for (int iteration = 0;; ++iteration) {
        for (uint32_t n = 0; n < t->body_count; ++n) {
            const uint32_t i = r->bodies[n];
            r->saved_body[n] = s->body[i];
            r->saved_motion[n] = s->motion[i];
            integrate_position(&s->body[i], &s->motion[i], &b->params[i], t->joints.h);
        }
        const double error = vy_jointed_position_error(&t->joints);
        if (error <= CONVERGED_ERROR) return;
        if (iteration == NEWTON_ITERATIONS) {
            t->joints.has_position_error |= error > FAILED_ERROR;
            return;
        }
        for (uint32_t n = 0; n < t->body_count; ++n) {
            s->body[r->bodies[n]] = r->saved_body[n];
            s->motion[r->bodies[n]] = r->saved_motion[n];
        }
        vy_jointed_correct_position(&t->joints);
    }
}

static void add_impulses(body_impulses *sum, vec3 impulse, vec3 angular_impulse)
{
    sum->impulse = vec3_add(sum->impulse, impulse);
    sum->angular_impulse = vec3_add(sum->angular_impulse, angular_impulse);
}

// Forces, then as much of the warm start as adds no energy.
static void integrate_velocities(const jointed_island *t)
{
    const contact_system *s = t->b->contacts;
    velocity_change_work sum = {0.0, 0.0};
    for (uint32_t n = 0; n < t->body_count; ++n) {
        const uint32_t i = t->lists->bodies[n];
        if (!s->body[i].moves) continue;
        const velocity_change_work work = integrate_forces(&s->body[i], &s->motion[i], t->joints.h);
        sum.linear += work.linear;
        sum.quadratic += work.quadratic;
    }
    // Joints share what contacts carry, so at rest the sum says nothing.
    const double fraction = t->has_kinematic || !t->has_intervals ? 1.0 : warm_start_fraction(sum);
    for (uint32_t n = 0; n < t->body_count; ++n) {
        const uint32_t i = t->lists->bodies[n];
        s->motion[i].fraction = fraction;
        if (s->body[i].moves) apply_warm_start(&s->motion[i], fraction);
    }
    if (fraction != 1.0) RUN_KERNELS(t, scale_impulses);
}

static int is_finite(const jointed_island *t)
{
    const contact_system *s = t->b->contacts;
    double sum = 0.0;
    for (uint32_t n = 0; n < t->body_count; ++n) {
        const contact_body *body = &s->body[t->lists->bodies[n]];
        const contact_motion *m = &s->motion[t->lists->bodies[n]];
        sum += real_abs(body->attitude.w + body->attitude.x + body->attitude.y + body->attitude.z);
        for (int k = 0; k < 3; ++k)
            sum += real_abs(body->delta_position[k]) + real_abs(m->velocity[k]) + real_abs(m->rate[k]);
    }
    return sum <= REAL_MAX;
}

static void substep(jointed_island *t)
{
    const contact_system *s = t->b->contacts;
    substep_joints *j = &t->joints;
    vy_jointed_begin_work(j);
    vy_jointed_apply_forces(j);
    integrate_velocities(t);
    (void)vy_jointed_solve_velocity(j, 1);
    double correction;
    int iterations = 0;
    do {
        RUN_KERNELS(t, solve);
        correction = vy_jointed_solve_velocity(j, 1);
    } while (++iterations < MAX_ITERATIONS && correction > CONVERGED_SPEED);
    integrate_and_close(t);
    t->not_finite = !is_finite(t);
    if (t->not_finite) return;
    vy_jointed_prepare(j, j->h);
    correction = vy_jointed_solve_velocity(j, 0);
    for (int n = 1; n < iterations && correction > CONVERGED_SPEED; ++n) {
        RUN_KERNELS(t, relax);
        correction = vy_jointed_solve_velocity(j, 0);
    }
    RUN_KERNELS(t, relax_last);
    for (uint32_t n = 0; n < t->body_count; ++n) { // the contacts' impulses of this sub-step
        const uint32_t i = t->lists->bodies[n];
        add_impulses(&s->body_impulses[i], vec3_of(s->motion[i].impulse),
                     vec3_of(s->motion[i].angular_impulse));
    }
    (void)vy_jointed_solve_velocity(j, 0);
    vy_jointed_add_closing_work(j);
    vy_jointed_add_break_impulses(j);
    vy_jointed_end_gears(j);
}

static void save_motion(const jointed_island *t)
{
    const contact_system *s = t->b->contacts;
    for (uint32_t n = 0; n < t->body_count; ++n) t->lists->saved_motion[n] = s->motion[t->lists->bodies[n]];
}

// Velocities have changed since save_motion() by contacts alone: add those impulses.
static void add_velocity_changes(const jointed_island *t)
{
    const contact_system *s = t->b->contacts;
    for (uint32_t n = 0; n < t->body_count; ++n) {
        const uint32_t i = t->lists->bodies[n];
        VY_ASSERT(i < t->b->slot_count);
        const contact_motion *before = &t->lists->saved_motion[n], *after = &s->motion[i];
        const mat3 r = s->body[i].rotation;
        const vec3 rate_change = vec3_sub(vec3_of(after->rate), vec3_of(before->rate)),
                   velocity_change = vec3_sub(vec3_of(after->velocity), vec3_of(before->velocity));
        add_impulses(&s->body_impulses[i], vec3_scale(t->b->slots[i].mass, velocity_change),
                     mat3_mul_vec(r, mat3_mul_vec(t->b->params[i].inertia, mat3_tmul_vec(r, rate_change))));
    }
}

static void apply_restitution(jointed_island *t)
{
    double correction = CONVERGED_SPEED;
    for (int n = 0; n < RESTITUTION_ITERATIONS || (n < MAX_ITERATIONS && correction > CONVERGED_SPEED); ++n) {
        save_motion(t);
        RUN_KERNELS(t, apply_restitution);
        add_velocity_changes(t);
        correction = vy_jointed_solve_velocity(&t->joints, 0);
    }
    save_motion(t);
    RUN_KERNELS(t, restitution_friction);
    add_velocity_changes(t);
    (void)vy_jointed_solve_velocity(&t->joints, 0);
}

// ---- intervals: as in contact_solve.c

static void refresh_manifolds(const jointed_island *t, uint32_t interval, double undivided_h)
{
    contact_system *s = t->b->contacts;
    for (uint32_t n = 0; n < t->contact_count; ++n) {
        const uint32_t k = t->lists->contacts[n];
        if (interval > 0) {
            vy_contact_refresh(t->b, k, t->joints.h);
            continue;
        }
        vy_contact_scale_impulses(&s->contacts[k], t->joints.h / undivided_h);
        s->headers[k].flags |= HAS_INTERVALS;
        s->sums[k] = (contact_sum){.points = 0};
    }
}

static void finish_interval(const jointed_island *t)
{
    const contact_system *s = t->b->contacts;
    for (uint32_t n = 0; n < t->body_count; ++n) vy_contact_body_rebase(&s->body[t->lists->bodies[n]]);
    for (uint32_t n = 0; n < t->contact_count; ++n) vy_contact_add_interval(t->b, t->lists->contacts[n]);
}

static void finish_contacts(const jointed_island *t, double undivided_h)
{
    const contact_system *s = t->b->contacts;
    for (uint32_t n = 0; n < t->contact_count; ++n) {
        const uint32_t k = t->lists->contacts[n];
        vy_contact_scale_impulses(&s->contacts[k], undivided_h / t->joints.h);
        s->headers[k].impulse_points = (uint32_t)s->sums[k].points;
    }
}

// Intervals that a body of the island needs at most, by its rate before the step or after it.
static uint32_t intervals_needed(const jointed_island *t, double h, int by_end_rate)
{
    const contact_system *s = t->b->contacts;
    uint32_t max_needed = 1;
    if (t->b->joints->between_impacts) return 1; // every interval has manifolds of its own
    for (uint32_t n = 0; n < t->body_count; ++n) {
        const uint32_t i = t->lists->bodies[n];
        if (!s->body[i].moves) continue;
        const vec3 rate = by_end_rate ? mat3_tmul_vec(s->body[i].rotation, vec3_of(s->motion[i].rate))
                                      : s->start_state[i].rate;
        const uint32_t needed = vy_contacts_intervals(t->b, i, rate, h);
        max_needed = needed > max_needed ? needed : max_needed;
    }
    const uint32_t max_intervals = INTERVAL_BUDGET / (t->contact_count > 0 ? t->contact_count : 1);
    return max_needed < max_intervals ? max_needed : max_intervals;
}

static void solve_interval(jointed_island *t, uint32_t first, int substeps)
{
    const contact_system *s = t->b->contacts;
    const double time = (double)t->b->head->tick * t->b->def.dt + t->b->joints->elapsed;
    t->pack_count = 0;
    t->wide = s->kernel;
    for (uint32_t n = 0; n < t->body_count; ++n) s->colours[t->lists->bodies[n]] = 0;
    prepare_packs(t);
    RUN_KERNELS(t, warm_start);
    for (int k = 0; k < substeps && !t->not_finite; ++k) {
        t->joints.elapsed = (double)(first + (uint32_t)k) * t->joints.h;
        t->joints.time = time + t->joints.elapsed;
        if (first == 0 && k == 0) vy_jointed_prepare(&t->joints, 0.0);
        substep(t);
    }
    if (t->not_finite) return;
    if (t->has_restitution) {
        apply_restitution(t);
        vy_jointed_add_break_impulses(&t->joints);
    }
    RUN_KERNELS(t, store_impulses);
}

static void store_island(const jointed_island *t)
{
    vy_bodies *b = t->b;
    const contact_system *s = b->contacts;
    for (uint32_t n = 0; n < t->body_count; ++n) {
        const uint32_t i = t->lists->bodies[n];
        if (!s->body[i].moves) continue;
        contact_body_store(b, i);
        s->body_impulses[i].angular_impulse =
            mat3_tmul_vec(s->body[i].rotation, s->body_impulses[i].angular_impulse);
        b->disturbed[i] = (uint64_t)(b->joints->first_joint[i] && t->joints.has_position_error);
    }
}

// From impact to impact sub-steps are of any length: what a contact carries in one goes by that.
static void scale_mean_impulses(const jointed_island *t, double factor)
{
    for (uint32_t n = 0; n < t->contact_count; ++n)
        t->b->contacts->contacts[t->lists->contacts[n]].mean_normal_impulse *= factor;
}

// Solve an island in so many intervals, at least. Returns how many its bodies would need as they turn after
// it.
static uint32_t solve_island_in_intervals(vy_bodies *b, uint32_t root, double h, int retry,
                                          uint32_t *intervals)
{
    contact_system *s = b->contacts;
    jointed_island t = {
        .b = b, .lists = &s->jointed, .wide = s->kernel, .narrow = vy_contact_kernel_1, .joints = {.b = b}};
    t.joints.islands = s->jointed.joint_islands;
    load_island(&t, root, h, retry);
    double max_substep = b->def.contacts.substep;
    for (uint32_t n = 0; n < t.joints.count; ++n) {
        if (has_forces(b, s->jointed.joint_islands[n]))
            max_substep = real_min(max_substep, b->def.joint_step);
    }
    const uint32_t substeps = (uint32_t)contacts_substeps(h, max_substep),
                   needed = intervals_needed(&t, h, 0);
    VY_ASSERT(substeps >= 1 && t.contact_count > 0 && t.body_count > 0);
    VY_ASSERT(t.joints.count > 0 && t.joints.mass > 0.0);
    *intervals = needed > *intervals ? needed : *intervals;
    t.has_intervals = *intervals > substeps;
    if (*intervals <= substeps) *intervals = substeps;
    const double undivided_h = h / (double)contacts_substeps(h, max_substep);
    t.joints.h = h / (double)*intervals;
    // From impact to impact intervals may be as short as they like: contacts are no stiffer there than in a
    // whole step, or they push the harder the shorter an interval is made for it.
    const double step_h = b->def.dt / (double)contacts_substeps(b->def.dt, max_substep),
                 stiff_h = b->joints->between_impacts ? real_max(step_h, t.joints.h) : t.joints.h;
    t.context = vy_contacts_context(b, t.has_intervals ? t.joints.h : h, t.joints.h, stiff_h);
    for (uint32_t n = 0; n < t.contact_count && retry; ++n)
        vy_contact_reset_to_start(b, s->jointed.contacts[n], h);
    if (b->joints->between_impacts) scale_mean_impulses(&t, t.joints.h / step_h);
    if (t.has_intervals) {
        for (uint32_t n = 0; n < *intervals && !t.not_finite; ++n) {
            refresh_manifolds(&t, n, undivided_h);
            solve_interval(&t, n, 1);
            if (!t.not_finite) finish_interval(&t);
        }
        finish_contacts(&t, undivided_h);
    } else {
        solve_interval(&t, 0, (int)substeps);
    }
    if (b->joints->between_impacts) scale_mean_impulses(&t, step_h / t.joints.h);
    if (!t.not_finite) vy_jointed_store_forces(&t.joints);
    store_island(&t);
    return intervals_needed(&t, h, 1);
}

static void solve_island(vy_bodies *b, uint32_t root, double h)
{
    contact_system *s = b->contacts;
    uint32_t intervals = 1;
    for (int retry = 0;; ++retry) {
        const uint32_t needed = solve_island_in_intervals(b, root, h, retry, &intervals);
        if (needed <= intervals + intervals / 2 || retry == MAX_ISLAND_RETRIES) break;
        intervals = needed;
        atomic_store_explicit(&s->not_finite, 0, memory_order_relaxed);
        for (uint32_t i = 0; i < b->slot_count; ++i) {
            if (s->jointed.loaded_for[i] == root + 1) s->jointed.loaded_for[i] = NONE;
        }
    }
    if (b->joints->between_impacts || !atomic_load_explicit(&s->not_finite, memory_order_relaxed)) return;
    atomic_store_explicit(&s->not_finite, 0, memory_order_relaxed);
    for (uint32_t i = s->jointed.first_body[root]; i != NONE; i = s->jointed.next_body[i - 1])
        s->solve_mode_mask[i - 1] |= SOLVE_FAILED;
}

void vy_jointed_solve(vy_bodies *b, double h)
{
    contact_system *s = b->contacts;
    int has_jointed = 0;
    for (uint32_t n = 0; n < b->joints->island_count && !has_jointed; ++n)
        has_jointed = s->island_solve_mode[root_of_joints(b, n)] == SOLVE_JOINTED;
    if (!has_jointed) return;
    list_islands(b);
    atomic_store_explicit(&s->not_finite, 0, memory_order_relaxed);
    for (uint32_t i = 0; i < b->slot_count; ++i) {
        if (s->jointed.first_contact[i] != NONE) solve_island(b, i, h);
    }
    if (atomic_load_explicit(&s->not_finite, memory_order_relaxed)) b->head->failed = VY_BODIES_NOT_FINITE;
}
