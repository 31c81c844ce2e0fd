// loop_state.h - what a budget in closed loop remembers of a drone's flight.
#pragma once
#include <stdint.h>

enum { LOOP_ENVELOPE_CAP = 30, LOOP_SLOPES_CAP = 10 };

/// Of a drone in a world with a budget. A bound is that of the envelope, not of what was seen: it is found
/// again only when the envelope grows.
typedef struct loop_block {
    double observed[LOOP_ENVELOPE_CAP]; // extremes of the flown motion: loop_bound.h; since the last look
    double envelope[LOOP_ENVELOPE_CAP]; // since the start, with a margin
    double slopes[LOOP_SLOPES_CAP];     // likewise: of the loads that are computed
    double neglect[2];                  // [m/s^2], [rad/s^2] likewise: left out
    double thrust, torque;              // [m/s^2], [rad/s^2] bounds of the differences of what rotors do
    double disturbances[4];             // of disturbances until the next look: as in nap_inputs
    uint64_t standing;                  // LOOP_BOUND_NOT_STARTED, ...
} loop_block;

/// Nothing is known before the controller has acted; the bound holds; it is lost.
enum { LOOP_BOUND_NOT_STARTED, LOOP_BOUND_VALID, LOOP_BOUND_LOST };

#define FIELDS_loop(F, block)                                                                          \
    F(block, observed, LIST, LOOP_ENVELOPE_CAP, "", "extremes of the motion since the last look")      \
    F(block, envelope, LIST, LOOP_ENVELOPE_CAP, "", "within which the closed loop's bound holds")      \
    F(block, slopes, LIST, LOOP_SLOPES_CAP, "", "likewise: how computed loads change with the motion") \
    F(block, neglect, LIST, 2, "", "likewise: accelerations left out")                                 \
    F(block, thrust, NUMBER, 1, "m/s^2", "bound of the difference of specific thrust")                 \
    F(block, torque, NUMBER, 1, "rad/s^2", "likewise of angular acceleration by the rotors")           \
    F(block, disturbances, LIST, 4, "", "bounds of disturbances until the next look")                  \
    F(block, standing, INTEGER, 1, "", "0: before the controller acts; 1: the bound holds; 2: it is lost")
