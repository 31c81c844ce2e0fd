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
enum {
    AT_POSITION = 0,
    AT_VELOCITY = 3,
    AT_ATTITUDE = 6,
    AT_RATE = 9,
    AT_FORCE = 12,
    AT_TORQUE = 15,
    SIZE = 18
};

#define DIFFERENCE       1e-5 // of a parameter, for slopes
#define NOISE_DIFFERENCE 1e-4 // of a logarithm
#define NOISE_DEVIATION  3.0  // how far the logarithm of a noise may be from the guess
#define NOISE_STEP       1.5  // of a logarithm, at most
#define WARM_UP          0.5  // [s] after which rotors have forgotten at which speed they started
#define VELOCITY_START   0.2  // [m/s] how well a velocity is known at the start that follows from positions

// Noise and disturbances as numbers: variances, and for how long a disturbance lasts.
typedef struct noise_model {
    double sample_variance[FILTER_SAMPLES];
    double deviation[6], correlation_time[6]; // of force and torque from outside
} noise_model;

// One filter.
typedef struct filter {
    fit_point at;
    fit_plant plant;
    const fit_rotors *rotors;
    noise_model model;
    body_state s;
    vec3 force, torque;  // [m/s^2] world, [rad/s^2] body
    vec3 specific_force; // [m/s^2] body: specific force when it was last asked for
    double covariance[SIZE][SIZE];
    double state_difference[SIZE]; // where only the noise differs: this state less that of the reference
} filter;

// What a row's samples do to a state.
typedef struct filter_gains {
    int fused[FILTER_SAMPLES];
    double gain[FILTER_SAMPLES][SIZE], variance[FILTER_SAMPLES];
} filter_gains;

static const int noise_of[FILTER_SAMPLES] = {NOISE_RATE,     NOISE_RATE,     NOISE_RATE_Z,   NOISE_ACCEL,
                                             NOISE_ACCEL,    NOISE_ACCEL_Z,  NOISE_ATTITUDE, NOISE_ATTITUDE,
                                             NOISE_ATTITUDE, NOISE_VELOCITY, NOISE_VELOCITY, NOISE_VELOCITY,
                                             NOISE_POSITION, NOISE_POSITION, NOISE_POSITION};

static noise_model noise_model_of(const double *noise)
{
    noise_model model;
    for (int c = 0; c < FILTER_SAMPLES; ++c) model.sample_variance[c] = math_exp(2.0 * noise[noise_of[c]]);
    static const int deviation[6] = {NOISE_GUST,   NOISE_GUST,   NOISE_GUST_Z,
                                     NOISE_TORQUE, NOISE_TORQUE, NOISE_TORQUE_Z};
    static const int time[6] = {NOISE_GUST_TIME,   NOISE_GUST_TIME,   NOISE_GUST_TIME_Z,
                                NOISE_TORQUE_TIME, NOISE_TORQUE_TIME, NOISE_TORQUE_TIME};
    for (int i = 0; i < 6; ++i) {
        model.deviation[i] = math_exp(noise[deviation[i]]);
        model.correlation_time[i] = math_exp(noise[time[i]]);
    }
    return model;
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
    m->specific_force = vec3_make(0.0, 0.0, m->plant.env.gravity.uniform.z * -1.0);
    memset(m->covariance, 0, sizeof m->covariance);
    const int has_air = vy_fit_has_air(d);
    memset(m->state_difference, 0, sizeof m->state_difference);
    const double *variance = m->model.sample_variance;
    for (int a = 0; a < 3; ++a) {
        const double velocity =
            d->has_velocity ? variance[CHANNEL_VELOCITY] : VELOCITY_START * VELOCITY_START;
        m->covariance[AT_POSITION + a][AT_POSITION + a] = has_air ? variance[CHANNEL_COUNT] : 0.0;
        m->covariance[AT_VELOCITY + a][AT_VELOCITY + a] = has_air ? velocity : 0.0;
        m->covariance[AT_ATTITUDE + a][AT_ATTITUDE + a] = d->has_attitude ? variance[CHANNEL_ATTITUDE] : 0.0;
        m->covariance[AT_RATE + a][AT_RATE + a] = variance[CHANNEL_RATE];
    }
    for (int i = 0; i < 6; ++i)
        m->covariance[AT_FORCE + i][AT_FORCE + i] = m->model.deviation[i] * m->model.deviation[i];
}

