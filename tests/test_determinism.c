// test_determinism.c - the same bits twice, interleaved, from a snapshot, and with unrelated things added.
#include "flight.h"
#include "base/cpu.h"
#include "base/hash.h"
#include "motion.h"
#include "scenes/scenes.h"
#include "world/state.h"
#include <stdio.h>
#include <string.h>

// The drone under test: every noise on, a flight plan, and sensors that feed back, so that a difference
// grows.
static vy_drone_def flyer(void)
{
    vy_drone_def def = vy_default_drone_def();
    def.controller.setpoint_count = 3;
    def.controller.setpoints[0] = (vy_setpoint){0.1, {0, 0, 1}, 0.0};
    def.controller.setpoints[1] = (vy_setpoint){1.1, {0.5, -0.5, 1.2}, 1.0};
    def.controller.setpoints[2] = (vy_setpoint){2.1, {0, 0, 1}, -1.0};
    return def;
}

static vy_disturbance_def gust(vy_disturbance_kind kind)
{
    vy_disturbance_def d = vy_default_disturbance_def();
    d.kind = kind;
    d.force = (vy_vec3){0.02, 0.01, -0.01};
    d.torque = (vy_vec3){1e-6, -2e-6, 1e-6};
    d.duration = 1.5;
    d.frequency = 2.0;
    return d;
}

static vy_world *scene(uint64_t seed)
{
    vy_world_def wd = vy_default_world_def();
    wd.seed = seed;
    vy_drone_def def = flyer();
    vy_world *world = fly_in(&wd, &def);
    def.position.y = 2.0;
    def.vehicle.allocation = VY_ALLOCATION_PHYSICAL;
    assert_int_equal(vy_world_add_drone(world, &def, NULL, NULL), VY_OK);
    for (int kind = VY_DISTURBANCE_CONSTANT; kind <= VY_DISTURBANCE_NOISE; ++kind) {
        const vy_disturbance_def d = gust((vy_disturbance_kind)kind);
        assert_int_equal(vy_world_add_disturbance(world, &d, NULL), VY_OK);
    }
    return world;
}

// Two worlds built alike have the same hash after every step; another seed gives another.
static void twice_in_a_process(void **unused)
{
    (void)unused;
    vy_world *a = scene(7), *b = scene(7), *c = scene(8);
    for (int i = 0; i < 3000; ++i) {
        (void)vy_world_step(a);
        (void)vy_world_step(b);
        (void)vy_world_step(c);
        assert_true(vy_world_hash(a) == vy_world_hash(b));
        assert_true(vy_world_hash(a) != vy_world_hash(c));
    }
    assert_int_equal(vy_world_failure(a).reason, VY_FAILURE_NONE);
    vy_world_destroy(a);
    vy_world_destroy(b);
    vy_world_destroy(c);
}

// A thousand steps in one call, in a thousand calls, or in uneven calls: one result.
static void the_size_of_calls_does_not_matter(void **unused)
{
    (void)unused;
    vy_world *a = scene(7), *b = scene(7), *c = scene(7);
    (void)vy_world_advance(a, 1000);
    for (int i = 0; i < 1000; ++i) (void)vy_world_step(b);
    (void)vy_world_advance(c, 0);
    for (uint64_t i = 1; vy_world_tick(c) < 1000; ++i) {
        const uint64_t left = 1000 - vy_world_tick(c);
        (void)vy_world_advance(c, i < left ? i : left);
    }
    assert_true(vy_world_hash(a) == vy_world_hash(b) && vy_world_hash(a) == vy_world_hash(c));
    vy_world_destroy(a);
    vy_world_destroy(b);
    vy_world_destroy(c);
}

// Snapshot, step, restore, step: the same bits, from any moment, in the same world and in a new one.
static void snapshots_go_on_with_the_same_bits(void **unused)
{
    (void)unused;
    static unsigned char block[1 << 16];
    vy_world *world = scene(7), *fresh = scene(7);
    assert_true(vy_world_state_size(world) <= sizeof block);
    for (int moment = 0; moment < 10; ++moment) {
        vy_world_save(world, block);
        (void)vy_world_advance(world, 233);
        const uint64_t hash = vy_world_hash(world), tick = vy_world_tick(world);
        assert_int_equal(vy_world_restore(world, block, vy_world_state_size(world), NULL), VY_OK);
        (void)vy_world_advance(world, 233);
        assert_int_equal(vy_world_tick(world), tick);
        assert_true(vy_world_hash(world) == hash);
        assert_int_equal(vy_world_restore(fresh, block, vy_world_state_size(fresh), NULL), VY_OK);
        (void)vy_world_advance(fresh, 233);
        assert_true(vy_world_hash(fresh) == hash);
    }
    vy_world_destroy(world);
    vy_world_destroy(fresh);
}

