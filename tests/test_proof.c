// test_proof.c - logs that can be checked: the digest depends on what a log says and on nothing else, every
// change is found by it, a new digest over changed messages is found by the replay, signatures are of a key.
#include "mcap_sample.h"
#include "record/log.h"
#include "record/mcap_digest.h"
#include "record/proof.h"
#include "volery/scenario.h"
#include <stdlib.h>
#include <unistd.h>

static char folder[] = "/tmp/volery-proof-XXXXXX";
static char run[64], other[64], key_path[64], public_path[64], stranger_path[64];
static vy_scenario *scenario;

// From openssl genpkey -algorithm ed25519, openssl pkey -pubout; the second is another pair's public half.
static const char key_text[] = "-----BEGIN PRIVATE KEY-----\n"
                               "MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n"
                               "-----END PRIVATE KEY-----\n";
static const char public_text[] = "-----BEGIN PUBLIC KEY-----\n"
                                  "MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n"
                                  "-----END PUBLIC KEY-----\n";
static const char stranger_text[] = "-----BEGIN PUBLIC KEY-----\n"
                                    "MCowBQYDK2VwAyEAPUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw=\n"
                                    "-----END PUBLIC KEY-----\n";

static void spit(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    fclose(file);
}

static int set_up(void **unused)
{
    (void)unused;
    static const char *const overrides[] = {"duration=2"};
    const vy_scenario_options options = {.overrides = overrides, .override_count = 1, .load = vy_load_file};
    vy_diagnostics told;
    if (mkdtemp(folder) == NULL) return -1;
    snprintf(run, sizeof run, "%s/run.mcap", folder);
    snprintf(other, sizeof other, "%s/other.mcap", folder);
    snprintf(key_path, sizeof key_path, "%s/key.pem", folder);
    snprintf(public_path, sizeof public_path, "%s/key.pub", folder);
    snprintf(stranger_path, sizeof stranger_path, "%s/stranger.pub", folder);
    spit(key_path, key_text, strlen(key_text));
    spit(public_path, public_text, strlen(public_text));
    spit(stranger_path, stranger_text, strlen(stranger_text));
    const vy_status status = vy_scenario_load("scenarios/sensors.yaml", &options, &scenario, &told);
    vy_diagnostics_destroy(&told);
    return status == VY_OK ? 0 : -1;
}

static int clean_up(void **unused)
{
    (void)unused;
    const char *const files[] = {run, other, key_path, public_path, stranger_path};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; ++i) remove(files[i]);
    vy_scenario_destroy(scenario);
    return rmdir(folder);
}

static vy_world *build(void)
{
    vy_world *world = NULL;
    assert_int_equal(vy_scenario_build(scenario, &world, NULL), VY_OK);
    return world;
}

// A flight with its log; handed to the system every so many steps.
static void fly(const char *path, uint64_t flush, const vy_signing_key *key)
{
    vy_recorder *recorder = NULL;
    vy_world *world = build();
    assert_int_equal(vy_scenario_record(scenario, world, path, NULL, &recorder, NULL), VY_OK);
    if (key != NULL) assert_int_equal(vy_recorder_sign(recorder, key, NULL), VY_OK);
    vy_world_set_sink(world, vy_recorder_sink(recorder));
    const uint64_t last = vy_scenario_steps(scenario);
    while (vy_world_tick(world) < last) {
        const uint64_t left = last - vy_world_tick(world);
        vy_world_advance(world, left < flush ? left : flush);
        vy_recorder_flush(recorder);
    }
    vy_recorder_note(recorder, world, "remark", "a note of a program");
    assert_int_equal(vy_recorder_close(recorder, world, "completed", NULL), VY_OK);
    vy_world_destroy(world);
}

static vy_status prove(const char *path, vy_log_proof *proof, vy_error *err)
{
    vy_log *log = NULL;
    const vy_status status = vy_log_open(path, &log, err);
    if (status != VY_OK) return status;
    const vy_status proven = vy_log_prove(log, proof, err);
    vy_log_close(log);
    return proven;
}

