// mcap_open.c - opens a file by its summary, or by a scan up to the last whole chunk.
#include "record/mcap_tables.h"
#include "base/fail.h"
#include "record/crc.h"
#include <stdio.h>

static vy_status fail_damaged(uint64_t offset, const char *problem, vy_error *err)
{
    return vy_fail(err, VY_DAMAGED, "byte %llu: %s", (unsigned long long)offset, problem);
}

// What the summary must name of each kind.
typedef struct summary_counts {
    int64_t attachments, metadata, chunks;
} summary_counts;

static vy_status add_statistics(vy_mcap_reader *r, mcap_span body, uint64_t offset,
                                summary_counts *statistics, vy_error *err)
{
    r->info.message_count = mcap_span_u64(&body);
    mcap_span_take(&body, 2 + 4); // counts of schemas and channels: messages need theirs
    statistics->attachments = mcap_span_u32(&body);
    statistics->metadata = mcap_span_u32(&body);
    statistics->chunks = mcap_span_u32(&body);
    r->info.start_time = mcap_span_u64(&body);
    r->info.end_time = mcap_span_u64(&body);
    const uint32_t size = mcap_span_u32(&body);
    mcap_span counts = mcap_span_on(mcap_span_take(&body, size), body.bad ? 0 : size);
    if (body.bad || size % 10 != 0) return fail_damaged(offset, "the statistics are broken", err);
    r->counts_known = size > 0; // an empty list: not counted
    while (mcap_span_remaining(&counts) > 0) {
        const uint32_t position = mcap_ids_find(&r->channel_ids, mcap_span_u16(&counts));
        const uint64_t count = mcap_span_u64(&counts);
        if (position == 0)
            return fail_damaged(offset, "the statistics name a channel that was not declared", err);
        r->channels[position - 1].message_count = count;
    }
    return VY_OK;
}

static vy_status add_chunk_index(vy_mcap_reader *r, mcap_span body, uint64_t offset, vy_error *err)
{
    mcap_chunk_ref ref = {.start_time = mcap_span_u64(&body)};
    ref.end_time = mcap_span_u64(&body);
    ref.offset = mcap_span_u64(&body);
    ref.length = mcap_span_u64(&body);
    const uint32_t index_size = mcap_span_u32(&body);
    const unsigned char *index_offsets = mcap_span_take(&body, index_size);
    mcap_span_u64(&body);                        // length of the message indexes: chunks are walked instead
    mcap_span_take(&body, mcap_span_u32(&body)); // the compression stands in the chunk too
    mcap_span_u64(&body);
    ref.size = mcap_span_u64(&body);
    if (body.bad || index_size % 10 != 0) return fail_damaged(offset, "a chunk index is broken", err);

    // In file order and apart: else a small file could ask for one chunk any number of times.
    const mcap_chunk_ref *last = r->info.chunk_count > 0 ? &r->chunk_refs[r->info.chunk_count - 1] : NULL;
    const uint64_t first_offset = last != NULL ? last->offset + last->length : MCAP_MAGIC_SIZE;
    if (ref.offset < first_offset || ref.offset > offset || ref.length > offset - ref.offset ||
        ref.length < MCAP_RECORD_HEAD_SIZE + MCAP_CHUNK_HEAD_SIZE) {
        return fail_damaged(offset, "a chunk index points to where no chunk can be", err);
    }
    if (index_size > 0) {
        unsigned char *copy = vy_mcap_alloc(r, index_size);
        if (copy == NULL) return vy_mcap_fail_full(r, offset, err);
        ref.index_offsets = memcpy(copy, index_offsets, index_size);
        ref.index_count = index_size / 10;
    }
    return vy_mcap_add_chunk(r, &ref, offset, err);
}

static vy_status add_attachment_index(vy_mcap_reader *r, mcap_span body, uint64_t offset, vy_error *err)
{
    vy_mcap_attachment attachment = {.offset = mcap_span_u64(&body)};
    attachment.length = mcap_span_u64(&body);
    attachment.log_time = mcap_span_u64(&body);
    attachment.create_time = mcap_span_u64(&body);
    attachment.size = mcap_span_u64(&body);
    if (body.bad || attachment.length < MCAP_RECORD_HEAD_SIZE)
        return fail_damaged(offset, "an attachment index is broken", err);
    return vy_mcap_add_attachment(r, &attachment, body, offset, err);
}

