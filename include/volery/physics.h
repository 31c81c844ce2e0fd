// physics.h - the physics service: bodies by handle, intents that move them, a step, a state to read.
//
// One interface for engines behind it. `simple` is no real engine: it adds up forces, moves bodies by Euler's
// method and clamps them to the ground and the boundary; bodies pass through each other. `rigid` is a full
// one: RK4 with the gyroscopic term, and contacts with friction between bodies, ground and boundary. Worlds
// of drones (volery/world.h) can fly on both: the scenario's `world.physics`. Axes are those of
// volery/types.h: +z is up, the ground is z = 0.
#pragma once
#include "volery/obstacle.h"
#include "volery/status.h"
#include "volery/types.h"
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vy_physics vy_physics; ///< opaque; one owner; no globals

/// A body of a service. Zero is null. Pass by value and treat as opaque.
typedef struct vy_physics_id {
    uint64_t bits;
} vy_physics_id;

typedef enum vy_physics_engine {
    VY_PHYSICS_SIMPLE, ///< sums of forces, Euler's method, clamping; never a collision
    VY_PHYSICS_RIGID,  ///< rigid bodies of `solid` shapes, with contacts and events
} vy_physics_engine;

typedef struct vy_physics_def {
    uint32_t cookie; ///< set by the default function
    vy_physics_engine engine;
    double boundary;          ///< [m] largest |x| and |y| of a body, > 0
    vy_contacts_def contacts; ///< of `rigid`, which has them always
} vy_physics_def;

/// `simple`, 1000 m.
vy_physics_def vy_default_physics_def(void);

typedef struct vy_physics_body_def {
    uint32_t cookie;       ///< set by the default function
    double mass;           ///< [kg] > 0
    vy_mat3 inertia;       ///< [kg m^2] body axes, symmetric, positive
    vy_body_state start;   ///< finite; an attitude of any length above 0
    vy_collider_def solid; ///< of `rigid`: its shape about its centre of mass, and its surface
} vy_physics_body_def;

/// 1 kg, the identity as inertia, at rest at the origin, a ball of 10 cm.
vy_physics_body_def vy_default_physics_body_def(void);

typedef enum vy_move_kind {
    VY_MOVE_DYNAMIC,   ///< force and torque: added to those of this step
    VY_MOVE_KINEMATIC, ///< velocity and attitude: set at once; the forces of this step are ignored
} vy_move_kind;

/// How a body is to be moved. Only the fields of its kind are read.
typedef struct vy_move_intent {
    vy_move_kind kind;
    vy_vec3 force;    ///< [N] world axes
    vy_vec3 torque;   ///< [N m] body axes
    vy_vec3 velocity; ///< [m/s] world axes
    vy_quat attitude; ///< q_WB, any length above 0
} vy_move_intent;

/// A contact that has begun.
typedef struct vy_collision_event {
    vy_physics_id a, b; ///< b is null for a static body, the ground and the boundary
    vy_vec3 point;      ///< [m] world
    vy_vec3 normal;     ///< from a to b, unit length
    double impulse;     ///< [N s] along the normal
} vy_collision_event;
typedef void vy_collision_fn(void *self, const vy_collision_event *event);

/// Create a service. On failure `*out` is NULL. `err` may be NULL, here and below.
vy_status vy_physics_create(const vy_physics_def *def, vy_physics **out, vy_error *err);
void vy_physics_destroy(vy_physics *physics); ///< NULL is a no-op

/// Add a body that forces move, or one that kinematic intents alone move; `simple` treats both alike.
/// @return VY_BAD_VALUE, VY_NO_MEMORY; `*out` is untouched then
vy_status vy_physics_add_dynamic(vy_physics *physics, const vy_physics_body_def *def, vy_physics_id *out,
                                 vy_error *err);
vy_status vy_physics_add_kinematic(vy_physics *physics, const vy_physics_body_def *def, vy_physics_id *out,
                                   vy_error *err);

/// Add a body that never moves; it has no handle. `simple` has no use for it and does nothing.
vy_status vy_physics_add_static(vy_physics *physics, const vy_physics_body_def *def, vy_error *err);

/// Hand in an intent for the next step. One for a handle that is not of this service is ignored.
/// @return VY_BAD_VALUE for one that is not finite; it is ignored too
vy_status vy_physics_submit(vy_physics *physics, vy_physics_id id, const vy_move_intent *intent);

/// Advance by dt [s]; afterwards no force or torque is left.
/// @return VY_BAD_VALUE, and nothing moves, unless dt is finite and at least 0; VY_BAD_STATE once a motion of
/// `rigid` has become infinite, VY_NO_MEMORY once there was none for its contacts
vy_status vy_physics_step(vy_physics *physics, double dt);

/// The state of a body; all zero for a handle that is not of this service.
vy_body_state vy_physics_read(const vy_physics *physics, vy_physics_id id);

/// Report collisions to `call`, from inside vy_physics_step(), which it must not call. NULL: no reports.
/// `simple` never calls it.
void vy_physics_on_collision(vy_physics *physics, vy_collision_fn *call, void *self);

#ifdef __cplusplus
}
#endif
