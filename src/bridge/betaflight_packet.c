// betaflight_packet.c - axes and places of the packets' numbers.
#include "bridge/betaflight_packet.h"
#include <math.h>
#include <string.h>

#define DEGREES_PER_RADIAN 57.295779513082323
#define SEA_LEVEL_PRESSURE 101325.0 // [Pa] for a drone without a barometer
#define COMMAND_MAX        4.0f // far above all that the pulses of its motors give, down to -2 and up to 2

_Static_assert(sizeof(double) == 8 && sizeof(float) == 4, "numbers go into the packets as they are");

void vy_betaflight_pack_state(const vy_samples *s, const vy_planet_def *planet, double time,
                              uint8_t out[BETAFLIGHT_STATE_SIZE])
{
    const vy_truth_sample *t = &s->truth;
    const vy_quat q = vy_bridge_attitude_ned(t->attitude);
    const int has_place = planet != NULL && planet->origin.gm > 0.0;
    vy_vec3 velocity = t->velocity, location = {0.0, 0.0, t->position.z};
    if (has_place) {
        const vy_geodetic geodetic = vy_geodetic_of(planet, s->time, t->position, t->velocity, t->attitude);
        velocity = (vy_vec3){geodetic.velocity.y, geodetic.velocity.x, -geodetic.velocity.z};
        location = (vy_vec3){DEGREES_PER_RADIAN * geodetic.longitude, DEGREES_PER_RADIAN * geodetic.latitude,
                             geodetic.altitude};
    }
    // The gyroscope has forward-right-down axes, the accelerometer ours, but both signs of it.
    const double numbers[BETAFLIGHT_STATE_SIZE / 8] = {time,
                                                       s->imu.gyro.x,
                                                       -s->imu.gyro.y,
                                                       -s->imu.gyro.z,
                                                       -s->imu.accel.x,
                                                       -s->imu.accel.y,
                                                       -s->imu.accel.z,
                                                       q.w,
                                                       q.x,
                                                       q.y,
                                                       q.z,
                                                       velocity.x,
                                                       velocity.y,
                                                       velocity.z,
                                                       location.x,
                                                       location.y,
                                                       location.z,
                                                       s->baro.tick > 0 ? s->baro.pressure
                                                                        : SEA_LEVEL_PRESSURE};
    memcpy(out, numbers, sizeof numbers);
}

void vy_betaflight_pack_rc(const uint16_t channels[BETAFLIGHT_CHANNELS], double time,
                           uint8_t out[BETAFLIGHT_RC_SIZE])
{
    memcpy(out, &time, 8);
    memcpy(out + 8, channels, 2 * BETAFLIGHT_CHANNELS);
}

int vy_betaflight_read_motors(const uint8_t *bytes, size_t size, double out[BETAFLIGHT_MOTORS])
{
    float motors[BETAFLIGHT_MOTORS];
    if (size != sizeof motors) return 0;
    memcpy(motors, bytes, size);
    for (int i = 0; i < BETAFLIGHT_MOTORS; ++i) {
        if (!(fabsf(motors[i]) <= COMMAND_MAX)) return 0;
        out[i] = (double)motors[i];
    }
    return 1;
}
