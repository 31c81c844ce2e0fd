// bodies.h - rigid bodies: create a set of them, push them, step them, read them.
//
// A set owns its bodies and is independent of every other. World frame +Z up, body axes those of the shape,
// both right-handed; a body's position is that of its centre of mass. Steps are of one fixed length and give
// the same bits on every supported compiler and CPU. Calls with an id that is not, or no longer, of the set
// return VY_NOT_FOUND and change nothing.
#pragma once
#include "volery/contacts.h"
#include "volery/filter.h"
#include "volery/integrator.h"
#include "volery/potential.h"
#include "volery/shape.h"
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vy_bodies vy_bodies; ///< opaque; one owner

/// A body of a set. Zero is null. Low half: slot + 1; high half: generation, so that the id of a body that
/// was removed never names its successor.
typedef struct vy_body_id {
    uint64_t bits;
} vy_body_id;

#define VY_NULL_BODY VY_NULL_OF(vy_body_id) ///< no body; where a joint is held, the world

typedef enum vy_body_kind {
    VY_BODY_STATIC,    ///< never moves
    VY_BODY_KINEMATIC, ///< moves with the velocity it is given, regardless of forces
    VY_BODY_DYNAMIC,   ///< moves by forces
} vy_body_kind;

typedef struct vy_bodies_def {
    uint32_t cookie; ///< set by the default function
    double dt;       ///< [s] fixed step, > 0
    vy_vec3 gravity; ///< [m/s^2] uniform, world; it is potential 0
    vy_integrator integrator;
    double joint_step;    ///< [s] longest substep of jointed bodies, > 0
    int baumgarte;        ///< 1: joints are held by their gains alpha and beta instead of by projection
    double closing_speed; ///< [m/s] that joints which are added open give the bodies at most, > 0
    /// Joints that are open by more than so many sizes of what they join are refused, >= 0.
    double open_limit;
    vy_contacts_def contacts;
} vy_bodies_def;

/// 1 ms, gravity 9.80665 m/s^2 along -z, RK4; jointed bodies in substeps of 0.5 ms or less, with projection;
/// open joints close at 1 m/s, and may be open by 10 sizes.
vy_bodies_def vy_default_bodies_def(void);

typedef struct vy_body_def {
    uint32_t cookie; ///< set by the default function
    vy_body_kind kind;
    const vy_shape *shape; ///< NULL: a body without a surface. Copied; a hull it names must outlive the body
    double mass;           ///< [kg] > 0 for a dynamic body
    vy_mat3 inertia; ///< [kg m^2] about the centre of mass, body axes; all zero: of the shape, even density
    vy_body_state state; ///< attitude of any length above zero
    vy_material material;
    int no_sleep;       ///< 1: it never sleeps, nor does a body that touches it or is jointed to it
    vy_filter filter;   ///< which bodies it collides with
    int is_trigger;     ///< 1: it reports who overlaps it, and collides with nobody. See "Triggers" below
    uint64_t user_data; ///< the caller's, for vy_body_user_data()
} vy_body_def;

/// A dynamic body of 1 kg at rest at the origin, without a shape or an inertia: one of the two must be given.
/// Its filter is the default one: it collides with all bodies whose filters are not changed.
vy_body_def vy_default_body_def(void);

/// Create a set. On failure `*out` is NULL and nothing leaks.
/// @param err may be NULL, here and below
vy_status vy_bodies_create(const vy_bodies_def *def, vy_bodies **out, vy_error *err);
void vy_bodies_destroy(vy_bodies *bodies); ///< NULL is a no-op

/// Add a body. The def is copied. `out` may be NULL.
/// @return VY_BAD_MASS, VY_BAD_HULL, VY_BAD_VALUE (a number that is not finite, an inertia that no solid has,
/// a dynamic body with neither inertia nor volume), VY_NO_MEMORY, VY_FULL beyond 2^24 bodies
vy_status vy_bodies_add(vy_bodies *bodies, const vy_body_def *def, vy_body_id *out, vy_error *err);

/// Remove a body; its id goes stale.
vy_status vy_bodies_remove(vy_bodies *bodies, vy_body_id id);

uint32_t vy_bodies_count(const vy_bodies *bodies); ///< bodies in the set
/// The id of the body in `slot`, 0 <= slot < vy_bodies_slot_count(); null when the slot is empty.
vy_body_id vy_bodies_at(const vy_bodies *bodies, uint32_t slot);
uint32_t vy_bodies_slot_count(const vy_bodies *bodies); ///< slots in use are below this
int vy_bodies_has(const vy_bodies *bodies, vy_body_id id);

