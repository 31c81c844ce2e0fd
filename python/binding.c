// binding.c - Volery as flat functions for Python's ctypes: numbers, text and pointers, no structs.
//
// A function that can fail returns NULL or -1 and leaves a sentence in binding_error().
#include "binding.h"
#include "dlpack.h"
#include "volery/gpu.h"
#include "volery/host.h"
#include "volery/record.h"
#include "volery/version.h"
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static _Thread_local char message[4096];

const char *binding_error(void) { return message; }
const char *binding_version(void) { return VY_VERSION; }
void binding_free(void *block) { free(block); }

void *binding_fail(const vy_error *err)
{
    snprintf(message, sizeof message, "%s", err->text[0] != '\0' ? err->text : vy_status_text(err->status));
    return NULL;
}

int binding_result(vy_status status, const vy_error *err)
{
    if (status == VY_OK) return 0;
    (void)binding_fail(err);
    return -1;
}

// ---- scenarios

static vy_scenario *scenario_or_error(vy_status status, vy_scenario **s, vy_diagnostics *d)
{
    if (status != VY_OK) {
        char *text = vy_diagnostics_print(d);
        snprintf(message, sizeof message, "%s", text != NULL ? text : vy_status_text(status));
        for (size_t n = strlen(message); n > 0 && message[n - 1] == '\n'; --n) message[n - 1] = '\0';
        free(text);
    }
    vy_diagnostics_destroy(d);
    return status == VY_OK ? *s : NULL;
}

vy_scenario *scenario_load(const char *path, const char *const *overrides, int count)
{
    vy_scenario *s = NULL;
    vy_diagnostics d;
    const vy_scenario_options options = {.overrides = overrides, .override_count = count};
    return scenario_or_error(vy_scenario_load(path, &options, &s, &d), &s, &d);
}

// `name` is the file that files the text names lie beside; without one only built-in vehicles are found.
vy_scenario *scenario_parse(const char *text, size_t size, const char *name, const char *const *overrides,
                            int count)
{
    vy_scenario *s = NULL;
    vy_diagnostics d;
    const vy_scenario_options options = {
        .overrides = overrides, .override_count = count, .load = name != NULL ? vy_load_file : NULL};
    return scenario_or_error(
        vy_scenario_parse(text, size, name != NULL ? name : "scenario", &options, &s, &d), &s, &d);
}

void scenario_destroy(vy_scenario *s) { vy_scenario_destroy(s); }
char *scenario_print(const vy_scenario *s) { return vy_scenario_print(s); }
uint64_t scenario_seed(const vy_scenario *s) { return s->seed; }
void scenario_set_seed(vy_scenario *s, uint64_t seed) { s->seed = seed; }
double scenario_step(const vy_scenario *s) { return s->step; }
uint64_t scenario_steps(const vy_scenario *s) { return vy_scenario_steps(s); }
int scenario_drones(const vy_scenario *s) { return s->drone_count; }
const char *scenario_drone_name(const vy_scenario *s, int drone) { return s->drones[drone].name; }
int scenario_bodies(const vy_scenario *s) { return s->body_count; }
const char *scenario_body_name(const vy_scenario *s, int body) { return s->bodies[body].name; }
int scenario_rotors(const vy_scenario *s, int drone) { return s->drones[drone].def.vehicle.rotor_count; }

// What a reader of a vehicle wants to know first: mass [kg], thrust of all rotors at full speed [N].
void scenario_vehicle(const vy_scenario *s, int drone, double out[2])
{
    const vy_vehicle_def *v = &s->drones[drone].def.vehicle;
    out[0] = v->mass;
    out[1] = v->rotor_count * v->thrust_coef * v->speed_max * v->speed_max;
}

// Limits that end an episode; 0 is none. Both heights 0: none.
void scenario_limit(vy_scenario *s, double tilt, double distance, double low, double high)
{
    for (int i = 0; i < s->drone_count; ++i) {
        vy_safety_def *d = &s->drones[i].def.safety;
        d->tilt_max = tilt;
        d->distance_max = distance;
        d->height_min = low;
        d->height_max = high;
    }
}

