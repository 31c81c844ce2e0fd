// test_shape.c - shapes: what is refused, bounds at a pose, height fields.
#include "hull_samples.h"
#include "volery/shape.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>

static void assert_near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance))
        fail_msg("%.17g and %.17g differ by %.3g, allowed %.3g", a, b, fabs(a - b), tolerance);
}

static const double bad_lengths[] = {0.0, -1.0, NOT_A_NUMBER, INFINITE, 1.1e9};

static void bad_numbers_are_refused(void **unused)
{
    (void)unused;
    vy_shape before, shape;
    vy_error err;
    memset(&shape, 0x5a, sizeof shape);
    before = shape;
    for (int i = 0; i < 5; ++i) {
        const double bad = bad_lengths[i];
        const double heights[4] = {0};
        assert_int_equal(vy_shape_sphere(bad, &shape, &err), VY_BAD_VALUE);
        assert_int_equal(vy_shape_capsule(1, bad, &shape, &err), VY_BAD_VALUE);
        if (bad != 0.0) assert_int_equal(vy_shape_capsule(bad, 1, &shape, &err), VY_BAD_VALUE);
        assert_int_equal(vy_shape_box(vec3_make(bad, 1, 1), &shape, &err), VY_BAD_VALUE);
        assert_int_equal(vy_shape_box(vec3_make(1, bad, 1), &shape, &err), VY_BAD_VALUE);
        assert_int_equal(vy_shape_box(vec3_make(1, 1, bad), &shape, &err), VY_BAD_VALUE);
        assert_int_equal(vy_shape_cylinder(bad, 1, &shape, &err), VY_BAD_VALUE);
        assert_int_equal(vy_shape_cylinder(1, bad, &shape, &err), VY_BAD_VALUE);
        assert_int_equal(vy_shape_height_field(2, 2, bad, heights, &shape, &err), VY_BAD_VALUE);
        if (i >= 2) {
            const double one[4] = {0, 0, bad, 0};
            assert_int_equal(vy_shape_height_field(2, 2, 1, one, &shape, &err), VY_BAD_VALUE);
            assert_int_equal(vy_shape_plane(vec3_make(0, 0, 1), bad, &shape, &err), VY_BAD_VALUE);
            if (i < 4) assert_int_equal(vy_shape_plane(vec3_make(0, bad, 1), 0, &shape, &err), VY_BAD_VALUE);
        }
    }
    const double heights[4] = {0};
    assert_int_equal(vy_shape_plane(vec3_zero(), 0, &shape, &err), VY_BAD_VALUE);
    assert_int_equal(vy_shape_height_field(1, 4, 1, heights, &shape, &err), VY_BAD_VALUE);
    assert_int_equal(vy_shape_height_field(-2, -2, 1, heights, &shape, &err), VY_BAD_VALUE);
    assert_int_equal(vy_shape_height_field(1 << 20, 1 << 20, 1, heights, &shape, &err), VY_BAD_VALUE);
    assert_int_equal(vy_shape_height_field(2, 2, 1, NULL, &shape, &err), VY_BAD_VALUE);
    assert_int_equal(vy_shape_hull(NULL, &shape, &err), VY_BAD_HULL);
    assert_memory_equal(&shape, &before, sizeof shape);
    assert_int_equal(vy_shape_check(&(vy_shape){0}, &err), VY_BAD_VALUE);
    assert_int_equal(
        vy_shape_check(&(vy_shape){.kind = VY_SHAPE_PLANE, .plane = {.normal = {0, 0, 2}}}, &err),
        VY_BAD_VALUE);
    assert_true(strlen(err.text) > 10);
}

