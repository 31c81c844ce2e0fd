// fault.h - faults between the stages of a step. Called in a world that has some.
#pragma once
#include "world/world_impl.h"

/// Values of a reply in a delay line: the rung, the intent's values, the payloads to release.
#define COMMAND_CELLS (2 + sizeof(control_state) / sizeof(double))

/// Is it a sensor fault?
int vy_fault_is_sensor(vy_fault_kind kind);

/// Is it one of motors or of what drives them?
int vy_fault_is_motor(vy_fault_kind kind);

/// Does the fault apply to the drone: is it in range and does it have what breaks (rotors or a battery, that
/// sensor, a controller)? A fault of all drones skips those without it, and all bodies.
int vy_fault_applies(const vy_model *m, const fault_model *f, uint32_t drone);

/// Does the fault act on drone `drone` at `tick`? `*begin_tick` is the tick from which on.
int vy_fault_acts(const vy_model *m, const fault_model *f, uint32_t drone, uint64_t tick,
                  uint64_t *begin_tick);

/// How often it has begun to act on drone `drone` up to `tick`.
uint64_t vy_fault_count(const vy_model *m, const fault_model *f, uint32_t drone, uint64_t tick);

/// Limit the rotor speed targets to what faulty motors can follow. Returns the model that the plant reads:
/// the world's own, or one with slower motors.
const vy_model *vy_fault_limit_motors(vy_world *world);

/// Save the drones before a stage, for the next two functions.
void vy_fault_save_drones(vy_world *world);

/// Apply faults to new samples, and to new replies.
void vy_fault_apply_to_samples(vy_world *world);
void vy_fault_apply_to_commands(vy_world *world);
