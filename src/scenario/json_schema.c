// json_schema.c - the table as a JSON Schema: editors complete and check scenarios with it.
#include "scenario/number.h"
#include "base/real.h"
#include "scenario/print.h"
#include <stdlib.h>

#define NUMBER_PATTERN "[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?[0-9]+)?"
#define NAME_PATTERN   "^[A-Za-z][A-Za-z0-9_-]*$"

static void write_object(vy_text *out, const vy_schema_table *table, const void *defaults, int indent,
                         int is_file);

static void write_string(vy_text *out, const char *text)
{
    vy_text_puts(out, "\"");
    for (; *text != '\0'; ++text) {
        if (*text == '"' || *text == '\\') vy_text_puts(out, "\\");
        vy_text_add(out, text, 1);
    }
    vy_text_puts(out, "\"");
}

// A unit in a regular expression in a JSON string.
static void write_unit(vy_text *out, const char *unit)
{
    for (; *unit != '\0'; ++unit) {
        if (strchr("^()/", *unit) != NULL) vy_text_puts(out, *unit == '/' ? "" : "\\\\");
        vy_text_add(out, unit, 1);
    }
}

// Text of a number with one of the units that fit; with anything like a unit where that depends on other
// values.
static void write_pattern(vy_text *out, const vy_schema_row *row)
{
    int count, written_count = 0;
    const vy_unit *units = vy_units(&count);
    vy_text_puts(out, "{\"type\": \"string\", \"pattern\": \"^" NUMBER_PATTERN);
    if (row->unit_of != NULL) {
        vy_text_puts(out, "( *[A-Za-z1][A-Za-z0-9 /^()]*)?$\"}");
        return;
    }
    if (row->unit != NULL && strcmp(row->unit, VY_UNIT_YEAR) == 0) {
        vy_text_puts(out, "( *year)?$|^[0-9]{4}-[01][0-9]-[0-3][0-9]$\"}");
        return;
    }
    vy_text_puts(out, "( *(");
    if (row->unit != NULL) {
        write_unit(out, row->unit);
        ++written_count;
    }
    for (int i = 0; i < count; ++i) {
        if (row->unit == NULL || strcmp(units[i].si, row->unit) != 0) continue;
        vy_text_puts(out, written_count++ > 0 ? "|" : "");
        write_unit(out, units[i].name);
    }
    vy_text_puts(out, "))?$\"}");
}

static void write_bound(vy_text *out, const char *name, double value)
{
    vy_text_printf(out, ", \"%s\": ", name);
    vy_number_print(out, value);
}

// Where the unit depends on other values, so do the bounds: these are the widest.
static void write_bounds(vy_text *out, const vy_schema_row *row, const char *unit)
{
    const vy_range range = vy_row_range(row, unit);
    write_bound(out, range.exclusive_min ? "exclusiveMinimum" : "minimum", range.min);
    write_bound(out, "maximum", range.max);
}

static void write_number(vy_text *out, const vy_schema_row *row)
{
    vy_text_puts(out, "{\"anyOf\": [{\"type\": \"number\"");
    write_bounds(out, row, row->unit);
    vy_text_puts(out, "}, ");
    write_pattern(out, row);
    if (row->keyword != NULL) vy_text_printf(out, ", {\"const\": \"%s\"}", row->keyword);
    vy_text_puts(out, "]}");
}

static void write_numbers(vy_text *out, const vy_schema_row *row, size_t count)
{
    vy_text_puts(out, "{\"type\": \"array\", \"items\": ");
    write_number(out, row);
    vy_text_printf(out, ", \"minItems\": %zu, \"maxItems\": %zu}",
                   row->flags & VY_ROW_VARIABLE_SIZE ? (size_t)0 : count, count);
}

static void write_vector(vy_text *out, const vy_schema_row *row)
{
    if (row->size_of == NULL) {
        write_numbers(out, row, row->size);
        return;
    }
    vy_text_puts(out, "{\"anyOf\": [");
    for (size_t count = row->size; count > 1; --count) {
        write_numbers(out, row, count);
        vy_text_puts(out, ", ");
    }
    write_number(out, row);
    vy_text_puts(out, "]}");
}

