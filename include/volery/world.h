// world.h - create a world, put drones and bodies in it, step it, read it, hash it, copy its state.
#pragma once
#include "volery/controller.h"
#include "volery/environment.h"
#include "volery/estimator.h"
#include "volery/joint.h"
#include "volery/obstacle.h"
#include "volery/sensors.h"
#include "volery/status.h"
#include "volery/vehicle.h"
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vy_world vy_world; ///< opaque; one owner; no globals, so worlds are independent

/// A drone in a world. Zero is null. Pass by value and treat as opaque.
typedef struct vy_drone_id {
    uint64_t bits;
} vy_drone_id;

#define VY_ALL_DRONES VY_NULL_OF(vy_drone_id)

/// A drone or body in a world is a vy_body_id. Both are numbered together, drones first, each in order of
/// creation: vy_world_body().
#define VY_ALL_BODIES VY_NULL_BODY

typedef struct vy_world_def {
    uint32_t cookie;                ///< set by the default function
    double dt;                      ///< [s] fixed step, > 0
    uint64_t seed;                  ///< of every random stream; 0 is allowed
    vy_environment_def environment; ///< gravity, air, wind, planet, fields, negligibility policy
    vy_contacts_def contacts;       ///< off: nothing collides
    double closing_speed;           ///< [m/s] of joints that are added open, > 0: vy_bodies_add_joint()
    double open_limit;              ///< joints that are open by more than so many sizes are refused, >= 0
} vy_world_def;

/// dt 1 ms, seed 1, the default environment, no contacts, 1 m/s, 10 sizes. A world is sized from what is
/// declared: it grows as things are added, before its first step, and no step allocates.
vy_world_def vy_default_world_def(void);

/// The shape of a geofence.
typedef enum vy_fence_kind {
    VY_FENCE_NONE,
    VY_FENCE_BOX,      ///< from `min` to `max`
    VY_FENCE_CYLINDER, ///< upright, about `centre`, from `low` to `high`
    VY_FENCE_POLYGON,  ///< upright over the corners, in order, from `low` to `high`
} vy_fence_kind;

#define VY_FENCE_CORNER_CAP 16

/// A corner of a polygon on the ground.
typedef struct vy_fence_corner {
    double position[2]; ///< [m] x, y
} vy_fence_corner;

/// Where a drone must stay.
typedef struct vy_fence_def {
    vy_fence_kind kind;
    vy_vec3 min, max; ///< [m] corners of a box
    double centre[2]; ///< [m] x, y of a cylinder's axis
    double radius;    ///< [m] of a cylinder, > 0
    double low, high; ///< [m] heights of a cylinder or polygon; -DBL_MAX and DBL_MAX: none
    int corner_count; ///< 3 to VY_FENCE_CORNER_CAP for a polygon, of any shape that does not cross itself
    vy_fence_corner corners[VY_FENCE_CORNER_CAP];
} vy_fence_def;

/// Limits that end a run, each checked every step against the truth; 0 means no limit.
typedef struct vy_safety_def {
    double tilt_max;     ///< [rad] between body +z and world +z
    double rate_max;     ///< [rad/s]
    double speed_max;    ///< [m/s]
    double height_min;   ///< [m] -DBL_MAX: no floor. Both heights 0: no limit
    double height_max;   ///< [m] DBL_MAX: no ceiling
    double distance_max; ///< [m] horizontal, from the world's origin
    double sustain;      ///< [s] a limit must be exceeded this long without a break; 0 is at once
    double fall_max;     ///< [m/s] downwards
    int ground;          ///< 1: neither the centre of mass, a rotor's hub nor a collision point below z = 0;
                         ///< in a world with a ground among its obstacles, below that: by 2 cm where it is
                         ///< touched
    vy_fence_def fence;
} vy_safety_def;

