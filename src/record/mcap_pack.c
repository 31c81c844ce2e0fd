// mcap_pack.c - a chunk: index, CRC, compression, one write.
#include "record/mcap_pack.h"
#include "base/assert.h"
#include "base/fail.h"
#include "record/crc.h"
#include <zstd.h>

static const char *const compression_names[] = {[VY_MCAP_NONE] = "", [VY_MCAP_ZSTD] = "zstd"};

vy_status vy_mcap_chunk_writer_init(mcap_chunk_writer *pack, const vy_mcap_writer_def *def, vy_byte_sink sink,
                                    vy_error *err)
{
    *pack = (mcap_chunk_writer){
        .sink = sink,
        .compression = def->compression,
        .level = def->level,
        .data_crc = 0,
        .start_time = UINT64_MAX,
    };
    if (def->compression == VY_MCAP_ZSTD) {
        pack->zstd = ZSTD_createCCtx();
        if (pack->zstd == NULL) return vy_fail(err, VY_NO_MEMORY, "no memory for zstd");
    }
    return def->digest ? vy_mcap_digest_create(&pack->digest, err) : VY_OK;
}

void vy_mcap_chunk_writer_free(mcap_chunk_writer *pack)
{
    ZSTD_freeCCtx(pack->zstd);
    vy_mcap_digest_destroy(pack->digest);
    mcap_bytes_free(&pack->out);
    mcap_bytes_free(&pack->chunks);
    mcap_bytes_free(&pack->index_offsets);
    free(pack->counts);
    free(pack->totals);
    free(pack->places);
}

static bool grow(void **array, size_t count, size_t each)
{
    void *larger = realloc(*array, count * each);
    if (larger == NULL) return false;
    *array = larger;
    memset((char *)larger + (count - 1) * each, 0, each);
    return true;
}

vy_status vy_mcap_chunk_writer_add_channel(mcap_chunk_writer *pack)
{
    const size_t count = pack->channel_count + 2; // ids start at 1
    VY_ASSERT(pack->channel_count < UINT16_MAX);
    void *counts = pack->counts, *totals = pack->totals, *places = pack->places;
    bool ok = grow(&counts, count, sizeof *pack->counts);
    ok = grow(&totals, count, sizeof *pack->totals) && ok;
    ok = grow(&places, count, sizeof *pack->places) && ok;
    pack->counts = counts;
    pack->totals = totals;
    pack->places = places;
    if (!ok) return VY_NO_MEMORY;
    pack->channel_count += 1;
    return VY_OK;
}

vy_status vy_mcap_chunk_writer_fail(mcap_chunk_writer *pack, vy_status status, const vy_error *error)
{
    if (pack->status == VY_OK) {
        pack->status = status;
        pack->error = *error;
    }
    return pack->status;
}

static vy_status fail_memory(mcap_chunk_writer *pack)
{
    vy_error error;
    vy_fail(&error, VY_NO_MEMORY, "no memory for a chunk of the log");
    return vy_mcap_chunk_writer_fail(pack, VY_NO_MEMORY, &error);
}

// To the sink, with its CRC already accounted for.
static vy_status send(mcap_chunk_writer *pack, const void *data, size_t size)
{
    if (pack->status != VY_OK) return pack->status;
    vy_error error;
    const vy_status status = pack->sink.write(pack->sink.self, data, size, &error);
    if (status != VY_OK) return vy_mcap_chunk_writer_fail(pack, status, &error);
    pack->position += size;
    return VY_OK;
}

vy_status vy_mcap_chunk_writer_put(mcap_chunk_writer *pack, const void *data, size_t size)
{
    if (size > 0) pack->data_crc = vy_crc32(pack->data_crc, data, size);
    return send(pack, data, size);
}

vy_status vy_mcap_chunk_writer_flush(mcap_chunk_writer *pack)
{
    if (pack->status != VY_OK || pack->sink.flush == NULL) return pack->status;
    vy_error error;
    const vy_status status = pack->sink.flush(pack->sink.self, &error);
    return status == VY_OK ? VY_OK : vy_mcap_chunk_writer_fail(pack, status, &error);
}

