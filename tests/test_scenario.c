// test_scenario.c - scenarios: what is read, what is refused and how, files, overrides.
#include "scenario/number.h"
#include "scenario_text.h"
#include <float.h>

#define VEHICLES                                                                                          \
    "crazyflie21-brushless, crazyflie21, crazyflie2x-physical, crazyflie2x, hexa, octo, reference-quad, " \
    "x500"

static void expect_said_with(const char *text, const vy_scenario_options *options, const char *wanted)
{
    char *said;
    vy_scenario *scenario = read_with(text, options, &said);
    assert_string_equal(said, wanted);
    free(said);
    vy_scenario_destroy(scenario);
}

static void expect_said(const char *text, const char *wanted) { expect_said_with(text, NULL, wanted); }

// --- what is read

static void values_of_every_key_arrive(void **unused)
{
    (void)unused;
    vy_scenario *s = read_good(everything());
    assert_string_equal(s->name, "every kind of thing");
    assert_true(s->seed == UINT64_MAX && s->step == 0.001 && s->duration == 120.0);
    assert_true(s->environment.gravity.uniform.x == 0.01 && s->environment.gravity.uniform.z == -9.7);
    assert_int_equal(s->drone_count, 7);
    const vy_drone_def *a = &s->drones[0].def, *e = &s->drones[4].def;
    assert_true(a->position.y == 2.0 && a->velocity.x == 0.1 && a->rate.x == 1.0 && a->rotor_speed == 1000.0);
    assert_int_equal(a->controller.start.rung, VY_RUNG_MOTORS);
    assert_true(a->controller.start.motors[1] == 0.25 && a->controller.start.motors[4] == 0.0);
    assert_int_equal(a->controller.setpoint_count, 2);
    assert_near(a->controller.setpoints[1].yaw, PI / 2.0, 1e-15);
    assert_near(a->safety.tilt_max, PI / 3.0, 1e-15);
    assert_int_equal(s->drones[1].def.vehicle.allocation, VY_ALLOCATION_PHYSICAL);
    assert_int_equal(s->drones[3].def.controller.kind, VY_CONTROLLER_CALLBACK);
    const vy_controller_def *own = &s->drones[5].def.controller;
    assert_string_equal(own->program, "f.so");
    assert_string_equal(own->folder, "/lib");
    assert_true(own->deadline == 0.02);
    assert_int_equal(own->parameter_count, 2);
    assert_string_equal(own->parameters[1].name, "k-d");
    assert_true(own->parameters[0].value == 1.5 && own->parameters[1].value == -2e-3);
    assert_string_equal(s->drones[6].def.controller.program, "./g a");
    assert_int_equal(s->drones[6].def.controller.any_core, 1);
    assert_true(e->vehicle.inertia.m[0][1] == 0.1 && e->vehicle.rotor_count == 0 && e->rotor_speed == 0.0);
    assert_true(e->imu.period == 0.0 && e->mocap.period == 0.02 && e->mocap.position_noise == 0.002);
    assert_int_equal(s->disturbances[0].drone, 0);
    assert_int_equal(s->disturbances[1].drone, VY_EVERY_DRONE);
    assert_true(s->disturbances[1].def.force.y == 0.001 && s->disturbances[1].def.duration == 0.005);
    assert_int_equal(s->disturbances[2].def.kind, VY_DISTURBANCE_SINUSOID);
    assert_true(s->disturbances[3].def.duration > DBL_MAX);
    assert_true(s->expect[0].min == -DBL_MAX && s->expect[1].min == 0.5 &&
                s->expect[1].at == VY_AT_THROUGHOUT);
    assert_int_equal(s->log.every, 1);
    assert_int_equal(vy_scenario_steps(s), 120000);
    vy_scenario_destroy(s);
}

static void defaults_are_those_of_the_library(void **unused)
{
    (void)unused;
    vy_scenario *s = read_good("volery: 1\ndrones: [{}, {start: {position: [1, 0, 0]}}]\n");
    const vy_drone_def wanted = vy_default_drone_def(), *got = &s->drones[1].def;
    assert_string_equal(s->drones[1].name, "drone1");
    assert_true(got->rotor_speed == wanted.rotor_speed); // hover under standard gravity
    assert_memory_equal(&got->imu, &wanted.imu, sizeof wanted.imu);
    assert_memory_equal(&got->controller.gains, &wanted.controller.gains, sizeof wanted.controller.gains);
    assert_string_equal(got->vehicle.name, "crazyflie2x");
    const vy_world_def world = vy_default_world_def();
    assert_true(s->step == world.dt && s->seed == world.seed &&
                s->environment.gravity.uniform.z == world.environment.gravity.uniform.z);
    vy_scenario_destroy(s);
}