/// One drone: vehicle, start, sensors, controller, and the limits that end its run.
typedef struct vy_drone_def {
    uint32_t cookie; ///< set by the default function
    vy_vehicle_def vehicle;
    vy_vec3 position;   ///< [m] world
    vy_vec3 velocity;   ///< [m/s] world
    vy_quat attitude;   ///< q_WB, any length above zero
    vy_vec3 rate;       ///< [rad/s] body
    double rotor_speed; ///< [rad/s] of every rotor at the start, within 0 and the vehicle's maximum
    vy_imu_def imu;
    vy_mocap_def mocap;
    vy_sensor_suite_def sensor_suite;
    vy_estimator_def estimator;
    vy_calibration calibration; ///< of its sensors
    int truth; ///< 1: the sensor `truth`: the estimate is the truth at every step, and shows as such
    vy_controller_def controller;
    vy_safety_def safety;
    vy_collider_def solid;             ///< its collision shape, in a world with contacts
    vy_crash_def crash;                ///< which impacts count as crashes
    double rotor_speeds[VY_ROTOR_CAP]; ///< [rad/s] of each rotor at the start, in place of rotor_speed where
                                       ///< one of them is not 0
} vy_drone_def;

/// A crazyflie2x hovering at (0, 0, 1) with IMU, motion capture and the built-in controller; no limits.
vy_drone_def vy_default_drone_def(void);

/// A body that is no drone: a crate, a load, a link of an arm. It has no rotors, sensors or controller;
/// gravity, air, wind, disturbances, joints, contacts and the negligibility policy act on it as on a drone,
/// and its state takes less than 400 bytes.
typedef struct vy_world_body_def {
    uint32_t cookie;         ///< set by the default function
    double mass;             ///< [kg] > 0
    vy_mat3 inertia;         ///< [kg m^2] about the centre of mass, body axes
    vy_vec3 position;        ///< [m] of the centre of mass, world
    vy_vec3 velocity;        ///< [m/s] world
    vy_quat attitude;        ///< q_WB, any length above zero
    vy_vec3 rate;            ///< [rad/s] body
    vy_vec3 drag_linear;     ///< [N s/m] air resistance over airspeed, body axes, >= 0
    double area;             ///< [m^2] that cd and cl refer to, >= 0
    double cd, cl;           ///< coefficients of drag, >= 0, and of lift
    vy_vec3 pressure_centre; ///< [m] where both act, from the centre of mass, body axes
    double volume;           ///< [m^3] of the air it displaces, >= 0
    vy_vec3 damping_area;    ///< [m^4] damping of rotation by the air, as vy_vehicle_def has it, >= 0
    vy_vec3 damping;         ///< [N m s] of rotation, whatever the air, >= 0
    vy_vec3 dipole;          ///< [A m^2] magnetic, body
    double light_area;       ///< [m^2] times the reflectivity factor, >= 0
    double torque_ref;       ///< [N m] what the negligibility policy compares torques with; 0: none
    vy_collider_def solid;   ///< its shape, from its centre of mass, in a world with contacts
    vy_crash_def crash;      ///< which impacts count as crashes
} vy_world_body_def;

/// 1 kg, 0.1 kg m^2 about each axis, at rest at the origin, without shape or air resistance.
vy_world_body_def vy_default_world_body_def(void);

typedef enum vy_disturbance_kind {
    VY_DISTURBANCE_CONSTANT, ///< amplitude
    VY_DISTURBANCE_IMPULSE,  ///< amplitude is an impulse [N s, N m s], spread evenly over `duration`
    VY_DISTURBANCE_SINUSOID, ///< amplitude * sin(2 pi frequency (t - start) + phase)
    VY_DISTURBANCE_NOISE,    ///< first-order band-limited Gaussian noise: amplitude is its standard deviation
} vy_disturbance_kind;

/// An external force and torque, acting on [start, start + duration).
typedef struct vy_disturbance_def {
    uint32_t cookie; ///< set by the default function
    vy_disturbance_kind kind;
    vy_body_id body;  ///< VY_ALL_BODIES: each drone and body, with noise of its own
    vy_frame frame;   ///< axes of force and torque
    vy_vec3 force;    ///< [N], or [N s] for an impulse: amplitude per axis
    vy_vec3 torque;   ///< [N m], or [N m s] for an impulse: amplitude per axis
    double start;     ///< [s] >= 0
    double duration;  ///< [s] > 0; infinity is for ever; one step at least for an impulse
    double frequency; ///< [Hz] of a sinusoid, or the corner of the noise, > 0
    double phase;     ///< [rad] of a sinusoid
} vy_disturbance_def;

