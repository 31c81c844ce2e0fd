// test_autopilot.c - the autopilot: every sentence of its specification, its corners, and that it arrives.
#include "flight.h"
#include "volery/autopilot.h"
#include "world/world_impl.h"
#include <string.h>

static vy_autopilot autopilot_to(vy_vec3 target)
{
    const vy_autopilot_def def = vy_default_autopilot_def();
    vy_autopilot a;
    assert_int_equal(vy_autopilot_init(&def, &a, NULL), VY_OK);
    vy_autopilot_set_target(&a, target);
    return a;
}

static int is_zero(vy_sticks s)
{
    return s.throttle == 0.0 && s.strafe == 0.0 && s.vertical == 0.0 && s.yaw == 0.0;
}

// The published defaults; a target's height is replaced; without a target the sticks are left alone.
static void defaults_and_target(void **unused)
{
    (void)unused;
    const vy_autopilot_def def = vy_default_autopilot_def();
    assert_true(def.altitude == 20.0 && def.throttle == 4 && def.radius == 5.0 && def.yaw_tolerance == 0.1);
    vy_autopilot a;
    assert_int_equal(vy_autopilot_init(&def, &a, NULL), VY_OK);
    random_source r = {61};
    for (int n = 0; n < 50; ++n) {
        const vec3 at = random_vec(&r, 100.0);
        assert_true(is_zero(vy_autopilot_update(&a, at, random_attitude(&r))));
    }
    vy_autopilot_set_target(&a, (vy_vec3){1, 2, -3});
    assert_vec_near(a.target, ((vec3){1, 2, 20}), 0.0);
}

// Arrival counts horizontal distance alone and empties every input, also the vertical one.
static void arrival_is_horizontal_and_stops(void **unused)
{
    (void)unused;
    const vy_autopilot a = autopilot_to((vy_vec3){30, 40, 0});
    random_source r = {62};
    for (int n = 0; n < 1000; ++n) {
        const double angle = random_in(&r, -4.0, 4.0), away = random_in(&r, 0.0, 10.0);
        const vy_vec3 at = {30 + away * cos(angle), 40 + away * sin(angle), random_in(&r, 0.0, 40.0)};
        const vy_sticks s = vy_autopilot_update(&a, at, turn(random_in(&r, -4, 4), 0, 0, 1));
        if (away < 4.999) assert_true(is_zero(s));
        if (away > 5.001) assert_true(s.yaw != 0.0 || s.throttle == 4.0);
    }
    assert_true(is_zero(vy_autopilot_update(&a, (vy_vec3){30, 40, 20}, turn(1, 0, 0, 1)))); // exactly there
}

// Up or down outside one metre of the altitude, whatever the rest does.
static void altitude_has_a_dead_zone(void **unused)
{
    (void)unused;
    const vy_autopilot a = autopilot_to((vy_vec3){1000, 0, 0});
    static const double heights[] = {0.0, 18.9, 19.0, 19.1, 20.0, 20.9, 21.0, 21.1, 50.0};
    static const double wanted[] = {1, 1, 0, 0, 0, 0, 0, -1, -1};
    for (int yaw = 0; yaw < 6; ++yaw) {
        for (int i = 0; i < 9; ++i) {
            const vy_sticks s = vy_autopilot_update(&a, (vy_vec3){0, 0, heights[i]}, turn(yaw, 0, 0, 1));
            assert_true(s.vertical == wanted[i]);
            assert_true(s.strafe == 0.0);
        }
    }
}

// Ruling 1 and 12: outside the tolerance it turns towards the target by the shorter way, positive to the
// right, with no throttle; inside, it drives and does not turn. The nose is body +x seen from above, at any
// attitude.
static void ruling_12_turn_then_burn(void **unused)
{
    (void)unused;
    random_source r = {63};
    const vy_autopilot a = autopilot_to((vy_vec3){0, 0, 0});
    for (int n = 0; n < 20000; ++n) {
        const vy_vec3 at = random_vec(&r, 200.0);
        if (at.x * at.x + at.y * at.y < 26.0) continue;
        const vy_quat q = n % 2 ? random_attitude(&r) : turn(random_in(&r, -4, 4), 0, 0, 1);
        const vy_sticks s = vy_autopilot_update(&a, at, q);
        const vec3 nose = quat_rotate(q, (vec3){1, 0, 0});
        const double bearing = atan2(-at.y, -at.x) - atan2(nose.y, nose.x); // counter-clockwise to the target
        const double off = atan2(sin(bearing), cos(bearing));
        if (fabs(fabs(off) - 0.1) < 1e-9) continue;
        if (fabs(off) > 0.1) {
            assert_true(s.throttle == 0.0 && s.yaw == (off > 0.0 ? -1.0 : 1.0));
        } else {
            assert_true(s.throttle == 4.0 && s.yaw == 0.0);
        }
    }
}

