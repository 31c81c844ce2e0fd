// test_mcap_damage.c - logs that are torn, damaged, hostile, or written to a sink that fails: never a crash,
// never a wrong message, always a word.
#include "mcap_sample.h"
#include <stdlib.h>

static memory_sink write_sample(vy_mcap_compression compression, size_t chunk_size, int count)
{
    const vy_mcap_writer_def def = sample_def(compression, chunk_size);
    memory_sink sink = {.fail_at = -1};
    assert_int_equal(sample_write(&def, memory_sink_bytes(&sink), count, NULL), VY_OK);
    return sink;
}

// Find the first record of a kind; its offset.
static size_t find_record(const memory_sink *sink, int opcode)
{
    size_t at = MCAP_MAGIC_SIZE;
    while (sink->bytes.data[at] != opcode)
        at += MCAP_RECORD_HEAD_SIZE + mcap_get_u64(sink->bytes.data + at + 1);
    return at;
}

// A reader's whole answer about some bytes: messages given, all of them from the sample, and whether it
// complained.
typedef struct answer {
    int count;
    bool complained;
    bool verified;
    bool recovered, truncated;
    vy_status status; // of opening
} answer;

// An attachment is refused or right.
static void check_attachment(vy_mcap_reader *reader)
{
    const vy_mcap_attachment *attachment = vy_mcap_reader_attachment(reader, 0);
    unsigned char *data = NULL;
    size_t size = 0;
    if (attachment == NULL || vy_mcap_reader_read_attachment(reader, attachment, &data, &size, NULL) != VY_OK)
        return;
    assert_int_equal(size, sizeof sample_attachment - 1);
    assert_memory_equal(data, sample_attachment, size);
    free(data);
}

static answer ask(const unsigned char *data, size_t size)
{
    answer a = {0};
    vy_mcap_reader *reader = NULL;
    vy_error err = {0};
    a.status = vy_mcap_reader_open_source(vy_memory_source(data, size), NULL, &reader, &err);
    if (a.status != VY_OK) {
        assert_null(reader);
        assert_true(err.text[0] != 0 && err.status == a.status);
        a.complained = true;
        return a;
    }
    const vy_mcap_info *info = vy_mcap_reader_info(reader);
    vy_status status;
    a.count = sample_prefix(reader, &status);
    a.complained = status != VY_OK || info->warning[0] != 0;
    a.recovered = info->recovered;
    a.truncated = info->truncated;
    if (info->recovered && status == VY_OK) assert_int_equal(info->message_count, a.count);
    if (info->recovered) assert_true(info->warning[0] != 0);
    check_attachment(reader);
    a.verified = vy_mcap_reader_verify(reader, &err) == VY_OK;
    vy_mcap_reader_close(reader);
    return a;
}

// Every bit of a file, flipped: what is read is a prefix of what was written, anything less than all is
// reported, and verify finds every one of them.
static void every_flipped_bit(void **unused)
{
    (void)unused;
    enum { COUNT = 12 };
    for (int compression = 0; compression < 2; ++compression) {
        memory_sink sink = write_sample(compression ? VY_MCAP_ZSTD : VY_MCAP_NONE, 150, COUNT);
        answer a = ask(sink.bytes.data, sink.bytes.size);
        assert_true(a.count == COUNT && a.verified && !a.complained);
        const size_t torn = find_record(&sink, MCAP_DATA_END);
        for (size_t bit = 0; bit < 8 * sink.bytes.size; ++bit) {
            const unsigned char change = (unsigned char)(1u << bit % 8);
            sink.bytes.data[bit / 8] ^= change;
            a = ask(sink.bytes.data, sink.bytes.size);
            if (!a.complained) assert_int_equal(a.count, COUNT);
            assert_false(a.verified);
            // The same in a file without its end: what is left of it is read whole, or cut and said to be.
            if (bit / 8 < torn) {
                a = ask(sink.bytes.data, torn);
                assert_true(a.complained);
                if (a.status == VY_OK && !a.truncated) assert_int_equal(a.count, COUNT);
            }
            sink.bytes.data[bit / 8] ^= change;
        }
        mcap_bytes_free(&sink.bytes);
    }
}

