// streams.c - messages of a log. Streams of a drone follow the manifest of state, so none can be forgotten.
#include "record/streams.h"
#include "base/assert.h"
#include "base/hash.h"
#include <stdio.h>

static const vy_pb_field vec3_fields[] = {
    {.name = "x", .number = 1, .type = VY_PB_DOUBLE},
    {.name = "y", .number = 2, .type = VY_PB_DOUBLE},
    {.name = "z", .number = 3, .type = VY_PB_DOUBLE},
};
const vy_pb_message vy_message_vec3 = {.name = "volery.Vec3", .fields = vec3_fields, .field_count = 3};

static const vy_pb_field quat_fields[] = {
    {.name = "w", .number = 1, .type = VY_PB_DOUBLE},
    {.name = "x", .number = 2, .type = VY_PB_DOUBLE},
    {.name = "y", .number = 3, .type = VY_PB_DOUBLE},
    {.name = "z", .number = 4, .type = VY_PB_DOUBLE},
};
static const vy_pb_message quat_message = {
    .name = "volery.Quaternion", .fields = quat_fields, .field_count = 4};

static const vy_pb_field hashes_fields[] = {
    {.name = "first_tick", .number = HASHES_FIRST_TICK, .type = VY_PB_FIXED64},
    {.name = "hashes", .number = HASHES_LIST, .type = VY_PB_FIXED64, .repeat = VY_PB_LIST},
};
const vy_pb_message vy_message_hashes = {.name = "volery.Hashes", .fields = hashes_fields, .field_count = 2};

static const vy_pb_field state_fields[] = {
    {.name = "tick", .number = STATE_TICK, .type = VY_PB_FIXED64},
    {.name = "hash", .number = STATE_HASH, .type = VY_PB_FIXED64},
    {.name = "state", .number = STATE_BYTES, .type = VY_PB_BYTES},
    {.name = "check", .number = STATE_CHECK, .type = VY_PB_FIXED64}, // logs of before have none
};
const vy_pb_message vy_message_state = {.name = "volery.State", .fields = state_fields, .field_count = 4};

static const vy_pb_field reply_fields[] = {
    {.name = "tick", .number = 1, .type = VY_PB_FIXED64},
    {.name = "drone", .number = 2, .type = VY_PB_FIXED64},
    {.name = "rung", .number = 3, .type = VY_PB_FIXED64},
    {.name = "motors", .number = 4, .type = VY_PB_DOUBLE, .repeat = VY_ROTOR_CAP},
    {.name = "thrust", .number = 5, .type = VY_PB_DOUBLE},
    {.name = "torque", .number = 6, .type = VY_PB_MESSAGE, .message = &vy_message_vec3},
    {.name = "rates", .number = 7, .type = VY_PB_MESSAGE, .message = &vy_message_vec3},
    {.name = "attitude", .number = 8, .type = VY_PB_MESSAGE, .message = &quat_message},
    {.name = "verdict", .number = 9, .type = VY_PB_FIXED64},
    {.name = "detail", .number = 10, .type = VY_PB_FIXED64},
    {.name = "velocity", .number = 11, .type = VY_PB_MESSAGE, .message = &vy_message_vec3},
    {.name = "yaw_rate", .number = 12, .type = VY_PB_DOUBLE},
    {.name = "throttle", .number = 13, .type = VY_PB_DOUBLE},
    {.name = "strafe", .number = 14, .type = VY_PB_DOUBLE},
    {.name = "vertical", .number = 15, .type = VY_PB_DOUBLE},
    {.name = "yaw", .number = 16, .type = VY_PB_DOUBLE},
    {.name = "drop", .number = 18, .type = VY_PB_FIXED64}, // logs of before have none: 0
    {.name = "check", .number = 17, .type = VY_PB_FIXED64},
};
const vy_pb_message vy_message_reply = {.name = "volery.Reply",
                                        .fields = reply_fields,
                                        .field_count = sizeof reply_fields / sizeof reply_fields[0]};
