// build.h - from a resolved scenario to a world.
#pragma once
#include "volery/scenario.h"

/// vy_scenario_build(), and on failure the drone or disturbance of the scenario that was refused (or the
/// scenario itself) in `*culprit`.
vy_status vy_scenario_build_checked(const vy_scenario *scenario, vy_world **out, const void **culprit,
                                    vy_error *err);
