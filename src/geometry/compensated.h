// compensated.h - products whose rounding errors are carried along, for normals of needle-thin triangles.
//
// A plain cross product of two long, nearly parallel edges cancels: for a triangle a million times longer
// than wide its direction is off by 1e-10, which tilts the plane out of its own corners. Here each component
// is right to about two units in its last place. Plain arithmetic (T. J. Dekker, Numerische Mathematik 18,
// 1971; W. Kahan's difference of products), so the bits are the same everywhere. Factors must stay below
// 1e150 in size.
#pragma once
#include "base/vec.h"

/// x * y - product, exactly, where product is the rounded x * y.
VY_FN real two_product_error(real x, real y, real product)
{
    const real cx = 134217729.0 * x, cy = 134217729.0 * y; // 2^27 + 1 cuts 53 bits into two halves
    const real xh = cx - (cx - x), yh = cy - (cy - y);
    const real xl = x - xh, yl = y - yh;
    return ((xh * yh - product) + xh * yl + xl * yh) + xl * yl;
}

/// a * b - c * d
VY_FN real product_difference(real a, real b, real c, real d)
{
    const real ab = a * b, cd = c * d;
    return (ab - cd) + (two_product_error(a, b, ab) - two_product_error(c, d, cd));
}

VY_FN vec3 vec3_cross_accurate(vec3 a, vec3 b)
{
    return vec3_make(product_difference(a.y, b.z, a.z, b.y), product_difference(a.z, b.x, a.x, b.z),
                     product_difference(a.x, b.y, a.y, b.x));
}

/// A number as the sum of two, the second at most half a unit in the last place of the first: 106 bits.
typedef struct real_dd {
    real high, low;
} real_dd;

/// a + b, where a is the larger in size.
VY_FN real_dd real_dd_fast_two_sum(real a, real b)
{
    const real high = a + b;
    return (real_dd){high, b - (high - a)};
}

/// a - b, exactly (D. E. Knuth).
VY_FN real_dd real_dd_two_diff(real a, real b)
{
    const real high = a - b, b_virtual = a - high;
    return (real_dd){high, (a - (high + b_virtual)) + (b_virtual - b)};
}

VY_FN real_dd real_dd_sub(real_dd a, real_dd b)
{
    const real_dd high = real_dd_two_diff(a.high, b.high), low = real_dd_two_diff(a.low, b.low);
    const real_dd sum = real_dd_fast_two_sum(high.high, high.low + low.high);
    return real_dd_fast_two_sum(sum.high, sum.low + low.low);
}

VY_FN real_dd real_dd_mul(real_dd a, real_dd b)
{
    const real high = a.high * b.high;
    return real_dd_fast_two_sum(high,
                                two_product_error(a.high, b.high, high) + (a.high * b.low + a.low * b.high));
}
