// script.c - parameters, commands and missions over MAVLink, each sent until it is acknowledged.
#define _GNU_SOURCE
#include "bridge/script.h"
#include "base/assert.h"
#include "base/fail.h"
#include "bridge/dialect.h"
#include "bridge/messages.h"
#include "bridge/sockets.h"
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define DEGREES_PER_RADIAN 57.295779513082323
#define RETRY_PERIOD       0.5 // [s] after which a message is sent again
#define HEARTBEAT_PERIOD   1.0 // [s]

enum {
    DEFAULT_PORT_COUNT = 10, // the eleventh sends to the port of the tenth
    DATAGRAMS_CAP = 512,     // read in one call: a flood must not hold up the run
    OWN_SYSTEM = 255,        // that of a ground station
    OWN_COMPONENT = 190,
    TYPE_GROUND_STATION = 6,
    AUTOPILOT_NONE = 8,
    COMPONENT_AUTOPILOT = 1,
    CMD_WAYPOINT = 16,
    FRAME_GLOBAL_INT = 5,
    FRAME_ABOVE_HOME_INT = 6,
    RESULT_ACCEPTED = 0,
    RESULT_IN_PROGRESS = 5,
    PARAM_REAL32 = 9,
};

// A parameter to be set before the flight.
typedef struct setting {
    char name[VY_PARAMETER_NAME_CAP];
    double value;
} setting;

struct vy_script {
    const dialect *dialect;
    int socket;
    struct sockaddr_in firmware; // where its heartbeat came from
    int is_connected;
    uint8_t firmware_system;
    mavlink_sender from;
    int parameter_count, parameter_next; // the next to be set
    setting parameters[VY_PARAMETER_CAP + 1 + 4 * VY_ROTOR_CAP];
    int line_count, line_next; // the next to be accepted
    vy_script_line *lines;
    double line_since;                // [s] when the line was first sent; NAN: not yet
    double sent_time, heartbeat_time; // [s] of the firmware's clock: the last message and heartbeat
    int is_mission_uploaded;          // the mission is there
    int item_count;
    vy_setpoint items[VY_SETPOINT_CAP];
    vy_planet_def planet;
    double home_altitude; // [m] above the ellipsoid
    double home_height;   // [m] in the world
    double patience;      // [s]
    double deadline;      // [s] of wall clock for the answer to a ping; 0: it gets none
    uint32_t ping, pong;  // the last that was sent, and that came back
    int has_unread;       // something has been sent that the firmware has perhaps not read
    int line_sent;        // in this call: its number, from 1 on; below zero: of its mission; 0: none
    int has_logged_reply,
        follows_log; // a branch: the log says what was sent with these samples, and accepted until then
    int logged_sent, logged_accepted;
    int resend_is_pending; // this firmware has not accepted what was sent then
};

// A parameter called `prefix`, the number and `suffix`; a number below zero is left out.
static void add_setting(vy_script *s, double value, const char *prefix, int number, const char *suffix)
{
    VY_ASSERT(s->parameter_count < (int)(sizeof s->parameters / sizeof s->parameters[0]));
    setting *p = &s->parameters[s->parameter_count++];
    char digits[12] = "";
    if (number >= 0) snprintf(digits, sizeof digits, "%d", number);
    snprintf(p->name, sizeof p->name, "%s%s%s", prefix, digits, suffix);
    p->value = value;
}

// Where PX4 finds the vehicle's rotors, and which of its outputs is which.
static void add_geometry(vy_script *s, const vy_vehicle_def *v)
{
    add_setting(s, v->rotor_count, "CA_ROTOR_COUNT", -1, "");
    for (int i = 0; i < v->rotor_count; ++i) {
        const vy_rotor_def *r = &v->rotors[i];
        add_setting(s, r->position.x, "CA_ROTOR", i, "_PX");
        add_setting(s, -r->position.y, "CA_ROTOR", i, "_PY");
        add_setting(s, r->spin * v->torque_coef / v->thrust_coef, "CA_ROTOR", i, "_KM");
        add_setting(s, 101 + i, "PWM_MAIN_FUNC", i + 1, ""); // motor i + 1
    }
}

