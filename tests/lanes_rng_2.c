// lanes_rng_2.c - the draws of rng.h with VY_LANES 2.
#define VY_LANES       2
#define LANES_RNG_NAME lanes_rng_2
#include "lanes_rng.inl"
