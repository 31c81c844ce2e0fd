// lanes.inl - the text of every kernel of a fit: points and columns side by side, as many as VY_LANES.
#define VY_LAYOUT_LANES 1
#include "fit/covariance.h"
#include "fit/motion.h"

enum { LAYOUT_BYTES = offsetof(rotor_layout, thrusters) - offsetof(rotor_layout, roll) };
_Static_assert(LAYOUT_BYTES % sizeof(real) == 0 && sizeof(multirotor_params) % sizeof(real) == 0,
               "numbers of lanes alone");

// As many points as there are lanes.
typedef struct point_pack {
    fit_plant plant;
    fit_instruments instruments;
    const fit_rotors *rotors[VY_LANES];
    filter_state state;
} point_pack;

// Number i of a lane is that of its own structure.
static void load_numbers(const double *from, size_t count, int lane, void *to)
{
    real *numbers = to;
    for (size_t i = 0; i < count; ++i) numbers[i] = real_with_lane(numbers[i], lane, from[i]);
}

static void load_points(const fit_data *d, const fit_lane *lanes, int count, void *pack)
{
    point_pack *m = pack;
    VY_ASSERT(count >= 1 && count <= VY_LANES);
    memset(m, 0, sizeof *m);
    m->plant.layout.count = d->rotors;
    m->plant.layout.general = 1; // a fit's vehicles have two lags
    uint64_t flags[VY_LANES];
    bits effects;
    for (int lane = 0; lane < VY_LANES; ++lane) { // what is left over does as the first
        const fit_lane *from = &lanes[lane < count ? lane : 0];
        const double instruments[] = {from->point->pose_delay,     from->point->accel_delay,
                                      from->point->accel_offset.x, from->point->accel_offset.y,
                                      from->point->accel_offset.z, from->point->gyro_offset.x,
                                      from->point->gyro_offset.y,  from->point->gyro_offset.z};
        _Static_assert(sizeof instruments * VY_LANES == sizeof m->instruments, "every number has its place");
        load_numbers(from->layout, LAYOUT_BYTES / sizeof(real), lane, m->plant.layout.roll);
        load_numbers(from->params, sizeof m->plant.params / sizeof(real), lane, &m->plant.params);
        load_numbers(instruments, sizeof instruments / sizeof instruments[0], lane, &m->instruments);
        flags[lane] = from->flags;
        m->rotors[lane] = from->rotors;
    }
    memcpy(&effects, flags, sizeof flags);
    motion_prepare(&m->plant, effects);
}

// Sums of errors over the rows of each part of a horizon.
typedef struct bin_sums {
    real sum[CHANNEL_COUNT][FIT_BINS], rows[CHANNEL_COUNT][FIT_BINS];
} bin_sums;

static void predict_one(const fit_data *d, const point_pack *m, size_t first_row, double horizon,
                        bin_sums *bins)
{
    real errors[CHANNEL_COUNT];
    const double start_time = d->time[first_row];
    body_state s = motion_measured(d, &m->instruments, first_row);
    memset(bins, 0, sizeof *bins);
    for (size_t row = first_row; row + 1 < d->rows;) {
        motion_step(d, &m->plant, m->rotors, row++, &s);
        // The end of a horizon belongs to it.
        const int bin = (int)((d->time[row] - start_time) * (FIT_BINS / horizon) - 1e-6);
        if (bin >= FIT_BINS) break;
        motion_errors(d, &m->instruments, &m->plant, m->rotors, row, &s, errors);
        for (int c = 0; c < CHANNEL_COUNT; ++c) {
            const mask is_known = errors[c] == errors[c];
            bins->sum[c][bin] = bins->sum[c][bin] + real_select(is_known, errors[c], real_set(0.0));
            bins->rows[c][bin] = bins->rows[c][bin] + real_select(is_known, real_set(1.0), real_set(0.0));
        }
    }
}

static void predict(const fit_data *d, const void *pack, const size_t *first_rows, int count, double horizon,
                    double *const *out)
{
    bin_sums bins;
    for (int k = 0; k < count; ++k) {
        predict_one(d, pack, first_rows[k], horizon, &bins);
        for (int i = 0; i < CHANNEL_COUNT * FIT_BINS; ++i) {
            const real rows = bins.rows[i / FIT_BINS][i % FIT_BINS];
            const real mean = bins.sum[i / FIT_BINS][i % FIT_BINS] / real_max(rows, real_set(1.0));
            for (int lane = 0; lane < VY_LANES; ++lane) {
                if (out[lane] != NULL) out[lane][k * CHANNEL_COUNT * FIT_BINS + i] = real_lane(mean, lane);
            }
        }
    }
}

