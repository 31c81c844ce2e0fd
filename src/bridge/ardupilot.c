// ardupilot.c - ArduPilot in the loop: its JSON interface over UDP, in lock-step.
//
// The firmware asks with its servo outputs and waits for the state that follows; the numbers of its packets
// go up by one. The same number again is the same question, whose answer was lost; a smaller one is a
// firmware that has restarted, and so is one from another port while the firmware is silent: a program that
// reboots takes a new port. Until it has taken its parameters it boots: it gets the same samples again
// with a clock that continues, while the world stands still.
#define _GNU_SOURCE
#include "bridge/bridge.h"
#include "base/assert.h"
#include "base/fail.h"
#include "bridge/script.h"
#include "bridge/servo_packet.h"
#include "bridge/sockets.h"
#include "scenario/number.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#define RANGE_TIMEOUT 0.2 // [s] without a sample after which ArduPilot's own drivers have no range finder

enum {
    BAD_PACKET_CAP = 100, // packets that are none of a firmware's, in a row
    ANSWER_CAP = 2048,    // [bytes]
    GARBAGE_DETAIL = -1,
};

typedef struct ardupilot {
    int socket;
    struct sockaddr_in firmware;
    int is_connected;
    uint32_t answered_frame; // number of the last packet that was answered
    int bad_packets;
    int has_successor; // another has begun at its first frames, since the firmware was last asked
    vy_script *script;
    double deadline;     // [s] of wall clock for a packet to come
    double period;       // [s] of a call
    double clock_offset; // [s] by which its clock is ahead of the world's
    int is_ready;        // it has booted
    uint64_t tick;       // of the last samples that were sent, one added; 0: none
    vy_vec3 home;        // [m] the start, world axes
    bridge_motors motors;
    int has_range, has_airspeed, has_power;
    double range_max;     // [m]
    double range_timeout; // [s] without a sample: it is silent
    char answer[ANSWER_CAP];
} ardupilot;

static void ardupilot_close(vy_bridge *bridge)
{
    ardupilot *a = (ardupilot *)bridge;
    if (a == NULL) return;
    vy_socket_close(&a->socket);
    vy_script_close(a->script);
    free(a);
}

static vy_status ardupilot_open(const bridge_request *request, vy_bridge **out, vy_error *err)
{
    const vy_controller_def *def = request->def;
    const vy_sensor_suite_def *suite = request->start->sensors;
    bridge_motors motors;
    *out = NULL;
    vy_status status = vy_bridge_motors(request, &motors, err);
    if (status != VY_OK) return status;
    ardupilot *a = calloc(1, sizeof *a);
    if (a == NULL) return vy_fail(err, VY_NO_MEMORY, "controller: out of memory");
    a->socket = -1;
    a->deadline = def->deadline;
    a->period = def->period;
    a->home = request->start->position;
    a->motors = motors;
    a->has_range = suite->range.period > 0.0;
    a->range_max = suite->range.max;
    a->range_timeout = 3.0 * suite->range.period;
    if (a->range_timeout < RANGE_TIMEOUT) a->range_timeout = RANGE_TIMEOUT;
    a->has_airspeed = suite->airspeed.period > 0.0;
    a->has_power = suite->power.period > 0.0;
    status = vy_bind_udp(def->firmware.address, vy_bridge_port(def), BRIDGE_PORT_REMEDY, &a->socket, err);
    if (status == VY_OK) status = vy_script_open(request, &a->script, err);
    if (status != VY_OK) {
        ardupilot_close((vy_bridge *)a);
        return status;
    }
    *out = (vy_bridge *)a;
    return VY_OK;
}