// ---- worlds

typedef struct action {
    vy_intent intent;
} action;

double binding_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// A world and what belongs to it.
typedef struct world_session {
    vy_scenario *scenario;
    vy_world *world;
    action *actions;
    vy_host **hosts; // plug-ins and processes that steer, up to a NULL
    vy_recorder *recorder;
    double flushed; // [s] of the clock, when the log was last brought up to date
} world_session;

// Threads may share it: each function here has it for itself, one call at a time. It lasts until
// world_destroy(), even where world_reset() puts another world in the place of the first.
struct locked_world {
    pthread_mutex_t lock;
    world_session session;
};

static world_session *enter(locked_world *w)
{
    (void)pthread_mutex_lock(&w->lock);
    return &w->session;
}

const vy_world *binding_enter(locked_world *w) { return enter(w)->world; }

static void leave(locked_world *w) { (void)pthread_mutex_unlock(&w->lock); }

void binding_leave(locked_world *w) { leave(w); }

static void reply(void *self, const vy_samples *samples, vy_intent *intent)
{
    (void)samples;
    *intent = ((const action *)self)->intent;
}

static void close_session(const world_session *session)
{
    vy_recorder_abandon(session->recorder);
    vy_world_destroy(session->world);
    for (int i = 0; session->hosts != NULL && session->hosts[i] != NULL; ++i)
        vy_host_close(session->hosts[i]);
    free(session->hosts);
    vy_scenario_destroy(session->scenario);
    free(session->actions);
}

void world_destroy(locked_world *w)
{
    if (w == NULL) return;
    close_session(&w->session);
    (void)pthread_mutex_destroy(&w->lock);
    free(w);
}

static void take_actions(world_session *w)
{
    for (int i = 0; i < w->scenario->drone_count; ++i) {
        const vy_vehicle_def *v = &w->scenario->drones[i].def.vehicle;
        vy_controller_def *c = &w->scenario->drones[i].def.controller;
        if (c->kind == VY_CONTROLLER_NONE && v->rotor_count + v->thruster_count == 0) continue; // a body
        c->kind = VY_CONTROLLER_CALLBACK;
        c->period = w->scenario->step;
        c->call = reply;
        c->self = &w->actions[i];
    }
}

// Start the plug-ins and processes that the scenario names.
static vy_status start_hosts(world_session *w, vy_error *err)
{
    vy_status status = VY_OK;
    for (int i = 0, n = 0; i < w->scenario->drone_count && status == VY_OK; ++i) {
        vy_scenario_drone *drone = &w->scenario->drones[i];
        vy_controller_def *c = &drone->def.controller;
        if (c->kind == VY_CONTROLLER_CALLBACK || vy_pilot_is_live(c)) {
            snprintf(err->text, sizeof err->text,
                     "%.60s is steered by a person or a callback: make the world with a rung, and act",
                     drone->name);
            return VY_BAD_VALUE;
        }
        if (!vy_controller_is_external(c->kind)) continue;
        status = vy_host_open(&drone->def, drone->name, w->scenario->step, &w->scenario->environment.planet,
                              &w->hosts[n], err);
        n += status == VY_OK;
    }
    return status;
}

// With `takes_actions` the world is steered by world_act, taken at the end of every step.
static vy_status fill(world_session *w, const vy_scenario *scenario, int takes_actions, uint64_t seed,
                      vy_error *err)
{
    vy_status status = vy_scenario_copy(scenario, &w->scenario, err);
    if (status != VY_OK) return status;
    w->scenario->seed = seed;
    w->actions = calloc((size_t)scenario->drone_count + 1, sizeof *w->actions);
    w->hosts = calloc((size_t)scenario->drone_count + 1, sizeof *w->hosts);
    if (w->actions == NULL || w->hosts == NULL) return VY_NO_MEMORY;
    if (takes_actions) take_actions(w);
    if (!takes_actions) status = start_hosts(w, err);
    return status == VY_OK ? vy_scenario_build(w->scenario, &w->world, err) : status;
}

