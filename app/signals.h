// signals.h - Ctrl-C and other requests to stop become a flag to check between steps; a closed pipe becomes
// an error.
#pragma once

/// Ignore SIGPIPE and SIGXFSZ: writing then fails with an error that can be reported.
void vy_signals_ignore(void);

/// Catch SIGINT, SIGTERM and SIGHUP from now on; a second one ends the program at once.
void vy_signals_catch(void);

/// The signal that came, 0 when none.
int vy_signals_seen(void);

/// Exit status of a program stopped by `signal`.
int vy_signals_exit(int signal);
