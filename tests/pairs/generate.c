// generate.c - a scenario from the rows of the schema: which keys it has, and what is chosen.
#include "draw.h"
#include <stdlib.h>
#include <string.h>

enum { PATH_CAP = 200, TEXT_CAP = 1500 };

// What an option is of no use without: it is asked for, too.
static const struct {
    const char *option, *prerequisites; // an option whose name begins so
} prerequisites[] = {
    {"drones[].controller.flight=kinematic", "world.physics.engine=simple"},
    {"drones[].mission", "world.planet.origin.gm=number"},
    {"drones[].mission", "world.planet.radius=number"},
    {"world.planet.origin", "world.planet.radius=number"},
    {"world.gravity.mode=central", "world.gravity.bodies=1"},
    {"world.gravity.gradient", "world.gravity.bodies=1"},
    {"drones[].safety.fence.kind=polygon", "drones[].safety.fence.corners=several"},
    {"faults[].rotor=4", "drones[].vehicle=octo"},
    {"faults[].rotor=5", "drones[].vehicle=octo"},
    {"faults[].rotor=6", "drones[].vehicle=octo"},
    {"faults[].rotor=7", "drones[].vehicle=octo"},
    {"joints", "bodies=1"},
    {"joints[].motor_stiffness=number", "joints[].motor_max=number"},
    {"joints[].motor", "joints[].kind=hinge"},
    {"joints[].cone", "joints[].kind=ball"},
    {"drones[].start.position=ground", "terrain.kind=plane"},
    {"drones[].start.position=obstacle", "obstacles=1"},
    {"drones[].start.position=others", "drones=3"},
    {"drones[].start.position=others", "contacts.mode=on"},
    {"payloads", "bodies=several"},
    {"payloads", "drones=3"},
    {"expect[].quantity=separation", "drones=3"},
    {"drones[].vehicle.rotors", "drones[].vehicle=crazyflie2x"},
    {"drones[].vehicle.rotors", "drones[].controller.kind=none"},
    {"drones[].controller.flight=kinematic", "drones[].controller.kind=pilot"},
    {"faults[].kind=battery", "drones[].vehicle.battery.capacity=number"},
    {"drones[].sensors.power", "drones[].vehicle.battery.capacity=number"},
    {"faults[].channel=accel", "drones[].sensors.imu=bmi088"},
    {"faults[].channel=gyro", "drones[].sensors.imu=bmi088"},
    {"faults[].channel=baro", "drones[].sensors.baro=bmp388"},
    {"faults[].channel=mag", "drones[].sensors.mag=own"},
    {"faults[].channel=gps", "drones[].sensors.gps=own"},
    {"faults[].channel=range", "drones[].sensors.range=own"},
    {"faults[].channel=flow", "drones[].sensors.flow=own"},
    {"faults[].channel=voltage", "drones[].sensors.power=own"},
    {"faults[].channel=current", "drones[].sensors.power=own"},
    {"faults[].channel=esc", "drones[].sensors.esc=own"},
    {"faults[].channel=lidar", "drones[].sensors.lidar=own"},
    {"faults[].channel=airspeed", "drones[].sensors.airspeed=own"},
    {"expect[].quantity=tension", "joints[].kind=distance"},
    {"expect[].quantity=length", "joints[].kind=cable"},
    {"expect[].quantity=angle", "joints[].kind=hinge"},
    {"expect[].quantity=force", "joints=1"},
    {"expect[].quantity=torque", "joints=1"},
    {"expect[].quantity=active", "joints=1"},
    {"expect[].quantity=latitude", "world.planet.origin.gm=number"},
    {"expect[].quantity=longitude", "world.planet.origin.gm=number"},
    {"expect[].quantity=battery", "drones[].vehicle.battery.capacity=number"},
    {"drones[].vehicle=own", "drones[].controller.kind=none"},
    {"drones[].sensors.imu.period=none", "drones[].sensors.truth=on"},
    {"drones[].sensors.imu.period=none", "drones[].controller.kind=none"},
    {"drones[].sensors.mocap.period=none", "drones[].controller.kind=none"},
    {"world.wakes.mode=on", "drones[].vehicle=x500"},
    {"drones[].controller.path.kind=minimum_snap", "drones[].controller.path.waypoints=several"},
    {"drones[].controller.kind=px4", "world.planet.origin.gm=number"},
    {"drones[].controller.kind=px4", "drones[].vehicle=x500"},
    {"drones[].controller.kind=ardupilot", "drones[].vehicle=x500"},
    {"drones[].controller.kind=ardupilot", "drones[].controller.truth=on"},
    {"drones[].controller.kind=betaflight", "drones[].vehicle=x500"},
    {"drones[].controller.kind=betaflight", "drones[].controller.truth=on"},
    {"drones[].controller.clock", "drones[].controller.kind=betaflight"},
    {"drones[].controller.kind=recorded", "drones[].vehicle=crazyflie2x"},
    {"drones[].controller.plays", "drones[].vehicle=crazyflie2x"},
    {"drones[].controller.unanswered", "drones[].controller.kind=betaflight"},
    {"drones[].controller.airframe", "world.planet.origin.gm=number"},
    {"drones[].controller.airframe=octo_plus", "drones[].vehicle=octo"},
    {"drones[].controller.script", "world.planet.origin.gm=number"},
    {"drones[].controller.rate_law=indi", "drones[].sensors.imu=bmi088"},
};

