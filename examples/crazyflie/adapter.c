// adapter.c - the Crazyflie's own controllers and estimators as a plug-in of Volery's. One call is one turn
// of the firmware's stabilizer loop, in its order: sensors, estimator, setpoint, controller, power
// distribution.
//
// Axes are the same on both sides: x forward, y left, z up. The firmware has degrees, g and a pitch that is
// positive nose up. It is GPL code, from a checkout of your own.
#include "controller.h"
#include "estimator.h"
#include "estimator_complementary.h"
#include "estimator_kalman.h"
#include "filter.h"
#include "platform_defaults.h"
#include "power_distribution.h"
#include "supervisor.h"
#include "rtos.h"
#include "volery/plugin.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define STANDARD_GRAVITY   9.81 // [m/s^2] the firmware's g
#define DEGREES_PER_RADIAN 57.295779513082321
#define GYRO_CUTOFF        80.0f // [Hz] sensors_bmi088_bmp3xx.c
#define ACC_CUTOFF         30.0f
#define FLOW_PIXELS        35.0    // mm_flow.c: pixels of the camera
#define FLOW_ANGLE         0.71674 // and their angle [rad]
#define FLOW_SCALE         0.10    // of a count

enum { MOTORS = 4, FLYING_MS = 2000 }; // it flies for so long after its last thrust: supervisor.c

typedef enum source { KALMAN, COMPLEMENTARY, VOLERY } source;

static struct {
    source source;
    int has_mocap;
    vy_vec3 start;
    int rotor[MOTORS]; // M1 to M4: the vehicle's rotors
    double thrust_coef, thrust_linear, speed_max;
    double mocap_position, mocap_attitude; // [m], [rad] deviations that the firmware is told
    lpf2pData acc_filter[3], gyro_filter[3];
    stabilizerStep_t step;
    uint64_t imu, mocap, baro, range, flow; // ticks of the last samples taken
    uint64_t flow_before;
    uint32_t thrust_ms; // when a motor last ran; 0: never
    uint32_t now_ms;
    sensorData_t sensors;
    state_t state;
    control_t control;
} self;

bool supervisorIsFlying(void) { return self.thrust_ms != 0 && self.now_ms - self.thrust_ms < FLYING_MS; }

// --- before the first step

// The rotor in that quarter of the body, which must turn that way. -1: there is none.
static int find_rotor(const vy_vehicle_def *vehicle, double x, double y, int spin)
{
    for (int i = 0; i < vehicle->rotor_count; ++i) {
        const vy_rotor_def *rotor = &vehicle->rotors[i];
        if (rotor->position.x * x > 0.0 && rotor->position.y * y > 0.0 && rotor->spin == spin) return i;
    }
    return -1;
}

static const char *read_vehicle(const vy_vehicle_def *vehicle)
{
    if (vehicle->rotor_count != MOTORS) return "a Crazyflie has four rotors";
    if (vehicle->allocation != VY_ALLOCATION_PHYSICAL)
        return "the firmware needs the torques of real rotors: crazyflie2x-physical, not crazyflie2x";
    self.rotor[0] = find_rotor(vehicle, 1.0, -1.0, 1);
    self.rotor[1] = find_rotor(vehicle, -1.0, -1.0, -1);
    self.rotor[2] = find_rotor(vehicle, -1.0, 1.0, 1);
    self.rotor[3] = find_rotor(vehicle, 1.0, 1.0, -1);
    for (int i = 0; i < MOTORS; ++i)
        if (self.rotor[i] < 0) return "the rotors are not where a Crazyflie has them, or turn the other way";
    if (vehicle->command_curve != 1.0 || vehicle->command_dead != 0.0 || vehicle->speed_idle != 0.0 ||
        vehicle->thrust_cubic != 0.0)
        return "command_curve: 1 without dead zone, idle speed or thrust_cubic is needed";
    self.thrust_coef = vehicle->thrust_coef;
    self.thrust_linear = vehicle->thrust_linear;
    self.speed_max = vehicle->speed_max;
    return NULL;
}

static int find_name(const char *name, const char *const *names)
{
    for (int i = 0; names[i] != NULL; ++i)
        if (strcmp(names[i], name) == 0) return i;
    return -1;
}

