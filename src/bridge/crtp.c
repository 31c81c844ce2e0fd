// crtp.c - a Crazyflie's ports: link, platform, supervisor, memory; the tables and setpoints have their own
// files.
#include "bridge/crtp.h"
#include "base/assert.h"
#include <errno.h>
#include <string.h>

enum {
    PROTOCOL_VERSION = 12,
    MEMORY_TRAJECTORY = 0x12, // type of the one memory
    MEMORY_PIECE_CAP = 24,    // [bytes] read or written at once
    SUPERVISOR_STATE = 0x0c,
    SUPERVISOR_ARM = 1,
    SUPERVISOR_RECOVER = 2,
    SUPERVISOR_STOP = 3,
    SUPERVISOR_REPLY = 0x80,
    LOCALIZATION_STOP = 3,
    BIT_CAN_BE_ARMED = 1 << 0,
    BIT_ARMED = 1 << 1,
    BIT_AUTO_ARMED = 1 << 2,
    BIT_CAN_FLY = 1 << 3,
    BIT_FLYING = 1 << 4,
    BIT_LOCKED = 1 << 6,
    BIT_PLAN_ACTIVE = 1 << 8,
    BIT_PLAN_FINISHED = 1 << 9,
    BIT_PLAN_DISABLED = 1 << 10,
};

void vy_crtp_put(uint8_t *out, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; ++i) out[i] = (uint8_t)(value >> (8 * i));
}

uint32_t vy_crtp_get(const uint8_t *data, size_t size)
{
    uint32_t value = 0;
    for (size_t i = 0; i < size; ++i) value |= (uint32_t)data[i] << (8 * i);
    return value;
}

