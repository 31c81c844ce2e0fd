// test_origin_flights.c - scenarios at places of the Earth: hovers, missions, ground, and every flat scenario
// that is shipped.
#include "scenario_text.h"
#include <dirent.h>

static const char hover[] = "volery: 1\n"
                            "duration: 60 s\n"
                            "world: {planet: {origin: {latitude: %s, longitude: %s, height: 300 m}}}\n"
                            "drones: [{name: a, vehicle: crazyflie2x, start: {position: [0, 0, 1]}}]\n"
                            "expect:\n"
                            "  - {quantity: position_error, max: 2 cm}\n"
                            "  - {quantity: height, min: 0.98 m, max: 1.02 m}\n"
                            "  - {quantity: altitude, min: 300.98 m, max: 301.02 m}\n"
                            "  - {quantity: tilt, max: 2 deg}\n"
                            "  - {quantity: ground_speed, max: 0.1 m/s}\n";

// Fly a scenario to its end; the number of its expectations that are not met, each told.
static int fly_scenario(const char *name, vy_scenario *s)
{
    vy_world *world = NULL;
    vy_error err = {0};
    if (vy_scenario_build(s, &world, &err) != VY_OK) fail_msg("%s: %s", name, err.text);
    vy_expect_result *results = calloc((size_t)s->expect_count + 1, sizeof *results);
    assert_non_null(results);
    vy_expect_begin(s, results);
    vy_expect_feed(s, world, results);
    const uint64_t steps = vy_scenario_steps(s);
    uint32_t events = 0;
    for (uint64_t i = 0; i < steps && !(events & VY_EVENT_FAILED); ++i) {
        events = vy_world_step(world);
        vy_expect_feed(s, world, results);
    }
    int broken = 0;
    for (int i = 0; i < s->expect_count; ++i) {
        if (results[i].met) continue;
        char *text = vy_expect_print(s, i, &results[i]);
        print_message("%s: %s\n", name, text);
        free(text);
        ++broken;
    }
    free(results);
    vy_world_destroy(world);
    return broken;
}

static int fly_text(const char *name, const char *text)
{
    vy_scenario *s = read_good(text);
    const int broken = fly_scenario(name, s);
    vy_scenario_destroy(s);
    return broken;
}

// At 45 N, at 80 S, on the date line and at the poles.
static void drones_hover_everywhere(void **unused)
{
    (void)unused;
    static const char *const places[][2] = {{"45 deg", "7 deg"},   {"-80 deg", "-60 deg"},
                                            {"10 deg", "180 deg"}, {"90 deg", "0 deg"},
                                            {"-90 deg", "50 deg"}, {"0 deg", "-180 deg"}};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; ++i) {
        char text[1000];
        snprintf(text, sizeof text, hover, places[i][0], places[i][1]);
        assert_int_equal(fly_text(places[i][0], text), 0);
    }
}

// 5 km to the north and back, by geodetic waypoints, on GPS, barometer, magnetometer and IMU through a Kalman
// filter; the tangent plane is 2 m above the ground there.
static void a_mission_of_5_km_passes_its_waypoints(void **unused)
{
    (void)unused;
    const char text[] =
        "volery: 1\n"
        "duration: 1310 s\n"
        "step: 4 ms\n"
        "world: {atmosphere: {mode: layered}, planet: {origin: {latitude: 45 deg, longitude: 7 deg, height: "
        "250 m}}}\n"
        "drones:\n"
        "  - name: a\n"
        "    vehicle: x500\n"
        "    start: {latitude: 45 deg, longitude: 7 deg, altitude: 300 m}\n"
        "    sensors: {imu: {period: 4 ms}, mocap: {period: none}, gps: {period: 200 ms}, baro: {period: 40 "
        "ms}, "
        "mag: {period: 20 ms}}\n"
        "    estimator: {kind: ekf}\n"
        "    mission:\n"
        "      - {time: 10 s, latitude: 45 deg, longitude: 7 deg, height: 0 m, above: start}\n"
        "      - {time: 600 s, latitude: 45.045 deg, longitude: 7 deg, height: 50 m, above: ground}\n"
        "      - {time: 700 s, latitude: 45.045 deg, longitude: 7 deg, height: 320 m}\n"
        "      - {time: 1290 s, latitude: 45 deg, longitude: 7 deg, height: 50 m, above: ground}\n"
        "expect:\n"
        "  - {quantity: latitude, at: reached, within: 620 s, min: 45.04498 deg}\n"
        "  - {quantity: latitude, at: end, min: 44.99998 deg, max: 45.00002 deg}\n"
        "  - {quantity: altitude, at: end, min: 298 m, max: 302 m}\n"
        "  - {quantity: estimate_error, max: 4 m}\n"
        "  - {quantity: height, min: 47 m}\n";
    assert_int_equal(fly_text("5 km", text), 0);
}

