// test_gjk.c - distance, overlap, rays and casts against closed forms and against certificates: a distance is
// right when the points are on the shapes and the plane between them separates by as much.
#include "collision_samples.h"
#include "geometry/sat.h"
#include "base/math.h"
#include "geometry/mpr.h"

// Whatever found it: points on both shapes at that distance (no less is possible along the normal).
static void check_distance_of(const vy_shape *a, const vy_pose *pa, const vy_shape *b, const vy_pose *pb,
                              const vy_distance *d, double tolerance)
{
    assert_true(outside(a, pa, d->point_a) <= tolerance);
    assert_true(outside(b, pb, d->point_b) <= tolerance);
    if (d->distance == 0.0) return;
    assert_near(vec3_length(d->normal), 1.0, 1e-12);
    assert_vec_near(vec3_sub(d->point_b, d->point_a), vec3_scale(d->distance, d->normal), tolerance);
    assert_near(-overlap_along(a, pa, b, pb, d->normal), d->distance, tolerance);
}

static void distance_has_a_certificate(void **unused)
{
    (void)unused;
    sampler s = {31};
    static const double scales[] = {1.0, 1e-6, 1e6};
    int apart = 0;
    for (int round = 0; round < 3000; ++round) {
        const double scale = scales[round / 25 % 3];
        vy_hull *hull = sample_hull(&s, round % 3, scale);
        if (hull == NULL) continue;
        const vy_shape a = sample_shape(&s, round % 5, scale, hull),
                       b = sample_shape(&s, round / 5 % 5, scale, hull);
        const vy_pose pa = sample_pose(&s, scale), pb = sample_pose(&s, 4.0 * scale);
        const int smooth = a.kind == VY_SHAPE_CYLINDER || b.kind == VY_SHAPE_CYLINDER;
        vy_distance d, turned;
        assert_int_equal(vy_shape_distance(&a, &pa, &b, &pb, NULL, NULL, &d, NULL), VY_OK);
        assert_int_equal(vy_shape_distance(&b, &pb, &a, &pa, NULL, NULL, &turned, NULL), VY_OK);
        assert_near(turned.distance, d.distance, (smooth ? 1e-7 : 1e-12) * scale);
        if (d.distance > 1e-9 * scale) {
            assert_int_equal(vy_overlap(&a, &pa, &b, &pb), 0);
            check_distance_of(&a, &pa, &b, &pb, &d, (smooth ? 3e-8 : 1e-11) * scale);
            ++apart;
        } else if (d.distance == 0.0) {
            assert_int_equal(vy_overlap(&a, &pa, &b, &pb), 1);
        }
        vy_hull_destroy(hull);
    }
    assert_true(apart > 1000);
}

// Two cubes: face to face, edge to edge, corner to corner.
static void distance_of_cubes(void **unused)
{
    (void)unused;
    vy_shape cube = {0};
    assert_int_equal(vy_shape_box(vec3_make(1.0, 1.0, 1.0), &cube, NULL), VY_OK);
    const vy_pose o = pose_at(0, 0, 0), face = pose_at(5, 0.5, 0), edge = pose_at(5, 6, 0.5),
                  corner = pose_at(3, 4, 4);
    vy_distance d;
    assert_int_equal(vy_shape_distance(&cube, &o, &cube, &face, NULL, NULL, &d, NULL), VY_OK);
    assert_near(d.distance, 3.0, 1e-14);
    assert_vec_near(d.normal, vec3_make(1.0, 0.0, 0.0), 1e-14);
    assert_int_equal(vy_shape_distance(&cube, &o, &cube, &edge, NULL, NULL, &d, NULL), VY_OK);
    assert_near(d.distance, 5.0, 1e-14);
    assert_vec_near(d.normal, vec3_make(0.6, 0.8, 0.0), 1e-14);
    assert_int_equal(vy_shape_distance(&cube, &o, &cube, &corner, NULL, NULL, &d, NULL), VY_OK);
    assert_near(d.distance, 3.0, 1e-14);
    assert_vec_near(d.point_a, vec3_make(1.0, 1.0, 1.0), 1e-14);
    assert_vec_near(d.point_b, vec3_make(2.0, 3.0, 3.0), 1e-14);
}

