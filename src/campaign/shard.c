// shard.c - shards: laid out, written, read and checked.
#include "campaign/shard.h"
#include "base/assert.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/read_file.h"
#include "record/file.h"
#include "volery/version.h"
#include <inttypes.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC "VYSHARD1"

enum { SIZE_MAX_BYTES = 1 << 30 };

size_t vy_row_cells(const vy_plan *plan)
{
    return VY_RESULT_CELLS + (size_t)plan->vary_count + 2 * (size_t)plan->base->expect_count;
}

vy_result *vy_row_result(double *row) { return (vy_result *)(void *)row; }
double *vy_row_numbers(double *row) { return row + VY_RESULT_CELLS; }
double *vy_row_margins(double *row, const vy_plan *plan) { return row + VY_RESULT_CELLS + plan->vary_count; }

void vy_shard_range(const vy_plan *plan, uint64_t index, uint64_t count, uint64_t *first, uint64_t *last)
{
    const uint64_t case_count = (uint64_t)plan->cases, size = case_count / count,
                   remainder = case_count % count;
    VY_ASSERT(index < count);
    *first = index * size + (index < remainder ? index : remainder);
    *last = *first + size + (index < remainder);
}

static vy_shard_header header_of(const vy_plan *plan, uint64_t index, uint64_t count)
{
    uint64_t first, last;
    vy_shard_range(plan, index, count, &first, &last);
    vy_shard_header header = {.identity = plan->identity,
                              .physics = VY_PHYSICS_REVISION,
                              .index = index,
                              .count = count,
                              .first = first,
                              .rows = last - first,
                              .variable_count = (uint64_t)plan->vary_count,
                              .expectation_count = (uint64_t)plan->base->expect_count};
    memcpy(header.magic, MAGIC, sizeof header.magic);
    memcpy(header.version, VY_VERSION, sizeof VY_VERSION);
    return header;
}

vy_status vy_shard_write(const char *path, const char *suffix, const vy_plan *plan, uint64_t index,
                         uint64_t count, const double *rows, vy_error *err)
{
    const vy_shard_header header = header_of(plan, index, count);
    const size_t size = (size_t)header.rows * vy_row_cells(plan) * sizeof(double);
    uint64_t checksum = vy_hash_chain(vy_hash64(&header, sizeof header), rows, size);
    vy_file_sink *sink = NULL;
    vy_status status = vy_file_sink_open_as(path, suffix, NULL, &sink, err);
    if (status != VY_OK) return status;
    const vy_byte_sink byte_sink = vy_file_sink_bytes(sink);
    status = byte_sink.write(byte_sink.self, &header, sizeof header, err);
    if (status == VY_OK) status = byte_sink.write(byte_sink.self, rows, size, err);
    if (status == VY_OK) status = byte_sink.write(byte_sink.self, &checksum, sizeof checksum, err);
    if (status == VY_OK) status = byte_sink.flush(byte_sink.self, err);
    if (status == VY_OK) return vy_file_sink_commit(sink, err);
    vy_file_sink_discard(sink);
    return status;
}

// Whose results these are. The version comes first: it may explain all other differences.
static vy_status check_header(const vy_shard_header *header, const vy_shard_header *expected, vy_error *err)
{
    char version[sizeof header->version + 1] = "";
    memcpy(version, header->version, sizeof header->version);
    if (memcmp(header->version, expected->version, sizeof header->version) != 0)
        return vy_fail(err, VY_OTHER_VERSION, "results of Volery %s; this is %s", version, VY_VERSION);
    if (header->physics != expected->physics)
        return vy_fail(err, VY_OTHER_VERSION,
                       "results of physics revision %llu; this program computes revision %d",
                       (unsigned long long)header->physics, VY_PHYSICS_REVISION);
    if (header->identity != expected->identity)
        return vy_fail(err, VY_OTHER_VERSION,
                       "results of another plan, scenario or controller program (%016llx, here %016llx)",
                       (unsigned long long)header->identity, (unsigned long long)expected->identity);
    if (memcmp(header, expected, sizeof *header) != 0)
        return vy_fail(err, VY_OTHER_VERSION, "shard %llu of %llu, and not %llu of %llu",
                       (unsigned long long)header->index, (unsigned long long)header->count,
                       (unsigned long long)expected->index, (unsigned long long)expected->count);
    return VY_OK;
}

