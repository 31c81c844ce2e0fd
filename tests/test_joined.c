// test_joined.c - drones and bodies in a world, held by joints.
#include "check.h"
#include "scenario_text.h"
#include "volery/world.h"
#include <stdlib.h>

static vy_world *world_for(double gravity)
{
    vy_world_def def = vy_default_world_def();
    def.environment.gravity.uniform = (vy_vec3){0, 0, -gravity};
    vy_world *world = NULL;
    assert_int_equal(vy_world_create(&def, &world, NULL), VY_OK);
    return world;
}

/// A drone without rotors.
static vy_drone_def plain(double mass, vy_vec3 moments, vy_vec3 position)
{
    vy_drone_def def = vy_default_drone_def();
    def.vehicle.rotor_count = 0;
    def.vehicle.mass = mass;
    def.vehicle.inertia = mat3_diag(moments.x, moments.y, moments.z);
    def.vehicle.drag_linear = (vy_vec3){0, 0, 0};
    def.vehicle.cd = def.vehicle.volume = 0.0;
    def.rotor_speed = 0.0;
    def.imu.period = def.mocap.period = 0.0;
    def.controller.kind = VY_CONTROLLER_NONE;
    def.position = position;
    return def;
}

static vy_drone_id add(vy_world *world, const vy_drone_def *def)
{
    vy_drone_id id;
    vy_error err = {0};
    if (vy_world_add_drone(world, def, &id, &err) != VY_OK) fail_msg("%s", err.text);
    return id;
}

static vy_drone_state read(const vy_world *world, vy_drone_id id)
{
    vy_drone_state s;
    assert_int_equal(vy_world_read_drone(world, id, &s), VY_OK);
    return s;
}

// A boom on a spring-damper hinge: natural frequency sqrt(k / I about the hinge), decay by its damper.
static void joined_flexible_arm_frequency(void **unused)
{
    (void)unused;
    const double k = 4.0, damping = 0.004, mass = 0.05, arm = 0.2, about = 2e-4 + mass * arm * arm;
    vy_world *world = world_for(0.0);
    const vy_drone_def def = plain(mass, (vy_vec3){2e-4, 1e-5, 2e-4}, (vy_vec3){0, arm, 0});
    const vy_drone_id boom = add(world, &def);
    vy_joint_def joint = vy_default_joint_def();
    joint.kind = VY_JOINT_HINGE;
    joint.body_b = vy_world_drone_body(world, boom);
    joint.anchor_b = (vy_vec3){0, -arm, 0};
    joint.axis_a = joint.axis_b = (vy_vec3){1, 0, 0};
    joint.stiffness = k;
    joint.damping = damping;
    joint.rest = 0.1;
    vy_joint_id hinge;
    assert_int_equal(vy_world_add_joint(world, &joint, &hinge, NULL), VY_OK);
    assert_int_equal(vy_world_joint_count(world), 1);
    const double w = sqrt(k / about), d = damping / (2 * about * w), wd = w * sqrt(1 - d * d);
    for (int n = 1; n <= 2000; ++n) {
        assert_int_equal(vy_world_step(world), 0);
        const double t = n * 1e-3;
        vy_joint_state s;
        assert_int_equal(vy_world_read_joint(world, hinge, &s), VY_OK);
        assert_near(s.angle, 0.1 - 0.1 * exp(-d * w * t) * (cos(wd * t) + d * w / wd * sin(wd * t)), 1e-8);
    }
    vy_world_destroy(world);
}

