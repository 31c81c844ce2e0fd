// test_nap_flights.c - what a run states about what it left out is true, and of use: random flights of every
// kind, each against the strict one or against what was left out in fact.
//
// By default a slice of them but the free ones; `test_nap_flights 2000` flies 2,000 of each.
#include "nap_flights.h"
#include "equations/integrators.h"
#include "volery/fault.h"
#include "volery/joint.h"
#include "volery/payload.h"

static int flights = 200 / LAW_SLICE; // of each kind

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static vy_disturbance_def random_push(random_source *r)
{
    vy_disturbance_def d = vy_default_disturbance_def();
    d.kind = (vy_disturbance_kind)(random_bits(r) % 4);
    const double force = scattered(r, 1e-7, 1e-2), torque = scattered(r, 1e-10, 1e-5);
    d.force = ball(r, force);
    d.torque = ball(r, torque);
    d.frame = (vy_frame)(random_bits(r) % 2);
    d.duration = random_in(r, 0.1, 1.0);
    d.frequency = random_in(r, 0.5, 5.0);
    return d;
}

// Stated over measured, of one quantity in all flights.
typedef struct ratio_list {
    double *of;
    int count;
} ratio_list;

static void print_ratios(const char *name, ratio_list *l, double *median, double *ninth)
{
    qsort(l->of, (size_t)l->count, sizeof l->of[0], by_size);
    *median = l->of[l->count / 2];
    *ninth = l->of[l->count * 9 / 10];
    print_message("%-8s %d seen; stated over measured: least %.2f, median %.1f, at 90 %% %.1f\n", name,
                  l->count, l->of[0], *median, *ninth);
}

// Free flights of 1 s, against the strict ones. At least 85 % have a bound, and it is of use: the
// ratios are of those that have one.
static void free_flights_stay_within_their_certificate(void **unused)
{
    (void)unused;
    const int min_flights = 2000 / LAW_SLICE; // ratios at 90 % need many
    const int count = flights > min_flights ? flights : min_flights;
    static const char *const names[4] = {"rate", "angle", "velocity", "position"};
    ratio_list ratios[4];
    for (int k = 0; k < 4; ++k) ratios[k] = (ratio_list){calloc((size_t)count, sizeof(double)), 0};
    int unbounded = 0;
    random_source r = {503};
    for (int n = 0; n < count; ++n) {
        vy_world_def wd = vy_default_world_def();
        random_environment(&r, &wd.environment);
        const vy_drone_def drone = random_drone(&r, &wd.environment);
        const vy_disturbance_def d = random_push(&r);
        double measured[4];
        const vy_certificate c = compare(&wd, &drone, &d, measured);
        // Positions on a planet have 1e-9 m to spare, and velocities follow.
        const double ground = wd.environment.planet.radius > 0.0 ? 1e-8 : 0.0;
        const double floors[4] = {1e-10, 1e-11, 1e-11 + ground, 1e-11 + ground};
        const double bounds[4] = {c.rate, c.angle, c.velocity, c.position};
        const int some = c.total_impulse > 0.0 || c.total_angular_impulse > 0.0;
        unbounded += !c.bounded;
        for (int k = 0; k < 4; ++k) {
            if (!(measured[k] <= bounds[k] + floors[k]))
                fail_msg("flight %d: %s differs by %g, certified %g", n, names[k], measured[k], bounds[k]);
            if (c.bounded && some && measured[k] > floors[k])
                ratios[k].of[ratios[k].count++] = bounds[k] / measured[k];
        }
    }
    print_message("%d free flights, %d without a bound\n", count, unbounded);
    for (int k = 0; k < 4; ++k) {
        double median, ninth;
        print_ratios(names[k], &ratios[k], &median, &ninth);
        free(ratios[k].of);
        assert_true((median <= 30.0 && ninth <= 1000.0) || LAW_SLICE > 1);
    }
    assert_true(unbounded * 100 <= count * 15);
}

// --- what was left out in fact

// Impulses of the effects that were not computed, by effect; wind is what it would have changed in all.
typedef struct neglected {
    double impulse[EFFECT_COUNT], angular[EFFECT_COUNT];
} neglected;