// Drag over mass along the body axes, as the slope of the specific force over the velocity.
static vec3 drag_over_mass(const fit_data *d, const filter *m, size_t row)
{
    const vy_vehicle_def *v = &m->at.vehicle;
    double speeds = 0.0;
    for (int k = 0; k < d->rotors; ++k) speeds += m->rotors->speed[2 * row * (size_t)d->rotors + (size_t)k];
    const double rotor_drag = v->rotor_air.drag * speeds;
    const vec3 drag = vec3_add(v->drag_linear, vec3_make(rotor_drag, rotor_drag, 0.0));
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
    const mat3 rotation = quat_matrix(m->s.attitude), identity = mat3_diag(1.0, 1.0, 1.0);
    const mat3 rate = mat3_cross(m->s.rate),
               specific_force = mat3_mul(rotation, mat3_cross(m->specific_force));
    const vec3 drag = drag_over_mass(d, m, row);
    const mat3 drag_matrix =
        mat3_mul(mat3_mul(rotation, mat3_diag(drag.x, drag.y, drag.z)), mat3_transpose(rotation));
    const mat3 inertia = m->at.vehicle.inertia, momentum = mat3_cross(mat3_mul_vec(inertia, m->s.rate));
    mat3 gyroscopic = mat3_mul(rate, inertia);
    for (int r = 0; r < 3; ++r) {
        for (int c = 0; c < 3; ++c) gyroscopic.m[r][c] -= momentum.m[r][c];
    }
    gyroscopic = mat3_mul(mat3_inverse(inertia), gyroscopic);
    memset(a, 0, SIZE * SIZE * sizeof a[0][0]);
    for (int i = 0; i < SIZE; ++i) a[i][i] = 1.0;
    if (vy_fit_has_air(d)) {
        put_block(a, AT_POSITION, AT_VELOCITY, dt, &identity);
        put_block(a, AT_POSITION, AT_ATTITUDE, -0.5 * dt * dt, &specific_force);
        put_block(a, AT_POSITION, AT_FORCE, 0.5 * dt * dt, &identity);
        put_block(a, AT_VELOCITY, AT_VELOCITY, -dt, &drag_matrix);
        put_block(a, AT_VELOCITY, AT_ATTITUDE, -dt, &specific_force);
        put_block(a, AT_VELOCITY, AT_RATE, -0.5 * dt * dt, &specific_force);
        put_block(a, AT_VELOCITY, AT_FORCE, dt, &identity);
    }
    if (d->has_attitude) {
        put_block(a, AT_ATTITUDE, AT_ATTITUDE, -dt, &rate);
        put_block(a, AT_ATTITUDE, AT_RATE, dt, &identity);
        put_block(a, AT_ATTITUDE, AT_TORQUE, 0.5 * dt * dt, &identity);
    }
    put_block(a, AT_RATE, AT_RATE, -dt, &gyroscopic);
    put_block(a, AT_RATE, AT_TORQUE, dt, &identity);
}

// What is left of disturbances after dt, into the transition.
static void decay_disturbances(const noise_model *model, double dt, double a[SIZE][SIZE])
{
    for (int i = 0; i < 6; ++i)
        a[AT_FORCE + i][AT_FORCE + i] = i > 0 && model->correlation_time[i] == model->correlation_time[i - 1]
                                            ? a[AT_FORCE + i - 1][AT_FORCE + i - 1]
                                            : math_exp(-dt / model->correlation_time[i]);
}

