// controllers.c - starts and ends the programs of controllers.
#include "controllers.h"
#include "command.h"
#include "files.h"
#include "load.h"
#include "message.h"
#include <stdlib.h>
#include <string.h>

// What the log names is looked for in --folder, and is confined unless --unconfined.
static int apply_options(const char *name, const arguments *args, vy_scenario *scenario)
{
    const char *folder = vy_option_value(args, "folder");
    for (int i = 0; i < scenario->drone_count; ++i) {
        vy_controller_def *def = &scenario->drones[i].def.controller;
        if (!def->from_log) continue;
        if (folder != NULL && strlen(folder) >= sizeof def->folder)
            return vy_print_error(name, EXIT_USAGE, "--folder: its name is too long");
        if (folder != NULL) snprintf(def->folder, sizeof def->folder, "%s", folder);
        if (vy_has_option(args, "unconfined")) def->confine = 0;
    }
    return 0;
}

int vy_controllers_allow(const arguments *args, const char *path, vy_log *log, vy_scenario *scenario)
{
    const char *name = args->command->name;
    const int is_allowed = vy_has_option(args, "allow-programs");
    vy_error error = {.status = VY_OK};
    if (!is_allowed && (vy_has_option(args, "folder") || vy_has_option(args, "unconfined")))
        return vy_print_usage_error(
            args->command,
            "--folder and --unconfined go with --allow-programs: nothing else starts a program");
    const int options_status = apply_options(name, args, scenario);
    if (options_status != 0) return options_status;
    char program[VY_PROGRAM_CAP];
    for (int i = 0; i < scenario->drone_count && !is_allowed; ++i) {
        const vy_scenario_drone *drone = &scenario->drones[i];
        if (!drone->def.controller.from_log) continue;
        (void)vy_host_describe(&drone->def.controller, program);
        return vy_print_error(
            name, EXIT_USAGE,
            "%s names a program for drone %s, %s: --allow-programs starts it, if you trust the log", path,
            drone->name, program);
    }
    const vy_status status = is_allowed ? vy_scenario_allow_programs(scenario, log, &error) : VY_OK;
    if (status == VY_OK) return 0;
    if (status == VY_DAMAGED) return vy_print_error(name, EXIT_FAILED, "%s: %s", path, error.text);
    return vy_print_log_error(name, path, status, &error);
}

// Somebody who watches has the keys. The scenario, and so the log, does not name the pipe they come through.
static vy_status open_page_pilot(const vy_scenario *s, vy_scenario_drone *drone, const char *device,
                                 vy_host **out, vy_error *err)
{
    vy_controller_def *def = &drone->def.controller;
    snprintf(def->program, sizeof def->program, "%s", device);
    const vy_status status =
        vy_host_open(&drone->def, drone->name, s->step, &s->environment.planet, out, err);
    def->program[0] = '\0';
    return status;
}

static int open_one(const char *name, const vy_scenario *s, int index, int realtime, int quiet,
                    watch *watched, vy_host **out, int *is_boot_timeout)
{
    vy_scenario_drone *drone = &s->drones[index];
    vy_controller_def *def = &drone->def.controller;
    if (def->kind == VY_CONTROLLER_CALLBACK) {
        return vy_print_error(
            name, EXIT_USAGE,
            "drone %s has a callback as controller, which only a program that uses the library can provide",
            drone->name);
    }
    if (!vy_controller_is_external(def->kind)) return 0;
    if (vy_pilot_is_live(def) && !realtime) {
        return vy_print_error(name, EXIT_USAGE,
                              "drone %s is flown by a person, which goes only with: volery run --realtime",
                              drone->name);
    }
    if (def->kind == VY_CONTROLLER_CRAZYFLIE && !def->firmware.lock_step && !realtime) {
        return vy_print_error(name, EXIT_USAGE,
                              "drone %s is flown by a client, which has the clock of the wall: volery run "
                              "--realtime, or lock_step: on",
                              drone->name);
    }
    vy_error error = {.status = VY_OK};
    char program[VY_PROGRAM_CAP];
    if (vy_host_describe(def, program) && !quiet)
        fprintf(stderr, "volery %s: drone %s: %s%s\n", name, drone->name, program,
                !vy_controller_is_program(def) ? ""
                : def->confine                 ? ", confined"
                                               : ", not confined");
    char device[64] = "";
    if (def->kind == VY_CONTROLLER_PILOT && def->program[0] == '\0' && !def->from_log && watched != NULL &&
        !vy_watch_keys(watched, drone->name, device, sizeof device))
        return vy_print_no_memory(name);
    const vy_status status = device[0] != '\0' ? open_page_pilot(s, drone, device, out, &error)
                                               : vy_host_open(&drone->def, drone->name, s->step,
                                                              &s->environment.planet, out, &error);
    if (status == VY_OK) return 0;
    *is_boot_timeout = status == VY_BAD_STATE && !def->from_log;
    return vy_print_error(
        name, *is_boot_timeout || status == VY_IO || status == VY_NO_MEMORY ? EXIT_SYSTEM : EXIT_USAGE,
        "drone %s: %s", drone->name, error.text);
}