static void loads_with(const multirotor_inputs *in, const body_state *s, const double *speed,
                       const double *command, uint64_t flags, vy_loads *out)
{
    multirotor_inputs one = *in;
    memset(out, 0, sizeof *out);
    if (in->memory == NULL) flags &= EFFECTS_OF_BODIES;
    const uint64_t winds = flags & (EFFECT_BIT(wind) | EFFECT_BIT(downwash)); // they act through the others
    for (int k = 0; k < EFFECT_COUNT; ++k) { // each alone: in a sum small ones are lost in rounding
        if ((flags & ~winds & ((uint64_t)1 << k)) == 0) continue;
        body_wrench wrench;
        load_parts parts;
        vy_loads loads;
        one.flags = ((uint64_t)1 << k) | winds;
        multirotor_wrench_recorded(&one, s, speed, command, in->held.time, &parts, &wrench);
        vy_loads_of(&parts, &loads);
        out->force[k] = loads.force[k];
        out->torque[k] = loads.torque[k];
    }
}

static void add_up(const vy_loads *l, vec3 *force, vec3 *torque)
{
    *force = *torque = (vec3){0, 0, 0};
    for (int k = 0; k < EFFECT_COUNT; ++k) {
        *force = vec3_add(*force, l->force[k]);
        *torque = vec3_add(*torque, l->torque[k]);
    }
}

// The size of each load at motion `s` that `flags` leave out.
static void left_out_at(const multirotor_inputs *in, const body_state *s, const double *speed,
                        const double *command, uint64_t flags, neglected *out)
{
    vy_loads all, calm;
    vec3 f[2], t[2];
    loads_with(in, s, speed, command, EFFECTS_ALL, &all);
    loads_with(in, s, speed, command, EFFECTS_ALL & ~EFFECT_BIT(wind), &calm);
    add_up(&all, &f[0], &t[0]);
    add_up(&calm, &f[1], &t[1]);
    for (int k = 0; k < EFFECT_COUNT; ++k) {
        const int off = (flags >> k & 1) == 0, wind = k == EFFECT_wind;
        const double force = wind ? check_distance(f[0], f[1]) : vec3_length(all.force[k]);
        const double torque = wind ? check_distance(t[0], t[1]) : vec3_length(all.torque[k]);
        out->impulse[k] = off ? force : 0.0;
        out->angular[k] = off ? torque : 0.0;
    }
}

enum { BODIES = 3 };

// Step a world and add what is left out of each body: of its motion before the step and after it the one
// with less, so that a jump between them is no matter.
static void step_and_measure(vy_world *world, neglected *sums)
{
    const uint32_t count = body_count(&world->model);
    body_state before[BODIES];
    double speeds[BODIES][VY_ROTOR_CAP] = {{0}};
    assert_true(count <= BODIES);
    for (uint32_t i = 0; i < count; ++i) {
        before[i] = *body_at(world, i);
        if (i < world->model.drone_count) memcpy(speeds[i], world->drones[i].rotor_speed, sizeof speeds[i]);
    }
    const double time = vy_world_time(world), dt = world->model.dt;
    assert_true((vy_world_step(world) & VY_EVENT_FAILED) == 0);
    for (uint32_t i = 0; i < count; ++i) {
        if (*body_holder(&world->model, i) == HELD_BY_CARRIER)
            continue; // its carrier's effects are all there are
        body_inputs inputs;
        vy_body_inputs(world, &world->model, i, time, &inputs);
        const int drone = i < world->model.drone_count;
        const double *command = drone ? world->speeds[i] : speeds[i];
        const double *after = drone ? world->drones[i].rotor_speed : speeds[i];
        neglected a, b;
        left_out_at(&inputs.in, &before[i], speeds[i], command, inputs.in.flags, &a);
        left_out_at(&inputs.in, body_at(world, i), after, command, inputs.in.flags, &b);
        for (int k = 0; k < EFFECT_COUNT; ++k) {
            sums[i].impulse[k] += dt * fmin(a.impulse[k], b.impulse[k]);
            sums[i].angular[k] += dt * fmin(a.angular[k], b.angular[k]);
        }
    }
}

