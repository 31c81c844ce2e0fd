// world.c - creating, filling, reading and copying a world.
#include "volery/world.h"
#include "base/fpu_result.h"
#include "base/assert.h"
#include "base/real.h"
#include "base/arena.h"
#include "base/fail.h"
#include "base/hash.h"
#include "world/build.h"
#include "world/fault.h"
#include "world/guard.h"
#include "world/kit.h"
#include "world/plant.h"
#include "world/world_def.h"
#include "world/world_impl.h"
#include <stdlib.h>

enum { DEFAULT_TICKS = 10 };

// [m] Nothing flies below the deepest mine.
#define LOWEST_ALTITUDE (-5000.0)

// Handles: low half slot + 1, high half generation (always 1: drones are not removed).
static vy_drone_id id_of(uint32_t slot) { return (vy_drone_id){(uint64_t)1 << 32 | (slot + 1u)}; }

int vy_world_slot(const vy_world *world, vy_drone_id id, uint32_t *slot)
{
    const uint64_t low = id.bits & 0xffffffffu;
    if (id.bits >> 32 != 1 || low == 0 || low > world->model.drone_count) return 0;
    *slot = (uint32_t)low - 1;
    VY_ASSERT(*slot < world->model.drone_cap);
    return 1;
}

// How many blocks of each kind a state has, in which `drones` drones and so on are.
static block_counts count_blocks(const vy_model *m)
{
    const uint32_t drones = m->drone_count, pairs = m->contact_cap;
    block_counts counts = {.of = {
                               [BLOCK_drone] = drones,
                               [BLOCK_payload] = m->payload_count,
                               [BLOCK_joint] = m->joint_count,
                               [BLOCK_noise] = m->noise_count,
                               [BLOCK_line] = m->line_count,
                               [BLOCK_gear] = m->geared ? drones : 0,
                               [BLOCK_guard] = m->guarded ? drones : 0,
                               [BLOCK_thruster] = m->thrusting ? drones : 0,
                               [BLOCK_contact_totals] = pairs > 0 ? drones : 0,
                               [BLOCK_contacts] = pairs > 0,
                               [BLOCK_contact] = pairs,
                               [BLOCK_sleep] = m->sleeps ? drones : 0,
                               [BLOCK_sleeping_contacts] = m->sleeps ? 1 : 0,
                               [BLOCK_sleeping_contact] = m->sleeps ? pairs : 0,
                               [BLOCK_kit] = m->kit_count,
                               [BLOCK_filter] = m->filter_count,
                               [BLOCK_gate] = m->gate_count,
                               [BLOCK_delay] = m->delay_count,
                               [BLOCK_nap_account] = drones,
                           }};
    vy_count_head(&counts);
    return counts;
}

// Each noise of each drone it acts on has a filter in the state.
static void count_noises(vy_world *world)
{
    vy_model *m = &world->model;
    m->noise_count = 0;
    for (uint32_t k = 0; k < m->disturbance_count; ++k) {
        disturbance_model *d = &m->disturbances[k];
        uint32_t slot = 0;
        const int one = vy_world_slot(world, d->def.drone, &slot);
        d->first = one ? slot : 0;
        d->last = one ? slot + 1 : m->drone_count;
        d->noise = m->noise_count;
        if (d->def.kind == VY_DISTURBANCE_NOISE) m->noise_count += d->last - d->first;
        VY_ASSERT(d->first <= d->last && d->last <= m->drone_count);
    }
    VY_ASSERT(m->noise_count <= (uint64_t)m->drone_cap * m->disturbance_cap); // as much as there is room for
}

// The counts have grown from `before`: blocks move up, the last one first, and new ones are zero.
static void move_blocks(const block_counts *before, vy_world *world)
{
    unsigned char *state = (unsigned char *)world->state;
    for (int kind = BLOCK_KINDS - 1; kind > BLOCK_entry; --kind) {
        const size_t size = vy_blocks[kind].size, old = before->of[kind] * size;
        VY_ASSERT(before->of[kind] <= world->counts.of[kind]); // what is there stays
        VY_ASSERT(block_offset(before, (enum block_kind)kind) <=
                  block_offset(&world->counts, (enum block_kind)kind));
        unsigned char *to = state + block_offset(&world->counts, (enum block_kind)kind);
        memmove(to, state + block_offset(before, (enum block_kind)kind), old);
        memset(to + old, 0, world->counts.of[kind] * size - old);
    }
}

// Where blocks of a kind are, also when there are none.
static void *block_at(vy_world *world, enum block_kind kind)
{
    return (unsigned char *)world->state + block_offset(&world->counts, kind);
}

