// frame.c - samples and replies as numbers on a wire.
#include "host/frame.h"
#include "base/assert.h"
#include "sensors/sensors.h"
#include "volery/host.h"
#include <stdio.h>
#include <string.h>

// What goes over the wire, number by number. Controllers go by the names.
#define SAMPLE_FIELD(name, type, count)                                \
    {                                                                  \
        "", #name, offsetof(vy_samples, name), count, VY_SAMPLE_##type \
    }
#define SAMPLE_MEMBER(block, name, type, count)                                  \
    {                                                                            \
#block, #name, offsetof(vy_samples, block.name), count, VY_SAMPLE_##type \
    }
#define SENSOR_FIELD(block, member, type, count, unit, text) SAMPLE_MEMBER(block, member, type, count),
#define SENSOR_FIELDS(id, stream, name, needs, text)         SAMPLE_##name(SENSOR_FIELD, name)
static const vy_sample_field sample_fields[] = {
    SAMPLE_FIELD(tick, TICK, 1),
    SAMPLE_FIELD(time, NUMBER, 1),
    SAMPLE_FIELD(dt, NUMBER, 1),
    DRONE_SENSORS(SENSOR_FIELDS) SAMPLE_MEMBER(estimate, position, VEC3, 3),
    SAMPLE_MEMBER(estimate, velocity, VEC3, 3),
    SAMPLE_MEMBER(estimate, attitude, QUAT, 4),
    SAMPLE_MEMBER(estimate, rate, VEC3, 3),
    SAMPLE_MEMBER(estimate, gyro_bias, VEC3, 3),
    SAMPLE_MEMBER(estimate, accel_bias, VEC3, 3),
    SAMPLE_MEMBER(touch, contacts, TICK, 1),
    SAMPLE_MEMBER(touch, impulse, VEC3, 3),
    SENSORS(SENSOR_FIELDS) SAMPLE_MEMBER(reference, position, VEC3, 3),
    SAMPLE_MEMBER(reference, velocity, VEC3, 3),
    SAMPLE_MEMBER(reference, acceleration, VEC3, 3),
    SAMPLE_MEMBER(reference, yaw, NUMBER, 1),
    SAMPLE_MEMBER(reference, yaw_rate, NUMBER, 1),
    SAMPLE_MEMBER(rc, count, TICK, 1),
    SAMPLE_MEMBER(rc, channels, CHANNELS, VY_RC_CAP),
    SAMPLE_FIELD(armed, TICK, 1),
    SAMPLE_FIELD(air_temperature, NUMBER, 1),
    SAMPLE_MEMBER(truth, position, VEC3, 3),
    SAMPLE_MEMBER(truth, velocity, VEC3, 3),
    SAMPLE_MEMBER(truth, attitude, QUAT, 4),
    SAMPLE_MEMBER(truth, rate, VEC3, 3),
    SAMPLE_MEMBER(truth, wind, VEC3, 3)};
enum { FIELD_COUNT = sizeof sample_fields / sizeof sample_fields[0] };

