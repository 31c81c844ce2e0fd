// print.h - one value of a scenario as text.
#pragma once
#include "scenario/schema.h"
#include "scenario/text.h"

/// The value of a row that is neither object nor list, as YAML. `scenario` names drones; it may be NULL for
/// defaults.
void vy_print_value(vy_text *out, const vy_schema_row *row, const void *object, const vy_scenario *scenario);
