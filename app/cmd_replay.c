// cmd_replay.c - volery replay: replay a run from its log alone.
#include "command.h"
#include "controllers.h"
#include "difference.h"
#include "json.h"
#include "load.h"
#include "progress.h"
#include "message.h"
#include "signals.h"
#include <inttypes.h>
#include <string.h>

static int show_progress(void *self, uint64_t tick, uint64_t last)
{
    progress *progress_line = self;
    progress_line->last = last;
    vy_progress_update(progress_line, tick);
    return vy_signals_seen();
}

// How a replay ended: what was compared, and why it could not continue, if so.
typedef struct outcome {
    const char *path;
    vy_log_info info;
    vy_difference difference;
    vy_error error;      // its status: VY_OK, VY_DAMAGED, VY_IO or VY_NO_MEMORY
    double wall_seconds; // [s]
} outcome;

static const char *verdict(const outcome *o)
{
    if (o->error.status != VY_OK) return o->error.status == VY_DAMAGED ? "damaged" : "error";
    if (o->difference.found) return "differs";
    return o->info.complete ? "identical" : "incomplete";
}

static void print_json(const outcome *o)
{
    const vy_log_info *info = &o->info;
    const int failed = o->error.status != VY_OK;
    json j = vy_json_begin(stdout);
    vy_json_text(&j, "status", verdict(o));
    vy_json_text(&j, "log", o->path);
    vy_json_bool(&j, "complete", info->complete);
    vy_json_bool(&j, "identical", strcmp(verdict(o), "identical") == 0);
    vy_json_uint(&j, "steps", o->difference.last_tick - info->first_tick);
    vy_json_uint(&j, "steps_total", info->last_tick - info->first_tick);
    vy_json_hash(&j, "config_hash", info->config_hash);
    vy_json_hash(&j, "final_hash", info->final_hash);
    vy_json_number(&j, "wall_s", o->wall_seconds);
    if (failed) vy_json_text(&j, "error", o->error.text);
    vy_difference_json(&o->difference, info->dt, &j);
    vy_json_end(&j);
}

static int print_outcome(const arguments *args, const outcome *o)
{
    const vy_log_info *info = &o->info;
    const vy_difference *difference = &o->difference;
    const uint64_t steps = difference->last_tick - info->first_tick,
                   total = info->last_tick - info->first_tick;
    const int failed = o->error.status != VY_OK;
    if (vy_has_option(args, "json")) {
        print_json(o);
        vy_set_json_errors(0); // one object
    }
    if (failed)
        return vy_print_error("replay", o->error.status == VY_DAMAGED ? EXIT_FAILED : EXIT_SYSTEM,
                              "%s: the replay cannot continue after step %" PRIu64 " of %" PRIu64 ": %s",
                              o->path, difference->last_tick, info->last_tick, o->error.text);
    if (vy_has_option(args, "json")) return difference->found ? EXIT_FAILED : EXIT_DONE;
    if (difference->found) {
        vy_difference_print(difference, info->dt, "the log", "the replay");
        return EXIT_FAILED;
    }
    if (vy_has_option(args, "quiet")) return EXIT_DONE;
    const palette p = vy_palette(stdout);
    const double realtime_factor = o->wall_seconds > 0.0 ? (double)steps * info->dt / o->wall_seconds : 0.0;
    if (info->complete)
        printf("%sidentical%s: %" PRIu64 " of %" PRIu64 " steps, ", p.good, p.plain, steps, total);
    else
        printf("%sincomplete%s: the same in all %" PRIu64 " steps up to where the log was cut off, ", p.dim,
               p.plain, steps);
    printf("final hash %016" PRIx64 " (%.3f s, %.0f times real time)\n", info->final_hash, o->wall_seconds,
           realtime_factor);
    return EXIT_DONE;
}

static int replay(const arguments *args, const char *path, vy_log *log, const vy_scenario *scenario,
                  vy_world *world)
{
    outcome o = {.path = path, .info = vy_log_get_info(log), .error = {.status = VY_OK}};
    const vy_log_info info = o.info;
    if (!info.complete && info.last_tick == info.first_tick)
        return vy_print_error("replay", EXIT_USAGE,
                              "%s was cut off before its first step: there is nothing to replay", path);
    vy_signals_catch();
    progress progress_line =
        vy_progress_begin(!vy_has_option(args, "quiet"), info.first_tick, info.last_tick, info.dt);
    const vy_status status =
        vy_has_option(args, "live")
            ? vy_log_replay_live(log, world, show_progress, &progress_line, &o.difference, &o.error)
            : vy_scenario_replay(scenario, log, world, show_progress, &progress_line, &o.difference,
                                 &o.error);
    o.wall_seconds = vy_wall_clock() - progress_line.start;
    vy_progress_end(&progress_line);
    const int signal = vy_signals_seen();
    if (status != VY_OK && signal != 0) {
        return vy_print_error("replay", vy_signals_exit(signal),
                              "interrupted at step %" PRIu64 ", no difference so far", vy_world_tick(world));
    }
    if (status != VY_OK && status != VY_DAMAGED && status != VY_IO && status != VY_NO_MEMORY)
        return vy_print_log_error("replay", path, status, &o.error);
    return print_outcome(args, &o);
}

COMMAND(replay)
{
    if (args->operand_count == 0) {
        return vy_print_usage_error(args->command, "which log? For example: volery replay first-flight.mcap");
    }
    const char *path = args->operands[0];
    vy_log *log = NULL;
    vy_scenario *scenario = NULL;
    vy_world *world = NULL;
    if (vy_has_option(args, "allow-programs") && !vy_has_option(args, "live"))
        return vy_print_usage_error(args->command,
                                    "--allow-programs goes with --live: nothing else starts a program");
    int status = vy_load_log("replay", path, &log);
    if (status == 0) status = vy_check_log_physics("replay", path, log);
    if (status == 0) status = vy_load_logged_scenario("replay", path, log, NULL, &scenario);
    if (status == 0) status = vy_check_log_hash("replay", path, log, scenario);
    controllers programs = {.count = 0};
    if (status == 0 && vy_has_option(args, "live")) status = vy_controllers_allow(args, path, log, scenario);
    if (status == 0 && vy_has_option(args, "live"))
        status = vy_controllers_open("replay", scenario, 0, 0, NULL, &programs);
    if (status == 0) status = vy_load_world("replay", scenario, &world);
    if (status == 0) status = replay(args, path, log, scenario, world);
    vy_failure failure = {.reason = VY_FAILURE_NONE};
    if (vy_controllers_finish(&programs, &failure) && status == 0)
        status = vy_print_error("replay", EXIT_FAILED, "the controller of %s %s (%.0f) after the last step",
                                scenario->drones[failure.body].name, failure.what, failure.value);
    vy_controllers_close(&programs);
    vy_world_destroy(world);
    vy_scenario_destroy(scenario);
    vy_log_close(log);
    return status;
}
