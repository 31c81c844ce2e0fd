// nap_state.h - constants, state and account of the negligibility policy for one drone. Over `real`.
#pragma once
#include "base/schema.h"
#include "equations/multirotor.h"
#include "volery/environment.h"

/// Constants of one drone under the policy.
typedef struct nap_params {
    real force_abs, force_rel;     // [N], [1] of the weight: thresholds of force, the larger counts
    real torque_threshold;         // [N m] threshold of torque, the larger of absolute and relative
    real hysteresis;               // [1] threshold to come back over the threshold to go
    real inertia_min, inertia_max; // [kg m^2] principal moments
    real rotor_speed_max;          // [rad/s]
    real horizon;                  // [s]
    // The same in every lane.
    bits rotor_count;
    bits strict;        // everything is computed
    bits jointed;       // likewise: no reach covers what a joint can do
    bits open_loop;     // motor commands do not depend on the motion
    bits rotors;        // the vehicle's rotors have effects of their own
    bits flat;          // the ground is z = 0
    bits has_obstacles; // there are obstacles: the ground may be anywhere
} nap_params;

/// Greatest deviations of the strict motion from this one.
enum { DEVIATION_RATE, DEVIATION_ANGLE, DEVIATION_VELOCITY, DEVIATION_POSITION, DEVIATION_COUNT };

typedef struct nap_state {
    real impulse[EFFECT_COUNT];      // [N s] neglected at most, per effect
    real angular[EFFECT_COUNT];      // [N m s] angular impulse, likewise
    real deviation[DEVIATION_COUNT]; // [rad/s], [rad], [m/s], [m]; NAP_UNBOUNDED when it is not known
} nap_state;

/// Of a drone. It changes only when the policy is evaluated, and is hashed then.
typedef nap_state nap_account_block;

/// Of a body that is no drone: the same without the parts of each effect.
typedef struct body_account_block {
    real impulse, angular; // [N s], [N m s] neglected at most, of all effects
    real deviation[DEVIATION_COUNT];
} body_account_block;

#define FIELDS_nap_account(F, block)                                                \
    F(block, impulse, LIST, EFFECT_COUNT, "N s", "neglected at most, per effect")   \
    F(block, angular, LIST, EFFECT_COUNT, "N m s", "neglected at most, per effect") \
    F(block, deviation, LIST, DEVIATION_COUNT, "", "of rate, angle, velocity, position, at most")

#define FIELDS_body_account(F, block)                                          \
    F(block, impulse, NUMBER, 1, "N s", "neglected at most, of all effects")   \
    F(block, angular, NUMBER, 1, "N m s", "neglected at most, of all effects") \
    F(block, deviation, LIST, DEVIATION_COUNT, "", "of rate, angle, velocity, position, at most")

/// Of a vy_nap_def.
extern const vy_schema_table vy_table_nap;

vy_nap_def vy_nap_default(void);

#define NAP_UNBOUNDED 1e30

/// Inputs of an evaluation beside the body's state.
typedef struct nap_inputs {
    real time;   // [s]
    real period; // [s] until the next evaluation
    real disturbance,
        disturbance_torque; // [N], [N m] no declared disturbance exceeds this until the next evaluation
    real force_body, torque_world; // [N], [N m] of those: forces that turn with the body, torques that do not
    real turbulence;               // [m/s] likewise
    const real *command;           // [rad/s] commanded rotor speeds
    real downwash;                 // [m/s] no wake of another drone is faster
    int turbulent; // turbulence is declared: its filter follows the motion, and so has no certificate
} nap_inputs;
