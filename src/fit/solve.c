// solve.c - the least squares of a fit.
#include "fit/solve.h"
#include "base/assert.h"
#include "base/fail.h"
#include "base/math.h"
#include "fit/linear.h"
#include <stdio.h>
#include <stdlib.h>

enum {
    N = FIT_PARAMETER_COUNT,
    ERRORS_PER_PREDICTION = CHANNEL_COUNT * FIT_BINS, // errors of a prediction
    PREDICTIONS_MIN = 24,
    STEPS_MAX = 30,
};

#define WARM_UP               0.5  // [s] after which rotors have forgotten at which speed they started
#define DIFFERENCE            1e-5 // of a parameter, for slopes
#define DISTURBANCE_INFLATION 30.0 // of errors that look like a disturbance
#define COARSE_TOLERANCE      1e-4 // of the steps whose weights are changed after them
#define FINE_TOLERANCE        1e-8
#define OFFSET_MAX            3.0 // of an instrument, in its scale
#define IDENTIFIABLE_DEVIATION \
    0.5 // deviation of a combination of parameters above which the data do not tell it

void vy_fit_problem_free(fit_problem *p)
{
    for (int i = 0; i < ROTOR_VARIANTS; ++i) vy_fit_rotors_free(&p->rotors[i]);
    vy_fit_packs_free(&p->packs);
    free(p->first_rows);
    free(p->errors);
    free(p->trial);
    free(p->slopes);
    free(p->points);
    if (p->filter != NULL) vy_filter_free(p->filter);
    free(p->filter);
}

void vy_fit_choose_candidates(fit_problem *p)
{
    const vy_vehicle_def *v = &p->base.vehicle;
    const vec3 drag = v->drag_linear;
    for (int i = 0; i < N; ++i) p->active[i] = 1;
    p->active[FIT_TORQUE] = v->torque_coef > 0.0;
    p->active[FIT_ROTOR_DRAG] = v->rotor_air.drag > 0.0;
    if (p->active[FIT_ROTOR_DRAG] && drag.x == 0.0 && drag.y == 0.0)
        p->active[FIT_DRAG_X] = p->active[FIT_DRAG_Y] = 0;
    // What nothing was recorded of.
    const fit_data *d = p->data;
    const int has_air = vy_fit_has_air(d);
    for (int i = FIT_DRAG_X; i <= FIT_ROTOR_DRAG; ++i) p->unobservable[i] = !has_air;
    p->unobservable[FIT_CENTRE_Z] = !has_air;
    p->unobservable[FIT_POSE_DELAY] = !d->has_attitude;
    for (int a = 0; a < 3; ++a) {
        p->unobservable[FIT_ACCEL_X + a] = !d->is_present[CHANNEL_ACCEL + a];
        p->unobservable[FIT_GYRO_X + a] = !d->has_attitude;
    }
    p->unobservable[FIT_ACCEL_DELAY] = !d->is_present[CHANNEL_ACCEL] && !d->is_present[CHANNEL_ACCEL + 1] &&
                                       !d->is_present[CHANNEL_ACCEL + 2];
    for (int i = 0; i < N; ++i) p->active[i] = p->active[i] && !p->unobservable[i];
    if (p->aim == VY_FIT_FOR_PREDICTION) p->active[FIT_ACCEL_DELAY] = 0;
    if (!p->data->has_commands)
        p->active[FIT_LAG_UP] = p->active[FIT_LAG_DOWN] = p->active[FIT_IMU_DELAY] = 0;
}

