// estimator_array.h - the flights that estimators are judged by: a pairwise array over vehicle, air, fault,
// gate, calibration, start and motion, as scenarios.
#pragma once
#include "check.h"
#include "volery/scenario.h"
#include "world/sensor_suite.h"
#include <string.h>

#define FAULT_AT   22.0 // [s]
#define RECOVERY   10.0 // [s] after a fault
#define AFTERWARDS 12.0 // [s] of flight after that

typedef enum fault_choice { NO_FAULT, GPS_1, GPS_5, GPS_20, MAGNET, BARO_JUMP, SPOOFED } fault_choice;

typedef struct fault_row {
    const char *name, *text;
    double duration; // [s]
} fault_row;

#define FROM "start: 22 s, duration: "
static const fault_row fault_rows[] = {
    [NO_FAULT] = {"none", "", 0.0},
    [GPS_1] = {"GPS lost 1 s", "{kind: sensor_dropout, channel: gps_position, share: 1, " FROM "1 s}", 1.0},
    [GPS_5] = {"GPS lost 5 s", "{kind: sensor_dropout, channel: gps_position, share: 1, " FROM "5 s}", 5.0},
    [GPS_20] = {"GPS lost 20 s", "{kind: sensor_dropout, channel: gps_position, share: 1, " FROM "20 s}",
                20.0},
    [MAGNET] = {"50 uT for 5 s", "{kind: sensor_bias, channel: mag, bias: [40e-6, -30e-6, 0], " FROM "5 s}",
                5.0},
    [BARO_JUMP] = {"baro jump 20 m", "{kind: sensor_bias, channel: baro, bias: 240 Pa, " FROM "10 s}", 10.0},
    // Fixes that drift off by 10 and 6 m, and are right again at once: half a period of sin(2 pi t / 44 s)
    // ends at 22 s.
    [SPOOFED] = {"spoofed drift",
                 "{kind: sensor_vibration, channel: gps_position, amplitude: [-10, -6, 0], frequency: "
                 "0.0227272727 Hz, " FROM "11 s}",
                 11.0},
};
#undef FROM

typedef struct flight_row {
    const char *vehicle;
    fault_choice fault;
    int gusts, gate, calibrated, on_ground, figure_eight;
    int complementary; // in place of the Kalman filter
} flight_row;

// Every two choices of different columns are in one of the rows, as far as 24 rows go.
static const flight_row flight_rows[] = {
    {"x500", NO_FAULT, 0, 0, 1, 0, 0, 0},
    {"x500", NO_FAULT, 1, 1, 0, 0, 1, 0},
    {"x500", GPS_1, 1, 0, 1, 1, 0, 0},
    {"x500", GPS_5, 0, 1, 0, 0, 0, 0},
    {"x500", GPS_20, 1, 0, 1, 0, 1, 0},
    {"x500", MAGNET, 0, 1, 1, 0, 0, 0},
    {"x500", BARO_JUMP, 1, 0, 0, 1, 0, 0},
    {"x500", SPOOFED, 0, 1, 1, 0, 1, 0},
    {"hexa", NO_FAULT, 1, 1, 1, 1, 1, 0},
    {"hexa", GPS_1, 0, 1, 0, 0, 1, 0},
    {"hexa", GPS_20, 0, 1, 0, 0, 0, 0},
    {"hexa", MAGNET, 1, 0, 0, 0, 1, 0},
    {"hexa", BARO_JUMP, 0, 1, 1, 0, 1, 0},
    {"crazyflie2x-physical", NO_FAULT, 0, 0, 0, 0, 0, 0},
    {"crazyflie2x-physical", GPS_5, 0, 0, 1, 1, 1, 0},
    {"crazyflie2x-physical", GPS_20, 0, 1, 1, 1, 0, 0},
    {"crazyflie2x-physical", MAGNET, 0, 0, 1, 0, 0, 0},
    {"crazyflie2x-physical", SPOOFED, 0, 0, 0, 0, 0, 0},
    {"reference-quad", NO_FAULT, 0, 0, 0, 0, 1, 0},
    {"reference-quad", GPS_5, 1, 1, 1, 0, 0, 0},
    {"reference-quad", MAGNET, 1, 1, 0, 1, 0, 0},
    {"reference-quad", BARO_JUMP, 0, 0, 0, 0, 0, 0},
    {"reference-quad", SPOOFED, 1, 0, 1, 1, 0, 0},
    {"hexa", SPOOFED, 1, 0, 0, 0, 0, 0},
};
enum { FLIGHT_ROWS = sizeof flight_rows / sizeof flight_rows[0] };

// From here on a flight is judged again [s].
static inline double flight_recovered(const flight_row *row)
{
    return FAULT_AT + fault_rows[row->fault].duration + RECOVERY;
}

static inline double flight_end(const flight_row *row) { return flight_recovered(row) + AFTERWARDS; }

static inline void row_text(const flight_row *row, uint64_t seed, char *text, size_t size)
{
    const char *figure_eight =
        "\n      path: {kind: figure_eight, centre: [0, 0, 20], radius: 8 m, speed: 5 m/s, "
        "ramp: 3 s, laps: 20, "
        "start: 6 s}";
    const char *climb =
        "\n      setpoints: [{time: 2.5 s, position: [0, 0, 0]}, {time: 8 s, position: [0, 0, 20]}]";
    snprintf(text, size,
             "volery: 1\nname: row\nduration: %g s\nseed: %llu\n"
             "world:\n  magnetic_field: [0, 20 uT, -45 uT]\n%s%s"
             "drones:\n  - name: alpha\n    vehicle: %s\n    start: {position: [0, 0, %s]}\n"
             "    safety: {distance_max: 80 m, tilt_max: 85 deg%s}\n"
             "    sensors: {imu: bmi088, mocap: {period: none}, baro: bmp388, mag: hmc5883l, gps: neo-m9n, "
             "calibration: %s}\n"
             "    estimator: {kind: %s%s, start: %s}\n"
             "    controller:\n      kind: hold%s\n%s%s\n",
             flight_end(row), (unsigned long long)seed,
             row->gusts ? "  wind: {constant: [2, 1, 0], turbulence: {wind20: 5 m/s}}\n" : "",
             row->on_ground ? "terrain: {kind: plane}\n" : "", row->vehicle, row->on_ground ? "0.1" : "20",
             row->on_ground ? "" : ", height_min: 1 m", row->calibrated ? "ground" : "none",
             row->complementary ? "complementary" : "ekf", row->gate ? ", gate: 5" : "",
             row->on_ground ? "ground" : "air",
             row->figure_eight ? figure_eight
             : row->on_ground  ? climb
                               : "",
             row->fault != NO_FAULT ? "faults:\n  - " : "", fault_rows[row->fault].text);
}

static inline vy_world *row_world(const flight_row *row, uint64_t seed)
{
    char text[4000];
    row_text(row, seed, text, sizeof text);
    vy_scenario *scenario = NULL;
    vy_diagnostics found = {0};
    vy_error err = {0};
    if (vy_scenario_parse(text, strlen(text), "row", NULL, &scenario, &found) != VY_OK)
        fail_msg("%s in\n%s", found.items[0].text, text);
    vy_world *world = NULL;
    if (vy_scenario_build(scenario, &world, &err) != VY_OK) fail_msg("%s", err.text);
    vy_scenario_destroy(scenario);
    vy_diagnostics_destroy(&found);
    return world;
}
