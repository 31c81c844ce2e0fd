// fuzz_mcap.c - any bytes as a log. Beyond not crashing, two things must hold whatever the bytes are: a pass
// by time gives the messages of a pass in file order, sorted; and a recovered file has as many messages as it
// was said to have. Changes are made record by record, with right checksums (mutate_mcap.h).
#include "mutate_mcap.h"
#include "record/mcap_reader.h"
#include "record/protobuf.h"
#include <stdlib.h>

// Fields of messages, three deep.
static void read_fields(const unsigned char *data, size_t size, int depth)
{
    vy_pb_reader reader = vy_pb_reader_on(data, size);
    vy_pb_item item;
    while (vy_pb_next(&reader, &item)) {
        if (item.wire == 2 && depth < 3) read_fields(item.data, item.size, depth + 1);
    }
}

// Order-independent sum over messages, so that two orders can be compared.
static uint64_t sum_messages(vy_mcap_reader *reader, bool by_time, uint64_t *count, vy_status *status)
{
    const vy_mcap_query query = {.by_time = by_time};
    vy_mcap_cursor *cursor = NULL;
    *count = 0;
    *status = vy_mcap_cursor_open(reader, &query, &cursor, NULL);
    if (*status != VY_OK) return 0;
    uint64_t hash_sum = 0, last_time = 0;
    vy_mcap_message message;
    while (vy_mcap_cursor_next(cursor, &message)) {
        if (by_time && message.log_time < last_time) abort();
        if (vy_mcap_reader_channel_by_id(reader, message.channel) == NULL) abort();
        last_time = message.log_time;
        uint64_t message_hash = message.channel + 31 * (uint64_t)message.sequence + 977 * message.log_time +
                                7919 * message.publish_time;
        for (size_t i = 0; i < message.size; ++i) message_hash = 31 * message_hash + message.data[i];
        hash_sum += message_hash;
        *count += 1;
        read_fields(message.data, message.size, 0);
    }
    *status = vy_mcap_cursor_status(cursor, NULL);
    vy_mcap_cursor_close(cursor);
    return hash_sum;
}

static void read_everything(vy_mcap_reader *reader)
{
    const vy_mcap_info *info = vy_mcap_reader_info(reader);
    uint64_t count, count_by_time;
    vy_status status, status_by_time;
    const uint64_t hash_sum = sum_messages(reader, false, &count, &status);
    const uint64_t hash_sum_by_time = sum_messages(reader, true, &count_by_time, &status_by_time);
    if (status == VY_OK && status_by_time == VY_OK &&
        (hash_sum != hash_sum_by_time || count != count_by_time))
        abort();
    if (status == VY_OK && info->recovered && count != info->message_count) abort();
    for (size_t i = 0; i < info->attachment_count; ++i) {
        unsigned char *data = NULL;
        size_t size = 0;
        const vy_mcap_attachment *attachment = vy_mcap_reader_attachment(reader, i);
        if (vy_mcap_reader_read_attachment(reader, attachment, &data, &size, NULL) == VY_OK) free(data);
    }
    for (size_t i = 0; i < info->schema_count; ++i) {
        const vy_mcap_schema *schema = vy_mcap_reader_schema(reader, i);
        read_fields(schema->data, schema->size, 0);
    }
    for (size_t i = 0; i < info->channel_count && i < 8; ++i) {
        vy_mcap_message message;
        const uint64_t middle = info->start_time / 2 + info->end_time / 2;
        vy_mcap_reader_latest(reader, vy_mcap_reader_channel(reader, i)->id, middle, &message, NULL);
    }
    vy_mcap_reader_verify(reader, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
    return mcap_mutate(data, size, max_size, seed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    vy_mcap_reader_def def = vy_default_mcap_reader_def();
    def.chunk_limit = 1 << 16; // small, so that a stated size costs little time
    def.memory_limit = 1 << 20;
    vy_mcap_reader *reader = NULL;
    vy_error err;
    if (vy_mcap_reader_open_source(vy_memory_source(data, size), &def, &reader, &err) != VY_OK) return 0;
    read_everything(reader);
    vy_mcap_reader_close(reader);
    return 0;
}
