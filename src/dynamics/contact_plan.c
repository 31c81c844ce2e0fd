// contact_plan.c - the contacts of a group by colour, in packs of as many as a register has lanes.
//
// Contacts of one colour share no body that moves, so they may be solved at the same time. Colours depend on
// the contacts alone, in their order.
#include "dynamics/contact_plan.h"
#include "base/assert.h"
#include "base/cpu.h"

enum { MAX_NARROW_CONTACTS = 3 };  // of a group: more are solved by the wide kernel
enum { MIN_SHARED_CONTACTS = 32 }; // of a colour: fewer are solved sooner than threads meet

const contact_kernel *vy_contacts_kernel(void)
{
    const vy_cpu_level level = vy_cpu();
    if (level == VY_CPU_AVX512 && vy_contact_kernel_8_avx512 != NULL) return vy_contact_kernel_8_avx512;
    if (level >= VY_CPU_AVX2 && vy_contact_kernel_4_avx2 != NULL) return vy_contact_kernel_4_avx2;
    return vy_contact_kernel_2;
}

static uint32_t lowest_free_colour(uint64_t taken)
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
static uint32_t colour_contacts(contact_system *s, const contact_group *g, pack_plan *plan)
{
    uint32_t overflow = 0, count[COLOURS] = {0};
    plan->colour_count = plan->shared_colour_count = 0;
    for (uint32_t n = g->member_first; n < g->member_last; ++n) s->colours[s->members[n]] = 0;
    for (uint32_t n = g->first; n < g->last; ++n) {
        contact_header *c = &s->headers[s->group_contacts[n]];
        VY_ASSERT((c->flags & (MOVES_A | MOVES_B)) != 0 && c->solve_mode == (uint8_t)g->solve_mode);
        const uint64_t taken_a = c->flags & MOVES_A ? s->colours[c->a] : 0,
                       taken_b = c->flags & MOVES_B ? s->colours[c->b] : 0;
        c->colour = (uint8_t)lowest_free_colour(taken_a | taken_b);
        if (c->colour == OVERFLOW_COLOUR) {
            ++overflow;
            continue;
        }
        VY_ASSERT(((taken_a | taken_b) >> c->colour & 1u) == 0);
        if (c->colour >= plan->colour_count) plan->colour_count = c->colour + 1u;
        if (++count[c->colour] >= MIN_SHARED_CONTACTS && c->colour >= plan->shared_colour_count)
            plan->shared_colour_count = c->colour + 1u;
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
            const contact_header *c = &s->headers[s->group_contacts[n]];
            VY_ASSERT(c->point_count >= 1 && c->point_count <= VY_MANIFOLD_POINTS);
            if (c->colour == OVERFLOW_COLOUR && c->point_count == points) *order++ = s->group_contacts[n];
        }
    }
}

// An upper bound of the packs that the parts before this one use.
static uint32_t packs_before(uint32_t contacts, uint32_t parts, uint32_t width)
{
    return contacts / width + parts * (COLOURS + 1);
}

void vy_plan_packs(pack_plan *plan, void *memory)
{
    contact_system *s = plan->b->contacts;
    const contact_group *g = plan->group;
    const uint32_t count = g->last - g->first;
    VY_ASSERT(g->last <= s->capacity.solved);
    uint32_t *const overflow_order = s->colour_order + s->capacity.solved + g->first;
    split_group(plan);
    plan->overflow_count = colour_contacts(s, g, plan);
    plan->overflow_order = overflow_order;
    if (plan->overflow_count > 0) list_overflow(s, g, overflow_order);
    if (count <= MAX_NARROW_CONTACTS) plan->wide = plan->narrow; // empty lanes cost as much as full ones
    VY_ASSERT(plan->colour_count <= COLOURS && plan->overflow_count <= count);
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
    uint32_t count[COLOURS + 1] = {0}, next[COLOURS + 1], offset = part->first;
    part->has_restitution = 0;
    for (uint32_t k = part->first; k < part->last; ++k) {
        const contact_header *c = &s->headers[s->group_contacts[k]];
        count[c->colour] += 1;
        part->has_restitution |= (c->flags & HAS_RESTITUTION) != 0;
    }
    part->packs_first = part->packs_last =
        packs_before(part->first - plan->group->first, index, plan->wide->width);
    for (uint32_t c = 0; c < plan->colour_count; ++c) {
        const uint32_t pack_count = (count[c] + plan->wide->width - 1) / plan->wide->width;
        part->colour[c] = (colour_range){part->packs_last, part->packs_last + pack_count, offset, count[c]};
        part->packs_last += pack_count;
        next[c] = offset;
        offset += count[c];
    }
    VY_ASSERT(offset + count[OVERFLOW_COLOUR] == part->last);
    VY_ASSERT(part->packs_last <=
              packs_before(part->last - plan->group->first, index + 1, plan->wide->width));
    for (int points = 1; points <= VY_MANIFOLD_POINTS; ++points) {
        for (uint32_t k = part->first; k < part->last; ++k) {
            const contact_header *c = &s->headers[s->group_contacts[k]];
            if (c->point_count == points && c->colour != OVERFLOW_COLOUR)
                s->colour_order[next[c->colour]++] = s->group_contacts[k];
        }
    }
}

