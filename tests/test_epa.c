// test_epa.c - depth, normal and points of overlapping shapes against Qhull and against their own definition.
#include "collision_samples.h"
#include "geometry/penetration.h"
#include "geometry/epa.h"
#include "geometry/sat.h"

typedef struct pair_case {
    vy_shape a, b;
    vy_pose pa, pb;
    double size;
} pair_case;

// The promises of vy_contact that need no reference: unit normal, honest depth, points on both surfaces.
static void check_contact(const pair_case *c, const vy_contact *k, double tolerance)
{
    assert_near(vec3_length(k->normal), 1.0, 1e-12);
    assert_true(k->depth >= 0.0);
    assert_near(overlap_along(&c->a, &c->pa, &c->b, &c->pb, k->normal), k->depth, tolerance);
    assert_vec_near(vec3_sub(k->point_a, k->point_b), vec3_scale(k->depth, k->normal), tolerance);
    assert_true(outside(&c->a, &c->pa, k->point_a) <= tolerance);
    assert_true(outside(&c->b, &c->pb, k->point_b) <= tolerance);
    // On the surface: as far along the normal as the shape reaches.
    assert_near(vec3_dot(k->normal, k->point_a), reach_along(&c->a, &c->pa, k->normal), tolerance);
    assert_near(-vec3_dot(k->normal, k->point_b), reach_along(&c->b, &c->pb, vec3_neg(k->normal)), tolerance);
}

// They overlap, by so much.
static void check_depth(const pair_case *c, double depth, double tolerance)
{
    vy_contact k;
    int hit;
    assert_int_equal(vy_penetration(&c->a, &c->pa, &c->b, &c->pb, NULL, &hit, &k, NULL), VY_OK);
    assert_int_equal(hit, 1);
    assert_near(k.depth, depth, tolerance);
    check_contact(c, &k, tolerance);
}

// Depth against Qhull for both orders, and the same pair moved elsewhere.
static void check_against_qhull(sampler *s, const pair_case *c, double tolerance)
{
    const double exact = qhull_depth(c->a.hull, &c->pa, c->b.hull, &c->pb);
    if (fabs(exact) < 1e-9 * c->size) return;
    vy_contact k, turned, moved;
    int hit, hit_turned, hit_moved;
    assert_int_equal(vy_penetration(&c->a, &c->pa, &c->b, &c->pb, NULL, &hit, &k, NULL), VY_OK);
    assert_int_equal(vy_penetration(&c->b, &c->pb, &c->a, &c->pa, NULL, &hit_turned, &turned, NULL), VY_OK);
    assert_int_equal(hit, exact > 0.0);
    assert_int_equal(hit_turned, hit);
    assert_int_equal(vy_overlap(&c->a, &c->pa, &c->b, &c->pb), hit);
    assert_int_equal(vy_overlap(&c->b, &c->pb, &c->a, &c->pa), hit);
    if (!hit) return;
    assert_near(k.depth, exact, tolerance * c->size);
    assert_near(turned.depth, exact, tolerance * c->size);
    check_contact(c, &k, 1e-9 * c->size);
    const vy_pose away = sample_pose(s, 3.0 * c->size);
    const vy_pose pa = pose_after(away, c->pa), pb = pose_after(away, c->pb);
    assert_int_equal(vy_penetration(&c->a, &pa, &c->b, &pb, NULL, &hit_moved, &moved, NULL), VY_OK);
    assert_int_equal(hit_moved, 1);
    assert_near(moved.depth, k.depth, tolerance * c->size);
}

