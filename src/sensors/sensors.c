// sensors.c - the list of sensors as tables, and what all of them have in common.
#include "sensors/sensors.h"
#include "base/assert.h"
#include "base/fail.h"
#include <stdio.h>
#include <string.h>

// A block begins with the tick and the sample, as the public sample does: they are copied whole.
#define CHECK_LAYOUT(id, stream, name, needs, text)                                                 \
    _Static_assert(offsetof(name##_block, tick) == 0, "the tick comes first");                      \
    _Static_assert(sizeof(vy_##name##_sample) == 8 * (1 + name##_WIDTH), "every number is a cell"); \
    _Static_assert(sizeof(name##_block) >= sizeof(vy_##name##_sample), "the sample is in the block");
SENSORS(CHECK_LAYOUT)
#define CHECK_IDS(id, stream, name, needs, text)                                      \
    _Static_assert(id < 32 && stream < 256 && offsetof(vy_##name##_def, period) == 0, \
                   "the period comes first");
SENSORS(CHECK_IDS)
DRONE_SENSORS(CHECK_IDS)

const sensor_row vy_sensors[SENSOR_KINDS] = {
#define SUITE_SENSOR_ROW(id, stream, name, needs, text)                                                    \
    [SENSOR_##                                                                                             \
        name] = {&vy_sensor_##name,         id, stream, name##_WIDTH, offsetof(vy_sensor_suite_def, name), \
                 offsetof(vy_samples, name)},
    SENSORS(SUITE_SENSOR_ROW)
#define DRONE_SENSOR_ROW(id, stream, name, needs, text) \
    [SENSOR_##name] = {&vy_sensor_##name, id, stream, name##_WIDTH, 0, offsetof(vy_samples, name)},
        DRONE_SENSORS(DRONE_SENSOR_ROW)};

const channel_row vy_channels[VY_CHANNEL_COUNT] = {
#define CHANNEL(sensor, channel, name, unit, at, cells, x, axes, width, help) \
    [VY_CHANNEL_##channel] = {{name, unit, help, at, cells, x, axes, width}, SENSOR_##sensor},
#define CHANNELS(id, stream, name, needs, text) CHANNELS_##name(CHANNEL, name)
    SENSORS(CHANNELS) DRONE_SENSORS(CHANNELS)};

vy_sensor_suite_def vy_default_sensor_suite_def(void)
{
    vy_sensor_suite_def def;
    memset(&def, 0, sizeof def);
    for (int i = 0; i < SENSOR_SUITE_KINDS; ++i) {
        const sensor_row *s = &vy_sensors[i];
        memcpy((char *)&def + s->def_offset, s->type->defaults, s->type->table->size);
    }
    return def;
}

const char *vy_sensor_part_name(const sensor_type *type, int index)
{
    VY_ASSERT(index >= 0 && index < type->part_count);
    const char *const *part = (const void *)((const char *)type->parts + (size_t)index * type->part_size);
    return *part;
}

vy_status vy_sensor_part(const sensor_type *type, const char *name, void *def, vy_error *err)
{
    char names[150] = "";
    VY_ASSERT(type->part_count == 0 || type->part_size >= sizeof(char *) + type->table->size);
    const size_t def_offset =
        type->part_size - type->table->size; // not behind the name: a machine may pad there
    for (int i = 0; i < type->part_count; ++i) {
        const char *part_name = vy_sensor_part_name(type, i);
        if (strcmp(name, part_name) == 0) {
            memcpy(def, (const char *)type->parts + (size_t)i * type->part_size + def_offset,
                   type->table->size);
            return VY_OK;
        }
        const size_t length = strlen(names);
        snprintf(names + length, sizeof names - length, "%s%s", i == 0 ? "" : ", ", part_name);
    }
    return vy_fail(err, VY_NOT_FOUND, "no %s is called %.40s: there are %s", type->display_name, name, names);
}
