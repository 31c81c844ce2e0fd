// world_def.c - defaults of worlds, drones and disturbances, and the checks of what a user declares.
#include "world/world_def.h"
#include "base/real.h"
#include "world/guard.h"
#include "base/fail.h"
#include "base/limits.h"
#include "base/finite.h"
#include "base/vec.h"
#include "control/control.h"
#include "world/kit.h"
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
        .drone_cap = 1,
        .disturbance_cap = 8,
        .joint_cap = 0,
        .contacts = vy_default_contacts_def(),
        .kit_cap = 1,
        .delay_cap = 1024,
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
    def.kit = vy_default_kit_def();
    def.estimator = vy_default_estimator_def();
    def.controller = vy_default_controller_def();
    def.safety.height_min = -DBL_MAX;
    def.safety.height_max = DBL_MAX;
    def.solid = vy_default_solid_def();
    def.safety.fence.low = -DBL_MAX;
    def.safety.fence.high = DBL_MAX;
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
    const vy_status status = vy_check_environment_def(&def->environment, err);
    if (status != VY_OK) return status;
    if (def->drone_cap > VY_DRONE_CAP_MAX || def->disturbance_cap > VY_DISTURBANCE_CAP_MAX) {
        return vy_fail(err, VY_BAD_VALUE, "world: at most %u drones and %u disturbances", VY_DRONE_CAP_MAX,
                       VY_DISTURBANCE_CAP_MAX);
    }
    if (def->payload_cap > VY_PAYLOAD_CAP_MAX)
        return vy_fail(err, VY_BAD_VALUE, "world: at most %u payloads", VY_PAYLOAD_CAP_MAX);
    if (def->fault_cap > VY_FAULT_CAP_MAX || def->line_cap > VY_LINE_CAP_MAX) {
        return vy_fail(err, VY_BAD_VALUE, "world: at most %u faults and %u delayed samples", VY_FAULT_CAP_MAX,
                       VY_LINE_CAP_MAX);
    }
    if (def->obstacle_cap > VY_OBSTACLE_CAP_MAX)
        return vy_fail(err, VY_BAD_VALUE, "world: at most %u obstacles", VY_OBSTACLE_CAP_MAX);
    if (def->kit_cap > VY_DRONE_CAP_MAX || def->delay_cap > VY_DELAY_CAP_MAX) {
        return vy_fail(err, VY_BAD_VALUE, "world: at most %u kits and %u delayed numbers", VY_DRONE_CAP_MAX,
                       VY_DELAY_CAP_MAX);
    }
    return VY_OK;
}

vy_status vy_period_ticks(const char *name, double period, double dt, uint64_t *out, vy_error *err)
{
    const double ratio = period / dt;
    const double ticks = ratio < 1e9 ? real_round(ratio) : 0.0;
    if (!(ticks >= 1.0) || real_abs(ratio - ticks) > 1e-6 * ticks) {
        return vy_fail(err, VY_BAD_VALUE, "%s must be a whole multiple of the step (%g s), got %g s", name,
                       dt, period);
    }
    *out = (uint64_t)ticks;
    return VY_OK;
}

void vy_settle_periods(vy_drone_def *def, double dt)
{
    const vy_controller_def controller = vy_default_controller_def();
    const struct {
        double *period, otherwise;
    } periods[] = {{&def->imu.period, vy_default_imu_def().period},
                   {&def->mocap.period, vy_default_mocap_def().period},
                   {&def->controller.period, controller.period},
                   {&def->controller.rate_period, controller.rate_period}};
    for (size_t i = 0; i < sizeof periods / sizeof periods[0]; ++i) {
        uint64_t ticks;
        double *period = periods[i].period;
        if (*period != periods[i].otherwise || vy_period_ticks("", *period, dt, &ticks, NULL) == VY_OK)
            continue;
        *period = real_max(real_round(*period / dt), 1.0) * dt;
    }
}

// A number that must be at least 0, within the limits of its unit.
typedef struct amount {
    const char *name;
    double value;
    const char *unit;
} amount;

static vy_status check_amounts(const amount *list, size_t count, vy_error *err)
{
    for (size_t i = 0; i < count; ++i) {
        if (!vy_is_amount(list[i].value, list[i].unit)) {
            return vy_fail(err, VY_BAD_VALUE, "drone.%s must be between 0 and %g %s, got %g", list[i].name,
                           vy_limits_of(list[i].unit).most, list[i].unit, list[i].value);
        }
    }
    return VY_OK;
}