// Points in a cube, on a ball, on a lattice, on faces and edges of cubes, prisms, crowded: at many depths.
static void depth_is_that_of_qhull(void **unused)
{
    (void)unused;
    static const int kinds[] = {0, 1, 2, 5, 6, 8, 9};
    sampler s = {7};
    for (int round = 0; round < 600; ++round) {
        pair_case c;
        vy_hull *a = sample_hull(&s, kinds[round % 7], 1.0),
                *b = sample_hull(&s, kinds[sample_int(&s, 0, 6)], 1.0);
        if (a != NULL && b != NULL) {
            c.a = hull_shape(a);
            c.b = hull_shape(b);
            c.pa = sample_pose(&s, 0.2);
            c.pb = sample_pose(&s, 1.5 * sample_unit(&s));
            if (round % 5 == 0)
                c.pa.rotation = c.pb.rotation = quat_identity(); // faces and edges side by side
            c.size = a->radius + b->radius;
            check_against_qhull(&s, &c, 1e-10);
        }
        vy_hull_destroy(a);
        vy_hull_destroy(b);
    }
}

// The requirements name 4 to 11 iterations as usual: with hulls of 8 points 95 of 100 pairs need no more.
// (More points have more faces to open.)
static void iterations_are_few(void **unused)
{
    (void)unused;
    sampler s = {11};
    int hits = 0, usual = 0;
    for (int round = 0; round < 2000; ++round) {
        vy_vec3 p[2][8];
        vy_hull *hull[2];
        for (int k = 0; k < 2; ++k) {
            for (int i = 0; i < 8; ++i) p[k][i] = sample_vec(&s);
            assert_int_equal(vy_hull_create(p[k], 8, VY_HULL_TOLERANCE, &hull[k], NULL), VY_OK);
        }
        const vy_shape a = hull_shape(hull[0]), b = hull_shape(hull[1]);
        const vy_pose pa = sample_pose(&s, 0.0), pb = sample_pose(&s, sample_unit(&s));
        vy_contact out;
        vy_query_info info;
        int hit = 0;
        assert_int_equal(vy_penetration(&a, &pa, &b, &pb, NULL, &hit, &out, &info), VY_OK);
        hits += hit && !info.used_sat;
        usual += hit && !info.used_sat && info.epa_iterations <= 11;
        vy_hull_destroy(hull[0]);
        vy_hull_destroy(hull[1]);
    }
    print_message("epa: at most 11 iterations in %d of %d overlaps of 8 points\n", usual, hits);
    assert_true(hits > 500);
    assert_true(100 * usual > 95 * hits);
}

// The same from a micrometre to a thousand kilometres.
static void depth_scales(void **unused)
{
    (void)unused;
    static const double scales[] = {1e-6, 1e-3, 1e3, 1e6};
    sampler s = {11};
    for (int round = 0; round < 80; ++round) {
        pair_case c;
        const double scale = scales[round % 4];
        vy_hull *a = sample_hull(&s, round % 2, scale), *b = sample_hull(&s, 1, scale);
        assert_non_null(a);
        assert_non_null(b);
        c.a = hull_shape(a);
        c.b = hull_shape(b);
        c.pa = sample_pose(&s, 0.2 * scale);
        c.pb = sample_pose(&s, scale);
        c.size = a->radius + b->radius;
        check_against_qhull(&s, &c, 1e-10);
        vy_hull_destroy(a);
        vy_hull_destroy(b);
    }
}

