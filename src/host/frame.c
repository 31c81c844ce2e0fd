// frame.c - samples and replies as numbers on a wire.
#include "host/frame.h"
#include "base/assert.h"
#include <stdio.h>
#include <string.h>

#define CELL(name, field)                    \
    {                                        \
        name, offsetof(vy_samples, field), 0 \
    }
#define WHOLE(name, field)                   \
    {                                        \
        name, offsetof(vy_samples, field), 1 \
    }
#define VEC(name, field)     CELL(name ".x", field.x), CELL(name ".y", field.y), CELL(name ".z", field.z)
#define QUAT(name, field)    CELL(name ".w", field.w), VEC(name, field)
#define ITEM(name, field, i) CELL(name "[" #i "]", field[i])
#define EIGHT(name, field, a, b, c, d, e, f, g, h)                                          \
    ITEM(name, field, a), ITEM(name, field, b), ITEM(name, field, c), ITEM(name, field, d), \
        ITEM(name, field, e), ITEM(name, field, f), ITEM(name, field, g), ITEM(name, field, h)

// Numbers of the samples in their order on the wire: append, never insert.
const wire_cell vy_wire_cells[] = {
    WHOLE("tick", tick),
    CELL("time", time),
    CELL("dt", dt),
    WHOLE("imu.tick", imu.tick),
    VEC("imu.accel", imu.accel),
    VEC("imu.gyro", imu.gyro),
    WHOLE("mocap.tick", mocap.tick),
    VEC("mocap.position", mocap.position),
    QUAT("mocap.attitude", mocap.attitude),
    VEC("estimate.position", estimate.position),
    VEC("estimate.velocity", estimate.velocity),
    QUAT("estimate.attitude", estimate.attitude),
    VEC("estimate.rate", estimate.rate),
    VEC("estimate.gyro_bias", estimate.gyro_bias),
    VEC("estimate.accel_bias", estimate.accel_bias),
    WHOLE("touch.contacts", touch.contacts),
    VEC("touch.impulse", touch.impulse),
    WHOLE("baro.tick", baro.tick),
    CELL("baro.pressure", baro.pressure),
    CELL("baro.altitude", baro.altitude),
    WHOLE("mag.tick", mag.tick),
    VEC("mag.field", mag.field),
    WHOLE("gps.tick", gps.tick),
    VEC("gps.position", gps.position),
    VEC("gps.velocity", gps.velocity),
    WHOLE("range.tick", range.tick),
    CELL("range.distance", range.distance),
    WHOLE("flow.tick", flow.tick),
    CELL("flow.x", flow.x),
    CELL("flow.y", flow.y),
    CELL("flow.quality", flow.quality),
    WHOLE("power.tick", power.tick),
    CELL("power.voltage", power.voltage),
    CELL("power.current", power.current),
    WHOLE("esc.tick", esc.tick),
    EIGHT("esc.speed", esc.speed, 0, 1, 2, 3, 4, 5, 6, 7),
    WHOLE("lidar.tick", lidar.tick),
    EIGHT("lidar.distance", lidar.distance, 0, 1, 2, 3, 4, 5, 6, 7),
    EIGHT("lidar.distance", lidar.distance, 8, 9, 10, 11, 12, 13, 14, 15),
    EIGHT("lidar.distance", lidar.distance, 16, 17, 18, 19, 20, 21, 22, 23),
    EIGHT("lidar.distance", lidar.distance, 24, 25, 26, 27, 28, 29, 30, 31),
    EIGHT("lidar.distance", lidar.distance, 32, 33, 34, 35, 36, 37, 38, 39),
    EIGHT("lidar.distance", lidar.distance, 40, 41, 42, 43, 44, 45, 46, 47),
    EIGHT("lidar.distance", lidar.distance, 48, 49, 50, 51, 52, 53, 54, 55),
    EIGHT("lidar.distance", lidar.distance, 56, 57, 58, 59, 60, 61, 62, 63),
};
const int vy_wire_cell_count = (int)(sizeof vy_wire_cells / sizeof vy_wire_cells[0]);
_Static_assert(sizeof(vy_samples) == 8 * sizeof vy_wire_cells / sizeof vy_wire_cells[0],
               "every sample is on the wire");

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
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_u64(bits, out);
}

