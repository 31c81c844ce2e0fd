// mutate_mcap.h - changes a log by its records: one goes, comes twice, trades places or gets other bytes,
// inside chunks, too. Then lengths, checksums, indexes and statistics are made anew, as a stranger would who
// has changed a log, so that the change reaches what is behind them. Every eighth change is libFuzzer's own,
// which leaves all of that wrong. Compressed chunks are bytes like any other: seeds have none.
#pragma once
#include "mutate.h"
#include "record/crc.h"
#include "record/mcap_format.h"

enum { MCAP_PARTS_MAX = 4096, MCAP_CHUNKS_MAX = 64, MCAP_INDEXED_MAX = 128, MCAP_CHUNK_END = 0x100 };

// A record, the beginning of a chunk, or its end.
typedef struct mcap_part {
    int opcode;
    const unsigned char *body;
    size_t size;
} mcap_part;

typedef struct mcap_list {
    mcap_part parts[MCAP_PARTS_MAX];
    size_t count;
} mcap_list;

// A chunk as it was written.
typedef struct mcap_span {
    uint64_t first, last;  // [ns] log time of its earliest and latest message
    uint64_t at, length;   // [bytes] of the record in the file
    uint64_t records_size; // [bytes] of the records inside
    uint64_t index_length; // [bytes] of the indexes behind it
    uint16_t channels[MCAP_INDEXED_MAX];
    uint64_t index_at[MCAP_INDEXED_MAX];
    size_t channel_count;
} mcap_span;

// Where an attachment or metadata went.
typedef struct mcap_place {
    uint64_t at, length; // [bytes] in the file
    const mcap_part *part;
} mcap_place;

typedef struct mcap_builder {
    mcap_bytes out;
    mcap_span chunks[MCAP_CHUNKS_MAX];
    mcap_place attachments[MCAP_CHUNKS_MAX], metadata[MCAP_CHUNKS_MAX];
    size_t chunk_count, attachment_count, metadata_count;
    uint64_t message_count;
    size_t chunk_start;     // where the records of the open chunk begin; 0: none is open
    uint64_t summary_start; // 0: not reached yet
    int has_indexes;        // 1: the chunk indexes are written
} mcap_builder;

// --- taking a log apart

NOT_COVERED static inline int mcap_is_plain_chunk(const unsigned char *body, size_t size)
{
    return size >= MCAP_CHUNK_HEAD_SIZE && mcap_get_u32(body + 28) == 0 &&
           mcap_get_u64(body + 32) <= size - MCAP_CHUNK_HEAD_SIZE;
}

NOT_COVERED static inline void mcap_add_part(mcap_list *list, int opcode, const unsigned char *body,
                                             size_t size)
{
    if (list->count < MCAP_PARTS_MAX) list->parts[list->count++] = (mcap_part){opcode, body, size};
}

// The records from `at` on, as far as they are whole.
NOT_COVERED static inline void mcap_parse_records(const unsigned char *at, const unsigned char *end,
                                                  mcap_list *list)
{
    while (end - at >= MCAP_RECORD_HEAD_SIZE) {
        const int opcode = at[0];
        const uint64_t size = mcap_get_u64(at + 1);
        at += MCAP_RECORD_HEAD_SIZE;
        if (size > (uint64_t)(end - at)) return;
        if (opcode == MCAP_CHUNK && mcap_is_plain_chunk(at, (size_t)size)) {
            mcap_add_part(list, MCAP_CHUNK, at, MCAP_CHUNK_HEAD_SIZE);
            mcap_parse_records(at + MCAP_CHUNK_HEAD_SIZE, at + MCAP_CHUNK_HEAD_SIZE + mcap_get_u64(at + 32),
                               list);
            mcap_add_part(list, MCAP_CHUNK_END, at, 0);
        } else {
            mcap_add_part(list, opcode, at, (size_t)size);
        }
        at += size;
        if (opcode == MCAP_FOOTER) return;
    }
}

// --- putting it together

