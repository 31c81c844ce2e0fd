// shard.h - results of a piece of a campaign: rows of 8-byte cells of one size, a head before and a checksum
// behind them.
#pragma once
#include "campaign/plan.h"
#include <stddef.h>
#include <stdint.h>

/// How a case ended.
typedef enum vy_outcome {
    VY_OUTCOME_COMPLETED,
    VY_OUTCOME_FAILED,      ///< a safety limit, a crash, a controller: vy_failure_reason says which
    VY_OUTCOME_EXPECTATION, ///< flown to the end, but an expectation is not met
    VY_OUTCOME_KILLED,      ///< the process that flew it died, twice; the signal is `value`
    VY_OUTCOME_INVALID,     ///< its values give no scenario that can be flown
} vy_outcome;

/// The first cells of a row. Behind them come the numbers of what varies, then for each expectation its
/// margin and its worst value (NaN: not measured, or skipped).
typedef struct vy_result {
    uint64_t index, seed;             ///< of the case
    uint64_t config_hash, final_hash; ///< 0 where there is none
    uint64_t outcome;                 ///< vy_outcome
    uint64_t reason;                  ///< vy_failure_reason, of a failure
    uint64_t wall_clock;              ///< 1: a clock's verdict ended it (tier 1): outside of the hash of all
    uint64_t body;                    ///< number of the drone or body that failed
    double time;                      ///< [s] of the failure, or of the end
    double value, limit;              ///< of a failure
    uint64_t met, skipped;            ///< expectations, a bit each
} vy_result;

enum { VY_RESULT_CELLS = sizeof(vy_result) / 8 };
_Static_assert(sizeof(vy_result) == 13 * 8, "cells alone");

typedef struct vy_shard_header {
    char magic[8];                              ///< "VYSHARD1"
    char version[16];                           ///< of Volery
    uint64_t identity, physics;                 ///< of the plan; VY_PHYSICS_REVISION
    uint64_t index, count;                      ///< which shard of how many
    uint64_t first, rows;                       ///< its cases
    uint64_t variable_count, expectation_count; ///< numbers and expectations of a row
    uint64_t reserved[5];                       ///< 0
} vy_shard_header;
_Static_assert(sizeof(vy_shard_header) == 16 * 8, "cells alone");

/// Cells of a row.
size_t vy_row_cells(const vy_plan *plan);
vy_result *vy_row_result(double *row);
double *vy_row_numbers(double *row);
double *vy_row_margins(double *row, const vy_plan *plan); ///< margin, worst, margin, worst, ...

/// Cases [*first, *last) of shard `index` of `count`: sizes differ by one at most.
void vy_shard_range(const vy_plan *plan, uint64_t index, uint64_t count, uint64_t *first, uint64_t *last);

/// Write a shard under its final name: to a temporary one, synced, renamed.
/// @param suffix of the temporary name, of this process alone
vy_status vy_shard_write(const char *path, const char *suffix, const vy_plan *plan, uint64_t index,
                         uint64_t count, const double *rows, vy_error *err);

/// The rows of a shard: values to free(). Everything is checked: it is whole, unchanged, of this plan,
/// program and place.
/// @return VY_NOT_FOUND, VY_DAMAGED, VY_OTHER_VERSION (of another plan or program), VY_IO, VY_NO_MEMORY
vy_status vy_shard_read(const char *path, const vy_plan *plan, uint64_t index, uint64_t count, double **rows,
                        vy_error *err);

/// The same from memory.
vy_status vy_shard_parse(const void *data, size_t size, const vy_plan *plan, uint64_t index, uint64_t count,
                         const double **rows, vy_error *err);

/// The hash of all final hashes so far, after one more row, in the order of the cases. A wall clock's verdict
/// does not count.
uint64_t vy_results_hash(uint64_t previous_hash, const vy_result *r);
