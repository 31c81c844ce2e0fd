// test_batch.c - every world of a batch has the bits that it has alone: any width, any number of threads,
// with noise, wind, drag, neglected effects, resets and failures.
#include "check.h"
#include "batch/gpu_layout.h"
#include "volery/batch.h"
#include "world/state.h"
#include <stdlib.h>

enum { WIDTHS = 4 };
static const uint32_t widths[WIDTHS] = {1, 2, 4, 8};

static vy_scenario *parse(const char *drones)
{
    char text[1024];
    snprintf(text, sizeof text, "volery: 1\nduration: 1 s\ndrones:\n%s", drones);
    vy_scenario *s = NULL;
    vy_diagnostics d;
    if (vy_scenario_parse(text, strlen(text), "test", NULL, &s, &d) != VY_OK) fail_msg("%s", d.items[0].text);
    vy_diagnostics_destroy(&d);
    return s;
}

static vy_scenario *one_drone(void) { return parse("  - name: a\n    vehicle: crazyflie2x\n"); }
static vy_scenario *two_drones(void)
{
    return parse("  - name: a\n    vehicle: crazyflie2x\n  - name: b\n    vehicle: crazyflie2x\n");
}

static vy_batch *create(const vy_batch_def *def)
{
    vy_batch *batch = NULL;
    vy_error err = {0};
    if (vy_batch_create(def, &batch, &err) != VY_OK) {
        if (strstr(err.text, "no lanes") != NULL) return NULL; // this machine cannot
        fail_msg("%s", err.text);
    }
    return batch;
}

static void randomisation(vy_batch_def *def, vy_variable what, vy_distribution distribution, double a,
                          double b)
{
    def->randomisation[def->randomisation_count++] =
        (vy_randomisation){what, distribution, a, b, VY_EVERY_DRONE};
}

static void vary_much(vy_batch_def *def)
{
    randomisation(def, VY_VARIABLE_MASS, VY_DISTRIBUTION_UNIFORM, 0.7, 1.3);
    randomisation(def, VY_VARIABLE_INERTIA, VY_DISTRIBUTION_LOG_UNIFORM, 0.7, 1.4);
    randomisation(def, VY_VARIABLE_THRUST, VY_DISTRIBUTION_NORMAL, 1.0, 0.05);
    randomisation(def, VY_VARIABLE_TORQUE, VY_DISTRIBUTION_UNIFORM, 0.9, 1.1);
    randomisation(def, VY_VARIABLE_LAG, VY_DISTRIBUTION_UNIFORM, 0.5, 2.0);
    randomisation(def, VY_VARIABLE_DRAG, VY_DISTRIBUTION_UNIFORM, 0.5, 2.0);
    randomisation(def, VY_VARIABLE_IMU_NOISE, VY_DISTRIBUTION_LOG_UNIFORM, 0.1, 10.0);
    randomisation(def, VY_VARIABLE_MOCAP_NOISE, VY_DISTRIBUTION_LOG_UNIFORM, 0.1, 10.0);
    randomisation(def, VY_VARIABLE_WIND_X, VY_DISTRIBUTION_NORMAL, 0.0, 3.0);
    randomisation(def, VY_VARIABLE_WIND_Z, VY_DISTRIBUTION_UNIFORM, -1.0, 1.0);
    randomisation(def, VY_VARIABLE_X, VY_DISTRIBUTION_UNIFORM, -2.0, 2.0);
    randomisation(def, VY_VARIABLE_Z, VY_DISTRIBUTION_UNIFORM, 0.0, 3.0);
    randomisation(def, VY_VARIABLE_VELOCITY_Y, VY_DISTRIBUTION_NORMAL, 0.0, 1.0);
    randomisation(def, VY_VARIABLE_ROLL, VY_DISTRIBUTION_UNIFORM, -0.8, 0.8);
    randomisation(def, VY_VARIABLE_YAW, VY_DISTRIBUTION_UNIFORM, -3.1, 3.1);
    randomisation(def, VY_VARIABLE_RATE_X, VY_DISTRIBUTION_NORMAL, 0.0, 3.0);
}

// What a controller of the lone world replies: the action of the batch's row.
typedef struct acting {
    vy_rung rung;
    const double *row;
    int size;
} acting;

static void act(void *self, const vy_samples *samples, vy_intent *intent)
{
    const acting *a = self;
    (void)samples;
    intent->rung = a->rung;
    if (a->rung == VY_RUNG_MOTORS) {
        memcpy(intent->motors, a->row, (size_t)a->size * sizeof(double));
        return;
    }
    intent->thrust = intent->throttle = a->row[0];
    intent->strafe = a->row[1];
    intent->vertical = a->row[2];
    intent->yaw = a->row[3];
    intent->velocity = (vy_vec3){a->row[0], a->row[1], a->row[2]};
    intent->yaw_rate = a->row[3];
    intent->torque = intent->rates = (vy_vec3){a->row[1], a->row[2], a->row[3]};
    if (a->rung == VY_RUNG_ATTITUDE) intent->attitude = (vy_quat){a->row[1], a->row[2], a->row[3], a->row[4]};
}

