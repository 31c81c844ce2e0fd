// flight.c - the loop around vy_world_step, and how a flight ends.
#include "flight.h"
#include "command.h"
#include "files.h"
#include "progress.h"
#include "message.h"
#include "signals.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    STRIDE_STEPS = 10,       // steps between two samples of the drones and checks for signals
    PROGRESS_STRIDES = 4096, // strides between two reads of the clock
};

#define FLUSH_SECONDS   0.5  // of the clock
#define SETTLE_BAND     0.05 // [m]
#define SETTLE_FRACTION 0.05 // of the largest error

static double length(vy_vec3 v) { return sqrt(v.x * v.x + v.y * v.y + v.z * v.z); }

static vy_vec3 difference(vy_vec3 a, vy_vec3 b) { return (vy_vec3){a.x - b.x, a.y - b.y, a.z - b.z}; }

static double tilt_of(vy_quat q)
{
    const double c = 1.0 - 2.0 * (q.x * q.x + q.y * q.y);
    return acos(c < -1.0 ? -1.0 : c > 1.0 ? 1.0 : c);
}

// Of a body: where it is and what it has touched.
static void read_body(const vy_world *world, uint32_t number, vy_drone_state *out)
{
    vy_world_body_state b;
    if (vy_world_read_body(world, vy_world_body(world, number), &b) != VY_OK) return;
    out->position = b.position;
    out->velocity = b.velocity;
    out->attitude = b.attitude;
    out->contacts = b.contacts;
    out->contact_speed = b.contact_speed;
    out->contact_impulse_max = b.contact_impulse_max;
    out->crashes = b.crashes;
}

// How good the estimate is: of a Kalman filter also by its own measure.
static void sample_estimate(const vy_world *world, uint32_t index, drone_track *t)
{
    vy_filter_state s;
    const vy_status status = vy_world_read_filter(world, vy_world_drone(world, index), &s);
    if (status == VY_OK && !s.started) return;
    t->estimate_max =
        fmax(t->estimate_max, length(difference(t->state.samples.estimate.position, t->state.position)));
    if (status != VY_OK || !(s.nees > 0.0)) return;
    t->nees_sum += s.nees;
    t->nees_count += 1;
}

static void sample_body(const vy_world *world, uint32_t index, drone_track *t)
{
    const vy_vec3 position_before = t->state.position;
    if (vy_world_read_drone(world, vy_world_drone(world, index), &t->state) != VY_OK)
        read_body(world, index, &t->state);
    if (t->count++ > 0) t->distance += length(difference(t->state.position, position_before));
    t->tilt_max = fmax(t->tilt_max, tilt_of(t->state.attitude));
    t->speed_max = fmax(t->speed_max, length(t->state.velocity));
    double effort = 0.0;
    for (int i = 0; i < t->rotors; ++i) effort += t->state.motor_command[i] * t->state.motor_command[i];
    t->effort += t->rotors > 0 ? effort / t->rotors : 0.0;
    if (t->is_drone) sample_estimate(world, index, t);
    if (!t->has_error) return;
    const double error = length(difference(t->state.position, t->state.target.position));
    t->error_sum += error * error;
    t->error_max = fmax(t->error_max, error);
    t->is_outside = error > fmax(SETTLE_BAND, SETTLE_FRACTION * t->error_max);
    if (t->is_outside) t->settling_time = vy_world_time(world);
}

static void sample_all(flight *f)
{
    const uint32_t count = f->def.is_outcome_only ? 0 : vy_world_body_count(f->def.world);
    for (uint32_t i = 0; i < count; ++i) sample_body(f->def.world, i, &f->tracks[i]);
}

