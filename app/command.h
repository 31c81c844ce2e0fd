// command.h - what the command's table is made of. Parsing, help, completion and the man page all read it.
#pragma once
#include "arguments.h"
#include "exit_status.h"

/// What a word on the command line stands for; completion offers those.
typedef enum word_kind {
    WORD_OTHER, ///< free text or a number
    WORD_SCENARIO,
    WORD_LOG,
    WORD_FILE,
    WORD_BENCH,
    WORD_COMMAND,
    WORD_CHOICE, ///< one of the words that it is shown as, like "bash|zsh"
    WORD_FIRST,  ///< first the word in small letters that it is shown with, like "controller NAME", then free
                 ///< text
} word_kind;

enum {
    OPTION_REPEATS = 1, ///< may be given several times
    OPTION_HIDDEN = 2,  ///< works, but help, completion and manual do not mention it
};

typedef struct option {
    const char *name;     ///< without the dashes; NULL ends a list
    char letter;          ///< of its short form; 0: none
    const char *argument; ///< what its value is called; NULL: it takes none
    word_kind kind;       ///< of the value
    int flags;
    const char *help; ///< one line
} option;

typedef struct example {
    const char *line; ///< as typed; NULL ends a list
    const char *text; ///< what it does
} example;

typedef struct command {
    const char *name;
    const char *operands; ///< as shown, like "A.mcap B.mcap"
    word_kind kind;       ///< of the operands
    int operands_min, operands_max;
    const char *summary; ///< one line
    const char *text; ///< what it does and why, for help and manual; paragraphs are separated by empty lines
    const option *options;
    const example *examples;
    int (*run)(const arguments *args); ///< returns the exit status
} command;

extern const command vy_commands[];
extern const int vy_command_count;

/// NULL when there is no such command.
const command *vy_command_find(const char *name);

/// The command's option of that name or letter; NULL when it has none. --help is in none of the lists: all
/// have it.
const option *vy_command_option(const command *cmd, const char *name, char letter);

/// What every option list of help, completion and manual ends with.
extern const option vy_help_option;

/// The words on exit statuses, for help and manual.
extern const char vy_exit_text[];

/// Help: everything, or one command. Returns the exit status.
int vy_help_all(void);
int vy_help_command(const command *cmd);

/// Print that there is no such command, and the nearest name. Returns the exit status.
int vy_unknown_command(const char *word);

/// What a command does. app/cmd_NAME.c defines it: COMMAND(NAME) { ... }; its row is in commands.c.
#define COMMAND_NAMED(name) int vy_cmd_##name(const arguments *args)
#define COMMAND(name)    \
    COMMAND_NAMED(name); \
    COMMAND_NAMED(name)
