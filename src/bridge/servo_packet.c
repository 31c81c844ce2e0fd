// servo_packet.c - packets of ArduPilot's JSON interface: a number that says the size, rate, frame, outputs.
#include "bridge/servo_packet.h"

enum { MAGIC_16 = 18458, MAGIC_32 = 29569, HEAD_SIZE = 8 };

static uint16_t get_u16(const uint8_t *b) { return (uint16_t)(b[0] | b[1] << 8); }

int vy_servo_packet_read(const uint8_t *bytes, size_t size, servo_packet *out)
{
    if (size < HEAD_SIZE) return 0;
    const uint16_t magic = get_u16(bytes);
    const int count = magic == MAGIC_16 ? 16 : magic == MAGIC_32 ? 32 : 0;
    if (count == 0 || size != HEAD_SIZE + 2 * (size_t)count) return 0;
    *out = (servo_packet){.rate = get_u16(bytes + 2),
                          .frame = get_u16(bytes + 4) | (uint32_t)get_u16(bytes + 6) << 16,
                          .count = count};
    for (int i = 0; i < count; ++i) out->pwm[i] = get_u16(bytes + HEAD_SIZE + 2 * i);
    return 1;
}
