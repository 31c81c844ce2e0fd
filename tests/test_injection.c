// test_injection.c - pushes, gusts and faults while a world flies: they act as declared ones do, are in
// snapshots, logs, replays and branches, and what cannot be is refused.
#include "check.h"
#include "volery/injection.h"
#include "volery/record.h"
#include "volery/scenario.h"
#include "world/world_impl.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TICKS = 1500, CASES = LAW_SLICE > 1 ? 6 : 24 };

static random_source source = {20261118};

// Two drones of which one has a body under it; `more` is added at the end.
static vy_scenario *parse(const char *more)
{
    char text[2000];
    snprintf(text, sizeof text,
             "volery: 1\nstep: 1 ms\nduration: 2 s\nseed: 7\nworld:\n  nap: {policy: strict}\n"
             "  wind: {constant: [0.4, 0, 0]%s}\n"
             "drones:\n"
             "- name: alpha\n  start: {position: [0, 0, 2]}\n  controller: {setpoints: [{time: 0, position: "
             "[0, 0, 2]}]}\n"
             "- name: beta\n  start: {position: [3, 0, 2]}\n  controller: {setpoints: [{time: 0, position: "
             "[3, 0, 2]}]}\n"
             "%s",
             strncmp(more, ", gusts", 7) == 0 ? more : "", strncmp(more, ", gusts", 7) == 0 ? "" : more);
    vy_scenario *scenario = NULL;
    vy_diagnostics diagnostics;
    if (vy_scenario_parse(text, strlen(text), "test", NULL, &scenario, &diagnostics) != VY_OK) {
        char *told = vy_diagnostics_print(&diagnostics);
        fail_msg("%s", told);
    }
    vy_diagnostics_destroy(&diagnostics);
    return scenario;
}

static vy_world *build(const vy_scenario *scenario)
{
    vy_world *world = NULL;
    vy_error err = {.status = VY_OK};
    if (vy_scenario_build(scenario, &world, &err) != VY_OK) fail_msg("%s", err.text);
    return world;
}

static vy_status inject(const vy_scenario *s, vy_world *world, const char *what, const char *text)
{
    vy_error err = {.status = VY_OK};
    const vy_status status = vy_scenario_inject(s, world, what, text, strlen(text), &err);
    assert_true((status == VY_OK) == (err.text[0] == '\0'));
    return status;
}

static void must_inject(const vy_scenario *s, vy_world *world, const char *what, const char *text)
{
    vy_error err = {.status = VY_OK};
    if (vy_scenario_inject(s, world, what, text, strlen(text), &err) != VY_OK) fail_msg("%s", err.text);
}

// What the text of an injection, and of the same thing in a scenario, are at a random moment.
typedef struct pair {
    const char *what;
    char injected[200], declared[300];
} pair;

static pair draw_pair(double start)
{
    pair p = {.what = "push"};
    const vy_vec3 v = random_vec(&source, 0.5);
    const double lasts = random_in(&source, 0.01, 0.6);
    const int rotor = (int)(random_bits(&source) % 4);
    char keys[150];
    switch (random_bits(&source) % 6) {
    case 0:
        snprintf(keys, sizeof keys, "drone: beta, force: [%.17g, %.17g, %.17g], duration: %.17g", v.x, v.y,
                 v.z, lasts);
        snprintf(p.declared, sizeof p.declared, "disturbances: [{kind: constant, start: %.17g, %s}]\n", start,
                 keys);
        break;
    case 1:
        snprintf(keys, sizeof keys, "kind: impulse, frame: body, torque: [%.17g, %.17g, 0], duration: 0.02",
                 1e-3 * v.x, 1e-3 * v.y);
        snprintf(p.declared, sizeof p.declared, "disturbances: [{start: %.17g, %s}]\n", start, keys);
        break;
    case 2:
        p.what = "gust";
        snprintf(keys, sizeof keys, "velocity: [%.17g, %.17g, %.17g], rise: %.17g, hold: %.17g", 9.0 * v.x,
                 9.0 * v.y, v.z, lasts, 0.3 * lasts);
        snprintf(p.declared, sizeof p.declared, ", gusts: [{start: %.17g, %s}]", start, keys);
        break;
    case 3:
        p.what = "fault";
        snprintf(keys, sizeof keys, "kind: motor_weak, drone: alpha, rotor: %d, share: 0.7, duration: %.17g",
                 rotor, lasts);
        break;
    case 4:
        p.what = "fault";
        snprintf(keys, sizeof keys, "kind: sensor_dropout, channel: position, share: 0.6");
        break;
    default:
        p.what = "fault";
        snprintf(keys, sizeof keys, "kind: motor_lag, drone: beta, lag: 0.08, duration: %.17g", lasts);
    }
    // Samples of the present moment are taken already: the first that a fault can change are the next ones.
    if (strstr(keys, "sensor") != NULL) start += 1e-3;
    if (strcmp(p.what, "fault") == 0)
        snprintf(p.declared, sizeof p.declared, "faults: [{start: %.17g, %s}]\n", start, keys);
    snprintf(p.injected, sizeof p.injected, "{%s}", keys);
    return p;
}

