// test_scenario.c - scenarios: what is read, what is refused and how, printing, hash, overrides, expectations.
#include "scenario/number.h"
#include "scenario/schema.h"
#include "check.h"
#include "volery/scenario.h"
#include <dirent.h>
#include <float.h>
#include <locale.h>
#include <stdlib.h>

// A scenario in which every kind of thing appears.
static const char everything[] =
    "volery: 1\n"
    "name: every kind of thing\n"
    "seed: 18446744073709551615\n"
    "duration: 2 min\n"
    "world: {gravity: [0.01, 0.02, -9.7]}\n"
    "drones:\n"
    "  - name: a\n"
    "    start: {position: [1, 2, 3], velocity: [0.1, 0, 0], attitude: {roll: 5 deg, pitch: 2 deg, yaw: 90 deg},\n"
    "            rate: [1, 0, 0], rotor_speed: 1000}\n"
    "    controller:\n"
    "      intent: {rung: motors, motors: [0.5, 0.25, 0.5, 0.25]}\n"
    "      setpoints: [{time: 0, position: [0, 0, 1]}, {time: 1, position: [0, 1, 1], yaw: 90 deg}]\n"
    "    safety: {tilt_max: 60 deg, rate_max: 20, speed_max: 5, height_min: 0.1, height_max: 5, distance_max: 9,\n"
    "             sustain: 0.1}\n"
    "  - {name: b, vehicle: crazyflie2x-physical, controller: {intent: {rung: wrench, thrust: 0.1, torque: [0, 0, 1e-4]}}}\n"
    "  - {name: c, controller: {kind: none, intent: {rung: rates, thrust: 0.1, rates: [0, 0, 1]}}}\n"
    "  - {name: d, controller: {kind: callback, intent: {rung: attitude, thrust: 0.1, attitude: [1, 0, 0, 0.5]}}}\n"
    "  - name: e\n"
    "    vehicle: {name: brick, mass: 1, inertia: [[2, 0.1, 0], [0.1, 2, 0], [0, 0, 3]], drag_quadratic: 0.1}\n"
    "    sensors: {imu: {period: none}, mocap: {period: 20 ms, position_noise: 2 mm}}\n"
    "    controller: {kind: none}\n"
    "disturbances:\n"
    "  - {kind: constant, drone: a, frame: body, force: [1 mN, 0, 0], torque: [0, 1e-5, 0], start: 1, duration: 2}\n"
    "  - {kind: impulse, force: [0, 1 mN s, 0], torque: [0, 1e-6, 0], start: 1, duration: 5 ms}\n"
    "  - {kind: sinusoid, drone: b, force: [0, 0, 1 mN], frequency: 2 Hz, phase: 45 deg}\n"
    "  - {kind: noise, force: [1 mN, 1 mN, 1 mN], frequency: 0.5}\n"
    "expect:\n"
    "  - {quantity: tilt, drone: a, at: end, after: 1, max: 20 deg}\n"
    "  - {quantity: height, min: 0.5, max: 2}\n"
    "log: {every: 1, snapshot: 0.5, compression: none}\n";

// Reads; the scenario is NULL and the sentences are in `*said` (to be freed) after a mistake.
static vy_scenario *read_with(const char *text, const vy_scenario_options *options, char **said)
{
    vy_scenario *scenario = NULL;
    vy_diagnostics told;
    const vy_status status = vy_scenario_parse(text, strlen(text), "s.yaml", options, &scenario, &told);
    assert_int_equal(status == VY_OK, scenario != NULL);
    assert_int_equal(status == VY_OK, told.errors == 0);
    *said = vy_diagnostics_print(&told);
    assert_non_null(*said);
    vy_diagnostics_destroy(&told);
    return scenario;
}

static vy_scenario *read_good(const char *text)
{
    char *said;
    vy_scenario *scenario = read_with(text, NULL, &said);
    if (*said != '\0') print_error("%s", said);
    assert_string_equal(said, "");
    free(said);
    return scenario;
}

static void expect_said_with(const char *text, const vy_scenario_options *options, const char *wanted)
{
    char *said;
    vy_scenario *scenario = read_with(text, options, &said);
    assert_string_equal(said, wanted);
    free(said);
    vy_scenario_destroy(scenario);
}

static void expect_said(const char *text, const char *wanted) { expect_said_with(text, NULL, wanted); }

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    vy_text text = {0};
    char block[4096];
    for (size_t n; (n = fread(block, 1, sizeof block, file)) > 0;) vy_text_add(&text, block, n);
    fclose(file);
    return vy_text_take(&text);
}

// --- what is read

static void values_of_every_key_arrive(void **unused)
{
    (void)unused;
    vy_scenario *s = read_good(everything);
    assert_string_equal(s->name, "every kind of thing");
    assert_true(s->seed == UINT64_MAX && s->step == 0.001 && s->duration == 120.0);
    assert_true(s->gravity.x == 0.01 && s->gravity.z == -9.7);
    assert_int_equal(s->drone_count, 5);
    const vy_drone_def *a = &s->drones[0].def, *e = &s->drones[4].def;
    assert_true(a->position.y == 2.0 && a->velocity.x == 0.1 && a->rate.x == 1.0 && a->rotor_speed == 1000.0);
    assert_int_equal(a->controller.start.rung, VY_RUNG_MOTORS);
    assert_true(a->controller.start.motors[1] == 0.25 && a->controller.start.motors[4] == 0.0);
    assert_int_equal(a->controller.setpoint_count, 2);
    assert_near(a->controller.setpoints[1].yaw, PI / 2.0, 1e-15);
    assert_near(a->safety.tilt_max, PI / 3.0, 1e-15);
    assert_int_equal(s->drones[1].def.vehicle.allocation, VY_ALLOCATION_PHYSICAL);
    assert_int_equal(s->drones[3].def.controller.kind, VY_CONTROLLER_CALLBACK);
    assert_true(e->vehicle.inertia.m[0][1] == 0.1 && e->vehicle.rotor_count == 0 && e->rotor_speed == 0.0);
    assert_true(e->imu.period == 0.0 && e->mocap.period == 0.02 && e->mocap.position_noise == 0.002);
    assert_int_equal(s->disturbances[0].drone, 0);
    assert_int_equal(s->disturbances[1].drone, VY_EVERY_DRONE);
    assert_true(s->disturbances[1].def.force.y == 0.001 && s->disturbances[1].def.duration == 0.005);
    assert_int_equal(s->disturbances[2].def.kind, VY_DISTURBANCE_SINUSOID);
    assert_true(s->disturbances[3].def.duration > DBL_MAX);
    assert_true(s->expect[0].min == -DBL_MAX && s->expect[1].min == 0.5 && s->expect[1].at == VY_AT_THROUGHOUT);
    assert_int_equal(s->log.every, 1);
    assert_int_equal(vy_scenario_steps(s), 120000);
    vy_scenario_destroy(s);
}

