// channel.h - the memory that a world and the program around a plug-in share: what is asked, what is answered
// and whose turn it is.
//
// A side that has to wait looks for a few microseconds and then sleeps on the counter it waits for. How long
// it looks follows what has paid: where no second core is free, looking only keeps the other side waiting.
#pragma once
#include "volery/plugin.h"
#include "volery/status.h"
#include <stdatomic.h>

enum {
    PATH_ROOM = 600,
    CHANNEL_FD = 3,     // of the program: this memory
    LEASH_FD = 4,       // and what ends it with the world's process
    PROGRAM_DONE = 101, // its exit status when all went well; 0 is what a plug-in's exit(0) gives
};

/// What the program is busy with.
typedef enum channel_stage {
    STAGE_EXEC, ///< not begun
    STAGE_LOAD, ///< constructors of the library
    STAGE_INIT,
    STAGE_STEP,
    STAGE_DONE,
    STAGE_UNLOAD, ///< destructors of the library
    STAGE_GONE,   ///< it has only to exit
} channel_stage;

/// One direction: a counter that one side raises and the other waits for.
typedef struct turn {
    _Alignas(64) _Atomic uint32_t count;
    _Atomic uint32_t sleeps; ///< the other side has to be woken
} turn;

typedef struct channel {
    turn asked, answered;
    _Alignas(64) vy_samples samples;
    _Alignas(64) vy_intent intent;
    _Alignas(64) _Atomic uint32_t stage;
    _Atomic uint32_t ending; ///< the next question is the last: there is none
    int32_t spin_ns;         ///< longest look before a sleep; 0: one CPU for both
    int32_t world;           ///< process of the world
    int32_t error;           ///< errno where the program could not be started
    vy_error refusal;        ///< why the plug-in does not fly; its status is VY_OK while it does
    vy_plugin_start start;   ///< but for its pointers
    char drone[VY_NAME_CAP];
    vy_parameter parameters[VY_PARAMETER_CAP];
    char library[PATH_ROOM];
} channel;

/// What a waiting side keeps for itself.
typedef struct waiter {
    int32_t spin_ns, spin_max_ns;
    uint32_t waits;
} waiter;

/// Raise the counter to `count` and wake the other side if it sleeps.
void vy_turn_raise(turn *t, uint32_t count);

/// Wait until the counter is no longer `old`. Returns 0 when that took longer than `limit_ns`.
int vy_turn_wait(turn *t, uint32_t old, int64_t limit_ns, waiter *w);

int64_t vy_clock_ns(void);
