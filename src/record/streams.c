// streams.c - messages of a log. Those of a drone follow from the list in drone_streams.c.
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
    {.name = "check", .number = STATE_CHECK, .type = VY_PB_FIXED64}, // older logs have none
};
const vy_pb_message vy_message_state = {.name = "volery.State", .fields = state_fields, .field_count = 4};

#define PB_CHOICE(count_)   VY_PB_FIXED64
#define PB_FLAGS(count_)    VY_PB_FIXED64
#define PB_UINT(count_)     VY_PB_FIXED64
#define PB_NUMBER(count_)   VY_PB_DOUBLE
#define PB_COMMANDS(count_) VY_PB_DOUBLE, .repeat = (count_)
#define PB_LIST(count_)     VY_PB_DOUBLE, .repeat = (count_)
#define PB_VEC3(count_)     VY_PB_MESSAGE, .message = &vy_message_vec3
#define PB_QUAT(count_)     VY_PB_MESSAGE, .message = &quat_message
#define REPLY_ROW(member_, type_, count_, number_, ...) \
    {.name = #member_, .number = (number_), .type = PB_##type_(count_)},
static const vy_pb_field reply_fields[] = {
    {.name = "tick", .number = REPLY_TICK, .type = VY_PB_FIXED64},
    {.name = "drone", .number = REPLY_DRONE, .type = VY_PB_FIXED64},
    REPLY_FIELDS(REPLY_ROW) // fields that older logs lack are 0
    {.name = "check", .number = REPLY_CHECK, .type = VY_PB_FIXED64},
};
const vy_pb_message vy_message_reply = {.name = "volery.Reply",
                                        .fields = reply_fields,
                                        .field_count = sizeof reply_fields / sizeof reply_fields[0]};

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
    {.name = "body", .number = 3, .type = VY_PB_FIXED64},
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

contact_cells vy_contact_pack(uint64_t tick, uint32_t body_count, const vy_contact_event *event)
{
    VY_ASSERT(event->body >= 0 && (uint32_t)event->body < body_count);
    VY_ASSERT(event->other >= 0 || event->obstacle >= 0);
    return (contact_cells){
        .tick = tick,
        .phase = (uint64_t)event->phase,
        .body = (uint64_t)event->body,
        .other = event->other >= 0 ? (uint64_t)event->other : body_count + (uint64_t)event->obstacle,
        .points = (uint64_t)event->points,
        .point = event->point,
        .normal = event->normal,
        .impulse = event->impulse,
        .speed = event->speed,
        .severity = event->severity,
    };
}

static const vy_pb_field event_fields[] = {
    {.name = "tick", .number = EVENT_TICK, .type = VY_PB_FIXED64},
    {.name = "time", .number = EVENT_TIME, .type = VY_PB_DOUBLE},
    {.name = "kind", .number = EVENT_KIND, .type = VY_PB_STRING},
    {.name = "drone", .number = EVENT_DRONE, .type = VY_PB_STRING},
    {.name = "text", .number = EVENT_TEXT, .type = VY_PB_STRING},
    {.name = "note", .number = EVENT_NOTE, .type = VY_PB_BOOL}, // of the program around the run
};
const vy_pb_message vy_message_event = {.name = "volery.Event", .fields = event_fields, .field_count = 6};

static const vy_pb_field proof_fields[] = {
    {.name = "messages", .number = PROOF_MESSAGES, .type = VY_PB_FIXED64},
    {.name = "digest", .number = PROOF_DIGEST, .type = VY_PB_BYTES},
};
const vy_pb_message vy_message_proof = {.name = "volery.Proof", .fields = proof_fields, .field_count = 2};

// NaN has many bit patterns, and machines produce different ones for the same sum.
static void unify_nan(uint64_t *values, int count)
{
    const uint64_t infinity = 0x7ff0000000000000u, nan = 0x7ff8000000000000u;
    for (int i = 0; i < count; ++i) {
        if ((values[i] & ~((uint64_t)1 << 63)) > infinity) values[i] = nan;
    }
}

reply_cells vy_reply_pack(uint64_t tick, uint32_t drone, const vy_intent *intent)
{
    reply_cells c = {.tick = tick, .drone = drone};
    uint64_t *to = c.values;
    int count;
    const vy_reply_field *fields = vy_reply_fields(&count);
    for (int i = 0; i < count; to += fields[i++].count) {
        const char *from = (const char *)intent + fields[i].offset;
        int32_t choice = 0;
        if (fields[i].type == VY_REPLY_CHOICE) {
            memcpy(&choice, from, sizeof choice);
            *to = (uint64_t)(int64_t)choice;
        } else {
            memcpy(to, from, 8 * (size_t)fields[i].count);
            if (!vy_reply_is_whole(fields[i].type)) unify_nan(to, fields[i].count);
        }
    }
    VY_ASSERT(to == c.values + REPLY_CELLS);
    c.check = vy_reply_checksum(&c);
    return c;
}

static int are_all_zero(const uint64_t *values, int count)
{
    uint64_t any_bits = 0;
    for (int i = 0; i < count; ++i) any_bits |= values[i];
    return any_bits == 0;
}

// Trailing fields that go with any rung and are empty do not count, so that the check of such a reply is the
// same as before these fields existed.
uint64_t vy_reply_checksum(const reply_cells *cells)
{
    int count;
    const vy_reply_field *fields = vy_reply_fields(&count);
    size_t cell_count = REPLY_CELLS;
    for (int i = count - 1; i >= 0 && fields[i].rungs == VY_REPLY_ANY; --i) {
        if (!are_all_zero(cells->values + cell_count - fields[i].count, fields[i].count)) break;
        cell_count -= (size_t)fields[i].count;
    }
    return vy_hash64(cells, offsetof(reply_cells, values) + 8 * cell_count);
}

vy_intent vy_reply_unpack(const reply_cells *cells)
{
    vy_intent intent;
    memset(&intent, 0, sizeof intent);
    const uint64_t *from = cells->values;
    int count;
    const vy_reply_field *fields = vy_reply_fields(&count);
    for (int i = 0; i < count; from += fields[i++].count) {
        char *to = (char *)&intent + fields[i].offset;
        const int32_t choice = (int32_t)(int64_t)*from;
        if (fields[i].type == VY_REPLY_CHOICE)
            memcpy(to, &choice, sizeof choice);
        else
            memcpy(to, from, 8 * (size_t)fields[i].count);
    }
    return intent;
}

// How a field travels: as a number, a message or a list, of `length` values where a drone has as many rotors
// or thrusters.
static int init_wire_field(const vy_field *f, int length, vy_pb_field *out)
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
    VY_ASSERT(stream >= 0 && stream < vy_drone_stream_count && length >= 0 && length <= VY_ROTOR_CAP);
    memset(out, 0, sizeof *out);
    const vy_field *last_field = NULL;
    if (s->fields != NULL) {
        out->first_field = s->fields;
        last_field = s->fields + s->field_count - 1;
    } else if (s->first_field != NULL) {
        out->first_field = vy_find_field(s->block, s->first_field);
        last_field = vy_find_field(s->block, s->last_field);
    } else { // a sensor's sample: behind its tick, so many numbers
        out->first_field = last_field = &vy_blocks[s->block].fields[1];
        int cells = last_field->count;
        while (cells < vy_sensors[s->sensor].width) cells += (++last_field)->count;
    }
    VY_ASSERT(out->first_field != NULL && last_field >= out->first_field && !field_is_integer(last_field));
    out->offset = out->first_field->offset;
    for (const vy_field *f = out->first_field; f <= last_field; ++f) {
        const int i = out->field_count;
        VY_ASSERT((size_t)i < sizeof out->fields / sizeof out->fields[0]);
        VY_ASSERT(f->offset == out->offset + 8 * out->cell_count); // encoded from memory as it lies
        const char *dot = strrchr(f->name, '.');
        snprintf(out->field_names[i], sizeof out->field_names[i], "%s", dot != NULL ? dot + 1 : f->name);
        vy_pb_field *field = &out->fields[i];
        *field = (vy_pb_field){.name = out->field_names[i], .number = (uint32_t)i + 1};
        const int count = init_wire_field(f, length, field);
        if (count == 0) break; // the list is absent
        out->counts[i] = count;
        out->cell_count += (size_t)count;
        out->field_count += 1;
    }
    // "truth" -> "volery.Truth"
    snprintf(out->full_name, sizeof out->full_name, "volery.%c%s", s->name[0] - 'a' + 'A', s->name + 1);
    out->message = (vy_pb_message){
        .name = out->full_name, .fields = out->fields, .field_count = (size_t)out->field_count};
}

