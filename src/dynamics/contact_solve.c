// contact_solve.c - contacts as soft constraints on velocities, in sub-steps.
//
// A sub-step (Catto, Solver2D 2024): integrate velocities; warm start with the impulses of the last sub-step;
// solve the contacts with a soft bias for overlaps; integrate positions; relax: solve again without bias,
// which removes the velocity that the bias added. After the last sub-step restitution is applied. Both bodies
// of a contact get their impulse at one common point, and rotating bodies keep their angular momentum, so
// momentum and angular momentum are kept to rounding.
//
// Iterations go colour by colour (graph colouring): contacts of one colour share no body that moves, so they
// may be solved at the same time, as many as a register has lanes. Colours depend on the contacts alone, in
// their order.
#include "dynamics/contact_plan.h"
#include "base/assert.h"

// Contacts are springs of this frequency and damping. Where a heavy body lies on a light one, or few contacts
// are together, they are as stiff as the sub-steps can follow.
#define CONTACT_HERTZ         50.0
#define CONTACT_DAMPING_RATIO 10.0 // of critical damping
#define STIFF_DAMPING_RATIO   5.0
#define MEAN_IMPULSE_TIME     0.25 // [s]
#define TWO_PI                6.283185307179586
enum { MAX_ISLAND_RETRIES = 2 };
enum { MIN_PARALLEL_CONTACTS = 128 }; // contacts

// The names are those of Catto's b2MakeSoft (Box2D).
static contact_softness contact_softness_of(double hertz, double damping_ratio, double h)
{
    VY_ASSERT(hertz > 0.0 && damping_ratio > 0.0 && h > 0.0);
    const double omega = TWO_PI * hertz, a1 = 2.0 * damping_ratio + h * omega, a2 = h * omega * a1,
                 a3 = 1.0 / (1.0 + a2);
    return (contact_softness){omega / a1, a2 * a3, a3};
}

// The manifolds as they are now, in the first interval those of the start of the step.
static void refresh_manifolds(const pack_plan *plan, const worker *t, uint32_t interval)
{
    vy_bodies *b = plan->b;
    const contact_system *s = b->contacts;
    const struct solver_part *part = &plan->parts[t->part];
    for (uint32_t n = part->first; n < part->last; ++n) {
        const uint32_t k = s->group_contacts[n];
        if (interval > 0) {
            vy_contact_refresh(b, k, plan->substep_h);
            continue;
        }
        if (plan->retry) vy_contact_reset_to_start(b, k, plan->h);
        if (plan->group->intervals == 1) continue;
        vy_contact_scale_impulses(&s->contacts[k], plan->substep_h / plan->undivided_substep_h);
        s->headers[k].flags |= HAS_INTERVALS;
        s->sums[k] = (contact_sum){.points = 0};
    }
    barrier(t);
}

// Of vectorised bodies, which the sub-steps do without.
static void update_rotations(const pack_plan *plan, const worker *t)
{
    const contact_system *s = plan->b->contacts;
    const struct solver_part *part = &plan->parts[t->part];
    for (uint32_t n = part->member_first; n < part->member_last; ++n) {
        contact_body *body = &s->body[s->members[n]];
        if (body->is_vectorised) body->rotation = quat_matrix(body->attitude);
    }
}

static void solve_interval(const pack_plan *plan, const worker *t)
{
    vy_prepare_packs(plan, t);
    if (any_restitution(plan)) {
        vy_save_interval_start(plan, t);
        barrier(t); // warm starts push the bodies of other parts, too
    }
    vy_run_packs(plan, t, WARM_START);
    for (int k = 0; k < plan->substeps; ++k) vy_contact_substep(plan, t);
    update_rotations(plan, t);
    if (any_restitution(plan)) vy_solve_restitution(plan, t);
    vy_store_packs(plan, t);
}

