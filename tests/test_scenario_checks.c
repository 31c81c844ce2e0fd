// test_scenario_checks.c - scenarios: what is said of values that do not go together.
#include "scenario/text.h"
#include "scenario_text.h"

// What is said of a text, without the lines that show where.
static char *sentences_of(const char *text, int *refused)
{
    vy_scenario *scenario = NULL;
    vy_diagnostics told;
    vy_text out = {0};
    *refused = vy_scenario_parse(text, strlen(text), "s.yaml", NULL, &scenario, &told) != VY_OK;
    for (int i = 0; i < told.count; ++i) {
        const vy_diagnostic *d = &told.items[i];
        vy_text_printf(&out, "%d:%d: %s%s\n", d->line, d->column, d->warning ? "warning: " : "", d->text);
    }
    vy_diagnostics_destroy(&told);
    vy_scenario_destroy(scenario);
    return vy_text_take(&out);
}

static void expect_sentences(const char *text, int wanted_refused, const char *wanted)
{
    int refused;
    char *said = sentences_of(text, &refused);
    assert_string_equal(said, wanted);
    assert_int_equal(refused, wanted_refused);
    free(said);
}

// --- contacts

static void a_step_has_a_bounded_number_of_substeps(void **unused)
{
    (void)unused;
    expect_sentences("volery: 1\nstep: 1 ms\ndrones: [{}]\ncontacts: {substep: 1e-7}\n", 1,
                     "4:21: substep must be at least the step over 1024, 9.76563e-07 s, got 1e-07\n");
    expect_sentences("volery: 1\nstep: 1 ms\ndrones: [{}]\ncontacts: {substep: 1e-6}\n", 0, "");
}

// --- starts

static void a_start_below_the_terrain_draws_a_warning(void **unused)
{
    (void)unused;
    expect_sentences("volery: 1\n"
                     "terrain: {kind: plane, position: [0, 0, 2]}\n"
                     "drones:\n"
                     "  - {name: low, start: {position: [0, 0, 1.5]}}\n"
                     "  - {name: high, start: {position: [0, 5, 2.5]}}\n"
                     "  - name: nowhere\n"
                     "bodies: [{name: b, mass: 1, inertia: [1, 1, 1], position: [0, 9, 1]}]\n",
                     0,
                     "4:35: warning: low starts 0.5 m below the ground\n"
                     "6:5: warning: nowhere starts 1 m below the ground\n"
                     "7:59: warning: b starts 1 m below the ground\n");
    // Under a slope of heights, at the same z as one that is over it. Beside the field there is no ground.
    expect_sentences("volery: 1\n"
                     "terrain: {kind: heights, position: [0, 0, 0], spacing: 10, heights: [[0, 5], [0, 5]]}\n"
                     "drones:\n"
                     "  - {name: a, start: {position: [1, 1, 2]}}\n"
                     "  - {name: b, start: {position: [8, 1, 2]}}\n"
                     "  - {name: c, start: {position: [30, 1, -2]}}\n",
                     0, "5:33: warning: b starts 2 m below the ground\n");
    // No terrain, no ground.
    vy_scenario_destroy(read_good("volery: 1\ndrones: [{start: {position: [0, 0, -5]}}]\n"));
}

static void drones_in_one_place_draw_a_warning(void **unused)
{
    (void)unused;
    expect_sentences("volery: 1\ndrones: [{name: a}, {name: b}, {name: c, start: {position: [1, 0, 0]}}]\n",
                     0, "2:21: warning: b starts where a does\n");
    // Where drones collide, shapes that overlap do.
    static const char near[] =
        "volery: 1\ncontacts: {mode: %s}\ndrones:\n"
        "  - {name: a, shape: {kind: sphere, radius: 10 cm}}\n"
        "  - {name: b, shape: {kind: sphere, radius: 10 cm}, start: {position: [0, %s, "
        "1]}}\n";
    char text[400];
    snprintf(text, sizeof text, near, "on", "19 cm");
    expect_sentences(text, 0, "5:71: warning: b starts inside a: their shapes overlap\n");
    snprintf(text, sizeof text, near, "on", "21 cm");
    expect_sentences(text, 0, "");
    snprintf(text, sizeof text, near, "off", "19 cm");
    expect_sentences(text, 0, "");
}