// Metadata has to be fetched from the data section. What cannot be read is a warning: the messages are
// unharmed.
static vy_status add_metadata_index(vy_mcap_reader *r, mcap_span index_record, uint64_t offset, vy_error *err)
{
    const uint64_t record_offset = mcap_span_u64(&index_record);
    const uint64_t length = mcap_span_u64(&index_record);
    const uint32_t name_size = mcap_span_u32(&index_record);
    const unsigned char *name = mcap_span_take(&index_record, name_size);
    if (index_record.bad) return fail_damaged(offset, "a metadata index is broken", err);
    vy_error error;
    mcap_record record = {0};
    unsigned char *body = NULL;
    vy_status status = vy_mcap_read_head(r, record_offset, offset, &record, &error);
    if (status == VY_OK &&
        (record.opcode != MCAP_METADATA || record.length != length - MCAP_RECORD_HEAD_SIZE)) {
        status = fail_damaged(record_offset, "metadata does not match its index", &error);
    }
    if (status == VY_OK) status = vy_mcap_read_body(r, &record, &body, &error);
    if (status == VY_OK) {
        status = vy_mcap_add_metadata(r, mcap_span_on(body, (size_t)record.length), record_offset, &error);
    }
    free(body);
    if (status == VY_OK) {
        const char *listed_name = r->metadatas[r->info.metadata_count - 1].name;
        if (strlen(listed_name) == name_size && memcmp(listed_name, name, name_size) == 0) return VY_OK;
        r->info.metadata_count -= 1;
        status = fail_damaged(record_offset, "metadata has another name than in its index", &error);
    }
    if (status == VY_DAMAGED) {
        vy_mcap_warn(r, error.text);
        return VY_OK;
    }
    if (err != NULL) *err = error;
    return status;
}

// One record of the summary, which begins at `offset` of the file.
static vy_status add_summary_record(vy_mcap_reader *r, int opcode, mcap_span body, uint64_t offset,
                                    summary_counts *statistics, summary_counts *counts, vy_error *err)
{
    counts->attachments += opcode == MCAP_ATTACHMENT_INDEX;
    counts->metadata += opcode == MCAP_METADATA_INDEX;
    counts->chunks += opcode == MCAP_CHUNK_INDEX;
    switch (opcode) {
    case MCAP_SCHEMA: return vy_mcap_add_schema(r, body, offset, err);
    case MCAP_CHANNEL: return vy_mcap_add_channel(r, body, offset, err);
    case MCAP_CHUNK_INDEX: return add_chunk_index(r, body, offset, err);
    case MCAP_ATTACHMENT_INDEX: return add_attachment_index(r, body, offset, err);
    case MCAP_METADATA_INDEX: return add_metadata_index(r, body, offset, err);
    case MCAP_STATISTICS: return add_statistics(r, body, offset, statistics, err);
    default: return VY_OK; // summary offsets, and what later versions may add
    }
}

static vy_status add_summary(vy_mcap_reader *r, const unsigned char *data, size_t size, vy_error *err)
{
    summary_counts statistics = {-1, -1, -1}, counts = {0, 0, 0};
    for (size_t position = 0; position < size;) {
        const uint64_t offset = r->data_end + position;
        if (size - position < MCAP_RECORD_HEAD_SIZE ||
            mcap_get_u64(data + position + 1) > size - position - MCAP_RECORD_HEAD_SIZE) {
            return fail_damaged(offset, "a record does not fit into the summary", err);
        }
        const size_t length = (size_t)mcap_get_u64(data + position + 1);
        const mcap_span body = mcap_span_on(data + position + MCAP_RECORD_HEAD_SIZE, length);
        const vy_status status =
            add_summary_record(r, data[position], body, offset, &statistics, &counts, err);
        if (status != VY_OK) return status;
        position += MCAP_RECORD_HEAD_SIZE + length;
    }
    if (statistics.chunks != counts.chunks)
        return fail_damaged(r->data_end, "the summary does not name every chunk", err);
    if (statistics.attachments != counts.attachments || statistics.metadata != counts.metadata)
        return fail_damaged(r->data_end, "the summary does not name every attachment or metadata", err);
    if (statistics.chunks == 0 && r->info.message_count > 0) {
        return vy_fail(err, VY_OTHER_VERSION,
                       "byte %llu: the messages are not in chunks, which is not supported",
                       (unsigned long long)r->data_end);
    }
    return VY_OK;
}