static void defaults_are_those_of_the_library(void **unused)
{
    (void)unused;
    vy_scenario *s = read_good("volery: 1\ndrones: [{}, {}]\n");
    const vy_drone_def wanted = vy_default_drone_def(), *got = &s->drones[1].def;
    assert_string_equal(s->drones[1].name, "drone1");
    assert_true(got->rotor_speed == wanted.rotor_speed); // hover under standard gravity
    assert_memory_equal(&got->imu, &wanted.imu, sizeof wanted.imu);
    assert_memory_equal(&got->controller.gains, &wanted.controller.gains, sizeof wanted.controller.gains);
    assert_string_equal(got->vehicle.name, "crazyflie2x");
    const vy_world_def world = vy_default_world_def();
    assert_true(s->step == world.dt && s->seed == world.seed && s->gravity.z == world.gravity.z);
    vy_scenario_destroy(s);
}

static void hover_follows_mass_and_gravity(void **unused)
{
    (void)unused;
    vy_scenario *s = read_good("volery: 1\nworld: {gravity: [0, 0, -1.62]}\n"
                               "drones: [{vehicle: {base: crazyflie2x, mass: 56 g}, start: {rotor_speed: hover}}]\n");
    const double speed = s->drones[0].def.rotor_speed;
    assert_near(4.0 * 2.88e-8 * speed * speed, 0.056 * 1.62, 1e-15); // thrust carries the weight
    vy_scenario_destroy(s);
}

static void units_convert_with_one_rounding(void **unused)
{
    (void)unused;
    static const struct {
        const char *text, *unit;
        double wanted;
    } cases[] = {
        {"28 g", "kg", 0.028},     {"9 ms", "s", 0.009},        {"9ms", "s", 0.009},         {"0.1 us", "s", 1e-7},
        {"1e-3 km", "m", 1.0},     {"180 deg", "rad", PI},      {"2 min", "s", 120.0},       {"36 km/h", "m/s", 10.0},
        {"60 rpm", "rad/s", 2 * PI}, {"-.5", "", -0.5},         {"+5.", "m", 5.0},           {"7 kHz", "Hz", 7000.0},
        {"3 mN m s", "N m s", 0.003}, {"1.5 N", "N", 1.5},      {"175 ug/sqrt(Hz)", "m/s^2/sqrt(Hz)", 175e-6 * 9.80665},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        double value = NAN;
        assert_int_equal(vy_number_read(cases[i].text, strlen(cases[i].text), cases[i].unit, &value), VY_NUMBER_OK);
        assert_near(value, cases[i].wanted, 4e-16 * fabs(cases[i].wanted));
    }
    for (int n = 1; n < 3000; ++n) { // decimal prefixes are exact, whatever the number
        char text[32];
        double value;
        snprintf(text, sizeof text, "%d g", n);
        assert_int_equal(vy_number_read(text, strlen(text), "kg", &value), VY_NUMBER_OK);
        snprintf(text, sizeof text, "%d.%03d", n / 1000, n % 1000);
        assert_true(value == strtod(text, NULL));
    }
    static const char *const bad[] = {"", "g", "1 2", "0x10", "1_000", "--1", "1e", "1 e3", "1,5", "."};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
        double value = 7.0;
        assert_int_not_equal(vy_number_read(bad[i], strlen(bad[i]), "kg", &value), VY_NUMBER_OK);
        assert_true(value == 7.0);
    }
}

static void numbers_print_and_read_back_to_the_bit(void **unused)
{
    (void)unused;
    random_source r = {7};
    for (int i = 0; i < 20000; ++i) {
        double value, again;
        const uint64_t random = random_bits(&r);
        memcpy(&value, &random, sizeof value);
        if (!isfinite(value)) continue;
        vy_text text = {0};
        vy_number_print(&text, value);
        assert_int_equal(vy_number_read(text.data, text.size, "", &again), VY_NUMBER_OK);
        assert_memory_equal(&value, &again, sizeof value);
        free(text.data);
    }
}

// Against rotations about one axis at a time, in the order the page states.
static void angles_turn_yaw_then_pitch_then_roll(void **unused)
{
    (void)unused;
    vy_scenario *s = read_good("volery: 1\ndrones:\n"
                               "  - {name: a, start: {attitude: {yaw: 90 deg}}}\n"
                               "  - {name: b, start: {attitude: {pitch: 90 deg}}}\n"
                               "  - {name: c, start: {attitude: {roll: 90 deg}}}\n"
                               "  - {name: d, start: {attitude: {roll: 0.3, pitch: -0.4, yaw: 1.1}}}\n"
                               "  - {name: e, start: {attitude: [2, 0, 0, 0]}}\n");
    const vy_vec3 x = {1, 0, 0}, y = {0, 1, 0}, z = {0, 0, 1};
    assert_vec_near(quat_rotate(s->drones[0].def.attitude, x), y, 1e-15);                     // turns left
    assert_vec_near(quat_rotate(s->drones[1].def.attitude, x), ((vy_vec3){0, 0, -1}), 1e-15); // lowers the nose
    assert_vec_near(quat_rotate(s->drones[2].def.attitude, y), z, 1e-15);                     // raises the left
    vy_vec3 v = {0.3, -0.7, 0.2};
    const vy_vec3 turned = quat_rotate(s->drones[3].def.attitude, v);
    v = quat_rotate(turn(0.3, 1, 0, 0), v); // roll acts first on a body vector
    v = quat_rotate(turn(-0.4, 0, 1, 0), v);
    v = quat_rotate(turn(1.1, 0, 0, 1), v);
    assert_vec_near(turned, v, 1e-15);
    assert_true(s->drones[4].def.attitude.w == 2.0);
    vy_scenario_destroy(s);
}

static void json_is_read_too(void **unused)
{
    (void)unused;
    vy_scenario *s = read_good("{\"volery\": 1, \"step\": \"2 ms\", \"drones\": [{\"name\": \"a\"}]}");
    assert_true(s->step == 0.002);
    vy_scenario_destroy(s);
}

static void aliases_stand_for_their_anchors(void **unused)
{
    (void)unused;
    vy_scenario *s = read_good("volery: 1\ndrones:\n  - {controller: &c {gains: {rate: &r 12}}}\n"
                               "  - {controller: *c}\n  - {controller: {gains: {rate: *r}}}\n");
    for (int i = 0; i < 3; ++i) assert_true(s->drones[i].def.controller.gains.rate == 12.0);
    vy_scenario_destroy(s);
}

// --- what is refused

