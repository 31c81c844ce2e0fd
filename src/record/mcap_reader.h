// mcap_reader.h - reads MCAP files, also torn, damaged or hostile ones.
//
// A whole file is opened through its summary. A file whose summary is missing or damaged is read from the
// front up to the last whole chunk, and its info says so. Chunks may be plain or zstd; every chunk's CRC is
// checked when it is read. Nothing in a file can make the reader crash, hang or take more memory than its def
// allows. Errors are one sentence with the byte offset. Times are in ns, as in the file.
#pragma once
#include "record/file.h"
#include "record/mcap_writer.h"

/// Limits against hostile files. Start from vy_default_mcap_reader_def().
typedef struct vy_mcap_reader_def {
    uint32_t cookie;       ///< set by the default function
    uint64_t chunk_limit;  ///< [bytes] a chunk may have once unpacked; 256 MiB
    uint64_t memory_limit; ///< [bytes] all tables together may take, and all chunks open at once; 1 GiB
} vy_mcap_reader_def;

vy_mcap_reader_def vy_default_mcap_reader_def(void);

typedef struct vy_mcap_schema {
    uint16_t id;
    const char *name;
    const char *encoding;
    const unsigned char *data;
    size_t size;
} vy_mcap_schema;

typedef struct vy_mcap_channel {
    uint16_t id;
    uint16_t schema; ///< 0: none
    const char *topic;
    const char *encoding;
    const vy_mcap_pair *metadata;
    size_t metadata_count;
    uint64_t message_count; ///< from the statistics or, in a recovered file, counted
} vy_mcap_channel;

typedef struct vy_mcap_metadata {
    const char *name;
    const vy_mcap_pair *pairs;
    size_t count;
} vy_mcap_metadata;

typedef struct vy_mcap_attachment {
    const char *name;
    const char *media_type;
    uint64_t log_time, create_time;
    uint64_t size;   ///< [bytes]
    uint64_t offset; ///< of its record in the file
    uint64_t length; ///< of its record in the file
} vy_mcap_attachment;

/// What the file holds.
typedef struct vy_mcap_info {
    const char *profile;
    const char *library;
    size_t schema_count, channel_count, chunk_count, attachment_count, metadata_count;
    uint64_t message_count;
    uint64_t start_time, end_time; ///< of the first and last message; 0 without messages
    uint64_t file_size;            ///< [bytes]
    bool recovered;                ///< read without its summary; `warning` says why
    bool truncated;                ///< and something at its end is missing or damaged
    char warning[200];             ///< one sentence; empty for a whole file
} vy_mcap_info;

/// One message. `data` lives until the next call on the cursor or reader it came from.
typedef struct vy_mcap_message {
    uint16_t channel;
    uint32_t sequence;
    uint64_t log_time, publish_time;
    const unsigned char *data;
    size_t size;
} vy_mcap_message;

/// One owner. Everything it hands out as const lives until its close.
typedef struct vy_mcap_reader vy_mcap_reader;

/// Open a file. `def` may be NULL for the defaults.
vy_status vy_mcap_reader_open(const char *path, const vy_mcap_reader_def *def, vy_mcap_reader **out,
                              vy_error *err);

/// Open any source, which must outlive the reader and is not closed by it.
vy_status vy_mcap_reader_open_source(vy_byte_source source, const vy_mcap_reader_def *def,
                                     vy_mcap_reader **out, vy_error *err);
void vy_mcap_reader_close(vy_mcap_reader *reader); // NULL is a no-op

const vy_mcap_info *vy_mcap_reader_info(const vy_mcap_reader *reader);

/// Read the whole file and compare all CRCs and the structure. VY_OK means: not one byte is damaged.
/// Worth its time before a replay: metadata has no CRC of its own. A file without its end is VY_DAMAGED.
vy_status vy_mcap_reader_verify(vy_mcap_reader *reader, vy_error *err);

/// The same of a file that may lack the CRC of its data section or summary, as some writers leave it: then
/// `*has_crc` is 0, and all there is was compared.
vy_status vy_mcap_reader_check(vy_mcap_reader *reader, int *has_crc, vy_error *err);

/// Tables by position, 0 up to the count in the info; NULL beyond.
const vy_mcap_channel *vy_mcap_reader_channel(const vy_mcap_reader *reader, size_t index);
const vy_mcap_attachment *vy_mcap_reader_attachment(const vy_mcap_reader *reader, size_t index);
const vy_mcap_metadata *vy_mcap_reader_metadata(const vy_mcap_reader *reader, size_t index);
const vy_mcap_schema *vy_mcap_reader_schema(const vy_mcap_reader *reader, size_t index);

/// Lookups; NULL when there is none. With several of one name, the first.
const vy_mcap_channel *vy_mcap_reader_find_channel(const vy_mcap_reader *reader, const char *topic);
const vy_mcap_channel *vy_mcap_reader_channel_by_id(const vy_mcap_reader *reader, uint16_t id);
const vy_mcap_schema *vy_mcap_reader_schema_by_id(const vy_mcap_reader *reader, uint16_t id);
const vy_mcap_attachment *vy_mcap_reader_find_attachment(const vy_mcap_reader *reader, const char *name);
/// The value of `key` in the metadata called `name`.
const char *vy_mcap_reader_find_value(const vy_mcap_reader *reader, const char *name, const char *key);

/// Read an attachment and check its CRC. `*data` (NUL-terminated beyond its size) is freed by the caller.
vy_status vy_mcap_reader_read_attachment(vy_mcap_reader *reader, const vy_mcap_attachment *attachment,
                                         unsigned char **data, size_t *size, vy_error *err);

/// The last message of a channel at or before `time`: VY_NOT_FOUND when there is none. Reads from the end
/// backwards, one chunk in most cases.
vy_status vy_mcap_reader_latest(vy_mcap_reader *reader, uint16_t channel, uint64_t time, vy_mcap_message *out,
                                vy_error *err);

/// Which messages, and in which order.
typedef struct vy_mcap_query {
    uint64_t start_time;      ///< first log time wanted
    uint64_t end_time;        ///< last log time wanted, inclusive; 0 for no end
    const uint16_t *channels; ///< ids wanted; NULL for all. Copied
    size_t channel_count;
    bool by_time; ///< by log time, equal times in file order; else file order
} vy_mcap_query;

/// One pass over messages. Several may be open on one reader, used from one thread.
typedef struct vy_mcap_cursor vy_mcap_cursor;

/// @param query NULL for all messages in file order
vy_status vy_mcap_cursor_open(vy_mcap_reader *reader, const vy_mcap_query *query, vy_mcap_cursor **out,
                              vy_error *err);

/// The next message; false at the end and on failure: vy_mcap_cursor_status tells which. A pass over all
/// times that ends with fewer or more messages than the file says it has failed: VY_DAMAGED.
bool vy_mcap_cursor_next(vy_mcap_cursor *cursor, vy_mcap_message *out);

/// VY_OK, or why the cursor stopped early.
vy_status vy_mcap_cursor_status(const vy_mcap_cursor *cursor, vy_error *err);

/// Continue from the first message at or after `time`, forwards or backwards; clears the end, not a failure.
void vy_mcap_cursor_seek(vy_mcap_cursor *cursor, uint64_t time);

void vy_mcap_cursor_close(vy_mcap_cursor *cursor); // NULL is a no-op
