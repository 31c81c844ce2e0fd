// test_mcap.c - the log container: what is written is what is read, by every way of reading.
#include "mcap_sample.h"
#include "base/cpu.h"
#include "record/crc.h"
#include <stdlib.h>
#include <zlib.h>

static vy_mcap_reader *open_bytes(const memory_sink *sink)
{
    vy_mcap_reader *reader = NULL;
    vy_error err;
    const vy_byte_source source = vy_memory_source(sink->bytes.data, sink->bytes.size);
    const vy_status status = vy_mcap_reader_open_source(source, NULL, &reader, &err);
    if (status != VY_OK) print_error("%s\n", err.text);
    assert_int_equal(status, VY_OK);
    return reader;
}

static void check_tables(vy_mcap_reader *reader)
{
    const vy_mcap_info *info = vy_mcap_reader_info(reader);
    assert_string_equal(info->library, "volery");
    assert_string_equal(info->profile, "");
    assert_int_equal(info->schema_count, 1);
    assert_int_equal(info->channel_count, SAMPLE_CHANNELS);
    const vy_mcap_schema *schema = vy_mcap_reader_schema_by_id(reader, 1);
    assert_string_equal(schema->name, "sample");
    assert_string_equal(schema->encoding, "jsonschema");
    assert_int_equal(schema->size, 2);
    assert_memory_equal(schema->data, "{}", 2);
    const vy_mcap_channel *channel = vy_mcap_reader_find_channel(reader, "/b");
    assert_int_equal(channel->id, 2);
    assert_int_equal(channel->schema, 1);
    assert_string_equal(channel->encoding, "json");
    assert_int_equal(channel->metadata_count, 1);
    assert_string_equal(channel->metadata[0].value, "m");
    assert_ptr_equal(vy_mcap_reader_channel(reader, 1), channel);
    assert_null(vy_mcap_reader_find_channel(reader, "/d"));
    assert_null(vy_mcap_reader_channel(reader, SAMPLE_CHANNELS));
    assert_string_equal(vy_mcap_reader_find_value(reader, "run", "seed"), "7");
    assert_string_equal(vy_mcap_reader_find_value(reader, "run", "empty"), "");
    assert_null(vy_mcap_reader_find_value(reader, "run", "none"));

    const vy_mcap_attachment *attachment = vy_mcap_reader_find_attachment(reader, "scenario.yaml");
    assert_string_equal(attachment->media_type, "application/yaml");
    assert_int_equal(attachment->log_time, 5);
    assert_int_equal(attachment->create_time, 6);
    unsigned char *data = NULL;
    size_t size = 0;
    assert_int_equal(vy_mcap_reader_read_attachment(reader, attachment, &data, &size, NULL), VY_OK);
    assert_int_equal(size, sizeof sample_attachment - 1);
    assert_string_equal((char *)data, sample_attachment);
    free(data);
}

// Every compression, with and without a thread, gives back the same messages and passes its own verification.
static void round_trip(void **unused)
{
    (void)unused;
    for (int variant = 0; variant < 4; ++variant) {
        vy_mcap_writer_def def = sample_def(variant & 1 ? VY_MCAP_ZSTD : VY_MCAP_NONE, 1000);
        def.threaded = (variant & 2) != 0;
        memory_sink sink = {.fail_at = -1};
        vy_error err;
        assert_int_equal(sample_write(&def, memory_sink_bytes(&sink), 500, &err), VY_OK);
        vy_mcap_reader *reader = open_bytes(&sink);
        const vy_mcap_info *info = vy_mcap_reader_info(reader);
        assert_false(info->recovered || info->truncated);
        assert_string_equal(info->warning, "");
        assert_int_equal(info->message_count, 500);
        assert_int_equal(info->start_time, 0);
        assert_int_equal(info->end_time, 249000);
        assert_true(info->chunk_count > 20);
        check_tables(reader);
        vy_status status;
        assert_int_equal(sample_prefix(reader, &status), 500);
        assert_int_equal(status, VY_OK);
        assert_int_equal(vy_mcap_reader_verify(reader, &err), VY_OK);
        vy_mcap_reader_close(reader);
        mcap_bytes_free(&sink.bytes);
    }
}

