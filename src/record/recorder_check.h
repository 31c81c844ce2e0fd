// recorder_check.h - a recorder that writes no file: what it would write is held against a log.
#pragma once
#include "record/message_check.h"

/// As vy_recorder_open(), with every message for `check`, which must outlive it; `def` needs no path.
vy_status vy_recorder_open_check(const vy_recorder_def *def, vy_world *world, message_check *check,
                                 vy_recorder **out, vy_error *err);

/// The last moment, if the log has one and was not cut off; the recorder is gone.
vy_status vy_recorder_close_check(vy_recorder *recorder, const vy_world *world, int has_end, vy_error *err);
