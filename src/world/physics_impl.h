// physics_impl.h - a physics service from within: its bodies, and the rigid engine behind them.
#pragma once
#include "dynamics/contacts.h"
#include "volery/physics.h"
#include "world/solid.h"

/// A body as its user sees it, with its intent for the next step.
typedef struct physics_body {
    double mass;
    mat3 inverse_inertia;
    body_state state;
    vec3 force, torque; // of this step
    int has_force;      // it has a dynamic intent
    int is_kinematic;   // it has a kinematic intent: forces do not act in this step
} physics_body;

typedef struct rigid_engine rigid_engine;

vy_status vy_rigid_create(const vy_physics_def *def, rigid_engine **out, vy_error *err);
void vy_rigid_destroy(rigid_engine *engine); ///< NULL is a no-op

/// Add a body. `handle` is its number plus one, 0 for one that has none.
vy_status vy_rigid_add(rigid_engine *engine, const vy_physics_body_def *def, vy_body_kind kind,
                       uint32_t handle, vy_error *err);

/// Step all bodies, states and intents of which are in `bodies`. VY_BAD_STATE: a motion became infinite.
vy_status vy_rigid_step(rigid_engine *engine, double dt, uint32_t count, physics_body *bodies);

/// Contacts that began in the last step. Returns 0 beyond the last; `*next` is where to continue.
int vy_rigid_next_event(const rigid_engine *engine, uint32_t *next, vy_collision_event *out);