vy_status vy_script_open(const bridge_request *request, vy_script **out, vy_error *err)
{
    const vy_controller_def *def = request->def;
    const vy_firmware_def *f = &def->firmware;
    *out = NULL;
    const int is_own = f->airframe == VY_AIRFRAME_OWN;
    if (vy_bridge_script_port(def) == 0) return VY_OK;
    const int is_px4 = def->kind == VY_CONTROLLER_PX4;
    if (is_px4 && f->script_port == 0 && def->instance >= DEFAULT_PORT_COUNT)
        return vy_fail(
            err, VY_BAD_VALUE,
            "px4 sends its MAVLink to %d ports, so a drone with a script or parameters is among the "
            "first %d of the run: this is number %d; script_port names another",
            DEFAULT_PORT_COUNT, DEFAULT_PORT_COUNT, def->instance + 1);
    if (f->script_count < 0 || f->script_count > VY_SCRIPT_CAP)
        return vy_fail(err, VY_BAD_VALUE, "controller.script has at most %d lines", VY_SCRIPT_CAP);
    for (int i = 0; i < def->parameter_count; ++i) {
        const vy_parameter *p = &def->parameters[i];
        if (p->text != NULL || strlen(p->name) > 16)
            return vy_fail(err, VY_BAD_VALUE,
                           "parameters.%.31s: a firmware's parameter is a number, and its name has at most "
                           "16 letters",
                           p->name);
    }
    vy_script *s = calloc(1, sizeof *s);
    if (s == NULL) return vy_fail(err, VY_NO_MEMORY, "controller: out of memory");
    s->socket = -1;
    s->lines = calloc((size_t)f->script_count + 1, sizeof *s->lines);
    if (s->lines == NULL) {
        free(s);
        return vy_fail(err, VY_NO_MEMORY, "controller: out of memory");
    }
    if (f->script_count > 0) memcpy(s->lines, f->script, (size_t)f->script_count * sizeof *s->lines);
    s->line_count = f->script_count;
    if (is_own) add_geometry(s, request->start->vehicle);
    for (int i = 0; i < def->parameter_count; ++i) {
        setting *p = &s->parameters[s->parameter_count++];
        memcpy(p->name, def->parameters[i].name, strlen(def->parameters[i].name) + 1);
        p->value = def->parameters[i].value;
    }
    memcpy(s->items, def->setpoints, sizeof s->items);
    s->item_count = def->setpoint_count;
    s->dialect = is_px4 ? &vy_px4_dialect : &vy_ardupilot_dialect;
    if (request->planet != NULL) s->planet = *request->planet;
    s->home_height = request->start->position.z;
    s->home_altitude = request->start->home_altitude;
    s->patience = f->patience;
    s->deadline = s->dialect->answers_pings ? def->deadline : 0.0;
    s->line_since = (double)NAN;
    s->sent_time = s->heartbeat_time = -1e9;
    s->from = (mavlink_sender){.system = OWN_SYSTEM, .component = OWN_COMPONENT};
    const vy_status status =
        vy_bind_udp(f->address, vy_bridge_script_port(def), BRIDGE_SCRIPT_PORT_REMEDY, &s->socket, err);
    if (status != VY_OK) {
        vy_script_close(s);
        return status;
    }
    *out = s;
    return VY_OK;
}

void vy_script_close(vy_script *s)
{
    if (s == NULL) return;
    vy_socket_close(&s->socket);
    free(s->lines);
    free(s);
}

int vy_script_is_ready(const vy_script *s)
{
    return s == NULL || (s->is_connected && s->parameter_next == s->parameter_count);
}

// --- sending

static void send_message(vy_script *s, const mavlink_type *type, const void *message)
{
    uint8_t frame[MAVLINK_FRAME_CAP];
    const size_t size = vy_mavlink_pack(type, message, &s->from, frame);
    // One that is lost is sent again.
    (void)sendto(s->socket, frame, size, MSG_NOSIGNAL, (const struct sockaddr *)&s->firmware,
                 sizeof s->firmware);
    s->has_unread = 1;
}

static void send_heartbeat(vy_script *s)
{
    const mavlink_heartbeat h = {
        .type = TYPE_GROUND_STATION, .autopilot = AUTOPILOT_NONE, .system_status = 4, .mavlink_version = 3};
    send_message(s, &vy_mavlink_heartbeat, &h);
}

// Ask for a parameter: its answer says of which type it is.
static void request_parameter(vy_script *s, const char *name)
{
    mavlink_param_request_read r = {
        .param_index = -1, .target_system = s->firmware_system, .target_component = COMPONENT_AUTOPILOT};
    memcpy(r.param_id, name, strnlen(name, sizeof r.param_id));
    send_message(s, &vy_mavlink_param_request_read, &r);
}

