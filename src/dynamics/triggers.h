// triggers.h - bodies that report who overlaps them and push nobody.
#pragma once
#include "dynamics/contacts.h"

/// A body that overlaps a trigger, by the bits of their ids: state.
struct trigger_pair {
    uint64_t trigger, body;
};

typedef struct trigger_system {
    // State.
    contact_count *count; // of the pairs
    trigger_pair *pairs;  // [pair_cap] that overlapped at the end of the last step, by the slots of the
                          // trigger, then the body
    // Scratch.
    trigger_pair *new_pairs;    // [pair_cap] that overlap at the end of this step
    vy_trigger_report *reports; // [2 pair_cap]
    uint64_t *keys, *sorted;    // [key_cap] slots of pairs that may overlap; scratch to sort them
    unsigned char *findings;    // [key_cap] the trigger_finding of each key: whether they do
    size_t pair_cap, key_cap, key_count;
    uint32_t report_count;
    uint32_t missed_count; // bodies that the tree misses, in contact_system.near_bodies
    int pairs_stale;       // 1: pairs of bodies that do not move may have changed, too
    int has_changes;       // 1: some pair began or ended in the last step
} trigger_system;

vy_status vy_triggers_create(vy_bodies *b);
void vy_triggers_destroy(vy_bodies *b);
/// Have memory for so many pairs. VY_NO_MEMORY: nothing has changed.
vy_status vy_triggers_reserve(vy_bodies *b, size_t pairs);
/// Whether `count` pairs of a snapshot can be those of a set of so many slots. They need not be aligned.
int vy_triggers_are_valid(const void *pairs, uint64_t count, uint64_t slots);
/// A body or a filter was replaced: look at all pairs again.
void vy_triggers_invalidate(vy_bodies *b);
/// At the end of a step of h seconds, before kinematic bodies move: who overlaps a trigger now, and who has
/// passed through one. VY_NO_MEMORY: nothing has changed.
vy_status vy_triggers_step(vy_bodies *b, double h);
/// Whether the reports are those of a step in which nothing moves, too.
int vy_triggers_are_settled(const vy_bodies *b);
