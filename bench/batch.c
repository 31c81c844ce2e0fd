// batch.c - many drones at once: the plain flight by lane width and threads, and a whole world's step.
#include "bench/batch.h"
#include "base/hash.h"
#include "bench/clock.h"
#include "volery/batch.h"
#include <stdlib.h>
#include <string.h>

enum { RUNS = 7, WALL_RUNS = 31, WORLDS = 1024, CALLS = 200 };

enum flight_kind {
    PLAIN,  // actions to motors: gravity, drag, motors; nothing sensed
    FULL,   // the world specification's third configuration: see scenes/scenes.c, but for its disturbance
    ROTORS, // as a scenario makes them, with a battery and rotors in the air
};

static vy_scenario *make_scenario(enum flight_kind flight)
{
    static const char plain_text[] =
        "volery: 1\nduration: 1 s\ndrones:\n  - {name: a, vehicle: crazyflie2x}\n";
    static const char rotors_text[] =
        "volery: 1\nduration: 1 s\ndrones:\n"
        "  - {name: a, vehicle: {base: crazyflie2x, battery: {capacity: 900, charge: 1, resistance: 0.1, "
        "nominal: 3.7,"
        " voltage: [3.0, 3.6, 3.74, 3.9, 4.17], efficiency: 1}, rotor_air: {radius: 0.023, drag: 1e-7, flap: "
        "1e-9,"
        " lift: 1e-5, inflow: 1e-6, inflow_lag: 0.02, vortex_loss: 0.1, inertia: 1e-8, ground: on}}}\n";
    const char *text = flight == ROTORS ? rotors_text : plain_text;
    vy_scenario *scenario = NULL;
    if (vy_scenario_parse(text, strlen(text), "bench", NULL, &scenario, NULL) != VY_OK) return NULL;
    if (flight == ROTORS) return scenario;
    vy_drone_def *drone = &scenario->drones[0].def;
    drone->vehicle.drag_linear = (vy_vec3){0.0, 0.0, 0.0};
    drone->vehicle.area = 0.005;
    drone->vehicle.cd = 1.0;
    if (flight == PLAIN) {
        drone->imu.period = drone->mocap.period = 0.0;
        return scenario;
    }
    drone->vehicle.volume = 3e-5;
    drone->vehicle.damping = (vy_vec3){1e-8, 1e-8, 1e-8};
    drone->vehicle.density_scaling = 1;
    drone->vehicle.cl = 0.2;
    scenario->environment.wind.constant = (vy_vec3){1.0, 0.5, 0.0};
    scenario->environment.nap.strict = 1;
    return scenario;
}

static vy_batch *create_batch(enum flight_kind flight, uint32_t lanes, uint32_t threads)
{
    vy_scenario *scenario = make_scenario(flight);
    vy_batch_def def = vy_default_batch_def();
    vy_batch *batch = NULL;
    def.scenario = scenario;
    def.world_count = WORLDS;
    def.lanes = lanes;
    def.threads = threads;
    def.rung = flight == PLAIN ? VY_RUNG_MOTORS : VY_RUNG_NONE;
    if (flight != PLAIN) {
        def.randomisation_count = 3;
        def.randomisation[0] =
            (vy_randomisation){VY_VARIABLE_MASS, VY_DISTRIBUTION_UNIFORM, 0.9, 1.1, VY_EVERY_DRONE};
        def.randomisation[1] =
            (vy_randomisation){VY_VARIABLE_INERTIA, VY_DISTRIBUTION_UNIFORM, 0.9, 1.1, VY_EVERY_DRONE};
        def.randomisation[2] =
            (vy_randomisation){VY_VARIABLE_IMU_NOISE, VY_DISTRIBUTION_UNIFORM, 0.5, 2.0, VY_EVERY_DRONE};
    }
    if (scenario == NULL || vy_batch_create(&def, &batch, NULL) != VY_OK) { // a width that this CPU has not
        def.lanes = 0;
        (void)vy_batch_create(&def, &batch, NULL);
    }
    vy_scenario_destroy(scenario);
    return batch;
}

// Position, velocity, attitude and rate of all.
static uint64_t hash_observations(const vy_batch_view *view)
{
    return vy_hash64(view->observations, (size_t)WORLDS * view->observation_size * sizeof(double));
}

// Actions change at every step: hover, more or less.
static void write_actions(const vy_batch_view *view, int call)
{
    for (uint32_t i = 0; i < WORLDS; ++i) {
        double *action = view->actions + (size_t)i * view->action_size;
        const double hover_command = 0.6176 + 1e-4 * (double)((i + (uint32_t)call) % 17);
        action[0] = action[2] = hover_command;
        action[1] = action[3] = 0.6176;
    }
}

// By `read_clock`; by the wall's, more often, as others on the machine take from it.
static bench_result fly(enum flight_kind flight, uint32_t lanes, uint32_t threads, double (*read_clock)(void))
{
    bench_result result = {(double)WORLDS * CALLS, 1e300, 0};
    const int runs = vy_bench_runs(read_clock == clock_seconds ? RUNS : WALL_RUNS);
    for (int run = 0; run < runs; ++run) {
        vy_batch *batch = create_batch(flight, lanes, threads);
        if (batch == NULL) return result;
        const vy_batch_view view = vy_batch_get_view(batch);
        double seconds = 0.0;
        for (int call = 0; call < CALLS; ++call) {
            if (flight == PLAIN) write_actions(&view, call);
            const double start = read_clock();
            vy_batch_step(batch, 1);
            seconds += read_clock() - start;
        }
        if (seconds < result.best_s) result.best_s = seconds;
        result.hash = hash_observations(&view);
        vy_batch_destroy(batch);
    }
    return result;
}

bench_result vy_bench_batch_scalar(void) { return fly(PLAIN, 1, 1, clock_seconds); }
bench_result vy_bench_batch_sse2(void) { return fly(PLAIN, 2, 1, clock_seconds); }
bench_result vy_bench_batch_avx2(void) { return fly(PLAIN, 4, 1, clock_seconds); }
bench_result vy_bench_batch_widest(void) { return fly(PLAIN, 0, 1, clock_seconds); }
bench_result vy_bench_batch_threads_1(void) { return fly(PLAIN, 0, 1, clock_wall_seconds); }
bench_result vy_bench_batch_threads_2(void) { return fly(PLAIN, 0, 2, clock_wall_seconds); }
bench_result vy_bench_batch_full(void) { return fly(FULL, 0, 1, clock_seconds); }
bench_result vy_bench_batch_rotors_scalar(void) { return fly(ROTORS, 1, 1, clock_seconds); }
bench_result vy_bench_batch_rotors(void) { return fly(ROTORS, 0, 1, clock_seconds); }