// The lone world of row `i`, at the start of its episode.
static vy_world *alone(const vy_batch *batch, uint32_t i, acting *actors, vy_rung rung)
{
    const vy_batch_view v = vy_batch_get_view(batch);
    vy_scenario *s = NULL;
    vy_world *world = NULL;
    vy_error err = {0};
    assert_int_equal(vy_batch_scenario(batch, i, &s, &err), VY_OK);
    for (int d = 0; d < s->drone_count && rung != VY_RUNG_NONE; ++d) {
        actors[d] = (acting){rung, v.actions + ((size_t)i * v.drones + (size_t)d) * v.action_size,
                             (int)v.action_size};
        s->drones[d].def.controller.call = act;
        s->drones[d].def.controller.self = &actors[d];
    }
    if (vy_scenario_build(s, &world, &err) != VY_OK) fail_msg("%s", err.text);
    vy_scenario_destroy(s);
    return world;
}

static void random_actions(random_source *r, const vy_batch_view *v, vy_rung rung)
{
    for (size_t k = 0; k < (size_t)v->worlds * v->drones; ++k) {
        double *a = v->actions + k * v->action_size;
        if (rung == VY_RUNG_MOTORS) {
            for (uint32_t j = 0; j < v->action_size; ++j) a[j] = random_in(r, 0.4, 1.05); // some are clamped
        } else if (rung != VY_RUNG_NONE) {
            const double size = rung == VY_RUNG_WRENCH ? 1e-4 : 2.0;
            a[0] = rung == VY_RUNG_PILOT ? (double)(random_bits(r) % 11) : random_in(r, 0.1, 0.5);
            for (uint32_t j = 1; j < v->action_size; ++j) a[j] = random_in(r, -size, size);
        }
    }
}

// Fly a batch beside its worlds, each alone, and compare the hash of each after every few steps. Worlds end
// on the way and start again.
static void compare(vy_batch_def *def, int calls, uint64_t steps, uint64_t random_seed)
{
    vy_batch *batch = create(def);
    if (batch == NULL) return;
    random_source r = {random_seed};
    const vy_batch_view v = vy_batch_get_view(batch);
    vy_world **worlds = test_calloc(v.worlds, sizeof *worlds);
    acting *actors = test_calloc((size_t)v.worlds * v.drones, sizeof *actors);
    unsigned char *mine = NULL, *theirs = NULL;
    uint8_t *who = test_calloc(v.worlds, 1);
    for (uint32_t i = 0; i < v.worlds; ++i) worlds[i] = alone(batch, i, actors + i * v.drones, def->rung);
    int ended = 0;
    for (int c = 0; c < calls; ++c) {
        random_actions(&r, &v, def->rung);
        vy_batch_step(batch, steps);
        for (uint32_t i = 0; i < v.worlds; ++i) {
            uint64_t count = steps;
            if (def->episode_steps_max != 0 && vy_world_tick(worlds[i]) + count > def->episode_steps_max)
                count = def->episode_steps_max - vy_world_tick(worlds[i]);
            vy_world_advance(worlds[i], count);
            assert_int_equal(vy_world_tick(worlds[i]), v.ticks[i]);
            assert_int_equal(v.terminated[i], vy_world_failure(worlds[i]).reason != VY_FAILURE_NONE);
            const size_t size = vy_batch_state_size(batch, i);
            assert_int_equal(size, vy_world_state_size(worlds[i]));
            mine = test_realloc(mine, size);
            theirs = test_realloc(theirs, size);
            vy_batch_save(batch, i, mine);
            vy_world_save(worlds[i], theirs);
            const size_t chain = def->chain ? 0 : 8; // the first value is the chain
            assert_memory_equal(mine + chain, theirs + chain, size - chain);
            if (def->chain) assert_true(vy_batch_hash(batch, i) == vy_world_hash(worlds[i]));
            assert_true(vy_batch_state_hash(batch, i) == vy_world_state_hash(worlds[i]));
            who[i] = v.terminated[i] || v.truncated[i] || random_bits(&r) % 16 == 0;
            ended += v.terminated[i] + v.truncated[i];
        }
        vy_batch_reset(batch, who, NULL);
        for (uint32_t i = 0; i < v.worlds; ++i) {
            if (!who[i]) continue;
            vy_world_destroy(worlds[i]);
            worlds[i] = alone(batch, i, actors + i * v.drones, def->rung);
        }
    }
    if (def->episode_steps_max != 0) assert_true(ended > 0);
    for (uint32_t i = 0; i < v.worlds; ++i) vy_world_destroy(worlds[i]);
    test_free(worlds);
    test_free(actors);
    test_free(mine);
    test_free(theirs);
    test_free(who);
    vy_batch_destroy(batch);
}

static vy_batch_def def_of(const vy_scenario *s, uint32_t worlds, uint32_t lanes)
{
    vy_batch_def def = vy_default_batch_def();
    def.scenario = s;
    def.world_count = worlds;
    def.lanes = lanes;
    def.threads = 1 + worlds % 3;
    return def;
}

// The built-in controller, all sensors, everything drawn; limits that some worlds break.
static void worlds_fly_as_alone(void **unused)
{
    (void)unused;
    for (int w = 0; w < WIDTHS; ++w) {
        vy_scenario *s = one_drone();
        s->drones[0].def.safety.tilt_max = 0.9;
        s->drones[0].def.safety.sustain = 0.02;
        vy_batch_def def = def_of(s, 61, widths[w]);
        def.chain = 1;
        vary_much(&def);
        compare(&def, 12, 37, 7);
        vy_scenario_destroy(s);
    }
}

