// crtp_plan.h - the trajectories of a Crazyflie's high-level commander: polynomials of degree 7 for x, y, z
// and yaw, one piece after the other.
#pragma once
#include "volery/types.h"

enum { PLAN_AXES = 4, PLAN_COEFFICIENTS = 8, PLAN_PIECE_CAP = 31 };

/// One piece: axis a is the sum of coefficients[a][k] t^k, for `duration` seconds.
typedef struct plan_piece {
    double duration; // [s] > 0
    double coefficients[PLAN_AXES][PLAN_COEFFICIENTS];
} plan_piece;

/// Where to be, and how fast.
typedef struct plan_point {
    vy_vec3 position, velocity, acceleration;
    double yaw, yaw_rate;
} plan_point;

typedef struct crtp_plan {
    double begin; // [s]
    double scale; // of time: 2 is half as fast
    int is_reversed;
    vy_vec3 shift;                         // [m] added to its places
    double turn;                           // [rad] added to its yaw
    double rotation_cosine, rotation_sine; // of the turn of its places
    int count;
    plan_piece pieces[PLAN_PIECE_CAP];
} crtp_plan;

/// From a point to rest at another, with no jerk at both ends: one piece.
/// @param linear at constant velocity instead
void vy_crtp_plan_to(const plan_point *from, vy_vec3 to, double yaw, double duration, int linear,
                     double begin, crtp_plan *out);

/// The point at a time; before its begin the first, after its end the last, at rest.
plan_point vy_crtp_plan_at(const crtp_plan *plan, double time);

/// [s] from its begin to its end.
double vy_crtp_plan_duration(const crtp_plan *plan);

/// An angle in [-pi, pi).
double vy_wrap_angle(double angle);