// Times are log times: a thread and the caller's own write give the same bytes.
static void thread_changes_no_byte(void **unused)
{
    (void)unused;
    memory_sink sinks[2] = {{.fail_at = -1}, {.fail_at = -1}};
    for (int i = 0; i < 2; ++i) {
        vy_mcap_writer_def def = sample_def(VY_MCAP_ZSTD, 700);
        def.threaded = i == 1;
        assert_int_equal(sample_write(&def, memory_sink_bytes(&sinks[i]), 1000, NULL), VY_OK);
    }
    assert_int_equal(sinks[0].bytes.size, sinks[1].bytes.size);
    assert_memory_equal(sinks[0].bytes.data, sinks[1].bytes.data, sinks[0].bytes.size);
    mcap_bytes_free(&sinks[0].bytes);
    mcap_bytes_free(&sinks[1].bytes);
}

static void empty_file(void **unused)
{
    (void)unused;
    const vy_mcap_writer_def def = vy_default_mcap_writer_def();
    memory_sink sink = {.fail_at = -1};
    vy_mcap_writer *writer = NULL;
    assert_int_equal(vy_mcap_writer_open(&def, memory_sink_bytes(&sink), &writer, NULL), VY_OK);
    assert_int_equal(vy_mcap_writer_close(writer, NULL), VY_OK);
    vy_mcap_reader *reader = open_bytes(&sink);
    vy_status status;
    assert_int_equal(sample_prefix(reader, &status), 0);
    assert_int_equal(status, VY_OK);
    assert_int_equal(vy_mcap_reader_verify(reader, NULL), VY_OK);
    vy_mcap_reader_close(reader);
    mcap_bytes_free(&sink.bytes);
}

// A walk over the raw file by the specification alone: every index entry must point at what it names.
static void indexes_point_at_their_messages(void **unused)
{
    (void)unused;
    const vy_mcap_writer_def def = sample_def(VY_MCAP_NONE, 500);
    memory_sink sink = {.fail_at = -1};
    assert_int_equal(sample_write(&def, memory_sink_bytes(&sink), 300, NULL), VY_OK);
    const unsigned char *d = sink.bytes.data;
    const unsigned char *chunk = NULL; // records of the last chunk
    int indexed = 0, chunk_slots = 0, offsets = 0;
    size_t at = MCAP_MAGIC_SIZE, data_end = 0;
    while (at < sink.bytes.size - MCAP_MAGIC_SIZE) {
        const unsigned char *body = d + at + MCAP_RECORD_HEAD_SIZE;
        const uint64_t length = mcap_get_u64(d + at + 1);
        if (d[at] == MCAP_CHUNK) chunk = body + MCAP_CHUNK_HEAD_SIZE;
        if (d[at] == MCAP_MESSAGE_INDEX) {
            for (uint64_t e = 6; e < length; e += 16, ++indexed) {
                const unsigned char *record = chunk + mcap_get_u64(body + e + 8);
                assert_int_equal(record[0], MCAP_MESSAGE);
                assert_int_equal(mcap_get_u16(record + 9), mcap_get_u16(body));
                assert_true(mcap_get_u64(record + 15) == mcap_get_u64(body + e));
            }
        }
        if (d[at] == MCAP_DATA_END) {
            data_end = at + MCAP_RECORD_HEAD_SIZE + length;
            assert_true(mcap_get_u32(body) == (uint32_t)crc32(0, d, (uInt)at));
        }
        if (d[at] == MCAP_CHUNK_INDEX) {
            assert_int_equal(d[mcap_get_u64(body + 16)], MCAP_CHUNK);
            const uint32_t slots = mcap_get_u32(body + 32);
            for (uint32_t s = 0; s < slots; s += 10, ++chunk_slots) {
                const unsigned char *index = d + mcap_get_u64(body + 36 + s + 2);
                assert_int_equal(index[0], MCAP_MESSAGE_INDEX);
                assert_int_equal(mcap_get_u16(index + 9), mcap_get_u16(body + 36 + s));
            }
        }
        if (d[at] == MCAP_SUMMARY_OFFSET) {
            const uint64_t start = mcap_get_u64(body + 1), size = mcap_get_u64(body + 9);
            assert_int_equal(d[start], body[0]); // the group begins with its opcode and ends with another
            assert_true(d[start + size] != body[0]);
            ++offsets;
        }
        if (d[at] == MCAP_FOOTER) {
            assert_true(mcap_get_u64(body) == data_end);
            assert_int_equal(d[mcap_get_u64(body + 8)], MCAP_SUMMARY_OFFSET);
            const uInt covered = (uInt)(at + MCAP_RECORD_HEAD_SIZE + 16 - data_end);
            assert_true(mcap_get_u32(body + 16) == (uint32_t)crc32(0, d + data_end, covered));
        }
        at += MCAP_RECORD_HEAD_SIZE + length;
    }
    assert_int_equal(at, sink.bytes.size - MCAP_MAGIC_SIZE);
    assert_int_equal(indexed, 300);
    assert_int_equal(offsets, 6);
    assert_true(chunk_slots > 30);
    mcap_bytes_free(&sink.bytes);
}

