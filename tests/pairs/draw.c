// draw.c - random values for rows of the schema.
#include "draw.h"
#include <float.h>
#include <stdlib.h>
#include <string.h>

// The size of a value whose default says nothing: by its key, else by its unit.
static const struct {
    const char *name;
    double size;
} sizes[] = {
    {"chord", 0.008},
    {"lift_slope", 5.7},
    {"lift_max", 1.2},
    {"drag_square", 1.0},
    {"nominal", 3.7},
    {"capacity", 900.0},
    {"spacing", 4.0},
    {"thrust_max", 0.1},
    {"gm", 3.986e14},
    {"density", 400.0},
    {"limit", 10.0},
    {"radius", 0.05},
    {"length", 0.1},
    {"size", 0.1},
    {"command_min", 0.1},
    {"slew", 20.0},
    {"gate", 5.0},
    {"max", 1e6},
    {"min", 1e6},
    {"thrust", 0.3},
    {"position", 0.02},
    {"distance_max", 1e3},
    {"height_max", 100.0},
    {"rate_max", 50.0},
    {"speed_max", 50.0},
    {"fall_max", 50.0},
    {"tilt_max", 1.2},
    {"climb_max", 5.0},
    {"impulse", 0.1},
    {"break_force", 0.3},
    {"break_torque", 0.01},
    {"stiffness", 1.0},
    {"motor_max", 0.01},
    {"high", 0.5},
    {"low", 0.5},
    {"altitude", 30.0},
    {"height", 20.0},
    {"step", 1e-3},
    {"resistance", 0.1},
    {"j2", 1e-3},
    {"rotor_speed", 500.0},
    {"inflow", 1e-6},
    {"drag", 1e-6},
    {"drag_axial", 1e-6},
    {"flap", 1e-8},
    {"lift", 1e-6},
    {"thrust_linear", 1e-6},
    {"thrust_cubic", 1e-13},
};
static const struct {
    const char *unit;
    double size;
} scales[] = {
    {"m", 0.1},     {"m/s", 0.5},    {"m/s^2", 0.1},     {"rad", 0.1},    {"rad/s", 0.3},  {"s", 0.02},
    {"N", 0.01},    {"N m", 1e-5},   {"N s", 1e-4},      {"N m s", 1e-7}, {"kg", 0.05},    {"kg m^2", 2e-5},
    {"m^2", 5e-3},  {"m^3", 1e-5},   {"m^4", 1e-8},      {"N s/m", 1e-3}, {"T", 3e-5},     {"Pa", 1.0},
    {"Hz", 20.0},   {"V", 0.05},     {"A", 0.05},        {"W", 0.2},      {"A m^2", 1e-3}, {"ohm", 0.1},
    {"rad/s", 1.0}, {"N s^2", 1e-8}, {"N m s^2", 1e-10}, {"N s", 1e-8},   {"1/s", 5.0},    {"kg m", 1e-8},
};

static double typical_size(const char *key, const char *unit)
{
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
        if (strcmp(sizes[i].name, key) == 0) return sizes[i].size;
    }
    for (size_t i = 0; i < sizeof scales / sizeof *scales; ++i) {
        if (strcmp(scales[i].unit, unit) == 0) return scales[i].size;
    }
    return 0.2;
}

// Seconds: periods are multiples of the step, moments lie within the flight.
static double draw_time(generator *g, const vy_schema_row *row, double typical)
{
    static const int multiples[] = {1, 2, 5, 10, 20};
    const double length = g->step * g->steps;
    if (row->flags & VY_ROW_PERIOD || strstr(row->key, "period") != NULL)
        return g->step * multiples[random_bits(&g->random) % 5];
    if (strcmp(row->key, "time") == 0) return length * (0.2 * g->index + random_in(&g->random, 0.0, 0.1));
    if (strcmp(row->key, "over") == 0) return length * random_in(&g->random, 0.7, 2.0);
    if (strcmp(row->key, "delay") == 0) return g->step * (double)(random_bits(&g->random) % 12);
    const int open = !(typical > 0.0 && typical < 1e9);
    if (!open) return typical * exp(random_in(&g->random, -0.7, 0.7));
    if (row->range.min == 0.0 && !row->range.exclusive_min && chance(g, 0.2)) return 0.0;
    return length * random_in(&g->random, 0.05, 0.6);
}

// [m] How high above what it falls onto a drone starts, so that most arrive within the flight.
double draw_gap(generator *g)
{
    return 0.02 + random_in(&g->random, 0.0, 0.7) * g->fall * g->step * g->steps;
}

