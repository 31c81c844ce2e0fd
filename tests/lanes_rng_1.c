// lanes_rng_1.c - the draws of rng.h with VY_LANES 1.
#define VY_LANES       1
#define LANES_RNG_NAME lanes_rng_1
#include "lanes_rng.inl"
