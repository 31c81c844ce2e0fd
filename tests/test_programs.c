// test_programs.c - programs that a log names: not started until they are allowed, and the log is sound.
#define _POSIX_C_SOURCE 200809L // mkdtemp
#include "check.h"
#include "volery/host.h"
#include "volery/record.h"
#include "volery/scenario.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/volery-programs-XXXXXX";
static char log_path[64], sprung[64];

static void quiet(void *self, const vy_samples *samples, vy_intent *intent)
{
    (void)self;
    (void)samples;
    intent->rung = VY_RUNG_NONE;
}

// A log of one drone whose controller would leave a file behind; its hash is off by `wrong`.
static vy_log *make_log(uint64_t wrong)
{
    char text[400];
    snprintf(text, sizeof text,
             "volery: 1\nduration: 10 ms\n"
             "drones: [{name: a, controller: {kind: process, folder: /tmp, command: \"touch %s\"}}]\n",
             sprung);
    vy_scenario *s = NULL;
    vy_world *world = NULL;
    vy_recorder *r = NULL;
    vy_log *log = NULL;
    const char *names[] = {"a"};
    assert_int_equal(vy_scenario_parse(text, strlen(text), "s", NULL, &s, NULL), VY_OK);
    s->drones[0].def.controller.call = quiet;
    assert_int_equal(vy_scenario_build(s, &world, NULL), VY_OK);
    vy_recorder_def def = vy_default_recorder_def();
    char *print = vy_scenario_print(s);
    def.path = log_path;
    def.scenario = print;
    def.config_hash = vy_scenario_hash(s) + wrong;
    def.names = names;
    assert_int_equal(vy_recorder_open(&def, world, &r, NULL), VY_OK);
    vy_world_set_sink(world, vy_recorder_sink(r));
    (void)vy_world_advance(world, 10);
    assert_int_equal(vy_recorder_close(r, world, "completed", NULL), VY_OK);
    assert_int_equal(vy_log_open(log_path, &log, NULL), VY_OK);
    free(print);
    vy_world_destroy(world);
    vy_scenario_destroy(s);
    return log;
}

static vy_scenario *scenario_of(vy_log *log, const char *override)
{
    vy_scenario *s = NULL;
    const char *const overrides[] = {override};
    assert_int_equal(vy_scenario_from_log(log, "log", overrides, override != NULL, &s, NULL), VY_OK);
    return s;
}

static vy_status start(vy_scenario *s, vy_error *err)
{
    vy_host *host = NULL;
    vy_scenario_drone *d = &s->drones[0];
    const vy_status status = vy_host_open(&d->def, d->name, s->step, NULL, &host, err);
    assert_int_equal(status == VY_OK, host != NULL);
    vy_host_close(host);
    return status;
}

static void what_a_log_names_is_not_started(void **unused)
{
    (void)unused;
    vy_log *log = make_log(0);
    static const char *const kept[] = {NULL, "duration=1", "drones.a.controller.deadline=2",
                                       "drones.a.controller.command=sh mine.sh", // from the log's folder
                                       "drones.a.controller.folder=/"};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; ++i) {
        vy_scenario *s = scenario_of(log, kept[i]);
        vy_error err = {.status = VY_OK};
        assert_int_equal(s->drones[0].def.controller.from_log, 1);
        assert_int_equal(start(s, &err), VY_BAD_STATE);
        assert_non_null(strstr(err.text, "allow_programs"));
        vy_scenario_destroy(s);
    }
    assert_int_not_equal(access(sprung, F_OK), 0);
    vy_log_close(log);
}

static void what_replaces_it_is_the_callers_own(void **unused)
{
    (void)unused;
    vy_log *log = make_log(0);
    static const char *const own[] = {
        "drones.a.controller={kind: hold}", "drones.a.controller={kind: process, command: ./mine}",
        "drones.a.controller.command=/bin/false", "drones.a.controller={kind: plugin, library: /none.so}"};
    for (size_t i = 0; i < sizeof own / sizeof *own; ++i) {
        vy_scenario *s = scenario_of(log, own[i]);
        assert_int_equal(s->drones[0].def.controller.from_log, 0);
        vy_scenario_destroy(s);
    }
    vy_log_close(log);
}

