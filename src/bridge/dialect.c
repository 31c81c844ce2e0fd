// dialect.c - lines of a script as MAVLink commands, by firmware.
#include "bridge/dialect.h"
#include <math.h>
#include <string.h>

enum {
    CMD_RETURN = 20,
    CMD_LAND = 21,
    CMD_TAKEOFF = 22,
    CMD_ARM = 400,
    MODE_CUSTOM = 1, // the numbers that follow are the firmware's own
    // PX4's main mode, and modes within it
    PX4_AUTO = 4,
    PX4_AUTO_HOLD = 3,
    PX4_AUTO_MISSION = 4,
    // modes of ArduPilot's Copter
    COPTER_STABILIZE = 0,
    COPTER_ACRO = 1,
    COPTER_ALT_HOLD = 2,
    COPTER_AUTO = 3,
    COPTER_GUIDED = 4,
    COPTER_LOITER = 5,
};

// What both have in common.
static int shared_command(const vy_script_line *line, float p[7])
{
    switch (line->action) {
    case VY_SCRIPT_ARM: p[0] = 1.0f; return CMD_ARM;
    case VY_SCRIPT_DISARM: return CMD_ARM;
    case VY_SCRIPT_LAND: return CMD_LAND;
    case VY_SCRIPT_RETURN: return CMD_RETURN;
    case VY_SCRIPT_TAKEOFF: return CMD_TAKEOFF;
    case VY_SCRIPT_COMMAND:
        for (int i = 0; i < VY_COMMAND_VALUES; ++i) p[i] = (float)line->values[i];
        return line->command;
    default: return 0;
    }
}

static int px4_command(const vy_script_line *line, double home_altitude, float p[7])
{
    static const float modes[] = {[VY_MODE_MANUAL] = 1, [VY_MODE_ALTITUDE] = 2,   [VY_MODE_POSITION] = 3,
                                  [VY_MODE_ACRO] = 5,   [VY_MODE_STABILIZED] = 7, [VY_MODE_OFFBOARD] = 6};
    memset(p, 0, 7 * sizeof *p);
    const int command = shared_command(line, p);
    if (command == CMD_TAKEOFF || command == CMD_LAND)
        p[3] = p[4] = p[5] = NAN; // heading and place as they are
    if (line->action == VY_SCRIPT_TAKEOFF) p[6] = (float)(home_altitude + line->altitude);
    if (command != 0) return command;
    p[0] = MODE_CUSTOM;
    p[1] = PX4_AUTO;
    switch (line->action) {
    case VY_SCRIPT_HOLD: p[2] = PX4_AUTO_HOLD; return DIALECT_CMD_SET_MODE;
    case VY_SCRIPT_MISSION: p[2] = PX4_AUTO_MISSION; return DIALECT_CMD_SET_MODE;
    case VY_SCRIPT_MODE: p[1] = modes[line->mode]; return DIALECT_CMD_SET_MODE;
    default: return 0;
    }
}

// Sticks fly Loiter, and without a radio its throttle is low: to hold it is told to stay in Guided.
static int ardupilot_command(const vy_script_line *line, double home_altitude, float p[7])
{
    static const float modes[] = {
        [VY_MODE_MANUAL] = COPTER_STABILIZE,     [VY_MODE_ALTITUDE] = COPTER_ALT_HOLD,
        [VY_MODE_POSITION] = COPTER_LOITER,      [VY_MODE_ACRO] = COPTER_ACRO,
        [VY_MODE_STABILIZED] = COPTER_STABILIZE, [VY_MODE_OFFBOARD] = COPTER_GUIDED};
    (void)home_altitude;
    memset(p, 0, 7 * sizeof *p);
    const int command = shared_command(line, p);
    if (line->action == VY_SCRIPT_TAKEOFF) p[6] = (float)line->altitude;
    if (command != 0) return command;
    p[0] = MODE_CUSTOM;
    switch (line->action) {
    case VY_SCRIPT_HOLD: p[1] = COPTER_GUIDED; return DIALECT_CMD_SET_MODE;
    case VY_SCRIPT_MISSION: p[1] = COPTER_AUTO; return DIALECT_CMD_SET_MODE;
    case VY_SCRIPT_MODE: p[1] = modes[line->mode]; return DIALECT_CMD_SET_MODE;
    default: return 0;
    }
}

const dialect vy_px4_dialect = {
    .name = "px4", .answers_pings = 1, .checks_missions = 1, .command = px4_command};
const dialect vy_ardupilot_dialect = {.name = "ardupilot",
                                      .sends_integers_as_floats = 1,
                                      .home_item_count = 1,
                                      .above_home = 1,
                                      .command = ardupilot_command};
