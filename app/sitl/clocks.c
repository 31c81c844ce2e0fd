// clocks.c - the program's clocks and sleeps, in simulated time.
#define _GNU_SOURCE
#include "sitl.h"
#include <errno.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000ull // [ns]

// Where the clocks stand when the program begins: the same in every run.
enum { MONOTONIC_START = 1000, REALTIME_START = 1750000000 }; // [s]

static uint64_t start_of(clockid_t clock)
{
    return SECOND *
           (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE ? REALTIME_START : MONOTONIC_START);
}

static struct timespec to_timespec(uint64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / SECOND), .tv_nsec = (long)(ns % SECOND)};
}

static uint64_t from_timespec(const struct timespec *t)
{
    return t->tv_sec < 0 ? 0 : SECOND * (uint64_t)t->tv_sec + (uint64_t)t->tv_nsec;
}

uint64_t sitl_deadline(clockid_t clock, const struct timespec *at)
{
    const uint64_t ns = from_timespec(at), start = start_of(clock);
    return ns > start ? ns - start : 0;
}

int clock_gettime(clockid_t clock, struct timespec *out)
{
    if (!sitl_is_managed()) return REAL(int, clock_gettime, clockid_t, struct timespec *)(clock, out);
    *out = to_timespec(start_of(clock) + sitl_read_clock());
    return 0;
}

int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
    if (!sitl_is_managed()) return REAL(int, gettimeofday, struct timeval *, void *)(out, zone);
    const uint64_t ns = start_of(CLOCK_REALTIME) + sitl_read_clock();
    *out = (struct timeval){.tv_sec = (time_t)(ns / SECOND), .tv_usec = (suseconds_t)(ns % SECOND / 1000)};
    return 0;
}

time_t time(time_t *out)
{
    if (!sitl_is_managed()) return REAL(time_t, time, time_t *)(out);
    const time_t now = (time_t)((start_of(CLOCK_REALTIME) + sitl_read_clock()) / SECOND);
    if (out != NULL) *out = now;
    return now;
}

clock_t clock(void)
{
    if (!sitl_is_managed()) return REAL(clock_t, clock, void)();
    return (clock_t)(sitl_read_clock() / (SECOND / CLOCKS_PER_SEC));
}

// --- sleeping

static void sleep_ns(uint64_t ns) { (void)sitl_wait(sitl_now() + ns, NULL, NULL, 0); }

int nanosleep(const struct timespec *time, struct timespec *left)
{
    if (!sitl_is_managed())
        return REAL(int, nanosleep, const struct timespec *, struct timespec *)(time, left);
    if (time->tv_sec < 0 || time->tv_nsec < 0 || time->tv_nsec >= (long)SECOND) {
        errno = EINVAL;
        return -1;
    }
    sleep_ns(from_timespec(time));
    if (left != NULL) *left = (struct timespec){0};
    return 0;
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *left)
{
    if (!sitl_is_managed())
        return REAL(int, clock_nanosleep, clockid_t, int, const struct timespec *,
                    struct timespec *)(clock, flags, time, left);
    if (time->tv_nsec < 0 || time->tv_nsec >= (long)SECOND) return EINVAL;
    const uint64_t wake =
        flags & TIMER_ABSTIME ? sitl_deadline(clock, time) : sitl_now() + from_timespec(time);
    (void)sitl_wait(wake, NULL, NULL, 0);
    return 0;
}

int usleep(useconds_t us)
{
    if (!sitl_is_managed()) return REAL(int, usleep, useconds_t)(us);
    sleep_ns(1000ull * us);
    return 0;
}

unsigned sleep(unsigned seconds)
{
    if (!sitl_is_managed()) return REAL(unsigned, sleep, unsigned)(seconds);
    sleep_ns(SECOND * seconds);
    return 0;
}

int sched_yield(void)
{
    if (!sitl_is_managed()) return REAL(int, sched_yield, void)();
    (void)sitl_read_clock(); // a loop of nothing else moves time, too
    sitl_yield();
    return 0;
}

// --- timers that send signals are not simulated: better no timer than one of another time

static int refuse(const char *name)
{
    fprintf(stderr, "volery sitl: %s is not simulated\n", name);
    errno = ENOSYS;
    return -1;
}

int timerfd_create(clockid_t clock, int flags)
{
    if (!sitl_is_managed()) return REAL(int, timerfd_create, clockid_t, int)(clock, flags);
    return refuse("timerfd_create");
}

int timer_create(clockid_t clock, struct sigevent *restrict event, timer_t *restrict out)
{
    if (!sitl_is_managed())
        return REAL(int, timer_create, clockid_t, struct sigevent *, timer_t *)(clock, event, out);
    return refuse("timer_create");
}

int setitimer(__itimer_which_t which, const struct itimerval *restrict value, struct itimerval *restrict old)
{
    if (!sitl_is_managed())
        return REAL(int, setitimer, __itimer_which_t, const struct itimerval *,
                    struct itimerval *)(which, value, old);
    return refuse("setitimer");
}
