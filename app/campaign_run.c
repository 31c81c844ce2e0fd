// campaign_run.c - flying a campaign's shards, each in a process of its own, as many at a time as there are
// cores.
//
// A process that dies takes nothing with it but its shard. That is flown once more with every case in a
// process of its own; a case whose process dies twice has that as its result.
#define _GNU_SOURCE // sched_getaffinity, MAP_ANONYMOUS
#include "campaign.h"
#include "campaign/score.h"
#include "campaign/statistics.h"
#include "command.h"
#include "load.h"
#include "message.h"
#include "progress.h"
#include "signals.h"
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    JOBS_MAX = 1024,
    SHARDS_MAX = 100000,
    SHARD_CASES = 1000,   // of a shard at most, if nobody asks for another size
    SHARD_CASES_FEW = 16, // at least
    SHARDS_ENOUGH = 256,  // in between: so that no core waits long for the last one
    ATTEMPTS = 2,         // of a case whose process dies
    POLL_MS = 200,
};

typedef struct worker {
    pid_t pid; // 0: idle
    uint64_t shard;
    int careful; // every case has a process of its own
} worker;

typedef struct runner {
    campaign *c;
    worker *workers;
    int jobs, running;
    uint8_t *state;          // of each shard: see below
    volatile uint64_t *done; // [jobs] cases of the shard in flight, shared with the processes
    uint64_t cases_done;     // in shards that are whole, those of earlier runs included
    uint64_t cases_before;   // of earlier runs
    uint64_t last_case;      // beyond it nothing is flown
    int failed;              // exit status of a shard that could not be written
    int signal;
    double start, next;
    vy_stop_look looks[VY_PLAN_LOOK_CAP];                  // of the plan's stop rule
    int stops;                                             // it has one
    uint64_t prefix_shards, prefix_cases, prefix_failures; // complete from the first case on
    int enough;                                            // a look has accepted
} runner;

enum { SHARD_MISSING, SHARD_DIED, SHARD_IN_FLIGHT, SHARD_THERE };

// --- in the process of a shard

// One case in a process of its own. Its row is in memory that both share.
static int fly_alone(vy_plan *plan, const vy_case *c, double *shared, double *row)
{
    const size_t size = vy_row_cells(plan) * sizeof(double);
    int status = 0;
    for (int attempt = 0; attempt < ATTEMPTS; ++attempt) {
        const pid_t child = fork();
        if (child < 0) return vy_print_error("campaign", EXIT_SYSTEM, "no process: %s", strerror(errno));
        if (child == 0) _exit(vy_campaign_fly_case(plan, c, NULL, shared));
        while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
        }
        if (vy_signals_seen() != 0) return vy_signals_exit(vy_signals_seen());
        if (WIFEXITED(status)) {
            memcpy(row, shared, size);
            return WEXITSTATUS(status);
        }
    }
    vy_campaign_killed_row(plan, c, WTERMSIG(status), row);
    return 0;
}

static int fly_carefully(vy_plan *plan, uint64_t first, uint64_t last, double *rows, volatile uint64_t *done)
{
    const size_t cells = vy_row_cells(plan), size = cells * sizeof(double);
    double *shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) return vy_print_no_memory("campaign");
    int status = 0;
    for (uint64_t i = first; i < last && status == 0; ++i, ++*done) {
        vy_case c;
        vy_plan_case(plan, i, &c);
        status = fly_alone(plan, &c, shared, rows + (i - first) * cells);
    }
    (void)munmap(shared, size);
    return status;
}

// The whole life of a process: fly a shard, write it, end.
static int fly_shard(const campaign *c, uint64_t shard, int careful, volatile uint64_t *done)
{
    uint64_t first, last;
    vy_shard_range(c->plan, shard, c->shards, &first, &last);
    double *rows = calloc((size_t)(last - first) + 1, vy_row_cells(c->plan) * sizeof *rows);
    char *path = vy_campaign_shard_path(c, shard);
    char suffix[80], host[32] = "";
    if (rows == NULL || path == NULL) return vy_print_no_memory("campaign");
    int status = careful ? fly_carefully(c->plan, first, last, rows, done)
                         : vy_campaign_fly_range(c->plan, first, last, rows, done);
    if (status == 0) {
        vy_error err = {.status = VY_OK};
        (void)gethostname(host, sizeof host - 1);
        snprintf(suffix, sizeof suffix, ".%s.%ld.part", host, (long)getpid());
        const vy_status written = vy_shard_write(path, suffix, c->plan, shard, c->shards, rows, &err);
        if (written != VY_OK) status = vy_print_status("campaign", written, &err);
    }
    free(path);
    free(rows);
    return status;
}

