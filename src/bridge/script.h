// script.h - a firmware told what to do through its own MAVLink port: parameters, then the lines of a script.
//
// Nothing waits: each call reads what has come and sends what is due. Times are the firmware's.
#pragma once
#include "bridge/bridge.h"

typedef struct vy_script vy_script;

/// Take the port. A def without script and parameters to set has none, and `*out` is NULL.
vy_status vy_script_open(const bridge_job *job, vy_script **out, vy_error *err);

/// @param time [s] of the world
/// @param clock [s] of the firmware, which continues while it boots
/// @param running 0 while the firmware boots: parameters are set, no line is due
/// @param line of a refusal: which, from 1 on
/// @return VY_VERDICT_REFUSED when a line was not accepted in time
vy_verdict vy_script_step(vy_script *script, double time, double clock, int running, int32_t *line);

/// Has the firmware been heard, and has it taken all parameters? 1 of NULL.
int vy_script_is_ready(const vy_script *script);

/// NULL is a no-op.
void vy_script_close(vy_script *script);
