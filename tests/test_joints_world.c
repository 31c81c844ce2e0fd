// test_joints_world.c - what joints of a scenario do beyond holding: breaking and turns of gears, as
// state, in logs and in expectations.
#include "event_words.h"
#include "record/log.h"
#include "scenario_text.h"
#include "volery/record.h"
#include "world/world_impl.h"
#include <unistd.h>

#define G 9.80665

#define STONE                                                                                              \
    "volery: 1\n"                                                                                          \
    "duration: 1 s\n"                                                                                      \
    "world: {atmosphere: {mode: none}}\n"                                                                  \
    "drones:\n  - {name: brick, start: {position: [0, 9, 5]}, controller: {kind: none}, sensors: {truth: " \
    "on}, vehicle: {name: brick, mass: 1, inertia: [0.01, 0.01, 0.02], area: 0, cd: 0}}\n"                 \
    "bodies:\n"                                                                                            \
    "  - {name: stone, mass: 0.7, shape: {kind: sphere, radius: 5 cm}, position: [1, 0, 5]}\n"

static vy_world *build(const char *text, vy_scenario **scenario)
{
    vy_world *world = NULL;
    vy_error err = {0};
    *scenario = read_good(text);
    if (vy_scenario_build(*scenario, &world, &err) != VY_OK) fail_msg("%s", err.text);
    return world;
}

static vy_joint_state joint_of(const vy_world *world, uint32_t index)
{
    vy_joint_state s;
    assert_int_equal(vy_world_read_joint(world, vy_world_joint(world, index), &s), VY_OK);
    return s;
}

static vy_world_body_state body_of(const vy_world *world, uint32_t number)
{
    vy_world_body_state s;
    assert_int_equal(vy_world_read_body(world, vy_world_body(world, number), &s), VY_OK);
    return s;
}

static int count_events(const char *path, const char *words)
{
    vy_log *log = NULL;
    vy_mcap_cursor *cursor = NULL;
    vy_mcap_message message;
    char found[EVENT_WORDS_CAP];
    int count = 0;
    assert_int_equal(vy_log_open(path, &log, NULL), VY_OK);
    assert_int_equal(vy_log_cursor_open(log, "/events", &cursor, NULL), VY_OK);
    while (vy_mcap_cursor_next(cursor, &message)) {
        event_words(message.data, message.size, found);
        count += strncmp(found, words, strlen(words)) == 0;
    }
    vy_mcap_cursor_close(cursor);
    vy_log_close(log);
    return count;
}

// A stone on a rod from level: its tension is 3 m g sin(angle), with and without contacts. The log says that
// the rod breaks, at what force; that it is broken is in snapshots.
static void a_rod_breaks_under_its_load(void **unused)
{
    (void)unused;
    static const char *const contacts[] = {"", "terrain: {kind: plane}\n"};
    for (int k = 0; k < 2; ++k) {
        char text[1000], path[64];
        snprintf(
            text, sizeof text,
            STONE
            "joints:\n  - {name: rod, kind: distance, a: world, b: stone, anchor_a: [0, 0, 5], length: 1, "
            "break_force: 13.72931 N}\n%s"
            "expect:\n  - {quantity: active, joint: rod, at: end, max: 0}\n",
            contacts[k]);
        vy_scenario *s = NULL;
        vy_world *world = build(text, &s);
        vy_recorder *recorder = NULL;
        vy_recorder_def def = vy_default_recorder_def();
        static const char *const names[] = {"brick", "stone"}, *const joints[] = {"rod"},
                                 *const obstacles[] = {"terrain"};
        snprintf(path, sizeof path, "/tmp/volery-test-joints-%ld.mcap", (long)getpid());
        def.path = path;
        def.scenario = text;
        def.names = names;
        def.joint_names = joints;
        def.obstacle_names = obstacles;
        assert_int_equal(vy_recorder_open(&def, world, &recorder, NULL), VY_OK);
        vy_world_set_sink(world, vy_recorder_sink(recorder));
        void *block = malloc(vy_world_state_size(world));
        uint32_t events = 0;
        int steps = 0;
        while ((events & VY_EVENT_JOINT_BROKEN) == 0 && steps++ < 900) {
            if (steps == 200) vy_world_save(world, block);
            assert_int_equal(joint_of(world, 0).broken, 0);
            events = vy_world_step(world);
        }
        const double sine = 5.0 - body_of(world, 1).position.z;
        assert_near(sine, 2.0 / 3.0 + 0.003, 0.003); // where 3 m g sin is 2 m g, at the end of that step
        const vy_joint_state broken = joint_of(world, 0);
        assert_int_equal(broken.broken, 1);
        assert_int_equal(broken.active, 0);
        assert_true(broken.mean_force > 13.72931 && broken.mean_force < 13.72931 + 0.1);
        const vy_world_body_state at = body_of(world, 1);
        for (int n = 0; n < 50; ++n) assert_int_equal(vy_world_step(world) & VY_EVENT_JOINT_BROKEN, 0);
        assert_near(body_of(world, 1).velocity.z, at.velocity.z - 0.05 * G, 1e-9);
        assert_near(body_of(world, 1).velocity.x, at.velocity.x, 1e-12);
        vy_world_set_sink(world, (vy_sink){0});
        assert_int_equal(vy_recorder_close(recorder, world, "completed", NULL), VY_OK);
        assert_int_equal(count_events(path, "joint broken : rod has broken at 13.7"), 1);
        const uint64_t hash = vy_world_hash(world);
        void *late = malloc(vy_world_state_size(world));
        vy_world_save(world, late);
        assert_int_equal(vy_world_restore(world, block, vy_world_state_size(world), NULL), VY_OK);
        for (int n = 199; n < steps + 50; ++n) (void)vy_world_step(world);
        assert_true(vy_world_hash(world) == hash);
        assert_int_equal(vy_world_restore(world, late, vy_world_state_size(world), NULL), VY_OK);
        assert_int_equal(joint_of(world, 0).broken, 1);
        free(block);
        free(late);
        unlink(path);
        vy_world_destroy(world);
        vy_scenario_destroy(s);
    }
}

