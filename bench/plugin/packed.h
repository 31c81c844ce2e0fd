// packed.h - the library made of small.c, packed by tools/embed.c.
#pragma once
#include <stddef.h>

extern const unsigned char vy_small_packed[];
extern const size_t vy_small_packed_size; ///< [bytes]
extern const size_t vy_small_size;        ///< [bytes] once unpacked
