// test_host.c - controllers that are programs: the same bits each way, and every way to misbehave is an
// ending with a reason.
#include "check.h"
#include "host/frame.h"
#include "host/start.h"
#include "volery/host.h"
#include "volery/world.h"
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { STEPS = 400, FAIL_TICK = 100 };

// Seconds: one that no reply misses, however busy the machine is, and one that a test waits for.
static const double PATIENCE = 60.0, HANG = 2.0;

static vy_drone_def drone_of(vy_controller_kind kind, const char *program)
{
    vy_drone_def def = vy_default_drone_def();
    def.position = (vy_vec3){0.2, -0.1, 1.0};
    def.controller.kind = kind;
    def.controller.deadline = PATIENCE;
    snprintf(def.controller.program, sizeof def.controller.program, "%s", program);
    return def;
}

static void set_parameter(vy_drone_def *def, const char *name, double value)
{
    vy_parameter *p = &def->controller.parameters[def->controller.parameter_count++];
    snprintf(p->name, sizeof p->name, "%s", name);
    p->value = value;
}

static vy_world *world_of(const vy_drone_def *def)
{
    vy_world *world = NULL;
    const vy_world_def w = vy_default_world_def();
    assert_int_equal(vy_world_create(&w, &world, NULL), VY_OK);
    assert_int_equal(vy_world_add_drone(world, def, NULL, NULL), VY_OK);
    return world;
}

// Fly `def` under its program; the hash at the end, and how it failed.
static uint64_t fly(vy_drone_def *def, vy_failure *failure)
{
    vy_host *host = NULL;
    vy_error err = {0};
    if (def->controller.kind != VY_CONTROLLER_CALLBACK) {
        const vy_status status = vy_host_open(def, "alpha", vy_default_world_def().dt, NULL, &host, &err);
        if (status != VY_OK) fail_msg("%s", err.text);
    }
    vy_world *world = world_of(def);
    (void)vy_world_advance(world, STEPS);
    *failure = vy_world_failure(world);
    const uint64_t hash = vy_world_hash(world);
    vy_world_destroy(world);
    vy_host_close(host);
    return hash;
}

// --- the same controller three ways

static void same_bits_in_library_process_and_callback(void **unused)
{
    (void)unused;
    static const char *const programs[] = {PLUGIN_HOVER, "python3 " SOURCE "/examples/controller.py",
                                           SERVE " " PLUGIN_HOVER};
    uint64_t hashes[4];
    vy_failure failure;
    for (int i = 0; i < 3; ++i) {
        vy_drone_def def = drone_of(i == 0 ? VY_CONTROLLER_PLUGIN : VY_CONTROLLER_PROCESS, programs[i]);
        set_parameter(&def, "height", 1.5);
        hashes[i] = fly(&def, &failure);
        assert_int_equal(failure.reason, VY_FAILURE_NONE);
    }
    // And through the API: the plug-in's own functions as a callback.
    void *library;
    const vy_plugin *plugin;
    assert_int_equal(vy_plugin_load(PLUGIN_HOVER, &library, &plugin, NULL), VY_OK);
    vy_drone_def def = drone_of(VY_CONTROLLER_CALLBACK, "");
    set_parameter(&def, "height", 1.5);
    char why[80];
    const vy_plugin_start start = {.drone = "alpha",
                                   .mass = def.vehicle.mass,
                                   .parameter_count = 1,
                                   .parameters = def.controller.parameters};
    def.controller.call = plugin->step;
    def.controller.self = plugin->init(&start, why, sizeof why);
    assert_non_null(def.controller.self);
    hashes[3] = fly(&def, &failure);
    plugin->done(def.controller.self);
    vy_plugin_unload(library);
    for (int i = 1; i < 4; ++i) assert_int_equal(hashes[i], hashes[0]);

    def = drone_of(VY_CONTROLLER_PLUGIN, PLUGIN_HOVER); // parameters reach it: another height, another flight
    set_parameter(&def, "height", 1.4);
    assert_int_not_equal(fly(&def, &failure), hashes[0]);
}

// --- plug-ins

