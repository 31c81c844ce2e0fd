// plugin.h - a controller of your own as a shared library. This header is all it needs.
//
//     #include "volery/plugin.h"
//     static void *init(const vy_plugin_start *start, char *why, size_t room) { ... }
//     static void step(void *self, const vy_samples *samples, vy_intent *intent) { ... }
//     static void done(void *self) { ... }
//     VY_PLUGIN(init, step, done)
//
// Build it with `cc -shared -fPIC`, name it in a scenario: `controller: {kind: plugin, library: ./mine.so}`.
// `volery new controller NAME` writes such a file. Each drone has the library in a process of its own.
// docs/controllers.md says what a crash or an endless loop in it does.
#pragma once
#include "volery/controller.h"
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Raised when a plug-in built before no longer fits. Structs below only ever grow at their end, so an older
/// plug-in goes on working until then.
#define VY_PLUGIN_VERSION 1

/// What a plug-in gets before its first step. Pointers are valid during `init` only.
typedef struct vy_plugin_start {
    const char *drone; ///< its name
    double dt;         ///< [s] the world's step
    double period;     ///< [s] between two calls of `step`
    double mass;       ///< [kg] of the vehicle
    vy_mat3 inertia;   ///< [kg m^2] about the centre of mass, body axes
    double thrust_max; ///< [N] of one rotor
    int rotor_count;   ///< commands of the rung motors: rotors, then thrusters
    int parameter_count;
    const vy_parameter *parameters; ///< as the scenario has them
    vy_vec3 position;               ///< [m] where the drone starts, world axes
    vy_quat attitude;               ///< how it lies there, body to world
    int has_home;                   ///< 1: on a planet, and the next three are set
    /// [rad] geodetic, of the start: what autopilots call home
    double home_latitude, home_longitude;
    double home_altitude; ///< [m] above the ellipsoid
} vy_plugin_start;

/// What a plug-in gives: one object called vy_plugin_entry.
typedef struct vy_plugin {
    uint32_t version;                               ///< VY_PLUGIN_VERSION
    uint32_t start_size, samples_size, intent_size; ///< sizeof, as it was built
    /// Once, before the first step. Returns whatever `step` shall get; or NULL, with a sentence in
    /// `why`, to refuse.
    void *(*init)(const vy_plugin_start *start, char *why, size_t room);
    /// Once per period. `*intent` is zeroed before. Called by the process's first thread, as the others are.
    void (*step)(void *self, const vy_samples *samples, vy_intent *intent);
    /// Once, at the end; not after a crash. May be NULL.
    void (*done)(void *self);
} vy_plugin;

#define VY_PLUGIN_ENTRY "vy_plugin_entry"
#define VY_PLUGIN(init_, step_, done_)                          \
    extern const vy_plugin vy_plugin_entry;                     \
    const vy_plugin vy_plugin_entry = {VY_PLUGIN_VERSION,       \
                                       sizeof(vy_plugin_start), \
                                       sizeof(vy_samples),      \
                                       sizeof(vy_intent),       \
                                       init_,                   \
                                       step_,                   \
                                       done_};

/// The scenario's parameter of that name, or `otherwise`.
static inline double vy_plugin_parameter(const vy_plugin_start *start, const char *name, double otherwise)
{
    for (int i = 0; i < start->parameter_count; ++i) {
        const char *a = start->parameters[i].name, *b = name;
        while (*a != '\0' && *a == *b) ++a, ++b;
        if (*a == *b) return start->parameters[i].value;
    }
    return otherwise;
}

#ifdef __cplusplus
}
#endif
