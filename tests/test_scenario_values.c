// test_scenario_values.c - scenarios: print, hash, generated files, worlds, expectations.
#define _POSIX_C_SOURCE 200809L // opendir
#include "scenario/schema_rows.h"
#include "scenario/text.h"
#include "scenario_text.h"
#include <dirent.h>
#include <locale.h>

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    vy_text text = {0};
    char block[4096];
    for (size_t n; (n = fread(block, 1, sizeof block, file)) > 0;) vy_text_add(&text, block, n);
    fclose(file);
    return vy_text_take(&text);
}

// --- files that belong together

static void for_each_file(const char *folder, void (*visit)(const char *path, const char *name))
{
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    int count = 0;
    for (const struct dirent *e; (e = readdir(dir)) != NULL;) {
        const char *dot = strrchr(e->d_name, '.');
        if (dot == NULL || strcmp(dot, ".yaml") != 0) continue;
        char path[300], name[300];
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        snprintf(name, sizeof name, "%.*s", (int)(dot - e->d_name), e->d_name);
        visit(path, name);
        ++count;
    }
    closedir(dir);
    assert_true(count >= 2);
}

static void fly_shipped(const char *path, const char *name)
{
    (void)name;
    vy_scenario *s;
    vy_diagnostics told;
    assert_int_equal(vy_scenario_load(path, NULL, &s, &told), VY_OK);
    assert_int_equal(told.count, 0);
    vy_diagnostics_destroy(&told);
    assert_true(s->expect_count > 0);
    vy_world *world;
    assert_int_equal(vy_scenario_build(s, &world, NULL), VY_OK);
    vy_expect_result results[16];
    assert_true(s->expect_count <= 16);
    vy_expect_begin(s, results);
    for (uint64_t i = 0; i < vy_scenario_steps(s); ++i) {
        assert_false(vy_world_step(world) & VY_EVENT_FAILED);
        vy_expect_feed(s, world, results);
    }
    for (int i = 0; i < s->expect_count; ++i) {
        char *sentence = vy_expect_print(s, i, &results[i]);
        if (!results[i].met) print_error("%s: %s\n", path, sentence);
        assert_true(results[i].met);
        free(sentence);
    }
    vy_world_destroy(world);
    vy_scenario_destroy(s);
}

static void shipped_scenarios_fly_as_they_expect(void **unused)
{
    (void)unused;
    for_each_file("scenarios", fly_shipped);
}

// The built-in vehicle of a name is the file of that name, to the bit.
static void compare_vehicle(const char *path, const char *name)
{
    char text[400], *printed[2];
    for (int i = 0; i < 2; ++i) {
        const vy_scenario_options options = {.load = i == 0 ? vy_load_file : NULL};
        snprintf(text, sizeof text, "volery: 1\ndrones: [{vehicle: %s, controller: {kind: none}}]\n",
                 i == 0 ? path : name);
        char *said;
        vy_scenario *s = read_with(text, &options, &said);
        assert_string_equal(said, "");
        assert_string_equal(s->drones[0].def.vehicle.name, name);
        printed[i] = vy_scenario_print(s);
        free(said);
        vy_scenario_destroy(s);
    }
    assert_string_equal(printed[0], printed[1]); // else: tools/generate.c makes src/vehicle/presets.inl
    free(printed[0]);
    free(printed[1]);
}

// What YAML calls true and false are on and off, yes and no.
static void truth_has_two_spellings(void **unused)
{
    (void)unused;
    static const char *const texts[] = {
        "volery: 1\ndrones: [{sensors: {truth: on}, crash: {speed: 2, ends: yes}}]\nlog: {energy: off}\n",
        "volery: 1\ndrones: [{sensors: {truth: true}, crash: {speed: 2, ends: true}}]\nlog: {energy: "
        "false}\n"};
    char *printed[2];
    for (int i = 0; i < 2; ++i) {
        char *said;
        vy_scenario *s = read_with(texts[i], NULL, &said);
        assert_string_equal(said, "");
        printed[i] = vy_scenario_print(s);
        free(said);
        vy_scenario_destroy(s);
    }
    assert_string_equal(printed[0], printed[1]);
    assert_non_null(strstr(printed[1], "truth: on"));
    free(printed[0]);
    free(printed[1]);
}

static void built_in_vehicles_are_current(void **unused)
{
    (void)unused;
    for_each_file("vehicles", compare_vehicle);
}

