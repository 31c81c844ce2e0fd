// file.c - files as sinks and sources of bytes: every way a system call can fall short becomes a status.
#define _GNU_SOURCE       // fopencookie, renameat2
#define _FILE_OFFSET_BITS 64
#include "record/file.h"
#include "base/assert.h"
#include "base/fail.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER_SIZE = 1 << 16 };

struct vy_file_sink {
    vy_file_calls calls;
    int fd;
    bool is_in_place;     // a pipe or device: no temporary name, no rename
    int write_errno;      // errno of the first failed write; later writes would leave a hole
    size_t buffered_size; // bytes waiting in buffer
    char *name;           // the final name
    char *temporary;      // the name being written
    char *backup;         // what was at that name before is here; NULL: nothing was
    FILE *stream;         // for callers that print; NULL: not requested
    unsigned char buffer[BUFFER_SIZE];
};

static int64_t system_write(void *self, int fd, const void *data, size_t size)
{
    (void)self;
    const ssize_t written = write(fd, data, size);
    if (written >= 0) return written;
    if (errno != EAGAIN && errno != EWOULDBLOCK) return -errno;
    struct pollfd poll_request = {.fd = fd, .events = POLLOUT}; // a pipe left non-blocking by its owner
    return poll(&poll_request, 1, -1) < 0 ? -errno : -EINTR;
}

// A file system that cannot sync has nothing to wait for.
static int system_sync(void *self, int fd)
{
    (void)self;
    int result;
    while ((result = fsync(fd)) != 0 && errno == EINTR) {
    }
    return result == 0 || errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP ? 0 : -errno;
}

static int system_close(void *self, int fd)
{
    (void)self;
    return close(fd) == 0 ? 0 : -errno;
}

static int system_rename(void *self, const char *from, const char *to)
{
    (void)self;
    return rename(from, to) == 0 ? 0 : -errno;
}

vy_file_calls vy_system_file_calls(void)
{
    return (vy_file_calls){NULL, system_write, system_sync, system_close, system_rename};
}

// The reason comes first: a long name must not push it out of the text.
static vy_status fail_file(vy_error *err, const char *activity, const char *name, int error)
{
    char buffer[80];
    const char *reason = strerror_r(error, buffer, sizeof buffer);
    const vy_status status = error == ENOMEM ? VY_NO_MEMORY : error == ENOENT ? VY_NOT_FOUND : VY_IO;
    vy_fail(err, status, "%s while %s %s", reason, activity, name);
    if (err != NULL) snprintf(err->file, sizeof err->file, "%s", name);
    return status;
}

static vy_status write_all(vy_file_sink *sink, const unsigned char *data, size_t size, vy_error *err)
{
    while (size > 0 && sink->write_errno == 0) {
        VY_ASSERT(sink->fd >= 0 && data != NULL);
        const int64_t written = sink->calls.write(sink->calls.self, sink->fd, data, size);
        if (written == -EINTR) continue;
        if (written < 0) {
            sink->write_errno = (int)-written;
        } else if (written == 0 || (uint64_t)written > size) {
            sink->write_errno = EIO; // a file that accepts nothing would loop forever
        } else {
            data += written;
            size -= (size_t)written;
        }
    }
    return sink->write_errno == 0 ? VY_OK : fail_file(err, "writing", sink->temporary, sink->write_errno);
}

static vy_status sink_flush(void *self, vy_error *err)
{
    vy_file_sink *sink = self;
    const size_t size = sink->buffered_size;
    sink->buffered_size = 0;
    return write_all(sink, sink->buffer, size, err);
}

static vy_status sink_write(void *self, const void *data, size_t size, vy_error *err)
{
    vy_file_sink *sink = self;
    VY_ASSERT(sink->buffered_size <= BUFFER_SIZE);
    if (size > BUFFER_SIZE - sink->buffered_size) {
        const vy_status status = sink_flush(sink, err);
        if (status != VY_OK) return status;
    }
    if (size >= BUFFER_SIZE) return write_all(sink, data, size, err);
    VY_ASSERT(size <= BUFFER_SIZE - sink->buffered_size);
    if (size > 0) memcpy(sink->buffer + sink->buffered_size, data, size);
    sink->buffered_size += size;
    return sink->write_errno == 0 ? VY_OK : fail_file(err, "writing", sink->temporary, sink->write_errno);
}

