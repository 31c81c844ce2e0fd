// test_lifetimes.c - worlds, sets of bodies and scenarios that come and go: whatever they took they give
// back. VOLERY_LIFETIMES=1000000 makes as many worlds instead of the slice that the suite takes (make soak).
#include "check.h"
#include "scenes/scenes.h"
#include "volery/scenario.h"
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

enum { DRONES_MAX = 16, STEPS = 2, SPARE = 64 << 10 }; // SPARE [bytes]: the C library keeps no more at hand

static int lifetimes(void)
{
    const char *asked = getenv("VOLERY_LIFETIMES");
    return asked != NULL ? atoi(asked) : 1500;
}

// [bytes] that are allocated now. The C library counts what it keeps at hand for the next allocation as well.
// A sanitizer's allocator says 0 always; it finds leaks itself.
static size_t allocated(void)
{
    const struct mallinfo2 now = mallinfo2();
    return now.uordblks + now.hblkhd;
}

static uint64_t live_once(const vy_scene *scene, uint64_t seed)
{
    vy_world *world = NULL;
    assert_int_equal(scene->build(seed, &world, NULL), VY_OK);
    if (vy_world_drone_count(world) <= DRONES_MAX) (void)vy_world_advance(world, STEPS);
    const uint64_t hash = vy_world_hash(world);
    vy_world_destroy(world);
    return hash;
}

static void worlds_give_everything_back(void **unused)
{
    (void)unused;
    uint64_t first[256];
    assert_true(vy_scene_count <= 256);
    for (int i = 0; i < vy_scene_count; ++i) first[i] = live_once(&vy_scenes[i], 1);
    const size_t before = allocated();
    for (int k = 0; k < lifetimes(); ++k) {
        const int i = k % vy_scene_count;
        if (live_once(&vy_scenes[i], 1) != first[i])
            fail_msg("%s, life %d: another hash", vy_scenes[i].name, k);
    }
    assert_in_range(allocated(), 0, before + SPARE);
}

// The same from a text, through everything that a scenario makes of it.
static void scenarios_give_everything_back(void **unused)
{
    static const char text[] =
        "volery: 1\ndrones: [{name: a, vehicle: x500}, {name: b, start: {position: [9, 0, 1]}}]\n"
        "bodies: [{name: box, mass: 1, shape: {kind: box, size: [1, 1, 1]}, position: [4, 0, 0.5]}]\n"
        "terrain: {kind: plane}\ncontacts: {mode: on}\n";
    (void)unused;
    size_t before = 0;
    for (int k = 0; k < 3 + lifetimes() / 100; ++k) {
        vy_scenario *scenario = NULL;
        vy_world *world = NULL;
        vy_diagnostics told;
        const vy_status status = vy_scenario_parse(text, sizeof text - 1, "text", NULL, &scenario, &told);
        if (status != VY_OK) fail_msg("%s", vy_diagnostics_print(&told));
        vy_diagnostics_destroy(&told);
        assert_int_equal(vy_scenario_build(scenario, &world, NULL), VY_OK);
        (void)vy_world_advance(world, STEPS);
        vy_world_destroy(world);
        vy_scenario_destroy(scenario);
        if (k == 1) before = allocated(); // libraries keep what they took the first time
    }
    assert_in_range(allocated(), 0, before + SPARE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worlds_give_everything_back),
        cmocka_unit_test(scenarios_give_everything_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
