// vec.h - algebra of vectors, quaternions and 3x3 matrices over `real`.
//
// Sums are written in one fixed order; that order is part of the determinism contract.
#pragma once
#include "base/assert.h"
#include "base/real.h"

#if VY_LANES == 1 && !VY_SINGLE
typedef vy_vec3 vec3;
typedef vy_quat quat;
typedef vy_mat3 mat3;
#else
typedef struct vec3 {
    real x, y, z;
} vec3;
typedef struct quat {
    real w, x, y, z;
} quat;
typedef struct mat3 {
    real m[3][3];
} mat3;
#endif

VY_FN vec3 vec3_make(real x, real y, real z)
{
    vec3 v = {x, y, z};
    return v;
}

VY_FN vec3 vec3_of(const double v[3]) { return vec3_make(real_set(v[0]), real_set(v[1]), real_set(v[2])); }
VY_FN vec3 vec3_zero(void) { return vec3_make(real_set(0.0), real_set(0.0), real_set(0.0)); }
VY_FN vec3 vec3_add(vec3 a, vec3 b) { return vec3_make(a.x + b.x, a.y + b.y, a.z + b.z); }
VY_FN vec3 vec3_sub(vec3 a, vec3 b) { return vec3_make(a.x - b.x, a.y - b.y, a.z - b.z); }
VY_FN vec3 vec3_neg(vec3 a) { return vec3_make(-a.x, -a.y, -a.z); }
VY_FN vec3 vec3_scale(real s, vec3 a) { return vec3_make(s * a.x, s * a.y, s * a.z); }
VY_FN vec3 vec3_mul(vec3 a, vec3 b) { return vec3_make(a.x * b.x, a.y * b.y, a.z * b.z); }
/// a + s b
VY_FN vec3 vec3_add_scaled(vec3 a, real s, vec3 b)
{
    return vec3_make(a.x + s * b.x, a.y + s * b.y, a.z + s * b.z);
}
VY_FN real vec3_dot(vec3 a, vec3 b) { return (a.x * b.x + a.y * b.y) + a.z * b.z; }
VY_FN real vec3_length(vec3 a) { return real_sqrt(vec3_dot(a, a)); }

VY_FN vec3 vec3_cross(vec3 a, vec3 b)
{
    return vec3_make(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

VY_FN vec3 vec3_select(mask m, vec3 a, vec3 b)
{
    return vec3_make(real_select(m, a.x, b.x), real_select(m, a.y, b.y), real_select(m, a.z, b.z));
}

/// Lanes where no component is infinite or NaN.
VY_FN mask vec3_is_finite(vec3 v) { return real_is_finite(v.x) & real_is_finite(v.y) & real_is_finite(v.z); }

/// Lanes where v has length 1, within 1e-6.
VY_FN mask vec3_is_unit(vec3 v) { return real_abs(vec3_dot(v, v) - 1.0) <= 2e-6; }

VY_FN quat quat_make(real w, real x, real y, real z)
{
    quat q = {w, x, y, z};
    return q;
}

VY_FN quat quat_select(mask m, quat a, quat b)
{
    return quat_make(real_select(m, a.w, b.w), real_select(m, a.x, b.x), real_select(m, a.y, b.y),
                     real_select(m, a.z, b.z));
}

VY_FN quat quat_identity(void)
{
    return quat_make(real_set(1.0), real_set(0.0), real_set(0.0), real_set(0.0));
}

VY_FN quat quat_conj(quat q) { return quat_make(q.w, -q.x, -q.y, -q.z); }
VY_FN quat quat_add(quat a, quat b) { return quat_make(a.w + b.w, a.x + b.x, a.y + b.y, a.z + b.z); }
VY_FN quat quat_scale(real s, quat q) { return quat_make(s * q.w, s * q.x, s * q.y, s * q.z); }
/// a + s b
VY_FN quat quat_add_scaled(quat a, real s, quat b)
{
    return quat_make(a.w + s * b.w, a.x + s * b.x, a.y + s * b.y, a.z + s * b.z);
}
VY_FN real quat_dot(quat a, quat b) { return (a.w * b.w + a.x * b.x) + (a.y * b.y + a.z * b.z); }
/// Lanes where q is as long as 1, to what rounding leaves in single precision too: for assertions.
VY_FN mask quat_is_unit(quat q) { return real_abs(quat_dot(q, q) - 1.0) <= 1e-5; }
VY_FN quat quat_normalize(quat q) { return quat_scale(1.0 / real_sqrt(quat_dot(q, q)), q); }

/// Hamilton product: first b, then a.
VY_FN quat quat_mul(quat a, quat b)
{
    return quat_make(
        (a.w * b.w - a.x * b.x) - (a.y * b.y + a.z * b.z), (a.w * b.x + a.x * b.w) + (a.y * b.z - a.z * b.y),
        (a.w * b.y + a.y * b.w) + (a.z * b.x - a.x * b.z), (a.w * b.z + a.z * b.w) + (a.x * b.y - a.y * b.x));
}

/// Rotation matrix of a unit quaternion: body to world for q_WB.
VY_FN mat3 quat_matrix(quat q)
{
    const real xx = q.x * q.x, yy = q.y * q.y, zz = q.z * q.z;
    const real xy = q.x * q.y, xz = q.x * q.z, yz = q.y * q.z;
    const real wx = q.w * q.x, wy = q.w * q.y, wz = q.w * q.z;
    mat3 r;
    r.m[0][0] = 1.0 - 2.0 * (yy + zz);
    r.m[0][1] = 2.0 * (xy - wz);
    r.m[0][2] = 2.0 * (xz + wy);
    r.m[1][0] = 2.0 * (xy + wz);
    r.m[1][1] = 1.0 - 2.0 * (xx + zz);
    r.m[1][2] = 2.0 * (yz - wx);
    r.m[2][0] = 2.0 * (xz - wy);
    r.m[2][1] = 2.0 * (yz + wx);
    r.m[2][2] = 1.0 - 2.0 * (xx + yy);
    return r;
}

VY_FN vec3 mat3_mul_vec(mat3 a, vec3 v)
{
    return vec3_make((a.m[0][0] * v.x + a.m[0][1] * v.y) + a.m[0][2] * v.z,
                     (a.m[1][0] * v.x + a.m[1][1] * v.y) + a.m[1][2] * v.z,
                     (a.m[2][0] * v.x + a.m[2][1] * v.y) + a.m[2][2] * v.z);
}

/// aᵀ v: world to body for a rotation matrix body to world.
VY_FN vec3 mat3_tmul_vec(mat3 a, vec3 v)
{
    return vec3_make((a.m[0][0] * v.x + a.m[1][0] * v.y) + a.m[2][0] * v.z,
                     (a.m[0][1] * v.x + a.m[1][1] * v.y) + a.m[2][1] * v.z,
                     (a.m[0][2] * v.x + a.m[1][2] * v.y) + a.m[2][2] * v.z);
}

/// v rotated by q (body to world for q_WB): v + 2w(u x v) + 2u x (u x v).
VY_FN vec3 quat_rotate(quat q, vec3 v)
{
    const vec3 u = vec3_make(q.x, q.y, q.z);
    const vec3 t = vec3_scale(real_set(2.0), vec3_cross(u, v));
    return vec3_add(vec3_add_scaled(v, q.w, t), vec3_cross(u, t));
}

/// v rotated by the inverse of q (world to body for q_WB).
VY_FN vec3 quat_unrotate(quat q, vec3 v) { return quat_rotate(quat_conj(q), v); }

VY_FN mat3 mat3_mul(mat3 a, mat3 b)
{
    mat3 c;
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            c.m[i][j] = (a.m[i][0] * b.m[0][j] + a.m[i][1] * b.m[1][j]) + a.m[i][2] * b.m[2][j];
        }
    }
    return c;
}

