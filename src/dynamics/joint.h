// joint.h - joints in the solver: constants and state, blocks of three rows, islands, and the order of
// elimination.
//
// Every constraint is divided into blocks of three rows; a row that is unused or inactive is zero with one on
// the diagonal, so its multiplier is zero. The linear algebra has blocks of one size only. Slot body_cap of
// the arrays of bodies is the world: at the origin, at rest, of infinite mass.
#pragma once
#include "dynamics/bodies.h"
#include "equations/body_step.h"
#include "volery/joint.h"
#include "base/assert.h"

enum { BLOCK_ROWS = 3, JOINT_BLOCKS = 2 };

#define ALL_ROWS     ((uint64_t)63)     // `active` of a joint whose rows all act
#define JOINT_BROKEN ((uint64_t)1 << 8) // in `active`: it has broken, and no row acts

/// How far open a joint was when it was added. All of it goes back to nothing at constant speeds.
typedef struct joint_initial_error {
    double start, end;                // [s] it closes from start to end; end 0: it was not open
    vec3 shift;                       // [m] of the anchor of `side`, in that body
    int side;                         // 0: a, 1: b
    vec3 axis;                        // in b: the axes of b were turned back about this, by `angle`
    double angle;                     // [rad]
    double length;                    // [m] added to its length
    double low, high;                 // [rad], [m] by how much its stops were exceeded
    double cone;                      // [rad] by how much its cone was
    double value[VY_CONSTRAINT_ROWS]; // C of a custom constraint
} joint_initial_error;

/// What a joint gives body b, about its anchor there, world axes: a force and a torque, or impulses.
typedef struct joint_load {
    vec3 force, torque;
} joint_load;

/// Angles of the line between the anchors of a gear, seen from a and from b, all turns counted: state of sets
/// with gears.
typedef struct joint_gear {
    double angle[2];
} joint_gear;

/// Constants of a joint.
typedef struct joint_slot {
    uint32_t generation;
    uint32_t next;          // the next free slot + 1 while it is free
    int used;               // 1: a joint is in the slot
    uint32_t body[2];       // slots of a and b; body_cap: the world
    uint32_t next_joint[2]; // slot + 1 of the next joint of a and of b, once prepared; 0: none
    vy_joint_def def;
    vec3 axes_a[3];            // in a: its axis and two directions perpendicular to it
    vec3 axes_b[3];            // in b: the same directions when the joint was made
    double cone_scale;         // 1 / sin of its cone, as it will be
    double gear_start[2];      // angles of a gear when it was added
    int block_count;           // 0: a force only
    uint32_t unilateral_rows;  // bit r: row r is unilateral
    uint32_t first_block;      // its first block, once prepared
    vec3 lambda[JOINT_BLOCKS]; // of the last solution
    joint_initial_error initial_error;
    double impulse_work;      // [J] while it closes: of the impulses that last projected velocities
    double power;             // [W] while it closes: of its forces, mean of the last sub-step
    vec3 speed[JOINT_BLOCKS]; // J v at the start of a sub-step with contacts
    joint_gear gear;          // of a gear: angles at the start of the sub-step
    joint_gear saved_gear;    // of a gear: angles before an interval from impact to impact
    // Of a joint that can break: joint_break.c.
    joint_load load;                // at the start of the last sub-step
    joint_load impulse;             // in this step
    joint_load saved_impulse;       // of it, before an interval from impact to impact; else 0
    double mean_force, mean_torque; // in the last step
    int broke_in_step;              // 1: it broke in the last step
} joint_slot;

/// The state of a joint: hashed, and in snapshots.
typedef struct joint_state {
    uint64_t active; // bit r: the unilateral row r is active; JOINT_BROKEN
    // [rad/s], [N m s/rad], [N m] of a rotating joint; [m/s], [N s/m], [N] of a sliding one
    double motor_speed, motor_gain, max_motor_torque;
} joint_state;

/// Where the servo of a joint is to be: state of sets in which some joint has one.
typedef struct joint_targets {
    double position; // [rad] of a rotating joint, [m] of a sliding one
} joint_targets;

