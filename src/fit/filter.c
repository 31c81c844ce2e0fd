// filter.c - an extended Kalman filter over a recorded flight, and the likelihood it gives.
#include "fit/filter.h"
#include "base/assert.h"
#include "base/fail.h"
#include "base/math.h"
#include "fit/linear.h"
#include <stdlib.h>

enum { N = FIT_PARAMETER_COUNT };

// Errors of the state: position, velocity (world), attitude, rate (body), and what accelerates from outside:
// a force over the mass (world) and a torque over the inertia (body).
enum { AT_POSITION = 0, AT_VELOCITY = 3, AT_TURN = 6, AT_RATE = 9, AT_FORCE = 12, AT_TORQUE = 15, SIZE = 18 };

#define DIFFERENCE       1e-5 // of a parameter, for slopes
#define NOISE_DIFFERENCE 1e-4 // of a logarithm
#define NOISE_DEVIATION  3.0  // how far the logarithm of a noise may be from the guess
#define NOISE_STEP       1.5  // of a logarithm, at most
#define WARM_UP          0.5  // [s] after which rotors have forgotten at which speed they started
#define VELOCITY_START   0.2  // [m/s] how well a velocity is known at the start that follows from positions

// Noise and disturbances as numbers: variances, and for how long a disturbance lasts.
typedef struct strengths {
    double sample[FILTER_SAMPLES];
    double deviation[6], time[6]; // of force and torque from outside
} strengths;

// One filter.
typedef struct filter {
    fit_point at;
    fit_plant plant;
    const fit_rotors *rotors;
    strengths of;
    body_state s;
    vec3 force, torque; // [m/s^2] world, [rad/s^2] body
    vec3 felt;          // [m/s^2] body: specific force when it was last asked for
    double covariance[SIZE][SIZE];
    double off[SIZE]; // of a filter that differs in noise alone: its state less that of the first
} filter;

// What a row's samples do to a state.
typedef struct filter_gains {
    int taken[FILTER_SAMPLES];
    double gain[FILTER_SAMPLES][SIZE], variance[FILTER_SAMPLES];
} filter_gains;

static const int noise_of[FILTER_SAMPLES] = {NOISE_RATE,     NOISE_RATE,     NOISE_RATE_Z,   NOISE_ACCEL,
                                             NOISE_ACCEL,    NOISE_ACCEL_Z,  NOISE_ATTITUDE, NOISE_ATTITUDE,
                                             NOISE_ATTITUDE, NOISE_VELOCITY, NOISE_VELOCITY, NOISE_VELOCITY,
                                             NOISE_POSITION, NOISE_POSITION, NOISE_POSITION};

static strengths strengths_of(const double *noise)
{
    strengths of;
    for (int c = 0; c < FILTER_SAMPLES; ++c) of.sample[c] = math_exp(2.0 * noise[noise_of[c]]);
    static const int deviation[6] = {NOISE_GUST,   NOISE_GUST,   NOISE_GUST_Z,
                                     NOISE_TORQUE, NOISE_TORQUE, NOISE_TORQUE_Z};
    static const int time[6] = {NOISE_GUST_TIME,   NOISE_GUST_TIME,   NOISE_GUST_TIME_Z,
                                NOISE_TORQUE_TIME, NOISE_TORQUE_TIME, NOISE_TORQUE_TIME};
    for (int i = 0; i < 6; ++i) {
        of.deviation[i] = math_exp(noise[deviation[i]]);
        of.time[i] = math_exp(noise[time[i]]);
    }
    return of;
}

