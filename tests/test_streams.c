// test_streams.c - what the streams and replies of a log hold, and what tables make of them.
#include "check.h"
#include "record/streams.h"
#include "volery/record.h"
#include "volery/scenario.h"
#include <stdlib.h>
#include <unistd.h>

static char path[64];

static int make_path(void **state)
{
    (void)state;
    snprintf(path, sizeof path, "/tmp/volery-test-streams-%ld.mcap", (long)getpid());
    return 0;
}

static int remove_path(void **state)
{
    (void)state;
    remove(path);
    return 0;
}

// Fly `world` for `ticks` into the log.
static void record(vy_world *world, uint64_t ticks)
{
    static const char *const names[] = {"alpha", "stone", "box"};
    vy_recorder *recorder = NULL;
    vy_recorder_def def = vy_default_recorder_def();
    def.path = path;
    def.scenario = "volery: 1\n";
    def.names = names;
    def.snapshot = 100;
    assert_int_equal(vy_recorder_open(&def, world, &recorder, NULL), VY_OK);
    vy_world_set_sink(world, vy_recorder_sink(recorder));
    assert_int_equal(vy_world_advance(world, ticks) & (VY_EVENT_SINK | VY_EVENT_FAILED), 0);
    assert_int_equal(vy_recorder_close(recorder, world, "completed", NULL), VY_OK);
    vy_world_destroy(world);
}

static vy_log *open_log(void)
{
    vy_log *log = NULL;
    assert_int_equal(vy_log_open(path, &log, NULL), VY_OK);
    return log;
}

// A controller that shows what it computes, finite or not.
static void show(void *self, const vy_samples *samples, vy_intent *intent)
{
    const int *shows = self;
    intent->rung = VY_RUNG_RATES;
    intent->thrust = 0.28;
    intent->rates.x = -samples->imu.gyro.x;
    if (!*shows) return;
    intent->debug[0] = samples->imu.gyro.x;
    intent->debug[3] = (double)samples->tick;
    intent->debug[6] = -(double)INFINITY;
    intent->debug[7] = 0.0 / (samples->time - samples->time);
}

// Such numbers are in the log and in tables, and change nothing else.
static void streams_show_a_controllers_own_numbers(void **unused)
{
    (void)unused;
    uint64_t hashes[2];
    for (int shows = 0; shows < 2; ++shows) {
        vy_world *world = NULL;
        const vy_world_def world_def = vy_default_world_def();
        assert_int_equal(vy_world_create(&world_def, &world, NULL), VY_OK);
        vy_drone_def drone = vy_default_drone_def();
        drone.controller.kind = VY_CONTROLLER_CALLBACK;
        drone.controller.call = show;
        drone.controller.self = &shows;
        assert_int_equal(vy_world_add_drone(world, &drone, NULL, NULL), VY_OK);
        record(world, 500);
        vy_log *log = open_log();
        hashes[shows] = vy_log_get_info(log).final_hash;
        vy_log_close(log);
    }
    assert_true(hashes[0] == hashes[1]);
    vy_log *log = open_log();
    const char *const fields[] = {"reply.debug"};
    vy_export_def def = vy_default_export_def();
    def.fields = fields;
    def.field_count = 1;
    FILE *out = tmpfile();
    assert_int_equal(vy_log_export(log, &def, out, NULL), VY_OK);
    rewind(out);
    char line[512], last[512] = "";
    assert_non_null(fgets(line, sizeof line, out));
    assert_non_null(strstr(line, "reply.debug[0],reply.debug[1],"));
    while (fgets(line, sizeof line, out) != NULL) memcpy(last, line, sizeof last);
    double v[4];
    char rest[64];
    assert_int_equal(sscanf(last, "0.500000000,%lf,%lf,%lf,%lf,%63s", &v[0], &v[1], &v[2], &v[3], rest), 5);
    assert_true(v[0] != 0.0 && v[1] == 0.0 && v[3] == 500.0);
    assert_string_equal(rest, "0,0,-inf,");
    fclose(out);
    vy_log_close(log);
}