static void hover_follows_mass_and_gravity(void **unused)
{
    (void)unused;
    vy_scenario *s =
        read_good("volery: 1\nworld: {gravity: {uniform: [0, 0, -1.62]}}\n"
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
        {"28 g", "kg", 0.028},
        {"9 ms", "s", 0.009},
        {"9ms", "s", 0.009},
        {"0.1 us", "s", 1e-7},
        {"1e-3 km", "m", 1.0},
        {"180 deg", "rad", PI},
        {"2 min", "s", 120.0},
        {"36 km/h", "m/s", 10.0},
        {"60 rpm", "rad/s", 2 * PI},
        {"-.5", "", -0.5},
        {"+5.", "m", 5.0},
        {"7 kHz", "Hz", 7000.0},
        {"3 mN m s", "N m s", 0.003},
        {"1.5 N", "N", 1.5},
        {"175 ug/sqrt(Hz)", "m/s^2/sqrt(Hz)", 175e-6 * 9.80665},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        double value = (double)NAN;
        assert_int_equal(vy_number_read(cases[i].text, strlen(cases[i].text), cases[i].unit, &value),
                         VY_NUMBER_OK);
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
    vy_scenario *s = read_good(
        "volery: 1\ndrones:\n"
        "  - {name: a, start: {attitude: {yaw: 90 deg}}}\n"
        "  - {name: b, start: {position: [1, 0, 1], attitude: {pitch: 90 deg}}}\n"
        "  - {name: c, start: {position: [2, 0, 1], attitude: {roll: 90 deg}}}\n"
        "  - {name: d, start: {position: [3, 0, 1], attitude: {roll: 0.3, pitch: -0.4, yaw: 1.1}}}\n"
        "  - {name: e, start: {position: [4, 0, 1], attitude: [2, 0, 0, 0]}}\n");
    const vy_vec3 x = {1, 0, 0}, y = {0, 1, 0}, z = {0, 0, 1};
    assert_vec_near(quat_rotate(s->drones[0].def.attitude, x), y, 1e-15); // turns left
    assert_vec_near(quat_rotate(s->drones[1].def.attitude, x), ((vy_vec3){0, 0, -1}),
                    1e-15);                                               // lowers the nose
    assert_vec_near(quat_rotate(s->drones[2].def.attitude, y), z, 1e-15); // raises the left
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
    vy_scenario *s = read_good("{\"volery\": 1, \"duration\": \"2 min\", \"drones\": [{\"name\": \"a\"}]}");
    assert_true(s->duration == 120.0);
    vy_scenario_destroy(s);
}

static void aliases_stand_for_their_anchors(void **unused)
{
    (void)unused;
    vy_scenario *s = read_good("volery: 1\ndrones:\n  - {controller: &c {gains: {rate: &r 12}}}\n"
                               "  - {start: {position: [1, 0, 1]}, controller: *c}\n  - {start: {position: "
                               "[2, 0, 1]}, controller: {gains: {rate: *r}}}\n");
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
                "s.yaml:9:21: rate must be between 0 and 1e+12, got -3\n"
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
                "s.yaml:13:29: no drone is called \"alhpa\"; did you mean alpha?\n"
                "   13 |   - {kind: constant, drone: alhpa, frequency: 3}\n"
                "      |                             ^\n"
                "s.yaml:13:36: frequency does not apply to kind constant\n"
                "   13 |   - {kind: constant, drone: alhpa, frequency: 3}\n"
                "      |                                    ^\n");
}

