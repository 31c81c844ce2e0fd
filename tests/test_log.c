// test_log.c - logs of runs: written, read back, replayed, compared, damaged, branched.
#include "event_words.h"
#include "record/mcap_format.h"
#include "record/mcap_reader.h"
#include "base/real.h"
#include "scenes/scenes.h"
#include "volery/record.h"
#include "volery/version.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static const char *const names[] = {"alpha",   "bravo", "charlie", "delta", "echo",
                                    "foxtrot", "golf",  "hotel",   "india"};
static char path[2][64];

static int make_paths(void **state)
{
    (void)state;
    for (int i = 0; i < 2; ++i) {
        snprintf(path[i], sizeof path[i], "/tmp/volery-test-log-%d-%ld.mcap", i, (long)getpid());
    }
    return 0;
}

static int remove_paths(void **state)
{
    (void)state;
    for (int i = 0; i < 2; ++i) {
        char part[sizeof path + 8];
        snprintf(part, sizeof part, "%s.part", path[i]);
        remove(path[i]);
        remove(part);
    }
    return 0;
}

static vy_world *build(const char *scene, uint64_t seed)
{
    vy_world *world = NULL;
    assert_int_equal(vy_scene_find(scene)->build(seed, &world, NULL), VY_OK);
    return world;
}

static vy_recorder_def recorder_def(int file, uint64_t snapshot)
{
    vy_recorder_def def = vy_default_recorder_def();
    def.path = path[file];
    def.scenario = "volery: 1\n";
    def.names = names;
    def.snapshot = snapshot;
    return def;
}

// Fly `world` for `ticks` into file `file`, with a full state every `snapshot` steps. Returns the final hash.
static uint64_t record(int file, vy_world *world, uint64_t ticks, uint64_t snapshot)
{
    vy_recorder *recorder = NULL;
    vy_error err = {0};
    const vy_recorder_def def = recorder_def(file, snapshot);
    if (vy_recorder_open(&def, world, &recorder, &err) != VY_OK) fail_msg("%s", err.text);
    vy_world_set_sink(world, vy_recorder_sink(recorder));
    const uint32_t events = vy_world_advance(world, ticks);
    assert_int_equal(events & VY_EVENT_SINK, 0);
    const char *status = events & VY_EVENT_FAILED ? "failed" : "completed";
    if (vy_recorder_close(recorder, world, status, &err) != VY_OK) fail_msg("%s", err.text);
    const uint64_t hash = vy_world_hash(world);
    vy_world_destroy(world);
    return hash;
}

static vy_log *open_log(int file)
{
    vy_log *log = NULL;
    vy_error err = {0};
    if (vy_log_open(path[file], &log, &err) != VY_OK) fail_msg("%s", err.text);
    return log;
}

// The log says of itself what was flown, and every scene replays from it to the same bits.
static void log_replays_every_scene(void **state)
{
    (void)state;
    for (int i = 0; i < vy_scene_count; ++i) {
        const char *scene = vy_scenes[i].name;
        const uint64_t hash = record(0, build(scene, 5), 3000, 700);
        vy_log *log = open_log(0);
        const vy_log_info info = vy_log_get_info(log);
        assert_true(info.complete);
        assert_int_equal(info.physics, VY_PHYSICS_REVISION);
        assert_int_equal(info.seed, 5);
        assert_int_equal(info.first_tick, 0);
        assert_true(info.final_hash == hash);
        assert_true(info.dt == (strcmp(scene, "orbit") == 0 ? 0.1 : 0.001));
        assert_string_equal(vy_log_scenario(log), "volery: 1\n");
        assert_string_equal(vy_log_name(log, 0), "alpha");
        assert_int_equal(vy_log_verify(log, NULL), VY_OK);

        vy_world *world = build(scene, 5);
        vy_difference d;
        assert_int_equal(vy_log_replay(log, world, NULL, NULL, &d, NULL), VY_OK);
        assert_false(d.found);
        assert_int_equal(d.last_tick, info.last_tick);
        assert_true(vy_world_hash(world) == hash);
        vy_world_destroy(world);
        vy_log_close(log);
    }
}