// After an interval: its sums, and displacements that count from here on.
static void finish_interval(const pack_plan *plan, const worker *t)
{
    const contact_system *s = plan->b->contacts;
    const struct solver_part *part = &plan->parts[t->part];
    barrier(t);
    for (uint32_t n = part->member_first; n < part->member_last; ++n)
        vy_contact_body_rebase(&s->body[s->members[n]]);
    barrier(t);
    for (uint32_t n = part->first; n < part->last; ++n)
        vy_contact_add_interval(plan->b, s->group_contacts[n]);
}

// Impulses as of a step that is not divided: they are kept.
static void finish_contacts(const pack_plan *plan, const worker *t)
{
    const contact_system *s = plan->b->contacts;
    const struct solver_part *part = &plan->parts[t->part];
    for (uint32_t n = part->first; n < part->last; ++n) {
        const uint32_t k = s->group_contacts[n];
        vy_contact_scale_impulses(&s->contacts[k], plan->undivided_substep_h / plan->substep_h);
        s->headers[k].impulse_points = (uint32_t)s->sums[k].points;
    }
}

static void solve_group(const pack_plan *plan, const worker *t)
{
    vy_bodies *b = plan->b;
    contact_system *s = b->contacts;
    struct solver_part *part = &plan->parts[t->part];
    part->has_unvectorised = 0;
    for (uint32_t n = part->member_first; n < part->member_last; ++n) {
        const uint32_t i = s->members[n];
        const vec3 acceleration = s->body[i].acceleration, torque = s->body[i].torque;
        contact_body_load(b, i, plan->h);
        part->has_unvectorised |= s->body[i].moves && !s->body[i].is_vectorised;
        if (!plan->retry) continue;
        s->body[i].acceleration = acceleration; // the free flight that they follow from is gone
        s->body[i].torque = torque;
        s->body[i].is_vectorised = body_is_vectorised(&s->body[i]);
    }
    barrier(t);
    for (uint32_t n = 0; n < plan->group->intervals; ++n) {
        if (plan->retry || plan->group->intervals > 1) refresh_manifolds(plan, t, n);
        solve_interval(plan, t);
        if (plan->group->intervals > 1) finish_interval(plan, t);
    }
    if (plan->group->intervals > 1) finish_contacts(plan, t);
    for (uint32_t n = part->member_first; n < part->member_last; ++n) {
        if (s->body[s->members[n]].moves) contact_body_store(b, s->members[n]);
    }
}

contact_context vy_contacts_context(const vy_bodies *b, double h, double substep_h, double stiff_h)
{
    VY_ASSERT(substep_h > 0.0 && substep_h <= h && (stiff_h == 0.0 || stiff_h >= substep_h));
    const contact_system *s = b->contacts;
    const vy_contacts_def *def = &b->def.contacts;
    const int is_stiff = stiff_h > 0.0;
    const double max_hertz =
        0.25 / (is_stiff ? stiff_h : substep_h); // [Hz] of a mass that sub-steps can follow
    const double hertz = is_stiff ? max_hertz : real_min(CONTACT_HERTZ, max_hertz),
                 damping_ratio = is_stiff ? STIFF_DAMPING_RATIO : CONTACT_DAMPING_RATIO;
    return (contact_context){.contacts = s->contacts,
                             .headers = s->headers,
                             .motion = s->motion,
                             .body = s->body,
                             .inverse_h = 1.0 / substep_h,
                             .thickness = s->thickness,
                             .slop = def->slop,
                             .push_speed = def->push_speed,
                             .mean_weight = substep_h / MEAN_IMPULSE_TIME,
                             .restitution_threshold = restitution_threshold(b, h),
                             .hold_mean_impulse = is_stiff,
                             .softness = {contact_softness_of(hertz, damping_ratio, substep_h),
                                          contact_softness_of(2.0 * hertz, damping_ratio, substep_h)}};
}

static void plan_intervals(pack_plan *plan)
{
    const int is_divided = plan->group->intervals > 1, is_stiff = plan->group->is_stiff;
    if (is_divided) {
        plan->substeps = 1;
        plan->substep_h = plan->h / (double)plan->group->intervals;
    }
    if (is_divided || is_stiff) {
        plan->context = vy_contacts_context(plan->b, is_divided ? plan->substep_h : plan->h, plan->substep_h,
                                            is_stiff ? plan->substep_h : 0.0);
    }
}

