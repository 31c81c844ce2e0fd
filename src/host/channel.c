// channel.c - signals another process and waits for it: spins, then sleeps on a futex.
#define _GNU_SOURCE // syscall
#include "host/channel.h"
#include "base/cpu.h"
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
    SPINS_PER_CLOCK_READ = 8, // polls between two reads of the clock
    SPIN_RETRY_WAITS = 64,    // waits after which spinning is tried again
};

_Static_assert(sizeof(_Atomic uint32_t) == 4 && ATOMIC_INT_LOCK_FREE == 2, "the kernel sleeps on four bytes");
_Static_assert(offsetof(channel, request.count) / 64 != offsetof(channel, response.count) / 64,
               "each direction has a cache line of its own");

int64_t vy_clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void vy_futex_counter_set(futex_counter *counter, uint32_t count)
{
    atomic_store(&counter->count, count);
    if (atomic_load(&counter->has_sleeper))
        (void)syscall(SYS_futex, &counter->count, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static int spin(futex_counter *counter, uint32_t seen_count, int64_t deadline_ns)
{
    do {
        for (int i = 0; i < SPINS_PER_CLOCK_READ; ++i) {
            if (atomic_load_explicit(&counter->count, memory_order_acquire) != seen_count) return 1;
            vy_cpu_pause();
        }
    } while (vy_clock_ns() < deadline_ns);
    return 0;
}

int vy_futex_counter_wait(futex_counter *counter, uint32_t seen_count, int64_t limit_ns, waiter *w)
{
    if (++w->wait_count % SPIN_RETRY_WAITS == 0) w->spin_ns = w->spin_max_ns;
    const int64_t start = vy_clock_ns();
    if (w->spin_ns > 0) {
        if (spin(counter, seen_count, start + w->spin_ns)) {
            w->spin_ns = w->spin_max_ns;
            return 1;
        }
        w->spin_ns = w->spin_ns > 1000 ? w->spin_ns / 2 : 0;
    }
    // The signalling side reads the flag after it sets the counter; we set the flag before we read the
    // counter.
    atomic_store(&counter->has_sleeper, 1);
    int has_changed;
    while (!(has_changed = atomic_load(&counter->count) != seen_count)) {
        const int64_t remaining_ns = limit_ns - (vy_clock_ns() - start);
        if (remaining_ns <= 0) break;
        const struct timespec timeout = {.tv_sec = (time_t)(remaining_ns / 1000000000),
                                         .tv_nsec = remaining_ns % 1000000000};
        (void)syscall(SYS_futex, &counter->count, FUTEX_WAIT, seen_count, &timeout, NULL, 0);
    }
    atomic_store(&counter->has_sleeper, 0);
    return has_changed;
}
