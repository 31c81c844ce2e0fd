// walk.c - one step after the other through the hashes, states and replies of a log.
#include "base/fail.h"
#include "record/log.h"

vy_status vy_log_cursor(vy_log *log, const char *topic, vy_mcap_cursor **out, vy_error *err)
{
    const vy_mcap_channel *channel = vy_mcap_reader_find_channel(log->reader, topic);
    if (channel == NULL) return vy_fail(err, VY_DAMAGED, "the log has no channel %s", topic);
    const vy_mcap_query query = {.channels = &channel->id, .channel_count = 1};
    return vy_mcap_cursor_open(log->reader, &query, out, err);
}

vy_status vy_hash_walk_open(vy_log *log, hash_walk *out, vy_error *err)
{
    *out = (hash_walk){0};
    return vy_log_cursor(log, TOPIC_HASHES, &out->cursor, err);
}

int vy_hash_walk_next(hash_walk *walk, uint64_t *tick, uint64_t *hash)
{
    while (walk->left == 0) {
        vy_mcap_message message;
        if (!vy_mcap_cursor_next(walk->cursor, &message)) return 0;
        vy_pb_reader reader = vy_pb_reader_on(message.data, message.size);
        vy_pb_item item;
        while (vy_pb_next(&reader, &item)) {
            if (item.number == HASHES_FIRST_TICK && item.wire == 1) walk->tick = item.value;
            if (item.number == HASHES_LIST && item.wire == 2) {
                walk->at = item.data;
                walk->left = item.size / 8;
            }
        }
    }
    *tick = walk->tick++;
    memcpy(hash, walk->at, 8);
    walk->at += 8;
    walk->left -= 1;
    return 1;
}

vy_status vy_hash_walk_close(hash_walk *walk, vy_error *err)
{
    const vy_status status = vy_mcap_cursor_status(walk->cursor, err);
    vy_mcap_cursor_close(walk->cursor);
    return status;
}

vy_status vy_reply_walk_open(vy_log *log, reply_walk *out, vy_error *err)
{
    *out = (reply_walk){0};
    vy_status status = vy_pb_codec_create(&vy_message_reply, &out->codec, err);
    if (status == VY_OK) status = vy_log_cursor(log, TOPIC_REPLIES, &out->cursor, err);
    if (status == VY_OK)
        vy_reply_walk_next(out);
    else
        (void)vy_reply_walk_close(out, NULL);
    return status;
}

void vy_reply_walk_next(reply_walk *walk)
{
    vy_mcap_message message;
    walk->more = vy_mcap_cursor_next(walk->cursor, &message) &&
                 vy_pb_decode(walk->codec, message.data, message.size, &walk->cells, NULL) == VY_OK;
}

vy_status vy_reply_walk_close(reply_walk *walk, vy_error *err)
{
    const vy_status status = walk->cursor != NULL ? vy_mcap_cursor_status(walk->cursor, err) : VY_OK;
    vy_mcap_cursor_close(walk->cursor);
    vy_pb_codec_destroy(walk->codec);
    *walk = (reply_walk){0};
    return status;
}

static void parse_state(const vy_mcap_message *message, state_record *out)
{
    *out = (state_record){0};
    vy_pb_reader reader = vy_pb_reader_on(message->data, message->size);
    vy_pb_item item;
    while (vy_pb_next(&reader, &item)) {
        if (item.number == STATE_TICK && item.wire == 1) out->tick = item.value;
        if (item.number == STATE_HASH && item.wire == 1) out->hash = item.value;
        if (item.number == STATE_BYTES && item.wire == 2) {
            out->bytes = item.data;
            out->size = item.size;
        }
    }
}

int vy_state_next(vy_mcap_cursor *cursor, state_record *out)
{
    vy_mcap_message message;
    if (!vy_mcap_cursor_next(cursor, &message)) return 0;
    parse_state(&message, out);
    return 1;
}

vy_status vy_log_state_before(vy_log *log, uint64_t tick, state_record *out, vy_error *err)
{
    const vy_mcap_channel *channel = vy_mcap_reader_find_channel(log->reader, TOPIC_STATE);
    if (channel == NULL) return vy_fail(err, VY_DAMAGED, "the log has no full states");
    vy_mcap_message message;
    const vy_status status =
        vy_mcap_reader_latest(log->reader, channel->id, vy_log_time(tick, log->info.dt), &message, err);
    if (status == VY_NOT_FOUND) return vy_fail(err, status, "the log has no full state before that moment");
    if (status == VY_OK) parse_state(&message, out);
    return status;
}

// Compare one block of the state by its fields, in their order.
static int compare_block(const char *block, const unsigned char *a, const unsigned char *b,
                         const char *prefix, vy_difference *out)
{
    for (int i = 0; i < vy_field_count; ++i) {
        const vy_field *f = &vy_fields[i];
        if (strcmp(f->block, block) != 0 || strcmp(f->name, "chain") == 0) continue;
        for (int k = 0; k < f->count; ++k) {
            const size_t at = f->offset + 8 * (size_t)k;
            if (memcmp(a + at, b + at, 8) == 0) continue;
            char component[12];
            vy_component_name(f->count, k, component);
            snprintf(out->field, sizeof out->field, "%s%s%s", prefix, f->name, component);
            out->real = strcmp(f->type, "f64") == 0;
            memcpy(&out->a, a + at, 8);
            memcpy(&out->b, b + at, 8);
            memcpy(&out->whole_a, a + at, 8);
            memcpy(&out->whole_b, b + at, 8);
            return 1;
        }
    }
    return 0;
}

