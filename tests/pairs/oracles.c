// oracles.c - what the flight of a scenario must show, whatever is combined in it.
//
// All of it is between a run and another one of the same scenario, or within the run: nothing is known of
// what the flight should be like.
#include "pairs.h"
#include "volery/batch.h"

#include "volery/record.h"
#include "volery/world.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

const char *pairs_folder = ".";
int pairs_sampled;

enum { BODY_CAP = 64, PARTS = 8 }; // PARTS of a flight, after each of which its rates are seen

typedef struct flight {
    const vy_scenario *scenario;
    const char *text;
    uint64_t steps;
    uint64_t seed;
    int is_expensive;          // 1: a world of it takes long to build, so fewer of them are
    vy_world *flown;           // to the end, with an account of its energy; NULL: not yet
    double rates[BODY_CAP];    // [rad/s] of each body, the largest that was seen
    char overloaded[BODY_CAP]; // 1: its battery was seen near the most that it can give
    verdict *v;
} flight;

#define FAIL(f_, oracle_, ...) fail_with((f_)->v, oracle_, __VA_ARGS__)

static int fail_with(verdict *v, const char *oracle, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    if (v->oracle == NULL) {
        v->oracle = oracle;
        vsnprintf(v->text, sizeof v->text, format, list);
    }
    va_end(list);
    return 0;
}

// A controller of the user's: pure, and it feels what it measures.
static void reply(void *self, const vy_samples *s, vy_intent *intent)
{
    (void)self;
    *intent = (vy_intent){.rung = VY_RUNG_MOTORS};
    const double feedback = s->imu.gyro.x - s->imu.gyro.y + s->estimate.velocity.z;
    for (int i = 0; i < VY_ROTOR_CAP; ++i) {
        const double m = 0.55 + 0.01 * feedback * (i % 2 == 0 ? 1.0 : -1.0);
        intent->motors[i] = m < 0.0 ? 0.0 : m > 1.0 ? 1.0 : m;
    }
}

static void set_callbacks(vy_scenario *s)
{
    for (int i = 0; i < s->drone_count; ++i) {
        vy_controller_def *c = &s->drones[i].def.controller;
        if (vy_controller_is_external(c->kind)) c->call = reply;
    }
}

vy_scenario *load_text(const char *text, const char *const *overrides, int count, char *said, size_t size)
{
    vy_scenario *scenario = NULL;
    vy_diagnostics told;
    const vy_scenario_options options = {
        .load = vy_load_file, .overrides = overrides, .override_count = count};
    vy_scenario_parse(text, strlen(text), "scenarios/pair.yaml", &options, &scenario, &told);
    said[0] = '\0';
    for (int i = 0; i < told.count && said[0] == '\0'; ++i) {
        if (!told.items[i].warning) snprintf(said, size, "%s: %s", told.items[i].path, told.items[i].text);
    }
    vy_diagnostics_destroy(&told);
    if (scenario != NULL) set_callbacks(scenario);
    return scenario;
}

static vy_world *build(const flight *f, const vy_scenario *scenario, const char *oracle)
{
    vy_world *world = NULL;
    vy_error err = {0};
    if (vy_scenario_build(scenario, &world, &err) != VY_OK) FAIL(f, oracle, "no world: %s", err.text);
    return world;
}

// --- the configuration

// What is printed is the same scenario, and prints the same.
static void same_when_printed(flight *f)
{
    char said[300];
    char *first = vy_scenario_print(f->scenario);
    vy_scenario *again = load_text(first, NULL, 0, said, sizeof said);
    if (again == NULL) {
        FAIL(f, "print", "what check prints is refused: %s", said);
    } else {
        char *second = vy_scenario_print(again);
        if (vy_scenario_hash(again) != f->v->config) FAIL(f, "print", "what check prints has another hash");
        if (strcmp(first, second) != 0) {
            size_t at = 0, line = 0;
            while (first[at] == second[at]) {
                if (first[at++] == '\n') line = at;
            }
            FAIL(f, "print", "printed again: %.120s", second + line);
        }
        free(second);
    }
    vy_scenario_destroy(again);
    free(first);
}

// --- the run itself

static int is_finite3(vy_vec3 a) { return isfinite(a.x) && isfinite(a.y) && isfinite(a.z); }

