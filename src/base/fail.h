// fail.h - filling a vy_error in one line.
#pragma once
#include "base/real.h"
#include "volery/status.h"

/// Fill `err` (may be NULL) with `status` and one sentence, and return `status`.
vy_status vy_fail(vy_error *err, vy_status status, const char *format, ...) VY_PRINTF(3, 4);
