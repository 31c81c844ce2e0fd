// world_def.c - defaults of worlds, drones and disturbances, and the checks of what a user declares.
#include "world/world_def.h"
#include "base/real.h"
#include "world/supervisor.h"
#include "base/fail.h"
#include "base/limits.h"
#include "base/finite.h"
#include "base/vec.h"
#include "control/control.h"
#include "world/sensor_suite.h"
#include <math.h>

#define WORLD_COOKIE       0x76796c32u
#define DRONE_COOKIE       0x76796c33u
#define DISTURBANCE_COOKIE 0x76796c34u

vy_world_def vy_default_world_def(void)
{
    return (vy_world_def){
        .cookie = WORLD_COOKIE,
        .dt = 0.001,
        .seed = 1,
        .environment = vy_default_environment_def(),
        .contacts = vy_default_contacts_def(),
        .closing_speed = vy_default_bodies_def().closing_speed,
        .open_limit = vy_default_bodies_def().open_limit,
    };
}

vy_drone_def vy_default_drone_def(void)
{
    FPU_SCOPE;
    vy_drone_def def;
    memset(&def, 0, sizeof def);
    def.cookie = DRONE_COOKIE;
    def.vehicle = vy_default_vehicle_def();
    def.position.z = 1.0;
    def.attitude.w = 1.0;
    def.rotor_speed = vy_vehicle_hover_speed(&def.vehicle, 9.80665);
    def.imu = vy_default_imu_def();
    def.mocap = vy_default_mocap_def();
    def.sensor_suite = vy_default_sensor_suite_def();
    def.estimator = vy_default_estimator_def();
    def.controller = vy_default_controller_def();
    def.safety = vy_default_safety_def();
    def.solid = vy_default_collider_def();
    return def;
}

vy_disturbance_def vy_default_disturbance_def(void)
{
    vy_disturbance_def def;
    memset(&def, 0, sizeof def);
    def.cookie = DISTURBANCE_COOKIE;
    def.duration = HUGE_VAL; // for ever
    def.frequency = 1.0;
    return def;
}

vy_status vy_check_world_def(const vy_world_def *def, vy_error *err)
{
    if (def->cookie != WORLD_COOKIE) {
        return vy_fail(err, VY_BAD_VALUE, "world: start from vy_default_world_def()");
    }
    if (!(def->dt >= 1e-9 && def->dt <= 1.0)) {
        return vy_fail(err, VY_BAD_VALUE, "world.dt must be between 1e-9 and 1 s, got %g", def->dt);
    }
    const vy_environment_def *e = &def->environment;
    const double *culprit;
    const vy_status status =
        vy_check_budget_def(&e->nap.budget, vy_coordinate_radius(&e->planet), def->dt, &culprit, err);
    if (status != VY_OK) return status;
    return vy_check_environment_def(&def->environment, err);
}

void vy_round_periods(vy_drone_def *def, double dt)
{
    const vy_controller_def controller = vy_default_controller_def();
    const struct {
        double *period, default_period;
    } periods[] = {{&def->imu.period, vy_default_imu_def().period},
                   {&def->mocap.period, vy_default_mocap_def().period},
                   {&def->controller.period, controller.period},
                   {&def->controller.rate_period, controller.rate_period}};
    for (size_t i = 0; i < sizeof periods / sizeof periods[0]; ++i) {
        uint64_t ticks;
        double *period = periods[i].period;
        if (*period != periods[i].default_period || vy_period_ticks("", *period, dt, &ticks, NULL) == VY_OK)
            continue;
        *period = real_max(real_round(*period / dt), 1.0) * dt;
    }
}

void vy_resolve_drone_def(vy_drone_def *def, double dt)
{
    vy_round_periods(def, dt);
    vy_calibrate_sensors(def);
}

vy_status vy_check_start(const char *owner, const body_state *start, vy_error *err)
{
    const struct {
        const char *name, *unit;
        const double *values;
        size_t count;
    } starts[] = {{"position", "m", &start->position.x, 3},
                  {"velocity", "m/s", &start->velocity.x, 3},
                  {"attitude", "", &start->attitude.w, 4},
                  {"rate", "rad/s", &start->rate.x, 3}};
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; ++i) {
        if (vy_all_within(starts[i].values, starts[i].count, starts[i].unit)) continue;
        const double max = vy_limits_of(starts[i].unit).max;
        return vy_fail(err, VY_BAD_VALUE, "%s.%s must be between %g and %g %s", owner, starts[i].name, -max,
                       max, starts[i].unit);
    }
    return VY_OK;
}

