// kernel_lanes_4_avx2.c - 4 drones side by side; empty without such instructions.
#define VY_LANES     4
#define KERNEL_LANES vy_kernel_lanes_4_avx2
#if defined(__AVX2__)
#include "bench/kernel_lanes.inl"
#else
#include "bench/kernel_lanes.h"
#include <stddef.h>
kernel_lanes_fn *const KERNEL_LANES = NULL;
#endif