static void plane_normal_is_made_unit(void **unused)
{
    (void)unused;
    vy_shape shape;
    const double sizes[] = {1e-300, 1e-8, 1.0, 1e300};
    for (int i = 0; i < 4; ++i) {
        assert_int_equal(vy_shape_plane(vec3_make(3 * sizes[i], 0, -4 * sizes[i]), 7, &shape, NULL), VY_OK);
        assert_near(shape.plane.normal.x, 0.6, 1e-15);
        assert_near(shape.plane.normal.z, -0.8, 1e-15);
        assert_true(shape.plane.offset == 7.0 && shape.kind == VY_SHAPE_PLANE && !vy_shape_is_convex(&shape));
    }
}

// How far a shape reaches along a world direction, from its definition as a set.
static double reach(const vy_shape *shape, const vy_pose *pose, vy_vec3 direction)
{
    const vy_vec3 d = quat_unrotate(pose->rotation, direction);
    double local = 0.0;
    switch (shape->kind) {
    case VY_SHAPE_SPHERE: local = shape->sphere.radius; break;
    case VY_SHAPE_CAPSULE: local = fabs(d.z) * shape->capsule.half_length + shape->capsule.radius; break;
    case VY_SHAPE_CYLINDER:
        local = fabs(d.z) * shape->cylinder.half_height + hypot(d.x, d.y) * shape->cylinder.radius;
        break;
    case VY_SHAPE_BOX:
        local = -1e300;
        for (int i = 0; i < 8; ++i)
            local = fmax(local, vec3_dot(d, vec3_mul(shape->box.half, cube_corner(i))));
        break;
    case VY_SHAPE_HULL:
        local = -1e300;
        for (int i = 0; i < shape->hull->vertex_count; ++i)
            local = fmax(local, vec3_dot(d, shape->hull->vertices[i]));
        break;
    default: fail();
    }
    return local + vec3_dot(direction, pose->position);
}

static void bounds_are_the_reach_along_each_axis(void **unused)
{
    (void)unused;
    sampler s = {41};
    vy_vec3 p[SAMPLE_POINTS_MAX];
    for (int round = 0; round < 2000; ++round) {
        vy_hull *h = NULL;
        vy_shape shape;
        const int kind = round % 5;
        const double a = 0.1 + sample_unit(&s), b = 0.1 + sample_unit(&s), c = 0.1 + sample_unit(&s);
        if (kind == 0) assert_int_equal(vy_shape_sphere(a, &shape, NULL), VY_OK);
        if (kind == 1) assert_int_equal(vy_shape_capsule(a, b, &shape, NULL), VY_OK);
        if (kind == 2) assert_int_equal(vy_shape_box(vec3_make(a, b, c), &shape, NULL), VY_OK);
        if (kind == 3) assert_int_equal(vy_shape_cylinder(a, b, &shape, NULL), VY_OK);
        if (kind == 4) {
            const int count = sample_points(&s, 1, p);
            assert_int_equal(vy_hull_create(p, count, VY_HULL_TOLERANCE, &h, NULL), VY_OK);
            assert_int_equal(vy_shape_hull(h, &shape, NULL), VY_OK);
        }
        assert_true(vy_shape_is_convex(&shape));
        const vy_pose pose = {vec3_scale(10.0, sample_vec(&s)),
                              round < 5 ? quat_identity() : sample_rotation(&s)};
        const vy_bounds box = vy_shape_bounds(&shape, &pose);
        const double high[3] = {box.high.x, box.high.y, box.high.z},
                     low[3] = {box.low.x, box.low.y, box.low.z};
        for (int k = 0; k < 3; ++k) {
            const vy_vec3 axis = vec3_make(k == 0, k == 1, k == 2);
            assert_near(high[k], reach(&shape, &pose, axis), 1e-14);
            assert_near(low[k], -reach(&shape, &pose, vec3_neg(axis)), 1e-14);
        }
        vy_hull_destroy(h);
    }
}