static const struct {
    const char *body, *said; // body comes after "volery: 1\n"
} mistakes[] = {
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
    {"drones: [{}]\nduration: 0\n", "3:11: duration must be above 0 and at most 1e+09 s, got 0"},
    {"drones: [{vehicle: {base: crazyflie2x, mass: 0}}]\n",
     "2:46: mass must be between 1e-09 and 1e+09 kg, got 0"},
    {"drones: [{}]\nduration: 1e999\n", "3:11: duration must be a finite number, got \"1e999\""},
    {"drones: [{}]\nduration: nan\n", "3:11: duration must be a finite number, got \"nan\""},
    {"drones: [{}]\nduration: 0.1 ms\n", "3:11: duration is less than one step"},
    {"drones: [{}]\nworld: {gravity: {uniform: [0, 0]}}\n",
     "3:28: uniform: expected [3 numbers in m/s^2], got a list of 2"},
    {"drones: [{}]\nseed: 1\nseed: 2\n", "4:1: seed is given twice: first in line 3"},
    {"drones: [{}]\nlog: {every: 0}\n", "3:14: every must be between 1 and 1e+09, got \"0\""},
    {"drones: [{}]\nlog: {compression: zip}\n", "3:20: compression cannot be \"zip\"; there are none, zstd"},
    {"drones: [{}]\nname: \"a\\nb\"\n", "3:7: name must be one line without control characters"},
    {"drones: [{name: 3d}]\n",
     "2:17: name: expected a name (a letter, then letters, digits, - and _), got \"3d\""},
    {"drones: [{name: all}]\n", "2:17: all stands for every drone: use another name"},
    {"drones: [{name: abcdefghijklmnopqrstuvwxyzabcdef}]\n", "2:17: name must have at most 31 bytes, got 32"},
    {"drones: [{vehicle: crazyfly2x}]\n", "2:20: no vehicle is called crazyfly2x: there are " VEHICLES},
    {"drones: [{vehicle: {base: [1], mass: 1}}]\n",
     "2:27: base: expected a name or a path ending in .yaml, got a list of 1"},
    {"drones: [{vehicle: {base: crazyflie2x, inertia: [1, 1, 3]}}]\n",
     "2:49: vehicle.inertia must be symmetric, positive, and no moment above the sum of the others by more "
     "than 5 %"},
    {"drones: [{vehicle: {base: crazyflie2x, mass: 1 kg}}]\n",
     "2:10: rotor_speed of drone0 is 9226.44 rad/s, above its speed_max of 2500 rad/s"},
    {"drones: [{vehicle: {base: crazyflie2x, thrust_coef: 0}}]\n",
     "2:53: thrust_coef must be above 0 N s^2 with rotors"},
    {"drones: [{vehicle: {base: crazyflie2x, rotors: []}}]\n",
     "2:10: drone0 has no rotors and no thrusters to control: use controller: {kind: none}"},
    {"drones: [{vehicle: {base: crazyflie2x, rotors: [{position: [0, 0, 0], spin: 1}]}}]\n",
     "2:77: spin cannot be \"1\"; there are cw, ccw"},
    {"drones: [{start: {attitude: [0, 0, 0, 0]}}]\n", "2:29: attitude must have a length above 0"},
    {"drones: [{start: {attitude: up}}]\n",
     "2:29: attitude: expected [w, x, y, z] or {roll, pitch, yaw}, got \"up\""},
    {"drones: [{start: {rotor_speed: 2600}}]\n",
     "2:32: rotor_speed of drone0 is 2600 rad/s, above its speed_max of 2500 rad/s"},
    {"drones: [{sensors: {imu: {period: 1.5 ms}}}]\n",
     "2:35: sensors.imu.period must be a whole multiple of the step (0.001 s), got 0.0015 s"},
    {"drones: [{controller: {kind: none, rate_period: 2 ms}}]\nstep: 1.5 ms\n",
     "2:49: controller.rate_period must be a whole multiple of the step (0.0015 s), got 0.002 s"},
    {"drones: [{controller: {setpoints: [{time: 1, position: [0, 0, 0]}, {time: 1, position: [0, 0, "
     "1]}]}}]\n",
     "2:75: time must be later than 1 s, that of the setpoint before"},
    {"drones: [{controller: {setpoints: [{time: 1}]}}]\n", "2:36: position is missing"},
    {"drones: [{sensors: {gps: {delay: 0.1}}}]\n", "2:26: period is missing"},
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
    {"drones: [{}]\nexpect: [{quantity: battery_voltage, min: 3}]\n",
     "3:21: battery_voltage: no drone has a battery"},
    {"drones: [{name: a}]\nexpect: [{quantity: battery_charge, drone: a, min: 3}]\n",
     "3:21: battery_charge: a has no battery"},
    {"drones: [{vehicle: {mass: 1, inertia: [1, 1, 1]}, controller: {kind: none}}]\n"
     "expect: [{quantity: motor_max, max: 1}]\n",
     "3:21: motor_max: no drone has a rotor or thruster"},
    // between two keys of a vehicle: at the one that is named
    {"drones: [{vehicle: {base: x500, mass: 2, speed_idle: 9999}}]\n",
     "2:54: vehicle.speed_idle must be below speed_max"},
    {"drones: [{vehicle: {base: x500, mass: 2, battery: {capacity: 9, nominal: 9, voltage: [3, 2, 3, 3, "
     "3]}}}]\n",
     "2:86: vehicle.battery.voltage must be above 0 V and not fall"},
    {"drones: [{vehicle: {base: x500, thrusters: [{position: [0, 0, 0], thrust_max: 1, thrust_min: 2}]}}]\n",
     "2:94: vehicle.thrusters[0].thrust_min must be at least 0 N and below thrust_max"},
    // not YAML, or YAML that has no place here
    {"drones: [{}\n", "3:1: flow sequence without a closing bracket"},
    {"drones: !!seq [{}]\n", "2:15: tags (!name) have no meaning here"},
    {"drones: [{}]\n---\n{}\n", "3:1: a second document: a file holds one"},
    {"drones: [{controller: &a {gains: *a}}]\n", "2:34: an alias may not stand inside its anchor"},
    {"drones: *b\n", "2:9: no anchor of this name stands before this alias"},
    {"? [1, 2]\n: 3\n", "2:3: a key must be a plain word"},
    {"drones: [{}]\nwings: 2\n",
     "3:1: unknown key \"wings\"; there are volery, name, seed, step, duration, world, drones, bodies, "
     "joints, "
     "payloads, terrain, obstacles, contacts, closing, disturbances, faults, expect, log"},
    {"name: \"a\\0b\"\n", "2:7: the character \\0 has no place in a text"},
    {"name: a\xff\n", "2:8: byte 0xff: not a character of UTF-8 text"},
    {"name: \xc3\xa9\xed\xa0\x80\n", "2:8: byte 0xed: not a character of UTF-8 text"},
    {"name: a\x01\n", "2:8: byte 0x01: not a character of UTF-8 text"},
    {"x: [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]\n", "2:35: nested too deeply"},
};

