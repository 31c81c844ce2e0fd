// fuzz_scenario.c - any bytes as a scenario, and after a zero byte as an override. Two oracles: nothing
// crashes, leaks or hangs; and what is accepted, one in four, prints as a text that reads back as the same
// scenario.
#include "mutate_yaml.h"
#include "scenario/schema.h"
#include <stdlib.h>

enum { REPARSE_ONE_IN = 4 };

static vy_scenario *read_text(const char *text, size_t size, const char *override)
{
    const vy_scenario_options options = {.overrides = &override, .override_count = override != NULL};
    vy_scenario *scenario = NULL;
    vy_diagnostics diagnostics;
    const vy_status status = vy_scenario_parse(text, size, "fuzz", &options, &scenario, &diagnostics);
    if ((status == VY_OK) != (diagnostics.errors == 0) || (status == VY_OK) != (scenario != NULL)) abort();
    free(vy_diagnostics_print(&diagnostics));
    vy_diagnostics_destroy(&diagnostics);
    return scenario;
}

// libfyaml 0.7.12 loses a kilobyte over some unfinished quoted texts; what we lose ourselves still counts.
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:libfyaml\n"; }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
    return yaml_mutate(data, size, max_size, seed, &vy_scenario_table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *separator = size > 0 ? memchr(data, 0, size) : NULL;
    char *override = NULL;
    size_t text_size = size;
    if (separator != NULL) {
        text_size = (size_t)(separator - data);
        override = calloc(1, size - text_size + 1);
        memcpy(override, separator + 1, size - text_size - 1);
    }
    vy_scenario *scenario = read_text((const char *)data, text_size, override);
    free(override);
    if (scenario == NULL) return 0;
    if (!is_one_in(REPARSE_ONE_IN, data, size)) {
        vy_scenario_destroy(scenario);
        return 0;
    }

    char *printed = vy_scenario_print(scenario);
    vy_scenario *reparsed = read_text(printed, strlen(printed), NULL);
    if (reparsed == NULL || vy_scenario_hash(reparsed) != vy_scenario_hash(scenario)) abort();
    char *printed_again = vy_scenario_print(reparsed);
    if (strcmp(printed, printed_again) != 0) abort();
    free(printed);
    free(printed_again);
    vy_scenario_destroy(scenario);
    vy_scenario_destroy(reparsed);
    return 0;
}
