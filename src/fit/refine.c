// refine.c - from predictions over short horizons to the likelihood of the whole flight.
#include "base/fail.h"
#include "base/math.h"
#include "fit/linear.h"
#include "fit/solve.h"
#include <stdlib.h>

enum { N = FIT_PARAMETER_COUNT, STEPS_MAX = 12, NOISE_STEPS = 8, IDENTIFY_ROUNDS = 2 };

#define COARSE_TOLERANCE 1.0 // of twice a logarithm of likelihood: steps that gain less are not worth another
#define FINE_TOLERANCE   1e-2

static double prior_cost(const double *x)
{
    double sum = 0.0;
    for (int i = 0; i < N; ++i) sum += vy_fit_prior(i) * x[i] * x[i];
    return sum;
}

static double ridge_cost(const fit_problem *p, const double *x, double ridge)
{
    double sum = prior_cost(x);
    for (int i = 0; i < N; ++i) sum += p->active[i] ? ridge * x[i] * x[i] : 0.0;
    return sum;
}

// The step from x by damped normal equations. One that would carry the IMU delay to the other side of 0 ends
// on the edge there: the delay goes to 0 and the others to where they should be then.
// @return 0: no step
static int take_step(const fit_problem *p, const fit_normal_equations *equations, double ridge,
                     double damping, double *x)
{
    const int n = equations->n;
    int held_index = -1;
    for (int attempt = 0; attempt < 2; ++attempt) {
        double damped[N * N], delta[N];
        memcpy(damped, equations->normal, sizeof damped);
        for (int i = 0; i < n; ++i) {
            const double prior = vy_fit_prior(equations->ids[i]) + ridge;
            damped[i * n + i] += prior + damping * (damped[i * n + i] + prior) + 1e-12;
            delta[i] = -equations->gradient[i] - prior * p->x[equations->ids[i]];
        }
        for (int i = 0; i < n && held_index >= 0; ++i) {
            if (i != held_index) delta[i] += damped[i * n + held_index] * p->x[FIT_IMU_DELAY];
            damped[i * n + held_index] = damped[held_index * n + i] = i == held_index ? 1.0 : 0.0;
        }
        if (held_index >= 0) delta[held_index] = -p->x[FIT_IMU_DELAY];
        if (!vy_linear_cholesky(damped, n)) return 0;
        vy_linear_solve(damped, n, delta);
        memcpy(x, p->x, N * sizeof *x);
        for (int i = 0; i < n; ++i) x[equations->ids[i]] += real_clamp(delta[i], -1.0, 1.0);
        if (held_index >= 0) x[FIT_IMU_DELAY] = 0.0;
        const int is_below =
            p->x[FIT_IMU_DELAY] < 0.0 || (p->x[FIT_IMU_DELAY] == 0.0 && p->filter->differences_below);
        if (held_index >= 0 || (is_below ? x[FIT_IMU_DELAY] <= 0.0 : x[FIT_IMU_DELAY] >= 0.0)) return 1;
        for (int i = 0; i < n; ++i) held_index = equations->ids[i] == FIT_IMU_DELAY ? i : held_index;
    }
    return 0;
}

// Levenberg and Marquardt's steps. `ridge` holds all numbers near the base, as an inverse variance.
//
// The likelihood has an edge at an IMU delay of 0: with less than that a command acts on the sample of its
// own row, and a controller made the command from that sample, noise and all. So neither side's slopes hold
// on the other, and on the edge both sides are tried.
static int levenberg_marquardt(fit_problem *p, double ridge, double tolerance)
{
    fit_normal_equations equations;
    double damping = 1e-4;
    int sides_tried = 0;
    p->filter->differences_below = 0;
    for (int step = 0; step < STEPS_MAX; ++step) {
        vy_filter_linearise(p->filter, p->x, p->active, &equations);
        p->iterations += 1;
        if (equations.n == 0) return 1;
        if (!real_is_finite(equations.cost)) return 0;
        const double cost = equations.cost + ridge_cost(p, p->x, ridge);
        int is_accepted = 0;
        double decrease = 0.0;
        for (int attempt = 0; attempt < 8 && !is_accepted; ++attempt) {
            double x[N];
            if (take_step(p, &equations, ridge, damping, x)) {
                decrease = cost - vy_filter_cost(p->filter, x, p->filter->noise) - ridge_cost(p, x, ridge);
                is_accepted = decrease >= 0.0;
            }
            damping = is_accepted ? damping * 0.1 : damping * 10.0;
            if (is_accepted) memcpy(p->x, x, sizeof x);
            if (!is_accepted && decrease > -tolerance && decrease < 0.0) break; // at the top already
        }
        if (p->x[FIT_IMU_DELAY] != 0.0) sides_tried = 0;
        if (is_accepted && decrease >= tolerance) continue;
        if (!p->active[FIT_IMU_DELAY] || p->x[FIT_IMU_DELAY] != 0.0 || ++sides_tried == 2) break;
        p->filter->differences_below = !p->filter->differences_below;
        damping = 1e-4;
    }
    p->filter->differences_below = 0;
    return 1;
}

static void choose_identifiable(fit_problem *p)
{
    fit_normal_equations equations;
    (void)vy_fit_drop_offsets(p);
    vy_filter_linearise(p->filter, p->x, p->active, &equations);
    while (vy_fit_fix_one(p, equations.ids, equations.n, equations.normal))
        vy_filter_linearise(p->filter, p->x, p->active, &equations);
}

static int refine(fit_problem *p)
{
    p->combination_count = 0;
    memset(p->unobservable, 0, sizeof p->unobservable);
    vy_fit_choose_candidates(p);
    int ok = vy_filter_estimate_noise(p->filter, p->x, NOISE_STEPS) &&
             levenberg_marquardt(p, 1.0, COARSE_TOLERANCE);
    for (int round = 0; round < IDENTIFY_ROUNDS && ok; ++round) {
        ok = vy_filter_estimate_noise(p->filter, p->x, NOISE_STEPS);
        if (ok) choose_identifiable(p);
        ok = ok && levenberg_marquardt(p, 0.0, COARSE_TOLERANCE);
    }
    return ok && levenberg_marquardt(p, 0.0, FINE_TOLERANCE);
}

vy_status vy_fit_problem_refine(fit_problem *p, vy_error *err)
{
    const double from = p->data->time[p->first_rows[0]],
                 to = p->data->time[p->first_rows[p->count - 1]] + p->horizon;
    p->filter = calloc(1, sizeof *p->filter);
    if (p->filter == NULL) return vy_fail(err, VY_NO_MEMORY, "no memory for a fit");
    const vy_status status = vy_filter_make(p->data, &p->base, from, to, p->filter, err);
    if (status != VY_OK) {
        free(p->filter);
        p->filter = NULL;
        return status;
    }
    if (!refine(p))
        return vy_fail(err, VY_NO_CONVERGENCE,
                       "no noise and no gusts make this flight likely: are the units and the times right?");
    return VY_OK;
}
