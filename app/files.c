// files.c - inputs checked before they are opened, outputs renamed when whole.
#include "files.h"
#include "command.h"
#include "say.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int vy_file_is_regular(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

int vy_file_check_input(const char *name, const char *what, const char *path)
{
    struct stat info;
    if (stat(path, &info) != 0) {
        if (errno == ENOENT || errno == ENOTDIR)
            return vy_say(name, EXIT_USAGE, "there is no %s %s", what, path);
        return vy_say(name, EXIT_USAGE, "cannot read %s: %s", path, strerror(errno));
    }
    if (S_ISDIR(info.st_mode)) return vy_say(name, EXIT_USAGE, "%s is a folder, not a %s", path, what);
    if (access(path, R_OK) != 0) return vy_say(name, EXIT_USAGE, "cannot read %s: %s", path, strerror(errno));
    return 0;
}

int vy_file_check_apart(const char *name, const char *input, const char *path)
{
    struct stat a, b;
    if (stat(input, &a) != 0 || stat(path, &b) != 0) return 0;
    if (a.st_dev != b.st_dev || a.st_ino != b.st_ino) return 0;
    return vy_say(name, EXIT_USAGE, "the output %s would replace the input; give it another name", path);
}

int vy_file_is_stream(const char *path) { return strcmp(path, "-") == 0; }

int vy_file_check_log(const char *name, const char *path, int json)
{
    struct stat info;
    if (!vy_file_is_stream(path)) {
        if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode)) return 0;
        return vy_say(name, EXIT_USAGE, "%s is a folder: give the log a name in it", path);
    }
    if (json) return vy_say(name, EXIT_USAGE, "the log and --json cannot both go to standard output");
    if (isatty(STDOUT_FILENO))
        return vy_say(name, EXIT_USAGE,
                      "-o - writes the log to standard output, which is a terminal: redirect it");
    return 0;
}

int vy_output_open(const char *name, const char *path, output *out)
{
    struct stat info;
    *out = (output){.path = path};
    const int stream = vy_file_is_stream(path);
    const int direct = stream || (stat(path, &info) == 0 && !S_ISREG(info.st_mode));
    if (!direct) {
        const size_t size = strlen(path) + sizeof ".part";
        out->part = malloc(size);
        if (out->part == NULL) return vy_say_no_memory(name);
        snprintf(out->part, size, "%s.part", path);
    }
    if (stream) {
        fflush(stdout);
        const int copy = dup(STDOUT_FILENO);
        out->file = copy >= 0 ? fdopen(copy, "w") : NULL;
    } else {
        out->file = fopen(direct ? path : out->part, "w");
    }
    if (out->file != NULL) return 0;
    const int status = errno == ENOENT || errno == EISDIR ? EXIT_USAGE : EXIT_SYSTEM;
    vy_say(name, status, "cannot write %s: %s", path, strerror(errno));
    free(out->part);
    out->part = NULL;
    return status;
}

int vy_output_commit(const char *name, output *out)
{
    errno = 0;
    int failed = ferror(out->file) || fflush(out->file) != 0;
    if (!failed && out->part != NULL) failed = fsync(fileno(out->file)) != 0;
    if (out->reason == 0) out->reason = errno;
    failed |= fclose(out->file) != 0;
    out->file = NULL;
    if (!failed && out->part != NULL) failed = rename(out->part, out->path) != 0;
    if (out->reason == 0) out->reason = errno != 0 ? errno : EIO;
    if (failed) vy_say(name, EXIT_SYSTEM, "cannot write %s: %s", out->path, strerror(out->reason));
    vy_output_discard(out);
    return failed ? EXIT_SYSTEM : 0;
}

void vy_output_discard(output *out)
{
    if (out->file != NULL) fclose(out->file);
    if (out->part != NULL) unlink(out->part); // already renamed: there is none
    free(out->part);
    *out = (output){.path = NULL};
}
