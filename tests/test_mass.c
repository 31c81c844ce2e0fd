// test_mass.c - mass properties against closed forms and against an independent sum in long double.
#include "hull_samples.h"
#include "volery/mass.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void assert_near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance))
        fail_msg("%.17g and %.17g differ by %.3g, allowed %.3g", a, b, fabs(a - b), tolerance);
}

static vy_mass_properties mass_of_points(const vy_vec3 *p, int count, double mass)
{
    vy_hull *hull = NULL;
    vy_mass_properties m;
    vy_error err = {0};
    vy_status status = vy_hull_create(p, count, VY_HULL_TOLERANCE, &hull, &err);
    if (status == VY_OK) status = vy_hull_mass(hull, mass, &m, &err);
    if (status != VY_OK) fail_msg("%s", err.text);
    assert_near(m.volume / hull->volume, 1.0, 1e-10); // two ways to the same number
    vy_hull_destroy(hull);
    return m;
}

static void assert_inertia(const vy_mass_properties *m, double x, double y, double z, double tolerance)
{
    const double expected[3] = {x, y, z};
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            assert_near(m->inertia.m[i][j], i == j ? expected[i] : 0.0, tolerance);
            assert_true(m->inertia.m[i][j] == m->inertia.m[j][i]);
        }
    }
}

static int box_points(vy_vec3 p[8], vy_vec3 half)
{
    for (int i = 0; i < 8; ++i) p[i] = vec3_mul(half, cube_corner(i));
    return 8;
}

// The requirements' cases: unit cube m/6, box 2 x 3 x 4, regular tetrahedron; all within 1e-10.
static void requirements_cases(void **unused)
{
    (void)unused;
    vy_vec3 p[8];
    box_points(p, vec3_make(0.5, 0.5, 0.5));
    vy_mass_properties m = mass_of_points(p, 8, 12.0);
    assert_near(m.volume, 1.0, 1e-10);
    assert_inertia(&m, 2.0, 2.0, 2.0, 1e-10);

    box_points(p, vec3_make(1.0, 1.5, 2.0));
    m = mass_of_points(p, 8, 12.0);
    assert_near(m.volume, 24.0, 1e-10);
    assert_inertia(&m, 25.0, 20.0, 13.0, 1e-10); // m/12 (b^2 + c^2), ...

    const vy_vec3 t[4] = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
    m = mass_of_points(t, 4, 10.0);
    assert_near(m.volume, 8.0 / 3.0, 1e-10);
    assert_inertia(&m, 4.0, 4.0, 4.0, 1e-10); // m s^2 / 20, s^2 = 8

    const vy_vec3 o[6] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
    m = mass_of_points(o, 6, 10.0);
    assert_inertia(&m, 2.0, 2.0, 2.0, 1e-10); // m s^2 / 10, s^2 = 2
}

// The same far away: offsets of 1e6 within 1e-8.
static void far_from_the_origin(void **unused)
{
    (void)unused;
    sampler s = {4};
    double worst = 0.0;
    for (int round = 0; round < 200; ++round) {
        const vy_vec3 offset = vec3_make(1e6 * floor(3 * sample_unit(&s) - 1), 1e6, -1e6);
        const vy_vec3 half = round & 1 ? vec3_make(1, 1.5, 2) : vec3_make(0.5, 0.5, 0.5);
        vy_vec3 p[8];
        box_points(p, half);
        move_points(p, 8, quat_identity(), 1.0, offset);
        const vy_mass_properties m = mass_of_points(p, 8, 12.0);
        if (round & 1) assert_inertia(&m, 25.0, 20.0, 13.0, 1e-8);
        if (!(round & 1)) assert_inertia(&m, 2.0, 2.0, 2.0, 1e-8);
        assert_near(vec3_length(vec3_sub(m.centroid, offset)), 0.0, 1e-8);
        worst = fmax(worst, fabs(m.inertia.m[0][0] - (round & 1 ? 25.0 : 2.0)));
    }
    print_message("offset 1e6: worst error of Ixx %.3g\n", worst);
}