// Who is there settles where the state ends: one dense block, whose size and identity follow from the counts.
void vy_world_lay_out(vy_world *world)
{
    const vy_model *m = &world->model;
    const block_counts before = world->counts;
    VY_ASSERT(m->drone_count <= m->drone_cap && m->disturbance_count <= m->disturbance_cap);
    VY_ASSERT(m->payload_count <= m->payload_cap && m->fault_count <= m->fault_cap);
    VY_ASSERT(m->line_count <= m->line_cap && m->delay_count <= m->delay_cap);
    VY_ASSERT(m->gate_count <= m->filter_count && m->filter_count <= m->kit_count &&
              m->kit_count <= m->kit_cap);
    count_noises(world);
    world->counts = count_blocks(m);
    move_blocks(&before, world);
    world->drones = block_at(world, BLOCK_drone);
    world->payloads = block_at(world, BLOCK_payload);
    world->joint_states = block_at(world, BLOCK_joint);
    world->noise = block_at(world, BLOCK_noise);
    world->lines = block_at(world, BLOCK_line);
    world->gear = block_at(world, BLOCK_gear);
    world->guards = block_at(world, BLOCK_guard);
    world->thrusters = block_at(world, BLOCK_thruster);
    world->contact_totals = m->contact_cap > 0 ? block_at(world, BLOCK_contact_totals) : NULL;
    world->contacts = m->contact_cap > 0 ? block_at(world, BLOCK_contacts) : NULL;
    world->sleep = m->sleeps ? block_at(world, BLOCK_sleep) : NULL;
    world->sleeping_contacts = m->sleeps ? block_at(world, BLOCK_sleeping_contacts) : NULL;
    world->kits = block_at(world, BLOCK_kit);
    world->filters = block_at(world, BLOCK_filter);
    world->gates = block_at(world, BLOCK_gate);
    world->delays = block_at(world, BLOCK_delay);
    world->nap_accounts = block_at(world, BLOCK_nap_account);
    world->hashed_size = block_offset(&world->counts, BLOCK_nap_account);
    world->state_size = block_offset(&world->counts, BLOCK_KINDS);
    VY_ASSERT(world->hashed_size + m->drone_count * sizeof(nap_account_block) ==
              world->state_size); // they end it
    VY_ASSERT((uintptr_t)world->state % 8 == 0 && world->state_size % 8 == 0);
    world->state->integrator = (uint64_t)m->physics.integrator;
    vy_write_entries(&world->counts, world->state);
}

// Periods of the policy, of turbulence and of wakes in steps; those left at 0 are ten.
static vy_status environment_ticks(const vy_world_def *def, uint64_t *nap, uint64_t *turbulence,
                                   uint64_t *wakes, vy_error *err)
{
    const vy_turbulence_def *t = &def->environment.wind.turbulence;
    const double period = def->environment.nap.period, wake = def->environment.wakes.period;
    vy_status status = VY_OK;
    *nap = DEFAULT_TICKS;
    *turbulence = 0;
    *wakes = DEFAULT_TICKS;
    if (wake != 0.0) status = vy_period_ticks("world.wakes.period", wake, def->dt, wakes, err);
    if (status == VY_OK && period != 0.0)
        status = vy_period_ticks("world.nap.period", period, def->dt, nap, err);
    if (status != VY_OK || (t->wind20 == 0.0 && t->intensity == 0.0)) return status;
    *turbulence = DEFAULT_TICKS;
    if (t->period != 0.0)
        status = vy_period_ticks("world.wind.turbulence.period", t->period, def->dt, turbulence, err);
    return status;
}

/// What one block of memory holds, in this order: the world itself first, so that its address frees all.
enum {
    PART_WORLD,
    PART_DRONES,
    PART_PARAMS,
    PART_DISTURBANCES,
    PART_STATE,
    PART_NOISE_AHEAD,
    PART_IMU_AHEAD,
    PART_LOADS,
    PART_SPEEDS,
    PART_FAULTS,
    PART_BEFORE,
    PART_KITS_BEFORE,
    PART_FAULTY,
    PART_ACCOUNTS,
    PART_WAKES,
    PART_SOLIDS,
    PART_REACH,
    PART_FRESH,
    PART_KITS,
    PART_GROUNDS,
    PART_PAYLOADS,
    PART_VEHICLES,
    PART_RELEASE_REQUESTS,
    PARTS
};

