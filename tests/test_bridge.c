// test_bridge.c - what a firmware is told and what its motors are: axes, units and order.
#include "bridge/betaflight_packet.h"
#include "bridge/betaflight_script.h"
#include "bridge/dialect.h"
#include "bridge/px4_sensors.h"
#include "bridge/servo_packet.h"
#include "check.h"
#include "vehicle/airframe.h"
#include "volery/world.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const vy_planet_def planet = {
    .radius = VY_EARTH_RADIUS,
    .flattening = VY_EARTH_FLATTENING,
    .rate = VY_EARTH_RATE,
    .origin = {.gm = VY_EARTH_GM, .latitude = 0.8, .longitude = 0.15, .height = 488.0, .j2 = VY_EARTH_J2}};

// --- motors

static vy_vehicle_def vehicle(const char *name)
{
    vy_vehicle_def def;
    vy_error err;
    if (vy_vehicle_preset(name, &def, &err) != VY_OK) fail_msg("%s", err.text);
    return def;
}

static void motors_are_found_by_place_and_spin(void **unused)
{
    (void)unused;
    vy_vehicle_def x500 = vehicle("x500");
    int order[VY_ROTOR_CAP];
    vy_error err;
    assert_int_equal(vy_airframe_match(VY_AIRFRAME_QUAD_X, &x500, order, &err), VY_OK);
    // PX4: front right, back left, front left, back right. x500: front left, front right, back right, back
    // left.
    static const int wanted[] = {1, 3, 0, 2};
    assert_memory_equal(order, wanted, sizeof wanted);
    assert_int_equal(vy_airframe_match(VY_AIRFRAME_QUAD_PLUS, &x500, order, &err), VY_BAD_VALUE);
    assert_string_equal(err.text,
                        "airframe quad_plus: the vehicle has no rotor where motor 1 is: 0 forward, 1 right");
    assert_int_equal(vy_airframe_match(VY_AIRFRAME_HEXA_X, &x500, order, &err), VY_BAD_VALUE);
    x500.rotors[3].spin = -x500.rotors[3].spin;
    assert_int_equal(vy_airframe_match(VY_AIRFRAME_QUAD_X, &x500, order, &err), VY_BAD_VALUE);
    assert_string_equal(err.text, "airframe quad_x: motor 2, rotor 4 here, spins counter-clockwise");
    assert_int_equal(vy_airframe_match(VY_AIRFRAME_OWN, &x500, order, &err), VY_OK);
    for (int i = 0; i < 4; ++i) assert_int_equal(order[i], i);
}

// Every table is one of a vehicle that can turn both ways: as many rotors of each spin, all in other places,
// and mirrored from left to right they spin the other way.
static void airframes_are_whole(void **unused)
{
    (void)unused;
    for (int a = VY_AIRFRAME_QUAD_X; a < VY_AIRFRAME_OWN; ++a) {
        const int count = a <= VY_AIRFRAME_QUAD_PLUS ? 4 : a <= VY_AIRFRAME_HEXA_PLUS ? 6 : 8;
        const double turn = 2.0 * 3.14159265358979324 / count;
        // `x` has two ahead, but of six that is two at 30 degrees; `plus` has one ahead.
        const double first = a % 2 == 1 ? 0.0 : 0.5 * turn;
        int found = 0;
        for (int mirror = 0; mirror < 2; ++mirror) {
            vy_vehicle_def v = vehicle("x500");
            v.rotor_count = count;
            for (int i = 0; i < count; ++i) {
                const double angle = first + turn * i;
                v.rotors[i] = v.rotors[0];
                v.rotors[i].position = (vy_vec3){cos(angle), sin(angle), 0.0};
                v.rotors[i].spin = (i + mirror) % 2 == 0 ? 1 : -1;
            }
            int order[VY_ROTOR_CAP], seen = 0;
            vy_error err;
            if (vy_airframe_match((vy_airframe)a, &v, order, &err) != VY_OK) continue;
            for (int i = 0; i < count; ++i) seen |= 1 << order[i];
            assert_int_equal(seen, (1 << count) - 1);
            ++found;
        }
        // Octorotors of PX4 alternate in another way: neighbours may spin alike.
        if (count < 8) assert_int_equal(found, 1);
    }
}

// --- samples

