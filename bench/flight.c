// flight.c - one drone on one core: the bare equations, and a whole world around them.
#include "bench/flight.h"
#include "base/cpu.h"
#include "base/hash.h"
#include "bench/clock.h"
#include "bench/kernel_lanes.h"
#include "bench/kernel_loop.h"
#include "scenes/bodies.h"
#include "scenes/scenes.h"

enum { RUNS = 9, STEPS = 400000 };

static uint64_t kernel_loop(int steps, int steady)
{
    volatile uint64_t chosen =
        EFFECT_BIT(gravity) | EFFECT_BIT(drag); // known at run time only, as in a world
    volatile int way = steady;
    body_state s;
    double speed[ROTOR_CAP];
    kernel_start(&s, speed);
    kernel_fly(steps, chosen, way, &s, speed);
    return vy_hash64(&s, sizeof s);
}

static bench_result kernel(int steady)
{
    bench_result r = {STEPS, 1e300, 0};
    const int runs = vy_bench_runs(RUNS);
    for (int run = 0; run < runs; ++run) {
        const double start = clock_seconds();
        r.hash = kernel_loop(STEPS, steady);
        const double seconds = clock_seconds() - start;
        if (seconds < r.best_s) r.best_s = seconds;
    }
    return r;
}

bench_result vy_bench_kernel(void) { return kernel(0); }
bench_result vy_bench_lanes_1(void) { return kernel(1); }

// Drones side by side: as the kernel, where this CPU has the instructions; the scalar loop elsewhere.
static bench_result lanes(kernel_lanes_fn *fly_lanes, int width, int usable)
{
    if (fly_lanes == NULL || !usable) return kernel(1);
    bench_result r = {(double)STEPS * width, 1e300, 0};
    const int runs = vy_bench_runs(RUNS);
    for (int run = 0; run < runs; ++run) {
        const double start = clock_seconds();
        r.hash = fly_lanes(STEPS);
        const double seconds = clock_seconds() - start;
        if (seconds < r.best_s) r.best_s = seconds;
    }
    return r;
}

bench_result vy_bench_lanes_2(void) { return lanes(vy_kernel_lanes_2, 2, 1); }
bench_result vy_bench_lanes_4(void) { return lanes(vy_kernel_lanes_4_avx2, 4, vy_cpu() >= VY_CPU_AVX2); }
bench_result vy_bench_lanes_8(void) { return lanes(vy_kernel_lanes_8_avx512, 8, vy_cpu() >= VY_CPU_AVX512); }

typedef vy_status build_fn(uint64_t seed, vy_world **out, vy_error *err);

// `flights` runs of `steps` each, repeated; the best repetition counts.
static bench_result fly_built(build_fn *build, int flights, int steps)
{
    bench_result r = {(double)flights * steps, 1e300, 0};
    const int runs = vy_bench_runs(RUNS);
    for (int run = 0; run < runs; ++run) {
        double seconds = 0.0;
        for (int k = 0; k < flights; ++k) {
            vy_world *world = NULL;
            if (build((uint64_t)k + 1, &world, NULL) != VY_OK) return r;
            const double start = clock_seconds();
            vy_world_advance(world, (uint64_t)steps);
            seconds += clock_seconds() - start;
            r.hash = vy_world_hash(world);
            vy_world_destroy(world);
        }
        if (seconds < r.best_s) r.best_s = seconds;
    }
    return r;
}

static bench_result fly(const char *name, int flights, int steps)
{
    return fly_built(vy_scene_find(name)->build, flights, steps);
}

// A Crazyflie that hovers near the ground on a battery, with every effect that rotors have but blades and
// wakes.
static vy_status build_rotor_air(uint64_t seed, vy_world **out, vy_error *err)
{
    vy_world_def def = vy_default_world_def();
    def.seed = seed;
    def.environment.nap.strict = 1;
    vy_drone_def drone = vy_default_drone_def();
    drone.position.z = 0.1;
    drone.vehicle.rotor_air = (vy_rotor_air_def){.radius = 0.023,
                                                 .drag = 1e-7,
                                                 .flap = 1e-9,
                                                 .lift = 1e-5,
                                                 .inflow = 1e-6,
                                                 .inflow_lag = 0.02,
                                                 .vortex_loss = 0.1,
                                                 .inertia = 1e-8,
                                                 .ground = 1};
    drone.vehicle.battery = (vy_battery_def){.capacity = 900.0,
                                             .charge = 1.0,
                                             .resistance = 0.1,
                                             .nominal = 3.7,
                                             .voltage = {3.0, 3.6, 3.74, 3.9, 4.17},
                                             .efficiency = 1.0};
    vy_status status = vy_world_create(&def, out, err);
    if (status == VY_OK) status = vy_world_add_drone(*out, &drone, NULL, err);
    return vy_scene_finish(status, out);
}

