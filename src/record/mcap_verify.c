// mcap_verify.c - the whole file against all of its CRCs, and its summary and indexes against what they name:
// whoever reads it from the front sees what those see who seek.
#include "record/mcap_tables.h"
#include "base/assert.h"
#include "base/fail.h"
#include "record/crc.h"

enum { BLOCK_SIZE = 1 << 18 };

static vy_status fail_damaged(uint64_t offset, const char *problem, vy_error *err)
{
    return vy_fail(err, VY_DAMAGED, "byte %llu: %s", (unsigned long long)offset, problem);
}

static vy_status crc_of_first_bytes(vy_mcap_reader *r, uint64_t size, uint32_t *crc, vy_error *err)
{
    unsigned char *block = malloc(BLOCK_SIZE);
    if (block == NULL) return vy_fail(err, VY_NO_MEMORY, "no memory to verify a log");
    uint32_t crc_so_far = 0;
    vy_status status = VY_OK;
    for (uint64_t offset = 0; offset < size && status == VY_OK;) {
        const size_t block_size = size - offset < BLOCK_SIZE ? (size_t)(size - offset) : BLOCK_SIZE;
        status = r->source.read(r->source.self, offset, block, block_size, err);
        if (status == VY_OK) crc_so_far = vy_crc32(crc_so_far, block, block_size);
        offset += block_size;
    }
    free(block);
    *crc = crc_so_far;
    return status;
}

// DataEnd stands right before the summary and covers everything before itself.
static vy_status check_data_end(vy_mcap_reader *r, int *has_crc, vy_error *err)
{
    enum { RECORD_SIZE = MCAP_RECORD_HEAD_SIZE + MCAP_DATA_END_SIZE };
    if (r->data_end < MCAP_MAGIC_SIZE + RECORD_SIZE)
        return fail_damaged(r->data_end, "the data section has no end", err);
    const uint64_t offset = r->data_end - RECORD_SIZE;
    unsigned char record[RECORD_SIZE];
    vy_status status = vy_mcap_read_buffered(r, offset, record, sizeof record, err);
    if (status != VY_OK) return status;
    if (record[0] != MCAP_DATA_END || mcap_get_u64(record + 1) != MCAP_DATA_END_SIZE) {
        return fail_damaged(offset, "the end of the data section is damaged", err);
    }
    const uint32_t stated_crc = mcap_get_u32(record + MCAP_RECORD_HEAD_SIZE);
    if (stated_crc == 0) {
        *has_crc = 0;
        return VY_OK;
    }
    uint32_t crc = 0;
    status = crc_of_first_bytes(r, offset, &crc, err);
    if (status != VY_OK) return status;
    if (crc != stated_crc) return fail_damaged(offset, "the data section is damaged: its CRC differs", err);
    return VY_OK;
}

// --- the summary against the data section, as somebody finds it who reads from the front

static bool same_text(const char *a, const char *b) { return strcmp(a, b) == 0; }

static bool same_pairs(const vy_mcap_pair *a, size_t count, const vy_mcap_pair *b, size_t other_count)
{
    if (count != other_count) return false;
    for (size_t i = 0; i < count; ++i) {
        if (!same_text(a[i].key, b[i].key) || !same_text(a[i].value, b[i].value)) return false;
    }
    return true;
}

static bool has_schema(const vy_mcap_reader *r, const vy_mcap_schema *a)
{
    const uint32_t position = mcap_ids_find(&r->schema_ids, a->id);
    const vy_mcap_schema *b = position > 0 ? &r->schemas[position - 1] : NULL;
    return b != NULL && same_text(a->name, b->name) && same_text(a->encoding, b->encoding) &&
           a->size == b->size && (a->size == 0 || memcmp(a->data, b->data, a->size) == 0);
}

