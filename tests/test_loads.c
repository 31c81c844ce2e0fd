// test_loads.c - loads by cause must add up to what moves the drone, whatever acts on it.
#include "check.h"
#include "volery/fault.h"
#include "volery/scenario.h"
#include "world/world_impl.h"
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
    vy_vec3 sum = vec3_add(l->rotor_force, l->thruster_force);
    for (int k = 0; k < VY_EFFECT_CAP; ++k) sum = vec3_add(sum, l->force[k]);
    return vec3_add(sum, l->contact_force);
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

// All there is at once: rotors in the air and blades, a battery, wakes, thrusters, a payload, a joint, a
// crate that lands, gusts and a weak motor.
static const char everything[] =
    "volery: 1\n"
    "step: 5e-4\n"
    "world:\n"
    "  wind: {constant: [3, -2, 0.5], turbulence: {intensity: 1}}\n"
    "  magnetic_field: [2e-5, 0, -4e-5]\n"
    "  sunlight: [0, 3e-6, -3e-6]\n"
    "  wakes: {mode: on}\n"
    "  nap: {policy: strict}\n"
    "terrain: {kind: plane}\n"
    "drones:\n"
    "  - name: low\n"
    "    vehicle: {base: x500, area: 0.1, cd: 1.1, cl: 0.4, volume: 1e-2, pressure_centre: [0.01, -0.005, "
    "0.02],\n"
    "      damping: [1e-3, 2e-3, 1e-3], damping_area: [1e-3, 1e-3, 2e-3], dipole: [0.1, 0, 0.2], light_area: "
    "0.2,\n"
    "      density_scaling: on, drag_linear: [0.1, 0.2, 0.3],\n"
    "      rotor_air: {radius: 0.12, drag: 1e-4, drag_axial: 1e-5, flap: 1e-6, lift: 1e-3, inflow: 1e-3,\n"
    "        inflow_lag: 50 ms, inertia: 1e-5, ground: on},\n"
    "      battery: {capacity: 5000, resistance: 0.02, nominal: 15, voltage: [12, 14, 15, 16, 16.8]},\n"
    "      thrusters: [{position: [0.2, 0.1, 0], axis: [0.2, 0.3, 0.9], thrust_max: 3, lag: 60 ms}]}\n"
    "    start: {position: [0, 0, 0.8], velocity: [0.4, -0.3, 1], attitude: [0.96, 0.1, -0.15, 0.2], rate: "
    "[0.5, -1, 2]}\n"
    "    controller: {kind: none, intent: {rung: motors, motors: [0.62, 0.6, 0.63, 0.61, 0.7]}}\n"
    "  - name: high\n"
    "    vehicle: {base: x500, rotor_air: {radius: 0.12, drag: 0, drag_axial: 0, flap: 0, lift: 0, inflow: "
    "0}, blade: {count: 2, chord: 0.02, twist: 0.1, "
    "lift_slope: 5.7,\n"
    "      lift_max: 1.2, drag_square: 1}}\n"
    "    start: {position: [0.1, 0, 2.2], attitude: [0.98, -0.05, 0.1, 0.1]}\n"
    "    controller: {kind: none, intent: {rung: motors, motors: [0.62, 0.6, 0.61, 0.63]}}\n"
    "bodies:\n"
    "  - {name: crate, mass: 1, inertia: [2e-3, 3e-3, 4e-3], area: 0.02, cd: 1, volume: 1e-3,\n"
    "     shape: {kind: box, size: [0.14, 0.10, 0.12]}, position: [3, 0, 0.3], attitude: [0.9, 0.3, "
    "0.1, -0.2]}\n"
    "  - {name: parcel, mass: 0.2, inertia: [1e-4, 2e-4, 2e-4], shape: {kind: box, size: [0.05, 0.05, "
    "0.05]}}\n"
    "  - {name: left, mass: 1, inertia: [2e-3, 3e-3, 4e-3], area: 0.02, cd: 1, position: [6, 0, 5], "
    "velocity: [0, 2, 0]}\n"
    "  - {name: right, mass: 2, inertia: [2e-3, 3e-3, 4e-3], position: [7, 0, 5], velocity: [0, -1, "
    "0]}\n"
    "joints:\n"
    "  - {kind: distance, a: left, b: right, length: 1}\n"
    "payloads:\n"
    "  - {carrier: low, load: parcel, position: [0.03, 0.0, -0.15]}\n"
    "faults:\n"
    "  - {kind: motor_weak, drone: low, start: 20 ms, rotor: 2, share: 0.8}\n"
    "disturbances:\n"
    "  - {kind: constant, force: [0.01, 0.02, -0.005], torque: [1e-3, 0, 2e-3]}\n"
    "  - {kind: constant, frame: body, force: [0.004, 0, 0], torque: [0, 3e-3, 0]}\n";