// Above its last row the standard atmosphere has no air at all: the first body to get there is worth a word.
static void warn_above_air(flight *f, vy_recorder *recorder)
{
    const vy_environment_def *e = &f->def.scenario->environment;
    if (f->def.is_outcome_only || f->is_above_atmosphere || e->atmosphere.mode != VY_ATMOSPHERE_LAYERED)
        return;
    const double time = vy_world_time(f->def.world);
    for (uint32_t i = 0; i < vy_world_body_count(f->def.world) && !f->is_above_atmosphere; ++i) {
        const vy_drone_state *d = &f->tracks[i].state;
        const double altitude =
            e->planet.radius > 0.0
                ? vy_geodetic_of(&e->planet, time, d->position, d->velocity, d->attitude).altitude
                : d->position.z;
        if (!(altitude > VY_ATMOSPHERE_TOP)) continue;
        char text[200];
        snprintf(text, sizeof text,
                 "at %.3f s %s is above %g km, where the standard atmosphere ends: no air acts on it there",
                 time, vy_scenario_name_of(f->def.scenario, (int)i), VY_ATMOSPHERE_TOP / 1000.0);
        vy_print_warning(f->def.command, "%s", text);
        if (recorder != NULL) vy_recorder_note(recorder, f->def.world, "atmosphere", text);
        f->is_above_atmosphere = 1;
    }
}

static int is_evaluated_throughout(const vy_scenario *s)
{
    for (int i = 0; i < s->expect_count; ++i) {
        if (s->expect[i].at != VY_AT_END) return 1;
    }
    return 0;
}

// Up to `count` steps; expectations are evaluated at each when one of them needs every step.
static uint32_t advance(flight *f, uint64_t count, int every_step)
{
    if (!every_step) return vy_world_advance(f->def.world, count);
    uint32_t events = 0;
    while (count-- > 0 && !(events & VY_EVENT_FAILED)) {
        events |= vy_world_step(f->def.world);
        vy_expect_feed(f->def.scenario, f->def.world, f->results);
    }
    return events;
}

#define BEHIND_MAX \
    1.0 // [s] that are made up for; more is a program that booted, or a process that was stopped

// Wait until the wall clock has reached the flight's time, which began at `*pace_start`. A flight that is a
// little behind runs as fast as it can; one that is far behind continues from now.
static void wait_for_clock(const flight *f, uint64_t tick, double *pace_start)
{
    const double flight_time = (double)(tick - f->first) * f->def.scenario->step;
    const double ahead = flight_time - (vy_wall_clock() - *pace_start);
    if (ahead < -BEHIND_MAX) *pace_start -= ahead;
    if (ahead <= 0.0) return;
    const double whole_seconds = floor(ahead);
    const struct timespec pause = {.tv_sec = (time_t)whole_seconds,
                                   .tv_nsec = (long)(1e9 * (ahead - whole_seconds))};
    (void)nanosleep(&pause, NULL); // a signal ends it early, and is seen at once
}

// Twice a second of wall time the log is flushed, so that it can be read when this process is killed. A fast
// run ends before; reading the clock costs nothing beside a stride.
static void flush_log(vy_recorder *recorder, double *next_flush)
{
    if (recorder == NULL) return;
    const double now = vy_wall_clock();
    if (now < *next_flush) return;
    vy_recorder_flush(recorder);
    *next_flush = now + FLUSH_SECONDS;
}

static void fly_to_end(flight *f, vy_recorder *recorder)
{
    const int every_step = is_evaluated_throughout(f->def.scenario);
    progress progress_line =
        vy_progress_begin(f->def.show_progress, f->first, f->last, f->def.scenario->step);
    uint64_t tick = vy_world_tick(f->def.world);
    double next_flush = progress_line.start + FLUSH_SECONDS, pace_start = progress_line.start;
    uint32_t events = vy_world_failure(f->def.world).reason != VY_FAILURE_NONE ? VY_EVENT_FAILED : 0;
    sample_all(f);
    for (uint64_t stride = 0; tick < f->last && !(events & (VY_EVENT_FAILED | VY_EVENT_SINK)); ++stride) {
        if ((f->signal = vy_signals_seen()) != 0) break;
        vy_watch_pace(f->def.watched, (double)(tick - f->first) * f->def.scenario->step);
        if ((f->signal = vy_signals_seen()) != 0) break;
        if (tick > f->first) vy_watch_inject(f->def.watched, f->def.scenario, f->def.world);
        const uint64_t steps_left = f->last - tick;
        events |= advance(f, steps_left < STRIDE_STEPS ? steps_left : STRIDE_STEPS, every_step);
        tick = vy_world_tick(f->def.world);
        sample_all(f);
        warn_above_air(f, recorder);
        flush_log(recorder, &next_flush);
        if (f->def.realtime && f->def.watched == NULL) wait_for_clock(f, tick, &pace_start);
        if (f->def.realtime || stride % PROGRESS_STRIDES == 0) vy_progress_update(&progress_line, tick);
    }
    if (!every_step) vy_expect_feed(f->def.scenario, f->def.world, f->results);
    f->wall = vy_wall_clock() - progress_line.start;
    vy_progress_end(&progress_line);
}