static void plugin_misbehaviour_ends_the_run(void **unused)
{
    (void)unused;
    static const struct {
        int mode;
        vy_failure_reason reason;
        const char *what;
        int detail;
    } cases[] = {
        {1, VY_FAILURE_CONTROLLER, "crashed", SIGSEGV},
        {2, VY_FAILURE_CONTROLLER, "did not reply within its deadline", 0},
        {3, VY_FAILURE_CONTROLLER, "crashed", SIGABRT},
        {4, VY_FAILURE_CONTROLLER, "crashed", SIGABRT},
        {5, VY_FAILURE_COMMAND, "the controller's reply", 0},
        {6, VY_FAILURE_CONTROLLER, "crashed", SIGSEGV},
        {8, VY_FAILURE_CONTROLLER, "crashed", SIGFPE},
        {10, VY_FAILURE_CONTROLLER, "did not reply within its deadline", 0},
        {11, VY_FAILURE_COMMAND, "the controller's reply", 0},
        {13, VY_FAILURE_CONTROLLER, "ended before the run did", 0}, // exit(0)
        {14, VY_FAILURE_CONTROLLER, "ended before the run did", 0}, // _exit(0)
        {15, VY_FAILURE_CONTROLLER, "ended before the run did", 0}, // pthread_exit()
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        vy_drone_def def = drone_of(VY_CONTROLLER_PLUGIN, PLUGIN_ODD);
        set_parameter(&def, "mode", cases[i].mode);
        if (strstr(cases[i].what, "deadline") != NULL) def.controller.deadline = HANG;
        vy_failure failure;
        (void)fly(&def, &failure);
        if (failure.reason != cases[i].reason) fail_msg("mode %d: reason %d", cases[i].mode, failure.reason);
        assert_string_equal(failure.what, cases[i].what);
        assert_int_equal(failure.tick, FAIL_TICK);
        assert_true(failure.value == cases[i].detail);
        free(malloc(100000)); // our own heap is whole
    }
}

// A plug-in that changes the rounding of arithmetic changes nothing but its own.
static void plugin_cannot_change_rounding(void **unused)
{
    (void)unused;
    uint64_t hashes[2];
    for (int i = 0; i < 2; ++i) {
        vy_drone_def def = drone_of(VY_CONTROLLER_PLUGIN, PLUGIN_ODD);
        set_parameter(&def, "mode", i == 0 ? 0 : 7);
        vy_failure failure;
        hashes[i] = fly(&def, &failure);
    }
    assert_int_equal(hashes[0], hashes[1]);
}

