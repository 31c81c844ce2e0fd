// campaign_table.c - the results of a campaign as a Parquet file: a row a case.
#include "base/decimal.h"
#include "campaign/score.h"
#include "campaign_report.h"
#include "command.h"
#include "files.h"
#include "message.h"
#include "record/parquet.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIXED_COLUMNS = 7 };

// What the table has for each value of a list: the number that it is, all of them being numbers; else its
// place, from 0. NULL of variables without a list.
static int read_lists(const vy_plan *p, double **lists)
{
    for (int k = 0; k < p->vary_count; ++k) {
        const vy_plan_variable *v = &p->vary[k];
        int are_numbers = 1;
        if (v->distribution != VY_PLAN_VALUES) continue;
        lists[k] = malloc((size_t)v->value_count * sizeof **lists);
        if (lists[k] == NULL) return 0;
        for (int i = 0; i < v->value_count; ++i) {
            const size_t size = strlen(v->values[i].text);
            are_numbers &= vy_decimal_read(v->values[i].text, size, 0, &lists[k][i]) == size;
        }
        for (int i = 0; i < v->value_count && !are_numbers; ++i) lists[k][i] = i;
    }
    return 1;
}

static void fill_columns(const vy_plan *p, double *const *lists, double *row, double *out)
{
    const vy_result *r = vy_row_result(row);
    const double fixed_values[FIXED_COLUMNS] = {
        (double)r->index,
        r->seed <= (uint64_t)1 << 53 ? (double)r->seed : (double)NAN,
        (double)r->outcome,
        r->outcome == VY_OUTCOME_FAILED ? (double)r->reason : (double)NAN,
        r->time,
        (double)r->wall_clock,
        vy_case_score(p, row),
    };
    memcpy(out, fixed_values, sizeof fixed_values);
    const size_t plan_cells = vy_row_cells(p) - VY_RESULT_CELLS;
    memcpy(out + FIXED_COLUMNS, row + VY_RESULT_CELLS, plan_cells * sizeof *out);
    for (int k = 0; k < p->vary_count; ++k) {
        double *number = &out[FIXED_COLUMNS + k];
        if (lists[k] != NULL) *number = lists[k][(int)*number];
    }
    out[FIXED_COLUMNS + plan_cells] = (double)(r->final_hash >> 32);
    out[FIXED_COLUMNS + plan_cells + 1] = (double)(r->final_hash & 0xffffffffu);
}

static vy_status write_rows(const campaign *c, const report *r, vy_parquet *table, double *table_row,
                            vy_error *err)
{
    const size_t row_cells = vy_row_cells(c->plan);
    double *lists[VY_PLAN_VARY_CAP] = {NULL};
    vy_status status = read_lists(c->plan, lists) ? VY_OK : VY_NO_MEMORY;
    for (uint64_t i = 0, rows_done = 0; i < c->shards && rows_done < r->cases && status == VY_OK; ++i) {
        double *rows = NULL;
        uint64_t first_case, end_case;
        char *path = vy_campaign_shard_path(c, i);
        status = path != NULL ? vy_shard_read(path, c->plan, i, c->shards, &rows, err) : VY_NO_MEMORY;
        free(path);
        vy_shard_range(c->plan, i, c->shards, &first_case, &end_case);
        for (uint64_t k = 0; k < end_case - first_case && rows_done < r->cases && status == VY_OK;
             ++k, ++rows_done) {
            fill_columns(c->plan, lists, rows + k * row_cells, table_row);
            status = vy_parquet_row(table, table_row, err);
        }
        free(rows);
    }
    for (int k = 0; k < c->plan->vary_count; ++k) free(lists[k]);
    return status;
}

int vy_report_table(const campaign *c, const report *r, const char *path)
{
    const vy_plan *p = c->plan;
    static const char *const fixed_names[FIXED_COLUMNS] = {"case", "seed",       "outcome", "reason",
                                                           "time", "wall_clock", "score"};
    const size_t count = FIXED_COLUMNS + (size_t)p->vary_count + 2 * (size_t)p->base->expect_count + 2;
    const char **names = calloc(count, sizeof *names), **units = calloc(count, sizeof *units);
    char(*expectation_names)[REPORT_NAME + 32] =
        calloc(2 * (size_t)p->base->expect_count + 1, sizeof *expectation_names);
    double *table_row = calloc(count, sizeof *table_row);
    vy_parquet *table = NULL;
    vy_error err = {.status = VY_OK};
    output out = {.file = NULL};
    int status = names == NULL || units == NULL || expectation_names == NULL || table_row == NULL
                     ? vy_print_no_memory("campaign")
                     : 0;
    for (size_t i = 0; status == 0 && i < count; ++i) {
        names[i] = i < FIXED_COLUMNS ? fixed_names[i] : i + 2 == count ? "final_hash_high" : "final_hash_low";
        units[i] = i == 4 ? "s" : "";
    }
    for (int k = 0; status == 0 && k < p->vary_count; ++k) {
        names[FIXED_COLUMNS + k] = p->vary[k].key;
        units[FIXED_COLUMNS + k] = p->vary[k].unit;
    }
    for (int i = 0; status == 0 && i < 2 * p->base->expect_count; ++i) {
        char name[REPORT_NAME];
        vy_expectation_name(p, i / 2, name, sizeof name);
        snprintf(expectation_names[i], sizeof expectation_names[i], "%s %d: %s",
                 i % 2 == 0 ? "margin" : "worst", i / 2 + 1, name);
        names[FIXED_COLUMNS + p->vary_count + i] = expectation_names[i];
        units[FIXED_COLUMNS + p->vary_count + i] = vy_expect_unit(p->base, i / 2);
    }
    if (status == 0) status = vy_output_open("campaign", path, &out);
    if (status == 0) {
        vy_status write_status = vy_parquet_open(out.file, (int)count, names, units, &table, &err);
        if (write_status == VY_OK) write_status = write_rows(c, r, table, table_row, &err);
        if (write_status == VY_OK) {
            write_status = vy_parquet_close(table, &err);
        } else {
            vy_parquet_abandon(table);
        }
        if (write_status != VY_OK) {
            status = vy_print_status("campaign", write_status, &err);
            vy_output_discard(&out);
        } else {
            status = vy_output_commit("campaign", &out);
        }
    }
    free(names);
    free(units);
    free(expectation_names);
    free(table_row);
    return status;
}
