// joint.h - what holds bodies of a set together: joints, cables, springs, and constraints of your own.
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
    /// What C'' is when nothing accelerates: J' v, and the second derivative by time alone. NULL: found by
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

typedef enum vy_joint_kind {
    VY_JOINT_NONE,      ///< a zeroed def is refused
    VY_JOINT_DISTANCE,  ///< |d|^2 = length^2, d from anchor to anchor
    VY_JOINT_BALL,      ///< the anchors coincide
    VY_JOINT_HINGE,     ///< the anchors coincide, and the axes
    VY_JOINT_SLIDER,    ///< b moves along the axis of a and does not turn
    VY_JOINT_FIXED,     ///< b stands to a as it did when the joint was made
    VY_JOINT_UNIVERSAL, ///< the anchors coincide; the axis of b stays square to the axis of a
    VY_JOINT_CABLE,     ///< |d| <= length: slack, or taut and pulling
    VY_JOINT_SPRING,    ///< a force along d: -stiffness (|d| - length) - damping d|d|/dt; holds nothing
    VY_JOINT_CUSTOM,
} vy_joint_kind;

/// Where the fields speak of an angle, a slider has a length [m], a force [N], a speed [m/s].
typedef struct vy_joint_def {
    uint32_t cookie; ///< set by the default function
    vy_joint_kind kind;
    vy_body_id body_a, body_b;   ///< VY_NULL_BODY: the world; one of them must be dynamic
    vy_vec3 anchor_a, anchor_b;  ///< [m] body, from the centre of mass; world coordinates for the world
    vy_vec3 axis_a, axis_b;      ///< body axes, any length above zero: hinge, slider (a only), universal
    double length;               ///< [m] distance and cable > 0, spring >= 0
    double stiffness, damping;   ///< spring [N/m, N s/m]; hinge [N m/rad, N m s/rad]; >= 0
    double rest;                 ///< [rad] angle at which a hinge's spring is at ease
    int limited;                 ///< 1: the angle stays within low ... high
    double low, high;            ///< [rad] low < high; a hinge's within -pi ... pi
    double motor_speed;          ///< [rad/s] what the motor wants
    double motor_gain;           ///< [N m s/rad] its torque: gain (speed - rate), at most motor_torque
    double motor_torque;         ///< [N m] 0: no motor
    const vy_constraint *custom; ///< of a custom joint; must outlive it
} vy_joint_def;

/// Of no kind, between the world and the world: kind and a body must be given. Axes along z, everything else
/// 0.
vy_joint_def vy_default_joint_def(void);

/// Fill bodies, anchors and axes from a point and an axis of the world, for bodies as they stand now.
/// @return VY_NOT_FOUND for an id that is neither null nor of the set
vy_status vy_joint_place(const vy_bodies *bodies, vy_body_id a, vy_body_id b, vy_vec3 point, vy_vec3 axis,
                         vy_joint_def *def);

/// A joint of a set, as vy_body_id.
typedef struct vy_joint_id {
    uint64_t bits;
} vy_joint_id;

#define VY_NULL_JOINT VY_NULL_OF(vy_joint_id) ///< no joint

/// Join two bodies. Angles and the stand of a fixed joint count from how the bodies stand now. Removing a
/// body removes its joints.
/// @return VY_BAD_DISTANCE (a length that is not > 0), VY_BAD_VALUE, VY_NOT_FOUND, VY_FULL
vy_status vy_bodies_add_joint(vy_bodies *bodies, const vy_joint_def *def, vy_joint_id *out, vy_error *err);
vy_status vy_bodies_remove_joint(vy_bodies *bodies, vy_joint_id id);
uint32_t vy_bodies_joint_count(const vy_bodies *bodies);

/// Work out islands and the order of elimination after joints came or went. The next step does so too; call
/// this where that step must not allocate.
/// @return VY_NO_MEMORY
vy_status vy_bodies_prepare(vy_bodies *bodies);

typedef struct vy_joint_state {
    double value[VY_CONSTRAINT_ROWS]; ///< C; zero where the joint holds
    double gap;    ///< [m] between the anchors: distance, ball, hinge, fixed, universal, cable, spring
    double angle;  ///< [rad] of a hinge, [m] of a slider
    double length; ///< [m] between the anchors of a distance, cable or spring; of a slider its angle
    double rate;   ///< [rad/s] its rate
    int active;    ///< 0: a cable is slack, or a limit is not reached; 1: it acts, or is always on
    vy_vec3 force; ///< [N] of the joint on body b at its anchor, world; as the last step began its last part,
                   ///< 0 before the first step and after a state was restored
    vy_vec3 torque; ///< [N m] on body b about its anchor, world
    double tension; ///< [N] of a distance, cable or spring: how much it pulls the anchors together
} vy_joint_state;

/// How a joint stands now.
/// @return VY_NOT_FOUND
vy_status vy_joint_read(const vy_bodies *bodies, vy_joint_id id, vy_joint_state *out);
/// Whether a joint acts: 0 for a slack cable or an unknown id.
int vy_joint_is_active(const vy_bodies *bodies, vy_joint_id id);
/// Change the motor of a hinge or slider: state, hashed and in snapshots.
/// @return VY_NOT_FOUND, or VY_BAD_VALUE (a number, or a joint that has no motor)
vy_status vy_joint_set_motor(vy_bodies *bodies, vy_joint_id id, double speed, double gain, double torque);

/// The multipliers of all joints as the bodies stand now, with the forces that wait for the next step.
typedef struct vy_joint_solution {
    int converged;    ///< 1: solved; 0: the system could not be factorised, or rows conflict
    int rows;         ///< of all active constraints
    int redundant;    ///< rows that say what others say already; they carry no force
    int conflicting;  ///< of those, rows that contradict the others
    double condition; ///< largest over smallest eigenvalue of J M^-1 J^T without redundant rows; 1 when empty
    double residual;  ///< largest error of J a + bias over all rows, in their units over s^2
} vy_joint_solution;

typedef enum vy_solver {
    VY_SOLVER_AUTO,  ///< dense up to VY_DENSE_ROWS rows
    VY_SOLVER_DENSE, ///< Cholesky; fails, as it must, on redundant rows
    VY_SOLVER_TREE,  ///< LDL^T in blocks, leaves first
} vy_solver;

enum { VY_DENSE_ROWS = 48 };

/// Solve without stepping. An empty set converges.
/// @param lambda [VY_CONSTRAINT_ROWS per joint slot] multipliers; may be NULL
/// @return VY_FULL when VY_SOLVER_DENSE is asked for more than VY_DENSE_ROWS rows, or VY_NO_MEMORY
vy_status vy_bodies_solve(vy_bodies *bodies, vy_solver solver, double *lambda, vy_joint_solution *out);

// ---- constraints of one body as the requirements write them, with a Jacobian over (x, y, z, w, x, y, z)

/// C = |q|^2 - 1 and its row. Kept by every integrator: attitudes are normalised at the end of a step.
double vy_unit_quaternion_value(vy_quat q);
void vy_unit_quaternion_jacobian(vy_quat q, double row[7]);
/// Normalise q, take from its rate what is not square to it, and add Baumgarte's correction of what rounding
/// leaves: rate -= 2 (alpha C + beta C') q.
void vy_unit_quaternion_enforce(double alpha, double beta, vy_quat *q, vy_quat *rate);

/// C = |x|^2 - d^2 for a body held at a distance from the origin, and its row.
/// @return VY_BAD_DISTANCE for a distance that is negative or not finite
vy_status vy_distance_value(vy_vec3 position, double distance, double *value, double row[7]);

#ifdef __cplusplus
}
#endif