// Note the channel and time of a message in the open chunk.
NOT_COVERED static inline void mcap_note_message(mcap_span *span, const unsigned char *body)
{
    const uint16_t channel = mcap_get_u16(body);
    const uint64_t time = mcap_get_u64(body + 6);
    size_t k = 0;
    if (span->channel_count == 0 || time < span->first) span->first = time;
    if (time > span->last) span->last = time;
    while (k < span->channel_count && span->channels[k] != channel) ++k;
    if (k == span->channel_count && k < MCAP_INDEXED_MAX) span->channels[span->channel_count++] = channel;
}

// The index of one channel: times and places of its messages in the chunk's records.
NOT_COVERED static inline void mcap_write_index(mcap_builder *w, const mcap_span *span, uint16_t channel)
{
    const size_t record_start = mcap_bytes_begin(&w->out, MCAP_MESSAGE_INDEX),
                 end = w->chunk_start + (size_t)span->records_size;
    mcap_bytes_u16(&w->out, channel);
    mcap_bytes_u32(&w->out, 0);
    const size_t entries_start = w->out.size;
    for (size_t at = w->chunk_start; at < end && !w->out.failed;) {
        const unsigned char *record = w->out.data + at;
        const uint64_t size = mcap_get_u64(record + 1),
                       time = mcap_get_u64(record + MCAP_RECORD_HEAD_SIZE + 6);
        if (record[0] == MCAP_MESSAGE && size >= MCAP_MESSAGE_HEAD_SIZE &&
            mcap_get_u16(record + MCAP_RECORD_HEAD_SIZE) == channel) {
            mcap_bytes_u64(&w->out, time);
            mcap_bytes_u64(&w->out, at - w->chunk_start);
        }
        at += MCAP_RECORD_HEAD_SIZE + (size_t)size;
    }
    if (!w->out.failed)
        mcap_put_u32(w->out.data + entries_start - 4, (uint32_t)(w->out.size - entries_start));
    mcap_bytes_end(&w->out, record_start);
}

NOT_COVERED static inline void mcap_open_chunk(mcap_builder *w, const mcap_part *part)
{
    if (w->chunk_start != 0 || w->chunk_count == MCAP_CHUNKS_MAX) return;
    mcap_span *span = &w->chunks[w->chunk_count];
    *span = (mcap_span){.at = mcap_bytes_begin(&w->out, MCAP_CHUNK)};
    mcap_bytes_put(&w->out, part->body, MCAP_CHUNK_HEAD_SIZE);
    w->chunk_start = w->out.size;
}

NOT_COVERED static inline void mcap_close_chunk(mcap_builder *w)
{
    if (w->chunk_start == 0) return;
    mcap_span *span = &w->chunks[w->chunk_count++];
    span->records_size = w->out.size - w->chunk_start;
    span->length = w->out.size - span->at;
    mcap_bytes_end(&w->out, (size_t)span->at);
    if (!w->out.failed) {
        unsigned char *head = w->out.data + w->chunk_start - MCAP_CHUNK_HEAD_SIZE;
        mcap_put_u64(head, span->first);
        mcap_put_u64(head + 8, span->last);
        mcap_put_u64(head + 16, span->records_size);
        mcap_put_u32(head + 24, vy_crc32(0, w->out.data + w->chunk_start, (size_t)span->records_size));
        mcap_put_u64(head + 32, span->records_size);
    }
    const size_t indexes_start = w->out.size;
    for (size_t k = 0; k < span->channel_count; ++k) {
        span->index_at[k] = w->out.size;
        mcap_write_index(w, span, span->channels[k]);
    }
    span->index_length = w->out.size - indexes_start;
    w->chunk_start = 0;
}

