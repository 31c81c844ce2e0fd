// betaflight.c - Betaflight in the loop: packets of its SITL program. It has no lock-step of its own: `volery
// sitl` gives it one, and without it packets that it leaves unanswered are counted.
#include "bridge/betaflight_link.h"
#include "bridge/betaflight_packet.h"
#include "bridge/betaflight_script.h"
#include "base/fail.h"
#include <stdlib.h>
#include <string.h>

#define RC_PERIOD   0.02 // [s] between two packets of a receiver
#define CLOCK_START 1.0  // [s] of a firmware that has just begun

enum {
    BAD_PACKET_CAP = 100, // packets in a row that are none of a firmware's
    GARBAGE_CAP = 4096,   // [bytes] of its UART that are no MSP
    GARBAGE_DETAIL = -1,
};

typedef struct betaflight {
    betaflight_link *link;
    betaflight_script script;
    bridge_motors motors;
    const vy_planet_def *planet;
    double deadline, period; // [s] of wall clock for an answer; of a call
    double clock_offset;     // [s] by which its clock is ahead of the world's
    int is_ready;
    uint64_t tick;  // of the last samples that were sent, one added; 0: none
    double rc_time; // [s] of its clock, when the channels are sent next
    uint16_t channels[BETAFLIGHT_CHANNELS];
    double commands[BETAFLIGHT_MOTORS];
    int has_answered; // in this call
    int bad_packets;
    double silent_since;                    // [s] of wall clock
    double unanswered_max;                  // share of calls that may stay without an answer
    int window, window_count, missed_count; // calls of the last second, and those without an answer
    int noise_count;                        // packets of the last second that are none of a firmware's
} betaflight;

static void betaflight_close(vy_bridge *bridge)
{
    betaflight *b = (betaflight *)bridge;
    if (b == NULL) return;
    vy_betaflight_link_close(b->link);
    vy_betaflight_script_close(&b->script);
    free(b);
}

static vy_status betaflight_open(const bridge_request *request, vy_bridge **out, vy_error *err)
{
    const vy_controller_def *def = request->def;
    bridge_motors motors;
    *out = NULL;
    if (def->firmware.airframe != VY_AIRFRAME_QUAD_X)
        return vy_fail(err, VY_BAD_VALUE, "airframe: betaflight's program has the motors of quad_x alone");
    if (def->program[0] == '\0' && def->firmware.clock != VY_CLOCK_WALL)
        return vy_fail(
            err, VY_BAD_VALUE,
            "command: none: betaflight by simulated time is started by the run; `clock: wall` waits "
            "for one that runs already");
    vy_status status = vy_bridge_motors(request, &motors, err);
    if (status != VY_OK) return status;
    betaflight *b = calloc(1, sizeof *b);
    if (b == NULL) return vy_fail(err, VY_NO_MEMORY, "controller: out of memory");
    b->motors = motors;
    b->planet = request->planet;
    b->deadline = def->deadline;
    b->period = def->period;
    b->unanswered_max = def->firmware.unanswered;
    b->window = def->period < 1.0 ? (int)(1.0 / def->period + 0.5) : 1;
    b->clock_offset = CLOCK_START;
    b->rc_time = -1e9;
    status = vy_betaflight_script_open(request, &b->script, err);
    if (status == VY_OK) status = vy_betaflight_link_open(def, &b->link, err);
    if (status != VY_OK) {
        betaflight_close((vy_bridge *)b);
        return status;
    }
    *out = (vy_bridge *)b;
    return VY_OK;
}

static int betaflight_inherited(vy_bridge *bridge)
{
    return vy_betaflight_link_inherited_socket(((betaflight *)bridge)->link);
}

static void on_receive(void *self, sitl_kind kind, uint32_t port, const uint8_t *bytes, size_t size)
{
    betaflight *b = self;
    if (kind == SITL_STREAM && port == BETAFLIGHT_UART_PORT) {
        vy_betaflight_script_receive(&b->script, bytes, size);
    } else if (kind == SITL_DATAGRAM && port == BETAFLIGHT_MOTORS_PORT) {
        const int is_valid = vy_betaflight_read_motors(bytes, size, b->commands);
        b->bad_packets = is_valid ? 0 : b->bad_packets + 1;
        b->noise_count += !is_valid;
        b->has_answered |= is_valid;
    }
}

// Sticks of the transmitter, in the middle and the throttle low without one; switches of the script.
static void send_rc(betaflight *b, const vy_rc_sample *rc, double clock)
{
    uint16_t channels[BETAFLIGHT_CHANNELS] = {1500, 1500, 1000, 1500};
    uint8_t packet[BETAFLIGHT_RC_SIZE];
    for (int i = 4; i < BETAFLIGHT_CHANNELS; ++i) channels[i] = 1000;
    for (uint64_t i = 0; i < rc->count && i < BETAFLIGHT_CHANNELS; ++i)
        channels[i] = (uint16_t)(rc->channels[i] + 0.5);
    vy_betaflight_script_set_channels(&b->script, channels);
    if (clock < b->rc_time && memcmp(channels, b->channels, sizeof channels) == 0) return;
    memcpy(b->channels, channels, sizeof channels);
    b->rc_time = clock + RC_PERIOD;
    vy_betaflight_pack_rc(channels, clock, packet);
    vy_betaflight_link_send_packet(b->link, BETAFLIGHT_RC_PORT, packet, sizeof packet);
}