// What every body states covers what was left out of it.
static void assert_accounts_hold(const vy_world *world, const neglected *sums, const char *what, int n)
{
    for (uint32_t i = 0; i < body_count(&world->model); ++i) {
        vy_certificate c;
        assert_int_equal(vy_world_certificate(world, vy_world_body(world, i), &c), VY_OK);
        double impulse = 0.0, angular = 0.0;
        for (int k = 0; k < EFFECT_COUNT; ++k) {
            impulse += sums[i].impulse[k];
            angular += sums[i].angular[k];
            if (i >= world->model.drone_count) continue; // a body has the totals alone
            if (!(sums[i].impulse[k] <= c.impulse[k] * (1.0 + 1e-9) + 1e-15) ||
                !(sums[i].angular[k] <= c.angular_impulse[k] * (1.0 + 1e-9) + 1e-15))
                fail_msg("%s %d: of %s %g N s, %g N m s left out, stated %g, %g", what, n, vy_effect_name(k),
                         sums[i].impulse[k], sums[i].angular[k], c.impulse[k], c.angular_impulse[k]);
        }
        if (!(impulse <= c.total_impulse * (1.0 + 1e-9) + 1e-15) ||
            !(angular <= c.total_angular_impulse * (1.0 + 1e-9) + 1e-15))
            fail_msg("%s %d: body %u: %g N s, %g N m s left out, stated %g, %g", what, n, i, impulse, angular,
                     c.total_impulse, c.total_angular_impulse);
    }
}

static vy_world *world_of(const vy_world_def *def)
{
    vy_world *world = NULL;
    vy_error err = {0};
    if (vy_world_create(def, &world, &err) != VY_OK) fail_msg("%s", err.text);
    return world;
}

static vy_body_id put(vy_world *world, const vy_world_body_def *def)
{
    vy_body_id id;
    vy_error err = {0};
    if (vy_world_add_body(world, def, &id, &err) != VY_OK) fail_msg("%s", err.text);
    return id;
}

static void random_air(random_source *r, vy_environment_def *e)
{
    static const int periods[] = {1, 5, 10, 20, 50};
    if (chance(r, 0.3)) e->wind.constant = ball(r, 8.0);
    e->nap.force_abs = scattered(r, 1e-7, 1e-1);
    e->nap.force_rel = scattered(r, 1e-6, 1e-1);
    e->nap.torque_abs = scattered(r, 1e-10, 1e-4);
    e->nap.period = 1e-3 * periods[random_bits(r) % 5];
}

// A ball or box in the air, of some mass and drag.
static vy_world_body_def random_thing(random_source *r, double low, double high)
{
    vy_world_body_def b = vy_default_world_body_def();
    b.mass = scattered(r, low, high);
    const double size = 0.1, inertia = 0.4 * b.mass * size * size;
    b.inertia = (vy_mat3){{{inertia, 0, 0}, {0, inertia, 0}, {0, 0, inertia}}};
    b.area = scattered(r, 1e-4, 3e-2);
    b.cd = random_in(r, 0.2, 1.5);
    b.pressure_centre = ball(r, chance(r, 0.5) ? 0.01 : 0.0);
    b.damping = scattered_vec(r, 1e-9, 1e-5);
    b.solid.kind = VY_COLLIDER_SPHERE;
    b.solid.radius = size;
    b.solid.material.restitution = random_in(r, 0.0, 1.0);
    return b;
}

// A ball at rest is hit by a heavy one: its drag grows from nothing to newtons within a step.
static void a_ball_that_is_hit(void **unused)
{
    (void)unused;
    vy_world_def wd = vy_default_world_def();
    wd.environment.gravity.uniform = (vy_vec3){0, 0, 0};
    wd.environment.nap.force_abs = 1e-3;
    wd.contacts.on = 1;
    vy_world *world = world_of(&wd);
    random_source r = {7};
    vy_world_body_def small = random_thing(&r, 1.0, 1.0), large = small;
    small.mass = 0.05;
    small.area = 0.01;
    small.cd = 0.5;
    large.mass = 5.0;
    large.position = (vy_vec3){-0.5, 0, 0};
    large.velocity = (vy_vec3){60.0, 0, 0};
    (void)put(world, &small);
    (void)put(world, &large);
    neglected sums[BODIES];
    memset(sums, 0, sizeof sums);
    for (int i = 0; i < 500; ++i) step_and_measure(world, sums);
    assert_true(vec3_length(body_at(world, 0)->velocity) > 10.0);
    assert_accounts_hold(world, sums, "ball", 0);
    vy_world_destroy(world);
}

