// schema_sensors.c - the rows of sensors.
#include "scenario/schema_rows.h"
#include "sensors/sensors.h"

// The table of each sensor stands in its own file, sensors/NAME.c.
#define SENSOR_ROW(id, stream, name, needs, text)                                           \
    ROW(#name, OBJECT, vy_scenario_drone, def.sensor_suite.name, .table = &vy_table_##name, \
        .flags = VY_ROW_FILE, .help = text),
static const vy_row sensor_rows[] = {
    ROW("imu", OBJECT, vy_scenario_drone, def.imu, .table = &vy_table_imu, .flags = VY_ROW_FILE,
        .help = "accelerometer and gyroscope"),
    ROW("truth", CHOICE, vy_scenario_drone, def.truth, SWITCH,
        .help = "whether the estimate is the truth at every step: no sensor is that good"),
    ROW("mocap", OBJECT, vy_scenario_drone, def.mocap, .table = &vy_table_mocap, .help = "motion capture"),
    SENSORS(SENSOR_ROW)};
const vy_table vy_sensor_table = {.title = "Sensors", .help = "What a drone measures.", ROWS(sensor_rows)};
