// schema.c - the rows of the scenario itself: drones, disturbances, expectations, log; and looking rows up.
// Other tables are in schema_*.c. A new value: a field in the C struct, its default where the struct gets its
// defaults, a row.
#include "scenario/schema_rows.h"
#include "world/world_def.h"
#include "base/assert.h"
#include "base/limits.h"
#include "estimators/estimators.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

_Static_assert(sizeof(vy_disturbance_kind) == sizeof(int) && sizeof(vy_frame) == sizeof(int) &&
                   sizeof(vy_expect_kind) == sizeof(int) && sizeof(vy_log_compression) == sizeof(int),
               "choices are read and written as int");

// --- drones

static const vy_schema_row angle_rows[] = {
    ROW("roll", NUMBER, vy_angles, roll, .unit = "rad", .range = ANY,
        .help = "about body +x: positive lowers the right side"),
    ROW("pitch", NUMBER, vy_angles, pitch, .unit = "rad", .range = ANY,
        .help = "about body +y: positive lowers the nose"),
    ROW("yaw", NUMBER, vy_angles, yaw, .unit = "rad", .range = ANY,
        .help = "about body +z: positive turns left"),
};
const vy_schema_table vy_angles_table = {
    .title = "Angles",
    .help = "An attitude may be written as angles, turned in the order yaw, pitch, roll.",
    .size = sizeof(vy_angles),
    ROWS(angle_rows),
};

static const vy_schema_row start_rows[] = {
    ROW("position", VECTOR, vy_scenario_drone, def.position, .size = 3, .unit = "m", .range = ANY,
        .help = "world axes"),
    ROW("velocity", VECTOR, vy_scenario_drone, def.velocity, .size = 3, .unit = "m/s", .range = ANY,
        .help = "world axes"),
    ROW("attitude", ROTATION, vy_scenario_drone, def.attitude, .unit = "rad", .range = ANY,
        .help = "body to world: [w, x, y, z] of any length above 0, or {roll, pitch, yaw}; see Angles"),
    ROW("rate", VECTOR, vy_scenario_drone, def.rate, .size = 3, .unit = "rad/s", .range = ANY,
        .help = "angular velocity, body axes"),
    ROW("rotor_speed", NUMBER, vy_scenario_drone, def.rotor_speed, .unit = "rad/s", .range = AT_LEAST_0,
        .keyword = "hover", .keyword_value = VY_HOVER_SPEED,
        .help = "of every rotor; `hover` carries the weight"),
    ROW("rotor_speeds", VECTOR, vy_scenario_drone, def.rotor_speeds, .size = VY_ROTOR_CAP, .unit = "rad/s",
        .range = AT_LEAST_0, .flags = VY_ROW_VARIABLE_SIZE | VY_ROW_HASHED_IF_SET,
        .help = "of each rotor, in place of `rotor_speed`; all 0: not given"),
    ROW("file", TEXT, vy_scenario_drone, start_file, .size = sizeof((vy_scenario_drone *)0)->start_file,
        .flags = VY_ROW_UNHASHED, .keyword = "none",
        .help =
            "a recorded flight beside the scenario: what it has of position, velocity, attitude, rate and "
            "rotor speeds, and is not given here, is the start"),
    ROW("columns", TEXT, vy_scenario_drone, start_columns,
        .size = sizeof((vy_scenario_drone *)0)->start_columns, .flags = VY_ROW_UNHASHED, .keyword = "none",
        .help = "which column of it is which quantity, as under Controller"),
    ROW("at", NUMBER, vy_scenario_drone, start_at, .unit = "s", .range = AT_LEAST_0, .flags = VY_ROW_UNHASHED,
        .help = "time since the file's first row; between rows in proportion"),
    ROW("latitude", NUMBER, vy_scenario_drone, place.latitude, .unit = "rad",
        .range = WITHIN(-1.5707963267948966, 1.5707963267948966), .keyword = "none",
        .keyword_value = VY_NO_LATITUDE,
        .help =
            "geodetic; with it the start is given over the ground of the planet, instead of in world axes"),
    ROW("longitude", NUMBER, vy_scenario_drone, place.longitude, .unit = "rad", .range = ANY,
        .help = "east of the meridian that lies on world +x at time 0"),
    ROW("altitude", NUMBER, vy_scenario_drone, place.altitude, .unit = "m", .range = ANY,
        .help = "above the ellipsoid"),
    ROW("velocity_ned", VECTOR, vy_scenario_drone, place.velocity, .size = 3, .unit = "m/s", .range = ANY,
        .help = "north, east, down, over the ground"),
    ROW("yaw_ned", NUMBER, vy_scenario_drone, place.yaw, .unit = "rad", .range = ANY,
        .help = "of the nose, clockwise from north"),
    ROW("pitch_ned", NUMBER, vy_scenario_drone, place.pitch, .unit = "rad", .range = ANY, .help = "nose up"),
    ROW("roll_ned", NUMBER, vy_scenario_drone, place.roll, .unit = "rad", .range = ANY,
        .help = "right side down"),
};
static const vy_schema_table start_table = {
    .title = "Start", .help = "Where and how a drone begins.", ROWS(start_rows)};