// How many contacts a state has room for. Whatever there is that nothing else accounts for is of contacts.
static uint64_t contact_room(size_t left, const state_counts *counts)
{
    const size_t lists = counts->rests > 0 ? 2 : 1; // those that sleep have one of their own
    const size_t fixed = counts->drones * (sizeof(ledger_block) + sizeof(touch_block)) +
                         counts->rests * sizeof(rest_block) + lists * sizeof(contacts_block);
    return left >= fixed ? (left - fixed) / (lists * sizeof(contact_block)) : 0;
}

int vy_state_compare(const unsigned char *a, const unsigned char *b, size_t size, const state_counts *counts,
                     vy_difference *out)
{
    world_block head;
    if (size < sizeof head || (size - sizeof head) / sizeof(drone_block) < counts->drones) return 0;
    memcpy(&head, a, sizeof head);
    const size_t others =
        sizeof head + counts->drones * sizeof(drone_block) + counts->joints * sizeof(tie_block) +
        count_high(head.joint_count) * sizeof(payload_block) + head.noise_count * sizeof(noise_block) +
        counts->lines * sizeof(line_block) + count_low(head.gear_count) * sizeof(gear_block) +
        counts->guards * sizeof(guard_block) + count_high(head.gear_count) * sizeof(thruster_block) +
        counts->kits * sizeof(kit_block) + counts->filters * sizeof(filter_block) +
        counts->gates * sizeof(gate_block) + counts->delays * sizeof(delay_block);
    if (size < others) return 0;
    const uint64_t contacts = contact_room(size - others, counts);
    const struct {
        const char *block, *list;
        uint64_t count;
        size_t size;
    } parts[] = {
        {"drone", "drones", counts->drones, sizeof(drone_block)},
        {"payload", "payloads", count_high(head.joint_count), sizeof(payload_block)},
        {"tie", "joints", counts->joints, sizeof(tie_block)},
        {"noise", "noise", head.noise_count, sizeof(noise_block)},
        {"line", "lines", counts->lines, sizeof(line_block)},
        {"gear", "gear", count_low(head.gear_count), sizeof(gear_block)},
        {"guard", "guards", counts->guards, sizeof(guard_block)},
        {"thruster", "thrusters", count_high(head.gear_count), sizeof(thruster_block)},
        {"touch", "touch", contacts > 0 ? counts->drones : 0, sizeof(touch_block)},
        {"contacts", "contacts", contacts > 0, sizeof(contacts_block)},
        {"contact", "contacts", contacts, sizeof(contact_block)},
        {"rest", "rests", counts->rests, sizeof(rest_block)},
        {"contacts", "sleepers", counts->rests > 0, sizeof(contacts_block)},
        {"contact", "sleepers", counts->rests > 0 ? contacts : 0, sizeof(contact_block)},
        {"kit", "kits", counts->kits, sizeof(kit_block)},
        {"filter", "filters", counts->filters, sizeof(filter_block)},
        {"gate", "gates", counts->gates, sizeof(gate_block)},
        {"delay", "delays", counts->delays, sizeof(delay_block)},
        {"ledger", "ledger", counts->drones, sizeof(ledger_block)},
    };
    size_t at = sizeof head;
    for (size_t k = 0; k < sizeof parts / sizeof parts[0]; ++k) {
        for (uint64_t i = 0; i < parts[k].count && at + parts[k].size <= size; ++i, at += parts[k].size) {
            char prefix[32];
            if (strcmp(parts[k].block, "contacts") == 0) // there is one
                snprintf(prefix, sizeof prefix, "%s.", parts[k].list);
            else
                snprintf(prefix, sizeof prefix, "%s[%u].", parts[k].list, (unsigned)i);
            if (compare_block(parts[k].block, a + at, b + at, prefix, out)) return 1;
        }
    }
    return compare_block("world", a, b, "world.", out);
}

int vy_reply_compare(const reply_cells *a, const reply_cells *b, vy_difference *out)
{
    size_t at = 0;
    for (size_t i = 0; i < vy_message_reply.field_count; ++i) {
        const vy_pb_field *field = &vy_message_reply.fields[i];
        const int count = field->message != NULL ? (int)field->message->field_count
                          : field->repeat > 0    ? (int)field->repeat
                                                 : 1;
        for (int k = 0; k < count; ++k, at += 8) {
            const unsigned char *x = (const unsigned char *)a + at, *y = (const unsigned char *)b + at;
            if (memcmp(x, y, 8) == 0) continue;
            char component[12];
            vy_component_name(count, k, component);
            *out = (vy_difference){.found = 1,
                                   .reply = 1,
                                   .tick = a->tick,
                                   .field_tick = a->tick,
                                   .last_tick = a->tick,
                                   .real = field->type != VY_PB_FIXED64};
            snprintf(out->field, sizeof out->field, "drones[%u].reply.%s%s", (unsigned)a->drone, field->name,
                     component);
            memcpy(&out->a, x, 8);
            memcpy(&out->b, y, 8);
            memcpy(&out->whole_a, x, 8);
            memcpy(&out->whole_b, y, 8);
            return 1;
        }
    }
    return 0;
}