// Every built-in controller, path, rung, engine and integrator, side by side as alone.
static void built_in_controllers_fly_as_alone(void **unused)
{
    (void)unused;
    static const char *const drones[] = {
        "kind: lee, path: {kind: figure_eight, start: 0, radius: 2, speed: 3, ramp: 0.2}}}\n",
        "kind: mellinger, path: {kind: minimum_snap, start: 0, speed: 4, waypoints: "
        "[{position: [0, 0, 1]}, {position: [1, 0, 2], yaw: 1}, {position: [1, 1, 1]}]}}}\n",
        "kind: hold, rate_law: indi, path: {kind: helix, start: 0.1, ramp: 0.3}}}\n",
        "kind: autopilot, autopilot: {target: [30, -20, 0]}}}\n",
        "kind: intent, intent: {rung: velocity, velocity: [2, 1, -1], yaw_rate: 2}}}\n",
        "kind: intent, lost: [0, 0, 1], intent: {rung: pilot, throttle: 7, strafe: -1, yaw: 0.5}}}\n",
        "kind: autopilot, flight: kinematic, autopilot: {target: [30, -20, 0]}}}\n"
        "world: {physics: {engine: simple, boundary: 3}}\n",
        "kind: lee}, sensors: {truth: on}}\nworld: {physics: {engine: simple, boundary: 3}}\n",
        "kind: hold}, start: {rate: [3, 1, 2]}}\nworld: {physics: {integrator: euler}, wind: {constant: [1, "
        "0, 0]}}\n",
        "kind: hold}, start: {rate: [3, 1, 2]}}\nworld: {physics: {integrator: semi-implicit}}\n",
        "kind: hold}, start: {rate: [3, 1, 2]}}\nworld: {physics: {integrator: lie-midpoint}, wind: "
        "{constant: [1, 0, 0]}}\n",
    };
    for (size_t i = 0; i < sizeof drones / sizeof drones[0]; ++i) {
        for (int w = 0; w < WIDTHS; ++w) {
            char text[600];
            snprintf(text, sizeof text, "  - {name: a, vehicle: crazyflie2x, controller: {%s", drones[i]);
            vy_scenario *s = parse(text);
            vy_batch_def def = def_of(s, 11, widths[w]);
            vary_much(&def);
            compare(&def, 3, 130, i);
            vy_scenario_destroy(s);
        }
    }
}

// Actions at every rung, episodes that are cut off.
static void actions_steer_as_a_callback(void **unused)
{
    (void)unused;
    for (int w = 0; w < WIDTHS; ++w) {
        for (int rung = VY_RUNG_MOTORS; rung <= VY_RUNG_PILOT; ++rung) {
            vy_scenario *s = one_drone();
            s->drones[0].def.safety.rate_max = 30.0;
            s->drones[0].def.safety.height_min = 0.1;
            s->drones[0].def.safety.height_max = 5.0;
            vy_batch_def def = def_of(s, 29, widths[w]);
            def.rung = (vy_rung)rung;
            def.episode_steps_max = 90;
            def.chain = rung % 2;
            vary_much(&def);
            compare(&def, 12, 10 + (uint64_t)rung, 11 + (uint64_t)rung);
            vy_scenario_destroy(s);
        }
    }
}

static void declare_everything(random_source *r, vy_scenario *s)
{
    vy_environment_def *e = &s->environment;
    e->nap.strict = random_bits(r) % 3 == 0;
    e->nap.force_rel = pow(10.0, random_in(r, -5.0, -1.0));
    e->nap.period = random_bits(r) % 2 ? 0.0 : 0.003;
    if (random_bits(r) % 2) e->wind.constant = random_vec(r, 3.0);
    if (random_bits(r) % 2) {
        e->wind.shear = (vy_shear)(random_bits(r) % 4);
        e->wind.shear_speed = random_in(r, 0.0, 5.0);
    }
    if (random_bits(r) % 2) {
        e->wind.gusts[e->wind.gust_count++] = (vy_gust_def){random_vec(r, 3.0), 0.02, 0.05, 0.02};
    }
    if (random_bits(r) % 2) e->wind.turbulence = (vy_turbulence_def){random_in(r, 1.0, 8.0), 1.0, 0.0};
    if (random_bits(r) % 3 == 0) e->atmosphere.mode = VY_ATMOSPHERE_LAYERED;
    if (random_bits(r) % 3 == 0) { // at a place of the Earth
        e->planet = (vy_planet_def){VY_EARTH_RADIUS, VY_EARTH_FLATTENING, VY_EARTH_RATE, {.gm = 0.0}};
        e->planet.origin = (vy_origin_def){.gm = VY_EARTH_GM,
                                           .latitude = random_in(r, -0.5 * PI, 0.5 * PI),
                                           .height = random_in(r, 0.0, 3000.0),
                                           .j2 = VY_EARTH_J2};
    }
    e->magnetic_field = (vy_vec3){0.0, 1e-5, -4e-5};
    for (int i = 0; i < s->drone_count; ++i) {
        vy_vehicle_def *v = &s->drones[i].def.vehicle;
        v->cd = 1.0;
        v->area = 0.005;
        v->cl = random_in(r, -0.3, 0.3);
        v->volume = 3e-5;
        v->density_scaling = random_bits(r) % 2 != 0;
        v->damping = (vy_vec3){1e-8, 1e-8, 1e-8};
        v->dipole = (vy_vec3){1e-3, 0.0, 0.0};
        s->drones[i].def.imu.period = random_bits(r) % 4 ? 0.001 : 0.002;
        s->drones[i].def.mocap.period = random_bits(r) % 4 ? 0.01 : 0.007;
    }
    static vy_scenario_disturbance noise[3];
    for (int i = 0; i < 3; ++i) {
        noise[i].def = vy_default_disturbance_def();
        noise[i].drone = i == 2 ? s->drone_count - 1 : VY_EVERY_DRONE;
        noise[i].def.kind = (vy_disturbance_kind)(i == 0   ? VY_DISTURBANCE_NOISE
                                                  : i == 1 ? VY_DISTURBANCE_SINUSOID
                                                           : VY_DISTURBANCE_IMPULSE);
        noise[i].def.force = random_vec(r, 5e-3);
        noise[i].def.torque = random_vec(r, 1e-6);
        noise[i].def.frame = (vy_frame)(random_bits(r) % 2);
        noise[i].def.start = 0.01 * i;
        noise[i].def.duration = i == 0 ? INFINITE : 0.05;
        noise[i].def.frequency = 3.0;
    }
    free(s->disturbances);
    s->disturbances = malloc(sizeof noise);
    assert_non_null(s->disturbances);
    memcpy(s->disturbances, noise, sizeof noise);
    s->disturbance_count = 3;
}

