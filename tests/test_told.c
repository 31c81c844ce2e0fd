// test_told.c - what a controller is told, at the start and in each call, and what its status does.
#include "check.h"
#include "host/start.h"
#include "volery/host.h"
#include "volery/scenario.h"
#include "volery/world.h"
#include <stdlib.h>
#include <string.h>

enum { STEPS = 400, CHANGE = 100 };

// --- every call

typedef struct diary {
    vy_samples seen[STEPS + 1]; // by tick
    uint64_t status;            // of its replies from tick CHANGE on
    int calls;
} diary;

static void keep(void *self, const vy_samples *samples, vy_intent *intent)
{
    diary *d = self;
    d->seen[samples->tick] = *samples;
    ++d->calls;
    intent->rung = VY_RUNG_MOTORS;
    for (int i = 0; i < 4; ++i) intent->motors[i] = samples->tick < CHANGE ? 0.6 : 0.7;
    if (samples->tick >= CHANGE) intent->status = d->status;
}

static vy_world *fly_in(const vy_world_def *w, vy_drone_def *def, diary *d)
{
    vy_world *world = NULL;
    def->controller.kind = VY_CONTROLLER_CALLBACK;
    def->controller.period = w->dt;
    def->controller.call = keep;
    def->controller.self = d;
    assert_int_equal(vy_world_create(w, &world, NULL), VY_OK);
    assert_int_equal(vy_world_add_drone(world, def, NULL, NULL), VY_OK);
    assert_int_equal(vy_world_keep_loads(world, 1, NULL), VY_OK);
    (void)vy_world_advance(world, STEPS);
    return world;
}

static vy_world *fly(vy_drone_def *def, diary *d)
{
    const vy_world_def w = vy_default_world_def();
    return fly_in(&w, def, d);
}

static vy_vec3 slope(vy_vec3 before, vy_vec3 after, double time)
{
    return (vy_vec3){(after.x - before.x) / time, (after.y - before.y) / time, (after.z - before.z) / time};
}

// Velocity, acceleration and yaw rate are the derivatives of position and yaw, along setpoints and along a
// path; where the plan begins and ends they are at rest.
static void reference_is_that_of_the_plan(void **unused)
{
    (void)unused;
    for (int path = 0; path < 2; ++path) {
        vy_drone_def def = vy_default_drone_def();
        static diary d;
        memset(&d, 0, sizeof d);
        vy_controller_def *c = &def.controller;
        c->setpoint_count = path ? 0 : 2;
        c->setpoints[0] = (vy_setpoint){0.05, {0.0, 1.0, 1.0}, 0.5};
        c->setpoints[1] = (vy_setpoint){0.35, {1.0, -1.0, 2.0}, -1.5};
        if (path) {
            c->path.kind = VY_PATH_CIRCLE;
            c->path.start = 0.0;
            c->path.speed = 4.0;
            c->path.ramp = 0.1;
        }
        vy_world *world = fly(&def, &d);
        const double h = vy_default_world_def().dt;
        for (int t = 3; t < STEPS; ++t) {
            const vy_reference *a = &d.seen[t - 1].reference, *b = &d.seen[t].reference,
                               *e = &d.seen[t + 1].reference;
            const int leaps = path ? t >= 99 && t <= 101 : (t >= 49 && t <= 51) || (t >= 349 && t <= 351);
            assert_vec_near(b->velocity, slope(a->position, e->position, 2.0 * h), 5e-3);
            if (!leaps) // the jerk: a difference is no derivative there
                assert_vec_near(b->acceleration, slope(a->velocity, e->velocity, 2.0 * h), 0.05);
            assert_near(b->yaw_rate, (e->yaw - a->yaw) / (2.0 * h), 5e-3);
        }
        if (path) {
            const vy_reference *r = &d.seen[300].reference; // on the circle of 1 m at 4 m/s
            assert_near(sqrt(r->position.x * r->position.x + r->position.y * r->position.y), 1.0, 1e-9);
            assert_near(sqrt(r->acceleration.x * r->acceleration.x + r->acceleration.y * r->acceleration.y),
                        16.0, 1e-9);
        } else {
            const vy_reference *middle = &d.seen[200].reference; // minimum jerk: 15/8 of the mean speed
            assert_vec_near(middle->position, ((vy_vec3){0.5, 0.0, 1.5}), 1e-9);
            assert_near(middle->velocity.y, -2.0 / 0.3 * 15.0 / 8.0, 1e-9);
            assert_near(middle->yaw_rate, -2.0 / 0.3 * 15.0 / 8.0, 1e-9);
            assert_near(d.seen[400].reference.yaw, -1.5, 0.0);
            assert_vec_near(d.seen[400].reference.velocity, ((vy_vec3){0.0, 0.0, 0.0}), 0.0);
        }
        vy_world_destroy(world);
    }
    // Without a plan: the start.
    vy_drone_def def = vy_default_drone_def();
    static diary d;
    memset(&d, 0, sizeof d);
    def.position = (vy_vec3){3.0, 4.0, 5.0};
    vy_world_destroy(fly(&def, &d));
    assert_vec_near(d.seen[STEPS].reference.position, def.position, 0.0);
}