// Flat and needle hulls, a thousandth and a millionth thin, where Qhull itself needs room: what the depth
// stands for is checked, and that no direction tried is better.
static void thin_shapes_are_honest(void **unused)
{
    (void)unused;
    sampler s = {13};
    for (int round = 0; round < 200; ++round) {
        vy_vec3 p[40];
        vy_hull *hull[2] = {NULL, NULL};
        for (int k = 0; k < 2; ++k) {
            const double thin = round % 2 != 0 ? 1e-3 : 1e-6;
            for (int i = 0; i < 40; ++i) {
                p[i] = sample_vec(&s);
                p[i].z *= thin;
                if (round % 4 >= 2) p[i].y *= thin;
            }
            (void)vy_hull_create(p, 40, VY_HULL_TOLERANCE, &hull[k], NULL);
            assert_non_null(hull[k]);
        }
        pair_case c = {hull_shape(hull[0]), hull_shape(hull[1]), sample_pose(&s, 0.1), sample_pose(&s, 0.1),
                       2.0};
        if (round % 3 == 0) c.pb.rotation = c.pa.rotation;
        vy_contact k;
        int hit;
        assert_int_equal(vy_penetration(&c.a, &c.pa, &c.b, &c.pb, NULL, &hit, &k, NULL), VY_OK);
        assert_int_equal(vy_overlap(&c.a, &c.pa, &c.b, &c.pb), hit);
        double min = 1e300;
        for (int i = 0; i < 2000; ++i) {
            min = fmin(min, overlap_along(&c.a, &c.pa, &c.b, &c.pb, sample_direction(&s)));
        }
        for (int i = 0; i < hull[0]->face_count; ++i) {
            const vy_vec3 n = quat_rotate(c.pa.rotation, hull[0]->faces[i].normal);
            min = fmin(min, overlap_along(&c.a, &c.pa, &c.b, &c.pb, n));
        }
        for (int i = 0; i < hull[1]->face_count; ++i) {
            const vy_vec3 n = quat_rotate(c.pb.rotation, vec3_neg(hull[1]->faces[i].normal));
            min = fmin(min, overlap_along(&c.a, &c.pa, &c.b, &c.pb, n));
        }
        if (min < -1e-9) assert_int_equal(hit, 0);
        if (hit) {
            check_contact(&c, &k, 1e-9);
            assert_true(k.depth <= min + 1e-10);
        }
        vy_hull_destroy(hull[0]);
        vy_hull_destroy(hull[1]);
    }
}

// Coincident, identical and nested shapes: the whole depth is known.
static void one_inside_another(void **unused)
{
    (void)unused;
    vy_hull *big, *small;
    assert_int_equal(vy_hull_box(vec3_make(2.0, 3.0, 4.0), &big, NULL), VY_OK);
    assert_int_equal(vy_hull_box(vec3_make(0.5, 0.25, 0.125), &small, NULL), VY_OK);
    const vy_shape a = hull_shape(big), b = hull_shape(small);
    const vy_pose o = pose_at(0, 0, 0), p = pose_at(0.75, 0.5, -0.25);
    vy_contact k;
    int hit;
    assert_int_equal(vy_penetration(&a, &o, &a, &o, NULL, &hit, &k, NULL), VY_OK);
    assert_int_equal(hit, 1);
    assert_near(k.depth, 4.0, 1e-11);
    assert_near(fabs(k.normal.x), 1.0, 1e-12);
    assert_int_equal(vy_penetration(&a, &o, &b, &o, NULL, &hit, &k, NULL), VY_OK);
    assert_near(k.depth, 2.5, 1e-11);
    assert_int_equal(vy_penetration(&a, &o, &b, &p, NULL, &hit, &k, NULL), VY_OK);
    assert_near(k.depth, 1.75, 1e-11);
    assert_vec_near(k.normal, vec3_make(1.0, 0.0, 0.0), 1e-12);
    assert_near(k.point_a.x, 2.0, 1e-11);
    assert_near(k.point_b.x, 0.25, 1e-11);
    vy_hull_destroy(big);
    vy_hull_destroy(small);
}

// Many facets of A - B are equally near when the centres coincide: the points must be of the one whose normal
// is reported.
static void concentric_shapes_have_points_on_their_surfaces(void **unused)
{
    (void)unused;
    sampler s = {77};
    for (int round = 0; round < 4000; ++round) {
        vy_hull *hull = NULL;
        while (hull == NULL) hull = sample_hull(&s, round % 3, 1.0);
        const double size_a = pow(10.0, -2.0 * sample_unit(&s)), size_b = pow(10.0, -2.0 * sample_unit(&s));
        pair_case c = {.size = 2.0 * fmax(size_a, size_b)};
        c.a = sample_shape(&s, round % 5, size_a, hull);
        c.b = sample_shape(&s, round / 5 % 5, size_b, hull);
        c.pa = round % 4 == 0 ? pose_at(0, 0, 0) : sample_pose(&s, 10.0);
        c.pb = c.pa;
        if (round % 4 >= 2) c.pb.rotation = sample_rotation(&s);
        if (round % 5 == 4 || round / 5 % 5 == 4) c.size = 2.0; // the hull has a size of its own
        vy_contact k;
        int hit;
        assert_int_equal(vy_penetration(&c.a, &c.pa, &c.b, &c.pb, NULL, &hit, &k, NULL), VY_OK);
        if (hit) { // a hull need not hold its origin
            assert_near(outside(&c.a, &c.pa, k.point_a), 0.0, 1e-9 * c.size);
            assert_near(outside(&c.b, &c.pb, k.point_b), 0.0, 1e-9 * c.size);
            assert_vec_near(vec3_sub(k.point_a, k.point_b), vec3_scale(k.depth, k.normal), 1e-5 * c.size);
        }
        vy_hull_destroy(hull);
    }
}