static bool has_channel(const vy_mcap_reader *r, const vy_mcap_channel *a)
{
    const uint32_t position = mcap_ids_find(&r->channel_ids, a->id);
    const vy_mcap_channel *b = position > 0 ? &r->channels[position - 1] : NULL;
    return b != NULL && same_text(a->topic, b->topic) && same_text(a->encoding, b->encoding) &&
           a->schema == b->schema &&
           same_pairs(a->metadata, a->metadata_count, b->metadata, b->metadata_count) &&
           (!r->counts_known || a->message_count == b->message_count);
}

static bool has_metadata(const vy_mcap_reader *r, const vy_mcap_metadata *a)
{
    for (size_t i = 0; i < r->info.metadata_count; ++i) {
        const vy_mcap_metadata *b = &r->metadatas[i];
        if (same_text(a->name, b->name) && same_pairs(a->pairs, a->count, b->pairs, b->count)) return true;
    }
    return false;
}

static bool has_attachment(const vy_mcap_reader *r, const vy_mcap_attachment *a)
{
    for (size_t i = 0; i < r->info.attachment_count; ++i) {
        const vy_mcap_attachment *b = &r->attachments[i];
        if (a->offset == b->offset)
            return a->length == b->length && a->size == b->size && a->log_time == b->log_time &&
                   same_text(a->name, b->name) && same_text(a->media_type, b->media_type);
    }
    return false;
}

// What the summary of `r` says otherwise than the data section, which `scanned` was made from; NULL: nothing.
static const char *find_difference(const vy_mcap_reader *r, const vy_mcap_reader *scanned)
{
    const vy_mcap_info *a = &scanned->info, *b = &r->info;
    if (scanned->data_end != r->data_end) return "the summary does not begin where the data section ends";
    if (a->chunk_count != b->chunk_count || a->message_count != b->message_count)
        return "the summary does not name every chunk and message";
    for (size_t i = 0; i < a->chunk_count; ++i) {
        if (scanned->chunk_refs[i].offset != r->chunk_refs[i].offset)
            return "the summary does not name every chunk";
    }
    bool matches = true; // a summary may have more of them: those that no message uses
    for (size_t i = 0; matches && i < a->schema_count; ++i) matches = has_schema(r, &scanned->schemas[i]);
    if (!matches) return "the schemas of the summary are not those of the data section";
    for (size_t i = 0; matches && i < a->channel_count; ++i) matches = has_channel(r, &scanned->channels[i]);
    if (!matches) return "the channels of the summary are not those of the data section";
    matches = a->metadata_count == b->metadata_count;
    for (size_t i = 0; matches && i < a->metadata_count; ++i)
        matches = has_metadata(r, &scanned->metadatas[i]);
    if (!matches) return "the metadata of the summary is not that of the data section";
    matches = a->attachment_count == b->attachment_count;
    for (size_t i = 0; matches && i < a->attachment_count; ++i)
        matches = has_attachment(r, &scanned->attachments[i]);
    return matches ? NULL : "the attachments of the summary are not those of the data section";
}

static vy_status check_summary(vy_mcap_reader *r, vy_error *err)
{
    vy_mcap_reader *scanned = NULL;
    vy_status status = vy_mcap_open_data_section(r, &scanned, err);
    if (status != VY_OK) return status;
    const char *difference = NULL;
    if (scanned->info.truncated)
        status = vy_fail(err, VY_DAMAGED, "%s", scanned->info.warning);
    else if ((difference = find_difference(r, scanned)) != NULL)
        status = fail_damaged(r->data_end, difference, err);
    vy_mcap_reader_close(scanned);
    return status;
}

// --- the index of each chunk against its messages: readers that seek see no others

// A chunk, and the indexes behind it. A message that an index names is no longer one in `unindexed`.
typedef struct indexed_chunk {
    mcap_chunk unindexed;
    const mcap_chunk_ref *ref;
    size_t index_count; // so far
} indexed_chunk;

