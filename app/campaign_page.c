// campaign_page.c - the page of a campaign: binned data put into campaign_page.html.
#include "campaign/score.h"
#include "campaign_page.h"
#include "campaign_report.h"
#include "files.h"
#include "json.h"
#include "message.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DATA_MARK "<!-- data -->"

enum {
    MAPS_MAX = 6,
    BINS = 40,  // of a histogram
    CELLS = 24, // of a heat map, each way
};

// `count` bins between `low` and `high`. `is_discrete`: one for each value that there is.
typedef struct axis {
    double low, high;
    int count, is_discrete;
} axis;

static axis axis_of_values(const report *r, const double *values, int count)
{
    axis a = {.low = HUGE_VAL, .high = -HUGE_VAL, .count = count};
    for (uint64_t i = 0; i < r->cases; ++i) {
        if (!isfinite(values[i])) continue;
        a.low = fmin(a.low, values[i]);
        a.high = fmax(a.high, values[i]);
    }
    return a;
}

// What is listed or goes in steps has a place for each value, if there are not too many.
static axis axis_of_variable(const report *r, int k, int max)
{
    const vy_plan *p = r->plan;
    const vy_plan_variable *v = &p->vary[k];
    const int steps = p->sample == VY_SAMPLE_GRID || p->sample == VY_SAMPLE_LIST ? v->steps : 0;
    const int declared_count = v->distribution == VY_PLAN_VALUES ? v->value_count : steps;
    axis a = axis_of_values(r, r->numbers[k], max);
    if (declared_count > 0 && declared_count <= max) {
        a.count = declared_count;
        a.is_discrete = 1;
    }
    if (v->distribution == VY_PLAN_VALUES) { // their numbers in the list
        a.low = 0.0;
        a.high = declared_count - 1.0;
    }
    return a;
}

static int bin_of(const axis *a, double x)
{
    const double fraction = a->high > a->low ? (x - a->low) / (a->high - a->low) : 0.0;
    if (a->is_discrete) return (int)(fraction * (a->count - 1) + 0.5);
    return fraction >= 1.0 ? a->count - 1 : (int)(fraction * a->count);
}

static void put_counts(json *j, const char *name, const uint64_t *counts, int size)
{
    vy_json_list(j, name);
    for (int i = 0; i < size; ++i) vy_json_uint(j, NULL, counts[i]);
    vy_json_close(j);
}

static void put_histogram(const report *r, const double *values, const axis *a, json *j)
{
    uint64_t counts[BINS] = {0}, failed[BINS] = {0};
    for (uint64_t i = 0; i < r->cases; ++i) {
        if (!isfinite(values[i])) continue;
        const int bin = bin_of(a, values[i]);
        counts[bin] += 1;
        failed[bin] += r->scores[i] < 0.0;
    }
    vy_json_number(j, "low", a->low);
    vy_json_number(j, "high", a->high);
    put_counts(j, "all", counts, a->count);
    put_counts(j, "failed", failed, a->count);
}

// Cases and failures over two variables.
static void put_map(const report *r, int x, int y, json *j)
{
    uint64_t counts[CELLS * CELLS] = {0}, failed[CELLS * CELLS] = {0};
    const axis x_axis = axis_of_variable(r, x, CELLS), y_axis = axis_of_variable(r, y, CELLS);
    for (uint64_t i = 0; i < r->cases; ++i) {
        const int cell = bin_of(&y_axis, r->numbers[y][i]) * x_axis.count + bin_of(&x_axis, r->numbers[x][i]);
        counts[cell] += 1;
        failed[cell] += r->scores[i] < 0.0;
    }
    vy_json_object(j, NULL);
    vy_json_uint(j, "x", (uint64_t)x);
    vy_json_uint(j, "y", (uint64_t)y);
    vy_json_uint(j, "columns", (uint64_t)x_axis.count);
    put_counts(j, "all", counts, x_axis.count * y_axis.count);
    put_counts(j, "failed", failed, x_axis.count * y_axis.count);
    vy_json_close(j);
}

// A margin, or the score.
static void put_margin(const report *r, const char *name, const double *values, json *j)
{
    const axis a = axis_of_values(r, values, BINS);
    vy_json_object(j, NULL);
    vy_json_text(j, "name", name);
    put_histogram(r, values, &a, j);
    vy_json_close(j);
}

