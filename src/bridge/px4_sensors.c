// px4_sensors.c - units and axes of HIL_SENSOR, HIL_GPS and the others.
#include "bridge/px4_sensors.h"
#include "base/assert.h"
#include <math.h>
#include <string.h>

#define DEGREES_PER_RADIAN 57.295779513082323
#define RC_PERIOD          0.02    // [s] between two messages of a receiver
#define GAUSS_PER_TESLA    1e4     // in a tesla
#define ZERO_CELSIUS       273.15  // [K]
#define STANDARD_GRAVITY   9.80665 // [m/s^2] of a g

enum {
    FIX_3D = 3,
    SATELLITES = 12,    // as of an open sky
    ORIENT_FORWARD = 0, // MAV_SENSOR_ROTATION_NONE
    ORIENT_UP = 24,     // _PITCH_90
    ORIENT_DOWN = 25,   // _PITCH_270
    ORIENT_LEFT = 6,    // _YAW_270
    ORIENT_RIGHT = 2,   // _YAW_90
    ORIENT_BACK = 12,   // _PITCH_180
    DISTANCE_INFRARED = 2,
};

// libm's hypot may differ in the last bit from one machine to the next.
static double length2(double x, double y) { return sqrt(x * x + y * y); }

void vy_px4_sensors_begin(const bridge_request *request, px4_sensors *out)
{
    *out = (px4_sensors){.planet = request->planet,
                         .gps = request->start->sensors->gps,
                         .range = request->start->sensors->range,
                         .flow_period = request->start->sensors->flow.period,
                         .sends_truth = request->def->truth,
                         .from = {.system = 1, .component = 200}}; // MAV_COMP_ID_... of a simulator: any
}

static int is_new(uint64_t tick, uint64_t *sent_tick, int is_resent)
{
    if (tick == 0 || (tick == *sent_tick && !is_resent)) return 0;
    *sent_tick = tick;
    return 1;
}

// To the nearest whole number within the bounds of its type.
static double round_to_range(double value, double min, double max)
{
    const double r = floor(value + 0.5);
    return r < min ? min : r > max ? max : r;
}
static int16_t i16(double value) { return (int16_t)round_to_range(value, -32768.0, 32767.0); }
static uint16_t u16(double value) { return (uint16_t)round_to_range(value, 0.0, 65535.0); }
static int32_t i32(double value) { return (int32_t)round_to_range(value, -2147483648.0, 2147483647.0); }

// Body axes forward-left-up to forward-right-down, in another unit.
static void put_body(vy_vec3 v, double scale, float out[3])
{
    out[0] = (float)(v.x * scale);
    out[1] = (float)(-v.y * scale);
    out[2] = (float)(-v.z * scale);
}

static size_t put_sensor(px4_sensors *s, const vy_samples *m, uint64_t time, int is_resent, uint8_t *out,
                         uint32_t *fields)
{
    mavlink_hil_sensor h = {.time_usec = time};
    if (is_new(m->imu.tick, &s->imu_tick, is_resent)) h.fields_updated |= PX4_FIELD_ACCEL | PX4_FIELD_GYRO;
    if (is_new(m->mag.tick, &s->mag_tick, is_resent)) h.fields_updated |= PX4_FIELD_MAG;
    if (is_new(m->baro.tick, &s->baro_tick, is_resent)) h.fields_updated |= PX4_FIELD_BARO;
    if (is_new(m->airspeed.tick, &s->airspeed_tick, is_resent)) h.fields_updated |= PX4_FIELD_DIFF_PRESSURE;
    put_body(m->imu.accel, 1.0, h.acc);
    put_body(m->imu.gyro, 1.0, h.gyro);
    put_body(m->mag.field, GAUSS_PER_TESLA, h.mag);
    h.abs_pressure = (float)(0.01 * m->baro.pressure);
    h.diff_pressure = (float)(0.01 * m->airspeed.pressure);
    h.pressure_alt = (float)m->baro.altitude;
    h.temperature = (float)(m->air_temperature - ZERO_CELSIUS);
    *fields = h.fields_updated;
    return vy_mavlink_pack(&vy_mavlink_hil_sensor, &h, &s->from, out);
}