static void plugin_that_does_not_fit_is_refused(void **unused)
{
    (void)unused;
    static const struct {
        const char *program;
        double mode;
        vy_status status;
        const char *text;
    } cases[] = {
        {PLUGIN_ODD, 9, VY_BAD_VALUE, "refuses: mode 9 is not for alpha"},
        {PLUGIN_ODD, 12, VY_BAD_VALUE, "its init crashed: signal 11, segmentation fault"},
        {PLUGIN_ODD, 16, VY_BAD_VALUE, "its init ended before the run did, with exit status 0"},
        {PLUGIN_ODD, 17, VY_BAD_VALUE, "its init ended before the run did, with exit status 0"},
        {PLUGIN_ODD, 18, VY_BAD_VALUE, "its init ended before the run did, with exit status 0"},
        {"no-such.so", 0, VY_NOT_FOUND, "no-such.so"},
        {SOURCE "/README.md", 0, VY_NOT_FOUND, "README.md"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        vy_drone_def def = drone_of(VY_CONTROLLER_PLUGIN, cases[i].program);
        set_parameter(&def, "mode", cases[i].mode);
        vy_host *host = (vy_host *)&def;
        vy_error err = {0};
        assert_int_equal(vy_host_open(&def, "alpha", 1e-3, NULL, &host, &err), cases[i].status);
        assert_null(host);
        assert_null(def.controller.call);
        if (strstr(err.text, cases[i].text) == NULL) fail_msg("%s", err.text);
    }
}

// What goes wrong when the flight is over is told, too.
static void plugin_that_ends_badly_is_told(void **unused)
{
    (void)unused;
    static const struct {
        int mode;
        const char *destructor;
        vy_verdict verdict;
        int detail;
    } cases[] = {
        {0, "", VY_VERDICT_REPLIED, 0},
        {20, "", VY_VERDICT_CRASHED, SIGSEGV},
        {21, "", VY_VERDICT_ENDED, 0},
        {22, "", VY_VERDICT_ENDED, 0},
        {23, "", VY_VERDICT_ENDED, 0},
        {24, "", VY_VERDICT_LATE, 0},
        {0, "crash", VY_VERDICT_CRASHED, SIGSEGV},
        {0, "exit", VY_VERDICT_ENDED, 0},
        {0, "quit", VY_VERDICT_ENDED, 0},
        {0, "leave", VY_VERDICT_ENDED, 0},
        {0, "loop", VY_VERDICT_LATE, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        vy_drone_def def = drone_of(VY_CONTROLLER_PLUGIN, PLUGIN_ODD);
        set_parameter(&def, "mode", cases[i].mode);
        if (cases[i].verdict == VY_VERDICT_LATE) def.controller.deadline = 0.5;
        assert_int_equal(setenv("ODD_DESTRUCTOR", cases[i].destructor, 1), 0);
        vy_host *host = NULL;
        vy_error err = {0};
        if (vy_host_open(&def, "alpha", 1e-3, NULL, &host, &err) != VY_OK) fail_msg("%s", err.text);
        vy_world *world = world_of(&def);
        (void)vy_world_advance(world, STEPS);
        assert_int_equal(vy_world_failure(world).reason, VY_FAILURE_NONE);
        int32_t detail = -1;
        const vy_verdict verdict = vy_host_finish(host, &detail);
        if (verdict != cases[i].verdict || detail != cases[i].detail)
            fail_msg("mode %d %s: %s (%d)", cases[i].mode, cases[i].destructor, vy_verdict_text(verdict),
                     detail);
        assert_int_equal(vy_host_finish(host, NULL), VY_VERDICT_REPLIED); // told once
        vy_world_destroy(world);
        vy_host_close(host);
    }
    unsetenv("ODD_DESTRUCTOR");
}

// A world of `count` drones; those in [first, end) are flown by plug-ins of `libraries` kinds. States at its
// end.
static void fly_many(int count, int first, int end, int libraries, vy_drone_state *states)
{
    vy_host *hosts[64] = {NULL};
    vy_world *world = NULL;
    vy_world_def w = vy_default_world_def();
    assert_int_equal(vy_world_create(&w, &world, NULL), VY_OK);
    for (int i = 0; i < count; ++i) {
        char name[32], library[256];
        snprintf(name, sizeof name, "drone%d", i);
        snprintf(library, sizeof library, "%s%d.so", PLUGIN_OWN, 1 + i % libraries);
        vy_drone_def def = drone_of(VY_CONTROLLER_PLUGIN, library);
        def.position = (vy_vec3){5.0 * i, 0.0, 1.0 + 0.01 * i};
        vy_error err = {0};
        if (i < first || i >= end)
            def.controller.kind = VY_CONTROLLER_HOLD;
        else if (vy_host_open(&def, name, w.dt, NULL, &hosts[i], &err) != VY_OK)
            fail_msg("%s", err.text);
        assert_int_equal(vy_world_add_drone(world, &def, NULL, NULL), VY_OK);
    }
    (void)vy_world_advance(world, STEPS);
    const vy_failure failure = vy_world_failure(world);
    if (failure.reason != VY_FAILURE_NONE)
        fail_msg("drone %u of %d: %s %g", failure.body, count, failure.what, failure.value);
    memset(states, 0, sizeof *states * (size_t)count);
    for (int i = 0; i < count; ++i)
        vy_world_read_drone(world, vy_world_drone(world, (uint32_t)i), &states[i]);
    vy_world_destroy(world);
    for (int i = 0; i < count; ++i) vy_host_close(hosts[i]);
}

// Drones of one library with statics, and of libraries whose symbols clash: each flies as it does alone.
static void plugins_share_nothing(void **unused)
{
    (void)unused;
    static const struct {
        int count, libraries;
    } cases[] = {{3, 3}, {64, 1}};
    for (int k = 0; k < 2; ++k) {
        static vy_drone_state together[64], alone[64];
        const int count = cases[k].count;
        fly_many(count, 0, count, cases[k].libraries, together);
        for (int i = 0; i < count; ++i) {
            fly_many(count, i, i + 1, cases[k].libraries, alone);
            if (memcmp(&together[i], &alone[i], sizeof alone[i]) != 0) fail_msg("drone %d of %d", i, count);
        }
        if (k == 0) assert_true(together[0].position.z < together[1].position.z);
    }
}

// Two worlds in two threads, each with a plug-in that dies at its own time.
static void *fly_apart(void *self)
{
    vy_drone_def def = drone_of(VY_CONTROLLER_PLUGIN, PLUGIN_HOVER);
    set_parameter(&def, "height", 1.5);
    vy_failure failure;
    *(uint64_t *)self = fly(&def, &failure);
    return NULL;
}

static void plugin_crash_in_one_thread_spares_another(void **unused)
{
    (void)unused;
    uint64_t alone, beside;
    (void)fly_apart(&alone);
    pthread_t other;
    assert_int_equal(pthread_create(&other, NULL, fly_apart, &beside), 0);
    vy_drone_def def = drone_of(VY_CONTROLLER_PLUGIN, PLUGIN_ODD);
    set_parameter(&def, "mode", 1);
    vy_failure failure;
    (void)fly(&def, &failure);
    pthread_join(other, NULL);
    assert_int_equal(failure.reason, VY_FAILURE_CONTROLLER);
    assert_int_equal(alone, beside);
}

// --- threads

typedef struct made {
    vy_drone_def def;
    vy_host *host;
    vy_world *world;
} made;

static void *make(void *self)
{
    made *m = self;
    if (vy_host_open(&m->def, "alpha", 1e-3, NULL, &m->host, NULL) == VY_OK) m->world = world_of(&m->def);
    return NULL;
}

// A controller belongs to the process, not to the thread that has started it.
static void controllers_outlive_the_thread_that_made_them(void **unused)
{
    (void)unused;
    static const char *const programs[] = {PLUGIN_HOVER, SERVE " " PLUGIN_HOVER};
    for (int i = 0; i < 2; ++i) {
        made m = {.def = drone_of(i == 0 ? VY_CONTROLLER_PLUGIN : VY_CONTROLLER_PROCESS, programs[i])};
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, make, &m), 0);
        pthread_join(thread, NULL);
        assert_non_null(m.world);
        (void)nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL); // for a signal to arrive
        (void)vy_world_advance(m.world, STEPS);
        assert_int_equal(vy_world_failure(m.world).reason, VY_FAILURE_NONE);
        vy_world_destroy(m.world);
        vy_host_close(m.host);
    }
}

