// log_cursor.c - cursors over the hashes, states and replies of a log, step by step.
#include "base/fail.h"
#include "base/assert.h"
#include "record/log.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

vy_status vy_log_cursor_open(vy_log *log, const char *topic, vy_mcap_cursor **out, vy_error *err)
{
    const vy_mcap_channel *channel = vy_mcap_reader_find_channel(log->reader, topic);
    if (channel == NULL) return vy_fail(err, VY_DAMAGED, "the log has no channel %s", topic);
    const vy_mcap_query query = {.channels = &channel->id, .channel_count = 1};
    return vy_mcap_cursor_open(log->reader, &query, out, err);
}

// The same of a topic that may have no messages: other programs do not copy a channel without any.
static vy_status open_optional(vy_log *log, const char *topic, vy_mcap_cursor **out, vy_error *err)
{
    static const uint16_t no_channel = 0; // no channel's id
    if (vy_mcap_reader_find_channel(log->reader, topic) != NULL)
        return vy_log_cursor_open(log, topic, out, err);
    const vy_mcap_query query = {.channels = &no_channel, .channel_count = 1};
    return vy_mcap_cursor_open(log->reader, &query, out, err);
}

vy_status vy_hash_cursor_open(vy_log *log, uint64_t after, hash_cursor *out, vy_error *err)
{
    *out = (hash_cursor){.log = log, .tick = after, .is_seeking = after > log->info.first_tick};
    const vy_status status = vy_log_cursor_open(log, TOPIC_HASHES, &out->cursor, err);
    if (status == VY_OK && out->is_seeking)
        vy_mcap_cursor_seek(out->cursor, vy_log_time(after, log->info.dt));
    return status;
}

// The first step of a batch of hashes, and where they lie.
static int parse_hashes(const vy_mcap_message *message, uint64_t *first_tick, hash_cursor *out)
{
    vy_pb_reader reader = vy_pb_reader_on(message->data, message->size);
    vy_pb_item item;
    int fields_found = 0;
    while (vy_pb_next(&reader, &item)) {
        if (item.number == HASHES_FIRST_TICK && item.wire == 1) {
            *first_tick = item.value;
            fields_found |= 1;
        }
        if (item.number == HASHES_LIST && item.wire == 2 && item.size > 0 && item.size % 8 == 0) {
            out->next = item.data;
            out->remaining = item.size / 8;
            fields_found |= 2;
        }
    }
    return fields_found == 3 && !reader.bad;
}

// A batch must continue where the last one ended: a step without its hash could hide anything.
static vy_status check_hashes(hash_cursor *cursor, uint64_t first_tick)
{
    const uint64_t last_tick = cursor->log->info.last_tick, next_tick = cursor->tick + 1;
    if (first_tick == 0 || first_tick > last_tick || cursor->remaining - 1 > last_tick - first_tick)
        return vy_fail(&cursor->error, VY_DAMAGED, "the log has hashes of steps after its last, %" PRIu64,
                       last_tick);
    if (first_tick > next_tick)
        return vy_fail(&cursor->error, VY_DAMAGED,
                       "the hashes of steps %" PRIu64 " to %" PRIu64 " are missing", next_tick,
                       first_tick - 1);
    if (first_tick < next_tick && cursor->tick == cursor->log->info.first_tick)
        return vy_fail(&cursor->error, VY_DAMAGED,
                       "its hashes begin at step %" PRIu64 ", its full states at step %" PRIu64, first_tick,
                       cursor->tick);
    if (first_tick < next_tick && !cursor->is_seeking)
        return vy_fail(&cursor->error, VY_DAMAGED,
                       "the hash of step %" PRIu64 " comes after that of step %" PRIu64, first_tick,
                       cursor->tick);
    const uint64_t skipped_hashes =
        next_tick - first_tick < cursor->remaining ? next_tick - first_tick : cursor->remaining;
    cursor->next += 8 * skipped_hashes;
    cursor->remaining -= skipped_hashes;
    return VY_OK;
}

