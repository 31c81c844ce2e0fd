// test_sleep_world.c - bodies of a world that sleep beside drones that never do.
#include "flight.h"
#include "record/log.h"
#include "volery/payload.h"
#include "world/world_impl.h"
#include <stdlib.h>

#define DT 2e-3
#define G  9.80665
enum { SOON = 400 }; // steps in which everything comes to rest here

static vy_world *world_of(uint32_t threads, double sleep)
{
    vy_world_def def = vy_default_world_def();
    vy_world *world = NULL;
    vy_error err = {0};
    def.dt = DT;
    def.contacts.on = 1;
    def.contacts.threads = threads;
    def.contacts.time_to_sleep = sleep;
    if (vy_world_create(&def, &world, &err) != VY_OK) fail_msg("%s", err.text);
    return world;
}

static vy_drone_id put_box(vy_world *world, double x, double y, double z)
{
    vy_drone_def def = passive_body();
    vy_drone_id id;
    vy_error err = {0};
    def.vehicle.inertia = (vy_mat3){{{0.01, 0, 0}, {0, 0.01, 0}, {0, 0, 0.01}}};
    def.vehicle.cd = def.vehicle.cl = def.vehicle.volume = 0.0;
    def.vehicle.damping_area = def.vehicle.damping = (vy_vec3){0, 0, 0};
    def.position = (vy_vec3){x, y, z};
    def.solid.kind = VY_COLLIDER_BOX;
    def.solid.size = (vy_vec3){0.2, 0.2, 0.2};
    if (vy_world_add_drone(world, &def, &id, &err) != VY_OK) fail_msg("%s", err.text);
    return id;
}

static void put_ground(vy_world *world)
{
    const vy_obstacle_def ground = vy_default_obstacle_def();
    assert_int_equal(vy_world_add_obstacle(world, &ground, NULL), VY_OK);
}

static uint32_t asleep(const vy_world *world)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < world->model.drone_count; ++i) n += state_of(world, i).asleep != 0;
    return n;
}

// A stack and a drone without power beside it, with and without sleep: the same bits until the stack sleeps.
// It lies still then, the floor carries it, and the account of energy stays closed. The drone never sleeps.
static void stacks_sleep(void **unused)
{
    (void)unused;
    vy_world *worlds[2];
    for (int k = 0; k < 2; ++k) {
        worlds[k] = world_of(1, k == 0 ? 0.25 : 0.0);
        for (int i = 0; i < 3; ++i) (void)put_box(worlds[k], 0.0, 0.0, 0.12 + 0.21 * i);
        vy_drone_def drone = vy_default_drone_def();
        drone.controller.kind = VY_CONTROLLER_NONE;
        drone.controller.start = (vy_intent){.rung = VY_RUNG_MOTORS};
        drone.rotor_speed = 0.0;
        drone.position = (vy_vec3){2.0, 0.0, 0.05};
        assert_int_equal(vy_world_add_drone(worlds[k], &drone, NULL, NULL), VY_OK);
        put_ground(worlds[k]);
        vy_world_track_energy(worlds[k]);
    }
    int steps = 0;
    for (; asleep(worlds[0]) == 0; ++steps) {
        assert_true(steps < SOON);
        for (uint32_t i = 0; i < 4; ++i)
            assert_memory_equal(&worlds[0]->drones[i].body, &worlds[1]->drones[i].body, sizeof(body_state));
        (void)vy_world_step(worlds[0]);
        (void)vy_world_step(worlds[1]);
    }
    assert_int_equal(asleep(worlds[0]), 3);
    body_state before[3];
    for (int i = 0; i < 3; ++i) before[i] = worlds[0]->drones[i].body;
    assert_int_equal(vy_world_keep_loads(worlds[0], 1, NULL), VY_OK);
    for (int n = 0; n < 500; ++n) {
        (void)vy_world_step(worlds[0]);
        for (uint32_t i = 0; i < 3; ++i) {
            assert_memory_equal(&worlds[0]->drones[i].body, &before[i], sizeof before[i]);
            assert_true(vec3_length(state_of(worlds[0], i).velocity) == 0.0);
        }
    }
    vy_loads loads;
    assert_int_equal(vy_world_read_loads(worlds[0], vy_world_body(worlds[0], 0), &loads), VY_OK);
    assert_true(fabs(loads.contact_force.z - 1.0 * G) < 1e-6 * G); // its own weight is all that is left to it
    assert_int_equal(state_of(worlds[0], 0).touching, 2);
    assert_int_equal(state_of(worlds[0], 0).contacts, state_of(worlds[1], 0).contacts);
    for (uint32_t i = 0; i < 4; ++i) {
        vy_energy e;
        assert_int_equal(vy_world_read_energy(worlds[0], vy_world_body(worlds[0], i), &e), VY_OK);
        assert_true(fabs(e.residual) < 1e-9 * (1.0 + e.exchanged));
        assert_int_equal(state_of(worlds[0], i).asleep, i < 3);
    }
    vy_world_destroy(worlds[0]);
    vy_world_destroy(worlds[1]);
}