// A fork of the process may drop its copy of a controller: the one who flies it notices nothing.
static void forked_copies_have_no_say(void **unused)
{
    (void)unused;
    static const char *const programs[] = {PLUGIN_HOVER, SERVE " " PLUGIN_HOVER};
    for (int i = 0; i < 2; ++i) {
        made m = {.def = drone_of(i == 0 ? VY_CONTROLLER_PLUGIN : VY_CONTROLLER_PROCESS, programs[i])};
        (void)make(&m);
        assert_non_null(m.world);
        const pid_t fork_of_us = fork();
        if (fork_of_us == 0) {
            vy_host_close(m.host);
            _exit(0);
        }
        assert_int_equal(waitpid(fork_of_us, NULL, 0), fork_of_us);
        (void)vy_world_advance(m.world, STEPS);
        assert_int_equal(vy_world_failure(m.world).reason, VY_FAILURE_NONE);
        vy_world_destroy(m.world);
        vy_host_close(m.host);
    }
}

// --- processes

static void process_misbehaviour_ends_the_run(void **unused)
{
    (void)unused;
    static const struct {
        const char *mode;
        vy_failure_reason reason;
        const char *what;
        int detail, tick;
    } cases[] = {
        {"crash", VY_FAILURE_CONTROLLER, "crashed", SIGSEGV, FAIL_TICK},
        {"end", VY_FAILURE_CONTROLLER, "ended before the run did", 5, FAIL_TICK},
        {"hang", VY_FAILURE_CONTROLLER, "did not reply within its deadline", 0, FAIL_TICK},
        {"trickle", VY_FAILURE_CONTROLLER, "did not reply within its deadline", -1, FAIL_TICK},
        {"flood", VY_FAILURE_CONTROLLER, "sent more than it was asked for", -1, -1},
        {"twice", VY_FAILURE_CONTROLLER, "sent more than it was asked for", -1, -1},
        {"nan", VY_FAILURE_COMMAND, "the controller's reply", 0, FAIL_TICK},
        {"size", VY_FAILURE_CONTROLLER, "sent a reply of the wrong size", 40, FAIL_TICK},
        {"huge", VY_FAILURE_CONTROLLER, "sent a reply of the wrong size", 848, FAIL_TICK},
        {"odd", VY_FAILURE_CONTROLLER, "sent a reply of the wrong size", 51, FAIL_TICK},
        {"rung", VY_FAILURE_CONTROLLER, "sent something that is no reply", -1, FAIL_TICK},
        {"garbage", VY_FAILURE_CONTROLLER, "sent something that is no reply", -1, FAIL_TICK},
        {"late", VY_FAILURE_CONTROLLER, "sent more than it was asked for", -1, FAIL_TICK},
        {"closed", VY_FAILURE_CONTROLLER, "ended before the run did", -1, FAIL_TICK},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        char command[256];
        snprintf(command, sizeof command, "%s %s", PROCESS_ODD, cases[i].mode);
        vy_drone_def def = drone_of(VY_CONTROLLER_PROCESS, command);
        if (strstr(cases[i].what, "deadline") != NULL) def.controller.deadline = HANG;
        vy_failure failure;
        (void)fly(&def, &failure);
        if (failure.reason != cases[i].reason || strcmp(failure.what, cases[i].what) != 0)
            fail_msg("%s: reason %d, %s", cases[i].mode, failure.reason, failure.what);
        // A flood is seen with the first reply too many, or at the next call at the latest.
        if (cases[i].tick >= 0) assert_int_equal(failure.tick, cases[i].tick);
        if (cases[i].tick < 0) assert_in_range(failure.tick, FAIL_TICK, FAIL_TICK + 10);
        if (cases[i].detail >= 0) assert_true(failure.value == cases[i].detail);
    }
}

