// test_contact_log.c - when contacts begin and have ended, in a log: against the pushes of every step.
#include "check.h"
#include "event_words.h"
#include "record/contact_debounce.h"
#include "record/log.h"
#include "volery/record.h"
#include "volery/scenario.h"
#include <stdlib.h>
#include <unistd.h>

enum { STEPS = 3000, PAUSE = 10 }; // of 1 ms

// A box that lands tilted, tips over its edges and slides; a ball that bounces ever lower.
static const char text[] =
    "volery: 1\n"
    "terrain: {kind: plane, material: {friction: 0.4, restitution: 0.7}}\n"
    "drones: [{name: far, start: {position: [50, 0, 9]}}]\n"
    "bodies:\n"
    "  - {name: box, mass: 400 g, inertia: [8e-4, 1e-3, 9e-4], position: [0, 0, 0.3], velocity: [2, 0, 0],\n"
    "     attitude: [0.96, 0.1, 0.26, 0], shape: {kind: box, size: [0.14, 0.10, 0.12], material: "
    "{restitution: 0}}}\n"
    "  - {name: ball, mass: 1, inertia: [4e-3, 4e-3, 4e-3], position: [0, 3, 0.5],\n"
    "     shape: {kind: sphere, radius: 0.1, material: {restitution: 0.7}}}\n";

/// Of one body: what is to be in the log, and how often the world's reports begin.
typedef struct touches {
    int begins, ends, reported;
    uint64_t last; // step with a push; 0: none
} touches;

static void look(const vy_world *world, touches *of)
{
    const uint64_t tick = vy_world_tick(world);
    for (uint32_t k = 0; k < vy_world_contact_count(world); ++k) {
        vy_contact_event e;
        assert_int_equal(vy_world_contact(world, k, &e), VY_OK);
        assert_true(e.body == 1 || e.body == 2);
        if (e.phase == VY_CONTACT_END) continue;
        touches *t = &of[e.body - 1];
        const int fresh = t->last == 0 || tick - t->last > PAUSE + 1;
        t->begins += fresh;
        t->ends += fresh && t->last > 0;
        t->reported += e.phase == VY_CONTACT_BEGIN;
        t->last = tick;
    }
}

static int count_of(vy_log *log, const char *start)
{
    vy_mcap_cursor *cursor = NULL;
    vy_mcap_message message;
    int count = 0;
    assert_int_equal(vy_log_cursor_open(log, "/events", &cursor, NULL), VY_OK);
    while (vy_mcap_cursor_next(cursor, &message)) {
        char words[EVENT_WORDS_CAP];
        event_words(message.data, message.size, words);
        count += strncmp(words, start, strlen(start)) == 0;
    }
    vy_mcap_cursor_close(cursor);
    return count;
}

// The log has a begin per touch that no push came before within the pause, and an end for each that was one.
static void contacts_end_after_a_pause(void **unused)
{
    (void)unused;
    static const char *const names[] = {"far", "box", "ball"}, *const places[] = {"terrain"};
    char path[64];
    snprintf(path, sizeof path, "/tmp/volery-test-contact-log-%ld.mcap", (long)getpid());
    vy_scenario *scenario = NULL;
    vy_world *world = NULL;
    assert_int_equal(vy_scenario_parse(text, strlen(text), "test", NULL, &scenario, NULL), VY_OK);
    assert_int_equal(vy_scenario_build(scenario, &world, NULL), VY_OK);
    vy_recorder_def def = vy_default_recorder_def();
    def.path = path;
    def.scenario = text;
    def.names = names;
    def.obstacle_names = places;
    vy_recorder *recorder = NULL;
    assert_int_equal(vy_recorder_open(&def, world, &recorder, NULL), VY_OK);
    vy_world_set_sink(world, vy_recorder_sink(recorder));
    touches of[2] = {{0}};
    for (int n = 0; n < STEPS; ++n) {
        (void)vy_world_step(world);
        look(world, of);
    }
    assert_int_equal(vy_recorder_close(recorder, world, "completed", NULL), VY_OK);
    for (uint32_t i = 0; i < 2; ++i) { // and the world counts as many
        vy_world_body_state s;
        vy_world_read_body(world, vy_world_body(world, 1 + i), &s);
        assert_int_equal(s.contacts, of[i].begins);
    }
    vy_world_destroy(world);
    vy_scenario_destroy(scenario);
    vy_log *log = NULL;
    assert_int_equal(vy_log_open(path, &log, NULL), VY_OK);
    for (int i = 0; i < 2; ++i) {
        of[i].ends += of[i].last > 0 && STEPS - of[i].last > PAUSE;
        char start[64];
        snprintf(start, sizeof start, "contact %s: with terrain begins", names[1 + i]);
        print_message("%s: %d begin, %d by the reports of single steps\n", names[1 + i], of[i].begins,
                      of[i].reported);
        assert_int_equal(count_of(log, start), of[i].begins);
        snprintf(start, sizeof start, "contact %s: with terrain has ended", names[1 + i]);
        assert_int_equal(count_of(log, start), of[i].ends);
    }
    vy_log_close(log);
    remove(path);
    assert_true(of[0].reported >= 2 * of[0].begins); // the box flickers, step by step
    assert_true(of[1].begins >= 5);                  // bounces are contacts of their own
}

static vy_contact_event report(vy_contact_phase phase, int other)
{
    return (vy_contact_event){.phase = phase, .body = 1, .other = other, .obstacle = other < 0 ? 3 : -1};
}

// Pair by pair: a pause that is short enough, one that is not, and which pair it was.
static void pauses_are_of_pairs(void **unused)
{
    (void)unused;
    contact_debounce *p = vy_contact_debounce_create(1e-3);
    assert_non_null(p);
    vy_contact_event e = report(VY_CONTACT_BEGIN, 2), ended;
    assert_true(vy_contact_debounce_update(p, 100, &e) && e.phase == VY_CONTACT_BEGIN);
    for (int other = -1; other < 40; ++other) {
        e = report(VY_CONTACT_END, other);
        assert_false(vy_contact_debounce_update(p, 101 + (uint64_t)(other > 0), &e));
    }
    e = report(VY_CONTACT_BEGIN, 0);
    assert_true(vy_contact_debounce_update(p, 110, &e) && e.phase == VY_CONTACT_PERSIST);
    e = report(VY_CONTACT_BEGIN, 0); // no pause is left of it
    assert_true(vy_contact_debounce_update(p, 110, &e) && e.phase == VY_CONTACT_BEGIN);
    assert_false(vy_contact_debounce_next_end(p, 110, &ended));
    assert_true(vy_contact_debounce_next_end(p, 111, &ended));
    assert_true(ended.phase == VY_CONTACT_END && ended.body == 1 && ended.other == -1 && ended.obstacle == 3);
    assert_false(vy_contact_debounce_next_end(p, 111, &ended));
    for (int other = 1; other < 40; ++other)
        assert_true(vy_contact_debounce_next_end(p, 112, &ended) && ended.other == other &&
                    ended.obstacle == -1);
    assert_false(vy_contact_debounce_next_end(p, 1000, &ended));
    vy_contact_debounce_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contacts_end_after_a_pause),
        cmocka_unit_test(pauses_are_of_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
