// joint.h - joints of bodies of a set: joints, cables, springs, and constraints of your own.
//
// A constraint is C(a, b, t) = 0, or C >= 0 when it is unilateral, in up to six rows, between two bodies or a
// body and the world. Its Jacobian has six columns a body: velocity of the centre of mass and angular
// velocity, both in world axes. A step finds the multipliers l of all constraints of an island at once,
//     J M^-1 J^T l = -(J M^-1 f + bias),   force on the bodies: J^T l,
// in every stage of its integrator, and ends by projecting positions and velocities onto the constraints.
#pragma once
#include "volery/bodies.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { VY_CONSTRAINT_ROWS = 6 }; ///< most rows of one constraint

/// Rows of a Jacobian: [row][column], columns 0-2 velocity, 3-5 angular velocity.
typedef double vy_jacobian[VY_CONSTRAINT_ROWS][6];

/// A constraint of your own: fill it, keep it, and give it to vy_bodies_add_joint() in a def of kind
/// VY_JOINT_CUSTOM. `a` and `b` are the states of the two bodies; the world is a body at rest at the origin.
/// The functions must depend on their arguments alone. A body that is not to be moved gets zero columns.
typedef struct vy_constraint vy_constraint;
struct vy_constraint {
    const char *name;
    int dimension;      ///< rows, 1 ... VY_CONSTRAINT_ROWS
    int unilateral;     ///< 0: C = 0; 1: C >= 0, and only pushes towards larger C
    double alpha, beta; ///< Baumgarte gains on C [1/s^2] and C' [1/s], used where there is no projection
    const void *self;   ///< the caller's
    /// C, [dimension].
    void (*evaluate)(const vy_constraint *c, const vy_body_state *a, const vy_body_state *b, double time,
                     double *value);
    /// dC/dt = ja twist(a) + jb twist(b) + time derivative. Rows arrive zeroed.
    void (*jacobian)(const vy_constraint *c, const vy_body_state *a, const vy_body_state *b, double time,
                     vy_jacobian ja, vy_jacobian jb);
    /// C'' without accelerations: J' v, and the second derivative by time alone. NULL: found by
    /// differences of the Jacobian along the motion.
    void (*bias)(const vy_constraint *c, const vy_body_state *a, const vy_body_state *b, double time,
                 double *bias);
    /// The part of dC/dt that is not motion. NULL: none.
    void (*time_derivative)(const vy_constraint *c, const vy_body_state *a, const vy_body_state *b,
                            double time, double *rate);
    /// Of a unilateral constraint: may it act now? NULL: where C <= 0.
    int (*is_active)(const vy_constraint *c, const vy_body_state *a, const vy_body_state *b, double time);
};

/// A bilateral constraint of one row with gains of 10 and no functions yet.
vy_constraint vy_default_constraint(void);

/// Properties of a kind of joint.
enum {
    VY_JOINT_HAS_LENGTH = 1,      ///< a length between its anchors, and a tension along it
    VY_JOINT_HAS_AXIS = 2,        ///< an axis in a
    VY_JOINT_HAS_AXIS_B = 4,      ///< one in b, too
    VY_JOINT_TURNS = 8,           ///< an angle about its axis
    VY_JOINT_SLIDES = 16,         ///< a translation along its axis
    VY_JOINT_UNILATERAL = 32,     ///< it only pulls
    VY_JOINT_HAS_SPRING = 64,     ///< a spring between its anchors
    VY_JOINT_PERPENDICULAR = 128, ///< its axes are perpendicular to each other
    VY_JOINT_HAS_CONE = 256,      ///< limits of the angle between its axes and of the twist about them
    VY_JOINT_HAS_WHEELS = 512,    ///< a cable over two wheels
    VY_JOINT_GEARED = 1024,       ///< turns of a and b in a ratio
};

