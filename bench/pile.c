// pile.c - boxes of half a metre, tumbled, dropped onto a floor in blocks about as high as they are wide.
#define _POSIX_C_SOURCE 200809L
#include "bench/pile.h"
#include "bench/clock.h"
#include "volery/bodies.h"
#include "volery/joint.h"
#include <math.h>
#include <stddef.h>

enum { STEPS = 240 }; // of 1/60 s: the fall, the heap, and the rest
enum { HEAPS_IN_A_ROW = 10 };
#define HEAPS_APART 12.0 // [m]

/// Boxes, in heaps of so many.
typedef struct pile {
    uint32_t count, heap;
    int joined;   // 1: two and two, by a ball between them
    double speed; // [m/s] of every tenth, in any direction
} pile;

/// 0 ... 1, the same on every machine.
static double uniform(uint64_t *x)
{
    *x = *x * 6364136223846793005u + 1442695040888963407u;
    return (double)(*x >> 11) * 0x1p-53;
}

static int add_boxes(vy_bodies *bodies, const pile *p)
{
    uint64_t x = 2024;
    uint32_t side = 1;
    while (side * side * side < p->heap) ++side;
    vy_shape box;
    vy_body_def def = vy_default_body_def();
    def.shape = &box;
    if (vy_shape_box((vy_vec3){0.25, 0.25, 0.25}, &box, NULL) != VY_OK) return 0;
    for (uint32_t i = 0; i < p->count; ++i) {
        const uint32_t heap = i / p->heap, line = heap / HEAPS_IN_A_ROW, k = i % p->heap;
        const uint32_t column = k % side, row = k / side % side, layer = k / (side * side);
        const double east = HEAPS_APART * (heap % HEAPS_IN_A_ROW), north = HEAPS_APART * line;
        def.state.position = (vy_vec3){east + (0.9 * column + 0.02 * uniform(&x)),
                                       north + (0.9 * row + 0.02 * uniform(&x)), 0.5 + 0.9 * layer};
        def.state.attitude =
            (vy_quat){2.0 * uniform(&x) - 1.0, 2.0 * uniform(&x) - 1.0, 2.0 * uniform(&x) - 1.0, uniform(&x)};
        def.state.velocity = (vy_vec3){0.0, 0.0, 0.0};
        if (p->speed > 0.0 && i % 10 == 0) {
            const vy_vec3 u = {uniform(&x) - 0.5, uniform(&x) - 0.5, uniform(&x) - 0.5};
            const double scale = p->speed / sqrt(u.x * u.x + u.y * u.y + u.z * u.z);
            def.state.velocity = (vy_vec3){scale * u.x, scale * u.y, scale * u.z};
        }
        if (vy_bodies_add(bodies, &def, NULL, NULL) != VY_OK) return 0;
    }
    return 1;
}

static int join_boxes(vy_bodies *bodies, uint32_t count)
{
    for (uint32_t i = 0; i + 1 < count; i += 2) {
        const vy_body_id a = vy_bodies_at(bodies, i), b = vy_bodies_at(bodies, i + 1);
        vy_body_state x, y;
        vy_joint_def def = vy_default_joint_def();
        def.kind = VY_JOINT_BALL;
        if (vy_body_read(bodies, a, &x) != VY_OK || vy_body_read(bodies, b, &y) != VY_OK) return 0;
        const vy_vec3 middle = {0.5 * (x.position.x + y.position.x), 0.5 * (x.position.y + y.position.y),
                                0.5 * (x.position.z + y.position.z)};
        if (vy_joint_set_frames(bodies, a, b, middle, (vy_vec3){0.0, 0.0, 1.0}, &def) != VY_OK ||
            vy_bodies_add_joint(bodies, &def, NULL, NULL) != VY_OK)
            return 0;
    }
    return 1;
}