// Each word of a command, or the path of a library or a file of keys, as the host looks for it.
static void register_program_files(const vy_controller_def *def)
{
    char text[sizeof def->program], path[sizeof def->folder + sizeof def->program + 2];
    const char *separators =
        def->kind == VY_CONTROLLER_PROCESS || vy_controller_is_firmware(def->kind) ? " \t\"'" : "";
    char *strtok_state = NULL;
    snprintf(text, sizeof text, "%s", def->program);
    for (char *word = strtok_r(text, separators, &strtok_state); word != NULL;
         word = strtok_r(NULL, separators, &strtok_state)) {
        const int is_absolute = word[0] == '/' || def->folder[0] == '\0';
        snprintf(path, sizeof path, "%s%s%s", is_absolute ? "" : def->folder, is_absolute ? "" : "/", word);
        if (vy_file_is_regular(path)) vy_file_is_input(path);
    }
}

int vy_controllers_are_inputs(const char *name, const vy_scenario *scenario)
{
    for (int i = 0; i < scenario->drone_count; ++i) {
        const vy_controller_def *def = &scenario->drones[i].def.controller;
        if (vy_controller_is_external(def->kind) && def->kind != VY_CONTROLLER_CALLBACK)
            register_program_files(def);
    }
    return vy_file_check_conflicts(name);
}

int vy_controllers_confined(const vy_scenario *scenario)
{
    int count = 0;
    for (int i = 0; i < scenario->drone_count; ++i) {
        const vy_controller_def *def = &scenario->drones[i].def.controller;
        count += vy_controller_is_program(def) && def->confine;
    }
    return count;
}

int vy_controllers_open(const char *name, const vy_scenario *scenario, int realtime, int quiet,
                        watch *watched, controllers *out)
{
    const size_t capacity = (size_t)scenario->drone_count + 1;
    *out =
        (controllers){.hosts = calloc(capacity, sizeof(vy_host *)), .drones = calloc(capacity, sizeof(int))};
    int status = out->hosts == NULL || out->drones == NULL ? vy_print_no_memory(name) : 0,
        is_boot_timeout = 0;
    char missing_features[VY_LACKS_CAP];
    if (status == 0 && vy_controllers_confined(scenario) && vy_host_lacks(missing_features) && !quiet)
        fprintf(stderr, "volery %s: to confine programs this kernel lacks %s\n", name, missing_features);
    for (int i = 0; i < scenario->drone_count && status == 0; ++i) {
        status =
            open_one(name, scenario, i, realtime, quiet, watched, &out->hosts[out->count], &is_boot_timeout);
        if (out->hosts[out->count] != NULL) out->drones[out->count++] = i;
    }
    if (status != 0) vy_controllers_close(out);
    out->is_boot_timeout = is_boot_timeout;
    return status;
}

int vy_controllers_finish(controllers *c, vy_failure *failure)
{
    int has_failed = 0;
    for (int i = 0; i < c->count && !c->is_finished; ++i) {
        int32_t detail = 0;
        const vy_verdict verdict = vy_host_finish(c->hosts[i], &detail);
        if (verdict == VY_VERDICT_REPLIED || has_failed) continue;
        has_failed = 1;
        failure->reason = VY_FAILURE_CONTROLLER;
        failure->body = (uint32_t)c->drones[i];
        failure->value = (double)detail;
        failure->what = vy_verdict_text(verdict);
        failure->verdict = verdict;
    }
    c->is_finished = 1;
    return has_failed;
}

void vy_controllers_output(const controllers *c, int index, char *out, size_t size)
{
    out[0] = '\0';
    for (int i = 0; i < c->count; ++i) {
        if (c->drones[i] == index) snprintf(out, size, "%s", vy_host_output(c->hosts[i]));
    }
}

void vy_controllers_close(controllers *c)
{
    for (int i = 0; i < c->count; ++i) vy_host_close(c->hosts[i]);
    free(c->hosts);
    free(c->drones);
    *c = (controllers){.count = 0};
}
