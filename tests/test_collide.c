// test_collide.c - one call for any two shapes: both orders, moved and scaled, on planes and height fields,
// from many threads.
#include "collision_samples.h"
#include <pthread.h>

static vy_manifold collide(const vy_shape *a, vy_pose pa, const vy_shape *b, vy_pose pb)
{
    vy_manifold m = {{0, 0, 0}, -1, {{{0, 0, 0}, {0, 0, 0}, 0, 0}}};
    assert_int_equal(vy_collide(a, &pa, b, &pb, &m), VY_OK);
    assert_in_range(m.count, 0, 4);
    return m;
}

// The same pair turned round, elsewhere, and of another size.
static void answers_are_symmetric(void **unused)
{
    (void)unused;
    sampler s = {91};
    int hits = 0;
    for (int round = 0; round < 2000; ++round) {
        vy_hull *hull = sample_hull(&s, 1, 1.0);
        const int ka = round % 5, kb = round / 5 % 5;
        const double tolerance = ka == 3 || kb == 3 ? 1e-6 : 1e-10;
        sampler keep = s;
        const vy_shape a = sample_shape(&s, ka, 1.0, hull), b = sample_shape(&s, kb, 1.0, hull);
        const vy_pose pa = sample_pose(&s, 0.5), pb = sample_pose(&s, 1.5), away = sample_pose(&s, 100.0);
        const vy_manifold m = collide(&a, pa, &b, pb), turned = collide(&b, pb, &a, pa);
        const vy_manifold moved = collide(&a, pose_after(away, pa), &b, pose_after(away, pb));
        if (m.count == 0 || m.points[0].depth > 1e-9) {
            assert_int_equal(turned.count > 0, m.count > 0);
            assert_int_equal(moved.count > 0, m.count > 0);
        }
        if (m.count > 0 && m.points[0].depth > 1e-9) {
            ++hits;
            assert_near(turned.points[0].depth, m.points[0].depth, tolerance);
            assert_near(moved.points[0].depth, m.points[0].depth, tolerance);
        }
        if (ka != 4 && kb != 4) { // a thousand times as large, a thousand times as deep
            const vy_shape la = sample_shape(&keep, ka, 1e3, NULL), lb = sample_shape(&keep, kb, 1e3, NULL);
            vy_pose qa = pa, qb = pb;
            qa.position = vec3_scale(1e3, pa.position);
            qb.position = vec3_scale(1e3, pb.position);
            const vy_manifold large = collide(&la, qa, &lb, qb);
            assert_int_equal(large.count > 0, m.count > 0);
            if (m.count > 0) assert_near(large.points[0].depth, 1e3 * m.points[0].depth, 1e3 * tolerance);
        }
        vy_hull_destroy(hull);
    }
    assert_true(hits > 500);
}

static void shapes_on_a_plane(void **unused)
{
    (void)unused;
    sampler s = {97};
    vy_hull *hull = sample_hull(&s, 1, 1.0);
    for (int round = 0; round < 1000; ++round) {
        vy_shape plane = {0};
        const vy_shape b = sample_shape(&s, round % 5, 1.0, hull);
        const vy_pose pa = sample_pose(&s, 1.0), pb = sample_pose(&s, 2.0);
        const vy_vec3 n = sample_direction(&s);
        assert_int_equal(vy_shape_plane(n, sample_side(&s), &plane, NULL), VY_OK);
        const vy_vec3 up = quat_rotate(pa.rotation, plane.plane.normal);
        const double level = plane.plane.offset + vec3_dot(up, pa.position);
        const double depth = level + reach_along(&b, &pb, vec3_neg(up));
        const vy_manifold m = collide(&plane, pa, &b, pb), turned = collide(&b, pb, &plane, pa);
        assert_int_equal(m.count > 0, depth >= 0.0);
        assert_int_equal(turned.count, m.count);
        assert_int_equal(vy_overlap(&plane, &pa, &b, &pb), m.count > 0);
        if (m.count == 0) continue;
        assert_near(m.points[0].depth, depth, 1e-12);
        assert_vec_near(m.normal, up, 1e-12);
        assert_vec_near(turned.normal, vec3_neg(up), 1e-12);
        for (int i = 0; i < m.count; ++i) {
            assert_true(m.points[i].depth <= m.points[0].depth);
            assert_near(vec3_dot(up, m.points[i].point_a), level, 1e-12);
            assert_near(vec3_dot(up, m.points[i].point_b), level - m.points[i].depth, 1e-12);
            assert_true(outside(&b, &pb, m.points[i].point_b) <= 1e-9);
            assert_vec_near(turned.points[i].point_b, m.points[i].point_a, 1e-12);
        }
    }
    vy_hull_destroy(hull);
}

