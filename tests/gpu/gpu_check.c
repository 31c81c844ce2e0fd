// gpu_check.c - a batch on the GPU beside the same batch on the CPU: every world's state after thousands of
// steps, bit for bit; then how fast it is. Exit status 1 on the first family that differs, 77 where there is
// no GPU.
#include "batch/gpu_kernel.h"
#include "bench/clock.h"
#include "bench/gpu.h"
#include "bench/kernel_loop.h"
#include "volery/gpu.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORLDS = 4096, STEPS = 5000, CALLS = 5 };

static void add(vy_batch_def *def, vy_variable what, vy_distribution distribution, double a, double b)
{
    def->randomisation[def->randomisation_count++] =
        (vy_randomisation){what, distribution, a, b, VY_EVERY_DRONE};
}

static vy_scenario *scenario_of(int family)
{
    static const char text[] = "volery: 1\nduration: 1 s\ndrones:\n  - name: a\n    vehicle: crazyflie2x\n";
    vy_scenario *s = NULL;
    if (vy_scenario_parse(text, sizeof text - 1, "check", NULL, &s, NULL) != VY_OK) exit(2);
    vy_drone_def *drone = &s->drones[0].def;
    drone->vehicle.area = 0.005;
    drone->vehicle.cd = 1.0;
    drone->safety.tilt_max = 0.7;
    drone->safety.sustain = 0.05;
    if (family == 0 || family == 3) return s;
    drone->vehicle.cl = 0.2;
    drone->vehicle.volume = 3e-5;
    drone->vehicle.density_scaling = 1;
    drone->vehicle.damping = (vy_vec3){1e-8, 1e-8, 1e-8};
    s->environment.nap.strict = family == 2;
    s->environment.wind.turbulence = (vy_turbulence_def){3.0, 1.0, 0.0};
    s->environment.wind.shear = VY_SHEAR_LOG;
    s->environment.wind.shear_speed = 2.0;
    s->environment.atmosphere.mode = VY_ATMOSPHERE_LAYERED;
    s->disturbances = calloc(2, sizeof *s->disturbances);
    if (s->disturbances == NULL) exit(3);
    s->disturbance_count = 2;
    for (int i = 0; i < 2; ++i) {
        vy_disturbance_def *d = &s->disturbances[i].def;
        s->disturbances[i].drone = VY_EVERY_DRONE;
        *d = vy_default_disturbance_def();
        d->kind = i == 0 ? VY_DISTURBANCE_NOISE : VY_DISTURBANCE_SINUSOID;
        d->force = (vy_vec3){2e-3, 2e-3, 1e-3};
        d->torque = (vy_vec3){1e-6, 1e-6, 1e-6};
        d->frequency = 2.0;
    }
    return s;
}

static void die(const vy_error *err)
{
    printf("%s\n", err->text);
    exit(2);
}

static vy_batch *batch_of(int family, vy_precision precision, uint32_t worlds)
{
    vy_scenario *s = scenario_of(family);
    vy_batch_def def = vy_default_batch_def();
    vy_batch *batch = NULL;
    vy_error err = {0};
    def.scenario = s;
    def.world_count = worlds;
    def.precision = precision;
    def.rung = family >= 2 ? VY_RUNG_RATES : VY_RUNG_NONE;
    add(&def, VY_VARIABLE_MASS, VY_DISTRIBUTION_UNIFORM, 0.8, 1.2);
    add(&def, VY_VARIABLE_INERTIA, VY_DISTRIBUTION_LOG_UNIFORM, 0.8, 1.25);
    add(&def, VY_VARIABLE_THRUST, VY_DISTRIBUTION_NORMAL, 1.0, 0.03);
    add(&def, VY_VARIABLE_IMU_NOISE, VY_DISTRIBUTION_LOG_UNIFORM, 0.1, 10.0);
    add(&def, VY_VARIABLE_WIND_X, VY_DISTRIBUTION_NORMAL, 0.0, 1.0);
    add(&def, VY_VARIABLE_Z, VY_DISTRIBUTION_UNIFORM, 0.0, 5.0);
    add(&def, VY_VARIABLE_ROLL, VY_DISTRIBUTION_UNIFORM, -0.8, 0.8);
    add(&def, VY_VARIABLE_RATE_X, VY_DISTRIBUTION_NORMAL, 0.0, 2.0);
    if (vy_batch_create(&def, &batch, &err) != VY_OK) die(&err);
    vy_scenario_destroy(s);
    return batch;
}

