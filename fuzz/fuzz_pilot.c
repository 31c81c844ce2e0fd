// fuzz_pilot.c - any bytes as a file of keys. Oracles: the sanitizers; a file that is refused is refused with
// a sentence; one that is taken moves the sticks within their range, and leaves them alone after the last
// key.
#define _GNU_SOURCE
#include "host/host.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { STEPS = 100 };
#define STEP 0.04 // [s]

static void check(int condition)
{
    if (!condition) abort();
}

static int is_within(double x, double low, double high) { return x >= low && x <= high; }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static vy_drone_def drone;
    static vy_samples samples;
    const int fd = memfd_create("keys", 0);
    check(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    if (drone.controller.kind != VY_CONTROLLER_PILOT) drone = vy_default_drone_def();
    drone.controller.kind = VY_CONTROLLER_PILOT;
    snprintf(drone.controller.program, sizeof drone.controller.program, "/proc/self/fd/%d", fd);
    const vy_host_request request = {.def = &drone.controller};
    vy_pilot_host *host = NULL;
    vy_error err;
    err.text[0] = '\0';
    const vy_status status = vy_pilot_host_open(&request, &host, &err);
    check((status == VY_OK) == (host != NULL));
    check(status == VY_OK || err.text[0] != '\0');
    for (int i = 0; i <= STEPS && host != NULL; ++i) {
        samples.tick = (uint64_t)i;
        samples.time = i < STEPS ? STEP * i : 2e9;
        vy_intent intent = {0};
        vy_pilot_host_call(host, &samples, &intent);
        check(intent.verdict == VY_VERDICT_REPLIED && intent.rung == VY_RUNG_PILOT);
        check(is_within(intent.throttle, 0.0, VY_THROTTLE_STEPS) && is_within(intent.strafe, -1.0, 1.0) &&
              is_within(intent.vertical, -1.0, 1.0) && is_within(intent.yaw, -1.0, 1.0));
    }
    vy_pilot_host_close(host);
    close(fd);
    return 0;
}
