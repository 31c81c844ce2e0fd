// crtp_toc.c - the tables of a Crazyflie, of what can be logged and of parameters, and the blocks of a
// log.
#include "bridge/crtp.h"
#include "base/assert.h"
#include <errno.h>
#include <math.h>
#include <string.h>

enum {
    TOC_CHANNEL,  // channel of a table
    GET_ITEM = 2, // version 2: numbers of two bytes
    GET_INFO = 3,
    LOG_SETTINGS = 1, // channels of a log
    LOG_DATA = 2,
    LOG_DATA_CAP = 26, // [bytes] behind the block's number and the time
    BLOCK_DELETE = 2,
    BLOCK_START = 3,
    BLOCK_STOP = 4,
    BLOCK_RESET = 5,
    BLOCK_CREATE = 6,
    BLOCK_APPEND = 7,
    PARAM_READ = 1, // channels of parameters
    PARAM_WRITE = 2,
    PARAM_MISC = 3,
    PARAM_SET_BY_NAME = 0,
    PARAM_DEFAULT = 6,
    PARAM_EXTENDED_2 = 7,
    PARAM_DEFAULT_2 = 8,
    PARAM_READ_ONLY = 0x40,
};

typedef struct toc_item {
    const char *group, *name;
    uint8_t type;
    int is_writable;
    double default_value;
} toc_item;

#define LOG_ITEM(group, name, type)                    {#group, #name, CRTP_##type, 0, 0.0},
#define PARAM_ITEM(group, name, type, writable, value) {#group, #name, CRTP_##type, writable, value},
static const toc_item log_items[] = {CRTP_LOG_LIST(LOG_ITEM)};
static const toc_item param_items[] = {CRTP_PARAM_LIST(PARAM_ITEM)};

static size_t type_size(uint8_t type)
{
    static const uint8_t sizes[] = {0, 1, 2, 4, 1, 2, 4, 4, 2};
    return type < sizeof sizes ? sizes[type] : 0;
}

// Types of parameters have other numbers: size in two bits, 4 for floats, 8 for unsigned ones.
static uint8_t param_type(uint8_t type)
{
    static const uint8_t wire_types[] = {0, 0x08, 0x09, 0x0a, 0x00, 0x01, 0x02, 0x06, 0x05};
    return wire_types[type];
}

// The nearest number of half precision, as bits; beyond its range infinity.
static uint16_t half_bits(double value)
{
    const uint16_t sign = signbit(value) ? 0x8000 : 0;
    const double magnitude = fabs(value);
    int exponent = 0;
    if (isnan(value)) return 0x7e00;
    if (magnitude >= 65520.0) return sign | 0x7c00;
    double scaled = magnitude;
    while (scaled >= 2.0) scaled *= 0.5, ++exponent;
    while (scaled < 1.0 && exponent > -14) scaled *= 2.0, --exponent;
    const double mantissa = floor(scaled * 1024.0 + 0.5); // below 1024 it is subnormal
    return (uint16_t)(sign + ((exponent + 14) << 10) + (int)mantissa);
}

static double clamped(double value, double low, double high)
{
    return !(value > low) ? low : value > high ? high : value;
}

static size_t put_value(uint8_t *out, uint8_t type, double value)
{
    const size_t size = type_size(type);
    switch (type) {
    case CRTP_FLOAT: vy_crtp_put(out, vy_crtp_float_bits(value), size); break;
    case CRTP_FP16: vy_crtp_put(out, half_bits(value), size); break;
    case CRTP_UINT8:
    case CRTP_UINT16:
    case CRTP_UINT32:
        vy_crtp_put(out, (uint64_t)clamped(value, 0.0, (double)((1ull << (8 * size)) - 1)), size);
        break;
    default: {
        const double max = (double)(1ull << (8 * size - 1));
        vy_crtp_put(out, (uint64_t)(int64_t)clamped(value, -max, max - 1.0), size);
    }
    }
    return size;
}

static double get_value(const uint8_t *data, uint8_t type)
{
    const size_t size = type_size(type);
    const uint32_t bits = vy_crtp_get(data, size);
    if (type == CRTP_FLOAT) return vy_crtp_get_float(data);
    if (type == CRTP_INT8) return (double)(int8_t)bits;
    VY_ASSERT(type >= CRTP_UINT8 && type <= CRTP_UINT32); // no others are in the table
    return (double)bits;
}