// P <- A P A' + Q, where A is mostly zeros.
static void propagate_covariance(const noise_model *model, double a[SIZE][SIZE], double p[SIZE][SIZE])
{
    double product[SIZE][SIZE] = {{0}};
    for (int i = 0; i < SIZE; ++i) {
        for (int k = 0; k < SIZE; ++k) {
            if (a[i][k] == 0.0) continue;
            for (int j = 0; j < SIZE; ++j) product[j][i] += a[i][k] * p[k][j];
        }
    }
    memset(p, 0, SIZE * SIZE * sizeof p[0][0]);
    for (int j = 0; j < SIZE; ++j) { // it is symmetric
        for (int k = 0; k < SIZE; ++k) {
            if (a[j][k] == 0.0) continue;
            for (int i = 0; i < SIZE; ++i) p[j][i] += a[j][k] * product[k][i];
        }
    }
    for (int i = 0; i < 6; ++i) {
        const double decay = a[AT_FORCE + i][AT_FORCE + i];
        p[AT_FORCE + i][AT_FORCE + i] += (1.0 - decay * decay) * model->deviation[i] * model->deviation[i];
    }
}

// From a row to the next; `a`: with its own covariance, and what errors become.
static void filter_advance(const fit_data *d, size_t row, filter *m, double (*a)[SIZE])
{
    const double dt = d->time[row + 1] - d->time[row];
    double decay[6];
    if (a != NULL) {
        transition(d, m, row, dt, a);
        decay_disturbances(&m->model, dt, a);
        propagate_covariance(&m->model, a, m->covariance);
    }
    for (int i = 0; i < 6; ++i)
        decay[i] = i > 0 && m->model.correlation_time[i] == m->model.correlation_time[i - 1]
                       ? decay[i - 1]
                       : math_exp(-dt / m->model.correlation_time[i]);
    vy_fit_step(d, &m->plant, m->rotors, row, &m->s);
    if (vy_fit_has_air(d)) {
        m->s.position = vec3_add_scaled(m->s.position, 0.5 * dt * dt, m->force);
        m->s.velocity = vec3_add_scaled(m->s.velocity, dt, m->force);
    }
    m->s.attitude = quat_apply_small_rotation(m->s.attitude, vec3_scale(0.5 * dt * dt, m->torque));
    m->s.rate = vec3_add_scaled(m->s.rate, dt, m->torque);
    m->force = vec3_mul(m->force, vec3_of(decay));
    m->torque = vec3_mul(m->torque, vec3_of(decay + 3));
}

// What a row says less what it should; NaN: nothing.
static void compute_innovations(const fit_data *d, size_t row, filter *m, double out[FILTER_SAMPLES])
{
    const vy_flight *f = d->flight;
    vy_fit_errors_at(d, &m->at, &m->plant, m->rotors, row, &m->s, out);
    const vec3 force = quat_unrotate(m->s.attitude, m->force);
    for (int a = 0; a < 3; ++a) {
        const double *measured = f->values[VY_FLIGHT_ACCEL + a];
        out[CHANNEL_ACCEL + a] -= (&force.x)[a];
        if (measured != NULL && measured[row] == measured[row])
            (&m->specific_force.x)[a] = measured[row] - out[CHANNEL_ACCEL + a] - (&m->at.accel_offset.x)[a];
        out[CHANNEL_COUNT + a] = math_nan();
        if (d->has_position && d->has_attitude)
            out[CHANNEL_COUNT + a] = f->values[VY_FLIGHT_POSITION + a][row] - (&m->s.position.x)[a] +
                                     m->at.pose_delay * (&m->s.velocity.x)[a];
    }
}

