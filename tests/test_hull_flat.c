// test_hull_flat.c - hulls of points that are flat, straight or the same but for a few tolerances: the result
// is convex within the tolerance whatever was merged and whatever was not.
//
// A slice of the sets is tried here; all 100,000 of them with VOLERY_FLAT_SETS=100000.
#include "collision_samples.h"
#include "geometry/hull_internal.h"
#include "hull_checks.h"
#include "volery/mass.h"
#include <string.h>

enum { FLAT_KINDS = 9, FLAT_POINTS_MAX = 96 };

typedef struct flat_set {
    int kind, count;
    double tolerance; // relative
    vy_vec3 p[FLAT_POINTS_MAX];
} flat_set;

// ---- sets ----

static vy_vec3 ring_point(int i, int sides, double z)
{
    return vec3_make(cos(2.0 * PI * i / sides), sin(2.0 * PI * i / sides), z);
}

/// Weights of three that add up to 1.
static vy_vec3 between(sampler *s, vy_vec3 a, vy_vec3 b, vy_vec3 c)
{
    double u = sample_unit(s), v = sample_unit(s);
    if (u + v > 1.0) u = 1.0 - u, v = 1.0 - v;
    return vec3_add_scaled(vec3_add_scaled(a, u, vec3_sub(b, a)), v, vec3_sub(c, a));
}

/// A body about the origin with points on its faces, edges and corners; returns how many points it has.
static int flat_body(sampler *s, int kind, double zero, vy_vec3 *p)
{
    int n = 0;
    const int more = sample_int(s, 1, 16), sides = sample_int(s, 3, 12);
    switch (kind) {
    case 0: // points on faces of a cube
        for (; n < 8; ++n) p[n] = cube_corner(n);
        for (int i = 0; i < more; ++i) {
            const double x = sample_side(s), y = sample_side(s), z = sample_int(s, 0, 1) ? 1 : -1;
            const int k = sample_int(s, 0, 2);
            p[n++] = k == 0 ? vec3_make(x, y, z) : k == 1 ? vec3_make(x, z, y) : vec3_make(z, x, y);
        }
        break;
    case 1: // of a prism
        for (; n < 2 * sides; ++n) p[n] = ring_point(n / 2, sides, n & 1 ? 1 : -1);
        for (int i = 0; i < more; ++i)
            p[n++] = vec3_scale(0.6 * sample_unit(s), ring_point(i, more, i & 1 ? 1 : -1));
        break;
    case 2: // of the hull of random points
        for (; n < 6; ++n) p[n] = sample_direction(s);
        for (int i = 0; i < more; ++i) p[n++] = between(s, p[i % 6], p[(i + 1) % 6], p[(i + 3) % 6]);
        break;
    case 3: // rings, some within others
        for (; n < 4 * sides; ++n)
            p[n] = vec3_mul(vec3_make(n & 2 ? 1 : 0.7, n & 2 ? 1 : 0.7, 1),
                            ring_point(n / 4, sides, n & 1 ? 1 : -1));
        break;
    case 4: // on edges
        for (; n < 8; ++n) p[n] = cube_corner(n);
        for (int i = 0; i < more; ++i) {
            const double u = sample_unit(s);
            const int a = sample_int(s, 0, 7), b = a ^ (1 << sample_int(s, 0, 2));
            p[n++] = vec3_add_scaled(cube_corner(a), u, vec3_sub(cube_corner(b), cube_corner(a)));
        }
        break;
    case 5: // corners almost twice
        for (; n < 8; ++n) p[n] = sides < 8 ? sample_direction(s) : cube_corner(n);
        for (int i = 0; i < more; ++i) p[n++] = p[sample_int(s, 0, 7)];
        break;
    case 6: { // slabs
        const double half = zero * (sample_int(s, 0, 1) ? 2.0 + 4.0 * sample_unit(s) : 1e3 * sample_unit(s));
        for (; n < 8; ++n) p[n] = vec3_mul(vec3_make(1, 1, half), cube_corner(n));
        for (int i = 0; i < more; ++i) {
            const double y = sample_side(s), x = sample_side(s);
            p[n++] = vec3_make(x, y, i & 1 ? half : -half);
        }
        break;
    }
    case 7: // a lattice
        for (; n < 27; ++n) p[n] = vec3_make(n % 3 - 1, n / 3 % 3 - 1, n / 9 - 1);
        break;
    default: // a cap so shallow that its facets are within a few tolerances of each other
        for (; n < 8; ++n) p[n] = cube_corner(n);
        for (int i = 0; i < more + 8; ++i) {
            const double x = sample_side(s), y = sample_side(s);
            p[n++] = vec3_make(x, y, 1.0 + 6.0 * zero * sample_unit(s) * (2.0 - x * x - y * y));
        }
        break;
    }
    return n;
}

