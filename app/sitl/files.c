// files.c - waiting for files: select() and poll(), in turn and by simulated time.
#define _GNU_SOURCE
#include "sitl.h"
#include <errno.h>
#include <sys/select.h>
#include <time.h>

#define SECOND 1000000000ull // [ns]

static uint64_t deadline_after(uint64_t ns) { return ns == NEVER ? NEVER : sitl_now() + ns; }

// What poll() says now; before that, wait for it until `ns` from now.
static int wait_for(struct pollfd *fds, nfds_t count, uint64_t ns)
{
    int ready_count = REAL(int, poll, struct pollfd *, nfds_t, int)(fds, count, 0);
    if (ready_count != 0) return ready_count;
    if (ns == 0) {
        (void)sitl_read_clock(); // a loop that only asks moves time, too
        return 0;
    }
    if (!sitl_wait(deadline_after(ns), NULL, fds, count)) return 0;
    return REAL(int, poll, struct pollfd *, nfds_t, int)(fds, count, 0);
}

int poll(struct pollfd *fds, nfds_t count, int milliseconds)
{
    if (!sitl_is_managed()) return REAL(int, poll, struct pollfd *, nfds_t, int)(fds, count, milliseconds);
    return wait_for(fds, count, milliseconds < 0 ? NEVER : 1000000ull * (unsigned)milliseconds);
}

// The name of poll() in programs that were compiled with checks of bounds.
int __poll_chk(struct pollfd *fds, nfds_t count, int milliseconds, size_t room);
int __poll_chk(struct pollfd *fds, nfds_t count, int milliseconds, size_t room)
{
    (void)room;
    return poll(fds, count, milliseconds);
}

int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *time, const sigset_t *mask)
{
    if (!sitl_is_managed())
        return REAL(int, ppoll, struct pollfd *, nfds_t, const struct timespec *,
                    const sigset_t *)(fds, count, time, mask);
    return wait_for(fds, count,
                    time == NULL ? NEVER : SECOND * (uint64_t)time->tv_sec + (uint64_t)time->tv_nsec);
}

static int wait_for_sets(int count, fd_set *reads, fd_set *writes, fd_set *exceptions, uint64_t ns)
{
    struct pollfd fds[FD_CAP];
    nfds_t fd_count = 0;
    for (int fd = 0; fd < count && fd < FD_CAP; ++fd) {
        const int events = (reads != NULL && FD_ISSET(fd, reads) ? POLLIN : 0) |
                           (writes != NULL && FD_ISSET(fd, writes) ? POLLOUT : 0) |
                           (exceptions != NULL && FD_ISSET(fd, exceptions) ? POLLPRI : 0);
        if (events != 0) fds[fd_count++] = (struct pollfd){.fd = fd, .events = (short)events};
    }
    int ready_count = wait_for(fds, fd_count, ns);
    if (ready_count < 0) return ready_count;
    ready_count = 0;
    if (reads != NULL) FD_ZERO(reads);
    if (writes != NULL) FD_ZERO(writes);
    if (exceptions != NULL) FD_ZERO(exceptions);
    for (nfds_t i = 0; i < fd_count; ++i) {
        const short events = fds[i].events, revents = fds[i].revents;
        if (revents & POLLNVAL) {
            errno = EBADF;
            return -1;
        }
        if (events & POLLIN && revents & (POLLIN | POLLHUP | POLLERR))
            ++ready_count, FD_SET(fds[i].fd, reads);
        if (events & POLLOUT && revents & (POLLOUT | POLLERR)) ++ready_count, FD_SET(fds[i].fd, writes);
        if (events & POLLPRI && revents & POLLPRI) ++ready_count, FD_SET(fds[i].fd, exceptions);
    }
    return ready_count;
}

int select(int count, fd_set *restrict reads, fd_set *restrict writes, fd_set *restrict exceptions,
           struct timeval *restrict time)
{
    if (!sitl_is_managed())
        return REAL(int, select, int, fd_set *, fd_set *, fd_set *, struct timeval *)(count, reads, writes,
                                                                                      exceptions, time);
    const uint64_t ns =
        time == NULL ? NEVER : SECOND * (uint64_t)time->tv_sec + 1000ull * (uint64_t)time->tv_usec;
    return wait_for_sets(count, reads, writes, exceptions, ns);
}

int pselect(int count, fd_set *restrict reads, fd_set *restrict writes, fd_set *restrict exceptions,
            const struct timespec *restrict time, const sigset_t *restrict mask)
{
    if (!sitl_is_managed())
        return REAL(int, pselect, int, fd_set *, fd_set *, fd_set *, const struct timespec *,
                    const sigset_t *)(count, reads, writes, exceptions, time, mask);
    const uint64_t ns = time == NULL ? NEVER : SECOND * (uint64_t)time->tv_sec + (uint64_t)time->tv_nsec;
    return wait_for_sets(count, reads, writes, exceptions, ns);
}
