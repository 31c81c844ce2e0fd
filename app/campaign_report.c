// campaign_report.c - reading the shards of a campaign, and what they say.
#include "campaign_report.h"
#include "base/sort.h"
#include "campaign/score.h"
#include "command.h"
#include "message.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CONFIDENCE 0.95 // where the plan does not say
enum { REPLICATES_MIN = 10 };

static int is_less(const double *a, const double *b) { return *a < *b; }
HEAP_SORT(sort_numbers, double, is_less)

double vy_report_quantile(double *values, size_t count, double p)
{
    size_t n = 0;
    for (size_t i = 0; i < count; ++i)
        if (isfinite(values[i])) values[n++] = values[i];
    if (n == 0) return (double)NAN;
    sort_numbers(values, n);
    return values[(size_t)(p * (double)(n - 1))];
}

void vy_report_case(const report *r, uint64_t index, vy_case *out)
{
    double numbers[VY_PLAN_VARY_CAP];
    for (int k = 0; k < r->plan->vary_count; ++k) numbers[k] = r->numbers[k][index];
    vy_plan_case_from_values(r->plan, index, numbers, out);
}

void vy_report_command(const campaign *c, uint64_t index, char *out, size_t size)
{
    const char *folder = vy_option_value(c->args, "output");
    const int is_search = c->plan->sample == VY_SAMPLE_SEARCH;
    snprintf(out, size, "volery campaign fly %s %" PRIu64 "%s%s%s", c->file, index,
             is_search ? " --search worst" : "", is_search && folder != NULL ? " --other " : "",
             is_search && folder != NULL ? folder : "");
}

// --- reading

static int allocate(report *r)
{
    const vy_plan *p = r->plan;
    const size_t n = (size_t)p->cases + 1;
    r->numbers = calloc((size_t)p->vary_count + 1, sizeof *r->numbers);
    r->margins = calloc((size_t)p->base->expect_count + 1, sizeof *r->margins);
    r->scores = malloc(n * sizeof *r->scores);
    r->correlations = calloc((size_t)p->vary_count + 1, sizeof *r->correlations);
    r->replicate_rates = calloc((size_t)p->replicates + 1, sizeof *r->replicate_rates);
    int has_memory = r->numbers != NULL && r->margins != NULL && r->scores != NULL &&
                     r->correlations != NULL && r->replicate_rates != NULL;
    for (int i = 0; i < p->vary_count && has_memory; ++i)
        has_memory = (r->numbers[i] = malloc(n * sizeof(double))) != NULL;
    for (int i = 0; i < p->base->expect_count && has_memory; ++i)
        has_memory = (r->margins[i] = malloc(n * sizeof(double))) != NULL;
    return has_memory;
}

void vy_report_destroy(report *r)
{
    for (int i = 0; r->numbers != NULL && i < r->plan->vary_count; ++i) free(r->numbers[i]);
    for (int i = 0; r->margins != NULL && i < r->plan->base->expect_count; ++i) free(r->margins[i]);
    free(r->numbers);
    free(r->margins);
    free(r->scores);
    free(r->correlations);
    free(r->replicate_rates);
    free(r->sobol_first);
    free(r->sobol_total);
}

static void insert_worst(report *r, uint64_t index, double score)
{
    int position = r->worst_count;
    if (position == REPORT_WORST && score >= r->worst[position - 1].score) return;
    if (position == REPORT_WORST)
        --position;
    else
        ++r->worst_count;
    for (; position > 0 && r->worst[position - 1].score > score; --position)
        r->worst[position] = r->worst[position - 1];
    r->worst[position] = (worst_case){index, score};
}

