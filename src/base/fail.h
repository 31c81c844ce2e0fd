// fail.h - filling a vy_error in one line.
#pragma once
#include "base/real.h"
#include "volery/status.h"
#include <stdarg.h>

/// Fill `err` (may be NULL) with `status` and one sentence, and return `status`.
vy_status vy_fail(vy_error *err, vy_status status, const char *format, ...) VY_PRINTF(3, 4);

/// The same for a place in a file: `file` may be NULL, line and column count from 1, 0 is none.
vy_status vy_fail_at(vy_error *err, const char *file, int line, int column, vy_status status,
                     const char *format, va_list args);
