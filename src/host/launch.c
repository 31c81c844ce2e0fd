// launch.c - starts the program of a controller by the shell.
#define _GNU_SOURCE // sched_setaffinity
#include "host/launch.h"
#include "bridge/sitl_wire.h"
#include "host/supervisor.h"
#include "scenario/number.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEGREES_PER_RADIAN 57.295779513082323

// Continue as a child of this process, which ends as that one does. Some firmware ends itself when it may not
// signal its parent (ArduPilot): confined, it may signal none but one that is within.
static void fork_inside_sandbox(void)
{
    int status = 0;
    const pid_t pid = fork();
    if (pid == 0) return;
    if (pid < 0) _exit(126);
    vy_close_descriptors(0, -1);
    (void)signal(SIGTERM, SIG_IGN); // the whole group gets it, and the firmware has time to end
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFSIGNALED(status)) {
        (void)signal(WTERMSIG(status), SIG_DFL);
        (void)raise(WTERMSIG(status));
    }
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 126);
}

// In the child, between fork and exec: only what is safe there.
static void exec_child(const vy_host_request *request, const char *line, int wire_fd, int inherited_fd,
                       int core)
{
    char name[] = "sh", option[] = "-c", *argv[] = {name, option, (char *)line, NULL};
    if (core >= 0) {
        cpu_set_t core_set;
        CPU_ZERO(&core_set);
        CPU_SET((size_t)core, &core_set);
        (void)sched_setaffinity(0, sizeof core_set, &core_set);
    }
    const char *folder = request->def->folder;
    if (folder[0] != '\0' && chdir(folder) != 0) _exit(126);
    if (inherited_fd >= 0 && fcntl(inherited_fd, F_SETFD, 0) != 0) _exit(126);
    const int stdin_fd = wire_fd >= 0 ? wire_fd : open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (dup2(stdin_fd, 0) < 0 || dup2(wire_fd >= 0 ? wire_fd : 2, 1) < 0) _exit(126);
    vy_confine_enter(request->confinement);
    if (inherited_fd >= 3)
        vy_close_descriptors(3, inherited_fd - 1); // nothing but the wire, and a bridge's socket
    vy_close_descriptors(inherited_fd >= 3 ? inherited_fd + 1 : 3, -1);
    if (request->confinement != NULL && wire_fd < 0) fork_inside_sandbox(); // a firmware
    (void)execve("/bin/sh", argv, vy_confine_environment(request->confinement));
    _exit(127);
}

// What the shell starts: with the drone's number and start in the environment, the latter where PX4 looks for
// it.
static void print_command_line(const vy_host_request *request, int inherited_fd, char *out, size_t capacity)
{
    const vy_plugin_start *s = &request->start;
    const vy_locale locale = vy_locale_enter();
    int length = snprintf(out, capacity, "export VOLERY_INSTANCE=%d; ", s->instance);
    if (s->has_home)
        length += snprintf(out + length, capacity - (size_t)length,
                           "export PX4_HOME_LAT=%.10f PX4_HOME_LON=%.10f PX4_HOME_ALT=%.3f; ",
                           s->home_latitude * DEGREES_PER_RADIAN, s->home_longitude * DEGREES_PER_RADIAN,
                           s->home_altitude);
    if (inherited_fd >= 0)
        length +=
            snprintf(out + length, capacity - (size_t)length, "export " SITL_VARIABLE "=%d; ", inherited_fd);
    vy_locale_leave(locale);
    snprintf(out + length, capacity - (size_t)length, "exec %s", request->def->program);
}

vy_status vy_launch(const vy_host_request *request, int wire_fd, int inherited_fd, child *out,
                    shared_core *core, vy_error *err)
{
    const vy_controller_def *def = request->def;
    char line[sizeof def->program + 200];
    int is_child = 0;
    print_command_line(request, inherited_fd, line, sizeof line);
    core->core = def->any_core ? -1 : sched_getcpu();
    const vy_status status = vy_child_fork(out, &is_child, err);
    if (is_child) exec_child(request, line, wire_fd, inherited_fd, core->core);
    return status;
}

void vy_core_pin(shared_core *shared)
{
    if (shared->core < 0) return;
    cpu_set_t core_set;
    CPU_ZERO(&core_set);
    CPU_SET((size_t)shared->core, &core_set);
    if (sched_getaffinity(0, sizeof shared->saved_cores, &shared->saved_cores) == 0)
        shared->is_pinned = sched_setaffinity(0, sizeof core_set, &core_set) == 0;
    shared->core = -1;
}

void vy_core_unpin(shared_core *shared)
{
    if (shared->is_pinned) (void)sched_setaffinity(0, sizeof shared->saved_cores, &shared->saved_cores);
    shared->is_pinned = 0;
}