/// Let a potential act on one body, or on every dynamic body with VY_NULL_BODY. Copied.
/// @return VY_FULL beyond 2^16 potentials, VY_NO_MEMORY, VY_NOT_FOUND, or VY_BAD_VALUE
vy_status vy_bodies_add_potential(vy_bodies *bodies, const vy_potential *potential, vy_body_id body,
                                  vy_error *err);

/// @return VY_BAD_VALUE for a value that is no integrator
vy_status vy_bodies_set_integrator(vy_bodies *bodies, vy_integrator integrator);
vy_integrator vy_bodies_integrator(const vy_bodies *bodies);

/// What a step reported.
enum {
    VY_BODIES_NOT_FINITE = 1u << 0, ///< a body's motion became infinite; it keeps its last state and the set
                                    ///< has ended: further steps do nothing
    VY_BODIES_REDUNDANT = 1u << 1,  ///< joints have redundant rows, which were left out
    VY_BODIES_CONFLICT = 1u << 2,   ///< joints contradict each other: an error stayed after projection
    VY_BODIES_NO_MEMORY = 1u << 3,  ///< joints had changed and there was no memory for their order: no step,
                                    ///< try again; or there was none for all contacts: bodies are back at the
                                    ///< start of the step and the set has ended, until a snapshot is restored
    VY_BODIES_TIME_DROPPED = 1u << 5, ///< too many impacts in one step, or too many bodies in them: some
                                      ///< bodies stood still for the rest of the step
    VY_BODIES_CRUSHED = 1u << 6,      ///< a kinematic body presses another one against an immovable one
    VY_BODIES_JOINT_BROKEN = 1u << 7, ///< joints broke: vy_bodies_broken_joints()
};

/// Advance one step. Allocates nothing, but when joints have changed and when more pairs of bodies are near
/// each other than ever before. Forces that were applied act over this step and are gone after it.
/// @return VY_BODIES_ bits, 0 for a quiet step
uint32_t vy_bodies_step(vy_bodies *bodies);
uint64_t vy_bodies_tick(const vy_bodies *bodies);
double vy_bodies_time(const vy_bodies *bodies);   ///< [s] tick * dt
uint64_t vy_bodies_hash(const vy_bodies *bodies); ///< of all state

/// Snapshots: vy_bodies_state_size() bytes, which depend on the contacts of the moment. Restore puts a set
/// with the same bodies back to that moment. Same: a checksum in the snapshot says that slots, ids, kinds,
/// masses, shapes and materials of all bodies are as they were, and all joints; but not filters, triggers and
/// motors, which are state. So a set that a setter has changed refuses what was saved before, until it is
/// changed back; one that was built by the same calls takes it.
/// @return VY_BAD_VALUE when the block does not fit, VY_NO_MEMORY; nothing has changed then
size_t vy_bodies_state_size(const vy_bodies *bodies);
void vy_bodies_save(const vy_bodies *bodies, void *block);
vy_status vy_bodies_restore(vy_bodies *bodies, const void *block, size_t size, vy_error *err);

/// Contacts of the last step, ordered by the slots of their bodies: those with an impulse, and the ends of
/// those with an impulse in the step before.
uint32_t vy_bodies_contact_count(const vy_bodies *bodies);
/// @return VY_NOT_FOUND
vy_status vy_bodies_contact(const vy_bodies *bodies, uint32_t index, vy_contact_report *out);

/// Pairs of a trigger and a body of the last step, ordered by the slots of the trigger, then of the body.
uint32_t vy_bodies_trigger_count(const vy_bodies *bodies);
/// @return VY_NOT_FOUND
vy_status vy_bodies_trigger(const vy_bodies *bodies, uint32_t index, vy_trigger_report *out);

/// Statistics of continuous collision, and of guards, since the set was created. Not state: not in snapshots.
typedef struct vy_impact_totals {
    uint64_t impacts;    ///< times that bodies were stopped at an impact, to continue from there
    uint64_t dropped;    ///< steps in which bodies did not get to the end: see VY_BODIES_TIME_DROPPED
    double dropped_time; ///< [s] that these stood still
    uint64_t scaled;     ///< sub-steps in which contacts would have added energy: their impulses were scaled
    uint64_t limited;    ///< times that bodies on joints had more energy after a step: velocities were scaled
} vy_impact_totals;

vy_impact_totals vy_bodies_impacts(const vy_bodies *bodies);

/// The states of all slots in place, to be read: vy_bodies_slot_count() of them, zero where a slot is empty.
/// They change with the bodies. Adding a body or a joint may move them: ask again. Where they were before
/// stays readable, with what it had then, until the set is destroyed.
const vy_body_state *vy_bodies_states(vy_bodies *bodies);

// ---- one body

