// locks.c - what threads wait for each other with. A lock that is taken is waited for in turn.
#define _GNU_SOURCE
#include "sitl.h"
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

// Try again whenever somebody has let go of it, until `wake`.
#define ACQUIRE(object, attempt, wake)                                           \
    while ((attempt) == EBUSY) {                                                 \
        if (!sitl_wait(wake, object, NULL, 0)) return (attempt) ? ETIMEDOUT : 0; \
    }

static int try_mutex(pthread_mutex_t *m) { return REAL(int, pthread_mutex_trylock, pthread_mutex_t *)(m); }

// 0, or why it was not taken: other errors than EBUSY are the system's.
static int acquire_mutex(pthread_mutex_t *m, uint64_t wake)
{
    int error;
    ACQUIRE(m, error = try_mutex(m), wake)
    return error;
}

int pthread_mutex_lock(pthread_mutex_t *m)
{
    if (!sitl_is_managed()) return REAL(int, pthread_mutex_lock, pthread_mutex_t *)(m);
    return acquire_mutex(m, NEVER);
}

int pthread_mutex_timedlock(pthread_mutex_t *restrict m, const struct timespec *restrict at)
{
    if (!sitl_is_managed())
        return REAL(int, pthread_mutex_timedlock, pthread_mutex_t *, const struct timespec *)(m, at);
    return acquire_mutex(m, sitl_deadline(CLOCK_REALTIME, at));
}

int pthread_mutex_unlock(pthread_mutex_t *m)
{
    const int error = REAL(int, pthread_mutex_unlock, pthread_mutex_t *)(m);
    if (sitl_is_managed()) sitl_signal(m, 0);
    return error;
}

int pthread_rwlock_rdlock(pthread_rwlock_t *l)
{
    int error;
    if (!sitl_is_managed()) return REAL(int, pthread_rwlock_rdlock, pthread_rwlock_t *)(l);
    ACQUIRE(l, error = REAL(int, pthread_rwlock_tryrdlock, pthread_rwlock_t *)(l), NEVER)
    return error;
}

int pthread_rwlock_wrlock(pthread_rwlock_t *l)
{
    int error;
    if (!sitl_is_managed()) return REAL(int, pthread_rwlock_wrlock, pthread_rwlock_t *)(l);
    ACQUIRE(l, error = REAL(int, pthread_rwlock_trywrlock, pthread_rwlock_t *)(l), NEVER)
    return error;
}

int pthread_rwlock_unlock(pthread_rwlock_t *l)
{
    const int error = REAL(int, pthread_rwlock_unlock, pthread_rwlock_t *)(l);
    if (sitl_is_managed()) sitl_signal(l, 1);
    return error;
}

// --- conditions: ours alone, the system's never wait

// The clock of a condition's deadlines. Attributes say it, and only here they can be read.
enum { CONDITION_CAP = 1024 };
static const pthread_cond_t *monotonic_conditions[CONDITION_CAP];
static int monotonic_count;

int pthread_cond_init(pthread_cond_t *restrict c, const pthread_condattr_t *restrict attributes)
{
    clockid_t clock = CLOCK_REALTIME;
    if (attributes != NULL) (void)pthread_condattr_getclock(attributes, &clock);
    for (int i = 0; i < monotonic_count; ++i) {
        if (monotonic_conditions[i] == c) monotonic_conditions[i] = monotonic_conditions[--monotonic_count];
    }
    if (clock != CLOCK_REALTIME && monotonic_count < CONDITION_CAP)
        monotonic_conditions[monotonic_count++] = c;
    // An all-zero condition is what the static initialiser makes; so the old and the new version of the
    // system's function, which differ in size, do not matter.
    *c = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    return 0;
}

static int wait_condition(pthread_cond_t *c, pthread_mutex_t *m, uint64_t wake)
{
    (void)pthread_mutex_unlock(m);
    const int is_signalled = sitl_wait(wake, c, NULL, 0);
    const int error = acquire_mutex(m, NEVER);
    return error != 0 ? error : is_signalled ? 0 : ETIMEDOUT;
}

// A thread that takes no turns has no conditions: the oldest version of the system's, which dlsym() gives,
// is of another size.
#define UNMANAGED_CONDITION EPERM

int pthread_cond_wait(pthread_cond_t *restrict c, pthread_mutex_t *restrict m)
{
    if (!sitl_is_managed()) return UNMANAGED_CONDITION;
    return wait_condition(c, m, NEVER);
}

int pthread_cond_timedwait(pthread_cond_t *restrict c, pthread_mutex_t *restrict m,
                           const struct timespec *restrict at)
{
    clockid_t clock = CLOCK_REALTIME;
    if (!sitl_is_managed()) return UNMANAGED_CONDITION;
    for (int i = 0; i < monotonic_count; ++i) {
        if (monotonic_conditions[i] == c) clock = CLOCK_MONOTONIC;
    }
    return wait_condition(c, m, sitl_deadline(clock, at));
}

int pthread_cond_clockwait(pthread_cond_t *restrict c, pthread_mutex_t *restrict m, clockid_t clock,
                           const struct timespec *restrict at)
{
    if (!sitl_is_managed()) return UNMANAGED_CONDITION;
    return wait_condition(c, m, sitl_deadline(clock, at));
}

int pthread_cond_signal(pthread_cond_t *c)
{
    if (sitl_is_managed()) sitl_signal(c, 0);
    return 0;
}

int pthread_cond_broadcast(pthread_cond_t *c)
{
    if (sitl_is_managed()) sitl_signal(c, 1);
    return 0;
}

// --- semaphores

static int try_semaphore(sem_t *s)
{
    return REAL(int, sem_trywait, sem_t *)(s) == 0 ? 0 : errno == EAGAIN ? EBUSY : errno;
}

static int acquire_semaphore(sem_t *s, uint64_t wake)
{
    int error;
    ACQUIRE(s, error = try_semaphore(s), wake)
    return error;
}

static int with_errno(int error)
{
    if (error == 0) return 0;
    errno = error;
    return -1;
}

int sem_wait(sem_t *s)
{
    if (!sitl_is_managed()) return REAL(int, sem_wait, sem_t *)(s);
    return with_errno(acquire_semaphore(s, NEVER));
}

int sem_timedwait(sem_t *restrict s, const struct timespec *restrict at)
{
    if (!sitl_is_managed()) return REAL(int, sem_timedwait, sem_t *, const struct timespec *)(s, at);
    return with_errno(acquire_semaphore(s, sitl_deadline(CLOCK_REALTIME, at)));
}

int sem_clockwait(sem_t *restrict s, clockid_t clock, const struct timespec *restrict at)
{
    if (!sitl_is_managed())
        return REAL(int, sem_clockwait, sem_t *, clockid_t, const struct timespec *)(s, clock, at);
    return with_errno(acquire_semaphore(s, sitl_deadline(clock, at)));
}

int sem_post(sem_t *s)
{
    const int failed = REAL(int, sem_post, sem_t *)(s);
    if (sitl_is_managed()) sitl_signal(s, 0);
    return failed;
}