vy_status vy_fit_problem_make(const fit_data *d, const fit_point *base, double from, double to,
                              double horizon, vy_fit_aim aim, fit_problem *out, vy_error *err)
{
    memset(out, 0, sizeof *out);
    out->aim = aim;
    out->data = d;
    out->base = *base;
    out->horizon = horizon;
    out->first_rows = calloc(d->rows, sizeof *out->first_rows);
    if (out->first_rows == NULL) return vy_fail(err, VY_NO_MEMORY, "no memory for a fit");
    double next_start = real_max(from, d->time[0] + WARM_UP);
    const double *attitude_w = d->has_attitude ? d->flight->values[VY_FLIGHT_ATTITUDE] : NULL;
    for (size_t i = 0; i < d->rows && d->time[i] + horizon <= to + 1e-9; ++i) {
        if (d->time[i] < next_start - 1e-9 || (attitude_w != NULL && !(attitude_w[i] == attitude_w[i])))
            continue;
        out->first_rows[out->count++] = i;
        next_start = d->time[i] + horizon;
    }
    const double available = to - from;
    if (out->count < PREDICTIONS_MIN) {
        vy_fit_problem_free(out);
        return vy_fail(err, VY_BAD_VALUE,
                       "the flight is too short to tell: %.3g s to fit on, and %.3g s are needed", available,
                       PREDICTIONS_MIN * horizon + WARM_UP);
    }
    const size_t size = (size_t)out->count * ERRORS_PER_PREDICTION;
    out->errors = calloc(size, sizeof *out->errors);
    out->trial = calloc(size, sizeof *out->trial);
    out->slopes = calloc(size * N, sizeof *out->slopes);
    out->points = calloc(FIT_POINTS_MAX, sizeof *out->points);
    int ok = out->errors != NULL && out->trial != NULL && out->slopes != NULL && out->points != NULL &&
             vy_fit_packs_make(vy_fit_lanes(), &out->packs);
    for (int i = 0; i < ROTOR_VARIANTS; ++i) ok = ok && vy_fit_rotors_make(d, &out->rotors[i]);
    if (!ok) {
        vy_fit_problem_free(out);
        return vy_fail(err, VY_NO_MEMORY, "no memory for a fit");
    }
    vy_fit_choose_candidates(out);
    return VY_OK;
}

static void predict(fit_problem *p, const double *x, double *out)
{
    const fit_point point = vy_fit_at(&p->base, x);
    vy_fit_predict(p->data, &point, &p->packs, &p->rotors[0], p->first_rows, p->count, p->horizon, out);
}

static void whiten(const fit_problem *p, double *errors)
{
    for (int k = 0; k < p->count; ++k) {
        for (int c = 0; c < CHANNEL_COUNT; ++c) {
            if (p->data->is_present[c])
                vy_linear_whiten(p->factor[c], FIT_BINS, errors + (k * CHANNEL_COUNT + c) * FIT_BINS);
        }
    }
}

static double sum_of_squares(const double *x, size_t count)
{
    double sum = 0.0;
    for (size_t i = 0; i < count; ++i) sum += x[i] * x[i];
    return sum;
}

static size_t size_of(const fit_problem *p) { return (size_t)p->count * ERRORS_PER_PREDICTION; }

// What turns the same commands into other speeds of the rotors.
static int rotor_variant_of(int id)
{
    static const int ids[ROTOR_VARIANTS - 1] = {FIT_THRUST_LINEAR, FIT_LAG_UP, FIT_LAG_DOWN, FIT_IMU_DELAY};
    for (int i = 0; i < ROTOR_VARIANTS - 1; ++i) {
        if (ids[i] == id) return i + 1;
    }
    return 0;
}

// Predictions at x (id -1) or with one parameter moved, as point `index` of those that fly side by side.
static void set_point(fit_problem *p, int id, int index)
{
    double x[N];
    memcpy(x, p->x, sizeof x);
    if (id >= 0) x[id] += DIFFERENCE;
    const int variant = rotor_variant_of(id);
    p->points[index] = vy_fit_at(&p->base, x);
    if (index == 0 || variant > 0) vy_fit_rotors_run(p->data, &p->points[index], &p->rotors[variant]);
}

