// crazyflie.c - a drone that clients fly as a Crazyflie: CRTP over UDP, as cflib's udp:// has it.
//
// The client has a clock of its own, so a world goes with the wall clock, or waits: with lock_step each
// packet of logged values is answered by a null packet before the next step. What it wants flown becomes a
// velocity and a yaw rate, which the loops below lower.
#define _GNU_SOURCE
#include "bridge/bridge.h"
#include "base/assert.h"
#include "base/fail.h"
#include "base/math.h"
#include "bridge/crtp.h"
#include "bridge/sockets.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define DEGREES_PER_RADIAN 57.295779513082323
#define STANDARD_GRAVITY   9.81 // [m/s^2] of the firmware's g

enum {
    STEP_PACKET_CAP = 256, // of a client, taken in one step; the rest waits
};

typedef struct crazyflie {
    int socket;
    struct sockaddr_in client;
    int is_connected;
    int lock_step;
    double deadline; // [s] of wall clock for all acknowledgements of a step
    vy_gains gains;
    double mass;      // [kg]
    double period;    // [s]
    vy_vec3 integral; // [m/s^2] of the position error
    int ack_count;    // null packets of the client since the last step
    crtp_device device;
} crazyflie;

static vy_status crazyflie_open(const bridge_request *request, vy_bridge **out, vy_error *err)
{
    const vy_controller_def *def = request->def;
    const vy_sensor_suite_def *suite = request->start->sensors;
    *out = NULL;
    crazyflie *c = calloc(1, sizeof *c);
    if (c == NULL) return vy_fail(err, VY_NO_MEMORY, "controller: out of memory");
    vy_crtp_begin(&c->device);
    c->lock_step = def->firmware.lock_step;
    c->deadline = def->deadline;
    c->gains = def->gains;
    c->mass = request->start->mass;
    c->period = def->period;
    c->device.parameters[CRTP_PARAM_deck_bcZRanger2] = suite->range.period > 0.0;
    c->device.parameters[CRTP_PARAM_deck_bcFlow2] = suite->range.period > 0.0 && suite->flow.period > 0.0;
    const vy_status status =
        vy_bind_udp(def->firmware.address, vy_bridge_port(def), BRIDGE_PORT_REMEDY, &c->socket, err);
    if (status != VY_OK) {
        free(c);
        return status;
    }
    *out = (vy_bridge *)c;
    return VY_OK;
}

static void crazyflie_close(vy_bridge *bridge)
{
    crazyflie *c = (crazyflie *)bridge;
    if (c == NULL) return;
    vy_socket_close(&c->socket);
    free(c);
}

static void set_log_values(const vy_samples *s, crtp_device *d)
{
    const vy_estimate *e = &s->estimate;
    const vy_quat q = e->attitude;
    const double sin_pitch = 2.0 * (q.x * q.z - q.w * q.y); // the Crazyflie's pitch is positive nose up
    const double roll = math_atan2(2.0 * (q.w * q.x + q.y * q.z), 1.0 - 2.0 * (q.x * q.x + q.y * q.y));
    const double pitch = math_asin(sin_pitch < -1.0 ? -1.0 : sin_pitch > 1.0 ? 1.0 : sin_pitch);
    const double yaw = math_atan2(2.0 * (q.w * q.z + q.x * q.y), 1.0 - 2.0 * (q.y * q.y + q.z * q.z));
    const struct {
        int id;
        double value;
    } log_values[] = {
        {CRTP_LOG_stateEstimate_x, e->position.x},
        {CRTP_LOG_stateEstimate_y, e->position.y},
        {CRTP_LOG_stateEstimate_z, e->position.z},
        {CRTP_LOG_stateEstimate_vx, e->velocity.x},
        {CRTP_LOG_stateEstimate_vy, e->velocity.y},
        {CRTP_LOG_stateEstimate_vz, e->velocity.z},
        {CRTP_LOG_stateEstimate_roll, DEGREES_PER_RADIAN * roll},
        {CRTP_LOG_stateEstimate_pitch, DEGREES_PER_RADIAN * pitch},
        {CRTP_LOG_stateEstimate_yaw, DEGREES_PER_RADIAN * yaw},
        {CRTP_LOG_stateEstimate_qx, q.x},
        {CRTP_LOG_stateEstimate_qy, q.y},
        {CRTP_LOG_stateEstimate_qz, q.z},
        {CRTP_LOG_stateEstimate_qw, q.w},
        {CRTP_LOG_stabilizer_roll, DEGREES_PER_RADIAN * roll},
        {CRTP_LOG_stabilizer_pitch, DEGREES_PER_RADIAN * pitch},
        {CRTP_LOG_stabilizer_yaw, DEGREES_PER_RADIAN * yaw},
        {CRTP_LOG_gyro_x, DEGREES_PER_RADIAN * s->imu.gyro.x},
        {CRTP_LOG_gyro_y, DEGREES_PER_RADIAN * s->imu.gyro.y},
        {CRTP_LOG_gyro_z, DEGREES_PER_RADIAN * s->imu.gyro.z},
        {CRTP_LOG_acc_x, s->imu.accel.x / STANDARD_GRAVITY},
        {CRTP_LOG_acc_y, s->imu.accel.y / STANDARD_GRAVITY},
        {CRTP_LOG_acc_z, s->imu.accel.z / STANDARD_GRAVITY},
        {CRTP_LOG_baro_asl, s->baro.altitude},
        {CRTP_LOG_baro_pressure, 0.01 * s->baro.pressure}, // [hPa]
        {CRTP_LOG_range_zrange, 1e3 * s->range.distance},  // [mm]
        {CRTP_LOG_pm_vbat, s->power.voltage},
    };
    for (size_t i = 0; i < sizeof log_values / sizeof log_values[0]; ++i)
        d->values[log_values[i].id] = log_values[i].value;
    d->time = s->time;
    d->values[CRTP_LOG_supervisor_info] = vy_crtp_supervisor(d);
    d->values[CRTP_LOG_sys_isFlying] = d->control_mode != CRTP_OFF;
}