// A snapshot holds all that changes: after the same steps two worlds' snapshots are the same bytes.
static void snapshots_of_equal_worlds_are_equal(void **unused)
{
    (void)unused;
    static unsigned char one[1 << 16], two[1 << 16];
    vy_world *a = scene(7), *b = scene(7);
    (void)vy_world_advance(a, 777);
    (void)vy_world_advance(b, 777);
    vy_world_save(a, one);
    vy_world_save(b, two);
    assert_memory_equal(one, two, vy_world_state_size(a));
    vy_world_destroy(a);
    vy_world_destroy(b);
}

static int same_flight(const vy_drone_state *a, const vy_drone_state *b)
{
    return memcmp(&a->position, &b->position, sizeof a->position) == 0 &&
           memcmp(&a->velocity, &b->velocity, sizeof a->velocity) == 0 &&
           memcmp(&a->attitude, &b->attitude, sizeof a->attitude) == 0 &&
           memcmp(&a->rate, &b->rate, sizeof a->rate) == 0 &&
           memcmp(a->rotor_speed, b->rotor_speed, sizeof a->rotor_speed) == 0 &&
           memcmp(&a->samples.imu, &b->samples.imu, sizeof a->samples.imu) == 0;
}

// What does not touch a drone does not move it by a bit: another drone with other sensors after it, capacity
// that is not used, and disturbances of that other drone.
static void unrelated_things_move_nothing(void **unused)
{
    (void)unused;
    const vy_drone_def def = flyer();
    vy_world *alone = fly(&def);
    vy_world_def wd = vy_default_world_def();
    vy_world *crowd = fly_in(&wd, &def);
    vy_drone_def other = vy_default_drone_def();
    other.imu.period = 0.002;
    other.mocap = (vy_mocap_def){.period = 0.005, .position_noise = 0.1};
    vy_drone_id id;
    assert_int_equal(vy_world_add_drone(crowd, &other, &id, NULL), VY_OK);
    vy_disturbance_def d = gust(VY_DISTURBANCE_NOISE);
    d.body = vy_world_drone_body(crowd, id);
    assert_int_equal(vy_world_add_disturbance(crowd, &d, NULL), VY_OK);
    for (int i = 0; i < 3000; ++i) {
        (void)vy_world_step(alone);
        (void)vy_world_step(crowd);
        const vy_drone_state a = state_of(alone, 0), b = state_of(crowd, 0);
        assert_true(same_flight(&a, &b));
    }
    vy_world_destroy(alone);
    vy_world_destroy(crowd);
}

// In an open loop a sensor more or less moves neither the flight nor the other sensor; the closed loop does
// see it.
static void a_sensor_more_moves_no_other(void **unused)
{
    (void)unused;
    for (int closed = 0; closed < 2; ++closed) {
        vy_drone_def def = flyer();
        if (!closed) def.controller.kind = VY_CONTROLLER_NONE;
        vy_world *with = fly(&def);
        def.mocap.period = closed ? 0.02 : 0.0;
        vy_world *without = fly(&def);
        (void)vy_world_advance(with, 1000);
        (void)vy_world_advance(without, 1000);
        const vy_drone_state a = state_of(with, 0), b = state_of(without, 0);
        assert_int_equal(same_flight(&a, &b), !closed);
        vy_world_destroy(with);
        vy_world_destroy(without);
    }
}

// The hash of a step is XXH3 over the whole state, with the hash of the step before in the place of its own.
// The NAP accounts at its end are hashed when the policy is evaluated, and change at no other time.
static void the_hash_covers_the_whole_state(void **unused)
{
    (void)unused;
    static unsigned char block[1 << 16], accounts[1 << 12];
    vy_world *world = scene(7);
    const size_t all = vy_world_state_size(world);
    const size_t tail = vy_world_drone_count(world) * sizeof(nap_account_block);
    assert_true(all <= sizeof block && tail <= sizeof accounts);
    for (int i = 0; i < 100; ++i) {
        const uint64_t before = vy_world_hash(world);
        (void)vy_world_step(world);
        vy_world_save(world, block);
        memcpy(block + offsetof(world_block, chain), &before, sizeof before);
        const int evaluated = i % 10 == 0; // every 10 ms, from the first step on
        assert_true(vy_world_hash(world) == vy_hash64(block, evaluated ? all : all - tail));
        if (!evaluated) assert_memory_equal(block + all - tail, accounts, tail);
        memcpy(accounts, block + all - tail, tail);
    }
    vy_world_destroy(world);
}

