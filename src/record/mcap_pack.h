// mcap_pack.h - the writer's lower half: finished chunks and single records to the sink, and what the summary
// will say about them. Used by one thread at a time.
#pragma once
#include "record/mcap_digest.h"
#include "record/mcap_format.h"
#include "record/mcap_writer.h"

enum { MCAP_CHUNK_HEADROOM = 64 }; // free bytes kept before the messages of a chunk, for the chunk's own head

typedef struct mcap_chunk_entry {
    uint64_t start_time, end_time;
    uint64_t offset, length;
    uint64_t index_length; // of the message indexes that follow the chunk
    uint64_t compressed_size, size;
    size_t first_index, index_count; // in mcap_chunk_writer.index_offsets
} mcap_chunk_entry;

typedef struct mcap_chunk_writer {
    vy_byte_sink sink;
    vy_mcap_compression compression;
    struct ZSTD_CCtx_s *zstd;
    int level;                      // of zstd
    uint64_t file_position;         // bytes given to the sink
    uint32_t data_crc;              // of all of them
    vy_status status;               // of the first failure; nothing is written after it
    vy_error error;                 // its details
    mcap_bytes compressed_chunk;    // a compressed chunk with its indexes
    uint64_t *chunk_message_counts; // per channel: messages in the chunk being packed
    uint64_t *message_counts;       // per channel: messages so far
    size_t *index_positions;        // per channel: where its next index entry goes
    size_t channel_count;
    uint64_t message_count, start_time, end_time;
    mcap_bytes chunk_entries; // of mcap_chunk_entry
    mcap_bytes index_offsets; // per chunk and channel in it: u16 channel, u64 offset of its index, as in a
                              // chunk index
    vy_mcap_digest *digest;   // NULL: none is kept
    uint16_t proof_channel;   // 0: chunks end without a proof
    uint32_t proof_count;     // proofs so far
    vy_mcap_proof_fn *encode_proof;
} mcap_chunk_writer;

vy_status vy_mcap_chunk_writer_init(mcap_chunk_writer *writer, const vy_mcap_writer_def *def,
                                    vy_byte_sink sink, vy_error *err);
void vy_mcap_chunk_writer_free(mcap_chunk_writer *writer);

// Make room for one more channel; ids are 1 to channel_count.
vy_status vy_mcap_chunk_writer_add_channel(mcap_chunk_writer *writer);

// Note the first failure and return its status.
vy_status vy_mcap_chunk_writer_fail(mcap_chunk_writer *writer, vy_status status, const vy_error *error);

// Give bytes of the data section to the sink.
vy_status vy_mcap_chunk_writer_put(mcap_chunk_writer *writer, const void *data, size_t size);
vy_status vy_mcap_chunk_writer_flush(mcap_chunk_writer *writer);

// Write the message records that lie in `chunk` from MCAP_CHUNK_HEADROOM on as one chunk with its indexes.
// Uses the room before them and may grow the buffer behind them.
vy_status vy_mcap_chunk_writer_write_chunk(mcap_chunk_writer *writer, mcap_bytes *chunk);

size_t vy_mcap_chunk_writer_memory(const mcap_chunk_writer *writer);
