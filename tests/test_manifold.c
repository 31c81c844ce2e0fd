// test_manifold.c - contact points: on both surfaces, the deepest among them, the same names from step to
// step.
#include "collision_samples.h"
#include "geometry/boxes.h"
#include "geometry/penetration.h"
#include "geometry/manifold.h"

static vy_manifold collide(const vy_shape *a, vy_pose pa, const vy_shape *b, vy_pose pb)
{
    vy_manifold m = {{0, 0, 0}, -1, {{{0, 0, 0}, {0, 0, 0}, 0, 0}}};
    assert_int_equal(vy_collide(a, &pa, b, &pb, &m), VY_OK);
    assert_in_range(m.count, 0, 4);
    return m;
}

static vy_shape box_of(double x, double y, double z)
{
    vy_shape box = {0};
    assert_int_equal(vy_shape_box(vec3_make(x, y, z), &box, NULL), VY_OK);
    return box;
}

// Every manifold: unit normal, points that say what the normal and depth say, near both surfaces, the deepest
// first and as deep as the shapes reach into each other.
static void check_manifold(const vy_shape *a, const vy_pose *pa, const vy_shape *b, const vy_pose *pb,
                           const vy_manifold *m, double tolerance)
{
    const double depth = m->points[0].depth;
    assert_near(vec3_length(m->normal), 1.0, 1e-12);
    assert_near(overlap_along(a, pa, b, pb, m->normal), depth, tolerance);
    for (int i = 0; i < m->count; ++i) {
        const vy_manifold_point *p = &m->points[i];
        assert_true(p->depth >= 0.0 && p->depth <= depth);
        assert_vec_near(vec3_sub(p->point_a, p->point_b), vec3_scale(p->depth, m->normal), 1e-12);
        // A face that is a little tilted to the normal leaves the other points off the surface by as little.
        const double room = i == 0 ? tolerance : tolerance + 0.06 * depth;
        assert_true(outside(a, pa, p->point_a) <= room);
        assert_true(outside(b, pb, p->point_b) <= room);
        for (int j = 0; j < i; ++j) assert_true(p->id != m->points[j].id);
    }
}

// Any two bounded shapes: the manifold's first point is the contact of the penetration query.
static void every_pair_of_kinds(void **unused)
{
    (void)unused;
    sampler s = {61};
    int hits = 0;
    for (int round = 0; round < 3000; ++round) {
        vy_hull *hull = sample_hull(&s, round % 2 != 0 ? 1 : 8, 1.0);
        const vy_shape a = sample_shape(&s, round % 5, 1.0, hull),
                       b = sample_shape(&s, round / 5 % 5, 1.0, hull);
        vy_pose pa = sample_pose(&s, 0.3), pb = sample_pose(&s, 1.2);
        if (round % 4 == 0) pa.rotation = pb.rotation; // faces side by side
        const int smooth = a.kind == VY_SHAPE_CYLINDER || b.kind == VY_SHAPE_CYLINDER;
        vy_manifold m = collide(&a, pa, &b, pb);
        vy_contact c;
        int hit;
        assert_int_equal(vy_penetration(&a, &pa, &b, &pb, NULL, &hit, &c, NULL), VY_OK);
        assert_int_equal(m.count > 0, hit);
        if (hit) {
            ++hits;
            assert_near(m.points[0].depth, c.depth, 1e-12);
            assert_vec_near(m.normal, c.normal, 1e-12);
            check_manifold(&a, &pa, &b, &pb, &m, smooth ? 1e-6 : 1e-9);
        }
        vy_hull_destroy(hull);
    }
    assert_true(hits > 1000);
}

