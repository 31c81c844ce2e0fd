// world_impl.h - the world itself: a model, a state, and scratch that no step remembers.
#pragma once
#include "geometry/plane.h"
#include "dynamics/joint.h"
#include "world/disturbance.h"
#include "world/model.h"
#include "world/solid.h"

/// Work on one drone since its account was opened [J].
typedef struct energy_balance {
    double start;              // kinetic energy then
    double rotors;             // work of rotors and thrusters
    double work[EFFECT_COUNT]; // of each effect
    double contacts;           // of contacts
    double exchanged;          // sum of the magnitudes of all work
    double closing_start;      // work of closing joints before
} energy_balance;

struct vy_world {
    vy_model model;
    unsigned options; // step_options(&model)
    // State: one run of the blocks that blocks.inl lists, and where in it they are.
    block_counts counts;
#define BLOCK(id, name, list, member, count, text) name##_block *member;
#include "world/blocks.inl"
    void *sensors;      // where the blocks of SENSORS begin, kind by kind
    size_t state_size;  // the whole block; contacts, whose number changes from step to step, are the set's
    size_t hashed_size; // without accounts of negligibility, which are hashed when they change
    // Scratch of a step.
    noise_ahead *noise_ahead; // [body_cap * disturbance_cap] deviates of coming steps, and
    rng_cache *imu_ahead;     // [drone_cap]
    body_loads *loads; // [body_cap] at the step's start; with disturbances also half-way and at its end
    double (*speeds)[VY_ROTOR_CAP]; // targets of the rotors: at the nominal voltage where the step is coupled
    unsigned char
        *intent_received;        // of each drone: an intent arrived in this step; in a world with supervisors
    drone_block *drones_before;  // as it was before the stage; in a world with faults
    void *sensors_before;        // their samples, likewise
    drone_params *faulty_params; // what the plant reads while a fault changes a motor's lag; likewise
    vy_model faulty_model;       // the model that points there
    vy_bodies *bodies;           // drones and bodies as joints and contacts see them, by number; obstacles
                                 // follow. NULL: neither joints nor contacts nor obstacles
    vy_contacts_def contacts_def;     // of that set
    double closing_speed, open_limit; // likewise: as in vy_world_def
    vy_collider_def *solid_defs;      // [body_cap] shapes of drones and bodies, for a set that is made later
    solid_memory *solid_memories;     // [body_cap + obstacle_cap] what their shapes stand on
    double *max_extent;               // [m] [body_cap + obstacle_cap] of a shape from the origin of its frame
    energy_balance *energy_balances;  // [body_cap] what is not state: opened again, never restored
    int tracks_energy;                // 1: energy_balances are kept
    uint64_t loads_tick;              // of the step whose loads are kept; 0: of none
    vy_globe globe;                   // of a world at a planet's origin: the ground of its planes
    int has_ground;                   // an obstacle is the ground: then there is none at z = 0
    wake_entry *wakes;                // [drone_cap] scratch of the search for wakes, in a world with wakes
    struct loop_model *loops;         // [drone_cap] closed loops, in a world with a budget
    double *ground_heights;           // what model.ground_heights reads, in a world with obstacles
    vy_vehicle_def *vehicles;         // as declared, of each drone
    uint64_t
        *release_requests; // [drone_cap] payloads that its controller releases in this step; NULL elsewhere
    vy_sink sink;
    vy_replay replay;
    unsigned char *block;  // what all these arrays lie in: capacity.c
    int state_is_borrowed; // but for the state: vy_world_move_state()
    size_t memory;         // [bytes] allocated in all
};

/// What a world can have more of before its first step.
enum capacity {
    CAPACITY_DRONES,
    CAPACITY_BODIES,
    CAPACITY_DISTURBANCES,
    CAPACITY_FAULTS,
    CAPACITY_INJECTIONS, // this and the two above also between two steps
    CAPACITY_JOINTS,
    CAPACITY_PAYLOADS,
    CAPACITY_OBSTACLES,
    CAPACITY_TRIGGERS,
    CAPACITY_SENSOR_SUITES,
    CAPACITY_DELAY_CELLS,
    CAPACITY_COUNT
};