locked_world *world_create(const vy_scenario *scenario, int takes_actions, uint64_t seed)
{
    vy_error err = {.status = VY_NO_MEMORY};
    locked_world *w = calloc(1, sizeof *w);
    if (w == NULL || pthread_mutex_init(&w->lock, NULL) != 0) {
        free(w);
        return binding_fail(&err);
    }
    if (fill(&w->session, scenario, takes_actions, seed, &err) == VY_OK) return w;
    world_destroy(w);
    return binding_fail(&err);
}

// Another world in the place of this one, which stays after a mistake.
int world_reset(locked_world *w, const vy_scenario *scenario, int takes_actions, uint64_t seed)
{
    vy_error err = {.status = VY_NO_MEMORY};
    world_session next = {.scenario = NULL};
    const vy_status status = fill(&next, scenario, takes_actions, seed, &err);
    if (status == VY_OK) {
        world_session *session = enter(w);
        const int recorded = session->recorder != NULL;
        if (!recorded) {
            const world_session before = *session;
            *session = next;
            next = before;
        }
        leave(w);
        if (recorded) snprintf(message, sizeof message, "reset: the world is being recorded");
        close_session(&next);
        return recorded ? -1 : 0;
    }
    close_session(&next);
    (void)binding_fail(&err);
    return -1;
}

// The fields that go with any rung: "NAME COUNT ...", where a count of 0 is that of flags, -1 of a whole
// number.
const char *reply_fields(void)
{
    static char text[1024];
    size_t used = 0;
    int count;
    const vy_reply_field *f = vy_reply_fields(&count);
    for (const vy_reply_field *end = f + count; f < end; ++f) {
        if (f->rungs != VY_REPLY_ANY) continue;
        const int values = f->type == VY_REPLY_FLAGS ? 0 : f->type == VY_REPLY_UINT ? -1 : f->count;
        used += (size_t)snprintf(text + used, sizeof text - used, "%s %d ", f->name, values);
    }
    return text;
}

// The values of a rung, and those of the fields that go with any, each in the order of the fields.
static void take_action(world_session *w, uint32_t drone, int rung, const double *values,
                        const double *common_values)
{
    vy_intent *in = &w->actions[drone].intent;
    memset(in, 0, sizeof *in);
    in->rung = (vy_rung)rung;
    int count;
    const vy_reply_field *f = vy_reply_fields(&count);
    for (const vy_reply_field *end = f + count; f < end; ++f) {
        const int rotors = w->scenario->drones[drone].def.vehicle.rotor_count;
        const size_t size = 8 * (size_t)(f->type == VY_REPLY_COMMANDS ? rotors : f->count);
        const uint64_t flags = vy_reply_is_whole(f->type) ? (uint64_t)*common_values : 0;
        const double **from = f->rungs == VY_REPLY_ANY ? &common_values : &values;
        if ((f->rungs >> rung & 1) == 0) continue;
        memcpy((char *)in + f->offset, vy_reply_is_whole(f->type) ? (const void *)&flags : *from, size);
        *from += size / 8;
    }
}

void world_act(locked_world *w, uint32_t drone, int rung, const double *values, const double *common_values)
{
    take_action(enter(w), drone, rung, values, common_values);
    leave(w);
}

// A log that grows slowly is brought up to date twice a second, for whoever reads it after a kill.
uint32_t world_step(locked_world *w, uint64_t steps)
{
    world_session *session = enter(w);
    const uint32_t events = vy_world_advance(session->world, steps);
    if (session->recorder != NULL && binding_seconds() - session->flushed >= 0.5) {
        vy_recorder_flush(session->recorder);
        session->flushed = binding_seconds();
    }
    leave(w);
    return events;
}

