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
#include "base/assert.h"
#include "base/cpu.h"
#include "dynamics/contact_body.h"
#include <stdlib.h>

// Contacts are springs of this frequency and damping. Where a heavy body lies on a light one, or few contacts
// are together, they are as stiff as the sub-steps can follow.
#define CONTACT_HERTZ         50.0
#define CONTACT_DAMPING_RATIO 10.0 // of critical damping
#define STIFF_DAMPING_RATIO   5.0
#define MEAN_IMPULSE_TIME     0.25 // [s]
#define TWO_PI                6.283185307179586
enum { RESTITUTION_ITERATIONS = 8, NARROW_CONTACTS = 3, MAX_ISLAND_RETRIES = 2 };
enum { MIN_PARALLEL_CONTACTS = 128 }; // contacts
// Iterations of the solver in each half of a sub-step: with warm starting, and without. An iteration carries
// an impulse one body further, so a stack of ten needs about this many without.
enum { ITERATIONS = 1, COLD_ITERATIONS = 64 };

static contact_softness make_soft(double hertz, double damping_ratio, double h)
{
    VY_ASSERT(hertz > 0.0 && damping_ratio > 0.0 && h > 0.0);
    const double omega = TWO_PI * hertz, a1 = 2.0 * damping_ratio + h * omega, a2 = h * omega * a1,
                 a3 = 1.0 / (1.0 + a2);
    return (contact_softness){omega / a1, a2 * a3, a3};
}

// ---- colours and packs

/// Packs of one colour are contiguous.
typedef struct colour_range {
    uint32_t first, last;  // packs
    uint32_t start, count; // contacts, in their order by colour
} colour_range;

enum { COLOURS = 64, OVERFLOW_COLOUR = COLOURS };

/// The part of a group that one thread does: contiguous contacts and bodies, so that threads seldom write
/// what another one reads.
struct solver_part {
    uint32_t first, last;               // contacts
    uint32_t member_first, member_last; // bodies
    uint32_t packs_first, packs_last;
    int has_restitution;  // some contact has restitution
    int has_unvectorised; // some body is not vectorised
    int warm_start_adds;  // the warm start of some body adds energy
    int scales_impulses;  // of the first part: some warm start of the group is not used whole
    colour_range colour[COLOURS];
};

/// How a group is solved.
typedef struct pack_plan {
    vy_bodies *b;
    const contact_group *group;
    const contact_kernel *wide, *narrow;
    contact_context context;
    double h;                   // [s] of the step
    double substep_h;           // [s] of a sub-step
    double undivided_substep_h; // [s] of a step that is not divided
    int substeps;               // sub-steps in an interval
    int retry;                  // 1: the group has been solved before, in fewer intervals
    uint32_t colours;           // in use
    struct solver_part *parts;
    uint32_t part_count; // one for each thread that takes part
    void *packs;
    void *overflow; // contacts for which no colour was left, one per pack of the narrow kernel
    uint32_t overflow_count;
    const uint32_t *overflow_order;
} pack_plan;

const contact_kernel *vy_contacts_kernel(void)
{
    const vy_cpu_level level = vy_cpu();
    if (level == VY_CPU_AVX512 && vy_contact_kernel_8_avx512 != NULL) return vy_contact_kernel_8_avx512;
    if (level >= VY_CPU_AVX2 && vy_contact_kernel_4_avx2 != NULL) return vy_contact_kernel_4_avx2;
    return vy_contact_kernel_2;
}

static uint32_t lowest_free(uint64_t taken)
{
    uint32_t c = 0;
    while (c < COLOURS && (taken >> c & 1u) != 0) ++c;
    return c;
}

// Equal numbers of contacts and bodies for each part.
static void split_group(const pack_plan *plan)
{
    const contact_group *g = plan->group;
    VY_ASSERT(plan->part_count >= 1 && g->first < g->last && g->member_first < g->member_last);
    const uint64_t contacts = g->last - g->first, members = g->member_last - g->member_first;
    for (uint32_t t = 0; t < plan->part_count; ++t) {
        struct solver_part *p = &plan->parts[t];
        p->first = g->first + (uint32_t)(contacts * t / plan->part_count);
        p->last = g->first + (uint32_t)(contacts * (t + 1) / plan->part_count);
        p->member_first = g->member_first + (uint32_t)(members * t / plan->part_count);
        p->member_last = g->member_first + (uint32_t)(members * (t + 1) / plan->part_count);
    }
}

