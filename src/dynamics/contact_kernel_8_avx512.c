// contact_kernel_8_avx512.c - eight contacts side by side; the end of the name has it built for AVX-512.
// Empty elsewhere.
#define VY_LANES     8
#define KERNEL_NAME  "avx512"
#define KERNEL_TABLE vy_contact_kernel_8_avx512
#if defined(__AVX512F__)
#include "dynamics/contact_kernel.inl"
#else
#include "dynamics/contact_kernel.h"
const contact_kernel *const KERNEL_TABLE = NULL;
#endif
