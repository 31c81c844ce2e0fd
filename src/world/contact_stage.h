// contact_stage.h - contacts of a world: the stage, and their part of the state.
#pragma once
#include "world/world_impl.h"

/// Return bodies in contact to the start of the step and step them with contacts.
uint32_t vy_contact_stage(vy_world *world, world_block *w);

/// Re-evaluate the negligibility policy for what touched in the last step. Returns whether something did.
int vy_contact_reevaluate_nap(vy_world *world);

/// Contacts of the last step and sleeping ones, as they follow the other blocks of a saved state.
typedef struct contact_list {
    contact_block *blocks;
    uint64_t count;
} contact_list;

contact_list vy_contact_list(const vy_world *world, enum block_kind kind);
/// Whether the contacts of a snapshot, in which `counts` blocks are, name bodies and points that this world
/// has.
int vy_contact_state_check(const vy_world *world, const void *block, const block_counts *counts);
/// Have memory for the contacts of such a snapshot. VY_NO_MEMORY: nothing has changed.
vy_status vy_contact_state_reserve(vy_world *world, const block_counts *counts, vy_error *err);
/// The hash of a step's state continues with the contacts.
uint64_t vy_contact_hash(const vy_world *world, uint64_t previous_hash);

/// After the state was replaced, and before its joints are stepped: set which bodies sleep.
void vy_contact_sync(vy_world *world);
/// Wake a body with its island: something has happened to it.
void vy_contact_wake_up(vy_world *world, uint32_t index);