// Greedy colouring: each contact takes the lowest colour that neither of its moving bodies has. Returns how
// many got none.
static uint32_t colour_contacts(contact_system *s, const contact_group *g, uint32_t *colours)
{
    uint32_t overflow = 0;
    *colours = 0;
    for (uint32_t n = g->member_first; n < g->member_last; ++n) s->colours[s->members[n]] = 0;
    for (uint32_t n = g->first; n < g->last; ++n) {
        contact_header *c = &s->headers[s->grouped[n]];
        VY_ASSERT((c->flags & (MOVES_A | MOVES_B)) != 0 && c->start == (uint8_t)g->start);
        const uint64_t taken_a = c->flags & MOVES_A ? s->colours[c->a] : 0,
                       taken_b = c->flags & MOVES_B ? s->colours[c->b] : 0;
        c->colour = (uint8_t)lowest_free(taken_a | taken_b);
        if (c->colour == OVERFLOW_COLOUR) {
            ++overflow;
            continue;
        }
        VY_ASSERT(((taken_a | taken_b) >> c->colour & 1u) == 0);
        if (c->colour >= *colours) *colours = c->colour + 1u;
        if (c->flags & MOVES_A) s->colours[c->a] |= (uint64_t)1 << c->colour;
        if (c->flags & MOVES_B) s->colours[c->b] |= (uint64_t)1 << c->colour;
    }
    return overflow;
}

// Contacts without a colour, ordered by their number of points.
static void list_overflow(const contact_system *s, const contact_group *g, uint32_t *order)
{
    for (int points = 1; points <= VY_MANIFOLD_POINTS; ++points) {
        for (uint32_t n = g->first; n < g->last; ++n) {
            const contact_header *c = &s->headers[s->grouped[n]];
            VY_ASSERT(c->point_count >= 1 && c->point_count <= VY_MANIFOLD_POINTS);
            if (c->colour == OVERFLOW_COLOUR && c->point_count == points) *order++ = s->grouped[n];
        }
    }
}

// An upper bound of the packs that the parts before this one use.
static uint32_t packs_before(uint32_t contacts, uint32_t parts, uint32_t width)
{
    return contacts / width + parts * (COLOURS + 1);
}

static void plan_packs(pack_plan *plan, void *memory)
{
    contact_system *s = plan->b->contacts;
    const contact_group *g = plan->group;
    const uint32_t count = g->last - g->first;
    VY_ASSERT(g->last <= s->capacity.solved);
    uint32_t *const overflow_order = s->order + s->capacity.solved + g->first;
    split_group(plan);
    plan->overflow_count = colour_contacts(s, g, &plan->colours);
    plan->overflow_order = overflow_order;
    if (plan->overflow_count > 0) list_overflow(s, g, overflow_order);
    if (count <= NARROW_CONTACTS) plan->wide = plan->narrow; // empty lanes cost as much as full ones
    VY_ASSERT(plan->colours <= COLOURS && plan->overflow_count <= count);
    VY_ASSERT(((uintptr_t)memory & 63u) == 0);
    plan->packs = memory;
    plan->overflow = (unsigned char *)memory +
                     packs_before(count, plan->part_count, plan->wide->width) * plan->wide->pack_size;
}

// Order a part's contacts by colour, and within a colour by their number of points, so that packs are evenly
// filled. How contacts are packed changes no bits.
static void plan_part(const pack_plan *plan, uint32_t index)
{
    const contact_system *s = plan->b->contacts;
    struct solver_part *part = &plan->parts[index];
    uint32_t count[COLOURS + 1] = {0}, at[COLOURS + 1], n = part->first;
    part->has_restitution = 0;
    for (uint32_t k = part->first; k < part->last; ++k) {
        const contact_header *c = &s->headers[s->grouped[k]];
        count[c->colour] += 1;
        part->has_restitution |= (c->flags & HAS_RESTITUTION) != 0;
    }
    part->packs_first = part->packs_last =
        packs_before(part->first - plan->group->first, index, plan->wide->width);
    for (uint32_t c = 0; c < plan->colours; ++c) {
        const uint32_t packs = (count[c] + plan->wide->width - 1) / plan->wide->width;
        part->colour[c] = (colour_range){part->packs_last, part->packs_last + packs, n, count[c]};
        part->packs_last += packs;
        at[c] = n;
        n += count[c];
    }
    VY_ASSERT(n + count[OVERFLOW_COLOUR] == part->last);
    VY_ASSERT(part->packs_last <=
              packs_before(part->last - plan->group->first, index + 1, plan->wide->width));
    for (int points = 1; points <= VY_MANIFOLD_POINTS; ++points) {
        for (uint32_t k = part->first; k < part->last; ++k) {
            const contact_header *c = &s->headers[s->grouped[k]];
            if (c->point_count == points && c->colour != OVERFLOW_COLOUR)
                s->order[at[c->colour]++] = s->grouped[k];
        }
    }
}

