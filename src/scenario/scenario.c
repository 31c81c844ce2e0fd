// scenario.c - reading a scenario: files, overrides, the table, the checks. Read vy_scenario_parse() first.
#define _XOPEN_SOURCE 700 // realpath
#include "base/fail.h"
#include "base/read_file.h"
#include "base/real.h"
#include "environment/wind_grid.h"
#include "scenario/check.h"
#include "scenario/number.h"
#include "scenario/override.h"
#include "scenario/parse.h"
#include "scenario/parameters.h"
#include "scenario/recorded.h"
#include "scenario/solids.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

// --- files

static int ends_with(const char *text, const char *suffix)
{
    const size_t size = strlen(text), suffix_size = strlen(suffix);
    return size >= suffix_size && strcmp(text + size - suffix_size, suffix) == 0;
}

// Read the file `name` with `suffix` if it is in `folder`, seen from the folder that the file `from` is in.
static vy_status try_file(const char *from, const char *folder, const char *name, const char *suffix,
                          vy_source_text *out)
{
    const char *slash = strrchr(from, '/');
    vy_text path = {0};
    if (*name != '/' && slash != NULL) vy_text_add(&path, from, (size_t)(slash + 1 - from));
    vy_text_printf(&path, "%s%s%s", folder, name, suffix);
    char *full_path = vy_text_take(&path);
    if (full_path == NULL) return VY_NO_MEMORY;
    const vy_status status = vy_read_file(full_path, VY_TREE_TEXT_CAP, &out->text, &out->size);
    if (status == VY_OK)
        out->name = full_path;
    else
        free(full_path);
    return status;
}

vy_status vy_load_file(void *self, const char *name, const char *from, vy_source_text *out)
{
    (void)self;
    static const char *const suffixes[] = {".csv", ".stl", ".STL", ".obj", ".OBJ", ".yaml", ".yml", ".json"};
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; ++i) {
        if (ends_with(name, suffixes[i])) return try_file(from, "", name, "", out);
    }
    if (!vy_is_identifier(name, strlen(name))) return VY_NOT_FOUND;
    static const char *const folders[] = {"", "vehicles/", "../vehicles/"};
    vy_status status = VY_NOT_FOUND;
    for (size_t i = 0; i < sizeof folders / sizeof folders[0] && status == VY_NOT_FOUND; ++i) {
        status = try_file(from, folders[i], name, ".yaml", out);
    }
    return status;
}

// --- reading

// Another version of the format is one error, not a hundred unknown keys.
static int has_supported_version(vy_report *report, const vy_node *root)
{
    const vy_node *node = root->kind == VY_NODE_MAP ? vy_node_find(root, "volery") : NULL;
    if (root->kind != VY_NODE_MAP || node == NULL) {
        vy_report_error(report, root, "a scenario has the line `volery: %d`, the version of the format",
                        VY_SCENARIO_VERSION);
        return 0;
    }
    uint64_t version;
    node = vy_node_resolve(node);
    if (node->kind == VY_NODE_SCALAR && vy_uint_read(node->text, node->size, &version) &&
        version > VY_SCENARIO_VERSION) {
        vy_report_error(report, node,
                        "version %llu of the format is newer than this program, which reads version %d",
                        (unsigned long long)version, VY_SCENARIO_VERSION);
        return 0;
    }
    return 1;
}

