// message_check.h - holds what a recorder writes in a replay against the messages of a log, one by one.
#pragma once
#include "record/log.h"

/// One owner.
typedef struct message_check message_check;

/// Compare with the messages of `log`, from its first on. The first that differs goes into `out`, which must
/// live as long. Not compared are hashes, states and replies, which
/// a replay compares by itself, proofs, and notes of the program around the run (vy_recorder_note).
vy_status vy_message_check_create(vy_log *log, vy_difference *out, message_check **check, vy_error *err);
void vy_message_check_destroy(message_check *check); // NULL is a no-op

/// Give it to the writer of the replay's recorder.
vy_mcap_listener vy_message_check_listener(message_check *check);

/// The recorder is done: nothing may be left in a log that is whole.
/// @return VY_OK, or why the log could not be read
vy_status vy_message_check_end(message_check *check, vy_error *err);
