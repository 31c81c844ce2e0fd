// mcap_cursor.c - chunks unpacked, and passes over their messages in file order or by time.
#include "record/mcap_tables.h"
#include "base/assert.h"
#include "base/fail.h"
#include "record/crc.h"
#include <zstd.h>

enum { OPEN_CHUNKS_MAX = 16 }; // chunks that may overlap in time at one moment of a pass by time

static vy_status fail_damaged(uint64_t offset, const char *problem, vy_error *err)
{
    return vy_fail(err, VY_DAMAGED, "byte %llu: %s", (unsigned long long)offset, problem);
}

// Decompress a chunk into view->records.
static vy_status unpack(vy_mcap_reader *r, const mcap_chunk_ref *ref, mcap_span compressed,
                        const char *compression, size_t compression_size, mcap_chunk *view, vy_error *err)
{
    view->records.size = 0;
    if (!mcap_bytes_reserve(&view->records, (size_t)ref->size + 1)) {
        view->records.failed = false;
        return vy_fail(err, VY_NO_MEMORY, "no memory for a chunk of %llu bytes",
                       (unsigned long long)ref->size);
    }
    if (compression_size == 0) {
        if (mcap_span_remaining(&compressed) != ref->size) {
            return fail_damaged(ref->offset, "the size of an uncompressed chunk is not the stated one", err);
        }
        mcap_bytes_put(&view->records, compressed.at, (size_t)ref->size);
        return VY_OK;
    }
    if (compression_size != 4 || memcmp(compression, "zstd", 4) != 0) {
        return vy_fail(err, VY_OTHER_VERSION,
                       "byte %llu: a chunk is packed with \"%.*s\"; zstd and none are supported",
                       (unsigned long long)ref->offset, (int)(compression_size < 20 ? compression_size : 20),
                       compression);
    }
    if (r->zstd == NULL) r->zstd = ZSTD_createDCtx();
    if (r->zstd == NULL) return vy_fail(err, VY_NO_MEMORY, "no memory for zstd");
    const size_t size = ZSTD_decompressDCtx(r->zstd, view->records.data, (size_t)ref->size, compressed.at,
                                            mcap_span_remaining(&compressed));
    if (ZSTD_isError(size) || size != ref->size) {
        return fail_damaged(ref->offset, "a chunk cannot be unpacked by zstd to the size it states", err);
    }
    view->records.size = size;
    return VY_OK;
}

vy_status vy_mcap_load_chunk(vy_mcap_reader *r, const mcap_chunk_ref *ref, mcap_chunk *view, vy_error *err)
{
    const uint64_t offset = ref->offset;
    mcap_record record = {0};
    view->ref = NULL;
    vy_status status = vy_mcap_read_head(r, offset, r->source.size, &record, err);
    if (status != VY_OK) return status;
    if (ref->size > r->def.chunk_limit || record.length > r->def.chunk_limit) {
        return vy_fail(err, VY_FULL, "byte %llu: a chunk of %llu bytes is over the limit of %llu",
                       (unsigned long long)offset, (unsigned long long)ref->size,
                       (unsigned long long)r->def.chunk_limit);
    }
    if (record.opcode != MCAP_CHUNK || record.length != ref->length - MCAP_RECORD_HEAD_SIZE) {
        return fail_damaged(offset, "a chunk does not match its index", err);
    }
    r->packed.size = 0;
    if (!mcap_bytes_reserve(&r->packed, (size_t)record.length + 1)) {
        r->packed.failed = false;
        return vy_fail(err, VY_NO_MEMORY, "no memory for a chunk of %llu bytes",
                       (unsigned long long)record.length);
    }
    status = r->source.read(r->source.self, offset + MCAP_RECORD_HEAD_SIZE, r->packed.data,
                            (size_t)record.length, err);
    if (status != VY_OK) return status;
    mcap_span s = mcap_span_on(r->packed.data, (size_t)record.length);
    const uint64_t start_time = mcap_span_u64(&s);
    const uint64_t end_time = mcap_span_u64(&s);
    const uint64_t size = mcap_span_u64(&s);
    const uint32_t crc = mcap_span_u32(&s);
    const uint32_t compression_size = mcap_span_u32(&s);
    const unsigned char *compression = mcap_span_take(&s, compression_size);
    const uint64_t compressed_size = mcap_span_u64(&s);
    if (s.bad || compressed_size != mcap_span_remaining(&s))
        return fail_damaged(offset, "a chunk is broken", err);
    if (start_time != ref->start_time || end_time != ref->end_time || size != ref->size) {
        return fail_damaged(offset, "a chunk does not match its index", err);
    }
    status = unpack(r, ref, s, (const char *)compression, compression_size, view, err);
    if (status != VY_OK) return status;
    if (crc != 0 && crc != vy_crc32(0, view->records.data, view->records.size)) {
        return fail_damaged(offset, "a chunk is damaged: its CRC differs", err);
    }
    VY_ASSERT(view->records.size == ref->size);
    view->ref = ref;
    return VY_OK;
}

