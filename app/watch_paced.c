// watch_paced.c - a program that flies by itself and asks before it steps: what viewers want is said to it
// over standard input and output, on a thread of its own.
//
// It writes the time of the flight [s]; the answer is `go`, and it may make a stride, or `free`, and it need
// not ask for a while. Before that come `wait` once, where the answer takes as long as viewers want, and
// `inject WHAT KEYS`. What it could not inject it tells by `refused WHY`.
#include "command.h"
#include "load.h"
#include "message.h"
#include "watch_impl.h"
#include <ctype.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LOOK_PERIOD 0.02 // [s] between two looks at what viewers want

enum { LINE_CAP = 512 };

typedef struct paced_client {
    watch *watched;
    bool is_open;            // it has not closed its end
    bool is_asking, is_told; // for a stride at `time`; that it waits
    double time;             // [s]
    char line[LINE_CAP];     // as far as it came
    size_t size;
} paced_client;

static void parse_line(paced_client *a, const char *line)
{
    static const char refused[] = "refused ";
    if (strncmp(line, refused, sizeof refused - 1) == 0) {
        vy_watch_tell(a->watched, line + sizeof refused - 1);
    } else if (vy_parse_number(line, &a->time)) {
        a->is_asking = true;
        a->is_told = false;
    } else {
        (void)vy_print_error(
            a->watched->command, EXIT_USAGE,
            "--paced: a line is the time of the flight in seconds, or refused and why, got '%.60s'; "
            "the flight can only be watched from now on",
            line);
        a->is_open = false;
    }
}

// What has come, or comes within `seconds`.
static void read_input(paced_client *a, double seconds)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    if (poll(&input, 1, (int)ceil(1e3 * seconds)) <= 0) return;
    const ssize_t read_size = read(STDIN_FILENO, a->line + a->size, LINE_CAP - 1 - a->size);
    if (read_size <= 0) {
        a->is_open = false;
        return;
    }
    a->size += (size_t)read_size;
    a->line[a->size] = '\0';
    char *line_begin = a->line, *line_end;
    while (a->is_open && (line_end = strchr(line_begin, '\n')) != NULL) {
        *line_end = '\0';
        parse_line(a, line_begin);
        line_begin = line_end + 1;
    }
    a->size -= (size_t)(line_begin - a->line);
    memmove(a->line, line_begin, a->size);
    if (a->is_open && a->size == LINE_CAP - 1) parse_line(a, a->line);
}

// In one line.
static void put_injection(void *self, const char *what, const char *keys)
{
    (void)self;
    printf("inject %s ", what);
    for (; *keys != '\0'; ++keys) putchar(iscntrl((unsigned char)*keys) ? ' ' : *keys);
    putchar('\n');
}

// Returns how long nothing needs to be looked at [s].
static double answer(paced_client *a)
{
    if (!a->is_asking) return LOOK_PERIOD;
    if (a->time > 0.0) vy_watch_take_injections(a->watched, put_injection, a);
    const double ahead = vy_watch_ahead(a->watched, a->time);
    if (!(ahead > 0.0)) {
        puts(vy_watch_is_free(a->watched) ? "free" : "go");
        a->is_asking = false;
    } else if (isinf(ahead) && !a->is_told) {
        puts("wait");
        a->is_told = true;
    }
    if (fflush(stdout) != 0) a->is_open = false;
    return ahead > 0.0 && ahead < LOOK_PERIOD ? ahead : LOOK_PERIOD;
}

static void *serve(void *self)
{
    paced_client a = {.watched = self, .is_open = true};
    watch *w = a.watched;
    for (bool has_ended = false; a.is_open && !has_ended;) {
        const double wait_time = answer(&a);
        if (a.is_open) read_input(&a, wait_time);
        pthread_mutex_lock(&w->lock);
        has_ended = w->control.has_ended;
        pthread_mutex_unlock(&w->lock);
    }
    return NULL;
}

int vy_watch_answer(watch *w)
{
    sigset_t all_signals, old_mask;
    sigfillset(&all_signals);
    pthread_sigmask(SIG_SETMASK, &all_signals, &old_mask);
    const int failed = pthread_create(&w->paced_thread, NULL, serve, w);
    pthread_sigmask(SIG_SETMASK, &old_mask, NULL);
    if (failed) return vy_print_error(w->command, EXIT_SYSTEM, "--paced: no thread: %s", strerror(failed));
    w->has_paced_thread = true;
    return 0;
}
