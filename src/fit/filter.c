// filter.c - an extended Kalman filter over a recorded flight, and the likelihood it gives.
#include "fit/filter.h"
#include "base/assert.h"
#include "base/fail.h"
#include "base/math.h"
#include "fit/linear.h"
#include <stdlib.h>

enum { N = FIT_PARAMETER_COUNT, SIZE = FILTER_SIZE };

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

// A vehicle's filter.
typedef struct filter {
    fit_point point;
    fit_plant plant;
    fit_instruments instruments;
    const fit_rotors *rotors;
    noise_model model;
    filter_state state;
    vec3 specific_force; // [m/s^2] body: specific force when it was last asked for
    _Alignas(64) double covariance[SIZE][FILTER_COLUMNS];
} filter;

// The same vehicle with other noise.
typedef struct noise_filter {
    noise_model model;
    double state_difference[SIZE]; // its state less that of the filter
    filter_gains gains;
    _Alignas(64) double covariance[SIZE][FILTER_COLUMNS];
} noise_filter;

typedef struct filter_bank {
    filter reference;
    noise_filter noise[NOISE_COUNT];
    fit_point points[N]; // of other vehicles
    fit_packs packs;
    _Alignas(64) double moved_by[FIT_POINTS_MAX][FIT_LANES_MAX]; // each point of each pack
    _Alignas(64) double sums[N][FIT_COLUMNS];                    // of a part of the flight
} filter_bank;

static const int noise_of[FILTER_SAMPLES] = {NOISE_RATE,     NOISE_RATE,     NOISE_RATE_Z,   NOISE_ACCEL,
                                             NOISE_ACCEL,    NOISE_ACCEL_Z,  NOISE_ATTITUDE, NOISE_ATTITUDE,
                                             NOISE_ATTITUDE, NOISE_VELOCITY, NOISE_VELOCITY, NOISE_VELOCITY,
                                             NOISE_POSITION, NOISE_POSITION, NOISE_POSITION};

static noise_model noise_model_of(const double *noise)
{
    noise_model model;
    for (int c = 0; c < FILTER_SAMPLES; ++c) model.sample_variance[c] = math_exp(2.0 * noise[noise_of[c]]);
    static const int deviation_ids[6] = {NOISE_GUST,   NOISE_GUST,   NOISE_GUST_Z,
                                         NOISE_TORQUE, NOISE_TORQUE, NOISE_TORQUE_Z};
    static const int time_ids[6] = {NOISE_GUST_TIME,   NOISE_GUST_TIME,   NOISE_GUST_TIME_Z,
                                    NOISE_TORQUE_TIME, NOISE_TORQUE_TIME, NOISE_TORQUE_TIME};
    for (int i = 0; i < 6; ++i) {
        model.deviation[i] = math_exp(noise[deviation_ids[i]]);
        model.correlation_time[i] = math_exp(noise[time_ids[i]]);
    }
    return model;
}

// How well the state of the start is known.
static void start_covariance(const fit_data *d, const noise_model *model, double (*p)[FILTER_COLUMNS])
{
    const int has_air = vy_fit_has_air(d);
    const double *variance = model->sample_variance;
    memset(p, 0, SIZE * sizeof *p);
    for (int a = 0; a < 3; ++a) {
        const double velocity =
            d->has_velocity ? variance[CHANNEL_VELOCITY] : VELOCITY_START * VELOCITY_START;
        p[AT_POSITION + a][AT_POSITION + a] = has_air ? variance[CHANNEL_COUNT] : 0.0;
        p[AT_VELOCITY + a][AT_VELOCITY + a] = has_air ? velocity : 0.0;
        p[AT_ATTITUDE + a][AT_ATTITUDE + a] = d->has_attitude ? variance[CHANNEL_ATTITUDE] : 0.0;
        p[AT_RATE + a][AT_RATE + a] = variance[CHANNEL_RATE];
    }
    for (int i = 0; i < 6; ++i) p[AT_FORCE + i][AT_FORCE + i] = model->deviation[i] * model->deviation[i];
}

// Drag over mass along the body axes, as the slope of the specific force over the velocity.
static vec3 drag_over_mass(const fit_data *d, const filter *m, size_t row)
{
    const vy_vehicle_def *v = &m->point.vehicle;
    double speed_sum = 0.0;
    for (int k = 0; k < d->rotors; ++k)
        speed_sum += m->rotors->speed[2 * row * (size_t)d->rotors + (size_t)k];
    const double rotor_drag = v->rotor_air.drag * speed_sum;
    const vec3 drag = vec3_add(v->drag_linear, vec3_make(rotor_drag, rotor_drag, 0.0));
    return vec3_scale(1.0 / v->mass, drag);
}

