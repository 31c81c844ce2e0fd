// cmd_watch.c - volery watch: a flight that another program records, watched while its log is written.
//
// What is new in the log is read as it grows and handed to viewers, as a run of our own does it.
#include "command.h"
#include "files.h"
#include "load.h"
#include "message.h"
#include "progress.h"
#include "record/file.h"
#include "signals.h"
#include "watch.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define POLL_PERIOD     0.25 // [s] between two looks at the log
#define POLL_COST_RATIO 4.0  // and so many times what the last one took

typedef struct follower {
    watch *watched;
    char *part_path, *log_path; // the log while it is written, and at its end
    watch_cursor cursor;        // up to where it was read
    vy_log_info info;
} follower;

static char *concatenate(const char *a, size_t size, const char *b)
{
    char *out = malloc(size + strlen(b) + 1);
    if (out != NULL) sprintf(out, "%.*s%s", (int)size, a, b);
    return out;
}

// RUN.mcap and RUN.mcap.part mean the same flight.
static int name_files(const char *path, follower *f)
{
    const size_t suffix_size = strlen(VY_FILE_PART_SUFFIX), size = strlen(path);
    const int is_part = size > suffix_size && strcmp(path + size - suffix_size, VY_FILE_PART_SUFFIX) == 0;
    const size_t stem_size = is_part ? size - suffix_size : size;
    f->log_path = concatenate(path, stem_size, "");
    f->part_path = concatenate(path, stem_size, VY_FILE_PART_SUFFIX);
    return f->log_path != NULL && f->part_path != NULL ? 0 : vy_print_no_memory("watch");
}

static void sleep_for(double seconds)
{
    const struct timespec pause = {.tv_sec = (time_t)seconds,
                                   .tv_nsec = (long)(1e9 * (seconds - (double)(time_t)seconds))};
    (void)nanosleep(&pause, NULL); // a signal ends it early
}

// Until the log has been given its final name, or a signal comes.
static int follow(follower *f)
{
    vy_error error = {.status = VY_OK};
    while (vy_signals_seen() == 0) {
        const double poll_start = vy_wall_clock();
        const int is_written = access(f->part_path, F_OK) == 0;
        const vy_status status = vy_watch_read_log(f->watched, is_written ? f->part_path : f->log_path,
                                                   &f->cursor, &f->info, &error);
        if (status == VY_OK && !is_written) return 0;
        if (status != VY_OK && !is_written && access(f->part_path, F_OK) != 0)
            return vy_print_log_error("watch", f->log_path, status, &error);
        const double pause = POLL_COST_RATIO * (vy_wall_clock() - poll_start);
        sleep_for(pause > POLL_PERIOD ? pause : POLL_PERIOD);
    }
    return vy_signals_exit(vy_signals_seen());
}

static int watch_log(const arguments *args, int port, follower *f)
{
    int status = name_files(args->operands[0], f);
    if (status != 0) return status;
    const int is_written = access(f->part_path, F_OK) == 0;
    if (!is_written) {
        status = vy_file_check_input("watch", "log", f->log_path);
        return status != 0 ? status
                           : vy_print_error("watch", EXIT_USAGE,
                                            "%s is complete, no program is writing it: volery view shows it",
                                            f->log_path);
    }
    status = vy_watch_open("watch", vy_option_value(args, "address"), port, 1, &f->watched);
    const int is_paced = vy_has_option(args, "paced");
    if (status == 0) status = vy_watch_follow(f->watched, f->part_path, f->log_path, is_paced);
    if (status == 0 && is_paced) status = vy_watch_answer(f->watched);
    vy_signals_catch();
    if (status == 0) status = follow(f);
    vy_watch_end(f->watched, status == 0 ? f->info.status : NULL, f->info.final_hash);
    return status;
}

COMMAND(watch)
{
    uint64_t port = 0;
    const char *port_text = vy_option_value(args, "port");
    if (args->operand_count == 0)
        return vy_print_usage_error(args->command, "which log? For example: volery watch run.mcap");
    if (port_text != NULL && (!vy_parse_uint(port_text, &port) || port > 65535))
        return vy_print_usage_error(args->command, "--port needs a whole number from 0 to 65535, got %s",
                                    port_text);
    follower f = {.watched = NULL};
    const int status = watch_log(args, (int)port, &f);
    free(f.part_path);
    free(f.log_path);
    return status;
}