static void filter_start(const fit_filter *f, filter *m)
{
    const fit_data *d = f->data;
    m->s = vy_fit_state(d, &m->at, f->first);
    if (d->has_position) {
        double *const *x = (double *const *)&d->flight->values[VY_FLIGHT_POSITION];
        m->s.position = vec3_make(x[0][f->first], x[1][f->first], x[2][f->first]);
    }
    m->force = m->torque = vec3_zero();
    m->felt = vec3_make(0.0, 0.0, m->plant.env.gravity.uniform.z * -1.0);
    memset(m->covariance, 0, sizeof m->covariance);
    const int has_air = vy_fit_has_air(d);
    memset(m->off, 0, sizeof m->off);
    const double *of = m->of.sample;
    for (int a = 0; a < 3; ++a) {
        const double velocity = d->has_velocity ? of[CHANNEL_VELOCITY] : VELOCITY_START * VELOCITY_START;
        m->covariance[AT_POSITION + a][AT_POSITION + a] = has_air ? of[CHANNEL_COUNT] : 0.0;
        m->covariance[AT_VELOCITY + a][AT_VELOCITY + a] = has_air ? velocity : 0.0;
        m->covariance[AT_TURN + a][AT_TURN + a] = d->has_attitude ? of[CHANNEL_ATTITUDE] : 0.0;
        m->covariance[AT_RATE + a][AT_RATE + a] = of[CHANNEL_RATE];
    }
    for (int i = 0; i < 6; ++i)
        m->covariance[AT_FORCE + i][AT_FORCE + i] = m->of.deviation[i] * m->of.deviation[i];
}

// Drag over mass along the body axes, as the slope of the specific force over the velocity.
static vec3 drag_of(const fit_data *d, const filter *m, size_t row)
{
    const vy_vehicle_def *v = &m->at.vehicle;
    double speeds = 0.0;
    for (int k = 0; k < d->rotors; ++k) speeds += m->rotors->speed[2 * row * (size_t)d->rotors + (size_t)k];
    const double rotors = v->rotor_air.drag * speeds;
    const vec3 drag = vec3_add(v->drag_linear, vec3_make(rotors, rotors, 0.0));
    return vec3_scale(1.0 / v->mass, drag);
}

static void put_block(double a[SIZE][SIZE], int row, int column, double scale, const mat3 *m)
{
    for (int r = 0; r < 3; ++r) {
        for (int c = 0; c < 3; ++c) a[row + r][column + c] += scale * m->m[r][c];
    }
}

// What an error of the state becomes over dt, to first order, to second where the first has nothing.
static void transition(const fit_data *d, const filter *m, size_t row, double dt, double a[SIZE][SIZE])
{
    const mat3 turn = quat_matrix(m->s.attitude), one = mat3_diag(1.0, 1.0, 1.0);
    const mat3 rate = mat3_cross(m->s.rate), felt = mat3_mul(turn, mat3_cross(m->felt));
    const vec3 drag = drag_of(d, m, row);
    const mat3 slow = mat3_mul(mat3_mul(turn, mat3_diag(drag.x, drag.y, drag.z)), mat3_transpose(turn));
    const mat3 inertia = m->at.vehicle.inertia, momentum = mat3_cross(mat3_mul_vec(inertia, m->s.rate));
    mat3 spin = mat3_mul(rate, inertia);
    for (int r = 0; r < 3; ++r) {
        for (int c = 0; c < 3; ++c) spin.m[r][c] -= momentum.m[r][c];
    }
    spin = mat3_mul(mat3_inverse(inertia), spin);
    memset(a, 0, SIZE * SIZE * sizeof a[0][0]);
    for (int i = 0; i < SIZE; ++i) a[i][i] = 1.0;
    if (vy_fit_has_air(d)) {
        put_block(a, AT_POSITION, AT_VELOCITY, dt, &one);
        put_block(a, AT_POSITION, AT_TURN, -0.5 * dt * dt, &felt);
        put_block(a, AT_POSITION, AT_FORCE, 0.5 * dt * dt, &one);
        put_block(a, AT_VELOCITY, AT_VELOCITY, -dt, &slow);
        put_block(a, AT_VELOCITY, AT_TURN, -dt, &felt);
        put_block(a, AT_VELOCITY, AT_RATE, -0.5 * dt * dt, &felt);
        put_block(a, AT_VELOCITY, AT_FORCE, dt, &one);
    }
    if (d->has_attitude) {
        put_block(a, AT_TURN, AT_TURN, -dt, &rate);
        put_block(a, AT_TURN, AT_RATE, dt, &one);
        put_block(a, AT_TURN, AT_TORQUE, 0.5 * dt * dt, &one);
    }
    put_block(a, AT_RATE, AT_RATE, -dt, &spin);
    put_block(a, AT_RATE, AT_TORQUE, dt, &one);
}

