// model.c - predictions of a recorded flight by the library's own equations.
#include "fit/model.h"
#include "base/assert.h"
#include "base/math.h"
#include "vehicle/allocation.h"
#include "vehicle/rotor_air.h"
#include "world/build.h"
#include <float.h>
#include <stdlib.h>

#define G 9.80665

void vy_fit_rotors_free(fit_rotors *r)
{
    free(r->speed);
    free(r->mean);
    r->speed = r->mean = NULL;
}

int vy_fit_rotors_make(const fit_data *d, fit_rotors *out)
{
    const size_t count = d->rows * (size_t)d->rotors;
    out->speed = calloc(2 * count, sizeof *out->speed);
    out->mean = calloc(count, sizeof *out->mean);
    if (out->speed != NULL && out->mean != NULL) return 1;
    vy_fit_rotors_free(out);
    return 0;
}

// Speeds were recorded: they are what they are.
static void use_recorded_speeds(const fit_data *d, fit_rotors *out)
{
    const int n = d->rotors;
    for (size_t i = 0; i < d->rows; ++i) {
        const size_t next = i + 1 < d->rows ? i + 1 : i;
        for (int k = 0; k < n; ++k) {
            const double now = d->commands[i * (size_t)n + (size_t)k];
            const size_t at = 2 * i * (size_t)n + (size_t)k;
            out->speed[at] = now;
            out->speed[at + (size_t)n] = out->mean[i * (size_t)n + (size_t)k] =
                0.5 * (now + d->commands[next * (size_t)n + (size_t)k]);
        }
    }
}

// The speeds of all rotors, driven by commands that act `imu_delay` later in the time of the IMU.
typedef struct rotor_playback {
    const fit_data *d;
    motor_params motor;
    double lag_up, lag_down, delay;
    size_t row; // whose commands act
    double now; // [s]
    double speed[ROTOR_CAP], target[ROTOR_CAP];
    double angle[ROTOR_CAP]; // [rad] by which they have turned since the row
} rotor_playback;

static void apply_commands(rotor_playback *p)
{
    const double *u = p->d->commands + p->row * (size_t)p->d->rotors;
    for (int k = 0; k < p->d->rotors; ++k) p->target[k] = motor_speed(&p->motor, u[k]);
}

// When the next commands act; never, behind the last.
static double next_command_time(const rotor_playback *p)
{
    return p->row + 1 < p->d->rows ? p->d->time[p->row + 1] + p->delay : DBL_MAX;
}

// Up to `until`, but without the commands that act from then on.
static void advance(rotor_playback *p, double until)
{
    while (p->now < until) {
        const double change = next_command_time(p), end = change < until ? change : until;
        if (end > p->now) {
            const double rise = math_exp((p->now - end) / p->lag_up),
                         fall = math_exp((p->now - end) / p->lag_down);
            for (int k = 0; k < p->d->rotors; ++k) {
                const int falls = p->target[k] < p->speed[k];
                const double before = p->speed[k];
                p->speed[k] = rotor_speed_after(before, p->target[k], falls ? fall : rise);
                p->angle[k] += p->target[k] * (end - p->now) +
                               (before - p->speed[k]) * (falls ? p->lag_down : p->lag_up);
            }
            p->now = end;
        }
        if (change < until) {
            ++p->row;
            apply_commands(p);
        }
    }
}

static void apply_due_commands(rotor_playback *p)
{
    while (next_command_time(p) <= p->now) {
        ++p->row;
        apply_commands(p);
    }
}

void vy_fit_rotors_run(const fit_data *d, const fit_point *p, fit_rotors *out)
{
    if (!d->has_commands) {
        use_recorded_speeds(d, out);
        return;
    }
    const int n = d->rotors;
    rotor_playback playback = {.d = d,
                               .motor = vy_motor_build(&p->vehicle),
                               .lag_up = p->vehicle.motor_lag,
                               .lag_down = p->vehicle.motor_lag_down,
                               .delay = p->imu_delay,
                               .now = d->time[0]};
    VY_ASSERT(playback.lag_up > 0.0 && playback.lag_down > 0.0);
    apply_commands(&playback);
    for (int k = 0; k < n; ++k) playback.speed[k] = playback.target[k];
    for (size_t i = 0; i < d->rows; ++i) {
        const double next = d->time[i + 1 < d->rows ? i + 1 : i];
        memset(playback.angle, 0, sizeof playback.angle);
        for (int half = 0; half < 2; ++half) {
            if (half == 1) advance(&playback, 0.5 * (d->time[i] + next));
            apply_due_commands(&playback);
            const size_t at = (2 * i + (size_t)half) * (size_t)n;
            memcpy(out->speed + at, playback.speed, (size_t)n * sizeof *out->speed);
        }
        advance(&playback, next);
        for (int k = 0; k < n; ++k)
            out->mean[i * (size_t)n + (size_t)k] =
                next > d->time[i] ? playback.angle[k] / (next - d->time[i]) : playback.speed[k];
    }
}

