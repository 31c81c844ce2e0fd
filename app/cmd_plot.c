// cmd_plot.c - volery plot: signals of a log as a figure, SVG, PNG or PDF.
#include "command.h"
#include "fields.h"
#include "files.h"
#include "load.h"
#include "plot_data.h"
#include "record/file.h"
#include "message.h"
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 560, PANEL = 104 }; // [points]

static int read_number(const arguments *args, const char *name, double low, double high, double *out)
{
    const char *text = vy_option_value(args, name);
    if (text == NULL) return 0;
    if (vy_parse_number(text, out) && *out >= low && *out <= high) return 0;
    return vy_print_usage_error(args->command, "--%s needs a number from %g to %g, got %s", name, low, high,
                                text);
}

static int ends_with(const char *text, const char *suffix)
{
    const size_t size = strlen(text), suffix_size = strlen(suffix);
    return size > suffix_size && strcmp(text + size - suffix_size, suffix) == 0;
}

// Can there be a figure of that name?
static int check_ending(const arguments *args, const char *path)
{
    if (ends_with(path, ".svg")) return 0;
    if (!ends_with(path, ".png") && !ends_with(path, ".pdf"))
        return vy_print_usage_error(args->command, "a figure is an .svg, .png or .pdf file, got %s", path);
    if (vy_canvas_has_cairo()) return 0;
    return vy_print_error(
        "plot", EXIT_USAGE,
        "%s needs cairo, which this volery was built without: install libcairo2-dev and build it "
        "again, or draw an .svg",
        path);
}

static int write_figure(const char *path, double scale, const figure *f)
{
    output out;
    const int status = vy_output_open("plot", path, &out);
    if (status != 0) return status;
    canvas *c = ends_with(path, ".png")   ? vy_canvas_png(out.file, f->width, scale)
                : ends_with(path, ".pdf") ? vy_canvas_pdf(out.file, f->width)
                                          : vy_canvas_svg(out.file, f->width);
    const int is_drawn = c != NULL && vy_figure_draw(f, c);
    const canvas_status close_status = c != NULL ? vy_canvas_close(c) : CANVAS_NO_MEMORY;
    const canvas_status draw_status = is_drawn ? close_status : CANVAS_NO_MEMORY;
    if (draw_status == CANVAS_DONE) return vy_output_commit("plot", &out);
    vy_output_discard(&out);
    if (draw_status == CANVAS_NO_MEMORY) return vy_print_no_memory("plot");
    return vy_print_error(
        "plot", EXIT_USAGE,
        "%s would have more than 32767 pixels a side, which is too many for cairo: give a smaller "
        "--scale, --width or --panel",
        path);
}

// What is shown, and how large.
static int read_frame(const arguments *args, const vy_log *log, figure *f)
{
    const vy_log_info info = vy_log_get_info(log);
    const double log_start = (double)info.first_tick * info.dt, log_end = (double)info.last_tick * info.dt;
    f->from = log_start;
    f->to = log_end;
    f->width = WIDTH;
    f->panel_height = PANEL;
    f->dark = vy_has_option(args, "dark");
    int status = read_number(args, "from", -1e12, 1e12, &f->from);
    if (status == 0) status = read_number(args, "to", -1e12, 1e12, &f->to);
    if (status == 0) status = read_number(args, "width", 200.0, 4000.0, &f->width);
    if (status == 0) status = read_number(args, "panel", 30.0, 2000.0, &f->panel_height);
    if (status == 0 && !(f->to > f->from && f->to > log_start && f->from < log_end))
        status = vy_print_usage_error(
            args->command, "there is nothing between %g s and %g s; the log goes from %g s to %g s", f->from,
            f->to, log_start, log_end);
    return status;
}

static int make_figure(const arguments *args, vy_log *log, uint32_t drone, figure *f)
{
    const char *path = args->operands[0], *slash = strrchr(path, '/');
    const char **panels = calloc((size_t)args->option_count + 1, sizeof *panels);
    if (panels == NULL) return vy_print_no_memory("plot");
    int count = 0;
    for (int i = 0; i < args->option_count; ++i) {
        if (strcmp(args->options[i].option->name, "signals") == 0) panels[count++] = args->options[i].value;
    }
    snprintf(f->title, sizeof f->title, "%.60s, %.40s, seed %llu", slash != NULL ? slash + 1 : path,
             vy_log_name(log, drone), (unsigned long long)vy_log_get_info(log).seed);
    vy_error error = {.status = VY_OK};
    const vy_status status = vy_plot_fill(log, drone, panels, count, f, &error);
    free(panels);
    if (status == VY_OK) return 0;
    const int exit_status = vy_print_log_error("plot", path, status, &error);
    if (status == VY_NOT_FOUND) vy_fields_list(log, drone);
    return exit_status;
}

// RUN.mcap -> RUN.svg, beside the log.
static char *default_name(const char *log)
{
    const size_t length = ends_with(log, ".mcap") ? strlen(log) - 5 : strlen(log);
    char *out = malloc(length + sizeof ".svg");
    if (out != NULL) snprintf(out, length + sizeof ".svg", "%.*s.svg", (int)length, log);
    return out;
}

COMMAND(plot)
{
    if (args->operand_count == 0)
        return vy_print_usage_error(args->command, "which log? For example: volery plot first-flight.mcap");
    const char *log_path = args->operands[0], *requested_path = vy_option_value(args, "output");
    char *path = requested_path != NULL ? strdup(requested_path) : default_name(log_path);
    figure *f = calloc(1, sizeof *f);
    vy_log *log = NULL;
    uint32_t drone = 0;
    double scale = 3.0;
    int status = path == NULL || f == NULL ? vy_print_no_memory("plot") : 0;
    if (status == 0) status = check_ending(args, path);
    if (status == 0) status = read_number(args, "scale", 0.5, 10.0, &scale);
    if (status == 0) status = vy_load_log("plot", log_path, &log);
    if (status == 0) status = vy_file_claim("plot", path, VY_FILE_PART_SUFFIX);
    if (status == 0) status = vy_parse_drone(args, log, &drone);
    if (status == 0) status = read_frame(args, log, f);
    if (status == 0) status = make_figure(args, log, drone, f);
    if (status == 0) status = write_figure(path, scale, f);
    if (status == 0) printf("%s\n", path);
    vy_log_close(log);
    if (f != NULL) vy_plot_release(f);
    free(f);
    free(path);
    return status;
}
