// guard.h - calling code that may crash or never return, at the price of a few nanoseconds.
#pragma once
#include "volery/controller.h"
#include "volery/status.h"

typedef struct vy_guard vy_guard;

/// @param deadline [s] of wall clock after which a call is given up; at the latest at 1.25 times that
vy_status vy_guard_open(double deadline, vy_guard **out, vy_error *err);
void vy_guard_close(vy_guard *guard); ///< NULL is a no-op

/// Call `work(self)`. A fault in it (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS) or a call
/// longer than the deadline ends it there: its frames are left as they are, and whatever it held stays held.
/// @param detail the signal, after VY_VERDICT_CRASHED
vy_verdict vy_guard_call(vy_guard *guard, void (*work)(void *self), void *self, int32_t *detail);
