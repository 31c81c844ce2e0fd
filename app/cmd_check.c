// cmd_check.c - volery check: the resolved configuration and its hash, or every mistake.
#include "command.h"
#include "json.h"
#include "load.h"
#include "say.h"
#include "shipped.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

static int print_text(char *text)
{
    if (text == NULL) return vy_say_no_memory("check");
    errno = 0;
    const int failed = fputs(text, stdout) < 0 || fflush(stdout) != 0;
    const int reason = errno;
    free(text);
    return failed ? vy_say_unwritten("check", reason) : EXIT_DONE;
}

static int check_json(const char *file, const overrides *changes)
{
    vy_scenario *scenario = NULL;
    vy_diagnostics told = {.count = 0};
    const int status = vy_load_scenario_told("check", file, changes, &scenario, &told);
    if (status == 0) {
        char *text = vy_scenario_print(scenario);
        json j = vy_json_begin(stdout);
        vy_json_text(&j, "status", "ok");
        vy_json_text(&j, "file", file);
        vy_json_text(&j, "scenario", scenario->name);
        vy_json_whole(&j, "steps", vy_scenario_steps(scenario));
        vy_json_hash(&j, "config_hash", vy_scenario_hash(scenario));
        vy_json_text(&j, "resolved", text);
        vy_json_diagnostics(&j, &told);
        vy_json_end(&j);
        free(text);
    }
    vy_diagnostics_destroy(&told);
    vy_scenario_destroy(scenario);
    return status;
}

static int check_text(const char *file, const overrides *changes)
{
    vy_scenario *scenario = NULL;
    int status = vy_load_scenario("check", file, changes, &scenario);
    if (status != 0) return status;
    const uint64_t hash = vy_scenario_hash(scenario);
    status = print_text(vy_scenario_print(scenario));
    if (status == EXIT_DONE) printf("# configuration hash %016" PRIx64 "\n", hash);
    vy_scenario_destroy(scenario);
    return status;
}

int vy_cmd_check(const arguments *given)
{
    const int schema = vy_given(given, "schema"), reference = vy_given(given, "reference");
    if (schema + reference > 0) {
        if (given->operand_count > 0) return vy_say_usage(given->command, "--schema needs no scenario");
        return print_text(schema ? vy_scenario_print_schema() : vy_scenario_print_reference());
    }
    if (given->operand_count == 0) {
        vy_say("check", EXIT_USAGE,
               "which scenario? Give a file or a name, for example: volery check first-flight");
        vy_shipped_list(stderr);
        return EXIT_USAGE;
    }
    char *file = NULL;
    overrides changes = {.count = 0};
    int status = vy_overrides_from(given, &changes);
    if (status == 0) status = vy_scenario_file("check", given->operands[0], &file);
    if (status == 0)
        status = vy_given(given, "json") ? check_json(file, &changes) : check_text(file, &changes);
    free(file);
    vy_overrides_destroy(&changes);
    return status;
}
