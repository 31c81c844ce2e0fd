// cmd_run.c - volery run: fly a scenario and log it.
#include "command.h"
#include "controllers.h"
#include "files.h"
#include "flight.h"
#include "junit.h"
#include "load.h"
#include "record/file.h"
#include "message.h"
#include "shipped.h"
#include "summary.h"
#include <stdlib.h>
#include <string.h>

enum { THREADS_MAX = 1024, PORT_MAX = 65535 };

static int report_missing_scenario(void)
{
    vy_print_error("run", EXIT_USAGE,
                   "which scenario? Give a file or a name, for example: volery run first-flight");
    vy_shipped_list(stderr);
    return EXIT_USAGE;
}

// The scenario's name in this folder: a/b.yaml -> b.mcap.
static char *default_log(const char *scenario)
{
    const char *slash = strrchr(scenario, '/');
    const char *file_name = slash != NULL ? slash + 1 : scenario;
    const char *dot = strrchr(file_name, '.');
    const int length = dot != NULL && dot != file_name ? (int)(dot - file_name) : (int)strlen(file_name);
    char *out = malloc((size_t)length + sizeof ".mcap");
    if (out != NULL) snprintf(out, (size_t)length + sizeof ".mcap", "%.*s.mcap", length, file_name);
    return out;
}

// Where the log goes; text to free().
static char *log_name(const arguments *args, const char *file)
{
    const char *requested_path = vy_option_value(args, "output");
    return requested_path != NULL ? strdup(requested_path) : default_log(file);
}

// Before anything is read that could be wrong: reporting an error must not overwrite an input either.
static int claim_outputs(const arguments *args, const char *file)
{
    vy_file_is_input(file);
    if (vy_has_option(args, "no-log")) return vy_file_check_conflicts("run");
    char *log = log_name(args, file);
    const int status =
        log != NULL ? vy_file_claim("run", log, VY_FILE_PART_SUFFIX) : vy_print_no_memory("run");
    free(log);
    return status;
}

static int check_watch(const arguments *args)
{
    uint64_t port = 0;
    const char *port_text = vy_option_value(args, "port"), *log = vy_option_value(args, "output");
    if (port_text != NULL && !vy_has_option(args, "watch"))
        return vy_print_usage_error(args->command, "--port goes with --watch");
    if (vy_has_option(args, "address") && !vy_has_option(args, "watch"))
        return vy_print_usage_error(args->command, "--address goes with --watch");
    if (port_text != NULL && (!vy_parse_uint(port_text, &port) || port > PORT_MAX))
        return vy_print_usage_error(args->command, "--port needs a whole number from 0 to %d, got %s",
                                    PORT_MAX, port_text);
    if (vy_has_option(args, "watch") &&
        (vy_has_option(args, "no-log") || (log != NULL && vy_file_is_stream(log))))
        return vy_print_usage_error(args->command,
                                    "--watch shows what the log gets, so it needs one in a file: not with "
                                    "--no-log or -o -");
    return 0;
}

static int check_options(const arguments *args)
{
    if (vy_has_option(args, "no-log") &&
        (vy_has_option(args, "output") || vy_has_option(args, "log-state") || vy_has_option(args, "sign"))) {
        return vy_print_usage_error(
            args->command, "--no-log writes no log, so --output, --log-state and --sign mean nothing");
    }
    const char *junit = vy_option_value(args, "junit"), *log = vy_option_value(args, "output");
    if (junit != NULL && vy_file_is_stream(junit) &&
        (vy_has_option(args, "json") || !vy_has_option(args, "quiet")))
        return vy_print_usage_error(args->command,
                                    "--junit - has standard output for itself: with --quiet, not --json");
    if (log != NULL) {
        const int status = vy_file_check_log(args->command->name, log, vy_has_option(args, "json"));
        if (status != 0) return status;
    }
    const char *state_option = vy_option_value(args, "log-state");
    if (state_option != NULL && strcmp(state_option, "every") != 0) {
        return vy_print_usage_error(args->command,
                                    "--log-state knows only the word every, got %s; "
                                    "for a cadence use --set log.snapshot=SECONDS",
                                    state_option);
    }
    const char *nap_option = vy_option_value(args, "nap");
    if (nap_option != NULL && strcmp(nap_option, "strict") != 0) {
        return vy_print_usage_error(
            args->command,
            "--nap knows only the word strict, got %s; for thresholds use --set world.nap.force_rel=...",
            nap_option);
    }
    const int watch_status = check_watch(args);
    if (watch_status != 0) return watch_status;
    uint64_t threads;
    const char *count = vy_option_value(args, "threads");
    if (count != NULL && (!vy_parse_uint(count, &threads) || threads > THREADS_MAX))
        return vy_print_usage_error(args->command, "--threads needs a whole number from 0 to %d, got %s",
                                    THREADS_MAX, count);
    return 0;
}