/// Pose and velocities of a body now.
vy_status vy_body_read(const vy_bodies *bodies, vy_body_id id, vy_body_state *out);
/// @return VY_BAD_VALUE, with nothing changed, for numbers that are not finite or an attitude of length zero
vy_status vy_body_set_state(vy_bodies *bodies, vy_body_id id, const vy_body_state *state);

/// Mass and inertia of a body; infinite mass reads as 0.
vy_status vy_body_read_mass(const vy_bodies *bodies, vy_body_id id, double *mass, vy_mat3 *inertia);
/// The shape and where its frame stands; `shape` is NULL without one, and valid until a body is added or this
/// one gets another shape.
vy_status vy_body_read_shape(const vy_bodies *bodies, vy_body_id id, const vy_shape **shape, vy_pose *pose);
/// [m/s^2] world and [rad/s^2] body: velocity gained in the last step over its length.
vy_status vy_body_read_acceleration(const vy_bodies *bodies, vy_body_id id, vy_vec3 *linear,
                                    vy_vec3 *angular);

// Setters, between any two steps. Each is checked as vy_bodies_add() checks a def, and changes nothing when
// it fails; it wakes the body's island, or those that touch a body that is not dynamic. From then on the body
// is one that was added so. After a new kind, mass or shape its contacts begin anew. What they set is no
// state: see vy_bodies_restore(). Every function below that returns a vy_status returns VY_NOT_FOUND for a
// stale id.

/// A body that is made dynamic has the mass of its def, or that it was given since; one that is made static
/// stops. Others keep their velocities.
/// @return VY_BAD_MASS, VY_BAD_VALUE, also where a joint would be left without a dynamic body
vy_status vy_body_set_kind(vy_bodies *bodies, vy_body_id id, vy_body_kind kind, vy_error *err);
/// Velocities stay. A body that is not dynamic has these from when it is made so.
/// @param mass    [kg] > 0
/// @param inertia [kg m^2] about the centre of mass, body axes; NULL: of the shape, even density
/// @return VY_BAD_MASS, VY_BAD_VALUE
vy_status vy_body_set_mass(vy_bodies *bodies, vy_body_id id, double mass, const vy_mat3 *inertia,
                           vy_error *err);
/// @return VY_BAD_VALUE
vy_status vy_body_set_material(vy_bodies *bodies, vy_body_id id, const vy_material *material, vy_error *err);
/// The centre of mass stays where it is, the mass what it is; an inertia that was not given is that of the
/// new shape. What it overlaps then is moved out as anything that lies too deep: see docs/contacts.md.
/// @param shape copied; NULL: a body without a surface
/// @return VY_BAD_VALUE, VY_BAD_HULL
vy_status vy_body_set_shape(vy_bodies *bodies, vy_body_id id, const vy_shape *shape, vy_error *err);

/// A force over the next step, at a point: a world point, or a body point from the centre of mass. A force in
/// body axes turns with the body. Its torque is that of the moment of the call, in the force's axes.
vy_status vy_body_apply_force_at(vy_bodies *bodies, vy_body_id id, vy_vec3 force, vy_frame force_frame,
                                 vy_vec3 point, vy_frame point_frame);
/// A force at the centre of mass.
vy_status vy_body_apply_force(vy_bodies *bodies, vy_body_id id, vy_vec3 force, vy_frame frame);
vy_status vy_body_apply_torque(vy_bodies *bodies, vy_body_id id, vy_vec3 torque, vy_frame frame);
vy_status vy_body_clear_forces(vy_bodies *bodies, vy_body_id id);
/// Impulses: velocities change at once. No effect on a body that is not dynamic.
/// @return VY_BAD_VALUE, with nothing changed, when the velocities would not be finite; VY_NOT_FOUND
vy_status vy_body_apply_impulse_at(vy_bodies *bodies, vy_body_id id, vy_vec3 impulse, vy_frame impulse_frame,
                                   vy_vec3 point, vy_frame point_frame);
vy_status vy_body_apply_impulse(vy_bodies *bodies, vy_body_id id, vy_vec3 impulse, vy_frame frame);
vy_status vy_body_apply_angular_impulse(vy_bodies *bodies, vy_body_id id, vy_vec3 impulse, vy_frame frame);

/// Speeds below which a body counts as at rest.
#define VY_REST_SPEED 1e-6 // [m/s]
#define VY_REST_RATE  1e-6 // [rad/s]

/// 1 when both speeds are below the thresholds, else 0; also 0 for an unknown id.
int vy_body_at_rest(const vy_bodies *bodies, vy_body_id id, double speed, double rate);
/// Stop a body: no velocity, no acceleration, no force. It stays where it is.
vy_status vy_body_stop(vy_bodies *bodies, vy_body_id id);

