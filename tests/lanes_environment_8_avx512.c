// lanes_environment_8_avx512.c - eight drones side by side; the end of the name has it built for AVX-512.
#define VY_LANES          8
#define LANES_ENVIRONMENT lanes_environment_8_avx512
#include "lanes_environment.inl"