// The first row of fields of a log's only drone.
static void read_first(const char *const *fields, int field_count, double *out, int count)
{
    vy_log *log = open_log();
    vy_export_def def = vy_default_export_def();
    def.fields = fields;
    def.field_count = field_count;
    FILE *file = tmpfile();
    assert_int_equal(vy_log_export(log, &def, file, NULL), VY_OK);
    rewind(file);
    char line[1024];
    assert_non_null(fgets(line, sizeof line, file));
    assert_non_null(fgets(line, sizeof line, file));
    char *at = strchr(line, ',');
    for (int i = 0; i < count; ++i) {
        assert_true(at != NULL && *at == ',');
        out[i] = strtod(at + 1, &at);
    }
    fclose(file);
    vy_log_close(log);
}

// The air of the 1976 standard at 1000 m (its table I) and at 11 km, and the flow in the axes of a drone that
// is turned and tilted; where all air is the same and at rest there is nothing to tell.
static void streams_tell_of_the_air(void **unused)
{
    (void)unused;
    static const struct {
        double altitude, temperature, pressure, density;
    } table[] = {{1000.0, 281.651, 8.9876e4, 1.1117}, {11000.0, 216.774, 2.2700e4, 3.6480e-1}};
    for (int k = 0; k < 3; ++k) {
        vy_world_def world_def = vy_default_world_def();
        vy_drone_def drone = vy_default_drone_def();
        if (k < 2) {
            world_def.environment.atmosphere.mode = VY_ATMOSPHERE_LAYERED;
            world_def.environment.wind.constant = (vy_vec3){3.0, -5.0, 1.0};
            drone.position = (vy_vec3){10.0, 20.0, table[k].altitude};
        }
        drone.velocity = (vy_vec3){23.0, 7.0, 2.0};
        drone.attitude = (vy_quat){0.5, 0.5, 0.5, 0.5}; // body x, y, z are world y, z, x
        drone.controller.kind = VY_CONTROLLER_NONE;
        vy_world *world = NULL;
        assert_int_equal(vy_world_create(&world_def, &world, NULL), VY_OK);
        assert_int_equal(vy_world_add_drone(world, &drone, NULL, NULL), VY_OK);
        record(world, 10);
        if (k == 2) {
            vy_log *log = open_log();
            vy_export_def def = vy_default_export_def();
            const char *const field = "air.speed";
            def.fields = &field;
            def.field_count = 1;
            assert_int_equal(vy_log_export(log, &def, stderr, NULL), VY_NOT_FOUND);
            vy_log_close(log);
            continue;
        }
        const char *const fields[] = {"air.density", "air.pressure", "air.temperature",      "air.wind",
                                      "air.flow",    "air.speed",    "air.dynamic_pressure", "air.mach"};
        double v[12];
        read_first(fields, 8, v, 12);
        assert_true(real_abs(v[0] / table[k].density - 1.0) < 1e-4);
        assert_true(real_abs(v[1] / table[k].pressure - 1.0) < 1e-4);
        assert_true(real_abs(v[2] - table[k].temperature) < 1e-3);
        const double expected[6] = {3.0,  -5.0, 1.0,
                                    12.0, 1.0,  20.0}; // the wind, then (20, 12, 1) in body axes
        for (int i = 0; i < 6; ++i) assert_true(real_abs(v[3 + i] - expected[i]) < 1e-12);
        const double speed = real_sqrt(20.0 * 20.0 + 12.0 * 12.0 + 1.0);
        assert_true(real_abs(v[9] - speed) < 1e-12);
        assert_true(real_abs(v[10] - 0.5 * v[0] * speed * speed) < 1e-9);
        assert_true(real_abs(v[11] - speed / real_sqrt(1.4 * 287.053 * v[2])) < 1e-6);
    }
}

// --- acceleration

enum { ROWS = 64 };

static vy_world *build(const char *text)
{
    vy_scenario *scenario = NULL;
    vy_world *world = NULL;
    vy_diagnostics told = {0};
    if (vy_scenario_parse(text, strlen(text), "test", NULL, &scenario, &told) != VY_OK) {
        char *why = vy_diagnostics_print(&told);
        print_error("%s\n", why);
        free(why);
        fail();
    }
    assert_int_equal(vy_scenario_build(scenario, &world, NULL), VY_OK);
    vy_diagnostics_destroy(&told);
    vy_scenario_destroy(scenario);
    return world;
}

