// allocate.h - thrusts for a wrench that the rotors cannot make: the nearest one they can, by declared
// weights.
//
//   minimise  sum_j (w_j (B t - desired)_j)^2 + n |t|^2   over   0 <= t_i <= limit_i
//
// with j = thrust, roll, pitch, yaw, forces counted in one rotor's largest thrust and torques in that thrust
// times the arm (yaw: times the torque per thrust). The weights are the priority: tilt before thrust before
// yaw. The small n makes the answer unique. Solved exactly by an active-set method (O. Harkegard, Efficient
// active set algorithms for solving constrained least squares problems in aircraft control allocation, 2002):
// move to the best point with the present set of rotors held at their limits; where a free rotor meets its
// limit on the way, hold it; where holding one no longer lowers the cost, free it.
#pragma once
#include "base/vec.h"
#include "base/assert.h"

#define ALLOCATE_ROTORS 8

#define ALLOCATE_WEIGHT_THRUST  100.0
#define ALLOCATE_WEIGHT_TILT    1000.0
#define ALLOCATE_WEIGHT_YAW     1.0
#define ALLOCATE_REGULARIZATION 1e-4 // n above

// Twice what any random wrench of tests/test_allocation.c may take.
#define ALLOCATE_STEPS 64

typedef struct allocate_params {
    real rows[4][ALLOCATE_ROTORS];                  // w_j B, thrusts in units of the largest
    real hessian[ALLOCATE_ROTORS][ALLOCATE_ROTORS]; // rows^T rows + n
    real scale[4];                                  // w_j over the unit of wrench j [1/N] [1/(N m)]
    real unit;                                      // [N] largest thrust of a rotor
    bits count;                                     // of rotors, the same in every lane
} allocate_params;

// One lane's problem on its way. Thrusts are in units of the largest.
typedef struct allocate_state {
    real x[ALLOCATE_ROTORS];       // the thrusts so far
    real limit[ALLOCATE_ROTORS];   // the largest thrusts
    real rhs[ALLOCATE_ROTORS];     // rows^T of the desired wrench: the Hessian times the unbounded solution
    real is_free[ALLOCATE_ROTORS]; // 1: free, 0: held at a limit
    mask unsolved;                 // not solved yet
} allocate_state;

VY_FN real allocate_gradient(const allocate_params *p, const allocate_state *s, int i)
{
    real gradient = -s->rhs[i];
    for (int k = 0; k < VY_BASIC_OR(4, bits_uniform(p->count)); ++k)
        gradient = gradient + p->hessian[i][k] * s->x[k];
    return gradient;
}

/// The step to the best point with the held rotors held: LDL^T of the Hessian, in which held rows are those
/// of the unit matrix.
VY_FN void allocate_direction(const allocate_params *p, const allocate_state *s, real *step)
{
    real l[ALLOCATE_ROTORS][ALLOCATE_ROTORS], d[ALLOCATE_ROTORS];
    for (int i = 0; i < VY_BASIC_OR(4, bits_uniform(p->count)); ++i) {
        step[i] = -s->is_free[i] * allocate_gradient(p, s, i);
        for (int j = 0; j < i; ++j) {
            real sum = (s->is_free[i] * s->is_free[j]) * p->hessian[i][j];
            for (int k = 0; k < j; ++k) sum = sum - l[i][k] * l[j][k] * d[k];
            l[i][j] = sum / d[j];
            step[i] = step[i] - l[i][j] * step[j];
        }
        d[i] = real_select(s->is_free[i] > 0.0, p->hessian[i][i], real_set(1.0));
        for (int k = 0; k < i; ++k) d[i] = d[i] - l[i][k] * l[i][k] * d[k];
    }
    for (int i = VY_BASIC_OR(4, bits_uniform(p->count)) - 1; i >= 0; --i) {
        step[i] = step[i] / d[i];
        for (int k = i + 1; k < VY_BASIC_OR(4, bits_uniform(p->count)); ++k)
            step[i] = step[i] - l[k][i] * step[k];
    }
}