// Points pushed by 0 ... 3 tolerances, on the way to sizes of 1e-6 ... 1e6, places far away, and single
// precision.
static void make_flat_set(sampler *s, int kind, flat_set *set)
{
    static const double tolerances[] = {0.0, 1e-14, 1e-12, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4};
    set->kind = kind;
    set->tolerance = tolerances[sample_int(s, 0, 7)];
    const int single = kind == 3 || sample_int(s, 0, 7) == 0;
    if (single) set->tolerance = pow(10.0, -6.5 - 2.0 * sample_unit(s));
    const double zero = 2.0 * set->tolerance + 4.0 * DBL_EPSILON;
    set->count = flat_body(s, kind, zero, set->p);
    const int way = sample_int(s, 0, 3);
    for (int i = 0; i < set->count; ++i) {
        if (way == 0 && i < 8) continue; // the body's own corners stay
        const vy_vec3 push =
            way == 1 ? vec3_make(0, 0, sample_int(s, -3, 3)) : vec3_scale(3.0, sample_vec(s));
        set->p[i] = vec3_add_scaled(set->p[i], zero, push);
    }
    const double scale = pow(10.0, 6.0 * sample_side(s));
    const int far = sample_int(s, 0, 3) == 0;
    const vy_vec3 aside = sample_vec(s);
    const vy_vec3 offset = vec3_scale(far ? fmin(pow(10.0, 4.0 * sample_unit(s)) * scale, 1e8) : 0.0, aside);
    move_points(set->p, set->count, sample_int(s, 0, 1) ? sample_rotation(s) : quat_identity(), scale,
                offset);
    if (!single || far) return;
    for (int i = 0; i < set->count; ++i) {
        const vy_vec3 p = set->p[i];
        set->p[i] = vec3_make((double)(float)p.x, (double)(float)p.y, (double)(float)p.z);
    }
}

// ---- what a hull must be ----

/// [m] What counts as one tolerance: the hull's own, and rounding at its size.
static double tolerance_of(const vy_hull *h) { return h->tolerance + 16.0 * DBL_EPSILON * h->radius; }

static double height(const vy_hull *h, const vy_hull_face *face, vy_vec3 point)
{
    long double o[3], n[3], p[3];
    to_long(h->vertices[h->loop[face->first]], o);
    to_long(face->normal, n);
    to_long(point, p);
    return (double)(n[0] * (p[0] - o[0]) + n[1] * (p[1] - o[1]) + n[2] * (p[2] - o[2]));
}

/// [m] The farthest that a corner of the face is beyond the line of one of its sides.
static double beyond_sides(const vy_hull *h, const vy_hull_face *face)
{
    double worst = 0.0;
    const int *loop = h->loop + face->first;
    for (int k = 0; k < face->count; ++k) {
        const vy_vec3 a = h->vertices[loop[k]], side = vec3_sub(h->vertices[loop[(k + 1) % face->count]], a);
        const vy_vec3 outward = vec3_scale(1.0 / vec3_length(side), vec3_cross(side, face->normal));
        for (int j = 0; j < face->count; ++j)
            worst = fmax(worst, vec3_dot(outward, vec3_sub(h->vertices[loop[j]], a)));
    }
    return worst;
}

/// [tolerances] How far the hull is from convex: vertices beyond planes, corners off their plane or beyond a
/// side of their polygon.
static double not_convex(const vy_hull *h)
{
    double worst = 0.0;
    for (int f = 0; f < h->face_count; ++f) {
        const vy_hull_face *face = &h->faces[f];
        double low = 0.0, high = 0.0, top = 0.0;
        for (int k = 0; k < face->count; ++k) {
            const double d = height(h, face, h->vertices[h->loop[face->first + k]]);
            low = fmin(low, d);
            high = fmax(high, d);
        }
        for (int v = 0; v < h->vertex_count; ++v) top = fmax(top, height(h, face, h->vertices[v]));
        worst = fmax(worst, fmax(top - high, 0.5 * (high - low)));
        worst = fmax(worst, beyond_sides(h, face));
    }
    return worst / tolerance_of(h);
}