// Numbers that stand for listed values are numbers of the list.
static int has_values(const vy_plan *plan, const double *numbers)
{
    for (int k = 0; k < plan->vary_count; ++k) {
        const vy_plan_variable *v = &plan->vary[k];
        if (v->distribution == VY_PLAN_VALUES && !(numbers[k] >= 0.0 && numbers[k] < v->value_count))
            return 0;
    }
    return 1;
}

static vy_status check_rows(const double *rows, const vy_shard_header *header, const vy_plan *plan,
                            vy_error *err)
{
    const size_t row_cells = vy_row_cells(plan);
    for (uint64_t i = 0; i < header->rows; ++i) {
        vy_result r;
        memcpy(&r, rows + i * row_cells, sizeof r);
        if (r.index != header->first + i || r.outcome > VY_OUTCOME_INVALID || r.wall_clock > 1 ||
            !has_values(plan, rows + i * row_cells + VY_RESULT_CELLS))
            return vy_fail(err, VY_DAMAGED, "row %" PRIu64 " is not case %" PRIu64, i, header->first + i);
    }
    return VY_OK;
}

vy_status vy_shard_parse(const void *data, size_t size, const vy_plan *plan, uint64_t index, uint64_t count,
                         const double **rows, vy_error *err)
{
    vy_shard_header header;
    const vy_shard_header expected = header_of(plan, index, count);
    const size_t row_cells = vy_row_cells(plan);
    if (size < sizeof header) return vy_fail(err, VY_DAMAGED, "too short for a shard of results");
    memcpy(&header, data, sizeof header);
    if (memcmp(header.magic, MAGIC, sizeof header.magic) != 0)
        return vy_fail(err, VY_DAMAGED, "not a shard of results");
    const vy_status status = check_header(&header, &expected, err);
    if (status != VY_OK) return status;
    const size_t rows_size = (size_t)header.rows * row_cells * sizeof(double);
    if (size != sizeof header + rows_size + sizeof(uint64_t))
        return vy_fail(err, VY_DAMAGED, "%zu bytes, and not %zu", size,
                       sizeof header + rows_size + sizeof(uint64_t));
    const char *bytes = data;
    uint64_t checksum;
    memcpy(&checksum, bytes + sizeof header + rows_size, sizeof checksum);
    if (checksum != vy_hash_chain(vy_hash64(&header, sizeof header), bytes + sizeof header, rows_size))
        return vy_fail(err, VY_DAMAGED, "the checksum does not fit");
    const double *parsed = (const double *)(const void *)(bytes + sizeof header);
    *rows = parsed;
    return check_rows(parsed, &header, plan, err);
}

vy_status vy_shard_read(const char *path, const vy_plan *plan, uint64_t index, uint64_t count, double **rows,
                        vy_error *err)
{
    char *data = NULL;
    size_t size = 0;
    const double *parsed = NULL;
    *rows = NULL;
    errno = 0;
    vy_status status = vy_read_file(path, SIZE_MAX_BYTES, &data, &size);
    if (status != VY_OK) {
        (void)vy_fail(err, status, "%s", errno != 0 ? strerror(errno) : vy_status_text(status));
    } else {
        status = vy_shard_parse(data, size, plan, index, count, &parsed, err);
    }
    if (status == VY_OK) {
        memmove(data, parsed, size - sizeof(vy_shard_header) - sizeof(uint64_t));
        *rows = (double *)(void *)data;
        return VY_OK;
    }
    free(data);
    snprintf(err->file, sizeof err->file, "%s", path);
    return status;
}

uint64_t vy_results_hash(uint64_t previous_hash, const vy_result *r)
{
    if (r->wall_clock) return previous_hash;
    const uint64_t cells[] = {r->index, r->config_hash, r->final_hash, r->outcome, r->reason};
    return vy_hash_chain(previous_hash, cells, sizeof cells);
}
