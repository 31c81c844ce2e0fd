// schema_vehicle.c - the rows of a vehicle; those of its parts are in vehicle/.
#include "scenario/schema_rows.h"
#include "vehicle/parts.h"
#include <string.h>

_Static_assert(sizeof(vy_allocation) == sizeof(int), "choices are read and written as int");

static const vy_choice spin_choices[] = {CHOICE("cw", -1, "clockwise from above"),
                                         CHOICE("ccw", 1, "counter-clockwise from above")};
static const vy_choice allocation_choices[] = {
    CHOICE("physical", VY_ALLOCATION_PHYSICAL,
           "lever arm times thrust, and the reaction to each rotor's spin"),
    CHOICE("documented", VY_ALLOCATION_DOCUMENTED,
           "the published rows of the Crazyflie engine: pitch and yaw reversed"),
};

static void init_rotor(void *object, int index)
{
    (void)index;
    *(vy_rotor_def *)object = (vy_rotor_def){.spin = 1};
}

static const vy_schema_row rotor_rows[] = {
    ROW("position", VECTOR, vy_rotor_def, position, .size = 3, .unit = "m", .range = ANY,
        .flags = VY_ROW_REQUIRED, .help = "of the hub, body axes (forward, left, up)"),
    ROW("spin", CHOICE, vy_rotor_def, spin, CHOICES(spin_choices), .flags = VY_ROW_REQUIRED,
        .help = "direction of rotation, seen against the axis"),
    ROW("axis", VECTOR, vy_rotor_def, axis, .size = 3, .range = ANY,
        .help = "direction of its thrust, any length; zero is body +z"),
    ROW("thrust_coef", NUMBER, vy_rotor_def, thrust_coef, .unit = "N s^2", .range = AT_LEAST_0,
        .keyword = "same", .help = "of this rotor; `same` is the vehicle's"),
    ROW("torque_coef", NUMBER, vy_rotor_def, torque_coef, .unit = "N m s^2", .range = AT_LEAST_0,
        .keyword = "same", .help = "of this rotor; `same` has the vehicle's ratio of torque to thrust"),
};
static const vy_schema_table rotor_table = {.title = "Rotors",
                                            .help = "A list; each thrusts along its axis.",
                                            .size = sizeof(vy_rotor_def),
                                            .init = init_rotor,
                                            ROWS(rotor_rows)};

static void init_collision_point(void *object, int index)
{
    (void)index;
    memset(object, 0, sizeof(vy_collision_point));
}

static const vy_schema_row collision_point_rows[] = {
    ROW("position", VECTOR, vy_collision_point, position, .size = 3, .unit = "m", .range = ANY,
        .flags = VY_ROW_REQUIRED, .help = "body axes"),
};
static const vy_schema_table collision_point_table = {.title = "Collision points",
                                                      .help = "A list of points that touch things first.",
                                                      .size = sizeof(vy_collision_point),
                                                      .init = init_collision_point,
                                                      ROWS(collision_point_rows)};

// A vehicle without a base must give every value.
static void init_vehicle(void *object, int index)
{
    (void)index;
    vy_vehicle_def *def = object;
    const uint32_t cookie = vy_default_vehicle_def().cookie;
    memset(def, 0, sizeof *def);
    def->cookie = cookie;
    def->allocation = VY_ALLOCATION_PHYSICAL;
    def->command_curve = 1.0;
    for (int i = 0; i < vy_vehicle_part_count; ++i) {
        const vehicle_part *p = vy_vehicle_parts[i];
        if (p->defaults != NULL) memcpy((char *)def + p->offset, p->defaults, p->table->size);
    }
    memcpy(def->name, "unnamed", sizeof "unnamed");
}

static vy_status vehicle_preset(const char *name, void *object, vy_error *err)
{
    return vy_vehicle_preset(name, object, err);
}

