// test_vec.c - identities of vectors, quaternions and matrices at random attitudes.
#include "check.h"

enum { ROUNDS = 2000 };

static double mat_distance(mat3 a, mat3 b)
{
    double max = 0.0;
    for (int i = 0; i < 9; ++i) max = fmax(max, fabs(a.m[i / 3][i % 3] - b.m[i / 3][i % 3]));
    return max;
}

// A quarter turn about +z takes forward to left, one about +x takes left to up: the right-hand rule.
static void quat_turns_by_the_right_hand(void **unused)
{
    (void)unused;
    const double h = sqrt(0.5);
    const vec3 x = {1, 0, 0}, y = {0, 1, 0}, z = {0, 0, 1};
    assert_vec_near(quat_rotate((quat){h, 0, 0, h}, x), y, 1e-15);
    assert_vec_near(quat_rotate((quat){h, h, 0, 0}, y), z, 1e-15);
    assert_vec_near(quat_rotate((quat){h, 0, h, 0}, z), x, 1e-15);
}

// Hamilton's i j = k, j k = i, k i = j, and each squared is -1, exactly.
static void quat_product_is_hamiltons(void **unused)
{
    (void)unused;
    const quat i = {0, 1, 0, 0}, j = {0, 0, 1, 0}, k = {0, 0, 0, 1}, minus = {-1, 0, 0, 0};
    assert_true(quat_dot(quat_mul(i, j), k) == 1.0);
    assert_true(quat_dot(quat_mul(j, k), i) == 1.0);
    assert_true(quat_dot(quat_mul(k, i), j) == 1.0);
    assert_true(quat_dot(quat_mul(i, i), minus) == 1.0);
    assert_true(quat_dot(quat_mul(j, j), minus) == 1.0);
    assert_true(quat_dot(quat_mul(k, k), minus) == 1.0);
}

// Rotating with the quaternion, with its matrix, and as q v q* are one; turning back undoes it.
static void quat_rotation_agrees_with_matrix(void **unused)
{
    (void)unused;
    random_source r = {1};
    for (int n = 0; n < ROUNDS; ++n) {
        const quat q = random_attitude(&r);
        const vec3 v = random_vec(&r, 10.0);
        const mat3 m = quat_matrix(q);
        const vec3 turned = quat_rotate(q, v);
        const quat sandwich = quat_mul(quat_mul(q, quat_make(0.0, v.x, v.y, v.z)), quat_conj(q));
        assert_vec_near(mat3_mul_vec(m, v), turned, 3e-14);
        assert_vec_near(vec3_make(sandwich.x, sandwich.y, sandwich.z), turned, 3e-14);
        assert_vec_near(quat_unrotate(q, turned), v, 3e-14);
        assert_vec_near(mat3_tmul_vec(m, turned), v, 3e-14);
        assert_near(vec3_length(turned), vec3_length(v), 3e-14);
    }
}

// The matrix of an attitude is orthogonal with determinant +1; products of quaternions and matrices agree.
static void quat_matrix_is_a_rotation(void **unused)
{
    (void)unused;
    random_source r = {2};
    const mat3 one = mat3_diag(1, 1, 1);
    for (int n = 0; n < ROUNDS; ++n) {
        const quat a = random_attitude(&r), b = random_attitude(&r);
        const mat3 m = quat_matrix(a);
        assert_near(mat_distance(mat3_mul(m, mat3_transpose(m)), one), 0.0, 2e-15);
        assert_near(mat3_det(m), 1.0, 2e-15);
        assert_near(mat_distance(quat_matrix(quat_mul(a, b)), mat3_mul(m, quat_matrix(b))), 0.0, 4e-15);
        assert_near(quat_dot(quat_mul(a, b), quat_mul(a, b)), 1.0, 4e-15);
    }
}

// Normalising gives unit length and keeps the direction, at lengths far from 1 as well.
static void quat_normalize_keeps_direction(void **unused)
{
    (void)unused;
    random_source r = {3};
    for (int n = 0; n < ROUNDS; ++n) {
        const quat q = random_attitude(&r);
        const quat p = quat_normalize(quat_scale(pow(10.0, random_in(&r, -100.0, 100.0)), q));
        assert_near(quat_dot(p, p), 1.0, 1e-15);
        assert_near(quat_dot(p, q), 1.0, 1e-15);
    }
}

// Cross, dot and scaled sums obey the identities of Lagrange and of the triple product.
static void vec_identities(void **unused)
{
    (void)unused;
    random_source r = {4};
    for (int n = 0; n < ROUNDS; ++n) {
        const vec3 a = random_vec(&r, 3.0), b = random_vec(&r, 3.0), c = random_vec(&r, 3.0);
        const vec3 axb = vec3_cross(a, b);
        assert_near(vec3_dot(axb, axb) + vec3_dot(a, b) * vec3_dot(a, b), vec3_dot(a, a) * vec3_dot(b, b),
                    3e-13);
        const vec3 left = vec3_cross(a, vec3_cross(b, c));
        const vec3 right = vec3_sub(vec3_scale(vec3_dot(a, c), b), vec3_scale(vec3_dot(a, b), c));
        assert_vec_near(left, right, 1e-13);
        assert_vec_near(vec3_add_scaled(a, -2.0, b), vec3_sub(a, vec3_add(b, b)), 0.0);
        assert_vec_near(vec3_add(vec3_neg(a), vec3_mul(a, vec3_make(1, 1, 1))), vec3_zero(), 0.0);
    }
}

// A matrix times its inverse is the identity, for general matrices and for inertia tensors of small drones.
static void mat_inverse_undoes(void **unused)
{
    (void)unused;
    random_source r = {5};
    const mat3 one = mat3_diag(1, 1, 1);
    for (int n = 0; n < ROUNDS; ++n) {
        mat3 a;
        for (int i = 0; i < 9; ++i) a.m[i / 3][i % 3] = random_in(&r, -1.0, 1.0) + (i % 4 == 0 ? 4.0 : 0.0);
        assert_near(mat_distance(mat3_mul(a, mat3_inverse(a)), one), 0.0, 5e-15);
        assert_near(mat_distance(mat3_mul(mat3_inverse(a), a), one), 0.0, 5e-15);

        const mat3 rotation = quat_matrix(random_attitude(&r));
        const mat3 moments = mat3_diag(1.4e-5, 1.6e-5, 2.17e-5);
        const mat3 inertia = mat3_mul(mat3_mul(rotation, moments), mat3_transpose(rotation));
        assert_near(mat_distance(mat3_mul(inertia, mat3_inverse(inertia)), one), 0.0, 5e-15);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quat_turns_by_the_right_hand),
        cmocka_unit_test(quat_product_is_hamiltons),
        cmocka_unit_test(quat_rotation_agrees_with_matrix),
        cmocka_unit_test(quat_matrix_is_a_rotation),
        cmocka_unit_test(quat_normalize_keeps_direction),
        cmocka_unit_test(vec_identities),
        cmocka_unit_test(mat_inverse_undoes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