/// A zero force on all drones and bodies, of infinite duration: set its kind and amplitude.
vy_disturbance_def vy_default_disturbance_def(void);

/// Create a world. On failure `*out` is NULL and nothing leaks.
/// @param err may be NULL, here and below
vy_status vy_world_create(const vy_world_def *def, vy_world **out, vy_error *err);
void vy_world_destroy(vy_world *world); ///< NULL is a no-op

/// Add a drone or a disturbance, before the first step only (VY_BAD_STATE after it, VY_FULL beyond 100,000
/// and 4,096). The def is copied. `out` may be NULL. A period of a drone's sensors or controller that is the
/// default's goes to the nearest multiple of dt, as in a scenario; any other must be a multiple.
vy_status vy_world_add_drone(vy_world *world, const vy_drone_def *def, vy_drone_id *out, vy_error *err);
vy_status vy_world_add_disturbance(vy_world *world, const vy_disturbance_def *def, vy_error *err);

/// Add a body, before the first step, after all drones and before obstacles. The def is copied.
/// @return VY_BAD_STATE, VY_FULL, VY_BAD_VALUE, or a status of vy_hull_create()
vy_status vy_world_add_body(vy_world *world, const vy_world_body_def *def, vy_body_id *out, vy_error *err);
uint32_t vy_world_body_count(const vy_world *world); ///< drones included
/// Drone or body `number`, to read it or to name it in a def; null beyond the last. Drone i has number i.
vy_body_id vy_world_body(const vy_world *world, uint32_t number);
/// The same of a drone; null for one of another world.
vy_body_id vy_world_drone_body(const vy_world *world, vy_drone_id id);

/// Join two drones or bodies, or one and the world (VY_NULL_BODY), before the first step, as
/// vy_bodies_add_joint(). Anchors are from centres of mass. Jointed bodies are stepped together, with the
/// joints solved in every stage.
vy_status vy_world_add_joint(vy_world *world, const vy_joint_def *def, vy_joint_id *out, vy_error *err);
uint32_t vy_world_joint_count(const vy_world *world);
vy_joint_id vy_world_joint(const vy_world *world,
                           uint32_t index); ///< in order of creation; null beyond the last

/// Add a static obstacle, before the first step and after all drones and bodies. The def is
/// copied.
/// @return VY_BAD_STATE, VY_FULL, VY_BAD_VALUE, VY_BAD_HULL or another status of vy_hull_create()
vy_status vy_world_add_obstacle(vy_world *world, const vy_obstacle_def *def, vy_error *err);
uint32_t vy_world_obstacle_count(const vy_world *world);
/// The shape of an obstacle and where it stands. The shape is the world's.
/// @return VY_NOT_FOUND
vy_status vy_world_obstacle(const vy_world *world, uint32_t index, const vy_shape **shape, vy_pose *pose);
/// The shape of a drone or body and where it stands now; `*shape` is NULL for one that has none.
/// @return VY_NOT_FOUND
vy_status vy_world_shape(const vy_world *world, vy_body_id id, const vy_shape **shape, vy_pose *pose);

/// The first obstacle, drone or body that a ray hits within `reach` [m].
/// @param ray_direction of any length but zero
/// @param except what the ray ignores, such as the drone it starts from; VY_ALL_BODIES: only obstacles are
/// hit
/// @return 1 and *out filled, or 0 and *out untouched
int vy_world_cast_ray(const vy_world *world, vy_vec3 origin, vy_vec3 ray_direction, double reach,
                      vy_body_id except, vy_ray_target *out);

/// The first of them that a bounded, convex shape touches when it moves by `motion` [m] without turning:
/// out->distance is the way that it has gone, out->point on what it touches.
/// @return as vy_world_cast_ray(); 0 also for numbers that are not finite, and for other shapes
int vy_world_cast_shape(const vy_world *world, const vy_shape *shape, const vy_pose *pose, vy_vec3 motion,
                        vy_body_id except, vy_ray_target *out);
/// Of those that such a shape overlaps or touches the one that it overlaps deepest: -out->distance is the
/// depth.
int vy_world_overlap_shape(const vy_world *world, const vy_shape *shape, const vy_pose *pose,
                           vy_body_id except, vy_ray_target *out);
