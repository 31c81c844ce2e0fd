// fit_flights.h - flights of random vehicles in closed loop, with stock sensors, gusts and jitter of the
// recorded times, as a log of a real flight would have them.
#pragma once
#include "check.h"
#include "scenario/flight_csv.h"
#include "volery/fit.h"
#include "volery/scenario.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { FLIGHT_ROW_STEPS = 5 };
#define FLIGHT_JITTER 0.4e-3 // [s] of recorded times, either way

/// A vehicle that differs from `base` in everything that a fit can find.
static inline vy_vehicle_def random_vehicle(random_source *r, const vy_vehicle_def *base)
{
    vy_vehicle_def v = *base;
    const double arm = fmax(fabs(v.rotors[0].position.x), fabs(v.rotors[0].position.y));
    const double share = random_in(r, 0.85, 1.15);
    v.mass *= random_in(r, 0.9, 1.1);
    v.thrust_coef *= random_in(r, 0.85, 1.2);
    v.torque_coef = v.thrust_coef * (base->torque_coef / base->thrust_coef) * random_in(r, 0.7, 1.4);
    v.inertia.m[0][0] *= random_in(r, 0.75, 1.3);
    v.inertia.m[1][1] *= random_in(r, 0.75, 1.3);
    v.inertia.m[2][2] = share * (v.inertia.m[0][0] + v.inertia.m[1][1]) * base->inertia.m[2][2] /
                        (base->inertia.m[0][0] + base->inertia.m[1][1]);
    v.rotor_air.inertia = v.inertia.m[2][2] * random_in(r, 5e-4, 3e-3);
    v.motor_lag = random_in(r, 0.02, 0.05);
    v.motor_lag_down = v.motor_lag * random_in(r, 1.0, 1.8);
    const double drag = v.mass * random_in(r, 0.1, 0.4);
    v.drag_linear = (vy_vec3){drag, drag * random_in(r, 0.7, 1.4), drag * random_in(r, 0.7, 1.4)};
    v.centre_of_mass.x = arm * random_in(r, -0.04, 0.04);
    v.centre_of_mass.y = arm * random_in(r, -0.04, 0.04);
    return v;
}

typedef struct text_buffer {
    char text[8000];
    size_t size;
} text_buffer;

static inline void text_add(text_buffer *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    t->size += (size_t)vsnprintf(t->text + t->size, sizeof t->text - t->size, format, args);
    va_end(args);
    assert_true(t->size < sizeof t->text);
}

/// A scenario in which it flies about between random points, climbs and turns.
static inline void flight_scenario(random_source *r, uint64_t seed, double duration, text_buffer *t)
{
    t->size = 0;
    text_add(t, "volery: 1\nseed: %llu\nduration: %g s\nlog: {every: %d}\n", (unsigned long long)seed,
             duration, FLIGHT_ROW_STEPS);
    text_add(t, "world: {wind: {turbulence: {wind20: %.3g}}}\n", random_in(r, 1.0, 4.0));
    text_add(
        t,
        "drones:\n  - name: a\n    vehicle: reference-quad\n    start: {position: [0, 0, 10]}\n"
        "    controller:\n      kind: lee\n      period: 5 ms\n      rate_period: 5 ms\n      setpoints:\n");
    for (double time = 1.0; time < duration; time += 2.0) {
        const double x = random_in(r, -1.5, 1.5), y = random_in(r, -1.5, 1.5), z = random_in(r, 9.0, 11.0),
                     yaw = random_in(r, -1.0, 1.0);
        text_add(t, "        - {time: %.3g s, position: [%.3g, %.3g, %.3g], yaw: %.3g}\n", time, x, y, z,
                 yaw);
    }
}

/// Fly it, and write down what its instruments said and the commands, every FLIGHT_ROW_STEPS steps.
static inline vy_flight *record_flight(random_source *r, const vy_vehicle_def *vehicle, const char *text,
                                       size_t size, double jitter)
{
    vy_scenario *scenario = NULL;
    vy_diagnostics found;
    vy_world *world = NULL;
    if (vy_scenario_parse(text, size, "flight", NULL, &scenario, &found) != VY_OK)
        print_error("%s\n", vy_diagnostics_print(&found));
    vy_diagnostics_destroy(&found);
    assert_non_null(scenario);
    scenario->drones[0].def.vehicle = *vehicle;
    scenario->drones[0].def.rotor_speed = vy_vehicle_hover_speed(vehicle, 9.80665);
    assert_int_equal(vy_scenario_build(scenario, &world, NULL), VY_OK);
    const size_t rows = (size_t)(scenario->duration / scenario->step) / FLIGHT_ROW_STEPS;
    const unsigned long long has = 1ull << VY_FLIGHT_TIME | 7ull << VY_FLIGHT_POSITION |
                                   15ull << VY_FLIGHT_ATTITUDE | 7ull << VY_FLIGHT_RATE |
                                   7ull << VY_FLIGHT_ACCEL | 15ull << VY_FLIGHT_MOTOR;
    vy_flight *f = vy_flight_create(rows, has);
    assert_non_null(f);
    for (size_t i = 0; i < rows; ++i) {
        vy_drone_state s;
        assert_int_equal(vy_world_advance(world, FLIGHT_ROW_STEPS) & VY_EVENT_FAILED, 0);
        assert_int_equal(vy_world_read_drone(world, vy_world_drone(world, 0), &s), VY_OK);
        f->values[VY_FLIGHT_TIME][i] = (double)s.samples.tick * 0.001 + random_in(r, -jitter, jitter);
        const int has_pose = s.samples.mocap.tick == s.samples.tick;
        const double *const parts[] = {&s.samples.imu.gyro.x, &s.samples.imu.accel.x,
                                       &s.samples.mocap.position.x, &s.samples.mocap.attitude.w};
        for (int a = 0; a < 3; ++a) {
            f->values[VY_FLIGHT_RATE + a][i] = parts[0][a];
            f->values[VY_FLIGHT_ACCEL + a][i] = parts[1][a];
            f->values[VY_FLIGHT_POSITION + a][i] = has_pose ? parts[2][a] : (double)NAN;
        }
        for (int a = 0; a < 4; ++a) {
            f->values[VY_FLIGHT_ATTITUDE + a][i] = has_pose ? parts[3][a] : (double)NAN;
            f->values[VY_FLIGHT_MOTOR + a][i] = s.motor_command[a];
        }
    }
    const double first = f->values[VY_FLIGHT_TIME][0];
    for (size_t i = 0; i < rows; ++i) f->values[VY_FLIGHT_TIME][i] -= first;
    vy_world_destroy(world);
    vy_scenario_destroy(scenario);
    return f;
}