// ---- threads: each does its part of every loop, with a barrier before the next one

/// One thread of those that solve a group.
typedef struct worker {
    vy_pool *pool; // NULL: there is only one
    uint32_t part; // its own
} worker;

static void barrier(const worker *t)
{
    if (t->pool != NULL) vy_pool_barrier(t->pool);
}

static void prepare_packs(const pack_plan *plan, const worker *t)
{
    const contact_system *s = plan->b->contacts;
    const uint32_t width = plan->wide->width;
    plan_part(plan, t->part);
    for (uint32_t c = 0; c < plan->colours; ++c) {
        const colour_range *range = &plan->parts[t->part].colour[c];
        for (uint32_t done = 0; done < range->count; done += width) {
            const uint32_t left = range->count - done, pack = range->first + done / width;
            plan->wide->prepare(&plan->context, &s->order[range->start + done], left < width ? left : width,
                                (unsigned char *)plan->packs + pack * plan->wide->pack_size);
        }
    }
    for (uint32_t k = 0; k < plan->overflow_count && t->part == 0; ++k)
        plan->narrow->prepare(&plan->context, &plan->overflow_order[k], 1,
                              (unsigned char *)plan->overflow + k * plan->narrow->pack_size);
    barrier(t);
}

typedef enum stage {
    WARM_START,
    SCALE_IMPULSES,
    SOLVE,
    RELAX,
    RELAX_LAST,
    APPLY_RESTITUTION,
    RESTITUTION_FRICTION,
    SCALE_RESTITUTION,
    LIMIT_IMPULSES
} stage;

static void run_packs(const pack_plan *plan, const worker *t, stage at)
{
    void (*const wide[])(const contact_context *, void *, uint32_t,
                         uint32_t) = {plan->wide->warm_start,
                                      plan->wide->scale_impulses,
                                      plan->wide->solve,
                                      plan->wide->relax,
                                      plan->wide->relax_last,
                                      plan->wide->apply_restitution,
                                      plan->wide->restitution_friction,
                                      plan->wide->scale_restitution,
                                      plan->wide->limit_impulses};
    void (*const narrow[])(const contact_context *, void *, uint32_t,
                           uint32_t) = {plan->narrow->warm_start,
                                        plan->narrow->scale_impulses,
                                        plan->narrow->solve,
                                        plan->narrow->relax,
                                        plan->narrow->relax_last,
                                        plan->narrow->apply_restitution,
                                        plan->narrow->restitution_friction,
                                        plan->narrow->scale_restitution,
                                        plan->narrow->limit_impulses};
    const colour_range *own = plan->parts[t->part].colour;
    for (uint32_t c = 0; c < plan->colours; ++c) {
        wide[at](&plan->context, plan->packs, own[c].first, own[c].last);
        barrier(t);
    }
    if (plan->overflow_count == 0) return;
    if (t->part == 0) narrow[at](&plan->context, plan->overflow, 0, plan->overflow_count);
    barrier(t);
}

// Whether some contact has restitution, in the part of any thread.
static int any_restitution(const pack_plan *plan)
{
    int any = 0;
    for (uint32_t i = 0; i < plan->part_count; ++i) any |= plan->parts[i].has_restitution;
    return any;
}

// Whether some body is not vectorised, in the part of any thread.
static int any_unvectorised(const pack_plan *plan)
{
    int any = 0;
    for (uint32_t i = 0; i < plan->part_count; ++i) any |= plan->parts[i].has_unvectorised;
    return any;
}

static void store_packs(const pack_plan *plan, const worker *t)
{
    VY_ASSERT(t->part < plan->part_count);
    const struct solver_part *own = &plan->parts[t->part];
    plan->wide->store_impulses(&plan->context, plan->packs, own->packs_first, own->packs_last);
    if (t->part == 0) plan->narrow->store_impulses(&plan->context, plan->overflow, 0, plan->overflow_count);
}

// ---- memory

size_t vy_contacts_part_memory(uint32_t threads) { return threads * sizeof(struct solver_part); }

// Bytes for the packs of so many contacts, on any machine; a multiple of the lanes' alignment.
static size_t pack_memory(uint32_t contacts, uint32_t parts)
{
    const contact_kernel *const all[] = {vy_contact_kernel_1, vy_contact_kernel_2, vy_contact_kernel_4_avx2,
                                         vy_contact_kernel_8_avx512};
    size_t max_size = 0;
    for (int i = 0; i < 4; ++i) {
        if (all[i] == NULL) continue;
        const size_t size = packs_before(contacts, parts, all[i]->width) * all[i]->pack_size;
        max_size = size > max_size ? size : max_size;
    }
    return (max_size + contacts * vy_contact_kernel_1->pack_size + 63u) & ~(size_t)63u;
}

