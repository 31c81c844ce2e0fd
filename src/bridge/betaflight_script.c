// betaflight_script.c - switches by MSP: ARM on channel 5, ANGLE on channel 6, both above 1700 us.
#include "bridge/betaflight_script.h"
#include "base/fail.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RETRY_PERIOD 0.1 // [s] after which a question is asked again

enum {
    MSP_API_VERSION = 1,
    MSP_SET_MODE_RANGE = 35,
    MSP_STATUS = 101,
    FLAGS_AT = 6, // in the answer to MSP_STATUS: which boxes are active
    BOX_ARM = 0,  // of a box its number, and its place in the flags
    BOX_ANGLE = 1,
    CHANNEL_ARM = 4,
    CHANNEL_ANGLE = 5,
    SWITCH_ON = 2000, // [us]
    SWITCH_OFF = 1000,
};

// A range of a switch is in steps of 25 us above 900.
#define RANGE_STEP(us) (((us)-900) / 25)

typedef struct msp_request {
    uint8_t command;
    uint8_t size;
    uint8_t body[5]; // slot, box, switch from channel 5 on, from, to
} msp_request;

static const msp_request setup_requests[] = {
    {MSP_API_VERSION, 0, {0}},
    {MSP_SET_MODE_RANGE, 5, {0, BOX_ARM, CHANNEL_ARM - 4, RANGE_STEP(1700), RANGE_STEP(2100)}},
    {MSP_SET_MODE_RANGE, 5, {1, BOX_ANGLE, CHANNEL_ANGLE - 4, RANGE_STEP(1700), RANGE_STEP(2100)}},
};
enum { SETUP_REQUEST_COUNT = sizeof setup_requests / sizeof setup_requests[0] };

vy_status vy_betaflight_script_open(const bridge_request *request, betaflight_script *out, vy_error *err)
{
    const vy_firmware_def *f = &request->def->firmware;
    *out = (betaflight_script){.line_since = (double)NAN, .sent_time = -1e9, .patience = f->patience};
    if (f->script_count < 0 || f->script_count > VY_SCRIPT_CAP)
        return vy_fail(err, VY_BAD_VALUE, "controller.script has at most %d lines", VY_SCRIPT_CAP);
    out->lines = calloc((size_t)f->script_count + 1, sizeof *out->lines);
    if (out->lines == NULL) return vy_fail(err, VY_NO_MEMORY, "controller: out of memory");
    if (f->script_count > 0) memcpy(out->lines, f->script, (size_t)f->script_count * sizeof *out->lines);
    out->line_count = f->script_count;
    return VY_OK;
}

void vy_betaflight_script_close(betaflight_script *s)
{
    free(s->lines);
    s->lines = NULL;
}

int vy_betaflight_script_is_ready(const betaflight_script *s)
{
    return s->setup_reply_count == SETUP_REQUEST_COUNT;
}

static void set_switches(betaflight_script *s, const vy_script_line *line)
{
    if (line->action == VY_SCRIPT_ARM) s->is_armed = 1;
    if (line->action == VY_SCRIPT_DISARM) s->is_armed = 0;
    if (line->action == VY_SCRIPT_MODE) s->is_angle = line->mode == VY_MODE_STABILIZED;
}

static size_t pack_request(const msp_request *q, uint8_t out[MSP_FRAME_CAP])
{
    return vy_msp_pack(q->command, q->body, q->size, out);
}

vy_verdict vy_betaflight_script_step(betaflight_script *s, double time, double clock, int running,
                                     uint8_t out[MSP_FRAME_CAP], size_t *size, int32_t *line)
{
    static const msp_request status = {MSP_STATUS, 0, {0}};
    const int is_due = clock - s->sent_time >= RETRY_PERIOD;
    *size = 0;
    if (!vy_betaflight_script_is_ready(s)) {
        if (is_due) *size = pack_request(&setup_requests[s->setup_reply_count], out);
        if (is_due) s->sent_time = clock;
        return VY_VERDICT_REPLIED;
    }
    if (!running || s->line_next >= s->line_count || time < s->lines[s->line_next].time)
        return VY_VERDICT_REPLIED;
    if (isnan(s->line_since)) {
        s->line_since = time;
        s->sent_time = clock; // its answer is of after the switch
        set_switches(s, &s->lines[s->line_next]);
        return VY_VERDICT_REPLIED;
    }
    if (time - s->line_since > s->patience) {
        *line = s->line_next + 1;
        return VY_VERDICT_REFUSED;
    }
    if (is_due) *size = pack_request(&status, out);
    if (is_due) s->sent_time = clock;
    return VY_VERDICT_REPLIED;
}

static void handle_response(betaflight_script *s, const msp_frame *f)
{
    if (!vy_betaflight_script_is_ready(s)) {
        if (f->is_refused || f->command != setup_requests[s->setup_reply_count].command) return;
        ++s->setup_reply_count;
        s->sent_time = -1e9; // the next at once
        return;
    }
    if (f->command != MSP_STATUS || f->size <= FLAGS_AT || isnan(s->line_since)) return;
    const int is_armed = f->body[FLAGS_AT] >> BOX_ARM & 1, is_angle = f->body[FLAGS_AT] >> BOX_ANGLE & 1;
    const vy_script_line *line = &s->lines[s->line_next];
    if (line->action == VY_SCRIPT_MODE ? is_angle != s->is_angle : is_armed != s->is_armed) return;
    ++s->line_next;
    s->line_since = (double)NAN;
}

void vy_betaflight_script_receive(betaflight_script *s, const uint8_t *bytes, size_t size)
{
    msp_frame frame;
    for (size_t i = 0; i < size; ++i) {
        if (vy_msp_parse_byte(&s->reader, bytes[i], &frame)) handle_response(s, &frame);
    }
}

void vy_betaflight_script_set_channels(const betaflight_script *s, uint16_t channels[BETAFLIGHT_CHANNELS])
{
    if (s->line_count == 0) return;
    channels[CHANNEL_ARM] = s->is_armed ? SWITCH_ON : SWITCH_OFF;
    channels[CHANNEL_ANGLE] = s->is_angle ? SWITCH_ON : SWITCH_OFF;
}
