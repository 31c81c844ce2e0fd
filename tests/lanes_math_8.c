// lanes_math_8.c - the functions of math.h with VY_LANES 8.
#define VY_LANES        8
#define LANES_MATH_NAME lanes_math_8
#include "lanes_math.inl"