static void start(const fit_data *d, size_t row, void *pack)
{
    point_pack *m = pack;
    m->state = filter_state_start(d, &m->instruments, row);
}

// From a row to the next: the slope of each error in each lane, whose parameter was moved by `moved_by`.
static void follow(const fit_data *d, size_t row, const fit_reference_row *r, const double *moved_by,
                   void *pack, double (*slopes)[FIT_LANES_MAX])
{
    point_pack *m = pack;
    const filter_gains *gains = &r->gains;
    real errors[FILTER_SAMPLES], correction[FILTER_SIZE];
    filter_state_advance(d, &m->plant, m->rotors, row, r->decay, &m->state);
    filter_state_innovations(d, &m->instruments, &m->plant, m->rotors, row + 1, &m->state, errors);
    for (int i = 0; i < FILTER_SIZE; ++i) correction[i] = real_set(0.0);
    for (int c = 0; c < FILTER_SAMPLES; ++c) {
        if (!gains->fused[c]) continue;
        const int element = filter_element_of(c);
        real expected = element >= 0 ? correction[element] : real_set(0.0);
        for (int k = 0; k < FILTER_SLOPES && element < 0; ++k)
            expected = expected + r->jacobian.row[c % 3][k] * correction[filter_slope_element(k)];
        errors[c] = errors[c] - expected;
        for (int i = 0; i < FILTER_SIZE; ++i) correction[i] = correction[i] + gains->gain[c][i] * errors[c];
        real_store(slopes[c], (errors[c] - r->errors[c]) / real_load(moved_by));
    }
    filter_state_correct(&m->state, correction);
}

static void propagate(const filter_transition *a, const double decay[6], const double deviation[6],
                      double (*p)[FILTER_COLUMNS])
{
    covariance_propagate(a, decay, deviation, p);
}

static void fuse_samples(const filter_jacobian *jacobian, const double *sample_variance,
                         double (*p)[FILTER_COLUMNS], filter_gains *gains, double *errors, double *correction)
{
    for (int c = 0; c < FILTER_SAMPLES; ++c) {
        if (!gains->fused[c]) continue;
        double *gain = gains->gain[c];
        errors[c] -= covariance_expected(c, jacobian->row[c % 3], correction);
        covariance_fuse_sample(c, jacobian->row[c % 3], sample_variance[c], p, gain, &gains->variance[c]);
        for (int i = 0; i < LANE_GROUPS * VY_LANES; i += VY_LANES)
            real_store(correction + i, real_load(correction + i) + real_load(gain + i) * errors[c]);
    }
}

static void noise_slopes(int n, double step, double error, double variance, const double *errors,
                         const double *variances, double *error_slopes, double *variance_slopes)
{
    for (int i = 0; i < n; i += VY_LANES) {
        real_store(error_slopes + i, (real_load(errors + i) - error) / step);
        real_store(variance_slopes + i, (real_load(variances + i) / variance - 1.0) / step);
    }
}

static void add_products(int n, const double *first, const double *second, double (*sum)[FIT_COLUMNS])
{
    for (int i = 0; i < n; ++i) {
        for (int k = 0; k <= i; k += VY_LANES)
            real_store(sum[i] + k, real_load(sum[i] + k) + first[i] * real_load(second + k));
    }
}

static void add_two_products(int n, const double *first, const double *second, const double *third,
                             const double *fourth, double (*sum)[FIT_COLUMNS])
{
    for (int i = 0; i < n; ++i) {
        for (int k = 0; k < n; k += VY_LANES) {
            const real products = first[i] * real_load(second + k) + third[i] * real_load(fourth + k);
            real_store(sum[i] + k, real_load(sum[i] + k) + products);
        }
    }
}

static const fit_kernel kernel = {
    .name = FIT_NAME,
    .width = VY_LANES,
    .pack_size = sizeof(point_pack),
    .layout_count = LAYOUT_BYTES / sizeof(real),
    .params_count = sizeof(multirotor_params) / sizeof(real),
    .load = load_points,
    .predict = predict,
    .start = start,
    .follow = follow,
    .propagate = propagate,
    .fuse_samples = fuse_samples,
    .noise_slopes = noise_slopes,
    .add_products = add_products,
    .add_two_products = add_two_products,
};
const fit_kernel *const FIT_KERNEL = &kernel;
