// rays.c - rays through a set of spheres and boxes.
#define _POSIX_C_SOURCE 200809L
#include "bench/rays.h"
#include "base/hash.h"
#include "bench/clock.h"
#include "volery/query.h"
#include <stddef.h>
#include <string.h>

enum { BODIES = 1000, RAYS = 10000, TREE_ROUNDS = 100 };
#define HALF 20.0 // [m] half the cube that the bodies are in

/// 0 ... 1, the same on every machine.
static double uniform(uint64_t *x)
{
    *x = *x * 6364136223846793005u + 1442695040888963407u;
    return (double)(*x >> 11) * 0x1p-53;
}

/// Each component from -half to half.
static vy_vec3 even(uint64_t *x, double half)
{
    const double a = 2.0 * uniform(x) - 1.0, b = 2.0 * uniform(x) - 1.0, c = 2.0 * uniform(x) - 1.0;
    return (vy_vec3){half * a, half * b, half * c};
}

static vy_bodies *build(uint64_t *x)
{
    vy_bodies_def set = vy_default_bodies_def();
    vy_bodies *bodies = NULL;
    if (vy_bodies_create(&set, &bodies, NULL) != VY_OK) return NULL;
    for (int i = 0; i < BODIES; ++i) {
        vy_shape shape;
        vy_body_def def = vy_default_body_def();
        const double r = 0.3 + 0.7 * uniform(x), s = 0.3 + 0.7 * uniform(x), t = 0.3 + 0.7 * uniform(x);
        const vy_vec3 q = even(x, 1.0);
        const vy_status status =
            i % 2 == 0 ? vy_shape_sphere(r, &shape, NULL) : vy_shape_box((vy_vec3){r, s, t}, &shape, NULL);
        def.shape = &shape;
        def.state.position = even(x, HALF);
        def.state.attitude = (vy_quat){uniform(x), q.x, q.y, q.z};
        def.state.velocity = even(x, 10.0);
        if (status != VY_OK || vy_bodies_add(bodies, &def, NULL, NULL) != VY_OK) {
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

static bench_result cast(int tree, int runs)
{
    static vy_ray rays[RAYS];
    static vy_body_hit hits[RAYS];
    bench_result r = {RAYS, 1e300, 0};
    uint64_t x = 29;
    runs = vy_bench_runs(runs);
    for (int run = 0; run < runs; ++run) {
        x = 29;
        vy_bodies *bodies = build(&x);
        if (bodies == NULL) return r;
        for (int i = 0; i < RAYS; ++i) {
            rays[i].origin = even(&x, HALF);
            rays[i].direction = even(&x, 1.0);
            rays[i].t_max = 100.0;
        }
        const double start = clock_seconds();
        if (tree) (void)vy_bodies_prepare_queries(bodies);
        (void)vy_bodies_cast_rays(bodies, rays, RAYS, NULL, hits, NULL);
        const double seconds = clock_seconds() - start;
        if (seconds < r.best_s) r.best_s = seconds;
        vy_bodies_destroy(bodies);
    }
    r.hash = hash_of(hits, RAYS);
    return r;
}

bench_result vy_bench_rays(void) { return cast(1, 9); }
bench_result vy_bench_rays_linear(void) { return cast(0, 5); }

bench_result vy_bench_rays_tree(void)
{
    bench_result r = {(double)BODIES, 1e300, 0};
    uint64_t x = 29;
    vy_bodies *bodies = build(&x);
    if (bodies == NULL) return r;
    (void)vy_bodies_prepare_queries(bodies);
    for (int round = 0; round < TREE_ROUNDS; ++round) {
        (void)vy_bodies_step(bodies);
        const double start = clock_seconds();
        (void)vy_bodies_prepare_queries(bodies);
        const double seconds = clock_seconds() - start;
        if (seconds < r.best_s) r.best_s = seconds;
    }
    vy_body_hit hit;
    const vy_ray ray = {{-HALF, 0.0, 0.0}, {1.0, 0.0, 0.0}, 100.0};
    if (vy_bodies_cast_ray(bodies, &ray, NULL, &hit, NULL) == VY_OK) r.hash = hash_of(&hit, 1);
    vy_bodies_destroy(bodies);
    return r;
}