static void send_packet(const crazyflie *c, const struct sockaddr_in *to, const crtp_packet *p)
{
    uint8_t bytes[1 + CRTP_DATA_CAP];
    bytes[0] = p->header;
    memcpy(bytes + 1, p->data, p->size);
    // A radio may lose a packet, and its client sends its question again.
    (void)sendto(c->socket, bytes, 1u + p->size, MSG_NOSIGNAL, (const struct sockaddr *)to, sizeof *to);
}

// Opening a link begins with this question; whoever asks it is the client from then on.
static int opens_link(const uint8_t *bytes, size_t size)
{
    return size >= 1 && bytes[0] >> 4 == CRTP_LINK && (bytes[0] & 3) == 1;
}

// One packet, if there is one.
static int handle_packet(crazyflie *c)
{
    uint8_t bytes[64];
    struct sockaddr_in sender;
    socklen_t length = sizeof sender;
    const ssize_t size =
        recvfrom(c->socket, bytes, sizeof bytes, MSG_DONTWAIT, (struct sockaddr *)&sender, &length);
    crtp_packet answer;
    if (size < 0) return 0;
    const int is_null = size == 1 && bytes[0] == CRTP_NULL;
    const int is_client = c->is_connected && sender.sin_port == c->client.sin_port &&
                          sender.sin_addr.s_addr == c->client.sin_addr.s_addr;
    if (is_client && is_null) ++c->ack_count;
    if (!is_client && is_null)
        send_packet(c, &sender, &(crtp_packet){.header = CRTP_NULL}); // it looks who is here
    if (!is_client && opens_link(bytes, (size_t)size)) {
        c->client = sender;
        c->is_connected = 1;
    } else if (!is_client || is_null) {
        return 1;
    }
    if (vy_crtp_handle(&c->device, bytes, (size_t)size, &answer)) send_packet(c, &c->client, &answer);
    return 1;
}

// Send what is due. In lock-step, wait until all of it has been acknowledged. 0: it was not in time.
static int send_log(crazyflie *c)
{
    const double start = vy_bridge_now();
    crtp_packet p;
    int sent_count = 0;
    c->ack_count = 0;
    for (; sent_count < CRTP_BLOCK_CAP && vy_crtp_log_next(&c->device, &p); ++sent_count)
        send_packet(c, &c->client, &p);
    while (c->lock_step && c->ack_count < sent_count) {
        const double seconds_left = c->deadline - (vy_bridge_now() - start);
        if (seconds_left <= 0.0) return 0;
        if (!handle_packet(c)) (void)vy_wait_readable(c->socket, seconds_left);
    }
    return 1;
}

// --- from the goal to attitude and thrust

static vy_vec3 add_scaled(vy_vec3 a, double k, vy_vec3 b)
{
    return (vy_vec3){a.x + k * b.x, a.y + k * b.y, a.z + k * b.z};
}