// Volume, first and second moments as a sum over tetrahedra with the frame's origin, in long double. With
// J = det(a, b, c): V = J/6, first = J/24 (a + b + c), second_ij = J/120 (sum_k v_ki v_kj + s_i s_j), s = a +
// b + c.
static void tetrahedra(const vy_hull *h, long double mass, long double centroid[3], long double inertia[3][3],
                       long double *volume)
{
    long double v = 0, first[3] = {0}, second[3][3] = {{0}};
    for (int f = 0; f < h->facet_count; ++f) {
        const vy_vec3 corner[3] = {h->vertices[h->facets[f].a], h->vertices[h->facets[f].b],
                                   h->vertices[h->facets[f].c]};
        long double p[3][3], s[3];
        for (int k = 0; k < 3; ++k) to_long(corner[k], p[k]);
        for (int i = 0; i < 3; ++i) s[i] = p[0][i] + p[1][i] + p[2][i];
        const long double det = p[0][0] * (p[1][1] * p[2][2] - p[1][2] * p[2][1]) -
                                p[0][1] * (p[1][0] * p[2][2] - p[1][2] * p[2][0]) +
                                p[0][2] * (p[1][0] * p[2][1] - p[1][1] * p[2][0]);
        v += det / 6;
        for (int i = 0; i < 3; ++i) {
            first[i] += det / 24 * s[i];
            for (int j = 0; j < 3; ++j) {
                second[i][j] +=
                    det / 120 * (p[0][i] * p[0][j] + p[1][i] * p[1][j] + p[2][i] * p[2][j] + s[i] * s[j]);
            }
        }
    }
    long double trace = 0;
    for (int i = 0; i < 3; ++i) {
        centroid[i] = first[i] / v;
        trace += second[i][i] / v - centroid[i] * centroid[i];
    }
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            inertia[i][j] = mass * ((i == j ? trace : 0) - (second[i][j] / v - centroid[i] * centroid[j]));
        }
    }
    *volume = v;
}

static void random_hulls_against_tetrahedra(void **unused)
{
    (void)unused;
    sampler s = {2024};
    double worst_volume = 0.0, worst_centroid = 0.0, worst_inertia = 0.0;
    for (int round = 0; round < 2000; ++round) {
        vy_vec3 p[SAMPLE_POINTS_MAX];
        const int kinds[] = {0, 1, 5, 6, 8, 9};
        const int count = sample_points(&s, kinds[round % 6], p);
        const double scale = pow(10.0, 3.0 * sample_side(&s));
        const vy_vec3 offset = vec3_scale(3.0 * scale, sample_vec(&s));
        move_points(p, count, sample_rotation(&s), scale, offset);
        vy_hull *h = NULL;
        vy_mass_properties m;
        assert_int_equal(vy_hull_create(p, count, VY_HULL_TOLERANCE, &h, NULL), VY_OK);
        assert_int_equal(vy_hull_mass(h, 7.0, &m, NULL), VY_OK);
        long double centroid[3], inertia[3][3], volume;
        tetrahedra(h, 7.0L, centroid, inertia, &volume);
        // A thin hull's volume is a small difference of large sums: errors are measured against a ball's.
        const double r = h->radius, thin = h->volume / (r * r * r);
        worst_volume = fmax(worst_volume, fabs((double)((long double)m.volume / volume - 1)) * thin);
        worst_volume = fmax(worst_volume, fabs((double)((long double)h->volume / volume - 1)) * thin);
        const double c[3] = {m.centroid.x, m.centroid.y, m.centroid.z};
        for (int i = 0; i < 3; ++i) {
            worst_centroid = fmax(worst_centroid, fabs((double)((long double)c[i] - centroid[i])) / r * thin);
            for (int j = 0; j < 3; ++j) {
                const double error =
                    fabs((double)((long double)m.inertia.m[i][j] - inertia[i][j])) / (7.0 * r * r);
                worst_inertia = fmax(worst_inertia, error * thin);
            }
        }
        vy_hull_destroy(h);
    }
    print_message("relative errors: volume %.2g, centroid %.2g, inertia %.2g\n", worst_volume, worst_centroid,
                  worst_inertia);
    assert_true(worst_volume < 1e-13 && worst_centroid < 1e-13 && worst_inertia < 1e-13);
}

static void inertia_turns_with_the_body(void **unused)
{
    (void)unused;
    sampler s = {6};
    for (int round = 0; round < 200; ++round) {
        vy_vec3 p[SAMPLE_POINTS_MAX];
        const int count = sample_points(&s, round & 1, p);
        const vy_mass_properties a = mass_of_points(p, count, 2.0);
        const vy_quat q = sample_rotation(&s);
        move_points(p, count, q, 1.0, vec3_zero());
        const vy_mass_properties b = mass_of_points(p, count, 2.0);
        const mat3 r = quat_matrix(q), turned = mat3_mul(mat3_mul(r, a.inertia), mat3_transpose(r));
        for (int i = 0; i < 9; ++i) assert_near(b.inertia.m[i / 3][i % 3], turned.m[i / 3][i % 3], 1e-10);
        assert_near(vec3_length(vec3_sub(b.centroid, mat3_mul_vec(r, a.centroid))), 0.0, 1e-10);
    }
}