static void finite_or_named(flight *f, const vy_world *world)
{
    const vy_failure failure = vy_world_failure(world);
    if (failure.reason != VY_FAILURE_NONE &&
        (failure.what == NULL || vy_failure_name(failure.reason) == NULL))
        FAIL(f, "finite", "ended by reason %d without a name", (int)failure.reason);
    if (failure.reason == VY_FAILURE_NOT_FINITE) return;
    for (uint32_t i = 0; i < vy_world_body_count(world); ++i) {
        vy_world_body_state s;
        vy_world_read_body(world, vy_world_body(world, i), &s);
        if (!is_finite3(s.position) || !is_finite3(s.velocity) || !is_finite3(s.rate) ||
            !isfinite(s.attitude.w) || !is_finite3(s.contact_impulse))
            FAIL(f, "finite", "body %u is not finite at step %llu", i,
                 (unsigned long long)vy_world_tick(world));
    }
    for (uint32_t i = 0; i < vy_world_drone_count(world); ++i) {
        vy_drone_state s;
        vy_world_read_drone(world, vy_world_drone(world, i), &s);
        const vy_estimate *e = &s.samples.estimate;
        if (!is_finite3(e->position) || !is_finite3(e->velocity) || !isfinite(e->attitude.w) ||
            !is_finite3(s.samples.imu.accel) || !isfinite(s.rotor_power) || !isfinite(s.battery_voltage))
            FAIL(f, "finite", "drone %u has samples that are not finite", i);
    }
}

// Fly to the end, with an account of the energy. The state of the middle, to free(), and its size.
static void *fly_whole(flight *f, size_t *size)
{
    vy_world *world = f->flown;
    void *state = NULL;
    const uint32_t count = vy_world_body_count(world);
    assert_true(count <= BODY_CAP);
    vy_world_track_energy(world);
    for (uint64_t part = 0; part < PARTS; ++part) {
        if (part == PARTS / 2) {
            *size = vy_world_state_size(world); // it grows with its contacts
            state = malloc(*size);
            vy_world_save(world, state);
        }
        vy_world_advance(world, f->steps * (part + 1) / PARTS - f->steps * part / PARTS);
        for (uint32_t i = 0; i < count; ++i) {
            vy_world_body_state s;
            vy_world_read_body(world, vy_world_body(world, i), &s);
            const double rate = check_distance(s.rate, (vy_vec3){0.0, 0.0, 0.0});
            f->rates[i] = fmax(f->rates[i], 1.5 * rate); // and in between
        }
        for (uint32_t i = 0; i < vy_world_drone_count(world); ++i) {
            vy_drone_state s;
            const vy_battery_def *b = &f->scenario->drones[i].def.vehicle.battery;
            vy_world_read_drone(world, vy_world_drone(world, i), &s);
            f->overloaded[i] |= b->capacity > 0.0 && s.battery_voltage < 0.7 * b->voltage[0];
        }
    }
    f->v->end = vy_world_hash(world);
    f->v->steps = vy_world_tick(world);
    f->v->ended = vy_world_failure(world).reason != VY_FAILURE_NONE;
    for (uint32_t i = 0; i < vy_world_drone_count(world); ++i) {
        vy_world_body_state s;
        vy_world_read_body(world, vy_world_body(world, i), &s);
        f->v->touched |= s.contacts > 0;
    }
    finite_or_named(f, world);
    return state;
}

// The state in the middle, put into a second world, without an account, comes to the same end.
static void same_after_restore(flight *f)
{
    vy_error err = {0};
    vy_world *other = build(f, f->scenario, "build");
    f->flown = build(f, f->scenario, "build");
    if (other != NULL && f->flown != NULL) {
        size_t size = 0;
        void *state = fly_whole(f, &size);
        if (vy_world_restore(other, state, size, &err) != VY_OK) {
            FAIL(f, "snapshot", "its own state is refused: %s", err.text);
        } else {
            vy_world_advance(other, f->steps - f->steps * (PARTS / 2) / PARTS);
            if (vy_world_hash(other) != f->v->end) FAIL(f, "snapshot", "a restored world ends elsewhere");
        }
        free(state);
    }
    vy_world_destroy(other);
}

// --- the log

static int is_external(const vy_scenario *s)
{
    for (int i = 0; i < s->drone_count; ++i) {
        if (s->drones[i].def.controller.call != NULL) return 1;
    }
    return 0;
}