static void act(const vy_batch_view *v, int call)
{
    for (uint32_t i = 0; i < v->worlds && v->action_size > 0; ++i) {
        double *a = v->actions + (size_t)i * v->action_size;
        a[0] = 0.26 + 0.001 * (double)((i + (uint32_t)call) % 40);
        for (uint32_t k = 1; k < v->action_size; ++k)
            a[k] = 0.01 * (double)((i * k + (uint32_t)call) % 7) - 0.03;
    }
}

static int compare(int family)
{
    vy_error err = {0};
    vy_batch *mine = batch_of(family, VY_PRECISION_DOUBLE, WORLDS);
    vy_batch *theirs = batch_of(family, VY_PRECISION_DOUBLE, WORLDS);
    vy_gpu *gpu = NULL;
    const vy_status status = vy_gpu_create(theirs, &gpu, &err);
    if (status != VY_OK) {
        printf("%s\n", err.text);
        exit(status == VY_NOT_FOUND ? 77 : 2);
    }
    const vy_batch_view a = vy_batch_get_view(mine), b = vy_batch_get_view(theirs);
    double cpu_s = 0.0, gpu_s = 0.0;
    for (int call = 0; call < CALLS; ++call) {
        act(&a, call);
        act(&b, call);
        double start = clock_wall_seconds();
        vy_batch_step(mine, STEPS / CALLS);
        cpu_s += clock_wall_seconds() - start;
        if (vy_gpu_upload_actions(gpu, &err) != VY_OK) printf("%s\n", err.text);
        start = clock_wall_seconds();
        if (vy_gpu_step(gpu, STEPS / CALLS, &err) != VY_OK) printf("%s\n", err.text);
        gpu_s += clock_wall_seconds() - start;
    }
    if (vy_gpu_download_observations(gpu, &err) != VY_OK) printf("%s\n", err.text);
    const int seen = memcmp(a.observations, b.observations, WORLDS * 13 * sizeof(double)) == 0;
    if (vy_gpu_download(gpu, &err) != VY_OK) printf("%s\n", err.text);
    uint32_t same = 0, ended = 0;
    for (uint32_t i = 0; i < WORLDS; ++i) {
        same += vy_batch_state_hash(mine, i) == vy_batch_state_hash(theirs, i) && a.ticks[i] == b.ticks[i];
        ended += a.terminated[i];
    }
    printf("family %d: %u of %d worlds the same after %d steps, observations %s, %u ended early; CPU (%s, %u "
           "threads) "
           "%.3g, GPU %.3g drone-steps/s\n",
           family, same, WORLDS, STEPS, seen ? "too" : "NOT", ended, vy_batch_kernel(mine),
           vy_batch_threads(mine), (double)WORLDS * STEPS / cpu_s, (double)WORLDS * STEPS / gpu_s);
    vy_gpu_destroy(gpu);
    vy_batch_destroy(theirs);
    vy_batch_destroy(mine);
    return same == WORLDS && seen;
}

// The same worlds in single precision: how far they are from the CPU's in double after a second, worlds that
// ended at another time aside.
static int compare_single(int family)
{
    vy_error err = {0};
    vy_batch *mine = batch_of(family, VY_PRECISION_DOUBLE, WORLDS);
    vy_batch *theirs = batch_of(family, VY_PRECISION_SINGLE, WORLDS);
    vy_gpu *gpu = NULL;
    if (vy_gpu_create(theirs, &gpu, &err) != VY_OK) die(&err);
    const vy_batch_view a = vy_batch_get_view(mine), b = vy_batch_get_view(theirs);
    act(&a, 0);
    act(&b, 0);
    vy_batch_step(mine, 1000);
    if (vy_gpu_upload_actions(gpu, &err) != VY_OK || vy_gpu_step(gpu, 1000, &err) != VY_OK ||
        vy_gpu_download(gpu, &err) != VY_OK)
        printf("%s\n", err.text);
    double worst[4] = {0.0};
    uint32_t other = 0;
    for (uint32_t i = 0; i < WORLDS; ++i) {
        if (a.ticks[i] != b.ticks[i]) {
            ++other;
            continue;
        }
        static const int first[5] = {0, 3, 6, 10, 13};
        for (int k = 0; k < 4; ++k) {
            for (int c = first[k]; c < first[k + 1]; ++c) {
                const double d =
                    fabs(a.observations[i * 13 + (uint32_t)c] - b.observations[i * 13 + (uint32_t)c]);
                if (!(d <= worst[k])) worst[k] = d;
            }
        }
    }
    printf("family %d in single precision: within %.2g m, %.2g m/s, %.2g of the quaternion, %.2g rad/s after "
           "1 s; %u of %d "
           "ended at another step\n",
           family, worst[0], worst[1], worst[2], worst[3], other, WORLDS);
    vy_gpu_destroy(gpu);
    vy_batch_destroy(theirs);
    vy_batch_destroy(mine);
    return worst[0] < 1e-3 && worst[1] < 1e-2 && worst[2] < 1e-3 && worst[3] < 1.0 && other < WORLDS / 100;
}

