// replay.c - having a run again: replay, and going to any moment of a log.
#include "base/fail.h"
#include "record/log.h"
#include <inttypes.h>

// A world being flown along a log.
typedef struct follower {
    vy_log *log;
    vy_world *world;
    hash_walk hashes;
    vy_mcap_cursor *states;
    reply_walk replies;
    state_record state; // the next full state
    int has_state, missing_reply;
    int ended; // the log has no further hashes
    int live;  // controllers are asked, and their replies compared
    int warm;  // controllers are shown the samples, and their replies ignored
    vy_difference *out;
} follower;

static void next_state(follower *f)
{
    f->has_state = f->states != NULL && vy_state_next(f->states, &f->state);
}

// The replies of a log are in the order of the calls; those before the present moment are skipped.
static int find_reply(follower *f, uint64_t tick, uint32_t drone)
{
    reply_walk *w = &f->replies;
    while (w->more && (w->cells.tick < tick || (w->cells.tick == tick && w->cells.drone < drone)))
        vy_reply_walk_next(w);
    const int found = w->more && w->cells.tick == tick && w->cells.drone == drone;
    if (!found) f->missing_reply = 1;
    return found;
}

static int feed_reply(void *self, const vy_world *world, uint32_t drone, vy_intent *intent)
{
    follower *f = self;
    const uint64_t tick = world->state->tick;
    if (f->live || !find_reply(f, tick, drone)) return 0;
    reply_cells given = f->replies.cells;
    given.check = vy_reply_check(&given);
    if (!f->out->found) (void)vy_reply_compare(&f->replies.cells, &given, f->out); // changed since the flight
    *intent = vy_reply_unpack(&given);
    vy_reply_walk_next(&f->replies);
    const vy_controller_def *c = &world->model.drones[drone].controller;
    if (f->warm && c->call != NULL) {
        const vy_samples samples = vy_drone_samples(world, drone);
        vy_intent ignored;
        memset(&ignored, 0, sizeof ignored);
        c->call(c->self, &samples, &ignored);
    }
    return 1;
}

// A live controller's reply beside the logged one: the first value that differs is the answer.
static int check_reply(void *self, const vy_world *world, uint32_t drone, const vy_intent *intent)
{
    follower *f = self;
    vy_difference *out = f->out;
    const uint64_t tick = world->state->tick;
    if (out->found || f->missing_reply || !find_reply(f, tick, drone)) return 0;
    const reply_cells now = vy_reply_pack(tick, drone, intent);
    (void)vy_reply_compare(&f->replies.cells, &now, out);
    vy_reply_walk_next(&f->replies);
    return 0;
}

// Full states of this very moment have been used. One that was written when the integrator changed says to
// which.
static void pass_states(follower *f, uint64_t now)
{
    while (f->has_state && f->state.tick <= now) {
        world_block head;
        if (f->state.tick == now && f->state.size == f->world->state_size) {
            memcpy(&head, f->state.bytes, sizeof head);
            (void)vy_world_set_integrator(f->world, integrator_of(count_high(head.line_count)), NULL);
        }
        next_state(f);
    }
}

// Compare the step just done. After the first different hash, wait for the next full state to name the field.
static int check_step(void *self, const vy_world *world)
{
    follower *f = self;
    vy_difference *out = f->out;
    const uint64_t now = world->state->tick;
    uint64_t tick = 0, hash = 0;
    if (f->ended) return 0;
    do {
        f->ended = !vy_hash_walk_next(&f->hashes, &tick, &hash);
    } while (!f->ended && tick < now);
    if (f->ended) return 0;
    out->last_tick = now;
    if (!out->found && hash != world->state->chain) {
        out->found = 1;
        out->tick = now;
        out->hash_a = hash;
        out->hash_b = world->state->chain;
    }
    while (f->has_state && f->state.tick < now) next_state(f);
    if (out->found && out->field_tick == 0 && f->has_state && f->state.tick == now &&
        f->state.size == world->state_size &&
        vy_state_compare(f->state.bytes, (const unsigned char *)world->state, world->state_size,
                         &f->log->counts, out)) {
        out->field_tick = now;
    }
    if (!out->found) pass_states(f, now);
    return out->found;
}

static vy_status follow(vy_log *log, vy_world *world, const state_record *from, vy_difference *out,
                        follower *f, vy_error *err)
{
    *f = (follower){.log = log, .world = world, .out = out};
    memset(out, 0, sizeof *out);
    vy_status status = vy_world_restore(world, from->bytes, from->size, err);
    if (status == VY_OK) status = vy_hash_walk_open(log, &f->hashes, err);
    if (status == VY_OK) status = vy_log_cursor(log, TOPIC_STATE, &f->states, err);
    if (status == VY_OK) status = vy_reply_walk_open(log, &f->replies, err);
    if (status != VY_OK) return status;
    out->last_tick = from->tick;
    const uint64_t time = vy_log_time(from->tick, log->info.dt);
    vy_mcap_cursor_seek(f->hashes.cursor, time);
    vy_mcap_cursor_seek(f->states, time);
    vy_mcap_cursor_seek(f->replies.cursor, time);
    next_state(f);
    pass_states(f, from->tick);
    vy_reply_walk_next(&f->replies);
    vy_world_set_replay(world, (vy_replay){.self = f, .reply = feed_reply, .check = check_step});
    return VY_OK;
}

