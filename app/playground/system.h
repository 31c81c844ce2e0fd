// system.h - what the C library of a page lacks of glibc's, for src/record/file.c; included by the compiler
// (web/playground/wasm.mk).
#pragma once
#include <errno.h>
#include <string.h>

#define RENAME_NOREPLACE 1u

// Linux's own call; the file then falls back on two of POSIX.
static inline int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags)
{
    (void)from_folder;
    (void)from;
    (void)to_folder;
    (void)to;
    (void)flags;
    errno = ENOSYS;
    return -1;
}

// One thread: the text of the library itself may be used.
#define strerror_r(error, room, size) strerror(error)