// Random families: air, wind, turbulence, disturbances, policy, schedules, two drones.
static void random_families_fly_as_alone(void **unused)
{
    (void)unused;
    random_source r = {3};
    for (int trial = 0; trial < 24; ++trial) {
        vy_scenario *s = trial % 2 ? two_drones() : one_drone();
        declare_everything(&r, s);
        s->drones[0].def.safety.speed_max = 6.0;
        for (int w = 0; w < WIDTHS; ++w) {
            vy_batch_def def = def_of(s, 26 + (uint32_t)w, widths[w]);
            def.chain = 1;
            def.episode_steps_max = trial % 3 ? 0 : 50;
            def.rung = trial % 4 == 3 ? VY_RUNG_RATES : VY_RUNG_NONE;
            vary_much(&def);
            compare(&def, 5, 23, 100 + (uint64_t)trial);
        }
        vy_scenario_destroy(s);
    }
}

// A state that is not finite ends its world and leaves its neighbours alone; so does a reply that is not.
static void a_broken_world_stands_alone(void **unused)
{
    (void)unused;
    for (int w = 0; w < WIDTHS; ++w) {
        vy_scenario *s = one_drone();
        vy_batch_def def = def_of(s, 16, widths[w]);
        def.rung = VY_RUNG_RATES;
        def.chain = 1;
        vy_batch *batch = create(&def), *whole = create(&def);
        if (batch == NULL) continue;
        const vy_batch_view v = vy_batch_get_view(batch), u = vy_batch_get_view(whole);
        for (uint32_t i = 0; i < 16; ++i) v.actions[4 * i] = u.actions[4 * i] = 0.3;
        v.actions[4 * 3 + 1] = NOT_A_NUMBER;
        vy_cells cells;
        assert_int_equal(vy_batch_cells(batch, 0, "body.rate", &cells, NULL), VY_OK);
        cells.first[7 / cells.lanes * cells.block + cells.lanes + 7 % cells.lanes] =
            1e200; // its square is too much
        vy_batch_step(batch, 50);
        vy_batch_step(whole, 50);
        for (uint32_t i = 0; i < 16; ++i) {
            assert_int_equal(v.terminated[i], i == 3 || i == 7);
            assert_int_equal(v.ticks[i], i == 3 || i == 7 ? 1 : 50);
            if (i != 3 && i != 7) assert_true(vy_batch_hash(batch, i) == vy_batch_hash(whole, i));
        }
        vy_batch_destroy(whole);
        vy_batch_destroy(batch);
        vy_scenario_destroy(s);
    }
}

// A snapshot of one world flies on in a world of its own, and back.
static void snapshots_move_between_worlds(void **unused)
{
    (void)unused;
    vy_scenario *s = one_drone();
    vy_batch_def def = def_of(s, 10, 0);
    def.chain = 1;
    vary_much(&def);
    vy_batch *batch = create(&def);
    const size_t size = vy_batch_state_size(batch, 1);
    void *block = test_malloc(size);
    vy_batch_step(batch, 100);
    vy_world *world = alone(batch, 4, NULL, VY_RUNG_NONE);
    vy_batch_save(batch, 4, block);
    assert_int_equal(vy_world_restore(world, block, size, NULL), VY_OK);
    vy_world_advance(world, 77);
    vy_batch_step(batch, 77);
    assert_true(vy_batch_hash(batch, 4) == vy_world_hash(world));
    assert_int_equal(vy_batch_restore(batch, 4, block, size, NULL), VY_OK);
    assert_int_equal(vy_batch_get_view(batch).ticks[4], 100);
    vy_batch_step(batch, 77);
    assert_true(vy_batch_hash(batch, 4) == vy_world_hash(world));
    assert_int_equal(vy_batch_restore(batch, 4, block, size - 8, NULL), VY_BAD_VALUE);
    vy_batch_reset(batch, NULL, NULL); // a restored state leaves nothing behind for the next episode
    vy_world_destroy(world);
    world = alone(batch, 5, NULL, VY_RUNG_NONE);
    assert_true(vy_batch_state_hash(batch, 5) == vy_world_state_hash(world));
    vy_world_destroy(world);
    test_free(block);
    vy_batch_destroy(batch);
    vy_scenario_destroy(s);
}

