// files.c - inputs and outputs of the command, each known by its identity, so that none destroys another.
#include "files.h"
#include "command.h"
#include "record/file.h"
#include "message.h"
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

// Where a file is: itself if it is there, else its folder and its name in it.
typedef struct file_identity {
    int exists, is_replaceable; // is_replaceable: a regular file, or one to be made
    dev_t device, folder_device;
    ino_t inode, folder;
    const char *name;
} file_identity;

static file_identity file_identity_of(const char *path)
{
    struct stat info;
    const char *slash = strrchr(path, '/');
    file_identity p = {.name = slash != NULL ? slash + 1 : path};
    p.exists = stat(path, &info) == 0;
    p.is_replaceable = !p.exists || S_ISREG(info.st_mode);
    p.device = p.exists ? info.st_dev : 0;
    p.inode = p.exists ? info.st_ino : 0;
    char *folder = strndup(path, slash == NULL ? 0 : slash == path ? 1 : (size_t)(slash - path));
    if (folder != NULL && stat(slash != NULL ? folder : ".", &info) == 0) {
        p.folder_device = info.st_dev;
        p.folder = info.st_ino;
    }
    free(folder);
    return p;
}

static int is_same_file(const char *a, const char *b)
{
    const file_identity p = file_identity_of(a), q = file_identity_of(b);
    if (!p.is_replaceable || !q.is_replaceable) return 0; // a pipe or device is written directly
    if (p.exists && q.exists && p.device == q.device && p.inode == q.inode) return 1;
    return p.folder != 0 && p.folder == q.folder && p.folder_device == q.folder_device &&
           strcmp(p.name, q.name) == 0;
}

enum { INPUT_CAP = 256, OUTPUT_CAP = 8 };

typedef struct claim {
    char *path;
    char *part; // what it is called until it is whole
} claim;

// Of this process, which is one command.
static char *inputs[INPUT_CAP];
static claim claims[OUTPUT_CAP];
static int input_count, claim_count;
static int lost_input;   // memory was out: nobody knows what must not be replaced
static int has_conflict; // an output would destroy an input or another output

void vy_file_is_input(const char *path)
{
    for (int i = 0; i < input_count; ++i) {
        if (strcmp(inputs[i], path) == 0) return; // many drones, one controller
    }
    char *copy = input_count < INPUT_CAP ? strdup(path) : NULL;
    lost_input |= copy == NULL && input_count < INPUT_CAP;
    if (copy != NULL) inputs[input_count++] = copy;
}

void vy_file_reset(void)
{
    has_conflict = lost_input = 0;
    while (input_count > 0) free(inputs[--input_count]);
    while (claim_count > 0) {
        free(claims[--claim_count].path);
        free(claims[claim_count].part);
    }
}

int vy_file_check_input(const char *name, const char *description, const char *path)
{
    struct stat info;
    vy_file_is_input(path);
    if (stat(path, &info) != 0) {
        if (errno == ENOENT || errno == ENOTDIR)
            return vy_print_error(name, EXIT_USAGE, "there is no %s %s", description, path);
        return vy_print_error(name, EXIT_USAGE, "cannot read %s: %s", path, strerror(errno));
    }
    if (S_ISDIR(info.st_mode))
        return vy_print_error(name, EXIT_USAGE, "%s is a folder, not a %s", path, description);
    if (access(path, R_OK) != 0)
        return vy_print_error(name, EXIT_USAGE, "cannot read %s: %s", path, strerror(errno));
    return 0;
}

static int check_pair(const char *name, const claim *a, const claim *b)
{
    if (!is_same_file(a->path, b->path) && !is_same_file(a->path, b->part) && !is_same_file(a->part, b->path))
        return 0;
    return vy_print_error(name, EXIT_USAGE,
                          "two outputs would go to one file, %s and %s; give one of them another name",
                          a->path, b->path);
}

