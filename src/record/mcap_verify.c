// mcap_verify.c - the whole file against all of its CRCs and its own counts.
#include "record/mcap_tables.h"
#include "base/fail.h"
#include "record/crc.h"

enum { BLOCK = 1 << 18 };

static vy_status fail_damaged(uint64_t offset, const char *what, vy_error *err)
{
    return vy_fail(err, VY_DAMAGED, "byte %llu: %s", (unsigned long long)offset, what);
}

static vy_status crc_of_front(vy_mcap_reader *r, uint64_t size, uint32_t *crc, vy_error *err)
{
    unsigned char *block = malloc(BLOCK);
    if (block == NULL) return vy_fail(err, VY_NO_MEMORY, "no memory to verify a log");
    uint32_t sum = 0;
    vy_status status = VY_OK;
    for (uint64_t at = 0; at < size && status == VY_OK;) {
        const size_t part = size - at < BLOCK ? (size_t)(size - at) : BLOCK;
        status = r->source.read(r->source.self, at, block, part, err);
        if (status == VY_OK) sum = vy_crc32(sum, block, part);
        at += part;
    }
    free(block);
    *crc = sum;
    return status;
}

// DataEnd stands right before the summary and covers everything before itself.
static vy_status check_data_end(vy_mcap_reader *r, int *has_crc, vy_error *err)
{
    enum { DATA_END = MCAP_RECORD_HEAD + MCAP_DATA_END_SIZE };
    if (r->data_end < MCAP_MAGIC_SIZE + DATA_END)
        return fail_damaged(r->data_end, "the data section has no end", err);
    const uint64_t offset = r->data_end - DATA_END;
    unsigned char record[DATA_END];
    vy_status status = vy_mcap_read_small(r, offset, record, sizeof record, err);
    if (status != VY_OK) return status;
    if (record[0] != MCAP_DATA_END || mcap_get_u64(record + 1) != MCAP_DATA_END_SIZE) {
        return fail_damaged(offset, "the end of the data section is damaged", err);
    }
    const uint32_t stated = mcap_get_u32(record + MCAP_RECORD_HEAD);
    if (stated == 0) {
        *has_crc = 0;
        return VY_OK;
    }
    uint32_t found = 0;
    status = crc_of_front(r, offset, &found, err);
    if (status != VY_OK) return status;
    if (found != stated) return fail_damaged(offset, "the data section is damaged: its CRC differs", err);
    return VY_OK;
}

// Every chunk of the data section is one that the summary names.
static vy_status check_named(vy_mcap_reader *r, vy_error *err)
{
    size_t named = 0;
    for (uint64_t at = MCAP_MAGIC_SIZE; at < r->data_end;) {
        mcap_record record;
        const vy_status status = vy_mcap_read_head(r, at, r->data_end, &record, err);
        if (status != VY_OK) return status;
        if (record.opcode == MCAP_CHUNK &&
            (named == r->info.chunk_count || r->chunk_refs[named].offset != at))
            return fail_damaged(at, "the summary does not name this chunk", err);
        named += record.opcode == MCAP_CHUNK;
        at += MCAP_RECORD_HEAD + record.length;
    }
    return VY_OK;
}

vy_status vy_mcap_reader_check(vy_mcap_reader *r, int *has_crc, vy_error *err)
{
    if (r->info.warning[0] != 0) return vy_fail(err, VY_DAMAGED, "%s", r->info.warning);
    *has_crc = r->summary_checked;
    vy_status status = check_data_end(r, has_crc, err);
    if (status == VY_OK) status = check_named(r, err);
    if (status != VY_OK) return status;

    vy_mcap_cursor *cursor = NULL;
    status = vy_mcap_cursor_open(r, NULL, &cursor, err);
    if (status != VY_OK) return status;
    vy_mcap_message message;
    while (vy_mcap_cursor_next(cursor, &message)) continue;
    status = vy_mcap_cursor_status(cursor, err);
    vy_mcap_cursor_close(cursor);
    return status;
}

vy_status vy_mcap_reader_verify(vy_mcap_reader *r, vy_error *err)
{
    int has_crc = 1;
    const vy_status status = vy_mcap_reader_check(r, &has_crc, err);
    if (status == VY_OK && !has_crc)
        return fail_damaged(
            r->data_end, "the file lacks a CRC of its data section or its summary, so it cannot be verified",
            err);
    return status;
}