// The frames of a packet, by type.
static int find(const uint8_t *bytes, size_t size, const mavlink_type *type, void *out)
{
    mavlink_reader reader = {.size = 0};
    mavlink_frame frame;
    int found = 0;
    for (size_t at = 0; at < size;) {
        at += vy_mavlink_feed(&reader, bytes + at, size - at);
        while (vy_mavlink_next(&reader, &frame)) {
            if (frame.type != type) continue;
            vy_mavlink_unpack(&frame, out);
            ++found;
        }
    }
    return found;
}

static px4_sensors sensors(vy_controller_def *def, vy_plugin_start *start, vy_sensor_suite_def *suite)
{
    px4_sensors s;
    *def = vy_default_controller_def();
    def->truth = 1;
    *suite = vy_default_sensor_suite_def();
    suite->flow.period = 0.01;
    suite->range.min = 0.1;
    suite->range.max = 8.0;
    suite->range.direction = (vy_vec3){0.0, 0.0, -1.0};
    suite->gps.position_noise = 0.3;
    suite->gps.position_wander = 0.4;
    *start = (vy_plugin_start){.sensors = suite};
    vy_px4_sensors_begin(&(bridge_request){.def = def, .start = start, .planet = &planet}, &s);
    return s;
}

static void samples_become_messages(void **unused)
{
    (void)unused;
    vy_controller_def def;
    vy_plugin_start start;
    vy_sensor_suite_def suite;
    px4_sensors s = sensors(&def, &start, &suite);
    vy_samples m = {.tick = 8, .time = 0.008, .dt = 0.001, .air_temperature = 288.15};
    m.imu = (vy_imu_sample){.tick = 8, .accel = {0.1, 0.2, 9.8}, .gyro = {0.01, 0.02, 0.03}};
    m.mag = (vy_mag_sample){.tick = 4, .field = {2e-5, 1e-6, -4e-5}};
    m.baro = (vy_baro_sample){.tick = 8, .pressure = 95600.0};
    m.airspeed = (vy_airspeed_sample){.tick = 8, .pressure = 61.25, .speed = 10.0};
    m.gps = (vy_gps_sample){.tick = 8, .position = {0.0, 111.2, 10.0}, .velocity = {3.0, -4.0, 1.0}};
    m.range = (vy_range_sample){.tick = 8, .distance = 2.5};
    m.rc = (vy_rc_sample){.count = 2, .channels = {1500.0, 1900.0}};
    uint8_t packet[PX4_PACKET_CAP];
    uint32_t fields;
    size_t size = vy_px4_sensors_pack(&s, &m, 123456, 0, packet, &fields);
    mavlink_hil_sensor h;
    assert_int_equal(find(packet, size, &vy_mavlink_hil_sensor, &h), 1);
    assert_int_equal(h.time_usec, 123456);
    assert_int_equal(h.fields_updated, 0x1fff);
    assert_int_equal(fields, 0x1fff);
    assert_true(h.acc[0] == 0.1f && h.acc[1] == -0.2f && h.acc[2] == -9.8f);
    assert_true(h.gyro[0] == 0.01f && h.gyro[1] == -0.02f && h.gyro[2] == -0.03f);
    assert_true(h.mag[0] == 0.2f && h.mag[1] == -0.01f && h.mag[2] == 0.4f); // gauss
    assert_true(h.abs_pressure == 956.0f && h.diff_pressure == 0.6125f);
    assert_true(fabsf(h.temperature - 15.0f) < 1e-5f);

    mavlink_hil_gps g;
    assert_int_equal(find(packet, size, &vy_mavlink_hil_gps, &g), 1);
    assert_true(fabs(1e-7 * g.lat - 57.295779513082323 * 0.8 - 0.001) < 2e-6); // 111.2 m are 0.001 degrees
    assert_true(fabs(1e-7 * g.lon - 57.295779513082323 * 0.15) < 2e-7);
    assert_true(abs(g.alt - 498001) <= 1); // the plane is 1 mm above the ellipsoid there
    assert_true(g.vn == -400 && g.ve == 300 && g.vd == -100 && g.vel == 500);
    assert_int_equal(g.cog, 14313); // atan2(3, -4)
    assert_true(g.eph == 50 && g.fix_type == 3);

    mavlink_distance_sensor d;
    assert_int_equal(find(packet, size, &vy_mavlink_distance_sensor, &d), 1);
    assert_true(d.current_distance == 250 && d.orientation == 25 && d.max_distance == 800);
    mavlink_rc_channels rc;
    assert_int_equal(find(packet, size, &vy_mavlink_rc_channels, &rc), 1);
    assert_true(rc.chancount == 2 && rc.chan[0] == 1500 && rc.chan[1] == 1900 && rc.chan[2] == UINT16_MAX);

    // What has not come anew is not sent again, but to a firmware that boots.
    m.imu.tick = m.tick = 12;
    m.time = 0.012;
    size = vy_px4_sensors_pack(&s, &m, 127456, 0, packet, &fields);
    assert_int_equal(fields, PX4_FIELD_ACCEL | PX4_FIELD_GYRO);
    assert_int_equal(find(packet, size, &vy_mavlink_hil_gps, &g), 0);
    assert_int_equal(find(packet, size, &vy_mavlink_rc_channels, &rc), 0);
    (void)vy_px4_sensors_pack(&s, &m, 131456, 1, packet, &fields);
    assert_int_equal(fields, 0x1fff);
}

