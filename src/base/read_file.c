// read_file.c - a whole file into memory.
#define _POSIX_C_SOURCE 200809L // S_ISREG
#include "base/read_file.h"
#include "base/fail.h"
#include "base/hash.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static vy_status read_stream(FILE *file, size_t limit, char **data, size_t *size)
{
    size_t read_size = 0, capacity = 0;
    for (;;) {
        if (read_size + 1 >= capacity) {
            capacity = capacity == 0 ? (size_t)1 << 16 : 2 * capacity;
            char *grown = realloc(*data, capacity);
            if (grown == NULL) return VY_NO_MEMORY;
            *data = grown;
        }
        const size_t count = fread(*data + read_size, 1, capacity - read_size - 1, file);
        read_size += count;
        if (count == 0 || read_size > limit) break;
    }
    (*data)[read_size] = 0;
    *size = read_size;
    return ferror(file) ? VY_IO : VY_OK;
}

vy_status vy_read_file(const char *path, size_t limit, char **data, size_t *size)
{
    *data = NULL;
    *size = 0;
    FILE *file = fopen(path, "rb");
    if (file == NULL && errno == ENOMEM) return VY_NO_MEMORY;
    if (file == NULL) return errno == ENOENT || errno == ENOTDIR ? VY_NOT_FOUND : VY_IO;
    const vy_status status = read_stream(file, limit, data, size);
    const int saved_errno = errno;
    fclose(file);
    if (status == VY_OK) return VY_OK;
    errno = saved_errno;
    free(*data);
    *data = NULL;
    return status;
}

vy_status vy_read_file_or_fail(const char *path, size_t limit, char **data, size_t *size, vy_error *err)
{
    const vy_status status = vy_read_file(path, limit, data, size);
    if (status == VY_NOT_FOUND) return vy_fail(err, VY_IO, "cannot open the file");
    if (status == VY_NO_MEMORY) return vy_fail(err, VY_NO_MEMORY, "no memory for the file");
    return status == VY_OK ? VY_OK : vy_fail(err, VY_IO, "cannot read the file");
}

vy_status vy_file_digest(const char *path, uint64_t *out)
{
    const size_t limit = (size_t)1 << 30;
    struct stat file_info;
    char *data;
    size_t size;
    if (stat(path, &file_info) != 0) return errno == ENOENT || errno == ENOTDIR ? VY_NOT_FOUND : VY_IO;
    if (!S_ISREG(file_info.st_mode)) return VY_IO;
    const vy_status status = vy_read_file(path, limit, &data, &size);
    if (status != VY_OK) return status;
    *out = vy_hash64(data, size);
    if (*out == 0) *out = 1; // 0 stands for a digest that is not known
    free(data);
    return size > limit ? VY_IO : VY_OK;
}
