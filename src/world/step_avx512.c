// step_avx512.c - steps for AVX-512.
#include "world/step.h"

uint32_t vy_steps_avx512(vy_world *world, uint64_t count) { return steps(world, count); }