void vy_prepare_packs(const pack_plan *plan, const worker *t)
{
    const contact_system *s = plan->b->contacts;
    const uint32_t width = plan->wide->width;
    plan_part(plan, t->part);
    for (uint32_t c = 0; c < plan->colour_count; ++c) {
        const colour_range *range = &plan->parts[t->part].colour[c];
        for (uint32_t done = 0; done < range->count; done += width) {
            const uint32_t remaining = range->count - done, pack = range->first + done / width;
            plan->wide->prepare(&plan->context, &s->colour_order[range->start + done],
                                remaining < width ? remaining : width,
                                (unsigned char *)plan->packs + pack * plan->wide->pack_size);
        }
    }
    for (uint32_t k = 0; k < plan->overflow_count && t->part == 0; ++k)
        plan->narrow->prepare(&plan->context, &plan->overflow_order[k], 1,
                              (unsigned char *)plan->overflow + k * plan->narrow->pack_size);
    barrier(t);
}

void vy_run_packs(const pack_plan *plan, const worker *t, solver_stage stage)
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
    const colour_range *part_colours = plan->parts[t->part].colour;
    const uint32_t shared_count = t->pool != NULL ? plan->shared_colour_count : plan->colour_count;
    for (uint32_t c = 0; c < shared_count; ++c) {
        wide[stage](&plan->context, plan->packs, part_colours[c].first, part_colours[c].last);
        barrier(t);
    }
    if (plan->overflow_count == 0 && shared_count == plan->colour_count) return;
    for (uint32_t c = shared_count; c < plan->colour_count && t->part == 0; ++c) {
        for (uint32_t k = 0; k < plan->part_count; ++k)
            wide[stage](&plan->context, plan->packs, plan->parts[k].colour[c].first,
                        plan->parts[k].colour[c].last);
    }
    if (t->part == 0) narrow[stage](&plan->context, plan->overflow, 0, plan->overflow_count);
    barrier(t);
}

void vy_store_packs(const pack_plan *plan, const worker *t)
{
    VY_ASSERT(t->part < plan->part_count);
    const struct solver_part *part = &plan->parts[t->part];
    plan->wide->store_impulses(&plan->context, plan->packs, part->packs_first, part->packs_last);
    if (t->part == 0) plan->narrow->store_impulses(&plan->context, plan->overflow, 0, plan->overflow_count);
}

// ---- memory

size_t vy_contacts_part_memory(uint32_t threads) { return threads * sizeof(struct solver_part); }

size_t vy_pack_memory(uint32_t contacts, uint32_t parts)
{
    const contact_kernel *const kernels[] = {vy_contact_kernel_1, vy_contact_kernel_2,
                                             vy_contact_kernel_4_avx2, vy_contact_kernel_8_avx512};
    size_t max_size = 0;
    for (int i = 0; i < 4; ++i) {
        if (kernels[i] == NULL) continue;
        const size_t size = packs_before(contacts, parts, kernels[i]->width) * kernels[i]->pack_size;
        max_size = size > max_size ? size : max_size;
    }
    return (max_size + contacts * vy_contact_kernel_1->pack_size + 63u) & ~(size_t)63u;
}

size_t vy_contacts_pack_memory(uint32_t contacts, uint32_t threads)
{
    const size_t all_threads = vy_pack_memory(contacts, threads),
                 one_thread = threads * vy_pack_memory(GROUP_CONTACTS, 1);
    return all_threads > one_thread ? all_threads : one_thread;
}
