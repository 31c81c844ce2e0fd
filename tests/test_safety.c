// test_safety.c - limits that end a run: what is measured, when, and how long it may be exceeded.
#include "flight.h"
#include "volery/fault.h"
#include "volery/obstacle.h"
#include <float.h>
#include <string.h>

// A body without rotors in a world without gravity: it stays where it is put, or moves as it is thrown.
static vy_failure fly_body(const vy_drone_def *def, uint64_t steps)
{
    vy_world_def w = vy_default_world_def();
    w.environment.gravity.uniform = (vy_vec3){0.0, 0.0, 0.0};
    vy_world *world = fly_in(&w, def);
    vy_world_advance(world, steps);
    const vy_failure f = vy_world_failure(world);
    vy_world_destroy(world);
    return f;
}

static vy_drone_def body(void)
{
    vy_drone_def def = quiet_drone();
    def.vehicle.rotor_count = 0;
    def.rotor_speed = 0.0;
    def.vehicle.drag_linear = (vy_vec3){0.0, 0.0, 0.0};
    return def;
}

// --- geofences

// The winding number by the sum of angles: another way to know what is inside.
static int winds_around(const vy_fence_def *f, double x, double y)
{
    double sum = 0.0;
    for (int i = 0; i < f->corner_count; ++i) {
        const double *a = f->corners[i].position, *b = f->corners[(i + 1) % f->corner_count].position;
        const double ax = a[0] - x, ay = a[1] - y, bx = b[0] - x, by = b[1] - y;
        sum += atan2(ax * by - ay * bx, ax * bx + ay * by);
    }
    return fabs(sum) > PI;
}

// The distance from the border by walking along it.
static double border_distance(const vy_fence_def *f, double x, double y)
{
    double min = DBL_MAX;
    for (int i = 0; i < f->corner_count; ++i) {
        const double *a = f->corners[i].position, *b = f->corners[(i + 1) % f->corner_count].position;
        for (int k = 0; k <= 2000; ++k)
            min = fmin(min,
                       hypot(a[0] + (b[0] - a[0]) * k / 2000.0 - x, a[1] + (b[1] - a[1]) * k / 2000.0 - y));
    }
    return min;
}

static void polygons_keep_what_is_inside(void **unused)
{
    (void)unused;
    // A star with five re-entrant corners, counter-clockwise, then the same the other way round.
    random_source random = {11};
    for (int round = 0; round < 400; ++round) {
        vy_drone_def def = body();
        vy_fence_def *f = &def.safety.fence;
        f->kind = VY_FENCE_POLYGON;
        f->corner_count = 10;
        for (int i = 0; i < 10; ++i) {
            const double angle = (round % 2 ? -1.0 : 1.0) * PI * i / 5.0, radius = i % 2 ? 2.0 : 5.0;
            f->corners[i] = (vy_fence_corner){{1.0 + radius * cos(angle), -2.0 + radius * sin(angle)}};
        }
        f->high = 3.0;
        def.position =
            (vy_vec3){random_in(&random, -5, 7), random_in(&random, -8, 4), random_in(&random, 0, 4)};
        const double x = def.position.x, y = def.position.y, z = def.position.z;
        const double far = winds_around(f, x, y) ? 0.0 : border_distance(f, x, y);
        const vy_failure failure = fly_body(&def, 1);
        assert_int_equal(failure.reason, far > 0.0 || z > 3.0 ? VY_FAILURE_FENCE : VY_FAILURE_NONE);
        if (failure.reason == VY_FAILURE_NONE) continue;
        assert_near(failure.value, fmax(far, z - 3.0), 2e-3);
        assert_true(failure.limit == 0.0);
        assert_string_equal(failure.what, "geofence");
    }
}

