// options.c - the options that the rows of the schema have, by number, and which pairs of them were flown.
#include "pairs.h"
#include "sensors/sensors.h"
#include <stdlib.h>
#include <string.h>

static char *names[OPTION_CAP];
static int count;
static int slots[4 * OPTION_CAP]; // by hash: a number and 1, or 0

const char *option_name(int option) { return names[option]; }
int option_count(void) { return count; }

int option_number(const char *name)
{
    uint64_t hash = 14695981039346656037u;
    for (const char *c = name; *c != '\0'; ++c) hash = (hash ^ (uint64_t)*c) * 1099511628211u;
    size_t at = (size_t)(hash >> 32) % (4 * OPTION_CAP);
    for (; slots[at] != 0; at = (at + 1) % (4 * OPTION_CAP)) {
        if (strcmp(names[slots[at] - 1], name) == 0) return slots[at] - 1;
    }
    assert_true(count < OPTION_CAP);
    names[count] = strdup(name);
    slots[at] = count + 1;
    return count++;
}

void pair_add(pair_set *set, int a, int b)
{
    set->bits[a][b / 64] |= (uint64_t)1 << b % 64;
    set->bits[b][a / 64] |= (uint64_t)1 << a % 64;
}

int pair_has(const pair_set *set, int a, int b) { return (int)(set->bits[a][b / 64] >> b % 64 & 1); }

static const char *any_base(int number)
{
    for (int i = 0; vy_vehicle_preset_name(i) != NULL; ++i) {
        if (number-- == 0) return vy_vehicle_preset_name(i);
    }
    for (int i = 0; i < SENSOR_KINDS; ++i) {
        const sensor_type *type = vy_sensors[i].type;
        if (number < type->part_count) return vy_sensor_part_name(type, number);
        number -= type->part_count;
    }
    return NULL;
}

enum { BASE_CAP = 24, BASED_CAP = 20 };
static struct {
    const vy_schema_table *table;
    const char *names[BASE_CAP];
} based[BASED_CAP]; // found once

const char *base_name(const vy_schema_table *table, int number)
{
    int at = 0, found = 0;
    while (at < BASED_CAP && based[at].table != NULL && based[at].table != table) ++at;
    assert_true(at < BASED_CAP && number < BASE_CAP);
    if (based[at].table == table) return based[at].names[number];
    void *scratch = malloc(table->size);
    based[at].table = table;
    for (int i = 0; table->preset != NULL && any_base(i) != NULL; ++i) {
        if (table->preset(any_base(i), scratch, NULL) != VY_OK) continue;
        assert_true(found < BASE_CAP - 1);
        based[at].names[found++] = any_base(i);
    }
    free(scratch);
    return based[at].names[number];
}

static void number_option(const char *path, const char *value)
{
    char name[240];
    snprintf(name, sizeof name, "%s=%s", path, value);
    option_number(name);
}

const char *const start_place_names[START_PLACES] = {"air", "ground", "obstacle", "others"};

// The first number of a table, where a word may stand for it, turns its object on and off; and these do.
const char *off_value(const vy_schema_table *table, const vy_schema_row *row)
{
    static const char *const more[] = {"motor_max", "motor_stiffness", "break_force", "break_torque"};
    int is_switch = row == &table->rows[0] && row->keyword != NULL;
    if (row->type != VY_TYPE_NUMBER) return NULL;
    for (size_t i = 0; i < sizeof more / sizeof *more; ++i) is_switch |= strcmp(more[i], row->key) == 0;
    if (!is_switch) return NULL;
    return row->keyword != NULL ? row->keyword : "0";
}

static void options_of(const vy_schema_table *table, const char *prefix)
{
    for (int i = 0; i < table->row_count; ++i) {
        const vy_schema_row *row = &table->rows[i];
        char path[200];
        snprintf(path, sizeof path, "%s%s%s", prefix, *prefix == '\0' ? "" : ".", row->key);
        if (row->type == VY_TYPE_CHOICE) {
            for (int k = 0; k < row->choice_count; ++k) number_option(path, row->choices[k].name);
        } else if (row->type == VY_TYPE_LIST) {
            number_option(path, "1");
            number_option(path, strcmp(path, "drones") == 0 ? "3" : "several");
            if (strcmp(path, "drones") == 0) number_option(path, "20");
            strcat(path, "[]");
        } else if (row->type == VY_TYPE_OBJECT && row->flags & VY_ROW_FILE) {
            for (int k = 0; base_name(row->table, k) != NULL; ++k)
                number_option(path, base_name(row->table, k));
            number_option(path, "own");
        } else if (off_value(table, row) != NULL) {
            number_option(path, off_value(table, row));
            number_option(path, "number");
        } else if (strcmp(path, "drones[].start.position") == 0) {
            for (int k = 0; k < START_PLACES; ++k) number_option(path, start_place_names[k]);
        }
        if (row->table != NULL) options_of(row->table, path);
    }
}

void options_of_schema(void) { options_of(&vy_scenario_table, ""); }

static int collect(const node *n, int *out, int found)
{
    int index = 0;
    for (const node *c = n->first; c != NULL; c = c->next, ++index) {
        if (strcmp(n->key, "drones") == 0 && index > 0) break;
        int known = c->option < 0;
        for (int i = 0; i < found; ++i) known |= out[i] == c->option;
        if (!known) out[found++] = c->option;
        found = collect(c, out, found);
    }
    return found;
}

int options_in(const node *tree, int *out) { return collect(tree, out, 0); }
