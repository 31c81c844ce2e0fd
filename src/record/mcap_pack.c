// mcap_pack.c - a chunk: index, CRC, compression, one write.
#include "record/mcap_pack.h"
#include "base/assert.h"
#include "base/fail.h"
#include "record/crc.h"
#include <zstd.h>

static const char *const compression_names[] = {[VY_MCAP_NONE] = "", [VY_MCAP_ZSTD] = "zstd"};

vy_status vy_mcap_chunk_writer_init(mcap_chunk_writer *writer, const vy_mcap_writer_def *def,
                                    vy_byte_sink sink, vy_error *err)
{
    *writer = (mcap_chunk_writer){
        .sink = sink,
        .compression = def->compression,
        .level = def->level,
        .data_crc = 0,
        .start_time = UINT64_MAX,
    };
    if (def->compression == VY_MCAP_ZSTD) {
        writer->zstd = ZSTD_createCCtx();
        if (writer->zstd == NULL) return vy_fail(err, VY_NO_MEMORY, "no memory for zstd");
    }
    return def->digest ? vy_mcap_digest_create(&writer->digest, err) : VY_OK;
}

void vy_mcap_chunk_writer_free(mcap_chunk_writer *writer)
{
    ZSTD_freeCCtx(writer->zstd);
    vy_mcap_digest_destroy(writer->digest);
    mcap_bytes_free(&writer->compressed_chunk);
    mcap_bytes_free(&writer->chunk_entries);
    mcap_bytes_free(&writer->index_offsets);
    free(writer->chunk_message_counts);
    free(writer->message_counts);
    free(writer->index_positions);
}

static bool grow_array(void **array, size_t count, size_t element_size)
{
    void *grown = realloc(*array, count * element_size);
    if (grown == NULL) return false;
    *array = grown;
    memset((char *)grown + (count - 1) * element_size, 0, element_size);
    return true;
}

vy_status vy_mcap_chunk_writer_add_channel(mcap_chunk_writer *writer)
{
    const size_t count = writer->channel_count + 2; // ids start at 1
    VY_ASSERT(writer->channel_count < UINT16_MAX);
    void *counts = writer->chunk_message_counts, *totals = writer->message_counts,
         *positions = writer->index_positions;
    bool ok = grow_array(&counts, count, sizeof *writer->chunk_message_counts);
    ok = grow_array(&totals, count, sizeof *writer->message_counts) && ok;
    ok = grow_array(&positions, count, sizeof *writer->index_positions) && ok;
    writer->chunk_message_counts = counts;
    writer->message_counts = totals;
    writer->index_positions = positions;
    if (!ok) return VY_NO_MEMORY;
    writer->channel_count += 1;
    return VY_OK;
}

vy_status vy_mcap_chunk_writer_fail(mcap_chunk_writer *writer, vy_status status, const vy_error *error)
{
    if (writer->status == VY_OK) {
        writer->status = status;
        writer->error = *error;
    }
    return writer->status;
}

static vy_status fail_memory(mcap_chunk_writer *writer)
{
    vy_error error;
    vy_fail(&error, VY_NO_MEMORY, "no memory for a chunk of the log");
    return vy_mcap_chunk_writer_fail(writer, VY_NO_MEMORY, &error);
}

// To the sink, with its CRC already accounted for.
static vy_status write_to_sink(mcap_chunk_writer *writer, const void *data, size_t size)
{
    if (writer->status != VY_OK) return writer->status;
    vy_error error;
    const vy_status status = writer->sink.write(writer->sink.self, data, size, &error);
    if (status != VY_OK) return vy_mcap_chunk_writer_fail(writer, status, &error);
    writer->file_position += size;
    return VY_OK;
}

vy_status vy_mcap_chunk_writer_put(mcap_chunk_writer *writer, const void *data, size_t size)
{
    if (size > 0) writer->data_crc = vy_crc32(writer->data_crc, data, size);
    return write_to_sink(writer, data, size);
}

vy_status vy_mcap_chunk_writer_flush(mcap_chunk_writer *writer)
{
    if (writer->status != VY_OK || writer->sink.flush == NULL) return writer->status;
    vy_error error;
    const vy_status status = writer->sink.flush(writer->sink.self, &error);
    return status == VY_OK ? VY_OK : vy_mcap_chunk_writer_fail(writer, status, &error);
}