static void boxes_and_cylinders_end_at_their_walls(void **unused)
{
    (void)unused;
    static const struct {
        vy_vec3 position;
        double box, cylinder; // outside by
    } cases[] = {
        {{0.0, 0.0, 1.0}, 0.0, 0.0},  {{2.5, 0.0, 1.0}, 0.5, 0.0}, {{-2.0, 2.0, 1.0}, 0.0, 0.0},
        {{0.0, -4.0, 1.0}, 2.0, 1.0}, {{3.0, 4.0, 1.0}, 2.0, 2.0}, {{0.0, 0.0, 4.25}, 1.25, 1.25},
        {{0.0, 0.0, -1.0}, 1.0, 1.0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        for (int round = 0; round < 2; ++round) {
            vy_drone_def def = body();
            def.position = cases[i].position;
            def.safety.fence = (vy_fence_def){.kind = round ? VY_FENCE_CYLINDER : VY_FENCE_BOX,
                                              .min = {-2.0, -2.0, 0.0},
                                              .max = {2.0, 2.0, 3.0},
                                              .radius = 3.0,
                                              .low = 0.0,
                                              .high = 3.0};
            const double outside = round ? cases[i].cylinder : cases[i].box;
            const vy_failure f = fly_body(&def, 1);
            assert_int_equal(f.reason, outside > 0.0 ? VY_FAILURE_FENCE : VY_FAILURE_NONE);
            if (outside > 0.0) assert_near(f.value, outside, 1e-12);
        }
    }
}

// --- fall, ground, sustain

static void a_fall_is_told_with_its_speed(void **unused)
{
    (void)unused;
    vy_drone_def def = body();
    def.position.z = 100.0;
    def.safety.fall_max = 5.0;
    def.safety.sustain = 0.25;
    vy_world *world = fly(&def); // gravity of 9.80665
    vy_world_advance(world, 5000);
    const vy_failure f = vy_world_failure(world);
    // Faster than 5 m/s from 0.50986 s on: tick 510 is the first, and 250 more may follow.
    assert_int_equal(f.reason, VY_FAILURE_FALL);
    assert_int_equal(f.tick, 760);
    assert_near(f.value, 9.80665 * 0.76, 1e-9);
    assert_true(f.limit == 5.0);
    vy_world_destroy(world);

    def.velocity.z = 20.0; // upwards is no fall
    world = fly(&def);
    vy_world_advance(world, 1500);
    assert_int_equal(vy_world_failure(world).reason, VY_FAILURE_NONE);
    vy_world_destroy(world);
}

static void the_ground_meets_the_lowest_point(void **unused)
{
    (void)unused;
    vy_drone_def def = body();
    def.vehicle.collision_point_count = 2;
    def.vehicle.collision_points[0].position = (vy_vec3){0.0, 0.0, -0.3};
    def.vehicle.collision_points[1].position = (vy_vec3){0.4, 0.0, 0.0};
    def.safety.ground = 1;
    def.position.z = 0.31;
    assert_int_equal(fly_body(&def, 1).reason, VY_FAILURE_NONE);
    def.position.z = 0.29;
    vy_failure f = fly_body(&def, 1);
    assert_int_equal(f.reason, VY_FAILURE_GROUND);
    assert_near(f.value, -0.01, 1e-12);
    // Nose down by a quarter of a turn: the point in front is the lowest.
    def.attitude = (vy_quat){sqrt(0.5), 0.0, sqrt(0.5), 0.0};
    def.position.z = 0.35;
    f = fly_body(&def, 1);
    assert_int_equal(f.reason, VY_FAILURE_GROUND);
    assert_near(f.value, -0.05, 1e-12);
}

// A world with a ground: a field of heights, 3 + 0.5 x over [0, 8] x [0, 8] about (x, y) = (-4, -4).
static vy_world *over_slope(const vy_drone_def *drone, uint32_t contacts)
{
    static double heights[81];
    for (int i = 0; i < 81; ++i) heights[i] = 3.0 + 0.5 * ((i % 9) - 4.0);
    vy_world_def def = vy_default_world_def();
    def.contacts.on = contacts > 0;
    vy_world *world = fly_in(&def, drone);
    vy_obstacle_def hill = vy_default_obstacle_def();
    hill.solid.kind = VY_COLLIDER_HEIGHT_FIELD;
    hill.solid.heights = (vy_numbers){heights, 9, 9};
    hill.solid.spacing = 1.0;
    hill.position = (vy_vec3){-4.0, -4.0, 0.0};
    vy_error err = {0};
    if (vy_world_add_obstacle(world, &hill, &err) != VY_OK) fail_msg("%s", err.text);
    return world;
}

static void terrain_is_the_ground(void **unused)
{
    (void)unused;
    random_source r = {21};
    for (int n = 0; n < 200; ++n) {
        vy_drone_def def = body();
        def.solid.kind = VY_COLLIDER_NONE;
        def.vehicle.collision_point_count = 1;
        def.vehicle.collision_points[0].position = random_vec(&r, 0.5);
        def.attitude = random_attitude(&r);
        def.position = (vy_vec3){random_in(&r, -3, 3), random_in(&r, -3, 3), random_in(&r, 1, 5)};
        def.safety.ground = 1;
        const vec3 foot = vec3_add(
            def.position, quat_rotate(def.attitude, vec3_sub(def.vehicle.collision_points[0].position,
                                                             def.vehicle.centre_of_mass)));
        const double min = fmin(def.position.z - 3.0 - 0.5 * def.position.x, foot.z - 3.0 - 0.5 * foot.x);
        vy_world *world = over_slope(&def, 0);
        vy_world_step(world); // falls 10 um
        const vy_failure f = vy_world_failure(world);
        if (fabs(min) > 1e-4) assert_int_equal(f.reason, min < 0.0 ? VY_FAILURE_GROUND : VY_FAILURE_NONE);
        if (f.reason == VY_FAILURE_GROUND) assert_near(f.value, min, 2e-5);
        vy_world_destroy(world);
    }
    vy_drone_def def = body(); // beside the field there is no ground, however deep
    def.position = (vy_vec3){6.0, 0.0, -20.0};
    def.safety.ground = 1;
    vy_world *world = over_slope(&def, 0);
    vy_world_step(world);
    assert_int_equal(vy_world_failure(world).reason, VY_FAILURE_NONE);
    vy_world_destroy(world);
}

// Commands stop coming above a hill: the failsafe goes down to it, not to z = 0, and stands there.
static void a_failsafe_lands_on_a_hill(void **unused)
{
    (void)unused;
    vy_drone_def def = vy_default_drone_def();
    def.position = (vy_vec3){0.5, 0.5, 4.5};
    def.vehicle.drive.deadline = 0.1;
    def.vehicle.drive.failsafe = VY_FAILSAFE_LAND;
    def.vehicle.drive.land_speed = 0.5;
    def.solid.material.friction = 1.0;
    def.safety.ground = 1;
    vy_fault_def lost = vy_default_fault_def();
    lost.kind = VY_FAULT_COMMAND_LOSS;
    lost.size = 1.0;
    lost.start = 0.5;
    vy_world *world = over_slope(&def, 32);
    assert_int_equal(vy_world_add_fault(world, &lost, NULL), VY_OK);
    vy_world_advance(world, 8000);
    const vy_drone_state s = state_of(world, 0);
    vy_drive_state drive;
    assert_int_equal(vy_world_read_drive(world, vy_world_drone(world, 0), &drive), VY_OK);
    assert_int_equal(vy_world_failure(world).reason, VY_FAILURE_NONE);
    assert_int_equal(drive.failsafe, VY_FAILSAFE_CUT); // it has landed
    assert_near(s.position.z, 3.0 + 0.5 * s.position.x, 0.1);
    assert_true(s.touching > 0 && vec3_length(s.velocity) < 0.05);
    vy_world_destroy(world);
}

static void a_break_starts_the_count_anew(void **unused)
{
    (void)unused;
    vy_drone_def def = body();
    def.safety.fence = (vy_fence_def){.kind = VY_FENCE_BOX, .min = {-1, -1, 0}, .max = {1, 1, 2}};
    def.position = (vy_vec3){1.1, 0.0, 1.0};
    def.velocity.x = -1.0; // inside after 100 steps, out on the other side after 2100
    def.safety.sustain = 0.15;
    const vy_failure f = fly_body(&def, 5000);
    assert_int_equal(f.reason, VY_FAILURE_FENCE);
    assert_near((double)f.tick, 2100 + 150, 1.01);
    assert_near(f.value, 0.15, 2e-3);
}

static void fences_that_make_no_sense_are_refused(void **unused)
{
    (void)unused;
    static const struct {
        vy_fence_def fence;
        const char *text;
    } cases[] = {
        {{.kind = (vy_fence_kind)7}, "safety.fence.kind must be none, box, cylinder or polygon, got 7"},
        {{.kind = VY_FENCE_BOX}, "safety.fence.min must be below max on every axis"},
        {{.kind = VY_FENCE_CYLINDER, .radius = 1.0, .low = 1.0}, "safety.fence.low must be below high"},
        {{.kind = VY_FENCE_CYLINDER, .high = 1.0},
         "safety.fence.radius must be between 1e-09 and 1e+12 m, got 0"},
        {{.kind = VY_FENCE_POLYGON, .high = 1.0, .corner_count = 2},
         "safety.fence.corners: a polygon has 3 to 16, got 2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        vy_drone_def def = body();
        def.safety.fence = cases[i].fence;
        vy_world *world = NULL;
        const vy_world_def w = vy_default_world_def();
        vy_error err = {0};
        assert_int_equal(vy_world_create(&w, &world, NULL), VY_OK);
        assert_int_equal(vy_world_add_drone(world, &def, NULL, &err), VY_BAD_VALUE);
        assert_string_equal(err.text, cases[i].text);
        vy_world_destroy(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(polygons_keep_what_is_inside),
        cmocka_unit_test(boxes_and_cylinders_end_at_their_walls),
        cmocka_unit_test(a_fall_is_told_with_its_speed),
        cmocka_unit_test(the_ground_meets_the_lowest_point),
        cmocka_unit_test(terrain_is_the_ground),
        cmocka_unit_test(a_failsafe_lands_on_a_hill),
        cmocka_unit_test(a_break_starts_the_count_anew),
        cmocka_unit_test(fences_that_make_no_sense_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
