// lanes_math_1.c - the functions of math.h with VY_LANES 1.
#define VY_LANES        1
#define LANES_MATH_NAME lanes_math_1
#include "lanes_math.inl"