static void set_reply(const betaflight *b, vy_intent *intent)
{
    intent->status = VY_REPLY_STATUS_DISARMED;
    for (int k = 0; k < BETAFLIGHT_MOTORS; ++k) {
        vy_bridge_set_motor(&b->motors, k, b->commands[k], intent);
        if (b->commands[k] > 0.0) intent->status = VY_REPLY_STATUS_ARMED;
    }
}

// Count calls without an answer, by the second. Too many are a verdict: that of noise where most were noise.
static vy_verdict judge_missed(betaflight *b, int32_t *detail)
{
    *detail = 0;
    b->missed_count += !b->has_answered;
    if (++b->window_count < b->window) return VY_VERDICT_REPLIED;
    const int is_exceeded = b->missed_count > b->unanswered_max * b->window;
    const int is_noise = 2 * b->noise_count > b->missed_count;
    if (is_exceeded)
        *detail =
            is_noise ? GARBAGE_DETAIL : (int32_t)((1000LL * b->missed_count + b->window / 2) / b->window);
    b->window_count = b->missed_count = b->noise_count = 0;
    return !is_exceeded ? VY_VERDICT_REPLIED : is_noise ? VY_VERDICT_GARBAGE : VY_VERDICT_UNANSWERED;
}

static vy_verdict exchange(betaflight *b, const vy_samples *samples, double clock, vy_intent *intent,
                           int32_t *detail)
{
    uint8_t packet[BETAFLIGHT_STATE_SIZE], frame[MSP_FRAME_CAP];
    size_t size;
    const double time = samples->time + 0.5 * samples->dt;
    vy_verdict verdict =
        vy_betaflight_script_step(&b->script, time, clock, b->is_ready, frame, &size, detail);
    if (verdict != VY_VERDICT_REPLIED) return verdict;
    vy_betaflight_pack_state(samples, b->planet, clock, packet);
    vy_betaflight_link_send_packet(b->link, BETAFLIGHT_STATE_PORT, packet, sizeof packet);
    send_rc(b, &samples->rc, clock);
    if (size > 0) vy_betaflight_link_send_uart(b->link, frame, size);
    b->has_answered = 0;
    verdict = vy_betaflight_link_run(b->link, clock + b->period, b->period, b->deadline, on_receive, b);
    if (verdict == VY_VERDICT_ENDED) *detail = -1;
    if (verdict != VY_VERDICT_REPLIED) return verdict;
    if (b->bad_packets > BAD_PACKET_CAP || b->script.reader.dropped > GARBAGE_CAP) {
        *detail = GARBAGE_DETAIL;
        return VY_VERDICT_GARBAGE;
    }
    set_reply(b, intent);
    if (b->has_answered || !b->is_ready) b->silent_since = vy_bridge_now();
    if (!b->has_answered) intent->status = VY_REPLY_STATUS_STALE;
    if (vy_bridge_now() - b->silent_since > b->deadline) return VY_VERDICT_LATE;
    *detail = 0;
    return b->is_ready ? judge_missed(b, detail) : VY_VERDICT_REPLIED;
}

static vy_verdict betaflight_step(vy_bridge *bridge, const vy_samples *samples, vy_intent *intent,
                                  int32_t *detail)
{
    betaflight *b = (betaflight *)bridge;
    *detail = 0;
    intent->rung = VY_RUNG_MOTORS;
    intent->status = VY_REPLY_STATUS_DISARMED;
    if (samples->imu.tick == 0 && !b->is_ready) return VY_VERDICT_REPLIED; // nothing to boot with yet
    intent->status = VY_REPLY_STATUS_NOT_READY;
    const int link_status = vy_betaflight_link_is_up(b->link);
    if (link_status < 0) {
        *detail = -1;
        return VY_VERDICT_ENDED;
    }
    if (link_status == 0) return VY_VERDICT_REPLIED;
    if (b->tick == samples->tick + 1) b->clock_offset += b->period;
    b->tick = samples->tick + 1;
    const vy_verdict verdict = exchange(b, samples, b->clock_offset + samples->time, intent, detail);
    if (verdict != VY_VERDICT_REPLIED || b->is_ready) return verdict;
    b->is_ready = b->has_answered && vy_betaflight_script_is_ready(&b->script);
    if (!b->is_ready) intent->status = VY_REPLY_STATUS_NOT_READY;
    return VY_VERDICT_REPLIED;
}

const bridge_kind vy_betaflight_bridge = {.open = betaflight_open,
                                          .step = betaflight_step,
                                          .close = betaflight_close,
                                          .inherited_socket = betaflight_inherited};
