// score.h - one number for how well a case went.
#pragma once
#include "campaign/shard.h"

/// Did the case fail, in whatever way?
int vy_case_failed(const vy_result *r);

/// The smallest margin of all expectations, each as a part of its bound: 1 is half-way between two bounds or
/// at 0, 0 at a bound, negative beyond. A flight that ended early has -1 or less, the earlier the lower.
double vy_case_score(const vy_plan *plan, const double *row);

/// What expectation `index` is called, like "position_error at end", and its unit.
void vy_expectation_name(const vy_plan *plan, int index, char *out, size_t size);