static void add_block(double a[SIZE][SIZE], int row, int column, double scale, const mat3 *m)
{
    for (int r = 0; r < 3; ++r) {
        for (int c = 0; c < 3; ++c) a[row + r][column + c] += scale * m->m[r][c];
    }
}

// What an error of the state becomes over dt, to first order, to second where the first has nothing.
static void transition(const fit_data *d, const filter *m, size_t row, double dt, double a[SIZE][SIZE])
{
    const mat3 rotation = quat_matrix(m->state.body.attitude), identity = mat3_diag(1.0, 1.0, 1.0);
    const mat3 rate = mat3_cross(m->state.body.rate),
               specific_force = mat3_mul(rotation, mat3_cross(m->specific_force));
    const vec3 drag = drag_over_mass(d, m, row);
    const mat3 drag_matrix =
        mat3_mul(mat3_mul(rotation, mat3_diag(drag.x, drag.y, drag.z)), mat3_transpose(rotation));
    const mat3 inertia = m->point.vehicle.inertia,
               momentum = mat3_cross(mat3_mul_vec(inertia, m->state.body.rate));
    mat3 gyroscopic = mat3_mul(rate, inertia);
    for (int r = 0; r < 3; ++r) {
        for (int c = 0; c < 3; ++c) gyroscopic.m[r][c] -= momentum.m[r][c];
    }
    gyroscopic = mat3_mul(m->plant.params.body.inverse_inertia, gyroscopic);
    memset(a, 0, SIZE * SIZE * sizeof a[0][0]);
    for (int i = 0; i < SIZE; ++i) a[i][i] = 1.0;
    if (vy_fit_has_air(d)) {
        add_block(a, AT_POSITION, AT_VELOCITY, dt, &identity);
        add_block(a, AT_POSITION, AT_ATTITUDE, -0.5 * dt * dt, &specific_force);
        add_block(a, AT_POSITION, AT_FORCE, 0.5 * dt * dt, &identity);
        add_block(a, AT_VELOCITY, AT_VELOCITY, -dt, &drag_matrix);
        add_block(a, AT_VELOCITY, AT_ATTITUDE, -dt, &specific_force);
        add_block(a, AT_VELOCITY, AT_RATE, -0.5 * dt * dt, &specific_force);
        add_block(a, AT_VELOCITY, AT_FORCE, dt, &identity);
    }
    if (d->has_attitude) {
        add_block(a, AT_ATTITUDE, AT_ATTITUDE, -dt, &rate);
        add_block(a, AT_ATTITUDE, AT_RATE, dt, &identity);
        add_block(a, AT_ATTITUDE, AT_TORQUE, 0.5 * dt * dt, &identity);
    }
    add_block(a, AT_RATE, AT_RATE, -dt, &gyroscopic);
    add_block(a, AT_RATE, AT_TORQUE, dt, &identity);
}

// The same without its zeros.
static void compress_transition(double a[SIZE][SIZE], filter_transition *out)
{
    for (int i = 0; i < AT_FORCE; ++i) {
        int n = 0;
        for (int k = 0; k < SIZE; ++k) {
            if (a[i][k] == 0.0) continue;
            out->column[i][n] = k;
            out->factor[i][n++] = a[i][k];
        }
        out->count[i] = n;
    }
}

// What is left of disturbances after dt; `reference`: what is left by a model that may have the same times.
static void decay_disturbances(const noise_model *model, double dt, const noise_model *reference,
                               const double *reference_decay, double decay[6])
{
    for (int i = 0; i < 6; ++i) {
        const double time = model->correlation_time[i];
        if (reference != NULL && time == reference->correlation_time[i])
            decay[i] = reference_decay[i];
        else
            decay[i] = i > 0 && time == model->correlation_time[i - 1] ? decay[i - 1] : math_exp(-dt / time);
    }
}

