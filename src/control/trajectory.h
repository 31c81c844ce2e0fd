// trajectory.h - paths as declared: checks and constants.
#pragma once
#include "base/fail.h"
#include "control/path.h"

/// Check a path's def: every value its kind reads.
vy_status vy_check_path_def(const vy_path_def *def, vy_error *err);

/// Constants of a checked path.
void vy_path_build(const vy_path_def *def, path_model *out);

/// The trajectory of minimum snap through the waypoints of a checked def.
void vy_minimum_snap_build(const vy_path_def *def, path_model *out);