// What is left of disturbances after dt, into the transition.
static void decay(const strengths *of, double dt, double a[SIZE][SIZE])
{
    for (int i = 0; i < 6; ++i)
        a[AT_FORCE + i][AT_FORCE + i] = i > 0 && of->time[i] == of->time[i - 1]
                                            ? a[AT_FORCE + i - 1][AT_FORCE + i - 1]
                                            : math_exp(-dt / of->time[i]);
}

// P <- A P A' + Q, where A is mostly zeros.
static void spread(const strengths *of, double a[SIZE][SIZE], double p[SIZE][SIZE])
{
    double half[SIZE][SIZE] = {{0}};
    for (int i = 0; i < SIZE; ++i) {
        for (int k = 0; k < SIZE; ++k) {
            if (a[i][k] == 0.0) continue;
            for (int j = 0; j < SIZE; ++j) half[j][i] += a[i][k] * p[k][j];
        }
    }
    memset(p, 0, SIZE * SIZE * sizeof p[0][0]);
    for (int j = 0; j < SIZE; ++j) { // it is symmetric
        for (int k = 0; k < SIZE; ++k) {
            if (a[j][k] == 0.0) continue;
            for (int i = 0; i < SIZE; ++i) p[j][i] += a[j][k] * half[k][i];
        }
    }
    for (int i = 0; i < 6; ++i) {
        const double left = a[AT_FORCE + i][AT_FORCE + i];
        p[AT_FORCE + i][AT_FORCE + i] += (1.0 - left * left) * of->deviation[i] * of->deviation[i];
    }
}

// From a row to the next; `a`: with its own covariance, and what errors become.
static void filter_advance(const fit_data *d, size_t row, filter *m, double (*a)[SIZE])
{
    const double dt = d->time[row + 1] - d->time[row];
    double left[6];
    if (a != NULL) {
        transition(d, m, row, dt, a);
        decay(&m->of, dt, a);
        spread(&m->of, a, m->covariance);
    }
    for (int i = 0; i < 6; ++i)
        left[i] = i > 0 && m->of.time[i] == m->of.time[i - 1] ? left[i - 1] : math_exp(-dt / m->of.time[i]);
    vy_fit_step(d, &m->plant, m->rotors, row, &m->s);
    if (vy_fit_has_air(d)) {
        m->s.position = vec3_add_scaled(m->s.position, 0.5 * dt * dt, m->force);
        m->s.velocity = vec3_add_scaled(m->s.velocity, dt, m->force);
    }
    m->s.attitude = quat_apply_small_rotation(m->s.attitude, vec3_scale(0.5 * dt * dt, m->torque));
    m->s.rate = vec3_add_scaled(m->s.rate, dt, m->torque);
    m->force = vec3_mul(m->force, vec3_of(left));
    m->torque = vec3_mul(m->torque, vec3_of(left + 3));
}

// What a row says less what it should; NaN: nothing.
static void surprises(const fit_data *d, size_t row, filter *m, double out[FILTER_SAMPLES])
{
    const vy_flight *f = d->flight;
    vy_fit_errors_at(d, &m->at, &m->plant, m->rotors, row, &m->s, out);
    const vec3 force = quat_unrotate(m->s.attitude, m->force);
    for (int a = 0; a < 3; ++a) {
        const double *seen = f->values[VY_FLIGHT_ACCEL + a];
        out[CHANNEL_ACCEL + a] -= (&force.x)[a];
        if (seen != NULL && seen[row] == seen[row])
            (&m->felt.x)[a] = seen[row] - out[CHANNEL_ACCEL + a] - (&m->at.accel_offset.x)[a];
        out[CHANNEL_COUNT + a] = math_nan();
        if (d->has_position && d->has_attitude)
            out[CHANNEL_COUNT + a] = f->values[VY_FLIGHT_POSITION + a][row] - (&m->s.position.x)[a] +
                                     m->at.pose_delay * (&m->s.velocity.x)[a];
    }
}

