// firmware.c - an autopilot's firmware as a controller: its process, if we start it, and the bridge to it.
#define _GNU_SOURCE // kill
#include "base/assert.h"
#include "base/fail.h"
#include "bridge/bridge.h"
#include "host/host.h"
#include "host/launch.h"
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

enum { REAP_MILLISECONDS = 1000 }; // from the end of its connection to the end of the process

struct vy_firmware_host {
    vy_px4 *px4; // one of the three
    vy_ardupilot *ardupilot;
    vy_crazyflie *crazyflie;
    child child; // pid 0: one that connects by itself
    shared_core core;
    int dead;
    vy_verdict verdict;
    int32_t detail;
};

static vy_status open_bridge(vy_firmware_host *h, const bridge_job *job, vy_error *err)
{
    if (job->def->kind == VY_CONTROLLER_PX4) return vy_px4_open(job, &h->px4, err);
    if (job->def->kind == VY_CONTROLLER_ARDUPILOT) return vy_ardupilot_open(job, &h->ardupilot, err);
    return vy_crazyflie_open(job, &h->crazyflie, err);
}

vy_status vy_firmware_host_open(const vy_host_request *job, vy_firmware_host **out, vy_error *err)
{
    const bridge_job bridge = {.def = job->def, .start = &job->start, .planet = job->planet};
    vy_firmware_host *h = calloc(1, sizeof *h);
    if (h == NULL) return vy_fail(err, VY_NO_MEMORY, "controller: out of memory");
    h->child = (child){.lifeline = -1, .owner = getpid()};
    h->core.core = -1;
    vy_status status = open_bridge(h, &bridge, err);
    if (status == VY_OK && job->def->program[0] != '\0')
        status = vy_launch(job, -1, &h->child, &h->core, err);
    if (status != VY_OK) {
        vy_firmware_host_close(h);
        return status;
    }
    *out = h;
    return VY_OK;
}

static void close_bridge(vy_firmware_host *h)
{
    vy_px4_close(h->px4);
    vy_ardupilot_close(h->ardupilot);
    vy_crazyflie_close(h->crazyflie);
    h->px4 = NULL;
    h->ardupilot = NULL;
    h->crazyflie = NULL;
}

// Ask it to end, then end it.
static void end_child(vy_firmware_host *h, int milliseconds)
{
    vy_verdict verdict;
    int32_t how;
    if (h->child.pid <= 0 || h->child.owner != getpid()) return;
    if (!vy_child_wait(&h->child, 0, &verdict, &how)) {
        (void)kill(-h->child.pid, SIGTERM);
        (void)vy_child_wait(&h->child, milliseconds, &verdict, &how);
    }
    vy_child_end(&h->child);
}

vy_verdict vy_firmware_host_finish(vy_firmware_host *h, int32_t *detail)
{
    close_bridge(h);
    *detail = 0;
    end_child(h, END_MILLISECONDS);
    if (!h->dead) h->verdict = VY_VERDICT_ABSENT;
    h->dead = 1;
    return VY_VERDICT_REPLIED; // however it ends when its world has gone
}

void vy_firmware_host_close(vy_firmware_host *h)
{
    if (h == NULL) return;
    int32_t detail;
    (void)vy_firmware_host_finish(h, &detail);
    vy_core_release(&h->core);
    free(h);
}

static vy_verdict step_bridge(vy_firmware_host *h, const vy_samples *samples, vy_intent *intent)
{
    if (h->px4 != NULL) return vy_px4_step(h->px4, samples, intent, &h->detail);
    if (h->ardupilot != NULL) return vy_ardupilot_step(h->ardupilot, samples, intent, &h->detail);
    return vy_crazyflie_step(h->crazyflie, samples, intent, &h->detail);
}

// A client may end when it has flown; how it ended is asked for while it flies.
static int has_failed(const vy_firmware_host *h, vy_verdict ended, int32_t how)
{
    return h->crazyflie == NULL || ended != VY_VERDICT_ENDED || how != 0;
}

void vy_firmware_host_call(void *host, const vy_samples *samples, vy_intent *intent)
{
    vy_firmware_host *h = host;
    vy_core_share(&h->core);
    if (!h->dead) {
        vy_verdict ended;
        int32_t how;
        h->verdict = step_bridge(h, samples, intent);
        // How did it end; and has it, before it has connected?
        // Over UDP silence may be the end, too.
        const int gone = h->verdict == VY_VERDICT_ENDED || (h->verdict == VY_VERDICT_LATE && h->px4 == NULL);
        const int boots = h->verdict == VY_VERDICT_REPLIED && intent->status == VY_STATUS_NOT_READY;
        if (h->child.pid > 0 && (gone || boots || h->crazyflie != NULL) &&
            vy_child_wait(&h->child, h->verdict == VY_VERDICT_ENDED ? REAP_MILLISECONDS : 0, &ended, &how) &&
            (gone || boots || has_failed(h, ended, how))) {
            h->verdict = ended;
            h->detail = how;
        }
        h->dead = h->verdict != VY_VERDICT_REPLIED;
        if (h->dead) {
            close_bridge(h);
            end_child(h, 0);
        }
    }
    intent->verdict = h->verdict;
    intent->detail = h->detail;
}
