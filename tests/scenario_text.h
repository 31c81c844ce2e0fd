// scenario_text.h - what the tests of scenarios share: reading a text, and a text in which everything
// appears.
#pragma once
#include "check.h"
#include "volery/scenario.h"
#include <stdlib.h>

// A scenario in which every kind of thing appears.
static inline const char *everything(void)
{
    return "volery: 1\n"
           "name: every kind of thing\n"
           "seed: 18446744073709551615\n"
           "duration: 2 min\n"
           "world: {gravity: {uniform: [0.01, 0.02, -9.7]},\n"
           "        nap: {budget: {position: 1 cm, attitude: 0.1 deg, over: 60 s}}}\n"
           "drones:\n"
           "  - name: a\n"
           "    start: {position: [1, 2, 3], velocity: [0.1, 0, 0], attitude: {roll: 5 deg, pitch: 2 deg, "
           "yaw: 90 deg},\n"
           "            rate: [1, 0, 0], rotor_speed: 1000}\n"
           "    controller:\n"
           "      intent: {rung: motors, motors: [0.5, 0.25, 0.5, 0.25]}\n"
           "      setpoints: [{time: 0, position: [0, 0, 1]}, {time: 1, position: [0, 1, 1], yaw: 90 deg}]\n"
           "    shape: {kind: box, size: [10 cm, 0.1, 3 cm], material: {friction: 0.9}}\n"
           "    crash: {speed: 2, impulse: 10 mN s, ends: yes}\n"
           "    safety: {tilt_max: 60 deg, rate_max: 20, speed_max: 5, height_min: 0.1, height_max: 5, "
           "distance_max: 9,\n"
           "             sustain: 0.1}\n"
           "  - {name: b, vehicle: crazyflie2x-physical, controller: {intent: {rung: wrench, thrust: 0.1, "
           "torque: [0, 0, 1e-4]}}}\n"
           "  - {name: c, start: {position: [0, 1, 1]}, controller: {kind: none, intent: {rung: rates, "
           "thrust: 0.1, rates: [0, 0, 1]}}}\n"
           "  - {name: d, start: {position: [0, 2, 1]}, controller: {kind: callback, intent: {rung: "
           "attitude, thrust: 0.1, attitude: [1, "
           "0, 0, 0.5]}}}\n"
           "  - name: e\n"
           "    start: {position: [0, 3, 1]}\n"
           "    vehicle: {name: brick, mass: 1, inertia: [[2, 0.1, 0], [0.1, 2, 0], [0, 0, 3]], "
           "area: 0.1, cd: 1.2}\n"
           "    sensors: {imu: {period: none}, mocap: {period: 20 ms, position_noise: 2 mm}}\n"
           "    controller: {kind: none}\n"
           "  - {name: f, start: {position: [0, 4, 1]}, controller: {kind: plugin, library: f.so, folder: "
           "/lib, deadline: 20 ms, "
           "parameters: "
           "{kp: 1.5, k-d: -2e-3}}}\n"
           "  - {name: g, start: {position: [0, 5, 1]}, controller: {kind: process, command: \"./g a\", "
           "cores: any, parameters: {}}}\n"
           "terrain: {kind: heights, position: [-5, -5, 0], attitude: {roll: 1 deg}, spacing: 10, heights: "
           "[[0, 10 cm, 0], [0.2, 0, -0.1]], material: {friction: 0.7, restitution: 0.2, rolling: 1 mm, "
           "spinning: "
           "1 mm}}\n"
           "obstacles:\n"
           "  - {name: wall, kind: box, size: [1, 2, 3], position: [9, 0, 1], attitude: {yaw: 30 deg}}\n"
           "  - {kind: sphere, radius: 20 cm, position: [9, 5, 1], material: {friction: 0.1}}\n"
           "  - {kind: capsule, radius: 20 cm, length: 1, position: [9, 9, 1]}\n"
           "  - {kind: cylinder, radius: 20 cm, length: 1, position: [9, -5, 1]}\n"
           "  - {kind: hull, points: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 50 cm]], position: [9, -9, "
           "1]}\n"
           "  - {kind: plane, position: [0, 0, -9], attitude: {pitch: 3 deg}}\n"
           "contacts: {mode: off, solver: impulse, substep: 5 ms, slop: 1 cm, push_speed: 2, correction: "
           "0.7, "
           "restitution_speed: 0.02, sleep: {after: 1 s}}\n"
           "disturbances:\n"
           "  - {kind: constant, drone: a, frame: body, force: [1 mN, 0, 0], torque: [0, 1e-5, 0], start: 1, "
           "duration: 2}\n"
           "  - {kind: impulse, force: [0, 1 mN s, 0], torque: [0, 1e-6, 0], start: 1, duration: 5 ms}\n"
           "  - {kind: sinusoid, drone: b, force: [0, 0, 1 mN], frequency: 2 Hz, phase: 45 deg}\n"
           "  - {kind: noise, force: [1 mN, 1 mN, 1 mN], frequency: 0.5}\n"
           "faults:\n"
           "  - {kind: motor_loss, drone: a, rotor: 2, start: 1 s, duration: 10 ms, spread: 1 s}\n"
           "  - {kind: motor_weak, drone: a, share: 0.8, every: 2 s, duration: 1 s, chance: 0.5}\n"
           "  - {kind: motor_max, drone: a, rotor: 0, share: 0.8}\n"
           "  - {kind: motor_lag, drone: a, lag: 30 ms}\n"
           "  - {kind: sensor_bias, channel: gyro, bias: [1 deg/s, 0, 0]}\n"
           "  - {kind: sensor_noise, channel: position, noise: [1 mm, 0, 0]}\n"
           "  - {kind: sensor_vibration, channel: accel, amplitude: [0, 0, 2], frequency: 90 Hz}\n"
           "  - {kind: sensor_stuck, channel: attitude, start: 2 s}\n"
           "  - {kind: sensor_swap, channel: accel, start: 2 s}\n"
           "  - {kind: sensor_dropout, channel: gyro, share: 0.1}\n"
           "  - {kind: sensor_delay, drone: a, channel: position, delay: 20 ms}\n"
           "  - {kind: command_loss, share: 0.1}\n"
           "  - {kind: command_delay, drone: a, delay: 20 ms}\n"
           "expect:\n"
           "  - {quantity: tilt, drone: a, at: end, after: 1, max: 20 deg}\n"
           "  - {quantity: height, min: 0.5, max: 2}\n"
           "log: {every: 1, snapshot: 0.5, compression: none}\n";
}

// Reads; the scenario is NULL and the sentences are in `*said` (to be freed) after a mistake.
static inline vy_scenario *read_with(const char *text, const vy_scenario_options *options, char **said)
{
    vy_scenario *scenario = NULL;
    vy_diagnostics told;
    const vy_status status = vy_scenario_parse(text, strlen(text), "s.yaml", options, &scenario, &told);
    assert_int_equal(status == VY_OK, scenario != NULL);
    assert_int_equal(status == VY_OK, told.errors == 0);
    *said = vy_diagnostics_print(&told);
    assert_non_null(*said);
    vy_diagnostics_destroy(&told);
    return scenario;
}

static inline vy_scenario *read_good(const char *text)
{
    char *said;
    vy_scenario *scenario = read_with(text, NULL, &said);
    if (*said != '\0') print_error("%s", said);
    assert_string_equal(said, "");
    free(said);
    return scenario;
}
