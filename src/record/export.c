// export.c - a log as a table in a file: comma-separated values, or Parquet.
#include "base/fail.h"
#include "base/real.h"
#include "record/parquet.h"
#include "record/table.h"
#include "record/track.h"
#include <math.h>
#include <stdlib.h>

typedef struct csv {
    FILE *out;
    int column_count;
} csv;

static int write_line(void *self, double time, const double *row)
{
    const csv *table = self;
    fprintf(table->out, "%.9f", time);
    for (int i = 0; i < table->column_count; ++i) {
        if (isnan(row[i]))
            fputc(',', table->out);
        else
            fprintf(table->out, ",%.17g", row[i]);
    }
    fputc('\n', table->out);
    return ferror(table->out);
}

static vy_status export_csv(log_table *t, double rate, FILE *out, vy_error *err)
{
    csv c = {out, t->count};
    fputs("time", out);
    for (int i = 0; i < t->count; ++i) fprintf(out, ",%s", t->columns[i].name);
    fputc('\n', out);
    const vy_status status = vy_table_rows(t, rate, write_line, &c, err);
    return status == VY_OK && ferror(out) ? vy_fail(err, VY_IO, "the table could not be written") : status;
}

typedef struct parquet_rows {
    vy_parquet *writer;
    int column_count;
    vy_error *err;
    vy_status status;
    double values[1 + TABLE_COLUMNS_MAX];
} parquet_rows;

static int write_row(void *self, double time, const double *row)
{
    parquet_rows *r = self;
    r->values[0] = time;
    memcpy(r->values + 1, row, (size_t)r->column_count * sizeof *row);
    r->status = vy_parquet_row(r->writer, r->values, r->err);
    return r->status != VY_OK;
}

static vy_status export_parquet(log_table *t, double rate, FILE *out, vy_error *err)
{
    const char *names[1 + TABLE_COLUMNS_MAX] = {"time"}, *units[1 + TABLE_COLUMNS_MAX] = {"s"};
    for (int i = 0; i < t->count; ++i) {
        names[1 + i] = t->columns[i].name;
        units[1 + i] = t->columns[i].unit;
    }
    parquet_rows r = {.column_count = t->count, .err = err};
    vy_status status = vy_parquet_open(out, 1 + t->count, names, units, &r.writer, err);
    if (status == VY_OK) status = vy_table_rows(t, rate, write_row, &r, err);
    if (status == VY_OK) status = r.status;
    if (status != VY_OK) {
        vy_parquet_abandon(r.writer);
        return status;
    }
    return vy_parquet_close(r.writer, err);
}

vy_export_def vy_default_export_def(void) { return (vy_export_def){.format = VY_EXPORT_CSV}; }

vy_status vy_log_export(vy_log *log, const vy_export_def *def, FILE *out, vy_error *err)
{
    FPU_SCOPE;
    if (!(def->rate >= 0.0 && def->rate <= 1e6))
        return vy_fail(err, VY_BAD_VALUE, "the rate must be from 0 to 1e6 Hz, got %g", def->rate);
    log_table *t = malloc(sizeof *t);
    if (t == NULL) return vy_fail(err, VY_NO_MEMORY, "out of memory");
    const int is_track = def->format == VY_EXPORT_KML || def->format == VY_EXPORT_GPX;
    vy_status status = is_track ? vy_track_open(log, def->body, t, err)
                                : vy_table_open(log, def->body, def->fields, def->field_count, t, err);
    if (status == VY_OK && is_track) status = vy_track_write(t, def, out, err);
    if (status == VY_OK && def->format == VY_EXPORT_CSV) status = export_csv(t, def->rate, out, err);
    if (status == VY_OK && def->format == VY_EXPORT_PARQUET) status = export_parquet(t, def->rate, out, err);
    vy_table_close(t);
    free(t);
    return status;
}