// The field of a gridded wind; its errors have the file's own line and column.
static void load_wind_grid(vy_reader *reader, const char *scenario_path, vy_scenario *scenario)
{
    vy_wind_def *wind = &scenario->environment.wind;
    if (wind->grid_name[0] == '\0') return;
    const vy_node *grid_node = vy_reader_location(reader, wind->grid_name);
    vy_source_text text = {0};
    const vy_status status = reader->load != NULL
                                 ? reader->load(reader->self, wind->grid_name, scenario_path, &text)
                                 : VY_NOT_FOUND;
    if (status == VY_NO_MEMORY) reader->no_memory = 1;
    if (status != VY_OK) {
        if (status != VY_NO_MEMORY)
            vy_report_error_of_kind(reader->report, "file", grid_node, "grid: %s cannot be read",
                                    wind->grid_name);
        vy_reader_mark_invalid(reader, wind->grid_name);
        return;
    }
    vy_error err = {0};
    if (vy_wind_grid_read(text.text, text.size, text.name, &scenario->wind_grid, &err) != VY_OK) {
        char location[32] = "";
        if (err.line > 0) snprintf(location, sizeof location, ":%d:%d", err.line, err.column);
        vy_reader_refuse(reader, wind->grid_name, "grid: %s%s: %s", wind->grid_name, location, err.text);
    }
    wind->grid = scenario->wind_grid;
    scenario->wind_grid_text = text.text;
    scenario->wind_grid_size = text.size;
    free(text.name);
}

vy_node *vy_scenario_parse_tree(vy_yaml *tree, vy_report *report, vy_source *source,
                                const vy_scenario_options *options)
{
    vy_node *root = vy_yaml_read(tree, source, 0, report);
    if (root == NULL || !has_supported_version(report, root)) return NULL;
    for (int i = 0; options != NULL && i < options->override_count; ++i)
        (void)vy_override_apply(tree, report, &vy_scenario_table, root, options->overrides[i]);
    return root;
}

void vy_scenario_read(vy_reader *reader, const vy_node *root, const vy_scenario_options *options,
                      vy_scenario *scenario)
{
    const vy_source *source = root->source;
    reader->root = root;
    reader->scenario = scenario;
    vy_read_object(reader, &vy_scenario_table, root, scenario);
    if (reader->no_memory || reader->tree->no_memory) return;
    scenario->duration_changed = (options != NULL && options->is_logged) ||
                                 vy_reader_location(reader, &scenario->duration)->source->is_override;
    vy_load_recorded(reader, source->name, scenario);
    vy_resolve_scenario(reader, scenario);
    load_wind_grid(reader, source->name, scenario);
    vy_load_solids(reader, source->name, scenario);
    vy_compute_body_masses(reader, scenario);
    const int finds_programs = options != NULL && options->find_programs;
    vy_compute_parameter_digests(reader, source->name, finds_programs || reader->load == vy_load_file,
                                 scenario);
    if (finds_programs) vy_check_programs(reader, source->name, scenario);
    vy_check_scenario(reader, scenario);
}

// Programs are looked for beside the scenario that names them, wherever the run is started from.
void vy_scenario_set_program_folders(const char *path, vy_scenario *scenario)
{
    const char *slash = strrchr(path, '/');
    char *resolved = NULL;
    for (int i = 0; i < scenario->drone_count; ++i) {
        vy_controller_def *controller = &scenario->drones[i].def.controller;
        const int is_external =
            vy_controller_is_external(controller->kind) && controller->kind != VY_CONTROLLER_CALLBACK;
        if (!is_external || controller->folder[0] != '\0') continue;
        if (resolved == NULL) {
            char *folder = vy_text_copy(path, slash == NULL ? 0 : slash == path ? 1 : (size_t)(slash - path));
            resolved = folder != NULL ? realpath(slash != NULL ? folder : ".", NULL) : NULL;
            free(folder);
        }
        if (resolved != NULL && strlen(resolved) < sizeof controller->folder)
            memcpy(controller->folder, resolved, strlen(resolved) + 1);
    }
    free(resolved);
}