// A message of a chunk: complete, of a known channel and, without `scanned`, within the chunk's times.
static bool check_message(const vy_mcap_reader *r, const mcap_chunk *view, const unsigned char *record,
                          mcap_chunk_ref *scanned, bool *is_first)
{
    if (mcap_get_u64(record + 1) < MCAP_MESSAGE_HEAD_SIZE) return false;
    const vy_mcap_message message = mcap_message_at(record);
    if (mcap_ids_find(&r->channel_ids, message.channel) == 0) return false;
    if (scanned == NULL) {
        return message.log_time >= view->ref->start_time && message.log_time <= view->ref->end_time;
    }
    if (*is_first || message.log_time < scanned->start_time) scanned->start_time = message.log_time;
    if (*is_first || message.log_time > scanned->end_time) scanned->end_time = message.log_time;
    *is_first = false;
    return true;
}

vy_status vy_mcap_check_chunk(vy_mcap_reader *r, const mcap_chunk *view, mcap_chunk_ref *scanned,
                              vy_error *err)
{
    const unsigned char *data = view->records.data;
    const size_t size = view->records.size;
    const uint64_t offset = view->ref->offset;
    bool is_first = true;
    for (size_t position = 0; position < size;) {
        if (size - position < MCAP_RECORD_HEAD_SIZE ||
            mcap_get_u64(data + position + 1) > size - position - MCAP_RECORD_HEAD_SIZE) {
            return fail_damaged(offset, "a record does not fit into its chunk", err);
        }
        const size_t length = (size_t)mcap_get_u64(data + position + 1);
        const mcap_span body = mcap_span_on(data + position + MCAP_RECORD_HEAD_SIZE, length);
        vy_status status = VY_OK;
        if (data[position] == MCAP_MESSAGE) {
            if (!check_message(r, view, data + position, scanned, &is_first)) {
                return fail_damaged(offset,
                                    "a chunk holds a message that its channel or index does not allow", err);
            }
        } else if (data[position] == MCAP_SCHEMA) {
            if (scanned != NULL) status = vy_mcap_add_schema(r, body, offset, err);
        } else if (data[position] == MCAP_CHANNEL) {
            if (scanned != NULL) status = vy_mcap_add_channel(r, body, offset, err);
        } else {
            return fail_damaged(offset, "a chunk holds a record that is not a message", err);
        }
        if (status != VY_OK) return status;
        position += MCAP_RECORD_HEAD_SIZE + length;
    }
    return VY_OK;
}

// A key and what it belongs to: messages of a chunk by time, chunks by time.
typedef struct sort_item {
    uint64_t key, value;
} sort_item;

// Stable merge sort, bottom up. Logs are written in order, so check for that first.
static bool sort(sort_item *items, size_t count)
{
    size_t sorted = 1;
    while (sorted < count && items[sorted - 1].key <= items[sorted].key) ++sorted;
    if (sorted >= count) return true;
    sort_item *scratch = malloc(count * sizeof *scratch);
    if (scratch == NULL) return false;
    sort_item *from = items, *to = scratch;
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t start = 0; start < count; start += 2 * width) {
            const size_t middle = count - start < width ? count : start + width;
            const size_t end = count - middle < width ? count : middle + width;
            size_t a = start, b = middle;
            for (size_t i = start; i < end; ++i) {
                const bool takes_first = b >= end || (a < middle && from[a].key <= from[b].key);
                to[i] = takes_first ? from[a++] : from[b++];
            }
        }
        sort_item *swap = from;
        from = to;
        to = swap;
    }
    if (from != items) memcpy(items, from, count * sizeof *items);
    for (size_t i = 1; i < count; ++i) VY_ASSERT(items[i - 1].key <= items[i].key);
    free(scratch);
    return true;
}

// A chunk open in a cursor, and where the cursor stands in it.
typedef struct open_chunk {
    mcap_chunk view;
    size_t position;  // file order: the next record; by time: the next of items
    sort_item *items; // by time: log time, position of the record
    size_t item_count, item_capacity;
} open_chunk;

