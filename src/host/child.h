// child.h - child processes that end with this one, whichever of its threads made them.
#pragma once
#include "volery/controller.h"
#include "volery/status.h"
#include <sys/types.h>

/// A supervisor with a program below it. It leads a session, and ends as the program did.
typedef struct child {
    pid_t pid;    // of the supervisor; 0: none
    int lifeline; // end of a socket that this process alone holds; -1: none
    pid_t owner;  // parent process; a fork of the parent must not touch the child
} child;

/// Fork. `*is_child` is 1 in the program's process, where signals are as at a program's start and only what
/// is safe after a fork may follow. When this process ends, everything below the supervisor is killed.
vy_status vy_child_fork(child *out, int *is_child, vy_error *err);

/// Wait for its end, and leave it to be reaped. Returns 0 when the time is over; else how it ended, and
/// `*detail`: the exit status or signal, -1 when another part of the program has reaped it.
int vy_child_wait(const child *c, int milliseconds, vy_verdict *verdict, int32_t *detail);

/// Kill what is left of it and of all that it has started, and reap it.
void vy_child_end(child *c);

/// The same file under a descriptor that is none of the standard ones, closed on exec; -1 with errno. `fd` is
/// closed.
int vy_fd_above_stdio(int fd);
