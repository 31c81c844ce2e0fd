// lanes_2.c - two points or columns side by side: SSE2 on x86-64, NEON on ARM64, where every CPU has them.
#define VY_LANES   2
#define FIT_NAME   "lanes2"
#define FIT_KERNEL vy_fit_lanes_2
#include "fit/lanes.inl"