/// [tolerances] The farthest that a point is beyond a plane of the hull, or from the hull.
static double points_outside(const flat_set *set, const vy_hull *h)
{
    double worst = 0.0;
    for (int i = 0; i < set->count; ++i) {
        for (int f = 0; f < h->face_count; ++f) worst = fmax(worst, height(h, &h->faces[f], set->p[i]));
        worst = fmax(worst, vy_hull_signed_distance(h, set->p[i]));
    }
    return worst / tolerance_of(h);
}

/// [m] From the lowest to the highest point along n, as heights over `origin`.
static void extent(const vy_vec3 *p, int count, vy_vec3 origin, vy_vec3 n, double *low, double *high)
{
    *low = DBL_MAX;
    *high = -DBL_MAX;
    for (int i = 0; i < count; ++i) {
        const double d = vec3_dot(n, vec3_sub(p[i], origin));
        *low = fmin(*low, d);
        *high = fmax(*high, d);
    }
}

/// [tolerances] The farthest that the hull ends short of a plane through three points with none beyond it.
static double short_of_planes(const flat_set *set, const vy_hull *h)
{
    double worst = 0.0;
    const vy_vec3 *p = set->p;
    for (int t = 0; t < set->count * set->count * set->count; ++t) {
        const int a = t % set->count, b = t / set->count % set->count, c = t / set->count / set->count;
        if (!(a < b && b < c)) continue;
        const vy_vec3 twice = vec3_cross(vec3_sub(p[b], p[a]), vec3_sub(p[c], p[a]));
        if (!(vec3_length(twice) > 0.0)) continue;
        const vy_vec3 n = vec3_scale(1.0 / vec3_length(twice), twice);
        double low, high, hull_low, hull_high;
        extent(p, set->count, p[a], n, &low, &high);
        if (low < -h->tolerance && high > h->tolerance) continue;
        extent(h->vertices, h->vertex_count, p[a], n, &hull_low, &hull_high);
        worst = fmax(worst, fmax(high - hull_high, hull_low - low));
    }
    return worst / tolerance_of(h);
}

/// [m^3] The volume of the points' hull by Qhull; -1 where its rounding is in the way.
static double qhull_volume(const flat_set *set)
{
    double points[3 * FLAT_POINTS_MAX], volume = -1.0;
    for (int i = 0; i < set->count; ++i) {
        const vy_vec3 d = vec3_sub(set->p[i], set->p[0]);
        points[3 * i] = d.x;
        points[3 * i + 1] = d.y;
        points[3 * i + 2] = d.z;
    }
    qhT state, *qh = &state;
    char options[] = "qhull Pp Qt";
    int curlong, totlong;
    FILE *nowhere = fopen("/dev/null", "w");
    assert_non_null(nowhere);
    qh_zero(qh, nowhere);
    if (qh_new_qhull(qh, 3, set->count, points, False, options, NULL, nowhere) == 0) {
        qh_getarea(qh, qh->facet_list);
        volume = qh->totvol;
    }
    qh_freeqhull(qh, !qh_ALL);
    qh_memfreeshort(qh, &curlong, &totlong);
    fclose(nowhere);
    return volume;
}

// ---- the sets ----

typedef struct tally { // the worst of all sets, in tolerances; volumes per area
    int hulls, none, compared;
    double convex, outside, planes, volume, mass;
} tally;

