// schema.c - the rows. A new value: a field in the C struct, its default where the struct gets its defaults,
// a row here.
#include "scenario/schema_rows.h"
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

_Static_assert(sizeof(vy_allocation) == sizeof(int) && sizeof(vy_controller_kind) == sizeof(int) &&
                   sizeof(vy_disturbance_kind) == sizeof(int) && sizeof(vy_frame) == sizeof(int) &&
                   sizeof(vy_expect_at) == sizeof(int) && sizeof(vy_log_compression) == sizeof(int) &&
                   sizeof(vy_rung) == sizeof(int) && sizeof(vy_rate_law) == sizeof(int),
               "choices are read and written as int");

// --- vehicles

static const vy_choice spins[] = {CHOICE("cw", -1, "clockwise from above"),
                                  CHOICE("ccw", 1, "counter-clockwise from above")};
static const vy_choice allocations[] = {
    CHOICE("physical", VY_ALLOCATION_PHYSICAL,
           "lever arm times thrust, and the reaction to each rotor's spin"),
    CHOICE("documented", VY_ALLOCATION_DOCUMENTED,
           "the published rows of the Crazyflie engine: pitch and yaw reversed"),
};

static const vy_choice switches[] = {CHOICE("off", 0, "it does not"), CHOICE("on", 1, "it does")};

static void init_rotor(void *object, int index)
{
    (void)index;
    *(vy_rotor_def *)object = (vy_rotor_def){.spin = 1};
}

static const vy_row rotor_rows[] = {
    ROW("position", VECTOR, vy_rotor_def, position, .size = 3, .unit = "m", .range = ANY,
        .flags = VY_ROW_REQUIRED, .help = "of the hub, body axes (forward, left, up)"),
    ROW("spin", CHOICE, vy_rotor_def, spin, CHOICES(spins), .flags = VY_ROW_REQUIRED,
        .help = "direction of rotation, seen against the axis"),
    ROW("axis", VECTOR, vy_rotor_def, axis, .size = 3, .range = ANY,
        .help = "direction of its thrust, any length; zero is body +z"),
    ROW("thrust_coef", NUMBER, vy_rotor_def, thrust_coef, .unit = "N s^2", .range = AT_LEAST_0,
        .word = "same", .help = "of this rotor; `same` is the vehicle's"),
    ROW("torque_coef", NUMBER, vy_rotor_def, torque_coef, .unit = "N m s^2", .range = AT_LEAST_0,
        .word = "same", .help = "of this rotor; `same` has the vehicle's ratio of torque to thrust"),
};
static const vy_table rotor_table = {.title = "Rotors",
                                     .help = "A list; each thrusts along its axis.",
                                     .size = sizeof(vy_rotor_def),
                                     .init = init_rotor,
                                     ROWS(rotor_rows)};

static void init_thruster(void *object, int index)
{
    (void)index;
    memset(object, 0, sizeof(vy_thruster_def));
}

static const vy_row thruster_rows[] = {
    ROW("position", VECTOR, vy_thruster_def, position, .size = 3, .unit = "m", .range = ANY,
        .flags = VY_ROW_REQUIRED, .help = "where the force acts, body axes"),
    ROW("axis", VECTOR, vy_thruster_def, axis, .size = 3, .range = ANY,
        .help = "direction of the force on the vehicle, any length; zero is body +z"),
    ROW("thrust_max", NUMBER, vy_thruster_def, thrust_max, .unit = "N", .range = POSITIVE,
        .flags = VY_ROW_REQUIRED, .help = "at command 1, or with the valve open"),
    ROW("thrust_min", NUMBER, vy_thruster_def, thrust_min, .unit = "N", .range = AT_LEAST_0,
        .help = "at the least command above 0; command 0 is off"),
    ROW("lag", NUMBER, vy_thruster_def, lag, .unit = "s", .range = AT_LEAST_0,
        .help = "time constant of the thrust; 0 follows at once"),
    ROW("lag_down", NUMBER, vy_thruster_def, lag_down, .unit = "s", .range = AT_LEAST_0, .word = "same",
        .help = "the same when it falls; `same` as it rises"),
    ROW("pulse_period", NUMBER, vy_thruster_def, pulse_period, .unit = "s", .range = AT_LEAST_0,
        .word = "none",
        .help = "the valve is open for the command's share of it, a whole multiple of the step; `none`: "
                "throttled"),
    ROW("pulse_min", NUMBER, vy_thruster_def, pulse_min, .unit = "s", .range = AT_LEAST_0,
        .help = "shortest pulse; what is shorter waits for the next period"),
};
static const vy_table thruster_table = {
    .title = "Thrusters",
    .help =
        "A list of jets and thrusters. Their commands follow those of the rotors; where there are no rotors, "
        "they make thrust and torque.",
    .size = sizeof(vy_thruster_def),
    .init = init_thruster,
    ROWS(thruster_rows)};

static const vy_row rotor_air_rows[] = {
    ROW("radius", NUMBER, vy_rotor_air_def, radius, .unit = "m", .range = AT_LEAST_0,
        .help = "of the discs; needed by inflow, vortex_loss, ground, blades and wakes"),
    ROW("drag", NUMBER, vy_rotor_air_def, drag, .unit = "kg", .range = AT_LEAST_0,
        .help = "force over rotor speed and airspeed across the axis"),
    ROW("drag_axial", NUMBER, vy_rotor_air_def, drag_axial, .unit = "kg", .range = AT_LEAST_0,
        .help = "the same along the axis"),
    ROW("flap", NUMBER, vy_rotor_air_def, flap, .unit = "kg m", .range = AT_LEAST_0,
        .help = "torque over rotor speed and airspeed"),
    ROW("lift", NUMBER, vy_rotor_air_def, lift, .unit = "kg/m", .range = AT_LEAST_0,
        .help = "thrust over airspeed across the axis, squared"),
    ROW("inflow", NUMBER, vy_rotor_air_def, inflow, .unit = "kg", .range = AT_LEAST_0,
        .help = "thrust over rotor speed and velocity through the disc"),
    ROW("inflow_lag", NUMBER, vy_rotor_air_def, inflow_lag, .unit = "s", .range = AT_LEAST_0,
        .help = "time constant of the induced velocity"),
    ROW("vortex_loss", NUMBER, vy_rotor_air_def, vortex_loss, .range = WITHIN(0.0, 1.0),
        .help = "share of thrust lost in the middle of the vortex ring state"),
    ROW("inertia", NUMBER, vy_rotor_air_def, inertia, .unit = "kg m^2", .range = AT_LEAST_0,
        .help = "of a rotor about its axis, for gyroscopic torques"),
    ROW("ground", CHOICE, vy_rotor_air_def, ground, CHOICES(switches),
        .help = "whether thrust grows near the ground: terrain and obstacles, or z = 0 where there are none"),
};
static const vy_table rotor_air_table = {.title = "Rotors in the air",
                                         .help = "The same for every rotor; 0 leaves an effect out.",
                                         .size = sizeof(vy_rotor_air_def),
                                         ROWS(rotor_air_rows)};