// The slopes of the expected samples of specific force over the errors of the state.
static void accel_jacobian(const fit_data *d, size_t row, const filter *m, double out[3][SIZE])
{
    const mat3 rotation = quat_matrix(m->s.attitude);
    const vec3 drag = drag_over_mass(d, m, row), v = mat3_tmul_vec(rotation, m->s.velocity);
    const mat3 force_cross = mat3_cross(mat3_tmul_vec(rotation, m->force)), velocity_cross = mat3_cross(v);
    memset(out, 0, 3 * SIZE * sizeof out[0][0]);
    for (int r = 0; r < 3; ++r) {
        for (int c = 0; c < 3; ++c) {
            out[r][AT_FORCE + c] = rotation.m[c][r];
            out[r][AT_VELOCITY + c] = -(&drag.x)[r] * rotation.m[c][r];
            out[r][AT_ATTITUDE + c] = force_cross.m[r][c] - (&drag.x)[r] * velocity_cross.m[r][c];
        }
    }
}

// The place of a sample that is an element of the state.
static int state_index_of_sample(int sample)
{
    static const int at[FILTER_SAMPLES / 3] = {AT_RATE, -1, AT_ATTITUDE, AT_VELOCITY, AT_POSITION};
    return at[sample / 3] < 0 ? -1 : at[sample / 3] + sample % 3;
}

// The gain of a sample, and the covariance once it has been taken.
static void update_covariance(int c, const double *slope, const noise_model *model, double p[SIZE][SIZE],
                              filter_gains *gains)
{
    const int at = state_index_of_sample(c);
    double cross_covariance[SIZE] = {0}, variance = model->sample_variance[c];
    if (at >= 0) {
        memcpy(cross_covariance, p[at], sizeof cross_covariance);
        variance += cross_covariance[at];
    } else {
        for (int k = AT_VELOCITY; k < AT_TORQUE; ++k) {
            for (int i = 0; i < SIZE; ++i) cross_covariance[i] += slope[k] * p[k][i];
        }
        for (int i = 0; i < SIZE; ++i) variance += slope[i] * cross_covariance[i];
    }
    double *gain = gains->gain[c];
    gains->variance[c] = variance;
    for (int i = 0; i < SIZE; ++i) gain[i] = cross_covariance[i] / variance;
    for (int i = 0; i < SIZE; ++i) {
        for (int k = 0; k < SIZE; ++k) p[i][k] -= gain[i] * cross_covariance[k];
    }
}

// One sample after the other. `covariance_filter`: covariance and noise model, from which the gains follow;
// NULL: they are given. `errors` become those that are left after the samples before each, and are added to
// `correction` by the gains.
static void fuse_samples(filter *covariance_filter, double jacobian[3][SIZE], filter_gains *gains,
                         double errors[FILTER_SAMPLES], double correction[SIZE])
{
    for (int c = 0; c < FILTER_SAMPLES; ++c) {
        if (!gains->fused[c]) continue;
        const int at = state_index_of_sample(c);
        const double *slope = jacobian[c % 3];
        double expected = 0.0;
        if (at >= 0) {
            expected = correction[at];
        } else {
            for (int i = 0; i < SIZE; ++i) expected += slope[i] * correction[i];
        }
        errors[c] -= expected;
        if (covariance_filter != NULL)
            update_covariance(c, slope, &covariance_filter->model, covariance_filter->covariance, gains);
        for (int i = 0; i < SIZE; ++i) correction[i] += gains->gain[c][i] * errors[c];
    }
}

static void apply_correction(filter *m, const double correction[SIZE])
{
    m->s.position = vec3_add(m->s.position, vec3_of(correction + AT_POSITION));
    m->s.velocity = vec3_add(m->s.velocity, vec3_of(correction + AT_VELOCITY));
    m->s.attitude = quat_apply_small_rotation(m->s.attitude, vec3_of(correction + AT_ATTITUDE));
    m->s.rate = vec3_add(m->s.rate, vec3_of(correction + AT_RATE));
    m->force = vec3_add(m->force, vec3_of(correction + AT_FORCE));
    m->torque = vec3_add(m->torque, vec3_of(correction + AT_TORQUE));
}