// Errors at x, white, and their slopes over each active parameter.
static void linearise(fit_problem *p)
{
    const size_t size = size_of(p);
    const fit_point *points[FIT_POINTS_MAX];
    const fit_rotors *rotors[FIT_POINTS_MAX];
    double *errors[FIT_POINTS_MAX];
    int count = 0;
    for (int id = -1; id < N; ++id) {
        if (id >= 0 && !p->active[id]) continue;
        set_point(p, id, count);
        points[count] = &p->points[count];
        rotors[count] = &p->rotors[rotor_variant_of(id)];
        errors[count++] = id < 0 ? p->errors : p->slopes + (size_t)id * size;
    }
    vy_fit_packs_load(p->data, points, rotors, count, &p->packs);
    vy_fit_packs_predict(p->data, &p->packs, p->first_rows, p->count, p->horizon, errors);
    for (int i = 1; i < count; ++i) {
        for (size_t k = 0; k < size; ++k) errors[i][k] = (errors[i][k] - p->errors[k]) / DIFFERENCE;
        whiten(p, errors[i]);
    }
    whiten(p, p->errors);
}

static double dot(const double *a, const double *b, size_t count)
{
    double sum = 0.0;
    for (size_t i = 0; i < count; ++i) sum += a[i] * b[i];
    return sum;
}

// The active parameters, and the normal matrix of their slopes.
static int normal_matrix(const fit_problem *p, int *ids, double *a)
{
    const size_t size = size_of(p);
    int n = 0;
    for (int i = 0; i < N; ++i) {
        if (p->active[i]) ids[n++] = i;
    }
    for (int r = 0; r < n; ++r) {
        for (int c = 0; c <= r; ++c)
            a[r * n + c] = a[c * n + r] =
                dot(p->slopes + (size_t)ids[r] * size, p->slopes + (size_t)ids[c] * size, size);
    }
    return n;
}

// How far x is from what was known before.
static double prior_cost(const double *prior, const double *x)
{
    double sum = 0.0;
    for (int i = 0; i < N; ++i) sum += prior[i] * x[i] * x[i];
    return sum;
}

// Levenberg and Marquardt's steps until nothing changes. `ridge` holds all numbers near the base, as an
// inverse variance. `tolerance` is the share of the errors below which a step is not worth another.
static int levenberg_marquardt(fit_problem *p, double ridge, double tolerance)
{
    double prior[N];
    for (int i = 0; i < N; ++i) prior[i] = real_max(ridge, vy_fit_prior(i));
    const size_t size = size_of(p);
    double damping = 1e-3;
    for (int step = 0; step < STEPS_MAX; ++step) {
        int ids[N];
        double normal[N * N], gradient[N];
        linearise(p);
        p->iterations += 1;
        const int n = normal_matrix(p, ids, normal);
        if (n == 0) return 1;
        const double cost = sum_of_squares(p->errors, size) + prior_cost(prior, p->x);
        if (!real_is_finite(cost)) return 0;
        for (int i = 0; i < n; ++i)
            gradient[i] =
                dot(p->slopes + (size_t)ids[i] * size, p->errors, size) + prior[ids[i]] * p->x[ids[i]];
        int is_accepted = 0;
        double largest_change = 0.0, decrease = 0.0;
        for (int attempt = 0; attempt < 12 && !is_accepted; ++attempt) {
            double damped[N * N], delta[N], x[N];
            memcpy(damped, normal, sizeof damped);
            for (int i = 0; i < n; ++i) {
                damped[i * n + i] += prior[ids[i]] + damping * (normal[i * n + i] + prior[ids[i]]) + 1e-12;
                delta[i] = -gradient[i];
            }
            memcpy(x, p->x, sizeof x);
            if (vy_linear_cholesky(damped, n)) {
                vy_linear_solve(damped, n, delta);
                largest_change = 0.0;
                for (int i = 0; i < n; ++i) {
                    x[ids[i]] += real_clamp(delta[i], -1.0, 1.0);
                    largest_change = real_max(largest_change, real_abs(delta[i]));
                }
                predict(p, x, p->trial);
                whiten(p, p->trial);
                const double trial_cost = sum_of_squares(p->trial, size) + prior_cost(prior, x);
                is_accepted = trial_cost <= cost;
                decrease = cost - trial_cost;
            }
            damping = is_accepted ? damping * 0.1 : damping * 10.0;
            if (is_accepted) memcpy(p->x, x, sizeof x);
        }
        if (!is_accepted || largest_change < 1e-6 || decrease < tolerance * cost) break;
    }
    return 1;
}