// The slopes of the expected samples of specific force over the errors of the state.
static void accel_slopes(const fit_data *d, size_t row, const filter *m, double out[3][SIZE])
{
    const mat3 turn = quat_matrix(m->s.attitude);
    const vec3 drag = drag_of(d, m, row), v = mat3_tmul_vec(turn, m->s.velocity);
    const mat3 by_turn = mat3_cross(mat3_tmul_vec(turn, m->force)), flow = mat3_cross(v);
    memset(out, 0, 3 * SIZE * sizeof out[0][0]);
    for (int r = 0; r < 3; ++r) {
        for (int c = 0; c < 3; ++c) {
            out[r][AT_FORCE + c] = turn.m[c][r];
            out[r][AT_VELOCITY + c] = -(&drag.x)[r] * turn.m[c][r];
            out[r][AT_TURN + c] = by_turn.m[r][c] - (&drag.x)[r] * flow.m[r][c];
        }
    }
}

// The place of a sample that is an element of the state.
static int element_of(int sample)
{
    static const int at[FILTER_SAMPLES / 3] = {AT_RATE, -1, AT_TURN, AT_VELOCITY, AT_POSITION};
    return at[sample / 3] < 0 ? -1 : at[sample / 3] + sample % 3;
}

// The gain of a sample, and the covariance once it has been taken.
static void take_sample(int c, const double *slope, const strengths *of, double p[SIZE][SIZE],
                        filter_gains *gains)
{
    const int at = element_of(c);
    double seen[SIZE] = {0}, variance = of->sample[c];
    if (at >= 0) {
        memcpy(seen, p[at], sizeof seen);
        variance += seen[at];
    } else {
        for (int k = AT_VELOCITY; k < AT_TORQUE; ++k) {
            for (int i = 0; i < SIZE; ++i) seen[i] += slope[k] * p[k][i];
        }
        for (int i = 0; i < SIZE; ++i) variance += slope[i] * seen[i];
    }
    double *gain = gains->gain[c];
    gains->variance[c] = variance;
    for (int i = 0; i < SIZE; ++i) gain[i] = seen[i] / variance;
    for (int i = 0; i < SIZE; ++i) {
        for (int k = 0; k < SIZE; ++k) p[i][k] -= gain[i] * seen[k];
    }
}

// One sample after the other. `own`: covariance and strengths from which the gains follow; NULL: they are
// given. `errors` become those that are left after the samples before each, and are added to `move` by the
// gains.
static void take_samples(filter *own, double by_state[3][SIZE], filter_gains *gains,
                         double errors[FILTER_SAMPLES], double move[SIZE])
{
    for (int c = 0; c < FILTER_SAMPLES; ++c) {
        if (!gains->taken[c]) continue;
        const int at = element_of(c);
        const double *slope = by_state[c % 3];
        double expected = 0.0;
        if (at >= 0) {
            expected = move[at];
        } else {
            for (int i = 0; i < SIZE; ++i) expected += slope[i] * move[i];
        }
        errors[c] -= expected;
        if (own != NULL) take_sample(c, slope, &own->of, own->covariance, gains);
        for (int i = 0; i < SIZE; ++i) move[i] += gains->gain[c][i] * errors[c];
    }
}