// Larger files, several bytes overwritten at random.
static void random_damage(void **unused)
{
    (void)unused;
    enum { COUNT = 200 };
    memory_sink sink = write_sample(VY_MCAP_ZSTD, 700, COUNT);
    unsigned char *copy = malloc(sink.bytes.size);
    random_source r = {.state = 3};
    for (int round = 0; round < 3000; ++round) {
        memcpy(copy, sink.bytes.data, sink.bytes.size);
        const int changes = 1 + (int)(random_bits(&r) % 4);
        for (int i = 0; i < changes; ++i) {
            const size_t at = random_bits(&r) % sink.bytes.size;
            copy[at] = (unsigned char)(copy[at] ^ (1 + random_bits(&r) % 255));
        }
        if (memcmp(copy, sink.bytes.data, sink.bytes.size) == 0) continue;
        const answer a = ask(copy, sink.bytes.size);
        if (!a.complained) assert_int_equal(a.count, COUNT);
        assert_false(a.verified);
    }
    free(copy);
    mcap_bytes_free(&sink.bytes);
}

// Cut at every length: all whole chunks are read, no more, and the reader says that something is missing.
static void every_truncation(void **unused)
{
    (void)unused;
    enum { COUNT = 60 };
    for (int compression = 0; compression < 2; ++compression) {
        memory_sink sink = write_sample(compression ? VY_MCAP_ZSTD : VY_MCAP_NONE, 300, COUNT);
        // Where chunks end, and how many messages lie before each end, by a walk over the whole file.
        size_t ends[64];
        int counts[64], chunks = 0, messages = 0;
        size_t data_end = 0;
        for (size_t at = MCAP_MAGIC_SIZE; data_end == 0;) {
            const unsigned char *record = sink.bytes.data + at;
            at += MCAP_RECORD_HEAD_SIZE + mcap_get_u64(record + 1);
            if (record[0] == MCAP_CHUNK) ends[chunks++] = at;
            if (record[0] == MCAP_MESSAGE_INDEX) messages += (int)(mcap_get_u32(record + 11) / 16);
            if (chunks > 0) counts[chunks - 1] = messages;
            if (record[0] == MCAP_DATA_END) data_end = at;
        }
        assert_true(chunks > 5 && messages == COUNT);
        for (size_t size = 0; size < sink.bytes.size; ++size) {
            int wanted = 0;
            for (int c = 0; c < chunks; ++c) wanted = ends[c] <= size ? counts[c] : wanted;
            unsigned char *exact = malloc(size + 1); // so that a read beyond it is seen by a sanitizer
            memcpy(exact, sink.bytes.data, size);
            const answer a = ask(exact, size);
            free(exact);
            assert_true(a.complained);
            assert_false(a.verified);
            if (a.status == VY_OK) {
                assert_true(a.recovered && a.truncated);
                assert_int_equal(a.count, wanted);
            } else {
                assert_int_equal(a.status, VY_DAMAGED);
                assert_true(size < 40); // not even the header is there
            }
        }
        mcap_bytes_free(&sink.bytes);
    }
}

