// finite.c - the check of an array of plain numbers.
#include "base/finite.h"
#include "volery/types.h"

// Checks, hashes and vector code read these as arrays, across their members.
_Static_assert(offsetof(vy_vec3, y) == 8 && offsetof(vy_vec3, z) == 16 && sizeof(vy_vec3) == 24,
               "a vector is three numbers in a row");
_Static_assert(offsetof(vy_quat, w) == 0 && offsetof(vy_quat, x) == 8 && offsetof(vy_quat, z) == 24 &&
                   sizeof(vy_quat) == 32,
               "a quaternion is four numbers in a row");
_Static_assert(sizeof(vy_mat3) == 72, "a matrix is nine numbers in a row");

int vy_all_bounded(const double *values, size_t count) { return reals_bounded(values, count); }