// Touching is a contact of depth 0, a hair apart is none.
static void ruling_15_touching_has_depth_zero(void **unused)
{
    (void)unused;
    vy_hull *box;
    assert_int_equal(vy_hull_box(vec3_make(1.0, 1.0, 1.0), &box, NULL), VY_OK);
    const vy_shape a = hull_shape(box);
    vy_contact k;
    int hit;
    const vy_pose o = pose_at(0, 0, 0), face = pose_at(2, 0, 0), apart = pose_at(2 + 1e-9, 0, 0);
    assert_int_equal(vy_penetration(&a, &o, &a, &face, NULL, &hit, &k, NULL), VY_OK);
    assert_int_equal(hit, 1);
    assert_near(k.depth, 0.0, 1e-12);
    assert_vec_near(k.normal, vec3_make(1.0, 0.0, 0.0), 1e-12);
    assert_int_equal(vy_penetration(&a, &o, &a, &apart, NULL, &hit, &k, NULL), VY_OK);
    assert_int_equal(hit, 0);
    vy_hull_destroy(box);
}

// A corner over a face away from its middle: the plain mean of the face's three points would be elsewhere.
static void ruling_15_witness_points_are_barycentric(void **unused)
{
    (void)unused;
    vy_hull *box, *spike;
    const vy_vec3 p[4] = {{0.0, 0.0, 0.0}, {0.5, 0.0, 1.0}, {-0.5, 0.4, 1.0}, {-0.5, -0.4, 1.0}};
    assert_int_equal(vy_hull_box(vec3_make(5.0, 5.0, 1.0), &box, NULL), VY_OK);
    assert_int_equal(vy_hull_create(p, 4, VY_HULL_TOLERANCE, &spike, NULL), VY_OK);
    const vy_shape a = hull_shape(box), b = hull_shape(spike);
    const vy_pose o = pose_at(0, 0, 0), at = pose_at(3.25, -2.5, 0.875);
    vy_contact k;
    int hit;
    assert_int_equal(vy_penetration(&a, &o, &b, &at, NULL, &hit, &k, NULL), VY_OK);
    assert_int_equal(hit, 1);
    assert_near(k.depth, 0.125, 1e-12);
    assert_vec_near(k.normal, vec3_make(0.0, 0.0, 1.0), 1e-12);
    assert_vec_near(k.point_a, vec3_make(3.25, -2.5, 1.0), 1e-11);
    assert_vec_near(k.point_b, vec3_make(3.25, -2.5, 0.875), 1e-11);
    vy_hull_destroy(box);
    vy_hull_destroy(spike);
}