// What has been flown so far is in the log.
void world_flush(locked_world *w)
{
    world_session *f = enter(w);
    if (f->recorder != NULL) vy_recorder_flush(f->recorder);
    f->flushed = binding_seconds();
    leave(w);
}

uint64_t world_tick(locked_world *w)
{
    const uint64_t tick = vy_world_tick(enter(w)->world);
    leave(w);
    return tick;
}

uint64_t world_hash(locked_world *w)
{
    const uint64_t hash = vy_world_hash(enter(w)->world);
    leave(w);
    return hash;
}

uint64_t world_state_hash(locked_world *w)
{
    const uint64_t hash = vy_world_state_hash(enter(w)->world);
    leave(w);
    return hash;
}

/// Save into `size` bytes, if that is enough. Returns how many it takes.
size_t world_save(locked_world *w, void *block, size_t size)
{
    const vy_world *world = enter(w)->world;
    const size_t needed = vy_world_state_size(world);
    if (needed <= size) vy_world_save(world, block);
    leave(w);
    return needed;
}

const char *world_integrator(locked_world *w)
{
    const char *name = vy_integrator_name(vy_world_integrator(enter(w)->world));
    leave(w);
    return name;
}

int world_set_integrator(locked_world *w, const char *name)
{
    vy_error err = {0};
    int i = 0;
    while (vy_integrator_order((vy_integrator)i) != 0 &&
           strcmp(vy_integrator_name((vy_integrator)i), name) != 0)
        ++i;
    if (vy_integrator_order((vy_integrator)i) == 0) {
        snprintf(message, sizeof message,
                 "no integrator %s: there are euler, semi-implicit, rk4 and lie-midpoint", name);
        return -1;
    }
    const vy_status status = vy_world_set_integrator(enter(w)->world, (vy_integrator)i, &err);
    leave(w);
    return binding_result(status, &err);
}

int world_restore(locked_world *w, const void *block, size_t size)
{
    vy_error err = {.text = "restore: the world is being recorded"};
    const world_session *now = enter(w);
    const vy_status status =
        now->recorder != NULL ? VY_BAD_STATE : vy_world_restore(now->world, block, size, &err);
    leave(w);
    return binding_result(status, &err);
}

// Position, velocity, attitude, rate, rotor speeds.
int world_set(locked_world *w, uint32_t drone, const double *values)
{
    vy_error err = {0};
    vy_drone_motion m;
    memcpy(&m.position, values, 24);
    memcpy(&m.velocity, values + 3, 24);
    memcpy(&m.attitude, values + 6, 32);
    memcpy(&m.rate, values + 10, 24);
    memcpy(m.rotor_speed, values + 13, sizeof m.rotor_speed);
    vy_world *world = enter(w)->world;
    const vy_status status = vy_world_set_drone(world, vy_world_drone(world, drone), &m, &err);
    leave(w);
    return binding_result(status, &err);
}

// Position, velocity, attitude, rate, then the same of the estimate, rotor speeds, motor commands.
void world_read(locked_world *w, uint32_t drone, double *out)
{
    vy_drone_state s;
    const vy_world *world = enter(w)->world;
    const vy_status status = vy_world_read_drone(world, vy_world_drone(world, drone), &s);
    leave(w);
    if (status != VY_OK) return;
    const vy_estimate *e = &s.samples.estimate;
    memcpy(out, &s.position, 24);
    memcpy(out + 3, &s.velocity, 24);
    memcpy(out + 6, &s.attitude, 32);
    memcpy(out + 10, &s.rate, 24);
    memcpy(out + 13, &e->position, 24);
    memcpy(out + 16, &e->velocity, 24);
    memcpy(out + 19, &e->attitude, 32);
    memcpy(out + 23, &e->rate, 24);
    memcpy(out + 26, s.rotor_speed, 64);
    memcpy(out + 34, s.motor_command, 64);
}