// In closed loop a torque from outside that lasts is answered by the motors, so it is correlated with what
// they do, and a fit that trusted it would take the vehicle for a heavier one. A constant torque is a ramp of
// the rate over a horizon: that shape of the errors counts as DISTURBANCE_INFLATION times as uncertain as it
// is.
static void inflate_disturbances(int channel, double *a)
{
    double shape[FIT_BINS], shape_square = 0.0, variance = 0.0;
    if (channel / 3 == CHANNEL_ACCEL / 3) return;
    for (int i = 0; i < FIT_BINS; ++i) {
        const double t = (i + 0.5) / FIT_BINS;
        shape[i] = channel / 3 == CHANNEL_ATTITUDE / 3 ? t * t : t;
        shape_square += shape[i] * shape[i];
    }
    for (int i = 0; i < FIT_BINS; ++i) {
        for (int j = 0; j < FIT_BINS; ++j)
            variance += shape[i] * a[i * FIT_BINS + j] * shape[j] / shape_square;
    }
    for (int i = 0; i < FIT_BINS; ++i) {
        for (int j = 0; j < FIT_BINS; ++j)
            a[i * FIT_BINS + j] +=
                (DISTURBANCE_INFLATION - 1.0) * variance * shape[i] * shape[j] / shape_square;
    }
}

// The same weight for each moment of a channel: one over the mean square of its errors.
static int uniform_weights(fit_problem *p)
{
    predict(p, p->x, p->errors);
    for (int c = 0; c < CHANNEL_COUNT; ++c) {
        double sum = 1e-24;
        for (int k = 0; k < p->count; ++k)
            sum += sum_of_squares(p->errors + (k * CHANNEL_COUNT + c) * FIT_BINS, FIT_BINS);
        for (int i = 0; i < FIT_BINS * FIT_BINS; ++i)
            p->factor[c][i] = i % (FIT_BINS + 1) == 0 ? sum / (p->count * FIT_BINS) : 0.0;
        if (p->aim == VY_FIT_FOR_PARAMETERS) inflate_disturbances(c, p->factor[c]);
        if (!vy_linear_cholesky(p->factor[c], FIT_BINS)) return 0;
    }
    return 1;
}

// The covariance of a channel's errors over a horizon, from all predictions, drawn a little towards its
// diagonal.
static int covariance_weights(fit_problem *p)
{
    if (p->aim == VY_FIT_FOR_PREDICTION) return uniform_weights(p);
    predict(p, p->x, p->errors);
    const double shrinkage = (double)FIT_BINS / (FIT_BINS + p->count);
    for (int c = 0; c < CHANNEL_COUNT; ++c) {
        double *a = p->factor[c], trace = 0.0;
        if (!p->data->is_present[c]) continue;
        memset(a, 0, sizeof p->factor[c]);
        for (int k = 0; k < p->count; ++k) {
            const double *e = p->errors + (k * CHANNEL_COUNT + c) * FIT_BINS;
            for (int i = 0; i < FIT_BINS; ++i) {
                for (int j = 0; j < FIT_BINS; ++j) a[i * FIT_BINS + j] += e[i] * e[j] / p->count;
            }
        }
        for (int i = 0; i < FIT_BINS; ++i) trace += a[i * FIT_BINS + i];
        for (int i = 0; i < FIT_BINS; ++i) {
            for (int j = 0; j < FIT_BINS; ++j) {
                if (i != j) a[i * FIT_BINS + j] *= 1.0 - shrinkage;
            }
            a[i * FIT_BINS + i] += 1e-6 * trace / FIT_BINS + 1e-24;
        }
        inflate_disturbances(c, a);
        if (!vy_linear_cholesky(a, FIT_BINS)) return 0;
    }
    return 1;
}

// "a, b and c".
static void name_list(char *out, size_t size, const int *ids, int count)
{
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; i < count && used + 1 < size; ++i) {
        const char *separator = i == 0 ? "" : i + 1 == count ? " and " : ", ";
        const int written =
            snprintf(out + used, size - used, "%s%s", separator, vy_fit_parameters[ids[i]].name);
        if (written > 0) used += (size_t)written;
    }
}