// ---- m a = F and I w' + w x I w = t, of everything that flies

static vy_vec3 total_torque(const vy_loads *l)
{
    vy_vec3 sum = vec3_add(l->rotor_torque, l->thruster_torque);
    for (int k = 0; k < VY_EFFECT_CAP; ++k) sum = vec3_add(sum, l->torque[k]);
    return vec3_add(sum, l->contact_torque);
}

/// The motions of all drones and bodies of a world before a step.
typedef struct motions {
    uint32_t count;
    uint64_t carried;
    body_state body[256];
} motions;

static motions look(const vy_world *world)
{
    motions m = {.count = body_count(&world->model)};
    assert_true(m.count <= 256);
    for (uint32_t i = 0; i < m.count; ++i) m.body[i] = *body_at(world, i);
    for (uint32_t i = 0; i < world->model.payload_count; ++i)
        m.carried = 3 * m.carried + world->payloads[i].carried;
    return m;
}

/// What no cause accounts for in a step, by the size of the loads; and which causes there were.
typedef struct gap {
    double alone, joined; // of a body that no joint holds; of all together that joints hold
    uint64_t seen;        // bits of effects, then the following
} gap;

enum { SEEN_CONTACT = 40, SEEN_THRUSTER, SEEN_JOINT, SEEN_CARRIED };

static uint64_t causes(const vy_world *world, uint32_t i, const vy_loads *l)
{
    uint64_t seen = 0;
    for (int k = 0; k < VY_EFFECT_CAP; ++k) {
        if (vec3_length(l->force[k]) + vec3_length(l->torque[k]) > 0.0) seen |= (uint64_t)1 << k;
    }
    if (vec3_length(l->contact_force) > 0.0) seen |= (uint64_t)1 << SEEN_CONTACT;
    if (vec3_length(l->thruster_force) > 0.0) seen |= (uint64_t)1 << SEEN_THRUSTER;
    if (*body_holder(&world->model, i) == HELD_BY_JOINT) seen |= (uint64_t)1 << SEEN_JOINT;
    if (*body_holder(&world->model, i) == HELD_BY_CARRIER) seen |= (uint64_t)1 << SEEN_CARRIED;
    return seen;
}

static gap unexplained(const vy_world *world, const motions *before)
{
    const double h = world->model.dt;
    vec3 joined = vec3_zero();
    double size = 0.0;
    gap g = {0.0, 0.0, 0};
    for (uint32_t i = 0; i < before->count; ++i) {
        const multirotor_params *p = body_plant(&world->model, i);
        const body_state *from = &before->body[i], *to = body_at(world, i);
        vy_loads l;
        assert_int_equal(vy_world_read_loads(world, vy_world_body(world, i), &l), VY_OK);
        g.seen |= causes(world, i, &l);
        const vec3 gained = vec3_scale(p->effects.mass / h, vec3_sub(to->velocity, from->velocity));
        const vec3 force = vec3_sub(gained, total_force(&l));
        const int held = *body_holder(&world->model, i);
        const double weight = 9.8 * p->effects.mass + vec3_length(gained);
        if (held == HELD_BY_JOINT) {
            joined = vec3_add(joined, force);
            size += weight + vec3_length(l.rotor_force);
        }
        if (held != HELD_BY_NOTHING) continue;
        const vec3 turned =
            mat3_mul_vec(p->body.inertia, vec3_scale(1.0 / h, vec3_sub(to->rate, from->rate)));
        const vec3 gyro = vec3_cross(from->rate, mat3_mul_vec(p->body.inertia, from->rate));
        const vec3 torque = vec3_sub(vec3_add(turned, gyro), total_torque(&l));
        g.alone = real_max(g.alone, vec3_length(force) / weight);
        g.alone = real_max(g.alone,
                           vec3_length(torque) / (vec3_length(turned) + vec3_length(gyro) + 1e-4 * weight));
    }
    if (size > 0.0) g.joined = vec3_length(joined) / size;
    return g;
}

