// report.c - flights counted over all processes; a failure, cut down to what it needs.
#define _DEFAULT_SOURCE // MAP_ANONYMOUS
#include "pairs.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

totals *all_totals;
static int running;

void totals_open(void)
{
    all_totals = mmap(NULL, sizeof *all_totals, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(all_totals != MAP_FAILED);
}

int job_count(void)
{
    const char *asked = getenv("JOBS");
    const long found = asked != NULL ? atol(asked) : sysconf(_SC_NPROCESSORS_ONLN);
    return found < 1 ? 1 : found > JOB_CAP ? JOB_CAP : (int)found;
}

static int fails_same_oracle(node *tree, const char *oracle, uint64_t seed)
{
    char *text = node_print(tree);
    const verdict v = check_in_process(text, strcmp(oracle, "set") == 0 ? tree : NULL, seed);
    free(text);
    return v.oracle != NULL && strcmp(v.oracle, oracle) == 0;
}

// Without every key that the failure does not need. The length of the flight stays: it would take long.
static node *minimise(const node *tree, const char *oracle, uint64_t seed)
{
    node *minimal = node_copy(tree);
    for (int changed = strcmp(oracle, "set") != 0; changed;) {
        changed = 0;
        for (int i = 0; i < node_count(minimal);) {
            node *less = node_copy(minimal);
            const char *key = node_number(less, i)->key;
            const int kept = strcmp(key, "duration") == 0 || strcmp(key, "step") == 0;
            node_remove(less, node_number(less, i));
            if (!kept && fails_same_oracle(less, oracle, seed)) {
                node_free(minimal);
                minimal = less;
                changed = 1;
            } else {
                node_free(less);
                ++i;
            }
        }
    }
    return minimal;
}

static void report(const node *tree, const verdict *v, uint64_t seed)
{
    node *minimal = minimise(tree, v->oracle, seed);
    char *text = node_print(minimal), path[300];
    const verdict again = check_in_process(text, strcmp(v->oracle, "set") == 0 ? minimal : NULL, seed);
    snprintf(path, sizeof path, "%s/%s-%llu.yaml", pairs_folder, v->oracle, (unsigned long long)seed);
    FILE *out = fopen(path, "w");
    if (out != NULL) {
        fputs(text, out);
        fclose(out);
    }
    fprintf(stderr, "%s: %s\n%stest_pairs file %s %llu\n\n", v->oracle,
            again.oracle != NULL ? again.text : v->text, text, path, (unsigned long long)seed);
    free(text);
    node_free(minimal);
}

void count_verdict(const node *tree, const verdict *v, uint64_t seed)
{
    ++all_totals->flown;
    all_totals->ended += v->ended;
    all_totals->touched += v->touched;
    if (v->oracle == NULL) return;
    if (++all_totals->failures > FAILURES_SHOWN) return;
    if (getenv("VOLERY_PAIRS_FIRST") != NULL) // one failure is enough to know
        print_error("%s: %s\n", v->oracle, v->text);
    else
        report(tree, v, seed);
}

// One failure was asked for and found, the time that was given is over, or it was interrupted.
static int is_enough(void)
{
    static time_t end;
    const char *seconds = getenv("VOLERY_PAIRS_SECONDS");
    if (end == 0 && seconds != NULL) end = time(NULL) + atol(seconds);
    return (all_totals->failures > 0 && getenv("VOLERY_PAIRS_FIRST") != NULL) ||
           (seconds != NULL && time(NULL) >= end) || all_totals->interrupted;
}

static void interrupt(int which)
{
    (void)which;
    all_totals->interrupted = 1;
}

void wait_for_flights(void)
{
    for (; running > 0; --running) wait(NULL);
}

void fly(const node *tree, uint64_t seed)
{
    if (is_enough() || pairs_without_flights) return;
    if (running >= job_count() && wait(NULL) > 0) --running;
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child > 0) {
        ++running;
        return;
    }
    node *own = node_copy(tree);
    char *text = node_print(own);
    const verdict v = check_in_process(text, own, seed);
    count_verdict(tree, &v, seed);
    fflush(NULL);
    _exit(0);
}

// --- at random

node *at_random(uint64_t seed)
{
    char said[300];
    for (double optional_fraction = 0.35;; optional_fraction *= 0.5) {
        const request w = {.seed = seed, .optional_fraction = optional_fraction};
        node *tree = generate(&w);
        if (make_valid(tree, said, sizeof said)) return tree;
        node_free(tree);
    }
}

// Scenarios one after the other, in one process until one of them crashes or hangs.
static void fly_random_share(int job, int jobs, int count, uint64_t seed)
{
    for (int i; (i = all_totals->next[job]) < count && !is_enough(); all_totals->next[job] += jobs) {
        limit_time(HANG_SECONDS);
        node *tree = at_random(seed + (uint64_t)i);
        char *text = node_print(tree);
        const verdict v = check_flight(text, tree, seed + (uint64_t)i);
        limit_time(0);
        count_verdict(tree, &v, seed + (uint64_t)i);
        free(text);
        node_free(tree);
    }
}

// The scenario that a share ended at, once more in a process of its own, so that it is cut down.
static void fly_ended(int job, int jobs, uint64_t seed)
{
    const uint64_t at = seed + (uint64_t)all_totals->next[job];
    all_totals->next[job] += jobs;
    node *tree = at_random(at);
    char *text = node_print(tree);
    verdict v = check_in_process(text, tree, at);
    if (v.oracle == NULL) {
        v.oracle = "crash";
        snprintf(v.text, sizeof v.text, "with seed %llu, after others", (unsigned long long)at);
    }
    count_verdict(tree, &v, at);
    free(text);
    node_free(tree);
}

static void run_job(int job, int jobs, int count, uint64_t seed)
{
    all_totals->next[job] = job;
    while (all_totals->next[job] < count && !is_enough()) {
        fflush(NULL);
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            fly_random_share(job, jobs, count, seed);
            fflush(NULL);
            _exit(0);
        }
        int status;
        waitpid(child, &status, 0);
        if (WIFSIGNALED(status) || WEXITSTATUS(status) != 0) fly_ended(job, jobs, seed);
    }
}

void fly_random(int count, uint64_t seed)
{
    const int jobs = job_count();
    const struct sigaction ended = {.sa_handler = interrupt, .sa_flags = SA_RESTART};
    (void)is_enough();                // the time begins
    sigaction(SIGTERM, &ended, NULL); // each flight ends, and the figures are printed
    sigaction(SIGINT, &ended, NULL);
    for (int job = 0; job < jobs; ++job) {
        fflush(NULL);
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child > 0) continue;
        run_job(job, jobs, count, seed);
        fflush(NULL);
        _exit(0);
    }
    int next = count;
    for (int left = jobs; left > 0;) left -= wait(NULL) > 0;
    for (int job = 0; job < jobs; ++job)
        if (all_totals->next[job] < next) next = all_totals->next[job]; // all before it have been flown
    print_message("%d scenarios at random, in %d of which drones touched, %d ended early, %d failures; go on "
                  "with seed %llu\n",
                  (int)all_totals->flown, (int)all_totals->touched, (int)all_totals->ended,
                  (int)all_totals->failures, (unsigned long long)seed + (unsigned long long)next);
    if (all_totals->flown < count && !is_enough()) ++all_totals->failures; // a job was lost
}