// 50 km to the east: the Earth falls away by 196 m.
static void a_mission_of_50_km_passes_its_waypoints(void **unused)
{
    (void)unused;
    const char text[] =
        "volery: 1\n"
        "duration: 3020 s\n"
        "step: 4 ms\n"
        "world: {planet: {origin: {latitude: 45 deg, longitude: 179.8 deg, height: 250 m}}}\n"
        "terrain: {kind: plane}\n"
        "drones:\n"
        "  - name: a\n"
        "    vehicle: x500\n"
        "    start: {position: [0, 0, 100]}\n"
        "    sensors: {truth: on}\n"
        "    mission:\n"
        "      - {time: 0 s, latitude: 45 deg, longitude: 179.8 deg, height: 0 m, above: start}\n"
        "      - {time: 3000 s, latitude: 45 deg, longitude: -179.565 deg, height: 100 m, above: ground}\n"
        "expect:\n"
        "  - {quantity: z, at: end, max: -95 m}\n"
        "  - {quantity: height, at: end, min: 99.95 m, max: 100.05 m}\n"
        "  - {quantity: altitude, at: end, min: 349.95 m, max: 350.05 m}\n"
        "  - {quantity: longitude, at: end, min: -179.565001 deg, max: -179.564999 deg}\n"
        "  - {quantity: distance, at: end, min: 50 km, max: 50.1 km}\n"
        "  - {quantity: position_error, at: end, max: 1 cm}\n";
    assert_int_equal(fly_text("50 km", text), 0);
}

// Landing, sliding and sleeping, 5 km from the origin: there z of the ground is -1.957 m to the east.
static void things_rest_on_the_ground(void **unused)
{
    (void)unused;
    const char text[] =
        "volery: 1\n"
        "duration: 12 s\n"
        "world: {planet: {origin: {latitude: 45 deg, longitude: 7 deg, height: 250 m}}}\n"
        "terrain: {kind: plane}\n"
        "contacts: {sleep: {after: 1 s}}\n"
        "drones:\n"
        "  - name: a\n"
        "    vehicle: crazyflie2x\n"
        "    start: {position: [5000, 0, -1]}\n"
        "    sensors: {truth: on}\n"
        "    controller: {setpoints: [{time: 1 s, position: [5000, 0, -1]}, "
        "{time: 5 s, position: [5000, 0, -2.5]}]}\n"
        "bodies:\n"
        "  - {name: box, density: 500 kg/m^3, shape: {kind: box, size: [50 cm, 50 cm, 50 cm]}, "
        "position: [-5000, 0, -1.69], velocity: [0, 2, 0]}\n"
        "  - {name: ball, density: 500 kg/m^3, shape: {kind: sphere, radius: 20 cm}, "
        "position: [0, 5000, -1]}\n"
        "expect:\n"
        "  - {quantity: touching, drone: a, at: end, min: 1}\n"
        "  - {quantity: height, drone: a, at: end, min: 0 m, max: 5 cm}\n"
        "  - {quantity: z, drone: a, at: end, min: -1.96 m, max: -1.9 m}\n"
        "  - {quantity: asleep, drone: box, at: end, min: 1}\n"
        "  - {quantity: y, drone: box, at: end, min: 20 cm, max: 70 cm}\n"
        "  - {quantity: height, drone: box, at: end, min: 24.9 cm, max: 25.1 cm}\n"
        "  - {quantity: height, drone: ball, at: end, min: 19.8 cm, max: 20.1 cm}\n"
        "  - {quantity: ground_speed, drone: ball, at: end, max: 0.01 m/s}\n";
    assert_int_equal(fly_text("ground", text), 0);
}

static vy_failure failure_with(const char *safety)
{
    char text[700];
    snprintf(text, sizeof text,
             "volery: 1\n"
             "duration: 3 s\n"
             "world: {planet: {origin: {latitude: 45 deg, longitude: 7 deg, height: 250 m}}}\n"
             "drones:\n"
             "  - name: a\n"
             "    vehicle: crazyflie2x\n"
             "    start: {latitude: 45 deg, longitude: 7.6 deg, altitude: 270 m}\n"
             "    sensors: {truth: on}\n"
             "    safety: {%s}\n",
             safety);
    vy_scenario *s = read_good(text);
    vy_world *world = NULL;
    vy_error err = {0};
    if (vy_scenario_build(s, &world, &err) != VY_OK) fail_msg("%s", err.text);
    for (uint64_t i = 0; i < vy_scenario_steps(s) && !(vy_world_step(world) & VY_EVENT_FAILED); ++i) {
    }
    const vy_failure f = vy_world_failure(world);
    vy_world_destroy(world);
    vy_scenario_destroy(s);
    return f;
}

