// cmd_list.c - volery list: lists the names that a scenario or the command line can use.
#include "bench/bench.h"
#include "command.h"
#include "json.h"
#include "message.h"
#include "scenario/schema.h"
#include "sensors/sensors.h"
#include "shipped.h"
#include <stdlib.h>
#include <string.h>

// Where the items go: lines of text, or a list in an object.
typedef struct listing {
    json *json; // NULL: text
} listing;

static void put_item(void *self, const char *name, const char *summary)
{
    const listing *l = self;
    if (l->json == NULL) {
        printf("  %-24s%s\n", name, summary);
        return;
    }
    vy_json_object(l->json, NULL);
    vy_json_text(l->json, "name", name);
    vy_json_text(l->json, "about", summary);
    vy_json_close(l->json);
}

static const vy_schema_table *drone_table(void) { return vy_table_find(&vy_scenario_table, "drones")->table; }

static void list_vehicles(listing *l)
{
    for (int i = 0; vy_vehicle_preset_name(i) != NULL; ++i) {
        vy_vehicle_def v;
        char summary[80] = "";
        if (vy_vehicle_preset(vy_vehicle_preset_name(i), &v, NULL) == VY_OK)
            snprintf(summary, sizeof summary, "%.4g kg, %d rotors", v.mass, v.rotor_count);
        put_item(l, vy_vehicle_preset_name(i), summary);
    }
}

static void list_parts(listing *l)
{
    for (int i = 0; i < SENSOR_KINDS; ++i) {
        const sensor_type *type = vy_sensors[i].type;
        for (int k = 0; k < type->part_count; ++k) put_item(l, vy_sensor_part_name(type, k), type->name);
    }
}

static void list_scenarios(listing *l) { vy_shipped_for_each(put_item, l); }

static void put_choices(const vy_schema_table *table, listing *l)
{
    const vy_schema_row *row = vy_table_find(table, "kind");
    for (int i = 0; i < row->choice_count; ++i) put_item(l, row->choices[i].name, row->choices[i].help);
}

static void list_controllers(listing *l)
{
    put_choices(vy_table_find(drone_table(), "controller")->table, l);
}

static void list_joints(listing *l) { put_choices(vy_table_find(&vy_scenario_table, "joints")->table, l); }

static void list_faults(listing *l) { put_choices(vy_table_find(&vy_scenario_table, "faults")->table, l); }

static void list_benchmarks(listing *l)
{
    for (int i = 0; i < vy_bench_count; ++i) put_item(l, vy_benches[i].name, vy_benches[i].text);
}

static const struct {
    const char *name, *text;
    void (*list)(listing *l);
} kinds[] = {
    {"vehicles", "drones[].vehicle, or the base of one", list_vehicles},
    {"parts", "sensors as sold: drones[].sensors", list_parts},
    {"scenarios", "volery run NAME", list_scenarios},
    {"controllers", "drones[].controller.kind", list_controllers},
    {"joints", "joints[].kind", list_joints},
    {"faults", "faults[].kind", list_faults},
    {"benchmarks", "volery bench NAME", list_benchmarks},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

COMMAND(list)
{
    const char *kind_name = args->operand_count > 0 ? args->operands[0] : NULL;
    int is_known = kind_name == NULL;
    char names[150] = "";
    for (int i = 0; i < KINDS && !is_known; ++i) {
        is_known = strcmp(kinds[i].name, kind_name) == 0;
        const size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", i == 0 ? "" : ", ", kinds[i].name);
    }
    if (!is_known)
        return vy_print_usage_error(args->command, "there is no list of %s; there are %s", kind_name, names);
    const int as_json = vy_has_option(args, "json");
    json j;
    if (as_json) j = vy_json_begin(stdout);
    listing l = {as_json ? &j : NULL};
    const palette p = vy_palette(stdout);
    for (int i = 0, printed_count = 0; i < KINDS; ++i) {
        if (kind_name != NULL && strcmp(kinds[i].name, kind_name) != 0) continue;
        if (as_json)
            vy_json_list(&j, kinds[i].name);
        else if (kind_name == NULL)
            printf("%s%s%s%s: %s\n", printed_count++ ? "\n" : "", p.bold, kinds[i].name, p.plain,
                   kinds[i].text);
        kinds[i].list(&l);
        if (as_json) vy_json_close(&j);
    }
    if (as_json) vy_json_end(&j);
    return vy_flush_stdout("list", EXIT_DONE);
}
