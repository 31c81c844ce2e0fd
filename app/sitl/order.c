// order.c - whose turn it is, and what time: threads one at a time, in the order in which they became ready.
#define _GNU_SOURCE
#include "sitl.h"
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

// Of a thread: no thread yet, in the queue for a turn, having it, waiting for time or an object, ended.
typedef enum state { NONE, READY, RUNNING, WAITING, DONE } state;

typedef struct thread {
    state state;
    uint32_t has_turn;       // futex: 1 gives it its turn
    uint64_t queue_position; // by which it queues once it is ready
    uint64_t wake;           // [ns]
    const void *wait_object;
    struct pollfd *fds;
    nfds_t fd_count;
    int is_satisfied; // what it waited for is there
    void *(*start)(void *);
    void *argument;
    pthread_t handle;
} thread;

static thread threads[THREAD_CAP];
static int thread_count;
static uint64_t clock_ns, next_position;
static uint64_t run_until = NEVER; // [ns] Volery lets the program continue so far
static uint64_t turn_end = NEVER;  // [ns] when a reading of the clock ends the turn
static int is_managed;             // 0 before the start, and after fork()
static __thread thread *self;
static pthread_key_t thread_exit_key;

int sitl_is_managed(void) { return is_managed && self != NULL; }
uint64_t sitl_now(void) { return clock_ns; }

// --- handing over

