// child.c - starting and ending child processes.
//
// PR_SET_PDEATHSIG would end a child with the thread that made it. A socket whose other end only this process
// holds tells the supervisor of its end.
#define _GNU_SOURCE // SOCK_CLOEXEC
#include "host/child.h"
#include "base/assert.h"
#include "base/fail.h"
#include "host/supervisor.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// A supervisor that a program has stopped is killed after 5 s.
enum { END_POLL_NS = 200000, END_POLLS = 25000 };

int vy_fd_above_stdio(int fd)
{
    if (fd < 0) return fd;
    const int duplicate = fcntl(fd, F_DUPFD_CLOEXEC, 10);
    const int saved_errno = errno;
    close(fd);
    errno = saved_errno;
    return duplicate;
}

vy_status vy_child_fork(child *out, int *is_child, vy_error *err)
{
    int socket_pair[2];
    *is_child = 0;
    *out = (child){.pid = 0, .lifeline = -1, .owner = getpid()};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, socket_pair) != 0)
        return vy_fail(err, VY_IO, "controller: no socket: %s", strerror(errno));
    for (int i = 0; i < 2; ++i) socket_pair[i] = vy_fd_above_stdio(socket_pair[i]);
    out->pid = socket_pair[0] < 0 || socket_pair[1] < 0 ? -1 : fork();
    if (out->pid == 0) {
        close(socket_pair[1]);
        vy_supervise(socket_pair[0]);
        *is_child = 1;
        return VY_OK;
    }
    const int saved_errno = errno;
    if (socket_pair[0] >= 0) close(socket_pair[0]);
    out->lifeline = socket_pair[1];
    if (out->pid > 0) return VY_OK;
    vy_child_end(out);
    return vy_fail(err, VY_IO, "controller: no process: %s", strerror(saved_errno));
}

// `*detail` is the exit status or the signal that ended it.
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

// Has it ended? It is left to be reaped.
static int has_ended(pid_t pid)
{
    siginfo_t info = {.si_pid = 0};
    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == pid;
}

void vy_child_end(child *c)
{
    siginfo_t info;
    if (c->pid > 0 && waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0) {
        // To close it is not enough where a fork of this process holds it, too.
        if (c->lifeline >= 0) (void)shutdown(c->lifeline, SHUT_RDWR);
        for (int i = 0; i < END_POLLS && !has_ended(c->pid); ++i)
            (void)nanosleep(&(struct timespec){.tv_nsec = END_POLL_NS}, NULL);
        (void)kill(-c->pid, SIGKILL); // its process id is not reused before it is reaped
        (void)kill(c->pid, SIGKILL);
        while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    if (c->lifeline >= 0) close(c->lifeline);
    *c = (child){.pid = 0, .lifeline = -1};
}
