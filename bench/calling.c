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

typedef struct controller_call {
    double mass;
    vy_samples samples;
    vy_intent intent;
    void (*volatile step)(void *self, const vy_samples *samples, vy_intent *intent); // as dlsym would give it
} controller_call;

static controller_call new_call(void)
{
    controller_call call;
    memset(&call, 0, sizeof call);
    call.mass = 0.028;
    call.step = step;
    return call;
}

static uint64_t hash_intent(const controller_call *call)
{
    return vy_hash64(&call->intent.rates, sizeof call->intent.rates);
}

bench_result vy_bench_call_direct(void)
{
    bench_result result = {CALLS, 1e300, 0};
    const int runs = vy_bench_runs(RUNS);
    for (int run = 0; run < runs; ++run) {
        controller_call call = new_call();
        const double start = clock_seconds();
        for (uint64_t i = 0; i < CALLS; ++i) {
            call.samples.tick = i;
            call.step(&call.mass, &call.samples, &call.intent);
        }
        const double seconds = clock_seconds() - start;
        if (seconds < result.best_s) result.best_s = seconds;
        result.hash = hash_intent(&call);
    }
    return result;
}

// As many bytes there and back as a controller's, both ends on one core.
static size_t samples_size(void) { return FRAME_HEAD_SIZE + 8 * (size_t)VY_WIRE_CELLS; }
enum { REPLY_SIZE = FRAME_HEAD_SIZE + 8 * 6 };

static void echo(int socket_fd)
{
    unsigned char bytes[4096] = {0};
    while (read(socket_fd, bytes, samples_size()) > 0 && write(socket_fd, bytes, REPLY_SIZE) > 0) {
    }
    _exit(0);
}

bench_result vy_bench_call_bare_socket(void)
{
    bench_result result = {ROUND_TRIPS, 1e300, vy_hash64("", 0)};
    unsigned char bytes[4096] = {0};
    int sockets[2];
    cpu_set_t saved_cpus, one_cpu;
    CPU_ZERO(&one_cpu);
    CPU_SET((size_t)sched_getcpu(), &one_cpu);
    (void)sched_getaffinity(0, sizeof saved_cpus, &saved_cpus);
    (void)sched_setaffinity(0, sizeof one_cpu, &one_cpu);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0) return result;
    const pid_t child = fork();
    if (child == 0) {
        close(sockets[0]);
        echo(sockets[1]);
    }
    close(sockets[1]);
    const int runs = vy_bench_runs(RUNS);
    for (int run = 0; run < runs; ++run) {
        const double start = clock_wall_seconds();
        for (int i = 0; i < ROUND_TRIPS; ++i) {
            if (write(sockets[0], bytes, samples_size()) < 0 || read(sockets[0], bytes, sizeof bytes) <= 0)
                break;
        }
        const double seconds = clock_wall_seconds() - start;
        if (seconds < result.best_s) result.best_s = seconds;
    }
    close(sockets[0]);
    if (child > 0) (void)waitpid(child, NULL, 0);
    (void)sched_setaffinity(0, sizeof saved_cpus, &saved_cpus);
    return result;
}

// Round trips to the program of `controller`.
static bench_result call_program(const vy_controller_def *controller)
{
    bench_result result = {ROUND_TRIPS, 1e300, 0};
    vy_drone_def drone = vy_default_drone_def();
    vy_controller_def *const def = &drone.controller;
    vy_host *host = NULL;
    vy_error err;
    *def = *controller;
    def->deadline = 10.0;
    if (vy_host_open(&drone, "alpha", 1e-3, NULL, &host, &err) != VY_OK) {
        fprintf(stderr, "%s\n", err.text);
        return result;
    }
    const int runs = vy_bench_runs(RUNS);
    for (int run = 0; run < runs; ++run) {
        controller_call call = new_call();
        const double start = clock_wall_seconds();
        for (uint64_t i = 0; i < ROUND_TRIPS; ++i) {
            call.samples.tick = i;
            def->call(def->self, &call.samples, &call.intent);
        }
        const double seconds = clock_wall_seconds() - start;
        if (seconds < result.best_s) result.best_s = seconds;
        result.hash = hash_intent(&call);
    }
    vy_host_close(host);
    return result;
}

bench_result vy_bench_call_plugin(void)
{
    const bench_result failed = {ROUND_TRIPS, 1e300, 0};
    static unsigned char library[65536];
    uLongf library_size = sizeof library;
    if (uncompress(library, &library_size, vy_small_packed, (uLong)vy_small_packed_size) != Z_OK)
        return failed;
    const int fd = memfd_create("small.so", MFD_CLOEXEC);
    if (fd < 0 || write(fd, library, library_size) != (ssize_t)library_size) return failed;
    vy_controller_def def = vy_default_controller_def();
    def.kind = VY_CONTROLLER_PLUGIN;
    snprintf(def.program, sizeof def.program, "/proc/%ld/fd/%d", (long)getpid(), fd);
    const bench_result result = call_program(&def);
    close(fd);
    return result;
}

bench_result vy_bench_call_plugin_one_core(void)
{
    cpu_set_t saved_cpus, one_cpu;
    CPU_ZERO(&one_cpu);
    CPU_SET((size_t)sched_getcpu(), &one_cpu);
    (void)sched_getaffinity(0, sizeof saved_cpus, &saved_cpus);
    (void)sched_setaffinity(0, sizeof one_cpu, &one_cpu);
    const bench_result result = vy_bench_call_plugin();
    (void)sched_setaffinity(0, sizeof saved_cpus, &saved_cpus);
    return result;
}

bench_result vy_bench_call_process(void)
{
    const bench_result failed = {ROUND_TRIPS, 1e300, 0};
    vy_controller_def def = vy_default_controller_def();
    char own_path[200] = "";
    if (readlink("/proc/self/exe", own_path, sizeof own_path - 1) <= 0) return failed;
    def.kind = VY_CONTROLLER_PROCESS;
    snprintf(def.program, sizeof def.program, "%s bench --echo", own_path);
    return call_program(&def);
}
