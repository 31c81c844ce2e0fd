// test_gates.c - triggers among the obstacles of a world: who flies through a gate, in states, logs,
// snapshots and expectations, and that it changes nothing for anybody.
#include "event_words.h"
#include "record/log.h"
#include "scenario_text.h"
#include "volery/record.h"
#include "world/world_impl.h"
#include <unistd.h>

enum { STEPS = 1000 };

// A drone that flies a mission through two gates, one of them of a solid frame as well; a ball that flies
// past; a bullet that is never in the thin one at the end of a step; a ball that rests in a zone.
#define SCENE                                                                                                \
    "volery: 1\n"                                                                                            \
    "duration: 1 s\n"                                                                                        \
    "world: {atmosphere: {mode: none}}\n"                                                                    \
    "terrain: {kind: plane}\n"                                                                               \
    "drones:\n"                                                                                              \
    "  - {name: racer, start: {position: [0, 0, 2], velocity: [4, 0, 0]}, sensors: {truth: on},\n"           \
    "     controller: {kind: none}, vehicle: {name: brick, mass: 1, inertia: [0.01, 0.01, 0.02], area: 0, "  \
    "cd: 0},\n"                                                                                              \
    "     shape: {kind: sphere, radius: 10 cm}}\n"                                                           \
    "bodies:\n"                                                                                              \
    "  - {name: past, density: 500 kg/m^3, shape: {kind: sphere, radius: 10 cm}, position: [0, 5, 2], "      \
    "velocity: [4, 0, 0]}\n"                                                                                 \
    "  - {name: bullet, density: 500 kg/m^3, shape: {kind: sphere, radius: 1 cm}, position: [-100.25, 0.3, " \
    "2], "                                                                                                   \
    "velocity: [500, 0, 0]}\n"                                                                               \
    "  - {name: resting, density: 500 kg/m^3, shape: {kind: sphere, radius: 20 cm}, position: [30, 0, "      \
    "0.2]}\n"                                                                                                \
    "obstacles:\n"                                                                                           \
    "  - {name: post, kind: box, size: [0.1, 0.1, 4], position: [1, 1.1, 2]}\n"
#define GATES                                                                                 \
    "  - {name: start, kind: box, size: [20 cm, 2, 3], position: [1, 0, 2], trigger: on}\n"   \
    "  - {name: finish, kind: box, size: [1 mm, 2, 3], position: [2.5, 0, 1], trigger: on}\n" \
    "  - {name: zone, kind: cylinder, radius: 1, length: 1, position: [30, 0, 0], trigger: on}\n"
#define EXPECTED                                                        \
    "expect:\n"                                                         \
    "  - {quantity: entered, drone: racer, at: end, min: 2, max: 2}\n"  \
    "  - {quantity: entered, drone: past, at: end, max: 0}\n"           \
    "  - {quantity: entered, drone: bullet, at: end, min: 2, max: 2}\n" \
    "  - {quantity: entered, drone: resting, at: end, min: 1, max: 1}\n"

static vy_world *build(const char *text, vy_scenario **scenario)
{
    vy_world *world = NULL;
    vy_error err = {0};
    *scenario = read_good(text);
    if (vy_scenario_build(*scenario, &world, &err) != VY_OK) fail_msg("%s", err.text);
    return world;
}

static uint64_t entered(const vy_world *world, uint32_t number)
{
    vy_world_body_state s;
    assert_int_equal(vy_world_read_body(world, vy_world_body(world, number), &s), VY_OK);
    return s.entered;
}

static int count_of(vy_log *log, const char *words)
{
    vy_mcap_cursor *cursor = NULL;
    vy_mcap_message message;
    int count = 0;
    assert_int_equal(vy_log_cursor_open(log, "/events", &cursor, NULL), VY_OK);
    while (vy_mcap_cursor_next(cursor, &message)) {
        char found[EVENT_WORDS_CAP];
        event_words(message.data, message.size, found);
        count += strcmp(found, words) == 0;
    }
    vy_mcap_cursor_close(cursor);
    return count;
}

