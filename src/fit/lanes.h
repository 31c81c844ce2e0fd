// lanes.h - what a fit and its kernels share: plain types alone, one layout for every lane width.
//
// Two things lie side by side. Points: vehicles that differ in a parameter or two, flown through the same
// rows, one in each lane. Columns: those of the covariance of one filter. No lane sees another, so every
// width gives the same bits.
#pragma once
#include "fit/data.h"

// Where an error of a filter's state begins in a row: position, velocity (world), attitude, rate (body), and
// what accelerates from outside: a force over the mass (world) and a torque over the inertia (body).
enum {
    AT_POSITION = 0,
    AT_VELOCITY = 3,
    AT_ATTITUDE = 6,
    AT_RATE = 9,
    AT_FORCE = 12,
    AT_TORQUE = 15,
    FILTER_SIZE = 18,
    FILTER_COLUMNS = 24,                // of memory: whole lanes of every width; the last ones are 0
    FILTER_SAMPLES = CHANNEL_COUNT + 3, // of a row: all channels and the position
    FIT_LANES_MAX = 8,
    FIT_COLUMNS = 32, // of memory for a row of numbers per parameter: whole lanes of every width
};
_Static_assert((int)FIT_PARAMETER_COUNT <= (int)FIT_COLUMNS, "a row has all parameters");

/// What an error of the state becomes over a row, without the zeros: element `row` is the sum of `factor`
/// times the elements `column`. Disturbances decay by themselves.
typedef struct filter_transition {
    int count[AT_FORCE], column[AT_FORCE][FILTER_SIZE];
    double factor[AT_FORCE][FILTER_SIZE];
} filter_transition;

/// The slopes of the expected samples of specific force over those elements of the state on which it depends:
/// velocity, attitude, and force from outside.
enum { FILTER_SLOPES = 9 };
typedef struct filter_jacobian {
    double row[3][FILTER_SLOPES];
} filter_jacobian;

/// Which element slope `i` is over.
static inline int filter_slope_element(int i) { return i < 6 ? AT_VELOCITY + i : AT_FORCE + i - 6; }

/// What a row's samples do to a state.
typedef struct filter_gains {
    _Alignas(64) double gain[FILTER_SAMPLES][FILTER_COLUMNS];
    double variance[FILTER_SAMPLES];
    int fused[FILTER_SAMPLES];
} filter_gains;

/// The place of a sample that is an element of the state; -1: of specific force, which is none.
static inline int filter_element_of(int sample)
{
    static const int first_element[FILTER_SAMPLES / 3] = {AT_RATE, -1, AT_ATTITUDE, AT_VELOCITY, AT_POSITION};
    return first_element[sample / 3] < 0 ? -1 : first_element[sample / 3] + sample % 3;
}

/// The reference in a row: its samples, their slopes and gains, and its errors.
typedef struct fit_reference_row {
    filter_transition transition;
    filter_jacobian jacobian;
    double innovations[FILTER_SAMPLES], errors[FILTER_SAMPLES]; // before and after the samples before each
    double correction[FILTER_COLUMNS], decay[6];
    double disturbance[6]; // force and torque from outside before the row
    filter_gains gains;
} fit_reference_row;

/// One of the points that lie side by side.
typedef struct fit_lane {
    const fit_point *point;
    const fit_rotors *rotors;
    const double *layout; // the numbers of its rotor_layout, from `roll` to the thrusters
    const double *params; // those of its multirotor_params
    uint64_t flags;       // effects that are computed
} fit_lane;

/// The kernel of one width.
typedef struct fit_kernel {
    const char *name;
    int width;
    size_t pack_size;               // [bytes] of memory for `width` points, aligned to 64
    int layout_count, params_count; // numbers of a lane
    /// Put `count` points into a pack.
    void (*load)(const fit_data *d, const fit_lane *lanes, int count, void *pack);
    /// Errors of predictions from row first_rows[k] over the horizon, in bins, of each point: out[point][(k *
    /// CHANNEL_COUNT + channel) * FIT_BINS + bin]; 0 where a bin has no row.
    void (*predict)(const fit_data *d, const void *pack, const size_t *first_rows, int count, double horizon,
                    double *const *out);
    /// Start filters at the points, in the measured state of `row`.
    void (*start)(const fit_data *d, size_t row, void *pack);
    /// From `row` to the next, with the gains of another filter, the reference; `decay`: of disturbances.
    /// slopes[sample][lane]: its errors less those of the reference, over what the point was moved by.
    void (*follow)(const fit_data *d, size_t row, const fit_reference_row *r, const double *moved_by,
                   void *pack, double (*slopes)[FIT_LANES_MAX]);
    /// P <- A P A' + Q of one filter.
    void (*propagate)(const filter_transition *a, const double decay[6], const double deviation[6],
                      double (*p)[FILTER_COLUMNS]);
    /// Take the samples that are `fused`, one after the other: gains and variances follow from the
    /// covariance. `errors` become those that are left after the samples before each, and are added to
    /// `correction`, of FILTER_COLUMNS, by the gains.
    void (*fuse_samples)(const filter_jacobian *jacobian, const double *sample_variance,
                         double (*p)[FILTER_COLUMNS], filter_gains *gains, double *errors,
                         double *correction);
    /// What a change of noises by `step` does to a sample of the reference: slopes of its error, and of
    /// the logarithm of its variance, over `n` noises, from the errors and variances that each has.
    void (*noise_slopes)(int n, double step, double error, double variance, const double *errors,
                         const double *variances, double *error_slopes, double *variance_slopes);
    /// sum[i][k] += first[i] * second[k] for k <= i < n, and numbers without meaning for some k above i.
    void (*add_products)(int n, const double *first, const double *second, double (*sum)[FIT_COLUMNS]);
    /// sum[i][k] += first[i] * second[k] + third[i] * fourth[k] for i, k < n, likewise.
    void (*add_two_products)(int n, const double *first, const double *second, const double *third,
                             const double *fourth, double (*sum)[FIT_COLUMNS]);
} fit_kernel;

/// NULL where the compiler has no such instructions.
extern const fit_kernel *const vy_fit_lanes_1, *const vy_fit_lanes_2, *const vy_fit_lanes_4_avx2,
                                                                          *const vy_fit_lanes_8_avx512;

/// The widest that this processor has.
const fit_kernel *vy_fit_lanes(void);
