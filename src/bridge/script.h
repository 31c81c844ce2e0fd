// script.h - a firmware told what to do through its own MAVLink port: parameters, then the lines of a script.
//
// A call reads what has come and sends what is due. It waits for nothing but for a firmware that reads by the
// wall clock to have read what it was sent. Times are the firmware's.
#pragma once
#include "bridge/bridge.h"

typedef struct vy_script vy_script;

/// Take the port. A def without script and parameters to set has none, and `*out` is NULL.
vy_status vy_script_open(const bridge_request *request, vy_script **out, vy_error *err);

/// @param time [s] of the world
/// @param clock [s] of the firmware, which continues while it boots
/// @param running 0 while the firmware boots: parameters are set, no line is due
/// @param line of a refusal: which, from 1 on
/// @return VY_VERDICT_REFUSED when a line was not accepted in time
vy_verdict vy_script_step(vy_script *script, double time, double clock, int running, int32_t *line);

/// Of a branch, before a step: what was sent and accepted in the run. The step does the same. NULL is a
/// no-op.
void vy_script_set_logged_reply(vy_script *script, const vy_intent *logged_reply);

/// What was sent in the last step, and how many lines have been accepted, for the log. NULL is a no-op.
void vy_script_report(const vy_script *script, vy_intent *intent);

/// Has the firmware been heard, and has it taken all parameters? 1 of NULL.
int vy_script_is_ready(const vy_script *script);

/// NULL is a no-op.
void vy_script_close(vy_script *script);
