// file.c - files as sinks and sources of bytes: every way a system call can fall short becomes a status.
#define _POSIX_C_SOURCE   200809L
#define _FILE_OFFSET_BITS 64
#include "record/file.h"
#include "base/fail.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER_SIZE = 1 << 16 };

struct vy_file_sink {
    vy_file_calls calls;
    int file;
    bool in_place;   // a pipe or device: no temporary name, no rename
    int failed;      // errno of the first failed write; later writes would leave a hole
    size_t used;     // bytes waiting in buffer
    char *name;      // the final name
    char *temporary; // the name being written
    unsigned char buffer[BUFFER_SIZE];
};

static int64_t system_write(void *self, int file, const void *data, size_t size)
{
    (void)self;
    const ssize_t done = write(file, data, size);
    if (done >= 0) return done;
    if (errno != EAGAIN && errno != EWOULDBLOCK) return -errno;
    struct pollfd wait = {.fd = file, .events = POLLOUT}; // a pipe left non-blocking by its owner
    return poll(&wait, 1, -1) < 0 ? -errno : -EINTR;
}

static int system_close(void *self, int file)
{
    (void)self;
    return close(file) == 0 ? 0 : -errno;
}

static int system_rename(void *self, const char *from, const char *to)
{
    (void)self;
    return rename(from, to) == 0 ? 0 : -errno;
}

vy_file_calls vy_system_file_calls(void)
{
    return (vy_file_calls){NULL, system_write, system_close, system_rename};
}

// The reason comes first: a long name must not push it out of the text.
static vy_status fail_file(vy_error *err, const char *doing, const char *name, int error)
{
    char reason[80];
    if (strerror_r(error, reason, sizeof reason) != 0) snprintf(reason, sizeof reason, "error %d", error);
    const vy_status status = error == ENOMEM ? VY_NO_MEMORY : error == ENOENT ? VY_NOT_FOUND : VY_IO;
    vy_fail(err, status, "%s while %s %s", reason, doing, name);
    if (err != NULL) snprintf(err->file, sizeof err->file, "%s", name);
    return status;
}

static vy_status put_all(vy_file_sink *sink, const unsigned char *data, size_t size, vy_error *err)
{
    while (size > 0 && sink->failed == 0) {
        const int64_t done = sink->calls.write(sink->calls.self, sink->file, data, size);
        if (done == -EINTR) continue;
        if (done < 0) {
            sink->failed = (int)-done;
        } else if (done == 0 || (uint64_t)done > size) {
            sink->failed = EIO; // a file that takes nothing would be asked for ever
        } else {
            data += done;
            size -= (size_t)done;
        }
    }
    return sink->failed == 0 ? VY_OK : fail_file(err, "writing", sink->temporary, sink->failed);
}

static vy_status sink_flush(void *self, vy_error *err)
{
    vy_file_sink *sink = self;
    const size_t used = sink->used;
    sink->used = 0;
    return put_all(sink, sink->buffer, used, err);
}

static vy_status sink_write(void *self, const void *data, size_t size, vy_error *err)
{
    vy_file_sink *sink = self;
    if (size > BUFFER_SIZE - sink->used) {
        const vy_status status = sink_flush(sink, err);
        if (status != VY_OK) return status;
    }
    if (size >= BUFFER_SIZE) return put_all(sink, data, size, err);
    if (size > 0) memcpy(sink->buffer + sink->used, data, size);
    sink->used += size;
    return sink->failed == 0 ? VY_OK : fail_file(err, "writing", sink->temporary, sink->failed);
}

// Take the temporary for ourselves. Between our open and our lock another writer may have finished and
// renamed it: then the file we hold is its log, which must not be emptied, and we start again.
static int open_temporary(const char *name)
{
    for (int attempt = 0; attempt < 100; ++attempt) {
        const int file = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
        if (file < 0) return -errno;
        struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        int error = fcntl(file, F_SETLK, &lock) == 0 ? 0 : errno;
        if (error == ENOLCK || error == EINVAL || error == ENOSYS) error = 0; // a file system without locks
        struct stat held, named;
        if (error == 0 && fstat(file, &held) != 0) error = errno;
        const bool same = error == 0 && stat(name, &named) == 0 && held.st_dev == named.st_dev &&
                          held.st_ino == named.st_ino;
        if (error == 0 && same && ftruncate(file, 0) != 0) error = errno;
        if (error == 0 && same) return file;
        close(file);
        if (error != 0) return error == EACCES || error == EAGAIN ? -EBUSY : -error;
    }
    return -EBUSY;
}

static void free_sink(vy_file_sink *sink)
{
    free(sink->name);
    free(sink->temporary);
    free(sink);
}

