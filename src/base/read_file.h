// read_file.h - a whole file into memory.
#pragma once
#include "volery/status.h"
#include <stddef.h>
#include <stdint.h>

/// Read a file in pieces, so that a pipe is read like a plain file. Stops beyond `limit` bytes: a larger size
/// tells the caller that the file is too long.
/// @param data zero-terminated beyond its size; freed by the caller
/// @return VY_NOT_FOUND: there is no such file; VY_IO: it cannot be read (errno says why); VY_NO_MEMORY
vy_status vy_read_file(const char *path, size_t limit, char **data, size_t *size);

/// The same with a sentence in `err`, and VY_IO also for a file that is not there.
vy_status vy_read_file_or_fail(const char *path, size_t limit, char **data, size_t *size, vy_error *err);

/// The digest of a regular file: XXH3 of its bytes, never 0. Files of up to 1 GiB.
/// @return VY_NOT_FOUND, VY_IO (no regular file, too long, or unreadable) or VY_NO_MEMORY
vy_status vy_file_digest(const char *path, uint64_t *out);
