// odd_plugin.c - a plug-in that misbehaves in the way its parameter `mode` says, from 0.1 s on.
#include "volery/plugin.h"
#include <fenv.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    GOOD,
    SEGFAULT,
    LOOP,
    ABORT,
    HEAP,
    NOT_FINITE,
    OVERFLOW,
    ROUNDING,
    DIVIDE,
    REFUSE,
    LOOP_IN_LIBRARY,
    UNKNOWN_RUNG,
    CRASH_AT_START,
};

static int mode;
static volatile int zero;

static void *init(const vy_plugin_start *start, char *why, size_t room)
{
    mode = (int)vy_plugin_parameter(start, "mode", GOOD);
    if (mode == CRASH_AT_START) (void)raise(SIGSEGV);
    if (mode == REFUSE) snprintf(why, room, "mode %d is not for %s", mode, start->drone);
    return mode == REFUSE ? NULL : &mode;
}

static int dive(volatile int depth)
{
    volatile char room[4096];
    room[0] = (char)depth;
    return dive(depth + 1) + room[0];
}

// Frees a block twice: glibc finds it and aborts, with the lock of its heap held.
static void break_heap(void)
{
    char *volatile block = malloc(3000);
    free(block);
    free(block);
}

static void step(void *self, const vy_samples *samples, vy_intent *intent)
{
    (void)self;
    intent->rung = VY_RUNG_RATES;
    intent->thrust = 0.27;
    if (samples->time < 0.1) return;
    switch (mode) {
    case SEGFAULT: *(volatile int *)(intptr_t)(8 + zero) = 1; break;
    case LOOP:
        for (;;) zero = 0;
    case ABORT: abort();
    case HEAP: break_heap(); break;
    case NOT_FINITE: intent->rates.x = NAN; break;
    case OVERFLOW: intent->thrust = dive(0); break;
    case ROUNDING: (void)fesetround(FE_UPWARD); break;
    case DIVIDE: intent->thrust = 7 % zero; break;
    case LOOP_IN_LIBRARY:
        for (;;) free(malloc(100000));
    case UNKNOWN_RUNG: intent->rung = (vy_rung)77; break;
    default: break;
    }
}

VY_PLUGIN(init, step, NULL)
