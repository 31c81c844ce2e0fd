// dialect.h - what PX4 and ArduPilot mean differently by the same MAVLink: modes, parameters, missions.
#pragma once
#include "volery/controller.h"

/// Numbers of MAV_CMD that both know.
enum { DIALECT_CMD_SET_MODE = 176 };

typedef struct dialect {
    const char *name;
    int sends_integers_as_floats; ///< whole numbers of parameters travel as floats; else as the bits of one
    int checks_missions; ///< by another thread, once they have been uploaded: too early its mode is refused
    int home_item_count; ///< of a mission, before the first waypoint: ArduPilot's first is its home
    int answers_pings;   ///< by a thread of its own, which reads its port by the wall clock; else the port is
                         ///< read in lock-step
    int above_home;      ///< altitudes are above the home; else above the ellipsoid
    /// The command of a line and its parameters. 0: it is none.
    int (*command)(const vy_script_line *line, double home_altitude, float out[7]);
} dialect;

extern const dialect vy_px4_dialect, vy_ardupilot_dialect;
