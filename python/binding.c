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

static vy_scenario *scenario_or_error(vy_status status, vy_scenario **scenario, vy_diagnostics *diagnostics)
{
    if (status != VY_OK) {
        char *text = vy_diagnostics_print(diagnostics);
        snprintf(message, sizeof message, "%s", text != NULL ? text : vy_status_text(status));
        for (size_t n = strlen(message); n > 0 && message[n - 1] == '\n'; --n) message[n - 1] = '\0';
        free(text);
    }
    vy_diagnostics_destroy(diagnostics);
    return status == VY_OK ? *scenario : NULL;
}

vy_scenario *scenario_load(const char *path, const char *const *overrides, int count)
{
    vy_scenario *scenario = NULL;
    vy_diagnostics diagnostics;
    const vy_scenario_options options = {.overrides = overrides, .override_count = count};
    return scenario_or_error(vy_scenario_load(path, &options, &scenario, &diagnostics), &scenario,
                             &diagnostics);
}

// `name` is the file that files the text names lie beside; without one only built-in vehicles are found.
vy_scenario *scenario_parse(const char *text, size_t size, const char *name, const char *const *overrides,
                            int count)
{
    vy_scenario *scenario = NULL;
    vy_diagnostics diagnostics;
    const vy_scenario_options options = {
        .overrides = overrides, .override_count = count, .load = name != NULL ? vy_load_file : NULL};
    return scenario_or_error(
        vy_scenario_parse(text, size, name != NULL ? name : "scenario", &options, &scenario, &diagnostics),
        &scenario, &diagnostics);
}

void scenario_destroy(vy_scenario *s) { vy_scenario_destroy(s); }
char *scenario_print(const vy_scenario *s) { return vy_scenario_print(s); }
uint64_t scenario_seed(const vy_scenario *s) { return s->seed; }
void scenario_set_seed(vy_scenario *s, uint64_t seed) { s->seed = seed; }
double scenario_step(const vy_scenario *s) { return s->step; }
uint64_t scenario_steps(const vy_scenario *s) { return vy_scenario_steps(s); }
int scenario_drone_count(const vy_scenario *s) { return s->drone_count; }
const char *scenario_drone_name(const vy_scenario *s, int drone) { return s->drones[drone].name; }
int scenario_body_count(const vy_scenario *s) { return s->body_count; }
const char *scenario_body_name(const vy_scenario *s, int body) { return s->bodies[body].name; }
int scenario_rotor_count(const vy_scenario *s, int drone) { return s->drones[drone].def.vehicle.rotor_count; }

// What a reader of a vehicle wants to know first: mass [kg], thrust of all rotors at full speed [N].
void scenario_mass_and_thrust(const vy_scenario *s, int drone, double out[2])
{
    const vy_vehicle_def *vehicle = &s->drones[drone].def.vehicle;
    out[0] = vehicle->mass;
    out[1] = vehicle->rotor_count * vehicle->thrust_coef * vehicle->speed_max * vehicle->speed_max;
}

// Limits that end an episode; 0 is none. Both heights 0: none.
void scenario_set_limits(vy_scenario *s, double tilt, double distance, double low, double high)
{
    for (int i = 0; i < s->drone_count; ++i) {
        vy_safety_def *safety = &s->drones[i].def.safety;
        safety->tilt_max = tilt;
        safety->distance_max = distance;
        safety->height_min = low;
        safety->height_max = high;
    }
}

// ---- worlds

typedef struct action {
    vy_intent intent;
} action;