double vy_crtp_get_float(const uint8_t *data)
{
    const uint32_t bits = vy_crtp_get(data, 4);
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

uint32_t vy_crtp_float_bits(double value)
{
    const float single = (float)value;
    uint32_t bits;
    memcpy(&bits, &single, sizeof bits);
    return bits;
}

static uint32_t crc_bytes(uint32_t crc, const void *bytes, size_t size)
{
    const uint8_t *b = bytes;
    for (size_t i = 0; i < size; ++i) {
        crc ^= b[i];
        for (int k = 0; k < 8; ++k) crc = crc >> 1 ^ ((crc & 1u) != 0 ? 0xedb88320u : 0u);
    }
    return crc;
}

uint32_t vy_crtp_crc(uint32_t crc, uint8_t type, const char *group, const char *name)
{
    crc = crc_bytes(~crc, &type, 1);
    crc = crc_bytes(crc, group, strlen(group) + 1);
    return ~crc_bytes(crc, name, strlen(name) + 1);
}

int vy_crtp_put_item(crtp_packet *answer, size_t offset, uint8_t type, const char *group, const char *name)
{
    const size_t group_size = strlen(group) + 1, name_size = strlen(name) + 1;
    VY_ASSERT(offset + 1 + group_size + name_size <= CRTP_DATA_CAP);
    answer->data[offset] = type;
    memcpy(answer->data + offset + 1, group, group_size);
    memcpy(answer->data + offset + 1 + group_size, name, name_size);
    answer->size = (uint8_t)(offset + 1 + group_size + name_size);
    return 1;
}

#define PARAM_VALUE(group, name, type, writable, value) value,

void vy_crtp_begin(crtp_device *out)
{
    static const double default_values[] = {CRTP_PARAM_LIST(PARAM_VALUE)};
    *out = (crtp_device){.is_armed = 1};
    memcpy(out->parameters, default_values, sizeof default_values);
}

uint16_t vy_crtp_supervisor(const crtp_device *d)
{
    const int has_plan = d->control_mode == CRTP_PLAN || d->control_mode == CRTP_LANDING;
    const int has_ended = !has_plan || d->time >= d->plan.begin + vy_crtp_plan_duration(&d->plan);
    const int can_fly = d->is_armed && !d->is_locked;
    return (uint16_t)((d->is_locked ? BIT_LOCKED : BIT_CAN_BE_ARMED) | (d->is_armed ? BIT_ARMED : 0) |
                      BIT_AUTO_ARMED | (can_fly ? BIT_CAN_FLY : 0) |
                      (d->control_mode != CRTP_OFF ? BIT_FLYING : 0) | (has_plan ? BIT_PLAN_ACTIVE : 0) |
                      (has_ended ? BIT_PLAN_FINISHED : 0) |
                      (d->control_mode == CRTP_VELOCITY || d->control_mode == CRTP_POSITION
                           ? BIT_PLAN_DISABLED
                           : 0));
}

static void arm(crtp_device *d, int is_on)
{
    d->has_started = 1;
    d->is_armed = is_on && !d->is_locked;
    if (!d->is_armed) d->control_mode = CRTP_OFF;
}

static void stop_for_good(crtp_device *d)
{
    d->has_started = 1;
    d->is_locked = 1;
    arm(d, 0);
}

static int handle_link(int channel, const uint8_t *data, size_t size, crtp_packet *answer)
{
    static const char device_name[] = "Bitcraze Crazyflie";
    if (channel == 0) { // echo
        memcpy(answer->data, data, size);
        answer->size = (uint8_t)size;
        return 1;
    }
    if (channel != 1) return 0;
    memcpy(answer->data, device_name, sizeof device_name);
    answer->size = CRTP_DATA_CAP; // its source sends full packets
    return 1;
}

static int handle_platform(crtp_device *d, int channel, const uint8_t *data, size_t size, crtp_packet *answer)
{
    enum { COMMAND, VERSION };
    static const char revision[] = "Volery";
    if (channel == COMMAND && size >= 2 && data[0] == 1) arm(d, data[1] != 0);
    if (channel == COMMAND && size >= 1) {
        memcpy(answer->data, data, size);
        answer->size = (uint8_t)size;
        return 1;
    }
    if (channel != VERSION || size < 1 || data[0] > 2) return 0;
    answer->data[0] = data[0];
    if (data[0] == 0) {
        answer->data[1] = PROTOCOL_VERSION;
        answer->size = 2;
    } else { // firmware's version, the kind of device
        memcpy(answer->data + 1, revision, sizeof revision);
        answer->size = (uint8_t)(1 + sizeof revision);
    }
    return 1;
}

static int handle_supervisor(crtp_device *d, int channel, const uint8_t *data, size_t size,
                             crtp_packet *answer)
{
    enum { INFO, COMMAND };
    if (size < 1) return 0;
    answer->data[0] = data[0] | SUPERVISOR_REPLY;
    if (channel == INFO && data[0] == SUPERVISOR_STATE) {
        vy_crtp_put(answer->data + 1, vy_crtp_supervisor(d), 2);
        answer->size = 3;
        return 1;
    }
    if (channel == INFO && data[0] >= 1 && data[0] < SUPERVISOR_STATE) {
        answer->data[1] = vy_crtp_supervisor(d) >> (data[0] - 1) & 1;
        answer->size = 2;
        return 1;
    }
    if (channel != COMMAND) return 0;
    if (data[0] == SUPERVISOR_STOP) stop_for_good(d);
    if (data[0] == SUPERVISOR_ARM && size >= 2) {
        arm(d, data[1] != 0);
        answer->data[1] = d->is_armed == (data[1] != 0);
        answer->data[2] = (uint8_t)d->is_armed;
        answer->size = 3;
        return 1;
    }
    if (data[0] != SUPERVISOR_RECOVER) return 0;
    answer->data[1] = answer->data[2] = !d->is_locked;
    answer->size = 3;
    return 1;
}

// The one memory: trajectories that the client uploads.
static int handle_memory(crtp_device *d, int channel, const uint8_t *data, size_t size, crtp_packet *answer)
{
    enum { INFO, READ, WRITE };
    if (channel == INFO && size >= 1 && data[0] == 1) {
        answer->data[0] = 1;
        answer->data[1] = 1;
        answer->size = 2;
        return 1;
    }
    if (channel == INFO && size >= 2 && data[0] == 2) {
        answer->data[0] = 2;
        answer->data[1] = data[1];
        answer->size = 2;
        if (data[1] != 0) return 1; // there is no such one
        answer->data[2] = MEMORY_TRAJECTORY;
        vy_crtp_put(answer->data + 3, CRTP_MEMORY_SIZE, 4);
        answer->size = 2 + 1 + 4 + 8; // and its address, of 1-wire memories
        return 1;
    }
    if ((channel != READ && channel != WRITE) || size < 6) return 0;
    const uint32_t address = vy_crtp_get(data + 1, 4);
    const size_t count = channel == READ ? data[5] : size - 5;
    const int is_valid = data[0] == 0 && count <= MEMORY_PIECE_CAP && address <= CRTP_MEMORY_SIZE &&
                         count <= CRTP_MEMORY_SIZE - address;
    memcpy(answer->data, data, 5);
    answer->data[5] = is_valid ? 0 : EIO;
    answer->size = 6;
    if (!is_valid) return 1;
    if (channel == WRITE) {
        memcpy(d->memory + address, data + 5, count);
    } else {
        memcpy(answer->data + 6, d->memory + address, count);
        answer->size = (uint8_t)(6 + count);
    }
    return 1;
}

static int handle_high_level(crtp_device *d, const uint8_t *data, size_t size, crtp_packet *answer)
{
    if (size < 1) return 0;
    memcpy(answer->data, data, size < 3 ? size : 3);
    answer->data[3] = (uint8_t)vy_crtp_handle_high_level(d, data, size);
    answer->size = 4;
    return 1;
}

int vy_crtp_handle(crtp_device *d, const uint8_t *bytes, size_t size, crtp_packet *answer)
{
    if (size < 1 || size > 1 + CRTP_DATA_CAP) return 0;
    const int port = bytes[0] >> 4, channel = bytes[0] & 3;
    const uint8_t *data = bytes + 1;
    *answer = (crtp_packet){.header = bytes[0]};
    size -= 1;
    switch (port) {
    case CRTP_LINK: return handle_link(channel, data, size, answer);
    case CRTP_PLATFORM: return handle_platform(d, channel, data, size, answer);
    case CRTP_SUPERVISOR: return handle_supervisor(d, channel, data, size, answer);
    case CRTP_MEMORY: return handle_memory(d, channel, data, size, answer);
    case CRTP_LOG: return vy_crtp_handle_log(d, channel, data, size, answer);
    case CRTP_PARAM: return vy_crtp_handle_param(d, channel, data, size, answer);
    case CRTP_HIGH_LEVEL: return handle_high_level(d, data, size, answer);
    case CRTP_SETPOINT:
    case CRTP_GENERIC_SETPOINT: vy_crtp_handle_setpoint(d, port, channel, data, size); return 0;
    case CRTP_LOCALIZATION:
        if (channel == 1 && size >= 1 && data[0] == LOCALIZATION_STOP) stop_for_good(d);
        return 0;
    default: return 0; // nobody listens
    }
}