// From the last answer a small move costs little and gives the same distance.
static void warm_start_is_cheaper(void **unused)
{
    (void)unused;
    sampler s = {37};
    long cold = 0, warm = 0;
    for (int round = 0; round < 200; ++round) {
        vy_hull *hull = sample_hull(&s, 1, 1.0);
        const vy_shape a = hull_shape(hull);
        vy_pose pa = sample_pose(&s, 0.1), pb = sample_pose(&s, 1.0);
        pb.position.x += 4.0;
        vy_simplex cache = {0, {0}, {0}};
        vy_distance d, e;
        vy_query_info with, without;
        for (int step = 0; step < 10; ++step) {
            pb.position = vec3_add_scaled(pb.position, 0.01, sample_vec(&s));
            assert_int_equal(vy_shape_distance(&a, &pa, &a, &pb, NULL, &cache, &d, &with), VY_OK);
            assert_int_equal(vy_shape_distance(&a, &pa, &a, &pb, NULL, NULL, &e, &without), VY_OK);
            assert_near(d.distance, e.distance, 1e-13);
            if (step == 0) continue;
            cold += without.gjk_iterations;
            warm += with.gjk_iterations;
        }
        vy_hull_destroy(hull);
    }
    assert_true(2 * warm < cold);
    // A cache of other shapes does no harm.
    vy_simplex odd = {4, {7, 900, 3, 4294967295u}, {0, 1, 77777, 3}};
    vy_shape cube = {0};
    assert_int_equal(vy_shape_box(vec3_make(1.0, 1.0, 1.0), &cube, NULL), VY_OK);
    const vy_pose o = pose_at(0, 0, 0), p = pose_at(5, 0, 0);
    vy_distance d;
    assert_int_equal(vy_shape_distance(&cube, &o, &cube, &p, NULL, &odd, &d, NULL), VY_OK);
    assert_near(d.distance, 3.0, 1e-14);
}

// An extreme point belongs to its shape and lies as far along the direction as the shape reaches, whatever
// the direction's length; that of a difference is made of two.
static void extreme_points_are_extreme(void **unused)
{
    (void)unused;
    sampler s = {5};
    for (int round = 0; round < 3000; ++round) {
        vy_hull *hull = sample_hull(&s, 0, 1.0);
        const vy_shape a = sample_shape(&s, hull == NULL ? round % 4 : round % 5, 1.0, hull);
        const vy_shape b = sample_shape(&s, sample_int(&s, 0, 3), 1.0, NULL);
        const vy_pose pa = sample_pose(&s, 3.0), pb = sample_pose(&s, 3.0);
        const vy_vec3 way = sample_vec(&s), u = vec3_scale(1.0 / vec3_length(way), way);
        const vy_vec3 d = vec3_scale(math_pow(10.0, (double)sample_int(&s, -160, 150)), u);
        vy_vec3 point;
        vy_support_points pair;
        assert_int_equal(vy_shape_support(&a, &pa, d, &point), VY_OK);
        assert_near(vec3_dot(point, u), reach_along(&a, &pa, u), 1e-14 * 10.0);
        assert_true(outside(&a, &pa, point) < 1e-14 * 10.0);
        assert_int_equal(vy_shape_support_pair(&a, &pa, &b, &pb, d, &pair), VY_OK);
        assert_near(vec3_dot(pair.difference, u), overlap_along(&a, &pa, &b, &pb, u), 1e-14 * 20.0);
        assert_true(outside(&b, &pb, pair.point_b) < 1e-14 * 10.0);
        assert_vec_near(pair.point_a, point, 0.0);
        assert_vec_near(pair.difference, vec3_sub(pair.point_a, pair.point_b), 0.0);
        vy_hull_destroy(hull);
    }
    vy_shape box, plane;
    vy_vec3 out = {1.0, 2.0, 3.0};
    const vy_pose o = pose_at(0, 0, 0);
    assert_int_equal(vy_shape_box(vec3_make(1.0, 1.0, 1.0), &box, NULL), VY_OK);
    assert_int_equal(vy_shape_plane(vec3_make(0.0, 0.0, 1.0), 0.0, &plane, NULL), VY_OK);
    assert_int_equal(vy_shape_support(&plane, &o, out, &out), VY_BAD_VALUE);
    assert_int_equal(vy_shape_support(&box, &o, vec3_zero(), &out), VY_BAD_VALUE);
    assert_int_equal(vy_shape_support(&box, &o, vec3_make(NOT_A_NUMBER, 0.0, 1.0), &out), VY_BAD_VALUE);
    assert_vec_near(out, vec3_make(1.0, 2.0, 3.0), 0.0);
}

