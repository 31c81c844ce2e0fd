// test_energy.c - the account of energy: every joule has a cause.
#include "check.h"
#include "volery/environment.h"
#include "volery/scenario.h"
#include "volery/world.h"
#include <string.h>

static int effect(const char *name)
{
    for (int k = 0; k < 32 && vy_effect_name(k) != NULL; ++k) {
        if (strcmp(vy_effect_name(k), name) == 0) return k;
    }
    fail_msg("no effect %s", name);
    return 0;
}

static vy_energy energy_of(const vy_world *world)
{
    vy_energy e;
    assert_int_equal(vy_world_read_energy(world, vy_world_body(world, 0), &e), VY_OK);
    return e;
}

static vy_world *world_of(const vy_drone_def *drone)
{
    vy_world_def def = vy_default_world_def();
    vy_world *world = NULL;
    assert_int_equal(vy_world_create(&def, &world, NULL), VY_OK);
    assert_int_equal(vy_world_add_drone(world, drone, NULL, NULL), VY_OK);
    return world;
}

/// A stone with linear drag alone.
static vy_drone_def stone(double mass, double drag)
{
    vy_drone_def def = vy_default_drone_def();
    def.vehicle.rotor_count = 0;
    def.vehicle.mass = mass;
    def.vehicle.inertia = mat3_diag(0.02, 0.03, 0.04);
    def.vehicle.drag_linear = (vy_vec3){drag, drag, drag};
    def.vehicle.cd = def.vehicle.volume = 0.0;
    def.rotor_speed = 0.0;
    def.imu.period = def.mocap.period = 0.0;
    def.controller.kind = VY_CONTROLLER_NONE;
    def.position = (vy_vec3){0, 0, 100};
    return def;
}

// A stone falls through syrup: v = g/c (1 - exp(-c t)) with c = D/m, and drag takes what gravity gives but
// for m v^2 / 2.
static void energy_of_a_falling_stone(void **unused)
{
    (void)unused;
    const double mass = 0.4, drag = 0.3, g = 9.80665, c = drag / mass, t = 3.0;
    const vy_drone_def def = stone(mass, drag);
    vy_world *world = world_of(&def);
    vy_world_track_energy(world);
    const double before = energy_of(world).potential;
    assert_near(before, mass * g * 100.0, 1e-9);
    vy_world_advance(world, 3000);
    const vy_energy e = energy_of(world);
    const double v = g / c * (1.0 - exp(-c * t)), fallen = g / c * (t - (1.0 - exp(-c * t)) / c);
    assert_near(e.kinetic, 0.5 * mass * v * v, 1e-9);
    assert_near(e.work[effect("gravity")], mass * g * fallen, 1e-9);
    assert_near(before - e.potential, mass * g * fallen, 1e-9);
    assert_near(e.dissipated, mass * g * fallen - 0.5 * mass * v * v, 1e-9);
    assert_near(e.residual, 0.0, 1e-9 * e.exchanged);
    assert_near(e.exchanged, mass * g * fallen + e.dissipated, 1e-9);
    vy_world_destroy(world);
}

// Tumbling, flying in a gust with drag, pushed from outside, steered: what no cause explains is below 1e-9 of
// what was exchanged. And the account changes nothing.
static void energy_of_a_flight(void **unused)
{
    (void)unused;
    vy_world_def def = vy_default_world_def();
    def.environment.wind.constant = (vy_vec3){3, 1, 0};
    vy_drone_def drone = vy_default_drone_def();
    assert_int_equal(vy_vehicle_preset("x500", &drone.vehicle, NULL), VY_OK);
    drone.vehicle.cd = 1.0;
    drone.vehicle.area = 0.05;
    drone.vehicle.pressure_centre = (vy_vec3){0.01, 0.0, 0.02};
    drone.vehicle.damping = (vy_vec3){0.01, 0.01, 0.01};
    drone.rotor_speed = vy_vehicle_hover_speed(&drone.vehicle, 9.80665);
    drone.attitude = turn(0.4, 0.6, 0.8, 0);
    drone.rate = (vy_vec3){0.5, -1.0, 2.0};
    vy_disturbance_def push = vy_default_disturbance_def();
    push.kind = VY_DISTURBANCE_SINUSOID;
    push.force = (vy_vec3){2, 1, 0};
    push.torque = (vy_vec3){0.05, 0, 0.02};
    uint64_t hashes[2];
    for (int n = 0; n < 2; ++n) {
        vy_world *world = NULL;
        assert_int_equal(vy_world_create(&def, &world, NULL), VY_OK);
        assert_int_equal(vy_world_add_drone(world, &drone, NULL, NULL), VY_OK);
        assert_int_equal(vy_world_add_disturbance(world, &push, NULL), VY_OK);
        if (n == 1) vy_world_track_energy(world);
        vy_world_advance(world, 10000);
        assert_int_equal(vy_world_failure(world).reason, VY_FAILURE_NONE);
        hashes[n] = vy_world_hash(world);
        const vy_energy e = energy_of(world);
        if (n == 0) {
            assert_true(e.exchanged == 0.0 && e.residual == 0.0);
        } else {
            print_message("10 s: %.1f J exchanged, residual %.1e of it\n", e.exchanged,
                          e.residual / e.exchanged);
            assert_true(e.exchanged > 5.0 && e.rotors != 0.0 && e.work[effect("disturbance")] != 0.0);
            assert_near(e.residual, 0.0, 1e-9 * e.exchanged);
        }
        vy_world_destroy(world);
    }
    assert_true(hashes[0] == hashes[1]);
}

