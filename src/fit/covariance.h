// covariance.h - the covariance of a filter, its columns side by side. Over `real`.
#pragma once
#include "base/real.h"
#include "fit/lanes.h"

/// A row of the covariance in groups of as many columns as there are lanes.
enum { LANE_GROUPS = (FILTER_SIZE + VY_LANES - 1) / VY_LANES };

/// Row `row` of A P.
VY_FN void covariance_row(const filter_transition *a, const double *decay, int row,
                          double (*p)[FILTER_COLUMNS], double *out)
{
    real sum[LANE_GROUPS];
    for (int g = 0; g < LANE_GROUPS; ++g) sum[g] = real_set(0.0);
    const int count = row < AT_FORCE ? a->count[row] : 1;
    for (int n = 0; n < count; ++n) {
        const double factor = row < AT_FORCE ? a->factor[row][n] : decay[row - AT_FORCE];
        const double *row_in = p[row < AT_FORCE ? a->column[row][n] : row];
        for (int g = 0; g < LANE_GROUPS; ++g) sum[g] = sum[g] + factor * real_load(row_in + g * VY_LANES);
    }
    for (int g = 0; g < LANE_GROUPS; ++g) real_store(out + g * VY_LANES, sum[g]);
}

/// P <- A P A' + Q.
VY_FN void covariance_propagate(const filter_transition *a, const double *decay, const double *deviation,
                                double (*p)[FILTER_COLUMNS])
{
    VY_ALIGNED(64) double product[FILTER_COLUMNS][FILTER_COLUMNS], transposed[FILTER_COLUMNS][FILTER_COLUMNS];
    memset(product + FILTER_SIZE, 0, (FILTER_COLUMNS - FILTER_SIZE) * sizeof product[0]);
    for (int i = 0; i < FILTER_SIZE; ++i) covariance_row(a, decay, i, p, product[i]);
    for (int i = 0; i < LANE_GROUPS * VY_LANES; i += VY_LANES) {
        for (int k = 0; k < FILTER_COLUMNS; k += 8) {
            const double *rows[VY_LANES];
            real columns[8];
            for (int lane = 0; lane < VY_LANES; ++lane) rows[lane] = product[i + lane] + k;
            real_load_rows(rows, columns);
            for (int c = 0; c < 8; ++c) real_store(transposed[k + c] + i, columns[c]);
        }
    }
    for (int i = 0; i < FILTER_SIZE; ++i) covariance_row(a, decay, i, transposed, p[i]);
    for (int i = 0; i < 6; ++i)
        p[AT_FORCE + i][AT_FORCE + i] += (1.0 - decay[i] * decay[i]) * deviation[i] * deviation[i];
}

/// The gain of a sample, and the covariance once it has been taken.
VY_FN void covariance_fuse_sample(int sample, const double *slope, double sample_variance,
                                  double (*p)[FILTER_COLUMNS], double *gain, double *variance)
{
    const int element = filter_element_of(sample);
    real sample_covariance[LANE_GROUPS];
    double total_variance = sample_variance;
    if (element >= 0) {
        for (int g = 0; g < LANE_GROUPS; ++g) sample_covariance[g] = real_load(p[element] + g * VY_LANES);
        total_variance += p[element][element];
    } else {
        VY_ALIGNED(64) double row[FILTER_COLUMNS];
        for (int g = 0; g < LANE_GROUPS; ++g) sample_covariance[g] = real_set(0.0);
        for (int k = 0; k < FILTER_SLOPES; ++k) {
            const double *covariance_row_in = p[filter_slope_element(k)];
            for (int g = 0; g < LANE_GROUPS; ++g)
                sample_covariance[g] =
                    sample_covariance[g] + slope[k] * real_load(covariance_row_in + g * VY_LANES);
        }
        for (int g = 0; g < LANE_GROUPS; ++g) real_store(row + g * VY_LANES, sample_covariance[g]);
        for (int k = 0; k < FILTER_SLOPES; ++k) total_variance += slope[k] * row[filter_slope_element(k)];
    }
    *variance = total_variance;
    for (int g = 0; g < LANE_GROUPS; ++g)
        real_store(gain + g * VY_LANES, sample_covariance[g] / total_variance);
    for (int i = 0; i < FILTER_SIZE; ++i) {
        const real factor = real_set(gain[i]);
        for (int g = 0; g < LANE_GROUPS; ++g) {
            double *row_out = p[i] + g * VY_LANES;
            real_store(row_out, real_load(row_out) - factor * sample_covariance[g]);
        }
    }
}

/// What samples before `sample` have corrected of it.
VY_FN double covariance_expected(int sample, const double *slope, const double *correction)
{
    const int element = filter_element_of(sample);
    if (element >= 0) return correction[element];
    double sum = 0.0;
    for (int k = 0; k < FILTER_SLOPES; ++k) sum += slope[k] * correction[filter_slope_element(k)];
    return sum;
}
