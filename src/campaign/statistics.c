// statistics.c - rates, comparisons, correlations, indices, stop rules.
#define _DEFAULT_SOURCE // lgamma_r
#include "campaign/statistics.h"
#include "base/assert.h"
#include "base/sort.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double log_gamma(double x)
{
    int sign;
    return lgamma_r(x, &sign); // lgamma writes to a variable of all threads
}

// The continued fraction of the incomplete beta function, by Lentz's method.
static double beta_fraction(double a, double b, double x)
{
    const double tiny = 1e-300;
    double c = 1.0, d = 1.0 - (a + b) * x / (a + 1.0);
    d = 1.0 / (fabs(d) < tiny ? tiny : d);
    double h = d;
    for (int m = 1; m < 20000; ++m) {
        const double even_coef = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        d = 1.0 + even_coef * d;
        c = 1.0 + even_coef / c;
        d = 1.0 / (fabs(d) < tiny ? tiny : d);
        c = fabs(c) < tiny ? tiny : c;
        h *= d * c;
        const double odd_coef = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1.0 + odd_coef * d;
        c = 1.0 + odd_coef / c;
        d = 1.0 / (fabs(d) < tiny ? tiny : d);
        c = fabs(c) < tiny ? tiny : c;
        h *= d * c;
        if (fabs(d * c - 1.0) < 1e-15) break;
    }
    return h;
}

double vy_beta_cdf(double a, double b, double x)
{
    VY_ASSERT(a > 0.0 && b > 0.0);
    if (!(x > 0.0)) return 0.0;
    if (!(x < 1.0)) return 1.0;
    const double prefactor = exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log1p(-x));
    if (x < (a + 1.0) / (a + b + 2.0)) return prefactor * beta_fraction(a, b, x) / a;
    return 1.0 - prefactor * beta_fraction(b, a, 1.0 - x) / b;
}

static double beta_quantile(double p, double a, double b)
{
    double low = 0.0, high = 1.0;
    for (int i = 0; i < 200; ++i) {
        const double middle = 0.5 * (low + high);
        if (middle == low || middle == high) break;
        if (vy_beta_cdf(a, b, middle) < p)
            low = middle;
        else
            high = middle;
    }
    return 0.5 * (low + high);
}

double vy_rate_upper(uint64_t failures, uint64_t case_count, double confidence)
{
    if (failures >= case_count) return 1.0;
    if (failures == 0) return -expm1(log1p(-confidence) / (double)case_count);
    return beta_quantile(confidence, (double)failures + 1.0, (double)(case_count - failures));
}

double vy_rate_lower(uint64_t failures, uint64_t case_count, double confidence)
{
    if (failures == 0) return 0.0;
    return 1.0 - vy_rate_upper(case_count - failures, case_count, confidence);
}

double vy_student_quantile(double p, int freedom)
{
    if (p == 0.5) return 0.0;
    const double tail = 2.0 * (p < 0.5 ? p : 1.0 - p);
    const double x = beta_quantile(tail, 0.5 * freedom, 0.5);
    const double t = sqrt(freedom * (1.0 - x) / x);
    return p < 0.5 ? -t : t;
}

double vy_mcnemar(uint64_t only_a, uint64_t only_b)
{
    const uint64_t n = only_a + only_b, fewer_failures = only_a < only_b ? only_a : only_b;
    if (n == 0 || 2 * fewer_failures == n) return 1.0;
    // P(X <= less) of a binomial distribution with p = 1/2 is I_1/2(n - less, less + 1).
    const double p = 2.0 * vy_beta_cdf((double)(n - fewer_failures), (double)fewer_failures + 1.0, 0.5);
    return p < 1.0 ? p : 1.0;
}

typedef struct ranked {
    double value;
    size_t index; // in the array that is ranked
} ranked;

static int comes_before(const ranked *a, const ranked *b)
{
    return a->value < b->value || (a->value == b->value && a->index < b->index);
}
HEAP_SORT(sort_ranked, ranked, comes_before)

static int assign_ranks(const double *values, size_t count, double *out)
{
    ranked *ranks = malloc((count + 1) * sizeof *ranks);
    if (ranks == NULL) return 0;
    for (size_t i = 0; i < count; ++i) ranks[i] = (ranked){values[i], i};
    sort_ranked(ranks, count);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && ranks[end].value == ranks[i].value;) ++end;
        for (size_t k = i; k < end; ++k) out[ranks[k].index] = 0.5 * (double)(i + end - 1);
    }
    free(ranks);
    return 1;
}