vy_status vy_file_sink_open(const char *path, const vy_file_calls *calls, vy_file_sink **out, vy_error *err)
{
    *out = NULL;
    const size_t length = strlen(path);
    vy_file_sink *sink = calloc(1, sizeof *sink);
    char *name = malloc(length + 1);
    char *temporary = malloc(length + sizeof ".part");
    if (sink == NULL || name == NULL || temporary == NULL) {
        free(sink);
        free(name);
        free(temporary);
        return vy_fail(err, VY_NO_MEMORY, "no memory for an output file");
    }
    struct stat old;
    sink->calls = calls != NULL ? *calls : vy_system_file_calls();
    const bool stream = strcmp(path, "-") == 0;
    sink->in_place = stream || (stat(path, &old) == 0 && !S_ISREG(old.st_mode) && !S_ISDIR(old.st_mode));
    sink->name = memcpy(name, path, length + 1);
    memcpy(temporary, path, length);
    strcpy(temporary + length, sink->in_place ? "" : ".part");
    sink->temporary = temporary;
    // A directory is found out now, not by the rename after an hour's flight.
    int file = !stream && stat(path, &old) == 0 && S_ISDIR(old.st_mode) ? -EISDIR : 0;
    if (stream)
        file = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    else if (file == 0)
        file = sink->in_place ? open(path, O_WRONLY | O_CLOEXEC) : open_temporary(temporary);
    if (file == -1) file = -errno;
    if (file < 0) {
        const vy_status status = fail_file(err, "opening", file == -EISDIR ? name : temporary, -file);
        free_sink(sink);
        return status;
    }
    sink->file = file;
    *out = sink;
    return VY_OK;
}

vy_byte_sink vy_file_sink_bytes(vy_file_sink *file)
{
    return (vy_byte_sink){.self = file, .write = sink_write, .flush = sink_flush};
}

const char *vy_file_sink_name(const vy_file_sink *file) { return file->temporary; }

vy_status vy_file_sink_commit(vy_file_sink *file, vy_error *err)
{
    vy_status status = sink_flush(file, err);
    // EINTR from close leaves the descriptor closed on Linux: never closed twice, and the system has the
    // data.
    const int closed = file->calls.close(file->calls.self, file->file);
    if (status == VY_OK && closed != 0 && closed != -EINTR) {
        status = fail_file(err, "closing", file->temporary, -closed);
    }
    if (status == VY_OK && !file->in_place) {
        const int error = file->calls.rename(file->calls.self, file->temporary, file->name);
        if (error != 0) status = fail_file(err, "renaming", file->temporary, -error);
    }
    free_sink(file);
    return status;
}

void vy_file_sink_abandon(vy_file_sink *file)
{
    if (file == NULL) return;
    sink_flush(file, NULL); // what was written so far is kept, as far as it goes
    file->calls.close(file->calls.self, file->file);
    free_sink(file);
}

void vy_file_sink_discard(vy_file_sink *file)
{
    if (file == NULL) return;
    if (!file->in_place) unlink(file->temporary); // while the lock is held, so it is ours
    file->calls.close(file->calls.self, file->file);
    free_sink(file);
}

typedef struct source_file {
    int file;
    char *name;
} source_file;

static vy_status source_read(void *self, uint64_t offset, void *data, size_t size, vy_error *err)
{
    const source_file *source = self;
    unsigned char *to = data;
    while (size > 0) {
        const ssize_t done = pread(source->file, to, size, (off_t)offset);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return fail_file(err, "reading", source->name, errno);
        if (done == 0) { // it was longer when it was opened
            vy_fail(err, VY_DAMAGED, "byte %llu: the file became shorter while it was read: %s",
                    (unsigned long long)offset, source->name);
            if (err != NULL) snprintf(err->file, sizeof err->file, "%s", source->name);
            return VY_DAMAGED;
        }
        to += done;
        size -= (size_t)done;
        offset += (uint64_t)done;
    }
    return VY_OK;
}

vy_status vy_file_source_open(const char *path, vy_byte_source *out, vy_error *err)
{
    const int file =
        open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); // a pipe must not block here: it is refused
    if (file < 0) return fail_file(err, "opening", path, errno);
    struct stat about;
    int error = fstat(file, &about) == 0 ? 0 : errno;
    if (error == 0 && !S_ISREG(about.st_mode)) error = S_ISDIR(about.st_mode) ? EISDIR : ESPIPE;
    source_file *source = error == 0 ? malloc(sizeof *source) : NULL;
    char *name = error == 0 ? malloc(strlen(path) + 1) : NULL;
    if (source == NULL || name == NULL) {
        close(file);
        free(source);
        free(name);
        return fail_file(err, "opening", path, error != 0 ? error : ENOMEM);
    }
    *source = (source_file){.file = file, .name = strcpy(name, path)};
    *out = (vy_byte_source){.self = source, .size = (uint64_t)about.st_size, .read = source_read};
    return VY_OK;
}

void vy_file_source_close(vy_byte_source *source)
{
    source_file *file = source->self;
    if (file == NULL) return;
    close(file->file);
    free(file->name);
    free(file);
    *source = (vy_byte_source){0};
}

static vy_status memory_read(void *self, uint64_t offset, void *data, size_t size, vy_error *err)
{
    (void)err;
    if (size > 0) memcpy(data, (const unsigned char *)self + offset, size);
    return VY_OK;
}

vy_byte_source vy_memory_source(const void *data, size_t size)
{
    union { // a source never writes: the const is taken off for the shared callback type only
        const void *in;
        void *out;
    } cast = {.in = data};
    return (vy_byte_source){.self = cast.out, .size = size, .read = memory_read};
}
