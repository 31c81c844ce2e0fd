// watch.h - a flight watched while it flies: a page, and Foxglove, at an address of this machine
// (docs/view.md).
//
// What the log gets, viewers get: the writer of the log hands every message to a ring in memory, and
// a thread of its own sends from there. Who is slow is overtaken and told so; the flight waits for nobody.
// What they can change is when steps are made, and what is injected between two: that is in the log, so that
// the flight replays without them. Who only watches changes nothing.
#pragma once
#include "record/mcap_writer.h"
#include "volery/record.h"
#include "volery/scenario.h"

/// One owner. NULL stands for a flight that nobody can watch: every call below then does nothing.
typedef struct watch watch;

/// Listen at an IPv4 address of this machine, or at all of them ("0.0.0.0"); NULL: 127.0.0.1. At any free
/// port if `port` is 0.
/// @return 0, or the exit status after a sentence
int vy_watch_open(const char *name, const char *address, int port, int realtime, watch **out);

/// A device whose keys viewers press for a drone, as a path for this process alone.
/// @return 0: there is no memory, or no pipe
int vy_watch_keys(watch *w, const char *drone, char *device, size_t size);

/// The log has been opened as `path`.part, by `recorder`: there is something to see, and the address is
/// printed on standard error.
/// @return 0, or the exit status after a sentence
int vy_watch_begin(watch *w, const char *path, vy_recorder *recorder);

/// The same for a log that another program writes as `part_path`, and that is called `path` at its end.
/// vy_watch_read_log() reads it. Unless that program is `paced`, it can only be watched.
/// @return 0, or the exit status after a sentence
int vy_watch_follow(watch *w, const char *part_path, const char *path, int paced);

/// Answer such a program, which asks over standard input and output before it steps, until it or the flight
/// ends (docs/view.md).
/// @return 0, or the exit status after a sentence
int vy_watch_answer(watch *w);

/// Up to where such a log was read. Start from zero.
typedef struct watch_cursor {
    uint64_t time;  ///< [ns] of the last message
    uint64_t count; ///< messages of that time
} watch_cursor;

/// Hand over what the log has by now beyond `cursor`. `info` is the log's.
/// @return why it cannot be read now
vy_status vy_watch_read_log(watch *w, const char *path, watch_cursor *cursor, vy_log_info *info,
                            vy_error *err);

/// Before a step: wait for the first that watches unless the flight is in real time; while it is paused; and
/// until the clock has reached `time` [s] at the speed that was asked for. A signal ends each of these.
void vy_watch_pace(watch *w, double time);

/// The same for who has other things to do: [s] until the clock allows the step at `time`; 0: it may be made,
/// which is said once; infinite: viewers do not allow it.
double vy_watch_ahead(watch *w, double time);

/// Viewers want it neither paused nor at any speed: asking before each step is not needed.
int vy_watch_is_free(watch *w);

/// Before a step, but the first: inject what viewers have asked for. Who asked for what cannot be is told.
void vy_watch_inject(watch *w, const vy_scenario *scenario, vy_world *world);

/// The same by whoever flies: `inject` is told each `what` (push, gust, fault) and its `keys`, as a scenario
/// has them.
void vy_watch_take_injections(watch *w, void (*inject)(void *self, const char *what, const char *keys),
                              void *self);

/// Tell viewers why something was not injected.
void vy_watch_tell(watch *w, const char *text);

/// The flight is over: send what there is to all who read, and close.
/// @param status completed, failed or interrupted; NULL: there was no flight
void vy_watch_end(watch *w, const char *status, uint64_t hash);
