// controllers.h - the programs that steer the drones of a scenario.
#pragma once
#include "volery/host.h"
#include "volery/scenario.h"

/// Programs that have been started. Release with vy_controllers_close().
typedef struct controllers {
    vy_host **hosts;
    int count;
} controllers;

/// The programs, libraries and files of keys that `scenario` names are inputs: no output may take their
/// place.
/// @return 0, or the exit status after a sentence
int vy_controllers_are_inputs(const char *name, const vy_scenario *scenario);

/// Start every plug-in and process of `scenario` and make them its controllers; people too, where the flight
/// is `paced` by the clock. A callback has no program, which is a mistake here.
/// @return 0, or the exit status after a sentence; what was started is ended then
int vy_controllers_open(const char *name, const vy_scenario *scenario, int paced, controllers *out);
void vy_controllers_close(controllers *c);
