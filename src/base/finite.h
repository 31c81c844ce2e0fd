// finite.h - is every number of an array finite?
#pragma once
#include <stddef.h>

/// 1 when no value is infinite or NaN, else 0.
int vy_all_finite(const double *values, size_t count);