// ---- a log written anew

typedef struct edit {
    int message;          // the number of the message concerned, proofs not counted; -1: none
    int dropped;          // it is left out
    int doubled;          // it is there twice
    uint64_t later;       // [ns] its time is later
    size_t byte;          // where it is changed
    unsigned char bit;    // and how; 0: not
    int new_digest;       // digests are made anew, as by a forger who knows how
    const char *metadata; // a pair of the run's metadata that gets another value
    int attachment;       // a byte of the scenario is changed
    int backwards;        // channels and schemas are declared in reverse, ids are others
    size_t chunk;         // [bytes] 0: as usual
    int compressed;
} edit;

static void copy_tables(vy_mcap_reader *reader, vy_mcap_writer *writer, const edit *e, uint16_t *ids)
{
    const size_t count = vy_mcap_reader_info(reader)->channel_count;
    for (size_t i = 0; i < count; ++i) {
        const vy_mcap_channel *c = vy_mcap_reader_channel(reader, e->backwards ? count - 1 - i : i);
        const vy_mcap_schema *s = vy_mcap_reader_schema_by_id(reader, c->schema);
        if (strcmp(c->topic, TOPIC_PROOF) == 0 && e->new_digest) continue;
        vy_mcap_channel_def def = {.topic = c->topic,
                                   .encoding = c->encoding,
                                   .metadata = c->metadata,
                                   .metadata_count = c->metadata_count};
        assert_int_equal(
            vy_mcap_writer_add_schema(writer, s->name, s->encoding, s->data, s->size, &def.schema, NULL),
            VY_OK);
        assert_int_equal(vy_mcap_writer_add_channel(writer, &def, &ids[c->id], NULL), VY_OK);
    }
}

static void copy_head(vy_mcap_reader *reader, vy_mcap_writer *writer, const edit *e)
{
    const vy_mcap_info *info = vy_mcap_reader_info(reader);
    for (size_t i = 0; i < info->attachment_count; ++i) {
        const vy_mcap_attachment *a = vy_mcap_reader_attachment(reader, i);
        unsigned char *data = NULL;
        size_t size = 0;
        assert_int_equal(vy_mcap_reader_read_attachment(reader, a, &data, &size, NULL), VY_OK);
        if (e->attachment) data[size / 2] ^= 1;
        const vy_mcap_attachment_def def = {
            .name = a->name, .media_type = a->media_type, .data = data, .size = size};
        assert_int_equal(vy_mcap_writer_attachment(writer, &def, NULL), VY_OK);
        free(data);
    }
    for (size_t i = 0; i < info->metadata_count; ++i) {
        const vy_mcap_metadata *m = vy_mcap_reader_metadata(reader, i);
        vy_mcap_pair pairs[40];
        if (e->new_digest && strcmp(m->name, METADATA_RUN) != 0) continue;
        assert_true(m->count <= 40);
        for (size_t k = 0; k < m->count; ++k) {
            pairs[k] = m->pairs[m->count - 1 - k]; // their order is no matter
            if (e->metadata != NULL && strcmp(pairs[k].key, e->metadata) == 0) pairs[k].value = "7";
        }
        assert_int_equal(vy_mcap_writer_metadata(writer, m->name, pairs, m->count, NULL), VY_OK);
    }
}