// A log that begins late and has no step after that replays to where it begins.
static void log_without_a_step(void **state)
{
    (void)state;
    vy_world *late = build("hover", 5);
    vy_world_advance(late, 40);
    const uint64_t hash = record(0, late, 0, 700);
    vy_log *log = open_log(0);
    vy_world *world = build("hover", 5);
    vy_difference d;
    assert_int_equal(vy_log_get_info(log).first_tick, 40);
    assert_int_equal(vy_log_replay(log, world, NULL, NULL, &d, NULL), VY_OK);
    assert_false(d.found);
    assert_int_equal(d.last_tick, 40);
    assert_true(vy_world_hash(world) == hash);
    vy_world_destroy(world);
    vy_log_close(log);
}

// A changed parameter is found at the exact step when every state is logged, and the field is named.
static void log_names_the_first_difference(void **state)
{
    (void)state;
    record(0, build("square", 1), 2000, 1);
    vy_log *log = open_log(0);
    vy_world *other = build("square", 2); // other noise: the first step differs
    vy_difference d;
    assert_int_equal(vy_log_replay(log, other, NULL, NULL, &d, NULL), VY_OK);
    assert_true(d.found);
    assert_int_equal(d.tick, 1);
    assert_int_equal(d.field_tick, 1);
    assert_true(d.real);
    assert_true(d.a != d.b);
    assert_true(strncmp(d.field, "drones[0].", 10) == 0);
    vy_world_destroy(other);
    vy_log_close(log);
}

// The same knock, a second later: runs agree up to it and part there.
static void log_compare_finds_the_moment(void **state)
{
    (void)state;
    vy_world *world[2] = {build("hover", 1), build("hover", 1)};
    vy_disturbance_def knock = vy_default_disturbance_def();
    knock.kind = VY_DISTURBANCE_IMPULSE;
    knock.force.x = 1e-4;
    knock.start = 1.24;
    knock.duration = 0.001;
    assert_int_equal(vy_world_add_disturbance(world[1], &knock, NULL), VY_OK);
    record(0, world[0], 3000, 1);
    record(1, world[1], 3000, 1);
    vy_log *a = open_log(0), *b = open_log(1);
    vy_difference d;
    assert_int_equal(vy_log_compare(a, b, &d, NULL), VY_OK);
    assert_true(d.found);
    assert_int_equal(d.tick, 1241);
    assert_int_equal(d.field_tick, 1241);
    assert_string_equal(d.field, "drones[0].body.position.x");
    assert_int_equal(vy_log_compare(a, a, &d, NULL), VY_OK);
    assert_false(d.found);
    assert_int_equal(d.last_tick, 3000);
    vy_log_close(b);
    vy_log_close(a);
}

static unsigned char *slurp(const char *file, size_t *size)
{
    FILE *in = fopen(file, "rb");
    assert_non_null(in);
    fseek(in, 0, SEEK_END);
    *size = (size_t)ftell(in);
    rewind(in);
    unsigned char *data = malloc(*size);
    assert_int_equal(fread(data, 1, *size, in), *size);
    fclose(in);
    return data;
}

static void spit(const char *file, const unsigned char *data, size_t size)
{
    FILE *out = fopen(file, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(data, 1, size, out), size);
    fclose(out);
}

