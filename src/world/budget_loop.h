// budget_loop.h - a budget in closed loop: the envelope of the flown motion, and the bound of loop_bound.h
// over it.
#pragma once
#include "environment/nap_bounds.h"
#include "world/budget.h"
#include "world/loop_bound.h"
#include "world/world_impl.h"

/// Constants of the closed loop of drone `index`, which has been built.
void vy_loop_build_drone(const vy_model *m, uint32_t index, loop_model *out);
/// Whether a bound of its loop can be known in this world: nothing else acts on it.
int vy_loop_is_isolated(const vy_world *world, uint32_t index);
/// Where an autopilot switches, an error must be small against what changes between two of its decisions, or
/// the strict flight may decide otherwise: allow no more.
void vy_loop_limit_budget(const vy_world *world, uint32_t index, vy_budget_def *budget);
/// Every step, before the plant moves: widen what was seen.
void vy_loop_observe(const vy_world *world, uint32_t index, uint64_t tick, loop_block *b);
/// At an evaluation at `tick`: advance the bound over the `elapsed_ticks` since the last one, in which the
/// effects `flags` were computed. `bounds` becomes the bound of each effect over them, and `forecast` errors
/// per acceleration left out.
void vy_loop_certify(const vy_world *world, uint32_t index, uint64_t tick, uint64_t elapsed_ticks,
                     uint64_t flags, loop_block *b, double *deviation, nap_bounds *bounds,
                     budget_block *forecast);
/// Advance `deviation`, which holds until the last evaluation, to now. The world is not changed.
void vy_loop_advance_to_now(const vy_world *world, uint32_t index, double *deviation);
