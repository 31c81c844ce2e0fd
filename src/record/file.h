// file.h - bytes out and bytes in: a sink and a source, and the files behind them.
//
// An output file NAME is written as NAME.part beside it and renamed over NAME by a proper end, so an older
// NAME is replaced by a whole file or not at all. What a killed run leaves behind is NAME.part; the next
// writer of NAME keeps it as NAME.part.1. Everything that Volery writes goes through here.
#pragma once
#include "volery/status.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/// What the name of a file being written ends with; of a log made from a .part.
#define VY_FILE_PART_SUFFIX      ".part"
#define VY_FILE_RECOVERED_SUFFIX ".recovered.part"

/// Where bytes go. A sink that failed once keeps failing.
typedef struct vy_byte_sink {
    void *self;
    /// Take all of the bytes, in order, or fail.
    vy_status (*write)(void *self, const void *data, size_t size, vy_error *err);
    /// Hand everything held back to the system. NULL: nothing is ever held back.
    vy_status (*flush)(void *self, vy_error *err);
} vy_byte_sink;

/// Where bytes come from: any part of `size` bytes, any number of times.
typedef struct vy_byte_source {
    void *self;
    uint64_t size; ///< [bytes]
    /// Fill `data` with the `size` bytes at `offset`, which lie inside the source, or fail.
    vy_status (*read)(void *self, uint64_t offset, void *data, size_t size, vy_error *err);
} vy_byte_source;

/// The system calls under an output file; a test replaces them to make them fail.
/// Each returns a negative errno on failure.
typedef struct vy_file_calls {
    void *self;
    int64_t (*write)(void *self, int fd, const void *data, size_t size); ///< bytes taken, perhaps fewer
    int (*sync)(void *self, int fd); ///< until it is on the disk; of folders, too
    int (*close)(void *self, int fd);
    int (*rename)(void *self, const char *from, const char *to);
} vy_file_calls;

/// The operating system's own calls.
vy_file_calls vy_system_file_calls(void);

/// An output file. One owner: ended by exactly one of commit, abandon, discard.
typedef struct vy_file_sink vy_file_sink;

/// Open `path` for writing: PATH.part is created and locked. One that is there already is renamed to
/// PATH.part.1, .2, ... (see vy_file_sink_backup), unless it is empty; a link of that name is not followed.
/// While another writer holds it, in this process or any other, this is VY_BAD_STATE. A path that exists and
/// is no regular file (a pipe) is written directly; `-` and /dev/stdout are standard output. Small writes are
/// gathered; a write of 64 KiB or more, and a flush, go to the system in one call. The caller ignores SIGPIPE
/// and SIGXFSZ so that a closed pipe or a size limit is a status and not a signal.
/// @param calls NULL for the system's
vy_status vy_file_sink_open(const char *path, const vy_file_calls *calls, vy_file_sink **out, vy_error *err);

/// The same with another ending than .part, where PATH.part must stay what it is.
vy_status vy_file_sink_open_as(const char *path, const char *suffix, const vy_file_calls *calls,
                               vy_file_sink **out, vy_error *err);

/// The sink to write through; valid until the file is ended. Errors name the file.
vy_byte_sink vy_file_sink_bytes(vy_file_sink *file);

/// The same as a stdio stream; NULL: no memory. Closed with the file, which reports its failures.
FILE *vy_file_sink_stream(vy_file_sink *file);

/// Where an older PATH.part was moved to; NULL: there was none. Valid until the file is ended.
const char *vy_file_sink_backup(const vy_file_sink *file);

/// Flush, wait for the disk, rename to the final name, wait for the folder. On failure PATH is untouched and
/// PATH.part is kept. The file is ended either way.
vy_status vy_file_sink_commit(vy_file_sink *file, vy_error *err);

/// Close and keep PATH.part as far as it got; PATH is untouched. NULL is a no-op.
void vy_file_sink_abandon(vy_file_sink *file);

/// Close and remove PATH.part; PATH is untouched. NULL is a no-op.
void vy_file_sink_discard(vy_file_sink *file);

/// Is the file being written by a living process?
bool vy_file_has_writer(const char *path);

/// Open a regular file for reading.
vy_status vy_file_source_open(const char *path, vy_byte_source *out, vy_error *err);
void vy_file_source_close(vy_byte_source *source);

/// A source over memory that the caller keeps alive; needs no close.
vy_byte_source vy_memory_source(const void *data, size_t size);
