// lanes_math_4.c - the functions of math.h with VY_LANES 4.
#define VY_LANES        4
#define LANES_MATH_NAME lanes_math_4
#include "lanes_math.inl"