// A camera that only turns sees what the gyroscope does; one that moves ahead over the ground, flow about the
// right-hand axis.
static void flow_has_the_signs_of_the_gyroscope(void **unused)
{
    (void)unused;
    vy_controller_def def;
    vy_plugin_start start;
    vy_sensor_suite_def suite;
    px4_sensors s = sensors(&def, &start, &suite);
    uint8_t packet[PX4_PACKET_CAP];
    uint32_t fields;
    mavlink_hil_optical_flow f;
    const vy_vec3 rate = {0.3, -0.2, 0.1};
    vy_samples m = {.tick = 10, .time = 0.01, .dt = 0.001, .imu = {.tick = 10, .gyro = rate}};
    m.flow = (vy_flow_sample){.tick = 10, .x = rate.y, .y = -rate.x, .quality = 1.0}; // docs/sensors.md
    size_t size = vy_px4_sensors_pack(&s, &m, 1, 0, packet, &fields);
    assert_int_equal(find(packet, size, &vy_mavlink_hil_optical_flow, &f), 1);
    assert_true(f.integrated_x == f.integrated_xgyro && f.integrated_y == f.integrated_ygyro);
    assert_true(f.integrated_x == 0.003f && f.integrated_y == 0.002f && f.quality == 255);
    assert_true(f.distance < 0.0f); // not known
    const double ahead = 2.0, right = 1.0, height = 4.0;
    m = (vy_samples){.tick = 20, .time = 0.02, .dt = 0.001, .imu = {.tick = 20}};
    m.flow = (vy_flow_sample){.tick = 20, .x = -ahead / height, .y = right / height, .quality = 1.0};
    m.range = (vy_range_sample){.tick = 10, .distance = 4.0}; // the last of a range finder that is silent now
    size = vy_px4_sensors_pack(&s, &m, 1, 0, packet, &fields);
    assert_int_equal(find(packet, size, &vy_mavlink_hil_optical_flow, &f), 1);
    // MAVLink: motion along +Y is negative flow about X, along +X positive flow about Y.
    assert_true(f.integrated_x == -0.0025f && f.integrated_y == 0.005f);
    assert_true(f.distance < 0.0f); // nor is an old one sent
}

// The same attitude as yaw, pitch and roll by vy_geodetic_of().
static void attitude_is_of_north_east_down(void **unused)
{
    (void)unused;
    uint32_t random = 1;
    for (int k = 0; k < 1000; ++k) {
        double q[4], length = 0.0;
        for (int i = 0; i < 4; ++i) {
            random = random * 1664525u + 1013904223u;
            q[i] = (double)(random >> 8) / 8388608.0 - 1.0;
            length += q[i] * q[i];
        }
        if (length < 0.01) continue;
        const double l = sqrt(length);
        const vy_quat attitude = {q[0] / l, q[1] / l, q[2] / l, q[3] / l};
        const vy_geodetic at =
            vy_geodetic_of(&planet, 0.0, (vy_vec3){0.0, 0.0, 0.0}, (vy_vec3){0.0, 0.0, 0.0}, attitude);
        const vy_quat n = vy_bridge_attitude_ned(attitude);
        const double sine = 2.0 * (n.w * n.y - n.z * n.x);
        if (fabs(sine) > 0.999) continue;
        const double yaw = atan2(2.0 * (n.w * n.z + n.x * n.y), 1.0 - 2.0 * (n.y * n.y + n.z * n.z));
        const double roll = atan2(2.0 * (n.w * n.x + n.y * n.z), 1.0 - 2.0 * (n.x * n.x + n.y * n.y));
        assert_true(fabs(remainder(yaw - at.yaw, 6.283185307179586)) < 1e-9);
        assert_true(fabs(remainder(roll - at.roll, 6.283185307179586)) < 1e-9);
        assert_true(fabs(asin(sine) - at.pitch) < 1e-9);
    }
}

