// cmd_export.c - volery export: the records of a drone as a table.
#include "command.h"
#include "fields.h"
#include "files.h"
#include "load.h"
#include "record/file.h"
#include "say.h"
#include <errno.h>
#include <unistd.h>

static int export_to(const char *log_path, const char *path, vy_log *log, const vy_export_def *def)
{
    output out = {.file = stdout};
    int reason = 0;
    if (path != NULL) {
        const int status = vy_output_open("export", path, &out);
        if (status != 0) return status;
    }
    vy_error error = {.status = VY_OK};
    errno = 0;
    const vy_status status = vy_log_export(log, def, out.file, &error);
    if (ferror(out.file)) { // then the system's reason is the better one
        reason = errno;
    } else if (status != VY_OK) {
        if (path != NULL) vy_output_discard(&out);
        const int told = vy_say_log_error("export", log_path, status, &error);
        if (status == VY_NOT_FOUND) vy_fields_list(log, def->drone);
        return told;
    }
    if (path != NULL) return vy_output_commit("export", &out);
    return ferror(stdout) ? vy_say_unwritten("export", reason) : EXIT_DONE;
}

static int read_options(const arguments *given, vy_export_def *def)
{
    const char *rate = vy_given_value(given, "rate");
    const int csv = vy_given(given, "csv"), parquet = vy_given(given, "parquet");
    if (csv == parquet)
        return vy_say_usage(given->command, "say %s: --csv or --parquet", csv ? "one format" : "the format");
    if (rate != NULL && (!vy_read_real(rate, &def->rate) || def->rate <= 0.0 || def->rate > 1e6))
        return vy_say_usage(given->command, "--rate needs a number of Hz above 0, at most 1e6, got %s", rate);
    if (parquet && vy_given_value(given, "output") == NULL && isatty(STDOUT_FILENO))
        return vy_say_usage(given->command, "a Parquet file is nothing to read on a terminal: give -o FILE");
    def->format = parquet ? VY_EXPORT_PARQUET : VY_EXPORT_CSV;
    return 0;
}

int vy_cmd_export(const arguments *given)
{
    if (given->operand_count == 0) {
        return vy_say_usage(given->command, "which log? For example: volery export first-flight.mcap --csv");
    }
    const char *path = given->operands[0], *to = vy_given_value(given, "output");
    vy_export_def def = vy_default_export_def();
    fields asked = {.count = 0};
    vy_log *log = NULL;
    int status = read_options(given, &def);
    if (status == 0) status = vy_fields_from("export", vy_given_value(given, "fields"), &asked);
    if (status == 0) status = vy_load_log("export", path, &log);
    if (status == 0 && to != NULL) status = vy_file_claim("export", to, VY_FILE_PART);
    if (status == 0) status = vy_drone_from(given, log, &def.drone);
    if (status == 0) {
        def.fields = asked.items;
        def.field_count = asked.count;
        status = export_to(path, to, log, &def);
    }
    vy_log_close(log);
    vy_fields_destroy(&asked);
    return status;
}