// By time, a filter and a range give what a plain search over all messages gives.
static void queries_equal_a_plain_search(void **unused)
{
    (void)unused;
    enum { COUNT = 400 };
    const vy_mcap_writer_def def = sample_def(VY_MCAP_ZSTD, 600);
    memory_sink sink = {.fail_at = -1};
    assert_int_equal(sample_write(&def, memory_sink_bytes(&sink), COUNT, NULL), VY_OK);
    vy_mcap_reader *reader = open_bytes(&sink);
    random_source r = {.state = 11};
    for (int round = 0; round < 300; ++round) {
        const uint64_t start =
            random_bits(&r) % (COUNT / 2) * 1000 + (round % 5 == 0); // at, or just behind, a message
        const uint16_t wanted = (uint16_t)(1 + random_bits(&r) % SAMPLE_CHANNELS);
        const bool filter = random_bits(&r) % 2 != 0;
        const vy_mcap_query query = {
            .end_time = start + random_bits(&r) % 50000,
            .channels = filter ? &wanted : NULL,
            .channel_count = 1,
            .by_time = round % 2 != 0,
        };
        vy_mcap_cursor *cursor = NULL;
        assert_int_equal(vy_mcap_cursor_open(reader, &query, &cursor, NULL), VY_OK);
        vy_mcap_message got = {0};
        if (round % 3 == 0) vy_mcap_cursor_next(cursor, &got); // a seek goes anywhere, also from the middle
        vy_mcap_cursor_seek(cursor, start);
        int last = -1;
        for (int i = 0; i < COUNT; ++i) {
            unsigned char data[SAMPLE_SIZE_MAX];
            const vy_mcap_message m = sample_message(i, data);
            if (m.log_time < start || m.log_time > query.end_time || (filter && m.channel != wanted))
                continue;
            if (m.channel == wanted) last = i;
            assert_true(vy_mcap_cursor_next(cursor, &got));
            assert_true(sample_equals(&got, i));
        }
        assert_false(vy_mcap_cursor_next(cursor, &got));
        assert_int_equal(vy_mcap_cursor_status(cursor, NULL), VY_OK);
        vy_mcap_cursor_close(cursor);
        if (last >= 0) {
            assert_int_equal(vy_mcap_reader_latest(reader, wanted, query.end_time, &got, NULL), VY_OK);
            assert_true(sample_equals(&got, last));
        }
    }
    vy_mcap_message got;
    assert_int_equal(vy_mcap_reader_latest(reader, 9, UINT64_MAX, &got, NULL), VY_NOT_FOUND);
    vy_mcap_reader_close(reader);
    mcap_bytes_free(&sink.bytes);
}

// Messages written out of order, over many chunks: by time they come sorted, equal times in file order.
static void time_order_across_chunks(void **unused)
{
    (void)unused;
    enum { COUNT = 300 };
    const vy_mcap_writer_def def = sample_def(VY_MCAP_ZSTD, 700); // 18 messages a chunk, mixed over 100
    memory_sink sink = {.fail_at = -1};
    vy_mcap_writer *writer = NULL;
    assert_int_equal(vy_mcap_writer_open(&def, memory_sink_bytes(&sink), &writer, NULL), VY_OK);
    assert_int_equal(sample_begin(writer, NULL), VY_OK);
    random_source r = {.state = 5};
    for (int i = 0; i < COUNT; ++i) {
        const uint64_t time = (uint64_t)i + random_bits(&r) % 100;
        assert_int_equal(vy_mcap_writer_message(writer, 1, (uint32_t)i, time, "1234567", 7, NULL), VY_OK);
    }
    assert_int_equal(vy_mcap_writer_close(writer, NULL), VY_OK);
    vy_mcap_reader *reader = open_bytes(&sink);
    const vy_mcap_query query = {.by_time = true};
    vy_mcap_cursor *cursor = NULL;
    assert_int_equal(vy_mcap_cursor_open(reader, &query, &cursor, NULL), VY_OK);
    vy_mcap_message m, before = {0};
    bool seen[COUNT] = {false};
    int count = 0;
    for (; vy_mcap_cursor_next(cursor, &m); ++count) {
        assert_true(m.log_time > before.log_time ||
                    (m.log_time == before.log_time && m.sequence >= before.sequence));
        assert_false(seen[m.sequence]);
        seen[m.sequence] = true;
        before = m;
    }
    assert_int_equal(count, COUNT);
    assert_int_equal(vy_mcap_cursor_status(cursor, NULL), VY_OK);
    vy_mcap_cursor_close(cursor);
    vy_mcap_reader_close(reader);
    mcap_bytes_free(&sink.bytes);
}

