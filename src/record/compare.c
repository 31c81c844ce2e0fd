// compare.c - where two logs diverge: their hashes, then replies, then states.
#include "record/log.h"
#include "base/real.h"

// The first full states of both logs at the same step from `tick` on.
static vy_status compare_states(vy_log *a, vy_log *b, vy_difference *out, vy_error *err)
{
    vy_mcap_cursor *cursors[2] = {NULL, NULL};
    state_record records[2];
    vy_status status = vy_log_cursor_open(a, TOPIC_STATE, &cursors[0], err);
    if (status == VY_OK) status = vy_log_cursor_open(b, TOPIC_STATE, &cursors[1], err);
    for (int i = 0; i < 2 && status == VY_OK; ++i) status = vy_state_next(cursors[i], &records[i], err);
    while (status == VY_OK) {
        const uint64_t ticks[2] = {records[0].tick, records[1].tick};
        if (ticks[0] == ticks[1] && ticks[0] >= out->tick) {
            if (vy_state_compare(records[0].bytes, records[0].size, records[1].bytes, records[1].size, out))
                out->field_tick = ticks[0];
            break;
        }
        if (ticks[0] <= ticks[1]) status = vy_state_next(cursors[0], &records[0], err);
        if (status == VY_OK && ticks[1] <= ticks[0]) status = vy_state_next(cursors[1], &records[1], err);
    }
    for (int i = 0; i < 2; ++i) vy_mcap_cursor_close(cursors[i]);
    return status == VY_NOT_FOUND ? VY_OK : status; // at the end of one
}

// The first step at which the hashes of both logs differ.
static vy_status compare_hashes(vy_log *a, vy_log *b, vy_difference *out, vy_error *err)
{
    const uint64_t first_ticks[2] = {a->info.first_tick, b->info.first_tick};
    const uint64_t start_tick = first_ticks[0] > first_ticks[1] ? first_ticks[0] : first_ticks[1];
    const uint64_t last_ticks[2] = {a->info.last_tick, b->info.last_tick};
    if (start_tick > last_ticks[0] || start_tick > last_ticks[1]) return VY_OK; // no step in common
    hash_cursor cursors[2];
    vy_status status = vy_hash_cursor_open(a, start_tick, &cursors[0], err);
    if (status != VY_OK) return status;
    status = vy_hash_cursor_open(b, start_tick, &cursors[1], err);
    if (status != VY_OK) {
        (void)vy_hash_cursor_close(&cursors[0], NULL); // report the other log's failure
        return status;
    }
    uint64_t hashes[2];
    out->last_tick = start_tick;
    while (!out->found && vy_hash_cursor_next(&cursors[0], &hashes[0]) &&
           vy_hash_cursor_next(&cursors[1], &hashes[1])) {
        out->last_tick = cursors[0].tick;
        if (hashes[0] != hashes[1]) {
            out->found = 1;
            out->tick = cursors[0].tick;
            out->hash_a = hashes[0];
            out->hash_b = hashes[1];
        }
    }
    for (int i = 0; i < 2; ++i) {
        const vy_status close_status = vy_hash_cursor_close(&cursors[i], status == VY_OK ? err : NULL);
        if (status == VY_OK) status = close_status;
    }
    return status;
}

// The first reply that both logs have and that differs, no later than the states do. A reply comes before its
// effect, so it is the cause.
static vy_status compare_replies(vy_log *a, vy_log *b, vy_difference *out, vy_error *err)
{
    reply_cursor cursors[2];
    vy_status status = vy_reply_cursor_open(a, &cursors[0], err);
    if (status != VY_OK) return status;
    status = vy_reply_cursor_open(b, &cursors[1], err);
    const reply_cells *cells_a = &cursors[0].cells, *cells_b = &cursors[1].cells;
    const uint64_t end_tick = out->found ? out->tick : out->last_tick;
    while (status == VY_OK && cursors[0].has_reply && cursors[1].has_reply && cells_a->tick <= end_tick &&
           cells_b->tick <= end_tick) {
        const int a_is_earlier = cells_a->tick < cells_b->tick ||
                                 (cells_a->tick == cells_b->tick && cells_a->drone < cells_b->drone);
        const int b_is_earlier = cells_b->tick < cells_a->tick ||
                                 (cells_a->tick == cells_b->tick && cells_b->drone < cells_a->drone);
        const vy_difference hash_difference = *out;
        if (!a_is_earlier && !b_is_earlier && vy_reply_compare(cells_a, cells_b, out)) {
            out->hash_a =
                hash_difference.found && hash_difference.tick == out->tick ? hash_difference.hash_a : 0;
            out->hash_b =
                hash_difference.found && hash_difference.tick == out->tick ? hash_difference.hash_b : 0;
            out->last_tick = hash_difference.last_tick;
            break;
        }
        if (!b_is_earlier) vy_reply_cursor_next(&cursors[0]);
        if (!a_is_earlier) vy_reply_cursor_next(&cursors[1]);
    }
    for (int i = 0; i < 2; ++i) {
        const vy_status close_status = vy_reply_cursor_close(&cursors[i], status == VY_OK ? err : NULL);
        if (status == VY_OK) status = close_status;
    }
    return status;
}

vy_status vy_log_compare(vy_log *a, vy_log *b, vy_difference *out, vy_error *err)
{
    FPU_SCOPE;
    memset(out, 0, sizeof *out);
    vy_status status = compare_hashes(a, b, out, err);
    if (status == VY_OK) status = compare_replies(a, b, out, err);
    return status == VY_OK && out->found && !out->reply ? compare_states(a, b, out, err) : status;
}
