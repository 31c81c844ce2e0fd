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
    unsigned char *state_bytes; // the world's full state, to compare with it
    size_t state_capacity;
    const vy_recorder_def
        *recorder_def;       // messages are compared with what this would write; NULL: they are not
    const vy_sink *observer; // hears every step; NULL: nobody
    message_check *message_check;
    vy_difference message_difference; // the first of theirs: one of states says more, and takes its place
    vy_recorder *recorder;
    vy_sink recorder_sink;
    int is_live;                    // controllers are called, and their replies compared
    int live_samples;               // controllers get the samples, and their replies are ignored
    uint64_t difference_start_tick; // tick from which their replies are compared with the logged ones
    double largest_difference;      // of their replies from the logged ones
    vy_difference *difference;      // the first of hashes, replies or states
    vy_status status;               // why it cannot continue; nothing is compared from then on
    vy_error error;
} log_player;

static void next_state(log_player *player)
{
    const vy_status status = vy_state_next(player->states, &player->state, &player->error);
    player->has_state = status == VY_OK;
    if (status != VY_NOT_FOUND) player->status = status;
}

// The replies of a log are in the order of the calls; those before the present moment are skipped.
static int find_reply(log_player *player, uint64_t tick, uint32_t drone)
{
    reply_cursor *replies = &player->replies;
    if (player->status != VY_OK) return 0;
    while (replies->has_reply &&
           (replies->cells.tick < tick || (replies->cells.tick == tick && replies->cells.drone < drone)))
        vy_reply_cursor_next(replies);
    if (replies->has_reply && replies->cells.tick == tick && replies->cells.drone == drone) return 1;
    player->status = replies->status;
    if (player->status != VY_OK)
        player->error = replies->error;
    else
        player->status = vy_fail(&player->error, VY_DAMAGED,
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
    double largest = 0.0;
    for (int i = 0; i < VY_ROTOR_CAP; ++i)
        largest = real_max(largest,
                           real_abs(effective_command(a, a->motors[i]) - effective_command(b, b->motors[i])));
    return largest;
}

// A controller that leaves the motors to us: of thrusts the share of the larger one, of attitudes that of the
// largest tilt.
static double attitude_difference(const vy_gains *gains, const vy_intent *a, const vy_intent *b)
{
    const double thrust_a = effective_command(a, a->thrust), thrust_b = effective_command(b, b->thrust),
                 thrust_max = real_max(thrust_a, thrust_b);
    if (!(thrust_max > 0.0)) return 0.0;
    const vy_quat p = a->attitude, q = b->attitude;
    const double dot = p.w * q.w + p.x * q.x + p.y * q.y + p.z * q.z;
    const double norm_product =
        (p.w * p.w + p.x * p.x + p.y * p.y + p.z * p.z) * (q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    const double half_sine_squared =
        norm_product > 0.0 ? 1.0 - dot * dot / norm_product : 1.0; // squared, of half the angle
    return real_max(real_abs(thrust_a - thrust_b) / thrust_max,
                    2.0 * real_sqrt(half_sine_squared > 0.0 ? half_sine_squared : 0.0) / gains->tilt_max);
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

// In place of a call: the logged reply. A controller that is to see the samples again is called beside it.
static int replay_logged_reply(void *self, const vy_world *world, uint32_t drone, vy_intent *intent)
{
    log_player *player = self;
    const uint64_t tick = world->state->tick;
    if (player->is_live || !find_reply(player, tick, drone)) return 0;
    reply_cells reply = player->replies.cells;
    reply.check = vy_reply_checksum(&reply);
    if (!player->difference->found)
        (void)vy_reply_compare(&player->replies.cells, &reply,
                               player->difference); // changed since the flight
    *intent = vy_reply_unpack(&reply);
    vy_reply_cursor_next(&player->replies);
    const vy_controller_def *controller = &world->model.drones[drone].controller;
    if (player->live_samples && controller->call != NULL) {
        const vy_samples samples = vy_drone_samples(world, drone);
        vy_intent live_reply;
        memset(&live_reply, 0, sizeof live_reply);
        // A bridge to firmware has logged here what it said to it, and says it again.
        memcpy(live_reply.debug, intent->debug, sizeof live_reply.debug);
        controller->call(controller->self, &samples, &live_reply);
        if (tick >= player->difference_start_tick)
            player->largest_difference = real_max(player->largest_difference,
                                                  reply_difference(&controller->gains, intent, &live_reply));
    }
    return 1;
}

// A live controller's reply beside the logged one: the first value that differs is reported.
static int check_reply(void *self, const vy_world *world, uint32_t drone, const vy_intent *intent)
{
    log_player *player = self;
    vy_difference *out = player->difference;
    const uint64_t tick = world->state->tick;
    if (out->found || !find_reply(player, tick, drone)) return 0;
    const reply_cells cells = vy_reply_pack(tick, drone, intent);
    (void)vy_reply_compare(&player->replies.cells, &cells, out);
    vy_reply_cursor_next(&player->replies);
    return 0;
}

static void report_hash_difference(log_player *player, uint64_t hash)
{
    vy_difference *out = player->difference;
    if (out->found) return;
    out->found = 1;
    out->tick = player->world->state->tick;
    out->hash_a = hash;
    out->hash_b = player->world->state->chain;
}

static int reserve_state(log_player *player, size_t size)
{
    if (size <= player->state_capacity) return 1;
    unsigned char *grown = realloc(player->state_bytes, size);
    if (grown == NULL) {
        player->status = vy_fail(&player->error, VY_NO_MEMORY, "no memory for a state of %zu bytes", size);
        return 0;
    }
    player->state_bytes = grown;
    player->state_capacity = size;
    return 1;
}

// A full state that was written when something was injected says what. The steps after it prove that: after
// the last one nothing is taken over. @return 0: the log has what cannot be
static int adopt_injections(log_player *player)
{
    const state_record *record = &player->state;
    vy_world *world = player->world;
    block_counts counts;
    if (record->is_corrupt || player->difference->found ||
        world->state->tick >= player->log->info.last_tick ||
        !vy_read_entries(record->bytes, record->size, &counts))
        return 1;
    const uint32_t count = counts.of[BLOCK_injection];
    injection_block blocks[VY_INJECTION_CAP];
    const size_t size = count * sizeof *blocks;
    if (count > VY_INJECTION_CAP) return 1; // compared, and found to differ
    if (count > 0) memcpy(blocks, record->bytes + block_offset(&counts, BLOCK_injection), size);
    if (count == world->model.injection_count && (count == 0 || memcmp(blocks, world->injections, size) == 0))
        return 1;
    player->status = vy_injection_check(world, blocks, count, world->state->tick, &player->error);
    if (player->status == VY_OK) player->status = vy_injection_adopt(world, blocks, count, &player->error);
    if (player->status == VY_BAD_VALUE || player->status == VY_FULL) player->status = VY_DAMAGED;
    return player->status == VY_OK;
}

// The full state of this very moment beside the world's. One that was written when the integrator changed
// says to which.
static void compare_state(log_player *player)
{
    vy_difference *out = player->difference;
    vy_world *world = player->world;
    const state_record *record = &player->state;
    const uint64_t tick = world->state->tick;
    if (!adopt_injections(player)) return;
    const size_t size = vy_world_state_size(world);
    if (world->model.collides ? record->size < world->state_size : record->size != size) {
        player->status = vy_fail(&player->error, VY_DAMAGED,
                                 "the full state of step %" PRIu64 " has %zu bytes, the world's has %zu",
                                 tick, record->size, size);
        return;
    }
    if (!reserve_state(player, size)) return;
    world_block head;
    memcpy(&head, record->bytes, sizeof head);
    if (!record->is_corrupt && !out->found) // what it cannot be set to is found below
        (void)vy_world_set_integrator(world, (vy_integrator)head.integrator, NULL);
    vy_world_save(world, player->state_bytes);
    if (record->size == size && memcmp(record->bytes, player->state_bytes, size) == 0 &&
        record->hash == world->state->chain) {
        if (record->is_corrupt && !out->found)
            player->status =
                vy_fail(&player->error, VY_DAMAGED,
                        "the check of the full state of step %" PRIu64 " is not that of its values", tick);
        return;
    }
    report_hash_difference(player, record->hash);
    if (out->field[0] != '\0') return;
    out->field_tick = tick;
    if (vy_state_compare(record->bytes, record->size, player->state_bytes, size, out)) return;
    snprintf(out->field, sizeof out->field, "world.chain"); // no other value differs
    out->real = 0;
    out->integer_a = head.chain != world->state->chain ? head.chain : record->hash;
    out->integer_b = world->state->chain;
}

// Full states are written at their cadence and at the end, but for one that is not finite. In a log that was
// cut off the last one may be behind the cut.
static int is_state_due(const log_player *player, uint64_t tick)
{
    const vy_log_info *info = &player->log->info;
    if (player->world->state->failure_reason == VY_FAILURE_NOT_FINITE) return 0;
    if (tick == info->last_tick) return info->complete;
    return info->snapshot > 0 && tick % info->snapshot == 0;
}

static void compare_states(log_player *player, uint64_t tick)
{
    const int is_due = !player->difference->found && is_state_due(player, tick) &&
                       !(player->has_state && player->state.tick == tick);
    if (player->status == VY_OK && (is_due || (player->has_state && player->state.tick < tick))) {
        player->status = vy_fail(&player->error, VY_DAMAGED, "the full state of step %" PRIu64 " is %s",
                                 is_due ? tick : player->state.tick, is_due ? "missing" : "out of order");
    }
    while (player->status == VY_OK && player->has_state && player->state.tick == tick) {
        compare_state(player);
        if (player->status == VY_OK) next_state(player);
    }
}

// Compare the step just done. After the first different hash, wait for the next full state to name the field.
static int check_step(void *self, const vy_world *world)
{
    log_player *player = self;
    vy_difference *out = player->difference;
    const uint64_t tick = world->state->tick;
    uint64_t hash = 0;
    if (player->status != VY_OK) return 0;
    if (!vy_hash_cursor_next(&player->hashes, &hash)) {
        player->status = player->hashes.status;
        player->error = player->hashes.error;
        return 0;
    }
    if (hash != world->state->chain) report_hash_difference(player, hash);
    compare_states(player, tick);
    if (player->status == VY_OK) out->last_tick = tick;
    return out->found;
}

static vy_status player_open(vy_log *log, vy_world *world, const state_record *start_state,
                             vy_difference *out, log_player *player, vy_error *err)
{
    *player = (log_player){.log = log, .world = world, .difference = out};
    memset(out, 0, sizeof *out);
    const vy_log_info *info = &log->info;
    if (vy_world_drone_count(world) != info->drone_count || vy_world_body_count(world) != info->body_count)
        return vy_fail(err, VY_DAMAGED,
                       "its scenario has %" PRIu32 " drones and %" PRIu32 " bodies, its metadata say %" PRIu32
                       " and %" PRIu32,
                       vy_world_drone_count(world), vy_world_body_count(world) - vy_world_drone_count(world),
                       info->drone_count, info->body_count - info->drone_count);
    vy_status status = vy_world_restore(world, start_state->bytes, start_state->size, err);
    if (status == VY_OK) status = vy_hash_cursor_open(log, start_state->tick, &player->hashes, err);
    if (status == VY_OK) status = vy_log_cursor_open(log, TOPIC_STATE, &player->states, err);
    if (status == VY_OK) status = vy_reply_cursor_open(log, &player->replies, err);
    if (status != VY_OK) return status;
    out->last_tick = start_state->tick;
    const uint64_t time = vy_log_time(start_state->tick, log->info.dt);
    vy_mcap_cursor_seek(player->states, time);
    vy_mcap_cursor_seek(player->replies.cursor, time);
    next_state(player);
    while (player->has_state && player->state.tick <= start_state->tick)
        next_state(player); // they have been used
    vy_reply_cursor_next(&player->replies);
    vy_world_set_replay(world,
                        (vy_replay){.self = player, .reply = replay_logged_reply, .check = check_step});
    return VY_OK;
}

// A difference that was found stands, whatever became of the log behind it.
static vy_status player_close(log_player *player, vy_world *world, vy_status status, vy_error *err)
{
    vy_world_set_replay(world, (vy_replay){0});
    vy_mcap_cursor_close(player->hashes.cursor);
    vy_mcap_cursor_close(player->states);
    free(player->state_bytes);
    vy_error error = player->error;
    const vy_status close_status =
        vy_reply_cursor_close(&player->replies, player->status == VY_OK ? &error : NULL);
    const vy_status player_status = player->status == VY_OK ? close_status : player->status;
    if (status != VY_OK || player_status == VY_OK || player->difference->found) return status;
    if (err != NULL) *err = error;
    return player_status;
}

// Having come to the log's last step, there must be nothing left in it. A replay that ends before, where the
// log continues, differs.
static void check_end(log_player *player)
{
    const uint64_t tick = player->world->state->tick, last_tick = player->log->info.last_tick;
    uint64_t hash = 0;
    const int has_more = vy_hash_cursor_next(&player->hashes, &hash); // behind the last step it fails
    player->status = player->hashes.status;
    player->error = player->hashes.error;
    if (has_more)
        *player->difference =
            (vy_difference){.found = 1, .tick = tick + 1, .last_tick = tick, .hash_a = hash};
    else if (player->status == VY_OK && player->has_state)
        player->status = vy_fail(&player->error, VY_DAMAGED,
                                 "the log has full states of steps after its last, %" PRIu64, last_tick);
}

static int record_step(void *self, const vy_world *world)
{
    log_player *player = self;
    (void)player->recorder_sink.write(player->recorder_sink.self, world);
    if (player->observer != NULL && player->observer->write != NULL)
        (void)player->observer->write(player->observer->self, world);
    return player->difference->found;
}

static int record_reply(void *self, const vy_world *world, uint32_t drone, const vy_intent *intent)
{
    log_player *player = self;
    return player->recorder_sink.reply(player->recorder_sink.self, world, drone, intent);
}

static int record_change(void *self, const vy_world *world)
{
    log_player *player = self;
    return player->recorder_sink.change(player->recorder_sink.self, world);
}

static int record_injection(void *self, const vy_world *world)
{
    log_player *player = self;
    return player->recorder_sink.injection(player->recorder_sink.self, world);
}

// A recorder that writes what it did in the run, for the comparison.
static vy_status open_message_check(log_player *player, vy_error *err)
{
    if (player->recorder_def == NULL) return VY_OK;
    vy_recorder_def def = *player->recorder_def; // with the cadences and names that the run was recorded with
    def.every = player->log->info.every;
    def.snapshot = player->log->info.snapshot;
    def.display = player->log->display_period;
    def.names = (const char *const *)player->log->names;
    vy_status status =
        vy_message_check_create(player->log, &player->message_difference, &player->message_check, err);
    if (status == VY_OK)
        status = vy_recorder_open_check(&def, player->world, player->message_check, &player->recorder, err);
    if (status != VY_OK) return status;
    player->recorder_sink = vy_recorder_sink(player->recorder);
    vy_world_set_sink(player->world, (vy_sink){
                                         .self = player,
                                         .write = record_step,
                                         .reply = record_reply,
                                         .change = record_change,
                                         .injection = record_injection,
                                     });
    return VY_OK;
}

static void close_message_check(log_player *player)
{
    if (player->recorder != NULL) {
        vy_error error;
        vy_status status =
            vy_recorder_close_check(player->recorder, player->world, player->log->info.complete, &error);
        if (status == VY_OK && player->status == VY_OK &&
            player->world->state->tick == player->log->info.last_tick)
            status = vy_message_check_end(player->message_check, &error);
        if (status != VY_OK && player->status == VY_OK) {
            player->status = status;
            player->error = error;
        }
        if (player->status == VY_OK && player->message_difference.found && !player->difference->found) {
            player->message_difference.last_tick = player->difference->last_tick;
            *player->difference = player->message_difference;
        }
        vy_world_set_sink(player->world, (vy_sink){.self = NULL});
    }
    vy_message_check_destroy(player->message_check);
}

typedef struct replay_def {
    const vy_recorder_def *recorder;
    const vy_sink *observer;
    int is_live;
} replay_def;

static vy_status replay(vy_log *log, vy_world *world, const replay_def *def, vy_progress_fn *progress,
                        void *self, vy_difference *out, vy_error *err)
{
    state_record first_state;
    log_player player;
    const int is_live = def->is_live;
    const uint64_t last_tick = log->info.last_tick;
    memset(out, 0, sizeof *out);
    out->last_tick = log->info.first_tick;
    if (!log->info.complete && last_tick == log->info.first_tick)
        return vy_fail(err, VY_DAMAGED,
                       "the log was cut off before its first step, so that nothing is compared");
    vy_status status = vy_log_state_before(log, log->info.first_tick, &first_state, err);
    if (status != VY_OK) return status;
    status = player_open(log, world, &first_state, out, &player, err);
    player.is_live = is_live;
    player.recorder_def = def->recorder;
    player.observer = def->observer;
    if (status == VY_OK) status = open_message_check(&player, err);
    if (is_live) vy_world_set_sink(world, (vy_sink){.self = &player, .reply = check_reply});
    uint32_t events = 0;
    while (status == VY_OK && player.status == VY_OK && world->state->tick < last_tick &&
           (events & VY_EVENT_FAILED) == 0 && !(out->found && (out->field[0] != '\0' || !player.has_state))) {
        const uint64_t remaining = last_tick - world->state->tick;
        const uint64_t step_count = out->found ? 1 : remaining < 4096 ? remaining : 4096;
        events |= vy_world_advance(world, step_count);
        if (progress != NULL && progress(self, world->state->tick, last_tick) != 0) {
            status = vy_fail(err, VY_BAD_STATE, "stopped at step %" PRIu64, world->state->tick);
        }
    }
    if (status == VY_OK && player.status == VY_OK && !out->found) check_end(&player);
    close_message_check(&player);
    if (is_live) vy_world_set_sink(world, (vy_sink){.self = NULL});
    return player_close(&player, world, status, err);
}

vy_status vy_log_replay(vy_log *log, vy_world *world, vy_progress_fn *progress, void *self,
                        vy_difference *out, vy_error *err)
{
    FPU_SCOPE;
    return replay(log, world, &(replay_def){.is_live = 0}, progress, self, out, err);
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
    return replay(log, world, &(replay_def){.is_live = 1}, progress, self, out, err);
}

static vy_status seek(vy_log *log, vy_world *world, uint64_t tick, double *largest_difference, vy_error *err)
{
    state_record start_state;
    log_player player;
    vy_difference difference;
    if (tick < log->info.first_tick || tick > log->info.last_tick) {
        return vy_fail(err, VY_BAD_VALUE, "the log goes from %.9g s to %.9g s",
                       (double)log->info.first_tick * log->info.dt,
                       (double)log->info.last_tick * log->info.dt);
    }
    vy_status status =
        vy_log_state_before(log, largest_difference != NULL ? log->info.first_tick : tick, &start_state, err);
    if (status != VY_OK) return status;
    status = player_open(log, world, &start_state, &difference, &player, err);
    const uint64_t ticks_per_second = (uint64_t)(1.0 / log->info.dt);
    player.live_samples = largest_difference != NULL;
    player.difference_start_tick = tick > ticks_per_second ? tick - ticks_per_second : 0;
    if (status == VY_OK && world->state->tick < tick)
        (void)vy_world_advance(world, tick - world->state->tick);
    if (largest_difference != NULL) *largest_difference = player.largest_difference;
    status = player_close(&player, world, status, err);
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