static const char *read_start(const vy_plugin_start *start)
{
    static const char *const controllers[] = {"", "pid", "mellinger", "indi", "brescianini", "lee", NULL};
    static const char *const sources[] = {"kalman", "complementary", "volery", NULL};
    const int controller_type = find_name(vy_plugin_text(start, "controller", "pid"), controllers);
    const int state_source = find_name(vy_plugin_text(start, "estimator", "kalman"), sources);
    if (fabs(start->period - 1e-3) > 1e-9) return "the stabilizer loop runs at 1 kHz: period: 1 ms";
    if (controller_type <= 0) return "controller is pid, mellinger, indi, brescianini or lee";
    if (state_source < 0) return "estimator is kalman, complementary or volery";
    self.source = (source)state_source;
    self.has_mocap = start->mocap->period > 0.0;
    self.start = start->position;
    const int has_flow = start->sensors->flow.period > 0.0 && start->sensors->range.period > 0.0;
    if (state_source == KALMAN && !self.has_mocap && !has_flow)
        return "kalman needs mocap, or flow and range";
    if (state_source == COMPLEMENTARY && !(start->sensors->range.period > 0.0) &&
        !(start->sensors->baro.period > 0.0))
        return "complementary needs range or baro for its height";
    if (state_source == COMPLEMENTARY && controller_type != ControllerTypePID)
        return "complementary has no position, which only the pid can do without";
    if (state_source != VOLERY && !self.has_mocap && fabs(start->attitude.z) > 1e-6)
        return "without mocap the firmware begins at yaw 0";
    self.mocap_position = vy_plugin_parameter(start, "mocap_position", 0.01);
    self.mocap_attitude = vy_plugin_parameter(start, "mocap_attitude", 4.5e-3);
    for (int i = 0; i < 3; ++i) {
        lpf2pInit(&self.acc_filter[i], RATE_MAIN_LOOP, ACC_CUTOFF);
        lpf2pInit(&self.gyro_filter[i], RATE_MAIN_LOOP, GYRO_CUTOFF);
    }
    estimatorKalmanTaskInit();
    if (state_source == KALMAN) estimatorKalmanInit();
    if (state_source == COMPLEMENTARY) estimatorComplementaryInit();
    controllerInit((ControllerType)controller_type);
    powerDistributionInit();
    self.step = 1;
    return read_vehicle(start->vehicle);
}

static void *init(const vy_plugin_start *start, char *why, size_t room)
{
    const char *error_text = read_start(start);
    if (error_text == NULL) return &self;
    snprintf(why, room, "%s", error_text);
    return NULL;
}

// --- in: what the drone measures

static Axis3f to_axis3f(vy_vec3 v, double scale)
{
    return (Axis3f){.x = (float)(v.x * scale), .y = (float)(v.y * scale), .z = (float)(v.z * scale)};
}

static void measure_imu(const vy_samples *samples)
{
    const int is_first = self.imu == 0;
    if (samples->imu.tick == self.imu) return;
    self.imu = samples->imu.tick;
    self.sensors.gyro = to_axis3f(samples->imu.gyro, DEGREES_PER_RADIAN);
    self.sensors.acc = to_axis3f(samples->imu.accel, 1.0 / STANDARD_GRAVITY);
    for (int i = 0; i < 3; ++i) {
        if (is_first) { // on the drone the filters run long before the loop does
            lpf2pReset(&self.gyro_filter[i], self.sensors.gyro.axis[i]);
            lpf2pReset(&self.acc_filter[i], self.sensors.acc.axis[i]);
        }
        self.sensors.gyro.axis[i] = lpf2pApply(&self.gyro_filter[i], self.sensors.gyro.axis[i]);
        self.sensors.acc.axis[i] = lpf2pApply(&self.acc_filter[i], self.sensors.acc.axis[i]);
    }
    measurement_t measurement = {.type = MeasurementTypeGyroscope, .data.gyroscope.gyro = self.sensors.gyro};
    estimatorEnqueue(&measurement);
    measurement =
        (measurement_t){.type = MeasurementTypeAcceleration, .data.acceleration.acc = self.sensors.acc};
    estimatorEnqueue(&measurement);
}

static void measure_pose(const vy_samples *samples)
{
    if (samples->mocap.tick == self.mocap) return;
    self.mocap = samples->mocap.tick;
    const vy_vec3 position = samples->mocap.position;
    const vy_quat attitude = samples->mocap.attitude;
    const measurement_t measurement = {
        .type = MeasurementTypePose,
        .data.pose = {.pos = {(float)position.x, (float)position.y, (float)position.z},
                      .quat = {.x = (float)attitude.x,
                               .y = (float)attitude.y,
                               .z = (float)attitude.z,
                               .w = (float)attitude.w},
                      .stdDevPos = (float)self.mocap_position,
                      .stdDevQuat = (float)self.mocap_attitude}};
    estimatorEnqueue(&measurement);
}

