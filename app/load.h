// load.h - scenarios for the commands: find, override, check, print errors.
#pragma once
#include "arguments.h"
#include "volery/record.h"
#include "volery/scenario.h"

/// A list of "key=value" texts made from --set, --seed and --duration. Release with vy_overrides_destroy().
typedef struct overrides {
    const char **items;
    int count;
    char seed[64], duration[64]; ///< items may point here
} overrides;

/// @return 0, or the exit status after a sentence
int vy_parse_overrides(const arguments *args, overrides *out);
void vy_overrides_destroy(overrides *o);

/// A whole number from the command line, decimal. Returns 0 when `text` is none.
int vy_parse_uint(const char *text, uint64_t *out);

/// A finite number from the command line. Returns 0 when `text` is none.
int vy_parse_number(const char *text, double *out);

/// The file that the operand SCENARIO stands for: itself, or a shipped scenario of that name.
/// @return 0 with text to free() in `*path`, or the exit status after a sentence
int vy_scenario_file(const char *name, const char *operand, char **path);

/// Load a scenario file; mistakes and warnings go to stderr.
/// @return 0, or the exit status after a sentence
int vy_load_scenario(const char *name, const char *path, const overrides *changes, vy_scenario **out);

/// The same, with the diagnostics given back, to be destroyed.
int vy_load_scenario_diagnosed(const char *name, const char *path, const overrides *changes,
                               vy_scenario **out, vy_diagnostics *diagnostics);

/// Open a log; a log that was cut off is a warning.
/// @return 0, or the exit status after a sentence
int vy_load_log(const char *name, const char *path, vy_log **out);

/// The scenario inside a log, with `changes` (may be NULL) on top.
/// @return 0, or the exit status after a sentence
int vy_load_logged_scenario(const char *name, const char *path, vy_log *log, const overrides *changes,
                            vy_scenario **out);

/// Check that this program computes the physics the log was written with.
/// @return 0, or the exit status (1) after a sentence
int vy_check_log_physics(const char *name, const char *path, const vy_log *log);

/// Check that the scenario in the log is the one it was flown with.
/// @return 0, or the exit status (1) after a sentence
int vy_check_log_hash(const char *name, const char *path, const vy_log *log, const vy_scenario *scenario);

/// The sentence of a failed call on a log, naming its file.
/// @return the exit status
int vy_print_log_error(const char *name, const char *path, vy_status status, vy_error *err);

/// The world of a scenario. A drone whose controller is not built in and not started gets one without
/// replies: a log feeds them.
/// @return 0, or the exit status after a sentence
int vy_load_world(const char *name, const vy_scenario *scenario, vy_world **out);
