// test_capacity.c - the memory of a world: grown before the first step, whatever the order; no step
// allocates.
#include "flight.h"
#include "motion.h"
#include "volery/fault.h"
#include "volery/payload.h"
#include <errno.h>
#include <stdlib.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)
#define COUNTED 0
#else
#define COUNTED 1
static unsigned long taken;
static int refused; // 1: there is no more memory
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t align, size_t size);
void *malloc(size_t size) { return ++taken, refused ? NULL : __libc_malloc(size); }
void *calloc(size_t count, size_t size) { return ++taken, refused ? NULL : __libc_calloc(count, size); }
void *realloc(void *block, size_t size) { return ++taken, refused ? NULL : __libc_realloc(block, size); }
void *aligned_alloc(size_t align, size_t size)
{
    return ++taken, refused ? NULL : __libc_memalign(align, size);
}
#endif

#define ADD(what, ...) OK_ADD(vy_world_add_##what(__VA_ARGS__, &err_))
#define OK_ADD(call)                                    \
    do {                                                \
        vy_error err_ = {0};                            \
        if ((call) != VY_OK) fail_msg("%s", err_.text); \
    } while (0)

static vy_world_body_def box_at(double x, double z)
{
    vy_world_body_def def = vy_default_world_body_def();
    def.mass = 0.2;
    def.inertia = (vy_mat3){{{2e-4, 0, 0}, {0, 2e-4, 0}, {0, 0, 2e-4}}};
    def.position = (vy_vec3){x, 0.0, z};
    def.solid.kind = VY_COLLIDER_BOX;
    def.solid.size = (vy_vec3){0.1, 0.1, 0.1};
    return def;
}

// Something of everything: drones with a sensor suite, bodies, joints, a payload, noise, faults and
// obstacles. `turn` changes the order in which things without an order among them are added: the arrays grow
// in another order.
static vy_world *crowd(int turn, int contacts)
{
    vy_world_def wd = vy_default_world_def();
    wd.contacts.on = contacts;
    wd.environment.wakes.on = 1;
    vy_world *world = NULL;
    OK_ADD(vy_world_create(&wd, &world, &err_));
    vy_disturbance_def noise = vy_default_disturbance_def();
    noise.kind = VY_DISTURBANCE_NOISE;
    noise.force = (vy_vec3){1e-3, 1e-3, 1e-3};
    if (turn) ADD(disturbance, world, &noise); // for those to come, too
    for (int i = 0; i < 5; ++i) {
        vy_drone_def drone = vy_default_drone_def();
        drone.position = (vy_vec3){i, 1.0, 1.0};
        if (i % 2) (void)vy_gps_preset("neo-m9n", &drone.sensor_suite.gps, NULL);
        if (i % 2) drone.sensor_suite.gps.link.delay = 0.2;
        drone.vehicle.drive.failsafe = i == 3 ? VY_FAILSAFE_CUT : VY_FAILSAFE_NONE;
        drone.vehicle.drive.deadline = i == 3 ? 10.0 : 0.0;
        ADD(drone, world, &drone, NULL);
    }
    for (int i = 0; i < 7; ++i) {
        const vy_world_body_def box = box_at(0.3 * i, 0.4 + 0.12 * (i % 3));
        ADD(body, world, &box, NULL);
    }
    if (!turn) ADD(disturbance, world, &noise);
    const vy_obstacle_def ground = vy_default_obstacle_def();
    if (!turn) ADD(obstacle, world, &ground);
    for (uint32_t i = 0; i < 3; ++i) {
        vy_joint_def cable = vy_default_joint_def();
        cable.kind = VY_JOINT_CABLE;
        cable.length = 0.5;
        cable.body_a = vy_world_body(world, 5 + 2 * i);
        cable.body_b = vy_world_body(world, 6 + 2 * i);
        ADD(joint, world, &cable, NULL);
    }
    vy_payload_def payload = vy_default_payload_def();
    payload.carrier = vy_world_drone(world, 1);
    payload.load = vy_world_body(world, 11);
    payload.position.z = -0.1;
    payload.drop = 0.2;
    ADD(payload, world, &payload);
    vy_fault_def fault = vy_default_fault_def();
    fault.kind = VY_FAULT_COMMAND_DELAY;
    fault.drone = vy_world_drone(world, 2);
    fault.start = 0.1;
    fault.size = 0.02;
    ADD(fault, world, &fault);
    if (turn) ADD(obstacle, world, &ground);
    return world;
}

