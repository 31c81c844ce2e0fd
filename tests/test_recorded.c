// test_recorded.c - recorded flights: as controllers, as starts, and as what a run is compared with.
#include "flight.h"
#include "volery/scenario.h"
#include <stdlib.h>
#include <string.h>

enum { STEPS = 2000, COLUMNS = 5 };

// A flight from place to place by the built-in controller.
static vy_drone_def flyer(void)
{
    vy_drone_def d = vy_default_drone_def();
    d.position = (vy_vec3){0, 0, 2};
    d.attitude = turn(0.2, 0.6, 0.8, 0);
    d.rate = (vy_vec3){0.3, -0.2, 0.1};
    d.controller.setpoint_count = 2;
    d.controller.setpoints[0] = (vy_setpoint){0.2, {0, 0, 2}, 0.0};
    d.controller.setpoints[1] = (vy_setpoint){1.5, {1, -0.5, 2.5}, 0.7};
    return d;
}

// What it commands and how its rotors turn, at every step; where it is.
typedef struct flight {
    double commands[STEPS + 1][COLUMNS], speeds[STEPS + 1][COLUMNS];
    vy_drone_state states[STEPS + 1];
} flight;

static void fly_once(flight *f)
{
    const vy_drone_def d = flyer();
    vy_world *world = fly(&d);
    for (int i = 0; i <= STEPS; ++i) {
        if (i > 0) (void)vy_world_step(world);
        f->states[i] = state_of(world, 0);
        f->commands[i][0] = f->speeds[i][0] = vy_world_time(world);
        memcpy(&f->commands[i][1], f->states[i].motor_command, 4 * sizeof(double));
        memcpy(&f->speeds[i][1], f->states[i].rotor_speed, 4 * sizeof(double));
    }
    vy_world_destroy(world);
}

static vy_drone_def player(double *values, int rows, vy_record_kind plays)
{
    vy_drone_def d = flyer();
    d.controller = vy_default_controller_def();
    d.controller.kind = VY_CONTROLLER_RECORDED;
    d.controller.period = 0.001;
    d.controller.record_kind = plays;
    d.controller.record = (vy_numbers){values, rows, COLUMNS};
    return d;
}

// Commands of every step, played from the same start, are the same flight to the bit; half of it as well, for
// half of the time, whatever comes behind. Rotor speeds of every step are the same flight but for rounding.
static void a_flight_is_played_again(void **unused)
{
    (void)unused;
    flight *f = malloc(sizeof *f);
    assert_non_null(f);
    fly_once(f);
    for (int speeds = 0; speeds < 2; ++speeds) {
        const vy_drone_def d = player(speeds ? f->speeds[0] : f->commands[0], STEPS + 1,
                                      speeds ? VY_RECORD_SPEEDS : VY_RECORD_MOTORS);
        vy_world *world = fly(&d);
        for (int i = 1; i <= STEPS; ++i) {
            (void)vy_world_step(world);
            const vy_drone_state s = state_of(world, 0);
            const vy_drone_state *w = &f->states[i];
            const double tolerance = speeds ? 1e-9 : 0.0;
            assert_vec_near(s.position, w->position, tolerance);
            assert_vec_near(s.velocity, w->velocity, 10.0 * tolerance);
            assert_vec_near(s.rate, w->rate, 1e3 * tolerance);
            for (int k = 0; k < 4; ++k)
                assert_near(s.rotor_speed[k], w->rotor_speed[k], speeds ? 1e-9 * 2500.0 : 0.0);
        }
        vy_world_destroy(world);
    }
    free(f);
}

