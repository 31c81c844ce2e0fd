// cmd_campaign.c - volery campaign: many flights of one scenario, on one computer or a cluster.
#define _DEFAULT_SOURCE // MAP_ANONYMOUS
#include "campaign_process.h"
#include "command.h"
#include "files.h"
#include "json.h"
#include "load.h"
#include "message.h"
#include "progress.h"
#include "shipped.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SHOWN_CASES = 8, COST_CASES = 512 };

// Beside the plan, or a scenario that came with the program.
static char *find_scenario(const char *name, const char *plan_file)
{
    const char *slash = strrchr(plan_file, '/');
    const int folder_size = slash != NULL && name[0] != '/' ? (int)(slash + 1 - plan_file) : 0;
    const size_t capacity = (size_t)folder_size + strlen(name) + 1;
    char *path = malloc(capacity);
    if (path == NULL) return NULL;
    snprintf(path, capacity, "%.*s%s", folder_size, plan_file, name);
    if (vy_file_is_regular(path)) return path;
    free(path);
    return vy_shipped_find(name);
}

// The plan's name in this folder: a/b.yaml -> b.
static char *default_folder(const char *plan, int is_search)
{
    const char *suffix = is_search ? "-search" : "-results";
    const char *slash = strrchr(plan, '/'), *file_name = slash != NULL ? slash + 1 : plan;
    const char *dot = strrchr(file_name, '.');
    const size_t size = dot != NULL && dot != file_name ? (size_t)(dot - file_name) : strlen(file_name);
    char *out = malloc(size + sizeof "-results");
    if (out != NULL) snprintf(out, size + sizeof "-results", "%.*s%s", (int)size, file_name, suffix);
    return out;
}

static int load_plan(campaign *c)
{
    vy_diagnostics diagnostics = {.count = 0};
    int status = vy_file_check_input("campaign", "plan", c->file);
    if (status != 0) return status;
    const vy_status load_status = vy_plan_load(c->file, find_scenario, &c->plan, &diagnostics);
    if (load_status == VY_NO_MEMORY) {
        status = vy_print_no_memory("campaign"); // what was found may be its doing
    } else if (load_status != VY_OK) {
        vy_print_diagnostics(&diagnostics);
        status = diagnostics.errors > 0
                     ? vy_print_error("campaign", load_status == VY_IO ? EXIT_SYSTEM : EXIT_USAGE,
                                      "%s: %d %s", c->file, diagnostics.errors,
                                      diagnostics.errors == 1 ? "mistake" : "mistakes")
                     : vy_print_status("campaign", load_status, &(vy_error){.status = load_status});
    }
    vy_diagnostics_destroy(&diagnostics);
    return status;
}

int vy_campaign_open(campaign *c, const char *folder)
{
    int status = load_plan(c);
    if (status == 0) status = vy_campaign_begin_search(c);
    if (status != 0) return status;
    c->folder = folder != NULL ? strdup(folder) : default_folder(c->file, vy_has_option(c->args, "search"));
    return c->folder != NULL ? 0 : vy_print_no_memory("campaign");
}

void vy_campaign_close(campaign *c)
{
    free(c->folder);
    vy_plan_destroy(c->plan);
}

// --- check

static void print_case(const vy_plan *p, const vy_case *c)
{
    printf("  %-8" PRIu64, c->index);
    for (int k = 0; k < p->vary_count; ++k) {
        const vy_plan_variable *v = &p->vary[k];
        if (v->distribution == VY_PLAN_VALUES)
            printf(" %18.18s", v->values[(int)c->numbers[k]].text);
        else
            printf(" %*.9g %s", 17 - (int)strlen(v->unit), c->numbers[k], v->unit);
    }
    if (p->seeds == VY_SEEDS_EACH) printf("  seed %" PRIu64, c->seed);
    putchar('\n');
}

