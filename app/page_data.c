// page_data.c - chooses, thins and packs the records of a page.
#include "page_data.h"
#include "base/fail.h"
#include "record/log.h"
#include "record/mcap_writer.h"
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { EVENT_CAP = 20000, CHANNEL_CAP = 65536, PACK_CHUNK = 1 << 16, MAX_ATTEMPTS = 6 };

// What a channel is to a page.
typedef enum part { PART_NONE, PART_TRUTH, PART_OTHER, PART_REPLIES, PART_EVENTS } part;

typedef struct packer {
    z_stream stream;
    unsigned char *bytes;
    size_t size, capacity;
} packer;

// The copy of a log's records into the file of a page.
typedef struct copier {
    vy_log *log;
    vy_mcap_writer *writer;
    unsigned char parts[CHANNEL_CAP];   // part of each channel, by its id in the log
    uint16_t ids[CHANNEL_CAP];          // its id in the page
    uint16_t schemas[CHANNEL_CAP];      // ids of schemas in the page, by their id in the log
    uint64_t read_count[CHANNEL_CAP];   // records read so far
    uint64_t record_count[CHANNEL_CAP]; // records of it in the log
    uint64_t bytes[PART_EVENTS + 1];    // of all records of a part
    uint64_t strides[PART_EVENTS + 1];  // every n-th record is copied
    uint64_t *replies;                  // read so far, of each drone
} copier;

static part part_of(vy_log *log, const vy_mcap_channel *channel)
{
    static const char drones[] = "/drones/", bodies[] = "/bodies/", joints[] = "/joints/",
                      truth_suffix[] = "/truth", own_prefix[] = "volery.";
    if (strcmp(channel->topic, TOPIC_EVENTS) == 0) return PART_EVENTS;
    if (strcmp(channel->topic, TOPIC_REPLIES) == 0) return PART_REPLIES;
    const vy_mcap_schema *schema = vy_mcap_reader_schema_by_id(log->reader, channel->schema);
    if (schema == NULL || strncmp(schema->name, own_prefix, sizeof own_prefix - 1) != 0) return PART_NONE;
    if (strcmp(channel->topic, "/contacts") == 0 || strncmp(channel->topic, joints, sizeof joints - 1) == 0)
        return PART_OTHER;
    if (strncmp(channel->topic, drones, sizeof drones - 1) != 0 &&
        strncmp(channel->topic, bodies, sizeof bodies - 1) != 0)
        return PART_NONE;
    const size_t length = strlen(channel->topic);
    return strcmp(channel->topic + length - (sizeof truth_suffix - 1), truth_suffix) == 0 ? PART_TRUTH
                                                                                          : PART_OTHER;
}

static vy_status pack(packer *p, const void *data, size_t size, int flush, vy_error *err)
{
    p->stream.next_in = (Bytef *)data; // zlib does not write to it
    p->stream.avail_in = (uInt)size;
    do {
        if (p->capacity - p->size < PACK_CHUNK) {
            const size_t capacity = 2 * p->capacity + PACK_CHUNK;
            unsigned char *bytes = realloc(p->bytes, capacity);
            if (bytes == NULL) return vy_fail(err, VY_NO_MEMORY, "out of memory");
            p->bytes = bytes;
            p->capacity = capacity;
        }
        const uInt free_bytes =
            (uInt)(p->capacity - p->size < UINT32_MAX ? p->capacity - p->size : UINT32_MAX);
        p->stream.next_out = p->bytes + p->size;
        p->stream.avail_out = free_bytes;
        if (deflate(&p->stream, flush) == Z_STREAM_ERROR)
            return vy_fail(err, VY_BAD_STATE, "the records could not be packed");
        p->size += free_bytes - p->stream.avail_out;
    } while (p->stream.avail_out == 0);
    return VY_OK;
}

static vy_status append_bytes(void *self, const void *data, size_t size, vy_error *err)
{
    return pack(self, data, size, Z_NO_FLUSH, err);
}