static void filter_move(filter *m, const double move[SIZE])
{
    m->s.position = vec3_add(m->s.position, vec3_of(move + AT_POSITION));
    m->s.velocity = vec3_add(m->s.velocity, vec3_of(move + AT_VELOCITY));
    m->s.attitude = quat_apply_small_rotation(m->s.attitude, vec3_of(move + AT_TURN));
    m->s.rate = vec3_add(m->s.rate, vec3_of(move + AT_RATE));
    m->force = vec3_add(m->force, vec3_of(move + AT_FORCE));
    m->torque = vec3_add(m->torque, vec3_of(move + AT_TORQUE));
}

// The first filter of the bank in a row: its samples, their slopes, gains and errors, and where it moves.
typedef struct filter_row {
    double a[SIZE][SIZE], by_state[3][SIZE], raw[FILTER_SAMPLES], errors[FILTER_SAMPLES], move[SIZE];
    double push[6]; // force and torque from outside before the row
    filter_gains gains;
} filter_row;

static void filter_lead(const fit_data *d, size_t row, filter *m, filter_row *r)
{
    for (int i = 0; i < 6; ++i) r->push[i] = i < 3 ? (&m->force.x)[i] : (&m->torque.x)[i - 3];
    filter_advance(d, row, m, r->a);
    surprises(d, row + 1, m, r->raw);
    accel_slopes(d, row + 1, m, r->by_state);
    memcpy(r->errors, r->raw, sizeof r->errors);
    memset(r->move, 0, sizeof r->move);
    for (int c = 0; c < FILTER_SAMPLES; ++c) r->gains.taken[c] = r->raw[c] == r->raw[c];
    take_samples(m, r->by_state, &r->gains, r->errors, r->move);
    filter_move(m, r->move);
}

// Another vehicle with the gains of the first.
static void filter_follow(const fit_data *d, size_t row, filter *m, filter_row *r,
                          double errors[FILTER_SAMPLES])
{
    double move[SIZE] = {0};
    filter_advance(d, row, m, NULL);
    surprises(d, row + 1, m, errors);
    take_samples(NULL, r->by_state, &r->gains, errors, move);
    filter_move(m, move);
}

// The same vehicle with other noise: its state is near that of the first.
static void filter_differ(double dt, filter *m, filter_row *r, filter_gains *gains,
                          double errors[FILTER_SAMPLES])
{
    double before[6], off[SIZE] = {0}, raw[FILTER_SAMPLES];
    for (int i = 0; i < 6; ++i) before[i] = r->a[AT_FORCE + i][AT_FORCE + i];
    decay(&m->of, dt, r->a);
    spread(&m->of, r->a, m->covariance);
    for (int i = 0; i < SIZE; ++i) {
        for (int k = 0; k < SIZE; ++k) {
            if (r->a[i][k] != 0.0) off[i] += r->a[i][k] * m->off[k];
        }
    }
    for (int i = 0; i < 6; ++i) {
        off[AT_FORCE + i] += (r->a[AT_FORCE + i][AT_FORCE + i] - before[i]) * r->push[i];
        r->a[AT_FORCE + i][AT_FORCE + i] = before[i];
    }
    memcpy(raw, r->raw, sizeof raw);
    memcpy(gains->taken, r->gains.taken, sizeof gains->taken);
    take_samples(m, r->by_state, gains, raw, off);
    memcpy(errors, raw, sizeof raw);
    for (int i = 0; i < SIZE; ++i) m->off[i] = off[i] - r->move[i];
}

void vy_filter_free(fit_filter *f)
{
    for (int i = 0; i < 4; ++i) vy_fit_rotors_free(&f->rotors[i]);
    free(f->bank);
    f->bank = NULL;
}

// The root mean square of second differences, which white noise makes larger by the square root of six.
static double roughness(const double *x, size_t first, size_t last)
{
    double one = 0.0, two = 0.0, sum = 1e-24, count = 1.0;
    int have = 0;
    for (size_t i = first; i <= last; ++i) {
        if (!(x[i] == x[i])) continue;
        const double second = x[i] - 2.0 * one + two;
        if (have >= 2) sum += second * second / 6.0, count += 1.0;
        two = one, one = x[i], ++have;
    }
    return real_sqrt(sum / count);
}

