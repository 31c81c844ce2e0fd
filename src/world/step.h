// step.h - one step, in the only order there is. Read this file first.
//
// The stages are headers over `real`: batch/ flies many worlds side by side through the same ones.
#pragma once
#include "base/hash.h"
#include "base/assert.h"
#include "base/real.h"
#include "world/build.h"
#include "world/disturbance.h"
#include "world/fault.h"
#include "world/guard.h"
#include "world/plant.h"
#include "world/safety.h"
#include "world/sense.h"
#include "world/steer.h"
#include "world/surround.h"
#include "world/world_impl.h"

VY_FN uint32_t step(vy_world *world)
{
    const vy_model *m = &world->model; // constant: drones, disturbances, schedule
    world_block *w = world->state;     // everything that changes, and nothing else
    drone_block *d = world->drones;
    uint32_t events = 0;
    const int faulty = m->fault_count > 0; // what breaks does so between the stages
    const int kitted = m->kit_count > 0;
    const vy_model *plant = m;

    if (w->tick == 0) vy_extras_start(world);
    VY_ASSERT(w->failure_reason == VY_FAILURE_NONE && m->dt > 0.0); // who has ended steps no more
    VY_ASSERT(w->integrator == (uint64_t)m->physics.integrator);
    VY_ASSERT(world->state_size == block_offset(&world->counts, BLOCK_KINDS));
    VY_ASSERT(world->counts.of[BLOCK_drone] == m->drone_count &&
              (w->block_kinds == world->counts.of[BLOCK_entry]));
    VY_ASSERT((fpu_mode() & FPU_MODE_BITS) == FPU_MODE_WANTED);
    w->tick += 1;                                                            // time
    if (m->payload_count > 0) vy_payload_stage(world);                       // what is taken up and let go
    disturbance_stage(m, w, world->noise, world->noise_ahead, world->loads); // disturbance, at the start
    turbulence_stage(m, w, d);                                               // gusts
    if (m->geared && m->grounds != NULL) vy_ground_stage(world);             // and what is below
    if (m->wakes.on) vy_rotor_wake_stage(m, w->tick - 1, d, world->wakes, world->gear); // and wakes
    const int look =
        nap_stage(m, w, world->noise, d, world->nap_accounts); // what is negligible until the next look
    actuator_stage(m, d, world->gear, world->speeds);          // actuator
    if (m->thrusting) thruster_stage(m, &w->tick, d, world->thrusters, world->speeds);
    if (faulty) plant = vy_fault_motors(world);
    if (world->watching) vy_watch_stage(world, plant); // for contacts and the energy account
    plant_stage(plant, world->loads, world->speeds, w, d, world->gear, world->thrusters); // plant
    if (world->bodies != NULL) events |= vy_bodies_stage(world, plant, w, d); // and joints, and contacts
    if (m->payload_count > 0) vy_payload_follow(world);
    if (w->failure_reason == VY_FAILURE_NONE) {
        if (faulty) vy_fault_remember(world);
        sensor_stage(m, w, d, world->imu_ahead); // sensor
        if (kitted) vy_kit_stage(world);
        if (faulty) vy_fault_samples(world);
        estimator_stage(m, w, d); // estimator
        if (kitted) vy_filter_stage(world);
        if (faulty) vy_fault_remember(world);
        events |= vy_controller_stage(world, w, d); // controller under test
        if (faulty) vy_fault_commands(world);
        if (m->payload_count > 0) vy_payload_release(world);
        if (m->guarded)
            events |= vy_guard_stage(world, w, d); // drive abstraction layer with limits and failsafe, fences
        else if (dal_stage(m, w, d))
            events |= VY_EVENT_CLAMPED; // drive abstraction layer, apply
        safety_stage(m, w, d);          // limits that end the run
    }
    if (w->failure_reason != VY_FAILURE_NOT_FINITE) { // NaN never enters a hash
        w->chain = vy_hash64(w, look ? world->state_size : world->hashed_size);
    }
    if (world->sink.write != NULL) { // log
        if (world->sink.write(world->sink.self, world) != 0) events |= VY_EVENT_SINK;
        (void)fpu_enter(); // a listener may have changed rounding
    }
    if (world->replay.check != NULL) { // replay check
        if (world->replay.check(world->replay.self, world) != 0) events |= VY_EVENT_DIVERGED;
        (void)fpu_enter();
    }
    return w->failure_reason == VY_FAILURE_NONE ? events : events | VY_EVENT_FAILED;
}

/// Up to `count` steps; fewer when the world fails.
VY_FN uint32_t steps(vy_world *world, uint64_t count)
{
    uint32_t events = world->state->failure_reason == VY_FAILURE_NONE ? 0 : VY_EVENT_FAILED;
    for (uint64_t i = 0; i < count && (events & VY_EVENT_FAILED) == 0; ++i) events |= step(world);
    return events;
}