// The table of each part stands in its own file, vehicle/NAME.c.
#define PART_ROW(name, text) \
    ROW(#name, OBJECT, vy_vehicle_def, name, .table = &vy_table_##name, .help = text),
#define LIST_ROW(name, list, text)                                                          \
    ROW(#list, LIST, vy_vehicle_def, list, .table = &vy_table_##name, .size = VY_ROTOR_CAP, \
        .count_offset = offsetof(vy_vehicle_def, name##_count), .help = text),
static const vy_schema_row vehicle_rows[] = {
    ROW("name", TEXT, vy_vehicle_def, name, .size = VY_NAME_CAP, .flags = VY_ROW_UNHASHED | VY_ROW_IDENTIFIER,
        .help = "for people"),
    ROW("mass", NUMBER, vy_vehicle_def, mass, .unit = "kg", .range = POSITIVE, .flags = VY_ROW_REQUIRED,
        .help = "of everything that flies"),
    ROW("inertia", INERTIA, vy_vehicle_def, inertia, .unit = "kg m^2", .range = ANY, .flags = VY_ROW_REQUIRED,
        .help = "about the centre of mass, body axes: the diagonal [x, y, z] or three rows"),
    ROW("centre_of_mass", VECTOR, vy_vehicle_def, centre_of_mass, .size = 3, .unit = "m", .range = ANY,
        .help = "from the origin that every position in this file refers to"),
    ROW("rotors", LIST, vy_vehicle_def, rotors, .table = &rotor_table, .size = VY_ROTOR_CAP,
        .count_offset = offsetof(vy_vehicle_def, rotor_count), .help = "none: a rigid body without rotors"),
    VEHICLE_LISTS(LIST_ROW) ROW("allocation", CHOICE, vy_vehicle_def, allocation, CHOICES(allocation_choices),
                                .help = "how thrust becomes torque"),
    ROW("thrust_coef", NUMBER, vy_vehicle_def, thrust_coef, .unit = "N s^2", .range = AT_LEAST_0,
        .help = "thrust of a rotor over its speed squared; above 0 with rotors"),
    ROW("torque_coef", NUMBER, vy_vehicle_def, torque_coef, .unit = "N m s^2", .range = AT_LEAST_0,
        .help = "drag torque of a rotor over its speed squared"),
    ROW("speed_max", NUMBER, vy_vehicle_def, speed_max, .unit = "rad/s", .range = AT_LEAST_0,
        .help = "rotor speed at full command; above 0 with rotors"),
    ROW("motor_lag", NUMBER, vy_vehicle_def, motor_lag, .unit = "s", .range = AT_LEAST_0,
        .help = "time constant of rotor speed; 0 is an ideal motor"),
    ROW("motor_lag_down", NUMBER, vy_vehicle_def, motor_lag_down, .unit = "s", .range = AT_LEAST_0,
        .keyword = "same", .help = "the same when the speed falls; `same` as it rises"),
    ROW("thrust_linear", NUMBER, vy_vehicle_def, thrust_linear, .unit = "N s", .range = ANY,
        .help = "thrust over speed, beside thrust_coef; then the drag torque follows the thrust"),
    ROW("thrust_cubic", NUMBER, vy_vehicle_def, thrust_cubic, .unit = "N s^3", .range = ANY,
        .help = "thrust over speed cubed, likewise"),
    ROW("command_dead", NUMBER, vy_vehicle_def, command_dead, .range = WITHIN(0.0, 0.999),
        .help = "commands up to this one stop the rotor"),
    ROW("command_curve", NUMBER, vy_vehicle_def, command_curve, .range = WITHIN(0.0, 1.0),
        .help = "1: speed is proportional to the command, 0: thrust is; between them a mixture"),
    ROW("speed_idle", NUMBER, vy_vehicle_def, speed_idle, .unit = "rad/s", .range = AT_LEAST_0,
        .help = "rotor speed just above the dead zone; below speed_max"),
    ROW("drag_linear", VECTOR, vy_vehicle_def, drag_linear, .size = 3, .unit = "N s/m", .range = AT_LEAST_0,
        .help = "air resistance over airspeed, body axes"),
    ROW("area", NUMBER, vy_vehicle_def, area, .unit = "m^2", .range = AT_LEAST_0,
        .help = "that cd and cl refer to"),
    ROW("cd", NUMBER, vy_vehicle_def, cd, .range = AT_LEAST_0, .help = "drag coefficient"),
    ROW("cl", NUMBER, vy_vehicle_def, cl, .range = ANY, .help = "lift coefficient"),
    ROW("volume", NUMBER, vy_vehicle_def, volume, .unit = "m^3", .range = AT_LEAST_0,
        .help = "of the air it displaces"),
    ROW("pressure_centre", VECTOR, vy_vehicle_def, pressure_centre, .size = 3, .unit = "m", .range = ANY,
        .help = "where drag and lift act, body axes"),
    ROW("damping_area", VECTOR, vy_vehicle_def, damping_area, .size = 3, .unit = "m^4", .range = AT_LEAST_0,
        .help = "of damping by the air: minus the derivative times area times length squared"),
    ROW("damping", VECTOR, vy_vehicle_def, damping, .size = 3, .unit = "N m s", .range = AT_LEAST_0,
        .help = "of rotation, whatever the air"),
    ROW("density_scaling", CHOICE, vy_vehicle_def, density_scaling, SWITCH,
        .help = "whether rotor thrust and torque follow the air's density; they hold at 1.225 kg/m^3"),
    ROW("dipole", VECTOR, vy_vehicle_def, dipole, .size = 3, .unit = "A m^2", .range = ANY,
        .help = "magnetic, body axes"),
    ROW("light_area", NUMBER, vy_vehicle_def, light_area, .unit = "m^2", .range = AT_LEAST_0,
        .help = "for the pressure of sunlight, times the reflectivity factor"),
    ROW("torque_ref", NUMBER, vy_vehicle_def, torque_ref, .unit = "N m", .range = AT_LEAST_0,
        .help =
            "reference of the negligibility policy; 0 takes the strongest torque of one rotor or thruster"),
    VEHICLE_PARTS(PART_ROW)
        ROW("collision_points", LIST, vy_vehicle_def, collision_points, .table = &collision_point_table,
            .size = VY_COLLISION_POINT_CAP, .count_offset = offsetof(vy_vehicle_def, collision_point_count),
            .help = "that touch things first"),
};
const vy_schema_table vy_vehicle_table = {
    .title = "Vehicle",
    .help = "A file `NAME.yaml`, or the mapping under `vehicle`. With `base: NAME` it starts from that "
            "vehicle and says "
            "only what differs.",
    .size = sizeof(vy_vehicle_def),
    .init = init_vehicle,
    .preset = vehicle_preset,
    ROWS(vehicle_rows),
};