// Takes ownership of `text`, which may be NULL when memory was out.
static vy_status parse_owned(char *text, size_t size, const char *name, const vy_scenario_options *options,
                             vy_load_fn *load, vy_scenario **out, vy_diagnostics *diagnostics)
{
    vy_yaml tree = {0};
    vy_report report = {.diagnostics = diagnostics};
    vy_reader reader = {.tree = &tree, .report = &report, .load = load};
    if (options != NULL && options->load != NULL) {
        reader.load = options->load;
        reader.self = options->self;
    }
    const vy_locale locale = vy_locale_enter();
    vy_scenario *scenario = calloc(1, sizeof *scenario);
    vy_source *source = vy_yaml_add_source(&tree, vy_text_copy(name, strlen(name)), text, size);
    if (scenario != NULL && source != NULL) {
        vy_scenario_table.init(scenario, 0);
        const vy_node *root = vy_scenario_parse_tree(&tree, &report, source, options);
        if (root != NULL) vy_scenario_read(&reader, root, options, scenario);
    }
    vy_report_sort(&report);
    const int no_memory = scenario == NULL || tree.no_memory || reader.no_memory || report.no_memory;
    vy_status status = no_memory ? VY_NO_MEMORY : report.status;
    vy_reader_destroy(&reader);
    vy_yaml_destroy(&tree);
    vy_locale_leave(locale);
    if (status != VY_OK) {
        vy_scenario_destroy(scenario);
        return status;
    }
    *out = scenario;
    return VY_OK;
}

static vy_status parse(char *text, size_t size, const char *name, const vy_scenario_options *options,
                       vy_load_fn *load, vy_scenario **out, vy_diagnostics *diagnostics)
{
    vy_diagnostics unused_diagnostics = {0};
    *out = NULL;
    const vy_status status = parse_owned(text, size, name, options, load, out,
                                         diagnostics != NULL ? diagnostics : &unused_diagnostics);
    vy_diagnostics_destroy(&unused_diagnostics);
    return status;
}

vy_status vy_scenario_parse(const char *text, size_t size, const char *name,
                            const vy_scenario_options *options, vy_scenario **out,
                            vy_diagnostics *diagnostics)
{
    FPU_SCOPE;
    if (diagnostics != NULL) memset(diagnostics, 0, sizeof *diagnostics);
    return parse(vy_text_copy(text, size), size, name, options, NULL, out, diagnostics);
}

vy_status vy_scenario_load(const char *path, const vy_scenario_options *options, vy_scenario **out,
                           vy_diagnostics *diagnostics)
{
    FPU_SCOPE;
    if (diagnostics != NULL) memset(diagnostics, 0, sizeof *diagnostics);
    char *text = NULL;
    size_t size = 0;
    *out = NULL;
    errno = 0;
    const vy_status status = vy_read_file(path, VY_TREE_TEXT_CAP, &text, &size);
    if (status == VY_OK) {
        const vy_status parse_status = parse(text, size, path, options, vy_load_file, out, diagnostics);
        if (parse_status == VY_OK) vy_scenario_set_program_folders(path, *out);
        return parse_status;
    }
    if (diagnostics != NULL && status != VY_NO_MEMORY) {
        vy_report report = {.diagnostics = diagnostics};
        vy_source source = {.name = vy_text_copy(path, strlen(path)), .is_override = 1};
        if (source.name == NULL) return VY_NO_MEMORY;
        vy_report_error_at(&report, VY_IO, &source, 0, 0, "cannot be read: %s", strerror(errno));
        free(source.name);
    }
    return status == VY_NOT_FOUND ? VY_IO : status;
}

// NULL for none, or when memory is out: `*no_memory` is set then.
static void *duplicate(const void *items, size_t size, int *no_memory)
{
    void *copy = size > 0 ? malloc(size) : NULL;
    if (copy != NULL) memcpy(copy, items, size);
    if (size > 0 && copy == NULL) *no_memory = 1;
    return copy;
}

static void duplicate_numbers(vy_numbers *n, int *no_memory)
{
    n->values = duplicate(n->values, (size_t)n->rows * (size_t)n->columns * sizeof(double), no_memory);
}

// The tables of a scenario's shapes: their own in a copy.
static void duplicate_solids(vy_scenario *s, int *no_memory)
{
    vy_collider_def *solid;
    for (int i = 0; (solid = vy_scenario_solid(s, i)) != NULL; ++i) {
        vy_numbers *tables[2] = {&solid->points, &solid->heights};
        for (int k = 0; k < 2; ++k) duplicate_numbers(tables[k], no_memory);
    }
}