// By Euler's rule what a step adds to the velocities is what acts at its start, and nothing else.
static uint64_t follow(vy_world *world, int steps, const char *name)
{
    uint64_t seen = 0;
    vy_error err = {0};
    if (world->model.physics.integrator != VY_INTEGRATOR_EULER &&
        vy_world_set_integrator(world, VY_INTEGRATOR_EULER, &err) != VY_OK)
        fail_msg("%s: %s", name, err.text);
    assert_int_equal(vy_world_keep_loads(world, 1, NULL), VY_OK);
    for (int n = 0; n < steps && vy_world_failure(world).reason == VY_FAILURE_NONE; ++n) {
        const motions before = look(world);
        (void)vy_world_step(world);
        if (look(world).carried != before.carried) continue; // it was taken up or let go: another mass
        const gap g = unexplained(world, &before);
        if (g.alone > 1e-8 || g.joined > 1e-3)
            fail_msg("%s, step %d: %g alone, %g joined", name, n, g.alone, g.joined);
        seen |= g.seen;
    }
    return seen;
}

// Gravity that turns a drone is of a body that attracts.
static const char orbiting[] = "volery: 1\nname: orbiting\nduration: 1 s\n"
                               "world: {gravity: {mode: central, gradient: on, bodies: [{gm: "
                               "3.986004418e14}]}, atmosphere: {mode: none}, nap: {policy: strict}}\n"
                               "drones: [{name: a, start: {position: [7e6, 0, 0], velocity: [0, 7546, 0], "
                               "attitude: {roll: 20 deg, pitch: 30 deg}}}]\n";

static void loads_add_up_to_the_motion(void **unused)
{
    (void)unused;
    vy_world *world = build(rich);
    (void)follow(world, 300, "rich");
    vy_world_destroy(world);
    world = build(orbiting);
    uint64_t seen = follow(world, 100, "orbiting");
    vy_world_destroy(world);
    world = build(everything);
    seen |= follow(world, 600, "everything");
    for (int k = 0; k < vy_effect_count(); ++k) { // these act through others
        const char *name = vy_effect_name(k);
        const int mediate = k == EFFECT_wind || k == EFFECT_downwash || k == EFFECT_battery;
        if ((seen >> k & 1) != (uint64_t)!mediate) fail_msg("%s: %s", name, mediate ? "a load" : "no load");
    }
    for (int k = SEEN_CONTACT; k <= SEEN_CARRIED; ++k) assert_true((seen >> k & 1) != 0);
    assert_int_equal(vy_world_failure(world).reason, VY_FAILURE_NONE);
    vy_world_destroy(world);
}

// Every scenario that is shipped: wind, thrusters, payloads, joints, contacts, batteries, wakes; and with a
// motor that slows down and one that fails.
static void loads_add_up_in_every_scenario(void **unused)
{
    (void)unused;
    static const char *const names[] = {"hover",         "canyon",     "battery",       "hopper",
                                        "satellite",     "payload",    "set-down",      "slung-load",
                                        "tether",        "landing",    "wall",          "arm",
                                        "tumble",        "shock",      "swarm",         "warehouse",
                                        "presets-throw", "tilted-pad", "flexible-arms", "swarm-collisions"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
        char path[96];
        vy_scenario *scenario = NULL;
        vy_world *world = NULL;
        vy_error err = {0};
        snprintf(path, sizeof path, "scenarios/%s.yaml", names[i]);
        assert_int_equal(vy_scenario_load(path, NULL, &scenario, NULL), VY_OK);
        while (scenario->step > 0.0005) scenario->step *= 0.5; // joints go one substep a step
        if (vy_scenario_build(scenario, &world, &err) != VY_OK) fail_msg("%s: %s", names[i], err.text);
        for (int fault = 0; fault < 2 && vy_world_drone_count(world) > 0; ++fault) {
            vy_fault_def def = vy_default_fault_def();
            def.kind = fault ? VY_FAULT_MOTOR_LAG : VY_FAULT_MOTOR_LOSS;
            def.drone = vy_world_drone(world, 0);
            def.start = 0.1 + 0.2 * fault;
            def.size = fault ? 0.1 : 0.5;
            if (vy_world_add_fault(world, &def, NULL) != VY_OK) break; // it has no rotors
        }
        (void)follow(world, 1500, names[i]);
        vy_world_destroy(world);
        vy_scenario_destroy(scenario);
    }
}