NOT_COVERED static inline void mcap_write_chunk_indexes(mcap_builder *w)
{
    for (size_t i = 0; i < w->chunk_count && !w->has_indexes; ++i) {
        const mcap_span *span = &w->chunks[i];
        const size_t record_start = mcap_bytes_begin(&w->out, MCAP_CHUNK_INDEX);
        const uint64_t head[] = {span->first, span->last, span->at, span->length};
        for (int k = 0; k < 4; ++k) mcap_bytes_u64(&w->out, head[k]);
        mcap_bytes_u32(&w->out, (uint32_t)(10 * span->channel_count));
        for (size_t k = 0; k < span->channel_count; ++k) {
            mcap_bytes_u16(&w->out, span->channels[k]);
            mcap_bytes_u64(&w->out, span->index_at[k]);
        }
        mcap_bytes_u64(&w->out, span->index_length);
        mcap_bytes_string(&w->out, "");
        mcap_bytes_u64(&w->out, span->records_size);
        mcap_bytes_u64(&w->out, span->records_size);
        mcap_bytes_end(&w->out, record_start);
    }
    w->has_indexes = 1;
}

// A record as it is, but for what depends on others.
NOT_COVERED static inline void mcap_write_record(mcap_builder *w, const mcap_part *part)
{
    const size_t at = mcap_bytes_begin(&w->out, part->opcode), body = w->out.size;
    mcap_bytes_put(&w->out, part->body, part->size);
    mcap_bytes_end(&w->out, at);
    if (w->out.failed) return;
    unsigned char *record_body = w->out.data + body;
    const mcap_place place = {at, w->out.size - at, part};
    if (part->opcode == MCAP_MESSAGE && part->size >= MCAP_MESSAGE_HEAD_SIZE) {
        if (w->chunk_start != 0) mcap_note_message(&w->chunks[w->chunk_count], record_body);
        w->message_count += 1;
    } else if (part->opcode == MCAP_ATTACHMENT && part->size >= 4) {
        mcap_put_u32(record_body + part->size - 4, vy_crc32(0, record_body, part->size - 4));
        if (w->attachment_count < MCAP_CHUNKS_MAX) w->attachments[w->attachment_count++] = place;
    } else if (part->opcode == MCAP_METADATA) {
        if (w->metadata_count < MCAP_CHUNKS_MAX) w->metadata[w->metadata_count++] = place;
    } else if (part->opcode == MCAP_DATA_END && part->size == MCAP_DATA_END_SIZE) {
        mcap_put_u32(record_body, vy_crc32(0, w->out.data, at));
        w->summary_start = w->out.size;
    } else if (part->opcode == MCAP_STATISTICS && part->size >= 8) {
        mcap_put_u64(record_body, w->message_count);
    } else if (part->opcode == MCAP_FOOTER && part->size == MCAP_FOOTER_SIZE) {
        mcap_put_u64(record_body, at > w->summary_start ? w->summary_start : 0);
        mcap_put_u64(record_body + 8, 0);
        mcap_put_u32(record_body + 16,
                     vy_crc32(0, w->out.data + w->summary_start, body + 16 - (size_t)w->summary_start));
    }
}

// The index of attachment or metadata number `k` of the summary: where it has come to lie.
NOT_COVERED static inline void mcap_write_place(mcap_builder *w, const mcap_part *part,
                                                const mcap_place *places, size_t count, size_t k)
{
    if (k >= count) return;
    const size_t at = w->out.size;
    mcap_write_record(w, part);
    if (w->out.failed || part->size < 16) return;
    mcap_put_u64(w->out.data + at + MCAP_RECORD_HEAD_SIZE, places[k].at);
    mcap_put_u64(w->out.data + at + MCAP_RECORD_HEAD_SIZE + 8, places[k].length);
}

