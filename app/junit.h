// junit.h - a flight's outcome for systems that run tests.
#pragma once
#include "flight.h"

/// Write JUnit XML to `path`: one test for the flight itself, one for each expectation.
/// @return 0, or the exit status after a sentence
int vy_junit_write(const flight *f, const char *path);

/// The same for a run that came to no outcome: one test with an error, which is the last one printed.
/// @return 0, or the exit status after a sentence
int vy_junit_write_error(const char *command, const char *scenario, const char *path);
