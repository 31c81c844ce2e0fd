// test_loads.c - loads by cause must add up to what moves the drone, whatever acts on it.
#include "check.h"
#include "volery/scenario.h"
#include "volery/world.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static vy_world *build(const char *text)
{
    vy_scenario *scenario = NULL;
    vy_world *world = NULL;
    vy_diagnostics told = {0};
    const vy_status status = vy_scenario_parse(text, strlen(text), "test", NULL, &scenario, &told);
    if (status != VY_OK) {
        char *why = vy_diagnostics_print(&told);
        print_error("%s\n", why);
        free(why);
    }
    assert_int_equal(status, VY_OK);
    assert_int_equal(vy_scenario_build(scenario, &world, NULL), VY_OK);
    vy_diagnostics_destroy(&told);
    vy_scenario_destroy(scenario);
    return world;
}

static int index_of(const char *effect)
{
    for (int k = 0; k < vy_effect_count(); ++k) {
        if (strcmp(vy_effect_name(k), effect) == 0) return k;
    }
    fail();
    return 0;
}

static vy_vec3 total_force(const vy_loads *l)
{
    vy_vec3 sum = l->rotor_force;
    for (int k = 0; k < 32; ++k) {
        sum.x += l->force[k].x;
        sum.y += l->force[k].y;
        sum.z += l->force[k].z;
    }
    return sum;
}

// Everything a drone can meet, at an attitude that is not the identity, turning and moving.
static const char rich[] =
    "volery: 1\n"
    "step: 1e-5\n"
    "world:\n"
    "  wind: {constant: [3, -2, 0.5]}\n"
    "  magnetic_field: [2e-5, 0, -4e-5]\n"
    "  sunlight: [0, 3e-6, -3e-6]\n"
    "  nap: {policy: strict}\n"
    "drones:\n"
    "  - name: a\n"
    "    vehicle: {base: crazyflie2x-physical, area: 0.01, cd: 1.1, cl: 0.4, volume: 1e-4,\n"
    "      pressure_centre: [0.01, -0.005, 0.02], damping: [1e-6, 2e-6, 1e-6], dipole: [0.01, 0, 0.02],\n"
    "      light_area: 0.02, density_scaling: on}\n"
    "    start: {position: [1, 2, 30], velocity: [4, -3, 1], attitude: [0.9, 0.2, -0.3, 0.25], rate: [0.5, "
    "-1, 2]}\n"
    "    controller: {kind: none, intent: {rung: motors, motors: [0.62, 0.6, 0.63, 0.61]}}\n"
    "disturbances:\n"
    "  - {kind: constant, force: [0.01, 0.02, -0.005], torque: [1e-5, 0, 2e-5]}\n"
    "  - {kind: constant, frame: body, force: [0.004, 0, 0], torque: [0, 3e-5, 0]}\n";

// v' m = sum of forces and I w' + w x I w = sum of torques, by a short step on either side.
static void loads_add_up_to_the_motion(void **unused)
{
    (void)unused;
    vy_world *world = build(rich);
    const vy_drone_id id = vy_world_drone(world, 0);
    const vy_vehicle_def v = vy_default_vehicle_def();
    vy_drone_state before, now, after;
    vy_loads l;
    vy_world_advance(world, 10);
    assert_int_equal(vy_world_read_drone(world, id, &before), VY_OK);
    vy_world_advance(world, 1);
    assert_int_equal(vy_world_read_drone(world, id, &now), VY_OK);
    assert_int_equal(vy_world_read_loads(world, id, &l), VY_OK);
    vy_world_advance(world, 1);
    assert_int_equal(vy_world_read_drone(world, id, &after), VY_OK);
    const double span = 2e-5;
    const vy_vec3 f = total_force(&l);
    const double weight = v.mass * 9.8;
    assert_true(fabs((after.velocity.x - before.velocity.x) / span * v.mass - f.x) < 1e-7 * weight);
    assert_true(fabs((after.velocity.y - before.velocity.y) / span * v.mass - f.y) < 1e-7 * weight);
    assert_true(fabs((after.velocity.z - before.velocity.z) / span * v.mass - f.z) < 1e-7 * weight);

    double torque[3] = {l.rotor_torque.x, l.rotor_torque.y, l.rotor_torque.z};
    for (int k = 0; k < 32; ++k) {
        torque[0] += l.torque[k].x;
        torque[1] += l.torque[k].y;
        torque[2] += l.torque[k].z;
    }
    const double *row = (const double *)&v.inertia, inertia[3] = {row[0], row[4], row[8]};
    const double w[3] = {now.rate.x, now.rate.y, now.rate.z};
    const double turn[3] = {(after.rate.x - before.rate.x) / span, (after.rate.y - before.rate.y) / span,
                            (after.rate.z - before.rate.z) / span};
    for (int k = 0; k < 3; ++k) {
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        const double gyroscopic = w[i] * w[j] * (inertia[j] - inertia[i]);
        assert_true(fabs(inertia[k] * turn[k] + gyroscopic - torque[k]) < 1e-8);
    }
    vy_world_destroy(world);
}

// Each effect on its own against its formula, at rest relative to the axes it is stated in.
static void loads_are_split_by_effect(void **unused)
{
    (void)unused;
    vy_world *world = build(rich);
    vy_loads l;
    vy_world_advance(world, 1);
    assert_int_equal(vy_world_read_loads(world, vy_world_drone(world, 0), &l), VY_OK);
    assert_true(l.wind.x == 3.0 && l.wind.y == -2.0 && l.wind.z == 0.5);
    const vy_vec3 g = l.force[index_of("gravity")];
    assert_true(g.x == 0.0 && g.y == 0.0 && fabs(g.z + 0.028 * 9.80665) < 1e-15);
    const vy_vec3 drag = l.force[index_of("drag")]; // along the wind relative to the body: (-1, 1, -0.5)
    const double speed = 1.5, size = 0.5 * 1.225 * 1.1 * 0.01 * speed * speed;
    assert_true(fabs(sqrt(drag.x * drag.x + drag.y * drag.y + drag.z * drag.z) - size) < 1e-3 * size);
    assert_true(drag.x < 0.0 && drag.y > 0.0 && drag.z < 0.0);
    const vy_vec3 light = l.force[index_of("radiation")];
    assert_true(fabs(light.y - 0.02 * 3e-6) < 1e-15 && light.x == 0.0);
    const vy_vec3 twist = l.torque[index_of("twist")];
    assert_true(fabs(twist.x) + fabs(twist.y) + fabs(twist.z) > 3e-5);
    vy_world_destroy(world);
}

static void loads_want_a_drone_of_this_world(void **unused)
{
    (void)unused;
    vy_world *world = build("volery: 1\ndrones: [{name: a}]\n");
    vy_loads l = {.wind = {7.0, 7.0, 7.0}};
    assert_int_equal(vy_world_read_loads(world, VY_ALL_DRONES, &l), VY_NOT_FOUND);
    assert_true(l.wind.x == 7.0);
    vy_world_destroy(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_add_up_to_the_motion),
        cmocka_unit_test(loads_are_split_by_effect),
        cmocka_unit_test(loads_want_a_drone_of_this_world),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
