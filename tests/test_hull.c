// test_hull.c - hulls: structure, measures, queries, refusals.
#include "hull_checks.h"
#include <string.h>

static vy_hull *hull_of(const vy_vec3 *points, int count)
{
    vy_hull *hull = NULL;
    vy_error err = {0};
    const vy_status status = vy_hull_create(points, count, VY_HULL_TOLERANCE, &hull, &err);
    if (status != VY_OK) fail_msg("%s: %s", vy_status_text(status), err.text);
    return hull;
}

// ---- structure ----

// Normals are unit and point away from the inside; no input point is outside by more than a few tolerances.
static void check_outward(const vy_hull *h, const vy_vec3 *points, int count)
{
    assert_true(h->volume > 0.0);
    for (int f = 0; f < h->face_count; ++f) {
        const vy_hull_face *face = &h->faces[f];
        const vy_vec3 origin = h->vertices[h->loop[face->first]];
        assert_near(vec3_length(face->normal), 1.0, 1e-15);
        const double depth = -vec3_dot(face->normal, vec3_sub(h->centroid, origin));
        if (!(depth > 0.0)) fail_msg("the centroid is %g tolerances outside", depth / h->tolerance);
        for (int k = 0; k < face->count; ++k) {
            assert_true(vec3_dot(face->normal, h->vertices[h->loop[face->first + k]]) <= face->offset);
        }
        for (int i = 0; i < count; ++i) {
            const double height = vec3_dot(face->normal, vec3_sub(points[i], origin));
            if (height > 4.0 * h->tolerance)
                fail_msg("point %d is %g tolerances outside", i, height / h->tolerance);
        }
    }
}

/// Vertices are input points, in the order of the input, none twice.
static void check_vertices_are_points(const vy_hull *h, const vy_vec3 *points, int count)
{
    int i = 0;
    for (int v = 0; v < h->vertex_count; ++v) {
        while (i < count && !same_point(points[i], h->vertices[v])) ++i;
        assert_true(i < count);
        ++i;
    }
}

static void hull_of_unit_cube(void **unused)
{
    (void)unused;
    vy_vec3 p[9];
    for (int i = 0; i < 8; ++i) p[i] = vec3_make(i & 1, (i & 2) / 2, (i & 4) / 4);
    p[8] = vec3_make(0.5, 0.5, 0.5);
    vy_hull *h = hull_of(p, 9);
    assert_int_equal(h->vertex_count, 8);
    assert_int_equal(h->face_count, 6);
    assert_int_equal(h->edge_count, 12);
    assert_int_equal(h->facet_count, 12);
    assert_near(h->volume, 1.0, 1e-15);
    assert_near(h->area, 6.0, 1e-15);
    assert_near(vec3_length(vec3_sub(h->centroid, p[8])), 0.0, 1e-15);
    assert_near(h->radius, sqrt(0.75), 1e-15);
    assert_near(h->inner_radius, 0.5, 1e-15);
    assert_true(same_point(h->bounds.low, p[0]) && same_point(h->bounds.high, p[7]));
    check_structure(h);
    check_outward(h, p, 9);
    vy_hull_destroy(h);
}

static void hull_of_regular_tetrahedron(void **unused)
{
    (void)unused;
    const vy_vec3 p[4] = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}}; // side sqrt(8)
    vy_hull *h = hull_of(p, 4);
    assert_int_equal(h->face_count, 4);
    assert_near(h->volume, 8.0 / 3.0, 1e-14);
    assert_near(h->area, sqrt(3.0) * 8.0, 1e-14);
    assert_near(h->inner_radius, sqrt(8.0 / 24.0), 1e-15);
    check_structure(h);
    vy_hull_destroy(h);
}

