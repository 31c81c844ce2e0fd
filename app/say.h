// say.h - how the command speaks: mistakes in one sentence on stderr, exit statuses, colours, whole output.
#pragma once
#include "base/real.h"
#include "volery/scenario.h"
#include "volery/status.h"
#include <stdio.h>

struct command;

/// From now on mistakes are also printed as one JSON object on stdout: {"status": "error", ...}.
void vy_say_json(int on);

/// Print what loading had to say to stderr. The mistake said next has it as lists in its JSON object; `told`
/// must last until then.
void vy_say_diagnostics(const vy_diagnostics *told);

/// The last mistake that was said, and the lines printed before it; "" for none.
const char *vy_said(void);
const char *vy_said_before(void);

/// "volery NAME: sentence" on stderr. `name` may be NULL. Returns `exit_status`.
int vy_say(const char *name, int exit_status, const char *format, ...) VY_PRINTF(3, 4);

/// The same for a mistake on the command line: returns the status of bad usage.
int vy_say_usage(const struct command *of, const char *format, ...) VY_PRINTF(2, 3);
int vy_say_no_memory(const char *name);

/// The sentence of a failed library call, with its place in the input when it has one.
/// @return its exit status: 3 when the system failed, else 2
int vy_say_error(const char *name, vy_status status, const vy_error *err);

/// "volery NAME: warning: sentence" on stderr.
void vy_say_warning(const char *name, const char *format, ...) VY_PRINTF(2, 3);

/// Say that stdout could not be written, because of the errno `reason`; said once. Returns 3.
int vy_say_unwritten(const char *name, int reason);

/// Hand stdout to the system, all of it.
/// @return `exit_status`, or 3 after a sentence when the system did not take it
int vy_say_end(const char *name, int exit_status);

/// 1 when `file` is a terminal that wants colours.
int vy_colours(FILE *file);

/// Escape sequences for `file`, or "" where colours are not wanted.
typedef struct palette {
    const char *bold, *dim, *good, *bad, *plain;
} palette;
palette vy_palette(FILE *file);