// The truth comes only where it was asked for, and then it is that of the world.
static void truth_where_asked_for(void **unused)
{
    (void)unused;
    for (int on = 0; on < 2; ++on) {
        vy_drone_def def = vy_default_drone_def();
        static diary d;
        vy_drone_state state;
        memset(&d, 0, sizeof d);
        def.controller.truth = on;
        vy_world *world = fly(&def, &d);
        assert_int_equal(vy_world_read_drone(world, vy_world_drone(world, 0), &state), VY_OK);
        const vy_truth_sample zero = {
            {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
        const vy_truth_sample *t = &d.seen[STEPS].truth;
        if (!on) {
            assert_memory_equal(t, &zero, sizeof zero);
        } else {
            assert_memory_equal(&t->position, &state.position, sizeof t->position);
            assert_memory_equal(&t->velocity, &state.velocity, sizeof t->velocity);
            assert_memory_equal(&t->attitude, &state.attitude, sizeof t->attitude);
            assert_memory_equal(&t->rate, &state.rate, sizeof t->rate);
        }
        vy_world_destroy(world);
    }
}

// Its wind is the air that has acted on the drone: the mean, and the gusts of that step.
static void truth_has_the_wind(void **unused)
{
    (void)unused;
    const vy_vec3 mean = {4.0, -2.0, 0.5};
    for (int gusts = 0; gusts < 2; ++gusts) {
        vy_world_def w = vy_default_world_def();
        vy_drone_def def = vy_default_drone_def();
        static diary d;
        vy_loads loads;
        memset(&d, 0, sizeof d);
        w.environment.wind.constant = mean;
        w.environment.nap.strict = 1;
        if (gusts) w.environment.wind.turbulence.wind20 = 8.0;
        def.controller.truth = 1;
        def.position.z = 30.0;
        vy_world *world = fly_in(&w, &def, &d);
        assert_int_equal(vy_world_read_loads(world, vy_world_body(world, 0), &loads), VY_OK);
        const vy_vec3 wind = d.seen[STEPS].truth.wind;
        assert_vec_near(wind, loads.wind, 1e-12);
        const double gust = fabs(wind.x - mean.x) + fabs(wind.y - mean.y) + fabs(wind.z - mean.z);
        assert_true(gusts ? gust > 0.01 : gust < 1e-12);
        vy_world_destroy(world);
    }
}

// Armed, disarmed, stale, and what a callback may not say.
static void status_acts_on_the_motors(void **unused)
{
    (void)unused;
    static const struct {
        uint64_t status;
        vy_failure_reason reason;
        double motor; // command in the end
        int armed;
    } cases[] = {
        {VY_REPLY_STATUS_ARMED, VY_FAILURE_NONE, 0.7, 1},
        {VY_REPLY_STATUS_DISARMED, VY_FAILURE_NONE, 0.0, 0},
        {VY_REPLY_STATUS_STALE, VY_FAILURE_NONE, 0.6, 1},
        {VY_REPLY_STATUS_NOT_READY, VY_FAILURE_CONTROLLER, 0.6, 1},
        {VY_REPLY_STATUS_STALE + 1, VY_FAILURE_COMMAND, 0.6, 1},
        {(uint64_t)1 << 40, VY_FAILURE_COMMAND, 0.6, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        vy_drone_def def = vy_default_drone_def();
        static diary d;
        memset(&d, 0, sizeof d);
        d.status = cases[i].status;
        vy_world *world = fly(&def, &d);
        vy_drone_state state;
        assert_int_equal(vy_world_read_drone(world, vy_world_drone(world, 0), &state), VY_OK);
        const vy_failure failure = vy_world_failure(world);
        assert_int_equal(failure.reason, cases[i].reason);
        if (failure.reason != VY_FAILURE_NONE) assert_int_equal(failure.tick, CHANGE);
        if (failure.reason == VY_FAILURE_CONTROLLER) assert_int_equal(failure.verdict, VY_VERDICT_NOT_READY);
        assert_near(state.motor_command[0], cases[i].motor, 0.0);
        assert_int_equal(state.samples.armed, cases[i].armed);
        assert_int_equal(d.seen[1].armed, 0); // its first intent has not acted yet
        assert_int_equal(d.seen[CHANGE].armed, 1);
        if (cases[i].status == VY_REPLY_STATUS_DISARMED) assert_true(state.rotor_speed[0] < 1.0);
        vy_world_destroy(world);
    }
}

// --- programs

static vy_drone_def process_of(const char *mode)
{
    vy_drone_def def = vy_default_drone_def();
    def.controller.kind = VY_CONTROLLER_PROCESS;
    def.controller.deadline = 60.0;
    snprintf(def.controller.program, sizeof def.controller.program, "%s %s", PROCESS_ODD, mode);
    return def;
}

static uint64_t fly_process(vy_drone_def *def, vy_failure *failure)
{
    vy_host *host = NULL;
    vy_error err = {0};
    const vy_world_def w = vy_default_world_def();
    if (vy_host_open(def, "alpha", w.dt, NULL, &host, &err) != VY_OK) fail_msg("%s", err.text);
    vy_world *world = NULL;
    assert_int_equal(vy_world_create(&w, &world, NULL), VY_OK);
    assert_int_equal(vy_world_add_drone(world, def, NULL, NULL), VY_OK);
    (void)vy_world_advance(world, STEPS);
    *failure = vy_world_failure(world);
    const uint64_t hash = vy_world_hash(world);
    vy_world_destroy(world);
    vy_host_close(host);
    return hash;
}

// Booting uses up no simulated time: the flight has the bits of one that was ready at once. One that never is
// ready ends the run when its time is over.
static void booting_takes_no_time(void **unused)
{
    (void)unused;
    vy_failure failure;
    vy_drone_def good = process_of("good"), boots = process_of("boot"), never = process_of("unready");
    const uint64_t wanted = fly_process(&good, &failure);
    assert_int_equal(failure.reason, VY_FAILURE_NONE);
    assert_true(fly_process(&boots, &failure) == wanted);
    assert_int_equal(failure.reason, VY_FAILURE_NONE);
    never.controller.boot = 0.1;
    (void)fly_process(&never, &failure);
    assert_int_equal(failure.reason, VY_FAILURE_CONTROLLER);
    assert_int_equal(failure.verdict, VY_VERDICT_NOT_READY);
    assert_int_equal(failure.tick, 100);
    assert_near(failure.limit, 0.1, 0.0);
}

// --- sentences

static void verdicts_name_what_to_change(void **unused)
{
    (void)unused;
    static const struct {
        vy_verdict verdict;
        int32_t detail;
        double limit;
        const char *said, *text;
    } cases[] = {
        {VY_VERDICT_CRASHED, 11, 0.0, NULL, "crashed: signal 11, segmentation fault"},
        {VY_VERDICT_CRASHED, 64, 0.0, NULL, "crashed: signal 64, see signal(7)"},
        {VY_VERDICT_LATE, 0, 0.25, NULL, "did not reply within its deadline of 0.25 s: `deadline` sets it"},
        {VY_VERDICT_NOT_READY, 0, 11.0, NULL,
         "was not ready within 11 s of wall clock: `boot` sets how long it may take"},
        {VY_VERDICT_ENDED, 5, 0.0, NULL, "ended before the run did, with exit status 5"},
        {VY_VERDICT_ENDED, 127, 0.0, NULL,
         "ended before the run did, with exit status 127: the shell has found no such program"},
        {VY_VERDICT_ENDED, -1, 0.0, NULL, "ended before the run did: it closed its end of the wire"},
        {VY_VERDICT_SIZE, 40, 0.0, NULL, "sent a reply of the wrong size, 40 bytes: each rung has its own"},
        {VY_VERDICT_GARBAGE, 0x6c6c6568, 0.0, "hello",
         "wrote 'hello' on stdout, which is the wire: print to stderr"},
        {VY_VERDICT_GARBAGE, 0x6c6c6568, 0.0, NULL,
         "wrote 'hell...' on stdout, which is the wire: print to stderr"},
        {VY_VERDICT_GARBAGE, 0x73706f6f, 0.0, "oops\001\002",
         "wrote 'oops...' on stdout, which is the wire: print to stderr"},
        {VY_VERDICT_GARBAGE, 0x01706f6f, 0.0, "oop\001\002", NULL}, // too short to be taken for text
        {VY_VERDICT_GARBAGE, 0x0a0a6968, 0.0, NULL,
         "wrote 'hi' on stdout, which is the wire: print to stderr"},
        {VY_VERDICT_GARBAGE, 0, 0.0, NULL,
         "sent something that is no reply: there is no such rung, or a status or flag that is no whole "
         "number"},
        {VY_VERDICT_GARBAGE, 64, 0.0, "", NULL}, // a size, from an older log
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        char text[200];
        vy_verdict_print(cases[i].verdict, cases[i].detail, cases[i].limit, cases[i].said, text, sizeof text);
        if (cases[i].text != NULL)
            assert_string_equal(text, cases[i].text);
        else
            assert_null(strstr(text, "stdout"));
    }
}

// --- the start

static const char scenario_text[] =
    "volery: 1\nduration: 1 s\n"
    "world: {planet: {origin: {latitude: 30 deg, longitude: -60 deg, height: 100 m}}}\n"
    "drones:\n"
    "  - {name: first}\n"
    "  - name: second\n"
    "    vehicle: x500\n"
    "    start: {position: [1, 2, 3], attitude: {yaw: 90 deg}}\n"
    "    sensors: {baro: bmp388, gps: neo-m9n}\n"
    "    controller:\n"
    "      kind: process\n"
    "      command: ./fly\n"
    "      parameters: {kp: 1.5, on: true, off: false, model: \"a \\\"b\\\" c\", word: plain text, list: [1, "
    "[x, 2.5]],\n"
    "                   map: {a: {b: 1e-3}}, negative: -0.1, like: \"12\"}\n";

static vy_scenario *parse(const char *text)
{
    vy_scenario *s = NULL;
    vy_diagnostics found;
    const vy_status status = vy_scenario_parse(text, strlen(text), "told", NULL, &s, &found);
    if (status != VY_OK) fail_msg("%s", found.count > 0 ? found.items[0].text : "?");
    vy_diagnostics_destroy(&found);
    return s;
}

static char *print(const vy_plugin_start *start, const vy_drone_def *def)
{
    vy_text out = {0};
    vy_start_print(start, def, &out);
    char *text = vy_text_take(&out);
    assert_non_null(text);
    return text;
}

// In C a drone may have any name; the message is JSON all the same.
static void odd_names_come_back(void **unused)
{
    (void)unused;
    static const char *const names[] = {"a \"b\"", "back\\slash", "two\nlines", "{x: [1, ~]}", "\xc3\xa9"};
    vy_scenario *s = parse(scenario_text);
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
        vy_plugin_start start;
        start_message *m = NULL;
        const vy_drone_def *def = &s->drones[1].def;
        assert_int_equal(vy_start_fill(def, names[i], s->step, &s->environment.planet, &start, NULL), VY_OK);
        char *text = print(&start, def);
        assert_int_equal(vy_start_read(text, strlen(text), &m, NULL), VY_OK); // takes the text
        assert_string_equal(m->start.drone, names[i]);
        vy_start_release(m);
    }
    vy_scenario_destroy(s);
}

// What is printed reads back as the same vehicle, sensors and parameters: printed again it is the same text.
// A served plug-in is told what one in a process of its own is.
static void start_message_comes_back(void **unused)
{
    (void)unused;
    vy_scenario *s = parse(scenario_text);
    const vy_drone_def *def = &s->drones[1].def;
    vy_plugin_start start;
    assert_int_equal(vy_start_fill(def, "second", s->step, &s->environment.planet, &start, NULL), VY_OK);
    assert_int_equal(start.instance, 1);
    assert_true(start.has_home && start.has_origin);
    assert_near(start.origin_latitude, PI / 6.0, 1e-15);
    assert_near(start.origin_height, 100.0, 0.0);
    char *text = print(&start, def);
    start_message *m = NULL;
    char *copy = malloc(strlen(text) + 1);
    assert_non_null(copy);
    memcpy(copy, text, strlen(text) + 1);
    assert_int_equal(vy_start_read(copy, strlen(text), &m, NULL), VY_OK);
    assert_string_equal(m->start.json, text);
    // Estimator and safety are in the text alone: those of the other drone stand in for them.
    m->drone.estimator = def->estimator;
    m->drone.safety = def->safety;
    char *again = print(&m->start, &m->drone);
    assert_string_equal(again, text);
    assert_memory_equal(m->start.allocation, start.allocation, sizeof start.allocation);
    assert_memory_equal(m->start.thrust_limit, start.thrust_limit, sizeof start.thrust_limit);
    assert_near(vy_plugin_parameter(&m->start, "kp", 0.0), 1.5, 0.0);
    assert_near(vy_plugin_parameter(&m->start, "on", 0.5), 1.0, 0.0);
    assert_near(vy_plugin_parameter(&m->start, "off", 0.5), 0.0, 0.0);
    assert_near(vy_plugin_parameter(&m->start, "none", 0.5), 0.5, 0.0);
    assert_near(vy_plugin_parameter(&m->start, "model", 0.5), 0.5, 0.0); // no number
    assert_string_equal(vy_plugin_text(&m->start, "model", ""), "a \"b\" c");
    assert_string_equal(vy_plugin_text(&m->start, "word", ""), "plain text");
    assert_string_equal(vy_plugin_text(&m->start, "list", ""), "[1, [\"x\", 2.5]]");
    assert_string_equal(vy_plugin_text(&m->start, "map", ""), "{\"a\": {\"b\": 0.001}}");
    assert_string_equal(vy_plugin_text(&m->start, "like", ""), "12");
    assert_string_equal(vy_plugin_text(&m->start, "kp", "none"), "none");
    free(again);
    free(text);
    vy_start_release(m);
    // And the scenario, printed, is the same: so is its hash.
    char *resolved = vy_scenario_print(s);
    vy_scenario *second = parse(resolved), *third = NULL;
    assert_true(vy_scenario_hash(second) == vy_scenario_hash(s));
    assert_int_equal(vy_scenario_copy(second, &third, NULL), VY_OK);
    vy_scenario_destroy(second);
    assert_true(vy_scenario_hash(third) == vy_scenario_hash(s));
    third->drones[1].def.controller.parameters[1].value = 0.0; // on
    assert_true(vy_scenario_hash(third) != vy_scenario_hash(s));
    vy_scenario_destroy(third);
    free(resolved);
    vy_scenario_destroy(s);
}

// The wrench of each rotor is r x F and the reaction to its spin; the documented rows have pitch and yaw
// negated.
static void allocation_is_that_of_the_rotors(void **unused)
{
    (void)unused;
    static const char *const names[] = {"crazyflie2x-physical", "x500", "hexa", "crazyflie2x"};
    for (size_t k = 0; k < sizeof names / sizeof names[0]; ++k) {
        vy_drone_def def = vy_default_drone_def();
        vy_plugin_start s;
        assert_int_equal(vy_vehicle_preset(names[k], &def.vehicle, NULL), VY_OK);
        assert_int_equal(vy_start_fill(&def, "a", 1e-3, NULL, &s, NULL), VY_OK);
        const vy_vehicle_def *v = &def.vehicle;
        const double sign = v->allocation == VY_ALLOCATION_DOCUMENTED ? -1.0 : 1.0;
        for (int i = 0; i < v->rotor_count; ++i) {
            const vy_rotor_def *r = &v->rotors[i];
            assert_near(s.allocation[0][i], 1.0, 1e-12);
            assert_near(s.allocation[1][i], r->position.y - v->centre_of_mass.y, 1e-12);
            assert_near(s.allocation[2][i], sign * -(r->position.x - v->centre_of_mass.x), 1e-12);
            assert_near(s.allocation[3][i], sign * -r->spin * v->torque_coef / v->thrust_coef, 1e-12);
            assert_near(s.thrust_limit[i], v->thrust_coef * v->speed_max * v->speed_max, 1e-9);
        }
    }
}

// A cut, broken or foreign message is refused, whatever was done to it.
static void broken_messages_are_refused(void **unused)
{
    (void)unused;
    const vy_drone_def def = vy_default_drone_def();
    vy_plugin_start start;
    assert_int_equal(vy_start_fill(&def, "a", 1e-3, NULL, &start, NULL), VY_OK);
    char *text = print(&start, &def);
    const size_t size = strlen(text);
    random_source random = {7};
    for (int i = 0; i < 300; ++i) {
        char *bad = malloc(size + 1);
        assert_non_null(bad);
        memcpy(bad, text, size + 1);
        size_t length = size;
        if (i % 2 == 0) length = (size_t)random_in(&random, 0.0, (double)size);
        for (int k = 0; i % 2 == 1 && k < 1 + i % 5; ++k) {
            const size_t at = (size_t)random_in(&random, 0.0, (double)size);
            bad[at] = (char)random_bits(&random);
        }
        start_message *m = NULL;
        if (vy_start_read(bad, length, &m, NULL) == VY_OK) // a digit or a letter of a name
            assert_true(length == size && m->start.rotor_count == 4);
        vy_start_release(m);
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reference_is_that_of_the_plan),
        cmocka_unit_test(truth_where_asked_for),
        cmocka_unit_test(truth_has_the_wind),
        cmocka_unit_test(status_acts_on_the_motors),
        cmocka_unit_test(booting_takes_no_time),
        cmocka_unit_test(verdicts_name_what_to_change),
        cmocka_unit_test(start_message_comes_back),
        cmocka_unit_test(odd_names_come_back),
        cmocka_unit_test(allocation_is_that_of_the_rotors),
        cmocka_unit_test(broken_messages_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
