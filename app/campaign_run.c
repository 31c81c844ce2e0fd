// campaign_run.c - flying a campaign's shards, each in a process of its own, as many at a time as there are
// cores.
//
// A process that dies takes nothing with it but its shard. That is flown once more with every case in a
// process of its own.
#define _DEFAULT_SOURCE // MAP_ANONYMOUS
#include "campaign/score.h"
#include "campaign/statistics.h"
#include "campaign_process.h"
#include "command.h"
#include "message.h"
#include "progress.h"
#include "signals.h"
#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct worker {
    pid_t pid; // 0: idle
    uint64_t shard;
    int is_isolated; // every case has a process of its own
} worker;

typedef struct runner {
    campaign *c;
    worker *workers;
    int jobs, running_count;
    uint8_t *state;          // of each shard: see below
    volatile uint64_t *done; // [jobs] cases of the shard in flight, shared with the processes
    uint64_t cases_done;     // in shards that are whole, those of earlier runs included
    uint64_t cases_before;   // of earlier runs
    uint64_t last_case;      // beyond it nothing is flown
    int failure_status;      // exit status of a shard that could not be written
    int stop_signal;         // the one that asked to stop, 0: none
    double start;            // [s] of the wall clock
    progress progress_line;
    vy_stop_look looks[VY_PLAN_LOOK_CAP];                  // of the plan's stop rule
    int has_stop_rule;                                     // it has one
    uint64_t prefix_shards, prefix_cases, prefix_failures; // complete from the first case on
    int is_accepted;                                       // a look has accepted
} runner;

enum { SHARD_MISSING, SHARD_DIED, SHARD_IN_FLIGHT, SHARD_PRESENT };

// --- in the process of a shard

static int fly_range_in_processes(vy_plan *plan, uint64_t first_case, uint64_t end_case, double *rows,
                                  volatile uint64_t *cases_done)
{
    int status = 0;
    for (uint64_t i = first_case; i < end_case && status == 0; ++i, ++*cases_done) {
        vy_case c;
        vy_plan_case(plan, i, &c);
        status =
            vy_campaign_fly_in_processes(plan, &c, 1, 1, NULL, rows + (i - first_case) * vy_row_cells(plan));
    }
    return status;
}

// The whole life of a process: fly a shard, write it, end.
static int fly_shard(const campaign *c, uint64_t shard, int is_isolated, volatile uint64_t *cases_done)
{
    uint64_t first_case, end_case;
    vy_shard_range(c->plan, shard, c->shards, &first_case, &end_case);
    double *rows = calloc((size_t)(end_case - first_case) + 1, vy_row_cells(c->plan) * sizeof *rows);
    char *path = vy_campaign_shard_path(c, shard);
    char suffix[80], host[32] = "";
    if (rows == NULL || path == NULL) return vy_print_no_memory("campaign");
    int status = is_isolated ? fly_range_in_processes(c->plan, first_case, end_case, rows, cases_done)
                             : vy_campaign_fly_range(c->plan, first_case, end_case, rows, cases_done);
    if (status == 0) {
        vy_error err = {.status = VY_OK};
        (void)gethostname(host, sizeof host - 1);
        snprintf(suffix, sizeof suffix, ".%s.%ld.part", host, (long)getpid());
        const vy_status write_status = vy_shard_write(path, suffix, c->plan, shard, c->shards, rows, &err);
        if (write_status != VY_OK) status = vy_print_status("campaign", write_status, &err);
    }
    free(path);
    free(rows);
    return status;
}

// --- around them

static int start_worker(runner *r, int slot, uint64_t shard)
{
    const int is_isolated = r->state[shard] == SHARD_DIED;
    r->done[slot] = 0;
    const pid_t child = vy_process_fork();
    if (child < 0) return EXIT_SYSTEM;
    if (child == 0) _exit(fly_shard(r->c, shard, is_isolated, &r->done[slot]));
    r->workers[slot] = (worker){.pid = child, .shard = shard, .is_isolated = is_isolated};
    r->state[shard] = SHARD_IN_FLIGHT;
    ++r->running_count;
    return 0;
}

static uint64_t shard_size(const campaign *c, uint64_t shard)
{
    uint64_t first_case, end_case;
    vy_shard_range(c->plan, shard, c->shards, &first_case, &end_case);
    return end_case - first_case;
}

