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
        const vy_rotor_def *r = &vehicle->rotors[i];
        if (r->position.x * x > 0.0 && r->position.y * y > 0.0 && r->spin == spin) return i;
    }
    return -1;
}

static const char *take_vehicle(const vy_vehicle_def *v)
{
    if (v->rotor_count != MOTORS) return "a Crazyflie has four rotors";
    if (v->allocation != VY_ALLOCATION_PHYSICAL)
        return "the firmware needs the torques of real rotors: crazyflie2x-physical, not crazyflie2x";
    self.rotor[0] = find_rotor(v, 1.0, -1.0, 1);
    self.rotor[1] = find_rotor(v, -1.0, -1.0, -1);
    self.rotor[2] = find_rotor(v, -1.0, 1.0, 1);
    self.rotor[3] = find_rotor(v, 1.0, 1.0, -1);
    for (int i = 0; i < MOTORS; ++i)
        if (self.rotor[i] < 0) return "the rotors are not where a Crazyflie has them, or turn the other way";
    if (v->command_curve != 1.0 || v->command_dead != 0.0 || v->speed_idle != 0.0 || v->thrust_cubic != 0.0)
        return "command_curve: 1 without dead zone, idle speed or thrust_cubic is needed";
    self.thrust_coef = v->thrust_coef;
    self.thrust_linear = v->thrust_linear;
    self.speed_max = v->speed_max;
    return NULL;
}

static int choose(const char *name, const char *const *names)
{
    for (int i = 0; names[i] != NULL; ++i)
        if (strcmp(names[i], name) == 0) return i;
    return -1;
}

static const char *take_start(const vy_plugin_start *start)
{
    static const char *const controllers[] = {"", "pid", "mellinger", "indi", "brescianini", "lee", NULL};
    static const char *const sources[] = {"kalman", "complementary", "volery", NULL};
    const int law = choose(vy_plugin_text(start, "controller", "pid"), controllers);
    const int from = choose(vy_plugin_text(start, "estimator", "kalman"), sources);
    if (fabs(start->period - 1e-3) > 1e-9) return "the stabilizer loop runs at 1 kHz: period: 1 ms";
    if (law <= 0) return "controller is pid, mellinger, indi, brescianini or lee";
    if (from < 0) return "estimator is kalman, complementary or volery";
    self.source = (source)from;
    self.has_mocap = start->mocap->period > 0.0;
    self.start = start->position;
    const int has_flow = start->sensors->flow.period > 0.0 && start->sensors->range.period > 0.0;
    if (from == KALMAN && !self.has_mocap && !has_flow) return "kalman needs mocap, or flow and range";
    if (from == COMPLEMENTARY && !(start->sensors->range.period > 0.0) &&
        !(start->sensors->baro.period > 0.0))
        return "complementary needs range or baro for its height";
    if (from == COMPLEMENTARY && law != ControllerTypePID)
        return "complementary has no position, which only the pid can do without";
    if (from != VOLERY && !self.has_mocap && fabs(start->attitude.z) > 1e-6)
        return "without mocap the firmware begins at yaw 0";
    self.mocap_position = vy_plugin_parameter(start, "mocap_position", 0.01);
    self.mocap_attitude = vy_plugin_parameter(start, "mocap_attitude", 4.5e-3);
    for (int i = 0; i < 3; ++i) {
        lpf2pInit(&self.acc_filter[i], RATE_MAIN_LOOP, ACC_CUTOFF);
        lpf2pInit(&self.gyro_filter[i], RATE_MAIN_LOOP, GYRO_CUTOFF);
    }
    estimatorKalmanTaskInit();
    if (from == KALMAN) estimatorKalmanInit();
    if (from == COMPLEMENTARY) estimatorComplementaryInit();
    controllerInit((ControllerType)law);
    powerDistributionInit();
    self.step = 1;
    return take_vehicle(start->vehicle);
}

static void *init(const vy_plugin_start *start, char *why, size_t room)
{
    const char *refusal = take_start(start);
    if (refusal == NULL) return &self;
    snprintf(why, room, "%s", refusal);
    return NULL;
}

// --- in: what the drone measures

static Axis3f axis(vy_vec3 v, double scale)
{
    return (Axis3f){.x = (float)(v.x * scale), .y = (float)(v.y * scale), .z = (float)(v.z * scale)};
}