static vy_status check_index(vy_mcap_reader *r, const mcap_record *record, indexed_chunk *chunk,
                             vy_error *err)
{
    static const char mismatch[] = "an index does not fit the messages of its chunk";
    unsigned char *body = NULL;
    if (chunk->ref == NULL) return fail_damaged(record->offset, mismatch, err);
    vy_status status = vy_mcap_read_body(r, record, &body, err);
    if (status != VY_OK) return status;
    mcap_span span = mcap_span_on(body, (size_t)record->length);
    const uint16_t channel = mcap_span_u16(&span);
    (void)mcap_span_u32(&span); // [bytes]: the scan has looked at it
    bool is_valid = false;
    for (size_t i = 0; i < chunk->ref->index_count && !is_valid; ++i) {
        const unsigned char *index_entry = chunk->ref->index_offsets + 10 * i;
        is_valid = mcap_get_u16(index_entry) == channel && mcap_get_u64(index_entry + 2) == record->offset;
    }
    const mcap_bytes *records = &chunk->unindexed.records;
    while (is_valid && mcap_span_remaining(&span) > 0) {
        const uint64_t time = mcap_span_u64(&span), position = mcap_span_u64(&span);
        is_valid = !span.bad && position < records->size &&
                   records->size - position >= MCAP_RECORD_HEAD_SIZE + MCAP_MESSAGE_HEAD_SIZE &&
                   records->data[position] == MCAP_MESSAGE;
        if (!is_valid) break;
        const vy_mcap_message message = mcap_message_at(records->data + position);
        is_valid = message.channel == channel && message.log_time == time;
        records->data[position] = 0;
    }
    free(body);
    chunk->index_count += 1;
    return is_valid ? VY_OK : fail_damaged(record->offset, mismatch, err);
}

// All indexes of a chunk have been seen: they name every message, or there are none.
static vy_status end_indexes(const indexed_chunk *chunk, vy_error *err)
{
    const mcap_bytes *records = &chunk->unindexed.records;
    if (chunk->ref == NULL) return VY_OK;
    bool is_valid = chunk->index_count == chunk->ref->index_count;
    for (size_t position = 0; is_valid && chunk->index_count > 0 && position < records->size;
         position += MCAP_RECORD_HEAD_SIZE + (size_t)mcap_get_u64(records->data + position + 1))
        is_valid = records->data[position] != MCAP_MESSAGE;
    return is_valid ? VY_OK
                    : fail_damaged(chunk->ref->offset,
                                   "the indexes of a chunk do not name all of its messages", err);
}

static vy_status check_indexes(vy_mcap_reader *r, vy_error *err)
{
    indexed_chunk chunk = {.ref = NULL};
    vy_status status = VY_OK;
    size_t chunk_count = 0;
    for (uint64_t offset = MCAP_MAGIC_SIZE; offset < r->data_end && status == VY_OK;) {
        mcap_record record;
        status = vy_mcap_read_head(r, offset, r->data_end, &record, err);
        if (status != VY_OK) break;
        if (record.opcode == MCAP_CHUNK) {
            VY_ASSERT(chunk_count < r->info.chunk_count); // as many as the front has
            status = end_indexes(&chunk, err);
            chunk.ref = &r->chunk_refs[chunk_count++];
            chunk.index_count = 0;
            if (status == VY_OK) status = vy_mcap_load_chunk(r, chunk.ref, &chunk.unindexed, err);
            if (status == VY_OK) status = vy_mcap_check_chunk(r, &chunk.unindexed, NULL, err);
        } else if (record.opcode == MCAP_MESSAGE_INDEX) {
            status = check_index(r, &record, &chunk, err);
        }
        offset += MCAP_RECORD_HEAD_SIZE + record.length;
    }
    if (status == VY_OK) status = end_indexes(&chunk, err);
    mcap_bytes_free(&chunk.unindexed.records);
    return status;
}

vy_status vy_mcap_reader_check(vy_mcap_reader *r, int *has_crc, vy_error *err)
{
    if (r->info.warning[0] != 0) return vy_fail(err, VY_DAMAGED, "%s", r->info.warning);
    *has_crc = r->summary_checked;
    vy_status status = check_summary(r, err); // first: it names the place
    if (status == VY_OK) status = check_indexes(r, err);
    if (status == VY_OK) status = check_data_end(r, has_crc, err);
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
