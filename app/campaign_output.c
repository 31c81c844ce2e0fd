// campaign_output.c - the answers of a campaign as text, JSON and JUnit XML.
#include "campaign/score.h"
#include "campaign_report.h"
#include "command.h"
#include "files.h"
#include "json.h"
#include "message.h"
#include "volery/version.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WORST_PRINTED = 5 };

// The middle and the ends of some values.
typedef struct spread {
    double min, percentile_1, median;
} spread;

static int measure_spread(const double *values, uint64_t count, spread *out)
{
    double *copy = malloc((size_t)(count + 1) * sizeof *copy);
    if (copy == NULL) return 0;
    memcpy(copy, values, (size_t)count * sizeof *copy);
    out->median = vy_report_quantile(copy, (size_t)count, 0.5); // sorted from here on
    size_t finite_count = 0;
    while (finite_count < count && isfinite(copy[finite_count]) &&
           (finite_count == 0 || copy[finite_count] >= copy[finite_count - 1]))
        ++finite_count;
    out->min = finite_count > 0 ? copy[0] : (double)NAN;
    out->percentile_1 = finite_count > 0 ? copy[(size_t)(0.01 * (double)(finite_count - 1))] : (double)NAN;
    free(copy);
    return 1;
}

static void print_margins(const report *r, FILE *out)
{
    const vy_plan *p = r->plan;
    for (int i = 0; i < p->base->expect_count; ++i) {
        char name[REPORT_NAME];
        spread s;
        if (!measure_spread(r->margins[i], r->cases, &s)) return;
        vy_expectation_name(p, i, name, sizeof name);
        if (i == 0) fprintf(out, "\n  %-44s %11s %11s %11s\n", "margin", "least", "1 in 100", "median");
        fprintf(out, "  %-44s %11.4g %11.4g %11.4g\n", name, s.min, s.percentile_1, s.median);
    }
}

static void print_influence(const report *r, FILE *out)
{
    const vy_plan *p = r->plan;
    for (int k = 0; k < p->vary_count; ++k) {
        if (k == 0)
            fprintf(out, "\n  %-44s %11s%s\n", "what varies", "rank corr.",
                    r->sobol_first != NULL ? "       first       total" : "");
        fprintf(out, "  %-44.44s %11.3f", p->vary[k].key, r->correlations[k]);
        if (r->sobol_first != NULL) fprintf(out, " %11.3f %11.3f", r->sobol_first[k], r->sobol_total[k]);
        fputc('\n', out);
    }
}

void vy_report_print(const campaign *c, const report *r, FILE *out)
{
    const palette colours = vy_palette(out);
    fprintf(out, "%s%s%s: complete, %" PRIu64 " cases", colours.bold, r->plan->name, colours.plain, r->cases);
    if (r->accepting_look >= 0)
        fprintf(out, ", enough at look %d of %d", r->accepting_look + 1, r->plan->stop.look_count);
    fprintf(out, "\n\n  hash        %016" PRIx64 "\n", r->hash);
    fprintf(out, "  failed      %" PRIu64 " of %" PRIu64, r->cases - r->completed, r->cases);
    if (r->completed < r->cases)
        fprintf(out,
                " (%" PRIu64 " ended early, %" PRIu64 " expectations, %" PRIu64 " killed, %" PRIu64
                " invalid)",
                r->failed, r->expectation, r->killed, r->invalid);
    if (r->has_interval)
        fprintf(out, "\n  rate        %.4g, between %.4g and %.4g", r->rate, r->lower, r->upper);
    fprintf(out, "\n  %sso          %s%s\n", r->is_demonstrated ? colours.good : "", r->sentence,
            colours.plain);
    if (r->wall_clock > 0) {
        fprintf(out, "  tier 1      ended by the wall clock, outside of the hash:");
        for (uint64_t i = 0; i < r->wall_clock && i < REPORT_TIMEOUTS; ++i)
            fprintf(out, " %" PRIu64, r->timeout_cases[i]);
        fprintf(out, "%s\n", r->wall_clock > REPORT_TIMEOUTS ? " ..." : "");
    }
    print_margins(r, out);
    print_influence(r, out);
    for (int i = 0; i < r->worst_count && i < WORST_PRINTED; ++i) {
        char command_text[REPORT_COMMAND];
        vy_report_command(c, r->worst[i].index, command_text, sizeof command_text);
        fprintf(out, "%s  worst       %.4g  %s\n", i == 0 ? "\n" : "", r->worst[i].score, command_text);
    }
}