// Add the chunk's messages to the digest, and the digest to the chunk as its last message.
static vy_status add_digest(mcap_chunk_writer *pack, mcap_bytes *chunk)
{
    uint64_t last = 0;
    for (size_t at = MCAP_CHUNK_HEADROOM; at < chunk->size;) {
        const unsigned char *body = chunk->data + at + MCAP_RECORD_HEAD;
        const uint64_t length = mcap_get_u64(chunk->data + at + 1), time = mcap_get_u64(body + 6);
        vy_mcap_digest_message(pack->digest, mcap_get_u16(body), time, body + MCAP_MESSAGE_HEAD,
                               (size_t)length - MCAP_MESSAGE_HEAD);
        last = time > last ? time : last;
        at += MCAP_RECORD_HEAD + (size_t)length;
    }
    if (pack->proof_channel == 0) return VY_OK;
    unsigned char value[DIGEST_SIZE], message[VY_MCAP_DIGEST_SIZE_MAX];
    vy_error error;
    const vy_status status = vy_mcap_digest_value(pack->digest, value, &error);
    if (status != VY_OK) return vy_mcap_chunk_writer_fail(pack, status, &error);
    const size_t size = pack->encode_proof(value, vy_mcap_digest_messages(pack->digest), message);
    VY_ASSERT(size <= sizeof message);
    const size_t at = mcap_bytes_begin(chunk, MCAP_MESSAGE);
    mcap_bytes_u16(chunk, pack->proof_channel);
    mcap_bytes_u32(chunk, pack->proof_count++);
    mcap_bytes_u64(chunk, last);
    mcap_bytes_u64(chunk, last);
    mcap_bytes_put(chunk, message, size);
    mcap_bytes_end(chunk, at);
    return chunk->failed ? fail_memory(pack) : VY_OK;
}

// Messages per channel and the chunk's times. Counting here and not per message keeps the caller's path
// short.
static void count_messages(mcap_chunk_writer *pack, const unsigned char *records, size_t size,
                           mcap_chunk_entry *entry)
{
    memset(pack->counts, 0, (pack->channel_count + 1) * sizeof *pack->counts);
    entry->start_time = UINT64_MAX;
    entry->end_time = 0;
    for (size_t at = 0; at < size;) {
        const unsigned char *body = records + at + MCAP_RECORD_HEAD;
        const uint64_t time = mcap_get_u64(body + 6);
        VY_ASSERT(records[at] == MCAP_MESSAGE && size - at >= MCAP_RECORD_HEAD + MCAP_MESSAGE_HEAD);
        VY_ASSERT(mcap_get_u64(records + at + 1) <= size - at - MCAP_RECORD_HEAD);
        VY_ASSERT(mcap_get_u16(body) > 0 && mcap_get_u16(body) <= pack->channel_count);
        pack->counts[mcap_get_u16(body)] += 1;
        if (time < entry->start_time) entry->start_time = time;
        if (time > entry->end_time) entry->end_time = time;
        at += MCAP_RECORD_HEAD + mcap_get_u64(records + at + 1);
    }
}

// Message indexes behind the chunk record, which ends at `out->size`. `base` is where `out` begins in the
// file. `out` may be `chunk` itself, so the messages are looked up only once the room is made.
static bool put_indexes(mcap_chunk_writer *pack, const mcap_bytes *chunk, uint64_t base, mcap_bytes *out,
                        mcap_chunk_entry *entry)
{
    enum { HEAD = MCAP_RECORD_HEAD + 2 + 4, EACH = 16, SLOT = 10 };
    size_t length = 0;
    entry->first_index = pack->index_offsets.size / SLOT;
    for (size_t c = 1; c <= pack->channel_count; ++c) {
        if (pack->counts[c] > 0) length += HEAD + EACH * (size_t)pack->counts[c];
    }
    if (!mcap_bytes_reserve(out, length)) return false;
    entry->index_length = length;
    const unsigned char *records = chunk->data + MCAP_CHUNK_HEADROOM;

    for (size_t c = 1; c <= pack->channel_count; ++c) {
        if (pack->counts[c] == 0) continue;
        const size_t entries = EACH * (size_t)pack->counts[c];
        mcap_bytes_u16(&pack->index_offsets, (uint16_t)c);
        mcap_bytes_u64(&pack->index_offsets, base + out->size);
        entry->index_count += 1;
        unsigned char *p = mcap_put_head(out->data + out->size, MCAP_MESSAGE_INDEX, 2 + 4 + entries);
        p = mcap_put_u16(p, (uint16_t)c);
        p = mcap_put_u32(p, (uint32_t)entries);
        pack->places[c] = (size_t)(p - out->data);
        pack->totals[c] += pack->counts[c];
        pack->message_count += pack->counts[c];
        out->size += HEAD + entries;
    }
    for (size_t at = 0; at < entry->size;) {
        const unsigned char *body = records + at + MCAP_RECORD_HEAD;
        size_t *place = &pack->places[mcap_get_u16(body)];
        mcap_put_u64(mcap_put_u64(out->data + *place, mcap_get_u64(body + 6)), at);
        VY_ASSERT(*place + EACH <= out->size);
        *place += EACH;
        at += MCAP_RECORD_HEAD + mcap_get_u64(records + at + 1);
    }
    return !pack->index_offsets.failed;
}