// Every number is on the wire, once.
#define CHECK_WIRE_ORDER(id, stream, name, needs, text) \
    _Static_assert(sizeof(((vy_samples *)0)->name) == 8 * (1 + name##_WIDTH), "every number is a cell");
DRONE_SENSORS(CHECK_WIRE_ORDER)
SENSORS(CHECK_WIRE_ORDER)
#define CELLS(id, stream, name, needs, text) +1 + name##_WIDTH
_Static_assert(sizeof(vy_estimate) == 8 * 19 && sizeof(vy_touch_sample) == 8 * 4 &&
                   sizeof(vy_reference) == 8 * 11 && sizeof(vy_rc_sample) == 8 * 17 &&
                   sizeof(vy_truth_sample) == 8 * 16,
               "every number is a cell");
_Static_assert(VY_WIRE_CELLS == 3 DRONE_SENSORS(CELLS) + 19 + 4 SENSORS(CELLS) + 11 + 17 + 2 + 16,
               "every sample is on the wire");

const vy_sample_field *vy_sample_fields(int *count)
{
    *count = FIELD_COUNT;
    return sample_fields;
}

wire_cell vy_wire_cell(int index)
{
    wire_cell cell = {.offset = 0};
    int component = index, field_index = 0;
    VY_ASSERT(index >= 0 && index < VY_WIRE_CELLS);
    while (component >= sample_fields[field_index].count) component -= sample_fields[field_index++].count;
    VY_ASSERT(field_index < (int)FIELD_COUNT);
    const vy_sample_field *field = &sample_fields[field_index];
    cell.offset = field->offset + 8 * (size_t)component;
    cell.is_integer = field->type == VY_SAMPLE_TICK;
    char suffix[16] = "";
    switch (field->type) {
    case VY_SAMPLE_NUMBER:
    case VY_SAMPLE_TICK: break;
    case VY_SAMPLE_VEC3: snprintf(suffix, sizeof suffix, ".%c", "xyz"[component]); break;
    case VY_SAMPLE_QUAT: snprintf(suffix, sizeof suffix, ".%c", "wxyz"[component]); break;
    case VY_SAMPLE_ROTORS:
    case VY_SAMPLE_RAYS:
    case VY_SAMPLE_CHANNELS: snprintf(suffix, sizeof suffix, "[%d]", component); break;
    }
    snprintf(cell.name, sizeof cell.name, "%s%s%s%s", field->block, field->block[0] != '\0' ? "." : "",
             field->name, suffix);
    return cell;
}

static void put_u64(uint64_t value, unsigned char *out)
{
    for (int i = 0; i < 8; ++i) out[i] = (unsigned char)(value >> (8 * i));
}

static uint64_t get_u64(const unsigned char *in)
{
    uint64_t value = 0;
    for (int i = 7; i >= 0; --i) value = value << 8 | in[i];
    return value;
}

static void put_f64(double value, unsigned char *out)
{
    uint64_t cell;
    memcpy(&cell, &value, sizeof cell);
    put_u64(cell, out);
}

static double get_f64(const unsigned char *in)
{
    const uint64_t cell = get_u64(in);
    double value;
    memcpy(&value, &cell, sizeof value);
    return value;
}

uint32_t vy_wire_get_size(const unsigned char *head)
{
    return (uint32_t)head[0] | (uint32_t)head[1] << 8 | (uint32_t)head[2] << 16 | (uint32_t)head[3] << 24;
}

void vy_wire_put_size(uint32_t size, unsigned char *head)
{
    for (int i = 0; i < 4; ++i) head[i] = (unsigned char)(size >> (8 * i));
}

int vy_wire_is_text(const unsigned char *bytes, size_t size, int32_t *detail, char printed[OUTPUT_CAP])
{
    unsigned char first_bytes[4] = {'\n', '\n', '\n', '\n'};
    memcpy(first_bytes, bytes, size < 4 ? size : 4);
    for (size_t i = 0; i < 4; ++i) {
        const int is_printable = (first_bytes[i] >= ' ' && first_bytes[i] <= '~') || first_bytes[i] == '\n' ||
                                 first_bytes[i] == '\r' || first_bytes[i] == '\t';
        if (!is_printable) return 0;
    }
    size_t length = 0;
    for (; length < size && length + 1 < OUTPUT_CAP && bytes[length] >= ' ' && bytes[length] <= '~'; ++length)
        printed[length] = (char)bytes[length];
    printed[length] = '\0';
    *detail = (int32_t)vy_wire_get_size(first_bytes);
    return 1;
}

vy_verdict vy_wire_check_frame(const unsigned char *bytes, size_t received_size, size_t cap, size_t *size,
                               int32_t *detail, char printed[OUTPUT_CAP])
{
    VY_ASSERT(cap <= WIRE_CAP - FRAME_HEAD_SIZE);
    if (received_size < FRAME_HEAD_SIZE) return VY_VERDICT_LATE;
    *size = vy_wire_get_size(bytes);
    if (*size > WIRE_CAP - FRAME_HEAD_SIZE) {
        *detail = 0;
        (void)vy_wire_is_text(bytes, received_size, detail, printed);
        return VY_VERDICT_GARBAGE;
    }
    *detail = (int32_t)*size;
    if (*size > cap) return VY_VERDICT_SIZE;
    const size_t end = FRAME_HEAD_SIZE + *size;
    if (received_size < end) return VY_VERDICT_LATE;
    if (received_size > end)
        return vy_wire_is_text(bytes + end, received_size - end, detail, printed) ? VY_VERDICT_GARBAGE
                                                                                  : VY_VERDICT_FLOODED;
    *detail = 0;
    return VY_VERDICT_REPLIED;
}

size_t vy_wire_put_samples(const vy_samples *samples, unsigned char *out)
{
    const size_t size = 8 * (size_t)VY_WIRE_CELLS;
    vy_wire_put_size((uint32_t)size, out);
    VY_ASSERT(samples != NULL && vy_wire_get_size(out) == size);
    unsigned char *to = out + FRAME_HEAD_SIZE;
    for (int f = 0; f < (int)FIELD_COUNT; ++f) {
        const char *from = (const char *)samples + sample_fields[f].offset;
        for (int i = 0; i < sample_fields[f].count; ++i, from += 8, to += 8) {
            double value;
            uint64_t integer;
            memcpy(&value, from, sizeof value);
            memcpy(&integer, from, sizeof integer);
            put_f64((sample_fields[f].type == VY_SAMPLE_TICK) ? (double)integer : value, to);
        }
    }
    return FRAME_HEAD_SIZE + size;
}

void vy_wire_get_samples(const unsigned char *numbers, vy_samples *out)
{
    for (int f = 0; f < (int)FIELD_COUNT; ++f) {
        char *to = (char *)out + sample_fields[f].offset;
        for (int i = 0; i < sample_fields[f].count; ++i, numbers += 8, to += 8) {
            const double value = get_f64(numbers);
            const uint64_t integer = value >= 0.0 && value < 0x1p63 ? (uint64_t)value : 0;
            memcpy(to,
                   (sample_fields[f].type == VY_SAMPLE_TICK) ? (const void *)&integer : (const void *)&value,
                   8);
        }
    }
}

// How many numbers of a field a reply of this rung has, of those that belong to some rungs only.
static int rung_number_count(const vy_reply_field *f, int rung, int rotor_count)
{
    if (f->rungs == VY_REPLY_ANY || (f->rungs >> rung & 1) == 0) return 0;
    return f->type == VY_REPLY_COMMANDS ? rotor_count : f->count;
}

int vy_wire_rung_number_count(int rung, int rotor_count)
{
    if (rung < VY_RUNG_NONE || rung > VY_RUNG_PILOT) return -1;
    int field_count, count = 0;
    const vy_reply_field *fields = vy_reply_fields(&field_count);
    for (int i = 0; i < field_count; ++i) count += rung_number_count(&fields[i], rung, rotor_count);
    return count;
}

// Numbers behind those of the rung: the fields that go with any, up to the last of them that is not zero. A
// controller that does not use them may leave them out.
static int count_optional_numbers(const vy_intent *intent)
{
    static const unsigned char zero[sizeof(vy_intent)];
    int field_count, count = 0, used_count = 0;
    const vy_reply_field *fields = vy_reply_fields(&field_count);
    for (int i = 0; i < field_count; ++i) {
        if (fields[i].rungs != VY_REPLY_ANY) continue;
        count += fields[i].count;
        if (memcmp((const char *)intent + fields[i].offset, zero, 8 * (size_t)fields[i].count) != 0)
            used_count = count;
    }
    return used_count;
}

static unsigned char *put_field(const vy_intent *intent, const vy_reply_field *f, int count,
                                unsigned char *at)
{
    const char *from = (const char *)intent + f->offset;
    for (int i = 0; i < count; ++i, at += 8) {
        uint64_t integer;
        double value;
        memcpy(&integer, from + 8 * i, sizeof integer);
        memcpy(&value, from + 8 * i, sizeof value);
        put_f64(vy_reply_is_whole(f->type) ? (double)integer : value, at);
    }
    return at;
}

// 0: they are no whole numbers, and should be.
static int get_field(const unsigned char *at, const vy_reply_field *f, int count, vy_intent *intent)
{
    char *to = (char *)intent + f->offset;
    for (int i = 0; i < count; ++i) {
        const double value = get_f64(at + 8 * i);
        const int is_whole = value >= 0.0 && value < 0x1p32 && value == (double)(uint64_t)value;
        const uint64_t integer = is_whole ? (uint64_t)value : 0;
        if (vy_reply_is_whole(f->type) && !is_whole) return 0;
        memcpy(to + 8 * i, vy_reply_is_whole(f->type) ? (const void *)&integer : (const void *)&value, 8);
    }
    return 1;
}

size_t vy_wire_put_reply(const vy_intent *intent, uint64_t tick, int rotor_count, unsigned char *out)
{
    const int rung = (int)intent->rung;
    const int count = vy_wire_rung_number_count(rung, rotor_count);
    if (count < 0) return 0;
    const int optional_count = count_optional_numbers(intent);
    VY_ASSERT(2 + count + optional_count <= REPLY_CAP);
    vy_wire_put_size(8 * (2 + (uint32_t)(count + optional_count)), out);
    unsigned char *at = out + FRAME_HEAD_SIZE;
    put_f64((double)tick, at);
    put_f64((double)rung, at + 8);
    at += 16;
    unsigned char *const end = at + 8 * (count + optional_count);
    int field_count;
    const vy_reply_field *fields = vy_reply_fields(&field_count);
    for (int i = 0; i < field_count; ++i)
        at = put_field(intent, &fields[i], rung_number_count(&fields[i], rung, rotor_count), at);
    for (int i = 0; i < field_count && at < end; ++i) {
        if (fields[i].rungs == VY_REPLY_ANY) at = put_field(intent, &fields[i], fields[i].count, at);
    }
    VY_ASSERT(at == end);
    return (size_t)(end - out);
}

// Behind the `count` numbers of a rung, fields that go with any are there whole or not at all.
static int is_complete_size(const vy_reply_field *fields, int field_count, size_t numbers, size_t count)
{
    int is_complete = numbers == count;
    for (int i = 0; i < field_count; ++i) {
        if (fields[i].rungs != VY_REPLY_ANY) continue;
        count += (size_t)fields[i].count;
        is_complete |= numbers == count;
    }
    return is_complete;
}

vy_verdict vy_wire_get_reply(const unsigned char *numbers, size_t size, uint64_t tick, int rotor_count,
                             vy_intent *intent)
{
    intent->detail = (int32_t)size;
    if (size < 16 || size % 8 != 0) return VY_VERDICT_SIZE;
    const double request_tick = get_f64(numbers), rung_number = get_f64(numbers + 8);
    intent->detail = 0;
    if (!(rung_number >= 0.0 && rung_number < 256.0)) return VY_VERDICT_GARBAGE;
    const int rung = (int)rung_number;
    const int count = vy_wire_rung_number_count(rung, rotor_count);
    if ((double)rung != rung_number || count < 0) return VY_VERDICT_GARBAGE;
    int field_count;
    const vy_reply_field *fields = vy_reply_fields(&field_count);
    if (!is_complete_size(fields, field_count, size / 8 - 2, (size_t)count)) {
        intent->detail = (int32_t)size;
        return VY_VERDICT_SIZE;
    }
    vy_intent decoded = *intent;
    const unsigned char *at = numbers + 16, *const end = numbers + size;
    for (int i = 0; i < field_count; ++i) {
        const int field_number_count = rung_number_count(&fields[i], rung, rotor_count);
        (void)get_field(at, &fields[i], field_number_count, &decoded);
        at += 8 * field_number_count;
    }
    for (int i = 0; i < field_count && at < end; ++i) {
        if (fields[i].rungs != VY_REPLY_ANY) continue;
        if (!get_field(at, &fields[i], fields[i].count, &decoded)) return VY_VERDICT_GARBAGE;
        at += 8 * fields[i].count;
    }
    VY_ASSERT(at == end);
    if (request_tick != (double)tick) return VY_VERDICT_FLOODED; // a reply to no request, or to an older one
    *intent = decoded;
    intent->rung = (vy_rung)rung;
    intent->detail = 0;
    return VY_VERDICT_REPLIED;
}
