// logged.h - what the log of a scenario's run holds.
#pragma once
#include "volery/scenario.h"

/// A recorder's def and the texts that it points to.
typedef struct scenario_log_def {
    vy_recorder_def def; ///< without path and parent
    const char **names;
    char *scenario_text;
} scenario_log_def;

/// To be freed, unless it failed.
vy_status vy_scenario_log_def(const vy_scenario *scenario, const vy_world *world, scenario_log_def *out,
                              vy_error *err);
void vy_scenario_log_def_free(scenario_log_def *log);