// Near the default where that is of use, else of a usual size, by a factor of 2 either way.
static double draw_number(generator *g, const vy_schema_row *row, const char *unit, double typical)
{
    const vy_range range = vy_row_range(row, unit);
    double value;
    if (strcmp(row->key, "latitude") == 0)
        value = 0.8 + random_in(&g->random, -1e-7, 1e-7);
    else if (strcmp(row->key, "longitude") == 0) // some metres apart
        value = 0.1 + 1e-6 * g->index + random_in(&g->random, -1e-7, 1e-7);
    else if (strcmp(row->key, "altitude") == 0)
        value = g->start == START_IN_AIR ? random_in(&g->random, 0.5, 20.0) : draw_gap(g);
    else if (strcmp(unit, "s") == 0)
        value = draw_time(g, row, typical);
    else if (strcmp(unit, "year") == 0)
        value = random_in(&g->random, 2025.0, 2029.9);
    else if (range.max - range.min <= 10.0)
        value = random_in(&g->random, range.min, range.max);
    else {
        const int open = !(fabs(typical) > 1e-30 && fabs(typical) < 1e30);
        const double size = open ? typical_size(row->key, unit) : typical;
        value = size * exp(random_in(&g->random, -0.7, 0.7));
        if (open && range.min < 0.0 && chance(g, 0.5)) value = -value;
    }
    const int below = strcmp(row->key, "min") == 0 || strcmp(row->key, "low") == 0;
    if (below && range.min < 0.0) value = -fabs(value);
    if (strcmp(row->key, "high") == 0) value = fabs(value);
    if (value < range.min || (range.exclusive_min && value <= range.min))
        value = range.min + 1e-3 * (range.max - range.min);
    return value > range.max ? range.max : value;
}

static int put_numbers(generator *g, const vy_schema_row *row, const void *object, char *out, size_t size)
{
    const char *unit = vy_row_unit(row, object);
    double typical[8] = {0};
    const int count = row->flags & VY_ROW_VARIABLE_SIZE ? 4 : vy_row_number_count(row, object);
    assert_in_range(count, 1, 8);
    memcpy(typical, (const char *)object + row->offset, sizeof(double) * (size_t)count);
    size_t used = (size_t)snprintf(out, size, count > 1 || row->size_of == NULL ? "[" : "");
    double last = 0.0;
    for (int i = 0; i < count; ++i) {
        double value = draw_number(g, row, unit, typical[i]);
        if (strcmp(row->key, "voltage") == 0) value = 3.0 + 0.25 * i + random_in(&g->random, 0.0, 0.2);
        if (strcmp(row->key, "max") == 0) value = last = fabs(value);
        used += (size_t)snprintf(out + used, size - used, "%s%.17g", i > 0 ? ", " : "", value);
    }
    (void)last;
    snprintf(out + used, size - used, count > 1 || row->size_of == NULL ? "]" : "");
    return 1;
}

static int put_rotation(generator *g, char *out, size_t size)
{
    const double max = chance(g, 0.7) ? 0.3 : 3.0;
    const double a = random_in(&g->random, -max, max), b = random_in(&g->random, -max, max),
                 c = random_in(&g->random, -max, max);
    if (chance(g, 0.5))
        snprintf(out, size, "{roll: %.17g, pitch: %.17g, yaw: %.17g}", a, b, c);
    else
        snprintf(out, size, "[1, %.17g, %.17g, %.17g]", a, b, c);
    return 1;
}

static int put_table(generator *g, const vy_schema_row *row, char *out, size_t size)
{
    const int points = row->size == 3, rows = points ? 8 : 3, columns = points ? 3 : 4;
    size_t used = (size_t)snprintf(out, size, "[");
    for (int i = 0; i < rows; ++i) {
        used += (size_t)snprintf(out + used, size - used, "%s[", i > 0 ? ", " : "");
        for (int k = 0; k < columns; ++k)
            used += (size_t)snprintf(out + used, size - used, "%s%.17g", k > 0 ? ", " : "",
                                     random_in(&g->random, -0.1, 0.1));
        used += (size_t)snprintf(out + used, size - used, "]");
    }
    snprintf(out + used, size - used, "]");
    return 1;
}

