// cmd_view.c - volery view: one or two logs as a page that opens from disk, without a server or a network.
#include "base64.h"
#include "command.h"
#include "difference.h"
#include "files.h"
#include "load.h"
#include "page.h"
#include "page_data.h"
#include "page_info.h"
#include "record/file.h"
#include "message.h"
#include "volery/version.h"
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { RUN_CAP = 2, MEGABYTE = 1000 * 1000, SIZE_MAX_MB = 50 };

typedef struct runs {
    int count;
    const char *paths[RUN_CAP];
    vy_log *logs[RUN_CAP];
    page_data data[RUN_CAP];
    vy_difference difference; // of two
} runs;

static int put_data(FILE *out, const runs *s)
{
    int status = 0;
    fputs("<script type=\"application/json\" id=\"volery-info\">", out);
    json j = vy_json_begin(out);
    vy_json_text(&j, "volery", VY_VERSION);
    vy_json_list(&j, "runs");
    for (int i = 0; i < s->count && status == 0; ++i) {
        vy_json_object(&j, NULL);
        status = vy_page_info(&j, s->paths[i], s->logs[i], &s->data[i]);
        vy_json_close(&j);
    }
    vy_json_close(&j);
    if (s->count > 1) {
        vy_json_object(&j, "comparison");
        vy_json_bool(&j, "identical", !s->difference.found);
        vy_difference_json(&s->difference, vy_log_get_info(s->logs[0]).dt, &j);
        vy_json_close(&j);
    }
    vy_json_end(&j);
    fputs("</script>\n", out);
    for (int i = 0; i < s->count; ++i) {
        fprintf(out, "<script type=\"text/plain\" id=\"volery-log-%d\">", i);
        vy_put_base64(out, s->data[i].bytes, s->data[i].size);
        fputs("</script>\n", out);
    }
    return status;
}

static int write_page(const runs *s, const char *path)
{
    char *page_text = NULL;
    output out;
    int status = vy_page_load("view", &page_text);
    if (status == 0) status = vy_output_open("view", path, &out);
    if (status != 0) {
        free(page_text);
        return status;
    }
    const char *data_mark = strstr(page_text, PAGE_DATA_MARK);
    fwrite(page_text, 1, (size_t)(data_mark - page_text), out.file);
    status = put_data(out.file, s);
    fputs(data_mark + strlen(PAGE_DATA_MARK), out.file);
    free(page_text);
    if (status != 0) {
        vy_output_discard(&out);
        return status;
    }
    return vy_output_commit("view", &out);
}

static int read_size(const arguments *args, size_t *limit)
{
    const char *text = vy_option_value(args, "size");
    double megabytes = SIZE_MAX_MB;
    if (text != NULL && (!vy_parse_number(text, &megabytes) || megabytes < 2.0 || megabytes > SIZE_MAX_MB)) {
        return vy_print_usage_error(args->command, "--size needs a number of MB from 2 to %d, got %s",
                                    SIZE_MAX_MB, text);
    }
    *limit = (size_t)(megabytes * MEGABYTE) - MEGABYTE; // the page itself takes less than one
    return 0;
}

// What the page says of a run takes room, too: of a thousand drones ten megabytes.
static int measure_info(const char *path, vy_log *log, size_t *size)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, size);
    if (out == NULL) return vy_print_no_memory("view");
    const page_data no_data = {.truth_stride = 1, .other_stride = 1};
    json j = vy_json_begin(out);
    int status = vy_page_info(&j, path, log, &no_data);
    vy_json_end(&j);
    if (fclose(out) != 0 && status == 0) status = vy_print_no_memory("view");
    free(text);
    return status;
}