size_t vy_contacts_pack_memory(uint32_t cap, uint32_t threads)
{
    const size_t all_threads = pack_memory(cap, threads),
                 one_thread = threads * pack_memory(GROUP_CONTACTS, 1);
    return all_threads > one_thread ? all_threads : one_thread;
}

// ---- a step

// A kinematic body may do work, so what it touches uses all of the warm start.
static double island_warm_start_fraction(const contact_system *s, uint32_t root)
{
    return s->island_has_kinematic[root] ? 1.0 : warm_start_fraction(s->island_warm_start_work[root]);
}

// The work of each island's warm start, and whether one of them is not used whole: most are.
static void sum_warm_start_work(const pack_plan *plan)
{
    contact_system *s = plan->b->contacts;
    const contact_group *g = plan->group;
    int scales = 0, adds = 0;
    for (uint32_t t = 0; t < plan->part_count; ++t) adds |= plan->parts[t].warm_start_adds;
    plan->parts[0].scales_impulses = 0;
    if (!adds) return;
    for (uint32_t n = g->member_first; n < g->member_last; ++n) {
        const uint32_t i = s->members[n], root = s->root_of[i];
        VY_ASSERT(root <= i);
        warm_start_work *sum = &s->island_warm_start_work[root];
        if (root == i) *sum = (warm_start_work){0.0, 0.0}; // it comes before the others of its island
        sum->linear += s->warm_start_work[i].linear;
        sum->quadratic += s->warm_start_work[i].quadratic;
    }
    for (uint32_t n = g->member_first; n < g->member_last; ++n) {
        const uint32_t i = s->members[n];
        if (s->root_of[i] == i) scales |= island_warm_start_fraction(s, i) != 1.0;
    }
    plan->parts[0].scales_impulses = scales;
}

/// Plain bodies, until there are as many as lanes.
typedef struct body_lanes {
    uint32_t count;
    uint32_t bodies[8];
} body_lanes;

static int integrate_velocity(const pack_plan *plan, uint32_t i)
{
    contact_system *s = plan->b->contacts;
    const warm_start_work work = integrate_forces(&s->body[i], &s->motion[i], plan->substep_h);
    apply_warm_start_fraction(&s->motion[i], 1.0);
    s->warm_start_work[i] = work;
    return work.linear + 0.5 * work.quadratic > 0.0;
}

// Forces and the warm start, for the bodies of a part. Returns whether the warm start of one adds energy.
static int integrate_part_velocities(const pack_plan *plan, const struct solver_part *own)
{
    contact_system *s = plan->b->contacts;
    const double h = plan->substep_h;
    body_lanes lanes = {.count = 0};
    int adds = 0;
    for (uint32_t n = own->member_first; n < own->member_last; ++n) {
        const uint32_t i = s->members[n];
        if (s->body[i].is_vectorised) {
            lanes.bodies[lanes.count++] = i;
            if (lanes.count < s->kernel->width) continue;
            adds |= s->kernel->integrate_velocities(&plan->context, lanes.bodies, h, s->warm_start_work);
            lanes.count = 0;
        } else if (s->body[i].moves) {
            adds |= integrate_velocity(plan, i);
        }
    }
    for (uint32_t k = 0; k < lanes.count; ++k)
        adds |= plan->narrow->integrate_velocities(&plan->context, &lanes.bodies[k], h, s->warm_start_work);
    return adds;
}

// Forces, then of the warm start what adds no energy.
static void integrate_velocities(const pack_plan *plan, const worker *t)
{
    contact_system *s = plan->b->contacts;
    struct solver_part *own = &plan->parts[t->part];
    own->warm_start_adds = integrate_part_velocities(plan, own); // to some body: else to no island
    barrier(t);
    if (t->part == 0) sum_warm_start_work(plan);
    barrier(t);
    if (!plan->parts[0].scales_impulses) return;
    for (uint32_t n = own->member_first; n < own->member_last; ++n) {
        const uint32_t i = s->members[n];
        s->motion[i].fraction = island_warm_start_fraction(s, s->root_of[i]);
        if (s->body[i].moves) apply_warm_start_fraction(&s->motion[i], s->motion[i].fraction - 1.0);
    }
    barrier(t);
    run_packs(plan, t, SCALE_IMPULSES);
}

