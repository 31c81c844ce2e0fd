// test_solids.c - shapes of a scenario: files they come from, mistakes in them, copies that stand alone.
#include "scenario/text.h"
#include "scenario_text.h"
#include "volery/world.h"
#include <stdlib.h>

// A loader of a few texts.
static vy_status load_texts(void *self, const char *name, const char *from, vy_source_text *out)
{
    (void)self;
    (void)from;
    const char *text = NULL;
    if (strcmp(name, "hill.csv") == 0) text = "0, 0, 0\r\n0, 50 cm, 0\n\n0, 0, 1\n";
    if (strcmp(name, "ragged.csv") == 0) text = "0, 0, 0\n1, 2\n";
    if (strcmp(name, "word.csv") == 0) text = "0, 0\n0, high\n";
    if (strcmp(name, "empty.csv") == 0) text = "\n \n";
    if (strcmp(name, "cone.obj") == 0)
        text = "v 0 0 0\nv 100 0 0\nv 0 100 0\nv 0 0 200\nv 10 10 10\nf 1 2 3\nf 1 2 4\nf 2 3 5\n";
    if (strcmp(name, "flat.obj") == 0) text = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3\nf 2 3 4\n";
    if (strcmp(name, "torn.stl") == 0) text = "solid x\nfacet normal 0 0\n";
    if (text == NULL) return VY_NOT_FOUND;
    *out = (vy_source_text){vy_text_copy(name, strlen(name)), vy_text_copy(text, strlen(text)), strlen(text)};
    return VY_OK;
}

static const vy_scenario_options with_files = {.load = load_texts};

static void expect_said(const char *rest, const char *sentence)
{
    char text[600], *said;
    snprintf(text, sizeof text, "volery: 1\ndrones: [{}]\n%s\n", rest);
    vy_scenario *s = read_with(text, &with_files, &said);
    if (strstr(said, sentence) == NULL) print_error("%s\nwanted: %s\n", said, sentence);
    assert_null(s);
    assert_non_null(strstr(said, sentence));
    free(said);
}

static vy_scenario *read_files(const char *text)
{
    char *said;
    vy_scenario *s = read_with(text, &with_files, &said);
    if (s == NULL) print_error("%s", said);
    assert_non_null(s);
    free(said);
    return s;
}

static const char two_files[] =
    "volery: 1\ndrones: [{}]\n"
    "terrain: {kind: heights, spacing: 2, position: [-2, -2, -1], file: hill.csv}\n"
    "obstacles: [{kind: hull, file: cone.obj, scale: 1 cm, position: [5, 0, 0]}]\n"
    "bodies: [{mass: 1, inertia: [1, 1, 1], shape: {kind: hull, points: [[0, 0, 0], [1, 0, 0], [0, 1, 0], "
    "[0, 0, 1]]}}]\n";

// Files are read once: what comes out has their numbers, prints without their names, and reads back the same.
static void files_become_numbers(void **unused)
{
    (void)unused;
    vy_scenario *s = read_files(two_files);
    assert_int_equal(s->terrain.solid.heights.rows, 3);
    assert_int_equal(s->terrain.solid.heights.columns, 3);
    assert_near(s->terrain.solid.heights.values[4], 0.5, 0.0);
    assert_int_equal(s->obstacles[0].def.solid.points.rows, 4); // the fifth lies inside
    assert_near(s->obstacles[0].def.solid.points.values[3 * 3 + 2], 2.0, 1e-15);
    char *printed = vy_scenario_print(s);
    assert_null(strstr(printed, "hill.csv"));
    vy_scenario *again = read_good(printed);
    assert_true(vy_scenario_hash(s) == vy_scenario_hash(again));
    // A copy outlives what it was made from, and so does a world.
    vy_scenario *copy = NULL;
    assert_int_equal(vy_scenario_copy(again, &copy, NULL), VY_OK);
    assert_true(vy_scenario_hash(s) == vy_scenario_hash(copy));
    vy_world *world = NULL;
    assert_int_equal(vy_scenario_build(again, &world, NULL), VY_OK);
    vy_scenario_destroy(again);
    vy_scenario_destroy(s);
    vy_scenario_destroy(copy);
    free(printed);
    vy_ray_target t;
    const vy_vec3 down = {0, 0, -1};
    assert_int_equal(vy_world_cast_ray(world, (vy_vec3){0, 0, 5}, down, 10, VY_ALL_BODIES, &t), 1);
    assert_near(t.distance, 5.5, 1e-12); // the hill of 0.5 m on ground at -1 m
    assert_int_equal(t.obstacle, 1);
    assert_int_equal(vy_world_cast_ray(world, (vy_vec3){5.1, 0.1, 5}, down, 10, VY_ALL_BODIES, &t), 1);
    assert_near(t.point.z, 2.0 - 2.0 * 0.2, 1e-12); // the cone's slope
    assert_int_equal(t.obstacle, 0);
    vy_world_destroy(world);
}