static void solve_part(void *self, uint32_t thread, uint32_t count)
{
    (void)count;
    const pack_plan plan = *(const pack_plan *)self; // a copy: the caller's cache lines are shared
    const uint64_t fpu_state = fpu_enter();
    solve_group(&plan, &(worker){plan.b->pool, thread});
    fpu_leave(fpu_state);
}

// One group on all threads, unless it is too small for that.
static void solve_group_on_all_threads(const pack_plan *base_plan, const contact_group *g)
{
    VY_ASSERT(g->all_threads);
    const contact_system *s = base_plan->b->contacts;
    vy_pool *const pool = g->last - g->first < MIN_PARALLEL_CONTACTS ? NULL : base_plan->b->pool;
    pack_plan plan = *base_plan;
    plan.group = g;
    plan_intervals(&plan);
    plan.parts = s->parts;
    plan.part_count = pool == NULL ? 1 : vy_pool_count(pool);
    vy_plan_packs(&plan, s->packs);
    if (pool == NULL) {
        solve_group(&plan, &(worker){NULL, 0});
    } else {
        vy_pool_run_team(pool, solve_part, &plan);
    }
}

// Groups [first, last), each on one thread, but those that all threads solve.
static void solve_groups_by_thread(void *self, uint32_t thread, size_t first, size_t last)
{
    pack_plan plan = *(const pack_plan *)self;
    const contact_system *s = plan.b->contacts;
    const uint64_t fpu_state = fpu_enter();
    for (size_t n = first; n < last; ++n) {
        if (s->groups[n].all_threads) continue;
        VY_ASSERT(s->groups[n].last - s->groups[n].first <= GROUP_CONTACTS);
        plan = *(const pack_plan *)self;
        plan.parts = s->parts + thread;
        plan.part_count = 1;
        plan.group = &s->groups[n];
        plan_intervals(&plan);
        plan.wide = s->kernel;
        vy_plan_packs(&plan, (unsigned char *)s->packs + thread * vy_pack_memory(GROUP_CONTACTS, 1));
        solve_group(&plan, &(worker){NULL, 0});
    }
    fpu_leave(fpu_state);
}

// ---- intervals

// As many as a body needs, and an island of so many contacts affords.
static uint32_t intervals_for(const vy_bodies *b, uint32_t i, vec3 rate, double h, uint32_t contacts)
{
    const uint32_t needed = vy_contacts_intervals(b, i, rate, h),
                   max_intervals = INTERVAL_BUDGET / (contacts > 0 ? contacts : 1);
    return needed < max_intervals ? needed : max_intervals;
}

static void count_island_contacts(vy_bodies *b)
{
    contact_system *s = b->contacts;
    for (uint32_t i = 0; i < b->slot_count; ++i) s->island_contacts[i] = 0;
    for (uint32_t k = 0; k < s->count; ++k) {
        if (s->headers[k].solve_mode != SOLVE_NONE) s->island_contacts[s->headers[k].island] += 1;
    }
}

// How many intervals each island needs, by the rates of its bodies before the step.
static void find_intervals(vy_bodies *b, double h, int substeps, int may_divide)
{
    contact_system *s = b->contacts;
    int needs_intervals = 0;
    for (uint32_t i = 0; i < b->slot_count; ++i) {
        s->island_intervals[i] = 1;
        needs_intervals |= s->solve_mode_mask[i] != 0 &&
                           vy_contacts_needs_intervals(b, i, s->start_state[i].rate, h, substeps);
    }
    s->may_need_intervals = needs_intervals;
    if (!needs_intervals || !may_divide) return;
    count_island_contacts(b);
    for (uint32_t i = 0; i < b->slot_count; ++i) {
        if (s->solve_mode_mask[i] == 0 || !b->awake[i]) continue;
        const uint32_t root = island_root(s->parent, i),
                       needed = intervals_for(b, i, s->start_state[i].rate, h, s->island_contacts[root]);
        if (needed > (uint32_t)substeps && needed > s->island_intervals[root])
            s->island_intervals[root] = needed;
    }
}