vy_status vy_world_create(const vy_world_def *def, vy_world **out, vy_error *err)
{
    FPU_SCOPE;
    *out = NULL;
    vy_status status = vy_check_world_def(def, err);
    uint64_t turbulence_ticks = 0, nap_ticks = 0, wake_ticks = 0;
    if (status == VY_OK) status = environment_ticks(def, &nap_ticks, &turbulence_ticks, &wake_ticks, err);
    if (status != VY_OK) return status;

    const size_t drones = def->drone_cap, disturbances = def->disturbance_cap;
    const size_t noises = drones * disturbances, solids = drones + def->obstacle_cap;
    const vy_model caps = {.drone_count = def->drone_cap,
                           .payload_count = def->payload_cap,
                           .joint_count = def->joint_cap,
                           .noise_count = (uint32_t)noises,
                           .line_count = def->line_cap,
                           .geared = 1,
                           .guarded = 1,
                           .thrusting = 1,
                           .contact_cap = def->contacts.cap,
                           .sleeps = def->contacts.cap > 0 && def->contacts.sleep > 0.0,
                           .kit_count = def->kit_cap,
                           .filter_count = def->kit_cap,
                           .gate_count = def->kit_cap,
                           .delay_count = def->delay_cap};
    const block_counts most = count_blocks(&caps);
    const size_t sizes[PARTS] = {
        [PART_WORLD] = sizeof(vy_world),
        [PART_DRONES] = drones * sizeof(drone_model),
        [PART_PARAMS] = drones * sizeof(drone_params),
        [PART_DISTURBANCES] = disturbances * sizeof(disturbance_model),
        [PART_STATE] = block_offset(&most, BLOCK_KINDS),
        [PART_NOISE_AHEAD] = noises * sizeof(noise_ahead),
        [PART_IMU_AHEAD] = drones * sizeof(rng_ahead),
        [PART_LOADS] = drones * sizeof(body_loads),
        [PART_SPEEDS] = drones * sizeof(double[VY_ROTOR_CAP]),
        [PART_FAULTS] = def->fault_cap * sizeof(fault_model),
        [PART_BEFORE] = def->fault_cap > 0 ? drones * sizeof(drone_block) : 0,
        [PART_KITS_BEFORE] = def->fault_cap > 0 ? def->kit_cap * sizeof(kit_block) : 0,
        [PART_FAULTY] = def->fault_cap > 0 ? drones * sizeof(drone_params) : 0,
        [PART_ACCOUNTS] = drones * sizeof(energy_account),
        [PART_WAKES] = def->environment.wakes.on ? drones * sizeof(wake_entry) : 0,
        [PART_SOLIDS] = solids * sizeof(solid_memory),
        [PART_REACH] = solids * sizeof(double),
        [PART_FRESH] = drones,
        [PART_KITS] = def->kit_cap * sizeof(kit_model),
        [PART_GROUNDS] = def->obstacle_cap > 0 ? drones * sizeof(double) : 0,
        [PART_PAYLOADS] = def->payload_cap * sizeof(payload_model),
        [PART_VEHICLES] = def->payload_cap > 0 ? drones * sizeof(vy_vehicle_def) : 0,
        [PART_RELEASE_REQUESTS] = def->payload_cap > 0 ? drones * sizeof(uint64_t) : 0,
    };
    size_t total = 0;
    for (int i = 0; i < PARTS; ++i) total += (sizes[i] + 63u) & ~(size_t)63u;
    unsigned char *block = aligned_alloc(64, total);
    if (block == NULL) return vy_fail(err, VY_NO_MEMORY, "world: no memory for %zu bytes", total);
    memset(block, 0, total);

    vy_arena arena = {block, total, 0};
    void *parts[PARTS];
    for (int i = 0; i < PARTS; ++i) parts[i] = vy_arena_take(&arena, sizes[i]);
    VY_ASSERT(parts[PARTS - 1] != NULL && arena.used <= total); // the sum above is what is taken
    VY_ASSERT((void *)block == parts[PART_WORLD]);              // what frees it all
    vy_world *world = parts[PART_WORLD];
    world->model = (vy_model){
        .dt = def->dt,
        .seed = def->seed,
        .nap = def->environment.nap,
        .planet = def->environment.planet,
        .physics = def->environment.physics,
        .usual = plant_is_usual(&def->environment.physics),
        .wakes = def->environment.wakes,
        .drone_cap = def->drone_cap,
        .disturbance_cap = def->disturbance_cap,
        .drones = parts[PART_DRONES],
        .params = parts[PART_PARAMS],
        .disturbances = parts[PART_DISTURBANCES],
        .fault_cap = def->fault_cap,
        .line_cap = def->line_cap,
        .faults = parts[PART_FAULTS],
        .obstacle_cap = def->obstacle_cap,
        .contact_cap = caps.contact_cap,
        .sleeps = caps.sleeps,
        .kit_cap = def->kit_cap,
        .delay_cap = def->delay_cap,
        .kits = parts[PART_KITS],
        .payload_cap = def->payload_cap,
        .payloads = parts[PART_PAYLOADS],
    };
    VY_ASSERT(world->model.dt > 0.0 && nap_ticks > 0 && wake_ticks > 0);
    world->vehicles = parts[PART_VEHICLES];
    world->release_requests = def->payload_cap > 0 ? parts[PART_RELEASE_REQUESTS] : NULL;
    world->grounds = parts[PART_GROUNDS];
    if (def->obstacle_cap > 0) world->model.grounds = world->grounds;
    const vy_environment_def *env = &def->environment;
    vy_surroundings_build(env, &world->model.env);
    world->model.turbulence = vy_turbulence_build(&env->wind.turbulence);
    world->model.turbulence.period = (double)turbulence_ticks * def->dt;
    world->model.turbulence_period = turbulence_ticks;
    world->model.nap_period = nap_ticks;
    world->model.wake_period = wake_ticks;
    world->model.geared = env->wakes.on;
    world->state = parts[PART_STATE];
    world->noise_ahead = parts[PART_NOISE_AHEAD];
    world->imu_ahead = parts[PART_IMU_AHEAD];
    world->loads = parts[PART_LOADS];
    world->speeds = parts[PART_SPEEDS];
    world->before = parts[PART_BEFORE];
    world->kits_before = parts[PART_KITS_BEFORE];
    world->faulty = parts[PART_FAULTY];
    world->accounts = parts[PART_ACCOUNTS];
    world->wakes = parts[PART_WAKES];
    world->solids = parts[PART_SOLIDS];
    world->reach = parts[PART_REACH];
    world->watching = def->contacts.cap > 0;
    world->fresh = parts[PART_FRESH];
    world->memory = total;
    vy_world_lay_out(world);
    if (def->joint_cap > 0 || def->obstacle_cap > 0 || def->contacts.cap > 0) {
        vy_bodies_def set = vy_default_bodies_def();
        set.dt = def->dt;
        set.body_cap = solids > 0 ? (uint32_t)solids : 1;
        set.joint_cap = def->joint_cap;
        set.integrator = def->environment.physics.integrator;
        set.contacts = def->contacts;
        if (def->contacts.cap > 0) { // what impacts must exceed to bounce
            set.gravity = gravity_at(&world->model.env.gravity, vec3_zero());
            if (!vec3_is_finite(set.gravity)) set.gravity = vec3_zero(); // in the middle of what attracts
        }
        status = vy_bodies_create(&set, &world->bodies, err);
        if (status != VY_OK) {
            free(world);
            return status;
        }
        world->bodies->external_flight = 1;
    }
    *out = world;
    return VY_OK;
}