// A drone at full thrust with a load fixed under it climbs with T / (m + M) - g, rotors spinning up included:
// the same flight as one vehicle that has both masses.
static void joined_load_adds_its_mass(void **unused)
{
    (void)unused;
    const double load = 0.006;
    vy_drone_def drone = vy_default_drone_def();
    drone.vehicle.drag_linear = (vy_vec3){0, 0, 0};
    drone.vehicle.cd = 0.0;
    drone.controller.kind = VY_CONTROLLER_NONE;
    drone.controller.start.rung = VY_RUNG_MOTORS;
    for (int k = 0; k < 4; ++k) drone.controller.start.motors[k] = 0.75;
    vy_world *two = world_for(9.80665), *one = world_for(9.80665);
    const vy_drone_id a = add(two, &drone);
    const vy_drone_def below = plain(load, (vy_vec3){1e-6, 1e-6, 1e-6}, (vy_vec3){0, 0, 0.95});
    const vy_drone_id b = add(two, &below);
    vy_joint_def joint = vy_default_joint_def();
    joint.kind = VY_JOINT_FIXED;
    joint.body_a = vy_world_drone_body(two, a);
    joint.body_b = vy_world_drone_body(two, b);
    joint.anchor_a = (vy_vec3){0, 0, -0.05};
    vy_joint_id fixed;
    assert_int_equal(vy_world_add_joint(two, &joint, &fixed, NULL), VY_OK);
    drone.vehicle.mass += load;
    const vy_drone_id both = add(one, &drone);
    for (int n = 0; n < 500; ++n) {
        assert_int_equal(vy_world_step(two) & ~(unsigned)VY_EVENT_CLAMPED, 0);
        vy_world_step(one);
    }
    assert_true(read(one, both).position.z > 1.05);
    assert_near(read(two, a).position.z, read(one, both).position.z, 1e-9);
    assert_near(read(two, b).position.z, read(two, a).position.z - 0.05, 1e-9);
    vy_world_destroy(two);
    vy_world_destroy(one);
}

// Two falling stones on a cable that never gets taut fall as they would without it.
static void joined_slack_changes_nothing(void **unused)
{
    (void)unused;
    vy_world *tied = world_for(9.80665);
    vy_drone_def x = plain(0.1, (vy_vec3){1e-4, 1e-4, 1e-4}, (vy_vec3){0, 0, 100}), y = x;
    y.position.z = 100.5;
    const vy_drone_id a = add(tied, &x), b = add(tied, &y);
    vy_joint_def cable = vy_default_joint_def();
    cable.kind = VY_JOINT_CABLE;
    cable.length = 1.0;
    cable.body_a = vy_world_drone_body(tied, a);
    cable.body_b = vy_world_drone_body(tied, b);
    vy_joint_id id;
    assert_int_equal(vy_world_add_joint(tied, &cable, &id, NULL), VY_OK);
    vy_world_advance(tied, 1000);
    vy_joint_state s;
    assert_int_equal(vy_world_read_joint(tied, id, &s), VY_OK);
    assert_int_equal(s.active, 0);
    assert_near(s.gap, 0.5, 1e-12);
    assert_near(read(tied, a).position.z, 100 - 0.5 * 9.80665, 1e-10);
    vy_world_destroy(tied);
}

static vy_world *slung(void)
{
    vy_world *world = world_for(9.80665);
    vy_drone_def drone = vy_default_drone_def();
    const vy_drone_id a = add(world, &drone);
    const vy_drone_def load = plain(0.004, (vy_vec3){1e-7, 1e-7, 1e-7}, (vy_vec3){0.1, 0, 0.9});
    const vy_drone_id b = add(world, &load);
    vy_joint_def cable = vy_default_joint_def();
    cable.kind = VY_JOINT_CABLE;
    cable.length = 0.3;
    cable.body_a = vy_world_drone_body(world, a);
    cable.body_b = vy_world_drone_body(world, b);
    assert_int_equal(vy_world_add_joint(world, &cable, NULL, NULL), VY_OK);
    return world;
}

// A world with a cable that is caught goes on from a snapshot with the same bits, also in another world.
static void joined_snapshot(void **unused)
{
    (void)unused;
    vy_world *x = slung(), *y = slung();
    const size_t size = vy_world_state_size(x);
    void *block = malloc(size);
    assert_non_null(block);
    vy_world_advance(x, 700);
    vy_world_save(x, block);
    vy_world_advance(x, 800);
    assert_int_equal(vy_world_restore(y, block, size, NULL), VY_OK);
    vy_world_advance(y, 800);
    assert_true(vy_world_hash(y) == vy_world_hash(x));
    assert_int_equal(vy_world_failure(x).reason, VY_FAILURE_NONE);
    free(block);
    vy_world_destroy(x);
    vy_world_destroy(y);
}

