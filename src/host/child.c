// child.c - starting and ending child processes.
//
// PR_SET_PDEATHSIG would end a child with the thread that made it. A pipe whose other end only this process
// holds ends it with the process: O_ASYNC has the kernel send a signal when that end is closed, F_SETSIG says
// which, and F_SETOWN to whom.
#define _GNU_SOURCE // pipe2, F_SETSIG
#include "host/child.h"
#include "base/assert.h"
#include "base/fail.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int vy_fd_above_stdio(int fd)
{
    if (fd < 0) return fd;
    const int above = fcntl(fd, F_DUPFD_CLOEXEC, 10);
    const int kept = errno;
    close(fd);
    errno = kept;
    return above;
}

// In the child, between fork and exec: only what is safe there.
static void prepare(int lifeline_fd)
{
    for (int number = 1; number < NSIG; ++number) (void)signal(number, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)setpgid(0, 0); // Ctrl-C is for the world, which ends us properly; and a group can be ended as one
    if (fcntl(lifeline_fd, F_SETOWN, -getpid()) != 0 || fcntl(lifeline_fd, F_SETSIG, SIGKILL) != 0 ||
        fcntl(lifeline_fd, F_SETFL, O_ASYNC) != 0 || fcntl(lifeline_fd, F_SETFD, 0) != 0)
        _exit(126);
    struct pollfd gone = {.fd = lifeline_fd};
    if (poll(&gone, 1, 0) != 0) _exit(126); // the parent died before the pipe could be watched
}

vy_status vy_child_fork(child *out, int *lifeline_fd, vy_error *err)
{
    int ends[2];
    *lifeline_fd = -1;
    *out = (child){.pid = 0, .lifeline = -1, .owner = getpid()};
    if (pipe2(ends, O_CLOEXEC) != 0) return vy_fail(err, VY_IO, "controller: no pipe: %s", strerror(errno));
    for (int i = 0; i < 2; ++i) ends[i] = vy_fd_above_stdio(ends[i]);
    out->pid = ends[0] < 0 || ends[1] < 0 ? -1 : fork();
    if (out->pid == 0) {
        close(ends[1]);
        prepare(ends[0]);
        *lifeline_fd = ends[0];
        return VY_OK;
    }
    const int kept = errno;
    if (ends[0] >= 0) close(ends[0]);
    out->lifeline = ends[1];
    if (out->pid > 0) {
        (void)setpgid(out->pid, out->pid); // whichever of us is first
        return VY_OK;
    }
    vy_child_end(out);
    return vy_fail(err, VY_IO, "controller: no process: %s", strerror(kept));
}

int vy_child_wait(const child *c, int milliseconds, vy_verdict *verdict, int32_t *detail)
{
    VY_ASSERT(c->pid > 0 && verdict != NULL && detail != NULL);
    siginfo_t info;
    *verdict = VY_VERDICT_ENDED;
    *detail = -1;
    for (int i = 0;; ++i) {
        memset(&info, 0, sizeof info);
        const int failed = waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT);
        if (failed && errno == ECHILD) return 1;
        if (!failed && info.si_pid == c->pid) break;
        if (i >= milliseconds) return 0;
        (void)nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    *detail = info.si_status;
    if (info.si_code != CLD_EXITED) *verdict = VY_VERDICT_CRASHED;
    return 1;
}

void vy_child_end(child *c)
{
    siginfo_t info;
    if (c->pid > 0 && waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0) {
        (void)kill(-c->pid, SIGKILL); // its process id is not reused before it is reaped
        (void)kill(c->pid, SIGKILL);
        while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    if (c->lifeline >= 0) close(c->lifeline);
    *c = (child){.pid = 0, .lifeline = -1};
}
