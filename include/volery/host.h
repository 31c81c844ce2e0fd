// host.h - controllers that are programs, each in a process of its own and in lock-step with the world:
// plug-ins and processes; and people at a keyboard or joystick.
//
// vy_host_open() starts the program that a controller's def names, and puts a `call` into the def. Build
// the world from the def then. Close the host after the world's last step.
#pragma once
#include "volery/plugin.h"
#include "volery/status.h"
#include "volery/world.h"
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct vy_host vy_host; ///< one program that controls one drone; one owner

enum {
    VY_PROGRAM_CAP = 600, ///< of a text of vy_host_describe(), its end included
    VY_LACKS_CAP = 160,   ///< of a text of vy_host_lacks(), its end included
};

/// What vy_host_open() would start, load or open for `def`, as readable text: `process ./fly in
/// /flights`. Text of a log may hold anything: control characters are shown as `?`.
/// @return 0, and `out` empty, when the controller is built in or a callback
int vy_host_describe(const vy_controller_def *def, char out[VY_PROGRAM_CAP]);

/// Start the program of the drone's controller (VY_CONTROLLER_PLUGIN or VY_CONTROLLER_PROCESS), or open the
/// device of VY_CONTROLLER_PILOT, and make it `drone`'s controller. Files among its parameters must be there,
/// and be those of their digests. On a planet a process has the drone's start in its environment as PX4 reads
/// it: PX4_HOME_LAT, PX4_HOME_LON [deg], PX4_HOME_ALT [m]. A program lives until vy_host_close() or the end
/// of this process, whichever thread has opened it. A terminal used as keyboard is restored by
/// vy_host_close(), and whenever the process ends.
/// @param dt [s] the world's step
/// @param planet the world's, or NULL
/// @return VY_NOT_FOUND, VY_BAD_VALUE, VY_OTHER_VERSION or VY_IO with a sentence; `*out` is NULL and `drone`
/// untouched then. VY_BAD_STATE: the program was not ready in time, or a log names it, see
/// vy_scenario_allow_programs()
vy_status vy_host_open(vy_drone_def *drone, const char *name, double dt, const vy_planet_def *planet,
                       vy_host **out, vy_error *err);

/// What this computer's kernel lacks to confine programs (vy_controller_def.confine), in one line; they are
/// started all the same.
/// @return 0, and `out` empty, when it lacks nothing
int vy_host_lacks(char out[VY_LACKS_CAP]);

/// The run is over: let the program end by itself, and return how it did. A plug-in's `done` and destructors
/// run now. Once at most, after the last step; later calls of the controller get no reply.
/// @param detail of the verdict, as vy_intent.detail; may be NULL
/// @return VY_VERDICT_REPLIED when all is well, or when a call has had the verdict already; else what went
/// wrong
vy_verdict vy_host_finish(vy_host *host, int32_t *detail);

/// What a process wrote on its stdout in place of a reply: its first line, as far as it is text. Never NULL;
/// lasts until vy_host_close().
const char *vy_host_output(const vy_host *host);

/// End the program and everything it started, after vy_host_finish() where that has not been called. NULL is
/// a no-op.
void vy_host_close(vy_host *host);

/// Does a person control `def`, at a device and not by a file of keys? Then the world must be stepped no
/// faster than the clock.
int vy_pilot_is_live(const vy_controller_def *def);

/// The type of a field of the samples: doubles, but for a tick.
typedef enum vy_sample_type {
    VY_SAMPLE_NUMBER,
    VY_SAMPLE_TICK, ///< uint64_t: a step, or how many there are of something
    VY_SAMPLE_VEC3,
    VY_SAMPLE_QUAT,
    VY_SAMPLE_ROTORS,   ///< one for each rotor
    VY_SAMPLE_RAYS,     ///< one for each ray
    VY_SAMPLE_CHANNELS, ///< of a radio
} vy_sample_type;

/// One field of a vy_samples: what the wire and Python know of it.
typedef struct vy_sample_field {
    const char *block, *name; ///< `block` is "" for what a vy_samples has itself
    size_t offset;            ///< in a vy_samples
    int count;                ///< of values, 8 bytes each
    vy_sample_type type;
} vy_sample_field;

/// All fields in the order of the wire, which has every value. Static storage.
const vy_sample_field *vy_sample_fields(int *count);

/// The other side of VY_CONTROLLER_PROCESS: answer on these file descriptors with the plug-in until the world
/// has ended.
/// @return VY_OK at the end of the run; VY_IO, VY_DAMAGED or VY_OTHER_VERSION with a sentence
vy_status vy_serve(const vy_plugin *plugin, int in_fd, int out_fd, vy_error *err);

/// Load a plug-in's library into this process and check that it fits this Volery. `*library` is for
/// vy_plugin_unload().
vy_status vy_plugin_load(const char *path, void **library, const vy_plugin **out, vy_error *err);
void vy_plugin_unload(void *library);

#ifdef __cplusplus
}
#endif