void vy_world_destroy(vy_world *world)
{
    if (world == NULL) return;
    vy_bodies_destroy(world->bodies);
    for (uint32_t i = 0; i < world->model.drone_cap + world->model.obstacle_cap; ++i)
        vy_solid_free(&world->solids[i]);
    free(world);
}

// The kit of a drone that is about to be added, in the next place.
static vy_status add_kit(vy_model *m, const vy_drone_def *def, uint32_t index, uint32_t *delays,
                         vy_error *err)
{
    if (m->kit_count == m->kit_cap)
        return vy_fail(err, VY_FULL, "the world was made for %u drones with more sensors (kit_cap)",
                       m->kit_cap);
    kit_model *kit = &m->kits[m->kit_count];
    const vy_status status = vy_kit_build(m, def, index, kit, delays, err);
    if (status != VY_OK) return status;
    if (*delays > m->delay_cap - m->delay_count)
        return vy_fail(err, VY_FULL, "the world was made for %u numbers of delayed samples (delay_cap)",
                       m->delay_cap);
    for (int i = 0; i < KIT_SENSORS; ++i) kit->links[i].line += m->delay_count;
    drone_model *dm = &m->drones[index];
    dm->kit = m->kit_count + 1;
    kit->filter = m->filter_count;
    kit->gate = m->gate_count;
    VY_ASSERT(kit->drone == index && m->filter_count <= m->kit_count && m->gate_count <= m->filter_count);
    if (kit->estimator != VY_ESTIMATOR_FADING) dm->belief = BELIEF_FILTER;
    if (kit->links[KIT_IMU].period > 0) dm->imu_period = 0; // the plain ones rest
    if (kit->links[KIT_MOCAP].period > 0) dm->mocap_period = 0;
    return VY_OK;
}