static void pages_are_current(void **unused)
{
    (void)unused;
    char *const made[2] = {vy_scenario_print_reference(), vy_scenario_print_schema()};
    static const char *const paths[2] = {"docs/scenario.md", "docs/scenario.schema.json"};
    for (int i = 0; i < 2; ++i) {
        char *kept = read_file(paths[i]);
        if (strcmp(kept, made[i]) != 0)
            print_error("%s is not current: tools/generate.c makes it\n", paths[i]);
        assert_string_equal(kept, made[i]);
        free(kept);
        free(made[i]);
    }
}

// --- printing and hash: walks over the table

// Calls `visit` with each number, choice, text... of an object; `label` for values that cannot change a bit.
typedef void visit_fn(void *self, const vy_schema_table *table, const vy_schema_row *row, char *field,
                      int label);

// An option that is not used is not in the hash.
static int is_off(const vy_schema_row *row, const char *object)
{
    double first;
    if (!(row->flags & VY_ROW_HASHED_IF_SET) || row->type != VY_TYPE_OBJECT) return 0;
    memcpy(&first, object + row->offset + row->table->rows[0].offset, sizeof first);
    return first == 0.0;
}

static void walk(const vy_schema_table *table, char *object, int label, visit_fn *visit, void *self)
{
    for (int i = 0; i < table->row_count; ++i) {
        const vy_schema_row *row = &table->rows[i];
        if (!vy_row_applies(table, row, object) || is_off(row, object)) continue;
        const int inner = label || (row->flags & VY_ROW_UNHASHED) != 0;
        if (row->type == VY_TYPE_OBJECT) {
            walk(row->table, object + row->offset, inner, visit, self);
        } else if (row->type == VY_TYPE_LIST) {
            int count;
            const void *elements = vy_list_elements(row, object, &count);
            char *at;
            memcpy(&at, &elements, sizeof at);
            for (int k = 0; k < count; ++k)
                walk(row->table, at + (size_t)k * row->table->size, inner, visit, self);
        } else {
            visit(self, table, row, object + row->offset, inner);
        }
    }
}

typedef struct hash_check {
    vy_scenario *scenario;
    uint64_t hash;
    int changed, labels;
} hash_check;

static void check_bit(hash_check *c, const vy_schema_row *row, char *byte, int label)
{
    *byte = (char)(*byte ^ 1);
    const uint64_t hash = vy_scenario_hash(c->scenario);
    *byte = (char)(*byte ^ 1);
    if ((hash == c->hash) != (label != 0)) print_error("%s\n", row->key);
    assert_int_equal(hash == c->hash, label != 0);
    ++*(label ? &c->labels : &c->changed);
}

// The last bit of each number in the row is turned, and the hash looked at.
static void change_value(void *self, const vy_schema_table *table, const vy_schema_row *row, char *field,
                         int label)
{
    hash_check *c = self;
    size_t count = 1, size = 8;
    if (row->when == 0 && row == &table->rows[0] && row->type == VY_TYPE_CHOICE)
        return; // other keys would apply
    if (row->type == VY_TYPE_VECTOR) count = row->size;
    if (row->type == VY_TYPE_ROTATION) count = 4;
    if (row->type == VY_TYPE_INERTIA) count = 9;
    if (row->type == VY_TYPE_TEXT) size = 1;
    if (row->type == VY_TYPE_TABLE) {
        vy_numbers n;
        memcpy(&n, field, sizeof n);
        for (int i = 0; i < n.rows * n.columns; ++i) check_bit(c, row, (char *)&n.values[i], label);
        count = 0;
    }
    if (row->type == VY_TYPE_NAMED) { // names, and then values
        int names;
        memcpy(&names, field - row->offset + row->count_offset, sizeof names);
        count = (size_t)names;
        size = sizeof(vy_parameter);
        for (size_t i = 0; i < count; ++i)
            check_bit(c, row, field + i * size + offsetof(vy_parameter, value), label);
    }
    if (row->type == VY_TYPE_CHOICE || row->type == VY_TYPE_COUNT || row->type == VY_TYPE_DRONE) size = 4;
    for (size_t i = 0; i < count; ++i) check_bit(c, row, field + i * size, label);
}

