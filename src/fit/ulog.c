// ulog.c - a recorded flight from a ULog file, the log format of PX4.
#include "fit/ulog.h"
#include "base/fail.h"
#include "base/math.h"
#include "base/vec.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FILE_HEADER_SIZE = 16,   // magic, version and time of start
    MESSAGE_HEADER_SIZE = 3, // size and type of a message
    FORMATS_MAX = 512,
    MESSAGE_IDS_MAX = 1024,
    TOPIC_VALUES_MAX = 16,
};

static const unsigned char magic[7] = {'U', 'L', 'o', 'g', 0x01, 0x12, 0x35};

int vy_ulog_is(const void *data, size_t size)
{
    return size >= FILE_HEADER_SIZE && memcmp(data, magic, sizeof magic) == 0;
}

// Topics, and the fields of each that are read.
enum { IMU, MOTORS, OUTPUTS, ATTITUDE, POSITION, BATTERY, TOPICS };
static const struct {
    const char *name;
    const char *fields[4]; // with how many values each
    int counts[4];
} topics[TOPICS] = {
    {"sensor_combined", {"gyro_rad", "accelerometer_m_s2"}, {3, 3}},
    {"actuator_motors", {"control"}, {8}},
    {"actuator_outputs", {"output"}, {8}},
    {"vehicle_attitude", {"q"}, {4}},
    {"vehicle_local_position", {"x", "vx"}, {3, 3}}, // y, z and vy, vz follow each
    {"battery_status", {"voltage_v"}, {1}},
};

typedef struct text {
    const char *begin;
    size_t size;
} text;

typedef struct topic_layout {
    int is_complete;
    size_t time_offset; // where its time is in a message
    size_t offset[4];
} topic_layout;

typedef struct reader {
    const unsigned char *data;
    size_t size;
    const char *name;
    text formats[FORMATS_MAX];
    int format_count;
    unsigned char topic_of[MESSAGE_IDS_MAX]; // 1 + topic; 0: not read
    topic_layout layouts[TOPICS];
    double latest[TOPICS][TOPIC_VALUES_MAX];
    int has_message[TOPICS], is_updated[TOPICS];
    double *rows; // of ROW_WIDTH numbers
    size_t count, capacity;
} reader;

// A row: time, rates, specific force, eight commands, attitude, position, velocity, voltage.
enum {
    COLUMN_RATE = 1,
    COLUMN_ACCEL = 4,
    COLUMN_MOTOR = 7,
    COLUMN_ATTITUDE = 15,
    COLUMN_POSITION = 19,
    COLUMN_VELOCITY = 22,
    COLUMN_VOLTAGE = 25,
    ROW_WIDTH
};

static vy_status fail(const reader *r, vy_error *err, vy_status status, const char *format, ...)
    VY_PRINTF(4, 5);
static vy_status fail(const reader *r, vy_error *err, vy_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vy_fail_at(err, r->name, 0, 0, status, format, args);
    va_end(args);
    return status;
}

static uint64_t read_uint(const unsigned char *bytes_at, int bytes)
{
    uint64_t value = 0;
    for (int i = bytes - 1; i >= 0; --i) value = value << 8 | bytes_at[i];
    return value;
}

static double read_float(const unsigned char *bytes_at)
{
    const uint32_t pattern = (uint32_t)read_uint(bytes_at, 4);
    float value;
    memcpy(&value, &pattern, sizeof value);
    return (double)value;
}

static int is_word(const char *letters, size_t size, const char *word)
{
    return strlen(word) == size && memcmp(letters, word, size) == 0;
}

static const text *format_find(const reader *r, const char *name, size_t size)
{
    for (int i = 0; i < r->format_count; ++i) {
        const char *colon = memchr(r->formats[i].begin, ':', r->formats[i].size);
        if (colon != NULL && (size_t)(colon - r->formats[i].begin) == size &&
            memcmp(r->formats[i].begin, name, size) == 0)
            return &r->formats[i];
    }
    return NULL;
}

static size_t basic_size(const char *type, size_t size)
{
    static const struct {
        const char *name;
        size_t size;
    } types[] = {{"int8_t", 1},  {"uint8_t", 1},  {"int16_t", 2}, {"uint16_t", 2},
                 {"int32_t", 4}, {"uint32_t", 4}, {"int64_t", 8}, {"uint64_t", 8},
                 {"float", 4},   {"double", 8},   {"bool", 1},    {"char", 1}};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; ++i) {
        if (is_word(type, size, types[i].name)) return types[i].size;
    }
    return 0;
}

