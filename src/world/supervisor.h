// supervisor.h - supervises drones between intent and motors: limits, deadline and failsafe of a declared
// drive; and geofences. Their state over `real`, and the stage.
#pragma once
#include "control/control.h"
#include "volery/world.h"
#include "world/fields.h"

/// Limits of which few drones have one.
enum { EXTRA_LIMIT_FALL, EXTRA_LIMIT_GROUND, EXTRA_LIMIT_GEOFENCE, EXTRA_LIMIT_COUNT };

/// What a drone has whose vehicle declares a drive, or whose safety has limits that few have. Every drone has
/// one when one of them needs it; none has one otherwise.
typedef struct supervisor_block {
    control_state control; // of the failsafe: the controller's own stays as it is
    vec3 position;         // [m] where the failsafe took over
    real heading;          // [rad] likewise
    real requested[VY_ROTOR_CAP], applied[VY_ROTOR_CAP];     // motor commands before and after the limits
    bits failsafe, since, cause, verdict, detail, handovers; // as FIELDS_supervisor says, and those below
    bits intent_tick;                                        // tick of the last intent that arrived
    bits still_ticks;                                        // steps that a landing drone has been held
    bits lost;                                               // rotors, one bit each
    bits slow_ticks[VY_ROTOR_CAP];                           // steps each rotor has been too slow
    bits acted[VY_DRIVE_LIMIT_COUNT];                        // how often each limit of the drive has acted
    bits exceeded[EXTRA_LIMIT_COUNT]; // steps each limit has been exceeded without a break
} supervisor_block;

#define FIELDS_supervisor(F, block)                                                            \
    CONTROL_FIELDS(F, block)                                                                   \
    F(block, position, VEC3, 3, "m", "where the failsafe took over, world")                    \
    F(block, heading, NUMBER, 1, "rad", "likewise")                                            \
    F(block, requested, COMMANDS, 8, "", "motor commands before the drive's limits")           \
    F(block, applied, COMMANDS, 8, "", "and behind them")                                      \
    F(block, failsafe, INTEGER, 1, "", "that acts now; 0: none")                               \
    F(block, since, TICK, 1, "", "when it took over")                                          \
    F(block, cause, INTEGER, 1, "", "why: 1 deadline, 2 command, 3 controller")                \
    F(block, verdict, INTEGER, 1, "", "on the controller")                                     \
    F(block, detail, INTEGER, 1, "", "of the verdict")                                         \
    F(block, handovers, INTEGER, 1, "", "to the failsafe so far")                              \
    F(block, intent_tick, TICK, 1, "", "when the last intent arrived")                         \
    F(block, still_ticks, INTEGER, 1, "", "steps that something has held a landing drone")     \
    F(block, lost, FLAGS, 1, "", "rotors that count as lost, one bit each")                    \
    F(block, slow_ticks, INTEGER, 8, "", "steps each rotor has been too slow without a break") \
    F(block, acted, INTEGER, 6, "", "how often each limit of the drive has acted")             \
    F(block, exceeded, INTEGER, 3, "",                                                         \
      "steps that fall, ground and geofence have been exceeded without a break")

struct vy_model;
struct drone_model;
struct drone_block;
struct world_block;

/// Constants of a checked drone's drive; its rate period is known.
void vy_supervisor_build(const struct vy_model *world, const vy_drone_def *def, struct drone_model *out);

/// State of the supervisors at tick 0.
void vy_supervisor_start(const struct vy_model *world, const struct drone_block *drones,
                         supervisor_block *out);

/// How high a point is over the ground. Returns 0 when there is none below or above it: `*height` is
/// untouched then. Without a function the ground is z = 0.
typedef struct ground_probe {
    int (*height)(const void *self, vec3 point, double *height);
    const void *self;
} ground_probe;

/// The drive abstraction layer of all drones, then the limits that few have. `intent_received` says of each
/// drone whether an intent has arrived in this step, and is cleared for the next. Returns the events.
uint32_t vy_supervisor_stage(const struct vy_model *m, ground_probe ground, unsigned char *intent_received,
                             struct world_block *w, struct drone_block *drones,
                             supervisor_block *supervisors);

/// The controller of drone `index` has failed: hand over to its failsafe. Returns 0 when it declares none;
/// `supervisors` may be NULL then.
int vy_supervisor_take_over(const struct vy_model *m, uint32_t index, uint64_t tick, vy_handover cause,
                            const vy_intent *reply, const struct drone_block *d,
                            supervisor_block *supervisors);

/// Is the drone's controller still called? Not after it has failed.
int vy_supervisor_controller_active(const struct vy_model *m, uint32_t index,
                                    const supervisor_block *supervisors);

/// Fall, ground and geofence of drone `index`.
void vy_extra_limits_check(const struct vy_model *m, ground_probe ground, uint32_t index,
                           const struct drone_block *d, supervisor_block *state, struct world_block *w);