static void same_from_log(flight *f, vy_log *log)
{
    vy_difference d;
    vy_error err = {0};
    vy_diagnostics told;
    vy_scenario *scenario = NULL;
    const vy_log_info info = vy_log_get_info(log);
    if (vy_scenario_from_log(log, "log", NULL, 0, &scenario, &told) != VY_OK) {
        FAIL(f, "replay", "the scenario in the log is refused: %s", told.count > 0 ? told.items[0].text : "");
        vy_diagnostics_destroy(&told);
        return;
    }
    vy_diagnostics_destroy(&told);
    if (vy_scenario_hash(scenario) != f->v->config) FAIL(f, "replay", "the log's scenario has another hash");
    vy_world *world = build(f, scenario, "replay");
    if (world != NULL && vy_log_replay(log, world, NULL, NULL, &d, &err) != VY_OK)
        FAIL(f, "replay", "%s", err.text);
    else if (world != NULL && d.found)
        FAIL(f, "replay", "step %llu, %s: %.17g in the log, %.17g", (unsigned long long)d.tick, d.field, d.a,
             d.b);
    vy_world_destroy(world);
    set_callbacks(scenario);
    world = build(f, scenario, "branch");
    const uint64_t from = info.last_tick / 2;
    const vy_status sought = world == NULL              ? VY_OK
                             : is_external(f->scenario) ? vy_log_seek_live(log, world, from, NULL, &err)
                                                        : vy_log_seek(log, world, from, &err);
    if (sought != VY_OK)
        FAIL(f, "branch", "%s", err.text);
    else if (world != NULL) {
        vy_world_advance(world, f->steps - from);
        if (vy_world_hash(world) != f->v->end) FAIL(f, "branch", "an unchanged branch ends elsewhere");
    }
    vy_world_destroy(world);
    vy_scenario_destroy(scenario);
}

static void check_export(flight *f, vy_log *log)
{
    FILE *nowhere = fopen("/dev/null", "w");
    const vy_log_info info = vy_log_get_info(log);
    const uint32_t body = (uint32_t)(f->seed % info.body_count); // of all of them over a run
    for (int format = VY_EXPORT_CSV; format <= VY_EXPORT_GPX; ++format) {
        if (pairs_sampled && (uint64_t)format != f->seed / 8 % (VY_EXPORT_GPX + 1)) continue;
        vy_export_def def = vy_default_export_def();
        vy_error err = {0};
        def.body = body;
        def.format = (vy_export_format)format;
        const vy_status status = vy_log_export(log, &def, nowhere, &err);
        const int path = format == VY_EXPORT_KML || format == VY_EXPORT_GPX;
        if (status != VY_OK && !(path && status == VY_NOT_FOUND && err.text[0] != '\0'))
            FAIL(f, "export", "format %d of body %u: %s", format, body, err.text);
    }
    fclose(nowhere);
}

static void same_in_log(flight *f)
{
    char path[300];
    vy_error err = {0};
    vy_recorder *recorder = NULL;
    vy_log *log = NULL;
    snprintf(path, sizeof path, "%s/pair-%d.mcap", pairs_folder, (int)getpid());
    vy_world *world = build(f, f->scenario, "log");
    if (world == NULL) return;
    if (vy_scenario_record(f->scenario, world, path, NULL, &recorder, &err) != VY_OK) {
        FAIL(f, "log", "%s", err.text);
        vy_world_destroy(world);
        return;
    }
    vy_world_set_sink(world, vy_recorder_sink(recorder));
    vy_world_advance(world, f->steps);
    if (vy_world_hash(world) != f->v->end)
        FAIL(f, "log", "a recorded run, without an account of energy, ends elsewhere");
    if (vy_recorder_close(recorder, world, "completed", &err) != VY_OK) FAIL(f, "log", "%s", err.text);
    vy_world_destroy(world);
    if (vy_log_open(path, &log, &err) != VY_OK || vy_log_verify(log, &err) != VY_OK)
        FAIL(f, "log", "%s", err.text);
    if (log != NULL && f->v->oracle == NULL) same_from_log(f, log);
    if (log != NULL && f->v->oracle == NULL) check_export(f, log);
    vy_log_close(log);
    remove(path);
}

// --- batches