/// [J] of one body; 0 for an unknown id or a body that is not dynamic.
double vy_body_linear_energy(const vy_bodies *bodies, vy_body_id id);
double vy_body_rotational_energy(const vy_bodies *bodies, vy_body_id id);

/// Change which bodies it collides with: state, hashed and in snapshots where a body has another filter than
/// the default one. A contact that is filtered now ends in the next step, with its VY_CONTACT_END. When the
/// filter changes, the body wakes with its island; of one that is not dynamic, those that touch it, and those
/// that overlap it and collide with it from now on.
vy_status vy_body_set_filter(vy_bodies *bodies, vy_body_id id, const vy_filter *filter);
vy_status vy_body_read_filter(const vy_bodies *bodies, vy_body_id id, vy_filter *out);

/// What the caller has stored with a body, 0 at first and for an unknown id. Not state: no hash and no
/// snapshot has it. Ids of a contact report lead to it.
uint64_t vy_body_user_data(const vy_bodies *bodies, vy_body_id id);
vy_status vy_body_set_user_data(vy_bodies *bodies, vy_body_id id, uint64_t user_data);

// ---- triggers
//
// A trigger is a body of any kind with a shape, in a set with contacts, which pushes nobody and is pushed by
// nobody. It reports the bodies that overlap it at the end of a step: all that its filter would let it
// collide with, static ones as long as it is not static itself, sleeping ones too, but no other trigger. It
// wakes nobody and keeps nobody awake, and the others have every bit of their motion that they have without
// it. A body that has passed through it within a step is reported as well. Looked at is the straight way of
// its centre of mass, with a steady turn, from the start of the step to its end: who goes in and comes back
// out within one step is not seen. Who overlaps which trigger is state, hashed and in snapshots where there
// are triggers.

/// Make a body a trigger, or one that collides again. It wakes, and those around it, as with
/// vy_body_set_filter(); overlaps of what is no trigger any more end in the next step.
/// @return VY_NOT_FOUND, or VY_BAD_VALUE for a body without a shape or a set without contacts
vy_status vy_body_set_trigger(vy_bodies *bodies, vy_body_id id, int is_trigger);
int vy_body_is_trigger(const vy_bodies *bodies, vy_body_id id); ///< 0 for an unknown id

// ---- sleep
//
// With contacts.time_to_sleep above zero dynamic bodies sleep that have been at rest for so long, with all
// others that they touch or are jointed to: an island. A sleeping body has no velocity and keeps its state
// bit for bit; it costs next to nothing. Its contacts are kept and still reported, as VY_CONTACT_PERSIST with
// the impulse that holds the bodies. All bodies of an island wake together:
// - when a contact with a body that moves pushes one of them. They take part in that very step as if they had
//   never slept;
// - when a kinematic body hits one, or a body that is not dynamic is moved into it or away from under it;
// - when one of them is removed or its state is set, when an impulse or force is applied to it, and when a
// potential
//   is added to it;
// - when a joint of one is added, removed or given another motor, spring or limits;
// - when one of them gets another kind, mass, material or shape;
// - when its filter changes, or whether it is a trigger;
// - when a custom potential, which is evaluated once a step, has changed so much since its first step asleep
// that it
//   could reach sleep_speed within the time to sleep.
// A force on a body restarts its time to sleep. A body does not sleep while it touches or is jointed to a
// moving kinematic body, or is held by a custom joint. Bodies keep every bit that they have without sleep
// until the first of them sleeps.

/// 1 when it sleeps; 0 when not, and for an unknown id.
int vy_body_is_asleep(const vy_bodies *bodies, vy_body_id id);
/// Wake a body with its island; of one that is not dynamic those that touch it or are jointed to it. One that
/// is awake restarts its time to sleep.
vy_status vy_body_wake(vy_bodies *bodies, vy_body_id id);
uint32_t vy_bodies_asleep(const vy_bodies *bodies); ///< how many sleep

// ---- all dynamic bodies

typedef struct vy_bodies_energy {
    double kinetic;   ///< [J]
    double potential; ///< [J] of all potentials and of the springs of joints
    double closing;   ///< [J] that joints which were added open have put in by closing, since the set was
                      ///< created: never less than before. Not state: no snapshot has it
} vy_bodies_energy;

/// Energy of all of them, now.
vy_bodies_energy vy_bodies_read_energy(const vy_bodies *bodies);
/// Momentum [kg m/s] and angular momentum about the world's origin [kg m^2/s].
void vy_bodies_read_momentum(const vy_bodies *bodies, vy_vec3 *linear, vy_vec3 *angular);

#ifdef __cplusplus
}
#endif