// A longitude of 0 is a place: one that is left out is not 0.
static void a_start_over_the_ground_has_both_angles(void **unused)
{
    (void)unused;
    expect_sentences("volery: 1\nworld: {planet: {radius: 6378137}}\n"
                     "drones:\n"
                     "  - {name: a, start: {latitude: 10 deg}}\n"
                     "  - {name: b, start: {longitude: 10 deg}}\n"
                     "  - {name: c, start: {velocity_ned: [0, 1, 0]}}\n"
                     "  - {name: d, start: {latitude: 10 deg, longitude: 0, altitude: 5}}\n",
                     1,
                     "4:33: start.latitude needs a longitude\n"
                     "5:34: start.longitude needs a latitude\n"
                     "6:37: start.velocity_ned needs a latitude\n");
    expect_sentences("volery: 1\ndrones: [{start: {latitude: 10 deg, longitude: 0}}]\n", 1,
                     "2:29: start.latitude needs a planet: this world is flat\n");
}

// --- where a mistake of several values is shown

static void a_sentence_points_at_the_value_that_it_names(void **unused)
{
    (void)unused;
    expect_sentences(
        "volery: 1\ndrones:\n"
        "  - {name: a, vehicle: {base: x500, inertia: [1, 1, 1], thrust_cubic: -1}}\n"
        "  - {name: b, vehicle: {base: x500, thrust_linear: -1}, start: {position: [5, 0, 1]}}\n",
        1,
        "3:71: vehicle.thrust_cubic: the thrust polynomial must be above 0 N at speed_max\n"
        "4:52: vehicle.thrust_linear: the thrust polynomial must be above 0 N at speed_max\n");
    expect_sentences("volery: 1\ndrones:\n"
                     "  - vehicle:\n"
                     "      base: x500\n"
                     "      blade: {count: 2, chord: 1 cm, lift_slope: 5, lift_max: 1}\n"
                     "      rotor_air: {radius: 10 cm, drag: 1e-6}\n",
                     1, "6:40: vehicle.rotor_air.drag: blades make it themselves, leave it 0\n");
    expect_sentences("volery: 1\ndrones:\n"
                     "  - vehicle: {base: x500, battery: {capacity: 900, nominal: 0, efficiency: 1}}\n",
                     1, "3:61: vehicle.battery.nominal must be above 0\n");
    // What only a world refuses: a value of one part that another part does not allow.
    expect_sentences("volery: 1\ndrones:\n"
                     "  - vehicle: {base: x500, drive: {failsafe: hold}}\n"
                     "    sensors: {imu: {period: none}}\n"
                     "    controller: {kind: pilot}\n",
                     1,
                     "3:45: vehicle.drive.failsafe: hold and land need a position estimate or the truth\n");
}

// A joint that nobody can mean: its anchors are further apart than what it joins is long.
static void a_joint_far_open_is_refused(void **unused)
{
    (void)unused;
    static const char text[] = "volery: 1\ndrones: [{}]\n"
                               "bodies: [{name: b, mass: 1, inertia: [1, 1, 1], position: [0, %s, 5]}]\n"
                               "joints: [{kind: %s, a: drone0, b: b}]\n";
    static const char *const kinds[] = {"hinge", "ball"};
    char far[300];
    for (int i = 0; i < 2; ++i) {
        int refused;
        snprintf(far, sizeof far, text, "2 km", kinds[i]);
        char *said = sentences_of(far, &refused);
        assert_true(refused && strstr(said, "4:17: a ") == said &&
                    strstr(said, "m open, more than 10 times"));
        free(said);
    }
}

