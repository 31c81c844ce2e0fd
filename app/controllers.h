// controllers.h - the controller programs of a scenario's drones.
#pragma once
#include "watch.h"
#include "volery/host.h"
#include "volery/record.h"
#include "volery/scenario.h"
#include "volery/world.h"

typedef struct arguments arguments; // arguments.h

/// Programs that have been started. Release with vy_controllers_close().
typedef struct controllers {
    vy_host **hosts;
    int *drones; ///< index of the drone that each one controls
    int count;
    int is_finished;
    int is_boot_timeout; ///< one was not ready in time, so none is open
} controllers;

/// The programs, libraries and files of keys that `scenario` names are inputs: no output may take their
/// place.
/// @return 0, or the exit status after a sentence
int vy_controllers_are_inputs(const char *name, const vy_scenario *scenario);

/// Before vy_controllers_open() of a scenario in a log: the author of the log chose its programs, so they
/// need --allow-programs, and the scenario must be the one that was flown.
/// @return 0, or the exit status after a sentence that names the program
int vy_controllers_allow(const arguments *args, const char *path, vy_log *log, vy_scenario *scenario);

/// How many programs of `scenario` are confined.
int vy_controllers_confined(const vy_scenario *scenario);

/// Start every plug-in and process of `scenario` and make them its controllers; people too, where the flight
/// flies by the clock (`realtime`). A callback has no program, which is an error here. Each is named on
/// stderr first, unless `quiet`. What a log names must have been allowed: vy_controllers_allow(). Of a flight
/// that is `watched` (NULL: it is not), who has no device is flown from the page.
/// @return 0, or the exit status after a sentence; what was started is ended then
int vy_controllers_open(const char *name, const vy_scenario *scenario, int realtime, int quiet,
                        watch *watched, controllers *out);

/// The flight is over: every program ends. Returns 0 when each ends well; else how the first other one did,
/// in `failure` but for the time.
int vy_controllers_finish(controllers *c, vy_failure *failure);

/// What the controller of drone `index` wrote in place of a reply, or an empty text.
void vy_controllers_output(const controllers *c, int index, char *out, size_t size);
void vy_controllers_close(controllers *c);
