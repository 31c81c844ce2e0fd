// test_limits.c - every number of a scenario has two bounds: outside of them it is refused, at them a flight
// stays finite or ends with a reason. Definitions in C have the same bounds.
#define _POSIX_C_SOURCE 200809L // opendir
#include "base/limits.h"
#include "scenario/number.h"
#include "scenario/schema_rows.h"
#include "scenario_text.h"
#include <dirent.h>
#include <math.h>

static int is_number(const vy_schema_row *row)
{
    return row->type == VY_TYPE_NUMBER || row->type == VY_TYPE_VECTOR || row->type == VY_TYPE_ROTATION ||
           row->type == VY_TYPE_INERTIA || row->type == VY_TYPE_TABLE;
}

// --- bounds

static int check_bounds(const vy_schema_table *table)
{
    int count = 0;
    for (int i = 0; i < table->row_count; ++i) {
        const vy_schema_row *row = &table->rows[i];
        if (row->table != NULL) count += check_bounds(row->table);
        if (!is_number(row) && row->type != VY_TYPE_COUNT) continue;
        const vy_range range = vy_row_range(row, row->unit);
        if (!(fabs(range.min) <= 1e24 && fabs(range.max) <= 1e24)) print_error("%s\n", row->key);
        assert_true(fabs(range.min) <= 1e24 && fabs(range.max) <= 1e24); // the cube of it is finite
        assert_true(range.min <= range.max);
        ++count;
    }
    return count;
}

static void every_number_has_two_bounds(void **unused)
{
    (void)unused;
    assert_true(check_bounds(&vy_scenario_table) + check_bounds(&vy_angles_table) > 300);
}

// --- the numbers of a scenario

typedef struct cell {
    const vy_schema_row *row;
    char *value; // of a double
    vy_range range;
    const char *unit;
} cell;

typedef struct cells {
    cell items[4096];
    int count;
} cells;

// Every number, and the first of a vector or table.
static void collect(const vy_schema_table *table, char *object, cells *out)
{
    for (int i = 0; i < table->row_count; ++i) {
        const vy_schema_row *row = &table->rows[i];
        if (!vy_row_applies(table, row, object)) continue;
        char *field = object + row->offset;
        if (row->type == VY_TYPE_OBJECT) collect(row->table, field, out);
        if (row->type == VY_TYPE_LIST) {
            int count;
            const void *elements = vy_list_elements(row, object, &count);
            char *at;
            memcpy(&at, &elements, sizeof at);
            for (int k = 0; k < count; ++k) collect(row->table, at + (size_t)k * row->table->size, out);
        }
        if (!is_number(row)) continue;
        const char *unit = row->type == VY_TYPE_ROTATION ? "" : vy_row_unit(row, object);
        if (row->type == VY_TYPE_TABLE) {
            vy_numbers n;
            memcpy(&n, field, sizeof n);
            if (n.rows * n.columns == 0) continue;
            field = (char *)n.values;
        }
        assert_true(out->count < (int)(sizeof out->items / sizeof out->items[0]));
        out->items[out->count++] = (cell){row, field, vy_row_range(row, unit), unit};
    }
}

static double get(const cell *c)
{
    double value;
    memcpy(&value, c->value, sizeof value);
    return value;
}

static void set(const cell *c, double value) { memcpy(c->value, &value, sizeof value); }

static vy_scenario *read_back(const vy_scenario *s, char **said)
{
    char *text = vy_scenario_print(s);
    assert_non_null(text);
    vy_scenario *again = read_with(text, NULL, said);
    free(text);
    return again;
}

// The sentence names key, range and value, at a line and column.
static void refuse(vy_scenario *s, const cell *c, double value)
{
    const double kept = get(c);
    set(c, value);
    char *said;
    const char *key = c->row->key;
    vy_scenario *again = read_back(s, &said);
    vy_text sentence = {0};
    vy_text_printf(&sentence, ": %s must be %s%g", key, c->range.exclusive_min ? "above " : "between ",
                   c->range.min);
    vy_text_printf(&sentence, " and %s%g", c->range.exclusive_min ? "at most " : "", c->range.max);
    if (c->range.min == c->range.max) print_error("%s\n", key);
    const int shown = *c->unit != '\0' && *c->unit != '1';
    vy_text_printf(&sentence, "%s%s, got ", shown ? " " : "", shown ? c->unit : "");
    vy_number_print(&sentence, value);
    char *wanted = vy_text_take(&sentence);
    const char *at = strstr(said, wanted);
    int line = 0, column = 0;
    if (at == NULL || again != NULL) print_error("wanted %s\ngot    %s\n", wanted, said);
    assert_non_null(at);
    assert_null(again);
    assert_int_equal(sscanf(said, "s.yaml:%d:%d: ", &line, &column), 2);
    assert_true(line > 0 && column > 0);
    free(wanted);
    free(said);
    set(c, kept);
}

