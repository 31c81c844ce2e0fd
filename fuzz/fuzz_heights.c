// fuzz_heights.c - any bytes as a table of heights, one in eight as one that a scenario names. Oracles: the
// sanitizers; a table is full of finite heights, or refused with a place and a sentence; and a scenario that
// is accepted prints as one that stands alone and reads back as the same one.
#include "mutate.h"
#include "scenario/solids.h"
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SCENARIO_ONE_IN = 8 }; // inputs

typedef struct file_bytes {
    const uint8_t *data;
    size_t size;
} file_bytes;

static vy_status load(void *self, const char *name, const char *from, vy_source_text *out)
{
    const file_bytes *file = self;
    (void)from;
    out->name = calloc(1, strlen(name) + 1);
    out->text = calloc(1, file->size + 1);
    if (out->name == NULL || out->text == NULL) abort();
    memcpy(out->name, name, strlen(name));
    if (file->size > 0) memcpy(out->text, file->data, file->size);
    out->size = file->size;
    return VY_OK;
}

static void check(int condition)
{
    if (!condition) abort();
}

static void read_alone(const uint8_t *data, size_t size)
{
    char *text = calloc(1, size + 1);
    check(text != NULL);
    if (size > 0) memcpy(text, data, size);
    const vy_source_text source = {.text = text, .size = size};
    vy_numbers heights = {0};
    vy_error err = {.status = VY_OK};
    vy_collider_def solid;
    solid.heights = heights;
    if (vy_heights_read(&source, &solid, &err) == VY_OK) {
        heights = solid.heights;
        check(heights.rows > 0 && heights.columns > 0);
        for (int i = 0; i < heights.rows * heights.columns; ++i) check(isfinite(heights.values[i]));
        free(heights.values);
    } else {
        check(err.text[0] != '\0' && err.line > 0 && err.column > 0);
    }
    free(text);
}

static void read_with_scenario(const uint8_t *data, size_t size)
{
    static const char text[] = "volery: 1\nterrain: {kind: heights, spacing: 1, file: h.csv}\ndrones: [{}]\n";
    file_bytes file = {data, size};
    const vy_scenario_options options = {.load = load, .self = &file};
    vy_scenario *scenario = NULL, *reparsed = NULL;
    vy_diagnostics diagnostics;
    if (vy_scenario_parse(text, sizeof text - 1, "fuzz", &options, &scenario, &diagnostics) != VY_OK) {
        if (diagnostics.errors == 0) abort();
        vy_diagnostics_destroy(&diagnostics);
        return;
    }
    vy_diagnostics_destroy(&diagnostics);
    char *printed = vy_scenario_print(scenario);
    if (vy_scenario_parse(printed, strlen(printed), "again", NULL, &reparsed, NULL) != VY_OK) abort();
    if (vy_scenario_hash(reparsed) != vy_scenario_hash(scenario)) abort();
    free(printed);
    vy_scenario_destroy(scenario);
    vy_scenario_destroy(reparsed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_alone(data, size);
    if (is_one_in(SCENARIO_ONE_IN, data, size)) read_with_scenario(data, size);
    return 0;
}
