// test_replay.c - what a replay may certify: logs that lack messages, were changed, or cannot be read, with
// all checksums right. "The same" is said only of a log whose every step was compared.
#include "mcap_sample.h"
#include "record/crc.h"
#include "record/log.h"
#include "scenes/scenes.h"
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

enum { STEPS = 2000, SNAPSHOT = 150 };

static char path[64];

// ---- a system that fails: reads by number, allocations by number (the linker wraps the three functions)

static long allocations, allocation_fails = -1;

static int starve(void) { return allocations++ == allocation_fails; }

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
void *__wrap_malloc(size_t size) { return starve() ? NULL : __real_malloc(size); }
void *__wrap_calloc(size_t count, size_t size) { return starve() ? NULL : __real_calloc(count, size); }
void *__wrap_realloc(void *block, size_t size) { return starve() ? NULL : __real_realloc(block, size); }

typedef struct bytes {
    const unsigned char *data;
    size_t size;
    long reads, fails; // which read fails; -1: none
} bytes;

static vy_status read_bytes(void *self, uint64_t offset, void *data, size_t size, vy_error *err)
{
    bytes *b = self;
    if (b->reads++ == b->fails) {
        if (err != NULL) *err = (vy_error){.status = VY_IO, .text = "read failed: input/output error"};
        return VY_IO;
    }
    memcpy(data, b->data + offset, size);
    return VY_OK;
}

// ---- a log, rewritten

// What to leave out or change of a log. Everything else is as it was, with right checksums.
typedef struct edit {
    const char *topic; // of the messages concerned
    int first, count;  // which of its messages: left out
    int flip;          // which of its messages is changed; -1: none
    size_t byte;       // where
    unsigned char bit; // and how
    int no_result;     // the result is left out
    size_t shorter;    // [bytes] by which each message of the topic ends earlier
    const char *tick;  // the result's last step; NULL: as it was
    const char *hash;  // the result's hash; NULL: as it was
    size_t chunk_size; // 0: as usual
} edit;

static const edit nothing = {.topic = "", .flip = -1};

static void copy_metadata(const vy_mcap_reader *reader, vy_mcap_writer *writer, const edit *e)
{
    for (size_t i = 0; i < vy_mcap_reader_info(reader)->metadata_count; ++i) {
        const vy_mcap_metadata *m = vy_mcap_reader_metadata(reader, i);
        vy_mcap_pair pairs[40];
        const int result = strcmp(m->name, METADATA_RESULT) == 0;
        if (result && e->no_result) continue;
        assert_true(m->count <= 40);
        for (size_t k = 0; k < m->count; ++k) {
            pairs[k] = m->pairs[k];
            if (result && e->tick != NULL && strcmp(pairs[k].key, "last_tick") == 0) pairs[k].value = e->tick;
            if (result && e->hash != NULL && strcmp(pairs[k].key, "final_hash") == 0)
                pairs[k].value = e->hash;
        }
        assert_int_equal(vy_mcap_writer_metadata(writer, m->name, pairs, m->count, NULL), VY_OK);
    }
}

static void copy_head(vy_mcap_reader *reader, vy_mcap_writer *writer, uint16_t *ids)
{
    for (size_t i = 0; i < vy_mcap_reader_info(reader)->channel_count; ++i) {
        const vy_mcap_channel *c = vy_mcap_reader_channel(reader, i);
        const vy_mcap_schema *s = vy_mcap_reader_schema_by_id(reader, c->schema);
        vy_mcap_channel_def def = {.topic = c->topic,
                                   .encoding = c->encoding,
                                   .metadata = c->metadata,
                                   .metadata_count = c->metadata_count};
        if (s != NULL)
            assert_int_equal(
                vy_mcap_writer_add_schema(writer, s->name, s->encoding, s->data, s->size, &def.schema, NULL),
                VY_OK);
        assert_int_equal(vy_mcap_writer_add_channel(writer, &def, &ids[c->id], NULL), VY_OK);
    }
    for (size_t i = 0; i < vy_mcap_reader_info(reader)->attachment_count; ++i) {
        const vy_mcap_attachment *a = vy_mcap_reader_attachment(reader, i);
        unsigned char *data = NULL;
        size_t size = 0;
        assert_int_equal(vy_mcap_reader_read_attachment(reader, a, &data, &size, NULL), VY_OK);
        const vy_mcap_attachment_def def = {
            .name = a->name, .media_type = a->media_type, .data = data, .size = size};
        assert_int_equal(vy_mcap_writer_attachment(writer, &def, NULL), VY_OK);
        free(data);
    }
}

