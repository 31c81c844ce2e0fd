// program.h - the program around a plug-in, which is built from program/ and embedded in the library.
#pragma once
#include <stddef.h>

/// Packed by tools/embed.c.
extern const unsigned char vy_program_packed[];
extern const size_t vy_program_packed_size; ///< [bytes]
extern const size_t vy_program_size;        ///< [bytes] once unpacked