// 47 km to the east z of a hover at 20 m is -153 m, and up is 0.42 degrees from z: limits are about the
// ground below.
static void limits_follow_the_ground(void **unused)
{
    (void)unused;
    assert_int_equal(
        failure_with("height_min: 19.5 m, height_max: 20.5 m, tilt_max: 0.35 deg, fall_max: 0.2 m/s, "
                     "ground: on, fence: {kind: box, min: [0, -200, 19], max: [50000, 200, 21]}")
            .reason,
        VY_FAILURE_NONE);
    const vy_failure high = failure_with("height_min: 0 m, height_max: 19.9 m"),
                     out = failure_with("fence: {kind: box, min: [0, -200, 0], max: [50000, 200, 19]}");
    assert_int_equal(high.reason, VY_FAILURE_HEIGHT);
    assert_near(high.value, 20.0, 0.02);
    assert_int_equal(out.reason, VY_FAILURE_FENCE);
    assert_near(out.value, 1.0, 0.02);
}

// --- what is shipped

// Its place, gravity or field is declared by name, so that the one at 45 degrees is another.
static int is_apart(const char *name)
{
    static const char *const apart[] = {"mission.yaml",   // has a place of its own
                                        "satellite.yaml", // weightless
                                        "tumble.yaml"};   // weightless, and judged by its rate in space
    for (size_t i = 0; i < sizeof apart / sizeof apart[0]; ++i) {
        if (strcmp(name, apart[i]) == 0) return 1;
    }
    return 0;
}

static int needs_a_program(const vy_scenario *s)
{
    for (int i = 0; i < s->drone_count; ++i) {
        if (vy_controller_is_external(s->drones[i].def.controller.kind)) return 1;
    }
    return 0;
}

// Returns how many were flown.
static int fly_folder(const char *where, int *broken)
{
    static const char *const place[] = {"world.planet.origin.latitude=45 deg",
                                        "world.planet.origin.longitude=7 deg",
                                        "world.planet.origin.height=0 m"};
    const vy_scenario_options options = {.overrides = place, .override_count = 3};
    DIR *folder = opendir(where);
    assert_non_null(folder);
    int flown = 0;
    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        char path[300];
        const size_t size = strlen(entry->d_name);
        if (size < 5 || strcmp(entry->d_name + size - 5, ".yaml") != 0 || is_apart(entry->d_name)) continue;
        snprintf(path, sizeof path, "%s/%s", where, entry->d_name);
        vy_scenario *s = NULL;
        vy_diagnostics told;
        if (vy_scenario_load(path, &options, &s, &told) != VY_OK) fail_msg("%s", vy_diagnostics_print(&told));
        vy_diagnostics_destroy(&told);
        assert_true(s->environment.planet.origin.gm > 0.0);
        if (!needs_a_program(s)) {
            *broken += fly_scenario(entry->d_name, s);
            ++flown;
        }
        vy_scenario_destroy(s);
    }
    closedir(folder);
    return flown;
}

static void shipped_scenarios_fly_at_45_degrees(void **unused)
{
    (void)unused;
    int broken = 0;
    const int flown = fly_folder("scenarios", &broken) + fly_folder("scenarios/attitude", &broken);
    print_message("origin: %d shipped scenarios flown at 45 N\n", flown);
    assert_true(flown >= 34);
    assert_int_equal(broken, 0);
}

// NASA's check cases judge themselves.
static void check_cases_meet_nasas_values(void **unused)
{
    (void)unused;
    for (int i = 1; i <= 10; ++i) {
        char path[64];
        snprintf(path, sizeof path, "scenarios/nesc/case%02d.yaml", i);
        vy_scenario *s = NULL;
        vy_diagnostics told;
        if (vy_scenario_load(path, NULL, &s, &told) != VY_OK) fail_msg("%s", vy_diagnostics_print(&told));
        vy_diagnostics_destroy(&told);
        assert_true(s->expect_count >= 8);
        assert_int_equal(fly_scenario(path, s), 0);
        vy_scenario_destroy(s);
    }
}

// --- mistakes, one sentence each

static void check_said(const char *text, const char *part)
{
    char *said;
    vy_scenario *s = read_with(text, NULL, &said);
    if (s != NULL || strstr(said, part) == NULL) fail_msg("%s: %s", part, said);
    vy_scenario_destroy(s);
    free(said);
}