// A sink that fails from any call on: the status comes through, what got out is a readable prefix, memory is
// freed.
static void sink_fails_at_every_call(void **unused)
{
    (void)unused;
    enum { COUNT = 100 };
    for (int variant = 0; variant < 4; ++variant) {
        vy_mcap_writer_def def = sample_def(variant & 1 ? VY_MCAP_ZSTD : VY_MCAP_NONE, 400);
        def.threaded = (variant & 2) != 0;
        int calls = 1;
        for (int fail_at = 0; fail_at < calls; ++fail_at) {
            memory_sink whole = {.fail_at = -1};
            vy_error err;
            assert_int_equal(sample_write(&def, memory_sink_bytes(&whole), COUNT, &err), VY_OK);
            calls = whole.calls;
            memory_sink sink = {.fail_at = fail_at};
            assert_int_equal(sample_write(&def, memory_sink_bytes(&sink), COUNT, &err), VY_IO);
            char text[40];
            snprintf(text, sizeof text, "call %d fails", fail_at);
            assert_string_equal(err.text, text);       // the first failure, not a later one
            assert_int_equal(sink.calls, fail_at + 1); // and the sink is left alone after it
            if (fail_at > 0) {
                assert_int_equal(sink.bytes.size, whole.ends[fail_at - 1]);
                assert_memory_equal(sink.bytes.data, whole.bytes.data, sink.bytes.size);
                const answer a = ask(sink.bytes.data, sink.bytes.size);
                assert_int_equal(a.status, VY_OK);
                assert_true(a.recovered);
            }
            mcap_bytes_free(&sink.bytes);
            mcap_bytes_free(&whole.bytes);
        }
        assert_true(calls > 10);
    }
}

// After a failure every call gives it again.
static void failure_stays(void **unused)
{
    (void)unused;
    const vy_mcap_writer_def def = sample_def(VY_MCAP_NONE, 64);
    memory_sink sink = {.fail_at = 7};
    vy_mcap_writer *writer = NULL;
    vy_error err;
    assert_int_equal(vy_mcap_writer_open(&def, memory_sink_bytes(&sink), &writer, &err), VY_OK);
    assert_int_equal(sample_begin(writer, &err), VY_IO);
    uint16_t id = 77;
    const vy_mcap_channel_def channel = {.topic = "/x", .encoding = "json"};
    const vy_mcap_attachment_def attachment = {.name = "x", .media_type = "y"};
    assert_int_equal(vy_mcap_writer_add_schema(writer, "a", "b", NULL, 0, &id, &err), VY_IO);
    assert_int_equal(vy_mcap_writer_add_channel(writer, &channel, &id, &err), VY_IO);
    assert_int_equal(id, 77);
    assert_int_equal(vy_mcap_writer_attachment(writer, &attachment, &err), VY_IO);
    assert_int_equal(vy_mcap_writer_metadata(writer, "x", NULL, 0, &err), VY_IO);
    assert_int_equal(vy_mcap_writer_flush(writer, &err), VY_IO);
    assert_int_equal(vy_mcap_writer_message(writer, 1, 0, 0, "x", 1, &err), VY_IO);
    assert_int_equal(vy_mcap_writer_close(writer, &err), VY_IO);
    assert_string_equal(err.text, "call 7 fails");
    mcap_bytes_free(&sink.bytes);
}

static vy_status open_status(const memory_sink *sink, size_t size, vy_error *err)
{
    vy_mcap_reader *reader = NULL;
    const vy_status status =
        vy_mcap_reader_open_source(vy_memory_source(sink->bytes.data, size), NULL, &reader, err);
    vy_mcap_reader_close(reader);
    return status;
}

