// guard.c - a fault handler on a stack of its own, and a watchdog thread.
//
// A call costs a sigsetjmp without the signal mask, two stores to the turn that the watchdog looks at, and a
// few thread-local loads. Handlers leave the guarded call by siglongjmp; a fault outside of one goes to
// whoever handled it before.
#define _XOPEN_SOURCE 700 // sigaltstack
#include "host/guard.h"
#include "base/fail.h"
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    LOOKS = 4, // of the watchdog within a deadline
    STACK = 65536,
    HANG_SIGNAL = SIGVTALRM,
};

struct vy_guard {
    atomic_ulong turn;      // odd while a call runs; the next number with each change
    atomic_ulong condemned; // the turn that the watchdog has given up
    pthread_t caller;       // thread of the present call
    double deadline;
    pthread_t watchdog;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    int closing;
};

// The innermost guarded call of this thread.
typedef struct frame {
    sigjmp_buf exit;
    vy_guard *guard;
} frame;
static _Thread_local frame *volatile present;
static _Thread_local int has_stack;
static _Thread_local unsigned char stack[STACK];

static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS, HANG_SIGNAL};
enum { FAULTS = sizeof faults / sizeof faults[0] };
static struct sigaction before[FAULTS];
static pthread_mutex_t handlers_lock = PTHREAD_MUTEX_INITIALIZER;
static int handlers_users;

static void on_signal(int number, siginfo_t *info, void *context)
{
    (void)context;
    const int kept = errno;
    frame *f = present;
    if (number == HANG_SIGNAL) { // meant for the turn that hung, not for the one after it
        if (f != NULL && atomic_load(&f->guard->condemned) == atomic_load(&f->guard->turn))
            siglongjmp(f->exit, number);
        errno = kept;
        return;
    }
    if (f != NULL) siglongjmp(f->exit, number);
    // Not in a guarded call: the instruction is tried again under the handler of before.
    for (int i = 0; i < FAULTS; ++i) {
        if (faults[i] == number) (void)sigaction(number, &before[i], NULL);
    }
    if (info->si_code <= 0) (void)raise(number); // it was sent, and would not come again
    errno = kept;
}

static void install_handlers(void)
{
    pthread_mutex_lock(&handlers_lock);
    if (handlers_users++ == 0) {
        struct sigaction action;
        memset(&action, 0, sizeof action);
        action.sa_sigaction = on_signal;
        // The mask is not saved by sigsetjmp, so it must not change on the way into the handler.
        action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
        sigemptyset(&action.sa_mask);
        for (int i = 0; i < FAULTS; ++i) (void)sigaction(faults[i], &action, &before[i]);
    }
    pthread_mutex_unlock(&handlers_lock);
}

static void remove_handlers(void)
{
    pthread_mutex_lock(&handlers_lock);
    if (--handlers_users == 0) {
        for (int i = 0; i < FAULTS; ++i) (void)sigaction(faults[i], &before[i], NULL);
    }
    pthread_mutex_unlock(&handlers_lock);
}

// A call is given up when the watchdog has seen it LOOKS times in a row.
static void *watch(void *self)
{
    vy_guard *g = self;
    unsigned long last = 0;
    int seen = 0;
    struct timespec next;
    clock_gettime(CLOCK_MONOTONIC, &next);
    pthread_mutex_lock(&g->lock);
    while (!g->closing) {
        const double wait = g->deadline / LOOKS;
        const long whole = (long)wait;
        next.tv_sec += whole;
        next.tv_nsec += (long)(1e9 * (wait - (double)whole));
        if (next.tv_nsec >= 1000000000) {
            next.tv_sec += 1;
            next.tv_nsec -= 1000000000;
        }
        while (!g->closing && pthread_cond_timedwait(&g->wake, &g->lock, &next) != ETIMEDOUT) {
        }
        const unsigned long turn = atomic_load(&g->turn);
        seen = turn % 2 == 1 && turn == last ? seen + 1 : 0;
        last = turn;
        if (seen >= LOOKS) {
            atomic_store(&g->condemned, turn);
            (void)pthread_kill(g->caller, HANG_SIGNAL);
        }
    }
    pthread_mutex_unlock(&g->lock);
    return NULL;
}

vy_status vy_guard_open(double deadline, vy_guard **out, vy_error *err)
{
    *out = NULL;
    vy_guard *g = calloc(1, sizeof *g);
    if (g == NULL) return vy_fail(err, VY_NO_MEMORY, "plug-in: out of memory");
    g->deadline = deadline;
    g->caller = pthread_self();
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_mutex_init(&g->lock, NULL);
    pthread_cond_init(&g->wake, &clock);
    pthread_condattr_destroy(&clock);
    sigset_t all, kept; // signals for the program go to its own threads
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &kept);
    const int failed = pthread_create(&g->watchdog, NULL, watch, g);
    pthread_sigmask(SIG_SETMASK, &kept, NULL);
    if (failed != 0) {
        pthread_cond_destroy(&g->wake);
        pthread_mutex_destroy(&g->lock);
        free(g);
        return vy_fail(err, VY_IO, "plug-in: no thread to watch it: %s", strerror(failed));
    }
    install_handlers();
    *out = g;
    return VY_OK;
}

void vy_guard_close(vy_guard *g)
{
    if (g == NULL) return;
    pthread_mutex_lock(&g->lock);
    g->closing = 1;
    pthread_cond_signal(&g->wake);
    pthread_mutex_unlock(&g->lock);
    pthread_join(g->watchdog, NULL);
    remove_handlers();
    pthread_cond_destroy(&g->wake);
    pthread_mutex_destroy(&g->lock);
    free(g);
}

// A fault may be an overflow of the stack: its handler needs another one.
static void prepare_thread(void)
{
    stack_t now;
    if (sigaltstack(NULL, &now) == 0 && (now.ss_flags & SS_DISABLE) != 0) {
        stack_t mine;
        memset(&mine, 0, sizeof mine);
        mine.ss_sp = stack;
        mine.ss_size = sizeof stack;
        (void)sigaltstack(&mine, NULL);
    }
    has_stack = 1;
}

vy_verdict vy_guard_call(vy_guard *guard, void (*work)(void *self), void *self, int32_t *detail)
{
    if (!has_stack) prepare_thread();
    frame here;
    frame *const outer = present;
    here.guard = guard;
    guard->caller = pthread_self();
    const int number = sigsetjmp(here.exit, 0);
    if (number == 0) {
        present = &here;
        const unsigned long turn = atomic_load_explicit(&guard->turn, memory_order_relaxed);
        atomic_store_explicit(&guard->turn, turn + 1, memory_order_release);
        work(self);
        atomic_store_explicit(&guard->turn, turn + 2, memory_order_release);
        present = outer;
        return VY_VERDICT_REPLIED;
    }
    present = outer;
    atomic_fetch_add(&guard->turn, 1);
    *detail = number == HANG_SIGNAL ? 0 : number;
    return number == HANG_SIGNAL ? VY_VERDICT_LATE : VY_VERDICT_CRASHED;
}