static void check_flat_set(const flat_set *set, const vy_hull *h, tally *worst)
{
    check_structure(h);
    assert_int_equal(vy_hull_check(h, NULL), VY_OK);
    worst->convex = fmax(worst->convex, not_convex(h));
    worst->outside = fmax(worst->outside, points_outside(set, h));
    if (set->count <= 14) worst->planes = fmax(worst->planes, short_of_planes(set, h));
    const double layer = tolerance_of(h) * h->area, volume = qhull_volume(set);
    worst->compared += volume > 0.0;
    if (volume > 0.0) worst->volume = fmax(worst->volume, fabs(volume - h->volume) / layer);
    vy_mass_properties mass;
    assert_int_equal(vy_hull_mass(h, 1.0, &mass, NULL), VY_OK);
    worst->mass = fmax(worst->mass, fabs(mass.volume - h->volume) / layer);
    assert_true(vy_hull_contains(h, h->centroid, tolerance_of(h)));
    if (set->kind == 6) return; // in a slab, moments are small differences of large sums
    assert_true(vy_hull_contains(h, mass.centroid, 0.0));
    const vy_vec3 m = vy_mass_principal_axes(&mass.inertia).moments;
    assert_true(m.x > 0.0 && m.x + m.y > m.z);
}

/// The faces of a hull make a hull again.
static void check_faces_again(const flat_set *set, const vy_hull *h)
{
    int counts[2 * FLAT_POINTS_MAX];
    for (int f = 0; f < h->face_count; ++f) counts[f] = h->faces[f].count;
    vy_hull *again = NULL;
    vy_error err;
    const vy_status status = vy_hull_from_faces(h->vertices, h->vertex_count, h->loop, counts, h->face_count,
                                                set->tolerance, &again, &err);
    if (status == VY_HULL_COPLANAR && set->kind == 6) return;
    if (status != VY_OK) fail_msg("%s", err.text);
    assert_true(not_convex(again) <= 1.0);
    vy_hull_destroy(again);
}

static void near_flat_sets_make_convex_hulls(void **unused)
{
    (void)unused;
    const char *all = getenv("VOLERY_FLAT_SETS");
    const int sets = all != NULL ? atoi(all) : 6000;
    sampler s = {20};
    tally worst = {0};
    for (int i = 0; i < sets; ++i) {
        flat_set set;
        make_flat_set(&s, i % FLAT_KINDS, &set);
        vy_hull *h = NULL;
        vy_error err;
        const vy_status status = vy_hull_create(set.p, set.count, set.tolerance, &h, &err);
        if (status == VY_HULL_COPLANAR && set.kind == 6) { // a slab may truly be
            worst.none += 1;
            continue;
        }
        if (status != VY_OK) fail_msg("set %d: %s", i, err.text);
        worst.hulls += 1;
        check_flat_set(&set, h, &worst);
        check_faces_again(&set, h);
        vy_hull_destroy(h);
        if (worst.convex > 1.0 || worst.outside > 4.0 || worst.planes > 2.0 || worst.volume > 2.0 ||
            worst.mass > 0.1) {
            fail_msg("set %d of kind %d: not convex by %g tolerances, points outside by %g, short of planes "
                     "by %g, volume off by %g, mass by %g",
                     i, set.kind, worst.convex, worst.outside, worst.planes, worst.volume, worst.mass);
        }
    }
    print_message("%d hulls, %d too flat, %d volumes; in tolerances: not convex %.2f, points outside %.2f, "
                  "short of planes %.2f, volume %.2f, mass %.3f\n",
                  worst.hulls, worst.none, worst.compared, worst.convex, worst.outside, worst.planes,
                  worst.volume, worst.mass);
    assert_true(worst.none * 50 < sets && worst.compared * 20 > 19 * worst.hulls);
}

/// A unit cube with one corner two tolerances too high and a point of its lid one.
static void lifted_corner(vy_vec3 p[9])
{
    for (int i = 0; i < 8; ++i) p[i] = vec3_make(i & 1, (i & 2) / 2, (i & 4) / 4);
    p[7].z = 1.0 + 2e-12;
    p[8] = vec3_make(0.5, 0.25, 1.0 + 1e-12);
}

static void cube_with_a_lifted_corner_is_convex(void **unused)
{
    (void)unused;
    vy_vec3 p[9];
    lifted_corner(p);
    vy_hull *h = NULL;
    assert_int_equal(vy_hull_create(p, 9, VY_HULL_TOLERANCE, &h, NULL), VY_OK);
    assert_near(h->volume, 1.0, 3e-12);
    assert_true(not_convex(h) <= 1.0);
    vy_hull_destroy(h);
}

