// log_output.h - the open log that the parts of a recorder write their messages to.
#pragma once
#include "record/mcap_writer.h"
#include "record/protobuf.h"

/// One per recorder, which owns it; its parts hold a pointer.
typedef struct log_output {
    vy_mcap_writer *writer;
    vy_error error; ///< of the first failure; status VY_OK while all is well
    uint32_t sequence;
    double dt;                        ///< [s]
    uint32_t drone_count, body_count; ///< of the latter, drones are the first
    char **names;                     ///< of drones and bodies
} log_output;

/// The head of the topics of drone or body `number`.
static inline const char *output_topic_root(const log_output *o, uint32_t number)
{
    return number < o->drone_count ? "drones" : "bodies";
}

static inline int output_failed(const log_output *o) { return o->error.status != VY_OK; }

/// Declare the schema of a message. `*id` is what channels name it by.
vy_status vy_output_add_schema(log_output *o, const vy_pb_message *message, uint16_t *id, vy_error *err);

/// Declare a stream of messages of one schema, with `count` pairs of metadata.
vy_status vy_output_add_channel(log_output *o, const char *topic, uint16_t schema, const vy_mcap_pair *pairs,
                                size_t count, uint16_t *channel, vy_error *err);

/// Both at once, for a schema with one channel and no metadata.
vy_status vy_output_add_message_channel(log_output *o, const char *topic, const vy_pb_message *message,
                                        uint16_t *channel, vy_error *err);

/// Begin a message of at most `size_max` bytes at `time` [ns]. Once the log has failed the writer has no
/// memory and takes nothing.
vy_pb_writer vy_output_begin(log_output *o, uint16_t channel, uint64_t time, size_t size_max);
void vy_output_end(log_output *o, const vy_pb_writer *w);

/// A whole message from its cells.
void vy_output_encode(log_output *o, uint16_t channel, uint64_t time, const vy_pb_codec *codec,
                      const void *cells);