struct vy_mcap_cursor {
    vy_mcap_reader *reader;
    uint64_t start_time, end_time;
    bool by_time;
    unsigned char *channels; // a bit per channel id; NULL for all
    sort_item *chunk_order;  // by time: chunks by start time
    size_t next_chunk;       // the next one to open
    bool covers_all_times;   // the pass is over all times
    uint64_t messages_read;  // messages so far
    open_chunk open_chunks[OPEN_CHUNKS_MAX];
    int open_count;
    vy_status status;
    vy_error error;
};

static bool accepts_channel(const vy_mcap_cursor *c, uint16_t channel)
{
    return c->channels == NULL || (c->channels[channel >> 3] >> (channel & 7) & 1) != 0;
}

// Whether the chunk can hold a message for the cursor.
static bool accepts_chunk(const vy_mcap_cursor *c, const mcap_chunk_ref *ref)
{
    if (ref->end_time < c->start_time || ref->start_time > c->end_time) return false;
    if (ref->index_offsets == NULL) return true;
    for (size_t i = 0; i < ref->index_count; ++i) {
        if (accepts_channel(c, mcap_get_u16(ref->index_offsets + 10 * i))) return true;
    }
    return false;
}

static bool accepts_message(const vy_mcap_cursor *c, const vy_mcap_message *m)
{
    return m->log_time >= c->start_time && m->log_time <= c->end_time && accepts_channel(c, m->channel);
}

static bool fail_cursor(vy_mcap_cursor *c, vy_status status)
{
    c->status = status;
    return false;
}

// By time: the messages wanted of an open chunk, in order.
static bool list_messages(vy_mcap_cursor *c, open_chunk *chunk)
{
    const unsigned char *data = chunk->view.records.data;
    chunk->item_count = 0;
    for (size_t position = 0; position < chunk->view.records.size;
         position += MCAP_RECORD_HEAD_SIZE + (size_t)mcap_get_u64(data + position + 1)) {
        if (data[position] != MCAP_MESSAGE) continue;
        const vy_mcap_message message = mcap_message_at(data + position);
        if (!accepts_message(c, &message)) continue;
        if (chunk->item_count == chunk->item_capacity) {
            const size_t capacity = chunk->item_capacity == 0 ? 1024 : 2 * chunk->item_capacity;
            sort_item *items = realloc(chunk->items, capacity * sizeof *items);
            if (items == NULL)
                return fail_cursor(c, vy_fail(&c->error, VY_NO_MEMORY, "no memory to sort messages"));
            chunk->items = items;
            chunk->item_capacity = capacity;
        }
        chunk->items[chunk->item_count++] = (sort_item){.key = message.log_time, .value = position};
    }
    if (sort(chunk->items, chunk->item_count)) return true;
    return fail_cursor(c, vy_fail(&c->error, VY_NO_MEMORY, "no memory to sort messages"));
}

static bool open_next_chunk(vy_mcap_cursor *c, const mcap_chunk_ref *ref)
{
    uint64_t memory = ref->size;
    for (int i = 0; i < c->open_count; ++i) memory += c->open_chunks[i].view.records.size;
    if (c->open_count == OPEN_CHUNKS_MAX || memory > c->reader->def.memory_limit) {
        return fail_cursor(c, vy_fail(&c->error, VY_FULL,
                                      "byte %llu: too many chunks overlap in time to be read by time",
                                      (unsigned long long)ref->offset));
    }
    open_chunk *chunk = &c->open_chunks[c->open_count];
    VY_ASSERT(c->open_count >= 0 && c->open_count < OPEN_CHUNKS_MAX);
    chunk->position = 0;
    vy_status status = vy_mcap_load_chunk(c->reader, ref, &chunk->view, &c->error);
    if (status == VY_OK) status = vy_mcap_check_chunk(c->reader, &chunk->view, NULL, &c->error);
    if (status != VY_OK) return fail_cursor(c, status);
    if (c->by_time && !list_messages(c, chunk)) return false;
    c->open_count += 1;
    return true;
}

// Chunks at their end are closed late, when the message handed out from them may go; their memory is used
// again.
static void close_finished(vy_mcap_cursor *c)
{
    for (int i = c->open_count - 1; i >= 0; --i) {
        const size_t end = c->by_time ? c->open_chunks[i].item_count : c->open_chunks[i].view.records.size;
        VY_ASSERT(c->open_chunks[i].position <= end && c->open_chunks[i].view.ref != NULL);
        if (c->open_chunks[i].position < end) continue;
        const open_chunk finished = c->open_chunks[i];
        c->open_count -= 1;
        c->open_chunks[i] = c->open_chunks[c->open_count];
        c->open_chunks[c->open_count] = finished;
    }
}

