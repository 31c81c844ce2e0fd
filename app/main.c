// main.c - find the command, sort its words, run it.
#include "command.h"
#include "files.h"
#include "message.h"
#include "signals.h"
#include "volery/version.h"
#include <stdio.h>
#include <string.h>

// The format of errors is set before the first one can happen.
static int wants_json(const command *cmd, int count, char **words)
{
    if (vy_command_option(cmd, "json", '\0') == NULL) return 0;
    for (int i = 0; i < count && strcmp(words[i], "--") != 0; ++i) {
        if (strcmp(words[i], "--json") == 0) return 1;
    }
    return 0;
}

static int run_command(const command *cmd, int count, char **words)
{
    arguments args;
    vy_set_json_errors(wants_json(cmd, count, words));
    int status = vy_arguments_parse(cmd, count, words, &args);
    if (status == 0 && args.help) {
        status = vy_help_command(cmd);
    } else if (status == 0) {
        status = cmd->run(&args);
    }
    vy_arguments_destroy(&args);
    vy_file_reset();
    return vy_flush_stdout(cmd->name, status);
}

int main(int count, char **words)
{
    vy_signals_ignore();
    if (count < 2) {
        vy_help_all();
        return EXIT_USAGE;
    }
    if (strcmp(words[1], "--help") == 0 || strcmp(words[1], "-h") == 0) return vy_help_all();
    if (strcmp(words[1], "--version") == 0 || strcmp(words[1], "-V") == 0) {
        printf("volery %s (physics revision %d)\n", VY_VERSION, VY_PHYSICS_REVISION);
        return vy_flush_stdout(NULL, EXIT_DONE);
    }
    if (words[1][0] == '-') {
        return vy_print_error(NULL, EXIT_USAGE,
                              "unknown option %s; options come after the command: volery COMMAND %s",
                              words[1], words[1]);
    }
    const command *cmd = vy_command_find(words[1]);
    return cmd != NULL ? run_command(cmd, count - 2, words + 2) : vy_unknown_command(words[1]);
}