VY_FN int joint_has_targets(const vy_joint_def *def) { return def->motor_stiffness > 0.0; }

/// Three rows at one moment. Index 0 is body a, 1 is body b.
typedef struct row_block {
    mat3 linear[2], angular[2];      // the Jacobian
    mat3 angular_inverse_inertia[2]; // angular part times I^-1
    vec3 value, bias, time_rate;     // C, J' v, partial derivative of C by time
    uint32_t body[2];
    int is_point; // the linear part is -1 on a and +1 on b
    int row_mask; // bit r: row r is in use
} row_block;

/// A body of an island at one moment.
typedef struct stage_body {
    mat3 rotation, inverse_inertia; // the latter in world axes
    vec3 rate;                      // [rad/s] world
    vec3 linear, angular;           // accelerations or changes of velocity, world
    double inverse_mass;
} stage_body;

/// Two blocks that share a body: its J_p M^-1 J_q^T is added to block `target` of the matrix.
typedef struct block_pair {
    uint32_t p, q;           // p > q
    uint32_t side_p, side_q; // the side of each that is the shared body: 0 a, 1 b
    uint32_t target;         // entry of joint_system.lower
} block_pair;

/// A stop: a unilateral row, of a cable, a limit or a custom constraint.
typedef struct stop {
    uint32_t joint; // slot
    int row;        // of the joint, 0 ... VY_CONSTRAINT_ROWS - 1
} stop;

/// Bodies that are connected by joints, with ranges of the arrays below.
typedef struct island {
    uint32_t body_first, body_last;   // of members; dynamic ones first
    uint32_t dynamic_last;            // dynamic ones are before this
    uint32_t joint_first, joint_last; // of joint_order
    uint32_t block_first, block_last; // of rows, in the order of elimination
    uint32_t pair_first, pair_last;   // of pairs
    uint32_t stop_first, stop_last;   // of stops
} island;

/// Everything about joints but their state. Arrays are made by vy_bodies_prepare.
typedef struct joint_system {
    void *memory;               // of the arrays whose length is body_cap or joint_cap
    joint_slot *slots;          // [joint_cap]
    uint32_t count, slot_count; // joints; slots in use are below slot_count
    uint32_t first_free;        // the first free slot + 1; 0: none below slot_count
    int dirty;                  // 1: joints have changed: vy_bodies_prepare() makes islands and arrays again
    island *islands;            // [island_count]
    uint32_t island_count;
    uint32_t *members;     // slots of bodies by island, static and kinematic ones included
    uint32_t *joint_order; // slots of joints, by island, in the order of elimination
    stop *stops;           // [VY_CONSTRAINT_ROWS joint_cap]
    uint32_t stop_count;
    uint32_t *first_joint; // [body_cap] slot + 1 of a body's first joint; 0: it is stepped alone, not with an
                           // island
    row_block *rows;       // [block_count]
    uint32_t block_count, pair_count;
    block_pair *pairs; // [pair_count]
    // The matrix J M^-1 J^T: diagonal blocks, and the lower triangle column by column.
    mat3 *diagonal, *inverse;   // [block_count] and the inverses of the eliminated diagonal blocks
    double (*scale)[3];         // [block_count] the diagonal before elimination
    uint32_t *column;           // [block_count + 1] entries of column k are column[k] ... column[k + 1] - 1
    uint32_t *row;              // [entry_count] of each entry
    mat3 *lower, *lower_scaled; // [entry_count] entries; times the inverse of their column's diagonal block
    uint32_t
        *update; // entries that products of two entries of a column go to, in the order of island_factor.c
    uint32_t *update_first; // [block_count] where those of a column begin in `update`
    uint32_t entry_count;
    vec3 *rhs; // [4 block_count] right-hand sides, then solutions; the second part is scratch, the third the
               // sums of sub-steps, the fourth what of these is in the impulses of joints that can break
    int *redundant_rows;            // [block_count] bit r: row r is redundant
    stage_body *stage_bodies;       // [body_cap + 1]
    body_state *stage;              // [body_cap + 1] states at the present stage of the integrator
    body_derivatives *k[4];         // [body_cap + 1] derivatives at the stages of RK4
    body_state *start;              // [body_cap + 1] states at the start of the sub-step
    body_state *substep_restart;    // [body_cap + 1] states at the start of a sub-step that is divided
    uint64_t *active_before_flight; // [joint_cap] `active` of every joint before the last flight
    uint64_t *active_at_step_start; // [joint_cap] and before the step
    double elapsed;      // [s] since the step began, where bodies are stepped from impact to impact; else 0
    int between_impacts; // 1: awake bodies are stepped from impact to impact
    body_wrench *driver_wrench; // [body_cap] of the driver's rates at the start of the step
    double step_time;           // [s] at the start of the step
    vy_integrator integrator;   // of the island that is stepped
    int checks_energy;          // 1: its sub-steps are divided where they change its energy
    int subdivisions_left;      // that are left for the step
    double substep;             // [s] length of the sub-step
    int redundant_count;        // redundant rows of the last factorisation
    double projection_error;    // largest position error after the last projection
    double impact_loss;         // [J] kinetic energy lost when stops engaged, since creation
    double closing_end;         // [s] when the last joint that was added open is closed
    double *step_work;          // [J] [body_cap] of joints that close, in this step
    double *saved_work;         // [J] [body_cap] of it, before an interval from impact to impact; else 0
    double *closing_work;       // [J] [body_cap] of joints that close, in all steps before
    double closing_sum;         // [J] that of all bodies together, those that were removed included
    uint32_t breakable_count;   // joints that can break
    uint32_t targeted_count;    // joints that have targets
    uint32_t geared_count;      // gears
} joint_system;

