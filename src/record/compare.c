// compare.c - where two logs diverge: their hashes, then replies, then states.
#include "record/log.h"
#include "base/real.h"

// The first full states of both logs at the same step from `tick` on.
static vy_status compare_states(vy_log *a, vy_log *b, vy_difference *out, vy_error *err)
{
    vy_mcap_cursor *in[2] = {NULL, NULL};
    state_record state[2];
    vy_status status = vy_log_cursor(a, TOPIC_STATE, &in[0], err);
    if (status == VY_OK) status = vy_log_cursor(b, TOPIC_STATE, &in[1], err);
    for (int i = 0; i < 2 && status == VY_OK; ++i) status = vy_state_next(in[i], &state[i], err);
    while (status == VY_OK) {
        const uint64_t ticks[2] = {state[0].tick, state[1].tick};
        if (ticks[0] == ticks[1] && ticks[0] >= out->tick) {
            if (vy_state_compare(state[0].bytes, state[0].size, state[1].bytes, state[1].size, out))
                out->field_tick = ticks[0];
            break;
        }
        if (ticks[0] <= ticks[1]) status = vy_state_next(in[0], &state[0], err);
        if (status == VY_OK && ticks[1] <= ticks[0]) status = vy_state_next(in[1], &state[1], err);
    }
    for (int i = 0; i < 2; ++i) vy_mcap_cursor_close(in[i]);
    return status == VY_NOT_FOUND ? VY_OK : status; // at the end of one
}

// The first step at which the hashes of both logs differ.
static vy_status compare_hashes(vy_log *a, vy_log *b, vy_difference *out, vy_error *err)
{
    const uint64_t starts[2] = {a->info.first_tick, b->info.first_tick};
    const uint64_t start = starts[0] > starts[1] ? starts[0] : starts[1];
    const uint64_t last_ticks[2] = {a->info.last_tick, b->info.last_tick};
    if (start > last_ticks[0] || start > last_ticks[1]) return VY_OK; // no step in common
    hash_cursor cursors[2];
    vy_status status = vy_hash_cursor_open(a, start, &cursors[0], err);
    if (status != VY_OK) return status;
    status = vy_hash_cursor_open(b, start, &cursors[1], err);
    if (status != VY_OK) {
        (void)vy_hash_cursor_close(&cursors[0], NULL); // report the other log's failure
        return status;
    }
    uint64_t hash[2];
    out->last_tick = start;
    while (!out->found && vy_hash_cursor_next(&cursors[0], &hash[0]) &&
           vy_hash_cursor_next(&cursors[1], &hash[1])) {
        out->last_tick = cursors[0].tick;
        if (hash[0] != hash[1]) {
            out->found = 1;
            out->tick = cursors[0].tick;
            out->hash_a = hash[0];
            out->hash_b = hash[1];
        }
    }
    for (int i = 0; i < 2; ++i) {
        const vy_status closed = vy_hash_cursor_close(&cursors[i], status == VY_OK ? err : NULL);
        if (status == VY_OK) status = closed;
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
    const reply_cells *x = &cursors[0].cells, *y = &cursors[1].cells;
    const uint64_t end = out->found ? out->tick : out->last_tick;
    while (status == VY_OK && cursors[0].has_reply && cursors[1].has_reply && x->tick <= end &&
           y->tick <= end) {
        const int earlier = x->tick < y->tick || (x->tick == y->tick && x->drone < y->drone);
        const int later = y->tick < x->tick || (x->tick == y->tick && y->drone < x->drone);
        const vy_difference hashes = *out;
        if (!earlier && !later && vy_reply_compare(x, y, out)) {
            out->hash_a = hashes.found && hashes.tick == out->tick ? hashes.hash_a : 0;
            out->hash_b = hashes.found && hashes.tick == out->tick ? hashes.hash_b : 0;
            out->last_tick = hashes.last_tick;
            break;
        }
        if (!later) vy_reply_cursor_next(&cursors[0]);
        if (!earlier) vy_reply_cursor_next(&cursors[1]);
    }
    for (int i = 0; i < 2; ++i) {
        const vy_status closed = vy_reply_cursor_close(&cursors[i], status == VY_OK ? err : NULL);
        if (status == VY_OK) status = closed;
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