// Rounded and smooth shapes: what the depth stands for, and no direction of many is better.
static void every_kind_is_honest(void **unused)
{
    (void)unused;
    sampler s = {17};
    vy_hull *hull = sample_hull(&s, 1, 1.0);
    assert_non_null(hull);
    int hits = 0;
    for (int round = 0; round < 2000; ++round) {
        pair_case c;
        c.a = sample_shape(&s, round % 5, 1.0, hull);
        c.b = sample_shape(&s, round / 5 % 5, 1.0, hull);
        c.pa = sample_pose(&s, 0.5);
        c.pb = sample_pose(&s, 1.5);
        c.size = 3.0;
        vy_contact k, turned;
        int hit, again;
        assert_int_equal(vy_penetration(&c.a, &c.pa, &c.b, &c.pb, NULL, &hit, &k, NULL), VY_OK);
        assert_int_equal(vy_penetration(&c.b, &c.pb, &c.a, &c.pa, NULL, &again, &turned, NULL), VY_OK);
        double min = 1e300;
        for (int i = 0; i < 200; ++i) {
            min = fmin(min, overlap_along(&c.a, &c.pa, &c.b, &c.pb, sample_direction(&s)));
        }
        if (min < -1e-9) assert_int_equal(hit, 0);
        assert_int_equal(vy_overlap(&c.a, &c.pa, &c.b, &c.pb), hit);
        assert_int_equal(again, hit);
        if (!hit) continue;
        ++hits;
        const int smooth = c.a.kind == VY_SHAPE_CYLINDER || c.b.kind == VY_SHAPE_CYLINDER;
        assert_true(k.depth <= min + 1e-7);
        assert_near(turned.depth, k.depth, smooth ? 1e-7 : 1e-10);
        check_contact(&c, &k, smooth ? 1e-6 : 1e-9);
        // Around the normal: a local check far finer than the random directions.
        for (int i = 0; i < 50; ++i) {
            vy_vec3 u = vec3_add_scaled(k.normal, i < 25 ? 1e-2 : 1e-4, sample_direction(&s));
            u = vec3_scale(1.0 / vec3_length(u), u);
            assert_true(overlap_along(&c.a, &c.pa, &c.b, &c.pb, u) >= k.depth - (smooth ? 1e-7 : 1e-10));
        }
    }
    assert_true(hits > 500);
    vy_hull_destroy(hull);
}

// A capsule's segment along an edge that a corner leaves by 3e-11: the direction between two nearest points
// that close is rounding, and no normal.
static void segment_on_a_bent_edge(void **unused)
{
    (void)unused;
    const vy_vec3 p[7] = {{-0.53125, 0.0, -2.0},
                          {-2.0, -0.53125, -2.0},
                          {-2.0, -2.0, -2.0},
                          {-5.3446876471793711e-79, -0.53125, -0.9375},
                          {-2.6860410192360479e-11, 0.0, -2.0},
                          {-2.0, -2.0, -1.1875},
                          {-6.8285277991114881e-229, -5.176136021734444e-79, 0.0}};
    pair_case c = {.pa = pose_at(-4, -4, -4), .pb = pose_at(-4, -4, -4), .size = 6.0};
    vy_hull *hull;
    assert_int_equal(vy_hull_create(p, 7, VY_HULL_TOLERANCE, &hull, NULL), VY_OK);
    assert_int_equal(vy_shape_capsule(2.0625004843750001, 2.2812504296875002, &c.a, NULL), VY_OK);
    c.b = hull_shape(hull);
    check_depth(&c, 2.2812504296875002, 1e-9);
    vy_hull_destroy(hull);
}

// A capsule's segment along an edge of a hull whose corners are off it by next to nothing, down to numbers
// whose squares are no numbers: the hull starts at the segment, so the depth is the radius.
static void segment_on_an_edge(void **unused)
{
    (void)unused;
    sampler s = {31};
    for (int round = 0; round < 3000; ++round) {
        const double size = round % 3 == 0 ? 12.0 + 311.0 * sample_unit(&s) : 150.0 + 15.0 * sample_unit(&s);
        double tiny[6];
        for (int i = 0; i < 6; ++i)
            tiny[i] = sample_unit(&s) < 0.3 ? 0.0 : pow(10.0, -size - 2.0 * sample_unit(&s));
        const vy_vec3 p[6] = {{-tiny[0], tiny[1], -1.0 - sample_unit(&s)},
                              {-tiny[2], -tiny[3], 1.0 + sample_unit(&s)},
                              {-tiny[4], -tiny[5], sample_unit(&s) - 0.5},
                              {-1.0, 1.0, -1.5},
                              {-2.0, -0.5, 0.25},
                              {-0.5 - sample_unit(&s), 1.5, 1.0}};
        pair_case c = {.size = 6.0};
        vy_hull *hull;
        assert_int_equal(vy_hull_create(p, 6, VY_HULL_TOLERANCE, &hull, NULL), VY_OK);
        assert_int_equal(vy_shape_capsule(0.25 + 3.0 * sample_unit(&s), 0.75, &c.a, NULL), VY_OK);
        c.b = hull_shape(hull);
        c.pa = c.pb = round % 2 == 0 ? pose_at(-4, -4, -4) : sample_pose(&s, 4.0);
        for (int turned = 0; turned < 2; ++turned) {
            check_depth(&c, 0.75, 1e-9);
            const vy_shape a = c.a;
            c.a = c.b;
            c.b = a;
        }
        vy_hull_destroy(hull);
    }
}