/// Move until the best point or the first limit, and hold the rotor that met it. Returns the lanes that
/// arrived.
VY_FN mask allocate_move(const allocate_params *p, allocate_state *s)
{
    real step[ALLOCATE_ROTORS], step_to_bound[ALLOCATE_ROTORS], bound[ALLOCATE_ROTORS];
    allocate_direction(p, s, step);
    real step_length = real_set(1.0);
    for (int i = 0; i < VY_BASIC_OR(4, bits_uniform(p->count)); ++i) {
        const mask is_moving = (s->is_free[i] > 0.0) & (step[i] != 0.0);
        bound[i] = real_select(step[i] > 0.0, s->limit[i], real_set(0.0));
        step_to_bound[i] = real_select(
            is_moving, (bound[i] - s->x[i]) / real_select(is_moving, step[i], real_set(1.0)), real_set(2.0));
        step_length = real_min(step_length, step_to_bound[i]);
    }
    step_length = real_max(step_length, real_set(0.0));
    const mask arrived = step_length >= 1.0;
    mask seeking = s->unsolved & mask_not(arrived);
    for (int i = 0; i < VY_BASIC_OR(4, bits_uniform(p->count)); ++i) {
        const mask is_hit = seeking & (step_to_bound[i] <= step_length);
        seeking = seeking & mask_not(is_hit); // one at a time, the first in order
        s->x[i] = real_select(s->unsolved, s->x[i] + step_length * step[i], s->x[i]);
        s->x[i] = real_select(is_hit, bound[i], s->x[i]);
        s->is_free[i] = real_select(is_hit, real_set(0.0), s->is_free[i]);
    }
    return arrived;
}

/// In lanes that arrived: free the rotor whose limit costs most, or be done.
VY_FN void allocate_release(const allocate_params *p, mask arrived, allocate_state *s)
{
    real multiplier[ALLOCATE_ROTORS];
    real multiplier_max = real_set(1e-9);
    for (int i = 0; i < VY_BASIC_OR(4, bits_uniform(p->count)); ++i) {
        const real gradient = allocate_gradient(p, s, i);
        const mask is_held = (s->is_free[i] == 0.0) & (s->limit[i] > 0.0);
        multiplier[i] = real_select(is_held, real_select(s->x[i] > 0.0, gradient, -gradient), real_set(0.0));
        multiplier_max = real_max(multiplier_max, multiplier[i]);
    }
    mask seeking = s->unsolved & arrived;
    for (int i = 0; i < VY_BASIC_OR(4, bits_uniform(p->count)); ++i) {
        const mask costliest = seeking & (multiplier[i] >= multiplier_max);
        seeking = seeking & mask_not(costliest);
        s->is_free[i] = real_select(costliest, real_set(1.0), s->is_free[i]);
    }
    s->unsolved = s->unsolved & mask_not(seeking); // nothing left to free
}

/// The best thrusts [N] for `desired` (thrust, roll, pitch, yaw) within `limit` [N]; `thrusts` come as a
/// first guess within the limits.
VY_COLD_FN void allocate(const allocate_params *p, const real *desired, const real *limit, real *thrusts)
{
    allocate_state s;
    const real inverse_unit = 1.0 / p->unit;
    VY_ASSERT(bits_uniform(p->count) > 0 && bits_uniform(p->count) <= ALLOCATE_ROTORS);
    for (int i = 0; i < VY_BASIC_OR(4, bits_uniform(p->count)); ++i) {
        s.limit[i] = limit[i] * inverse_unit;
        s.x[i] = real_min(thrusts[i] * inverse_unit, s.limit[i]);
        s.is_free[i] = real_select((s.x[i] > 0.0) & (s.x[i] < s.limit[i]), real_set(1.0), real_set(0.0));
        s.rhs[i] = real_set(0.0);
        for (int j = 0; j < 4; ++j) s.rhs[i] = s.rhs[i] + p->rows[j][i] * (p->scale[j] * desired[j]);
    }
    s.unsolved = mask_set(1);
    for (int n = 0; n < ALLOCATE_STEPS && mask_any(s.unsolved); ++n) {
        allocate_release(p, allocate_move(p, &s), &s);
    }
    for (int i = 0; i < VY_BASIC_OR(4, bits_uniform(p->count)); ++i)
        thrusts[i] = real_min(s.x[i] * p->unit, limit[i]);
}
