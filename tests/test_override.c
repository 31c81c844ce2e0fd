// test_override.c - --set: every path of the schema takes a value or is refused with a sentence.
#include "scenario/schema.h"
#include "scenario_text.h"

enum { PLUGIN_PATH_CAP = 400 };

// What is written behind the = of every path: good for some, wrong for most.
static const char *const values[] = {
    "0",
    "1",
    "0.002",
    "-1",
    "1e308",
    "-1e999",
    "nan",
    "18446744073709551616",
    "5 kg",
    "3 deg",
    "",
    "none",
    "all",
    "on",
    "crazyflie2x",
    "no-such.yaml",
    "[]",
    "[0]",
    "[1, 2, 3]",
    "[[1, 2], [3]]",
    "{}",
    "{kind: plugin}",
    "{base: crazyflie2x}",
    "*a",
    "&a 1",
    "[1, 2",
    "\"",
    "- 1",
    "{a: {b: {c: 1}}}",
};
// And behind the path itself.
static const char *const tails[] = {"",  "[0]", "[9]",          "[-1]",  "[18446744073709551616]",
                                    "[", ".",   ".no.such.key", ".base", ".kind"};

// Texts that are changed: one that leaves everything to its default, one that says everything.
static const char *const minimal = "volery: 1\ndrones: [{}]\n";

static size_t paths, taken;

static void set(const char *text, const char *path, const char *tail, const char *value)
{
    char override[PLUGIN_PATH_CAP + 64], *said;
    snprintf(override, sizeof override, "%s%s=%s", path, tail, value);
    const char *const overrides[] = {override};
    const vy_scenario_options options = {.overrides = overrides, .override_count = 1};
    vy_scenario *s = read_with(text, &options, &said);
    if (s == NULL && *said == '\0') fail_msg("%s is refused without a word", override);
    if (s != NULL) {
        char *print = vy_scenario_print(s);
        assert_non_null(print);
        free(print);
        ++taken;
    }
    free(said);
    vy_scenario_destroy(s);
}

static void try_path(const char *path)
{
    ++paths;
    for (size_t v = 0; v < sizeof values / sizeof *values; ++v) set(minimal, path, "", values[v]);
    for (size_t i = 1; i < sizeof tails / sizeof *tails; ++i) set(minimal, path, tails[i], "1");
    // Reading everything takes its time: a value in turn for each path, and a tail.
    for (size_t k = 0; k < 4; ++k) {
        set(everything(), path, "", values[(paths + 7 * k) % (sizeof values / sizeof *values)]);
        set(everything(), path, tails[(paths + 3 * k) % (sizeof tails / sizeof *tails)], "1");
    }
}

static void walk(const vy_schema_table *table, const char *prefix)
{
    for (int i = 0; i < table->row_count; ++i) {
        const vy_schema_row *row = &table->rows[i];
        char path[PLUGIN_PATH_CAP];
        const int size = snprintf(path, sizeof path, "%s%s%s", prefix, *prefix != '\0' ? "." : "", row->key);
        assert_in_range(size, 1, PLUGIN_PATH_CAP - 8);
        try_path(path);
        if (row->type == VY_TYPE_LIST) {
            strcat(path, "[0]");
            try_path(path);
        }
        if (row->table != NULL) walk(row->table, path);
    }
}

static void every_path_takes_a_value_or_a_sentence(void **unused)
{
    (void)unused;
    walk(&vy_scenario_table, "");
    assert_true(paths > 500);
    assert_true(taken > paths); // it is not all refused
}

// A value below something that is not there yet: the others are those it has by default.
static void a_value_of_a_sensor_that_is_not_written_down(void **unused)
{
    (void)unused;
    char *said;
    const char *const overrides[] = {"drones[0].sensors.imu.accel_noise=0.002"};
    const vy_scenario_options options = {.overrides = overrides, .override_count = 1};
    vy_scenario *changed = read_with(minimal, &options, &said), *plain = read_good(minimal);
    assert_string_equal(said, "");
    assert_true(changed->drones[0].def.imu.accel_noise == 0.002);
    assert_true(changed->drones[0].def.imu.period == plain->drones[0].def.imu.period);
    assert_true(changed->drones[0].def.imu.gyro_noise == plain->drones[0].def.imu.gyro_noise);
    free(said);
    vy_scenario_destroy(plain);
    vy_scenario_destroy(changed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_of_a_sensor_that_is_not_written_down),
        cmocka_unit_test(every_path_takes_a_value_or_a_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
