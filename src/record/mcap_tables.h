// mcap_tables.h - what the files of the reader share: its tables, and chunks once unpacked.
#pragma once
#include "record/mcap_format.h"
#include "record/mcap_reader.h"

// A chunk and what its index says about it.
typedef struct mcap_chunk_ref {
    uint64_t start_time, end_time;
    uint64_t offset, length;            // of its record, head included
    uint64_t size;                      // of its messages once unpacked
    const unsigned char *index_offsets; // channels in it: u16 channel, u64 offset; NULL when not known
    size_t index_count;
} mcap_chunk_ref;

// A chunk unpacked.
typedef struct mcap_chunk {
    const mcap_chunk_ref *ref;
    mcap_bytes records;
} mcap_chunk;

// From an id to a position in a table. Ids are small numbers in most files, so the map is as long as the
// largest.
typedef struct mcap_ids {
    uint32_t *positions; // position in the table + 1; 0: none
    size_t count;
} mcap_ids;

// Position in the table + 1; 0: the id is not in it.
static inline uint32_t mcap_ids_find(const mcap_ids *ids, uint16_t id)
{
    return id < ids->count ? ids->positions[id] : 0;
}

// A run of bytes being read; `bad` stays set once it ended too early.
typedef struct mcap_span {
    const unsigned char *at, *end; // the next byte, and behind the last
    bool bad;
} mcap_span;

struct vy_mcap_reader {
    vy_byte_source source;
    bool owns_source;
    vy_mcap_reader_def def;
    vy_mcap_info info;
    vy_mcap_schema *schemas;
    vy_mcap_channel *channels;
    vy_mcap_attachment *attachments;
    vy_mcap_metadata *metadatas;
    mcap_chunk_ref *chunk_refs; // in file order, not overlapping
    size_t capacities[5];       // of the five arrays
    mcap_ids schema_ids, channel_ids;
    struct mcap_block *blocks; // texts and everything of odd sizes
    uint64_t memory;           // [bytes] taken by the tables
    uint64_t data_end;         // offset of the summary; 0 when not known
    bool summary_checked;      // the summary's CRC is there and right
    bool counts_known;         // messages are counted by channel, in the statistics or by a scan
    bool no_memory;            // the system had no memory for the tables
    struct ZSTD_DCtx_s *zstd;
    mcap_bytes packed;      // a chunk as it lies in the file
    mcap_chunk best, trial; // of vy_mcap_reader_latest
    unsigned char *window;  // a piece of the file, for small reads
    uint64_t window_start;
    size_t window_size;
};

static inline mcap_span mcap_span_on(const unsigned char *data, size_t size)
{
    return (mcap_span){.at = data, .end = size > 0 ? data + size : data};
}

static inline size_t mcap_span_remaining(const mcap_span *s) { return (size_t)(s->end - s->at); }

// The next `size` bytes; NULL, and bad, when there are fewer.
static inline const unsigned char *mcap_span_take(mcap_span *s, uint64_t size)
{
    if (s->bad || size > mcap_span_remaining(s)) {
        s->bad = true;
        return NULL;
    }
    const unsigned char *at = s->at;
    if (size > 0) s->at += size;
    return at;
}

static inline uint16_t mcap_span_u16(mcap_span *s)
{
    const unsigned char *p = mcap_span_take(s, 2);
    return p != NULL ? mcap_get_u16(p) : 0;
}

static inline uint32_t mcap_span_u32(mcap_span *s)
{
    const unsigned char *p = mcap_span_take(s, 4);
    return p != NULL ? mcap_get_u32(p) : 0;
}

static inline uint64_t mcap_span_u64(mcap_span *s)
{
    const unsigned char *p = mcap_span_take(s, 8);
    return p != NULL ? mcap_get_u64(p) : 0;
}

// One record: its opcode, its body, and where its head lies in the file or chunk.
typedef struct mcap_record {
    int opcode;
    uint64_t offset; // of the head
    uint64_t length; // of the body
} mcap_record;

