// test_recover.c - what a killed run leaves: there from the first moment, the same records however often they
// were handed to the system, and a whole log again after vy_log_recover, wherever it was cut.
#include "record/mcap_reader.h"
#include "scenes/scenes.h"
#include "volery/record.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { STEPS = 3000 };
static const char *const names[] = {"alpha"};
static char folder[] = "/tmp/volery-recover-XXXXXX";
static char run[64], part[72], other[64], made[64];
static uint64_t state = 3;

static uint64_t draw(uint64_t limit)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % limit;
}

static int make_folder(void **unused)
{
    (void)unused;
    if (mkdtemp(folder) == NULL) return -1;
    snprintf(run, sizeof run, "%s/run.mcap", folder);
    snprintf(part, sizeof part, "%s.part", run);
    snprintf(other, sizeof other, "%s/other.mcap", folder);
    snprintf(made, sizeof made, "%s/made.mcap", folder);
    return 0;
}

static int remove_folder(void **unused)
{
    (void)unused;
    remove(run);
    remove(part);
    remove(other);
    remove(made);
    return rmdir(folder);
}

static vy_world *build(void)
{
    vy_world *world = NULL;
    assert_int_equal(vy_scene_find("hover")->build(7, &world, NULL), VY_OK);
    return world;
}

static vy_recorder *open_recorder(const char *path, int compress, vy_world *world)
{
    vy_recorder_def def = vy_default_recorder_def();
    def.path = path;
    def.scenario = "volery: 1\n";
    def.names = names;
    def.snapshot = 400;
    def.compress = compress;
    vy_recorder *recorder = NULL;
    assert_int_equal(vy_recorder_open(&def, world, &recorder, NULL), VY_OK);
    vy_world_set_sink(world, vy_recorder_sink(recorder));
    return recorder;
}

// A flight, handed to the system at random moments.
static void fly(const char *path, int compress, int flushed)
{
    remove(part); // of an earlier test
    vy_world *world = build();
    vy_recorder *recorder = open_recorder(path, compress, world);
    while (vy_world_tick(world) < STEPS) {
        const uint64_t left = STEPS - vy_world_tick(world), next = 1 + draw(500);
        vy_world_advance(world, next < left ? next : left);
        if (flushed) vy_recorder_flush(recorder);
    }
    assert_int_equal(vy_recorder_close(recorder, world, "completed", NULL), VY_OK);
    vy_world_destroy(world);
}

static unsigned char *slurp(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    unsigned char *data = malloc(*size + 1);
    assert_non_null(data);
    assert_int_equal(fread(data, 1, *size, file), *size);
    fclose(file);
    return data;
}

static void spit(const char *path, const unsigned char *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    fclose(file);
}

static vy_mcap_cursor *open_cursor(const char *path, vy_mcap_reader **reader)
{
    vy_mcap_cursor *cursor = NULL;
    assert_int_equal(vy_mcap_reader_open(path, NULL, reader, NULL), VY_OK);
    assert_int_equal(vy_mcap_cursor_open(*reader, NULL, &cursor, NULL), VY_OK);
    return cursor;
}

// The next message that is no proof: these come with the chunks.
static bool next_record(const vy_mcap_reader *reader, vy_mcap_cursor *cursor, vy_mcap_message *m)
{
    while (vy_mcap_cursor_next(cursor, m)) {
        if (strcmp(vy_mcap_reader_channel_by_id(reader, m->channel)->topic, "/proof") != 0) return true;
    }
    return false;
}

// Two files hold the same messages in the same order. Returns how many.
static int same_records(const char *a, const char *b)
{
    vy_mcap_reader *readers[2];
    vy_mcap_cursor *cursors[2] = {open_cursor(a, &readers[0]), open_cursor(b, &readers[1])};
    vy_mcap_message m[2];
    int count = 0;
    for (;; ++count) {
        const bool more = next_record(readers[0], cursors[0], &m[0]);
        assert_int_equal(next_record(readers[1], cursors[1], &m[1]), more);
        if (!more) break;
        assert_int_equal(m[0].sequence, m[1].sequence);
        assert_int_equal(m[0].log_time, m[1].log_time);
        assert_int_equal(m[0].size, m[1].size);
        assert_memory_equal(m[0].data, m[1].data, m[0].size);
        assert_string_equal(vy_mcap_reader_channel_by_id(readers[0], m[0].channel)->topic,
                            vy_mcap_reader_channel_by_id(readers[1], m[1].channel)->topic);
    }
    for (int i = 0; i < 2; ++i) {
        assert_int_equal(vy_mcap_cursor_status(cursors[i], NULL), VY_OK);
        vy_mcap_cursor_close(cursors[i]);
        vy_mcap_reader_close(readers[i]);
    }
    return count;
}

