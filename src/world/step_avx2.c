// step_avx2.c - steps for AVX2.
#include "world/step.h"

uint32_t vy_steps_avx2(vy_world *world, uint64_t count) { return steps(world, count); }
