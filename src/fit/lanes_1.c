// lanes_1.c - one point or column at a time, for any machine.
#define VY_LANES   1
#define FIT_NAME   "scalar"
#define FIT_KERNEL vy_fit_lanes_1
#include "fit/lanes.inl"
