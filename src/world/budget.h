// budget.h - a budget of the negligibility policy: its state for one drone or body, and the stage that spends
// it.
#pragma once
#include "environment/nap_state.h"
#include "volery/world.h"

/// How a budget of the negligibility policy stands.
enum { BUDGET_WITHIN, BUDGET_EXCEEDED, BUDGET_NO_BOUND };
/// What errors at its end come from: the deviations of now, then what is left out of turning and of moving.
enum { BUDGET_INPUTS = DEVIATION_COUNT + 2 };

/// Of a drone or body in a world with a budget.
typedef struct budget_block {
    double angle[BUDGET_INPUTS], position[BUDGET_INPUTS]; // the forecast: errors at the end per input
    double onset_angle, onset_position; // errors once the two motions are apart at all: lift may flip
    uint64_t standing;                  // BUDGET_WITHIN, ...
    uint64_t since;                     // tick at which it was exceeded
} budget_block;

#define FIELDS_budget(F, block)                                                                     \
    F(block, angle, LIST, BUDGET_INPUTS, "",                                                        \
      "forecast of the error of attitude at the end: per deviation, and per acceleration left out") \
    F(block, position, LIST, BUDGET_INPUTS, "", "likewise of position")                             \
    F(block, onset_angle, NUMBER, 1, "rad", "forecast once anything is left out")                   \
    F(block, onset_position, NUMBER, 1, "m", "likewise")                                            \
    F(block, standing, INTEGER, 1, "", "0: kept; 1: broken; 2: no bound is known")                  \
    F(block, since, TICK, 1, "", "when it broke")

/// What is computed for drones and bodies in a world with a budget: budget.c. Returns whether it was time.
int vy_budget_stage(vy_world *world);
/// Likewise for one of them; the next evaluation is `period_ticks` later.
void vy_budget_evaluate(vy_world *world, uint32_t number, uint64_t tick, uint64_t period_ticks);