static int open_log(const flight *f, vy_signing_key **key, vy_recorder **out)
{
    vy_error error = {.status = VY_OK};
    vy_status status = f->def.sign != NULL ? vy_signing_key_open(f->def.sign, key, &error) : VY_OK;
    if (status == VY_OK)
        status = vy_scenario_record(f->def.scenario, f->def.world, f->def.log, f->def.parent, out, &error);
    if (status == VY_OK && *key != NULL) status = vy_recorder_sign(*out, *key, &error);
    if (status != VY_OK) return vy_print_status(f->def.command, status, &error);
    vy_file_print_backup(f->def.command, f->def.log, vy_recorder_backup(*out));
    // The log has standard output for itself: messages go to standard error.
    if (vy_file_is_stream(f->def.log)) (void)dup2(STDERR_FILENO, STDOUT_FILENO);
    return 0;
}

// Nothing is left to fly. A controller may still fail at its own end, which must be in the log's result.
static void end_controllers(flight *f)
{
    vy_failure failure = {.tick = vy_world_tick(f->def.world), .time = vy_world_time(f->def.world)};
    if (f->def.programs == NULL || !vy_controllers_finish(f->def.programs, &failure)) return;
    if (f->failure.reason != VY_FAILURE_NONE) return;
    f->failure = failure;
    f->failure.limit = f->def.scenario->drones[failure.body].def.controller.deadline;
    f->failed_at_end = 1;
}

static void evaluate_run(flight *f)
{
    const vy_world *world = f->def.world;
    f->failure = vy_world_failure(world);
    if (f->failure.reason == VY_FAILURE_CONTROLLER && f->def.programs != NULL) {
        vy_controllers_output(f->def.programs, (int)f->failure.body, f->program_output,
                              sizeof f->program_output);
        f->failure.output = f->program_output;
    }
    end_controllers(f);
    for (uint32_t i = 0; i < vy_world_drone_count(world); ++i) {
        (void)vy_world_read_drive(world, vy_world_drone(world, i), &f->tracks[i].drive);
        f->tracks[i].faults = vy_world_fault_count(world, vy_world_drone(world, i));
    }
    f->failed_expectation = -1;
    vy_expect_end(f->def.scenario, f->results);
    for (int i = 0; i < f->def.scenario->expect_count && f->failed_expectation < 0; ++i) {
        if (!f->results[i].met && !f->results[i].skipped) f->failed_expectation = i;
    }
    const int failed = f->failure.reason != VY_FAILURE_NONE || f->failed_expectation >= 0;
    f->status = f->signal != 0 ? "interrupted" : failed ? "failed" : "completed";
}

// The result of each expectation, for readers of the log.
static int note_expectations(const flight *f, vy_recorder *recorder)
{
    int is_noted = 1;
    for (int i = 0; i < f->def.scenario->expect_count; ++i) {
        char *text = vy_expect_print(f->def.scenario, i, &f->results[i]);
        if (text != NULL) vy_recorder_note(recorder, f->def.world, "expectation", text);
        is_noted &= text != NULL;
        free(text);
    }
    return is_noted;
}