// A row acts from the step nearest to its time until the next; before the first the start does, and the last
// one stays. Speeds change in proportion between rows.
static void rows_act_in_their_time(void **unused)
{
    (void)unused;
    double rows[] = {0.0104, 0.5, 0.6, 0.7, 0.8, 0.02, 0.1, 0.2, 0.3, 0.4, 0.03, 0.9, 1.0, 0.0, 2.0};
    vy_drone_def d = player(rows, 3, VY_RECORD_MOTORS);
    d.rotor_speed = 1000.0;
    vy_world *world = fly(&d);
    memset(rows, 0, sizeof rows); // the world has its own
    for (int i = 1; i < 60; ++i) {
        (void)vy_world_step(world);
        const vy_drone_state s = state_of(world, 0);
        const double first = i < 10 ? 1000.0 / 2500.0 : i < 20 ? 0.5 : i < 30 ? 0.1 : 0.9;
        assert_near(s.motor_command[0], first, 1e-15);
        if (i >= 30) assert_near(s.motor_command[3], 1.0, 0.0); // clamped
        if (i == 29) assert_int_equal(s.clamps, 0);
        if (i == 31) assert_int_equal(s.clamps, 2);
    }
    vy_world_destroy(world);
    double speeds[] = {0.0, 1000, 1100, 1200, 1300, 0.02, 1200, 1100, 1000, 1300};
    d = player(speeds, 2, VY_RECORD_SPEEDS);
    world = fly(&d);
    for (int i = 1; i < 40; ++i) {
        (void)vy_world_step(world);
        const vy_drone_state s = state_of(world, 0);
        const double share = i < 20 ? i / 20.0 : 1.0;
        assert_near(s.rotor_speed[0], 1000.0 + 200.0 * share, 1e-9);
        assert_near(s.rotor_speed[2], 1200.0 - 200.0 * share, 1e-9);
    }
    vy_world_destroy(world);
}

static void bad_records_are_refused(void **unused)
{
    (void)unused;
    double good[] = {0.0, 0.5, 0.5, 0.5, 0.5, 0.1, 0.5, 0.5, 0.5, 0.5}, back[10], odd[10];
    memcpy(back, good, sizeof good);
    memcpy(odd, good, sizeof good);
    back[5] = 0.0;
    odd[7] = NOT_A_NUMBER;
    const struct {
        vy_numbers record;
        const char *says;
    } list[] = {{{NULL, 0, 0}, "record is missing"},
                {{good, 2, 4}, "rows of 5 numbers"},
                {{back, 2, 5}, "record[1]: its time must be after"},
                {{odd, 2, 5}, "record[1] must be finite"}};
    const vy_world_def wd = vy_default_world_def();
    vy_world *world = NULL;
    assert_int_equal(vy_world_create(&wd, &world, NULL), VY_OK);
    for (size_t i = 0; i < sizeof list / sizeof list[0]; ++i) {
        vy_drone_def d = player(NULL, 0, VY_RECORD_MOTORS);
        d.controller.record = list[i].record;
        vy_error err = {0};
        if (vy_world_add_drone(world, &d, NULL, &err) != VY_BAD_VALUE ||
            strstr(err.text, list[i].says) == NULL)
            fail_msg("bad record %zu (%s) got: %s", i, list[i].says, err.text);
    }
    vy_world_destroy(world);
}

// ---- scenarios

static const char *const table = "t_ms,m1,m2,m3,m4,x,y,z,vx,qw,qx,qy,qz,w4\n"
                                 "1000,100,200,300,400,1,2,3,0.5,1,0,0,0,900\n"
                                 "1010,110,210,310,410,1.1,2,3,0.5,1,0,0,0,910\n"
                                 "1020,120,220,320,420,1.2,2,3.2,0.7,1,0,0,0,920\n";
#define MOTORS "time=t_ms ms, motor.0=m4 /1000, motor.1=m1 /1000, motor.2=m2 /1000, motor.3=m3 /1000"
#define PLACES "time=t_ms ms, position.x=x, position.y=y, position.z=z"

