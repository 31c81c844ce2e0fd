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
#define HEAP_SPACING 12.0 // [m]

/// Boxes to drop: how many, and how many of them make a heap.
typedef struct pile {
    uint32_t count, heap_size;
    int joined;   // 1: in pairs, by a ball joint
    double speed; // [m/s] of every tenth box, in a random direction; 0: all begin at rest
} pile;

/// 0 ... 1, the same on every machine.
static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) * 0x1p-53;
}

static int add_boxes(vy_bodies *bodies, const pile *p)
{
    uint64_t random_state = 2024;
    uint32_t boxes_per_side = 1;
    while (boxes_per_side * boxes_per_side * boxes_per_side < p->heap_size) ++boxes_per_side;
    vy_shape box;
    vy_body_def def = vy_default_body_def();
    def.shape = &box;
    if (vy_shape_box((vy_vec3){0.25, 0.25, 0.25}, &box, NULL) != VY_OK) return 0;
    for (uint32_t i = 0; i < p->count; ++i) {
        const uint32_t heap = i / p->heap_size, heap_row = heap / HEAPS_IN_A_ROW,
                       number_in_heap = i % p->heap_size;
        const uint32_t column = number_in_heap % boxes_per_side,
                       row = number_in_heap / boxes_per_side % boxes_per_side,
                       layer = number_in_heap / (boxes_per_side * boxes_per_side);
        const double east = HEAP_SPACING * (heap % HEAPS_IN_A_ROW), north = HEAP_SPACING * heap_row;
        def.state.position =
            (vy_vec3){east + (0.9 * column + 0.02 * uniform(&random_state)),
                      north + (0.9 * row + 0.02 * uniform(&random_state)), 0.5 + 0.9 * layer};
        def.state.attitude = (vy_quat){2.0 * uniform(&random_state) - 1.0, 2.0 * uniform(&random_state) - 1.0,
                                       2.0 * uniform(&random_state) - 1.0, uniform(&random_state)};
        def.state.velocity = (vy_vec3){0.0, 0.0, 0.0};
        if (p->speed > 0.0 && i % 10 == 0) {
            const vy_vec3 direction = {uniform(&random_state) - 0.5, uniform(&random_state) - 0.5,
                                       uniform(&random_state) - 0.5};
            const double scale = p->speed / sqrt(direction.x * direction.x + direction.y * direction.y +
                                                 direction.z * direction.z);
            def.state.velocity = (vy_vec3){scale * direction.x, scale * direction.y, scale * direction.z};
        }
        if (vy_bodies_add(bodies, &def, NULL, NULL) != VY_OK) return 0;
    }
    return 1;
}

static int join_boxes(vy_bodies *bodies, uint32_t count)
{
    for (uint32_t i = 0; i + 1 < count; i += 2) {
        const vy_body_id a = vy_bodies_at(bodies, i), b = vy_bodies_at(bodies, i + 1);
        vy_body_state state_a, state_b;
        vy_joint_def def = vy_default_joint_def();
        def.kind = VY_JOINT_BALL;
        if (vy_body_read(bodies, a, &state_a) != VY_OK || vy_body_read(bodies, b, &state_b) != VY_OK)
            return 0;
        const vy_vec3 middle = {0.5 * (state_a.position.x + state_b.position.x),
                                0.5 * (state_a.position.y + state_b.position.y),
                                0.5 * (state_a.position.z + state_b.position.z)};
        if (vy_joint_set_frames(bodies, a, b, middle, (vy_vec3){0.0, 0.0, 1.0}, &def) != VY_OK ||
            vy_bodies_add_joint(bodies, &def, NULL, NULL) != VY_OK)
            return 0;
    }
    return 1;
}

