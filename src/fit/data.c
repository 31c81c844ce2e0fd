// data.c - a recorded flight made ready for predictions: commands by rotor, a state in every row.
#include "base/assert.h"
#include "base/fail.h"
#include "base/math.h"
#include "fit/model.h"
#include <stdlib.h>

#define COMMAND_MIN     0.02 // no drone flies whose largest command is below
#define VELOCITY_WINDOW 0.06 // [s] on each side, over which positions become a velocity

void vy_fit_data_free(fit_data *d)
{
    free(d->commands);
    free(d->rate);
    free(d->attitude);
    free(d->velocity);
    memset(d, 0, sizeof *d);
}

static int is_recorded(double x) { return x == x; }

static int has_vector(const vy_flight *f, int quantity, int count)
{
    for (int a = 0; a < count; ++a) {
        if (f->values[quantity + a] == NULL) return 0;
    }
    return 1;
}

static int column_count(const vy_flight *f, int quantity)
{
    int count = 0;
    while (count < 8 && f->values[quantity + count] != NULL) ++count;
    return count;
}

// Commands that would not lift anything: they have been divided once too often.
static vy_status check_commands(const fit_data *d, vy_error *err)
{
    double largest_command = 0.0;
    for (size_t i = 0; i < d->rows * (size_t)d->rotors; ++i)
        largest_command = real_max(largest_command, d->commands[i]);
    if (largest_command == 0.0 || largest_command >= COMMAND_MIN) return VY_OK;
    return vy_fail(err, VY_BAD_VALUE,
                   "no motor's command is above %.3g, and 1 is full speed: are the columns 0 to 1 already?",
                   largest_command);
}

static vy_status find_commands(const vy_flight *f, const vy_vehicle_def *v, fit_data *d, vy_error *err)
{
    const int motor_count = column_count(f, VY_FLIGHT_MOTOR), rotor_count = column_count(f, VY_FLIGHT_ROTOR);
    d->rotors = v->rotor_count;
    if (v->rotor_count == 0 || v->thruster_count > 0)
        return vy_fail(err, VY_BAD_VALUE,
                       "a fit is of a vehicle with rotors and without thrusters; %s is none", v->name);
    d->has_commands = motor_count >= d->rotors;
    if (motor_count < d->rotors && rotor_count < d->rotors)
        return vy_fail(err, VY_BAD_VALUE,
                       "the flight has commands of %d motors and speeds of %d rotors, %s has %d rotors",
                       motor_count, rotor_count, v->name, d->rotors);
    for (size_t i = 0; i < f->rows; ++i) {
        for (int k = 0; k < d->rotors; ++k) {
            const double x = f->values[(d->has_commands ? VY_FLIGHT_MOTOR : VY_FLIGHT_ROTOR) + k][i];
            d->commands[i * (size_t)d->rotors + (size_t)k] =
                d->has_commands ? real_clamp(x, 0.0, 1.0) : real_max(x, 0.0);
            if (!d->has_commands && x > 2.0 * v->speed_max)
                return vy_fail(err, VY_BAD_VALUE,
                               "rotor.%d turns at %.4g rad/s, and %s at %.4g at most: is it in rpm?", k, x,
                               v->name, v->speed_max);
        }
    }
    return d->has_commands ? check_commands(d, err) : VY_OK;
}

// Rates: of a row without them those before it.
static vy_status fill_rates(const vy_flight *f, fit_data *d, vy_error *err)
{
    if (!has_vector(f, VY_FLIGHT_RATE, 3))
        return vy_fail(err, VY_BAD_VALUE, "the flight has no body rates; map rate.x, rate.y and rate.z");
    for (size_t i = 0; i < f->rows; ++i) {
        double *values = &d->rate[i].x;
        for (int a = 0; a < 3; ++a) {
            const double x = f->values[VY_FLIGHT_RATE + a][i];
            values[a] = is_recorded(x) ? x : i > 0 ? (&d->rate[i - 1].x)[a] : 0.0;
        }
    }
    return VY_OK;
}