static void guess_noise(fit_filter *f)
{
    static const int quantity[FILTER_SAMPLES / 3] = {VY_FLIGHT_RATE, VY_FLIGHT_ACCEL, VY_FLIGHT_ATTITUDE + 1,
                                                     VY_FLIGHT_VELOCITY, VY_FLIGHT_POSITION};
    const fit_data *d = f->data;
    for (int c = 0; c < FILTER_SAMPLES; ++c) {
        const double *x = d->flight->values[quantity[c / 3] + c % 3];
        const int present = c < CHANNEL_COUNT ? d->present[c] : d->has_position && d->has_attitude;
        if (!present || x == NULL) continue;
        const double scale = c / 3 == CHANNEL_ATTITUDE / 3 ? 2.0 : 1.0; // a quaternion has half the angle
        f->noise[noise_of[c]] = math_log(real_max(scale * roughness(x, f->first, f->last), 1e-6));
        f->noise_active[noise_of[c]] = 1;
    }
    for (int i = NOISE_TORQUE; i <= NOISE_TORQUE_TIME; ++i) f->noise_active[i] = 1;
    const int pushed = vy_fit_has_air(d) || d->present[CHANNEL_ACCEL] || d->present[CHANNEL_ACCEL + 1];
    const int lifted = vy_fit_has_air(d) || d->present[CHANNEL_ACCEL + 2];
    f->noise_active[NOISE_GUST] = f->noise_active[NOISE_GUST_TIME] = pushed;
    f->noise_active[NOISE_GUST_Z] = f->noise_active[NOISE_GUST_TIME_Z] = lifted;
    f->noise[NOISE_GUST] = f->noise[NOISE_GUST_Z] = math_log(0.1);
    f->noise[NOISE_GUST_TIME] = f->noise[NOISE_GUST_TIME_Z] = math_log(3.0);
    f->noise[NOISE_TORQUE] = f->noise[NOISE_RATE] - math_log(0.1);
    f->noise[NOISE_TORQUE_Z] = f->noise[NOISE_RATE_Z] - math_log(0.1);
    f->noise[NOISE_TORQUE_TIME] = math_log(0.1);
    memcpy(f->guess, f->noise, sizeof f->guess);
}

vy_status vy_filter_make(const fit_data *d, const fit_point *base, double from, double to, fit_filter *out,
                         vy_error *err)
{
    memset(out, 0, sizeof *out);
    out->data = d;
    out->base = *base;
    const double *q = d->has_attitude ? d->flight->values[VY_FLIGHT_ATTITUDE] : NULL;
    const double *x = d->has_position ? d->flight->values[VY_FLIGHT_POSITION] : NULL;
    const double start = real_max(from, d->time[0] + WARM_UP);
    size_t i = 0;
    while (i + 1 < d->rows &&
           (d->time[i] < start || (q != NULL && !(q[i] == q[i])) || (x != NULL && !(x[i] == x[i]))))
        ++i;
    out->first = out->last = i;
    while (out->last + 1 < d->rows && d->time[out->last + 1] <= to + 1e-9) ++out->last;
    out->bank = calloc(N + 1, sizeof(filter));
    int fine = out->bank != NULL;
    for (int k = 0; k < 4; ++k) fine = fine && vy_fit_rotors_make(d, &out->rotors[k]);
    if (!fine) {
        vy_filter_free(out);
        return vy_fail(err, VY_NO_MEMORY, "no memory for a fit");
    }
    guess_noise(out);
    return VY_OK;
}

// A filter at x, in one place of the bank.
static filter *filter_at(fit_filter *f, int place, const double *x, const double *noise, int rotors)
{
    filter *m = (filter *)f->bank + place;
    m->at = vy_fit_at(&f->base, x);
    m->of = strengths_of(noise);
    m->rotors = &f->rotors[rotors];
    vy_fit_plant_make(&m->at, &m->plant);
    if (place == 0 || rotors > 0) vy_fit_rotors_run(f->data, &m->at, &f->rotors[rotors]);
    filter_start(f, m);
    return m;
}

