// arguments.h - the words after the command's name, sorted into options and operands by its table.
#pragma once

struct command;
struct option;

typedef struct argument {
    const struct option *option;
    const char *value; ///< NULL for an option without one
} argument;

/// What was given. Strings are those of the command line; release with vy_arguments_destroy().
typedef struct arguments {
    const struct command *command;
    argument *options; ///< in the order given
    int option_count;
    const char **operands;
    int operand_count;
    int help; ///< --help was given
} arguments;

/// Sort `words` by the table of the command `cmd`. On a mistake one sentence is printed.
/// @return 0, or the exit status of a mistake
int vy_arguments_parse(const struct command *cmd, int count, char **words, arguments *out);
void vy_arguments_destroy(arguments *args);

/// 1 when the option was given.
int vy_has_option(const arguments *args, const char *name);

/// The value of an option, or NULL when it was not given.
const char *vy_option_value(const arguments *args, const char *name);
