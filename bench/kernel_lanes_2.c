// kernel_lanes_2.c - 2 drones side by side.
#define VY_LANES     2
#define KERNEL_LANES vy_kernel_lanes_2
#include "bench/kernel_lanes.inl"