/// The nearest of them within `reach` [m] of a point, which may be infinite, and its nearest point; a point
/// inside has the distance 0.
int vy_world_closest_to_point(const vy_world *world, vy_vec3 point, double reach, vy_body_id except,
                              vy_ray_target *out);

/// What one step reported.
enum {
    VY_EVENT_CLAMPED = 1u << 0,   ///< a motor command was outside 0 to 1 and was clamped; counted per drone
    VY_EVENT_FAILED = 1u << 1,    ///< the world has ended: see vy_world_failure. Further steps do nothing
    VY_EVENT_SINK = 1u << 2,      ///< the sink refused a record; the world continued
    VY_EVENT_DIVERGED = 1u << 3,  ///< the replay source found a difference; the world continued
    VY_EVENT_REDUNDANT = 1u << 4, ///< joints have redundant rows, which were left out
    VY_EVENT_CONFLICT = 1u << 5,  ///< joints contradict each other: an error stayed
    VY_EVENT_CONTACT = 1u << 6,   ///< a contact began or ended: see vy_world_contact()
    VY_EVENT_CRASH = 1u << 7,     ///< an impact was beyond the limits of what it hit; counted per body
    VY_EVENT_TIME_DROPPED = 1u << 9,  ///< too many impacts in one step, or too many bodies in them: some
                                      ///< bodies stood still for the rest of the step
    VY_EVENT_TRIGGER = 1u << 10,      ///< a drone or body entered a trigger or left it: vy_world_trigger()
    VY_EVENT_JOINT_BROKEN = 1u << 11, ///< joints broke: vy_joint_state.broken
};

/// Advance exactly one step. Never allocates. A world that has failed stays as it is.
/// @return VY_EVENT_ bits, 0 for a quiet step
uint32_t vy_world_step(vy_world *world);

/// Step `count` times or until the world fails.
/// @return all bits seen
uint32_t vy_world_advance(vy_world *world, uint64_t count);

uint64_t vy_world_tick(const vy_world *world);        ///< steps done
double vy_world_time(const vy_world *world);          ///< [s] tick * dt
uint32_t vy_world_drone_count(const vy_world *world); ///< drones in it

/// The handle of drone `index`, in order of creation; null beyond the last.
vy_drone_id vy_world_drone(const vy_world *world, uint32_t index);

/// How steps advance time; at first as declared. Part of the state: hashed, in snapshots, and a log of a run
/// in which it changed replays.
vy_integrator vy_world_integrator(const vy_world *world);
/// Change it, from the next step on. What it means for rotors, joints and the energy account:
/// docs/dynamics.md.
/// @return VY_BAD_VALUE for a value that is no integrator; VY_BAD_STATE with the simple engine, which has its
/// own
vy_status vy_world_set_integrator(vy_world *world, vy_integrator integrator, vy_error *err);

/// Hash of all simulation state of every step so far, the same on every supported compiler and CPU.
uint64_t vy_world_hash(const vy_world *world);
/// Hash of the state as it is, whatever came before: without the chain.
uint64_t vy_world_state_hash(const vy_world *world);

/// The true state of one drone, its samples, its estimate and its commands.
typedef struct vy_drone_state {
    vy_vec3 position;                     ///< [m] world
    vy_vec3 velocity;                     ///< [m/s] world
    vy_quat attitude;                     ///< q_WB
    vy_vec3 rate;                         ///< [rad/s] body
    double rotor_speed[VY_ROTOR_CAP];     ///< [rad/s]
    double thruster_thrust[VY_ROTOR_CAP]; ///< [N] of each thruster
    double motor_command[VY_ROTOR_CAP];   ///< 0 to 1, after limits; those of thrusters follow the rotors'
    vy_samples samples;                   ///< as the controller sees them
    vy_setpoint target;                   ///< the reference of the built-in controller, now
    uint64_t clamps;                      ///< motor commands clamped so far
    double battery_charge;                ///< [A s] left; 0 without a battery
    double battery_voltage;               ///< [V] at its terminals; 0 without a battery
    double rotor_power;                   ///< [W] at the shafts of its rotors
    uint64_t failsafes;         ///< times its vehicle's failsafe has taken over; see vy_world_read_drive
    vy_vec3 wake;               ///< [m/s] air that other drones drive past this one, world
    uint64_t touching;          ///< contacts with an impulse on it now
    uint64_t contacts;          ///< contacts begun since the start
    uint64_t crashes;           ///< impacts beyond its limits since the start
    vy_vec3 contact_impulse;    ///< [N s] of all contacts in the last step, world
    double contact_speed;       ///< [m/s] largest at which a contact closed since the start
    double contact_impulse_max; ///< [N s] largest of one contact in one step since the start
    uint64_t asleep; ///< 1: a body at rest that sleeps (vy_contacts_def.time_to_sleep); never one with rotors
    uint64_t entered; ///< times it has entered a trigger since the start
} vy_drone_state;

