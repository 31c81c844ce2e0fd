// cmd_check.c - volery check: the resolved configuration and its hash, or every mistake.
#include "command.h"
#include "json.h"
#include "load.h"
#include "message.h"
#include "shipped.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

static int print_text(char *text)
{
    if (text == NULL) return vy_print_no_memory("check");
    errno = 0;
    const int failed = fputs(text, stdout) < 0 || fflush(stdout) != 0;
    const int reason = errno;
    free(text);
    return failed ? vy_print_stdout_error("check", reason) : EXIT_DONE;
}

static int check_json(const char *file, const overrides *changes)
{
    vy_scenario *scenario = NULL;
    vy_diagnostics diagnostics = {.count = 0};
    const int status = vy_load_scenario_diagnosed("check", file, changes, &scenario, &diagnostics);
    if (status == 0) {
        const uint64_t hash = vy_scenario_hash(scenario);
        char *text = vy_scenario_print(scenario);
        if (hash == 0 || text == NULL) vy_note_no_memory();
        json j = vy_json_begin(stdout);
        vy_json_text(&j, "status", "ok");
        vy_json_text(&j, "file", file);
        vy_json_text(&j, "scenario", scenario->name);
        vy_json_uint(&j, "steps", vy_scenario_steps(scenario));
        vy_json_hash(&j, "config_hash", hash);
        vy_json_text(&j, "resolved", text);
        vy_json_diagnostics(&j, &diagnostics);
        vy_json_end(&j);
        free(text);
    }
    vy_diagnostics_destroy(&diagnostics);
    vy_scenario_destroy(scenario);
    return status;
}

static int check_text(const char *file, const overrides *changes)
{
    vy_scenario *scenario = NULL;
    int status = vy_load_scenario("check", file, changes, &scenario);
    if (status != 0) return status;
    const uint64_t hash = vy_scenario_hash(scenario);
    if (hash == 0) vy_note_no_memory();
    status = print_text(vy_scenario_print(scenario));
    if (status == EXIT_DONE) printf("# configuration hash %016" PRIx64 "\n", hash);
    vy_scenario_destroy(scenario);
    return status;
}

COMMAND(check)
{
    const int wants_schema = vy_has_option(args, "schema"),
              wants_reference = vy_has_option(args, "reference");
    if (wants_schema + wants_reference > 0) {
        if (args->operand_count > 0) return vy_print_usage_error(args->command, "--schema needs no scenario");
        return print_text(wants_schema ? vy_scenario_print_schema() : vy_scenario_print_reference());
    }
    if (args->operand_count == 0) {
        vy_print_error("check", EXIT_USAGE,
                       "which scenario? Give a file or a name, for example: volery check first-flight");
        vy_shipped_list(stderr);
        return EXIT_USAGE;
    }
    char *file = NULL;
    overrides changes = {.count = 0};
    int status = vy_parse_overrides(args, &changes);
    if (status == 0) status = vy_scenario_file("check", args->operands[0], &file);
    if (status == 0)
        status = vy_has_option(args, "json") ? check_json(file, &changes) : check_text(file, &changes);
    free(file);
    vy_overrides_destroy(&changes);
    return status;
}