static void hash_covers_every_value_that_matters(void **unused)
{
    (void)unused;
    vy_scenario *s = read_good(everything());
    hash_check c = {.scenario = s, .hash = vy_scenario_hash(s)};
    walk(&vy_scenario_table, (char *)s, 0, change_value, &c);
    assert_true(c.changed > 400 && c.labels > 20);
    // Kinds decide which keys apply, and counts how many elements there are.
    int *const words[] = {(int *)&s->drones[0].def.controller.kind,
                          (int *)&s->drones[0].def.controller.start.rung,
                          (int *)&s->disturbances[0].def.kind,
                          &s->drone_count,
                          &s->disturbance_count,
                          &s->drones[0].def.controller.setpoint_count,
                          &s->drones[0].def.vehicle.rotor_count};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; ++i) {
        const int kept = *words[i];
        *words[i] = kept > 0 ? kept - 1 : 2;
        assert_int_not_equal(vy_scenario_hash(s), c.hash);
        *words[i] = kept;
    }
    assert_true(vy_scenario_hash(s) == c.hash);
    // An option that is off is not in the hash, whatever its other numbers are.
    s->contacts.def.time_to_sleep = 0.0;
    const uint64_t off = vy_scenario_hash(s);
    s->contacts.def.sleep_speed *= 2.0;
    assert_true(vy_scenario_hash(s) == off && off != c.hash);
    vy_scenario_destroy(s);
    s = read_good("volery: 1\nworld: {planet: {origin: {latitude: 45 deg}}}\ndrones: [{name: a}]\n");
    c = (hash_check){.scenario = s, .hash = vy_scenario_hash(s)};
    walk(&vy_scenario_table, (char *)s, 0, change_value, &c);
    vy_scenario_destroy(s);
}

typedef struct cover {
    const char *begin;
    unsigned char seen[sizeof(vy_scenario_drone)];
} cover;

static void mark(cover *c, const void *at, size_t size)
{
    memset(c->seen + ((const char *)at - c->begin), 1, size);
}

static void mark_value(void *self, const vy_schema_table *table, const vy_schema_row *row, char *field,
                       int label)
{
    (void)table;
    (void)label;
    size_t size = sizeof(int);
    if (row->type == VY_TYPE_NUMBER || row->type == VY_TYPE_INTEGER) size = 8;
    if (row->type == VY_TYPE_VECTOR) size = 8 * row->size;
    if (row->type == VY_TYPE_ROTATION) size = sizeof(vy_quat);
    if (row->type == VY_TYPE_INERTIA) size = sizeof(vy_mat3);
    if (row->type == VY_TYPE_TEXT) size = row->size;
    if (row->type == VY_TYPE_NAMED) size = row->size * sizeof(vy_parameter);
    if (row->type == VY_TYPE_TABLE) size = sizeof(vy_numbers);
    mark(self, field, size);
}