static void add_row(report *r, double *row)
{
    const vy_plan *p = r->plan;
    const vy_result *result = vy_row_result(row);
    const uint64_t i = r->cases++;
    r->hash = vy_results_hash(r->hash, result);
    r->completed += result->outcome == VY_OUTCOME_COMPLETED;
    r->failed += result->outcome == VY_OUTCOME_FAILED;
    r->expectation += result->outcome == VY_OUTCOME_EXPECTATION;
    r->killed += result->outcome == VY_OUTCOME_KILLED;
    r->invalid += result->outcome == VY_OUTCOME_INVALID;
    if (result->outcome == VY_OUTCOME_FAILED && result->reason < REPORT_REASONS)
        r->reasons[result->reason] += 1;
    if (result->wall_clock && r->wall_clock++ < REPORT_TIMEOUTS)
        r->timeout_cases[r->wall_clock - 1] = result->index;
    for (int k = 0; k < p->vary_count; ++k) r->numbers[k][i] = vy_row_numbers(row)[k];
    for (int k = 0; k < p->base->expect_count; ++k) r->margins[k][i] = vy_row_margins(row, p)[2 * k];
    r->scores[i] = vy_case_score(p, row);
    insert_worst(r, i, r->scores[i]);
    if (p->replicate_size > 0 && (p->sample == VY_SAMPLE_LATIN || p->sample == VY_SAMPLE_SOBOL))
        r->replicate_rates[i / (uint64_t)p->repeat / (uint64_t)p->replicate_size] +=
            vy_case_failed(result) / ((double)p->replicate_size * p->repeat);
}

static uint64_t failures_of(const report *r) { return r->cases - r->completed; }

// Whether a look at this size accepts.
static int evaluate_stop_rule(report *r)
{
    for (int i = 0; i < r->plan->stop.look_count; ++i) {
        if (r->looks[i].cases != r->cases || (int64_t)failures_of(r) > r->looks[i].accept) continue;
        r->accepting_look = i;
        return 1;
    }
    return 0;
}

static int read_shards(campaign *c, report *r)
{
    const size_t row_cells = vy_row_cells(c->plan);
    uint64_t missing_count = 0;
    for (uint64_t i = 0; i < c->shards && r->accepting_look < 0; ++i) {
        double *rows = NULL;
        uint64_t first_case, end_case;
        vy_error err = {.status = VY_OK};
        if (!vy_campaign_has_shard(c, i)) ++missing_count;
        if (missing_count > 0) continue; // a prefix counts, or everything
        char *path = vy_campaign_shard_path(c, i);
        if (path == NULL) return vy_print_no_memory("campaign");
        const vy_status read_status = vy_shard_read(path, c->plan, i, c->shards, &rows, &err);
        free(path);
        if (read_status != VY_OK) return vy_print_status("campaign", read_status, &err);
        vy_shard_range(c->plan, i, c->shards, &first_case, &end_case);
        for (uint64_t k = 0; k < end_case - first_case && r->accepting_look < 0; ++k) {
            add_row(r, rows + k * row_cells);
            (void)evaluate_stop_rule(r);
        }
        free(rows);
    }
    if (missing_count == 0) return 0;
    fprintf(stderr, "shards that are missing: ");
    vy_campaign_print_missing(c, stderr);
    return vy_print_error("campaign", EXIT_FAILED,
                          "%s is not complete: %" PRIu64 " of %" PRIu64 " shards are missing", c->folder,
                          missing_count, c->shards);
}

// --- answers

// "1 in 1,000", or a percentage where that says more.
static void print_rate(double rate, char *out, size_t size)
{
    if (rate > 0.1 || rate <= 0.0) {
        snprintf(out, size, "%.3g %%", 100.0 * rate);
        return;
    }
    char digits[32];
    // A rate that is given as one in so many is shown as that; any other is rounded up.
    const double one_in = 1.0 / rate;
    const uint64_t denominator =
        (uint64_t)(fabs(one_in - round(one_in)) < 1e-6 * one_in ? round(one_in) : floor(one_in));
    snprintf(digits, sizeof digits, "%" PRIu64, denominator);
    const size_t n = strlen(digits);
    size_t at = (size_t)snprintf(out, size, "1 in ");
    for (size_t i = 0; i < n && at + 2 < size; ++i) {
        if (i > 0 && (n - i) % 3 == 0) out[at++] = ',';
        out[at++] = digits[i];
    }
    out[at] = '\0';
}

static void set_binomial_interval(report *r, double confidence)
{
    r->has_interval = 1;
    r->upper = vy_rate_upper(failures_of(r), r->cases, confidence);
    r->lower = vy_rate_lower(failures_of(r), r->cases, confidence);
}

