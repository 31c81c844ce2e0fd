// rays.c - rays through a set of spheres and boxes.
#define _POSIX_C_SOURCE 200809L
#include "bench/rays.h"
#include "base/hash.h"
#include "bench/clock.h"
#include "volery/query.h"
#include <stddef.h>
#include <string.h>

enum { BODIES = 1000, RAYS = 10000, TREE_ROUNDS = 100 };
#define CUBE_HALF 20.0 // [m] half the cube that the bodies are in

/// 0 ... 1, the same on every machine.
static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53;
}

/// Each component from -half to half.
static vy_vec3 random_vec(uint64_t *random_state, double half)
{
    const double a = 2.0 * uniform(random_state) - 1.0, b = 2.0 * uniform(random_state) - 1.0,
                 c = 2.0 * uniform(random_state) - 1.0;
    return (vy_vec3){half * a, half * b, half * c};
}

static vy_bodies *build(uint64_t *random_state)
{
    vy_bodies_def def = vy_default_bodies_def();
    vy_bodies *bodies = NULL;
    if (vy_bodies_create(&def, &bodies, NULL) != VY_OK) return NULL;
    for (int i = 0; i < BODIES; ++i) {
        vy_shape shape;
        vy_body_def body_def = vy_default_body_def();
        const double x_half = 0.3 + 0.7 * uniform(random_state), y_half = 0.3 + 0.7 * uniform(random_state),
                     z_half = 0.3 + 0.7 * uniform(random_state);
        const vy_vec3 axis = random_vec(random_state, 1.0);
        const vy_status status = i % 2 == 0 ? vy_shape_sphere(x_half, &shape, NULL)
                                            : vy_shape_box((vy_vec3){x_half, y_half, z_half}, &shape, NULL);
        body_def.shape = &shape;
        body_def.state.position = random_vec(random_state, CUBE_HALF);
        body_def.state.attitude = (vy_quat){uniform(random_state), axis.x, axis.y, axis.z};
        body_def.state.velocity = random_vec(random_state, 10.0);
        if (status != VY_OK || vy_bodies_add(bodies, &body_def, NULL, NULL) != VY_OK) {
            vy_bodies_destroy(bodies);
            return NULL;
        }
    }
    return bodies;
}

static uint64_t hash_of(const vy_body_hit *hits, size_t count)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < count; ++i) {
        uint64_t cells[8] = {hits[i].body.bits};
        memcpy(cells + 1, &hits[i].t, sizeof hits[i].t);
        memcpy(cells + 2, &hits[i].point, sizeof hits[i].point);
        memcpy(cells + 5, &hits[i].normal, sizeof hits[i].normal);
        hash = vy_hash_chain(hash, cells, sizeof cells);
    }
    return hash;
}

static bench_result cast(int use_tree, int runs)
{
    static vy_ray rays[RAYS];
    static vy_body_hit hits[RAYS];
    bench_result result = {RAYS, 1e300, 0};
    uint64_t random_state = 29;
    runs = vy_bench_runs(runs);
    for (int run = 0; run < runs; ++run) {
        random_state = 29;
        vy_bodies *bodies = build(&random_state);
        if (bodies == NULL) return result;
        for (int i = 0; i < RAYS; ++i) {
            rays[i].origin = random_vec(&random_state, CUBE_HALF);
            rays[i].direction = random_vec(&random_state, 1.0);
            rays[i].t_max = 100.0;
        }
        const double start = clock_seconds();
        if (use_tree) (void)vy_bodies_prepare_queries(bodies);
        (void)vy_bodies_cast_rays(bodies, rays, RAYS, NULL, hits, NULL);
        const double seconds = clock_seconds() - start;
        if (seconds < result.best_s) result.best_s = seconds;
        vy_bodies_destroy(bodies);
    }
    result.hash = hash_of(hits, RAYS);
    return result;
}

bench_result vy_bench_rays(void) { return cast(1, 9); }
bench_result vy_bench_rays_linear(void) { return cast(0, 5); }

bench_result vy_bench_rays_tree(void)
{
    bench_result result = {(double)BODIES, 1e300, 0};
    uint64_t random_state = 29;
    vy_bodies *bodies = build(&random_state);
    if (bodies == NULL) return result;
    (void)vy_bodies_prepare_queries(bodies);
    for (int round = 0; round < TREE_ROUNDS; ++round) {
        (void)vy_bodies_step(bodies);
        const double start = clock_seconds();
        (void)vy_bodies_prepare_queries(bodies);
        const double seconds = clock_seconds() - start;
        if (seconds < result.best_s) result.best_s = seconds;
    }
    vy_body_hit hit;
    const vy_ray ray = {{-CUBE_HALF, 0.0, 0.0}, {1.0, 0.0, 0.0}, 100.0};
    if (vy_bodies_cast_ray(bodies, &ray, NULL, &hit, NULL) == VY_OK) result.hash = hash_of(&hit, 1);
    vy_bodies_destroy(bodies);
    return result;
}
