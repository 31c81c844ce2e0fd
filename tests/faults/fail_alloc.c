// fail_alloc.c - preloaded: allocation number VOLERY_FAIL_AT fails, with VOLERY_FAIL_AFTER=1 all that follow,
// too. The number of allocations is written to the file VOLERY_FAIL_COUNT. A crash says in which library it
// is.
#define _GNU_SOURCE // dladdr
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static _Atomic long seen;
static long at;
static int after, ready;

static int fails(void)
{
    if (!ready) return 0;
    const long number = atomic_fetch_add(&seen, 1) + 1;
    if (at == 0 || (after ? number < at : number != at)) return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size) { return fails() ? NULL : __libc_malloc(size); }
void *calloc(size_t count, size_t size) { return fails() ? NULL : __libc_calloc(count, size); }
void *realloc(void *old, size_t size) { return size > 0 && fails() ? NULL : __libc_realloc(old, size); }
void *aligned_alloc(size_t alignment, size_t size)
{
    return fails() ? NULL : __libc_memalign(alignment, size);
}
int posix_memalign(void **out, size_t alignment, size_t size)
{
    void *block = fails() ? NULL : __libc_memalign(alignment, size);
    if (block == NULL) return ENOMEM;
    *out = block;
    return 0;
}

// The innermost library that is not the C library, nor this one.
static void on_crash(int number)
{
    void *frames[64];
    const int count = backtrace(frames, 64);
    char text[300];
    for (int i = 2; i < count; ++i) {
        Dl_info info;
        if (dladdr(frames[i], &info) == 0 || info.dli_fname == NULL ||
            strstr(info.dli_fname, "libc.so") != NULL)
            continue;
        const char *slash = strrchr(info.dli_fname, '/');
        const int size = snprintf(text, sizeof text, "crash: signal %d in %s\n", number,
                                  slash != NULL ? slash + 1 : info.dli_fname);
        (void)!write(2, text, (size_t)size);
        break;
    }
    _exit(139);
}

__attribute__((constructor)) static void begin(void)
{
    static const int numbers[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL};
    const char *number = getenv("VOLERY_FAIL_AT"), *all = getenv("VOLERY_FAIL_AFTER");
    void *frames[4];
    (void)backtrace(frames, 4); // it loads a library at its first call
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; ++i) (void)signal(numbers[i], on_crash);
    at = number != NULL ? atol(number) : 0;
    after = all != NULL && all[0] == '1';
    ready = 1;
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("VOLERY_FAIL_COUNT");
    char text[32];
    if (path == NULL) return;
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const int size = snprintf(text, sizeof text, "%ld\n", atomic_load(&seen));
    if (file >= 0) (void)!write(file, text, (size_t)size);
}