/// Every kind but none and custom: its name, what a scenario calls it, the rows that it holds, what it has,
/// and what it allows. A sliding joint has its spring, stops and motor along the axis, a rotating one about
/// it.
#define VY_JOINT_LIST(X, arg)                                                                           \
    X(arg, DISTANCE, "distance", 1, VY_JOINT_HAS_LENGTH, "the anchors stay `length` apart: a rod")      \
    X(arg, BALL, "ball", 3, VY_JOINT_HAS_CONE, "the anchors coincide")                                  \
    X(arg, HINGE, "hinge", 5, VY_JOINT_HAS_AXIS | VY_JOINT_HAS_AXIS_B | VY_JOINT_TURNS,                 \
      "the anchors coincide, and the axes")                                                             \
    X(arg, SLIDER, "slider", 5, VY_JOINT_HAS_AXIS | VY_JOINT_SLIDES,                                    \
      "b moves along the axis of a and does not turn")                                                  \
    X(arg, FIXED, "fixed", 6, 0, "b stands to a as it does at the start")                               \
    X(arg, UNIVERSAL, "universal", 4, VY_JOINT_HAS_AXIS | VY_JOINT_HAS_AXIS_B | VY_JOINT_PERPENDICULAR, \
      "the anchors coincide; the axis of b stays square to that of a")                                  \
    X(arg, CABLE, "cable", 1, VY_JOINT_HAS_LENGTH | VY_JOINT_UNILATERAL,                                \
      "the anchors are at most `length` apart: slack or taut")                                          \
    X(arg, SPRING, "spring", 0, VY_JOINT_HAS_LENGTH | VY_JOINT_HAS_SPRING,                              \
      "a spring and damper between the anchors")                                                        \
    X(arg, CYLINDRICAL, "cylindrical", 4,                                                               \
      VY_JOINT_HAS_AXIS | VY_JOINT_HAS_AXIS_B | VY_JOINT_TURNS | VY_JOINT_SLIDES,                       \
      "b moves along the axis of a and turns about it")                                                 \
    X(arg, PULLEY, "pulley", 1, VY_JOINT_HAS_LENGTH | VY_JOINT_UNILATERAL | VY_JOINT_HAS_WHEELS,        \
      "a cable of at most `length` from a over two wheels to b: slack or taut")                         \
    X(arg, GEAR, "gear", 1, VY_JOINT_HAS_AXIS | VY_JOINT_HAS_AXIS_B | VY_JOINT_GEARED,                  \
      "a turns by minus `ratio` times the turn of b, both seen from the line between their anchors")

typedef enum vy_joint_kind {
    VY_JOINT_NONE, ///< a zeroed def is refused
#define VY_JOINT_ENUM(arg, name, ...) VY_JOINT_##name,
    VY_JOINT_LIST(VY_JOINT_ENUM, )
#undef VY_JOINT_ENUM
        VY_JOINT_CUSTOM, ///< vy_joint_def.custom
} vy_joint_kind;

/// Bit k: joints of kind k have any of the properties `what`. vy_joint_has() says it of one kind.
#define VY_JOINT_BIT(what, name, word, rows, has, text) | (((has) & (what)) != 0 ? 1u << VY_JOINT_##name : 0u)
#define VY_JOINTS_THAT(what)                            (0u VY_JOINT_LIST(VY_JOINT_BIT, what))

static inline int vy_joint_has(vy_joint_kind kind, int what)
{
    return (VY_JOINTS_THAT(what) >> kind & 1u) != 0;
}

/// What a scenario calls it: `hinge`; `custom` or `none` otherwise. Never NULL, static storage.
const char *vy_joint_kind_name(vy_joint_kind kind);

/// Whether the two bodies of a joint collide with each other. Any joint between them may say no.
typedef enum vy_joint_collide {
    VY_JOINT_COLLIDE_BY_KIND, ///< yes where a length keeps their anchors apart; no where these coincide, for
                              ///< shapes may overlap there
    VY_JOINT_COLLIDE_ON,      ///< yes: the shapes must not overlap where the joint holds them
    VY_JOINT_COLLIDE_OFF,     ///< no
} vy_joint_collide;