// Where the fields of a topic are in its messages, from its format "name:float[3] gyro_rad;uint64_t
// timestamp;". Nested formats are not in any that is read: behind one nothing is found.
static void resolve_layout(const text *format, int topic, topic_layout *out)
{
    const char *field_begin = (const char *)memchr(format->begin, ':', format->size) + 1,
               *format_end = format->begin + format->size;
    size_t offset = 0;
    int found_count = 0, has_time = 0;
    while (field_begin < format_end) {
        const char *field_end = memchr(field_begin, ';', (size_t)(format_end - field_begin));
        if (field_end == NULL) field_end = format_end;
        const char *space = memchr(field_begin, ' ', (size_t)(field_end - field_begin));
        if (space == NULL) break;
        const char *bracket = memchr(field_begin, '[', (size_t)(space - field_begin));
        const size_t type_size = (size_t)((bracket != NULL ? bracket : space) - field_begin),
                     value_size = basic_size(field_begin, type_size);
        size_t count = bracket != NULL ? 0 : 1;
        for (const char *c = bracket != NULL ? bracket + 1 : space;
             c < space && *c >= '0' && *c <= '9' && count < 10000; ++c)
            count = 10 * count + (size_t)(*c - '0');
        if (value_size == 0) break;
        const size_t name_size = (size_t)(field_end - space - 1);
        if (is_word(space + 1, name_size, "timestamp")) out->time_offset = offset, has_time = value_size == 8;
        for (int k = 0; k < 4 && topics[topic].fields[k] != NULL; ++k) {
            if (is_word(space + 1, name_size, topics[topic].fields[k]) &&
                is_word(field_begin, type_size, "float")) {
                out->offset[k] = offset;
                found_count += 1;
            }
        }
        offset += value_size * count;
        field_begin = field_end + 1;
    }
    int wanted_count = 0;
    while (wanted_count < 4 && topics[topic].fields[wanted_count] != NULL) ++wanted_count;
    out->is_complete = has_time && found_count == wanted_count;
}

static void read_subscription(reader *r, const unsigned char *body, size_t size)
{
    if (size < 4 || body[0] != 0) return; // the first instance alone
    const uint64_t id = read_uint(body + 1, 2);
    const char *name = (const char *)body + 3;
    if (id >= MESSAGE_IDS_MAX) return;
    r->topic_of[id] = 0;
    for (int t = 0; t < TOPICS; ++t) {
        const text *format = is_word(name, size - 3, topics[t].name) ? format_find(r, name, size - 3) : NULL;
        if (format == NULL) continue;
        resolve_layout(format, t, &r->layouts[t]);
        if (r->layouts[t].is_complete) r->topic_of[id] = (unsigned char)(1 + t);
    }
}