static uint64_t end_with_seed(const flight *f, uint64_t seed)
{
    vy_scenario *copy = NULL;
    vy_error err = {0};
    if (vy_scenario_copy(f->scenario, &copy, &err) != VY_OK)
        return (uint64_t)FAIL(f, "batch", "%s", err.text);
    copy->seed = seed;
    vy_world *world = build(f, copy, "batch");
    uint64_t hash = 0;
    if (world != NULL) {
        vy_world_advance(world, f->steps);
        hash = vy_world_hash(world);
    }
    vy_world_destroy(world);
    vy_scenario_destroy(copy);
    return hash;
}

// A batch of the scenario; NULL: it needs actions, or it is refused.
static vy_batch *create_batch(flight *f, uint32_t width, uint32_t threads, uint32_t worlds)
{
    vy_error err = {0};
    vy_batch *batch = NULL;
    vy_batch_def def = vy_default_batch_def();
    def.scenario = f->scenario;
    def.lanes = width;
    def.world_count = worlds;
    def.threads = threads;
    def.seed = f->scenario->seed;
    def.chain = 1;
    const vy_status status = vy_batch_create(&def, &batch, &err);
    const int needs_actions = is_external(f->scenario) && status == VY_BAD_VALUE && err.text[0] != '\0';
    if (status != VY_OK && !needs_actions) FAIL(f, "batch", "no batch of %u lanes: %s", width, err.text);
    return batch;
}

// The first and the last world of a batch are those of their seeds alone. 0: there is no more to see.
static int is_same_batch(flight *f, uint32_t width, uint32_t threads)
{
    uint32_t last = 1; // of standalone worlds, to which widths mean nothing
    vy_batch *batch = create_batch(f, width, threads, last + 1);
    if (batch == NULL) return 0;
    const int alone = strcmp(vy_batch_kernel(batch), "worlds") == 0;
    if (!alone && width > 1) { // the lanes are full, and one world is beyond them
        vy_batch_destroy(batch);
        last = width;
        batch = create_batch(f, width, threads, last + 1);
        if (batch == NULL) return 0;
    }
    vy_batch_step(batch, f->steps);
    if (vy_batch_hash(batch, 0) != f->v->end)
        FAIL(f, "batch", "%u lanes, %u threads (%s): the first world ends elsewhere", width, threads,
             vy_batch_kernel(batch));
    else if (vy_batch_hash(batch, last) != end_with_seed(f, f->scenario->seed + last))
        FAIL(f, "batch", "%u lanes, %u threads (%s): the last world ends elsewhere", width, threads,
             vy_batch_kernel(batch));
    vy_batch_destroy(batch);
    return f->v->oracle == NULL && !(alone && threads == 1);
}

// Every width, one thread and three.
static void same_in_batch(flight *f)
{
    static const uint32_t widths[] = {8, 1, 2, 4};
    if (pairs_sampled || f->is_expensive) {
        is_same_batch(f, widths[f->seed % 4], f->seed / 4 % 2 == 0 ? 1 : 3);
        return;
    }
    for (int i = 0; i < 4 && is_same_batch(f, widths[i], i % 2 == 0 ? 3 : 1); ++i) {
    }
}

// --- what is neglected, and energy

static void within_certificate(flight *f)
{
    vy_scenario *copy = NULL;
    vy_error err = {0};
    if (f->scenario->environment.nap.strict) return;
    if (vy_scenario_copy(f->scenario, &copy, &err) != VY_OK) return;
    copy->environment.nap.strict = 1;
    copy->environment.nap.budget = vy_default_world_def().environment.nap.budget;
    const vy_world *flown = f->flown;
    const int is_finite = vy_world_failure(flown).reason != VY_FAILURE_NOT_FINITE; // else it has no distance
    vy_world *strict = build(f, copy, "nap");
    if (strict != NULL && is_finite) {
        vy_world_advance(strict, vy_world_tick(flown));
        const int planet = f->scenario->environment.planet.radius > 0.0;
        const double ground = planet ? 1e-8 : 0.0;
        for (uint32_t i = 0; i < vy_world_body_count(flown); ++i) {
            vy_certificate c;
            vy_world_body_state a, b;
            vy_world_certificate(flown, vy_world_body(flown, i), &c);
            if (!c.bounded || vy_world_tick(strict) != vy_world_tick(flown) ||
                vy_world_time(flown) > c.horizon * (1.0 + 1e-12))
                continue;
            vy_world_read_body(flown, vy_world_body(flown, i), &a);
            vy_world_read_body(strict, vy_world_body(strict, i), &b);
            const double measured[4] = {check_distance(a.rate, b.rate), check_angle(a.attitude, b.attitude),
                                        check_distance(a.velocity, b.velocity),
                                        check_distance(a.position, b.position)};
            const double stated[4] = {c.rate + 1e-10, c.angle + 1e-10, c.velocity + 1e-10 + ground,
                                      c.position + 1e-10 + ground};
            static const char *const names[4] = {"rate", "angle", "velocity", "position"};
            for (int k = 0; k < 4; ++k) {
                if (!(measured[k] <= stated[k]))
                    FAIL(f, "nap", "body %u: the strict %s is %g away, stated %g", i, names[k], measured[k],
                         stated[k]);
            }
        }
    }
    vy_world_destroy(strict);
    vy_scenario_destroy(copy);
}

