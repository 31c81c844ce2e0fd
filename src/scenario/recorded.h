// recorded.h - recorded flights from files, into the scenario that names them.
#pragma once
#include "scenario/read.h"

/// Read the files of recorded controllers, starts and expectations: tables and values take their place.
/// Errors are reported with the file's own line and column.
void vy_load_recorded(vy_reader *reader, const char *scenario_path, vy_scenario *scenario);