/// For a slider, angles are lengths [m], torques are forces [N], rates are speeds [m/s].
typedef struct vy_joint_def {
    uint32_t cookie; ///< set by the default function
    vy_joint_kind kind;
    vy_body_id body_a, body_b;  ///< VY_NULL_BODY: the world; one of them must be dynamic
    vy_vec3 anchor_a, anchor_b; ///< [m] body, from the centre of mass; world coordinates for the world
    vy_vec3 axis_a, axis_b;     ///< body axes, any length above zero
    double length;              ///< [m] distance and cable > 0, spring >= 0
    double stiffness, damping;  ///< spring [N/m, N s/m]; hinge [N m/rad, N m s/rad]; >= 0
    double rest;                ///< [rad] rest angle of a hinge's spring
    int limited; ///< 1: the angle stays within low ... high; of a ball joint the twist of b about its axis,
                 ///< which is what is left once the shortest turn has brought axis_b to axis_a
    double low, high;        ///< [rad] low < high; a hinge's within -pi ... pi
    double motor_speed;      ///< [rad/s] target of the motor
    double motor_gain;       ///< [N m s/rad] its torque: gain (speed - rate), at most max_motor_torque
    double max_motor_torque; ///< [N m] 0: no motor
    double motor_stiffness;  ///< [N m/rad] >= 0: a servo, whose torque is stiffness (target - angle) +
                             ///< gain (speed - rate), at most max_motor_torque; of a rotating joint the
                             ///< difference goes the shorter way round
    double motor_target;     ///< [rad] of a servo, from the pose in which it was added
    int far_open;            ///< 1: it may be open by more than the set's open_limit
    double cone; ///< [rad] of a ball joint: axis_b stays within this angle of axis_a, at most 3.1; 0:
                 ///< anywhere. Without it there are no limits of the twist
    vy_vec3 wheel_a, wheel_b; ///< [m] world: where the cable of a pulley leaves its wheels, to a and to b
    double ratio; ///< of a gear not 0: teeth of b over teeth of a; negative where both turn the same way, as
                  ///< with a belt or a ring gear. Of a pulley > 0: its length is the part to a and ratio
                  ///< times that to b, as of b hanging on so many falls
    const vy_constraint *custom; ///< of a custom joint; must outlive it
    vy_joint_collide collide_connected;
    double break_force, break_torque; ///< [N], [N m] it breaks at the end of a step in which its mean force
                                      ///< or torque was greater; 0: it never does
} vy_joint_def;

/// Of no kind, between the world and the world: kind and a body must be given. Axes along z, a ratio of 1,
/// everything else 0.
vy_joint_def vy_default_joint_def(void);

/// Fill bodies, anchors and axes from a point and an axis of the world, for bodies in their present poses. Of
/// a universal joint (def->kind is read) the axis is that of a, and b gets one perpendicular to it.
/// @return VY_NOT_FOUND for an id that is neither null nor of the set
vy_status vy_joint_set_frames(const vy_bodies *bodies, vy_body_id a, vy_body_id b, vy_vec3 point,
                              vy_vec3 axis, vy_joint_def *def);

/// A joint of a set, as vy_body_id.
typedef struct vy_joint_id {
    uint64_t bits;
} vy_joint_id;

#define VY_NULL_JOINT VY_NULL_OF(vy_joint_id) ///< no joint

/// Join two bodies. Angles and the pose of a fixed joint count from the bodies' present poses. Removing a
/// body removes its joints.
///
/// A joint may be open: its anchors or axes apart, a cable too short, a stop exceeded. It closes steadily, at
/// 0.4 times vy_bodies_def.closing_speed all in all: the way of its anchors, its length or its stop, and
/// every angle times the reach of the smaller body (sqrt(tr I / m) and its lever) add up to that. Bodies may
/// swing faster on the way; from rest closing gives them no more than m v^2 / 2 of closing_speed, unless they
/// circle on a cable that gets shorter. It also does the work against weight and springs
/// (vy_bodies_energy.closing). What closes within one joint_step is closed at once.
/// @return VY_BAD_DISTANCE (a length that is not > 0), VY_BAD_VALUE, also for one that is open by more than
/// open_limit times the reach of its dynamic bodies and its length, unless def->far_open; VY_NOT_FOUND,
/// VY_FULL
vy_status vy_bodies_add_joint(vy_bodies *bodies, const vy_joint_def *def, vy_joint_id *out, vy_error *err);
vy_status vy_bodies_remove_joint(vy_bodies *bodies, vy_joint_id id);
uint32_t vy_bodies_joint_count(const vy_bodies *bodies);

