// build.h - from a resolved scenario to a world.
#pragma once
#include "volery/scenario.h"

/// How a build reports what it refuses, and continues.
typedef struct build_check {
    void *self;
    int (*is_valid)(void *self, const void *begin, size_t size); ///< 0: this thing is left out
    /// Part `culprit` of the scenario is refused, for the reason in `err`.
    void (*refuse)(void *self, const void *culprit, const vy_error *err);
} build_check;

/// vy_scenario_build(); with a `check` (else NULL) it continues after what is refused, so that all of it is
/// reported. The world then lacks it, and is for checks alone; NULL when the world itself is refused.
vy_status vy_scenario_build_checked(const vy_scenario *scenario, const build_check *check, vy_world **out,
                                    vy_error *err);