static void betaflight_gets_its_own_axes(void **unused)
{
    (void)unused;
    const double s = 0.70710678118654752;
    uint8_t packet[BETAFLIGHT_STATE_SIZE];
    double n[18];
    vy_samples m = {.tick = 8, .time = 0.008, .dt = 0.001};
    m.imu = (vy_imu_sample){.tick = 8, .accel = {0.1, 0.2, 9.8}, .gyro = {0.01, 0.02, 0.03}};
    m.baro = (vy_baro_sample){.tick = 8, .pressure = 95600.0};
    m.truth = (vy_truth_sample){.position = {0.0, 111.2, 10.0},
                                .velocity = {3.0, -4.0, 1.0},
                                .attitude = {s, 0.0, 0.0, s}}; // it faces north
    vy_betaflight_pack_state(&m, &planet, 1.5, packet);
    memcpy(n, packet, sizeof n);
    assert_true(n[0] == 1.5);
    assert_true(n[1] == 0.01 && n[2] == -0.02 && n[3] == -0.03); // its gyroscope is forward-right-down
    assert_true(n[4] == -0.1 && n[5] == -0.2 && n[6] == -9.8);   // and its accelerometer is negated
    assert_true(fabs(fabs(n[7]) - 1.0) < 1e-12);                 // north is no rotation
    assert_true(fabs(n[11] - 3.0) < 1e-4 && fabs(n[12] + 4.0) < 1e-4 && fabs(n[13] - 1.0) < 1e-4);
    assert_true(fabs(n[14] - 57.295779513082323 * 0.15) < 2e-7);        // longitude first
    assert_true(fabs(n[15] - 57.295779513082323 * 0.8 - 0.001) < 2e-6); // 111.2 m are 0.001 degrees
    assert_true(fabs(n[16] - 498.001) < 0.001 && n[17] == 95600.0);
    vy_betaflight_pack_state(&m, NULL, 1.5, packet); // a flat world has no place
    memcpy(n, packet, sizeof n);
    assert_true(n[14] == 0.0 && n[15] == 0.0 && n[16] == 10.0 && n[11] == 3.0);
    double motors[BETAFLIGHT_MOTORS];
    const float sent[4] = {0.25f, 0.5f, 0.75f, 1.0f}, broken[4] = {0.25f, (float)NAN, 0.75f, 1.0f};
    assert_int_equal(vy_betaflight_read_motors((const uint8_t *)sent, sizeof sent, motors), 1);
    assert_true(motors[0] == 0.25 && motors[3] == 1.0);
    assert_int_equal(vy_betaflight_read_motors((const uint8_t *)broken, sizeof broken, motors), 0);
    assert_int_equal(vy_betaflight_read_motors((const uint8_t *)sent, 12, motors), 0);
    const float backwards[4] = {-2.0f, -1.0f, 0.0f, 2.0f}, noise[4] = {0.25f, 0.5f, 1e9f, 1.0f};
    assert_int_equal(vy_betaflight_read_motors((const uint8_t *)backwards, sizeof backwards, motors), 1);
    assert_int_equal(vy_betaflight_read_motors((const uint8_t *)noise, sizeof noise, motors), 0);
}

// Frames as Betaflight's own documents write them, whole and cut, between noise.
static void msp_frames_are_found(void **unused)
{
    (void)unused;
    static const uint8_t version[] = {'$', 'M', '<', 0, 1, 1};
    static const uint8_t range[] = {'$', 'M', '<', 5, 35, 0, 0, 0, 32, 48, 5 ^ 35 ^ 32 ^ 48};
    static const uint8_t stream[] = {'x', '$', 'M', '$', 'M', '>', 2,   101, 7, 9, 2 ^ 101 ^ 7 ^ 9, '$', 'M',
                                     '!', 0,   35,  35,  '$', 'M', '>', 0,   1, 2};
    uint8_t out[MSP_FRAME_CAP];
    assert_int_equal(vy_msp_pack(1, NULL, 0, out), sizeof version);
    assert_memory_equal(out, version, sizeof version);
    assert_int_equal(vy_msp_pack(35, (const uint8_t[]){0, 0, 0, 32, 48}, 5, out), sizeof range);
    assert_memory_equal(out, range, sizeof range);
    msp_reader reader = {.count = 0};
    msp_frame frames[3], f;
    int count = 0;
    for (size_t i = 0; i < sizeof stream; ++i) {
        if (vy_msp_parse_byte(&reader, stream[i], &f)) frames[count++] = f;
    }
    assert_int_equal(count, 2);
    assert_true(frames[0].command == 101 && frames[0].size == 2 && frames[0].body[1] == 9 &&
                !frames[0].is_refused);
    assert_true(frames[1].command == 35 && frames[1].is_refused);
    assert_true(reader.dropped > 0); // the last has a wrong checksum
}