// The reference, first filter of the bank, in a row: its samples, their slopes, gains and errors, and how
// they correct it.
typedef struct filter_row {
    double a[SIZE][SIZE], jacobian[3][SIZE], innovations[FILTER_SAMPLES], errors[FILTER_SAMPLES],
        correction[SIZE];
    double disturbance[6]; // force and torque from outside before the row
    filter_gains gains;
} filter_row;

static void advance_reference(const fit_data *d, size_t row, filter *m, filter_row *r)
{
    for (int i = 0; i < 6; ++i) r->disturbance[i] = i < 3 ? (&m->force.x)[i] : (&m->torque.x)[i - 3];
    filter_advance(d, row, m, r->a);
    compute_innovations(d, row + 1, m, r->innovations);
    accel_jacobian(d, row + 1, m, r->jacobian);
    memcpy(r->errors, r->innovations, sizeof r->errors);
    memset(r->correction, 0, sizeof r->correction);
    for (int c = 0; c < FILTER_SAMPLES; ++c) r->gains.fused[c] = r->innovations[c] == r->innovations[c];
    fuse_samples(m, r->jacobian, &r->gains, r->errors, r->correction);
    apply_correction(m, r->correction);
}

// Another vehicle with the gains of the reference.
static void advance_perturbed(const fit_data *d, size_t row, filter *m, filter_row *r,
                              double errors[FILTER_SAMPLES])
{
    double correction[SIZE] = {0};
    filter_advance(d, row, m, NULL);
    compute_innovations(d, row + 1, m, errors);
    fuse_samples(NULL, r->jacobian, &r->gains, errors, correction);
    apply_correction(m, correction);
}

// The same vehicle with other noise: its state is near that of the reference.
static void advance_perturbed_noise(double dt, filter *m, filter_row *r, filter_gains *gains,
                                    double errors[FILTER_SAMPLES])
{
    double before[6], difference[SIZE] = {0}, innovations[FILTER_SAMPLES];
    for (int i = 0; i < 6; ++i) before[i] = r->a[AT_FORCE + i][AT_FORCE + i];
    decay_disturbances(&m->model, dt, r->a);
    propagate_covariance(&m->model, r->a, m->covariance);
    for (int i = 0; i < SIZE; ++i) {
        for (int k = 0; k < SIZE; ++k) {
            if (r->a[i][k] != 0.0) difference[i] += r->a[i][k] * m->state_difference[k];
        }
    }
    for (int i = 0; i < 6; ++i) {
        difference[AT_FORCE + i] += (r->a[AT_FORCE + i][AT_FORCE + i] - before[i]) * r->disturbance[i];
        r->a[AT_FORCE + i][AT_FORCE + i] = before[i];
    }
    memcpy(innovations, r->innovations, sizeof innovations);
    memcpy(gains->fused, r->gains.fused, sizeof gains->fused);
    fuse_samples(m, r->jacobian, gains, innovations, difference);
    memcpy(errors, innovations, sizeof innovations);
    for (int i = 0; i < SIZE; ++i) m->state_difference[i] = difference[i] - r->correction[i];
}

void vy_filter_free(fit_filter *f)
{
    for (int i = 0; i < 4; ++i) vy_fit_rotors_free(&f->rotors[i]);
    free(f->bank);
    f->bank = NULL;
}

// The root mean square of second differences, which white noise makes larger by the square root of six.
static double second_difference_rms(const double *x, size_t first, size_t last)
{
    double previous = 0.0, before_previous = 0.0, sum = 1e-24, count = 1.0;
    int sample_count = 0;
    for (size_t i = first; i <= last; ++i) {
        if (!(x[i] == x[i])) continue;
        const double second = x[i] - 2.0 * previous + before_previous;
        if (sample_count >= 2) sum += second * second / 6.0, count += 1.0;
        before_previous = previous, previous = x[i], ++sample_count;
    }
    return real_sqrt(sum / count);
}