static const vy_choice altitude_references[] = {
    CHOICE("ellipsoid", VY_ALTITUDE_ELLIPSOID, "an altitude, as of GPS"),
    CHOICE("ground", VY_ALTITUDE_GROUND, "the surface of planet.origin's height"),
    CHOICE("start", VY_ALTITUDE_START, "the altitude at which the drone starts"),
};
static const vy_schema_row mission_rows[] = {
    ROW("time", NUMBER, vy_mission_point, time, .unit = "s", .range = ANY, .flags = VY_ROW_REQUIRED,
        .help = "when to be there; later than the point before"),
    ROW("latitude", NUMBER, vy_mission_point, latitude, .unit = "rad",
        .range = WITHIN(-1.5707963267948966, 1.5707963267948966), .flags = VY_ROW_REQUIRED,
        .help = "geodetic"),
    ROW("longitude", NUMBER, vy_mission_point, longitude, .unit = "rad", .range = ANY,
        .flags = VY_ROW_REQUIRED, .help = "east"),
    ROW("height", NUMBER, vy_mission_point, height, .unit = "m", .range = ANY, .flags = VY_ROW_REQUIRED,
        .help = "above what `above` names"),
    ROW("above", CHOICE, vy_mission_point, above, CHOICES(altitude_references),
        .help = "what the height is counted from"),
    ROW("heading", NUMBER, vy_mission_point, heading, .unit = "rad", .range = ANY,
        .default_text = "90 deg: east", .help = "of the nose, clockwise from north at planet.origin"),
};

static void init_mission_point(void *object, int index)
{
    (void)index;
    *(vy_mission_point *)object = (vy_mission_point){.heading = 1.5707963267948966};
}

static const vy_schema_table mission_table = {
    .title = "Mission",
    .help = "Setpoints by latitude and longitude, in place of the controller's; in a world with a "
            "planet.origin. In between the reference moves along a straight line.",
    .size = sizeof(vy_mission_point),
    .init = init_mission_point,
    ROWS(mission_rows)};

static void init_drone(void *object, int index)
{
    vy_scenario_drone *drone = object;
    memset(drone, 0, sizeof *drone);
    snprintf(drone->name, sizeof drone->name, "drone%d", index);
    drone->def = vy_default_drone_def();
    drone->def.rotor_speed = VY_HOVER_SPEED;
    drone->place.latitude = VY_NO_LATITUDE;
    drone->def.controller.instance = index;
}

static const vy_schema_row drone_rows[] = {
    ROW("name", TEXT, vy_scenario_drone, name, .size = VY_NAME_CAP,
        .flags = VY_ROW_UNHASHED | VY_ROW_IDENTIFIER, .default_text = "drone0, drone1, ...",
        .help = "unique"),
    ROW("vehicle", OBJECT, vy_scenario_drone, def.vehicle, .table = &vy_vehicle_table, .flags = VY_ROW_FILE,
        .default_text = "crazyflie2x",
        .help = "the name of a vehicle, a path ending in .yaml, or a mapping; see Vehicle"),
    GROUP("start", &start_table, .help = "where and how it begins"),
    GROUP("sensors", &vy_sensor_table, .help = "its sensors"),
    ROW("estimator", OBJECT, vy_scenario_drone, def.estimator, .table = &vy_table_estimator,
        .help = "its estimator"),
    ROW("controller", OBJECT, vy_scenario_drone, def.controller, .table = &vy_controller_table,
        .help = "its controller"),
    ROW("mission", LIST, vy_scenario_drone, mission, .table = &mission_table, .size = VY_SETPOINT_CAP,
        .count_offset = offsetof(vy_scenario_drone, mission_count), .flags = VY_ROW_HASHED_IF_SET,
        .help = "geodetic setpoints"),
    ROW("safety", OBJECT, vy_scenario_drone, def.safety, .table = &vy_table_safety,
        .help = "limits that end its run"),
    ROW("shape", OBJECT, vy_scenario_drone, def.solid, .table = &vy_shape_table,
        .help = "its collision shape"),
    ROW("crash", OBJECT, vy_scenario_drone, def.crash, .table = &vy_table_crash,
        .help = "which impacts count as crashes"),
};
static const vy_schema_table drone_table = {.title = "Drones",
                                            .help = "A list; each drone is a mapping of these keys.",
                                            .size = sizeof(vy_scenario_drone),
                                            .init = init_drone,
                                            ROWS(drone_rows)};

