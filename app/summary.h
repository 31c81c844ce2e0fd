// summary.h - the outcome of a flight, for people and for programs.
#pragma once
#include "flight.h"

/// Print the outcome: a summary, or one JSON object, or only what went wrong.
/// @return the exit status of the flight
int vy_summary_print(const flight *f, int as_json, int quiet);