// No field of a drone is without a row: a new one must get a key (or be listed here).
static void every_field_of_a_drone_has_a_key(void **unused)
{
    (void)unused;
    static vy_scenario_drone drone;
    static cover c;
    vy_vehicle_def *v = &drone.def.vehicle;
    vy_controller_def *k = &drone.def.controller;
    drone.def = vy_default_drone_def();
    v->rotor_count = v->thruster_count = VY_ROTOR_CAP;
    v->collision_point_count = VY_COLLISION_POINT_CAP;
    k->setpoint_count = VY_SETPOINT_CAP;
    c.begin = (const char *)&drone;
    const vy_schema_row *drones = vy_table_find(&vy_scenario_table, "drones");
    for (int rung = VY_RUNG_NONE; rung <= VY_RUNG_PILOT; ++rung) {
        k->start.rung = (vy_rung)rung;
        walk(drones->table, (char *)&drone, 0, mark_value, &c);
    }
    for (int kind = VY_CONTROLLER_NONE; kind <= VY_CONTROLLER_BETAFLIGHT; ++kind) {
        k->kind = (vy_controller_kind)kind;
        walk(drones->table, (char *)&drone, 0, mark_value, &c);
    }
    k->path.waypoint_count = VY_WAYPOINT_CAP;
    for (int kind = VY_PATH_SETPOINTS; kind <= VY_PATH_MINIMUM_SNAP; ++kind) {
        k->path.kind = (vy_path_kind)kind;
        walk(drones->table, (char *)&drone, 0, mark_value, &c);
    }
    for (int kind = VY_COLLIDER_AUTO; kind <= VY_COLLIDER_HULL; ++kind) {
        drone.def.solid.kind = (vy_collider_kind)kind;
        walk(drones->table, (char *)&drone, 0, mark_value, &c);
    }
    drone.mission_count = VY_SETPOINT_CAP;
    walk(drones->table, (char *)&drone, 0, mark_value, &c);
    mark(&c, &drone.mission_count, sizeof drone.mission_count);
    mark(&c, &drone.def.solid.heights, sizeof drone.def.solid.heights); // of obstacles
    mark(&c, &drone.def.solid.spacing, sizeof drone.def.solid.spacing);
    mark(&c, &k->from_log, sizeof *k - offsetof(vy_controller_def, from_log)); // by who reads it
    vy_fence_def *fence = &drone.def.safety.fence;
    fence->corner_count = VY_FENCE_CORNER_CAP;
    for (int kind = VY_FENCE_NONE; kind <= VY_FENCE_POLYGON; ++kind) {
        fence->kind = (vy_fence_kind)kind;
        walk(drones->table, (char *)&drone, 0, mark_value, &c);
    }
    for (int kind = VY_ESTIMATOR_FADING; kind <= VY_ESTIMATOR_COMPLEMENTARY; ++kind) {
        drone.def.estimator.kind = (vy_estimator_kind)kind;
        walk(drones->table, (char *)&drone, 0, mark_value, &c);
    }
    mark(&c, &fence->corner_count, sizeof fence->corner_count);
    mark(&c, &k->path.waypoint_count, sizeof k->path.waypoint_count);
    mark(&c, &k->start.verdict, sizeof k->start.verdict); // of replies only
    mark(&c, k->start.debug, sizeof k->start.debug);
    mark(&c, &k->start.detail, sizeof k->start.detail);
    mark(&c, &k->start.drop, sizeof k->start.drop);
    mark(&c, &k->start.status, sizeof k->start.status);
    mark(&c, &k->rc_count, sizeof k->rc_count);
    mark(&c, &k->rc, sizeof k->rc);
    mark(&c, &k->firmware.script_count, sizeof k->firmware.script_count);
    mark(&c, &k->firmware.script, sizeof k->firmware.script);
    mark(&c, &k->instance, sizeof k->instance); // by who builds the world
    mark(&c, &k->parameter_count, sizeof k->parameter_count);
    mark(&c, &drone.def.cookie, sizeof drone.def.cookie);
    mark(&c, &v->cookie, sizeof v->cookie);
    mark(&c, &v->rotor_count, sizeof v->rotor_count);
    mark(&c, &v->thruster_count, sizeof v->thruster_count);
    mark(&c, &v->collision_point_count, sizeof v->collision_point_count);
    mark(&c, &k->setpoint_count, sizeof k->setpoint_count);
    mark(&c, &k->call, sizeof k->call);
    mark(&c, &k->self, sizeof k->self);
    size_t unseen = 0;
    for (size_t i = 0; i < sizeof c.seen; ++i) unseen += c.seen[i] == 0;
    // Padding: 4 bytes after each of 8 spins and after cookies, counts and choices that stand before a
    // double; of a mission its count, and in each point.
    assert_int_equal(unseen, 8 * 4 + 26 * 4 + (1 + VY_SETPOINT_CAP) * 4);
}

typedef struct shaker {
    random_source random;
} shaker;

