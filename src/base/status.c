// status.c - texts of statuses, and how an error is filled.
#include "base/fail.h"
#include <stdarg.h>
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

vy_status vy_fail(vy_error *err, vy_status status, const char *format, ...)
{
    if (err != NULL) {
        memset(err, 0, sizeof *err);
        err->status = status;
        va_list args;
        va_start(args, format);
        vsnprintf(err->text, sizeof err->text, format, args);
        va_end(args);
    }
    return status;
}