// A box at rest on another: four corners, equally deep.
static void box_on_box_has_four_points(void **unused)
{
    (void)unused;
    const vy_shape ground = box_of(10.0, 10.0, 1.0), box = box_of(0.5, 0.25, 0.125);
    const vy_pose at = {{3.0, -2.0, 1.115}, turn(0.7, 0, 0, 1)};
    const vy_manifold m = collide(&ground, pose_at(0, 0, 0), &box, at);
    assert_int_equal(m.count, 4);
    assert_vec_near(m.normal, vec3_make(0, 0, 1), 1e-15);
    double area = 0.0;
    for (int i = 0; i < 4; ++i) {
        assert_near(m.points[i].depth, 0.01, 1e-14);
        assert_near(m.points[i].point_a.z, 1.0, 1e-14);
        assert_near(m.points[i].point_b.z, 0.99, 1e-14);
        const vy_vec3 r = quat_unrotate(at.rotation, vec3_sub(m.points[i].point_b, at.position));
        assert_near(fabs(r.x), 0.5, 1e-14);
        assert_near(fabs(r.y), 0.25, 1e-14);
        area += fabs(r.x * r.y);
    }
    assert_near(area, 0.5, 1e-13);
}

// Two boxes half over each other, both ways round: the overlap's rectangle.
static void overhang_is_clipped(void **unused)
{
    (void)unused;
    const vy_shape a = box_of(1.0, 1.0, 1.0), b = box_of(1.0, 2.0, 0.5);
    for (int turned = 0; turned < 2; ++turned) {
        const vy_pose low = pose_at(0, 0, 0), high = pose_at(1.5, 0.5, 1.49);
        const vy_manifold m = turned ? collide(&b, high, &a, low) : collide(&a, low, &b, high);
        assert_int_equal(m.count, 4);
        assert_near(m.normal.z, turned ? -1.0 : 1.0, 1e-15);
        double x0 = 9, x1 = -9, y0 = 9, y1 = -9;
        for (int i = 0; i < 4; ++i) {
            const vy_vec3 p = m.points[i].point_a;
            x0 = fmin(x0, p.x);
            x1 = fmax(x1, p.x);
            y0 = fmin(y0, p.y);
            y1 = fmax(y1, p.y);
            assert_near(m.points[i].depth, 0.01, 1e-14);
        }
        assert_near(x0, 0.5, 1e-14);
        assert_near(x1, 1.0, 1e-14);
        assert_near(y0, -1.0, 1e-14);
        assert_near(y1, 1.0, 1e-14);
    }
}

// Two edges that cross: one point, halfway along both.
static void crossing_edges_touch_in_one_point(void **unused)
{
    (void)unused;
    const vy_shape a = box_of(1.0, 0.2, 0.2);
    const double half = 0.2 * sqrt(2.0);
    const vy_pose low = {{0, 0, 0}, turn(PI / 4, 1, 0, 0)};
    const vy_pose high = {{0.3, -0.1, 2.0 * half - 0.01},
                          quat_mul(turn(PI / 2, 0, 0, 1), turn(PI / 4, 1, 0, 0))};
    vy_manifold m = collide(&a, low, &a, high);
    assert_int_equal(m.count, 1);
    assert_vec_near(m.normal, vec3_make(0, 0, 1), 1e-14);
    assert_near(m.points[0].depth, 0.01, 1e-14);
    assert_vec_near(m.points[0].point_a, vec3_make(0.3, 0.0, half), 1e-13);
    // As hulls the same, by the general path, but for where on the ridge rounding ends.
    vy_hull *hull;
    assert_int_equal(vy_hull_box(a.box.half, &hull, NULL), VY_OK);
    const vy_shape h = hull_shape(hull);
    const vy_manifold g = collide(&h, low, &h, high);
    assert_int_equal(g.count, 1);
    assert_near(g.points[0].depth, 0.01, 1e-12);
    assert_vec_near(g.points[0].point_a, m.points[0].point_a, 1e-9);
    vy_hull_destroy(hull);
}

