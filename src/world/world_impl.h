// world_impl.h - the world itself: a model, a state, and scratch that no step remembers.
#pragma once
#include "dynamics/joint.h"
#include "world/model.h"

/// Work on one drone since its account was opened [J].
typedef struct energy_account {
    double start; // kinetic energy then
    double rotors, work[EFFECT_COUNT], exchanged;
} energy_account;

struct vy_world {
    vy_model model;
    // State: one block [world_block][drone_block x drones][tie_block x joints][noise_block x noises]
    // [line_block x lines][gear_block x gears][ledger_block x drones].
    world_block *state;
    drone_block *drones;
    tie_block *ties;
    noise_block *noise;
    line_block *lines;
    gear_block *gear;
    ledger_block *ledger;
    size_t state_size;  // the whole block
    size_t hashed_size; // without the ledger, which is hashed when it changes
    // Scratch of a step.
    body_loads *loads;
    double (*speeds)[VY_ROTOR_CAP];
    drone_block *before;      // as it was before the stage; in a world made for faults
    drone_params *faulty;     // what the plant reads while a motor's lag is another; likewise
    vy_model slow;            // the model that points there
    vy_bodies *bodies;        // drones as the joints see them, body i is drone i; NULL: no joints
    energy_account *accounts; // [drone_cap] what is not state: opened anew, never restored
    int accounting;
    wake_entry *wakes;
    vy_sink sink;
    vy_replay replay;
    size_t memory;
};

/// Have the state lie at `cells` from now on: state_size bytes of the caller's, which must outlive the world.
void vy_world_move_state(vy_world *world, void *cells);

/// Call the controllers that are due, or take their replies from the replay source.
uint32_t vy_controller_stage(const vy_world *world, world_block *w, drone_block *drones);

/// Step the drones that joints hold, island by island.
uint32_t vy_joined_stage(vy_world *world, const vy_model *plant, world_block *w, drone_block *drones);

/// Give the set of joined bodies the states of one joint and of the drones it holds.
void vy_joined_sync_joint(const vy_world *world, uint32_t joint);

/// What acts on drone `index` now, by cause.
void vy_drone_loads(const vy_world *world, uint32_t index, vy_loads *out);
/// The same for any state, rotor speeds and time within a step.
void vy_loads_at(const multirotor_inputs *in, const body_state *s, const double *speed, const double *command,
                 double time, vy_loads *out);

/// Before the plant: the work that the coming step does on every drone that no joint holds.
void vy_energy_stage(vy_world *world, const vy_model *m);
void vy_drone_energy(const vy_world *world, uint32_t index, vy_energy *out);

/// Up to `count` steps, for each level of vy_cpu(); fewer when the world fails. Returns the events.
uint32_t vy_steps_plain(vy_world *world, uint64_t count);
uint32_t vy_steps_avx2(vy_world *world, uint64_t count);
uint32_t vy_steps_avx512(vy_world *world, uint64_t count);