// The last rows of a drone or body, `count` values each: how many there are.
static int read_last(uint32_t body, const char *const *fields, int field_count, double (*out)[16], int count)
{
    vy_log *log = open_log();
    vy_export_def def = vy_default_export_def();
    def.body = body;
    def.fields = fields;
    def.field_count = field_count;
    FILE *file = tmpfile();
    assert_int_equal(vy_log_export(log, &def, file, NULL), VY_OK);
    rewind(file);
    char line[1024];
    assert_non_null(fgets(line, sizeof line, file));
    int rows = 0;
    for (; fgets(line, sizeof line, file) != NULL; ++rows) {
        if (rows == ROWS) memmove(out, out + 1, (size_t)(--rows) * sizeof *out);
        char *at = strchr(line, ',');
        for (int i = 0; i < count; ++i) {
            const char *cell = at + 1;
            out[rows][i] = strtod(cell, &at);
            if (at == cell) out[rows][i] = (double)NAN; // empty: not known yet
        }
    }
    fclose(file);
    vy_log_close(log);
    return rows;
}

// What an accelerometer without error feels is R^T (a - g): of a drone that tumbles under thrust, record by
// record, with the attitude halfway. Summed up it is the velocity. At the first record there is none.
static void acceleration_is_what_an_imu_feels(void **unused)
{
    (void)unused;
    record(build("volery: 1\n"
                 "drones:\n"
                 "  - name: alpha\n"
                 "    vehicle: x500\n"
                 "    start: {position: [0, 0, 50], velocity: [4, -3, 1], attitude: [0.8, 0.36, -0.48, 0], "
                 "rate: [2, -1, 3]}\n"
                 "    sensors: {imu: {period: 10 ms, accel_noise: 0, accel_bias: 0, accel_drift: 0}}\n"
                 "    controller: {kind: none, intent: {rung: motors, motors: [0.7, 0.5, 0.6, 0.6]}}\n"),
           500);
    const char *const fields[] = {"body.acceleration", "imu.accel", "body.attitude", "body.velocity"};
    double v[ROWS][16];
    const int rows = read_last(0, fields, 4, v, 13);
    assert_int_equal(rows, 51);
    assert_true(v[0][0] != v[0][0]);
    vec3 sum = vec3_make(v[0][10], v[0][11], v[0][12]);
    double largest = 0.0;
    for (int k = 1; k < rows; ++k) {
        const double *now = v[k], *before = v[k - 1];
        const vec3 a = vec3_make(now[0], now[1], now[2]);
        const quat halfway = quat_normalize(
            (quat){before[6] + now[6], before[7] + now[7], before[8] + now[8], before[9] + now[9]});
        const vec3 felt = quat_unrotate(halfway, vec3_sub(a, vec3_make(0.0, 0.0, -9.80665)));
        const vec3 gap = vec3_sub(felt, vec3_make(now[3], now[4], now[5]));
        assert_true(vec3_length(gap) < 1e-9);
        sum = vec3_add_scaled(sum, 0.01, a);
        largest = real_max(largest, real_abs(felt.z));
    }
    assert_true(largest > 5.0); // there is thrust
    assert_true(vec3_length(vec3_sub(sum, vec3_make(v[50][10], v[50][11], v[50][12]))) < 1e-9);
}

// A stone that tumbles in vacuum falls with g; a drone that hovers and a box on the ground have none.
static void acceleration_of_fall_and_rest(void **unused)
{
    (void)unused;
    record(build("volery: 1\n"
                 "terrain: {kind: plane}\n"
                 "drones:\n"
                 "  - name: alpha\n"
                 "    start: {position: [5, 0, 1]}\n"
                 "    sensors:\n"
                 "      imu: {accel_noise: 0, gyro_noise: 0, accel_bias: 0, gyro_bias: 0, accel_drift: 0, "
                 "gyro_drift: 0}\n"
                 "      mocap: {position_noise: 0, attitude_noise: 0}\n"
                 "bodies:\n"
                 "  - {name: stone, mass: 2, inertia: [1e-2, 2e-2, 2e-2], position: [9, 0, 1000],\n"
                 "     attitude: [0.8, 0.36, -0.48, 0], rate: [1, 2, 3]}\n"
                 "  - {name: box, mass: 2, inertia: [1e-2, 1e-2, 1e-2], position: [0, 0, 0.1],\n"
                 "     shape: {kind: box, size: [0.2, 0.2, 0.2]}}\n"),
           8000);
    static const double z[] = {0.0, -9.80665, 0.0}, within[] = {1e-3, 1e-9, 1e-6};
    for (uint32_t body = 0; body < 3; ++body) {
        const char *const field = "body.acceleration";
        double v[ROWS][16];
        const int rows = read_last(body, &field, 1, v, 3);
        assert_int_equal(rows, ROWS);
        for (int k = 0; k < rows; ++k)
            assert_true(vec3_length(vec3_make(v[k][0], v[k][1], v[k][2] - z[body])) < within[body]);
    }
}

