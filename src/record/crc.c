// crc.c - the CRC by zlib, or by carry-less multiplication where the processor has it.
#include "record/crc.h"
#include "base/cpu.h"
#include <zlib.h>

uint32_t vy_crc32(uint32_t crc, const void *data, size_t size)
{
    if (size == 0) return crc; // data may be NULL, which zlib takes as a request for the initial value
    if (vy_cpu() == VY_CPU_BASELINE) return (uint32_t)crc32_z(crc, data, size);
    return vy_crc32_avx2(crc, data, size);
}

uint32_t vy_crc32_combine(uint32_t first, uint32_t second, size_t size)
{
    return (uint32_t)crc32_combine(first, second, (z_off_t)size);
}
