// template.c - one scenario read many times: the tree stays, the values under some keys change.
#include "scenario/template.h"
#include "base/assert.h"
#include "base/fail.h"
#include "base/read_file.h"
#include "base/real.h"
#include "scenario/number.h"
#include "scenario/override.h"
#include "scenario/parse.h"
#include <errno.h>
#include <stdlib.h>

enum { NUMBER_SIZE_MAX = 64 };

// A text that is no number, parsed once.
typedef struct parsed_value {
    char *text;
    vy_node *node;
    struct parsed_value *next;
} parsed_value;

typedef struct value_slot {
    char *key;
    vy_node *node;                // where its value stands
    char number[NUMBER_SIZE_MAX]; // the text of that node, while it is a number
    parsed_value *parsed_values;
} value_slot;

struct vy_template {
    vy_yaml tree;
    vy_scenario_options options;
    char *path;
    vy_node *root;
    struct vy_include *includes; // files read so far
    value_slot *slots;
    int slot_count;
};

// A text that YAML would read as one plain scalar beginning with a number, like "28 g".
static int is_number(const char *text)
{
    const size_t size = strlen(text);
    if (size == 0 || size >= NUMBER_SIZE_MAX) return 0;
    if (!(text[0] >= '0' && text[0] <= '9') && text[0] != '-' && text[0] != '.') return 0;
    if (text[0] == '-' && !(text[1] >= '0' && text[1] <= '9') && text[1] != '.') return 0;
    for (size_t i = 0; i < size; ++i) {
        const char c = text[i];
        const int is_plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                             strchr("+-./^ ", c) != NULL;
        if (!is_plain || (c == ' ' && i + 1 == size)) return 0;
    }
    return 1;
}

static void set_number(value_slot *s, const char *text)
{
    const vy_node scalar = {.kind = VY_NODE_SCALAR,
                            .source = s->node->source,
                            .line = 1,
                            .column = 1,
                            .plain = 1,
                            .text = s->number,
                            .size = strlen(text)};
    memcpy(s->number, text, scalar.size + 1);
    vy_node_replace(s->node, &scalar);
}

static int set_text(vy_template *t, value_slot *s, const char *text, vy_report *report)
{
    parsed_value *value = s->parsed_values;
    while (value != NULL && strcmp(value->text, text) != 0) value = value->next;
    if (value == NULL) {
        vy_text override = {0};
        vy_text_printf(&override, "--set %s=%s", s->key, text);
        vy_source *source = vy_yaml_add_source(&t->tree, vy_text_take(&override),
                                               vy_text_copy(text, strlen(text)), strlen(text));
        if (source == NULL) return 0;
        source->is_override = 1;
        vy_node *node = vy_yaml_read(&t->tree, source, 0, report);
        value = node != NULL ? vy_yaml_alloc(&t->tree, sizeof *value) : NULL;
        if (value == NULL) return 0;
        *value = (parsed_value){.text = source->text, .node = node, .next = s->parsed_values};
        s->parsed_values = value;
    }
    vy_node_replace(s->node, value->node);
    return 1;
}

static vy_status build_scenario(vy_template *t, const char *const *values, vy_report *report,
                                vy_scenario **out)
{
    for (int i = 0; i < t->slot_count; ++i) {
        if (is_number(values[i]))
            set_number(&t->slots[i], values[i]);
        else if (!set_text(t, &t->slots[i], values[i], report))
            return t->tree.no_memory || report->status == VY_OK ? VY_NO_MEMORY : report->status;
    }
    vy_reader reader = {.tree = &t->tree,
                        .report = report,
                        .load = t->options.load,
                        .self = t->options.self,
                        .includes = t->includes};
    vy_scenario *scenario = calloc(1, sizeof *scenario);
    if (scenario == NULL) return VY_NO_MEMORY;
    vy_scenario_table.init(scenario, 0);
    vy_scenario_read(&reader, t->root, &t->options, scenario);
    t->includes = reader.includes;
    const int no_memory = t->tree.no_memory || reader.no_memory || report->no_memory;
    const vy_status status = no_memory ? VY_NO_MEMORY : report->status;
    vy_reader_destroy(&reader);
    if (status != VY_OK) {
        vy_scenario_destroy(scenario);
        return status;
    }
    vy_scenario_set_program_folders(t->path, scenario);
    *out = scenario;
    return VY_OK;
}