vy_status vy_world_add_drone(vy_world *world, const vy_drone_def *def, vy_drone_id *out, vy_error *err)
{
    FPU_SCOPE;
    vy_model *m = &world->model;
    vy_drone_def own = *def;
    vy_settle_periods(&own, m->dt);
    def = &own;
    if (world->state->tick > 0) return vy_fail(err, VY_BAD_STATE, "drones are added before the first step");
    if (m->payload_count > 0) return vy_fail(err, VY_BAD_STATE, "drones are added before payloads");
    if (m->drone_count == m->drone_cap) {
        return vy_fail(err, VY_FULL, "the world was made for %u drones", m->drone_cap);
    }
    vy_status status = vy_check_drone_def(def, err);
    if (status != VY_OK) return status;
    const uint32_t index = m->drone_count;
    if (m->env.planet.on && !(nap_altitude(&m->env, def->position) > LOWEST_ALTITUDE)) {
        return vy_fail(err, VY_BAD_VALUE, "drone.position lies inside the planet");
    }
    status = vy_drone_build(m, def, &m->drones[index], &m->params[index], err);
    uint32_t delays = 0;
    if (status == VY_OK && vy_drone_has_kit(def)) status = add_kit(m, def, index, &delays, err);
    if (status == VY_OK && world->bodies != NULL) status = vy_contact_add_drone(world, def, err);
    if (status == VY_OK) {
        if (m->payload_cap > 0) world->vehicles[index] = def->vehicle;
        m->drone_count += 1;
        m->kit_count += m->drones[index].kit > 0;
        m->filter_count += m->drones[index].belief == BELIEF_FILTER;
        m->gate_count += m->drones[index].kit > 0 && vy_kit_gated(&m->kits[m->drones[index].kit - 1]);
        m->delay_count += delays;
        if (m->contact_cap > 0) m->params[index].nap.open_loop = 0; // the bound is that of a body alone
        m->geared |= m->drones[index].geared;
        m->guarded |= m->drones[index].guarded;
        m->thrusting |= m->drones[index].layout.thrusters.count > 0;
        m->wake_most = real_max(m->wake_most, m->drones[index].wake_exit);
        vy_world_lay_out(world);
        vy_drone_start(m, def, index, &world->drones[index]);
        VY_ASSERT(world->counts.of[BLOCK_drone] == index + 1);
        VY_ASSERT(world->bodies == NULL || vy_bodies_limit(world->bodies) == index + 1); // body i is drone i
        if (out != NULL) *out = id_of(index);
    }
    return status;
}

vy_status vy_world_add_disturbance(vy_world *world, const vy_disturbance_def *def, vy_error *err)
{
    FPU_SCOPE;
    vy_model *m = &world->model;
    if (world->state->tick > 0)
        return vy_fail(err, VY_BAD_STATE, "disturbances are added before the first step");
    if (m->disturbance_count == m->disturbance_cap) {
        return vy_fail(err, VY_FULL, "the world was made for %u disturbances", m->disturbance_cap);
    }
    const vy_status status = vy_check_disturbance_def(def, err);
    if (status != VY_OK) return status;
    uint32_t slot = 0;
    if (def->drone.bits != 0 && !vy_world_slot(world, def->drone, &slot)) {
        return vy_fail(err, VY_NOT_FOUND, "disturbance.drone is not a drone of this world");
    }
    disturbance_model *d = &m->disturbances[m->disturbance_count];
    vy_disturbance_build(m, def, d);
    d->index = m->disturbance_count++;
    vy_world_lay_out(world);
    return VY_OK;
}

vy_status vy_world_add_fault(vy_world *world, const vy_fault_def *def, vy_error *err)
{
    FPU_SCOPE;
    vy_model *m = &world->model;
    if (world->state->tick > 0) return vy_fail(err, VY_BAD_STATE, "faults are added before the first step");
    if (m->fault_count == m->fault_cap)
        return vy_fail(err, VY_FULL, "the world was made for %u faults", m->fault_cap);
    vy_status status = vy_check_fault_def(def, err);
    if (status != VY_OK) return status;
    uint32_t slot = 0;
    if (def->drone.bits != 0 && !vy_world_slot(world, def->drone, &slot))
        return vy_fail(err, VY_NOT_FOUND, "fault.drone is not a drone of this world");
    fault_model *f = &m->faults[m->fault_count];
    vy_fault_build(m, def, f);
    f->index = m->fault_count;
    f->first = slot;
    f->last = def->drone.bits != 0 ? slot + 1 : m->drone_count;
    f->line = m->line_count;
    status = vy_fault_fit(m, f, err);
    VY_ASSERT(status != VY_OK || (f->first < f->last && f->length > 0));
    const uint64_t lines = (uint64_t)f->places * (f->last - f->first);
    if (status == VY_OK && lines > m->line_cap - m->line_count)
        status = vy_fail(err, VY_FULL, "the world was made for %u delayed samples", m->line_cap);
    if (status == VY_OK) {
        m->fault_count += 1;
        m->line_count += (uint32_t)lines;
        // Faulty motors do not follow their commands, so the certificate has no bound to offer.
        const int motors = def->kind <= VY_FAULT_MOTOR_LAG || def->kind == VY_FAULT_BATTERY;
        for (uint32_t i = f->first; i < f->last && motors; ++i) m->params[i].nap.open_loop = 0;
        vy_world_lay_out(world);
    }
    return status;
}

