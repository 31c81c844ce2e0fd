// test_nearest.c - the points of shapes nearest to a point, and distances and casts to planes and height
// fields.
#include "collision_samples.h"
#include "volery/shape.h"

enum { ROUNDS = 3000 / LAW_SLICE, GRID = 9 };
#define SPACING 0.5

/// Hills of random heights.
typedef struct hills {
    double heights[GRID * GRID];
    vy_shape shape;
    vy_pose pose;
} hills;

static void make_hills(sampler *s, hills *h)
{
    for (int i = 0; i < GRID * GRID; ++i) h->heights[i] = 0.6 * sample_unit(s);
    h->shape = (vy_shape){0};
    assert_int_equal(vy_shape_height_field(GRID, GRID, SPACING, h->heights, &h->shape, NULL), VY_OK);
    h->pose = sample_pose(s, 3.0);
}

static vy_vec3 in_world(const vy_pose *pose, vy_vec3 p)
{
    return vec3_add(pose->position, quat_rotate(pose->rotation, p));
}

static vy_vec3 in_frame(const vy_pose *pose, vy_vec3 p)
{
    return quat_unrotate(pose->rotation, vec3_sub(p, pose->position));
}

// Nothing of a convex shape is beyond the plane through its nearest point: a certificate.
static void nearest_points_have_a_certificate(void **unused)
{
    (void)unused;
    sampler s = {81};
    int inside = 0, apart = 0;
    for (int round = 0; round < ROUNDS; ++round) {
        vy_hull *hull = NULL;
        while (hull == NULL) hull = sample_hull(&s, 0, 1.0);
        const vy_shape shape = sample_shape(&s, round % 5, 1.0, hull);
        const vy_pose pose = sample_pose(&s, 2.0);
        const vy_vec3 p = vec3_add(pose.position, vec3_scale(1.2, sample_vec(&s)));
        vy_distance d;
        assert_int_equal(vy_shape_closest_point(&shape, &pose, p, &d), VY_OK);
        const double out = outside(&shape, &pose, p);
        assert_vec_near(d.point_b, p, 0.0);
        if (d.distance > 0.0) {
            ++apart;
            vy_vec3 far;
            assert_true(out > -1e-12);
            assert_near(vec3_length(d.normal), 1.0, 1e-12);
            assert_vec_near(vec3_add_scaled(d.point_a, d.distance, d.normal), p, 1e-11);
            assert_near(outside(&shape, &pose, d.point_a), 0.0, 1e-11);
            assert_int_equal(vy_shape_support(&shape, &pose, d.normal, &far), VY_OK);
            assert_true(vec3_dot(d.normal, vec3_sub(far, d.point_a)) <= 1e-8);
        } else {
            ++inside;
            assert_true(out < 1e-12);
            assert_vec_near(d.point_a, p, 0.0);
            assert_true(vec3_length(d.normal) == 0.0);
        }
        vy_hull_destroy(hull);
    }
    assert_true(inside * 20 > ROUNDS && apart * 2 > ROUNDS);
}

static void nearest_points_of_planes(void **unused)
{
    (void)unused;
    sampler s = {82};
    vy_shape plane = {0};
    for (int round = 0; round < 200; ++round) {
        const vy_pose pose = sample_pose(&s, 5.0);
        assert_int_equal(vy_shape_plane(sample_vec(&s), sample_unit(&s), &plane, NULL), VY_OK);
        const vy_vec3 p = vec3_scale(9.0, sample_vec(&s)), n = quat_rotate(pose.rotation, plane.plane.normal);
        const double above = vec3_dot(n, vec3_sub(p, pose.position)) - plane.plane.offset;
        vy_distance d;
        assert_int_equal(vy_shape_closest_point(&plane, &pose, p, &d), VY_OK);
        assert_near(d.distance, fmax(above, 0.0), 1e-12);
        if (above > 0.0) assert_vec_near(d.point_a, vec3_add_scaled(p, -above, n), 1e-12);
    }
}

// [m] From a point, field's frame, to the nearest of many points of the surface.
static double sampled_distance(const hills *h, vy_vec3 p, int fine)
{
    double best = 1e300;
    const double size = SPACING * (GRID - 1);
    for (int i = 0; i <= fine; ++i) {
        for (int j = 0; j <= fine; ++j) {
            vy_vec3 q = vec3_make(size * i / fine, size * j / fine, 0.0);
            assert_int_equal(vy_height_field_height(&h->shape.field, q.x, q.y, &q.z), 1);
            best = fmin(best, vec3_length(vec3_sub(p, q)));
        }
    }
    return best;
}