static vy_status unfollow(follower *f, vy_world *world, vy_status status, vy_error *err)
{
    vy_world_set_replay(world, (vy_replay){0});
    if (f->hashes.cursor != NULL) {
        const vy_status walked = vy_hash_walk_close(&f->hashes, status == VY_OK ? err : NULL);
        if (status == VY_OK) status = walked;
    }
    vy_mcap_cursor_close(f->states);
    const vy_status closed = vy_reply_walk_close(&f->replies, status == VY_OK ? err : NULL);
    if (status == VY_OK) status = closed;
    if (status == VY_OK && f->missing_reply) {
        return vy_fail(err, VY_DAMAGED, "a reply of a controller is missing from the log at step %" PRIu64,
                       world->state->tick);
    }
    return status;
}

static vy_status replay(vy_log *log, vy_world *world, int live, vy_progress_fn *progress, void *self,
                        vy_difference *out, vy_error *err)
{
    state_record first;
    follower f;
    vy_status status = vy_log_state_before(log, log->info.first_tick, &first, err);
    if (status != VY_OK) return status;
    status = follow(log, world, &first, out, &f, err);
    f.live = live;
    if (live) vy_world_set_sink(world, (vy_sink){.self = &f, .reply = check_reply});
    const uint64_t last = log->info.last_tick;
    uint32_t events = 0;
    while (status == VY_OK && world->state->tick < last && !f.ended && (events & VY_EVENT_FAILED) == 0 &&
           !(out->found && (out->field_tick != 0 || !f.has_state))) {
        const uint64_t left = last - world->state->tick;
        const uint64_t block = out->found ? 1 : left < 4096 ? left : 4096;
        events |= vy_world_advance(world, block);
        if (progress != NULL && progress(self, world->state->tick, last) != 0) {
            status = vy_fail(err, VY_BAD_STATE, "stopped at step %" PRIu64, world->state->tick);
        }
    }
    // A replay that ends early, where the log goes on, differs too.
    if (status == VY_OK && !out->found && !f.missing_reply && world->state->tick < last) {
        *out = (vy_difference){.found = 1, .tick = world->state->tick + 1, .last_tick = world->state->tick};
        (void)vy_hash_walk_next(&f.hashes, &out->tick, &out->hash_a);
    }
    if (live) vy_world_set_sink(world, (vy_sink){.self = NULL});
    return unfollow(&f, world, status, err);
}

vy_status vy_log_replay(vy_log *log, vy_world *world, vy_progress_fn *progress, void *self,
                        vy_difference *out, vy_error *err)
{
    return replay(log, world, 0, progress, self, out, err);
}

vy_status vy_log_replay_live(vy_log *log, vy_world *world, vy_progress_fn *progress, void *self,
                             vy_difference *out, vy_error *err)
{
    return replay(log, world, 1, progress, self, out, err);
}

static vy_status seek(vy_log *log, vy_world *world, uint64_t tick, int warm, vy_error *err)
{
    state_record from;
    follower f;
    vy_difference difference;
    if (tick < log->info.first_tick || tick > log->info.last_tick) {
        return vy_fail(err, VY_BAD_VALUE, "the log goes from %.9g s to %.9g s",
                       (double)log->info.first_tick * log->info.dt,
                       (double)log->info.last_tick * log->info.dt);
    }
    vy_status status = vy_log_state_before(log, warm ? log->info.first_tick : tick, &from, err);
    if (status != VY_OK) return status;
    status = follow(log, world, &from, &difference, &f, err);
    f.warm = warm;
    if (status == VY_OK && world->state->tick < tick)
        (void)vy_world_advance(world, tick - world->state->tick);
    status = unfollow(&f, world, status, err);
    if (status == VY_OK && difference.found) {
        return vy_fail(err, VY_DIVERGED, "the run differs from its log at step %" PRIu64, difference.tick);
    }
    return status;
}

vy_status vy_log_seek(vy_log *log, vy_world *world, uint64_t tick, vy_error *err)
{
    return seek(log, world, tick, 0, err);
}

vy_status vy_log_seek_warm(vy_log *log, vy_world *world, uint64_t tick, vy_error *err)
{
    return seek(log, world, tick, 1, err);
}