double binding_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// A world and what belongs to it.
typedef struct world_session {
    vy_scenario *scenario;
    vy_world *world;
    action *actions;
    vy_host **hosts; // plug-ins and processes that steer, up to a NULL
    vy_recorder *recorder;
    double flush_time; // [s] of the clock, when the log was last brought up to date
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

const vy_world *world_enter(locked_world *w) { return enter(w)->world; }

static void leave(locked_world *w) { (void)pthread_mutex_unlock(&w->lock); }

void world_leave(locked_world *w) { leave(w); }

static void reply_with_action(void *self, const vy_samples *samples, vy_intent *intent)
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

static void use_action_controllers(world_session *session)
{
    for (int i = 0; i < session->scenario->drone_count; ++i) {
        const vy_vehicle_def *vehicle = &session->scenario->drones[i].def.vehicle;
        vy_controller_def *controller = &session->scenario->drones[i].def.controller;
        if (controller->kind == VY_CONTROLLER_NONE && vehicle->rotor_count + vehicle->thruster_count == 0)
            continue; // a body
        controller->kind = VY_CONTROLLER_CALLBACK;
        controller->period = session->scenario->step;
        controller->call = reply_with_action;
        controller->self = &session->actions[i];
    }
}

// Start the plug-ins and processes that the scenario names.
static vy_status start_hosts(world_session *session, vy_error *err)
{
    vy_status status = VY_OK;
    for (int i = 0, host_count = 0; i < session->scenario->drone_count && status == VY_OK; ++i) {
        vy_scenario_drone *drone = &session->scenario->drones[i];
        vy_controller_def *controller = &drone->def.controller;
        if (controller->kind == VY_CONTROLLER_CALLBACK || vy_pilot_is_live(controller)) {
            snprintf(err->text, sizeof err->text,
                     "%.60s is steered by a person or a callback: make the world with a rung, and act",
                     drone->name);
            return VY_BAD_VALUE;
        }
        if (!vy_controller_is_external(controller->kind)) continue;
        status = vy_host_open(&drone->def, drone->name, session->scenario->step,
                              &session->scenario->environment.planet, &session->hosts[host_count], err);
        host_count += status == VY_OK;
    }
    return status;
}

// With `takes_actions` the world is steered by world_act, taken at the end of every step.
static vy_status build_session(world_session *session, const vy_scenario *scenario, int takes_actions,
                               uint64_t seed, vy_error *err)
{
    vy_status status = vy_scenario_copy(scenario, &session->scenario, err);
    if (status != VY_OK) return status;
    session->scenario->seed = seed;
    session->actions = calloc((size_t)scenario->drone_count + 1, sizeof *session->actions);
    session->hosts = calloc((size_t)scenario->drone_count + 1, sizeof *session->hosts);
    if (session->actions == NULL || session->hosts == NULL) return VY_NO_MEMORY;
    if (takes_actions) use_action_controllers(session);
    if (!takes_actions) status = start_hosts(session, err);
    return status == VY_OK ? vy_scenario_build(session->scenario, &session->world, err) : status;
}

locked_world *world_create(const vy_scenario *scenario, int takes_actions, uint64_t seed)
{
    vy_error err = {.status = VY_NO_MEMORY};
    locked_world *w = calloc(1, sizeof *w);
    if (w == NULL || pthread_mutex_init(&w->lock, NULL) != 0) {
        free(w);
        return binding_fail(&err);
    }
    if (build_session(&w->session, scenario, takes_actions, seed, &err) == VY_OK) return w;
    world_destroy(w);
    return binding_fail(&err);
}

// Another world in the place of this one, which stays after a mistake.
int world_reset(locked_world *w, const vy_scenario *scenario, int takes_actions, uint64_t seed)
{
    vy_error err = {.status = VY_NO_MEMORY};
    world_session new_session = {.scenario = NULL};
    const vy_status status = build_session(&new_session, scenario, takes_actions, seed, &err);
    if (status == VY_OK) {
        world_session *session = enter(w);
        const int is_recorded = session->recorder != NULL;
        if (!is_recorded) {
            const world_session old_session = *session;
            *session = new_session;
            new_session = old_session;
        }
        leave(w);
        if (is_recorded) snprintf(message, sizeof message, "reset: the world is being recorded");
        close_session(&new_session);
        return is_recorded ? -1 : 0;
    }
    close_session(&new_session);
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
    const vy_reply_field *field = vy_reply_fields(&count);
    for (const vy_reply_field *end = field + count; field < end; ++field) {
        if (field->rungs != VY_REPLY_ANY) continue;
        const int value_count = field->type == VY_REPLY_FLAGS  ? 0
                                : field->type == VY_REPLY_UINT ? -1
                                                               : field->count;
        used += (size_t)snprintf(text + used, sizeof text - used, "%s %d ", field->name, value_count);
    }
    return text;
}

// The values of a rung, and those of the fields that go with any, each in the order of the fields.
static void set_action(world_session *session, uint32_t drone, int rung, const double *values,
                       const double *common_values)
{
    vy_intent *intent = &session->actions[drone].intent;
    memset(intent, 0, sizeof *intent);
    intent->rung = (vy_rung)rung;
    int count;
    const vy_reply_field *field = vy_reply_fields(&count);
    for (const vy_reply_field *end = field + count; field < end; ++field) {
        const int rotor_count = session->scenario->drones[drone].def.vehicle.rotor_count;
        const size_t size = 8 * (size_t)(field->type == VY_REPLY_COMMANDS ? rotor_count : field->count);
        const uint64_t flags = vy_reply_is_whole(field->type) ? (uint64_t)*common_values : 0;
        const double **source = field->rungs == VY_REPLY_ANY ? &common_values : &values;
        if ((field->rungs >> rung & 1) == 0) continue;
        memcpy((char *)intent + field->offset,
               vy_reply_is_whole(field->type) ? (const void *)&flags : *source, size);
        *source += size / 8;
    }
}

void world_act(locked_world *w, uint32_t drone, int rung, const double *values, const double *common_values)
{
    set_action(enter(w), drone, rung, values, common_values);
    leave(w);
}

// A log that grows slowly is brought up to date twice a second, for whoever reads it after a kill.
uint32_t world_step(locked_world *w, uint64_t steps)
{
    world_session *session = enter(w);
    const uint32_t events = vy_world_advance(session->world, steps);
    if (session->recorder != NULL && binding_seconds() - session->flush_time >= 0.5) {
        vy_recorder_flush(session->recorder);
        session->flush_time = binding_seconds();
    }
    leave(w);
    return events;
}

// What has been flown so far is in the log.
void world_flush(locked_world *w)
{
    world_session *session = enter(w);
    if (session->recorder != NULL) vy_recorder_flush(session->recorder);
    session->flush_time = binding_seconds();
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
    int integrator = 0;
    while (vy_integrator_order((vy_integrator)integrator) != 0 &&
           strcmp(vy_integrator_name((vy_integrator)integrator), name) != 0)
        ++integrator;
    if (vy_integrator_order((vy_integrator)integrator) == 0) {
        snprintf(message, sizeof message,
                 "no integrator %s: there are euler, semi-implicit, rk4 and lie-midpoint", name);
        return -1;
    }
    const vy_status status = vy_world_set_integrator(enter(w)->world, (vy_integrator)integrator, &err);
    leave(w);
    return binding_result(status, &err);
}

int world_restore(locked_world *w, const void *block, size_t size)
{
    vy_error err = {.text = "restore: the world is being recorded"};
    const world_session *session = enter(w);
    const vy_status status =
        session->recorder != NULL ? VY_BAD_STATE : vy_world_restore(session->world, block, size, &err);
    leave(w);
    return binding_result(status, &err);
}

// Position, velocity, attitude, rate, rotor speeds.
int world_set_drone(locked_world *w, uint32_t drone, const double *values)
{
    vy_error err = {0};
    vy_drone_motion motion;
    memcpy(&motion.position, values, 24);
    memcpy(&motion.velocity, values + 3, 24);
    memcpy(&motion.attitude, values + 6, 32);
    memcpy(&motion.rate, values + 10, 24);
    memcpy(motion.rotor_speed, values + 13, sizeof motion.rotor_speed);
    vy_world *world = enter(w)->world;
    const vy_status status = vy_world_set_drone(world, vy_world_drone(world, drone), &motion, &err);
    leave(w);
    return binding_result(status, &err);
}

// Position, velocity, attitude, rate, then the same of the estimate, rotor speeds, motor commands.
void world_read_drone(locked_world *w, uint32_t drone, double *out)
{
    vy_drone_state state;
    const vy_world *world = enter(w)->world;
    const vy_status status = vy_world_read_drone(world, vy_world_drone(world, drone), &state);
    leave(w);
    if (status != VY_OK) return;
    const vy_estimate *estimate = &state.samples.estimate;
    memcpy(out, &state.position, 24);
    memcpy(out + 3, &state.velocity, 24);
    memcpy(out + 6, &state.attitude, 32);
    memcpy(out + 10, &state.rate, 24);
    memcpy(out + 13, &estimate->position, 24);
    memcpy(out + 16, &estimate->velocity, 24);
    memcpy(out + 19, &estimate->attitude, 32);
    memcpy(out + 23, &estimate->rate, 24);
    memcpy(out + 26, state.rotor_speed, 64);
    memcpy(out + 34, state.motor_command, 64);
}

// Position, velocity, attitude, rate of a body.
void world_read_body(locked_world *w, uint32_t body, double *out)
{
    vy_world_body_state state;
    const vy_world *world = enter(w)->world;
    const vy_status status =
        vy_world_read_body(world, vy_world_body(world, vy_world_drone_count(world) + body), &state);
    leave(w);
    if (status != VY_OK) return;
    memcpy(out, &state.position, 24);
    memcpy(out + 3, &state.velocity, 24);
    memcpy(out + 6, &state.attitude, 32);
    memcpy(out + 10, &state.rate, 24);
}

// Why the world ended, as a sentence; NULL while it runs.
const char *world_failure(locked_world *w)
{
    const world_session *session = enter(w);
    const vy_failure failure = vy_world_failure(session->world);
    if (failure.reason != VY_FAILURE_NONE)
        vy_failure_print(&failure, vy_scenario_name_of(session->scenario, (int)failure.body), message,
                         sizeof message);
    leave(w);
    return failure.reason != VY_FAILURE_NONE ? message : NULL;
}

int world_is_hosted(locked_world *w)
{
    const int is_hosted = enter(w)->hosts[0] != NULL;
    leave(w);
    return is_hosted;
}

int world_is_recording(locked_world *w)
{
    const int is_recording = enter(w)->recorder != NULL;
    leave(w);
    return is_recording;
}

static int begin_record(world_session *session, const char *path)
{
    vy_error err = {0};
    if (session->recorder != NULL) {
        snprintf(message, sizeof message, "this world is being recorded already");
        return -1;
    }
    if (binding_result(
            vy_scenario_record(session->scenario, session->world, path, NULL, &session->recorder, &err),
            &err) != 0)
        return -1;
    vy_world_set_sink(session->world, vy_recorder_sink(session->recorder));
    session->flush_time = binding_seconds();
    return 0;
}

// A push, a gust or a fault, as JSON in the keys of a scenario.
int world_inject(locked_world *w, const char *kind, const char *keys)
{
    vy_error err = {0};
    world_session *session = enter(w);
    const int result = binding_result(
        vy_scenario_inject(session->scenario, session->world, kind, keys, strlen(keys), &err), &err);
    leave(w);
    return result;
}

int world_record(locked_world *w, const char *path)
{
    const int result = begin_record(enter(w), path);
    leave(w);
    return result;
}

static int end_record(world_session *session, int is_complete)
{
    vy_error err = {0};
    const int has_failed = vy_world_failure(session->world).reason != VY_FAILURE_NONE;
    vy_recorder *recorder = session->recorder;
    session->recorder = NULL;
    vy_world_set_sink(session->world, (vy_sink){0});
    if (recorder == NULL) return 0;
    return binding_result(vy_recorder_close(recorder, session->world,
                                            has_failed    ? "failed"
                                            : is_complete ? "completed"
                                                          : "interrupted",
                                            &err),
                          &err);
}

// `is_complete`: the recording came to its end, nothing was thrown meanwhile.
int world_record_end(locked_world *w, int is_complete)
{
    const int result = end_record(enter(w), is_complete);
    leave(w);
    return result;
}

// The first difference as a sentence.
static void set_difference_error(const vy_log *log, const vy_difference *difference)
{
    const double time = (double)difference->tick * vy_log_get_info(log).dt;
    if (difference->message && !difference->has_values) {
        snprintf(message, sizeof message,
                 "step %" PRIu64 " (%.9g s): %s is '%s' in the log, '%s' in the replay", difference->tick,
                 time, difference->field, difference->text_a, difference->text_b);
        return;
    }
    if (difference->field[0] == '\0') {
        snprintf(message, sizeof message,
                 "step %" PRIu64 " (%.9g s): hash %016" PRIx64 " in the log, %016" PRIx64 " in the replay",
                 difference->tick, time, difference->hash_a, difference->hash_b);
        return;
    }
    char in_log[32], in_replay[32];
    if (difference->real) {
        snprintf(in_log, sizeof in_log, "%.17g", difference->a);
        snprintf(in_replay, sizeof in_replay, "%.17g", difference->b);
    } else {
        snprintf(in_log, sizeof in_log, "%" PRIu64, difference->integer_a);
        snprintf(in_replay, sizeof in_replay, "%" PRIu64, difference->integer_b);
    }
    snprintf(message, sizeof message,
             "step %" PRIu64 " (%.9g s) differs; at step %" PRIu64 " %s is %s in the log, %s in the replay",
             difference->tick, time, difference->field_tick != 0 ? difference->field_tick : difference->tick,
             difference->field, in_log, in_replay);
}

// Why a replay of an open log stopped, as a sentence with the step.
static int set_replay_error(const vy_log_info *info, const vy_difference *difference, const vy_error *err)
{
    snprintf(message, sizeof message, "the replay cannot continue after step %" PRIu64 " of %" PRIu64 ": %s",
             difference->last_tick, info->last_tick, err->text);
    return -1;
}

// The scenario of an open log that is whole, if this library computes its physics.
static vy_scenario *logged_scenario(vy_log *log, const char *path)
{
    vy_error err = {0};
    vy_diagnostics diagnostics;
    vy_scenario *scenario = NULL;
    const vy_log_info info = vy_log_get_info(log);
    if (info.physics != VY_PHYSICS_REVISION) {
        snprintf(message, sizeof message,
                 "%s was written by physics revision %" PRIu32 "; this library computes revision %d", path,
                 info.physics, VY_PHYSICS_REVISION);
        return NULL;
    }
    if ((info.complete || info.recovered) && binding_result(vy_log_verify(log, &err), &err) != 0) return NULL;
    return scenario_or_error(vy_scenario_from_log(log, path, NULL, 0, &scenario, &diagnostics), &scenario,
                             &diagnostics);
}

// Start what is to be asked, and fly the log's scenario beside the log.
static int replay_session(vy_log *log, int live, int allowed, world_session *session)
{
    vy_error err = {0};
    vy_difference difference = {0};
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
    status = live ? vy_log_replay_live(log, session->world, NULL, NULL, &difference, &err)
                  : vy_scenario_replay(session->scenario, log, session->world, NULL, NULL, &difference, &err);
    if (status != VY_OK) return set_replay_error(&info, &difference, &err);
    if (difference.found) {
        set_difference_error(log, &difference);
        return 1;
    }
    if (info.complete) return 0;
    snprintf(message, sizeof message, "the log was cut off; it was compared up to step %" PRIu64,
             difference.last_tick);
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

const char *batch_variable_name(int index) { return vy_variable_name(index); }

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
        const double *row = randomisation + 5 * i;
        def.randomisation[i] =
            (vy_randomisation){(vy_variable)row[0], (vy_distribution)row[1], row[2], row[3], (int)row[4]};
    }
    def.observe_count = observe_count;
    for (int i = 0; i < observe_count && i < VY_OBSERVE_CAP; ++i) def.observe[i] = observe[i];
    if (vy_batch_create(&def, &batch, &err) != VY_OK) return binding_fail(&err);
    return batch;
}

