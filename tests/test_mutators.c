// test_mutators.c - the structure-aware mutators of fuzz/: a log that is taken apart and put together is the
// log that it was; changed logs are whole files often enough, and changed scenarios are scenarios. Fuzzing
// with mutators that make nothing but rubbish would look at the first checksum alone.
#include "../fuzz/mutate_mcap.h"
#include "../fuzz/mutate_yaml.h"
#include "mcap_sample.h"
#include "scenario/schema.h"

enum { MESSAGES = 200, CHANGED = 2000, LOG_CAP = 1 << 16 };

// In the place of libFuzzer's: a bit flips.
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size)
{
    static random_draws d;
    (void)max_size;
    if (size > 0) data[draw_below(&d, size)] ^= (uint8_t)(1u << draw_below(&d, 8));
    return size;
}

static void write_sample(memory_sink *sink)
{
    const vy_mcap_writer_def def = sample_def(VY_MCAP_NONE, 1500);
    vy_error err;
    *sink = (memory_sink){.fail_at = -1};
    assert_int_equal(sample_write(&def, memory_sink_bytes(sink), MESSAGES, &err), VY_OK);
}

static void a_log_that_is_put_together_is_the_same(void **unused)
{
    (void)unused;
    static mcap_list list;
    static mcap_builder w;
    memory_sink sink;
    write_sample(&sink);
    list.count = 0;
    mcap_parse_records(sink.bytes.data + MCAP_MAGIC_SIZE, sink.bytes.data + sink.bytes.size, &list);
    assert_true(list.count > MESSAGES);
    mcap_assemble(&w, &list);
    assert_false(w.out.failed);
    assert_true(w.chunk_count > 3);
    vy_mcap_reader *reader = NULL;
    vy_error err = {0};
    vy_status status =
        vy_mcap_reader_open_source(vy_memory_source(w.out.data, w.out.size), NULL, &reader, &err);
    if (status != VY_OK) fail_msg("%s", err.text);
    if (vy_mcap_reader_verify(reader, &err) != VY_OK) fail_msg("%s", err.text);
    assert_int_equal(sample_prefix(reader, &status), MESSAGES);
    assert_int_equal(status, VY_OK);
    assert_int_equal(vy_mcap_reader_info(reader)->attachment_count, 1);
    vy_mcap_reader_close(reader);
    mcap_bytes_free(&w.out);
    mcap_bytes_free(&sink.bytes);
}

static void changed_logs_are_whole_files(void **unused)
{
    (void)unused;
    static uint8_t log[LOG_CAP];
    memory_sink sink;
    int opened = 0, changed = 0;
    write_sample(&sink);
    for (unsigned seed = 1; seed <= CHANGED; ++seed) {
        vy_mcap_reader *reader = NULL;
        memcpy(log, sink.bytes.data, sink.bytes.size);
        const size_t size = mcap_mutate(log, sink.bytes.size, LOG_CAP, seed);
        changed += size != sink.bytes.size || memcmp(log, sink.bytes.data, size) != 0;
        if (vy_mcap_reader_open_source(vy_memory_source(log, size), NULL, &reader, NULL) == VY_OK) {
            opened += vy_mcap_reader_verify(reader, NULL) == VY_OK;
            vy_mcap_reader_close(reader);
        }
    }
    printf("%d of %d logs changed, %d of them whole\n", changed, CHANGED, opened);
    assert_true(changed > CHANGED * 9 / 10 && opened > CHANGED / 3);
    mcap_bytes_free(&sink.bytes);
}

static void changed_scenarios_are_scenarios(void **unused)
{
    static const char text[] = "volery: 1\nduration: 2 s\nworld:\n  wind: {constant: [1, 0, 0]}\ndrones:\n"
                               "  - name: a\n    vehicle: x500\n    sensors: {imu: {accel_noise: 0.1}}\n"
                               "    controller: {kind: hold}\n";
    (void)unused;
    int accepted = 0, changed = 0;
    for (unsigned seed = 1; seed <= CHANGED; ++seed) {
        uint8_t data[4096];
        vy_scenario *scenario = NULL;
        vy_diagnostics told;
        memcpy(data, text, sizeof text - 1);
        const size_t size = yaml_mutate(data, sizeof text - 1, sizeof data, seed, &vy_scenario_table);
        const int is_changed = size != sizeof text - 1 || memcmp(data, text, size) != 0;
        const vy_status status = vy_scenario_parse((char *)data, size, "changed", NULL, &scenario, &told);
        changed += is_changed;
        accepted += is_changed && status == VY_OK;
        vy_diagnostics_destroy(&told);
        vy_scenario_destroy(scenario);
    }
    printf("%d of %d scenarios changed, %d of them accepted\n", changed, CHANGED, accepted);
    assert_true(changed > CHANGED * 9 / 10 && accepted > CHANGED / 20 && accepted < changed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_log_that_is_put_together_is_the_same),
        cmocka_unit_test(changed_logs_are_whole_files),
        cmocka_unit_test(changed_scenarios_are_scenarios),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
