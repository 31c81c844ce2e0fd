// print.c - a resolved scenario as YAML, and its hash: two walks over the same rows.
#include "scenario/print.h"
#include "base/real.h"
#include "base/hash.h"
#include "environment/wind_grid.h"
#include "scenario/number.h"
#include "scenario/parameters.h"
#include <stdlib.h>

static void print_rows(vy_text *out, const vy_schema_table *table, const void *object,
                       const vy_scenario *scenario, int indent, int is_list_item);

static void print_quoted(vy_text *out, const char *text)
{
    vy_text_puts(out, "\"");
    for (; *text != '\0'; ++text) {
        if (*text == '"' || *text == '\\') vy_text_puts(out, "\\");
        vy_text_add(out, text, 1);
    }
    vy_text_puts(out, "\"");
}

static void print_numbers(vy_text *out, const double *values, size_t count)
{
    vy_text_puts(out, "[");
    for (size_t i = 0; i < count; ++i) {
        if (i > 0) vy_text_puts(out, ", ");
        vy_number_print(out, values[i]);
    }
    vy_text_puts(out, "]");
}

static void print_vector(vy_text *out, const vy_schema_row *row, const double *values, int size)
{
    if (row->size_of != NULL && size == 1)
        vy_number_print(out, values[0]);
    else
        print_numbers(out, values, (size_t)size);
}

static void print_inertia(vy_text *out, const vy_mat3 *m)
{
    int is_diagonal = 1;
    for (int i = 0; i < 9; ++i)
        is_diagonal &= i % 4 == 0 || bits_of(m->m[i / 3][i % 3]) == 0; // -0.0 is kept as well
    if (is_diagonal) {
        print_numbers(out, (const double[3]){m->m[0][0], m->m[1][1], m->m[2][2]}, 3);
        return;
    }
    vy_text_puts(out, "[");
    for (int i = 0; i < 3; ++i) {
        if (i > 0) vy_text_puts(out, ", ");
        print_numbers(out, m->m[i], 3);
    }
    vy_text_puts(out, "]");
}

static void print_named_values(vy_text *out, const vy_schema_row *row, const void *object)
{
    int count;
    const vy_parameter *list = vy_list_elements(row, object, &count);
    vy_text_puts(out, "{");
    for (int i = 0; i < count; ++i) {
        vy_text_printf(out, "%s%s: ", i > 0 ? ", " : "", list[i].name);
        vy_parameter_print(out, &list[i], 0);
    }
    vy_text_puts(out, "}");
}

static void print_table(vy_text *out, const vy_numbers *table)
{
    vy_text_puts(out, "[");
    for (int i = 0; i < table->rows; ++i) {
        if (i > 0) vy_text_puts(out, ", ");
        print_numbers(out, table->values + (size_t)i * (size_t)table->columns, (size_t)table->columns);
    }
    vy_text_puts(out, "]");
}

// With its unit where a bare one would draw a warning.
static void print_number(vy_text *out, double number, const char *unit)
{
    vy_number_print(out, number);
    if (vy_looks_like_degrees(unit, number)) vy_text_printf(out, " %s", unit);
}

