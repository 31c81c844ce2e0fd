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

/// What one thread does: contacts that are neighbours in the list and bodies that are neighbours in their
/// slots, so that threads seldom write what another one reads.
struct contact_part {
    uint32_t first, last;           // contacts
    uint32_t body_first, body_last; // slots
    uint32_t packs_first, packs_last;
    int bounces; // some contact does
    colour_range colour[COLOURS];
};

/// The packs of a step.
typedef struct pack_plan {
    const contact_kernel *wide, *narrow;
    contact_job job;
    contact_start start; // of the islands that are solved
    uint32_t parts;      // of the work, one for each thread
    uint32_t colours;    // in use
    void *loose;         // contacts for which no colour was left, one in a pack of the narrow kernel
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

// Active contacts, as many for each part.
static uint32_t split(vy_bodies *b, contact_start start, uint32_t parts)
{
    contact_system *s = b->contacts;
    uint32_t active = 0, n = 0, t = 0;
    for (uint32_t k = 0; k < s->count; ++k) {
        const contact_link *c = &s->links[k];
        if (c->active != start) continue;
        s->colours[c->a] = s->colours[c->b] = 0;
        ++active;
    }
    for (uint32_t k = 0; k < s->count && t < parts; ++k) {
        if (s->links[k].active != start) continue;
        for (; t < parts && n >= (uint64_t)active * t / parts; ++t) {
            s->parts[t].first = k;
            s->parts[t].body_first = t == 0 ? 0 : s->links[k].a;
        }
        ++n;
    }
    for (t = 0; t < parts; ++t) {
        const int end = t + 1 == parts;
        s->parts[t].last = end ? s->count : s->parts[t + 1].first;
        s->parts[t].body_last = end ? b->limit : s->parts[t + 1].body_first;
    }
    return active;
}

// Each contact in turn takes the first colour that neither of its moving bodies has. Returns how many have
// none.
static uint32_t colour_contacts(vy_bodies *b, contact_start start, uint32_t *colours)
{
    contact_system *s = b->contacts;
    uint32_t loose = 0;
    *colours = 0;
    for (uint32_t k = 0; k < s->count; ++k) {
        contact_link *c = &s->links[k];
        if (c->active != start) continue;
        const uint64_t taken_a = c->facts & MOVES_A ? s->colours[c->a] : 0,
                       taken_b = c->facts & MOVES_B ? s->colours[c->b] : 0;
        c->colour = (uint8_t)lowest_free(taken_a | taken_b);
        if (c->colour == UNCOLOURED) {
            ++loose;
            continue;
        }
        if (c->colour >= *colours) *colours = c->colour + 1u;
        s->colours[c->a] |= (uint64_t)1 << c->colour;
        s->colours[c->b] |= (uint64_t)1 << c->colour;
    }
    return loose;
}

// Contacts without a colour, by their number of points.
static void list_loose(contact_system *s, contact_start start, uint32_t *order)
{
    for (int points = 1; points <= VY_MANIFOLD_POINTS; ++points) {
        for (uint32_t k = 0; k < s->count; ++k) {
            const contact_link *c = &s->links[k];
            if (c->active == start && c->colour == UNCOLOURED && c->count == points) *order++ = k;
        }
    }
}

// The packs of parts before this one, and what may be left empty in them.
static uint32_t packs_before(uint32_t contacts, uint32_t parts, uint32_t width)
{
    return contacts / width + parts * (COLOURS + 1);
}

// Returns how many contacts there are to solve.
static uint32_t plan_packs(vy_bodies *b, uint32_t parts, pack_plan *plan)
{
    contact_system *s = b->contacts;
    const uint32_t active = split(b, plan->start, parts);
    plan->parts = parts;
    plan->loose_count = colour_contacts(b, plan->start, &plan->colours);
    plan->loose_order = s->order + s->count;
    if (plan->loose_count > 0) list_loose(s, plan->start, s->order + s->count);
    if (active <= FEW) plan->wide = plan->narrow; // lanes without work cost as much as those with
    plan->loose =
        (unsigned char *)s->packs + packs_before(s->count, parts, plan->wide->width) * plan->wide->pack_size;
    return active;
}

// A part's contacts by colour, and within a colour by their number of points, so that packs are even. How
// they are put together changes no bits.
static void plan_part(contact_system *s, const pack_plan *plan, uint32_t index)
{
    struct contact_part *part = &s->parts[index];
    uint32_t count[COLOURS + 1] = {0}, at[COLOURS + 1], n = part->first;
    part->bounces = 0;
    for (uint32_t k = part->first; k < part->last; ++k) {
        const contact_link *c = &s->links[k];
        if (c->active != plan->start) continue;
        count[c->colour] += 1;
        part->bounces |= (c->facts & BOUNCES) != 0;
    }
    part->packs_first = part->packs_last = packs_before(part->first, index, plan->wide->width);
    for (uint32_t c = 0; c < plan->colours; ++c) {
        const uint32_t packs = (count[c] + plan->wide->width - 1) / plan->wide->width;
        part->colour[c] = (colour_range){part->packs_last, part->packs_last + packs, n, count[c]};
        part->packs_last += packs;
        at[c] = n;
        n += count[c];
    }
    for (int points = 1; points <= VY_MANIFOLD_POINTS; ++points) {
        for (uint32_t k = part->first; k < part->last; ++k) {
            const contact_link *c = &s->links[k];
            if (c->active == plan->start && c->count == points && c->colour != UNCOLOURED)
                s->order[at[c->colour]++] = k;
        }
    }
}

// ---- threads: each does its part of every loop, and all meet before the next one

/// One thread of those that solve.
typedef struct team {
    vy_pool *pool; // NULL: it is alone
    uint32_t thread, count;
} team;

static void meet(const team *t)
{
    if (t->pool != NULL) vy_pool_meet(t->pool);
}

static void fill_packs(contact_system *s, const pack_plan *plan, const team *t)
{
    const uint32_t width = plan->wide->width;
    plan_part(s, plan, t->thread);
    for (uint32_t c = 0; c < plan->colours; ++c) {
        const colour_range *range = &s->parts[t->thread].colour[c];
        for (uint32_t done = 0; done < range->count; done += width) {
            const uint32_t left = range->count - done, pack = range->first + done / width;
            plan->wide->fill(&plan->job, &s->order[range->start + done], left < width ? left : width,
                             (unsigned char *)s->packs + pack * plan->wide->pack_size);
        }
    }
    for (uint32_t k = 0; k < plan->loose_count && t->thread == 0; ++k)
        plan->narrow->fill(&plan->job, &plan->loose_order[k], 1,
                           (unsigned char *)plan->loose + k * plan->narrow->pack_size);
    meet(t);
}

typedef enum stage { WARM, SOLVE, SETTLE, RELAX, BOUNCE, SCRAPE } stage;

static void run_packs(const contact_system *s, const pack_plan *plan, const team *t, stage at)
{
    void (*const wide[])(const contact_job *, void *, uint32_t,
                         uint32_t) = {plan->wide->warm,  plan->wide->solve,  plan->wide->settle,
                                      plan->wide->relax, plan->wide->bounce, plan->wide->scrape};
    void (*const narrow[])(const contact_job *, void *, uint32_t,
                           uint32_t) = {plan->narrow->warm,  plan->narrow->solve,  plan->narrow->settle,
                                        plan->narrow->relax, plan->narrow->bounce, plan->narrow->scrape};
    const colour_range *own = s->parts[t->thread].colour;
    for (uint32_t c = 0; c < plan->colours; ++c) {
        wide[at](&plan->job, s->packs, own[c].first, own[c].last);
        meet(t);
    }
    if (plan->loose_count == 0) return;
    if (t->thread == 0) narrow[at](&plan->job, plan->loose, 0, plan->loose_count);
    meet(t);
}

// Whether some contact does, of any thread.
static int bounces(const contact_system *s, const pack_plan *plan)
{
    int any = 0;
    for (uint32_t i = 0; i < plan->parts; ++i) any |= s->parts[i].bounces;
    return any;
}

static void empty_packs(const contact_system *s, const pack_plan *plan, const team *t)
{
    const struct contact_part *own = &s->parts[t->thread];
    plan->wide->empty(&plan->job, s->packs, own->packs_first, own->packs_last);
    if (t->thread == 0) plan->narrow->empty(&plan->job, plan->loose, 0, plan->loose_count);
}

size_t vy_contacts_part_memory(uint32_t threads) { return threads * sizeof(struct contact_part); }

size_t vy_contacts_pack_memory(uint32_t cap, uint32_t threads)
{
    const contact_kernel *const all[] = {vy_contact_kernel_1, vy_contact_kernel_2, vy_contact_kernel_4_avx2,
                                         vy_contact_kernel_8_avx512};
    size_t most = 0;
    for (int i = 0; i < 4; ++i) {
        if (all[i] == NULL) continue;
        const size_t size = packs_before(cap, threads, all[i]->width) * all[i]->pack_size;
        most = size > most ? size : most;
    }
    return most + cap * vy_contact_kernel_1->pack_size;
}

// ---- a step

/// What the threads do together.
typedef struct solve_task {
    vy_bodies *b;
    const pack_plan *plan;
    double h;  // [s]
    int steps; // sub-steps in it
} solve_task;

static int takes_part(const contact_system *s, const pack_plan *plan, uint32_t i)
{
    return (s->solved[i] & (int)plan->start) != 0;
}

static void substep(vy_bodies *b, const pack_plan *plan, const team *t, double h)
{
    contact_system *s = b->contacts;
    const int turns = plan->start == START_COLD ? COLD_TURNS : TURNS;
    const uint32_t first = s->parts[t->thread].body_first, last = s->parts[t->thread].body_last;
    for (uint32_t i = first; i < last; ++i) {
        if (takes_part(s, plan, i) && s->body[i].moves) contact_accelerate(&s->body[i], &s->motion[i], h);
    }
    meet(t);
    for (int n = 0; n < turns; ++n) run_packs(s, plan, t, SOLVE);
    for (uint32_t i = first; i < last; ++i) {
        if (takes_part(s, plan, i) && b->slots[i].kind != VY_BODY_STATIC)
            contact_move(&s->body[i], &s->motion[i], &b->params[i], h);
    }
    meet(t);
    for (int n = 1; n < turns; ++n) run_packs(s, plan, t, SETTLE);
    run_packs(s, plan, t, RELAX);
}

static void solve_together(const solve_task *task, const team *t)
{
    vy_bodies *b = task->b;
    contact_system *s = b->contacts;
    const pack_plan *plan = task->plan;
    const uint32_t first = s->parts[t->thread].body_first, last = s->parts[t->thread].body_last;
    for (uint32_t i = first; i < last; ++i) {
        if (takes_part(s, plan, i)) contact_load(b, i, task->h);
    }
    meet(t);
    fill_packs(s, plan, t);
    run_packs(s, plan, t, WARM);
    for (int k = 0; k < task->steps; ++k) substep(b, plan, t, task->h / (double)task->steps);
    const int turns = bounces(s, plan) ? BOUNCE_TURNS : 0;
    for (int n = 0; n < turns; ++n) run_packs(s, plan, t, BOUNCE);
    if (turns > 0) run_packs(s, plan, t, SCRAPE);
    empty_packs(s, plan, t);
    for (uint32_t i = first; i < last; ++i) {
        if (takes_part(s, plan, i) && s->body[i].moves) contact_store(b, i);
    }
}

static void solve_part(void *self, uint32_t thread, uint32_t count)
{
    solve_task own = *(const solve_task *)self; // a copy: the caller's stack changes all the time
    const pack_plan plan = *own.plan;
    const uint64_t found = fpu_enter();
    own.plan = &plan;
    solve_together(&own, &(team){own.b->pool, thread, count});
    fpu_leave(found);
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

static void solve_islands(vy_bodies *b, double h, contact_start start)
{
    contact_system *s = b->contacts;
    const int steps = contacts_substeps(h, b->def.contacts.substep);
    pack_plan plan = {.wide = s->kernel,
                      .narrow = vy_contact_kernel_1,
                      .start = start,
                      .job = vy_contacts_job(b, h, h / (double)steps)};
    solve_task task = {b, &plan, h, steps};
    const int alone = b->pool == NULL || s->count < FEW_FOR_THREADS;
    if (plan_packs(b, alone ? 1 : vy_pool_count(b->pool), &plan) == 0) return;
    atomic_store_explicit(&s->lost, 0, memory_order_relaxed);
    if (alone) {
        solve_together(&task, &(team){NULL, 0, 1});
    } else {
        vy_pool_together(b->pool, solve_part, &task);
    }
    if (atomic_load_explicit(&s->lost, memory_order_relaxed)) b->head->failed = 1;
}

// Islands do not share bodies that move, so those of one start may be solved before those of another.
void vy_contacts_solve(vy_bodies *b, double h)
{
    solve_islands(b, h, START_WARM);
    solve_islands(b, h, START_COLD);
}
