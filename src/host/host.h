// host.h - what the kinds of controllers share.
#pragma once
#include "host/confine.h"
#include "volery/host.h"

enum { END_MILLISECONDS = 1000 }; // to end by itself when the world has

typedef struct vy_plugin_host vy_plugin_host;
typedef struct vy_process_host vy_process_host;
typedef struct vy_pilot_host vy_pilot_host;
typedef struct vy_firmware_host vy_firmware_host;

/// What to open, and for which drone.
typedef struct vy_host_request {
    const vy_controller_def *def;
    vy_plugin_start start;          ///< with its JSON
    const vy_planet_def *planet;    ///< or NULL
    const confinement *confinement; ///< NULL: it is not confined
} vy_host_request;

vy_status vy_plugin_host_open(const vy_host_request *request, vy_plugin_host **out, vy_error *err);
vy_verdict vy_plugin_host_finish(vy_plugin_host *host, int32_t *detail);
void vy_plugin_host_close(vy_plugin_host *host);
void vy_plugin_host_call(void *host, const vy_samples *samples, vy_intent *intent);

vy_status vy_process_host_open(const vy_host_request *request, vy_process_host **out, vy_error *err);
vy_verdict vy_process_host_finish(vy_process_host *host, int32_t *detail);
void vy_process_host_close(vy_process_host *host);
const char *vy_process_host_output(const vy_process_host *host);
void vy_process_host_call(void *host, const vy_samples *samples, vy_intent *intent);

vy_status vy_pilot_host_open(const vy_host_request *request, vy_pilot_host **out, vy_error *err);
void vy_pilot_host_close(vy_pilot_host *host);
void vy_pilot_host_call(void *host, const vy_samples *samples, vy_intent *intent);

vy_status vy_firmware_host_open(const vy_host_request *request, vy_firmware_host **out, vy_error *err);
vy_verdict vy_firmware_host_finish(vy_firmware_host *host, int32_t *detail);
void vy_firmware_host_close(vy_firmware_host *host);

/// In a branch, before a call: the debug of the logged reply. Otherwise it is zero, which says nothing.
void vy_firmware_host_set_logged_reply(vy_firmware_host *host, const vy_intent *logged);
void vy_firmware_host_call(void *host, const vy_samples *samples, vy_intent *intent);