// Two things that meet in the air, or fall on a floor.
static void accounts_hold_with_contacts(void **unused)
{
    (void)unused;
    random_source r = {811};
    for (int n = 0; n < flights; ++n) {
        vy_world_def wd = vy_default_world_def();
        random_air(&r, &wd.environment);
        wd.contacts.on = 1;
        vy_world *world = world_of(&wd);
        vy_world_body_def a = random_thing(&r, 0.02, 1.0), b = random_thing(&r, 0.1, 10.0);
        a.position = (vy_vec3){0, 0, random_in(&r, 0.5, 3.0)};
        const quat first = random_attitude(&r);
        const double second = random_in(&r, 0.5, 3.0);
        const vy_vec3 way = vec3_scale(second, quat_rotate(first, (vec3){1, 0, 0}));
        const double speed = random_in(&r, 1.0, 60.0);
        b.position = vec3_add(a.position, way);
        b.velocity = vec3_scale(-speed / vec3_length(way), way);
        a.rate = ball(&r, 20.0);
        (void)put(world, &a);
        (void)put(world, &b);
        if (chance(&r, 0.5)) {
            vy_obstacle_def floor = vy_default_obstacle_def();
            floor.solid.kind = VY_COLLIDER_PLANE;
            floor.position.z = -3.0;
            assert_int_equal(vy_world_add_obstacle(world, &floor, NULL), VY_OK);
        }
        neglected sums[BODIES];
        memset(sums, 0, sizeof sums);
        for (int i = 0; i < 500; ++i) step_and_measure(world, sums);
        assert_accounts_hold(world, sums, "contact", n);
        vy_world_destroy(world);
    }
}

// A load that falls into a cable, from a drone or a fixed point.
static void accounts_hold_with_cables(void **unused)
{
    (void)unused;
    random_source r = {812};
    for (int n = 0; n < flights; ++n) {
        vy_world_def wd = vy_default_world_def();
        random_air(&r, &wd.environment);
        vy_world *world = world_of(&wd);
        vy_world_body_def a = random_thing(&r, 0.02, 1.0), b = random_thing(&r, 0.1, 10.0);
        a.velocity = ball(&r, 20.0);
        b.position = random_vec(&r, 0.5);
        b.velocity = ball(&r, 20.0);
        vy_joint_def cable = vy_default_joint_def();
        cable.kind = VY_JOINT_CABLE;
        cable.body_a = put(world, &a);
        cable.body_b = put(world, &b);
        cable.anchor_a = ball(&r, 0.1);
        cable.length = random_in(&r, 1.5, 3.0);
        assert_int_equal(vy_world_add_joint(world, &cable, NULL, NULL), VY_OK);
        neglected sums[BODIES];
        memset(sums, 0, sizeof sums);
        for (int i = 0; i < 500; ++i) step_and_measure(world, sums);
        assert_accounts_hold(world, sums, "cable", n);
        vy_world_destroy(world);
    }
}