// Position, velocity, attitude, rate of a body.
void world_read_body(locked_world *w, uint32_t body, double *out)
{
    vy_world_body_state s;
    const vy_world *world = enter(w)->world;
    const vy_status status =
        vy_world_read_body(world, vy_world_body(world, vy_world_drone_count(world) + body), &s);
    leave(w);
    if (status != VY_OK) return;
    memcpy(out, &s.position, 24);
    memcpy(out + 3, &s.velocity, 24);
    memcpy(out + 6, &s.attitude, 32);
    memcpy(out + 10, &s.rate, 24);
}

// Why the world ended, as a sentence; NULL while it runs.
const char *world_failure(locked_world *w)
{
    const world_session *session = enter(w);
    const vy_failure f = vy_world_failure(session->world);
    if (f.reason != VY_FAILURE_NONE)
        vy_failure_print(&f, vy_scenario_name_of(session->scenario, (int)f.body), message, sizeof message);
    leave(w);
    return f.reason != VY_FAILURE_NONE ? message : NULL;
}

int world_hosted(locked_world *w)
{
    const int hosted = enter(w)->hosts[0] != NULL;
    leave(w);
    return hosted;
}

int world_recording(locked_world *w)
{
    const int recording = enter(w)->recorder != NULL;
    leave(w);
    return recording;
}

static int begin_record(world_session *w, const char *path)
{
    vy_error err = {0};
    if (w->recorder != NULL) {
        snprintf(message, sizeof message, "this world is being recorded already");
        return -1;
    }
    if (binding_result(vy_scenario_record(w->scenario, w->world, path, NULL, &w->recorder, &err), &err) != 0)
        return -1;
    vy_world_set_sink(w->world, vy_recorder_sink(w->recorder));
    w->flushed = binding_seconds();
    return 0;
}

// A push, a gust or a fault, as JSON in the keys of a scenario.
int world_inject(locked_world *w, const char *what, const char *keys)
{
    vy_error err = {0};
    world_session *session = enter(w);
    const int result = binding_result(
        vy_scenario_inject(session->scenario, session->world, what, keys, strlen(keys), &err), &err);
    leave(w);
    return result;
}

int world_record(locked_world *w, const char *path)
{
    const int result = begin_record(enter(w), path);
    leave(w);
    return result;
}

static int end_record(world_session *w, int whole)
{
    vy_error err = {0};
    const int failed = vy_world_failure(w->world).reason != VY_FAILURE_NONE;
    vy_recorder *r = w->recorder;
    w->recorder = NULL;
    vy_world_set_sink(w->world, (vy_sink){0});
    if (r == NULL) return 0;
    return binding_result(vy_recorder_close(r, w->world,
                                            failed  ? "failed"
                                            : whole ? "completed"
                                                    : "interrupted",
                                            &err),
                          &err);
}

// `whole`: the recording came to its end, nothing was thrown meanwhile.
int world_record_end(locked_world *w, int whole)
{
    const int result = end_record(enter(w), whole);
    leave(w);
    return result;
}

// The first difference as a sentence.
static void set_difference_error(const vy_log *log, const vy_difference *d)
{
    const double time = (double)d->tick * vy_log_get_info(log).dt;
    if (d->message && !d->has_values) {
        snprintf(message, sizeof message,
                 "step %" PRIu64 " (%.9g s): %s is '%s' in the log, '%s' in the replay", d->tick, time,
                 d->field, d->text_a, d->text_b);
        return;
    }
    if (d->field[0] == '\0') {
        snprintf(message, sizeof message,
                 "step %" PRIu64 " (%.9g s): hash %016" PRIx64 " in the log, %016" PRIx64 " in the replay",
                 d->tick, time, d->hash_a, d->hash_b);
        return;
    }
    char in_log[32], in_replay[32];
    if (d->real) {
        snprintf(in_log, sizeof in_log, "%.17g", d->a);
        snprintf(in_replay, sizeof in_replay, "%.17g", d->b);
    } else {
        snprintf(in_log, sizeof in_log, "%" PRIu64, d->integer_a);
        snprintf(in_replay, sizeof in_replay, "%" PRIu64, d->integer_b);
    }
    snprintf(message, sizeof message,
             "step %" PRIu64 " (%.9g s) differs; at step %" PRIu64 " %s is %s in the log, %s in the replay",
             d->tick, time, d->field_tick != 0 ? d->field_tick : d->tick, d->field, in_log, in_replay);
}