static void hull_of_many_kinds(void **unused)
{
    (void)unused;
    sampler s = {11};
    for (int round = 0; round < 2000; ++round) {
        vy_vec3 p[SAMPLE_POINTS_MAX];
        const int kind = round % SAMPLE_KINDS, count = sample_points(&s, kind, p);
        const double scale = pow(10.0, 6.0 * sample_side(&s));
        const vy_vec3 offset = vec3_scale(round % 3 == 2 ? fmin(1e4 * scale, 1e8) : 0.0, sample_vec(&s));
        move_points(p, count, round & 1 ? sample_rotation(&s) : quat_identity(), scale, offset);
        vy_hull *h = NULL;
        vy_error err;
        const vy_status status = vy_hull_create(p, count, VY_HULL_TOLERANCE, &h, &err);
        if (status == VY_HULL_COPLANAR && (kind == 2 || kind == 3)) continue; // may truly be
        if (status != VY_OK) fail_msg("kind %d, round %d: %s", kind, round, err.text);
        check_structure(h);

        check_outward(h, p, count);
        check_vertices_are_points(h, p, count);
        assert_int_equal(vy_hull_check(h, &err), VY_OK);
        vy_hull_destroy(h);
    }
}

// Which points are corners, by trying every plane through three of them: nothing of Qhull's in it.
static int corners_by_force(const vy_vec3 *p, int count, int *corner)
{
    memset(corner, 0, (size_t)count * sizeof *corner);
    int faces = 0;
    for (int a = 0; a < count; ++a) {
        for (int b = a + 1; b < count; ++b) {
            for (int c = b + 1; c < count; ++c) {
                const vy_vec3 n = vec3_cross(vec3_sub(p[b], p[a]), vec3_sub(p[c], p[a]));
                int above = 0, below = 0;
                for (int i = 0; i < count; ++i) {
                    const double height = vec3_dot(n, vec3_sub(p[i], p[a]));
                    above += i != a && i != b && i != c && height > 0.0;
                    below += i != a && i != b && i != c && height < 0.0;
                }
                if (above > 0 && below > 0) continue;
                corner[a] = corner[b] = corner[c] = 1;
                ++faces;
            }
        }
    }
    return faces;
}

static void hull_agrees_with_every_plane_tried(void **unused)
{
    (void)unused;
    sampler s = {5};
    for (int round = 0; round < 400; ++round) {
        vy_vec3 p[SAMPLE_POINTS_MAX], kept[SAMPLE_POINTS_MAX];
        int corner[SAMPLE_POINTS_MAX], count = 0;
        const int all = sample_int(&s, 4, 24);
        for (int i = 0; i < all; ++i) p[i] = round & 1 ? sample_vec(&s) : sample_direction(&s);
        const int faces = corners_by_force(p, all, corner);
        for (int i = 0; i < all; ++i) {
            if (corner[i]) kept[count++] = p[i];
        }
        vy_hull *h = hull_of(p, all);
        assert_int_equal(h->vertex_count, count);
        assert_int_equal(h->facet_count, faces);
        for (int i = 0; i < count; ++i) assert_true(same_point(kept[i], h->vertices[i]));
        vy_hull_destroy(h);
    }
}

static void hull_merges_what_is_flat(void **unused)
{
    (void)unused;
    sampler s = {77};
    for (int round = 0; round < 200; ++round) {
        vy_vec3 p[SAMPLE_POINTS_MAX];
        const vy_quat q = sample_rotation(&s);
        int count = sample_points(&s, 5 + round % 3, p); // cubes with points on faces, edges, corners
        move_points(p, count, q, 1.0, vec3_scale(round % 2 ? 1e3 : 0.0, sample_vec(&s)));
        vy_hull *h = hull_of(p, count);
        assert_int_equal(h->face_count, 6);
        assert_int_equal(h->vertex_count, 8);
        vy_hull_destroy(h);

        const int sides = sample_int(&s, 3, 100);
        for (int i = 0; i < 2 * sides; ++i) {
            const double angle = 6.283185307179586 * (i / 2) / sides;
            p[i] = vec3_make(cos(angle), sin(angle), i & 1 ? 1 : -1);
        }
        count = 2 * sides;
        move_points(p, count, q, 1.0, vec3_zero());
        h = hull_of(p, count);
        assert_int_equal(h->face_count, sides + 2);
        assert_int_equal(h->vertex_count, 2 * sides);
        assert_near(h->volume, sides * sin(6.283185307179586 / sides), 1e-13);
        vy_hull_destroy(h);
    }
}