// Switches are set up, turned when their time has come, and obeyed when the firmware says so.
static void betaflights_script_turns_switches(void **unused)
{
    (void)unused;
    const vy_script_line lines[] = {{.action = VY_SCRIPT_MODE, .mode = VY_MODE_STABILIZED, .time = 1.0},
                                    {.action = VY_SCRIPT_ARM, .time = 2.0}};
    vy_controller_def def = vy_default_controller_def();
    def.firmware.script = lines;
    def.firmware.script_count = 2;
    def.firmware.patience = 3.0;
    betaflight_script s;
    uint8_t out[MSP_FRAME_CAP];
    uint16_t channels[BETAFLIGHT_CHANNELS] = {1500, 1500, 1000, 1500};
    size_t size;
    int32_t line = 0;
    assert_int_equal(vy_betaflight_script_open(&(bridge_request){.def = &def}, &s, NULL), VY_OK);
    for (int i = 0; i < 3; ++i) { // version, two ranges
        assert_false(vy_betaflight_script_is_ready(&s));
        (void)vy_betaflight_script_step(&s, 0.0, 1.0 + i, 0, out, &size, &line);
        assert_true(size > 0);
        out[2] = '>';
        vy_betaflight_script_receive(&s, out, size);
    }
    assert_true(vy_betaflight_script_is_ready(&s));
    (void)vy_betaflight_script_step(&s, 0.5, 5.0, 1, out, &size, &line);
    vy_betaflight_script_set_channels(&s, channels);
    assert_true(size == 0 && channels[4] == 1000 && channels[5] == 1000 && channels[2] == 1000);
    (void)vy_betaflight_script_step(&s, 1.0, 5.5, 1, out, &size, &line);
    vy_betaflight_script_set_channels(&s, channels);
    assert_true(channels[4] == 1000 && channels[5] == 2000);
    (void)vy_betaflight_script_step(&s, 1.2, 5.7, 1, out, &size, &line);
    assert_true(size == 6 && out[4] == 101); // how is it?
    uint8_t status[MSP_FRAME_CAP];
    const uint8_t angle[10] = {0, 0, 0, 0, 0, 0, 2}, armed[10] = {0, 0, 0, 0, 0, 0, 3};
    size = vy_msp_pack(101, angle, sizeof angle, status);
    status[2] = '>';
    vy_betaflight_script_receive(&s, status, size);
    assert_int_equal(s.line_next, 1);
    (void)vy_betaflight_script_step(&s, 2.0, 6.5, 1, out, &size, &line);
    size = vy_msp_pack(101, angle, sizeof angle, status);
    status[2] = '>';
    vy_betaflight_script_receive(&s, status, size); // not armed yet
    assert_int_equal(s.line_next, 1);
    assert_int_equal(vy_betaflight_script_step(&s, 5.1, 9.6, 1, out, &size, &line), VY_VERDICT_REFUSED);
    assert_int_equal(line, 2);
    size = vy_msp_pack(101, armed, sizeof armed, status);
    status[2] = '>';
    vy_betaflight_script_receive(&s, status, size);
    assert_int_equal(s.line_next, 2);
    vy_betaflight_script_close(&s);
}