// A level height field is a plane, as far as it goes; beyond it there is nothing.
static void level_field_is_a_plane(void **unused)
{
    (void)unused;
    double heights[11 * 11];
    for (int i = 0; i < 121; ++i) heights[i] = 0.5;
    vy_shape field = {0}, box = {0}, ball = {0};
    assert_int_equal(vy_shape_height_field(11, 11, 1.0, heights, &field, NULL), VY_OK);
    assert_int_equal(vy_shape_box(vec3_make(1.3, 0.7, 0.25), &box, NULL), VY_OK);
    assert_int_equal(vy_shape_sphere(0.5, &ball, NULL), VY_OK);
    const vy_pose o = pose_at(0, 0, 0);
    vy_manifold m = collide(&field, o, &box, pose_at(5.1, 4.9, 0.74));
    assert_int_equal(m.count, 4);
    assert_vec_near(m.normal, vec3_make(0, 0, 1), 1e-14);
    double x0 = 99, x1 = -99;
    for (int i = 0; i < 4; ++i) {
        assert_near(m.points[i].depth, 0.01, 1e-13);
        x0 = fmin(x0, m.points[i].point_a.x);
        x1 = fmax(x1, m.points[i].point_a.x);
    }
    assert_near(x1 - x0, 2.6, 1e-12); // the whole box, over many triangles
    m = collide(&field, o, &ball, pose_at(3.3, 7.6, 0.98));
    assert_true(m.count >= 1);
    assert_near(m.points[0].depth, 0.02, 1e-12);
    assert_vec_near(m.normal, vec3_make(0, 0, 1), 1e-12);
    assert_int_equal(collide(&field, o, &ball, pose_at(3.3, 7.6, 1.02)).count, 0);
    assert_int_equal(collide(&field, o, &ball, pose_at(-2.0, 7.6, 0.6)).count, 0);
    // Under the surface it is pushed up, not down.
    m = collide(&field, o, &ball, pose_at(3.3, 7.6, 0.4));
    assert_true(m.count >= 1 && m.normal.z > 0.99);
    assert_near(m.points[0].depth, 0.6, 1e-12);
}

// A ball that is wholly under a rough surface, and that no triangle cuts, is pushed out.
static void buried_balls_come_up(void **unused)
{
    (void)unused;
    sampler s = {7};
    double heights[16 * 16];
    vy_shape field = {0}, ball = {0};
    const vy_pose o = pose_at(0, 0, 0);
    for (int round = 0; round < 2000; ++round) {
        for (int i = 0; i < 256 && round % 50 == 0; ++i) heights[i] = 0.5 * sample_unit(&s);
        assert_int_equal(vy_shape_height_field(16, 16, 1.0, heights, &field, NULL), VY_OK);
        assert_int_equal(vy_shape_sphere(0.02 + 0.2 * sample_unit(&s), &ball, NULL), VY_OK);
        const double x = 3.0 + 9.0 * sample_unit(&s), y = 3.0 + 9.0 * sample_unit(&s),
                     deep = 0.01 + 0.5 * sample_unit(&s);
        double height = 0.0;
        assert_true(vy_height_field_height(&field.field, x, y, &height));
        const vy_manifold m = collide(&field, o, &ball, pose_at(x, y, height - deep));
        assert_true(m.count > 0 && m.normal.z > 0.5 && m.points[0].depth > 0.0);
    }
}