// The state as one line of JSON. What the firmware does not find it simulates itself. It takes the first word
// that begins with a key: `velocity` comes before `velocity_wind`.
static size_t print_answer(ardupilot *a, const vy_samples *s, double clock)
{
    const vy_truth_sample *t = &s->truth;
    const vy_quat q = vy_bridge_attitude_ned(t->attitude);
    const vy_locale locale = vy_locale_enter();
    char *text = a->answer;
    size_t capacity = sizeof a->answer, used;
    used = (size_t)snprintf(
        text, capacity,
        "\n{\"timestamp\":%.9g,\"imu\":{\"gyro\":[%.9g,%.9g,%.9g],\"accel_body\":[%.9g,%.9g,%.9g]},"
        "\"position\":[%.9g,%.9g,%.9g],\"velocity\":[%.9g,%.9g,%.9g],"
        "\"quaternion\":[%.9g,%.9g,%.9g,%.9g],\"velocity_wind\":[%.9g,%.9g,%.9g]",
        clock, s->imu.gyro.x, -s->imu.gyro.y, -s->imu.gyro.z, s->imu.accel.x, -s->imu.accel.y,
        -s->imu.accel.z, t->position.y - a->home.y, t->position.x - a->home.x, a->home.z - t->position.z,
        t->velocity.y, t->velocity.x, -t->velocity.z, q.w, q.x, q.y, q.z, t->wind.y, t->wind.x, -t->wind.z);
    const double range = s->range.distance > 0.0 ? s->range.distance : 2.0 * a->range_max; // no return: far
    const int is_range_silent = (double)(s->tick - s->range.tick) * s->dt > a->range_timeout;
    if (a->has_range && is_range_silent)
        used += (size_t)snprintf(text + used, capacity - used, ",\"rng_1\":NaN"); // to the firmware: no data
    else if (a->has_range)
        used += (size_t)snprintf(text + used, capacity - used, ",\"rng_1\":%.9g", range);
    if (a->has_airspeed)
        used += (size_t)snprintf(text + used, capacity - used, ",\"airspeed\":%.9g", s->airspeed.speed);
    if (a->has_power)
        used +=
            (size_t)snprintf(text + used, capacity - used, ",\"battery\":{\"voltage\":%.9g,\"current\":%.9g}",
                             s->power.voltage, s->power.current);
    if (s->rc.count > 0) {
        used += (size_t)snprintf(text + used, capacity - used, ",\"rc\":{");
        for (size_t i = 0; i < s->rc.count && i < 12; ++i)
            used += (size_t)snprintf(text + used, capacity - used, "%s\"rc_%zu\":%.0f", i > 0 ? "," : "",
                                     i + 1, s->rc.channels[i]);
        used += (size_t)snprintf(text + used, capacity - used, "}");
    }
    used += (size_t)snprintf(text + used, capacity - used, "}\n");
    vy_locale_leave(locale);
    VY_ASSERT(used < capacity);
    return used;
}

static void set_reply(const ardupilot *a, const servo_packet *p, vy_intent *intent)
{
    intent->rung = VY_RUNG_MOTORS;
    intent->status = VY_REPLY_STATUS_DISARMED;
    for (int k = 0; k < a->motors.count; ++k) {
        const double u = 1e-3 * ((double)p->pwm[k] - 1000.0);
        vy_bridge_set_motor(&a->motors, k, u, intent);
        if (u > 0.0) intent->status = VY_REPLY_STATUS_ARMED;
    }
}

// The next packet of the firmware, within `seconds`. 1: here it is; 0: none; -1: too many that are none.
static int next_packet(ardupilot *a, double seconds, servo_packet *out)
{
    const double start = vy_bridge_now();
    for (;;) {
        uint8_t bytes[256];
        struct sockaddr_in sender;
        socklen_t length = sizeof sender;
        const ssize_t size =
            recvfrom(a->socket, bytes, sizeof bytes, MSG_DONTWAIT, (struct sockaddr *)&sender, &length);
        const double seconds_left = seconds - (vy_bridge_now() - start);
        if (size < 0 && (seconds_left <= 0.0 || !vy_wait_readable(a->socket, seconds_left))) return 0;
        if (size < 0) continue;
        const int is_other_sender =
            a->is_connected && (sender.sin_port != a->firmware.sin_port ||
                                sender.sin_addr.s_addr != a->firmware.sin_addr.s_addr);
        const int is_packet = vy_servo_packet_read(bytes, (size_t)size, out);
        if (is_other_sender && is_packet && out->frame < a->answered_frame) a->has_successor = 1;
        if (!is_other_sender && is_packet) {
            a->firmware = sender;
            a->is_connected = 1;
            a->bad_packets = 0;
            return 1;
        }
        if (!is_other_sender && ++a->bad_packets > BAD_PACKET_CAP && a->is_connected) return -1;
        if (seconds_left <= 0.0) return 0;
    }
}