// --- tables

static int handle_toc(const toc_item *items, uint16_t count, int is_param, const uint8_t *data, size_t size,
                      crtp_packet *answer)
{
    uint32_t crc = 0;
    if (size < 1) return 0;
    answer->data[0] = data[0];
    if (data[0] == GET_INFO) {
        for (uint16_t i = 0; i < count; ++i)
            crc = vy_crtp_crc(crc, items[i].type, items[i].group, items[i].name);
        vy_crtp_put(answer->data + 1, count, 2);
        vy_crtp_put(answer->data + 3, crc, 4);
        answer->size = 7;
        if (is_param) return 1;
        answer->data[7] = CRTP_BLOCK_CAP;
        answer->data[8] = 128; // variables in all
        answer->size = 9;
        return 1;
    }
    if (data[0] != GET_ITEM || size < 3) return 0;
    const uint32_t id = vy_crtp_get(data + 1, 2);
    memcpy(answer->data + 1, data + 1, 2);
    answer->size = 3;
    if (id >= count) return 1;
    const toc_item *item = &items[id];
    const uint8_t type = !is_param           ? item->type
                         : item->is_writable ? param_type(item->type)
                                             : (uint8_t)(param_type(item->type) | PARAM_READ_ONLY);
    return vy_crtp_put_item(answer, 3, type, item->group, item->name);
}

// --- logs

static crtp_log_block *find_block(crtp_device *d, uint8_t id)
{
    for (int i = 0; i < CRTP_BLOCK_CAP; ++i)
        if (d->blocks[i].is_used && d->blocks[i].id == id) return &d->blocks[i];
    return NULL;
}

static crtp_log_block *free_block(crtp_device *d)
{
    for (int i = 0; i < CRTP_BLOCK_CAP; ++i)
        if (!d->blocks[i].is_used) return &d->blocks[i];
    return NULL;
}

static int append_variables(crtp_log_block *b, const uint8_t *data, size_t size)
{
    size_t bytes = 0;
    for (int i = 0; i < b->count; ++i) bytes += type_size(b->types[i]);
    crtp_log_block extended_block = *b;
    for (; size >= 3; data += 3, size -= 3) {
        const uint8_t type = data[0] & 0x0f;
        const uint32_t id = vy_crtp_get(data + 1, 2);
        if (type_size(type) == 0 || id >= CRTP_LOG_COUNT) return ENOENT;
        bytes += type_size(type);
        if (bytes > LOG_DATA_CAP) return E2BIG;
        VY_ASSERT(extended_block.count < CRTP_VARIABLE_CAP);
        extended_block.types[extended_block.count] = type;
        extended_block.variables[extended_block.count++] = (uint16_t)id;
    }
    *b = extended_block;
    return 0;
}

static int start_block(crtp_device *d, crtp_log_block *b, uint8_t tens_of_ms)
{
    if (tens_of_ms == 0) return EINVAL;
    b->is_started = 1;
    b->period = 0.01 * tens_of_ms;
    b->next_time = d->time;
    d->has_started = 1;
    return 0;
}

static int set_block(crtp_device *d, const uint8_t *data, size_t size)
{
    crtp_log_block *b = find_block(d, data[1]);
    if (data[0] == BLOCK_CREATE) {
        if (b != NULL) return EEXIST;
        b = free_block(d);
        if (b == NULL) return ENOMEM;
        crtp_log_block new_block = {.is_used = 1, .id = data[1]};
        const int error = append_variables(&new_block, data + 2, size - 2);
        if (error == 0) *b = new_block;
        return error;
    }
    if (b == NULL) return ENOENT;
    switch (data[0]) {
    case BLOCK_APPEND: return append_variables(b, data + 2, size - 2);
    case BLOCK_DELETE: *b = (crtp_log_block){0}; return 0;
    case BLOCK_START: return size < 3 ? EINVAL : start_block(d, b, data[2]);
    case BLOCK_STOP: b->is_started = 0; return 0;
    default: return ENOEXEC;
    }
}

int vy_crtp_handle_log(crtp_device *d, int channel, const uint8_t *data, size_t size, crtp_packet *answer)
{
    if (channel == TOC_CHANNEL) return handle_toc(log_items, CRTP_LOG_COUNT, 0, data, size, answer);
    if (channel != LOG_SETTINGS || size < 1) return 0;
    answer->data[0] = data[0];
    answer->size = 3;
    if (data[0] == BLOCK_RESET) {
        memset(d->blocks, 0, sizeof d->blocks);
        return 1;
    }
    if (size < 2) return 0;
    answer->data[1] = data[1];
    answer->data[2] = (uint8_t)set_block(d, data, size);
    return 1;
}