// Look at the cases that are complete from the first one on: is the rule met at one of its sizes?
static void check_stop_rule(runner *r)
{
    const campaign *c = r->c;
    const size_t row_cells = vy_row_cells(c->plan);
    while (r->has_stop_rule && !r->is_accepted && r->prefix_shards < c->shards &&
           r->state[r->prefix_shards] == SHARD_PRESENT) {
        double *rows = NULL;
        vy_error err;
        char *path = vy_campaign_shard_path(c, r->prefix_shards);
        const int is_read =
            path != NULL && vy_shard_read(path, c->plan, r->prefix_shards, c->shards, &rows, &err) == VY_OK;
        free(path);
        if (!is_read) return; // merge will say why
        for (uint64_t k = 0; k < shard_size(c, r->prefix_shards) && !r->is_accepted; ++k) {
            r->prefix_cases += 1;
            r->prefix_failures += (uint64_t)vy_case_failed(vy_row_result(rows + k * row_cells));
            for (int i = 0; i < c->plan->stop.look_count; ++i)
                r->is_accepted |=
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
    --r->running_count;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        r->state[shard] = SHARD_PRESENT;
        r->cases_done += shard_size(r->c, shard);
        return;
    }
    r->state[shard] = SHARD_MISSING;
    if (r->stop_signal != 0 || r->failure_status != 0) return;
    if (WIFEXITED(status)) {
        r->failure_status = WEXITSTATUS(status) >= 128 ? EXIT_SYSTEM : WEXITSTATUS(status);
    } else if (w->is_isolated) {
        vy_print_error("campaign", EXIT_SYSTEM,
                       "the process of shard %" PRIu64 " was killed twice (signal %d)", shard,
                       WTERMSIG(status));
        r->failure_status = EXIT_SYSTEM;
    } else {
        vy_print_warning("campaign",
                         "the process of shard %" PRIu64
                         " was killed (signal %d); it is flown again, each case in a process of its own",
                         shard, WTERMSIG(status));
        r->state[shard] = SHARD_DIED;
    }
}

static void collect_ended_workers(runner *r)
{
    int status;
    for (pid_t pid; r->running_count > 0 && (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
        for (int i = 0; i < r->jobs; ++i)
            if (r->workers[i].pid == pid) end_worker(r, i, status);
    }
}

static void show_progress(runner *r)
{
    uint64_t cases_done = r->cases_done;
    for (int i = 0; i < r->jobs; ++i) cases_done += r->done[i];
    vy_progress_count(&r->progress_line, cases_done, "cases");
}

static void stop_workers(runner *r, int signal)
{
    for (int i = 0; i < r->jobs; ++i)
        if (r->workers[i].pid > 0) (void)kill(r->workers[i].pid, signal);
}

// The next shard to fly: one that died first. 0: none is left.
static int next_shard(const runner *r, const uint64_t *shard_list, uint64_t count, uint64_t *next_index,
                      uint64_t *shard)
{
    for (uint64_t i = 0; i < *next_index; ++i) {
        if (r->state[shard_list[i]] != SHARD_DIED) continue;
        *shard = shard_list[i];
        return 1;
    }
    while (*next_index < count && r->state[shard_list[*next_index]] != SHARD_MISSING) ++*next_index;
    if (*next_index == count) return 0;
    *shard = shard_list[(*next_index)++];
    return 1;
}

static void fly_shards(runner *r, const uint64_t *shard_list, uint64_t count)
{
    const process_signals signals = vy_process_signals_block();
    uint64_t next_index = 0, shard = 0;
    for (;;) {
        for (int i = 0; i < r->jobs && r->stop_signal == 0 && r->failure_status == 0 && !r->is_accepted;
             ++i) {
            if (r->workers[i].pid != 0) continue;
            if (!next_shard(r, shard_list, count, &next_index, &shard)) break;
            r->failure_status = start_worker(r, i, shard);
        }
        if (r->running_count == 0) break;
        const int signal = vy_process_signals_wait(&signals);
        if (signal != 0) {
            r->stop_signal = signal;
            stop_workers(r, SIGTERM);
        }
        collect_ended_workers(r);
        check_stop_rule(r);
        if (r->failure_status != 0) stop_workers(r, SIGTERM);
        show_progress(r);
    }
    vy_progress_end(&r->progress_line);
    vy_process_signals_restore(&signals);
}

// A file that another plan left, or a damaged one, is found out before anything is flown.
static int check_present(campaign *c, runner *r, const uint64_t *shard_list, uint64_t count)
{
    for (uint64_t i = 0; i < count; ++i) {
        double *rows = NULL;
        vy_error err = {.status = VY_OK};
        if (!vy_campaign_has_shard(c, shard_list[i])) continue;
        char *path = vy_campaign_shard_path(c, shard_list[i]);
        if (path == NULL) return vy_print_no_memory("campaign");
        const vy_status status = vy_shard_read(path, c->plan, shard_list[i], c->shards, &rows, &err);
        free(rows);
        if (status == VY_DAMAGED) {
            vy_print_warning("campaign", "%s: %s; it is flown again", path, err.text);
        } else if (status != VY_OK) {
            free(path);
            return vy_print_status("campaign", status, &err);
        } else {
            r->state[shard_list[i]] = SHARD_PRESENT;
            r->cases_done += shard_size(c, shard_list[i]);
        }
        free(path);
    }
    return 0;
}

static int report_end(const runner *r, uint64_t count)
{
    const campaign *c = r->c;
    const double wall_seconds = vy_wall_clock() - r->start;
    uint64_t present_count = 0;
    for (uint64_t i = 0; i < c->shards; ++i) present_count += r->state[i] == SHARD_PRESENT;
    if (r->stop_signal != 0) {
        fprintf(stderr,
                "volery campaign: stopped; %" PRIu64 " of %" PRIu64
                " shards are there, and the same command goes on from here\n",
                present_count, count);
        return vy_signals_exit(r->stop_signal);
    }
    if (r->failure_status != 0) return r->failure_status;
    const uint64_t flown_cases = r->cases_done - r->cases_before;
    if (!c->is_quiet && !c->is_json)
        fprintf(stderr, "%" PRIu64 " cases in %.1f s, %.0f a second; %" PRIu64 " were there before\n",
                flown_cases, wall_seconds, (double)flown_cases / (wall_seconds + 1e-9), r->cases_before);
    return 0;
}

int vy_campaign_run(campaign *c)
{
    uint64_t *shard_list = NULL, count = 0;
    runner r = {.c = c, .start = vy_wall_clock()};
    int status = vy_campaign_prepare(c, &shard_list, &count);
    if (status == 0) status = vy_campaign_jobs(c, &r.jobs);
    if (status == 0 && (uint64_t)r.jobs > count) r.jobs = (int)count;
    void *shared_counts = MAP_FAILED;
    const size_t size = (size_t)(r.jobs + 1) * sizeof(uint64_t);
    if (status == 0) {
        r.state = calloc((size_t)c->shards + 1, 1);
        r.workers = calloc((size_t)r.jobs + 1, sizeof *r.workers);
        shared_counts = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        r.done = shared_counts;
        if (r.state == NULL || r.workers == NULL || shared_counts == MAP_FAILED)
            status = vy_print_no_memory("campaign");
    }
    if (status == 0) status = check_present(c, &r, shard_list, count);
    if (status == 0) {
        r.cases_before = r.cases_done;
        for (uint64_t i = 0; i < count; ++i) r.last_case += shard_size(c, shard_list[i]);
        const vy_plan_stop *stop = &c->plan->stop;
        r.has_stop_rule = count == c->shards && stop->limit > 0.0 &&
                          vy_stop_plan(stop->limit, stop->confidence, stop->looks, stop->look_count, r.looks);
        r.progress_line = vy_progress_begin(!c->is_quiet, r.cases_before, r.last_case, 0.0);
        check_stop_rule(&r);
        fly_shards(&r, shard_list, count);
        status = report_end(&r, count);
    }
    const int is_complete = count == c->shards;
    if (shared_counts != MAP_FAILED) (void)munmap(shared_counts, size);
    free(r.workers);
    free(r.state);
    free(shard_list);
    return status == 0 && is_complete ? vy_campaign_merge(c) : status;
}