// Two wheels on the world: the ratio holds, turns are in snapshots, and a world that is restored counts on.
static void gears_count_their_turns(void **unused)
{
    (void)unused;
    static const char text[] =
        "volery: 1\n"
        "duration: 4 s\n"
        "world: {atmosphere: {mode: none}}\n"
        "drones:\n"
        "  - {name: brick, start: {position: [0, 9, 5]}, controller: {kind: none}, sensors: {truth: on}, "
        "vehicle: {name: brick, mass: 1, inertia: [0.01, 0.01, 0.02], area: 0, cd: 0}}\n"
        "bodies:\n"
        "  - {name: small, mass: 0.4, inertia: [0.001, 0.001, 0.001], position: [0, 0, 5], rate: [0, 0, "
        "20]}\n"
        "  - {name: large, mass: 2, inertia: [0.02, 0.02, 0.02], position: [0.5, 0, 5], rate: [0, 0, -8]}\n"
        "joints:\n"
        "  - {name: pin, kind: hinge, a: world, b: small, anchor_a: [0, 0, 5]}\n"
        "  - {name: bolt, kind: hinge, a: world, b: large, anchor_a: [0.5, 0, 5]}\n"
        "  - {name: mesh, kind: gear, a: small, b: large, ratio: 2.5}\n";
    vy_scenario *s = NULL;
    vy_world *world = build(text, &s);
    void *block = malloc(vy_world_state_size(world));
    for (int k = 0; k < 3000; ++k) {
        if (k == 1500) vy_world_save(world, block);
        assert_int_equal(vy_world_step(world), 0);
        const vy_joint_state at = joint_of(world, 2);
        assert_near(at.turned[0] + 2.5 * at.turned[1], 0.0, 1e-9);
    }
    const vy_joint_state end = joint_of(world, 2);
    assert_near(end.turned[0], 60.0, 1e-3);
    const uint64_t hash = vy_world_hash(world);
    vy_world *other = NULL;
    assert_int_equal(vy_scenario_build(s, &other, NULL), VY_OK);
    assert_int_equal(vy_world_restore(other, block, vy_world_state_size(world), NULL), VY_OK);
    assert_near(joint_of(other, 2).turned[0], 30.0, 1e-3);
    for (int k = 1500; k < 3000; ++k) (void)vy_world_step(other);
    assert_true(vy_world_hash(other) == hash);
    assert_near(joint_of(other, 2).turned[0], end.turned[0], 0.0);
    free(block);
    vy_world_destroy(other);
    vy_world_destroy(world);
    vy_scenario_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rod_breaks_under_its_load),
        cmocka_unit_test(gears_count_their_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