static void gates_are_entered_and_left(void **unused)
{
    (void)unused;
    static const char *const names[] = {"racer", "past", "bullet", "resting"}, *const obstacles[] = {
                                                                                   "post", "start", "finish",
                                                                                   "zone", "terrain"};
    char path[64];
    snprintf(path, sizeof path, "/tmp/volery-test-gates-%ld.mcap", (long)getpid());
    vy_scenario *scenario, *bare;
    vy_world *world = build(SCENE GATES EXPECTED, &scenario), *without = build(SCENE, &bare);
    vy_recorder_def def = vy_default_recorder_def();
    def.path = path;
    def.scenario = SCENE GATES EXPECTED;
    def.names = names;
    def.obstacle_names = obstacles;
    vy_recorder *recorder = NULL;
    assert_int_equal(vy_recorder_open(&def, world, &recorder, NULL), VY_OK);
    vy_world_set_sink(world, vy_recorder_sink(recorder));
    vy_expect_result results[4];
    vy_expect_begin(scenario, results);
    uint32_t begun = 0;
    for (int n = 0; n < STEPS; ++n) {
        const uint32_t events = vy_world_step(world);
        (void)vy_world_step(without);
        vy_expect_feed(scenario, world, results);
        int changed = 0;
        for (uint32_t k = 0; k < vy_world_trigger_count(world); ++k) {
            vy_trigger_event e;
            assert_int_equal(vy_world_trigger(world, k, &e), VY_OK);
            assert_true(e.obstacle >= 1 && e.obstacle <= 3 && e.body != 1);
            changed |= e.phase != VY_CONTACT_PERSIST;
            begun += e.phase == VY_CONTACT_BEGIN;
        }
        assert_int_equal((events & VY_EVENT_TRIGGER) != 0, changed);
        for (uint32_t i = 0; i < 4; ++i) { // as if there were no gates
            const vy_body_state *p = body_at(world, i), *q = body_at(without, i);
            assert_memory_equal(p, q, sizeof *p);
        }
    }
    assert_int_equal(begun, 5);
    const uint64_t times[4] = {2, 0, 2, 1};
    for (uint32_t i = 0; i < 4; ++i) assert_int_equal(entered(world, i), times[i]);
    for (int i = 0; i < 4; ++i) assert_true(results[i].met);
    assert_int_equal(vy_recorder_close(recorder, world, "completed", NULL), VY_OK);
    vy_log *log = NULL;
    assert_int_equal(vy_log_open(path, &log, NULL), VY_OK);
    assert_int_equal(count_of(log, "trigger racer: enters start"), 1);
    assert_int_equal(count_of(log, "trigger racer: leaves start"), 1);
    assert_int_equal(count_of(log, "trigger racer: enters finish"), 1);
    assert_int_equal(count_of(log, "trigger bullet: enters finish"), 1);
    assert_int_equal(count_of(log, "trigger bullet: leaves finish"), 1);
    assert_int_equal(count_of(log, "trigger resting: enters zone"), 1);
    assert_int_equal(count_of(log, "trigger resting: leaves zone"), 0);
    vy_log_close(log);
    remove(path);
    vy_world_destroy(world);
    vy_world_destroy(without);
    vy_scenario_destroy(scenario);
    vy_scenario_destroy(bare);
}

// From within a gate, in the same world and in another one: the same hashes, and nobody enters it again.
static void snapshots_know_who_is_inside(void **unused)
{
    (void)unused;
    vy_scenario *scenario[2];
    vy_world *world = build(SCENE GATES, &scenario[0]), *other = build(SCENE GATES, &scenario[1]);
    vy_error err;
    (void)vy_world_advance(world, 250); // at x = 1
    assert_int_equal(entered(world, 0), 1);
    const size_t size = vy_world_state_size(world);
    unsigned char *block = malloc(size);
    assert_non_null(block);
    vy_world_save(world, block);
    assert_int_equal(vy_world_restore(other, block, size, &err), VY_OK);
    uint64_t hash = 0;
    for (int turn = 0; turn < 2; ++turn) {
        (void)vy_world_advance(world, 700);
        assert_int_equal(entered(world, 0), 2);
        if (turn == 1) assert_int_equal(vy_world_hash(world), hash);
        hash = vy_world_hash(world);
        assert_int_equal(vy_world_restore(world, block, size, &err), VY_OK);
    }
    (void)vy_world_advance(other, 700);
    assert_int_equal(vy_world_hash(other), hash);
    // Who is neither in it nor not in it.
    block_counts counts;
    assert_true(vy_read_entries(block, size, &counts));
    block[block_offset(&counts, BLOCK_trigger)] = 2;
    assert_int_equal(vy_world_restore(other, block, size, &err), VY_BAD_VALUE);
    free(block);
    for (int k = 0; k < 2; ++k) {
        vy_world_destroy(k == 0 ? world : other);
        vy_scenario_destroy(scenario[k]);
    }
}

static void rays_pass_through_gates(void **unused)
{
    (void)unused;
    vy_scenario *scenario;
    vy_world *world = build(SCENE GATES, &scenario);
    vy_ray_target hit;
    const vy_vec3 from = {-5, 0.7, 2}, along = {1, 0, 0}, above = {30, 0, 9}, down = {0, 0, -1};
    assert_int_equal(vy_world_cast_ray(world, from, along, 20.0, VY_ALL_BODIES, &hit), 0);
    assert_int_equal(vy_world_cast_ray(world, above, down, 20.0, VY_ALL_BODIES, &hit), 1);
    assert_int_equal(hit.obstacle, 4); // the terrain
    assert_near(hit.distance, 9.0, 1e-12);
    vy_world_destroy(world);
    vy_scenario_destroy(scenario);
}

static void gates_without_contacts_are_refused(void **unused)
{
    (void)unused;
    char *said;
    vy_scenario *scenario = read_with("volery: 1\ncontacts: {mode: off}\ndrones: [{name: a}]\n"
                                      "obstacles: [{kind: sphere, radius: 1, trigger: on}]\n",
                                      NULL, &said);
    assert_null(scenario);
    assert_non_null(strstr(said, "trigger: contacts are off"));
    free(said);
    vy_world_def def = vy_default_world_def();
    vy_world *world = NULL;
    vy_error err;
    assert_int_equal(vy_world_create(&def, &world, NULL), VY_OK);
    vy_obstacle_def gate = vy_default_obstacle_def();
    gate.is_trigger = 1;
    assert_int_equal(vy_world_add_obstacle(world, &gate, &err), VY_BAD_VALUE);
    assert_non_null(strstr(err.text, "a trigger needs"));
    assert_int_equal(vy_world_obstacle_count(world), 0);
    assert_int_equal(vy_world_trigger_count(world), 0);
    vy_trigger_event e;
    assert_int_equal(vy_world_trigger(world, 0, &e), VY_NOT_FOUND);
    vy_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gates_are_entered_and_left),
        cmocka_unit_test(snapshots_know_who_is_inside),
        cmocka_unit_test(rays_pass_through_gates),
        cmocka_unit_test(gates_without_contacts_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
