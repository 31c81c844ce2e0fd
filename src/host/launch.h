// launch.h - a command line as a child process, on the core of the stepping thread where that is asked for.
#pragma once
#include "host/child.h"
#include "host/host.h"
#include <sched.h>

/// Where program and stepping thread run. In lock-step only one of them runs at a time: on one core the other
/// is woken without an interrupt to another core.
typedef struct shared_core {
    int core;              // to go to at the first call; -1: stay
    int is_pinned;         // the stepping thread has been put there
    cpu_set_t saved_cores; // where it could run before
} shared_core;

/// Run the def's command line by the shell, in its folder.
/// @param wire its stdin and stdout; -1: its stdin is empty, and what it prints goes to stderr
/// @param inherited a socket that it keeps, by the number in VOLERY_SITL; -1: none
vy_status vy_launch(const vy_host_request *request, int wire_fd, int inherited_fd, child *out,
                    shared_core *core, vy_error *err);

/// Before the first call, from the stepping thread; and at the end.
void vy_core_pin(shared_core *shared);
void vy_core_unpin(shared_core *shared);
