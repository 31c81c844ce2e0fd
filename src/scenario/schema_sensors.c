// schema_sensors.c - the rows of sensors.
#include "scenario/schema_rows.h"
#include "sensors/sensors.h"

// The table of each sensor stands in its own file, sensors/NAME.c.
#define SENSOR_ROW(id, stream, name, needs, text)                                           \
    ROW(#name, OBJECT, vy_scenario_drone, def.sensor_suite.name, .table = &vy_table_##name, \
        .flags = VY_ROW_FILE, .help = text),
_Static_assert(sizeof(vy_calibration) == sizeof(int), "choices are read and written as int");
static const vy_choice calibrations[] = {
    CHOICE("none", VY_CALIBRATION_NONE, "errors are as declared"),
    CHOICE("ground", VY_CALIBRATION_GROUND,
           "before the flight: leaves at most 3 mg, 0.02 deg/s, 0.5 uT, and 0.5 % of scale and alignment")};

static const vy_schema_row sensor_rows[] = {
    ROW("imu", OBJECT, vy_scenario_drone, def.imu, .table = &vy_table_imu, .flags = VY_ROW_FILE,
        .help = "accelerometer and gyroscope"),
    ROW("truth", CHOICE, vy_scenario_drone, def.truth, SWITCH,
        .help = "whether the estimate is the truth at every step: no sensor is that good"),
    ROW("calibration", CHOICE, vy_scenario_drone, def.calibration, CHOICES(calibrations),
        .help = "what was done about errors that stay the same"),
    ROW("mocap", OBJECT, vy_scenario_drone, def.mocap, .table = &vy_table_mocap, .help = "motion capture"),
    SENSORS(SENSOR_ROW)};
const vy_schema_table vy_sensor_table = {
    .title = "Sensors", .help = "What a drone measures.", ROWS(sensor_rows)};
