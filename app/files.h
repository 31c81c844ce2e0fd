// files.h - questions about files, and an output file that appears whole or not at all.
#pragma once
#include <stdio.h>

int vy_file_is_regular(const char *path);

/// Check that an input can be read; if not, print why.
/// @return 0, or the exit status
int vy_file_check_input(const char *name, const char *description, const char *path);

/// Register an input of the command, so that no output takes its place. vy_file_check_input() does so, too.
void vy_file_is_input(const char *path);

/// Forget inputs and outputs: the command is done.
void vy_file_reset(void);

/// Register an output of the command, and check it. Until it is whole it is called `path` with `suffix`
/// behind it (VY_FILE_PART_SUFFIX for most). A command does this for each of its outputs before it opens the
/// first.
/// @return 0, or the exit status after a sentence
int vy_file_claim(const char *name, const char *path, const char *suffix);

/// Check that no output destroys an input or another output, under either of its names, by whatever path:
/// once more where inputs were found after the outputs.
/// @return 0, or the exit status after a sentence
int vy_file_check_conflicts(const char *name);

/// Has such a conflict been found? Then the command must write nothing.
int vy_file_has_conflict(void);

/// Print where an older PATH.part now is; NULL: there was none.
void vy_file_print_backup(const char *name, const char *path, const char *backup);

/// Print where what was written of an output so far is, if it is there and the last error has not said so.
void vy_file_print_part(const char *name, const char *path);

/// Is `path` a dash or /dev/stdout, which stand for standard output?
int vy_file_is_stream(const char *path);

/// Check that a log can go to `path`: if it is standard output, that is no terminal and nothing else is
/// printed there.
/// @return 0, or the exit status after a sentence
int vy_file_check_log(const char *name, const char *path, int json);

/// An output under construction, printed to `file`: record/file.h says how it gets its name.
typedef struct output {
    struct vy_file_sink *sink;
    FILE *file; ///< the sink's
} output;

/// @return 0, or the exit status after a sentence
int vy_output_open(const char *name, const char *path, output *out);

/// Finish and rename. On failure the older file is untouched.
/// @return 0, or the exit status after a sentence
int vy_output_commit(const char *name, output *out);

/// Remove what was written; the older file is untouched.
void vy_output_discard(output *out);