static void shuffle(sampler *s, vy_vec3 *p, int count)
{
    for (int i = count - 1; i > 0; --i) {
        const int j = sample_int(s, 0, i);
        const vy_vec3 swap = p[i];
        p[i] = p[j];
        p[j] = swap;
    }
}

static void hull_does_not_depend_on_the_order(void **unused)
{
    (void)unused;
    sampler s = {123};
    for (int round = 0; round < 500; ++round) {
        vy_vec3 p[SAMPLE_POINTS_MAX];
        const int kinds[] = {0, 1, 5, 6, 8, 9};
        const int count = sample_points(&s, kinds[round % 6], p);
        move_points(p, count, sample_rotation(&s), 1.0, vec3_zero());
        vy_hull *a = hull_of(p, count);
        shuffle(&s, p, count);
        vy_hull *b = hull_of(p, count);
        assert_int_equal(a->vertex_count, b->vertex_count);
        assert_int_equal(a->face_count, b->face_count);
        assert_int_equal(a->edge_count, b->edge_count);
        assert_near(a->volume, b->volume, 1e-14);
        assert_near(a->area, b->area, 1e-13);
        assert_near(vec3_length(vec3_sub(a->centroid, b->centroid)), 0.0, 1e-12);
        vy_hull_destroy(a);
        vy_hull_destroy(b);
    }
}

static void assert_same_hull(const vy_hull *a, const vy_hull *b)
{
    assert_int_equal(a->vertex_count, b->vertex_count);
    assert_int_equal(a->face_count, b->face_count);
    assert_int_equal(a->half_edge_count, b->half_edge_count);
    for (int i = 0; i < a->vertex_count; ++i) assert_true(same_point(a->vertices[i], b->vertices[i]));
    assert_memory_equal(a->loop, b->loop, (size_t)a->half_edge_count * sizeof(int));
    assert_memory_equal(a->twin, b->twin, (size_t)a->half_edge_count * sizeof(int));
    assert_memory_equal(a->neighbours, b->neighbours, (size_t)a->half_edge_count * sizeof(int));
    for (int f = 0; f < a->face_count; ++f) {
        assert_true(same_point(a->faces[f].normal, b->faces[f].normal) &&
                    a->faces[f].offset == b->faces[f].offset);
    }
    assert_true(a->volume == b->volume && a->area == b->area && same_point(a->centroid, b->centroid));
    assert_true(a->radius == b->radius && a->inner_radius == b->inner_radius);
}

// The same bits with Qhull and without: triangles in any order, any first corner, go in; the same hull comes
// out.
static void hull_from_faces_equals_hull_of_points(void **unused)
{
    (void)unused;
    sampler s = {31};
    for (int round = 0; round < 300; ++round) {
        vy_vec3 p[SAMPLE_POINTS_MAX];
        const int kinds[] = {0, 1, 4, 8, 9};
        const int count = sample_points(&s, kinds[round % 5], p);
        move_points(p, count, sample_rotation(&s), 3.0, vec3_zero());
        vy_hull *a = hull_of(p, count);
        int loops[6 * SAMPLE_POINTS_MAX], counts[2 * SAMPLE_POINTS_MAX];
        const int shift = sample_int(&s, 0, a->facet_count - 1);
        for (int i = 0; i < a->facet_count; ++i) {
            const vy_hull_facet *t = &a->facets[(i * 7 + shift) % a->facet_count];
            if (a->facet_count % 7 == 0) t = &a->facets[(i + shift) % a->facet_count];
            const int corner[3] = {t->a, t->b, t->c}, turn = sample_int(&s, 0, 2);
            for (int k = 0; k < 3; ++k) loops[3 * i + k] = corner[(k + turn) % 3];
            counts[i] = 3;
        }
        vy_hull *b = NULL;
        vy_error err;
        const vy_status status = vy_hull_from_faces(a->vertices, a->vertex_count, loops, counts,
                                                    a->facet_count, VY_HULL_TOLERANCE, &b, &err);
        if (status != VY_OK) fail_msg("round %d: %s", round, err.text);
        assert_same_hull(a, b);
        check_structure(b);
        vy_hull_destroy(a);
        vy_hull_destroy(b);
    }
}