static int load_runs(const arguments *args, size_t limit, runs *s)
{
    vy_error error = {.status = VY_OK};
    const size_t run_limit = limit / (size_t)args->operand_count; // [bytes] of each run
    for (int i = 0; i < args->operand_count; ++i) {
        s->paths[i] = args->operands[i];
        int status = vy_load_log("view", s->paths[i], &s->logs[i]);
        if (status != 0) return status;
        s->count += 1;
        size_t info_size = 0;
        status = measure_info(s->paths[i], s->logs[i], &info_size);
        if (status != 0) return status;
        const size_t room = run_limit > info_size + MEGABYTE ? run_limit - info_size : MEGABYTE;
        const vy_status make_status = vy_page_data_make(s->logs[i], room, &s->data[i], &error);
        if (make_status != VY_OK) return vy_print_log_error("view", s->paths[i], make_status, &error);
    }
    if (s->count < 2) return 0;
    const vy_status compare_status = vy_log_compare(s->logs[0], s->logs[1], &s->difference, &error);
    return compare_status == VY_OK ? 0 : vy_print_log_error("view", s->paths[1], compare_status, &error);
}

// RUN.mcap -> RUN.html, in the log's folder.
static char *default_page(const char *log)
{
    const char *slash = strrchr(log, '/');
    const char *file_name = slash != NULL ? slash + 1 : log;
    const char *extension = strstr(file_name, ".mcap");
    const size_t length =
        extension != NULL && extension != file_name ? (size_t)(extension - log) : strlen(log);
    char *out = malloc(length + sizeof ".html");
    if (out != NULL) snprintf(out, length + sizeof ".html", "%.*s.html", (int)length, log);
    return out;
}

static int open_page(const char *path)
{
    extern char **environ;
    char *words[] = {"xdg-open", (char *)path, NULL}; // posix_spawn does not write to it
    pid_t child;
    int wait_status = 0;
    if (posix_spawnp(&child, words[0], NULL, NULL, words, environ) != 0 ||
        waitpid(child, &wait_status, 0) < 0 || !WIFEXITED(wait_status) || WEXITSTATUS(wait_status) != 0) {
        return vy_print_error("view", EXIT_SYSTEM,
                              "xdg-open could not open %s; open it in a browser yourself", path);
    }
    return 0;
}

static void print_written(const runs *s, const char *path)
{
    for (int i = 0; i < s->count; ++i) {
        const page_data *d = &s->data[i];
        if (d->truth_stride > 1 || d->other_stride > 1) {
            vy_print_warning(
                "view",
                "%s is thinned to fit the page: every %lu. record of where drones are, every %lu. of "
                "the rest",
                s->paths[i], (unsigned long)d->truth_stride, (unsigned long)d->other_stride);
        }
    }
    if (vy_file_is_stream(path)) return;
    printf("%s\n", path);
    fprintf(stderr, "volery view: open it in a browser, or let --open do it\n");
}

static int view(const arguments *args, const char *path, runs *s)
{
    size_t limit = 0;
    int status = read_size(args, &limit);
    if (status == 0 && vy_file_is_stream(path) && vy_has_option(args, "open"))
        status = vy_print_usage_error(args->command, "--open needs a page in a file, not on standard output");
    for (int i = 0; i < args->operand_count; ++i) vy_file_is_input(args->operands[i]);
    if (status == 0) status = vy_file_claim("view", path, VY_FILE_PART_SUFFIX);
    if (status == 0) status = load_runs(args, limit, s);
    if (status == 0) status = write_page(s, path);
    if (status == 0 && !vy_has_option(args, "quiet")) print_written(s, path);
    if (status == 0 && vy_has_option(args, "open")) status = open_page(path);
    return status;
}

COMMAND(view)
{
    if (args->operand_count == 0) {
        return vy_print_usage_error(args->command, "which log? For example: volery view first-flight.mcap");
    }
    const char *requested_path = vy_option_value(args, "output");
    char *path = requested_path != NULL ? strdup(requested_path) : default_page(args->operands[0]);
    if (path == NULL) return vy_print_no_memory("view");
    runs s = {.count = 0};
    const int status = view(args, path, &s);
    for (int i = 0; i < RUN_CAP; ++i) {
        vy_page_data_destroy(&s.data[i]);
        vy_log_close(s.logs[i]);
    }
    free(path);
    return status;
}
