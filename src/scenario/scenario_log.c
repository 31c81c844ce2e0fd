// scenario_log.c - a scenario and its log: what goes into it, and the scenario that is in it.
#define _XOPEN_SOURCE 700 // realpath, strtok_r
#include "base/fail.h"
#include "base/real.h"
#include "scenario/logged.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint64_t to_steps(double seconds, double step)
{
    const double steps = floor(seconds / step + 0.5);
    return steps < 1.0 ? 1 : steps > 1e18 ? (uint64_t)1e18 : (uint64_t)steps;
}

// Names of drones, bodies, joints and obstacles, one after the other, for the recorder to copy.
static void fill_names(const vy_scenario *s, uint32_t obstacle_count, const char **names,
                       vy_recorder_def *def)
{
    const int body_count = s->drone_count + s->body_count;
    for (int i = 0; i < body_count; ++i) names[i] = vy_scenario_name_of(s, i);
    def->names = names;
    names += body_count;
    for (int i = 0; i < s->joint_count; ++i) names[i] = s->joints[i].name;
    def->joint_names = names;
    names += s->joint_count;
    for (uint32_t i = 0; i < obstacle_count; ++i) names[i] = vy_scenario_obstacle_name(s, i);
    def->obstacle_names = names;
}

// The file's own name of a path that begins at the root; devices are the same everywhere.
static void strip_path(char *path)
{
    const char *slash = strrchr(path, '/');
    if (path[0] != '/' || strncmp(path, "/dev/", 5) == 0) return;
    memmove(path, slash + 1, strlen(slash + 1) + 1);
}

// The scenario without what belongs to this computer: where its programs are, and what they may change there.
static char *print_portable(const vy_scenario *s)
{
    vy_scenario portable = *s;
    const size_t count = (size_t)s->drone_count;
    portable.drones = malloc((count + 1) * sizeof *portable.drones);
    if (portable.drones == NULL) return NULL;
    if (count > 0) memcpy(portable.drones, s->drones, count * sizeof *portable.drones);
    for (size_t i = 0; i < count; ++i) {
        vy_controller_def *c = &portable.drones[i].def.controller;
        c->folder[0] = c->writable[0] = '\0';
        if (c->kind == VY_CONTROLLER_PILOT) strip_path(c->program);
    }
    char *text = vy_scenario_print(&portable);
    free(portable.drones);
    return text;
}

vy_status vy_scenario_log_def(const vy_scenario *s, const vy_world *world, scenario_log_def *out,
                              vy_error *err)
{
    const uint32_t obstacle_count = vy_world_obstacle_count(world);
    const size_t count =
        (size_t)s->drone_count + (size_t)s->body_count + (size_t)s->joint_count + obstacle_count;
    const char **names = calloc(count + 1, sizeof(const char *));
    char *text = print_portable(s);
    *out = (scenario_log_def){.names = NULL};
    if (names == NULL || text == NULL) {
        free(names);
        free(text);
        return vy_fail(err, VY_NO_MEMORY, "out of memory");
    }
    out->names = names;
    out->scenario_text = text;
    vy_recorder_def *def = &out->def;
    *def = vy_default_recorder_def();
    fill_names(s, obstacle_count, out->names, def);
    def->scenario = out->scenario_text;
    def->config_hash = vy_scenario_hash(s);
    if (def->config_hash == 0) {
        vy_scenario_log_def_free(out);
        return vy_fail(err, VY_NO_MEMORY, "out of memory");
    }
    def->every = (uint64_t)s->log.every;
    def->snapshot = to_steps(s->log.snapshot, s->step);
    def->display = s->log.display > 0.0 ? to_steps(s->log.display, s->step) : 0;
    def->compress = s->log.compression == VY_LOG_ZSTD;
    if (s->wind_grid_text != NULL) {
        def->attachment_name = s->environment.wind.grid_name;
        def->attachment = s->wind_grid_text;
        def->attachment_size = s->wind_grid_size;
    }
    return VY_OK;
}

void vy_scenario_log_def_free(scenario_log_def *log)
{
    free(log->names);
    free(log->scenario_text);
    *log = (scenario_log_def){.names = NULL};
}

vy_status vy_scenario_record(const vy_scenario *scenario, vy_world *world, const char *path,
                             const vy_log *parent, vy_recorder **out, vy_error *err)
{
    FPU_SCOPE;
    scenario_log_def log;
    *out = NULL;
    vy_status status = vy_scenario_log_def(scenario, world, &log, err);
    if (status != VY_OK) return status;
    log.def.path = path;
    if (parent != NULL) {
        log.def.has_parent = 1;
        log.def.parent_hash = vy_log_get_info(parent).final_hash;
        log.def.parent_tick = vy_world_tick(world);
    }
    status = vy_recorder_open(&log.def, world, out, err);
    vy_scenario_log_def_free(&log);
    return status;
}

// Files that the scenario refers to are in the log.
static vy_status load_from_log(void *self, const char *name, const char *from, vy_source_text *out)
{
    (void)from;
    const vy_status status = vy_log_read_attachment(self, name, &out->text, &out->size, NULL);
    if (status != VY_OK) return status;
    const size_t size = strlen(name) + 1;
    out->name = malloc(size);
    if (out->name != NULL) {
        memcpy(out->name, name, size);
        return VY_OK;
    }
    free(out->text);
    return VY_NO_MEMORY;
}

