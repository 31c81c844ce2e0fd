// kernel_lanes.h - the bare loop of kernel_loop.h with drones side by side: one unit per instruction set.
#pragma once
#include <stdint.h>

/// Fly `steps` steps; the hash of every drone, or 0 when they differ.
typedef uint64_t kernel_lanes_fn(int steps);

/// NULL where the compiler has no such instructions.
extern kernel_lanes_fn *const vy_kernel_lanes_2, *const vy_kernel_lanes_4_avx2,
                                                     *const vy_kernel_lanes_8_avx512;