static void allowed_it_is_started_if_the_log_is_sound(void **unused)
{
    (void)unused;
    for (uint64_t wrong = 2; wrong-- > 0;) {
        vy_log *log = make_log(wrong);
        vy_scenario *s = scenario_of(log, NULL);
        vy_error err = {.status = VY_OK};
        assert_int_equal(vy_scenario_allow_programs(s, log, &err), wrong ? VY_DAMAGED : VY_OK);
        assert_int_equal(s->drones[0].def.controller.confine, 1);
        s->drones[0].def.controller.confine = 0;
        assert_int_equal(start(s, &err) == VY_BAD_STATE, wrong);
        assert_int_equal(access(sprung, F_OK) == 0, !wrong);
        vy_scenario_destroy(s);
        vy_log_close(log);
    }
    (void)remove(sprung);
}

static void a_program_in_words(void **unused)
{
    (void)unused;
    char out[VY_PROGRAM_CAP];
    vy_controller_def def = vy_default_controller_def();
    assert_int_equal(vy_host_describe(&def, out), 0);
    assert_string_equal(out, "");
    def.kind = VY_CONTROLLER_PROCESS;
    strcpy(def.program, "./fly \033]0;\a");
    strcpy(def.folder, "/flights");
    assert_int_equal(vy_host_describe(&def, out), 1);
    assert_string_equal(out, "process ./fly ?]0;? in /flights");
    def.kind = VY_CONTROLLER_PLUGIN;
    memset(def.program, 'x', sizeof def.program - 1);
    memset(def.folder, 'y', sizeof def.folder - 1);
    assert_int_equal(vy_host_describe(&def, out), 1);
    assert_int_equal(strlen(out), strlen("plug-in  in ") + 2 * (sizeof def.program - 1));
    def.kind = VY_CONTROLLER_PILOT;
    def.program[0] = def.folder[0] = '\0';
    assert_int_equal(vy_host_describe(&def, out), 1);
    assert_string_equal(out, "pilot device keyboard");
    // A firmware that connects by itself has to know where to.
    def.kind = VY_CONTROLLER_ARDUPILOT;
    def.instance = 2;
    assert_int_equal(vy_host_describe(&def, out), 1);
    assert_string_equal(out, "ardupilot that connects to UDP port 9022 of 127.0.0.1");
    def.parameter_count = 1;
    (void)vy_host_describe(&def, out);
    assert_string_equal(
        out, "ardupilot that connects to UDP port 9022 of 127.0.0.1, its MAVLink to UDP port 14542");
    def.kind = VY_CONTROLLER_PX4;
    def.firmware.port = 5000;
    def.firmware.script_port = 6000;
    (void)vy_host_describe(&def, out);
    assert_string_equal(out, "px4 that connects to TCP port 5002 of 127.0.0.1, its MAVLink to UDP port 6002");
    def.kind = VY_CONTROLLER_CRAZYFLIE;
    def.firmware.port = 0;
    (void)vy_host_describe(&def, out);
    assert_string_equal(out, "crazyflie client that connects to UDP port 19852 of 127.0.0.1");
    def.kind = VY_CONTROLLER_BETAFLIGHT;
    (void)vy_host_describe(&def, out);
    assert_non_null(strstr(out, "without a command"));
    def.firmware.clock = VY_CLOCK_WALL;
    (void)vy_host_describe(&def, out);
    assert_non_null(strstr(out, "that listens on TCP port 5761 of 127.0.0.1"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_log_names_is_not_started),
        cmocka_unit_test(what_replaces_it_is_the_callers_own),
        cmocka_unit_test(allowed_it_is_started_if_the_log_is_sound),
        cmocka_unit_test(a_program_in_words),
    };
    if (mkdtemp(folder) == NULL) return 1;
    snprintf(log_path, sizeof log_path, "%s/a.mcap", folder);
    snprintf(sprung, sizeof sprung, "%s/sprung", folder);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    (void)remove(log_path);
    (void)rmdir(folder);
    return failed;
}
