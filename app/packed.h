// packed.h - files that tools/embed.c has packed into the program.
#pragma once
#include <stddef.h>

typedef struct packed {
    const unsigned char *bytes;
    const size_t *bytes_size; ///< [bytes]
    const size_t *size;       ///< [bytes] once unpacked
} packed;

/// Declares the file that was embedded under this name, and its sizes [bytes]: packed, and unpacked.
#define PACKED_NAMED(name)                      \
    extern const unsigned char name##_packed[]; \
    extern const size_t name##_packed_size;     \
    extern const size_t name##_size

/// The initialiser of a `packed`.
#define PACKED(name)                                      \
    {                                                     \
        name##_packed, &name##_packed_size, &name##_size, \
    }

/// The file as text to free(), ended by a zero.
/// @param name of the command, `what` the file is, for the sentence
/// @return 0, or the exit status after a sentence
int vy_packed_load(const char *name, const char *what, const packed *file, char **out);