// A slow swing of force that friction holds at first and then does not: the box that sleeps in between goes
// as far as the one that never does.
static void forces_that_change_wake(void **unused)
{
    (void)unused;
    double x[2], slept = 0.0;
    for (int k = 0; k < 2; ++k) {
        vy_world *world = world_of(1, k == 0 ? 0.5 : 0.0);
        const vy_drone_id one = put_box(world, 0.0, 0.0, 0.1);
        (void)put_box(world, 3.0, 0.0, 0.1);
        put_ground(world);
        vy_disturbance_def d = vy_default_disturbance_def();
        d.kind = VY_DISTURBANCE_SINUSOID;
        d.body = vy_world_drone_body(world, one);
        d.force = (vy_vec3){6.0, 0.0, 0.0}; // friction holds 0.5 G of 1 kg
        d.frequency = 0.1;
        assert_int_equal(vy_world_add_disturbance(world, &d, NULL), VY_OK);
        for (int n = 0; n < 1400; ++n) {
            (void)vy_world_step(world);
            slept += (double)state_of(world, 0).asleep;
        }
        x[k] = state_of(world, 0).position.x;
        if (k == 0) assert_int_equal(state_of(world, 1).asleep, 1); // nobody pushes that one
        vy_world_destroy(world);
    }
    assert_true(x[1] > 0.1 && slept > 2.0);
    assert_true(fabs(x[0] - x[1]) < 0.04 * x[1]); // it woke up to 0.1 N late
}

// A flying box hits the upper one of a stack; from snapshots of any moment the same bits follow.
static void snapshots_keep_sleep(void **unused)
{
    (void)unused;
    vy_world *world = world_of(1, 0.2);
    for (int i = 0; i < 2; ++i) (void)put_box(world, 0.0, 0.0, 0.1 + 0.2 * i);
    for (int i = 0; i < 2; ++i) (void)put_box(world, 0.0, 1.0, 0.1 + 0.2 * i);
    (void)put_box(world, 0.0, 0.0, 3.0); // it falls 2.5 m
    put_ground(world);
    unsigned char *block = NULL;
    size_t size = 0;
    int asleep_then = 0, woke = 0;
    for (int round = 0; round < 14; ++round) {
        uint64_t hashes[50];
        size = vy_world_state_size(world);
        block = realloc(block, size);
        assert_non_null(block);
        vy_world_save(world, block);
        const uint32_t before = asleep(world);
        asleep_then += before > 0;
        for (int i = 0; i < 50; ++i) {
            (void)vy_world_step(world);
            hashes[i] = vy_world_hash(world);
        }
        woke += asleep(world) < before;
        if (before == 4 && asleep(world) == 2) { // the stack beside it sleeps on
            assert_true(state_of(world, 2).asleep && state_of(world, 3).asleep);
        }
        assert_int_equal(vy_world_restore(world, block, size, NULL), VY_OK);
        assert_int_equal(asleep(world), before);
        for (int i = 0; i < 50; ++i) {
            (void)vy_world_step(world);
            assert_true(hashes[i] == vy_world_hash(world));
        }
    }
    assert_true(asleep_then > 3 && woke > 0);
    const size_t at = (size_t)((unsigned char *)world->sleep - (unsigned char *)world->state);
    const uint64_t nobody = 7;
    memcpy(block + at + 8, &nobody, sizeof nobody);
    assert_int_equal(vy_world_restore(world, block, size, NULL), VY_BAD_VALUE);
    free(block);
    vy_world_destroy(world);
}

