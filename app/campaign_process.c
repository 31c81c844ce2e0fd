// campaign_process.c - starting processes that fly cases, waiting for them, and cases in processes of their
// own.
#define _GNU_SOURCE // sched_getaffinity, MAP_ANONYMOUS
#include "campaign_process.h"
#include "command.h"
#include "load.h"
#include "message.h"
#include "signals.h"
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    JOBS_MAX = 1024,
    ATTEMPTS = 2, // of a case whose process dies
    POLL_MS = 200,
};

process_signals vy_process_signals_block(void)
{
    process_signals signals;
    static const int stop_signals[] = {SIGINT, SIGTERM, SIGHUP};
    sigemptyset(&signals.awaited);
    sigaddset(&signals.awaited, SIGCHLD);
    for (int i = 0; i < 3; ++i) { // what nohup or a script has ignored stays ignored
        struct sigaction action;
        if (sigaction(stop_signals[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
            sigaddset(&signals.awaited, stop_signals[i]);
    }
    sigprocmask(SIG_BLOCK, &signals.awaited, &signals.old_mask);
    return signals;
}

void vy_process_signals_restore(const process_signals *signals)
{
    sigprocmask(SIG_SETMASK, &signals->old_mask, NULL);
}

int vy_process_signals_wait(const process_signals *signals)
{
    const struct timespec pause = {.tv_nsec = POLL_MS * 1000000L};
    const int signal_number = sigtimedwait(&signals->awaited, NULL, &pause);
    return signal_number > 0 && signal_number != SIGCHLD ? signal_number : 0;
}

pid_t vy_process_fork(void)
{
    const pid_t parent = getpid();
    fflush(stdout);
    fflush(stderr);
    const pid_t child = fork();
    if (child < 0) (void)vy_print_error("campaign", EXIT_SYSTEM, "no process: %s", strerror(errno));
    if (child != 0) return child;
    sigset_t no_signals;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(EXIT_SYSTEM); // it died before it could be asked for
    sigemptyset(&no_signals);
    vy_signals_catch();
    sigprocmask(SIG_SETMASK, &no_signals, NULL);
    vy_set_json_errors(0); // stdout is the other process's
    return 0;
}

int vy_campaign_jobs(const campaign *c, int *jobs)
{
    cpu_set_t cores;
    uint64_t count = 1;
    const char *value = vy_option_value(c->args, "jobs"), *port_user = vy_campaign_takes_ports(c->plan);
    if (value != NULL) {
        if (!vy_parse_uint(value, &count) || count < 1 || count > JOBS_MAX)
            return vy_print_usage_error(c->args->command, "--jobs needs a whole number from 1 to %d, got %s",
                                        JOBS_MAX, value);
        if (count > 1 && port_user != NULL)
            return vy_print_usage_error(
                c->args->command,
                "the firmware of drone %s takes ports of this computer, so its flights "
                "go one after the other: --jobs 1",
                port_user);
    } else if (port_user == NULL && sched_getaffinity(0, sizeof cores, &cores) == 0) {
        count = (uint64_t)CPU_COUNT(&cores);
    }
    *jobs = count < JOBS_MAX ? (int)count : JOBS_MAX;
    return 0;
}

// --- cases in processes of their own

typedef struct case_process {
    pid_t pid; // 0: none flies it now
    int attempts, is_done;
} case_process;

typedef struct process_flights {
    vy_plan *plan;
    const vy_case *cases;
    case_process *processes;
    int count, running_count, remaining_count;
    const char *log;
    double *rows; // in memory that all processes share
    int status;
} process_flights;

static void start_case(process_flights *f, int i)
{
    double *row = f->rows + (size_t)i * vy_row_cells(f->plan);
    const pid_t child = vy_process_fork();
    if (child == 0) _exit(vy_campaign_fly_case(f->plan, &f->cases[i], f->log, row));
    if (child < 0) {
        f->status = EXIT_SYSTEM;
        return;
    }
    f->processes[i].pid = child;
    f->processes[i].attempts += 1;
    f->running_count += 1;
}

static void end_case(process_flights *f, int i, int status)
{
    case_process *process = &f->processes[i];
    process->pid = 0;
    f->running_count -= 1;
    if (f->status != 0) return; // stopped, and not by its own fault
    if (WIFEXITED(status)) {
        f->status = WEXITSTATUS(status);
    } else if (process->attempts < ATTEMPTS) {
        return;
    } else {
        vy_campaign_fill_killed_row(f->plan, &f->cases[i], WTERMSIG(status),
                                    f->rows + (size_t)i * vy_row_cells(f->plan));
    }
    process->is_done = 1;
    f->remaining_count -= 1;
}

static void stop_cases(const process_flights *f)
{
    for (int i = 0; i < f->count; ++i)
        if (f->processes[i].pid > 0) (void)kill(f->processes[i].pid, SIGTERM);
}

static void run_processes(process_flights *f, int jobs)
{
    const process_signals signals = vy_process_signals_block();
    while (f->remaining_count > 0 || f->running_count > 0) {
        for (int i = 0; i < f->count && f->running_count < jobs && f->status == 0; ++i)
            if (f->processes[i].pid == 0 && !f->processes[i].is_done) start_case(f, i);
        if (f->running_count == 0) break; // none could be started
        const int signal = vy_process_signals_wait(&signals);
        if (signal != 0 && f->status == 0) f->status = vy_signals_exit(signal);
        for (int i = 0; i < f->count; ++i) {
            int status;
            if (f->processes[i].pid > 0 && waitpid(f->processes[i].pid, &status, WNOHANG) > 0)
                end_case(f, i, status);
        }
        if (f->status != 0) stop_cases(f);
    }
    vy_process_signals_restore(&signals);
}

int vy_campaign_fly_in_processes(vy_plan *plan, const vy_case *cases, int count, int jobs, const char *log,
                                 double *rows)
{
    const size_t size = (size_t)count * vy_row_cells(plan) * sizeof(double);
    double *shared_rows = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    process_flights f = {.plan = plan,
                         .cases = cases,
                         .processes = calloc((size_t)count, sizeof *f.processes),
                         .count = count,
                         .remaining_count = count,
                         .log = log,
                         .rows = shared_rows};
    if (shared_rows == MAP_FAILED || f.processes == NULL) {
        f.status = vy_print_no_memory("campaign");
    } else {
        run_processes(&f, jobs);
        memcpy(rows, shared_rows, size);
    }
    if (shared_rows != MAP_FAILED) (void)munmap(shared_rows, size);
    free(f.processes);
    return f.status;
}
