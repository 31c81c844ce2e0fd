// status.c - texts of statuses, and how an error is filled.
#include "base/assert.h"
#include "base/fail.h"
#include <stdio.h>

const char *vy_status_text(vy_status status)
{
    static const char *const texts[] = {
#define X(name, text) text,
        VY_STATUS_LIST(X)
#undef X
    };
    const unsigned index = (unsigned)status;
    return index < sizeof texts / sizeof texts[0] ? texts[index] : "unknown status";
}

vy_status vy_fail_at(vy_error *err, const char *file, int line, int column, vy_status status,
                     const char *format, va_list args)
{
    VY_ASSERT(status != VY_OK && format != NULL);
    VY_ASSERT(line >= 0 && column >= 0);
    if (err == NULL) return status;
    memset(err, 0, sizeof *err);
    err->status = status;
    err->line = line;
    err->column = column;
    if (file != NULL) snprintf(err->file, sizeof err->file, "%s", file);
    vsnprintf(err->text, sizeof err->text, format, args);
    return status;
}

vy_status vy_fail(vy_error *err, vy_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vy_fail_at(err, NULL, 0, 0, status, format, args);
    va_end(args);
    return status;
}
