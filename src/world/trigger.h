// trigger.h - triggers among a world's obstacles: what a world remembers of who is in them, over `real`.
#pragma once
#include "base/real.h"
#include "volery/world.h"

/// Of one trigger and one drone or body.
typedef struct trigger_block {
    bits inside;  // 1: it overlaps the trigger
    bits entered; // times it has since the start
} trigger_block;

#define FIELDS_trigger(F, block)                                \
    F(block, inside, INTEGER, 1, "", "1: it is in the trigger") \
    F(block, entered, INTEGER, 1, "", "times it has entered it since the start")

/// After the contacts of a step: who has entered and left. Returns VY_EVENT_ bits.
uint32_t vy_trigger_stage(vy_world *world);
/// After the state was replaced: the set of bodies knows again who is in which.
void vy_trigger_sync(vy_world *world);
/// Times that drone or body `number` has entered a trigger since the start.
uint64_t vy_trigger_entered(const vy_world *world, uint32_t number);
/// Whether obstacle `index` is a trigger.
int vy_obstacle_is_trigger(const vy_world *world, uint32_t index);
