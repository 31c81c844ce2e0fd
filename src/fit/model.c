// model.c - predictions of a recorded flight by the library's own equations.
#include "fit/model.h"
#include "base/assert.h"
#include "base/math.h"
#include "vehicle/allocation.h"
#include "vehicle/rotor_air.h"
#include "world/build.h"
#include <float.h>
#include <stdlib.h>

void vy_fit_rotors_free(fit_rotors *r)
{
    free(r->speed);
    free(r->mean);
    r->speed = r->mean = NULL;
}

int vy_fit_rotors_make(const fit_data *d, fit_rotors *out)
{
    const size_t count = d->rows * (size_t)d->rotors;
    memset(out, 0, sizeof *out);
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
        const size_t next_row = i + 1 < d->rows ? i + 1 : i;
        for (int k = 0; k < n; ++k) {
            const double speed = d->commands[i * (size_t)n + (size_t)k];
            const size_t index = 2 * i * (size_t)n + (size_t)k;
            out->speed[index] = speed;
            out->speed[index + (size_t)n] = out->mean[i * (size_t)n + (size_t)k] =
                0.5 * (speed + d->commands[next_row * (size_t)n + (size_t)k]);
        }
    }
}

// The speeds of all rotors, driven by commands that act `imu_delay` later in the time of the IMU.
typedef struct rotor_playback {
    const fit_data *d;
    motor_params motor;
    double lag_up, lag_down, delay;             // [s]
    size_t row;                                 // whose commands act
    double now;                                 // [s]
    double speed[ROTOR_CAP], target[ROTOR_CAP]; // [rad/s]
    double angle[ROTOR_CAP];                    // [rad] by which they have turned since the row
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
        const double change_time = next_command_time(p), end_time = change_time < until ? change_time : until;
        if (end_time > p->now) {
            const double rise_decay = math_exp((p->now - end_time) / p->lag_up),
                         fall_decay = math_exp((p->now - end_time) / p->lag_down);
            for (int k = 0; k < p->d->rotors; ++k) {
                const int is_falling = p->target[k] < p->speed[k];
                const double speed_before = p->speed[k];
                p->speed[k] =
                    rotor_speed_after(speed_before, p->target[k], is_falling ? fall_decay : rise_decay);
                p->angle[k] += p->target[k] * (end_time - p->now) +
                               (speed_before - p->speed[k]) * (is_falling ? p->lag_down : p->lag_up);
            }
            p->now = end_time;
        }
        if (change_time < until) {
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

// The commands as this motor and these lags follow them are there already. If not, they will be.
static int has_speeds_of(fit_rotors *r, const rotor_playback *p)
{
    const motor_params *m = &p->motor;
    const double inputs[FIT_ROTOR_INPUTS] = {p->lag_up,
                                             p->lag_down,
                                             p->delay,
                                             m->speed_max,
                                             m->speed_idle,
                                             m->dead_zone,
                                             m->thrust_model_factor,
                                             m->is_linear ? 1.0 : 0.0};
    int is_same = 1;
    for (int i = 0; i < FIT_ROTOR_INPUTS; ++i) is_same &= r->inputs[i] == inputs[i];
    memcpy(r->inputs, inputs, sizeof inputs);
    return is_same;
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
    if (has_speeds_of(out, &playback)) return;
    apply_commands(&playback);
    for (int k = 0; k < n; ++k) playback.speed[k] = playback.target[k];
    for (size_t i = 0; i < d->rows; ++i) {
        const double next_time = d->time[i + 1 < d->rows ? i + 1 : i];
        memset(playback.angle, 0, sizeof playback.angle);
        for (int half = 0; half < 2; ++half) {
            if (half == 1) advance(&playback, 0.5 * (d->time[i] + next_time));
            apply_due_commands(&playback);
            const size_t index = (2 * i + (size_t)half) * (size_t)n;
            memcpy(out->speed + index, playback.speed, (size_t)n * sizeof *out->speed);
        }
        advance(&playback, next_time);
        for (int k = 0; k < n; ++k)
            out->mean[i * (size_t)n + (size_t)k] =
                next_time > d->time[i] ? playback.angle[k] / (next_time - d->time[i]) : playback.speed[k];
    }
}

void vy_fit_plant_make(const fit_point *p, fit_plant *out)
{
    const vy_vehicle_def *v = &p->vehicle;
    memset(out, 0, sizeof *out);
    out->layout = vy_layout_build(v);
    vy_plant_build(v, 1.0, &out->params); // speeds are given: no decay of a step is read
    out->params.effects.rotors = vy_rotor_air_build(v, 1.0, 0);
    bits flags = EFFECT_BIT(gravity) | EFFECT_BIT(linear_drag);
    if (v->area > 0.0) flags |= EFFECT_BIT(drag) | EFFECT_BIT(lift) | EFFECT_BIT(aero_torque);
    if (vec3_any_nonzero(v->damping) || vec3_any_nonzero(v->damping_area)) flags |= EFFECT_BIT(damping);
    if (v->rotor_air.drag != 0.0 || v->rotor_air.drag_axial != 0.0) flags |= EFFECT_BIT(rotor_drag);
    if (v->rotor_air.flap != 0.0) flags |= EFFECT_BIT(flapping);
    if (v->rotor_air.lift != 0.0) flags |= EFFECT_BIT(translational_lift);
    if (v->rotor_air.inertia != 0.0) flags |= EFFECT_BIT(gyroscopic);
    motion_prepare(out, flags);
}

vec3 vy_fit_specific_force(const fit_data *d, const fit_plant *plant, const fit_rotors *rotors, size_t row,
                           const body_state *s)
{
    return motion_specific_force(d, plant, &rotors, 2 * row, s);
}

void vy_fit_step(const fit_data *d, const fit_plant *plant, const fit_rotors *rotors, size_t row,
                 body_state *s)
{
    motion_step(d, plant, &rotors, row, s);
}

fit_instruments vy_fit_instruments(const fit_point *p)
{
    return (fit_instruments){p->pose_delay, p->accel_delay, p->accel_offset, p->gyro_offset};
}

body_state vy_fit_state(const fit_data *d, const fit_point *p, size_t row)
{
    const fit_instruments instruments = vy_fit_instruments(p);
    return motion_measured(d, &instruments, row);
}

void vy_fit_errors_at(const fit_data *d, const fit_point *p, const fit_plant *plant, const fit_rotors *rotors,
                      size_t row, const body_state *s, double out[CHANNEL_COUNT])
{
    const fit_instruments instruments = vy_fit_instruments(p);
    motion_errors(d, &instruments, plant, &rotors, row, s, out);
}
