// thruster.h - the thrusters of a vehicle: what a world remembers of them, and their targets. Over
// `real`. Their equations are in equations/thruster.h: rotors and thrusters are integrated together.
#pragma once
#include "base/period.h"
#include "equations/rotor.h"
#include "volery/vehicle.h"

/// Every drone has one when one of them has thrusters; none has one otherwise.
typedef thruster_state thruster_block;

#define FIELDS_thruster(F, block)                                                              \
    F(block, thrust, THRUSTERS, 8, "N", "of each thruster")                                    \
    F(block, owed, THRUSTERS, 8, "s", "of open valve that was asked for and is still to come") \
    F(block, shut, TICK, 8, "", "tick at which each valve shuts")

/// Before the first step: throttled ones make the commanded thrust, valves are shut. `commands` are those of
/// rotors, then thrusters, here and below.
VY_FN void thruster_start(const rotor_layout *layout, const real *commands, thruster_block *out)
{
    const thruster_layout *t = &layout->thrusters;
    memset(out, 0, sizeof *out);
    for (int k = 0; k < t->count; ++k) {
        if (t->period[k] != 0) continue;
        out->thrust[k] = thruster_throttled(t, k, commands[layout->count + k]);
    }
}

/// Thrust targets in the step that begins at `tick`, behind the rotors' speeds: of throttled ones by their
/// command, of pulsed ones by their valves.
VY_COLD_FN void thruster_set_targets(const rotor_layout *layout, const bits *tick, const real *commands,
                                     thruster_block *state, real *speeds)
{
    const thruster_layout *t = &layout->thrusters;
    for (int k = 0; k < t->count; ++k) {
        const real command = commands[layout->count + k];
        const real target = t->period[k] == 0
                                ? thruster_throttled(t, k, command)
                                : thruster_pulsed(t, k, due(*tick, t->period[k]), *tick, command, state);
        const mask falls = target < state->thrust[k];
        const mask rises = state->thrust[k] < target;
        // Without a lag it is there at once: what it was must not act in the first stage of the step.
        const mask jumps =
            (falls & mask_set(t->fall_full[k] == 0.0)) | (rises & mask_set(t->rise_full[k] == 0.0));
        state->thrust[k] = real_select(jumps, target, state->thrust[k]);
        speeds[layout->count + k] = target;
    }
}

/// Geometry and range, of a checked def.
void vy_thruster_layout_build(const vy_vehicle_def *def, thruster_layout *out);

/// What of them depends on the step, `dt`.
vy_status vy_thruster_build(const vy_vehicle_def *def, double dt, thruster_layout *out, vy_error *err);