static bool next_in_file_order(vy_mcap_cursor *c, vy_mcap_message *out)
{
    for (;;) {
        close_finished(c);
        if (c->open_count == 0) {
            const vy_mcap_reader *r = c->reader;
            while (c->next_chunk < r->info.chunk_count && !accepts_chunk(c, &r->chunk_refs[c->next_chunk]))
                ++c->next_chunk;
            if (c->next_chunk == r->info.chunk_count) return false;
            if (!open_next_chunk(c, &r->chunk_refs[c->next_chunk++])) return false;
        }
        open_chunk *chunk = &c->open_chunks[0];
        while (chunk->position < chunk->view.records.size) {
            const unsigned char *record = chunk->view.records.data + chunk->position;
            chunk->position += MCAP_RECORD_HEAD_SIZE + (size_t)mcap_get_u64(record + 1);
            if (record[0] != MCAP_MESSAGE) continue;
            *out = mcap_message_at(record);
            if (accepts_message(c, out)) return true;
        }
    }
}

// Equal times keep file order: the chunk that stands first in the file goes first.
static bool comes_before(uint64_t time_a, const mcap_chunk_ref *a, uint64_t time_b, const mcap_chunk_ref *b)
{
    return time_a < time_b || (time_a == time_b && a->offset < b->offset);
}

static bool next_by_time(vy_mcap_cursor *c, vy_mcap_message *out)
{
    const vy_mcap_reader *r = c->reader;
    for (;;) {
        close_finished(c);
        open_chunk *earliest = NULL;
        for (int i = 0; i < c->open_count; ++i) {
            open_chunk *chunk = &c->open_chunks[i];
            if (earliest == NULL ||
                comes_before(chunk->items[chunk->position].key, chunk->view.ref,
                             earliest->items[earliest->position].key, earliest->view.ref)) {
                earliest = chunk;
            }
        }
        while (c->next_chunk < r->info.chunk_count &&
               !accepts_chunk(c, &r->chunk_refs[c->chunk_order[c->next_chunk].value])) {
            ++c->next_chunk;
        }
        if (c->next_chunk < r->info.chunk_count) {
            const mcap_chunk_ref *ref = &r->chunk_refs[c->chunk_order[c->next_chunk].value];
            if (earliest == NULL ||
                comes_before(ref->start_time, ref, earliest->items[earliest->position].key,
                             earliest->view.ref)) {
                c->next_chunk += 1;
                if (!open_next_chunk(c, ref)) return false;
                continue;
            }
        }
        if (earliest == NULL) return false;
        VY_ASSERT(earliest->position < earliest->item_count);
        VY_ASSERT(earliest->items[earliest->position].value < earliest->view.records.size);
        *out = mcap_message_at(earliest->view.records.data + earliest->items[earliest->position++].value);
        return true;
    }
}

// A pass over all times must have found every message that the file declares: else its index lacks a chunk,
// or a channel of one.
static bool end_pass(vy_mcap_cursor *c)
{
    const vy_mcap_reader *r = c->reader;
    if (!c->covers_all_times || c->status != VY_OK || (c->channels != NULL && !r->counts_known)) return false;
    uint64_t stated_count = c->channels == NULL ? r->info.message_count : 0;
    for (size_t i = 0; i < r->info.channel_count && c->channels != NULL; ++i) {
        if (accepts_channel(c, r->channels[i].id)) stated_count += r->channels[i].message_count;
    }
    if (c->messages_read == stated_count) return false;
    return fail_cursor(c, vy_fail(&c->error, VY_DAMAGED,
                                  "byte %llu: the statistics state %llu messages, the chunks hold %llu",
                                  (unsigned long long)r->data_end, (unsigned long long)stated_count,
                                  (unsigned long long)c->messages_read));
}

bool vy_mcap_cursor_next(vy_mcap_cursor *c, vy_mcap_message *out)
{
    if (c->status != VY_OK) return false;
    if (!(c->by_time ? next_by_time(c, out) : next_in_file_order(c, out))) return end_pass(c);
    c->messages_read += 1;
    return true;
}

vy_status vy_mcap_cursor_status(const vy_mcap_cursor *c, vy_error *err)
{
    if (c->status != VY_OK && err != NULL) *err = c->error;
    return c->status;
}

void vy_mcap_cursor_seek(vy_mcap_cursor *c, uint64_t time)
{
    c->start_time = time;
    c->covers_all_times = false;
    c->next_chunk = 0;
    c->open_count = 0;
}