// Any real body: moments positive, and no moment larger than the other two together.
static void moments_are_those_of_a_body(void **unused)
{
    (void)unused;
    sampler s = {61};
    for (int round = 0; round < 500; ++round) {
        vy_vec3 p[SAMPLE_POINTS_MAX];
        const int kinds[] = {0, 1, 5, 8};
        const int count = sample_points(&s, kinds[round % 4], p);
        move_points(p, count, sample_rotation(&s), 1.0, vec3_zero());
        const vy_mass_properties m = mass_of_points(p, count, 1.0);
        const vy_principal_axes a = vy_mass_principal_axes(&m.inertia);
        assert_true(a.moments.x > 0.0 && a.moments.x <= a.moments.y && a.moments.y <= a.moments.z);
        assert_true(a.moments.z <= (a.moments.x + a.moments.y) * (1.0 + 1e-12));
    }
}

// ---- closed forms of shapes ----

// A solid of revolution by slices along z, three-point Gauss on each of the pieces: exact for these, whose
// squared radius is a polynomial of degree 2 at most.
static void slices(const long double *cuts, int pieces,
                   long double (*squared)(long double z, const long double *k), const long double *k,
                   double mass, vy_mass_properties *out)
{
    static const long double node = 0.774596669241483377035853079956L;
    const long double x[3] = {-node, 0, node}, w[3] = {5.0L / 9, 8.0L / 9, 5.0L / 9};
    const long double pi = 3.141592653589793238462643383279L;
    long double volume = 0, axial = 0, along = 0;
    for (int i = 0; i < pieces; ++i) {
        const long double half = (cuts[i + 1] - cuts[i]) / 2, middle = (cuts[i + 1] + cuts[i]) / 2;
        for (int j = 0; j < 3; ++j) {
            const long double z = middle + half * x[j], rr = squared(z, k), slice = w[j] * half * pi * rr;
            volume += slice;
            axial += slice * rr / 2;
            along += slice * z * z;
        }
    }
    const double density = (double)((long double)mass / volume);
    const double zz = density * (double)axial, xx = density * (double)(axial / 2 + along);
    *out = (vy_mass_properties){mass, (double)volume, vec3_zero(), mat3_diag(xx, xx, zz)};
}

static long double capsule_squared(long double z, const long double *k) // k: half length, radius
{
    const long double over = fabsl(z) > k[0] ? fabsl(z) - k[0] : 0;
    return k[1] * k[1] - over * over;
}

static void shapes_have_their_closed_forms(void **unused)
{
    (void)unused;
    sampler s = {17};
    for (int round = 0; round < 200; ++round) {
        const double half = round == 0 ? 0.0 : 3.0 * sample_unit(&s), radius = 0.1 + sample_unit(&s);
        const long double h = (long double)half, r = (long double)radius;
        const long double k[2] = {h, r}, cuts[4] = {-h - r, -h, h, h + r};
        vy_mass_properties expected, m;
        vy_shape shape;
        slices(cuts, 3, capsule_squared, k, 5.0, &expected);
        assert_int_equal(vy_shape_capsule(half, radius, &shape, NULL), VY_OK);
        assert_int_equal(vy_shape_mass(&shape, 5.0, &m, NULL), VY_OK);
        assert_near(m.volume, expected.volume, 1e-13 * expected.volume);
        assert_inertia(&m, expected.inertia.m[0][0], expected.inertia.m[1][1], expected.inertia.m[2][2],
                       1e-12);

        slices(cuts + 1, half > 0 ? 1 : 0, capsule_squared, k, 5.0,
               &expected); // the middle piece is a cylinder
        if (half > 0) {
            assert_int_equal(vy_shape_cylinder(half, radius, &shape, NULL), VY_OK);
            assert_int_equal(vy_shape_mass(&shape, 5.0, &m, NULL), VY_OK);
            assert_near(m.volume, expected.volume, 1e-13 * expected.volume);
            assert_inertia(&m, expected.inertia.m[0][0], expected.inertia.m[1][1], expected.inertia.m[2][2],
                           1e-12);
        }
        const double rr = radius * radius;
        assert_int_equal(vy_shape_sphere(radius, &shape, NULL), VY_OK);
        assert_int_equal(vy_shape_mass(&shape, 5.0, &m, NULL), VY_OK);
        assert_near(m.volume, 4.1887902047863909846 * rr * radius, 1e-13);
        assert_inertia(&m, 2 * rr, 2 * rr, 2 * rr, 1e-13);

        const double c = sample_unit(&s), b = sample_unit(&s), a = sample_unit(&s);
        const vy_vec3 sides = vec3_make(0.1 + a, 0.1 + b, 0.1 + c);
        vy_vec3 p[8];
        box_points(p, sides);
        expected = mass_of_points(p, 8, 5.0);
        assert_int_equal(vy_shape_box(sides, &shape, NULL), VY_OK);
        assert_int_equal(vy_shape_mass(&shape, 5.0, &m, NULL), VY_OK);
        assert_near(m.volume, expected.volume, 1e-13);
        assert_inertia(&m, expected.inertia.m[0][0], expected.inertia.m[1][1], expected.inertia.m[2][2],
                       1e-13);
    }
}

