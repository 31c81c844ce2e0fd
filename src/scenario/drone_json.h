// drone_json.h - how a drone is built, as JSON with the scenario's keys, and back.
#pragma once
#include "scenario/read.h"

/// `"vehicle": {...}, "sensors": {...}, "estimator": {...}, "safety": {...}`: every key that applies, in SI
/// units.
void vy_drone_print_json(vy_text *out, const vy_drone_def *def);

/// Vehicle and sensors of such a mapping, and the controller's `parameters`, whose texts are the caller's to
/// free. Mistakes are in the reader's report.
void vy_drone_read_json(vy_reader *reader, const vy_node *map, vy_drone_def *out);