static void nearest_points_of_height_fields(void **unused)
{
    (void)unused;
    enum { FINE = 160 };
    sampler s = {83};
    hills h;
    for (int round = 0; round < 160 / LAW_SLICE; ++round) {
        make_hills(&s, &h);
        const vy_vec3 local = vec3_make(-2.0 + 8.0 * sample_unit(&s), -2.0 + 8.0 * sample_unit(&s),
                                        -1.0 + 4.0 * sample_unit(&s)),
                      p = in_world(&h.pose, local);
        double height = -1e300;
        const int over = vy_height_field_height(&h.shape.field, local.x, local.y, &height);
        vy_distance d;
        assert_int_equal(vy_shape_closest_point(&h.shape, &h.pose, p, &d), VY_OK);
        if (over && local.z < height - 1e-9) {
            assert_true(d.distance == 0.0);
            continue;
        }
        const double sampled = sampled_distance(&h, local, FINE);
        assert_true(d.distance <= sampled + 1e-12);
        assert_true(sampled <= d.distance + 2.0 * SPACING * (GRID - 1) / FINE);
        const vy_vec3 foot = in_frame(&h.pose, d.point_a);
        assert_int_equal(vy_height_field_height(&h.shape.field, fmin(fmax(foot.x, 0.0), SPACING * (GRID - 1)),
                                                fmin(fmax(foot.y, 0.0), SPACING * (GRID - 1)), &height),
                         1);
        assert_near(foot.z, height, 1e-9);
        assert_vec_near(vec3_add_scaled(d.point_a, d.distance, d.normal), p, 1e-10);
    }
}

// Of a ball by its middle; of other shapes by how far many of their points are.
static void distances_to_height_fields(void **unused)
{
    (void)unused;
    sampler s = {84};
    hills h;
    vy_hull *hull = NULL;
    while (hull == NULL) hull = sample_hull(&s, 0, 0.4);
    for (int round = 0; round < 400 / LAW_SLICE; ++round) {
        make_hills(&s, &h);
        const int kind = round % 5;
        const vy_shape shape = sample_shape(&s, kind, 0.4, hull);
        vy_pose pose = sample_pose(&s, 1.0);
        // Some beside the hills, where there is no wall: a point may be in the ground there and its shape
        // not.
        const int beside = round % 3 == 0;
        const double from = beside ? -1.0 : 1.2, span = beside ? 6.0 : 1.6;
        pose.position = in_world(&h.pose, vec3_make(from + span * sample_unit(&s),
                                                    from + span * sample_unit(&s), 2.5 * sample_unit(&s)));
        vy_distance d, turned, to_point;
        assert_int_equal(vy_shape_distance(&h.shape, &h.pose, &shape, &pose, NULL, NULL, &d, NULL), VY_OK);
        assert_int_equal(vy_shape_distance(&shape, &pose, &h.shape, &h.pose, NULL, NULL, &turned, NULL),
                         VY_OK);
        assert_true(turned.distance == d.distance);
        assert_vec_near(turned.point_a, d.point_b, 0.0);
        assert_true((d.distance == 0.0) == vy_overlap(&h.shape, &h.pose, &shape, &pose));
        if (d.distance == 0.0) continue;
        if (kind == 0) {
            assert_int_equal(vy_shape_closest_point(&h.shape, &h.pose, pose.position, &to_point), VY_OK);
            assert_near(d.distance, to_point.distance - shape.sphere.radius, 1e-12);
        }
        assert_near(outside(&shape, &pose, d.point_b), 0.0, 1e-6);
        assert_vec_near(vec3_add_scaled(d.point_a, d.distance, d.normal), d.point_b, 1e-9);
        for (int k = 0; k < 40 && !beside; ++k) { // its extreme points are no nearer
            vy_vec3 q;
            assert_int_equal(vy_shape_support(&shape, &pose, sample_vec(&s), &q), VY_OK);
            assert_int_equal(vy_shape_closest_point(&h.shape, &h.pose, q, &to_point), VY_OK);
            assert_true(to_point.distance >= d.distance - 1e-7);
        }
    }
    vy_hull_destroy(hull);
}