// The set of bodies is made early or late, arrays grow in one order or another: the same flight.
static void the_order_of_growth_changes_nothing(void **unused)
{
    (void)unused;
    for (int contacts = 0; contacts <= 1; ++contacts) {
        vy_world *a = crowd(0, contacts), *b = crowd(1, contacts);
        assert_int_equal(vy_world_state_size(a), vy_world_state_size(b));
        assert_true(motion_hash(a, 600) == motion_hash(b, 600));
        assert_true(vy_world_hash(a) == vy_world_hash(b));
        assert_int_equal(vy_world_failure(a).reason, VY_FAILURE_NONE);
        vy_world_destroy(b);
        vy_world_destroy(a);
    }
}

static void no_step_allocates(void **unused)
{
    (void)unused;
#if COUNTED
    vy_world *world = crowd(0, 1);
    (void)vy_world_step(world); // a processor's features are asked once
    const unsigned long before = taken;
    assert_true(before > 0);
    (void)vy_world_advance(world, 500);
    assert_true(taken == before);
    assert_int_equal(vy_world_tick(world), 501);
    vy_world_destroy(world);
#else
    skip();
#endif
}

// ---- contacts

enum { PILE = 60, FALLING = 80, SETTLED = 1500 }; // memory grows in steps 64 and 1330

// Boxes that fall onto each other and come to rest. `sleep` [s]: 0, or after how long they sleep.
static vy_world *pile(uint32_t reserve, double sleep)
{
    vy_world_def wd = vy_default_world_def();
    wd.dt = 1.0 / 250.0;
    wd.contacts.on = 1;
    wd.contacts.reserve = reserve;
    wd.contacts.time_to_sleep = sleep;
    vy_world *world = NULL;
    OK_ADD(vy_world_create(&wd, &world, &err_));
    for (int i = 0; i < PILE; ++i) {
        vy_world_body_def box = box_at(0.11 * (i % 4), 0.06 + 0.15 * (i / 8));
        box.position.y = 0.11 * (i / 4 % 2);
        ADD(body, world, &box, NULL);
    }
    const vy_obstacle_def ground = vy_default_obstacle_def();
    ADD(obstacle, world, &ground);
    return world;
}

#if COUNTED
// Boxes pressed into one another on all sides: more contacts than memory is taken for at first.
static vy_world *wall(void)
{
    vy_world_def wd = vy_default_world_def();
    wd.dt = 1.0 / 250.0;
    wd.contacts.on = 1;
    vy_world *world = NULL;
    OK_ADD(vy_world_create(&wd, &world, &err_));
    for (int i = 0; i < 216; ++i) {
        vy_world_body_def box = box_at(0.099 * (i % 6), 0.05 + 0.1 * (i / 36));
        box.position.y = 0.099 * (i / 6 % 6);
        ADD(body, world, &box, NULL);
    }
    const vy_obstacle_def ground = vy_default_obstacle_def();
    ADD(obstacle, world, &ground);
    return world;
}
#endif

static void *saved(const vy_world *world, size_t *size)
{
    *size = vy_world_state_size(world);
    void *block = malloc(*size);
    assert_non_null(block);
    vy_world_save(world, block);
    return block;
}

// The same world with memory reserved for other numbers of contacts: the same hashes, the same snapshots, and
// each goes on from the other's.
static void reserved_memory_changes_nothing(void **unused)
{
    (void)unused;
    static const uint32_t reserves[] = {0, 17, 5000};
    for (int sleeps = 0; sleeps <= 1; ++sleeps) {
        vy_world *first = pile(1000, sleeps ? 0.1 : 0.0);
        void *blocks[3];
        size_t sizes[3], largest = 0;
        uint64_t hashes[3], last;
        for (int k = 0; k < 3; ++k) {
            (void)vy_world_advance(first, k == 0 ? FALLING : 150);
            hashes[k] = vy_world_hash(first);
            blocks[k] = saved(first, &sizes[k]);
            largest = sizes[k] > largest ? sizes[k] : largest;
        }
        (void)vy_world_advance(first, 100);
        last = vy_world_hash(first);
        assert_true(largest > sizes[0]); // there are more contacts at the end than at the start
        for (size_t r = 0; r < sizeof reserves / sizeof reserves[0]; ++r) {
            vy_world *world = pile(reserves[r], sleeps ? 0.1 : 0.0),
                     *late = pile(reserves[r], sleeps ? 0.1 : 0.0);
            for (int k = 0; k < 3; ++k) {
                (void)vy_world_advance(world, k == 0 ? FALLING : 150);
                assert_true(vy_world_hash(world) == hashes[k]);
                assert_true(vy_world_state_size(world) == sizes[k]);
                size_t size;
                void *block = saved(world, &size);
                assert_memory_equal(block, blocks[k], size);
                free(block);
            }
            assert_int_equal(vy_world_restore(late, blocks[2], sizes[2], NULL), VY_OK); // it grows at once
            assert_true(vy_world_state_hash(late) == vy_world_state_hash(world));
            (void)vy_world_advance(late, 100);
            assert_true(vy_world_hash(late) == last);
            assert_int_equal(vy_world_restore(late, blocks[0], sizes[0], NULL), VY_OK); // and back
            (void)vy_world_advance(late, 400);
            assert_true(vy_world_hash(late) == last);
            vy_world_destroy(late);
            vy_world_destroy(world);
        }
        for (int k = 0; k < 3; ++k) free(blocks[k]);
        vy_world_destroy(first);
    }
}

