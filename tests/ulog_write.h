// ulog_write.h - a small ULog file for tests: header, formats, subscriptions, messages.
#pragma once
#include "check.h"
#include <stdint.h>
#include <stdlib.h>

typedef struct ulog_file {
    unsigned char *data;
    size_t size;
} ulog_file;

static inline void ulog_put(ulog_file *f, const void *bytes, size_t size)
{
    f->data = realloc(f->data, f->size + size);
    assert_non_null(f->data);
    memcpy(f->data + f->size, bytes, size);
    f->size += size;
}

static inline void ulog_record(ulog_file *f, char type, const void *body, size_t size)
{
    const unsigned char head[3] = {(unsigned char)(size & 255), (unsigned char)(size >> 8),
                                   (unsigned char)type};
    ulog_put(f, head, sizeof head);
    ulog_put(f, body, size);
}

static inline void ulog_subscribe(ulog_file *f, unsigned id, const char *name)
{
    unsigned char body[64] = {0, (unsigned char)id, 0};
    memcpy(body + 3, name, strlen(name));
    ulog_record(f, 'A', body, 3 + strlen(name));
}

/// A message: its time [us], then floats.
static inline void ulog_data(ulog_file *f, unsigned id, uint64_t time, const float *values, int count)
{
    unsigned char body[200] = {(unsigned char)id, 0};
    memcpy(body + 2, &time, 8);
    memcpy(body + 10, values, 4 * (size_t)count);
    ulog_record(f, 'D', body, 10 + 4 * (size_t)count);
}

/// `rows` samples of an IMU at 250 Hz, commands, attitude and position at 125 Hz; of a drone that hovers and
/// turns.
static inline ulog_file ulog_sample(int rows)
{
    static const char *const formats[] = {
        ("sensor_combined:uint64_t timestamp;float[3] gyro_rad;uint32_t gyro_integral_dt;float[3] "
         "accelerometer_m_s2;"),
        "actuator_motors:uint64_t timestamp;float[8] control;",
        "vehicle_attitude:uint64_t timestamp;float[4] q;",
        "vehicle_local_position:uint64_t timestamp;float x;float y;float z;float vx;float vy;float vz;",
    };
    ulog_file f = {NULL, 0};
    const unsigned char head[16] = {'U', 'L', 'o', 'g', 0x01, 0x12, 0x35, 1};
    const unsigned char flags[40] = {0};
    ulog_put(&f, head, sizeof head);
    ulog_record(&f, 'B', flags, sizeof flags);
    for (int i = 0; i < 4; ++i) ulog_record(&f, 'F', formats[i], strlen(formats[i]));
    ulog_subscribe(&f, 0, "sensor_combined");
    ulog_subscribe(&f, 1, "actuator_motors");
    ulog_subscribe(&f, 2, "vehicle_attitude");
    ulog_subscribe(&f, 3, "vehicle_local_position");
    for (int i = 0; i < rows; ++i) {
        const uint64_t time = 1000000u + 4000u * (uint64_t)i;
        const float k = (float)i,
                    motors[8] = {0.5f, 0.51f, 0.52f, 0.53f, (float)NAN, (float)NAN, (float)NAN, (float)NAN};
        const float imu[7] = {0.1f, 0.2f, 0.3f, 0.0f, 1.0f, 2.0f, -9.8f};
        // Heading east, nose level: a quarter turn to the right about down.
        const float q[4] = {0.70710678f, 0.0f, 0.0f, 0.70710678f},
                    place[6] = {1.0f, 2.0f, -3.0f, 0.1f, 0.2f, -0.3f + 0.0f * k};
        if (i % 2 == 0) {
            ulog_data(&f, 1, time, motors, 8);
            ulog_data(&f, 2, time, q, 4);
            ulog_data(&f, 3, time, place, 6);
        }
        ulog_data(&f, 0, time, imu, 7);
    }
    return f;
}