// Each effect on its own against its formula, at rest relative to the axes it is stated in.
static void loads_are_split_by_effect(void **unused)
{
    (void)unused;
    vy_world *world = build(rich);
    vy_loads l;
    assert_int_equal(vy_world_keep_loads(world, 1, NULL), VY_OK);
    vy_world_advance(world, 1);
    assert_int_equal(vy_world_read_loads(world, vy_world_body(world, 0), &l), VY_OK);
    assert_true(l.wind.x == 3.0 && l.wind.y == -2.0 && l.wind.z == 0.5);
    const vy_vec3 g = l.force[index_of("gravity")];
    assert_true(g.x == 0.0 && g.y == 0.0 && fabs(g.z + 0.028 * 9.80665) < 1e-15);
    const vy_vec3 drag = l.force[index_of("drag")]; // along the wind relative to the body: (-1, 1, -0.5)
    const double speed = 1.5, size = 0.5 * 1.225 * 1.1 * 0.01 * speed * speed;
    assert_true(fabs(sqrt(drag.x * drag.x + drag.y * drag.y + drag.z * drag.z) - size) < 1e-3 * size);
    assert_true(drag.x < 0.0 && drag.y > 0.0 && drag.z < 0.0);
    const vy_vec3 light = l.force[index_of("radiation")];
    assert_true(fabs(light.y - 0.02 * 3e-6) < 1e-15 && light.x == 0.0);
    const vy_vec3 disturbance_torque = l.torque[index_of("disturbance_torque")];
    assert_true(fabs(disturbance_torque.x) + fabs(disturbance_torque.y) + fabs(disturbance_torque.z) > 3e-5);
    vy_world_destroy(world);
}

static void loads_want_a_drone_of_this_world(void **unused)
{
    (void)unused;
    vy_world *world = build("volery: 1\ndrones: [{name: a}]\n");
    vy_loads l = {.wind = {7.0, 7.0, 7.0}};
    assert_int_equal(vy_world_read_loads(world, VY_ALL_BODIES, &l), VY_NOT_FOUND);
    vy_world_step(world); // nobody has asked for them
    assert_int_equal(vy_world_read_loads(world, vy_world_body(world, 0), &l), VY_BAD_STATE);
    assert_true(l.wind.x == 7.0);
    vy_world_destroy(world);
}

// Whether loads are kept changes no result; and what is kept is of the step just done alone.
static void keeping_loads_changes_no_result(void **unused)
{
    (void)unused;
    vy_world *worlds[2] = {build(rich), build(rich)};
    vy_loads l;
    assert_int_equal(vy_world_keep_loads(worlds[1], 1, NULL), VY_OK);
    for (int n = 0; n < 200; ++n) {
        for (int k = 0; k < 2; ++k) vy_world_step(worlds[k]);
        assert_true(vy_world_hash(worlds[0]) == vy_world_hash(worlds[1]));
    }
    assert_int_equal(vy_world_read_loads(worlds[1], vy_world_body(worlds[1], 0), &l), VY_OK);
    assert_true(l.rotor_force.z != 0.0);
    const size_t size = vy_world_state_size(worlds[0]);
    void *block = malloc(size);
    assert_non_null(block);
    vy_world_save(worlds[0], block);
    assert_int_equal(vy_world_restore(worlds[1], block, size, NULL), VY_OK);
    assert_int_equal(vy_world_read_loads(worlds[1], vy_world_body(worlds[1], 0), &l), VY_OK);
    assert_true(l.rotor_force.z == 0.0); // of no step
    assert_int_equal(vy_world_keep_loads(worlds[1], 0, NULL), VY_OK);
    for (int k = 0; k < 2; ++k) vy_world_step(worlds[k]);
    assert_true(vy_world_hash(worlds[0]) == vy_world_hash(worlds[1]));
    free(block);
    for (int k = 0; k < 2; ++k) vy_world_destroy(worlds[k]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_add_up_to_the_motion),       cmocka_unit_test(loads_add_up_in_every_scenario),
        cmocka_unit_test(keeping_loads_changes_no_result),  cmocka_unit_test(loads_are_split_by_effect),
        cmocka_unit_test(loads_want_a_drone_of_this_world),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