static size_t put_gps(px4_sensors *s, const vy_samples *m, uint64_t time, uint8_t *out)
{
    if (!is_new(m->gps.tick, &s->gps_tick, 0)) return 0;
    const vy_geodetic geodetic =
        vy_geodetic_of(s->planet, m->time, m->gps.position, m->gps.velocity, (vy_quat){1.0, 0.0, 0.0, 0.0});
    const vy_gps_def *def = &s->gps;
    const double speed = length2(geodetic.velocity.x, geodetic.velocity.y);
    const double course = DEGREES_PER_RADIAN * atan2(geodetic.velocity.y, geodetic.velocity.x);
    const mavlink_hil_gps g = {
        .time_usec = time,
        .lat = i32(1e7 * DEGREES_PER_RADIAN * geodetic.latitude),
        .lon = i32(1e7 * DEGREES_PER_RADIAN * geodetic.longitude),
        .alt = i32(1e3 * geodetic.altitude),
        .eph = u16(1e2 * length2(def->position_noise, def->position_wander)),
        .epv = u16(1e2 * length2(def->height_noise, def->height_wander)),
        .vel = u16(1e2 * speed),
        .vn = i16(1e2 * geodetic.velocity.x),
        .ve = i16(1e2 * geodetic.velocity.y),
        .vd = i16(1e2 * geodetic.velocity.z),
        .cog = (uint16_t)round_to_range(1e2 * (course < 0.0 ? course + 360.0 : course), 0.0, 35999.0),
        .fix_type = FIX_3D,
        .satellites_visible = SATELLITES};
    return vy_mavlink_pack(&vy_mavlink_hil_gps, &g, &s->from, out);
}

static uint8_t orientation_of(vy_vec3 d)
{
    const double x = fabs(d.x), y = fabs(d.y), z = fabs(d.z);
    if (z >= x && z >= y) return d.z < 0.0 ? ORIENT_DOWN : ORIENT_UP;
    if (x >= y) return d.x > 0.0 ? ORIENT_FORWARD : ORIENT_BACK;
    return d.y > 0.0 ? ORIENT_LEFT : ORIENT_RIGHT;
}

static size_t put_range(px4_sensors *s, const vy_samples *m, uint64_t time, uint8_t *out)
{
    if (!is_new(m->range.tick, &s->range_tick, 0)) return 0;
    const double distance = m->range.distance;
    const mavlink_distance_sensor d = {
        .time_boot_ms = (uint32_t)(time / 1000),
        .min_distance = u16(1e2 * s->range.min),
        .max_distance = u16(1e2 * s->range.max),
        .current_distance = distance > 0.0 ? u16(1e2 * distance) : u16(1e2 * s->range.max + 1.0),
        .type = DISTANCE_INFRARED,
        .orientation = orientation_of(s->range.direction),
        .covariance = (uint8_t)round_to_range(1e4 * s->range.noise * s->range.noise, 0.0, 254.0),
        .signal_quality = distance > 0.0 ? 100 : 1}; // 1: nothing came back
    return vy_mavlink_pack(&vy_mavlink_distance_sensor, &d, &s->from, out);
}

// Turning right-handed about an axis is positive flow about it; ours is the picture's motion along body axes.
static size_t put_flow(px4_sensors *s, const vy_samples *m, uint64_t time, uint8_t *out)
{
    if (!is_new(m->flow.tick, &s->flow_tick, 0)) return 0;
    const double dt = s->flow_period;
    const mavlink_hil_optical_flow f = {.time_usec = time,
                                        .integration_time_us = (uint32_t)(1e6 * dt + 0.5),
                                        .integrated_x = (float)(-dt * m->flow.y),
                                        .integrated_y = (float)(-dt * m->flow.x),
                                        .integrated_xgyro = (float)(dt * m->imu.gyro.x),
                                        .integrated_ygyro = (float)(-dt * m->imu.gyro.y),
                                        .integrated_zgyro = (float)(-dt * m->imu.gyro.z),
                                        // A camera measures none. PX4 would take it for that of a range
                                        // finder that has fallen silent.
                                        .distance = -1.0f,
                                        .quality = m->flow.quality > 0.0 ? 255 : 0};
    return vy_mavlink_pack(&vy_mavlink_hil_optical_flow, &f, &s->from, out);
}