static void name_combination(fit_problem *p, int fixed_id, const double *vector, const int *ids, int n)
{
    int combined[N], count = 0;
    char names[VY_FIT_TEXT_CAP - 60];
    for (int i = 0; i < n; ++i) {
        if (ids[i] == fixed_id || vector[i] * vector[i] > 0.04) combined[count++] = ids[i];
    }
    if (p->combination_count == VY_FIT_COMBINATION_CAP) return;
    char *out = p->combinations[p->combination_count++];
    name_list(names, sizeof names, combined, count);
    snprintf(out, VY_FIT_TEXT_CAP,
             count > 1 ? "%s cannot be told apart: %s stays as in the base" : "%s does not show", names,
             vy_fit_parameters[fixed_id].name);
}

int vy_fit_fix_one(fit_problem *p, const int *ids, int n, double *normal)
{
    double values[N], vectors[N * N];
    if (n == 0) return 0;
    for (int i = 0; i < n; ++i) { // a parameter without any trace in the data
        if (normal[i * n + i] > 1e-12) continue;
        p->active[ids[i]] = 0;
        p->unobservable[ids[i]] = 1;
        p->x[ids[i]] = 0.0;
        return 1;
    }
    vy_linear_eigen(normal, n, values, vectors);
    if (values[0] > 1.0 / (IDENTIFIABLE_DEVIATION * IDENTIFIABLE_DEVIATION)) return 0;
    int fixed = 0;
    double max_weight = -1.0;
    for (int i = 0; i < n; ++i) {
        const double weight = real_abs(vectors[i]) * vy_fit_parameters[ids[i]].fix_priority;
        if (vectors[i] * vectors[i] > 0.04 && weight > max_weight) max_weight = weight, fixed = i;
    }
    name_combination(p, ids[fixed], vectors, ids, n);
    p->active[ids[fixed]] = 0;
    p->x[ids[fixed]] = 0.0;
    return 1;
}

int vy_fit_drop_offsets(fit_problem *p)
{
    int dropped = 0;
    for (int i = FIT_ACCEL_X; i <= FIT_GYRO_Z; ++i) {
        if (!p->active[i] || real_abs(p->x[i]) < OFFSET_MAX) continue;
        if (p->combination_count < VY_FIT_COMBINATION_CAP)
            snprintf(p->combinations[p->combination_count++], VY_FIT_TEXT_CAP,
                     "%s would have to be %.3g %s, which no instrument has: it stays 0",
                     vy_fit_parameters[i].name, p->x[i] * vy_fit_scale(i, &p->base),
                     vy_fit_parameters[i].unit);
        p->active[i] = 0;
        p->x[i] = 0.0;
        dropped = 1;
    }
    return dropped;
}

// Leave out what the data do not tell.
static void choose_identifiable(fit_problem *p)
{
    int ids[N], n = 0;
    double a[N * N];
    (void)vy_fit_drop_offsets(p);
    linearise(p);
    do {
        n = normal_matrix(p, ids, a);
    } while (vy_fit_fix_one(p, ids, n, a));
}

vy_status vy_fit_problem_solve(fit_problem *p, vy_error *err)
{
    int ok = uniform_weights(p) && levenberg_marquardt(p, 1.0, COARSE_TOLERANCE) && covariance_weights(p) &&
             levenberg_marquardt(p, 0.25, COARSE_TOLERANCE) && covariance_weights(p);
    for (int round = 0; round < 2 && ok; ++round) {
        choose_identifiable(p);
        ok = levenberg_marquardt(p, 0.0, COARSE_TOLERANCE) && covariance_weights(p);
    }
    if (ok && vy_fit_drop_offsets(p))
        ok = levenberg_marquardt(p, 0.0, COARSE_TOLERANCE) && covariance_weights(p);
    if (ok) ok = levenberg_marquardt(p, 0.0, FINE_TOLERANCE);
    if (!ok)
        return vy_fail(err, VY_NO_CONVERGENCE,
                       "no vehicle near the base flies like this: are the units, the order of the "
                       "motors and the base right?");
    int active_count = 0;
    for (int i = 0; i < N; ++i) active_count += p->active[i];
    if (active_count == 0) return vy_fail(err, VY_BAD_VALUE, "the flight tells nothing: it hardly moves");
    return VY_OK;
}