// --- disturbances

static const vy_choice disturbance_kinds[] = {
    CHOICE("constant", VY_DISTURBANCE_CONSTANT, "the same all the time"),
    CHOICE("impulse", VY_DISTURBANCE_IMPULSE, "an impulse spread evenly over `duration`"),
    CHOICE("sinusoid", VY_DISTURBANCE_SINUSOID, "amplitude times sin(2 pi frequency (t - start) + phase)"),
    CHOICE("noise", VY_DISTURBANCE_NOISE,
           "Gaussian noise below `frequency`; the amplitude is its standard deviation"),
};
static const vy_choice frames[] = {CHOICE("world", VY_FRAME_WORLD, "world axes"),
                                   CHOICE("body", VY_FRAME_BODY, "body axes")};

#define IMPULSE         (1u << VY_DISTURBANCE_IMPULSE)
#define SINUSOID        (1u << VY_DISTURBANCE_SINUSOID)
#define NOISE           (1u << VY_DISTURBANCE_NOISE)
#define ALL_BUT_IMPULSE (1u << VY_DISTURBANCE_CONSTANT | SINUSOID | NOISE)

#define FOREVER ((double)INFINITY)

static void init_disturbance(void *object, int index)
{
    (void)index;
    vy_scenario_disturbance *d = object;
    memset(d, 0, sizeof *d);
    d->drone = VY_EVERY_DRONE;
    d->def = vy_default_disturbance_def();
    d->def.duration = FOREVER;
}

static const vy_schema_row disturbance_rows[] = {
    ROW("kind", CHOICE, vy_scenario_disturbance, def.kind, CHOICES(disturbance_kinds),
        .flags = VY_ROW_REQUIRED, .help = "how it acts over time"),
    ROW("drone", DRONE, vy_scenario_disturbance, drone,
        .help = "the name of a drone, or `all`: each of them, with noise of its own"),
    ROW("frame", CHOICE, vy_scenario_disturbance, def.frame, CHOICES(frames),
        .help = "axes of force and torque"),
    ROW("force", VECTOR, vy_scenario_disturbance, def.force, .size = 3, .unit = "N", .range = ANY,
        .when = ALL_BUT_IMPULSE, .help = "amplitude per axis"),
    ROW("force", VECTOR, vy_scenario_disturbance, def.force, .size = 3, .unit = "N s", .range = ANY,
        .when = IMPULSE, .help = "impulse per axis"),
    ROW("torque", VECTOR, vy_scenario_disturbance, def.torque, .size = 3, .unit = "N m", .range = ANY,
        .when = ALL_BUT_IMPULSE, .help = "amplitude per axis"),
    ROW("torque", VECTOR, vy_scenario_disturbance, def.torque, .size = 3, .unit = "N m s", .range = ANY,
        .when = IMPULSE, .help = "angular impulse per axis"),
    ROW("start", NUMBER, vy_scenario_disturbance, def.start, .unit = "s", .range = AT_LEAST_0,
        .help = "when it begins"),
    ROW("duration", NUMBER, vy_scenario_disturbance, def.duration, .unit = "s", .range = POSITIVE,
        .keyword = "forever", .keyword_value = FOREVER, .when = ALL_BUT_IMPULSE, .help = "how long it acts"),
    ROW("duration", NUMBER, vy_scenario_disturbance, def.duration, .unit = "s", .range = POSITIVE,
        .flags = VY_ROW_REQUIRED, .when = IMPULSE, .help = "how long it acts, one step at least"),
    ROW("frequency", NUMBER, vy_scenario_disturbance, def.frequency, .unit = "Hz", .range = POSITIVE,
        .when = SINUSOID | NOISE, .help = "of the sinusoid, or the corner of the noise"),
    ROW("phase", NUMBER, vy_scenario_disturbance, def.phase, .unit = "rad", .range = ANY, .when = SINUSOID,
        .help = "at `start`"),
};
const vy_schema_table vy_disturbance_table = {.title = "Disturbances",
                                              .help = "A list of forces and torques from outside.",
                                              .size = sizeof(vy_scenario_disturbance),
                                              .init = init_disturbance,
                                              ROWS(disturbance_rows)};