// The scene `feedback` without its controller.
static vy_world *build_silent(void)
{
    vy_world_def world_def = vy_default_world_def();
    world_def.seed = 3;
    vy_world *world = NULL;
    assert_int_equal(vy_world_create(&world_def, &world, NULL), VY_OK);
    vy_drone_def drone = vy_default_drone_def();
    assert_int_equal(vy_vehicle_preset("crazyflie2x-physical", &drone.vehicle, NULL), VY_OK);
    drone.controller.kind = VY_CONTROLLER_CALLBACK; // and nobody to call
    drone.controller.period = 0.003;
    assert_int_equal(vy_world_add_drone(world, &drone, NULL, NULL), VY_OK);
    vy_disturbance_def gust = vy_default_disturbance_def();
    gust.kind = VY_DISTURBANCE_NOISE;
    gust.force = (vy_vec3){1e-2, 1e-2, 0.5e-2};
    gust.torque = (vy_vec3){1e-5, 1e-5, 1e-5};
    gust.frequency = 0.5;
    assert_int_equal(vy_world_add_disturbance(world, &gust, NULL), VY_OK);
    return world;
}

// Replies of a callback are in the log: replay needs no controller.
static void log_feeds_replies(void **state)
{
    (void)state;
    record(0, build("feedback", 3), 3000, 100);
    vy_log *log = open_log(0);
    vy_world *world = build_silent();
    vy_difference d;
    assert_int_equal(vy_log_replay(log, world, NULL, NULL, &d, NULL), VY_OK);
    assert_false(d.found);
    vy_world_destroy(world);
    vy_log_close(log);
}

// A byte of the reply at `tick` changed, `at` bytes behind its tick, by somebody who leaves out the
// checksums.
static void forge_reply(const char *from, const char *to, uint64_t tick, size_t at)
{
    size_t size;
    unsigned char *data = slurp(from, &size);
    unsigned char head[18] = {0x09, [9] = 0x11}; // tag, tick, tag, drone 0
    memcpy(head + 1, &tick, 8);
    int forged = 0;
    for (size_t i = 8; i + 9 < size; i += 9 + mcap_get_u64(data + i + 1)) {
        if (data[i] == MCAP_CHUNK) memset(data + i + 9 + 24, 0, 4);
        if (data[i] == MCAP_DATA_END) memset(data + i + 9, 0, 4);
        if (data[i] == MCAP_FOOTER) break;
    }
    for (size_t i = 0; i + sizeof head < size; ++i) {
        if (memcmp(data + i, head, sizeof head) != 0 || data[i + 18] != 0x19) continue;
        data[i + 9 + at] ^= 1;
        ++forged;
    }
    assert_int_equal(forged, 1);
    spit(to, data, size);
    free(data);
}

// A reply that was changed after the flight is named by replay, whether it has an effect or not; diff tells
// its values.
static void log_names_a_changed_reply(void **state)
{
    (void)state;
    record(0, build("feedback", 3), 3000, 100);
    // Behind the tick: drone and rung with their tags, the list's tag and length, two motors; or as far as
    // torque.x.
    const struct {
        size_t at;
        const char *field;
    } forged[] = {{9 + 9 + 2 + 2 * 8, "drones[0].reply.motors[2]"},
                  {9 + 9 + 2 + 8 * 8 + 9 + 3, "drones[0].reply.torque.x"}};
    for (int i = 0; i < 2; ++i) {
        forge_reply(path[0], path[1], 1500, forged[i].at);
        vy_log *a = open_log(0), *b = open_log(1);
        vy_world *world = build_silent();
        vy_difference d;
        assert_int_equal(vy_log_replay(b, world, NULL, NULL, &d, NULL), VY_OK);
        assert_true(d.found && d.reply);
        assert_int_equal(d.tick, 1500);
        assert_string_equal(d.field, "drones[0].reply.check");
        assert_true(d.integer_a != d.integer_b);
        assert_int_equal(vy_log_compare(a, b, &d, NULL), VY_OK);
        assert_true(d.found && d.reply && d.real);
        assert_int_equal(d.tick, 1500);
        assert_string_equal(d.field, forged[i].field);
        assert_true(d.a != d.b);
        vy_world_destroy(world);
        vy_log_close(b);
        vy_log_close(a);
    }
}

