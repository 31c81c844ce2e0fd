// cmd_sitl.c - volery sitl: starts a program with simulated time, by a library that is loaded before it.
#define _GNU_SOURCE // memfd_create
#include "command.h"
#include "message.h"
#include "sitl_library.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// The library as a file without a name, which the program has open while it runs.
static int make_file(const char *bytes, size_t size)
{
    const int fd = memfd_create("volery-sitl", 0);
    for (size_t written = 0; fd >= 0 && written < size;) {
        const ssize_t n = write(fd, bytes + written, size - written);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) {
            close(fd);
            return -1;
        }
        written += (size_t)n;
    }
    return fd;
}

COMMAND(sitl)
{
    if (args->operand_count == 0)
        return vy_print_usage_error(args->command,
                                    "which program? For example: volery sitl -- ./betaflight_SITL.elf");
    static const packed library = PACKED(vy_sitl);
    char *bytes = NULL, name[40];
    const int status = vy_packed_load("sitl", "the library", &library, &bytes);
    if (status != 0) return status;
    const int fd = make_file(bytes, *library.size);
    free(bytes);
    if (fd < 0) return vy_print_error("sitl", EXIT_SYSTEM, "no file in memory: %s", strerror(errno));
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    if (setenv("LD_PRELOAD", name, 1) != 0) return vy_print_no_memory("sitl");
    char *const *words; // execvp() does not change them
    memcpy(&words, &args->operands, sizeof words);
    execvp(words[0], words);
    return vy_print_error("sitl", EXIT_USAGE, "cannot start %s: %s", args->operands[0], strerror(errno));
}
