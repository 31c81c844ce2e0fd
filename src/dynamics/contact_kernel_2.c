// contact_kernel_2.c - two contacts side by side: SSE2 on x86-64, NEON on ARM64, where every CPU has them.
#define VY_LANES     2
#define KERNEL_NAME  "lanes2"
#define KERNEL_TABLE vy_contact_kernel_2
#include "dynamics/contact_kernel.inl"