// The log at `path`, edited, in memory. `concerned` is told how many messages the topic has.
static memory_sink rewrite(const edit *e, int *concerned)
{
    static uint16_t ids[UINT16_MAX + 1];
    memory_sink sink = {.fail_at = -1};
    vy_mcap_reader *reader = NULL;
    vy_mcap_cursor *cursor = NULL;
    vy_mcap_writer *writer = NULL;
    vy_mcap_writer_def def = vy_default_mcap_writer_def();
    def.compression = VY_MCAP_NONE;
    if (e->chunk_size > 0) def.chunk_size = def.chunk_size_max = e->chunk_size;
    assert_int_equal(vy_mcap_reader_open(path, NULL, &reader, NULL), VY_OK);
    assert_int_equal(vy_mcap_writer_open(&def, memory_sink_bytes(&sink), &writer, NULL), VY_OK);
    copy_head(reader, writer, ids);
    copy_metadata(reader, writer, e);
    assert_int_equal(vy_mcap_cursor_open(reader, NULL, &cursor, NULL), VY_OK);
    vy_mcap_message m;
    int seen = 0;
    while (vy_mcap_cursor_next(cursor, &m)) {
        const char *topic = vy_mcap_reader_channel_by_id(reader, m.channel)->topic;
        const int number = strcmp(topic, e->topic) == 0 ? seen++ : -1;
        if (number >= e->first && number < e->first + e->count) continue;
        unsigned char *data =
            vy_mcap_writer_begin(writer, ids[m.channel], m.sequence, m.log_time, m.size, NULL);
        assert_non_null(data);
        memcpy(data, m.data, m.size);
        if (number >= 0 && number == e->flip) data[e->byte % m.size] ^= e->bit;
        vy_mcap_writer_end(writer, m.size - (number >= 0 ? e->shorter : 0));
    }
    assert_int_equal(vy_mcap_cursor_status(cursor, NULL), VY_OK);
    vy_mcap_cursor_close(cursor);
    assert_int_equal(vy_mcap_writer_close(writer, NULL), VY_OK);
    vy_mcap_reader_close(reader);
    if (concerned != NULL) *concerned = seen;
    return sink;
}

// ---- a replay's verdict

typedef struct verdict {
    vy_status status;
    vy_difference d;
    vy_log_info info;
    vy_error err;
} verdict;

// Every step up to the log's own result was compared, and nothing differs.
static int certified(const verdict *v) { return v->status == VY_OK && !v->d.found && v->info.complete; }

static vy_world *build(const char *scene)
{
    vy_world *world = NULL;
    assert_int_equal(vy_scene_find(scene)->build(3, &world, NULL), VY_OK);
    return world;
}

static vy_status open_bytes(bytes *b, vy_log **log, vy_error *err)
{
    vy_mcap_reader *reader = NULL;
    const vy_byte_source source = {.self = b, .size = b->size, .read = read_bytes};
    const vy_status status = vy_mcap_reader_open_source(source, NULL, &reader, err);
    return status == VY_OK ? vy_log_open_reader(reader, "log", log, err) : status;
}

static int live; // controllers are asked again

static verdict replay_bytes(bytes *b, vy_world *world)
{
    verdict v = {.status = VY_OK};
    vy_log *log = NULL;
    v.status = open_bytes(b, &log, &v.err);
    if (v.status != VY_OK) return v;
    v.info = vy_log_get_info(log);
    v.status = live ? vy_log_replay_live(log, world, NULL, NULL, &v.d, &v.err)
                    : vy_log_replay(log, world, NULL, NULL, &v.d, &v.err);
    vy_log_close(log);
    if (v.status != VY_OK) assert_true(v.err.text[0] != '\0');
    return v;
}

static verdict replay_sink(const memory_sink *sink, vy_world *world)
{
    bytes b = {.data = sink->bytes.data, .size = sink->bytes.size, .fails = -1};
    return replay_bytes(&b, world);
}

static verdict replay_edited(const edit *e, vy_world *world)
{
    memory_sink sink = rewrite(e, NULL);
    const verdict v = replay_sink(&sink, world);
    mcap_bytes_free(&sink.bytes);
    return v;
}

