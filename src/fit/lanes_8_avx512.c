// lanes_8_avx512.c - eight points or columns side by side; built for AVX-512, as its suffix says. Empty
// elsewhere.
#define VY_LANES   8
#define FIT_NAME   "avx512"
#define FIT_KERNEL vy_fit_lanes_8_avx512
#if defined(__AVX512F__)
#include "fit/lanes.inl"
#else
#include "fit/lanes.h"
const fit_kernel *const FIT_KERNEL = NULL;
#endif
