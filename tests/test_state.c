// test_state.c - the head of a state names the blocks present, and nothing else.
#include "check.h"
#include "flight.h"
#include "world/world_impl.h"
#include <stdlib.h>
#include <string.h>

// A world without a kind of block must have the same bits whether that kind exists or not: its head may name
// only what it has, by ids that never change.
static void the_head_names_what_is_present(void **unused)
{
    (void)unused;
    const vy_drone_def def = vy_default_drone_def();
    vy_world *world = fly(&def);
    const entry_block *entry = (const entry_block *)(world->state + 1);
    assert_int_equal(world->state->block_kinds, 2);
    assert_true(entry[0].id == 2 && entry[0].count == 1);  // drone
    assert_true(entry[1].id == 20 && entry[1].count == 1); // the account of what is neglected
    assert_int_equal(world->state_size, sizeof(world_block) + 2 * sizeof(entry_block) + sizeof(drone_block) +
                                            sizeof(nap_account_block));
    vy_world_destroy(world);
}

// In logs these stand for the blocks: a number that was given once is that block's for ever.
static void ids_are_stable(void **unused)
{
    (void)unused;
    static const struct {
        uint64_t id;
        const char *name;
    } known[] = {
        {0, "world"},
        {1, "entry"},
        {2, "drone"},
        {3, "payload"},
        {4, "joint"},
        {5, "noise"},
        {6, ""},
        {7, "powertrain"},
        {8, "supervisor"},
        {9, "thruster"},
        {10, "contact_totals"},
        {11, ""},
        {12, "contact"},
        {13, "sleep"},
        {14, ""},
        {15, "sleeping_contact"},
        {16, "sensor_suite"},
        {17, "filter"},
        {18, "gate"},
        {19, "delay_line"},
        {20, "nap_account"},
        {30, "body"},
        {31, "body_wake"},
        {32, "body_account"},
        {33, "budget"},
        {34, "loop"},
        {35, "injection"},
        {36, "trigger"},
        {37, "gear"},
        {40, "kalman"},
        {41, "gain_filter"},
        {64, "baro"},
        {65, "mag"},
        {66, "gps"},
        {67, "range"},
        {68, "flow"},
        {69, "power"},
        {70, "esc"},
        {71, "lidar"},
        {72, "imu_full"},
        {74, "airspeed"},
    }; // "": given up
    for (size_t k = 0; k < sizeof known / sizeof known[0]; ++k) {
        const char *name = "";
        for (int kind = 0; kind < BLOCK_KINDS; ++kind)
            if (vy_blocks[kind].id == known[k].id) name = vy_blocks[kind].name;
        assert_string_equal(name, known[k].name);
    }
    for (int kind = 0; kind < BLOCK_KINDS; ++kind) {
        int listed = 0;
        for (size_t k = 0; k < sizeof known / sizeof known[0]; ++k)
            listed += vy_blocks[kind].id == known[k].id;
        if (listed != 1) fail_msg("block %s, id %d", vy_blocks[kind].name, (int)vy_blocks[kind].id);
    }
}

// Noise is keyed by a sensor's stream, what is drawn once a run and what gets lost by its id: the same for
// ever, wherever its row stands.
static void keys_of_noise_are_stable(void **unused)
{
    (void)unused;
    static const struct {
        const char *name;
        uint32_t id, stream;
    } known[] = {{"baro", 0, 5},  {"mag", 1, 7},    {"gps", 2, 6},       {"range", 3, 8},
                 {"flow", 4, 13}, {"power", 5, 14}, {"esc", 6, 15},      {"lidar", 7, 16},
                 {"imu", 8, 0},   {"mocap", 9, 1},  {"airspeed", 10, 32}};
    for (size_t k = 0; k < sizeof known / sizeof known[0]; ++k) {
        int found = 0;
        for (int i = 0; i < SENSOR_KINDS; ++i) {
            if (strcmp(vy_sensors[i].type->name, known[k].name) != 0) continue;
            assert_true(vy_sensors[i].id == known[k].id && vy_sensors[i].stream == known[k].stream);
            ++found;
        }
        assert_int_equal(found, 1);
    }
    for (int i = 0; i < SENSOR_KINDS; ++i) {
        for (int k = 0; k < i; ++k)
            assert_true(vy_sensors[i].id != vy_sensors[k].id && vy_sensors[i].stream != vy_sensors[k].stream);
    }
}