// A flight of the scene in the file, with its final hash.
static uint64_t record(const char *scene)
{
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};
    vy_world *world = build(scene);
    vy_recorder *recorder = NULL;
    vy_recorder_def def = vy_default_recorder_def();
    def.path = path;
    def.scenario = "volery: 1\n";
    def.names = names;
    def.snapshot = SNAPSHOT;
    assert_int_equal(vy_recorder_open(&def, world, &recorder, NULL), VY_OK);
    vy_world_set_sink(world, vy_recorder_sink(recorder));
    vy_world_advance(world, STEPS);
    assert_int_equal(vy_recorder_close(recorder, world, "completed", NULL), VY_OK);
    const uint64_t hash = vy_world_hash(world);
    vy_world_destroy(world);
    return hash;
}

// ---- the tests

// Rewritten with nothing changed the log is what it was: the edits are what the other tests see.
static void a_copy_is_the_same(void **unused)
{
    (void)unused;
    const uint64_t hash = record("feedback");
    vy_world *world = build("feedback");
    verdict v = replay_edited(&nothing, world);
    assert_true(certified(&v));
    assert_int_equal(v.d.last_tick, STEPS);
    assert_true(v.info.final_hash == hash);
    live = 1;
    v = replay_edited(&nothing, world);
    live = 0;
    assert_true(certified(&v));
    // Logs of before have states without a check, a field of nine bytes.
    const edit old = {.topic = TOPIC_STATE, .flip = -1, .shorter = 9};
    v = replay_edited(&old, world);
    assert_true(certified(&v));
    vy_world_destroy(world);
}

// Any run of hashes, states or replies left out: the first step that lacks one is named, and the last one
// that was compared stands right before it.
static void messages_left_out(void **unused)
{
    (void)unused;
    static const char *const topics[] = {TOPIC_HASHES, TOPIC_STATE, TOPIC_REPLIES};
    random_source r = {.state = 11};
    record("feedback");
    vy_world *world = build("feedback");
    for (int i = 0; i < 120 / LAW_SLICE; ++i) {
        edit e = {.topic = topics[i % 3], .flip = -1};
        int count = 0;
        memory_sink whole = rewrite(&e, &count);
        mcap_bytes_free(&whole.bytes);
        e.first = (int)(random_bits(&r) % (uint64_t)count);
        e.count = 1 + (int)(random_bits(&r) % (uint64_t)(count - e.first));
        live = i / 3 % 2;
        const verdict v = replay_edited(&e, world);
        live = 0;
        if (certified(&v)) fail_msg("%s without %d from %d is certified", e.topic, e.count, e.first);
        assert_int_equal(v.status, VY_DAMAGED);
        assert_true(v.d.last_tick < STEPS || v.info.first_tick == STEPS);
    }
    edit e = {.topic = TOPIC_HASHES, .first = 1, .count = 1, .flip = -1};
    verdict v = replay_edited(&e, world);
    assert_int_equal(v.d.last_tick, SNAPSHOT);
    assert_string_equal(v.err.text, "the hashes of steps 151 to 300 are missing");
    e.count = 1000; // all the others
    v = replay_edited(&e, world);
    assert_int_equal(v.d.last_tick, SNAPSHOT);
    assert_string_equal(v.err.text, "its hashes end at step 150, but its result is of step 2000");
    e.first = 0; // all
    v = replay_edited(&e, world);
    assert_int_equal(v.d.last_tick, 0);
    e = (edit){.topic = TOPIC_STATE, .first = 3, .count = 1, .flip = -1};
    v = replay_edited(&e, world);
    assert_string_equal(v.err.text, "the full state of step 450 is missing");
    vy_world_destroy(world);
}