// The means of independent replicates are nearly normal: Student's bound.
static void set_student_interval(report *r, double confidence)
{
    const int n = r->plan->replicates;
    double mean = 0.0, square_sum = 0.0;
    if (n < REPLICATES_MIN) return;
    for (int i = 0; i < n; ++i) mean += r->replicate_rates[i] / n;
    for (int i = 0; i < n; ++i) square_sum += (r->replicate_rates[i] - mean) * (r->replicate_rates[i] - mean);
    if (!(square_sum > 0.0)) return; // all alike: nothing can be said about how they differ
    const double half_width = vy_student_quantile(confidence, n - 1) * sqrt(square_sum / (n - 1) / n);
    r->has_interval = 1;
    r->upper = fmin(mean + half_width, 1.0);
    r->lower = fmax(mean - half_width, 0.0);
}

static void compose_sentence(report *r, double confidence)
{
    const vy_plan_stop *stop = &r->plan->stop;
    char rate[64], confidence_text[32];
    snprintf(confidence_text, sizeof confidence_text, "%g %% confidence", 100.0 * confidence);
    if (stop->limit > 0.0) {
        print_rate(stop->limit, rate, sizeof rate);
        r->is_demonstrated = r->accepting_look >= 0;
        snprintf(r->sentence, sizeof r->sentence,
                 r->is_demonstrated ? "fails in less than %s with %s"
                                    : "it is not shown that it fails in less than %s with %s",
                 rate, confidence_text);
        return;
    }
    r->is_demonstrated = failures_of(r) == 0;
    if (r->has_interval) {
        print_rate(r->upper, rate, sizeof rate);
        snprintf(r->sentence, sizeof r->sentence, "fails in less than %s with %s", rate, confidence_text);
        return;
    }
    const int is_replicated = r->plan->sample == VY_SAMPLE_LATIN || r->plan->sample == VY_SAMPLE_SOBOL;
    snprintf(r->sentence, sizeof r->sentence, "%" PRIu64 " of %" PRIu64 " cases failed; no interval: %s",
             failures_of(r), r->cases,
             !is_replicated                         ? "these cases are not independent draws"
             : r->plan->replicates < REPLICATES_MIN ? "it takes 10 replicates"
                                                    : "all replicates are alike");
}

static int correlate(report *r)
{
    const vy_plan *p = r->plan;
    double *scratch = malloc((size_t)(2 * r->cases + 2) * sizeof *scratch);
    if (scratch == NULL) return 0;
    for (int k = 0; k < p->vary_count; ++k)
        r->correlations[k] = vy_rank_correlation(r->numbers[k], r->scores, (size_t)r->cases, scratch);
    free(scratch);
    if (p->sample != VY_SAMPLE_SALTELLI || p->repeat != 1) return 1;
    r->sobol_first = calloc((size_t)p->vary_count + 1, sizeof *r->sobol_first);
    r->sobol_total = calloc((size_t)p->vary_count + 1, sizeof *r->sobol_total);
    if (r->sobol_first == NULL || r->sobol_total == NULL) return 0;
    vy_sobol_indices(r->scores, (size_t)p->replicate_size, p->vary_count, r->sobol_first, r->sobol_total);
    return 1;
}

int vy_report_make(campaign *c, report *r)
{
    const vy_plan_stop *stop = &c->plan->stop;
    const double confidence = stop->limit > 0.0 ? stop->confidence : CONFIDENCE;
    *r = (report){.plan = c->plan, .accepting_look = -1, .confidence = confidence};
    int status = allocate(r) ? 0 : vy_print_no_memory("campaign");
    if (status == 0 && stop->limit > 0.0 &&
        !vy_stop_plan(stop->limit, stop->confidence, stop->looks, stop->look_count, r->looks))
        status = vy_print_no_memory("campaign");
    if (status == 0) status = read_shards(c, r);
    if (status != 0) return status;
    r->rate = (double)failures_of(r) / (double)r->cases;
    if (vy_plan_is_independent(c->plan)) set_binomial_interval(r, confidence);
    if (c->plan->sample == VY_SAMPLE_LATIN || c->plan->sample == VY_SAMPLE_SOBOL)
        set_student_interval(r, confidence);
    compose_sentence(r, confidence);
    return correlate(r) ? 0 : vy_print_no_memory("campaign");
}
