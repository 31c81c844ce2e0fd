// contact_kernel_4_avx2.c - four contacts side by side; the end of the name has it built for AVX2. Empty
// elsewhere.
#define VY_LANES     4
#define KERNEL_NAME  "avx2"
#define KERNEL_TABLE vy_contact_kernel_4_avx2
#if defined(__AVX2__)
#include "dynamics/contact_kernel.inl"
#else
#include "dynamics/contact_kernel.h"
const contact_kernel *const KERNEL_TABLE = NULL;
#endif
