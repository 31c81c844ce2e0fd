// gpu_basic_double.cu - basic drones on a GPU in double precision; built without contraction (-fmad=false):
// the bits of the CPU.
#define GPU_BASIC vy_gpu_basic_double
#include "batch/gpu_basic.inl"
