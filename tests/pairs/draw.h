// draw.h - random values for rows of the schema: inside their ranges, near their defaults, so that most
// flights last.
#pragma once
#include "pairs.h"

typedef struct generator {
    const request *w;
    random_source random;
    int placed[OPTION_CAP], placed_count; // options so far
    int free;                             // 1: in an element that need not have what is forced
    char is_satisfied[FORCED_CAP],
        placed_now[FORCED_CAP]; // of what is forced: an element before has it; it is there
    double step;                // [s]
    int steps;
    int drones, bodies, joints; // so far
    int index;                  // of the innermost element
    int owner;                  // of the outermost element
    start_place start;
    int is_pulley; // the joint that is written
    double fall;   // [m/s] with which drones start downwards, if not in the air
} generator;

static inline int chance(generator *g, double share) { return random_in(&g->random, 0.0, 1.0) < share; }

double draw_gap(generator *g);

// What is written for the row; 0: nothing is, it has no value that could be made up.
int draw_value(generator *g, const vy_schema_row *row, const char *path, const void *object, char *out,
               size_t size);
