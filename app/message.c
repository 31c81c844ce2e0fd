// message.c - sentences, exit statuses and colours.
#include "message.h"
#include "command.h"
#include "json.h"
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int prints_json;

void vy_set_json_errors(int is_on) { prints_json = is_on; }

static const vy_diagnostics *last_diagnostics; // for the next error
static char last_message[1024];
static char *last_context;

const char *vy_last_error(void) { return last_message; }
const char *vy_last_error_context(void) { return last_context != NULL ? last_context : ""; }

void vy_print_diagnostics(const vy_diagnostics *diagnostics)
{
    free(last_context);
    last_context = vy_diagnostics_print(diagnostics);
    if (last_context != NULL) fputs(last_context, stderr);
    last_diagnostics = diagnostics->errors > 0 ? diagnostics : NULL;
}

static void print_message(const char *name, const char *prefix, const char *format, va_list args)
{
    char text[sizeof last_message];
    vsnprintf(text, sizeof text, format, args);
    if (prefix[0] == '\0') memcpy(last_message, text, sizeof last_message);
    fflush(stdout); // earlier output comes first
    fprintf(stderr, "volery%s%s: %s%s\n", name != NULL ? " " : "", name != NULL ? name : "", prefix, text);
    if (prefix[0] != '\0') return;
    const vy_diagnostics *diagnostics = last_diagnostics;
    last_diagnostics = NULL;
    if (!prints_json) return;
    prints_json = 0; // one object
    json out = vy_json_begin(stdout);
    vy_json_text(&out, "status", "error");
    vy_json_text(&out, "command", name);
    vy_json_text(&out, "error", text);
    if (diagnostics != NULL) vy_json_diagnostics(&out, diagnostics);
    vy_json_end(&out);
}

int vy_print_error(const char *name, int exit_status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print_message(name, "", format, args);
    va_end(args);
    return exit_status;
}

int vy_print_usage_error(const command *cmd, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print_message(cmd != NULL ? cmd->name : NULL, "", format, args);
    va_end(args);
    return EXIT_USAGE;
}

void vy_print_warning(const char *name, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print_message(name, "warning: ", format, args);
    va_end(args);
}

static int lacks_memory;

void vy_note_no_memory(void) { lacks_memory = 1; }

int vy_print_no_memory(const char *name) { return vy_print_error(name, EXIT_SYSTEM, "out of memory"); }

int vy_print_status(const char *name, vy_status status, const vy_error *err)
{
    const int exit_status = status == VY_IO ? EXIT_SYSTEM : EXIT_USAGE;
    if (status == VY_NO_MEMORY) return vy_print_no_memory(name);
    const char *text = err->text[0] != '\0' ? err->text : vy_status_text(status);
    if (err->file[0] != '\0' && err->line > 0) {
        return vy_print_error(name, exit_status, "%s:%d:%d: %s", err->file, err->line, err->column, text);
    }
    if (err->file[0] != '\0' && strstr(text, err->file) == NULL) {
        return vy_print_error(name, exit_status, "%s: %s", err->file, text);
    }
    return vy_print_error(name, exit_status, "%s", text);
}

int vy_print_stdout_error(const char *name, int reason)
{
    static int is_reported;
    if (is_reported) return EXIT_SYSTEM;
    is_reported = 1;
    prints_json = 0;
    return vy_print_error(name, EXIT_SYSTEM, "could not write to standard output: %s",
                          strerror(reason != 0 ? reason : EIO));
}

int vy_flush_stdout(const char *name, int exit_status)
{
    errno = 0;
    const int failed = ferror(stdout);
    const int is_flushed = fflush(stdout) == 0 && !failed;
    if (is_flushed && lacks_memory && exit_status < EXIT_USAGE) {
        prints_json = 0; // one object
        return vy_print_no_memory(name);
    }
    if (is_flushed) return exit_status;
    // An earlier write has failed, and its reason is gone: a pipe without a reader can still be told.
    struct pollfd pipe = {.fd = STDOUT_FILENO, .events = POLLOUT};
    if (errno == 0 && poll(&pipe, 1, 0) == 1 && (pipe.revents & POLLERR) != 0) errno = EPIPE;
    return vy_print_stdout_error(name, errno);
}

int vy_colours(FILE *file)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    if (no_color != NULL && no_color[0] != '\0') return 0;
    if (term == NULL || strcmp(term, "dumb") == 0) return 0;
    return isatty(fileno(file));
}

palette vy_palette(FILE *file)
{
    if (!vy_colours(file)) return (palette){"", "", "", "", ""};
    return (palette){"\033[1m", "\033[2m", "\033[32m", "\033[1;31m", "\033[0m"};
}