// RotorPy's Crazyflie: 1 % above. The limit is 5 %.
static void an_inertia_slightly_beyond_a_rigid_body_draws_a_warning(void **unused)
{
    (void)unused;
    expect_sentences(
        "volery: 1\ndrones:\n"
        "  - vehicle: {base: crazyflie2x, inertia: [1.43e-5, 1.43e-5, 2.89e-5]}\n"
        "bodies: [{name: b, mass: 1, inertia: [1, 1, 2.09]}]\n",
        0,
        "3:43: warning: inertia: a moment is above the sum of the others, as of no rigid body\n"
        "4:38: warning: inertia: a moment is above the sum of the others, as of no rigid body\n");
    expect_sentences(
        "volery: 1\ndrones: [{vehicle: {base: crazyflie2x, inertia: [1, 2.11, 1]}}]\n", 1,
        "2:49: vehicle.inertia must be symmetric, positive, and no moment above the sum of the others by "
        "more than 5 %\n");
    vy_scenario_destroy(
        read_good("volery: 1\ndrones: [{vehicle: {base: crazyflie2x, inertia: [1, 1, 2]}}]\n"));
}

// --- all at once

// What only the whole scenario shows is reported beside a key that is misspelt, and one thing that is refused
// does not hide the next.
static void mistakes_of_every_part_are_reported_at_once(void **unused)
{
    (void)unused;
    expect_sentences(
        "volery: 1\n"
        "durration: 3\n"
        "drones:\n"
        "  - {name: a, controller: {kind: lee, path: {kind: minimum_snap, waypoints: []}},\n"
        "     safety: {height_min: 5, height_max: 1}}\n"
        "  - {name: b, start: {position: [1, 0, 1]}, sensors: {mocap: {period: none}}}\n"
        "  - {name: c, start: {position: [2, 0, 1]}, controller: {kind: lee, path: {kind: line, centre: [0, "
        "0, 1], "
        "to: [0, 0, 1]}}}\n"
        "  - {name: d, start: {position: [3, 0, 1]}}\n"
        "bodies: [{name: e, mass: 1, inertia: [1, 1, 5], position: [4, 0, 1]},\n"
        "  {name: f, mass: 1, inertia: [1, 1, 1], position: [5, 0, 1]}]\n"
        "obstacles: [{kind: hull, points: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]}]\n"
        "joints: [{kind: hinge, a: d, b: f, anchor_b: [-2e3, 0, 0]}, {kind: hinge, a: a, b: e, anchor_b: "
        "[-2e3, 0, 0]}]\n"
        "faults: [{kind: motor_loss, drone: d, rotor: 5}, {kind: motor_loss, drone: b, rotor: 5}]\n",
        1,
        "2:1: unknown key \"durration\"; did you mean duration?\n"
        "4:52: path.waypoints must be 2 to 16, got 0\n"
        "5:14: drone.safety.height_min must not be above height_max\n"
        "6:5: drone: the controller needs an IMU and motion capture, or the truth\n"
        "7:82: path.to is where the line begins\n"
        "9:38: body.inertia must be symmetric, positive, and no moment above the sum of the others by more "
        "than 5 %\n"
        "11:20: hull: all 4 points are within 4e-12 m of one plane\n"
        "13:10: fault.rotor is 5, but the drone has 4 rotors\n");
}

// --- units