// --- expectations, log, the scenario itself

enum {
#define QUANTITY(name, unit, help) QUANTITY_##name,
#include "scenario/quantities.inl"
#undef QUANTITY
};
static const vy_choice quantity_choices[] = {
#define QUANTITY(name, unit, help) {#name, QUANTITY_##name, help, unit},
#include "scenario/quantities.inl"
#undef QUANTITY
};
static const vy_choice expect_kinds[] = {
    CHOICE("end", VY_AT_END, "at the last step"),
    CHOICE("throughout", VY_AT_THROUGHOUT, "at every step"),
    CHOICE("rms", VY_AT_RMS, "the root mean square over every step"),
    CHOICE("settled", VY_AT_SETTLED, "how long from `after` on until it is within its bounds for good"),
    CHOICE("reached", VY_AT_REACHED, "how long until it is within its bounds for the first time"),
    CHOICE("overshoot", VY_AT_OVERSHOOT,
           "how far it goes beyond `target`, seen from where it was at `after`"),
    CHOICE("integral", VY_AT_INTEGRAL, "the integral over time from `after` on, of all drones together"),
};

static void init_expect(void *object, int index)
{
    (void)index;
    *(vy_expect_def *)object = (vy_expect_def){.body = VY_EVERY_DRONE,
                                               .joint = VY_EVERY_JOINT,
                                               .at = VY_AT_THROUGHOUT,
                                               .min = -DBL_MAX,
                                               .max = DBL_MAX};
}

static const char *unit_of_quantity(const void *object)
{
    int count;
    const vy_quantity *list = vy_quantities(&count);
    const vy_expect_def *e = object;
    const int index = e->quantity;
    if (index < 0 || index >= count) return "";
    return e->at == VY_AT_INTEGRAL ? list[index].integral_unit : list[index].unit;
}

static const vy_schema_row expect_rows[] = {
    ROW("quantity", CHOICE, vy_expect_def, quantity, CHOICES(quantity_choices),
        .flags = VY_ROW_REQUIRED | VY_ROW_UNHASHED, .help = "the quantity that is evaluated"),
    ROW("drone", DRONE, vy_expect_def, body, .flags = VY_ROW_UNHASHED,
        .help = "the name of a drone, or `all`"),
    ROW("joint", JOINT, vy_expect_def, joint, .flags = VY_ROW_UNHASHED,
        .help = "of a quantity of joints: the name of one, or `all` that have it"),
    ROW("at", CHOICE, vy_expect_def, at, CHOICES(expect_kinds), .flags = VY_ROW_UNHASHED,
        .help = "when it is looked at"),
    ROW("after", NUMBER, vy_expect_def, after, .unit = "s", .range = AT_LEAST_0, .flags = VY_ROW_UNHASHED,
        .help = "earlier steps are not looked at"),
    ROW("within", NUMBER, vy_expect_def, within, .unit = "s", .range = AT_LEAST_0, .keyword = "none",
        .flags = VY_ROW_UNHASHED, .help = "longest time for `settled` and `reached`"),
    ROW("target", NUMBER, vy_expect_def, target, .unit_of = unit_of_quantity, .range = ANY,
        .flags = VY_ROW_UNHASHED, .help = "of `overshoot`: the value to be reached, in the quantity's unit"),
    ROW("min", NUMBER, vy_expect_def, min, .unit_of = unit_of_quantity, .range = ANY, .keyword = "none",
        .keyword_value = -DBL_MAX, .flags = VY_ROW_UNHASHED,
        .help = "least value allowed, in the quantity's unit"),
    ROW("max", NUMBER, vy_expect_def, max, .unit_of = unit_of_quantity, .range = ANY, .keyword = "none",
        .keyword_value = DBL_MAX, .flags = VY_ROW_UNHASHED,
        .help = "largest value allowed, in the quantity's unit"),
    ROW("error_to", TEXT, vy_expect_def, error_to, .size = sizeof((vy_expect_def *)0)->error_to,
        .flags = VY_ROW_UNHASHED, .keyword = "none",
        .help = "of `position_error`: a recorded flight beside the scenario; the distance is that from its "
                "position, while it lasts"),
    ROW("columns", TEXT, vy_expect_def, columns, .size = sizeof((vy_expect_def *)0)->columns,
        .flags = VY_ROW_UNHASHED, .keyword = "none",
        .help = "which column of it is which quantity, as under Controller"),
    ROW("from", NUMBER, vy_expect_def, from, .unit = "s", .range = AT_LEAST_0, .flags = VY_ROW_UNHASHED,
        .help = "time since the file's first row at which the run begins"),
    ROW("trajectory", TABLE, vy_expect_def, trajectory, .size = 4, .range = WITHIN(-1e12, 1e12),
        .flags = VY_ROW_UNHASHED,
        .help = "the recorded flight itself: rows of a time [s], which rises, and x, y, z [m]"),
};
static const vy_schema_table expect_table = {
    .title = "Expectations",
    .help = "A list of bounds; a run that breaks one ends with exit status "
            "1. A run that `--duration` makes too short for one "
            "skips it, and says so.",
    .size = sizeof(vy_expect_def),
    .init = init_expect,
    ROWS(expect_rows)};

