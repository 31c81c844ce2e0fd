// reference.c - the table as a page for people.
#include "scenario/number.h"
#include "base/real.h"
#include "scenario/print.h"
#include "scenario/read.h"
#include <stdlib.h>

static void write_table(vy_text *out, const vy_schema_table *table, const void *defaults, const char *path);

static void write_intro(vy_text *out)
{
    vy_text_puts(
        out,
        "# Scenario files\n\n"
        "A scenario is a YAML file that describes the drones, their environment, and the conditions to be "
        "met. `volery run` "
        "flies it,\n"
        "`volery check` prints it with every default filled in, or every mistake with its place. This page "
        "lists every\n"
        "key; it is made from the table that reads the files, so it is complete.\n\n"
        "- Numbers are in SI units. A unit may be written after a number (`28 g`, `20 deg`, `[1 mN, 0, 0]`) "
        "and is checked\n"
        "  and converted; see Units. World axes are x east, y north, z up; body axes x forward, y left, z "
        "up.\n"
        "  An angle without a unit is in radians; more than a turn of them draws a warning: `yaw: 90` is not "
        "`90 deg`.\n"
        "- `on` and `yes` may be written `true`, `off` and `no` `false`.\n"
        "- Unknown keys, keys given twice, wrong units, and values out of range are errors, never ignored. "
        "Every number\n"
        "  has bounds; where its unit depends on another value, they are those of that unit elsewhere on "
        "this page, else 1e12.\n"
        "- `volery check --json` and `run --json` list every mistake with file, line, column, path, kind "
        "(`syntax`,\n"
        "  `unknown_key`, `missing_key`, `repeated_key`, `range`, `value`, `file`) and text. A controller's "
        "program, library or\n"
        "  device that does not exist is an error, too.\n"
        "- `--set key=value` changes one value: `--set seed=3`, `--set "
        "drones.alpha.controller.gains.rate=30`,\n"
        "  `--set disturbances[0].start=5`. Elements of a list are named by index, or by name where they "
        "have one.\n"
        "- A vehicle is the name of a file `NAME.yaml` beside the scenario, in `vehicles/` beside it or one "
        "folder above,\n"
        "  or of a built-in vehicle; or a path ending in `.yaml`; or a mapping. With `base: NAME` in it, a "
        "mapping (or a\n"
        "  file) changes only what it names: `vehicle: {base: crazyflie2x, mass: 30 g}`.\n"
        "- A sensor is the name of a part (`imu: bmi088`; docs/sensors.md lists them), a mapping, or a "
        "mapping "
        "with `base:\n"
        "  NAME`. A file of your own works as it does for a vehicle.\n"
        "- Anchors and aliases (`&name`, `*name`) work; tags and merge keys do not.\n\n");
}

// What may be written, in words.
static void write_kind(vy_text *out, const vy_schema_row *row)
{
    switch (row->type) {
    case VY_TYPE_NUMBER: vy_text_puts(out, "number"); break;
    case VY_TYPE_INTEGER: vy_text_puts(out, "whole number, 0 to 2^64 - 1"); break;
    case VY_TYPE_COUNT: vy_text_puts(out, "whole number"); break;
    case VY_TYPE_TEXT: vy_text_puts(out, row->flags & VY_ROW_IDENTIFIER ? "name" : "text"); break;
    case VY_TYPE_CHOICE:
        for (int i = 0; i < row->choice_count; ++i)
            vy_text_printf(out, "%s`%s`", i > 0 ? ", " : "", row->choices[i].name);
        break;
    case VY_TYPE_VECTOR:
        vy_text_printf(out, "[%s%zu numbers]", row->flags & VY_ROW_VARIABLE_SIZE ? "up to " : "", row->size);
        if (row->size_of != NULL) vy_text_puts(out, ", fewer, or a number, as the quantity has");
        break;
    case VY_TYPE_ROTATION: vy_text_puts(out, "[w, x, y, z] or angles"); break;
    case VY_TYPE_INERTIA: vy_text_puts(out, "[x, y, z] or three rows"); break;
    case VY_TYPE_DRONE:
        vy_text_puts(out, row->keyword != NULL ? "name of a drone or body" : "name of a drone, or `all`");
        break;
    case VY_TYPE_JOINT: vy_text_puts(out, "name of a joint, or `all`"); break;
    case VY_TYPE_OBJECT: vy_text_puts(out, row->flags & VY_ROW_FILE ? "name or mapping" : "mapping"); break;
    case VY_TYPE_LIST: vy_text_printf(out, "list of at most %zu", row->size); break;
    case VY_TYPE_TABLE:
        vy_text_puts(out, row->size > 0 ? "list of " : "list of rows of numbers");
        if (row->size > 0) vy_text_printf(out, "[%zu numbers]", row->size);
        break;
    case VY_TYPE_NAMED: vy_text_printf(out, "mapping of at most %zu names to values", row->size); break;
    }
    const int is_numeric = row->type == VY_TYPE_NUMBER || row->type == VY_TYPE_VECTOR ||
                           row->type == VY_TYPE_COUNT || row->type == VY_TYPE_INERTIA ||
                           row->type == VY_TYPE_TABLE;
    if (is_numeric && row->unit_of == NULL) {
        vy_text_puts(out, ", ");
        vy_range_print(out, vy_row_range(row, row->unit));
    }
    if (row->keyword != NULL) vy_text_printf(out, ", or `%s`", row->keyword);
}