void vy_print_value(vy_text *out, const vy_schema_row *row, const void *object, const vy_scenario *scenario)
{
    const void *field = (const char *)object + row->offset;
    double number;
    uint64_t integer;
    int index;
    switch (row->type) {
    case VY_TYPE_NUMBER:
        memcpy(&number, field, sizeof number);
        if (row->keyword != NULL &&
            (bits_of(number) == bits_of(row->keyword_value) || !real_is_finite(number)))
            vy_text_puts(out, row->keyword);
        else
            print_number(out, number, vy_row_unit(row, object));
        break;
    case VY_TYPE_INTEGER:
        memcpy(&integer, field, sizeof integer);
        vy_text_printf(out, "%llu", (unsigned long long)integer);
        break;
    case VY_TYPE_COUNT:
        memcpy(&index, field, sizeof index);
        vy_text_printf(out, "%d", index);
        break;
    case VY_TYPE_TEXT:
        if (row->keyword != NULL && *(const char *)field == '\0')
            vy_text_puts(out, row->keyword);
        else
            print_quoted(out, field);
        break;
    case VY_TYPE_CHOICE:
        memcpy(&index, field, sizeof index);
        vy_text_puts(out, vy_choice_of(row, index) != NULL ? vy_choice_of(row, index)->name : "?");
        break;
    case VY_TYPE_VECTOR: print_vector(out, row, field, vy_row_number_count(row, object)); break;
    case VY_TYPE_ROTATION: print_numbers(out, field, 4); break;
    case VY_TYPE_INERTIA: print_inertia(out, field); break;
    case VY_TYPE_DRONE:
        memcpy(&index, field, sizeof index);
        if (index < 0 || scenario == NULL)
            vy_text_puts(out, row->keyword != NULL ? row->keyword : "all");
        else
            print_quoted(out, vy_scenario_name_of(scenario, index));
        break;
    case VY_TYPE_JOINT:
        memcpy(&index, field, sizeof index);
        if (index < 0 || scenario == NULL)
            vy_text_puts(out, "all");
        else
            print_quoted(out, scenario->joints[index].name);
        break;
    case VY_TYPE_NAMED: print_named_values(out, row, object); break;
    case VY_TYPE_TABLE: print_table(out, field); break;
    case VY_TYPE_OBJECT:
    case VY_TYPE_LIST: break;
    }
}

static void print_list(vy_text *out, const vy_schema_row *row, const void *object,
                       const vy_scenario *scenario, int indent)
{
    int count;
    const char *elements = vy_list_elements(row, object, &count);
    vy_text_puts(out, count == 0 ? " []\n" : "\n");
    for (int i = 0; i < count; ++i) {
        print_rows(out, row->table, elements + (size_t)i * row->table->size, scenario, indent + 4, 1);
    }
}

static void print_rows(vy_text *out, const vy_schema_table *table, const void *object,
                       const vy_scenario *scenario, int indent, int is_list_item)
{
    for (int i = 0; i < table->row_count; ++i) {
        const vy_schema_row *row = &table->rows[i];
        if (!vy_row_applies(table, row, object)) continue;
        vy_text_printf(out, "%*s%s%s:", is_list_item ? indent - 2 : indent, "", is_list_item ? "- " : "",
                       row->key);
        is_list_item = 0;
        if (row->type == VY_TYPE_OBJECT) {
            vy_text_puts(out, "\n");
            print_rows(out, row->table, (const char *)object + row->offset, scenario, indent + 2, 0);
        } else if (row->type == VY_TYPE_LIST) {
            print_list(out, row, object, scenario, indent);
        } else {
            vy_text_puts(out, " ");
            vy_print_value(out, row, object, scenario);
            vy_text_puts(out, "\n");
        }
    }
}

char *vy_scenario_print(const vy_scenario *scenario)
{
    FPU_SCOPE;
    vy_text out = {0};
    const vy_locale locale = vy_locale_enter();
    print_rows(&out, &vy_scenario_table, scenario, scenario, 0, 0);
    vy_locale_leave(locale);
    return vy_text_take(&out);
}

// Whether an option is not used: then it is not in the hash, and scenarios from before it keep theirs.
static int is_unused(const vy_schema_row *row, const char *object)
{
    double first_number;
    memcpy(&first_number, object + row->table->rows[0].offset, sizeof first_number);
    return first_number == 0.0;
}

static int is_zero(const char *field, size_t count)
{
    double value;
    for (size_t i = 0; i < count; ++i) {
        memcpy(&value, field + i * sizeof value, sizeof value);
        if (value != 0.0) return 0;
    }
    return 1;
}