static void expectations_are_shown_in_the_unit_that_was_written(void **unused)
{
    (void)unused;
    static const char text[] =
        "volery: 1\nduration: 0.01\nexpect:\n"
        "  - {quantity: tilt, max: 20 deg}\n"
        "  - {quantity: z, min: 99 cm, max: 1.01 m}\n" // the maximum's
        "  - {quantity: rate, at: settled, within: 1, max: 6 rpm}\n"
        "  - {quantity: rotor_power, at: integral, max: 2 kJ}\n"
        "  - {quantity: tilt, max: 0.5}\n"
        "  - {quantity: z, at: overshoot, target: 2 km, max: none, min: -1 m}\n"
        "drones: [{vehicle: {mass: 1, inertia: [1, 1, 1]}, controller: {kind: none},\n"
        "  start: {attitude: {roll: 10 deg}}}]\nworld: {gravity: {uniform: [0, 0, 0]}}\n";
    static const char *const wanted[] = {
        "tilt of all at most 20 deg throughout: met, worst 10 deg at 0.001 s",
        "z of all at least 0.99 m and at most 1.01 m throughout: met, worst 1 m at 0.001 s",
        "rate of all at most 6 rpm for good within 1 s: met, took 0 s",
        "rotor_power of all at most 2 kJ in all: met, was 0 kJ at 0.01 s",
        "tilt of all at most 0.5 rad throughout: met, worst 0.174533 rad at 0.001 s",
        "z of all at least -1 m beyond 2000 m: met, was 0 m at 0.001 s"};
    vy_scenario *s = read_good(text);
    vy_world *world;
    vy_expect_result r[6];
    assert_int_equal(vy_scenario_build(s, &world, NULL), VY_OK);
    vy_expect_begin(s, r);
    for (uint64_t i = 0; i < vy_scenario_steps(s); ++i) {
        vy_world_step(world);
        vy_expect_feed(s, world, r);
    }
    for (int i = 0; i < 6; ++i) {
        char *sentence = vy_expect_print(s, i, &r[i]);
        assert_string_equal(sentence, wanted[i]);
        free(sentence);
    }
    assert_true(r[0].worst < 0.2); // SI, as --json has it
    vy_world_destroy(world);
    vy_scenario_destroy(s);
}

// --- drones together

// Three drones on straight lines: a and b pass each other 1 m apart at 1 s, c is 5 m from b then and leaves.
static void separation_is_the_least_distance_of_two_drones(void **unused)
{
    (void)unused;
    static const char text[] =
        "volery: 1\nduration: 2\nworld: {gravity: {uniform: [0, 0, 0]}}\ndrones:\n"
        "  - {name: a, vehicle: &v {mass: 1, inertia: [1, 1, 1]}, controller: &c {kind: none},\n"
        "     start: {position: [-3, 0, 1], velocity: [3, 0, 0]}}\n"
        "  - {name: b, vehicle: *v, controller: *c, start: {position: [3, 1, 1], velocity: [-3, "
        "0, 0]}}\n"
        "  - {name: c, vehicle: *v, controller: *c, start: {position: [0, 1, 6], velocity: [0, "
        "0, 0]}}\n"
        "bodies: [{name: d, mass: 1, inertia: [1, 1, 1], position: [0, 0.5, 1]}]\n"
        "expect:\n"
        "  - {quantity: separation, min: 0.9 m}\n"
        "  - {quantity: separation, min: 1.1 m}\n"
        "  - {quantity: separation, drone: c, min: 4.9}\n"
        "  - {quantity: separation, at: end, max: 6}\n"
        "  - {quantity: separation, at: reached, max: 2, within: 1}\n";
    static const double worst[] = {1.0, 1.0, 5.0, 5.830951894845301, 0.0};
    static const int met[] = {1, 0, 1, 1, 1};
    vy_scenario *s = read_good(text);
    vy_world *world;
    vy_expect_result r[5];
    assert_int_equal(vy_scenario_build(s, &world, NULL), VY_OK);
    vy_expect_begin(s, r);
    for (uint64_t i = 0; i < vy_scenario_steps(s); ++i) {
        vy_world_step(world);
        vy_expect_feed(s, world, r);
    }
    for (int i = 0; i < 5; ++i) {
        assert_int_equal(r[i].met, met[i]);
        if (i < 4) assert_near(r[i].worst, worst[i], 1e-9);
    }
    assert_near(r[4].worst, 1.0 - 0.28867513459481287, 1e-3); // 6 m/s, from sqrt(3) m on
    vy_world_destroy(world);
    vy_scenario_destroy(s);
    expect_sentences("volery: 1\ndrones: [{}]\nexpect: [{quantity: separation, min: 1}]\n", 1,
                     "3:21: separation needs two drones\n");
}