static void flushes_change_no_record(void **unused)
{
    (void)unused;
    for (int compress = 0; compress < 2; ++compress) {
        fly(run, compress, 0);
        fly(other, compress, 1);
        assert_true(same_records(run, other) > STEPS / 10);
    }
}

// The part opens as soon as the recorder is open, and lags behind a flush by less than a batch of hashes.
static void part_follows_the_flight(void **unused)
{
    (void)unused;
    vy_world *world = build();
    vy_recorder *recorder = open_recorder(run, 0, world);
    for (int i = 0; i < 10; ++i) {
        vy_log *log = NULL;
        assert_int_equal(vy_log_open(part, &log, NULL), VY_OK);
        const vy_log_info info = vy_log_get_info(log);
        assert_false(info.complete);
        assert_int_equal(info.first_tick, 0);
        assert_true(info.last_tick <= vy_world_tick(world) && info.last_tick + 256 > vy_world_tick(world));
        vy_log_close(log);
        vy_world_advance(world, 1 + draw(400));
        vy_recorder_flush(recorder);
    }
    vy_error err;
    assert_int_equal(vy_log_recover(part, made, NULL, &err), VY_BAD_STATE); // it is being written
    assert_non_null(strstr(err.text, "is being written by another process"));
    vy_recorder_abandon(recorder);
    vy_world_destroy(world);
    vy_log_info info;
    assert_int_equal(vy_log_recover(part, made, &info, &err), VY_OK);
    assert_true(info.recovered);
}

// Cut anywhere: refused in a sentence, or the whole log of what is there.
static void recovered_wherever_it_was_cut(void **unused)
{
    (void)unused;
    int recovered = 0;
    for (int round = 0; round < 80; ++round) {
        size_t size, after;
        if (round % 40 == 0) fly(run, round / 40, 1);
        unsigned char *whole = slurp(run, &size);
        const size_t cut = draw(size);
        spit(part, whole, cut);
        vy_log_info info;
        vy_error err = {.status = VY_OK};
        remove(made);
        const vy_status status = vy_log_recover(part, made, &info, &err);
        unsigned char *left = slurp(part, &after);
        assert_int_equal(after, cut);
        assert_memory_equal(left, whole, cut);
        free(left);
        free(whole);
        if (status != VY_OK) {
            assert_true(status == VY_DAMAGED || status == VY_BAD_SYNTAX);
            assert_true(err.text[0] != '\0' && access(made, F_OK) != 0);
            continue;
        }
        ++recovered;
        vy_log *log = NULL, *again = NULL;
        assert_int_equal(vy_log_open(part, &log, NULL), VY_OK);
        const vy_log_info before = vy_log_get_info(log);
        assert_int_equal(info.last_tick, before.last_tick);
        assert_true(info.final_hash == before.final_hash);
        assert_int_equal(info.complete + info.recovered, 1); // complete: only the index was missing
        if (info.recovered) assert_string_equal(info.status, "cut off");
        (void)same_records(part, made);
        assert_int_equal(vy_log_open(made, &again, NULL), VY_OK);
        assert_int_equal(vy_log_verify(again, NULL), VY_OK);
        vy_world *world = build();
        vy_difference d;
        const int empty = before.last_tick == before.first_tick; // nothing to compare is not "identical"
        assert_int_equal(vy_log_replay(again, world, NULL, NULL, &d, NULL), empty ? VY_DAMAGED : VY_OK);
        assert_false(d.found);
        assert_int_equal(d.last_tick, before.last_tick);
        vy_world_destroy(world);
        vy_log_close(again);
        vy_log_close(log);
        assert_int_equal(vy_log_recover(made, other, NULL, &err), VY_BAD_STATE); // once is enough
        assert_non_null(strstr(err.text, "nothing to recover"));
    }
    assert_true(recovered > 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flushes_change_no_record),
        cmocka_unit_test(part_follows_the_flight),
        cmocka_unit_test(recovered_wherever_it_was_cut),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
