// test_contact_threads.c - contacts on several threads: any number of them gives the bits of one.
// VOLERY_CONTACT_THREADS=3 makes it no more than these and a slice of the rest, where threads are slow (make
// thread).
#include "contact_sets.h"
#include "dynamics/contacts.h"
#include "volery/world.h"
#include <stdlib.h>

enum { BODIES = 320, SETTLE = 50, STEPS = 6 };

// The most threads that are asked for; 0: all of it.
static uint32_t slice(void)
{
    const char *asked = getenv("VOLERY_CONTACT_THREADS");
    return asked != NULL ? (uint32_t)atoi(asked) : 0;
}

// Clumps of balls, boxes and capsules of many surfaces that fly towards one another above a floor, fall, heap
// up and bounce: islands begin, merge and part. With a plate, one body has more contacts than there are
// colours.
static vy_bodies *clumps(uint64_t seed, uint32_t threads, int plate)
{
    uint64_t x = seed;
    vy_bodies_def def = vy_default_bodies_def();
    vy_bodies *b = NULL;
    def.dt = 1.0 / 60.0;
    def.contacts.on = 1;
    def.contacts.threads = threads;
    assert_int_equal(vy_bodies_create(&def, &b, NULL), VY_OK);
    const vy_shape floor = plane(vec3_make(0, 0, 1)), wide = box(4.0, 4.0, 0.1);
    vy_shape shapes[3] = {ball(0.2), box(0.2, 0.25, 0.15), {0}};
    assert_int_equal(vy_shape_capsule(0.15, 0.2, &shapes[2], NULL), VY_OK);
    const vy_material ground = {.friction = 0.6, .restitution = 0.3, .rolling = 0.01, .spinning = 0.01};
    if (plate) add(b, VY_BODY_DYNAMIC, &wide, 50.0, vec3_make(2.0, 2.0, 0.1), vec3_zero(), ground);
    for (int i = 0; i < BODIES; ++i) {
        vy_body_def d = vy_default_body_def();
        const int clump = i / 80, side = plate ? 16 : 4, k = plate ? i : i % 80;
        const double u = clump % 2 == 0 ? 1.0 : -1.0, w = clump / 2 == 0 ? 1.0 : -1.0,
                     apart = plate ? 0.0 : 1.4;
        d.shape = &shapes[i % 3];
        d.mass = 0.5 + unit(&x);
        d.material = surface(i % 5 == 0 ? 0.0 : 0.5, i % 2 == 0 ? unit(&x) : 0.0);
        d.material.rolling = i % 4 == 0 ? 0.01 : 0.0;
        d.state.position = vec3_make(0.5 * (k % side) - apart * u + 0.01 * unit(&x),
                                     0.5 * (k / side % side) - apart * w, 0.6 + 0.5 * (k / (side * side)));
        if (!plate) d.state.velocity = vec3_make(2.0 * u, 2.0 * w, 0.0);
        d.state.attitude = unit_turn(&x);
        assert_int_equal(vy_bodies_add(b, &d, NULL, NULL), VY_OK);
    }
    add(b, VY_BODY_STATIC, &floor, 1.0, vec3_zero(), vec3_zero(), ground);
    return b;
}

// Some steps from where the bodies are, or from a snapshot: the hash of each against those of one thread.
static uint32_t run_beside(vy_bodies *b, const void *from, size_t size, uint64_t hashes[STEPS], int first)
{
    uint32_t max_count = 0;
    if (from != NULL) assert_int_equal(vy_bodies_restore(b, from, size, NULL), VY_OK);
    for (int i = 0; i < (slice() > 0 ? 2 : STEPS); ++i) {
        assert_int_equal(vy_bodies_step(b), 0);
        max_count = vy_bodies_contact_count(b) > max_count ? vy_bodies_contact_count(b) : max_count;
        if (first) hashes[i] = vy_bodies_hash(b);
        assert_true(vy_bodies_hash(b) == hashes[i]);
    }
    return max_count;
}

static void threads_give_the_same_bits(void **unused)
{
    (void)unused;
    static const uint32_t counts[] = {1, 2, 3, 8};
    const uint32_t max_count = slice() > 0 ? slice() : 8;
    for (uint64_t seed = slice() > 0 ? 3 : 1; seed <= 4; ++seed) { // the last: some bodies are joined
        uint64_t early[STEPS], late[STEPS];
        void *heap = NULL; // the state when all have met
        size_t size = 0;
        for (int n = 0; n < 4 && counts[n] <= max_count; ++n) {
            if (slice() > 0 && n == 1) continue; // of two and three threads, three
            vy_bodies *b = clumps(seed, counts[n], seed == 3);
            if (seed == 4) join_pairs(b, 100, 160);
            assert_true((b->pool != NULL) == (counts[n] > 1));
            (void)run_beside(b, NULL, 0, early, n == 0);
            if (n == 0) {
                step(b, slice() > 0 ? 15 : SETTLE);
                heap = snapshot_of(b, &size);
            }
            assert_true(run_beside(b, heap, size, late, n == 0) > 300); // or threads have nothing to share
            vy_bodies_destroy(b);
        }
        free(heap);
    }
}

// Bodies that come and go, and snapshots, between steps on threads.
static void threads_take_changes(void **unused)
{
    (void)unused;
    uint64_t hashes[2];
    for (uint32_t threads = 1; threads <= 2; ++threads) {
        vy_bodies *b = clumps(5, threads, 0);
        step(b, 8);
        for (uint32_t i = 0; i < BODIES; i += 9)
            assert_int_equal(vy_bodies_remove(b, vy_bodies_at(b, i)), VY_OK);
        step(b, 4);
        size_t size;
        void *block = snapshot_of(b, &size);
        step(b, 4);
        const uint64_t there = vy_bodies_hash(b);
        assert_int_equal(vy_bodies_restore(b, block, size, NULL), VY_OK);
        step(b, 4);
        assert_true(vy_bodies_hash(b) == there);
        hashes[threads - 1] = there;
        free(block);
        vy_bodies_destroy(b);
    }
    assert_true(hashes[0] == hashes[1]);
}

