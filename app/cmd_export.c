// cmd_export.c - volery export: the records of a drone as a table.
#include "command.h"
#include "fields.h"
#include "files.h"
#include "load.h"
#include "record/file.h"
#include "message.h"
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
        const int exit_status = vy_print_log_error("export", log_path, status, &error);
        if (status == VY_NOT_FOUND) vy_fields_list(log, def->body);
        return exit_status;
    }
    if (path != NULL) return vy_output_commit("export", &out);
    return ferror(stdout) ? vy_print_stdout_error("export", reason) : EXIT_DONE;
}

static int read_options(const arguments *args, vy_export_def *def)
{
    const char *rate_text = vy_option_value(args, "rate");
    static const char *const names[] = {"csv", "parquet", "kml", "gpx"}; // as vy_export_format has them
    int format_count = 0, is_parquet = 0;
    for (int i = 0; i < 4; ++i) {
        if (!vy_has_option(args, names[i])) continue;
        format_count += 1;
        def->format = (vy_export_format)i;
        is_parquet = def->format == VY_EXPORT_PARQUET;
    }
    if (format_count != 1)
        return vy_print_usage_error(args->command, "say %s: --csv, --parquet, --kml or --gpx",
                                    format_count > 1 ? "one format" : "the format");
    if (def->format >= VY_EXPORT_KML && vy_option_value(args, "fields") != NULL)
        return vy_print_usage_error(args->command, "--%s is of the path alone: it takes no --fields",
                                    names[def->format]);
    if (rate_text != NULL && (!vy_parse_number(rate_text, &def->rate) || def->rate <= 0.0 || def->rate > 1e6))
        return vy_print_usage_error(args->command, "--rate needs a number of Hz above 0, at most 1e6, got %s",
                                    rate_text);
    if (is_parquet && vy_option_value(args, "output") == NULL && isatty(STDOUT_FILENO))
        return vy_print_usage_error(args->command,
                                    "a Parquet file cannot be shown on a terminal: give -o FILE");
    return 0;
}

// The date of the run, if its scenario has one.
static double date_of(vy_log *log)
{
    vy_scenario *scenario = NULL;
    vy_diagnostics diagnostics;
    double date = 0.0;
    if (vy_scenario_from_log(log, "log", NULL, 0, &scenario, &diagnostics) == VY_OK)
        date = scenario->environment.planet.origin.date;
    vy_diagnostics_destroy(&diagnostics);
    vy_scenario_destroy(scenario);
    return date;
}

COMMAND(export)
{
    if (args->operand_count == 0) {
        return vy_print_usage_error(args->command,
                                    "which log? For example: volery export first-flight.mcap --csv");
    }
    const char *path = args->operands[0], *output_path = vy_option_value(args, "output");
    vy_export_def def = vy_default_export_def();
    fields requested_fields = {.count = 0};
    vy_log *log = NULL;
    int status = read_options(args, &def);
    if (status == 0) status = vy_parse_fields("export", vy_option_value(args, "fields"), &requested_fields);
    if (status == 0) status = vy_load_log("export", path, &log);
    if (status == 0 && output_path != NULL)
        status = vy_file_claim("export", output_path, VY_FILE_PART_SUFFIX);
    if (status == 0) status = vy_parse_drone(args, log, &def.body);
    if (status == 0) {
        def.fields = requested_fields.items;
        def.field_count = requested_fields.count;
        if (def.format == VY_EXPORT_GPX) def.date = date_of(log);
        status = export_to(path, output_path, log, &def);
    }
    vy_log_close(log);
    vy_fields_destroy(&requested_fields);
    return status;
}
