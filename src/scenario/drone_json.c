// drone_json.c - how a drone is built, as JSON: a walk over the rows of the scenario.
#include "scenario/drone_json.h"
#include "base/assert.h"
#include "base/real.h"
#include "scenario/parameters.h"
#include "scenario/print.h"
#include <stdlib.h>

static void print_object(vy_text *out, const vy_schema_table *table, const void *object);

static void print_list(vy_text *out, const vy_schema_row *row, const void *object)
{
    int count;
    const char *elements = vy_list_elements(row, object, &count);
    vy_text_puts(out, "[");
    for (int i = 0; i < count; ++i) {
        if (i > 0) vy_text_puts(out, ", ");
        print_object(out, row->table, elements + (size_t)i * row->table->size);
    }
    vy_text_puts(out, "]");
}

static void print_choice(vy_text *out, const vy_schema_row *row, const void *field)
{
    int value;
    memcpy(&value, field, sizeof value);
    const vy_choice *choice = vy_choice_of(row, value);
    VY_ASSERT(choice != NULL);
    const char *bool_word = vy_bool_word(choice->name);
    vy_text_printf(out, bool_word != NULL ? "%s" : "\"%s\"", bool_word != NULL ? bool_word : choice->name);
}

static void print_text(vy_text *out, const vy_schema_row *row, const char *text)
{
    if (text[0] == '\0' && row->keyword != NULL) text = row->keyword;
    vy_text_add_json(out, text, strlen(text));
}

// A word that stands for a number is that number, unless it is none in JSON.
static void print_number(vy_text *out, const vy_schema_row *row, const void *object)
{
    double value;
    memcpy(&value, (const char *)object + row->offset, sizeof value);
    vy_schema_row bare_row = *row;
    bare_row.keyword = NULL;
    if (real_is_finite(value))
        vy_print_value(out, &bare_row, object, NULL);
    else
        vy_text_printf(out, "\"%s\"", row->keyword != NULL ? row->keyword : "none");
}

static void print_value(vy_text *out, const vy_schema_row *row, const void *object)
{
    const char *field = (const char *)object + row->offset;
    switch (row->type) {
    case VY_TYPE_OBJECT: print_object(out, row->table, field); return;
    case VY_TYPE_LIST: print_list(out, row, object); return;
    case VY_TYPE_CHOICE: print_choice(out, row, field); return;
    case VY_TYPE_TEXT: print_text(out, row, field); return;
    case VY_TYPE_NUMBER: print_number(out, row, object); return;
    default: vy_print_value(out, row, object, NULL); // numbers in brackets are the same in JSON
    }
}

static void print_object(vy_text *out, const vy_schema_table *table, const void *object)
{
    const char *separator = "";
    vy_text_puts(out, "{");
    for (int i = 0; i < table->row_count; ++i) {
        const vy_schema_row *row = &table->rows[i];
        if (!vy_row_applies(table, row, object)) continue;
        vy_text_printf(out, "%s\"%s\": ", separator, row->key);
        print_value(out, row, object);
        separator = ", ";
    }
    vy_text_puts(out, "}");
}

static const vy_schema_row *drone_row(const char *key)
{
    const vy_schema_row *row = vy_table_find(vy_table_find(&vy_scenario_table, "drones")->table, key);
    VY_ASSERT(row != NULL);
    return row;
}

void vy_drone_print_json(vy_text *out, const vy_drone_def *def)
{
    static const char *const keys[] = {"vehicle", "sensors", "estimator", "safety"};
    vy_scenario_drone *drone = calloc(1, sizeof *drone); // what the rows are of
    if (drone == NULL) {
        out->failed = 1;
        return;
    }
    drone->def = *def;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; ++i) {
        vy_text_printf(out, "%s\"%s\": ", i > 0 ? ", " : "", keys[i]);
        print_value(out, drone_row(keys[i]), drone);
    }
    free(drone);
}

void vy_drone_read_json(vy_reader *reader, const vy_node *map, vy_drone_def *out)
{
    static const char *const keys[] = {"vehicle", "sensors"};
    vy_scenario_drone *drone = calloc(1, sizeof *drone);
    if (drone == NULL) {
        reader->no_memory = 1;
        return;
    }
    drone->def = vy_default_drone_def();
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; ++i) {
        const vy_schema_row *row = drone_row(keys[i]);
        const vy_node *node = vy_node_find(map, keys[i]);
        char *object = (char *)drone + row->offset;
        if (node == NULL)
            vy_report_error(reader->report, map, "%s is missing", keys[i]);
        else if (row->flags & VY_ROW_FILE)
            vy_read_file_object(reader, row->table, node, object);
        else
            vy_read_object(reader, row->table, node, object);
    }
    const vy_schema_row *row = vy_table_find(drone_row("controller")->table, "parameters");
    const vy_node *node = vy_node_find(map, "parameters");
    if (node == NULL)
        vy_report_error(reader->report, map, "parameters is missing");
    else
        vy_read_parameters(reader, row, vy_node_resolve(node), &drone->def.controller);
    *out = drone->def;
    free(drone);
}
