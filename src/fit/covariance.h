// covariance.h - the covariance of a filter, its columns side by side. Over `real`.
#pragma once
#include "base/real.h"
#include "fit/lanes.h"

enum { COLUMN_GROUPS = (FILTER_SIZE + VY_LANES - 1) / VY_LANES };

/// Row `row` of A P.
VY_FN void covariance_row(const filter_transition *a, const double *decay, int row,
                          double (*p)[FILTER_COLUMNS], double *out)
{
    real sum[COLUMN_GROUPS];
    for (int g = 0; g < COLUMN_GROUPS; ++g) sum[g] = real_set(0.0);
    const int count = row < AT_FORCE ? a->count[row] : 1;
    for (int n = 0; n < count; ++n) {
        const double factor = row < AT_FORCE ? a->factor[row][n] : decay[row - AT_FORCE];
        const double *from = p[row < AT_FORCE ? a->column[row][n] : row];
        for (int g = 0; g < COLUMN_GROUPS; ++g) sum[g] = sum[g] + factor * real_load(from + g * VY_LANES);
    }
    for (int g = 0; g < COLUMN_GROUPS; ++g) real_store(out + g * VY_LANES, sum[g]);
}

/// P <- A P A' + Q.
VY_FN void covariance_propagate(const filter_transition *a, const double *decay, const double *deviation,
                                double (*p)[FILTER_COLUMNS])
{
    VY_ALIGNED(64) double product[FILTER_COLUMNS][FILTER_COLUMNS], turned[FILTER_COLUMNS][FILTER_COLUMNS];
    memset(product + FILTER_SIZE, 0, (FILTER_COLUMNS - FILTER_SIZE) * sizeof product[0]);
    for (int i = 0; i < FILTER_SIZE; ++i) covariance_row(a, decay, i, p, product[i]);
    for (int i = 0; i < COLUMN_GROUPS * VY_LANES; i += VY_LANES) {
        for (int k = 0; k < FILTER_COLUMNS; k += 8) {
            const double *from[VY_LANES];
            real columns[8];
            for (int lane = 0; lane < VY_LANES; ++lane) from[lane] = product[i + lane] + k;
            real_load_rows(from, columns);
            for (int c = 0; c < 8; ++c) real_store(turned[k + c] + i, columns[c]);
        }
    }
    for (int i = 0; i < FILTER_SIZE; ++i) covariance_row(a, decay, i, turned, p[i]);
    for (int i = 0; i < 6; ++i)
        p[AT_FORCE + i][AT_FORCE + i] += (1.0 - decay[i] * decay[i]) * deviation[i] * deviation[i];
}

/// The gain of a sample, and the covariance once it has been taken.
VY_FN void covariance_take_sample(int sample, const double *slope, double sample_variance,
                                  double (*p)[FILTER_COLUMNS], double *gain, double *variance)
{
    const int element = filter_element_of(sample);
    real cross[COLUMN_GROUPS];
    double sum = sample_variance;
    if (element >= 0) {
        for (int g = 0; g < COLUMN_GROUPS; ++g) cross[g] = real_load(p[element] + g * VY_LANES);
        sum += p[element][element];
    } else {
        VY_ALIGNED(64) double row[FILTER_COLUMNS];
        for (int g = 0; g < COLUMN_GROUPS; ++g) cross[g] = real_set(0.0);
        for (int k = 0; k < FILTER_SLOPES; ++k) {
            const double *from = p[filter_slope_element(k)];
            for (int g = 0; g < COLUMN_GROUPS; ++g)
                cross[g] = cross[g] + slope[k] * real_load(from + g * VY_LANES);
        }
        for (int g = 0; g < COLUMN_GROUPS; ++g) real_store(row + g * VY_LANES, cross[g]);
        for (int k = 0; k < FILTER_SLOPES; ++k) sum += slope[k] * row[filter_slope_element(k)];
    }
    *variance = sum;
    for (int g = 0; g < COLUMN_GROUPS; ++g) real_store(gain + g * VY_LANES, cross[g] / sum);
    for (int i = 0; i < FILTER_SIZE; ++i) {
        const real factor = real_set(gain[i]);
        for (int g = 0; g < COLUMN_GROUPS; ++g) {
            double *to = p[i] + g * VY_LANES;
            real_store(to, real_load(to) - factor * cross[g]);
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