_Static_assert(sizeof(reply_cells) == 8 * (3 + VY_ROTOR_CAP + 1 + 3 + 3 + 4 + 2 + 3 + 5 + 2),
               "cells without padding");

static const vy_pb_field geodetic_fields[] = {
    {.name = "latitude", .number = 1, .type = VY_PB_DOUBLE},
    {.name = "longitude", .number = 2, .type = VY_PB_DOUBLE},
    {.name = "altitude", .number = 3, .type = VY_PB_DOUBLE},
    {.name = "velocity_ned", .number = 4, .type = VY_PB_MESSAGE, .message = &vy_message_vec3},
    {.name = "yaw", .number = 5, .type = VY_PB_DOUBLE},
    {.name = "pitch", .number = 6, .type = VY_PB_DOUBLE},
    {.name = "roll", .number = 7, .type = VY_PB_DOUBLE},
};
const vy_pb_message vy_message_geodetic = {
    .name = "volery.Geodetic", .fields = geodetic_fields, .field_count = 7};
_Static_assert(sizeof(vy_geodetic) == 8 * 9, "cells without padding");

static const vy_pb_field joint_fields[] = {
    {.name = "length", .number = 1, .type = VY_PB_DOUBLE},
    {.name = "angle", .number = 2, .type = VY_PB_DOUBLE},
    {.name = "rate", .number = 3, .type = VY_PB_DOUBLE},
    {.name = "tension", .number = 4, .type = VY_PB_DOUBLE},
    {.name = "force", .number = 5, .type = VY_PB_MESSAGE, .message = &vy_message_vec3},
    {.name = "torque", .number = 6, .type = VY_PB_MESSAGE, .message = &vy_message_vec3},
    {.name = "active", .number = 7, .type = VY_PB_DOUBLE},
};
const vy_pb_message vy_message_joint = {.name = "volery.Joint", .fields = joint_fields, .field_count = 7};
_Static_assert(sizeof(joint_cells) == 8 * 11, "cells without padding");

joint_cells vy_joint_pack(const vy_joint_state *state)
{
    return (joint_cells){state->length, state->angle,  state->rate,  state->tension,
                         state->force,  state->torque, state->active};
}

const char *vy_joint_unit(const char *field)
{
    static const char *const units[] = {"m", "",    "", "N",
                                        "N", "N m", ""}; // of an angle: rad, or m of a slider
    for (size_t i = 0; i < vy_message_joint.field_count; ++i) {
        if (strcmp(joint_fields[i].name, field) == 0) return units[i];
    }
    return "";
}

static const vy_pb_field contact_fields[] = {
    {.name = "tick", .number = 1, .type = VY_PB_FIXED64},
    {.name = "phase", .number = 2, .type = VY_PB_FIXED64},
    {.name = "drone", .number = 3, .type = VY_PB_FIXED64},
    {.name = "other", .number = 4, .type = VY_PB_FIXED64},
    {.name = "points", .number = 5, .type = VY_PB_FIXED64},
    {.name = "point", .number = 6, .type = VY_PB_MESSAGE, .message = &vy_message_vec3},
    {.name = "normal", .number = 7, .type = VY_PB_MESSAGE, .message = &vy_message_vec3},
    {.name = "impulse", .number = 8, .type = VY_PB_MESSAGE, .message = &vy_message_vec3},
    {.name = "speed", .number = 9, .type = VY_PB_DOUBLE},
    {.name = "severity", .number = 10, .type = VY_PB_DOUBLE},
};
const vy_pb_message vy_message_contact = {
    .name = "volery.Contact", .fields = contact_fields, .field_count = 10};
_Static_assert(sizeof(contact_cells) == 8 * 16, "cells without padding");