static double get_f64(const unsigned char *in)
{
    const uint64_t bits = get_u64(in);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

uint32_t vy_wire_size(const unsigned char *head)
{
    return (uint32_t)head[0] | (uint32_t)head[1] << 8 | (uint32_t)head[2] << 16 | (uint32_t)head[3] << 24;
}

void vy_wire_put_size(uint32_t size, unsigned char *head)
{
    for (int i = 0; i < 4; ++i) head[i] = (unsigned char)(size >> (8 * i));
}

size_t vy_wire_put_samples(const vy_samples *samples, unsigned char *out)
{
    const size_t size = 8 * (size_t)vy_wire_cell_count;
    vy_wire_put_size((uint32_t)size, out);
    VY_ASSERT(samples != NULL && vy_wire_size(out) == size);
    for (int i = 0; i < vy_wire_cell_count; ++i) {
        const wire_cell *c = &vy_wire_cells[i];
        const char *field = (const char *)samples + c->offset;
        double value;
        uint64_t whole;
        memcpy(&value, field, sizeof value);
        memcpy(&whole, field, sizeof whole);
        put_f64(c->whole ? (double)whole : value, out + FRAME_HEAD + 8 * i);
    }
    return FRAME_HEAD + size;
}

void vy_wire_get_samples(const unsigned char *numbers, vy_samples *out)
{
    for (int i = 0; i < vy_wire_cell_count; ++i) {
        const wire_cell *c = &vy_wire_cells[i];
        const double value = get_f64(numbers + 8 * i);
        const uint64_t whole = c->whole && value >= 0.0 && value < 0x1p63 ? (uint64_t)value : 0;
        memcpy((char *)out + c->offset, c->whole ? (const void *)&whole : (const void *)&value, 8);
    }
}

// The numbers of a rung are read and written in a row.
_Static_assert(offsetof(vy_intent, yaw_rate) == offsetof(vy_intent, velocity) + 3 * 8,
               "yaw rate behind velocity");
_Static_assert(offsetof(vy_intent, strafe) == offsetof(vy_intent, throttle) + 8 &&
                   offsetof(vy_intent, vertical) == offsetof(vy_intent, throttle) + 16 &&
                   offsetof(vy_intent, yaw) == offsetof(vy_intent, throttle) + 24,
               "the four sticks");
_Static_assert(2 + VY_ROTOR_CAP + 1 <= REPLY_CAP, "motors and what to let go fit");

// Where the numbers of a rung are in an intent.
static double *rung_field(vy_intent *intent, int rung)
{
    switch (rung) {
    case VY_RUNG_MOTORS: return intent->motors;
    case VY_RUNG_WRENCH: return &intent->torque.x;
    case VY_RUNG_RATES: return &intent->rates.x;
    case VY_RUNG_ATTITUDE: return &intent->attitude.w;
    case VY_RUNG_VELOCITY: return &intent->velocity.x; // and the yaw rate behind it
    case VY_RUNG_PILOT: return &intent->throttle;      // and the other sticks
    default: return NULL;
    }
}

int vy_wire_rung_numbers(int rung, int rotor_count)
{
    switch (rung) {
    case VY_RUNG_NONE: return 0;
    case VY_RUNG_MOTORS: return rotor_count;
    case VY_RUNG_WRENCH:
    case VY_RUNG_RATES: return 1 + 3;
    case VY_RUNG_ATTITUDE: return 1 + 4;
    case VY_RUNG_VELOCITY:
    case VY_RUNG_PILOT: return 4;
    default: return -1;
    }
}

size_t vy_wire_put_reply(const vy_intent *intent, uint64_t tick, int rotor_count, unsigned char *out)
{
    const int rung = (int)intent->rung;
    const int count = vy_wire_rung_numbers(rung, rotor_count);
    if (count < 0) return 0;
    const int more = intent->drop != 0; // who drops nothing need not say so
    VY_ASSERT(2 + count + more <= REPLY_CAP);
    vy_wire_put_size(8 * (2 + (uint32_t)(count + more)), out);
    unsigned char *at = out + FRAME_HEAD;
    put_f64((double)tick, at);
    put_f64((double)rung, at + 8);
    at += 16;
    vy_intent copy = *intent;
    const double *field = rung_field(&copy, rung);
    const int thrust = rung >= VY_RUNG_WRENCH && rung <= VY_RUNG_ATTITUDE;
    if (thrust) put_f64(intent->thrust, at);
    for (int i = 0; i < count - thrust; ++i) put_f64(field[i], at + 8 * (i + thrust));
    if (more) put_f64((double)intent->drop, at + 8 * count);
    return FRAME_HEAD + 8 * (2 + (size_t)(count + more));
}

vy_verdict vy_wire_get_reply(const unsigned char *numbers, size_t size, uint64_t tick, int rotor_count,
                             vy_intent *intent)
{
    intent->detail = (int32_t)size;
    if (size < 16 || size % 8 != 0) return VY_VERDICT_SIZE;
    const double at = get_f64(numbers), rung_number = get_f64(numbers + 8);
    if (!(rung_number >= 0.0 && rung_number < 256.0)) return VY_VERDICT_GARBAGE;
    const int rung = (int)rung_number;
    const int count = vy_wire_rung_numbers(rung, rotor_count);
    if ((double)rung != rung_number || count < 0) return VY_VERDICT_GARBAGE;
    const int more = size == 8 * (3 + (size_t)count);
    if (size != 8 * (2 + (size_t)(count + more))) return VY_VERDICT_SIZE;
    const double drop = more ? get_f64(numbers + 16 + 8 * count) : 0.0;
    if (!(drop >= 0.0 && drop < 0x1p32) || drop != (double)(uint64_t)drop) return VY_VERDICT_GARBAGE;
    if (at != (double)tick) return VY_VERDICT_FLOODED; // a reply to no question, or to an older one
    double *field = rung_field(intent, rung);
    VY_ASSERT(field != NULL || count == 0);
    const int thrust = rung >= VY_RUNG_WRENCH && rung <= VY_RUNG_ATTITUDE;
    if (thrust) intent->thrust = get_f64(numbers + 16);
    for (int i = 0; i < count - thrust; ++i) field[i] = get_f64(numbers + 16 + 8 * (i + thrust));
    intent->rung = (vy_rung)rung;
    intent->drop = (uint64_t)drop;
    intent->detail = 0;
    return VY_VERDICT_REPLIED;
}

// Names are identifiers: nothing in them needs an escape.
size_t vy_wire_print_start(const vy_plugin_start *start, char *out, size_t room)
{
    size_t n = 0;
#define PUT(...)                                                  \
    do {                                                          \
        const int put = snprintf(out + n, room - n, __VA_ARGS__); \
        if (put < 0 || (size_t)put >= room - n) return 0;         \
        n += (size_t)put;                                         \
    } while (0)
    PUT("{\"volery\": %d, \"drone\": \"%s\", \"dt\": %.17g, \"period\": %.17g, \"mass\": %.17g, \"inertia\": "
        "[",
        WIRE_VERSION, start->drone, start->dt, start->period, start->mass);
    for (int i = 0; i < 9; ++i) PUT("%s%.17g", i > 0 ? ", " : "", start->inertia.m[i / 3][i % 3]);
    PUT("], \"thrust_max\": %.17g, \"rotor_count\": %d, \"parameters\": {", start->thrust_max,
        start->rotor_count);
    for (int i = 0; i < start->parameter_count; ++i)
        PUT("%s\"%s\": %.17g", i > 0 ? ", " : "", start->parameters[i].name, start->parameters[i].value);
    PUT("}, \"samples\": [");
    for (int i = 0; i < vy_wire_cell_count; ++i) PUT("%s\"%s\"", i > 0 ? ", " : "", vy_wire_cells[i].name);
    PUT("]}");
#undef PUT
    return n;
}
