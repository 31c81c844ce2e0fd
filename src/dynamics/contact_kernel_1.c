// contact_kernel_1.c - one contact at a time, for any machine.
#define VY_LANES     1
#define KERNEL_NAME  "scalar"
#define KERNEL_TABLE vy_contact_kernel_1
#include "dynamics/contact_kernel.inl"