/// The rows of a joint for bodies at states a and b: values, Jacobian, bias. `active` masks unilateral rows.
void vy_joint_rows(const joint_slot *j, const body_state *a, const body_state *b, const stage_body *stage_a,
                   const stage_body *stage_b, double time, uint64_t active, row_block *rows);
/// C of every row, unilateral ones too, whether they act or not.
void vy_joint_values(const joint_slot *j, const body_state *a, const body_state *b, double time,
                     double value[VY_CONSTRAINT_ROWS]);
/// C of a unilateral row, or infinity where it may not act.
double vy_stop_distance(const joint_slot *j, int row, const body_state *a, const body_state *b, double time);
/// [m] The translation along the axis; 0 for a joint that does not slide.
double vy_joint_translation(const joint_slot *j, const body_state *a, const body_state *b);
/// The joint coordinate and its rate: the angle of a rotating joint, the translation of a sliding one.
void vy_joint_coordinate(const joint_slot *j, const body_state *a, const body_state *b, double *coordinate,
                         double *rate);
/// [m] From anchor to anchor; of a pulley over its wheels.
double vy_joint_length(const joint_slot *j, const body_state *a, const body_state *b);
/// [rad] The angle between the axes of a and b.
double vy_joint_swing(const joint_slot *j, const body_state *a, const body_state *b);
/// Add the accelerations by springs, dampers and motors to those of a and b.
void vy_joint_apply_forces(const joint_slot *j, const joint_state *motor, const joint_targets *targets,
                           const body_state *a, const body_state *b, stage_body *stage_a,
                           stage_body *stage_b);
double vy_joint_energy(const joint_slot *j, const joint_state *state, const body_state *a,
                       const body_state *b); // [J] of its spring
/// Of its rows by the multipliers of the last solution, of its spring and of its motor.
joint_load vy_joint_load(const joint_slot *j, const joint_state *state, const joint_targets *targets,
                         const body_state *a, const body_state *b, double time);

// ---- joints that are added open: joint_closing.c

