// check.h - checks across values, beyond the ranges of single ones.
#pragma once
#include "scenario/read.h"

/// Resolve what depends on other values: numbers for words (`hover`), default periods as multiples of the
/// step. Before vy_check_scenario().
void vy_resolve_scenario(vy_reader *reader, vy_scenario *scenario);

/// Report whatever keeps this scenario from being built, and warn of what is unwise.
void vy_check_scenario(vy_reader *reader, const vy_scenario *scenario);

/// Report what a world refuses when it is built from this scenario. What is reported already is left out.
void vy_check_build(vy_reader *reader, const vy_scenario *s);

/// The value in `object` that a sentence is about which begins with its path, as `vehicle.LIST[2].KEY`; the
/// first word may be a key of `table` or what the object itself is called. `fallback`: when it names none.
const void *vy_field_of_message(const vy_schema_table *table, const void *object, const void *fallback,
                                const char *sentence);

/// Warn of starts under the ground, and of drones that start in one place. `world` is the scenario's.
void vy_check_starts(vy_reader *reader, const vy_scenario *s, const vy_world *world);

/// A file that a controller names, seen from its folder, or from that of the scenario's file `scenario_path`.
/// NULL: no memory.
char *vy_program_path(const vy_controller_def *controller, const char *scenario_path, const char *name);

/// Report programs, libraries and devices of controllers that are not there; `scenario_path` is the
/// scenario's file.
void vy_check_programs(vy_reader *reader, const char *scenario_path, const vy_scenario *s);
