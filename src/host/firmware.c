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
    const bridge_kind *kind;
    vy_bridge *bridge; // NULL: closed
    int is_over_udp;   // silence may be its end
    int is_client;     // it may end when it has flown
    child child;       // pid 0: one that connects by itself
    shared_core core;
    int is_dead;
    vy_verdict verdict;
    int32_t detail;
};

static const bridge_kind *bridge_kind_of(vy_controller_kind kind)
{
    return kind == VY_CONTROLLER_PX4         ? &vy_px4_bridge
           : kind == VY_CONTROLLER_ARDUPILOT ? &vy_ardupilot_bridge
           : kind == VY_CONTROLLER_CRAZYFLIE ? &vy_crazyflie_bridge
                                             : &vy_betaflight_bridge;
}

vy_status vy_firmware_host_open(const vy_host_request *request, vy_firmware_host **out, vy_error *err)
{
    const bridge_request bridge = {.def = request->def, .start = &request->start, .planet = request->planet};
    vy_firmware_host *h = calloc(1, sizeof *h);
    if (h == NULL) return vy_fail(err, VY_NO_MEMORY, "controller: out of memory");
    h->child = (child){.lifeline = -1, .owner = getpid()};
    h->core.core = -1;
    h->kind = bridge_kind_of(request->def->kind);
    h->is_client = request->def->kind == VY_CONTROLLER_CRAZYFLIE;
    h->is_over_udp = request->def->kind != VY_CONTROLLER_PX4;
    vy_status status = h->kind->open(&bridge, &h->bridge, err);
    if (status == VY_OK && request->def->program[0] != '\0') {
        const int inherited_fd =
            h->kind->inherited_socket != NULL ? h->kind->inherited_socket(h->bridge) : -1;
        status = vy_launch(request, -1, inherited_fd, &h->child, &h->core, err);
    }
    if (status != VY_OK) {
        vy_firmware_host_close(h);
        return status;
    }
    *out = h;
    return VY_OK;
}

static void close_bridge(vy_firmware_host *h)
{
    h->kind->close(h->bridge);
    h->bridge = NULL;
}

// Ask it to end, then end it.
static void end_child(vy_firmware_host *h, int milliseconds)
{
    vy_verdict verdict;
    int32_t detail;
    if (h->child.pid <= 0 || h->child.owner != getpid()) return;
    if (!vy_child_wait(&h->child, 0, &verdict, &detail)) {
        (void)kill(-h->child.pid, SIGTERM);
        (void)vy_child_wait(&h->child, milliseconds, &verdict, &detail);
    }
    vy_child_end(&h->child);
}

vy_verdict vy_firmware_host_finish(vy_firmware_host *h, int32_t *detail)
{
    close_bridge(h);
    *detail = 0;
    end_child(h, END_MILLISECONDS);
    if (!h->is_dead) h->verdict = VY_VERDICT_ABSENT;
    h->is_dead = 1;
    return VY_VERDICT_REPLIED; // however it ends when its world has gone
}

void vy_firmware_host_close(vy_firmware_host *h)
{
    if (h == NULL) return;
    int32_t detail;
    (void)vy_firmware_host_finish(h, &detail);
    vy_core_unpin(&h->core);
    free(h);
}

// A client may end when it has flown; how it ended is asked for while it flies.
static int has_failed(const vy_firmware_host *h, vy_verdict verdict, int32_t detail)
{
    return !h->is_client || verdict != VY_VERDICT_ENDED || detail != 0;
}

void vy_firmware_host_set_logged_reply(vy_firmware_host *h, const vy_intent *logged)
{
    if (!h->is_dead && h->kind->set_logged_reply != NULL) h->kind->set_logged_reply(h->bridge, logged);
}

void vy_firmware_host_call(void *host, const vy_samples *samples, vy_intent *intent)
{
    vy_firmware_host *h = host;
    vy_core_pin(&h->core);
    if (!h->is_dead) {
        vy_verdict end_verdict;
        int32_t end_detail;
        h->verdict = h->kind->step(h->bridge, samples, intent, &h->detail);
        // How did it end; and has it, before it has connected?
        const int may_have_ended =
            h->verdict == VY_VERDICT_ENDED || (h->verdict != VY_VERDICT_REPLIED && h->is_over_udp);
        const int is_booting =
            h->verdict == VY_VERDICT_REPLIED && intent->status == VY_REPLY_STATUS_NOT_READY;
        if (h->child.pid > 0 && (may_have_ended || is_booting || h->is_client) &&
            vy_child_wait(&h->child, h->verdict == VY_VERDICT_ENDED ? REAP_MILLISECONDS : 0, &end_verdict,
                          &end_detail) &&
            (may_have_ended || is_booting || has_failed(h, end_verdict, end_detail))) {
            h->verdict = end_verdict;
            h->detail = end_detail;
        }
        h->is_dead = h->verdict != VY_VERDICT_REPLIED;
        if (h->is_dead) {
            close_bridge(h);
            end_child(h, 0);
        }
    }
    intent->verdict = h->verdict;
    intent->detail = h->detail;
}
