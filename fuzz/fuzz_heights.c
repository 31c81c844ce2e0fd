// fuzz_heights.c - any bytes as a table of heights that a scenario names. Two oracles: the sanitizers, and
// that whatever is accepted prints as a scenario that stands alone and reads back as the same one.
#include "volery/scenario.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct bytes {
    const uint8_t *data;
    size_t size;
} bytes;

static vy_status load(void *self, const char *name, const char *from, vy_source_text *out)
{
    const bytes *b = self;
    (void)from;
    out->name = calloc(1, strlen(name) + 1);
    out->text = calloc(1, b->size + 1);
    if (out->name == NULL || out->text == NULL) abort();
    memcpy(out->name, name, strlen(name));
    if (b->size > 0) memcpy(out->text, b->data, b->size);
    out->size = b->size;
    return VY_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char text[] = "volery: 1\nterrain: {kind: heights, spacing: 1, file: h.csv}\ndrones: [{}]\n";
    bytes file = {data, size};
    const vy_scenario_options options = {.load = load, .self = &file};
    vy_scenario *scenario = NULL, *again = NULL;
    vy_diagnostics told;
    if (vy_scenario_parse(text, sizeof text - 1, "fuzz", &options, &scenario, &told) != VY_OK) {
        if (told.errors == 0) abort();
        vy_diagnostics_destroy(&told);
        return 0;
    }
    vy_diagnostics_destroy(&told);
    char *printed = vy_scenario_print(scenario);
    if (vy_scenario_parse(printed, strlen(printed), "again", NULL, &again, NULL) != VY_OK) abort();
    if (vy_scenario_hash(again) != vy_scenario_hash(scenario)) abort();
    free(printed);
    vy_scenario_destroy(scenario);
    vy_scenario_destroy(again);
    return 0;
}