// Round shapes with parallel axes: on one axis they are equally deep all the way round, or nearly so beside
// it.
static void cylinders_with_parallel_axes(void **unused)
{
    (void)unused;
    sampler s = {37};
    for (int round = 0; round < 1000; ++round) {
        const double ra = 0.2 + sample_unit(&s), ha = 0.2 + 2.0 * sample_unit(&s), rb = 0.2 + sample_unit(&s),
                     hb = 0.2 + 2.0 * sample_unit(&s);
        const double off = round % 3 == 1 ? 10.0 * sample_unit(&s) : 152.0 + 12.0 * sample_unit(&s);
        const double beside = round % 3 == 0 ? 0.0 : pow(10.0, -off),
                     above = round % 2 == 0 ? 0.0 : sample_unit(&s);
        double length = ha + hb;
        pair_case c = {.size = 6.0};
        assert_int_equal(vy_shape_cylinder(ha, ra, &c.a, NULL), VY_OK);
        switch (round % 5) {
        case 0:
            assert_int_equal(vy_shape_sphere(rb, &c.b, NULL), VY_OK);
            length = ha + rb;
            break;
        case 1:
            assert_int_equal(vy_shape_capsule(hb, rb, &c.b, NULL), VY_OK);
            length = ha + hb + rb;
            break;
        default: assert_int_equal(vy_shape_cylinder(hb, rb, &c.b, NULL), VY_OK);
        }
        const double depth = fmin(ra + rb - beside, length - above);
        // A ball beyond the rim has another depth.
        if (depth < 0.0 || (round % 5 < 2 && above + beside > 0.9 * fmin(ra, ha))) continue;
        c.pa = sample_pose(&s, round % 3 == 2 ? 0.0 : 4.0); // such small numbers last at the origin only
        c.pb = pose_after(c.pa, pose_at(0.6 * beside, 0.8 * beside, above));
        check_depth(&c, depth, 1e-9);
    }
}

// The end of a capsule's segment a hair above or below the middle of a face: the depth is known.
static void segment_near_a_face(void **unused)
{
    (void)unused;
    sampler s = {23};
    for (int round = 0; round < 1500; ++round) {
        const double height = pow(10.0, -5.0 - 11.0 * sample_unit(&s)) * (round % 2 == 0 ? 1.0 : -1.0);
        const double tilt = round % 3 == 0 ? 0.0 : 0.1 + sample_unit(&s), half = 0.3 + sample_unit(&s);
        pair_case c = {.size = 4.0};
        vy_hull *box;
        assert_int_equal(vy_hull_box(vec3_make(2.0, 2.0, 1.0), &box, NULL), VY_OK);
        if (round % 5 == 0) {
            assert_int_equal(vy_shape_cylinder(1.0, 2.0, &c.a, NULL), VY_OK);
        } else {
            c.a = hull_shape(box);
        }
        assert_int_equal(vy_shape_capsule(half, 0.5, &c.b, NULL), VY_OK);
        const vy_pose away = sample_pose(&s, 1.0);
        const double north = sample_unit(&s), east = sample_unit(&s);
        vy_pose lying = pose_at(0.3 * east, 0.3 * north, 1.0 + height);
        lying.rotation = quat_normalize(quat_make(cos(tilt / 2.0), sin(tilt / 2.0), 0.0, 0.0));
        const vy_vec3 along = quat_rotate(lying.rotation, vec3_make(0.0, 0.0, half));
        lying.position = vec3_add(lying.position, along);
        c.pa = away;
        c.pb = pose_after(away, lying);
        check_depth(&c, 0.5 - height, 1e-9);
        vy_hull_destroy(box);
    }
}