vy_status vy_mcap_read_summary(vy_mcap_reader *r, vy_error *err)
{
    const uint64_t size = r->source.size;
    unsigned char tail[MCAP_TAIL_SIZE];
    if (size < MCAP_MAGIC_SIZE + MCAP_TAIL_SIZE)
        return fail_damaged(size, "the file ends before its footer", err);
    vy_status status = vy_mcap_read_buffered(r, size - MCAP_TAIL_SIZE, tail, MCAP_TAIL_SIZE, err);
    if (status != VY_OK) return status;
    if (memcmp(tail + MCAP_TAIL_SIZE - MCAP_MAGIC_SIZE, MCAP_MAGIC, MCAP_MAGIC_SIZE) != 0) {
        return fail_damaged(size, "the file ends before its footer: it was not closed", err);
    }
    const uint64_t footer_offset = size - MCAP_TAIL_SIZE;
    if (tail[0] != MCAP_FOOTER || mcap_get_u64(tail + 1) != MCAP_FOOTER_SIZE) {
        return fail_damaged(footer_offset, "the footer is damaged", err);
    }
    const uint64_t summary_offset = mcap_get_u64(tail + MCAP_RECORD_HEAD_SIZE);
    const uint32_t crc = mcap_get_u32(tail + MCAP_RECORD_HEAD_SIZE + 16);
    if (summary_offset == 0) return fail_damaged(footer_offset, "the file has no summary", err);
    if (summary_offset < MCAP_MAGIC_SIZE || summary_offset > footer_offset)
        return fail_damaged(footer_offset, "the footer is damaged", err);
    if (footer_offset - summary_offset > r->def.memory_limit) {
        return vy_fail(err, VY_FULL, "byte %llu: the summary needs more than %llu bytes of memory",
                       (unsigned long long)summary_offset, (unsigned long long)r->def.memory_limit);
    }
    const size_t length = (size_t)(footer_offset - summary_offset);
    const size_t crc_size = length + MCAP_RECORD_HEAD_SIZE + MCAP_FOOTER_SIZE - 4; // what its CRC goes over
    unsigned char *data = malloc(crc_size);
    if (data == NULL) return vy_fail(err, VY_NO_MEMORY, "no memory for the summary of a log");
    status = r->source.read(r->source.self, summary_offset, data, crc_size, err);
    r->data_end = summary_offset;
    r->summary_checked = crc != 0;
    if (status == VY_OK && crc != 0 && crc != vy_crc32(0, data, crc_size)) {
        status = fail_damaged(summary_offset, "the summary is damaged: its CRC differs", err);
    }
    if (status == VY_OK) status = add_summary(r, data, length, err);
    free(data);
    return status;
}

static vy_status scan_attachment(vy_mcap_reader *r, const mcap_record *record, vy_error *err)
{
    enum { FIXED_SIZE = 8 + 8 + 4 + 4 + 8 + 4 };
    const uint64_t offset = record->offset;
    vy_mcap_attachment attachment = {.offset = offset, .length = MCAP_RECORD_HEAD_SIZE + record->length};
    unsigned char head[4096]; // the names; the data behind them is not read here
    const size_t size = record->length < sizeof head ? (size_t)record->length : sizeof head;
    const vy_status status = vy_mcap_read_buffered(r, offset + MCAP_RECORD_HEAD_SIZE, head, size, err);
    if (status != VY_OK) return status;
    mcap_span span = mcap_span_on(head, size);
    attachment.log_time = mcap_span_u64(&span);
    attachment.create_time = mcap_span_u64(&span);
    const mcap_span texts = span;
    const uint32_t name_size = mcap_span_u32(&span);
    mcap_span_take(&span, name_size);
    const uint32_t type_size = mcap_span_u32(&span);
    mcap_span_take(&span, type_size);
    attachment.size = mcap_span_u64(&span);
    if (span.bad || record->length != FIXED_SIZE + (uint64_t)name_size + type_size + attachment.size) {
        return fail_damaged(offset, "an attachment is broken", err);
    }
    return vy_mcap_add_attachment(r, &attachment, texts, offset, err);
}

static void count_messages(vy_mcap_reader *r, const mcap_chunk *view)
{
    vy_mcap_info *info = &r->info;
    const unsigned char *data = view->records.data;
    for (size_t position = 0; position < view->records.size;
         position += MCAP_RECORD_HEAD_SIZE + (size_t)mcap_get_u64(data + position + 1)) {
        if (data[position] != MCAP_MESSAGE) continue;
        const vy_mcap_message message = mcap_message_at(data + position);
        if (info->message_count == 0 || message.log_time < info->start_time)
            info->start_time = message.log_time;
        if (info->message_count == 0 || message.log_time > info->end_time) info->end_time = message.log_time;
        info->message_count += 1;
        r->channels[mcap_ids_find(&r->channel_ids, message.channel) - 1].message_count += 1;
    }
}