contact_cells vy_contact_pack(uint64_t tick, uint32_t drone_count, const vy_contact_event *event)
{
    VY_ASSERT(event->drone >= 0 && (uint32_t)event->drone < drone_count);
    VY_ASSERT(event->other >= 0 || event->obstacle >= 0);
    return (contact_cells){
        .tick = tick,
        .phase = (uint64_t)event->phase,
        .drone = (uint64_t)event->drone,
        .other = event->other >= 0 ? (uint64_t)event->other : drone_count + (uint64_t)event->obstacle,
        .points = (uint64_t)event->points,
        .point = event->point,
        .normal = event->normal,
        .impulse = event->impulse,
        .speed = event->speed,
        .severity = event->severity,
    };
}

const char vy_event_schema[] =
    "{\"type\":\"object\",\"properties\":{\"tick\":{\"type\":\"integer\"},\"time\":{\"type\":\"number\"},"
    "\"kind\":{\"type\":\"string\"},\"drone\":{\"type\":\"string\"},\"text\":{\"type\":\"string\"}}}";

reply_cells vy_reply_pack(uint64_t tick, uint32_t drone, const vy_intent *intent)
{
    reply_cells c = {
        .tick = tick,
        .drone = drone,
        .rung = (uint64_t)(int64_t)(int)intent->rung,
        .thrust = intent->thrust,
        .torque = intent->torque,
        .rates = intent->rates,
        .attitude = intent->attitude,
        .verdict = (uint64_t)intent->verdict,
        .detail = (uint64_t)(int64_t)intent->detail,
        .velocity = intent->velocity,
        .yaw_rate = intent->yaw_rate,
        .throttle = intent->throttle,
        .strafe = intent->strafe,
        .vertical = intent->vertical,
        .yaw = intent->yaw,
        .drop = intent->drop,
    };
    memcpy(c.motors, intent->motors, sizeof c.motors);
    c.check = vy_reply_check(&c);
    return c;
}

// Of a reply that drops nothing it is what it was before replies could.
uint64_t vy_reply_check(const reply_cells *cells)
{
    _Static_assert(offsetof(reply_cells, drop) + 8 == offsetof(reply_cells, check), "the check comes last");
    return vy_hash64(cells, cells->drop != 0 ? offsetof(reply_cells, check) : offsetof(reply_cells, drop));
}

vy_intent vy_reply_unpack(const reply_cells *cells)
{
    vy_intent intent = {
        .rung = (vy_rung)(int)(int64_t)cells->rung,
        .thrust = cells->thrust,
        .torque = cells->torque,
        .rates = cells->rates,
        .attitude = cells->attitude,
        .verdict = (vy_verdict)cells->verdict,
        .detail = (int32_t)(int64_t)cells->detail,
        .velocity = cells->velocity,
        .yaw_rate = cells->yaw_rate,
        .throttle = cells->throttle,
        .strafe = cells->strafe,
        .vertical = cells->vertical,
        .yaw = cells->yaw,
        .drop = cells->drop,
    };
    memcpy(intent.motors, cells->motors, sizeof intent.motors);
    return intent;
}

// In the order in which they are written at one tick; truth comes last, so that a reader of rows has the
// rest.
const drone_stream vy_drone_streams[DRONE_STREAM_COUNT] = {
    {"imu", BLOCK_drone, "imu.accel", "imu.gyro", "the IMU's sample, when there is a new one"},
    {"mocap", BLOCK_drone, "mocap.position", "mocap.attitude",
     "the motion-capture sample, when there is a new one"},
    {"estimate", BLOCK_drone, "estimate.position", "estimate.rate", "what the estimator believes"},
    {"control", BLOCK_drone, "control.attitude", "control.motors",
     "what the controller wants and the motors are told, when there is something new"},
    {"battery", BLOCK_gear, "battery.charge", "battery.current",
     "the battery of a drone that has one, from the first step on"},
    {"touch", BLOCK_contact_totals, "contact.impulse", "contact.total",
     "what contacts did to the drone, in a world where things collide"},
    {"thrusters", BLOCK_thruster, "thrust", "thrust",
     "the thrust of a drone that has thrusters, from the first step on"},
    {"baro", BLOCK_kit, "baro.pressure", "baro.altitude", "the barometer's sample, when there is a new one"},
    {"mag", BLOCK_kit, "mag.field", "mag.field", "the magnetometer's sample, when there is a new one"},
    {"gps", BLOCK_kit, "gps.position", "gps.velocity", "the receiver's sample, when there is a new one"},
    {"range", BLOCK_kit, "range.distance", "range.distance",
     "the range finder's sample, when there is a new one"},
    {"flow", BLOCK_kit, "flow.x", "flow.quality", "the sample of optical flow, when there is a new one"},
    {"power", BLOCK_kit, "power.voltage", "power.current",
     "the battery monitor's sample, when there is a new one"},
    {"esc", BLOCK_kit, "esc.speed", "esc.speed",
     "rotor speeds as told by the ESCs, when there is a new sample"},
    {"lidar", BLOCK_kit, "lidar.distance", "lidar.distance", "the fan's sample, when there is a new one"},
    {"truth", BLOCK_drone, "body.position", "rotor_speed",
     "where the drone is, how it moves, how fast its rotors turn"},
};