vy_status vy_template_make(vy_template *t, const char *const *values, vy_scenario **out,
                           vy_diagnostics *diagnostics)
{
    FPU_SCOPE;
    *diagnostics = (vy_diagnostics){.count = 0};
    *out = NULL;
    vy_report report = {.diagnostics = diagnostics};
    const vy_locale locale = vy_locale_enter();
    const vy_status status = build_scenario(t, values, &report, out);
    vy_report_sort(&report);
    vy_locale_leave(locale);
    return status;
}

// A tree that lacks something for want of memory is called wrong.
static vy_status failure_status(const vy_template *t, const vy_report *report)
{
    return t->tree.no_memory || report->no_memory || report->status == VY_OK ? VY_NO_MEMORY : report->status;
}

// The tree with every key in it.
static vy_status add_first_values(vy_template *t, const char *const *keys, const char *const *first_values,
                                  vy_report *report)
{
    for (int i = 0; i < t->slot_count; ++i) {
        vy_text override = {0};
        vy_text_printf(&override, "%s=%s", keys[i], first_values[i]);
        char *text = vy_text_take(&override);
        t->slots[i].key = vy_text_copy(keys[i], strlen(keys[i]));
        if (text == NULL || t->slots[i].key == NULL) {
            free(text);
            return VY_NO_MEMORY;
        }
        t->slots[i].node = vy_override_apply(&t->tree, report, &vy_scenario_table, t->root, text);
        free(text);
        if (t->slots[i].node == NULL) return failure_status(t, report);
    }
    return VY_OK;
}

static vy_status open_template(vy_template *t, const char *path, const char *const *keys,
                               const char *const *first_values, vy_report *report)
{
    char *text = NULL;
    size_t size = 0;
    errno = 0;
    const vy_status status = vy_read_file(path, VY_TREE_TEXT_CAP, &text, &size);
    if (status == VY_NO_MEMORY) return status;
    if (status != VY_OK) {
        vy_source missing = {.name = vy_text_copy(path, strlen(path)), .is_override = 1};
        if (missing.name == NULL) return VY_NO_MEMORY;
        vy_report_error_at(report, VY_IO, &missing, 0, 0, "cannot be read: %s", strerror(errno));
        free(missing.name);
        return VY_IO;
    }
    vy_source *source = vy_yaml_add_source(&t->tree, vy_text_copy(path, strlen(path)), text, size);
    t->path = vy_text_copy(path, strlen(path));
    t->slots = calloc((size_t)t->slot_count + 1, sizeof *t->slots);
    if (source == NULL || t->path == NULL || t->slots == NULL) return VY_NO_MEMORY;
    t->root = vy_scenario_parse_tree(&t->tree, report, source, &t->options);
    if (t->root == NULL || report->status != VY_OK) return failure_status(t, report);
    return add_first_values(t, keys, first_values, report);
}

vy_status vy_template_load(const char *path, const vy_scenario_options *options, const char *const *keys,
                           const char *const *first_values, int count, vy_template **out,
                           vy_diagnostics *diagnostics)
{
    FPU_SCOPE;
    *diagnostics = (vy_diagnostics){.count = 0};
    *out = NULL;
    vy_template *t = calloc(1, sizeof *t);
    if (t == NULL) return VY_NO_MEMORY;
    t->options = *options;
    if (t->options.load == NULL) t->options.load = vy_load_file;
    t->slot_count = count;
    vy_report report = {.diagnostics = diagnostics};
    const vy_locale locale = vy_locale_enter();
    const vy_status status = open_template(t, path, keys, first_values, &report);
    vy_report_sort(&report);
    vy_locale_leave(locale);
    t->options.overrides = NULL; // they are in the tree, and not ours to keep
    t->options.override_count = 0;
    if (status != VY_OK) {
        vy_template_destroy(t);
        return status;
    }
    *out = t;
    return VY_OK;
}

void vy_template_destroy(vy_template *t)
{
    if (t == NULL) return;
    for (int i = 0; i < t->slot_count && t->slots != NULL; ++i) free(t->slots[i].key);
    free(t->slots);
    free(t->path);
    vy_yaml_destroy(&t->tree);
    free(t);
}
