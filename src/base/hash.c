// hash.c - the one file that includes xxHash.
#include "base/hash.h"
#define XXH_INLINE_ALL
#define XXH_NO_STREAM
#include <xxhash.h>

uint64_t vy_hash64(const void *data, size_t size) { return XXH3_64bits(data, size); }
