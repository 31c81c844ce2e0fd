// betaflight_script.h - Betaflight told what to do: its switches are set up over MSP, a script turns them,
// and MSP says whether it obeys.
#pragma once
#include "bridge/bridge.h"
#include "bridge/betaflight_packet.h"
#include "bridge/msp.h"

/// All zero but for what vy_betaflight_script_open() sets.
typedef struct betaflight_script {
    int line_count, line_next; // the next to be obeyed
    vy_script_line *lines;     // owned
    double line_since;         // [s] when it was first asked for; NAN: not yet
    double patience;           // [s] within which a line must be obeyed
    int setup_reply_count;     // how many of the questions of the beginning have an answer
    double sent_time;          // [s] of the firmware's clock
    int is_armed, is_angle;    // what the switches ask for
    msp_reader reader;
} betaflight_script;

vy_status vy_betaflight_script_open(const bridge_request *request, betaflight_script *out, vy_error *err);
void vy_betaflight_script_close(betaflight_script *script);

/// Have the switches been set up?
int vy_betaflight_script_is_ready(const betaflight_script *script);

/// The question of this moment to the firmware's UART; 0 bytes: none.
/// @param time [s] of the world, `clock` of the firmware, `running` 0 while it boots
/// @param line of a refusal: which, from 1 on
/// @return VY_VERDICT_REFUSED when a line was not obeyed in time
vy_verdict vy_betaflight_script_step(betaflight_script *script, double time, double clock, int running,
                                     uint8_t out[MSP_FRAME_CAP], size_t *size, int32_t *line);

/// Bytes of the firmware's UART.
void vy_betaflight_script_receive(betaflight_script *script, const uint8_t *bytes, size_t size);

/// Channels 5 and 6 are the script's, if there is one; the others are as they are.
void vy_betaflight_script_set_channels(const betaflight_script *script,
                                       uint16_t channels[BETAFLIGHT_CHANNELS]);