static const vy_row blade_rows[] = {
    ROW("count", COUNT, vy_blade_def, count, .range = WITHIN(0.0, 16.0),
        .help = "blades of a rotor; 0: none, thrust and torque are the coefficients'"),
    ROW("chord", NUMBER, vy_blade_def, chord, .unit = "m", .range = AT_LEAST_0, .help = "of a blade"),
    ROW("twist", NUMBER, vy_blade_def, twist, .unit = "rad", .range = WITHIN(0.0, 1.0),
        .help = "pitch at the axis less pitch at the tip"),
    ROW("lift_slope", NUMBER, vy_blade_def, lift_slope, .unit = "1/rad", .range = AT_LEAST_0,
        .help = "lift coefficient over angle of attack"),
    ROW("lift_max", NUMBER, vy_blade_def, lift_max, .range = AT_LEAST_0, .help = "largest lift coefficient"),
    ROW("drag_square", NUMBER, vy_blade_def, drag_square, .range = AT_LEAST_0,
        .help = "drag coefficient over the square of the sine of the angle of attack"),
};
static const vy_table blade_table = {
    .title = "Blades",
    .help = "Blade elements instead of the coefficients; pitch and profile drag follow from "
            "`thrust_coef` and `torque_coef` in hover.",
    .size = sizeof(vy_blade_def),
    ROWS(blade_rows)};

static const vy_row battery_rows[] = {
    ROW("capacity", NUMBER, vy_battery_def, capacity, .unit = "A s", .range = AT_LEAST_0, .word = "none",
        .help = "`none`: the voltage is always nominal"),
    ROW("charge", NUMBER, vy_battery_def, charge, .range = WITHIN(0.0, 1.0), .help = "at the start"),
    ROW("resistance", NUMBER, vy_battery_def, resistance, .unit = "ohm", .range = AT_LEAST_0,
        .help = "inner"),
    ROW("nominal", NUMBER, vy_battery_def, nominal, .unit = "V", .range = AT_LEAST_0,
        .help = "at which rotors reach the speed they are told"),
    ROW("voltage", VECTOR, vy_battery_def, voltage, .size = 5, .unit = "V", .range = AT_LEAST_0,
        .help = "open circuit, at charge 0, 1/4, 1/2, 3/4, 1"),
    ROW("efficiency", NUMBER, vy_battery_def, efficiency, .range = WITHIN(0.0, 1.0),
        .help = "of motors and their electronics"),
    ROW("power", NUMBER, vy_battery_def, power, .unit = "W", .range = AT_LEAST_0,
        .help = "of everything that is no rotor"),
};
static const vy_table battery_table = {.title = "Battery",
                                       .help = "What the rotors' speed depends on.",
                                       .size = sizeof(vy_battery_def),
                                       ROWS(battery_rows)};

static void init_collision_point(void *object, int index)
{
    (void)index;
    memset(object, 0, sizeof(vy_collision_point));
}

static const vy_row collision_point_rows[] = {
    ROW("position", VECTOR, vy_collision_point, position, .size = 3, .unit = "m", .range = ANY,
        .flags = VY_ROW_REQUIRED, .help = "body axes"),
};
static const vy_table collision_point_table = {.title = "Collision points",
                                               .help = "A list of points that touch things first.",
                                               .size = sizeof(vy_collision_point),
                                               .init = init_collision_point,
                                               ROWS(collision_point_rows)};

// A vehicle that stands on no other says everything itself.
static void init_vehicle(void *object, int index)
{
    (void)index;
    vy_vehicle_def *def = object;
    const uint32_t cookie = vy_default_vehicle_def().cookie;
    memset(def, 0, sizeof *def);
    def->cookie = cookie;
    def->allocation = VY_ALLOCATION_PHYSICAL;
    def->command_curve = 1.0;
    def->battery.charge = def->battery.efficiency = 1.0;
    def->drive.land_speed = 0.5;
    memcpy(def->name, "unnamed", sizeof "unnamed");
}

static vy_status vehicle_preset(const char *name, void *object, vy_error *err)
{
    return vy_vehicle_preset(name, object, err);
}