static void send_answer(ardupilot *a, size_t size)
{
    (void)sendto(a->socket, a->answer, size, MSG_NOSIGNAL, (const struct sockaddr *)&a->firmware,
                 sizeof a->firmware); // one that is lost is asked for again
}

// Answer the firmware's last question, and wait for the next.
static vy_verdict exchange(ardupilot *a, const vy_samples *samples, double clock, vy_intent *intent,
                           int32_t *detail)
{
    servo_packet p;
    const size_t size = print_answer(a, samples, clock);
    const double start = vy_bridge_now();
    a->has_successor = 0;
    send_answer(a, size);
    for (;;) {
        const double seconds_left = a->deadline - (vy_bridge_now() - start);
        const int packet_result = seconds_left > 0.0 ? next_packet(a, seconds_left, &p) : 0;
        if (packet_result < 0 ||
            (packet_result == 0 && a->bad_packets > 0)) { // it says one thing, and waits for its answer
            *detail = GARBAGE_DETAIL;
            return VY_VERDICT_GARBAGE;
        }
        if (packet_result == 0 && a->has_successor) { // it has restarted, from another port
            *detail = -1;
            return VY_VERDICT_ENDED;
        }
        if (packet_result == 0) return VY_VERDICT_LATE;
        if (p.frame > a->answered_frame) break;
        if (p.frame < a->answered_frame) { // it has restarted
            *detail = -1;
            return VY_VERDICT_ENDED;
        }
        send_answer(a, size); // it asks once more
    }
    a->answered_frame = p.frame;
    set_reply(a, &p, intent);
    return VY_VERDICT_REPLIED;
}

static vy_verdict ardupilot_step(vy_bridge *bridge, const vy_samples *samples, vy_intent *intent,
                                 int32_t *detail)
{
    ardupilot *a = (ardupilot *)bridge;
    servo_packet p;
    *detail = 0;
    intent->rung = VY_RUNG_MOTORS;
    intent->status = VY_REPLY_STATUS_DISARMED;
    if (samples->imu.tick == 0 && !a->is_ready) return VY_VERDICT_REPLIED; // nothing to boot with yet
    intent->status = VY_REPLY_STATUS_NOT_READY;
    // Questions that were repeated while the world was busy get one answer.
    for (int i = 0; i < BAD_PACKET_CAP && next_packet(a, 0.0, &p) > 0; ++i) {
        if (p.frame < a->answered_frame) {
            *detail = -1;
            return VY_VERDICT_ENDED;
        }
        a->answered_frame = p.frame;
    }
    if (!a->is_connected) return VY_VERDICT_REPLIED;
    if (a->tick == samples->tick + 1) a->clock_offset += a->period;
    a->tick = samples->tick + 1;
    const double clock = a->clock_offset + samples->time;
    vy_verdict verdict =
        vy_script_step(a->script, samples->time + 0.5 * samples->dt, clock, a->is_ready, detail);
    if (verdict == VY_VERDICT_REPLIED) verdict = exchange(a, samples, clock, intent, detail);
    if (verdict != VY_VERDICT_REPLIED || a->is_ready) return verdict;
    a->is_ready = vy_script_is_ready(a->script);
    if (!a->is_ready) intent->status = VY_REPLY_STATUS_NOT_READY;
    return VY_VERDICT_REPLIED;
}

const bridge_kind vy_ardupilot_bridge = {
    .open = ardupilot_open, .step = ardupilot_step, .close = ardupilot_close};