// Segments a hair apart, or a sphere's centre a hair off one: the closed forms have the same to heed.
static void segments_near_each_other(void **unused)
{
    (void)unused;
    sampler s = {29};
    for (int round = 0; round < 3000; ++round) {
        const double gap = pow(10.0, -5.0 - 8.0 * sample_unit(&s)), at = 2.0 * sample_unit(&s) - 1.0;
        const double turn = round % 4 == 1 ? 0.0 : 0.1 + sample_unit(&s);
        pair_case c = {.size = 4.0};
        assert_int_equal(vy_shape_capsule(1.0, 0.5, &c.a, NULL), VY_OK);
        if (round % 2 == 0) {
            assert_int_equal(vy_shape_sphere(0.25, &c.b, NULL), VY_OK);
        } else {
            assert_int_equal(vy_shape_capsule(0.8, 0.25, &c.b, NULL), VY_OK);
        }
        vy_pose beside = pose_at(gap, 0.0, at);
        beside.rotation = quat_make(cos(turn / 2.0), sin(turn / 2.0), 0.0, 0.0);
        c.pa = sample_pose(&s, 4.0);
        c.pb = pose_after(c.pa, beside);
        check_depth(&c, 0.75 - gap, 1e-9);
    }
}

// The search through all facets and EPA know nothing of each other.
static void facets_agree_with_epa(void **unused)
{
    (void)unused;
    sampler s = {19};
    for (int round = 0; round < 300; ++round) {
        vy_hull *ha = sample_hull(&s, 1, 1.0), *hb = sample_hull(&s, round % 2, 1.0);
        vy_shape a = hull_shape(ha), b = hull_shape(hb);
        if (round % 7 == 0) a = sample_shape(&s, 2, 1.0, NULL);
        const vy_pose pa = sample_pose(&s, 0.1), pb = sample_pose(&s, 1.2);
        vy_core_pair pair;
        vy_core_of(&a, &pair.a);
        vy_core_of(&b, &pair.b);
        vy_pair_set_poses(&pa, &pb, &pair);
        vy_sat_result sat;
        vy_sat_search(&pair, &a, &b, &sat);
        vy_contact k;
        int hit;
        assert_int_equal(vy_penetration(&a, &pa, &b, &pb, NULL, &hit, &k, NULL), VY_OK);
        if (fabs(sat.depth) > 1e-12) assert_int_equal(hit, sat.depth > 0.0);
        if (hit) assert_near(k.depth, sat.depth, 1e-12);
        vy_hull_destroy(ha);
        vy_hull_destroy(hb);
    }
}

// A small cap and a loose tolerance are obeyed; polyhedra fall back to the facets, cylinders report it.
static void options_are_obeyed(void **unused)
{
    (void)unused;
    sampler s = {23};
    vy_hull *hull = sample_hull(&s, 1, 1.0), *other = sample_hull(&s, 1, 1.0);
    const vy_shape h = hull_shape(hull), g = hull_shape(other);
    vy_shape c = {0};
    assert_int_equal(vy_shape_cylinder(1.0, 1.0, &c, NULL), VY_OK);
    const vy_pose o = pose_at(0, 0, 0), p = pose_at(0.3, 0.2, 0.1);
    vy_contact k, best;
    vy_query_info info;
    int hit = 7;
    assert_int_equal(vy_penetration(&h, &o, &g, &p, NULL, &hit, &best, &info), VY_OK);
    assert_int_equal(info.used_sat, 0);
    assert_true(info.epa_iterations > 3);
    const vy_query_options two = {0.0, 2};
    assert_int_equal(vy_penetration(&h, &o, &g, &p, &two, &hit, &k, &info), VY_OK);
    assert_int_equal(info.used_sat, 1);
    assert_near(k.depth, best.depth, 1e-11);
    pair_case pc = {h, g, o, p, 2.0};
    check_contact(&pc, &k, 1e-9);
    hit = 7;
    assert_int_equal(vy_penetration(&c, &o, &h, &p, &two, &hit, &k, &info), VY_NO_CONVERGENCE);
    assert_int_equal(hit, 7); // untouched
    const vy_query_options loose = {1e-3, 0};
    vy_query_info few;
    assert_int_equal(vy_penetration(&c, &o, &h, &p, &loose, &hit, &k, &few), VY_OK);
    assert_int_equal(vy_penetration(&c, &o, &h, &p, NULL, &hit, &best, &info), VY_OK);
    assert_true(few.epa_iterations < info.epa_iterations);
    assert_near(k.depth, best.depth, 1e-3 * 4.0);
    vy_hull_destroy(hull);
    vy_hull_destroy(other);
}

