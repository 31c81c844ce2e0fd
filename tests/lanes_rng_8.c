// lanes_rng_8.c - the draws of rng.h with VY_LANES 8.
#define VY_LANES       8
#define LANES_RNG_NAME lanes_rng_8
#include "lanes_rng.inl"
