// rotor_wake.h - the rotor wake below a drone: a round turbulent jet along its thrust,
// reversed.
//
//   w(z, r) = min(2 v_h, K sqrt(T / rho) / z) exp(-ln 2 (r / S z)^2)     K = 6.84, S = 0.094
//
// z is the distance along the jet, r the distance from its axis. The jet of momentum flux T spreads and slows
// as measured by Hussein, Capp and George (1994; Pope, Turbulent Flows, section 5.1: decay 6.06 per diameter,
// half width 0.094 z); close to the rotors it is no faster than momentum theory's far wake, 2 v_h.
#pragma once
#include "base/math.h"
#include "base/vec.h"

#define WAKE_DECAY  6.84
#define WAKE_SPREAD 0.094
/// Half widths from its axis where a wake ends: 0.2 % of its middle.
#define WAKE_EDGE 3.0

/// The source of a wake: one drone.
typedef struct wake_source {
    vec3 position;   // [m] world
    vec3 down;       // unit vector along the wake, world
    real momentum;   // [m^2/s] sqrt(T / rho), from the momentum flux T
    real exit_speed; // [m/s] 2 v_h: its speed at the rotors
    real width;      // [m] of the disc, at least this at the rotors
} wake_source;

/// Speed of a wake [m/s] at an offset [m] from its source, along source->down; 0 above the source, beyond
/// `length` [m] and outside its edge.
VY_FN real wake_speed(const wake_source *w, vec3 offset, real length)
{
    const real along = vec3_dot(offset, w->down);
    const vec3 across = vec3_add_scaled(offset, -along, w->down);
    const real half_width = real_max(WAKE_SPREAD * along, 0.5 * w->width);
    const real ratio2 = vec3_dot(across, across) / (half_width * half_width);
    const mask inside = (along > 0.0) & (along < length) & (ratio2 < WAKE_EDGE * WAKE_EDGE);
    const real jet_speed = WAKE_DECAY * w->momentum / real_max(along, real_set(1e-6));
    const real centreline_speed = real_min(w->exit_speed, jet_speed);
    const real speed =
        centreline_speed * math_exp(-0.69314718055994531 * real_select(inside, ratio2, real_set(0.0)));
    return real_select(inside, speed, real_set(0.0));
}
