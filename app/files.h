// files.h - questions about files, and an output file that appears whole or not at all.
#pragma once
#include <stdio.h>

int vy_file_is_regular(const char *path);

/// Check that an input can be read; if not, say why.
/// @return 0, or the exit status
int vy_file_check_input(const char *name, const char *what, const char *path);

/// Check that writing `path` would not destroy `input`; if it would, say so.
/// @return 0, or the exit status
int vy_file_check_apart(const char *name, const char *input, const char *path);

/// Is `path` a dash, which stands for standard output?
int vy_file_is_stream(const char *path);

/// Check that a log can go to `path`: it is no folder; if it is standard output, that is no terminal and
/// nothing else is printed there.
/// @return 0, or the exit status after a sentence
int vy_file_check_log(const char *name, const char *path, int json);

/// An output under construction: PATH.part, renamed by vy_output_commit(). A pipe or device, and standard
/// output for a dash, is written directly.
typedef struct output {
    const char *path; ///< not owned
    char *part;       ///< NULL for a pipe or device
    FILE *file;
    int reason; ///< errno of a write that failed before the end
} output;

/// @return 0, or the exit status after a sentence
int vy_output_open(const char *name, const char *path, output *out);

/// Finish and rename. On failure the older file is untouched and nothing is left behind.
/// @return 0, or the exit status after a sentence
int vy_output_commit(const char *name, output *out);

/// Remove what was written; the older file is untouched.
void vy_output_discard(output *out);