// Both kinds of autoreset: when the next episode begins, and what is seen of the last one.
static void autoreset_starts_the_next_episode(void **unused)
{
    (void)unused;
    vy_scenario *s = one_drone();
    vy_batch_def def = def_of(s, 5, 0);
    def.episode_steps_max = 20;
    def.autoreset = VY_AUTORESET_SAME;
    randomisation(&def, VY_VARIABLE_X, VY_DISTRIBUTION_UNIFORM, -1.0, 1.0);
    vy_batch *batch = create(&def);
    vy_batch_view v = vy_batch_get_view(batch);
    const double start = v.observations[0];
    vy_batch_step(batch, 10);
    assert_int_equal(v.truncated[0], 0);
    const double before = v.observations[0];
    vy_batch_step(batch, 10);
    assert_int_equal(v.truncated[0], 1);
    assert_int_equal(v.ticks[0], 0);
    assert_true(v.observations[0] != start && fabs(v.final_observations[0] - before) < 0.1);
    vy_batch_step(batch, 10);
    assert_int_equal(v.truncated[0], 0);
    assert_int_equal(v.ticks[0], 10);
    vy_batch_destroy(batch);

    def.autoreset = VY_AUTORESET_NEXT;
    batch = create(&def);
    v = vy_batch_get_view(batch);
    vy_batch_step(batch, 20);
    assert_true(v.truncated[2] == 1 && v.ticks[2] == 20);
    vy_batch_step(batch, 20);
    assert_true(v.truncated[2] == 0 && v.ticks[2] == 0);
    vy_batch_step(batch, 15);
    assert_true(v.truncated[2] == 0 && v.ticks[2] == 15);
    vy_batch_destroy(batch);
    vy_scenario_destroy(s);
}

// World i depends on its seed alone: not on how many worlds there are, nor on the threads.
static void worlds_do_not_know_each_other(void **unused)
{
    (void)unused;
    vy_scenario *s = one_drone();
    vy_batch_def def = def_of(s, 40, 0), few = def_of(s, 3, 0);
    def.chain = few.chain = 1;
    def.seed = few.seed = 99;
    vary_much(&def);
    vary_much(&few);
    vy_batch *many = create(&def), *three = create(&few);
    for (int c = 0; c < 3; ++c) {
        vy_batch_step(many, 31);
        vy_batch_step(three, 31);
        for (uint32_t i = 0; i < 3; ++i) assert_true(vy_batch_hash(many, i) == vy_batch_hash(three, i));
        assert_true(vy_batch_hash(many, 0) != vy_batch_hash(many, 1));
        vy_batch_reset(many, NULL, NULL);
        vy_batch_reset(three, NULL, NULL);
    }
    vy_batch_destroy(three);
    vy_batch_destroy(many);
    vy_scenario_destroy(s);
}

// What the variables draw has the distribution they declare.
static void draws_have_their_distribution(void **unused)
{
    (void)unused;
    enum { N = 4000 };
    vy_scenario *s = one_drone();
    vy_batch_def def = def_of(s, N, 0);
    randomisation(&def, VY_VARIABLE_X, VY_DISTRIBUTION_UNIFORM, -1.0, 3.0);
    randomisation(&def, VY_VARIABLE_Y, VY_DISTRIBUTION_NORMAL, 5.0, 2.0);
    randomisation(&def, VY_VARIABLE_Z, VY_DISTRIBUTION_LOG_UNIFORM, 0.1, 10.0);
    vy_batch *batch = create(&def);
    const vy_batch_view v = vy_batch_get_view(batch);
    double sum[3] = {0.0}, square[3] = {0.0};
    for (int i = 0; i < N; ++i) {
        const double *o = v.observations + (size_t)i * v.observation_size;
        const double x[3] = {o[0] - s->drones[0].def.position.x, o[1] - s->drones[0].def.position.y,
                             log10(o[2] - s->drones[0].def.position.z)};
        assert_true(x[0] >= -1.0 && x[0] <= 3.0 && x[2] > -1.0 - 1e-9 && x[2] < 1.0 + 1e-9);
        for (int k = 0; k < 3; ++k) {
            sum[k] += x[k] / N;
            square[k] += x[k] * x[k] / N;
        }
    }
    const double mean[3] = {1.0, 5.0, 0.0}, variance[3] = {16.0 / 12.0, 4.0, 4.0 / 12.0};
    for (int k = 0; k < 3; ++k) {
        assert_near(sum[k], mean[k], 5.0 * sqrt(variance[k] / N));
        assert_near(square[k] - sum[k] * sum[k], variance[k], 0.15 * variance[k]);
    }
    vy_batch_destroy(batch);
    vy_scenario_destroy(s);
}

