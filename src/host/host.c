// host.c - opens the controller that a def names: process, plug-in, firmware or pilot.
#define _XOPEN_SOURCE 700 // nanosleep, realpath
#include "host/host.h"
#include "base/read_file.h"
#include "host/channel.h"
#include "host/start.h"
#include "base/fail.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define RETRY_NS 1000000 // [ns] of wall clock between two questions to a controller that is not ready

struct vy_host {
    vy_plugin_host *plugin; // one of the four
    vy_process_host *process;
    vy_firmware_host *firmware;
    vy_pilot_host *pilot;
    confinement *confinement; // NULL: it is not confined
    double boot_time;         // [s] of wall clock that it may take to be ready
    int boot_timed_out;       // it took longer
    vy_rc_point *rc;          // script of the transmitter
    int rc_count, rc_index;   // its points, and of them the last that is not in the future; -1: none yet
};

// --- what it is told

// What the receiver gives at `time`; times of steps are not exact, so half a step of slack.
static vy_rc_sample rc_at(vy_host *h, double time, double dt)
{
    vy_rc_sample out = {.count = 0};
    if (h->rc_index >= 0 && time + 0.5 * dt < h->rc[h->rc_index].time)
        h->rc_index = -1; // the world went back
    while (h->rc_index + 1 < h->rc_count && h->rc[h->rc_index + 1].time <= time + 0.5 * dt) ++h->rc_index;
    if (h->rc_index < 0) return out;
    memcpy(out.channels, h->rc[h->rc_index].channels, sizeof out.channels);
    while (out.count < VY_RC_CAP && out.channels[out.count] != 0.0) ++out.count;
    return out;
}

static void call_controller(vy_host *h, const vy_samples *samples, vy_intent *intent)
{
    memset(intent, 0, sizeof *intent);
    if (h->plugin != NULL)
        vy_plugin_host_call(h->plugin, samples, intent);
    else if (h->firmware != NULL)
        vy_firmware_host_call(h->firmware, samples, intent);
    else
        vy_process_host_call(h->process, samples, intent);
}

// Booting uses up no simulated time: the same question again, until it is ready or its time is over.
static void wait_until_ready(vy_host *h, const vy_samples *samples, vy_intent *intent)
{
    const int64_t start = vy_clock_ns();
    while (intent->verdict == VY_VERDICT_REPLIED && intent->status == VY_REPLY_STATUS_NOT_READY) {
        if ((double)(vy_clock_ns() - start) >= 1e9 * h->boot_time) {
            h->boot_timed_out = 1;
            return;
        }
        (void)nanosleep(&(struct timespec){.tv_nsec = RETRY_NS}, NULL);
        call_controller(h, samples, intent);
    }
}

static void call_host(void *self, const vy_samples *samples, vy_intent *intent)
{
    vy_host *h = self;
    vy_samples samples_with_rc;
    if (h->firmware != NULL) vy_firmware_host_set_logged_reply(h->firmware, intent);
    if (h->rc_count > 0) {
        samples_with_rc = *samples;
        samples_with_rc.rc = rc_at(h, samples->time, samples->dt);
        samples = &samples_with_rc;
    }
    if (!h->boot_timed_out) call_controller(h, samples, intent);
    if (!h->boot_timed_out && intent->verdict == VY_VERDICT_REPLIED &&
        intent->status == VY_REPLY_STATUS_NOT_READY)
        wait_until_ready(h, samples, intent);
    if (h->boot_timed_out) {
        memset(intent, 0, sizeof *intent);
        intent->verdict = VY_VERDICT_NOT_READY;
    }
}