// Ruling 12: a target exactly behind is turned to by the right; a vertical nose gives no yaw; whatever the
// place, nothing is ever not a number.
static void ruling_12_corners(void **unused)
{
    (void)unused;
    const vy_autopilot a = autopilot_to((vy_vec3){-100, 0, 0});
    const vy_sticks behind = vy_autopilot_update(&a, (vy_vec3){0, 0, 20}, (vy_quat){1, 0, 0, 0});
    assert_true(behind.yaw == 1.0 && behind.throttle == 0.0);
    for (int n = -1; n <= 1; n += 2) {
        const vy_sticks up =
            vy_autopilot_update(&a, (vy_vec3){0, 0, 20}, (vy_quat){sqrt(0.5), 0, n * sqrt(0.5), 0});
        assert_true(up.yaw == 0.0 && up.throttle == 0.0);
    }
    const vy_vec3 odd[] = {
        {-100, 0, 20}, {-100, 0, 1e6}, {-100, 0, -1e6}, {1e15, 1e15, 0}, {-100 + 1e-300, 0, 0}};
    vy_autopilot near = a;
    near.def.radius = 1e-200;
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; ++i) {
        for (int k = 0; k < 2; ++k) {
            const vy_sticks s = vy_autopilot_update(k ? &near : &a, odd[i], (vy_quat){0.5, 0.5, 0.5, 0.5});
            assert_true(isfinite(s.throttle) && isfinite(s.vertical) && isfinite(s.yaw));
        }
    }
}

// Ruling 12: throttle 0 to 10, radius above 0, tolerance in (0, pi), else an error that names the field.
static void ruling_12_bad_parameters_are_refused(void **unused)
{
    (void)unused;
    vy_autopilot_def list[8];
    for (int i = 0; i < 8; ++i) list[i] = vy_default_autopilot_def();
    list[0].throttle = -1;
    list[1].throttle = 11;
    list[2].radius = 0.0;
    list[3].radius = NOT_A_NUMBER;
    list[4].yaw_tolerance = 0.0;
    list[5].yaw_tolerance = PI;
    list[6].yaw_tolerance = NOT_A_NUMBER;
    list[7].altitude = INFINITE;
    static const char *const says[] = {"throttle", "throttle", "radius", "radius",
                                       "yaw",      "yaw",      "yaw",    "altitude"};
    for (int i = 0; i < 8; ++i) {
        vy_error err = {0};
        vy_autopilot a;
        memset(&a, 7, sizeof a);
        const vy_autopilot before = a;
        assert_int_equal(vy_autopilot_init(&list[i], &a, &err), VY_BAD_VALUE);
        assert_non_null(strstr(err.text, says[i]));
        assert_memory_equal(&a, &before, sizeof a);
    }
}

typedef struct flown {
    double last;   // [m] from the target at the end
    int opened;    // replies with an open throttle
    int forbidden; // of those: outside the tolerance, or after arrival
} flown;

static flown fly_to_target(int kinematic, double period, random_source *r)
{
    vy_world_def wd = vy_default_world_def();
    wd.dt = 0.005;
    wd.seed = random_bits(r);
    vy_drone_def def = kinematic ? passive_body() : vy_default_drone_def();
    def.imu.period = 0.005;
    def.mocap.period = 0.01;
    if (kinematic) wd.environment.physics.engine = VY_ENGINE_SIMPLE;
    def.position = (vy_vec3){random_in(r, -60, 60), random_in(r, -60, 60), random_in(r, 2, 40)};
    def.attitude = turn(random_in(r, -4, 4), 0, 0, 1);
    def.controller.kind = VY_CONTROLLER_AUTOPILOT;
    def.controller.flight = kinematic ? VY_FLIGHT_KINEMATIC : VY_FLIGHT_DYNAMIC;
    def.controller.period = period;
    def.controller.rate_period = 0.005;
    const vec3 target = {random_in(r, -60, 60), random_in(r, -60, 60), 0};
    def.controller.autopilot.target = target;
    vy_world *world = fly_in(&wd, &def);
    flown f = {0};
    const int ticks = (int)(period / wd.dt + 0.5);
    for (int i = 1; i <= 200 * 60; ++i) {
        (void)vy_world_step(world);
        if (i % ticks != 0) continue;
        // The throttle is open only while it faces the target, by what it believes, and has not arrived.
        const drone_block *d = &world->drones[0];
        const vec3 nose = quat_rotate(d->estimate.attitude, (vec3){1, 0, 0});
        const vec3 way = vec3_sub(target, d->estimate.position);
        const double off = atan2(nose.x * way.y - nose.y * way.x, nose.x * way.x + nose.y * way.y);
        const int open = d->control.stick.x > 0.0;
        f.opened += open;
        f.forbidden += open && (fabs(off) > 0.1 + 1e-9 || hypot(way.x, way.y) < 5.0 - 1e-9);
    }
    const vy_drone_state end = state_of(world, 0);
    f.last = hypot(end.position.x - target.x, end.position.y - target.y);
    vy_world_destroy(world);
    return f;
}

// Ruling 12: it arrives from every start, on the kinematic path with periods up to 2 tolerance / yaw rate,
// and on the dynamic path; and it never drives forward outside the tolerance.
static void ruling_12_arrives_from_every_start(void **unused)
{
    (void)unused;
    random_source r = {64};
    int opened = 0;
    static const double periods[] = {0.005, 0.02, 0.1, 0.125};
    for (int n = 0; n < 40; ++n) {
        const int kinematic = n % 4 != 0;
        const flown f = fly_to_target(kinematic, kinematic ? periods[n % 4] : 0.01, &r);
        if (!(f.last < 6.5) || f.forbidden > 0)
            fail_msg("flight %d (%s) ends %g m away, %d replies forbidden", n,
                     kinematic ? "kinematic" : "dynamic", f.last, f.forbidden);
        opened += f.opened;
    }
    assert_true(opened > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_and_target),
        cmocka_unit_test(arrival_is_horizontal_and_stops),
        cmocka_unit_test(altitude_has_a_dead_zone),
        cmocka_unit_test(ruling_12_turn_then_burn),
        cmocka_unit_test(ruling_12_corners),
        cmocka_unit_test(ruling_12_bad_parameters_are_refused),
        cmocka_unit_test(ruling_12_arrives_from_every_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
