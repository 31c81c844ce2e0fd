// campaign_merge.c - what is there of a campaign: status, missing, and the proof that it is complete.
#include "campaign_process.h"
#include "campaign_report.h"
#include "command.h"
#include "files.h"
#include "json.h"
#include "message.h"
#include "shipped.h"
#include <errno.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int require_results(campaign *c)
{
    const int status = vy_campaign_read_folder(c);
    if (status != 0) return status;
    if (c->shards != 0) return 0;
    return vy_print_error("campaign", EXIT_USAGE,
                          "%s: there are no results yet; volery campaign run %s -o %s", c->folder, c->file,
                          c->folder);
}

uint64_t vy_campaign_print_missing(const campaign *c, FILE *out)
{
    uint64_t missing_count = 0, first_missing = 0;
    int in_gap = 0;
    for (uint64_t i = 0; i <= c->shards; ++i) {
        const int is_missing = i < c->shards && !vy_campaign_has_shard(c, i);
        if (is_missing && !in_gap) first_missing = i;
        if (!is_missing && in_gap) {
            if (out != NULL && missing_count > i - first_missing) fputc(',', out);
            if (out != NULL) fprintf(out, "%" PRIu64, first_missing);
            if (out != NULL && i - first_missing > 1) fprintf(out, "-%" PRIu64, i - 1);
        }
        missing_count += (uint64_t)is_missing;
        in_gap = is_missing;
    }
    if (out != NULL && missing_count > 0) fputc('\n', out);
    return missing_count;
}

static uint64_t count_finished_cases(const campaign *c)
{
    uint64_t cases = 0;
    for (uint64_t i = 0; i < c->shards; ++i) {
        uint64_t first_case, end_case;
        vy_shard_range(c->plan, i, c->shards, &first_case, &end_case);
        if (vy_campaign_has_shard(c, i)) cases += end_case - first_case;
    }
    return cases;
}

int vy_campaign_status(campaign *c)
{
    const int status = require_results(c);
    if (status != 0) return status;
    const uint64_t missing_count = vy_campaign_print_missing(c, NULL), cases = count_finished_cases(c);
    if (c->is_json) {
        json j = vy_json_begin(stdout);
        vy_json_text(&j, "campaign", c->plan->name);
        vy_json_hash(&j, "identity", c->plan->identity);
        vy_json_uint(&j, "shards", c->shards);
        vy_json_uint(&j, "shards_missing", missing_count);
        vy_json_uint(&j, "cases", (uint64_t)c->plan->cases);
        vy_json_uint(&j, "cases_there", cases);
        vy_json_end(&j);
        return 0;
    }
    printf("%s: %" PRIu64 " of %d cases, %" PRIu64 " of %" PRIu64 " shards\n", c->plan->name, cases,
           c->plan->cases, c->shards - missing_count, c->shards);
    return 0;
}

int vy_campaign_missing(campaign *c)
{
    const int status = require_results(c);
    return status != 0 ? status : vy_campaign_print_missing(c, stdout) > 0 ? EXIT_FAILED : 0;
}

// The page of a log, beside it, by this same program.
static int make_page(const char *log)
{
    extern char **environ;
    char *program = vy_shipped_program();
    if (program == NULL) return 0;
    char *words[] = {program, "view", (char *)log, "-q", NULL}; // posix_spawn does not write to them
    pid_t child;
    int wait_status = 0;
    const int is_started = posix_spawn(&child, program, NULL, NULL, words, environ) == 0;
    if (is_started && waitpid(child, &wait_status, 0) < 0) wait_status = -1;
    free(program);
    return is_started && wait_status == 0;
}

// Fly cases again that are to keep their logs, those of failures or the worst, each with its page.
static int keep_logs(campaign *c, const report *r)
{
    const vy_plan *p = c->plan;
    char *folder = vy_campaign_path(c, "logs");
    double *row = calloc(1, vy_row_cells(p) * sizeof *row);
    int status = folder == NULL || row == NULL ? vy_print_no_memory("campaign") : 0;
    if (status == 0 && mkdir(folder, 0777) != 0 && errno != EEXIST)
        status = vy_print_error("campaign", EXIT_SYSTEM, "%s: %s", folder, strerror(errno));
    uint64_t kept_count = 0;
    for (uint64_t i = 0; i < r->cases && kept_count < (uint64_t)p->keep_count && status == 0; ++i) {
        uint64_t index = i;
        if (p->keep == VY_KEEP_WORST && i >= (uint64_t)r->worst_count) break;
        if (p->keep == VY_KEEP_WORST) index = r->worst[i].index;
        if (p->keep == VY_KEEP_FAILURES && !(r->scores[i] < 0.0)) continue;
        char name[64];
        vy_case kept_case;
        snprintf(name, sizeof name, "logs/case-%" PRIu64 ".mcap", index);
        char *path = vy_campaign_path(c, name);
        ++kept_count;
        if (path == NULL) status = vy_print_no_memory("campaign");
        if (status == 0 && access(path, F_OK) != 0) {
            vy_report_case(r, index, &kept_case);
            status = vy_campaign_fly_in_processes(c->plan, &kept_case, 1, 1, path, row);
            const int has_log = status == 0 && vy_file_is_regular(path);
            if (status == 0 && !has_log)
                vy_print_warning("campaign", "case %" PRIu64 " has no log: %s", index,
                                 vy_row_result(row)->outcome == VY_OUTCOME_KILLED
                                     ? "it kills its process"
                                     : "its values give no scenario");
            if (has_log && !make_page(path)) vy_print_warning("campaign", "%s has no page", path);
        }
        free(path);
    }
    free(folder);
    free(row);
    return status;
}