static void write_choice(vy_text *out, const vy_schema_row *row)
{
    vy_text_puts(out, "{\"enum\": [");
    for (int i = 0; i < row->choice_count; ++i) {
        const char *name = row->choices[i].name, *bool_word = vy_bool_word(name);
        vy_text_printf(out, "%s\"%s\"", i > 0 ? ", " : "", name);
        if (bool_word != NULL) vy_text_printf(out, ", %s", bool_word);
        if (name[strspn(name, "0123456789")] == '\0')
            vy_text_printf(out, ", %s", name); // YAML reads a number
    }
    vy_text_puts(out, "]}");
}

// An object with defaults of its own.
static void write_defaulted_element(vy_text *out, const vy_schema_row *row, int indent)
{
    void *element = calloc(1, row->table->size);
    if (element == NULL) {
        out->failed = 1;
        return;
    }
    row->table->init(element, 0);
    write_object(out, row->table, element, indent, (row->flags & VY_ROW_FILE) != 0);
    free(element);
}

static void write_list(vy_text *out, const vy_schema_row *row, int indent)
{
    vy_text_printf(out,
                   "{\"type\": \"array\", \"minItems\": %g, \"maxItems\": %zu, \"items\": ", row->range.min,
                   row->size);
    write_defaulted_element(out, row, indent);
    vy_text_puts(out, "}");
}

// What the row's value may be.
static void write_type(vy_text *out, const vy_schema_row *row, const void *defaults, int indent)
{
    static const vy_angles no_angles = {0.0, 0.0, 0.0};
    switch (row->type) {
    case VY_TYPE_NUMBER: write_number(out, row); break;
    case VY_TYPE_INTEGER:
        vy_text_puts(out, "{\"type\": \"integer\", \"minimum\": 0, \"maximum\": 18446744073709551615}");
        break;
    case VY_TYPE_COUNT:
        vy_text_printf(out, "{\"type\": \"integer\", \"minimum\": %.0f, \"maximum\": %.0f}", row->range.min,
                       row->range.max);
        break;
    case VY_TYPE_TEXT:
        if (row->flags & VY_ROW_IDENTIFIER)
            vy_text_puts(out, "{\"type\": \"string\", \"pattern\": \"" NAME_PATTERN "\", ");
        else
            vy_text_puts(out, "{\"type\": [\"string\", \"number\"], \"minLength\": 1, ");
        vy_text_printf(out, "\"maxLength\": %zu}", row->size - 1);
        break;
    case VY_TYPE_CHOICE: write_choice(out, row); break;
    case VY_TYPE_DRONE:
    case VY_TYPE_JOINT: vy_text_puts(out, "{\"type\": \"string\", \"pattern\": \"" NAME_PATTERN "\"}"); break;
    case VY_TYPE_VECTOR: write_vector(out, row); break;
    case VY_TYPE_ROTATION:
        vy_text_puts(out, "{\"anyOf\": [{\"type\": \"array\", \"items\": {\"type\": \"number\"");
        write_bounds(out, row, "");
        vy_text_puts(out, "}, \"minItems\": 4, \"maxItems\": 4}, ");
        write_object(out, &vy_angles_table, &no_angles, indent, 0);
        vy_text_puts(out, "]}");
        break;
    case VY_TYPE_INERTIA:
        vy_text_puts(out, "{\"anyOf\": [");
        write_numbers(out, row, 3);
        vy_text_puts(out, ", {\"type\": \"array\", \"minItems\": 3, \"maxItems\": 3, \"items\": ");
        write_numbers(out, row, 3);
        vy_text_puts(out, "}]}");
        break;
    case VY_TYPE_OBJECT:
        if (row->table->init != NULL)
            write_defaulted_element(out, row, indent);
        else
            write_object(out, row->table, (const char *)defaults + row->offset, indent, 0);
        break;
    case VY_TYPE_LIST: write_list(out, row, indent); break;
    case VY_TYPE_TABLE:
        vy_text_puts(out, "{\"type\": \"array\", \"items\": {\"type\": \"array\", \"items\": ");
        write_number(out, row);
        if (row->size > 0)
            vy_text_printf(out, ", \"minItems\": %zu, \"maxItems\": %zu", row->size, row->size);
        vy_text_puts(out, "}}");
        break;
    case VY_TYPE_NAMED:
        vy_text_puts(out, "{\"type\": \"object\", \"propertyNames\": {\"pattern\": \"" NAME_PATTERN
                          "\"}, \"additionalProperties\": {}");
        vy_text_printf(out, ", \"maxProperties\": %zu}", row->size);
        break;
    }
}