// Whether the program of `c` is chosen by the log with the drones of `logged`: the log names it, or its
// folder.
static int is_named_by_log(const vy_controller_def *c, const vy_scenario *logged)
{
    for (int i = 0; i < logged->drone_count; ++i) {
        const vy_controller_def *logged_controller = &logged->drones[i].def.controller;
        if (logged_controller->program[0] != '\0' && strcmp(c->program, logged_controller->program) == 0)
            return 1;
        if (logged_controller->folder[0] != '\0' && strcmp(c->folder, logged_controller->folder) == 0 &&
            c->program[0] != '/')
            return 1;
    }
    return 0;
}

static vy_status parse_logged_scenario(vy_log *log, const char *name, const char *const *overrides,
                                       int override_count, vy_scenario **out, vy_diagnostics *diagnostics)
{
    FPU_SCOPE;
    const char *text = vy_log_scenario(log);
    const vy_scenario_options options = {.overrides = overrides,
                                         .override_count = override_count,
                                         .load = load_from_log,
                                         .self = log,
                                         .is_logged = 1};
    return vy_scenario_parse(text, strlen(text), name, &options, out, diagnostics);
}

// Logs name no folder. A program that lies beside its log is meant by it; others are seen from the current
// folder.
static void find_program_beside(const char *log_name, vy_controller_def *c)
{
    char text[sizeof c->program], path[2 * VY_PATH_CAP], *rest = NULL;
    const char *slash = strrchr(log_name, '/');
    const int length = slash == NULL ? 1 : slash == log_name ? 1 : (int)(slash - log_name);
    const char *folder = slash == NULL ? "." : log_name;
    if (c->folder[0] != '\0' || length >= (int)sizeof c->folder) return;
    snprintf(text, sizeof text, "%s", c->program);
    const char *separators =
        c->kind == VY_CONTROLLER_PLUGIN || c->kind == VY_CONTROLLER_PILOT ? "" : " \t\"'";
    for (const char *word = strtok_r(text, separators, &rest); word != NULL;
         word = strtok_r(NULL, separators, &rest)) {
        snprintf(path, sizeof path, "%.*s/%s", length, folder, word);
        if (word[0] == '/' || access(path, F_OK) != 0) continue;
        snprintf(path, sizeof path, "%.*s", length, folder);
        char *resolved = realpath(path, NULL);
        if (resolved != NULL && strlen(resolved) < sizeof c->folder)
            memcpy(c->folder, resolved, strlen(resolved) + 1);
        free(resolved);
        return;
    }
}

vy_status vy_scenario_from_log(vy_log *log, const char *name, const char *const *overrides,
                               int override_count, vy_scenario **out, vy_diagnostics *diagnostics)
{
    FPU_SCOPE;
    vy_scenario *logged = NULL;
    vy_diagnostics unused_diagnostics;
    const vy_status status = parse_logged_scenario(log, name, overrides, override_count, out, diagnostics);
    if (status != VY_OK) return status;
    // A log that is invalid without the changes is no measure: then every error counts as the log's.
    const int is_log_valid = override_count > 0 &&
                             parse_logged_scenario(log, name, NULL, 0, &logged, &unused_diagnostics) == VY_OK;
    for (int i = 0; i < (*out)->drone_count; ++i) {
        vy_controller_def *controller = &(*out)->drones[i].def.controller;
        controller->from_log = vy_controller_is_external(controller->kind) &&
                               controller->kind != VY_CONTROLLER_CALLBACK &&
                               (!is_log_valid || is_named_by_log(controller, logged));
        if (!controller->from_log) continue;
        controller->confine = 1; // whatever the log says, who wrote it may not choose
        controller->network = VY_NETWORK_NONE;
        controller->writable[0] = '\0';
        find_program_beside(vy_log_path(log), controller);
    }
    if (override_count > 0) vy_diagnostics_destroy(&unused_diagnostics);
    vy_scenario_destroy(logged);
    return VY_OK;
}

vy_status vy_scenario_allow_programs(vy_scenario *scenario, vy_log *log, vy_error *err)
{
    FPU_SCOPE;
    vy_scenario *logged = NULL;
    vy_diagnostics unused_diagnostics;
    vy_status status = parse_logged_scenario(log, "the log", NULL, 0, &logged, &unused_diagnostics);
    const uint64_t hash = status == VY_OK ? vy_scenario_hash(logged) : 0;
    if (status == VY_OK && hash != vy_log_get_info(log).config_hash)
        status = hash != 0 ? VY_DAMAGED : VY_NO_MEMORY;
    vy_diagnostics_destroy(&unused_diagnostics);
    vy_scenario_destroy(logged);
    if (status != VY_OK)
        return vy_fail(err, status,
                       "the scenario in the log is not the one that was flown: nothing of it is started");
    for (int i = 0; i < scenario->drone_count; ++i) scenario->drones[i].def.controller.from_log = 0;
    return VY_OK;
}
