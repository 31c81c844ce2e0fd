// campaign_report.h - what the results of a campaign say.
#pragma once
#include "campaign.h"
#include "campaign/statistics.h"
#include "json.h"

enum {
    REPORT_WORST = 20,
    REPORT_TIMEOUTS = 20, ///< cases that are named
    REPORT_REASONS = 16,
    REPORT_NAME = 200,    ///< room for the name of an expectation
    REPORT_COMMAND = 600, ///< for a command
};

typedef struct worst_case {
    uint64_t index;
    double score;
} worst_case;

/// Release with vy_report_destroy().
typedef struct report {
    const vy_plan *plan;
    uint64_t cases; ///< that count: all, or those up to the look that decided
    uint64_t hash;  ///< of all final hashes
    uint64_t completed, failed, expectation, killed, invalid; ///< cases by their outcome
    uint64_t wall_clock;                                      ///< cases that a clock ended, not in `hash`
    uint64_t reasons[REPORT_REASONS];                         ///< cases that failed, by vy_failure_reason
    uint64_t timeout_cases[REPORT_TIMEOUTS];
    worst_case worst[REPORT_WORST];
    int worst_count;
    double **numbers;        ///< [variables][cases]
    double **margins;        ///< [expectations][cases]
    double *scores;          ///< [cases]
    double *replicate_rates; ///< [replicates] failure rate of each
    vy_stop_look looks[VY_PLAN_LOOK_CAP];
    int accepting_look;                    ///< index of the look that accepted; -1: none
    int has_interval;                      ///< of the failure rate
    double rate, upper, lower, confidence; ///< the failure rate and its interval
    int is_demonstrated;  ///< the limit of the plan is undercut; 1 when it has none and nothing failed
    char sentence[240];   ///< the answer
    double *correlations; ///< [variables] of the score
    double *sobol_first, *sobol_total; ///< [variables] Sobol indices of the score; NULL: not of this sample
} report;

/// Read all shards, check them and compute the answers.
/// @return 0, or the exit status after a sentence, also when cases are missing
int vy_report_make(campaign *c, report *r);
void vy_report_destroy(report *r);

/// The values of a case that is in the report.
void vy_report_case(const report *r, uint64_t index, vy_case *out);

/// Quantile `p` of values that are finite; sorts `values`.
double vy_report_quantile(double *values, size_t count, double p);

/// The command that flies a case again.
void vy_report_command(const campaign *c, uint64_t index, char *out, size_t size);

/// Members of a JSON object that the answer and the page have both: of the whole, a variable, a worst case.
void vy_report_put(const report *r, json *j);
void vy_report_put_variable(const report *r, int k, json *j);
void vy_report_put_worst(const campaign *c, const report *r, int i, json *j);

/// How the results are shown: text, JSON, JUnit, a table, a page.
void vy_report_print(const campaign *c, const report *r, FILE *out);
void vy_report_json(const campaign *c, const report *r, FILE *out);
int vy_report_junit(const report *r, const char *path);
int vy_report_table(const campaign *c, const report *r, const char *path);
int vy_report_page(const campaign *c, const report *r, const char *path);
