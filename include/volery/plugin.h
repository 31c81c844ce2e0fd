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
/// plug-in continues working until then; one that was built with another vy_vehicle_def or sensors is
/// refused.
#define VY_PLUGIN_VERSION 2

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
    const vy_parameter *parameters; ///< as the scenario has them: see vy_plugin_parameter() and the like
    vy_vec3 position;               ///< [m] where the drone starts, world axes
    vy_quat attitude;               ///< how it lies there, body to world
    int has_home;                   ///< 1: on a planet, and the next three are set
    /// [rad] geodetic, of the start: what autopilots call home
    double home_latitude, home_longitude;
    double home_altitude; ///< [m] above the ellipsoid
    int instance;         ///< number of the drone among those of its run, from 0 on
    int has_origin;       ///< 1: the world has a place on its planet, where its axes are east, north and up
    /// [rad] geodetic, of the world's (0, 0, 0)
    double origin_latitude, origin_longitude;
    double origin_height;               ///< [m] above the ellipsoid
    const vy_vehicle_def *vehicle;      ///< as resolved: rotors, curves, lags, battery, limits
    const vy_imu_def *imu;              ///< figures and period of each sensor; a period of 0 is none
    const vy_mocap_def *mocap;          ///< the same
    const vy_sensor_suite_def *sensors; ///< the same
    double allocation[4][VY_ROTOR_CAP]; ///< thrust [N] and torque about x, y, z [N m] for a newton of each
                                        ///< rotor, or of each thruster where there are no rotors: wrench =
                                        ///< allocation * thrusts
    double thrust_limit[VY_ROTOR_CAP];  ///< [N] of each of them at command 1
    const char *json; ///< all this, estimator and safety limits as JSON: docs/controllers.md, "The wire"
} vy_plugin_start;

/// What a plug-in gives: one object called vy_plugin_entry.
typedef struct vy_plugin {
    uint32_t version;                               ///< VY_PLUGIN_VERSION
    uint32_t start_size, samples_size, intent_size; ///< sizeof, as it was built
    uint32_t vehicle_size, sensors_size;            ///< the same of vy_vehicle_def and vy_sensor_suite_def
    /// Once, before the first step. Returns whatever `step` shall get; or NULL, with the reason in
    /// `why`, a sentence of up to `room` bytes, to refuse.
    void *(*init)(const vy_plugin_start *start, char *why, size_t room);
    /// Once per period. `*intent` is zeroed before. Called by the process's first thread, as the others are.
    void (*step)(void *self, const vy_samples *samples, vy_intent *intent);
    /// Once, at the end; not after a crash. May be NULL.
    void (*done)(void *self);
} vy_plugin;

#define VY_PLUGIN_ENTRY "vy_plugin_entry"
/// The first members of a vy_plugin.
#define VY_PLUGIN_HEAD                                                                 \
    VY_PLUGIN_VERSION, sizeof(vy_plugin_start), sizeof(vy_samples), sizeof(vy_intent), \
        sizeof(vy_vehicle_def), sizeof(vy_sensor_suite_def)
#define VY_PLUGIN(init_, step_, done_)      \
    extern const vy_plugin vy_plugin_entry; \
    const vy_plugin vy_plugin_entry = {VY_PLUGIN_HEAD, init_, step_, done_};

/// The scenario's parameter of that name, or NULL.
static inline const vy_parameter *vy_plugin_find(const vy_plugin_start *start, const char *name)
{
    for (int i = 0; i < start->parameter_count; ++i) {
        const char *a = start->parameters[i].name, *b = name;
        while (*a != '\0' && *a == *b) ++a, ++b;
        if (*a == *b) return &start->parameters[i];
    }
    return NULL;
}

/// The number (or 0 or 1 of a boolean) of that name, or `otherwise`.
static inline double vy_plugin_parameter(const vy_plugin_start *start, const char *name, double otherwise)
{
    const vy_parameter *p = vy_plugin_find(start, name);
    return p != NULL && p->text == NULL ? p->value : otherwise;
}

/// The text, the path of a file or the JSON of that name, or `otherwise`. Valid during `init`.
static inline const char *vy_plugin_text(const vy_plugin_start *start, const char *name,
                                         const char *otherwise)
{
    const vy_parameter *p = vy_plugin_find(start, name);
    return p != NULL && p->text != NULL ? p->text : otherwise;
}

#ifdef __cplusplus
}
#endif