static void process_that_does_not_begin_is_refused(void **unused)
{
    (void)unused;
    static const struct {
        const char *program, *text;
    } cases[] = {
        {PROCESS_ODD " absent", "ended before the run did, with exit status 7 (before the first step)"},
        {PROCESS_ODD " version", "did not begin with the frame"},
        {"/no/such/program 2>/dev/null", "with exit status 127: the shell has found no such program"},
        {"echo hello", "wrote 'hello' on stdout, which is the wire: print to stderr (before the first step)"},
        {"echo hi", "wrote 'hi' on stdout"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        vy_drone_def def = drone_of(VY_CONTROLLER_PROCESS, cases[i].program);
        vy_host *host = (vy_host *)&def;
        vy_error err = {0};
        assert_int_not_equal(vy_host_open(&def, "alpha", 1e-3, NULL, &host, &err), VY_OK);
        assert_null(host);
        if (strstr(err.text, cases[i].text) == NULL) fail_msg("%s", err.text);
    }
}

// Is the process there, and not just waiting to be reaped by whoever inherited it?
static int is_alive(long pid)
{
    char path[64], text[256] = "";
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    FILE *file = fopen(path, "r");
    if (file == NULL) return 0;
    const size_t size = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    const char *name_end = size > 0 ? strrchr(text, ')') : NULL;
    return name_end != NULL && name_end[2] != 'Z' && name_end[2] != 'X';
}

// SIGKILL has been sent; the system may take a moment.
static void wait_until_gone(long pid)
{
    int alive = 1;
    for (int k = 0; k < 6000 && (alive = is_alive(pid)); ++k)
        (void)nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    assert_false(alive);
}

// Whatever a controller started is gone when its host is closed, after a good end and after a bad one.
static void process_leaves_no_orphans(void **unused)
{
    (void)unused;
    static const char *const modes[] = {"good", "hang", "crash", "detached"};
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; ++i) {
        char file[] = "/tmp/volery-child-XXXXXX", command[256];
        const int fd = mkstemp(file);
        assert_true(fd >= 0);
        snprintf(command, sizeof command, "%s %s %s", PROCESS_ODD, modes[i], file);
        vy_drone_def def = drone_of(VY_CONTROLLER_PROCESS, command);
        if (strcmp(modes[i], "hang") == 0) def.controller.deadline = HANG;
        vy_failure failure;
        (void)fly(&def, &failure);
        char text[32] = "";
        assert_true(read(fd, text, sizeof text - 1) > 0);
        const long child = strtol(text, NULL, 10);
        assert_true(child > 1);
        wait_until_gone(child);
        close(fd);
        (void)unlink(file);
    }
}