// One mistake per text; the first line of what is said.
static void each_mistake_is_named_at_its_place(void **unused)
{
    (void)unused;
    int wrong = 0;
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; ++i) {
        char text[400], wanted[300], *said;
        snprintf(text, sizeof text, "volery: 1\n%s", mistakes[i].body);
        snprintf(wanted, sizeof wanted, "s.yaml:%s\n", mistakes[i].said);
        vy_scenario_destroy(read_with(text, NULL, &said));
        const char *caret = strstr(said, "^\n"); // the end: nothing else is said
        if (strncmp(said, wanted, strlen(wanted)) != 0 || caret == NULL || caret[2] != '\0') {
            print_error("wanted %sgot    %s", wanted, said);
            ++wrong;
        }
        free(said);
    }
    assert_int_equal(wrong, 0);
}

static void version_comes_first(void **unused)
{
    (void)unused;
    expect_said(
        "",
        "s.yaml:1:1: a scenario has the line `volery: 1`, the version of the format\n    1 | \n      | ^\n");
    expect_said("seed: 1\n", "s.yaml:1:1: a scenario has the line `volery: 1`, the version of the format\n"
                             "    1 | seed: 1\n      | ^\n");
    expect_said("volery: 2\nnew_key: 1\n", // not: unknown key
                "s.yaml:1:9: version 2 of the format is newer than this program, which reads version 1\n"
                "    1 | volery: 2\n      |         ^\n");
    expect_said(
        "volery: one\ndrones: [{}]\n",
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
                "s.yaml:3:18: unknown key \"seed\"; there are name, vehicle, start, sensors, estimator, "
                "controller, mission, safety, shape, crash\n"
                "    3 |   - {\"n\xc3\xa4me\": 1, \tseed: 2}\n"
                "      |                 \t^\n");
}