static const vy_choice log_compressions[] = {
    CHOICE("none", VY_LOG_NONE, "larger files, quicker to write"),
    CHOICE("zstd", VY_LOG_ZSTD, "files smaller by a quarter, slower to write"),
};
static const vy_schema_row log_rows[] = {
    ROW("every", COUNT, vy_log_def, every, .range = WITHIN(1.0, 1e9), .flags = VY_ROW_UNHASHED,
        .help = "steps from one record of each drone to the next"),
    ROW("snapshot", NUMBER, vy_log_def, snapshot, .unit = "s", .range = POSITIVE, .flags = VY_ROW_UNHASHED,
        .help = "between two records of the full state, from which a run can be branched"),
    ROW("display", NUMBER, vy_log_def, display, .unit = "s", .range = AT_LEAST_0, .keyword = "none",
        .keyword_value = 0.0, .flags = VY_ROW_UNHASHED,
        .help =
            "between two records for people and their tools: loads by effect, frames and poses for Foxglove"),
    ROW("energy", CHOICE, vy_log_def, energy, SWITCH, .flags = VY_ROW_UNHASHED,
        .help = "with an account of energy: where it came from and went, with `display`"),
    ROW("compression", CHOICE, vy_log_def, compression, CHOICES(log_compressions), .flags = VY_ROW_UNHASHED,
        .help = "of the log file"),
};
static const vy_schema_table log_table = {
    .title = "Log", .help = "What the log file holds.", .size = sizeof(vy_log_def), ROWS(log_rows)};

static void init_scenario(void *object, int index)
{
    (void)index;
    const vy_world_def world = vy_default_world_def();
    vy_scenario *s = object;
    *s = (vy_scenario){.version = VY_SCENARIO_VERSION,
                       .name = "untitled",
                       .seed = world.seed,
                       .step = world.dt,
                       .duration = 10.0,
                       .environment = world.environment,
                       .terrain = vy_default_obstacle_def(),
                       .contacts = {.def = world.contacts},
                       .closing = {world.closing_speed, world.open_limit},
                       .log = {.every = 10, .snapshot = 1.0, .display = 0.04, .compression = VY_LOG_NONE}};
    s->terrain.solid.kind = VY_COLLIDER_NONE;
}