static vy_status give_table(void *self, const char *name, const char *from, vy_source_text *out)
{
    (void)from;
    if (strcmp(name, "flight.csv") != 0) return VY_NOT_FOUND;
    const char *text = self != NULL ? self : table;
    out->name = calloc(1, 16);
    out->text = malloc(strlen(text) + 1);
    strcpy(out->name, name);
    strcpy(out->text, text);
    out->size = strlen(text);
    return VY_OK;
}

static vy_scenario *scenario_of(const char *text, const char *file, char **said)
{
    vy_scenario *s = NULL;
    vy_diagnostics d;
    const vy_scenario_options options = {.load = give_table, .self = (void *)file};
    (void)vy_scenario_parse(text, strlen(text), "test", &options, &s, &d);
    *said = vy_diagnostics_print(&d);
    vy_diagnostics_destroy(&d);
    return s;
}

// A scenario that names a file holds its rows: printed it is the same scenario without any file.
static void files_become_rows(void **unused)
{
    (void)unused;
    char *said;
    vy_scenario *s = scenario_of(
        "volery: 1\nduration: 1\ndrones:\n"
        "  - start: {file: flight.csv, columns: \"" PLACES "\", at: 5 ms, velocity: [0, 0, 1]}\n"
        "    controller: {kind: recorded, file: flight.csv, columns: \"" MOTORS "\", from: 10 ms}\n"
        "expect:\n"
        "  - {quantity: position_error, error_to: flight.csv, columns: \"" PLACES "\", max: 5}\n",
        NULL, &said);
    if (s == NULL) fail_msg("%s", said);
    free(said);
    const vy_drone_def *d = &s->drones[0].def;
    assert_int_equal(d->controller.record.rows, 2);
    assert_int_equal(d->controller.record.columns, 5);
    const double wanted[] = {0.0, 0.41, 0.11, 0.21, 0.31, 0.01, 0.42, 0.12, 0.22, 0.32};
    for (int i = 0; i < 10; ++i) assert_near(d->controller.record.values[i], wanted[i], 1e-15);
    assert_near(d->controller.period, s->step, 0.0);
    assert_vec_near(d->position, ((vy_vec3){1.05, 2, 3}), 1e-12);
    assert_vec_near(d->velocity, ((vy_vec3){0, 0, 1}), 0.0); // what is given counts
    assert_int_equal(s->expect[0].trajectory.rows, 3);
    char *print = vy_scenario_print(s);
    vy_scenario *again = scenario_of(print, "nothing", &said), *copy = NULL;
    if (again == NULL) fail_msg("%s", said);
    free(said);
    assert_int_equal(vy_scenario_hash(again), vy_scenario_hash(s));
    char *second = vy_scenario_print(again);
    assert_string_equal(print, second);
    assert_int_equal(vy_scenario_copy(s, &copy, NULL), VY_OK);
    assert_int_equal(vy_scenario_hash(copy), vy_scenario_hash(s));
    vy_scenario_destroy(copy);
    vy_scenario_destroy(again);
    vy_scenario_destroy(s);
    free(print);
    free(second);
}

// The error to a recorded flight is the distance from it, in proportion between rows and no longer than it
// lasts.
static void runs_are_compared_with_a_flight(void **unused)
{
    (void)unused;
    char *said;
    vy_scenario *s =
        scenario_of("volery: 1\nduration: 1\nworld: {gravity: {uniform: [0, 0, 0]}}\ndrones:\n"
                    "  - {vehicle: {base: crazyflie2x, drag_linear: [0, 0, 0]}, controller: {kind: none}, "
                    "start: {position: [1, 2, 3], velocity: [1, 0, 0], rotor_speed: 0}}\n"
                    "expect:\n"
                    "  - {quantity: position_error, error_to: flight.csv, columns: \"" PLACES "\", max: 1}\n",
                    NULL, &said);
    if (s == NULL) fail_msg("%s", said);
    free(said);
    vy_world *world = NULL;
    assert_int_equal(vy_scenario_build(s, &world, NULL), VY_OK);
    vy_expect_result result;
    vy_expect_begin(s, &result);
    double worst = 0.0;
    for (int i = 1; i <= 100; ++i) {
        (void)vy_world_step(world);
        vy_expect_feed(s, world, &result);
        const double t = vy_world_time(world), x = 1.0 + 10.0 * t,
                     z = t < 0.01 ? 3.0 : 3.0 + 20.0 * (t - 0.01);
        if (t < 0.0205) worst = fmax(worst, hypot(1.0 + t - x, 3.0 - z));
    }
    assert_true(result.met);
    assert_near(result.worst, worst, 1e-9);
    vy_world_destroy(world);
    vy_scenario_destroy(s);
}

