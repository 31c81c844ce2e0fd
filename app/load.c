// load.c - from words and files to scenarios, logs and worlds.
#include "load.h"
#include "command.h"
#include "files.h"
#include "message.h"
#include "shipped.h"
#include "volery/version.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int vy_parse_uint(const char *text, uint64_t *out)
{
    if (text[0] == '\0' || text[strspn(text, "0123456789")] != '\0') return 0;
    errno = 0;
    const unsigned long long value = strtoull(text, NULL, 10);
    if (errno != 0 || value > UINT64_MAX) return 0;
    *out = value;
    return 1;
}

int vy_parse_number(const char *text, double *out)
{
    if (text[0] == '\0' || text[strspn(text, "0123456789+-.eE")] != '\0')
        return 0; // no hex, inf, nan, blanks
    char *end = NULL;
    const double value = strtod(text, &end);
    if (*end != '\0' || !isfinite(value)) return 0;
    *out = value;
    return 1;
}

int vy_parse_overrides(const arguments *args, overrides *out)
{
    const command *cmd = args->command;
    *out = (overrides){.count = 0};
    out->items = calloc((size_t)args->option_count + 1, sizeof *out->items);
    if (out->items == NULL) return vy_print_no_memory(cmd->name);
    for (int i = 0; i < args->option_count; ++i) {
        const argument *a = &args->options[i];
        uint64_t seed;
        double seconds;
        if (strcmp(a->option->name, "set") == 0) {
            const char *equals = strchr(a->value, '=');
            if (equals == NULL || equals == a->value) {
                return vy_print_usage_error(cmd, "--set needs key=value, got %s", a->value);
            }
            out->items[out->count++] = a->value;
        } else if (strcmp(a->option->name, "seed") == 0) {
            if (!vy_parse_uint(a->value, &seed)) {
                return vy_print_usage_error(cmd, "--seed needs a whole number from 0 to %" PRIu64 ", got %s",
                                            UINT64_MAX, a->value);
            }
            snprintf(out->seed, sizeof out->seed, "seed=%" PRIu64, seed);
            out->items[out->count++] = out->seed;
        } else if (strcmp(a->option->name, "duration") == 0) {
            if (!vy_parse_number(a->value, &seconds) || seconds <= 0.0) {
                return vy_print_usage_error(cmd, "--duration needs a number of seconds above 0, got %s",
                                            a->value);
            }
            snprintf(out->duration, sizeof out->duration, "duration=%.17g", seconds);
            out->items[out->count++] = out->duration;
        }
    }
    return 0;
}

void vy_overrides_destroy(overrides *o)
{
    free(o->items);
    *o = (overrides){.count = 0};
}

int vy_scenario_file(const char *name, const char *operand, char **path)
{
    *path = vy_file_is_regular(operand) ? NULL : vy_shipped_find(operand);
    if (*path != NULL) return 0;
    if (strchr(operand, '/') == NULL && strchr(operand, '.') == NULL && access(operand, F_OK) != 0)
        return vy_print_error(name, EXIT_USAGE,
                              "there is no scenario %s; volery help run lists those with a name", operand);
    const int status = vy_file_check_input(name, "scenario", operand);
    if (status != 0) return status;
    *path = malloc(strlen(operand) + 1);
    if (*path == NULL) return vy_print_no_memory(name);
    strcpy(*path, operand);
    return 0;
}

static int print_diagnostics(const char *name, const char *text_name, vy_status status,
                             const vy_diagnostics *diagnostics)
{
    if (status == VY_NO_MEMORY) return vy_print_no_memory(name); // what was found may be its doing
    vy_print_diagnostics(diagnostics);
    if (status == VY_OK) return 0;
    if (diagnostics->errors > 0) {
        return vy_print_error(name, status == VY_IO ? EXIT_SYSTEM : EXIT_USAGE, "%s: %d %s", text_name,
                              diagnostics->errors, diagnostics->errors == 1 ? "mistake" : "mistakes");
    }
    const vy_error error = {.status = status};
    return vy_print_status(name, status, &error);
}

// Files that the scenario refers to are inputs, too.
static vy_status load_input_file(void *self, const char *name, const char *from, vy_source_text *out)
{
    const vy_status status = vy_load_file(self, name, from, out);
    if (status == VY_OK) vy_file_is_input(out->name);
    return status;
}