vy_status vy_mcap_cursor_open(vy_mcap_reader *r, const vy_mcap_query *query, vy_mcap_cursor **out,
                              vy_error *err)
{
    *out = NULL;
    static const vy_mcap_query everything = {0};
    if (query == NULL) query = &everything;
    vy_mcap_cursor *c = calloc(1, sizeof *c);
    if (c == NULL) return vy_fail(err, VY_NO_MEMORY, "no memory to read a log");
    c->reader = r;
    c->start_time = query->start_time;
    c->end_time = query->end_time != 0 ? query->end_time : UINT64_MAX;
    c->by_time = query->by_time;
    c->covers_all_times = c->start_time == 0 && c->end_time == UINT64_MAX;
    bool has_memory = true;
    if (query->channels != NULL) {
        c->channels = calloc((UINT16_MAX + 1) / 8, 1);
        has_memory = c->channels != NULL;
        for (size_t i = 0; has_memory && i < query->channel_count; ++i) {
            const uint16_t id = query->channels[i];
            c->channels[id >> 3] = (unsigned char)(c->channels[id >> 3] | 1u << (id & 7));
        }
    }
    if (has_memory && c->by_time && r->info.chunk_count > 0) {
        c->chunk_order = malloc(r->info.chunk_count * sizeof *c->chunk_order);
        has_memory = c->chunk_order != NULL;
        for (size_t i = 0; has_memory && i < r->info.chunk_count; ++i) {
            c->chunk_order[i] = (sort_item){.key = r->chunk_refs[i].start_time, .value = i};
        }
        has_memory = has_memory && sort(c->chunk_order, r->info.chunk_count);
    }
    if (!has_memory) {
        vy_mcap_cursor_close(c);
        return vy_fail(err, VY_NO_MEMORY, "no memory to read a log");
    }
    *out = c;
    return VY_OK;
}

void vy_mcap_cursor_close(vy_mcap_cursor *c)
{
    if (c == NULL) return;
    for (int i = 0; i < OPEN_CHUNKS_MAX; ++i) {
        mcap_bytes_free(&c->open_chunks[i].view.records);
        free(c->open_chunks[i].items);
    }
    free(c->channels);
    free(c->chunk_order);
    free(c);
}

// The last message wanted of an unpacked chunk; later ones of equal time win.
static bool find_latest(const mcap_chunk *view, uint16_t channel, uint64_t time, vy_mcap_message *best)
{
    const unsigned char *data = view->records.data;
    bool found = false;
    for (size_t position = 0; position < view->records.size;
         position += MCAP_RECORD_HEAD_SIZE + (size_t)mcap_get_u64(data + position + 1)) {
        if (data[position] != MCAP_MESSAGE) continue;
        const vy_mcap_message message = mcap_message_at(data + position);
        if (message.channel != channel || message.log_time > time) continue;
        if (found && message.log_time < best->log_time) continue;
        *best = message;
        found = true;
    }
    return found;
}

vy_status vy_mcap_reader_latest(vy_mcap_reader *r, uint16_t channel, uint64_t time, vy_mcap_message *out,
                                vy_error *err)
{
    unsigned char channels[(UINT16_MAX + 1) / 8] = {0};
    channels[channel >> 3] = (unsigned char)(1u << (channel & 7));
    const vy_mcap_cursor filter = {.end_time = time, .channels = channels};
    vy_mcap_message best = {0};
    bool found = false;
    for (size_t i = r->info.chunk_count;
         i-- > 0;) { // from the end: equal times are won by the first one seen
        const mcap_chunk_ref *ref = &r->chunk_refs[i];
        if (!accepts_chunk(&filter, ref) || (found && ref->end_time <= best.log_time)) continue;
        vy_status status = vy_mcap_load_chunk(r, ref, &r->trial, err);
        if (status == VY_OK) status = vy_mcap_check_chunk(r, &r->trial, NULL, err);
        if (status != VY_OK) return status;
        vy_mcap_message candidate = best;
        if (!find_latest(&r->trial, channel, time, &candidate)) continue;
        if (found && candidate.log_time <= best.log_time) continue;
        const mcap_chunk swap = r->best;
        r->best = r->trial;
        r->trial = swap;
        best = candidate;
        found = true;
    }
    if (!found) {
        return vy_fail(err, VY_NOT_FOUND, "no message of channel %d at or before %llu ns", channel,
                       (unsigned long long)time);
    }
    *out = best;
    return VY_OK;
}