// Is the body on a joint or carried, or does it move as its sticks command? Its residual is the work of
// those.
static int is_held(const vy_scenario *s, int body)
{
    if (body < s->drone_count && s->drones[body].def.controller.flight == VY_FLIGHT_KINEMATIC) return 1;
    for (int i = 0; i < s->joint_count; ++i) {
        if (s->joints[i].a == body || s->joints[i].b == body) return 1;
    }
    for (int i = 0; i < s->payload_count; ++i) {
        if (s->payloads[i].carrier == body || s->payloads[i].load == body) return 1;
    }
    return 0;
}

static double mass_of(const vy_scenario *s, int body)
{
    if (body < s->drone_count) return s->drones[body].def.vehicle.mass;
    return s->bodies[body - s->drone_count].def.mass;
}

// [s] The shortest time in which an actuator of the body follows.
static double shortest_lag(const vy_scenario *s, int body)
{
    double lag = INFINITE;
    if (body >= s->drone_count) return lag;
    const vy_vehicle_def *v = &s->drones[body].def.vehicle;
    // Without one a rotor jumps between steps; on a battery, if it falls with one, in the first stage.
    const int jumps = v->motor_lag == 0.0 && (v->battery.capacity == 0.0 || v->motor_lag_down == 0.0);
    if (v->rotor_count > 0 && !jumps) lag = fmin(lag, v->motor_lag);
    if (v->rotor_count > 0 && v->motor_lag_down > 0.0) lag = fmin(lag, v->motor_lag_down);
    if (v->rotor_air.inflow_lag > 0.0) lag = fmin(lag, v->rotor_air.inflow_lag);
    for (int i = 0; i < v->thruster_count; ++i) {
        if (v->thrusters[i].lag > 0.0)
            lag = fmin(lag, v->thrusters[i].lag); // without one it jumps between steps
        if (v->thrusters[i].lag_down > 0.0) lag = fmin(lag, v->thrusters[i].lag_down);
    }
    for (int i = 0; i < s->fault_count; ++i) {
        if (s->faults[i].def.kind == VY_FAULT_MOTOR_LAG) lag = fmin(lag, s->faults[i].def.size);
    }
    return lag;
}

// The share of what is exchanged that RK4 may leave: 1e-6, and what its quadrature leaves of an exponential
// with x = h / lag, (2 x)^4 / 2880 since thrust is the square of speed, of a turn by x in a step, x^4 / 120,
// and beyond 4 ms of the rest. A jump of a force by F leaves h^2 F^2 / 72 m of the h^2 F^2 / 2 m that it
// exchanges: 1/36.
static double energy_share(const vy_scenario *s, int body, double rate)
{
    const double h = s->step, turn = fmin(h * rate, 0.25), lag = 2.0 * h / shortest_lag(s, body);
    const double follow = fmin(pow(lag, 4.0) / 2880.0, 1.0 / 36.0);
    return 1e-6 * fmax(1.0, pow(h / 4e-3, 4.0)) + pow(turn, 4.0) / 120.0 + follow;
}

// [J] Rotors with inertia can turn the body to and fro within a step. Such work cancels before the account
// adds up its sizes step by step; it is at most the energy of the turn, in each step.
static double cancelled_work(const flight *f, int body)
{
    const vy_scenario *s = f->scenario;
    if (body >= s->drone_count || s->drones[body].def.vehicle.rotor_air.inertia == 0.0) return 0.0;
    const vy_mat3 *inertia = &s->drones[body].def.vehicle.inertia;
    const double max = fmax(fmax(inertia->m[0][0], inertia->m[1][1]), inertia->m[2][2]);
    return (double)f->steps * 0.5 * max * f->rates[body] * f->rates[body];
}