// Drones without motors that lie on the ground, more than enough of them for threads.
static uint64_t hash_of_landed(uint32_t threads)
{
    enum { DRONES = 300 };
    vy_world_def def = vy_default_world_def();
    vy_world *world = NULL;
    def.contacts.on = 1;
    def.contacts.threads = threads;
    assert_int_equal(vy_world_create(&def, &world, NULL), VY_OK);
    for (int i = 0; i < DRONES; ++i) {
        vy_drone_def d = vy_default_drone_def();
        d.controller.kind = VY_CONTROLLER_NONE;
        d.controller.start = (vy_intent){.rung = VY_RUNG_MOTORS};
        d.rotor_speed = 0.0;
        d.position = vec3_make(0.3 * (i % 20), 0.3 * (i / 20), 0.02);
        assert_int_equal(vy_world_add_drone(world, &d, NULL, NULL), VY_OK);
    }
    const vy_obstacle_def ground = vy_default_obstacle_def();
    assert_int_equal(vy_world_add_obstacle(world, &ground, NULL), VY_OK);
    (void)vy_world_advance(world, 80);
    assert_true(vy_world_contact_count(world) > DRONES / 2);
    const uint64_t hash = vy_world_hash(world);
    vy_world_destroy(world);
    return hash;
}

static void worlds_have_threads_too(void **unused)
{
    (void)unused;
    assert_true(hash_of_landed(2) == hash_of_landed(1));
}

enum { RODS = 30, POSTS = 60, TOUCHING = 5, AT_REST = 20 };

// Rods, far from `posts` or among them, beside bodies that stay. They lie askew: their bounds overlap, they
// do not.
static vy_body_state rod_among_posts(int i)
{
    return (vy_body_state){.position = vec3_make(0.0, 0.0, (double)i),
                           .attitude = {0.9238795325112867, 0.0, 0.0, 0.3826834323650898}};
}

static vy_bodies *set_of_rods(double away, vy_body_id rods[RODS])
{
    const vy_shape rod = box(20.0, 0.05, 0.05), post = box(0.05, 0.05, 60.0), small = ball(0.1),
                   floor = box(9.0, 9.0, 1.0);
    const vy_material plain = surface(0.5, 0.0);
    vy_bodies *b = new_set(0.001, 0.0, 0);
    for (int i = 0; i < RODS; ++i) {
        const vy_body_state among = rod_among_posts(i);
        rods[i] = add(b, VY_BODY_DYNAMIC, &rod, 1.0, among.position, vec3_zero(), plain);
        vy_body_state s = read(b, rods[i]);
        s.attitude = among.attitude;
        s.position.z += away;
        assert_int_equal(vy_body_set_state(b, rods[i], &s), VY_OK);
    }
    for (int i = 0; i < POSTS; ++i)
        add(b, VY_BODY_STATIC, &post, 0.0, vec3_make(-6.0 + 0.05 * i, 5.0, 0.0), vec3_zero(), plain);
    add(b, VY_BODY_STATIC, &floor, 0.0, vec3_make(100.0, 0.0, -0.6), vec3_zero(), plain);
    for (int i = 0; i < TOUCHING; ++i)
        add(b, VY_BODY_DYNAMIC, &small, 1.0, vec3_make(98.0 + i, 0.0, 0.0), vec3_zero(), plain);
    return b;
}

// More pairs in one step than there is memory for: what was found until then is not a multiple of what is
// added at once.
static void pairs_may_exceed_their_memory(void **unused)
{
    (void)unused;
    vy_body_id rods[RODS];
    vy_bodies *sudden = set_of_rods(1000.0, rods), *at_once = set_of_rods(0.0, rods);
    for (int k = 0; k < AT_REST; ++k) { // until the boxes of those that stay are not replaced any longer
        assert_int_equal(vy_bodies_step(sudden), 0);
        assert_int_equal(vy_bodies_step(at_once), 0);
    }
    for (int i = 0; i < RODS; ++i) {
        vy_body_state s = read(sudden, rods[i]);
        s.position = rod_among_posts(i).position;
        assert_int_equal(vy_body_set_state(sudden, rods[i], &s), VY_OK);
    }
    assert_int_equal(vy_bodies_step(sudden), 0);
    assert_int_equal(vy_bodies_step(at_once), 0);
    assert_true(vy_bodies_hash(sudden) == vy_bodies_hash(at_once));
    vy_bodies_destroy(at_once);
    vy_bodies_destroy(sudden);
}

static void too_many_threads_are_refused(void **unused)
{
    (void)unused;
    vy_bodies_def def = vy_default_bodies_def();
    vy_bodies *b = NULL;
    def.contacts.on = 1;
    def.contacts.threads = 1025;
    assert_int_equal(vy_bodies_create(&def, &b, NULL), VY_BAD_VALUE);
    assert_null(b);
    def.contacts.threads = 0; // one per core
    assert_int_equal(vy_bodies_create(&def, &b, NULL), VY_OK);
    vy_bodies_destroy(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_give_the_same_bits),   cmocka_unit_test(threads_take_changes),
        cmocka_unit_test(worlds_have_threads_too),      cmocka_unit_test(pairs_may_exceed_their_memory),
        cmocka_unit_test(too_many_threads_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