// More chunks at one moment than may be open: a clear end, not unbounded memory.
static void too_many_overlapping_chunks_are_refused(void **unused)
{
    (void)unused;
    const vy_mcap_writer_def def = sample_def(VY_MCAP_NONE, 64);
    memory_sink sink = {.fail_at = -1};
    vy_mcap_writer *writer = NULL;
    assert_int_equal(vy_mcap_writer_open(&def, memory_sink_bytes(&sink), &writer, NULL), VY_OK);
    assert_int_equal(sample_begin(writer, NULL), VY_OK);
    for (uint32_t i = 0; i < 60; ++i) {
        assert_int_equal(vy_mcap_writer_message(writer, 1, i, i % 2 ? 1000 : 0, NULL, 0, NULL), VY_OK);
    }
    assert_int_equal(vy_mcap_writer_close(writer, NULL), VY_OK);
    vy_mcap_reader *reader = open_bytes(&sink);
    const vy_mcap_query query = {.by_time = true};
    vy_mcap_cursor *cursor = NULL;
    assert_int_equal(vy_mcap_cursor_open(reader, &query, &cursor, NULL), VY_OK);
    vy_mcap_message m;
    while (vy_mcap_cursor_next(cursor, &m)) assert_int_equal(m.log_time, 0);
    assert_int_equal(vy_mcap_cursor_status(cursor, NULL), VY_FULL);
    vy_mcap_cursor_close(cursor);
    vy_mcap_reader_close(reader);
    mcap_bytes_free(&sink.bytes);
}

// A message larger than a chunk gets its own; the refused ones leave the log as it was.
static void large_and_refused_messages(void **unused)
{
    (void)unused;
    const vy_mcap_writer_def def = sample_def(VY_MCAP_ZSTD, 64);
    memory_sink sink = {.fail_at = -1};
    vy_mcap_writer *writer = NULL;
    vy_error err;
    unsigned char *large = calloc(100000, 1);
    assert_int_equal(vy_mcap_writer_open(&def, memory_sink_bytes(&sink), &writer, &err), VY_OK);
    assert_int_equal(vy_mcap_writer_message(writer, 1, 0, 0, "x", 1, &err), VY_NOT_FOUND);
    assert_int_equal(sample_begin(writer, &err), VY_OK);
    const vy_mcap_channel_def wrong = {.topic = "/x", .encoding = "json", .schema = 2};
    uint16_t id = 0;
    assert_int_equal(vy_mcap_writer_add_channel(writer, &wrong, &id, &err), VY_NOT_FOUND);
    assert_int_equal(vy_mcap_writer_message(writer, 0, 0, 0, "x", 1, &err), VY_NOT_FOUND);
    assert_int_equal(vy_mcap_writer_message(writer, 4, 0, 0, "x", 1, &err), VY_NOT_FOUND);
    assert_int_equal(vy_mcap_writer_message(writer, 1, 0, 0, large, (size_t)65 << 20, &err), VY_BAD_VALUE);
    assert_int_equal(vy_mcap_writer_message(writer, 1, 0, 1, "x", 1, &err), VY_OK);
    assert_int_equal(vy_mcap_writer_message(writer, 2, 0, 2, large, 100000, &err), VY_OK);
    assert_int_equal(vy_mcap_writer_message(writer, 1, 1, 3, "y", 1, &err), VY_OK);
    assert_int_equal(vy_mcap_writer_close(writer, &err), VY_OK);
    vy_mcap_reader *reader = open_bytes(&sink);
    assert_int_equal(vy_mcap_reader_info(reader)->chunk_count, 3);
    vy_mcap_message m;
    assert_int_equal(vy_mcap_reader_latest(reader, 2, 99, &m, NULL), VY_OK);
    assert_int_equal(m.size, 100000);
    vy_mcap_reader_close(reader);
    mcap_bytes_free(&sink.bytes);
    free(large);
}