static void assert_same_drones(const vy_world *a, const vy_world *b)
{
    for (uint32_t i = 0; i < vy_world_drone_count(a); ++i)
        assert_memory_equal(&a->drones[i], &b->drones[i], offsetof(drone_block, effects));
}

// To the bit: the same push, gust or fault declared for that moment.
static void as_declared(void **unused)
{
    (void)unused;
    for (int k = 0; k < CASES; ++k) {
        const uint64_t start = 1 + random_bits(&source) % 700;
        const pair p = draw_pair((double)start * 1e-3);
        vy_scenario *plain = parse(""), *with = parse(p.declared);
        vy_world *a = build(plain), *b = build(with), *c = build(plain);
        (void)vy_world_advance(a, start);
        must_inject(plain, a, p.what, p.injected);
        assert_int_equal(vy_world_injection_count(a), 1);
        (void)vy_world_advance(b, start);
        (void)vy_world_advance(c, start);
        assert_same_drones(a, b);
        for (int n = 0; n < 8; ++n) {
            (void)vy_world_advance(a, (TICKS - start) / 8);
            (void)vy_world_advance(b, (TICKS - start) / 8);
            (void)vy_world_advance(c, (TICKS - start) / 8);
            assert_same_drones(a, b);
        }
        // Nobody injected into the third: it has another state.
        assert_true(vy_world_hash(a) != vy_world_hash(c));
        vy_world_destroy(a);
        vy_world_destroy(b);
        vy_world_destroy(c);
        vy_scenario_destroy(plain);
        vy_scenario_destroy(with);
    }
}

// A world that has got none, or others, takes those of a snapshot over, and goes on with the same bits.
static void in_snapshots(void **unused)
{
    (void)unused;
    vy_scenario *s = parse("");
    vy_world *a = build(s), *b = build(s), *calm = build(s);
    (void)vy_world_advance(a, 100);
    (void)vy_world_advance(calm, 100);
    const size_t small = vy_world_state_size(a);
    void *before = malloc(small), *after = NULL;
    assert_non_null(before);
    vy_world_save(a, before);
    must_inject(s, a, "push", "{drone: alpha, force: [0.1, 0, 0], duration: 0.5 s}");
    must_inject(s, a, "gust", "{velocity: [0, 4, 0], rise: 0.1, hold: 0.2}");
    must_inject(s, a, "fault", "{kind: motor_weak, drone: beta, rotor: 2, share: 0.6, duration: 0.3}");
    (void)vy_world_advance(a, 50);
    const size_t large = vy_world_state_size(a);
    assert_true(large > small);
    after = malloc(large);
    assert_non_null(after);
    vy_world_save(a, after);
    (void)vy_world_advance(b, 7);
    must_inject(s, b, "gust", "{velocity: [9, 0, 0]}");
    for (int round = 0; round < 2; ++round) {
        assert_int_equal(vy_world_restore(b, after, large, NULL), VY_OK);
        assert_int_equal(vy_world_injection_count(b), 3);
        (void)vy_world_advance(b, 400);
        if (round == 0) (void)vy_world_advance(a, 400);
        assert_true(vy_world_hash(b) == vy_world_hash(a));
        // And back to where nothing had happened yet.
        assert_int_equal(vy_world_restore(b, before, small, NULL), VY_OK);
        assert_int_equal(vy_world_injection_count(b), 0);
        assert_int_equal(vy_world_faults(b, vy_world_drone(b, 1)), 0);
        if (round == 0) (void)vy_world_advance(calm, 400);
        (void)vy_world_advance(b, 400);
        assert_true(vy_world_hash(b) == vy_world_hash(calm));
    }
    // A snapshot with an injection that cannot be is refused, and nothing has changed.
    const uint64_t hash = vy_world_state_hash(b);
    block_counts counts;
    assert_true(vy_read_entries(after, large, &counts));
    injection_block *blocks = (injection_block *)((char *)after + block_offset(&counts, BLOCK_injection));
    const injection_block good = blocks[2];
#define REFUSED(member, value)                                                   \
    do {                                                                         \
        vy_error err = {.status = VY_OK};                                        \
        blocks[2].member = value;                                                \
        assert_int_equal(vy_world_restore(b, after, large, &err), VY_BAD_VALUE); \
        assert_true(err.text[0] != '\0' && vy_world_state_hash(b) == hash);      \
        blocks[2] = good;                                                        \
    } while (0)
    REFUSED(kind, 3);
    REFUSED(start, 151);
    REFUSED(length, 0);
    REFUSED(target, 3);
    REFUSED(choice, VY_FAULT_BATTERY + 1);
    REFUSED(choice, VY_FAULT_COMMAND_DELAY);
    REFUSED(rotor, 5);
    REFUSED(channel, VY_CHANNEL_COUNT);
    REFUSED(size, -1.0);
    REFUSED(size, NOT_A_NUMBER);
    assert_int_equal(vy_world_restore(b, after, large, NULL), VY_OK);
    free(before);
    free(after);
    vy_world_destroy(a);
    vy_world_destroy(b);
    vy_world_destroy(calm);
    vy_scenario_destroy(s);
}