/// Compute islands and the order of elimination after joints were added or removed. The next step does so
/// too; call this where that step must not allocate.
/// @return VY_NO_MEMORY
vy_status vy_bodies_prepare(vy_bodies *bodies);

typedef struct vy_joint_state {
    double value[VY_CONSTRAINT_ROWS]; ///< C; zero where the joint holds
    double gap;                       ///< [m] between the anchors
    double angle;                     ///< [rad] of a rotating joint; [m] of a slider
    double length; ///< [m] between the anchors of a joint with a length, of a pulley over its wheels;
                   ///< translation of a sliding one
    double rate;   ///< [rad/s], [m/s] of the angle
    int active;    ///< 0: a cable is slack, a limit is not reached, or it is broken; 1: it acts, or is always
                   ///< on
    vy_vec3 force; ///< [N] of the joint on body b at its anchor, world; as the last step began its last part,
                   ///< 0 before the first step and after a state was restored
    vy_vec3 torque; ///< [N m] on body b about its anchor, world
    double tension; ///< [N] of a joint with a length: tension, positive when it pulls the anchors together;
                    ///< of a pulley on the side of a
    double closing_time; ///< [s] until what was added open is closed; 0: it is
    int broken;          ///< 1: it has broken and acts no more
    double mean_force;   ///< [N] of a joint that can break: its impulse on b in the last step over the step's
                         ///< length, springs and motors included; once broken, in the step in which it broke;
                         ///< 0 before the first step and after a state was restored
    double mean_torque;  ///< [N m] likewise, about the anchor of b
    double turned[2];    ///< [rad] of a gear: how far a and b have turned about their axes since they were
                         ///< joined, all turns counted, seen from the line between their anchors
    double swing;        ///< [rad] of a ball joint with a cone: between its axes; `angle` is its twist
} vy_joint_state;

/// Read a joint as it is now.
/// @return VY_NOT_FOUND
vy_status vy_joint_read(const vy_bodies *bodies, vy_joint_id id, vy_joint_state *out);
/// Whether a joint acts: 0 for a slack cable or an unknown id.
int vy_joint_is_active(const vy_bodies *bodies, vy_joint_id id);
/// The joints that broke in the last step (VY_BODIES_JOINT_BROKEN), by slots: at most `capacity` of them are
/// written. A broken joint acts no more, its bodies collide again, and it stays until it is removed; which
/// are broken is state.
/// @return how many there are
uint32_t vy_bodies_broken_joints(const vy_bodies *bodies, vy_joint_id *out, uint32_t capacity);
/// Change the motor of a rotating or sliding joint: state, hashed and in snapshots.
/// @return VY_NOT_FOUND, or VY_BAD_VALUE (a number, or a joint that has no motor)
vy_status vy_joint_set_motor(vy_bodies *bodies, vy_joint_id id, double speed, double gain, double torque);

/// Change where a servo is to be: state, hashed and in snapshots. [rad], [m] of a sliding joint.
/// @return VY_NOT_FOUND, or VY_BAD_VALUE (a number, or a joint without motor_stiffness)
vy_status vy_joint_set_target(vy_bodies *bodies, vy_joint_id id, double target);

// Setters of constants, as those of bodies (bodies.h): checked as vy_bodies_add_joint() checks a def, nothing
// changed on failure; they wake the joint's bodies, and are no state.

