// hash.inl - XXH3 for the instructions of the including file, as HASH_NAME. The one file that includes xxHash.
#include "base/hash.h"
#define XXH_INLINE_ALL
#define XXH_NO_STREAM
#include <xxhash.h>

uint64_t HASH_NAME(const void *data, size_t size) { return XXH3_64bits(data, size); }