static const vy_schema_row scenario_rows[] = {
    ROW("volery", COUNT, vy_scenario, version, .range = WITHIN(VY_SCENARIO_VERSION, VY_SCENARIO_VERSION),
        .flags = VY_ROW_REQUIRED | VY_ROW_UNHASHED, .help = "version of the format"),
    ROW("name", TEXT, vy_scenario, name, .size = sizeof((vy_scenario *)0)->name, .flags = VY_ROW_UNHASHED,
        .help = "for people"),
    ROW("seed", INTEGER, vy_scenario, seed, .help = "of everything random: the same seed, the same run"),
    ROW("step", NUMBER, vy_scenario, step, .unit = "s", .range = WITHIN(1e-9, 1.0),
        .help = "of the simulation; a period left to its default is the multiple of it nearest to that"),
    ROW("duration", NUMBER, vy_scenario, duration, .unit = "s", .range = ABOVE_TO(0.0, 1e9),
        .help = "of the run, to the nearest step"),
    ROW("world", OBJECT, vy_scenario, environment, .table = &vy_world_table, .help = "the environment"),
    ROW("drones", LIST, vy_scenario, drones, .table = &drone_table, .size = 1000, .range = {.min = 1.0},
        .count_offset = offsetof(vy_scenario, drone_count), .flags = VY_ROW_REQUIRED | VY_ROW_ALLOCATED,
        .help = "the drones"),
    ROW("bodies", LIST, vy_scenario, bodies, .table = &vy_body_table, .size = 1000,
        .count_offset = offsetof(vy_scenario, body_count), .flags = VY_ROW_ALLOCATED,
        .help = "rigid bodies without rotors: crates, loads, links"),
    ROW("joints", LIST, vy_scenario, joints, .table = &vy_joint_table, .size = 1000,
        .count_offset = offsetof(vy_scenario, joint_count), .flags = VY_ROW_ALLOCATED,
        .help = "joints between drones and bodies"),
    ROW("payloads", LIST, vy_scenario, payloads, .table = &vy_payload_table, .size = 1000,
        .count_offset = offsetof(vy_scenario, payload_count), .flags = VY_ROW_ALLOCATED,
        .help = "bodies that drones carry, attach and drop"),
    ROW("terrain", OBJECT, vy_scenario, terrain, .table = &vy_terrain_table, .help = "the ground"),
    ROW("obstacles", LIST, vy_scenario, obstacles, .table = &vy_obstacle_table, .size = 10000,
        .count_offset = offsetof(vy_scenario, obstacle_count), .flags = VY_ROW_ALLOCATED,
        .help = "static obstacles: walls, gates, pads"),
    ROW("contacts", OBJECT, vy_scenario, contacts, .table = &vy_contacts_table,
        .help = "how contacts are solved"),
    ROW("closing", OBJECT, vy_scenario, closing, .table = &vy_closing_table,
        .help = "how joints close that are open at the start"),
    ROW("disturbances", LIST, vy_scenario, disturbances, .table = &vy_disturbance_table, .size = 1000,
        .count_offset = offsetof(vy_scenario, disturbance_count), .flags = VY_ROW_ALLOCATED,
        .help = "forces and torques from outside"),
    ROW("faults", LIST, vy_scenario, faults, .table = &vy_fault_table, .size = 1000,
        .count_offset = offsetof(vy_scenario, fault_count), .flags = VY_ROW_ALLOCATED,
        .help = "faults of motors, sensors and commands"),
    ROW("expect", LIST, vy_scenario, expect, .table = &expect_table, .size = 1000,
        .count_offset = offsetof(vy_scenario, expect_count), .flags = VY_ROW_ALLOCATED | VY_ROW_UNHASHED,
        .help = "conditions that the run must meet"),
    ROW("log", OBJECT, vy_scenario, log, .table = &log_table, .flags = VY_ROW_UNHASHED,
        .help = "contents of the log file"),
};
const vy_schema_table vy_scenario_table = {
    .title = "Scenario",
    .help = "The keys of a scenario file.",
    .size = sizeof(vy_scenario),
    .init = init_scenario,
    ROWS(scenario_rows),
};

// --- looking things up

const char *vy_row_unit(const vy_schema_row *row, const void *object)
{
    if (row->unit_of != NULL) return row->unit_of(object);
    return row->unit != NULL ? row->unit : "";
}

int vy_row_number_count(const vy_schema_row *row, const void *object)
{
    return row->size_of != NULL ? row->size_of(object) : (int)row->size;
}

const vy_schema_row *vy_table_find(const vy_schema_table *table, const char *key)
{
    for (int i = 0; i < table->row_count; ++i) {
        if (strcmp(table->rows[i].key, key) == 0) return &table->rows[i];
    }
    return NULL;
}

const void *vy_list_elements(const vy_schema_row *row, const void *object, int *count)
{
    const char *base = object;
    const void *elements = base + row->offset;
    VY_ASSERT(row->count_offset != row->offset);
    if (row->flags & VY_ROW_ALLOCATED) memcpy(&elements, base + row->offset, sizeof elements);
    memcpy(count, base + row->count_offset, sizeof *count);
    return elements;
}

const char *vy_bool_word(const char *name)
{
    if (strcmp(name, "on") == 0 || strcmp(name, "yes") == 0) return "true";
    return strcmp(name, "off") == 0 || strcmp(name, "no") == 0 ? "false" : NULL;
}

const vy_choice *vy_choice_of(const vy_schema_row *row, int value)
{
    for (int i = 0; i < row->choice_count; ++i) {
        if (row->choices[i].value == value) return &row->choices[i];
    }
    return NULL;
}
