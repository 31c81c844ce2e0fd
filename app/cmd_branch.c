// cmd_branch.c - volery branch: continue from a moment of a log, with changed values if asked.
#include "command.h"
#include "controllers.h"
#include "files.h"
#include "flight.h"
#include "load.h"
#include "record/file.h"
#include "message.h"
#include "summary.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

// The step of --at; the moment must lie within the log.
static int parse_branch_time(const arguments *args, const vy_log_info *info, uint64_t *tick)
{
    const char *text = vy_option_value(args, "at");
    const double log_start = (double)info->first_tick * info->dt,
                 log_end = (double)info->last_tick * info->dt;
    double time;
    if (!vy_parse_number(text, &time))
        return vy_print_usage_error(args->command, "--at needs a number of seconds, got %s", text);
    const double nearest_step = floor(time / info->dt + 0.5);
    if (nearest_step < (double)info->first_tick || nearest_step > (double)info->last_tick) {
        return vy_print_usage_error(args->command,
                                    "--at %s is outside the log, which goes from %.6g s to %.6g s", text,
                                    log_start, log_end);
    }
    *tick = (uint64_t)nearest_step;
    return 0;
}

// The controllers of the branch get the samples that those of the parent got.
static void connect_controllers(const vy_scenario *from, const vy_scenario *to)
{
    for (int i = 0; i < from->drone_count && i < to->drone_count; ++i) {
        const vy_controller_def *from_def = &from->drones[i].def.controller;
        vy_controller_def *to_def = &to->drones[i].def.controller;
        if (!vy_controller_is_external(from_def->kind) || !vy_controller_is_external(to_def->kind)) continue;
        to_def->call = from_def->call;
        to_def->self = from_def->self;
    }
}

// A state of the parent, from which the branch starts.
typedef struct branch_point {
    void *state; // to free()
    size_t size;
    vy_integrator integrator; // by its scenario
    double difference;        // of live controllers' replies from the logged ones, over the last second
} branch_point;

// The state at `tick`, computed with the scenario as it was flown. The controllers of `branch`, if any have
// been started, are warm then.
static int state_at(const char *path, vy_log *log, uint64_t tick, const vy_scenario *branch, int is_live,
                    branch_point *out)
{
    vy_scenario *scenario = NULL;
    vy_world *world = NULL;
    vy_error error = {.status = VY_OK};
    int status = vy_load_logged_scenario("branch", path, log, NULL, &scenario);
    if (status == 0) status = vy_check_log_hash("branch", path, log, scenario);
    if (status == 0 && is_live) connect_controllers(branch, scenario);
    if (status == 0) status = vy_load_world("branch", scenario, &world);
    if (status == 0) {
        const vy_status seek_status = is_live ? vy_log_seek_live(log, world, tick, &out->difference, &error)
                                              : vy_log_seek(log, world, tick, &error);
        if (seek_status != VY_OK) status = vy_print_log_error("branch", path, seek_status, &error);
    }
    if (status == 0) {
        out->integrator = scenario->environment.physics.integrator;
        out->size = vy_world_state_size(world);
        out->state = malloc(out->size);
        if (out->state == NULL) status = vy_print_no_memory("branch");
        if (out->state != NULL) vy_world_save(world, out->state);
    }
    vy_world_destroy(world);
    vy_scenario_destroy(scenario);
    return status;
}

#define DIFFERENCE_MAX 0.05 // of a motor's full command

// Firmware does not fly twice the same: is it, after the samples of the log, where it was in the run?
static int check_firmware(const vy_scenario *scenario, const branch_point *from, const char *time_text)
{
    for (int i = 0; i < scenario->drone_count; ++i) {
        const vy_controller_kind kind = scenario->drones[i].def.controller.kind;
        if (!vy_controller_is_firmware(kind)) continue;
        const int is_client = kind == VY_CONTROLLER_CRAZYFLIE; // its motors are ours to command
        const char *program_kind = is_client ? "client" : "firmware";
        const char *outputs = is_client ? "thrust and attitude" : "motor commands";
        if (from->difference > DIFFERENCE_MAX)
            return vy_print_error(
                "branch", EXIT_FAILED,
                "the %s does not repeat its flight: its %s differ by up to "
                "%.1f %% from the log in the second before %s s, and at most %.0f %% is allowed. Fly "
                "again with the change: volery run with the same --set",
                program_kind, outputs, 100.0 * from->difference, time_text, 100.0 * DIFFERENCE_MAX);
        fprintf(stderr, "volery branch: the %s's %s are within %.1f %% of the log\n", program_kind, outputs,
                100.0 * from->difference);
        break;
    }
    return 0;
}

