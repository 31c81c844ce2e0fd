// fuzz_crtp.c - any bytes as the packets of a Crazyflie's client, and time between them. Oracles: the
// sanitizers; an answer is on the port and channel of its question and fits a packet; logged packets are no
// more than the blocks; whatever was asked for, the place and speed to fly to are finite, and a locked drone
// has its motors off.
#include "bridge/crtp.h"
#include <math.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int good)
{
    if (!good) abort();
}

static void fly(crtp_device *d)
{
    crtp_packet p;
    int sent = 0, motors;
    while (vy_crtp_log_next(d, &p)) {
        check(p.size >= 4 && p.size <= CRTP_DATA_CAP && p.header >> 4 == CRTP_LOG);
        check(++sent <= CRTP_BLOCK_CAP);
    }
    const plan_point goal = vy_crtp_goal(d, &motors);
    const vy_vec3 *list[] = {&goal.position, &goal.velocity};
    for (int i = 0; i < 2; ++i) check(isfinite(list[i]->x) && isfinite(list[i]->y) && isfinite(list[i]->z));
    check(isfinite(goal.yaw) && isfinite(goal.yaw_rate));
    check(!motors || (d->is_armed && !d->is_locked));
}

// Each packet is its size, the time since the one before in units of 10 ms, and its bytes.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static crtp_device d;
    vy_crtp_begin(&d);
    d.values[CRTP_LOG_stateEstimate_z] = 0.5;
    d.values[CRTP_LOG_stateEstimate_yaw] = 30.0;
    while (size >= 2) {
        const size_t asked = data[0] % 40u, count = asked < size - 2 ? asked : size - 2;
        crtp_packet answer;
        d.time += 0.01 * data[1];
        if (vy_crtp_handle(&d, data + 2, count, &answer)) {
            check(answer.size <= CRTP_DATA_CAP && count >= 1 && answer.header == data[2]);
        }
        fly(&d);
        data += 2 + count;
        size -= 2 + count;
    }
    return 0;
}
