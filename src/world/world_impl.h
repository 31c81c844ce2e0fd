// world_impl.h - the world itself: a model, a state, and scratch that no step remembers.
#pragma once
#include "dynamics/joint.h"
#include "world/disturbance.h"
#include "world/model.h"
#include "world/solid.h"

/// Work on one drone since its account was opened [J].
typedef struct energy_account {
    double start; // kinetic energy then
    double rotors, work[EFFECT_COUNT], contacts, exchanged;
} energy_account;

struct vy_world {
    vy_model model;
    // State: one run of the blocks that blocks.inl lists, and where in it they are.
    block_counts counts;
    world_block *state;
    drone_block *drones;
    payload_block *payloads;
    joint_block *joint_states;
    noise_block *noise;
    line_block *lines;
    gear_block *gear;
    thruster_block *thrusters;
    contact_totals_block *contact_totals; // NULL without contacts
    contacts_block *contacts;
    sleep_block *sleep;                         // NULL: nobody sleeps
    sleeping_contacts_block *sleeping_contacts; // pairs that sleep
    guard_block *guards;
    kit_block *kits;
    filter_block *filters;
    gate_block *gates;
    delay_block *delays;
    nap_account_block *nap_accounts;
    size_t state_size;  // the whole block
    size_t hashed_size; // without nap_accounts, which are hashed when they change
    // Scratch of a step.
    noise_ahead *noise_ahead; // [drone_cap * disturbance_cap] deviates of coming steps, and
    rng_ahead *imu_ahead;     // [drone_cap]
    body_loads *loads;
    double (*speeds)[VY_ROTOR_CAP];
    unsigned char *fresh;     // of each drone: an intent arrived in this step; in a guarded world
    drone_block *before;      // as it was before the stage; in a world made for faults
    kit_block *kits_before;   // likewise
    drone_params *faulty;     // what the plant reads while a motor's lag is another; likewise
    vy_model slow;            // the model that points there
    vy_bodies *bodies;        // drones as joints and contacts see them, body i is drone i; obstacles follow.
                              // NULL: neither joints nor contacts nor obstacles
    solid_memory *solids;     // [drone_cap + obstacle_cap] what their shapes stand on
    double *reach;            // [m] [drone_cap + obstacle_cap] of a shape from the origin of its frame
    energy_account *accounts; // [drone_cap] what is not state: opened anew, never restored
    int accounting;
    int has_ground; // an obstacle is the ground: there is none at z = 0 beside
    int watching;   // 1: somebody looks at the world before the plant
    wake_entry *wakes;
    double *grounds;          // what model.grounds reads, in a world made for obstacles
    vy_vehicle_def *vehicles; // as declared, of each drone, in a world made for payloads
    uint64_t
        *release_requests; // [drone_cap] payloads that its controller lets go in this step; NULL elsewhere
    vy_sink sink;
    vy_replay replay;
    size_t memory;
};

/// Have the state lie at `cells` from now on: state_size bytes of the caller's, which must outlive the world.
void vy_world_move_state(vy_world *world, void *cells);

/// What the controller of drone `index` may know.
vy_samples vy_drone_samples(const vy_world *world, uint32_t index);

/// Call the controllers that are due, or take their replies from the replay source.
uint32_t vy_controller_stage(const vy_world *world, world_block *w, drone_block *drones);

/// At tick 0: what only some worlds have.
void vy_extras_start(vy_world *world);
/// Kits at tick 0.
void vy_kit_start(vy_world *world);

/// Sample what is due of the kits, and let arrive what has travelled long enough.
void vy_kit_stage(vy_world *world);

/// What the filters of kits make of what has arrived.
void vy_filter_stage(vy_world *world);

/// Step the drones that joints hold, island by island.
uint32_t vy_joined_stage(vy_world *world, const vy_model *plant, world_block *w, drone_block *drones);