static void what_has_no_mass_is_refused(void **unused)
{
    (void)unused;
    vy_hull *h = NULL;
    vy_mass_properties m = {.mass = -5.0};
    vy_error err;
    assert_int_equal(vy_hull_box(vec3_make(1, 1, 1), &h, NULL), VY_OK);
    const double bad[] = {0.0, -1.0, NOT_A_NUMBER, INFINITE};
    vy_shape shape;
    assert_int_equal(vy_shape_hull(h, &shape, NULL), VY_OK);
    for (int i = 0; i < 4; ++i) {
        assert_int_equal(vy_hull_mass(h, bad[i], &m, &err), VY_BAD_MASS);
        assert_int_equal(vy_shape_mass(&shape, bad[i], &m, &err), VY_BAD_MASS);
    }
    assert_int_equal(vy_hull_mass(NULL, 1.0, &m, &err), VY_BAD_HULL);
    const vy_hull empty = {0};
    assert_int_equal(vy_hull_mass(&empty, 1.0, &m, &err), VY_BAD_HULL);
    shape.hull = &empty;
    assert_int_equal(vy_shape_mass(&shape, 1.0, &m, &err), VY_BAD_HULL);
    assert_int_equal(vy_shape_plane(vec3_make(0, 0, 1), 0.0, &shape, NULL), VY_OK);
    assert_int_equal(vy_shape_mass(&shape, 1.0, &m, &err), VY_BAD_VALUE);
    assert_int_equal(vy_shape_mass(&(vy_shape){0}, 1.0, &m, &err), VY_BAD_VALUE);
    const vy_shape tiny[] = {{.kind = VY_SHAPE_SPHERE, .sphere = {5e-324}},
                             {.kind = VY_SHAPE_CAPSULE, .capsule = {1.0, 1e-200}},
                             {.kind = VY_SHAPE_BOX, .box = {{1e-200, 1e-200, 1e-200}}},
                             {.kind = VY_SHAPE_CYLINDER, .cylinder = {1.0, 5e-324}}};
    for (int i = 0; i < 4; ++i) assert_int_equal(vy_shape_mass(&tiny[i], 1.0, &m, &err), VY_BAD_VALUE);
    assert_true(m.mass == -5.0); // outputs are untouched
    vy_hull_destroy(h);
}

// ---- principal axes ----

static void check_axes(const vy_mat3 *inertia, double scale)
{
    const vy_principal_axes a = vy_mass_principal_axes(inertia);
    const mat3 diagonal = mat3_diag(a.moments.x, a.moments.y, a.moments.z);
    const mat3 back = mat3_mul(mat3_mul(a.axes, diagonal), mat3_transpose(a.axes));
    const mat3 unit = mat3_mul(a.axes, mat3_transpose(a.axes));
    for (int i = 0; i < 9; ++i) {
        assert_near(back.m[i / 3][i % 3], inertia->m[i / 3][i % 3], 4e-15 * scale);
        assert_near(unit.m[i / 3][i % 3], i % 4 == 0, 2e-15);
    }
    assert_near(mat3_det(a.axes), 1.0, 2e-15);
    for (int k = 0; k < 2; ++k) { // which of the two directions an axis takes is settled, too
        const double c[3] = {a.axes.m[0][k], a.axes.m[1][k], a.axes.m[2][k]};
        assert_true(fmax(c[0], fmax(c[1], c[2])) >= -fmin(c[0], fmin(c[1], c[2])));
    }
    assert_true(a.moments.x <= a.moments.y && a.moments.y <= a.moments.z);
    // Invariants that no rotation changes.
    const double trace = inertia->m[0][0] + inertia->m[1][1] + inertia->m[2][2];
    assert_near(a.moments.x + a.moments.y + a.moments.z, trace, 4e-15 * scale);
    assert_near(a.moments.x * a.moments.y * a.moments.z, mat3_det(*inertia), 2e-14 * scale * scale * scale);
}