// A result that is not that of the log, or none.
static void results_changed(void **unused)
{
    (void)unused;
    record("feedback");
    vy_world *world = build("feedback");
    const char *const ticks[] = {"0", "150", "1999", "2001", "18446744073709551615", "", "x", "-1"};
    for (size_t i = 0; i < sizeof ticks / sizeof ticks[0]; ++i) {
        edit e = nothing;
        e.tick = ticks[i];
        const verdict v = replay_edited(&e, world);
        assert_int_equal(v.status, VY_DAMAGED);
    }
    edit e = nothing;
    e.hash = "0123456789abcdef";
    verdict v = replay_edited(&e, world);
    assert_int_equal(v.status, VY_DAMAGED);
    assert_non_null(strstr(v.err.text, "its result has the hash 0123456789abcdef for step 2000"));
    // Without a result it is a log that was cut off: it is compared as far as it goes, and says so.
    e = nothing;
    e.no_result = 1;
    v = replay_edited(&e, world);
    assert_true(v.status == VY_OK && !v.d.found && !v.info.complete);
    assert_int_equal(v.d.last_tick, STEPS);
    e.topic = TOPIC_HASHES;
    e.count = 1000;
    v = replay_edited(&e, world);
    assert_int_equal(v.status, VY_DAMAGED); // not a step is left
    vy_world_destroy(world);
}

// A bit of any full state, changed: the step is named, and with it the value, unless it is the first state,
// from which the replay begins.
static void states_changed(void **unused)
{
    (void)unused;
    static const char *const scenes[] = {"feedback", "swarm"};
    random_source r = {.state = 5};
    for (int s = 0; s < 2; ++s) {
        record(scenes[s]);
        vy_world *world = build(scenes[s]);
        const size_t state = vy_world_state_size(world);
        for (int i = 0; i < 100 / LAW_SLICE; ++i) {
            const int number = (int)(random_bits(&r) % (STEPS / SNAPSHOT + 2));
            // Behind tick and hash, 9 bytes each with their tags, and the tag and length of the bytes.
            const size_t head = 18 + 1 + (state < 16384 ? 2 : 3);
            const edit e = {.topic = TOPIC_STATE,
                            .flip = number,
                            .byte = head + random_bits(&r) % state,
                            .bit = (unsigned char)(1u << random_bits(&r) % 8)};
            const uint64_t tick = number * SNAPSHOT < STEPS ? (uint64_t)number * SNAPSHOT : STEPS;
            const verdict v = replay_edited(&e, world);
            if (certified(&v)) fail_msg("a changed byte %zu of state %d is certified", e.byte, number);
            if (number == 0) {
                assert_int_equal(v.status, VY_DAMAGED);
                continue;
            }
            assert_int_equal(v.status, VY_OK);
            assert_true(v.d.found && v.d.field[0] != '\0');
            assert_int_equal(v.d.tick, tick);
            assert_int_equal(v.d.field_tick, tick);
            assert_true(v.d.integer_a != v.d.integer_b);
        }
        vy_world_destroy(world);
    }
}

// The same for any other byte of the messages a replay stands on.
static void any_byte_changed(void **unused)
{
    (void)unused;
    static const char *const topics[] = {TOPIC_HASHES, TOPIC_STATE, TOPIC_REPLIES};
    random_source r = {.state = 8};
    record("feedback");
    vy_world *world = build("feedback");
    for (int i = 0; i < 150 / LAW_SLICE; ++i) {
        const edit e = {.topic = topics[i % 3],
                        .flip = (int)(random_bits(&r) % 14),
                        .byte = random_bits(&r) % 4096,
                        .bit = (unsigned char)(1u << random_bits(&r) % 8)};
        const verdict v = replay_edited(&e, world);
        if (certified(&v)) fail_msg("%s: bit %d of byte %zu of message %d", e.topic, e.bit, e.byte, e.flip);
    }
    vy_world_destroy(world);
}

// Each read of a file fails once: the failure comes through, or the replay is whole without it.
static void reads_fail(void **unused)
{
    (void)unused;
    record("feedback");
    const edit e = {.topic = "", .flip = -1, .chunk_size = 20000};
    memory_sink sink = rewrite(&e, NULL);
    vy_world *world = build("feedback");
    int failed = 0, later = 0;
    for (long at = 0;; ++at) {
        bytes b = {.data = sink.bytes.data, .size = sink.bytes.size, .fails = at};
        const verdict v = replay_bytes(&b, world);
        if (b.reads <= at) {
            assert_true(certified(&v));
            break;
        }
        assert_int_equal(v.status, VY_IO);
        assert_non_null(strstr(v.err.text, "input/output error"));
        failed += 1;
        later += v.d.last_tick > 0;
    }
    assert_true(failed > 10 && later > 3);
    vy_world_destroy(world);
    mcap_bytes_free(&sink.bytes);
}