// The requirements name fewer than 20 iterations as usual: for hulls of 8 to some hundred points, near each
// other or far apart, 99 of 100 queries keep that.
static void iterations_are_few(void **unused)
{
    (void)unused;
    sampler s = {77};
    int queries = 0, many = 0, max_iterations = 0;
    double sum = 0.0;
    for (int round = 0; round < 2000; ++round) {
        vy_hull *a = sample_hull(&s, 0, 1.0), *b = sample_hull(&s, 1, 1.0);
        if (a != NULL && b != NULL) {
            const vy_shape sa = hull_shape(a), sb = hull_shape(b);
            const vy_pose pa = sample_pose(&s, 0.2), pb = sample_pose(&s, 4.0 * sample_unit(&s));
            vy_distance out;
            vy_query_info info;
            assert_int_equal(vy_shape_distance(&sa, &pa, &sb, &pb, NULL, NULL, &out, &info), VY_OK);
            queries += 1;
            many += info.gjk_iterations >= 20;
            max_iterations = info.gjk_iterations > max_iterations ? info.gjk_iterations : max_iterations;
            sum += info.gjk_iterations;
        }
        vy_hull_destroy(a);
        vy_hull_destroy(b);
    }
    print_message("gjk: %.1f iterations in the mean, %d at most, 20 or more in %d of %d\n", sum / queries,
                  max_iterations, many, queries);
    assert_true(queries > 1000);
    assert_true(many * 100 < queries);
}

static void bad_poses_and_kinds_are_refused(void **unused)
{
    (void)unused;
    vy_shape ball = {0}, plane = {0};
    assert_int_equal(vy_shape_sphere(1.0, &ball, NULL), VY_OK);
    assert_int_equal(vy_shape_plane(vec3_make(0.0, 0.0, 1.0), 0.0, &plane, NULL), VY_OK);
    const vy_pose o = pose_at(0, 0, 0), nowhere = pose_at(NOT_A_NUMBER, 0, 0), far = pose_at(1e13, 0, 0);
    const vy_pose bent = {{0, 0, 0}, {2.0, 0, 0, 0}};
    vy_distance d = {-1.0, {0, 0, 0}, {0, 0, 0}, {0, 0, 0}};
    const vy_pose *bad[] = {&nowhere, &far, &bent};
    for (int i = 0; i < 3; ++i) {
        assert_int_equal(vy_shape_distance(&ball, &o, &ball, bad[i], NULL, NULL, &d, NULL), VY_BAD_VALUE);
        assert_int_equal(vy_shape_distance(&ball, bad[i], &ball, &o, NULL, NULL, &d, NULL), VY_BAD_VALUE);
        assert_int_equal(vy_overlap(&ball, &o, &ball, bad[i]), 0);
    }
    assert_int_equal(vy_shape_distance(&plane, &o, &plane, &o, NULL, NULL, &d, NULL), VY_BAD_VALUE);
    assert_true(d.distance == -1.0); // untouched
}