static size_t put_mocap(px4_sensors *s, const vy_samples *m, uint64_t time, uint8_t *out)
{
    if (!is_new(m->mocap.tick, &s->mocap_tick, 0)) return 0;
    const vy_quat q = vy_bridge_attitude_ned(m->mocap.attitude);
    const double pitch = 2.0 * (q.w * q.y - q.z * q.x);
    mavlink_vision_position_estimate v = {
        .usec = time,
        .x = (float)m->mocap.position.y,
        .y = (float)m->mocap.position.x,
        .z = (float)-m->mocap.position.z,
        .roll = (float)atan2(2.0 * (q.w * q.x + q.y * q.z), 1.0 - 2.0 * (q.x * q.x + q.y * q.y)),
        .pitch = (float)asin(pitch > 1.0    ? 1.0
                             : pitch < -1.0 ? -1.0
                                            : pitch),
        .yaw = (float)atan2(2.0 * (q.w * q.z + q.x * q.y), 1.0 - 2.0 * (q.y * q.y + q.z * q.z))};
    v.covariance[0] = NAN; // not given
    return vy_mavlink_pack(&vy_mavlink_vision_position_estimate, &v, &s->from, out);
}

static size_t put_truth(px4_sensors *s, const vy_samples *m, uint64_t time, uint8_t *out)
{
    if (!s->sends_truth) return 0;
    const vy_truth_sample *t = &m->truth;
    const vy_geodetic geodetic = vy_geodetic_of(s->planet, m->time, t->position, t->velocity, t->attitude);
    const vy_quat q = vy_bridge_attitude_ned(t->attitude);
    const mavlink_hil_state_quaternion h = {
        .time_usec = time,
        .attitude_quaternion = {(float)q.w, (float)q.x, (float)q.y, (float)q.z},
        .rollspeed = (float)t->rate.x,
        .pitchspeed = (float)-t->rate.y,
        .yawspeed = (float)-t->rate.z,
        .lat = i32(1e7 * DEGREES_PER_RADIAN * geodetic.latitude),
        .lon = i32(1e7 * DEGREES_PER_RADIAN * geodetic.longitude),
        .alt = i32(1e3 * geodetic.altitude),
        .vx = i16(1e2 * geodetic.velocity.x),
        .vy = i16(1e2 * geodetic.velocity.y),
        .vz = i16(1e2 * geodetic.velocity.z),
        .ind_airspeed = u16(1e2 * m->airspeed.speed),
        .true_airspeed = u16(1e2 * m->airspeed.speed),
        .xacc = i16(1e3 / STANDARD_GRAVITY * m->imu.accel.x),
        .yacc = i16(-1e3 / STANDARD_GRAVITY * m->imu.accel.y),
        .zacc = i16(-1e3 / STANDARD_GRAVITY * m->imu.accel.z)};
    return vy_mavlink_pack(&vy_mavlink_hil_state_quaternion, &h, &s->from, out);
}

static size_t put_rc(px4_sensors *s, const vy_samples *m, uint64_t time, uint8_t *out)
{
    if (m->rc.count == 0 || m->time + 0.5 * m->dt < s->rc_time) return 0;
    mavlink_rc_channels r = {
        .time_boot_ms = (uint32_t)(time / 1000), .chancount = (uint8_t)m->rc.count, .rssi = 100};
    for (size_t i = 0; i < sizeof r.chan / sizeof r.chan[0]; ++i) r.chan[i] = UINT16_MAX; // not used
    for (size_t i = 0; i < m->rc.count && i < VY_RC_CAP; ++i) r.chan[i] = u16(m->rc.channels[i]);
    s->rc_time = m->time + RC_PERIOD;
    return vy_mavlink_pack(&vy_mavlink_rc_channels, &r, &s->from, out);
}

size_t vy_px4_sensors_pack(px4_sensors *s, const vy_samples *samples, uint64_t time, int is_resent,
                           uint8_t out[PX4_PACKET_CAP], uint32_t *fields)
{
    size_t size = 0;
    size += put_gps(s, samples, time, out + size);
    size += put_range(s, samples, time, out + size);
    size += put_flow(s, samples, time, out + size);
    size += put_mocap(s, samples, time, out + size);
    size += put_truth(s, samples, time, out + size);
    size += put_rc(s, samples, time, out + size);
    size += put_sensor(s, samples, time, is_resent, out + size, fields); // the last: it moves the clock
    VY_ASSERT(size <= PX4_PACKET_CAP);
    return size;
}