// How a field travels: as a number, a message or a list, of `length` values where a drone has as many rotors
// or thrusters.
static int field_on_wire(const vy_field *f, int length, vy_pb_field *out)
{
    out->type = VY_PB_DOUBLE;
    switch (f->type) {
    case FIELD_NUMBER: return 1;
    case FIELD_VEC3:
    case FIELD_QUAT:
        out->type = VY_PB_MESSAGE;
        out->message = f->type == FIELD_VEC3 ? &vy_message_vec3 : &quat_message;
        return f->count;
    default: break;
    }
    const int count = f->type == FIELD_RAYS || f->type == FIELD_LIST ? f->count : length;
    out->repeat = (uint32_t)count;
    return count;
}

void vy_stream_layout(int stream, int length, stream_layout *out)
{
    const drone_stream *s = &vy_drone_streams[stream];
    VY_ASSERT(stream >= 0 && stream < DRONE_STREAM_COUNT && length >= 0 && length <= VY_ROTOR_CAP);
    memset(out, 0, sizeof *out);
    out->manifest = vy_find_field(s->block, s->first);
    const vy_field *last = vy_find_field(s->block, s->last);
    VY_ASSERT(out->manifest != NULL && last >= out->manifest && !field_is_whole(last));
    out->offset = out->manifest->offset;
    for (const vy_field *f = out->manifest; f <= last; ++f) {
        const int i = out->field_count;
        VY_ASSERT((size_t)i < sizeof out->fields / sizeof out->fields[0]);
        VY_ASSERT(f->offset == out->offset + 8 * out->cells); // encoded from memory as it lies
        const char *dot = strrchr(f->name, '.');
        snprintf(out->names[i], sizeof out->names[i], "%s", dot != NULL ? dot + 1 : f->name);
        vy_pb_field *field = &out->fields[i];
        *field = (vy_pb_field){.name = out->names[i], .number = (uint32_t)i + 1};
        const int count = field_on_wire(f, length, field);
        if (count == 0) break; // the list is absent
        out->counts[i] = count;
        out->cells += (size_t)count;
        out->field_count += 1;
    }
    // "truth" -> "volery.Truth"
    snprintf(out->full_name, sizeof out->full_name, "volery.%c%s", s->name[0] - 'a' + 'A', s->name + 1);
    out->message = (vy_pb_message){
        .name = out->full_name, .fields = out->fields, .field_count = (size_t)out->field_count};
}

_Static_assert(sizeof vy_drone_streams / sizeof vy_drone_streams[0] == STREAM_TRUTH + 1, "truth comes last");

uint64_t vy_log_time(uint64_t tick, double dt) { return (uint64_t)((double)tick * dt * 1e9 + 0.5); }

void vy_component_name(int count, int index, char out[12])
{
    VY_ASSERT(index >= 0 && index < count);
    if (count == 1) {
        out[0] = '\0';
    } else if (count == 3 || count == 4) {
        snprintf(out, 12, ".%c", (count == 3 ? "xyz" : "wxyz")[index]);
    } else {
        snprintf(out, 12, "[%d]", index);
    }
}