// Add the chunk's messages to the digest, and the digest to the chunk as its last message.
static vy_status add_digest(mcap_chunk_writer *writer, mcap_bytes *chunk)
{
    uint64_t last_time = 0;
    for (size_t position = MCAP_CHUNK_HEADROOM; position < chunk->size;) {
        const unsigned char *body = chunk->data + position + MCAP_RECORD_HEAD_SIZE;
        const uint64_t length = mcap_get_u64(chunk->data + position + 1), time = mcap_get_u64(body + 6);
        vy_mcap_digest_message(writer->digest, mcap_get_u16(body), time, body + MCAP_MESSAGE_HEAD_SIZE,
                               (size_t)length - MCAP_MESSAGE_HEAD_SIZE);
        last_time = time > last_time ? time : last_time;
        position += MCAP_RECORD_HEAD_SIZE + (size_t)length;
    }
    if (writer->proof_channel == 0) return VY_OK;
    unsigned char value[DIGEST_SIZE], message[VY_MCAP_DIGEST_SIZE_MAX];
    vy_error error;
    const vy_status status = vy_mcap_digest_value(writer->digest, value, &error);
    if (status != VY_OK) return vy_mcap_chunk_writer_fail(writer, status, &error);
    const size_t size = writer->encode_proof(value, vy_mcap_digest_message_count(writer->digest), message);
    VY_ASSERT(size <= sizeof message);
    const size_t position = mcap_bytes_begin(chunk, MCAP_MESSAGE);
    mcap_bytes_u16(chunk, writer->proof_channel);
    mcap_bytes_u32(chunk, writer->proof_count++);
    mcap_bytes_u64(chunk, last_time);
    mcap_bytes_u64(chunk, last_time);
    mcap_bytes_put(chunk, message, size);
    mcap_bytes_end(chunk, position);
    return chunk->failed ? fail_memory(writer) : VY_OK;
}

// Messages per channel and the chunk's times. Counting here and not per message keeps the caller's path
// short.
static void count_messages(mcap_chunk_writer *writer, const unsigned char *records, size_t size,
                           mcap_chunk_entry *entry)
{
    memset(writer->chunk_message_counts, 0,
           (writer->channel_count + 1) * sizeof *writer->chunk_message_counts);
    entry->start_time = UINT64_MAX;
    entry->end_time = 0;
    for (size_t position = 0; position < size;) {
        const unsigned char *body = records + position + MCAP_RECORD_HEAD_SIZE;
        const uint64_t time = mcap_get_u64(body + 6);
        VY_ASSERT(records[position] == MCAP_MESSAGE &&
                  size - position >= MCAP_RECORD_HEAD_SIZE + MCAP_MESSAGE_HEAD_SIZE);
        VY_ASSERT(mcap_get_u64(records + position + 1) <= size - position - MCAP_RECORD_HEAD_SIZE);
        VY_ASSERT(mcap_get_u16(body) > 0 && mcap_get_u16(body) <= writer->channel_count);
        writer->chunk_message_counts[mcap_get_u16(body)] += 1;
        if (time < entry->start_time) entry->start_time = time;
        if (time > entry->end_time) entry->end_time = time;
        position += MCAP_RECORD_HEAD_SIZE + mcap_get_u64(records + position + 1);
    }
}

// Message indexes behind the chunk record, which ends at `out->size`. `out_offset` is where
// `compressed_chunk` begins in the file. `compressed_chunk` may be `chunk` itself, so the messages are looked
// up only once the room is made.
static bool put_indexes(mcap_chunk_writer *writer, const mcap_bytes *chunk, uint64_t out_offset,
                        mcap_bytes *out, mcap_chunk_entry *entry)
{
    enum { HEAD_SIZE = MCAP_RECORD_HEAD_SIZE + 2 + 4, ENTRY_SIZE = 16, INDEX_OFFSET_SIZE = 10 };
    size_t length = 0;
    entry->first_index = writer->index_offsets.size / INDEX_OFFSET_SIZE;
    for (size_t channel = 1; channel <= writer->channel_count; ++channel) {
        if (writer->chunk_message_counts[channel] > 0)
            length += HEAD_SIZE + ENTRY_SIZE * (size_t)writer->chunk_message_counts[channel];
    }
    if (!mcap_bytes_reserve(out, length)) return false;
    entry->index_length = length;
    const unsigned char *records = chunk->data + MCAP_CHUNK_HEADROOM;

    for (size_t channel = 1; channel <= writer->channel_count; ++channel) {
        if (writer->chunk_message_counts[channel] == 0) continue;
        const size_t entries_size = ENTRY_SIZE * (size_t)writer->chunk_message_counts[channel];
        mcap_bytes_u16(&writer->index_offsets, (uint16_t)channel);
        mcap_bytes_u64(&writer->index_offsets, out_offset + out->size);
        entry->index_count += 1;
        unsigned char *p = mcap_put_head(out->data + out->size, MCAP_MESSAGE_INDEX, 2 + 4 + entries_size);
        p = mcap_put_u16(p, (uint16_t)channel);
        p = mcap_put_u32(p, (uint32_t)entries_size);
        writer->index_positions[channel] = (size_t)(p - out->data);
        writer->message_counts[channel] += writer->chunk_message_counts[channel];
        writer->message_count += writer->chunk_message_counts[channel];
        out->size += HEAD_SIZE + entries_size;
    }
    for (size_t at = 0; at < entry->size;) {
        const unsigned char *body = records + at + MCAP_RECORD_HEAD_SIZE;
        size_t *position = &writer->index_positions[mcap_get_u16(body)];
        mcap_put_u64(mcap_put_u64(out->data + *position, mcap_get_u64(body + 6)), at);
        VY_ASSERT(*position + ENTRY_SIZE <= out->size);
        *position += ENTRY_SIZE;
        at += MCAP_RECORD_HEAD_SIZE + mcap_get_u64(records + at + 1);
    }
    return !writer->index_offsets.failed;
}