static void servo_packets_have_two_sizes(void **unused)
{
    (void)unused;
    servo_packet p;
    for (int count = 16; count <= 32; count *= 2) {
        const unsigned magic = count == 16 ? 18458 : 29569;
        uint8_t bytes[80] = {(uint8_t)magic, (uint8_t)(magic >> 8), 0x90, 0x01, 0x78, 0x56, 0x34, 0x12};
        const size_t size = 8 + 2 * (size_t)count;
        for (int i = 0; i < count; ++i) {
            bytes[8 + 2 * i] = (uint8_t)(1000 + i);
            bytes[9 + 2 * i] = (uint8_t)((1000 + i) >> 8);
        }
        assert_int_equal(vy_servo_packet_read(bytes, size, &p), 1);
        assert_true(p.rate == 400 && p.frame == 0x12345678 && p.count == count);
        for (int i = 0; i < count; ++i) assert_int_equal(p.pwm[i], 1000 + i);
        assert_int_equal(vy_servo_packet_read(bytes, size - 1, &p), 0);
        assert_int_equal(vy_servo_packet_read(bytes, size + 1, &p), 0);
        bytes[0] ^= 1;
        assert_int_equal(vy_servo_packet_read(bytes, size, &p), 0);
    }
    assert_int_equal(vy_servo_packet_read(NULL, 0, &p), 0);
}

// Numbers of mavlink.io: MAV_CMD, PX4's custom modes and ArduPilot's COPTER_MODE.
static void lines_are_commands_of_their_firmware(void **unused)
{
    (void)unused;
    static const struct {
        vy_script_line line;
        int command;
        float px4[3], ardupilot[3]; // the first three parameters
    } cases[] = {
        {{.action = VY_SCRIPT_ARM}, 400, {1, 0, 0}, {1, 0, 0}},
        {{.action = VY_SCRIPT_DISARM}, 400, {0, 0, 0}, {0, 0, 0}},
        {{.action = VY_SCRIPT_RETURN}, 20, {0, 0, 0}, {0, 0, 0}},
        {{.action = VY_SCRIPT_LAND}, 21, {0, 0, 0}, {0, 0, 0}},
        {{.action = VY_SCRIPT_TAKEOFF, .altitude = 4.0}, 22, {0, 0, 0}, {0, 0, 0}},
        {{.action = VY_SCRIPT_HOLD}, 176, {1, 4, 3}, {1, 4, 0}},
        {{.action = VY_SCRIPT_MISSION}, 176, {1, 4, 4}, {1, 3, 0}},
        {{.action = VY_SCRIPT_MODE, .mode = VY_MODE_MANUAL}, 176, {1, 1, 0}, {1, 0, 0}},
        {{.action = VY_SCRIPT_MODE, .mode = VY_MODE_ALTITUDE}, 176, {1, 2, 0}, {1, 2, 0}},
        {{.action = VY_SCRIPT_MODE, .mode = VY_MODE_POSITION}, 176, {1, 3, 0}, {1, 5, 0}},
        {{.action = VY_SCRIPT_MODE, .mode = VY_MODE_ACRO}, 176, {1, 5, 0}, {1, 1, 0}},
        {{.action = VY_SCRIPT_MODE, .mode = VY_MODE_STABILIZED}, 176, {1, 7, 0}, {1, 0, 0}},
        {{.action = VY_SCRIPT_MODE, .mode = VY_MODE_OFFBOARD}, 176, {1, 6, 0}, {1, 4, 0}},
        {{.action = VY_SCRIPT_COMMAND, .command = 511, .values = {7, 8, 9}}, 511, {7, 8, 9}, {7, 8, 9}},
        {{.action = VY_SCRIPT_PARAMETER}, 0, {0, 0, 0}, {0, 0, 0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        float p[7], a[7];
        assert_int_equal(vy_px4_dialect.command(&cases[i].line, 488.0, p), cases[i].command);
        assert_int_equal(vy_ardupilot_dialect.command(&cases[i].line, 488.0, a), cases[i].command);
        for (int k = 0; k < 3 && cases[i].command != 0; ++k) {
            assert_true(p[k] == cases[i].px4[k]);
            assert_true(a[k] == cases[i].ardupilot[k]);
        }
        if (cases[i].command != 22) continue;
        assert_true(p[6] == 492.0f && a[6] == 4.0f); // above the ellipsoid, above the home
        assert_true(isnan(p[4]) && a[4] == 0.0f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(servo_packets_have_two_sizes),
                                       cmocka_unit_test(lines_are_commands_of_their_firmware),
                                       cmocka_unit_test(betaflight_gets_its_own_axes),
                                       cmocka_unit_test(msp_frames_are_found),
                                       cmocka_unit_test(betaflights_script_turns_switches),
                                       cmocka_unit_test(motors_are_found_by_place_and_spin),
                                       cmocka_unit_test(airframes_are_whole),
                                       cmocka_unit_test(samples_become_messages),
                                       cmocka_unit_test(flow_has_the_signs_of_the_gyroscope),
                                       cmocka_unit_test(attitude_is_of_north_east_down)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