static vy_status check_drone_amounts(const vy_drone_def *def, vy_error *err)
{
    const vy_imu_def *imu = &def->imu;
    const vy_safety_def *safety = &def->safety;
    const amount amounts[] = {
        {"imu.period", imu->period, "s"},
        {"imu.accel_noise", imu->accel_noise, "m/s^2/sqrt(Hz)"},
        {"imu.gyro_noise", imu->gyro_noise, "rad/s/sqrt(Hz)"},
        {"imu.accel_bias", imu->accel_bias, "m/s^2"},
        {"imu.gyro_bias", imu->gyro_bias, "rad/s"},
        {"imu.accel_drift", imu->accel_drift, "m/s^3/sqrt(Hz)"},
        {"imu.gyro_drift", imu->gyro_drift, "rad/s^2/sqrt(Hz)"},
        {"mocap.period", def->mocap.period, "s"},
        {"mocap.position_noise", def->mocap.position_noise, "m"},
        {"mocap.attitude_noise", def->mocap.attitude_noise, "rad"},
        {"safety.tilt_max", safety->tilt_max, "rad"},
        {"safety.rate_max", safety->rate_max, "rad/s"},
        {"safety.speed_max", safety->speed_max, "m/s"},
        {"safety.distance_max", safety->distance_max, "m"},
        {"safety.fall_max", safety->fall_max, "m/s"},
        {"safety.sustain", safety->sustain, "s"},
        {"crash.speed", def->crash.speed, "m/s"},
        {"crash.impulse", def->crash.impulse, "N s"},
    };
    if (!(safety->height_min <= safety->height_max)) {
        return vy_fail(err, VY_BAD_VALUE, "drone.safety.height_min must not be above height_max");
    }
    return check_amounts(amounts, sizeof amounts / sizeof amounts[0], err);
}

vy_status vy_check_drone_def(const vy_drone_def *def, vy_error *err)
{
    if (def->cookie != DRONE_COOKIE) {
        return vy_fail(err, VY_BAD_VALUE, "drone: start from vy_default_drone_def()");
    }
    vy_status status = vy_check_vehicle_def(&def->vehicle, err);
    if (status == VY_OK) status = check_drone_amounts(def, err);
    if (status == VY_OK) status = vy_check_fence_def(&def->safety.fence, err);
    if (status == VY_OK) status = vy_check_kit_def(def, err);
    if (status == VY_OK) status = vy_check_controller_def(&def->controller, &def->vehicle, err);
    if (status != VY_OK) return status;

    const struct {
        const char *name, *unit;
        const double *values;
        size_t count;
    } starts[] = {{"position", "m", &def->position.x, 3},
                  {"velocity", "m/s", &def->velocity.x, 3},
                  {"attitude", "", &def->attitude.w, 4},
                  {"rate", "rad/s", &def->rate.x, 3}};
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; ++i) {
        if (vy_all_within(starts[i].values, starts[i].count, starts[i].unit)) continue;
        const double most = vy_limits_of(starts[i].unit).most;
        return vy_fail(err, VY_BAD_VALUE, "drone.%s must be between %g and %g %s", starts[i].name, -most,
                       most, starts[i].unit);
    }
    const vy_controller_kind kind = def->controller.kind;
    const int looks = vy_controller_follows(kind) || kind == VY_CONTROLLER_AUTOPILOT ||
                      kind == VY_CONTROLLER_PILOT ||
                      (kind == VY_CONTROLLER_INTENT && def->controller.start.rung >= VY_RUNG_RATES);
    const int places = def->mocap.period > 0.0 || (def->estimator.kind != VY_ESTIMATOR_FADING &&
                                                   (def->kit.gps.period > 0.0 || def->kit.flow.period > 0.0));
    const vy_failsafe failsafe = def->vehicle.drive.failsafe;
    const int flies = failsafe == VY_FAILSAFE_HOLD || failsafe == VY_FAILSAFE_LAND;
    if (flies && kind != VY_CONTROLLER_NONE && !def->truth && !(def->imu.period > 0.0 && places)) {
        return vy_fail(err, VY_BAD_VALUE,
                       "vehicle.drive.failsafe: hold and land need an estimate of the place, or the truth");
    }
    if (def->controller.flight == VY_FLIGHT_KINEMATIC && vy_drive_is_declared(&def->vehicle.drive)) {
        return vy_fail(err, VY_BAD_VALUE, "vehicle.drive: a kinematic drone has no motors to limit");
    }
    if (looks && !def->truth && !(def->imu.period > 0.0 && places)) {
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
    const double most = def->vehicle.rotor_count > 0 ? def->vehicle.speed_max : 0.0;
    if (!(def->rotor_speed >= 0.0 && def->rotor_speed <= most) && def->vehicle.rotor_count > 0) {
        return vy_fail(err, VY_BAD_VALUE, "drone.rotor_speed must be within 0 and %g rad/s, got %g", most,
                       def->rotor_speed);
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
    if (!vy_is_amount(def->start, "s") || !(def->duration > 0.0)) {
        return vy_fail(err, VY_BAD_VALUE, "disturbance: start must be at least 0 s and duration above 0 s");
    }
    if (def->kind == VY_DISTURBANCE_IMPULSE && !real_is_finite(def->duration)) {
        return vy_fail(err, VY_BAD_VALUE, "disturbance.duration of an impulse must be finite");
    }
    const int waves = def->kind == VY_DISTURBANCE_SINUSOID || def->kind == VY_DISTURBANCE_NOISE;
    if (waves && !vy_is_positive(def->frequency, "Hz")) {
        return vy_fail(err, VY_BAD_VALUE, "disturbance.frequency must be between 1e-9 and 1e9 Hz, got %g",
                       def->frequency);
    }
    return VY_OK;
}