// Whether what is left is the step's: in half of it an eighth is left at most. What the account lacks stays.
static int converges_with_step(const flight *f, uint32_t body, double residual)
{
    char override[40], said[300];
    snprintf(override, sizeof override, "step=%.17g", 0.5 * f->scenario->step);
    const char *const overrides[] = {override};
    vy_scenario *s = load_text(f->text, overrides, 1, said, sizeof said);
    if (s == NULL) return 0; // a period that is no multiple of it
    vy_world *world = build(f, s, "energy");
    vy_energy e = {0};
    if (world != NULL) {
        vy_world_track_energy(world);
        vy_world_advance(world, 2 * f->steps);
        vy_world_read_energy(world, vy_world_body(world, body), &e);
    }
    const int falls = world != NULL && vy_world_failure(world).reason == VY_FAILURE_NONE &&
                      fabs(e.residual) <= 0.125 * fabs(residual);
    vy_world_destroy(world);
    vy_scenario_destroy(s);
    return falls;
}

static void energy_closes(flight *f)
{
    const vy_scenario *scenario = f->scenario;
    const vy_world *world = f->flown;
    if (scenario->environment.physics.engine == VY_ENGINE_SIMPLE) return;
    const uint32_t count = vy_world_body_count(world);
    const int rk4 = scenario->environment.physics.integrator == VY_INTEGRATOR_RK4;
    for (uint32_t i = 0; i < count && rk4 && !f->v->ended; ++i) {
        vy_energy e;
        vy_world_body_state s;
        vy_world_read_energy(world, vy_world_body(world, i), &e);
        vy_world_read_body(world, vy_world_body(world, i), &s);
        if (is_held(scenario, (int)i)) continue;
        const double far = scenario->environment.gravity.mode != VY_GRAVITY_UNIFORM ||
                                   scenario->environment.planet.radius > 0.0
                               ? 1e-6 // [J/kg] rounding of potentials and places of a planet
                               : 1e-9;
        // At the most that a battery can give, half its voltage, the slope of voltage over power is infinite.
        const double limit = f->overloaded[i] ? 1e-3 : 0.0;
        const double share = energy_share(scenario, (int)i, f->rates[i]) + limit;
        const double contacts = s.contacts > 0 ? 1e-2 * fabs(e.contacts) : 0.0;
        const double turnover = e.exchanged + cancelled_work(f, (int)i);
        if (!(fabs(e.residual) <= share * turnover + contacts + far * mass_of(scenario, (int)i)) &&
            !(s.contacts == 0 && converges_with_step(f, i, e.residual)))
            FAIL(f, "energy", "body %u: %g J of %g J exchanged are not accounted for (%llu contacts)", i,
                 e.residual, e.exchanged, (unsigned long long)s.contacts);
    }
}

// --- what is not there

static int has_quantity(const vy_scenario *s, const vy_quantity *q)
{
    int joints = 0, batteries = 0, motors = 0;
    for (int i = 0; i < s->joint_count; ++i) joints += (int)(q->joints >> s->joints[i].def.kind & 1u);
    for (int i = 0; i < s->drone_count; ++i) {
        const vy_vehicle_def *v = &s->drones[i].def.vehicle;
        batteries += v->battery.capacity > 0.0;
        motors += v->rotor_count + v->thruster_count > 0;
    }
    if (q->of_joint != NULL) return joints > 0;
    if (strncmp(q->name, "battery", 7) == 0) return batteries > 0;
    if (strcmp(q->name, "motor_max") == 0) return motors > 0;
    if (strcmp(q->name, "separation") == 0) return s->drone_count > 1;
    return s->environment.planet.radius > 0.0 ||
           (strcmp(q->name, "latitude") != 0 && strcmp(q->name, "longitude") != 0);
}