// Each allocation fails once.
static void memory_fails(void **unused)
{
    (void)unused;
    record("feedback");
    const edit e = {.topic = "", .flip = -1, .chunk_size = 20000};
    memory_sink sink = rewrite(&e, NULL);
    vy_world *world = build("feedback");
    int failed = 0;
    for (long at = 0;; ++at) {
        allocations = 0;
        allocation_fails = at;
        const verdict v = replay_sink(&sink, world);
        allocation_fails = -1;
        if (allocations <= at) {
            assert_true(certified(&v));
            break;
        }
        if (v.status != VY_NO_MEMORY)
            fail_msg("allocation %ld: status %d, %s, step %" PRIu64, at, (int)v.status, v.err.text,
                     v.d.last_tick);
        failed += 1;
    }
    assert_true(failed > 20);
    vy_world_destroy(world);
    mcap_bytes_free(&sink.bytes);
}

// The same for a comparison and for going to a moment: never a shorter answer.
static void other_uses_fail(void **unused)
{
    (void)unused;
    record("feedback");
    const edit small = {.topic = "", .flip = -1, .chunk_size = 20000};
    memory_sink sink = rewrite(&small, NULL);
    vy_world *world = build("feedback");
    FILE *out = fopen("/dev/null", "w");
    assert_non_null(out);
    for (int use = 0; use < 3; ++use) {
        for (long at = 0;; ++at) {
            bytes b = {.data = sink.bytes.data, .size = sink.bytes.size, .fails = at};
            vy_log *log = NULL;
            vy_error err;
            vy_difference d = {.found = 0};
            const vy_export_def def = vy_default_export_def();
            vy_status status = open_bytes(&b, &log, &err);
            if (status == VY_OK && use == 0) status = vy_log_compare(log, log, &d, &err);
            if (status == VY_OK && use == 1) status = vy_log_seek(log, world, 1870, &err);
            if (status == VY_OK && use == 2) status = vy_log_export(log, &def, out, &err);
            vy_log_close(log);
            if (b.reads <= at) {
                assert_int_equal(status, VY_OK);
                break;
            }
            assert_int_equal(status, VY_IO);
        }
    }
    fclose(out);
    vy_world_destroy(world);
    mcap_bytes_free(&sink.bytes);
}

// Its scenario builds a world of other bodies than its metadata say: names would be missing.
static void other_counts_are_refused(void **unused)
{
    (void)unused;
    record("feedback");
    const edit none = {.topic = "", .flip = -1, .chunk_size = 20000};
    memory_sink sink = rewrite(&none, NULL);
    vy_world *world = build("feedback");
    for (int is_body = 0; is_body < 2; ++is_body) {
        bytes b = {.data = sink.bytes.data, .size = sink.bytes.size, .fails = -1};
        vy_log *log = NULL;
        vy_error err;
        vy_difference difference;
        assert_int_equal(open_bytes(&b, &log, &err), VY_OK);
        uint32_t *count = is_body ? &log->info.body_count : &log->info.drone_count;
        *count += 1;
        assert_int_equal(vy_log_replay(log, world, NULL, NULL, &difference, &err), VY_DAMAGED);
        assert_non_null(strstr(err.text, "its scenario has 1 drones and 0 bodies"));
        *count -= 1;
        vy_log_close(log);
    }
    vy_world_destroy(world);
    mcap_bytes_free(&sink.bytes);
}

// ---- a summary that leaves something out, its checksum right

// The summary without its record number `number` of a kind; `recount` changes the statistics to fit.
static memory_sink without(const memory_sink *whole, int opcode, int number, int recount)
{
    memory_sink out = {.fail_at = -1};
    const unsigned char *data = whole->bytes.data;
    const size_t footer = whole->bytes.size - MCAP_TAIL_SIZE;
    const size_t start = mcap_get_u64(data + footer + MCAP_RECORD_HEAD_SIZE);
    mcap_bytes_put(&out.bytes, data, start);
    for (size_t at = start; at < footer;) {
        const size_t length = MCAP_RECORD_HEAD_SIZE + mcap_get_u64(data + at + 1);
        const size_t to = out.bytes.size;
        const int left_out = data[at] == opcode && number-- == 0;
        if (!left_out && data[at] != MCAP_SUMMARY_OFFSET) mcap_bytes_put(&out.bytes, data + at, length);
        if (data[at] == MCAP_STATISTICS && recount) {
            unsigned char *count = out.bytes.data + to + MCAP_RECORD_HEAD_SIZE +
                                   (opcode == MCAP_CHUNK_INDEX      ? 22
                                    : opcode == MCAP_METADATA_INDEX ? 18
                                                                    : 14);
            mcap_put_u32(count, mcap_get_u32(count) - 1);
        }
        at += length;
    }
    const size_t at = out.bytes.size;
    mcap_bytes_put(&out.bytes, data + footer, MCAP_TAIL_SIZE);
    mcap_put_u64(out.bytes.data + at + MCAP_RECORD_HEAD_SIZE + 8, 0);
    mcap_put_u32(out.bytes.data + at + MCAP_RECORD_HEAD_SIZE + 16,
                 vy_crc32(0, out.bytes.data + start, at - start + MCAP_RECORD_HEAD_SIZE + 16));
    return out;
}