int vy_load_scenario_diagnosed(const char *name, const char *path, const overrides *changes,
                               vy_scenario **out, vy_diagnostics *diagnostics)
{
    const vy_scenario_options options = {.overrides = changes->items,
                                         .override_count = changes->count,
                                         .load = load_input_file,
                                         .find_programs = 1};
    const vy_status status = vy_scenario_load(path, &options, out, diagnostics);
    return print_diagnostics(name, path, status, diagnostics);
}

int vy_load_scenario(const char *name, const char *path, const overrides *changes, vy_scenario **out)
{
    vy_diagnostics diagnostics = {.count = 0};
    const int status = vy_load_scenario_diagnosed(name, path, changes, out, &diagnostics);
    vy_diagnostics_destroy(&diagnostics);
    return status;
}

int vy_load_log(const char *name, const char *path, vy_log **out)
{
    *out = NULL;
    int status = vy_file_check_input(name, "log", path);
    if (status != 0) return status;
    vy_error error = {.status = VY_OK};
    const vy_status open_status = vy_log_open(path, out, &error);
    if (open_status != VY_OK) return vy_print_log_error(name, path, open_status, &error);
    const vy_log_info info = vy_log_get_info(*out);
    if (!info.complete) {
        vy_print_warning(name, "%s was cut off; it is good up to step %" PRIu64 " (%.3f s)", path,
                         info.last_tick, (double)info.last_tick * info.dt);
        if (!info.recovered) return 0; // there is no end to verify
    }
    const vy_status verify_status = vy_log_verify(*out, &error);
    if (verify_status == VY_OK) return 0;
    status = vy_print_log_error(name, path, verify_status, &error);
    vy_log_close(*out);
    *out = NULL;
    return status;
}

int vy_load_logged_scenario(const char *name, const char *path, vy_log *log, const overrides *changes,
                            vy_scenario **out)
{
    vy_diagnostics diagnostics = {.count = 0};
    char text_name[256];
    snprintf(text_name, sizeof text_name, "the scenario in %s", path);
    const vy_status status = vy_scenario_from_log(log, text_name, changes != NULL ? changes->items : NULL,
                                                  changes != NULL ? changes->count : 0, out, &diagnostics);
    const int exit_status = status == VY_OK ? 0 : print_diagnostics(name, text_name, status, &diagnostics);
    vy_diagnostics_destroy(&diagnostics);
    return exit_status;
}

int vy_check_log_physics(const char *name, const char *path, const vy_log *log)
{
    const vy_log_info info = vy_log_get_info(log);
    if (info.physics == VY_PHYSICS_REVISION) return 0;
    return vy_print_error(name, EXIT_FAILED,
                          "%s: this log was written by physics revision %" PRIu32
                          "; this program computes revision %d",
                          path, info.physics, VY_PHYSICS_REVISION);
}

int vy_check_log_hash(const char *name, const char *path, const vy_log *log, const vy_scenario *scenario)
{
    const uint64_t hash = vy_scenario_hash(scenario), logged_hash = vy_log_get_info(log).config_hash;
    if (hash == logged_hash) return 0;
    if (hash == 0) return vy_print_no_memory(name);
    return vy_print_error(name, EXIT_FAILED,
                          "%s: the scenario in the log is not the one that was flown: its hash is %016" PRIx64
                          ", the log says %016" PRIx64,
                          path, hash, logged_hash);
}

int vy_print_log_error(const char *name, const char *path, vy_status status, vy_error *err)
{
    if (err->file[0] == '\0') snprintf(err->file, sizeof err->file, "%s", path);
    return vy_print_status(name, status, err);
}

static void null_controller(void *self, const vy_samples *samples, vy_intent *intent)
{
    (void)self;
    (void)samples;
    intent->rung = VY_RUNG_NONE;
}

int vy_load_world(const char *name, const vy_scenario *scenario, vy_world **out)
{
    vy_error error = {.status = VY_OK};
    for (int i = 0; i < scenario->drone_count; ++i) {
        vy_controller_def *controller = &scenario->drones[i].def.controller;
        if (vy_controller_is_external(controller->kind) && controller->call == NULL)
            controller->call = null_controller;
    }
    const vy_status status = vy_scenario_build(scenario, out, &error);
    return status == VY_OK ? 0 : vy_print_status(name, status, &error);
}