// The next batch. 0 at the end and on failure.
static int next_hashes(hash_cursor *cursor)
{
    vy_mcap_message message;
    uint64_t first_tick = 0;
    if (cursor->status != VY_OK) return 0;
    if (!vy_mcap_cursor_next(cursor->cursor, &message)) {
        cursor->status = vy_mcap_cursor_status(cursor->cursor, &cursor->error);
        if (cursor->status == VY_OK && cursor->tick < cursor->log->info.last_tick)
            cursor->status = vy_fail(&cursor->error, VY_DAMAGED,
                                     "its hashes end at step %" PRIu64 ", but its result is of step %" PRIu64,
                                     cursor->tick, cursor->log->info.last_tick);
        return 0;
    }
    cursor->status = parse_hashes(&message, &first_tick, cursor)
                         ? check_hashes(cursor, first_tick)
                         : vy_fail(&cursor->error, VY_DAMAGED, "the hashes after step %" PRIu64 " are broken",
                                   cursor->tick);
    return cursor->status == VY_OK;
}

int vy_hash_cursor_next(hash_cursor *cursor, uint64_t *hash)
{
    while (cursor->remaining == 0) {
        if (!next_hashes(cursor)) return 0;
    }
    memcpy(hash, cursor->next, 8);
    VY_ASSERT(cursor->next != NULL && cursor->tick < cursor->log->info.last_tick);
    const vy_log_info *info = &cursor->log->info;
    if (cursor->tick + 1 == info->last_tick && *hash != info->final_hash) {
        cursor->remaining = 0;
        cursor->status = vy_fail(&cursor->error, VY_DAMAGED,
                                 "its result has the hash %016" PRIx64 " for step %" PRIu64
                                 ", its hashes have %016" PRIx64,
                                 info->final_hash, info->last_tick, *hash);
        return 0;
    }
    cursor->tick += 1;
    cursor->next += 8;
    cursor->remaining -= 1;
    cursor->is_seeking = 0;
    return 1;
}

vy_status vy_hash_cursor_close(hash_cursor *cursor, vy_error *err)
{
    if (cursor->status != VY_OK && err != NULL) *err = cursor->error;
    vy_mcap_cursor_close(cursor->cursor);
    return cursor->status;
}

vy_status vy_reply_cursor_open(vy_log *log, reply_cursor *out, vy_error *err)
{
    *out = (reply_cursor){0};
    vy_status status = vy_pb_codec_create(&vy_message_reply, &out->codec, err);
    if (status == VY_OK) {
        out->encoded = malloc(vy_pb_codec_size_max(out->codec));
        if (out->encoded == NULL) status = vy_fail(err, VY_NO_MEMORY, "no memory for replies");
    }
    if (status == VY_OK) status = open_optional(log, TOPIC_REPLIES, &out->cursor, err);
    if (status == VY_OK)
        vy_reply_cursor_next(out);
    else
        (void)vy_reply_cursor_close(out, NULL);
    return status;
}

// A message that is as long as its values' encoding is that encoding: a broken tag of a field that is 0 would
// pass for a field that is not there. Older logs, without the newest fields, are shorter.
static int matches_encoding(const reply_cursor *cursor, const vy_mcap_message *message)
{
    const size_t size = vy_pb_encode(cursor->codec, &cursor->cells, cursor->encoded);
    return message->size != size || memcmp(cursor->encoded, message->data, size) == 0;
}

void vy_reply_cursor_next(reply_cursor *cursor)
{
    vy_mcap_message message;
    cursor->has_reply = 0;
    if (cursor->status != VY_OK) return;
    if (!vy_mcap_cursor_next(cursor->cursor, &message)) {
        cursor->status = vy_mcap_cursor_status(cursor->cursor, &cursor->error);
        return;
    }
    cursor->status = vy_pb_decode(cursor->codec, message.data, message.size, &cursor->cells, &cursor->error);
    if (cursor->status == VY_OK && !matches_encoding(cursor, &message))
        cursor->status = vy_fail(&cursor->error, VY_DAMAGED, "a reply at %.9g s is broken",
                                 (double)message.log_time * 1e-9);
    cursor->has_reply = cursor->status == VY_OK;
}

vy_status vy_reply_cursor_close(reply_cursor *cursor, vy_error *err)
{
    const vy_status status = cursor->status;
    if (status != VY_OK && err != NULL) *err = cursor->error;
    vy_mcap_cursor_close(cursor->cursor);
    vy_pb_codec_destroy(cursor->codec);
    free(cursor->encoded);
    *cursor = (reply_cursor){0};
    return status;
}

