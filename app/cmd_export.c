// cmd_export.c - volery export: the records of a drone as comma-separated values.
#include "command.h"
#include "files.h"
#include "load.h"
#include "say.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int find_drone(const arguments *given, const vy_log *log, uint32_t *index)
{
    const char *name = vy_given_value(given, "drone");
    const uint32_t count = vy_log_get_info(log).drone_count;
    char names[400] = "";
    for (uint32_t i = 0; i < count; ++i) {
        const char *is = vy_log_drone_name(log, i);
        if (name != NULL && strcmp(is, name) == 0) {
            *index = i;
            return 0;
        }
        const size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "", is);
    }
    *index = 0;
    if (name == NULL && count == 1) return 0;
    if (name == NULL) return vy_say("export", EXIT_USAGE, "which drone? Give --drone with one of: %s", names);
    return vy_say("export", EXIT_USAGE, "the log holds no drone %s; it holds: %s", name, names);
}

// Part `text` at its commas; the pieces point into it.
static int split(char *text, const char **pieces)
{
    int count = 0;
    for (char *at = text; at != NULL;) {
        char *comma = strchr(at, ',');
        if (comma != NULL) *comma++ = '\0';
        pieces[count++] = at;
        at = comma;
    }
    return count;
}

static int export_to(const arguments *given, vy_log *log, uint32_t drone, const char *const *fields,
                     int count)
{
    const char *path = vy_given_value(given, "output");
    output out = {.file = stdout};
    if (path != NULL) {
        const int status = vy_output_open("export", path, &out);
        if (status != 0) return status;
    }
    vy_error error = {.status = VY_OK};
    errno = 0;
    const vy_status status = vy_log_export_csv(log, drone, fields, count, out.file, &error);
    if (ferror(out.file)) { // then the system's reason is the better one
        out.reason = errno;
    } else if (status != VY_OK) {
        if (path != NULL) vy_output_discard(&out);
        return vy_say_log_error("export", given->operands[0], status, &error);
    }
    if (path != NULL) return vy_output_commit("export", &out);
    return ferror(stdout) ? vy_say_unwritten("export", out.reason) : EXIT_DONE;
}

int vy_cmd_export(const arguments *given)
{
    if (given->operand_count == 0) {
        return vy_say_usage(given->command, "which log? For example: volery export first-flight.mcap --csv");
    }
    if (!vy_given(given, "csv")) return vy_say_usage(given->command, "say the format: --csv");
    const char *path = given->operands[0], *to = vy_given_value(given, "output");
    const char *asked = vy_given_value(given, "fields");
    char *text = asked != NULL ? strdup(asked) : NULL;
    const char **fields = calloc(asked != NULL ? strlen(asked) + 1 : 1, sizeof *fields);
    vy_log *log = NULL;
    uint32_t drone = 0;
    int status = fields == NULL || (asked != NULL && text == NULL) ? vy_say_no_memory("export") : 0;
    if (status == 0) status = vy_load_log("export", path, &log);
    if (status == 0 && to != NULL) status = vy_file_check_apart("export", path, to);
    if (status == 0) status = find_drone(given, log, &drone);
    if (status == 0) {
        const int count = text != NULL ? split(text, fields) : 0;
        status = export_to(given, log, drone, count > 0 ? fields : NULL, count);
    }
    vy_log_close(log);
    free(fields);
    free(text);
    return status;
}
