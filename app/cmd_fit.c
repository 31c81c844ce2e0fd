// cmd_fit.c - volery fit: a vehicle file from a recorded flight.
#define _XOPEN_SOURCE 700 // realpath
#include "base/read_file.h"
#include "command.h"
#include "files.h"
#include "fit_report.h"
#include "load.h"
#include "message.h"
#include "record/file.h"
#include <stdlib.h>
#include <string.h>

#define MAPPING_MAX ((size_t)1 << 20)

static int is_preset(const char *name)
{
    for (int i = 0; vy_vehicle_preset_name(i) != NULL; ++i) {
        if (strcmp(vy_vehicle_preset_name(i), name) == 0) return 1;
    }
    return 0;
}

// The vehicle of a name or file, as a scenario would have it.
static int load_base(const char *base, vy_vehicle_def *out)
{
    char text[600];
    vy_scenario *scenario = NULL;
    vy_diagnostics diagnostics;
    if (strlen(base) > 400 || strpbrk(base, "'\n") != NULL)
        return vy_print_error("fit", EXIT_USAGE, "--vehicle %.40s: not a name that a file may have", base);
    const int size = snprintf(text, sizeof text, "volery: 1\ndrones: [{name: base, vehicle: '%s'}]\n", base);
    const vy_scenario_options options = {.load = vy_load_file};
    const vy_status status =
        vy_scenario_parse(text, (size_t)size, "--vehicle", &options, &scenario, &diagnostics);
    if (status == VY_OK) {
        *out = scenario->drones[0].def.vehicle;
    } else {
        vy_print_diagnostics(&diagnostics);
    }
    vy_scenario_destroy(scenario);
    const int exit_status =
        status == VY_OK
            ? 0
            : vy_print_error("fit", EXIT_USAGE, "--vehicle %s is no vehicle that can be read", base);
    vy_diagnostics_destroy(&diagnostics);
    return exit_status;
}

// The mapping's text: of a file, or as it was typed.
static int load_mapping(const char *mapping, char **out)
{
    size_t size;
    vy_error error;
    *out = NULL;
    if (mapping == NULL) return 0;
    if (!vy_file_is_regular(mapping) && strchr(mapping, '=') != NULL) {
        *out = strdup(mapping);
        return *out != NULL ? 0 : vy_print_no_memory("fit");
    }
    vy_file_is_input(mapping);
    const int input_status = vy_file_check_input("fit", "mapping", mapping);
    if (input_status != 0) return input_status;
    const vy_status status = vy_read_file_or_fail(mapping, MAPPING_MAX, out, &size, &error);
    return status == VY_OK ? 0 : vy_print_status("fit", status, &error);
}

// A mistake of a mapping in a file is told with the file's name.
static void name_mapping(const char *mapping, vy_error *error)
{
    if (mapping == NULL || !vy_file_is_regular(mapping) || strcmp(error->file, "mapping") != 0) return;
    snprintf(error->file, sizeof error->file, "%s", mapping);
}

static int parse_seconds(const arguments *args, const char *name, double *out)
{
    const char *text = vy_option_value(args, name);
    if (text == NULL) return 0;
    if (!vy_parse_number(text, out) || *out < 0.0)
        return vy_print_usage_error(args->command, "--%s needs a number of seconds, got %s", name, text);
    return 0;
}

static int parse_mass(const arguments *args, double *out)
{
    const char *text = vy_option_value(args, "mass");
    if (text == NULL)
        return vy_print_usage_error(args->command,
                                    "--mass KG is needed: motion tells ratios to the mass alone");
    if (!vy_parse_number(text, out) || !(*out > 0.0))
        return vy_print_usage_error(args->command, "--mass needs a number of kg above 0, got %s", text);
    return 0;
}

static int parse_aim(const arguments *args, vy_fit_aim *out)
{
    const char *text = vy_option_value(args, "for");
    if (text == NULL || strcmp(text, "parameters") == 0) return 0;
    *out = VY_FIT_FOR_PREDICTION;
    if (strcmp(text, "prediction") == 0) return 0;
    return vy_print_usage_error(args->command, "--for is parameters or prediction, got %s", text);
}

// A preset by its name, a file by its full path: the fitted vehicle may lie in another folder.
static int base_name(const char *base, char *out, size_t size)
{
    if (is_preset(base) && !vy_file_is_regular(base)) {
        snprintf(out, size, "%s", base);
        return 0;
    }
    char *full_path = realpath(base, NULL);
    const int is_used = full_path != NULL && strlen(full_path) < size;
    snprintf(out, size, "%s", is_used ? full_path : base);
    free(full_path);
    return is_used || is_preset(base)
               ? 0
               : vy_print_error("fit", EXIT_USAGE, "--vehicle %s: its path is too long", base);
}

static int write_vehicle(const char *path, const vy_fit_result *r)
{
    output out;
    const int status = vy_output_open("fit", path, &out);
    if (status != 0) return status;
    vy_fit_print(r, out.file);
    return vy_output_commit("fit", &out);
}

COMMAND(fit)
{
    const char *path = args->operands[0], *base = vy_option_value(args, "vehicle"),
               *output_path = vy_option_value(args, "output"), *page = vy_option_value(args, "page");
    vy_fit_def def = vy_default_fit_def();
    if (base == NULL)
        return vy_print_usage_error(args->command,
                                    "--vehicle BASE is needed: a preset or a vehicle file to start from");
    if (output_path == NULL)
        return vy_print_usage_error(args->command, "-o MY.yaml is needed: where the vehicle goes");
    char *mapping = NULL, name[VY_ERROR_FILE_CAP];
    vy_vehicle_def vehicle;
    vy_flight *flight = NULL;
    vy_fit_result *result = calloc(1, sizeof *result);
    vy_error error = {.status = VY_OK};
    int status = result == NULL ? vy_print_no_memory("fit") : parse_mass(args, &def.mass);
    if (status == 0) status = parse_aim(args, &def.aim);
    if (status == 0) status = parse_seconds(args, "from", &def.from);
    if (status == 0) status = parse_seconds(args, "to", &def.to);
    if (status == 0) status = vy_file_check_input("fit", "recorded flight", path);
    if (status == 0) status = load_mapping(vy_option_value(args, "mapping"), &mapping);
    if (status == 0) status = load_base(base, &vehicle);
    if (status == 0) status = base_name(base, name, sizeof name);
    if (status == 0) status = vy_file_claim("fit", output_path, VY_FILE_PART_SUFFIX);
    if (status == 0 && page != NULL) status = vy_file_claim("fit", page, VY_FILE_PART_SUFFIX);
    if (status == 0) {
        const vy_status read_status =
            vy_fit_read(path, mapping, vy_option_value(args, "drone"), &flight, &error);
        if (read_status != VY_OK) {
            name_mapping(vy_option_value(args, "mapping"), &error);
            status = vy_print_log_error("fit", path, read_status, &error);
        }
    }
    if (status == 0) {
        const vy_status solve_status = vy_fit_solve(flight, &vehicle, name, &def, result, &error);
        if (solve_status != VY_OK) status = vy_print_log_error("fit", path, solve_status, &error);
    }
    if (status == 0) status = write_vehicle(output_path, result);
    if (status == 0 && page != NULL) status = vy_fit_report_page(result, flight, path, page);
    if (status == 0 && vy_has_option(args, "json")) vy_fit_report_json(result, output_path, stdout);
    if (status == 0 && !vy_has_option(args, "json") && !vy_has_option(args, "quiet"))
        vy_fit_report_text(result, output_path, stdout);
    vy_flight_free(flight);
    free(mapping);
    free(result);
    return status;
}
