// test_throws_world.c - continuous collision in a world: a thin plate passes through no wall, however it
// spins.
//
// VOLERY_PLATES=2000 makes as many throws instead of the slice that the suite takes.
#include "flight.h"
#include <stdlib.h>

enum { SLICE = 160 };

/// What became of throws.
typedef struct tally {
    int passed, failed, dropped, missed, gained;
} tally;

/// 50 x 5 x 1 mm of aluminium, without air around it.
static vy_world_body_def plate(random_source *r, double speed)
{
    const double x = 0.05, y = 0.005, z = 0.001, mass = 2700.0 * x * y * z, k = mass / 12.0;
    vy_world_body_def def = vy_default_world_body_def();
    def.mass = mass;
    def.inertia =
        (vy_mat3){{{k * (y * y + z * z), 0, 0}, {0, k * (x * x + z * z), 0}, {0, 0, k * (x * x + y * y)}}};
    def.solid.kind = VY_COLLIDER_BOX;
    def.solid.size = (vy_vec3){x, y, z};
    def.solid.material.friction = random_in(r, 0.0, 1.0);
    def.solid.material.restitution = random_in(r, 0.0, 0.6);
    def.position = (vy_vec3){-random_in(r, 0.1, 0.6), 0.0, 50.0};
    const double aside = random_in(r, -0.5, 0.5), up = random_in(r, -0.5, 0.5);
    def.velocity = (vy_vec3){speed, aside * speed, up * speed};
    def.attitude = random_attitude(r);
    const vy_vec3 axis = random_vec(r, 1.0);
    def.rate = vec3_scale(random_in(r, 0.0, 100.0) / vec3_length(axis), axis);
    return def;
}

static double energy_of(const vy_world_body_def *def, const vy_world_body_state *s)
{
    return 0.5 * (def->mass * vec3_dot(s->velocity, s->velocity) +
                  vec3_dot(s->rate, mat3_mul_vec(def->inertia, s->rate))) +
           def->mass * 9.80665 * s->position.z;
}

static void throw_plate(const vy_world_body_def *def, double dt, double wall, tally *t)
{
    vy_world_def world_def = vy_default_world_def();
    vy_world *world = NULL;
    vy_body_id id;
    vy_world_body_state s;
    vy_error err = {0};
    world_def.dt = dt;
    world_def.contacts.on = 1;
    if (vy_world_create(&world_def, &world, &err) != VY_OK) fail_msg("%s", err.text);
    if (vy_world_add_body(world, def, &id, &err) != VY_OK) fail_msg("%s", err.text);
    vy_obstacle_def obstacle = vy_default_obstacle_def();
    obstacle.solid.kind = VY_COLLIDER_BOX;
    obstacle.solid.size = (vy_vec3){wall, 40.0, 40.0};
    obstacle.solid.material = def->solid.material;
    obstacle.position = (vy_vec3){0, 0, 50};
    if (vy_world_add_obstacle(world, &obstacle, &err) != VY_OK) fail_msg("%s", err.text);
    assert_int_equal(vy_world_read_body(world, id, &s), VY_OK);
    const double before = energy_of(def, &s);
    const int steps = (int)((-2.0 * def->position.x / def->velocity.x + 0.05) / dt) + 2;
    uint32_t events = 0;
    int passed = 0;
    for (int n = 0; n < steps && !passed && (events & VY_EVENT_FAILED) == 0; ++n) {
        events |= vy_world_step(world);
        assert_int_equal(vy_world_read_body(world, id, &s), VY_OK);
        passed = s.position.x > 0.0;
    }
    t->passed += passed;
    t->failed += (events & VY_EVENT_FAILED) != 0;
    t->dropped += (events & VY_EVENT_TIME_DROPPED) != 0;
    t->missed += s.contacts == 0;
    t->gained += energy_of(def, &s) > before + 1e-3 * (before - def->mass * 9.80665 * 50.0);
    vy_world_destroy(world);
}

static void plates_pass_through_nothing(void **unused)
{
    (void)unused;
    const char *whole = getenv("VOLERY_PLATES");
    const int count = whole != NULL ? atoi(whole) : SLICE;
    random_source r = {1905};
    tally t = {0};
    for (int n = 0; n < count; ++n) {
        const double speed = exp(random_in(&r, 0.0, log(200.0)));
        const vy_world_body_def def = plate(&r, speed);
        throw_plate(&def, n % 2 == 0 ? 1.0 / 60.0 : 1e-3, n / 2 % 2 == 0 ? 0.002 : 0.005, &t);
    }
    if (whole != NULL)
        printf(
            "%d plates in a world: passed %d, failed %d, missed the wall %d, gained energy %d, time dropped "
            "%d\n",
            count, t.passed, t.failed, t.missed, t.gained, t.dropped);
    assert_int_equal(t.passed, 0);
    assert_int_equal(t.failed, 0);
    assert_int_equal(t.missed, 0);
    assert_int_equal(t.gained, 0);
    assert_true(t.dropped * 1000 <= count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(plates_pass_through_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