// Who is meant: drones and bodies have the names they have by default.
static int put_name(generator *g, const vy_schema_row *row, char *out, size_t size)
{
    if (row->type == VY_TYPE_JOINT) {
        if (g->joints == 0 || chance(g, 0.3))
            snprintf(out, size, "all");
        else
            snprintf(out, size, "joint%d", (int)(random_bits(&g->random) % (unsigned)g->joints));
        return 1;
    }
    const int load = strcmp(row->key, "load") == 0 || strcmp(row->key, "b") == 0;
    const int carrier = strcmp(row->key, "carrier") == 0 || strcmp(row->key, "a") == 0;
    const int payload =
        strcmp(row->key, "load") == 0 || strcmp(row->key, "carrier") == 0; // joints from the front
    if (load && g->bodies > 0)
        snprintf(out, size, "body%d", payload ? g->bodies - 1 - g->index % g->bodies : g->index % g->bodies);
    else if (strcmp(row->key, "b") == 0)
        snprintf(out, size, "%s", "drone0");
    else if (carrier && row->keyword != NULL && chance(g, 0.3))
        snprintf(out, size, "%s", row->keyword);
    else if (carrier)
        snprintf(out, size, "drone%d", payload ? g->drones - 1 - g->index % g->drones : g->index % g->drones);
    else if (g->w->forced_count > 0) // the drone that has what is asked for
        snprintf(out, size, "drone0");
    else if (chance(g, 0.4))
        snprintf(out, size, "all");
    else if (chance(g, 0.3) && g->bodies > 0)
        snprintf(out, size, "body%d", (int)(random_bits(&g->random) % (unsigned)g->bodies));
    else
        snprintf(out, size, "drone%d",
                 chance(g, 0.5) ? 0 : (int)(random_bits(&g->random) % (unsigned)g->drones));
    return 1;
}

// Where a drone starts.
static void put_start(generator *g, double height, double jitter, char *out, size_t size)
{
    const vec3 air = vec3_make(2.0 * g->owner + jitter, jitter, height);
    vec3 at = air;
    if (g->start == START_ABOVE_GROUND) at.z = draw_gap(g);
    if (g->start == START_ABOVE_OBSTACLE) at = vec3_make(air.x, -0.3, -0.1 + draw_gap(g));
    if (g->start == START_TOWARDS_OTHERS)
        at = vec3_make((0.2 + 2.0 * draw_gap(g)) * (g->owner % 2), 4.0 * (g->owner / 2) + jitter, 1.0);
    snprintf(out, size, "[%.17g, %.17g, %.17g]", at.x, at.y, at.z);
}

static void put_start_velocity(generator *g, char *out, size_t size)
{
    const double x = random_in(&g->random, -0.3, 0.3), y = random_in(&g->random, -0.3, 0.3);
    if (g->start == START_TOWARDS_OTHERS)
        snprintf(out, size, "[%.17g, %.17g, 0]", g->owner % 2 == 0 ? g->fall : -g->fall, 0.1 * y);
    else
        snprintf(out, size, "[%.17g, %.17g, %.17g]", x, y, -g->fall);
}

// A fence around all of it, in a flat world and about a planet: one that a flight begins outside of ends it
// at once. 0: not a key of its places.
static int put_fence(generator *g, const char *key, char *out, size_t size)
{
    const double far = 1e8 * random_in(&g->random, 1.0, 1.4), low = -far;
    static const double corners[3][2] = {{2.0, -1.0}, {-2.0, -1.0}, {0.0, 2.0}};
    if (strcmp(key, "min") == 0)
        snprintf(out, size, "[%.17g, %.17g, %.17g]", low, low, low);
    else if (strcmp(key, "max") == 0)
        snprintf(out, size, "[%.17g, %.17g, %.17g]", far, far, far);
    else if (strcmp(key, "corners[].position") == 0)
        snprintf(out, size, "[%.17g, %.17g]", far * corners[g->index % 3][0], far * corners[g->index % 3][1]);
    else if (strcmp(key, "low") == 0)
        snprintf(out, size, "%.17g", low);
    else if (strcmp(key, "radius") == 0 || strcmp(key, "high") == 0)
        snprintf(out, size, "%.17g", far);
    else
        return 0;
    return 1;
}