/// [m] A measure of the distance of the surface from the centre of mass: the radius of gyration about a
/// point.
double vy_gyration_radius(const vy_bodies *b, uint32_t i);
/// Measure how far open a joint is that is about to be added, and plan how it closes.
/// @return VY_BAD_VALUE where it is far open and was not meant to be
vy_status vy_joint_set_initial_error(const vy_bodies *b, joint_slot *j, vy_error *err);
/// The same of stops that a joint was given now: it also goes on closing what it has been.
vy_status vy_joint_set_limit_error(const vy_bodies *b, joint_slot *j, vy_error *err);
VY_FN int joint_is_closing(const joint_slot *j, double time)
{
    return j->initial_error.end > 0.0 && time < j->initial_error.end;
}
/// A joint that closes as it is at `time`: anchors, axes, length and stops on their way.
void vy_joint_at_time(const joint_slot *j, double time, joint_slot *out);
/// [J] Work of the impulses in rhs[] on both bodies: after vy_island_apply_multipliers(), before velocities
/// change.
double vy_closing_impulse_work(const joint_system *s, const joint_slot *j);
/// Set the power of the joints of an island to zero.
void vy_closing_clear_power(joint_system *s, const island *is);
/// Add `weight` times the power of the forces in rhs[] to that of the joints of an island that close.
void vy_closing_add_power(joint_system *s, const island *is, double time, double weight);
/// Enter the work of a joint that closes, half of it for each of two bodies.
void vy_closing_add_work(vy_bodies *b, const joint_slot *j, double work);
/// Before a step: the work of the last one is added to that of all before.
void vy_closing_begin_step(vy_bodies *b);
/// The work on a body that is removed stays in the sum of the set.
void vy_closing_remove_body(vy_bodies *b, uint32_t i);
/// [J] All work of closing joints, and that on one body, since the set was created.
double vy_closing_work(const vy_bodies *b);
double vy_closing_work_on(const vy_bodies *b, uint32_t i);

// ---- gears: joint_gear.c

VY_FN int joint_is_geared(const joint_slot *j) { return vy_joint_has(j->def.kind, VY_JOINT_GEARED); }
/// Its angles for bodies at these states, each next to that in j->gear.
joint_gear vy_gear_angles(const joint_slot *j, const body_state *a, const body_state *b);
/// Before a step, and where an island goes back to its start: as in the state.
void vy_gear_begin_step(vy_bodies *b);
/// After a sub-step, by s->stage.
void vy_gear_end_substep(joint_system *s, const island *is);
/// After a step, by the bodies' poses: into the state.
void vy_gear_end_step(vy_bodies *b);

// ---- joints that break: joint_break.c

VY_FN int joint_can_break(const joint_slot *j)
{
    return j->def.break_force > 0.0 || j->def.break_torque > 0.0;
}
VY_FN int joint_is_broken(const joint_state *s) { return (s->active & JOINT_BROKEN) != 0; }
/// Before a step: no impulses yet.
void vy_break_begin_step(vy_bodies *b);
/// At the start of a sub-step that may be taken: the loads of an island at s->stage.
void vy_break_store_loads(vy_bodies *b, const island *is, double time);
/// The loads that were stored act for `h` seconds.
void vy_break_add_loads(joint_system *s, const island *is, double h);
/// Impulses: those of the multipliers of an island in `lambda`, by block, and its rows.
void vy_break_add_impulses(joint_system *s, const island *is, const vec3 *lambda);
/// Those of springs and motors at s->stage over `h` seconds.
void vy_break_add_forces(vy_bodies *b, const island *is, double h);
/// After a step: those that were loaded too much break. Returns VY_BODIES_ bits.
uint32_t vy_break_end_step(vy_bodies *b);

/// `e` with the springs of all joints.
vy_bodies_energy vy_joints_add_energy(const vy_bodies *b, vy_bodies_energy energy);

/// The slot of an id, or -1 when it is stale; the id of the joint in a slot, null when the slot is empty.
int64_t vy_joints_find(const vy_bodies *b, vy_joint_id id);
vy_joint_id vy_joints_at(const vy_bodies *b, uint32_t slot);

/// Whether a joint holds the body, once prepared.
int vy_body_has_joint(const vy_bodies *b, vy_body_id id);

vy_status vy_joints_create(vy_bodies *b);
/// Have memory for so many bodies and joints: what is there moves. VY_NO_MEMORY: nothing has changed.
vy_status vy_joints_reserve(vy_bodies *b, uint32_t bodies, uint32_t joints);
void vy_joints_destroy(vy_bodies *b);
/// Free what vy_bodies_prepare() made.
void vy_island_structure_free(joint_system *s);
/// Set the multipliers of the last solution to zero: they belong to another state.
void vy_joints_clear_multipliers(vy_bodies *b);
/// Remove the joints of a body.
void vy_joints_remove_body(vy_bodies *b, uint32_t body);