static void integrate_positions(const pack_plan *plan, const struct solver_part *own)
{
    vy_bodies *b = plan->b;
    contact_system *s = b->contacts;
    const double h = plan->substep_h;
    body_lanes lanes = {.count = 0};
    for (uint32_t n = own->member_first; n < own->member_last; ++n) {
        const uint32_t i = s->members[n];
        if (s->body[i].is_vectorised) {
            lanes.bodies[lanes.count++] = i;
            if (lanes.count < s->kernel->width) continue;
            s->kernel->integrate_positions(&plan->context, lanes.bodies, h);
            lanes.count = 0;
        } else {
            integrate_position(&s->body[i], &s->motion[i], &b->params[i], h);
            clear_warm_start(&s->motion[i]);
        }
    }
    for (uint32_t k = 0; k < lanes.count; ++k)
        plan->narrow->integrate_positions(&plan->context, &lanes.bodies[k], h);
}

// ---- energy

#define ENERGY_TOLERANCE 1e-6 // of the kinetic energy
#define WEIGHT_TOLERANCE 1e-5 // of that which forces give to a body at rest in a sub-step

static void save_substep_start(const pack_plan *plan, const struct solver_part *own)
{
    contact_system *s = plan->b->contacts;
    for (uint32_t n = own->member_first; n < own->member_last; ++n) {
        const uint32_t i = s->members[n];
        if (s->body[i].moves)
            s->substep_start[i] = substep_start_of(&s->body[i], &s->motion[i], &plan->b->params[i]);
    }
}

// What each island has, and what contacts may leave it: no more than it had, and the work of forces.
static void sum_energies(const pack_plan *plan)
{
    contact_system *s = plan->b->contacts;
    const contact_group *g = plan->group;
    const double h = plan->substep_h;
    for (uint32_t n = g->member_first; n < g->member_last; ++n) {
        const uint32_t i = s->members[n], root = s->root_of[i];
        if (!s->body[i].moves) continue;
        s->island_warm_start_work[root] = (warm_start_work){0.0, 0.0};
        s->island_sum[root] = (energy_sum){0.0, 0.0};
    }
    for (uint32_t n = g->member_first; n < g->member_last; ++n) {
        const uint32_t i = s->members[n];
        const contact_body *x = &s->body[i];
        if (!x->moves) continue;
        const substep_start *start = &s->substep_start[i];
        const body_params *params = &plan->b->params[i];
        s->motion_before[i] = motion_without_contacts(x, start, h);
        const warm_start_work work = change_work(x, &s->motion_before[i], &s->motion[i], params);
        const double fall = h * h * vec3_dot(x->acceleration, x->acceleration) / x->inverse_mass;
        const uint32_t root = s->root_of[i];
        s->island_warm_start_work[root].linear += work.linear;
        s->island_warm_start_work[root].quadratic += work.quadratic;
        s->island_sum[root].kinetic += kinetic_energy_of(x, &s->motion[i], params);
        s->island_sum[root].limit += (1.0 + ENERGY_TOLERANCE) * start->energy + WEIGHT_TOLERANCE * fall +
                                     work_of_forces(x, start, &s->motion[i], h);
    }
}

// Contacts do no work on an island: where they would, the change of velocities that they made is scaled to
// what does none.
static void find_energy_fractions(const pack_plan *plan)
{
    contact_system *s = plan->b->contacts;
    const contact_group *g = plan->group;
    int scales = 0;
    sum_energies(plan);
    for (uint32_t n = g->member_first; n < g->member_last; ++n) {
        const uint32_t i = s->members[n], root = s->root_of[i];
        if (!s->body[i].moves) continue;
        const double limit = real_max(s->island_sum[root].limit, 0.0), kinetic = s->island_sum[root].kinetic;
        const warm_start_work work = s->island_warm_start_work[root];
        const int driven = s->island_has_kinematic[root];
        const double fraction = driven ? 1.0 : energy_fraction(work, kinetic, limit);
        s->island_energy[root] = driven ? 1.0 : energy_scale(work, kinetic, limit, fraction);
        s->motion[i].fraction = fraction;
        scales |= fraction != 1.0 || s->island_energy[root] != 1.0;
    }
    plan->parts[0].scales_impulses = scales;
    if (scales) atomic_fetch_add_explicit(&s->scaled, 1, memory_order_relaxed);
}

static void limit_energy(const pack_plan *plan, const worker *t)
{
    const contact_system *s = plan->b->contacts;
    const struct solver_part *own = &plan->parts[t->part];
    if (t->part == 0) find_energy_fractions(plan);
    barrier(t);
    if (!plan->parts[0].scales_impulses) return;
    for (uint32_t n = own->member_first; n < own->member_last; ++n) {
        const uint32_t i = s->members[n];
        if (s->body[i].moves)
            limit_motion(&s->motion_before[i], &s->motion[i], s->island_energy[s->root_of[i]]);
    }
    barrier(t);
    run_packs(plan, t, LIMIT_IMPULSES);
}

