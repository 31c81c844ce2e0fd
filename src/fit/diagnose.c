// diagnose.c - what is left of the errors after a fit, and what that says of the model.
#include "base/math.h"
#include "fit/solve.h"
#include <stdio.h>
#include <stdlib.h>

// What there is to predict of a channel in a row: how it differs from where the prediction starts; of
// specific force from its mean over the flight.
static double signal_at(const fit_data *d, int channel, size_t row, size_t first_row, double mean)
{
    const vy_flight *f = d->flight;
    const int a = channel % 3;
    switch (channel - a) {
    case CHANNEL_RATE: return f->values[VY_FLIGHT_RATE + a][row] - f->values[VY_FLIGHT_RATE + a][first_row];
    case CHANNEL_ACCEL: return f->values[VY_FLIGHT_ACCEL + a][row] - mean;
    case CHANNEL_VELOCITY:
        return f->values[VY_FLIGHT_VELOCITY + a][row] - f->values[VY_FLIGHT_VELOCITY + a][first_row];
    default: {
        const quat rotation = quat_mul(quat_conj(d->attitude[first_row]), d->attitude[row]);
        const double vector_part[3] = {rotation.x, rotation.y, rotation.z};
        return 2.0 * vector_part[a];
    }
    }
}

static double mean_accel(const fit_data *d, int axis)
{
    const double *x = d->flight->values[VY_FLIGHT_ACCEL + axis];
    double sum = 0.0, count = 0.0;
    for (size_t i = 0; x != NULL && i < d->rows; ++i) {
        if (x[i] == x[i]) sum += x[i], count += 1.0;
    }
    return count > 0.0 ? sum / count : 0.0;
}

// Sums for the slope of y over x, both less their means.
typedef struct regression {
    double n, x, y, xx, xy;
} regression;
static void regression_add(regression *sums, double x, double y)
{
    sums->n += 1.0;
    sums->x += x;
    sums->y += y;
    sums->xx += x * x;
    sums->xy += x * y;
}
static double regression_slope(const regression *sums)
{
    const double x_variation = sums->xx - sums->x * sums->x / sums->n;
    return x_variation > 1e-9 ? (sums->xy - sums->x * sums->y / sums->n) / x_variation : 0.0;
}

static void fill_channel(const fit_data *d, const fit_problem *q, const double *errors, int channel,
                         vy_fit_channel *out)
{
    double square_sum = 0.0, signal_sum = 0.0, signal_count = 0.0;
    regression drift = {0}, airspeed_slope[3] = {{0}};
    const double mean = channel / 3 == CHANNEL_ACCEL / 3 ? mean_accel(d, channel % 3) : 0.0;
    for (int k = 0; k < q->count; ++k) {
        double mean_error = 0.0;
        for (int b = 0; b < FIT_BINS; ++b) {
            const double e = errors[(k * CHANNEL_COUNT + channel) * FIT_BINS + b];
            square_sum += e * e;
            mean_error += e / FIT_BINS;
        }
        const vec3 v = quat_unrotate(d->attitude[q->first_rows[k]], d->velocity[q->first_rows[k]]);
        regression_add(&drift, d->time[q->first_rows[k]], mean_error);
        for (int a = 0; a < 3; ++a) regression_add(&airspeed_slope[a], (&v.x)[a], mean_error);
        for (size_t i = q->first_rows[k]; i < d->rows && d->time[i] <= d->time[q->first_rows[k]] + q->horizon;
             ++i) {
            const double s = signal_at(d, channel, i, q->first_rows[k], mean);
            if (s == s) signal_sum += s * s, signal_count += 1.0;
        }
    }
    out->rms = real_sqrt(square_sum / (q->count * FIT_BINS));
    out->signal = real_sqrt(signal_sum / real_max(signal_count, 1.0));
    out->drift = regression_slope(&drift);
    for (int a = 0; a < 3; ++a) out->slope[a] = d->has_attitude ? regression_slope(&airspeed_slope[a]) : 0.0;
}

// One sentence, about what is left most.
static void describe_missing(const fit_data *d, vy_fit_result *out)
{
    static const char *const hints[CHANNEL_COUNT] = {"unequal motors, gusts or a moment that the model lacks",
                                                     "unequal motors, gusts or a moment that the model lacks",
                                                     "rotor torque that is no share of thrust",
                                                     "drag that is not linear, or wind",
                                                     "drag that is not linear, or wind",
                                                     "thrust that changes with airspeed, height or battery",
                                                     "rates that the gyroscope does not show",
                                                     "rates that the gyroscope does not show",
                                                     "rates that the gyroscope does not show",
                                                     "wind, or drag that is not linear",
                                                     "wind, or drag that is not linear",
                                                     "thrust that changes with airspeed, height or battery"};
    int worst_channel = -1;
    double worst_share = 0.0;
    for (int c = 0; c < CHANNEL_COUNT; ++c) {
        const vy_fit_channel *k = &out->channels[c];
        const double error_share = k->present && k->signal > 0.0 ? k->rms / k->signal : 0.0;
        if (error_share > worst_share) worst_share = error_share, worst_channel = c;
    }
    const vy_fit_channel *vertical = &out->channels[CHANNEL_ACCEL + 2];
    const double accel_drop =
        vertical->present ? vertical->drift * (d->time[d->rows - 1] - out->def.from) : 0.0;
    if (accel_drop < -0.3) {
        snprintf(out->missing, sizeof out->missing,
                 "specific force along z falls by %.2g m/s^2 over the flight at equal commands: a battery "
                 "that empties is "
                 "missing",
                 -accel_drop);
    } else if (worst_channel >= 0) {
        snprintf(out->missing, sizeof out->missing,
                 "most is left of %s: errors of %.2g %s where %.2g %s was there to predict; such errors come "
                 "from %s",
                 out->channels[worst_channel].name, out->channels[worst_channel].rms,
                 out->channels[worst_channel].unit, out->channels[worst_channel].signal,
                 out->channels[worst_channel].unit, hints[worst_channel]);
    }
}

void vy_fit_diagnose(const fit_data *d, fit_problem *p, vy_fit_result *out)
{
    static const char *const names[4] = {"rate", "specific force", "attitude", "velocity"};
    static const char *const units[4] = {"rad/s", "m/s^2", "rad", "m/s"};
    fit_problem held_out_problem;
    const fit_point point = vy_fit_at(&p->base, p->x);
    const double end_time = d->time[d->rows - 1];
    const int has_held_out = vy_fit_problem_make(d, &p->base, out->def.to, end_time, p->horizon, p->aim,
                                                 &held_out_problem, NULL) == VY_OK;
    fit_problem *problem = has_held_out ? &held_out_problem : p;
    double *errors = has_held_out ? held_out_problem.errors : p->trial;
    vy_fit_predict(d, &point, &problem->packs, &problem->rotors[0], problem->first_rows, problem->count,
                   problem->horizon, errors);
    for (int c = 0; c < CHANNEL_COUNT; ++c) {
        vy_fit_channel *channel = &out->channels[c];
        snprintf(channel->name, sizeof channel->name, "%s %c", names[c / 3], 'x' + c % 3);
        snprintf(channel->unit, sizeof channel->unit, "%s", units[c / 3]);
        channel->present = d->is_present[c];
        if (channel->present) fill_channel(d, problem, errors, c, channel);
    }
    describe_missing(d, out);
    if (has_held_out) vy_fit_problem_free(&held_out_problem);
}