static void measure_imu(const vy_samples *s)
{
    const int is_first = self.imu == 0;
    if (s->imu.tick == self.imu) return;
    self.imu = s->imu.tick;
    self.sensors.gyro = axis(s->imu.gyro, DEGREES_PER_RADIAN);
    self.sensors.acc = axis(s->imu.accel, 1.0 / STANDARD_GRAVITY);
    for (int i = 0; i < 3; ++i) {
        if (is_first) { // on the drone the filters run long before the loop does
            lpf2pReset(&self.gyro_filter[i], self.sensors.gyro.axis[i]);
            lpf2pReset(&self.acc_filter[i], self.sensors.acc.axis[i]);
        }
        self.sensors.gyro.axis[i] = lpf2pApply(&self.gyro_filter[i], self.sensors.gyro.axis[i]);
        self.sensors.acc.axis[i] = lpf2pApply(&self.acc_filter[i], self.sensors.acc.axis[i]);
    }
    measurement_t m = {.type = MeasurementTypeGyroscope, .data.gyroscope.gyro = self.sensors.gyro};
    estimatorEnqueue(&m);
    m = (measurement_t){.type = MeasurementTypeAcceleration, .data.acceleration.acc = self.sensors.acc};
    estimatorEnqueue(&m);
}

static void measure_pose(const vy_samples *s)
{
    if (s->mocap.tick == self.mocap) return;
    self.mocap = s->mocap.tick;
    const vy_vec3 p = s->mocap.position;
    const vy_quat q = s->mocap.attitude;
    const measurement_t m = {
        .type = MeasurementTypePose,
        .data.pose = {.pos = {(float)p.x, (float)p.y, (float)p.z},
                      .quat = {.x = (float)q.x, .y = (float)q.y, .z = (float)q.z, .w = (float)q.w},
                      .stdDevPos = (float)self.mocap_position,
                      .stdDevQuat = (float)self.mocap_attitude}};
    estimatorEnqueue(&m);
}

// The deviation of the Z-ranger's driver, zranger2.c: 2.5 mm at 2.5 m, 20 cm at 4 m.
static float range_deviation(double distance)
{
    return 0.0025f * (1.0f + expf(logf(0.2f / 0.0025f) / 1.5f * ((float)distance - 2.5f)));
}

static void measure_height(const vy_samples *s)
{
    if (s->range.tick != self.range) {
        self.range = s->range.tick;
        const measurement_t m = {.type = MeasurementTypeTOF,
                                 .data.tof = {.timestamp = self.now_ms,
                                              .distance = (float)s->range.distance,
                                              .stdDev = range_deviation(s->range.distance)}};
        if (s->range.distance > 0.0) estimatorEnqueue(&m);
    }
    if (s->baro.tick != self.baro) {
        self.baro = s->baro.tick;
        self.sensors.baro = (baro_t){.pressure = (float)(0.01 * s->baro.pressure),
                                     .temperature = (float)(s->air_temperature - 273.15),
                                     .asl = (float)s->baro.altitude};
        const measurement_t m = {.type = MeasurementTypeBarometer, .data.barometer.baro = self.sensors.baro};
        estimatorEnqueue(&m);
    }
}

static void measure_flow(const vy_samples *s)
{
    if (s->flow.tick == self.flow) return;
    self.flow_before = self.flow;
    self.flow = s->flow.tick;
    const double dt = s->dt * (double)(self.flow - self.flow_before);
    const double counts = -dt * FLOW_PIXELS / (FLOW_ANGLE * FLOW_SCALE); // of a rad/s
    const measurement_t m = {.type = MeasurementTypeFlow,
                             .data.flow = {.timestamp = self.now_ms,
                                           .dpixelx = (float)(counts * s->flow.x),
                                           .dpixely = (float)(counts * s->flow.y),
                                           .stdDevX = 2.0f,
                                           .stdDevY = 2.0f,
                                           .dt = (float)dt}};
    if (s->flow.quality > 0.0 && self.flow_before > 0) estimatorEnqueue(&m);
}

// --- the state

static void take_estimate(const vy_samples *s, state_t *state)
{
    const vy_estimate *e = &s->estimate;
    const vy_quat q = e->attitude;
    const double up = 2.0 * (q.x * q.z - q.w * q.y);
    const double sine = up < -1.0 ? -1.0 : up > 1.0 ? 1.0 : up;
    state->position =
        (point_t){.x = (float)e->position.x, .y = (float)e->position.y, .z = (float)e->position.z};
    state->velocity =
        (velocity_t){.x = (float)e->velocity.x, .y = (float)e->velocity.y, .z = (float)e->velocity.z};
    state->attitudeQuaternion =
        (quaternion_t){.x = (float)q.x, .y = (float)q.y, .z = (float)q.z, .w = (float)q.w};
    state->attitude.roll = (float)(DEGREES_PER_RADIAN *
                                   atan2(2.0 * (q.w * q.x + q.y * q.z), 1.0 - 2.0 * (q.x * q.x + q.y * q.y)));
    state->attitude.pitch = (float)(DEGREES_PER_RADIAN * asin(sine));
    state->attitude.yaw = (float)(DEGREES_PER_RADIAN *
                                  atan2(2.0 * (q.w * q.z + q.x * q.y), 1.0 - 2.0 * (q.y * q.y + q.z * q.z)));
    // Specific force in world axes, without gravity.
    const Axis3f a = self.sensors.acc;
    const float w = (float)q.w, x = (float)q.x, y = (float)q.y, z = (float)q.z;
    state->acc.x =
        (1 - 2 * y * y - 2 * z * z) * a.x + (2 * x * y - 2 * w * z) * a.y + (2 * x * z + 2 * w * y) * a.z;
    state->acc.y =
        (2 * x * y + 2 * w * z) * a.x + (1 - 2 * x * x - 2 * z * z) * a.y + (2 * y * z - 2 * w * x) * a.z;
    state->acc.z =
        (2 * x * z - 2 * w * y) * a.x + (2 * y * z + 2 * w * x) * a.y + (1 - 2 * x * x - 2 * y * y) * a.z - 1;
}