// The number as the firmware has it: a float, or the bits of an integer.
static float encode_parameter(const dialect *d, double value, uint8_t type)
{
    if (type == PARAM_REAL32 || d->sends_integers_as_floats) return (float)value;
    const int32_t number = (int32_t)value;
    float out;
    memcpy(&out, &number, sizeof out);
    return out;
}

static void send_command(vy_script *s, int command, const float param[7])
{
    mavlink_command_long c = {.command = (uint16_t)command,
                              .target_system = s->firmware_system,
                              .target_component = COMPONENT_AUTOPILOT};
    memcpy(c.param, param, sizeof c.param);
    send_message(s, &vy_mavlink_command_long, &c);
}

static void send_mission_count(vy_script *s)
{
    const mavlink_mission_count c = {.count = (uint16_t)(s->dialect->home_item_count + s->item_count),
                                     .target_system = s->firmware_system,
                                     .target_component = COMPONENT_AUTOPILOT};
    send_message(s, &vy_mavlink_mission_count, &c);
}

static void send_item(vy_script *s, int seq)
{
    const int waypoint = seq < s->dialect->home_item_count ? 0 : seq - s->dialect->home_item_count;
    const int above_home = s->dialect->above_home;
    const vy_setpoint *p = &s->items[waypoint]; // one in the home's place is not flown to
    const vy_geodetic geodetic =
        vy_geodetic_of(&s->planet, 0.0, p->position, (vy_vec3){0.0, 0.0, 0.0}, (vy_quat){1.0, 0.0, 0.0, 0.0});
    const mavlink_mission_item_int item = {
        .param = {0.0f, 0.0f, 0.0f, (float)(90.0 - DEGREES_PER_RADIAN * p->yaw)},
        .x = (int32_t)floor(1e7 * DEGREES_PER_RADIAN * geodetic.latitude + 0.5),
        .y = (int32_t)floor(1e7 * DEGREES_PER_RADIAN * geodetic.longitude + 0.5),
        .z = (float)(above_home ? p->position.z - s->home_height : geodetic.altitude),
        .seq = (uint16_t)seq,
        .command = CMD_WAYPOINT,
        .target_system = s->firmware_system,
        .target_component = COMPONENT_AUTOPILOT,
        .frame = above_home ? FRAME_ABOVE_HOME_INT : FRAME_GLOBAL_INT,
        .current = seq == 0,
        .autocontinue = 1};
    send_message(s, &vy_mavlink_mission_item_int, &item);
}

// The command of a line, and its parameters. 0: it is none.
static int command_of(const vy_script *s, const vy_script_line *line, float p[7])
{
    return s->dialect->command(line, s->home_altitude, p);
}

static void send_line(vy_script *s)
{
    const vy_script_line *line = &s->lines[s->line_next];
    const int is_mission = line->action == VY_SCRIPT_MISSION && !s->is_mission_uploaded;
    float p[7];
    s->line_sent = is_mission ? -(s->line_next + 1) : s->line_next + 1;
    if (line->action == VY_SCRIPT_PARAMETER) {
        request_parameter(s, line->parameter);
    } else if (is_mission) {
        send_mission_count(s);
    } else {
        const int command = command_of(s, line, p);
        send_command(s, command, p);
    }
}

// --- what comes back

static void accept_line(vy_script *s)
{
    if (s->follows_log) { // the log says when
        s->resend_is_pending = 0;
        return;
    }
    ++s->line_next;
    s->line_since = (double)NAN;
    s->sent_time = -1e9; // the next may go at once
}

// A parameter as the firmware has it now: right, or to be set.
static void handle_parameter(vy_script *s, const mavlink_param_value *v)
{
    const int is_booting = s->parameter_next < s->parameter_count;
    const vy_script_line *line = s->line_next < s->line_count ? &s->lines[s->line_next] : NULL;
    if (!is_booting && (line == NULL || line->action != VY_SCRIPT_PARAMETER)) return;
    const char *name = is_booting ? s->parameters[s->parameter_next].name : line->parameter;
    const double value = is_booting ? s->parameters[s->parameter_next].value : line->value;
    if (strncmp(name, v->param_id, sizeof v->param_id) != 0) return;
    const float encoded = encode_parameter(s->dialect, value, v->param_type);
    uint32_t encoded_bits, value_bits; // whole numbers travel as bits of a float, some of which are no number
    memcpy(&encoded_bits, &encoded, sizeof encoded_bits);
    memcpy(&value_bits, &v->param_value, sizeof value_bits);
    if (encoded_bits == value_bits) {
        if (is_booting) {
            ++s->parameter_next;
            s->sent_time = -1e9;
        } else {
            accept_line(s);
        }
        return;
    }
    mavlink_param_set p = {.param_value = encoded,
                           .target_system = s->firmware_system,
                           .target_component = COMPONENT_AUTOPILOT,
                           .param_type = v->param_type};
    memcpy(p.param_id, name, strnlen(name, sizeof p.param_id));
    send_message(s, &vy_mavlink_param_set, &p);
}

