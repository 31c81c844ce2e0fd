// campaign.h - what the parts of `volery campaign` share.
#pragma once
#include "arguments.h"
#include "campaign/plan.h"
#include "campaign/shard.h"
#include <stdio.h>

/// A plan and the folder of its results.
typedef struct campaign {
    const arguments *args;
    const char *file; ///< of the plan
    vy_plan *plan;
    char *folder;
    uint64_t shards;       ///< how many there are; 0: the folder was not started yet
    int is_json, is_quiet; ///< --json and --quiet were given
} campaign;

/// Load the plan `c->file`; its results are in `folder`, NULL: the plan's name.
/// @return 0, or the exit status after a sentence
int vy_campaign_open(campaign *c, const char *folder);
void vy_campaign_close(campaign *c);

// --- the folder (campaign_folder.c)

/// Read how many shards the folder has, if it was started: `c->shards`.
/// @return 0, or the exit status after a sentence: it belongs to another plan or program
int vy_campaign_read_folder(campaign *c);

/// Start the folder with `shards` shards, unless another process was first: then `c->shards` are its.
int vy_campaign_start_folder(campaign *c, uint64_t shards);

/// The file of a shard; text to free(), NULL when memory is out.
char *vy_campaign_shard_path(const campaign *c, uint64_t shard);

/// Whether the shard's file is there. What is in it is checked when it is read.
int vy_campaign_has_shard(const campaign *c, uint64_t shard);

/// A file in the folder; text to free(), NULL when memory is out.
char *vy_campaign_path(const campaign *c, const char *name);

/// The shard that --shard or the environment names: 1 and `*shard`, 0: none, so all of them.
/// @param size how many there are to be, as the environment says; 0: not known
/// @return -1 after a sentence
int vy_campaign_shard_of_process(const campaign *c, uint64_t *shard, uint64_t *size);

/// Start the folder, if nobody has, and list the shards that are ours: all, or the one of --shard or the
/// environment. `*shard_list` is to be freed.
/// @return 0, or the exit status after a sentence
int vy_campaign_prepare(campaign *c, uint64_t **shard_list, uint64_t *count);

// --- flying (campaign_fly.c)

/// Fly one case and fill its row. A signal leaves the row unfinished.
/// @param log a file for its log; NULL: none
/// @return 0, or the exit status: stopped by a signal, or a log that could not be written
int vy_campaign_fly_case(vy_plan *plan, const vy_case *c, const char *log, double *row);

/// Fly cases [first_case, end_case) into `rows`, side by side where their worlds allow. `*cases_done` counts
/// along.
int vy_campaign_fly_range(vy_plan *plan, uint64_t first_case, uint64_t end_case, double *rows,
                          volatile uint64_t *cases_done);

/// The row of a case whose process died.
void vy_campaign_fill_killed_row(const vy_plan *plan, const vy_case *c, int signal, double *row);

/// The drone whose firmware takes ports of this computer, so that only one flight at a time can have them; or
/// NULL.
const char *vy_campaign_takes_ports(const vy_plan *plan);

/// Whether cases can be flown side by side, by what the plan varies and measures.
int vy_campaign_uses_lanes(const vy_plan *plan);

// --- running (campaign_run.c)

int vy_campaign_run(campaign *c);

/// Hand the missing shards to a cluster (campaign_submit.c).
int vy_campaign_submit(campaign *c);

// --- searching (campaign_search.c)

/// With --search: the plan's results are those of a search, which are mixed with no others.
/// @return 0, or the exit status after a sentence
int vy_campaign_begin_search(campaign *c);
int vy_campaign_search(campaign *c);

/// The values of a case that a search has chosen.
int vy_campaign_found_case(campaign *c, uint64_t index, vy_case *out);

// --- what is there (campaign_merge.c)

/// Print the shards that are not there as sbatch --array takes them, 3,5-7; `out` may be NULL.
/// @return how many
uint64_t vy_campaign_print_missing(const campaign *c, FILE *out);
int vy_campaign_status(campaign *c);
int vy_campaign_missing(campaign *c);
int vy_campaign_merge(campaign *c);
int vy_campaign_compare(campaign *c);