// What differs between two states is named, in the blocks of sleep too.
static void differences_are_named(void **unused)
{
    (void)unused;
    vy_world *world = world_of(1, 0.05);
    (void)put_box(world, 0.0, 0.0, 0.1);
    (void)put_box(world, 0.0, 0.0, 0.3);
    put_ground(world);
    (void)vy_world_advance(world, 60);
    assert_int_equal(asleep(world), 2);
    const uint64_t *awake_pairs = vy_entry_count(world->state, BLOCK_contact),
                   *sleeping_pairs = vy_entry_count(world->state, BLOCK_sleeping_contact);
    assert_true(*awake_pairs == 0 && *sleeping_pairs == 2);
    const size_t size = vy_world_state_size(world);
    unsigned char *a = malloc(size), *b = malloc(size);
    const struct {
        const void *cell;
        const char *name;
    } cells[] = {
        {&world->sleep[1].ticks, "sleep[1].ticks"},
        {&world->sleep[0].torque[2], "sleep[0].torque.z"},
        {(const char *)world->state + world->state_size + sizeof(contact_block), "sleeping_contacts[1].pair"},
        {&world->contact_totals[1].now, "contact_totals[1].now"}};
    for (size_t k = 0; k < sizeof cells / sizeof cells[0]; ++k) {
        vy_difference d = {0};
        vy_world_save(world, a);
        vy_world_save(world, b);
        b[(const unsigned char *)cells[k].cell - (const unsigned char *)world->state] ^= 1;
        assert_true(vy_state_compare(a, size, b, size, &d));
        assert_string_equal(d.field, cells[k].name);
    }
    // One pair fewer: all other blocks still lie where they should.
    vy_difference d = {0};
    vy_world_save(world, b);
    *vy_entry_count(b, BLOCK_sleeping_contact) = 1;
    assert_true(vy_state_compare(a, size, b, size - sizeof(contact_block), &d));
    assert_string_equal(d.field, "sleeping_contacts.count");
    assert_true(d.integer_a == 2 && d.integer_b == 1);
    free(a);
    free(b);
    vy_world_destroy(world);
}

// A snapshot with sleeping bodies goes on with the same bits in a world that has never been stepped.
static void snapshots_sleep_on_in_a_new_world(void **unused)
{
    (void)unused;
    vy_world *worlds[2];
    for (int k = 0; k < 2; ++k) {
        worlds[k] = world_of(1, 0.05);
        (void)put_box(worlds[k], 0.0, 0.0, 0.1);
        (void)put_box(worlds[k], 0.0, 0.0, 0.3);
        put_ground(worlds[k]);
    }
    (void)vy_world_advance(worlds[0], 60);
    assert_int_equal(asleep(worlds[0]), 2);
    const size_t size = vy_world_state_size(worlds[0]);
    void *block = malloc(size);
    assert_non_null(block);
    vy_world_save(worlds[0], block);
    assert_int_equal(vy_world_restore(worlds[1], block, size, NULL), VY_OK);
    for (int k = 0; k < 2; ++k) (void)vy_world_advance(worlds[k], 20);
    assert_true(vy_world_hash(worlds[0]) == vy_world_hash(worlds[1]));
    assert_int_equal(asleep(worlds[1]), 2);
    free(block);
    for (int k = 0; k < 2; ++k) vy_world_destroy(worlds[k]);
}

