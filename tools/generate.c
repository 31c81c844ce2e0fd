// generate.c - makes the files that follow from others, on standard output:
//   generate reference                   docs/scenario.md, the reference page of scenario files
//   generate schema                      docs/scenario.schema.json, their JSON Schema
//   generate presets vehicles/*.yaml     src/vehicle/presets.inl, the built-in vehicles
#include "scenario/number.h"
#include "scenario/schema.h"
#include <stdio.h>
#include <stdlib.h>

static void print_rows(const vy_schema_table *table, const void *object, int indent);

// The fewest digits that are exact, as a constant of type double.
static void print_number(double value)
{
    vy_text digits = {0};
    vy_number_print(&digits, value);
    char *text = vy_text_take(&digits);
    if (text == NULL) exit(1);
    printf("%s%s", text, strpbrk(text, ".e") == NULL ? ".0" : "");
    free(text);
}

static void print_numbers(const double *values, size_t count)
{
    printf("{");
    for (size_t i = 0; i < count; ++i) {
        printf("%s", i > 0 ? ", " : "");
        print_number(values[i]);
    }
    printf("}");
}

static void print_list(const vy_schema_row *row, const void *object, int indent)
{
    int count;
    const char *elements = vy_list_elements(row, object, &count);
    // rotors -> rotor_count
    printf("%*s.%.*s_count = %d,\n", indent, "", (int)strlen(row->key) - 1, row->key, count);
    if (count == 0) return;
    printf("%*s.%s =\n%*s{\n", indent, "", row->key, indent + 4, "");
    for (int i = 0; i < count; ++i) {
        printf("%*s{\n", indent + 8, "");
        print_rows(row->table, elements + (size_t)i * row->table->size, indent + 12);
        printf("%*s},\n", indent + 8, "");
    }
    printf("%*s},\n", indent + 4, "");
}

// Rows as designated initialisers: the keys of a vehicle are the names of its fields.
static void print_rows(const vy_schema_table *table, const void *object, int indent)
{
    for (int i = 0; i < table->row_count; ++i) {
        const vy_schema_row *row = &table->rows[i];
        const void *field = (const char *)object + row->offset;
        if (row->type == VY_TYPE_LIST) {
            print_list(row, object, indent);
            continue;
        }
        if (row->type == VY_TYPE_OBJECT) {
            printf("%*s.%s =\n%*s{\n", indent, "", row->key, indent + 4, "");
            print_rows(row->table, field, indent + 8);
            printf("%*s},\n", indent + 4, "");
            continue;
        }
        printf("%*s.%s = ", indent, "", row->key);
        switch (row->type) {
        case VY_TYPE_NUMBER: print_number(*(const double *)field); break;
        case VY_TYPE_TEXT: printf("\"%s\"", (const char *)field); break;
        case VY_TYPE_COUNT:
        case VY_TYPE_CHOICE: printf("%d", *(const int *)field); break;
        case VY_TYPE_VECTOR: print_numbers(field, row->size); break;
        case VY_TYPE_INERTIA:
            printf("{{");
            for (size_t k = 0; k < 3; ++k) {
                printf("%s", k > 0 ? ", " : "");
                print_numbers(((const vy_mat3 *)field)->m[k], 3);
            }
            printf("}}");
            break;
        default: fprintf(stderr, "generate: no initialiser for %s\n", row->key); exit(1);
        }
        if (row->type == VY_TYPE_CHOICE)
            printf(", // %s\n", vy_choice_of(row, *(const int *)field)->name);
        else
            printf(",%s%s\n", row->unit != NULL ? " // " : "", row->unit != NULL ? row->unit : "");
    }
}

static int print_preset(const char *path)
{
    char text[512];
    const int size =
        snprintf(text, sizeof text,
                 "{\"volery\": 1, \"drones\": [{\"vehicle\": \"%s\", \"start\": {\"rotor_speed\": 0}, "
                 "\"controller\": {\"kind\": \"none\"}}]}",
                 path);
    const vy_scenario_options options = {.load = vy_load_file};
    vy_scenario *scenario;
    vy_diagnostics diagnostics;
    const vy_status status =
        vy_scenario_parse(text, (size_t)size, "generate", &options, &scenario, &diagnostics);
    if (status == VY_OK) {
        printf("{\n    .cookie = VEHICLE_COOKIE,\n");
        print_rows(&vy_vehicle_table, &scenario->drones[0].def.vehicle, 4);
        printf("},\n");
    } else {
        char *sentences = vy_diagnostics_print(&diagnostics);
        fputs(sentences != NULL ? sentences : "generate: memory is out\n", stderr);
        free(sentences);
    }
    vy_diagnostics_destroy(&diagnostics);
    vy_scenario_destroy(scenario);
    return status == VY_OK ? 0 : 1;
}

static int print_text(char *text)
{
    if (text == NULL) return 1;
    fputs(text, stdout);
    free(text);
    return 0;
}

int main(int argc, char **argv)
{
    const char *output_kind = argc > 1 ? argv[1] : "";
    if (strcmp(output_kind, "reference") == 0) return print_text(vy_scenario_print_reference());
    if (strcmp(output_kind, "schema") == 0) return print_text(vy_scenario_print_schema());
    if (strcmp(output_kind, "presets") != 0) {
        fputs("usage: generate reference | schema | presets FILE...\n", stderr);
        return 2;
    }
    printf("// presets.inl - the built-in vehicles. Made from vehicles/*.yaml by tools/generate.c: change "
           "those.\n"
           "// clang-format off\n");
    for (int i = 2; i < argc; ++i) {
        if (print_preset(argv[i]) != 0) return 1;
    }
    return 0;
}