// Why a replay of an open log stopped, as a sentence with the step.
static int set_replay_error(const vy_log_info *info, const vy_difference *d, const vy_error *err)
{
    snprintf(message, sizeof message, "the replay cannot continue after step %" PRIu64 " of %" PRIu64 ": %s",
             d->last_tick, info->last_tick, err->text);
    return -1;
}

// The scenario of an open log that is whole, if this library computes its physics.
static vy_scenario *logged_scenario(vy_log *log, const char *path)
{
    vy_error err = {0};
    vy_diagnostics diagnostics;
    vy_scenario *s = NULL;
    const vy_log_info info = vy_log_get_info(log);
    if (info.physics != VY_PHYSICS_REVISION) {
        snprintf(message, sizeof message,
                 "%s was written by physics revision %" PRIu32 "; this library computes revision %d", path,
                 info.physics, VY_PHYSICS_REVISION);
        return NULL;
    }
    if ((info.complete || info.recovered) && binding_result(vy_log_verify(log, &err), &err) != 0) return NULL;
    return scenario_or_error(vy_scenario_from_log(log, path, NULL, 0, &s, &diagnostics), &s, &diagnostics);
}

// Start what is to be asked, and fly the log's scenario beside the log.
static int replay_session(vy_log *log, int live, int allowed, world_session *session)
{
    vy_error err = {0};
    vy_difference d = {0};
    const vy_log_info info = vy_log_get_info(log);
    session->hosts = calloc((size_t)session->scenario->drone_count + 1, sizeof *session->hosts);
    vy_status status = session->hosts != NULL ? VY_OK : VY_NO_MEMORY;
    for (int i = 0; i < session->scenario->drone_count && allowed > 1; ++i) {
        vy_controller_def *def = &session->scenario->drones[i].def.controller;
        if (def->from_log) def->confine = 0;
    }
    if (status == VY_OK && allowed) status = vy_scenario_allow_programs(session->scenario, log, &err);
    if (status == VY_OK && live) status = start_hosts(session, &err);
    if (status == VY_OK) status = vy_scenario_build(session->scenario, &session->world, &err);
    if (status != VY_OK) return binding_result(status, &err);
    status = live ? vy_log_replay_live(log, session->world, NULL, NULL, &d, &err)
                  : vy_scenario_replay(session->scenario, log, session->world, NULL, NULL, &d, &err);
    if (status != VY_OK) return set_replay_error(&info, &d, &err);
    if (d.found) {
        set_difference_error(log, &d);
        return 1;
    }
    if (info.complete) return 0;
    snprintf(message, sizeof message, "the log was cut off; it was compared up to step %" PRIu64,
             d.last_tick);
    return 2;
}

// Fly an open log again. 0: the same to the bit; 1: message names the first difference; 2: the same, but the
// message says that the log was cut off; -1: it cannot be done. `live`: its controllers are asked again;
// `allowed`: those that the log names, too; 2: without confinement.
static int replay_log(vy_log *log, const char *path, int live, int allowed)
{
    world_session session = {.scenario = logged_scenario(log, path)};
    if (session.scenario == NULL) return -1;
    int result = 1;
    if (vy_scenario_hash(session.scenario) == vy_log_get_info(log).config_hash)
        result = replay_session(log, live, allowed, &session);
    else
        snprintf(message, sizeof message, "the scenario in %s is not the one that was flown", path);
    close_session(&session);
    return result;
}

int log_replay(const char *path, int live, int allowed)
{
    vy_error err = {0};
    vy_log *log = NULL;
    if (binding_result(vy_log_open(path, &log, &err), &err) != 0) return -1;
    const int result = replay_log(log, path, live, allowed);
    vy_log_close(log);
    return result;
}

