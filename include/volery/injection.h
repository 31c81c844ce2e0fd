// injection.h - what somebody does to a world while it flies: a push, a gust, a fault.
//
// An injection begins with the next step and is part of the state from then on: hash, snapshots, logs,
// replay and branches have it. It acts as what a scenario declares of that kind does.
#pragma once
#include "volery/fault.h"
#include "volery/world.h"

#ifdef __cplusplus
extern "C" {
#endif

#define VY_INJECTION_CAP 64 ///< at a time: pushes and gusts that are over give way, faults do not

/// A force and torque from outside: a constant one or an impulse. `start` must be 0: it begins now.
/// VY_BAD_STATE: before the first step (use vy_world_add_disturbance), or the world has ended. VY_FULL:
/// there are VY_INJECTION_CAP. On failure nothing has changed, but for VY_IO: the listener has refused it.
vy_status vy_world_inject_disturbance(vy_world *world, const vy_disturbance_def *def, vy_error *err);

/// A gust of the whole world's air, likewise; at most VY_GUST_CAP with those that the wind declares.
vy_status vy_world_inject_gust(vy_world *world, const vy_gust_def *def, vy_error *err);

/// A fault of a drone, likewise: neither a delay nor one at random times, for which a world is built.
vy_status vy_world_inject_fault(vy_world *world, const vy_fault_def *def, vy_error *err);

/// Injections in the state now.
uint32_t vy_world_injection_count(const vy_world *world);

/// Injection `index` in order of time, for people: "push of 2 N for 0.5 s". `number` is the drone or body it
/// is of, UINT32_MAX: all. @return 0 beyond the last
int vy_world_injection_text(const vy_world *world, uint32_t index, char *out, size_t size, uint32_t *number);

#ifdef __cplusplus
}
#endif