// The head of the chunk record, which ends at `end`. @return its first byte
static unsigned char *put_head(const mcap_chunk_writer *pack, unsigned char *end,
                               const mcap_chunk_entry *entry, uint32_t crc)
{
    const char *name = compression_names[pack->compression];
    const size_t name_size = strlen(name);
    unsigned char *start = end - MCAP_RECORD_HEAD - MCAP_CHUNK_HEAD - name_size;
    unsigned char *p = mcap_put_head(start, MCAP_CHUNK, MCAP_CHUNK_HEAD + name_size + entry->compressed_size);
    p = mcap_put_u64(p, entry->start_time);
    p = mcap_put_u64(p, entry->end_time);
    p = mcap_put_u64(p, entry->size);
    p = mcap_put_u32(p, crc);
    p = mcap_put_u32(p, (uint32_t)name_size);
    memcpy(p, name, name_size);
    mcap_put_u64(p + name_size, entry->compressed_size);
    return start;
}

vy_status vy_mcap_chunk_writer_chunk(mcap_chunk_writer *pack, mcap_bytes *chunk)
{
    if (pack->status != VY_OK) return pack->status;
    VY_ASSERT(chunk->size > MCAP_CHUNK_HEADROOM && chunk->size <= chunk->capacity);
    if (pack->digest != NULL && add_digest(pack, chunk) != VY_OK) return pack->status;
    const size_t size = chunk->size - MCAP_CHUNK_HEADROOM;
    mcap_chunk_entry entry = {.size = size, .compressed_size = size};
    count_messages(pack, chunk->data + MCAP_CHUNK_HEADROOM, size, &entry);
    const uint32_t crc = vy_crc32(0, chunk->data + MCAP_CHUNK_HEADROOM, size);

    mcap_bytes *out = chunk; // a plain chunk is completed where it lies
    if (pack->compression == VY_MCAP_ZSTD) {
        out = &pack->out;
        out->size = 0;
        if (!mcap_bytes_reserve(out, MCAP_CHUNK_HEADROOM + ZSTD_compressBound(size)))
            return fail_memory(pack);
        const size_t packed = ZSTD_compressCCtx(pack->zstd, out->data + MCAP_CHUNK_HEADROOM,
                                                out->capacity - MCAP_CHUNK_HEADROOM,
                                                chunk->data + MCAP_CHUNK_HEADROOM, size, pack->level);
        if (ZSTD_isError(packed)) return fail_memory(pack); // the room is enough: only memory can fail
        entry.compressed_size = packed;
        out->size = MCAP_CHUNK_HEADROOM + packed;
    }
    const size_t head = MCAP_RECORD_HEAD + MCAP_CHUNK_HEAD + strlen(compression_names[pack->compression]);
    const size_t front = MCAP_CHUNK_HEADROOM - head; // bytes of the room that stay unused
    VY_ASSERT(head <= MCAP_CHUNK_HEADROOM && pack->position >= front);
    entry.offset = pack->position;
    entry.length = head + entry.compressed_size;
    const uint64_t base = pack->position - front;
    if (!put_indexes(pack, chunk, base, out, &entry)) return fail_memory(pack);
    const unsigned char *start = put_head(pack, out->data + MCAP_CHUNK_HEADROOM, &entry, crc);
    VY_ASSERT(start == out->data + front && entry.start_time <= entry.end_time);
    VY_ASSERT(front + entry.length + entry.index_length == out->size); // what is sent is all there is

    // The CRC of the data section goes over everything; the records of a plain chunk have theirs already.
    const unsigned char *behind = start + head + entry.compressed_size;
    if (pack->compression == VY_MCAP_NONE) {
        pack->data_crc = vy_crc32(pack->data_crc, start, head);
        pack->data_crc = vy_crc32_combine(pack->data_crc, crc, size);
    } else {
        pack->data_crc = vy_crc32(pack->data_crc, start, entry.length);
    }
    pack->data_crc = vy_crc32(pack->data_crc, behind, entry.index_length);
    mcap_bytes_put(&pack->chunks, &entry, sizeof entry);
    if (pack->chunks.failed) return fail_memory(pack);
    if (entry.start_time < pack->start_time) pack->start_time = entry.start_time;
    if (entry.end_time > pack->end_time) pack->end_time = entry.end_time;
    const vy_status status = send(pack, start, entry.length + entry.index_length);
    return status == VY_OK ? vy_mcap_chunk_writer_flush(pack) : status;
}

size_t vy_mcap_chunk_writer_memory(const mcap_chunk_writer *pack)
{
    return pack->out.capacity + pack->chunks.capacity + pack->index_offsets.capacity +
           (pack->channel_count + 1) * (sizeof *pack->counts + sizeof *pack->totals + sizeof *pack->places);
}