// What is written can be read, for any set of blocks; a head that says something else than what there is is
// refused.
static void heads_read_as_written(void **unused)
{
    (void)unused;
    random_source r = {7};
    for (int round = 0; round < 2000; ++round) {
        block_counts counts = {0}, read;
        for (int kind = BLOCK_entry + 1; kind < BLOCK_KINDS; ++kind)
            counts.of[kind] = random_bits(&r) % 3 == 0 ? (uint32_t)(random_bits(&r) % 5) : 0;
        if (counts.of[BLOCK_contact_totals] == 0) counts.of[BLOCK_contact] = 0; // nothing collides
        if (counts.of[BLOCK_sleep] == 0) counts.of[BLOCK_sleeping_contact] = 0;
        vy_count_head(&counts);
        const size_t size = block_offset(&counts, BLOCK_KINDS);
        uint64_t *state = calloc(size, 1);
        assert_non_null(state);
        vy_write_entries(&counts, state);
        assert_true(vy_read_entries(state, size, &read));
        assert_memory_equal(&read, &counts, sizeof counts);
        assert_false(vy_read_entries(state, size + 8, &read));
        assert_false(vy_read_entries(state, size - 8, &read));
        const size_t cells = 2 * counts.of[BLOCK_entry];
        if (cells > 0) { // any other number in an entry names other blocks
            uint64_t *cell = state + sizeof(world_block) / 8 + random_bits(&r) % cells;
            *cell ^= (uint64_t)1 << random_bits(&r) % 64;
            const int taken = vy_read_entries(state, size, &read);
            assert_false(taken && memcmp(&read, &counts, sizeof counts) == 0);
        }
        ((world_block *)state)->block_kinds += 1 + random_bits(&r) % 1000;
        assert_false(vy_read_entries(state, size, &read) && memcmp(&read, &counts, sizeof counts) == 0);
        free(state);
    }
}

// Contacts that sleep in a world in which nothing does, in place of those it has.
static void heads_name_no_contacts_that_cannot_be(void **unused)
{
    (void)unused;
    block_counts counts = {0}, read;
    counts.of[BLOCK_contact_totals] = counts.of[BLOCK_contact] = 2;
    vy_count_head(&counts);
    const size_t size = block_offset(&counts, BLOCK_KINDS);
    uint64_t *state = calloc(size, 1);
    assert_non_null(state);
    vy_write_entries(&counts, state);
    assert_true(vy_read_entries(state, size, &read));
    entry_block *last = (entry_block *)((world_block *)state + 1) + counts.of[BLOCK_entry] - 1;
    assert_true(last->id == vy_blocks[BLOCK_contact].id);
    last->id = vy_blocks[BLOCK_sleeping_contact].id;
    assert_false(vy_read_entries(state, size, &read));
    free(state);
}

// Blocks that are added later move those that are there: what was in them goes along.
static void blocks_keep_their_values_when_others_come(void **unused)
{
    (void)unused;
    vy_world_def wd = vy_default_world_def();
    vy_world *world = NULL;
    assert_int_equal(vy_world_create(&wd, &world, NULL), VY_OK);
    for (int i = 0; i < 3; ++i) {
        vy_drone_def def = vy_default_drone_def();
        def.position = (vy_vec3){i + 0.25, -i, 2.0 + i};
        def.imu.accel_bias = 0.1;
        assert_int_equal(vy_world_add_drone(world, &def, NULL, NULL), VY_OK);
        vy_disturbance_def noise = vy_default_disturbance_def();
        noise.kind = VY_DISTURBANCE_NOISE;
        noise.frequency = 2.0;
        noise.force = (vy_vec3){0.01, 0.0, 0.0};
        assert_int_equal(vy_world_add_disturbance(world, &noise, NULL), VY_OK);
        for (int k = 0; k <= i; ++k) {
            vy_drone_state s;
            assert_int_equal(vy_world_read_drone(world, vy_world_drone(world, (uint32_t)k), &s), VY_OK);
            assert_true(s.position.x == k + 0.25 && s.position.y == -k && s.position.z == 2.0 + k);
        }
        for (uint32_t k = 0; k < world->model.noise_count; ++k) assert_true(world->noise[k].force.x == 0.0);
    }
    vy_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_head_names_what_is_present),
        cmocka_unit_test(ids_are_stable),
        cmocka_unit_test(keys_of_noise_are_stable),
        cmocka_unit_test(heads_read_as_written),
        cmocka_unit_test(heads_name_no_contacts_that_cannot_be),
        cmocka_unit_test(blocks_keep_their_values_when_others_come),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
