// lanes_math_2.c - the functions of math.h with VY_LANES 2.
#define VY_LANES        2
#define LANES_MATH_NAME lanes_math_2
#include "lanes_math.inl"