static void bounds_of_unbounded_ground(void **unused)
{
    (void)unused;
    vy_shape ground;
    vy_pose pose = {{1, 2, 3}, {1, 0, 0, 0}};
    assert_int_equal(vy_shape_plane(vec3_make(0, 0, 1), 0.5, &ground, NULL), VY_OK);
    vy_bounds box = vy_shape_bounds(&ground, &pose);
    assert_true(box.high.z == 3.5 && isinf(box.low.z) && isinf(box.low.x) && isinf(box.high.y));
    pose.rotation = quat_make(0, 1, 0, 0); // upside down
    box = vy_shape_bounds(&ground, &pose);
    assert_true(box.low.z == 2.5 && isinf(box.high.z));
    pose.rotation = quat_normalize(quat_make(1, 0.1, 0, 0));
    box = vy_shape_bounds(&ground, &pose);
    assert_true(isinf(box.low.z) && isinf(box.high.z));
}

static void height_field_is_its_triangles(void **unused)
{
    (void)unused;
    enum { NX = 7, NY = 5 };
    double heights[NX * NY];
    sampler s = {19};
    for (int i = 0; i < NX * NY; ++i) heights[i] = sample_side(&s);
    vy_shape shape;
    assert_int_equal(vy_shape_height_field(NX, NY, 0.5, heights, &shape, NULL), VY_OK);
    const vy_height_field *field = &shape.field;
    double low = 1e300, high = -1e300;
    for (int i = 0; i < NX * NY; ++i) low = fmin(low, heights[i]), high = fmax(high, heights[i]);
    assert_true(field->low == low && field->high == high && !vy_shape_is_convex(&shape));

    double area = 0.0, z = 0.0;
    for (int j = 0; j < NY - 1; ++j) {
        for (int i = 0; i < NX - 1; ++i) {
            for (int half = 0; half < 2; ++half) {
                vy_vec3 t[3];
                vy_height_field_triangle(field, i, j, half, t);
                const vy_vec3 up = vec3_cross(vec3_sub(t[1], t[0]), vec3_sub(t[2], t[0]));
                assert_true(up.z > 0.0); // counter-clockwise from above
                area += up.z / 2;
                for (int k = 0; k < 10; ++k) {
                    double u = sample_unit(&s), v = sample_unit(&s);
                    if (u + v > 1) u = 1 - u, v = 1 - v;
                    if (k < 3) u = k == 1, v = k == 2; // the corners themselves
                    const vy_vec3 p = vec3_add_scaled(vec3_add_scaled(t[0], u, vec3_sub(t[1], t[0])), v,
                                                      vec3_sub(t[2], t[0]));
                    assert_int_equal(vy_height_field_height(field, p.x, p.y, &z), 1);
                    assert_near(z, p.z, 1e-14);
                }
            }
        }
    }
    assert_near(area, 0.25 * (NX - 1) * (NY - 1), 1e-12); // no gap, no overlap
    const double outside[][2] = {{-1e-9, 1},  {1, -1e-9},        {3.0001, 1},
                                 {1, 2.0001}, {NOT_A_NUMBER, 1}, {1, INFINITE}};
    z = 42.0;
    for (int i = 0; i < 6; ++i)
        assert_int_equal(vy_height_field_height(field, outside[i][0], outside[i][1], &z), 0);
    assert_true(z == 42.0);

    const vy_pose pose = {{10, 20, 30}, {1, 0, 0, 0}};
    const vy_bounds box = vy_shape_bounds(&shape, &pose);
    assert_near(box.low.x, 10, 1e-14);
    assert_near(box.high.x, 13, 1e-14);
    assert_near(box.high.y, 22, 1e-14);
    assert_near(box.low.z, 30 + low, 1e-14);
    assert_near(box.high.z, 30 + high, 1e-14);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bad_numbers_are_refused),
        cmocka_unit_test(plane_normal_is_made_unit),
        cmocka_unit_test(bounds_are_the_reach_along_each_axis),
        cmocka_unit_test(bounds_of_unbounded_ground),
        cmocka_unit_test(height_field_is_its_triangles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