static void warnings_do_not_refuse(void **unused)
{
    (void)unused;
    static const char periods[] = "drones: [{sensors: {imu: {period: %s}, mocap: {period: %s}}, "
                                  "controller: {period: %s, rate_period: %s}}]\n";
    char text[300], body[250];
    snprintf(body, sizeof body, periods, "6 ms", "12 ms", "12 ms", "6 ms");
    snprintf(text, sizeof text, "volery: 1\nstep: 6 ms\n%s", body);
    expect_said(
        text, "s.yaml:2:7: warning: step is above 5 ms: flights will differ from those with a smaller step\n"
              "    2 | step: 6 ms\n      |       ^\n");
    snprintf(body, sizeof body, periods, "5 ms", "10 ms", "10 ms", "5 ms");
    snprintf(text, sizeof text, "volery: 1\nstep: 5 ms\n%s", body);
    vy_scenario_destroy(read_good(text)); // 15 ms over three
    char faster[400];
    snprintf(faster, sizeof faster,
             "volery: 1\nstep: 2.5 ms\n%.*s, vehicle: {base: crazyflie2x, motor_lag: 7 ms}}]\n",
             (int)strlen(body) - 3, body);
    expect_said(
        faster,
        "s.yaml:2:7: warning: step is above a third of the motors' time constant (0.007 s of crazyflie2x): "
        "flights will differ from those with a smaller step\n"
        "    2 | step: 2.5 ms\n      |       ^\n");
    // A script's line that no firmware hears; with a duration by --set it is meant.
    static const char script[] = "volery: 1\nduration: %s\ndrones: [{vehicle: x500, sensors: {imu: bmi088}, "
                                 "controller: {kind: betaflight, command: none, period: 1 ms, truth: on, "
                                 "script: [\n {time: 1 s, do: arm},\n {time: 3 s, do: disarm}]}}]\n";
    snprintf(faster, sizeof faster, script, "3.001 s");
    vy_scenario_destroy(read_good(faster));
    snprintf(faster, sizeof faster, script, "3 s");
    expect_said(faster,
                "s.yaml:5:9: warning: script: line 2 is at 3 s, and the run ends at 3 s: the firmware is "
                "never told\n"
                "    5 |  {time: 3 s, do: disarm}]}}]\n      |         ^\n");
}

