// scenes.h - worlds built in C, shared by tests, benchmarks and the command. They need no file and no
// library.
#pragma once
#include "volery/world.h"

typedef struct vy_scene {
    const char *name;
    const char *text; // one line for people
    uint64_t ticks;   // length of the golden run
    vy_status (*build)(uint64_t seed, vy_world **out, vy_error *err);
} vy_scene;

extern const vy_scene vy_scenes[];
extern const int vy_scene_count;

/// NULL when there is none of that name.
const vy_scene *vy_scene_find(const char *name);