static void init_noise(fit_filter *f)
{
    static const int quantity[FILTER_SAMPLES / 3] = {VY_FLIGHT_RATE, VY_FLIGHT_ACCEL, VY_FLIGHT_ATTITUDE + 1,
                                                     VY_FLIGHT_VELOCITY, VY_FLIGHT_POSITION};
    const fit_data *d = f->data;
    for (int c = 0; c < FILTER_SAMPLES; ++c) {
        const double *x = d->flight->values[quantity[c / 3] + c % 3];
        const int present = c < CHANNEL_COUNT ? d->present[c] : d->has_position && d->has_attitude;
        if (!present || x == NULL) continue;
        const double scale = c / 3 == CHANNEL_ATTITUDE / 3 ? 2.0 : 1.0; // a quaternion has half the angle
        f->noise[noise_of[c]] = math_log(real_max(scale * second_difference_rms(x, f->first, f->last), 1e-6));
        f->noise_active[noise_of[c]] = 1;
    }
    for (int i = NOISE_TORQUE; i <= NOISE_TORQUE_TIME; ++i) f->noise_active[i] = 1;
    const int horizontal = vy_fit_has_air(d) || d->present[CHANNEL_ACCEL] || d->present[CHANNEL_ACCEL + 1];
    const int vertical = vy_fit_has_air(d) || d->present[CHANNEL_ACCEL + 2];
    f->noise_active[NOISE_GUST] = f->noise_active[NOISE_GUST_TIME] = horizontal;
    f->noise_active[NOISE_GUST_Z] = f->noise_active[NOISE_GUST_TIME_Z] = vertical;
    f->noise[NOISE_GUST] = f->noise[NOISE_GUST_Z] = math_log(0.1);
    f->noise[NOISE_GUST_TIME] = f->noise[NOISE_GUST_TIME_Z] = math_log(3.0);
    f->noise[NOISE_TORQUE] = f->noise[NOISE_RATE] - math_log(0.1);
    f->noise[NOISE_TORQUE_Z] = f->noise[NOISE_RATE_Z] - math_log(0.1);
    f->noise[NOISE_TORQUE_TIME] = math_log(0.1);
    memcpy(f->noise_prior, f->noise, sizeof f->noise_prior);
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
    int ok = out->bank != NULL;
    for (int k = 0; k < 4; ++k) ok = ok && vy_fit_rotors_make(d, &out->rotors[k]);
    if (!ok) {
        vy_filter_free(out);
        return vy_fail(err, VY_NO_MEMORY, "no memory for a fit");
    }
    init_noise(out);
    return VY_OK;
}

// A filter at x, in one place of the bank.
static filter *set_filter(fit_filter *f, int index, const double *x, const double *noise, int rotors)
{
    filter *m = (filter *)f->bank + index;
    m->at = vy_fit_at(&f->base, x);
    m->model = noise_model_of(noise);
    m->rotors = &f->rotors[rotors];
    vy_fit_plant_make(&m->at, &m->plant);
    if (index == 0 || rotors > 0) vy_fit_rotors_run(f->data, &m->at, &f->rotors[rotors]);
    filter_start(f, m);
    return m;
}

static double log_likelihood(const filter_gains *g, const double *errors)
{
    double sum = 0.0;
    for (int c = 0; c < FILTER_SAMPLES; ++c) {
        if (g->fused[c]) sum += math_log(g->variance[c]) + errors[c] * errors[c] / g->variance[c];
    }
    return sum;
}

double vy_filter_cost(fit_filter *f, const double *x, const double *noise)
{
    filter *m = set_filter(f, 0, x, noise, 0);
    double sum = 0.0;
    filter_row r;
    for (size_t row = f->first; row < f->last; ++row) {
        advance_reference(f->data, row, m, &r);
        sum += log_likelihood(&r.gains, r.errors);
    }
    return sum;
}