static void substep(const pack_plan *plan, const worker *t)
{
    const int cold = plan->group->start == START_COLD ? COLD_ITERATIONS : ITERATIONS,
              unequal = (int)plan->group->iterations, iterations = unequal > cold ? unequal : cold;
    const struct solver_part *own = &plan->parts[t->part];
    const int limits_energy = any_unvectorised(plan) && !plan->b->contacts->guards_off;
    if (limits_energy) save_substep_start(plan, own);
    integrate_velocities(plan, t);
    for (int n = 0; n < iterations; ++n) run_packs(plan, t, SOLVE);
    integrate_positions(plan, own);
    barrier(t);
    for (int n = 1; n < iterations; ++n) run_packs(plan, t, RELAX);
    run_packs(plan, t, RELAX_LAST);
    if (limits_energy) limit_energy(plan, t);
}

// The manifolds as they are now, in the first interval those of the start of the step.
static void renew_manifolds(const pack_plan *plan, const worker *t, uint32_t interval)
{
    vy_bodies *b = plan->b;
    const contact_system *s = b->contacts;
    const struct solver_part *own = &plan->parts[t->part];
    for (uint32_t n = own->first; n < own->last; ++n) {
        const uint32_t k = s->grouped[n];
        if (interval > 0) {
            vy_contact_renew(b, k, plan->substep_h);
            continue;
        }
        if (plan->retry) vy_contact_reset_to_start(b, k, plan->h);
        if (plan->group->intervals == 1) continue;
        vy_contact_scale(&s->contacts[k], plan->substep_h / plan->undivided_substep_h);
        s->headers[k].flags |= HAS_INTERVALS;
        s->sums[k] = (contact_sum){.points = 0};
    }
    barrier(t);
}

// ---- restitution

static void save_interval_start(const pack_plan *plan, const worker *t)
{
    const contact_system *s = plan->b->contacts;
    const struct solver_part *own = &plan->parts[t->part];
    for (uint32_t n = own->member_first; n < own->member_last; ++n) {
        const uint32_t i = s->members[n];
        if (!s->body[i].moves) continue;
        s->interval_start[i] = s->motion[i];
        s->interval_start[i].fraction = kinetic_energy_of(&s->body[i], &s->motion[i], &plan->b->params[i]);
    }
}

// How much of each island's restitution is used.
static void find_restitution_fractions(const pack_plan *plan)
{
    contact_system *s = plan->b->contacts;
    const contact_group *g = plan->group;
    const double h = plan->substep_h * (double)plan->substeps;
    int scales = 0;
    for (uint32_t n = g->member_first; n < g->member_last; ++n) {
        const uint32_t root = s->root_of[s->members[n]];
        if (!s->body[s->members[n]].moves) continue;
        s->island_warm_start_work[root] = (warm_start_work){0.0, 0.0};
        s->island_energy[root] = 0.0;
    }
    for (uint32_t n = g->member_first; n < g->member_last; ++n) {
        const uint32_t i = s->members[n];
        if (!s->body[i].moves) continue;
        const body_params *params = &plan->b->params[i];
        const warm_start_work work = change_work(&s->body[i], &s->motion_before[i], &s->motion[i], params);
        warm_start_work *sum = &s->island_warm_start_work[s->root_of[i]];
        sum->linear += work.linear;
        sum->quadratic += work.quadratic;
        s->island_energy[s->root_of[i]] +=
            contact_loss(&s->body[i], &s->interval_start[i], s->interval_start[i].fraction,
                         &s->motion_before[i], params, h);
    }
    for (uint32_t n = g->member_first; n < g->member_last; ++n) {
        const uint32_t i = s->members[n], root = s->root_of[i];
        if (!s->body[i].moves) continue;
        const double fraction =
            s->island_has_kinematic[root]
                ? 1.0
                : restitution_fraction(s->island_warm_start_work[root], s->island_energy[root]);
        s->motion[i].fraction = fraction;
        scales |= fraction != 1.0;
    }
    plan->parts[0].scales_impulses = scales;
}

static void solve_restitution(const pack_plan *plan, const worker *t)
{
    const contact_system *s = plan->b->contacts;
    const struct solver_part *own = &plan->parts[t->part];
    for (uint32_t n = own->member_first; n < own->member_last; ++n)
        s->motion_before[s->members[n]] = s->motion[s->members[n]];
    barrier(t);
    for (int n = 0; n < RESTITUTION_ITERATIONS; ++n) run_packs(plan, t, APPLY_RESTITUTION);
    run_packs(plan, t, RESTITUTION_FRICTION);
    if (t->part == 0) find_restitution_fractions(plan);
    barrier(t);
    if (!plan->parts[0].scales_impulses) return;
    for (uint32_t n = own->member_first; n < own->member_last; ++n) {
        const uint32_t i = s->members[n];
        if (s->body[i].moves) scale_change(&s->motion_before[i], &s->motion[i], s->motion[i].fraction);
    }
    run_packs(plan, t, SCALE_RESTITUTION);
}