// The head of the chunk record, which ends at `end`. @return its first byte
static unsigned char *put_head(const mcap_chunk_writer *writer, unsigned char *end,
                               const mcap_chunk_entry *entry, uint32_t crc)
{
    const char *name = compression_names[writer->compression];
    const size_t name_size = strlen(name);
    unsigned char *record = end - MCAP_RECORD_HEAD_SIZE - MCAP_CHUNK_HEAD_SIZE - name_size;
    unsigned char *p =
        mcap_put_head(record, MCAP_CHUNK, MCAP_CHUNK_HEAD_SIZE + name_size + entry->compressed_size);
    p = mcap_put_u64(p, entry->start_time);
    p = mcap_put_u64(p, entry->end_time);
    p = mcap_put_u64(p, entry->size);
    p = mcap_put_u32(p, crc);
    p = mcap_put_u32(p, (uint32_t)name_size);
    memcpy(p, name, name_size);
    mcap_put_u64(p + name_size, entry->compressed_size);
    return record;
}

vy_status vy_mcap_chunk_writer_write_chunk(mcap_chunk_writer *writer, mcap_bytes *chunk)
{
    if (writer->status != VY_OK) return writer->status;
    VY_ASSERT(chunk->size > MCAP_CHUNK_HEADROOM && chunk->size <= chunk->capacity);
    if (writer->digest != NULL && add_digest(writer, chunk) != VY_OK) return writer->status;
    const size_t size = chunk->size - MCAP_CHUNK_HEADROOM;
    mcap_chunk_entry entry = {.size = size, .compressed_size = size};
    count_messages(writer, chunk->data + MCAP_CHUNK_HEADROOM, size, &entry);
    const uint32_t crc = vy_crc32(0, chunk->data + MCAP_CHUNK_HEADROOM, size);

    mcap_bytes *out = chunk; // a plain chunk is completed where it lies
    if (writer->compression == VY_MCAP_ZSTD) {
        out = &writer->compressed_chunk;
        out->size = 0;
        if (!mcap_bytes_reserve(out, MCAP_CHUNK_HEADROOM + ZSTD_compressBound(size)))
            return fail_memory(writer);
        const size_t compressed_size = ZSTD_compressCCtx(
            writer->zstd, out->data + MCAP_CHUNK_HEADROOM, out->capacity - MCAP_CHUNK_HEADROOM,
            chunk->data + MCAP_CHUNK_HEADROOM, size, writer->level);
        if (ZSTD_isError(compressed_size))
            return fail_memory(writer); // the room is enough: only memory can fail
        entry.compressed_size = compressed_size;
        out->size = MCAP_CHUNK_HEADROOM + compressed_size;
    }
    const size_t head_size =
        MCAP_RECORD_HEAD_SIZE + MCAP_CHUNK_HEAD_SIZE + strlen(compression_names[writer->compression]);
    const size_t unused_headroom = MCAP_CHUNK_HEADROOM - head_size; // bytes of the room that stay unused
    VY_ASSERT(head_size <= MCAP_CHUNK_HEADROOM && writer->file_position >= unused_headroom);
    entry.offset = writer->file_position;
    entry.length = head_size + entry.compressed_size;
    const uint64_t out_offset = writer->file_position - unused_headroom;
    if (!put_indexes(writer, chunk, out_offset, out, &entry)) return fail_memory(writer);
    const unsigned char *record = put_head(writer, out->data + MCAP_CHUNK_HEADROOM, &entry, crc);
    VY_ASSERT(record == out->data + unused_headroom && entry.start_time <= entry.end_time);
    VY_ASSERT(unused_headroom + entry.length + entry.index_length ==
              out->size); // what is sent is all there is

    // The CRC of the data section goes over everything; the records of a plain chunk have theirs already.
    const unsigned char *indexes = record + head_size + entry.compressed_size;
    if (writer->compression == VY_MCAP_NONE) {
        writer->data_crc = vy_crc32(writer->data_crc, record, head_size);
        writer->data_crc = vy_crc32_combine(writer->data_crc, crc, size);
    } else {
        writer->data_crc = vy_crc32(writer->data_crc, record, entry.length);
    }
    writer->data_crc = vy_crc32(writer->data_crc, indexes, entry.index_length);
    mcap_bytes_put(&writer->chunk_entries, &entry, sizeof entry);
    if (writer->chunk_entries.failed) return fail_memory(writer);
    if (entry.start_time < writer->start_time) writer->start_time = entry.start_time;
    if (entry.end_time > writer->end_time) writer->end_time = entry.end_time;
    const vy_status status = write_to_sink(writer, record, entry.length + entry.index_length);
    return status == VY_OK ? vy_mcap_chunk_writer_flush(writer) : status;
}

size_t vy_mcap_chunk_writer_memory(const mcap_chunk_writer *writer)
{
    return writer->compressed_chunk.capacity + writer->chunk_entries.capacity +
           writer->index_offsets.capacity +
           (writer->channel_count + 1) * (sizeof *writer->chunk_message_counts +
                                          sizeof *writer->message_counts + sizeof *writer->index_positions);
}