// The deviation of the Z-ranger's driver, zranger2.c: 2.5 mm at 2.5 m, 20 cm at 4 m.
static float range_deviation(double distance)
{
    return 0.0025f * (1.0f + expf(logf(0.2f / 0.0025f) / 1.5f * ((float)distance - 2.5f)));
}

static void measure_height(const vy_samples *samples)
{
    if (samples->range.tick != self.range) {
        self.range = samples->range.tick;
        const measurement_t measurement = {.type = MeasurementTypeTOF,
                                           .data.tof = {.timestamp = self.now_ms,
                                                        .distance = (float)samples->range.distance,
                                                        .stdDev = range_deviation(samples->range.distance)}};
        if (samples->range.distance > 0.0) estimatorEnqueue(&measurement);
    }
    if (samples->baro.tick != self.baro) {
        self.baro = samples->baro.tick;
        self.sensors.baro = (baro_t){.pressure = (float)(0.01 * samples->baro.pressure),
                                     .temperature = (float)(samples->air_temperature - 273.15),
                                     .asl = (float)samples->baro.altitude};
        const measurement_t measurement = {.type = MeasurementTypeBarometer,
                                           .data.barometer.baro = self.sensors.baro};
        estimatorEnqueue(&measurement);
    }
}

static void measure_flow(const vy_samples *samples)
{
    if (samples->flow.tick == self.flow) return;
    self.flow_before = self.flow;
    self.flow = samples->flow.tick;
    const double dt = samples->dt * (double)(self.flow - self.flow_before);
    const double counts = -dt * FLOW_PIXELS / (FLOW_ANGLE * FLOW_SCALE); // of a rad/s
    const measurement_t measurement = {.type = MeasurementTypeFlow,
                                       .data.flow = {.timestamp = self.now_ms,
                                                     .dpixelx = (float)(counts * samples->flow.x),
                                                     .dpixely = (float)(counts * samples->flow.y),
                                                     .stdDevX = 2.0f,
                                                     .stdDevY = 2.0f,
                                                     .dt = (float)dt}};
    if (samples->flow.quality > 0.0 && self.flow_before > 0) estimatorEnqueue(&measurement);
}

// --- the state

static void convert_estimate(const vy_samples *samples, state_t *state)
{
    const vy_estimate *volery_estimate = &samples->estimate;
    const vy_quat q = volery_estimate->attitude;
    const double pitch_sine = 2.0 * (q.x * q.z - q.w * q.y);
    const double bounded_sine = pitch_sine < -1.0 ? -1.0 : pitch_sine > 1.0 ? 1.0 : pitch_sine;
    state->position = (point_t){.x = (float)volery_estimate->position.x,
                                .y = (float)volery_estimate->position.y,
                                .z = (float)volery_estimate->position.z};
    state->velocity = (velocity_t){.x = (float)volery_estimate->velocity.x,
                                   .y = (float)volery_estimate->velocity.y,
                                   .z = (float)volery_estimate->velocity.z};
    state->attitudeQuaternion =
        (quaternion_t){.x = (float)q.x, .y = (float)q.y, .z = (float)q.z, .w = (float)q.w};
    state->attitude.roll = (float)(DEGREES_PER_RADIAN *
                                   atan2(2.0 * (q.w * q.x + q.y * q.z), 1.0 - 2.0 * (q.x * q.x + q.y * q.y)));
    state->attitude.pitch = (float)(DEGREES_PER_RADIAN * asin(bounded_sine));
    state->attitude.yaw = (float)(DEGREES_PER_RADIAN *
                                  atan2(2.0 * (q.w * q.z + q.x * q.y), 1.0 - 2.0 * (q.y * q.y + q.z * q.z)));
    // Specific force in world axes, without gravity.
    const Axis3f specific_force = self.sensors.acc;
    const float w = (float)q.w, x = (float)q.x, y = (float)q.y, z = (float)q.z;
    state->acc.x = (1 - 2 * y * y - 2 * z * z) * specific_force.x +
                   (2 * x * y - 2 * w * z) * specific_force.y + (2 * x * z + 2 * w * y) * specific_force.z;
    state->acc.y = (2 * x * y + 2 * w * z) * specific_force.x +
                   (1 - 2 * x * x - 2 * z * z) * specific_force.y +
                   (2 * y * z - 2 * w * x) * specific_force.z;
    state->acc.z = (2 * x * z - 2 * w * y) * specific_force.x + (2 * y * z + 2 * w * x) * specific_force.y +
                   (1 - 2 * x * x - 2 * y * y) * specific_force.z - 1;
}

