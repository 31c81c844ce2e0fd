// test_snapshot.c - snapshots that somebody changed: refused with a sentence, or flown; never a crash.
//
// Each world is brought to a moment at which everything it has is in use, then restored from that state with
// a few of its words changed, and flown on. The sanitizers say whether an index went astray.
#include "check.h"
#include "scenes/scenes.h"
#include "volery/scenario.h"
#include "world/world_impl.h"
#include <stdlib.h>
#include <string.h>

enum { TRIES = LAW_SLICE > 1 ? 20 : 60, STEPS = 100 };

static random_source source = {20250101};

static uint64_t draw(void) { return random_bits(&source); }

// Words that are an index, a count or a number too many somewhere.
static uint64_t odd_word(uint64_t was)
{
    static const double reals[] = {0.0, -1.0, 1e300, -1e300, 1e18, 1e-320, 3.5, 1e9};
    uint64_t word;
    switch (draw() % 8) {
    case 0: return was ^ (uint64_t)1 << draw() % 64;
    case 1: return was + 1;
    case 2: return was - 1;
    case 3: return draw();
    case 4: return draw() >> draw() % 64;
    case 5: return UINT64_MAX >> draw() % 64;
    case 6: return (uint64_t)0x7ff0000000000000u | draw() >> 12; // infinite, or not a number
    default: memcpy(&word, &reals[draw() % 8], sizeof word); return word;
    }
}

static size_t refused, flown;

static void fly_changed(vy_world *world, const unsigned char *good, size_t size, unsigned char *block,
                        size_t words)
{
    memcpy(block, good, size);
    for (size_t i = 0; i < words; ++i) {
        // Half of them in the first blocks, which have the counts.
        const size_t cells = size / 8, at = draw() % (draw() % 2 || cells < 160 ? cells : 160);
        uint64_t word;
        memcpy(&word, block + 8 * at, sizeof word);
        word = odd_word(word);
        memcpy(block + 8 * at, &word, sizeof word);
    }
    vy_error err = {.status = VY_OK};
    const uint64_t before = vy_world_state_hash(world);
    if (vy_world_restore(world, block, size, &err) != VY_OK) {
        assert_true(err.text[0] != '\0');
        assert_true(vy_world_state_hash(world) == before);
        ++refused;
        return;
    }
    (void)vy_world_advance(world, STEPS);
    const vy_failure failure = vy_world_failure(world);
    char text[256];
    assert_true(failure.reason == VY_FAILURE_NONE || failure.body < vy_world_body_count(world));
    vy_failure_print(&failure, "it", text, sizeof text);
    for (uint32_t i = 0; i < vy_world_drone_count(world); ++i) {
        vy_drone_state state;
        vy_drive_state drive;
        assert_int_equal(vy_world_read_drone(world, vy_world_drone(world, i), &state), VY_OK);
        assert_int_equal(vy_world_read_drive(world, vy_world_drone(world, i), &drive), VY_OK);
    }
    for (uint32_t i = 0; i < vy_world_body_count(world); ++i) {
        vy_world_body_state state;
        assert_int_equal(vy_world_read_body(world, vy_world_body(world, i), &state), VY_OK);
    }
    ++flown;
}

static void try_world(vy_world *world, uint64_t ticks, int tries)
{
    (void)vy_world_advance(world, ticks);
    const size_t size = vy_world_state_size(world);
    unsigned char *good = malloc(size), *block = malloc(size);
    assert_non_null(good);
    assert_non_null(block);
    vy_world_save(world, good);
    assert_int_equal(vy_world_restore(world, good, size, NULL), VY_OK);
    for (int k = 0; k < tries; ++k) fly_changed(world, good, size, block, 1 + draw() % 4);
    assert_int_equal(vy_world_restore(world, good, size, NULL), VY_OK);
    (void)vy_world_advance(world, 1);
    free(good);
    free(block);
}

// The words of one field, one after the other.
static void every_whole_number_of_a_drone(void **unused)
{
    (void)unused;
    vy_world *world = NULL;
    assert_int_equal(vy_scene_find("hover")->build(1, &world, NULL), VY_OK);
    (void)vy_world_advance(world, 20);
    const size_t size = vy_world_state_size(world);
    unsigned char *block = malloc(size), *good = malloc(size);
    assert_non_null(good);
    assert_non_null(block);
    vy_world_save(world, good);
    const size_t at = (size_t)((unsigned char *)&world->drones[0].effects - (unsigned char *)world->state);
    for (int bit = 0; bit < 64; ++bit) {
        memcpy(block, good, size);
        block[at + (size_t)bit / 8] |= (unsigned char)(1u << bit % 8);
        vy_error err = {.status = VY_OK};
        if (vy_world_restore(world, block, size, &err) == VY_OK)
            (void)vy_world_advance(world, STEPS);
        else
            assert_non_null(strstr(err.text, "drone 0: invalid effects"));
    }
    block[at + 7] = 0x80;
    assert_int_equal(vy_world_restore(world, block, size, NULL), VY_BAD_VALUE);
    free(block);
    free(good);
    vy_world_destroy(world);
}

static void changed_states_of_scenes(void **unused)
{
    (void)unused;
    for (int i = 0; i < vy_scene_count; ++i) {
        vy_world *world = NULL;
        assert_int_equal(vy_scenes[i].build(1, &world, NULL), VY_OK);
        if (vy_world_drone_count(world) <= 16) try_world(world, 50, TRIES);
        vy_world_destroy(world);
    }
    assert_true(refused > 0 && flown > 0);
}

static void changed_states_of_scenarios(void **unused)
{
    (void)unused;
    static const struct {
        const char *file;
        uint64_t ticks; // by when it has touched, taken up or lost something
    } all[] = {
        {"payload", 3000},      {"set-down", 3000},     {"landing", 4000},          {"slung-load", 200},
        {"tether", 200},        {"sensor-faults", 500}, {"sensors", 300},           {"gate", 200},
        {"battery", 200},       {"hopper", 300},        {"satellite", 200},         {"canyon", 200},
        {"autopilot", 200},     {"tilted-pad", 3000},   {"swarm-collisions", 1000}, {"wall", 1000},
        {"flexible-arms", 100}, {"arm", 100},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
        char path[80];
        vy_scenario *s = NULL;
        vy_world *world = NULL;
        vy_diagnostics told;
        snprintf(path, sizeof path, "scenarios/%s.yaml", all[i].file);
        assert_int_equal(vy_scenario_load(path, NULL, &s, &told), VY_OK);
        assert_int_equal(vy_scenario_build(s, &world, NULL), VY_OK);
        try_world(world, all[i].ticks, TRIES / 2);
        vy_world_destroy(world);
        vy_diagnostics_destroy(&told);
        vy_scenario_destroy(s);
    }
}

// The detail of a verdict is a whole number; of a forged state it may be anything.
static void forged_details_are_printed(void **unused)
{
    (void)unused;
    static const double values[] = {1e300, -1e300, 2147483648.0, NOT_A_NUMBER, INFINITE};
    for (size_t i = 0; i < sizeof values / sizeof *values; ++i) {
        const vy_failure failure = {.reason = VY_FAILURE_CONTROLLER,
                                    .verdict = VY_VERDICT_CRASHED,
                                    .value = values[i],
                                    .what = "controller"};
        char text[256];
        vy_failure_print(&failure, "it", text, sizeof text);
        assert_non_null(strstr(text, "signal 0"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_whole_number_of_a_drone),
        cmocka_unit_test(changed_states_of_scenes),
        cmocka_unit_test(changed_states_of_scenarios),
        cmocka_unit_test(forged_details_are_printed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