// The head of the record at `offset`; VY_DAMAGED unless head and body lie before `end`.
vy_status vy_mcap_read_head(vy_mcap_reader *reader, uint64_t offset, uint64_t end, mcap_record *out,
                            vy_error *err);

// A few bytes of the file, through a window; `size` at most 4096, inside the file.
vy_status vy_mcap_read_buffered(vy_mcap_reader *reader, uint64_t offset, void *data, size_t size,
                                vy_error *err);

// Memory that lives as long as the reader; NULL when there is none or the limit is reached.
void *vy_mcap_alloc(vy_mcap_reader *reader, size_t size);

// Why there was no memory for what stands at `offset`: the system has none, or the limit is reached.
vy_status vy_mcap_fail_full(const vy_mcap_reader *reader, uint64_t offset, vy_error *err);

// Add to the tables; the span is the record's body, `offset` is for the error. `entry` is an attachment
// without its name and type, which `texts` holds. A repeated id must repeat the record.
vy_status vy_mcap_add_schema(vy_mcap_reader *reader, mcap_span body, uint64_t offset, vy_error *err);
vy_status vy_mcap_add_channel(vy_mcap_reader *reader, mcap_span body, uint64_t offset, vy_error *err);
vy_status vy_mcap_add_metadata(vy_mcap_reader *reader, mcap_span body, uint64_t offset, vy_error *err);
vy_status vy_mcap_add_attachment(vy_mcap_reader *reader, const vy_mcap_attachment *entry, mcap_span texts,
                                 uint64_t offset, vy_error *err);
vy_status vy_mcap_add_chunk(vy_mcap_reader *reader, const mcap_chunk_ref *ref, uint64_t offset,
                            vy_error *err);

// Read the body of a record into memory the caller frees.
vy_status vy_mcap_read_body(vy_mcap_reader *reader, const mcap_record *record, unsigned char **data,
                            vy_error *err);

// Open by the summary, or else by a scan from the front.
vy_status vy_mcap_read_summary(vy_mcap_reader *reader, vy_error *err);
vy_status vy_mcap_scan(vy_mcap_reader *reader, vy_error *err);

// A second reader of the same source, which must outlive it, by a scan in any case.
vy_status vy_mcap_open_data_section(const vy_mcap_reader *reader, vy_mcap_reader **out, vy_error *err);

// Forget the tables: a summary that turned out bad is followed by a scan.
void vy_mcap_clear_tables(vy_mcap_reader *reader);

// Keep the first warning.
void vy_mcap_warn(vy_mcap_reader *reader, const char *text);

// Read and unpack a chunk and check its CRC. `ref` must outlive the view.
vy_status vy_mcap_load_chunk(vy_mcap_reader *reader, const mcap_chunk_ref *ref, mcap_chunk *view,
                             vy_error *err);

// Check every record of an unpacked chunk, so that later walks need no checks. With `scanned`, schemas and
// channels enter the tables, messages are counted, and the times found go to `scanned`; else they must fit
// the place.
vy_status vy_mcap_check_chunk(vy_mcap_reader *reader, const mcap_chunk *view, mcap_chunk_ref *scanned,
                              vy_error *err);

// The message record at `at` of a checked chunk.
static inline vy_mcap_message mcap_message_at(const unsigned char *at)
{
    const unsigned char *body = at + MCAP_RECORD_HEAD_SIZE;
    return (vy_mcap_message){
        .channel = mcap_get_u16(body),
        .sequence = mcap_get_u32(body + 2),
        .log_time = mcap_get_u64(body + 6),
        .publish_time = mcap_get_u64(body + 14),
        .data = body + MCAP_MESSAGE_HEAD_SIZE,
        .size = (size_t)(mcap_get_u64(at + 1) - MCAP_MESSAGE_HEAD_SIZE),
    };
}