static const char *forced_name(const generator *g, int i) { return option_name(g->w->forced[i]); }

// Must something at or below `path` be there?
static int is_forced(const generator *g, const char *path)
{
    const size_t size = strlen(path);
    for (int i = 0; i < g->w->forced_count && !g->free; ++i) {
        const char *name = forced_name(g, i);
        if (!g->is_satisfied[i] && strncmp(name, path, size) == 0 && strchr(".[=", name[size]) != NULL)
            return 1;
    }
    return 0;
}

// What `path` is asked to be; NULL: nothing in particular.
static const char *forced_value(const generator *g, const char *path)
{
    const size_t size = strlen(path);
    for (int i = 0; i < g->w->forced_count && !g->free; ++i) {
        const char *name = forced_name(g, i);
        if (!g->is_satisfied[i] && strncmp(name, path, size) == 0 && name[size] == '=')
            return name + size + 1;
    }
    return NULL;
}

static int option_of(const char *path, const char *value)
{
    char name[PATH_CAP + 60];
    snprintf(name, sizeof name, "%s=%s", path, value);
    return option_number(name);
}

// How many pairs with what is there already would be new.
static int new_pairs_of(const generator *g, int option)
{
    int count = 0;
    for (int i = 0; i < g->placed_count && g->w->seen != NULL; ++i)
        count += !pair_has(g->w->seen, option, g->placed[i]);
    return count;
}

// One of `count` values: the one asked for, else the one with the most news, else any of those that `may`
// has a bit of. -1: none may.
static int choose(generator *g, const char *path, const char *const *values, int count, uint64_t may)
{
    const char *asked = forced_value(g, path);
    int best = -1, max_gain = -1;
    for (int i = 0; i < count; ++i) {
        if (asked != NULL && strcmp(values[i], asked) == 0) return i;
    }
    for (int i = 0; i < count; ++i) {
        if (!(may >> i & 1)) continue;
        const int gain =
            64 * new_pairs_of(g, option_of(path, values[i])) + (int)(random_bits(&g->random) % 64);
        if (gain > max_gain) {
            max_gain = gain;
            best = i;
        }
    }
    return best;
}

static void place(generator *g, node *n, const char *path, const char *value)
{
    n->option = option_of(path, value);
    assert_true(g->placed_count < OPTION_CAP);
    g->placed[g->placed_count++] = n->option;
    for (int i = 0; i < g->w->forced_count; ++i) g->placed_now[i] |= g->w->forced[i] == n->option;
}

static void write_rows(generator *g, const vy_schema_table *table, char *object, node *into,
                       const char *prefix);

// Which values of a table's first row let everything be there that is asked for.
static uint64_t allowed_choices(const generator *g, const vy_schema_table *table, const vy_schema_row *row,
                                const char *prefix)
{
    uint64_t may = row->choice_count >= 64 ? UINT64_MAX : ((uint64_t)1 << row->choice_count) - 1;
    if (row != &table->rows[0]) return may;
    for (int i = 1; i < table->row_count; ++i) {
        char path[PATH_CAP];
        snprintf(path, sizeof path, "%s%s%s", prefix, *prefix == '\0' ? "" : ".", table->rows[i].key);
        if (table->rows[i].when == 0 || !is_forced(g, path)) continue;
        uint64_t with = 0;
        for (int k = 0; k < row->choice_count; ++k)
            if (table->rows[i].when >> row->choices[k].value & 1) with |= (uint64_t)1 << k;
        if ((may & with) != 0) may &= with; // else another element of the list has it
    }
    return may;
}