/// Stops of a rotating or sliding joint. Where the bodies are beyond them the joint is open, and closes as
/// one that is added so.
/// @param limited 1: within low ... high; 0: free, and both are ignored
/// @param low     [rad], [m] of a sliding joint; low < high, of a rotating one within -pi ... pi
/// @return VY_NOT_FOUND, VY_BAD_VALUE
vy_status vy_joint_set_limits(vy_bodies *bodies, vy_joint_id id, int limited, double low, double high,
                              vy_error *err);
/// The cone of a ball joint, 0: none. An axis that is outside of it comes in as with vy_joint_set_limits().
/// @param cone [rad] 0 ... 3.1; one with limits of its twist keeps a cone
/// @return VY_NOT_FOUND, VY_BAD_VALUE
vy_status vy_joint_set_cone(vy_bodies *bodies, vy_joint_id id, double cone, vy_error *err);
/// The spring and damper of a rotating or sliding joint, or of a spring.
/// @param stiffness [N m/rad], [N/m] >= 0
/// @param damping   [N m s/rad], [N s/m] >= 0
/// @param rest      [rad], [m] where the spring is at rest; of a spring its length, >= 0
/// @return VY_NOT_FOUND, VY_BAD_VALUE
vy_status vy_joint_set_spring(vy_bodies *bodies, vy_joint_id id, double stiffness, double damping,
                              double rest, vy_error *err);

/// Force and torque at which it breaks; 0: it never does. One that is broken stays so.
/// @return VY_NOT_FOUND, VY_BAD_VALUE
vy_status vy_joint_set_break(vy_bodies *bodies, vy_joint_id id, double force, double torque, vy_error *err);

/// The multipliers of all joints in the bodies' present poses, with the forces applied for the next step.
typedef struct vy_joint_solution {
    int converged;    ///< 1: solved; 0: the system could not be factorised, or rows conflict
    int rows;         ///< of all active constraints
    int redundant;    ///< redundant rows; they carry no force
    int conflicting;  ///< of those, rows that contradict the others
    double condition; ///< largest over smallest eigenvalue of J M^-1 J^T without redundant rows; 1 when empty
    double residual;  ///< largest error of J a + bias over all rows, in their units over s^2
} vy_joint_solution;

typedef enum vy_joint_solver {
    VY_JOINT_SOLVER_AUTO,  ///< dense up to VY_DENSE_ROWS rows, unless some are redundant
    VY_JOINT_SOLVER_DENSE, ///< Cholesky; fails, as it must, on redundant rows
    VY_JOINT_SOLVER_TREE,  ///< LDL^T in blocks, leaves first
} vy_joint_solver;

enum { VY_DENSE_ROWS = 48 };

/// Solve without stepping. An empty set converges.
/// @param lambda [VY_CONSTRAINT_ROWS per joint slot] multipliers; may be NULL
/// @return VY_FULL when VY_JOINT_SOLVER_DENSE is asked for more than VY_DENSE_ROWS rows, or VY_NO_MEMORY
vy_status vy_bodies_solve_joints(vy_bodies *bodies, vy_joint_solver solver, double *lambda,
                                 vy_joint_solution *out);

// ---- constraints of one body as the requirements write them, with a Jacobian over (x, y, z, w, x, y, z)

/// C = |q|^2 - 1 and its row. Kept by every integrator: attitudes are normalised at the end of a step.
double vy_unit_quaternion_value(vy_quat q);
void vy_unit_quaternion_jacobian(vy_quat q, double row[7]);
/// Normalise q, project its rate perpendicular to it, and add Baumgarte's correction of the rounding error:
/// rate -= 2 (alpha C + beta C') q.
void vy_unit_quaternion_enforce(double alpha, double beta, vy_quat *q, vy_quat *rate);

/// C = |x|^2 - d^2 for a body held at a distance from the origin, and its row.
/// @return VY_BAD_DISTANCE for a distance that is negative or not finite
vy_status vy_distance_value(vy_vec3 position, double distance, double *value, double row[7]);

#ifdef __cplusplus
}
#endif
