// exit_status.h - with what the command ends.
#pragma once

/// Exit statuses; after SIGINT or SIGTERM the status is 128 plus the signal's number.
enum {
    EXIT_DONE = 0,   ///< done, and everything expected was met
    EXIT_FAILED = 1, ///< the run failed its expectations or safety limits, or a replay differs
    EXIT_USAGE = 2,  ///< bad usage or bad input
    EXIT_SYSTEM = 3, ///< the system failed: disk, memory
};