// Integrate only within a quarter of g: wind and a wrong mass need no more.
static double integrate_clamped(double integral, double increment)
{
    const double max = 0.25 * STANDARD_GRAVITY, sum = integral + increment;
    return sum < -max ? -max : sum > max ? max : sum;
}

// What the rotors must give for each kilogram [m/s^2]: feedback of position and velocity, as `hold` has it.
static vy_vec3 desired_force(crazyflie *c, const plan_point *goal, const vy_estimate *e)
{
    const vy_gains *g = &c->gains;
    const vy_vec3 position_error = add_scaled(goal->position, -1.0, e->position);
    const vy_vec3 velocity_error = add_scaled(goal->velocity, -1.0, e->velocity);
    const double k = g->integral * c->period;
    c->integral = (vy_vec3){integrate_clamped(c->integral.x, k * position_error.x),
                            integrate_clamped(c->integral.y, k * position_error.y),
                            integrate_clamped(c->integral.z, k * position_error.z)};
    vy_vec3 force = add_scaled(goal->acceleration, g->position, position_error);
    force = add_scaled(add_scaled(force, g->velocity, velocity_error), 1.0, c->integral);
    force.z += STANDARD_GRAVITY;
    if (force.z < 0.3 * STANDARD_GRAVITY) force.z = 0.3 * STANDARD_GRAVITY;
    if (force.z > 2.0 * STANDARD_GRAVITY) force.z = 2.0 * STANDARD_GRAVITY;
    const double horizontal = sqrt(force.x * force.x + force.y * force.y),
                 horizontal_max = force.z * math_tan(g->tilt_max);
    if (horizontal > horizontal_max) {
        force.x *= horizontal_max / horizontal;
        force.y *= horizontal_max / horizontal;
    }
    return force;
}

// The least turn of body z onto the force, after that of the nose.
static vy_quat attitude_from_force(vy_vec3 force, double yaw)
{
    const double norm = sqrt(force.x * force.x + force.y * force.y + force.z * force.z);
    const vy_quat tilt = {norm + force.z, -force.y, force.x, 0.0};
    double sine, cosine;
    math_sincos(0.5 * yaw, &sine, &cosine);
    return (vy_quat){tilt.w * cosine, tilt.x * cosine + tilt.y * sine, tilt.y * cosine - tilt.x * sine,
                     tilt.w * sine};
}

static void set_reply(crazyflie *c, const vy_estimate *e, vy_intent *intent)
{
    int are_motors_on;
    const plan_point goal = vy_crtp_goal(&c->device, &are_motors_on);
    if (!are_motors_on) c->integral = (vy_vec3){0.0, 0.0, 0.0};
    const vy_vec3 force = desired_force(c, &goal, e);
    const vy_quat q = e->attitude; // only what is along body z acts
    const double along_body_z = 2.0 * (q.x * q.z + q.w * q.y) * force.x +
                                2.0 * (q.y * q.z - q.w * q.x) * force.y +
                                (1.0 - 2.0 * (q.x * q.x + q.y * q.y)) * force.z;
    // An error of the yaw's rate over its gain is that rate.
    const double yaw_lead = c->gains.yaw > 0.0 ? goal.yaw_rate / c->gains.yaw : 0.0;
    intent->rung = VY_RUNG_ATTITUDE;
    intent->status = are_motors_on ? VY_REPLY_STATUS_ARMED : VY_REPLY_STATUS_DISARMED;
    intent->attitude = attitude_from_force(force, goal.yaw + yaw_lead);
    intent->thrust = along_body_z > 0.0 ? c->mass * along_body_z : 0.0;
}

static vy_verdict crazyflie_step(vy_bridge *bridge, const vy_samples *samples, vy_intent *intent,
                                 int32_t *detail)
{
    crazyflie *c = (crazyflie *)bridge;
    *detail = 0;
    set_log_values(samples, &c->device);
    for (int i = 0; i < STEP_PACKET_CAP && handle_packet(c); ++i) continue;
    intent->rung = VY_RUNG_NONE;
    intent->status = VY_REPLY_STATUS_NOT_READY;
    if (!c->device.has_started) return VY_VERDICT_REPLIED;
    if (!send_log(c)) return VY_VERDICT_LATE;
    set_reply(c, &samples->estimate, intent);
    return VY_VERDICT_REPLIED;
}

const bridge_kind vy_crazyflie_bridge = {
    .open = crazyflie_open, .step = crazyflie_step, .close = crazyflie_close};