uint64_t vy_world_faults(const vy_world *world, vy_drone_id id)
{
    const vy_model *m = &world->model;
    uint32_t slot;
    uint64_t acting = 0, began;
    if (!vy_world_slot(world, id, &slot)) return 0;
    for (uint32_t k = 0; k < m->fault_count && k < 64; ++k) {
        if (vy_fault_acts(m, &m->faults[k], slot, world->state->tick, &began)) acting |= (uint64_t)1 << k;
    }
    return acting;
}

int vy_world_fault_acts(const vy_world *world, vy_drone_id id, uint32_t index)
{
    const vy_model *m = &world->model;
    uint32_t slot;
    uint64_t began;
    if (!vy_world_slot(world, id, &slot) || index >= m->fault_count) return 0;
    return vy_fault_acts(m, &m->faults[index], slot, world->state->tick, &began);
}

uint64_t vy_world_fault_begun(const vy_world *world, vy_drone_id id, uint32_t index)
{
    const vy_model *m = &world->model;
    uint32_t slot = 0;
    if (!vy_world_slot(world, id, &slot) || index >= m->fault_count) return 0;
    return vy_fault_count(m, &m->faults[index], slot, world->state->tick);
}

uint64_t vy_world_fault_count(const vy_world *world, vy_drone_id id)
{
    const vy_model *m = &world->model;
    uint32_t slot;
    uint64_t count = 0;
    if (!vy_world_slot(world, id, &slot)) return 0;
    for (uint32_t k = 0; k < m->fault_count; ++k)
        count += vy_fault_count(m, &m->faults[k], slot, world->state->tick);
    return count;
}

vy_body_id vy_world_body(const vy_world *world, vy_drone_id id)
{
    uint32_t slot;
    if (world->bodies == NULL || !vy_world_slot(world, id, &slot)) return VY_NULL_BODY;
    return vy_bodies_at(world->bodies, slot);
}

vy_status vy_world_add_joint(vy_world *world, const vy_joint_def *def, vy_joint_id *out, vy_error *err)
{
    FPU_SCOPE;
    vy_model *m = &world->model;
    if (world->state->tick > 0) return vy_fail(err, VY_BAD_STATE, "joints are added before the first step");
    if (world->bodies == NULL) return vy_fail(err, VY_FULL, "the world was made for 0 joints");
    if (m->physics.engine == VY_ENGINE_SIMPLE)
        return vy_fail(err, VY_BAD_VALUE, "joints need the strict or the rigid engine");
    if (m->payload_count > 0) return vy_fail(err, VY_BAD_STATE, "joints are added before payloads");
    vy_joint_id id;
    vy_status status = vy_bodies_add_joint(world->bodies, def, &id, err);
    if (status == VY_OK) status = vy_bodies_prepare(world->bodies);
    if (status != VY_OK) return status;
    m->joint_count += 1;
    for (uint32_t i = 0; i < m->drone_count; ++i) {
        if (vy_body_is_joined(world->bodies, vy_bodies_at(world->bodies, i)))
            m->drones[i].held = HELD_BY_JOINT;
        if (m->drones[i].held) m->params[i].nap.open_loop = 0; // the bound is that of a body alone
    }
    vy_world_lay_out(world);
    if (out != NULL) *out = id;
    return VY_OK;
}

uint32_t vy_world_joint_count(const vy_world *world) { return world->model.joint_count; }

vy_joint_id vy_world_joint(const vy_world *world, uint32_t index)
{
    return world->bodies != NULL ? vy_joints_at(world->bodies, index) : VY_NULL_JOINT;
}

vy_status vy_world_read_joint(const vy_world *world, vy_joint_id id, vy_joint_state *out)
{
    FPU_SCOPE;
    if (world->bodies == NULL) return VY_NOT_FOUND;
    const int64_t k = vy_joints_find(world->bodies, id);
    if (k < 0) return VY_NOT_FOUND;
    VY_ASSERT((uint64_t)k < world->model.joint_count);
    vy_joined_sync_joint(world, (uint32_t)k);
    return vy_joint_read(world->bodies, id, out);
}

uint64_t vy_world_tick(const vy_world *world) { return world->state->tick; }
double vy_world_time(const vy_world *world)
{
    FPU_SCOPE;
    return fpu_result((double)world->state->tick * world->model.dt);
}
uint32_t vy_world_drone_count(const vy_world *world) { return world->model.drone_count; }
uint64_t vy_world_hash(const vy_world *world) { return world->state->chain; }
uint64_t vy_world_state_hash(const vy_world *world) { return vy_state_hash(world->state, world->state_size); }
size_t vy_world_memory(const vy_world *world) { return world->memory; }
void vy_world_set_sink(vy_world *world, vy_sink sink) { world->sink = sink; }
void vy_world_set_replay(vy_world *world, vy_replay replay) { world->replay = replay; }

