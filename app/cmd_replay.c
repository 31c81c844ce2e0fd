// cmd_replay.c - volery replay: have a run again from its log alone.
#include "command.h"
#include "controllers.h"
#include "difference.h"
#include "json.h"
#include "load.h"
#include "progress.h"
#include "say.h"
#include "signals.h"
#include <inttypes.h>

static int show(void *self, uint64_t tick, uint64_t last)
{
    progress *shown = self;
    shown->last = last;
    vy_progress_update(shown, tick);
    return vy_signals_seen();
}

static int tell(const arguments *given, const char *path, const vy_log *log, const vy_difference *found,
                double wall)
{
    const vy_log_info info = vy_log_get_info(log);
    const uint64_t steps = found->last_tick - info.first_tick;
    if (vy_given(given, "json")) {
        json j = vy_json_begin(stdout);
        vy_json_text(&j, "status", found->found ? "differs" : "identical");
        vy_json_text(&j, "log", path);
        vy_json_truth(&j, "complete", info.complete);
        vy_json_whole(&j, "steps", steps);
        vy_json_hash(&j, "config_hash", info.config_hash);
        vy_json_hash(&j, "final_hash", info.final_hash);
        vy_json_real(&j, "wall_s", wall);
        vy_difference_json(found, info.dt, &j);
        vy_json_end(&j);
    } else if (found->found) {
        vy_difference_print(found, info.dt, "the log", "the replay");
    } else if (!vy_given(given, "quiet")) {
        const palette p = vy_palette(stdout);
        printf("%sidentical%s: %" PRIu64 " steps, final hash %016" PRIx64 " (%.3f s, %.0f times real time)\n",
               p.good, p.plain, steps, info.final_hash, wall,
               wall > 0.0 ? (double)steps * info.dt / wall : 0.0);
    }
    return found->found ? EXIT_FAILED : EXIT_DONE;
}

static int replay(const arguments *given, const char *path, vy_log *log, vy_world *world)
{
    const vy_log_info info = vy_log_get_info(log);
    vy_difference found = {.found = 0};
    vy_error error = {.status = VY_OK};
    vy_signals_catch();
    progress shown = vy_progress_begin(!vy_given(given, "quiet"), info.first_tick, info.last_tick, info.dt);
    const vy_status status = vy_given(given, "live")
                                 ? vy_log_replay_live(log, world, show, &shown, &found, &error)
                                 : vy_log_replay(log, world, show, &shown, &found, &error);
    const double wall = vy_wall_clock() - shown.start;
    vy_progress_end(&shown);
    const int signal = vy_signals_seen();
    if (status != VY_OK && signal != 0) {
        return vy_say("replay", vy_signals_exit(signal),
                      "interrupted at step %" PRIu64 ", no difference so far", vy_world_tick(world));
    }
    if (status != VY_OK && status != VY_DIVERGED) return vy_say_log_error("replay", path, status, &error);
    return tell(given, path, log, &found, wall);
}

int vy_cmd_replay(const arguments *given)
{
    if (given->operand_count == 0) {
        return vy_say_usage(given->command, "which log? For example: volery replay first-flight.mcap");
    }
    const char *path = given->operands[0];
    vy_log *log = NULL;
    vy_scenario *scenario = NULL;
    vy_world *world = NULL;
    int status = vy_load_log("replay", path, &log);
    if (status == 0) status = vy_check_log_physics("replay", path, log);
    if (status == 0) status = vy_load_logged_scenario("replay", path, log, NULL, &scenario);
    if (status == 0) status = vy_check_log_hash("replay", path, log, scenario);
    controllers programs = {.count = 0};
    if (status == 0 && vy_given(given, "live"))
        status = vy_controllers_open("replay", scenario, 0, &programs);
    if (status == 0) status = vy_load_world("replay", scenario, &world);
    if (status == 0) status = replay(given, path, log, world);
    vy_controllers_close(&programs);
    vy_world_destroy(world);
    vy_scenario_destroy(scenario);
    vy_log_close(log);
    return status;
}