static void all_mistakes_come_in_one_go(void **unused)
{
    (void)unused;
    expect_said("volery: 1\n"
                "sed: 4\n"
                "step: 1 kg\n"
                "drones:\n"
                "  - name: alpha\n"
                "    controler: {kind: hold}\n"
                "    controller:\n"
                "      kind: holt\n"
                "      gains: {rate: -3, tilt_max: .inf}\n"
                "  - name: alpha\n"
                "    vehicle: {mass: 3 g}\n"
                "disturbances:\n"
                "  - {kind: constant, drone: alhpa, frequency: 3}\n",
                "s.yaml:2:1: unknown key \"sed\"; did you mean seed?\n"
                "    2 | sed: 4\n"
                "      | ^\n"
                "s.yaml:3:7: step: expected a number in s (or ms, us, ns, min, h), got \"1 kg\"\n"
                "    3 | step: 1 kg\n"
                "      |       ^\n"
                "s.yaml:6:5: unknown key \"controler\"; did you mean controller?\n"
                "    6 |     controler: {kind: hold}\n"
                "      |     ^\n"
                "s.yaml:8:13: kind cannot be \"holt\"; did you mean hold?\n"
                "    8 |       kind: holt\n"
                "      |             ^\n"
                "s.yaml:9:21: rate must be at least 0, got -3\n"
                "    9 |       gains: {rate: -3, tilt_max: .inf}\n"
                "      |                     ^\n"
                "s.yaml:9:35: tilt_max must be a finite number, got \".inf\"\n"
                "    9 |       gains: {rate: -3, tilt_max: .inf}\n"
                "      |                                   ^\n"
                "s.yaml:10:11: two drones are called alpha\n"
                "   10 |   - name: alpha\n"
                "      |           ^\n"
                "s.yaml:11:14: inertia is missing\n"
                "   11 |     vehicle: {mass: 3 g}\n"
                "      |              ^\n"
                "s.yaml:13:22: no drone is called \"alhpa\"; did you mean alpha?\n"
                "   13 |   - {kind: constant, drone: alhpa, frequency: 3}\n"
                "      |                             ^\n");
}