// ---- batches

const char *batch_variable(int index) { return vy_variable_name(index); }

// `numbers`: worlds, seed, threads, lanes, chain, rung, episode, autoreset, precision. `randomisation`: what,
// distribution, a, b, drone for each row.
vy_batch *batch_create(const vy_scenario *scenario, const uint64_t *numbers, const double *randomisation,
                       int randomisation_count, const char *const *observe, int observe_count)
{
    vy_error err = {0};
    vy_batch *batch = NULL;
    vy_batch_def def = vy_default_batch_def();
    def.scenario = scenario;
    def.world_count = numbers[0] < UINT32_MAX ? (uint32_t)numbers[0] : UINT32_MAX; // too many anyhow
    def.seed = numbers[1];
    def.threads = (uint32_t)numbers[2];
    def.lanes = (uint32_t)numbers[3];
    def.chain = (int)numbers[4];
    def.rung = (vy_rung)numbers[5];
    def.episode_steps_max = numbers[6];
    def.autoreset = (vy_autoreset)numbers[7];
    def.precision = (vy_precision)numbers[8];
    def.randomisation_count = randomisation_count;
    for (int i = 0; i < randomisation_count && i < VY_RANDOMISATION_CAP; ++i) {
        const double *v = randomisation + 5 * i;
        def.randomisation[i] =
            (vy_randomisation){(vy_variable)v[0], (vy_distribution)v[1], v[2], v[3], (int)v[4]};
    }
    def.observe_count = observe_count;
    for (int i = 0; i < observe_count && i < VY_OBSERVE_CAP; ++i) def.observe[i] = observe[i];
    if (vy_batch_create(&def, &batch, &err) != VY_OK) return binding_fail(&err);
    return batch;
}

void batch_destroy(vy_batch *b) { vy_batch_destroy(b); }

// worlds, drones, action_size, observation_size; then the addresses of the arrays.
void batch_view(const vy_batch *b, uint64_t out[11])
{
    const vy_batch_view v = vy_batch_get_view(b);
    const void *arrays[] = {v.actions, v.observations, v.final_observations, v.terminated, v.truncated,
                            v.ticks,   v.seeds};
    out[0] = v.worlds;
    out[1] = v.drones;
    out[2] = v.action_size;
    out[3] = v.observation_size;
    for (int i = 0; i < 7; ++i) out[4 + i] = (uint64_t)(uintptr_t)arrays[i];
}

void batch_step(vy_batch *b, uint64_t steps) { vy_batch_step(b, steps); }
void batch_reset(vy_batch *b, const uint8_t *selected, const uint64_t *seeds)
{
    vy_batch_reset(b, selected, seeds);
}
uint64_t batch_hash(const vy_batch *b, uint32_t world) { return vy_batch_hash(b, world); }
uint64_t batch_state_hash(const vy_batch *b, uint32_t world) { return vy_batch_state_hash(b, world); }
size_t batch_state_size(const vy_batch *b, uint32_t world) { return vy_batch_state_size(b, world); }
void batch_save(const vy_batch *b, uint32_t world, void *block) { vy_batch_save(b, world, block); }
const char *batch_kernel(const vy_batch *b) { return vy_batch_kernel(b); }
uint32_t batch_threads(const vy_batch *b) { return vy_batch_threads(b); }

int batch_restore(vy_batch *b, uint32_t world, const void *block, size_t size)
{
    vy_error err = {0};
    return binding_result(vy_batch_restore(b, world, block, size, &err), &err);
}

vy_scenario *batch_scenario(const vy_batch *b, uint32_t world)
{
    vy_error err = {0};
    vy_scenario *s = NULL;
    if (vy_batch_scenario(b, world, &s, &err) != VY_OK) return binding_fail(&err);
    return s;
}

static int write_cells(const vy_cells *c, uint64_t out[4])
{
    out[0] = (uint64_t)(uintptr_t)c->first;
    out[1] = c->count;
    out[2] = c->lanes;
    out[3] = c->block;
    return 0;
}