static double log_likelihood(const filter_gains *g, const double *errors)
{
    double sum = 0.0;
    for (int c = 0; c < FILTER_SAMPLES; ++c) {
        if (g->taken[c]) sum += math_log(g->variance[c]) + errors[c] * errors[c] / g->variance[c];
    }
    return sum;
}

double vy_filter_cost(fit_filter *f, const double *x, const double *noise)
{
    filter *m = filter_at(f, 0, x, noise, 0);
    double sum = 0.0;
    filter_row r;
    for (size_t row = f->first; row < f->last; ++row) {
        filter_lead(f->data, row, m, &r);
        sum += log_likelihood(&r.gains, r.errors);
    }
    return sum;
}

static int moves_rotors(int id)
{
    return id == FIT_LAG_UP ? 1 : id == FIT_LAG_DOWN ? 2 : id == FIT_IMU_DELAY ? 3 : 0;
}

void vy_filter_sums(fit_filter *f, const double *x, const int *active, fit_sums *out)
{
    memset(out, 0, sizeof *out);
    filter *m = filter_at(f, 0, x, f->noise, 0), *all = f->bank;
    for (int i = 0; i < N; ++i) {
        double moved[N];
        if (!active[i]) continue;
        memcpy(moved, x, sizeof moved);
        moved[i] += DIFFERENCE;
        out->ids[out->n++] = i;
        (void)filter_at(f, out->n, moved, f->noise, moves_rotors(i));
    }
    const int n = out->n;
    for (size_t row = f->first; row < f->last; ++row) {
        double slope[FILTER_SAMPLES][N], other[FILTER_SAMPLES];
        filter_row r;
        filter_lead(f->data, row, m, &r);
        out->cost += log_likelihood(&r.gains, r.errors);
        for (int i = 0; i < n; ++i) {
            filter_follow(f->data, row, &all[i + 1], &r, other);
            for (int c = 0; c < FILTER_SAMPLES; ++c) slope[c][i] = (other[c] - r.errors[c]) / DIFFERENCE;
        }
        const size_t block = (row - f->first) * FIT_BLOCKS / (f->last - f->first);
        double *score = out->scores[block], *part = out->parts[block];
        for (int c = 0; c < FILTER_SAMPLES; ++c) {
            if (!r.gains.taken[c]) continue;
            const double weight = 1.0 / r.gains.variance[c];
            for (int i = 0; i < n; ++i) {
                const double weighted = weight * slope[c][i];
                score[i] += weighted * r.errors[c];
                for (int k = 0; k <= i; ++k) part[i * n + k] += weighted * slope[c][k];
            }
        }
    }
    for (int i = 0; i < n; ++i) {
        for (int b = 0; b < FIT_BLOCKS; ++b) {
            double *part = out->parts[b];
            out->gradient[i] += out->scores[b][i];
            for (int k = 0; k <= i; ++k) part[k * n + i] = part[i * n + k];
            for (int k = 0; k <= i; ++k) out->normal[i * n + k] += part[i * n + k];
        }
        for (int k = 0; k < i; ++k) out->normal[k * n + i] = out->normal[i * n + k];
    }
}

// How far noise is from the guess.
static double guess_cost(const fit_filter *f, const double *noise)
{
    double sum = 0.0;
    for (int i = 0; i < NOISE_COUNT; ++i) {
        const double off = (noise[i] - f->guess[i]) / NOISE_DEVIATION;
        sum += off * off;
    }
    return sum;
}

