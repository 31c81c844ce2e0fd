// replay.c - replay of a run, and seeking to any step of a log.
#include "base/fail.h"
#include "base/real.h"
#include "record/log.h"
#include "record/recorder_check.h"
#include <inttypes.h>
#include <stdlib.h>

// A world that is stepped along a log.
typedef struct log_player {
    vy_log *log;
    vy_world *world;
    hash_cursor hashes;
    vy_mcap_cursor *states;
    reply_cursor replies;
    state_record state; // the next full state
    int has_state;
    unsigned char *current; // the world's, to compare with it
    size_t current_size;
    const vy_recorder_def *def; // messages are compared with what this would write; NULL: they are not
    const vy_sink *observer;    // hears every step; NULL: nobody
    message_check *message_check;
    vy_difference message_difference; // the first of theirs: one of states says more, and takes its place
    vy_recorder *recorder;
    vy_sink sink;             // of the recorder
    int live;                 // controllers are called, and their replies compared
    int live_samples;         // controllers get the samples, and their replies are ignored
    uint64_t difference_from; // tick from which their replies are compared with the logged ones
    double difference;        // the largest
    vy_difference *out;
    vy_status status; // why it cannot continue; nothing is compared from then on
    vy_error error;
} log_player;

static void next_state(log_player *f)
{
    const vy_status status = vy_state_next(f->states, &f->state, &f->error);
    f->has_state = status == VY_OK;
    if (status != VY_NOT_FOUND) f->status = status;
}

// The replies of a log are in the order of the calls; those before the present moment are skipped.
static int find_reply(log_player *f, uint64_t tick, uint32_t drone)
{
    reply_cursor *w = &f->replies;
    if (f->status != VY_OK) return 0;
    while (w->has_reply && (w->cells.tick < tick || (w->cells.tick == tick && w->cells.drone < drone)))
        vy_reply_cursor_next(w);
    if (w->has_reply && w->cells.tick == tick && w->cells.drone == drone) return 1;
    f->status = w->status;
    if (f->status != VY_OK)
        f->error = w->error;
    else
        f->status = vy_fail(&f->error, VY_DAMAGED,
                            "the reply of drone %" PRIu32 "'s controller at step %" PRIu64 " is missing",
                            drone, tick);
    return 0;
}

// A command as it acts: of a motor, or a thrust.
static double effective_command(const vy_intent *intent, double command)
{
    return intent->status == VY_REPLY_STATUS_DISARMED ? 0.0 : command;
}

// By how much of full command the motors differ.
static double motor_difference(const vy_intent *a, const vy_intent *b)
{
    double max = 0.0;
    for (int i = 0; i < VY_ROTOR_CAP; ++i)
        max =
            real_max(max, real_abs(effective_command(a, a->motors[i]) - effective_command(b, b->motors[i])));
    return max;
}