uint64_t vy_log_time(uint64_t tick, double dt) { return (uint64_t)((double)tick * dt * 1e9 + 0.5); }

component_names vy_components_of(const vy_field *field)
{
    switch (field->type) {
    case FIELD_VEC3: return COMPONENT_XYZ;
    case FIELD_QUAT: return COMPONENT_WXYZ;
    case FIELD_ROTORS:
    case FIELD_THRUSTERS:
    case FIELD_COMMANDS:
    case FIELD_RAYS:
    case FIELD_LIST: return COMPONENT_LIST;
    default: return field->count == 1 ? COMPONENT_ONE : COMPONENT_LIST; // a number of each of several
    }
}

void vy_component_name(component_names names, int index, char out[12])
{
    VY_ASSERT(index >= 0 && (names != COMPONENT_ONE || index == 0));
    VY_ASSERT(index < (names == COMPONENT_XYZ ? 3 : names == COMPONENT_WXYZ ? 4 : index + 1));
    switch (names) {
    case COMPONENT_ONE: out[0] = '\0'; break;
    case COMPONENT_XYZ: snprintf(out, 12, ".%c", "xyz"[index]); break;
    case COMPONENT_WXYZ: snprintf(out, 12, ".%c", "wxyz"[index]); break;
    case COMPONENT_LIST: snprintf(out, 12, "[%d]", index); break;
    }
}
