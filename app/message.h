// message.h - messages of the command: errors in one sentence on stderr, exit statuses, colours; and flushing
// stdout.
#pragma once
#include "base/real.h"
#include "volery/scenario.h"
#include "volery/status.h"
#include <stdio.h>

struct command;

/// From now on errors are also printed as one JSON object on stdout: {"status": "error", ...}.
void vy_set_json_errors(int is_on);

/// Print the diagnostics of loading to stderr. The next error has them as lists in its JSON object, and they
/// must live until then.
void vy_print_diagnostics(const vy_diagnostics *diagnostics);

/// The last error that was printed, and the lines printed before it; "" for none.
const char *vy_last_error(void);
const char *vy_last_error_context(void);

/// "volery NAME: sentence" on stderr. `name` may be NULL. Returns `exit_status`.
int vy_print_error(const char *name, int exit_status, const char *format, ...) VY_PRINTF(3, 4);

/// The same for an error on the command line: returns the status of bad usage.
int vy_print_usage_error(const struct command *cmd, const char *format, ...) VY_PRINTF(2, 3);
int vy_print_no_memory(const char *name);

/// What is printed lacks something, since memory is out: the command will end by saying so, with status 3.
void vy_note_no_memory(void);

/// The sentence of a failed library call, with its place in the input when it has one.
/// @return its exit status: 3 when the system failed, else 2
int vy_print_status(const char *name, vy_status status, const vy_error *err);

/// "volery NAME: warning: sentence" on stderr.
void vy_print_warning(const char *name, const char *format, ...) VY_PRINTF(2, 3);

/// Print that stdout could not be written, because of the errno `reason`; printed once. Returns 3.
int vy_print_stdout_error(const char *name, int reason);

/// Hand stdout to the system, all of it.
/// @return `exit_status`, or 3 after a sentence when the system did not take it
int vy_flush_stdout(const char *name, int exit_status);

/// 1 when `file` is a terminal that wants colours.
int vy_colours(FILE *file);

/// Escape sequences for `file`, or "" where colours are not wanted.
typedef struct palette {
    const char *bold, *dim, *good, *bad, *plain;
} palette;
palette vy_palette(FILE *file);