// Points whose hull no rounding can change: whatever the compiler or the processor, the same bits.
static void hull_has_the_same_bits_everywhere(void **unused)
{
    (void)unused;
    sampler s = {2718};
    uint64_t hash = 0xcbf29ce484222325u;
    for (int round = 0; round < 50; ++round) {
        vy_vec3 p[40];
        for (int i = 0; i < 40; ++i) p[i] = vec3_mul(vec3_make(1, 2, 3), sample_direction(&s));
        vy_hull *h = hull_of(p, 40);
        for (int f = 0; f < h->face_count; ++f) {
            hash = hash_value(hash_vec(hash, h->faces[f].normal), h->faces[f].offset);
            hash = hash_value(hash, h->faces[f].area);
        }
        for (int k = 0; k < h->half_edge_count; ++k) hash = hash_value(hash, h->loop[k] + 64 * h->twin[k]);
        for (int k = 0; k < h->half_edge_count; ++k) hash = hash_value(hash, h->neighbours[k]);
        hash = hash_vec(hash_value(hash_value(hash, h->volume), h->area), h->centroid);
        hash = hash_value(hash_value(hash, h->radius), h->inner_radius);
        for (int k = 0; k < 20; ++k) {
            const vy_vec3 x = vec3_scale(4.0, sample_vec(&s));
            hash = hash_value(hash, vy_hull_signed_distance(h, x));
        }
        vy_hull_destroy(h);
    }
    if (hash != 0xd365e77a4d86ae30u) fail_msg("the hash is %016llx", (unsigned long long)hash);
}

static void hull_box_is_a_box(void **unused)
{
    (void)unused;
    vy_hull *h = NULL;
    assert_int_equal(vy_hull_box(vec3_make(1, 1.5, 2), &h, NULL), VY_OK);
    check_structure(h);
    assert_int_equal(h->face_count, 6);
    assert_near(h->volume, 24.0, 1e-14);
    assert_true(same_point(h->vertices[5], vec3_make(1, -1.5, 2)));
    vy_vec3 p[8];
    for (int i = 0; i < 8; ++i) p[i] = h->vertices[i];
    vy_hull *other = hull_of(p, 8);
    assert_same_hull(h, other);
    vy_hull_destroy(other);
    vy_hull_destroy(h);
    assert_int_equal(vy_hull_box(vec3_make(1, 0, 2), &h, NULL), VY_BAD_VALUE);
    assert_int_equal(vy_hull_box(vec3_make(1, NOT_A_NUMBER, 2), &h, NULL), VY_BAD_VALUE);
    assert_null(h);
}

// ---- where a point is ----