static vy_bodies *build(const pile *p, uint32_t threads, double time_to_sleep)
{
    vy_bodies_def def = vy_default_bodies_def();
    def.dt = 1.0 / 60.0;
    def.contacts.on = 1;
    def.contacts.threads = threads;
    def.contacts.time_to_sleep = time_to_sleep;
    vy_bodies *bodies = NULL;
    if (vy_bodies_create(&def, &bodies, NULL) != VY_OK) return NULL;
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

/// One run. Returns its seconds by `read_clock`, 1e300 when there was no memory for it.
static double time_drop(const pile *p, uint32_t threads, double (*read_clock)(void), uint64_t *hash)
{
    vy_bodies *bodies = build(p, threads, 0.0);
    if (bodies == NULL) return 1e300;
    const double start = read_clock();
    for (int i = 0; i < STEPS; ++i) (void)vy_bodies_step(bodies);
    const double seconds = read_clock() - start;
    *hash = vy_bodies_hash(bodies);
    vy_bodies_destroy(bodies);
    return seconds;
}

static bench_result drop_pile(const pile *p, int runs)
{
    bench_result result = {(double)p->count * STEPS, 1e300, 0};
    runs = vy_bench_runs(runs);
    for (int run = 0; run < runs; ++run) {
        const double seconds = time_drop(p, 1, clock_seconds, &result.hash);
        if (seconds < result.best_s) result.best_s = seconds;
    }
    return result;
}

static bench_result drop_heaps(uint32_t count, uint32_t heap_size, int runs)
{
    return drop_pile(&(pile){.count = count, .heap_size = heap_size}, runs);
}

bench_result vy_bench_pile_100(void) { return drop_heaps(100, 100, 9); }
bench_result vy_bench_pile_1000(void) { return drop_heaps(1000, 1000, 3); }
bench_result vy_bench_pile_10000(void) { return drop_heaps(10000, 10000, 1); }
bench_result vy_bench_pile_joined(void)
{
    return drop_pile(&(pile){.count = 100, .heap_size = 100, .joined = 1}, 5);
}
bench_result vy_bench_pile_fast(void)
{
    return drop_pile(&(pile){.count = 1000, .heap_size = 1000, .speed = 50.0}, 3);
}
bench_result vy_bench_heaps_1000(void) { return drop_heaps(1000, 100, 3); }
bench_result vy_bench_heaps_10000(void) { return drop_heaps(10000, 100, 1); }

// One and two threads in turn, so that both meet the same machine. The count is one thread's best time.
bench_result vy_bench_pile_threads(void)
{
    const pile p = {.count = 1000, .heap_size = 1000};
    bench_result result = {1e300, 1e300, 0};
    uint64_t hash_1 = 0;
    const int runs = vy_bench_runs(7);
    for (int run = 0; run < runs; ++run) {
        const double seconds_1 = time_drop(&p, 1, clock_wall_seconds, &hash_1);
        const double seconds_2 = time_drop(&p, 2, clock_wall_seconds, &result.hash);
        if (seconds_1 < result.count) result.count = seconds_1;
        if (seconds_2 < result.best_s) result.best_s = seconds_2;
        if (hash_1 != result.hash) result.hash = 0;
    }
    return result;
}

// Dropped, left until the last one sleeps, and then for many steps more, which are what is measured.
bench_result vy_bench_pile_asleep(void)
{
    enum { COUNT = 1000, RUNS = 3, ASLEEP_STEPS = 24000, SETTLE_STEPS = 2400 };
    bench_result result = {(double)COUNT * ASLEEP_STEPS, 1e300, 0};
    vy_bodies *bodies = build(&(pile){.count = COUNT, .heap_size = COUNT}, 1, 0.5);
    if (bodies == NULL) return result;
    for (int i = 0; i < SETTLE_STEPS && vy_bodies_asleep(bodies) < COUNT; ++i) (void)vy_bodies_step(bodies);
    if (vy_bodies_asleep(bodies) < COUNT)
        result.count = 0.0; // somebody is still awake: that is no measurement
    for (int run = 0; run < RUNS; ++run) {
        const double start = clock_seconds();
        for (int i = 0; i < ASLEEP_STEPS; ++i) (void)vy_bodies_step(bodies);
        const double seconds = clock_seconds() - start;
        if (seconds < result.best_s) result.best_s = seconds;
    }
    result.hash = vy_bodies_hash(bodies);
    vy_bodies_destroy(bodies);
    return result;
}