// A drone that takes up a load that passes, or lets one go, and one whose motors fail.
static void accounts_hold_with_payloads_and_faults(void **unused)
{
    (void)unused;
    random_source r = {813};
    for (int n = 0; n < flights; ++n) {
        vy_world_def wd = vy_default_world_def();
        random_air(&r, &wd.environment);
        vy_world *world = world_of(&wd);
        vy_environment_def flat = wd.environment;
        vy_drone_def drone = random_drone(&r, &flat);
        drone.velocity = ball(&r, 3.0);
        drone.rate = ball(&r, 3.0);
        if (chance(&r, 0.5)) {
            const vy_drone_def closed = vy_default_drone_def();
            drone.controller.kind = closed.controller.kind;
            drone.controller.start = closed.controller.start;
            drone.imu = closed.imu;
            drone.mocap = closed.mocap;
        }
        vy_drone_id id;
        assert_int_equal(vy_world_add_drone(world, &drone, &id, NULL), VY_OK);
        vy_world_body_def load = random_thing(&r, 0.001, 0.5);
        const double meet = 1e-3 * floor(random_in(&r, 5.0, 200.0));
        load.velocity = vec3_add(drone.velocity, ball(&r, 30.0));
        load.position = vec3_add_scaled(drone.position, -meet, vec3_sub(load.velocity, drone.velocity));
        vy_payload_def p = vy_default_payload_def();
        p.carrier = id;
        p.load = put(world, &load);
        p.reach = 5.0;
        p.attach = chance(&r, 0.7) ? meet : 0.0;
        p.drop = p.attach + random_in(&r, 0.05, 0.4);
        assert_int_equal(vy_world_add_payload(world, &p, NULL), VY_OK);
        if (chance(&r, 0.5)) {
            vy_fault_def f = vy_default_fault_def();
            f.kind = (vy_fault_kind)(random_bits(&r) % 4);
            f.drone = id;
            f.rotor = (int)(random_bits(&r) % 4);
            f.size = f.kind == VY_FAULT_MOTOR_LAG ? random_in(&r, 0.001, 0.5) : random_in(&r, 0.0, 1.0);
            f.start = random_in(&r, 0.0, 0.4);
            f.duration = random_in(&r, 0.05, 0.5);
            assert_int_equal(vy_world_add_fault(world, &f, NULL), VY_OK);
        }
        neglected sums[BODIES];
        memset(sums, 0, sizeof sums);
        for (int i = 0; i < 500; ++i) step_and_measure(world, sums);
        assert_accounts_hold(world, sums, "payload", n);
        vy_world_destroy(world);
    }
}

// What pushes or turns a body is in its reach: a force that is computed makes drag grow within a period that
// was negligible at its start, and a torque damping.
static void pushes_are_in_the_reach(void **unused)
{
    (void)unused;
    for (int turned = 0; turned < 2; ++turned) {
        vy_world_def wd = vy_default_world_def();
        wd.environment.gravity.uniform = (vy_vec3){0, 0, 0};
        wd.environment.nap.force_abs = 1.0;
        wd.environment.nap.torque_abs = 1e-3;
        wd.environment.nap.period = 0.05;
        vy_world *world = world_of(&wd);
        vy_world_body_def body = vy_default_world_body_def();
        body.area = 0.01;
        body.cd = 1.0;
        body.damping = (vy_vec3){1e-4, 1e-4, 1e-4};
        (void)put(world, &body);
        vy_disturbance_def d = vy_default_disturbance_def();
        if (turned) {
            d.torque = (vy_vec3){0, 0, 12.0};
        } else {
            d.force = (vy_vec3){100.0, 0, 0};
        }
        assert_int_equal(vy_world_add_disturbance(world, &d, NULL), VY_OK);
        neglected sums[BODIES];
        memset(sums, 0, sizeof sums);
        for (int i = 0; i < 50; ++i) step_and_measure(world, sums);
        const double left = turned ? sums[0].angular[EFFECT_damping] : sums[0].impulse[EFFECT_drag];
        assert_true(left > 1e-5); // something was left out
        assert_accounts_hold(world, sums, "push", turned);
        vy_world_destroy(world);
    }
}

// A neglected push is in the certificate, and next to nothing else is: 5e-4 N on 1 kg for a second.
static void a_neglected_push_is_stated(void **unused)
{
    (void)unused;
    vy_world_def wd = vy_default_world_def();
    wd.environment.gravity.uniform = (vy_vec3){0, 0, 0};
    wd.environment.atmosphere.mode = VY_ATMOSPHERE_NONE;
    wd.environment.nap.force_abs = 1e-3;
    wd.environment.nap.torque_abs = 1e-3;
    vy_drone_def def = passive_body();
    def.imu.period = def.mocap.period = 0.0;
    def.rotor_speed = 0.0;
    vy_disturbance_def d = vy_default_disturbance_def();
    d.force = (vy_vec3){5e-4, 0, 0};
    d.torque = (vy_vec3){0, 0, 1e-5};
    double measured[4];
    const vy_certificate c = compare(&wd, &def, &d, measured);
    const double stated[4] = {c.rate, c.angle, c.velocity, c.position};
    assert_near(measured[DEVIATION_POSITION], 2.5e-4, 1e-8);
    assert_true(c.bounded);
    for (int k = 0; k < 4; ++k) assert_true(measured[k] <= stated[k] && stated[k] <= 2.1 * measured[k]);
}

