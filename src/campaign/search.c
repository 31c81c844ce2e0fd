// search.c - CMA-ES with plain draws before there is a slope, and after it has ended.
#include "campaign/search.h"
#include "base/assert.h"
#include "base/math.h"
#include "campaign/sample.h"
#include <string.h>

#define SIGMA_START 0.2  // of the cube's side
#define SIGMA_MIN   1e-3 // then it starts again

enum { SEARCH_INDEX = 0x10000000 }; // of the random streams, far from those of variables

vy_search vy_search_begin(uint64_t seed, int variable_count)
{
    VY_ASSERT(variable_count >= 1 && variable_count <= VY_PLAN_VARY_CAP);
    return (vy_search){.seed = seed, .size = variable_count};
}

static double draw_uniform(const vy_search *s, int point, int variable)
{
    const uint64_t draw_index = s->generation * 1024 + (uint64_t)point;
    return vy_sample_uniform(s->seed, (uint32_t)(SEARCH_INDEX + variable), draw_index);
}

// Back into the cube, as by mirrors at its sides.
static double reflect(double x)
{
    for (int i = 0; i < 8 && !(x > 0.0 && x < 1.0); ++i) x = x <= 0.0 ? -x + 0x1p-40 : 2.0 - x - 0x1p-40;
    return x > 0.0 && x < 1.0 ? x : 0.5;
}

void vy_search_ask(const vy_search *s, int count, double points[][VY_PLAN_VARY_CAP])
{
    for (int p = 0; p < count; ++p) {
        double deviates[VY_PLAN_VARY_CAP];
        for (int k = 0; k < s->size; ++k) {
            deviates[k] = draw_uniform(s, p, k);
            points[p][k] = deviates[k];
        }
        if (!s->is_adapting) continue;
        for (int k = 0; k < s->size; ++k) deviates[k] = vy_normal_quantile(deviates[k]);
        for (int k = 0; k < s->size; ++k) {
            double step = 0.0;
            for (int i = 0; i <= k; ++i) step += s->factor[k][i] * deviates[i];
            points[p][k] = reflect(s->mean[k] + s->sigma * step);
        }
    }
}

// The Cholesky factor. 0: the matrix is not positive.
static int factorise(vy_search *s)
{
    memset(s->factor, 0, sizeof s->factor);
    for (int i = 0; i < s->size; ++i) {
        for (int j = 0; j <= i; ++j) {
            double sum = s->covariance[i][j];
            for (int k = 0; k < j; ++k) sum -= s->factor[i][k] * s->factor[j][k];
            if (i == j && !(sum > 0.0)) return 0;
            s->factor[i][j] = i == j ? real_sqrt(sum) : sum / s->factor[j][j];
        }
    }
    return 1;
}

static void start_at_best(vy_search *s)
{
    memset(s->covariance, 0, sizeof s->covariance);
    memset(s->path, 0, sizeof s->path);
    memset(s->path_sigma, 0, sizeof s->path_sigma);
    memcpy(s->mean, s->best_point, sizeof s->mean);
    s->sigma = SIGMA_START;
    for (int k = 0; k < s->size; ++k) s->covariance[k][k] = 1.0;
    s->is_adapting = factorise(s);
}

// Indices of points, the worst flights first; equal ones as they came.
static void order_points(const double *scores, int count, int *order)
{
    for (int i = 0; i < count; ++i) {
        int at = i;
        for (; at > 0 && scores[order[at - 1]] > scores[i]; --at) order[at] = order[at - 1];
        order[at] = i;
    }
}

