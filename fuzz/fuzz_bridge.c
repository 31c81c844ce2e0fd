// fuzz_bridge.c - any bytes as what Betaflight and ArduPilot send: MSP on a UART, motors and servo packets.
// Oracles: the sanitizers; commands that are finite; a reply of MSP that is read is, packed again, the same
// but for its direction; every byte is part of a reply, dropped or kept for later.
#include "bridge/betaflight_packet.h"
#include "bridge/betaflight_script.h"
#include "bridge/servo_packet.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int condition)
{
    if (!condition) abort();
}

static void read_msp(const uint8_t *data, size_t size)
{
    msp_reader reader = {.count = 0};
    msp_frame frame;
    size_t dropped_bytes = 0, framed_bytes = 0;
    for (size_t i = 0; i < size; ++i) {
        const size_t dropped_before = reader.dropped;
        if (!vy_msp_parse_byte(&reader, data[i], &frame)) {
            dropped_bytes += reader.dropped - dropped_before;
        } else {
            uint8_t bytes[MSP_FRAME_CAP];
            const size_t frame_size = vy_msp_pack(frame.command, frame.body, frame.size, bytes);
            framed_bytes += frame_size;
            check(frame_size <= i + 1 &&
                  memcmp(bytes + 3, data + i + 1 - frame_size + 3, frame_size - 3) == 0);
            check(reader.count == 0 && reader.dropped == 0);
        }
        check(reader.count < MSP_FRAME_CAP && framed_bytes + dropped_bytes + reader.count == i + 1);
    }
}

// A script that hears it: lines are obeyed one after the other, and never more than there are.
static void feed_script(const uint8_t *data, size_t size)
{
    vy_script_line lines[3] = {{.action = VY_SCRIPT_MODE, .mode = VY_MODE_STABILIZED},
                               {.action = VY_SCRIPT_ARM},
                               {.action = VY_SCRIPT_DISARM}};
    vy_controller_def def = {.firmware = {.patience = 30.0, .script_count = 3, .script = lines}};
    betaflight_script script;
    uint8_t out[MSP_FRAME_CAP];
    size_t request_size;
    int32_t line;
    check(vy_betaflight_script_open(&(bridge_request){.def = &def}, &script, NULL) == VY_OK);
    for (size_t at = 0; at < size; at += 16) {
        const double time = 0.01 * (double)at;
        (void)vy_betaflight_script_step(&script, time, time, vy_betaflight_script_is_ready(&script), out,
                                        &request_size, &line);
        check(request_size <= sizeof out);
        vy_betaflight_script_receive(&script, data + at, size - at < 16 ? size - at : 16);
        check(script.line_next <= script.line_count);
    }
    vy_betaflight_script_close(&script);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    double motors[BETAFLIGHT_MOTORS];
    servo_packet servos;
    if (vy_betaflight_read_motors(data, size, motors)) {
        check(size == 16);
        for (int i = 0; i < BETAFLIGHT_MOTORS; ++i) check(isfinite(motors[i]));
    }
    if (vy_servo_packet_read(data, size, &servos)) check(size == 8 + 2 * (size_t)servos.count);
    read_msp(data, size);
    feed_script(data, size);
    return 0;
}