// The normal matrix at x, and the scores of each part of the flight.
static void sum_predictions(fit_problem *p, fit_normal_equations *out)
{
    const size_t size = size_of(p);
    linearise(p);
    out->n = normal_matrix(p, out->ids, out->normal);
    for (int b = 0; b < FIT_BLOCKS; ++b) {
        const size_t first_error = (size_t)(p->count * b / FIT_BLOCKS) * ERRORS_PER_PREDICTION;
        const size_t end_error = (size_t)(p->count * (b + 1) / FIT_BLOCKS) * ERRORS_PER_PREDICTION;
        for (int i = 0; i < out->n; ++i) {
            const double *slope = p->slopes + (size_t)out->ids[i] * size + first_error;
            out->scores[b][i] = dot(slope, p->errors + first_error, end_error - first_error);
            for (int k = 0; k <= i; ++k)
                out->block_normals[b][i * out->n + k] = out->block_normals[b][k * out->n + i] =
                    dot(slope, p->slopes + (size_t)out->ids[k] * size + first_error, end_error - first_error);
        }
    }
}

static vy_status fail_without_interval(vy_error *err)
{
    return vy_fail(err, VY_NO_CONVERGENCE,
                   "no vehicle predicts this flight: are units, the mass and the order of motors right?");
}

vy_status vy_fit_problem_covariance(fit_problem *p, double *out, vy_error *err)
{
    static const fit_normal_equations empty;
    fit_normal_equations equations = empty;
    double inverse[N * N], *a = equations.normal;
    if (p->filter != NULL)
        vy_filter_linearise(p->filter, p->x, p->active, &equations);
    else
        sum_predictions(p, &equations);
    const int n = equations.n, *ids = equations.ids;
    memset(out, 0, N * N * sizeof *out);
    for (int i = 0; i < n; ++i) a[i * n + i] += vy_fit_prior(ids[i]);
    double factor[N * N];
    memcpy(factor, a, sizeof factor);
    if (!vy_linear_cholesky(factor, n)) return fail_without_interval(err);
    vy_linear_inverse(factor, n, inverse);
    // What is known of offsets before the flight is as uncertain as it says.
    for (int i = 0; i < n; ++i) {
        for (int k = 0; k < n; ++k) {
            for (int r = 0; r < n; ++r)
                out[ids[i] * N + ids[k]] += inverse[i * n + r] * vy_fit_prior(ids[r]) * inverse[r * n + k];
        }
    }
    // The slopes are 0 at the optimum, but for a delay that is on the edge of the likelihood.
    double slope[N], full_step[N];
    for (int i = 0; i < n; ++i) {
        slope[i] = vy_fit_prior(ids[i]) * p->x[ids[i]];
        for (int b = 0; b < FIT_BLOCKS; ++b) slope[i] += equations.scores[b][i];
    }
    memcpy(full_step, slope, sizeof full_step);
    vy_linear_solve(factor, n, full_step);
    for (int b = 0; b < FIT_BLOCKS; ++b) { // the step to where the fit without this part would be
        double normal_without[N * N], step[N];
        for (int i = 0; i < n * n; ++i) normal_without[i] = a[i] - equations.block_normals[b][i];
        for (int i = 0; i < n; ++i) step[i] = equations.scores[b][i] - slope[i];
        // What this part alone tells then goes very far: its interval is as wide as that.
        for (int i = 0; i < n; ++i) normal_without[i * n + i] += 1e-9 * a[i * n + i];
        if (!vy_linear_cholesky(normal_without, n)) return fail_without_interval(err);
        vy_linear_solve(normal_without, n, step);
        for (int i = 0; i < n; ++i) step[i] += full_step[i];
        for (int i = 0; i < n; ++i) {
            for (int k = 0; k < n; ++k)
                out[ids[i] * N + ids[k]] += step[i] * step[k] * (FIT_BLOCKS - 1) / FIT_BLOCKS;
        }
    }
    return VY_OK;
}