// Bytes to hash: the key of each row, then its value in 8-byte words.
static void collect_hash_bytes(vy_text *out, const vy_schema_table *table, const void *object)
{
    for (int i = 0; i < table->row_count; ++i) {
        const vy_schema_row *row = &table->rows[i];
        if ((row->flags & VY_ROW_UNHASHED) || !vy_row_applies(table, row, object)) continue;
        const char *field = (const char *)object + row->offset;
        int number, count;
        if ((row->flags & VY_ROW_HASHED_IF_SET) && row->type == VY_TYPE_LIST) {
            (void)vy_list_elements(row, object, &count);
            if (count == 0) continue;
        } else if ((row->flags & VY_ROW_HASHED_IF_SET) && row->type == VY_TYPE_CHOICE) {
            memcpy(&number, field, sizeof number);
            if (number == 0) continue;
        } else if ((row->flags & VY_ROW_HASHED_IF_SET) && row->type == VY_TYPE_VECTOR) {
            if (is_zero(field, row->size)) continue;
        } else if ((row->flags & VY_ROW_HASHED_IF_SET) && row->type == VY_TYPE_NUMBER) {
            if (is_zero(field, 1)) continue;
        } else if ((row->flags & VY_ROW_HASHED_IF_SET) && is_unused(row, field)) {
            continue;
        }
        int64_t integer;
        const char *elements;
        vy_text_add(out, row->key, strlen(row->key) + 1);
        switch (row->type) {
        case VY_TYPE_NUMBER:
        case VY_TYPE_INTEGER: vy_text_add(out, field, 8); break;
        case VY_TYPE_VECTOR: vy_text_add(out, field, 8 * (size_t)vy_row_number_count(row, object)); break;
        case VY_TYPE_ROTATION: vy_text_add(out, field, sizeof(vy_quat)); break;
        case VY_TYPE_INERTIA: vy_text_add(out, field, sizeof(vy_mat3)); break;
        case VY_TYPE_TEXT: vy_text_add(out, field, strlen(field) + 1); break;
        case VY_TYPE_COUNT:
        case VY_TYPE_CHOICE:
        case VY_TYPE_DRONE:
        case VY_TYPE_JOINT:
            memcpy(&number, field, sizeof number);
            integer = number;
            vy_text_add(out, &integer, sizeof integer);
            break;
        case VY_TYPE_NAMED:
            elements = vy_list_elements(row, object, &count);
            for (int k = 0; k < count; ++k)
                vy_parameter_hash_bytes(out, (const vy_parameter *)(const void *)elements + k);
            vy_text_add(out, "", 1);
            break;
        case VY_TYPE_TABLE: {
            vy_numbers n;
            memcpy(&n, field, sizeof n);
            const int64_t dimensions[2] = {n.rows, n.columns};
            vy_text_add(out, (const char *)dimensions, sizeof dimensions);
            vy_text_add(out, (const char *)n.values, (size_t)n.rows * (size_t)n.columns * sizeof *n.values);
            break;
        }
        case VY_TYPE_OBJECT: collect_hash_bytes(out, row->table, field); break;
        case VY_TYPE_LIST:
            elements = vy_list_elements(row, object, &count);
            integer = count;
            vy_text_add(out, &integer, sizeof integer);
            for (int k = 0; k < count; ++k)
                collect_hash_bytes(out, row->table, elements + (size_t)k * row->table->size);
            break;
        }
    }
}

uint64_t vy_scenario_hash(const vy_scenario *scenario)
{
    vy_text bytes = {0};
    collect_hash_bytes(&bytes, &vy_scenario_table, scenario);
    if (scenario->wind_grid != NULL) { // the field itself, not the name of its file
        const wind_grid *grid = &scenario->wind_grid->field;
        const double grid_header[] = {grid->nx, grid->ny, grid->nz, grid->nt, grid->x0, grid->y0,
                                      grid->z0, grid->t0, grid->dx, grid->dy, grid->dz, grid->dt};
        const size_t value_count =
            (size_t)grid->nx * (size_t)grid->ny * (size_t)grid->nz * (size_t)grid->nt * 3;
        vy_text_add(&bytes, (const char *)grid_header, sizeof grid_header);
        vy_text_add(&bytes, (const char *)grid->velocity, value_count * sizeof(double));
    }
    const uint64_t hash = bytes.failed ? 0 : vy_hash64(bytes.data, bytes.size);
    free(bytes.data);
    return hash;
}
