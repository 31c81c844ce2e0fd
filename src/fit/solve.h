// solve.h - the steps of a fit: least squares of predictions over short horizons, then the likelihood of the
// whole flight; what the data can tell, and how surely.
#pragma once
#include "fit/filter.h"

enum { ROTOR_VARIANTS = 5 };

typedef struct fit_problem {
    const fit_data *data;
    fit_point base;
    double horizon;
    vy_fit_aim aim;
    size_t *first_rows;                                // rows in which predictions start
    int count;                                         // of predictions
    int active[FIT_PARAMETER_COUNT];                   // it is fitted, and not left at the base
    int unobservable[FIT_PARAMETER_COUNT];             // nothing was recorded that could tell it
    double x[FIT_PARAMETER_COUNT];                     // by how much each parameter is moved: see vy_fit_at()
    double factor[CHANNEL_COUNT][FIT_BINS * FIT_BINS]; // Cholesky's, of the errors' covariance over a horizon
    fit_point *points;                                 // that fly side by side
    fit_rotors rotors[ROTOR_VARIANTS]; // of a point, and with each of what changes the rotors' speeds moved
    fit_packs packs;
    double *errors, *trial; // of all predictions: at x, and at a point that is tried
    double *slopes;         // FIT_PARAMETER_COUNT times as many
    fit_filter *filter;     // for parameters, once predictions have found a start
    int iterations;
    int combination_count;
    char combinations[VY_FIT_COMBINATION_CAP][VY_FIT_TEXT_CAP];
} fit_problem;

/// Predictions over [from, to] of the flight. Release with vy_fit_problem_free().
vy_status vy_fit_problem_make(const fit_data *d, const fit_point *base, double from, double to,
                              double horizon, vy_fit_aim aim, fit_problem *out, vy_error *err);
void vy_fit_problem_free(fit_problem *p);

/// Find x. What the data do not tell is set to 0, no longer active, and named in `combinations`.
vy_status vy_fit_problem_solve(fit_problem *p, vy_error *err);

/// The covariance of x, FIT_PARAMETER_COUNT squared, 0 for what is not active. Errors of neighbouring
/// predictions may be correlated, so it is the jackknife's: each of FIT_BLOCKS parts of the flight is left
/// out once, by a step of Newton's from x.
vy_status vy_fit_problem_covariance(fit_problem *p, double *out, vy_error *err);

/// Make the whole flight most likely, from x as the predictions have left it. What the data do not tell is
/// decided anew.
vy_status vy_fit_problem_refine(fit_problem *p, vy_error *err);

/// What there may be to find of this vehicle.
void vy_fit_choose_candidates(fit_problem *p);

/// Take the combination that the data tell least, if they do not tell it: one of its parameters stays at the
/// base.
/// @param normal Fisher's information of the `n` parameters `ids`; it is used up
/// @return 0: all are told
int vy_fit_fix_one(fit_problem *p, const int *ids, int n, double *normal);

/// An offset that no instrument has stands for something else: it stays 0.
int vy_fit_drop_offsets(fit_problem *p);

/// Half an interval of 95 % over the standard deviation: Student's t for FIT_BLOCKS - 1 degrees of freedom.
#define FIT_INTERVAL 2.201

/// What is left of the errors in the held-out part (or, without one, in the fitted part), channel by channel,
/// and a sentence on what the model lacks.
void vy_fit_diagnose(const fit_data *d, fit_problem *p, vy_fit_result *out);