// A drone dropped onto the hill rolls off it and ends on its flank or beside it, never below the ground.
static void heights_carry_drones(void **unused)
{
    (void)unused;
    vy_scenario *s =
        read_files("volery: 1\n"
                   "drones: [{start: {position: [0.1, 0, 0.2], rotor_speed: 0}, controller: {kind: none}}]\n"
                   "terrain: {kind: heights, spacing: 2, position: [-2, -2, -1], file: hill.csv, "
                   "material: {friction: 0.1}}\n");
    vy_world *world = NULL;
    assert_int_equal(vy_scenario_build(s, &world, NULL), VY_OK);
    vy_drone_state d;
    for (int n = 0; n < 1200; ++n) {
        (void)vy_world_step(world);
        assert_int_equal(vy_world_read_drone(world, vy_world_drone(world, 0), &d), VY_OK);
        // East of the top: the triangles south and north of the line y = 0, from their corners.
        const vy_vec3 p = d.position;
        const double ground = -0.5 - 0.25 * p.x + (p.y < 0.0 ? 0.25 * p.y : 0.5 * p.y);
        if (p.x > 0.0 && p.x < 1.9 && p.x - p.y < 1.9 && p.y < p.x) assert_true(p.z > ground);
    }
    assert_true(d.contacts > 0);
    assert_true(d.position.x > 0.15); // it slides down
    vy_world_destroy(world);
    vy_scenario_destroy(s);
}

static void mistakes_have_their_place(void **unused)
{
    (void)unused;
    expect_said("terrain: {kind: heights, spacing: 1, file: ragged.csv}",
                "s.yaml:3:44: file: ragged.csv:2:1: a line has another number of heights than the first");
    expect_said("terrain: {kind: heights, spacing: 1, file: word.csv}",
                "file: word.csv:2:4: expected a height in m");
    expect_said("terrain: {kind: heights, spacing: 1, file: empty.csv}", "file: empty.csv:1:1: no heights");
    expect_said("terrain: {kind: heights, spacing: 1, file: none.csv}", "file: none.csv cannot be read");
    expect_said("terrain: {kind: heights, spacing: 1}", "heights need at least 2 rows and 2 columns");
    expect_said("terrain: {kind: heights, spacing: 1, heights: [[1, 2], [3]]}",
                "s.yaml:3:56: heights: expected a row of 2 numbers");
    expect_said("terrain: {kind: heights, spacing: 1, heights: 3}",
                "heights: expected a list of rows of numbers, got \"3\"");
    expect_said("terrain: {kind: heights, spacing: 1, heights: [[1, 2], [3, x]]}",
                "heights: expected a number in m (or mm, cm, km), got \"x\"");
    expect_said("terrain: {kind: heights, spacing: 1, heights: [[1, 2], [3, 4]], file: hill.csv}",
                "give heights or file, not both");
    expect_said("terrain: {kind: plane, spacing: 1}", "spacing does not apply to kind plane");
    expect_said("obstacles: [{kind: hull, file: flat.obj}]", "file: flat.obj: ");
    expect_said("obstacles: [{kind: hull, file: torn.stl}]", "file: torn.stl:2:");
    expect_said("obstacles: [{kind: hull}]", "a hull needs 4 to 100000 points of 3 numbers");
    expect_said("obstacles: [{kind: hull, points: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]}]",
                "s.yaml:3:20: ");
    expect_said("obstacles: [{kind: hull, points: [[0, 0], [1, 0]]}]", "points: expected a row of 3 numbers");
    expect_said("obstacles: [{kind: box}]", "size is missing");
    expect_said("obstacles: [{kind: box, size: [1, 0, 1]}]", "size must be between 1e-09 and 1e+12 m, got 0");
    expect_said("obstacles: [{kind: bix, size: [1, 1, 1]}]", "kind cannot be \"bix\"; did you mean box?");
    expect_said("obstacles: [{kind: sphere, radius: 1, material: {restitution: 1.5}}]",
                "restitution must be between 0 and 1, got 1.5");
    expect_said("obstacles: [{name: a, kind: plane}, {name: a, kind: plane}]", "two obstacles are called a");
    expect_said("contacts: {mode: maybe}", "mode cannot be \"maybe\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_become_numbers),
        cmocka_unit_test(heights_carry_drones),
        cmocka_unit_test(mistakes_have_their_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