static const vy_row vehicle_rows[] = {
    ROW("name", TEXT, vy_vehicle_def, name, .size = VY_NAME_CAP, .flags = VY_ROW_LABEL | VY_ROW_IDENTIFIER,
        .help = "for people"),
    ROW("mass", NUMBER, vy_vehicle_def, mass, .unit = "kg", .range = POSITIVE, .flags = VY_ROW_REQUIRED,
        .help = "of everything that flies"),
    ROW("inertia", INERTIA, vy_vehicle_def, inertia, .unit = "kg m^2", .range = ANY, .flags = VY_ROW_REQUIRED,
        .help = "about the centre of mass, body axes: the diagonal [x, y, z] or three rows"),
    ROW("centre_of_mass", VECTOR, vy_vehicle_def, centre_of_mass, .size = 3, .unit = "m", .range = ANY,
        .help = "from the origin that every position in this file refers to"),
    ROW("rotors", LIST, vy_vehicle_def, rotors, .table = &rotor_table, .size = VY_ROTOR_CAP,
        .count_offset = offsetof(vy_vehicle_def, rotor_count), .help = "none: a plain body"),
    ROW("thrusters", LIST, vy_vehicle_def, thrusters, .table = &thruster_table, .size = VY_ROTOR_CAP,
        .count_offset = offsetof(vy_vehicle_def, thruster_count),
        .help = "jets and thrusters; with the rotors at most 8"),
    ROW("allocation", CHOICE, vy_vehicle_def, allocation, CHOICES(allocations),
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
        .word = "same", .help = "the same when the speed falls; `same` as it rises"),
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
    ROW("density_scaling", CHOICE, vy_vehicle_def, density_scaling, CHOICES(switches),
        .help = "whether rotor thrust and torque follow the air's density; they hold at 1.225 kg/m^3"),
    ROW("dipole", VECTOR, vy_vehicle_def, dipole, .size = 3, .unit = "A m^2", .range = ANY,
        .help = "magnetic, body axes"),
    ROW("light_area", NUMBER, vy_vehicle_def, light_area, .unit = "m^2", .range = AT_LEAST_0,
        .help = "for the pressure of sunlight, times the reflectivity factor"),
    ROW("torque_ref", NUMBER, vy_vehicle_def, torque_ref, .unit = "N m", .range = AT_LEAST_0,
        .help =
            "reference of the negligibility policy; 0 takes the strongest torque of one rotor or thruster"),
    ROW("rotor_air", OBJECT, vy_vehicle_def, rotor_air, .table = &rotor_air_table,
        .help = "rotors in moving air"),
    ROW("blade", OBJECT, vy_vehicle_def, blade, .table = &blade_table, .help = "rotors by blade elements"),
    ROW("battery", OBJECT, vy_vehicle_def, battery, .table = &battery_table, .help = "what feeds the motors"),
    ROW("drive", OBJECT, vy_vehicle_def, drive, .table = &vy_drive_table,
        .help = "limits between intent and motors, and what acts without an intent"),
    ROW("collision_points", LIST, vy_vehicle_def, collision_points, .table = &collision_point_table,
        .size = VY_COLLISION_POINT_CAP, .count_offset = offsetof(vy_vehicle_def, collision_point_count),
        .help = "that touch things first"),
};
const vy_table vy_vehicle_table = {
    .title = "Vehicle",
    .help = "A file `NAME.yaml`, or the mapping under `vehicle`. With `base: NAME` it starts from that "
            "vehicle and says "
            "only what differs.",
    .size = sizeof(vy_vehicle_def),
    .init = init_vehicle,
    .preset = vehicle_preset,
    ROWS(vehicle_rows),
};

// --- drones

static const vy_row angle_rows[] = {
    ROW("roll", NUMBER, vy_angles, roll, .unit = "rad", .range = ANY,
        .help = "about body +x: positive lowers the right side"),
    ROW("pitch", NUMBER, vy_angles, pitch, .unit = "rad", .range = ANY,
        .help = "about body +y: positive lowers the nose"),
    ROW("yaw", NUMBER, vy_angles, yaw, .unit = "rad", .range = ANY,
        .help = "about body +z: positive turns left"),
};
const vy_table vy_angles_table = {
    .title = "Angles",
    .help = "An attitude may be written as angles, turned in the order yaw, pitch, roll.",
    .size = sizeof(vy_angles),
    ROWS(angle_rows),
};

