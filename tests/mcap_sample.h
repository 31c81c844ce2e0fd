// mcap_sample.h - what the tests of the log container share: a sink in memory that can fail, and a sample log
// whose every message follows from its number.
#pragma once
#include "check.h"
#include "record/mcap_format.h"
#include "record/mcap_reader.h"
#include "record/mcap_writer.h"

/// A sink that keeps what it gets, and fails from call `fail_at` on (counted from 0; -1: never).
typedef struct memory_sink {
    mcap_bytes bytes;
    int calls, fail_at;
    size_t ends[4096]; ///< size after each of the first calls
} memory_sink;

static inline vy_status memory_sink_write(void *self, const void *data, size_t size, vy_error *err)
{
    memory_sink *sink = self;
    const int call = sink->calls++;
    if (sink->fail_at >= 0 && call >= sink->fail_at) {
        memset(err, 0, sizeof *err);
        err->status = VY_IO;
        snprintf(err->text, sizeof err->text, "call %d fails", call);
        return VY_IO;
    }
    mcap_bytes_put(&sink->bytes, data, size);
    if (call < 4096) sink->ends[call] = sink->bytes.size;
    return VY_OK;
}

static inline vy_byte_sink memory_sink_bytes(memory_sink *sink)
{
    return (vy_byte_sink){.self = sink, .write = memory_sink_write};
}

enum { SAMPLE_CHANNELS = 3, SAMPLE_SIZE_MAX = 40 };

/// Message number i of the sample: its channel, time and bytes.
static inline vy_mcap_message sample_message(int i, unsigned char data[SAMPLE_SIZE_MAX])
{
    random_source r = {.state = (uint64_t)i};
    const uint64_t pick = random_bits(&r);
    const size_t size = pick % (SAMPLE_SIZE_MAX + 1);
    for (size_t k = 0; k < size; ++k) data[k] = (unsigned char)(k < 12 ? random_bits(&r) : k);
    return (vy_mcap_message){
        .channel = (uint16_t)(1 + (pick >> 32) % SAMPLE_CHANNELS),
        .sequence = (uint32_t)i,
        .log_time = (uint64_t)(i / 2) * 1000, // pairs of equal times
        .publish_time = (uint64_t)(i / 2) * 1000,
        .data = data,
        .size = size,
    };
}

static const char sample_attachment[] = "volery: 1\nname: sample\n";

/// Everything before the first message. Stops at the first failure.
static inline vy_status sample_begin(vy_mcap_writer *writer, vy_error *err)
{
    const vy_mcap_attachment_def attachment = {.name = "scenario.yaml",
                                               .media_type = "application/yaml",
                                               .log_time = 5,
                                               .create_time = 6,
                                               .data = sample_attachment,
                                               .size = sizeof sample_attachment - 1};
    const vy_mcap_pair run[] = {{"seed", "7"}, {"empty", ""}};
    const vy_mcap_pair units = {"units", "m"};
    uint16_t schema = 0, id = 0;
    vy_status status = vy_mcap_writer_add_schema(writer, "sample", "jsonschema", "{}", 2, &schema, err);
    for (int c = 0; c < SAMPLE_CHANNELS && status == VY_OK; ++c) {
        static const char *const topics[SAMPLE_CHANNELS] = {"/a", "/b", "/c"};
        const vy_mcap_channel_def def = {.topic = topics[c],
                                         .encoding = "json",
                                         .schema = c == 0 ? 0 : schema,
                                         .metadata = &units,
                                         .metadata_count = c == 1 ? 1 : 0};
        status = vy_mcap_writer_add_channel(writer, &def, &id, err);
    }
    if (status == VY_OK) status = vy_mcap_writer_attachment(writer, &attachment, err);
    if (status == VY_OK) status = vy_mcap_writer_metadata(writer, "run", run, 2, err);
    return status;
}

static inline vy_status sample_messages(vy_mcap_writer *writer, int from, int to, vy_error *err)
{
    vy_status status = VY_OK;
    for (int i = from; i < to && status == VY_OK; ++i) {
        unsigned char data[SAMPLE_SIZE_MAX];
        const vy_mcap_message m = sample_message(i, data);
        status = vy_mcap_writer_message(writer, m.channel, m.sequence, m.log_time, m.data, m.size, err);
    }
    return status;
}

/// The sample to a sink, whatever happens. The first failure.
static inline vy_status sample_write(const vy_mcap_writer_def *def, vy_byte_sink sink, int count,
                                     vy_error *err)
{
    vy_mcap_writer *writer = NULL;
    vy_status status = vy_mcap_writer_open(def, sink, &writer, err);
    if (status != VY_OK) return status;
    status = sample_begin(writer, err);
    if (status == VY_OK) status = sample_messages(writer, 0, count, err);
    vy_error end;
    const vy_status closed = vy_mcap_writer_close(writer, &end);
    if (status == VY_OK && closed != VY_OK) *err = end;
    return status == VY_OK ? closed : status;
}

static inline vy_mcap_writer_def sample_def(vy_mcap_compression compression, size_t chunk_size)
{
    vy_mcap_writer_def def = vy_default_mcap_writer_def();
    def.compression = compression;
    def.chunk_size = chunk_size;
    def.chunk_size_max = chunk_size;
    return def;
}

static inline bool sample_equals(const vy_mcap_message *m, int i)
{
    unsigned char data[SAMPLE_SIZE_MAX];
    const vy_mcap_message wanted = sample_message(i, data);
    return m->channel == wanted.channel && m->sequence == wanted.sequence && m->log_time == wanted.log_time &&
           m->publish_time == wanted.publish_time && m->size == wanted.size &&
           (m->size == 0 || memcmp(m->data, wanted.data, m->size) == 0);
}

/// How many messages a fresh cursor gives; each must be the next of the sample.
static inline int sample_prefix(vy_mcap_reader *reader, vy_status *status)
{
    vy_mcap_cursor *cursor = NULL;
    assert_int_equal(vy_mcap_cursor_open(reader, NULL, &cursor, NULL), VY_OK);
    int count = 0;
    vy_mcap_message m;
    while (vy_mcap_cursor_next(cursor, &m)) {
        assert_true(sample_equals(&m, count));
        ++count;
    }
    *status = vy_mcap_cursor_status(cursor, NULL);
    vy_mcap_cursor_close(cursor);
    return count;
}