static void a_settled_pile_allocates_nothing(void **unused)
{
    (void)unused;
#if COUNTED
    for (int sleeps = 0; sleeps <= 1; ++sleeps) {
        vy_world *world = pile(0, sleeps ? 0.2 : 0.0), *reserving = pile(5000, sleeps ? 0.2 : 0.0);
        (void)vy_world_step(world); // a processor's features are asked once
        unsigned long before = taken;
        (void)vy_world_advance(world, SETTLED);
        assert_true(taken > before && taken - before < 20); // it grows, by half or more at a time
        before = taken;
        (void)vy_world_advance(world, 500);
        (void)vy_world_advance(reserving, SETTLED); // and with memory reserved none ever does
        assert_true(taken == before);
        assert_int_equal(vy_world_failure(world).reason, VY_FAILURE_NONE);
        assert_true(vy_world_hash(reserving) != vy_world_hash(world));
        (void)vy_world_advance(reserving, 501);
        assert_true(vy_world_hash(reserving) == vy_world_hash(world));
        vy_world_destroy(reserving);
        vy_world_destroy(world);
    }
#else
    skip();
#endif
}

// Without memory for its contacts a world ends and says why; restored, it goes on as if nothing had happened.
static void without_memory_a_world_ends(void **unused)
{
    (void)unused;
#if COUNTED
    vy_world *world = pile(0, 0.0);
    (void)vy_world_advance(world, 2);
    size_t size;
    void *block = saved(world, &size);
    (void)vy_world_advance(world, FALLING);
    const uint64_t hash = vy_world_hash(world);
    vy_world *other = pile(0, 0.0);
    (void)vy_world_advance(other, 2);
    refused = 1;
    const uint32_t events = vy_world_advance(other, FALLING);
    refused = 0;
    assert_true((events & VY_EVENT_FAILED) != 0);
    const vy_failure failure = vy_world_failure(other);
    char text[128];
    assert_int_equal(failure.reason, VY_FAILURE_NO_MEMORY);
    assert_string_equal(vy_failure_name(failure.reason), "no_memory");
    vy_failure_print(&failure, "box", text, sizeof text);
    assert_non_null(strstr(text, "there was no memory for all contacts"));
    assert_true((vy_world_step(other) & VY_EVENT_FAILED) != 0); // it has ended
    assert_int_equal(vy_world_restore(other, block, size, NULL), VY_OK);
    (void)vy_world_advance(other, FALLING);
    assert_true(vy_world_hash(other) == hash);
    // A snapshot with more contacts than there is memory for is refused, and nothing changes.
    vy_world_destroy(other);
    other = wall();
    vy_world *third = wall();
    const uint64_t start = vy_world_state_hash(third);
    (void)vy_world_advance(other, 3);
    free(block);
    block = saved(other, &size);
    vy_error err = {0};
    refused = 1;
    assert_int_equal(vy_world_restore(third, block, size, &err), VY_NO_MEMORY);
    refused = 0;
    assert_non_null(strstr(err.text, "no memory for"));
    assert_true(vy_world_state_hash(third) == start);
    assert_int_equal(vy_world_restore(third, block, size, &err), VY_OK);
    free(block);
    vy_world_destroy(third);
    vy_world_destroy(other);
    vy_world_destroy(world);
#else
    skip();
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_order_of_growth_changes_nothing),
        cmocka_unit_test(no_step_allocates),
        cmocka_unit_test(reserved_memory_changes_nothing),
        cmocka_unit_test(a_settled_pile_allocates_nothing),
        cmocka_unit_test(without_memory_a_world_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
