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
    volatile uint64_t effects =
        EFFECT_BIT(gravity) | EFFECT_BIT(drag); // known at run time only, as in a world
    volatile int is_steady = steady;
    body_state state;
    double speed[ROTOR_CAP];
    kernel_start(&state, speed);
    kernel_fly(steps, effects, is_steady, &state, speed);
    return vy_hash64(&state, sizeof state);
}

static bench_result time_kernel(int steady)
{
    bench_result result = {STEPS, 1e300, 0};
    const int runs = vy_bench_runs(RUNS);
    for (int run = 0; run < runs; ++run) {
        const double start = clock_seconds();
        result.hash = kernel_loop(STEPS, steady);
        const double seconds = clock_seconds() - start;
        if (seconds < result.best_s) result.best_s = seconds;
    }
    return result;
}

bench_result vy_bench_kernel(void) { return time_kernel(0); }
bench_result vy_bench_lanes_1(void) { return time_kernel(1); }

// Drones side by side: as the kernel, where this CPU has the instructions; the scalar loop elsewhere.
static bench_result time_lanes(kernel_lanes_fn *fly_lanes, int width, int is_supported)
{
    if (fly_lanes == NULL || !is_supported) return time_kernel(1);
    bench_result result = {(double)STEPS * width, 1e300, 0};
    const int runs = vy_bench_runs(RUNS);
    for (int run = 0; run < runs; ++run) {
        const double start = clock_seconds();
        result.hash = fly_lanes(STEPS);
        const double seconds = clock_seconds() - start;
        if (seconds < result.best_s) result.best_s = seconds;
    }
    return result;
}

bench_result vy_bench_lanes_2(void) { return time_lanes(vy_kernel_lanes_2, 2, 1); }
bench_result vy_bench_lanes_4(void) { return time_lanes(vy_kernel_lanes_4_avx2, 4, vy_cpu() >= VY_CPU_AVX2); }
bench_result vy_bench_lanes_8(void)
{
    return time_lanes(vy_kernel_lanes_8_avx512, 8, vy_cpu() >= VY_CPU_AVX512);
}

typedef vy_status build_fn(uint64_t seed, vy_world **out, vy_error *err);

// `flights` runs of `steps` each, repeated; the best repetition counts.
static bench_result time_world(build_fn *build, int flights, int steps)
{
    bench_result result = {(double)flights * steps, 1e300, 0};
    const int runs = vy_bench_runs(RUNS);
    for (int run = 0; run < runs; ++run) {
        double seconds = 0.0;
        for (int flight = 0; flight < flights; ++flight) {
            vy_world *world = NULL;
            if (build((uint64_t)flight + 1, &world, NULL) != VY_OK) return result;
            const double start = clock_seconds();
            vy_world_advance(world, (uint64_t)steps);
            seconds += clock_seconds() - start;
            result.hash = vy_world_hash(world);
            vy_world_destroy(world);
        }
        if (seconds < result.best_s) result.best_s = seconds;
    }
    return result;
}

static bench_result time_scene(const char *name, int flights, int steps)
{
    return time_world(vy_scene_find(name)->build, flights, steps);
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
    vy_environment_def *env = &def.environment;
    env->gravity.mode = VY_GRAVITY_CENTRAL;
    env->gravity.body_count = 1;
    env->gravity.bodies[0] = (vy_gravity_body){3.986004418e14, {0, 0, 0}, 1.08262668e-3, 6378137.0};
    env->planet =
        (vy_planet_def){.radius = 6378137.0, .flattening = 1.0 / 298.257223563, .rate = 7.292115e-5};
    env->atmosphere.mode = VY_ATMOSPHERE_LAYERED;
    env->wind.shear = VY_SHEAR_LOG;
    env->wind.shear_speed = 3.0;
    env->nap.strict = strict;
    env->nap.budget = (vy_budget_def){20.0, 0.1, 1e-2};
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
    vy_environment_def *env = &def.environment;
    env->atmosphere.mode = VY_ATMOSPHERE_LAYERED;
    env->wind.constant = (vy_vec3){1.0, 0, 0};
    env->wind.shear = VY_SHEAR_LOG;
    env->wind.shear_speed = 1.0;
    env->magnetic_field = (vy_vec3){1e-5, 0, 4e-5};
    env->nap.strict = strict;
    env->nap.budget = (vy_budget_def){20.0, 0.01, 1e-2};
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

bench_result vy_bench_hold_strict(void) { return time_world(build_strict_holding, 10, 20000); }
bench_result vy_bench_hold_budget(void) { return time_world(build_budget_holding, 10, 20000); }
bench_result vy_bench_orbit_strict(void) { return time_world(build_strict_satellite, 10, 20000); }
bench_result vy_bench_orbit_budget(void) { return time_world(build_budget_satellite, 10, 20000); }
bench_result vy_bench_hover(void) { return time_scene("hover", 1, STEPS); }
bench_result vy_bench_world_baseline(void) { return time_scene("baseline", 100, 5000); }
bench_result vy_bench_world_air(void) { return time_scene("air", 100, 5000); }
bench_result vy_bench_world_full(void) { return time_scene("full", 100, 5000); }
bench_result vy_bench_world_neglected(void) { return time_scene("neglected", 100, 5000); }
bench_result vy_bench_world_rotor_air(void) { return time_world(build_rotor_air, 100, 5000); }