NOT_COVERED static inline void mcap_assemble(mcap_builder *w, const mcap_list *list)
{
    size_t attachments = 0, metadata = 0;
    mcap_bytes_put(&w->out, MCAP_MAGIC, MCAP_MAGIC_SIZE);
    for (size_t i = 0; i < list->count; ++i) {
        const mcap_part *part = &list->parts[i];
        switch (part->opcode) {
        case MCAP_CHUNK:
            if (part->size == MCAP_CHUNK_HEAD_SIZE)
                mcap_open_chunk(w, part);
            else
                mcap_write_record(w, part); // compressed
            break;
        case MCAP_CHUNK_END: mcap_close_chunk(w); break;
        case MCAP_MESSAGE_INDEX: break; // behind its chunk already
        case MCAP_SUMMARY_OFFSET: break;
        case MCAP_CHUNK_INDEX: mcap_write_chunk_indexes(w); break;
        case MCAP_ATTACHMENT_INDEX:
            mcap_write_place(w, part, w->attachments, w->attachment_count, attachments++);
            break;
        case MCAP_METADATA_INDEX:
            mcap_write_place(w, part, w->metadata, w->metadata_count, metadata++);
            break;
        default:
            if (part->opcode == MCAP_FOOTER || part->opcode == MCAP_DATA_END) mcap_close_chunk(w);
            mcap_write_record(w, part);
            break;
        }
    }
    mcap_bytes_put(&w->out, MCAP_MAGIC, MCAP_MAGIC_SIZE);
}

// --- changing it

// Other bytes in a record; `buffer` is where they go.
NOT_COVERED static inline void mcap_change_bytes(random_draws *d, mcap_part *part, uint8_t *buffer,
                                                 size_t size)
{
    const int head =
        part->opcode == MCAP_MESSAGE && part->size >= MCAP_MESSAGE_HEAD_SIZE && draw_below(d, 4) > 0
            ? MCAP_MESSAGE_HEAD_SIZE // what it says, not which message it is
            : 0;
    if (part->opcode == MCAP_CHUNK || part->opcode == MCAP_CHUNK_END || part->size > size) return;
    memcpy(buffer, part->body, part->size);
    const size_t body = part->size - (size_t)head;
    part->size =
        (size_t)head + LLVMFuzzerMutate(buffer + head, body, draw_below(d, 2) ? body : size - (size_t)head);
    part->body = buffer;
}

NOT_COVERED static inline void mcap_change(random_draws *d, mcap_list *list, uint8_t *buffer, size_t size)
{
    if (list->count == 0) return;
    const size_t i = draw_below(d, list->count), k = draw_below(d, list->count);
    mcap_part *parts = list->parts;
    const mcap_part part = parts[i];
    switch (draw_below(d, 8)) {
    case 0: // away with it
        memmove(parts + i, parts + i + 1, (list->count - i - 1) * sizeof *parts);
        list->count -= 1;
        break;
    case 1: // once more, somewhere
        if (list->count == MCAP_PARTS_MAX) break;
        memmove(parts + k + 1, parts + k, (list->count - k) * sizeof *parts);
        parts[k] = part;
        list->count += 1;
        break;
    case 2: // two change places
        parts[i] = parts[k];
        parts[k] = part;
        break;
    default: mcap_change_bytes(d, &parts[i], buffer, size); break;
    }
}

// For LLVMFuzzerCustomMutator().
NOT_COVERED static inline size_t mcap_mutate(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    enum { CHANGES = 3, BUFFER_CAP = 1 << 16 };
    static mcap_list list;
    static mcap_builder builder;
    static uint8_t buffers[CHANGES][BUFFER_CAP];
    random_draws d = draws_from_seed(seed);
    if (size <= MCAP_MAGIC_SIZE || draw_below(&d, 8) == 0) return LLVMFuzzerMutate(data, size, max_size);
    list.count = 0;
    mcap_parse_records(data + MCAP_MAGIC_SIZE, data + size, &list);
    const size_t changes = 1 + draw_below(&d, CHANGES);
    for (size_t i = 0; i < changes; ++i) mcap_change(&d, &list, buffers[i], BUFFER_CAP);
    const mcap_bytes buffer = builder.out;
    memset(&builder, 0, sizeof builder);
    builder.out = buffer;
    builder.out.size = 0;
    mcap_assemble(&builder, &list);
    if (builder.out.failed || builder.out.size > max_size) return LLVMFuzzerMutate(data, size, max_size);
    memcpy(data, builder.out.data, builder.out.size);
    return builder.out.size;
}