// A ray that is hit: on the surface, outward, and nothing nearer; a ray that is not: no point of it inside.
static void rays_meet_surfaces(void **unused)
{
    (void)unused;
    sampler s = {41};
    vy_hull *hull = sample_hull(&s, 1, 1.0);
    int hits = 0;
    for (int round = 0; round < 3000; ++round) {
        const vy_shape shape = sample_shape(&s, round % 5, 1.0, hull);
        const vy_pose pose = sample_pose(&s, 1.0);
        const vy_vec3 o = vec3_scale(4.0, sample_vec(&s)), aim = vec3_add(pose.position, sample_vec(&s));
        const vy_vec3 d = vec3_scale(0.1 + sample_unit(&s), vec3_sub(aim, o));
        vy_ray_hit hit;
        if (vy_ray_cast(&shape, &pose, o, d, 10.0, &hit)) {
            ++hits;
            assert_true(hit.t >= 0.0 && hit.t <= 10.0);
            assert_vec_near(hit.point, vec3_add_scaled(o, hit.t, d), 1e-12);
            if (hit.t == 0.0) {
                assert_true(outside(&shape, &pose, o) <= 1e-12);
                continue;
            }
            assert_near(outside(&shape, &pose, hit.point), 0.0, 1e-11);
            assert_near(vec3_length(hit.normal), 1.0, 1e-12);
            assert_true(vec3_dot(hit.normal, d) < 0.0);
            assert_near(vec3_dot(hit.normal, hit.point), reach_along(&shape, &pose, hit.normal), 1e-11);
            for (int i = 0; i < 20; ++i) {
                const vy_vec3 p = vec3_add_scaled(o, hit.t * (i / 20.0), d);
                assert_true(outside(&shape, &pose, p) >= -1e-11);
            }
        } else {
            for (int i = 0; i <= 100; ++i) {
                assert_true(outside(&shape, &pose, vec3_add_scaled(o, i / 10.0, d)) > -1e-11);
            }
        }
    }
    assert_true(hits > 300);
    vy_hull_destroy(hull);
}

// Planes and height fields have rays, too.
static void rays_meet_the_ground(void **unused)
{
    (void)unused;
    double heights[7 * 5];
    vy_shape field = {0}, plane = {0};
    sampler s = {43};
    for (int i = 0; i < 35; ++i) heights[i] = sample_unit(&s);
    assert_int_equal(vy_shape_height_field(7, 5, 0.5, heights, &field, NULL), VY_OK);
    assert_int_equal(vy_shape_plane(vec3_make(0.0, 0.0, 1.0), 2.0, &plane, NULL), VY_OK);
    const vy_pose o = pose_at(0, 0, 0);
    vy_ray_hit hit;
    assert_int_equal(vy_ray_cast(&plane, &o, vec3_make(1, 2, 5), vec3_make(0, 0, -2), 10, &hit), 1);
    assert_near(hit.t, 1.5, 1e-15);
    assert_int_equal(vy_ray_cast(&plane, &o, vec3_make(1, 2, 5), vec3_make(0, 0, 2), 10, &hit), 0);
    assert_int_equal(vy_ray_cast(&plane, &o, vec3_make(1, 2, 5), vec3_make(0, 0, -2), 1.0, &hit), 0);
    int hits = 0;
    for (int round = 0; round < 2000; ++round) {
        const double up = sample_unit(&s), north = sample_unit(&s), east = sample_unit(&s);
        const vy_vec3 from = vec3_make(4.0 * east - 0.5, 3.0 * north - 0.5, 1.5 + up);
        const double down = sample_unit(&s), dy = sample_side(&s), dx = sample_side(&s);
        const vy_vec3 d = vec3_make(dx, dy, -down);
        double first = -1.0, height;
        for (int i = 0; i <= 20000 && first < 0.0; ++i) { // step by step, by the height alone
            const vy_vec3 p = vec3_add_scaled(from, i * 5e-4, d);
            if (vy_height_field_height(&field.field, p.x, p.y, &height) && p.z <= height) first = i * 5e-4;
            if (p.z < -0.1) break;
        }
        const int met = vy_ray_cast(&field, &o, from, d, 10.0, &hit);
        if (first > 0.0) assert_int_equal(met, 1);
        if (!met) continue;
        ++hits;
        assert_true(vy_height_field_height(&field.field, fmin(fmax(hit.point.x, 0), 3),
                                           fmin(fmax(hit.point.y, 0), 2), &height));
        if (hit.normal.z > 0.0) assert_near(hit.point.z, height, 1e-12); // else through a side
        assert_true(hit.point.z <= height + 1e-12);
        assert_true(vec3_dot(hit.normal, d) < 0.0);
        if (first >= 0.0) assert_true(hit.t <= first + 1e-9);
    }
    assert_true(hits > 300);
}