// Of vectorised bodies, which the sub-steps do without.
static void update_rotations(const pack_plan *plan, const worker *t)
{
    const contact_system *s = plan->b->contacts;
    const struct solver_part *own = &plan->parts[t->part];
    for (uint32_t n = own->member_first; n < own->member_last; ++n) {
        contact_body *body = &s->body[s->members[n]];
        if (body->is_vectorised) body->rotation = quat_matrix(body->attitude);
    }
}

static void solve_interval(const pack_plan *plan, const worker *t)
{
    prepare_packs(plan, t);
    if (any_restitution(plan)) save_interval_start(plan, t);
    run_packs(plan, t, WARM_START);
    for (int k = 0; k < plan->substeps; ++k) substep(plan, t);
    update_rotations(plan, t);
    if (any_restitution(plan)) solve_restitution(plan, t);
    store_packs(plan, t);
}

// After an interval: its sums, and displacements that count from here on.
static void finish_interval(const pack_plan *plan, const worker *t)
{
    const contact_system *s = plan->b->contacts;
    const struct solver_part *own = &plan->parts[t->part];
    barrier(t);
    for (uint32_t n = own->member_first; n < own->member_last; ++n)
        vy_contact_body_rebase(&s->body[s->members[n]]);
    barrier(t);
    for (uint32_t n = own->first; n < own->last; ++n) vy_contact_add_interval(plan->b, s->grouped[n]);
}

// Impulses as of a step that is not divided: they are kept.
static void finish_contacts(const pack_plan *plan, const worker *t)
{
    const contact_system *s = plan->b->contacts;
    const struct solver_part *own = &plan->parts[t->part];
    for (uint32_t n = own->first; n < own->last; ++n) {
        const uint32_t k = s->grouped[n];
        vy_contact_scale(&s->contacts[k], plan->undivided_substep_h / plan->substep_h);
        s->headers[k].impulse_points = (uint32_t)s->sums[k].points;
    }
}

static void solve_group(const pack_plan *plan, const worker *t)
{
    vy_bodies *b = plan->b;
    contact_system *s = b->contacts;
    struct solver_part *own = &plan->parts[t->part];
    own->has_unvectorised = 0;
    for (uint32_t n = own->member_first; n < own->member_last; ++n) {
        const uint32_t i = s->members[n];
        const vec3 acceleration = s->body[i].acceleration, torque = s->body[i].torque;
        contact_body_load(b, i, plan->h);
        own->has_unvectorised |= s->body[i].moves && !s->body[i].is_vectorised;
        if (!plan->retry) continue;
        s->body[i].acceleration = acceleration; // the free flight that they follow from is gone
        s->body[i].torque = torque;
        s->body[i].is_vectorised = body_is_vectorised(&s->body[i]);
    }
    barrier(t);
    for (uint32_t n = 0; n < plan->group->intervals; ++n) {
        if (plan->retry || plan->group->intervals > 1) renew_manifolds(plan, t, n);
        solve_interval(plan, t);
        if (plan->group->intervals > 1) finish_interval(plan, t);
    }
    if (plan->group->intervals > 1) finish_contacts(plan, t);
    for (uint32_t n = own->member_first; n < own->member_last; ++n) {
        if (s->body[s->members[n]].moves) contact_body_store(b, s->members[n]);
    }
}

contact_context vy_contacts_context(const vy_bodies *b, double h, double substep_h, double stiff_h)
{
    VY_ASSERT(substep_h > 0.0 && substep_h <= h && (stiff_h == 0.0 || stiff_h >= substep_h));
    const contact_system *s = b->contacts;
    const vy_contacts_def *def = &b->def.contacts;
    const int stiff = stiff_h > 0.0;
    const double followed = 0.25 / (stiff ? stiff_h : substep_h); // [Hz] of a mass that sub-steps can follow
    const double hertz = stiff ? followed : real_min(CONTACT_HERTZ, followed),
                 ratio = stiff ? STIFF_DAMPING_RATIO : CONTACT_DAMPING_RATIO;
    return (contact_context){
        .contacts = s->contacts,
        .headers = s->headers,
        .motion = s->motion,
        .body = s->body,
        .inverse_h = 1.0 / substep_h,
        .thickness = s->thickness,
        .slop = def->slop,
        .push_speed = def->push_speed,
        .mean_weight = substep_h / MEAN_IMPULSE_TIME,
        .restitution_threshold = restitution_threshold(b, h),
        .hold_mean_impulse = stiff,
        .softness = {make_soft(hertz, ratio, substep_h), make_soft(2.0 * hertz, ratio, substep_h)}};
}