// Replies with motors at rest as long as *self counts down, and then with motors off, which is the same to
// fly.
static void count_down(void *self, const vy_samples *samples, vy_intent *intent)
{
    (void)samples;
    int *left = self;
    intent->rung = *left > 0 ? VY_RUNG_MOTORS : VY_RUNG_NONE;
    *left -= *left > 0;
}

// The hash chains every step: two runs that differed once, in a held rung, and have long been equal again,
// differ.
static void the_hash_remembers_every_step(void **unused)
{
    (void)unused;
    int counts[3] = {0, 0, 1};
    uint64_t hashes[3];
    vy_drone_state states[3];
    for (int i = 0; i < 3; ++i) {
        vy_drone_def def = vy_default_drone_def();
        def.rotor_speed = 0.0;
        def.controller.kind = VY_CONTROLLER_CALLBACK;
        def.controller.call = count_down;
        def.controller.self = &counts[i];
        vy_world *world = fly(&def);
        (void)vy_world_advance(world, 100);
        hashes[i] = vy_world_hash(world);
        states[i] = state_of(world, 0);
        (void)vy_world_step(world);
        assert_true(vy_world_hash(world) != hashes[i]);
        vy_world_destroy(world);
    }
    assert_memory_equal(&states[0], &states[2], sizeof states[0]);
    assert_true(hashes[0] == hashes[1]);
    assert_true(hashes[0] != hashes[2]);
}

// Every golden scene ends with the hashes of tests/golden.txt, in this build and on this processor.
static void golden_scenes_give_their_hashes(void **unused)
{
    (void)unused;
    FILE *file = fopen("tests/golden.txt", "r");
    assert_non_null(file);
    char name[32];
    unsigned long long state, motion;
    int count = 0;
    for (; fscanf(file, "%31s %16llx %16llx", name, &state, &motion) == 3; ++count) {
        const vy_scene *golden = vy_scene_find(name);
        if (golden == NULL) fail_msg("no scene %s", name);
        vy_world *world = NULL;
        assert_int_equal(golden->build(1, &world, NULL), VY_OK);
        const uint64_t moved = motion_hash(world, golden->ticks), ended = vy_world_hash(world);
        if (ended != state || moved != motion)
            fail_msg("%s ends with %016llx %016llx", name, (unsigned long long)ended,
                     (unsigned long long)moved);
        vy_world_destroy(world);
    }
    assert_true(feof(file));
    fclose(file);
    assert_int_equal(count, vy_scene_count);
}

// The motion hash sees the motion and nothing else: what a sensor measures does not count where nothing is
// flown by it.
static void the_motion_hash_is_of_motion_alone(void **unused)
{
    (void)unused;
    uint64_t state[3], motion[3];
    for (int i = 0; i < 3; ++i) {
        vy_drone_def def = quiet_drone();
        if (i == 1) def.imu.accel_noise = 0.01;
        if (i == 2) def.rate.z = 1e-12;
        vy_world *world = fly(&def);
        motion[i] = motion_hash(world, 100);
        state[i] = vy_world_hash(world);
        vy_world_destroy(world);
    }
    assert_true(state[0] != state[1] && motion[0] == motion[1]);
    assert_true(motion[0] != motion[2]);
}

// A processor with fewer instructions takes another way to the same bits.
static void every_level_of_the_cpu_gives_the_same(void **unused)
{
    (void)unused;
    const vy_cpu_level best = vy_cpu_best();
    for (int i = 0; i < vy_scene_count; ++i) {
        uint64_t want = 0;
        for (int level = VY_CPU_BASELINE; level <= (int)best; ++level) {
            vy_world *world = NULL;
            assert_true(vy_cpu_choose((vy_cpu_level)level));
            assert_int_equal(vy_scenes[i].build(3, &world, NULL), VY_OK);
            (void)vy_world_advance(world, 2000);
            if (level == VY_CPU_BASELINE) want = vy_world_hash(world);
            assert_true(vy_world_hash(world) == want);
            vy_world_destroy(world);
        }
    }
    assert_false(best < VY_CPU_AVX512 && vy_cpu_choose(VY_CPU_AVX512));
    assert_int_equal(vy_cpu(), best);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(twice_in_a_process),
        cmocka_unit_test(the_size_of_calls_does_not_matter),
        cmocka_unit_test(snapshots_go_on_with_the_same_bits),
        cmocka_unit_test(snapshots_of_equal_worlds_are_equal),
        cmocka_unit_test(unrelated_things_move_nothing),
        cmocka_unit_test(a_sensor_more_moves_no_other),
        cmocka_unit_test(the_hash_covers_the_whole_state),
        cmocka_unit_test(the_hash_remembers_every_step),
        cmocka_unit_test(golden_scenes_give_their_hashes),
        cmocka_unit_test(the_motion_hash_is_of_motion_alone),
        cmocka_unit_test(every_level_of_the_cpu_gives_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
