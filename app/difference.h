// difference.h - where two runs diverge, for people and for programs.
#pragma once
#include "json.h"
#include "volery/record.h"

/// One or two lines on stdout; `a` and `b` name the two sides.
void vy_difference_print(const vy_difference *d, double dt, const char *a, const char *b);

/// Members of a JSON object: the last step compared, and what differs.
void vy_difference_json(const vy_difference *d, double dt, json *j);
