// statistics.h - what results say: rates with their bounds, comparisons by pairs, which variables matter.
#pragma once
#include <stddef.h>
#include <stdint.h>

/// The distribution function of the beta distribution: I_x(a, b).
double vy_beta_cdf(double a, double b, double x);

/// One-sided bounds of a failure rate after `failures` in `case_count` independent ones (Clopper and Pearson
/// 1934), each with this confidence.
double vy_rate_upper(uint64_t failures, uint64_t case_count, double confidence);
double vy_rate_lower(uint64_t failures, uint64_t case_count, double confidence);

/// The quantile of Student's distribution with `freedom` degrees.
double vy_student_quantile(double p, int freedom);

/// Two campaigns on the same cases: `only_a` failed in the first alone, `only_b` in the second alone. The
/// two-sided exact p-value that both are as likely (McNemar 1947).
double vy_mcnemar(uint64_t only_a, uint64_t only_b);

/// Spearman's rank correlation; equal values share their mean rank. NaN where one of both is constant.
/// `scratch` has room for 2 * count values.
double vy_rank_correlation(const double *a, const double *b, size_t count, double *scratch);

/// Sobol indices of a sample of Saltelli's: `y` has blocks A, B, A with column 0 of B, ... of `n` each.
/// First-order indices by Saltelli et al. (2010), total ones by Jansen (1999).
void vy_sobol_indices(const double *y, size_t n, int variable_count, double *first, double *total);

/// One of the looks at which a rule decides whether to stop, with all its error spent over them.
typedef struct vy_stop_look {
    uint64_t cases; ///< flown until then
    int64_t accept; ///< the most failures with which the limit counts as undercut; -1: none
} vy_stop_look;

/// The looks of a rule "fails in less than `limit`" at error 1 - confidence: at a rate of exactly `limit` the
/// probability to accept at any of the looks is at most that (the error is spent in proportion to the cases).
/// @param sizes growing numbers of cases
/// @return 0 when memory is out
int vy_stop_plan(double limit, double confidence, const double *sizes, int count, vy_stop_look *out);
