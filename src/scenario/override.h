// override.h - "key=value" from the command line, put into a tree before it is read.
#pragma once
#include "scenario/report.h"
#include "scenario/schema.h"

/// Apply one override to the tree below `root`, a mapping read by `table`. Mistakes are reported in the name
/// of the flag, those in the value later, when the value is read.
/// @return where the value now is; NULL after a mistake
vy_node *vy_override_apply(vy_yaml *tree, vy_report *report, const vy_schema_table *table, vy_node *root,
                           const char *override);