// --- around them

static int start_worker(runner *r, int slot, uint64_t shard)
{
    const int careful = r->state[shard] == SHARD_DIED;
    r->done[slot] = 0;
    fflush(stderr);
    const pid_t child = fork();
    if (child < 0) return vy_print_error("campaign", EXIT_SYSTEM, "no process: %s", strerror(errno));
    if (child == 0) {
        sigset_t none;
        sigemptyset(&none);
        vy_signals_catch();
        sigprocmask(SIG_SETMASK, &none, NULL);
        vy_set_json_errors(0); // stdout is the other process's
        _exit(fly_shard(r->c, shard, careful, &r->done[slot]));
    }
    r->workers[slot] = (worker){.pid = child, .shard = shard, .careful = careful};
    r->state[shard] = SHARD_IN_FLIGHT;
    ++r->running;
    return 0;
}

static uint64_t shard_size(const campaign *c, uint64_t shard)
{
    uint64_t first, last;
    vy_shard_range(c->plan, shard, c->shards, &first, &last);
    return last - first;
}

// Look at the cases that are complete from the first one on: is the rule met at one of its sizes?
static void look(runner *r)
{
    const campaign *c = r->c;
    const size_t cells = vy_row_cells(c->plan);
    while (r->stops && !r->enough && r->prefix_shards < c->shards &&
           r->state[r->prefix_shards] == SHARD_THERE) {
        double *rows = NULL;
        vy_error err;
        char *path = vy_campaign_shard_path(c, r->prefix_shards);
        const int good =
            path != NULL && vy_shard_read(path, c->plan, r->prefix_shards, c->shards, &rows, &err) == VY_OK;
        free(path);
        if (!good) return; // merge will say why
        for (uint64_t k = 0; k < shard_size(c, r->prefix_shards) && !r->enough; ++k) {
            r->prefix_cases += 1;
            r->prefix_failures += (uint64_t)vy_case_failed(vy_row_result(rows + k * cells));
            for (int i = 0; i < c->plan->stop.look_count; ++i)
                r->enough |=
                    r->looks[i].cases == r->prefix_cases && (int64_t)r->prefix_failures <= r->looks[i].accept;
        }
        free(rows);
        r->prefix_shards += 1;
    }
}

// A process has ended.
static void end_worker(runner *r, int slot, int status)
{
    worker *w = &r->workers[slot];
    const uint64_t shard = w->shard;
    w->pid = 0;
    r->done[slot] = 0;
    --r->running;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        r->state[shard] = SHARD_THERE;
        r->cases_done += shard_size(r->c, shard);
        return;
    }
    r->state[shard] = SHARD_MISSING;
    if (r->signal != 0 || r->failed != 0) return;
    if (WIFEXITED(status)) {
        r->failed = WEXITSTATUS(status) >= 128 ? EXIT_SYSTEM : WEXITSTATUS(status);
    } else if (w->careful) {
        vy_print_error("campaign", EXIT_SYSTEM,
                       "the process of shard %" PRIu64 " was killed twice (signal %d)", shard,
                       WTERMSIG(status));
        r->failed = EXIT_SYSTEM;
    } else {
        vy_print_warning("campaign",
                         "the process of shard %" PRIu64
                         " was killed (signal %d); it is flown again, each case in a process of its own",
                         shard, WTERMSIG(status));
        r->state[shard] = SHARD_DIED;
    }
}

