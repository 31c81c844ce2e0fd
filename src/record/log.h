// log.h - a log opened for reading, and cursors over its hashes, states and replies.
#pragma once
#include "record/mcap_reader.h"
#include "record/streams.h"
#include "volery/record.h"

struct vy_log {
    vy_mcap_reader *reader;
    vy_log_info info;
    char *scenario;
    char *path;              // as it was opened
    char **names;            // of drones, then bodies
    uint64_t display_period; // [steps] between records for viewers; 0: none
};

/// Open a log over a reader, which it owns from here on, also when that fails. `path` is for the error.
vy_status vy_log_open_reader(vy_mcap_reader *reader, const char *path, vy_log **out, vy_error *err);

/// The hash of every step, one after the other, without a gap up to the log's last step.
typedef struct hash_cursor {
    const vy_log *log;
    vy_mcap_cursor *cursor;
    const unsigned char *next; // the next hash of the present message
    size_t remaining;          // hashes left in it
    uint64_t tick;             // of the last hash given
    int is_seeking;            // the first message may begin before the step that was sought
    vy_status status;          // why it stopped early
    vy_error error;
} hash_cursor;

/// Opens behind the step `after`.
vy_status vy_hash_cursor_open(vy_log *log, uint64_t after, hash_cursor *out, vy_error *err);
/// The next step's hash; 0 at the end of the log and on failure: the cursor's status says which.
int vy_hash_cursor_next(hash_cursor *cursor, uint64_t *hash);
vy_status vy_hash_cursor_close(hash_cursor *cursor, vy_error *err);

/// One full state.
typedef struct state_record {
    uint64_t tick, hash;
    const unsigned char *bytes; // valid until the next call on the cursor or reader it came from
    size_t size;
    int is_corrupt; // its values are not those it was written with
} state_record;

/// The replies of controllers, one after the other.
typedef struct reply_cursor {
    vy_mcap_cursor *cursor;
    vy_pb_codec *codec;
    unsigned char *encoded; // room for one message
    reply_cells cells;      // the present one
    int has_reply;          // 0: there is none, or the cursor failed
    vy_status status;       // why it stopped early
    vy_error error;
} reply_cursor;

/// Opens and goes to the first reply.
vy_status vy_reply_cursor_open(vy_log *log, reply_cursor *out, vy_error *err);
void vy_reply_cursor_next(reply_cursor *cursor);
vy_status vy_reply_cursor_close(reply_cursor *cursor, vy_error *err);

/// The first value in which two replies at the same step differ, into `out`. 0: there is none.
int vy_reply_compare(const reply_cells *a, const reply_cells *b, vy_difference *out);

/// Open a cursor on one topic. VY_DAMAGED when the log has no such channel.
vy_status vy_log_cursor_open(vy_log *log, const char *topic, vy_mcap_cursor **out, vy_error *err);
/// The next full state of a cursor on TOPIC_STATE. VY_NOT_FOUND at the end.
vy_status vy_state_next(vy_mcap_cursor *cursor, state_record *out, vy_error *err);
/// The last full state at or before `tick`.
vy_status vy_log_state_before(vy_log *log, uint64_t tick, state_record *out, vy_error *err);

/// The first difference of two states of the same blocks, but for contacts, into `out`. 0: there is none.
int vy_state_compare(const unsigned char *a, size_t size_a, const unsigned char *b, size_t size_b,
                     vy_difference *out);
