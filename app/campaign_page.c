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

enum { MAPS_MAX = 6 };

static void put_histogram(const report *r, const double *values, json *j)
{
    histogram h;
    vy_report_bins(r, values, &h);
    vy_json_number(j, "low", h.low);
    vy_json_number(j, "high", h.high);
    vy_json_list(j, "all");
    for (int i = 0; i < REPORT_BINS; ++i) vy_json_uint(j, NULL, h.all[i]);
    vy_json_close(j);
    vy_json_list(j, "failed");
    for (int i = 0; i < REPORT_BINS; ++i) vy_json_uint(j, NULL, h.failed[i]);
    vy_json_close(j);
}

static int cell_of(double x, double low, double high)
{
    const double place = high > low ? (x - low) / (high - low) : 0.0;
    return place >= 1.0 ? REPORT_CELLS - 1 : (int)(place * REPORT_CELLS);
}

// Cases and failures over two variables.
static void put_map(const report *r, int a, int b, json *j)
{
    static uint64_t all[REPORT_CELLS * REPORT_CELLS], failed[REPORT_CELLS * REPORT_CELLS];
    histogram x, y;
    memset(all, 0, sizeof all);
    memset(failed, 0, sizeof failed);
    vy_report_bins(r, r->numbers[a], &x);
    vy_report_bins(r, r->numbers[b], &y);
    for (uint64_t i = 0; i < r->cases; ++i) {
        const int cell = cell_of(r->numbers[b][i], y.low, y.high) * REPORT_CELLS +
                         cell_of(r->numbers[a][i], x.low, x.high);
        all[cell] += 1;
        failed[cell] += r->scores[i] < 0.0;
    }
    vy_json_object(j, NULL);
    vy_json_uint(j, "x", (uint64_t)a);
    vy_json_uint(j, "y", (uint64_t)b);
    vy_json_list(j, "all");
    for (int i = 0; i < REPORT_CELLS * REPORT_CELLS; ++i) vy_json_uint(j, NULL, all[i]);
    vy_json_close(j);
    vy_json_list(j, "failed");
    for (int i = 0; i < REPORT_CELLS * REPORT_CELLS; ++i) vy_json_uint(j, NULL, failed[i]);
    vy_json_close(j);
    vy_json_close(j);
}

// Variables that matter most, first.
static int most_influential(const report *r, int *order)
{
    const int n = r->plan->vary_count;
    const double *weights = r->total != NULL ? r->total : r->correlations;
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
        vy_case one;
        char name[64];
        vy_report_case(r, r->worst[i].index, &one);
        vy_json_object(j, NULL);
        vy_report_put_worst(c, r, i, j);
        vy_json_list(j, "values");
        for (int k = 0; k < p->vary_count; ++k) vy_json_text(j, NULL, one.texts[k]);
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
        vy_json_object(&j, NULL);
        vy_json_text(&j, "name", name);
        put_histogram(r, r->margins[i], &j);
        vy_json_close(&j);
    }
    vy_json_object(&j, NULL);
    vy_json_text(&j, "name", "score: the smallest margin, as a part of its bound");
    put_histogram(r, r->scores, &j);
    vy_json_close(&j);
    vy_json_close(&j);
    vy_json_list(&j, "variables");
    for (int k = 0; k < p->vary_count; ++k) {
        vy_json_object(&j, NULL);
        vy_report_put_variable(r, k, &j);
        put_histogram(r, r->numbers[k], &j);
        vy_json_close(&j);
    }
    vy_json_close(&j);
    vy_json_list(&j, "maps");
    const int n = most_influential(r, order);
    for (int a = 0, made = 0; a < n; ++a)
        for (int b = a + 1; b < n && made < MAPS_MAX; ++b, ++made) put_map(r, order[a], order[b], &j);
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
    const char *mark = strstr(text, DATA_MARK);
    fwrite(text, 1, (size_t)(mark - text), out.file);
    status = put_escaped(c, r, out.file);
    fputs(mark + strlen(DATA_MARK), out.file);
    free(text);
    if (status == 0) return vy_output_commit("campaign", &out);
    vy_output_discard(&out);
    return status;
}