// Any logged moment can be had, and going on from it gives the rest of the run.
static void log_seek_and_go_on(void **state)
{
    (void)state;
    const uint64_t hash = record(0, build("swarm", 4), 2500, 500);
    vy_log *log = open_log(0);
    const uint64_t ticks[] = {0, 1, 499, 500, 501, 1777, 2500};
    for (size_t i = 0; i < sizeof ticks / sizeof ticks[0]; ++i) {
        vy_world *world = build("swarm", 4);
        vy_error err = {0};
        if (vy_log_seek(log, world, ticks[i], &err) != VY_OK) fail_msg("%s", err.text);
        assert_int_equal(vy_world_tick(world), ticks[i]);
        vy_world_advance(world, 2500 - ticks[i]);
        assert_true(vy_world_hash(world) == hash);
        vy_world_destroy(world);
    }
    vy_world *world = build("swarm", 4);
    assert_int_equal(vy_log_seek(log, world, 2501, NULL), VY_BAD_VALUE);
    vy_world_destroy(world);
    vy_log_close(log);
}

// A log cut at any place opens with a prefix of its run, or says that it is no log; the prefix replays.
static void log_cut_anywhere(void **state)
{
    (void)state;
    record(0, build("hover", 1), 4000, 50);
    size_t size;
    unsigned char *data = slurp(path[0], &size);
    int opened = 0;
    for (size_t cut = 0; cut < size; cut += 1 + size / 97) {
        spit(path[1], data, cut);
        vy_log *log = NULL;
        vy_error err = {0};
        if (vy_log_open(path[1], &log, &err) != VY_OK) {
            assert_true(err.text[0] != '\0');
            continue;
        }
        ++opened;
        const vy_log_info info = vy_log_get_info(log);
        assert_false(info.complete);
        vy_world *world = build("hover", 1);
        vy_difference d;
        const int empty = info.last_tick == info.first_tick; // nothing to compare is not "identical"
        assert_int_equal(vy_log_replay(log, world, NULL, NULL, &d, NULL), empty ? VY_DAMAGED : VY_OK);
        assert_false(d.found);
        assert_int_equal(vy_world_tick(world), empty ? 0 : info.last_tick);
        vy_world_destroy(world);
        vy_log_close(log);
    }
    assert_true(opened > 0);
    free(data);
}

// One flipped byte anywhere is noticed: by opening, by the checksums, or because it changed nothing.
static void log_flipped_byte_is_found(void **state)
{
    (void)state;
    record(0, build("hover", 1), 1000, 100);
    size_t size;
    unsigned char *data = slurp(path[0], &size);
    for (int i = 0; i < 300; ++i) {
        const size_t at = (size_t)i * 7919u % size;
        data[at] ^= 0x20;
        spit(path[1], data, size);
        data[at] ^= 0x20;
        vy_log *log = NULL;
        if (vy_log_open(path[1], &log, NULL) != VY_OK) continue;
        assert_true(vy_log_verify(log, NULL) != VY_OK);
        vy_log_close(log);
    }
    free(data);
}

// A failed run's log ends with its failure, and replays to it.
static void log_of_a_failure(void **state)
{
    (void)state;
    record(0, build("upset", 1), 5000, 500);
    vy_log *log = open_log(0);
    const vy_log_info info = vy_log_get_info(log);
    assert_string_equal(info.status, "failed");
    assert_true(info.last_tick < 5000);
    vy_world *world = build("upset", 1);
    vy_difference d;
    assert_int_equal(vy_log_replay(log, world, NULL, NULL, &d, NULL), VY_OK);
    assert_false(d.found);
    assert_int_equal(vy_world_failure(world).reason, VY_FAILURE_TILT);
    vy_world_destroy(world);
    vy_log_close(log);
}