static void handle_ack(vy_script *s, const mavlink_command_ack *ack)
{
    float p[7];
    if (s->line_next >= s->line_count || isnan(s->line_since)) return;
    const vy_script_line *line = &s->lines[s->line_next];
    if (line->action == VY_SCRIPT_MISSION && !s->is_mission_uploaded) return;
    if (ack->command != command_of(s, line, p) || ack->result != RESULT_ACCEPTED) return;
    accept_line(s);
}

static void handle_mission_ack(vy_script *s, const mavlink_mission_ack *ack)
{
    if (s->line_next >= s->line_count || s->lines[s->line_next].action != VY_SCRIPT_MISSION) return;
    if (ack->type != 0 || ack->mission_type != 0) return;
    s->is_mission_uploaded = 1;
    if (!s->dialect->checks_missions) s->sent_time = -1e9; // then the mode; else in a while
}

static void handle_frame(vy_script *s, const mavlink_frame *frame, const struct sockaddr_in *sender)
{
    const mavlink_type *type = frame->type;
    union {
        mavlink_heartbeat heartbeat;
        mavlink_param_value parameter;
        mavlink_command_ack ack;
        mavlink_mission_request request;
        mavlink_mission_ack mission_ack;
        mavlink_ping ping;
    } m;
    if (frame->from.component != COMPONENT_AUTOPILOT || frame->from.system == OWN_SYSTEM) return;
    if (s->is_connected && frame->from.system != s->firmware_system) return;
    if (type == &vy_mavlink_heartbeat) {
        vy_mavlink_unpack(frame, &m.heartbeat);
        if (s->is_connected || m.heartbeat.autopilot == AUTOPILOT_NONE) return;
        s->is_connected = 1;
        s->firmware_system = frame->from.system;
        s->firmware = *sender;
    } else if (type == &vy_mavlink_ping) {
        vy_mavlink_unpack(frame, &m.ping);
        if (m.ping.target_system == OWN_SYSTEM && m.ping.target_component == OWN_COMPONENT)
            s->pong = m.ping.seq;
    } else if (type == &vy_mavlink_param_value) {
        vy_mavlink_unpack(frame, &m.parameter);
        handle_parameter(s, &m.parameter);
    } else if (type == &vy_mavlink_command_ack) {
        vy_mavlink_unpack(frame, &m.ack);
        handle_ack(s, &m.ack);
    } else if (type == &vy_mavlink_mission_request || type == &vy_mavlink_mission_request_int) {
        vy_mavlink_unpack(frame, &m.request);
        if (m.request.mission_type == 0 && m.request.seq < s->dialect->home_item_count + s->item_count)
            send_item(s, m.request.seq);
    } else if (type == &vy_mavlink_mission_ack) {
        vy_mavlink_unpack(frame, &m.mission_ack);
        handle_mission_ack(s, &m.mission_ack);
    }
}

static void read_datagrams(vy_script *s)
{
    uint8_t bytes[2048];
    for (int i = 0; i < DATAGRAMS_CAP; ++i) {
        struct sockaddr_in sender;
        socklen_t length = sizeof sender;
        const ssize_t size =
            recvfrom(s->socket, bytes, sizeof bytes, MSG_DONTWAIT, (struct sockaddr *)&sender, &length);
        if (size < 0 && errno == EINTR) continue;
        if (size < 0) return;
        mavlink_reader reader = {.size = 0}; // a datagram holds whole frames
        mavlink_frame frame;
        for (size_t offset = 0; offset < (size_t)size;) {
            const size_t taken_size = vy_mavlink_feed(&reader, bytes + offset, (size_t)size - offset);
            if (taken_size == 0) break;
            offset += taken_size;
            while (vy_mavlink_next(&reader, &frame)) handle_frame(s, &frame, &sender);
        }
    }
}