static void mistakes_are_named(void **unused)
{
    (void)unused;
    check_said(
        "volery: 1\nworld: {planet: {origin: {latitude: 45 deg, height: -13 km}}}\ndrones: [{name: a}]\n",
        "deepest sea floor");
    check_said("volery: 1\nworld: {planet: {origin: {latitude: 45 deg, date: 2031}}}\ndrones: [{name: a}]\n",
               "2025 to 2030");
    check_said("volery: 1\nworld: {planet: {origin: {latitude: 91 deg}}}\ndrones: [{name: a}]\n", "latitude");
    check_said(
        "volery: 1\nworld: {planet: {origin: {latitude: 45 deg}}}\n"
        "drones: [{name: a, mission: [{time: 1 s, latitude: -45 deg, longitude: 180 deg, height: 0 m}]}]\n",
        "km from planet.origin");
    check_said(
        "volery: 1\ndrones: [{name: a, mission: [{time: 1 s, latitude: 0, longitude: 0, height: 0}]}]\n",
        "needs planet.origin");
    check_said(
        "volery: 1\nworld: {planet: {radius: 3396.2 km, origin: {latitude: 45 deg}}}\ndrones: [{name: a}]\n",
        "not the Earth");
    check_said(
        "volery: 1\nworld: {gravity: {mode: central, bodies: [{gm: 1e14}]}, planet: {origin: {latitude: 45 "
        "deg}}}\ndrones: [{name: a}]\n",
        "leave gravity out");
    check_said("volery: 1\ndrones: [{name: a}]\nexpect: [{quantity: latitude, max: 1}]\n", "flat");
}

// Dates as decimal years: the part of the year that has passed at the start of the day.
static void dates_are_years(void **unused)
{
    (void)unused;
    const char form[] =
        "volery: 1\nworld: {planet: {origin: {latitude: 45 deg, date: %s}}}\ndrones: [{name: a}]\n";
    static const struct {
        const char *text;
        double years;
    } good[] = {{"2025-01-01", 2025.0},
                {"2026-07-02", 2026.0 + 182.0 / 365.0},
                {"2028-02-29", 2028.0 + 59.0 / 366.0},
                {"2028-03-01", 2028.0 + 60.0 / 366.0},
                {"2027-12-31", 2027.0 + 364.0 / 365.0},
                {"2026.25", 2026.25}};
    static const char *const bad[] = {"2027-02-29", "2026-13-01", "2026-00-10", "2026-04-31",
                                      "2026-4-1",   "2026-04-00", "01-02-2026", "2026-06-21T00:00"};
    char text[200];
    for (size_t n = 0; n < sizeof good / sizeof good[0]; ++n) {
        snprintf(text, sizeof text, form, good[n].text);
        vy_scenario *s = read_good(text);
        assert_near(s->environment.planet.origin.date, good[n].years, 1e-12);
        vy_scenario_destroy(s);
    }
    for (size_t n = 0; n < sizeof bad / sizeof bad[0]; ++n) {
        snprintf(text, sizeof text, form, bad[n]);
        check_said(text, "a date YYYY-MM-DD");
    }
}

// What is printed of a resolved scenario reads as the same one.
static void resolved_scenarios_read_alike(void **unused)
{
    (void)unused;
    vy_scenario *a = read_good(
        "volery: 1\n"
        "world: {planet: {origin: {latitude: 45 deg, longitude: 7 deg, height: 250 m}}}\n"
        "drones: [{name: a, start: {latitude: 45.001 deg, longitude: 7 deg, altitude: 260 m}, "
        "mission: [{time: 1 s, latitude: 45 deg, longitude: 7 deg, height: 5 m, above: ground}]}]\n");
    char *text = vy_scenario_print(a);
    vy_scenario *b = read_good(text);
    assert_int_equal(vy_scenario_hash(a), vy_scenario_hash(b));
    assert_near(b->drones[0].def.position.y, 111.1, 0.2);
    assert_near(b->drones[0].def.controller.setpoints[0].position.z, 5.0, 1e-6);
    assert_near(b->environment.magnetic_field.z, -41554.9e-9, 1e-9);
    free(text);
    vy_scenario_destroy(a);
    vy_scenario_destroy(b);
    // Without an origin nothing is resolved.
    a = read_good("volery: 1\ndrones: [{name: a}]\n");
    text = vy_scenario_print(a);
    b = read_good(text);
    assert_true(b->environment.planet.origin.gm == 0.0 && b->environment.planet.radius == 0.0);
    free(text);
    vy_scenario_destroy(a);
    vy_scenario_destroy(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drones_hover_everywhere),
        cmocka_unit_test(a_mission_of_5_km_passes_its_waypoints),
        cmocka_unit_test(a_mission_of_50_km_passes_its_waypoints),
        cmocka_unit_test(things_rest_on_the_ground),
        cmocka_unit_test(limits_follow_the_ground),
        cmocka_unit_test(shipped_scenarios_fly_at_45_degrees),
        cmocka_unit_test(check_cases_meet_nasas_values),
        cmocka_unit_test(mistakes_are_named),
        cmocka_unit_test(dates_are_years),
        cmocka_unit_test(resolved_scenarios_read_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