// Rotors in the air, blades, batteries, throttled thrusters and valves, side by side as alone; one drone of
// two has them.
static void actuators_fly_as_alone(void **unused)
{
    (void)unused;
    static const char *const drones[] = {
        "  - {name: a, vehicle: {base: crazyflie2x, battery: {capacity: 2, charge: 0.9, resistance: 0.1, "
        "nominal: 3.7, voltage: [3.0, 3.6, 3.74, 3.9, 4.17], efficiency: 1, power: 0.2}}}\n"
        "  - {name: b, vehicle: crazyflie2x, start: {position: [1, 0, 0]}}\n",
        "  - {name: a, vehicle: {base: x500, rotor_air: {radius: 0.12, drag: 1e-5, flap: 1e-6, lift: 1e-4, "
        "inflow: 1e-4, inflow_lag: 0.05, vortex_loss: 0.1, ground: on, inertia: 1e-4}}, "
        "start: {position: [0, 0, 0.3]}}\n",
        "  - {name: a, vehicle: {base: crazyflie2x, rotor_air: {radius: 0.023}, blade: {count: 3, "
        "chord: 0.006, lift_slope: 5.7, lift_max: 1.2, drag_square: 1}}}\n",
        "  - {name: a, vehicle: {name: jet, mass: 10, inertia: [1.2, 1.3, 2], thrusters: [{position: [0.5, "
        "0.5, "
        "0], axis: [0, 0, 1], thrust_max: 60, thrust_min: 8, lag: 0.06}, {position: [-0.5, -0.5, 0], axis: "
        "[0, 0.1, 1], thrust_max: 60, pulse_period: 0.02, pulse_min: 0.004}]}, controller: {kind: intent, "
        "intent: {rung: motors, motors: [0.7, 0.6]}}}\n",
    };
    for (size_t k = 0; k < sizeof drones / sizeof drones[0]; ++k) {
        for (int w = 0; w < WIDTHS; ++w) {
            vy_scenario *s = parse(drones[k]);
            vy_batch_def def = def_of(s, 19, widths[w]);
            def.rung = w % 2 == 0 ? VY_RUNG_NONE : VY_RUNG_MOTORS;
            def.chain = 1;
            def.episode_steps_max = 150;
            vary_much(&def);
            vy_batch *batch = create(&def);
            if (batch != NULL) assert_string_not_equal(vy_batch_kernel(batch), "worlds");
            vy_batch_destroy(batch);
            compare(&def, 8, 29, 70 + k);
            vy_scenario_destroy(s);
        }
    }
}

// Worlds that lanes cannot fly, one by one behind the same calls: a load on a cable that catches, a flexible
// arm.
static const char joined_text[] =
    "  - {name: a, vehicle: x500, start: {position: [0, 0, 5]}, sensors: {mocap: {period: 0.01}}}\n"
    "bodies:\n"
    "  - {name: load, mass: 0.3, inertia: [2e-4, 2e-4, 2e-4], position: [0.2, 0, 4.02], area: 0.01, cd: "
    "0.8}\n"
    "  - {name: arm, mass: 0.05, inertia: [2e-4, 1e-5, 2e-4], position: [0, 0.4, 5]}\n"
    "joints:\n"
    "  - {kind: cable, a: a, b: load, anchor_a: [0, 0, -0.05], anchor_b: [0, 0, 0.05], length: 1}\n"
    "  - {kind: hinge, a: a, b: arm, anchor_a: [0, 0.2, 0], anchor_b: [0, -0.2, 0], axis_a: [1, 0, 0], "
    "axis_b: [1, 0, 0], stiffness: 4, damping: 0.01}\n";

static void joined_worlds_fly_as_alone(void **unused)
{
    (void)unused;
    for (int rung = VY_RUNG_NONE; rung <= VY_RUNG_VELOCITY; ++rung) {
        vy_scenario *s = parse(joined_text);
        s->drones[0].def.safety.tilt_max = 0.9;
        vy_batch_def def = def_of(s, 9, 0);
        def.rung = (vy_rung)rung;
        def.chain = rung % 2;
        def.episode_steps_max = 90;
        randomisation(&def, VY_VARIABLE_MASS, VY_DISTRIBUTION_UNIFORM, 0.7, 1.3);
        randomisation(&def, VY_VARIABLE_WIND_X, VY_DISTRIBUTION_NORMAL, 0.0, 3.0);
        randomisation(&def, VY_VARIABLE_RATE_X, VY_DISTRIBUTION_NORMAL, 0.0, 3.0);
        compare(&def, 5, 37, 40 + (uint64_t)rung);
        vy_scenario_destroy(s);
    }
}

// The same for faults, which are no affair of lanes either.
static void faulty_worlds_fly_as_alone(void **unused)
{
    (void)unused;
    vy_scenario *s =
        parse("  - {name: a, vehicle: crazyflie2x}\nfaults:\n"
              "  - {kind: motor_weak, drone: a, rotor: 1, start: 0.05, share: 0.8}\n"
              "  - {kind: sensor_delay, drone: a, channel: position, start: 0.02, delay: 0.02}\n");
    vy_batch_def def = def_of(s, 11, 0);
    def.chain = 1;
    vary_much(&def);
    compare(&def, 5, 37, 50);
    vy_scenario_destroy(s);
}

// And for loads that are dropped, taken up and land on the ground, in the middle of episodes that begin
// again.
static const char carrying_text[] =
    "  - {name: a, vehicle: x500, start: {position: [0, 0, 0.6]}}\n"
    "bodies:\n"
    "  - {name: parcel, mass: 0.3, inertia: [8e-4, 1e-3, 9e-4], shape: {kind: box, size: [0.1, 0.1, 0.1]}}\n"
    "  - {name: tool, mass: 0.1, inertia: [1e-4, 1e-4, 1e-4], position: [0.1, 0, 0.6]}\n"
    "payloads:\n"
    "  - {carrier: a, load: parcel, position: [0.03, 0, -0.5], drop: 0.03}\n"
    "  - {carrier: a, load: tool, position: [0.1, 0, 0], attach: 0.005, drop: 0.06}\n"
    "terrain: {kind: plane}\n";

