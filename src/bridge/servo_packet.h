// servo_packet.h - what ArduPilot sends to a simulator: its servo outputs, in packets of two sizes.
#pragma once
#include <stddef.h>
#include <stdint.h>

enum { SERVO_CAP = 32 };

typedef struct servo_packet {
    uint16_t rate;           // [Hz] at which it wants to be answered
    uint32_t frame;          // its number
    int count;               // of outputs: 16 or 32
    uint16_t pwm[SERVO_CAP]; // [us]
} servo_packet;

/// 0: the bytes are no such packet.
int vy_servo_packet_read(const uint8_t *bytes, size_t size, servo_packet *out);