/// The first block of memory, with capacity for nothing.
vy_status vy_world_alloc_memory(vy_world *world, vy_error *err);
void vy_world_free_memory(vy_world *world);
/// Reserve capacity for `needed` of something. The world's arrays may move. VY_FULL,
/// VY_NO_MEMORY: nothing has changed.
vy_status vy_world_reserve(vy_world *world, enum capacity resource, uint64_t needed, vy_error *err);
/// Keep the declared shape of drone or body `number`.
vy_status vy_world_store_solid(vy_world *world, uint32_t number, const vy_collider_def *solid, vy_error *err);
/// Reserve a set for so many bodies, obstacles included, and joints.
vy_status vy_world_reserve_set(vy_world *world, uint32_t body_capacity, uint32_t joint_capacity,
                               vy_error *err);
/// Destroy it again: what it was made for was refused.
void vy_world_destroy_set(vy_world *world);
/// Keep the shape of a drone or body that is about to be added, and add it to the set, if there is one.
vy_status vy_contact_add_drone(vy_world *world, const vy_drone_def *drone, vy_error *err);
vy_status vy_contact_add_body(vy_world *world, const vy_world_body_def *body, vy_error *err);
vy_status vy_contact_add_obstacle(vy_world *world, const vy_obstacle_def *def, vy_error *err);
/// How many blocks of each kind a state has, in which as many things are as `m` says.
block_counts vy_world_count_blocks(const vy_model *m);

/// Have the state lie at `cells` from now on: state_size bytes of the caller's, which must outlive the world.
void vy_world_move_state(vy_world *world, void *cells);

/// The input of the controller of drone `index`.
vy_samples vy_drone_samples(const vy_world *world, uint32_t index);

/// An intent for drone `index` has arrived in this step, or has not: where there are supervisors, they know.
VY_FN void mark_intent_received(const vy_world *world, uint32_t index, int is_new)
{
    VY_ASSERT(index < world->model.drone_count);
    if (world->model.has_supervisor) world->intent_received[index] = (unsigned char)is_new;
}

/// Call the controllers that are due, or take their replies from the replay source.
uint32_t vy_controller_stage(const vy_world *world, world_block *w, drone_block *drones);

/// Sensor suites at tick 0.
void vy_sensor_suite_start(vy_world *world);

/// Take the samples of sensor suites that are due, and deliver those whose delay has passed.
void vy_sensor_suite_stage(vy_world *world);

/// Update the filters of sensor suites with the samples that have arrived.
void vy_filter_stage(vy_world *world);

/// Step the drones that joints hold, island by island.
uint32_t vy_jointed_stage(vy_world *world, const vy_model *plant_model, world_block *w, drone_block *drones);

/// After joints and contacts: joints that were loaded too much break. Returns VY_EVENT_ bits.
uint32_t vy_joint_break_stage(const vy_world *world);

/// Give the set of jointed bodies the states of one joint and of the drones it holds.
void vy_jointed_sync_joint(const vy_world *world, uint32_t joint);

/// Recompute where the state's blocks are: the counts have changed.
void vy_world_layout_state(vy_world *world);
/// The slot of a drone of this world; 0 when it is none.
int vy_world_slot(const vy_world *world, vy_drone_id id, uint32_t *slot);
/// The number of a drone or body of this world; 0 when it is none.
int vy_world_number(const vy_world *world, vy_body_id id, uint32_t *number);

/// The motion of drone or body `number`.
VY_FN body_state *body_at(const vy_world *world, uint32_t number)
{
    const uint32_t drone_count = world->model.drone_count;
    VY_ASSERT(number < body_count(&world->model));
    return number < drone_count ? &world->drones[number].body : &world->passive[number - drone_count].body;
}

/// Its constants: those of motion, of the negligibility policy, of crashes, and what holds it.
VY_FN const multirotor_params *body_plant(const vy_model *m, uint32_t number)
{
    return number < m->drone_count ? &m->params[number].plant : &m->passive[number - m->drone_count].plant;
}