VY_FN mat3 mat3_transpose(mat3 a)
{
    mat3 t;
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) t.m[i][j] = a.m[j][i];
    }
    return t;
}

VY_FN mat3 mat3_diag(real x, real y, real z)
{
    mat3 d;
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) d.m[i][j] = real_set(0.0);
    }
    d.m[0][0] = x;
    d.m[1][1] = y;
    d.m[2][2] = z;
    return d;
}

/// [a]: the matrix of b -> a x b.
VY_FN mat3 mat3_cross(vec3 a)
{
    mat3 m = mat3_diag(real_set(0.0), real_set(0.0), real_set(0.0));
    m.m[0][1] = -a.z;
    m.m[0][2] = a.y;
    m.m[1][0] = a.z;
    m.m[1][2] = -a.x;
    m.m[2][0] = -a.y;
    m.m[2][1] = a.x;
    return m;
}

VY_FN real mat3_det(mat3 a)
{
    return (a.m[0][0] * (a.m[1][1] * a.m[2][2] - a.m[1][2] * a.m[2][1]) -
            a.m[0][1] * (a.m[1][0] * a.m[2][2] - a.m[1][2] * a.m[2][0])) +
           a.m[0][2] * (a.m[1][0] * a.m[2][1] - a.m[1][1] * a.m[2][0]);
}

/// Inverse by cofactors; the caller has checked that the determinant is not zero.
VY_FN mat3 mat3_inverse(mat3 a)
{
    const real s = 1.0 / mat3_det(a);
    VY_ASSERT(mask_all(mask_not(mat3_det(a) == 0.0)));
    mat3 b;
    for (int i = 0; i < 3; ++i) {
        const int i1 = (i + 1) % 3, i2 = (i + 2) % 3;
        for (int j = 0; j < 3; ++j) {
            const int j1 = (j + 1) % 3, j2 = (j + 2) % 3;
            b.m[j][i] = s * (a.m[i1][j1] * a.m[i2][j2] - a.m[i1][j2] * a.m[i2][j1]);
        }
    }
    return b;
}

/// q rotated by the small rotation vector `turn` in body axes.
VY_FN quat quat_apply_small_rotation(quat q, vec3 turn)
{
    return quat_normalize(quat_mul(q, quat_make(real_set(1.0), 0.5 * turn.x, 0.5 * turn.y, 0.5 * turn.z)));
}
