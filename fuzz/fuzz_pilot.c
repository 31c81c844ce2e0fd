// fuzz_pilot.c - any bytes as a file of keys. Oracles: the sanitizers; a file that is refused is refused with
// a sentence; one that is taken moves the sticks within their range, and leaves them alone after the last
// key.
#define _GNU_SOURCE
#include "volery/host.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int good)
{
    if (!good) abort();
}

static int within(double x, double low, double high) { return x >= low && x <= high; }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const int file = memfd_create("keys", 0);
    if (file < 0 || write(file, data, size) != (ssize_t)size) abort();
    vy_drone_def drone = vy_default_drone_def();
    vy_controller_def *const def = &drone.controller;
    def->kind = VY_CONTROLLER_PILOT;
    snprintf(def->program, sizeof def->program, "/proc/self/fd/%d", file);
    vy_host *host = NULL;
    vy_error err = {0};
    const vy_status status = vy_host_open(&drone, "fuzz", 0.001, NULL, &host, &err);
    check((status == VY_OK) == (host != NULL));
    check(status == VY_OK || err.text[0] != '\0');
    for (int i = 0; i <= 400 && host != NULL; ++i) {
        const vy_samples samples = {.tick = (uint64_t)i, .time = i < 400 ? 0.01 * i : 2e9, .dt = 0.001};
        vy_intent intent = {0};
        def->call(def->self, &samples, &intent);
        check(intent.verdict == VY_VERDICT_REPLIED && intent.rung == VY_RUNG_PILOT);
        check(within(intent.throttle, 0.0, VY_THROTTLE_STEPS) && within(intent.strafe, -1.0, 1.0) &&
              within(intent.vertical, -1.0, 1.0) && within(intent.yaw, -1.0, 1.0));
    }
    vy_host_close(host);
    close(file);
    return 0;
}
