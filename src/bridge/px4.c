// px4.c - PX4 in the loop: its simulator interface over TCP, in lock-step.
//
// HIL_SENSOR moves the firmware's clock, HIL_ACTUATOR_CONTROLS is its answer. Before its first answer a
// firmware boots: it gets the same samples again with a clock that continues, while the world stands still.
#define _GNU_SOURCE
#include "bridge/px4_sensors.h"
#include "bridge/script.h"
#include "bridge/sockets.h"
#include "base/assert.h"
#include "base/fail.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <sys/socket.h>

enum {
    GARBAGE_CAP = 4096,    // [bytes] that are no MAVLink before it is no firmware
    CLOCK_START = 1000000, // [us] of a firmware that has just begun
    MODE_ARMED = 128,
    GARBAGE_DETAIL = -1,
};

typedef struct connection {
    int socket;
    mavlink_reader reader;
} connection;

typedef struct px4 {
    int listener; // -1: the firmware is there
    int connection_count;
    connection
        connections[CONNECTION_CAP]; // who has connected; the first that speaks MAVLink is the firmware
    int socket;                      // -1: nobody
    mavlink_reader reader;
    px4_sensors sensors;
    vy_script *script;
    double deadline;       // [s] of wall clock for an answer
    double period;         // [s] of a call
    uint64_t clock_offset; // [us] by which its clock is ahead of the world's
    int has_answered;      // it has sent motor commands
    int is_ready;          // it has booted
    uint64_t tick;         // of the last samples that were sent, one added; 0: none
    bridge_motors motors;
    uint8_t packet[PX4_PACKET_CAP];
} px4;

static void px4_close(vy_bridge *bridge)
{
    px4 *p = (px4 *)bridge;
    if (p == NULL) return;
    for (int i = 0; i < p->connection_count; ++i) vy_socket_close(&p->connections[i].socket);
    vy_socket_close(&p->listener);
    vy_socket_close(&p->socket);
    vy_script_close(p->script);
    free(p);
}

static vy_status px4_open(const bridge_request *request, vy_bridge **out, vy_error *err)
{
    const vy_controller_def *def = request->def;
    bridge_motors motors;
    *out = NULL;
    if (request->planet == NULL || !(request->planet->origin.gm > 0.0))
        return vy_fail(err, VY_BAD_VALUE, "px4 needs a place on a planet for its GPS: planet.origin");
    vy_status status = vy_bridge_motors(request, &motors, err);
    if (status != VY_OK) return status;
    px4 *p = calloc(1, sizeof *p);
    if (p == NULL) return vy_fail(err, VY_NO_MEMORY, "controller: out of memory");
    p->listener = p->socket = -1;
    p->deadline = def->deadline;
    p->period = def->period;
    p->clock_offset = CLOCK_START;
    p->motors = motors;
    vy_px4_sensors_begin(request, &p->sensors);
    status = vy_listen_tcp(def->firmware.address, vy_bridge_port(def), BRIDGE_PORT_REMEDY, &p->listener, err);
    if (status == VY_OK) status = vy_script_open(request, &p->script, err);
    if (status != VY_OK) {
        px4_close((vy_bridge *)p);
        return status;
    }
    *out = (vy_bridge *)p;
    return VY_OK;
}

// --- who calls

static void close_connection(px4 *p, int index)
{
    vy_socket_close(&p->connections[index].socket);
    p->connections[index] = p->connections[--p->connection_count];
}

// What the caller has said so far. 1: it speaks MAVLink; -1: it has gone, or talks something else.
static int poll_connection(connection *c)
{
    uint8_t bytes[MAVLINK_FRAME_CAP]; // fits beside the beginning of a frame
    mavlink_frame frame;
    for (int i = 0; i < 16; ++i) {
        const ssize_t size = recv(c->socket, bytes, sizeof bytes, MSG_DONTWAIT);
        if (size < 0) return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? 0 : -1;
        if (size == 0) return -1;
        const size_t taken_size = vy_mavlink_feed(&c->reader, bytes, (size_t)size);
        VY_ASSERT(taken_size == (size_t)size);
        if (vy_mavlink_next(&c->reader, &frame)) return 1;
        if (c->reader.dropped > GARBAGE_CAP) return -1;
    }
    return 0;
}

// Take the firmware among those who have connected. Whoever only connects is not it, and is sent away then.
static void find_firmware(px4 *p)
{
    int fd;
    while (p->connection_count < CONNECTION_CAP && (fd = vy_accept(p->listener)) >= 0)
        p->connections[p->connection_count++] = (connection){.socket = fd};
    for (int i = 0; i < p->connection_count && p->socket < 0; ++i) {
        const int result = poll_connection(&p->connections[i]);
        if (result == 0) continue;
        if (result > 0) {
            p->socket = p->connections[i].socket;
            p->reader = p->connections[i].reader;
            p->connections[i].socket = -1;
        }
        close_connection(p, i--);
    }
    if (p->socket < 0) return;
    while (p->connection_count > 0) close_connection(p, 0);
    vy_socket_close(&p->listener); // one firmware for the whole run: a second one is refused
}

// --- replies

static void set_reply(const px4 *p, const mavlink_hil_actuator_controls *c, vy_intent *intent)
{
    VY_ASSERT(p->motors.count <= 16);
    intent->rung = VY_RUNG_MOTORS;
    intent->status = c->mode & MODE_ARMED ? VY_REPLY_STATUS_ARMED : VY_REPLY_STATUS_DISARMED;
    for (int k = 0; k < p->motors.count; ++k)
        vy_bridge_set_motor(&p->motors, k, (double)c->controls[k], intent);
}