static int rotor_variant_of(int id)
{
    return id == FIT_LAG_UP ? 1 : id == FIT_LAG_DOWN ? 2 : id == FIT_IMU_DELAY ? 3 : 0;
}

// By how much a parameter is moved for a slope: the IMU delay never across 0.
static double difference_of(const fit_filter *f, const double *x, int id)
{
    const int below = x[id] < 0.0 || (x[id] == 0.0 && f->from_below);
    return id == FIT_IMU_DELAY && below ? -DIFFERENCE : DIFFERENCE;
}

void vy_filter_linearise(fit_filter *f, const double *x, const int *active, fit_normal_equations *out)
{
    double difference[N];
    memset(out, 0, sizeof *out);
    filter *m = set_filter(f, 0, x, f->noise, 0), *bank = f->bank;
    for (int i = 0; i < N; ++i) {
        double perturbed[N];
        if (!active[i]) continue;
        memcpy(perturbed, x, sizeof perturbed);
        difference[out->n] = difference_of(f, x, i);
        perturbed[i] += difference[out->n];
        out->ids[out->n++] = i;
        (void)set_filter(f, out->n, perturbed, f->noise, rotor_variant_of(i));
    }
    const int n = out->n;
    for (size_t row = f->first; row < f->last; ++row) {
        double jacobian[FILTER_SAMPLES][N], perturbed_errors[FILTER_SAMPLES];
        filter_row r;
        advance_reference(f->data, row, m, &r);
        out->cost += log_likelihood(&r.gains, r.errors);
        for (int i = 0; i < n; ++i) {
            advance_perturbed(f->data, row, &bank[i + 1], &r, perturbed_errors);
            for (int c = 0; c < FILTER_SAMPLES; ++c)
                jacobian[c][i] = (perturbed_errors[c] - r.errors[c]) / difference[i];
        }
        const size_t block = (row - f->first) * FIT_BLOCKS / (f->last - f->first);
        double *score = out->scores[block], *part = out->block_normals[block];
        for (int c = 0; c < FILTER_SAMPLES; ++c) {
            if (!r.gains.fused[c]) continue;
            const double weight = 1.0 / r.gains.variance[c];
            for (int i = 0; i < n; ++i) {
                const double weighted = weight * jacobian[c][i];
                score[i] += weighted * r.errors[c];
                for (int k = 0; k <= i; ++k) part[i * n + k] += weighted * jacobian[c][k];
            }
        }
    }
    for (int i = 0; i < n; ++i) {
        for (int b = 0; b < FIT_BLOCKS; ++b) {
            double *part = out->block_normals[b];
            out->gradient[i] += out->scores[b][i];
            for (int k = 0; k <= i; ++k) part[k * n + i] = part[i * n + k];
            for (int k = 0; k <= i; ++k) out->normal[i * n + k] += part[i * n + k];
        }
        for (int k = 0; k < i; ++k) out->normal[k * n + i] = out->normal[i * n + k];
    }
}

// How far noise is from the guess.
static double noise_prior_cost(const fit_filter *f, const double *noise)
{
    double sum = 0.0;
    for (int i = 0; i < NOISE_COUNT; ++i) {
        const double deviation = (noise[i] - f->noise_prior[i]) / NOISE_DEVIATION;
        sum += deviation * deviation;
    }
    return sum;
}