// A satellite of 100 kg at 700 km over a turning Earth, in air that a budget of 10 cm after 20 s lets it
// leave out.
static vy_status build_satellite(int strict, vy_world **out, vy_error *err)
{
    vy_world_def def = vy_default_world_def();
    vy_environment_def *e = &def.environment;
    e->gravity.mode = VY_GRAVITY_CENTRAL;
    e->gravity.body_count = 1;
    e->gravity.bodies[0] = (vy_gravity_body){3.986004418e14, {0, 0, 0}, 1.08262668e-3, 6378137.0};
    e->planet = (vy_planet_def){.radius = 6378137.0, .flattening = 1.0 / 298.257223563, .rate = 7.292115e-5};
    e->atmosphere.mode = VY_ATMOSPHERE_LAYERED;
    e->wind.shear = VY_SHEAR_LOG;
    e->wind.shear_speed = 3.0;
    e->nap.strict = strict;
    e->nap.budget = (vy_budget_def){20.0, 0.1, 1e-2};
    vy_world_body_def body = vy_default_world_body_def();
    body.mass = 100.0;
    body.inertia = (vy_mat3){{{10.0, 0, 0}, {0, 10.0, 0}, {0, 0, 10.0}}};
    body.area = 0.5;
    body.cd = 1.0;
    body.cl = 0.3;
    body.pressure_centre = (vy_vec3){0, 0, 0.01};
    body.damping_area = (vy_vec3){1e-9, 1e-9, 1e-9};
    body.position = (vy_vec3){7078137.0, 0, 0};
    body.velocity = (vy_vec3){0, 5000.0, 5500.0};
    body.rate = (vy_vec3){0.1, 0, 0};
    vy_status status = vy_world_create(&def, out, err);
    if (status == VY_OK) status = vy_world_add_body(*out, &body, NULL, err);
    return vy_scene_finish(status, out);
}

static vy_status build_strict_satellite(uint64_t seed, vy_world **out, vy_error *err)
{
    (void)seed;
    return build_satellite(1, out, err);
}

static vy_status build_budget_satellite(uint64_t seed, vy_world **out, vy_error *err)
{
    (void)seed;
    return build_satellite(0, out, err);
}

// A small drone that holds its place, with weak effects of every kind that a body has.
static vy_status build_holding(int strict, vy_world **out, vy_error *err)
{
    vy_world_def def = vy_default_world_def();
    vy_environment_def *e = &def.environment;
    e->atmosphere.mode = VY_ATMOSPHERE_LAYERED;
    e->wind.constant = (vy_vec3){1.0, 0, 0};
    e->wind.shear = VY_SHEAR_LOG;
    e->wind.shear_speed = 1.0;
    e->magnetic_field = (vy_vec3){1e-5, 0, 4e-5};
    e->nap.strict = strict;
    e->nap.budget = (vy_budget_def){20.0, 0.01, 1e-2};
    vy_drone_def drone = vy_default_drone_def();
    drone.truth = 1;
    drone.imu.period = drone.mocap.period = 0.0;
    drone.position.z = 50.0;
    drone.vehicle.drag_linear = (vy_vec3){1e-6, 1e-6, 1e-6};
    drone.vehicle.area = 1e-6;
    drone.vehicle.cd = 1.0;
    drone.vehicle.cl = 0.1;
    drone.vehicle.volume = 1e-7;
    drone.vehicle.pressure_centre = (vy_vec3){0, 0, 1e-3};
    drone.vehicle.damping = (vy_vec3){1e-9, 1e-9, 1e-9};
    drone.vehicle.dipole = (vy_vec3){1e-7, 0, 0};
    vy_status status = vy_world_create(&def, out, err);
    if (status == VY_OK) status = vy_world_add_drone(*out, &drone, NULL, err);
    return vy_scene_finish(status, out);
}

static vy_status build_strict_holding(uint64_t seed, vy_world **out, vy_error *err)
{
    (void)seed;
    return build_holding(1, out, err);
}

static vy_status build_budget_holding(uint64_t seed, vy_world **out, vy_error *err)
{
    (void)seed;
    return build_holding(0, out, err);
}

bench_result vy_bench_hold_strict(void) { return fly_built(build_strict_holding, 10, 20000); }
bench_result vy_bench_hold_budget(void) { return fly_built(build_budget_holding, 10, 20000); }
bench_result vy_bench_orbit_strict(void) { return fly_built(build_strict_satellite, 10, 20000); }
bench_result vy_bench_orbit_budget(void) { return fly_built(build_budget_satellite, 10, 20000); }
bench_result vy_bench_hover(void) { return fly("hover", 1, STEPS); }
bench_result vy_bench_world_baseline(void) { return fly("baseline", 100, 5000); }
bench_result vy_bench_world_air(void) { return fly("air", 100, 5000); }
bench_result vy_bench_world_full(void) { return fly("full", 100, 5000); }
bench_result vy_bench_world_neglected(void) { return fly("neglected", 100, 5000); }
bench_result vy_bench_world_rotor_air(void) { return fly_built(build_rotor_air, 100, 5000); }