static vy_status parse_state(const vy_mcap_message *message, state_record *out, vy_error *err)
{
    *out = (state_record){0};
    vy_pb_reader reader = vy_pb_reader_on(message->data, message->size);
    vy_pb_item item;
    uint64_t checksum = 0;
    int has_check = 0; // older logs have no check
    while (vy_pb_next(&reader, &item)) {
        if (item.number == STATE_TICK && item.wire == 1) out->tick = item.value;
        if (item.number == STATE_HASH && item.wire == 1) out->hash = item.value;
        if (item.number == STATE_BYTES && item.wire == 2) {
            out->bytes = item.data;
            out->size = item.size;
        }
        if (item.number == STATE_CHECK && item.wire == 1) {
            checksum = item.value;
            has_check = 1;
        }
    }
    world_block head;
    if (reader.bad || out->size < sizeof head)
        return vy_fail(err, VY_DAMAGED, "a full state at %.9g s is broken", (double)message->log_time * 1e-9);
    memcpy(&head, out->bytes, sizeof head);
    out->is_corrupt = head.chain != out->hash || head.tick != out->tick ||
                      (has_check && checksum != vy_state_hash(out->bytes, out->size));
    return VY_OK;
}

vy_status vy_state_next(vy_mcap_cursor *cursor, state_record *out, vy_error *err)
{
    vy_mcap_message message;
    if (vy_mcap_cursor_next(cursor, &message)) return parse_state(&message, out, err);
    const vy_status status = vy_mcap_cursor_status(cursor, err);
    return status == VY_OK ? VY_NOT_FOUND : status;
}

vy_status vy_log_state_before(vy_log *log, uint64_t tick, state_record *out, vy_error *err)
{
    const vy_mcap_channel *channel = vy_mcap_reader_find_channel(log->reader, TOPIC_STATE);
    if (channel == NULL) return vy_fail(err, VY_DAMAGED, "the log has no full states");
    vy_mcap_message message;
    vy_status status =
        vy_mcap_reader_latest(log->reader, channel->id, vy_log_time(tick, log->info.dt), &message, err);
    if (status == VY_NOT_FOUND) return vy_fail(err, status, "the log has no full state before that moment");
    if (status == VY_OK) status = parse_state(&message, out, err);
    if (status == VY_OK && out->is_corrupt)
        return vy_fail(err, VY_DAMAGED, "the full state of step %" PRIu64 " was changed after the flight",
                       out->tick);
    return status;
}

vy_status vy_log_read_notes(vy_log *log, vy_note_fn *on_note, void *self, vy_error *err)
{
    vy_mcap_cursor *cursor = NULL;
    vy_mcap_message message;
    vy_status status = open_optional(log, TOPIC_EVENTS, &cursor, err);
    while (status == VY_OK && vy_mcap_cursor_next(cursor, &message)) {
        vy_pb_reader reader = vy_pb_reader_on(message.data, message.size);
        vy_pb_item item;
        uint64_t tick = 0, is_note = 0;
        char kind[32] = "", text[512] = "";
        while (vy_pb_next(&reader, &item)) {
            const int size = item.size < sizeof text ? (int)item.size : (int)sizeof text;
            if (item.number == EVENT_TICK) tick = item.value;
            if (item.number == EVENT_NOTE) is_note = item.value;
            if (item.wire != 2) continue;
            if (item.number == EVENT_KIND) snprintf(kind, sizeof kind, "%.*s", size, (const char *)item.data);
            if (item.number == EVENT_TEXT) snprintf(text, sizeof text, "%.*s", size, (const char *)item.data);
        }
        if (is_note != 0) on_note(self, tick, kind, text);
    }
    if (status == VY_OK) status = vy_mcap_cursor_status(cursor, err);
    vy_mcap_cursor_close(cursor);
    return status;
}

// Compare one block of the state by its fields, in their order.
static int compare_block(const vy_block *block, const unsigned char *a, const unsigned char *b,
                         const char *prefix, vy_difference *out)
{
    for (int i = 0; i < block->field_count; ++i) {
        const vy_field *field = &block->fields[i];
        if (strcmp(field->name, "chain") == 0) continue;
        for (int k = 0; k < field->count; ++k) {
            const size_t offset = field->offset + 8 * (size_t)k;
            VY_ASSERT(offset + 8 <= block->size);
            if (memcmp(a + offset, b + offset, 8) == 0) continue;
            char component[12];
            vy_component_name(vy_components_of(field), k, component);
            snprintf(out->field, sizeof out->field, "%s%s%s", prefix, field->name, component);
            out->real = !field_is_integer(field);
            memcpy(&out->a, a + offset, 8);
            memcpy(&out->b, b + offset, 8);
            memcpy(&out->integer_a, a + offset, 8);
            memcpy(&out->integer_b, b + offset, 8);
            return 1;
        }
    }
    return 0;
}