static vy_status copy_rc(const vy_controller_def *def, vy_host *h, vy_error *err)
{
    h->rc_index = -1;
    if (def->rc_count < 0 || def->rc_count > VY_RC_POINT_CAP || (def->rc_count > 0 && def->rc == NULL))
        return vy_fail(err, VY_BAD_VALUE, "controller.rc_count must be 0 to %d, got %d", VY_RC_POINT_CAP,
                       def->rc_count);
    if (def->rc_count == 0) return VY_OK;
    h->rc = malloc((size_t)def->rc_count * sizeof *h->rc);
    if (h->rc == NULL) return vy_fail(err, VY_NO_MEMORY, "controller: out of memory");
    memcpy(h->rc, def->rc, (size_t)def->rc_count * sizeof *h->rc);
    h->rc_count = def->rc_count;
    return VY_OK;
}

// --- opening and closing

// The parameters with absolute paths for files, which are there and those of their digests.
static vy_status resolve_files(const vy_controller_def *def, vy_parameter *out, vy_error *err)
{
    memcpy(out, def->parameters, sizeof def->parameters);
    for (int i = 0; i < def->parameter_count; ++i) {
        vy_parameter *p = &out[i];
        if (p->type != VY_PARAMETER_NUMBER && p->type != VY_PARAMETER_BOOLEAN && p->text == NULL)
            return vy_fail(err, VY_BAD_VALUE, "controller.parameters.%.31s has no text", p->name);
        if (p->type != VY_PARAMETER_FILE) continue;
        const char *folder = def->folder[0] != '\0' ? def->folder : ".";
        const int is_absolute = p->text[0] == '/';
        vy_text path = {0};
        vy_text_printf(&path, "%s%s%s", is_absolute ? "" : folder, is_absolute ? "" : "/", p->text);
        p->text = vy_text_take(&path);
        if (p->text == NULL) {
            p->type = VY_PARAMETER_TEXT; // nothing to free
            return vy_fail(err, VY_NO_MEMORY, "controller: out of memory");
        }
        char *resolved = realpath(p->text, NULL);
        if (resolved != NULL) {
            free((void *)p->text);
            p->text = resolved;
        }
        uint64_t digest = 0;
        const vy_status status = vy_file_digest(p->text, &digest);
        if (status != VY_OK)
            return vy_fail(err, status, "parameters.%.31s: %s %.120s", p->name,
                           status == VY_NOT_FOUND ? "there is no" : "cannot read", p->text);
        if (p->digest != 0 && p->digest != digest)
            return vy_fail(err, VY_BAD_VALUE,
                           "parameters.%.31s: %.100s has changed: its digest is %016llx and not %016llx",
                           p->name, p->text, (unsigned long long)digest, (unsigned long long)p->digest);
    }
    return VY_OK;
}

static void release_files(const vy_controller_def *def, const vy_parameter *parameters)
{
    for (int i = 0; i < def->parameter_count; ++i) {
        if (parameters[i].type == VY_PARAMETER_FILE && parameters[i].text != def->parameters[i].text)
            free((void *)parameters[i].text);
    }
}

static vy_status open_program(vy_host *host, const vy_host_request *request, vy_error *err)
{
    switch (request->def->kind) {
    case VY_CONTROLLER_PLUGIN: return vy_plugin_host_open(request, &host->plugin, err);
    case VY_CONTROLLER_PROCESS: return vy_process_host_open(request, &host->process, err);
    case VY_CONTROLLER_PX4:
    case VY_CONTROLLER_ARDUPILOT:
    case VY_CONTROLLER_CRAZYFLIE:
    case VY_CONTROLLER_BETAFLIGHT: return vy_firmware_host_open(request, &host->firmware, err);
    default: return vy_pilot_host_open(request, &host->pilot, err);
    }
}