// Casts at planes as the closed form says, and at hills: apart just before, touching just after.
static void casts_at_the_ground(void **unused)
{
    (void)unused;
    sampler s = {85};
    hills h;
    vy_hull *hull = NULL;
    while (hull == NULL) hull = sample_hull(&s, 0, 0.4);
    int hits = 0;
    for (int round = 0; round < 600 / LAW_SLICE; ++round) {
        make_hills(&s, &h);
        vy_shape plane = {0};
        const vy_shape shape = sample_shape(&s, round % 5, 0.4, hull);
        vy_pose pose = sample_pose(&s, 1.0);
        pose.position =
            in_world(&h.pose, vec3_make(4.0 * sample_unit(&s), 4.0 * sample_unit(&s), 2.0 + sample_unit(&s)));
        const vy_vec3 down = quat_rotate(
            h.pose.rotation, vec3_make(2.0 * sample_unit(&s) - 1.0, 2.0 * sample_unit(&s) - 1.0, -4.0));
        vy_cast_hit c;
        int hit;
        assert_int_equal(vy_shape_plane(vec3_make(0, 0, 1), 0.0, &plane, NULL), VY_OK);
        vy_distance d;
        assert_int_equal(vy_shape_distance(&plane, &h.pose, &shape, &pose, NULL, NULL, &d, NULL), VY_OK);
        assert_int_equal(vy_shape_cast(&plane, &h.pose, &shape, &pose, down, NULL, &hit, &c), VY_OK);
        assert_int_equal(hit, 1);
        assert_near(c.t, d.distance / 4.0, 1e-8);
        assert_vec_near(c.normal, d.normal, 1e-9);
        assert_near(in_frame(&h.pose, c.point).z, 0.0, 1e-8);
        assert_int_equal(vy_shape_cast(&plane, &h.pose, &shape, &pose, vec3_neg(down), NULL, &hit, &c),
                         VY_OK);
        assert_int_equal(hit, 0);
        assert_int_equal(vy_shape_cast(&h.shape, &h.pose, &shape, &pose, down, NULL, &hit, &c), VY_OK);
        vy_pose moved = pose;
        if (!hit) {
            for (int k = 0; k <= 50; ++k) {
                moved.position = vec3_add_scaled(pose.position, k / 50.0, down);
                assert_int_equal(vy_overlap(&h.shape, &h.pose, &shape, &moved), 0);
            }
            continue;
        }
        ++hits;
        moved.position = vec3_add_scaled(pose.position, c.t - 1e-6, down);
        // Of a hull a thin edge that is a hair off the ground may count as deep in it.
        if (shape.kind != VY_SHAPE_HULL) assert_int_equal(vy_overlap(&h.shape, &h.pose, &shape, &moved), 0);
        moved.position = vec3_add_scaled(vec3_add_scaled(pose.position, c.t, down), -1e-6, c.normal);
        assert_int_equal(vy_overlap(&h.shape, &h.pose, &shape, &moved), 1);
    }
    assert_true(hits * 2 > 600 / LAW_SLICE);
    vy_hull_destroy(hull);
}

// A ray that passes over all of it.
static void rays_without_end(void **unused)
{
    (void)unused;
    sampler s = {86};
    hills h;
    make_hills(&s, &h);
    vy_ray_hit r = {.t = -1.0};
    const vy_vec3 from = in_world(&h.pose, vec3_make(-1.0, 0.3, 2.0)),
                  level = quat_rotate(h.pose.rotation, vec3_make(1.0, 0.1, 0.0)),
                  sinking = quat_rotate(h.pose.rotation, vec3_make(1.0, 0.1, -0.65));
    assert_int_equal(vy_ray_cast(&h.shape, &h.pose, from, level, INFINITE, &r), 0);
    assert_true(r.t == -1.0);
    assert_int_equal(vy_ray_cast(&h.shape, &h.pose, from, sinking, INFINITE, &r), 1);
    assert_true(r.t > 2.0 && r.t < 4.0);
}

static void bad_values_touch_nothing(void **unused)
{
    (void)unused;
    vy_shape ball = {0}, plane = {0}, none = {0};
    assert_int_equal(vy_shape_sphere(1.0, &ball, NULL), VY_OK);
    assert_int_equal(vy_shape_plane(vec3_make(0, 0, 1), 0.0, &plane, NULL), VY_OK);
    const vy_pose o = pose_at(0, 0, 0), bad = pose_at(0, NOT_A_NUMBER, 0);
    vy_distance d = {.distance = -1.0};
    vy_cast_hit c;
    int hit = -1;
    const vy_vec3 down = vec3_make(0, 0, -1);
    assert_int_equal(vy_shape_closest_point(&ball, &bad, down, &d), VY_BAD_VALUE);
    assert_int_equal(vy_shape_closest_point(&ball, &o, vec3_make(INFINITE, 0, 0), &d), VY_BAD_VALUE);
    assert_int_equal(vy_shape_closest_point(&none, &o, down, &d), VY_BAD_VALUE);
    assert_int_equal(vy_shape_distance(&plane, &o, &none, &o, NULL, NULL, &d, NULL), VY_BAD_VALUE);
    assert_int_equal(vy_shape_distance(&plane, &o, &ball, &bad, NULL, NULL, &d, NULL), VY_BAD_VALUE);
    assert_int_equal(vy_shape_cast(&ball, &o, &plane, &o, down, NULL, &hit, &c), VY_BAD_VALUE);
    assert_int_equal(vy_shape_cast(&plane, &o, &plane, &o, down, NULL, &hit, &c), VY_BAD_VALUE);
    assert_int_equal(vy_shape_cast(&none, &o, &ball, &o, down, NULL, &hit, &c), VY_BAD_VALUE);
    assert_true(d.distance == -1.0 && hit == -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nearest_points_have_a_certificate),
        cmocka_unit_test(nearest_points_of_planes),
        cmocka_unit_test(nearest_points_of_height_fields),
        cmocka_unit_test(distances_to_height_fields),
        cmocka_unit_test(casts_at_the_ground),
        cmocka_unit_test(rays_without_end),
        cmocka_unit_test(bad_values_touch_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
