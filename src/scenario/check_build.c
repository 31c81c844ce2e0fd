// check_build.c - what a world refuses when it is built: all of it, each at its place.
#include "scenario/build.h"
#include "scenario/check.h"
#include "control/control.h"
#include "control/trajectory.h"
#include "sensors/sensors.h"
#include "world/sensor_suite.h"
#include "world/world_def.h"
#include <stdlib.h>
#include <string.h>

#define IS_VALID(r, variable) vy_reader_is_valid(r, &(variable), sizeof(variable))

// --- what a sentence is about

// The row of a table, or of a group of keys in it, that `text` begins with the key of; NULL: none.
static const vy_schema_row *row_of_message(const vy_schema_table *table, const char *text)
{
    const size_t size = strspn(text, "abcdefghijklmnopqrstuvwxyz_");
    const vy_schema_row *match = NULL;
    for (int i = 0; i < table->row_count && match == NULL; ++i) {
        const vy_schema_row *row = &table->rows[i];
        const int is_group = row->table != NULL && row->table->size == 0;
        if (strlen(row->key) == size && strncmp(row->key, text, size) == 0)
            match = row;
        else if (is_group)
            match = row_of_message(row->table, text);
    }
    return match;
}

const void *vy_field_of_message(const vy_schema_table *table, const void *object, const void *fallback,
                                const char *sentence)
{
    const char *field = object, *rest = sentence;
    const void *match = fallback;
    if (row_of_message(table, rest) == NULL) { // its first word is what the object is called
        rest += strcspn(rest, ".: ");
        if (*rest != '.') return match;
        ++rest;
    }
    while (table != NULL) {
        const vy_schema_row *row = row_of_message(table, rest);
        if (row == NULL) break;
        rest += strlen(row->key);
        field += row->offset;
        table = row->table;
        if (*rest == '[' && table != NULL) {
            field += (size_t)strtol(rest + 1, NULL, 10) * table->size;
            rest += strcspn(rest, "]") + 1;
        }
        match = field;
        if (*rest++ != '.') break;
    }
    return match;
}

// --- what a world refuses

// The parts of a drone that a world would refuse one after the other.
static void check_parts(vy_reader *r, const vy_scenario *s, const vy_scenario_drone *drone)
{
    vy_drone_def def = drone->def;
    const vy_controller_def *c = &drone->def.controller;
    vy_error err;
    vy_round_periods(&def, s->step);
    if (IS_VALID(r, drone->def.safety) && vy_check_safety_def(&def.safety, &err) != VY_OK)
        vy_reader_refuse(r, &drone->def.safety, "%s", err.text);
    if (!IS_VALID(r, *c)) return;
    if (vy_check_path_def(&def.controller.path, &err) != VY_OK)
        vy_reader_refuse(r, &c->path, "%s", err.text);
    else if (IS_VALID(r, drone->def.vehicle) &&
             vy_check_controller_def(&def.controller, &def.vehicle, &err) != VY_OK)
        vy_reader_refuse(r, c, "%s", err.text);
}

typedef struct build_report {
    vy_reader *reader;
    const vy_scenario *scenario;
} build_report;

static int is_valid(void *self, const void *begin, size_t size)
{
    return vy_reader_is_valid(((build_report *)self)->reader, begin, size);
}

// Of a drone or body it is the key that the sentence begins with.
static void refuse(void *self, const void *culprit, const vy_error *err)
{
    const build_report *report = self;
    const vy_scenario *s = report->scenario;
    const vy_schema_table *drones = vy_table_find(&vy_scenario_table, "drones")->table;
    const vy_schema_table *bodies = vy_table_find(&vy_scenario_table, "bodies")->table;
    const void *field = culprit;
    for (int i = 0; i < s->drone_count; ++i) {
        if (culprit == &s->drones[i].def)
            field = vy_field_of_message(drones, &s->drones[i], culprit, err->text);
    }
    for (int i = 0; i < s->body_count; ++i) {
        if (culprit == &s->bodies[i].def)
            field = vy_field_of_message(bodies, &s->bodies[i], culprit, err->text);
    }
    vy_reader_refuse(report->reader, field, "%s", err->text);
}

void vy_check_build(vy_reader *reader, const vy_scenario *s)
{
    if (!IS_VALID(reader, s->step)) return;
    for (int i = 0; i < s->drone_count; ++i) check_parts(reader, s, &s->drones[i]);
    if (!IS_VALID(reader, s->environment) || !IS_VALID(reader, s->contacts) || !IS_VALID(reader, s->closing))
        return;
    const build_check check = {.self = &(build_report){reader, s}, .is_valid = is_valid, .refuse = refuse};
    vy_world *world;
    vy_error err;
    const vy_status status = vy_scenario_build_checked(s, &check, &world, &err);
    if (status == VY_NO_MEMORY) reader->no_memory = 1;
    if (status == VY_OK && reader->report->diagnostics->errors == 0) vy_check_starts(reader, s, world);
    vy_world_destroy(world);
}
