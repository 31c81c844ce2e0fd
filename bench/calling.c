// calling.c - the same small controller called directly, as a plug-in, and as a process; and the bare round
// trip over a socket that the last one is measured against.
#define _GNU_SOURCE // sched_setaffinity, memfd_create
#include "bench/calling.h"
#include "base/hash.h"
#include "bench/clock.h"
#include "bench/plugin/packed.h"
#include "bench/plugin/small.h"
#include "host/frame.h"
#include "volery/host.h"
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

enum { RUNS = 9, CALLS = 1000000, ROUND_TRIPS = 10000 };

static const vy_plugin plugin = {VY_PLUGIN_HEAD, init, step, NULL};

int vy_bench_echo(void) { return vy_serve(&plugin, STDIN_FILENO, STDOUT_FILENO, NULL) == VY_OK ? 0 : 3; }

typedef struct one_call {
    double mass;
    vy_samples samples;
    vy_intent intent;
    void (*volatile step)(void *self, const vy_samples *samples, vy_intent *intent); // as dlsym would give it
} one_call;

static one_call call_start(void)
{
    one_call c;
    memset(&c, 0, sizeof c);
    c.mass = 0.028;
    c.step = step;
    return c;
}

static uint64_t call_hash(const one_call *c) { return vy_hash64(&c->intent.rates, sizeof c->intent.rates); }

bench_result vy_bench_call_direct(void)
{
    bench_result r = {CALLS, 1e300, 0};
    const int runs = vy_bench_runs(RUNS);
    for (int run = 0; run < runs; ++run) {
        one_call c = call_start();
        const double start = clock_seconds();
        for (uint64_t i = 0; i < CALLS; ++i) {
            c.samples.tick = i;
            c.step(&c.mass, &c.samples, &c.intent);
        }
        const double seconds = clock_seconds() - start;
        if (seconds < r.best_s) r.best_s = seconds;
        r.hash = call_hash(&c);
    }
    return r;
}

// As many bytes there and back as a controller's, both ends on one core.
static size_t samples_size(void) { return FRAME_HEAD_SIZE + 8 * (size_t)VY_WIRE_CELLS; }
enum { REPLY_SIZE = FRAME_HEAD_SIZE + 8 * 6 };

static void echo(int wire)
{
    unsigned char bytes[4096] = {0};
    while (read(wire, bytes, samples_size()) > 0 && write(wire, bytes, REPLY_SIZE) > 0) {
    }
    _exit(0);
}

bench_result vy_bench_call_bare_socket(void)
{
    bench_result r = {ROUND_TRIPS, 1e300, vy_hash64("", 0)};
    unsigned char bytes[4096] = {0};
    int ends[2];
    cpu_set_t kept, one;
    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    (void)sched_getaffinity(0, sizeof kept, &kept);
    (void)sched_setaffinity(0, sizeof one, &one);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return r;
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        echo(ends[1]);
    }
    close(ends[1]);
    const int runs = vy_bench_runs(RUNS);
    for (int run = 0; run < runs; ++run) {
        const double start = clock_wall_seconds();
        for (int i = 0; i < ROUND_TRIPS; ++i) {
            if (write(ends[0], bytes, samples_size()) < 0 || read(ends[0], bytes, sizeof bytes) <= 0) break;
        }
        const double seconds = clock_wall_seconds() - start;
        if (seconds < r.best_s) r.best_s = seconds;
    }
    close(ends[0]);
    if (child > 0) (void)waitpid(child, NULL, 0);
    (void)sched_setaffinity(0, sizeof kept, &kept);
    return r;
}

// Round trips to the program of `given`.
static bench_result call_program(const vy_controller_def *given)
{
    bench_result r = {ROUND_TRIPS, 1e300, 0};
    vy_drone_def drone = vy_default_drone_def();
    vy_controller_def *const def = &drone.controller;
    vy_host *host = NULL;
    vy_error err;
    *def = *given;
    def->deadline = 10.0;
    if (vy_host_open(&drone, "alpha", 1e-3, NULL, &host, &err) != VY_OK) {
        fprintf(stderr, "%s\n", err.text);
        return r;
    }
    const int runs = vy_bench_runs(RUNS);
    for (int run = 0; run < runs; ++run) {
        one_call c = call_start();
        const double start = clock_wall_seconds();
        for (uint64_t i = 0; i < ROUND_TRIPS; ++i) {
            c.samples.tick = i;
            def->call(def->self, &c.samples, &c.intent);
        }
        const double seconds = clock_wall_seconds() - start;
        if (seconds < r.best_s) r.best_s = seconds;
        r.hash = call_hash(&c);
    }
    vy_host_close(host);
    return r;
}

bench_result vy_bench_call_plugin(void)
{
    const bench_result none = {ROUND_TRIPS, 1e300, 0};
    static unsigned char library[65536];
    uLongf size = sizeof library;
    if (uncompress(library, &size, vy_small_packed, (uLong)vy_small_packed_size) != Z_OK) return none;
    const int file = memfd_create("small.so", MFD_CLOEXEC);
    if (file < 0 || write(file, library, size) != (ssize_t)size) return none;
    vy_controller_def def = vy_default_controller_def();
    def.kind = VY_CONTROLLER_PLUGIN;
    snprintf(def.program, sizeof def.program, "/proc/%ld/fd/%d", (long)getpid(), file);
    const bench_result r = call_program(&def);
    close(file);
    return r;
}

bench_result vy_bench_call_plugin_one_core(void)
{
    cpu_set_t kept, one;
    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    (void)sched_getaffinity(0, sizeof kept, &kept);
    (void)sched_setaffinity(0, sizeof one, &one);
    const bench_result r = vy_bench_call_plugin();
    (void)sched_setaffinity(0, sizeof kept, &kept);
    return r;
}

bench_result vy_bench_call_process(void)
{
    const bench_result none = {ROUND_TRIPS, 1e300, 0};
    vy_controller_def def = vy_default_controller_def();
    char program[200] = "";
    if (readlink("/proc/self/exe", program, sizeof program - 1) <= 0) return none;
    def.kind = VY_CONTROLLER_PROCESS;
    snprintf(def.program, sizeof def.program, "%s bench --echo", program);
    return call_program(&def);
}