// The slopes of the expected samples of specific force over the errors of the state.
static void accel_jacobian(const fit_data *d, size_t row, const filter *m, filter_jacobian *out)
{
    const mat3 rotation = quat_matrix(m->state.body.attitude);
    const vec3 drag = drag_over_mass(d, m, row), v = mat3_tmul_vec(rotation, m->state.body.velocity);
    const mat3 force_cross = mat3_cross(mat3_tmul_vec(rotation, m->state.force)),
               velocity_cross = mat3_cross(v);
    for (int r = 0; r < 3; ++r) {
        for (int c = 0; c < 3; ++c) { // velocity, attitude, force
            out->row[r][c] = -(&drag.x)[r] * rotation.m[c][r];
            out->row[r][3 + c] = force_cross.m[r][c] - (&drag.x)[r] * velocity_cross.m[r][c];
            out->row[r][6 + c] = rotation.m[c][r];
        }
    }
}

// A filter with its own covariance.
static void advance_reference(const fit_data *d, const fit_kernel *kernel, size_t row, filter *m,
                              fit_reference_row *r)
{
    const double dt = d->time[row + 1] - d->time[row];
    const vec3 force = m->state.force, torque = m->state.torque, offset = m->point.accel_offset;
    const double disturbance_before[6] = {force.x, force.y, force.z, torque.x, torque.y, torque.z};
    double a[SIZE][SIZE];
    memcpy(r->disturbance, disturbance_before, sizeof disturbance_before);
    transition(d, m, row, dt, a);
    compress_transition(a, &r->transition);
    decay_disturbances(&m->model, dt, NULL, NULL, r->decay);
    kernel->propagate(&r->transition, r->decay, m->model.deviation, m->covariance);
    filter_state_advance(d, &m->plant, &m->rotors, row, r->decay, &m->state);
    filter_state_innovations(d, &m->instruments, &m->plant, &m->rotors, row + 1, &m->state, r->innovations);
    double *expected = &m->specific_force.x;
    for (int i = 0; i < 3; ++i) {
        const double *measured = d->flight->values[VY_FLIGHT_ACCEL + i];
        if (measured != NULL && measured[row + 1] == measured[row + 1])
            expected[i] = measured[row + 1] - r->innovations[CHANNEL_ACCEL + i] - (&offset.x)[i];
    }
    accel_jacobian(d, row + 1, m, &r->jacobian);
    memcpy(r->errors, r->innovations, sizeof r->errors);
    memset(r->correction, 0, sizeof r->correction);
    for (int c = 0; c < FILTER_SAMPLES; ++c) r->gains.fused[c] = r->innovations[c] == r->innovations[c];
    kernel->fuse_samples(&r->jacobian, m->model.sample_variance, m->covariance, &r->gains, r->errors,
                         r->correction);
    filter_state_correct(&m->state, r->correction);
}

// The same vehicle with other noise: its state is near that of the reference.
static void advance_noise(const fit_kernel *kernel, double dt, const noise_model *reference,
                          const fit_reference_row *r, noise_filter *m, double errors[FILTER_SAMPLES])
{
    double decay[6], difference[FILTER_COLUMNS] = {0};
    decay_disturbances(&m->model, dt, reference, r->decay, decay);
    kernel->propagate(&r->transition, decay, m->model.deviation, m->covariance);
    for (int i = 0; i < AT_FORCE; ++i) {
        for (int n = 0; n < r->transition.count[i]; ++n)
            difference[i] += r->transition.factor[i][n] * m->state_difference[r->transition.column[i][n]];
    }
    for (int i = 0; i < 6; ++i)
        difference[AT_FORCE + i] =
            decay[i] * m->state_difference[AT_FORCE + i] + (decay[i] - r->decay[i]) * r->disturbance[i];
    memcpy(errors, r->innovations, sizeof r->innovations);
    memcpy(m->gains.fused, r->gains.fused, sizeof m->gains.fused);
    kernel->fuse_samples(&r->jacobian, m->model.sample_variance, m->covariance, &m->gains, errors,
                         difference);
    for (int i = 0; i < SIZE; ++i) m->state_difference[i] = difference[i] - r->correction[i];
}

void vy_filter_free(fit_filter *f)
{
    for (int i = 0; i < 4; ++i) vy_fit_rotors_free(&f->rotors[i]);
    if (f->bank != NULL) vy_fit_packs_free(&f->bank->packs);
    free(f->bank);
    f->bank = NULL;
}

int vy_filter_set_lanes(fit_filter *f, const fit_kernel *kernel)
{
    vy_fit_packs_free(&f->bank->packs);
    return vy_fit_packs_make(kernel, &f->bank->packs);
}