// The start message, and the program that gets it.
static vy_status start_program(vy_host *host, const vy_drone_def *drone, const char *name, double dt,
                               const vy_planet_def *planet, vy_error *err)
{
    vy_host_request request = {.def = &drone->controller, .planet = planet};
    vy_parameter parameters[VY_PARAMETER_CAP];
    vy_status status = vy_start_fill(drone, name, dt, planet, &request.start, err);
    if (status != VY_OK) return status;
    status = resolve_files(request.def, parameters, err);
    if (status == VY_OK && request.def->kind != VY_CONTROLLER_PILOT)
        status = vy_confine_prepare(request.def, &host->confinement, err);
    if (status == VY_OK) {
        request.confinement = host->confinement;
        vy_text json = {0};
        request.start.parameters = parameters;
        vy_start_print(&request.start, drone, &json);
        char *text = vy_text_take(&json);
        request.start.json = text;
        if (text == NULL)
            status = vy_fail(err, VY_NO_MEMORY, "controller: out of memory");
        else if (strlen(text) > START_CAP)
            status = vy_fail(err, VY_FULL, "controller: its parameters have more than %d bytes", START_CAP);
        else
            status = open_program(host, &request, err);
        free(text);
    }
    release_files(request.def, parameters);
    return status;
}

vy_status vy_host_open(vy_drone_def *drone, const char *name, double dt, const vy_planet_def *planet,
                       vy_host **out, vy_error *err)
{
    vy_controller_def *const def = &drone->controller;
    *out = NULL;
    if (!vy_controller_is_external(def->kind) || def->kind == VY_CONTROLLER_CALLBACK)
        return vy_fail(err, VY_BAD_VALUE,
                       "controller.kind must be plugin, process, px4, ardupilot, "
                       "betaflight, crazyflie or pilot");
    if (def->from_log) {
        char program[VY_PROGRAM_CAP];
        (void)vy_host_describe(def, program);
        return vy_fail(err, VY_BAD_STATE, "the log names %.140s, which is not started without allow_programs",
                       program);
    }
    if (def->program[0] == '\0' && (def->kind == VY_CONTROLLER_PLUGIN || def->kind == VY_CONTROLLER_PROCESS))
        return vy_fail(err, VY_BAD_VALUE, "controller.program is empty");
    if (!(def->deadline > 0.0 && def->deadline <= 1e6))
        return vy_fail(err, VY_BAD_VALUE, "controller.deadline must be above 0 and at most 1e6 s, got %g",
                       def->deadline);
    if (!(def->boot >= 0.0 && def->boot <= 1e6))
        return vy_fail(err, VY_BAD_VALUE, "controller.boot must be 0 to 1e6 s, got %g", def->boot);
    vy_host *host = calloc(1, sizeof *host);
    if (host == NULL) return vy_fail(err, VY_NO_MEMORY, "controller: out of memory");
    host->boot_time = def->boot;
    vy_status status = copy_rc(def, host, err);
    if (status == VY_OK) status = start_program(host, drone, name, dt, planet, err);
    if (status != VY_OK) {
        vy_confine_release(host->confinement);
        free(host->rc);
        free(host);
        return status;
    }
    def->call = host->pilot != NULL ? vy_pilot_host_call : call_host;
    def->self = host->pilot != NULL ? (void *)host->pilot : (void *)host;
    *out = host;
    return VY_OK;
}

vy_verdict vy_host_finish(vy_host *host, int32_t *detail)
{
    int32_t ignored;
    if (detail == NULL) detail = &ignored;
    *detail = 0;
    if (host->plugin != NULL) return vy_plugin_host_finish(host->plugin, detail);
    if (host->process != NULL) return vy_process_host_finish(host->process, detail);
    if (host->firmware != NULL) return vy_firmware_host_finish(host->firmware, detail);
    return VY_VERDICT_REPLIED;
}

const char *vy_host_output(const vy_host *host)
{
    return host->process != NULL ? vy_process_host_output(host->process) : "";
}

void vy_host_close(vy_host *host)
{
    if (host == NULL) return;
    vy_plugin_host_close(host->plugin);
    vy_process_host_close(host->process);
    vy_firmware_host_close(host->firmware);
    vy_pilot_host_close(host->pilot);
    vy_confine_release(host->confinement);
    free(host->rc);
    free(host);
}
