// plugin_main.c - the program around a plug-in: one process per drone, driven through shared memory.
//
// Whatever the library does to its process, the world sees it by waitpid(). PROGRAM_DONE is its exit status
// when nothing happened.
#define _GNU_SOURCE
#include "base/fail.h"
#include "base/real.h"
#include "host/channel.h"
#include "volery/host.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PARENT_CHECK_NS 1000000000 // [ns] between checks that the supervisor is still alive

// pthread_exit() in the plug-in would leave its other threads running and no thread that answers.
static void on_thread_exit(void *unused)
{
    (void)unused;
    (void)fflush(NULL);
    _exit(0);
}

// Returns 1 with a request, 0 at the end.
static int next_request(channel *c, uint32_t *count, waiter *w)
{
    while (!vy_futex_counter_wait(&c->request, *count, PARENT_CHECK_NS, w)) {
        if (getppid() != c->supervisor_pid) _exit(1); // it was killed
    }
    *count = atomic_load(&c->request.count);
    return !atomic_load(&c->must_end);
}

static void run_controller(channel *c, const vy_plugin *plugin, void *self)
{
    waiter w = {.spin_ns = c->spin_ns, .spin_max_ns = c->spin_ns};
    uint32_t count = atomic_load(&c->request.count);
    atomic_store(&c->stage, STAGE_STEP);
    vy_futex_counter_set(&c->response, count);
    while (next_request(c, &count, &w)) {
        memset(&c->intent, 0, sizeof c->intent);
        (void)fpu_enter(); // the last call may have changed the rounding mode
        plugin->step(self, &c->samples, &c->intent);
        vy_futex_counter_set(&c->response, count);
    }
}

static void *init_plugin(channel *c, const vy_plugin *plugin)
{
    char reason[120] = "";
    vy_plugin_start start = c->start;
    start.drone = c->drone;
    start.vehicle = &c->vehicle;
    start.imu = &c->imu;
    start.mocap = &c->mocap;
    start.sensors = &c->sensors;
    start.json = c->texts;
    start.parameters = c->parameters;
    for (int i = 0; i < start.parameter_count; ++i)
        c->parameters[i].text = c->parameter_offsets[i] != 0 ? c->texts + c->parameter_offsets[i] : NULL;
    atomic_store(&c->stage, STAGE_INIT);
    (void)fpu_enter();
    void *self = plugin->init(&start, reason, sizeof reason);
    reason[sizeof reason - 1] = '\0';
    if (self == NULL)
        (void)vy_fail(&c->refusal, VY_BAD_VALUE, "refuses: %.100s",
                      reason[0] != '\0' ? reason : "its init gave NULL");
    return self;
}

static int run_plugin(channel *c)
{
    void *library = NULL, *self = NULL;
    const vy_plugin *plugin = NULL;
    atomic_store(&c->stage, STAGE_LOAD);
    if (vy_plugin_load(c->library, &library, &plugin, &c->refusal) == VY_OK) self = init_plugin(c, plugin);
    if (self == NULL) {
        (void)fflush(NULL);
        vy_futex_counter_set(&c->response, atomic_load(&c->request.count));
        return 0;
    }
    run_controller(c, plugin, self);
    atomic_store(&c->stage, STAGE_DONE);
    (void)fpu_enter();
    if (plugin->done != NULL) plugin->done(self);
    atomic_store(&c->stage, STAGE_UNLOAD);
    vy_plugin_unload(library);
    atomic_store(&c->stage, STAGE_EXITING);
    return 1;
}

int main(int argc, char **argv)
{
    if (argc > 1) (void)unlink(argv[1]); // it was started from a file
    struct stat info;
    channel *c = fstat(CHANNEL_FD, &info) == 0 && info.st_size >= (off_t)sizeof *c
                     ? mmap(NULL, (size_t)info.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, CHANNEL_FD, 0)
                     : MAP_FAILED;
    if (c == MAP_FAILED) {
        fprintf(stderr, "this program is started by Volery\n");
        return 2;
    }
    close(CHANNEL_FD);
    int is_done;
    pthread_cleanup_push(on_thread_exit, NULL);
    is_done = run_plugin(c);
    pthread_cleanup_pop(0);
    if (!is_done) _exit(1); // refused: its destructors are not run
    return PROGRAM_DONE;
}