static void plan_intervals(pack_plan *plan)
{
    const int divided = plan->group->intervals > 1, stiff = plan->group->stiff;
    if (divided) {
        plan->substeps = 1;
        plan->substep_h = plan->h / (double)plan->group->intervals;
    }
    if (divided || stiff) {
        plan->context = vy_contacts_context(plan->b, divided ? plan->substep_h : plan->h, plan->substep_h,
                                            stiff ? plan->substep_h : 0.0);
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
static void solve_group_on_all_threads(const pack_plan *common, const contact_group *g)
{
    VY_ASSERT(g->all_threads);
    const contact_system *s = common->b->contacts;
    vy_pool *const pool = g->last - g->first < MIN_PARALLEL_CONTACTS ? NULL : common->b->pool;
    pack_plan plan = *common;
    plan.group = g;
    plan_intervals(&plan);
    plan.parts = s->parts;
    plan.part_count = pool == NULL ? 1 : vy_pool_count(pool);
    plan_packs(&plan, s->packs);
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
        plan_packs(&plan, (unsigned char *)s->packs + thread * pack_memory(GROUP_CONTACTS, 1));
        solve_group(&plan, &(worker){NULL, 0});
    }
    fpu_leave(fpu_state);
}

// ---- intervals

// As many as a body needs, and an island of so many contacts affords.
static uint32_t intervals_for(const vy_bodies *b, uint32_t i, vec3 rate, double h, uint32_t contacts)
{
    const uint32_t needed = vy_contacts_intervals(b, i, rate, h),
                   max_intervals = INTERVAL_CONTACTS / (contacts > 0 ? contacts : 1);
    return needed < max_intervals ? needed : max_intervals;
}

static void count_island_contacts(vy_bodies *b)
{
    contact_system *s = b->contacts;
    for (uint32_t i = 0; i < b->limit; ++i) s->island_contacts[i] = 0;
    for (uint32_t k = 0; k < s->count; ++k) {
        if (s->headers[k].start != START_NONE) s->island_contacts[island_of(s, &s->headers[k])] += 1;
    }
}

// How many intervals each island needs, by the rates of its bodies before the step.
static void find_intervals(vy_bodies *b, double h, int substeps, int may_divide)
{
    contact_system *s = b->contacts;
    int any = 0;
    for (uint32_t i = 0; i < b->limit; ++i) {
        s->island_intervals[i] = 1;
        any |=
            s->start_mask[i] != 0 && vy_contacts_needs_intervals(b, i, s->start_state[i].rate, h, substeps);
    }
    s->has_fast = any;
    if (!any || !may_divide) return;
    count_island_contacts(b);
    for (uint32_t i = 0; i < b->limit; ++i) {
        if (s->start_mask[i] == 0 || !b->awake[i]) continue;
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
    int any = 0;
    for (uint32_t i = 0; i < b->limit && !any; ++i)
        any = (s->start_mask[i] & (START_WARM | START_COLD)) != 0 && s->body[i].moves &&
              vy_contacts_needs_intervals(b, i, vec3_of(s->motion[i].rate), h, substeps);
    if (!any) return 0;
    if (!s->has_fast) count_island_contacts(b);
    s->has_fast = 1;
    any = 0;
    for (uint32_t i = 0; i < b->limit; ++i) s->island_retry[i] = 0;
    for (uint32_t i = 0; i < b->limit; ++i) {
        if ((s->start_mask[i] & (START_WARM | START_COLD)) == 0 || !s->body[i].moves) continue;
        const vec3 rate = mat3_tmul_vec(s->body[i].rotation, vec3_of(s->motion[i].rate));
        const uint32_t root = island_root(s->parent, i),
                       needed = intervals_for(b, i, rate, h, s->island_contacts[root]);
        const uint32_t had = s->island_intervals[root] > 1 ? s->island_intervals[root] : (uint32_t)substeps;
        if (needed <= had + had / 2) continue;
        s->island_retry[root] = 1;
        s->island_intervals[root] = needed;
        any = 1;
    }
    return any;
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
    for (uint32_t i = 0; i < b->limit; ++i) {
        if (s->start_mask[i] != 0 && b->slots[i].kind == VY_BODY_STATIC) contact_body_load(b, i, h);
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