// Float points whose sides are flat to a part in ten million, with a tolerance below that.
static void single_precision_makes_convex_hulls(void **unused)
{
    (void)unused;
    sampler s = {30};
    for (int i = 0; i < 300; ++i) {
        vy_vec3 p[SAMPLE_POINTS_MAX];
        const int count = sample_points(&s, 5 + i % 4, p); // cubes with more points, prisms
        move_points(p, count, sample_rotation(&s), 1.0, vec3_zero());
        for (int k = 0; k < count; ++k)
            p[k] = vec3_make((double)(float)p[k].x, (double)(float)p[k].y, (double)(float)p[k].z);
        vy_hull *h = NULL;
        assert_int_equal(vy_hull_create(p, count, 1e-8, &h, NULL), VY_OK);
        assert_true(not_convex(h) <= 1.0);
        vy_hull_destroy(h);
    }
}

// The slow way alone, on points of all kinds: closed, Euler's number, nothing beyond a triangle.
static void exact_hulls_are_convex(void **unused)
{
    (void)unused;
    sampler s = {17};
    for (int i = 0; i < 600; ++i) {
        vy_vec3 p[SAMPLE_POINTS_MAX];
        const int count = sample_points(&s, i % SAMPLE_KINDS, p);
        const double tiny = i % 7 == 0 ? 1e-250 : 1.0; // squares underflow
        for (int k = 0; k < count; ++k) p[k].z *= k & 1 ? tiny : 1.0;
        vy_loops loops = {0};
        const vy_status status = vy_loops_exact_hull(p, count, &loops, NULL);
        if (status == VY_HULL_COPLANAR && i % SAMPLE_KINDS == 2) continue; // a lattice may be
        assert_int_equal(status, VY_OK);
        int *scratch = calloc(3 * (size_t)loops.half_edge_count, sizeof *scratch),
            seen[SAMPLE_POINTS_MAX] = {0};
        int corners = 0;
        assert_int_equal(vy_loops_twins(&loops, scratch, scratch + loops.half_edge_count, NULL), VY_OK);
        for (int h = 0; h < loops.half_edge_count; ++h) corners += !seen[loops.vertex[h]]++;
        assert_int_equal(corners - loops.half_edge_count / 2 + loops.face_count, 2);
        for (int f = 0; f < loops.face_count; ++f) {
            const int *v = loops.vertex + loops.first[f];
            const vy_vec3 twice = vy_loop_area_vector(p, v, 3);
            for (int k = 0; k < count && tiny == 1.0; ++k)
                assert_true(vec3_dot(twice, vec3_sub(p[k], p[v[0]])) <= 1e-14 * vec3_length(twice));
        }
        free(scratch);
        vy_loops_free(&loops);
    }
}

// ---- contacts ----

// What collision queries need of such hulls: extreme points, and depths as Qhull has them.
static void near_flat_hulls_collide(void **unused)
{
    (void)unused;
    sampler s = {41};
    int deep = 0;
    for (int i = 0; i < 900; ++i) {
        flat_set set;
        make_flat_set(&s, i % FLAT_KINDS, &set);
        vy_hull *h = NULL;
        if (vy_hull_create(set.p, set.count, set.tolerance, &h, NULL) != VY_OK) continue;
        const vy_shape shape = hull_shape(h);
        const vy_pose here = pose_at(0, 0, 0);
        for (int k = 0; k < 20 + h->face_count; ++k) {
            const vy_vec3 d = k < 20 ? sample_direction(&s) : h->faces[k - 20].normal;
            vy_vec3 point;
            double low, high;
            assert_int_equal(vy_shape_support(&shape, &here, d, &point), VY_OK);
            extent(set.p, set.count, point, d, &low, &high);
            assert_true(high <= 4.0 * tolerance_of(h));
            if (k >= 20) assert_near(height(h, &h->faces[k - 20], point), 0.0, 2.0 * tolerance_of(h));
        }
        const double size = h->radius;
        const int compact = h->inner_radius > 0.05 * size && vec3_length(h->centroid) < 10.0 * size;
        if (compact && size > 1e-3 && h->vertex_count <= 40) {
            const vy_vec3 way = sample_direction(&s);
            const vy_pose there = {vec3_scale(size * sample_unit(&s), way),
                                   i & 1 ? sample_rotation(&s) : quat_identity()};
            const double exact = qhull_depth(h, &here, h, &there);
            vy_contact contact;
            int hit = 0;
            assert_int_equal(vy_penetration(&shape, &here, &shape, &there, NULL, &hit, &contact, NULL),
                             VY_OK);
            const double allowed = 1e-9 * size + 4.0 * tolerance_of(h);
            if (fabs(exact) > allowed) assert_int_equal(hit, exact > 0.0);
            if (hit) assert_near(contact.depth, exact, allowed);
            deep += hit;
        }
        vy_hull_destroy(h);
    }
    assert_true(deep > 100);
}

