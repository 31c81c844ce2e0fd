// parquet.h - writes Parquet files of numbers: doubles in columns, packed by zstd. NaN becomes null.
#pragma once
#include "volery/status.h"
#include <stdio.h>

typedef struct vy_parquet vy_parquet; ///< one owner

/// Begin a file of `count` columns; the first is never null. Texts and `out` must outlive the writer.
vy_status vy_parquet_open(FILE *out, int count, const char *const *names, const char *const *units,
                          vy_parquet **writer, vy_error *err);

/// Add a row of `count` values.
vy_status vy_parquet_row(vy_parquet *p, const double *values, vy_error *err);

/// Write what is left and the footer, free everything. NULL is a no-op.
vy_status vy_parquet_close(vy_parquet *p, vy_error *err);

/// Free everything; the file is left as it is. NULL is a no-op.
void vy_parquet_abandon(vy_parquet *p);