vy_drone_id vy_world_drone(const vy_world *world, uint32_t index)
{
    return index < world->model.drone_count ? id_of(index) : (vy_drone_id){0};
}

vy_status vy_world_read_drone(const vy_world *world, vy_drone_id id, vy_drone_state *out)
{
    FPU_SCOPE;
    uint32_t slot;
    if (!vy_world_slot(world, id, &slot)) return VY_NOT_FOUND;
    const drone_block *d = &world->drones[slot];
    const uint64_t tick = world->state->tick;
    vy_drone_state s = {
        .position = d->body.position,
        .velocity = d->body.velocity,
        .attitude = d->body.attitude,
        .rate = d->body.rate,
        .samples = vy_drone_samples(world, slot),
        .clamps = d->clamps,
    };
    s.rotor_power = rotors_power(&world->model, slot, d);
    if (world->model.drones[slot].driven && tick > 0) s.failsafes = world->guards[slot].handovers;
    if (world->model.geared && tick > 0) { // it begins with the first step
        const gear_block *g = &world->gear[slot];
        s.battery_charge = g->battery.charge;
        s.battery_voltage = g->battery.voltage;
        s.wake = g->memory.downwash;
    }
    if (world->contact_totals != NULL) {
        const contact_totals_block *t = &world->contact_totals[slot];
        s.touching = t->now;
        s.contacts = t->count;
        s.crashes = t->crashes;
        s.contact_impulse = vec3_make(t->contact.impulse[0], t->contact.impulse[1], t->contact.impulse[2]);
        s.contact_speed = t->contact.speed;
        s.contact_push = t->contact.push;
    }
    if (world->sleep != NULL) s.asleep = world->sleep[slot].island != 0;
    if (world->model.thrusting) memcpy(s.thrust, world->thrusters[slot].thrust, sizeof s.thrust);
    memcpy(s.rotor_speed, d->rotor_speed, sizeof s.rotor_speed);
    memcpy(s.motor_command, d->control.motors, sizeof s.motor_command);
    s.target.time = vy_world_time(world);
    s.target.position = drone_reference(&world->model, slot, s.target.time, &s.target.yaw).position;
    *out = s;
    return VY_OK;
}

void vy_extras_start(vy_world *world)
{
    const vy_model *m = &world->model;
    const mask all = mask_set(1);
    VY_ASSERT(world->state->tick == 0);
    if (m->geared) gear_start(m, &all, world->drones, world->gear);
    if (m->thrusting) thrusters_start(m, &all, world->drones, world->thrusters);
    if (m->guarded) vy_guard_start(m, world->drones, world->guards);
    if (m->kit_count > 0) vy_kit_start(world);
}

vy_status vy_world_read_drive(const vy_world *world, vy_drone_id id, vy_drive_state *out)
{
    FPU_SCOPE;
    uint32_t slot;
    if (!vy_world_slot(world, id, &slot)) return VY_NOT_FOUND;
    memset(out, 0, sizeof *out);
    if (!world->model.drones[slot].driven || world->state->tick == 0)
        return VY_OK; // it begins with the first step
    const guard_block *g = &world->guards[slot];
    *out = (vy_drive_state){
        .failsafe = (vy_failsafe)g->failsafe,
        .cause = (vy_handover)g->cause,
        .verdict = (vy_verdict)g->verdict,
        .detail = (int32_t)(int64_t)g->detail,
        .since = (double)g->since * world->model.dt,
        .handovers = g->handovers,
        .lost = (uint32_t)g->lost,
    };
    memcpy(out->acted, g->acted, sizeof out->acted);
    return VY_OK;
}

vy_status vy_world_read_loads(const vy_world *world, vy_drone_id id, vy_loads *out)
{
    FPU_SCOPE;
    uint32_t slot;
    if (!vy_world_slot(world, id, &slot)) return VY_NOT_FOUND;
    vy_drone_loads(world, slot, out);
    return VY_OK;
}

vy_status vy_world_read_energy(const vy_world *world, vy_drone_id id, vy_energy *out)
{
    FPU_SCOPE;
    uint32_t slot;
    if (!vy_world_slot(world, id, &slot)) return VY_NOT_FOUND;
    vy_drone_energy(world, slot, out);
    return VY_OK;
}

