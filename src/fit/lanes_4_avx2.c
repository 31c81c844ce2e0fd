// lanes_4_avx2.c - four points or columns side by side; built for AVX2, as its suffix says. Empty elsewhere.
#define VY_LANES   4
#define FIT_NAME   "avx2"
#define FIT_KERNEL vy_fit_lanes_4_avx2
#if defined(__AVX2__)
#include "fit/lanes.inl"
#else
#include "fit/lanes.h"
const fit_kernel *const FIT_KERNEL = NULL;
#endif