static int has_point(const vy_manifold *m, const vy_manifold_point *p)
{
    for (int i = 0; i < m->count; ++i) {
        const vy_manifold_point *q = &m->points[i];
        if (fabs(q->depth - p->depth) < 1e-9 && vec3_length(vec3_sub(q->point_a, p->point_a)) < 1e-9)
            return 1;
    }
    return 0;
}

// Boxes by their fifteen axes and boxes as hulls by EPA: two methods, one answer.
static void special_boxes_agree_with_the_general_path(void **unused)
{
    (void)unused;
    sampler s = {67};
    for (int round = 0; round < 1500; ++round) {
        const vy_shape a = sample_shape(&s, 2, 1.0, NULL), b = sample_shape(&s, 2, 1.0, NULL);
        vy_pose pa = sample_pose(&s, 0.4), pb = sample_pose(&s, 1.4);
        if (round % 5 == 0) pb.rotation = pa.rotation;
        vy_hull *ha, *hb;
        assert_int_equal(vy_hull_box(a.box.half, &ha, NULL), VY_OK);
        assert_int_equal(vy_hull_box(b.box.half, &hb, NULL), VY_OK);
        const vy_shape ga = hull_shape(ha), gb = hull_shape(hb);
        const vy_manifold m = collide(&a, pa, &b, pb), g = collide(&ga, pa, &gb, pb),
                          mixed = collide(&ga, pa, &b, pb);
        assert_int_equal(m.count > 0, g.count > 0);
        assert_int_equal(m.count > 0, mixed.count > 0);
        if (m.count > 0) {
            assert_near(m.points[0].depth, g.points[0].depth, 1e-11);
            assert_near(m.points[0].depth, mixed.points[0].depth, 1e-11);
            if (vec3_dot(m.normal, g.normal) > 1.0 - 1e-9) {
                assert_int_equal(m.count, g.count);
                for (int i = 0; i < m.count && m.count < 4; ++i) assert_true(has_point(&g, &m.points[i]));
            }
        }
        vy_hull_destroy(ha);
        vy_hull_destroy(hb);
    }
}

// Boxes that are apart: where a face or two edges say how far, GJK says the same; where they do not, they do
// not guess.
static void boxes_apart_agree_with_the_distance(void **unused)
{
    (void)unused;
    sampler s = {69};
    int near = 0, clear = 0;
    for (int round = 0; round < 20000; ++round) {
        const vy_shape a = sample_shape(&s, 2, 1.0, NULL), b = sample_shape(&s, 2, 1.0, NULL);
        vy_pose pa = sample_pose(&s, 0.5), pb = sample_pose(&s, 2.0);
        if (round % 5 == 0) pb.rotation = pa.rotation;
        const double margin = 0.2;
        vy_distance d;
        vy_manifold m;
        assert_int_equal(vy_shape_distance(&a, &pa, &b, &pb, NULL, NULL, &d, NULL), VY_OK);
        const int known = vy_boxes_collide(&a, &pa, &b, &pb, margin, &m);
        if (!known) assert_true(m.count == 0 && d.distance > 0.0);
        if (known && d.distance > margin + 1e-9) assert_int_equal(m.count, 0);
        if (!(d.distance > 1e-3 && d.distance < margin - 1e-9)) continue;
        ++near;
        if (!known) continue;
        ++clear;
        assert_in_range(m.count, 1, 4);
        assert_near(m.points[0].depth, -d.distance, 1e-11);
        assert_vec_near(m.normal, d.normal, 1e-9);
        assert_true(outside(&a, &pa, m.points[0].point_a) < 1e-9);
        assert_true(outside(&b, &pb, m.points[0].point_b) < 1e-9);
        for (int i = 0; i < m.count; ++i) {
            const vy_manifold_point *p = &m.points[i];
            assert_vec_near(vec3_sub(p->point_b, p->point_a), vec3_scale(-p->depth, m.normal), 1e-12);
            assert_true(p->depth <= m.points[0].depth);
        }
    }
    print_message("boxes near each other: %d, of which faces or edges tell %d\n", near, clear);
    assert_true(near > 1000 && clear > near / 4);
}