static vy_status scan_chunk(vy_mcap_reader *r, const mcap_record *record, mcap_chunk *view, vy_error *err)
{
    const uint64_t offset = record->offset;
    unsigned char head[24];
    if (record->length < MCAP_CHUNK_HEAD_SIZE) return fail_damaged(offset, "a chunk is broken", err);
    vy_status status = vy_mcap_read_buffered(r, offset + MCAP_RECORD_HEAD_SIZE, head, sizeof head, err);
    if (status != VY_OK) return status;
    mcap_chunk_ref ref = {.offset = offset, .length = MCAP_RECORD_HEAD_SIZE + record->length};
    ref.start_time = mcap_get_u64(head);
    ref.end_time = mcap_get_u64(head + 8);
    ref.size = mcap_get_u64(head + 16);
    mcap_chunk_ref computed = ref;
    status = vy_mcap_load_chunk(r, &ref, view, err);
    if (status == VY_OK) status = vy_mcap_check_chunk(r, view, &computed, err);
    if (status == VY_OK && (computed.start_time != ref.start_time || computed.end_time != ref.end_time)) {
        status = fail_damaged(offset, "the times of a chunk are not those of its messages", err);
    }
    view->ref = NULL;
    if (status == VY_OK) status = vy_mcap_add_chunk(r, &ref, offset, err);
    if (status == VY_OK) count_messages(r, view);
    return status;
}

static vy_status scan_small_record(vy_mcap_reader *r, const mcap_record *record, vy_error *err)
{
    unsigned char *body = NULL;
    vy_status status = vy_mcap_read_body(r, record, &body, err);
    if (status != VY_OK) return status;
    const mcap_span span = mcap_span_on(body, (size_t)record->length);
    if (record->opcode == MCAP_SCHEMA) status = vy_mcap_add_schema(r, span, record->offset, err);
    if (record->opcode == MCAP_CHANNEL) status = vy_mcap_add_channel(r, span, record->offset, err);
    if (record->opcode == MCAP_METADATA) status = vy_mcap_add_metadata(r, span, record->offset, err);
    free(body);
    return status;
}

// Not needed, as chunks are walked; but a chunk whose opcode was damaged must not be passed over as an index.
static vy_status scan_message_index(vy_mcap_reader *r, const mcap_record *record, vy_error *err)
{
    enum { HEAD_SIZE = 2 + 4, ENTRY_SIZE = 16 };
    unsigned char head[HEAD_SIZE];
    if (record->length < HEAD_SIZE) return fail_damaged(record->offset, "a message index is broken", err);
    const vy_status status =
        vy_mcap_read_buffered(r, record->offset + MCAP_RECORD_HEAD_SIZE, head, HEAD_SIZE, err);
    if (status != VY_OK) return status;
    if (mcap_get_u32(head + 2) != record->length - HEAD_SIZE ||
        (record->length - HEAD_SIZE) % ENTRY_SIZE != 0) {
        return fail_damaged(record->offset, "a message index is broken", err);
    }
    return VY_OK;
}

static vy_status scan_record(vy_mcap_reader *r, const mcap_record *record, mcap_chunk *view, vy_error *err)
{
    switch (record->opcode) {
    case MCAP_SCHEMA:
    case MCAP_CHANNEL:
    case MCAP_METADATA: return scan_small_record(r, record, err);
    case MCAP_CHUNK: return scan_chunk(r, record, view, err);
    case MCAP_ATTACHMENT: return scan_attachment(r, record, err);
    case MCAP_MESSAGE_INDEX: return scan_message_index(r, record, err);
    case MCAP_MESSAGE:
        return vy_fail(err, VY_OTHER_VERSION,
                       "byte %llu: a message is not in a chunk, which is not supported",
                       (unsigned long long)record->offset);
    default:
        // A private record of another program looks the same as damage here; what lies behind damage is not
        // trusted.
        return fail_damaged(record->offset, "a record of unknown kind", err);
    }
}

vy_status vy_mcap_scan(vy_mcap_reader *r, vy_error *err)
{
    vy_error error;
    mcap_chunk view = {0};
    mcap_record record = {0};
    uint64_t offset = MCAP_MAGIC_SIZE;
    r->counts_known = true;
    vy_status status =
        vy_mcap_read_head(r, offset, r->source.size, &record, &error); // the header, read already
    while (status == VY_OK) {
        offset += MCAP_RECORD_HEAD_SIZE + record.length;
        status = vy_mcap_read_head(r, offset, r->source.size, &record, &error);
        if (status != VY_OK) break;
        if (record.opcode == MCAP_DATA_END && record.length == MCAP_DATA_END_SIZE) break;
        status = scan_record(r, &record, &view, &error);
    }
    mcap_bytes_free(&view.records);
    if (status == VY_OK) { // the data section is whole
        r->data_end = offset + MCAP_RECORD_HEAD_SIZE + record.length;
        return VY_OK;
    }
    if (status != VY_DAMAGED) {
        if (err != NULL) *err = error;
        return status;
    }
    r->info.truncated = true;
    char text[sizeof r->info.warning];
    snprintf(text, sizeof text, "%.140s; whole chunks before it: %zu", error.text, r->info.chunk_count);
    vy_mcap_warn(r, text);
    return VY_OK;
}