static void estimate(const vy_samples *s)
{
    if (self.source == KALMAN) estimatorKalman(&self.state, self.step);
    if (self.source == COMPLEMENTARY) estimatorComplementary(&self.state, self.step);
    if (self.source == VOLERY) {
        measurement_t unused;
        while (estimatorDequeue(&unused)) continue;
        take_estimate(s, &self.state);
    }
}

// --- what to do

// As the firmware's high-level commander has it. Without motion capture its zero is the start, on the ground.
static setpoint_t aim(const vy_reference *r)
{
    const int relative = self.source != VOLERY && !self.has_mocap;
    const double x = r->position.x - (relative ? self.start.x : 0.0);
    const double y = r->position.y - (relative ? self.start.y : 0.0);
    setpoint_t to = {
        .position = {.x = (float)x, .y = (float)y, .z = (float)r->position.z},
        .velocity = {.x = (float)r->velocity.x, .y = (float)r->velocity.y, .z = (float)r->velocity.z},
        .acceleration = {.x = (float)r->acceleration.x,
                         .y = (float)r->acceleration.y,
                         .z = (float)r->acceleration.z},
        .attitude = {.yaw = (float)(DEGREES_PER_RADIAN * r->yaw)},
        .attitudeRate = {.yaw = (float)(DEGREES_PER_RADIAN * r->yaw_rate)},
        .mode = {.x = modeAbs, .y = modeAbs, .z = modeAbs, .yaw = modeAbs},
    };
    if (self.source == COMPLEMENTARY) { // it knows no place: level, at that height
        to.mode.x = to.mode.y = modeDisable;
        to.mode.roll = to.mode.pitch = modeAbs;
    }
    return to;
}

// --- out: thrusts, by which the firmware's battery compensation means newtons

static void command(vy_intent *intent)
{
    motors_thrust_uncapped_t wanted = {0};
    motors_thrust_pwm_t pwm = {0};
    powerDistribution(&self.control, &wanted);
    powerDistributionCap(&wanted, &pwm);
    intent->rung = VY_RUNG_MOTORS;
    for (int i = 0; i < MOTORS; ++i) {
        const double thrust = (double)pwm.list[i] / 65535.0 * (double)THRUST_MAX;
        const double a = self.thrust_coef, b = self.thrust_linear;
        // Speed of that thrust, a w^2 + b w.
        const double speed = thrust > 0.0 ? (sqrt(b * b + 4.0 * a * thrust) - b) / (2.0 * a) : 0.0;
        const double u = speed / self.speed_max;
        intent->motors[self.rotor[i]] = u > 1.0 ? 1.0 : u;
        if (pwm.list[i] > 0) self.thrust_ms = self.now_ms;
    }
}

static void step(void *unused, const vy_samples *s, vy_intent *intent)
{
    (void)unused;
    if (s->imu.tick == 0) { // the loop begins with the first sample
        intent->rung = VY_RUNG_MOTORS;
        intent->status = VY_REPLY_STATUS_STALE;
        return;
    }
    rtos_tick();
    ++self.now_ms;
    measure_imu(s);
    if (self.source != VOLERY) {
        measure_pose(s);
        measure_height(s);
        measure_flow(s);
    }
    estimate(s);
    const setpoint_t to = aim(&s->reference);
    controller(&self.control, &to, &self.sensors, &self.state, self.step);
    command(intent);
    if (self.source == KALMAN) rtos_run();
    ++self.step;
    const state_t *e = &self.state; // what the firmware believes
    const double told[] = {e->position.x,    e->position.y,     e->position.z,
                           e->attitude.roll, e->attitude.pitch, e->attitude.yaw};
    memcpy(intent->debug, told, sizeof told);
}

VY_PLUGIN(init, step, NULL)
