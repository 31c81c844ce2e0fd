// lanes_environment_4_avx2.c - four drones side by side; the end of the name has it built for AVX2.
#define VY_LANES          4
#define LANES_ENVIRONMENT lanes_environment_4_avx2
#include "lanes_environment.inl"
