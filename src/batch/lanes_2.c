// lanes_2.c - two worlds side by side: SSE2 on x86-64, NEON on ARM64, where every CPU has them.
#define VY_LANES    2
#define LANES_NAME  "lanes2"
#define LANES_TABLE vy_lanes_2
#include "batch/kernel.inl"