/// Factorise the matrix of an island; counts redundant rows.
int vy_island_factor(joint_system *s, const island *is);
/// Solve for rhs[] in place.
void vy_island_solve(joint_system *s, const island *is);
/// y = A x, before the factorisation.
void vy_island_multiply(const joint_system *s, const island *is, const vec3 *x, vec3 *y);

/// Rotation and angular velocity of every member at s->stage, in world axes.
void vy_island_update_frames(vy_bodies *b, const island *is);
/// After that: the rows of all joints.
void vy_island_rows(vy_bodies *b, const island *is, double time);
/// J M^-1 J^T of these rows.
void vy_island_matrix(joint_system *s, const island *is);
/// [m] The distance of its bodies from the origin at s->stage, plus one: the scale of rounding errors.
double vy_island_length_scale(const joint_system *s, const island *is);
/// Unconstrained accelerations, rows, matrix and right-hand side of an island at s->stage.
void vy_island_assemble(vy_bodies *b, const island *is, double time);
/// M^-1 J^T rhs, added to `linear` and `angular` of the stage bodies.
void vy_island_apply_multipliers(joint_system *s, const island *is);
vec3 vy_block_acceleration(const joint_system *s, uint32_t k); // J a + bias
vec3 vy_block_velocity(const joint_system *s, uint32_t k);     // J v + dC/dt by time alone

/// From s->start at `time` to s->stage at time + h by the integrator of the set; not yet projected.
void vy_island_integrate(vy_bodies *b, const island *is, double time, double h);
/// Factorise and solve for the accelerations at s->stage.
void vy_island_accelerate(vy_bodies *b, const island *is, double time);

/// The free flight of all bodies that are awake, jointed ones with their joints. Returns VY_BODIES_ bits.
uint32_t vy_bodies_step_free(vy_bodies *b, double h);

/// Advance every island that is awake by dt. Returns VY_BODIES_ bits.
uint32_t vy_islands_step(vy_bodies *b, double dt);

/// Project islands whose bodies were moved within a step of length h onto their joints again.
void vy_islands_project(vy_bodies *b, double h);

// ---- stops

VY_FN int stop_is_active(const vy_bodies *b, const stop *t)
{
    VY_ASSERT(t->row >= 0 && t->row < VY_CONSTRAINT_ROWS);
    return (b->joint_state[t->joint].active >> t->row) & 1u;
}

VY_FN void stop_set_active(vy_bodies *b, const stop *t, int on)
{
    VY_ASSERT((b->joints->slots[t->joint].unilateral_rows >> t->row & 1u) != 0);
    const uint64_t bit = (uint64_t)1 << t->row;
    if (on) {
        b->joint_state[t->joint].active |= bit;
    } else {
        b->joint_state[t->joint].active &= ~bit;
    }
}

/// The block that a stop is a row of.
VY_FN uint32_t stop_block(const joint_system *s, const stop *t)
{
    VY_ASSERT(t->row / BLOCK_ROWS < s->slots[t->joint].block_count);
    return s->slots[t->joint].first_block + (uint32_t)(t->row / BLOCK_ROWS);
}

/// The component that belongs to a stop, of vectors by block.
VY_FN double stop_component(const joint_system *s, const stop *t, const vec3 *blocks)
{
    const vec3 v = blocks[stop_block(s, t)];
    const int r = t->row % BLOCK_ROWS;
    return r == 0 ? v.x : r == 1 ? v.y : v.z;
}

// ---- islands: union-find

/// The root of a body's island, the lowest slot in it.
VY_FN uint32_t island_root(uint32_t *parent, uint32_t i)
{
    while (parent[i] != i) {
        VY_ASSERT(parent[i] < i);
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

VY_FN void islands_join(uint32_t *parent, uint32_t i, uint32_t j)
{
    const uint32_t x = island_root(parent, i), y = island_root(parent, j);
    if (x < y) parent[y] = x;
    if (y < x) parent[x] = y;
}
