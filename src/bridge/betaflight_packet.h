// betaflight_packet.h - the packets between Betaflight's SITL program and a simulator, as of its versions 4.6
// and 2026.6.
#pragma once
#include "bridge/bridge.h"

enum {
    BETAFLIGHT_MOTORS_PORT = 9002, // the simulator's
    BETAFLIGHT_STATE_PORT = 9003,
    BETAFLIGHT_RC_PORT = 9004,
    BETAFLIGHT_UART_PORT = 5761, // TCP, for MSP
    BETAFLIGHT_STATE_SIZE = 144, // [bytes]
    BETAFLIGHT_RC_SIZE = 40,
    BETAFLIGHT_CHANNELS = 16,
    BETAFLIGHT_MOTORS = 4,
};

/// The state: gyroscope, accelerometer and pressure are measured, attitude, velocity and place are the truth.
/// @param time [s] of the firmware
void vy_betaflight_pack_state(const vy_samples *samples, const vy_planet_def *planet, double time,
                              uint8_t out[BETAFLIGHT_STATE_SIZE]);

/// What a receiver gives [us].
void vy_betaflight_pack_rc(const uint16_t channels[BETAFLIGHT_CHANNELS], double time,
                           uint8_t out[BETAFLIGHT_RC_SIZE]);

/// Motor commands in the order of quad_x. 0: the bytes are no such packet.
int vy_betaflight_read_motors(const uint8_t *bytes, size_t size, double out[BETAFLIGHT_MOTORS]);
