// contact_plan.h - a group of islands while it is solved: who does what, and in which packs.
#pragma once
#include "dynamics/contact_body.h"

enum { COLOURS = 64, OVERFLOW_COLOUR = COLOURS };

/// The packs and the contacts of one colour in a solver_part: both are contiguous.
typedef struct colour_range {
    uint32_t first, last;  // packs
    uint32_t start, count; // contacts, in their order by colour
} colour_range;

/// The part of a group that one thread does: contiguous contacts and bodies, so that threads seldom write
/// what another one reads.
struct solver_part {
    uint32_t first, last;               // contacts
    uint32_t member_first, member_last; // bodies
    uint32_t packs_first, packs_last;   // packs
    int has_restitution;                // some contact has restitution
    int has_unvectorised;               // some body is not vectorised
    int warm_start_adds_energy;         // the warm start of some body adds energy
    int scales_impulses;                // of the first part: some warm start of the group is not used whole
    colour_range colour[COLOURS];
};

/// How a group is solved.
typedef struct pack_plan {
    vy_bodies *b;
    const contact_group *group;
    const contact_kernel *wide, *narrow;
    contact_context context;
    double h;                     // [s] of the step
    double substep_h;             // [s] of a sub-step
    double undivided_substep_h;   // [s] of a step that is not divided
    int substeps;                 // sub-steps in an interval
    int retry;                    // 1: the group has been solved before, in fewer intervals
    uint32_t colour_count;        // colours in use
    uint32_t shared_colour_count; // of these, the first: threads share them; of the others one does all packs
    struct solver_part *parts;
    uint32_t part_count; // one for each thread that takes part
    void *packs;
    void *overflow; // contacts for which no colour was left, one per pack of the narrow kernel
    uint32_t overflow_count;
    const uint32_t *overflow_order;
} pack_plan;

// ---- threads: each does its part of every loop, with a barrier before the next one

/// One thread of those that solve a group.
typedef struct worker {
    vy_pool *pool; // NULL: there is only one
    uint32_t part; // index of its solver_part
} worker;

// Wait for the other threads.
VY_FN void barrier(const worker *t)
{
    if (t->pool != NULL) vy_pool_barrier(t->pool);
}

/// What is done to all packs of a group, colour by colour: functions of a contact_kernel.
typedef enum solver_stage {
    WARM_START,
    SCALE_IMPULSES,
    SOLVE,
    RELAX,
    RELAX_LAST,
    APPLY_RESTITUTION,
    RESTITUTION_FRICTION,
    SCALE_RESTITUTION,
    LIMIT_IMPULSES
} solver_stage;

// Whether some contact has restitution, in the part of any thread.
VY_FN int any_restitution(const pack_plan *plan)
{
    int has_any = 0;
    for (uint32_t i = 0; i < plan->part_count; ++i) has_any |= plan->parts[i].has_restitution;
    return has_any;
}

// Whether some body is not vectorised, in the part of any thread.
VY_FN int any_unvectorised(const pack_plan *plan)
{
    int has_any = 0;
    for (uint32_t i = 0; i < plan->part_count; ++i) has_any |= plan->parts[i].has_unvectorised;
    return has_any;
}

/// Colour the contacts of a group and plan its packs in `memory`, which is aligned to a cache line.
void vy_plan_packs(pack_plan *plan, void *memory);
/// Bytes for the packs of so many contacts, on any machine; a multiple of the lanes' alignment.
size_t vy_pack_memory(uint32_t contacts, uint32_t parts);
/// Put the contacts of a thread's part into packs.
void vy_prepare_packs(const pack_plan *plan, const worker *t);
void vy_run_packs(const pack_plan *plan, const worker *t, solver_stage stage);
/// Write the impulses back to the contacts.
void vy_store_packs(const pack_plan *plan, const worker *t);

/// One sub-step of a group.
void vy_contact_substep(const pack_plan *plan, const worker *t);
/// Velocities before an interval: what restitution may bring back depends on them.
void vy_save_interval_start(const pack_plan *plan, const worker *t);
/// After the sub-steps of an interval.
void vy_solve_restitution(const pack_plan *plan, const worker *t);
