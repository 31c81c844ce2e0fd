// finite.c - the check of an array of plain numbers.
#include "base/finite.h"

int vy_all_finite(const double *values, size_t count) { return reals_bounded(values, count); }
