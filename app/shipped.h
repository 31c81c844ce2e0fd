// shipped.h - the scenarios that came with the program: in the source tree it was built in, or under its
// prefix.
#pragma once
#include <stdio.h>

/// The file of a shipped scenario by its name, as first-flight.
/// @return path to free(); NULL when there is none of that name
char *vy_shipped_find(const char *name);

/// Called with a scenario's name and the first words of its file.
typedef void shipped_fn(void *self, const char *name, const char *summary);

/// All of them, in order of their names.
void vy_shipped_for_each(shipped_fn *visit, void *self);

/// List them, each with the first words of its file; prints nothing when there are none.
void vy_shipped_list(FILE *out);

/// The path of this program; text to free(), or NULL.
char *vy_shipped_program(void);

/// The folder that holds volery/plugin.h, near the program; text to free(), or NULL.
char *vy_shipped_headers(void);
