// real.c - the system's functions that stand behind ours.
#define _GNU_SOURCE
#include "sitl.h"
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { NAME_CAP = 128 };

typedef struct known_function {
    const char *name;
    sitl_function *function;
} known_function;

// Few names, looked up once: a search from the front finds them again.
sitl_function *sitl_real(const char *name)
{
    static known_function functions[NAME_CAP];
    int i = 0;
    // The names are string constants: one that the linker has left in two places is looked up twice.
    for (; i < NAME_CAP && functions[i].name != NULL; ++i) {
        if (functions[i].name == name) return functions[i].function;
    }
    void *const symbol = dlsym(RTLD_NEXT, name);
    sitl_function *function;
    memcpy(&function, &symbol, sizeof function); // C has no cast for it
    if (symbol == NULL) {
        fprintf(stderr, "volery sitl: the system has no %s\n", name);
        _exit(70);
    }
    if (i < NAME_CAP) {
        functions[i].function = function;
        functions[i].name = name;
    }
    return function;
}