double vy_rank_correlation(const double *a, const double *b, size_t count, double *scratch)
{
    double *x = scratch, *y = scratch + count;
    if (count < 2 || !assign_ranks(a, count, x) || !assign_ranks(b, count, y)) return (double)NAN;
    const double mean = 0.5 * (double)(count - 1);
    double xx = 0.0, yy = 0.0, xy = 0.0;
    for (size_t i = 0; i < count; ++i) {
        xx += (x[i] - mean) * (x[i] - mean);
        yy += (y[i] - mean) * (y[i] - mean);
        xy += (x[i] - mean) * (y[i] - mean);
    }
    return xx > 0.0 && yy > 0.0 ? xy / sqrt(xx * yy) : (double)NAN;
}

void vy_sobol_indices(const double *y, size_t n, int variable_count, double *first, double *total)
{
    const double *a = y, *b = y + n;
    double mean = 0.0, variance = 0.0, centre = 0.0; // the latter of all values, for a smaller error
    const size_t value_count = n * (size_t)(variable_count + 2);
    for (size_t i = 0; i < value_count; ++i) centre += y[i] / (double)value_count;
    for (size_t i = 0; i < 2 * n; ++i) mean += y[i] / (2.0 * (double)n);
    for (size_t i = 0; i < 2 * n; ++i) variance += (y[i] - mean) * (y[i] - mean) / (2.0 * (double)n);
    for (int k = 0; k < variable_count; ++k) {
        const double *mixed = y + (size_t)(k + 2) * n;
        double covariance = 0.0, square_sum = 0.0;
        for (size_t i = 0; i < n; ++i) {
            covariance += (b[i] - centre) * (mixed[i] - a[i]);
            square_sum += (a[i] - mixed[i]) * (a[i] - mixed[i]);
        }
        first[k] = variance > 0.0 ? covariance / (double)n / variance : (double)NAN;
        total[k] = variance > 0.0 ? square_sum / (2.0 * (double)n) / variance : (double)NAN;
    }
}

// --- stop rules

// P(exactly k failures in n), by logarithms.
static double binomial(uint64_t n, uint64_t k, double p)
{
    return exp(log_gamma((double)n + 1.0) - log_gamma((double)k + 1.0) - log_gamma((double)(n - k) + 1.0) +
               (double)k * log(p) + (double)(n - k) * log1p(-p));
}

// Beyond so many failures nothing would be accepted at the last look anyway.
static size_t failures_cap(double limit, double cases) { return (size_t)(limit * cases + 10.0) + 1; }

int vy_stop_plan(double limit, double confidence, const double *sizes, int count, vy_stop_look *out)
{
    const double alpha = 1.0 - confidence, last_size = sizes[count - 1];
    const size_t failure_cap = failures_cap(limit, last_size);
    // undecided[f]: the probability, at a rate of `limit`, of f failures so far without having been accepted.
    double *undecided = calloc(failure_cap + 1, sizeof *undecided),
           *next_undecided = calloc(failure_cap + 1, sizeof *next_undecided);
    double previous_size = 0.0;
    if (undecided == NULL || next_undecided == NULL) {
        free(undecided);
        free(next_undecided);
        return 0;
    }
    undecided[0] = 1.0;
    for (int i = 0; i < count; ++i) {
        const uint64_t added_cases = (uint64_t)(sizes[i] - previous_size);
        memset(next_undecided, 0, (failure_cap + 1) * sizeof *next_undecided);
        for (size_t k = 0; k <= failure_cap && k <= added_cases; ++k) {
            const double probability = binomial(added_cases, k, limit);
            for (size_t f = 0; f + k <= failure_cap; ++f) next_undecided[f + k] += undecided[f] * probability;
        }
        out[i] = (vy_stop_look){.cases = (uint64_t)sizes[i], .accept = -1};
        const double alpha_budget =
            alpha * (sizes[i] - previous_size) / last_size; // what a look does not spend is not spent later
        double alpha_spent = 0.0;
        for (size_t f = 0; f <= failure_cap && alpha_spent + next_undecided[f] <= alpha_budget; ++f) {
            alpha_spent += next_undecided[f];
            next_undecided[f] = 0.0;
            out[i].accept = (int64_t)f;
        }
        memcpy(undecided, next_undecided, (failure_cap + 1) * sizeof *undecided);
        previous_size = sizes[i];
    }
    free(undecided);
    free(next_undecided);
    return 1;
}