static long double dot_l(const long double *a, const long double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static long double segment_distance_l(const long double *p, const long double *a, const long double *b)
{
    long double ab[3], ap[3], d[3];
    for (int k = 0; k < 3; ++k) ab[k] = b[k] - a[k], ap[k] = p[k] - a[k];
    long double t = dot_l(ap, ab) / dot_l(ab, ab);
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    for (int k = 0; k < 3; ++k) d[k] = ap[k] - t * ab[k];
    return sqrtl(dot_l(d, d));
}

/// Distance to a triangle: to its plane if the foot is inside, else to the nearest side.
static long double triangle_distance_l(vy_vec3 point, vy_vec3 a, vy_vec3 b, vy_vec3 c)
{
    long double p[3], t[3][3];
    to_long(point, p);
    to_long(a, t[0]);
    to_long(b, t[1]);
    to_long(c, t[2]);
    long double u[3], v[3], w[3];
    for (int k = 0; k < 3; ++k) u[k] = t[1][k] - t[0][k], v[k] = t[2][k] - t[0][k], w[k] = p[k] - t[0][k];
    const long double uu = dot_l(u, u), uv = dot_l(u, v), vv = dot_l(v, v), wu = dot_l(w, u),
                      wv = dot_l(w, v);
    const long double det = uu * vv - uv * uv;
    if (det > 0) {
        const long double s = (vv * wu - uv * wv) / det, r = (uu * wv - uv * wu) / det;
        if (s >= 0 && r >= 0 && s + r <= 1) {
            long double d[3];
            for (int k = 0; k < 3; ++k) d[k] = w[k] - s * u[k] - r * v[k];
            return sqrtl(dot_l(d, d));
        }
    }
    const long double x = segment_distance_l(p, t[0], t[1]), y = segment_distance_l(p, t[1], t[2]);
    const long double z = segment_distance_l(p, t[2], t[0]);
    return x < y ? (x < z ? x : z) : (y < z ? y : z);
}

static void signed_distance_is_exact(void **unused)
{
    (void)unused;
    sampler s = {99};
    double worst = 0.0;
    int inside = 0, outside = 0;
    for (int round = 0; round < 600; ++round) {
        vy_vec3 p[SAMPLE_POINTS_MAX];
        const int kinds[] = {0, 1, 5, 8, 9};
        const int count = sample_points(&s, kinds[round % 5], p);
        const double far = round % 3 == 2 ? 1e6 : 0.0;
        const vy_vec3 offset = vec3_scale(far, sample_vec(&s));
        move_points(p, count, sample_rotation(&s), 1.0, offset);
        vy_hull *h = hull_of(p, count);
        for (int k = 0; k < 40; ++k) {
            // About the surface, deep inside, far away; on a vertex and over an edge.
            const vy_vec3 way = sample_vec(&s);
            vy_vec3 x = vec3_add_scaled(h->centroid, pow(10.0, 2.0 * sample_side(&s)), way);
            if (k == 0) x = h->vertices[0];
            if (k == 1) x = vec3_scale(0.5, vec3_add(h->vertices[h->edges[0].a], h->vertices[h->edges[0].b]));
            long double brute = 1e300L;
            for (int i = 0; i < h->facet_count; ++i) {
                const vy_hull_facet *t = &h->facets[i];
                const long double d =
                    triangle_distance_l(x, h->vertices[t->a], h->vertices[t->b], h->vertices[t->c]);
                brute = d < brute ? d : brute;
            }
            double distance;
            int face;
            const vy_vec3 nearest = vy_hull_nearest(h, x, &distance, &face);
            const double resolution = 1e-13 * (1.0 + fabs((double)brute)) + 4e-16 * far;
            worst = fmax(worst, fabs(fabs(distance) - (double)brute) / resolution);
            assert_near(fabs(distance), (double)brute, resolution);
            assert_true(distance == vy_hull_signed_distance(h, x));
            assert_near(vec3_length(vec3_sub(nearest, x)), (double)brute, resolution);
            assert_near(vec3_dot(h->faces[face].normal,
                                 vec3_sub(nearest, h->vertices[h->loop[h->faces[face].first]])),
                        0.0, resolution + h->tolerance);
            if (fabs(distance) > resolution) assert_int_equal(vy_hull_contains(h, x, 0.0), distance < 0.0);
            inside += distance < 0.0;
            outside += distance > 0.0;
        }
        vy_hull_destroy(h);
    }
    print_message("signed distance: %d inside, %d outside, worst %.2g of the allowed error\n", inside,
                  outside, worst);
    assert_true(inside > 1000 && outside > 1000);
}

static void distance_beyond_a_corner_is_to_the_corner(void **unused)
{
    (void)unused;
    vy_hull *h = NULL;
    assert_int_equal(vy_hull_box(vec3_make(1, 1, 1), &h, NULL), VY_OK);
    assert_near(vy_hull_signed_distance(h, vec3_make(2, 2, 2)), sqrt(3.0), 1e-15);
    assert_near(vy_hull_signed_distance(h, vec3_make(4, 0, 5)), 5.0, 1e-15); // 3-4-5 from an edge
    assert_near(vy_hull_signed_distance(h, vec3_make(0.25, 0.5, 3)), 2.0, 1e-15);
    assert_near(vy_hull_signed_distance(h, vec3_make(0.25, 0.5, -0.125)), -0.5, 1e-15);
    assert_true(vy_hull_contains(h, vec3_make(1, 1, 1), 0.0) &&
                !vy_hull_contains(h, vec3_make(1, 1, 1.01), 0.0));
    assert_true(vy_hull_contains(h, vec3_make(1, 1, 1.01), 0.02) &&
                !vy_hull_contains(h, vec3_make(1, NOT_A_NUMBER, 1), 0.0));
    vy_hull_destroy(h);
}

// ---- refusals ----

static void expect_status(const vy_vec3 *p, int count, vy_status expected)
{
    vy_hull *h = (vy_hull *)&h;
    vy_error err = {0};
    const vy_status status = vy_hull_create(p, count, VY_HULL_TOLERANCE, &h, &err);
    if (status != expected) fail_msg("%s instead of %s", vy_status_text(status), vy_status_text(expected));
    assert_null(h);
    assert_int_equal(err.status, expected);
    assert_true(strlen(err.text) > 10);
    assert_int_equal(vy_hull_create(p, count, VY_HULL_TOLERANCE, &h, NULL), expected);
}

static void each_bad_input_has_its_own_status(void **unused)
{
    (void)unused;
    vy_vec3 p[20];
    for (int i = 0; i < 20; ++i) p[i] = vec3_make(i, i * i % 7, i * i * i % 11);
    expect_status(NULL, 0, VY_HULL_EMPTY);
    expect_status(p, 0, VY_HULL_EMPTY);
    expect_status(p, -3, VY_HULL_EMPTY);
    expect_status(p, 1, VY_HULL_TOO_FEW);
    expect_status(p, 3, VY_HULL_TOO_FEW);
    const double bad[] = {NOT_A_NUMBER, INFINITE, -INFINITE};
    for (int k = 0; k < 3; ++k) {
        vy_vec3 q[20];
        memcpy(q, p, sizeof q);
        q[7 + k].y = bad[k];
        expect_status(q, 20, VY_HULL_NOT_FINITE);
    }
    vy_vec3 huge[20];
    memcpy(huge, p, sizeof huge);
    huge[3].z = -1.0000001e9;
    expect_status(huge, 20, VY_HULL_HUGE);
    for (int i = 0; i < 20; ++i) p[i] = vec3_make(1, 2, 3);
    expect_status(p, 20, VY_HULL_DUPLICATE);
    p[19] = vec3_make(2, 2, 3);
    p[11] = vec3_make(2, 5, 3);
    expect_status(p, 20, VY_HULL_DUPLICATE);
    for (int i = 0; i < 20; ++i) p[i] = vec3_make(1 + 1e-17 * i, 2 + 4e-16 * (i % 3), 3 - 4e-16 * (i % 5));
    expect_status(p, 20, VY_HULL_DUPLICATE);
    for (int i = 0; i < 20; ++i) p[i] = vec3_make(0.1 * i, 0.3 * i, 1 - 0.7 * i);
    expect_status(p, 20, VY_HULL_COLLINEAR);
    sampler s = {3};
    for (int round = 0; round < 100; ++round) {
        for (int i = 0; i < 20; ++i) {
            const double y = sample_side(&s), x = sample_side(&s);
            p[i] = vec3_make(x, y, 0.0);
        }
        const vy_vec3 offset = sample_vec(&s);
        const double scale = pow(10.0, 4.0 * sample_side(&s));
        move_points(p, 20, sample_rotation(&s), scale, offset);
        expect_status(p, 20, VY_HULL_COPLANAR);
    }
    vy_hull *h = NULL;
    vy_vec3 cube[8];
    for (int i = 0; i < 8; ++i) cube[i] = cube_corner(i);
    assert_int_equal(vy_hull_create(cube, 8, -1.0, &h, NULL), VY_BAD_VALUE);
    assert_int_equal(vy_hull_create(cube, 8, NOT_A_NUMBER, &h, NULL), VY_BAD_VALUE);
    assert_int_equal(vy_hull_create(cube, 8, 0.01, &h, NULL), VY_BAD_VALUE);
    vy_hull_destroy(NULL);
}

static void at_the_limit_there_is_still_a_hull(void **unused)
{
    (void)unused;
    vy_vec3 p[8];
    const double sizes[] = {1e9, 1e6, 1.0, 1e-6, 1e-9, 1e-40};
    for (int k = 0; k < 6; ++k) {
        for (int i = 0; i < 8; ++i) p[i] = vec3_scale(sizes[k], cube_corner(i));
        vy_hull *h = hull_of(p, 8);
        assert_int_equal(h->face_count, 6);
        assert_near(h->volume / (sizes[k] * sizes[k] * sizes[k]), 8.0, 1e-13);
        vy_hull_destroy(h);
    }
}

static vy_status from_cube_faces(const int *loops, const int *counts, int faces)
{
    vy_vec3 p[8];
    for (int i = 0; i < 8; ++i) p[i] = cube_corner(i);
    vy_hull *h = NULL;
    const vy_status status = vy_hull_from_faces(p, 8, loops, counts, faces, VY_HULL_TOLERANCE, &h, NULL);
    assert_int_equal(h != NULL, status == VY_OK);
    vy_hull_destroy(h);
    return status;
}

static void faces_that_make_no_hull_are_refused(void **unused)
{
    (void)unused;
    static const int good[24] = {0, 4, 6, 2, 1, 3, 7, 5, 0, 1, 5, 4, 2, 6, 7, 3, 0, 2, 3, 1, 4, 5, 7, 6};
    int counts[6] = {4, 4, 4, 4, 4, 4}, loops[24];
    assert_int_equal(from_cube_faces(good, counts, 6), VY_OK);
    assert_int_equal(from_cube_faces(good, counts, 5), VY_BAD_HULL); // open
    assert_int_equal(from_cube_faces(good, counts, 0), VY_BAD_HULL);
    assert_int_equal(from_cube_faces(NULL, counts, 6), VY_BAD_HULL);
    for (int k = 0; k < 24; ++k) loops[k] = good[k - k % 4 + 3 - k % 4];
    assert_int_equal(from_cube_faces(loops, counts, 6), VY_BAD_HULL); // inside out
    memcpy(loops, good, sizeof loops);
    loops[5] = 8;
    assert_int_equal(from_cube_faces(loops, counts, 6), VY_BAD_HULL); // no such vertex
    loops[5] = -1;
    assert_int_equal(from_cube_faces(loops, counts, 6), VY_BAD_HULL);
    loops[5] = 1;
    assert_int_equal(from_cube_faces(loops, counts, 6), VY_BAD_HULL); // a side of no length
    memcpy(loops, good, sizeof loops);
    loops[0] = good[3], loops[1] = good[2], loops[2] = good[1], loops[3] = good[0];
    assert_int_equal(from_cube_faces(loops, counts, 6), VY_BAD_HULL); // one face the wrong way
    counts[2] = 2;
    assert_int_equal(from_cube_faces(good, counts, 6), VY_BAD_HULL);

    // A tetrahedron with a dent: closed, Euler's number right, not convex.
    const vy_vec3 p[5] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0.2, 0.2, 0.2}};
    static const int dented[18] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 4, 2, 3, 4, 3, 1, 4};
    static const int three[6] = {3, 3, 3, 3, 3, 3};
    vy_hull *h = NULL;
    assert_int_equal(vy_hull_from_faces(p, 5, dented, three, 6, VY_HULL_TOLERANCE, &h, NULL), VY_BAD_HULL);
    assert_null(h);
    // Two tetrahedra that share nothing.
    const vy_vec3 twice[8] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1},
                              {5, 0, 0}, {6, 0, 0}, {5, 1, 0}, {5, 0, 1}};
    static const int both[24] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3, 4, 6, 5, 4, 5, 7, 4, 7, 6, 5, 6, 7};
    static const int eight[8] = {3, 3, 3, 3, 3, 3, 3, 3};
    assert_int_equal(vy_hull_from_faces(twice, 8, both, eight, 8, VY_HULL_TOLERANCE, &h, NULL), VY_BAD_HULL);
}