static const vy_row start_rows[] = {
    ROW("position", VECTOR, vy_scenario_drone, def.position, .size = 3, .unit = "m", .range = ANY,
        .help = "world axes"),
    ROW("velocity", VECTOR, vy_scenario_drone, def.velocity, .size = 3, .unit = "m/s", .range = ANY,
        .help = "world axes"),
    ROW("attitude", ROTATION, vy_scenario_drone, def.attitude, .unit = "rad", .range = ANY,
        .help = "body to world: [w, x, y, z] of any length above 0, or {roll, pitch, yaw}; see Angles"),
    ROW("rate", VECTOR, vy_scenario_drone, def.rate, .size = 3, .unit = "rad/s", .range = ANY,
        .help = "angular velocity, body axes"),
    ROW("rotor_speed", NUMBER, vy_scenario_drone, def.rotor_speed, .unit = "rad/s", .range = AT_LEAST_0,
        .word = "hover", .word_value = VY_HOVER, .help = "of every rotor; `hover` carries the weight"),
    ROW("latitude", NUMBER, vy_scenario_drone, place.latitude, .unit = "rad",
        .range = WITHIN(-1.5707963267948966, 1.5707963267948966), .word = "none", .word_value = VY_NOWHERE,
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
static const vy_table start_table = {
    .title = "Start", .help = "Where and how a drone begins.", ROWS(start_rows)};

static const vy_row gain_rows[] = {
    ROW("position", NUMBER, vy_gains, position, .unit = "1/s^2", .range = AT_LEAST_0,
        .help = "acceleration per position error"),
    ROW("velocity", NUMBER, vy_gains, velocity, .unit = "1/s", .range = AT_LEAST_0,
        .help = "acceleration per velocity error"),
    ROW("integral", NUMBER, vy_gains, integral, .unit = "1/s^3", .range = AT_LEAST_0,
        .help = "acceleration per integrated position error"),
    ROW("attitude", NUMBER, vy_gains, attitude, .unit = "1/s", .range = AT_LEAST_0,
        .help = "rate per roll and pitch error"),
    ROW("yaw", NUMBER, vy_gains, yaw, .unit = "1/s", .range = AT_LEAST_0, .help = "rate per yaw error"),
    ROW("rate", NUMBER, vy_gains, rate, .unit = "1/s", .range = AT_LEAST_0,
        .help = "angular acceleration per rate error"),
    ROW("tilt_max", NUMBER, vy_gains, tilt_max, .unit = "rad", .range = ABOVE_TO(0.0, 1.5),
        .help = "largest tilt the position loop asks for"),
};
static const vy_table gain_table = {.title = "Gains",
                                    .help = "Of the built-in controller; they do not depend on the vehicle.",
                                    .size = sizeof(vy_gains),
                                    ROWS(gain_rows)};

static const vy_row pilot_rows[] = {
    ROW("speed", NUMBER, vy_pilot_def, speed, .unit = "m/s", .range = AT_LEAST_0,
        .help = "forward at throttle step 10"),
    ROW("strafe", NUMBER, vy_pilot_def, strafe, .unit = "m/s", .range = AT_LEAST_0,
        .help = "sideways at full stick"),
    ROW("climb", NUMBER, vy_pilot_def, climb, .unit = "m/s", .range = AT_LEAST_0,
        .help = "up and down at full stick"),
    ROW("yaw_rate", NUMBER, vy_pilot_def, yaw_rate, .unit = "rad/s", .range = AT_LEAST_0,
        .help = "at full stick"),
    ROW("response", NUMBER, vy_pilot_def, response, .unit = "1/s", .range = POSITIVE,
        .help = "a change of speed is down to 1/e of itself after one over this"),
};
static const vy_table pilot_table = {.title = "Pilot",
                                     .help = "What the sticks of the rung `pilot` mean.",
                                     .size = sizeof(vy_pilot_def),
                                     ROWS(pilot_rows)};

static void init_setpoint(void *object, int index)
{
    (void)index;
    *(vy_setpoint *)object = (vy_setpoint){0};
}

static const vy_row setpoint_rows[] = {
    ROW("time", NUMBER, vy_setpoint, time, .unit = "s", .range = ANY, .flags = VY_ROW_REQUIRED,
        .help = "when to be there; later than the setpoint before"),
    ROW("position", VECTOR, vy_setpoint, position, .size = 3, .unit = "m", .range = ANY,
        .flags = VY_ROW_REQUIRED, .help = "where, world axes"),
    ROW("yaw", NUMBER, vy_setpoint, yaw, .unit = "rad", .range = ANY,
        .help = "heading, counter-clockwise about world +z"),
};
static const vy_table setpoint_table = {
    .title = "Setpoints",
    .help = "Between two of them the reference moves along a straight line, at rest "
            "at both ends.",
    .size = sizeof(vy_setpoint),
    .init = init_setpoint,
    ROWS(setpoint_rows)};

static const vy_choice rungs[] = {
    CHOICE("none", VY_RUNG_NONE, "motors as `start.rotor_speed` has them"),
    CHOICE("motors", VY_RUNG_MOTORS, "a command for each motor, then for each thruster"),
    CHOICE("wrench", VY_RUNG_WRENCH, "thrust and torque"),
    CHOICE("rates", VY_RUNG_RATES, "thrust and angular velocity"),
    CHOICE("attitude", VY_RUNG_ATTITUDE, "thrust and attitude"),
    CHOICE("velocity", VY_RUNG_VELOCITY, "velocity and yaw rate"),
    CHOICE("pilot", VY_RUNG_PILOT, "the sticks: throttle step, strafe, vertical, yaw"),
};
#define STICK(key_, field_, help_)                                                                \
    ROW(key_, NUMBER, vy_intent, field_, .range = WITHIN(-1.0, 1.0), .when = 1u << VY_RUNG_PILOT, \
        .help = help_)
#define THRUST_RUNGS (1u << VY_RUNG_WRENCH | 1u << VY_RUNG_RATES | 1u << VY_RUNG_ATTITUDE)
static const vy_row intent_rows[] = {
    ROW("rung", CHOICE, vy_intent, rung, CHOICES(rungs), .help = "what the intent speaks of"),
    ROW("motors", VECTOR, vy_intent, motors, .size = VY_ROTOR_CAP, .range = WITHIN(0.0, 1.0),
        .flags = VY_ROW_SHORT, .when = 1u << VY_RUNG_MOTORS,
        .help = "command of each rotor's motor, then of each thruster"),
    ROW("thrust", NUMBER, vy_intent, thrust, .unit = "N", .range = AT_LEAST_0, .when = THRUST_RUNGS,
        .help = "along body +z"),
    ROW("torque", VECTOR, vy_intent, torque, .size = 3, .unit = "N m", .range = ANY,
        .when = 1u << VY_RUNG_WRENCH, .help = "body axes"),
    ROW("rates", VECTOR, vy_intent, rates, .size = 3, .unit = "rad/s", .range = ANY,
        .when = 1u << VY_RUNG_RATES, .help = "body axes"),
    ROW("attitude", ROTATION, vy_intent, attitude, .unit = "rad", .range = ANY,
        .when = 1u << VY_RUNG_ATTITUDE, .help = "body to world, as under `start`"),
    ROW("velocity", VECTOR, vy_intent, velocity, .size = 3, .unit = "m/s", .range = ANY,
        .when = 1u << VY_RUNG_VELOCITY, .help = "world axes"),
    ROW("yaw_rate", NUMBER, vy_intent, yaw_rate, .unit = "rad/s", .range = ANY,
        .when = 1u << VY_RUNG_VELOCITY, .help = "about world +z, counter-clockwise"),
    ROW("throttle", NUMBER, vy_intent, throttle, .range = WITHIN(0.0, VY_THROTTLE_STEPS),
        .when = 1u << VY_RUNG_PILOT, .help = "step of forward speed"),
    STICK("strafe", strafe, "sideways, positive to the right"),
    STICK("vertical", vertical, "up and down, positive upwards"),
    STICK("yaw", yaw, "turning, positive to the right"),
};
static const vy_table intent_table = {.title = "Intent",
                                      .help = "What acts until the controller's first reply.",
                                      .size = sizeof(vy_intent),
                                      ROWS(intent_rows)};

static void init_waypoint(void *object, int index)
{
    (void)index;
    *(vy_waypoint *)object = (vy_waypoint){0};
}

static const vy_row waypoint_rows[] = {
    ROW("position", VECTOR, vy_waypoint, position, .size = 3, .unit = "m", .range = ANY,
        .flags = VY_ROW_REQUIRED, .help = "world axes"),
    ROW("yaw", NUMBER, vy_waypoint, yaw, .unit = "rad", .range = ANY,
        .help = "heading, counter-clockwise about world +z"),
};
static const vy_table waypoint_table = {.title = "Waypoints",
                                        .help = "Passed through in order, at rest at the first and the last.",
                                        .size = sizeof(vy_waypoint),
                                        .init = init_waypoint,
                                        ROWS(waypoint_rows)};
static const vy_choice paths[] = {
    CHOICE("setpoints", VY_PATH_SETPOINTS, "the setpoints; none holds the start"),
    CHOICE("line", VY_PATH_LINE, "from `centre` to `to`"),
    CHOICE("circle", VY_PATH_CIRCLE, "counter-clockwise about `centre`, from its +x side"),
    CHOICE("figure_eight", VY_PATH_EIGHT, "two lobes of `radius` along x, from the crossing at `centre`"),
    CHOICE("helix", VY_PATH_HELIX, "a circle that climbs"),
    CHOICE("minimum_snap", VY_PATH_SNAP,
           "through the waypoints with the least snap, as fast as the limits allow"),
};
#define SHAPES (1u << VY_PATH_LINE | ROUNDS)
#define ROUNDS (1u << VY_PATH_CIRCLE | 1u << VY_PATH_EIGHT | 1u << VY_PATH_HELIX)
static const vy_row path_rows[] = {
    ROW("kind", CHOICE, vy_path_def, kind, CHOICES(paths), .help = "what is followed"),
    ROW("start", NUMBER, vy_path_def, start, .unit = "s", .range = ANY, .when = SHAPES | 1u << VY_PATH_SNAP,
        .help = "when it begins; the drone is wanted at its beginning before"),
    ROW("speed", NUMBER, vy_path_def, speed, .unit = "m/s", .range = POSITIVE,
        .when = SHAPES | 1u << VY_PATH_SNAP, .help = "along the path; of `minimum_snap` the limit"),
    ROW("ramp", NUMBER, vy_path_def, ramp, .unit = "s", .range = POSITIVE, .when = SHAPES,
        .help = "from rest to speed, and back"),
    ROW("centre", VECTOR, vy_path_def, centre, .size = 3, .unit = "m", .range = ANY, .when = SHAPES,
        .help = "world axes; of a line its beginning"),
    ROW("to", VECTOR, vy_path_def, to, .size = 3, .unit = "m", .range = ANY, .when = 1u << VY_PATH_LINE,
        .help = "where the line ends"),
    ROW("radius", NUMBER, vy_path_def, radius, .unit = "m", .range = POSITIVE, .when = ROUNDS,
        .help = "of the circle; of a figure eight the length of a lobe"),
    ROW("climb", NUMBER, vy_path_def, climb, .unit = "m", .range = ANY, .when = 1u << VY_PATH_HELIX,
        .help = "per lap"),
    ROW("laps", NUMBER, vy_path_def, laps, .range = POSITIVE, .when = ROUNDS, .help = "rounds"),
    ROW("yaw", NUMBER, vy_path_def, yaw, .unit = "rad", .range = ANY, .when = SHAPES,
        .help = "heading all the way"),
    ROW("acceleration", NUMBER, vy_path_def, acceleration, .unit = "m/s^2", .range = POSITIVE,
        .when = 1u << VY_PATH_SNAP, .help = "limit"),
    ROW("waypoints", LIST, vy_path_def, waypoints, .table = &waypoint_table, .size = VY_WAYPOINT_CAP,
        .count_offset = offsetof(vy_path_def, waypoint_count), .when = 1u << VY_PATH_SNAP,
        .help = "to pass through, two at least"),
};
static const vy_table path_table = {.title = "Path",
                                    .help = "A trajectory to follow in place of the setpoints.",
                                    .size = sizeof(vy_path_def),
                                    ROWS(path_rows)};

static const vy_row autopilot_rows[] = {
    ROW("target", VECTOR, vy_autopilot, target, .size = 3, .unit = "m", .range = ANY,
        .help = "where to fly, world axes; its height is replaced by the altitude"),
    ROW("target_set", CHOICE, vy_autopilot, has_target, CHOICES(switches),
        .help = "off: it has no target, and leaves the sticks alone"),
    ROW("altitude", NUMBER, vy_autopilot, def.altitude, .unit = "m", .range = ANY, .help = "of flight"),
    ROW("throttle", COUNT, vy_autopilot, def.throttle, .range = WITHIN(0.0, VY_THROTTLE_STEPS),
        .help = "step when flying on"),
    ROW("radius", NUMBER, vy_autopilot, def.radius, .unit = "m", .range = POSITIVE,
        .help = "horizontal distance from the target at which it has arrived"),
    ROW("yaw_tolerance", NUMBER, vy_autopilot, def.yaw_tolerance, .unit = "rad",
        .range = ABOVE_TO(0.0, 3.14159), .help = "within which it faces the target"),
};
static const vy_table autopilot_table = {.title = "Autopilot",
                                         .help = "Turns towards the target, then flies straight on.",
                                         .size = sizeof(vy_autopilot),
                                         ROWS(autopilot_rows)};
static const vy_choice flights[] = {
    CHOICE("dynamic", VY_FLIGHT_DYNAMIC, "rotors fly the drone"),
    CHOICE("kinematic", VY_FLIGHT_KINEMATIC,
           "the drone has the speeds of the sticks at once; needs `world: {physics: {engine: simple}}`"),
};
static const vy_choice rate_laws[] = {
    CHOICE("plain", VY_RATE_LAW_PLAIN, "inertia times the wanted acceleration, and the gyroscopic term"),
    CHOICE("indi", VY_RATE_LAW_INDI, "by increments from the measured acceleration: needs no exact inertia"),
};
static const vy_choice controllers[] = {
    CHOICE("none", VY_CONTROLLER_NONE, "nobody: the motors stay as the intent of the start sets them"),
    CHOICE("hold", VY_CONTROLLER_HOLD, "the built-in controller follows the setpoints"),
    CHOICE("callback", VY_CONTROLLER_CALLBACK, "a function of the program that uses the library"),
    CHOICE("plugin", VY_CONTROLLER_PLUGIN, "your own, a shared library; see controllers.md"),
    CHOICE("process", VY_CONTROLLER_PROCESS, "your own, a program in any language; see controllers.md"),
    CHOICE("lee", VY_CONTROLLER_LEE,
           "follows the setpoints or the path: geometric tracking on SE(3), Lee 2010"),
    CHOICE("mellinger", VY_CONTROLLER_MELLINGER, "the same by the law of Mellinger 2011"),
    CHOICE("autopilot", VY_CONTROLLER_AUTOPILOT, "turns towards a target, then flies straight on"),
    CHOICE("intent", VY_CONTROLLER_INTENT, "nobody, but the loops below the intent of the start are closed"),
    CHOICE("pilot", VY_CONTROLLER_PILOT, "a person at a keyboard or joystick; see controllers.md"),
};
static const vy_choice cores[] = {
    CHOICE("one", 0, "the program runs on the core of the simulation: quickest in lock-step"),
    CHOICE("any", 1, "the program runs where the system puts it"),
};
#define OWN_PLUGIN  (1u << VY_CONTROLLER_PLUGIN)
#define OWN_PROCESS (1u << VY_CONTROLLER_PROCESS)
#define PILOT       (1u << VY_CONTROLLER_PILOT)
#define OWN         (OWN_PLUGIN | OWN_PROCESS | 1u << VY_CONTROLLER_CALLBACK | PILOT)
static const vy_row controller_rows[] = {
    ROW("kind", CHOICE, vy_controller_def, kind, CHOICES(controllers), .help = "what steers"),
    ROW("period", NUMBER, vy_controller_def, period, .unit = "s", .range = POSITIVE, .flags = VY_ROW_PERIOD,
        .help = "between two replies"),
    ROW("rate_period", NUMBER, vy_controller_def, rate_period, .unit = "s", .range = POSITIVE,
        .flags = VY_ROW_PERIOD, .help = "of the attitude and rate loops below it"),
    ROW("gains", OBJECT, vy_controller_def, gains, .table = &gain_table,
        .help = "of the built-in controller"),
    ROW("rate_law", CHOICE, vy_controller_def, rate_law, CHOICES(rate_laws),
        .help = "how wanted rates become torque"),
    ROW("indi_cutoff", NUMBER, vy_controller_def, indi_cutoff, .unit = "rad/s", .range = POSITIVE,
        .help = "of the filter of the rate law `indi`"),
    ROW("pilot", OBJECT, vy_controller_def, pilot, .table = &pilot_table, .help = "what sticks mean"),
    ROW("flight", CHOICE, vy_controller_def, flight, CHOICES(flights), .help = "what the sticks act on"),
    ROW("autopilot", OBJECT, vy_controller_def, autopilot, .table = &autopilot_table,
        .when = 1u << VY_CONTROLLER_AUTOPILOT, .help = "where to, and how"),
    ROW("lost", VECTOR, vy_controller_def, lost, .size = VY_ROTOR_CAP, .range = WITHIN(0.0, 1.0),
        .flags = VY_ROW_SHORT, .help = "share of each rotor's thrust that the allocation must do without"),
    ROW("intent", OBJECT, vy_controller_def, start, .table = &intent_table, .help = "until the first reply"),
    ROW("setpoints", LIST, vy_controller_def, setpoints, .table = &setpoint_table, .size = VY_SETPOINT_CAP,
        .count_offset = offsetof(vy_controller_def, setpoint_count),
        .help = "where to be when; none holds the start"),
    ROW("path", OBJECT, vy_controller_def, path, .table = &path_table,
        .help = "a trajectory in place of the setpoints"),
    ROW("library", TEXT, vy_controller_def, program, .size = sizeof((vy_controller_def *)0)->program,
        .flags = VY_ROW_REQUIRED, .when = OWN_PLUGIN, .help = "file of the plug-in, seen from `folder`"),
    ROW("command", TEXT, vy_controller_def, program, .size = sizeof((vy_controller_def *)0)->program,
        .flags = VY_ROW_REQUIRED, .when = OWN_PROCESS,
        .help = "command line of the program, run in `folder` by the shell"),
    ROW("device", TEXT, vy_controller_def, program, .size = sizeof((vy_controller_def *)0)->program,
        .word = "keyboard", .flags = VY_ROW_LABEL, .when = PILOT,
        .help = "what the person flies with: `keyboard`, /dev/input/js0, or a pipe or file of keys"),
    ROW("folder", TEXT, vy_controller_def, folder, .size = sizeof((vy_controller_def *)0)->folder,
        .word = "none", .default_text = "that of the scenario", .flags = VY_ROW_LABEL,
        .when = OWN_PLUGIN | OWN_PROCESS | PILOT, .help = "where the program is; `none` is the current one"),
    ROW("deadline", NUMBER, vy_controller_def, deadline, .unit = "s", .range = ABOVE_TO(0.0, 1e6),
        .when = OWN_PLUGIN | OWN_PROCESS, .flags = VY_ROW_LABEL,
        .help = "of wall clock for one reply; later ones end the run"),
    ROW("cores", CHOICE, vy_controller_def, spread, CHOICES(cores), .when = OWN_PROCESS,
        .flags = VY_ROW_LABEL, .help = "where the program runs"),
    ROW("parameters", NAMED, vy_controller_def, parameters, .size = VY_PARAMETER_CAP, .range = ANY,
        .count_offset = offsetof(vy_controller_def, parameter_count), .when = OWN,
        .help = "numbers for it, by names of your choice"),
};
static const vy_table controller_table = {.title = "Controller",
                                          .help = "What steers a drone.",
                                          .size = sizeof(vy_controller_def),
                                          ROWS(controller_rows)};

static void init_drone(void *object, int index)
{
    vy_scenario_drone *drone = object;
    memset(drone, 0, sizeof *drone);
    snprintf(drone->name, sizeof drone->name, "drone%d", index);
    drone->def = vy_default_drone_def();
    drone->def.rotor_speed = VY_HOVER;
    drone->place.latitude = VY_NOWHERE;
}

static const vy_row drone_rows[] = {
    ROW("name", TEXT, vy_scenario_drone, name, .size = VY_NAME_CAP, .flags = VY_ROW_LABEL | VY_ROW_IDENTIFIER,
        .default_text = "drone0, drone1, ...", .help = "unique"),
    ROW("vehicle", OBJECT, vy_scenario_drone, def.vehicle, .table = &vy_vehicle_table, .flags = VY_ROW_FILE,
        .default_text = "crazyflie2x",
        .help = "the name of a vehicle, a path ending in .yaml, or a mapping; see Vehicle"),
    GROUP("start", &start_table, .help = "where and how it begins"),
    GROUP("sensors", &vy_sensor_table, .help = "what it measures"),
    ROW("estimator", OBJECT, vy_scenario_drone, def.estimator, .table = &vy_estimator_table,
        .help = "what makes an estimate of that"),
    ROW("controller", OBJECT, vy_scenario_drone, def.controller, .table = &controller_table,
        .help = "what steers it"),
    ROW("safety", OBJECT, vy_scenario_drone, def.safety, .table = &vy_safety_table,
        .help = "what ends its run"),
    ROW("shape", OBJECT, vy_scenario_drone, def.solid, .table = &vy_shape_table,
        .help = "what of it can touch things"),
    ROW("crash", OBJECT, vy_scenario_drone, def.crash, .table = &vy_crash_table,
        .help = "which impacts count as crashes"),
};
static const vy_table drone_table = {.title = "Drones",
                                     .help = "A list; each drone is a mapping of these keys.",
                                     .size = sizeof(vy_scenario_drone),
                                     .init = init_drone,
                                     ROWS(drone_rows)};

// --- disturbances

static const vy_choice disturbances[] = {
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

static const vy_row disturbance_rows[] = {
    ROW("kind", CHOICE, vy_scenario_disturbance, def.kind, CHOICES(disturbances), .flags = VY_ROW_REQUIRED,
        .help = "how it acts over time"),
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
        .word = "forever", .word_value = FOREVER, .when = ALL_BUT_IMPULSE, .help = "how long it acts"),
    ROW("duration", NUMBER, vy_scenario_disturbance, def.duration, .unit = "s", .range = POSITIVE,
        .flags = VY_ROW_REQUIRED, .when = IMPULSE, .help = "how long it acts, one step at least"),
    ROW("frequency", NUMBER, vy_scenario_disturbance, def.frequency, .unit = "Hz", .range = POSITIVE,
        .when = SINUSOID | NOISE, .help = "of the sinusoid, or the corner of the noise"),
    ROW("phase", NUMBER, vy_scenario_disturbance, def.phase, .unit = "rad", .range = ANY, .when = SINUSOID,
        .help = "at `start`"),
};
static const vy_table disturbance_table = {.title = "Disturbances",
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
static const vy_choice quantities[] = {
#define QUANTITY(name, unit, help) {#name, QUANTITY_##name, help, unit},
#include "scenario/quantities.inl"
#undef QUANTITY
};
static const vy_choice moments[] = {
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
    *(vy_expect_def *)object = (vy_expect_def){.drone = VY_EVERY_DRONE,
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

static const vy_row expect_rows[] = {
    ROW("quantity", CHOICE, vy_expect_def, quantity, CHOICES(quantities),
        .flags = VY_ROW_REQUIRED | VY_ROW_LABEL, .help = "what is looked at"),
    ROW("drone", DRONE, vy_expect_def, drone, .flags = VY_ROW_LABEL, .help = "the name of a drone, or `all`"),
    ROW("joint", JOINT, vy_expect_def, joint, .flags = VY_ROW_LABEL,
        .help = "of a quantity of joints: the name of one, or `all` that have it"),
    ROW("at", CHOICE, vy_expect_def, at, CHOICES(moments), .flags = VY_ROW_LABEL,
        .help = "when it is looked at"),
    ROW("after", NUMBER, vy_expect_def, after, .unit = "s", .range = AT_LEAST_0, .flags = VY_ROW_LABEL,
        .help = "earlier steps are not looked at"),
    ROW("within", NUMBER, vy_expect_def, within, .unit = "s", .range = AT_LEAST_0, .word = "none",
        .flags = VY_ROW_LABEL, .help = "longest time for `settled` and `reached`"),
    ROW("target", NUMBER, vy_expect_def, target, .unit_of = unit_of_quantity, .range = ANY,
        .flags = VY_ROW_LABEL, .help = "of `overshoot`: what was to be reached, in the quantity's unit"),
    ROW("min", NUMBER, vy_expect_def, min, .unit_of = unit_of_quantity, .range = ANY, .word = "none",
        .word_value = -DBL_MAX, .flags = VY_ROW_LABEL, .help = "least value allowed, in the quantity's unit"),
    ROW("max", NUMBER, vy_expect_def, max, .unit_of = unit_of_quantity, .range = ANY, .word = "none",
        .word_value = DBL_MAX, .flags = VY_ROW_LABEL,
        .help = "largest value allowed, in the quantity's unit"),
};
static const vy_table expect_table = {.title = "Expectations",
                                      .help =
                                          "A list of bounds; a run that breaks one ends with exit status 1.",
                                      .size = sizeof(vy_expect_def),
                                      .init = init_expect,
                                      ROWS(expect_rows)};

static const vy_choice compressions[] = {
    CHOICE("none", VY_LOG_NONE, "larger files, quicker to write"),
    CHOICE("zstd", VY_LOG_ZSTD, "files smaller by a quarter, slower to write"),
};
static const vy_row log_rows[] = {
    ROW("every", COUNT, vy_log_def, every, .range = WITHIN(1.0, 1e9), .flags = VY_ROW_LABEL,
        .help = "steps from one record of each drone to the next"),
    ROW("snapshot", NUMBER, vy_log_def, snapshot, .unit = "s", .range = POSITIVE, .flags = VY_ROW_LABEL,
        .help = "between two records of the full state, from which a run can be branched"),
    ROW("display", NUMBER, vy_log_def, display, .unit = "s", .range = AT_LEAST_0, .word = "none",
        .word_value = 0.0, .flags = VY_ROW_LABEL,
        .help =
            "between two records for people and their tools: loads by effect, frames and poses for Foxglove"),
    ROW("energy", CHOICE, vy_log_def, energy, CHOICES(switches), .flags = VY_ROW_LABEL,
        .help = "with an account of energy: where it came from and went, with `display`"),
    ROW("compression", CHOICE, vy_log_def, compression, CHOICES(compressions), .flags = VY_ROW_LABEL,
        .help = "of the log file"),
};
static const vy_table log_table = {
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
                       .log = {.every = 10, .snapshot = 1.0, .display = 0.04, .compression = VY_LOG_NONE}};
    s->terrain.solid.kind = VY_SOLID_NONE;
}

static const vy_row scenario_rows[] = {
    ROW("volery", COUNT, vy_scenario, version, .range = WITHIN(VY_SCENARIO_VERSION, VY_SCENARIO_VERSION),
        .flags = VY_ROW_REQUIRED | VY_ROW_LABEL, .help = "version of the format"),
    ROW("name", TEXT, vy_scenario, name, .size = sizeof((vy_scenario *)0)->name, .flags = VY_ROW_LABEL,
        .help = "for people"),
    ROW("seed", WHOLE, vy_scenario, seed, .help = "of everything random: the same seed, the same run"),
    ROW("step", NUMBER, vy_scenario, step, .unit = "s", .range = WITHIN(1e-9, 1.0),
        .help = "of the simulation; a period left to its default is the multiple of it nearest to that"),
    ROW("duration", NUMBER, vy_scenario, duration, .unit = "s", .range = ABOVE_TO(0.0, 1e9),
        .help = "of the run, to the nearest step"),
    ROW("world", OBJECT, vy_scenario, environment, .table = &vy_world_table,
        .help = "what surrounds the drones"),
    ROW("drones", LIST, vy_scenario, drones, .table = &drone_table, .size = 1000, .range = {.min = 1.0},
        .count_offset = offsetof(vy_scenario, drone_count), .flags = VY_ROW_REQUIRED | VY_ROW_HEAP,
        .help = "who flies"),
    ROW("bodies", LIST, vy_scenario, bodies, .table = &vy_body_table, .size = 1000,
        .count_offset = offsetof(vy_scenario, body_count), .flags = VY_ROW_HEAP,
        .help = "what has no rotors: loads, links"),
    ROW("joints", LIST, vy_scenario, joints, .table = &vy_joint_table, .size = 1000,
        .count_offset = offsetof(vy_scenario, joint_count), .flags = VY_ROW_HEAP,
        .help = "what holds them together"),
    ROW("payloads", LIST, vy_scenario, payloads, .table = &vy_payload_table, .size = 1000,
        .count_offset = offsetof(vy_scenario, payload_count), .flags = VY_ROW_HEAP,
        .help = "bodies that drones carry, take up and drop"),
    ROW("terrain", OBJECT, vy_scenario, terrain, .table = &vy_terrain_table, .help = "the ground"),
    ROW("obstacles", LIST, vy_scenario, obstacles, .table = &vy_obstacle_table, .size = 10000,
        .count_offset = offsetof(vy_scenario, obstacle_count), .flags = VY_ROW_HEAP,
        .help = "what stands in the way: walls, gates, pads"),
    ROW("contacts", OBJECT, vy_scenario, contacts, .table = &vy_contacts_table,
        .help = "what collides, and how"),
    ROW("disturbances", LIST, vy_scenario, disturbances, .table = &disturbance_table, .size = 1000,
        .count_offset = offsetof(vy_scenario, disturbance_count), .flags = VY_ROW_HEAP,
        .help = "forces and torques from outside"),
    ROW("faults", LIST, vy_scenario, faults, .table = &vy_fault_table, .size = 1000,
        .count_offset = offsetof(vy_scenario, fault_count), .flags = VY_ROW_HEAP, .help = "what breaks"),
    ROW("expect", LIST, vy_scenario, expect, .table = &expect_table, .size = 1000,
        .count_offset = offsetof(vy_scenario, expect_count), .flags = VY_ROW_HEAP | VY_ROW_LABEL,
        .help = "what must hold for the run to count as good"),
    ROW("log", OBJECT, vy_scenario, log, .table = &log_table, .flags = VY_ROW_LABEL,
        .help = "what the log file holds"),
};
const vy_table vy_scenario_table = {
    .title = "Scenario",
    .help = "The keys of a scenario file.",
    .size = sizeof(vy_scenario),
    .init = init_scenario,
    ROWS(scenario_rows),
};

// --- looking things up

int vy_row_applies(const vy_table *table, const vy_row *row, const void *object)
{
    if (row->when == 0) return 1;
    int value;
    memcpy(&value, (const char *)object + table->rows[0].offset, sizeof value);
    return value >= 0 && value < 32 && (row->when >> value & 1u) != 0;
}

const char *vy_row_unit(const vy_row *row, const void *object)
{
    if (row->unit_of != NULL) return row->unit_of(object);
    return row->unit != NULL ? row->unit : "";
}

const vy_row *vy_table_find(const vy_table *table, const char *key)
{
    for (int i = 0; i < table->row_count; ++i) {
        if (strcmp(table->rows[i].key, key) == 0) return &table->rows[i];
    }
    return NULL;
}

const void *vy_list_elements(const vy_row *row, const void *object, int *count)
{
    const char *base = object;
    const void *elements = base + row->offset;
    if (row->flags & VY_ROW_HEAP) memcpy(&elements, base + row->offset, sizeof elements);
    memcpy(count, base + row->count_offset, sizeof *count);
    return elements;
}

const vy_choice *vy_choice_of(const vy_row *row, int value)
{
    for (int i = 0; i < row->choice_count; ++i) {
        if (row->choices[i].value == value) return &row->choices[i];
    }
    return NULL;
}
