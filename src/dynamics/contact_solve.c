// contact_solve.c - contacts as soft constraints on velocities, in sub-steps.
//
// A sub-step: forces change the velocities; the pushes of the last sub-step are given again; each contact in
// turn takes away the speed at which its points close, with a spring and damper for what overlaps (Catto,
// Solver2D 2024); bodies move; each contact in turn takes away what the springs have added (relaxation).
// After the last one fast impacts bounce. Both bodies of a contact are pushed at one common point, and
// spinning bodies keep their angular momentum, so momentum and angular momentum are kept to rounding.
//
// The turns go by colour: contacts of one colour share no body that moves, so they may be solved at the same
// time, as many as a register has lanes. Colours depend on the contacts alone, in their order.
#include "base/cpu.h"
#include "dynamics/contact_body.h"
#include <stdlib.h>

#define CONTACT_HERTZ  30.0
#define CONTACT_DAMPED 10.0 // ratio to critical damping
#define LOAD_TIME      0.25 // [s]
#define TWO_PI         6.283185307179586
enum { BOUNCE_TURNS = 8, FEW = 3 };
enum { FEW_FOR_THREADS = 128 }; // contacts
// How often each contact has its turn in half a sub-step: when the pushes of the last one are known, and when
// none are. What stands on ten others needs about so many, for a turn brings a push one body further.
enum { TURNS = 1, COLD_TURNS = 64 };

static contact_spring soft(double hertz, double damped, double h)
{
    const double omega = TWO_PI * hertz, a1 = 2.0 * damped + h * omega, a2 = h * omega * a1,
                 a3 = 1.0 / (1.0 + a2);
    return (contact_spring){omega / a1, a2 * a3, a3};
}

// ---- colours and packs

/// Packs of one colour lie side by side.
typedef struct colour_range {
    uint32_t first, last;  // packs
    uint32_t start, count; // contacts, in their order by colour
} colour_range;

enum { COLOURS = 64, UNCOLOURED = COLOURS };

/// What one thread does of a group: contacts and bodies that are neighbours in its lists, so that threads
/// seldom write what another one reads.
struct contact_part {
    uint32_t first, last;               // contacts
    uint32_t member_first, member_last; // bodies
    uint32_t packs_first, packs_last;
    int bounces; // some contact does
    colour_range colour[COLOURS];
};