// An expectation of a quantity that nothing in the scenario has is refused; of any other it is measured, and
// a number. Each scenario has its turn with one of them.
static void defined_or_refused(flight *f)
{
    int count;
    char override[200], said[300];
    vy_expect_result result;
    const vy_quantity *list = vy_quantities(&count), *q = &list[f->seed % (uint64_t)count];
    snprintf(override, sizeof override, "expect=[{quantity: %s, at: throughout, min: -1e5}]", q->name);
    const char *const overrides[] = {override};
    vy_scenario *s = load_text(f->text, overrides, 1, said, sizeof said);
    const int has = has_quantity(f->scenario, q);
    if (!has && s != NULL) FAIL(f, "undefined", "%s is accepted, and nothing has it", q->name);
    if (has && s == NULL) FAIL(f, "undefined", "%s is refused: %s", q->name, said);
    vy_world *world = has && s != NULL ? build(f, s, "undefined") : NULL;
    if (world != NULL) {
        int moved = 0;
        vy_expect_begin(s, &result);
        for (uint64_t n = 0; n < 10 && n < f->steps; ++n) {
            vy_ground_state g;
            vy_world_advance(world, 1);
            vy_expect_feed(s, world, &result);
            vy_world_read_ground(world, 0, &g);
            moved |= g.ground_speed > 0.0;
        }
        const int finite = vy_world_failure(world).reason == VY_FAILURE_NONE;
        const int directed = strcmp(q->name, "track") != 0 || moved; // at rest there is no track
        if (finite && f->steps > 0 && directed && !(result.measured && isfinite(result.worst)))
            FAIL(f, "undefined", "%s was %s", q->name, result.measured ? "no number" : "not measured");
    }
    vy_world_destroy(world);
    vy_scenario_destroy(s);
}

// --- values that are set

enum set_kind { SET_MIN, SET_MAX, SET_BELOW, SET_ABOVE, SET_UNIT, SET_LIST, SET_TEXT, SET_KINDS };

// What is set, and whether it can only be refused.
static int value_to_set(const vy_schema_row *row, enum set_kind kind, char *out, size_t size)
{
    const vy_range range = vy_row_range(row, row->unit);
    const int vector = row->type == VY_TYPE_VECTOR, whole = row->type == VY_TYPE_COUNT;
    const int number = row->type == VY_TYPE_NUMBER || whole, open = row->unit_of != NULL;
    const char *wrong = row->unit != NULL && strcmp(row->unit, "kg") == 0 ? "s" : "kg";
    char one[60];
    switch (kind) {
    case SET_MIN: snprintf(one, sizeof one, "%.17g", range.min); break;
    case SET_MAX: snprintf(one, sizeof one, "%.17g", range.max); break;
    case SET_BELOW:
        snprintf(one, sizeof one, "%.17g", whole ? range.min - 1.0 : nextafter(range.min, -INFINITE));
        break;
    case SET_ABOVE:
        snprintf(one, sizeof one, "%.17g", whole ? range.max + 1.0 : nextafter(range.max, INFINITE));
        break;
    case SET_UNIT: snprintf(one, sizeof one, "1 %s", wrong); break;
    case SET_LIST: snprintf(out, size, "[[1, {a: 2}]]"); return number || vector;
    default: snprintf(out, size, "{no_such_key: 1}"); return number || vector || row->type == VY_TYPE_CHOICE;
    }
    if (vector && kind != SET_UNIT) {
        size_t used = (size_t)snprintf(out, size, "[");
        for (size_t i = 0; i < row->size; ++i)
            used += (size_t)snprintf(out + used, size - used, "%s%s", i > 0 ? ", " : "", one);
        assert_true(used + 2 < size);
        snprintf(out + used, size - used, "]");
    } else {
        snprintf(out, size, "%s", one);
    }
    if (kind == SET_UNIT) return (number || vector) && !open;
    return (kind == SET_BELOW || kind == SET_ABOVE) && (number || vector) && !open;
}

static char current_setting[2500]; // what is set just now

static void describe_setting(int which)
{
    const ssize_t wrote = write(STDERR_FILENO, current_setting, strlen(current_setting));
    signal(which, SIG_DFL);
    raise(wrote >= 0 ? which : SIGABRT);
}