// A random value that the row's range and the other values allow.
static void shake_value(void *self, const vy_schema_table *table, const vy_schema_row *row, char *field,
                        int label)
{
    (void)label;
    random_source *r = &((shaker *)self)->random;
    const int fixed =
        (row->flags & VY_ROW_PERIOD) || strcmp(row->key, "step") == 0 || strcmp(row->key, "time") == 0 ||
        strcmp(row->key, "after") == 0 || strcmp(row->key, "spin") == 0 || strcmp(row->key, "min") == 0 ||
        strcmp(row->key, "max") == 0 || strcmp(row->key, "rotor") == 0 || strcmp(row->key, "at") == 0 ||
        strcmp(row->key, "every") == 0 || (table == &vy_fault_table && strcmp(row->key, "duration") == 0) ||
        strcmp(row->key, "latitude") == 0 || strcmp(row->key, "longitude") == 0 ||
        strcmp(row->key, "altitude") == 0 || strstr(row->key, "_ned") != NULL || // resolved: no such start
        strcmp(row->key, "axis") == 0 || strcmp(row->key, "thrust_linear") == 0 ||
        strcmp(row->key, "thrust_cubic") == 0 || // not every value makes a vehicle
        strcmp(row->key, "flight") == 0 ||       // not every engine and controller allows it
        strcmp(row->key, "channel") == 0 ||      // not every drone has the sensor
        strcmp(row->key, "trigger") == 0 ||      // it needs contacts
        strcmp(table->title, "Budget") == 0 ||   // its values ask for one another
        (strcmp(row->key, "target") == 0 && row->type == VY_TYPE_NUMBER); // of an overshoot only
    double values[16];
    size_t count = row->type == VY_TYPE_VECTOR ? row->size : row->type == VY_TYPE_ROTATION ? 4 : 1;
    if (row->type == VY_TYPE_INTEGER) {
        const uint64_t random = random_bits(r);
        memcpy(field, &random, sizeof random);
    } else if (row->type == VY_TYPE_CHOICE && row != &table->rows[0] && !fixed) {
        memcpy(field, &row->choices[random_bits(r) % (unsigned)row->choice_count].value, sizeof(int));
    } else if (row->type == VY_TYPE_INERTIA) {
        memcpy(values, field, 9 * sizeof values[0]);
        const double scale = random_in(r, 0.5, 2.0);
        for (int i = 0; i < 9; ++i) values[i] *= scale;
        memcpy(field, values, 9 * sizeof values[0]);
    } else if ((row->type == VY_TYPE_NUMBER || row->type == VY_TYPE_VECTOR ||
                row->type == VY_TYPE_ROTATION) &&
               !fixed) {
        memcpy(values, field, count * sizeof values[0]);
        for (size_t i = 0; i < count; ++i) {
            if (row->keyword != NULL && random_bits(r) % 4 == 0 && row->keyword_value != VY_HOVER_SPEED)
                values[i] = row->keyword_value;
            else if (!isfinite(values[i]) || fabs(values[i]) > 1e300)
                continue;
            else if (values[i] != 0.0)
                values[i] *= random_in(r, 0.9, 1.0); // down: below what is a maximum
            else if (row->range.min < 0.0) {
                const double share = random_in(r, -1.0, 1.0);
                values[i] = share * pow(10.0, random_in(r, -12, 2));
            }
        }
        memcpy(field, values, count * sizeof values[0]);
    }
}

// Whatever a scenario holds, its print reads back as the same scenario, without any file.
static void print_reads_back_the_same(void **unused)
{
    (void)unused;
    for (uint64_t seed = 0; seed < 300; ++seed) {
        vy_scenario *s = read_good(everything());
        shaker shake = {{seed}};
        if (seed > 0) walk(&vy_scenario_table, (char *)s, 0, shake_value, &shake);
        char *printed = vy_scenario_print(s);
        char *said;
        vy_scenario *again = read_with(printed, NULL, &said); // some drones start in the ground
        assert_non_null(again);
        assert_null(strstr(said, "radians"));
        free(said);
        char *printed_again = vy_scenario_print(again);
        assert_string_equal(printed, printed_again);
        assert_true(vy_scenario_hash(s) == vy_scenario_hash(again));
        assert_memory_equal(&s->drones[1].def.controller.gains, &again->drones[1].def.controller.gains,
                            sizeof(vy_gains));
        free(printed);
        free(printed_again);
        vy_scenario_destroy(s);
        vy_scenario_destroy(again);
    }
}