// A run that is given up leaves its part and not the log; an older log stays.
static void log_abandoned_keeps_the_old(void **state)
{
    (void)state;
    const uint64_t old = record(0, build("hover", 1), 500, 100);
    vy_world *world = build("hover", 2);
    vy_recorder *recorder = NULL;
    const vy_recorder_def def = recorder_def(0, 100);
    assert_int_equal(vy_recorder_open(&def, world, &recorder, NULL), VY_OK);
    vy_world_set_sink(world, vy_recorder_sink(recorder));
    vy_world_advance(world, 500);
    vy_recorder_abandon(recorder);
    vy_world_destroy(world);
    vy_log *log = open_log(0);
    assert_true(vy_log_get_info(log).final_hash == old);
    vy_log_close(log);
}

// Values in the table are the log's, and the log's are the world's.
static void log_table_has_the_values(void **state)
{
    (void)state;
    vy_world *world = build("square", 1);
    record(0, world, 1000, 100);
    world = build("square", 1);
    vy_world_advance(world, 500);
    vy_drone_state truth;
    assert_int_equal(vy_world_read_drone(world, vy_world_drone(world, 0), &truth), VY_OK);
    vy_log *log = open_log(0);
    FILE *out = fopen(path[1], "w+");
    assert_non_null(out);
    const char *const fields[] = {"body.position", "control.motors"};
    vy_export_def def = vy_default_export_def();
    def.fields = fields;
    def.field_count = 2;
    assert_int_equal(vy_log_export(log, &def, out, NULL), VY_OK);
    rewind(out);
    char line[512];
    int rows = 0, found = 0;
    assert_non_null(fgets(line, sizeof line, out));
    assert_string_equal(line, "time,body.position.x,body.position.y,body.position.z,control.motors[0],"
                              "control.motors[1],control.motors[2],control.motors[3]\n");
    while (fgets(line, sizeof line, out) != NULL) {
        double v[8];
        assert_int_equal(sscanf(line, "%lf,%lf,%lf,%lf,%lf,%lf,%lf,%lf", &v[0], &v[1], &v[2], &v[3], &v[4],
                                &v[5], &v[6], &v[7]),
                         8);
        if (v[0] == 0.5) {
            assert_true(v[1] == truth.position.x && v[2] == truth.position.y && v[3] == truth.position.z);
            assert_true(v[7] == truth.motor_command[3]);
            found = 1;
        }
        ++rows;
    }
    assert_true(found);
    assert_int_equal(rows, 101);
    const char *const wrong[] = {"body.positon"};
    vy_error err = {0};
    def.fields = wrong;
    def.field_count = 1;
    assert_int_equal(vy_log_export(log, &def, out, &err), VY_NOT_FOUND);
    assert_non_null(strstr(err.text, "body.positon"));
    fclose(out);
    vy_log_close(log);
    vy_world_destroy(world);
}