// A client with the clock of the wall cannot be shown in a moment what took a minute.
static int check_clients(const vy_scenario *scenario)
{
    for (int i = 0; i < scenario->drone_count; ++i) {
        const vy_controller_def *c = &scenario->drones[i].def.controller;
        if (c->kind == VY_CONTROLLER_CRAZYFLIE && !c->firmware.lock_step)
            return vy_print_error("branch", EXIT_USAGE,
                                  "drone %s is flown by a client with the clock of the wall, which cannot be "
                                  "shown the flight again; only one with lock_step: on can. Fly again with "
                                  "the change: volery run --realtime with the same --set",
                                  scenario->drones[i].name);
    }
    return 0;
}

static int fly(const arguments *args, const vy_log *log, const vy_scenario *scenario,
               const branch_point *from, controllers *programs)
{
    vy_world *world = NULL;
    vy_error error = {.status = VY_OK};
    int status = vy_load_world("branch", scenario, &world);
    if (status != 0) return status;
    flight flown = {.tracks = NULL};
    vy_status restore_status = vy_world_restore(world, from->state, from->size, &error);
    // The integrator is state: the branch continues with the parent's, unless its scenario now asks for
    // another.
    const vy_integrator integrator = scenario->environment.physics.integrator;
    if (restore_status == VY_OK && integrator != from->integrator)
        restore_status = vy_world_set_integrator(world, integrator, &error);
    if (restore_status == VY_NO_MEMORY) {
        status = vy_print_no_memory("branch");
    } else if (restore_status != VY_OK) {
        status = vy_print_error("branch", EXIT_USAGE, "the changed scenario cannot continue from there: %s",
                                error.text);
    } else {
        const flight_def def = {.command = "branch",
                                .file = args->operands[0],
                                .scenario = scenario,
                                .world = world,
                                .programs = programs,
                                .log = vy_option_value(args, "output"),
                                .parent = log,
                                .sign = vy_option_value(args, "sign"),
                                .show_progress = !vy_has_option(args, "quiet")};
        status = vy_flight_fly(&def, &flown);
        if (status == 0)
            status = vy_summary_print(&flown, vy_has_option(args, "json"), vy_has_option(args, "quiet"));
    }
    vy_flight_destroy(&flown);
    vy_world_destroy(world);
    return status;
}

static int branch(const arguments *args, const overrides *changes, vy_log *log)
{
    const char *path = args->operands[0];
    const vy_log_info info = vy_log_get_info(log);
    uint64_t tick = 0;
    branch_point from = {.state = NULL};
    vy_scenario *scenario = NULL;
    int status = parse_branch_time(args, &info, &tick);
    if (status == 0) status = vy_check_log_physics("branch", path, log);
    if (status == 0) status = vy_load_logged_scenario("branch", path, log, changes, &scenario);
    if (status == 0 && vy_scenario_steps(scenario) <= tick) {
        status = vy_print_error(
            "branch", EXIT_USAGE,
            "the scenario ends at %.6g s, nothing is left to fly after --at %s; --set duration=... "
            "makes it longer",
            scenario->duration, vy_option_value(args, "at"));
    }
    if (status == 0 && fabs(scenario->step - info.dt) > 0.0) {
        status =
            vy_print_error("branch", EXIT_USAGE, "a branch keeps the step of its parent, %.6g s", info.dt);
    }
    controllers programs = {.count = 0};
    if (status == 0) status = vy_controllers_allow(args, path, log, scenario);
    if (status == 0) status = check_clients(scenario);
    if (status == 0) status = vy_controllers_are_inputs("branch", scenario);
    if (status == 0) status = vy_controllers_open("branch", scenario, 0, 0, NULL, &programs);
    if (status == 0) status = state_at(path, log, tick, scenario, programs.count > 0, &from);
    if (status == 0 && programs.count > 0)
        status = check_firmware(scenario, &from, vy_option_value(args, "at"));
    if (status == 0) status = fly(args, log, scenario, &from, &programs);
    vy_controllers_close(&programs);
    free(from.state);
    vy_scenario_destroy(scenario);
    return status;
}

COMMAND(branch)
{
    if (args->operand_count == 0 || !vy_has_option(args, "at") || !vy_has_option(args, "output")) {
        const char *missing_argument = args->operand_count == 0     ? "the log to go on from"
                                       : !vy_has_option(args, "at") ? "--at T, the moment to go on from"
                                                                    : "-o NEW.mcap, the log of the branch";
        return vy_print_usage_error(
            args->command, "give %s, for example: volery branch first-flight.mcap --at 12.5 -o branch.mcap",
            missing_argument);
    }
    overrides changes = {.count = 0};
    vy_log *log = NULL;
    int status = vy_parse_overrides(args, &changes);
    if (status == 0)
        status = vy_file_check_log("branch", vy_option_value(args, "output"), vy_has_option(args, "json"));
    if (status == 0) status = vy_load_log("branch", args->operands[0], &log);
    if (status == 0) status = vy_file_claim("branch", vy_option_value(args, "output"), VY_FILE_PART_SUFFIX);
    if (status == 0) status = branch(args, &changes, log);
    vy_log_close(log);
    vy_overrides_destroy(&changes);
    return status;
}