// Each chunk index left out, with or without its count: no use of the log is silently shorter.
static void chunks_not_named(void **unused)
{
    (void)unused;
    record("feedback");
    const edit small = {.topic = "", .flip = -1, .chunk_size = 20000};
    memory_sink whole = rewrite(&small, NULL);
    vy_world *world = build("feedback");
    bytes source = {.data = whole.bytes.data, .size = whole.bytes.size, .fails = -1};
    vy_log *log = NULL;
    assert_int_equal(open_bytes(&source, &log, NULL), VY_OK);
    const int chunks = (int)vy_mcap_reader_info(log->reader)->chunk_count;
    vy_log_close(log);
    assert_true(chunks > 5);
    for (int i = 0; i < 2 * chunks; ++i) {
        memory_sink sink = without(&whole, MCAP_CHUNK_INDEX, i / 2, i % 2);
        bytes b = {.data = sink.bytes.data, .size = sink.bytes.size, .fails = -1};
        vy_error err;
        const verdict v = replay_bytes(&b, world);
        assert_false(certified(&v));
        assert_int_equal(v.status, VY_DAMAGED);
        vy_status status = open_bytes(&b, &log, &err);
        if (i % 2 == 0) { // said by the file itself
            assert_int_equal(status, VY_DAMAGED);
            assert_non_null(strstr(err.text, "the summary does not name every chunk"));
        } else if (status == VY_OK) {
            FILE *out = fopen("/dev/null", "w");
            const vy_export_def def = vy_default_export_def();
            assert_int_equal(vy_log_export(log, &def, out, NULL), VY_DAMAGED);
            assert_int_equal(vy_log_verify(log, &err), VY_DAMAGED);
            assert_non_null(strstr(err.text, "the summary does not name every chunk and message"));
            fclose(out);
            vy_log_close(log);
        }
        mcap_bytes_free(&sink.bytes);
    }
    vy_world_destroy(world);
    mcap_bytes_free(&whole.bytes);
}

// The result's index, left out: with the count as it was this is noticed; else it is a log without a result.
static void metadata_not_named(void **unused)
{
    (void)unused;
    record("feedback");
    memory_sink whole = rewrite(&nothing, NULL);
    vy_world *world = build("feedback");
    for (int recount = 0; recount < 2; ++recount) {
        memory_sink sink = without(&whole, MCAP_METADATA_INDEX, 1, recount);
        const verdict v = replay_sink(&sink, world);
        assert_false(certified(&v));
        assert_int_equal(v.status, recount ? VY_OK : VY_DAMAGED);
        mcap_bytes_free(&sink.bytes);
    }
    vy_world_destroy(world);
    mcap_bytes_free(&whole.bytes);
}

static int begin(void **unused)
{
    (void)unused;
    snprintf(path, sizeof path, "/tmp/volery-test-replay-%ld.mcap", (long)getpid());
    return 0;
}

static int end(void **unused)
{
    (void)unused;
    return remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copy_is_the_same),
        cmocka_unit_test(messages_left_out),
        cmocka_unit_test(results_changed),
        cmocka_unit_test(states_changed),
        cmocka_unit_test(any_byte_changed),
        cmocka_unit_test(reads_fail),
        cmocka_unit_test(memory_fails),
        cmocka_unit_test(other_uses_fail),
        cmocka_unit_test(other_counts_are_refused),
        cmocka_unit_test(chunks_not_named),
        cmocka_unit_test(metadata_not_named),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
