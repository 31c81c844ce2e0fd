// step.h - one step of a world: the stages of stages.inl, then its hash, the log and the replay check.
#pragma once
#include "base/hash.h"
#include "base/assert.h"
#include "base/real.h"
#include "world/build.h"
#include "world/disturbance.h"
#include "world/fault.h"
#include "world/injection.h"
#include "world/supervisor.h"
#include "world/contact_stage.h"
#include "world/world_impl.h"
#include "world/plant.h"
#include "world/recorded.h"
#include "world/safety.h"
#include "world/sensor_stage.h"
#include "world/stages.h"
#include "world/controller_stage.h"
#include "world/environment_stage.h"

VY_FN uint32_t controller_stage(const vy_world *reply_source, const vy_model *m, world_block *w,
                                drone_block *drones)
{
    VY_ASSERT(m == &reply_source->model);
    return vy_controller_stage(reply_source, w, drones);
}

/// `options` are the world's. A constant 0, of a basic world, leaves out the optional stages.
VY_FN uint32_t step(vy_world *world, unsigned options)
{
    const vy_model *m = &world->model, *plant_model = m; // constant: drones, disturbances, schedule
    world_block *w = world->state;                       // everything that changes, and nothing else
    drone_block *drones = world->drones;
    noise_block *noise = world->noise;
    powertrain_block *powertrain = world->powertrain;
    thruster_block *thrusters = world->thrusters;
    nap_account_block *nap_accounts = world->nap_accounts; // what the negligibility policy left out
    body_loads *loads = world->loads;
    real(*speeds)[VY_ROTOR_CAP] = world->speeds;
    noise_ahead *noise_draws = world->noise_ahead;
    rng_cache *imu_draws = world->imu_ahead;
    const vy_world *reply_source = world;
    const mask is_first_step = w->tick == 0;
    mask nap_evaluated;
    uint32_t events = 0;

    VY_ASSERT(w->failure_reason == VY_FAILURE_NONE && m->dt > 0.0); // a failed world is not stepped
    VY_ASSERT(options == step_options(m));
    VY_ASSERT(w->integrator == (uint64_t)m->physics.integrator);
    VY_ASSERT(world->state_size == block_offset(&world->counts, BLOCK_KINDS));
    VY_ASSERT(world->counts.of[BLOCK_drone] == m->drone_count &&
              (w->block_kinds == world->counts.of[BLOCK_entry]));
    VY_ASSERT((fpu_mode() & FPU_MODE_BITS) == FPU_MODE_WANTED);
#define STAGE(...) __VA_ARGS__;
#define STAGE_LANES(option, ...)                  \
    if ((options & 1u << OPTION_##option) != 0) { \
        __VA_ARGS__;                              \
    }
#define STAGE_WORLD(option, ...) STAGE_LANES(option, __VA_ARGS__)
#define STAGE_UNLESS(option, ...)                 \
    if ((options & 1u << OPTION_##option) == 0) { \
        __VA_ARGS__;                              \
    }
#define RUNNING_BEGIN if (w->failure_reason == VY_FAILURE_NONE) {
#define RUNNING_END   }
#include "world/stages.inl"
    if (w->failure_reason != VY_FAILURE_NOT_FINITE) { // NaN never enters a hash
        w->chain = vy_hash64(w, nap_evaluated ? world->state_size : world->hashed_size);
        if ((options & 1u << OPTION_contact) != 0) w->chain = vy_contact_hash(world, w->chain);
    }
    if (world->sink.write != NULL) { // log
        if (world->sink.write(world->sink.self, world) != 0) events |= VY_EVENT_SINK;
        (void)fpu_enter(); // a listener may have changed the rounding mode
    }
    if (world->replay.check != NULL) { // replay check
        if (world->replay.check(world->replay.self, world) != 0) events |= VY_EVENT_DIVERGED;
        (void)fpu_enter();
        w = world->state; // an injection of the log may have moved it
    }
    return w->failure_reason == VY_FAILURE_NONE ? events : events | VY_EVENT_FAILED;
}

/// Up to `count` steps; fewer when the world fails.
VY_FN uint32_t steps(vy_world *world, uint64_t count)
{
    uint32_t events = world->state->failure_reason == VY_FAILURE_NONE ? 0 : VY_EVENT_FAILED;
    for (uint64_t i = 0; i < count && (events & VY_EVENT_FAILED) == 0; ++i)
        events |= world->options == 0 ? step(world, 0) : step(world, world->options);
    return events;
}
