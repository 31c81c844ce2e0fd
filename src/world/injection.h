// injection.h - what was done to a world while it flew: what it remembers of it, over `real`.
#pragma once
#include "base/vec.h"
#include "volery/injection.h"

enum { INJECTION_DISTURBANCE, INJECTION_GUST, INJECTION_FAULT, INJECTION_KINDS };

/// Of one injection. The model's disturbances, gusts and faults behind the declared ones are made from these.
typedef struct injection_block {
    bits kind;           // one of the above
    bits start, length;  // [steps]
    bits target;         // number of the drone or body, from 1; 0: all
    bits choice;         // a vy_disturbance_kind or vy_fault_kind
    bits frame;          // of a disturbance: a vy_frame
    bits rotor, channel; // of a fault: the rotor from 1, 0: all; a vy_channel
    vec3 vector;         // force, velocity of the air, or what a sensor's fault adds
    vec3 torque;         // of a disturbance
    real size;           // of a fault; of a gust its rise
    real frequency;      // of a vibration; of a gust its hold
} injection_block;

#define FIELDS_injection(F, block)                                                                   \
    F(block, kind, INTEGER, 1, "", "0 disturbance, 1 gust, 2 fault")                                 \
    F(block, start, TICK, 1, "", "when it began")                                                    \
    F(block, length, TICK, 1, "", "how long it acts")                                                \
    F(block, target, INTEGER, 1, "", "of which drone or body, from 1; 0: all")                       \
    F(block, choice, INTEGER, 1, "", "kind of the disturbance or fault")                             \
    F(block, frame, INTEGER, 1, "", "axes of a disturbance: 0 world, 1 body")                        \
    F(block, rotor, INTEGER, 1, "", "of a fault, from 1; 0: all")                                    \
    F(block, channel, INTEGER, 1, "", "of a sensor's fault")                                         \
    F(block, vector, VEC3, 3, "", "force [N or N s], velocity of a gust [m/s], or a fault's vector") \
    F(block, torque, VEC3, 3, "", "of a disturbance [N m or N m s]")                                 \
    F(block, size, NUMBER, 1, "", "of a fault; of a gust how long it rises and falls [s]")           \
    F(block, frequency, NUMBER, 1, "", "of a vibration [Hz]; of a gust how long it stays [s]")

/// Can the world have these injections, at step `tick`? VY_BAD_VALUE with a sentence if not.
vy_status vy_injection_check(const vy_world *world, const injection_block *blocks, uint32_t count,
                             uint64_t tick, vy_error *err);

/// Have these, which were checked, in place of those there are. VY_NO_MEMORY, VY_FULL: nothing has changed.
vy_status vy_injection_set(vy_world *world, const injection_block *blocks, uint32_t count, vy_error *err);

/// The same, between two steps of a replay: the listener is told.
vy_status vy_injection_adopt(vy_world *world, const injection_block *blocks, uint32_t count, vy_error *err);

/// Disturbances, gusts and faults of the model again from the state's injections.
void vy_injection_build(vy_world *world);

/// Evaluate the negligibility policy when an injection begins: no reach covers it.
/// @return 0: there was no need to
int vy_injection_reevaluate_nap(vy_world *world);