// Every field of a reply comes back from its cells to the bit, and a change of any value changes the check.
// What is not a number has one pattern, so that two machines log the same.
static void replies_keep_every_field(void **unused)
{
    (void)unused;
    int count;
    const vy_reply_field *fields = vy_reply_fields(&count);
    vy_intent from;
    memset(&from, 0, sizeof from);
    const uint64_t silent = vy_reply_pack(7, 1, &from).check;
    for (int i = 0; i < count; ++i) {
        for (int k = 0; k < fields[i].count; ++k) {
            char *at = (char *)&from + fields[i].offset + 8 * (size_t)k;
            memset(&from, 0, sizeof from);
            const int32_t choice = -5;
            const double value = -1.0 / 3.0 - k;
            memcpy(at, fields[i].type == VY_REPLY_CHOICE ? (const void *)&choice : (const void *)&value,
                   fields[i].type == VY_REPLY_CHOICE ? sizeof choice : sizeof value);
            const reply_cells cells = vy_reply_pack(7, 1, &from);
            const vy_intent to = vy_reply_unpack(&cells);
            assert_memory_equal(&from, &to, sizeof from);
            assert_true(cells.check != silent && cells.check == vy_reply_checksum(&cells));
            if (fields[i].type == VY_REPLY_CHOICE || vy_reply_is_whole(fields[i].type)) continue;
            const uint64_t patterns[2] = {0xfff8000000000000u, 0x7ff8000000000123u};
            memcpy(at, &patterns[0], 8);
            const reply_cells minus = vy_reply_pack(7, 1, &from);
            memcpy(at, &patterns[1], 8);
            const reply_cells other = vy_reply_pack(7, 1, &from);
            assert_memory_equal(&minus, &other, sizeof minus);
        }
    }
}

// Axes are named by letters, a list by numbers, however many it has: the four deviations of the account and
// the three limits of a supervisor are no quaternion and no vector.
static void components_are_named_by_type(void **unused)
{
    (void)unused;
    static const struct {
        enum block_kind block;
        const char *field, *first, *last;
    } known[] = {
        {BLOCK_drone, "body.position", ".x", ".z"},       {BLOCK_drone, "body.attitude", ".w", ".z"},
        {BLOCK_drone, "rotor_speed", "[0]", "[7]"},       {BLOCK_drone, "imu_tick", "", ""},
        {BLOCK_nap_account, "deviation", "[0]", "[3]"},   {BLOCK_supervisor, "exceeded", "[0]", "[2]"},
        {BLOCK_drone, "turbulence.across", "[0]", "[1]"}, {BLOCK_airspeed, "pressure", "", ""},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; ++i) {
        char first[12], last[12];
        const vy_field *f = vy_find_field(known[i].block, known[i].field);
        assert_non_null(f);
        vy_component_name(vy_components_of(f), 0, first);
        vy_component_name(vy_components_of(f), f->count - 1, last);
        assert_string_equal(first, known[i].first);
        assert_string_equal(last, known[i].last);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_tell_of_the_air),
        cmocka_unit_test(streams_show_a_controllers_own_numbers),
        cmocka_unit_test(acceleration_is_what_an_imu_feels),
        cmocka_unit_test(acceleration_of_fall_and_rest),
        cmocka_unit_test(replies_keep_every_field),
        cmocka_unit_test(components_are_named_by_type),
    };
    return cmocka_run_group_tests(tests, make_path, remove_path);
}