static void check_sees_damage(void **unused)
{
    (void)unused;
    vy_hull *h = NULL;
    assert_int_equal(vy_hull_box(vec3_make(1, 2, 3), &h, NULL), VY_OK);
    assert_int_equal(vy_hull_check(h, NULL), VY_OK);
    assert_int_equal(vy_hull_check(NULL, NULL), VY_BAD_HULL);
    const vy_hull empty = {0};
    assert_int_equal(vy_hull_check(&empty, NULL), VY_BAD_HULL);
    // Each index of each table, one at a time, set to each of some wrong values.
    int *const tables[] = {(int *)h->loop, (int *)h->twin, (int *)h->half_face, (int *)h->half_edge};
    for (int k = 0; k < 4; ++k) {
        for (int i = 0; i < h->half_edge_count; ++i) {
            const int right = tables[k][i], wrong[] = {-1, 1 << 30, right + 1, right == 0 ? 2 : 0};
            for (int w = 0; w < 4; ++w) {
                tables[k][i] = wrong[w];
                assert_int_equal(vy_hull_check(h, NULL), VY_BAD_HULL);
            }
            tables[k][i] = right;
        }
    }
    vy_hull_facet *facets = (vy_hull_facet *)h->facets;
    facets[5].b = 1 << 30;
    assert_int_equal(vy_hull_check(h, NULL), VY_BAD_HULL);
    facets[5] = facets[4];
    assert_int_equal(vy_hull_check(h, NULL), VY_BAD_HULL);
    facets[5].b = h->loop[h->faces[2].first + 2];
    facets[5].c = h->loop[h->faces[2].first + 3];
    double *x = (double *)h->x;
    assert_int_equal(vy_hull_check(h, NULL), VY_OK);
    x[3] += 1.0;
    assert_int_equal(vy_hull_check(h, NULL), VY_BAD_HULL);
    x[3] -= 1.0;
    assert_int_equal(vy_hull_check(h, NULL), VY_OK);
    vy_vec3 *vertices = (vy_vec3 *)h->vertices;
    vertices[3].x += 1e-6;
    assert_int_equal(vy_hull_check(h, NULL), VY_BAD_HULL);
    vertices[3].x = NOT_A_NUMBER;
    assert_int_equal(vy_hull_check(h, NULL), VY_BAD_HULL);
    vy_hull_destroy(h);
}

