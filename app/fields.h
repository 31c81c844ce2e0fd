// fields.h - which drone and which fields of a log a command shall use.
#pragma once
#include "arguments.h"
#include "volery/record.h"

/// The drone that --drone names; the only one when it is not given.
/// @return 0, or the exit status after a sentence
int vy_parse_drone(const arguments *args, const vy_log *log, uint32_t *index);

/// A list split at its commas. Release with vy_fields_destroy().
typedef struct fields {
    const char **items; ///< NULL when there is no list
    int count;
    char *text; ///< items point here
} fields;

/// @param list may be NULL: no list
/// @return 0, or the exit status after a sentence
int vy_parse_fields(const char *name, const char *list, fields *out);
void vy_fields_destroy(fields *f);

/// Print the names of the fields of a drone on stderr, for a user who asked for one that is not there.
void vy_fields_list(vy_log *log, uint32_t drone);
