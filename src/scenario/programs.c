// programs.c - checks that the programs, libraries and devices of controllers exist. Nothing is started.
#define _POSIX_C_SOURCE 200809L // access
#include "scenario/check.h"
#include "scenario/text.h"
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

// `name` seen from `folder`, which may be "".
static char *join_path(const char *folder, size_t folder_size, const char *name, size_t size)
{
    vy_text path = {0};
    if (*name != '/' && folder_size > 0) {
        vy_text_add(&path, folder, folder_size);
        vy_text_puts(&path, "/");
    }
    vy_text_add(&path, name, size);
    return vy_text_take(&path);
}

static int is_accessible_file(const char *path, int mode)
{
    struct stat info;
    return path != NULL && stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, mode) == 0;
}

// The first word of a command line, as the shell would look for it; 0: only the shell can tell.
static size_t first_word_size(const char **line)
{
    *line += strspn(*line, " \t");
    const size_t size = strcspn(*line, " \t");
    const size_t plain_size = strcspn(*line, "$`\"'\\*?[]{}()<>|&;~#!");
    return plain_size < size ? 0 : size;
}

static int is_in_path(const char *word, size_t size)
{
    const char *path = getenv("PATH");
    if (path == NULL) return 1; // the shell has a default of its own
    for (;;) {
        const size_t length = strcspn(path, ":");
        char *file_path = join_path(path, length, word, size);
        const int is_found = file_path == NULL || is_accessible_file(file_path, X_OK);
        free(file_path);
        if (is_found) return 1;
        if (path[length] == '\0') return 0;
        path += length + 1;
    }
}

// Where the controller's relative names begin: its folder, else that of the scenario's file.
static size_t folder_of(const vy_controller_def *c, const char *scenario_path, const char **folder)
{
    *folder = c->folder[0] != '\0' ? c->folder : scenario_path;
    if (c->folder[0] != '\0') return strlen(c->folder);
    const char *slash = strrchr(scenario_path, '/');
    return slash == NULL ? 0 : slash == scenario_path ? 1 : (size_t)(slash - scenario_path);
}

char *vy_program_path(const vy_controller_def *controller, const char *scenario_path, const char *name)
{
    const char *folder;
    const size_t size = folder_of(controller, scenario_path, &folder);
    return join_path(folder, size, name, strlen(name));
}

static void check_program(vy_reader *r, const char *scenario_path, const vy_controller_def *c)
{
    const char *folder, *word = c->program;
    const size_t folder_size = folder_of(c, scenario_path, &folder);
    const int is_command = c->kind == VY_CONTROLLER_PROCESS || vy_controller_is_firmware(c->kind);
    const size_t size = is_command ? first_word_size(&word) : strlen(word);
    if (size == 0) return; // nothing, the keyboard, or the shell's business
    const vy_node *program_node = vy_reader_location(r, c->program);
    if (is_command && memchr(word, '/', size) == NULL) {
        if (!is_in_path(word, size))
            vy_report_error_of_kind(r->report, "file", program_node,
                                    "command: there is no program %.*s in PATH", (int)size, word);
        return;
    }
    char *file_path = join_path(folder, folder_size, word, size);
    if (file_path == NULL) {
        r->no_memory = 1;
    } else if (access(file_path, F_OK) != 0) {
        vy_report_error_of_kind(r->report, "file", program_node, "%s: there is no %s",
                                is_command                        ? "command"
                                : c->kind == VY_CONTROLLER_PLUGIN ? "library"
                                                                  : "device",
                                file_path);
    } else if (is_command && !is_accessible_file(file_path, X_OK)) {
        vy_report_error_of_kind(r->report, "file", program_node, "command: %s cannot be run", file_path);
    } else if (c->kind == VY_CONTROLLER_PLUGIN && !is_accessible_file(file_path, R_OK)) {
        vy_report_error_of_kind(r->report, "file", program_node, "library: %s cannot be read", file_path);
    }
    free(file_path);
}

void vy_check_programs(vy_reader *reader, const char *scenario_path, const vy_scenario *s)
{
    for (int i = 0; i < s->drone_count; ++i) {
        const vy_controller_def *c = &s->drones[i].def.controller;
        if (!vy_reader_is_valid(reader, &c->kind, sizeof c->kind) ||
            !vy_reader_is_valid(reader, c->program, sizeof c->program))
            continue;
        if (vy_controller_is_external(c->kind) && c->kind != VY_CONTROLLER_CALLBACK)
            check_program(reader, scenario_path, c);
    }
}