// What the policy decided stands in the log, at the tick at which it did.
static void log_has_the_decisions(void **state)
{
    (void)state;
    vy_world_def wd = vy_default_world_def();
    wd.environment.wind.gust_count = 1;
    wd.environment.wind.gusts[0] = (vy_gust_def){{3.0, 0.0, 0.0}, 0.3, 0.2, 0.1};
    vy_drone_def def = vy_default_drone_def();
    def.vehicle.area = 0.01;
    def.vehicle.cd = 1.0;
    vy_world *worlds[2];
    for (int i = 0; i < 2; ++i) {
        assert_int_equal(vy_world_create(&wd, &worlds[i], NULL), VY_OK);
        assert_int_equal(vy_world_add_drone(worlds[i], &def, NULL, NULL), VY_OK);
    }
    record(0, worlds[0], 1000, 100);
    vy_mcap_reader *reader = NULL;
    vy_mcap_cursor *cursor = NULL;
    assert_int_equal(vy_mcap_reader_open(path[0], NULL, &reader, NULL), VY_OK);
    const uint16_t channel = vy_mcap_reader_find_channel(reader, "/events")->id;
    const vy_mcap_query query = {.channels = &channel, .channel_count = 1};
    assert_int_equal(vy_mcap_cursor_open(reader, &query, &cursor, NULL), VY_OK);
    const vy_body_id drone = vy_world_body(worlds[1], 0);
    vy_certificate before, after;
    vy_mcap_message event = {0};
    int windy = 0, decisions = 0;
    assert_int_equal(vy_world_certificate(worlds[1], drone, &before), VY_OK);
    while (vy_mcap_cursor_next(cursor, &event)) {
        char text[EVENT_WORDS_CAP];
        event_words(event.data, event.size, text);
        if (strncmp(text, "nap ", 4) != 0) continue;
        // Nothing changes until the moment of the event; then its words say what did.
        uint64_t change = 0;
        while (change == 0) {
            (void)vy_world_step(worlds[1]);
            assert_int_equal(vy_world_certificate(worlds[1], drone, &after), VY_OK);
            change = after.effects ^ before.effects;
            assert_true(1000000 * vy_world_tick(worlds[1]) <= event.log_time);
        }
        assert_true(1000000 * vy_world_tick(worlds[1]) == event.log_time);
        for (int k = 0; vy_effect_name(k) != NULL; ++k) {
            char words[64];
            snprintf(words, sizeof words, "%s %s", vy_effect_name(k),
                     after.effects >> k & 1 ? "computed" : "neglected");
            if (change >> k & 1) assert_non_null(strstr(text, words));
        }
        windy += strstr(text, "wind computed") != NULL;
        decisions += 1;
        before = after;
    }
    assert_true(decisions == 3 && windy == 1); // the gust came and went
    vy_mcap_cursor_close(cursor);
    vy_mcap_reader_close(reader);
    vy_world_destroy(worlds[1]);
}

// Loads in the log are those of the world's last step; at a rate, a row is the latest record before it.
static void log_table_has_the_loads(void **state)
{
    (void)state;
    vy_world *world = build("square", 1);
    record(0, world, 1000, 100);
    world = build("square", 1);
    assert_int_equal(vy_world_keep_loads(world, 1, NULL), VY_OK);
    vy_world_advance(world, 800);
    vy_loads loads;
    assert_int_equal(vy_world_read_loads(world, vy_world_body(world, 0), &loads), VY_OK);
    vy_log *log = open_log(0);
    FILE *out = fopen(path[1], "w+");
    assert_non_null(out);
    const char *const fields[] = {"forces.rotors", "torques.rotors"};
    vy_export_def def = vy_default_export_def();
    def.fields = fields;
    def.field_count = 2;
    def.rate = 12.5; // every other record of the display
    assert_int_equal(vy_log_export(log, &def, out, NULL), VY_OK);
    rewind(out);
    char line[512];
    int rows = 0, found = 0;
    assert_non_null(fgets(line, sizeof line, out));
    while (fgets(line, sizeof line, out) != NULL) {
        double v[7];
        const int values =
            sscanf(line, "%lf,%lf,%lf,%lf,%lf,%lf,%lf", &v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6]);
        assert_int_equal(values, v[0] == 0.0 ? 1 : 7); // there is no step before the first moment
        if (v[0] == 0.8) {
            assert_true(v[1] == loads.rotor_force.x && v[2] == loads.rotor_force.y &&
                        v[3] == loads.rotor_force.z);
            assert_true(v[4] == loads.rotor_torque.x && v[6] == loads.rotor_torque.z);
            found = 1;
        }
        ++rows;
    }
    assert_true(found);
    assert_int_equal(rows, 13);
    def.rate = -1.0;
    assert_int_equal(vy_log_export(log, &def, out, NULL), VY_BAD_VALUE);
    fclose(out);
    vy_log_close(log);
    vy_world_destroy(world);
}