static void carrying_worlds_fly_as_alone(void **unused)
{
    (void)unused;
    for (int rung = VY_RUNG_NONE; rung <= VY_RUNG_RATES; ++rung) {
        vy_scenario *s = parse(carrying_text);
        vy_batch_def def = def_of(s, 7, 0);
        def.rung = (vy_rung)rung;
        def.chain = 1;
        def.episode_steps_max = 90;
        randomisation(&def, VY_VARIABLE_MASS, VY_DISTRIBUTION_UNIFORM, 0.7, 1.3);
        randomisation(&def, VY_VARIABLE_RATE_X, VY_DISTRIBUTION_NORMAL, 0.0, 1.0);
        compare(&def, 6, 29, 60 + (uint64_t)rung);
        vy_scenario_destroy(s);
    }
}

// A snapshot from before a drop, put back after it, carries the load again; so does a new episode.
static void a_restored_drone_carries_its_load(void **unused)
{
    (void)unused;
    vy_scenario *s = parse(carrying_text);
    vy_batch_def def = def_of(s, 3, 0);
    def.chain = 1;
    def.episode_steps_max = 80;
    def.autoreset = VY_AUTORESET_NEXT;
    randomisation(&def, VY_VARIABLE_MASS, VY_DISTRIBUTION_UNIFORM, 0.7, 1.3);
    vy_batch *batch = create(&def);
    assert_true(vy_batch_memory(batch) > 0);
    assert_string_equal(vy_batch_kernel(batch), "worlds");
    const vy_batch_view v = vy_batch_get_view(batch);
    vy_batch_step(batch, 20);
    const size_t size = vy_batch_state_size(batch, 1);
    void *block = test_malloc(size);
    vy_batch_save(batch, 1, block);
    vy_batch_step(batch, 40);
    const uint64_t later = vy_batch_hash(batch, 1);
    assert_int_equal(vy_batch_restore(batch, 1, block, size, NULL), VY_OK);
    vy_batch_step(batch, 20); // worlds 0 and 2 are at the end of their episodes
    assert_true(v.truncated[0] && !v.truncated[1] && v.ticks[0] == 80 && v.ticks[1] == 40);
    vy_batch_step(batch, 20); // and begin the next
    assert_true(vy_batch_hash(batch, 1) == later);
    assert_true(!v.truncated[0] && v.ticks[0] == 0 && v.seeds[0] != def.seed);
    vy_batch_step(batch, 20);
    vy_world *world = alone(batch, 0, NULL, VY_RUNG_NONE);
    vy_world_advance(world, 20);
    assert_true(v.ticks[0] == 20 && vy_batch_hash(batch, 0) == vy_world_hash(world));
    vy_world_destroy(world);
    test_free(block);
    vy_batch_destroy(batch);
    vy_scenario_destroy(s);
}

// Where a world flies follows from its stages: on every machine, in lanes of doubles, or alone; and who
// refuses it says why. A world with an obstacle that nothing touches has no stage of its own.
static void worlds_fly_where_their_stages_are(void **unused)
{
    (void)unused;
#define PLAIN  "  - {name: a, vehicle: crazyflie2x}\n"
#define ROTORS "  - {name: a, vehicle: {base: crazyflie2x, rotor_air: {radius: 0.023, ground: on}}}\n"
    enum { EVERYWHERE, LANES, ALONE };
    static const struct {
        const char *drones, *why;
        int where;
    } rows[] = {
        {PLAIN, "", EVERYWHERE},
        {PLAIN "obstacles:\n  - {name: wall, kind: box, size: [1, 1, 1], position: [9, 0, 0]}\n"
               "contacts: {mode: off}\n",
         "", EVERYWHERE},
        {ROTORS, "rotors", LANES},
        {ROTORS "terrain: {kind: plane}\ncontacts: {mode: off}\n", "rotors", ALONE},
        {PLAIN "world: {wakes: {mode: on}}\n", "rotors", ALONE},
        {"  - {name: a, vehicle: crazyflie2x, safety: {fall_max: 9}}\n", "fall", ALONE},
        {"  - {name: a, vehicle: crazyflie2x, sensors: {baro: {period: 0.01}}}\n", "sensors", ALONE},
        {PLAIN "faults:\n  - {kind: motor_weak, drone: a, rotor: 1, start: 0.05, share: 0.8}\n", "faults",
         ALONE},
        {PLAIN "terrain: {kind: plane}\n", "contacts", ALONE},
        {joined_text, "joints", ALONE},
        {carrying_text, "payloads", ALONE},
    };
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; ++k) {
        vy_scenario *s = parse(rows[k].drones);
        vy_batch_def def = def_of(s, 3, 0);
        vy_batch *batch = create(&def), *single = NULL;
        vy_error err = {0};
        gpu_layout parts;
        uint32_t observed[GPU_OBSERVED_MAX];
        assert_int_equal(strcmp(vy_batch_kernel(batch), "worlds") == 0, rows[k].where == ALONE);
        const vy_status gpu = vy_batch_gpu_layout(batch, 8, &parts, observed, &err);
        assert_int_equal(gpu, rows[k].where == EVERYWHERE ? VY_OK : VY_BAD_VALUE);
        if (gpu != VY_OK && strstr(err.text, rows[k].why) == NULL) fail_msg("%zu: %s", k, err.text);
        def.precision = VY_PRECISION_SINGLE;
        const vy_status floats = vy_batch_create(&def, &single, &err);
        if (floats != VY_NOT_FOUND) assert_int_equal(floats, gpu);
        if (floats == VY_BAD_VALUE) assert_non_null(strstr(err.text, rows[k].why));
        vy_batch_destroy(single);
        vy_batch_destroy(batch);
        def.precision = VY_PRECISION_DOUBLE;
        def.chain = 1;
        compare(&def, 3, 20, 80 + k);
        vy_scenario_destroy(s);
    }
}

