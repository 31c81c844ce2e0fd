// shipped.c - looking for scenarios/ near the program.
#define _XOPEN_SOURCE 700 // realpath
#include "shipped.h"
#include "files.h"
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATH_CAP = 4096, NAME_COUNT = 256, NAME_SPACE = 64 };

// Where scenarios/ may lie, seen from the program's folder: the install prefix, then a build folder of the
// tree.
static const char *const scenario_folders[] = {"../share/volery/scenarios", "../scenarios", "../../scenarios",
                                               "../../../scenarios"};

char *vy_shipped_program(void) { return realpath("/proc/self/exe", NULL); }

static int program_folder(char *out, size_t size)
{
    const ssize_t length = readlink("/proc/self/exe", out, size - 1);
    if (length <= 0) return 0;
    out[length] = '\0';
    char *slash = strrchr(out, '/');
    if (slash == NULL) return 0;
    *slash = '\0';
    return 1;
}

// The first of some folders that is there, seen from the program's; without .. in it; text to free(), or
// NULL.
static char *first_folder(const char *const *list, size_t count)
{
    char program[PATH_CAP], path[PATH_CAP + 64];
    if (!program_folder(program, sizeof program)) return NULL;
    for (size_t i = 0; i < count; ++i) {
        snprintf(path, sizeof path, "%s/%s", program, list[i]);
        char *resolved = realpath(path, NULL);
        if (resolved != NULL) return resolved;
    }
    return NULL;
}

static char *scenarios_folder(void)
{
    return first_folder(scenario_folders, sizeof scenario_folders / sizeof scenario_folders[0]);
}

char *vy_shipped_headers(void)
{
    static const char *const headers[] = {"../include/volery", "../../include/volery",
                                          "../../../include/volery"};
    char *folder = first_folder(headers, sizeof headers / sizeof headers[0]);
    char *slash = folder != NULL ? strrchr(folder, '/') : NULL;
    if (slash != NULL) *slash = '\0';
    return folder;
}

char *vy_shipped_find(const char *name)
{
    if (name[0] == '\0' || name[0] == '.' || strchr(name, '/') != NULL) return NULL;
    char *folder = scenarios_folder();
    if (folder == NULL) return NULL;
    const size_t length = strlen(name);
    const int has_suffix = length > 5 && strcmp(name + length - 5, ".yaml") == 0;
    const size_t size = strlen(folder) + length + 8;
    char *path = malloc(size);
    if (path != NULL) snprintf(path, size, "%s/%s%s", folder, name, has_suffix ? "" : ".yaml");
    free(folder);
    if (path != NULL && vy_file_is_regular(path)) return path;
    free(path);
    return NULL;
}

static int compare_names(const void *a, const void *b) { return strcmp(a, b); }

// The first comment of the file, which says what the scenario is.
static void describe_scenario(const char *folder, const char *name, shipped_fn *visit, void *self)
{
    char path[PATH_CAP], line[160];
    snprintf(path, sizeof path, "%s/%s.yaml", folder, name);
    FILE *file = fopen(path, "r");
    const char *summary = "";
    if (file != NULL && fgets(line, sizeof line, file) != NULL && line[0] == '#') {
        char *end = strstr(line, ". "); // its first sentence
        if (end != NULL) end[1] = '\0';
        line[strcspn(line, "\r\n")] = '\0';
        summary = line + 1 + strspn(line + 1, " ");
    }
    visit(self, name, summary);
    if (file != NULL) fclose(file);
}

void vy_shipped_for_each(shipped_fn *visit, void *self)
{
    char *folder = scenarios_folder();
    DIR *dir = folder != NULL ? opendir(folder) : NULL;
    char(*names)[NAME_SPACE] = calloc(NAME_COUNT, NAME_SPACE);
    int count = 0;
    struct dirent *entry = NULL;
    while (dir != NULL && names != NULL && count < NAME_COUNT && (entry = readdir(dir)) != NULL) {
        const size_t length = strlen(entry->d_name);
        if (length <= 5 || length >= NAME_SPACE || strcmp(entry->d_name + length - 5, ".yaml") != 0) continue;
        memcpy(names[count++], entry->d_name, length - 5); // the rest is zero
    }
    if (dir != NULL) closedir(dir);
    if (count > 0) qsort(names, (size_t)count, NAME_SPACE, compare_names);
    for (int i = 0; i < count; ++i) describe_scenario(folder, names[i], visit, self);
    free(names);
    free(folder);
}

typedef struct listing {
    FILE *out;
    int has_begun;
} listing;

static void print_scenario(void *self, const char *name, const char *summary)
{
    listing *l = self;
    char *folder = l->has_begun ? NULL : scenarios_folder();
    if (!l->has_begun)
        fprintf(l->out, "\nscenarios that came with Volery (%s):\n", folder != NULL ? folder : "");
    free(folder);
    l->has_begun = 1;
    fprintf(l->out, "  %-24s%s\n", name, summary);
}

void vy_shipped_list(FILE *out)
{
    listing l = {out, 0};
    vy_shipped_for_each(print_scenario, &l);
}