// The root mean square of second differences, which white noise makes larger by the square root of six.
static double second_difference_rms(const double *x, size_t first_row, size_t last_row)
{
    double previous = 0.0, before_previous = 0.0, sum = 1e-24, count = 1.0;
    int sample_count = 0;
    for (size_t i = first_row; i <= last_row; ++i) {
        if (!(x[i] == x[i])) continue;
        const double second_difference = x[i] - 2.0 * previous + before_previous;
        if (sample_count >= 2) sum += second_difference * second_difference / 6.0, count += 1.0;
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
        const int is_present = c < CHANNEL_COUNT ? d->is_present[c] : d->has_position && d->has_attitude;
        if (!is_present || x == NULL) continue;
        const double scale = c / 3 == CHANNEL_ATTITUDE / 3 ? 2.0 : 1.0; // a quaternion has half the angle
        f->noise[noise_of[c]] =
            math_log(real_max(scale * second_difference_rms(x, f->first_row, f->last_row), 1e-6));
        f->is_noise_active[noise_of[c]] = 1;
    }
    for (int i = NOISE_TORQUE; i <= NOISE_TORQUE_TIME; ++i) f->is_noise_active[i] = 1;
    const int has_horizontal =
        vy_fit_has_air(d) || d->is_present[CHANNEL_ACCEL] || d->is_present[CHANNEL_ACCEL + 1];
    const int has_vertical = vy_fit_has_air(d) || d->is_present[CHANNEL_ACCEL + 2];
    f->is_noise_active[NOISE_GUST] = f->is_noise_active[NOISE_GUST_TIME] = has_horizontal;
    f->is_noise_active[NOISE_GUST_Z] = f->is_noise_active[NOISE_GUST_TIME_Z] = has_vertical;
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
    const double *attitude_w = d->has_attitude ? d->flight->values[VY_FLIGHT_ATTITUDE] : NULL;
    const double *position_x = d->has_position ? d->flight->values[VY_FLIGHT_POSITION] : NULL;
    const double start_time = real_max(from, d->time[0] + WARM_UP);
    size_t i = 0;
    while (i + 1 < d->rows &&
           (d->time[i] < start_time || (attitude_w != NULL && !(attitude_w[i] == attitude_w[i])) ||
            (position_x != NULL && !(position_x[i] == position_x[i]))))
        ++i;
    out->first_row = out->last_row = i;
    while (out->last_row + 1 < d->rows && d->time[out->last_row + 1] <= to + 1e-9) ++out->last_row;
    out->bank = aligned_alloc(64, sizeof *out->bank);
    int ok = out->bank != NULL;
    if (ok) {
        memset(out->bank, 0, sizeof *out->bank);
        ok = vy_fit_packs_make(vy_fit_lanes(), &out->bank->packs);
    }
    for (int k = 0; k < 4; ++k) ok = ok && vy_fit_rotors_make(d, &out->rotors[k]);
    if (!ok) {
        vy_filter_free(out);
        return vy_fail(err, VY_NO_MEMORY, "no memory for a fit");
    }
    init_noise(out);
    return VY_OK;
}

