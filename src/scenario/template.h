// template.h - one scenario read many times, with other values under some of its keys.
//
// The text and the files it refers to are parsed once. Every scenario made is what vy_scenario_load() gives
// for the same values as overrides, to the bit.
#pragma once
#include "volery/scenario.h"

typedef struct vy_template vy_template; ///< one owner, one thread

/// Read `path` with the overrides of `options`, and the keys whose values will vary: each is set to its first
/// value, a text as in an override.
/// @return as vy_scenario_load(); `*out` is NULL on failure
vy_status vy_template_load(const char *path, const vy_scenario_options *options, const char *const *keys,
                           const char *const *first_values, int count, vy_template **out,
                           vy_diagnostics *diagnostics);
void vy_template_destroy(vy_template *t); ///< NULL is a no-op

/// The scenario with these values, one per key. Numbers, with or without a unit, cost no parsing; other texts
/// are parsed when they first come up.
vy_status vy_template_make(vy_template *t, const char *const *values, vy_scenario **out,
                           vy_diagnostics *diagnostics);