// Snapshots, cells, autoreset and the threads of worlds that are flown one by one.
static void lone_worlds_are_a_batch(void **unused)
{
    (void)unused;
    vy_scenario *s = parse(joined_text);
    vy_batch_def def = def_of(s, 5, 0);
    def.chain = 1;
    def.threads = 3;
    def.episode_steps_max = 100;
    def.autoreset = VY_AUTORESET_SAME;
    randomisation(&def, VY_VARIABLE_X, VY_DISTRIBUTION_UNIFORM, -1.0, 1.0);
    vy_batch *batch = create(&def);
    def.threads = 1;
    def.world_count = 2;
    vy_batch *two = create(&def);
    assert_string_equal(vy_batch_kernel(batch), "worlds");
    const vy_batch_view v = vy_batch_get_view(batch);
    assert_int_equal(v.drones, 1); // bodies fly along
    vy_batch_step(batch, 60);
    vy_batch_step(two, 60);
    const size_t size = vy_batch_state_size(batch, 1);
    void *block = test_malloc(size);
    vy_cells cells;
    assert_int_equal(vy_batch_cells(batch, 0, "body.position", &cells, NULL), VY_OK);
    for (uint32_t i = 0; i < v.worlds; ++i) {
        assert_true(cells.first[i * cells.block + 2] == v.observations[i * v.observation_size + 2]);
    }
    vy_batch_save(batch, 1, block);
    vy_batch_step(batch, 30);
    vy_batch_step(two, 30);
    const uint64_t later = vy_batch_hash(two, 1);
    assert_true(vy_batch_hash(batch, 1) == later);
    assert_int_equal(vy_batch_restore(batch, 1, block, size, NULL), VY_OK);
    assert_int_equal(v.ticks[1], 60);
    vy_batch_step(batch, 30);
    assert_true(vy_batch_hash(batch, 1) == later);
    assert_int_equal(v.ticks[0], 0); // 120 steps: its next episode has begun
    assert_true(v.truncated[0] && v.seeds[0] != def.seed);
    vy_batch_step(batch, 10);
    assert_true(v.ticks[0] == 10 && !v.truncated[0] && v.truncated[1]);
    vy_world *world = alone(batch, 0, NULL, VY_RUNG_NONE);
    vy_world_advance(world, 10);
    assert_true(vy_batch_hash(batch, 0) == vy_world_hash(world));
    vy_world_destroy(world);
    test_free(block);
    vy_batch_destroy(two);
    vy_batch_destroy(batch);
    vy_scenario_destroy(s);
}

// Kernels of every width see the same cells.
static void mistakes_are_named(void **unused)
{
    (void)unused;
    vy_scenario *s = one_drone();
    const vy_batch_def good = def_of(s, 2, 0);
    vy_batch *batch = NULL;
    vy_error err = {0};
    vy_batch_def def = good;
    def.world_count = 0;
    assert_int_equal(vy_batch_create(&def, &batch, &err), VY_BAD_VALUE);
    assert_null(batch);
    def = good;
    def.lanes = 3;
    assert_int_equal(vy_batch_create(&def, &batch, &err), VY_BAD_VALUE);
    assert_non_null(strstr(err.text, "lanes of 3"));
    def = good;
    def.observe[1] = "body.colour";
    assert_int_equal(vy_batch_create(&def, &batch, &err), VY_NOT_FOUND);
    assert_non_null(strstr(err.text, "body.colour"));
    def = good;
    randomisation(&def, VY_VARIABLE_MASS, VY_DISTRIBUTION_NORMAL, 1.0, 0.5);
    assert_int_equal(vy_batch_create(&def, &batch, &err), VY_BAD_VALUE);
    assert_non_null(strstr(err.text, "mass"));
    def = good;
    s->drones[0].def.controller.kind = VY_CONTROLLER_CALLBACK;
    assert_int_equal(vy_batch_create(&def, &batch, &err), VY_BAD_VALUE);
    assert_non_null(strstr(err.text, "rung"));
    vy_scenario_destroy(s);
}

// With a pattern, those tests alone.
int main(int count, char **words)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worlds_fly_as_alone),
        cmocka_unit_test(built_in_controllers_fly_as_alone),
        cmocka_unit_test(actions_steer_as_a_callback),
        cmocka_unit_test(random_families_fly_as_alone),
        cmocka_unit_test(a_broken_world_stands_alone),
        cmocka_unit_test(snapshots_move_between_worlds),
        cmocka_unit_test(autoreset_starts_the_next_episode),
        cmocka_unit_test(worlds_do_not_know_each_other),
        cmocka_unit_test(draws_have_their_distribution),
        cmocka_unit_test(actuators_fly_as_alone),
        cmocka_unit_test(joined_worlds_fly_as_alone),
        cmocka_unit_test(faulty_worlds_fly_as_alone),
        cmocka_unit_test(carrying_worlds_fly_as_alone),
        cmocka_unit_test(worlds_fly_where_their_stages_are),
        cmocka_unit_test(a_restored_drone_carries_its_load),
        cmocka_unit_test(lone_worlds_are_a_batch),
        cmocka_unit_test(mistakes_are_named),
    };
    if (count > 1) cmocka_set_test_filter(words[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