// EPA from a simplex that the caller has: complete, incomplete, too many points, not of these shapes.
static void simplices_are_completed(void **unused)
{
    (void)unused;
    vy_hull *box;
    assert_int_equal(vy_hull_box(vec3_make(1.0, 1.0, 1.0), &box, NULL), VY_OK);
    const vy_shape a = hull_shape(box);
    const vy_pose o = pose_at(0, 0, 0), p = {{1.5, 0.25, 0.125}, turn(0.3, 0.6, 0.0, 0.8)},
                  far = pose_at(5, 0, 0);
    vy_simplex simplex = {0, {0}, {0}};
    vy_distance d;
    vy_contact k, from;
    int hit;
    assert_int_equal(vy_penetration(&a, &o, &a, &p, NULL, &hit, &k, NULL), VY_OK);
    assert_int_equal(vy_shape_distance(&a, &o, &a, &p, NULL, &simplex, &d, NULL), VY_OK);
    assert_int_equal(simplex.count, 4);
    for (int count = 4; count >= 0; --count) {
        simplex.count = count;
        assert_int_equal(vy_penetration_from(&a, &o, &a, &p, &simplex, NULL, &from, NULL), VY_OK);
        assert_near(from.depth, k.depth, 1e-11);
        assert_vec_near(from.normal, k.normal, 1e-9);
    }
    simplex.count = 5;
    assert_int_equal(vy_penetration_from(&a, &o, &a, &p, &simplex, NULL, &from, NULL), VY_SIMPLEX_FULL);
    simplex.count = -1;
    assert_int_equal(vy_penetration_from(&a, &o, &a, &p, &simplex, NULL, &from, NULL), VY_BAD_VALUE);
    simplex.count = 1;
    simplex.a[0] = 8;
    assert_int_equal(vy_penetration_from(&a, &o, &a, &p, &simplex, NULL, &from, NULL), VY_BAD_VALUE);
    simplex.a[0] = 0;
    assert_int_equal(vy_penetration_from(&a, &o, &a, &far, &simplex, NULL, &from, NULL), VY_BAD_VALUE);
    vy_hull_destroy(box);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(depth_is_that_of_qhull),
        cmocka_unit_test(iterations_are_few),
        cmocka_unit_test(depth_scales),
        cmocka_unit_test(thin_shapes_are_honest),
        cmocka_unit_test(one_inside_another),
        cmocka_unit_test(concentric_shapes_have_points_on_their_surfaces),
        cmocka_unit_test(ruling_15_touching_has_depth_zero),
        cmocka_unit_test(ruling_15_witness_points_are_barycentric),
        cmocka_unit_test(every_kind_is_honest),
        cmocka_unit_test(segment_on_a_bent_edge),
        cmocka_unit_test(segment_on_an_edge),
        cmocka_unit_test(cylinders_with_parallel_axes),
        cmocka_unit_test(segment_near_a_face),
        cmocka_unit_test(segments_near_each_other),
        cmocka_unit_test(facets_agree_with_epa),
        cmocka_unit_test(options_are_obeyed),
        cmocka_unit_test(simplices_are_completed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