// A body that turns by 0.7 rad in a step and is pushed by a sinusoid, so that its step is coupled: no torque
// acts, and its energy of rotation stays.
static void a_fast_spin_keeps_its_energy(void **unused)
{
    (void)unused;
    vy_drone_def def = stone(0.4, 0.0);
    def.rate = (vy_vec3){400, -300, 500};
    vy_world *world = world_of(&def);
    vy_disturbance_def push = vy_default_disturbance_def();
    push.kind = VY_DISTURBANCE_SINUSOID;
    push.force = (vy_vec3){1e-3, 0, 0};
    assert_int_equal(vy_world_add_disturbance(world, &push, NULL), VY_OK);
    vy_world_track_energy(world);
    vy_world_advance(world, 1000);
    vy_drone_state s;
    assert_int_equal(vy_world_read_drone(world, vy_world_drone(world, 0), &s), VY_OK);
    const vec3 w = s.rate, i = {0.02, 0.03, 0.04};
    const double now = 0.5 * ((i.x * w.x * w.x + i.y * w.y * w.y) + i.z * w.z * w.z);
    const double start = 0.5 * (0.02 * 160000.0 + 0.03 * 90000.0 + 0.04 * 250000.0);
    assert_near(now, start, 1e-9 * start);
    assert_near(energy_of(world).residual, 0.0, 1e-9 * start);
    vy_world_destroy(world);
}

// A ball that falls on one end of a rod: the island has a joint, and what is not on it has an account that
// closes.
static void a_ball_on_a_rod_closes_its_account(void **unused)
{
    (void)unused;
    static const char text[] = "volery: 1\n"
                               "terrain: {kind: plane}\n"
                               "drones: [{name: far, start: {position: [50, 0, 9]}}]\n"
                               "bodies:\n"
                               "  - {name: a, mass: 1, inertia: [4e-3, 4e-3, 4e-3], position: [0, 0, 0.1], "
                               "shape: {kind: sphere, radius: 0.1}}\n"
                               "  - {name: b, mass: 1, inertia: [4e-3, 4e-3, 4e-3], position: [0.4, 0, 0.1], "
                               "shape: {kind: sphere, radius: 0.1}}\n"
                               "  - {name: ball, mass: 0.5, inertia: [2e-3, 2e-3, 2e-3], position: [0.05, "
                               "0.02, 0.6], shape: {kind: sphere, "
                               "radius: 0.1}}\n"
                               "joints: [{kind: distance, a: a, b: b, length: 0.4}]\n";
    vy_scenario *scenario = NULL;
    vy_world *world = NULL;
    vy_world_body_state s;
    vy_energy e;
    assert_int_equal(vy_scenario_parse(text, strlen(text), "test", NULL, &scenario, NULL), VY_OK);
    assert_int_equal(vy_scenario_build(scenario, &world, NULL), VY_OK);
    vy_world_track_energy(world);
    vy_world_advance(world, 800);
    vy_world_read_body(world, vy_world_body(world, 3), &s);
    assert_int_equal(vy_world_read_energy(world, vy_world_body(world, 3), &e), VY_OK);
    assert_true(s.contacts >= 2 && s.contact_speed > 1.0);
    assert_near(e.residual, 0.0, 1e-9 * e.exchanged);
    vy_world_destroy(world);
    vy_scenario_destroy(scenario);
}

// A restored world begins its account anew.
static void energy_after_restore(void **unused)
{
    (void)unused;
    const vy_drone_def def = stone(0.4, 0.3);
    vy_world *world = world_of(&def);
    vy_world_track_energy(world);
    static uint64_t block[4096];
    assert_true(vy_world_state_size(world) <= sizeof block);
    vy_world_advance(world, 100);
    vy_world_save(world, block);
    vy_world_advance(world, 100);
    assert_int_equal(vy_world_restore(world, block, vy_world_state_size(world), NULL), VY_OK);
    assert_true(energy_of(world).exchanged == 0.0 && energy_of(world).residual == 0.0);
    vy_world_advance(world, 100);
    const vy_energy e = energy_of(world);
    assert_true(e.exchanged > 0.0);
    assert_near(e.residual, 0.0, 1e-9 * e.exchanged);
    vy_energy other = {.kinetic = 7.0};
    assert_int_equal(vy_world_read_energy(world, (vy_body_id){0}, &other), VY_NOT_FOUND);
    assert_true(other.kinetic == 7.0);
    vy_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(energy_of_a_falling_stone),    cmocka_unit_test(energy_of_a_flight),
        cmocka_unit_test(a_fast_spin_keeps_its_energy), cmocka_unit_test(a_ball_on_a_rod_closes_its_account),
        cmocka_unit_test(energy_after_restore),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
