// msp.h - MSP, the protocol of Betaflight's configurator: frames of the first version, both ways.
#pragma once
#include <stddef.h>
#include <stdint.h>

enum { MSP_BODY_CAP = 255, MSP_FRAME_CAP = MSP_BODY_CAP + 6 };

typedef struct msp_frame {
    int is_refused; ///< the firmware does not know the command, or will not
    uint8_t command;
    size_t size;
    uint8_t body[MSP_BODY_CAP];
} msp_frame;

/// Bytes of a firmware as they come; all zero is the start.
typedef struct msp_reader {
    size_t count;   ///< bytes of a frame so far
    size_t dropped; ///< that were none of MSP, since the last frame
    uint8_t bytes[MSP_FRAME_CAP];
} msp_reader;

/// A question to the firmware. Returns its size.
size_t vy_msp_pack(uint8_t command, const void *body, size_t size, uint8_t out[MSP_FRAME_CAP]);

/// Take one byte. 1: a reply of the firmware is whole.
int vy_msp_parse_byte(msp_reader *reader, uint8_t byte, msp_frame *out);