// At the time of impact the shapes touch, before it they do not.
static void casts_stop_at_contact(void **unused)
{
    (void)unused;
    sampler s = {47};
    vy_hull *hull = sample_hull(&s, 1, 1.0);
    int hits = 0;
    for (int round = 0; round < 1500; ++round) {
        const vy_shape a = sample_shape(&s, round % 5, 1.0, hull),
                       b = sample_shape(&s, round / 5 % 5, 1.0, hull);
        const vy_pose pa = sample_pose(&s, 1.0);
        vy_pose pb = sample_pose(&s, 5.0);
        const vy_vec3 start = pb.position, aim = vec3_add(pa.position, vec3_scale(2.0, sample_vec(&s)));
        const vy_vec3 motion = vec3_scale(1.0 + sample_unit(&s), vec3_sub(aim, start));
        vy_cast_hit c;
        vy_distance d;
        int hit;
        assert_int_equal(vy_shape_cast(&a, &pa, &b, &pb, motion, NULL, &hit, &c), VY_OK);
        if (hit && c.t == 0.0) {
            assert_true(vy_overlap(&a, &pa, &b, &pb));
            continue;
        }
        for (int i = 0; i < 20; ++i) {
            pb.position = vec3_add_scaled(start, (hit ? c.t - 1e-7 : 1.0) * i / 19.0, motion);
            assert_int_equal(vy_overlap(&a, &pa, &b, &pb), 0);
        }
        if (!hit) continue;
        ++hits;
        pb.position = vec3_add_scaled(start, c.t, motion);
        assert_int_equal(vy_shape_distance(&a, &pa, &b, &pb, NULL, NULL, &d, NULL), VY_OK);
        assert_near(d.distance, 0.0, 1e-8);
        assert_near(outside(&a, &pa, c.point), 0.0, 1e-6);
        assert_near(vec3_length(c.normal), 1.0, 1e-12);
        assert_true(vec3_dot(c.normal, motion) < 0.0);
        assert_near(overlap_along(&a, &pa, &b, &pb, c.normal), 0.0, 1e-7);
    }
    assert_true(hits > 100);
    vy_hull_destroy(hull);
}

// A sphere falling on a box: known to the last digit.
static void cast_of_a_falling_sphere(void **unused)
{
    (void)unused;
    vy_shape box = {0}, ball = {0};
    assert_int_equal(vy_shape_box(vec3_make(1.0, 1.0, 1.0), &box, NULL), VY_OK);
    assert_int_equal(vy_shape_sphere(0.5, &ball, NULL), VY_OK);
    const vy_pose o = pose_at(0, 0, 0), p = pose_at(0.25, 0.5, 5.5);
    vy_cast_hit c;
    int hit;
    assert_int_equal(vy_shape_cast(&box, &o, &ball, &p, vec3_make(0, 0, -8), NULL, &hit, &c), VY_OK);
    assert_int_equal(hit, 1);
    assert_near(c.t, 0.5, 1e-10);
    assert_vec_near(c.normal, vec3_make(0, 0, 1), 1e-9);
    assert_vec_near(c.point, vec3_make(0.25, 0.5, 1.0), 1e-9);
    assert_int_equal(vy_shape_cast(&box, &o, &ball, &p, vec3_make(0, 0, -3.9), NULL, &hit, &c), VY_OK);
    assert_int_equal(hit, 0);
    assert_int_equal(vy_shape_cast(&box, &o, &ball, &p, vec3_make(0, 0, 8), NULL, &hit, &c), VY_OK);
    assert_int_equal(hit, 0);
}