// Two drones, of which the second has a battery: its stream has the state's values, the other has none.
static void log_table_has_the_battery(void **state)
{
    (void)state;
    vy_world_def world_def = vy_default_world_def();
    vy_world *world = NULL;
    assert_int_equal(vy_world_create(&world_def, &world, NULL), VY_OK);
    vy_drone_def drone = vy_default_drone_def();
    assert_int_equal(vy_world_add_drone(world, &drone, NULL, NULL), VY_OK);
    drone.vehicle.battery = (vy_battery_def){.capacity = 900.0,
                                             .charge = 0.9,
                                             .resistance = 0.1,
                                             .nominal = 3.7,
                                             .voltage = {3.0, 3.6, 3.74, 3.9, 4.17},
                                             .efficiency = 1.0};
    assert_int_equal(vy_world_add_drone(world, &drone, NULL, NULL), VY_OK);
    vy_recorder *recorder = NULL;
    const vy_recorder_def recorder_of = recorder_def(0, 1000);
    assert_int_equal(vy_recorder_open(&recorder_of, world, &recorder, NULL), VY_OK);
    vy_world_set_sink(world, vy_recorder_sink(recorder));
    vy_world_advance(world, 500);
    assert_int_equal(vy_recorder_close(recorder, world, "completed", NULL), VY_OK);
    vy_drone_state s;
    assert_int_equal(vy_world_read_drone(world, vy_world_drone(world, 1), &s), VY_OK);

    vy_log *log = open_log(0);
    FILE *out = fopen(path[1], "w+");
    assert_non_null(out);
    const char *const fields[] = {"battery.charge", "battery.voltage", "battery.current"};
    vy_export_def def = vy_default_export_def();
    def.fields = fields;
    def.field_count = 3;
    assert_int_equal(vy_log_export(log, &def, out, NULL), VY_NOT_FOUND); // the first drone
    def.body = 1;
    rewind(out);
    assert_int_equal(vy_log_export(log, &def, out, NULL), VY_OK);
    rewind(out);
    char line[512];
    double v[4] = {0};
    assert_non_null(fgets(line, sizeof line, out));
    assert_string_equal(line, "time,battery.charge,battery.voltage,battery.current\n");
    assert_non_null(fgets(line, sizeof line, out)); // it begins with the first step
    assert_string_equal(line, "0.000000000,,,\n");
    while (fgets(line, sizeof line, out) != NULL)
        assert_int_equal(sscanf(line, "%lf,%lf,%lf,%lf", &v[0], &v[1], &v[2], &v[3]), 4);
    assert_true(v[0] == 0.5 && v[1] == s.battery_charge && v[2] == s.battery_voltage);
    assert_true(v[1] < 810.0 && v[1] > 805.0 && v[3] > 1.0);
    fclose(out);
    vy_log_close(log);
    vy_world_destroy(world);
}