// ---- the check ----

typedef struct raw_hull { // a hull with faces as they are given, good or bad
    vy_hull hull;
    vy_vec3 vertices[FLAT_POINTS_MAX];
    double xyz[3][FLAT_POINTS_MAX];
    vy_hull_facet facets[2 * FLAT_POINTS_MAX];
    vy_hull_face faces[2 * FLAT_POINTS_MAX];
    vy_hull_edge edges[3 * FLAT_POINTS_MAX];
    int loop[6 * FLAT_POINTS_MAX], twin[6 * FLAT_POINTS_MAX], half_face[6 * FLAT_POINTS_MAX];
    int half_edge[6 * FLAT_POINTS_MAX], neighbour_first[FLAT_POINTS_MAX + 1], neighbours[6 * FLAT_POINTS_MAX];
} raw_hull;

/// Everything but the vertices and loops is made from them.
static void fit(raw_hull *r)
{
    vy_hull *h = &r->hull;
    h->facet_count = h->edge_count = 0;
    for (int i = 0; i < h->padded_count; ++i) {
        const vy_vec3 p = r->vertices[i < h->vertex_count ? i : h->vertex_count - 1];
        r->xyz[0][i] = p.x, r->xyz[1][i] = p.y, r->xyz[2][i] = p.z;
    }
    for (int f = 0; f < h->face_count; ++f) {
        vy_hull_face *face = &r->faces[f];
        const int *loop = r->loop + face->first;
        vy_vec3 twice = vec3_zero();
        for (int k = 2; k < face->count; ++k) {
            const vy_vec3 o = r->vertices[loop[0]], a = r->vertices[loop[k - 1]], b = r->vertices[loop[k]];
            twice = vec3_add(twice, vec3_cross(vec3_sub(a, o), vec3_sub(b, o)));
        }
        face->normal = vec3_scale(1.0 / vec3_length(twice), twice);
        face->area = 0.5 * vec3_length(twice);
        face->facet_first = h->facet_count;
        for (int k = 0; k < face->count; ++k)
            face->offset =
                fmax(k == 0 ? -DBL_MAX : face->offset, vec3_dot(face->normal, r->vertices[loop[k]]));
        for (int k = 2; k < face->count; ++k)
            r->facets[h->facet_count++] =
                (vy_hull_facet){loop[0], loop[k - 1], loop[k], f, face->normal, face->offset};
    }
    for (int a = 0; a < h->half_edge_count; ++a) {
        for (int b = a + 1; b < h->half_edge_count; ++b) {
            const vy_hull_face *fa = &r->faces[r->half_face[a]], *fb = &r->faces[r->half_face[b]];
            const int end_a = r->loop[fa->first + (a - fa->first + 1) % fa->count];
            const int end_b = r->loop[fb->first + (b - fb->first + 1) % fb->count];
            if (r->loop[a] != end_b || r->loop[b] != end_a) continue;
            r->twin[a] = b, r->twin[b] = a;
            r->half_edge[a] = r->half_edge[b] = h->edge_count;
            const int up = r->loop[a] < end_a;
            r->edges[h->edge_count++] = (vy_hull_edge){up ? end_b : end_a, up ? end_a : end_b,
                                                       r->half_face[up ? a : b], r->half_face[up ? b : a]};
        }
    }
    int placed = 0;
    for (int v = 0; v < h->vertex_count; ++v) {
        r->neighbour_first[v] = placed;
        for (int a = 0; a < h->half_edge_count; ++a) {
            if (r->loop[a] == v) r->neighbours[placed++] = r->loop[r->twin[a]];
        }
    }
    r->neighbour_first[h->vertex_count] = placed;
}