// --- runs of another duration

// What a shorter run cannot decide is skipped; what it can is decided. The file's own duration must do for
// all.
static void a_shorter_run_skips_what_it_cannot_reach(void **unused)
{
    (void)unused;
    static const char text[] =
        "volery: 1\nduration: 3\nstep: 1 ms\nworld: {gravity: {uniform: [0, 0, -10]}}\n"
        "drones: [{vehicle: {mass: 1, inertia: [1, 1, 1]}, controller: {kind: none}}]\n"
        "expect:\n"
        "  - {quantity: speed, after: 2, max: 9}\n"                 // not begun
        "  - {quantity: speed, max: 4.5}\n"                         // broken: 5 m/s
        "  - {quantity: speed, at: reached, min: 20, within: 1}\n"  // time is left
        "  - {quantity: speed, at: reached, min: 4, within: 1}\n"   // after 0.4 s
        "  - {quantity: speed, at: reached, min: 9, within: 0.4}\n" // too late by then
        "  - {quantity: speed, at: settled, min: 20, after: 0.1, within: 2}\n"
        "  - {quantity: speed, after: 0.5, min: 4.9}\n"; // the last step
    static const char *const changes[] = {"duration=0.5"};
    const vy_scenario_options options = {.overrides = changes, .override_count = 1};
    static const int skipped[] = {1, 0, 1, 0, 0, 1, 0}, met[] = {0, 0, 0, 1, 0, 0, 1};
    char *said;
    vy_scenario *s = read_with(text, &options, &said);
    assert_string_equal(said, "");
    free(said);
    vy_world *world;
    vy_expect_result r[7];
    assert_int_equal(vy_scenario_build(s, &world, NULL), VY_OK);
    vy_expect_begin(s, r);
    for (uint64_t i = 0; i < vy_scenario_steps(s); ++i) {
        vy_world_step(world);
        vy_expect_feed(s, world, r);
    }
    vy_expect_end(s, r);
    for (int i = 0; i < 7; ++i) assert_true(r[i].skipped == skipped[i] && r[i].met == met[i]);
    char *sentence = vy_expect_print(s, 0, &r[0]);
    assert_string_equal(sentence,
                        "speed of all at most 9 m/s throughout after 2 s: skipped, the run ends at 0.5 s");
    free(sentence);
    vy_world_destroy(world);
    // The scenario as a log keeps it can be read again.
    char *printed = vy_scenario_print(s);
    const vy_scenario_options logged = {.is_logged = 1};
    vy_scenario *again = read_with(printed, &logged, &said);
    assert_non_null(again);
    assert_true(vy_scenario_hash(again) == vy_scenario_hash(s));
    free(said);
    vy_scenario_destroy(again);
    vy_scenario_destroy(s);
    s = read_with(printed, NULL, &said);
    assert_true(s == NULL && strstr(said, "after is later than the end of the run") != NULL);
    free(said);
    free(printed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_has_a_bounded_number_of_substeps),
        cmocka_unit_test(a_start_below_the_terrain_draws_a_warning),
        cmocka_unit_test(drones_in_one_place_draw_a_warning),
        cmocka_unit_test(a_start_over_the_ground_has_both_angles),
        cmocka_unit_test(a_sentence_points_at_the_value_that_it_names),
        cmocka_unit_test(a_joint_far_open_is_refused),
        cmocka_unit_test(a_shorter_run_skips_what_it_cannot_reach),
        cmocka_unit_test(expectations_are_shown_in_the_unit_that_was_written),
        cmocka_unit_test(an_inertia_slightly_beyond_a_rigid_body_draws_a_warning),
        cmocka_unit_test(separation_is_the_least_distance_of_two_drones),
        cmocka_unit_test(mistakes_of_every_part_are_reported_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