static vy_status add_row(reader *r, double time, vy_error *err)
{
    if (r->count == VY_FLIGHT_ROWS_MAX)
        return fail(r, err, VY_FULL, "a flight has up to %zu rows", VY_FLIGHT_ROWS_MAX);
    if (r->count == r->capacity) {
        const size_t capacity = r->capacity == 0 ? 4096 : 2 * r->capacity;
        double *grown = realloc(r->rows, capacity * ROW_WIDTH * sizeof *grown);
        if (grown == NULL) return fail(r, err, VY_NO_MEMORY, "no memory for a recorded flight");
        r->rows = grown;
        r->capacity = capacity;
    }
    double *row = r->rows + r->count++ * ROW_WIDTH;
    for (int i = 0; i < ROW_WIDTH; ++i) row[i] = math_nan();
    row[0] = time;
    const double *imu = r->latest[IMU], *q = r->latest[ATTITUDE], *p = r->latest[POSITION];
    // Forward-right-down to forward-left-up.
    for (int a = 0; a < 6; ++a) row[COLUMN_RATE + a] = a % 3 == 0 ? imu[a] : -imu[a];
    const int commands = r->has_message[MOTORS] ? MOTORS : OUTPUTS;
    for (int k = 0; k < 8; ++k) {
        // Outputs are pulse widths in microseconds, 1000 to 2000; a NaN is a motor that is off or not there.
        const double u =
            commands == MOTORS ? r->latest[MOTORS][k] : (r->latest[OUTPUTS][k] - 1000.0) / 1000.0;
        row[COLUMN_MOTOR + k] = u > 0.0 && u <= 1.001 ? u : 0.0;
    }
    if (r->is_updated[ATTITUDE]) {
        // World: north-east-down to east-north-up, a half turn about (1, 1, 0); body: a half turn about x.
        const double sqrt_half = 0.70710678118654752;
        const quat world = {0.0, sqrt_half, sqrt_half, 0.0}, body = {0.0, 1.0, 0.0, 0.0};
        const quat attitude = quat_mul(quat_mul(world, quat_make(q[0], q[1], q[2], q[3])), body);
        const double parts[4] = {attitude.w, attitude.x, attitude.y, attitude.z};
        for (int k = 0; k < 4; ++k) row[COLUMN_ATTITUDE + k] = parts[k];
    }
    if (r->is_updated[POSITION]) {
        for (int v = 0; v < 2; ++v) {
            row[COLUMN_POSITION + 3 * v] = p[3 * v + 1];
            row[COLUMN_POSITION + 3 * v + 1] = p[3 * v];
            row[COLUMN_POSITION + 3 * v + 2] = -p[3 * v + 2];
        }
    }
    if (r->is_updated[BATTERY]) row[COLUMN_VOLTAGE] = r->latest[BATTERY][0];
    memset(r->is_updated, 0, sizeof r->is_updated);
    return VY_OK;
}

static vy_status read_data_message(reader *r, const unsigned char *body, size_t size, vy_error *err)
{
    const uint64_t id = size >= 2 ? read_uint(body, 2) : MESSAGE_IDS_MAX;
    const int topic = id < MESSAGE_IDS_MAX ? r->topic_of[id] - 1 : -1;
    if (topic < 0) return VY_OK;
    const topic_layout *layout = &r->layouts[topic];
    const unsigned char *message = body + 2;
    int value_index = 0;
    size -= 2;
    for (int k = 0; k < 4 && topics[topic].fields[k] != NULL; ++k) {
        const size_t bytes = 4 * (size_t)topics[topic].counts[k];
        if (layout->offset[k] + bytes > size || layout->time_offset + 8 > size)
            return fail(r, err, VY_DAMAGED, "a message %s is shorter than its format says",
                        topics[topic].name);
        for (int i = 0; i < topics[topic].counts[k]; ++i)
            r->latest[topic][value_index++] = read_float(message + layout->offset[k] + 4 * (size_t)i);
    }
    r->has_message[topic] = r->is_updated[topic] = 1;
    const int can_add_row = r->has_message[IMU] && (r->has_message[MOTORS] || r->has_message[OUTPUTS]);
    if (topic != IMU || !can_add_row) return VY_OK;
    return add_row(r, 1e-6 * (double)read_uint(message + layout->time_offset, 8), err);
}

static vy_status read_messages(reader *r, vy_error *err)
{
    for (size_t offset = FILE_HEADER_SIZE; offset + MESSAGE_HEADER_SIZE <= r->size;) {
        const size_t size = (size_t)read_uint(r->data + offset, 2);
        const unsigned char type = r->data[offset + 2], *body = r->data + offset + MESSAGE_HEADER_SIZE;
        offset += MESSAGE_HEADER_SIZE + size;
        if (offset > r->size) break; // cut off: what came before is good
        vy_status status = VY_OK;
        if (type == 'F' && r->format_count < FORMATS_MAX) {
            r->formats[r->format_count++] = (text){(const char *)body, size};
        } else if (type == 'A') {
            read_subscription(r, body, size);
        } else if (type == 'D') {
            status = read_data_message(r, body, size, err);
        }
        if (status != VY_OK) return status;
    }
    if (!r->has_message[IMU])
        return fail(r, err, VY_NOT_FOUND,
                    "the log has no topic sensor_combined with gyro_rad and accelerometer_m_s2");
    if (!r->has_message[MOTORS] && !r->has_message[OUTPUTS])
        return fail(r, err, VY_NOT_FOUND,
                    "the log has neither actuator_motors nor actuator_outputs: no commands");
    return VY_OK;
}

