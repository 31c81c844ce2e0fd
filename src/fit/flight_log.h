// flight_log.h - a recorded flight from a log of Volery: motor commands and what the instruments said, not
// the truth.
#pragma once
#include "scenario/flight_csv.h"

/// @param drone by its name; NULL: the only one
vy_status vy_flight_from_log(const char *path, const char *drone, vy_flight **out, vy_error *err);
