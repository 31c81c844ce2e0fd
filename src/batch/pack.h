// pack.h - the cells of a world as single precision has them: 4 bytes for a real, 8 for a whole number.
#pragma once
#include <stddef.h>
#include <stdint.h>

struct block_counts;

/// Marks which cells of a block of zeros are whole numbers (1) rather than reals.
void vy_pack_mark_integers(const struct block_counts *counts, uint8_t *is_integer);

/// Bytes of a packed block, as the kernel of single precision has it; 0 where there is none.
size_t vy_pack_size(const struct block_counts *counts);

/// `count` cells, `stride` bytes from one to the next, to packed ones, rounded to the nearest float; and
/// back.
void vy_pack(const uint8_t *is_integer, size_t count, const void *cells, size_t stride, void *packed);
void vy_unpack(const uint8_t *is_integer, size_t count, const void *packed, void *cells, size_t stride);