static void write_default(vy_text *out, const vy_schema_row *row, const void *defaults)
{
    const int has_plain_default = row->type == VY_TYPE_NUMBER || row->type == VY_TYPE_INTEGER ||
                                  row->type == VY_TYPE_COUNT || row->type == VY_TYPE_VECTOR ||
                                  row->type == VY_TYPE_ROTATION || row->type == VY_TYPE_CHOICE ||
                                  row->type == VY_TYPE_TEXT;
    if (!has_plain_default || (row->flags & VY_ROW_REQUIRED) || row->default_text != NULL) return;
    vy_text value = {0};
    vy_print_value(&value, row, defaults, NULL);
    char *text = vy_text_take(&value);
    if (text == NULL) {
        out->failed = 1;
        return;
    }
    const int is_word = (*text >= 'a' && *text <= 'z');
    vy_text_printf(out, ", \"default\": %s%s%s", is_word ? "\"" : "", text, is_word ? "\"" : "");
    free(text);
}

// A property: several rows of one key (for several kinds) are alternatives.
static void write_property(vy_text *out, const vy_schema_table *table, int index, const void *defaults,
                           int indent)
{
    const vy_schema_row *row = &table->rows[index];
    int alternatives = 0;
    vy_text_printf(out, "%*s\"%s\": {\"description\": ", indent, "", row->key);
    vy_text description = {0};
    vy_text_puts(&description, row->help);
    if (row->unit != NULL) vy_text_printf(&description, " [%s]", row->unit);
    char *text = vy_text_take(&description);
    if (text == NULL)
        out->failed = 1;
    else
        write_string(out, text);
    free(text);
    write_default(out, row, defaults);
    vy_text_puts(out, ", \"anyOf\": [");
    for (int i = index; i < table->row_count; ++i) {
        if (strcmp(table->rows[i].key, row->key) != 0) continue;
        vy_text_puts(out, alternatives++ > 0 ? ", " : "");
        write_type(out, &table->rows[i], defaults, indent);
    }
    vy_text_puts(out, "]}");
}

static void write_required(vy_text *out, const vy_schema_table *table)
{
    int count = 0;
    vy_text_puts(out, "\"required\": [");
    for (int i = 0; i < table->row_count; ++i) {
        const vy_schema_row *row = &table->rows[i];
        if ((row->flags & VY_ROW_REQUIRED) && row->when == 0) {
            vy_text_printf(out, "%s\"%s\"", count++ > 0 ? ", " : "", row->key);
        }
    }
    vy_text_puts(out, "]");
}

static void write_object(vy_text *out, const vy_schema_table *table, const void *defaults, int indent,
                         int is_file)
{
    if (is_file) vy_text_puts(out, "{\"anyOf\": [{\"type\": \"string\"}, ");
    vy_text_puts(out, "{\"type\": \"object\", \"additionalProperties\": false, ");
    if (is_file) {
        vy_text_puts(out, "\"anyOf\": [{\"required\": [\"base\"]}, {");
        write_required(out, table);
        vy_text_puts(out, "}]");
    } else {
        write_required(out, table);
    }
    vy_text_puts(out, ", \"properties\": {\n");
    if (is_file) {
        vy_text_printf(
            out,
            "%*s\"base\": {\"description\": \"what it is based on: a name or a path ending in .yaml\", "
            "\"type\": \"string\"},\n",
            indent + 2, "");
    }
    for (int i = 0; i < table->row_count; ++i) {
        if (vy_table_find(table, table->rows[i].key) != &table->rows[i])
            continue; // with the first of its key
        if (i > 0) vy_text_puts(out, ",\n");
        write_property(out, table, i, defaults, indent + 2);
    }
    vy_text_printf(out, "\n%*s}}%s", indent, "", is_file ? "]}" : "");
}

char *vy_scenario_print_schema(void)
{
    FPU_SCOPE;
    vy_text out = {0};
    const vy_locale locale = vy_locale_enter();
    vy_scenario defaults;
    vy_scenario_table.init(&defaults, 0);
    vy_text_puts(
        &out,
        "{\"$schema\": \"https://json-schema.org/draft/2020-12/schema\", \"title\": \"Volery scenario\", "
        "\"allOf\": [");
    write_object(&out, &vy_scenario_table, &defaults, 0, 0);
    vy_text_puts(&out, "]}\n");
    vy_locale_leave(locale);
    return vy_text_take(&out);
}