// A world that is killed ends what its controllers have started, daemons as well, and nothing of the
// caller's: a child of its own lives on.
static void killed_world_leaves_no_orphans(void **unused)
{
    (void)unused;
    char file[] = "/tmp/volery-child-XXXXXX", command[256], text[32] = "";
    const int fd = mkstemp(file);
    int ready[2];
    pid_t own = 0;
    assert_true(fd >= 0);
    assert_int_equal(pipe(ready), 0);
    snprintf(command, sizeof command, "%s detached %s", PROCESS_ODD, file);
    const pid_t world = fork();
    if (world == 0) {
        vy_drone_def def = drone_of(VY_CONTROLLER_PROCESS, command);
        vy_host *host = NULL;
        own = fork();
        if (own == 0) {
            for (;;) pause();
        }
        if (vy_host_open(&def, "alpha", 1e-3, NULL, &host, NULL) != VY_OK) own = -1;
        (void)!write(ready[1], &own, sizeof own);
        for (;;) pause();
    }
    assert_int_equal(read(ready[0], &own, sizeof own), sizeof own);
    assert_true(own > 0);
    assert_true(read(fd, text, sizeof text - 1) > 0);
    const long daemon = strtol(text, NULL, 10);
    assert_true(daemon > 1 && is_alive(daemon));
    assert_int_equal(kill(world, SIGKILL), 0);
    assert_int_equal(waitpid(world, NULL, 0), world);
    wait_until_gone(daemon);
    assert_true(is_alive(own));
    (void)kill(own, SIGKILL);
    close(ready[0]);
    close(ready[1]);
    close(fd);
    (void)unlink(file);
}

// A program has the wire and stderr, and no other descriptor of ours.
static void programs_get_no_descriptor(void **unused)
{
    (void)unused;
    char file[] = "/tmp/volery-open-XXXXXX", command[256], text[200] = "";
    const int fd = mkstemp(file), leak = dup(fd); // one that is open across an exec
    assert_true(fd >= 0 && leak >= 0);
    snprintf(command, sizeof command, "%s descriptors %s", PROCESS_ODD, file);
    vy_drone_def def = drone_of(VY_CONTROLLER_PROCESS, command);
    vy_failure failure;
    (void)fly(&def, &failure);
    assert_true(read(fd, text, sizeof text - 1) > 0);
    assert_string_equal(text, "0 1 2 ");
    close(leak);
    close(fd);
    (void)unlink(file);
}

// --- the wire