// 20 values in turn: each is refused with one sentence, or makes a world that can be stepped.
static void set_values(flight *f, node *tree)
{
    random_source r = {f->seed ^ 0x5e75};
    const int count = f->is_expensive ? 2 : 20;
    for (int n = 0; n < count && f->v->oracle == NULL; ++n) {
        node *leaf = node_number(tree, (int)(random_bits(&r) % (unsigned)node_count(tree)));
        const enum set_kind kind = (enum set_kind)(random_bits(&r) % SET_KINDS);
        char path[300], override[2400], value[2000], said[300];
        if (leaf->row == NULL || leaf->text == NULL || !node_path(tree, leaf, path, sizeof path)) continue;
        const int never = value_to_set(leaf->row, kind, value, sizeof value);
        snprintf(override, sizeof override, "%s=%s", path, value);
        const char *const overrides[] = {override};
        snprintf(current_setting, sizeof current_setting, "--set %s\n", override);
        signal(SIGABRT, describe_setting);
        signal(SIGSEGV, describe_setting);
        vy_scenario *s = load_text(f->text, overrides, 1, said, sizeof said);
        if (s == NULL && (said[0] == '\0' || strchr(said, '\n') != NULL))
            FAIL(f, "set", "--set %s is refused without a sentence", override);
        if (s != NULL && never) FAIL(f, "set", "--set %s is accepted", override);
        if (s != NULL && f->v->oracle == NULL) {
            vy_world *world = build(f, s, "set");
            if (world == NULL) {
                const size_t used = strlen(f->v->text);
                snprintf(f->v->text + used, sizeof f->v->text - used, " (--set %s)", override);
            } else {
                vy_world_advance(world, 3);
            }
            vy_world_destroy(world);
        }
        vy_scenario_destroy(s);
    }
    current_setting[0] = '\0';
}

verdict check_flight(const char *text, node *tree, uint64_t seed)
{
    verdict v = {0};
    flight f = {.text = text, .seed = seed, .v = &v};
    char said[200];
    vy_scenario *scenario = load_text(text, NULL, 0, said, sizeof said);
    if (scenario == NULL) {
        snprintf(v.refused, sizeof v.refused, "%s", said);
        return v;
    }
    f.scenario = scenario;
    f.steps = vy_scenario_steps(scenario);
    f.is_expensive = scenario->environment.nap.budget.duration > 0.0; // gains of the loop are summed
    v.config = vy_scenario_hash(scenario);
    static void (*const oracles[])(flight *) = {same_when_printed, same_after_restore, same_in_log,
                                                same_in_batch,     within_certificate, energy_closes,
                                                defined_or_refused};
    for (size_t i = 0; i < sizeof oracles / sizeof *oracles && v.oracle == NULL; ++i) oracles[i](&f);
    vy_world_destroy(f.flown);
    vy_scenario_destroy(scenario);
    if (v.oracle == NULL && tree != NULL) set_values(&f, tree);
    return v;
}

verdict fly_once(const char *text)
{
    verdict v = {0};
    char said[200];
    vy_scenario *scenario = load_text(text, NULL, 0, said, sizeof said);
    const flight f = {.scenario = scenario, .v = &v};
    vy_world *world = scenario != NULL ? build(&f, scenario, "build") : NULL;
    if (world != NULL) {
        vy_world_advance(world, vy_scenario_steps(scenario));
        v.config = vy_scenario_hash(scenario);
        v.end = vy_world_hash(world);
        v.steps = vy_world_tick(world);
    }
    vy_world_destroy(world);
    vy_scenario_destroy(scenario);
    return v;
}

// By processor time, so that a busy machine is no finding; one that waits for ever is ended by the clock.
void limit_time(int seconds)
{
    const struct itimerval limit = {.it_value = {.tv_sec = seconds}};
    setitimer(ITIMER_PROF, &limit, NULL);
    alarm(10 * (unsigned)seconds);
}

// In a process of its own: one that crashes or hangs is a finding as well.
verdict check_in_process(const char *text, node *tree, uint64_t seed)
{
    int ends[2];
    verdict v;
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        limit_time(HANG_SECONDS);
        const verdict seen = check_flight(text, tree, seed);
        const ssize_t wrote = write(ends[1], &seen, sizeof seen);
        _exit(wrote != (ssize_t)sizeof seen);
    }
    assert_true(child > 0);
    close(ends[1]);
    const ssize_t got = read(ends[0], &v, sizeof v); // an oracle's name is static: at the same place here
    close(ends[0]);
    int status;
    waitpid(child, &status, 0);
    if (got == (ssize_t)sizeof v) return v;
    const int ended_by = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    v = (verdict){.oracle = ended_by == SIGALRM || ended_by == SIGPROF ? "hang" : "crash"};
    snprintf(v.text, sizeof v.text, "signal %d", ended_by);
    return v;
}