static void bad_files_are_one_sentence(void **unused)
{
    (void)unused;
    static const struct {
        const char *drone, *file, *says;
    } list[] = {
        {"controller: {kind: recorded}", NULL, "record is missing: give `file`"},
        {"controller: {kind: recorded, file: other.csv}", NULL, "file: other.csv cannot be read"},
        {"controller: {kind: recorded, file: flight.csv}", NULL, "time"},
        {"controller: {kind: recorded, file: flight.csv, columns: \"time=t_ms ms, motor.0=m1 /1000\"}", NULL,
         "flight.csv has no column for motor.1"},
        {"controller: {kind: recorded, file: flight.csv, columns: \"time=t_ms ms, motor.0=m9\"}", NULL, "m9"},
        {"controller: {kind: recorded, file: flight.csv, columns: \"time=t_ms furlong\"}", NULL, "furlong"},
        {"controller: {kind: recorded, file: flight.csv, columns: \"" MOTORS "\", from: 2 s}", NULL,
         "ends after 0.02 s, before 2 s"},
        {"controller: {kind: recorded, file: flight.csv, record: [[0, 0, 0, 0, 0]]}", NULL,
         "give record or file, not both"},
        {"controller: {kind: recorded, record: [[0, 0, 0, 0, 0]], from: 1 s}", NULL, "are for `file`"},
        {"controller: {kind: recorded, record: [[0, 0, 0, 0]]}", NULL, "rows of 5 numbers"},
        {"controller: {kind: recorded, record: [[0, 0, 0, 0, 0], [0, 0, 0, 0, 0]]}", NULL, "must be after"},
        {"controller: {kind: recorded, file: flight.csv}",
         "time,motor.0,motor.1,motor.2,motor.3\n0,0.1,0.1,0.1,0.1\n0.1,0.1,what,0.1,0.1\n", "flight.csv:3:"},
        {"controller: {kind: recorded, file: flight.csv}",
         "time,motor.0,motor.1,motor.2,motor.3\n0,0.1,0.1,0.1,0.1\n0.1,0.1,0.1,7,0.1\n",
         "flight.csv:3:4: motor.2 is 7"},
        {"controller: {kind: recorded, file: flight.csv}",
         "time,rotor.0,rotor.1,rotor.2,rotor.3\n0,1,1,1,1\n0.1,1,-100,1,1\n",
         "flight.csv:3:3: rotor.1 is -100"},
        {"start: {file: flight.csv}", "time,motor.0\n0,0.1\n0.1,0.1\n", "says nothing of the start"},
        {"start: {file: flight.csv, columns: \"" PLACES "\", at: 3 s}", NULL, "ends after 0.02 s"},
        {"start: {file: flight.csv, columns: \"time=t_ms ms, position.x=x\"}", NULL,
         "flight.csv has no column for position.y"},
        {"start: {at: 1 s}", NULL, "are for `file`"},
        {"start: {rotor_speeds: [1, 9999]}", NULL, "rotor_speeds[1]"},
        {"start: {rotor_speeds: [1, 2, 3, 4, 5]}", NULL, "rotor_speeds[4]: drone0 has 4 rotors"},
        {"start: {rotor_speed: 0}\nexpect:\n  - {quantity: speed, error_to: flight.csv, columns: \"" PLACES
         "\", max: 1}",
         NULL, "a recorded trajectory has a position_error"},
    };
    for (size_t i = 0; i < sizeof list / sizeof list[0]; ++i) {
        char text[1000], *said;
        snprintf(text, sizeof text, "volery: 1\ndrones:\n  - %s\n", list[i].drone);
        vy_scenario *s = scenario_of(text, list[i].file, &said);
        if (s != NULL || strstr(said, list[i].says) == NULL)
            fail_msg("bad flight %zu (%s) got: %s", i, list[i].says, said);
        free(said);
    }
}

