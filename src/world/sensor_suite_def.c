// sensor_suite_def.c - sensor suites as declared: checks, and the constants of their sensors, links and
// filters.
#include "base/assert.h"
#include "base/fail.h"
#include "base/real.h"
#include "world/build.h"
#include "world/sensor_suite.h"
#include "world/world_def.h"
#include <stdio.h>

#define DELAY_MAX 4096 // samples on their way

// Where the def of a sensor lies in that of its drone.
static size_t sensor_def_at(int sensor)
{
    VY_ASSERT(sensor >= 0 && sensor < SENSOR_KINDS);
    if (sensor < SENSOR_SUITE_KINDS)
        return offsetof(vy_drone_def, sensor_suite) + vy_sensors[sensor].def_offset;
    return sensor == SENSOR_imu ? offsetof(vy_drone_def, imu) : offsetof(vy_drone_def, mocap);
}

const void *vy_sensor_def(const vy_drone_def *def, int sensor)
{
    return (const char *)def + sensor_def_at(sensor);
}

void vy_calibrate_sensors(vy_drone_def *def)
{
    if (def->calibration != VY_CALIBRATION_GROUND) return;
    for (int i = 0; i < SENSOR_KINDS; ++i) {
        const sensor_type *type = vy_sensors[i].type;
        if (type->calibrate != NULL) type->calibrate((char *)def + sensor_def_at(i));
    }
}

static double period_of(const vy_drone_def *def, int sensor)
{
    return *(const double *)vy_sensor_def(def, sensor);
}

static vy_link_def link_of(const vy_drone_def *def, int sensor)
{
    vy_link_def link;
    memcpy(&link, (const char *)vy_sensor_def(def, sensor) + vy_sensors[sensor].type->link_offset,
           sizeof link);
    return link;
}

// Does a sensor suite sample it? The basic IMU and basic motion capture are sampled without one.
static int is_in_sensor_suite(const vy_drone_def *def, int sensor)
{
    const vy_link_def link = link_of(def, sensor);
    if (!(period_of(def, sensor) > 0.0)) return 0;
    if (sensor < SENSOR_SUITE_KINDS || link.dropout != 0.0 || link.delay != 0.0) return 1;
    return sensor == SENSOR_imu && vy_imu_is_full(&def->imu);
}

int vy_drone_has_sensor_suite(const vy_drone_def *def)
{
    for (int i = 0; i < SENSOR_KINDS; ++i) {
        if (is_in_sensor_suite(def, i)) return 1;
    }
    return def->estimator.kind != VY_ESTIMATOR_FADING && !def->truth;
}

static vy_status check_sensor(const vy_drone_def *def, int sensor, vy_error *err)
{
    const sensor_type *type = vy_sensors[sensor].type;
    const void *object = vy_sensor_def(def, sensor);
    const double period = period_of(def, sensor), delay = link_of(def, sensor).delay;
    char where[32];
    snprintf(where, sizeof where, "drone.%s", type->name);
    if (period == 0.0) return VY_OK; // there is none
    vy_status status = vy_check_rows(type->table, where, object, err);
    if (status == VY_OK && !(delay <= DELAY_MAX * period))
        status = vy_fail(err, VY_BAD_VALUE, "%s.delay must be at most %d of its periods, got %g s", where,
                         DELAY_MAX, delay);
    if (status == VY_OK && type->check != NULL) status = type->check(object, &def->vehicle, err);
    return status;
}

vy_status vy_check_sensor_suite_def(const vy_drone_def *def, vy_error *err)
{
    if (def->calibration != VY_CALIBRATION_NONE && def->calibration != VY_CALIBRATION_GROUND)
        return vy_fail(err, VY_BAD_VALUE, "drone.calibration is no known one: %d", (int)def->calibration);
    vy_status status = VY_OK;
    for (int i = 0; i < SENSOR_KINDS && status == VY_OK; ++i) status = check_sensor(def, i, err);
    if (status != VY_OK || def->truth) return status;
    return vy_check_estimator_def(&def->estimator, &def->imu, err);
}

// --- constants

static vy_status build_links(const vy_model *world, const vy_drone_def *def, sensor_suite_model *out,
                             uint32_t *cells, vy_error *err)
{
    *cells = 0;
    for (int i = 0; i < SENSOR_KINDS; ++i) {
        const sensor_row *row = &vy_sensors[i];
        sensor_link *link = &out->links[i];
        if (!is_in_sensor_suite(def, i)) continue;
        const double period = period_of(def, i);
        const vy_link_def declared = link_of(def, i);
        char name[32];
        snprintf(name, sizeof name, "drone.%s.period", row->type->name);
        const vy_status status = vy_period_ticks(name, period, world->dt, &link->period, err);
        if (status != VY_OK) return status;
        link->delay = (uint64_t)real_round(declared.delay / period);
        VY_ASSERT(link->period > 0 && link->delay <= DELAY_MAX);
        link->dropout = declared.dropout;
        link->line = *cells;
        *cells += (uint32_t)delay_line_size(link->delay, (uint32_t)row->width);
        out->identity |= (uint64_t)1 << (32 + row->id);
        out->blocks[i] = world->sensor_counts[i];
    }
    return VY_OK;
}

// Deviates of what is drawn once per run, of one sensor.
static sensor_key make_run_key(const vy_model *world, uint32_t drone, uint32_t id)
{
    return (sensor_key){world->seed, drone, 1u + id, RNG_STREAM_START};
}

// Whether a sensor that needs this sees the ground: sensors/sensors.h.
#define SEES_NOTHING    0
#define SEES_STILL_AIR  0
#define SEES_MOVING_AIR 0
#define SEES_FIELD      0
#define SEES_RAYS       1
#define SEES_BATTERY    0
#define SEES_ROTORS     0

vy_status vy_sensor_suite_build(const vy_model *world, const vy_drone_def *def, uint32_t index,
                                sensor_suite_model *out, uint32_t *cells, vy_error *err)
{
    memset(out, 0, sizeof *out);
    out->drone = index;
    const vy_status status = build_links(world, def, out, cells, err);
    if (status != VY_OK) return status;
    out->identity |= index;
#define BUILD(id, stream, name, needs, text)                                                       \
    if (out->links[SENSOR_##name].period > 0) {                                                    \
        const sensor_key run_key = make_run_key(world, index, id);                                 \
        if (SEES_##needs && frame_is_inertial(&world->env))                                        \
            return vy_fail(err, VY_BAD_VALUE,                                                      \
                           "drone.%s: it sees the ground: about a planet give its origin", #name); \
        vy_sensor_##name.build(&def->sensor_suite.name, &run_key, &out->name);                     \
    }
    SENSORS(BUILD)
    const sensor_key run_key = make_run_key(world, index, vy_sensors[SENSOR_imu].id);
    if (def->imu.period > 0.0) vy_sensor_imu.build(&def->imu, &run_key, &out->imu);
    vy_sensor_mocap.build(&def->mocap, &run_key, &out->mocap);
    return vy_filter_build(world, def, out, err);
}