static void joined_refusals(void **unused)
{
    (void)unused;
    vy_error err;
    vy_world *world = world_for(9.80665);
    const vy_drone_def def = plain(1.0, (vy_vec3){1, 1, 1}, (vy_vec3){0, 0, 0});
    const vy_drone_id id = add(world, &def);
    assert_true(vy_world_drone_body(world, id).bits != 0 && vy_world_body(world, 1).bits == 0);
    vy_joint_def joint = vy_default_joint_def();
    joint.kind = VY_JOINT_BALL;
    assert_int_equal(vy_world_add_joint(world, &joint, NULL, &err), VY_BAD_VALUE); // of the world and itself
    vy_world_destroy(world);

    world = world_for(9.80665);
    const vy_drone_id other = add(world, &def);
    joint.body_b = vy_world_drone_body(world, other);
    vy_world_step(world);
    assert_int_equal(vy_world_add_joint(world, &joint, NULL, &err), VY_BAD_STATE);
    vy_world_destroy(world);
}

// ---- scenarios

#define HEAD  "volery: 1\ndrones: [{name: alpha}]\n"
#define STONE "{name: stone, mass: 1, inertia: [1, 1, 1]}"

static void joined_scenario_mistakes(void **unused)
{
    (void)unused;
    static const struct {
        const char *text, *wanted;
    } cases[] = {
        {HEAD "joints: [{kind: ball, a: alpha, b: nobody}]\n", "no drone is called \"nobody\""},
        {HEAD "joints: [{kind: ball, a: alpha, b: alpha}]\n", "a joint needs two different ends"},
        {HEAD "joints: [{kind: cable, a: alpha}]\n", "length"},
        {HEAD "joints: [{kind: cable, a: alpha, length: 0}]\n", "length must be finite and above zero"},
        {HEAD "joints: [{kind: rope, a: alpha}]\n", "kind"},
        {HEAD "joints: [{kind: ball, a: alpha, anchor_b: [50, 0, 0]}]\n",
         "put the bodies closer or set far_open"},
        {HEAD "closing: {speed: 0}\n", "speed must be between"},
        {HEAD "joints: [{kind: ball, a: alpha, stiffness: 1}]\n", "stiffness does not apply to kind ball"},
        {HEAD "joints: [{kind: hinge, a: alpha, limited: on, low: 1, high: 0}]\n", "high must be above low"},
        {HEAD "bodies: [{name: alpha, mass: 1, inertia: [1, 1, 1]}]\n",
         "two drones or bodies are called alpha"},
        {HEAD "bodies: [{name: world, mass: 1, inertia: [1, 1, 1]}]\n", "use another name"},
        {HEAD "bodies: [{name: stone, mass: 0, inertia: [1, 1, 1]}]\n", "mass"},
        {HEAD "bodies: [{name: stone, mass: 1, inertia: [1, 1, 9]}]\n", "inertia"},
        {HEAD "bodies: [{name: stone}]\n", "mass is missing: give it, or a shape and a density"},
        {HEAD "bodies: [{name: stone, mass: 1}]\n",
         "inertia is missing: give it, or a shape to take it from"},
        {HEAD "bodies: [{name: stone, density: 1000, inertia: [1, 1, 1]}]\n", "density needs a shape"},
        {HEAD "bodies: [{name: stone, shape: {kind: sphere, radius: 1}}]\n",
         "mass is missing: give it, or a density"},
        {HEAD "bodies: [{name: stone, mass: 1, density: 1, shape: {kind: sphere, radius: 1}}]\n",
         "give mass or density, not both"},
        {HEAD "bodies: [{name: stone, mass: 1, shape: {kind: hull, points: [[0, 0, 0], [1, 0, 0], [0, 1, 0], "
              "[1, 1, 0]]}}]\n",
         "test.yaml:3:"},
        {HEAD "bodies: [{name: stone, mass: 1, shape: {kind: hull, file: nowhere.stl}}]\n",
         "nowhere.stl cannot be read"},
        {HEAD "joints: [{kind: ball, name: x, a: alpha}, {kind: ball, name: x, a: alpha}]\n",
         "two joints are called x"},
        {HEAD "joints: [{kind: ball, name: all, a: alpha}]\n", "all stands for every joint"},
        {HEAD "joints: [{kind: ball, name: x, a: alpha}]\nexpect: [{quantity: force, joint: y, max: 1}]\n",
         "no joint is called \"y\""},
        {HEAD "joints: [{kind: ball, name: x, a: alpha}]\nexpect: [{quantity: angle, joint: x, max: 1}]\n",
         "joint x has no angle"},
        {HEAD "expect: [{quantity: tension, max: 1}]\n", "no joint has a tension"},
        {HEAD "joints: [{kind: ball, name: x, a: alpha}]\nexpect: [{quantity: z, joint: x, max: 1}]\n",
         "z is of drones: name a drone"},
        {HEAD
         "joints: [{kind: ball, name: x, a: alpha}]\nexpect: [{quantity: force, drone: alpha, max: 1}]\n",
         "force is of joints: name a joint"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        vy_scenario *s = NULL;
        vy_diagnostics d = {0};
        const vy_status status =
            vy_scenario_parse(cases[i].text, strlen(cases[i].text), "test.yaml", NULL, &s, &d);
        assert_true(status != VY_OK && s == NULL && d.errors > 0);
        char *text = vy_diagnostics_print(&d);
        if (strstr(text, cases[i].wanted) == NULL) fail_msg("wanted \"%s\" in:\n%s", cases[i].wanted, text);
        free(text);
        vy_diagnostics_destroy(&d);
    }
}

// A body is weighed by its shape: closed forms, and a hull whose centroid becomes the centre of mass.
static void joined_bodies_have_the_weight_of_their_shapes(void **unused)
{
    (void)unused;
    static const char text[] =
        HEAD "bodies:\n"
             "  - {name: brick, mass: 3, shape: {kind: box, size: [0.2, 0.4, 0.6]}}\n"
             "  - {name: ball, density: 1000 kg/m^3, shape: {kind: sphere, radius: 10 cm}}\n"
             "  - {name: rod, mass: 2, shape: {kind: cylinder, radius: 0.1, length: 1}}\n"
             "  - {name: die, density: 500, position: [1, 2, 3], shape: {kind: hull, points: [[0, 0, 0], [1, "
             "0, 0], "
             "[0, 1, 0], [1, 1, 0], [0, 0, 1], [1, 0, 1], [0, 1, 1], [1, 1, 1]]}}\n"
             "  - {name: given, density: 500, inertia: [1, 1, 1], shape: {kind: box, size: [1, 1, 2]}}\n";
    vy_scenario *s = NULL, *again = NULL;
    assert_int_equal(vy_scenario_parse(text, strlen(text), "a", NULL, &s, NULL), VY_OK);
    const vy_world_body_def *brick = &s->bodies[0].def, *ball = &s->bodies[1].def;
    const vy_world_body_def *rod = &s->bodies[2].def, *die = &s->bodies[3].def;
    assert_near(brick->inertia.m[0][0], 3.0 / 12.0 * (0.16 + 0.36), 1e-15);
    assert_near(brick->inertia.m[2][2], 3.0 / 12.0 * (0.04 + 0.16), 1e-15);
    assert_near(ball->mass, 4000.0 / 3.0 * 3.14159265358979323846 * 1e-3, 1e-12);
    assert_near(ball->inertia.m[1][1], 0.4 * ball->mass * 0.01, 1e-15);
    assert_near(rod->inertia.m[0][0], 2.0 * (3.0 * 0.01 + 1.0) / 12.0, 1e-14);
    assert_near(rod->inertia.m[2][2], 2.0 * 0.01 / 2.0, 1e-15);
    assert_near(die->mass, 500.0, 1e-10);
    assert_near(die->inertia.m[0][0], 500.0 / 6.0, 1e-10);
    assert_near(die->solid.points.values[0], -0.5, 1e-12); // about the centre of mass now
    assert_true(die->position.x == 1.0);
    assert_near(s->bodies[4].def.mass, 1000.0, 1e-10);
    assert_true(s->bodies[4].def.inertia.m[0][0] == 1.0);
    char *printed = vy_scenario_print(s); // with the numbers found
    assert_int_equal(vy_scenario_parse(printed, strlen(printed), "b", NULL, &again, NULL), VY_OK);
    assert_true(vy_scenario_hash(s) == vy_scenario_hash(again));
    free(printed);
    vy_scenario_destroy(s);
    vy_scenario_destroy(again);
}

// A wedge, known by its corners alone, swings about an edge with the period of a physical pendulum of its
// inertia: T = 2 pi sqrt((I + m d^2) / (m g d)) (1 + a^2 / 16) for an amplitude a.
static void joined_hull_swings_with_its_period(void **unused)
{
    (void)unused;
    static const char text[] = HEAD
        "bodies:\n"
        "  - {name: wedge, mass: 2, shape: {kind: hull, points: [[0, 0, 0], [0.3, 0, 0], [0, 0, -0.6], "
        "[0, 0.2, 0], [0.3, 0.2, 0], [0, 0.2, -0.6]]}}\n"
        "joints: [{kind: hinge, b: wedge, anchor_b: [-0.1, 0, 0.2], axis_a: [0, 1, 0], axis_b: [0, 1, 0]}]\n";
    vy_scenario *s = NULL;
    vy_diagnostics d = {0};
    if (vy_scenario_parse(text, strlen(text), "a", NULL, &s, &d) != VY_OK) fail_msg("%s", d.items[0].text);
    vy_diagnostics_destroy(&d);
    vy_world_body_def *wedge = &s->bodies[0].def;
    const double arm = sqrt(0.05), hang = atan2(0.1, 0.2); // from the edge to the centroid, a third in
    const double turn = 0.5 * (hang + 0.05);               // hanging straight, and 0.05 rad more
    wedge->attitude = (vy_quat){cos(turn), 0.0, sin(turn), 0.0};
    wedge->position = (vy_vec3){-arm * sin(0.05), 0.0, -arm * cos(0.05)};
    vy_world *world = NULL;
    assert_int_equal(vy_scenario_build(s, &world, NULL), VY_OK);
    double last = 1.0, first = 0.0, end = 0.0;
    int passes = 0;
    for (int k = 0; k < 8000; ++k) {
        vy_world_step(world);
        vy_world_body_state now;
        assert_int_equal(vy_world_read_body(world, vy_world_body(world, 1), &now), VY_OK);
        const double x = -now.position.x;
        if (last > 0.0 && x <= 0.0) {
            end = vy_world_time(world) - 1e-3 * x / (x - last);
            if (passes++ == 0) first = end;
        }
        last = x;
    }
    const double inertia = 2.0 / 18.0 * (0.09 + 0.36), about = inertia + 2.0 * arm * arm;
    const double period =
        2.0 * 3.14159265358979323846 * sqrt(about / (2.0 * 9.80665 * arm)) * (1.0 + 0.05 * 0.05 / 16.0);
    assert_true(passes > 5);
    assert_near((end - first) / (passes - 1), period, 1e-6 * period);
    vy_world_destroy(world);
    vy_scenario_destroy(s);
}

// What is printed reads as the same scenario, bodies as bodies, and flies the same.
static void joined_scenario_prints_itself(void **unused)
{
    (void)unused;
    static const char text[] = HEAD "bodies: [" STONE "]\n"
                                    "joints:\n  - {kind: hinge, a: alpha, b: stone, anchor_b: [0, 0, 0.5],"
                                    " stiffness: 2 N m/rad, motor_max: 1 N m}\n"
                                    "  - {kind: cable, b: stone, length: 30 cm}\n"
                                    "expect: [{quantity: z, drone: stone, max: 5}, {quantity: angle, joint: "
                                    "joint0, max: 5}]\n";
    vy_scenario *a = NULL, *b = NULL;
    assert_int_equal(vy_scenario_parse(text, strlen(text), "a", NULL, &a, NULL), VY_OK);
    assert_int_equal(a->drone_count, 1);
    assert_int_equal(a->body_count, 1);
    assert_string_equal(a->bodies[0].name, "stone");
    assert_int_equal(a->joints[0].b, 1);
    assert_int_equal(a->joints[1].a, VY_THE_WORLD);
    assert_int_equal(a->expect[0].body, 1);
    assert_int_equal(a->expect[1].joint, 0);
    assert_string_equal(a->joints[1].name, "joint1");
    char *printed = vy_scenario_print(a);
    assert_int_equal(vy_scenario_parse(printed, strlen(printed), "b", NULL, &b, NULL), VY_OK);
    assert_true(vy_scenario_hash(a) == vy_scenario_hash(b));
    assert_int_equal(b->expect[1].joint, 0);
    vy_world *x = NULL, *y = NULL;
    assert_int_equal(vy_scenario_build(a, &x, NULL), VY_OK);
    assert_int_equal(vy_scenario_build(b, &y, NULL), VY_OK);
    vy_world_advance(x, 50);
    vy_world_advance(y, 50);
    assert_true(vy_world_hash(x) == vy_world_hash(y));
    a->joints[0].def.stiffness = 3.0; // every value of a joint is in the hash
    assert_true(vy_scenario_hash(a) != vy_scenario_hash(b));
    free(printed);
    vy_world_destroy(x);
    vy_world_destroy(y);
    vy_scenario_destroy(a);
    vy_scenario_destroy(b);
}

// The scenarios that come with the project fly as they expect.
static void joined_scenarios_fly(void **unused)
{
    (void)unused;
    static const char *const files[] = {"scenarios/slung-load.yaml", "scenarios/arm.yaml",
                                        "scenarios/flexible-arms.yaml", "scenarios/tether.yaml"};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; ++i) {
        vy_scenario *s = NULL;
        vy_world *world = NULL;
        assert_int_equal(vy_scenario_load(files[i], NULL, &s, NULL), VY_OK);
        assert_int_equal(vy_scenario_build(s, &world, NULL), VY_OK);
        vy_expect_result results[16];
        assert_true(s->expect_count > 0 && s->expect_count <= 16);
        vy_expect_begin(s, results);
        int slack = 0, taut = 0;
        for (uint64_t k = 0; k < vy_scenario_steps(s); ++k) {
            const uint32_t events = vy_world_step(world);
            assert_int_equal(events & (VY_EVENT_FAILED | VY_EVENT_CONFLICT), 0);
            vy_expect_feed(s, world, results);
            vy_joint_state joint;
            const vy_joint_id first = {1};
            assert_int_equal(vy_world_read_joint(world, first, &joint), VY_OK);
            slack += !joint.active;
            taut += joint.active;
        }
        for (int k = 0; k < s->expect_count; ++k) assert_true(results[k].met);
        if (s->joints[0].def.kind == VY_JOINT_CABLE) assert_true(slack > 50 && taut > 1000);
        vy_world_destroy(world);
        vy_scenario_destroy(s);
    }
}

