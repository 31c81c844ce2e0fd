// schema_control.c - the rows of a drone's control: gains, pilot, intent, setpoints, path, controller.
#include "scenario/schema_rows.h"
#include <string.h>

_Static_assert(sizeof(vy_controller_kind) == sizeof(int) && sizeof(vy_rung) == sizeof(int) &&
                   sizeof(vy_rate_law) == sizeof(int),
               "choices are read and written as int");

static const vy_schema_row gain_rows[] = {
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
static const vy_schema_table gain_table = {
    .title = "Gains",
    .help = "Of the built-in controller; they do not depend on the vehicle.",
    .size = sizeof(vy_gains),
    ROWS(gain_rows)};

static const vy_schema_row pilot_rows[] = {
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
static const vy_schema_table pilot_table = {.title = "Pilot",
                                            .help = "What the sticks of the rung `pilot` mean.",
                                            .size = sizeof(vy_pilot_def),
                                            ROWS(pilot_rows)};

static void init_setpoint(void *object, int index)
{
    (void)index;
    *(vy_setpoint *)object = (vy_setpoint){0};
}

static const vy_schema_row setpoint_rows[] = {
    ROW("time", NUMBER, vy_setpoint, time, .unit = "s", .range = ANY, .flags = VY_ROW_REQUIRED,
        .help = "when to be there; later than the setpoint before"),
    ROW("position", VECTOR, vy_setpoint, position, .size = 3, .unit = "m", .range = ANY,
        .flags = VY_ROW_REQUIRED, .help = "where, world axes"),
    ROW("yaw", NUMBER, vy_setpoint, yaw, .unit = "rad", .range = ANY,
        .help = "heading, counter-clockwise about world +z"),
};
static const vy_schema_table setpoint_table = {
    .title = "Setpoints",
    .help = "Between two of them the reference moves along a straight line, at rest "
            "at both ends.",
    .size = sizeof(vy_setpoint),
    .init = init_setpoint,
    ROWS(setpoint_rows)};

static void init_rc_point(void *object, int index)
{
    (void)index;
    *(vy_rc_point *)object = (vy_rc_point){0};
}

static const vy_schema_row rc_rows[] = {
    ROW("time", NUMBER, vy_rc_point, time, .unit = "s", .range = ANY, .flags = VY_ROW_REQUIRED,
        .help = "from when on; later than the line before"),
    ROW("channels", VECTOR, vy_rc_point, channels, .size = VY_RC_CAP, .range = WITHIN(0.0, 2200.0),
        .flags = VY_ROW_REQUIRED | VY_ROW_VARIABLE_SIZE,
        .help =
            "pulse width of each channel [us], 1500 in the middle; 0: it and those behind it are not sent"),
};
static const vy_schema_table rc_table = {
    .title = "RC",
    .help = "Radio control: each line holds until the next. Before the first there is no signal.",
    .size = sizeof(vy_rc_point),
    .init = init_rc_point,
    ROWS(rc_rows)};

static void init_script_line(void *object, int index)
{
    (void)index;
    *(vy_script_line *)object = (vy_script_line){.altitude = 10.0};
}

static const vy_choice script_actions[] = {
    CHOICE("arm", VY_SCRIPT_ARM, "motors on, as soon as the firmware is willing"),
    CHOICE("disarm", VY_SCRIPT_DISARM, "motors off"),
    CHOICE("takeoff", VY_SCRIPT_TAKEOFF, "climb to `altitude`, and hold there"),
    CHOICE("land", VY_SCRIPT_LAND, "where it is"),
    CHOICE("return", VY_SCRIPT_RETURN, "to where it was armed"),
    CHOICE("hold", VY_SCRIPT_HOLD, "stay"),
    CHOICE("mission", VY_SCRIPT_MISSION,
           "fly the drone's `setpoints` or `mission`, one after the other, in the firmware's own time"),
    CHOICE("mode", VY_SCRIPT_MODE, "the flight mode `mode`"),
    CHOICE("parameter", VY_SCRIPT_PARAMETER, "set a parameter of the firmware"),
    CHOICE("command", VY_SCRIPT_COMMAND, "any MAVLink command"),
};
static const vy_choice flight_modes[] = {
    CHOICE("manual", VY_MODE_MANUAL, "sticks are attitude and thrust"),
    CHOICE("altitude", VY_MODE_ALTITUDE, "height is held"),
    CHOICE("position", VY_MODE_POSITION, "height and place are held"),
    CHOICE("acro", VY_MODE_ACRO, "sticks are rates"),
    CHOICE("stabilized", VY_MODE_STABILIZED, "sticks are attitude"),
    CHOICE("offboard", VY_MODE_OFFBOARD, "a companion computer flies it"),
};
static const vy_schema_row script_rows[] = {
    ROW("do", CHOICE, vy_script_line, action, CHOICES(script_actions), .flags = VY_ROW_REQUIRED,
        .help = "what is asked for"),
    ROW("time", NUMBER, vy_script_line, time, .unit = "s", .range = AT_LEAST_0, .flags = VY_ROW_REQUIRED,
        .help = "when, not before that of the line before"),
    ROW("altitude", NUMBER, vy_script_line, altitude, .unit = "m", .range = POSITIVE,
        .when = 1u << VY_SCRIPT_TAKEOFF, .help = "above the start"),
    ROW("mode", CHOICE, vy_script_line, mode, CHOICES(flight_modes), .when = 1u << VY_SCRIPT_MODE,
        .flags = VY_ROW_REQUIRED, .help = "who flies, and how"),
    ROW("parameter", TEXT, vy_script_line, parameter, .size = VY_PARAMETER_NAME_CAP,
        .when = 1u << VY_SCRIPT_PARAMETER, .flags = VY_ROW_REQUIRED | VY_ROW_IDENTIFIER,
        .help = "its name in the firmware"),
    ROW("value", NUMBER, vy_script_line, value, .range = ANY, .when = 1u << VY_SCRIPT_PARAMETER,
        .flags = VY_ROW_REQUIRED, .help = "for it"),
    ROW("command", COUNT, vy_script_line, command, .range = WITHIN(1.0, 65535.0),
        .when = 1u << VY_SCRIPT_COMMAND, .flags = VY_ROW_REQUIRED, .help = "number of its MAV_CMD"),
    ROW("values", VECTOR, vy_script_line, values, .size = VY_COMMAND_VALUES, .range = ANY,
        .flags = VY_ROW_VARIABLE_SIZE, .when = 1u << VY_SCRIPT_COMMAND, .help = "its parameters 1 to 7"),
};
static const vy_schema_table script_table = {
    .title = "Script",
    .help = "What a firmware is told through its own MAVLink or MSP port. "
            "A line is sent when its time has come and "
            "the one before it has been accepted, and again until it is.",
    .size = sizeof(vy_script_line),
    .init = init_script_line,
    ROWS(script_rows)};

static const vy_choice airframes[] = {
    CHOICE("quad_x", VY_AIRFRAME_QUAD_X, "four motors, two of them ahead"),
    CHOICE("quad_plus", VY_AIRFRAME_QUAD_PLUS, "four, one of them ahead"),
    CHOICE("hexa_x", VY_AIRFRAME_HEXA_X, "six, two of them ahead"),
    CHOICE("hexa_plus", VY_AIRFRAME_HEXA_PLUS, "six, one of them ahead"),
    CHOICE("octo_x", VY_AIRFRAME_OCTO_X, "eight, two of them ahead"),
    CHOICE("octo_plus", VY_AIRFRAME_OCTO_PLUS, "eight, one of them ahead"),
    CHOICE("own", VY_AIRFRAME_OWN,
           "the vehicle's rotors in its order; the firmware is told where they are and how they spin"),
};

static const vy_choice rung_choices[] = {
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
static const vy_schema_row intent_rows[] = {
    ROW("rung", CHOICE, vy_intent, rung, CHOICES(rung_choices), .help = "the level of the intent"),
    ROW("motors", VECTOR, vy_intent, motors, .size = VY_ROTOR_CAP, .range = WITHIN(0.0, 1.0),
        .flags = VY_ROW_VARIABLE_SIZE, .when = 1u << VY_RUNG_MOTORS,
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
static const vy_schema_table intent_table = {.title = "Intent",
                                             .help = "What acts until the controller's first reply.",
                                             .size = sizeof(vy_intent),
                                             ROWS(intent_rows)};

static void init_waypoint(void *object, int index)
{
    (void)index;
    *(vy_waypoint *)object = (vy_waypoint){0};
}

static const vy_schema_row waypoint_rows[] = {
    ROW("position", VECTOR, vy_waypoint, position, .size = 3, .unit = "m", .range = ANY,
        .flags = VY_ROW_REQUIRED, .help = "world axes"),
    ROW("yaw", NUMBER, vy_waypoint, yaw, .unit = "rad", .range = ANY,
        .help = "heading, counter-clockwise about world +z"),
};
static const vy_schema_table waypoint_table = {
    .title = "Waypoints",
    .help = "Passed through in order, at rest at the first and the last.",
    .size = sizeof(vy_waypoint),
    .init = init_waypoint,
    ROWS(waypoint_rows)};
static const vy_choice path_kinds[] = {
    CHOICE("setpoints", VY_PATH_SETPOINTS, "the setpoints; none holds the start"),
    CHOICE("line", VY_PATH_LINE, "from `centre` to `to`"),
    CHOICE("circle", VY_PATH_CIRCLE, "counter-clockwise about `centre`, from its +x side"),
    CHOICE("figure_eight", VY_PATH_FIGURE_EIGHT,
           "two lobes of `radius` along x, from the crossing at `centre`"),
    CHOICE("helix", VY_PATH_HELIX, "a circle that climbs"),
    CHOICE("minimum_snap", VY_PATH_MINIMUM_SNAP,
           "through the waypoints with the least snap, as fast as the limits allow"),
};
#define SHAPE_PATHS  (1u << VY_PATH_LINE | CURVED_PATHS)
#define CURVED_PATHS (1u << VY_PATH_CIRCLE | 1u << VY_PATH_FIGURE_EIGHT | 1u << VY_PATH_HELIX)
static const vy_schema_row path_rows[] = {
    ROW("kind", CHOICE, vy_path_def, kind, CHOICES(path_kinds), .help = "the shape of the path"),
    ROW("start", NUMBER, vy_path_def, start, .unit = "s", .range = ANY,
        .when = SHAPE_PATHS | 1u << VY_PATH_MINIMUM_SNAP,
        .help = "when it begins; the drone is held at its beginning before"),
    ROW("speed", NUMBER, vy_path_def, speed, .unit = "m/s", .range = POSITIVE,
        .when = SHAPE_PATHS | 1u << VY_PATH_MINIMUM_SNAP,
        .help = "along the path; of `minimum_snap` the limit"),
    ROW("ramp", NUMBER, vy_path_def, ramp, .unit = "s", .range = POSITIVE, .when = SHAPE_PATHS,
        .help = "from rest to speed, and back"),
    ROW("centre", VECTOR, vy_path_def, centre, .size = 3, .unit = "m", .range = ANY, .when = SHAPE_PATHS,
        .help = "world axes; of a line its beginning"),
    ROW("to", VECTOR, vy_path_def, to, .size = 3, .unit = "m", .range = ANY, .when = 1u << VY_PATH_LINE,
        .help = "where the line ends"),
    ROW("radius", NUMBER, vy_path_def, radius, .unit = "m", .range = POSITIVE, .when = CURVED_PATHS,
        .help = "of the circle; of a figure eight the length of a lobe"),
    ROW("climb", NUMBER, vy_path_def, climb, .unit = "m", .range = ANY, .when = 1u << VY_PATH_HELIX,
        .help = "per lap"),
    ROW("laps", NUMBER, vy_path_def, laps, .range = POSITIVE, .when = CURVED_PATHS, .help = "rounds"),
    ROW("yaw", NUMBER, vy_path_def, yaw, .unit = "rad", .range = ANY, .when = SHAPE_PATHS,
        .help = "heading all the way"),
    ROW("acceleration", NUMBER, vy_path_def, acceleration, .unit = "m/s^2", .range = POSITIVE,
        .when = 1u << VY_PATH_MINIMUM_SNAP, .help = "limit"),
    ROW("waypoints", LIST, vy_path_def, waypoints, .table = &waypoint_table, .size = VY_WAYPOINT_CAP,
        .count_offset = offsetof(vy_path_def, waypoint_count), .when = 1u << VY_PATH_MINIMUM_SNAP,
        .help = "to pass through, two at least"),
};
static const vy_schema_table path_table = {.title = "Path",
                                           .help = "A trajectory to follow in place of the setpoints.",
                                           .size = sizeof(vy_path_def),
                                           ROWS(path_rows)};

static const vy_schema_row autopilot_rows[] = {
    ROW("target", VECTOR, vy_autopilot, target, .size = 3, .unit = "m", .range = ANY,
        .help = "where to fly, world axes; its height is replaced by the altitude"),
    ROW("target_set", CHOICE, vy_autopilot, has_target, SWITCH,
        .help = "off: it has no target, and leaves the sticks alone"),
    ROW("altitude", NUMBER, vy_autopilot, def.altitude, .unit = "m", .range = ANY, .help = "of flight"),
    ROW("throttle", COUNT, vy_autopilot, def.throttle, .range = WITHIN(0.0, VY_THROTTLE_STEPS),
        .help = "step when flying on"),
    ROW("radius", NUMBER, vy_autopilot, def.radius, .unit = "m", .range = POSITIVE,
        .help = "horizontal distance from the target at which it has arrived"),
    ROW("yaw_tolerance", NUMBER, vy_autopilot, def.yaw_tolerance, .unit = "rad",
        .range = ABOVE_TO(0.0, 3.14159), .help = "within which it faces the target"),
};
static const vy_schema_table autopilot_table = {.title = "Autopilot",
                                                .help = "Turns towards the target, then flies straight on.",
                                                .size = sizeof(vy_autopilot),
                                                ROWS(autopilot_rows)};
static const vy_choice flight_kinds[] = {
    CHOICE("dynamic", VY_FLIGHT_DYNAMIC, "rotors fly the drone"),
    CHOICE("kinematic", VY_FLIGHT_KINEMATIC,
           "the drone has the speeds of the sticks at once; needs `world: {physics: {engine: simple}}`"),
};
static const vy_choice rate_laws[] = {
    CHOICE("ndi", VY_RATE_LAW_NDI,
           "nonlinear dynamic inversion: inertia times the desired acceleration, and the gyroscopic term"),
    CHOICE("indi", VY_RATE_LAW_INDI,
           "incremental NDI, from the measured acceleration: needs no exact inertia"),
};
static const vy_choice controller_kinds[] = {
    CHOICE("none", VY_CONTROLLER_NONE, "no controller: the motors stay as the intent of the start sets them"),
    CHOICE("hold", VY_CONTROLLER_HOLD, "the built-in controller follows the setpoints"),
    CHOICE("callback", VY_CONTROLLER_CALLBACK, "a function of the program that uses the library"),
    CHOICE("plugin", VY_CONTROLLER_PLUGIN, "your own, a shared library; see controllers.md"),
    CHOICE("process", VY_CONTROLLER_PROCESS, "your own, a program in any language; see controllers.md"),
    CHOICE("lee", VY_CONTROLLER_LEE,
           "follows the setpoints or the path: geometric tracking on SE(3), Lee 2010"),
    CHOICE("mellinger", VY_CONTROLLER_MELLINGER, "the same by the law of Mellinger 2011"),
    CHOICE("autopilot", VY_CONTROLLER_AUTOPILOT, "turns towards a target, then flies straight on"),
    CHOICE("intent", VY_CONTROLLER_INTENT,
           "no controller, but the loops below the intent of the start are closed"),
    CHOICE("pilot", VY_CONTROLLER_PILOT, "a person at a keyboard or joystick; see controllers.md"),
    CHOICE("px4", VY_CONTROLLER_PX4, "PX4's firmware, in lock-step over MAVLink; see autopilots.md"),
    CHOICE("ardupilot", VY_CONTROLLER_ARDUPILOT,
           "ArduPilot's firmware, in lock-step over its JSON interface; see autopilots.md"),
    CHOICE("crazyflie", VY_CONTROLLER_CRAZYFLIE,
           "a client that flies it as a Crazyflie, such as cflib, over CRTP; see autopilots.md"),
    CHOICE("betaflight", VY_CONTROLLER_BETAFLIGHT,
           "Betaflight's firmware, by the packets of its SITL program; see autopilots.md"),
    CHOICE("recorded", VY_CONTROLLER_RECORDED, "plays motor commands or rotor speeds of a recorded flight"),
};
static const vy_choice record_kinds[] = {
    CHOICE("motors", VY_RECORD_MOTORS,
           "motor commands, 0 to 1, of each rotor and thruster: a row holds until the next, the last one to "
           "the end"),
    CHOICE("speeds", VY_RECORD_SPEEDS,
           "rotor speeds [rad/s]: rotors turn as recorded, between rows in proportion"),
};
#define RECORDED_KIND (1u << VY_CONTROLLER_RECORDED)
static const vy_choice firmware_clocks[] = {
    CHOICE("simulated", VY_CLOCK_SIMULATED,
           "the program runs under `volery sitl`: every packet is answered, and one seed is one flight"),
    CHOICE("wall", VY_CLOCK_WALL, "the program and the world run by the wall's clock"),
};
static const vy_choice core_choices[] = {
    CHOICE("one", 0, "the program runs on the core of the simulation: quickest in lock-step"),
    CHOICE("any", 1, "the program runs where the system puts it"),
};
static const vy_choice network_choices[] = {
    CHOICE("none", VY_NETWORK_NONE, "sockets in the file system alone; a firmware has `loopback`"),
    CHOICE("loopback", VY_NETWORK_LOOPBACK,
           "IPv4 and IPv6, meant for this computer; the kernel does not look at addresses"),
    CHOICE("any", VY_NETWORK_ANY, "all there is"),
};
#define PLUGIN_KIND     (1u << VY_CONTROLLER_PLUGIN)
#define PROCESS_KIND    (1u << VY_CONTROLLER_PROCESS)
#define PILOT_KIND      (1u << VY_CONTROLLER_PILOT)
#define PX4_KIND        (1u << VY_CONTROLLER_PX4)
#define BETAFLIGHT_KIND (1u << VY_CONTROLLER_BETAFLIGHT)
#define CRAZYFLIE_KIND  (1u << VY_CONTROLLER_CRAZYFLIE)
#define MAVLINK_KINDS   (PX4_KIND | 1u << VY_CONTROLLER_ARDUPILOT)
#define AIRFRAME_KINDS  (MAVLINK_KINDS | BETAFLIGHT_KIND)
#define PORT_KINDS      (MAVLINK_KINDS | CRAZYFLIE_KIND)
#define FIRMWARE_KINDS  (PORT_KINDS | BETAFLIGHT_KIND)
#define PROGRAM_KINDS   (PLUGIN_KIND | PROCESS_KIND | FIRMWARE_KINDS)
#define EXTERNAL_KINDS  (PROGRAM_KINDS | 1u << VY_CONTROLLER_CALLBACK | PILOT_KIND)
static const vy_schema_row controller_rows[] = {
    ROW("kind", CHOICE, vy_controller_def, kind, CHOICES(controller_kinds), .help = "the kind of controller"),
    ROW("period", NUMBER, vy_controller_def, period, .unit = "s", .range = POSITIVE, .flags = VY_ROW_PERIOD,
        .help = "between two replies"),
    ROW("rate_period", NUMBER, vy_controller_def, rate_period, .unit = "s", .range = POSITIVE,
        .flags = VY_ROW_PERIOD, .help = "of the attitude and rate loops below it"),
    ROW("gains", OBJECT, vy_controller_def, gains, .table = &gain_table,
        .help = "of the built-in controller"),
    ROW("rate_law", CHOICE, vy_controller_def, rate_law, CHOICES(rate_laws),
        .help = "how desired rates become torque"),
    ROW("indi_cutoff", NUMBER, vy_controller_def, indi_cutoff, .unit = "rad/s", .range = POSITIVE,
        .help = "of the filter of the rate law `indi`"),
    ROW("pilot", OBJECT, vy_controller_def, pilot, .table = &pilot_table, .help = "speeds at full stick"),
    ROW("flight", CHOICE, vy_controller_def, flight, CHOICES(flight_kinds),
        .help = "how the sticks move the drone"),
    ROW("autopilot", OBJECT, vy_controller_def, autopilot, .table = &autopilot_table,
        .when = 1u << VY_CONTROLLER_AUTOPILOT, .help = "where to, and how"),
    ROW("lost", VECTOR, vy_controller_def, thrust_loss, .size = VY_ROTOR_CAP, .range = WITHIN(0.0, 1.0),
        .flags = VY_ROW_VARIABLE_SIZE,
        .help = "share of each rotor's thrust that the allocation must do without"),
    ROW("intent", OBJECT, vy_controller_def, start, .table = &intent_table, .help = "until the first reply"),
    ROW("setpoints", LIST, vy_controller_def, setpoints, .table = &setpoint_table, .size = VY_SETPOINT_CAP,
        .count_offset = offsetof(vy_controller_def, setpoint_count),
        .help = "where to be when; none holds the start"),
    ROW("path", OBJECT, vy_controller_def, path, .table = &path_table,
        .help = "a trajectory in place of the setpoints"),
    ROW("library", TEXT, vy_controller_def, program, .size = sizeof((vy_controller_def *)0)->program,
        .flags = VY_ROW_REQUIRED, .when = PLUGIN_KIND, .help = "file of the plug-in, seen from `folder`"),
    ROW("command", TEXT, vy_controller_def, program, .size = sizeof((vy_controller_def *)0)->program,
        .keyword = "none", .flags = VY_ROW_REQUIRED, .when = PROCESS_KIND | FIRMWARE_KINDS,
        .help =
            "command line of the program, run in `folder` by the shell; `none`: a firmware or client that "
            "connects by itself"),
    ROW("device", TEXT, vy_controller_def, program, .size = sizeof((vy_controller_def *)0)->program,
        .keyword = "keyboard", .flags = VY_ROW_UNHASHED, .when = PILOT_KIND,
        .help = "the input device: `keyboard`, /dev/input/js0, or a pipe or file of keys"),
    ROW("folder", TEXT, vy_controller_def, folder, .size = sizeof((vy_controller_def *)0)->folder,
        .keyword = "none", .default_text = "that of the scenario", .flags = VY_ROW_UNHASHED,
        .when = PROGRAM_KINDS | PILOT_KIND, .help = "where the program is; `none` is the current one"),
    ROW("deadline", NUMBER, vy_controller_def, deadline, .unit = "s", .range = ABOVE_TO(0.0, 1e6),
        .when = PROGRAM_KINDS, .flags = VY_ROW_UNHASHED,
        .help = "of wall clock for one reply; later ones end the run"),
    ROW("boot", NUMBER, vy_controller_def, boot, .unit = "s", .range = WITHIN(0.0, 1e6),
        .when = PROGRAM_KINDS, .flags = VY_ROW_UNHASHED,
        .help = "of wall clock to be ready, beside the deadline; meanwhile simulated time stands still"),
    ROW("rc", LIST, vy_controller_def, rc, .table = &rc_table, .size = VY_RC_POINT_CAP,
        .count_offset = offsetof(vy_controller_def, rc_count), .when = PROGRAM_KINDS,
        .flags = VY_ROW_ALLOCATED | VY_ROW_HASHED_IF_SET,
        .help = "what a pilot's transmitter sends, over time"),
    ROW("truth", CHOICE, vy_controller_def, truth, SWITCH, .when = EXTERNAL_KINDS,
        .flags = VY_ROW_HASHED_IF_SET, .help = "on: the truth is among its samples, beside the estimate"),
    ROW("cores", CHOICE, vy_controller_def, any_core, CHOICES(core_choices),
        .when = PROCESS_KIND | FIRMWARE_KINDS, .flags = VY_ROW_UNHASHED, .help = "where the program runs"),
    ROW("confine", CHOICE, vy_controller_def, confine, SWITCH, .when = PROGRAM_KINDS,
        .flags = VY_ROW_UNHASHED,
        .help = "on: the program may write only to a fresh folder and what `writable` names, and has no "
                "network but "
                "`network`; always on for what a log names"),
    ROW("network", CHOICE, vy_controller_def, network, CHOICES(network_choices), .when = PROGRAM_KINDS,
        .flags = VY_ROW_UNHASHED, .help = "of a program that is confined"),
    ROW("writable", TEXT, vy_controller_def, writable, .size = sizeof((vy_controller_def *)0)->writable,
        .keyword = "none", .when = PROGRAM_KINDS, .flags = VY_ROW_UNHASHED,
        .help = "files and folders that a confined program may change, separated by `:`, seen from `folder`"),
    ROW("airframe", CHOICE, vy_controller_def, firmware.airframe, CHOICES(airframes), .when = AIRFRAME_KINDS,
        .help = "order and spin of the firmware's motors"),
    ROW("script", LIST, vy_controller_def, firmware.script, .table = &script_table, .size = VY_SCRIPT_CAP,
        .count_offset = offsetof(vy_controller_def, firmware.script_count), .when = AIRFRAME_KINDS,
        .flags = VY_ROW_ALLOCATED | VY_ROW_HASHED_IF_SET, .help = "what the firmware is told, over time"),
    ROW("patience", NUMBER, vy_controller_def, firmware.patience, .unit = "s", .range = POSITIVE,
        .when = AIRFRAME_KINDS, .flags = VY_ROW_UNHASHED,
        .help = "of simulated time within which a line of the script is accepted; else the run ends"),
    ROW("clock", CHOICE, vy_controller_def, firmware.clock, CHOICES(firmware_clocks), .when = BETAFLIGHT_KIND,
        .help = "by which the program runs"),
    ROW("unanswered", NUMBER, vy_controller_def, firmware.unanswered, .range = WITHIN(0.0, 1.0),
        .when = BETAFLIGHT_KIND, .flags = VY_ROW_UNHASHED,
        .help = "share of the packets of a second that may have no answer; else the run ends"),
    ROW("address", TEXT, vy_controller_def, firmware.address, .size = VY_ADDRESS_CAP, .when = FIRMWARE_KINDS,
        .flags = VY_ROW_UNHASHED, .help = "IPv4 address to listen on: `127.0.0.1` is this computer alone"),
    ROW("port", COUNT, vy_controller_def, firmware.port, .range = WITHIN(0.0, 65535.0), .when = PORT_KINDS,
        .flags = VY_ROW_UNHASHED,
        .help = "port that the firmware or client connects to, 0: its usual one (PX4: TCP 4560, ArduPilot: "
                "UDP 9002, "
                "Crazyflie: UDP 19850); "
                "the drone's number in the "
                "run, from 0 on, is added, of ArduPilot ten times"),
    ROW("script_port", COUNT, vy_controller_def, firmware.script_port, .range = WITHIN(0.0, 65535.0),
        .when = MAVLINK_KINDS, .flags = VY_ROW_UNHASHED,
        .help = "UDP port that the firmware's own MAVLink sends to, 0: its usual one, 14540; the drone's "
                "number is added"),
    ROW("lock_step", CHOICE, vy_controller_def, firmware.lock_step, SWITCH, .when = CRAZYFLIE_KIND,
        .flags = VY_ROW_UNHASHED,
        .help =
            "on: the client answers each packet of its logs by a null packet, and the world waits for it; "
            "off: it flies by the wall clock, with `volery run --realtime`"),
    ROW("parameters", NAMED, vy_controller_def, parameters, .size = VY_PARAMETER_CAP, .range = ANY,
        .count_offset = offsetof(vy_controller_def, parameter_count), .when = EXTERNAL_KINDS,
        .help = "for it, by names of your choice, of a firmware its own: numbers, texts, true and false, "
                "lists, mappings; `{file: "
                "PATH}` is a file, "
                "seen from `folder` and known by its digest"),
    ROW("plays", CHOICE, vy_controller_def, record_kind, CHOICES(record_kinds), .when = RECORDED_KIND,
        .default_text = "what the file has",
        .help = "the quantity that was recorded; where `file` has both, motors"),
    ROW("record", TABLE, vy_controller_def, record, .range = WITHIN(-1e9, 1e9), .when = RECORDED_KIND,
        .help = "the flight itself: rows of a time [s], which rises, and a value for each rotor; a row acts "
                "from the step nearest to its time"),
    ROW("file", TEXT, vy_controller_def, record_file, .size = sizeof((vy_controller_def *)0)->record_file,
        .flags = VY_ROW_UNHASHED, .keyword = "none", .when = RECORDED_KIND,
        .help = "a table of text beside the scenario, for record; see Recorded flights in control.md"),
    ROW("columns", TEXT, vy_controller_def, record_columns,
        .size = sizeof((vy_controller_def *)0)->record_columns, .flags = VY_ROW_UNHASHED, .keyword = "none",
        .when = RECORDED_KIND,
        .help =
            "which column of it is which quantity: `time=t_ms ms, motor.0=m4 /65535`; `none`: columns are "
            "called as the quantities are"),
    ROW("from", NUMBER, vy_controller_def, record_from, .unit = "s", .range = AT_LEAST_0,
        .flags = VY_ROW_UNHASHED, .when = RECORDED_KIND,
        .help = "time since the file's first row at which the run begins"),
};
const vy_schema_table vy_controller_table = {.title = "Controller",
                                             .help = "The controller of a drone.",
                                             .size = sizeof(vy_controller_def),
                                             ROWS(controller_rows)};