static void estimate(const vy_samples *samples)
{
    if (self.source == KALMAN) estimatorKalman(&self.state, self.step);
    if (self.source == COMPLEMENTARY) estimatorComplementary(&self.state, self.step);
    if (self.source == VOLERY) {
        measurement_t discarded;
        while (estimatorDequeue(&discarded)) continue;
        convert_estimate(samples, &self.state);
    }
}

// --- what to do

// As the firmware's high-level commander has it. Without motion capture its zero is the start, on the ground.
static setpoint_t make_setpoint(const vy_reference *reference)
{
    const int is_relative = self.source != VOLERY && !self.has_mocap;
    const double x = reference->position.x - (is_relative ? self.start.x : 0.0);
    const double y = reference->position.y - (is_relative ? self.start.y : 0.0);
    setpoint_t setpoint = {
        .position = {.x = (float)x, .y = (float)y, .z = (float)reference->position.z},
        .velocity = {.x = (float)reference->velocity.x,
                     .y = (float)reference->velocity.y,
                     .z = (float)reference->velocity.z},
        .acceleration = {.x = (float)reference->acceleration.x,
                         .y = (float)reference->acceleration.y,
                         .z = (float)reference->acceleration.z},
        .attitude = {.yaw = (float)(DEGREES_PER_RADIAN * reference->yaw)},
        .attitudeRate = {.yaw = (float)(DEGREES_PER_RADIAN * reference->yaw_rate)},
        .mode = {.x = modeAbs, .y = modeAbs, .z = modeAbs, .yaw = modeAbs},
    };
    if (self.source == COMPLEMENTARY) { // it knows no place: level, at that height
        setpoint.mode.x = setpoint.mode.y = modeDisable;
        setpoint.mode.roll = setpoint.mode.pitch = modeAbs;
    }
    return setpoint;
}

// --- out: thrusts, by which the firmware's battery compensation means newtons

static void write_motor_commands(vy_intent *intent)
{
    motors_thrust_uncapped_t uncapped = {0};
    motors_thrust_pwm_t pwm = {0};
    powerDistribution(&self.control, &uncapped);
    powerDistributionCap(&uncapped, &pwm);
    intent->rung = VY_RUNG_MOTORS;
    for (int i = 0; i < MOTORS; ++i) {
        const double thrust = (double)pwm.list[i] / 65535.0 * (double)THRUST_MAX;
        const double quadratic = self.thrust_coef, linear = self.thrust_linear;
        // Speed of that thrust, quadratic w^2 + linear w.
        const double speed =
            thrust > 0.0 ? (sqrt(linear * linear + 4.0 * quadratic * thrust) - linear) / (2.0 * quadratic)
                         : 0.0;
        const double command = speed / self.speed_max;
        intent->motors[self.rotor[i]] = command > 1.0 ? 1.0 : command;
        if (pwm.list[i] > 0) self.thrust_ms = self.now_ms;
    }
}

static void step(void *unused, const vy_samples *samples, vy_intent *intent)
{
    (void)unused;
    if (samples->imu.tick == 0) { // the loop begins with the first sample
        intent->rung = VY_RUNG_MOTORS;
        intent->status = VY_REPLY_STATUS_STALE;
        return;
    }
    rtos_tick();
    ++self.now_ms;
    measure_imu(samples);
    if (self.source != VOLERY) {
        measure_pose(samples);
        measure_height(samples);
        measure_flow(samples);
    }
    estimate(samples);
    const setpoint_t setpoint = make_setpoint(&samples->reference);
    controller(&self.control, &setpoint, &self.sensors, &self.state, self.step);
    write_motor_commands(intent);
    if (self.source == KALMAN) rtos_run();
    ++self.step;
    const state_t *estimated = &self.state; // what the firmware believes
    const double debug_values[] = {estimated->position.x,     estimated->position.y,
                                   estimated->position.z,     estimated->attitude.roll,
                                   estimated->attitude.pitch, estimated->attitude.yaw};
    memcpy(intent->debug, debug_values, sizeof debug_values);
}

VY_PLUGIN(init, step, NULL)