// Not a value of the scenario: the flight is the same with any number of them.
static uint32_t threads_of(const arguments *args)
{
    uint64_t threads = 1;
    const char *count = vy_option_value(args, "threads");
    if (count != NULL) (void)vy_parse_uint(count, &threads);
    return (uint32_t)threads;
}

static int port_of(const arguments *args)
{
    uint64_t port = 0;
    const char *port_text = vy_option_value(args, "port");
    if (port_text != NULL) (void)vy_parse_uint(port_text, &port);
    return (int)port;
}

// `*is_reported` is set once the report for machines is written, or has failed to be.
static int fly(const arguments *args, const char *file, const char *log, const vy_scenario *scenario,
               controllers *programs, watch *watched, int *is_reported)
{
    vy_world *world = NULL;
    int status = vy_load_world("run", scenario, &world);
    if (status != 0) {
        vy_watch_end(watched, NULL, 0);
        return status;
    }
    const int as_json = vy_has_option(args, "json"), is_quiet = vy_has_option(args, "quiet");
    const flight_def def = {.command = "run",
                            .file = file,
                            .scenario = scenario,
                            .world = world,
                            .programs = programs,
                            .log = log,
                            .sign = vy_option_value(args, "sign"),
                            .realtime = vy_has_option(args, "realtime"),
                            .watched = watched,
                            .show_progress = !is_quiet};
    flight flown;
    status = vy_flight_fly(&def, &flown);
    const char *junit = vy_option_value(args, "junit");
    if (status == 0 && junit != NULL) {
        *is_reported = 1;
        status = vy_junit_write(&flown, junit);
    }
    if (status == 0) status = vy_summary_print(&flown, as_json, is_quiet);
    vy_flight_destroy(&flown);
    vy_world_destroy(world);
    return status;
}

// What the keys do, printed before the flight.
static void explain_keys(const vy_scenario *scenario, int is_watched)
{
    for (int i = 0; i < scenario->drone_count; ++i) {
        const vy_controller_def *c = &scenario->drones[i].def.controller;
        if (c->kind != VY_CONTROLLER_PILOT || c->program[0] != '\0') continue;
        fprintf(
            stderr,
            "%s is yours%s: w s faster, slower; a d sideways; r f or arrows up, down; q e or arrows turn;\n"
            "space stops; Ctrl-C ends the flight\n",
            scenario->drones[i].name, is_watched ? " in the page" : "");
    }
}

static int run_file(const arguments *args, const char *file, const overrides *changes, int *is_reported)
{
    vy_scenario *scenario = NULL;
    int status = vy_load_scenario("run", file, changes, &scenario);
    if (status != 0) return status;
    if (vy_has_option(args, "log-state")) scenario->log.snapshot = scenario->step;
    if (vy_has_option(args, "nap")) scenario->environment.nap.strict = 1;
    scenario->contacts.def.threads = threads_of(args);
    char *log = NULL;
    if (!vy_has_option(args, "no-log")) {
        log = log_name(args, file);
        if (log == NULL) status = vy_print_no_memory("run");
    }
    if (status == 0) status = vy_controllers_are_inputs("run", scenario);
    controllers programs = {.count = 0};
    watch *watched = NULL;
    if (status == 0 && vy_has_option(args, "watch"))
        status = vy_watch_open("run", vy_option_value(args, "address"), port_of(args),
                               vy_has_option(args, "realtime"), &watched);
    if (status == 0)
        status = vy_controllers_open("run", scenario, vy_has_option(args, "realtime"),
                                     vy_has_option(args, "quiet"), watched, &programs);
    if (status == 0 && !vy_has_option(args, "quiet")) explain_keys(scenario, watched != NULL);
    if (status == 0) {
        status = fly(args, file, log, scenario, &programs, watched, is_reported);
    } else {
        vy_watch_end(watched, NULL, 0);
    }
    vy_controllers_close(&programs);
    free(log);
    vy_scenario_destroy(scenario);
    return status;
}

COMMAND(run)
{
    if (args->operand_count == 0) return report_missing_scenario();
    char *file = NULL;
    const char *junit = vy_option_value(args, "junit");
    int status = check_options(args), is_reported = junit == NULL;
    if (status != 0) return status;
    vy_file_is_input(args->operands[0]);
    if (junit != NULL) status = vy_file_claim("run", junit, VY_FILE_PART_SUFFIX);
    if (status != 0) return status;
    overrides changes = {.count = 0};
    status = vy_parse_overrides(args, &changes);
    if (status == 0) status = vy_scenario_file("run", args->operands[0], &file);
    if (status == 0) status = claim_outputs(args, file);
    if (status == 0) status = run_file(args, file, &changes, &is_reported);
    if (status >= EXIT_USAGE && !is_reported && !vy_file_has_conflict())
        (void)vy_junit_write_error("run", args->operands[0], junit);
    free(file);
    vy_overrides_destroy(&changes);
    return status;
}