// A stone at rest under a cable, a body that nothing holds: the cable's stream says m g, in the stone's table
// alone.
static void log_table_has_the_joints(void **state)
{
    (void)state;
    vy_world_def world_def = vy_default_world_def();
    vy_world *world = NULL;
    assert_int_equal(vy_world_create(&world_def, &world, NULL), VY_OK);
    vy_drone_def stone = vy_default_drone_def();
    stone.vehicle.rotor_count = 0;
    stone.vehicle.mass = 0.5;
    stone.vehicle.drag_linear = (vy_vec3){0, 0, 0};
    stone.controller.kind = VY_CONTROLLER_NONE;
    stone.rotor_speed = 0.0;
    for (int i = 0; i < 2; ++i) {
        stone.position = (vy_vec3){0, i, -2};
        assert_int_equal(vy_world_add_drone(world, &stone, NULL, NULL), VY_OK);
    }
    vy_joint_def cable = vy_default_joint_def();
    cable.kind = VY_JOINT_CABLE;
    cable.body_b = vy_world_body(world, 0);
    cable.length = 2.0;
    assert_int_equal(vy_world_add_joint(world, &cable, NULL, NULL), VY_OK);
    vy_recorder *recorder = NULL;
    static const char *const joints[] = {"rope"};
    vy_recorder_def recorder_of = recorder_def(0, 1000);
    recorder_of.joint_names = joints;
    assert_int_equal(vy_recorder_open(&recorder_of, world, &recorder, NULL), VY_OK);
    vy_world_set_sink(world, vy_recorder_sink(recorder));
    vy_world_advance(world, 500);
    assert_int_equal(vy_recorder_close(recorder, world, "completed", NULL), VY_OK);
    vy_joint_state s;
    assert_int_equal(vy_world_read_joint(world, vy_world_joint(world, 0), &s), VY_OK);
    assert_true(vy_world_joint(world, 1).bits == 0);

    vy_log *log = open_log(0);
    FILE *out = fopen(path[1], "w+");
    assert_non_null(out);
    const char *const fields[] = {"joints.rope.tension", "joints.rope.length", "joints.rope.active"};
    vy_export_def def = vy_default_export_def();
    def.fields = fields;
    def.field_count = 3;
    def.body = 1;
    assert_int_equal(vy_log_export(log, &def, out, NULL), VY_NOT_FOUND); // nothing holds that one
    def.body = 0;
    rewind(out);
    assert_int_equal(vy_log_export(log, &def, out, NULL), VY_OK);
    rewind(out);
    char line[512];
    double v[4] = {0};
    assert_non_null(fgets(line, sizeof line, out));
    assert_string_equal(line, "time,joints.rope.tension,joints.rope.length,joints.rope.active\n");
    while (fgets(line, sizeof line, out) != NULL)
        assert_int_equal(sscanf(line, "%lf,%lf,%lf,%lf", &v[0], &v[1], &v[2], &v[3]), 4);
    assert_true(v[0] == 0.5 && v[1] == s.tension && v[2] == s.length && v[3] == 1.0);
    assert_true(real_abs(s.tension - 0.5 * 9.80665) < 1e-9 && real_abs(s.length - 2.0) < 1e-12);
    fclose(out);
    vy_log_close(log);
    vy_world_destroy(world);
}

// docs/log.md is what the tables print. After a change of the tables: UPDATE_DOCS=1 writes it anew.
static void log_page_is_current(void **state)
{
    (void)state;
    FILE *out = fopen(path[1], "w");
    vy_log_print_reference(out);
    fclose(out);
    size_t size, committed;
    unsigned char *text = slurp(path[1], &size);
    if (getenv("UPDATE_DOCS") != NULL) spit("docs/log.md", text, size);
    unsigned char *page = slurp("docs/log.md", &committed);
    assert_int_equal(size, committed);
    assert_memory_equal(text, page, size);
    free(page);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(log_replays_every_scene),
        cmocka_unit_test(log_without_a_step),
        cmocka_unit_test(log_names_the_first_difference),
        cmocka_unit_test(log_compare_finds_the_moment),
        cmocka_unit_test(log_feeds_replies),
        cmocka_unit_test(log_names_a_changed_reply),
        cmocka_unit_test(log_seek_and_go_on),
        cmocka_unit_test(log_cut_anywhere),
        cmocka_unit_test(log_flipped_byte_is_found),
        cmocka_unit_test(log_of_a_failure),
        cmocka_unit_test(log_abandoned_keeps_the_old),
        cmocka_unit_test(log_table_has_the_values),
        cmocka_unit_test(log_has_the_decisions),
        cmocka_unit_test(log_table_has_the_loads),
        cmocka_unit_test(log_table_has_the_battery),
        cmocka_unit_test(log_table_has_the_joints),
        cmocka_unit_test(log_page_is_current),
    };
    return cmocka_run_group_tests(tests, make_paths, remove_paths);
}