// Mean, paths, covariance and step size after a generation: the formulas of Hansen's tutorial.
static void adapt_distribution(vy_search *s, int count, double points[][VY_PLAN_VARY_CAP], const int *order)
{
    const int parent_count = count / 2, n = s->size;
    double weights[VY_PLAN_VARY_CAP + VY_SEARCH_POPULATION], sum = 0.0, weight_square_sum = 0.0;
    for (int i = 0; i < parent_count; ++i) {
        weights[i] = math_log(0.5 * (count + 1)) - math_log(i + 1.0);
        sum += weights[i];
    }
    for (int i = 0; i < parent_count; ++i) {
        weights[i] /= sum;
        weight_square_sum += weights[i] * weights[i];
    }
    const double mu = 1.0 / weight_square_sum, d = n;
    const double c_sigma = (mu + 2.0) / (d + mu + 5.0), c_path = (4.0 + mu / d) / (d + 4.0 + 2.0 * mu / d);
    const double c_one = 2.0 / ((d + 1.3) * (d + 1.3) + mu);
    const double c_mu = real_min(1.0 - c_one, 2.0 * (mu - 2.0 + 1.0 / mu) / ((d + 2.0) * (d + 2.0) + mu));
    const double expected_norm = real_sqrt(d) * (1.0 - 1.0 / (4.0 * d) + 1.0 / (21.0 * d * d));
    double mean_step[VY_PLAN_VARY_CAP], whitened[VY_PLAN_VARY_CAP], norm = 0.0;
    for (int k = 0; k < n; ++k) {
        mean_step[k] = 0.0;
        for (int i = 0; i < parent_count; ++i)
            mean_step[k] += weights[i] * (points[order[i]][k] - s->mean[k]) / s->sigma;
    }
    for (int k = 0; k < n; ++k) { // factor white = step
        whitened[k] = mean_step[k];
        for (int i = 0; i < k; ++i) whitened[k] -= s->factor[k][i] * whitened[i];
        whitened[k] /= s->factor[k][k];
        s->path_sigma[k] =
            (1.0 - c_sigma) * s->path_sigma[k] + real_sqrt(c_sigma * (2.0 - c_sigma) * mu) * whitened[k];
        norm += s->path_sigma[k] * s->path_sigma[k];
    }
    norm = real_sqrt(norm);
    const int updates_path = norm < (1.4 + 2.0 / (d + 1.0)) * expected_norm;
    for (int k = 0; k < n; ++k)
        s->path[k] = (1.0 - c_path) * s->path[k] +
                     (updates_path ? real_sqrt(c_path * (2.0 - c_path) * mu) * mean_step[k] : 0.0);
    for (int a = 0; a < n; ++a) {
        for (int b = 0; b <= a; ++b) {
            double rank_mu = 0.0;
            for (int i = 0; i < parent_count; ++i)
                rank_mu += weights[i] * ((points[order[i]][a] - s->mean[a]) / s->sigma) *
                           ((points[order[i]][b] - s->mean[b]) / s->sigma);
            s->covariance[a][b] =
                (1.0 - c_one - c_mu) * s->covariance[a][b] + c_one * s->path[a] * s->path[b] + c_mu * rank_mu;
        }
    }
    for (int k = 0; k < n; ++k) s->mean[k] += s->sigma * mean_step[k];
    const double damping = 1.0 + c_sigma;
    s->sigma = real_min(s->sigma * math_exp(c_sigma / damping * (norm / expected_norm - 1.0)), 0.5);
}

void vy_search_tell(vy_search *s, int count, double points[][VY_PLAN_VARY_CAP], const double *scores)
{
    int order[1024], has_slope = 0;
    VY_ASSERT(count >= 1 && count <= 1024);
    const double previous_best = s->best;
    const int had_best = s->has_best;
    for (int i = 0; i < count; ++i) {
        has_slope |= scores[i] != scores[0] || (had_best && scores[i] != previous_best);
        if (s->has_best && !(scores[i] < s->best)) continue;
        s->has_best = 1;
        s->best = scores[i];
        memcpy(s->best_point, points[i], (size_t)s->size * sizeof(double));
    }
    s->generation += 1;
    if (!has_slope) { // nothing to go by: draw evenly
        s->is_adapting = 0;
        return;
    }
    if (!s->is_adapting) {
        start_at_best(s);
        return;
    }
    order_points(scores, count, order);
    if (count >= 4) adapt_distribution(s, count, points, order);
    if (!factorise(s) || s->sigma < SIGMA_MIN)
        s->is_adapting = 0; // one generation of even draws, then from the best again
}
