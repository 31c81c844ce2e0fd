// playground.c - parse, fly, log, and describe the log for the page: what run and view do, in one call.
#include "playground.h"
#include "command.h"
#include "flight.h"
#include "json.h"
#include "load.h"
#include "message.h"
#include "page_info.h"
#include "progress.h"
#include <stdlib.h>

static char *reply; // the last one

// A page starts no program, and nobody sits at its sticks.
static int check_controllers(const vy_scenario *scenario)
{
    for (int i = 0; i < scenario->drone_count; ++i) {
        if (!vy_controller_is_external(scenario->drones[i].def.controller.kind)) continue;
        return vy_print_error(
            "run", EXIT_USAGE,
            "drone %s is flown by a program or a person, which the playground does not have: fly it "
            "with the command",
            scenario->drones[i].name);
    }
    return 0;
}

static void put_outcome(json *j, const flight *flown)
{
    char reason[400];
    vy_flight_describe_failure(flown, reason, sizeof reason);
    vy_json_text(j, "outcome", flown->status);
    vy_json_text(j, "reason", reason);
    vy_json_hash(j, "final_hash", vy_world_hash(flown->def.world));
    vy_json_number(j, "fly_s", flown->wall);
}

// The log as a page describes it; all of it is shown.
static int put_run(json *j, const char *path)
{
    vy_log *log = NULL;
    vy_error error = {.status = VY_OK};
    const vy_status open_status = vy_log_open(path, &log, &error);
    if (open_status != VY_OK) return vy_print_log_error("run", path, open_status, &error);
    const uint64_t records = vy_log_get_info(log).messages;
    const page_data page = {.truth_stride = 1, .other_stride = 1, .records = records, .total = records};
    vy_json_object(j, "run");
    const int status = vy_page_info(j, path, log, &page);
    vy_json_close(j);
    vy_log_close(log);
    return status;
}

static int fly(json *j, vy_scenario *scenario, const char *path, const char *log)
{
    vy_world *world = NULL;
    flight flown;
    if (scenario->log.compression != VY_LOG_NONE) {
        vy_print_warning("run", "log.compression: the playground's log is plain");
        scenario->log.compression = VY_LOG_NONE;
    }
    scenario->contacts.def.threads = 1; // as the command's default
    int status = check_controllers(scenario);
    if (status == 0) status = vy_load_world("run", scenario, &world);
    if (status != 0) return status;
    const flight_def def = {.command = "run", .file = path, .scenario = scenario, .world = world, .log = log};
    status = vy_flight_fly(&def, &flown);
    if (status == 0) {
        put_outcome(j, &flown);
        status = put_run(j, log);
    }
    vy_flight_destroy(&flown);
    vy_world_destroy(world);
    return status;
}

const char *vy_playground_fly(const char *path, const char *log)
{
    static const overrides no_overrides = {.count = 0};
    vy_scenario *scenario = NULL;
    vy_diagnostics diagnostics = {.count = 0};
    size_t size = 0;
    free(reply);
    reply = NULL;
    FILE *out = open_memstream(&reply, &size);
    if (out == NULL) return NULL;
    json j = vy_json_begin(out);
    int status = vy_load_scenario_diagnosed("run", path, &no_overrides, &scenario, &diagnostics);
    vy_json_diagnostics(&j, &diagnostics);
    if (status == 0) status = fly(&j, scenario, path, log);
    if (status != 0) vy_json_text(&j, "error", vy_last_error());
    vy_json_bool(&j, "flown", status == 0);
    vy_json_end(&j);
    vy_diagnostics_destroy(&diagnostics);
    vy_scenario_destroy(scenario);
    if (fclose(out) == 0) return reply;
    free(reply);
    reply = NULL;
    return NULL;
}

const char *vy_playground_schema(void)
{
    free(reply);
    reply = vy_scenario_print_schema();
    return reply;
}
