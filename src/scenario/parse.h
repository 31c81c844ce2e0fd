// parse.h - the two halves of reading a scenario: its text as a tree, and the tree as a scenario.
#pragma once
#include "scenario/read.h"

/// The tree of a scenario's text, with the overrides of `options` (may be NULL) in it. NULL after a mistake.
vy_node *vy_scenario_parse_tree(vy_yaml *tree, vy_report *report, vy_source *source,
                                const vy_scenario_options *options);

/// Fill `scenario`, which holds its defaults, from the tree; resolve and check it.
void vy_scenario_read(vy_reader *reader, const vy_node *root, const vy_scenario_options *options,
                      vy_scenario *scenario);

/// Programs are looked for beside the scenario that names them, wherever the run is started from.
void vy_scenario_set_program_folders(const char *path, vy_scenario *scenario);
