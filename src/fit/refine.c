// refine.c - from predictions over short horizons to the likelihood of the whole flight.
#include "base/fail.h"
#include "base/math.h"
#include "fit/linear.h"
#include "fit/solve.h"
#include <stdlib.h>

enum { N = FIT_PARAMETER_COUNT, STEPS_MAX = 12, NOISE_STEPS = 8, ROUNDS = 2 };

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

// Levenberg and Marquardt's steps. `ridge` holds all numbers near the base, as an inverse variance.
static int levenberg_marquardt(fit_problem *p, double ridge, double tolerance)
{
    fit_sums sums;
    double damping = 1e-4;
    for (int step = 0; step < STEPS_MAX; ++step) {
        vy_filter_sums(p->filter, p->x, p->active, &sums);
        p->iterations += 1;
        const int n = sums.n;
        if (n == 0) return 1;
        if (!real_is_finite(sums.cost)) return 0;
        const double cost = sums.cost + ridge_cost(p, p->x, ridge);
        int accepted = 0;
        double decrease = 0.0;
        for (int attempt = 0; attempt < 8 && !accepted; ++attempt) {
            double m[N * N], delta[N], x[N];
            memcpy(m, sums.normal, sizeof m);
            memcpy(x, p->x, sizeof x);
            for (int i = 0; i < n; ++i) {
                const double prior = vy_fit_prior(sums.ids[i]) + ridge;
                m[i * n + i] += prior + damping * (m[i * n + i] + prior) + 1e-12;
                delta[i] = -sums.gradient[i] - prior * p->x[sums.ids[i]];
            }
            if (vy_linear_cholesky(m, n)) {
                vy_linear_solve(m, n, delta);
                for (int i = 0; i < n; ++i) x[sums.ids[i]] += real_clamp(delta[i], -1.0, 1.0);
                decrease = cost - vy_filter_cost(p->filter, x, p->filter->noise) - ridge_cost(p, x, ridge);
                accepted = decrease >= 0.0;
            }
            damping = accepted ? damping * 0.1 : damping * 10.0;
            if (accepted) memcpy(p->x, x, sizeof x);
        }
        if (!accepted || decrease < tolerance) break;
    }
    return 1;
}

static void choose_identifiable(fit_problem *p)
{
    fit_sums sums;
    (void)vy_fit_drop_offsets(p);
    vy_filter_sums(p->filter, p->x, p->active, &sums);
    while (vy_fit_fix_one(p, sums.ids, sums.n, sums.normal))
        vy_filter_sums(p->filter, p->x, p->active, &sums);
}

static int refine(fit_problem *p)
{
    p->combination_count = 0;
    memset(p->unobservable, 0, sizeof p->unobservable);
    vy_fit_choose_candidates(p);
    int ok = vy_filter_estimate_noise(p->filter, p->x, NOISE_STEPS) &&
             levenberg_marquardt(p, 1.0, COARSE_TOLERANCE);
    for (int round = 0; round < ROUNDS && ok; ++round) {
        ok = vy_filter_estimate_noise(p->filter, p->x, NOISE_STEPS);
        if (ok) choose_identifiable(p);
        ok = ok && levenberg_marquardt(p, 0.0, COARSE_TOLERANCE);
    }
    return ok && levenberg_marquardt(p, 0.0, FINE_TOLERANCE);
}

vy_status vy_fit_problem_refine(fit_problem *p, vy_error *err)
{
    const double from = p->data->time[p->first[0]], to = p->data->time[p->first[p->count - 1]] + p->horizon;
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
