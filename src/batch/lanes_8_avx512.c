// lanes_8_avx512.c - eight worlds side by side; built for AVX-512, as its suffix says. Empty
// elsewhere.
#define VY_LANES    8
#define LANES_NAME  "avx512"
#define LANES_TABLE vy_lanes_8_avx512
#if defined(__AVX512F__)
#include "batch/kernel.inl"
#else
#include "batch/lanes.h"
const lanes_kernel *const LANES_TABLE = NULL;
#endif
