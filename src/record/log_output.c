// log_output.c - declares streams in an open log and puts messages into them.
#include "record/log_output.h"
#include "base/assert.h"
#include <stdlib.h>

vy_status vy_output_add_schema(log_output *o, const vy_pb_message *message, uint16_t *id, vy_error *err)
{
    unsigned char *data = NULL;
    size_t size = 0;
    vy_status status = vy_pb_descriptor_set(message, &data, &size, err);
    if (status == VY_OK)
        status = vy_mcap_writer_add_schema(o->writer, message->name, "protobuf", data, size, id, err);
    free(data);
    return status;
}

vy_status vy_output_add_channel(log_output *o, const char *topic, uint16_t schema, const vy_mcap_pair *pairs,
                                size_t count, uint16_t *channel, vy_error *err)
{
    const vy_mcap_channel_def def = {
        .topic = topic, .encoding = "protobuf", .schema = schema, .metadata = pairs, .metadata_count = count};
    return vy_mcap_writer_add_channel(o->writer, &def, channel, err);
}

vy_status vy_output_add_message_channel(log_output *o, const char *topic, const vy_pb_message *message,
                                        uint16_t *channel, vy_error *err)
{
    uint16_t schema = 0;
    const vy_status status = vy_output_add_schema(o, message, &schema, err);
    return status == VY_OK ? vy_output_add_channel(o, topic, schema, NULL, 0, channel, err) : status;
}

vy_pb_writer vy_output_begin(log_output *o, uint16_t channel, uint64_t time, size_t size_max)
{
    unsigned char *message =
        vy_mcap_writer_begin(o->writer, channel, o->sequence++, time, size_max, &o->error);
    return vy_pb_writer_on(message, message != NULL ? size_max : 0);
}

void vy_output_end(log_output *o, const vy_pb_writer *w)
{
    VY_ASSERT(w->data == NULL ||
              (!w->is_full && w->depth == 0)); // its room was enough, and all that was begun is ended
    if (w->data != NULL) vy_mcap_writer_end(o->writer, w->size);
}

void vy_output_encode(log_output *o, uint16_t channel, uint64_t time, const vy_pb_codec *codec,
                      const void *cells)
{
    const size_t size_max = vy_pb_codec_size_max(codec);
    VY_ASSERT(channel > 0 && cells != NULL);
    unsigned char *message =
        vy_mcap_writer_begin(o->writer, channel, o->sequence++, time, size_max, &o->error);
    if (message != NULL) vy_mcap_writer_end(o->writer, vy_pb_encode(codec, cells, message));
}