// Frames that have come. 1: one is an answer to the clock `time` or to a later one.
static int handle_frames(px4 *p, uint64_t time, vy_intent *intent)
{
    mavlink_frame frame;
    int has_answer = 0;
    while (vy_mavlink_next(&p->reader, &frame)) {
        mavlink_hil_actuator_controls c;
        if (frame.type != &vy_mavlink_hil_actuator_controls) continue;
        vy_mavlink_unpack(&frame, &c);
        p->has_answered = 1;
        if (c.time_usec < time) continue; // to older samples
        set_reply(p, &c, intent);
        has_answer = 1;
    }
    return has_answer;
}

// Read for at most `seconds`, until there is an answer. VY_VERDICT_LATE: none.
static vy_verdict receive(px4 *p, uint64_t time, double seconds, vy_intent *intent, int32_t *detail)
{
    const double start = vy_bridge_now();
    uint8_t bytes[1024];
    for (;;) {
        const ssize_t size = recv(p->socket, bytes, sizeof bytes, MSG_DONTWAIT);
        if (size == 0 || (size < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) {
            *detail = -1;
            return VY_VERDICT_ENDED;
        }
        int has_answer = 0;
        for (ssize_t offset = 0; offset < size;) {
            offset += (ssize_t)vy_mavlink_feed(&p->reader, bytes + offset, (size_t)(size - offset));
            has_answer |= handle_frames(p, time, intent);
        }
        if (has_answer) return VY_VERDICT_REPLIED;
        if (p->reader.dropped > GARBAGE_CAP) {
            *detail = GARBAGE_DETAIL;
            return VY_VERDICT_GARBAGE;
        }
        const double seconds_left = seconds - (vy_bridge_now() - start);
        if (size < 0 && (seconds_left <= 0.0 || !vy_wait_readable(p->socket, seconds_left)))
            return VY_VERDICT_LATE;
        if (size > 0 && seconds_left <= 0.0)
            return VY_VERDICT_LATE; // it talks without end, and gives no answer
    }
}

// One exchange at the firmware's clock.
static vy_verdict exchange(px4 *p, const vy_samples *samples, uint64_t time, int is_resent, vy_intent *intent,
                           int32_t *detail)
{
    uint32_t fields;
    const size_t size = vy_px4_sensors_pack(&p->sensors, samples, time, is_resent, p->packet, &fields);
    if (!vy_send_all(p->socket, p->packet, size, p->deadline)) {
        *detail = -1;
        return errno == EAGAIN ? VY_VERDICT_LATE : VY_VERDICT_ENDED;
    }
    // Without a sample of the gyroscope there is nothing to answer to, nor has a firmware that boots.
    const int is_awaited = p->has_answered && (fields & PX4_FIELD_GYRO) != 0;
    intent->rung = VY_RUNG_MOTORS;
    intent->status = p->has_answered ? VY_REPLY_STATUS_STALE : VY_REPLY_STATUS_DISARMED;
    const vy_verdict verdict = receive(p, time, is_awaited ? p->deadline : 0.0, intent, detail);
    return verdict == VY_VERDICT_LATE && !is_awaited ? VY_VERDICT_REPLIED : verdict;
}

static void px4_set_logged_reply(vy_bridge *bridge, const vy_intent *logged_reply)
{
    const double clock = logged_reply->debug[BRIDGE_DEBUG_CLOCK];
    if (clock > 0.0)
        vy_script_set_logged_reply(((px4 *)bridge)->script, logged_reply); // else an older version's log
}

static vy_verdict px4_step(vy_bridge *bridge, const vy_samples *samples, vy_intent *intent, int32_t *detail)
{
    px4 *p = (px4 *)bridge;
    *detail = 0;
    intent->rung = VY_RUNG_MOTORS;
    intent->status = VY_REPLY_STATUS_DISARMED;
    if (samples->imu.tick == 0 && !p->is_ready) return VY_VERDICT_REPLIED; // nothing to boot with yet
    intent->status = VY_REPLY_STATUS_NOT_READY;
    if (p->socket < 0) find_firmware(p);
    if (p->socket < 0) return VY_VERDICT_REPLIED;
    const int is_resent = p->tick == samples->tick + 1;
    if (is_resent) p->clock_offset += (uint64_t)(1e6 * p->period + 0.5);
    p->tick = samples->tick + 1;
    const uint64_t time = p->clock_offset + (uint64_t)(1e6 * samples->time + 0.5);
    vy_verdict verdict = vy_script_step(p->script, samples->time + 0.5 * samples->dt, 1e-6 * (double)time,
                                        p->is_ready, detail);
    if (verdict == VY_VERDICT_REPLIED) verdict = exchange(p, samples, time, is_resent, intent, detail);
    intent->debug[BRIDGE_DEBUG_CLOCK] = 1e-6 * (double)p->clock_offset;
    vy_script_report(p->script, intent);
    if (verdict != VY_VERDICT_REPLIED || p->is_ready) return verdict;
    p->is_ready = p->has_answered && vy_script_is_ready(p->script);
    if (!p->is_ready) intent->status = VY_REPLY_STATUS_NOT_READY;
    return VY_VERDICT_REPLIED;
}

const bridge_kind vy_px4_bridge = {
    .open = px4_open, .step = px4_step, .set_logged_reply = px4_set_logged_reply, .close = px4_close};