/// Give the set of joined bodies the states of one joint and of the drones it holds.
void vy_joined_sync_joint(const vy_world *world, uint32_t joint);

/// Where the state's blocks are, once more: what there is has changed.
void vy_world_lay_out(vy_world *world);
/// The slot of a drone of this world; 0 when it is none.
int vy_world_slot(const vy_world *world, vy_drone_id id, uint32_t *slot);

/// Where the ground is below each drone, as its rotors see it: along the axis of their thrust.
void vy_ground_stage(vy_world *world);

/// How high a point is over the highest ground there, a plane or field of heights among the obstacles [m].
/// Returns 0 when there is none within 1 km: `*height` is untouched then.
int vy_height_over_ground(const vy_world *world, vec3 point, double *height);

/// At the start of a step: take up and let go what is due. At its end: loads move with their carriers.
void vy_payload_stage(vy_world *world);
void vy_payload_follow(vy_world *world);
/// May the controller of drone `index` let go all payloads of the bits in `drop`?
int vy_payload_may_drop(const vy_model *m, uint32_t index, uint64_t drop);
/// After the controllers: what they wish to let go is let go at the start of the next step.
void vy_payload_release(vy_world *world);
/// Fit the constants of carriers to a restored state.
void vy_payload_sync(vy_world *world);

/// Kinetic energy of drone `index` [J].
double vy_drone_kinetic(const vy_world *world, uint32_t index);

/// Before the plant: where everybody is, for contacts, and who is about to do how much work.
void vy_watch_stage(vy_world *world, const vy_model *plant);

/// After the plant: what joints hold, then what touches. Returns events.
uint32_t vy_bodies_stage(vy_world *world, const vy_model *plant, world_block *w, drone_block *drones);

/// Put the flown drones that touch back to the start of the step, and through it with contacts.
uint32_t vy_contact_stage(vy_world *world, world_block *w, drone_block *drones);

/// Whether `block` can be a state of this world: what it uses as an index, a count, a choice or a mask is
/// one. VY_BAD_VALUE with a sentence if not.
vy_status vy_snapshot_check(const vy_world *world, const void *block, size_t size, vy_error *err);
/// Whether the contacts of a snapshot of this world's size name bodies and points that it has.
int vy_contact_state_check(const vy_world *world, const void *block);

/// After the state has become another one, and before its joints are stepped: who sleeps.
void vy_contact_sync(vy_world *world);
/// Wake a body with its island: something has happened to it.
void vy_contact_wake_up(vy_world *world, uint32_t index);

/// Add a drone's body to the set, with its shape.
vy_status vy_contact_add_drone(vy_world *world, const vy_drone_def *drone, vy_error *err);

/// What acts on drone `index` now, by cause.
void vy_drone_loads(const vy_world *world, uint32_t index, vy_loads *out);
/// The same for any state, rotor speeds and time within a step.
void vy_loads_at(const multirotor_inputs *in, const body_state *s, const double *speed, const double *command,
                 double time, vy_loads *out);

/// Before the plant: the work that the coming step does on every drone that no joint holds.
void vy_energy_stage(vy_world *world, const vy_model *m);
/// What contacts did to a drone, from the end of its flight to where they put it.
void vy_energy_contact(vy_world *world, uint32_t index, const body_state *flown, const body_state *now);
/// The work of an impulse of contacts, world, and an angular one, body axes, over a step.
void vy_energy_impulse(vy_world *world, uint32_t index, vec3 impulse, vec3 angular, const body_state *from,
                       const body_state *to);
void vy_drone_energy(const vy_world *world, uint32_t index, vy_energy *out);

/// Up to `count` steps, for each level of vy_cpu(); fewer when the world fails. Returns the events.
uint32_t vy_steps_plain(vy_world *world, uint64_t count);
uint32_t vy_steps_avx2(vy_world *world, uint64_t count);
uint32_t vy_steps_avx512(vy_world *world, uint64_t count);
