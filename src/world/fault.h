// fault.h - faults between the stages of a step. Called in a world that has some.
#pragma once
#include "world/world_impl.h"

/// What faults know of a channel: numbers of a sensor's sample.
typedef struct fault_channel {
    const char *name, *key; // its own, its sensor's in a scenario
    int sensor;             // enum kit_sensor
    int at;                 // where in the sample it begins
    int cells;              // its numbers there; what is stuck
    int axes;               // of them, those that are measured: what is added to. An attitude has three
    int width;              // numbers of vy_fault_def.vector; 1: the same for all axes
} fault_channel;

const fault_channel *vy_fault_channel(vy_channel channel);

/// Is it of a sensor's samples?
int vy_fault_of_sensor(vy_fault_kind kind);

/// Is the drone one it is of, and has it what breaks: rotors or a battery, that sensor, a controller? One of
/// all drones passes by those who have not, bodies first of all.
int vy_fault_concerns(const vy_model *m, const fault_model *f, uint32_t drone);

/// Does the fault act on drone `drone` at `tick`? `*began` is the tick from which on.
int vy_fault_acts(const vy_model *m, const fault_model *f, uint32_t drone, uint64_t tick, uint64_t *began);

/// How often it has begun to act on drone `drone` up to `tick`.
uint64_t vy_fault_count(const vy_model *m, const fault_model *f, uint32_t drone, uint64_t tick);

/// Bring the rotor speed targets to what the motors can still follow. Returns the model that the plant reads:
/// the world's own, or one with slower motors.
const vy_model *vy_fault_motors(vy_world *world);

/// Keep the drones as they are before a stage, for the next two.
void vy_fault_remember(vy_world *world);

/// What becomes of fresh samples, and of fresh replies.
void vy_fault_samples(vy_world *world);
void vy_fault_commands(vy_world *world);