// What a controller's def points at: its own in a copy.
static void duplicate_controllers(vy_scenario *s, int *no_memory)
{
    for (int i = 0; i < s->drone_count; ++i) {
        vy_controller_def *c = &s->drones[i].def.controller;
        c->rc = duplicate(c->rc, (size_t)c->rc_count * sizeof *c->rc, no_memory);
        if (c->rc == NULL) c->rc_count = 0;
        duplicate_numbers(&c->record, no_memory);
        vy_firmware_def *f = &c->firmware;
        f->script = duplicate(f->script, (size_t)f->script_count * sizeof *f->script, no_memory);
        if (f->script == NULL) f->script_count = 0;
        for (int k = 0; k < c->parameter_count; ++k) {
            const char *text = c->parameters[k].text;
            c->parameters[k].text = duplicate(text, text != NULL ? strlen(text) + 1 : 0, no_memory);
        }
    }
}

vy_status vy_scenario_copy(const vy_scenario *scenario, vy_scenario **out, vy_error *err)
{
    FPU_SCOPE;
    int no_memory = 0;
    *out = NULL;
    vy_scenario *s = duplicate(scenario, sizeof *scenario, &no_memory);
    if (s == NULL) return vy_fail(err, VY_NO_MEMORY, "scenario: no memory for a copy");
    for (int i = 0; i < vy_scenario_table.row_count; ++i) { // every list has elements of its own
        const vy_schema_row *row = &vy_scenario_table.rows[i];
        if (!(row->flags & VY_ROW_ALLOCATED)) continue;
        int count;
        const void *elements = vy_list_elements(row, s, &count);
        void *copy = duplicate(elements, (size_t)count * row->table->size, &no_memory);
        if (copy == NULL) count = 0;
        memcpy((char *)s + row->offset, &copy, sizeof copy);
        memcpy((char *)s + row->count_offset, &count, sizeof count);
    }
    s->wind_grid_text = duplicate(s->wind_grid_text, s->wind_grid_size, &no_memory);
    s->wind_grid = NULL;
    duplicate_solids(s, &no_memory);
    duplicate_controllers(s, &no_memory);
    for (int i = 0; i < s->expect_count; ++i) duplicate_numbers(&s->expect[i].trajectory, &no_memory);
    vy_status status = no_memory ? vy_fail(err, VY_NO_MEMORY, "scenario: no memory for a copy") : VY_OK;
    if (status == VY_OK && scenario->wind_grid != NULL) {
        status = vy_wind_grid_read(s->wind_grid_text, s->wind_grid_size, s->environment.wind.grid_name,
                                   &s->wind_grid, err);
        s->environment.wind.grid = s->wind_grid;
    }
    if (status != VY_OK) {
        vy_scenario_destroy(s);
        return status;
    }
    *out = s;
    return VY_OK;
}

void vy_scenario_destroy(vy_scenario *scenario)
{
    if (scenario == NULL) return;
    vy_collider_def *solid;
    for (int i = 0; (solid = vy_scenario_solid(scenario, i)) != NULL; ++i) {
        free(solid->points.values);
        free(solid->heights.values);
    }
    for (int i = 0; i < scenario->drone_count; ++i) {
        const vy_controller_def *c = &scenario->drones[i].def.controller;
        free((void *)c->rc);
        free(c->record.values);
        free((void *)c->firmware.script);
        for (int k = 0; k < VY_PARAMETER_CAP; ++k) free((void *)c->parameters[k].text);
    }
    for (int i = 0; i < scenario->expect_count; ++i) free(scenario->expect[i].trajectory.values);
    for (int i = 0; i < vy_scenario_table.row_count; ++i) { // every list of its own
        const vy_schema_row *row = &vy_scenario_table.rows[i];
        void *elements = NULL;
        if (row->flags & VY_ROW_ALLOCATED) memcpy(&elements, (char *)scenario + row->offset, sizeof elements);
        free(elements);
    }
    vy_wind_grid_destroy(scenario->wind_grid);
    free(scenario->wind_grid_text);
    free(scenario);
}