// Keys whose values must fit others: where things are, so that they neither overlap nor are out of reach.
static int put_chosen(generator *g, const char *path, char *out, size_t size)
{
    static const double heights[] = {0.1, 0.3, 1.0, 2.5};
    static const char fence[] = "drones[].safety.fence.";
    const double jitter = random_in(&g->random, -0.02, 0.02),
                 height = heights[random_bits(&g->random) % (g->start == START_ABOVE_GROUND ? 2 : 4)];
    if (strncmp(path, fence, sizeof fence - 1) == 0 && !chance(g, 0.1) &&
        put_fence(g, path + sizeof fence - 1, out, size))
        return 1;
    if (strcmp(path, "volery") == 0)
        snprintf(out, size, "1");
    else if (strcmp(path, "step") == 0)
        snprintf(out, size, "%g", g->step);
    else if (strcmp(path, "duration") == 0)
        snprintf(out, size, "%.17g", g->step * g->steps);
    else if (strcmp(path, "seed") == 0)
        snprintf(out, size, "%llu", (unsigned long long)random_bits(&g->random));
    else if (strcmp(path, "drones[].start.position") == 0)
        put_start(g, height, jitter, out, size);
    else if (strcmp(path, "drones[].start.velocity") == 0 && g->start != START_IN_AIR)
        put_start_velocity(g, out, size);
    else if (strcmp(path, "bodies[].position") == 0)
        snprintf(out, size, "[%.17g, %.17g, %.17g]", 2.0 * g->index + 0.3 + jitter, 0.2 + jitter, height);
    else if (strcmp(path, "joints[].wheel_a") == 0)
        snprintf(out, size, "[%.17g, 0, 3.2]", 2.0 * g->index + jitter);
    else if (strcmp(path, "joints[].wheel_b") == 0)
        snprintf(out, size, "[%.17g, 0.2, 3.1]", 2.0 * g->index + 0.3 + jitter);
    else if (strcmp(path, "joints[].length") == 0 && g->is_pulley)
        snprintf(out, size, "%.17g", random_in(&g->random, 3.0, 7.0));
    else if (strcmp(path, "obstacles[].position") == 0)
        snprintf(out, size, "[%.17g, %.17g, %.17g]", 2.0 * g->index + jitter, -0.3, -0.2 + jitter);
    else if (strcmp(path, "world.gravity.bodies[].origin") == 0)
        snprintf(out, size, "[%d, 0, %.17g]", 1000 * g->index, -6378137.0);
    else if (strcmp(path, "world.gravity.bodies[].gm") == 0)
        snprintf(out, size, "%.17g", 3.986e14 / (1 + g->index * 1e6));
    else if (strcmp(path, "expect[].max") == 0)
        snprintf(out, size, "1e6");
    else if (strcmp(path, "world.wind.grid") == 0)
        snprintf(out, size, "canyon.csv");
    else if (strcmp(path, "drones[].controller.library") == 0)
        snprintf(out, size, "none.so");
    else if (strcmp(path, "drones[].controller.command") == 0)
        snprintf(out, size, "true");
    else if (strcmp(path, "drones[].start.rotor_speed") == 0)
        snprintf(out, size, "%.17g", random_in(&g->random, 50.0, 900.0));
    else if (strcmp(path, "drones[].controller.record") == 0) // of a vehicle with four rotors
        snprintf(out, size, "[[0, 0.6, 0.6, 0.6, 0.6], [0.02, 0.6, %.17g, 0.7, 0.5]]",
                 random_in(&g->random, 0.0, 1.0));
    else if (strcmp(path, "drones[].start.rotor_speeds") == 0)
        snprintf(out, size, "[%.17g, 300, 310, 320]", random_in(&g->random, 50.0, 700.0));
    else if (strcmp(path, "expect[].trajectory") == 0)
        snprintf(out, size, "[[0, 0, 0, 1], [%.17g, 0, 0, 2]]", random_in(&g->random, 0.01, 1.0));
    else if (strcmp(path, "world.planet.radius") == 0)
        snprintf(out, size, "6378137");
    else if (strcmp(path, "world.planet.rate") == 0)
        snprintf(out, size, "7.292115e-5");
    else
        return 0;
    return 1;
}

int draw_value(generator *g, const vy_schema_row *row, const char *path, const void *object, char *out,
               size_t size)
{
    double typical;
    if (put_chosen(g, path, out, size)) return 1;
    switch (row->type) {
    case VY_TYPE_NUMBER:
        memcpy(&typical, (const char *)object + row->offset, sizeof typical);
        snprintf(out, size, "%.17g", draw_number(g, row, vy_row_unit(row, object), typical));
        return 1;
    case VY_TYPE_INTEGER: snprintf(out, size, "%d", (int)(random_bits(&g->random) % 1000)); return 1;
    case VY_TYPE_COUNT: {
        const double min = row->range.min, max = row->range.max < min + 12 ? row->range.max : min + 12;
        snprintf(out, size, "%d", (int)random_in(&g->random, min, max + 0.999));
        return 1;
    }
    case VY_TYPE_VECTOR: return put_numbers(g, row, object, out, size);
    case VY_TYPE_ROTATION: return put_rotation(g, out, size);
    case VY_TYPE_INERTIA: {
        double first; // of the diagonal
        memcpy(&first, (const char *)object + row->offset, sizeof first);
        if (!(first > 0.0)) first = 2e-3;
        const double z = random_in(&g->random, 0.9, 1.3), y = random_in(&g->random, 0.9, 1.1);
        snprintf(out, size, "[%.17g, %.17g, %.17g]", first * random_in(&g->random, 0.9, 1.1), first * y,
                 first * z);
        return 1;
    }
    case VY_TYPE_DRONE:
    case VY_TYPE_JOINT: return put_name(g, row, out, size);
    case VY_TYPE_TABLE: return put_table(g, row, out, size);
    case VY_TYPE_NAMED: snprintf(out, size, "{gain: %.17g}", random_in(&g->random, -1.0, 1.0)); return 1;
    case VY_TYPE_TEXT:
    case VY_TYPE_CHOICE:
    case VY_TYPE_OBJECT:
    case VY_TYPE_LIST: break;
    }
    return 0;
}