static void bare_angles_beyond_a_turn_draw_a_warning(void **unused)
{
    (void)unused;
    expect_said(
        "volery: 1\ndrones:\n  - start: {attitude: {yaw: 90}}\n",
        "s.yaml:3:29: warning: yaw: 90 is in radians, more than a turn; write 90 deg for degrees, 90 rad "
        "if it is meant\n"
        "    3 |   - start: {attitude: {yaw: 90}}\n"
        "      |                             ^\n");
    expect_said(
        "volery: 1\ndrones: [{}]\nexpect: [{quantity: tilt, max: -2e1}]\n",
        "s.yaml:3:32: warning: max: -2e1 is in radians, more than a turn; write -2e1 deg for degrees, "
        "-2e1 rad if it is meant\n"
        "    3 | expect: [{quantity: tilt, max: -2e1}]\n"
        "      |                                ^\n");
    // It is a warning alone: the value is used as it stands. With a unit it is clear what is meant.
    char *said;
    vy_scenario *s = read_with(
        "volery: 1\ndrones: [{controller: {setpoints: [{time: 0, position: [0, 0, 1], yaw: 7}]}}]\n", NULL,
        &said);
    assert_true(s != NULL && s->drones[0].def.controller.setpoints[0].yaw == 7.0);
    free(said);
    vy_scenario_destroy(s);
    vy_scenario_destroy(read_good("volery: 1\ndrones:\n"
                                  "  - {name: a, start: {position: [0, 0, 1], attitude: {yaw: 90 rad}}}\n"
                                  "  - {name: b, start: {position: [0, 9, 1], attitude: {yaw: 900 deg}}}\n"
                                  "  - {name: c, start: {position: [9, 0, 1], attitude: {yaw: 6.28}}}\n"));
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
    expect_said_with(
        "volery: 1\ndrones:\n  - {vehicle: bad.yaml}\n  - {vehicle: bad.yaml}\n  - {vehicle: none.yaml}\n",
        &options,
        "dir/bad.yaml:2:7: mass: expected a number in kg (or g, mg), got \"28 mm\"\n"
        "    2 | mass: 28 mm\n      |       ^\n"
        "dir/bad.yaml:3:1: unknown key \"speed\"; did you mean speed_max?\n"
        "    3 | speed: 3\n      | ^\n"
        "s.yaml:5:15: there is no file none.yaml, seen from the folder of s.yaml\n"
        "    5 |   - {vehicle: none.yaml}\n      |               ^\n");
    assert_int_equal(calls, 2); // each file is read once
    expect_said_with("volery: 1\ndrones: [{vehicle: loop.yaml}]\n", &options,
                     "dir/loop.yaml:1:7: 8 files include each other here: does one include itself?\n"
                     "    1 | base: loop.yaml\n      |       ^\n");
    expect_said_with("volery: 1\ndrones: [{vehicle: torn.yaml}]\n", &options,
                     "dir/torn.yaml:2:1: flow sequence without a closing bracket\n    2 | \n      | ^\n");
    expect_said_with("volery: 1\ndrones: [{vehicle: locked.yaml}]\n", &options,
                     "s.yaml:2:20: locked.yaml: the system could not read or write\n"
                     "    2 | drones: [{vehicle: locked.yaml}]\n      |                    ^\n");
    char *said;
    vy_scenario *s =
        read_with("volery: 1\ndrones: [{vehicle: {base: good.yaml, motor_lag: 0}}]\n", &options, &said);
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
    static const char text[] =
        "volery: 1\ndrones:\n  - {name: a, controller: &c {gains: {rate: 20}}}\n"
        "  - {name: b, start: {position: [1, 0, 1]}, controller: *c, vehicle: crazyflie2x-physical}\n"
        "disturbances: [{kind: constant, force: [1, 0, 0]}]\n";
    vy_scenario *s = read_set(text, "seed=3");
    assert_true(s->seed == 3);
    vy_scenario_destroy(s);
    s = read_set(text, "drones.b.controller.gains.rate=30"); // an alias of a's controller, which stays
    assert_true(s->drones[0].def.controller.gains.rate == 20.0 &&
                s->drones[1].def.controller.gains.rate == 30.0);
    vy_scenario_destroy(s);
    s = read_set(text, "drones.b.vehicle.mass=31 g"); // on top of the file named there
    assert_true(s->drones[1].def.vehicle.mass == 0.031);
    assert_int_equal(s->drones[1].def.vehicle.allocation, VY_ALLOCATION_PHYSICAL);
    vy_scenario_destroy(s);
    s = read_set(text, "drones[0].vehicle.mass=31 g"); // on top of the default
    assert_true(s->drones[0].def.vehicle.mass == 0.031 && s->drones[0].def.vehicle.rotor_count == 4);
    vy_scenario_destroy(s);
    s = read_set(text, "world.gravity.uniform=[0, 0, -3.7]"); // a section that is not there
    assert_true(s->environment.gravity.uniform.z == -3.7);
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
        {"drones[0].controller.period=1.5 ms",
         "controller.period must be a whole multiple of the step (0.001 s), got 0.0015 s"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        const vy_scenario_options options = {.overrides = &cases[i].override, .override_count = 1};
        char wanted[300];
        snprintf(wanted, sizeof wanted, "--set %s: %s\n", cases[i].override, cases[i].said);
        expect_said_with("volery: 1\ndrones: [{name: a}, {name: b}]\n", &options, wanted);
    }
}

// A copy stands alone: it prints the same, and outlives what it was made from.
static void a_copy_stands_alone(void **unused)
{
    (void)unused;
    static const char *const files[] = {"scenarios/canyon.yaml", "scenarios/shock.yaml",
                                        "scenarios/attitude/actuator-degradation.yaml",
                                        "scenarios/slung-load.yaml"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; ++i) { // a wind grid; disturbances; faults; joints
        vy_scenario *s = NULL, *copy = NULL;
        assert_int_equal(vy_scenario_load(files[i], NULL, &s, NULL), VY_OK);
        char *before = vy_scenario_print(s);
        assert_int_equal(vy_scenario_copy(s, &copy, NULL), VY_OK);
        vy_scenario_destroy(s);
        char *after = vy_scenario_print(copy);
        assert_string_equal(before, after);
        free(before);
        free(after);
        vy_scenario_destroy(copy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copy_stands_alone),
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
        cmocka_unit_test(bare_angles_beyond_a_turn_draw_a_warning),
        cmocka_unit_test(no_more_than_a_hundred_are_listed),
        cmocka_unit_test(alias_bombs_do_no_harm),
        cmocka_unit_test(long_texts_are_refused),
        cmocka_unit_test(files_report_their_own_lines),
        cmocka_unit_test(a_missing_file_is_said),
        cmocka_unit_test(overrides_change_what_they_name),
        cmocka_unit_test(overrides_are_named_when_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
