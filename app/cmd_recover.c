// cmd_recover.c - volery recover: what a killed run left, made a whole log again.
#include "command.h"
#include "files.h"
#include "load.h"
#include "record/file.h"
#include "say.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// RUN.mcap.part or RUN.mcap.part.2 -> RUN.mcap. NULL: it has no such name, or memory is out.
static char *default_name(const char *part)
{
    size_t length = strlen(part);
    while (length > 0 && part[length - 1] >= '0' && part[length - 1] <= '9') --length;
    if (length > 0 && length < strlen(part) && part[length - 1] == '.') --length;
    const size_t end = strlen(VY_FILE_PART);
    if (length <= end || strncmp(part + length - end, VY_FILE_PART, end) != 0) return NULL;
    return strndup(part, length - end);
}

static int choose_name(const arguments *given, char **out)
{
    const char *part = given->operands[0], *asked = vy_given_value(given, "output");
    *out = asked != NULL ? strdup(asked) : default_name(part);
    if (*out == NULL && asked == NULL)
        return vy_say_usage(given->command, "the name of %s says nothing of the log's: give it with -o",
                            part);
    if (*out == NULL) return vy_say_no_memory("recover");
    if (vy_file_is_stream(*out))
        return vy_say_usage(given->command, "a recovered log goes to a file, not to standard output");
    // What a killed run was to replace may be worth more than what it got.
    if (asked == NULL && access(*out, F_OK) == 0)
        return vy_say_usage(given->command, "there is a log %s already: give another name with -o", *out);
    return 0;
}

int vy_cmd_recover(const arguments *given)
{
    if (given->operand_count == 0)
        return vy_say_usage(given->command, "which log? For example: volery recover first-flight.mcap.part");
    const char *part = given->operands[0];
    char *to = NULL;
    vy_log_info info;
    vy_error error = {.status = VY_OK};
    int status = vy_file_check_input("recover", "log", part);
    if (status == 0) status = choose_name(given, &to);
    if (status == 0) status = vy_file_claim("recover", to, VY_FILE_RECOVERED);
    if (status == 0) {
        const vy_status made = vy_log_recover(part, to, &info, &error);
        if (made != VY_OK) status = vy_say_log_error("recover", part, made, &error);
    }
    if (status == 0 && !vy_given(given, "quiet"))
        printf("%s: %s at step %" PRIu64 " (%.3f s)\n", to, info.status, info.last_tick,
               (double)info.last_tick * info.dt);
    free(to);
    return status;
}