static int copy_messages(vy_mcap_reader *reader, vy_mcap_writer *writer, const edit *e, const uint16_t *ids)
{
    vy_mcap_cursor *cursor = NULL;
    vy_mcap_message m;
    int number = 0;
    assert_int_equal(vy_mcap_cursor_open(reader, NULL, &cursor, NULL), VY_OK);
    while (vy_mcap_cursor_next(cursor, &m)) {
        const int proof = strcmp(vy_mcap_reader_channel_by_id(reader, m.channel)->topic, TOPIC_PROOF) == 0;
        if (proof && e->new_digest) continue;
        const int concerned = !proof && number++ == e->message;
        if (concerned && e->dropped) continue;
        unsigned char *data = vy_mcap_writer_begin(writer, ids[m.channel], m.sequence + 5,
                                                   m.log_time + (concerned ? e->later : 0), m.size, NULL);
        assert_non_null(data);
        memcpy(data, m.data, m.size);
        if (concerned && m.size > 0) data[e->byte % m.size] ^= e->bit;
        vy_mcap_writer_end(writer, m.size);
        if (concerned && e->doubled)
            assert_int_equal(
                vy_mcap_writer_message(writer, ids[m.channel], 0, m.log_time, m.data, m.size, NULL), VY_OK);
    }
    assert_int_equal(vy_mcap_cursor_status(cursor, NULL), VY_OK);
    vy_mcap_cursor_close(cursor);
    return number;
}

// The log `run` as `other`. @return how many messages it has, proofs not counted
static int rewrite(const edit *e)
{
    static uint16_t ids[UINT16_MAX + 1];
    memory_sink sink = {.fail_at = -1};
    vy_mcap_reader *reader = NULL;
    vy_mcap_writer *writer = NULL;
    uint16_t proof = 0;
    vy_mcap_writer_def def = vy_default_mcap_writer_def();
    def.compression = e->compressed ? VY_MCAP_ZSTD : VY_MCAP_NONE;
    def.digest = e->new_digest;
    if (e->chunk > 0) def.chunk_size = def.chunk_size_max = e->chunk;
    assert_int_equal(vy_mcap_reader_open(run, NULL, &reader, NULL), VY_OK);
    assert_int_equal(vy_mcap_writer_open(&def, memory_sink_bytes(&sink), &writer, NULL), VY_OK);
    if (e->new_digest) assert_int_equal(vy_proof_add_channel(writer, &proof, NULL), VY_OK);
    copy_tables(reader, writer, e, ids);
    copy_head(reader, writer, e);
    const int count = copy_messages(reader, writer, e, ids);
    if (e->new_digest) {
        const uint64_t tick =
            strtoull(vy_mcap_reader_find_value(reader, METADATA_RESULT, "last_tick"), NULL, 10);
        const uint64_t hash =
            strtoull(vy_mcap_reader_find_value(reader, METADATA_RESULT, "final_hash"), NULL, 16);
        assert_int_equal(vy_result_write(writer, "completed", tick, hash, NULL, NULL), VY_OK);
    }
    assert_int_equal(vy_mcap_writer_close(writer, NULL), VY_OK);
    vy_mcap_reader_close(reader);
    spit(other, sink.bytes.data, sink.bytes.size);
    mcap_bytes_free(&sink.bytes);
    return count;
}

// ---- tests