void vy_fit_plant_make(const fit_point *p, fit_plant *out)
{
    const vy_vehicle_def *v = &p->vehicle;
    memset(out, 0, sizeof *out);
    out->layout = vy_layout_build(v);
    vy_plant_build(v, 1.0, &out->params); // speeds are given: no decay of a step is read
    out->params.effects.rotors = vy_rotor_air_build(v, 1.0, 0);
    out->env.gravity.uniform = vec3_make(0.0, 0.0, -G);
    out->env.air.mode = VY_ATMOSPHERE_STANDARD;
    out->env.air.density = 1.225;
    out->env.steady = 1;
    bits flags = EFFECT_BIT(gravity) | EFFECT_BIT(linear_drag);
    if (v->area > 0.0) flags |= EFFECT_BIT(drag) | EFFECT_BIT(lift) | EFFECT_BIT(aero_torque);
    if (vec3_any_nonzero(v->damping) || vec3_any_nonzero(v->damping_area)) flags |= EFFECT_BIT(damping);
    if (v->rotor_air.drag != 0.0 || v->rotor_air.drag_axial != 0.0) flags |= EFFECT_BIT(rotor_drag);
    if (v->rotor_air.flap != 0.0) flags |= EFFECT_BIT(flapping);
    if (v->rotor_air.lift != 0.0) flags |= EFFECT_BIT(translational_lift);
    if (v->rotor_air.inertia != 0.0) flags |= EFFECT_BIT(gyroscopic);
    out->inputs = (multirotor_inputs){.held = {.disturbance = loads_zero()}, .flags = flags};
}

// `slopes` of the speeds [rad/s^2]; NULL: none, they make no force.
static body_derivatives derivative(const fit_plant *plant, const double *speeds, const double *slopes, int n,
                                   const body_state *s)
{
    multirotor_inputs in = plant->inputs;
    in.layout = &plant->layout;
    in.params = &plant->params;
    in.env = &plant->env;
    in.memory = &plant->memory;
    double speed[ROTOR_CAP] = {0}, target[ROTOR_CAP] = {0};
    memcpy(speed, speeds, (size_t)n * sizeof *speed);
    const rotor_curve *curve = &plant->params.curve;
    for (int k = 0; k < n; ++k) { // a command that drives the speed so
        const double slope = slopes == NULL ? 0.0 : slopes[k];
        target[k] = speed[k] + slope / (slope < 0.0 ? curve->fall : curve->rise);
    }
    return multirotor_derivative(&in, s, speed, target, n, VARIANT_GENERAL, 0.0);
}

// With the rotors' speeds of a row (an even `half`) or half-way to the next.
static vec3 specific_force(const fit_data *d, const fit_plant *plant, const fit_rotors *rotors, size_t half,
                           const body_state *s)
{
    const size_t at = half * (size_t)d->rotors;
    const body_derivatives k = derivative(plant, rotors->speed + at, NULL, d->rotors, s);
    return quat_unrotate(s->attitude, vec3_sub(k.acceleration, plant->env.gravity.uniform));
}

vec3 vy_fit_specific_force(const fit_data *d, const fit_plant *plant, const fit_rotors *rotors, size_t row,
                           const body_state *s)
{
    return specific_force(d, plant, rotors, 2 * row, s);
}

void vy_fit_step(const fit_data *d, const fit_plant *plant, const fit_rotors *rotors, size_t row,
                 body_state *s)
{
    const int n = d->rotors;
    VY_ASSERT(row + 1 < d->rows);
    const double dt = d->time[row + 1] - d->time[row], half = 0.5 * dt;
    const size_t start = 2 * row * (size_t)n, end = start + 2 * (size_t)n;
    const double *speed = rotors->speed, *mean = rotors->mean + row * (size_t)n;
    // A command may change at any time within the row, and how fast a speed changes jumps there. What a
    // rotor's inertia turns the vehicle by follows from the change of its speed over the whole row, and the
    // speed half-way is the one for which Simpson's rule gives the mean: or else how an error depends on
    // delays would jump where a command acts just at the end of a row.
    double slope[ROTOR_CAP], halfway[ROTOR_CAP];
    for (int k = 0; k < n; ++k) {
        const double first = speed[start + (size_t)k], last = speed[end + (size_t)k];
        slope[k] = (last - first) / dt;
        halfway[k] = 1.5 * mean[k] - 0.25 * (first + last);
    }
    const body_derivatives k1 = derivative(plant, speed + start, slope, n, s);
    const body_state s2 = body_advance(s, half, &k1);
    const body_derivatives k2 = derivative(plant, halfway, slope, n, &s2);
    const body_state s3 = body_advance(s, half, &k2);
    const body_derivatives k3 = derivative(plant, halfway, slope, n, &s3);
    const body_state s4 = body_advance(s, dt, &k3);
    const body_derivatives k4 = derivative(plant, speed + end, slope, n, &s4);
    *s = body_rk4_finish(s, dt, &k1, &k2, &k3, &k4);
    if (!vy_fit_has_air(d)) s->velocity = vec3_zero(); // how it moves through the air is not known
}