static void put_variable(const report *r, int k, json *j)
{
    const vy_plan_variable *v = &r->plan->vary[k];
    const axis a = axis_of_variable(r, k, BINS);
    vy_json_object(j, NULL);
    vy_report_put_variable(r, k, j);
    put_histogram(r, r->numbers[k], &a, j);
    if (v->distribution == VY_PLAN_VALUES) {
        vy_json_list(j, "labels");
        for (int i = 0; i < v->value_count; ++i) vy_json_text(j, NULL, v->values[i].text);
        vy_json_close(j);
    }
    vy_json_close(j);
}

// Variables that matter most, first.
static int most_influential(const report *r, int *order)
{
    const int n = r->plan->vary_count;
    const double *weights = r->sobol_total != NULL ? r->sobol_total : r->correlations;
    for (int i = 0; i < n; ++i) order[i] = i;
    for (int i = 1; i < n; ++i) {
        for (int k = i; k > 0; --k) {
            if (!(fabs(weights[order[k]]) > fabs(weights[order[k - 1]]))) break;
            const int swap = order[k];
            order[k] = order[k - 1];
            order[k - 1] = swap;
        }
    }
    return n;
}

static void put_worst(const campaign *c, const report *r, json *j)
{
    const vy_plan *p = r->plan;
    vy_json_list(j, "worst");
    for (int i = 0; i < r->worst_count; ++i) {
        vy_case worst;
        char name[64];
        vy_report_case(r, r->worst[i].index, &worst);
        vy_json_object(j, NULL);
        vy_report_put_worst(c, r, i, j);
        vy_json_list(j, "values");
        for (int k = 0; k < p->vary_count; ++k) vy_json_text(j, NULL, worst.texts[k]);
        vy_json_close(j);
        snprintf(name, sizeof name, "logs/case-%" PRIu64 ".html", r->worst[i].index);
        char *page = vy_campaign_path(c, name);
        vy_json_text(j, "page", page != NULL && vy_file_is_regular(page) ? name : NULL);
        free(page);
        vy_json_close(j);
    }
    vy_json_close(j);
}

static void put_data(const campaign *c, const report *r, FILE *out)
{
    const vy_plan *p = r->plan;
    int order[VY_PLAN_VARY_CAP];
    json j = vy_json_begin(out);
    vy_report_put(r, &j);
    vy_json_text(&j, "scenario", p->path);
    vy_json_list(&j, "margins");
    for (int i = 0; i < p->base->expect_count; ++i) {
        char name[REPORT_NAME];
        vy_expectation_name(p, i, name, sizeof name);
        put_margin(r, name, r->margins[i], &j);
    }
    put_margin(r, "score: the smallest margin, as a part of its bound", r->scores, &j);
    vy_json_close(&j);
    vy_json_list(&j, "variables");
    for (int k = 0; k < p->vary_count; ++k) put_variable(r, k, &j);
    vy_json_close(&j);
    vy_json_list(&j, "maps");
    const int n = most_influential(r, order);
    for (int a = 0, map_count = 0; a < n; ++a)
        for (int b = a + 1; b < n && map_count < MAPS_MAX; ++b, ++map_count)
            put_map(r, order[a], order[b], &j);
    vy_json_close(&j);
    put_worst(c, r, &j);
    vy_json_end(&j);
}

// JSON inside HTML: no text of a plan may end the element.
static int put_escaped(const campaign *c, const report *r, FILE *out)
{
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    if (memory == NULL) return vy_print_no_memory("campaign");
    put_data(c, r, memory);
    if (fclose(memory) != 0) {
        free(text);
        return vy_print_no_memory("campaign");
    }
    fputs("<script type=\"application/json\" id=\"data\">", out);
    for (size_t i = 0; i < size; ++i) {
        if (text[i] == '<')
            fputs("\\u003c", out);
        else
            fputc(text[i], out);
    }
    fputs("</script>", out);
    free(text);
    return 0;
}

int vy_report_page(const campaign *c, const report *r, const char *path)
{
    static const packed page = PACKED(vy_campaign_page);
    char *text = NULL;
    output out;
    int status = vy_packed_load("campaign", "the page of campaigns", &page, &text);
    if (status == 0) status = vy_output_open("campaign", path, &out);
    if (status != 0) {
        free(text);
        return status;
    }
    const char *data_mark = strstr(text, DATA_MARK);
    fwrite(text, 1, (size_t)(data_mark - text), out.file);
    status = put_escaped(c, r, out.file);
    fputs(data_mark + strlen(DATA_MARK), out.file);
    free(text);
    if (status == 0) return vy_output_commit("campaign", &out);
    vy_output_discard(&out);
    return status;
}
