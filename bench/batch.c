// batch.c - many drones at once: the plain flight by lane width and threads, and a whole world's step.
#include "bench/batch.h"
#include "base/hash.h"
#include "bench/clock.h"
#include "volery/batch.h"
#include <stdlib.h>
#include <string.h>

enum { RUNS = 7, WALL_RUNS = 31, WORLDS = 1024, CALLS = 200 };

enum flight {
    PLAIN,  // actions to motors: gravity, drag, motors; nothing sensed
    FULL,   // the world specification's third configuration: see scenes/scenes.c, but for its disturbance
    ROTORS, // as a scenario makes them, with a battery and rotors in the air
};

static vy_scenario *scenario_of(enum flight flight)
{
    static const char plain[] = "volery: 1\nduration: 1 s\ndrones:\n  - {name: a, vehicle: crazyflie2x}\n";
    static const char rotors[] =
        "volery: 1\nduration: 1 s\ndrones:\n"
        "  - {name: a, vehicle: {base: crazyflie2x, battery: {capacity: 900, charge: 1, resistance: 0.1, "
        "nominal: 3.7,"
        " voltage: [3.0, 3.6, 3.74, 3.9, 4.17], efficiency: 1}, rotor_air: {radius: 0.023, drag: 1e-7, flap: "
        "1e-9,"
        " lift: 1e-5, inflow: 1e-6, inflow_lag: 0.02, vortex_loss: 0.1, inertia: 1e-8, ground: on}}}\n";
    const char *text = flight == ROTORS ? rotors : plain;
    vy_scenario *s = NULL;
    if (vy_scenario_parse(text, strlen(text), "bench", NULL, &s, NULL) != VY_OK) return NULL;
    if (flight == ROTORS) return s;
    vy_drone_def *drone = &s->drones[0].def;
    drone->vehicle.drag_linear = (vy_vec3){0.0, 0.0, 0.0};
    drone->vehicle.area = 0.005;
    drone->vehicle.cd = 1.0;
    if (flight == PLAIN) {
        drone->imu.period = drone->mocap.period = 0.0;
        return s;
    }
    drone->vehicle.volume = 3e-5;
    drone->vehicle.damping = (vy_vec3){1e-8, 1e-8, 1e-8};
    drone->vehicle.density_scaling = 1;
    drone->vehicle.cl = 0.2;
    s->environment.wind.constant = (vy_vec3){1.0, 0.5, 0.0};
    s->environment.nap.strict = 1;
    return s;
}

static vy_batch *batch_of(enum flight flight, uint32_t lanes, uint32_t threads)
{
    vy_scenario *s = scenario_of(flight);
    vy_batch_def def = vy_default_batch_def();
    vy_batch *batch = NULL;
    def.scenario = s;
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
    if (s == NULL || vy_batch_create(&def, &batch, NULL) != VY_OK) { // a width that this CPU has not
        def.lanes = 0;
        (void)vy_batch_create(&def, &batch, NULL);
    }
    vy_scenario_destroy(s);
    return batch;
}

// Position, velocity, attitude and rate of all.
static uint64_t hash_of(const vy_batch_view *v)
{
    return vy_hash64(v->observations, (size_t)WORLDS * v->observation_size * sizeof(double));
}

// Actions change at every step: hover, more or less.
static void write_actions(const vy_batch_view *v, int call)
{
    for (uint32_t i = 0; i < WORLDS; ++i) {
        double *a = v->actions + (size_t)i * v->action_size;
        const double u = 0.6176 + 1e-4 * (double)((i + (uint32_t)call) % 17);
        a[0] = a[2] = u;
        a[1] = a[3] = 0.6176;
    }
}

// By `clock`; by the wall's, more often, as others on the machine take from it.
static bench_result fly(enum flight flight, uint32_t lanes, uint32_t threads, double (*clock)(void))
{
    bench_result r = {(double)WORLDS * CALLS, 1e300, 0};
    const int runs = vy_bench_runs(clock == clock_seconds ? RUNS : WALL_RUNS);
    for (int run = 0; run < runs; ++run) {
        vy_batch *batch = batch_of(flight, lanes, threads);
        if (batch == NULL) return r;
        const vy_batch_view v = vy_batch_get_view(batch);
        double seconds = 0.0;
        for (int call = 0; call < CALLS; ++call) {
            if (flight == PLAIN) write_actions(&v, call);
            const double start = clock();
            vy_batch_step(batch, 1);
            seconds += clock() - start;
        }
        if (seconds < r.best_s) r.best_s = seconds;
        r.hash = hash_of(&v);
        vy_batch_destroy(batch);
    }
    return r;
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