// Two states that do not have the same blocks, or do not say which they have.
static int compare_heads(const unsigned char *a, const unsigned char *b, size_t size, vy_difference *out)
{
    size_t offset = sizeof(world_block);
    if (size < offset) return 0;
    if (compare_block(&vy_blocks[BLOCK_world], a, b, "world.", out)) return 1;
    for (int i = 0; i < BLOCK_KINDS && offset + sizeof(entry_block) <= size;
         ++i, offset += sizeof(entry_block)) {
        char prefix[32];
        snprintf(prefix, sizeof prefix, "entries[%d].", i);
        if (compare_block(&vy_blocks[BLOCK_entry], a + offset, b + offset, prefix, out)) return 1;
    }
    return 0;
}

static void report_counts(const vy_block *block, uint64_t a, uint64_t b, vy_difference *out)
{
    snprintf(out->field, sizeof out->field, "%s.count", block->list);
    out->real = 0;
    out->integer_a = a;
    out->integer_b = b;
}

int vy_state_compare(const unsigned char *a, size_t size_a, const unsigned char *b, size_t size_b,
                     vy_difference *out)
{
    block_counts counts, other_counts;
    const int is_readable = vy_read_entries(a, size_a, &counts) && vy_read_entries(b, size_b, &other_counts);
    // Contacts come last: where there are not as many, all others lie where they should.
    if (!is_readable || memcmp(counts.of, other_counts.of, BLOCK_contact * sizeof *counts.of) != 0)
        return compare_heads(a, b, size_a < size_b ? size_a : size_b, out);
    size_t offset = block_offset(&counts, BLOCK_entry + 1);
    VY_ASSERT(offset <= size_a && offset <= size_b && block_offset(&counts, BLOCK_KINDS) == size_a);
    for (int kind = BLOCK_entry + 1; kind < BLOCK_KINDS; ++kind) {
        const vy_block *block = &vy_blocks[kind];
        if (counts.of[kind] != other_counts.of[kind]) {
            report_counts(block, counts.of[kind], other_counts.of[kind], out);
            return 1;
        }
        for (uint32_t i = 0; i < counts.of[kind]; ++i, offset += block->size) {
            char prefix[32];
            snprintf(prefix, sizeof prefix, "%s[%u].", block->list, (unsigned)i);
            if (compare_block(block, a + offset, b + offset, prefix, out)) return 1;
        }
    }
    return compare_block(&vy_blocks[BLOCK_world], a, b, "world.", out);
}

int vy_reply_compare(const reply_cells *a, const reply_cells *b, vy_difference *out)
{
    size_t offset = 0;
    for (size_t i = 0; i < vy_message_reply.field_count; ++i) {
        const vy_pb_field *field = &vy_message_reply.fields[i];
        const int count = field->message != NULL ? (int)field->message->field_count
                          : field->repeat > 0    ? (int)field->repeat
                                                 : 1;
        const component_names names = field->message == &vy_message_vec3 ? COMPONENT_XYZ
                                      : field->message != NULL           ? COMPONENT_WXYZ
                                      : field->repeat > 0                ? COMPONENT_LIST
                                                                         : COMPONENT_ONE;
        for (int k = 0; k < count; ++k, offset += 8) {
            VY_ASSERT(offset + 8 <= sizeof *a); // the message and the cells are of one size
            const unsigned char *cell_a = (const unsigned char *)a + offset,
                                *cell_b = (const unsigned char *)b + offset;
            if (memcmp(cell_a, cell_b, 8) == 0) continue;
            char component[12];
            vy_component_name(names, k, component);
            *out = (vy_difference){.found = 1,
                                   .reply = 1,
                                   .tick = a->tick,
                                   .field_tick = a->tick,
                                   .last_tick = a->tick,
                                   .real = field->type != VY_PB_FIXED64};
            snprintf(out->field, sizeof out->field, "drones[%u].reply.%s%s", (unsigned)a->drone, field->name,
                     component);
            memcpy(&out->a, cell_a, 8);
            memcpy(&out->b, cell_b, 8);
            memcpy(&out->integer_a, cell_a, 8);
            memcpy(&out->integer_b, cell_b, 8);
            return 1;
        }
    }
    return 0;
}