void batch_destroy(vy_batch *b) { vy_batch_destroy(b); }

// worlds, drones, action_size, observation_size; then the addresses of the arrays.
void batch_view(const vy_batch *batch, uint64_t out[11])
{
    const vy_batch_view view = vy_batch_get_view(batch);
    const void *arrays[] = {view.actions,    view.observations, view.final_observations,
                            view.terminated, view.truncated,    view.ticks,
                            view.seeds};
    out[0] = view.worlds;
    out[1] = view.drones;
    out[2] = view.action_size;
    out[3] = view.observation_size;
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

static int write_cells(const vy_cells *cells, uint64_t out[4])
{
    out[0] = (uint64_t)(uintptr_t)cells->first;
    out[1] = cells->count;
    out[2] = cells->lanes;
    out[3] = cells->block;
    return 0;
}

// address, values, lanes, values from block to block.
int batch_cells(const vy_batch *b, uint32_t drone, const char *field, uint64_t out[4])
{
    vy_error err = {0};
    vy_cells cells;
    return binding_result(vy_batch_cells(b, drone, field, &cells, &err), &err) != 0
               ? -1
               : write_cells(&cells, out);
}

// ---- a batch on a GPU: a shared handle of a vy_gpu

static void destroy_gpu(void *gpu) { vy_gpu_destroy(gpu); }

shared_handle *gpu_create(vy_batch *batch)
{
    vy_error err = {0};
    vy_gpu *gpu = NULL;
    if (vy_gpu_create(batch, &gpu, &err) != VY_OK) return binding_fail(&err);
    shared_handle *handle = shared_handle_create(gpu, destroy_gpu);
    if (handle == NULL) vy_gpu_destroy(gpu);
    return handle;
}

void gpu_release(shared_handle *handle) { shared_handle_release(handle); }
int gpu_device(const shared_handle *handle) { return vy_gpu_device(handle->object); }

// Device addresses of actions, observations, terminated, truncated.
void gpu_view(shared_handle *handle, uint64_t out[4])
{
    vy_gpu *gpu = handle->object;
    const void *arrays[] = {vy_gpu_actions(gpu), vy_gpu_observations(gpu), vy_gpu_terminated(gpu),
                            vy_gpu_truncated(gpu)};
    for (int i = 0; i < 4; ++i) out[i] = (uint64_t)(uintptr_t)arrays[i];
}

// As batch_cells.
int gpu_cells(const shared_handle *handle, const char *field, uint64_t out[4])
{
    vy_error err = {0};
    vy_cells cells;
    return binding_result(vy_gpu_cells(handle->object, field, &cells, &err), &err) != 0
               ? -1
               : write_cells(&cells, out);
}

int gpu_step(shared_handle *handle, uint64_t steps)
{
    vy_error err = {0};
    return binding_result(vy_gpu_step(handle->object, steps, &err), &err);
}

int gpu_upload(shared_handle *handle)
{
    vy_error err = {0};
    return binding_result(vy_gpu_upload(handle->object, &err), &err);
}

int gpu_upload_actions(shared_handle *handle)
{
    vy_error err = {0};
    return binding_result(vy_gpu_upload_actions(handle->object, &err), &err);
}

int gpu_download(shared_handle *handle)
{
    vy_error err = {0};
    return binding_result(vy_gpu_download(handle->object, &err), &err);
}

int gpu_download_observations(shared_handle *handle)
{
    vy_error err = {0};
    return binding_result(vy_gpu_download_observations(handle->object, &err), &err);
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
