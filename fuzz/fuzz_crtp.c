// fuzz_crtp.c - any bytes as the packets of a Crazyflie's client, and time between them. Oracles: the
// sanitizers; an answer is on the port and channel of its question and fits a packet; logged packets are no
// more than the blocks; whatever was asked for, the place and speed to fly to are finite, and a locked drone
// has its motors off.
#include "bridge/crtp.h"
#include <math.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int condition)
{
    if (!condition) abort();
}

static void check_outputs(crtp_device *device)
{
    crtp_packet packet;
    int sent = 0, motors_on;
    while (vy_crtp_log_next(device, &packet)) {
        check(packet.size >= 4 && packet.size <= CRTP_DATA_CAP && packet.header >> 4 == CRTP_LOG);
        check(++sent <= CRTP_BLOCK_CAP);
    }
    const plan_point goal = vy_crtp_goal(device, &motors_on);
    const vy_vec3 *vectors[] = {&goal.position, &goal.velocity};
    for (int i = 0; i < 2; ++i)
        check(isfinite(vectors[i]->x) && isfinite(vectors[i]->y) && isfinite(vectors[i]->z));
    check(isfinite(goal.yaw) && isfinite(goal.yaw_rate));
    check(!motors_on || (device->is_armed && !device->is_locked));
}

// Each packet is its size, the time since the one before in units of 10 ms, and its bytes.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static crtp_device device;
    vy_crtp_begin(&device);
    device.values[CRTP_LOG_stateEstimate_z] = 0.5;
    device.values[CRTP_LOG_stateEstimate_yaw] = 30.0;
    while (size >= 2) {
        const size_t stated_size = data[0] % 40u,
                     packet_size = stated_size < size - 2 ? stated_size : size - 2;
        crtp_packet answer;
        device.time += 0.01 * data[1];
        if (vy_crtp_handle(&device, data + 2, packet_size, &answer)) {
            check(answer.size <= CRTP_DATA_CAP && packet_size >= 1 && answer.header == data[2]);
        }
        check_outputs(&device);
        data += 2 + packet_size;
        size -= 2 + packet_size;
    }
    return 0;
}
