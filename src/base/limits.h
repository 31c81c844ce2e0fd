// limits.h - how large a declared number may be, by its unit.
//
// Bounds are far beyond anything that flies and far below where squares and products of them overflow, so
// that a typing error is reported instead of simulated. Scenarios and definitions in C have the same.
#pragma once
#include <stddef.h>

typedef struct vy_limits {
    double min; ///< of values that must be above 0
    double max; ///< in magnitude
} vy_limits;

/// Of a value in this SI unit; "" or NULL: without one.
vy_limits vy_limits_of(const char *unit);

/// 1 when every value is a number of at most that magnitude, else 0.
int vy_all_within(const double *values, size_t count, const char *unit);

/// The same for one that must be at least 0.
int vy_is_nonnegative(double value, const char *unit);

/// The same for one that must be above 0: it is at least the unit's min.
int vy_is_positive(double value, const char *unit);
