// mcap_writer.c - the writer's upper half: messages into the chunk being filled, chunks to the chunk writer
// (here or on a thread of its own), the records around them, the summary at the end.
#define _POSIX_C_SOURCE 200809L
#include "record/mcap_writer.h"
#include "base/assert.h"
#include "base/fail.h"
#include "record/crc.h"
#include "record/mcap_pack.h"
#include <pthread.h>

#define WRITER_COOKIE 0x6d636177u
enum { MESSAGE_LIMIT = 64 << 20 };
enum {
    MESSAGE_OVERHEAD = MCAP_RECORD_HEAD_SIZE + MCAP_MESSAGE_HEAD_SIZE
}; // bytes of a message record before its data

struct vy_mcap_writer {
    mcap_bytes chunk; // the chunk being filled, its messages from MCAP_CHUNK_HEADROOM on
    size_t limit;     // chunk.size may grow to this before the chunk ends
    size_t chunk_size,
        chunk_size_max; // [bytes] of messages that the next chunks may have; how far that may grow
    uint32_t chunks_per_size, chunk_count;
    uint16_t schema_count, channel_count;
    mcap_bytes schemas, channels, attachments, metadatas; // their records for the summary
    uint32_t attachment_count, metadata_count;
    mcap_bytes record; // one record being composed
    mcap_chunk_writer chunk_writer;
    vy_mcap_listener listener;

    // With a thread, the chunk writer belongs to it while is_busy is set.
    bool has_thread, is_busy, must_stop;
    mcap_bytes pending; // the chunk handed over
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t state_changed; // is_busy or must_stop
};

vy_mcap_writer_def vy_default_mcap_writer_def(void)
{
    return (vy_mcap_writer_def){
        .cookie = WRITER_COOKIE,
        .profile = "",
        .library = "volery",
        .compression = VY_MCAP_ZSTD,
        .level = 1,
        .chunk_size = 1 << 20,
        .chunk_size_max = 8 << 20,
        .chunks_per_size = 1024,
    };
}

static vy_status check_def(const vy_mcap_writer_def *def, vy_error *err)
{
    if (def->cookie != WRITER_COOKIE) {
        return vy_fail(err, VY_BAD_VALUE, "log: start from vy_default_mcap_writer_def()");
    }
    if (def->compression != VY_MCAP_NONE && def->compression != VY_MCAP_ZSTD) {
        return vy_fail(err, VY_BAD_VALUE, "log: unknown compression %d", (int)def->compression);
    }
    if (def->level < -100 || def->level > 19) {
        return vy_fail(err, VY_BAD_VALUE, "log: compression level must be -100 to 19, got %d", def->level);
    }
    if (def->chunk_size < 64 || def->chunk_size > MESSAGE_LIMIT || def->chunk_size_max > MESSAGE_LIMIT) {
        return vy_fail(err, VY_BAD_VALUE, "log: a chunk must have 64 bytes to 64 MiB, got %zu",
                       def->chunk_size);
    }
    if (def->chunks_per_size == 0 || def->profile == NULL || def->library == NULL) {
        return vy_fail(err, VY_BAD_VALUE, "log: chunks_per_size, profile and library must be set");
    }
    return VY_OK;
}