VY_FN nap_params *body_nap(const vy_model *m, uint32_t number)
{
    return number < m->drone_count ? &m->params[number].nap : &m->passive[number - m->drone_count].nap;
}

VY_FN const vy_crash_def *body_crash(const vy_model *m, uint32_t number)
{
    return number < m->drone_count ? &m->drones[number].crash : &m->passive[number - m->drone_count].crash;
}

VY_FN int *body_holder(const vy_model *m, uint32_t number)
{
    return number < m->drone_count ? &m->drones[number].holder : &m->passive[number - m->drone_count].holder;
}

/// What a step of drone or body `number` reads.
typedef struct body_inputs {
    multirotor_inputs in; // of the equations of motion
    rotor_air_state air;  // of a body, which has no rotors to remember
} body_inputs;

void vy_body_inputs(const vy_world *world, const vy_model *plant_model, uint32_t number, double time,
                    body_inputs *out);

/// Gusts around the bodies that are no drones, and which effects are computed for them.
void vy_body_environment_stage(vy_world *world);
/// Something has happened to drone or body `number` that no reach covers: evaluate the negligibility policy
/// for it before its turn. Returns 0 when it was evaluated in this step already.
int vy_body_reevaluate_nap(vy_world *world, uint32_t number);
/// Their motion, but for those that something holds.
void vy_body_plant_stage(vy_world *world);
/// End the run when a number of such a body `k` is not finite, naming it.
void vy_body_check_finite(vy_world *world, uint32_t k);

/// Where the ground is below each drone, as its rotors see it: along the axis of their thrust.
void vy_ground_stage(vy_world *world);

/// The ground of a world: planes and fields of heights among its obstacles, the highest within 1 km.
ground_probe vy_world_ground(const vy_world *world);

/// Kinetic energy of drone or body `index` [J].
double vy_body_kinetic_energy(const vy_world *world, uint32_t index);

/// Before the plant: save the start states for contacts; account the work of the step.
void vy_prestep_stage(vy_world *world, const vy_model *plant_model);

/// Whether `block` can be a state of this world: what it uses as an index, a count, a choice or a mask is
/// one. VY_BAD_VALUE with a sentence if not. `counts`: the blocks that it has.
vy_status vy_snapshot_check(const vy_world *world, const void *block, size_t size, block_counts *counts,
                            vy_error *err);
/// What acted on drone or body `index` at the start of the last step, by cause, where loads are kept.
void vy_body_loads(const vy_world *world, uint32_t index, vy_loads *out);
/// Loads as they are shown, from what an evaluation of the plant's has kept.
void vy_loads_of(const load_parts *parts, vy_loads *out);
/// Before the plant, and after the state has become another one: nothing is known.
void vy_loads_clear(vy_world *world);
/// Keep the loads of so many drones and bodies, if they are kept.
vy_status vy_world_reserve_loads(vy_world *world, uint32_t capacity, vy_error *err);

/// Before the plant: the work that the coming step does on everything that no joint holds.
void vy_energy_stage(vy_world *world, const vy_model *m);
/// The work of contacts on a drone or body, from the end of its free flight to their result, `solved_motion`.
void vy_energy_contact(vy_world *world, uint32_t index, const body_state *free_motion,
                       const body_state *solved_motion);
/// The work of an impulse of contacts, world, and an angular one, body axes, over a step.
void vy_energy_impulse(vy_world *world, uint32_t index, vec3 impulse, vec3 angular_impulse,
                       const body_state *start, const body_state *end);
void vy_body_energy(const vy_world *world, uint32_t index, vy_energy *out);

/// Up to `count` steps, for each level of vy_cpu(); fewer when the world fails. Returns the events.
uint32_t vy_steps_baseline(vy_world *world, uint64_t count);
uint32_t vy_steps_avx2(vy_world *world, uint64_t count);
uint32_t vy_steps_avx512(vy_world *world, uint64_t count);
