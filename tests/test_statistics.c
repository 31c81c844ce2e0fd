// test_statistics.c - rates, comparisons, correlations, indices and stop rules against figures of others.
#define _XOPEN_SOURCE 700 // M_PI
#include "campaign/sample.h"
#include "campaign/statistics.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

static int near(double a, double b, double relative) { return fabs(a - b) <= relative * fabs(b); }

// scipy.stats.binomtest(k, n).proportion_ci(0.9, "exact"), whose two sides have 95 % each, and by the rule of
// three's exact form: 0 in 2,995 shows less than 1 in 1,000, 0 in 2,994 does not.
static void rates_have_clopper_pearsons_bounds(void **state)
{
    (void)state;
    assert_true(vy_rate_upper(0, 2995, 0.95) < 1e-3);
    assert_true(vy_rate_upper(0, 2994, 0.95) > 1e-3);
    static const double known[][4] = {
    // failures, cases, lower, upper
#include "clopper_pearson.inl"
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; ++i) {
        const uint64_t k = (uint64_t)known[i][0], n = (uint64_t)known[i][1];
        assert_true(near(vy_rate_lower(k, n, 0.95), known[i][2], 1e-9) || known[i][2] == 0.0);
        assert_true(near(vy_rate_upper(k, n, 0.95), known[i][3], 1e-9));
    }
}

static void quantiles_of_student(void **state)
{
    (void)state;
    assert_true(near(vy_student_quantile(0.95, 9), 1.8331129326562368, 1e-9)); // scipy.stats.t.ppf
    assert_true(near(vy_student_quantile(0.975, 1), 12.706204736174694, 1e-9));
    assert_true(near(vy_student_quantile(0.05, 30), -1.6972608865939574, 1e-9));
}

static void mcnemar_is_exact(void **state)
{
    (void)state;
    assert_true(near(vy_mcnemar(0, 10), 0.001953125, 1e-12)); // 2 / 2^10
    assert_true(near(vy_mcnemar(3, 12), 0.03515625, 1e-12));  // scipy.stats.binomtest(3, 15).pvalue
    assert_true(near(vy_mcnemar(40, 70), 0.005447429511444476, 1e-9));
    assert_true(vy_mcnemar(5, 5) == 1.0 && vy_mcnemar(0, 0) == 1.0);
}