// Columns of rows that have any value become quantities.
static vy_flight *flight_of(const reader *r)
{
    static const int quantity_of[ROW_WIDTH] = {
        [0] = VY_FLIGHT_TIME,
        [COLUMN_RATE] = VY_FLIGHT_RATE,
        [COLUMN_RATE + 1] = VY_FLIGHT_RATE + 1,
        [COLUMN_RATE + 2] = VY_FLIGHT_RATE + 2,
        [COLUMN_ACCEL] = VY_FLIGHT_ACCEL,
        [COLUMN_ACCEL + 1] = VY_FLIGHT_ACCEL + 1,
        [COLUMN_ACCEL + 2] = VY_FLIGHT_ACCEL + 2,
        [COLUMN_MOTOR] = VY_FLIGHT_MOTOR,
        [COLUMN_MOTOR + 1] = VY_FLIGHT_MOTOR + 1,
        [COLUMN_MOTOR + 2] = VY_FLIGHT_MOTOR + 2,
        [COLUMN_MOTOR + 3] = VY_FLIGHT_MOTOR + 3,
        [COLUMN_MOTOR + 4] = VY_FLIGHT_MOTOR + 4,
        [COLUMN_MOTOR + 5] = VY_FLIGHT_MOTOR + 5,
        [COLUMN_MOTOR + 6] = VY_FLIGHT_MOTOR + 6,
        [COLUMN_MOTOR + 7] = VY_FLIGHT_MOTOR + 7,
        [COLUMN_ATTITUDE] = VY_FLIGHT_ATTITUDE,
        [COLUMN_ATTITUDE + 1] = VY_FLIGHT_ATTITUDE + 1,
        [COLUMN_ATTITUDE + 2] = VY_FLIGHT_ATTITUDE + 2,
        [COLUMN_ATTITUDE + 3] = VY_FLIGHT_ATTITUDE + 3,
        [COLUMN_POSITION] = VY_FLIGHT_POSITION,
        [COLUMN_POSITION + 1] = VY_FLIGHT_POSITION + 1,
        [COLUMN_POSITION + 2] = VY_FLIGHT_POSITION + 2,
        [COLUMN_VELOCITY] = VY_FLIGHT_VELOCITY,
        [COLUMN_VELOCITY + 1] = VY_FLIGHT_VELOCITY + 1,
        [COLUMN_VELOCITY + 2] = VY_FLIGHT_VELOCITY + 2,
        [COLUMN_VOLTAGE] = VY_FLIGHT_VOLTAGE,
    };
    unsigned long long quantities = 0;
    for (int c = 0; c < ROW_WIDTH; ++c) {
        for (size_t i = 0; i < r->count; ++i) {
            if (!(r->rows[i * ROW_WIDTH + (size_t)c] == r->rows[i * ROW_WIDTH + (size_t)c])) continue;
            quantities |= 1ull << quantity_of[c];
            break;
        }
    }
    vy_flight *f = vy_flight_create(r->count, quantities);
    if (f == NULL) return NULL;
    f->start = r->count > 0 ? r->rows[0] : 0.0;
    for (size_t i = 0; i < r->count; ++i) {
        for (int c = 0; c < ROW_WIDTH; ++c) {
            double *values = f->values[quantity_of[c]];
            if (values != NULL) values[i] = r->rows[i * ROW_WIDTH + (size_t)c] - (c == 0 ? f->start : 0.0);
        }
    }
    return f;
}

vy_status vy_ulog_parse(const void *data, size_t size, const char *name, vy_flight **out, vy_error *err)
{
    reader *r = calloc(1, sizeof *r);
    *out = NULL;
    if (r == NULL) return vy_fail(err, VY_NO_MEMORY, "no memory for a recorded flight");
    r->data = data;
    r->size = size;
    r->name = name;
    vy_flight *f = NULL;
    vy_status status =
        vy_ulog_is(data, size) ? read_messages(r, err) : fail(r, err, VY_DAMAGED, "this is no ULog file");
    if (status == VY_OK) {
        f = flight_of(r);
        if (f == NULL) status = fail(r, err, VY_NO_MEMORY, "no memory for a recorded flight");
    }
    if (status == VY_OK) status = vy_flight_check(f, name, NULL, err);
    free(r->rows);
    free(r);
    if (status != VY_OK) {
        vy_flight_free(f);
        return status;
    }
    *out = f;
    return VY_OK;
}