int vy_crtp_log_next(crtp_device *d, crtp_packet *out)
{
    for (int i = 0; i < CRTP_BLOCK_CAP; ++i) {
        crtp_log_block *b = &d->blocks[i];
        if (!b->is_started || d->time + 1e-6 < b->next_time) continue;
        b->next_time += b->period;
        if (b->next_time <= d->time) b->next_time = d->time + b->period; // slower steps than it asks for
        *out = (crtp_packet){.header = CRTP_LOG << 4 | 0x0c | LOG_DATA};
        out->data[0] = b->id;
        vy_crtp_put(out->data + 1, (uint64_t)(1e3 * d->time + 0.5), 3); // [ms]
        size_t offset = 4;
        for (int k = 0; k < b->count; ++k)
            offset += put_value(out->data + offset, b->types[k], d->values[b->variables[k]]);
        out->size = (uint8_t)offset;
        return 1;
    }
    return 0;
}

// --- parameters

// Behind the number and a status: 0 and a value, or ENOENT.
static int put_param(crtp_packet *answer, size_t offset, uint32_t id, double value)
{
    answer->data[offset] = 0;
    answer->size = (uint8_t)(offset + 1 + put_value(answer->data + offset + 1, param_items[id].type, value));
    return 1;
}

static void set_by_name(crtp_device *d, const uint8_t *data, size_t size)
{
    for (int i = 0; i < CRTP_PARAM_COUNT; ++i) {
        const size_t group_size = strlen(param_items[i].group) + 1,
                     name_size = strlen(param_items[i].name) + 1;
        const size_t value_at = 1 + group_size + name_size + 1;
        if (!param_items[i].is_writable || size < value_at + type_size(param_items[i].type)) continue;
        if (memcmp(data + 1, param_items[i].group, group_size) != 0 ||
            memcmp(data + 1 + group_size, param_items[i].name, name_size) != 0 ||
            data[value_at - 1] != param_type(param_items[i].type))
            continue;
        d->parameters[i] = get_value(data + value_at, param_items[i].type);
    }
}

static int handle_param_misc(crtp_device *d, const uint8_t *data, size_t size, crtp_packet *answer)
{
    if (size >= 1 && data[0] == PARAM_SET_BY_NAME) set_by_name(d, data, size);
    if (size < 3 || data[0] == PARAM_SET_BY_NAME) return 0;
    const uint32_t id = vy_crtp_get(data + 1, 2);
    memcpy(answer->data, data, 3);
    answer->data[3] = ENOENT;
    answer->size = 4;
    if (id >= CRTP_PARAM_COUNT) return 1;
    if (data[0] == PARAM_DEFAULT_2) return put_param(answer, 3, id, param_items[id].default_value);
    if (data[0] == PARAM_DEFAULT) {
        answer->size =
            (uint8_t)(3 + put_value(answer->data + 3, param_items[id].type, param_items[id].default_value));
        return 1;
    }
    if (data[0] == PARAM_EXTENDED_2) { // none is persistent
        answer->data[3] = 0;
        answer->size = 5;
    }
    return 1;
}

int vy_crtp_handle_param(crtp_device *d, int channel, const uint8_t *data, size_t size, crtp_packet *answer)
{
    if (channel == TOC_CHANNEL) return handle_toc(param_items, CRTP_PARAM_COUNT, 1, data, size, answer);
    if (channel == PARAM_MISC) return handle_param_misc(d, data, size, answer);
    if (size < 2) return 0;
    const uint32_t id = vy_crtp_get(data, 2);
    memcpy(answer->data, data, 2);
    answer->data[2] = ENOENT;
    answer->size = 3;
    if (id >= CRTP_PARAM_COUNT) return 1;
    const uint8_t type = param_items[id].type;
    if (channel == PARAM_READ) return put_param(answer, 2, id, d->parameters[id]);
    if (param_items[id].is_writable && size >= 2 + type_size(type))
        d->parameters[id] = get_value(data + 2, type);
    answer->size = (uint8_t)(2 + put_value(answer->data + 2, type, d->parameters[id])); // what it is now
    return 1;
}