// Attitudes: of a row without one the last, turned by the rates since.
static void fill_attitudes(const vy_flight *f, fit_data *d)
{
    double *const *q = (double *const *)&f->values[VY_FLIGHT_ATTITUDE];
    d->has_attitude = has_vector(f, VY_FLIGHT_ATTITUDE, 4);
    quat last_attitude = quat_identity();
    for (size_t i = 0; i < f->rows; ++i) {
        if (d->has_attitude && is_recorded(q[0][i])) {
            last_attitude = quat_normalize(quat_make(q[0][i], q[1][i], q[2][i], q[3][i]));
        } else if (d->has_attitude && i > 0) {
            const vec3 rotation_vector = vec3_scale(d->time[i] - d->time[i - 1], d->rate[i - 1]);
            last_attitude = quat_normalize(quat_apply_small_rotation(last_attitude, rotation_vector));
        }
        d->attitude[i] = last_attitude;
    }
}

// The velocity at `row`: the slope there of a parabola through the positions around it, by least squares.
static double velocity_at(const fit_data *d, const double *x, size_t row)
{
    double power_sums[5] = {0}, moments[3] = {0};
    size_t first_row = row;
    while (first_row > 0 && d->time[row] - d->time[first_row - 1] <= VELOCITY_WINDOW) --first_row;
    for (size_t i = first_row; i < d->rows && d->time[i] - d->time[row] <= VELOCITY_WINDOW; ++i) {
        if (!is_recorded(x[i])) continue;
        const double t = (d->time[i] - d->time[row]) / VELOCITY_WINDOW;
        double power = 1.0;
        for (int k = 0; k < 5; ++k, power *= t) {
            power_sums[k] += power;
            if (k < 3) moments[k] += power * x[i];
        }
    }
    const mat3 a = {{{power_sums[0], power_sums[1], power_sums[2]},
                     {power_sums[1], power_sums[2], power_sums[3]},
                     {power_sums[2], power_sums[3], power_sums[4]}}};
    if (power_sums[0] < 3.0 || !(mat3_det(a) > 1e-9)) return 0.0;
    return mat3_mul_vec(mat3_inverse(a), vec3_make(moments[0], moments[1], moments[2])).y / VELOCITY_WINDOW;
}

static void fill_velocities(const vy_flight *f, fit_data *d)
{
    d->has_position = has_vector(f, VY_FLIGHT_POSITION, 3);
    d->has_velocity = has_vector(f, VY_FLIGHT_VELOCITY, 3);
    for (size_t i = 0; i < f->rows; ++i) {
        double *values = &d->velocity[i].x;
        for (int a = 0; a < 3; ++a) {
            const double x = d->has_velocity ? f->values[VY_FLIGHT_VELOCITY + a][i] : math_nan();
            if (is_recorded(x)) {
                values[a] = x;
            } else if (d->has_position) {
                values[a] = velocity_at(d, f->values[VY_FLIGHT_POSITION + a], i);
            } else {
                values[a] = i > 0 ? (&d->velocity[i - 1].x)[a] : 0.0;
            }
        }
    }
}

vy_status vy_fit_data_make(const vy_flight *f, const vy_vehicle_def *v, fit_data *out, vy_error *err)
{
    fit_data d = {.flight = f, .rows = f->rows, .time = f->values[VY_FLIGHT_TIME]};
    const size_t n = f->rows;
    memset(out, 0, sizeof *out);
    d.mean_step = d.time[n - 1] / (double)(n - 1);
    d.commands = calloc(n * VY_ROTOR_CAP, sizeof *d.commands);
    d.rate = calloc(n, sizeof *d.rate);
    d.attitude = calloc(n, sizeof *d.attitude);
    d.velocity = calloc(n, sizeof *d.velocity);
    vy_status status = VY_OK;
    if (d.commands == NULL || d.rate == NULL || d.attitude == NULL || d.velocity == NULL)
        status = vy_fail(err, VY_NO_MEMORY, "no memory for a recorded flight");
    if (status == VY_OK) status = find_commands(f, v, &d, err);
    if (status == VY_OK) status = fill_rates(f, &d, err);
    if (status != VY_OK) {
        vy_fit_data_free(&d);
        return status;
    }
    fill_attitudes(f, &d);
    fill_velocities(f, &d);
    for (int a = 0; a < 3; ++a) {
        d.is_present[CHANNEL_RATE + a] = 1;
        d.is_present[CHANNEL_ACCEL + a] = f->values[VY_FLIGHT_ACCEL + a] != NULL;
        d.is_present[CHANNEL_ATTITUDE + a] = d.has_attitude;
        d.is_present[CHANNEL_VELOCITY + a] = d.has_velocity && d.has_attitude;
    }
    *out = d;
    return VY_OK;
}
