// channel.h - memory shared by a world and a plug-in's host program: request, response and the counters that
// signal them.
//
// A waiting side spins for a few microseconds and then sleeps on its counter. The spin time adapts: where no
// second core is free, spinning only delays the other side.
#pragma once
#include "volery/plugin.h"
#include "volery/status.h"
#include <stdatomic.h>

enum {
    PLUGIN_PATH_CAP = 600,
    CHANNEL_FD = 3,     // of the program: this memory
    PROGRAM_DONE = 101, // its exit status when all went well; 0 is what a plug-in's exit(0) gives
};

/// What the program is doing.
typedef enum channel_stage {
    STAGE_EXEC,    ///< not begun
    STAGE_LOAD,    ///< constructors of the library
    STAGE_INIT,    ///< init() of the plug-in
    STAGE_STEP,    ///< ready: step() at each request
    STAGE_DONE,    ///< done() of the plug-in
    STAGE_UNLOAD,  ///< destructors of the library
    STAGE_EXITING, ///< it has only to exit
} channel_stage;

/// One direction: a counter that one side raises and the other waits for.
typedef struct futex_counter {
    _Alignas(64) _Atomic uint32_t count;
    _Atomic uint32_t has_sleeper; ///< the other side has to be woken
} futex_counter;

typedef struct channel {
    futex_counter request, response;
    _Alignas(64) vy_samples samples;
    _Alignas(64) vy_intent intent;
    _Alignas(64) _Atomic uint32_t stage;
    _Atomic uint32_t must_end; ///< the program is to end instead of answering the next request
    int32_t spin_ns;           ///< longest spin before a sleep; 0: one CPU for both
    int32_t supervisor_pid;    ///< process of the supervisor
    int32_t exec_errno;        ///< where the program could not be started
    vy_error refusal;          ///< why the plug-in was refused; its status is VY_OK while it runs
    vy_plugin_start start;     ///< but for its pointers
    char drone[VY_NAME_CAP];   ///< its name
    vy_vehicle_def vehicle;
    vy_imu_def imu;
    vy_mocap_def mocap;
    vy_sensor_suite_def sensors;
    vy_parameter parameters[VY_PARAMETER_CAP];
    uint32_t parameter_offsets[VY_PARAMETER_CAP]; ///< where its text begins among `texts`; 0: it has none
    char library[PLUGIN_PATH_CAP];                ///< path of the plug-in
    uint64_t size;                                ///< [bytes] of the whole memory
    char texts[]; ///< the start as JSON, then the texts of parameters, each with a 0 at its end
} channel;

/// Private state of a waiting side.
typedef struct waiter {
    int32_t spin_ns, spin_max_ns; ///< how long it spins now, and at most
    uint32_t wait_count;
} waiter;

/// Raise the counter to `count` and wake the other side if it sleeps.
void vy_futex_counter_set(futex_counter *counter, uint32_t count);

/// Wait until the counter is no longer `seen_count`. Returns 0 when that took longer than `limit_ns`.
int vy_futex_counter_wait(futex_counter *counter, uint32_t seen_count, int64_t limit_ns, waiter *w);

int64_t vy_clock_ns(void);