// A load on a cable that is 0.4 m too short at the start is drawn up, and its account says by what; from a
// snapshot it is drawn up to the same bits.
static void joined_open_cable_closes(void **unused)
{
    (void)unused;
    vy_world *world = world_for(9.80665);
    const vy_drone_def load = plain(0.5, (vy_vec3){1e-3, 1e-3, 1e-3}, (vy_vec3){0, 0, 0});
    const vy_drone_id id = add(world, &load);
    vy_joint_def cable = vy_default_joint_def();
    cable.kind = VY_JOINT_CABLE;
    cable.body_b = vy_world_drone_body(world, id);
    cable.anchor_a = (vy_vec3){0, 0, 1.4};
    cable.length = 1.0;
    vy_joint_id joint;
    vy_joint_state state;
    assert_int_equal(vy_world_add_joint(world, &cable, &joint, NULL), VY_OK);
    vy_world_track_energy(world);
    vy_energy e;
    void *block = malloc(vy_world_state_size(world));
    for (int n = 0; n < 1200; ++n) {
        const double z = read(world, id).position.z;
        if (n == 300) vy_world_save(world, block);
        assert_int_equal(vy_world_step(world), 0);
        assert_true(fabs(read(world, id).position.z - z) < 1e-3);
        assert_int_equal(vy_world_read_energy(world, cable.body_b, &e), VY_OK);
        assert_true(e.kinetic < 0.25);
    }
    assert_int_equal(vy_world_read_joint(world, joint, &state), VY_OK);
    assert_near(state.closing_time, 0.0, 0.0);
    assert_near(read(world, id).position.z, 0.4, 1e-9);
    // at 1/2.5 of the speed: what that is at first, and the weight
    assert_near(e.closing, 0.5 * 0.5 * 0.16 + 0.5 * 9.80665 * 0.4, 0.01);
    const uint64_t hash = vy_world_hash(world);
    assert_int_equal(vy_world_restore(world, block, vy_world_state_size(world), NULL), VY_OK);
    for (int n = 300; n < 1200; ++n) assert_int_equal(vy_world_step(world), 0);
    assert_true(vy_world_hash(world) == hash);
    free(block);
    vy_world_destroy(world);
}