static void rank_correlations(void **state)
{
    (void)state;
    double scratch[20];
    const double a[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, b[] = {1, 8, 27, 64, 125, 216, 343, 512, 729, 1000};
    const double c[] = {106, 86, 100, 101, 99, 103, 97, 113, 112, 110},
                 d[] = {7, 0, 27, 50, 28, 29, 20, 12, 6, 17};
    const double ties[] = {1, 1, 2, 2, 3, 3, 4, 4, 5, 5}, flat[10] = {0};
    assert_true(near(vy_rank_correlation(a, b, 10, scratch), 1.0, 1e-12));
    assert_true(
        near(vy_rank_correlation(c, d, 10, scratch), -29.0 / 165.0, 1e-12)); // the textbook's IQ and TV hours
    assert_true(
        near(vy_rank_correlation(a, ties, 10, scratch), 0.9847319278346618, 1e-9)); // scipy.stats.spearmanr
    assert_true(isnan(vy_rank_correlation(a, flat, 10, scratch)));
}

// Ishigami's function with a = 7, b = 0.1, at places of the unit cube.
static double ishigami(const double *u)
{
    double x[3];
    for (int k = 0; k < 3; ++k) x[k] = M_PI * (2.0 * u[k] - 1.0);
    return sin(x[0]) + 7.0 * sin(x[1]) * sin(x[1]) + 0.1 * pow(x[2], 4) * sin(x[0]);
}

// Whether column k of block A, B, AB1, AB2, ... is one of B.
static int is_second(int block, int k) { return block == 1 || block - 2 == k; }

// The estimators of SALib 1.6.0 on the same 64 points, sobol.analyze(problem, Y, calc_second_order=False):
// point i has frac(i sqrt(p)) for the primes p = 2, 3, 5 in A and 7, 11, 13 in B.
static void indices_are_those_of_salib(void **state)
{
    (void)state;
    enum { N = 64, D = 3 };
    static const double primes[2 * D] = {2.0, 3.0, 5.0, 7.0, 11.0, 13.0};
    static const double known[D][2] = {{0.23462130697560257, 0.2707918334559636},
                                       {0.4982466471423425, 0.4222865927187705},
                                       {-0.08345710182418441, 0.21675770617762535}};
    double y[N * (D + 2)], u[D], first[D], total[D];
    for (int block = 0; block < D + 2; ++block) {
        for (int i = 0; i < N; ++i) {
            for (int k = 0; k < D; ++k) {
                const double x = (i + 1) * sqrt(primes[is_second(block, k) ? D + k : k]);
                u[k] = x - floor(x);
            }
            y[block * N + i] = ishigami(u);
        }
    }
    vy_sobol_indices(y, N, D, first, total);
    for (int k = 0; k < D; ++k) {
        assert_true(fabs(first[k] - known[k][0]) < 1e-12);
        assert_true(fabs(total[k] - known[k][1]) < 1e-12);
    }
}

// By Sobol points the indices come to their closed forms.
static void indices_of_ishigami(void **state)
{
    (void)state;
    enum { N = 8192, D = 3 };
    double *y = malloc((size_t)(N * (D + 2)) * sizeof *y), first[D], total[D];
    uint32_t v[2 * D][32];
    for (int k = 0; k < 2 * D; ++k) {
        vy_sobol_directions(k, v[k]);
        vy_sobol_scramble(3, (uint32_t)k, v[k]);
    }
    for (uint32_t block = 0; block < D + 2; ++block) {
        for (uint32_t i = 0; i < N; ++i) {
            double u[D];
            for (int k = 0; k < D; ++k) {
                const int column = is_second((int)block, k) ? D + k : k;
                u[k] = ((double)vy_sobol_point(v[column], i) + 0.5) * 0x1p-32;
            }
            y[block * N + i] = ishigami(u);
        }
    }
    vy_sobol_indices(y, N, D, first, total);
    const double p4 = pow(M_PI, 4), p8 = pow(M_PI, 8);
    const double v1 = 0.5 * pow(1.0 + 0.1 * p4 / 5.0, 2), v2 = 49.0 / 8.0,
                 v13 = 0.01 * p8 * (1.0 / 18.0 - 1.0 / 50.0);
    const double all = v1 + v2 + v13;
    assert_true(fabs(first[0] - v1 / all) < 0.01);
    assert_true(fabs(first[1] - v2 / all) < 0.01);
    assert_true(fabs(first[2]) < 0.01);
    assert_true(fabs(total[0] - (v1 + v13) / all) < 0.01);
    assert_true(fabs(total[1] - v2 / all) < 0.01);
    assert_true(fabs(total[2] - v13 / all) < 0.01);
    free(y);
}

// Campaigns at the limit itself, each stopped at the first look that accepts.
static void stop_rules_keep_their_error(void **state)
{
    (void)state;
    enum { CAMPAIGNS = 2000, LOOKS = 8 };
    const double sizes[LOOKS] = {500, 1000, 1500, 2000, 2500, 3000, 3500, 4000}, limit = 0.01;
    vy_stop_look looks[LOOKS];
    assert_true(vy_stop_plan(limit, 0.95, sizes, LOOKS, looks));
    int accepted = 0, naive = 0;
    for (uint32_t c = 0; c < CAMPAIGNS; ++c) {
        uint64_t failures = 0, done = 0;
        int yes = 0, naively = 0;
        for (int i = 0; i < LOOKS; ++i) {
            for (; done < looks[i].cases; ++done) failures += vy_sample_uniform(99, c, done) < limit;
            yes |= (int64_t)failures <= looks[i].accept;
            naively |= vy_rate_upper(failures, done, 0.95) < limit;
        }
        accepted += yes;
        naive += naively;
    }
    print_message("accepted wrongly: %d of %d, by a naive rule %d\n", accepted, CAMPAIGNS, naive);
    assert_true(accepted <= CAMPAIGNS / 20);
    assert_true(accepted >= CAMPAIGNS / 50); // the error is spent, not kept
    assert_true(naive > CAMPAIGNS / 10);
    assert_true(looks[LOOKS - 1].accept > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rates_have_clopper_pearsons_bounds),
        cmocka_unit_test(quantiles_of_student),
        cmocka_unit_test(mcnemar_is_exact),
        cmocka_unit_test(rank_correlations),
        cmocka_unit_test(indices_are_those_of_salib),
        cmocka_unit_test(indices_of_ishigami),
        cmocka_unit_test(stop_rules_keep_their_error),
    };
    return cmocka_run_group_tests_name("statistics", tests, NULL, NULL);
}