// address, values, lanes, values from block to block.
int batch_cells(const vy_batch *b, uint32_t drone, const char *field, uint64_t out[4])
{
    vy_error err = {0};
    vy_cells c;
    return binding_result(vy_batch_cells(b, drone, field, &c, &err), &err) != 0 ? -1 : write_cells(&c, out);
}

// ---- a batch on a GPU: a shared handle of a vy_gpu

static void destroy_gpu(void *gpu) { vy_gpu_destroy(gpu); }

shared_handle *gpu_create(vy_batch *b)
{
    vy_error err = {0};
    vy_gpu *gpu = NULL;
    if (vy_gpu_create(b, &gpu, &err) != VY_OK) return binding_fail(&err);
    shared_handle *k = shared_handle_create(gpu, destroy_gpu);
    if (k == NULL) vy_gpu_destroy(gpu);
    return k;
}

void gpu_release(shared_handle *k) { shared_handle_release(k); }
int gpu_device(const shared_handle *k) { return vy_gpu_device(k->object); }

// Device addresses of actions, observations, terminated, truncated.
void gpu_view(shared_handle *k, uint64_t out[4])
{
    vy_gpu *gpu = k->object;
    const void *arrays[] = {vy_gpu_actions(gpu), vy_gpu_observations(gpu), vy_gpu_terminated(gpu),
                            vy_gpu_truncated(gpu)};
    for (int i = 0; i < 4; ++i) out[i] = (uint64_t)(uintptr_t)arrays[i];
}

// As batch_cells.
int gpu_cells(const shared_handle *k, const char *field, uint64_t out[4])
{
    vy_error err = {0};
    vy_cells c;
    return binding_result(vy_gpu_cells(k->object, field, &c, &err), &err) != 0 ? -1 : write_cells(&c, out);
}

int gpu_step(shared_handle *k, uint64_t steps)
{
    vy_error err = {0};
    return binding_result(vy_gpu_step(k->object, steps, &err), &err);
}

int gpu_upload(shared_handle *k)
{
    vy_error err = {0};
    return binding_result(vy_gpu_upload(k->object, &err), &err);
}

int gpu_upload_actions(shared_handle *k)
{
    vy_error err = {0};
    return binding_result(vy_gpu_upload_actions(k->object, &err), &err);
}

int gpu_download(shared_handle *k)
{
    vy_error err = {0};
    return binding_result(vy_gpu_download(k->object, &err), &err);
}

int gpu_download_observations(shared_handle *k)
{
    vy_error err = {0};
    return binding_result(vy_gpu_download_observations(k->object, &err), &err);
}

// What a capsule is to hold. `numbers`: address, type and number of the device, kind and bits of a value,
// axes; then the shape and the strides.
void *array_export(const int64_t *numbers, int versioned, shared_handle *owner)
{
    array_layout layout = {
        .data = (void *)(uintptr_t)numbers[0],
        .device_type = (int32_t)numbers[1],
        .device = (int32_t)numbers[2],
        .kind = (uint8_t)numbers[3],
        .bits = (uint8_t)numbers[4],
        .axes = (int32_t)numbers[5],
    };
    for (int i = 0; i < layout.axes; ++i) {
        layout.shape[i] = numbers[6 + i];
        layout.strides[i] = numbers[6 + layout.axes + i];
    }
    return dlpack_create(&layout, versioned, owner);
}

// ---- the calls themselves, timed without Python: see volery/bench.py

double world_steps_seconds(locked_world *w, uint64_t calls)
{
    const double start = binding_seconds();
    vy_world *world = enter(w)->world;
    for (uint64_t i = 0; i < calls; ++i) (void)vy_world_step(world);
    leave(w);
    return binding_seconds() - start;
}

double batch_step_seconds(vy_batch *b, uint64_t steps)
{
    const double start = binding_seconds();
    vy_batch_step(b, steps);
    return binding_seconds() - start;
}