// Every instruction set gives the bits of plain C.
static void instruction_sets_agree(void **unused)
{
    (void)unused;
    static const char *const names[] = {"scalar", "sse2", "avx2", "avx512"};
    uint64_t hash[4] = {0};
    for (int k = 0; k < 4; ++k) {
        if (!vy_support_choose(names[k])) {
            hash[k] = hash[0];
            continue;
        }
        assert_string_equal(vy_support()->name, names[k]);
        sampler s = {53};
        uint64_t h = 0xcbf29ce484222325u;
        for (int round = 0; round < 400; ++round) {
            vy_hull *ha = sample_hull(&s, round % 3, 1.0), *hb = sample_hull(&s, 1, 1.0);
            const vy_shape a = sample_shape(&s, ha == NULL ? 2 : 4, 1.0, ha),
                           b = sample_shape(&s, 4 - round % 3, 1.0, hb);
            const vy_pose pa = sample_pose(&s, 0.5), pb = sample_pose(&s, 1.5);
            vy_contact c;
            vy_distance d;
            int hit;
            assert_int_equal(vy_penetration(&a, &pa, &b, &pb, NULL, &hit, &c, NULL), VY_OK);
            assert_int_equal(vy_shape_distance(&a, &pa, &b, &pb, NULL, NULL, &d, NULL), VY_OK);
            h = hash_value(h, hit + 2 * vy_overlap(&a, &pa, &b, &pb));
            h = hash_vec(hash_value(hash_vec(h, d.point_a), d.distance), d.normal);
            if (hit) h = hash_vec(hash_vec(hash_value(h, c.depth), c.normal), c.point_a);
            vy_hull_destroy(ha);
            vy_hull_destroy(hb);
        }
        hash[k] = h;
        assert_true(hash[k] == hash[0]);
    }
    assert_int_equal(vy_support_choose("mmx"), 0);
    assert_int_equal(vy_support_choose(NULL), 1);
}

// Of equal heights the first point is the extreme one, wherever it stands in a vector.
static void ties_go_to_the_lowest_index(void **unused)
{
    (void)unused;
    static const char *const names[] = {"scalar", "sse2", "avx2", "avx512"};
    sampler s = {59};
    double x[64], y[64], z[64];
    for (int round = 0; round < 2000; ++round) {
        const int padded = 8 * sample_int(&s, 1, 8);
        for (int i = 0; i < padded; ++i) {
            x[i] = sample_int(&s, 0, 2);
            y[i] = sample_int(&s, 0, 2);
            z[i] = sample_int(&s, 0, 1);
        }
        const int dz = sample_int(&s, -1, 1), dy = sample_int(&s, -1, 1), dx = sample_int(&s, -1, 1);
        const vy_vec3 d = vec3_make(dx, dy, dz);
        int want = 0;
        for (int i = 1; i < padded; ++i) {
            if (x[i] * d.x + y[i] * d.y + z[i] * d.z > x[want] * d.x + y[want] * d.y + z[want] * d.z)
                want = i;
        }
        int argmin = 0;
        for (int i = 1; i < padded; ++i) argmin = x[i] < x[argmin] ? i : argmin;
        for (int k = 0; k < 4; ++k) {
            if (!vy_support_choose(names[k])) continue;
            assert_int_equal(vy_support()->extreme(x, y, z, padded, d), want);
            assert_int_equal(vy_support()->argmin(x, padded), argmin);
        }
    }
    (void)vy_support_choose(NULL);
}