// Of which sensor a fault's channel is.
static const char *sensor_of(const char *channel)
{
    static const char *const known[][2] = {
        {"accel", "imu"},     {"gyro", "imu"},      {"position", "mocap"},   {"attitude", "mocap"},
        {"voltage", "power"}, {"current", "power"}, {"gps_position", "gps"}, {"gps_velocity", "gps"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; ++i) {
        if (strcmp(known[i][0], channel) == 0) return known[i][1];
    }
    return channel;
}

// Channels of sensors that a drone has, so that most faults are of something.
static uint64_t available_channels(const generator *g, const vy_schema_row *row)
{
    uint64_t may = 0;
    for (int i = 0; i < row->choice_count; ++i) {
        char name[80];
        const char *sensor = sensor_of(row->choices[i].name);
        int there = strcmp(sensor, "imu") == 0 || strcmp(sensor, "mocap") == 0;
        snprintf(name, sizeof name, "drones[].sensors.%s=", sensor);
        for (int k = 0; k < g->placed_count; ++k)
            there |= strncmp(option_name(g->placed[k]), name, strlen(name)) == 0;
        if (there) may |= (uint64_t)1 << i;
    }
    return may;
}

// Without one value of a choice.
static uint64_t without(const vy_schema_row *row, uint64_t may, const char *value)
{
    for (int i = 0; i < row->choice_count; ++i) {
        if (strcmp(row->choices[i].name, value) == 0) may &= ~((uint64_t)1 << i);
    }
    return may;
}

// What a drone is to touch is there, and is touched.
static uint64_t touchable_choices(const generator *g, const vy_schema_row *row, const char *path,
                                  uint64_t may)
{
    static const char *const untouchable[][2] = {{"drones[].shape.kind", "none"},
                                                 {"terrain.kind", "none"},
                                                 {"contacts.mode", "off"},
                                                 {"obstacles[].trigger", "on"},
                                                 {"world.physics.engine", "simple"}};
    for (size_t i = 0; i < sizeof untouchable / sizeof *untouchable && g->start != START_IN_AIR; ++i) {
        if (strcmp(path, untouchable[i][0]) == 0) may = without(row, may, untouchable[i][1]);
    }
    if (g->start == START_TOWARDS_OTHERS && strcmp(path, "contacts.mode") == 0)
        may = without(row, may, "auto"); // nothing else may say that they touch
    return may;
}

static void write_choice(generator *g, const vy_schema_table *table, const vy_schema_row *row, char *object,
                         node *into, const char *prefix, const char *path)
{
    const char *names[64];
    assert_in_range(row->choice_count, 1, 64);
    for (int i = 0; i < row->choice_count; ++i) names[i] = row->choices[i].name;
    uint64_t may = allowed_choices(g, table, row, prefix);
    if (strcmp(path, "faults[].channel") == 0 && forced_value(g, path) == NULL)
        may &= available_channels(g, row);
    may = touchable_choices(g, row, path, may);
    const int chosen = choose(g, path, names, row->choice_count, may);
    if (chosen < 0) return;
    node *n = node_add(into, row->key, names[chosen]);
    n->row = row;
    place(g, n, path, names[chosen]);
    if (strcmp(path, "joints[].kind") == 0) g->is_pulley = strcmp(names[chosen], "pulley") == 0;
    memcpy(object + row->offset, &row->choices[chosen].value, sizeof(int));
}

static void write_object(generator *g, const vy_schema_row *row, char *object, node *into, const char *path)
{
    const char *values[32];
    int count = 0;
    char *own = object + row->offset, *fresh = NULL;
    node *n = node_add(into, row->key, NULL);
    if (row->flags & VY_ROW_FILE) {
        while (count < 31 && base_name(row->table, count) != NULL) {
            values[count] = base_name(row->table, count);
            ++count;
        }
        values[count++] = "own";
        // A vehicle of its own has no rotors: most is said with one that has.
        const int vehicle =
            strcmp(path, "drones[].vehicle") == 0 && forced_value(g, path) == NULL && !chance(g, 0.05);
        const int chosen = choose(g, path, values, count, UINT64_MAX >> (vehicle ? 65 - count : 0));
        if (strcmp(values[chosen], "own") != 0) {
            assert_int_equal(row->table->preset(values[chosen], own, NULL), VY_OK);
            node *base = node_add(n, "base", values[chosen]);
            place(g, base, path, values[chosen]);
        } else {
            place(g, n, path, "own");
            if (row->table->init != NULL) row->table->init(own, 0);
        }
    } else if (row->table->init != NULL) {
        fresh = own = calloc(1, row->table->size);
        row->table->init(own, 0);
    }
    write_rows(g, row->table, own, n, path);
    if (n->first == NULL && n->option < 0) node_remove(into, n);
    free(fresh);
}

static int list_length(generator *g, const char *path, node *list)
{
    static const char *const swarm[] = {"1", "3", "20"}, *const few[] = {"1", "several"};
    static const int lengths[] = {1, 3, 20};
    const int drones = strcmp(path, "drones") == 0;
    const uint64_t may = drones && g->start == START_TOWARDS_OTHERS ? 2
                         : drones && g->w->optional_fraction <= 0.0 ? 1
                         : drones && chance(g, 0.8)                 ? 3
                                                                    : 7;
    int chosen = choose(g, path, drones ? swarm : few, drones ? 3 : 2, may);
    if (!drones && forced_value(g, path) == NULL && g->w->forced_count > 4) chosen = 1; // room for all of it
    place(g, list, path, drones ? swarm[chosen] : few[chosen]);
    if (drones) return lengths[chosen];
    if (strcmp(path, "drones[].vehicle.collision_points") == 0) return chosen == 0 ? 1 : 8; // a hull
    return chosen == 0 ? 1 : 3;
}

// Copies of the first element, each at a place of its own.
static void write_copies(generator *g, node *list, int count)
{
    for (int i = 1; i < count; ++i) {
        node *copy = node_copy(list->first), *end = list->first;
        while (end->next != NULL) end = end->next;
        end->next = copy;
        node *start = node_find(copy, "start"),
             *position = start != NULL ? node_find(start, "position") : NULL;
        if (position == NULL) continue;
        char text[100];
        const double height = g->start == START_ABOVE_GROUND ? draw_gap(g) : random_in(&g->random, 0.1, 3.0);
        snprintf(text, sizeof text, "[%d, %d, %.17g]", 2 * (i % 5), 2 * (i / 5), height);
        free(position->text);
        position->text = strdup(text);
        node *longitude = node_find(start, "longitude");
        if (longitude == NULL) continue;
        snprintf(text, sizeof text, "%.17g", 0.1 + 1e-6 * i);
        free(longitude->text);
        longitude->text = strdup(text);
    }
}

static void write_list(generator *g, const vy_schema_row *row, node *into, const char *path)
{
    node *list = node_add(into, row->key, NULL);
    list->is_list = 1;
    char below[PATH_CAP + 2];
    snprintf(below, sizeof below, "%s[]", path);
    const int count = list_length(g, path, list), outer = strchr(path, '.') == NULL;
    const int index = g->index, owner = g->owner, is_free = g->free;
    const int written = count == 20 ? 1 : count;
    if (strcmp(path, "drones") == 0) g->drones = count;
    if (strcmp(path, "bodies") == 0) g->bodies = count;
    if (strcmp(path, "joints") == 0) g->joints = count;
    for (int i = 0; i < written; ++i) {
        void *element = calloc(1, row->table->size);
        assert_non_null(element);
        row->table->init(element, i);
        g->index = i;
        if (outer) g->owner = i;
        if (i > 0 && strcmp(path, "drones") == 0) g->free = 1;
        if (i > 0) memcpy(g->is_satisfied, g->placed_now, sizeof g->is_satisfied);
        write_rows(g, row->table, element, node_add(list, "", NULL), below);
        free(element);
    }
    g->index = index;
    g->owner = owner;
    g->free = is_free;
    memset(g->is_satisfied, 0, sizeof g->is_satisfied);
    write_copies(g, list, count > written ? count : 1);
}

static void write_value(generator *g, const vy_schema_table *table, const vy_schema_row *row, char *object,
                        node *into, const char *path)
{
    char text[TEXT_CAP];
    const char *off = off_value(table, row) != NULL ? off_value(table, row) : row->keyword;
    if (off != NULL && row->type == VY_TYPE_NUMBER) {
        const char *const values[] = {off, "number"};
        const int place_known = strcmp(path, "drones[].start.latitude") == 0 ||
                                strcmp(path, "expect[].max") == 0 || strcmp(path, "expect[].within") == 0 ||
                                strcmp(path, "drones[].start.rotor_speed") == 0 ||
                                strcmp(path, "world.nap.budget.position") == 0;
        const int option = off_value(table, row) != NULL;
        const int chosen = place_known ? 1 : option ? choose(g, path, values, 2, 3) : chance(g, 0.6);
        if (chosen == 1 && !draw_value(g, row, path, object, text, sizeof text)) return;
        node *n = node_add(into, row->key, chosen == 0 ? off : text);
        n->row = row;
        if (option) place(g, n, path, values[chosen]);
        return;
    }
    if (!draw_value(g, row, path, object, text, sizeof text)) return;
    node *n = node_add(into, row->key, text);
    n->row = row;
    if (strcmp(path, "drones[].start.position") == 0) place(g, n, path, start_place_names[g->start]);
}

// Keys that mean nothing without an option: they are not written but on request.
static const struct {
    const char *path, *option;
} only_with[] = {
    {"drones[].mission", "world.planet.origin.gm=number"},
    {"drones[].start.latitude", "world.planet.radius=number"},
    {"drones[].start.longitude", "world.planet.radius=number"},
    {"drones[].start.altitude", "world.planet.radius=number"},
    {"joints", "bodies=1"},
    {"payloads", "bodies=several"},
};

static int has_placed(const generator *g, const char *name)
{
    const int option = option_number(name);
    for (int i = 0; i < g->placed_count; ++i) {
        if (g->placed[i] == option) return 1;
    }
    return 0;
}

// Is the row's key written? Choices, lists and parts are what scenarios are made of; plain numbers fewer.
static int is_wanted(generator *g, const vy_schema_row *row, const node *into, const char *path)
{
    static const char *const always[] = {"volery",
                                         "seed",
                                         "step",
                                         "duration",
                                         "drones[].start",
                                         "drones[].start.position",
                                         "bodies[].position",
                                         "obstacles[].position",
                                         "expect[].max",
                                         "world.nap.budget.position",
                                         "drones[].vehicle.battery.nominal",
                                         "drones[].vehicle.battery.voltage",
                                         "world.gravity.bodies[].origin",
                                         "world.planet.origin.latitude",
                                         "world.planet.origin.longitude",
                                         "joints[].a",
                                         "joints[].b",
                                         "joints[].cone.angle",
                                         "drones[].shape.points",
                                         "bodies[].shape.points",
                                         "obstacles[].points",
                                         "obstacles[].heights",
                                         "terrain.heights"};
    for (size_t i = 0; i < sizeof always / sizeof *always; ++i) {
        if (strcmp(always[i], path) == 0) return 1;
    }
    if (row->flags & VY_ROW_REQUIRED || is_forced(g, path)) return 1;
    for (size_t i = 0; i < sizeof only_with / sizeof *only_with; ++i) {
        if (strcmp(only_with[i].path, path) == 0 && !has_placed(g, only_with[i].option)) return 0;
    }
    if (strcmp(path, "drones[].start.latitude") == 0) return 1;
    // Else it would start at the meridian of 0, hundreds of kilometres off, and all drones in one place.
    if (strcmp(path, "drones[].start.longitude") == 0 || strcmp(path, "drones[].start.altitude") == 0)
        return node_find(into, "latitude") != NULL;
    const node *at = node_find(into, "at");
    const char *when = at != NULL ? at->text : "";
    if (strcmp(path, "expect[].within") == 0)
        return strcmp(when, "settled") == 0 || strcmp(when, "reached") == 0;
    if (strcmp(path, "expect[].drone") == 0 && g->w->forced_count > 0) return 1;
    if (strcmp(path, "bodies[].mass") == 0 || strcmp(path, "bodies[].inertia") == 0)
        return !is_forced(g, "bodies[].density") && (g->w->forced_count > 0 || !chance(g, 0.1));
    if (strcmp(path, "joints[].low") == 0 || strcmp(path, "joints[].high") == 0)
        return has_placed(g, "joints[].limited=on");
    if (strcmp(path, "joints[].cone.low") == 0 || strcmp(path, "joints[].cone.high") == 0)
        return has_placed(g, "joints[].cone.twist=on");
    if (strcmp(path, "joints[].motor_gain") == 0 || strcmp(path, "joints[].motor_target") == 0)
        return has_placed(g, "joints[].motor_max=number");
    if (strcmp(path, "drones[].start.velocity") == 0 && g->start != START_IN_AIR) return 1;
    if (strcmp(path, "terrain") == 0 && g->start == START_ABOVE_GROUND) return 1;
    if (strcmp(path, "terrain.kind") == 0 && g->start == START_ABOVE_GROUND) return 1;
    if (strcmp(path, "obstacles") == 0 && g->start == START_ABOVE_OBSTACLE) return 1;
    if ((strcmp(path, "contacts") == 0 || strcmp(path, "contacts.mode") == 0) &&
        g->start == START_TOWARDS_OTHERS)
        return 1;
    // One rotor does not hover, and the air of rotors needs their size.
    if (strcmp(path, "drones[].start.rotor_speed") == 0 && is_forced(g, "drones[].vehicle.rotors")) return 1;
    if (strcmp(path, "drones[].vehicle.rotor_air.radius") == 0 &&
        is_forced(g, "drones[].vehicle.rotor_air.ground"))
        return 1;
    if (strcmp(path, "drones[].controller.record") == 0) return 1;
    if (strcmp(path, "drones[].controller.from") == 0 || strcmp(path, "drones[].start.at") == 0 ||
        strcmp(path, "expect[].from") == 0) // of files
        return 0;
    if (strcmp(path, "expect[].trajectory") == 0) {
        const node *quantity = node_find(into, "quantity");
        return quantity != NULL && quantity->text != NULL && strcmp(quantity->text, "position_error") == 0;
    }
    if (strcmp(path, "drones[].vehicle.rotors") == 0) return chance(g, 0.02 * g->w->optional_fraction);
    if (strcmp(path, "world.nap.budget") == 0)
        return chance(g, 0.1 * g->w->optional_fraction); // it takes long
    const int plain = row->table == NULL && row->type != VY_TYPE_CHOICE && row->keyword == NULL;
    return chance(g, plain ? 0.3 * g->w->optional_fraction : g->w->optional_fraction);
}

static void write_rows(generator *g, const vy_schema_table *table, char *object, node *into,
                       const char *prefix)
{
    for (int i = 0; i < table->row_count; ++i) {
        const vy_schema_row *row = &table->rows[i];
        char path[PATH_CAP];
        snprintf(path, sizeof path, "%s%s%s", prefix, *prefix == '\0' ? "" : ".", row->key);
        const int first = i == 0 && row->type == VY_TYPE_CHOICE && is_forced(g, prefix);
        if (!vy_row_applies(table, row, object) || !(first || is_wanted(g, row, into, path))) continue;
        switch (row->type) {
        case VY_TYPE_CHOICE: write_choice(g, table, row, object, into, prefix, path); break;
        case VY_TYPE_OBJECT: write_object(g, row, object, into, path); break;
        case VY_TYPE_LIST: write_list(g, row, into, path); break;
        default: write_value(g, table, row, object, into, path); break;
        }
    }
}

// With what is needed by what is asked for.
static request add_prerequisites(const request *w)
{
    request all = *w;
    for (int i = 0; i < all.forced_count; ++i) {
        for (size_t k = 0; k < sizeof prerequisites / sizeof *prerequisites; ++k) {
            if (strncmp(option_name(all.forced[i]), prerequisites[k].option,
                        strlen(prerequisites[k].option)) != 0)
                continue;
            const int option = option_number(prerequisites[k].prerequisites);
            int known = 0;
            for (int n = 0; n < all.forced_count; ++n) {
                const char *a = option_name(all.forced[n]), *b = option_name(option);
                known |= strncmp(a, b, strcspn(b, "=") + 1) == 0; // it is asked to be something already
            }
            if (!known && all.forced_count < FORCED_CAP) all.forced[all.forced_count++] = option;
        }
    }
    return all;
}

// As it is asked for, else half of them touch something soon.
static start_place draw_start(generator *g)
{
    const char *asked = forced_value(g, "drones[].start.position");
    const double drawn = random_in(&g->random, 0.0, 1.0);
    for (int i = 0; i < START_PLACES && asked != NULL; ++i) {
        if (strcmp(asked, start_place_names[i]) == 0) return (start_place)i;
    }
    return drawn < 0.5    ? START_IN_AIR
           : drawn < 0.75 ? START_ABOVE_GROUND
           : drawn < 0.9  ? START_ABOVE_OBSTACLE
                          : START_TOWARDS_OTHERS;
}

node *generate(const request *w)
{
    static const double steps[] = {5e-4, 1e-3, 2e-3, 3e-3, 5e-3, 1e-2};
    const request all = add_prerequisites(w);
    generator *g = calloc(1, sizeof *g);
    node *tree = calloc(1, sizeof *tree);
    char *object = calloc(1, vy_scenario_table.size);
    assert_true(g != NULL && tree != NULL && object != NULL);
    g->w = &all;
    g->random.state = w->seed;
    g->step = steps[random_bits(&g->random) % 6];
    g->steps = 24 + (int)(random_bits(&g->random) % 40);
    tree->option = -1;
    for (int i = 0; i < all.forced_count; ++i) g->placed[g->placed_count++] = all.forced[i];
    g->start = draw_start(g);
    g->fall = random_in(&g->random, 0.5, 3.0);
    vy_scenario_table.init(object, 0);
    write_rows(g, &vy_scenario_table, object, tree, "");
    free(object);
    free(g);
    return tree;
}

// What a complaint is about: the key, or what holds it where the key is not there. Of a drone as a whole it
// is its vehicle, then its controller and so on: a drone stays.
static node *node_of_error(node *tree, const char *path)
{
    static const char *const parts[] = {"vehicle", "controller", "mission", "sensors", "estimator"};
    node *n = node_at(tree, path), *drones = node_find(tree, "drones");
    if (n == NULL || n == drones || n->row == &vy_scenario_table.rows[0]) return NULL;
    for (node *d = drones->first; d != NULL; d = d->next) {
        if (d != n) continue;
        n = NULL;
        for (int k = 0; n == NULL && k < 5; ++k) n = node_find(d, parts[k]);
        break;
    }
    return n;
}

// Take out all that is complained of. Twenty drones are alike: what one loses, all lose.
static int remove_refused(node *tree, const vy_diagnostics *told)
{
    int taken = 0;
    for (int i = 0; i < told->count; ++i) {
        const char *path = told->items[i].path;
        if (told->items[i].warning) continue;
        node *n = node_of_error(tree, path);
        char same[300];
        if (n == NULL || !node_path(tree, n, same, sizeof same)) continue;
        const node *drones = node_find(tree, "drones");
        const char *rest = strncmp(same, "drones[", 7) == 0 ? strchr(same, ']') : NULL;
        if (rest != NULL && node_count(drones) > 60 && drones->first->next != NULL) {
            int index = 0;
            for (const node *d = drones->first; d != NULL; d = d->next, ++index) {
                char other[330];
                snprintf(other, sizeof other, "drones[%d%s", index, rest);
                node *m = node_at(tree, other);
                char where[300];
                if (m != NULL && node_path(tree, m, where, sizeof where) && strcmp(where, other) == 0)
                    taken += node_remove(tree, m);
            }
        } else {
            taken += node_remove(tree, n);
        }
        return taken; // paths are of the text as it was
    }
    return taken;
}

int make_valid(node *tree, char *said, size_t size)
{
    said[0] = '\0';
    for (int round = 0; round < 60; ++round) {
        char *text = node_print(tree);
        vy_scenario *scenario = NULL;
        vy_diagnostics told;
        const vy_scenario_options options = {.load = vy_load_file};
        const vy_status status =
            vy_scenario_parse(text, strlen(text), "scenarios/pair.yaml", &options, &scenario, &told);
        free(text);
        vy_scenario_destroy(scenario);
        for (int i = 0; i < told.count && said[0] == '\0'; ++i) {
            if (!told.items[i].warning)
                snprintf(said, size, "%s: %s", told.items[i].path, told.items[i].text);
        }
        const int removed = status != VY_OK && remove_refused(tree, &told);
        vy_diagnostics_destroy(&told);
        if (status == VY_OK) return 1;
        if (!removed) return 0;
    }
    return 0;
}