// One mistake per text; the first line of what is said.
static void each_mistake_is_named_at_its_place(void **unused)
{
    (void)unused;
    static const struct {
        const char *body, *said; // body comes after "volery: 1\n"
    } cases[] = {
        {"drones: []\n", "2:9: drones: at least 1 can be given, got 0"},
        {"name: x\n", "1:1: drones is missing"},
        {"drones: 3\n", "2:9: drones: expected a list (of lines that begin with -), got \"3\""},
        {"drones: [3]\n", "2:10: expected a mapping (lines of `key: value`), got \"3\""},
        {"drones: [{}]\nseed: -1\n", "3:7: seed: expected a whole number from 0 to 2^64 - 1, got \"-1\""},
        {"drones: [{}]\nseed: 18446744073709551616\n",
         "3:7: seed: expected a whole number from 0 to 2^64 - 1, got \"18446744073709551616\""},
        {"drones: [{}]\nstep: 0\n", "3:7: step must be between 1e-09 and 1 s, got 0"},
        {"drones: [{}]\nstep:\n", "3:1: step: expected a number in s (or ms, us, ns, min, h), got nothing"},
        {"drones: [{}]\nstep: [1]\n",
         "3:7: step: expected a number in s (or ms, us, ns, min, h), got a list of 1"},
        {"drones: [{}]\nduration: 1e999\n", "3:11: duration must be a finite number, got \"1e999\""},
        {"drones: [{}]\nduration: nan\n", "3:11: duration must be a finite number, got \"nan\""},
        {"drones: [{}]\nduration: 0.1 ms\n", "3:11: duration is less than one step"},
        {"drones: [{}]\nworld: {gravity: [0, 0]}\n",
         "3:18: gravity: expected [3 numbers in m/s^2], got a list of 2"},
        {"drones: [{}]\nseed: 1\nseed: 2\n", "4:1: seed is given twice: first in line 3"},
        {"drones: [{}]\nlog: {every: 0}\n", "3:14: every must be between 1 and 1e+09, got \"0\""},
        {"drones: [{}]\nlog: {compression: zip}\n", "3:20: compression cannot be \"zip\"; there are none, zstd"},
        {"drones: [{}]\nname: \"a\\nb\"\n", "3:7: name must be one line without control characters"},
        {"drones: [{name: 3d}]\n",
         "2:17: name: expected a name (a letter, then letters, digits, - and _), got \"3d\""},
        {"drones: [{name: all}]\n", "2:17: all stands for every drone: use another name"},
        {"drones: [{name: abcdefghijklmnopqrstuvwxyzabcdef}]\n", "2:17: name must have at most 31 bytes, got 32"},
        {"drones: [{vehicle: crazyfly2x}]\n",
         "2:20: no vehicle is called crazyfly2x: there are crazyflie2x-physical, crazyflie2x"},
        {"drones: [{vehicle: {base: [1], mass: 1}}]\n",
         "2:27: base: expected a name or a path ending in .yaml, got a list of 1"},
        {"drones: [{vehicle: {base: crazyflie2x, inertia: [1, 1, 3]}}]\n",
         "2:49: vehicle.inertia must be symmetric, positive, and no moment above the sum of the others"},
        {"drones: [{vehicle: {base: crazyflie2x, mass: 1 kg}}]\n",
         "2:10: rotor_speed of drone0 is 9226.41 rad/s, above its speed_max of 2500 rad/s"},
        {"drones: [{vehicle: {base: crazyflie2x, thrust_coef: 0}}]\n", "2:53: thrust_coef must be above 0 N s^2"},
        {"drones: [{vehicle: {base: crazyflie2x, rotors: []}}]\n",
         "2:10: drone0 has no rotors to control: use controller: {kind: none}"},
        {"drones: [{vehicle: {base: crazyflie2x, rotors: [{position: [0, 0, 0], spin: 1}]}}]\n",
         "2:78: spin cannot be \"1\"; there are cw, ccw"},
        {"drones: [{start: {attitude: [0, 0, 0, 0]}}]\n", "2:29: attitude must have a length above 0"},
        {"drones: [{start: {attitude: up}}]\n",
         "2:29: attitude: expected [w, x, y, z] or {roll, pitch, yaw}, got \"up\""},
        {"drones: [{start: {rotor_speed: 2600}}]\n",
         "2:32: rotor_speed of drone0 is 2600 rad/s, above its speed_max of 2500 rad/s"},
        {"drones: [{sensors: {imu: {period: 1.5 ms}}}]\n",
         "2:35: period must be a whole multiple of the step (0.001 s), got 0.0015 s"},
        {"drones: [{controller: {setpoints: [{time: 1, position: [0, 0, 0]}, {time: 1, position: [0, 0, 1]}]}}]\n",
         "2:75: time must be later than 1 s, that of the setpoint before"},
        {"drones: [{controller: {setpoints: [{time: 1}]}}]\n", "2:36: position is missing"},
        {"drones: [{controller: {intent: {rung: rates, torque: [0, 0, 0]}}}]\n",
         "2:46: torque does not apply to rung rates"},
        {"drones: [{}]\ndisturbances: [{kind: impulse, force: [1, 0, 0]}]\n", "3:16: duration is missing"},
        {"drones: [{}]\ndisturbances: [{kind: impulse, force: [1 N, 0, 0], duration: 1}]\n",
         "3:40: force: expected a number in N s (or mN s), got \"1 N\""},
        {"drones: [{}]\ndisturbances: [{force: [1, 0, 0]}]\n", "3:16: kind is missing"},
        {"drones: [{}]\nexpect: [{quantity: tilt, max: 1 m}]\n",
         "3:32: max: expected a number in rad (or deg), got \"1 m\""},
        {"drones: [{}]\nexpect: [{quantity: clamps, max: 1 m}]\n",
         "3:34: max: expected a number without a unit, got \"1 m\""},
        {"drones: [{}]\nexpect: [{quantity: x}]\n", "3:10: give min or max, or both"},
        {"drones: [{}]\nexpect: [{quantity: x, min: 2, max: 1}]\n", "3:29: min is above max"},
        {"drones: [{}]\nexpect: [{quantity: x, max: 1, after: 11}]\n",
         "3:39: after is later than the end of the run, 10 s"},
        // not YAML, or YAML that has no place here
        {"drones: [{}\n", "3:1: missing comma in flow mapping"},
        {"drones: !!seq [{}]\n", "2:15: tags (!name) have no meaning here"},
        {"drones: [{}]\n---\n{}\n", "3:1: a second document: a file holds one"},
        {"drones: [{controller: &a {gains: *a}}]\n", "2:34: an alias may not stand inside its anchor"},
        {"drones: *b\n", "2:9: no anchor of this name stands before this alias"},
        {"? [1, 2]\n: 3\n", "2:3: a key must be a plain word"},
        {"name: \"a\\0b\"\n", "2:7: the character \\0 has no place in a text"},
        {"name: a\xff\n", "2:8: byte 0xff: not a character of UTF-8 text"},
        {"name: \xc3\xa9\xed\xa0\x80\n", "2:8: byte 0xed: not a character of UTF-8 text"},
        {"name: a\x01\n", "2:8: byte 0x01: not a character of UTF-8 text"},
        {"x: [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]\n", "2:35: nested too deeply"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        char text[400], wanted[300], *said;
        snprintf(text, sizeof text, "volery: 1\n%s", cases[i].body);
        snprintf(wanted, sizeof wanted, "s.yaml:%s", cases[i].said);
        vy_scenario *scenario = read_with(text, NULL, &said);
        assert_null(scenario);
        char *end = strchr(said, '\n');
        assert_non_null(end);
        *end = '\0';
        assert_string_equal(said, wanted);
        end = strstr(end + 1, "^\n"); // and nothing else
        assert_true(end != NULL && end[2] == '\0');
        free(said);
    }
}

static void version_comes_first(void **unused)
{
    (void)unused;
    expect_said("", "s.yaml:1:1: a scenario has the line `volery: 1`, the version of the format\n    1 | \n      | ^\n");
    expect_said("seed: 1\n", "s.yaml:1:1: a scenario has the line `volery: 1`, the version of the format\n"
                             "    1 | seed: 1\n      | ^\n");
    expect_said("volery: 2\nnew_key: 1\n", // not: unknown key
                "s.yaml:1:9: version 2 of the format is newer than this program, which reads version 1\n"
                "    1 | volery: 2\n      |         ^\n");
    expect_said("volery: one\ndrones: [{}]\n",
                "s.yaml:1:9: volery: expected a whole number, got \"one\"\n    1 | volery: one\n      |         ^\n");
}

static void carets_stand_under_their_characters(void **unused)
{
    (void)unused;
    expect_said("volery: 1\ndrones: [{}]\nname: {\xc3\xa9\xc3\xa9: 1}\n",
                "s.yaml:3:7: name: expected a text, got a mapping\n"
                "    3 | name: {\xc3\xa9\xc3\xa9: 1}\n"
                "      |       ^\n");
    expect_said("volery: 1\ndrones:\n  - {\"n\xc3\xa4me\": 1, \tseed: 2}\n",
                "s.yaml:3:6: unknown key \"n\xc3\xa4me\"; did you mean name?\n"
                "    3 |   - {\"n\xc3\xa4me\": 1, \tseed: 2}\n"
                "      |      ^\n"
                "s.yaml:3:17: unknown key \"seed\"; there are name, vehicle, start, sensors, controller, safety\n"
                "    3 |   - {\"n\xc3\xa4me\": 1, \tseed: 2}\n"
                "      |                \t^\n");
}

static void warnings_do_not_refuse(void **unused)
{
    (void)unused;
    static const char periods[] = "drones: [{sensors: {imu: {period: %s}, mocap: {period: %s}}, "
                                  "controller: {period: %s, rate_period: %s}}]\n";
    char text[300], body[250];
    snprintf(body, sizeof body, periods, "6 ms", "12 ms", "12 ms", "6 ms");
    snprintf(text, sizeof text, "volery: 1\nstep: 6 ms\n%s", body);
    expect_said(text, "s.yaml:2:7: warning: step is above 5 ms: flights will differ from those with a smaller step\n"
                      "    2 | step: 6 ms\n      |       ^\n");
    snprintf(body, sizeof body, periods, "5 ms", "10 ms", "10 ms", "5 ms");
    snprintf(text, sizeof text, "volery: 1\nstep: 5 ms\n%s", body);
    vy_scenario_destroy(read_good(text)); // 15 ms over three
    char faster[400];
    snprintf(faster, sizeof faster, "volery: 1\nstep: 2.5 ms\n%.*s, vehicle: {base: crazyflie2x, motor_lag: 7 ms}}]\n",
             (int)strlen(body) - 3, body);
    expect_said(faster,
                "s.yaml:2:7: warning: step is above a third of the motors' time constant (0.007 s of crazyflie2x): "
                "flights will differ from those with a smaller step\n"
                "    2 | step: 2.5 ms\n      |       ^\n");
}

static void no_more_than_a_hundred_are_listed(void **unused)
{
    (void)unused;
    vy_text text = {0};
    vy_text_puts(&text, "volery: 1\ndrones: [{}]\n");
    for (int i = 0; i < 150; ++i) vy_text_printf(&text, "key%d: 1\n", i);
    vy_scenario *scenario;
    vy_diagnostics told;
    assert_int_equal(vy_scenario_parse(text.data, text.size, "s", NULL, &scenario, &told), VY_BAD_VALUE);
    assert_int_equal(told.count, 100);
    assert_int_equal(told.errors, 150);
    char *said = vy_diagnostics_print(&told);
    assert_non_null(strstr(said, "\nand 50 more\n"));
    free(said);
    vy_diagnostics_destroy(&told);
    free(text.data);
}

// Ten levels of ten aliases each would be ten thousand million values: the text is refused, or read, at once.
static void alias_bombs_do_no_harm(void **unused)
{
    (void)unused;
    vy_text text = {0};
    vy_text_puts(&text, "volery: 1\na0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n");
    for (int i = 1; i < 10; ++i) {
        vy_text_printf(&text, "a%d: &a%d [", i, i);
        for (int k = 0; k < 10; ++k) vy_text_printf(&text, "%s*a%d", k > 0 ? ", " : "", i - 1);
        vy_text_puts(&text, "]\n");
    }
    vy_text_puts(&text, "drones: *a9\n");
    char *said;
    assert_null(read_with(text.data, NULL, &said));
    free(said);
    free(text.data);
}

static void long_texts_are_refused(void **unused)
{
    (void)unused;
    const size_t size = (size_t)17 << 20;
    char *text = malloc(size);
    memset(text, '#', size);
    vy_scenario *scenario;
    assert_int_equal(vy_scenario_parse(text, size, "s", NULL, &scenario, NULL), VY_BAD_SYNTAX);
    assert_null(scenario);
    free(text);
}

// --- files

// A loader of three texts.
static vy_status load_texts(void *self, const char *name, const char *from, vy_source_text *out)
{
    ++*(int *)self;
    const char *text = NULL;
    if (strcmp(name, "good.yaml") == 0) text = "base: crazyflie2x\nname: good\nmass: 30 g\n";
    if (strcmp(name, "bad.yaml") == 0) text = "name: bad\nmass: 28 mm\nspeed: 3\ninertia: [1, 1, 1]\n";
    if (strcmp(name, "loop.yaml") == 0) text = "base: loop.yaml\n";
    if (strcmp(name, "torn.yaml") == 0) text = "base: [\n";
    if (strcmp(name, "locked.yaml") == 0) return VY_IO;
    if (text == NULL) return VY_NOT_FOUND;
    assert_true(strcmp(from, "s.yaml") == 0 || strcmp(from, "dir/loop.yaml") == 0);
    char path[64];
    snprintf(path, sizeof path, "dir/%s", name);
    *out = (vy_source_text){vy_text_copy(path, strlen(path)), vy_text_copy(text, strlen(text)), strlen(text)};
    return VY_OK;
}

static void files_report_their_own_lines(void **unused)
{
    (void)unused;
    int calls = 0;
    const vy_scenario_options options = {.load = load_texts, .self = &calls};
    expect_said_with("volery: 1\ndrones:\n  - {vehicle: bad.yaml}\n  - {vehicle: bad.yaml}\n  - {vehicle: none.yaml}\n",
                     &options,
                     "dir/bad.yaml:2:7: mass: expected a number in kg (or g, mg), got \"28 mm\"\n"
                     "    2 | mass: 28 mm\n      |       ^\n"
                     "dir/bad.yaml:3:1: unknown key \"speed\"; did you mean speed_max?\n" // 4 letters away, but a part
                     "    3 | speed: 3\n      | ^\n"
                     "s.yaml:5:15: no vehicle is called none.yaml: there are crazyflie2x-physical, crazyflie2x\n"
                     "    5 |   - {vehicle: none.yaml}\n      |               ^\n");
    assert_int_equal(calls, 2); // each file is read once
    expect_said_with("volery: 1\ndrones: [{vehicle: loop.yaml}]\n", &options,
                     "dir/loop.yaml:1:7: 8 files stand on each other here: does one stand on itself?\n"
                     "    1 | base: loop.yaml\n      |       ^\n");
    expect_said_with("volery: 1\ndrones: [{vehicle: torn.yaml}]\n", &options,
                     "dir/torn.yaml:2:1: flow sequence without a closing bracket\n    2 | \n      | ^\n");
    expect_said_with("volery: 1\ndrones: [{vehicle: locked.yaml}]\n", &options,
                     "s.yaml:2:20: locked.yaml: the system could not read or write\n"
                     "    2 | drones: [{vehicle: locked.yaml}]\n      |                    ^\n");
    char *said;
    vy_scenario *s = read_with("volery: 1\ndrones: [{vehicle: {base: good.yaml, motor_lag: 0}}]\n", &options, &said);
    assert_string_equal(said, "");
    assert_true(s->drones[0].def.vehicle.mass == 0.03 && s->drones[0].def.vehicle.motor_lag == 0.0);
    assert_true(s->drones[0].def.vehicle.speed_max == 2500.0);
    free(said);
    vy_scenario_destroy(s);
}

static void a_missing_file_is_said(void **unused)
{
    (void)unused;
    vy_scenario *scenario;
    vy_diagnostics told;
    assert_int_equal(vy_scenario_load("scenarios/no-such.yaml", NULL, &scenario, &told), VY_IO);
    char *said = vy_diagnostics_print(&told);
    assert_string_equal(said, "scenarios/no-such.yaml: cannot be read: No such file or directory\n");
    free(said);
    vy_diagnostics_destroy(&told);
    assert_int_equal(vy_scenario_load("scenarios", NULL, &scenario, NULL), VY_IO);
    assert_null(scenario);
}

static void for_each_file(const char *folder, void (*visit)(const char *path, const char *name))
{
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    int count = 0;
    for (const struct dirent *e; (e = readdir(dir)) != NULL;) {
        const char *dot = strrchr(e->d_name, '.');
        if (dot == NULL || strcmp(dot, ".yaml") != 0) continue;
        char path[300], name[300];
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        snprintf(name, sizeof name, "%.*s", (int)(dot - e->d_name), e->d_name);
        visit(path, name);
        ++count;
    }
    closedir(dir);
    assert_true(count >= 2);
}

static void fly_shipped(const char *path, const char *name)
{
    (void)name;
    vy_scenario *s;
    vy_diagnostics told;
    assert_int_equal(vy_scenario_load(path, NULL, &s, &told), VY_OK);
    assert_int_equal(told.count, 0);
    vy_diagnostics_destroy(&told);
    assert_true(s->expect_count > 0);
    vy_world *world;
    assert_int_equal(vy_scenario_build(s, &world, NULL), VY_OK);
    vy_expect_result results[16];
    assert_true(s->expect_count <= 16);
    vy_expect_begin(s, results);
    for (uint64_t i = 0; i < vy_scenario_steps(s); ++i) {
        assert_false(vy_world_step(world) & VY_EVENT_FAILED);
        vy_expect_feed(s, world, results);
    }
    for (int i = 0; i < s->expect_count; ++i) {
        char *sentence = vy_expect_print(s, i, &results[i]);
        if (!results[i].met) print_error("%s: %s\n", path, sentence);
        assert_true(results[i].met);
        free(sentence);
    }
    vy_world_destroy(world);
    vy_scenario_destroy(s);
}

static void shipped_scenarios_fly_as_they_expect(void **unused)
{
    (void)unused;
    for_each_file("scenarios", fly_shipped);
}

// The built-in vehicle of a name is the file of that name, to the bit.
static void compare_vehicle(const char *path, const char *name)
{
    char text[400], *printed[2];
    for (int i = 0; i < 2; ++i) {
        const vy_scenario_options options = {.load = i == 0 ? vy_load_vehicle : NULL};
        snprintf(text, sizeof text, "volery: 1\ndrones: [{vehicle: %s, controller: {kind: none}}]\n",
                 i == 0 ? path : name);
        char *said;
        vy_scenario *s = read_with(text, &options, &said);
        assert_string_equal(said, "");
        assert_string_equal(s->drones[0].def.vehicle.name, name);
        printed[i] = vy_scenario_print(s);
        free(said);
        vy_scenario_destroy(s);
    }
    assert_string_equal(printed[0], printed[1]); // else: tools/generate.c makes src/vehicle/presets.inl
    free(printed[0]);
    free(printed[1]);
}

static void built_in_vehicles_are_current(void **unused)
{
    (void)unused;
    for_each_file("vehicles", compare_vehicle);
}

static void pages_are_current(void **unused)
{
    (void)unused;
    char *const made[2] = {vy_scenario_print_reference(), vy_scenario_print_schema()};
    static const char *const paths[2] = {"docs/scenario.md", "docs/scenario.schema.json"};
    for (int i = 0; i < 2; ++i) {
        char *kept = read_file(paths[i]);
        if (strcmp(kept, made[i]) != 0) print_error("%s is not current: tools/generate.c makes it\n", paths[i]);
        assert_string_equal(kept, made[i]);
        free(kept);
        free(made[i]);
    }
}

// --- overrides

static vy_scenario *read_set(const char *text, const char *override)
{
    const vy_scenario_options options = {.overrides = &override, .override_count = 1};
    char *said;
    vy_scenario *s = read_with(text, &options, &said);
    if (*said != '\0') print_error("%s", said);
    assert_string_equal(said, "");
    free(said);
    return s;
}

static void overrides_change_what_they_name(void **unused)
{
    (void)unused;
    static const char text[] = "volery: 1\ndrones:\n  - {name: a, controller: &c {gains: {rate: 20}}}\n"
                               "  - {name: b, controller: *c, vehicle: crazyflie2x-physical}\n"
                               "disturbances: [{kind: constant, force: [1, 0, 0]}]\n";
    vy_scenario *s = read_set(text, "seed=3");
    assert_true(s->seed == 3);
    vy_scenario_destroy(s);
    s = read_set(text, "drones.b.controller.gains.rate=30"); // an alias of a's controller, which stays
    assert_true(s->drones[0].def.controller.gains.rate == 20.0 && s->drones[1].def.controller.gains.rate == 30.0);
    vy_scenario_destroy(s);
    s = read_set(text, "drones.b.vehicle.mass=31 g"); // on top of the file named there
    assert_true(s->drones[1].def.vehicle.mass == 0.031);
    assert_int_equal(s->drones[1].def.vehicle.allocation, VY_ALLOCATION_PHYSICAL);
    vy_scenario_destroy(s);
    s = read_set(text, "drones[0].vehicle.mass=31 g"); // on top of the default
    assert_true(s->drones[0].def.vehicle.mass == 0.031 && s->drones[0].def.vehicle.rotor_count == 4);
    vy_scenario_destroy(s);
    s = read_set(text, "world.gravity=[0, 0, -3.7]"); // a section that is not there
    assert_true(s->gravity.z == -3.7);
    vy_scenario_destroy(s);
    s = read_set(text, "disturbances[0].force[1]=2 mN");
    assert_true(s->disturbances[0].def.force.y == 0.002 && s->disturbances[0].def.force.x == 1.0);
    vy_scenario_destroy(s);
    s = read_set(text, "disturbances=[]");
    assert_int_equal(s->disturbance_count, 0);
    vy_scenario_destroy(s);
}

static void overrides_are_named_when_wrong(void **unused)
{
    (void)unused;
    static const struct {
        const char *override, *said;
    } cases[] = {
        {"seed", "expected key=value"},
        {"=3", "expected key=value"},
        {"seed=x", "seed: expected a whole number from 0 to 2^64 - 1, got \"x\""},
        {"sead=1", "unknown key \"sead\"; did you mean seed?"},
        {"drones.c.name=x", "nothing in the list is called c"},
        {"drones[7].name=x", "there is no element 7"},
        {"drones[x].name=x", "expected a number between brackets: [x].name"},
        {"drones[0=x", "expected a number between brackets: [0"},
        {"drones..name=x", "expected a key before .name"},
        {"step.x=1", "step: expected a number in s (or ms, us, ns, min, h), got a mapping"},
        {"step=[1", "flow sequence without a closing bracket"},
        {"step=", "step: expected a number in s (or ms, us, ns, min, h), got nothing"},
        {"drones[0].vehicle.mass=1 N", "mass: expected a number in kg (or g, mg), got \"1 N\""},
        {"drones[0].controller.period=1.5 ms", "period must be a whole multiple of the step (0.001 s), got 0.0015 s"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        const vy_scenario_options options = {.overrides = &cases[i].override, .override_count = 1};
        char wanted[300];
        snprintf(wanted, sizeof wanted, "--set %s: %s\n", cases[i].override, cases[i].said);
        expect_said_with("volery: 1\ndrones: [{name: a}, {name: b}]\n", &options, wanted);
    }
}

// --- printing and hash: walks over the table

// Calls `visit` with each number, choice, text... of an object; `label` for values that cannot change a bit.
typedef void visit_fn(void *self, const vy_table *table, const vy_row *row, char *field, int label);

static void walk(const vy_table *table, char *object, int label, visit_fn *visit, void *self)
{
    for (int i = 0; i < table->row_count; ++i) {
        const vy_row *row = &table->rows[i];
        if (!vy_row_applies(table, row, object)) continue;
        const int inner = label || (row->flags & VY_ROW_LABEL) != 0;
        if (row->type == VY_TYPE_OBJECT) {
            walk(row->table, object + row->offset, inner, visit, self);
        } else if (row->type == VY_TYPE_LIST) {
            int count;
            const void *elements = vy_list_elements(row, object, &count);
            char *at;
            memcpy(&at, &elements, sizeof at);
            for (int k = 0; k < count; ++k) walk(row->table, at + (size_t)k * row->table->size, inner, visit, self);
        } else {
            visit(self, table, row, object + row->offset, inner);
        }
    }
}

typedef struct hash_check {
    vy_scenario *scenario;
    uint64_t hash;
    int changed, labels;
} hash_check;

static void check_bit(hash_check *c, const vy_row *row, char *byte, int label)
{
    *byte = (char)(*byte ^ 1);
    const uint64_t hash = vy_scenario_hash(c->scenario);
    *byte = (char)(*byte ^ 1);
    if ((hash == c->hash) != (label != 0)) print_error("%s\n", row->key);
    assert_int_equal(hash == c->hash, label != 0);
    ++*(label ? &c->labels : &c->changed);
}

// The last bit of each number in the row is turned, and the hash looked at.
static void change_value(void *self, const vy_table *table, const vy_row *row, char *field, int label)
{
    hash_check *c = self;
    size_t count = 1, size = 8;
    if (row->when == 0 && row == &table->rows[0] && row->type == VY_TYPE_CHOICE) return; // other keys would apply
    if (row->type == VY_TYPE_VECTOR) count = row->size;
    if (row->type == VY_TYPE_ROTATION) count = 4;
    if (row->type == VY_TYPE_INERTIA) count = 9;
    if (row->type == VY_TYPE_TEXT) size = 1;
    if (row->type == VY_TYPE_CHOICE || row->type == VY_TYPE_COUNT || row->type == VY_TYPE_DRONE) size = 4;
    for (size_t i = 0; i < count; ++i) check_bit(c, row, field + i * size, label);
}

static void hash_covers_every_value_that_matters(void **unused)
{
    (void)unused;
    vy_scenario *s = read_good(everything);
    hash_check c = {.scenario = s, .hash = vy_scenario_hash(s)};
    walk(&vy_scenario_table, (char *)s, 0, change_value, &c);
    assert_true(c.changed > 500 && c.labels > 20);
    // Kinds decide which keys apply, and counts how many elements there are.
    int *const words[] = {(int *)&s->drones[0].def.controller.kind, (int *)&s->drones[0].def.controller.start.rung,
                          (int *)&s->disturbances[0].def.kind, &s->drone_count, &s->disturbance_count,
                          &s->drones[0].def.controller.setpoint_count, &s->drones[0].def.vehicle.rotor_count};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; ++i) {
        const int kept = *words[i];
        *words[i] = kept > 0 ? kept - 1 : 2;
        assert_int_not_equal(vy_scenario_hash(s), c.hash);
        *words[i] = kept;
    }
    assert_true(vy_scenario_hash(s) == c.hash);
    vy_scenario_destroy(s);
}

typedef struct cover {
    const char *begin;
    unsigned char seen[sizeof(vy_scenario_drone)];
} cover;

static void mark(cover *c, const void *at, size_t size)
{
    memset(c->seen + ((const char *)at - c->begin), 1, size);
}

static void mark_value(void *self, const vy_table *table, const vy_row *row, char *field, int label)
{
    (void)table;
    (void)label;
    size_t size = sizeof(int);
    if (row->type == VY_TYPE_NUMBER || row->type == VY_TYPE_WHOLE) size = 8;
    if (row->type == VY_TYPE_VECTOR) size = 8 * row->size;
    if (row->type == VY_TYPE_ROTATION) size = sizeof(vy_quat);
    if (row->type == VY_TYPE_INERTIA) size = sizeof(vy_mat3);
    if (row->type == VY_TYPE_TEXT) size = row->size;
    mark(self, field, size);
}

// No field of a drone is without a row: a new one must get a key (or be listed here).
static void every_field_of_a_drone_has_a_key(void **unused)
{
    (void)unused;
    static vy_scenario_drone drone;
    static cover c;
    vy_vehicle_def *v = &drone.def.vehicle;
    vy_controller_def *k = &drone.def.controller;
    drone.def = vy_default_drone_def();
    v->rotor_count = VY_ROTOR_CAP;
    k->setpoint_count = VY_SETPOINT_CAP;
    c.begin = (const char *)&drone;
    const vy_row *drones = vy_table_find(&vy_scenario_table, "drones");
    for (int rung = VY_RUNG_NONE; rung <= VY_RUNG_ATTITUDE; ++rung) {
        k->start.rung = (vy_rung)rung;
        walk(drones->table, (char *)&drone, 0, mark_value, &c);
    }
    mark(&c, &drone.def.cookie, sizeof drone.def.cookie);
    mark(&c, &v->cookie, sizeof v->cookie);
    mark(&c, &v->rotor_count, sizeof v->rotor_count);
    mark(&c, &k->setpoint_count, sizeof k->setpoint_count);
    mark(&c, &k->call, sizeof k->call);
    mark(&c, &k->self, sizeof k->self);
    size_t unseen = 0;
    for (size_t i = 0; i < sizeof c.seen; ++i) unseen += c.seen[i] == 0;
    // Padding: 4 bytes after each of 8 spins and after cookies, counts and choices that stand before a double.
    assert_int_equal(unseen, 0);
}

typedef struct shaker {
    random_source random;
} shaker;

// A random value that the row's range and the other values allow.
static void shake_value(void *self, const vy_table *table, const vy_row *row, char *field, int label)
{
    (void)label;
    random_source *r = &((shaker *)self)->random;
    const int fixed = (row->flags & VY_ROW_PERIOD) || strcmp(row->key, "step") == 0 || strcmp(row->key, "time") == 0 ||
                      strcmp(row->key, "after") == 0 || strcmp(row->key, "min") == 0;
    double values[16];
    size_t count = row->type == VY_TYPE_VECTOR ? row->size : row->type == VY_TYPE_ROTATION ? 4 : 1;
    if (row->type == VY_TYPE_WHOLE) {
        const uint64_t random = random_bits(r);
        memcpy(field, &random, sizeof random);
    } else if (row->type == VY_TYPE_CHOICE && row != &table->rows[0]) {
        memcpy(field, &row->choices[random_bits(r) % (unsigned)row->choice_count].value, sizeof(int));
    } else if (row->type == VY_TYPE_INERTIA) {
        memcpy(values, field, 9 * sizeof values[0]);
        const double scale = random_in(r, 0.5, 2.0);
        for (int i = 0; i < 9; ++i) values[i] *= scale;
        memcpy(field, values, 9 * sizeof values[0]);
    } else if ((row->type == VY_TYPE_NUMBER || row->type == VY_TYPE_VECTOR || row->type == VY_TYPE_ROTATION) && !fixed) {
        memcpy(values, field, count * sizeof values[0]);
        for (size_t i = 0; i < count; ++i) {
            if (row->word != NULL && random_bits(r) % 4 == 0 && row->word_value != VY_HOVER) values[i] = row->word_value;
            else if (!isfinite(values[i]) || fabs(values[i]) > 1e300) continue;
            else if (values[i] != 0.0) values[i] *= random_in(r, 0.9, 1.0); // down: below what is a maximum
            else if (row->range.min < 0.0) values[i] = random_in(r, -1.0, 1.0) * pow(10.0, random_in(r, -12, 2));
        }
        memcpy(field, values, count * sizeof values[0]);
    }
}

// Whatever a scenario holds, its print reads back as the same scenario, without any file.
static void print_reads_back_the_same(void **unused)
{
    (void)unused;
    for (uint64_t seed = 0; seed < 300; ++seed) {
        vy_scenario *s = read_good(everything);
        shaker shake = {{seed}};
        if (seed > 0) walk(&vy_scenario_table, (char *)s, 0, shake_value, &shake);
        char *printed = vy_scenario_print(s);
        vy_scenario *again = read_good(printed);
        char *printed_again = vy_scenario_print(again);
        assert_string_equal(printed, printed_again);
        assert_true(vy_scenario_hash(s) == vy_scenario_hash(again));
        assert_memory_equal(&s->drones[1].def.controller.gains,
                            &again->drones[1].def.controller.gains, sizeof(vy_gains));
        free(printed);
        free(printed_again);
        vy_scenario_destroy(s);
        vy_scenario_destroy(again);
    }
}

static void a_host_locale_changes_nothing(void **unused)
{
    (void)unused;
    vy_scenario *s = read_good(everything);
    char *printed = vy_scenario_print(s);
    static const char *const locales[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "fr_FR"};
    size_t i = 0;
    while (i < 4 && setlocale(LC_ALL, locales[i]) == NULL) ++i;
    if (i < 4) {
        char *local = vy_scenario_print(s);
        vy_scenario *again = read_good(local);
        assert_string_equal(local, printed);
        assert_true(vy_scenario_hash(again) == vy_scenario_hash(s));
        setlocale(LC_ALL, "C");
        vy_scenario_destroy(again);
        free(local);
    }
    free(printed);
    vy_scenario_destroy(s);
    if (i == 4) skip();
}

// --- worlds and expectations

static void worlds_built_from_a_print_fly_the_same(void **unused)
{
    (void)unused;
    vy_scenario *s;
    assert_int_equal(vy_scenario_load("scenarios/swarm.yaml", NULL, &s, NULL), VY_OK);
    char *printed = vy_scenario_print(s);
    vy_scenario *again = read_good(printed);
    vy_world *a, *b;
    assert_int_equal(vy_scenario_build(s, &a, NULL), VY_OK);
    assert_int_equal(vy_scenario_build(again, &b, NULL), VY_OK);
    assert_int_equal(vy_world_drone_count(a), s->drone_count);
    vy_world_advance(a, 4000);
    vy_world_advance(b, 4000);
    assert_true(vy_world_hash(a) == vy_world_hash(b));
    vy_world_destroy(a);
    vy_world_destroy(b);
    free(printed);
    vy_scenario_destroy(s);
    vy_scenario_destroy(again);
}

static void a_callback_must_be_given_by_the_program(void **unused)
{
    (void)unused;
    vy_scenario *s = read_good("volery: 1\ndrones: [{controller: {kind: callback}}]\n");
    vy_world *world;
    vy_error err;
    assert_int_equal(vy_scenario_build(s, &world, &err), VY_BAD_VALUE);
    assert_null(world);
    vy_scenario_destroy(s);
}

// A body that falls without air: height and speed have closed forms.
static void expectations_are_judged_by_free_fall(void **unused)
{
    (void)unused;
    vy_scenario *s = read_good(
        "volery: 1\nduration: 1\nworld: {gravity: [0, 0, -10]}\n"
        "drones:\n"
        "  - {name: a, vehicle: &v {mass: 1, inertia: [1, 1, 1]}, start: {position: [3, 4, 10]}, controller: {kind: none}}\n"
        "  - {name: b, vehicle: *v, start: {position: [0, 0, 20]}, controller: {kind: none}}\n"
        "expect:\n"
        "  - {quantity: height, drone: a, min: 5.5}\n"                       // broken at 1 s: 10 - 5
        "  - {quantity: height, drone: a, min: 4.9}\n"                       // met by 0.1
        "  - {quantity: height, at: throughout, min: 4, max: 20.5}\n"        // b at the start is 0.5 from its bound
        "  - {quantity: speed, drone: b, at: end, min: 9.99, max: 10.01}\n"  // g t
        "  - {quantity: speed, drone: b, max: 1, after: 0.5}\n"              // broken, most at the end
        "  - {quantity: distance, drone: a, at: end, min: 4.9, max: 5.1}\n"  // 3-4-5
        "  - {quantity: climb, at: end, max: -9.99}\n"
        "  - {quantity: clamps, max: 0}\n");
    vy_world *world;
    assert_int_equal(vy_scenario_build(s, &world, NULL), VY_OK);
    vy_expect_result r[8];
    vy_expect_begin(s, r);
    assert_false(r[0].measured || r[0].met);
    for (uint64_t i = 0; i < vy_scenario_steps(s); ++i) {
        vy_world_step(world);
        vy_expect_feed(s, world, r);
    }
    static const int met[8] = {0, 1, 1, 1, 0, 1, 1, 1};
    for (int i = 0; i < 8; ++i) assert_int_equal(r[i].met, met[i]);
    assert_near(r[0].worst, 5.0, 1e-9);
    assert_near(r[0].margin, -0.5, 1e-9);
    assert_near(r[0].time, 1.0, 1e-9);
    assert_near(r[1].margin, 0.1, 1e-9);
    assert_int_equal(r[2].drone, 1);
    assert_near(r[2].time, 0.001, 1e-12);
    assert_near(r[3].worst, 10.0, 1e-9);
    assert_near(r[4].worst, 10.0, 1e-9);
    assert_near(r[5].worst, 5.0, 1e-12);
    char *sentence = vy_expect_print(s, 0, &r[0]);
    assert_string_equal(sentence, "height of a at least 5.5 m throughout: not met, worst 5 m at 1 s");
    free(sentence);
    vy_world_destroy(world);
    vy_scenario_destroy(s);
}

static void quantities_of_an_attitude(void **unused)
{
    (void)unused;
    int count;
    const vy_quantity *list = vy_quantities(&count), *tilt = NULL, *yaw = NULL;
    for (int i = 0; i < count; ++i) {
        if (strcmp(list[i].name, "tilt") == 0) tilt = &list[i];
        if (strcmp(list[i].name, "yaw") == 0) yaw = &list[i];
    }
    random_source r = {3};
    for (int i = 0; i < 1000; ++i) {
        const double heading = random_in(&r, -3.1, 3.1), lean = random_in(&r, 0.0, 1.5);
        vy_drone_state d = {.attitude = quat_mul(turn(heading, 0, 0, 1), turn(lean, 0, 1, 0))};
        assert_near(tilt->value(&d), lean, 1e-14);
        assert_near(yaw->value(&d), heading, 1e-14);
        const vy_vec3 up = quat_rotate(d.attitude, (vy_vec3){0, 0, 1});
        assert_near(cos(tilt->value(&d)), up.z, 1e-14);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_of_every_key_arrive),
        cmocka_unit_test(defaults_are_those_of_the_library),
        cmocka_unit_test(hover_follows_mass_and_gravity),
        cmocka_unit_test(units_convert_with_one_rounding),
        cmocka_unit_test(numbers_print_and_read_back_to_the_bit),
        cmocka_unit_test(angles_turn_yaw_then_pitch_then_roll),
        cmocka_unit_test(json_is_read_too),
        cmocka_unit_test(aliases_stand_for_their_anchors),
        cmocka_unit_test(all_mistakes_come_in_one_go),
        cmocka_unit_test(each_mistake_is_named_at_its_place),
        cmocka_unit_test(version_comes_first),
        cmocka_unit_test(carets_stand_under_their_characters),
        cmocka_unit_test(warnings_do_not_refuse),
        cmocka_unit_test(no_more_than_a_hundred_are_listed),
        cmocka_unit_test(alias_bombs_do_no_harm),
        cmocka_unit_test(long_texts_are_refused),
        cmocka_unit_test(files_report_their_own_lines),
        cmocka_unit_test(a_missing_file_is_said),
        cmocka_unit_test(shipped_scenarios_fly_as_they_expect),
        cmocka_unit_test(built_in_vehicles_are_current),
        cmocka_unit_test(pages_are_current),
        cmocka_unit_test(overrides_change_what_they_name),
        cmocka_unit_test(overrides_are_named_when_wrong),
        cmocka_unit_test(hash_covers_every_value_that_matters),
        cmocka_unit_test(every_field_of_a_drone_has_a_key),
        cmocka_unit_test(print_reads_back_the_same),
        cmocka_unit_test(a_host_locale_changes_nothing),
        cmocka_unit_test(worlds_built_from_a_print_fly_the_same),
        cmocka_unit_test(a_callback_must_be_given_by_the_program),
        cmocka_unit_test(expectations_are_judged_by_free_fall),
        cmocka_unit_test(quantities_of_an_attitude),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