/// @return VY_NOT_FOUND for a handle that is not of this world; `*out` is untouched then
vy_status vy_world_read_drone(const vy_world *world, vy_drone_id id, vy_drone_state *out);

/// Where a drone or body is, how it moves, and what it has touched.
typedef struct vy_world_body_state {
    vy_vec3 position;           ///< [m] of the centre of mass, world
    vy_vec3 velocity;           ///< [m/s] world
    vy_quat attitude;           ///< q_WB
    vy_vec3 rate;               ///< [rad/s] body
    uint64_t touching;          ///< contacts with an impulse on it now
    uint64_t contacts;          ///< contacts begun since the start
    uint64_t crashes;           ///< impacts beyond its limits since the start
    vy_vec3 contact_impulse;    ///< [N s] of all contacts in the last step, world
    double contact_speed;       ///< [m/s] largest at which a contact closed since the start
    double contact_impulse_max; ///< [N s] largest of one contact in one step since the start
    uint64_t asleep;  ///< 1: at rest and asleep (vy_contacts_def.time_to_sleep); never what has rotors
    uint64_t entered; ///< times it has entered a trigger since the start
} vy_world_body_state;

/// @return VY_NOT_FOUND for a handle that is not of this world; `*out` is untouched then
vy_status vy_world_read_body(const vy_world *world, vy_body_id id, vy_world_body_state *out);

/// A contact of the last step: one with an impulse, or the end of one with an impulse in the step before.
typedef struct vy_contact_event {
    vy_contact_phase phase;
    int body;        ///< number of the drone or body
    int other;       ///< number of the other one; -1: an obstacle
    int obstacle;    ///< index of the obstacle; -1: a drone or body
    int points;      ///< with an impulse; the rest is zero at the end of a contact
    vy_vec3 point;   ///< [m] world: where the impulses act, weighted by them
    vy_vec3 normal;  ///< unit, towards the body
    vy_vec3 impulse; ///< [N s] on the body, over the step, world
    double speed;    ///< [m/s] >= 0: at which the deepest point closed
    double severity; ///< largest share of a crash limit of either; 1 and more is a crash
} vy_contact_event;

/// Contacts of the last step, ordered by what touches: drones first, then bodies, then obstacles.
uint32_t vy_world_contact_count(const vy_world *world);
/// @return VY_NOT_FOUND
vy_status vy_world_contact(const vy_world *world, uint32_t index, vy_contact_event *out);

/// A drone or body in a trigger (vy_obstacle_def.is_trigger) at the end of the last step, or no longer. Who
/// passes through one within the step has two of them: it begins and ends.
typedef struct vy_trigger_event {
    vy_contact_phase phase;
    int body;     ///< number of the drone or body
    int obstacle; ///< index of the obstacle
} vy_trigger_event;

/// Those of the last step, ordered by obstacle, then by what is in it.
uint32_t vy_world_trigger_count(const vy_world *world);
/// @return VY_NOT_FOUND
vy_status vy_world_trigger(const vy_world *world, uint32_t index, vy_trigger_event *out);
/// The limits of vy_drive_def, as vy_drive_state counts them.
typedef enum vy_drive_limit {
    VY_DRIVE_SPEED,
    VY_DRIVE_CLIMB,
    VY_DRIVE_TILT,
    VY_DRIVE_RATE,
    VY_DRIVE_COMMAND,
    VY_DRIVE_SLEW,
    VY_DRIVE_LIMIT_COUNT,
} vy_drive_limit;