// A body that turns too fast to tell has a bound of its motion all the same, where its attitude moves
// nothing: it is certified apart.
static void turning_takes_nothing_along(void **unused)
{
    (void)unused;
    vy_world_def wd = vy_default_world_def();
    wd.environment.atmosphere.mode = VY_ATMOSPHERE_NONE;
    wd.environment.nap.force_abs = 1e-3;
    wd.environment.nap.torque_abs = 1.0;
    vy_drone_def def = passive_body();
    def.imu.period = def.mocap.period = 0.0;
    def.rotor_speed = 0.0;
    def.rate = (vy_vec3){200.0, 150.0, 100.0};
    vy_disturbance_def d = vy_default_disturbance_def();
    d.force = (vy_vec3){5e-4, 0, 0};
    d.torque = (vy_vec3){0, 0.01, 0.1};
    double measured[4];
    const vy_certificate c = compare(&wd, &def, &d, measured);
    assert_true(c.angle > 100.0 * PI); // nothing is known of it
    assert_true(c.bounded && measured[DEVIATION_POSITION] <= c.position && c.position < 1e-3);
}

// --- orbits

static void around_the_earth(vy_environment_def *e)
{
    e->gravity.mode = VY_GRAVITY_CENTRAL;
    e->gravity.body_count = 1;
    e->gravity.bodies[0] = (vy_gravity_body){3.986004418e14, {0, 0, 0}, 0.0, 0.0};
    e->atmosphere.mode = VY_ATMOSPHERE_NONE;
}

// A probe of 100 kg on an orbit to ten times the Moon's distance: gravity itself gets small against the
// weight at the start, and is computed all the same, so the probe comes back.
static void a_probe_comes_back(void **unused)
{
    (void)unused;
    vy_world_def wd = vy_default_world_def();
    around_the_earth(&wd.environment);
    wd.dt = 1.0;
    vy_world *world = world_of(&wd);
    vy_world_body_def probe = vy_default_world_body_def();
    probe.mass = 100.0;
    probe.position = (vy_vec3){6578137.0, 0, 0};
    probe.velocity = (vy_vec3){0, 10972.91, 0};
    const vy_body_id id = put(world, &probe);
    double farthest = 0.0;
    for (int i = 0; i < 3000; ++i) { // 3e6 s
        (void)vy_world_advance(world, 1000);
        farthest = fmax(farthest, vec3_length(body_at(world, 0)->position));
        vy_certificate c;
        assert_int_equal(vy_world_certificate(world, id, &c), VY_OK);
        assert_true((c.effects & EFFECT_BIT(gravity)) != 0);
    }
    assert_true(farthest > 5e8);
    assert_true(vec3_length(body_at(world, 0)->position) < 0.9 * farthest);
    vy_world_destroy(world);
}

// Above the end of the standard atmosphere there is no air, in strict runs too: what that leaves out is in
// the account, as much as the air at the end would do.
static void air_above_the_standard_is_in_the_account(void **unused)
{
    (void)unused;
    for (int n = 0; n < 4; ++n) {
        const int strict = n % 2;
        const double height = n < 2 ? 9e5 : 1.2e6, radius = 6378137.0 + height;
        vy_world_def wd = vy_default_world_def();
        around_the_earth(&wd.environment);
        wd.environment.atmosphere.mode = VY_ATMOSPHERE_LAYERED;
        wd.environment.planet = (vy_planet_def){.radius = 6378137.0};
        wd.environment.nap.strict = strict;
        wd.dt = 0.1;
        vy_world *world = world_of(&wd);
        vy_world_body_def probe = vy_default_world_body_def();
        probe.mass = 100.0;
        probe.area = 10.0;
        probe.cd = 2.2;
        const double speed = sqrt(3.986004418e14 / radius);
        probe.position = (vy_vec3){radius, 0, 0};
        probe.velocity = (vy_vec3){0, speed, 0};
        const vy_body_id id = put(world, &probe);
        (void)vy_world_advance(world, 1000); // 100 s
        vy_certificate c;
        assert_int_equal(vy_world_certificate(world, id, &c), VY_OK);
        const double last = air_at(&world->model.env.air, AIR_TOP).density;
        const double missing = 0.5 * last * 22.0 * speed * speed * 100.0;
        if (n < 2 && strict) assert_true(c.total_impulse == 0.0);
        if (n >= 2) assert_true(c.total_impulse >= missing && c.total_impulse < 1.1 * missing);
        vy_world_destroy(world);
    }
}