// Slopes of the likelihood over what is active of the noise, and Fisher's information.
static double noise_sums(fit_filter *f, const double *x, const int *ids, int n, double *normal,
                         double *gradient)
{
    double noise[NOISE_COUNT][NOISE_COUNT], sum = guess_cost(f, f->noise);
    filter *m = filter_at(f, 0, x, f->noise, 0), *all = f->bank;
    memset(normal, 0, (size_t)(n * n) * sizeof *normal);
    memset(gradient, 0, (size_t)n * sizeof *gradient);
    for (int i = 0; i < n; ++i) {
        memcpy(noise[i], f->noise, sizeof noise[i]);
        noise[i][ids[i]] += NOISE_DIFFERENCE;
        (void)filter_at(f, i + 1, x, noise[i], 0);
    }
    for (size_t row = f->first; row < f->last; ++row) {
        double other[FILTER_SAMPLES], slope[2][FILTER_SAMPLES][NOISE_COUNT];
        filter_row r;
        filter_gains moved;
        const double dt = f->data->time[row + 1] - f->data->time[row];
        filter_lead(f->data, row, m, &r);
        sum += log_likelihood(&r.gains, r.errors);
        const filter_gains gains = r.gains;
        const double *errors = r.errors;
        for (int i = 0; i < n; ++i) {
            filter_differ(dt, &all[i + 1], &r, &moved, other);
            for (int c = 0; c < FILTER_SAMPLES; ++c) {
                if (!gains.taken[c]) continue;
                slope[0][c][i] = (other[c] - errors[c]) / NOISE_DIFFERENCE;
                slope[1][c][i] = (moved.variance[c] / gains.variance[c] - 1.0) / NOISE_DIFFERENCE;
            }
        }
        for (int c = 0; c < FILTER_SAMPLES; ++c) {
            if (!gains.taken[c]) continue;
            const double weight = 1.0 / gains.variance[c], square = weight * errors[c] * errors[c];
            for (int i = 0; i < n; ++i) {
                gradient[i] += 0.5 * (1.0 - square) * slope[1][c][i] + weight * errors[c] * slope[0][c][i];
                for (int k = 0; k < n; ++k)
                    normal[i * n + k] +=
                        0.5 * slope[1][c][i] * slope[1][c][k] + weight * slope[0][c][i] * slope[0][c][k];
            }
        }
    }
    const double known = 1.0 / (NOISE_DEVIATION * NOISE_DEVIATION);
    for (int i = 0; i < n; ++i) {
        gradient[i] += known * (f->noise[ids[i]] - f->guess[ids[i]]);
        normal[i * n + i] += known;
    }
    return sum;
}

int vy_filter_learn_noise(fit_filter *f, const double *x, int steps)
{
    int ids[NOISE_COUNT], n = 0;
    double normal[NOISE_COUNT * NOISE_COUNT], gradient[NOISE_COUNT], damping = 1e-3;
    for (int i = 0; i < NOISE_COUNT; ++i) {
        if (f->noise_active[i]) ids[n++] = i;
    }
    for (int step = 0; step < steps; ++step) {
        const double cost = noise_sums(f, x, ids, n, normal, gradient);
        if (!real_is_finite(cost)) return 0;
        int better = 0;
        double gained = 0.0;
        for (int attempt = 0; attempt < 8 && !better; ++attempt) {
            double m[NOISE_COUNT * NOISE_COUNT], move[NOISE_COUNT], noise[NOISE_COUNT];
            memcpy(m, normal, sizeof m);
            memcpy(noise, f->noise, sizeof noise);
            for (int i = 0; i < n; ++i) {
                m[i * n + i] *= 1.0 + damping;
                move[i] = -gradient[i];
            }
            if (vy_linear_cholesky(m, n)) {
                vy_linear_solve(m, n, move);
                for (int i = 0; i < n; ++i) noise[ids[i]] += real_clamp(move[i], -NOISE_STEP, NOISE_STEP);
                gained = cost - vy_filter_cost(f, x, noise) - guess_cost(f, noise);
                better = gained >= 0.0;
            }
            damping = better ? damping * 0.1 : damping * 10.0;
            if (better) memcpy(f->noise, noise, sizeof noise);
        }
        if (!better || gained < 0.3) break;
    }
    return 1;
}
