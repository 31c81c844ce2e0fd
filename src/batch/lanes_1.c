// lanes_1.c - one world at a time, for any machine.
#define VY_LANES    1
#define LANES_NAME  "scalar"
#define LANES_TABLE vy_lanes_1
#include "batch/kernel.inl"