// Slopes of the likelihood over what is active of the noise, and Fisher's information.
static double noise_gradient(fit_filter *f, const double *x, const int *ids, int n, double *normal,
                             double *gradient)
{
    double noise[NOISE_COUNT][NOISE_COUNT], sum = noise_prior_cost(f, f->noise);
    filter *m = set_filter(f, 0, x, f->noise, 0), *bank = f->bank;
    memset(normal, 0, (size_t)(n * n) * sizeof *normal);
    memset(gradient, 0, (size_t)n * sizeof *gradient);
    for (int i = 0; i < n; ++i) {
        memcpy(noise[i], f->noise, sizeof noise[i]);
        noise[i][ids[i]] += NOISE_DIFFERENCE;
        (void)set_filter(f, i + 1, x, noise[i], 0);
    }
    for (size_t row = f->first; row < f->last; ++row) {
        double perturbed_errors[FILTER_SAMPLES], slope[2][FILTER_SAMPLES][NOISE_COUNT];
        filter_row r;
        filter_gains perturbed_gains;
        const double dt = f->data->time[row + 1] - f->data->time[row];
        advance_reference(f->data, row, m, &r);
        sum += log_likelihood(&r.gains, r.errors);
        const filter_gains gains = r.gains;
        const double *errors = r.errors;
        for (int i = 0; i < n; ++i) {
            advance_perturbed_noise(dt, &bank[i + 1], &r, &perturbed_gains, perturbed_errors);
            for (int c = 0; c < FILTER_SAMPLES; ++c) {
                if (!gains.fused[c]) continue;
                slope[0][c][i] = (perturbed_errors[c] - errors[c]) / NOISE_DIFFERENCE;
                slope[1][c][i] = (perturbed_gains.variance[c] / gains.variance[c] - 1.0) / NOISE_DIFFERENCE;
            }
        }
        for (int c = 0; c < FILTER_SAMPLES; ++c) {
            if (!gains.fused[c]) continue;
            const double weight = 1.0 / gains.variance[c], square = weight * errors[c] * errors[c];
            for (int i = 0; i < n; ++i) {
                gradient[i] += 0.5 * (1.0 - square) * slope[1][c][i] + weight * errors[c] * slope[0][c][i];
                for (int k = 0; k < n; ++k)
                    normal[i * n + k] +=
                        0.5 * slope[1][c][i] * slope[1][c][k] + weight * slope[0][c][i] * slope[0][c][k];
            }
        }
    }
    const double prior_weight = 1.0 / (NOISE_DEVIATION * NOISE_DEVIATION);
    for (int i = 0; i < n; ++i) {
        gradient[i] += prior_weight * (f->noise[ids[i]] - f->noise_prior[ids[i]]);
        normal[i * n + i] += prior_weight;
    }
    return sum;
}

int vy_filter_estimate_noise(fit_filter *f, const double *x, int steps)
{
    int ids[NOISE_COUNT], n = 0;
    double normal[NOISE_COUNT * NOISE_COUNT], gradient[NOISE_COUNT], damping = 1e-3;
    for (int i = 0; i < NOISE_COUNT; ++i) {
        if (f->noise_active[i]) ids[n++] = i;
    }
    for (int step = 0; step < steps; ++step) {
        const double cost = noise_gradient(f, x, ids, n, normal, gradient);
        if (!real_is_finite(cost)) return 0;
        int accepted = 0;
        double decrease = 0.0;
        for (int attempt = 0; attempt < 8 && !accepted; ++attempt) {
            double m[NOISE_COUNT * NOISE_COUNT], delta[NOISE_COUNT], noise[NOISE_COUNT];
            memcpy(m, normal, sizeof m);
            memcpy(noise, f->noise, sizeof noise);
            for (int i = 0; i < n; ++i) {
                m[i * n + i] *= 1.0 + damping;
                delta[i] = -gradient[i];
            }
            if (vy_linear_cholesky(m, n)) {
                vy_linear_solve(m, n, delta);
                for (int i = 0; i < n; ++i) noise[ids[i]] += real_clamp(delta[i], -NOISE_STEP, NOISE_STEP);
                decrease = cost - vy_filter_cost(f, x, noise) - noise_prior_cost(f, noise);
                accepted = decrease >= 0.0;
            }
            damping = accepted ? damping * 0.1 : damping * 10.0;
            if (accepted) memcpy(f->noise, noise, sizeof noise);
        }
        if (!accepted || decrease < 0.3) break;
    }
    return 1;
}
