// mcap_writer.h - writes an MCAP file: chunked, indexed, with all three CRCs. Independent of what is stored.
//
// Order of use: open, schemas, channels, attachments and metadata, messages, close. Schemas and channels are
// written outside the chunks, where a reader that has lost a chunk still finds them. A finished chunk goes to
// the sink with its message indexes in one write: a process that is killed leaves whole chunks behind.
// After a failure of the sink every call returns that failure, and close still frees everything.
#pragma once
#include "record/digest.h"
#include "record/file.h"
#include <stdbool.h>

typedef enum vy_mcap_compression { VY_MCAP_NONE, VY_MCAP_ZSTD } vy_mcap_compression;

/// Gets the messages of a writer, one after the other, on the caller's thread.
typedef struct vy_mcap_listener {
    void *self;
    void (*on_channel)(void *self, uint16_t id, const char *topic); ///< a channel was declared
    void (*on_message)(void *self, uint16_t channel, uint64_t time, const unsigned char *data, size_t size);
} vy_mcap_listener;

/// How a file is written. Start from vy_default_mcap_writer_def().
typedef struct vy_mcap_writer_def {
    uint32_t cookie;                 ///< set by the default function
    const char *profile;             ///< "" by default
    const char *library;             ///< the program and its version; "volery" by default
    vy_mcap_compression compression; ///< zstd by default
    int level;                       ///< of zstd, -100 to 19; 1 by default, negative is faster
    size_t chunk_size;        ///< [bytes] of messages per chunk before compression, 64 to 64 MiB; 1 MiB
    size_t chunk_size_max;    ///< [bytes] what chunk_size may grow to; 8 MiB
    uint32_t chunks_per_size; ///< chunk_size doubles after so many chunks, which bounds the index; 1024
    bool threaded; ///< compress and write beside the caller, in the same order, where the system has threads;
                   ///< false
    bool digest;   ///< keep the digest of the file (record/mcap_digest.h); false
    const vy_mcap_listener *listener; ///< gets every message as it is ended; NULL: nobody
} vy_mcap_writer_def;

vy_mcap_writer_def vy_default_mcap_writer_def(void);

/// A pair of texts, UTF-8.
typedef struct vy_mcap_pair {
    const char *key;
    const char *value;
} vy_mcap_pair;

/// A stream of messages.
typedef struct vy_mcap_channel_def {
    const char *topic;
    const char *encoding; ///< of its messages: "protobuf", "json"
    uint16_t schema;      ///< from vy_mcap_writer_add_schema; 0 for none
    const vy_mcap_pair *metadata;
    size_t metadata_count;
} vy_mcap_channel_def;

/// A file inside the file.
typedef struct vy_mcap_attachment_def {
    const char *name;
    const char *media_type;
    uint64_t log_time;    ///< [ns]
    uint64_t create_time; ///< [ns]; 0 keeps two runs of the same flight alike
    const void *data;
    size_t size; ///< [bytes]
} vy_mcap_attachment_def;

/// One owner.
typedef struct vy_mcap_writer vy_mcap_writer;

/// Start a file. `sink` must outlive the writer; it is not ended by it.
vy_status vy_mcap_writer_open(const vy_mcap_writer_def *def, vy_byte_sink sink, vy_mcap_writer **out,
                              vy_error *err);

/// Declare the schema of messages. `*id` is 1, 2, 3, ...
/// @param encoding of the schema: "protobuf" (data: a FileDescriptorSet), "jsonschema"
vy_status vy_mcap_writer_add_schema(vy_mcap_writer *writer, const char *name, const char *encoding,
                                    const void *data, size_t size, uint16_t *id, vy_error *err);

/// Declare a stream. `*id` is 1, 2, 3, ...
vy_status vy_mcap_writer_add_channel(vy_mcap_writer *writer, const vy_mcap_channel_def *def, uint16_t *id,
                                     vy_error *err);

/// Write one message at `time` [ns], which becomes its log time and its publish time. Copies; allocates only
/// for a message larger than a chunk. At most 64 MiB.
vy_status vy_mcap_writer_message(vy_mcap_writer *writer, uint16_t channel, uint32_t sequence, uint64_t time,
                                 const void *data, size_t size, vy_error *err);

/// The same without a copy: room for `size_max` bytes in the chunk, to be filled and ended before any other
/// call. NULL on failure.
unsigned char *vy_mcap_writer_begin(vy_mcap_writer *writer, uint16_t channel, uint32_t sequence,
                                    uint64_t time, size_t size_max, vy_error *err);
/// End the message begun with the `size` bytes it took, at most its `size_max`.
void vy_mcap_writer_end(vy_mcap_writer *writer, size_t size);

/// From now on `listener` gets every message, and nobody else; it is copied.
void vy_mcap_writer_set_listener(vy_mcap_writer *writer, const vy_mcap_listener *listener);

enum { VY_MCAP_DIGEST_SIZE_MAX = 64 };
/// The digest of everything before it as a message; `compressed_chunk` has VY_MCAP_DIGEST_SIZE_MAX bytes.
/// @return bytes written
typedef size_t vy_mcap_proof_fn(const unsigned char digest[DIGEST_SIZE], uint64_t message_count,
                                unsigned char *out);

/// From now on every chunk ends with a message on `on_channel`, whose messages are no part of the digest.
void vy_mcap_writer_add_proofs(vy_mcap_writer *writer, uint16_t channel, vy_mcap_proof_fn *encode);

/// End the chunk and give the digest of the file so far. Metadata and attachments that are stored after the
/// first chunk are no part of it. VY_BAD_STATE: the writer has none.
vy_status vy_mcap_writer_digest(vy_mcap_writer *writer, unsigned char out[DIGEST_SIZE], vy_error *err);

/// Store a file. Goes to the sink at once, before the messages of the unfinished chunk.
vy_status vy_mcap_writer_attachment(vy_mcap_writer *writer, const vy_mcap_attachment_def *def, vy_error *err);

/// Store named texts. Goes to the sink at once.
vy_status vy_mcap_writer_metadata(vy_mcap_writer *writer, const char *name, const vy_mcap_pair *pairs,
                                  size_t count, vy_error *err);

/// End the chunk and hand everything to the system. For real-time runs, about once a second: each chunk costs
/// about 100 bytes of memory until close.
vy_status vy_mcap_writer_flush(vy_mcap_writer *writer, vy_error *err);

/// Bytes of memory held for buffers and indexes (without zstd's own).
size_t vy_mcap_writer_memory(vy_mcap_writer *writer);

/// End the last chunk, write the summary, flush the sink, free everything. NULL is a no-op.
/// The status of the first failure since the file was opened.
vy_status vy_mcap_writer_close(vy_mcap_writer *writer, vy_error *err);
