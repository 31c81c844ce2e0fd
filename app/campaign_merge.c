// campaign_merge.c - what is there of a campaign: status, missing, and the proof that it is complete.
#include "campaign.h"
#include "command.h"
#include "json.h"
#include "message.h"
#include <inttypes.h>
#include <stdlib.h>

static int need_folder(campaign *c)
{
    const int status = vy_campaign_read_folder(c);
    if (status != 0) return status;
    if (c->shards != 0) return 0;
    return vy_print_error("campaign", EXIT_USAGE,
                          "%s: there are no results yet; volery campaign run %s -o %s", c->folder, c->file,
                          c->folder);
}

// Print the shards that are not there as sbatch --array takes them: 3,5-7.
static uint64_t print_missing(const campaign *c, FILE *out)
{
    uint64_t missing = 0, first = 0;
    int open = 0;
    for (uint64_t i = 0; i <= c->shards; ++i) {
        const int lacks = i < c->shards && !vy_campaign_has_shard(c, i);
        if (lacks && !open) first = i;
        if (!lacks && open) {
            if (out != NULL && missing > i - first) fputc(',', out);
            if (out != NULL) fprintf(out, "%" PRIu64, first);
            if (out != NULL && i - first > 1) fprintf(out, "-%" PRIu64, i - 1);
        }
        missing += (uint64_t)lacks;
        open = lacks;
    }
    if (out != NULL && missing > 0) fputc('\n', out);
    return missing;
}

static uint64_t cases_there(const campaign *c)
{
    uint64_t cases = 0;
    for (uint64_t i = 0; i < c->shards; ++i) {
        uint64_t first, last;
        vy_shard_range(c->plan, i, c->shards, &first, &last);
        if (vy_campaign_has_shard(c, i)) cases += last - first;
    }
    return cases;
}

int vy_campaign_status(campaign *c)
{
    const int status = need_folder(c);
    if (status != 0) return status;
    const uint64_t missing = print_missing(c, NULL), cases = cases_there(c);
    if (c->json) {
        json j = vy_json_begin(stdout);
        vy_json_text(&j, "campaign", c->plan->name);
        vy_json_hash(&j, "identity", c->plan->identity);
        vy_json_uint(&j, "shards", c->shards);
        vy_json_uint(&j, "shards_missing", missing);
        vy_json_uint(&j, "cases", (uint64_t)c->plan->cases);
        vy_json_uint(&j, "cases_there", cases);
        vy_json_end(&j);
        return 0;
    }
    printf("%s: %" PRIu64 " of %d cases, %" PRIu64 " of %" PRIu64 " shards\n", c->plan->name, cases,
           c->plan->cases, c->shards - missing, c->shards);
    return 0;
}

int vy_campaign_missing(campaign *c)
{
    const int status = need_folder(c);
    return status != 0 ? status : print_missing(c, stdout) > 0 ? EXIT_FAILED : 0;
}

typedef struct totals {
    uint64_t hash, cases, failures, completed, invalid, killed, wall_clock;
} totals;

static void add_row(const vy_result *r, totals *t)
{
    t->hash = vy_results_hash(t->hash, r);
    t->cases += 1;
    t->completed += r->outcome == VY_OUTCOME_COMPLETED;
    t->failures += r->outcome == VY_OUTCOME_FAILED || r->outcome == VY_OUTCOME_EXPECTATION;
    t->invalid += r->outcome == VY_OUTCOME_INVALID;
    t->killed += r->outcome == VY_OUTCOME_KILLED;
    t->wall_clock += r->wall_clock;
}

int vy_campaign_merge(campaign *c)
{
    int status = need_folder(c);
    if (status != 0) return status;
    if (print_missing(c, NULL) > 0) {
        fprintf(stderr, "shards that are missing: ");
        const uint64_t missing = print_missing(c, stderr);
        return vy_print_error("campaign", EXIT_FAILED,
                              "%s is not complete: %" PRIu64 " of %" PRIu64 " shards are missing", c->folder,
                              missing, c->shards);
    }
    totals t = {.hash = 0};
    const size_t cells = vy_row_cells(c->plan);
    for (uint64_t i = 0; i < c->shards; ++i) {
        double *rows = NULL;
        uint64_t first, last;
        vy_error err = {.status = VY_OK};
        char *path = vy_campaign_shard_path(c, i);
        if (path == NULL) return vy_print_no_memory("campaign");
        const vy_status read = vy_shard_read(path, c->plan, i, c->shards, &rows, &err);
        free(path);
        if (read != VY_OK) return vy_print_status("campaign", read, &err);
        vy_shard_range(c->plan, i, c->shards, &first, &last);
        for (uint64_t k = 0; k < last - first; ++k) add_row(vy_row_result(rows + k * cells), &t);
        free(rows);
    }
    if (c->json) {
        json j = vy_json_begin(stdout);
        vy_json_text(&j, "campaign", c->plan->name);
        vy_json_hash(&j, "identity", c->plan->identity);
        vy_json_uint(&j, "cases", t.cases);
        vy_json_uint(&j, "completed", t.completed);
        vy_json_uint(&j, "failures", t.failures);
        vy_json_uint(&j, "killed", t.killed);
        vy_json_uint(&j, "invalid", t.invalid);
        vy_json_uint(&j, "wall_clock", t.wall_clock);
        vy_json_hash(&j, "hash", t.hash);
        vy_json_end(&j);
    } else if (!c->quiet) {
        printf("%s: complete, %" PRIu64 " cases; hash %016" PRIx64 "\n", c->plan->name, t.cases, t.hash);
    }
    return t.failures + t.killed + t.invalid > 0 ? EXIT_FAILED : 0;
}