// ---- starts

static void rotors_start_each_at_its_speed(void **unused)
{
    (void)unused;
    vy_drone_def d = quiet_drone();
    const double speeds[4] = {1000.0, 0.0, 1500.0, 2000.0};
    memcpy(d.rotor_speeds, speeds, sizeof speeds);
    vy_world *world = fly(&d);
    vy_drone_state s = state_of(world, 0);
    for (int i = 0; i < 4; ++i) assert_near(s.rotor_speed[i], speeds[i], 0.0);
    (void)vy_world_advance(world, 50); // and keep it
    s = state_of(world, 0);
    for (int i = 0; i < 4; ++i) assert_near(s.rotor_speed[i], speeds[i], 1e-9);
    vy_world_destroy(world);
}

// A drone put where another is goes on as that one does.
static void a_drone_is_put_elsewhere(void **unused)
{
    (void)unused;
    vy_drone_def d = quiet_drone();
    d.truth = 1;
    d.imu.period = d.mocap.period = 0.0;
    vy_world *there = fly(&d);
    d.position = (vy_vec3){3, 2, 1};
    d.velocity = (vy_vec3){-1, 0, 2};
    d.attitude = turn(1.0, 0.6, 0, 0.8);
    d.rate = (vy_vec3){1, 2, 3};
    vy_world *here = fly(&d);
    const vy_drone_state from = state_of(here, 0);
    vy_drone_motion m = {from.position, from.velocity, from.attitude, from.rate, {0}};
    memcpy(m.rotor_speed, from.rotor_speed, sizeof m.rotor_speed);
    vy_error err = {0};
    assert_int_equal(vy_world_set_drone(there, vy_world_drone(there, 0), &m, &err), VY_OK);
    for (int i = 0; i < 200; ++i) {
        const vy_drone_state a = state_of(here, 0), b = state_of(there, 0);
        assert_vec_near(a.position, b.position, 0.0);
        assert_vec_near(a.samples.estimate.velocity, b.samples.estimate.velocity, 0.0);
        (void)vy_world_step(here);
        (void)vy_world_step(there);
    }
    const uint64_t before = vy_world_state_hash(there);
    m.rotor_speed[2] = 1e6;
    assert_int_equal(vy_world_set_drone(there, vy_world_drone(there, 0), &m, &err), VY_BAD_VALUE);
    assert_non_null(strstr(err.text, "rotor_speed[2]"));
    m.rotor_speed[2] = 0.0;
    m.velocity.y = NOT_A_NUMBER;
    assert_int_equal(vy_world_set_drone(there, vy_world_drone(there, 0), &m, &err), VY_BAD_VALUE);
    assert_int_equal(vy_world_set_drone(there, (vy_drone_id){0}, &m, &err), VY_NOT_FOUND);
    assert_int_equal(vy_world_state_hash(there), before);
    vy_world_destroy(here);
    vy_world_destroy(there);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_flight_is_played_again),        cmocka_unit_test(rows_act_in_their_time),
        cmocka_unit_test(bad_records_are_refused),         cmocka_unit_test(files_become_rows),
        cmocka_unit_test(runs_are_compared_with_a_flight), cmocka_unit_test(bad_files_are_one_sentence),
        cmocka_unit_test(rotors_start_each_at_its_speed),  cmocka_unit_test(a_drone_is_put_elsewhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