// A cone: one vertex with thousands of neighbours. And a ball of many points, for time and memory.
static void hulls_may_be_large(void **unused)
{
    (void)unused;
    enum { N = 3000 };
    vy_vec3 *p = calloc(N + 1, sizeof *p);
    for (int i = 0; i < N; ++i)
        p[i] = vec3_make(cos(6.283185307179586 * i / N), sin(6.283185307179586 * i / N), 0);
    p[N] = vec3_make(0, 0, 1);
    vy_hull *h = hull_of(p, N + 1);
    assert_int_equal(h->face_count, N + 1);
    assert_near(h->volume, N / 6.0 * sin(6.283185307179586 / N), 1e-12);
    vy_hull_destroy(h);
    sampler s = {8};
    for (int i = 0; i < N; ++i) p[i] = sample_direction(&s);
    h = hull_of(p, N);
    assert_int_equal(h->vertex_count, N);
    assert_int_equal(h->face_count, 2 * N - 4);
    assert_near(h->volume, 4.18879, 0.03);
    vy_hull_destroy(h);
    free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hull_of_unit_cube),
        cmocka_unit_test(hull_of_regular_tetrahedron),
        cmocka_unit_test(hull_of_many_kinds),
        cmocka_unit_test(hull_agrees_with_every_plane_tried),
        cmocka_unit_test(hull_merges_what_is_flat),
        cmocka_unit_test(hull_does_not_depend_on_the_order),
        cmocka_unit_test(hull_from_faces_equals_hull_of_points),
        cmocka_unit_test(hull_has_the_same_bits_everywhere),
        cmocka_unit_test(hull_box_is_a_box),
        cmocka_unit_test(signed_distance_is_exact),
        cmocka_unit_test(distance_beyond_a_corner_is_to_the_corner),
        cmocka_unit_test(each_bad_input_has_its_own_status),
        cmocka_unit_test(at_the_limit_there_is_still_a_hull),
        cmocka_unit_test(faces_that_make_no_hull_are_refused),
        cmocka_unit_test(check_sees_damage),
        cmocka_unit_test(hulls_may_be_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