static void reap(runner *r)
{
    int status;
    for (pid_t pid; r->running > 0 && (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
        for (int i = 0; i < r->jobs; ++i)
            if (r->workers[i].pid == pid) end_worker(r, i, status);
    }
}

static void show_progress(runner *r, int end)
{
    const char *term = getenv("TERM");
    const int able = !r->c->quiet && isatty(STDERR_FILENO) && term != NULL && strcmp(term, "dumb") != 0;
    const double now = vy_wall_clock();
    if (!able || (now < r->next && !end)) return;
    r->next = now + 0.5;
    uint64_t done = r->cases_done;
    for (int i = 0; i < r->jobs; ++i) done += r->done[i];
    const double rate = (double)(done - r->cases_before) / (now - r->start + 1e-9);
    const double left = rate > 0.0 ? (double)(r->last_case - done) / rate : 0.0;
    if (end)
        fputs("\r\033[K", stderr);
    else
        fprintf(stderr, "\r\033[K%3.0f %%  %" PRIu64 " of %" PRIu64 " cases  %.0f a second  %.0f s left",
                100.0 * (double)done / (double)r->last_case, done, r->last_case, rate, left);
    fflush(stderr);
}

static void stop_workers(runner *r, int signal)
{
    for (int i = 0; i < r->jobs; ++i)
        if (r->workers[i].pid > 0) (void)kill(r->workers[i].pid, signal);
}

// The next shard to fly: one that died first. 0: none is left.
static int next_shard(const runner *r, const uint64_t *list, uint64_t count, uint64_t *from, uint64_t *shard)
{
    for (uint64_t i = 0; i < *from; ++i) {
        if (r->state[list[i]] != SHARD_DIED) continue;
        *shard = list[i];
        return 1;
    }
    while (*from < count && r->state[list[*from]] != SHARD_MISSING) ++*from;
    if (*from == count) return 0;
    *shard = list[(*from)++];
    return 1;
}

static void fly_shards(runner *r, const uint64_t *list, uint64_t count)
{
    sigset_t waited;
    uint64_t from = 0, shard = 0;
    sigemptyset(&waited);
    static const int signals[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP};
    for (int i = 0; i < 4; ++i) sigaddset(&waited, signals[i]);
    sigprocmask(SIG_BLOCK, &waited, NULL);
    for (;;) {
        for (int i = 0; i < r->jobs && r->signal == 0 && r->failed == 0 && !r->enough; ++i) {
            if (r->workers[i].pid != 0) continue;
            if (!next_shard(r, list, count, &from, &shard)) break;
            r->failed = start_worker(r, i, shard);
        }
        if (r->running == 0) break;
        const struct timespec pause = {.tv_nsec = POLL_MS * 1000000L};
        const int got = sigtimedwait(&waited, NULL, &pause);
        if (got == SIGINT || got == SIGTERM || got == SIGHUP) {
            r->signal = got;
            stop_workers(r, SIGTERM);
        }
        reap(r);
        look(r);
        if (r->failed != 0) stop_workers(r, SIGTERM);
        show_progress(r, 0);
    }
    show_progress(r, 1);
    sigprocmask(SIG_UNBLOCK, &waited, NULL);
}

static int jobs_of(const campaign *c, int *jobs)
{
    cpu_set_t set;
    uint64_t count = 1;
    const char *given = vy_option_value(c->given, "jobs");
    if (given != NULL) {
        if (!vy_parse_uint(given, &count) || count < 1 || count > JOBS_MAX)
            return vy_print_usage_error(c->given->command, "--jobs needs a whole number from 1 to %d, got %s",
                                        JOBS_MAX, given);
    } else if (sched_getaffinity(0, sizeof set, &set) == 0) {
        count = (uint64_t)CPU_COUNT(&set);
    }
    *jobs = count < JOBS_MAX ? (int)count : JOBS_MAX;
    return 0;
}

// How many shards a folder starts with.
static int first_count(const campaign *c, uint64_t size, uint64_t *count)
{
    const uint64_t cases = (uint64_t)c->plan->cases;
    const char *given = vy_option_value(c->given, "shards");
    *count = (cases + SHARD_CASES - 1) / SHARD_CASES;
    if (*count < SHARDS_ENOUGH) {
        const uint64_t fine = (cases + SHARD_CASES_FEW - 1) / SHARD_CASES_FEW;
        *count = fine < SHARDS_ENOUGH ? fine : SHARDS_ENOUGH;
    }
    if (size > 0) *count = size;
    if (c->plan->shards > 0) *count = (uint64_t)c->plan->shards;
    if (given != NULL && (!vy_parse_uint(given, count) || *count < 1 || *count > SHARDS_MAX))
        return vy_print_usage_error(c->given->command, "--shards needs a whole number from 1 to %d, got %s",
                                    SHARDS_MAX, given);
    if (*count > SHARDS_MAX) *count = SHARDS_MAX;
    if (*count > cases) *count = cases;
    return 0;
}

int vy_campaign_prepare(campaign *c, uint64_t **list, uint64_t *count)
{
    uint64_t own = 0, size = 0, shards = 0;
    const int single = vy_campaign_own_shard(c, &own, &size);
    if (single < 0) return EXIT_USAGE;
    int status = vy_campaign_read_folder(c);
    if (status == 0) status = first_count(c, size, &shards);
    if (status != 0) return status;
    if (c->shards == 0 && (status = vy_campaign_start_folder(c, shards)) != 0) return status;
    if (vy_has_option(c->given, "shards") && c->shards != shards)
        return vy_print_error("campaign", EXIT_USAGE,
                              "%s was started with %" PRIu64 " shards, which stays so; leave --shards out",
                              c->folder, c->shards);
    if (single && own >= c->shards)
        return vy_print_error("campaign", EXIT_USAGE,
                              "there is no shard %" PRIu64 ": %s was started with %" PRIu64
                              ", numbered from 0",
                              own, c->folder, c->shards);
    *count = single ? 1 : c->shards;
    *list = calloc((size_t)*count + 1, sizeof **list);
    if (*list == NULL) return vy_print_no_memory("campaign");
    for (uint64_t i = 0; i < *count; ++i) (*list)[i] = single ? own : i;
    return 0;
}

// A file that another plan left, or a damaged one, is found out before anything is flown.
static int check_present(campaign *c, runner *r, const uint64_t *list, uint64_t count)
{
    for (uint64_t i = 0; i < count; ++i) {
        double *rows = NULL;
        vy_error err = {.status = VY_OK};
        if (!vy_campaign_has_shard(c, list[i])) continue;
        char *path = vy_campaign_shard_path(c, list[i]);
        if (path == NULL) return vy_print_no_memory("campaign");
        const vy_status status = vy_shard_read(path, c->plan, list[i], c->shards, &rows, &err);
        free(rows);
        if (status == VY_DAMAGED) {
            vy_print_warning("campaign", "%s: %s; it is flown again", path, err.text);
        } else if (status != VY_OK) {
            free(path);
            return vy_print_status("campaign", status, &err);
        } else {
            r->state[list[i]] = SHARD_THERE;
            r->cases_done += shard_size(c, list[i]);
        }
        free(path);
    }
    return 0;
}

static int report_end(const runner *r, uint64_t count)
{
    const campaign *c = r->c;
    const double wall = vy_wall_clock() - r->start;
    uint64_t there = 0;
    for (uint64_t i = 0; i < c->shards; ++i) there += r->state[i] == SHARD_THERE;
    if (r->signal != 0) {
        fprintf(stderr,
                "volery campaign: stopped; %" PRIu64 " of %" PRIu64
                " shards are there, and the same command goes on from here\n",
                there, count);
        return vy_signals_exit(r->signal);
    }
    if (r->failed != 0) return r->failed;
    const uint64_t flown = r->cases_done - r->cases_before;
    if (!c->quiet && !c->json)
        fprintf(stderr, "%" PRIu64 " cases in %.1f s, %.0f a second; %" PRIu64 " were there before\n", flown,
                wall, (double)flown / (wall + 1e-9), r->cases_before);
    return 0;
}

int vy_campaign_run(campaign *c)
{
    uint64_t *list = NULL, count = 0;
    runner r = {.c = c, .start = vy_wall_clock()};
    int status = vy_campaign_prepare(c, &list, &count);
    if (status == 0) status = jobs_of(c, &r.jobs);
    if (status == 0 && (uint64_t)r.jobs > count) r.jobs = (int)count;
    void *shared = MAP_FAILED;
    const size_t size = (size_t)(r.jobs + 1) * sizeof(uint64_t);
    if (status == 0) {
        r.state = calloc((size_t)c->shards + 1, 1);
        r.workers = calloc((size_t)r.jobs + 1, sizeof *r.workers);
        shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        r.done = shared;
        if (r.state == NULL || r.workers == NULL || shared == MAP_FAILED)
            status = vy_print_no_memory("campaign");
    }
    if (status == 0) status = check_present(c, &r, list, count);
    if (status == 0) {
        r.cases_before = r.cases_done;
        for (uint64_t i = 0; i < count; ++i) r.last_case += shard_size(c, list[i]);
        const vy_plan_stop *stop = &c->plan->stop;
        r.stops = count == c->shards && stop->limit > 0.0 &&
                  vy_stop_plan(stop->limit, stop->confidence, stop->looks, stop->look_count, r.looks);
        look(&r);
        fly_shards(&r, list, count);
        status = report_end(&r, count);
    }
    const int all = count == c->shards;
    if (shared != MAP_FAILED) (void)munmap(shared, size);
    free(r.workers);
    free(r.state);
    free(list);
    return status == 0 && all ? vy_campaign_merge(c) : status;
}
