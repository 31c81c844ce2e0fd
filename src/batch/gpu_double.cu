// gpu_double.cu - worlds on a GPU in double precision; built without contraction (-fmad=false): the bits of
// the CPU.
#define GPU_KERNEL vy_gpu_double
#include "batch/gpu_kernel.inl"