// [s] of this process's core; of the clock where programs take part, whose cores are their own.
static double cost_clock(const vy_plan *p)
{
    struct timespec t;
    for (int i = 0; i < p->base->drone_count; ++i)
        if (vy_controller_is_external(p->base->drones[i].def.controller.kind)) return vy_wall_clock();
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// Fly the first cases, more at a time each time, as the whole campaign will. [s] of one of the latest.
static int fly_first_cases(vy_plan *p, double *seconds_per_case)
{
    const uint64_t count = p->cases < COST_CASES ? (uint64_t)p->cases : COST_CASES;
    double *rows = calloc((size_t)count, vy_row_cells(p) * sizeof *rows);
    volatile uint64_t cases_done = 0;
    if (rows == NULL) return vy_print_no_memory("campaign");
    const double start = vy_wall_clock();
    int status = 0;
    for (uint64_t first_case = 0, batch_size = 1;
         first_case < count && vy_wall_clock() - start < 1.0 && status == 0; batch_size *= 4) {
        const uint64_t end_case = first_case + batch_size < count ? first_case + batch_size : count;
        const double cost_before = cost_clock(p);
        status = vy_campaign_fly_range(p, first_case, end_case, rows, &cases_done);
        *seconds_per_case = (cost_clock(p) - cost_before) / (double)(end_case - first_case);
        first_case = end_case;
    }
    free(rows);
    return status;
}

// [s] of one case; NaN: a first case kills the process that flies it.
static double measure_cost(vy_plan *p, int *status)
{
    double *shared_seconds =
        mmap(NULL, sizeof *shared_seconds, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int wait_status = 0;
    if (shared_seconds == MAP_FAILED) {
        *status = vy_print_no_memory("campaign");
        return 0.0;
    }
    const pid_t child = vy_process_fork();
    if (child == 0) _exit(fly_first_cases(p, shared_seconds));
    if (child < 0 || waitpid(child, &wait_status, 0) < 0)
        *status = EXIT_SYSTEM;
    else if (WIFEXITED(wait_status))
        *status = WEXITSTATUS(wait_status);
    else
        vy_print_warning("campaign", "one of the first cases kills its process (signal %d)",
                         WTERMSIG(wait_status));
    const double seconds_per_case = *shared_seconds;
    (void)munmap(shared_seconds, sizeof *shared_seconds);
    return WIFEXITED(wait_status) ? seconds_per_case : (double)NAN;
}

static void json_cases(const vy_plan *p, json *j)
{
    vy_case c;
    vy_json_list(j, "first_cases");
    for (uint64_t i = 0; i < (uint64_t)p->cases && i < SHOWN_CASES; ++i) {
        vy_plan_case(p, i, &c);
        vy_json_object(j, NULL);
        vy_json_uint(j, "case", i);
        if (p->seeds == VY_SEEDS_EACH) vy_json_uint(j, "seed", c.seed);
        vy_json_object(j, "values");
        for (int k = 0; k < p->vary_count; ++k) vy_json_text(j, p->vary[k].key, c.texts[k]);
        vy_json_close(j);
        vy_json_close(j);
    }
    vy_json_close(j);
}

static int check(campaign *c)
{
    vy_plan *p = c->plan;
    int status = 0;
    const double seconds_per_case = measure_cost(p, &status);
    if (status != 0) return status;
    if (c->is_json) {
        json j = vy_json_begin(stdout);
        vy_json_text(&j, "campaign", p->name);
        vy_json_text(&j, "scenario", p->path);
        vy_json_hash(&j, "identity", p->identity);
        vy_json_uint(&j, "cases", (uint64_t)p->cases);
        vy_json_bool(&j, "lanes", vy_campaign_uses_lanes(p));
        vy_json_number(&j, "core_seconds", seconds_per_case * p->cases);
        json_cases(p, &j);
        vy_json_end(&j);
        return 0;
    }
    printf("%s: %d cases of %s\n\n  %-8s", p->name, p->cases, p->path, "case");
    for (int k = 0; k < p->vary_count; ++k) {
        const size_t size = strlen(p->vary[k].key);
        printf(" %18s", p->vary[k].key + (size > 18 ? size - 18 : 0));
    }
    putchar('\n');
    for (uint64_t i = 0; i < (uint64_t)p->cases && i < SHOWN_CASES; ++i) {
        vy_case shown_case;
        vy_plan_case(p, i, &shown_case);
        print_case(p, &shown_case);
    }
    if (p->cases > SHOWN_CASES) puts("  ...");
    printf("\n  plan        %016" PRIx64 "\n", p->identity);
    if (seconds_per_case >= 0.0)
        printf("  cost        %.3g ms a case, %.3g s of one core in all%s\n", 1e3 * seconds_per_case,
               seconds_per_case * p->cases, vy_campaign_uses_lanes(p) ? ", worlds side by side" : "");
    return 0;
}

// --- fly

static int fly(campaign *c)
{
    uint64_t index;
    const char *case_text = c->args->operand_count > 2 ? c->args->operands[2] : "";
    if (!vy_parse_uint(case_text, &index) || index >= (uint64_t)c->plan->cases)
        return vy_print_usage_error(c->args->command,
                                    "fly needs the number of a case, 0 to %d: "
                                    "volery campaign fly PLAN 12 -o case.mcap",
                                    c->plan->cases - 1);
    char log[64];
    const char *output_option = vy_option_value(c->args, "output");
    snprintf(log, sizeof log, "case-%" PRIu64 ".mcap", index);
    double *row = calloc(1, vy_row_cells(c->plan) * sizeof *row);
    vy_case flown_case;
    if (row == NULL) return vy_print_no_memory("campaign");
    int status = 0;
    if (c->plan->sample == VY_SAMPLE_SEARCH)
        status = vy_campaign_found_case(c, index, &flown_case);
    else
        vy_plan_case(c->plan, index, &flown_case);
    const char *path = output_option != NULL ? output_option : log;
    vy_file_is_input(c->file);
    if (status == 0) status = vy_file_claim("campaign", path, ".part");
    if (status == 0) status = vy_campaign_fly_case(c->plan, &flown_case, path, row);
    const vy_result *r = vy_row_result(row);
    static const char *const outcome_words[] = {"completed", "failed", "expectation not met", "killed",
                                                "invalid"};
    if (status == 0 && !c->is_quiet)
        printf("case %" PRIu64 ": %s at %.3f s; hash %016" PRIx64 "; log %s\n", index,
               outcome_words[r->outcome], r->time, r->final_hash,
               r->outcome == VY_OUTCOME_INVALID ? "none" : path);
    if (status == 0 && r->outcome != VY_OUTCOME_COMPLETED) status = EXIT_FAILED;
    free(row);
    return status;
}

typedef struct action {
    const char *name;
    int (*run)(campaign *c);
} action;

static const action actions[] = {
    {"check", check},
    {"run", vy_campaign_run},
    {"submit", vy_campaign_submit},
    {"status", vy_campaign_status},
    {"missing", vy_campaign_missing},
    {"merge", vy_campaign_merge},
    {"fly", fly},
    {"compare", vy_campaign_compare},
};

COMMAND(campaign)
{
    const char *action_name = args->operand_count > 0 ? args->operands[0] : "";
    const action *action_found = NULL;
    for (size_t i = 0; i < sizeof actions / sizeof actions[0]; ++i) {
        if (strcmp(actions[i].name, action_name) == 0) action_found = &actions[i];
    }
    if (action_found == NULL || args->operand_count < 2)
        return vy_print_usage_error(args->command, "usage: volery campaign %s", args->command->operands);
    if (args->operand_count > 2 && strcmp(action_name, "fly") != 0 && strcmp(action_name, "compare") != 0)
        return vy_print_usage_error(args->command, "unexpected argument %s", args->operands[2]);
    campaign c = {.args = args,
                  .file = args->operands[1],
                  .is_json = vy_has_option(args, "json"),
                  .is_quiet = vy_has_option(args, "quiet")};
    // The output of fly is a log; its search is elsewhere.
    const char *folder = vy_option_value(args, strcmp(action_name, "fly") == 0 ? "other" : "output");
    int status = vy_campaign_open(&c, folder);
    const int is_search =
        status == 0 && c.plan->sample == VY_SAMPLE_SEARCH && action_found->run == vy_campaign_run;
    if (status == 0) status = is_search ? vy_campaign_search(&c) : action_found->run(&c);
    vy_campaign_close(&c);
    return status;
}