body_state vy_fit_state(const fit_data *d, const fit_point *p, size_t row)
{
    const vec3 rate = vec3_sub(d->rate[row], p->gyro_offset), velocity = d->velocity[row];
    // A pose that is late is where the vehicle was.
    const quat attitude =
        quat_normalize(quat_apply_small_rotation(d->attitude[row], vec3_scale(p->pose_delay, rate)));
    return (body_state){vec3_zero(), vy_fit_has_air(d) ? velocity : vec3_zero(), attitude, rate};
}

void vy_fit_errors_at(const fit_data *d, const fit_point *p, const fit_plant *plant, const fit_rotors *rotors,
                      size_t row, const body_state *s, double out[CHANNEL_COUNT])
{
    const vy_flight *f = d->flight;
    const double missing = math_nan();
    for (int c = 0; c < CHANNEL_COUNT; ++c) out[c] = missing;
    const double *rate = &s->rate.x, *gyro = &p->gyro_offset.x, *offset = &p->accel_offset.x;
    for (int a = 0; a < 3; ++a) {
        out[CHANNEL_RATE + a] = f->values[VY_FLIGHT_RATE + a][row] - rate[a] - gyro[a];
    }
    if (d->present[CHANNEL_ACCEL] || d->present[CHANNEL_ACCEL + 1] || d->present[CHANNEL_ACCEL + 2]) {
        vec3 force = vy_fit_specific_force(d, plant, rotors, row, s);
        if (p->accel_delay != 0.0 && row > 0) { // what changes it are the rotors' speeds
            const double fraction = p->accel_delay / (0.5 * (d->time[row] - d->time[row - 1]));
            const vec3 earlier = specific_force(d, plant, rotors, 2 * row - 1, s);
            force = vec3_add_scaled(force, -fraction, vec3_sub(force, earlier));
        }
        const double *expected = &force.x;
        for (int a = 0; a < 3; ++a) {
            const double *measured = f->values[VY_FLIGHT_ACCEL + a];
            if (measured != NULL) out[CHANNEL_ACCEL + a] = measured[row] - expected[a] - offset[a];
        }
    }
    if (d->present[CHANNEL_ATTITUDE] &&
        f->values[VY_FLIGHT_ATTITUDE][row] == f->values[VY_FLIGHT_ATTITUDE][row]) {
        const quat measured = vy_fit_state(d, p, row).attitude,
                   error = quat_mul(quat_conj(s->attitude), measured);
        const double sign = error.w < 0.0 ? -2.0 : 2.0;
        out[CHANNEL_ATTITUDE] = sign * error.x;
        out[CHANNEL_ATTITUDE + 1] = sign * error.y;
        out[CHANNEL_ATTITUDE + 2] = sign * error.z;
    }
    if (d->present[CHANNEL_VELOCITY]) {
        const double *expected = &s->velocity.x;
        for (int a = 0; a < 3; ++a)
            out[CHANNEL_VELOCITY + a] = f->values[VY_FLIGHT_VELOCITY + a][row] - expected[a];
    }
}

void vy_fit_predict(const fit_data *d, const fit_point *p, fit_rotors *rotors, const size_t *first, int count,
                    double horizon, double *out)
{
    fit_plant plant;
    vy_fit_plant_make(p, &plant);
    vy_fit_rotors_run(d, p, rotors);
    for (int k = 0; k < count; ++k) {
        double sum[CHANNEL_COUNT][FIT_BINS] = {{0}}, errors[CHANNEL_COUNT];
        int rows[CHANNEL_COUNT][FIT_BINS] = {{0}};
        const double start = d->time[first[k]];
        body_state s = vy_fit_state(d, p, first[k]);
        for (size_t row = first[k]; row + 1 < d->rows;) {
            vy_fit_step(d, &plant, rotors, row++, &s);
            // The end of a horizon belongs to it.
            const int bin = (int)((d->time[row] - start) * (FIT_BINS / horizon) - 1e-6);
            if (bin >= FIT_BINS) break;
            vy_fit_errors_at(d, p, &plant, rotors, row, &s, errors);
            for (int c = 0; c < CHANNEL_COUNT; ++c) {
                if (!(errors[c] == errors[c])) continue;
                sum[c][bin] += errors[c];
                rows[c][bin] += 1;
            }
        }
        for (int c = 0; c < CHANNEL_COUNT; ++c) {
            for (int b = 0; b < FIT_BINS; ++b)
                out[(k * CHANNEL_COUNT + c) * FIT_BINS + b] = rows[c][b] > 0 ? sum[c][b] / rows[c][b] : 0.0;
        }
    }
}