/// How a group is solved.
typedef struct pack_plan {
    vy_bodies *b;
    const contact_group *group;
    const contact_kernel *wide, *narrow;
    contact_job job;
    double h;         // [s] of the step
    double each;      // [s] of a sub-step
    int steps;        // so many
    uint32_t colours; // in use
    struct contact_part *parts;
    uint32_t part_count; // one for each thread that takes part
    void *packs;
    void *loose; // contacts for which no colour was left, one in a pack of the narrow kernel
    uint32_t loose_count;
    const uint32_t *loose_order;
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

// As many contacts and bodies for each part.
static void split(const pack_plan *plan)
{
    const contact_group *g = plan->group;
    const uint64_t contacts = g->last - g->first, members = g->member_last - g->member_first;
    for (uint32_t t = 0; t < plan->part_count; ++t) {
        struct contact_part *p = &plan->parts[t];
        p->first = g->first + (uint32_t)(contacts * t / plan->part_count);
        p->last = g->first + (uint32_t)(contacts * (t + 1) / plan->part_count);
        p->member_first = g->member_first + (uint32_t)(members * t / plan->part_count);
        p->member_last = g->member_first + (uint32_t)(members * (t + 1) / plan->part_count);
    }
}

// Each contact in turn takes the first colour that neither of its moving bodies has. Returns how many have
// none.
static uint32_t colour_contacts(contact_system *s, const contact_group *g, uint32_t *colours)
{
    uint32_t loose = 0;
    *colours = 0;
    for (uint32_t n = g->member_first; n < g->member_last; ++n) s->colours[s->members[n]] = 0;
    for (uint32_t n = g->first; n < g->last; ++n) {
        contact_link *c = &s->links[s->grouped[n]];
        const uint64_t taken_a = c->facts & MOVES_A ? s->colours[c->a] : 0,
                       taken_b = c->facts & MOVES_B ? s->colours[c->b] : 0;
        c->colour = (uint8_t)lowest_free(taken_a | taken_b);
        if (c->colour == UNCOLOURED) {
            ++loose;
            continue;
        }
        if (c->colour >= *colours) *colours = c->colour + 1u;
        if (c->facts & MOVES_A) s->colours[c->a] |= (uint64_t)1 << c->colour;
        if (c->facts & MOVES_B) s->colours[c->b] |= (uint64_t)1 << c->colour;
    }
    return loose;
}

// Contacts without a colour, by their number of points.
static void list_loose(const contact_system *s, const contact_group *g, uint32_t *order)
{
    for (int points = 1; points <= VY_MANIFOLD_POINTS; ++points) {
        for (uint32_t n = g->first; n < g->last; ++n) {
            const contact_link *c = &s->links[s->grouped[n]];
            if (c->colour == UNCOLOURED && c->count == points) *order++ = s->grouped[n];
        }
    }
}

// The packs of parts before this one, and what may be left empty in them.
static uint32_t packs_before(uint32_t contacts, uint32_t parts, uint32_t width)
{
    return contacts / width + parts * (COLOURS + 1);
}

static void plan_packs(pack_plan *plan, void *memory)
{
    contact_system *s = plan->b->contacts;
    const contact_group *g = plan->group;
    const uint32_t count = g->last - g->first;
    uint32_t *const loose_order = s->order + plan->b->def.contacts.cap + g->first;
    split(plan);
    plan->loose_count = colour_contacts(s, g, &plan->colours);
    plan->loose_order = loose_order;
    if (plan->loose_count > 0) list_loose(s, g, loose_order);
    if (count <= FEW) plan->wide = plan->narrow; // lanes without work cost as much as those with
    plan->packs = memory;
    plan->loose = (unsigned char *)memory +
                  packs_before(count, plan->part_count, plan->wide->width) * plan->wide->pack_size;
}

// A part's contacts by colour, and within a colour by their number of points, so that packs are even. How
// they are put together changes no bits.
static void plan_part(const pack_plan *plan, uint32_t index)
{
    const contact_system *s = plan->b->contacts;
    struct contact_part *part = &plan->parts[index];
    uint32_t count[COLOURS + 1] = {0}, at[COLOURS + 1], n = part->first;
    part->bounces = 0;
    for (uint32_t k = part->first; k < part->last; ++k) {
        const contact_link *c = &s->links[s->grouped[k]];
        count[c->colour] += 1;
        part->bounces |= (c->facts & BOUNCES) != 0;
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
    for (int points = 1; points <= VY_MANIFOLD_POINTS; ++points) {
        for (uint32_t k = part->first; k < part->last; ++k) {
            const contact_link *c = &s->links[s->grouped[k]];
            if (c->count == points && c->colour != UNCOLOURED) s->order[at[c->colour]++] = s->grouped[k];
        }
    }
}

// ---- threads: each does its part of every loop, and all meet before the next one

/// One thread of those that solve a group.
typedef struct team {
    vy_pool *pool; // NULL: it is alone
    uint32_t part; // its own
} team;

static void meet(const team *t)
{
    if (t->pool != NULL) vy_pool_meet(t->pool);
}

static void fill_packs(const pack_plan *plan, const team *t)
{
    const contact_system *s = plan->b->contacts;
    const uint32_t width = plan->wide->width;
    plan_part(plan, t->part);
    for (uint32_t c = 0; c < plan->colours; ++c) {
        const colour_range *range = &plan->parts[t->part].colour[c];
        for (uint32_t done = 0; done < range->count; done += width) {
            const uint32_t left = range->count - done, pack = range->first + done / width;
            plan->wide->fill(&plan->job, &s->order[range->start + done], left < width ? left : width,
                             (unsigned char *)plan->packs + pack * plan->wide->pack_size);
        }
    }
    for (uint32_t k = 0; k < plan->loose_count && t->part == 0; ++k)
        plan->narrow->fill(&plan->job, &plan->loose_order[k], 1,
                           (unsigned char *)plan->loose + k * plan->narrow->pack_size);
    meet(t);
}

typedef enum stage { WARM, SOLVE, SETTLE, RELAX, BOUNCE, SCRAPE } stage;

static void run_packs(const pack_plan *plan, const team *t, stage at)
{
    void (*const wide[])(const contact_job *, void *, uint32_t,
                         uint32_t) = {plan->wide->warm,  plan->wide->solve,  plan->wide->settle,
                                      plan->wide->relax, plan->wide->bounce, plan->wide->scrape};
    void (*const narrow[])(const contact_job *, void *, uint32_t,
                           uint32_t) = {plan->narrow->warm,  plan->narrow->solve,  plan->narrow->settle,
                                        plan->narrow->relax, plan->narrow->bounce, plan->narrow->scrape};
    const colour_range *own = plan->parts[t->part].colour;
    for (uint32_t c = 0; c < plan->colours; ++c) {
        wide[at](&plan->job, plan->packs, own[c].first, own[c].last);
        meet(t);
    }
    if (plan->loose_count == 0) return;
    if (t->part == 0) narrow[at](&plan->job, plan->loose, 0, plan->loose_count);
    meet(t);
}

// Whether some contact does, of any thread.
static int bounces(const pack_plan *plan)
{
    int any = 0;
    for (uint32_t i = 0; i < plan->part_count; ++i) any |= plan->parts[i].bounces;
    return any;
}

static void empty_packs(const pack_plan *plan, const team *t)
{
    const struct contact_part *own = &plan->parts[t->part];
    plan->wide->empty(&plan->job, plan->packs, own->packs_first, own->packs_last);
    if (t->part == 0) plan->narrow->empty(&plan->job, plan->loose, 0, plan->loose_count);
}

// ---- memory

size_t vy_contacts_part_memory(uint32_t threads) { return threads * sizeof(struct contact_part); }

// Of so many contacts, on any machine; a multiple of what lanes want.
static size_t pack_memory(uint32_t contacts, uint32_t parts)
{
    const contact_kernel *const all[] = {vy_contact_kernel_1, vy_contact_kernel_2, vy_contact_kernel_4_avx2,
                                         vy_contact_kernel_8_avx512};
    size_t most = 0;
    for (int i = 0; i < 4; ++i) {
        if (all[i] == NULL) continue;
        const size_t size = packs_before(contacts, parts, all[i]->width) * all[i]->pack_size;
        most = size > most ? size : most;
    }
    return (most + contacts * vy_contact_kernel_1->pack_size + 63u) & ~(size_t)63u;
}

size_t vy_contacts_pack_memory(uint32_t cap, uint32_t threads)
{
    const size_t together = pack_memory(cap, threads), alone = threads * pack_memory(GROUP_CONTACTS, 1);
    return together > alone ? together : alone;
}

// ---- a step

static void substep(const pack_plan *plan, const team *t)
{
    vy_bodies *b = plan->b;
    contact_system *s = b->contacts;
    const int turns = plan->group->start == START_COLD ? COLD_TURNS : TURNS;
    const struct contact_part *own = &plan->parts[t->part];
    for (uint32_t n = own->member_first; n < own->member_last; ++n) {
        const uint32_t i = s->members[n];
        if (s->body[i].moves) contact_accelerate(&s->body[i], &s->motion[i], plan->each);
    }
    meet(t);
    for (int n = 0; n < turns; ++n) run_packs(plan, t, SOLVE);
    for (uint32_t n = own->member_first; n < own->member_last; ++n) {
        const uint32_t i = s->members[n];
        contact_move(&s->body[i], &s->motion[i], &b->params[i], plan->each);
    }
    meet(t);
    for (int n = 1; n < turns; ++n) run_packs(plan, t, SETTLE);
    run_packs(plan, t, RELAX);
}

static void solve_group(const pack_plan *plan, const team *t)
{
    vy_bodies *b = plan->b;
    contact_system *s = b->contacts;
    const struct contact_part *own = &plan->parts[t->part];
    for (uint32_t n = own->member_first; n < own->member_last; ++n) contact_load(b, s->members[n], plan->h);
    meet(t);
    fill_packs(plan, t);
    run_packs(plan, t, WARM);
    for (int k = 0; k < plan->steps; ++k) substep(plan, t);
    const int turns = bounces(plan) ? BOUNCE_TURNS : 0;
    for (int n = 0; n < turns; ++n) run_packs(plan, t, BOUNCE);
    if (turns > 0) run_packs(plan, t, SCRAPE);
    empty_packs(plan, t);
    for (uint32_t n = own->member_first; n < own->member_last; ++n) {
        if (s->body[s->members[n]].moves) contact_store(b, s->members[n]);
    }
}

contact_job vy_contacts_job(const vy_bodies *b, double h, double each)
{
    const contact_system *s = b->contacts;
    const vy_contacts_def *def = &b->def.contacts;
    const double hertz = real_min(CONTACT_HERTZ, 0.25 / each);
    return (contact_job){
        .list = s->list,
        .links = s->links,
        .motion = s->motion,
        .body = s->body,
        .per_h = 1.0 / each,
        .slop = def->slop,
        .push_speed = def->push_speed,
        .settle = each / LOAD_TIME,
        .threshold = contacts_slow(b, h),
        .spring = {soft(hertz, CONTACT_DAMPED, each), soft(2.0 * hertz, CONTACT_DAMPED, each)}};
}

static void solve_part(void *self, uint32_t thread, uint32_t count)
{
    (void)count;
    const pack_plan plan = *(const pack_plan *)self; // a copy: the caller's stack changes all the time
    const uint64_t found = fpu_enter();
    solve_group(&plan, &(team){plan.b->pool, thread});
    fpu_leave(found);
}

// By all threads, unless it is not worth waking them.
static void solve_with_all(const pack_plan *common, const contact_group *g)
{
    const contact_system *s = common->b->contacts;
    vy_pool *const pool = g->last - g->first < FEW_FOR_THREADS ? NULL : common->b->pool;
    pack_plan plan = *common;
    plan.group = g;
    plan.parts = s->parts;
    plan.part_count = pool == NULL ? 1 : vy_pool_count(pool);
    plan_packs(&plan, s->packs);
    if (pool == NULL) {
        solve_group(&plan, &(team){NULL, 0});
    } else {
        vy_pool_together(pool, solve_part, &plan);
    }
}

// Groups [first, last) but those that all threads solve.
static void solve_alone(void *self, uint32_t thread, size_t first, size_t last)
{
    pack_plan plan = *(const pack_plan *)self;
    const contact_system *s = plan.b->contacts;
    const uint64_t found = fpu_enter();
    plan.parts = s->parts + thread;
    plan.part_count = 1;
    for (size_t n = first; n < last; ++n) {
        if (s->groups[n].together) continue;
        plan.group = &s->groups[n];
        plan.wide = s->kernel;
        plan_packs(&plan, (unsigned char *)s->packs + thread * pack_memory(GROUP_CONTACTS, 1));
        solve_group(&plan, &(team){NULL, 0});
    }
    fpu_leave(found);
}

// Islands do not share bodies that move, so they may be solved in any order.
void vy_contacts_solve(vy_bodies *b, double h)
{
    contact_system *s = b->contacts;
    const int steps = contacts_substeps(h, b->def.contacts.substep);
    const double each = h / (double)steps;
    pack_plan plan = {.b = b,
                      .wide = s->kernel,
                      .narrow = vy_contact_kernel_1,
                      .job = vy_contacts_job(b, h, each),
                      .h = h,
                      .each = each,
                      .steps = steps};
    vy_contacts_group(b);
    if (s->group_count == 0) return;
    for (uint32_t i = 0; i < b->limit; ++i) {
        if (s->solved[i] != 0 && b->slots[i].kind == VY_BODY_STATIC) contact_load(b, i, h);
    }
    atomic_store_explicit(&s->lost, 0, memory_order_relaxed);
    for (uint32_t n = 0; n < s->group_count; ++n) {
        if (s->groups[n].together) solve_with_all(&plan, &s->groups[n]);
    }
    if (b->pool == NULL || s->count < FEW_FOR_THREADS) {
        solve_alone(&plan, 0, 0, s->group_count);
    } else {
        vy_pool_run(b->pool, s->group_count, solve_alone, &plan);
    }
    if (atomic_load_explicit(&s->lost, memory_order_relaxed)) b->head->failed = 1;
}