static vy_status add_channels(copier *c, vy_error *err)
{
    const size_t count = vy_mcap_reader_info(c->log->reader)->channel_count;
    vy_status status = VY_OK;
    memset(c->schemas, 0, sizeof c->schemas);
    for (size_t i = 0; i < count && status == VY_OK; ++i) {
        const vy_mcap_channel *channel = vy_mcap_reader_channel(c->log->reader, i);
        if (c->parts[channel->id] == PART_NONE) continue;
        const vy_mcap_schema *schema = vy_mcap_reader_schema_by_id(c->log->reader, channel->schema);
        if (schema != NULL && c->schemas[schema->id] == 0) {
            status = vy_mcap_writer_add_schema(c->writer, schema->name, schema->encoding, schema->data,
                                               schema->size, &c->schemas[schema->id], err);
        }
        const vy_mcap_channel_def def = {.topic = channel->topic,
                                         .encoding = channel->encoding,
                                         .schema = c->schemas[channel->schema],
                                         .metadata = channel->metadata,
                                         .metadata_count = channel->metadata_count};
        if (status == VY_OK) status = vy_mcap_writer_add_channel(c->writer, &def, &c->ids[channel->id], err);
    }
    return status;
}

// The replies of all drones share a channel; each drone keeps every n-th of its own.
static int is_selected_reply(const copier *c, const vy_mcap_message *m)
{
    vy_pb_reader reader = vy_pb_reader_on(m->data, m->size);
    vy_pb_item item;
    uint64_t drone = UINT64_MAX;
    while (vy_pb_next(&reader, &item)) {
        if (item.number == REPLY_DRONE && item.wire == 1) drone = item.value;
    }
    return drone < c->log->info.drone_count && c->replies[drone]++ % c->strides[PART_REPLIES] == 0;
}

// The first, every n-th and the last record of a channel.
static int is_selected(const copier *c, const vy_mcap_message *m)
{
    const uint16_t channel = m->channel;
    const uint64_t index = c->read_count[channel];
    if (c->parts[channel] == PART_REPLIES) return is_selected_reply(c, m);
    if (c->parts[channel] == PART_EVENTS) return index < EVENT_CAP;
    return index % c->strides[c->parts[channel]] == 0 || index + 1 == c->record_count[channel];
}

static vy_status copy_records(copier *c, page_data *out, vy_error *err)
{
    vy_mcap_cursor *cursor = NULL;
    vy_status status = vy_mcap_cursor_open(c->log->reader, NULL, &cursor, err);
    vy_mcap_message m;
    out->records = out->total = out->events_dropped = 0;
    memset(c->read_count, 0, sizeof c->read_count);
    memset(c->replies, 0, c->log->info.drone_count * sizeof *c->replies);
    while (status == VY_OK && vy_mcap_cursor_next(cursor, &m)) {
        if (c->parts[m.channel] == PART_NONE) continue;
        out->total += 1;
        if (is_selected(c, &m)) {
            out->records += 1;
            status = vy_mcap_writer_message(c->writer, c->ids[m.channel], m.sequence, m.log_time, m.data,
                                            m.size, err);
        } else if (c->parts[m.channel] == PART_EVENTS) {
            out->events_dropped += 1;
        }
        c->read_count[m.channel] += 1;
    }
    if (status == VY_OK) status = vy_mcap_cursor_status(cursor, err);
    vy_mcap_cursor_close(cursor);
    return status;
}

// Count the channels and records.
static vy_status count_records(copier *c, vy_error *err)
{
    const size_t channel_count = vy_mcap_reader_info(c->log->reader)->channel_count;
    for (size_t i = 0; i < channel_count; ++i) {
        const vy_mcap_channel *channel = vy_mcap_reader_channel(c->log->reader, i);
        c->parts[channel->id] = (unsigned char)part_of(c->log, channel);
    }
    vy_mcap_cursor *cursor = NULL;
    vy_status status = vy_mcap_cursor_open(c->log->reader, NULL, &cursor, err);
    vy_mcap_message m;
    while (status == VY_OK && vy_mcap_cursor_next(cursor, &m)) {
        c->record_count[m.channel] += 1;
        c->bytes[c->parts[m.channel]] += m.size;
    }
    if (status == VY_OK) status = vy_mcap_cursor_status(cursor, err);
    vy_mcap_cursor_close(cursor);
    return status;
}