// Spheres and capsules in closed form against GJK and EPA on their cores.
static void special_round_shapes_agree_with_the_general_path(void **unused)
{
    (void)unused;
    static const int kinds[][2] = {{0, 0}, {0, 1}, {1, 0}, {1, 1}, {0, 2}, {2, 0}};
    sampler s = {71};
    int hits = 0;
    for (int round = 0; round < 3000; ++round) {
        const vy_shape a = sample_shape(&s, kinds[round % 6][0], 1.0, NULL),
                       b = sample_shape(&s, kinds[round % 6][1], 1.0, NULL);
        const vy_pose pa = sample_pose(&s, 0.5), pb = sample_pose(&s, 2.0);
        vy_contact special;
        vy_local_contact general;
        vy_query_info info = {0, 0, 0};
        vy_core_pair pair;
        int hit, again;
        assert_int_equal(vy_contact_closed_form(&a, &pa, &b, &pb, &hit, &special), 1);
        vy_core_of(&a, &pair.a);
        vy_core_of(&b, &pair.b);
        vy_pair_set_poses(&pa, &pb, &pair);
        const vy_query_options options = vy_options_with_defaults(NULL);
        assert_int_equal(vy_contact_general(&pair, &a, &b, &options, &again, &general, &info), VY_OK);
        assert_int_equal(hit, again);
        if (!hit) continue;
        ++hits;
        assert_near(special.depth, general.depth, 1e-11);
        assert_vec_near(special.normal, quat_rotate(pa.rotation, general.normal), 1e-9);
        assert_vec_near(special.point_a, vec3_add(pa.position, quat_rotate(pa.rotation, general.point_a)),
                        1e-9);
    }
    assert_true(hits > 500);
}

// Centres that coincide: the depth is known, the normal any unit vector.
static void coincident_round_shapes(void **unused)
{
    (void)unused;
    vy_shape ball = {0}, pill = {0};
    assert_int_equal(vy_shape_sphere(0.5, &ball, NULL), VY_OK);
    assert_int_equal(vy_shape_capsule(1.0, 0.25, &pill, NULL), VY_OK);
    const vy_pose o = pose_at(1, 2, 3), across = {{1, 2, 3}, turn(PI / 2, 1, 0, 0)};
    vy_manifold m = collide(&ball, o, &ball, o);
    assert_near(m.points[0].depth, 1.0, 1e-15);
    assert_near(vec3_length(m.normal), 1.0, 1e-15);
    m = collide(&pill, o, &pill, across);
    assert_near(m.points[0].depth, 0.5, 1e-15);
    assert_near(fabs(m.normal.x), 1.0, 1e-12); // across both
    m = collide(&pill, o, &pill, o);
    assert_near(m.points[0].depth, 0.5, 1e-12);
    assert_near(m.normal.z, 0.0, 1e-12);
    m = collide(&ball, o, &pill, o);
    assert_near(m.points[0].depth, 0.75, 1e-12);
}

// A capsule lying on a box touches with both ends, two capsules side by side along their common length.
static void capsules_lie_on_two_points(void **unused)
{
    (void)unused;
    const vy_shape ground = box_of(5, 5, 1);
    vy_shape pill = {0};
    assert_int_equal(vy_shape_capsule(1.0, 0.25, &pill, NULL), VY_OK);
    const vy_quat lying = turn(PI / 2, 0, 1, 0);
    vy_manifold m = collide(&ground, pose_at(0, 0, 0), &pill, (vy_pose){{0.5, 0.5, 1.24}, lying});
    assert_int_equal(m.count, 2);
    for (int i = 0; i < 2; ++i) assert_near(m.points[i].depth, 0.01, 1e-12);
    assert_near(fabs(m.points[0].point_a.x - m.points[1].point_a.x), 2.0, 1e-12);
    m = collide(&pill, (vy_pose){{0, 0, 0}, lying}, &pill, (vy_pose){{1.5, 0, 0.49}, lying});
    assert_int_equal(m.count, 2);
    assert_near(fabs(m.points[0].point_a.x - m.points[1].point_a.x), 0.5, 1e-9);
    for (int i = 0; i < 2; ++i) assert_near(m.points[i].depth, 0.01, 1e-12);
}

