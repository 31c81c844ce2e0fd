// cmd_recover.c - volery recover: makes a whole log from what a killed run left.
#include "command.h"
#include "files.h"
#include "load.h"
#include "record/file.h"
#include "message.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// RUN.mcap.part or RUN.mcap.part.2 -> RUN.mcap. NULL: it has no such name, or memory is out.
static char *default_name(const char *part_path)
{
    size_t length = strlen(part_path);
    while (length > 0 && part_path[length - 1] >= '0' && part_path[length - 1] <= '9') --length;
    if (length > 0 && length < strlen(part_path) && part_path[length - 1] == '.') --length;
    const size_t suffix_size = strlen(VY_FILE_PART_SUFFIX);
    if (length <= suffix_size ||
        strncmp(part_path + length - suffix_size, VY_FILE_PART_SUFFIX, suffix_size) != 0)
        return NULL;
    return strndup(part_path, length - suffix_size);
}

static int choose_name(const arguments *args, char **out)
{
    const char *part_path = args->operands[0], *requested_path = vy_option_value(args, "output");
    *out = requested_path != NULL ? strdup(requested_path) : default_name(part_path);
    if (*out == NULL && requested_path == NULL)
        return vy_print_usage_error(args->command, "cannot derive the log's name from %s: give it with -o",
                                    part_path);
    if (*out == NULL) return vy_print_no_memory("recover");
    if (vy_file_is_stream(*out))
        return vy_print_usage_error(args->command, "a recovered log goes to a file, not to standard output");
    // An older log that the killed run was to replace may be worth more than the recovered one.
    if (requested_path == NULL && access(*out, F_OK) == 0)
        return vy_print_usage_error(args->command, "there is a log %s already: give another name with -o",
                                    *out);
    return 0;
}

COMMAND(recover)
{
    if (args->operand_count == 0)
        return vy_print_usage_error(args->command,
                                    "which log? For example: volery recover first-flight.mcap.part");
    const char *part_path = args->operands[0];
    char *output_path = NULL;
    vy_log_info info;
    vy_error error = {.status = VY_OK};
    int status = vy_file_check_input("recover", "log", part_path);
    if (status == 0) status = choose_name(args, &output_path);
    if (status == 0) status = vy_file_claim("recover", output_path, VY_FILE_RECOVERED_SUFFIX);
    if (status == 0) {
        const vy_status recover_status = vy_log_recover(part_path, output_path, &info, &error);
        if (recover_status != VY_OK)
            status = vy_print_log_error("recover", part_path, recover_status, &error);
    }
    if (status == 0 && !vy_has_option(args, "quiet"))
        printf("%s: %s at step %" PRIu64 " (%.3f s)\n", output_path, info.status, info.last_tick,
               (double)info.last_tick * info.dt);
    free(output_path);
    return status;
}