static void bad_defs_are_refused(void **unused)
{
    (void)unused;
    memory_sink sink = {.fail_at = -1};
    vy_mcap_writer_def defs[6];
    for (int i = 0; i < 6; ++i) defs[i] = vy_default_mcap_writer_def();
    defs[0].cookie = 0;
    defs[1].compression = (vy_mcap_compression)7;
    defs[2].level = 20;
    defs[3].chunk_size = 63;
    defs[4].chunk_size_max = (size_t)65 << 20;
    defs[5].chunks_per_size = 0;
    for (int i = 0; i < 6; ++i) {
        vy_mcap_writer *writer = NULL;
        assert_int_equal(vy_mcap_writer_open(&defs[i], memory_sink_bytes(&sink), &writer, NULL),
                         VY_BAD_VALUE);
        assert_null(writer);
    }
    assert_int_equal(sink.calls, 0);
}

static vy_status count_bytes(void *self, const void *data, size_t size, vy_error *err)
{
    (void)data;
    (void)err;
    *(uint64_t *)self += size;
    return VY_OK;
}

// Chunks grow with their number up to their largest size: from there a hundred times the messages take a
// thousandth more memory, the index of the larger chunks.
static void memory_does_not_grow(void **unused)
{
    (void)unused;
    for (int threaded = 0; threaded < 2; ++threaded) {
        vy_mcap_writer_def def = sample_def(VY_MCAP_NONE, 4096);
        def.chunk_size_max = 1 << 20;
        def.chunks_per_size = 64;
        def.threaded = threaded != 0;
        uint64_t written = 0;
        vy_mcap_writer *writer = NULL;
        const vy_byte_sink sink = {.self = &written, .write = count_bytes};
        assert_int_equal(vy_mcap_writer_open(&def, sink, &writer, NULL), VY_OK);
        assert_int_equal(sample_begin(writer, NULL), VY_OK);
        unsigned char data[200] = {0};
        size_t early = 0;
        const uint32_t count = 3000000;
        for (uint32_t i = 0; i < count; ++i) {
            const uint16_t channel = (uint16_t)(1 + i % 3);
            assert_int_equal(vy_mcap_writer_message(writer, channel, i, i, data, sizeof data, NULL), VY_OK);
            if (i == count / 5) early = vy_mcap_writer_memory(writer);
        }
        const size_t late = vy_mcap_writer_memory(writer);
        assert_true(late < (size_t)10 << 20);
        assert_true(late - early <= 128 * 1024);
        assert_int_equal(vy_mcap_writer_close(writer, NULL), VY_OK);
        assert_true(written > (uint64_t)count * 231);
    }
}

// Whatever computes it, a CRC is zlib's, at every size, place and beginning.
static void crc_is_that_of_zlib(void **unused)
{
    (void)unused;
    unsigned char bytes[1500];
    random_source r = {17};
    for (size_t i = 0; i < sizeof bytes; ++i) bytes[i] = (unsigned char)random_bits(&r);
    for (size_t size = 0; size <= 1200; ++size) {
        const unsigned char *at = bytes + random_bits(&r) % 300;
        const uint32_t before = size % 3 == 0 ? 0 : (uint32_t)random_bits(&r);
        const uint32_t want = (uint32_t)crc32_z(before, at, size);
        assert_int_equal(vy_crc32(before, at, size), want);
        if (vy_cpu_best() >= VY_CPU_AVX2) assert_int_equal(vy_crc32_avx2(before, at, size), want);
        assert_int_equal(vy_crc32_combine(before, vy_crc32(0, at, size), size), want);
    }
    assert_int_equal(vy_crc32(0, "123456789", 9), 0xcbf43926u); // the check value of CRC-32
    assert_int_equal(vy_crc32(7, NULL, 0), 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crc_is_that_of_zlib),
        cmocka_unit_test(round_trip),
        cmocka_unit_test(thread_changes_no_byte),
        cmocka_unit_test(empty_file),
        cmocka_unit_test(indexes_point_at_their_messages),
        cmocka_unit_test(queries_equal_a_plain_search),
        cmocka_unit_test(time_order_across_chunks),
        cmocka_unit_test(too_many_overlapping_chunks_are_refused),
        cmocka_unit_test(large_and_refused_messages),
        cmocka_unit_test(bad_defs_are_refused),
        cmocka_unit_test(memory_does_not_grow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
