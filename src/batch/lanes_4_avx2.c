// lanes_4_avx2.c - four worlds side by side; built for AVX2, as its suffix says. Empty elsewhere.
#define VY_LANES    4
#define LANES_NAME  "avx2"
#define LANES_TABLE vy_lanes_4_avx2
#if defined(__AVX2__)
#include "batch/kernel.inl"
#else
#include "batch/lanes.h"
const lanes_kernel *const LANES_TABLE = NULL;
#endif