// On hills: nothing that is above all samples touches, what is below the surface does, and the normal looks
// up.
static void field_of_hills(void **unused)
{
    (void)unused;
    sampler s = {101};
    double heights[16 * 16];
    for (int i = 0; i < 256; ++i) heights[i] = 0.5 * sample_unit(&s);
    vy_shape field = {0};
    assert_int_equal(vy_shape_height_field(16, 16, 1.0, heights, &field, NULL), VY_OK);
    vy_hull *hull = sample_hull(&s, 1, 1.0);
    const vy_pose o = pose_at(0, 0, 0);
    for (int round = 0; round < 1000; ++round) {
        const vy_shape b = sample_shape(&s, round % 5, 0.5, hull);
        vy_pose pb = sample_pose(&s, 0.0);
        const double up = sample_unit(&s), north = sample_unit(&s), east = sample_unit(&s);
        pb.position = vec3_make(3.0 + 9.0 * east, 3.0 + 9.0 * north, 2.0 * up);
        const vy_manifold m = collide(&field, o, &b, pb);
        const vy_vec3 down = vec3_make(0, 0, -1);
        const double bottom = -reach_along(&b, &pb, down);
        double height = 0.0;
        assert_true(vy_height_field_height(&field.field, pb.position.x, pb.position.y, &height));
        if (bottom > field.field.high) assert_int_equal(m.count, 0);
        if (pb.position.z < height - 0.01) assert_true(m.count > 0); // the centre is inside
        for (int i = 0; i < m.count; ++i) {
            assert_true(m.normal.z > 0.0);
            assert_true(m.points[i].depth >= 0.0 && m.points[i].depth <= m.points[0].depth);
            assert_vec_near(vec3_sub(m.points[i].point_a, m.points[i].point_b),
                            vec3_scale(m.points[i].depth, m.normal), 1e-12);
        }
    }
    vy_hull_destroy(hull);
}

static void bad_input_is_refused(void **unused)
{
    (void)unused;
    vy_shape plane = {0}, ball = {0};
    assert_int_equal(vy_shape_plane(vec3_make(0, 0, 1), 0.0, &plane, NULL), VY_OK);
    assert_int_equal(vy_shape_sphere(1.0, &ball, NULL), VY_OK);
    const vy_pose o = pose_at(0, 0, 0), bad = pose_at(0, INFINITE, 0);
    vy_manifold m;
    m.count = 7;
    assert_int_equal(vy_collide(&plane, &o, &plane, &o, &m), VY_BAD_VALUE);
    assert_int_equal(vy_collide(&ball, &o, &ball, &bad, &m), VY_BAD_VALUE);
    assert_int_equal(vy_collide(&plane, &bad, &ball, &o, &m), VY_BAD_VALUE);
    assert_int_equal(m.count, 7); // untouched
    assert_int_equal(vy_overlap(&plane, &o, &plane, &o), 0);
}

enum { THREADS = 8, QUERIES = 3000 };

typedef struct job {
    const vy_hull *hull;
    uint64_t hash;
} job;

static void *run_queries(void *argument)
{
    job *j = argument;
    sampler s = {103};
    uint64_t h = 0xcbf29ce484222325u;
    for (int i = 0; i < QUERIES; ++i) {
        const vy_shape a = sample_shape(&s, i % 5, 1.0, j->hull),
                       b = sample_shape(&s, i / 5 % 5, 1.0, j->hull);
        const vy_pose pa = sample_pose(&s, 0.5), pb = sample_pose(&s, 1.5);
        vy_manifold m;
        if (vy_collide(&a, &pa, &b, &pb, &m) != VY_OK) m.count = -1;
        h = hash_value(h, m.count);
        for (int k = 0; k < m.count; ++k) h = hash_vec(hash_value(h, m.points[k].depth), m.points[k].point_b);
    }
    j->hash = h;
    return NULL;
}