// SHA-256 and Ed25519 as published: FIPS 180-4's "abc", RFC 8032's first test.
static void digests_are_the_standards(void **unused)
{
    (void)unused;
    static const unsigned char none[1] = {0};
    unsigned char digest[DIGEST_SIZE], key[PUBLIC_KEY_SIZE], signature[SIGNATURE_SIZE];
    char text[SIGNATURE_HEX_SIZE];
    vy_signing_key *private_key = NULL;
    assert_int_equal(vy_sha256_of_bytes("abc", 3, digest, NULL), VY_OK);
    vy_hex_encode(digest, DIGEST_SIZE, text);
    assert_string_equal(text, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_int_equal(vy_signing_key_open(key_path, &private_key, NULL), VY_OK);
    vy_signing_key_public(private_key, key);
    vy_hex_encode(key, PUBLIC_KEY_SIZE, text);
    assert_string_equal(text, "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
    assert_int_equal(vy_signing_key_sign(private_key, none, 0, signature, NULL), VY_OK);
    vy_hex_encode(signature, SIGNATURE_SIZE, text);
    assert_string_equal(text, "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555"
                              "fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b");
    vy_signing_key_close(private_key);
}

// A writer that keeps no digest, as all do in a build without OpenSSL: the result is written, and nothing has
// failed.
static void results_need_no_digest(void **unused)
{
    (void)unused;
    memory_sink sink = {.fail_at = -1};
    vy_mcap_writer *writer = NULL;
    vy_mcap_writer_def def = vy_default_mcap_writer_def();
    vy_error error = {.status = VY_OK};
    def.digest = false;
    assert_int_equal(vy_mcap_writer_open(&def, memory_sink_bytes(&sink), &writer, NULL), VY_OK);
    assert_int_equal(vy_result_write(writer, "completed", 7, 8, NULL, &error), VY_OK);
    assert_int_equal(error.status, VY_OK);
    assert_int_equal(vy_mcap_writer_close(writer, NULL), VY_OK);
    mcap_bytes_free(&sink.bytes);
}

// Chunks, compression, ids, order of tables and of pairs, sequence numbers: the same digest.
static void digests_are_of_what_a_log_says(void **unused)
{
    (void)unused;
    vy_log_proof first, again;
    fly(run, 1000000, NULL);
    assert_int_equal(prove(run, &first, NULL), VY_OK);
    assert_true(first.has_digest && first.has_crc && !first.is_signed && first.proofs >= 2);
    fly(other, 77, NULL);
    assert_int_equal(prove(other, &again, NULL), VY_OK);
    assert_string_equal(first.digest, again.digest);
    assert_true(again.proofs > first.proofs);
    assert_int_equal(first.messages, again.messages);
    static const edit forms[] = {
        {.message = -1},
        {.message = -1, .backwards = 1},
        {.message = -1, .compressed = 1, .chunk = 5000},
        {.message = -1, .new_digest = 1, .chunk = 3000, .backwards = 1, .compressed = 1},
    };
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; ++i) {
        rewrite(&forms[i]);
        assert_int_equal(prove(other, &again, NULL), VY_OK);
        assert_string_equal(first.digest, again.digest);
    }
}

// Whatever is changed, with all checksums of MCAP right, is found.
static void changes_are_found(void **unused)
{
    (void)unused;
    random_source r = {.state = 5};
    vy_log_proof proof;
    vy_error err;
    fly(run, 300, NULL);
    const int count = rewrite(&(edit){.message = -1});
    assert_int_equal(prove(other, &proof, NULL), VY_OK);
    for (int i = 0; i < 60; ++i) {
        const int message = (int)(random_bits(&r) % (uint64_t)count);
        const size_t byte = (size_t)random_bits(&r);
        const unsigned char bit = (unsigned char)(1u << random_bits(&r) % 8);
        const edit edits[] = {{.message = message, .dropped = 1},
                              {.message = message, .doubled = 1},
                              {.message = message, .later = 1},
                              {.message = message, .byte = byte, .bit = bit}};
        rewrite(&edits[i % 4]);
        const vy_status status = prove(other, &proof, &err);
        // Some are no log any more; all others were changed, and the sentence says so.
        if (status == VY_DAMAGED && strstr(err.text, "was changed") != NULL) continue;
        if (i % 4 == 3) assert_int_equal(status, VY_DAMAGED);
        assert_int_not_equal(status, VY_OK);
    }
    rewrite(&(edit){.message = -1, .metadata = "seed"});
    assert_int_equal(prove(other, &proof, &err), VY_DAMAGED);
    rewrite(&(edit){.message = -1, .attachment = 1});
    assert_int_equal(prove(other, &proof, &err), VY_DAMAGED);
}

static vy_status replay(const char *path, vy_difference *d)
{
    vy_log *log = NULL;
    vy_error err;
    assert_int_equal(vy_log_open(path, &log, &err), VY_OK);
    vy_world *world = build();
    const vy_status status = vy_scenario_replay(scenario, log, world, NULL, NULL, d, &err);
    vy_world_destroy(world);
    vy_log_close(log);
    return status;
}

// A forger makes digests anew; but then the messages are not what the scenario gives.
static void forgeries_do_not_replay(void **unused)
{
    (void)unused;
    random_source r = {.state = 8};
    vy_log_proof proof;
    vy_difference d;
    int named = 0;
    fly(run, 300, NULL);
    assert_int_equal(replay(run, &d), VY_OK);
    assert_false(d.found);
    const int count = rewrite(&(edit){.message = -1, .new_digest = 1});
    assert_int_equal(replay(other, &d), VY_OK);
    assert_false(d.found);
    for (int i = 0; i < 40; ++i) {
        const edit e = {.message = (int)(random_bits(&r) % (uint64_t)(count - 2)), // the last are the note
                        .byte = (size_t)random_bits(&r) | 3,
                        .bit = 16,
                        .dropped = i % 8 == 7,
                        .new_digest = 1};
        rewrite(&e);
        assert_int_equal(prove(other, &proof, NULL), VY_OK);
        const vy_status status = replay(other, &d);
        assert_true(status == VY_DAMAGED || (status == VY_OK && d.found));
        named += d.found && d.message && strchr(d.field, '.') != NULL;
    }
    assert_true(named > 10); // with topic and field
}

static void logs_are_signed(void **unused)
{
    (void)unused;
    vy_log_proof proof;
    vy_error err;
    vy_signing_key *key = NULL;
    assert_int_equal(vy_signing_key_open(key_path, &key, NULL), VY_OK);
    fly(run, 500, key);
    vy_signing_key_close(key);
    assert_int_equal(prove(run, &proof, NULL), VY_OK);
    assert_true(proof.is_signed);
    assert_int_equal(vy_log_proof_signed_by(&proof, public_path, NULL), VY_OK);
    assert_int_equal(vy_log_proof_signed_by(&proof, stranger_path, &err), VY_DAMAGED);
    assert_int_equal(vy_log_proof_signed_by(&proof, run, &err), VY_BAD_VALUE);
    assert_int_equal(vy_log_proof_signed_by(&proof, "nowhere.pem", &err), VY_NOT_FOUND);
    assert_int_equal(vy_signing_key_open(public_path, &key, &err), VY_BAD_VALUE);
    // Written anew by another program it is still signed; changed it is not.
    rewrite(&(edit){.message = -1, .chunk = 4000});
    assert_int_equal(prove(other, &proof, NULL), VY_OK);
    assert_true(proof.is_signed);
    rewrite(&(edit){.message = -1, .new_digest = 1});
    assert_int_equal(prove(other, &proof, NULL), VY_OK);
    assert_false(proof.is_signed);
    assert_int_equal(vy_log_proof_signed_by(&proof, public_path, &err), VY_DAMAGED);
}

// What a killed run leaves is provable up to its last chunk, and so is what is made of it.
static void cut_off_logs_prove_what_they_hold(void **unused)
{
    (void)unused;
    vy_log_proof proof, recovered;
    vy_log *log = NULL;
    fly(run, 200, NULL);
    FILE *file = fopen(run, "rb");
    assert_non_null(file);
    static unsigned char data[1 << 22];
    const size_t size = fread(data, 1, sizeof data, file);
    fclose(file);
    assert_true(size < sizeof data);
    spit(other, data, size * 2 / 3);
    assert_int_equal(vy_log_open(other, &log, NULL), VY_OK);
    assert_false(vy_log_get_info(log).complete);
    assert_int_equal(vy_log_prove(log, &proof, NULL), VY_OK);
    vy_log_close(log);
    assert_true(proof.has_digest && proof.proofs > 1);
    assert_int_equal(vy_log_recover(other, run, NULL, NULL), VY_OK);
    assert_int_equal(prove(run, &recovered, NULL), VY_OK);
    assert_int_equal(recovered.messages, proof.messages);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_need_no_digest),
        cmocka_unit_test(digests_are_the_standards),
        cmocka_unit_test(digests_are_of_what_a_log_says),
        cmocka_unit_test(changes_are_found),
        cmocka_unit_test(forgeries_do_not_replay),
        cmocka_unit_test(logs_are_signed),
        cmocka_unit_test(cut_off_logs_prove_what_they_hold),
    };
    return cmocka_run_group_tests(tests, set_up, clean_up);
}
