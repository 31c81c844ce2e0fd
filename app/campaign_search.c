// campaign_search.c - volery campaign run --search worst: generations of cases, each chosen by the scores of
// those before.
//
// A generation is a shard, so a search that was killed continues from the last whole generation, with the
// same cases.
#include "campaign_process.h"
#include "campaign/score.h"
#include "campaign/search.h"
#include "base/hash.h"
#include "command.h"
#include "message.h"
#include "progress.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { GENERATION_MAX = 2 * VY_SEARCH_POPULATION };

int vy_campaign_begin_search(campaign *c)
{
    const char *search_kind = vy_option_value(c->args, "search");
    if (search_kind == NULL) return 0;
    if (strcmp(search_kind, "worst") != 0)
        return vy_print_usage_error(c->args->command, "--search knows only the word worst, got %s",
                                    search_kind);
    if (c->plan->vary_count == 0)
        return vy_print_error("campaign", EXIT_USAGE, "%s: nothing varies, so there is nothing to search",
                              c->file);
    static const char word[] = "search worst";
    c->plan->identity = vy_hash_chain(c->plan->identity, word, sizeof word);
    c->plan->sample = VY_SAMPLE_SEARCH;
    c->plan->stop = (vy_plan_stop){.limit = 0.0};
    return 0;
}

// Each case in a process of its own, as many at a time as there are cores: one that kills its process is a
// result, as in any campaign.
static int fly_generation(campaign *c, uint64_t shard, int jobs, double points[][VY_PLAN_VARY_CAP],
                          double *rows)
{
    static vy_case cases[GENERATION_MAX]; // large
    vy_error err = {.status = VY_OK};
    uint64_t first_case, end_case;
    vy_shard_range(c->plan, shard, c->shards, &first_case, &end_case);
    const int count = (int)(end_case - first_case);
    for (int i = 0; i < count; ++i)
        vy_plan_case_from_unit(c->plan, first_case + (uint64_t)i, points[i], &cases[i]);
    int status = vy_campaign_fly_in_processes(c->plan, cases, count, jobs, NULL, rows);
    char *path = vy_campaign_shard_path(c, shard), suffix[40];
    snprintf(suffix, sizeof suffix, ".%ld.part", (long)getpid());
    if (status == 0 && path == NULL) status = vy_print_no_memory("campaign");
    if (status == 0) {
        const vy_status write_status = vy_shard_write(path, suffix, c->plan, shard, c->shards, rows, &err);
        if (write_status != VY_OK) status = vy_print_status("campaign", write_status, &err);
    }
    free(path);
    return status;
}

// What an earlier run has flown; `*rows` stays NULL where it has not.
static int read_generation(campaign *c, uint64_t shard, double **rows)
{
    vy_error err = {.status = VY_OK};
    *rows = NULL;
    if (!vy_campaign_has_shard(c, shard)) return 0;
    char *path = vy_campaign_shard_path(c, shard);
    if (path == NULL) return vy_print_no_memory("campaign");
    const vy_status status = vy_shard_read(path, c->plan, shard, c->shards, rows, &err);
    free(path);
    return status == VY_OK || status == VY_DAMAGED ? 0 : vy_print_status("campaign", status, &err);
}

static int fly_generations(campaign *c, int jobs)
{
    vy_search s = vy_search_begin(c->plan->seed, c->plan->vary_count);
    const size_t row_cells = vy_row_cells(c->plan);
    int status = 0, failure_count = 0;
    progress progress_line = vy_progress_begin(!c->is_quiet, 0, (uint64_t)c->plan->cases, 0.0);
    for (uint64_t i = 0; i < c->shards && status == 0; ++i) {
        double points[GENERATION_MAX][VY_PLAN_VARY_CAP], scores[GENERATION_MAX], *rows = NULL;
        uint64_t first_case, end_case;
        vy_shard_range(c->plan, i, c->shards, &first_case, &end_case);
        const int count = (int)(end_case - first_case);
        vy_search_ask(&s, count, points);
        status = read_generation(c, i, &rows);
        if (rows != NULL) progress_line.first = end_case; // of an earlier run
        if (status == 0 && rows == NULL) {
            rows = calloc((size_t)count, row_cells * sizeof *rows);
            status = rows != NULL ? fly_generation(c, i, jobs, points, rows) : vy_print_no_memory("campaign");
        }
        for (int k = 0; k < count && status == 0; ++k) {
            scores[k] = vy_case_score(c->plan, rows + (size_t)k * row_cells);
            if (scores[k] >= 0.0 || failure_count++ || c->is_quiet) continue;
            vy_progress_end(&progress_line);
            fprintf(stderr, "the first failure is case %" PRIu64 "\n", first_case + (uint64_t)k);
        }
        if (status == 0) vy_search_tell(&s, count, points, scores);
        vy_progress_count(&progress_line, end_case, "cases");
        free(rows);
    }
    vy_progress_end(&progress_line);
    if (status > 128) fprintf(stderr, "volery campaign: stopped; the same command goes on from here\n");
    return status;
}

int vy_campaign_search(campaign *c)
{
    const uint64_t cases = (uint64_t)c->plan->cases, population = VY_SEARCH_POPULATION;
    if (vy_has_option(c->args, "shard") || vy_has_option(c->args, "shards"))
        return vy_print_usage_error(c->args->command,
                                    "a search goes from generation to generation: without --shard");
    int status = vy_campaign_read_folder(c);
    if (status == 0 && c->shards == 0)
        status = vy_campaign_start_folder(c, cases > population ? cases / population : 1);
    int jobs = 1;
    if (status == 0) status = vy_campaign_jobs(c, &jobs);
    if (status == 0) status = fly_generations(c, jobs);
    return status == 0 ? vy_campaign_merge(c) : status;
}

int vy_campaign_found_case(campaign *c, uint64_t index, vy_case *out)
{
    int status = vy_campaign_read_folder(c);
    if (status != 0) return status;
    for (uint64_t i = 0; i < c->shards; ++i) {
        double *rows = NULL;
        uint64_t first_case, end_case;
        vy_shard_range(c->plan, i, c->shards, &first_case, &end_case);
        if (index < first_case || index >= end_case) continue;
        status = read_generation(c, i, &rows);
        if (status == 0 && rows != NULL) {
            vy_plan_case_from_values(
                c->plan, index, vy_row_numbers(rows + (index - first_case) * vy_row_cells(c->plan)), out);
            free(rows);
            return 0;
        }
        free(rows);
    }
    return status != 0 ? status
                       : vy_print_error("campaign", EXIT_USAGE, "%s has no case %" PRIu64 " of a search",
                                        c->folder, index);
}