// The reference at x.
static filter *set_reference(fit_filter *f, const double *x, const double *noise)
{
    filter *m = &f->bank->reference;
    m->point = vy_fit_at(&f->base, x);
    m->model = noise_model_of(noise);
    m->rotors = &f->rotors[0];
    m->instruments = vy_fit_instruments(&m->point);
    vy_fit_plant_make(&m->point, &m->plant);
    vy_fit_rotors_run(f->data, &m->point, &f->rotors[0]);
    m->state = filter_state_start(f->data, &m->instruments, f->first_row);
    m->specific_force = vec3_make(0.0, 0.0, m->plant.env.gravity.uniform.z * -1.0);
    start_covariance(f->data, &m->model, m->covariance);
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
    filter *m = set_reference(f, x, noise);
    double sum = 0.0;
    fit_reference_row r;
    for (size_t row = f->first_row; row < f->last_row; ++row) {
        advance_reference(f->data, f->bank->packs.widest, row, m, &r);
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
    const int is_below = x[id] < 0.0 || (x[id] == 0.0 && f->differences_below);
    return id == FIT_IMU_DELAY && is_below ? -DIFFERENCE : DIFFERENCE;
}

// Vehicles with each active parameter moved, side by side.
static void set_perturbed(fit_filter *f, const double *x, const int *active, fit_normal_equations *out)
{
    const fit_point *points[N];
    const fit_rotors *rotors[N];
    double moved_by[N];
    filter_bank *bank = f->bank;
    for (int id = 0; id < N; ++id) {
        double perturbed[N];
        if (!active[id]) continue;
        const int i = out->n++, variant = rotor_variant_of(id);
        memcpy(perturbed, x, sizeof perturbed);
        moved_by[i] = difference_of(f, x, id);
        perturbed[id] += moved_by[i];
        out->ids[i] = id;
        bank->points[i] = vy_fit_at(&f->base, perturbed);
        points[i] = &bank->points[i];
        rotors[i] = &f->rotors[variant];
        if (variant > 0) vy_fit_rotors_run(f->data, points[i], &f->rotors[variant]);
    }
    vy_fit_packs_load(f->data, points, rotors, out->n, &bank->packs);
    for (int pack = 0; pack < bank->packs.count; ++pack) {
        bank->packs.kernel->start(f->data, f->first_row, vy_fit_pack(&bank->packs, pack));
        for (int lane = 0; lane < FIT_LANES_MAX; ++lane) {
            const int is_used = lane < bank->packs.sizes[pack];
            bank->moved_by[pack][lane] = is_used ? moved_by[bank->packs.points[pack][lane]] : 1.0;
        }
    }
}

// The slopes of a row's errors over each parameter.
static void row_slopes(const fit_filter *f, size_t row, const fit_reference_row *r,
                       double (*jacobian)[FIT_COLUMNS])
{
    const fit_packs *packs = &f->bank->packs;
    for (int pack = 0; pack < packs->count; ++pack) {
        _Alignas(64) double slopes[FILTER_SAMPLES][FIT_LANES_MAX];
        packs->kernel->follow(f->data, row, r, f->bank->moved_by[pack], vy_fit_pack(packs, pack), slopes);
        for (int c = 0; c < FILTER_SAMPLES; ++c) {
            if (!r->gains.fused[c]) continue;
            for (int lane = 0; lane < packs->sizes[pack]; ++lane)
                jacobian[c][packs->points[pack][lane]] = slopes[c][lane];
        }
    }
}

// The sums of a part of the flight are done.
static void finish_block(fit_filter *f, size_t block, fit_normal_equations *out)
{
    const int n = out->n;
    for (int i = 0; i < n; ++i) {
        for (int k = 0; k <= i; ++k)
            out->block_normals[block][i * n + k] = out->block_normals[block][k * n + i] = f->bank->sums[i][k];
    }
    memset(f->bank->sums, 0, sizeof f->bank->sums);
}

static void sum_blocks(fit_normal_equations *out)
{
    const int n = out->n;
    for (int i = 0; i < n; ++i) {
        for (int b = 0; b < FIT_BLOCKS; ++b) {
            out->gradient[i] += out->scores[b][i];
            for (int k = 0; k <= i; ++k) out->normal[i * n + k] += out->block_normals[b][i * n + k];
        }
        for (int k = 0; k < i; ++k) out->normal[k * n + i] = out->normal[i * n + k];
    }
}

void vy_filter_linearise(fit_filter *f, const double *x, const int *active, fit_normal_equations *out)
{
    _Alignas(64) double jacobian[FILTER_SAMPLES][FIT_COLUMNS] = {{0}};
    const fit_kernel *kernel = f->bank->packs.widest;
    memset(out, 0, sizeof *out);
    memset(f->bank->sums, 0, sizeof f->bank->sums);
    filter *m = set_reference(f, x, f->noise);
    set_perturbed(f, x, active, out);
    const int n = out->n;
    size_t block = 0;
    for (size_t row = f->first_row; row < f->last_row; ++row) {
        fit_reference_row r;
        advance_reference(f->data, kernel, row, m, &r);
        out->cost += log_likelihood(&r.gains, r.errors);
        row_slopes(f, row, &r, jacobian);
        const size_t row_block = (row - f->first_row) * FIT_BLOCKS / (f->last_row - f->first_row);
        if (row_block != block) finish_block(f, block, out);
        block = row_block;
        for (int c = 0; c < FILTER_SAMPLES; ++c) {
            double weighted[N];
            if (!r.gains.fused[c]) continue;
            const double weight = 1.0 / r.gains.variance[c];
            for (int i = 0; i < n; ++i) {
                weighted[i] = weight * jacobian[c][i];
                out->scores[block][i] += weighted[i] * r.errors[c];
            }
            kernel->add_products(n, weighted, jacobian[c], f->bank->sums);
        }
    }
    finish_block(f, block, out);
    sum_blocks(out);
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

// Filters with each of `n` noises moved.
static void set_noise_filters(fit_filter *f, const int *ids, int n)
{
    for (int i = 0; i < n; ++i) {
        noise_filter *m = &f->bank->noise[i];
        double noise[NOISE_COUNT];
        memcpy(noise, f->noise, sizeof noise);
        noise[ids[i]] += NOISE_DIFFERENCE;
        m->model = noise_model_of(noise);
        memset(m->state_difference, 0, sizeof m->state_difference);
        start_covariance(f->data, &m->model, m->covariance);
    }
}

// Slopes of the likelihood over what is active of the noise, and Fisher's information.
static double noise_gradient(fit_filter *f, const double *x, const int *ids, int n, double *normal,
                             double *gradient)
{
    typedef double by_noise[FILTER_SAMPLES][FIT_COLUMNS];
    _Alignas(64) by_noise moved_errors = {{0}}, variances = {{0}};
    _Alignas(64) double error_slope[FIT_COLUMNS], variance_slope[FIT_COLUMNS],
        sums[NOISE_COUNT][FIT_COLUMNS] = {{0}};
    double sum = noise_prior_cost(f, f->noise);
    const fit_kernel *kernel = f->bank->packs.widest;
    filter *m = set_reference(f, x, f->noise);
    set_noise_filters(f, ids, n);
    memset(gradient, 0, (size_t)n * sizeof *gradient);
    for (size_t row = f->first_row; row < f->last_row; ++row) {
        fit_reference_row r;
        const double dt = f->data->time[row + 1] - f->data->time[row];
        advance_reference(f->data, kernel, row, m, &r);
        sum += log_likelihood(&r.gains, r.errors);
        for (int i = 0; i < n; ++i) {
            double errors[FILTER_SAMPLES];
            noise_filter *moved_filter = &f->bank->noise[i];
            advance_noise(kernel, dt, &m->model, &r, moved_filter, errors);
            for (int c = 0; c < FILTER_SAMPLES; ++c)
                moved_errors[c][i] = errors[c], variances[c][i] = moved_filter->gains.variance[c];
        }
        for (int c = 0; c < FILTER_SAMPLES; ++c) {
            if (!r.gains.fused[c]) continue;
            const double error = r.errors[c], weight = 1.0 / r.gains.variance[c],
                         normalised_square = weight * error * error;
            double half_slope[NOISE_COUNT], weighted_slope[NOISE_COUNT];
            kernel->noise_slopes(n, NOISE_DIFFERENCE, error, r.gains.variance[c], moved_errors[c],
                                 variances[c], error_slope, variance_slope);
            for (int i = 0; i < n; ++i) {
                half_slope[i] = 0.5 * variance_slope[i];
                weighted_slope[i] = weight * error_slope[i];
                gradient[i] +=
                    0.5 * (1.0 - normalised_square) * variance_slope[i] + weight * error * error_slope[i];
            }
            kernel->add_two_products(n, half_slope, variance_slope, weighted_slope, error_slope, sums);
        }
    }
    for (int i = 0; i < n; ++i) memcpy(normal + i * n, sums[i], (size_t)n * sizeof *normal);
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
        if (f->is_noise_active[i]) ids[n++] = i;
    }
    for (int step = 0; step < steps; ++step) {
        const double cost = noise_gradient(f, x, ids, n, normal, gradient);
        if (!real_is_finite(cost)) return 0;
        int is_accepted = 0;
        double decrease = 0.0;
        for (int attempt = 0; attempt < 8 && !is_accepted; ++attempt) {
            double damped[NOISE_COUNT * NOISE_COUNT], delta[NOISE_COUNT], noise[NOISE_COUNT];
            memcpy(damped, normal, sizeof damped);
            memcpy(noise, f->noise, sizeof noise);
            for (int i = 0; i < n; ++i) {
                damped[i * n + i] *= 1.0 + damping;
                delta[i] = -gradient[i];
            }
            if (vy_linear_cholesky(damped, n)) {
                vy_linear_solve(damped, n, delta);
                for (int i = 0; i < n; ++i) noise[ids[i]] += real_clamp(delta[i], -NOISE_STEP, NOISE_STEP);
                decrease = cost - vy_filter_cost(f, x, noise) - noise_prior_cost(f, noise);
                is_accepted = decrease >= 0.0;
            }
            damping = is_accepted ? damping * 0.1 : damping * 10.0;
            if (is_accepted) memcpy(f->noise, noise, sizeof noise);
        }
        if (!is_accepted || decrease < 0.3) break;
    }
    return 1;
}