// Turns and places of small whole numbers, where the ray from centre to centre meets edges and corners of
// A - B: MPR may be undecided there, but what it reports is true.
static void mpr_never_lies(void **unused)
{
    (void)unused;
    sampler s = {53};
    int hits = 0, misses = 0;
    for (int round = 0; round < 30000; ++round) {
        double n[11];
        for (int i = 0; i < 11; ++i) n[i] = floor(9.0 * sample_unit(&s)) - 4.0;
        if (round % 4 != 0) n[3] = n[7] = 0.0; // half a turn: more that is parallel
        if (round % 4 > 1) n[4] = n[5] = n[6] = 1.0;
        if (round % 4 > 2) n[8] = n[9] = n[10];
        if (n[0] * n[0] + n[1] * n[1] + n[2] * n[2] == 0.0 || n[4] * n[4] + n[5] * n[5] + n[6] * n[6] == 0.0)
            continue;
        const vy_pose pa = {{0.0, 0.5, 0.0}, quat_normalize(quat_make(n[3], n[0], n[1], n[2]))},
                      pb = {{n[8], n[9], n[10]}, quat_normalize(quat_make(n[7], n[4], n[5], n[6]))};
        const double half = round % 2 == 0 ? 2.25 : 1.5;
        vy_shape a = {0}, b = {0};
        assert_int_equal(vy_shape_box(vec3_make(half, half, half), &a, NULL), VY_OK);
        assert_int_equal(vy_shape_box(vec3_make(half, half, 2.25), &b, NULL), VY_OK);
        vy_core_pair pair;
        vy_core_of(&a, &pair.a);
        vy_core_of(&b, &pair.b);
        vy_pair_set_poses(&pa, &pb, &pair);
        vy_sat_result sat;
        vy_sat_search(&pair, &a, &b, &sat);
        for (int complete = 0; complete < 2; ++complete) {
            vy_mpr_result mpr;
            vy_support()->mpr_find(&pair, complete, &mpr);
            if (mpr.hit == 0) assert_true(sat.depth < 1e-12);
            if (mpr.hit == 1) assert_true(sat.depth > -1e-12);
            hits += mpr.hit == 1;
            misses += mpr.hit == 0;
        }
    }
    assert_true(hits > 2000 && misses > 2000);
}

// A hull of a micrometre inside a needle, both slivers to GJK: no gap is reported where they overlap.
static void no_gaps_inside_needles(void **unused)
{
    (void)unused;
    sampler s = {5};
    for (int round = 0; round < 20000; ++round) {
        const double length = pow(10.0, -3.0 + 3.0 * sample_unit(&s)),
                     width = pow(10.0, -5.5 + 2.0 * sample_unit(&s));
        vy_vec3 p[8], q[10], inside = vec3_zero();
        double sum = 0.0;
        for (int i = 0; i < 8; ++i) {
            const vy_vec3 d = sample_vec(&s);
            p[i] = vec3_make(width * d.x, width * d.y, length * d.z);
            const double weight = sample_unit(&s);
            inside = vec3_add_scaled(inside, weight, p[i]);
            sum += weight;
        }
        for (int i = 0; i < 10; ++i) q[i] = vec3_scale(1e-6, sample_vec(&s));
        vy_hull *needle = NULL, *speck = NULL;
        (void)vy_hull_create(p, 8, VY_HULL_TOLERANCE, &needle, NULL);
        (void)vy_hull_create(q, 10, VY_HULL_TOLERANCE, &speck, NULL);
        if (needle != NULL && speck != NULL) {
            const vy_shape a = hull_shape(needle), b = hull_shape(speck);
            const vy_pose pa = sample_pose(&s, 1.0),
                          pb = {
                              vec3_add(pa.position, quat_rotate(pa.rotation, vec3_scale(1.0 / sum, inside))),
                              sample_rotation(&s)};
            vy_distance d, turned;
            assert_int_equal(vy_shape_distance(&a, &pa, &b, &pb, NULL, NULL, &d, NULL), VY_OK);
            assert_int_equal(vy_shape_distance(&b, &pb, &a, &pa, NULL, NULL, &turned, NULL), VY_OK);
            const int overlap = vy_overlap(&a, &pa, &b, &pb);
            assert_int_equal(d.distance == 0.0, overlap);
            assert_int_equal(turned.distance == 0.0, overlap);
        }
        vy_hull_destroy(needle);
        vy_hull_destroy(speck);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_gaps_inside_needles),
        cmocka_unit_test(distance_has_a_certificate),
        cmocka_unit_test(distance_of_cubes),
        cmocka_unit_test(warm_start_is_cheaper),
        cmocka_unit_test(iterations_are_few),
        cmocka_unit_test(extreme_points_are_extreme),
        cmocka_unit_test(bad_poses_and_kinds_are_refused),
        cmocka_unit_test(rays_meet_surfaces),
        cmocka_unit_test(rays_meet_the_ground),
        cmocka_unit_test(casts_stop_at_contact),
        cmocka_unit_test(cast_of_a_falling_sphere),
        cmocka_unit_test(mpr_never_lies),
        cmocka_unit_test(instruction_sets_agree),
        cmocka_unit_test(ties_go_to_the_lowest_index),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