static void values_just_outside_are_refused(void **unused)
{
    (void)unused;
    static cells list;
    vy_scenario *s = read_good(everything());
    list.count = 0;
    collect(&vy_scenario_table, (char *)s, &list);
    assert_true(list.count > 300);
    for (int i = 0; i < list.count; ++i) {
        const cell *c = &list.items[i];
        int again = 0; // the same row of another drone
        for (int k = 0; k < i && !again; ++k)
            again = list.items[k].row == c->row && strcmp(list.items[k].unit, c->unit) == 0;
        if (again) continue;
        refuse(s, c, nextafter(c->range.max, (double)INFINITY));
        // Text that says "none" stands for some values below.
        const double below =
            c->range.exclusive_min ? c->range.min : nextafter(c->range.min, -(double)INFINITY);
        if (c->row->keyword == NULL || c->row->keyword_value != below) refuse(s, c, below);
    }
    vy_scenario_destroy(s);
}

// --- flights at the bounds

enum { SCENARIO_CAP = 64 };

static int load_scenarios(vy_scenario **out)
{
    DIR *dir = opendir("scenarios");
    assert_non_null(dir);
    int count = 0;
    for (const struct dirent *e; (e = readdir(dir)) != NULL;) {
        char path[300];
        const char *dot = strrchr(e->d_name, '.');
        if (dot == NULL || strcmp(dot, ".yaml") != 0) continue;
        snprintf(path, sizeof path, "scenarios/%s", e->d_name);
        assert_true(count < SCENARIO_CAP);
        assert_int_equal(vy_scenario_load(path, NULL, &out[count], NULL), VY_OK);
        if (out[count]->drone_count <= 4) // a swarm has the same numbers many times
            ++count;
        else
            vy_scenario_destroy(out[count]);
    }
    closedir(dir);
    return count;
}

// What a person is told of a flight: lengths, so squares must be finite too.
static int is_sound(const vy_world *world)
{
    for (uint32_t i = 0; i < vy_world_drone_count(world); ++i) {
        vy_drone_state s;
        if (vy_world_read_drone(world, vy_world_drone(world, i), &s) != VY_OK) return 0;
        const vy_vec3 all[] = {s.position, s.velocity, s.rate};
        for (int k = 0; k < 3; ++k)
            if (!isfinite(all[k].x * all[k].x + all[k].y * all[k].y + all[k].z * all[k].z)) return 0;
    }
    return 1;
}

// @return 1 when it flew to its end
static int fly(const vy_scenario *s, const char *what)
{
    vy_world *world = NULL;
    vy_error err;
    if (vy_scenario_build(s, &world, &err) != VY_OK) return 0;
    uint32_t events = 0;
    for (int k = 0; k < 30 && !(events & VY_EVENT_FAILED); ++k) events |= vy_world_step(world);
    const int failed = vy_world_failure(world).reason != VY_FAILURE_NONE;
    assert_int_equal(failed, (events & VY_EVENT_FAILED) != 0);
    if (!failed && !is_sound(world)) print_error("%s: not finite, and no reason given\n", what);
    assert_true(failed || is_sound(world));
    vy_world_destroy(world);
    return !failed;
}

static void flights_at_the_bounds_are_finite_or_end(void **unused)
{
    (void)unused;
    static cells list;
    vy_scenario *scenarios[SCENARIO_CAP];
    const int count = load_scenarios(scenarios);
    int refused = 0, ended = 0, flown = 0;
    random_source random = {7};
    for (int i = 0; i < 1500 / LAW_SLICE; ++i) {
        vy_scenario *s = scenarios[random_bits(&random) % (unsigned)count];
        list.count = 0;
        collect(&vy_scenario_table, (char *)s, &list);
        double kept[3];
        const cell *changed[3];
        char what[400] = "";
        const int changes = 1 + (int)(random_bits(&random) % 3);
        for (int k = 0; k < changes; ++k) {
            const cell *c = changed[k] = &list.items[random_bits(&random) % (unsigned)list.count];
            kept[k] = get(c);
            const uint64_t choice = random_bits(&random);
            set(c, choice % 2 ? c->range.max : c->range.exclusive_min ? c->range.max / 2.0 : c->range.min);
            const size_t used = strlen(what);
            snprintf(what + used, sizeof what - used, "%s %s=%g", k == 0 ? s->name : "", c->row->key, get(c));
        }
        char *said;
        vy_scenario *again = read_back(s, &said);
        if (again == NULL)
            ++refused;
        else
            ++*(fly(again, what) ? &flown : &ended);
        if (again == NULL) assert_true(*said != '\0');
        vy_scenario_destroy(again);
        free(said);
        for (int k = changes; k-- > 0;) set(changed[k], kept[k]);
    }
    assert_true(refused > 100 / LAW_SLICE && ended > 30 / LAW_SLICE && flown > 300 / LAW_SLICE);
    for (int i = 0; i < count; ++i) vy_scenario_destroy(scenarios[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number_has_two_bounds),
        cmocka_unit_test(values_just_outside_are_refused),
        cmocka_unit_test(flights_at_the_bounds_are_finite_or_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