/// The limit's name, as tilt. Never NULL.
const char *vy_drive_limit_name(vy_drive_limit limit);

/// Why a failsafe took over.
typedef enum vy_handover {
    VY_HANDOVER_NONE,
    VY_HANDOVER_DEADLINE,   ///< no new intent within vy_drive_def.deadline; the next one takes over again
    VY_HANDOVER_COMMAND,    ///< a reply was not finite, of no known rung, or released a payload it may not;
                            ///< final
    VY_HANDOVER_CONTROLLER, ///< the controller gave no reply: see `verdict`; final
} vy_handover;

/// State and counters of a drone's drive abstraction layer, where its vehicle declares a `drive`.
typedef struct vy_drive_state {
    vy_failsafe failsafe;                 ///< that acts now
    vy_handover cause;                    ///< of the last handover
    vy_verdict verdict;                   ///< of VY_HANDOVER_CONTROLLER
    int32_t detail;                       ///< of the verdict
    double since;                         ///< [s] when the last handover was
    uint64_t handovers;                   ///< to the failsafe, so far
    uint32_t lost;                        ///< bit i: rotor i counts as lost
    uint64_t acted[VY_DRIVE_LIMIT_COUNT]; ///< how often each limit has changed something
} vy_drive_state;

/// All zero for a drone whose vehicle declares no `drive`.
/// @return VY_NOT_FOUND for a handle that is not of this world; `*out` is untouched then
vy_status vy_world_read_drive(const vy_world *world, vy_drone_id id, vy_drive_state *out);

/// How good a drone's Kalman filter is.
/// @return VY_NOT_FOUND: no such drone, or it has no Kalman filter; `*out` is untouched then
vy_status vy_world_read_filter(const vy_world *world, vy_drone_id id, vy_filter_state *out);

/// Samples that a drone's Kalman filter rejected. All zero without a gate (vy_estimator_def.gate).
/// @return VY_NOT_FOUND for a handle that is not of this world; `*out` is untouched then
vy_status vy_world_read_gate(const vy_world *world, vy_drone_id id, vy_gate_state *out);

/// Read a joint: as vy_joint_read().
vy_status vy_world_read_joint(const vy_world *world, vy_joint_id id, vy_joint_state *out);

/// How a drone moves: what vy_world_set_drone() sets.
typedef struct vy_drone_motion {
    vy_vec3 position;                 ///< [m] world
    vy_vec3 velocity;                 ///< [m/s] world
    vy_quat attitude;                 ///< q_WB, any length above zero
    vy_vec3 rate;                     ///< [rad/s] body
    double rotor_speed[VY_ROTOR_CAP]; ///< [rad/s] each within 0 and the vehicle's maximum
} vy_drone_motion;

/// Put a drone elsewhere, between two steps. Samples, estimate and controller stay as they are, but an
/// estimate that is the truth follows at once. A run with such a jump cannot be replayed from a log.
/// @return VY_NOT_FOUND for a handle that is not of this world; VY_BAD_VALUE; VY_BAD_STATE: the world is
/// being recorded or replayed, or the drone hangs on a joint, is carried or carries, or bodies sleep;
/// VY_NO_MEMORY. The world is as it was then
vy_status vy_world_set_drone(vy_world *world, vy_drone_id id, const vy_drone_motion *motion, vy_error *err);

#define VY_EFFECT_CAP 32 ///< effects are fewer; the rest is zero

/// What acted on a drone or body at the start of the step just done, by cause: forces in world axes [N],
/// torques in body axes [N m], as the integrator's first evaluation has found them. An effect that is
/// neglected is zero; all are before the first step and after a snapshot was restored, and of what is carried
/// or has no motion of its own. Forces of joints are in vy_world_read_joint().
typedef struct vy_loads {
    vy_vec3 rotor_force, rotor_torque;                   ///< of all rotors, at the reference density
    vy_vec3 thruster_force, thruster_torque;             ///< of all thrusters
    vy_vec3 force[VY_EFFECT_CAP], torque[VY_EFFECT_CAP]; ///< per effect (vy_effect_name)
    vy_vec3 wind;                                        ///< [m/s] velocity of the air over the ground, world
    vy_vec3 contact_force, contact_torque;               ///< of contacts, mean of the step just done
} vy_loads;

