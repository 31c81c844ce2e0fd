// single_none.c - a library built without a C++ compiler has no batches in single precision.
#include "batch/lanes.h"
#include "batch/pack.h"

const lanes_kernel *const vy_lanes_single = NULL;

size_t vy_pack_size(const struct block_counts *counts)
{
    (void)counts;
    return 0;
}