static void wait_for_turn(thread *t)
{
    while (__atomic_load_n(&t->has_turn, __ATOMIC_ACQUIRE) == 0)
        (void)syscall(SYS_futex, &t->has_turn, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    __atomic_store_n(&t->has_turn, 0, __ATOMIC_RELEASE);
}

static void wake_up(thread *t)
{
    __atomic_store_n(&t->has_turn, 1, __ATOMIC_RELEASE);
    (void)syscall(SYS_futex, &t->has_turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void make_ready(thread *t, int is_satisfied)
{
    t->state = READY;
    t->queue_position = next_position++;
    t->is_satisfied = is_satisfied;
}

// Those whose files are ready, in the order of the threads.
static void poll_files(void)
{
    for (int i = 0; i < thread_count; ++i) {
        thread *t = &threads[i];
        if (t->state != WAITING || t->fd_count == 0) continue;
        if (REAL(int, poll, struct pollfd *, nfds_t, int)(t->fds, t->fd_count, 0) > 0) make_ready(t, 1);
    }
}

// Nobody will be woken by time: wait for the world outside.
static void wait_for_files(void)
{
    struct pollfd descriptors[FD_CAP];
    nfds_t count = 0;
    for (int i = 0; i < thread_count; ++i) {
        const thread *t = &threads[i];
        if (t->state != WAITING) continue;
        for (nfds_t k = 0; k < t->fd_count && count < FD_CAP; ++k) descriptors[count++] = t->fds[k];
    }
    if (count == 0) {
        fprintf(stderr, "volery sitl: every thread of the program waits for another\n");
        _exit(70);
    }
    (void)REAL(int, poll, struct pollfd *, nfds_t, int)(descriptors, count, -1);
}

static thread *first_to_wake(void)
{
    thread *first = NULL;
    for (int i = 0; i < thread_count; ++i) {
        thread *t = &threads[i];
        if (t->state == WAITING && t->wake != NEVER && (first == NULL || t->wake < first->wake)) first = t;
    }
    return first;
}

static thread *first_ready(void)
{
    thread *first = NULL;
    for (int i = 0; i < thread_count; ++i) {
        thread *t = &threads[i];
        if (t->state == READY && (first == NULL || t->queue_position < first->queue_position)) first = t;
    }
    return first;
}

// Whose turn is next. Time moves on only here and by readings of a clock.
static thread *next_thread(void)
{
    for (;;) {
        if (clock_ns >= run_until) run_until = sitl_wire_exchange(clock_ns);
        poll_files();
        thread *sleeper;
        while ((sleeper = first_to_wake()) != NULL && sleeper->wake <= clock_ns) make_ready(sleeper, 0);
        thread *ready = first_ready();
        if (ready != NULL) {
            turn_end = sleeper != NULL && sleeper->wake < run_until ? sleeper->wake : run_until;
            return ready;
        }
        if (sleeper != NULL && sleeper->wake < run_until)
            clock_ns = sleeper->wake;
        else if (run_until != NEVER)
            clock_ns = run_until;
        else
            wait_for_files();
    }
}

static void end_turn(void)
{
    thread *const own = self, *const next = next_thread();
    next->state = RUNNING;
    if (next == own) return;
    wake_up(next);
    wait_for_turn(own);
}

uint64_t sitl_read_clock(void)
{
    clock_ns += CLOCK_READ_NS;
    if (clock_ns >= turn_end) sitl_yield();
    return clock_ns;
}

void sitl_yield(void)
{
    make_ready(self, 0);
    end_turn();
}

int sitl_wait(uint64_t wake, const void *object, struct pollfd *fds, nfds_t count)
{
    thread *const own = self;
    own->wake = wake;
    own->wait_object = object;
    own->fds = fds;
    own->fd_count = count;
    own->state = WAITING;
    end_turn();
    return own->is_satisfied;
}

void sitl_signal(const void *object, int all)
{
    for (;;) {
        thread *first = NULL;
        for (int i = 0; i < thread_count && first == NULL; ++i) {
            if (threads[i].state == WAITING && threads[i].wait_object == object) first = &threads[i];
        }
        if (first == NULL) return;
        make_ready(first, 1);
        if (!all) return;
    }
}

// --- threads begin and end

static thread *new_thread(void)
{
    if (thread_count == THREAD_CAP) {
        fprintf(stderr, "volery sitl: a program has at most %d threads\n", THREAD_CAP);
        _exit(70);
    }
    return &threads[thread_count++];
}

// At the end of a thread, whatever ends it: the turn goes to the next.
static void end_thread(void *argument)
{
    thread *t = argument;
    if (!is_managed) return;
    t->state = DONE;
    sitl_signal(t, 1);
    self = NULL;
    thread *next = next_thread();
    next->state = RUNNING;
    wake_up(next);
}

static void *begin_thread(void *argument)
{
    thread *t = argument;
    self = t;
    wait_for_turn(t);
    (void)pthread_setspecific(thread_exit_key, t);
    return t->start(t->argument);
}

int pthread_create(pthread_t *out, const pthread_attr_t *attributes, void *(*start)(void *), void *argument)
{
    typedef int create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    create *const real = (create *)sitl_real("pthread_create");
    if (!sitl_is_managed()) return real(out, attributes, start, argument);
    thread *t = new_thread();
    *t = (thread){.start = start, .argument = argument};
    const int failed = real(&t->handle, attributes, begin_thread, t);
    if (failed) {
        t->state = DONE;
        return failed;
    }
    *out = t->handle;
    make_ready(t, 0);
    return 0;
}

int pthread_join(pthread_t handle, void **value)
{
    if (sitl_is_managed()) {
        for (int i = 0; i < thread_count; ++i) {
            thread *t = &threads[i];
            if (t->state == NONE || !pthread_equal(t->handle, handle)) continue;
            while (t->state != DONE) (void)sitl_wait(NEVER, t, NULL, 0);
        }
    }
    return REAL(int, pthread_join, pthread_t, void **)(handle, value);
}

static void leave_child(void) { is_managed = 0; }

__attribute__((constructor)) static void begin(void)
{
    // Programs that this one starts run by the clock on the wall.
    unsetenv("LD_PRELOAD");
    if (pthread_key_create(&thread_exit_key, end_thread) != 0) _exit(70);
    self = new_thread();
    self->state = RUNNING;
    self->handle = pthread_self();
    is_managed = 1;
    (void)pthread_atfork(NULL, NULL, leave_child);
    if (sitl_wire_open()) run_until = turn_end = 0;
}