// A controller that leaves the motors to us: of thrusts the share of the larger one, of attitudes that of the
// largest tilt.
static double attitude_difference(const vy_gains *gains, const vy_intent *a, const vy_intent *b)
{
    const double f = effective_command(a, a->thrust), g = effective_command(b, b->thrust),
                 max = real_max(f, g);
    if (!(max > 0.0)) return 0.0;
    const vy_quat p = a->attitude, q = b->attitude;
    const double dot = p.w * q.w + p.x * q.x + p.y * q.y + p.z * q.z;
    const double sizes =
        (p.w * p.w + p.x * p.x + p.y * p.y + p.z * p.z) * (q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    const double sine2 = sizes > 0.0 ? 1.0 - dot * dot / sizes : 1.0; // squared, of half the angle
    return real_max(real_abs(f - g) / max, 2.0 * real_sqrt(sine2 > 0.0 ? sine2 : 0.0) / gains->tilt_max);
}

// How far a controller that is shown the samples again is from what it said in the run.
static double reply_difference(const vy_gains *gains, const vy_intent *logged, const vy_intent *replayed)
{
    if (replayed->verdict != VY_VERDICT_REPLIED && logged->verdict == VY_VERDICT_REPLIED) return 1.0;
    if (logged->status == VY_REPLY_STATUS_STALE || replayed->status == VY_REPLY_STATUS_STALE) return 0.0;
    if (replayed->rung != logged->rung) return 1.0;
    if (replayed->rung == VY_RUNG_MOTORS) return motor_difference(logged, replayed);
    return replayed->rung == VY_RUNG_ATTITUDE ? attitude_difference(gains, logged, replayed) : 0.0;
}

static int feed_reply(void *self, const vy_world *world, uint32_t drone, vy_intent *intent)
{
    log_player *f = self;
    const uint64_t tick = world->state->tick;
    if (f->live || !find_reply(f, tick, drone)) return 0;
    reply_cells changed = f->replies.cells;
    changed.check = vy_reply_check(&changed);
    if (!f->out->found)
        (void)vy_reply_compare(&f->replies.cells, &changed, f->out); // changed since the flight
    *intent = vy_reply_unpack(&changed);
    vy_reply_cursor_next(&f->replies);
    const vy_controller_def *c = &world->model.drones[drone].controller;
    if (f->live_samples && c->call != NULL) {
        const vy_samples samples = vy_drone_samples(world, drone);
        vy_intent ignored;
        memset(&ignored, 0, sizeof ignored);
        // A bridge to firmware has logged here what it said to it, and says it again.
        memcpy(ignored.debug, intent->debug, sizeof ignored.debug);
        c->call(c->self, &samples, &ignored);
        if (tick >= f->difference_from)
            f->difference = real_max(f->difference, reply_difference(&c->gains, intent, &ignored));
    }
    return 1;
}

// A live controller's reply beside the logged one: the first value that differs is reported.
static int check_reply(void *self, const vy_world *world, uint32_t drone, const vy_intent *intent)
{
    log_player *f = self;
    vy_difference *out = f->out;
    const uint64_t tick = world->state->tick;
    if (out->found || !find_reply(f, tick, drone)) return 0;
    const reply_cells cells = vy_reply_pack(tick, drone, intent);
    (void)vy_reply_compare(&f->replies.cells, &cells, out);
    vy_reply_cursor_next(&f->replies);
    return 0;
}

static void find_difference(log_player *f, uint64_t hash)
{
    vy_difference *out = f->out;
    if (out->found) return;
    out->found = 1;
    out->tick = f->world->state->tick;
    out->hash_a = hash;
    out->hash_b = f->world->state->chain;
}

static int has_room(log_player *f, size_t size)
{
    if (size <= f->current_size) return 1;
    unsigned char *grown = realloc(f->current, size);
    if (grown == NULL) {
        f->status = vy_fail(&f->error, VY_NO_MEMORY, "no memory for a state of %zu bytes", size);
        return 0;
    }
    f->current = grown;
    f->current_size = size;
    return 1;
}

// A full state that was written when something was injected says what. The steps after it prove that: after
// the last one nothing is taken over. @return 0: the log has what cannot be
static int adopt_injections(log_player *f)
{
    const state_record *s = &f->state;
    vy_world *world = f->world;
    block_counts counts;
    if (s->is_corrupt || f->out->found || world->state->tick >= f->log->info.last_tick ||
        !vy_read_entries(s->bytes, s->size, &counts))
        return 1;
    const uint32_t count = counts.of[BLOCK_injection];
    injection_block blocks[VY_INJECTION_CAP];
    const size_t size = count * sizeof *blocks;
    if (count > VY_INJECTION_CAP) return 1; // compared, and found to differ
    if (count > 0) memcpy(blocks, s->bytes + block_offset(&counts, BLOCK_injection), size);
    if (count == world->model.injection_count && (count == 0 || memcmp(blocks, world->injections, size) == 0))
        return 1;
    f->status = vy_injection_check(world, blocks, count, world->state->tick, &f->error);
    if (f->status == VY_OK) f->status = vy_injection_adopt(world, blocks, count, &f->error);
    if (f->status == VY_BAD_VALUE || f->status == VY_FULL) f->status = VY_DAMAGED;
    return f->status == VY_OK;
}

// The full state of this very moment beside the world's. One that was written when the integrator changed
// says to which.
static void compare_state(log_player *f)
{
    vy_difference *out = f->out;
    vy_world *world = f->world;
    const state_record *s = &f->state;
    const uint64_t tick = world->state->tick;
    if (!adopt_injections(f)) return;
    const size_t size = vy_world_state_size(world);
    if (world->model.collides ? s->size < world->state_size : s->size != size) {
        f->status = vy_fail(&f->error, VY_DAMAGED,
                            "the full state of step %" PRIu64 " has %zu bytes, the world's has %zu", tick,
                            s->size, size);
        return;
    }
    if (!has_room(f, size)) return;
    world_block head;
    memcpy(&head, s->bytes, sizeof head);
    if (!s->is_corrupt && !out->found) // what it cannot be set to is found below
        (void)vy_world_set_integrator(world, (vy_integrator)head.integrator, NULL);
    vy_world_save(world, f->current);
    if (s->size == size && memcmp(s->bytes, f->current, size) == 0 && s->hash == world->state->chain) {
        if (s->is_corrupt && !out->found)
            f->status =
                vy_fail(&f->error, VY_DAMAGED,
                        "the check of the full state of step %" PRIu64 " is not that of its values", tick);
        return;
    }
    find_difference(f, s->hash);
    if (out->field[0] != '\0') return;
    out->field_tick = tick;
    if (vy_state_compare(s->bytes, s->size, f->current, size, out)) return;
    snprintf(out->field, sizeof out->field, "world.chain"); // no other value differs
    out->real = 0;
    out->integer_a = head.chain != world->state->chain ? head.chain : s->hash;
    out->integer_b = world->state->chain;
}

// Full states are written at their cadence and at the end, but for one that is not finite. In a log that was
// cut off the last one may be behind the cut.
static int state_is_due(const log_player *f, uint64_t tick)
{
    const vy_log_info *info = &f->log->info;
    if (f->world->state->failure_reason == VY_FAILURE_NOT_FINITE) return 0;
    if (tick == info->last_tick) return info->complete;
    return info->snapshot > 0 && tick % info->snapshot == 0;
}

static void compare_states(log_player *f, uint64_t tick)
{
    const int due = !f->out->found && state_is_due(f, tick) && !(f->has_state && f->state.tick == tick);
    if (f->status == VY_OK && (due || (f->has_state && f->state.tick < tick))) {
        f->status = vy_fail(&f->error, VY_DAMAGED, "the full state of step %" PRIu64 " is %s",
                            due ? tick : f->state.tick, due ? "missing" : "out of order");
    }
    while (f->status == VY_OK && f->has_state && f->state.tick == tick) {
        compare_state(f);
        if (f->status == VY_OK) next_state(f);
    }
}

// Compare the step just done. After the first different hash, wait for the next full state to name the field.
static int check_step(void *self, const vy_world *world)
{
    log_player *f = self;
    vy_difference *out = f->out;
    const uint64_t tick = world->state->tick;
    uint64_t hash = 0;
    if (f->status != VY_OK) return 0;
    if (!vy_hash_cursor_next(&f->hashes, &hash)) {
        f->status = f->hashes.status;
        f->error = f->hashes.error;
        return 0;
    }
    if (hash != world->state->chain) find_difference(f, hash);
    compare_states(f, tick);
    if (f->status == VY_OK) out->last_tick = tick;
    return out->found;
}

static vy_status player_open(vy_log *log, vy_world *world, const state_record *from, vy_difference *out,
                             log_player *f, vy_error *err)
{
    *f = (log_player){.log = log, .world = world, .out = out};
    memset(out, 0, sizeof *out);
    vy_status status = vy_world_restore(world, from->bytes, from->size, err);
    if (status == VY_OK) status = vy_hash_cursor_open(log, from->tick, &f->hashes, err);
    if (status == VY_OK) status = vy_log_cursor(log, TOPIC_STATE, &f->states, err);
    if (status == VY_OK) status = vy_reply_cursor_open(log, &f->replies, err);
    if (status != VY_OK) return status;
    out->last_tick = from->tick;
    const uint64_t time = vy_log_time(from->tick, log->info.dt);
    vy_mcap_cursor_seek(f->states, time);
    vy_mcap_cursor_seek(f->replies.cursor, time);
    next_state(f);
    while (f->has_state && f->state.tick <= from->tick) next_state(f); // they have been used
    vy_reply_cursor_next(&f->replies);
    vy_world_set_replay(world, (vy_replay){.self = f, .reply = feed_reply, .check = check_step});
    return VY_OK;
}

// A difference that was found stands, whatever became of the log behind it.
static vy_status player_close(log_player *f, vy_world *world, vy_status status, vy_error *err)
{
    vy_world_set_replay(world, (vy_replay){0});
    vy_mcap_cursor_close(f->hashes.cursor);
    vy_mcap_cursor_close(f->states);
    free(f->current);
    vy_error error = f->error;
    const vy_status closed = vy_reply_cursor_close(&f->replies, f->status == VY_OK ? &error : NULL);
    const vy_status followed = f->status == VY_OK ? closed : f->status;
    if (status != VY_OK || followed == VY_OK || f->out->found) return status;
    if (err != NULL) *err = error;
    return followed;
}

// Having come to the log's last step, there must be nothing left in it. A replay that ends before, where the
// log continues, differs.
static void check_end(log_player *f)
{
    const uint64_t tick = f->world->state->tick, last = f->log->info.last_tick;
    uint64_t hash = 0;
    const int has_more = vy_hash_cursor_next(&f->hashes, &hash); // behind the last step it fails
    f->status = f->hashes.status;
    f->error = f->hashes.error;
    if (has_more)
        *f->out = (vy_difference){.found = 1, .tick = tick + 1, .last_tick = tick, .hash_a = hash};
    else if (f->status == VY_OK && f->has_state)
        f->status =
            vy_fail(&f->error, VY_DAMAGED, "the log has full states of steps after its last, %" PRIu64, last);
}

static int record_step(void *self, const vy_world *world)
{
    log_player *f = self;
    (void)f->sink.write(f->sink.self, world);
    if (f->observer != NULL && f->observer->write != NULL) (void)f->observer->write(f->observer->self, world);
    return f->out->found;
}

static int record_reply(void *self, const vy_world *world, uint32_t drone, const vy_intent *intent)
{
    log_player *f = self;
    return f->sink.reply(f->sink.self, world, drone, intent);
}

static int record_change(void *self, const vy_world *world)
{
    log_player *f = self;
    return f->sink.change(f->sink.self, world);
}

static int record_injection(void *self, const vy_world *world)
{
    log_player *f = self;
    return f->sink.injection(f->sink.self, world);
}

// A recorder that writes what it did in the run, for the comparison.
static vy_status open_messages(log_player *f, vy_error *err)
{
    if (f->def == NULL) return VY_OK;
    vy_recorder_def def = *f->def; // with the cadences and names that the run was recorded with
    def.every = f->log->info.every;
    def.snapshot = f->log->info.snapshot;
    def.display = f->log->display;
    def.names = (const char *const *)f->log->names;
    vy_status status = vy_message_check_create(f->log, &f->message_difference, &f->message_check, err);
    if (status == VY_OK) status = vy_recorder_open_check(&def, f->world, f->message_check, &f->recorder, err);
    if (status != VY_OK) return status;
    f->sink = vy_recorder_sink(f->recorder);
    vy_world_set_sink(f->world, (vy_sink){
                                    .self = f,
                                    .write = record_step,
                                    .reply = record_reply,
                                    .change = record_change,
                                    .injection = record_injection,
                                });
    return VY_OK;
}

static void close_messages(log_player *f)
{
    if (f->recorder != NULL) {
        vy_error error;
        vy_status status = vy_recorder_close_check(f->recorder, f->world, f->log->info.complete, &error);
        if (status == VY_OK && f->status == VY_OK && f->world->state->tick == f->log->info.last_tick)
            status = vy_message_check_end(f->message_check, &error);
        if (status != VY_OK && f->status == VY_OK) {
            f->status = status;
            f->error = error;
        }
        if (f->status == VY_OK && f->message_difference.found && !f->out->found) {
            f->message_difference.last_tick = f->out->last_tick;
            *f->out = f->message_difference;
        }
        vy_world_set_sink(f->world, (vy_sink){.self = NULL});
    }
    vy_message_check_destroy(f->message_check);
}

typedef struct replay_def {
    const vy_recorder_def *recorder;
    const vy_sink *observer;
    int live;
} replay_def;

static vy_status replay(vy_log *log, vy_world *world, const replay_def *def, vy_progress_fn *progress,
                        void *self, vy_difference *out, vy_error *err)
{
    state_record first;
    log_player f;
    const int live = def->live;
    const uint64_t last = log->info.last_tick;
    memset(out, 0, sizeof *out);
    out->last_tick = log->info.first_tick;
    if (!log->info.complete && last == log->info.first_tick)
        return vy_fail(err, VY_DAMAGED,
                       "the log was cut off before its first step, so that nothing is compared");
    vy_status status = vy_log_state_before(log, log->info.first_tick, &first, err);
    if (status != VY_OK) return status;
    status = player_open(log, world, &first, out, &f, err);
    f.live = live;
    f.def = def->recorder;
    f.observer = def->observer;
    if (status == VY_OK) status = open_messages(&f, err);
    if (live) vy_world_set_sink(world, (vy_sink){.self = &f, .reply = check_reply});
    uint32_t events = 0;
    while (status == VY_OK && f.status == VY_OK && world->state->tick < last &&
           (events & VY_EVENT_FAILED) == 0 && !(out->found && (out->field[0] != '\0' || !f.has_state))) {
        const uint64_t remaining = last - world->state->tick;
        const uint64_t block = out->found ? 1 : remaining < 4096 ? remaining : 4096;
        events |= vy_world_advance(world, block);
        if (progress != NULL && progress(self, world->state->tick, last) != 0) {
            status = vy_fail(err, VY_BAD_STATE, "stopped at step %" PRIu64, world->state->tick);
        }
    }
    if (status == VY_OK && f.status == VY_OK && !out->found) check_end(&f);
    close_messages(&f);
    if (live) vy_world_set_sink(world, (vy_sink){.self = NULL});
    return player_close(&f, world, status, err);
}

vy_status vy_log_replay(vy_log *log, vy_world *world, vy_progress_fn *progress, void *self,
                        vy_difference *out, vy_error *err)
{
    FPU_SCOPE;
    return replay(log, world, &(replay_def){.live = 0}, progress, self, out, err);
}

vy_status vy_log_replay_messages(vy_log *log, vy_world *world, const vy_recorder_def *def,
                                 const vy_sink *observer, vy_progress_fn *progress, void *self,
                                 vy_difference *out, vy_error *err)
{
    FPU_SCOPE;
    return replay(log, world, &(replay_def){.recorder = def, .observer = observer}, progress, self, out, err);
}

vy_status vy_log_replay_live(vy_log *log, vy_world *world, vy_progress_fn *progress, void *self,
                             vy_difference *out, vy_error *err)
{
    FPU_SCOPE;
    return replay(log, world, &(replay_def){.live = 1}, progress, self, out, err);
}

static vy_status seek(vy_log *log, vy_world *world, uint64_t tick, double *live, vy_error *err)
{
    state_record from;
    log_player f;
    vy_difference difference;
    if (tick < log->info.first_tick || tick > log->info.last_tick) {
        return vy_fail(err, VY_BAD_VALUE, "the log goes from %.9g s to %.9g s",
                       (double)log->info.first_tick * log->info.dt,
                       (double)log->info.last_tick * log->info.dt);
    }
    vy_status status = vy_log_state_before(log, live != NULL ? log->info.first_tick : tick, &from, err);
    if (status != VY_OK) return status;
    status = player_open(log, world, &from, &difference, &f, err);
    const uint64_t ticks_per_second = (uint64_t)(1.0 / log->info.dt);
    f.live_samples = live != NULL;
    f.difference_from = tick > ticks_per_second ? tick - ticks_per_second : 0;
    if (status == VY_OK && world->state->tick < tick)
        (void)vy_world_advance(world, tick - world->state->tick);
    if (live != NULL) *live = f.difference;
    status = player_close(&f, world, status, err);
    if (status == VY_OK && difference.found) {
        return vy_fail(err, VY_DIVERGED, "the run differs from its log at step %" PRIu64, difference.tick);
    }
    if (status == VY_OK && world->state->tick < tick) {
        return vy_fail(err, VY_DIVERGED, "the run ends at step %" PRIu64 ", its log goes on",
                       world->state->tick);
    }
    return status;
}

vy_status vy_log_seek(vy_log *log, vy_world *world, uint64_t tick, vy_error *err)
{
    FPU_SCOPE;
    return seek(log, world, tick, NULL, err);
}

vy_status vy_log_seek_live(vy_log *log, vy_world *world, uint64_t tick, double *difference, vy_error *err)
{
    FPU_SCOPE;
    double ignored;
    return seek(log, world, tick, difference != NULL ? difference : &ignored, err);
}