static void threads_give_the_same_bits(void **unused)
{
    (void)unused;
    enum { BOXES = 144 };
    static const uint32_t counts[] = {1, 2, 3, 8};
    uint64_t hash = 0;
    for (int n = 0; n < 4; ++n) {
        vy_world *world = world_of(counts[n], 0.02);
        for (int i = 0; i < BOXES; ++i) (void)put_box(world, 0.3 * (i % 12), 0.3 * (i / 12), 0.1);
        (void)put_box(world, 1.5, 1.5, 0.32);
        put_ground(world);
        (void)vy_world_advance(world, 12);
        assert_int_equal(asleep(world), BOXES);
        (void)vy_world_advance(world, 23);
        assert_true(asleep(world) < BOXES); // the last one has fallen on somebody
        hash = n == 0 ? vy_world_hash(world) : hash;
        assert_true(hash == vy_world_hash(world));
        vy_world_destroy(world);
    }
}

// Two boxes on a joint sleep as one; a drone takes up the lower box of a stack, and the upper one falls.
static void joints_and_payloads(void **unused)
{
    (void)unused;
    vy_world *world = world_of(1, 0.1);
    vy_drone_def drone = vy_default_drone_def();
    drone.controller.kind = VY_CONTROLLER_NONE;
    drone.controller.start = (vy_intent){.rung = VY_RUNG_MOTORS};
    drone.rotor_speed = 0.0;
    drone.solid.kind = VY_COLLIDER_NONE;
    drone.position = (vy_vec3){0.3, 0.0, 5.0};
    drone.vehicle.mass = 100.0; // it falls; the box has no say
    const vy_drone_id low = put_box(world, 0.0, 0.0, 0.1), top = put_box(world, 0.0, 0.0, 0.3);
    const vy_drone_id a = put_box(world, 2.0, 0.0, 0.1), b = put_box(world, 2.3, 0.0, 0.1);
    vy_drone_id carrier;
    assert_int_equal(vy_world_add_drone(world, &drone, &carrier, NULL), VY_OK);
    (void)top;
    vy_joint_def joint = vy_default_joint_def();
    joint.kind = VY_JOINT_BALL;
    joint.body_a = vy_world_drone_body(world, a);
    joint.body_b = vy_world_drone_body(world, b);
    joint.anchor_a = (vy_vec3){0.15, 0, 0};
    joint.anchor_b = (vy_vec3){-0.15, 0, 0};
    vy_error err = {0};
    if (vy_world_add_joint(world, &joint, NULL, &err) != VY_OK) fail_msg("%s", err.text);
    vy_payload_def payload = vy_default_payload_def();
    payload.carrier = carrier;
    payload.load = vy_world_drone_body(world, low);
    payload.attach = 0.6;
    payload.reach = 10.0;
    if (vy_world_add_payload(world, &payload, &err) != VY_OK) fail_msg("%s", err.text);
    put_ground(world);
    (void)vy_world_advance(world, 250); // 0.5 s
    for (uint32_t i = 0; i < 4; ++i) assert_int_equal(state_of(world, i).asleep, 1);
    assert_int_equal(world->sleep[2].island, world->sleep[3].island);
    assert_int_not_equal(world->sleep[0].island, world->sleep[2].island);
    const body_state lies = world->drones[2].body;
    (void)vy_world_advance(world, 55);
    assert_memory_equal(&world->drones[2].body, &lies, sizeof lies);
    assert_int_equal(state_of(world, 0).asleep, 0);
    assert_int_equal(state_of(world, 1).asleep, 0);
    assert_int_equal(state_of(world, 2).asleep, 1);
    (void)vy_world_advance(world, 100);
    assert_true(state_of(world, 0).position.z < 0.0); // with its carrier, which passes through everything
    assert_int_equal(state_of(world, 0).asleep, 0);
    assert_true(state_of(world, 1).position.z < 0.2);
    vy_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stacks_sleep),
        cmocka_unit_test(forces_that_change_wake),
        cmocka_unit_test(snapshots_keep_sleep),
        cmocka_unit_test(snapshots_sleep_on_in_a_new_world),
        cmocka_unit_test(threads_give_the_same_bits),
        cmocka_unit_test(joints_and_payloads),
        cmocka_unit_test(differences_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