static void wire_carries_every_bit(void **unused)
{
    (void)unused;
    unsigned char bytes[4096];
    vy_samples a, b;
    double *values = (double *)(void *)&a;
    for (size_t i = 0; i < sizeof a / 8; ++i) values[i] = sqrt((double)i + 2.0) * (i % 2 ? 1e-300 : -1e300);
    for (int i = 0; i < VY_WIRE_CELLS; ++i) {
        if (vy_wire_cell(i).is_integer) memset((char *)&a + vy_wire_cell(i).offset, 0, 8);
    }
    a.tick = (uint64_t)1 << 52;
    a.imu.tick = 12345;
    a.touch.contacts = 7;
    a.lidar.tick = 3;
    const size_t size = vy_wire_put_samples(&a, bytes);
    assert_int_equal(size, 4 + 8 * VY_WIRE_CELLS);
    assert_int_equal(vy_wire_get_size(bytes), size - 4);
    vy_wire_get_samples(bytes + 4, &b);
    assert_memory_equal(&a, &b, sizeof a);

    for (int rung = VY_RUNG_NONE; rung <= VY_RUNG_PILOT; ++rung) {
        vy_intent from, to, again;
        memset(&from, 0, sizeof from);
        memset(&to, 0, sizeof to);
        from.rung = (vy_rung)rung;
        from.thrust = 0.1;
        for (int i = 0; i < 4; ++i) from.motors[i] = 0.2 + i / 3.0;
        from.torque = (vy_vec3){1.0 / 3, 2.0 / 3, -0.0};
        from.rates = (vy_vec3){4.0 / 3, 5.0 / 3, 1e-310};
        from.attitude = (vy_quat){0.1, 0.2, 0.3, 0.4};
        from.velocity = (vy_vec3){7.0 / 3, 8.0 / 3, 1e300};
        from.yaw_rate = from.throttle = from.strafe = from.vertical = from.yaw = 1.0 / 7;
        const size_t reply = vy_wire_put_reply(&from, 77, 4, bytes);
        assert_int_equal(vy_wire_get_reply(bytes + 4, reply - 4, 77, 4, &to), VY_VERDICT_REPLIED);
        assert_int_equal(to.rung, rung);
        // What is sent again is the same bytes: nothing of the rung was lost.
        unsigned char second[4096];
        again = to;
        assert_int_equal(vy_wire_put_reply(&again, 77, 4, second), reply);
        assert_memory_equal(bytes, second, reply);
        assert_int_equal(vy_wire_get_reply(bytes + 4, reply - 4, 78, 4, &to), VY_VERDICT_FLOODED);
        // Payloads to let go are one number more, where there are any.
        from.drop = 0x80000005;
        assert_int_equal(vy_wire_put_reply(&from, 77, 4, bytes), reply + 8);
        assert_int_equal(vy_wire_get_reply(bytes + 4, reply + 4, 77, 4, &to), VY_VERDICT_REPLIED);
        assert_true(to.drop == from.drop);
        const double wrong[] = {-1.0, 0.5, 0x1p32, (double)NAN};
        for (int i = 0; i < 4; ++i) {
            memcpy(bytes + reply, &wrong[i], 8);
            assert_int_equal(vy_wire_get_reply(bytes + 4, reply + 4, 77, 4, &to), VY_VERDICT_GARBAGE);
        }
        assert_int_equal(vy_wire_get_reply(bytes + 4, reply + 12, 77, 4, &to), VY_VERDICT_SIZE);
        // Numbers to look at are behind them, all eight, with any value.
        from.debug[1] = (double)INFINITY;
        from.debug[7] = -0.1;
        from.drop = (uint64_t)(rung % 2);
        assert_int_equal(vy_wire_put_reply(&from, 77, 4, bytes), reply + 9 * 8);
        assert_int_equal(vy_wire_get_reply(bytes + 4, reply + 9 * 8 - 4, 77, 4, &to), VY_VERDICT_REPLIED);
        assert_memory_equal(to.debug, from.debug, sizeof to.debug);
        assert_true(to.drop == from.drop);
        for (size_t less = 1; less < 8; ++less)
            assert_int_equal(vy_wire_get_reply(bytes + 4, reply + 8 * (1 + less) - 4, 77, 4, &to),
                             VY_VERDICT_SIZE);
        // The status is behind those: a whole number, whatever it means.
        from.status = VY_REPLY_STATUS_STALE;
        assert_int_equal(vy_wire_put_reply(&from, 77, 4, bytes), reply + 10 * 8);
        assert_int_equal(vy_wire_get_reply(bytes + 4, reply + 10 * 8 - 4, 77, 4, &to), VY_VERDICT_REPLIED);
        assert_true(to.status == VY_REPLY_STATUS_STALE);
        for (int i = 0; i < 4; ++i) {
            memcpy(bytes + reply + 9 * 8, &wrong[i], 8);
            assert_int_equal(vy_wire_get_reply(bytes + 4, reply + 10 * 8 - 4, 77, 4, &to),
                             VY_VERDICT_GARBAGE);
        }
        assert_int_equal(vy_wire_get_reply(bytes + 4, reply + 11 * 8 - 4, 77, 4, &to), VY_VERDICT_SIZE);
    }
}