// A box that slides and turns a little keeps the names of its points.
static void names_are_stable(void **unused)
{
    (void)unused;
    const vy_shape ground = box_of(10, 10, 1), box = box_of(0.5, 0.4, 0.3);
    vy_hull *hull;
    assert_int_equal(vy_hull_box(box.box.half, &hull, NULL), VY_OK);
    const vy_shape as_hull = hull_shape(hull), *shapes[2] = {&box, &as_hull};
    for (int k = 0; k < 2; ++k) {
        uint64_t names[4] = {0};
        for (int step = 0; step < 100; ++step) {
            const double tilt = 1e-3 * sin(0.3 * step);
            const vy_pose at = {{0.01 * step, 0.3, 1.29},
                                quat_normalize(quat_mul(turn(0.01 * step, 0, 0, 1), turn(tilt, 1, 0, 0)))};
            const vy_manifold m = collide(&ground, pose_at(0, 0, 0), shapes[k], at);
            assert_int_equal(m.count, 4);
            for (int i = 0; i < 4; ++i) {
                int same = 0;
                for (int j = 0; j < 4; ++j) same += names[j] == m.points[i].id;
                if (step > 0) assert_int_equal(same, 1);
            }
            for (int i = 0; i < 4; ++i) names[i] = m.points[i].id;
        }
    }
    vy_hull_destroy(hull);
}

// Many-sided prisms end to end: of all the corners four are kept, the deepest first, spanning most of the
// face.
static void faces_of_many_sides_are_reduced(void **unused)
{
    (void)unused;
    for (int sides = 5; sides <= 100; sides += 19) {
        vy_vec3 p[200];
        vy_hull *hull;
        for (int i = 0; i < 2 * sides; ++i) {
            const int side = i / 2;
            const double angle = 2.0 * PI * side / sides;
            p[i] = vec3_make(cos(angle), sin(angle), i % 2 != 0 ? 1.0 : -1.0);
        }
        assert_int_equal(vy_hull_create(p, 2 * sides, VY_HULL_TOLERANCE, &hull, NULL), VY_OK);
        const vy_shape h = hull_shape(hull);
        const vy_pose low = pose_at(0, 0, 0), high = {{0.1, 0.05, 1.99}, turn(1e-3, 0.6, 0.8, 0)};
        const vy_manifold m = collide(&h, low, &h, high);
        assert_int_equal(m.count, 4);
        check_manifold(&h, &low, &h, &high, &m, 1e-9);
        double spread = 0.0;
        for (int i = 1; i < 4; ++i)
            spread = fmax(spread, check_distance(m.points[0].point_a, m.points[i].point_a));
        assert_true(spread > 1.4);
        vy_hull_destroy(hull);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pair_of_kinds),
        cmocka_unit_test(box_on_box_has_four_points),
        cmocka_unit_test(overhang_is_clipped),
        cmocka_unit_test(crossing_edges_touch_in_one_point),
        cmocka_unit_test(special_boxes_agree_with_the_general_path),
        cmocka_unit_test(boxes_apart_agree_with_the_distance),
        cmocka_unit_test(special_round_shapes_agree_with_the_general_path),
        cmocka_unit_test(coincident_round_shapes),
        cmocka_unit_test(capsules_lie_on_two_points),
        cmocka_unit_test(names_are_stable),
        cmocka_unit_test(faces_of_many_sides_are_reduced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