static void what_is_refused(void **unused)
{
    (void)unused;
    vy_scenario *s = parse("");
    vy_world *world = build(s);
    const char push[] = "{drone: alpha, force: [0.01, 0, 0], duration: 10}";
    assert_int_equal(inject(s, world, "push", push), VY_BAD_STATE); // before the first step
    (void)vy_world_advance(world, 1);
    const uint64_t hash = vy_world_state_hash(world);
    static const char *const bad[][2] = {
        {"push", "{drone: gamma, force: [1, 0, 0], duration: 1}"},
        {"push", "{drone: alpha, force: [1, 0], duration: 1}"},
        {"push", "{drone: alpha, force: [1, 0, 0]}"},
        {"push", "{drone: alpha, force: [1, 0, 0], duration: 0}"},
        {"push", "{drone: alpha, force: [1, 0, 0], duration: 1, start: 3}"},
        {"push", "{drone: alpha, kind: sinusoid, force: [1, 0, 0], duration: 1}"},
        {"push", "{drone: alpha, kind: noise, force: [1, 0, 0], duration: 1}"},
        {"push", "{drone: alpha, forc: [1, 0, 0], duration: 1}"},
        {"push", "force"},
        {"push", "{"},
        {"push", ""},
        {"gust", "{velocity: [1, 0, 0], rise: 0}"},
        {"gust", "{velocity: 3}"},
        {"gust", "{velocity: [1e400, 0, 0]}"},
        {"fault", "{kind: motor_loss, drone: alpha, rotor: 4}"},
        {"fault", "{kind: sensor_delay, channel: position, delay: 0.1}"},
        {"fault", "{kind: command_delay, delay: 0.1}"},
        {"fault", "{kind: sensor_bias, channel: gps_position, bias: [1, 0, 0]}"},
        {"fault", "{kind: motor_loss, every: 3 s}"},
        {"fault", "{kind: none}"},
        {"slap", "{}"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
        assert_true(inject(s, world, bad[i][0], bad[i][1]) != VY_OK);
        assert_true(vy_world_state_hash(world) == hash && vy_world_injection_count(world) == 0);
    }
    // As many as there may be at a time; those that are over give way.
    for (int i = 0; i < VY_INJECTION_CAP; ++i) must_inject(s, world, "push", push);
    assert_int_equal(inject(s, world, "push", push), VY_FULL);
    assert_int_equal(inject(s, world, "gust", "{velocity: [1, 0, 0]}"), VY_FULL);
    vy_world_destroy(world);
    world = build(s);
    (void)vy_world_advance(world, 1);
    for (int i = 0; i < 5 * VY_INJECTION_CAP; ++i) {
        must_inject(s, world, "push", "{drone: all, force: [0.01, 0, 0], duration: 0.01}");
        (void)vy_world_advance(world, 10);
    }
    assert_int_equal(vy_world_injection_count(world), 1);
    for (int i = 0; i < VY_GUST_CAP; ++i) must_inject(s, world, "gust", "{velocity: [1, 0, 0]}");
    assert_int_equal(inject(s, world, "gust", "{velocity: [1, 0, 0]}"), VY_FULL);
    char text[160];
    uint32_t number = 0;
    assert_true(vy_world_injection_text(world, 0, text, sizeof text, &number) && number == UINT32_MAX);
    assert_string_equal(text, "gust of 1 m/s (1, 0, 0), for 2 s");
    assert_false(vy_world_injection_text(world, VY_GUST_CAP, text, sizeof text, &number));
    vy_world_destroy(world);
    vy_scenario_destroy(s);
}

// Forces from outside, of which there were none, are computed from the first step of a push on, whatever the
// policy's period.
static void the_policy_looks_again(void **unused)
{
    (void)unused;
    vy_scenario *s = parse("");
    s->environment.nap.strict = 0;
    s->environment.nap.period = 0.05;
    vy_world *world = build(s);
    (void)vy_world_advance(world, 1003);
    const uint64_t changes = world->drones[0].effect_changes, effects = world->drones[0].effects;
    assert_false(effects >> EFFECT_disturbance & 1);
    must_inject(s, world, "push", "{drone: alpha, force: [0.1, 0, 0], duration: 1}");
    (void)vy_world_step(world);
    assert_true(world->drones[0].effect_changes > changes);
    assert_true(world->drones[0].effects >> EFFECT_disturbance & 1);
    assert_false(world->drones[1].effects >> EFFECT_disturbance & 1);
    vy_world_destroy(world);
    vy_scenario_destroy(s);
}

// A log of a disturbed flight replays to the bit, messages included, from the scenario alone; it can be
// sought and gone on from; what somebody changes in it is found.
static void in_logs(void **unused)
{
    (void)unused;
    const char path[] = "test_injection.mcap";
    vy_scenario *s = parse("");
    s->log.snapshot = 0.25;
    vy_world *world = build(s), *again = build(s);
    vy_recorder *recorder = NULL;
    vy_error err = {.status = VY_OK};
    if (vy_scenario_record(s, world, path, NULL, &recorder, &err) != VY_OK) fail_msg("%s", err.text);
    vy_world_set_sink(world, vy_recorder_sink(recorder));
    (void)vy_world_advance(world, 250); // a full state was written at this very moment
    must_inject(s, world, "push", "{drone: beta, force: [0, 0.2, 0], duration: 0.2}");
    must_inject(s, world, "fault", "{kind: motor_weak, drone: alpha, rotor: 1, share: 0.7, duration: 0.2}");
    (void)vy_world_advance(world, 333);
    must_inject(s, world, "gust", "{velocity: [3, 0, 0], rise: 0.1}");
    (void)vy_world_advance(world, 1);
    must_inject(s, world, "fault", "{kind: sensor_dropout, channel: position, share: 0.5, duration: 0.1}");
    (void)vy_world_advance(world, 600);
    const uint64_t hash = vy_world_hash(world);
    vy_world_set_sink(world, (vy_sink){.self = NULL});
    assert_int_equal(vy_recorder_close(recorder, world, "completed", &err), VY_OK);

    vy_log *log = NULL;
    vy_difference d;
    assert_int_equal(vy_log_open(path, &log, NULL), VY_OK);
    assert_true(vy_log_get_info(log).final_hash == hash);
    if (vy_scenario_replay(s, log, again, NULL, NULL, &d, &err) != VY_OK) fail_msg("%s", err.text);
    if (d.found) fail_msg("differs at %d: %s", (int)d.tick, d.field);
    assert_true(d.last_tick == 1184 && vy_world_hash(again) == hash);
    // At any moment the injections of that moment are there.
    static const uint64_t moments[] = {1184, 600, 584, 583, 300, 250, 249, 10, 1000};
    for (size_t i = 0; i < sizeof moments / sizeof moments[0]; ++i) {
        if (vy_log_seek(log, again, moments[i], &err) != VY_OK) fail_msg("%s", err.text);
        const uint32_t there = moments[i] < 250 ? 0 : moments[i] < 583 ? 2 : moments[i] < 584 ? 2 : 3;
        assert_int_equal(vy_world_injection_count(again), there);
    }
    vy_log_close(log);
    unlink(path);
    vy_world_destroy(world);
    vy_world_destroy(again);
    vy_scenario_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_declared),     cmocka_unit_test(in_snapshots),
        cmocka_unit_test(what_is_refused), cmocka_unit_test(the_policy_looks_again),
        cmocka_unit_test(in_logs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