// A firmware that reads its port by the wall clock reads it sooner or later, by how busy the computer is. So
// the world waits: behind what was sent goes a ping, whose answer says that all before it has been read, and
// acts from this moment on. What answers its questions is waited for, too: a mission is uploaded within one
// step.
static void wait_until_read(vy_script *s)
{
    const double start = vy_bridge_now();
    while (s->has_unread && s->deadline > 0.0) {
        const mavlink_ping ping = {.seq = ++s->ping};
        send_message(s, &vy_mavlink_ping, &ping);
        s->has_unread = 0;
        while (s->pong != s->ping) {
            const double seconds_left = s->deadline - (vy_bridge_now() - start);
            if (seconds_left <= 0.0 || !vy_wait_readable(s->socket, seconds_left)) {
                if (s->pong == 0) s->deadline = 0.0; // it knows no pings
                return;
            }
            read_datagrams(s);
        }
    }
}

// --- what is due

// A log may hold any number.
static int int_from_log(double value) { return value > -1e6 && value < 1e6 ? (int)value : 0; }

void vy_script_set_logged_reply(vy_script *s, const vy_intent *logged_reply)
{
    if (s == NULL) return;
    s->has_logged_reply = 1;
    s->logged_sent = int_from_log(logged_reply->debug[BRIDGE_DEBUG_SENT]);
    s->logged_accepted = int_from_log(logged_reply->debug[BRIDGE_DEBUG_ACCEPTED]);
}

void vy_script_report(const vy_script *s, vy_intent *intent)
{
    if (s == NULL) return;
    intent->debug[BRIDGE_DEBUG_SENT] = s->line_sent;
    intent->debug[BRIDGE_DEBUG_ACCEPTED] = s->line_next;
}

// In a branch: what the log says was sent with these samples, whenever it was accepted; what this firmware
// has refused, unlike that of the run, again in a while.
static void send_logged_line(vy_script *s, double time, double clock)
{
    const int line = abs(s->logged_sent) - 1;
    if (line >= 0 && line < s->line_count) {
        s->line_next = line;
        s->line_since = time;
        if (s->lines[line].action == VY_SCRIPT_MISSION) s->is_mission_uploaded = s->logged_sent > 0;
        s->resend_is_pending = 1;
    } else if (!s->resend_is_pending || clock - s->sent_time < RETRY_PERIOD) {
        return;
    }
    send_line(s);
    s->sent_time = clock;
}

// From here on the script goes on by itself, from where it was in the run.
static void end_log_following(vy_script *s)
{
    s->follows_log = 0;
    if (s->logged_accepted < 0 || s->logged_accepted > s->line_count) return;
    if (s->logged_accepted != s->line_next) {
        s->line_since = (double)NAN;
        s->sent_time = -1e9;
    }
    s->line_next = s->logged_accepted;
}

static vy_verdict send_due_line(vy_script *s, double time, double clock, int32_t *line)
{
    if (s->line_next >= s->line_count || time < s->lines[s->line_next].time) return VY_VERDICT_REPLIED;
    if (isnan(s->line_since)) s->line_since = time;
    if (time - s->line_since > s->patience) {
        *line = s->line_next + 1;
        return VY_VERDICT_REFUSED;
    }
    if (clock - s->sent_time >= RETRY_PERIOD) {
        send_line(s);
        s->sent_time = clock;
    }
    return VY_VERDICT_REPLIED;
}

vy_verdict vy_script_step(vy_script *s, double time, double clock, int running, int32_t *line)
{
    vy_verdict verdict = VY_VERDICT_REPLIED;
    if (s == NULL) return verdict;
    const int follows_log = s->has_logged_reply;
    s->has_logged_reply = 0;
    if (s->follows_log && !follows_log) end_log_following(s);
    s->follows_log = follows_log;
    s->line_sent = 0;
    read_datagrams(s);
    if (!s->is_connected) return verdict;
    if (clock - s->heartbeat_time >= HEARTBEAT_PERIOD) {
        send_heartbeat(s);
        s->heartbeat_time = clock;
    }
    if (s->parameter_next < s->parameter_count) {
        if (clock - s->sent_time >= RETRY_PERIOD) {
            request_parameter(s, s->parameters[s->parameter_next].name);
            s->sent_time = clock;
        }
        return verdict;
    }
    if (!running) return verdict;
    if (follows_log)
        send_logged_line(s, time, clock);
    else
        verdict = send_due_line(s, time, clock, line);
    wait_until_read(s);
    return verdict;
}