// The lock of an open file goes with its last descriptor and holds against this process, too. On a file
// system without locks no writer is refused. Returns 0 or errno.
static int try_lock(int fd)
{
    if (flock(fd, LOCK_EX | LOCK_NB) == 0) return 0;
    return errno == EWOULDBLOCK ? EBUSY : 0;
}

static bool is_file_at(int fd, const char *name)
{
    struct stat open_file, file_at_name;
    return fstat(fd, &open_file) == 0 && lstat(name, &file_at_name) == 0 &&
           open_file.st_dev == file_at_name.st_dev && open_file.st_ino == file_at_name.st_ino;
}

// Rename the file at the temporary's name to the first free number: NAME.part.1, NAME.part.2, ...
static int back_up_temporary(vy_file_sink *sink)
{
    enum { SUFFIX_MAX = 100000 };
    const size_t size = strlen(sink->temporary) + sizeof ".100000";
    free(sink->backup);
    sink->backup = malloc(size);
    if (sink->backup == NULL) return ENOMEM;
    int error = EEXIST;
    for (int suffix = 1; suffix < SUFFIX_MAX && error == EEXIST; ++suffix) {
        struct stat existing;
        snprintf(sink->backup, size, "%s.%d", sink->temporary, suffix);
        if (renameat2(AT_FDCWD, sink->temporary, AT_FDCWD, sink->backup, RENAME_NOREPLACE) == 0) return 0;
        error = errno;
        if (error != EINVAL && error != ENOSYS) continue;
        error = lstat(sink->backup, &existing) == 0 ? EEXIST // a file system that cannot do both in one
                : rename(sink->temporary, sink->backup) == 0 ? 0
                                                             : errno;
        if (error == 0) return 0;
    }
    free(sink->backup);
    sink->backup = NULL;
    return error == ENOENT ? 0 : error; // gone meanwhile
}