// Islands whose bodies turn faster after the step than was thought are solved again. Returns whether there is
// one.
static int find_islands_to_retry(vy_bodies *b, double h, int substeps)
{
    contact_system *s = b->contacts;
    int needs_retry = 0;
    for (uint32_t i = 0; i < b->slot_count && !needs_retry; ++i)
        needs_retry = (s->solve_mode_mask[i] & (SOLVE_WARM | SOLVE_COLD)) != 0 && s->body[i].moves &&
                      vy_contacts_needs_intervals(b, i, vec3_of(s->motion[i].rate), h, substeps);
    if (!needs_retry) return 0;
    if (!s->may_need_intervals) count_island_contacts(b);
    s->may_need_intervals = 1;
    needs_retry = 0;
    for (uint32_t i = 0; i < b->slot_count; ++i) s->island_retry[i] = 0;
    for (uint32_t i = 0; i < b->slot_count; ++i) {
        if ((s->solve_mode_mask[i] & (SOLVE_WARM | SOLVE_COLD)) == 0 || !s->body[i].moves) continue;
        const vec3 rate = mat3_tmul_vec(s->body[i].rotation, vec3_of(s->motion[i].rate));
        const uint32_t root = island_root(s->parent, i),
                       needed = intervals_for(b, i, rate, h, s->island_contacts[root]);
        const uint32_t intervals =
            s->island_intervals[root] > 1 ? s->island_intervals[root] : (uint32_t)substeps;
        if (needed <= intervals + intervals / 2) continue;
        s->island_retry[root] = 1;
        s->island_intervals[root] = needed;
        needs_retry = 1;
    }
    return needs_retry;
}

static void solve_groups(const pack_plan *plan)
{
    vy_bodies *b = plan->b;
    const contact_system *s = b->contacts;
    for (uint32_t n = 0; n < s->group_count; ++n) {
        if (s->groups[n].all_threads) solve_group_on_all_threads(plan, &s->groups[n]);
    }
    if (b->pool == NULL || s->count < MIN_PARALLEL_CONTACTS) {
        solve_groups_by_thread((void *)plan, 0, 0, s->group_count);
    } else {
        vy_pool_run(b->pool, s->group_count, solve_groups_by_thread, (void *)plan);
    }
}

// Islands share no bodies that move, so they may be solved in any order.
void vy_contacts_solve(vy_bodies *b, double h, int may_divide)
{
    contact_system *s = b->contacts;
    const int substeps = contacts_substeps(h, b->def.contacts.substep);
    VY_ASSERT(substeps >= 1);
    const double substep_h = h / (double)substeps;
    pack_plan plan = {.b = b,
                      .wide = s->kernel,
                      .narrow = vy_contact_kernel_1,
                      .context = vy_contacts_context(b, h, substep_h, 0.0),
                      .h = h,
                      .substep_h = substep_h,
                      .undivided_substep_h = substep_h,
                      .substeps = substeps};
    find_intervals(b, h, substeps, may_divide);
    vy_contacts_group(b, 0);
    if (s->group_count == 0) return;
    for (uint32_t i = 0; i < b->slot_count; ++i) {
        const int is_fixed = !b->awake[i] && !has_prescribed_motion(b, i); // static, or asleep
        if (s->solve_mode_mask[i] != 0 && is_fixed) contact_body_load(b, i, h);
    }
    atomic_store_explicit(&s->not_finite, 0, memory_order_relaxed);
    solve_groups(&plan);
    plan.retry = 1;
    for (int n = 0; n < MAX_ISLAND_RETRIES && may_divide && find_islands_to_retry(b, h, substeps); ++n) {
        atomic_store_explicit(&s->not_finite, 0, memory_order_relaxed);
        vy_contacts_group(b, 1);
        solve_groups(&plan);
    }
    if (atomic_load_explicit(&s->not_finite, memory_order_relaxed)) b->head->failed = VY_BODIES_NOT_FINITE;
}