static int check_output_conflict(const char *name)
{
    for (int i = 0; i < claim_count; ++i) {
        const claim *c = &claims[i];
        for (int k = 0; k < input_count; ++k) {
            if (is_same_file(inputs[k], c->path))
                return vy_print_error(name, EXIT_USAGE,
                                      "the output %s would replace the input; give it another name", c->path);
            if (is_same_file(inputs[k], c->part))
                return vy_print_error(
                    name, EXIT_USAGE,
                    "the output %s is written as %s first, which is an input; give it another name", c->path,
                    c->part);
        }
        for (int k = 0; k < i; ++k) {
            const int status = check_pair(name, &claims[k], c);
            if (status != 0) return status;
        }
    }
    return 0;
}

int vy_file_check_conflicts(const char *name)
{
    const int status = lost_input ? vy_print_no_memory(name) : check_output_conflict(name);
    has_conflict |= status != 0;
    return status;
}

int vy_file_has_conflict(void) { return has_conflict; }

int vy_file_claim(const char *name, const char *path, const char *suffix)
{
    struct stat info;
    if (vy_file_is_stream(path) || claim_count == OUTPUT_CAP) return 0;
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
        return vy_print_error(name, EXIT_USAGE, "%s is a folder: give the file a name in it", path);
    const size_t capacity = strlen(path) + strlen(suffix) + 1;
    const claim c = {.path = strdup(path), .part = malloc(capacity)};
    if (c.path == NULL || c.part == NULL) {
        free(c.path);
        free(c.part);
        return vy_print_no_memory(name);
    }
    snprintf(c.part, capacity, "%s%s", path, suffix);
    claims[claim_count++] = c;
    return vy_file_check_conflicts(name);
}

int vy_file_is_stream(const char *path) { return strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0; }

int vy_file_check_log(const char *name, const char *path, int json)
{
    if (!vy_file_is_stream(path)) return 0;
    if (json) return vy_print_error(name, EXIT_USAGE, "the log and --json cannot both go to standard output");
    if (isatty(STDOUT_FILENO))
        return vy_print_error(name, EXIT_USAGE,
                              "-o - writes the log to standard output, which is a terminal: redirect it");
    return 0;
}

void vy_file_print_backup(const char *name, const char *path, const char *backup)
{
    if (backup == NULL) return;
    vy_print_warning(name, "%s%s, which an earlier run left behind, is kept as %s", path, VY_FILE_PART_SUFFIX,
                     backup);
}

void vy_file_print_part(const char *name, const char *path)
{
    for (int i = 0; i < claim_count; ++i) {
        const claim *c = &claims[i];
        if (strcmp(c->path, path) != 0 || !vy_file_is_regular(c->part)) continue;
        if (strstr(vy_last_error(), c->part) != NULL) continue;
        vy_print_warning(name, "what was written so far is kept as %s", c->part);
    }
}

int vy_output_open(const char *name, const char *path, output *out)
{
    *out = (output){.file = NULL};
    vy_error error = {.status = VY_OK};
    fflush(stdout); // earlier output comes first
    const vy_status open_status = vy_file_sink_open(path, NULL, &out->sink, &error);
    if (open_status != VY_OK) return vy_print_status(name, open_status, &error);
    vy_file_print_backup(name, path, vy_file_sink_backup(out->sink));
    out->file = vy_file_sink_stream(out->sink);
    if (out->file != NULL) return 0;
    vy_output_discard(out);
    return vy_print_no_memory(name);
}

int vy_output_commit(const char *name, output *out)
{
    vy_error error = {.status = VY_OK};
    const vy_byte_sink bytes = vy_file_sink_bytes(out->sink);
    (void)fflush(out->file); // its failure is the sink's
    vy_status status = bytes.flush(bytes.self, &error);
    if (status == VY_OK)
        status = vy_file_sink_commit(out->sink, &error);
    else
        vy_file_sink_discard(out->sink); // an incomplete table is removed
    *out = (output){.file = NULL};
    return status == VY_OK ? 0 : vy_print_status(name, status, &error);
}

void vy_output_discard(output *out)
{
    vy_file_sink_discard(out->sink);
    *out = (output){.file = NULL};
}