// Whole worlds, many of them: sensors, estimator and controller in the kernel.
static void pace(int family, vy_precision precision, int general, uint32_t worlds, uint64_t steps)
{
    vy_error err = {0};
    vy_batch *batch = batch_of(family, precision, worlds);
    vy_gpu *gpu = NULL;
    double best = 1e300;
    if (vy_gpu_create(batch, &gpu, &err) != VY_OK) die(&err);
    if (general) vy_gpu_use_general_kernel(gpu);
    for (int run = 0; run < (steps > 1 ? 3 : 200); ++run) {
        const double start = clock_wall_seconds();
        if (vy_gpu_step(gpu, steps, &err) != VY_OK) printf("%s\n", err.text);
        const double took = clock_wall_seconds() - start;
        if (took < best) best = took;
    }
    printf("whole worlds, family %d, %s, %s kernel: %u of them, %u steps a launch: %.3g drone-steps/s, %.1f "
           "us a launch\n",
           family, precision == VY_PRECISION_SINGLE ? "float32" : "double", general ? "general" : "own",
           worlds, (unsigned)steps, (double)worlds * (double)steps / best, 1e6 * best);
    if (steps == 1) { // one after the other, nobody waits in between
        enum { LAUNCHES = 1000 };
        const double start = clock_wall_seconds();
        for (int run = 0; run < LAUNCHES; ++run)
            if (vy_gpu_step_on(gpu, 1, NULL, &err) != VY_OK) printf("%s\n", err.text);
        if (vy_gpu_download_observations(gpu, &err) != VY_OK) printf("%s\n", err.text);
        printf("    launches one after the other: %.1f us each\n",
               1e6 * (clock_wall_seconds() - start) / LAUNCHES);
    }
    vy_gpu_destroy(gpu);
    vy_batch_destroy(batch);
}

static int measure(int single, uint32_t drones, uint32_t steps, uint32_t launches)
{
    vy_error err = {0};
    double seconds, first[GPU_BARE_CELLS];
    const vy_status status = single ? vy_bench_gpu_fly_single(drones, steps, launches, &seconds, first, &err)
                                    : vy_bench_gpu_fly(drones, steps, launches, &seconds, first, &err);
    if (status != VY_OK) {
        printf("%s\n", err.text);
        return 0;
    }
    body_state s;
    double speed[ROTOR_CAP];
    kernel_start(&s, speed);
    kernel_fly((int)(steps * launches), EFFECT_BIT(gravity) | EFFECT_BIT(drag), 1, &s, speed);
    double max = 0.0; // of the 13 numbers of the body
    for (int k = 0; k < 13; ++k) {
        const double d = fabs(first[k] - ((const double *)&s)[k]);
        if (!(d <= max)) max = d;
    }
    const double rate = (double)drones * steps * launches / seconds;
    printf("bare equations, %s: %u drones, %u launches of %u steps: %.4g drone-steps/s, ",
           single ? "float32" : "double", drones, launches, steps, rate);
    if (single) {
        printf("within %.2g of double\n", max);
        return max < 1e-3;
    }
    const int same = memcmp(first, &s, sizeof s) == 0;
    printf("bits %s\n", same ? "the same" : "DIFFER");
    return same;
}

int main(int argc, char **argv)
{
    int good = 1;
    if (argc > 1 && strcmp(argv[1], "pace") == 0) { // for a profiler
        for (int single = 0; single < 2; ++single)
            pace(0, single ? VY_PRECISION_SINGLE : VY_PRECISION_DOUBLE, 0, 1u << 17, 100);
        return 0;
    }
    for (int family = 0; family < 4; ++family) good &= compare(family);
    for (int family = 0; family < 4; ++family) good &= compare_single(family);
    for (int single = 0; single < 2; ++single) {
        const vy_precision precision = single ? VY_PRECISION_SINGLE : VY_PRECISION_DOUBLE;
        for (int general = 0; general < 2; ++general) {
            for (int family = 0; family < 4; family += 3) pace(family, precision, general, 1u << 17, 100);
            pace(3, precision, general, 4096, 1);
            pace(3, precision, general, 4096, 20);
            pace(3, precision, general, 1u << 17, 1);
        }
        pace(1, precision, 1, 1u << 17, 100);
        good &= measure(single, 1u << 20, 1000, 1);
        good &= measure(single, 1u << 20, 100, 10);
        good &= measure(single, 1u << 20, 1, 500);
        good &= measure(single, 4u << 20, 1, 200);
    }
    return good ? 0 : 1;
}