/// Keep the loads of every step from now on, or no longer: a step takes a little longer then. A recorder that
/// shows them asks for it. No result changes.
/// @return VY_NO_MEMORY
vy_status vy_world_keep_loads(vy_world *world, int keep, vy_error *err);

/// @return VY_NOT_FOUND for a handle that is not of this world, VY_BAD_STATE where loads are not kept; `*out`
/// is untouched then
vy_status vy_world_read_loads(const vy_world *world, vy_body_id id, vy_loads *out);

/// The energy balance of a drone or body since its account was opened [J]. Work is the
/// integral of force times velocity and torque times angular velocity, by the quadrature of the integrator.
typedef struct vy_energy {
    double kinetic;             ///< now, of motion and of rotation; that of the rotors is not in it
    double potential;           ///< now, in the field of gravity
    double rotors;              ///< work of the rotors
    double work[VY_EFFECT_CAP]; ///< of each effect (vy_effect_name); gravity is one of them
    double dissipated;          ///< what drag and damping took: minus their work
    double contacts;  ///< work of contacts: what they change of the energy of each step's free flight
    double closing;   ///< what joints that were added open put in by closing, half of it into each of two
    double exchanged; ///< sum of the sizes of all these amounts, step by step
    double residual;  ///< change of kinetic energy that no work explains; for a drone that joints hold, that
                      ///< is the work of the joints, but for `closing`
} vy_energy;

/// Begin to account for energy, with the strict engine: every effect of every stage is evaluated twice.
/// Not state: a world that is restored starts again.
void vy_world_track_energy(vy_world *world);
/// All work is 0 while no account is open.
/// @return VY_NOT_FOUND for a handle that is not of this world
vy_status vy_world_read_energy(const vy_world *world, vy_body_id id, vy_energy *out);

/// Why a world ended.
typedef enum vy_failure_reason {
    VY_FAILURE_NONE,
    VY_FAILURE_NOT_FINITE, ///< a state became infinite (beyond 1e100) or not a number; `what` names it
    VY_FAILURE_COMMAND, ///< a controller's reply was not finite, of no known rung, or released a payload it
                        ///< may not
    VY_FAILURE_TILT,
    VY_FAILURE_RATE,
    VY_FAILURE_SPEED,
    VY_FAILURE_HEIGHT,
    VY_FAILURE_DISTANCE,
    VY_FAILURE_CONTROLLER, ///< a controller that is not built in gave no reply; `what` says why
    VY_FAILURE_CRASH,      ///< an impact beyond the drone's limits; `what` says which
    VY_FAILURE_FALL,
    VY_FAILURE_GROUND,    ///< `value` is the height of its lowest point
    VY_FAILURE_FENCE,     ///< `value` is how far outside of the geofence
    VY_FAILURE_NO_MEMORY, ///< for the contacts of a step, in which nothing touched: the world can be restored
} vy_failure_reason;

typedef struct vy_failure {
    vy_failure_reason reason;
    uint64_t tick;      ///< of the step that ended the world
    double time;        ///< [s] of that step
    uint32_t body;      ///< number of the drone or body
    double value;       ///< what was measured, in the limit's unit; of a controller: vy_intent.detail
    double limit;       ///< what was allowed; of a controller that was late: its deadline or time to boot [s]
    const char *what;   ///< name of the variable or limit; static storage
    vy_verdict verdict; ///< of a controller
    const char *output; ///< what a controller wrote in place of a reply, or NULL: vy_host_output() has it
} vy_failure;

/// VY_FAILURE_NONE while the world runs.
vy_failure vy_world_failure(const vy_world *world);

/// One word for a reason, as `tilt`; NULL for VY_FAILURE_NONE. Static storage.
const char *vy_failure_name(vy_failure_reason reason);

/// A failure as a sentence without a full stop, cut off after `size` bytes, its end included.
/// @param name of its drone or body
void vy_failure_print(const vy_failure *failure, const char *name, char *out, size_t size);