vy_status vy_world_certificate(const vy_world *world, vy_drone_id id, vy_certificate *out)
{
    FPU_SCOPE;
    uint32_t slot;
    if (!vy_world_slot(world, id, &slot)) return VY_NOT_FOUND;
    const drone_block *d = &world->drones[slot];
    const nap_account_block *l = &world->nap_accounts[slot];
    vy_certificate c = {
        .effects = d->effects,
        .changes = d->effect_changes,
        .horizon = world->model.nap.horizon,
        .bounded = l->deviation[DEVIATION_POSITION] < NAP_UNBOUNDED,
        .rate = l->deviation[DEVIATION_RATE],
        .angle = l->deviation[DEVIATION_ANGLE],
        .velocity = l->deviation[DEVIATION_VELOCITY],
        .position = l->deviation[DEVIATION_POSITION],
    };
    for (int i = 0; i < EFFECT_COUNT; ++i) {
        c.impulse[i] = l->impulse[i];
        c.angular_impulse[i] = l->angular[i];
        c.total_impulse += l->impulse[i];
        c.total_angular_impulse += l->angular[i];
    }
    *out = c;
    return VY_OK;
}

vy_failure vy_world_failure(const vy_world *world)
{
    FPU_SCOPE;
    static const char *const names[] = {"",        "",         "the controller's reply",
                                        "tilt",    "rate",     "speed",
                                        "height",  "distance", "",
                                        "",        "fall",     "ground",
                                        "geofence"};
    const world_block *w = world->state;
    const vy_failure_reason reason = (vy_failure_reason)w->failure_reason;
    VY_ASSERT((size_t)reason < sizeof names / sizeof names[0]);
    return (vy_failure){
        .reason = reason,
        .tick = w->failure_tick,
        .time = (double)w->failure_tick * world->model.dt,
        .drone = (uint32_t)w->failure_drone,
        .value = w->failure_value,
        .limit = w->failure_limit,
        .what = reason == VY_FAILURE_NOT_FINITE   ? vy_blocks[BLOCK_drone].fields[w->failure_field].name
                : reason == VY_FAILURE_CONTROLLER ? vy_verdict_text((vy_verdict)w->failure_field)
                : reason == VY_FAILURE_CRASH      ? (w->failure_field ? "impulse" : "closing speed")
                                                  : names[reason],
    };
}

size_t vy_world_state_size(const vy_world *world) { return world->state_size; }

void vy_world_move_state(vy_world *world, void *cells)
{
    VY_ASSERT(cells != NULL && (uintptr_t)cells % 8 == 0);
    memcpy(cells, world->state, world->state_size);
    world->state = cells;
    vy_world_lay_out(world);
}

void vy_world_save(const vy_world *world, void *block) { memcpy(block, world->state, world->state_size); }

// Step by `integrator` from now on: model, state, and the set of those that joints hold.
static void take_integrator(vy_world *world, vy_integrator integrator)
{
    VY_ASSERT(vy_integrator_order(integrator) > 0);
    vy_model *m = &world->model;
    m->physics.integrator = integrator;
    m->usual = plant_is_usual(&m->physics);
    world->state->integrator = (uint64_t)integrator;
    if (world->bodies != NULL) (void)vy_bodies_set_integrator(world->bodies, integrator);
}

vy_integrator vy_world_integrator(const vy_world *world) { return world->model.physics.integrator; }

vy_status vy_world_set_integrator(vy_world *world, vy_integrator integrator, vy_error *err)
{
    if (vy_integrator_order(integrator) == 0)
        return vy_fail(err, VY_BAD_VALUE, "no integrator %d", (int)integrator);
    if (world->model.physics.engine == VY_ENGINE_SIMPLE)
        return vy_fail(err, VY_BAD_STATE, "the simple engine has its own method and takes no integrator");
    if (integrator == world->model.physics.integrator) return VY_OK;
    take_integrator(world, integrator);
    if (world->sink.change != NULL && world->sink.change(world->sink.self, world) != 0)
        return vy_fail(err, VY_IO, "the integrator has changed, but its listener could not take that");
    return VY_OK;
}

vy_status vy_world_restore(vy_world *world, const void *block, size_t size, vy_error *err)
{
    FPU_SCOPE;
    const vy_status status = vy_snapshot_check(world, block, size, err);
    if (status != VY_OK) return status;
    memcpy(world->state, block, size);
    VY_ASSERT(world->state->block_kinds == world->counts.of[BLOCK_entry]);
    take_integrator(world, (vy_integrator)world->state->integrator);
    if (world->bodies != NULL) vy_joints_clear_multipliers(world->bodies);
    if (world->model.payload_count > 0) vy_payload_sync(world);
    if (world->sleep != NULL) vy_contact_sync(world);
    if (world->accounting) vy_world_open_account(world);
    return VY_OK;
}
