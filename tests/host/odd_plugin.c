// odd_plugin.c - a plug-in that misbehaves in the way its parameter `mode` says, from 0.1 s on; or where the
// variable ODD_CONSTRUCTOR or ODD_DESTRUCTOR says crash, exit, quit, leave, loop or print, when it is loaded
// or unloaded.
#define _GNU_SOURCE
#include "volery/plugin.h"
#include <fenv.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
    EXIT,
    QUIT,
    LEAVE,
    EXIT_AT_START,
    QUIT_AT_START,
    LEAVE_AT_START,
    LOOP_AT_START,
    CRASH_AT_END,
    EXIT_AT_END,
    QUIT_AT_END,
    LEAVE_AT_END,
    LOOP_AT_END,
};

static int mode;
static volatile int zero;

static void misbehave(const char *how)
{
    if (how == NULL) return;
    if (strcmp(how, "crash") == 0) (void)raise(SIGSEGV);
    if (strcmp(how, "exit") == 0) exit(0);
    if (strcmp(how, "quit") == 0) _exit(0);
    if (strcmp(how, "leave") == 0) pthread_exit(NULL);
    if (strcmp(how, "print") == 0) printf("printed\n");
    while (strcmp(how, "loop") == 0) zero = 0;
}

__attribute__((constructor)) static void constructor(void) { misbehave(getenv("ODD_CONSTRUCTOR")); }
__attribute__((destructor)) static void destructor(void) { misbehave(getenv("ODD_DESTRUCTOR")); }

static void *init(const vy_plugin_start *start, char *why, size_t room)
{
    mode = (int)vy_plugin_parameter(start, "mode", GOOD);
    if (mode == CRASH_AT_START) misbehave("crash");
    if (mode == EXIT_AT_START) misbehave("exit");
    if (mode == QUIT_AT_START) misbehave("quit");
    if (mode == LEAVE_AT_START) misbehave("leave");
    if (mode == LOOP_AT_START) misbehave("loop");
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
    case EXIT: misbehave("exit"); break;
    case QUIT: misbehave("quit"); break;
    case LEAVE: misbehave("leave"); break;
    default: break;
    }
}

static void done(void *self)
{
    (void)self;
    if (mode == CRASH_AT_END) misbehave("crash");
    if (mode == EXIT_AT_END) misbehave("exit");
    if (mode == QUIT_AT_END) misbehave("quit");
    if (mode == LEAVE_AT_END) misbehave("leave");
    if (mode == LOOP_AT_END) misbehave("loop");
}

VY_PLUGIN(init, step, done)