/// How a budget stands. No bound: none is known of how errors grow, so nothing is neglected.
typedef enum vy_budget_status {
    VY_BUDGET_NONE, ///< the world has none
    VY_BUDGET_WITHIN,
    VY_BUDGET_EXCEEDED, ///< the bound of the deviation is beyond it; nothing is neglected from then on
    VY_BUDGET_NO_BOUND,
} vy_budget_status;

typedef struct vy_budget_report {
    vy_budget_status standing; ///< whether it holds
    double position_left;      ///< [m] of what is allowed; what is spent is the certificate's position
    double angle_left;         ///< [rad]
    double exceeded_time;      ///< [s] when it broke
} vy_budget_report;

/// Bounds of what the negligibility policy has neglected for one drone or body since the start.
typedef struct vy_certificate {
    uint64_t effects;                      ///< bit k: effect k (vy_effect_name) is computed now
    uint64_t changes;                      ///< decisions that changed
    double impulse[VY_EFFECT_CAP];         ///< [N s] per effect; a body has the totals alone
    double angular_impulse[VY_EFFECT_CAP]; ///< [N m s] likewise
    double total_impulse, total_angular_impulse;
    int bounded;     ///< 1: the deviations below are bounds; 0: none is known (closed loop, turbulence)
    double horizon;  ///< [s] over which they hold
    double rate;     ///< [rad/s] deviation of the strict open-loop flight from this one, at most
    double angle;    ///< [rad]
    double velocity; ///< [m/s]
    double position; ///< [m]
    vy_budget_report budget;
} vy_certificate;

/// @return VY_NOT_FOUND for a handle that is not of this world
vy_status vy_world_certificate(const vy_world *world, vy_body_id id, vy_certificate *out);

/// Snapshots: state is one block without pointers. Save writes vy_world_state_size() bytes, which depend on
/// the contacts of the moment; restore puts a world built from the same defs back to that moment, so that
/// further steps give the same bits. A world of other parameters but the same drones and disturbances may be
/// given the state too: it continues from there. Restore returns VY_BAD_VALUE with a sentence, and changes
/// nothing, when the block cannot be a state of this world: whatever its bytes are, it is refused or flown on
/// from. VY_NO_MEMORY, likewise, when there is none for its contacts.
size_t vy_world_state_size(const vy_world *world);
void vy_world_save(const vy_world *world, void *block);
vy_status vy_world_restore(vy_world *world, const void *block, size_t size, vy_error *err);

/// Bytes its own arrays take; those of contacts and joints come on top.
size_t vy_world_memory(const vy_world *world);

/// A listener. Each function may be NULL; each returns 0, or nonzero when the record could not be written
/// (VY_EVENT_SINK).
typedef struct vy_sink {
    void *self;
    int (*write)(void *self, const vy_world *world); ///< at the end of every step, the world as it then is
    int (*reply)(void *self, const vy_world *world, uint32_t drone,
                 const vy_intent *intent); ///< of a callback
    /// When the integrator has changed, between two steps.
    int (*change)(void *self, const vy_world *world);
    /// When something was injected (volery/injection.h), between two steps: the last one of them.
    int (*injection)(void *self, const vy_world *world);
} vy_sink;

/// Report every step to a sink; an empty sink ends that. Copied; `self` must outlive it.
void vy_world_set_sink(vy_world *world, vy_sink sink);

/// A source of what happened in an earlier run. Each function may be NULL.
typedef struct vy_replay {
    void *self;
    /// The logged reply of the controller of drone `drone`, now: fill `intent` and return 1, or return 0 to
    /// have the controller called.
    int (*reply)(void *self, const vy_world *world, uint32_t drone, vy_intent *intent);
    /// At the very end of every step: return 0, or nonzero when the world differs from the log
    /// (VY_EVENT_DIVERGED).
    int (*check)(void *self, const vy_world *world);
} vy_replay;

/// Replay from a source: replies are fed and steps checked; an empty source ends that. Copied; `self` must
/// outlive it.
void vy_world_set_replay(vy_world *world, vy_replay replay);

#ifdef __cplusplus
}
#endif
