// crc.h - the CRC-32 of MCAP, the same as zlib's, at memory speed.
#pragma once
#include <stddef.h>
#include <stdint.h>

/// Extend the CRC `crc` (0: of no bytes) by `size` bytes.
uint32_t vy_crc32(uint32_t crc, const void *data, size_t size);

/// The same for VY_CPU_AVX2 and above.
uint32_t vy_crc32_avx2(uint32_t crc, const void *data, size_t size);

/// The CRC of two parts, one after the other, from those of each; `size` [bytes] is that of the second.
uint32_t vy_crc32_combine(uint32_t first, uint32_t second, size_t size);