// No state between calls: every thread gets the same bits from the same shapes.
static void threads_agree(void **unused)
{
    (void)unused;
    sampler s = {107};
    vy_hull *hull = sample_hull(&s, 1, 1.0);
    pthread_t threads[THREADS];
    job jobs[THREADS];
    for (int i = 0; i < THREADS; ++i) {
        jobs[i] = (job){hull, 0};
        assert_int_equal(pthread_create(&threads[i], NULL, run_queries, &jobs[i]), 0);
    }
    for (int i = 0; i < THREADS; ++i) assert_int_equal(pthread_join(threads[i], NULL), 0);
    job alone = {hull, 0};
    (void)run_queries(&alone);
    for (int i = 0; i < THREADS; ++i) assert_true(jobs[i].hash == alone.hash);
    vy_hull_destroy(hull);
}

// Boxes within a margin of each other, and no others, have points: faces and edges show it, or the distance.
static void near_boxes_are_near(void **unused)
{
    (void)unused;
    sampler s = {93};
    int near = 0, far = 0;
    for (int round = 0; round < 20000; ++round) {
        const vy_shape a = sample_shape(&s, 2, 1.0, NULL), b = sample_shape(&s, 2, 1.0, NULL);
        const vy_pose pa = sample_pose(&s, 0.5), pb = sample_pose(&s, 2.0);
        const double margin = 0.2;
        vy_distance d;
        vy_manifold m;
        assert_true(a.kind == VY_SHAPE_BOX && b.kind == VY_SHAPE_BOX);
        assert_int_equal(vy_shape_distance(&a, &pa, &b, &pb, NULL, NULL, &d, NULL), VY_OK);
        assert_int_equal(vy_collide_near(&a, &pa, &b, &pb, margin, &m), VY_OK);
        if (fabs(d.distance - margin) < 1e-5) continue; // either is right
        assert_int_equal(m.count > 0, d.distance < margin);
        near += d.distance > 0.0 && d.distance < margin;
        far += d.distance > margin && d.distance < 2.0 * margin;
    }
    assert_true(near > 500 && far > 500);
}

// A ball a little above a slope touches it under its middle, whichever of the two comes first.
static void balls_near_slopes_have_central_points(void **unused)
{
    (void)unused;
    const double heights[9] = {0, 2, 4, 0, 2, 4, 0, 2, 4};
    vy_shape slope, ball;
    assert_int_equal(vy_shape_height_field(3, 3, 1.0, heights, &slope, NULL), VY_OK);
    assert_int_equal(vy_shape_sphere(0.1, &ball, NULL), VY_OK);
    const vy_vec3 n = vec3_scale(1.0 / sqrt(5.0), vec3_make(-2, 0, 1));
    const vy_pose ground = pose_at(0, 0, 0);
    vy_pose at = ground;
    at.position = vec3_add_scaled(vec3_make(0.6, 0.3, 1.2), 0.11, n);
    for (int turned = 0; turned < 2; ++turned) {
        vy_manifold m;
        assert_int_equal(turned ? vy_collide_near(&ball, &at, &slope, &ground, 0.05, &m)
                                : vy_collide_near(&slope, &ground, &ball, &at, 0.05, &m),
                         VY_OK);
        assert_true(m.count >= 1);
        const vy_vec3 on_ball = turned ? m.points[0].point_a : m.points[0].point_b;
        assert_near(m.points[0].depth, -0.01, 1e-9);
        assert_vec_near(on_ball, vec3_add_scaled(at.position, -0.1, n), 1e-9);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(balls_near_slopes_have_central_points),
        cmocka_unit_test(answers_are_symmetric),
        cmocka_unit_test(shapes_on_a_plane),
        cmocka_unit_test(level_field_is_a_plane),
        cmocka_unit_test(buried_balls_come_up),
        cmocka_unit_test(field_of_hills),
        cmocka_unit_test(bad_input_is_refused),
        cmocka_unit_test(threads_agree),
        cmocka_unit_test(near_boxes_are_near),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