static void make_raw(const vy_vec3 *p, int count, const int *loops, const int *counts, int faces, double zero,
                     raw_hull *r)
{
    memset(r, 0, sizeof *r);
    int half = 0;
    for (int f = 0; f < faces; ++f) {
        r->faces[f].first = half;
        r->faces[f].count = counts[f];
        for (int k = 0; k < counts[f]; ++k, ++half) {
            r->loop[half] = loops[half];
            r->half_face[half] = f;
        }
    }
    memcpy(r->vertices, p, (size_t)count * sizeof *p);
    r->hull = (vy_hull){.vertex_count = count,
                        .padded_count = (count + 7) & ~7,
                        .face_count = faces,
                        .half_edge_count = half,
                        .vertices = r->vertices,
                        .x = r->xyz[0],
                        .y = r->xyz[1],
                        .z = r->xyz[2],
                        .facets = r->facets,
                        .faces = r->faces,
                        .edges = r->edges,
                        .loop = r->loop,
                        .twin = r->twin,
                        .half_face = r->half_face,
                        .half_edge = r->half_edge,
                        .neighbour_first = r->neighbour_first,
                        .neighbours = r->neighbours,
                        .volume = 1.0,
                        .radius = 1.0,
                        .tolerance = zero};
    fit(r);
}

static void check_refuses_the_lid_with_a_notch(void **unused)
{
    (void)unused;
    vy_vec3 p[9];
    lifted_corner(p);
    // What merging once made of it: a lid of two faces with a corner pointing inwards at vertex 8.
    static const int loops[28] = {0, 1, 5, 4, 0, 2, 3, 1, 0, 4, 6, 2, 1, 3,
                                  7, 5, 2, 6, 7, 3, 4, 5, 7, 8, 4, 8, 7, 6};
    static const int counts[7] = {4, 4, 4, 4, 4, 4, 4};
    static raw_hull r;
    make_raw(p, 9, loops, counts, 7, 1.001e-12, &r);
    vy_error err = {0};
    assert_int_equal(vy_hull_check(&r.hull, &err), VY_BAD_HULL);
    assert_non_null(strstr(err.text, "not a convex polygon"));
}

// Vertices of good hulls are moved, a little and a lot: what is not convex any more is refused, what still is
// passes.
static void check_refuses_what_is_not_convex(void **unused)
{
    (void)unused;
    sampler s = {6};
    static raw_hull r;
    int good = 0, bad = 0;
    for (int i = 0; i < 3000; ++i) {
        flat_set set;
        make_flat_set(&s, i % FLAT_KINDS, &set);
        vy_hull *h = NULL;
        if (vy_hull_create(set.p, set.count, set.tolerance, &h, NULL) != VY_OK) continue;
        int counts[2 * FLAT_POINTS_MAX];
        for (int f = 0; f < h->face_count; ++f) counts[f] = h->faces[f].count;
        make_raw(h->vertices, h->vertex_count, h->loop, counts, h->face_count, h->tolerance, &r);
        r.hull.radius = h->radius;
        const double far = fmin(h->radius, h->tolerance * pow(10.0, -1.0 + 6.0 * sample_unit(&s)));
        const int v = sample_int(&s, 0, h->vertex_count - 1);
        if (i % 4 != 0) r.vertices[v] = vec3_add_scaled(r.vertices[v], far, sample_direction(&s));
        fit(&r);
        const double off = not_convex(&r.hull);
        const vy_status status = vy_hull_check(&r.hull, NULL);
        if (off > 3.0) assert_int_equal(status, VY_BAD_HULL);
        if (off < 0.5) assert_int_equal(status, VY_OK);
        bad += off > 3.0;
        good += off < 0.5;
        vy_hull_destroy(h);
    }
    print_message("%d convex, %d not\n", good, bad);
    assert_true(good > 300 && bad > 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cube_with_a_lifted_corner_is_convex),
        cmocka_unit_test(near_flat_sets_make_convex_hulls),
        cmocka_unit_test(single_precision_makes_convex_hulls),
        cmocka_unit_test(exact_hulls_are_convex),
        cmocka_unit_test(near_flat_hulls_collide),
        cmocka_unit_test(check_refuses_the_lid_with_a_notch),
        cmocka_unit_test(check_refuses_what_is_not_convex),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