static vy_bodies *build(const pile *p, uint32_t threads, double sleep)
{
    vy_bodies_def set = vy_default_bodies_def();
    set.dt = 1.0 / 60.0;
    set.contacts.on = 1;
    set.contacts.threads = threads;
    set.contacts.time_to_sleep = sleep;
    vy_bodies *bodies = NULL;
    if (vy_bodies_create(&set, &bodies, NULL) != VY_OK) return NULL;
    vy_shape floor;
    vy_body_def ground = vy_default_body_def();
    ground.kind = VY_BODY_STATIC;
    ground.shape = &floor;
    if (vy_shape_plane((vy_vec3){0.0, 0.0, 1.0}, 0.0, &floor, NULL) != VY_OK || !add_boxes(bodies, p) ||
        vy_bodies_add(bodies, &ground, NULL, NULL) != VY_OK || (p->joined && !join_boxes(bodies, p->count))) {
        vy_bodies_destroy(bodies);
        return NULL;
    }
    return bodies;
}

/// One run. Returns its seconds by `now`, 1e300 when there was no memory for it.
static double drop_once(const pile *p, uint32_t threads, double (*now)(void), uint64_t *hash)
{
    vy_bodies *bodies = build(p, threads, 0.0);
    if (bodies == NULL) return 1e300;
    const double start = now();
    for (int i = 0; i < STEPS; ++i) (void)vy_bodies_step(bodies);
    const double seconds = now() - start;
    *hash = vy_bodies_hash(bodies);
    vy_bodies_destroy(bodies);
    return seconds;
}

static bench_result drop_pile(const pile *p, int runs)
{
    bench_result r = {(double)p->count * STEPS, 1e300, 0};
    runs = vy_bench_runs(runs);
    for (int run = 0; run < runs; ++run) {
        const double seconds = drop_once(p, 1, clock_seconds, &r.hash);
        if (seconds < r.best_s) r.best_s = seconds;
    }
    return r;
}

static bench_result drop(uint32_t count, uint32_t heap, int runs)
{
    return drop_pile(&(pile){.count = count, .heap = heap}, runs);
}

bench_result vy_bench_pile_100(void) { return drop(100, 100, 9); }
bench_result vy_bench_pile_1000(void) { return drop(1000, 1000, 3); }
bench_result vy_bench_pile_10000(void) { return drop(10000, 10000, 1); }
bench_result vy_bench_pile_joined(void)
{
    return drop_pile(&(pile){.count = 100, .heap = 100, .joined = 1}, 5);
}
bench_result vy_bench_pile_fast(void)
{
    return drop_pile(&(pile){.count = 1000, .heap = 1000, .speed = 50.0}, 3);
}
bench_result vy_bench_heaps_1000(void) { return drop(1000, 100, 3); }
bench_result vy_bench_heaps_10000(void) { return drop(10000, 100, 1); }

// One and two threads in turn, so that both meet the same machine. The count is one thread's best time.
bench_result vy_bench_pile_threads(void)
{
    const pile p = {.count = 1000, .heap = 1000};
    bench_result r = {1e300, 1e300, 0};
    uint64_t hash = 0;
    const int runs = vy_bench_runs(7);
    for (int run = 0; run < runs; ++run) {
        const double one = drop_once(&p, 1, clock_wall_seconds, &hash);
        const double two = drop_once(&p, 2, clock_wall_seconds, &r.hash);
        if (one < r.count) r.count = one;
        if (two < r.best_s) r.best_s = two;
        if (hash != r.hash) r.hash = 0;
    }
    return r;
}

// Dropped, left until the last one sleeps, and then for many steps more, which are what is measured.
bench_result vy_bench_pile_asleep(void)
{
    enum { COUNT = 1000, RUNS = 3, ASLEEP_STEPS = 24000, SETTLE_STEPS = 2400 };
    bench_result r = {(double)COUNT * ASLEEP_STEPS, 1e300, 0};
    vy_bodies *bodies = build(&(pile){.count = COUNT, .heap = COUNT}, 1, 0.5);
    if (bodies == NULL) return r;
    for (int i = 0; i < SETTLE_STEPS && vy_bodies_asleep(bodies) < COUNT; ++i) (void)vy_bodies_step(bodies);
    if (vy_bodies_asleep(bodies) < COUNT) r.count = 0.0; // somebody is still awake: that is no measurement
    for (int run = 0; run < RUNS; ++run) {
        const double start = clock_seconds();
        for (int i = 0; i < ASLEEP_STEPS; ++i) (void)vy_bodies_step(bodies);
        const double seconds = clock_seconds() - start;
        if (seconds < r.best_s) r.best_s = seconds;
    }
    r.hash = vy_bodies_hash(bodies);
    vy_bodies_destroy(bodies);
    return r;
}
