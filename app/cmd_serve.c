// cmd_serve.c - volery serve: run a plug-in as a process, on stdin and stdout.
#include "command.h"
#include "message.h"
#include "volery/host.h"
#include <stdio.h>
#include <unistd.h>

COMMAND(serve)
{
    if (args->operand_count == 0) {
        return vy_print_usage_error(args->command, "which plug-in? For example: volery serve ./mine.so");
    }
    if (isatty(STDIN_FILENO)) {
        return vy_print_usage_error(args->command,
                                    "serve speaks with a world, not with a person: name it in a scenario, "
                                    "controller: {kind: process, command: volery serve ./mine.so}");
    }
    const char *operand = args->operands[0];
    char path[4096]; // a name without a slash would be looked for in the loader's folders
    snprintf(path, sizeof path, "%s%s", operand[0] == '/' ? "" : "./", operand);
    void *library = NULL;
    const vy_plugin *plugin = NULL;
    vy_error error = {.status = VY_OK};
    vy_status status = vy_plugin_load(path, &library, &plugin, &error);
    if (status == VY_OK) status = vy_serve(plugin, STDIN_FILENO, STDOUT_FILENO, &error);
    if (library != NULL) vy_plugin_unload(library);
    return status == VY_OK ? 0 : vy_print_status("serve", status, &error);
}