static int close_log(const flight *f, vy_recorder *recorder)
{
    char reason[400];
    const int is_noted = note_expectations(f, recorder);
    vy_flight_describe_failure(f, reason, sizeof reason);
    if (f->signal != 0) vy_recorder_note(recorder, f->def.world, "interrupted", "stopped by a signal");
    if (f->signal == 0 && reason[0] != '\0') vy_recorder_note(recorder, f->def.world, "outcome", reason);
    vy_error error = {.status = VY_OK};
    vy_status status = VY_NO_MEMORY;
    if (is_noted)
        status = vy_recorder_close(recorder, f->def.world, f->status, &error);
    else
        vy_recorder_abandon(recorder);
    if (status == VY_OK) return 0;
    const int exit_status = vy_print_status(f->def.command, status, &error);
    vy_file_print_part(f->def.command, f->def.log);
    return exit_status;
}

int vy_flight_fly(const flight_def *def, flight *out)
{
    const vy_scenario *s = def->scenario;
    *out = (flight){.def = *def,
                    .first = vy_world_tick(def->world),
                    .last = vy_scenario_steps(s),
                    .failed_expectation = -1};
    out->tracks = calloc((size_t)(s->drone_count + s->body_count) + 1, sizeof *out->tracks);
    out->results = calloc((size_t)s->expect_count + 1, sizeof *out->results);
    if (out->tracks == NULL || out->results == NULL) {
        vy_watch_end(def->watched, NULL, 0);
        return vy_print_no_memory(def->command);
    }
    for (int i = 0; i < s->drone_count; ++i) {
        out->tracks[i].rotors =
            s->drones[i].def.vehicle.rotor_count + s->drones[i].def.vehicle.thruster_count;
        out->tracks[i].is_drone = 1;
        out->tracks[i].has_error = vy_controller_follows(s->drones[i].def.controller.kind);
    }
    vy_expect_begin(s, out->results);
    vy_recorder *recorder = NULL;
    vy_signing_key *key = NULL;
    vy_signals_catch();
    if (def->log != NULL) {
        int status = open_log(out, &key, &recorder);
        if (status == 0) status = vy_watch_begin(def->watched, def->log, recorder);
        if (status != 0) {
            vy_recorder_abandon(recorder);
            vy_watch_end(def->watched, NULL, 0);
            vy_signing_key_close(key);
            return status;
        }
        vy_world_set_sink(def->world, vy_recorder_sink(recorder));
    }
    const double start = vy_wall_clock();
    fly_to_end(out, recorder);
    evaluate_run(out);
    const int status = recorder != NULL ? close_log(out, recorder) : 0;
    out->wall = vy_wall_clock() - start;
    vy_watch_end(def->watched, out->status, vy_world_hash(def->world));
    vy_world_set_sink(def->world, (vy_sink){.write = NULL});
    vy_signing_key_close(key);
    return status;
}

void vy_flight_destroy(flight *f)
{
    free(f->tracks);
    free(f->results);
    f->tracks = NULL;
    f->results = NULL;
}

int vy_flight_exit(const flight *f)
{
    if (f->signal != 0) return vy_signals_exit(f->signal);
    return f->failure.reason != VY_FAILURE_NONE || f->failed_expectation >= 0 ? EXIT_FAILED : EXIT_DONE;
}

const char *vy_flight_reason(const flight *f)
{
    if (f->failure.reason != VY_FAILURE_NONE) return vy_failure_name(f->failure.reason);
    return f->failed_expectation >= 0 ? "expectation" : NULL;
}

void vy_flight_describe_failure(const flight *f, char *out, size_t size)
{
    out[0] = '\0';
    if (f->failure.reason != VY_FAILURE_NONE) {
        vy_failure_print(&f->failure, vy_scenario_name_of(f->def.scenario, (int)f->failure.body), out, size);
        const size_t length = strlen(out);
        if (f->failed_at_end) snprintf(out + length, size - length, " (after the last step)");
    } else if (f->failed_expectation >= 0) {
        char *text =
            vy_expect_print(f->def.scenario, f->failed_expectation, &f->results[f->failed_expectation]);
        snprintf(out, size, "an expectation is not met: %s",
                 text != NULL ? text : "(no memory to say which)");
        free(text);
    }
}