// Random orbits with drag, light and pushes, against the strict ones.
static void orbits_stay_within_their_certificate(void **unused)
{
    (void)unused;
    random_source r = {814};
    int unbounded = 0;
    for (int n = 0; n < flights; ++n) {
        vy_world_def wd = vy_default_world_def();
        around_the_earth(&wd.environment);
        wd.environment.atmosphere.mode = chance(&r, 0.5) ? VY_ATMOSPHERE_LAYERED : VY_ATMOSPHERE_NONE;
        wd.environment.planet =
            (vy_planet_def){.radius = 6378137.0, .flattening = 1.0 / 298.257223563, .rate = 7.292115e-5};
        wd.environment.sunlight = ball(&r, 1e-5);
        wd.environment.gravity.gradient = chance(&r, 0.5);
        wd.environment.nap.torque_abs = scattered(&r, 1e-12, 1e-6);
        wd.environment.nap.force_abs = scattered(&r, 1e-7, 1e-2);
        wd.environment.nap.force_rel = scattered(&r, 1e-9, 1e-3);
        wd.environment.nap.horizon = 1000.0;
        wd.dt = 0.5;
        vy_drone_def probe = passive_body();
        probe.imu.period = probe.mocap.period = 0.0;
        probe.vehicle.mass = scattered(&r, 1.0, 1000.0);
        probe.vehicle.area = scattered(&r, 0.01, 10.0);
        probe.vehicle.light_area = probe.vehicle.area;
        probe.vehicle.cd = 2.2;
        const double height = scattered(&r, 1.2e5, 4e7), radius = 6378137.0 + height;
        const quat plane = random_attitude(&r);
        const double speed = sqrt(3.986004418e14 / radius) * random_in(&r, 0.98, 1.3);
        probe.position = quat_rotate(plane, (vec3){radius, 0, 0});
        probe.velocity = quat_rotate(plane, (vec3){0, speed, 0});
        probe.rate = ball(&r, 1.0);
        vy_disturbance_def d = vy_default_disturbance_def();
        d.force = ball(&r, scattered(&r, 1e-6, 1e-2));
        double measured[4];
        const vy_certificate c = compare(&wd, &probe, &d, measured);
        unbounded += !c.bounded;
        const double velocity = c.velocity, position = c.position;
        if (!(measured[DEVIATION_VELOCITY] <= velocity + 1e-7) ||
            !(measured[DEVIATION_POSITION] <= position + 1e-4))
            fail_msg("orbit %d: %g m/s, %g m, stated %g, %g", n, measured[DEVIATION_VELOCITY],
                     measured[DEVIATION_POSITION], velocity, position);
        if (!(measured[DEVIATION_RATE] <= c.rate + 1e-12) || !(measured[DEVIATION_ANGLE] <= c.angle + 1e-9))
            fail_msg("orbit %d: %g rad/s, %g rad, stated %g, %g", n, measured[DEVIATION_RATE],
                     measured[DEVIATION_ANGLE], c.rate, c.angle);
    }
    print_message("%d orbits of 500 s, %d without a bound\n", flights, unbounded);
    assert_true(unbounded * 10 <= flights);
}

int main(int argc, char **argv)
{
    if (argc > 1) flights = atoi(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(free_flights_stay_within_their_certificate),
        cmocka_unit_test(a_ball_that_is_hit),
        cmocka_unit_test(accounts_hold_with_contacts),
        cmocka_unit_test(accounts_hold_with_cables),
        cmocka_unit_test(accounts_hold_with_payloads_and_faults),
        cmocka_unit_test(pushes_are_in_the_reach),
        cmocka_unit_test(a_neglected_push_is_stated),
        cmocka_unit_test(turning_takes_nothing_along),
        cmocka_unit_test(a_probe_comes_back),
        cmocka_unit_test(air_above_the_standard_is_in_the_account),
        cmocka_unit_test(orbits_stay_within_their_certificate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
