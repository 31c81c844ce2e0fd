// score.c - margins of a case as one number.
#include "campaign/score.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define KILLED_SCORE (-3.0)

int vy_case_failed(const vy_result *r) { return r->outcome != VY_OUTCOME_COMPLETED; }

// By what a margin is divided.
static double scale_of(const vy_expect_def *e)
{
    if (e->at == VY_AT_SETTLED || e->at == VY_AT_REACHED) return e->within;
    const int has_min = e->min > -DBL_MAX, has_max = e->max < DBL_MAX;
    if (has_min && has_max) return 0.5 * (e->max - e->min) > 0.0 ? 0.5 * (e->max - e->min) : 1.0;
    const double bound = fabs(has_max ? e->max : e->min);
    return bound > 0.0 ? bound : 1.0;
}

double vy_case_score(const vy_plan *plan, const double *row)
{
    vy_result r;
    memcpy(&r, row, sizeof r);
    const double *margins = row + VY_RESULT_CELLS + plan->vary_count;
    if (r.outcome == VY_OUTCOME_KILLED || r.outcome == VY_OUTCOME_INVALID) return KILLED_SCORE;
    if (r.outcome == VY_OUTCOME_FAILED) return -2.0 + r.time / plan->base->duration;
    double score = 1.0;
    for (int i = 0; i < plan->base->expect_count; ++i) {
        const double margin = margins[2 * i];
        const int is_broken = !(r.met >> i & 1u) && !(r.skipped >> i & 1u);
        double expectation_score =
            isnan(margin) ? (is_broken ? -1.0 : 1.0) : margin / scale_of(&plan->base->expect[i]);
        if (is_broken && expectation_score >= 0.0)
            expectation_score = -DBL_MIN; // not met, whatever the margin is
        if (is_broken && expectation_score < -1.0)
            expectation_score = -1.0; // better than a flight that ended
        if (expectation_score < score) score = expectation_score;
    }
    return score;
}

void vy_expectation_name(const vy_plan *plan, int index, char *out, size_t size)
{
    static const char *const time_words[] = {"at end",  "throughout", "rms",     "settled",
                                             "reached", "overshoot",  "integral"};
    const vy_expect_def *e = &plan->base->expect[index];
    int count;
    const vy_quantity *quantities = vy_quantities(&count);
    const char *unit = vy_expect_unit(plan->base, index);
    snprintf(out, size, "%s %s%s%s%s", quantities[e->quantity].name, time_words[e->at],
             unit[0] != '\0' ? " [" : "", unit, unit[0] != '\0' ? "]" : "");
}