static uint64_t stride_for(uint64_t bytes, uint64_t budget)
{
    return budget > 0 && bytes > budget ? (bytes + budget - 1) / budget : 1;
}

// Packed and in base64, records take about as much as before. Where drones are is worth most of the room.
static void choose_strides(copier *c, uint64_t limit)
{
    const uint64_t truth_bytes = c->bytes[PART_TRUTH],
                   other_bytes = c->bytes[PART_OTHER] + c->bytes[PART_REPLIES];
    const uint64_t truth_limit = limit / 10 * 7;
    c->strides[PART_TRUTH] =
        stride_for(truth_bytes, other_bytes < limit - truth_limit ? limit - other_bytes : truth_limit);
    const uint64_t remaining = limit - truth_bytes / c->strides[PART_TRUTH];
    c->strides[PART_OTHER] = c->strides[PART_REPLIES] =
        stride_for(other_bytes, remaining < limit ? remaining : limit - truth_limit);
}

static vy_status write_file(copier *c, packer *p, page_data *out, vy_error *err)
{
    enum { GZIP = 16 };
    if (deflateInit2(&p->stream, 6, Z_DEFLATED, MAX_WBITS + GZIP, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return vy_fail(err, VY_NO_MEMORY, "out of memory");
    vy_mcap_writer_def def = vy_default_mcap_writer_def();
    def.compression = VY_MCAP_NONE;
    const vy_byte_sink sink = {.self = p, .write = append_bytes};
    vy_status status = vy_mcap_writer_open(&def, sink, &c->writer, err);
    if (status == VY_OK) status = add_channels(c, err);
    if (status == VY_OK) status = copy_records(c, out, err);
    const vy_status close_status = vy_mcap_writer_close(c->writer, status == VY_OK ? err : NULL);
    c->writer = NULL;
    if (status == VY_OK) status = close_status;
    if (status == VY_OK) status = pack(p, NULL, 0, Z_FINISH, err);
    deflateEnd(&p->stream);
    return status;
}

vy_status vy_page_data_make(vy_log *log, size_t limit, page_data *out, vy_error *err)
{
    memset(out, 0, sizeof *out);
    copier *c = calloc(1, sizeof *c);
    if (c == NULL) return vy_fail(err, VY_NO_MEMORY, "out of memory");
    c->log = log;
    c->replies = calloc(log->info.drone_count + 1u, sizeof *c->replies);
    packer p;
    memset(&p, 0, sizeof p);
    vy_status status =
        c->replies != NULL ? count_records(c, err) : vy_fail(err, VY_NO_MEMORY, "out of memory");
    choose_strides(c, limit);
    for (int i = 0; status == VY_OK && i < MAX_ATTEMPTS; ++i) {
        p.size = 0;
        status = write_file(c, &p, out, err);
        const uint64_t base64_size = (p.size + 2) / 3 * 4;
        if (status != VY_OK || base64_size <= limit) break;
        for (int k = 0; k <= PART_EVENTS; ++k) c->strides[k] = c->strides[k] * base64_size / limit + 1;
    }
    if (status == VY_OK && (p.size + 2) / 3 * 4 > limit)
        status = vy_fail(err, VY_BAD_VALUE, "its drones do not fit a page of that size");
    out->bytes = p.bytes;
    out->size = p.size;
    out->truth_stride = c->strides[PART_TRUTH];
    out->other_stride = c->strides[PART_OTHER];
    free(c->replies);
    free(c);
    if (status != VY_OK) vy_page_data_destroy(out);
    return status;
}

void vy_page_data_destroy(page_data *data)
{
    free(data->bytes);
    memset(data, 0, sizeof *data);
}
