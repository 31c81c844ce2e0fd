// build.h - from a resolved scenario to a world.
#pragma once
#include "volery/scenario.h"

/// Build a world. With `trial` set, a callback that is not there yet is no mistake: the world is not for
/// stepping.
/// @param culprit on failure: the drone or disturbance of the scenario that was refused, or the scenario
/// itself
vy_status vy_scenario_build_checked(const vy_scenario *scenario, int trial, vy_world **out,
                                    const void **culprit, vy_error *err);
