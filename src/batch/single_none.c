// single_none.c - a library built without a C++ compiler has no batches in single precision.
#include "batch/lanes.h"
#include "batch/pack.h"

const lanes_table *const vy_lanes_single = NULL;

size_t vy_single_size(uint32_t drones, uint32_t noises)
{
    (void)drones;
    (void)noises;
    return 0;
}