static void json_outcomes(const report *r, json *j)
{
    vy_json_uint(j, "cases", r->cases);
    vy_json_uint(j, "completed", r->completed);
    vy_json_uint(j, "failures", r->failed + r->expectation);
    vy_json_uint(j, "ended_early", r->failed);
    vy_json_uint(j, "expectation_not_met", r->expectation);
    vy_json_uint(j, "killed", r->killed);
    vy_json_uint(j, "invalid", r->invalid);
    vy_json_uint(j, "wall_clock", r->wall_clock);
    vy_json_list(j, "wall_clock_cases");
    for (uint64_t i = 0; i < r->wall_clock && i < REPORT_TIMEOUTS; ++i)
        vy_json_uint(j, NULL, r->timeout_cases[i]);
    vy_json_close(j);
    vy_json_object(j, "reasons");
    for (int i = 1; i < REPORT_REASONS; ++i)
        if (r->reasons[i] > 0) vy_json_uint(j, vy_failure_name((vy_failure_reason)i), r->reasons[i]);
    vy_json_close(j);
}

void vy_report_put(const report *r, json *j)
{
    const vy_plan *p = r->plan;
    vy_json_text(j, "campaign", p->name);
    vy_json_hash(j, "identity", p->identity);
    vy_json_hash(j, "hash", r->hash);
    json_outcomes(r, j);
    vy_json_number(j, "rate", r->rate);
    vy_json_number(j, "rate_upper", r->has_interval ? r->upper : (double)NAN);
    vy_json_number(j, "rate_lower", r->has_interval ? r->lower : (double)NAN);
    vy_json_number(j, "confidence", r->confidence);
    vy_json_text(j, "answer", r->sentence);
    vy_json_bool(j, "shown", r->is_demonstrated);
}

void vy_report_put_variable(const report *r, int k, json *j)
{
    vy_json_text(j, "key", r->plan->vary[k].key);
    vy_json_text(j, "unit", r->plan->vary[k].unit);
    vy_json_number(j, "rank_correlation", r->correlations[k]);
    if (r->sobol_first != NULL) vy_json_number(j, "first_order", r->sobol_first[k]);
    if (r->sobol_total != NULL) vy_json_number(j, "total", r->sobol_total[k]);
}

void vy_report_put_worst(const campaign *c, const report *r, int i, json *j)
{
    char command_text[REPORT_COMMAND];
    vy_report_command(c, r->worst[i].index, command_text, sizeof command_text);
    vy_json_uint(j, "case", r->worst[i].index);
    vy_json_number(j, "score", r->worst[i].score);
    vy_json_text(j, "command", command_text);
}

void vy_report_json(const campaign *c, const report *r, FILE *out)
{
    const vy_plan *p = r->plan;
    json j = vy_json_begin(out);
    vy_report_put(r, &j);
    vy_json_list(&j, "margins");
    for (int i = 0; i < p->base->expect_count; ++i) {
        char name[REPORT_NAME];
        spread s = {(double)NAN, (double)NAN, (double)NAN};
        (void)measure_spread(r->margins[i], r->cases, &s);
        vy_expectation_name(p, i, name, sizeof name);
        vy_json_object(&j, NULL);
        vy_json_text(&j, "expectation", name);
        vy_json_number(&j, "least", s.min);
        vy_json_number(&j, "hundredth", s.percentile_1);
        vy_json_number(&j, "median", s.median);
        vy_json_close(&j);
    }
    vy_json_close(&j);
    vy_json_list(&j, "variables");
    for (int k = 0; k < p->vary_count; ++k) {
        vy_json_object(&j, NULL);
        vy_report_put_variable(r, k, &j);
        vy_json_close(&j);
    }
    vy_json_close(&j);
    vy_json_list(&j, "worst");
    for (int i = 0; i < r->worst_count; ++i) {
        vy_json_object(&j, NULL);
        vy_report_put_worst(c, r, i, &j);
        vy_json_close(&j);
    }
    vy_json_close(&j);
    vy_json_end(&j);
}

static void put_xml(FILE *out, const char *text)
{
    for (; *text != '\0'; ++text) {
        if (*text == '<' || *text == '>' || *text == '&' || *text == '"')
            fprintf(out, "&#%d;", *text);
        else
            fputc(*text, out);
    }
}

int vy_report_junit(const report *r, const char *path)
{
    output out;
    const int status = vy_output_open("campaign", path, &out);
    if (status != 0) return status;
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"", out.file);
    put_xml(out.file, r->plan->name);
    fprintf(out.file,
            "\" tests=\"1\" failures=\"%d\" errors=\"0\" skipped=\"0\">\n    <testcase "
            "classname=\"campaign\" name=\"",
            !r->is_demonstrated);
    put_xml(out.file, r->plan->name);
    fprintf(out.file, "\">\n");
    if (!r->is_demonstrated) {
        fprintf(out.file, "      <failure type=\"campaign\" message=\"");
        put_xml(out.file, r->sentence);
        fprintf(out.file, "\"/>\n");
    }
    fputs("      <system-out>", out.file);
    put_xml(out.file, r->sentence);
    fprintf(out.file,
            "; %" PRIu64 " of %" PRIu64 " cases failed; hash %016" PRIx64 "</system-out>\n    </testcase>\n",
            r->cases - r->completed, r->cases, r->hash);
    fputs("  </testsuite>\n</testsuites>\n", out.file);
    return vy_output_commit("campaign", &out);
}
