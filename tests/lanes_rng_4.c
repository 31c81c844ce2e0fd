// lanes_rng_4.c - the draws of rng.h with VY_LANES 4.
#define VY_LANES       4
#define LANES_RNG_NAME lanes_rng_4
#include "lanes_rng.inl"