static void principal_axes_rebuild_the_tensor(void **unused)
{
    (void)unused;
    sampler s = {71};
    for (int round = 0; round < 20000; ++round) {
        const double scale = pow(10.0, 6.0 * sample_side(&s));
        mat3 m;
        for (int i = 0; i < 3; ++i) {
            for (int j = i; j < 3; ++j) {
                m.m[i][j] = scale * sample_side(&s) *
                            (round % 3 == 0 && i != j ? pow(10.0, -18.0 * sample_unit(&s)) : 1.0);
                if (round % 5 == 1 && i != j) m.m[i][j] = sample_unit(&s) < 0.5 ? 0.0 : m.m[i][j];
                if (round % 5 == 2 && i == j) m.m[i][j] = scale; // equal moments but for the rest
                m.m[j][i] = m.m[i][j];
            }
        }
        check_axes(&m, 3.0 * scale);
    }
}

static void principal_axes_of_simple_tensors(void **unused)
{
    (void)unused;
    const mat3 sorted = mat3_diag(1, 2, 3), turned = mat3_diag(3, 2, 1), equal = mat3_diag(2, 2, 2),
               zero = mat3_diag(0, 0, 0);
    vy_principal_axes a = vy_mass_principal_axes(&sorted);
    for (int i = 0; i < 9; ++i) assert_true(a.axes.m[i / 3][i % 3] == (i % 4 == 0));
    a = vy_mass_principal_axes(&turned);
    assert_true(a.moments.x == 1.0 && a.moments.z == 3.0 && a.axes.m[2][0] == 1.0 && a.axes.m[1][1] == 1.0);
    check_axes(&turned, 3.0);
    check_axes(&equal, 3.0);
    check_axes(&zero, 1.0);
    // A cube off its axes: three equal moments, any right-handed axes will do.
    const mat3 half = {{{2, 1, 0}, {1, 2, 0}, {0, 0, 5}}};
    a = vy_mass_principal_axes(&half);
    assert_near(a.moments.x, 1.0, 1e-15);
    assert_near(a.moments.y, 3.0, 1e-15);
    assert_near(a.moments.z, 5.0, 0.0);
    // Only the upper triangle is read.
    mat3 lower = half;
    lower.m[1][0] = lower.m[2][0] = lower.m[2][1] = NOT_A_NUMBER;
    const vy_principal_axes b = vy_mass_principal_axes(&lower);
    assert_true(b.moments.x == a.moments.x && b.axes.m[0][0] == a.axes.m[0][0]);
}

static void mass_has_the_same_bits_everywhere(void **unused)
{
    (void)unused;
    sampler s = {31415};
    uint64_t hash = 0xcbf29ce484222325u;
    for (int round = 0; round < 100; ++round) {
        vy_vec3 p[20];
        for (int i = 0; i < 20; ++i) p[i] = vec3_mul(vec3_make(1, 2, 3), sample_direction(&s));
        const vy_mass_properties m = mass_of_points(p, 20, 3.0);
        const vy_principal_axes a = vy_mass_principal_axes(&m.inertia);
        hash = hash_vec(hash_vec(hash_value(hash, m.volume), m.centroid), a.moments);
        for (int i = 0; i < 9; ++i) {
            hash = hash_value(hash_value(hash, m.inertia.m[i / 3][i % 3]), a.axes.m[i / 3][i % 3]);
        }
    }
    if (hash != 0x1f4d7237bfdc0cbdu) fail_msg("the hash is %016llx", (unsigned long long)hash);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requirements_cases),
        cmocka_unit_test(far_from_the_origin),
        cmocka_unit_test(random_hulls_against_tetrahedra),
        cmocka_unit_test(inertia_turns_with_the_body),
        cmocka_unit_test(moments_are_those_of_a_body),
        cmocka_unit_test(shapes_have_their_closed_forms),
        cmocka_unit_test(what_has_no_mass_is_refused),
        cmocka_unit_test(principal_axes_rebuild_the_tensor),
        cmocka_unit_test(principal_axes_of_simple_tensors),
        cmocka_unit_test(mass_has_the_same_bits_everywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
