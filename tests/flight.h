// flight.h - a world with one drone, for tests that fly.
#pragma once
#include "check.h"
#include "volery/world.h"

/// A world of `def` with the drone, which must be accepted.
static inline vy_world *fly_in(const vy_world_def *def, const vy_drone_def *drone)
{
    vy_world *world = NULL;
    vy_error err = {0};
    if (vy_world_create(def, &world, &err) != VY_OK ||
        vy_world_add_drone(world, drone, NULL, &err) != VY_OK) {
        fail_msg("%s", err.text);
    }
    return world;
}

/// The same in the default world.
static inline vy_world *fly(const vy_drone_def *drone)
{
    const vy_world_def def = vy_default_world_def();
    return fly_in(&def, drone);
}

static inline vy_drone_state state_of(const vy_world *world, uint32_t index)
{
    vy_drone_state s;
    assert_int_equal(vy_world_read_drone(world, vy_world_drone(world, index), &s), VY_OK);
    return s;
}

/// The default drone with no noise, no bias and no controller; its motors keep the rotors at hover.
static inline vy_drone_def quiet_drone(void)
{
    vy_drone_def def = vy_default_drone_def();
    def.imu = (vy_imu_def){.period = 0.001};
    def.mocap = (vy_mocap_def){.period = 0.01};
    def.controller.kind = VY_CONTROLLER_NONE;
    return def;
}

/// A brick of 1 kg without rotors, drag or sensor noise: what outside forces do to it is plain.
static inline vy_drone_def passive_body(void)
{
    vy_drone_def def = quiet_drone();
    def.vehicle.rotor_count = 0;
    def.vehicle.mass = 1.0;
    def.vehicle.inertia = (vy_mat3){{{0.02, 0.0, 0.0}, {0.0, 0.03, 0.0}, {0.0, 0.0, 0.04}}};
    def.vehicle.drag_linear = (vy_vec3){0.0, 0.0, 0.0};
    return def;
}

/// A controller of the user's that always answers the same: the intent at `self`.
static inline void always_answer(void *self, const vy_samples *samples, vy_intent *intent)
{
    (void)samples;
    *intent = *(const vy_intent *)self;
}

/// A quiet drone high up, without drag, that always gets `intent`.
static inline vy_drone_def answering_drone(vy_intent *intent, vy_allocation allocation)
{
    vy_drone_def def = quiet_drone();
    def.position.z = 100.0;
    def.vehicle.allocation = allocation;
    def.vehicle.drag_linear = (vy_vec3){0.0, 0.0, 0.0};
    def.controller.kind = VY_CONTROLLER_CALLBACK;
    def.controller.call = always_answer;
    def.controller.self = intent;
    return def;
}