// Each kind of foreign or hostile file has its status and its sentence.
static void hostile_files(void **unused)
{
    (void)unused;
    vy_error err;
    memory_sink sink = write_sample(VY_MCAP_ZSTD, 500, 30);
    const size_t chunk = find_record(&sink, MCAP_CHUNK);
    unsigned char *d = sink.bytes.data;
    // Only the scan looks into chunks while opening, so the file is cut before its summary.
    const size_t torn = find_record(&sink, MCAP_DATA_END);

    assert_int_equal(open_status(&sink, 0, &err), VY_DAMAGED);
    d[5] = '1';
    assert_int_equal(open_status(&sink, sink.bytes.size, &err), VY_OTHER_VERSION);
    d[5] = '0';
    d[0] = 'x';
    assert_int_equal(open_status(&sink, sink.bytes.size, &err), VY_DAMAGED);
    assert_non_null(strstr(err.text, "not an MCAP file"));
    d[0] = 0x89;

    memcpy(d + chunk + MCAP_RECORD_HEAD_SIZE + 32, "lz4!", 4);
    assert_int_equal(open_status(&sink, torn, &err), VY_OTHER_VERSION);
    assert_non_null(strstr(err.text, "lz4!"));
    memcpy(d + chunk + MCAP_RECORD_HEAD_SIZE + 32, "zstd", 4);

    // A chunk that states a terabyte.
    unsigned char *size = d + chunk + MCAP_RECORD_HEAD_SIZE + 16;
    const uint64_t true_size = mcap_get_u64(size);
    mcap_put_u64(size, (uint64_t)1 << 40);
    assert_int_equal(open_status(&sink, torn, &err), VY_FULL);
    mcap_put_u64(size, true_size);
    assert_int_equal(open_status(&sink, torn, &err), VY_OK);

    // A record outside the chunks that must be in one.
    d[find_record(&sink, MCAP_MESSAGE_INDEX)] = MCAP_MESSAGE;
    assert_int_equal(open_status(&sink, torn, &err), VY_OTHER_VERSION);
    mcap_bytes_free(&sink.bytes);
}

// Tables may not take more than the def allows: too little is refused, at whichever table it runs out.
static void memory_limit_holds(void **unused)
{
    (void)unused;
    const vy_mcap_writer_def writer_def = vy_default_mcap_writer_def();
    memory_sink sink = {.fail_at = -1};
    vy_mcap_writer *writer = NULL;
    assert_int_equal(vy_mcap_writer_open(&writer_def, memory_sink_bytes(&sink), &writer, NULL), VY_OK);
    char text[1001];
    memset(text, 'x', 1000);
    text[1000] = 0;
    const vy_mcap_pair pair = {text, text};
    const vy_mcap_channel_def channel = {
        .topic = text, .encoding = "json", .metadata = &pair, .metadata_count = 1};
    const vy_mcap_attachment_def attachment = {.name = text, .media_type = "text/plain"};
    uint16_t id;
    for (int i = 0; i < 200; ++i) {
        assert_int_equal(vy_mcap_writer_add_schema(writer, text, "none", NULL, 0, &id, NULL), VY_OK);
        assert_int_equal(vy_mcap_writer_add_channel(writer, &channel, &id, NULL), VY_OK);
        assert_int_equal(vy_mcap_writer_metadata(writer, text, &pair, 1, NULL), VY_OK);
        assert_int_equal(vy_mcap_writer_attachment(writer, &attachment, NULL), VY_OK);
    }
    assert_int_equal(vy_mcap_writer_close(writer, NULL), VY_OK);
    bool opened = false;
    for (uint64_t limit = 1000; limit < 4000000; limit += 7000) {
        vy_mcap_reader_def def = vy_default_mcap_reader_def();
        def.memory_limit = limit;
        vy_mcap_reader *reader = NULL;
        const vy_byte_source source = vy_memory_source(sink.bytes.data, sink.bytes.size);
        const vy_status status = vy_mcap_reader_open_source(source, &def, &reader, NULL);
        assert_int_equal(status, opened ? VY_OK : status == VY_OK ? VY_OK : VY_FULL);
        opened = status == VY_OK;
        if (opened) assert_true(limit > 1500000); // the texts alone are 1.6 MB
        vy_mcap_reader_close(reader);
    }
    assert_true(opened);
    mcap_bytes_free(&sink.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_flipped_bit),  cmocka_unit_test(random_damage),
        cmocka_unit_test(every_truncation),   cmocka_unit_test(sink_fails_at_every_call),
        cmocka_unit_test(failure_stays),      cmocka_unit_test(hostile_files),
        cmocka_unit_test(memory_limit_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