static void a_host_locale_changes_nothing(void **unused)
{
    (void)unused;
    vy_scenario *s = read_good(everything());
    char *printed = vy_scenario_print(s);
    static const char *const locales[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE", "fr_FR"};
    size_t i = 0;
    while (i < 4 && setlocale(LC_ALL, locales[i]) == NULL) ++i;
    if (i < 4) {
        char *local = vy_scenario_print(s);
        vy_scenario *again = read_good(local);
        assert_string_equal(local, printed);
        assert_true(vy_scenario_hash(again) == vy_scenario_hash(s));
        setlocale(LC_ALL, "C");
        vy_scenario_destroy(again);
        free(local);
    }
    free(printed);
    vy_scenario_destroy(s);
    if (i == 4) skip();
}

// --- worlds and expectations

static void worlds_built_from_a_print_fly_the_same(void **unused)
{
    (void)unused;
    vy_scenario *s;
    assert_int_equal(vy_scenario_load("scenarios/swarm.yaml", NULL, &s, NULL), VY_OK);
    char *printed = vy_scenario_print(s);
    vy_scenario *again = read_good(printed);
    vy_world *a, *b;
    assert_int_equal(vy_scenario_build(s, &a, NULL), VY_OK);
    assert_int_equal(vy_scenario_build(again, &b, NULL), VY_OK);
    assert_int_equal(vy_world_drone_count(a), s->drone_count);
    vy_world_advance(a, 4000);
    vy_world_advance(b, 4000);
    assert_true(vy_world_hash(a) == vy_world_hash(b));
    vy_world_destroy(a);
    vy_world_destroy(b);
    free(printed);
    vy_scenario_destroy(s);
    vy_scenario_destroy(again);
}

// A body that falls without air: height and speed have closed forms.
static void expectations_are_judged_by_free_fall(void **unused)
{
    (void)unused;
    vy_scenario *s = read_good(
        "volery: 1\nduration: 1\nworld: {gravity: {uniform: [0, 0, -10]}}\n"
        "drones:\n"
        "  - {name: a, vehicle: &v {mass: 1, inertia: [1, 1, 1]}, start: {position: [3, 4, 10]}, controller: "
        "{kind: none}}\n"
        "  - {name: b, vehicle: *v, start: {position: [0, 0, 20]}, controller: {kind: none}}\n"
        "expect:\n"
        "  - {quantity: height, drone: a, min: 5.5}\n"                // broken at 1 s: 10 - 5
        "  - {quantity: height, drone: a, min: 4.9}\n"                // met by 0.1
        "  - {quantity: height, at: throughout, min: 4, max: 20.5}\n" // b at the start is 0.5 from its bound
        "  - {quantity: speed, drone: b, at: end, min: 9.99, max: 10.01}\n" // g t
        "  - {quantity: speed, drone: b, max: 1, after: 0.5}\n"             // broken, most at the end
        "  - {quantity: distance, drone: a, at: end, min: 4.9, max: 5.1}\n" // 3-4-5
        "  - {quantity: climb, at: end, max: -9.99}\n"
        "  - {quantity: clamps, max: 0}\n");
    vy_world *world;
    assert_int_equal(vy_scenario_build(s, &world, NULL), VY_OK);
    vy_expect_result r[8];
    vy_expect_begin(s, r);
    assert_false(r[0].measured || r[0].met);
    for (uint64_t i = 0; i < vy_scenario_steps(s); ++i) {
        vy_world_step(world);
        vy_expect_feed(s, world, r);
    }
    static const int met[8] = {0, 1, 1, 1, 0, 1, 1, 1};
    for (int i = 0; i < 8; ++i) assert_int_equal(r[i].met, met[i]);
    assert_near(r[0].worst, 5.0, 1e-9);
    assert_near(r[0].margin, -0.5, 1e-9);
    assert_near(r[0].time, 1.0, 1e-9);
    assert_near(r[1].margin, 0.1, 1e-9);
    assert_int_equal(r[2].drone, 1);
    assert_near(r[2].time, 0.001, 1e-12);
    assert_near(r[3].worst, 10.0, 1e-9);
    assert_near(r[4].worst, 10.0, 1e-9);
    assert_near(r[5].worst, 5.0, 1e-12);
    char *sentence = vy_expect_print(s, 0, &r[0]);
    assert_string_equal(sentence, "height of a at least 5.5 m throughout: not met, worst 5 m at 1 s");
    free(sentence);
    vy_world_destroy(world);
    vy_scenario_destroy(s);
}

// A fall again: how long it takes is sqrt(2 h / g) and v / g.
static void times_are_judged_by_free_fall(void **unused)
{
    (void)unused;
    vy_scenario *s =
        read_good("volery: 1\nduration: 1\nworld: {gravity: {uniform: [0, 0, -10]}}\n"
                  "drones: [{name: a, vehicle: {mass: 1, inertia: [1, 1, 1]}, start: {position: [0, 0, 10]}, "
                  "controller: "
                  "{kind: none}}]\n"
                  "expect:\n"
                  "  - {quantity: speed, at: reached, min: 5, max: 6, within: 0.6}\n"      // at 0.5 s
                  "  - {quantity: speed, at: reached, min: 4.995, within: 0.4}\n"          // too late
                  "  - {quantity: speed, at: reached, min: 50, within: 1}\n"               // never
                  "  - {quantity: speed, at: settled, min: 5, within: 0.6}\n"              // from 0.5 s on
                  "  - {quantity: speed, at: settled, min: 5, max: 6, within: 0.9}\n"      // but not for good
                  "  - {quantity: speed, at: settled, after: 0.3, min: 5, within: 0.25}\n" // 0.2 s later
                  "  - {quantity: height, at: settled, max: 20, within: 0.1}\n");          // all the time
    vy_world *world;
    assert_int_equal(vy_scenario_build(s, &world, NULL), VY_OK);
    vy_expect_result r[7];
    vy_expect_begin(s, r);
    for (uint64_t i = 0; i < vy_scenario_steps(s); ++i) {
        vy_world_step(world);
        vy_expect_feed(s, world, r);
    }
    static const int met[7] = {1, 0, 0, 1, 0, 1, 1};
    static const double took[7] = {0.5, 0.5, 0.0, 0.5, 1.001, 0.2, 0.0};
    for (int i = 0; i < 7; ++i) {
        assert_int_equal(r[i].met, met[i]);
        assert_near(r[i].worst, took[i], 0.0015); // to the step
        if (i != 2) assert_int_equal(r[i].margin >= 0.0, met[i]);
    }
    assert_false(r[2].measured);
    assert_string_equal(vy_expect_unit(s, 3), "s");
    char *sentence = vy_expect_print(s, 1, &r[1]);
    assert_string_equal(sentence, "speed of all at least 4.995 m/s within 0.4 s: not met, took 0.5 s");
    free(sentence);
    vy_world_destroy(world);
    vy_scenario_destroy(s);
}

// A throw and a fall: how far beyond is v^2 / 2 g, the way fallen the integral of the speed. And rotors at a
// constant speed: power is torque times speed.
static void overshoot_and_integrals_are_those_of_a_throw(void **unused)
{
    (void)unused;
    vy_scenario *s = read_good(
        "volery: 1\nduration: 1\nworld: {gravity: {uniform: [0, 0, -10]}}\n"
        "drones:\n"
        "  - {name: a, vehicle: &v {mass: 1, inertia: [1, 1, 1]}, start: {position: [0, 0, 10], velocity: "
        "[0, 0, "
        "8]}, controller: {kind: none}}\n"
        "  - {name: b, vehicle: *v, start: {position: [0, 1, 10]}, controller: {kind: none}}\n"
        "  - {name: c, vehicle: crazyflie2x, start: {rotor_speed: 1000}, controller: {kind: none}}\n"
        "expect:\n"
        "  - {quantity: z, drone: a, at: overshoot, target: 11, max: 3}\n"             // to 13.2
        "  - {quantity: z, drone: a, at: overshoot, target: 11, max: 2}\n"             // too far
        "  - {quantity: z, drone: b, at: overshoot, target: 9, max: 4.5}\n"            // down to 5
        "  - {quantity: z, drone: b, at: overshoot, after: 0.5, target: 20, max: 0}\n" // never there
        "  - {quantity: speed, drone: b, at: integral, min: 4.9, max: 5.1}\n"
        "  - {quantity: speed, drone: b, at: integral, after: 0.5, max: 3}\n" // 5 - 1.25: broken
        "  - {quantity: rotor_power, at: integral, max: 2.9 J}\n"             // 4 * 7.24e-10 * 1000^3
        "  - {quantity: failsafes, at: integral, max: 0}\n");
    vy_world *world;
    assert_int_equal(vy_scenario_build(s, &world, NULL), VY_OK);
    vy_expect_result r[8];
    vy_expect_begin(s, r);
    for (uint64_t i = 0; i < vy_scenario_steps(s); ++i) {
        vy_world_step(world);
        vy_expect_feed(s, world, r);
    }
    static const int met[8] = {1, 0, 1, 1, 1, 0, 1, 1};
    static const double worst[8] = {2.2,   2.2,    4.0,   0.0,
                                    5.005, 3.7525, 2.896, 0.0}; // right sums: half a step more
    for (int i = 0; i < 8; ++i) {
        assert_int_equal(r[i].met, met[i]);
        assert_near(r[i].worst, worst[i], 1e-6);
        assert_near(r[i].margin, fmin(worst[i] - s->expect[i].min, s->expect[i].max - worst[i]), 1e-6);
    }
    assert_near(r[0].time, 0.8, 1e-9);
    static const char *const sentences[] = {
        "z of a at most 2 m beyond 11 m: not met, was 2.2 m at 0.8 s",
        "rotor_power of all at most 2.9 J in all: met, was 2.896 J at 1 s",
        "failsafes of all at most 0 s in all: met, was 0 s at 1 s",
    };
    static const int which[] = {1, 6, 7};
    for (int i = 0; i < 3; ++i) {
        char *sentence = vy_expect_print(s, which[i], &r[which[i]]);
        assert_string_equal(sentence, sentences[i]);
        free(sentence);
    }
    vy_world_destroy(world);
    vy_scenario_destroy(s);
}

static void quantities_of_an_attitude(void **unused)
{
    (void)unused;
    int count;
    const vy_quantity *list = vy_quantities(&count), *tilt = NULL, *yaw = NULL;
    for (int i = 0; i < count; ++i) {
        if (strcmp(list[i].name, "tilt") == 0) tilt = &list[i];
        if (strcmp(list[i].name, "yaw") == 0) yaw = &list[i];
    }
    random_source r = {3};
    for (int i = 0; i < 300; ++i) {
        const double heading = random_in(&r, -3.1, 3.1), lean = random_in(&r, 0.0, 1.5);
        const vy_world_def def = vy_default_world_def();
        vy_drone_def drone = vy_default_drone_def();
        vy_world *world = NULL;
        vy_ground_state g;
        drone.attitude = quat_mul(turn(heading, 0, 0, 1), turn(lean, 0, 1, 0));
        assert_int_equal(vy_world_create(&def, &world, NULL), VY_OK);
        assert_int_equal(vy_world_add_drone(world, &drone, NULL, NULL), VY_OK);
        assert_int_equal(vy_world_read_ground(world, 0, &g), VY_OK);
        assert_near(tilt->of_ground(&g), lean, 1e-14);
        assert_near(yaw->of_ground(&g), heading, 1e-14);
        const vy_vec3 up = quat_rotate(drone.attitude, (vy_vec3){0, 0, 1});
        assert_near(cos(tilt->of_ground(&g)), up.z, 1e-14);
        vy_world_destroy(world);
    }
}

// Whoever changes the step alone gets a flight: periods left to their defaults follow it.
static void a_step_alone_flies(void **unused)
{
    (void)unused;
    static const char *const steps[] = {"1 ms",   "2 ms",   "0.5 ms", "0.3 ms",
                                        "1.5 ms", "0.7 ms", "3 ms",   "5 ms"};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; ++i) {
        char text[300];
        snprintf(text, sizeof text,
                 "volery: 1\nstep: %s\nduration: 5\n"
                 "drones: [{controller: {setpoints: [{time: 0, position: [0, 0, 1]}, "
                 "{time: 2, position: [1, 0, 1.5]}]}}]\n"
                 "expect: [{quantity: x, at: end, min: 0.8, max: 1.2}, "
                 "{quantity: height, at: end, min: 1.3, max: 1.7}]\n",
                 steps[i]);
        vy_scenario *s = read_good(text);
        const vy_drone_def *d = &s->drones[0].def;
        assert_near(d->imu.period, 0.001 > s->step ? 0.001 : s->step, 0.5 * s->step);
        assert_near(d->mocap.period, 0.01, 0.5 * s->step);
        assert_near(d->controller.rate_period, 0.002 > s->step ? 0.002 : s->step, 0.5 * s->step);
        vy_world *world;
        assert_int_equal(vy_scenario_build(s, &world, NULL), VY_OK);
        vy_expect_result r[2];
        vy_expect_begin(s, r);
        for (uint64_t k = 0; k < vy_scenario_steps(s); ++k) {
            vy_world_step(world);
            vy_expect_feed(s, world, r);
        }
        assert_true(r[0].met && r[1].met);
        // The same through the API: dt alone, all else from the defaults.
        vy_world_def def = vy_default_world_def();
        vy_drone_def drone = vy_default_drone_def();
        def.dt = s->step;
        drone.controller.setpoint_count = 2;
        memcpy(drone.controller.setpoints, s->drones[0].def.controller.setpoints, 2 * sizeof(vy_setpoint));
        vy_world *plain;
        vy_error err = {0};
        assert_int_equal(vy_world_create(&def, &plain, NULL), VY_OK);
        if (vy_world_add_drone(plain, &drone, NULL, &err) != VY_OK) fail_msg("%s", err.text);
        vy_world_advance(plain, vy_scenario_steps(s));
        assert_true(vy_world_hash(plain) == vy_world_hash(world));
        vy_world_destroy(plain);
        vy_world_destroy(world);
        vy_scenario_destroy(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shipped_scenarios_fly_as_they_expect),
        cmocka_unit_test(truth_has_two_spellings),
        cmocka_unit_test(built_in_vehicles_are_current),
        cmocka_unit_test(pages_are_current),
        cmocka_unit_test(hash_covers_every_value_that_matters),
        cmocka_unit_test(every_field_of_a_drone_has_a_key),
        cmocka_unit_test(print_reads_back_the_same),
        cmocka_unit_test(a_host_locale_changes_nothing),
        cmocka_unit_test(worlds_built_from_a_print_fly_the_same),
        cmocka_unit_test(expectations_are_judged_by_free_fall),
        cmocka_unit_test(times_are_judged_by_free_fall),
        cmocka_unit_test(overshoot_and_integrals_are_those_of_a_throw),
        cmocka_unit_test(quantities_of_an_attitude),
        cmocka_unit_test(a_step_alone_flies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