// Joints that ask for what cannot be tear their bodies apart, faster than any path can be followed: such a
// flight ends with its reason.
static void joined_contradictions_end_with_a_reason(void **unused)
{
    (void)unused;
    static const char text[] = "volery: 1\nstep: 1 ms\nduration: 48 ms\ndrones: [{}]\n"
                               "bodies: [{mass: 0.029, inertia: [1.8e-3, 2.1e-3, 1.8e-3]}]\n"
                               "joints:\n"
                               "  - {kind: distance, a: drone0, b: body0, length: 0.18}\n"
                               "  - {kind: universal, a: drone0, b: body0}\n"
                               "terrain: {kind: plane}\n"
                               "contacts: {solver: impulse}\n";
    vy_scenario *s = NULL;
    vy_diagnostics d = {0};
    if (vy_scenario_parse(text, strlen(text), "a", NULL, &s, &d) != VY_OK) fail_msg("%s", d.items[0].text);
    vy_diagnostics_destroy(&d);
    for (int seed = 1; seed <= 20; ++seed) {
        vy_world *world = NULL;
        s->seed = (uint64_t)seed;
        assert_int_equal(vy_scenario_build(s, &world, NULL), VY_OK);
        uint32_t events = 0;
        for (int k = 0; k < 48 && (events & VY_EVENT_FAILED) == 0; ++k) events = vy_world_step(world);
        if ((events & VY_EVENT_FAILED) != 0)
            assert_int_equal(vy_world_failure(world).reason, VY_FAILURE_NOT_FINITE);
        vy_world_destroy(world);
    }
    vy_scenario_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joined_flexible_arm_frequency),
        cmocka_unit_test(joined_load_adds_its_mass),
        cmocka_unit_test(joined_slack_changes_nothing),
        cmocka_unit_test(joined_snapshot),
        cmocka_unit_test(joined_refusals),
        cmocka_unit_test(joined_scenario_mistakes),
        cmocka_unit_test(joined_bodies_have_the_weight_of_their_shapes),
        cmocka_unit_test(joined_hull_swings_with_its_period),
        cmocka_unit_test(joined_scenario_prints_itself),
        cmocka_unit_test(joined_open_cable_closes),
        cmocka_unit_test(joined_contradictions_end_with_a_reason),
        cmocka_unit_test(joined_scenarios_fly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