static void *start_small(const vy_plugin_start *start, char *why, size_t room)
{
    static int self;
    (void)start, (void)why, (void)room;
    return &self;
}

static void step_small(void *self, const vy_samples *samples, vy_intent *intent)
{
    (void)self, (void)samples, (void)intent;
}

// The start message of a world with other values of these two keys.
static char *message_with(const char *version, const char *rotors)
{
    const vy_drone_def drone = vy_default_drone_def();
    vy_plugin_start start;
    vy_text text = {0}, out = {0};
    assert_int_equal(vy_start_fill(&drone, "a", 1e-3, NULL, &start, NULL), VY_OK);
    vy_start_print(&start, &drone, &text);
    char *whole = vy_text_take(&text);
    const char *first = strstr(whole, "\"volery\": 1"), *second = strstr(whole, "\"rotor_count\": 4");
    assert_true(first != NULL && second != NULL);
    vy_text_add(&out, whole, (size_t)(first + 10 - whole));
    vy_text_puts(&out, version);
    vy_text_add(&out, first + 11, (size_t)(second + 15 - (first + 11)));
    vy_text_puts(&out, rotors);
    vy_text_puts(&out, second + 16);
    free(whole);
    return vy_text_take(&out);
}

// Numbers that are to be whole are looked at before they become so.
static void served_first_frame_is_checked(void **unused)
{
    (void)unused;
    static const vy_plugin plugin = {VY_PLUGIN_HEAD, start_small, step_small, NULL};
    static const struct {
        const char *version, *rotors;
        vy_status status;
    } cases[] = {
        {"1", "4", VY_OK},           {"1.5", "4", VY_DAMAGED}, {"1e300", "4", VY_DAMAGED},
        {"-1e300", "4", VY_DAMAGED}, {"nan", "4", VY_DAMAGED}, {"1", "4.5", VY_DAMAGED},
        {"1", "1e300", VY_DAMAGED},  {"1", "-1", VY_DAMAGED},  {"1", "nan", VY_DAMAGED},
        {"1", "9", VY_DAMAGED},      {"1", "inf", VY_DAMAGED}, {"4294967297", "4", VY_DAMAGED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        int in[2], out[2];
        assert_int_equal(pipe(in), 0);
        assert_int_equal(pipe(out), 0);
        char *text = message_with(cases[i].version, cases[i].rotors);
        unsigned char head[FRAME_HEAD_SIZE];
        vy_wire_put_size((uint32_t)strlen(text), head);
        assert_int_equal(write(in[1], head, sizeof head), sizeof head);
        assert_int_equal(write(in[1], text, strlen(text)), strlen(text));
        free(text);
        close(in[1]);
        const vy_status status = vy_serve(&plugin, in[0], out[1], NULL);
        if (status != cases[i].status) fail_msg("%s %s: %d", cases[i].version, cases[i].rotors, (int)status);
        close(in[0]);
        close(out[0]);
        close(out[1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bits_in_library_process_and_callback),
        cmocka_unit_test(plugin_misbehaviour_ends_the_run),
        cmocka_unit_test(plugin_cannot_change_rounding),
        cmocka_unit_test(plugin_that_does_not_fit_is_refused),
        cmocka_unit_test(plugin_that_ends_badly_is_told),
        cmocka_unit_test(plugins_share_nothing),
        cmocka_unit_test(plugin_crash_in_one_thread_spares_another),
        cmocka_unit_test(controllers_outlive_the_thread_that_made_them),
        cmocka_unit_test(forked_copies_have_no_say),
        cmocka_unit_test(process_misbehaviour_ends_the_run),
        cmocka_unit_test(process_that_does_not_begin_is_refused),
        cmocka_unit_test(process_leaves_no_orphans),
        cmocka_unit_test(killed_world_leaves_no_orphans),
        cmocka_unit_test(programs_get_no_descriptor),
        cmocka_unit_test(wire_carries_every_bit),
        cmocka_unit_test(served_first_frame_is_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