// Something is at the temporary's name. What a killed run left is kept under another name; what a living one
// writes is EBUSY. Returns 0 when the name may be free now, or errno.
static int clear_temporary(vy_file_sink *sink)
{
    struct stat existing;
    if (lstat(sink->temporary, &existing) != 0) return errno == ENOENT ? 0 : errno;
    if (S_ISLNK(existing.st_mode)) return back_up_temporary(sink); // the link itself: it is not followed
    if (!S_ISREG(existing.st_mode)) return EEXIST;
    const int fd = open(sink->temporary, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return errno == ENOENT ? 0 : errno;
    int error = try_lock(fd);
    if (error == 0 && is_file_at(fd, sink->temporary)) {
        // An empty one holds nothing, or is another writer's that has not got its lock yet and will start
        // again.
        if (fstat(fd, &existing) != 0 || existing.st_size > 0)
            error = back_up_temporary(sink);
        else if (unlink(sink->temporary) != 0 && errno != ENOENT)
            error = errno;
    }
    close(fd);
    return error;
}

// A new file at the temporary's name, locked. Returns its descriptor or a negative errno.
static int open_temporary(vy_file_sink *sink)
{
    for (int attempt = 0; attempt < 100; ++attempt) {
        const int fd = open(sink->temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (fd < 0) {
            const int error = errno == EEXIST ? clear_temporary(sink) : errno;
            if (error != 0) return -error;
            continue;
        }
        if (try_lock(fd) == 0 && is_file_at(fd, sink->temporary)) return fd;
        close(fd); // another writer took it away before it was locked
    }
    return -EBUSY;
}

static void free_sink(vy_file_sink *sink)
{
    free(sink->name);
    free(sink->temporary);
    free(sink->backup);
    free(sink);
}

static vy_status fail_open(const vy_file_sink *sink, int error, vy_error *err)
{
    if (error == EEXIST) {
        vy_fail(err, VY_BAD_STATE, "%s exists and is not a regular file", sink->temporary);
    } else if (error == EBUSY) {
        vy_fail(err, VY_BAD_STATE, "%s is being written by another process", sink->name);
    } else {
        return fail_file(err, "opening", error == EISDIR ? sink->name : sink->temporary, error);
    }
    if (err != NULL) snprintf(err->file, sizeof err->file, "%s", sink->name);
    return VY_BAD_STATE;
}

static int open_output(vy_file_sink *sink, bool is_stdout)
{
    struct stat existing;
    int fd;
    // A directory is found out now, not by the rename after an hour's flight.
    if (!is_stdout && stat(sink->name, &existing) == 0 && S_ISDIR(existing.st_mode)) return -EISDIR;
    if (!is_stdout && !sink->is_in_place) return open_temporary(sink);
    fd = is_stdout ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3) : open(sink->name, O_WRONLY | O_CLOEXEC);
    return fd >= 0 ? fd : -errno;
}

vy_status vy_file_sink_open_as(const char *path, const char *suffix, const vy_file_calls *calls,
                               vy_file_sink **out, vy_error *err)
{
    *out = NULL;
    const size_t length = strlen(path), capacity = length + strlen(suffix) + 1;
    vy_file_sink *sink = calloc(1, sizeof *sink);
    char *name = malloc(length + 1);
    char *temporary = malloc(capacity);
    if (sink == NULL || name == NULL || temporary == NULL) {
        free(sink);
        free(name);
        free(temporary);
        return vy_fail(err, VY_NO_MEMORY, "no memory for an output file");
    }
    // Both names of standard output: a new file of that name in /dev would be a surprise.
    const bool is_stdout = strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0;
    struct stat existing;
    sink->calls = calls != NULL ? *calls : vy_system_file_calls();
    sink->is_in_place =
        is_stdout || (stat(path, &existing) == 0 && !S_ISREG(existing.st_mode) && !S_ISDIR(existing.st_mode));
    sink->name = memcpy(name, path, length + 1);
    snprintf(temporary, capacity, "%s%s", path, sink->is_in_place ? "" : suffix);
    sink->temporary = temporary;
    sink->fd = open_output(sink, is_stdout);
    if (sink->fd < 0) {
        const vy_status status = fail_open(sink, -sink->fd, err);
        free_sink(sink);
        return status;
    }
    *out = sink;
    return VY_OK;
}

vy_status vy_file_sink_open(const char *path, const vy_file_calls *calls, vy_file_sink **out, vy_error *err)
{
    return vy_file_sink_open_as(path, VY_FILE_PART_SUFFIX, calls, out, err);
}

vy_byte_sink vy_file_sink_bytes(vy_file_sink *file)
{
    return (vy_byte_sink){.self = file, .write = sink_write, .flush = sink_flush};
}

static ssize_t stream_write(void *self, const char *data, size_t size)
{
    vy_file_sink *sink = self;
    if (sink_write(sink, data, size, NULL) == VY_OK) return (ssize_t)size;
    errno = sink->write_errno;
    return 0;
}

FILE *vy_file_sink_stream(vy_file_sink *file)
{
    if (file->stream == NULL)
        file->stream = fopencookie(file, "w", (cookie_io_functions_t){.write = stream_write});
    return file->stream;
}

const char *vy_file_sink_backup(const vy_file_sink *file) { return file->backup; }

static void close_stream(vy_file_sink *file)
{
    if (file->stream != NULL) (void)fclose(file->stream); // its failure is the sink's
    file->stream = NULL;
}

// The name is only safe on the disk when the folder is. One that may not be read cannot be synced.
static int sync_folder(const vy_file_sink *file)
{
    const char *slash = strrchr(file->name, '/');
    const size_t length = slash == NULL || slash == file->name ? 1 : (size_t)(slash - file->name);
    char *folder = malloc(length + 1);
    if (folder == NULL) return -ENOMEM;
    snprintf(folder, length + 1, "%s", slash != NULL ? file->name : ".");
    const int folder_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(folder);
    if (folder_fd < 0) return 0;
    const int error = file->calls.sync(file->calls.self, folder_fd);
    close(folder_fd);
    return error;
}

// Whole and on the disk under its temporary name, then renamed. The caller's `lock_fd` holds the lock to
// the end.
static vy_status finish(vy_file_sink *file, vy_error *err)
{
    vy_status status = sink_flush(file, err);
    int error = status == VY_OK && !file->is_in_place ? file->calls.sync(file->calls.self, file->fd) : 0;
    if (error != 0) status = fail_file(err, "writing", file->temporary, -error);
    // EINTR from close leaves the descriptor closed on Linux: never closed twice, and the system has the
    // data.
    const int close_result = file->calls.close(file->calls.self, file->fd);
    if (status == VY_OK && close_result != 0 && close_result != -EINTR)
        status = fail_file(err, "closing", file->temporary, -close_result);
    if (status != VY_OK || file->is_in_place) return status;
    error = file->calls.rename(file->calls.self, file->temporary, file->name);
    if (error != 0) return fail_file(err, "renaming", file->temporary, -error);
    error = sync_folder(file);
    return error == 0 ? VY_OK : fail_file(err, "writing", file->name, -error);
}

vy_status vy_file_sink_commit(vy_file_sink *file, vy_error *err)
{
    close_stream(file);
    const int lock_fd = file->is_in_place ? -1 : fcntl(file->fd, F_DUPFD_CLOEXEC, 3);
    const vy_status status = finish(file, err);
    if (lock_fd >= 0) close(lock_fd);
    free_sink(file);
    return status;
}

void vy_file_sink_abandon(vy_file_sink *file)
{
    if (file == NULL) return;
    close_stream(file);
    sink_flush(file, NULL); // what was written so far is kept, as far as it goes
    file->calls.close(file->calls.self, file->fd);
    free_sink(file);
}

void vy_file_sink_discard(vy_file_sink *file)
{
    if (file == NULL) return;
    close_stream(file);
    if (!file->is_in_place) unlink(file->temporary); // while the lock is held, so it is ours
    file->calls.close(file->calls.self, file->fd);
    free_sink(file);
}

bool vy_file_has_writer(const char *path)
{
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return false;
    const bool is_locked = flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    close(fd);
    return is_locked;
}

typedef struct source_file {
    int fd;
    char *name;
} source_file;

static vy_status source_read(void *self, uint64_t offset, void *data, size_t size, vy_error *err)
{
    const source_file *source = self;
    unsigned char *to = data;
    VY_ASSERT(source->fd >= 0 && (data != NULL || size == 0));
    while (size > 0) {
        const ssize_t read_size = pread(source->fd, to, size, (off_t)offset);
        if (read_size < 0 && errno == EINTR) continue;
        if (read_size < 0) return fail_file(err, "reading", source->name, errno);
        if (read_size == 0) { // it was longer when it was opened
            vy_fail(err, VY_DAMAGED, "byte %llu: the file became shorter while it was read: %s",
                    (unsigned long long)offset, source->name);
            if (err != NULL) snprintf(err->file, sizeof err->file, "%s", source->name);
            return VY_DAMAGED;
        }
        to += read_size;
        size -= (size_t)read_size;
        offset += (uint64_t)read_size;
    }
    return VY_OK;
}

vy_status vy_file_source_open(const char *path, vy_byte_source *out, vy_error *err)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); // a pipe must not block here: it is refused
    if (fd < 0) return fail_file(err, "opening", path, errno);
    struct stat file_stat;
    int error = fstat(fd, &file_stat) == 0 ? 0 : errno;
    if (error == 0 && !S_ISREG(file_stat.st_mode)) error = S_ISDIR(file_stat.st_mode) ? EISDIR : ESPIPE;
    source_file *source = error == 0 ? malloc(sizeof *source) : NULL;
    char *name = error == 0 ? malloc(strlen(path) + 1) : NULL;
    if (source == NULL || name == NULL) {
        close(fd);
        free(source);
        free(name);
        return fail_file(err, "opening", path, error != 0 ? error : ENOMEM);
    }
    *source = (source_file){.fd = fd, .name = strcpy(name, path)};
    *out = (vy_byte_source){.self = source, .size = (uint64_t)file_stat.st_size, .read = source_read};
    return VY_OK;
}

void vy_file_source_close(vy_byte_source *source)
{
    source_file *file = source->self;
    if (file == NULL) return;
    close(file->fd);
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