static void *writer_thread(void *self)
{
    vy_mcap_writer *w = self;
    pthread_mutex_lock(&w->lock);
    for (;;) {
        while (!w->is_busy && !w->must_stop) pthread_cond_wait(&w->state_changed, &w->lock);
        if (!w->is_busy) break;
        pthread_mutex_unlock(&w->lock);
        vy_mcap_chunk_writer_write_chunk(&w->chunk_writer, &w->pending); // its failure stays in the writer
        pthread_mutex_lock(&w->lock);
        w->is_busy = false;
        pthread_cond_signal(&w->state_changed);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

// Wait until the chunk writer is ours.
static void wait_idle(vy_mcap_writer *w)
{
    if (!w->has_thread) return;
    pthread_mutex_lock(&w->lock);
    while (w->is_busy) pthread_cond_wait(&w->state_changed, &w->lock);
    pthread_mutex_unlock(&w->lock);
}

static vy_status start_thread(vy_mcap_writer *w, vy_error *err)
{
    if (pthread_mutex_init(&w->lock, NULL) != 0)
        return vy_fail(err, VY_NO_MEMORY, "log: no memory for a lock");
    if (pthread_cond_init(&w->state_changed, NULL) != 0) {
        pthread_mutex_destroy(&w->lock);
        return vy_fail(err, VY_NO_MEMORY, "log: no memory for a condition");
    }
    if (pthread_create(&w->thread, NULL, writer_thread, w) != 0) {
        pthread_cond_destroy(&w->state_changed);
        pthread_mutex_destroy(&w->lock);
        return VY_OK; // where no thread can be had, the caller's writes
    }
    w->has_thread = true;
    return VY_OK;
}

static void stop_thread(vy_mcap_writer *w)
{
    if (!w->has_thread) return;
    pthread_mutex_lock(&w->lock);
    w->must_stop = true;
    pthread_cond_signal(&w->state_changed);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    pthread_cond_destroy(&w->state_changed);
    pthread_mutex_destroy(&w->lock);
    w->has_thread = false;
}

// The failure of the chunk writer, if any, for the caller. The chunk writer must be ours.
static vy_status chunk_writer_status(vy_mcap_writer *w, vy_error *err)
{
    if (w->chunk_writer.status != VY_OK && err != NULL) *err = w->chunk_writer.error;
    return w->chunk_writer.status;
}

static vy_status fail_memory(vy_mcap_writer *w, vy_error *err)
{
    vy_error error;
    vy_fail(&error, VY_NO_MEMORY, "no memory for the log");
    vy_mcap_chunk_writer_fail(&w->chunk_writer, VY_NO_MEMORY, &error);
    return chunk_writer_status(w, err);
}

// Send the record composed in w->record.
static vy_status put_record(vy_mcap_writer *w, vy_error *err)
{
    VY_ASSERT(!w->is_busy); // the chunk writer is ours
    if (w->record.failed) return fail_memory(w, err);
    vy_mcap_chunk_writer_put(&w->chunk_writer, w->record.data, w->record.size);
    return chunk_writer_status(w, err);
}

static void free_writer(vy_mcap_writer *w)
{
    stop_thread(w);
    vy_mcap_chunk_writer_free(&w->chunk_writer);
    mcap_bytes_free(&w->chunk);
    mcap_bytes_free(&w->pending);
    mcap_bytes_free(&w->schemas);
    mcap_bytes_free(&w->channels);
    mcap_bytes_free(&w->attachments);
    mcap_bytes_free(&w->metadatas);
    mcap_bytes_free(&w->record);
    free(w);
}

// An empty chunk to fill. On failure no room is left, so that the next message finds out.
static vy_status start_chunk(vy_mcap_writer *w, vy_error *err)
{
    w->chunk.size = 0;
    w->limit = 0;
    if (!mcap_bytes_reserve(&w->chunk, MCAP_CHUNK_HEADROOM + w->chunk_size)) {
        wait_idle(w);
        return fail_memory(w, err);
    }
    w->chunk.size = MCAP_CHUNK_HEADROOM;
    w->limit = MCAP_CHUNK_HEADROOM + w->chunk_size;
    return VY_OK;
}

vy_status vy_mcap_writer_open(const vy_mcap_writer_def *def, vy_byte_sink sink, vy_mcap_writer **out,
                              vy_error *err)
{
    *out = NULL;
    vy_status status = check_def(def, err);
    if (status != VY_OK) return status;
    vy_mcap_writer *w = calloc(1, sizeof *w);
    if (w == NULL) return vy_fail(err, VY_NO_MEMORY, "no memory for the log");
    w->chunk_size = def->chunk_size;
    w->chunk_size_max = def->chunk_size_max;
    w->chunks_per_size = def->chunks_per_size;
    if (def->listener != NULL) w->listener = *def->listener;
    status = vy_mcap_chunk_writer_init(&w->chunk_writer, def, sink, err);
    if (status == VY_OK) status = start_chunk(w, err);
    if (status == VY_OK) {
        mcap_bytes_put(&w->record, MCAP_MAGIC, MCAP_MAGIC_SIZE);
        const size_t record_start = mcap_bytes_begin(&w->record, MCAP_HEADER);
        mcap_bytes_string(&w->record, def->profile);
        mcap_bytes_string(&w->record, def->library);
        mcap_bytes_end(&w->record, record_start);
        status = put_record(w, err);
    }
    if (status == VY_OK && def->threaded) status = start_thread(w, err);
    if (status != VY_OK) {
        free_writer(w);
        return status;
    }
    *out = w;
    return VY_OK;
}

static size_t begin_record(vy_mcap_writer *w, int opcode)
{
    w->record.size = 0;
    return mcap_bytes_begin(&w->record, opcode);
}

static void put_pairs(mcap_bytes *b, const vy_mcap_pair *pairs, size_t count)
{
    const size_t size_position = b->size;
    mcap_bytes_u32(b, 0);
    for (size_t i = 0; i < count; ++i) {
        mcap_bytes_string(b, pairs[i].key);
        mcap_bytes_string(b, pairs[i].value);
    }
    if (!b->failed) mcap_put_u32(b->data + size_position, (uint32_t)(b->size - size_position - 4));
}

vy_status vy_mcap_writer_add_schema(vy_mcap_writer *w, const char *name, const char *encoding,
                                    const void *data, size_t size, uint16_t *id, vy_error *err)
{
    wait_idle(w);
    if (chunk_writer_status(w, err) != VY_OK) return w->chunk_writer.status;
    if (w->schema_count == UINT16_MAX) return vy_fail(err, VY_FULL, "log: more than 65535 schemas");
    if (size > MESSAGE_LIMIT) return vy_fail(err, VY_BAD_VALUE, "log: schema %s is larger than 64 MiB", name);
    const size_t record_start = begin_record(w, MCAP_SCHEMA);
    mcap_bytes_u16(&w->record, (uint16_t)(w->schema_count + 1));
    mcap_bytes_string(&w->record, name);
    mcap_bytes_string(&w->record, encoding);
    mcap_bytes_u32(&w->record, (uint32_t)size);
    mcap_bytes_put(&w->record, data, size);
    mcap_bytes_end(&w->record, record_start);
    mcap_bytes_put(&w->schemas, w->record.data, w->record.size);
    if (w->schemas.failed) return fail_memory(w, err);
    if (put_record(w, err) != VY_OK) return w->chunk_writer.status;
    *id = ++w->schema_count;
    if (w->chunk_writer.digest != NULL)
        vy_mcap_digest_schema(w->chunk_writer.digest, *id, name, encoding, data, size);
    return VY_OK;
}

vy_status vy_mcap_writer_add_channel(vy_mcap_writer *w, const vy_mcap_channel_def *def, uint16_t *id,
                                     vy_error *err)
{
    wait_idle(w);
    if (chunk_writer_status(w, err) != VY_OK) return w->chunk_writer.status;
    if (w->channel_count == UINT16_MAX) return vy_fail(err, VY_FULL, "log: more than 65535 channels");
    if (def->schema > w->schema_count) {
        return vy_fail(err, VY_NOT_FOUND, "log: channel %s names schema %d, which was not added", def->topic,
                       def->schema);
    }
    if (vy_mcap_chunk_writer_add_channel(&w->chunk_writer) != VY_OK) return fail_memory(w, err);
    const size_t record_start = begin_record(w, MCAP_CHANNEL);
    mcap_bytes_u16(&w->record, (uint16_t)(w->channel_count + 1));
    mcap_bytes_u16(&w->record, def->schema);
    mcap_bytes_string(&w->record, def->topic);
    mcap_bytes_string(&w->record, def->encoding);
    put_pairs(&w->record, def->metadata, def->metadata_count);
    mcap_bytes_end(&w->record, record_start);
    mcap_bytes_put(&w->channels, w->record.data, w->record.size);
    if (w->channels.failed) return fail_memory(w, err);
    if (put_record(w, err) != VY_OK) return w->chunk_writer.status;
    *id = ++w->channel_count;
    if (w->chunk_writer.digest != NULL) vy_mcap_digest_channel(w->chunk_writer.digest, *id, def);
    if (w->listener.on_channel != NULL) w->listener.on_channel(w->listener.self, *id, def->topic);
    return VY_OK;
}

// Give the chunk being filled to the chunk writer and start another. Chunks grow with their number: a file of
// any length then has few of them, and the index in memory stays small. With a thread, a failure while
// writing this chunk is seen at the end of the next one.
static vy_status end_chunk(vy_mcap_writer *w, vy_error *err)
{
    wait_idle(w);
    if (w->chunk_writer.status == VY_OK && w->chunk.size > MCAP_CHUNK_HEADROOM) {
        w->chunk_count += 1;
        if (w->chunk_count % w->chunks_per_size == 0 && w->chunk_size <= w->chunk_size_max / 2)
            w->chunk_size *= 2;
        if (w->has_thread) {
            const mcap_bytes full_chunk = w->chunk;
            w->chunk = w->pending;
            w->pending = full_chunk;
            pthread_mutex_lock(&w->lock);
            w->is_busy = true;
            pthread_cond_signal(&w->state_changed);
            pthread_mutex_unlock(&w->lock);
            return start_chunk(w, err);
        }
        vy_mcap_chunk_writer_write_chunk(&w->chunk_writer, &w->chunk);
    }
    if (w->chunk_writer.status != VY_OK) {
        w->limit = 0;
        return chunk_writer_status(w, err);
    }
    return start_chunk(w, err);
}

// The chunk has no room for a message of `size` bytes, or the log has failed.
static vy_status begin_chunk_for(vy_mcap_writer *w, size_t size, vy_error *err)
{
    if (size > MESSAGE_LIMIT)
        return vy_fail(err, VY_BAD_VALUE, "log: a message of %zu bytes is over 64 MiB", size);
    const vy_status status = end_chunk(w, err);
    if (status != VY_OK) return status;
    if (MESSAGE_OVERHEAD + size > w->limit - w->chunk.size) { // larger than a chunk: it gets one of its own
        if (!mcap_bytes_reserve(&w->chunk, MESSAGE_OVERHEAD + size)) {
            w->limit = 0;
            wait_idle(w);
            return fail_memory(w, err);
        }
        w->limit = w->chunk.size + MESSAGE_OVERHEAD + size;
    }
    return VY_OK;
}

unsigned char *vy_mcap_writer_begin(vy_mcap_writer *w, uint16_t channel, uint32_t sequence, uint64_t time,
                                    size_t size_max, vy_error *err)
{
    if (channel == 0 || channel > w->channel_count) {
        vy_fail(err, VY_NOT_FOUND, "log: channel %d was not added", channel);
        return NULL;
    }
    if (w->limit < w->chunk.size + MESSAGE_OVERHEAD ||
        size_max > w->limit - w->chunk.size - MESSAGE_OVERHEAD) {
        if (begin_chunk_for(w, size_max, err) != VY_OK) return NULL;
    }
    VY_ASSERT(w->chunk.size >= MCAP_CHUNK_HEADROOM && w->limit <= w->chunk.capacity);
    VY_ASSERT(w->chunk.size + MESSAGE_OVERHEAD + size_max <= w->limit);
    unsigned char *p = w->chunk.data + w->chunk.size;
    *p = MCAP_MESSAGE;
    p = mcap_put_u16(p + MCAP_RECORD_HEAD_SIZE, channel);
    p = mcap_put_u32(p, sequence);
    p = mcap_put_u64(p, time);
    return mcap_put_u64(p, time);
}

void vy_mcap_writer_set_listener(vy_mcap_writer *w, const vy_mcap_listener *listener)
{
    w->listener = *listener;
}

void vy_mcap_writer_end(vy_mcap_writer *w, size_t size)
{
    VY_ASSERT(w->chunk.data[w->chunk.size] == MCAP_MESSAGE); // one was begun
    VY_ASSERT(w->chunk.size + MESSAGE_OVERHEAD + size <= w->limit);
    unsigned char *record = w->chunk.data + w->chunk.size;
    mcap_put_u64(record + 1, MCAP_MESSAGE_HEAD_SIZE + size);
    w->chunk.size += MESSAGE_OVERHEAD + size;
    if (w->listener.on_message != NULL) {
        const unsigned char *body = record + MCAP_RECORD_HEAD_SIZE;
        w->listener.on_message(w->listener.self, mcap_get_u16(body), mcap_get_u64(body + 6),
                               record + MESSAGE_OVERHEAD, size);
    }
}

vy_status vy_mcap_writer_message(vy_mcap_writer *w, uint16_t channel, uint32_t sequence, uint64_t time,
                                 const void *data, size_t size, vy_error *err)
{
    vy_error begin_error; // begin reports its status only through an error
    unsigned char *p = vy_mcap_writer_begin(w, channel, sequence, time, size, &begin_error);
    if (p == NULL) {
        if (err != NULL) *err = begin_error;
        return begin_error.status;
    }
    if (size > 0) memcpy(p, data, size);
    vy_mcap_writer_end(w, size);
    return VY_OK;
}

void vy_mcap_writer_add_proofs(vy_mcap_writer *w, uint16_t channel, vy_mcap_proof_fn *encode)
{
    VY_ASSERT(w->chunk_writer.digest != NULL && channel > 0 && channel <= w->channel_count);
    wait_idle(w);
    w->chunk_writer.proof_channel = channel;
    w->chunk_writer.encode_proof = encode;
}

vy_status vy_mcap_writer_digest(vy_mcap_writer *w, unsigned char out[DIGEST_SIZE], vy_error *err)
{
    if (w->chunk_writer.digest == NULL)
        return vy_fail(err, VY_BAD_STATE, "log: it is written without a digest");
    const vy_status status = end_chunk(w, err);
    if (status != VY_OK) return status;
    wait_idle(w);
    if (chunk_writer_status(w, err) != VY_OK) return w->chunk_writer.status;
    return vy_mcap_digest_value(w->chunk_writer.digest, out, err);
}

vy_status vy_mcap_writer_attachment(vy_mcap_writer *w, const vy_mcap_attachment_def *def, vy_error *err)
{
    wait_idle(w);
    if (chunk_writer_status(w, err) != VY_OK) return w->chunk_writer.status;
    if (w->chunk_writer.digest != NULL && !vy_mcap_digest_has_begun(w->chunk_writer.digest))
        vy_mcap_digest_attachment(w->chunk_writer.digest, def->name, def->media_type, def->log_time,
                                  def->data, def->size);
    const uint64_t offset = w->chunk_writer.file_position;
    begin_record(w, MCAP_ATTACHMENT);
    mcap_bytes_u64(&w->record, def->log_time);
    mcap_bytes_u64(&w->record, def->create_time);
    mcap_bytes_string(&w->record, def->name);
    mcap_bytes_string(&w->record, def->media_type);
    mcap_bytes_u64(&w->record, def->size);
    if (w->record.failed) return fail_memory(w, err);
    const uint64_t length = w->record.size + def->size + 4;
    mcap_put_u64(w->record.data + 1, length - MCAP_RECORD_HEAD_SIZE);
    uint32_t crc =
        vy_crc32(0, w->record.data + MCAP_RECORD_HEAD_SIZE, w->record.size - MCAP_RECORD_HEAD_SIZE);
    if (def->size > 0) crc = vy_crc32(crc, def->data, def->size);
    vy_mcap_chunk_writer_put(&w->chunk_writer, w->record.data, w->record.size);
    vy_mcap_chunk_writer_put(&w->chunk_writer, def->data, def->size);
    vy_mcap_chunk_writer_put(&w->chunk_writer, &crc, sizeof crc);

    const size_t record_start = mcap_bytes_begin(&w->attachments, MCAP_ATTACHMENT_INDEX);
    mcap_bytes_u64(&w->attachments, offset);
    mcap_bytes_u64(&w->attachments, length);
    mcap_bytes_u64(&w->attachments, def->log_time);
    mcap_bytes_u64(&w->attachments, def->create_time);
    mcap_bytes_u64(&w->attachments, def->size);
    mcap_bytes_string(&w->attachments, def->name);
    mcap_bytes_string(&w->attachments, def->media_type);
    mcap_bytes_end(&w->attachments, record_start);
    if (w->attachments.failed) return fail_memory(w, err);
    w->attachment_count += 1;
    return chunk_writer_status(w, err);
}

vy_status vy_mcap_writer_metadata(vy_mcap_writer *w, const char *name, const vy_mcap_pair *pairs,
                                  size_t count, vy_error *err)
{
    wait_idle(w);
    if (chunk_writer_status(w, err) != VY_OK) return w->chunk_writer.status;
    if (w->chunk_writer.digest != NULL && !vy_mcap_digest_has_begun(w->chunk_writer.digest))
        vy_mcap_digest_metadata(w->chunk_writer.digest, name, pairs, count);
    const uint64_t offset = w->chunk_writer.file_position;
    size_t record_start = begin_record(w, MCAP_METADATA);
    mcap_bytes_string(&w->record, name);
    put_pairs(&w->record, pairs, count);
    mcap_bytes_end(&w->record, record_start);
    if (put_record(w, err) != VY_OK) return w->chunk_writer.status;

    record_start = mcap_bytes_begin(&w->metadatas, MCAP_METADATA_INDEX);
    mcap_bytes_u64(&w->metadatas, offset);
    mcap_bytes_u64(&w->metadatas, w->record.size);
    mcap_bytes_string(&w->metadatas, name);
    mcap_bytes_end(&w->metadatas, record_start);
    if (w->metadatas.failed) return fail_memory(w, err);
    w->metadata_count += 1;
    return VY_OK;
}

vy_status vy_mcap_writer_flush(vy_mcap_writer *w, vy_error *err)
{
    const vy_status status = end_chunk(w, err);
    if (status != VY_OK) return status;
    wait_idle(w);
    vy_mcap_chunk_writer_flush(&w->chunk_writer);
    return chunk_writer_status(w, err);
}

size_t vy_mcap_writer_memory(vy_mcap_writer *w)
{
    wait_idle(w);
    return sizeof *w + w->chunk.capacity + w->pending.capacity + w->record.capacity + w->schemas.capacity +
           w->channels.capacity + w->attachments.capacity + w->metadatas.capacity +
           vy_mcap_chunk_writer_memory(&w->chunk_writer);
}

static void put_statistics(const vy_mcap_writer *w, mcap_bytes *b)
{
    const mcap_chunk_writer *writer = &w->chunk_writer;
    const size_t record_start = mcap_bytes_begin(b, MCAP_STATISTICS);
    VY_ASSERT(writer->channel_count == w->channel_count);
    VY_ASSERT(writer->chunk_entries.size % sizeof(mcap_chunk_entry) == 0);
    mcap_bytes_u64(b, writer->message_count);
    mcap_bytes_u16(b, w->schema_count);
    mcap_bytes_u32(b, w->channel_count);
    mcap_bytes_u32(b, w->attachment_count);
    mcap_bytes_u32(b, w->metadata_count);
    mcap_bytes_u32(b, (uint32_t)(writer->chunk_entries.size / sizeof(mcap_chunk_entry)));
    mcap_bytes_u64(b, writer->message_count > 0 ? writer->start_time : 0);
    mcap_bytes_u64(b, writer->end_time);
    mcap_bytes_u32(b, (uint32_t)(10 * writer->channel_count));
    for (size_t c = 1; c <= writer->channel_count; ++c) {
        mcap_bytes_u16(b, (uint16_t)c);
        mcap_bytes_u64(b, writer->message_counts[c]);
    }
    mcap_bytes_end(b, record_start);
}

static void put_chunk_indexes(const mcap_chunk_writer *writer, mcap_bytes *b)
{
    for (size_t i = 0; i < writer->chunk_entries.size; i += sizeof(mcap_chunk_entry)) {
        mcap_chunk_entry entry;
        memcpy(&entry, writer->chunk_entries.data + i, sizeof entry);
        VY_ASSERT(10 * (entry.first_index + entry.index_count) <= writer->index_offsets.size);
        VY_ASSERT(entry.offset + entry.length + entry.index_length <= writer->file_position);
        const size_t record_start = mcap_bytes_begin(b, MCAP_CHUNK_INDEX);
        mcap_bytes_u64(b, entry.start_time);
        mcap_bytes_u64(b, entry.end_time);
        mcap_bytes_u64(b, entry.offset);
        mcap_bytes_u64(b, entry.length);
        mcap_bytes_u32(b, (uint32_t)(10 * entry.index_count));
        mcap_bytes_put(b, writer->index_offsets.data + 10 * entry.first_index, 10 * entry.index_count);
        mcap_bytes_u64(b, entry.index_length);
        mcap_bytes_string(b, writer->compression == VY_MCAP_ZSTD ? "zstd" : "");
        mcap_bytes_u64(b, entry.compressed_size);
        mcap_bytes_u64(b, entry.size);
        mcap_bytes_end(b, record_start);
    }
}

// Summary, its offsets and the footer: everything behind the data section.
static void put_summary(const vy_mcap_writer *w, mcap_bytes *b)
{
    enum { GROUPS = 6 };
    static const uint8_t opcodes[GROUPS] = {MCAP_SCHEMA,      MCAP_CHANNEL,          MCAP_STATISTICS,
                                            MCAP_CHUNK_INDEX, MCAP_ATTACHMENT_INDEX, MCAP_METADATA_INDEX};
    const uint64_t summary_offset = w->chunk_writer.file_position;
    size_t group_starts[GROUPS + 1];
    group_starts[0] = 0;
    mcap_bytes_put(b, w->schemas.data, w->schemas.size);
    group_starts[1] = b->size;
    mcap_bytes_put(b, w->channels.data, w->channels.size);
    group_starts[2] = b->size;
    put_statistics(w, b);
    group_starts[3] = b->size;
    put_chunk_indexes(&w->chunk_writer, b);
    group_starts[4] = b->size;
    mcap_bytes_put(b, w->attachments.data, w->attachments.size);
    group_starts[5] = b->size;
    mcap_bytes_put(b, w->metadatas.data, w->metadatas.size);
    group_starts[6] = b->size;
    for (int i = 0; i < GROUPS; ++i) {
        if (group_starts[i] == group_starts[i + 1]) continue;
        const size_t record_start = mcap_bytes_begin(b, MCAP_SUMMARY_OFFSET);
        mcap_bytes_u8(b, opcodes[i]);
        mcap_bytes_u64(b, summary_offset + group_starts[i]);
        mcap_bytes_u64(b, group_starts[i + 1] - group_starts[i]);
        mcap_bytes_end(b, record_start);
    }
    const size_t record_start = mcap_bytes_begin(b, MCAP_FOOTER);
    mcap_bytes_u64(b, summary_offset);
    mcap_bytes_u64(b, summary_offset + group_starts[GROUPS]);
    mcap_bytes_u32(b, 0);
    mcap_bytes_end(b, record_start); // before the CRC, which goes over the footer's length too
    if (b->failed) return;
    mcap_put_u32(b->data + b->size - 4, vy_crc32(0, b->data, b->size - 4));
    mcap_bytes_put(b, MCAP_MAGIC, MCAP_MAGIC_SIZE);
}

vy_status vy_mcap_writer_close(vy_mcap_writer *w, vy_error *err)
{
    if (w == NULL) return VY_OK;
    end_chunk(w, NULL);
    stop_thread(w);
    vy_status status = chunk_writer_status(w, err);
    if (status == VY_OK) {
        const uint32_t crc = w->chunk_writer.data_crc;
        const size_t record_start = begin_record(w, MCAP_DATA_END);
        mcap_bytes_u32(&w->record, crc);
        mcap_bytes_end(&w->record, record_start);
        status = put_record(w, err);
    }
    if (status == VY_OK) {
        w->record.size = 0;
        put_summary(w, &w->record);
        status = put_record(w, err);
    }
    if (status == VY_OK) {
        vy_mcap_chunk_writer_flush(&w->chunk_writer);
        status = chunk_writer_status(w, err);
    }
    free_writer(w);
    return status;
}
