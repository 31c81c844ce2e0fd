// kernel_lanes_8_avx512.c - 8 drones side by side; empty without such instructions.
#define VY_LANES     8
#define KERNEL_LANES vy_kernel_lanes_8_avx512
#if defined(__AVX512F__)
#include "bench/kernel_lanes.inl"
#else
#include "bench/kernel_lanes.h"
#include <stddef.h>
kernel_lanes_fn *const KERNEL_LANES = NULL;
#endif