static void write_default(vy_text *out, const vy_schema_row *row, const void *defaults)
{
    if (row->flags & VY_ROW_REQUIRED)
        vy_text_puts(out, "required");
    else if (row->default_text != NULL)
        vy_text_puts(out, row->default_text);
    else if (row->type == VY_TYPE_LIST)
        vy_text_puts(out, "none");
    else if (row->type != VY_TYPE_OBJECT)
        vy_print_value(out, row, defaults, NULL);
}

// The kinds to which a row applies.
static void write_when(vy_text *out, const vy_schema_table *table, const vy_schema_row *row)
{
    if (row->when == 0) return;
    const vy_schema_row *selector = &table->rows[0];
    int count = 0;
    for (int i = 0; i < selector->choice_count; ++i) {
        if (!(row->when >> selector->choices[i].value & 1u)) continue;
        vy_text_printf(out, "%s`%s`", count++ == 0 ? " (" : ", ", selector->choices[i].name);
    }
    vy_text_puts(out, ")");
}

static void write_row(vy_text *out, const vy_schema_table *table, const vy_schema_row *row,
                      const void *defaults)
{
    vy_text_printf(out, "| `%s` | ", row->key);
    write_kind(out, row);
    vy_text_printf(out, " | %s | ",
                   row->unit_of != NULL ? "of the quantity"
                   : row->unit != NULL  ? row->unit
                                        : "");
    write_default(out, row, defaults);
    vy_text_printf(out, " | %s", row->help);
    write_when(out, table, row);
    vy_text_puts(out, " |\n");
}

static void write_choices(vy_text *out, const vy_schema_table *table)
{
    for (int i = 0; i < table->row_count; ++i) {
        const vy_schema_row *row = &table->rows[i];
        if (row->type != VY_TYPE_CHOICE || vy_table_find(table, row->key) != row) continue;
        vy_text_printf(out, "\n`%s`:\n", row->key);
        for (int k = 0; k < row->choice_count; ++k) {
            const vy_choice *choice = &row->choices[k];
            const int has_unit = choice->unit != NULL && *choice->unit != '\0';
            vy_text_printf(out, "- `%s`: %s%s%s%s\n", choice->name, choice->help, has_unit ? " [" : "",
                           has_unit ? choice->unit : "", has_unit ? "]" : "");
        }
    }
}

// The sections of objects and lists inside this one.
static void write_parts(vy_text *out, const vy_schema_table *table, const void *defaults, const char *path)
{
    for (int i = 0; i < table->row_count; ++i) {
        const vy_schema_row *row = &table->rows[i];
        if (row->table == NULL) continue;
        vy_text inner_text = {0};
        vy_text_printf(&inner_text, "%s%s%s%s", path, *path != '\0' ? "." : "", row->key,
                       row->type == VY_TYPE_LIST ? "[]" : "");
        char *inner_path = vy_text_take(&inner_text);
        void *element = row->table->init != NULL ? calloc(1, row->table->size) : NULL;
        if (inner_path == NULL || (row->table->init != NULL && element == NULL)) {
            out->failed = 1;
        } else if (element != NULL) {
            row->table->init(element, 0);
            write_table(out, row->table, element, inner_path);
        } else {
            write_table(out, row->table, (const char *)defaults + row->offset, inner_path);
        }
        free(element);
        free(inner_path);
    }
}

static void write_table(vy_text *out, const vy_schema_table *table, const void *defaults, const char *path)
{
    vy_text_printf(out, "## %s\n\n", table->title);
    if (*path != '\0') vy_text_printf(out, "`%s`. ", path);
    vy_text_printf(out, "%s\n\n| key | value | unit | default | meaning |\n|---|---|---|---|---|\n",
                   table->help);
    for (int i = 0; i < table->row_count; ++i) write_row(out, table, &table->rows[i], defaults);
    write_choices(out, table);
    vy_text_puts(out, "\n");
    write_parts(out, table, defaults, path);
}

static void write_units(vy_text *out)
{
    int count;
    const vy_unit *units = vy_units(&count);
    vy_text_puts(
        out,
        "## Units\n\nThe unit of a key may be written as it stands in its table, or as one of these. Decimal "
        "prefixes are exact: `28 g`\nis the number 0.028.\n\n| written | means |\n|---|---|\n");
    for (int i = 0; i < count; ++i) {
        vy_text_printf(out, "| `%s` | ", units[i].name);
        if (units[i].power != 0) vy_text_printf(out, "1e%d ", units[i].power);
        if (units[i].factor != 1.0) vy_number_print(out, units[i].factor);
        vy_text_printf(out, "%s%s |\n", units[i].factor != 1.0 ? " " : "", units[i].si);
    }
}

char *vy_scenario_print_reference(void)
{
    FPU_SCOPE;
    static const vy_angles no_angles = {0.0, 0.0, 0.0};
    vy_text out = {0};
    vy_scenario defaults;
    const vy_locale locale = vy_locale_enter();
    vy_scenario_table.init(&defaults, 0);
    write_intro(&out);
    write_table(&out, &vy_scenario_table, &defaults, "");
    write_table(&out, &vy_angles_table, &no_angles, "drones[].start.attitude");
    write_units(&out);
    vy_locale_leave(locale);
    return vy_text_take(&out);
}