vy_status vy_check_drone_def(const vy_drone_def *def, vy_error *err)
{
    if (def->cookie != DRONE_COOKIE) {
        return vy_fail(err, VY_BAD_VALUE, "drone: start from vy_default_drone_def()");
    }
    vy_status status = vy_check_vehicle_def(&def->vehicle, err);
    if (status == VY_OK) status = vy_check_safety_def(&def->safety, err);
    if (status == VY_OK) status = vy_check_rows(&vy_table_crash, "drone.crash", &def->crash, err);
    if (status == VY_OK) status = vy_check_sensor_suite_def(def, err);
    if (status == VY_OK) status = vy_check_controller_def(&def->controller, &def->vehicle, err);
    if (status != VY_OK) return status;

    const body_state start = {def->position, def->velocity, def->attitude, def->rate};
    status = vy_check_start("drone", &start, err);
    if (status != VY_OK) return status;
    const vy_controller_kind kind = def->controller.kind;
    const int needs_estimate = vy_controller_follows(kind) || kind == VY_CONTROLLER_AUTOPILOT ||
                               kind == VY_CONTROLLER_PILOT ||
                               (kind == VY_CONTROLLER_INTENT && def->controller.start.rung >= VY_RUNG_RATES);
    const int has_position = vy_estimator_has_position(&def->estimator, &def->mocap, &def->sensor_suite);
    const vy_failsafe failsafe = def->vehicle.drive.failsafe;
    const int failsafe_flies = failsafe == VY_FAILSAFE_HOLD || failsafe == VY_FAILSAFE_LAND;
    if (failsafe_flies && kind != VY_CONTROLLER_NONE && !def->truth &&
        !(def->imu.period > 0.0 && has_position)) {
        return vy_fail(err, VY_BAD_VALUE,
                       "vehicle.drive.failsafe: hold and land need a position estimate or the truth");
    }
    if (def->controller.flight == VY_FLIGHT_KINEMATIC && vy_drive_is_declared(&def->vehicle.drive)) {
        return vy_fail(err, VY_BAD_VALUE, "vehicle.drive: a kinematic drone has no motors to limit");
    }
    if (needs_estimate && !def->truth && !(def->imu.period > 0.0 && has_position)) {
        return vy_fail(
            err, VY_BAD_VALUE,
            def->estimator.kind == VY_ESTIMATOR_FADING
                ? "drone: the controller needs an IMU and motion capture, or the truth"
                : "drone: the controller needs an IMU and motion capture, GPS or flow, or the truth");
    }
    const double length = quat_dot(def->attitude, def->attitude);
    if (!(length > 0.0 && real_is_finite(length))) {
        return vy_fail(err, VY_BAD_VALUE, "drone.attitude must have a length above 0");
    }
    const double rotor_speed_max = def->vehicle.rotor_count > 0 ? def->vehicle.speed_max : 0.0;
    if (!(def->rotor_speed >= 0.0 && def->rotor_speed <= rotor_speed_max) && def->vehicle.rotor_count > 0) {
        return vy_fail(err, VY_BAD_VALUE, "drone.rotor_speed must be within 0 and %g rad/s, got %g",
                       rotor_speed_max, def->rotor_speed);
    }
    for (int i = 0; i < def->vehicle.rotor_count; ++i) {
        if (!(def->rotor_speeds[i] >= 0.0 && def->rotor_speeds[i] <= rotor_speed_max))
            return vy_fail(err, VY_BAD_VALUE, "drone.rotor_speeds[%d] must be within 0 and %g rad/s, got %g",
                           i, rotor_speed_max, def->rotor_speeds[i]);
    }
    return VY_OK;
}

vy_status vy_check_disturbance_def(const vy_disturbance_def *def, vy_error *err)
{
    if (def->cookie != DISTURBANCE_COOKIE) {
        return vy_fail(err, VY_BAD_VALUE, "disturbance: start from vy_default_disturbance_def()");
    }
    if ((unsigned)def->kind > VY_DISTURBANCE_NOISE || (unsigned)def->frame > VY_FRAME_BODY) {
        return vy_fail(err, VY_BAD_VALUE, "disturbance: unknown kind or frame");
    }
    if (!vy_all_within(&def->force.x, 3, "N") || !vy_all_within(&def->torque.x, 3, "N m") ||
        !vy_all_within(&def->phase, 1, "rad")) {
        return vy_fail(err, VY_BAD_VALUE,
                       "disturbance: force and torque must be within 1e12 N and N m, phase within 1e6 rad");
    }
    if (!vy_is_nonnegative(def->start, "s") || !(def->duration > 0.0)) {
        return vy_fail(err, VY_BAD_VALUE, "disturbance: start must be at least 0 s and duration above 0 s");
    }
    if (def->kind == VY_DISTURBANCE_IMPULSE && !real_is_finite(def->duration)) {
        return vy_fail(err, VY_BAD_VALUE, "disturbance.duration of an impulse must be finite");
    }
    const int has_frequency = def->kind == VY_DISTURBANCE_SINUSOID || def->kind == VY_DISTURBANCE_NOISE;
    if (has_frequency && !vy_is_positive(def->frequency, "Hz")) {
        return vy_fail(err, VY_BAD_VALUE, "disturbance.frequency must be between 1e-9 and 1e9 Hz, got %g",
                       def->frequency);
    }
    return VY_OK;
}