static int write_files(campaign *c, const report *r)
{
    char *table = vy_campaign_path(c, "results.parquet"), *page = vy_campaign_path(c, "campaign.html");
    const char *junit = vy_option_value(c->args, "junit");
    int status = table == NULL || page == NULL ? vy_print_no_memory("campaign") : 0;
    if (status == 0 && c->plan->keep != VY_KEEP_NONE) status = keep_logs(c, r);
    if (status == 0) status = vy_report_table(c, r, table);
    if (status == 0) status = vy_report_page(c, r, page);
    if (status == 0 && junit != NULL) status = vy_report_junit(r, junit);
    if (status == 0 && !c->is_quiet && !c->is_json)
        printf("\n  table       %s\n  page        %s\n", table, page);
    free(table);
    free(page);
    return status;
}

int vy_campaign_merge(campaign *c)
{
    report r = {.accepting_look = -1};
    int status = require_results(c);
    if (status != 0) return status;
    status = vy_report_make(c, &r);
    if (status == 0 && !c->is_quiet && !c->is_json) vy_report_print(c, &r, stdout);
    if (status == 0) status = write_files(c, &r);
    if (status == 0 && c->is_json) vy_report_json(c, &r, stdout);
    if (status == 0 && !r.is_demonstrated) status = EXIT_FAILED;
    vy_report_destroy(&r);
    return status;
}

// --- two campaigns on the same cases

static int same_cases(const report *a, const report *b)
{
    const vy_plan *p = a->plan, *q = b->plan;
    if (a->cases != b->cases || p->vary_count != q->vary_count || p->seed != q->seed || p->seeds != q->seeds)
        return 0;
    for (int k = 0; k < p->vary_count; ++k) {
        if (strcmp(p->vary[k].key, q->vary[k].key) != 0) return 0;
        if (memcmp(a->numbers[k], b->numbers[k], (size_t)a->cases * sizeof(double)) != 0) return 0;
    }
    return 1;
}

int vy_campaign_compare(campaign *c)
{
    report a = {.accepting_look = -1}, b = {.accepting_look = -1};
    if (c->args->operand_count < 3)
        return vy_print_usage_error(c->args->command,
                                    "compare needs two plans: volery campaign compare PLAN OTHER-PLAN");
    campaign other = {.args = c->args, .file = c->args->operands[2]};
    int status = vy_campaign_open(&other, vy_option_value(c->args, "other"));
    if (status == 0) status = require_results(c);
    if (status == 0) status = require_results(&other);
    if (status == 0) status = vy_report_make(c, &a);
    if (status == 0) status = vy_report_make(&other, &b);
    if (status == 0 && !same_cases(&a, &b))
        status = vy_print_error(
            "campaign", EXIT_USAGE,
            "%s and %s do not have the same cases: seed, what varies and how it is drawn must agree", c->file,
            other.file);
    uint64_t only_a_failed = 0, only_b_failed = 0, both_failed = 0;
    for (uint64_t i = 0; status == 0 && i < a.cases; ++i) {
        const int a_failed = a.scores[i] < 0.0, b_failed = b.scores[i] < 0.0;
        only_a_failed += (uint64_t)(a_failed && !b_failed);
        only_b_failed += (uint64_t)(b_failed && !a_failed);
        both_failed += (uint64_t)(a_failed && b_failed);
    }
    const double p_value = vy_mcnemar(only_a_failed, only_b_failed);
    if (status == 0 && c->is_json) {
        json j = vy_json_begin(stdout);
        vy_json_uint(&j, "cases", a.cases);
        vy_json_uint(&j, "both_failed", both_failed);
        vy_json_uint(&j, "only_first_failed", only_a_failed);
        vy_json_uint(&j, "only_second_failed", only_b_failed);
        vy_json_number(&j, "p_value", p_value);
        vy_json_end(&j);
    } else if (status == 0) {
        printf("%" PRIu64 " cases: %" PRIu64 " failed in both, %" PRIu64 " in %s alone, %" PRIu64
               " in %s alone\n%s (exact McNemar test, p = %.3g)\n",
               a.cases, both_failed, only_a_failed, c->plan->name, only_b_failed, other.plan->name,
               p_value < 0.05 ? "they differ" : "no difference is shown", p_value);
    }
    vy_report_destroy(&a);
    vy_report_destroy(&b);
    vy_campaign_close(&other);
    return status;
}
